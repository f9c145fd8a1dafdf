// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Segment walk: the part of the block walk that takes segments, where they are known. */
#include <errno.h>
#include <string.h>
#include "flow/count/expand.h"
#include "flow/walk/walk.h"

#define unlikely(x) __builtin_expect(!!(x), 0)
#define INLINE inline __attribute__((always_inline))

uint32_t rvt_walk_predict(struct rvt_flow *flow, uint32_t flags, uint32_t node,
			  struct rvt_segment *from)
{
	struct rvt_segments *segments = flow->segments;
	uint8_t *guess = &segments->guesses[node];
	uint32_t key = rvt_segment_key(*guess, RVT_SEGMENT_OUTCOMES);

	for (;;) {
		struct rvt_segment *seg = rvt_segment(segments, node, key, from);
		unsigned int wrong;

		if (!seg)
			seg = rvt_segments_learn(flow, node, key, flags);
		if (!seg || seg->state == RVT_SEGMENT_NONE)
			return key;
		wrong = rvt_segment_mispredicted(&flow->base.predictions, segments, seg);
		if (!wrong)
			return key;
		/* The guess is right up to that outcome, which is changed. */
		*guess ^= wrong & -wrong;
		key = rvt_segment_key(*guess, RVT_SEGMENT_OUTCOMES);
	}
}

/*
 * No segment can be taken here: they are tried again when as many outcomes are used up as one uses.
 */
static void do_without(struct rvt_walk *w)
{
	const uint64_t left = rvt_outcomes_left(&w->outcomes);

	w->segments_at = left > RVT_SEGMENT_OUTCOMES ? left - RVT_SEGMENT_OUTCOMES : 0;
	w->tails &= left > RVT_SEGMENT_OUTCOMES;
	w->ends &= left > RVT_SEGMENT_OUTCOMES;
}

/*
 * Makes the segment of @key, unless @seg already says that none is worth it. Returns NULL when none
 * can be taken.
 */
static struct rvt_segment *learn(struct rvt_flow *flow, struct rvt_walk *w, uint32_t node,
				 uint32_t key, struct rvt_segment *seg)
{
	if (!seg)
		seg = rvt_segments_learn(flow, node, key, w->flags);
	if (seg && seg->state != RVT_SEGMENT_NONE)
		return seg;
	/* The segment that is not worth it may be one from the next block on. */
	if (!seg ||
	    (rvt_segment_key_outcomes(key) < RVT_SEGMENT_OUTCOMES && !(key & RVT_SEGMENT_END)))
		do_without(w);
	return NULL;
}

/*
 * Applies the calls and returns of a segment to the stack. Returns false, and has done nothing, if
 * they must be applied one by one.
 */
static bool apply_calls(struct rvt_flow *flow, const struct rvt_segment *seg)
{
	const uint64_t *pushes = rvt_segment_pushes(flow->segments, seg);
	struct rvt_return_stack *stack = &flow->base.returns;

	/* Without a stack calls leave nothing behind to return to. */
	if (!stack->depth)
		return !rvt_segment_returns(seg);
	if (stack->recursion_max || seg->nesting > stack->depth)
		return false;
	/* Calls drop the oldest entries even if the segment returns from them. */
	rvt_returns_nest(stack, seg->nesting);
	for (unsigned int i = 0; i < seg->n_pushes; i++)
		rvt_returns_push(stack, pushes[i]);
	rvt_flow_fetch_return(flow, 0);
	return true;
}

/*
 * Where the walk is, and what it has done so far. The compiler keeps it in registers as long as
 * only inlined functions get a pointer to it.
 */
struct segment_walk {
	uint32_t at;			/* node; 0: not known */
	unsigned int half;		/* of it */
	const struct rvt_block_table *table;	/* of it */
	bool covered;			/* all segments in .table are, by the mapping */
	struct rvt_outcomes outcomes;
	struct rvt_segment *last;	/* NULL: none yet */
	uint64_t room;			/* half-words that may be executed */
	uint64_t halfwords, insns;
	uint64_t used, taken;		/* outcomes, as if all of them were of branches */
};

