/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Between the files of `perf rvtrace fleet`. */
#ifndef PERF_RVTRACE_FLEET_H
#define PERF_RVTRACE_FLEET_H

#include <stdbool.h>
#include <stddef.h>
#include "fleet/sums.h"
#include "fleet/units.h"

struct fleet_options {
	char **view;		/* options of the commands that decode, ended by NULL */
	const char *output;	/* directory */
	const char *spool;	/* directory: a file for each unit that is done */
	const char *requeue;	/* file; NULL: none */
	const char *formats;	/* words between commas; NULL: none */
	const char *dso;
	bool stacks;		/* a format wants them */
	bool json;
	bool strict;		/* a recording that failed is an error */
	unsigned int jobs;	/* units that this rank decodes at a time */
	uint64_t share_bytes;	/* bigger recordings are cut */
	unsigned int part, parts;	/* only each .parts-th unit, the .part-th first; 0: all */
};

/*
 * spool.c: the unit's file in the spool (malloc'd; NULL: out of memory). Its name says what the
 * unit is, and how it is decoded. spool_open(): one that is to get that name; spool_close(): it
 * gets it if @err is 0. spool_temporary(): another file of this process.
 */
char *spool_name(const struct fleet_options *options, const struct unit *unit);
char *spool_temporary(const struct fleet_options *options, size_t number, const char *what);
int spool_put(const struct fleet_options *options, const struct unit *unit, struct sums *sums);
/* Adds what the spool has of the unit. 1: it has nothing of it. 0 or -errno after a message. */
int spool_take(const struct fleet_options *options, const struct unit *unit, struct sums *sums);
/* The spool has it, and nothing is left to be done again. */
bool spool_has(const struct fleet_options *options, const struct unit *unit);

/*
 * work.c: decodes units, each in processes of its own, as long as there are any for this rank: what
 * ends such a process ends nothing else. All that is done is in the spool. *@n_done: how many were
 * decoded now. 0, or -errno after a message.
 */
int fleet_work(const struct fleet_options *options, const struct units *units, size_t *n_done);

/*
 * write.c: all files of .output. 0, or -errno after a message. fleet_write_requeue(): a list of the
 * recordings that failed, or lack files; @sums NULL: of all @units.
 */
int fleet_write(const struct fleet_options *options, struct sums *sums);
int fleet_write_requeue(const struct fleet_options *options, const struct units *units,
			const struct sums *sums);

#endif
