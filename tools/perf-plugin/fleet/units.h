/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* What there is to decode: recordings, and shares of those that are big. */
#ifndef PERF_RVTRACE_FLEET_UNITS_H
#define PERF_RVTRACE_FLEET_UNITS_H

#include <stddef.h>
#include <stdint.h>

/* A recording, or counts of one; or a share of a recording. */
struct unit {
	char *path;
	uint64_t size;		/* bytes to be decoded, about */
	int64_t mtime;		/* of the file, ns; with its size it tells whether it is the same */
	unsigned int share, shares;	/* the recording's .share-th of .shares, from 0 on */
};

/* Empty when zeroed. Each path is there once, with all its shares. */
struct units {
	struct unit *list;
	size_t n;
};

void units_free(struct units *units);
/*
 * units_add - @path is a recording or counts, or a directory in which, and below which, all files
 * are that look like one. A file that cannot be read is a unit: its decoding will say so.
 * units_add_list - the paths in a file, one a line; "-" is standard input.
 * Each returns 0, or -errno after a message.
 */
int units_add(struct units *units, const char *path);
int units_add_list(struct units *units, const char *file);
/*
 * The biggest first, those of more than @bytes in shares (0: none is cut); what does not depend on
 * the order in which they were added. 0 or -ENOMEM.
 */
int units_plan(struct units *units, uint64_t bytes);
/* As bytes (malloc'd) for other ranks. 0, -ENOMEM; -EILSEQ: these are none. */
int units_pack(const struct units *units, char **bytes, size_t *len);
int units_unpack(struct units *units, const char *bytes, size_t len);

#endif
