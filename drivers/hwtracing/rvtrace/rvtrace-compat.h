/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * RISC-V trace: what the kernel does not export to modules, under the names that it has in the
 * kernel (rvtrace-compat.c). A driver in the kernel's tree is without it.
 */
#ifndef _RVTRACE_COMPAT_H
#define _RVTRACE_COMPAT_H

#include <linux/perf_event.h>
#include <trace/events/sched.h>

#define perf_event_itrace_started	rvtrace_compat_itrace_started
#define perf_output_copy_aux		rvtrace_compat_copy_aux

#define register_trace_sched_switch(probe, data)	\
	rvtrace_compat_register("sched_switch", probe, data)
#define unregister_trace_sched_switch(probe, data)	\
	rvtrace_compat_unregister("sched_switch", probe, data)
#define register_trace_sched_process_exec(probe, data)	\
	rvtrace_compat_register("sched_process_exec", probe, data)
#define unregister_trace_sched_process_exec(probe, data) \
	rvtrace_compat_unregister("sched_process_exec", probe, data)
#define register_trace_sched_process_exit(probe, data)	\
	rvtrace_compat_register("sched_process_exit", probe, data)
#define unregister_trace_sched_process_exit(probe, data) \
	rvtrace_compat_unregister("sched_process_exit", probe, data)

static inline void rvtrace_compat_itrace_started(struct perf_event *event)
{
	WRITE_ONCE(event->attach_state, event->attach_state | PERF_ATTACH_ITRACE);
}

int rvtrace_compat_before_kexec(void (*fn)(void));
int rvtrace_compat_init(struct pmu *pmu);
int rvtrace_compat_register(const char *name, void *probe, void *data);
int rvtrace_compat_unregister(const char *name, void *probe, void *data);
long rvtrace_compat_copy_aux(struct perf_output_handle *aux_handle,
			     struct perf_output_handle *handle, unsigned long from,
			     unsigned long to);

#endif
