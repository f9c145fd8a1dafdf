/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* What the command writes: standard output, and files as perf makes them. */
#ifndef PERF_RVTRACE_OUTPUT_H
#define PERF_RVTRACE_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

/*
 * From now on a write to standard output that fails is an error at exit, with status 1. @prints:
 * the command's result goes there, so when its reader has gone (`| head`) the process ends at once
 * and quietly, with 141, which is what a shell reports for SIGPIPE. Without @prints it goes on.
 */
void output_begin(bool prints);
/* Writes out what waits for standard output; the error at exit then says why that failed. */
void output_flush(void);

/*
 * A file that is being written. Names are as perf gives them: a file that has the name already is
 * kept as NAME.old, links are never followed, the new one is for its owner only. Devices and pipes
 * are written to as they are, /dev/stdout and /dev/fd/N included.
 */
struct output_file {
	const char *path;	/* the caller's; must live on */
	int fd;
	bool created;		/* it is a new file */
	bool renamed;		/* there was one before */
};

/* Makes or opens @path. 0, or -errno after a message. */
int output_create(struct output_file *file, const char *path);
/* The file is of no use: it goes, and the one before gets its name back. .fd is the caller's. */
void output_discard(const struct output_file *file);

/*
 * output_open - @path for text. NULL after a message. output_close() ends it: it returns @err, or
 * -errno after a message if any write has failed. A file that is not whole for that reason is
 * discarded, and an empty one if there is an error.
 */
FILE *output_open(struct output_file *file, const char *path);
int output_close(struct output_file *file, FILE *out, int err);

#endif
