// SPDX-License-Identifier: GPL-2.0-only
/*
 * RISC-V trace: which components there are, and when they have power and are taken out of reset.
 * With the first event, and when a hart or the system wakes up. Without an event clocks are off and
 * power domains may be: registers are lost then, and written again.
 */
#define pr_fmt(fmt) "rvtrace: " fmt

#include <linux/cleanup.h>
#include <linux/cpu.h>
#include <linux/cpu_pm.h>
#include <linux/cpuhotplug.h>
#include <linux/platform_device.h>
#include <linux/pm_runtime.h>
#include <linux/refcount.h>
#include <linux/smp.h>
#include <linux/workqueue.h>

#include "rvtrace-cpu.h"
#include "rvtrace-encoder.h"
#include "rvtrace-power.h"
#include "rvtrace-session.h"

/* Number of events; while it is not 0, components have power and are active */
static refcount_t rvtrace_users = REFCOUNT_INIT(0);
static bool rvtrace_powered;
/* The system goes down: nothing is activated any more */
static bool rvtrace_down;
static enum cpuhp_state rvtrace_cpuhp;

static struct rvtrace_encoder *rvtrace_encoder_of(unsigned int cpu)
{
	struct rvtrace_component *comp;

	lockdep_assert_held(&rvtrace_mutex);
	list_for_each_entry(comp, &rvtrace_components, list)
		if (comp->type == RVTRACE_TYPE_ENCODER && to_rvtrace_encoder(comp)->cpu == cpu)
			return to_rvtrace_encoder(comp);
	return NULL;
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

static void rvtrace_activate_ipi(void *component)
{
	struct rvtrace_component *comp = component;

	if (comp->type == RVTRACE_TYPE_ENCODER)
		rvtrace_cpu_activate(to_rvtrace_encoder(comp));
	else
		rvtrace_activate(comp);
}

static void rvtrace_deactivate_ipi(void *component)
{
	struct rvtrace_component *comp = component;

	if (comp->type == RVTRACE_TYPE_ENCODER)
		rvtrace_cpu_deactivate(to_rvtrace_encoder(comp));
	else
		rvtrace_deactivate(comp);
}

/*
 * Switches a component on. One that gets no power stays inactive: an event that needs it cannot
 * start.
 */
static void rvtrace_power_on(struct rvtrace_component *comp)
{
	int ret;

	lockdep_assert_held(&rvtrace_mutex);
	if (comp->powered)
		return;
	ret = pm_runtime_resume_and_get(comp->dev.parent);
	if (ret)
		dev_err(&comp->dev, "gets no power (%d)\n", ret);
	comp->powered = !ret;
}

static void rvtrace_power_off(struct rvtrace_component *comp)
{
	lockdep_assert_held(&rvtrace_mutex);
	if (!comp->powered)
		return;
	comp->powered = false;
	pm_runtime_put_sync(comp->dev.parent);
}

/*
 * Returns whether the registers can be accessed: events want them, and the system does not sleep.
 */
static bool rvtrace_is_on(const struct rvtrace_component *comp)
{
	return rvtrace_powered && comp->powered && !READ_ONCE(comp->asleep);
}

/*
 * Activates sinks first and encoders last, as the specification orders it. An encoder may lose its
 * registers with its hart, so only its own hart accesses it.
 */
static void rvtrace_power_up(void)
{
	struct rvtrace_component *comp;

	lockdep_assert_held(&rvtrace_mutex);
	if (rvtrace_down)
		return;
	rvtrace_powered = true;
	list_for_each_entry(comp, &rvtrace_components, list)
		rvtrace_power_on(comp);
	list_for_each_entry(comp, &rvtrace_components, list)
		if (comp->type != RVTRACE_TYPE_ENCODER && rvtrace_is_on(comp))
			rvtrace_call(comp, rvtrace_activate_ipi, comp);
	list_for_each_entry(comp, &rvtrace_components, list)
		if (comp->type == RVTRACE_TYPE_ENCODER && rvtrace_is_on(comp))
			rvtrace_call(comp, rvtrace_activate_ipi, comp);
}

static void rvtrace_power_down(void)
{
	struct rvtrace_component *comp;

	lockdep_assert_held(&rvtrace_mutex);
	rvtrace_powered = false;
	list_for_each_entry(comp, &rvtrace_components, list)
		if (comp->type == RVTRACE_TYPE_ENCODER)
			rvtrace_call(comp, rvtrace_deactivate_ipi, comp);
	list_for_each_entry(comp, &rvtrace_components, list)
		if (comp->type != RVTRACE_TYPE_ENCODER)
			rvtrace_call(comp, rvtrace_deactivate_ipi, comp);
	list_for_each_entry_reverse(comp, &rvtrace_components, list)
		rvtrace_power_off(comp);
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

/* The last event may go away where sleeping locks cannot be taken, so a worker does the rest. */
void rvtrace_put(void)
{
	if (refcount_dec_and_test(&rvtrace_users))
		schedule_work(&rvtrace_idle_work);
}

/* Returns whether trace ends here, or goes on in a trace system of another kind. */
static bool rvtrace_is_sink(const struct rvtrace_component *comp)
{
	return comp->type != RVTRACE_TYPE_ENCODER && !comp->nr_outputs;
}

/* Tells funnels which of their inputs come from components that feed others, too. */
static void rvtrace_note_fork(struct rvtrace_component *comp)
{
	struct rvtrace_output *out;

	if (comp->nr_outputs < 2)
		return;
	for (out = comp->outputs; out < comp->outputs + comp->nr_outputs; out++)
		if (out->to->type == RVTRACE_TYPE_FUNNEL)
			to_rvtrace_funnel(out->to)->forked |= BIT(out->port);
}

static bool rvtrace_number_is_taken(const struct rvtrace_component *comp)
{
	const struct rvtrace_component *other;

	list_for_each_entry(other, &rvtrace_components, list)
		if (other->type == comp->type && other->number == comp->number)
			return true;
	return false;
}

static bool rvtrace_sink_id_is_taken(u32 sink_id)
{
	const struct rvtrace_component *other;

	list_for_each_entry(other, &rvtrace_components, list)
		if (other->sink_id == sink_id)
			return true;
	return false;
}

/*
 * Numbers the component. Each type has its own numbers; an encoder has the number of its hart,
 * which is what people look for. A component that is bound again gets the numbers that are free.
 * When no other is missing, these are the ones that it had.
 */
static int rvtrace_number(struct rvtrace_component *comp)
{
	lockdep_assert_held(&rvtrace_mutex);
	if (comp->type == RVTRACE_TYPE_ENCODER) {
		comp->number = to_rvtrace_encoder(comp)->cpu;
		return rvtrace_number_is_taken(comp) ? -EEXIST : 0;
	}
	while (rvtrace_number_is_taken(comp))
		comp->number++;
	if (rvtrace_is_sink(comp))
		for (comp->sink_id = 1; rvtrace_sink_id_is_taken(comp->sink_id); comp->sink_id++)
			;
	return 0;
}

static void rvtrace_park_ipi(void *unused)
{
	rvtrace_run_park();
}

static void rvtrace_unpark_ipi(void *unused)
{
	rvtrace_run_unpark();
}

static void rvtrace_reset_ipi(void *component)
{
	struct rvtrace_component *comp = component;
	bool works = !rvtrace_reset(comp);

	if (comp->type == RVTRACE_TYPE_ENCODER)
		WRITE_ONCE(to_rvtrace_encoder(comp)->online, works);
}

/*
 * Resets a component that did not answer some time ago. Events that run are stopped meanwhile. No
 * event that needs the component can start before, because it is broken.
 */
static void rvtrace_recover(struct work_struct *work)
{
	struct rvtrace_component *comp =
		container_of(to_delayed_work(work), struct rvtrace_component, recovery);

	cpus_read_lock();
	mutex_lock(&rvtrace_mutex);
	if (rvtrace_powered && comp->active && comp->broken) {
		on_each_cpu(rvtrace_park_ipi, NULL, 1);
		rvtrace_call(comp, rvtrace_reset_ipi, comp);
		on_each_cpu(rvtrace_unpark_ipi, NULL, 1);
	}
	mutex_unlock(&rvtrace_mutex);
	cpus_read_unlock();
}

/* Harts that were down when their encoders should have been probed */
static struct cpumask rvtrace_missing_cpus;
/* A component was unbound, and with it those upstream */
static bool rvtrace_unbound;

static int rvtrace_attach(struct device *dev, void *unused)
{
	if (!dev->driver && device_attach(dev) < 0)
		dev_dbg(dev, "cannot be probed yet\n");
	return 0;
}

/*
 * Looks for components that could not be probed, or were unbound, and can be used now.
 * bus_rescan_devices() would end at the first that has to wait for another.
 */
static void rvtrace_rescan(struct work_struct *work)
{
	bus_for_each_dev(&platform_bus_type, NULL, NULL, rvtrace_attach);
}

static DECLARE_WORK(rvtrace_rescan_work, rvtrace_rescan);

/* rvtrace_register - put a probed component on the bus and into the list */
int rvtrace_register(struct rvtrace_component *comp)
{
	int ret;

	INIT_DELAYED_WORK(&comp->recovery, rvtrace_recover);
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
	/*
	 * Components upstream are to be bound again, too. The driver core does so by its own links,
	 * but not where the devicetree has links back: these have made links without that flag
	 * before.
	 */
	if (rvtrace_unbound && comp->type != RVTRACE_TYPE_ENCODER)
		schedule_work(&rvtrace_rescan_work);
out:
	mutex_unlock(&rvtrace_mutex);
	cpus_read_unlock();
	return ret;
}

void rvtrace_unregister(struct rvtrace_component *comp)
{
	mutex_lock(&rvtrace_mutex);
	list_del_init(&comp->list);
	rvtrace_unbound = true;
	/* A PIB sink is still active when it was left sending its calibration pattern. */
	rvtrace_call(comp, rvtrace_deactivate_ipi, comp);
	rvtrace_power_off(comp);
	mutex_unlock(&rvtrace_mutex);
	irq_work_sync(&comp->failed);
	cancel_delayed_work_sync(&comp->recovery);
	device_del(&comp->dev);
}

/* rvtrace_probe_again - look for encoders again when @cpu, which is down, comes up */
void rvtrace_probe_again(unsigned int cpu)
{
	cpumask_set_cpu(cpu, &rvtrace_missing_cpus);
}

static void rvtrace_resume_ipi(void *enc)
{
	if (!rvtrace_cpu_activate(enc))
		rvtrace_run_unpark();
}

static int rvtrace_cpu_up(unsigned int cpu)
{
	struct rvtrace_encoder *enc;

	mutex_lock(&rvtrace_mutex);
	enc = rvtrace_encoder_of(cpu);
	/*
	 * When the system wakes up, harts come before what they need; rvtrace_resume() does this
	 * then.
	 */
	if (enc && rvtrace_is_on(&enc->comp)) {
		/* Flight mode begins. */
		guard(irqsave)();
		rvtrace_resume_ipi(enc);
	}
	if (cpumask_test_and_clear_cpu(cpu, &rvtrace_missing_cpus))
		schedule_work(&rvtrace_rescan_work);
	mutex_unlock(&rvtrace_mutex);
	return 0;
}

/*
 * What is the hart's own may lose its registers. The encoder has been prepared for that; the rest
 * is looked after when it is needed next, for it may be shared.
 */
static void rvtrace_paths_sleep(struct rvtrace_encoder *enc)
{
	struct rvtrace_path *path;

	for (path = enc->paths; path < enc->paths + enc->nr_paths; path++)
		path->slept = true;
}

static int rvtrace_cpu_down(unsigned int cpu)
{
	struct rvtrace_encoder *enc;

	mutex_lock(&rvtrace_mutex);
	enc = rvtrace_encoder_of(cpu);
	if (enc) {
		/* From here on no event starts. One that runs is stopped, and its trace is kept. */
		WRITE_ONCE(enc->online, false);
		rvtrace_run_halt();
		rvtrace_cpu_deactivate(enc);
		rvtrace_paths_sleep(enc);
	}
	mutex_unlock(&rvtrace_mutex);
	return 0;
}

static void rvtrace_suspend_ipi(void *enc)
{
	rvtrace_run_park();
	rvtrace_cpu_deactivate(enc);
}

/* Prepares a component for the loss of its registers, which lasts until rvtrace_awake(). */
static void rvtrace_sleep(struct rvtrace_component *comp)
{
	/* This comes first, for the hart may leave an idle state meanwhile. */
	WRITE_ONCE(comp->asleep, true);
	if (comp->type != RVTRACE_TYPE_ENCODER)
		rvtrace_call(comp, rvtrace_deactivate_ipi, comp);
	else
		rvtrace_call(comp, rvtrace_suspend_ipi, to_rvtrace_encoder(comp));
}

/* Activates a component again. One that does not come back is not used any more. */
static void rvtrace_awake(struct rvtrace_component *comp)
{
	WRITE_ONCE(comp->asleep, false);
	if (!rvtrace_is_on(comp))
		return;
	if (comp->type != RVTRACE_TYPE_ENCODER)
		rvtrace_call(comp, rvtrace_activate_ipi, comp);
	else
		rvtrace_call(comp, rvtrace_resume_ipi, to_rvtrace_encoder(comp));
}

/*
 * rvtrace_suspend - the system goes to sleep, and now the components of @dev do
 *
 * Encoders come before what they feed, because they depend on it. All harts are still up.
 */
void rvtrace_suspend(const struct device *dev)
{
	struct rvtrace_component *comp;

	mutex_lock(&rvtrace_mutex);
	/* A sink in the block of another component is in the list before that component. */
	list_for_each_entry_reverse(comp, &rvtrace_components, list)
		if (comp->dev.parent == dev)
			rvtrace_sleep(comp);
	mutex_unlock(&rvtrace_mutex);
}

/* rvtrace_resume - the components of @dev have power again */
void rvtrace_resume(const struct device *dev)
{
	struct rvtrace_component *comp;

	mutex_lock(&rvtrace_mutex);
	list_for_each_entry(comp, &rvtrace_components, list)
		if (comp->dev.parent == dev)
			rvtrace_awake(comp);
	mutex_unlock(&rvtrace_mutex);
}

/*
 * rvtrace_shutdown - the system reboots, powers off, or starts another kernel by kexec
 *
 * Stops what is running, and puts all components into reset for good: a sink must not write into
 * memory that the next kernel uses.
 */
void rvtrace_shutdown(void)
{
	struct rvtrace_component *comp;

	cpus_read_lock();
	mutex_lock(&rvtrace_mutex);
	rvtrace_down = true;
	rvtrace_powered = false;
	list_for_each_entry(comp, &rvtrace_components, list)
		if (comp->type == RVTRACE_TYPE_ENCODER)
			rvtrace_sleep(comp);
	list_for_each_entry(comp, &rvtrace_components, list)
		if (comp->type != RVTRACE_TYPE_ENCODER)
			rvtrace_sleep(comp);
	mutex_unlock(&rvtrace_mutex);
	cpus_read_unlock();
}

/* A hart may lose registers in deep idle states, too. */
static int rvtrace_cpu_pm(struct notifier_block *block, unsigned long action, void *data)
{
	struct rvtrace_cpu *rc = this_cpu_ptr(&rvtrace_cpus);
	struct rvtrace_encoder *enc = rc->encoder;

	if (!enc)
		return NOTIFY_OK;
	if (action == CPU_PM_ENTER) {
		rvtrace_paths_sleep(enc);
		rc->sleeps = enc->online;
		if (rc->sleeps)
			rvtrace_suspend_ipi(enc);
	} else if (rc->sleeps && (action == CPU_PM_EXIT || action == CPU_PM_ENTER_FAILED)) {
		/* A hart that goes down may be idle meanwhile: its encoder stays off. */
		rc->sleeps = false;
		if (rvtrace_is_on(&enc->comp))
			rvtrace_resume_ipi(enc);
	}
	return NOTIFY_OK;
}

static struct notifier_block rvtrace_cpu_pm_block = {
	.notifier_call = rvtrace_cpu_pm,
};

int rvtrace_power_init(void)
{
	int ret;

	ret = cpuhp_setup_state(CPUHP_AP_ONLINE_DYN, "hwtracing/rvtrace:online",
				rvtrace_cpu_up, rvtrace_cpu_down);
	if (ret < 0)
		return ret;
	rvtrace_cpuhp = ret;
	cpu_pm_register_notifier(&rvtrace_cpu_pm_block);
	return 0;
}

void rvtrace_power_exit(void)
{
	cpu_pm_unregister_notifier(&rvtrace_cpu_pm_block);
	cpuhp_remove_state_nocalls(rvtrace_cpuhp);
	/* Until its device was gone, a write to an attribute of a PIB sink could queue it again. */
	flush_work(&rvtrace_idle_work);
	flush_work(&rvtrace_rescan_work);
}

/* Waits until the worker has put components into reset. No event is left. */
void rvtrace_power_flush(void)
{
	flush_work(&rvtrace_idle_work);
}
