/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* `perf rvtrace latency`: measures how long calls took. */
#ifndef PERF_RVTRACE_LATENCY_H
#define PERF_RVTRACE_LATENCY_H

#include "common/calls.h"
#include "common/contexts.h"
#include "common/histogram.h"
#include "common/view.h"

#define LATENCY_MAX_SLOWEST 100

/* What is measured of a call. */
enum latency_measure { LATENCY_TIME, LATENCY_OWN, LATENCY_AWAY, LATENCY_INSNS, LATENCY_OWN_INSNS,
		       LATENCY_MEASURES };

struct latency_function {
	const char *name, *linkage, *dso;
	bool kernel;
	uint64_t partial;	/* calls that are not whole; only counted here */
	struct histogram calls[LATENCY_MEASURES];	/* with numbers of calls as examples */
};

/* A call that is shown in detail. */
struct latency_call {
	uint64_t number;	/* among the function's calls, as they begin, from 1 on */
	uint64_t value;		/* the measure that calls are ranked by */
	struct call call;
	const char *comm;
	int32_t pid, tid;
};

struct latency_slowest {
	struct latency_call calls[LATENCY_MAX_SLOWEST];
	size_t n;
};

/* A call with all that it called, as a tree whose root is the function. */
struct latency_tree {
	struct latency_call call;
	struct context root;	/* its only child is the function */
	/* while recording */
	struct call_thread *thread;
	struct context *at;
	unsigned int deeper;	/* calls at .at beyond the depth of contexts */
};

struct latency_options {
	const char *symbol;	/* NULL: all functions */
	const char *dsos;
	uint64_t slowest;
	uint64_t over;		/* ns; 0: not given */
	uint64_t max_lines;	/* 0: all */
	bool own;		/* for all functions: own costs, without callees */
	bool json, no_pager;
};

struct latency {
	const struct latency_options *options;
	struct view *view;
	struct places *places;
	struct latency_function **list;
	size_t n;
	uint64_t number;	/* the last one of the function that began */
	struct latency_slowest by[2];	/* by time and by instructions, slowest first */
	bool timed;
	uint64_t errors;
	/* second pass: the slowest calls, and last the median one */
	struct latency_tree *trees;
	size_t n_trees;
};

/*
 * latency/gather.c: measures all calls. .list has the wanted functions then, the one with the
 * longest tail first (latency_tail()). Returns 0 or -errno.
 */
int latency_gather(struct latency *latency);
/*
 * For callers that decode by themselves: latency_take() measures @call, which has ended;
 * latency_sort() sorts .list.
 */
int latency_take(struct latency *latency, const struct call_thread *thread,
		 const struct call *call);
void latency_sort(struct latency *latency);
void latency_free(struct latency *latency);
/*
 * Returns the measure that calls are ranked by: time, or instructions in a trace without time
 * stamps.
 */
enum latency_measure latency_rank(const struct latency *latency);
/* Returns the sum of what calls took beyond their median. */
uint64_t latency_tail(const struct latency *latency, const struct latency_function *function);
/* Returns whether the options ask for @function. */
bool latency_wants(const struct latency_options *options, const struct call_function *function);
/*
 * latency_can_leave_out() returns whether options.symbol is a function in code, so that all but its
 * calls may be left out (struct calls_ops). latency_wants_granule() returns whether a granule has
 * something of that function.
 */
bool latency_can_leave_out(const struct latency *latency);
bool latency_wants_granule(struct latency *latency, const struct rvt_index_granule *granule,
			   uint64_t size);
/* Returns the measure of @call. */
uint64_t latency_value(const struct call *call, enum latency_measure measure);

/*
 * latency/trees.c: decodes again, for the call trees of the slowest and of a median call, into
 * .trees. Calls @over, unless it is NULL, for each call that took longer than the options say.
 * Returns 0 or -errno.
 */
int latency_trees(struct latency *latency,
		  void (*over)(struct latency *latency, const struct latency_call *call,
			       const struct call_function *caller));

/* latency/print.c, latency/json.c: print all of the first pass; a call; and the trees. */
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
 * Walks both trees in the same order. Calls @show for each function of either tree, with its nodes
 * in both, NULL if one has none. Parents come before their children; if @show returns false, the
 * children are skipped.
 */
struct latency_pair {
	const struct context *slow, *median;
};

void latency_walk(const struct latency_tree *slow, const struct latency_tree *median,
		  bool (*show)(void *ctx, const struct latency_pair *pair, unsigned int depth),
		  void *ctx);

#endif
