/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Inside librvtrace: what a protocol offers to dump.c. A protocol's dump embeds struct rvt_dump as
 * its first member.
 */
#ifndef RVT_LIB_DUMP_OPS_H
#define RVT_LIB_DUMP_OPS_H

#include <rvtrace/dump.h>

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
};

extern const struct rvt_dump_ops rvt_ntrace_dump;	/* ntrace/print.c */
extern const struct rvt_dump_ops rvt_etrace_dump;	/* etrace/print.c */

#endif
