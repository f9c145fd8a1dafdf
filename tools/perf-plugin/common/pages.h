/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Prints text on several threads, each a slice of the trace at a time, in the order in which one
 * thread would have printed it.
 */
#ifndef PERF_RVTRACE_PAGES_H
#define PERF_RVTRACE_PAGES_H

#include <stdbool.h>
#include <stdio.h>
#include <rvtrace/session.h>
#include "session/slices.h"

/* A slice that begins, which prints to .out; lines for standard error to .errors. */
struct pages_slice {
	FILE *out, *errors;	/* .errors: NULL unless pages_ops.errors */
	/* its buffer, and how many of that are before it; of all that one thread prints: 0 */
	unsigned int buffer;
	size_t number;
};

struct pages_ops {
	void *ctx;
	bool overlap, apart, in_turns;	/* as in struct rvt_session_slices */
	size_t memory;	/* of text, bytes for each thread; more waits in files; 0: 32 MiB */
	bool errors;		/* slices also have lines for standard error */
	bool *told_errors;	/* set if any are written there; NULL: nobody asks */
	/*
	 * For output that only needs the order of lines within each of several sources: returns the
	 * source, less than .n_sources, of @line, which includes its newline. @error: a line for
	 * standard error. NULL: all lines are in one order.
	 */
	unsigned int n_sources;
	unsigned int (*source)(void *ctx, bool error, const char *line, size_t len);
	/*
	 * Makes a printer, which one thread uses for one slice after another, and fills its
	 * call-backs in @sink. NULL: out of memory.
	 */
	void *(*open)(void *ctx, struct rvt_session_sink *sink);
	/* Ends a printer. @valid: the output has all or some of what it printed. */
	void (*close)(void *printer, bool valid);
	void (*begin)(void *printer, const struct pages_slice *slice);
	/* What other buffers have at this time may come here, in the output. May be NULL. */
	void (*moment)(void *printer);
	/* Ends a slice: writes what is buffered. Returns 0 or -errno. May be NULL. */
	int (*end)(void *printer);
	/*
	 * One thread prints all again: discard what call-backs have counted. With .anew, which
	 * .apart needs, also what the output has: that may not be the same again.
	 */
	void (*again)(void *ctx);
	bool anew;
	/* Calls rvt_session_run_slices() and returns what that returns. */
	int (*run)(void *ctx, const struct rvt_session_sink *sink,
		   const struct rvt_session_slices *slices);
};

/* Prints to @out. Returns what .run returned, -EPIPE (@out cannot be written) or -ENOMEM. */
int pages_run(const struct pages_ops *ops, FILE *out);

#endif
