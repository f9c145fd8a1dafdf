// SPDX-License-Identifier: GPL-2.0-only
/*
 * RISC-V trace: AUX samples. Samples of other events in the group carry the last trace before them
 * (perf_event_attr.aux_sample_size).
 */
#define pr_fmt(fmt) "rvtrace: " fmt

#include <linux/kprobes.h>

#include "rvtrace-aux.h"
#include "rvtrace-output.h"
#include "rvtrace-pmu.h"
#include "rvtrace-session.h"

static long (*rvtrace_copy_aux)(struct perf_output_handle *from_handle,
				struct perf_output_handle *to_handle,
				unsigned long from, unsigned long to);

/*
 * perf_output_copy_aux() is not exported to modules, and what it does cannot be done without the
 * inside of a ring buffer. kprobes know where it is. Returns whether samples can be taken.
 */
bool rvtrace_sample_init(void)
{
#ifdef MODULE
#ifdef CONFIG_KPROBES
	struct kprobe probe = { .symbol_name = "perf_output_copy_aux" };

	if (!register_kprobe(&probe)) {
		rvtrace_copy_aux = (void *)probe.addr;
		unregister_kprobe(&probe);
	}
#endif
#else
	rvtrace_copy_aux = perf_output_copy_aux;
#endif
	if (!rvtrace_copy_aux)
		pr_info("no AUX samples: this kernel has no kprobes to find perf_output_copy_aux with\n");
	return rvtrace_copy_aux;
}

/*
 * perf's snapshot_aux: puts the last @size bytes of trace into a sample
 *
 * The AUX buffer is in overwrite mode and holds what was traced; before there was so much, zeros.
 */
long rvtrace_event_snapshot_aux(struct perf_event *event, struct perf_output_handle *handle,
				unsigned long size)
{
	struct rvtrace_cpu *rc = this_cpu_ptr(&rvtrace_cpus);
	const struct rvtrace_aux *aux = rc->aux;
	unsigned long end;

	/* The sample may be one of what is done in the midst of starting or stopping. */
	if (!rc->running || rc->event != event)
		return 0;
	if (!aux || !aux->overwrite || size > aux->size)
		return 0;
	rc->running = false;
	rvtrace_path_collect(rc);
	rc->running = true;
	end = rvtrace_output_head(rc);
	return rvtrace_copy_aux(&rc->handle, handle, end + aux->size - size, end);
}
