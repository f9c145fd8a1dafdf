// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Block walk: replaying hops.
 */
#include <errno.h>
#include <string.h>
#include "flow/memo/leaps.h"
#include "flow/memo/table-pool.h"
#include "flow/walk/walk.h"

#define unlikely(x) __builtin_expect(!!(x), 0)
#define INLINE inline __attribute__((always_inline))

static struct rvt_code_block *next_of_hop(void *ctx, struct rvt_code_block *from, bool taken,
					  uint64_t pc)
{
	struct rvt_code_block *b;

	if (from->end >= RVT_END_INDIRECT)
		return rvt_flow_enter(ctx, pc, &b) ? NULL : b;
	return rvt_walk_follow(ctx, from, taken ? &from->taken : &from->next, pc);
}

struct rvt_hop *rvt_replay_learn(struct rvt_flow *flow, uint32_t flags, uint32_t place,
				 uint32_t key)
{
	struct rvt_mapping *piece = flow->piece;
	const struct rvt_hop_order order = {
		.key = key, .flags = flags, .ctx = flow, .next = next_of_hop,
	};
	struct rvt_hop *hop = rvt_hops_learn(flow->hops, place, &order);

	flow->piece = piece;
	return hop;
}

/* No hop is known here: the plain walk does its outcomes. */
static void do_without(struct rvt_walk *w)
{
	w->replay_at = w->outcomes_left > RVT_HOP_OUTCOMES ? w->outcomes_left - RVT_HOP_OUTCOMES :
		       0;
	w->tails &= w->outcomes_left > RVT_HOP_OUTCOMES;
	w->ends &= w->outcomes_left > RVT_HOP_OUTCOMES;
}

/*
 * The hop of @key, which is not known, or one that is not worth it (@hop). NULL: there is none that
 * can be replayed.
 */
static struct rvt_hop *learn(struct rvt_flow *flow, struct rvt_walk *w, uint32_t place,
			     uint32_t key, struct rvt_hop *hop)
{
	if (!hop)
		hop = rvt_replay_learn(flow, w->flags, place, key);
	if (hop && hop->state != RVT_HOP_NONE)
		return hop;
	/* The hop that is not worth it may be one from the next block on. */
	if (!hop || (rvt_hop_key_outcomes(key) < RVT_HOP_OUTCOMES && !(key & RVT_HOP_END)))
		do_without(w);
	return NULL;
}

/* Where the next return leads is looked up soon. */
static INLINE void fetch_return(struct rvt_flow *flow)
{
	if (rvt_returns_used(&flow->returns))
		__builtin_prefetch(rvt_flow_target(flow, rvt_returns_top(&flow->returns)));
}

/*
 * What the calls and returns of a hop do to the stack. False, and nothing has happened, if this
 * must be done one by one.
 */
static bool replay_calls(struct rvt_flow *flow, const struct rvt_hop *hop)
{
	const uint64_t *pushes = rvt_hop_pushes(flow->hops, hop);
	struct rvt_return_stack *stack = &flow->returns;

	/* Without a stack calls leave nothing behind to return to. */
	if (!stack->depth)
		return !rvt_hop_returns(hop);
	if (stack->recursion_max || hop->nesting > stack->depth)
		return false;
	/* Calls drop the oldest entries even if the hop returns from them. */
	rvt_returns_nest(stack, hop->nesting);
	for (unsigned int i = 0; i < hop->n_pushes; i++)
		rvt_returns_push(stack, pushes[i]);
	fetch_return(flow);
	return true;
}

/* False: delivering went wrong, or mappings changed. */
static INLINE bool deliver_full(struct rvt_flow *flow)
{
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
		.covered = rvt_mapping_covers(flow->piece, view),
	};
}

/*
 * Replaying: where it is, and what it has done. All of it is in registers as long as only functions
 * that are inlined get a pointer to it.
 */
struct replay {
	uint32_t at;			/* place; 0: not known */
	unsigned int half;		/* of it */
	struct range range;
	uint32_t n_bits;		/* these are as in struct rvt_walk */
	uint64_t bits;
	uint64_t behind;		/* outcomes that are not in .bits */
	struct rvt_hop *last;		/* NULL: none yet */
	uint64_t room;			/* half-words that may be executed */
	uint64_t halfwords, insns;
	uint64_t used, taken;		/* outcomes, as if all of them were of branches */
	uint64_t leap_at;		/* with so many outcomes left: may be a leap */
};

