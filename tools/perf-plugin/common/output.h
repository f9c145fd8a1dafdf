/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Output of the command: standard output, and files with the rules of perf. */
#ifndef PERF_RVTRACE_OUTPUT_H
#define PERF_RVTRACE_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

/*
 * Makes failed writes to standard output an error at exit, with status 1. @prints: the command's
 * result goes there, so when its reader has ended (`
 *
 * head`) the process ends at once without a message, with 141, which a shell reports for SIGPIPE.
 * Without @prints it continues.
 */
void output_begin(bool prints);
/* Writes the buffer of standard output; if that fails, the error at exit says why. */
void output_flush(void);

/*
 * A file that is being written. As in perf, an existing file of that name is kept as NAME.old,
 * links are not followed, and the new file is for its owner only. Devices and pipes are written to
 * directly, also /dev/stdout and /dev/fd/N.
 */
struct output_file {
	const char *path;	/* the caller's; must live on */
	int fd;
	bool created;		/* is a new file */
	bool renamed;		/* NAME.old was made */
};

/* Makes or opens @path. Returns 0, or -errno after a message. */
int output_create(struct output_file *file, const char *path);
/* Removes the file, and gives the old one its name back. The caller closes .fd. */
void output_discard(const struct output_file *file);

/*
 * output_open - opens @path for text. NULL after a message. output_close() ends it, and returns
 * @err, or -errno after a message if any write has failed. It discards a file that is incomplete
 * for that reason, or empty if there is an error.
 */
FILE *output_open(struct output_file *file, const char *path);
int output_close(struct output_file *file, FILE *out, int err);

#endif
