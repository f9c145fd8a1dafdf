// SPDX-License-Identifier: GPL-2.0-only
/*
 * RISC-V trace: what all components have in common. Handshakes, reset, and the rvtrace bus.
 */
#define pr_fmt(fmt) "rvtrace: " fmt

#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/sysfs.h>

#include "rvtrace-component.h"
#include "rvtrace-cpu.h"

/*
 * Protects rvtrace_components and everything that is done to a component when no event uses it.
 * Nests inside cpus_read_lock().
 */
DEFINE_MUTEX(rvtrace_mutex);
LIST_HEAD(rvtrace_components);
DEFINE_PER_CPU(struct rvtrace_cpu, rvtrace_cpus);
DEFINE_STATIC_KEY_FALSE(rvtrace_other_registers);

const struct bus_type rvtrace_bus = {
	.name = "rvtrace",
};

/* Reads a register of a component whose registers may be elsewhere. */
u32 rvtrace_read_other(struct rvtrace_component *comp, u32 reg)
{
	return comp->platform->read ? comp->platform->read(comp, reg) :
				      readl_relaxed(comp->base + reg);
}

void rvtrace_write_other(struct rvtrace_component *comp, u32 reg, u32 value)
{
	if (comp->platform->write)
		comp->platform->write(comp, reg, value);
	else
		writel_relaxed(value, comp->base + reg);
}

/* Returns a number that is different with each call, and never 0. */
u64 rvtrace_new_serial(void)
{
	static atomic64_t serial = ATOMIC64_INIT(0);

	return atomic64_inc_return(&serial);
}

/* Returns the running process. */
struct rvtrace_opener rvtrace_current_opener(void)
{
	return (struct rvtrace_opener){
		.tgid = current->tgid,
		.start = current->group_leader->start_boottime,
		.exec_id = current->self_exec_id,
	};
}

/*
 * rvtrace_refuse - an event asks for @what, which the hardware does not have
 *
 * perf cannot report which option it was, so the log does. Returns -EOPNOTSUPP.
 */
int rvtrace_refuse(const struct rvtrace_component *comp, const char *what)
{
	dev_notice_ratelimited(&comp->dev, "event refused: the hardware has no %s\n", what);
	return -EOPNOTSUPP;
}

/**
 * struct rvtrace_remote_read - a register to read on the hart of the component
 * @comp:	the component
 * @reg:	offset of the register
 * @value:	what was read
 */
struct rvtrace_remote_read {
	struct rvtrace_component *comp;
	u32 reg;
	u32 value;
};

static void rvtrace_read_ipi(void *data)
{
	struct rvtrace_remote_read *read = data;

	read->value = rvtrace_read(read->comp, read->reg);
}

/*
 * rvtrace_call - call @fn on a hart that may access the registers, and wait for it
 *
 * Interrupts are on here. @fn must not sleep. Returns 0, or -ENXIO when all such harts are down.
 */
int rvtrace_call(struct rvtrace_component *comp, smp_call_func_t fn, void *data)
{
	if (!cpumask_empty(&comp->cpus))
		return smp_call_function_any(&comp->cpus, fn, data, 1);
	if (cpumask_empty(&comp->near) || smp_call_function_any(&comp->near, fn, data, 1))
		fn(data);
	return 0;
}

/*
 * rvtrace_read_on_cpu - read a register on a hart that may do so
 *
 * As rvtrace_call()
 */
int rvtrace_read_on_cpu(struct rvtrace_component *comp, u32 reg, u32 *value)
{
	struct rvtrace_remote_read read = { .comp = comp, .reg = reg };
	int ret = rvtrace_call(comp, rvtrace_read_ipi, &read);

	*value = read.value;
	return ret;
}

/*
 * Schedules the reset. The context that found the failure cannot: it may hold locks of the
 * scheduler.
 */