/* An instruction has at least one half-word, so one limit does for both. */
static uint64_t room_of(const struct rvt_walk *w)
{
	return w->halfwords_left < w->insns_left ? w->halfwords_left : w->insns_left;
}

static INLINE uint64_t outcomes_left(const struct replay *r)
{
	return r->n_bits + r->behind;
}

static INLINE void use_up(struct replay *r, unsigned int used)
{
	r->bits >>= used;
	r->n_bits -= used;
}

/* What of @w is in @r goes there, and comes from there. */
static INLINE void put_outcomes(struct rvt_walk *w, const struct replay *r)
{
	w->bits = r->bits;
	w->n_bits = r->n_bits;
	w->outcomes_left = outcomes_left(r);
}

static INLINE void get_outcomes(const struct rvt_walk *w, struct replay *r)
{
	r->bits = w->bits;
	r->n_bits = w->n_bits;
	r->behind = w->outcomes_left - w->n_bits;
}

static INLINE void fill(struct rvt_walk *w, struct replay *r)
{
	put_outcomes(w, r);
	rvt_walk_fill(w);
	get_outcomes(w, r);
}

/* Which hop to look for: true when there are outcomes for one. */
static INLINE bool hop_key(struct rvt_walk *w, struct replay *r, uint32_t *key)
{
	if (unlikely(r->n_bits < RVT_HOP_OUTCOMES)) {
		fill(w, r);
		if (r->n_bits < RVT_HOP_OUTCOMES) {
			/* The last of the order: a hop may go on to its end. */
			*key = rvt_hop_key(r->bits, r->n_bits);
			if (w->tails)
				return !r->behind;
			*key |= RVT_HOP_END;
			return w->ends && r->n_bits;
		}
	}
	*key = rvt_hop_key(r->bits, RVT_HOP_OUTCOMES);
	return true;
}

/* Whether what was executed last, with @last if that is not NULL, just went on to where we are. */
static bool is_after_fall(const struct rvt_flow *flow, const struct rvt_hop *last)
{
	return last ? last->falls : flow->consecutive;
}

/* What is not the same whenever @hop is come to behind @last. True: it can be replayed. */
static bool hop_fits(struct rvt_flow *flow, bool covered, const struct rvt_hop *last,
		     const struct rvt_hop *hop)
{
	const struct rvt_hop_path *path = rvt_hop_path(flow->hops, hop);

	if (!covered && (path->low < flow->piece->start || path->high > flow->piece->last))
		return false;
	if (path->flags & RVT_HOP_ALONE && is_after_fall(flow, last))
		return false;
	return !hop->nesting || replay_calls(flow, hop);
}

/* What only some hops have. */
static void add_rest(struct rvt_walk *w, const struct rvt_hop_path *path)
{
	w->returns += path->returns;
	w->indirect += path->indirect;
	/* All that use up outcomes are added up as if they were branches. */
	w->branches -= path->jumps;
	w->taken -= path->jumps;
}

/* The place at @pc, whose piece is that of the flow then; 0: not known, and nothing happened. */
static uint32_t place_at(struct rvt_flow *flow, uint64_t pc)
{
	const struct rvt_target *target = rvt_flow_target(flow, pc);

	if (!rvt_flow_knows(flow, target, pc) || !target->place)
		return 0;
	flow->piece = target->piece;
	return target->place;
}

static uint32_t replay_return(struct rvt_flow *flow, struct rvt_walk *w, const struct rvt_hop *hop)
{
	struct rvt_return_stack *stack = &flow->returns;
	uint32_t place;
	uint64_t pc;

	if (!hop->ends_return || !rvt_returns_used(stack))
		return 0;
	pc = rvt_returns_top(stack);
	place = place_at(flow, pc);
	if (!place)
		return 0;
	rvt_returns_pop(stack, &w->order->popped);
	w->order->popped_valid = true;
	w->returns++;
	w->indirect++;
	if (flow->counts)
		rvt_counts_return(flow->counts, &rvt_hop_path(flow->hops, hop)->last, pc);
	if (flow->leaps->recording)
		rvt_leaps_add_return(flow->leaps, pc);
	fetch_return(flow);
	return place;
}

