/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Calling contexts of what runs in a slice of a trace (session/slices.h). The stack at its
 * beginning is not known there; but calls that return in it leave the stack as it was. What ran in
 * them is counted in a tree, which begins where that stack ends. Who has the stack
 * (common/tape.h) adds the tree to what is below it.
 */
#ifndef PERF_RVTRACE_CONTEXTS_SLICE_H
#define PERF_RVTRACE_CONTEXTS_SLICE_H

#include "common/places.h"
#include "common/tape.h"
#include "sideband/threads.h"

struct contexts_slice;

/*
 * @places and @threaded, whose threads share call stacks, must outlive it. @count_calls: as in
 * struct contexts. NULL: out of memory.
 */
struct contexts_slice *contexts_slice_create(struct view *view, struct places *places,
					     const struct rvt_threaded *threaded, struct tape *tape,
					     bool count_calls);
/* @slice may be NULL. */
void contexts_slice_destroy(struct contexts_slice *slice);

/*
 * What slices tell, for call-backs with the slice as .ctx: lines, steps (transfers/steps.h), and
 * with count_calls all jumps (.after). Each returns 0 or -EIO.
 */
int contexts_slice_line(void *ctx, struct rvt_hart_flow *hart,
			const struct rvt_straight_line *line, struct rvt_callstack *stack);
int contexts_slice_step(void *ctx, struct rvt_hart_flow *hart, const struct rvt_step *step);
int contexts_slice_jump(void *ctx, struct rvt_hart_flow *hart,
			const struct rvt_transfer *transfer, struct rvt_callstack *stack,
			size_t ended);

/* Writes to the tape what was counted, and the calls that have not returned. 0 or -EIO. */
int contexts_slice_write(struct contexts_slice *slice);
/*
 * What other buffers have may come here. The reader's stack is then what the thread's is. The tree
 * may come later; but where threads share stacks, as Go's do, other threads may have changed this
 * one, and it is written. 0 or -EIO.
 */
int contexts_slice_moment(struct contexts_slice *slice);
/* Forgets what was not written. */
void contexts_slice_clear(struct contexts_slice *slice);

#endif
