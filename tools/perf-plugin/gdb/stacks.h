/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The call stack of a thread at any of its instructions. It is built once, from the thread's
 * beginning on; copies at some positions make other positions cheap. Their number does not grow
 * with the recording.
 */
#ifndef PERF_RVTRACE_GDB_STACKS_H
#define PERF_RVTRACE_GDB_STACKS_H

#include <rvtrace/callstack.h>
#include "gdb/timeline.h"

struct stacks;

/* Returns NULL if memory is out. @timeline and @symbols must outlive the result. */
struct stacks *stacks_create(struct timeline *timeline, struct rvt_symbols *symbols);
/* @stacks may be NULL. */
void stacks_destroy(struct stacks *stacks);
/*
 * stacks_at - finds the stack before instruction @number of @thread; valid until the next call.
 * Returns what timeline_insn() does.
 */
int stacks_at(struct stacks *stacks, size_t thread, uint64_t number, struct rvt_callstack **stack);

#endif
