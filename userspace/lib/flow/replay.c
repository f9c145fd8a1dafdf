// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Block walk: replaying hops.
 */
#include <errno.h>
#include <string.h>
#include "flow/walk.h"

#define unlikely(x) __builtin_expect(!!(x), 0)

static struct rvt_code_block *next_of_hop(void *ctx, struct rvt_code_block *from, bool taken,
					  uint64_t pc)
{
	struct rvt_code_block *b;

	if (from->end >= RVT_END_INDIRECT)
		return rvt_flow_enter(ctx, pc, &b) ? NULL : b;
	return rvt_walk_follow(ctx, from, taken ? &from->taken : &from->next, pc);
}

/* The counts of a hop, which may be forgotten then. */
static void expand(struct rvt_flow *flow, struct rvt_hop *hop)
{
	struct rvt_hop_path *path = rvt_hop_path(flow->hops, hop);

	rvt_counts_path(flow->counts, path->runs, hop->n_runs, hop->times);
	if (!(hop->flags & RVT_HOP_LEAVES))
		rvt_counts_edge(flow->counts, path->last, path->last->insns - 1, path->end_pc,
				hop->times);
	hop->times = 0;
}

void rvt_flow_expand_hops(struct rvt_flow *flow)
{
	struct rvt_hops *hops = flow->hops;

	if (!hops)
		return;
	for (uint32_t i = 0; i < hops->n_counted; i++)
		expand(flow, &hops->hops[hops->counted[i]]);
	hops->n_counted = 0;
}

/* The last outcomes of an order, fewer than a hop may have: true when a hop goes on to its end. */
static bool last_key(const struct rvt_walk *w, uint32_t *key)
{
	*key = (w->bits & ((1u << w->n_bits) - 1)) | 1u << w->n_bits;
	return w->tails && w->outcomes_left == w->n_bits;
}

/* Which hop to look for: true when there are outcomes for one. */
static inline bool hop_key(struct rvt_walk *w, uint32_t *key)
{
	const uint32_t whole = 1u << RVT_HOP_OUTCOMES;

	if (unlikely(w->n_bits < RVT_HOP_OUTCOMES)) {
		rvt_walk_fill(w);
		if (w->n_bits < RVT_HOP_OUTCOMES)
			return last_key(w, key);
	}
	*key = (w->bits & (whole - 1)) | whole;
	return true;
}

/* No hop is known here: the plain walk does its outcomes. */
static void do_without(struct rvt_walk *w)
{
	w->replay_at = w->outcomes_left > RVT_HOP_OUTCOMES ? w->outcomes_left - RVT_HOP_OUTCOMES :
		       0;
	w->tails &= w->outcomes_left > RVT_HOP_OUTCOMES;
}

/* Notes a hop that is not known, and makes it the second time. True if it can be replayed. */
static bool learn(struct rvt_flow *flow, struct rvt_walk *w, uint32_t place, uint32_t key)
{
	struct rvt_hop *hop = rvt_hop(flow->hops, place, key);
	struct rvt_piece *piece = flow->piece;
	const struct rvt_hop_order order = {
		.key = key, .flags = w->flags, .tail = key < 1u << RVT_HOP_OUTCOMES,
		.ctx = flow, .next = next_of_hop,
	};

	if (hop->state == RVT_HOP_UNKNOWN) {
		hop->state = RVT_HOP_SEEN;
	} else if (hop->state == RVT_HOP_SEEN && rvt_hops_have_room(flow->hops)) {
		rvt_hops_build(flow->hops, place, hop, &order);
		flow->piece = piece;
	}
	if (hop->state == RVT_HOP_READY)
		return true;
	/* The hop that is not worth it may be one from the next block on. */
	if (hop->state != RVT_HOP_NONE || order.tail)
		do_without(w);
	return false;
}

/*
 * What the calls and returns of a hop do to the stack. False, and nothing has happened, if this
 * must be done one by one.
 */
static bool replay_calls(struct rvt_flow *flow, const struct rvt_hop *hop)
{
	const struct rvt_hop_path *path = rvt_hop_path(flow->hops, hop);
	struct rvt_return_stack *stack = &flow->returns;

	/* Without a stack calls leave nothing behind to return to. */
	if (!stack->depth)
		return !hop->returns;
	if (stack->recursion_max || path->nesting > stack->depth)
		return false;
	rvt_returns_nest(stack, path->nesting);
	/* Calls drop the oldest entries even if the hop returns from them. */
	if (stack->used + path->nesting > stack->depth)
		stack->used = stack->depth - path->nesting;
	for (unsigned int i = 0; i < path->n_pushes; i++)
		rvt_returns_push(stack, path->pushes[i]);
	return true;
}

