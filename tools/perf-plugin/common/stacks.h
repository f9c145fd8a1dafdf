/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * For views of calls: decodes a part of a recording whose index has stations (session/stations.h),
 * as --time says, or for the calls of one function.
 */
#ifndef PERF_RVTRACE_STACKS_H
#define PERF_RVTRACE_STACKS_H

#include "common/calls.h"

struct stacks;

struct stacks_ops {
	void *ctx;
	/* The calls of these transfers; NULL: the view keeps none. */
	struct calls *calls;
	/*
	 * Without filters: the functions whose calls the view is about; NULL: all. @granule as in
	 * view_use_index().
	 */
	bool (*wants)(void *ctx, const struct call_function *function);
	bool (*wants_granule)(void *ctx, const struct rvt_index_granule *granule, uint64_t size);
	/*
	 * Returns whether the view needs the part that comes next, whatever is in it. May be NULL.
	 */
	bool (*is_busy)(void *ctx);
};

/*
 * stacks_open - returns NULL if view_run() must decode all. Else stacks_run() decodes a part; the
 * view knows what was lost in all of the recording, and *@lost is the number of these LOST events.
 */
struct stacks *stacks_open(struct view *view, const struct stacks_ops *ops, uint64_t *lost);
/*
 * stacks_run - like view_run(), for the sink of @transfers, which is new. Returns -EAGAIN if the
 * recording is not what the index says: what was told is void, and the view has forgotten its
 * losses.
 */
int stacks_run(struct stacks *stacks, struct transfers *transfers,
	       const struct rvt_session_sink *sink);
/* @stacks may be NULL. */
void stacks_close(struct stacks *stacks);

#endif