/*
 * From @hop, which leads to no place: by the return at its end, or into another view. Returns the
 * place where that is, or 0, and nothing has happened.
 */
static uint32_t go_beyond(struct rvt_flow *flow, struct rvt_walk *w, const struct rvt_hop *hop)
{
	if (hop->leaves)
		return replay_return(flow, w, hop);
	return place_at(flow, rvt_hop_path(flow->hops, hop)->end_pc);
}

/* No hop can be taken here. */
static INLINE bool give_up(struct rvt_walk *w, const struct replay *r)
{
	put_outcomes(w, r);
	do_without(w);
	return false;
}

/* Takes the hop of @key. False: there is none that can be taken here. */
static INLINE bool take_hop(struct rvt_flow *flow, struct rvt_walk *w, struct replay *r,
			    uint32_t key, bool counting, bool collecting)
{
	struct rvt_hop *hop = rvt_hop(flow->hops, r->at, key, r->last);

	if (unlikely(!hop || hop->state < RVT_HOP_CAREFUL)) {
		put_outcomes(w, r);
		hop = learn(flow, w, r->at, key, hop);
		if (!hop)
			return false;
		r->range = range_of(flow, r->range.view);
	}
	if (unlikely(hop->halfwords > r->room - r->halfwords))
		return give_up(w, r);
	if (unlikely(hop->state == RVT_HOP_CAREFUL || !r->range.covered)) {
		if (!hop_fits(flow, r->range.covered, r->last, hop))
			return give_up(w, r);
		add_rest(w, rvt_hop_path(flow->hops, hop));
	} else if (hop->state == RVT_HOP_CALLS) {
		if (hop->nesting && !replay_calls(flow, hop))
			return give_up(w, r);
		w->returns += rvt_hop_returns(hop);
		w->indirect += hop->indirect;
	}
	use_up(r, hop->used);
	r->halfwords += hop->halfwords;
	r->insns += hop->insns;
	r->used += hop->used;
	r->taken += hop->taken;
	r->last = hop;
	r->at = hop->next;
	if (counting)
		rvt_flow_count_once(flow, hop);
	if (collecting)
		rvt_flow_collect_hop(flow, hop);
	else if (unlikely(flow->leaps->recording))
		rvt_leaps_add(flow->leaps, flow->hops, hop);
	if (unlikely(flow->recording))
		rvt_steps_add_hops(flow, &(uint32_t){ rvt_hop_number(flow->hops, hop) }, 1,
				   r->half);
	return true;
}

/* What is not the same whenever a leap is come to. True: it can be taken. */
static INLINE bool leap_fits(struct rvt_flow *flow, const struct replay *r,
			     const struct rvt_leap *leap)
{
	return leap->halfwords <= r->room - r->halfwords &&
	       !(leap->flags & RVT_LEAP_ALONE && is_after_fall(flow, r->last)) &&
	       (!(leap->flags & RVT_LEAP_CALLS) ||
		rvt_returns_replay(&flow->returns, rvt_leap_calls(flow->leaps, leap)));
}

static INLINE void take_leap(struct rvt_flow *flow, struct rvt_walk *w, struct replay *r,
			     struct rvt_leap *leap, bool counting)
{
	use_up(r, leap->used);
	r->halfwords += leap->halfwords;
	r->insns += leap->insns;
	r->used += leap->branches;
	r->taken += leap->taken;
	w->returns += leap->returns;
	w->indirect += leap->indirect;
	r->last = rvt_hop_at(flow->hops, leap->last);
	r->at = leap->next;
	if (leap->flags & RVT_LEAP_POPS) {
		w->order->popped = leap->popped;
		w->order->popped_valid = true;
	}
	if (flow->piece != leap->piece) {
		flow->piece = leap->piece;
		r->range = range_of(flow, r->at ? flow->hops->blocks[r->at]->view :
				    rvt_hop_path(flow->hops, r->last)->last->view);
	}
	if (counting)
		rvt_leap_count(flow->leaps, leap, 1);
	if (unlikely(flow->recording))
		rvt_steps_add_hops(flow, rvt_leap_hops(flow->leaps, leap), leap->n_hops, r->half);
}

