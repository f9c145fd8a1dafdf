// SPDX-License-Identifier: GPL-2.0-only
/*
 * RISC-V trace: the timestamp unit, which an encoder or a funnel can have. In "shared" mode an
 * encoder has no counter of its own and takes the time from a funnel.
 */
#define pr_fmt(fmt) "rvtrace: " fmt

#include <linux/delay.h>
#include <linux/property.h>
#include <linux/sysfs.h>

#include "rvtrace-component.h"

/* More than one carry while the halves are read would be a counter of more than 4 GHz. */
#define RVTRACE_TS_TRIES	3

/* Returns the component whose counter @comp puts into the trace, or NULL. */
static const struct rvtrace_component *rvtrace_ts_counter(const struct rvtrace_component *comp)
{
	const struct rvtrace_component *found = NULL;
	unsigned int i;

	if (comp->ts.mode && comp->ts.mode != RVTRACE_TS_MODE_SHARED)
		return comp;
	for (i = 0; i < comp->nr_outputs && !found; i++)
		found = rvtrace_ts_counter(comp->outputs[i].to);
	return found;
}

/*
 * Returns whether timestamps are the platform's time counter. An external clock is taken for it
 * unless firmware gives it another rate. What an internal one counts has begun at some time.
 */
static bool rvtrace_ts_is_platform(const struct rvtrace_component *comp)
{
	u32 hz = riscv_timebase;

	comp = rvtrace_ts_counter(comp);
	if (!comp || comp->ts.mode != RVTRACE_TS_MODE_EXTERNAL)
		return false;
	device_property_read_u32(comp->dev.parent, "rvtrace,timestamp-frequency", &hz);
	return hz == riscv_timebase;
}

/*
 * rvtrace_ts_probe - find out what the unit can do
 *
 * Clocks that all harts share are better than their own, and one that the platform has is best. The
 * component is active and disabled.
 */
void rvtrace_ts_probe(struct rvtrace_component *comp)
{
	static const u8 best[] = {
		RVTRACE_TS_MODE_EXTERNAL, RVTRACE_TS_MODE_INTERNAL_SYSTEM,
		RVTRACE_TS_MODE_SHARED, RVTRACE_TS_MODE_INTERNAL_CORE,
	};
	struct rvtrace_ts *ts = &comp->ts;
	u32 control;
	int i;

	for (i = 0; i < ARRAY_SIZE(best) && !ts->mode; i++) {
		control = rvtrace_try(comp, RVTRACE_TS_CONTROL, RVTRACE_TS_CONTROL_ACTIVE |
				      RVTRACE_TS_CONTROL_ENABLE |
				      FIELD_PREP(RVTRACE_TS_CONTROL_MODE, best[i]));
		if (FIELD_GET(RVTRACE_TS_CONTROL_MODE, control) != best[i])
			continue;
		ts->width = FIELD_GET(RVTRACE_TS_CONTROL_WIDTH, control);
		/* trTsEnable is the encoder's; a funnel only counts. */
		if (comp->type == RVTRACE_TYPE_FUNNEL || control & RVTRACE_TS_CONTROL_ENABLE)
			ts->mode = best[i];
	}
	rvtrace_write(comp, RVTRACE_TS_CONTROL, 0);
	ts->platform = rvtrace_ts_is_platform(comp);
}

/* Starts the unit, or stops it. The counter is not reset: time continues where it stopped. */
void rvtrace_ts_set(struct rvtrace_component *comp, bool on)
{
	u32 control = 0;

	if (on && comp->ts.mode) {
		control = RVTRACE_TS_CONTROL_ACTIVE | RVTRACE_TS_CONTROL_COUNT |
			  FIELD_PREP(RVTRACE_TS_CONTROL_MODE, comp->ts.mode);
		if (comp->type == RVTRACE_TYPE_ENCODER)
			control |= RVTRACE_TS_CONTROL_ENABLE;
	}
	rvtrace_write(comp, RVTRACE_TS_CONTROL, control);
}

/*
 * Nothing latches the two halves: the high one must be the same before and after the low one. On a
 * hart that may access the registers.
 */
static int rvtrace_ts_read(struct rvtrace_component *comp, u64 *counter)
{
	u32 high, low, again;
	int tries = RVTRACE_TS_TRIES;
	int ret;

	ret = rvtrace_read_on_cpu(comp, RVTRACE_TS_COUNTER_HIGH, &again);
	do {
		high = again;
		ret = ret ?: rvtrace_read_on_cpu(comp, RVTRACE_TS_COUNTER_LOW, &low);
		ret = ret ?: rvtrace_read_on_cpu(comp, RVTRACE_TS_COUNTER_HIGH, &again);
	} while (!ret && high != again && --tries);
	*counter = (u64)high << 32 | low;
	return ret;
}

static ssize_t timestamp_mode_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	static const char *const names[] = { "none", "external", "system", "core", "shared" };

	return sysfs_emit(buf, "%s\n", names[to_rvtrace_component(dev)->ts.mode]);
}
static DEVICE_ATTR_RO(timestamp_mode);

RVTRACE_ATTR_RO(timestamp_width, "%u", comp->ts.width);

/* The registers must not be touched while the component is inactive. */
static ssize_t timestamp_counter_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	struct rvtrace_component *comp = to_rvtrace_component(dev);
	int ret = -ENODATA;
	u64 counter;

	mutex_lock(&rvtrace_mutex);
	if (comp->active && !comp->broken)
		ret = rvtrace_ts_read(comp, &counter);
	mutex_unlock(&rvtrace_mutex);
	return ret ? -ENODATA : sysfs_emit(buf, "%llu\n", counter);
}
static DEVICE_ATTR_RO(timestamp_counter);

/*
 * An external clock is taken for the platform's time counter unless firmware says otherwise. How
 * fast an internal one runs only firmware can say.
 */
static ssize_t timestamp_frequency_show(struct device *dev, struct device_attribute *attr,
					char *buf)
{
	struct rvtrace_component *comp = to_rvtrace_component(dev);
	u32 hz = 0;

	if (comp->ts.mode == RVTRACE_TS_MODE_EXTERNAL)
		hz = riscv_timebase;
	if (comp->ts.mode)
		device_property_read_u32(dev->parent, "rvtrace,timestamp-frequency", &hz);
	return sysfs_emit(buf, "%u\n", hz);
}
static DEVICE_ATTR_RO(timestamp_frequency);

static struct attribute *rvtrace_ts_attrs[] = {
	&dev_attr_timestamp_mode.attr,
	&dev_attr_timestamp_width.attr,
	&dev_attr_timestamp_counter.attr,
	&dev_attr_timestamp_frequency.attr,
	NULL
};

const struct attribute_group rvtrace_ts_group = {
	.attrs = rvtrace_ts_attrs,
};
