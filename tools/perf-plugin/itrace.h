/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* --itrace: perf's letters for what to make from a trace. */
#ifndef PERF_RVTRACE_ITRACE_H
#define PERF_RVTRACE_ITRACE_H

#include <stdbool.h>
#include <stdint.h>
#include "transfers.h"

struct itrace {
	bool instructions, branches, calls, returns, errors;
	bool period_is_time;	/* nanoseconds instead of instructions */
	uint64_t period;
	unsigned int callchain;	/* frames; 0: none */
	unsigned int last_branches; /* entries; 0: none */
};

#define ITRACE_HELP \
"      --itrace=LETTERS  i[PERIOD] instructions (i, ns, us, ms; default 100us), b branches,\n" \
"                        c calls, r returns, e errors, g[N] call chain, l[N] last branches\n"

/* Where a lane stands between two samples. */
struct itrace_clock {
	uint64_t insns;		/* since the last sample */
	uint64_t last_time;
};

/*
 * itrace_sample - @insns instructions ran in a straight line from @first on: calls @sample for each
 * sample due in it, with the address of the instruction and the instructions since the last one.
 * Returns 0 or what @sample returned.
 */
int itrace_sample(const struct itrace *itrace, struct itrace_clock *clock,
		  const struct rvt_lane *lane,
		  uint64_t first, uint64_t insns,
		  int (*sample)(void *ctx, uint64_t ip, uint64_t period), void *ctx);
/* Whether b, c or r ask for this transfer. */
bool itrace_wants(const struct itrace *itrace, const struct transfer *transfer);
/* NULL: perf's default. 0, or -EINVAL after a message. */
int itrace_parse(const char *text, struct itrace *itrace);

#endif