/* What is not the same whenever a hop is come to. True: it can be replayed. */
static bool hop_fits(struct rvt_flow *flow, const struct rvt_hop *hop, bool covered,
		     bool after_fall)
{
	const struct rvt_hop_path *path = rvt_hop_path(flow->hops, hop);

	if (!covered && (path->low < flow->piece->start || path->high > flow->piece->last))
		return false;
	if (hop->flags & RVT_HOP_ALONE && after_fall)
		return false;
	return !(hop->flags & RVT_HOP_CALLS) || replay_calls(flow, hop);
}

/* The runs of @hop go to the batch. False: delivering went wrong, or mappings changed. */
static bool replay_runs(struct rvt_flow *flow, const struct rvt_hop *hop)
{
	const struct rvt_hop_path *path = rvt_hop_path(flow->hops, hop);
	struct rvt_run *to = flow->runs + flow->n_runs;

	/* Whole pieces of a fixed size copy faster; the batch has room for the excess. */
	for (unsigned int i = 0; i < hop->n_runs; i += 2)
		memcpy(to + i, path->runs + i, 2 * sizeof(*to));
	flow->n_runs += hop->n_runs;
	return flow->n_runs < RVT_FLOW_BATCH || (!rvt_flow_deliver(flow) && flow->piece);
}

/* Where hops are replayed. */
struct range {
	const struct rvt_view *view;
	bool covered;		/* by the mapping, with all hops in the view */
};

static struct range range_of(const struct rvt_flow *flow, const struct rvt_view *view)
{
	return (struct range){
		.view = view,
		.covered = flow->piece->start <= view->hops_low &&
			   flow->piece->last >= view->hops_high,
	};
}

/*
 * The return at the end of @hop: to the place where it leads, if that is known. Else returns 0,
 * and nothing has happened.
 */
static uint32_t replay_return(struct rvt_flow *flow, struct rvt_walk *w, const struct rvt_hop *hop,
			      struct range *range)
{
	struct rvt_return_stack *stack = &flow->returns;
	const struct rvt_target *target;
	uint64_t pc;

	if (!(hop->flags & RVT_HOP_RETURNS) || !stack->used)
		return 0;
	pc = rvt_returns_top(stack)->pc;
	target = rvt_flow_target(flow, pc);
	if (target->pc != pc || target->epoch != flow->epoch || !target->place)
		return 0;
	rvt_returns_pop(stack, &w->order->popped);
	w->order->popped_valid = true;
	w->returns++;
	w->indirect++;
	if (flow->counts)
		rvt_counts_jump(flow->counts, rvt_hop_path(flow->hops, hop)->last, pc, 1);
	if (target->piece != flow->piece) {
		flow->piece = target->piece;
		*range = range_of(flow, target->block->view);
	}
	return target->place;
}

/* Replays as many hops as are known from *@place on; then that is where the flow is, or 0. */
static inline __attribute__((always_inline)) const struct rvt_hop *
replay_hops(struct rvt_flow *flow, struct rvt_walk *w, uint32_t *place, bool counting,
	    bool collecting)
{
	struct rvt_hops *hops = flow->hops;
	struct range range = range_of(flow, hops->blocks[*place]->view);
	uint64_t halfwords_left = w->halfwords_left, insns_left = w->insns_left;
	bool after_fall = flow->consecutive;
	struct rvt_hop *last = NULL;
	uint64_t branches = 0, taken = 0, returns = 0, indirect = 0;	/* in registers */
	uint32_t at = *place, key;

	while (hop_key(w, &key)) {
		struct rvt_hop *hop = rvt_hop(hops, at, key);

		if (hop->state != RVT_HOP_READY) {
			if (!learn(flow, w, at, key))
				break;
			range = range_of(flow, range.view);
		}
		if (hop->halfwords > halfwords_left || hop->insns > insns_left ||
		    ((!range.covered || hop->flags & (RVT_HOP_CALLS | RVT_HOP_ALONE)) &&
		     !hop_fits(flow, hop, range.covered, after_fall))) {
			do_without(w);
			break;
		}
		w->bits >>= hop->used;
		w->n_bits -= hop->used;
		w->outcomes_left -= hop->used;
		halfwords_left -= hop->halfwords;
		insns_left -= hop->insns;
		branches += hop->branches;
		taken += hop->taken;
		returns += hop->returns;
		indirect += hop->indirect;
		after_fall = hop->flags & RVT_HOP_FALLS;
		last = hop;
		at = hop->next;
		if (counting && !hop->times++)
			hops->counted[hops->n_counted++] = hop - hops->hops;
		if (collecting && !replay_runs(flow, hop)) {
			at = 0;
			break;
		}
		if (unlikely(!at)) {
			at = replay_return(flow, w, hop, &range);
			if (!at)
				break;
		}
	}
	*place = at;
	w->branches += branches;
	w->taken += taken;
	w->returns += returns;
	w->indirect += indirect;
	w->halfwords_left = halfwords_left;
	w->insns += w->insns_left - insns_left;
	w->insns_left = insns_left;
	return last;
}