static void rvtrace_failed(struct irq_work *work)
{
	struct rvtrace_component *comp = container_of(work, struct rvtrace_component, failed);
	unsigned int ms = RVTRACE_RECOVERY_MS << min(comp->failures, 7);

	comp->failures++;
	schedule_delayed_work(&comp->recovery, msecs_to_jiffies(ms));
}

/*
 * rvtrace_fail - the component did not answer
 *
 * A component that was active gets a reset later. One that does not come out of reset is tried
 * again when the first event is opened the next time.
 */
void rvtrace_fail(struct rvtrace_component *comp, const char *what)
{
	if (comp->broken)
		return;
	comp->broken = true;
	dev_err(&comp->dev, "%s: no answer within %d us, component not used%s\n", what,
		RVTRACE_TIMEOUT_US, comp->active ? " until it is reset" : "");
	if (comp->active && !list_empty(&comp->list))
		irq_work_queue(&comp->failed);
}

/*
 * rvtrace_wait_quietly - like rvtrace_wait(), where an answer need not come
 *
 * Returns 0, or -ETIMEDOUT after @timeout_us microseconds and RVTRACE_LATE_LOOKS(@timeout_us)
 * reads.
 */
int rvtrace_wait_quietly(struct rvtrace_component *comp, u32 mask, u32 value, u32 timeout_us)
{
	u64 deadline = rvtrace_deadline(timeout_us);
	u32 late = 0;

	do {
		if (rvtrace_expired(deadline))
			late++;
		if ((rvtrace_read(comp, RVTRACE_CONTROL) & mask) == value)
			return 0;
		cpu_relax();
	} while (late < RVTRACE_LATE_LOOKS(timeout_us));
	return -ETIMEDOUT;
}

/*
 * rvtrace_wait - wait until (Control & @mask) == @value
 * @what: what is waited for, for the message
 *
 * Returns 0, or -ETIMEDOUT and declares the component broken.
 */
int rvtrace_wait(struct rvtrace_component *comp, u32 mask, u32 value, const char *what)
{
	int ret;

	/* Most components answer at once. */
	if ((rvtrace_read(comp, RVTRACE_CONTROL) & mask) == value)
		return 0;
	ret = rvtrace_wait_quietly(comp, mask, value, RVTRACE_TIMEOUT_US);
	if (ret)
		rvtrace_fail(comp, what);
	return ret;
}

/* Takes a component out of reset and gives its registers defined values */
int rvtrace_activate(struct rvtrace_component *comp)
{
	int ret;

	if (comp->active)
		return comp->broken ? -EIO : 0;
	comp->broken = false;
	rvtrace_write(comp, RVTRACE_CONTROL, 0);
	ret = rvtrace_wait(comp, RVTRACE_CONTROL_ACTIVE, 0, "reset");
	if (ret)
		return ret;
	comp->control = RVTRACE_CONTROL_ACTIVE;
	rvtrace_write(comp, RVTRACE_CONTROL, comp->control);
	ret = rvtrace_wait(comp, RVTRACE_CONTROL_ACTIVE, RVTRACE_CONTROL_ACTIVE, "activation");
	if (ret)
		return ret;
	comp->active = true;
	return comp->ops->reset ? comp->ops->reset(comp) : 0;
}

/* Puts a component into reset. Works on broken ones too: the hardware is left off if it can be. */
void rvtrace_deactivate(struct rvtrace_component *comp)
{
	if (!comp->active)
		return;
	comp->active = false;
	comp->control = 0;
	rvtrace_write(comp, RVTRACE_CONTROL, 0);
	if (!comp->broken)
		rvtrace_wait(comp, RVTRACE_CONTROL_ACTIVE, 0, "deactivation");
}

/* Enables a component with other registers, whose control has been set. */
int rvtrace_enable_other(struct rvtrace_component *comp)
{
	rvtrace_write_other(comp, RVTRACE_CONTROL, comp->control);
	return rvtrace_enable_slowly(comp);
}

