/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* How often each straight line of code ran and each branch was taken, by file. */
#ifndef PERF_RVTRACE_COUNTERS_H
#define PERF_RVTRACE_COUNTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <rvtrace/symbol.h>

struct dso {
	char *name;		/* first: key of the tree */
	char *path;		/* where the file is; NULL: not known */
	struct rvt_bases bases;
	uint64_t insns;
};

/* A line from .from to .to (of its last instruction), or a branch; addresses of the file. */
struct counter {
	struct dso *dso;
	uint64_t from, to;
	bool branch;
	uint64_t count;
};

/* Empty when zeroed. */
struct counters {
	void *dsos, *tree;	/* tsearch trees */
	struct counter **list;
	size_t n;
};

/* Frees what is in it. */
void counters_free(struct counters *counters);
/*
 * The file @name; what is given besides counts when it is new. @path may be NULL. NULL: out of
 * memory.
 */
struct dso *counters_dso(struct counters *counters, const char *name, const char *path,
			 const struct rvt_bases *bases);
/* The counter for what @key is, but for its count. NULL: out of memory. */
struct counter *counters_get(struct counters *counters, const struct counter *key);
/* Adds what @more has. 0 or -ENOMEM. */
int counters_add(struct counters *counters, const struct counters *more);
/* Sorts .list by address; of the same addresses lines come first. */
void counters_sort(struct counters *counters);

#endif
