// SPDX-License-Identifier: GPL-2.0-only
/*
 * RISC-V trace: the PMU "rvtrace". One event runs on a hart at a time, and its trace goes to an AUX
 * buffer.
 *
 * Everything that concerns a running event happens on its hart with interrupts off: perf's
 * callbacks, the timer, and the hooks of the scheduler.
 */
#define pr_fmt(fmt) "rvtrace: " fmt

#include <linux/capability.h>
#include <linux/module.h>
#include <linux/pid_namespace.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>
#include <linux/vmalloc.h>

#include "rvtrace.h"

/*
 * A look at a running sink is one register read, so it is taken often enough for the fastest trace
 * that is to be expected, and the sink is drained when it is half full, or would be too full at the
 * next look.
 */
#define RVTRACE_POLL_MIN_NS	(100 * NSEC_PER_USEC)
#define RVTRACE_POLL_MAX_NS	(10 * NSEC_PER_MSEC)
/* Bytes per 2^20 ns: about 256 MB/s, one hart at 2 GHz with one bit an instruction */
#define RVTRACE_RATE_MAX	(256 << 10)
#define RVTRACE_RATE_SHIFT	20

DEFINE_PER_CPU(struct rvtrace_cpu, rvtrace_cpus);

static struct pmu rvtrace_pmu;
static bool rvtrace_pmu_registered;
static DEFINE_MUTEX(rvtrace_pmu_mutex);
static atomic64_t rvtrace_serial = ATOMIC64_INIT(0);

static const struct rvtrace_config *rvtrace_event_config(const struct perf_event *event)
{
	return event->pmu_private;
}

/* ------------------------------------------------------------------ start, stop and drain */

static void rvtrace_timer_arm(struct rvtrace_cpu *rc, size_t fill)
{
	struct rvtrace_ramsink *sink = to_rvtrace_ramsink(rvtrace_path_sink(rc->path));
	u64 room = sink->size / 2 > fill ? sink->size / 2 - fill : 0;
	u64 rate = clamp_t(u64, rc->rate * 8, RVTRACE_RATE_MAX / 16, RVTRACE_RATE_MAX);
	u64 ns = div64_u64(room << RVTRACE_RATE_SHIFT, rate);

	rc->poll_ns = ktime_get_mono_fast_ns();
	rc->poll_fill = fill;
	hrtimer_start(&rc->timer, ns_to_ktime(clamp_t(u64, ns, RVTRACE_POLL_MIN_NS,
						      RVTRACE_POLL_MAX_NS)),
		      HRTIMER_MODE_REL_PINNED_HARD);
}

/* Decays by a quarter with each look, so that one idle period does not make the driver careless. */
static void rvtrace_rate_update(struct rvtrace_cpu *rc, size_t fill)
{
	u64 ns = max_t(u64, ktime_get_mono_fast_ns() - rc->poll_ns, 1);
	u64 bytes = fill > rc->poll_fill ? fill - rc->poll_fill : 0;

	rc->rate = max(rc->rate - rc->rate / 4, div64_u64(bytes << RVTRACE_RATE_SHIFT, ns));
}

/*
 * Opens a record and starts the hardware. Returns -ENOSPC when there is no AUX buffer or no room in
 * it; in the latter case perf has been told to disable the event until user space enables it again.
 */
static int rvtrace_session_start(struct rvtrace_cpu *rc, struct perf_event *event)
{
	int ret;

	if (!perf_aux_output_begin(&rc->handle, event))
		return -ENOSPC;
	rc->event = event;
	rc->written = 0;
	ret = rvtrace_path_start(rc, rvtrace_event_config(event));
	if (!ret) {
		rvtrace_timer_arm(rc, 0);
		return 0;
	}
	rc->event = NULL;
	if (perf_get_aux(&rc->handle))
		perf_aux_output_end(&rc->handle, rc->written);
	return ret;
}

/* Stops the hardware and closes the record. Returns false when the event must not go on. */
static bool rvtrace_session_stop(struct rvtrace_cpu *rc)
{
	bool room;

	rvtrace_path_stop(rc);
	rc->event = NULL;
	if (!perf_get_aux(&rc->handle))
		return false;
	room = !(rc->handle.aux_flags & PERF_AUX_FLAG_TRUNCATED);
	perf_aux_output_end(&rc->handle, rc->written);
	return room;
}

