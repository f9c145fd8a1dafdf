// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Expansion: what segments and memos have counted becomes counts of runs and edges.
 */
#include "flow/count/expand.h"

static void count_path(struct rvt_flow *flow, const struct rvt_segment *seg, uint64_t times)
{
	const struct rvt_segment_path *path = rvt_segment_path(flow->segments, seg);

	rvt_counts_path(flow->base.counts, rvt_segment_runs(flow->segments, seg), seg->n_runs,
			times);
	if (!seg->leaves)
		rvt_counts_edge(flow->base.counts, path->last, path->last_insn, path->end_pc,
				times);
}

void rvt_count_segment(struct rvt_flow *flow, struct rvt_segment *seg, uint64_t times)
{
	struct rvt_segments *segments = flow->segments;

	if (!seg->times)
		segments->counted[segments->n_counted++] = rvt_segment_number(segments, seg);
	times += seg->times;
	/* The segment stays in the list. */
	if (times > RVT_SEGMENT_TIMES) {
		count_path(flow, seg, times - 1);
		times = 1;
	}
	seg->times = times;
}

/*
 * Counts the edge from an item to @to. An edge to what a segment leads to by itself is counted with
 * the segment. But an order may have ended there, and the trace may then have said that the flow is
 * elsewhere.
 */
static void expand_edge(struct rvt_flow *flow, const struct rvt_body_item *last, uint64_t to,
			uint64_t times)
{
	const struct rvt_segment *seg = last->seg;
	struct rvt_segments *segments = flow->segments;
	struct rvt_counts *counts = flow->base.counts;
	const struct rvt_segment_path *path;
	uint64_t counted;

	if (!seg) {
		rvt_counts_edge(counts, rvt_block_of(&last->run),
				last->run.first + last->run.count - 1, to, times);
		return;
	}
	path = rvt_segment_path(segments, seg);
	if (seg->leaves) {
		rvt_counts_return(counts, &path->last, to, times);
		return;
	}
	counted = seg->next ? segments->pcs[seg->next] : path->end_pc;
	if (counted == to)
		return;
	rvt_counts_edge(counts, path->last, path->last_insn, counted, -(int64_t)times);
	rvt_counts_edge(counts, path->last, path->last_insn, to, times);
}

/* The same for an edge inside a body. Most of these are counted with their segments. */
static inline void count_edge(struct rvt_flow *flow, const struct rvt_body_item *last, uint64_t to,
			      uint64_t times)
{
	const struct rvt_segment *seg = last->seg;

	if (!seg || !seg->next || flow->segments->pcs[seg->next] != to)
		expand_edge(flow, last, to, times);
}

void rvt_count_words(struct rvt_flow *flow, const uint32_t *words, unsigned int n, uint64_t to,
		     uint64_t times)
{
	/* The two items take turns: to copy one that was just written would wait for the stores. */
	struct rvt_body_item items[2], *item = &items[0], *last = NULL;
	const uint32_t *word = words, *end = words + n;

	while (word < end) {
		word = rvt_body_next(flow->segments, word, item);
		if (last)
			count_edge(flow, last, rvt_body_address(flow->segments, item), times);
		if (item->seg)
			rvt_count_segment(flow, item->seg, times);
		else
			rvt_counts_run(flow->base.counts, rvt_block_of(&item->run),
				       item->run.first, item->run.count, times);
		last = item;
		item = item == &items[0] ? &items[1] : &items[0];
	}
	if (last)
		expand_edge(flow, last, to, times);
}

/*
 * Segments, their runs, the blocks of these and the counts of the blocks lie all over their tables,
 * and each tells where the next is: they are fetched for some segments at once. (A function that
 * only fetches is one without effect for the compiler, unless it is inlined.)
 */
#define AT_ONCE 16

