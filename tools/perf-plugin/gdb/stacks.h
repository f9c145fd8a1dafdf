/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The call stack of a thread at any of its instructions. It is built from the thread's beginning
 * on, once; copies of it at some places in between make other places cheap. How many there are does
 * not grow with the recording.
 */
#ifndef PERF_RVTRACE_GDB_STACKS_H
#define PERF_RVTRACE_GDB_STACKS_H

#include <rvtrace/callstack.h>
#include "gdb/timeline.h"

struct stacks;

/* NULL: out of memory. @timeline and @symbols must outlive it. */
struct stacks *stacks_create(struct timeline *timeline, struct rvt_symbols *symbols);
/* @stacks may be NULL. */
void stacks_destroy(struct stacks *stacks);
/*
 * stacks_at - the stack when instruction @number of @thread is to be executed; valid until the next
 * call. 0 or as timeline_insn().
 */
int stacks_at(struct stacks *stacks, size_t thread, uint64_t number, struct rvt_callstack **stack);

#endif
