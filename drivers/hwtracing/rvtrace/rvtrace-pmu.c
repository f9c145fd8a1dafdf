// SPDX-License-Identifier: GPL-2.0-only
/*
 * RISC-V trace: the PMU "rvtrace". One event runs on a hart at a time, and its trace goes to an AUX
 * buffer.
 */
#define pr_fmt(fmt) "rvtrace: " fmt

#include <linux/capability.h>
#include <linux/cpu.h>
#include <linux/module.h>
#include <linux/pid_namespace.h>
#include <linux/rcupdate.h>
#include <linux/rvtrace.h>
#include <linux/slab.h>
#include <linux/smp.h>

#include "rvtrace-aux.h"
#ifdef RVTRACE_COMPAT
#include "rvtrace-compat.h"
#endif
#include "rvtrace-context.h"
#include "rvtrace-cpu.h"
#include "rvtrace-encoder.h"
#include "rvtrace-flight.h"
#include "rvtrace-late.h"
#include "rvtrace-pmu.h"
#include "rvtrace-power.h"
#include "rvtrace-session.h"

#ifdef PERF_PMU_CAP_AUX_PAUSE
#define RVTRACE_PMU_CAP_PAUSE	PERF_PMU_CAP_AUX_PAUSE
#else
#define RVTRACE_PMU_CAP_PAUSE	0
#endif

/* Linux 6.16; before, AUX buffers are of large pages anyway. */
#ifdef PERF_PMU_CAP_AUX_PREFER_LARGE
#define RVTRACE_PMU_CAP_LARGE	PERF_PMU_CAP_AUX_PREFER_LARGE
#else
#define RVTRACE_PMU_CAP_LARGE	0
#endif

static struct pmu rvtrace_pmu;
static bool rvtrace_pmu_registered;
static DEFINE_MUTEX(rvtrace_pmu_mutex);
/* Number of events whose records may be deferred */
static atomic_t rvtrace_deferrable_events;

/* ------------------------------------------------------------------ perf's callbacks */

static void rvtrace_event_begin(struct rvtrace_cpu *rc, struct perf_event *event)
{
	struct rvtrace_config *config = rvtrace_event_config(event);
	struct rvtrace_encoder *enc = READ_ONCE(rc->encoder);

	event->hw.state = PERF_HES_STOPPED;
	if (!enc || !READ_ONCE(enc->online) || rc->event)
		return;
	rc->path = rvtrace_encoder_path(enc, config->sink);
	if (!rc->path)
		return;
	/* Addresses of filters change when the program maps and unmaps files. */
	perf_event_addr_filters_sync(event);
	if (config->context)
		rvtrace_context_write(rc, config->context);
	if (config->deferrable && config->cpu >= 0 && config->cpu != enc->cpu)
		rvtrace_late_flush_from(rc, event, config->cpu);
	if (rvtrace_session_start(rc, event))
		return;
	event->hw.state = 0;
	/*
	 * perf writes no ITRACE_START record from now on, because AUX records name the thread. In
	 * overwrite mode their trace may be gone, so there each start keeps its record.
	 */
	if (rc->aux && !rc->aux->overwrite && !event->parent)
		perf_event_itrace_started(event);
	/* Writes which hart's trace comes next in the AUX buffer, when it is another hart's. */
	if (config->cpu != enc->cpu)
		perf_report_aux_output_id(event, FIELD_PREP(RVTRACE_HW_ID_CPU, enc->cpu));
	config->cpu = enc->cpu;
}

static void rvtrace_event_start(struct perf_event *event, int flags)
{
	struct rvtrace_cpu *rc = this_cpu_ptr(&rvtrace_cpus);

#ifdef PERF_EF_RESUME
	if (flags & PERF_EF_RESUME) {
		if (rc->event == event)
			rvtrace_path_update_tracing(rc);
		return;
	}
#endif
	rvtrace_event_begin(rc, event);
}

