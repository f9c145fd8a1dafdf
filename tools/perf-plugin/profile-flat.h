/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Between profile-flat.c, which counts, and profile-counts.c, which keeps the counts in a file. */
#ifndef PERF_RVTRACE_PROFILE_FLAT_H
#define PERF_RVTRACE_PROFILE_FLAT_H

#include <stdbool.h>
#include "profile.h"

struct dso {
	const char *name;	/* first: key of the tree, compared by address */
	char *path;		/* where the file is; NULL: not known */
	struct rvt_bases bases;
	uint64_t insns;
};

/* A line from .from to .to (address of its last instruction), or a branch. */
struct counter {
	struct dso *dso;
	uint64_t from, to;
	bool branch;
	uint64_t count;
};

/* What was counted last for these addresses of a space. */
struct slot {
	const struct rvt_space *space;
	uint64_t generation, from, to;
	bool branch;
	struct counter *counter;	/* NULL: they are not counted */
};

struct flat {
	struct places *places;
	const struct rvt_session_options *options;
	void *dsos, *counters;	/* tsearch trees */
	struct counter **list;
	struct slot *cache;
	size_t n, room;
	void *names;		/* tsearch tree of strings: of files that were read from counts */
};

/* @name's address tells files apart; @path may be NULL. NULL: out of memory. */
struct dso *flat_dso(struct flat *flat, const char *name, const char *path,
		     const struct rvt_bases *bases);
/* The counter for what @key is, but for its count. NULL: out of memory. */
struct counter *flat_counter(struct flat *flat, const struct counter *key);

/* profile-counts.c: writes .list, which is sorted. 0 or -errno. */
int counts_write(const struct flat *flat, FILE *out);

#endif
