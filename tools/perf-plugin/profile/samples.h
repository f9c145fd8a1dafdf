/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Counts by location in the source, as compilers take them ("AutoFDO: Automatic Feedback-Directed
 * Optimization for Warehouse-Scale Applications", Chen, Li, Moseley, CGO 2016): of each function,
 * and of each copy of one that was inlined, how often its lines ran.
 */
#ifndef PERF_RVTRACE_SAMPLES_H
#define PERF_RVTRACE_SAMPLES_H

#include "profile/profile.h"

/* Selects the discriminators to read, and what the compiler reads of calls. */
enum samples_compiler { SAMPLES_CLANG, SAMPLES_GCC };

/* A location in a function: lines from its declaration, and a part of the line. */
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
	struct line_location call;	/* in the caller; of an inlined copy only */
	uint64_t calls;			/* how often it was entered; not of inlined copies */
	uint64_t total;			/* instructions, with those of inlined functions */
	void *lines;			/* tsearch tree of struct sample_line by location */
	void *inlined;			/* of struct sample_function by location and name */
	size_t n_lines, n_inlined;	/* .n_inlined: only those that ran */
};

struct samples {
	void *functions;		/* tsearch tree of struct sample_function by name */
	size_t n_functions;		/* only those that ran */
	/* these own the names */
	struct srclines *srclines;
	struct functions *scopes;
};

/*
 * Reads the file at @path. Returns 0, or -errno after a message. The caller frees @samples in each
 * case.
 */
int samples_read(struct samples *samples, enum samples_compiler compiler,
		 const struct code_counts *counts, const char *path,
		 const struct rvt_session_options *options);
void samples_free(struct samples *samples);
/* Returns whether a walk by twalk_r() visits its node in order now. */
static inline bool samples_in_order(VISIT which)
{
	return which == postorder || which == leaf;
}

/* profile/clang.c: writes LLVM's text, for -fprofile-sample-use. Returns 0 or -errno. */
int clang_write(const struct samples *samples, FILE *out);
/*
 * profile/gcc.c: writes GCC's profile for -fauto-profile: @version 2 up to GCC 15, 3 from GCC 16
 * on. Returns 0 or -errno.
 */
int gcc_write(const struct samples *samples, unsigned int version, FILE *out);

#endif