static void rvtrace_event_end(struct rvtrace_cpu *rc, struct perf_event *event)
{
	if (rc->parked == event)
		rc->parked = NULL;
	if (event->hw.state & PERF_HES_STOPPED)
		return;
	if (rc->event == event)
		rvtrace_session_stop(rc);
	event->hw.state |= PERF_HES_STOPPED | PERF_HES_UPTODATE;
}

static void rvtrace_event_stop(struct perf_event *event, int flags)
{
	struct rvtrace_cpu *rc = this_cpu_ptr(&rvtrace_cpus);

#ifdef PERF_EF_PAUSE
	if (flags & PERF_EF_PAUSE) {
		if (rc->event == event)
			rvtrace_path_update_tracing(rc);
		return;
	}
#endif
	rvtrace_event_end(rc, event);
}

static int rvtrace_event_add(struct perf_event *event, int flags)
{
	struct rvtrace_cpu *rc = this_cpu_ptr(&rvtrace_cpus);

	rc->changed = true;
	event->hw.state = PERF_HES_STOPPED | PERF_HES_UPTODATE;
	if (!(flags & PERF_EF_START))
		return 0;
	rvtrace_event_begin(rc, event);
	/*
	 * Without an AUX buffer, or with a full one, there is nothing to do now: perf tries again
	 * when it schedules the event the next time.
	 */
	return event->hw.state & PERF_HES_STOPPED ? -EINVAL : 0;
}

static void rvtrace_event_del(struct perf_event *event, int flags)
{
	struct rvtrace_cpu *rc = this_cpu_ptr(&rvtrace_cpus);

	rc->changed = true;
	rvtrace_event_end(rc, event);
}

static void rvtrace_event_read(struct perf_event *event)
{
}

/* Returns whether perf has given the context of the event to the next task, in a context switch. */
static bool rvtrace_event_swapped(const struct perf_event *event)
{
	const struct task_struct *task = READ_ONCE(event->ctx->task);

	return task && task != current;
}

static void rvtrace_pmu_disable(struct pmu *pmu)
{
}

/*
 * perf disables the PMU, takes events from the hart or puts them on it, and enables the PMU. When
 * it has done neither, somebody has disabled an event that was not running: there is no other sign
 * of that.
 */
static void rvtrace_pmu_enable(struct pmu *pmu)
{
	struct rvtrace_cpu *rc = this_cpu_ptr(&rvtrace_cpus);

	if (rc->event && rvtrace_in_switch(rc) && rvtrace_event_swapped(rc->event))
		rvtrace_run_swap();
	if (rc->changed)
		rc->changed = false;
	else if (atomic_read(&rvtrace_deferrable_events) && !rvtrace_in_switch(rc))
		rvtrace_late_flush_all();
}

/* Replaces perf's own callbacks, which disable and enable the PMU once more. */
static void rvtrace_pmu_start_txn(struct pmu *pmu, unsigned int flags)
{
}

static int rvtrace_pmu_commit_txn(struct pmu *pmu)
{
	return 0;
}

static void rvtrace_pmu_cancel_txn(struct pmu *pmu)
{
}

/* ------------------------------------------------------------------ opening and closing */

/*
 * The window of a duty cycle and the pause behind it each last at least this long: a shorter one
 * would be spent in the timer's handler.
 */
#define RVTRACE_MIN_WINDOW_US	10

/*
 * Returns whether config1 is valid. It has a duty cycle, or what one of two filters compares with:
 * there is no room for both in the same event.
 */
static bool rvtrace_config1_is_valid(const struct perf_event_attr *attr)
{
	u32 window = FIELD_GET(RVTRACE_CONFIG1_WINDOW, attr->config1);
	u32 period = FIELD_GET(RVTRACE_CONFIG1_PERIOD, attr->config1);
	u32 match = FIELD_GET(RVTRACE_CONFIG_TVAL_MATCH, attr->config);

	if (attr->config & RVTRACE_CONFIG_TVAL_LATCH && !match)
		return false;
	if (attr->config & RVTRACE_CONFIG_IMPDEF_MATCH)
		return !match;
	return match ? match <= RVTRACE_COMP_FUNCTIONS :
	       !attr->config1 || (window >= RVTRACE_MIN_WINDOW_US &&
				  period >= window + RVTRACE_MIN_WINDOW_US);
}

