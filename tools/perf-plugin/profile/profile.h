/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* What the files of `perf rvtrace profile` share. */
#ifndef PERF_RVTRACE_PROFILE_H
#define PERF_RVTRACE_PROFILE_H

#include <stdbool.h>
#include <stdio.h>
#include "profile/counters.h"
#include "common/places.h"
#include "common/transfers.h"

/* A format: takes in the flow, and writes at the end. */
struct profile_format {
	const char *name, *help;
	/* Returns the format's own data, or NULL: out of memory. */
	void *(*create)(struct places *places, const struct rvt_session_options *options,
			FILE *out);
	/* Fills .line, .transfer, .after, .event as needed; .ctx is the data. */
	void (*ops)(struct rvt_transfers_ops *ops);
	/*
	 * Adds the data of another one. NULL: not possible, as the format depends on the order of
	 * flow. Not NULL: the format consists of counts only. Returns 0 or -errno.
	 */
	int (*add)(void *data, const void *more);
	/* Discards all counts. NULL: not possible, as output was written already. */
	void (*forget)(void *data);
	/* @dso: the file to write about; NULL: the one that ran most. Returns 0 or -errno. */
	int (*write)(void *data, const char *name, const char *dso, FILE *out);
	void (*destroy)(void *data);
	bool timed;		/* shows times */
	/*
	 * Counts all of @view on several threads, though not by .add, if contexts_whole(). Returns
	 * what contexts_run() does. NULL: one thread does.
	 */
	int (*run)(void *data, struct view *view, uint64_t *errors);
};

/* profile/profile.c: finds a format. Returns NULL after a message. */
const struct profile_format *profile_format(const char *name);

/*
 * profile/decode.c: decodes the view's recording into @data, on several threads if the format and
 * the options say so. Adds to *@errors. Returns 0, or -errno after a message.
 */
int profile_decode(struct view *view, const struct profile_format *format,
		   const struct rvt_session_options *options, void *data, uint64_t *errors);

/* profile/flat.c: ranges and branches of one file: llvm, bolt, autofdo, lcov. */
void *flat_create(struct places *places, const struct rvt_session_options *options, FILE *out);
void flat_ops(struct rvt_transfers_ops *ops);
int flat_add(void *data, const void *more);
void flat_forget(void *data);
/* Reads the format counts. Returns what counts_read() does. */
int flat_read(void *data, FILE *in, const char *name);
int flat_write(void *data, const char *name, const char *dso, FILE *out);
void flat_destroy(void *data);

/*
 * profile/counts.c: the format counts. counts_write() takes sorted counters, and returns 0, -EIO or
 * -ENOMEM. counts_read() adds to @counters, and returns 0, -EILSEQ after a message, or -ENOMEM.
 */
bool counts_recognize(FILE *in);
int counts_write(const struct counters *counters, FILE *out);
int counts_read(struct counters *counters, FILE *in, const char *name, const char *symfs);

/*
 * profile/lcov.c: writes the coverage of the source of the file at @path. Leaves out sources that
 * this machine does not have, unless it has none. Returns 0 or -errno.
 */
struct code_line {
	uint64_t from, to;	/* .to: its last instruction; of a branch: its target */
	uint64_t count;
};
struct code_counts {
	struct code_line *lines, *branches;	/* .branches: taken ones */
	size_t n_lines, n_branches;
};
int lcov_write(const struct code_counts *counts, const char *path,
	       const struct rvt_session_options *options, FILE *out);

/* profile/tree.c: calling contexts: folded, svg. */
void *tree_create(struct places *places, const struct rvt_session_options *options, FILE *out);
void tree_ops(struct rvt_transfers_ops *ops);
void tree_forget(void *data);
int tree_run(void *data, struct view *view, uint64_t *errors);
/* Reads the format folded. Returns 0, -EILSEQ or -ENOMEM. */
int tree_add_folded(void *data, FILE *in);
int tree_write(void *data, const char *name, const char *dso, FILE *out);
void tree_destroy(void *data);

/* profile/chrome.c: calls over time. */
void *chrome_create(struct places *places, const struct rvt_session_options *options, FILE *out);
void chrome_ops(struct rvt_transfers_ops *ops);
int chrome_write(void *data, const char *name, const char *dso, FILE *out);
void chrome_destroy(void *data);
/*
 * For several recordings in one: begins the recording @name. chrome_close() ends it and returns 0
 * or -errno.
 */
void chrome_next(void *data, struct places *places, const char *name);
int chrome_close(void *data);

/*
 * profile/pprof.c, profile/callgrind.c: write all below @root, which is added up. Return 0 or
 * -errno.
 */
struct context;
int pprof_write(const struct context *root, FILE *out);
int callgrind_write(const struct context *root, FILE *out);
/* Like tree_create(), for callgrind, which needs calls as well. */
void *callgrind_create(struct places *places, const struct rvt_session_options *options, FILE *out);

/* profile/perfetto.c: calls over time, in Perfetto's protobuf. */
void *perfetto_create(struct places *places, const struct rvt_session_options *options, FILE *out);
void perfetto_ops(struct rvt_transfers_ops *ops);
int perfetto_write(void *data, const char *name, const char *dso, FILE *out);
void perfetto_destroy(void *data);

#endif
