// SPDX-License-Identifier: GPL-2.0-only
/*
 * RISC-V trace: the PIB sink. Trace leaves the chip by pins, to a probe; how is set through sysfs.
 */
#define pr_fmt(fmt) "rvtrace: " fmt

#include <linux/kstrtox.h>
#include <linux/sysfs.h>

#include "rvtrace-component.h"
#include "rvtrace-power.h"

/**
 * struct rvtrace_pibsink - a PIB sink
 * @comp:	the component
 * @modes:	bit per value of trPibMode
 * @control:	settings in trPibControl
 */
struct rvtrace_pibsink {
	struct rvtrace_component comp;
	u32 modes;
	u32 control;
};

#define to_rvtrace_pibsink(c)	container_of(c, struct rvtrace_pibsink, comp)

static int rvtrace_pibsink_reset(struct rvtrace_component *comp)
{
	rvtrace_write(comp, RVTRACE_CONTROL, RVTRACE_CONTROL_ACTIVE);
	return 0;
}

static int rvtrace_pibsink_probe(struct rvtrace_component *comp)
{
	struct rvtrace_pibsink *pib = to_rvtrace_pibsink(comp);
	u32 value, control;

	for (value = 1; value <= FIELD_MAX(RVTRACE_PIB_CONTROL_MODE); value++) {
		control = RVTRACE_CONTROL_ACTIVE | FIELD_PREP(RVTRACE_PIB_CONTROL_MODE, value);
		if (FIELD_GET(RVTRACE_PIB_CONTROL_MODE,
			      rvtrace_try(comp, RVTRACE_CONTROL, control)) == value)
			pib->modes |= BIT(value);
	}
	rvtrace_write(comp, RVTRACE_CONTROL, RVTRACE_CONTROL_ACTIVE);
	if (!pib->modes) {
		dev_err(comp->dev.parent, "PIB sink without a mode, not used\n");
		return -ENODEV;
	}
	pib->control = FIELD_PREP(RVTRACE_PIB_CONTROL_MODE, __ffs(pib->modes));
	return 0;
}

static int rvtrace_pibsink_enable(struct rvtrace_component *comp, struct rvtrace_cpu *rc)
{
	u32 control = to_rvtrace_pibsink(comp)->control;

	if (control & RVTRACE_PIB_CONTROL_CALIBRATE)
		return -EBUSY;
	/* Mode and clock first, so that the pins are quiet and the clock runs when trace comes. */
	rvtrace_write(comp, RVTRACE_CONTROL, RVTRACE_CONTROL_ACTIVE | control);
	return rvtrace_enable(comp, control);
}

/* Changes settings, which is possible only while no trace is sent. */
static int rvtrace_pibsink_set(struct device *dev, u32 mask, u32 value)
{
	struct rvtrace_component *comp = to_rvtrace_component(dev);
	struct rvtrace_pibsink *pib = to_rvtrace_pibsink(comp);
	unsigned long flags;
	u32 control, got;
	int ret = 0;

	rvtrace_get();
	mutex_lock(&rvtrace_mutex);
	raw_spin_lock_irqsave(&comp->lock, flags);
	control = (pib->control & ~mask) | (value << __ffs(mask));
	if (!comp->active || comp->broken)
		ret = -EIO;
	else if (comp->users || pib->control & RVTRACE_PIB_CONTROL_CALIBRATE)
		ret = -EBUSY;
	if (!ret) {
		got = rvtrace_try(comp, RVTRACE_CONTROL, RVTRACE_CONTROL_ACTIVE | control);
		if ((got ^ control) & mask)
			ret = -EOPNOTSUPP;
		else
			pib->control = control;
		rvtrace_write(comp, RVTRACE_CONTROL, RVTRACE_CONTROL_ACTIVE);
	}
	raw_spin_unlock_irqrestore(&comp->lock, flags);
	mutex_unlock(&rvtrace_mutex);
	rvtrace_put();
	return ret;
}

/**
 * struct rvtrace_pibsink_attr - a field of trPibControl
 * @attr:	its file
 * @mask:	its bits
 */
struct rvtrace_pibsink_attr {
	struct device_attribute attr;
	u32 mask;
};

static u32 rvtrace_pibsink_mask(struct device_attribute *attr)
{
	return container_of(attr, struct rvtrace_pibsink_attr, attr)->mask;
}

static ssize_t rvtrace_pibsink_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	u32 control = to_rvtrace_pibsink(to_rvtrace_component(dev))->control;
	u32 mask = rvtrace_pibsink_mask(attr);

	return sysfs_emit(buf, "%u\n", (control & mask) >> __ffs(mask));
}

static ssize_t rvtrace_pibsink_store(struct device *dev, struct device_attribute *attr,
				     const char *buf, size_t count)
{
	u32 mask = rvtrace_pibsink_mask(attr);
	u32 value;
	int ret;

	ret = kstrtou32(buf, 0, &value);
	if (ret)
		return ret;
	if (value > mask >> __ffs(mask))
		return -EINVAL;
	return rvtrace_pibsink_set(dev, mask, value) ?: count;
}

