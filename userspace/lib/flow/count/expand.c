// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Block walk: what segments have counted becomes counts of runs and edges.
 */
#include "flow/core/state.h"

static void count_path(struct rvt_flow *flow, const struct rvt_segment *seg, uint64_t times)
{
	const struct rvt_segment_path *path = rvt_segment_path(flow->segments, seg);

	rvt_counts_path(flow->counts, rvt_segment_runs(flow->segments, seg), seg->n_runs, times);
	if (!seg->leaves)
		rvt_counts_edge(flow->counts, path->last, path->last_insn, path->end_pc, times);
}

void rvt_flow_count_segment(struct rvt_flow *flow, struct rvt_segment *seg, uint64_t times)
{
	struct rvt_segments *segments = flow->segments;

	if (!seg->times)
		segments->counted[segments->n_counted++] = rvt_segment_number(segments, seg);
	times += seg->times;
	/* It stays in the list. */
	if (times > RVT_SEGMENT_TIMES) {
		count_path(flow, seg, times - 1);
		times = 1;
	}
	seg->times = times;
}

static uint64_t address_of(const struct rvt_segments *segments, const struct rvt_body_item *item)
{
	if (!item->seg)
		return rvt_run_address(&item->run);
	return segments->pcs[rvt_segment_number(segments, item->seg) / RVT_LINE_SEGMENTS];
}

/* Whether what follows a part is counted with it. */
static bool counts_next(const struct rvt_body_item *item)
{
	return item->seg && item->seg->next;
}

/* Counts what follows the last part, which is not counted with that. */
static void expand_edge(struct rvt_flow *flow, const struct rvt_body_item *last, uint64_t to,
			uint64_t times)
{
	if (!last->seg) {
		rvt_counts_edge(flow->counts, rvt_block_of(&last->run),
				last->run.first + last->run.count - 1, to, times);
		return;
	}
	if (last->seg->leaves)
		rvt_counts_jump(flow->counts, rvt_segment_path(flow->segments, last->seg)->last, to,
				times);
}

void rvt_count_words(struct rvt_flow *flow, const uint32_t *words, unsigned int n, uint64_t to,
		     uint64_t times)
{
	const uint32_t *word = words, *end = words + n;
	struct rvt_body_item item, last = {};

	for (bool first = true; word < end; first = false, last = item) {
		word = rvt_body_next(flow->segments, word, &item);
		if (!first && !counts_next(&last))
			expand_edge(flow, &last, address_of(flow->segments, &item), times);
		if (item.seg)
			rvt_flow_count_segment(flow, item.seg, times);
		else
			rvt_counts_run(flow->counts, rvt_block_of(&item.run), item.run.first,
				       item.run.count, times);
	}
	if (!counts_next(&last))
		expand_edge(flow, &last, to, times);
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
			rvt_counts_fetch(flow->counts, rvt_block_of(&runs[k]));
	}
}

void rvt_flow_expand_segments(struct rvt_flow *flow)
{
	struct rvt_segments *segments = flow->segments;

	if (!segments)
		return;
	/* Notes of returns are of paths of segments, which may be about to go. */
	rvt_counts_jumps(flow->counts);
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
