// SPDX-License-Identifier: GPL-2.0-only
/*
 * RISC-V trace: AUX samples. Samples of other events in the group carry the last trace before them
 * (perf_event_attr.aux_sample_size).
 */
#define pr_fmt(fmt) "rvtrace: " fmt

#include "rvtrace-aux.h"
#ifdef RVTRACE_COMPAT
#include "rvtrace-compat.h"
#endif
#include "rvtrace-output.h"
#include "rvtrace-pmu.h"
#include "rvtrace-session.h"

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
	return perf_output_copy_aux(&rc->handle, handle, end + aux->size - size, end);
}