/* Waits for a component that was not enabled at once. */
int rvtrace_enable_slowly(struct rvtrace_component *comp)
{
	return rvtrace_wait(comp, RVTRACE_CONTROL_ENABLE, RVTRACE_CONTROL_ENABLE, "enabling");
}

/*
 * rvtrace_reset - put a component that did not answer through reset
 *
 * Nobody uses it. Returns 0 when it works again.
 */
int rvtrace_reset(struct rvtrace_component *comp)
{
	int ret;

	rvtrace_deactivate(comp);
	ret = rvtrace_activate(comp);
	if (!ret)
		dev_notice(&comp->dev, "works again after a reset\n");
	return ret;
}

static void rvtrace_release(struct device *dev)
{
	struct rvtrace_component *comp = to_rvtrace_component(dev);

	while (comp->nr_outputs)
		put_device(&comp->outputs[--comp->nr_outputs].to->dev);
	kfree(comp);
}

/* Readies the device within @comp; put_device() frees it from here on */
void rvtrace_component_init(struct rvtrace_component *comp, struct device *parent)
{
	device_initialize(&comp->dev);
	INIT_LIST_HEAD(&comp->list);
	raw_spin_lock_init(&comp->lock);
	init_irq_work(&comp->failed, rvtrace_failed);
	comp->dev.parent = parent;
	comp->dev.bus = &rvtrace_bus;
	comp->dev.release = rvtrace_release;
	comp->dev.groups = comp->ops->groups;
	/* The device has this name in messages, until it has a name of its own. */
	dev_set_name(&comp->dev, "%s", dev_name(parent));
}

/* Prints the numbers of the bits that are set in @values, from bit @first on, in one line */
ssize_t rvtrace_values_emit(char *buf, unsigned long values, unsigned int first)
{
	ssize_t len = 0;
	unsigned int bit;

	for_each_set_bit(bit, &values, BITS_PER_LONG)
		if (bit >= first)
			len += sysfs_emit_at(buf, len, "%u ", bit);
	if (len)
		len--;
	return len + sysfs_emit_at(buf, len, "\n");
}

RVTRACE_ATTR_RO(type, "%s", comp->ops->name);
RVTRACE_ATTR_RO(version, "%lu.%lu", FIELD_GET(RVTRACE_IMPL_MAJOR, comp->impl),
		FIELD_GET(RVTRACE_IMPL_MINOR, comp->impl));
RVTRACE_ATTR_RO(impl, "0x%08x", comp->impl);
RVTRACE_ATTR_RO(sink_id, "%u", comp->sink_id);

/*
 * Shows the state. Control may be read while there is power; an encoder is also off while its hart
 * is.
 */
static ssize_t state_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	struct rvtrace_component *comp = to_rvtrace_component(dev);
	u32 control = 0;

	if (comp->broken)
		return sysfs_emit(buf, "broken\n");
	mutex_lock(&rvtrace_mutex);
	if (comp->powered && rvtrace_read_on_cpu(comp, RVTRACE_CONTROL, &control))
		control = 0;
	mutex_unlock(&rvtrace_mutex);
	if (!(control & RVTRACE_CONTROL_ACTIVE))
		return sysfs_emit(buf, "inactive\n");
	return sysfs_emit(buf, control & RVTRACE_CONTROL_ENABLE ? "tracing\n" : "idle\n");
}
static DEVICE_ATTR_RO(state);

static struct attribute *rvtrace_component_attrs[] = {
	&dev_attr_type.attr,
	&dev_attr_version.attr,
	&dev_attr_impl.attr,
	&dev_attr_sink_id.attr,
	&dev_attr_state.attr,
	NULL
};

static umode_t rvtrace_component_visible(struct kobject *kobj, struct attribute *attr, int n)
{
	if (attr == &dev_attr_sink_id.attr && !to_rvtrace_component(kobj_to_dev(kobj))->sink_id)
		return 0;
	return attr->mode;
}

const struct attribute_group rvtrace_component_group = {
	.attrs = rvtrace_component_attrs,
	.is_visible = rvtrace_component_visible,
};
