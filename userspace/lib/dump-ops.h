/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Inside librvtrace: what a protocol offers to dump.c. A protocol's dump embeds struct rvt_dump as
 * its first member.
 */
#ifndef RVT_LIB_DUMP_OPS_H
#define RVT_LIB_DUMP_OPS_H

#include <inttypes.h>
#include <stdio.h>
#include <rvtrace/dump.h>
#ifdef HAVE_JSON
#include "util/json-line.h"
#endif

/* The functions of rvtrace/dump.h with the same names; same contracts. */
struct rvt_dump_ops {
	int (*create)(const struct rvt_params *params, unsigned int flags, FILE *out,
		      struct rvt_dump **dump);
	void (*destroy)(struct rvt_dump *dump);
	void (*feed)(struct rvt_dump *dump, const void *bytes, size_t len, uint64_t offset);
	void (*lost)(struct rvt_dump *dump, bool boundary);
	void (*finish)(struct rvt_dump *dump);
	void (*stats)(const struct rvt_dump *dump, struct rvt_dump_stats *stats);
};

struct rvt_dump {
	const struct rvt_dump_ops *ops;		/* set by dump.c after create() */
	/* shown with each message; 0: it comes in no frames */
	unsigned int atid;
};

static inline void rvt_dump_stats_add(struct rvt_dump_stats *sum,
				      const struct rvt_dump_stats *stats)
{
	sum->messages += stats->messages;
	sum->idle_bytes += stats->idle_bytes;
	sum->skipped_bytes += stats->skipped_bytes;
	sum->damaged += stats->damaged;
}

/* No message of either protocol is longer. */
#define RVT_DUMP_MAX_BYTES 64

#ifdef HAVE_JSON
/* A line begins: "offset" and "bytes". */
static inline struct json_object *dump_json_begin(uint64_t offset, const uint8_t *bytes,
						  size_t len)
{
	struct json_object *line = json_object_new_object();
	char hex[2 * RVT_DUMP_MAX_BYTES + 1];

	for (size_t i = 0; i < len; i++)
		snprintf(hex + 2 * i, 3, "%02x", bytes[i]);
	json_add(line, "offset", json_object_new_uint64(offset));
	json_add(line, "bytes", json_object_new_string_len(hex, 2 * len));
	return line;
}
#endif

/* The line of a damaged region. */
static inline void dump_damage(FILE *out, bool json, uint64_t offset, uint64_t len,
			       const char *what)
{
#ifdef HAVE_JSON
	if (json) {
		struct json_object *line = json_object_new_object();

		json_add(line, "offset", json_object_new_uint64(offset));
		json_add(line, "len", json_object_new_uint64(len));
		json_add(line, "damage", json_object_new_string(what));
		json_put_line(out, line);
		return;
	}
#endif
	(void)json;
	fprintf(out, "%08" PRIx64 ": damaged, %" PRIu64 " bytes: %s\n", offset, len, what);
}

extern const struct rvt_dump_ops rvt_ntrace_dump;	/* ntrace/print.c */
extern const struct rvt_dump_ops rvt_etrace_dump;	/* etrace/print.c */

#endif
