// SPDX-License-Identifier: GPL-2.0-only
/*
 * RISC-V trace: what all components have in common. Handshakes, the rvtrace bus, and when
 * components are taken out of reset.
 */
#define pr_fmt(fmt) "rvtrace: " fmt

#include <linux/cpu.h>
#include <linux/cpu_pm.h>
#include <linux/cpuhotplug.h>
#include <linux/iopoll.h>
#include <linux/module.h>
#include <linux/refcount.h>
#include <linux/sysfs.h>
#include <linux/workqueue.h>

#include "rvtrace.h"

#define CREATE_TRACE_POINTS
#include "rvtrace-trace.h"

/*
 * Protects rvtrace_components and everything that is done to a component when no event uses it.
 * Nests inside cpus_read_lock().
 */
DEFINE_MUTEX(rvtrace_mutex);
LIST_HEAD(rvtrace_components);

/* Number of events; while it is not 0, components are active */
static refcount_t rvtrace_users = REFCOUNT_INIT(0);
static bool rvtrace_powered;
static enum cpuhp_state rvtrace_cpuhp;

const struct bus_type rvtrace_bus = {
	.name = "rvtrace",
};

static const struct rvtrace_ops *const rvtrace_all_ops[RVTRACE_TYPES] = {
	[RVTRACE_TYPE_ENCODER]	= &rvtrace_encoder_ops,
	[RVTRACE_TYPE_FUNNEL]	= &rvtrace_funnel_ops,
	[RVTRACE_TYPE_RAMSINK]	= &rvtrace_ramsink_ops,
	[RVTRACE_TYPE_PIBSINK]	= &rvtrace_pibsink_ops,
	[RVTRACE_TYPE_ATBBRIDGE] = &rvtrace_atbbridge_ops,
};

/* Functions of a component type, or NULL when this driver does not know it */
const struct rvtrace_ops *rvtrace_ops_of(u32 type)
{
	return type < RVTRACE_TYPES ? rvtrace_all_ops[type] : NULL;
}

void rvtrace_fail(struct rvtrace_component *comp, const char *what)
{
	comp->broken = true;
	dev_err(&comp->dev, "%s: no answer within %d us, component not used any more\n", what,
		RVTRACE_TIMEOUT_US);
}

/* rvtrace_wait_quietly - like rvtrace_wait(), where an answer need not come */
int rvtrace_wait_quietly(struct rvtrace_component *comp, u32 mask, u32 value, u32 timeout_us)
{
	u32 control;

	return readl_poll_timeout_atomic(comp->base + RVTRACE_CONTROL, control,
					 (control & mask) == value, 0, timeout_us);
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

	ret = rvtrace_wait_quietly(comp, mask, value, RVTRACE_TIMEOUT_US);
	if (ret)
		rvtrace_fail(comp, what);
	return ret;
}

