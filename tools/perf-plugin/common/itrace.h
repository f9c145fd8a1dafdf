/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* --itrace: perf's letters for what to make from a trace. */
#ifndef PERF_RVTRACE_ITRACE_H
#define PERF_RVTRACE_ITRACE_H

#include <stdbool.h>
#include <stdint.h>
#include "common/transfers.h"

enum itrace_unit { ITRACE_INSNS, ITRACE_NS, ITRACE_TICKS };

struct itrace {
	bool instructions, branches, calls, returns, interrupts, errors, marks;
	bool no_overflow_errors, no_lost_errors;	/* e-o, e-l */
	bool ignore_time;	/* Z: one buffer after another */
	enum itrace_unit unit;
	uint64_t period;	/* of instructions, in .unit */
	uint64_t tick_ns;	/* of the trace's time; 0: not known */
	uint64_t skip;		/* s: so many events are left out first */
	unsigned int callchain;	/* g: frames; 0: none */
	unsigned int last_branches; /* l: entries; 0: none */
	unsigned int add_callchain, add_last_branches;	/* G, L: to samples of other events */
};

#define ITRACE_HELP \
"      --itrace=LETTERS  perf's: i[N[i|t|ms|us|ns]] instructions (100us), b branches, c calls,\n" \
"                        r returns, I traps, e[-o][-l] errors, w marks in the trace, g[N] call\n" \
"                        chain, l[N] last branches, G[N] L[N] these for samples of others, sN\n" \
"                        skip N, Z ignore time stamps (T and q change nothing)\n"

#define ITRACE_SCRIPT "ce"	/* what --itrace without letters is to perf script */

/* Where sampling stands between two samples. */
struct itrace_clock {
	uint64_t insns;		/* since the last sample */
	uint64_t ns;		/* that code ran since the last period was over */
	uint64_t random;
	uint64_t late;		/* ns from the end of a period to its sample */
};

/*
 * itrace_sample - @line ran, as struct rvt_transfers_ops.line has it: calls @sample for each sample
 * due in it, with the address of the instruction, the instructions since the last one, and its time
 * in @hart->time. A sample by time lies where the period is over, or at random up to a tick later:
 * stamps count ticks, so that all periods would end where a stamp is. Time in which nothing of what
 * is looked at ran does not count. Returns 0 or what @sample returned.
 */
int itrace_sample(const struct itrace *itrace, struct itrace_clock *clock,
		  struct rvt_hart_flow *hart, const struct rvt_straight_line *line,
		  int (*sample)(void *ctx, uint64_t ip, uint64_t period), void *ctx);
/* Whether b, c, r or I ask for this transfer. */
bool itrace_wants(const struct itrace *itrace, const struct rvt_transfer *transfer);
/* Whether e asks for this LOST event. */
bool itrace_wants_error(const struct itrace *itrace, const struct rvt_event *event);
/*
 * itrace_parse - @text NULL: @usual, which is such letters, too; "" is all that perf makes by
 * itself. 0, or -EINVAL after a message.
 */
int itrace_parse(const char *text, const char *usual, struct itrace *itrace);
/*
 * A period in ticks of the trace's time becomes one in ns, and .tick_ns is set. 0, or -EINVAL after
 * a message.
 */
int itrace_resolve(struct itrace *itrace, const struct rvt_session *session);

#endif