static void rvtrace_session_drain(struct rvtrace_cpu *rc)
{
	struct perf_event *event = rc->event;

	if (!rvtrace_session_stop(rc) || rvtrace_session_start(rc, event)) {
		hrtimer_try_to_cancel(&rc->timer);
		event->hw.state |= PERF_HES_STOPPED;
	}
}

static enum hrtimer_restart rvtrace_timer(struct hrtimer *timer)
{
	struct rvtrace_cpu *rc = container_of(timer, struct rvtrace_cpu, timer);
	struct rvtrace_ramsink *sink;
	unsigned long flags;
	size_t fill;

	local_irq_save(flags);
	/* The hart it was meant for has gone, and the event with it. */
	if (rc != this_cpu_ptr(&rvtrace_cpus) || !rc->event)
		goto out;
	sink = to_rvtrace_ramsink(rvtrace_path_sink(rc->path));
	fill = rvtrace_ramsink_fill(sink);
	rvtrace_rate_update(rc, fill);
	if (fill >= sink->size / 4 && !((struct rvtrace_aux *)perf_get_aux(&rc->handle))->overwrite)
		rvtrace_session_drain(rc);
	else
		rvtrace_timer_arm(rc, fill);
out:
	local_irq_restore(flags);
	return HRTIMER_NORESTART;
}

/* Hands over what the running event has recorded so far, so that an AUX record ends here */
void rvtrace_pmu_drain(void)
{
	struct rvtrace_cpu *rc;
	unsigned long flags;

	local_irq_save(flags);
	rc = this_cpu_ptr(&rvtrace_cpus);
	if (rc->event)
		rvtrace_session_drain(rc);
	local_irq_restore(flags);
}

/* The hart goes down: stops the running event. perf takes it off the hart later. */
void rvtrace_pmu_halt(void)
{
	struct rvtrace_cpu *rc;
	unsigned long flags;

	local_irq_save(flags);
	rc = this_cpu_ptr(&rvtrace_cpus);
	if (rc->event) {
		rc->event->hw.state |= PERF_HES_STOPPED;
		hrtimer_try_to_cancel(&rc->timer);
		rvtrace_session_stop(rc);
	}
	local_irq_restore(flags);
}

/* ------------------------------------------------------------------ perf's callbacks */

static void rvtrace_event_start(struct perf_event *event, int flags)
{
	struct rvtrace_cpu *rc = this_cpu_ptr(&rvtrace_cpus);
	const struct rvtrace_config *config = rvtrace_event_config(event);
	struct rvtrace_encoder *enc = READ_ONCE(rc->encoder);

	event->hw.state = PERF_HES_STOPPED;
	if (!enc || !READ_ONCE(enc->online) || rc->event)
		return;
	rc->path = rvtrace_encoder_path(enc, config->sink);
	if (!rc->path)
		return;
	if (config->control & RVTRACE_TE_CONTROL_CONTEXT)
		rvtrace_context_write();
	if (rvtrace_session_start(rc, event))
		return;
	event->hw.state = 0;
}

static void rvtrace_event_stop(struct perf_event *event, int flags)
{
	struct rvtrace_cpu *rc = this_cpu_ptr(&rvtrace_cpus);

	if (event->hw.state & PERF_HES_STOPPED)
		return;
	event->hw.state |= PERF_HES_STOPPED | PERF_HES_UPTODATE;
	if (rc->event != event)
		return;
	hrtimer_try_to_cancel(&rc->timer);
	rvtrace_session_stop(rc);
}

static int rvtrace_event_add(struct perf_event *event, int flags)
{
	event->hw.state = PERF_HES_STOPPED | PERF_HES_UPTODATE;
	if (!(flags & PERF_EF_START))
		return 0;
	rvtrace_event_start(event, PERF_EF_RELOAD);
	/*
	 * Without an AUX buffer, or with a full one, there is nothing to do now: perf tries again
	 * when it schedules the event the next time.
	 */
	return event->hw.state & PERF_HES_STOPPED ? -EINVAL : 0;
}

