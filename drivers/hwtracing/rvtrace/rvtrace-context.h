/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * RISC-V trace: hooks into the scheduler, and the context CSRs (rvtrace-context.c).
 */
#ifndef _RVTRACE_CONTEXT_H
#define _RVTRACE_CONTEXT_H

#include "rvtrace-cpu.h"

void rvtrace_context_init(void);
void rvtrace_context_exit(void);
int rvtrace_context_get(enum rvtrace_context context);
void rvtrace_context_put(enum rvtrace_context context);
unsigned int rvtrace_context_bits(enum rvtrace_context context);
int rvtrace_context_of(const struct perf_event_attr *attr);
void rvtrace_context_write(struct rvtrace_cpu *rc, enum rvtrace_context context);

#endif