/* The place of flow->block; 0: none, yet. */
static uint32_t current_place(struct rvt_flow *flow)
{
	struct rvt_target *target = rvt_flow_target(flow, flow->block->pub.pc);

	if (target->block != flow->block || target->epoch != flow->epoch)
		return rvt_hops_place(flow->hops, flow->block);
	if (!target->place)
		target->place = rvt_hops_place(flow->hops, flow->block);
	return target->place;
}

/* The flow is behind @last, at @place if that is not 0. Returns a stop or RVT_GO_ON. */
static int settle(struct rvt_flow *flow, struct rvt_walk *w, const struct rvt_hop *last,
		  uint32_t place)
{
	const struct rvt_hop_path *path = rvt_hop_path(flow->hops, last);
	struct rvt_code_block *next = place ? flow->hops->blocks[place] : NULL;
	bool leaves = last->flags & RVT_HOP_LEAVES && !place;

	flow->has_last = true;
	flow->consecutive = true;
	flow->last_block = path->last;
	flow->last_insn = path->last->insns - 1;
	if (flow->counts) {
		rvt_counts_ahead(flow->counts, path->last, flow->last_insn,
				 next ? next->pub.pc : path->end_pc);
		flow->counts->ahead = !leaves;
	}
	if (leaves)
		return rvt_walk_leave(flow, w, path->last, false, 0);
	return rvt_walk_go(flow, next, next ? next->pub.pc : path->end_pc);
}

int rvt_replay(struct rvt_flow *flow, struct rvt_walk *w)
{
	uint64_t from = flow->block->pub.pc;
	uint32_t place = current_place(flow);
	const struct rvt_hop *last;
	int stop;

	if (!place) {
		do_without(w);
		return RVT_GO_ON;
	}
	if (flow->collect)
		last = replay_hops(flow, w, &place, flow->counts, true);
	else if (flow->counts)
		last = replay_hops(flow, w, &place, true, false);
	else
		last = replay_hops(flow, w, &place, false, false);
	if (!last)
		return RVT_GO_ON;
	if (flow->counts)
		rvt_counts_begin(flow->counts, from);
	stop = settle(flow, w, last, place);
	return flow->result ? -ECANCELED : stop;
}

/* Hops serve orders with outcomes in bits. */
void rvt_replay_prepare(struct rvt_flow *flow, struct rvt_walk *w)
{
	const struct rvt_order *order = w->order;
	uint32_t flags = order->flags & RVT_HOP_RUN_FLAGS;

	if (order->outcome || flow->no_hops)
		return;
	w->tails = order->max_halfwords != RVT_UNLIMITED &&
		   !(order->flags & (RVT_RUN_STOP_PC | RVT_RUN_STOP_USED | RVT_RUN_NOT_TAKEN));
	if (order->n_outcomes < RVT_HOP_OUTCOMES && !w->tails)
		return;
	if (!flow->hops) {
		flow->hops = rvt_hops_create();
		flow->no_hops = !flow->hops;
		if (flow->no_hops)
			return;
		flow->hops->flags = flags;
	}
	if (flow->hops->flags != flags || !rvt_hops_have_room(flow->hops)) {
		if (flow->counts)
			rvt_flow_expand_hops(flow);
		rvt_hops_reset(flow->hops, flags);
		rvt_flow_new_epoch(flow);
		flow->seen_epoch = flow->epoch;
	}
	w->replays = true;
	w->replay_at = order->n_outcomes;
}
