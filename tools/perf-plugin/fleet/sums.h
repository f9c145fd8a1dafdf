/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * What recordings come to, added up. A sum does not depend on the order in which it was made. As a
 * file it is
 *
 *	rvtrace fleet 1
 *	unit N			(those that are in it; none in a spool)
 *	time MS MS		(what decoding took, see .ms; none in a spool)
 *	{ "type": "recording", ... }	a line for each
 *	{ "type": "row", ... }	of `report --json`, without the percentage
 *	counts BYTES		then that many, as `profile --format counts` has them
 *	folded BYTES		the same of --format folded, if it is there
 *	end
 */
#ifndef PERF_RVTRACE_FLEET_SUMS_H
#define PERF_RVTRACE_FLEET_SUMS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include "profile/merge.h"
#include "profile/profile.h"

/* A line of the report. */
struct row {
	char *comm, *dso, *symbol;
	bool kernel;
	uint64_t insns, branches, entered;
};

/* How a recording fared, all of its shares together. */
struct recording {
	char *path;
	/* messages, each a line with its end; of the first share that has any */
	char *said;
	unsigned int said_share;
	bool failed;		/* it, or a share of it, is not in the sums */
	bool lost;		/* some of what was recorded is not */
	bool no_report;		/* it is counts: they are in the counts only */
	uint64_t insns, gaps, gaps_no_code, bytes, bytes_lost;
	/* of all shares the same */
	uint64_t overruns, records_lost, files_missing;
};

/* Empty when zeroed. */
struct sums {
	void *row_tree, *recording_tree;	/* tsearch trees of what is in the lists */
	struct row **rows;
	struct recording **recordings;
	size_t n_rows, n_recordings;
	struct counters counters;
	struct merge *stacks;	/* NULL: none */
	/* processor time of all ranks, and of the one that had most */
	uint64_t ms, busiest_ms;
	bool *units;		/* by number: it is in the sums; NULL: nobody asks */
	size_t n_units;
};

void sums_free(struct sums *sums);
/* From now on it is known which units are in it. 0 or -ENOMEM. */
int sums_number(struct sums *sums, size_t n_units);
/* Adds to the recording of this path. 0 or -ENOMEM. */
int sums_add_recording(struct sums *sums, const struct recording *more);
/*
 * Adds what `report --json` wrote: rows; *losses gets those of the recording, and *told whether
 * there were any. 0, -EILSEQ after a message that has @name, or -ENOMEM.
 */
int sums_add_report(struct sums *sums, FILE *in, const char *name, struct recording *losses,
		    bool *told);
/* The same of --format folded. */
int sums_add_stacks(struct sums *sums, FILE *in, const char *name);
/* 0; -EIO or -ENOMEM. Sorts rows and recordings: sums_sort(). */
int sums_write(struct sums *sums, FILE *out);
/*
 * Adds a file of sums_write(). -EILSEQ after a message: it is none; then the sums are of no use any
 * more. sums_are_whole(): the file at @path has its first line and its last.
 */
int sums_read(struct sums *sums, FILE *in, const char *name);
/* The same of recordings only, which are in front. */
int sums_read_recordings(struct sums *sums, FILE *in);
bool sums_are_whole(const char *path);
/* A line of the file, which is one of --json, too. */
void sums_write_recording(const struct recording *recording, FILE *out);
/* Rows by instructions, most first, recordings by path; counters as counts_write() takes them. */
void sums_sort(struct sums *sums);

#endif