static void rvtrace_event_del(struct perf_event *event, int flags)
{
	rvtrace_event_stop(event, PERF_EF_UPDATE);
}

static void rvtrace_event_read(struct perf_event *event)
{
}

/* ------------------------------------------------------------------ opening and closing */

/* What no encoder could do, and what the caller may not ask for */
static int rvtrace_event_check(struct perf_event *event)
{
	const struct perf_event_attr *attr = &event->attr;

	if (attr->config & ~RVTRACE_CONFIG_ALL || attr->config1 ||
	    attr->config2 & ~RVTRACE_CONFIG2_SINK)
		return -EINVAL;
	if (attr->exclude_user && attr->exclude_kernel)
		return -EINVAL;
	if (has_branch_stack(event) || attr->exclude_idle || attr->exclude_host)
		return -EOPNOTSUPP;
	if (attr->config & RVTRACE_CONFIG_MACHINE && !perfmon_capable())
		return -EACCES;
	if (attr->config & RVTRACE_CONFIG_CONTEXT) {
		/* Thread ids in the trace are those of the initial namespace. */
		if (task_active_pid_ns(current) != &init_pid_ns)
			return -EACCES;
		if (!rvtrace_context_usable())
			return -EOPNOTSUPP;
	}
	return 0;
}

/* Every encoder that the event may come to must take its options, and all in the same way. */
static int rvtrace_event_configure(struct perf_event *event, struct rvtrace_config *config)
{
	struct rvtrace_encoder *enc;
	bool found = false;
	int cpu, ret;

	for_each_possible_cpu(cpu) {
		if (event->cpu >= 0 && event->cpu != cpu)
			continue;
		enc = READ_ONCE(per_cpu(rvtrace_cpus, cpu).encoder);
		if (!enc)
			continue;
		ret = rvtrace_encoder_configure(enc, &event->attr, config);
		if (ret)
			return ret;
		found = true;
	}
	return found ? 0 : -ENODEV;
}

static void rvtrace_event_destroy(struct perf_event *event)
{
	rvtrace_context_put(event->attr.config & RVTRACE_CONFIG_CONTEXT);
	rvtrace_put();
	kfree(event->pmu_private);
	event->pmu_private = NULL;
}

static int rvtrace_event_init(struct perf_event *event)
{
	struct rvtrace_config *config;
	int ret;

	if (event->attr.type != event->pmu->type)
		return -ENOENT;
	/* A child has what its parent was granted, whoever forks. */
	if (!event->parent) {
		ret = rvtrace_event_check(event);
		if (ret)
			return ret;
	}
	config = kzalloc(sizeof(*config), GFP_KERNEL);
	if (!config)
		return -ENOMEM;
	/* Threads of one program take turns: what they share need not be programmed anew. */
	config->serial = event->parent ? rvtrace_event_config(event->parent)->serial :
					 atomic64_inc_return(&rvtrace_serial);
	rvtrace_get();
	ret = rvtrace_event_configure(event, config);
	if (ret)
		goto err_put;
	ret = rvtrace_context_get(event->attr.config & RVTRACE_CONFIG_CONTEXT);
	if (ret)
		goto err_put;
	event->pmu_private = config;
	event->destroy = rvtrace_event_destroy;
	return 0;

err_put:
	rvtrace_put();
	kfree(config);
	return ret;
}

/* ------------------------------------------------------------------ the AUX buffer */

static void rvtrace_free_aux(void *data)
{
	struct rvtrace_aux *aux = data;
	unsigned int i;

	for (i = 0; i < aux->nr_sinks; i++)
		rvtrace_ramsink_put_buffer(aux->sinks[i]);
	vunmap(aux->base);
	kfree(aux);
}

static int rvtrace_aux_add_sink(struct rvtrace_aux *aux, struct rvtrace_encoder *enc, u32 number)
{
	struct rvtrace_path *path = rvtrace_encoder_path(enc, number);
	struct rvtrace_ramsink *sink = to_rvtrace_ramsink(rvtrace_path_sink(path));
	unsigned int i;
	int ret;

	for (i = 0; i < aux->nr_sinks; i++)
		if (aux->sinks[i] == sink)
			return 0;
	ret = rvtrace_ramsink_get_buffer(sink, aux->size);
	if (ret)
		return ret;
	aux->nr_sinks++;
	aux->sinks[aux->nr_sinks - 1] = sink;
	return 0;
}