/* Refuses what no encoder can do, and what the caller may not ask for. */
static int rvtrace_event_check(struct perf_event *event)
{
	const struct perf_event_attr *attr = &event->attr;
	int context;

	if (attr->config & ~RVTRACE_CONFIG_ALL)
		return -EINVAL;
	if (FIELD_GET(RVTRACE_CONFIG_CAUSES, attr->config) > RVTRACE_CAUSES_INTERRUPTS)
		return -EINVAL;
	if (!rvtrace_config1_is_valid(attr))
		return -EINVAL;
	if ((attr->exclude_user && attr->exclude_kernel) ||
	    (attr->exclude_host && attr->exclude_guest))
		return -EINVAL;
	if (has_branch_stack(event) || attr->exclude_idle)
		return -EOPNOTSUPP;
	/* A hart that stalls slows down everybody who runs on it. */
	if (attr->config & (RVTRACE_CONFIG_MACHINE | RVTRACE_CONFIG_STALL) && !perfmon_capable())
		return -EACCES;
	context = rvtrace_context_of(attr);
	if (context < 0)
		return context;
	/* Thread ids in the trace are those of the initial namespace. */
	if (context && task_active_pid_ns(current) != &init_pid_ns)
		return -EACCES;
	return 0;
}

/*
 * Refuses a sink that does not exist, or by which trace leaves the chip: the kernel does not
 * control who sees it then.
 */
static int rvtrace_event_check_sink(struct rvtrace_encoder *enc, u32 sink)
{
	const struct rvtrace_path *path = rvtrace_encoder_path(enc, sink);

	if (!path)
		return -ENODEV;
	return path->ram || perfmon_capable() ? 0 : -EACCES;
}

/*
 * Refuses hcontext in E-Trace: it has room for one context and does not say which. By convention
 * that is scontext.
 */
static int rvtrace_event_check_context(const struct rvtrace_encoder *enc,
				       const struct perf_event_attr *attr,
				       const struct rvtrace_program *program)
{
	u32 format = FIELD_GET(RVTRACE_TE_CONTROL_FORMAT, program->control);

	if (format == RVTRACE_FORMAT_ETRACE && rvtrace_context_of(attr) == RVTRACE_CONTEXT_HCONTEXT)
		return rvtrace_refuse(&enc->comp, "hcontext in E-Trace");
	return 0;
}

/* Checks that every encoder that may trace the event takes its options. */
static int rvtrace_event_check_encoders(struct perf_event *event, u32 sink)
{
	struct rvtrace_program program;
	struct rvtrace_encoder *enc;
	bool found = false;
	int cpu, ret;

	guard(rcu)();
	for_each_possible_cpu(cpu) {
		if (event->cpu >= 0 && event->cpu != cpu)
			continue;
		enc = READ_ONCE(per_cpu(rvtrace_cpus, cpu).encoder);
		if (!enc)
			continue;
		ret = rvtrace_encoder_configure(enc, &event->attr, &program);
		if (!ret)
			ret = rvtrace_event_check_context(enc, &event->attr, &program);
		if (!ret)
			ret = rvtrace_event_check_sink(enc, sink);
		if (ret)
			return ret;
		found = true;
	}
	return found ? 0 : -ENODEV;
}

/* Returns whether the timestamps of all encoders are the platform's time counter. */
static bool rvtrace_stamps_are_times(void)
{
	const struct rvtrace_encoder *enc;
	int cpu;

	guard(rcu)();
	for_each_possible_cpu(cpu) {
		enc = READ_ONCE(per_cpu(rvtrace_cpus, cpu).encoder);
		if (enc && !enc->comp.ts.platform)
			return false;
	}
	return true;
}

