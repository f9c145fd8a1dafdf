/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* What to decode: recordings, and shares of large ones. */
#ifndef PERF_RVTRACE_FLEET_UNITS_H
#define PERF_RVTRACE_FLEET_UNITS_H

#include <stddef.h>
#include <stdint.h>

/* A recording, or counts of one; or a share of a recording. */
struct unit {
	char *path;
	uint64_t size;		/* bytes to decode, roughly */
	int64_t mtime;		/* of the file, ns; changes with its content, as .size does */
	unsigned int share, shares;	/* number .share of .shares of the recording, from 0 on */
};

/* Empty when zeroed. Each path is there once, or with all its shares. */
struct units {
	struct unit *list;
	size_t n;
};

void units_free(struct units *units);
/*
 * units_add - adds @path: a recording or counts, or all files below a directory that look like one.
 * A file that cannot be read is a unit, and decoding it reports the error. units_add_list - adds
 * the paths in a file, one per line; "-" is standard input. Each returns 0, or -errno after a
 * message.
 */
int units_add(struct units *units, const char *path);
int units_add_list(struct units *units, const char *file);
/*
 * Sorts the units, the largest first, and cuts those of more than @bytes into shares (0: cuts
 * none). The result does not depend on the order in which they were added. Returns 0 or -ENOMEM.
 */
int units_plan(struct units *units, uint64_t bytes);
/*
 * Convert them to bytes (malloc'd) for other ranks, and back. Return 0, -ENOMEM, or -EILSEQ: the
 * bytes are not from units_pack().
 */
int units_pack(const struct units *units, char **bytes, size_t *len);
int units_unpack(struct units *units, const char *bytes, size_t len);

#endif
