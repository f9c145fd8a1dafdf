/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* `perf rvtrace diff`: what two recordings executed more or less often, and where they part. */
#ifndef PERF_RVTRACE_DIFF_H
#define PERF_RVTRACE_DIFF_H

#include "annotate/annotate.h"
#include "common/contexts.h"
#include "common/srcline.h"

enum { DIFF_A, DIFF_B, DIFF_SIDES };

/* A function, or a calling context, in both; NULL where it did not run. */
struct diff_function {
	const struct code_function *side[DIFF_SIDES];
};

struct diff_path {
	const struct context *side[DIFF_SIDES];
};

/* Instructions of a function that were executed equally often, in A as in B. */
struct diff_block {
	const struct diff_function *function;
	size_t first, last;	/* instructions */
	uint64_t count[DIFF_SIDES];
};

/* A transfer; the same in both recordings if the program did the same. */
struct diff_step {
	struct place from, to;
};

/* Where a thread goes another way in the second recording. */
struct diff_parting {
	const char *comm;
	unsigned int number;	/* among the threads with this name, from 1 on */
	uint64_t same;		/* number of transfers before, which are the same */
	struct diff_step before;	/* the last of these, if any */
	bool ended[DIFF_SIDES];	/* nothing follows */
	struct diff_step after[DIFF_SIDES];	/* else what follows */
	const char **stack;	/* functions on the stack in B, the innermost first */
	size_t n_stack;
};

struct diff_side {
	struct view *view;
	struct places *places;
	struct code code;
	struct contexts contexts;
	struct srclines *srclines;
	uint64_t errors;
};

struct diff_options {
	const char *files[DIFF_SIDES];
	const char *dsos;
	double exit_percent;	/* below 0: not given */
	uint64_t max_lines;
	bool json, no_pager;
};

struct diff {
	const struct diff_options *options;
	struct diff_side side[DIFF_SIDES];
	struct diff_function *functions;	/* those that changed most come first */
	size_t n_functions, n_changed;
	struct diff_block *blocks;		/* those that changed most come first */
	size_t n_blocks;
	struct diff_path *paths;		/* by own instructions, in the same way */
	size_t n_paths;
	struct diff_parting *partings;
	size_t n_partings;
	uint64_t threads;	/* in both recordings, parting or not */
};

static inline uint64_t diff_count(const struct diff_function *function, int side)
{
	return function->side[side] ? function->side[side]->count : 0;
}

static inline uint64_t diff_self(const struct diff_path *path, int side)
{
	return path->side[side] ? path->side[side]->self : 0;
}

/* Returns the difference of two counts. */
static inline uint64_t diff_change(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

/* diff/counts.c: compares the functions, blocks and paths of .side. Returns 0 or -ENOMEM. */
int diff_counts(struct diff *diff);
/*
 * diff/parting.c: decodes both recordings twice, and fills in .contexts of both sides and
 * .partings. For what is the same, memory only grows by a few bytes for each thousand transfers.
 * Returns 0 or -errno.
 */
int diff_partings(struct diff *diff);
/* diff/print.c: prints the result. */
void diff_print(struct diff *diff);
void diff_json(struct diff *diff);
/* Frees what @diff has. */
void diff_free(struct diff *diff);

#endif