static void *rvtrace_map_pages(void **pages, int nr_pages)
{
	struct page **list;
	void *base;
	int i;

	list = kvmalloc_array(nr_pages, sizeof(*list), GFP_KERNEL);
	if (!list)
		return NULL;
	for (i = 0; i < nr_pages; i++)
		list[i] = virt_to_page(pages[i]);
	base = vmap(list, nr_pages, VM_MAP, PAGE_KERNEL);
	kvfree(list);
	return base;
}

static void *rvtrace_setup_aux(struct perf_event *event, void **pages, int nr_pages, bool overwrite)
{
	const struct rvtrace_config *config = rvtrace_event_config(event);
	struct rvtrace_encoder *enc;
	struct rvtrace_aux *aux;
	int cpu;

	aux = kzalloc(struct_size(aux, sinks, nr_cpu_ids), GFP_KERNEL);
	if (!aux)
		return NULL;
	aux->size = (size_t)nr_pages << PAGE_SHIFT;
	aux->overwrite = overwrite;
	aux->base = rvtrace_map_pages(pages, nr_pages);
	if (!aux->base) {
		kfree(aux);
		return NULL;
	}
	for_each_possible_cpu(cpu) {
		enc = READ_ONCE(per_cpu(rvtrace_cpus, cpu).encoder);
		if (!enc || (event->cpu >= 0 && event->cpu != cpu))
			continue;
		if (rvtrace_aux_add_sink(aux, enc, config->sink)) {
			rvtrace_free_aux(aux);
			return NULL;
		}
	}
	return aux;
}

static struct pmu rvtrace_pmu = {
	.module		= THIS_MODULE,
	.capabilities	= PERF_PMU_CAP_EXCLUSIVE | PERF_PMU_CAP_ITRACE,
	/* Software events are scheduled with their task and never fail for want of a counter. */
	.task_ctx_nr	= perf_sw_context,
	.attr_groups	= rvtrace_pmu_groups,
	.event_init	= rvtrace_event_init,
	.add		= rvtrace_event_add,
	.del		= rvtrace_event_del,
	.start		= rvtrace_event_start,
	.stop		= rvtrace_event_stop,
	.read		= rvtrace_event_read,
	.setup_aux	= rvtrace_setup_aux,
	.free_aux	= rvtrace_free_aux,
};

/* The first encoder makes the PMU appear: without any there is nothing to open. */
int rvtrace_pmu_add_encoder(struct rvtrace_encoder *enc)
{
	int ret = 0;

	WRITE_ONCE(per_cpu(rvtrace_cpus, enc->cpu).encoder, enc);
	mutex_lock(&rvtrace_pmu_mutex);
	if (!rvtrace_pmu_registered) {
		ret = perf_pmu_register(&rvtrace_pmu, "rvtrace", -1);
		rvtrace_pmu_registered = !ret;
	}
	mutex_unlock(&rvtrace_pmu_mutex);
	return ret;
}

/* Drivers are unbound at module exit only: the PMU is gone, and nothing runs. */
void rvtrace_pmu_remove_encoder(struct rvtrace_encoder *enc)
{
	struct rvtrace_cpu *rc = &per_cpu(rvtrace_cpus, enc->cpu);

	if (rc->encoder == enc)
		WRITE_ONCE(rc->encoder, NULL);
}

void rvtrace_pmu_unregister(void)
{
	mutex_lock(&rvtrace_pmu_mutex);
	if (rvtrace_pmu_registered)
		perf_pmu_unregister(&rvtrace_pmu);
	rvtrace_pmu_registered = false;
	mutex_unlock(&rvtrace_pmu_mutex);
}

void rvtrace_pmu_init(void)
{
	int cpu;

	for_each_possible_cpu(cpu)
		hrtimer_setup(&per_cpu(rvtrace_cpus, cpu).timer, rvtrace_timer, CLOCK_MONOTONIC,
			      HRTIMER_MODE_REL_PINNED_HARD);
}