/* Sets *key to that of the next segment. Returns false when there are no outcomes for one. */
static INLINE bool segment_key(struct rvt_walk *w, struct segment_walk *r, uint32_t *key,
			       bool predicting)
{
	struct rvt_outcomes *outcomes = &r->outcomes;

	if (predicting) {
		*key = rvt_segment_key(outcomes->bits, RVT_SEGMENT_OUTCOMES);
		/* Known outcomes come before predicted ones, and no segment has both. */
		return outcomes->n_bits >= RVT_SEGMENT_OUTCOMES ||
		       (!outcomes->n_bits && outcomes->behind >= RVT_SEGMENT_OUTCOMES);
	}
	if (unlikely(outcomes->n_bits < RVT_SEGMENT_OUTCOMES)) {
		w->outcomes = *outcomes;
		rvt_walk_fill(w);
		*outcomes = w->outcomes;
		if (outcomes->n_bits < RVT_SEGMENT_OUTCOMES) {
			/*
			 * These are the last outcomes: a segment may go on to the end of the order.
			 */
			*key = rvt_segment_key(outcomes->bits, outcomes->n_bits);
			if (w->tails)
				return !outcomes->behind;
			*key |= RVT_SEGMENT_END;
			return w->ends && outcomes->n_bits;
		}
	}
	*key = rvt_segment_key(outcomes->bits, RVT_SEGMENT_OUTCOMES);
	return true;
}

/* Returns whether the last instruction of @last, or of the flow if that is NULL, did not jump. */
static bool is_after_fall(const struct rvt_flow *flow, const struct rvt_segment *last)
{
	return last ? last->falls : flow->consecutive;
}

/*
 * Checks what depends on where the flow comes from, and applies the calls of @seg. Returns whether
 * @seg can be taken behind @last.
 */
static bool segment_fits(struct rvt_flow *flow, bool covered, const struct rvt_segment *last,
			 const struct rvt_segment *seg)
{
	const struct rvt_segment_path *path = rvt_segment_path(flow->segments, seg);

	if (!covered && (path->low < flow->mapping->start || path->high > flow->mapping->last))
		return false;
	if (path->flags & RVT_SEGMENT_ALONE && is_after_fall(flow, last))
		return false;
	return !seg->nesting || apply_calls(flow, seg);
}

/* Adds what few segments have: jumps and returns. */
static void add_rest(struct rvt_walk *w, const struct rvt_segment_path *path)
{
	w->returns += path->returns;
	w->indirect += path->indirect;
	/* The sums took each outcome for that of a branch. */
	w->branches -= path->jumps;
	w->taken -= path->jumps;
}

/*
 * Returns the node at @pc, and makes its mapping the flow's. Returns 0, and has done nothing, if it
 * is not known.
 */
static uint32_t node_at(struct rvt_flow *flow, uint64_t pc)
{
	const struct rvt_target *target = rvt_flow_target(flow, pc);

	if (!rvt_flow_knows(flow, target, pc) || !target->node)
		return 0;
	flow->mapping = target->mapping;
	return target->node;
}

static uint32_t follow_return(struct rvt_flow *flow, struct rvt_walk *w,
			      const struct rvt_segment *seg)
{
	struct rvt_return_stack *stack = &flow->base.returns;
	uint32_t node;
	uint64_t pc;

	if (!seg->ends_return || !rvt_returns_used(stack))
		return 0;
	pc = rvt_returns_top(stack);
	node = node_at(flow, pc);
	if (!node)
		return 0;
	rvt_returns_pop(stack, &w->order->popped);
	w->order->popped_valid = true;
	w->returns++;
	w->indirect++;
	if (flow->base.counts)
		rvt_counts_return(flow->base.counts, &rvt_segment_path(flow->segments, seg)->last,
				  pc, 1);
	rvt_flow_fetch_return(flow, 0);
	return node;
}

