/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* How often each straight line of code ran and each branch was taken, by file. */
#ifndef PERF_RVTRACE_COUNTERS_H
#define PERF_RVTRACE_COUNTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <rvtrace/symbol.h>

/*
 * A file, identified by its build id if that is known, whatever its name on this or another
 * machine; else by its name.
 */
struct dso {
	char *name;		/* of several the first by strcmp(), as .path */
	char *build_id;		/* in hexadecimal; NULL: not known */
	char *found_id;		/* if known by its name so far: the .build_id for a sum */
	char *path;		/* where the file is; NULL: not known */
	struct rvt_bases bases;
	uint64_t insns;
};

/*
 * How often a line from .from to .to (its last instruction), or a branch, ran. Addresses are those
 * of the file.
 */
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

/* Frees what @counters has. */
void counters_free(struct counters *counters);
/*
 * Finds or makes the file @key, and copies its strings. A new one gets .bases of @key, but not
 * .insns. NULL: out of memory.
 */
struct dso *counters_dso(struct counters *counters, const struct dso *key);
/* Finds or makes the counter of @key; its .count is ignored. NULL: out of memory. */
struct counter *counters_get(struct counters *counters, const struct counter *key);
/*
 * Adds the counters of @more, whose files have .found_id as their build id, if set. Returns 0 or
 * -ENOMEM.
 */
int counters_add(struct counters *counters, const struct counters *more);
/* Sorts .list by address; lines come before branches of the same addresses. */
void counters_sort(struct counters *counters);

#endif
