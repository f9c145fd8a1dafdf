/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Time spread over instructions: what a session says of the flow that it delivers.
 *
 * Threads: any may call; nothing is changed.
 */
#ifndef RVTRACE_SPAN_H
#define RVTRACE_SPAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <rvtrace/linkage.h>

RVT_BEGIN_DECLS

/* Time that is spread over instructions. */
struct rvt_clock_span {
	uint64_t from, to;	/* ns */
	uint64_t insns;		/* that were executed within; 0: it is .from */
	uint64_t first;		/* how many of them come before what the span is told with */
};

/* When instruction number @n (from 0) of what @span is told with begins, ns. */
static inline uint64_t rvt_clock_span_time(const struct rvt_clock_span *span, uint64_t n)
{
	uint64_t insns = span->first + n;

	if (!span->insns || span->to <= span->from)
		return span->from;
	if (insns > span->insns)
		insns = span->insns;
	return span->from + (uint64_t)((__uint128_t)(span->to - span->from) * insns / span->insns);
}

RVT_END_DECLS

#endif
