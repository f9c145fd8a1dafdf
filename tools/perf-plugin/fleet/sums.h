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

/* A row of the report. */
struct row {
	char *comm, *dso, *symbol;
	bool kernel;
	uint64_t insns, branches, entered;
};

/* The losses and messages of a recording, over all its shares. */
struct recording {
	char *path;
	/* messages, each a line with its newline; of the first share with any */
	char *said;
	unsigned int said_share;
	bool failed;		/* it, or a share of it, is not in the sums */
	bool lost;		/* some of what was recorded is lost */
	bool no_report;		/* it is a file of counts, and only in .counters */
	uint64_t insns, gaps, gaps_no_code, bytes, bytes_lost;
	/* the same for all shares */
	uint64_t overruns, records_lost, files_missing;
};

/* Empty when zeroed. */
struct sums {
	void *row_tree, *recording_tree;	/* tsearch trees of what the lists have */
	struct row **rows;
	struct recording **recordings;
	size_t n_rows, n_recordings;
	struct counters counters;
	struct merge *stacks;	/* NULL: none */
	/* processor time of all ranks, and of the rank with the most */
	uint64_t ms, busiest_ms;
	bool *units;		/* by number: is in the sums; NULL: not asked for */
	size_t n_units;
};

void sums_free(struct sums *sums);
/* Notes from now on which units are in the sums. Returns 0 or -ENOMEM. */
int sums_number(struct sums *sums, size_t n_units);
/* Adds to the recording with the same path. Returns 0 or -ENOMEM. */
int sums_add_recording(struct sums *sums, const struct recording *more);
/*
 * Adds the rows that `report --json` wrote. Sets *losses to the recording's losses, and *told to
 * whether there were any. Returns 0, -EILSEQ after a message with @name, or -ENOMEM.
 */
int sums_add_report(struct sums *sums, FILE *in, const char *name, struct recording *losses,
		    bool *told);
/* Adds what --format folded wrote, like sums_add_report(). */
int sums_add_stacks(struct sums *sums, FILE *in, const char *name);
/* Sorts as sums_sort() does, and writes. Returns 0, -EIO or -ENOMEM. */
int sums_write(struct sums *sums, FILE *out);
/*
 * Adds a file of sums_write(). Returns 0, -EILSEQ after a message if it is none, after which the
 * sums are useless, or -ENOMEM. sums_are_whole() returns whether the file at @path has its first
 * line and its last.
 */
int sums_read(struct sums *sums, FILE *in, const char *name);
/* Adds only the recordings of a file, which are at its beginning. */
int sums_read_recordings(struct sums *sums, FILE *in);
bool sums_are_whole(const char *path);
/* Writes a line of the file, which is also one of --json. */
void sums_write_recording(const struct recording *recording, FILE *out);
/* Sorts rows by instructions, most first; recordings by path; counters for counts_write(). */
void sums_sort(struct sums *sums);

#endif
