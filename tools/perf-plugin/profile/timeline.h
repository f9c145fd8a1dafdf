/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * profile/timeline.c: calls as slices of time, thread by thread. For each thread, times rise from
 * event to event: slices nest, and none is empty. Of several events in the same nanosecond, each is
 * one later than the one before.
 */
#ifndef PERF_RVTRACE_PROFILE_TIMELINE_H
#define PERF_RVTRACE_PROFILE_TIMELINE_H

#include "common/places.h"
#include "common/transfers.h"

/* A function, or a handler, that runs. Names live as long as the places. */
struct timeline_slice {
	uint64_t addr;		/* where it began */
	const char *name, *dso;
	uint64_t begin;		/* ns */
};

struct timeline_thread {
	int32_t pid, tid;	/* first: key of the tree */
	char comm[96];
	uint64_t last;		/* time of its last event */
	struct timeline_slice *slices;	/* open ones, the outermost first */
	size_t n, room;
};

/* Each returns 0, or -errno to stop; members may be NULL. */
struct timeline_ops {
	void *ctx;
	/* The thread is new, or has another name now. */
	int (*thread)(void *ctx, const struct timeline_thread *thread);
	int (*begin)(void *ctx, const struct timeline_thread *thread,
		     const struct timeline_slice *slice);
	int (*end)(void *ctx, const struct timeline_thread *thread,
		   const struct timeline_slice *slice, uint64_t time);
};

struct timeline {
	struct timeline_ops ops;
	struct places *places;
	void *threads;		/* tsearch tree of struct timeline_thread */
	int err;
};

/* For struct rvt_transfers_ops.after. */
int timeline_after(struct timeline *timeline, struct rvt_hart_flow *hart,
		   struct rvt_callstack *stack, size_t ended);
/*
 * Ends all slices that are open, each at the last event of its thread, and frees the threads.
 * Returns 0, or what a call-back returned.
 */
int timeline_end(struct timeline *timeline);

#endif
