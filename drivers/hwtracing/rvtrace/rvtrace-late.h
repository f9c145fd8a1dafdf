/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * RISC-V trace: late records (rvtrace-late.c). Unless it says otherwise, a function is called on
 * the hart that @rc belongs to, with interrupts off.
 */
#ifndef _RVTRACE_LATE_H
#define _RVTRACE_LATE_H

#include "rvtrace-cpu.h"

#if IS_ENABLED(CONFIG_RVTRACE_LATE_RECORDS)
struct rvtrace_aux *rvtrace_late_begin(struct rvtrace_cpu *rc);
bool rvtrace_late_defer(struct rvtrace_cpu *rc);
void rvtrace_late_flush(struct rvtrace_cpu *rc);
void rvtrace_late_flush_from(struct rvtrace_cpu *rc, const struct perf_event *event, int cpu);
/* On any hart */
void rvtrace_late_flush_all(void);
void rvtrace_late_init(struct rvtrace_cpu *rc);
/* On any hart, with interrupts on */
void rvtrace_late_flush_task(const struct task_struct *task);
void rvtrace_late_flush_event(const struct perf_event *event);
#else
static inline struct rvtrace_aux *rvtrace_late_begin(struct rvtrace_cpu *rc)
{
	rc->written = 0;
	rc->mixed = false;
	return perf_aux_output_begin(&rc->handle, rc->event);
}

static inline bool rvtrace_late_defer(struct rvtrace_cpu *rc)
{
	return false;
}

static inline void rvtrace_late_flush(struct rvtrace_cpu *rc)
{
}

static inline void rvtrace_late_flush_from(struct rvtrace_cpu *rc, const struct perf_event *event,
					   int cpu)
{
}

static inline void rvtrace_late_flush_all(void)
{
}

static inline void rvtrace_late_init(struct rvtrace_cpu *rc)
{
}

static inline void rvtrace_late_flush_task(const struct task_struct *task)
{
}

static inline void rvtrace_late_flush_event(const struct perf_event *event)
{
}

#endif

#endif
