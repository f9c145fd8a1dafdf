/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Text that several threads print, each a slice of the trace at a time, in the order in which one
 * thread would have printed it.
 */
#ifndef PERF_RVTRACE_PAGES_H
#define PERF_RVTRACE_PAGES_H

#include <stdbool.h>
#include <stdio.h>
#include <rvtrace/session.h>
#include "session/slices.h"

struct pages_ops {
	void *ctx;
	bool overlap;		/* see struct rvt_session_slices */
	bool errors;		/* slices have lines for standard error, too */
	/*
	 * Where the order of lines holds for each of several sources only: of which @line is, its
	 * newline included, less than .n_sources. @error: of those for standard error. NULL: it
	 * holds for all.
	 */
	unsigned int n_sources;
	unsigned int (*source)(void *ctx, bool error, const char *line, size_t len);
	/*
	 * A printer, which one thread uses for one slice after another; fills its call-backs in
	 * @sink. NULL: out of memory.
	 */
	void *(*open)(void *ctx, struct rvt_session_sink *sink);
	/* @valid: what it printed is in the output, all or some of it. */
	void (*close)(void *printer, bool valid);
	/* What comes goes to @out; lines for standard error to @errors, NULL unless .errors. */
	void (*begin)(void *printer, FILE *out, FILE *errors);
	/* Nothing more comes: passes on what it has buffered. 0 or -errno. May be NULL. */
	int (*end)(void *printer);
	/*
	 * All is printed again by one thread: what call-backs counted so far is void. May be NULL.
	 */
	void (*again)(void *ctx);
	/* Calls rvt_session_run_slices() and returns what that returns. */
	int (*run)(void *ctx, const struct rvt_session_sink *sink,
		   const struct rvt_session_slices *slices);
};

/* Prints to @out. Returns what .run returned, -EPIPE (@out cannot be written) or -ENOMEM. */
int pages_run(const struct pages_ops *ops, FILE *out);

#endif
