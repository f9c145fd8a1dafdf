// SPDX-License-Identifier: GPL-2.0-only
/*
 * RISC-V trace: the ATB bridge. Behind it is a trace system of another kind, which has drivers of
 * its own: for this one the bridge is a sink, unless a funnel of this driver is behind it.
 */
#define pr_fmt(fmt) "rvtrace: " fmt

#include <linux/kstrtox.h>
#include <linux/sysfs.h>

#include "rvtrace-component.h"

/**
 * struct rvtrace_atbbridge - an ATB bridge
 * @comp:	the component
 * @id:		trAtbBridgeID, 0 until user space sets one
 * @async_freq:	trAtbBridgeAsyncFreq
 */
struct rvtrace_atbbridge {
	struct rvtrace_component comp;
	u32 id;
	u32 async_freq;
};

#define to_rvtrace_atbbridge(c)	container_of(c, struct rvtrace_atbbridge, comp)

/* Ids 0 and 0x70 to 0x7f are reserved by AMBA ATB. */
#define RVTRACE_ATB_FIRST_ID	0x01
#define RVTRACE_ATB_LAST_ID	0x6f
/* The id until user space sets another; encoders of other makes count from the low end. */
#define RVTRACE_ATB_DEFAULT_ID	0x40

static int rvtrace_atbbridge_reset(struct rvtrace_component *comp)
{
	rvtrace_write(comp, RVTRACE_CONTROL, RVTRACE_CONTROL_ACTIVE);
	return 0;
}

static int rvtrace_atbbridge_probe(struct rvtrace_component *comp)
{
	return 0;
}

/* Bridges that end in one ATB system need different ids. */
static u32 rvtrace_atbbridge_id(struct rvtrace_atbbridge *atb)
{
	u32 id = RVTRACE_ATB_DEFAULT_ID + atb->comp.number;

	if (atb->comp.platform->atb_id)
		id = atb->comp.platform->atb_id + cpumask_first(&atb->comp.cpus);
	return READ_ONCE(atb->id) ?: min(id, RVTRACE_ATB_LAST_ID);
}

static int rvtrace_atbbridge_enable(struct rvtrace_component *comp, struct rvtrace_cpu *rc)
{
	struct rvtrace_atbbridge *atb = to_rvtrace_atbbridge(comp);
	u32 id = FIELD_PREP(RVTRACE_ATB_CONTROL_ID, rvtrace_atbbridge_id(atb));

	/* AsyncFreq is, of all places, in the Impl register. */
	rvtrace_write(comp, RVTRACE_IMPL, FIELD_PREP(RVTRACE_ATB_IMPL_ASYNC_FREQ, atb->async_freq));
	rvtrace_write(comp, RVTRACE_CONTROL, RVTRACE_CONTROL_ACTIVE | id);
	return rvtrace_enable(comp, id);
}

static ssize_t rvtrace_atbbridge_store(struct device *dev, u32 first, u32 last, u32 *field,
				       const char *buf, size_t count)
{
	u32 value;
	int ret;

	ret = kstrtou32(buf, 0, &value);
	if (ret)
		return ret;
	if (value < first || value > last)
		return -EINVAL;
	/* Taken over when trace is started the next time. */
	WRITE_ONCE(*field, value);
	return count;
}

static ssize_t trace_id_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	struct rvtrace_atbbridge *atb = to_rvtrace_atbbridge(to_rvtrace_component(dev));

	return sysfs_emit(buf, "0x%02x\n", rvtrace_atbbridge_id(atb));
}

static ssize_t trace_id_store(struct device *dev, struct device_attribute *attr, const char *buf,
			      size_t count)
{
	struct rvtrace_atbbridge *atb = to_rvtrace_atbbridge(to_rvtrace_component(dev));

	return rvtrace_atbbridge_store(dev, RVTRACE_ATB_FIRST_ID, RVTRACE_ATB_LAST_ID, &atb->id,
				       buf, count);
}
static DEVICE_ATTR_RW(trace_id);

static ssize_t async_freq_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%u\n", to_rvtrace_atbbridge(to_rvtrace_component(dev))->async_freq);
}

static ssize_t async_freq_store(struct device *dev, struct device_attribute *attr,
				const char *buf, size_t count)
{
	struct rvtrace_atbbridge *atb = to_rvtrace_atbbridge(to_rvtrace_component(dev));

	return rvtrace_atbbridge_store(dev, 0, FIELD_MAX(RVTRACE_ATB_IMPL_ASYNC_FREQ),
				       &atb->async_freq, buf, count);
}
static DEVICE_ATTR_RW(async_freq);

static struct attribute *rvtrace_atbbridge_attrs[] = {
	&dev_attr_trace_id.attr,
	&dev_attr_async_freq.attr,
	NULL
};

static const struct attribute_group rvtrace_atbbridge_group = {
	.attrs = rvtrace_atbbridge_attrs,
};

static const struct attribute_group *rvtrace_atbbridge_groups[] = {
	&rvtrace_component_group,
	&rvtrace_atbbridge_group,
	NULL
};

const struct rvtrace_ops rvtrace_atbbridge_ops = {
	.name	= "atbbridge",
	.size	= sizeof(struct rvtrace_atbbridge),
	.groups	= rvtrace_atbbridge_groups,
	.probe	= rvtrace_atbbridge_probe,
	.reset	= rvtrace_atbbridge_reset,
	.enable	= rvtrace_atbbridge_enable,
};