#define RVTRACE_PIBSINK_ATTR(_name, _mask)					\
static struct rvtrace_pibsink_attr rvtrace_attr_##_name = {			\
	__ATTR(_name, 0644, rvtrace_pibsink_show, rvtrace_pibsink_store), _mask	\
}

RVTRACE_PIBSINK_ATTR(mode, RVTRACE_PIB_CONTROL_MODE);
RVTRACE_PIBSINK_ATTR(clk_center, RVTRACE_PIB_CONTROL_CLK_CENTER);
RVTRACE_PIBSINK_ATTR(async_freq, RVTRACE_PIB_CONTROL_ASYNC_FREQ);
RVTRACE_PIBSINK_ATTR(divider, RVTRACE_PIB_CONTROL_DIVIDER);

static ssize_t modes_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return rvtrace_values_emit(buf, to_rvtrace_pibsink(to_rvtrace_component(dev))->modes, 1);
}
static DEVICE_ATTR_RO(modes);

static ssize_t calibrate_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	u32 control = to_rvtrace_pibsink(to_rvtrace_component(dev))->control;

	return sysfs_emit(buf, "%d\n", !!(control & RVTRACE_PIB_CONTROL_CALIBRATE));
}

/* Switches the calibration pattern on or off. While it is on, the component stays active. */
static int rvtrace_pibsink_calibrate(struct rvtrace_component *comp, bool on)
{
	struct rvtrace_pibsink *pib = to_rvtrace_pibsink(comp);
	u32 control = pib->control | RVTRACE_PIB_CONTROL_CALIBRATE;
	int ret;

	if (!on) {
		comp->control = RVTRACE_CONTROL_ACTIVE;
		rvtrace_write(comp, RVTRACE_CONTROL, comp->control);
		pib->control &= ~RVTRACE_PIB_CONTROL_CALIBRATE;
		rvtrace_wait(comp, RVTRACE_CONTROL_ENABLE | RVTRACE_CONTROL_EMPTY,
			     RVTRACE_CONTROL_EMPTY, "end of calibration");
		return 0;
	}
	if (!comp->active || comp->broken)
		return -EIO;
	if (comp->users)
		return -EBUSY;
	if (!(rvtrace_try(comp, RVTRACE_CONTROL, RVTRACE_CONTROL_ACTIVE | control) &
	      RVTRACE_PIB_CONTROL_CALIBRATE))
		return -EOPNOTSUPP;
	ret = rvtrace_enable(comp, control);
	if (!ret)
		pib->control = control;
	return ret;
}

static ssize_t calibrate_store(struct device *dev, struct device_attribute *attr, const char *buf,
			       size_t count)
{
	struct rvtrace_component *comp = to_rvtrace_component(dev);
	unsigned long flags;
	bool on, was;
	int ret;

	ret = kstrtobool(buf, &on);
	if (ret)
		return ret;
	rvtrace_get();
	mutex_lock(&rvtrace_mutex);
	raw_spin_lock_irqsave(&comp->lock, flags);
	was = to_rvtrace_pibsink(comp)->control & RVTRACE_PIB_CONTROL_CALIBRATE;
	if (was != on)
		ret = rvtrace_pibsink_calibrate(comp, on);
	raw_spin_unlock_irqrestore(&comp->lock, flags);
	mutex_unlock(&rvtrace_mutex);
	/* Switching it on keeps the reference that was just taken; switching it off returns it. */
	if (ret || was || !on)
		rvtrace_put();
	if (was && !on)
		rvtrace_put();
	return ret ?: count;
}
static DEVICE_ATTR_RW(calibrate);

static struct attribute *rvtrace_pibsink_attrs[] = {
	&dev_attr_modes.attr,
	&rvtrace_attr_mode.attr.attr,
	&rvtrace_attr_clk_center.attr.attr,
	&rvtrace_attr_async_freq.attr.attr,
	&rvtrace_attr_divider.attr.attr,
	&dev_attr_calibrate.attr,
	NULL
};

static const struct attribute_group rvtrace_pibsink_group = {
	.attrs = rvtrace_pibsink_attrs,
};

static const struct attribute_group *rvtrace_pibsink_groups[] = {
	&rvtrace_component_group,
	&rvtrace_pibsink_group,
	NULL
};

const struct rvtrace_ops rvtrace_pibsink_ops = {
	.name	= "pibsink",
	.size	= sizeof(struct rvtrace_pibsink),
	.groups	= rvtrace_pibsink_groups,
	.probe	= rvtrace_pibsink_probe,
	.reset	= rvtrace_pibsink_reset,
	.enable	= rvtrace_pibsink_enable,
};
