/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A byte stream as text or JSON: one line for each message or packet, and one for each damaged
 * region. It needs no code images and follows no program.
 *
 * Threads: one at a time calls for a dump; dumps know nothing of each other, but for the file that
 * they print to.
 */
#ifndef RVTRACE_DUMP_H
#define RVTRACE_DUMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <rvtrace/linkage.h>
#include <rvtrace/params.h>

RVT_BEGIN_DECLS

struct rvt_dump;

enum {
	/*
	 * One JSON object a line: "offset", "bytes" (hexadecimal), "message", then the fields by
	 * their specification names, then what was resolved. Addresses are strings "0x...".
	 * Damage: "offset", "len", "damage". Needs json-c when the library is built.
	 */
	RVT_DUMP_JSON = 1u << 0,
};

struct rvt_dump_stats {
	size_t size;			/* sizeof(struct rvt_dump_stats): the struct may grow */
	uint64_t messages;
	uint64_t idle_bytes;
	uint64_t skipped_bytes;		/* that belong to no message */
	uint64_t damaged;		/* regions */
};

/* @out stays the caller's. Returns 0, -EINVAL for parameters out of range or without size,
 * -ENOTSUP: RVT_DUMP_JSON, and the library was built without json-c; -ENOMEM. */
int rvt_dump_create(const struct rvt_params *params, unsigned int flags, FILE *out,
		    struct rvt_dump **dump);
/* @dump may be NULL. */
void rvt_dump_destroy(struct rvt_dump *dump);
/* The next @len bytes, which lie at @offset of the recording. A message may straddle two calls. */
void rvt_dump_feed(struct rvt_dump *dump, const void *bytes, size_t len, uint64_t offset);
/* Bytes are missing here. @boundary: the next byte begins a message. */
void rvt_dump_lost(struct rvt_dump *dump, bool boundary);
/* End of data: reports a partial message. */
void rvt_dump_finish(struct rvt_dump *dump);
/*
 * The caller sets @stats->size; no more is written. Returns 0, or -EINVAL: it does not say its
 * size.
 */
int rvt_dump_stats(const struct rvt_dump *dump, struct rvt_dump_stats *stats);

RVT_END_DECLS

#endif
