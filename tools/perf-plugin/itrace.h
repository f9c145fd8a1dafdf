/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* --itrace: perf's letters for what to make from a trace. */
#ifndef PERF_RVTRACE_ITRACE_H
#define PERF_RVTRACE_ITRACE_H

#include <stdbool.h>
#include <stdint.h>

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

/* NULL: perf's default. 0, or -EINVAL after a message. */
int itrace_parse(const char *text, struct itrace *itrace);

#endif
