/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* `perf rvtrace diff`: what two recordings executed more or less often, and where they part. */
#ifndef PERF_RVTRACE_DIFF_H
#define PERF_RVTRACE_DIFF_H

#include "annotate/annotate.h"
#include "common/contexts.h"
#include "common/srcline.h"

enum { DIFF_A, DIFF_B, DIFF_SIDES };

/* A function or a calling context, in both: NULL where it did not run. */
struct diff_function {
	const struct code_function *side[DIFF_SIDES];
};

struct diff_path {
	const struct context *side[DIFF_SIDES];
};

/* Instructions of a function that were executed equally often in A, and so in B. */
struct diff_block {
	const struct diff_function *function;
	size_t first, last;	/* instructions */
	uint64_t count[DIFF_SIDES];
};

/* A transfer, as both recordings have it if the program does the same. */
struct diff_step {
	struct place from, to;
};

/* Where a thread of both recordings parts. */
struct diff_parting {
	const char *comm;
	unsigned int number;	/* of the thread, among those with this name, from 1 on */
	uint64_t same;		/* transfers before, which are the same */
	struct diff_step before;	/* the last of them, if there is one */
	bool ended[DIFF_SIDES];	/* nothing comes after that */
	struct diff_step after[DIFF_SIDES];	/* what comes, else */
	const char **stack;	/* functions that have not returned, the innermost first, in B */
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
	double exit_percent;	/* below 0: not wanted */
	uint64_t max_lines;
	bool json, no_pager;
};

struct diff {
	const struct diff_options *options;
	struct diff_side side[DIFF_SIDES];
	struct diff_function *functions;	/* by how much they changed, the most first */
	size_t n_functions, n_changed;
	struct diff_block *blocks;		/* in the same way */
	size_t n_blocks;
	struct diff_path *paths;		/* own instructions */
	size_t n_paths;
	struct diff_parting *partings;
	size_t n_partings;
	uint64_t threads;	/* that both have, parting or not */
};

static inline uint64_t diff_count(const struct diff_function *function, int side)
{
	return function->side[side] ? function->side[side]->count : 0;
}

static inline uint64_t diff_self(const struct diff_path *path, int side)
{
	return path->side[side] ? path->side[side]->self : 0;
}

/* How far two counts are apart. */
static inline uint64_t diff_change(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

/* counts.c: from .side, functions, blocks and paths. 0 or -ENOMEM. */
int diff_counts(struct diff *diff);
/*
 * parting.c: decodes both recordings twice: fills .contexts of both sides and .partings. Memory
 * does not grow with what is the same but for a few bytes for each thousand transfers. 0 or -errno.
 */
int diff_partings(struct diff *diff);
/* print.c. */
void diff_print(struct diff *diff);
void diff_json(struct diff *diff);
/* Frees what is in it. */
void diff_free(struct diff *diff);

#endif