/* Which leap to look for; false: none. Sets when to look for the next one. */
static INLINE bool leap_key(const struct rvt_flow *flow, struct rvt_walk *w, struct replay *r,
			    struct rvt_leap_key *key)
{
	const uint64_t left = outcomes_left(r);

	r->leap_at = 0;
	if (left <= RVT_HOP_OUTCOMES || flow->returns.recursion_max)
		return false;
	if (r->n_bits < RVT_LEAP_OUTCOMES)
		fill(w, r);
	*key = (struct rvt_leap_key){
		r->at, r->bits & (UINT64_MAX >> (64 - RVT_LEAP_OUTCOMES)), flow->epochs[r->half],
	};
	if (left >= RVT_LEAP_OUTCOMES) {
		r->leap_at = left - RVT_LEAP_ENDS;
		return true;
	}
	key->place |= w->tails ? RVT_LEAP_TAIL : RVT_LEAP_REST;
	key->outcomes = (key->outcomes & ((1u << left) - 1)) | 1u << left;
	return true;
}

/* The leap from here on, if it is known and can be taken. NULL: hops go on, maybe recorded. */
static INLINE struct rvt_leap *find_leap(struct rvt_flow *flow, struct rvt_walk *w,
					 struct replay *r)
{
	struct rvt_leaps *leaps = flow->leaps;
	struct rvt_leap_key key;
	struct rvt_leap *leap;

	if (leaps->recording)
		rvt_leaps_keep(leaps, &flow->returns, r->at, flow->piece);
	if (!leap_key(flow, w, r, &key))
		return NULL;
	leap = rvt_leap_slot(leaps, rvt_leap_hash(&key));
	if (rvt_leap_is(leap, &key) && leap_fits(flow, r, leap)) {
		r->leap_at = outcomes_left(r);
		return leap;
	}
	rvt_leaps_record(leaps, &flow->returns, &key);
	return NULL;
}

/* Hops go on in another piece than before. */
static INLINE void enter_piece(struct rvt_flow *flow, struct replay *r)
{
	const struct rvt_code_block *block = flow->hops->blocks[r->at];
	const unsigned int half = rvt_half(block->pub.pc);

	r->range = range_of(flow, block->view);
	/* A leap holds for the code of one half. */
	if (half != r->half && flow->leaps->recording)
		rvt_leaps_drop(flow->leaps, &flow->returns);
	r->half = half;
}

/* What replaying has done is done by the order. */
static INLINE void add_up(struct rvt_walk *w, const struct replay *r)
{
	put_outcomes(w, r);
	w->branches += r->used;
	w->taken += r->taken;
	w->halfwords_left -= r->halfwords;
	w->insns += r->insns;
	w->insns_left -= r->insns;
}

/*
 * Where runs are collected, leaps take more time than they save; and for an order of few outcomes,
 * as all of E-Trace are: what comes again of these is a step.
 */
static bool may_leap(const struct rvt_walk *w)
{
	return w->order->n_outcomes >= RVT_LEAP_OUTCOMES;
}

