/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Inside the flow engine: expansion. Segments and memos that are executed only count up a number of
 * their own. It is expanded, to counts of the runs and edges that they stand for, when somebody
 * asks for counts, and before an entry or a table goes.
 */
#ifndef RVT_LIB_FLOW_EXPAND_H
#define RVT_LIB_FLOW_EXPAND_H

#include "flow/core/state.h"
#include "flow/count/counts.h"

/* @seg was executed @times times. */
void rvt_count_segment(struct rvt_flow *flow, struct rvt_segment *seg, uint64_t times);
/* It was executed once. */
static inline void rvt_count_segment_once(struct rvt_flow *flow, struct rvt_segment *seg)
{
	const uint32_t old = seg->next_times, one = RVT_SEGMENT_TIMES_ONE;

	/* The first time, and when no more fits. */
	if (__builtin_expect(old - one >= RVT_SEGMENT_TIMES * one - one, 0))
		rvt_count_segment(flow, seg, 1);
	else
		seg->next_times = old + one;
}

/*
 * What the @n @words of a body stand for was executed @times times, and led to @to each time.
 * rvt_count_body: the same for a body that was recorded.
 */
void rvt_count_words(struct rvt_flow *flow, const uint32_t *words, unsigned int n, uint64_t to,
		     uint64_t times);
static inline void rvt_count_body(struct rvt_flow *flow, const struct rvt_body *body, uint64_t to,
				  uint64_t times)
{
	rvt_count_words(flow, body->words, body->n_words, to, times);
}

/* As struct rvt_count_ops has them: .expand_memo and .expand. */
void rvt_count_memo(struct rvt_flow *flow, struct rvt_memo *memo);
void rvt_count_expand(struct rvt_flow *flow);

#endif