/*
 * Leaves @seg, which leads to no node itself: by the return at its end, or into another block
 * table. Returns the node where that leads, or 0, and has done nothing.
 */
static uint32_t go_beyond(struct rvt_flow *flow, struct rvt_walk *w, const struct rvt_segment *seg)
{
	if (seg->leaves)
		return follow_return(flow, w, seg);
	return node_at(flow, rvt_segment_path(flow->segments, seg)->end_pc);
}

/* Leaves the rest to the block walk, as no segment can be taken here. */
static INLINE bool give_up(struct rvt_walk *w, const struct segment_walk *r)
{
	w->outcomes = r->outcomes;
	do_without(w);
	return false;
}

/* Uses up the outcomes of @seg. */
static INLINE void use_outcomes(struct rvt_flow *flow, struct segment_walk *r,
				const struct rvt_segment *seg, bool predicting)
{
	if (predicting && !r->outcomes.n_bits) {
		r->outcomes.behind -= seg->used;
	} else {
		r->outcomes.bits >>= seg->used;
		r->outcomes.n_bits -= seg->used;
	}
	if (predicting)
		rvt_segment_note_outcomes(&flow->base.predictions, flow->segments, seg);
}

/*
 * Takes the segment of @key. Returns false when none can be taken here, when delivering failed
 * behind it, or when mappings have changed.
 */
static INLINE bool take_segment(struct rvt_flow *flow, struct rvt_walk *w, struct segment_walk *r,
				uint32_t key, bool counting, bool collecting, bool predicting)
{
	struct rvt_segment *seg;

	if (predicting && !r->outcomes.n_bits)
		key = rvt_walk_predict(flow, w->flags, r->at, r->last);
	seg = rvt_segment(flow->segments, r->at, key, r->last);
	if (unlikely(!seg || seg->state < RVT_SEGMENT_CAREFUL)) {
		w->outcomes = r->outcomes;
		seg = learn(flow, w, r->at, key, seg);
		if (!seg)
			return false;
		r->covered = rvt_mapping_covers(flow->mapping, r->table);
	}
	if (unlikely(seg->halfwords > r->room - r->halfwords))
		return give_up(w, r);
	if (unlikely(seg->state == RVT_SEGMENT_CAREFUL || !r->covered)) {
		if (!segment_fits(flow, r->covered, r->last, seg))
			return give_up(w, r);
		add_rest(w, rvt_segment_path(flow->segments, seg));
	} else if (seg->state == RVT_SEGMENT_CALLS) {
		if (seg->nesting && !apply_calls(flow, seg))
			return give_up(w, r);
		w->returns += rvt_segment_returns(seg);
		w->indirect += seg->indirect;
	}
	use_outcomes(flow, r, seg, predicting);
	r->halfwords += seg->halfwords;
	r->insns += seg->insns;
	r->used += seg->used;
	r->taken += seg->taken;
	r->last = seg;
	r->at = seg->next;
	if (counting)
		rvt_count_segment_once(flow, seg);
	if (unlikely(flow->recording))
		rvt_body_add_segment(&flow->body, rvt_segment_number(flow->segments, seg),
				     seg->n_runs, r->half);
	if (!collecting)
		return true;
	rvt_flow_collect_segment(flow, seg);
	return flow->n_runs < RVT_FLOW_BATCH || (!rvt_flow_deliver(flow) && flow->mapping);
}

/* Goes on in the mapping of another node. */
static INLINE void enter_mapping(struct rvt_flow *flow, struct segment_walk *r)
{
	const struct rvt_code_block *block = flow->segments->blocks[r->at];

	r->half = rvt_va_half(block->pub.pc);
	r->table = block->table;
	r->covered = rvt_mapping_covers(flow->mapping, r->table);
}

/*
 * Walks segments from *@node on, as many as are known. Sets *@node to where the flow is then, or 0.
 */