/* Replays as many hops as are known from *@place on; then that is where the flow is, or 0. */
static INLINE const struct rvt_hop *
replay_hops(struct rvt_flow *flow, struct rvt_walk *w, uint32_t *place, bool counting,
	    bool collecting)
{
	struct replay r = {
		.at = *place, .room = room_of(w),
		.half = rvt_half(flow->block->pub.pc),
		.range = range_of(flow, flow->block->view),
		.leap_at = collecting || !may_leap(w) ? 0 : w->outcomes_left,
	};
	const struct rvt_mapping *piece;
	struct rvt_leap *leap;
	bool complete = false;		/* it ended for what a leap is made of */
	uint32_t key;

	get_outcomes(w, &r);
	for (;;) {
		leap = NULL;
		if (!collecting && outcomes_left(&r) <= r.leap_at)
			leap = find_leap(flow, w, &r);
		if (leap)
			take_leap(flow, w, &r, leap, counting);
		else if (!hop_key(w, &r, &key))
			complete = true;
		else if (!take_hop(flow, w, &r, key, counting, collecting))
			break;
		if (complete)
			break;
		if (collecting && !deliver_full(flow))
			break;
		if (unlikely(!r.at)) {
			piece = flow->piece;
			r.at = go_beyond(flow, w, r.last);
			complete = !r.at;
			if (complete)
				break;
			if (flow->piece != piece)
				enter_piece(flow, &r);
		}
	}
	if (flow->leaps->recording) {
		if (complete)
			rvt_leaps_keep(flow->leaps, &flow->returns, r.at, flow->piece);
		else
			rvt_leaps_drop(flow->leaps, &flow->returns);
	}
	*place = r.at;
	add_up(w, &r);
	return r.last;
}

/* The place of flow->block; 0: none, yet. */
static uint32_t current_place(struct rvt_flow *flow)
{
	const uint64_t pc = flow->block->pub.pc;
	struct rvt_target *target = rvt_flow_target(flow, pc);

	if (target->block != flow->block || !rvt_flow_knows(flow, target, pc))
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
	const uint64_t pc = next ? next->pub.pc : path->end_pc;
	const bool leaves = last->leaves && !place;

	flow->has_last = true;
	flow->consecutive = true;
	flow->last_block = path->last;
	flow->last_insn = path->last_insn;
	if (flow->counts) {
		rvt_counts_ahead(flow->counts, path->last, flow->last_insn, pc);
		flow->counts->ahead = !leaves;
	}
	if (leaves)
		return rvt_walk_leave(flow, w, &(struct rvt_leaving){
			path->end, false, path->flags & RVT_HOP_ABSOLUTE, path->end_pc,
			path->flags & RVT_HOP_ABSOLUTE ? path->last->pub.target : 0,
		});
	/* Without a piece mappings have changed: it must be looked up. */
	return rvt_walk_go(flow, flow->piece ? next : NULL, pc);
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
	fetch_return(flow);
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

static bool make_tables(struct rvt_flow *flow, uint32_t flags)
{
	struct rvt_hops *hops;
	struct rvt_leaps *leaps;

	if (flow->teacher)
		rvt_flow_learn(flow);
	rvt_flow_inherit(flow);
	if (flow->hops)
		return true;
	hops = rvt_hops_create();
	leaps = rvt_leaps_create();
	if (!hops || !leaps) {
		rvt_hops_destroy(hops);
		rvt_leaps_destroy(leaps);
		flow->no_hops = true;
		return false;
	}
	hops->flags = flags;
	flow->hops = hops;
	flow->leaps = leaps;
	return true;
}

/*
 * Begins anew, for orders with @flags, when there is no more room or they were others. False: not
 * now, some counts are set aside.
 */
static bool reset_tables(struct rvt_flow *flow, uint32_t flags)
{
	if (flow->aside.left) {
		flow->aside.full = true;
		return flow->hops->flags == flags;
	}
	if (flow->counts)
		rvt_flow_expand_hops(flow);
	rvt_leaps_reset(flow->leaps);
	if (flow->hops->flags == flags && rvt_hops_have_room(flow->hops))
		return true;
	rvt_steps_reset(flow);
	if (flow->counts)
		rvt_flow_expand_hops(flow);
	rvt_hops_reset(flow->hops, flags);
	rvt_flow_new_epoch(flow);
	flow->seen_epoch = flow->epochs[0];
	return true;
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
	w->ends = order->flags & RVT_RUN_STOP_USED && !(order->flags & RVT_RUN_STOP_PC) &&
		  order->n_outcomes;
	if (order->n_outcomes < RVT_HOP_OUTCOMES && !w->tails && !w->ends)
		return;
	if (!flow->hops && !make_tables(flow, flags))
		return;
	if ((flow->hops->flags != flags || !rvt_hops_have_room(flow->hops) ||
	     !rvt_leaps_have_room(flow->leaps)) && !reset_tables(flow, flags))
		return;
	w->replays = true;
	w->replay_at = order->n_outcomes;
}
