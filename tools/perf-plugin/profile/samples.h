/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Counts by location in the source, as compilers take them ("AutoFDO: Automatic Feedback-Directed
 * Optimization for Warehouse-Scale Applications", Chen, Li, Moseley, CGO 2016): of each function,
 * and of each copy of one that was inlined, how often its lines ran.
 */
#ifndef PERF_RVTRACE_SAMPLES_H
#define PERF_RVTRACE_SAMPLES_H

#include "profile/profile.h"

/* Whose discriminators, and what of calls the compiler reads. */
enum samples_compiler { SAMPLES_CLANG, SAMPLES_GCC };

/* A line of a function: from its declaration, and a part of the line. */
struct line_location {
	unsigned int line, discriminator;
};

struct sample_target {
	const char *name;
	uint64_t count;
};

struct sample_line {
	struct line_location location;
	uint64_t count;
	void *targets;			/* tsearch tree of struct sample_target by name */
	size_t n_targets;
};

struct sample_function {
	const char *name;
	struct line_location call;	/* in the caller, of a copy that was inlined */
	uint64_t calls;			/* of a function of its own: how often it was entered */
	uint64_t total;			/* instructions, of what was inlined in it, too */
	void *lines;			/* tsearch tree of struct sample_line by location */
	void *inlined;			/* of struct sample_function by location and name */
	size_t n_lines, n_inlined;	/* .n_inlined: those that ran */
};

struct samples {
	void *functions;		/* tsearch tree of struct sample_function by name */
	size_t n_functions;		/* of those that ran */
	/* what keeps the names */
	struct srclines *srclines;
	struct functions *scopes;
};

/* Of the file at @path. 0, or -errno after a message. To be freed in each case. */
int samples_read(struct samples *samples, enum samples_compiler compiler,
		 const struct code_counts *counts, const char *path,
		 const struct rvt_session_options *options);
void samples_free(struct samples *samples);
/* Whether @node of a tree is at its turn in twalk_r(). */
static inline bool samples_in_order(VISIT which)
{
	return which == postorder || which == leaf;
}

/* clang.c: LLVM's text, for -fprofile-sample-use. 0 or -errno. */
int clang_write(const struct samples *samples, FILE *out);
/* gcc.c: for -fauto-profile: @version 2 up to GCC 15, 3 from GCC 16 on. 0 or -errno. */
int gcc_write(const struct samples *samples, unsigned int version, FILE *out);

#endif
