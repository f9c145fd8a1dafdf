/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* `perf rvtrace latency`: how long calls took. */
#ifndef PERF_RVTRACE_LATENCY_H
#define PERF_RVTRACE_LATENCY_H

#include "common/calls.h"
#include "common/contexts.h"
#include "common/histogram.h"
#include "common/view.h"

#define LATENCY_MAX_SLOWEST 100

/* What of a call is measured. */
enum latency_measure { LATENCY_TIME, LATENCY_OWN, LATENCY_AWAY, LATENCY_INSNS, LATENCY_OWN_INSNS,
		       LATENCY_MEASURES };

struct latency_function {
	const char *name, *linkage, *dso;
	bool kernel;
	uint64_t partial;	/* calls that are not whole, and counted nowhere else */
	struct histogram calls[LATENCY_MEASURES];	/* examples: numbers of calls */
};

/* A call that is looked at more closely. */
struct latency_call {
	uint64_t number;	/* among the calls of the function, as they begin, from 1 on */
	uint64_t value;		/* in what calls are ranked by */
	struct call call;
	const char *comm;
	int32_t pid, tid;
};

struct latency_slowest {
	struct latency_call calls[LATENCY_MAX_SLOWEST];
	size_t n;
};

/* A call with all that it called: a tree whose root is the function. */
struct latency_tree {
	struct latency_call call;
	struct context root;	/* its only child is the function */
	/* while it is recorded */
	struct call_thread *thread;
	struct context *at;
	unsigned int deeper;	/* calls that have no context of their own */
};

struct latency_options {
	const char *symbol;	/* NULL: all functions */
	const char *dsos;
	uint64_t slowest;
	uint64_t over;		/* ns; 0: not wanted */
	uint64_t max_lines;	/* 0: all */
	bool own;		/* of all functions: without what they called */
	bool json, no_pager;
};

struct latency {
	const struct latency_options *options;
	struct view *view;
	struct places *places;
	struct latency_function **list;
	size_t n;
	uint64_t number;	/* of the last call of the function that began */
	struct latency_slowest by[2];	/* by time and by instructions, the slowest first */
	bool timed;
	uint64_t errors;
	/* the second time: the slowest and, last, the median one */
	struct latency_tree *trees;
	size_t n_trees;
};

/*
 * gather.c: measures all calls; the functions that are wanted are in .list then, the one with the
 * longest tail first (latency_tail()). 0 or -errno.
 */
int latency_gather(struct latency *latency);
/* The parts of that, for who decodes himself: measures @call, which has ended; sorts .list. */
int latency_take(struct latency *latency, const struct call_thread *thread,
		 const struct call *call);
void latency_sort(struct latency *latency);
void latency_free(struct latency *latency);
/* What calls are ranked by: time, or instructions in a trace without time stamps. */
enum latency_measure latency_rank(const struct latency *latency);
/* The sum of what calls took beyond their median. */
uint64_t latency_tail(const struct latency *latency, const struct latency_function *function);
/* Whether @function is what the options ask for. */
bool latency_wants(const struct latency_options *options, const struct call_function *function);
/*
 * Whether options.symbol is a function that code has, and all that is no call of it may be left out
 * (struct calls_ops); and whether something in a granule is of that function.
 */
bool latency_can_leave_out(const struct latency *latency);
bool latency_wants_granule(struct latency *latency, const struct rvt_index_granule *granule,
			   uint64_t size);
/* What @call took. */
uint64_t latency_value(const struct call *call, enum latency_measure measure);

/*
 * trees.c: decodes again, for the call trees of the slowest and of a median call, into .trees;
 * calls @over, unless it is NULL, for each call that took longer than the options say. 0 or -errno.
 */
int latency_trees(struct latency *latency,
		  void (*over)(struct latency *latency, const struct latency_call *call,
			       const struct call_function *caller));

/* print.c, json.c: everything but what is told with the second time; a call; trees. */
void latency_print(struct latency *latency);
void latency_print_calls_head(struct latency *latency);
void latency_print_call(struct latency *latency, const struct latency_call *call,
			const struct call_function *caller);
void latency_print_trees(struct latency *latency);
void latency_json(struct latency *latency);
void latency_json_call(struct latency *latency, const struct latency_call *call,
		       const struct call_function *caller);
void latency_json_trees(struct latency *latency);

/*
 * Both are shown in the same order: @show for each function of either tree with its parts of them,
 * NULL where it is missing; parents come before their children, which @show returning false leaves
 * out.
 */
struct latency_pair {
	const struct context *slow, *median;
};

void latency_walk(const struct latency_tree *slow, const struct latency_tree *median,
		  bool (*show)(void *ctx, const struct latency_pair *pair, unsigned int depth),
		  void *ctx);

#endif