static INLINE const struct rvt_segment *
walk_segments(struct rvt_flow *flow, struct rvt_walk *w, uint32_t *node, bool counting,
	      bool collecting, bool predicting)
{
	struct segment_walk r = {
		.at = *node, .half = rvt_va_half(flow->block->pub.pc), .table = flow->block->table,
		.covered = rvt_mapping_covers(flow->mapping, flow->block->table),
		.outcomes = w->outcomes,
		/* An instruction has at least one half-word, so one limit does for both. */
		.room = w->halfwords_left < w->insns_left ? w->halfwords_left : w->insns_left,
	};
	const struct rvt_mapping *mapping;
	uint32_t key;

	while (segment_key(w, &r, &key, predicting) &&
	       take_segment(flow, w, &r, key, counting, collecting, predicting)) {
		if (unlikely(!r.at)) {
			mapping = flow->mapping;
			r.at = go_beyond(flow, w, r.last);
			if (!r.at)
				break;
			if (flow->mapping != mapping)
				enter_mapping(flow, &r);
		}
	}
	*node = r.at;
	w->outcomes = r.outcomes;
	w->branches += r.used;
	w->taken += r.taken;
	w->halfwords_left -= r.halfwords;
	w->insns += r.insns;
	w->insns_left -= r.insns;
	return r.last;
}

/* Returns the node of flow->block; 0: it is none yet. */
static uint32_t current_node(struct rvt_flow *flow)
{
	const uint64_t pc = flow->block->pub.pc;
	struct rvt_target *target = rvt_flow_target(flow, pc);

	if (target->block != flow->block || !rvt_flow_knows(flow, target, pc))
		return rvt_segments_node(flow->segments, flow->block);
	if (!target->node)
		target->node = rvt_segments_node(flow->segments, flow->block);
	return target->node;
}

/* Puts the flow behind @last, at @node if that is not 0. Returns a stop or RVT_GO_ON. */
static int settle(struct rvt_flow *flow, struct rvt_walk *w, const struct rvt_segment *last,
		  uint32_t node)
{
	const struct rvt_segment_path *path = rvt_segment_path(flow->segments, last);
	struct rvt_code_block *next = node ? flow->segments->blocks[node] : NULL;
	const uint64_t pc = next ? next->pub.pc : path->end_pc;
	const bool leaves = last->leaves && !node;

	flow->has_last = true;
	flow->consecutive = true;
	flow->last_block = path->last;
	flow->last_insn = path->last_insn;
	if (flow->base.counts) {
		rvt_counts_ahead(flow->base.counts, path->last, flow->last_insn, pc);
		flow->base.counts->ahead = !leaves;
	}
	if (leaves)
		return rvt_walk_leave(flow, w, &(struct rvt_leaving){
			path->end, false, path->flags & RVT_SEGMENT_ABSOLUTE, path->end_pc,
			path->flags & RVT_SEGMENT_ABSOLUTE ? path->last->pub.target : 0,
		});
	rvt_walk_go(flow, pc);
	/* Mappings have changed where there is none: the block must be found anew. */
	if (flow->mapping)
		flow->block = next;
	return RVT_GO_ON;
}

int rvt_walk_segments(struct rvt_flow *flow, struct rvt_walk *w)
{
	uint64_t from = flow->block->pub.pc;
	uint32_t node = current_node(flow);
	const struct rvt_segment *last;
	int stop;

	if (!node) {
		do_without(w);
		return RVT_GO_ON;
	}
	rvt_flow_fetch_return(flow, 0);
	if (w->flags & RVT_RUN_PREDICTED)
		last = walk_segments(flow, w, &node, flow->base.counts, flow->base.collect, true);
	else if (flow->base.collect)
		last = walk_segments(flow, w, &node, flow->base.counts, true, false);
	else if (flow->base.counts)
		last = walk_segments(flow, w, &node, true, false, false);
	else
		last = walk_segments(flow, w, &node, false, false, false);
	if (!last)
		return RVT_GO_ON;
	if (flow->base.counts)
		rvt_counts_begin(flow->base.counts, from);
	stop = settle(flow, w, last, node);
	return flow->result ? -ECANCELED : stop;
}
