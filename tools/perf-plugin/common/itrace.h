/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* --itrace: perf's letters that choose what to make from a trace. */
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
	uint64_t tick_ns;	/* one tick of the trace's time; 0: not known */
	uint64_t skip;		/* s: leave out this many events first */
	unsigned int callchain;	/* g: frames; 0: none */
	unsigned int last_branches; /* l: entries; 0: none */
	unsigned int add_callchain, add_last_branches;	/* G, L: to samples of other events */
};

#define ITRACE_HELP \
"      --itrace=LETTERS  perf's: i[N[i|t|ms|us|ns]] instructions (100us), b branches, c calls,\n" \
"                        r returns, I traps, e[-o][-l] errors, w marks in the trace, g[N] call\n" \
"                        chain, l[N] last branches, G[N] L[N] these for samples of others, sN\n" \
"                        skip N, Z ignore time stamps (T and q change nothing)\n"

#define ITRACE_SCRIPT "ce"	/* perf script takes --itrace without letters as this */

/* State of sampling between two samples. */
struct itrace_clock {
	uint64_t insns;		/* since the last sample */
	uint64_t ns;		/* ns that code ran since the end of the last period */
	uint64_t random;
	uint64_t late;		/* ns from the end of a period to its sample */
};

/* Whether instructions are sampled by time. A period of 0 ns is every instruction, as in perf. */
static inline bool itrace_by_time(const struct itrace *itrace)
{
	return itrace->unit == ITRACE_NS && itrace->period;
}

/* Returns whether each instruction is a sample, so that none depends on those before. */
static inline bool itrace_each(const struct itrace *itrace)
{
	return itrace->unit == ITRACE_INSNS ? itrace->period <= 1 : !itrace->period;
}

/*
 * itrace_begin - begins sampling amid a trace: @seed tells how far the first period has come, so
 * that each instruction, or ns, is as likely as any other to have the first sample.
 */
void itrace_begin(const struct itrace *itrace, struct itrace_clock *clock, uint64_t seed);
/*
 * itrace_sample - calls @sample for each sample that is due in @line, which ran as struct
 * rvt_transfers_ops.line says: with the address of the instruction, the number of instructions
 * since the last sample, and its time in @hart->time. A sample by time is taken at the end of its
 * period, or at random up to a tick later: stamps count ticks, so that all periods would end at a
 * stamp. Only time in which code ran counts. Returns 0 or what @sample returned.
 */
int itrace_sample(const struct itrace *itrace, struct itrace_clock *clock,
		  struct rvt_hart_flow *hart, const struct rvt_straight_line *line,
		  int (*sample)(void *ctx, uint64_t ip, uint64_t period), void *ctx);
/* Returns whether b, c, r or I ask for this transfer. */
bool itrace_wants(const struct itrace *itrace, const struct rvt_transfer *transfer);
/* Returns whether e asks for this LOST event. */
bool itrace_wants_error(const struct itrace *itrace, const struct rvt_event *event);
/*
 * itrace_parse - parses @text. NULL: @usual, which has such letters, too; "": what perf makes by
 * default. Returns 0, or -EINVAL after a message.
 */
int itrace_parse(const char *text, const char *usual, struct itrace *itrace);
/*
 * Changes a period in ticks of the trace's time to ns, and sets .tick_ns. Returns 0, or -EINVAL
 * after a message.
 */
int itrace_resolve(struct itrace *itrace, const struct rvt_session *session);

#endif