static inline __attribute__((always_inline)) void
fetch(struct rvt_flow *flow, const uint32_t *numbers, unsigned int n)
{
	struct rvt_segments *segments = flow->segments;

	for (unsigned int i = 0; i < n; i++)
		__builtin_prefetch(rvt_segment_at(segments, numbers[i]), 1);
	for (unsigned int i = 0; i < n; i++) {
		const uint8_t *path =
			(void *)rvt_segment_path(segments, rvt_segment_at(segments, numbers[i]));

		for (unsigned int line = 0; line < 3; line++)
			__builtin_prefetch(path + 64 * line);
	}
	for (unsigned int i = 0; i < n; i++) {
		const struct rvt_segment *seg = rvt_segment_at(segments, numbers[i]);
		const struct rvt_run *runs = rvt_segment_runs(segments, seg);

		for (unsigned int k = 0; k < seg->n_runs; k++)
			rvt_block_fetch(rvt_block_of(&runs[k]));
	}
	for (unsigned int i = 0; i < n; i++) {
		const struct rvt_segment *seg = rvt_segment_at(segments, numbers[i]);
		const struct rvt_run *runs = rvt_segment_runs(segments, seg);

		for (unsigned int k = 0; k < seg->n_runs; k++)
			rvt_counts_fetch(flow->base.counts, rvt_block_of(&runs[k]));
	}
}

static void expand_segments(struct rvt_flow *flow)
{
	struct rvt_segments *segments = flow->segments;

	if (!segments)
		return;
	/* Notes of returns are of paths of segments, which may be about to go. */
	rvt_counts_jumps(flow->base.counts);
	for (uint32_t i = 0; i < segments->n_counted; i++) {
		struct rvt_segment *seg = rvt_segment_at(segments, segments->counted[i]);
		const uint32_t left = segments->n_counted - i;

		if (!(i % AT_ONCE))
			fetch(flow, segments->counted + i, left < AT_ONCE ? left : AT_ONCE);
		count_path(flow, seg, seg->times);
		seg->times = 0;
	}
	segments->n_counted = 0;
}

/* ---- memos ---- */

void rvt_count_memo(struct rvt_flow *flow, struct rvt_memo *s)
{
	struct rvt_memo_path *path = rvt_memo_path(flow->base.memos, s);

	if (!s->times)
		return;
	rvt_count_words(flow, rvt_memo_body(path), path->n_words, s->pc, s->times);
	s->times = 0;
}

/*
 * Memos, their paths and what these lead through lie all over their tables. So each is prefetched
 * when the one before has come. Functions that only prefetch must be inlined: the compiler takes
 * others for functions without effect.
 */
#define AHEAD 8

/* Returns the memo that is @ahead of @i in the list; NULL: none. */
static struct rvt_memo *counted_ahead(struct rvt_memos *memos, uint32_t i, uint32_t ahead)
{
	return i + ahead < memos->n_counted ? &memos->memos[memos->counted[i + ahead]] : NULL;
}

/* Prefetches what the body of @path leads through: segments, and the blocks of runs. */
static inline __attribute__((always_inline)) void
fetch_body(struct rvt_flow *flow, struct rvt_memo_path *path)
{
	const uint32_t *word = rvt_memo_body(path), *end = word + path->n_words;
	struct rvt_body_item item;

	while (word < end) {
		word = rvt_body_next(flow->segments, word, &item);
		if (item.seg)
			__builtin_prefetch(item.seg, 1);
		else
			rvt_block_fetch(rvt_block_of(&item.run));
	}
}

static inline __attribute__((always_inline)) void
fetch_ahead(struct rvt_flow *flow, uint32_t i)
{
	struct rvt_memos *memos = flow->base.memos;
	const struct rvt_memo *s = counted_ahead(memos, i, 3 * AHEAD);

	if (s)
		__builtin_prefetch(s);
	s = counted_ahead(memos, i, 2 * AHEAD);
	if (s)
		__builtin_prefetch(rvt_memo_path(memos, s));
	s = counted_ahead(memos, i, AHEAD);
	if (s)
		fetch_body(flow, rvt_memo_path(memos, s));
}

static void expand_memos(struct rvt_flow *flow)
{
	struct rvt_memos *memos = flow->base.memos;

	if (!memos)
		return;
	for (uint32_t i = 0; i < memos->n_counted; i++) {
		fetch_ahead(flow, i);
		rvt_count_memo(flow, &memos->memos[memos->counted[i]]);
	}
	memos->n_counted = 0;
}

void rvt_memos_begin_times(struct rvt_flow *flow, struct rvt_memo *s)
{
	struct rvt_memos *memos = flow->base.memos;

	rvt_count_memo(flow, s);
	/* A memo that took the entry of another is in the list a second time. */
	if (memos->n_counted == RVT_MEMO_ENTRIES)
		expand_memos(flow);
	memos->counted[memos->n_counted++] = s - memos->memos;
}

void rvt_count_expand(struct rvt_flow *flow)
{
	expand_memos(flow);
	expand_segments(flow);
}