/* Returns whether the trace has times, and the id of each thread. */
static bool rvtrace_event_is_tagged(const struct perf_event_attr *attr)
{
	const u64 wanted = RVTRACE_CONFIG_CONTEXT | RVTRACE_CONFIG_TIMESTAMP;

	return (attr->config & wanted) == wanted &&
	       rvtrace_context_of(attr) == RVTRACE_CONTEXT_SCONTEXT && rvtrace_stamps_are_times();
}

static struct rvtrace_config *rvtrace_config_create(const struct perf_event *event)
{
	const struct perf_event_attr *attr = &event->attr;
	const u64 values = RVTRACE_CONFIG_TVAL_MATCH | RVTRACE_CONFIG_IMPDEF_MATCH;
	u64 cycle = attr->config & values ? 0 : attr->config1;
	u64 window = FIELD_GET(RVTRACE_CONFIG1_WINDOW, cycle);
	u64 period = FIELD_GET(RVTRACE_CONFIG1_PERIOD, cycle);
	struct rvtrace_config config = {
		.cpu = -1,
		.sink = FIELD_GET(RVTRACE_CONFIG2_SINK, attr->config2),
		.context = rvtrace_context_of(attr),
		.deferrable = IS_ENABLED(CONFIG_RVTRACE_LATE_RECORDS) &&
			      event->attach_state & PERF_ATTACH_TASK,
		.tagged = rvtrace_event_is_tagged(attr),
		.stall = attr->config & RVTRACE_CONFIG_STALL,
		.window_ns = window * NSEC_PER_USEC,
		.pause_ns = (period - window) * NSEC_PER_USEC,
	};

	/* Threads of one program take turns: what they share need not be programmed anew. */
	if (event->parent) {
		config.serial = rvtrace_event_config(event->parent)->serial;
		config.opener = rvtrace_event_config(event->parent)->opener;
	} else {
		config.serial = rvtrace_new_serial();
		config.opener = rvtrace_current_opener();
	}
	return kmemdup(&config, sizeof(config), GFP_KERNEL);
}

static void rvtrace_event_destroy(struct perf_event *event)
{
	struct rvtrace_config *config = rvtrace_event_config(event);

	if (config->deferrable) {
		rvtrace_late_flush_event(event);
		atomic_dec(&rvtrace_deferrable_events);
	}
	rvtrace_filter_close(config);
	rvtrace_context_put(config->context);
	rvtrace_flight_remove_event();
	rvtrace_put();
	event->pmu_private = NULL;
	kfree(config);
}

static int rvtrace_event_init(struct perf_event *event)
{
	struct rvtrace_config *config;
	int ret;

	if (event->attr.type != event->pmu->type)
		return -ENOENT;
	/* A child gets what its parent was granted, whoever forks. */
	if (!event->parent) {
		ret = rvtrace_event_check(event);
		if (ret)
			return ret;
	}
	config = rvtrace_config_create(event);
	if (!config)
		return -ENOMEM;
	rvtrace_get();
	rvtrace_flight_add_event();
	if (!event->parent) {
		ret = rvtrace_event_check_encoders(event, config->sink);
		if (ret)
			goto err_put;
	}
	ret = rvtrace_context_get(config->context);
	if (ret)
		goto err_put;
	rvtrace_filter_open(config, event);
	if (config->deferrable)
		atomic_inc(&rvtrace_deferrable_events);
	event->pmu_private = config;
	event->destroy = rvtrace_event_destroy;
	return 0;

err_put:
	rvtrace_flight_remove_event();
	rvtrace_put();
	kfree(config);
	return ret;
}

