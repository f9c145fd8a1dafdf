/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Between the files of `perf rvtrace profile`. */
#ifndef PERF_RVTRACE_PROFILE_H
#define PERF_RVTRACE_PROFILE_H

#include <stdbool.h>
#include <stdio.h>
#include "profile/counters.h"
#include "common/places.h"
#include "common/transfers.h"

/* What a format is: it takes in the flow, and writes at the end. */
struct profile_format {
	const char *name, *help;
	/* Returns the format's own data, or NULL: out of memory. */
	void *(*create)(struct places *places, const struct rvt_session_options *options,
			FILE *out);
	/* Fills .line, .transfer, .after, .event as needed; .ctx is the data. */
	void (*ops)(struct rvt_transfers_ops *ops);
	/*
	 * Adds what another one has; NULL: what is told depends on what was told before. Not NULL:
	 * it is made of counts only. 0 or -errno.
	 */
	int (*add)(void *data, const void *more);
	/* Nothing has been counted so far. NULL: what was told is written already. */
	void (*forget)(void *data);
	/* @dso: of which file; NULL: of the one that ran most. Returns 0 or -errno. */
	int (*write)(void *data, const char *name, const char *dso, FILE *out);
	void (*destroy)(void *data);
	bool timed;		/* it shows when things were */
};

/* profile.c: NULL after a message. */
const struct profile_format *profile_format(const char *name);

/*
 * profile-decode.c: the view's recording into @data, on several threads if the format can be added
 * up and the options say so. Adds to *@errors. 0, or -errno after a message.
 */
int profile_decode(struct view *view, const struct profile_format *format,
		   const struct rvt_session_options *options, void *data, uint64_t *errors);

/* profile-flat.c: ranges and branches of one file: llvm, bolt, autofdo, lcov. */
void *flat_create(struct places *places, const struct rvt_session_options *options, FILE *out);
void flat_ops(struct rvt_transfers_ops *ops);
int flat_add(void *data, const void *more);
void flat_forget(void *data);
/* What the format counts writes, as counts_read(). */
int flat_read(void *data, FILE *in, const char *name);
int flat_write(void *data, const char *name, const char *dso, FILE *out);
void flat_destroy(void *data);

/*
 * profile-counts.c: the format counts. counts_write() takes what is sorted; 0, -EIO or
 * -ENOMEM. counts_read() adds to @counters; 0, -EILSEQ after a message, or -ENOMEM.
 */
bool counts_recognize(FILE *in);
int counts_write(const struct counters *counters, FILE *out);
int counts_read(struct counters *counters, FILE *in, const char *name, const char *symfs);

/*
 * lcov.c: the file at @path, as coverage of its source. Sources that are not on this machine are
 * left out, unless none is. 0 or -errno.
 */
struct code_line {
	uint64_t from, to;	/* .to: of the last instruction; of a branch: where it leads */
	uint64_t count;
};
struct code_counts {
	struct code_line *lines, *branches;	/* .branches: those that were taken */
	size_t n_lines, n_branches;
};
int lcov_write(const struct code_counts *counts, const char *path,
	       const struct rvt_session_options *options, FILE *out);

/* profile-tree.c: calling contexts: folded, svg. */
void *tree_create(struct places *places, const struct rvt_session_options *options, FILE *out);
void tree_ops(struct rvt_transfers_ops *ops);
void tree_forget(void *data);
/* What the format folded writes. 0, -EILSEQ, -ENOMEM. */
int tree_add_folded(void *data, FILE *in);
int tree_write(void *data, const char *name, const char *dso, FILE *out);
void tree_destroy(void *data);

/* profile-chrome.c: calls over time. */
void *chrome_create(struct places *places, const struct rvt_session_options *options, FILE *out);
void chrome_ops(struct rvt_transfers_ops *ops);
int chrome_write(void *data, const char *name, const char *dso, FILE *out);
void chrome_destroy(void *data);
/*
 * Several recordings in one: what follows is of the recording @name, until chrome_close(), which
 * returns 0 or -errno.
 */
void chrome_next(void *data, struct places *places, const char *name);
int chrome_close(void *data);

/* pprof.c, callgrind.c: all below @root. 0 or -errno. */
struct context;
int pprof_write(const struct context *root, FILE *out);
int callgrind_write(struct context *root, FILE *out);
/* The tree's data for callgrind, which has calls as well. */
void *callgrind_create(struct places *places, const struct rvt_session_options *options, FILE *out);

/* perfetto.c: the same in Perfetto's protobuf. */
void *perfetto_create(struct places *places, const struct rvt_session_options *options, FILE *out);
void perfetto_ops(struct rvt_transfers_ops *ops);
int perfetto_write(void *data, const char *name, const char *dso, FILE *out);
void perfetto_destroy(void *data);

#endif
