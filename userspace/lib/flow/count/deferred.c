// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Counts that are deferred.
 */
#include <stdlib.h>
#include "util/array.h"
#include "flow/count/expand.h"
#include "flow/memo.h"

enum kind { MEMO, SEGMENT };
_Static_assert(RVT_MEMO_ENTRIES <= 1 << 20 && RVT_SEGMENTS <= 1 << 20,
	       "numbers fit a note");

/* Returns false, and notes nothing, if there is no room. */
static bool note(struct rvt_deferred *deferred, enum kind kind, uint32_t number, uint64_t times)
{
	const size_t before = deferred->n;

	while (times) {
		uint32_t some = times < RVT_DEFERRED_TIMES ? times : RVT_DEFERRED_TIMES;

		if (deferred->n == RVT_DEFERRED_NOTES ||
		    array_reserve(&deferred->notes, &deferred->room, deferred->n, 1)) {
			deferred->n = before;
			deferred->full = true;
			return false;
		}
		deferred->notes[deferred->n++] = (struct rvt_deferred_note){ kind, number, some };
		times -= some;
	}
	return true;
}

static bool is_in(unsigned int halves, uint64_t pc)
{
	return halves >> rvt_va_half(pc) & 1;
}

/*
 * Each notes the counts in @halves, and leaves others in their list. They return false when there
 * is no room for more.
 */

static bool note_memos(struct rvt_deferred *deferred, struct rvt_memos *memos, unsigned int halves)
{
	uint32_t left = 0;
	bool room = true;

	for (uint32_t i = 0; i < memos->n_counted; i++) {
		const uint32_t number = memos->counted[i];
		struct rvt_memo *s = &memos->memos[number];
		const bool in = is_in(halves, s->key.pc);

		room = room && (!in || note(deferred, MEMO, number, s->times));
		if (!room || !in) {
			memos->counted[left++] = number;
			continue;
		}
		/* A memo that took another's entry is in the list twice. */
		if (s->times)
			s->flags |= RVT_MEMO_DEFERRED;
		s->times = 0;
	}
	memos->n_counted = left;
	return room;
}

static bool note_segments(struct rvt_deferred *deferred, struct rvt_segments *segments,
			  unsigned int halves)
{
	uint32_t left = 0;
	bool room = true;

	for (uint32_t i = 0; i < segments->n_counted; i++) {
		const uint32_t number = segments->counted[i];
		const bool in = is_in(halves, segments->pcs[number / RVT_LINE_SEGMENTS]);
		struct rvt_segment *seg = rvt_segment_at(segments, number);

		room = room && (!in || note(deferred, SEGMENT, number, seg->times));
		if (!room || !in)
			segments->counted[left++] = number;
		else
			seg->times = 0;
	}
	segments->n_counted = left;
	return room;
}

bool rvt_flow_defer_counts(struct rvt_flow *flow, uint32_t owner, unsigned int halves)
{
	struct rvt_deferred *deferred = &flow->deferred;
	struct rvt_deferred_batch batch = { .first = deferred->n, .owner = owner };

	if (array_reserve(&deferred->batches, &deferred->batches_room, deferred->n_batches, 1)) {
		deferred->full = true;
		return false;
	}
	if ((!flow->base.memos || note_memos(deferred, flow->base.memos, halves)) && flow->segments)
		note_segments(deferred, flow->segments, halves);
	batch.n = deferred->n - batch.first;
	if (!batch.n)
		return false;
	deferred->left += batch.n;
	deferred->batches[deferred->n_batches++] = batch;
	return true;
}

static void count_again(struct rvt_flow *flow, const struct rvt_deferred_note *note)
{
	struct rvt_memo *s;

	if (note->kind == SEGMENT) {
		rvt_count_segment(flow, rvt_segment_at(flow->segments, note->number),
				  note->times);
		return;
	}
	s = &flow->base.memos->memos[note->number];
	if (!s->times || s->times > UINT32_MAX - note->times)
		rvt_memos_begin_times(flow, s);
	s->times += note->times;
}

/* Forgets all notes. What they held may make room for others. */
static void clear(struct rvt_flow *flow)
{
	struct rvt_deferred *deferred = &flow->deferred;

	for (size_t i = 0; i < deferred->n; i++) {
		const struct rvt_deferred_note *note = &deferred->notes[i];

		if (note->kind == MEMO)
			flow->base.memos->memos[note->number].flags &= ~RVT_MEMO_DEFERRED;
	}
	deferred->n = deferred->n_batches = 0;
	deferred->full = false;
}

void rvt_flow_restore_counts(struct rvt_flow *flow, uint32_t owner)
{
	struct rvt_deferred *deferred = &flow->deferred;

	for (size_t i = 0; i < deferred->n_batches; i++) {
		struct rvt_deferred_batch *batch = &deferred->batches[i];

		if (batch->owner != owner)
			continue;
		for (size_t k = batch->first; k < batch->first + batch->n; k++)
			count_again(flow, &deferred->notes[k]);
		deferred->left -= batch->n;
		batch->n = 0;
	}
	if (!deferred->left)
		clear(flow);
}

bool rvt_flow_deferred_full(const struct rvt_flow *flow)
{
	return flow->deferred.full;
}