static struct pmu rvtrace_pmu = {
	.module		= THIS_MODULE,
	.capabilities	= PERF_PMU_CAP_EXCLUSIVE | PERF_PMU_CAP_ITRACE | RVTRACE_PMU_CAP_PAUSE |
			  RVTRACE_PMU_CAP_LARGE,
	/* Software events are scheduled with their task and never fail for want of a counter. */
	.task_ctx_nr	= perf_sw_context,
	.attr_groups	= rvtrace_pmu_groups,
	.event_init	= rvtrace_event_init,
	.pmu_disable	= rvtrace_pmu_disable,
	.pmu_enable	= rvtrace_pmu_enable,
	.start_txn	= rvtrace_pmu_start_txn,
	.commit_txn	= rvtrace_pmu_commit_txn,
	.cancel_txn	= rvtrace_pmu_cancel_txn,
	.add		= rvtrace_event_add,
	.del		= rvtrace_event_del,
	.start		= rvtrace_event_start,
	.stop		= rvtrace_event_stop,
	.read		= rvtrace_event_read,
	.setup_aux	= rvtrace_setup_aux,
	.free_aux	= rvtrace_free_aux,
	.snapshot_aux	= rvtrace_event_snapshot_aux,
	.addr_filters_validate	= rvtrace_filter_validate,
	.addr_filters_sync	= rvtrace_filter_sync,
};

#define RVTRACE_LINK_NAME	sizeof("cpu4294967295")

/*
 * Prints the name of the link from the PMU's directory to the encoder's: perf looks for files of a
 * PMU there.
 */
static void rvtrace_pmu_link_name(const struct rvtrace_encoder *enc, char *name)
{
	snprintf(name, RVTRACE_LINK_NAME, "cpu%d", enc->cpu);
}

static int rvtrace_pmu_link(struct rvtrace_encoder *enc)
{
	char name[RVTRACE_LINK_NAME];

	rvtrace_pmu_link_name(enc, name);
	return sysfs_create_link(&rvtrace_pmu.dev->kobj, &enc->comp.dev.kobj, name);
}

/* Removes the link, unless it went with the PMU's directory. */
static void rvtrace_pmu_unlink(struct rvtrace_encoder *enc)
{
	char name[RVTRACE_LINK_NAME];

	rvtrace_pmu_link_name(enc, name);
	guard(mutex)(&rvtrace_pmu_mutex);
	if (rvtrace_pmu_registered)
		sysfs_remove_link(&rvtrace_pmu.dev->kobj, name);
}

/* Adds an encoder. The first one registers the PMU: without encoders there is nothing to open. */
int rvtrace_pmu_add_encoder(struct rvtrace_encoder *enc)
{
	int ret = 0;

	WRITE_ONCE(per_cpu(rvtrace_cpus, enc->cpu).encoder, enc);
	mutex_lock(&rvtrace_pmu_mutex);
	if (!rvtrace_pmu_registered) {
		rvtrace_pmu.nr_addr_filters = rvtrace_filter_count(enc);
		ret = perf_pmu_register(&rvtrace_pmu, "rvtrace", -1);
		rvtrace_pmu_registered = !ret;
	}
	if (!ret)
		ret = rvtrace_pmu_link(enc);
	mutex_unlock(&rvtrace_pmu_mutex);
	return ret;
}

static void rvtrace_pmu_detach(void *unused)
{
	rvtrace_run_detach();
}

/* Stops the event that the encoder traces, and keeps its trace. The event stays open. */
void rvtrace_pmu_remove_encoder(struct rvtrace_encoder *enc)
{
	struct rvtrace_cpu *rc = &per_cpu(rvtrace_cpus, enc->cpu);

	rvtrace_pmu_unlink(enc);
	cpus_read_lock();
	/* A hart stopped it when it went down. */
	if (rc->encoder == enc && smp_call_function_single(enc->cpu, rvtrace_pmu_detach, NULL, 1))
		WRITE_ONCE(rc->encoder, NULL);
	cpus_read_unlock();
	/* Others may still use the encoder. */
	synchronize_rcu();
}

void rvtrace_pmu_unregister(void)
{
	mutex_lock(&rvtrace_pmu_mutex);
	if (rvtrace_pmu_registered)
		perf_pmu_unregister(&rvtrace_pmu);
	rvtrace_pmu_registered = false;
	mutex_unlock(&rvtrace_pmu_mutex);
}

#ifdef RVTRACE_COMPAT
int rvtrace_pmu_init(void)
{
	return rvtrace_compat_init(&rvtrace_pmu);
}
#endif
