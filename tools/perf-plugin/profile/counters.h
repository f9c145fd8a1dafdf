/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* How often each straight line of code ran and each branch was taken, by file. */
#ifndef PERF_RVTRACE_COUNTERS_H
#define PERF_RVTRACE_COUNTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <rvtrace/symbol.h>

/*
 * A file: by its build id where that is known, whatever its name is on this machine or another,
 * else by its name.
 */
struct dso {
	char *name;		/* of several the first by strcmp(), as .path */
	char *build_id;		/* in hexadecimal; NULL: not known */
	char *found_id;		/* of one known by name: the .build_id that it has in a sum */
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
 * The file @key, whose strings are copied; .bases count when it is new, .insns not. NULL: out of
 * memory.
 */
struct dso *counters_dso(struct counters *counters, const struct dso *key);
/* The counter for what @key is, but for its count. NULL: out of memory. */
struct counter *counters_get(struct counters *counters, const struct counter *key);
/* Adds what @more has, its files by .found_id where they have one. 0 or -ENOMEM. */
int counters_add(struct counters *counters, const struct counters *more);
/* Sorts .list by address; of the same addresses lines come first. */
void counters_sort(struct counters *counters);

#endif
