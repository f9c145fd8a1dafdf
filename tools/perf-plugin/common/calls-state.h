/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* The state of a struct calls, which calls.c and calls-saved.c share. */
#ifndef PERF_RVTRACE_CALLS_STATE_H
#define PERF_RVTRACE_CALLS_STATE_H

#include "common/calls.h"

#define CALLS_SLOTS 4096	/* power of two */

/*
 * A slot of a cache of functions by the addresses of their names: equal names mostly have one
 * address.
 */
struct function_slot {
	const char *name, *dso;
	struct call_function *function;
};

struct calls {
	struct calls_ops ops;
	struct places *places;
	void *threads;		/* tsearch tree of struct call_thread */
	void *functions;	/* tsearch tree of struct call_function */
	struct call_thread *last;	/* the last one looked for */
	uint32_t n_functions;
	struct function_slot slots[CALLS_SLOTS];
	bool *lost;		/* by cpu + 1: flow was lost, and has not resumed since */
	bool *ever_lost;	/* by cpu + 1: flow was ever lost */
	size_t n_lost;
	bool timed;
	int err;		/* of calls_finish() */
};

/* Find or make a thread or a function. NULL: out of memory. */
struct call_thread *calls_thread(struct calls *calls, const struct call_thread *key);
struct call_function *calls_function(struct calls *calls, const char *name, const char *linkage,
				     const char *dso, bool kernel);
/* Makes room for @n entries of .lost. Returns 0 or -ENOMEM. */
int calls_lost_room(struct calls *calls, size_t n);

#endif
