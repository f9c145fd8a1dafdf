/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Inside the flow engine: a body, which is what was executed between two moments, as numbers of
 * segments (flow/core/segment.h), and as runs where no segment was known. The walks record it;
 * memos and repeated history keep and count it. A flow has one recorder, used by one
 * thread.
 */
#ifndef RVT_LIB_FLOW_BODY_H
#define RVT_LIB_FLOW_BODY_H

#include <stdbool.h>
#include <stdint.h>
#include "flow/order.h"
#include "flow/core/segment.h"

#define RVT_BODY_WORDS 252	/* at most */
#define RVT_BODY_RUNS 255	/* of all segments, and by themselves, at most */
/* A word with this bit is followed by a struct rvt_run; no number of a segment has it. */
#define RVT_BODY_RUN (1u << 31)
#define RVT_BODY_RUN_WORDS (1 + sizeof(struct rvt_run) / 4)

struct rvt_body {
	bool too_long;			/* the words are not all of it: more was executed */
	uint8_t halves;			/* bit rvt_va_half() of each address executed */
	unsigned int n_words, n_runs;
	/*
	 * Under RVT_RUN_PREDICTED: so many of the outcomes were known, the first ones; and how the
	 * branch at .asked would be predicted then was asked for.
	 */
	unsigned int n_known;
	bool predicted;			/* others followed */
	bool asks;
	uint32_t asked;			/* number of its entry */
	uint32_t words[RVT_BODY_WORDS];
};

/* Forgets what was recorded. */
static inline void rvt_body_begin(struct rvt_body *body)
{
	body->too_long = false;
	body->halves = 0;
	body->n_words = body->n_runs = body->n_known = 0;
	body->predicted = body->asks = false;
}

/* @run was executed. */
void rvt_body_add_run(struct rvt_body *body, const struct rvt_run *run);
/* The segment of this number was executed; it has @runs runs, all in VA half @half. */
void rvt_body_add_segment(struct rvt_body *body, uint32_t number, unsigned int runs,
			  unsigned int half);

/* An element of a body. */
struct rvt_body_item {
	struct rvt_segment *seg;	/* NULL: it is .run */
	struct rvt_run run;
};

/* Sets *item to what @word stands for. Returns the word behind it. */
static inline const uint32_t *rvt_body_next(struct rvt_segments *segments, const uint32_t *word,
					    struct rvt_body_item *item)
{
	item->seg = NULL;
	if (!(*word & RVT_BODY_RUN)) {
		item->seg = rvt_segment_at(segments, *word);
		return word + 1;
	}
	__builtin_memcpy(&item->run, word + 1, sizeof(item->run));
	return word + RVT_BODY_RUN_WORDS;
}

/* Where an element begins. */
static inline uint64_t rvt_body_address(const struct rvt_segments *segments,
					const struct rvt_body_item *item)
{
	if (!item->seg)
		return rvt_run_insn_address(&item->run, 0);
	return segments->pcs[rvt_segment_number(segments, item->seg) / RVT_LINE_SEGMENTS];
}

#endif