/* Takes a component out of reset and gives its registers defined values */
int rvtrace_activate(struct rvtrace_component *comp)
{
	int ret;

	if (comp->broken)
		return -EIO;
	if (comp->active)
		return 0;
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

/* Enables a component, with the given mode bits in Control */
int rvtrace_enable(struct rvtrace_component *comp, u32 control)
{
	comp->control = control | RVTRACE_CONTROL_ACTIVE | RVTRACE_CONTROL_ENABLE;
	rvtrace_write(comp, RVTRACE_CONTROL, comp->control);
	return rvtrace_wait(comp, RVTRACE_CONTROL_ENABLE, RVTRACE_CONTROL_ENABLE, "enabling");
}

static int rvtrace_cpu_activate(struct rvtrace_encoder *enc)
{
	int ret;

	ret = rvtrace_activate(&enc->comp);
	WRITE_ONCE(enc->online, !ret);
	return ret;
}

static void rvtrace_cpu_deactivate(struct rvtrace_encoder *enc)
{
	WRITE_ONCE(enc->online, false);
	rvtrace_deactivate(&enc->comp);
}

static void rvtrace_cpu_activate_ipi(void *enc)
{
	rvtrace_cpu_activate(enc);
}

static void rvtrace_cpu_deactivate_ipi(void *enc)
{
	rvtrace_cpu_deactivate(enc);
}

/*
 * Sinks first, encoders last, as the specification orders it. An encoder may lose its registers
 * with its hart, so it is touched by its own hart only.
 */
static void rvtrace_power_up(void)
{
	struct rvtrace_component *comp;

	list_for_each_entry(comp, &rvtrace_components, list)
		if (comp->type != RVTRACE_TYPE_ENCODER)
			rvtrace_activate(comp);
	list_for_each_entry(comp, &rvtrace_components, list)
		if (comp->type == RVTRACE_TYPE_ENCODER)
			smp_call_function_single(to_rvtrace_encoder(comp)->cpu,
						 rvtrace_cpu_activate_ipi,
						 to_rvtrace_encoder(comp), 1);
	rvtrace_powered = true;
}

static void rvtrace_power_down(void)
{
	struct rvtrace_component *comp;

	rvtrace_powered = false;
	list_for_each_entry(comp, &rvtrace_components, list)
		if (comp->type == RVTRACE_TYPE_ENCODER)
			smp_call_function_single(to_rvtrace_encoder(comp)->cpu,
						 rvtrace_cpu_deactivate_ipi,
						 to_rvtrace_encoder(comp), 1);
	list_for_each_entry(comp, &rvtrace_components, list)
		if (comp->type != RVTRACE_TYPE_ENCODER)
			rvtrace_deactivate(comp);
}

static void rvtrace_idle(struct work_struct *work)
{
	cpus_read_lock();
	mutex_lock(&rvtrace_mutex);
	if (rvtrace_powered && !refcount_read(&rvtrace_users))
		rvtrace_power_down();
	mutex_unlock(&rvtrace_mutex);
	cpus_read_unlock();
}

static DECLARE_WORK(rvtrace_idle_work, rvtrace_idle);

/*
 * rvtrace_get - a new event: keep components active until rvtrace_put()
 *
 * The fast path is all that runs when an inherited event is made: fork() holds locks that must not
 * be held when the locks of the slow path are taken.
 */
void rvtrace_get(void)
{
	if (refcount_inc_not_zero(&rvtrace_users))
		return;
	cpus_read_lock();
	mutex_lock(&rvtrace_mutex);
	if (!refcount_inc_not_zero(&rvtrace_users)) {
		if (!rvtrace_powered)
			rvtrace_power_up();
		refcount_set(&rvtrace_users, 1);
	}
	mutex_unlock(&rvtrace_mutex);
	cpus_read_unlock();
}

/* The last event may go away where sleeping locks cannot be taken: a worker does the rest */
void rvtrace_put(void)
{
	if (refcount_dec_and_test(&rvtrace_users))
		schedule_work(&rvtrace_idle_work);
}

static struct rvtrace_encoder *rvtrace_encoder_of(unsigned int cpu)
{
	struct rvtrace_component *comp;

	list_for_each_entry(comp, &rvtrace_components, list)
		if (comp->type == RVTRACE_TYPE_ENCODER && to_rvtrace_encoder(comp)->cpu == cpu)
			return to_rvtrace_encoder(comp);
	return NULL;
}

static int rvtrace_cpu_up(unsigned int cpu)
{
	struct rvtrace_encoder *enc;

	mutex_lock(&rvtrace_mutex);
	enc = rvtrace_encoder_of(cpu);
	if (enc && rvtrace_powered)
		rvtrace_cpu_activate(enc);
	mutex_unlock(&rvtrace_mutex);
	return 0;
}

static int rvtrace_cpu_down(unsigned int cpu)
{
	struct rvtrace_encoder *enc;

	mutex_lock(&rvtrace_mutex);
	enc = rvtrace_encoder_of(cpu);
	if (enc) {
		/* From here on no event starts; one that runs is stopped, with its trace. */
		WRITE_ONCE(enc->online, false);
		rvtrace_pmu_halt();
		rvtrace_cpu_deactivate(enc);
	}
	mutex_unlock(&rvtrace_mutex);
	return 0;
}

static void rvtrace_suspend_ipi(void *enc)
{
	rvtrace_pmu_park();
	rvtrace_cpu_deactivate(enc);
}

static void rvtrace_resume_ipi(void *enc)
{
	if (!rvtrace_cpu_activate(enc))
		rvtrace_pmu_unpark();
}

/*
 * rvtrace_suspend - the system goes to sleep
 *
 * Encoders come before what they feed, because they depend on it. All harts are still up.
 */
int rvtrace_suspend(struct rvtrace_component *comp)
{
	if (comp->type != RVTRACE_TYPE_ENCODER)
		rvtrace_deactivate(comp);
	else
		smp_call_function_single(to_rvtrace_encoder(comp)->cpu, rvtrace_suspend_ipi,
					 to_rvtrace_encoder(comp), 1);
	return 0;
}

/* Registers may have been lost. A component that does not come back is not used any more. */
int rvtrace_resume(struct rvtrace_component *comp)
{
	if (!rvtrace_powered)
		return 0;
	if (comp->type != RVTRACE_TYPE_ENCODER)
		rvtrace_activate(comp);
	else
		smp_call_function_single(to_rvtrace_encoder(comp)->cpu, rvtrace_resume_ipi,
					 to_rvtrace_encoder(comp), 1);
	return 0;
}

/* A hart may lose its encoder's registers in deep idle states, too. */
static int rvtrace_cpu_pm(struct notifier_block *block, unsigned long action, void *data)
{
	struct rvtrace_encoder *enc = this_cpu_ptr(&rvtrace_cpus)->encoder;

	if (!enc)
		return NOTIFY_OK;
	if (action == CPU_PM_ENTER && enc->online)
		rvtrace_suspend_ipi(enc);
	else if ((action == CPU_PM_EXIT || action == CPU_PM_ENTER_FAILED) && rvtrace_powered)
		rvtrace_resume_ipi(enc);
	return NOTIFY_OK;
}

static struct notifier_block rvtrace_cpu_pm_block = {
	.notifier_call = rvtrace_cpu_pm,
};

static void rvtrace_release(struct device *dev)
{
	kfree(to_rvtrace_component(dev));
}

static bool rvtrace_is_sink(const struct rvtrace_component *comp)
{
	return comp->type != RVTRACE_TYPE_ENCODER && comp->type != RVTRACE_TYPE_FUNNEL;
}

/* Funnels must know which of their inputs come from components that feed others, too. */
static void rvtrace_note_fork(struct rvtrace_component *comp)
{
	struct rvtrace_output *out;

	if (comp->nr_outputs < 2)
		return;
	for (out = comp->outputs; out < comp->outputs + comp->nr_outputs; out++)
		if (out->to->type == RVTRACE_TYPE_FUNNEL)
			to_rvtrace_funnel(out->to)->forked |= BIT(out->port);
}

/* Numbers are by type; an encoder has its hart's number, which is what people look for. */
static int rvtrace_number(struct rvtrace_component *comp)
{
	struct rvtrace_component *other;
	u32 last_sink = 0;

	list_for_each_entry(other, &rvtrace_components, list) {
		if (other->type == comp->type && other->number >= comp->number)
			comp->number = other->number + 1;
		last_sink = max(last_sink, other->sink_id);
	}
	if (rvtrace_is_sink(comp))
		comp->sink_id = last_sink + 1;
	if (comp->type != RVTRACE_TYPE_ENCODER)
		return 0;
	comp->number = to_rvtrace_encoder(comp)->cpu;
	return rvtrace_encoder_of(comp->number) ? -EEXIST : 0;
}

/* rvtrace_register - put a probed component on the bus and into the list */
int rvtrace_register(struct rvtrace_component *comp)
{
	int ret;

	cpus_read_lock();
	mutex_lock(&rvtrace_mutex);
	ret = rvtrace_number(comp);
	if (ret) {
		dev_err(comp->dev.parent, "CPU %d has an encoder already\n", comp->number);
		goto out;
	}
	ret = dev_set_name(&comp->dev, "%s-%d", comp->ops->name, comp->number);
	if (ret)
		goto out;
	ret = device_add(&comp->dev);
	if (ret)
		goto out;
	list_add_tail(&comp->list, &rvtrace_components);
	rvtrace_note_fork(comp);
	if (rvtrace_powered)
		rvtrace_power_up();
out:
	mutex_unlock(&rvtrace_mutex);
	cpus_read_unlock();
	return ret;
}

void rvtrace_unregister(struct rvtrace_component *comp)
{
	mutex_lock(&rvtrace_mutex);
	list_del(&comp->list);
	/* Active still when a PIB sink was left sending its calibration pattern. */
	rvtrace_deactivate(comp);
	mutex_unlock(&rvtrace_mutex);
	device_del(&comp->dev);
}

/* Readies the device within @comp; put_device() frees it from here on */
void rvtrace_component_init(struct rvtrace_component *comp, struct device *parent)
{
	device_initialize(&comp->dev);
	INIT_LIST_HEAD(&comp->list);
	INIT_LIST_HEAD(&comp->running);
	raw_spin_lock_init(&comp->lock);
	comp->dev.parent = parent;
	comp->dev.bus = &rvtrace_bus;
	comp->dev.release = rvtrace_release;
	comp->dev.groups = comp->ops->groups;
	/* Until it has a name of its own, for messages */
	dev_set_name(&comp->dev, "%s", dev_name(parent));
}

static ssize_t type_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%s\n", to_rvtrace_component(dev)->ops->name);
}
static DEVICE_ATTR_RO(type);

