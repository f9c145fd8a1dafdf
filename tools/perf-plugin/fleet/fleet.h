/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* What the files of `perf rvtrace fleet` share. */
#ifndef PERF_RVTRACE_FLEET_H
#define PERF_RVTRACE_FLEET_H

#include <stdbool.h>
#include <stddef.h>
#include "fleet/sums.h"
#include "fleet/units.h"

struct fleet_options {
	char **view;		/* options for the commands that decode; ends with NULL */
	const char *output;	/* directory */
	const char *spool;	/* directory: has a file for each decoded unit */
	const char *requeue;	/* file; NULL: none */
	const char *formats;	/* separated by commas; NULL: none */
	const char *dso;
	bool stacks;		/* a format needs them */
	bool json;
	bool strict;		/* a failed recording is an error */
	unsigned int jobs;	/* units that this rank decodes at the same time */
	uint64_t share_bytes;	/* larger recordings are cut */
	unsigned int part, parts;	/* only each .parts-th unit, from the .part-th on; 0: all */
};

/*
 * fleet/spool.c: returns the name of the unit's file in the spool (malloc'd; NULL: out of memory),
 * which identifies the unit and how it is decoded. spool_temporary() returns the name of another
 * file of this process. spool_put() writes the sums of a unit under a temporary name, and renames
 * the complete file. Returns 0, or -errno after a message.
 */
char *spool_name(const struct fleet_options *options, const struct unit *unit);
char *spool_temporary(const struct fleet_options *options, size_t number, const char *what);
int spool_put(const struct fleet_options *options, const struct unit *unit, struct sums *sums);
/* Adds the unit's sums in the spool. Returns 1 if there are none; 0; or -errno after a message. */
int spool_take(const struct fleet_options *options, const struct unit *unit, struct sums *sums);
/* Returns whether the spool has the unit, and it need not be done again. */
bool spool_has(const struct fleet_options *options, const struct unit *unit);

/*
 * fleet/work.c: decodes units for this rank as long as there are any, each in processes of its own,
 * so that a crash ends only one unit. Results are in the spool. Sets *@n_done to how many it
 * decoded now. Returns 0, or -errno after a message.
 */
int fleet_work(const struct fleet_options *options, const struct units *units, size_t *n_done);

/*
 * fleet/write.c: writes all files of .output. Returns 0, or -errno after a message.
 * fleet_write_requeue() lists the recordings that failed, or lack files; @sums NULL: all of @units.
 */
int fleet_write(const struct fleet_options *options, struct sums *sums);
int fleet_write_requeue(const struct fleet_options *options, const struct units *units,
			const struct sums *sums);

#endif
