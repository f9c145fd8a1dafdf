/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Between calls.c and calls-saved.c: what a struct calls is. */
#ifndef PERF_RVTRACE_CALLS_STATE_H
#define PERF_RVTRACE_CALLS_STATE_H

#include "common/calls.h"

#define CALLS_SLOTS 4096	/* power of two */

/* Names have one address for each text, mostly: most functions are found by it. */
struct function_slot {
	const char *name, *dso;
	struct call_function *function;
};

struct calls {
	struct calls_ops ops;
	struct places *places;
	void *threads;		/* tsearch tree of struct call_thread */
	void *functions;	/* tsearch tree of struct call_function */
	struct call_thread *last;	/* the last one that was looked for */
	uint32_t n_functions;
	struct function_slot slots[CALLS_SLOTS];
	bool *lost;		/* by cpu + 1: flow was, and has not gone on since */
	bool *ever_lost;	/* the same: it was at any time */
	size_t n_lost;
	bool timed;
	int err;		/* of calls_finish() */
};

/* NULL: out of memory. */
struct call_thread *calls_thread(struct calls *calls, const struct call_thread *key);
struct call_function *calls_function(struct calls *calls, const char *name, const char *linkage,
				     const char *dso, bool kernel);
/* Room for @n entries of .lost. 0 or -ENOMEM. */
int calls_lost_room(struct calls *calls, size_t n);

#endif
