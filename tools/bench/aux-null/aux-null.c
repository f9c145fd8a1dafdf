// SPDX-License-Identifier: GPL-2.0-only
/*
 * A PMU that traces nothing: it opens and closes an AUX record at each context switch, as each PMU
 * with an AUX buffer must. What that costs is perf's share of what tracing costs.
 */
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/perf_event.h>
#include <linux/slab.h>

/* A record without any bytes would not be written. */
#define AUX_NULL_BYTES	64

static struct pmu aux_null_pmu;
static DEFINE_PER_CPU(struct perf_output_handle, aux_null_handle);

static int aux_null_event_init(struct perf_event *event)
{
	return event->attr.type == event->pmu->type ? 0 : -ENOENT;
}

static void aux_null_start(struct perf_event *event, int flags)
{
	event->hw.state = perf_aux_output_begin(this_cpu_ptr(&aux_null_handle), event) ?
			  0 : PERF_HES_STOPPED;
}

static void aux_null_stop(struct perf_event *event, int flags)
{
	if (!event->hw.state)
		perf_aux_output_end(this_cpu_ptr(&aux_null_handle), AUX_NULL_BYTES);
	event->hw.state = PERF_HES_STOPPED;
}

static int aux_null_add(struct perf_event *event, int flags)
{
	event->hw.state = PERF_HES_STOPPED;
	if (flags & PERF_EF_START)
		aux_null_start(event, flags);
	return event->hw.state ? -EINVAL : 0;
}

static void aux_null_del(struct perf_event *event, int flags)
{
	aux_null_stop(event, flags);
}

static void aux_null_read(struct perf_event *event)
{
}

static void *aux_null_setup(struct perf_event *event, void **pages, int nr_pages, bool overwrite)
{
	return kzalloc(1, GFP_KERNEL);
}

static struct pmu aux_null_pmu = {
	.module		= THIS_MODULE,
	.capabilities	= PERF_PMU_CAP_EXCLUSIVE,
	.task_ctx_nr	= perf_sw_context,
	.event_init	= aux_null_event_init,
	.add		= aux_null_add,
	.del		= aux_null_del,
	.start		= aux_null_start,
	.stop		= aux_null_stop,
	.read		= aux_null_read,
	.setup_aux	= aux_null_setup,
	.free_aux	= (void (*)(void *))kfree,
};

static int __init aux_null_init(void)
{
	return perf_pmu_register(&aux_null_pmu, "aux_null", -1);
}
module_init(aux_null_init);

static void __exit aux_null_exit(void)
{
	perf_pmu_unregister(&aux_null_pmu);
}
module_exit(aux_null_exit);

MODULE_DESCRIPTION("A PMU with an AUX buffer that traces nothing, to measure perf's share");
MODULE_LICENSE("GPL");
