/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Views of calls decode a part of a recording whose index has stations (session/stations.h): what
 * --time says, or what matters to the calls of one function.
 */
#ifndef PERF_RVTRACE_STACKS_H
#define PERF_RVTRACE_STACKS_H

#include "common/calls.h"

struct stacks;

struct stacks_ops {
	void *ctx;
	/* The calls that go with the transfers; NULL: the view keeps none. */
	struct calls *calls;
	/*
	 * Without filters: calls of which functions the view is about. NULL: of all. @granule as in
	 * view_use_index().
	 */
	bool (*wants)(void *ctx, const struct call_function *function);
	bool (*wants_granule)(void *ctx, const struct rvt_index_granule *granule, uint64_t size);
	/* The view needs what comes, whatever it is. May be NULL. */
	bool (*is_busy)(void *ctx);
};

/*
 * stacks_open - NULL: all is decoded, by view_run(). Else by stacks_run(), and what was lost in
 * all of the recording is known to the view; *@lost is how many LOST events that were.
 */
struct stacks *stacks_open(struct view *view, const struct stacks_ops *ops, uint64_t *lost);
/*
 * stacks_run - as view_run() for the sink of @transfers, which has seen nothing. -EAGAIN: what was
 * told is void, and so is what the view knows of losses: the recording is not what the index says.
 */
int stacks_run(struct stacks *stacks, struct transfers *transfers,
	       const struct rvt_session_sink *sink);
/* @stacks may be NULL. */
void stacks_close(struct stacks *stacks);

#endif