static ssize_t version_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	u32 impl = to_rvtrace_component(dev)->impl;

	return sysfs_emit(buf, "%u.%u\n", (u32)FIELD_GET(RVTRACE_IMPL_MAJOR, impl),
			  (u32)FIELD_GET(RVTRACE_IMPL_MINOR, impl));
}
static DEVICE_ATTR_RO(version);

static ssize_t impl_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "0x%08x\n", to_rvtrace_component(dev)->impl);
}
static DEVICE_ATTR_RO(impl);

static ssize_t sink_id_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%u\n", to_rvtrace_component(dev)->sink_id);
}
static DEVICE_ATTR_RO(sink_id);

/* Control may be read at any time. */
static ssize_t state_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	struct rvtrace_component *comp = to_rvtrace_component(dev);
	u32 control = rvtrace_read(comp, RVTRACE_CONTROL);

	if (comp->broken)
		return sysfs_emit(buf, "broken\n");
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

static int __init rvtrace_init(void)
{
	int ret;

	ret = rvtrace_context_init();
	if (ret)
		return ret;
	rvtrace_pmu_init();
	ret = bus_register(&rvtrace_bus);
	if (ret)
		return ret;
	ret = cpuhp_setup_state(CPUHP_AP_ONLINE_DYN, "hwtracing/rvtrace:online",
				rvtrace_cpu_up, rvtrace_cpu_down);
	if (ret < 0)
		goto err_bus;
	rvtrace_cpuhp = ret;
	cpu_pm_register_notifier(&rvtrace_cpu_pm_block);
	ret = rvtrace_platform_register();
	if (ret)
		goto err_pm;
	return 0;

err_pm:
	cpu_pm_unregister_notifier(&rvtrace_cpu_pm_block);
	cpuhp_remove_state_nocalls(rvtrace_cpuhp);
err_bus:
	bus_unregister(&rvtrace_bus);
	return ret;
}
module_init(rvtrace_init);

/* Open events hold the module, so there are none here. */
static void __exit rvtrace_exit(void)
{
	rvtrace_pmu_unregister();
	rvtrace_context_exit();
	flush_work(&rvtrace_idle_work);
	rvtrace_platform_unregister();
	cpu_pm_unregister_notifier(&rvtrace_cpu_pm_block);
	cpuhp_remove_state_nocalls(rvtrace_cpuhp);
	bus_unregister(&rvtrace_bus);
}
module_exit(rvtrace_exit);

MODULE_DESCRIPTION("RISC-V trace (E-Trace and N-Trace) driver");
MODULE_LICENSE("GPL");
