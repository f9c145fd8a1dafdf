// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Block walk: executes whole blocks, and follows links between them.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "flow/engine.h"

#define unlikely(x) __builtin_expect(!!(x), 0)

/* An order in progress. */
struct walk {
	struct rvt_order *order;
	uint32_t flags;
	uint64_t bits;			/* outcomes not used yet, the next in bit 0 */
	uint64_t outcomes_left;
	uint32_t n_bits;		/* of them in .bits */
	uint32_t n_ahead;		/* in .ahead: those that follow */
	uint64_t ahead;
	uint64_t halfwords_left, insns_left;
	uint64_t insns;			/* executed */
	uint64_t branches, taken, indirect;
	uint64_t returns;		/* inferred */
	bool replays;			/* hops may be replayed */
	bool tails;			/* also those to the indirect jump behind the last outcome */
	uint64_t replay_at;		/* when so many outcomes are left, or fewer */
};

enum { GO_ON = -1 };

/* The first limit that forbids executing another instruction; GO_ON if none does. */
static int limit_reached(const struct walk *w)
{
	if (!w->insns_left)
		return RVT_STOP_INSNS;
	return w->halfwords_left ? GO_ON : RVT_STOP_HALFWORDS;
}

static bool at_stop_pc(const struct walk *w, uint64_t pc)
{
	return w->flags & RVT_RUN_STOP_PC && !w->outcomes_left && w->insns &&
	       pc == w->order->stop_pc;
}

/* @count instructions of @b from flow->insn on, @halfwords long, are executed. */
static int execute(struct rvt_flow *flow, struct walk *w, struct rvt_code_block *b,
		   uint32_t count, uint32_t halfwords)
{
	uint32_t first = flow->insn;

	flow->insn += count;
	flow->halfword += halfwords;
	flow->has_last = true;
	flow->consecutive = true;
	flow->last_block = b;
	flow->last_insn = flow->insn - 1;
	w->insns += count;
	w->insns_left -= count;
	w->halfwords_left -= halfwords;
	return rvt_flow_emit(flow, b, first, count);
}

/*
 * Some limit lies inside the rest of @b, or may: single steps up to it, but not to instruction
 * number @end. Returns the stop, or GO_ON when that is next.
 */
static int step(struct rvt_flow *flow, struct walk *w, struct rvt_code_block *b, uint32_t end)
{
	uint64_t insns = w->insns_left, halfwords = w->halfwords_left;
	uint64_t pc = rvt_flow_current(flow);
	bool executed = w->insns;
	uint32_t i = flow->insn, done = 0;
	int stop = GO_ON;

	for (; i < end; i++) {
		uint32_t length = b->pub.halfwords[i];

		if (!insns)
			stop = RVT_STOP_INSNS;
		else if (!halfwords)
			stop = RVT_STOP_HALFWORDS;
		else if (w->flags & RVT_RUN_STOP_PC && !w->outcomes_left && executed &&
			 pc == w->order->stop_pc)
			stop = RVT_STOP_PC;
		else if (length > halfwords)
			stop = RVT_STOP_MID_INSN;
		if (stop != GO_ON)
			break;
		insns--;
		halfwords -= length;
		pc += 2 * length;
		done += length;
		executed = true;
	}
	if (i > flow->insn && execute(flow, w, b, i - flow->insn, done))
		return -ECANCELED;
	return stop;
}

/* Whether @b can be executed to its last instruction, and that too, without hitting a limit. */
static inline bool fits(const struct rvt_flow *flow, const struct walk *w,
			const struct rvt_code_block *b)
{
	if (b->halfwords - flow->halfword > w->halfwords_left ||
	    b->insns - flow->insn > w->insns_left)
		return false;
	return !(w->flags & RVT_RUN_STOP_PC) || w->outcomes_left ||
	       w->order->stop_pc - b->pub.pc >= b->pub.bytes;
}

static struct rvt_code_block *follow(struct rvt_flow *flow, struct rvt_code_block *from,
				     _Atomic(struct rvt_code_block *) *link, uint64_t pc)
{
	struct rvt_code_block *b = atomic_load_explicit(link, memory_order_acquire);
	struct rvt_piece *piece = flow->piece;

	if (!piece)
		return NULL;
	/* A view may be mapped in parts: the link must stay in the part that we are in. */
	if (b && b->pub.pc - piece->start <= piece->last - piece->start &&
	    b->pub.bytes - 1 <= piece->last - b->pub.pc)
		return b;
	if (rvt_flow_enter(flow, pc, &b))
		return NULL;
	if (from->view && b->view == from->view)
		atomic_store_explicit(link, b, memory_order_release);
	return b;
}

/* Continues at @pc, whose block is @b or, when that is NULL, has yet to be found. */
static inline int go(struct rvt_flow *flow, struct rvt_code_block *b, uint64_t pc)
{
	flow->block = b;
	flow->pc = pc;
	flow->insn = 0;
	flow->halfword = 0;
	return GO_ON;
}

/* More outcomes into .bits, if there are more. */
static void fill(struct walk *w)
{
	uint32_t n;

	if (!w->n_ahead) {
		if (w->outcomes_left <= w->n_bits)
			return;
		w->n_ahead = w->order->refill(w->order->refill_ctx, &w->ahead);
	}
	n = 64 - w->n_bits < w->n_ahead ? 64 - w->n_bits : w->n_ahead;
	w->bits |= w->ahead << w->n_bits;
	w->n_bits += n;
	w->n_ahead -= n;
	w->ahead = n < 64 ? w->ahead >> n : 0;
}

/* Whether the end of @b uses up an outcome. */
static bool needs_outcome(const struct walk *w, const struct rvt_code_block *b)
{
	return b->end == RVT_END_BRANCH ||
	       (w->flags & RVT_RUN_ALL_JUMPS && (b->end == RVT_END_JUMP || b->end == RVT_END_CALL));
}

/*
 * The outcome for the end of @b: 0 or 1, or -1 when there is none, or none that fits. @last: it
 * uses up the last half-word.
 */
static inline int take_outcome(struct walk *w, const struct rvt_code_block *b, bool last)
{
	int taken;

	if (!w->outcomes_left) {
		if (w->flags & RVT_RUN_LAST_TAKEN && last)
			return 1;
		return w->flags & RVT_RUN_NOT_TAKEN && b->end == RVT_END_BRANCH ? 0 : -1;
	}
	if (w->order->outcome) {
		taken = w->order->outcome(w->order->outcome_ctx,
					  b->end_pc - 2 * b->last_halfwords);
	} else {
		if (!w->n_bits)
			fill(w);
		taken = w->bits & 1;
		if (!taken && b->end != RVT_END_BRANCH)
			return -1;
		w->bits >>= 1;
		w->n_bits--;
	}
	w->outcomes_left--;
	return taken;
}

/* True when the indirect jump at the end of @b goes where the instruction before it says. */
static bool infer_sequential(struct rvt_flow *flow, const struct walk *w,
			     const struct rvt_code_block *b, bool consecutive, uint64_t *target)
{
	uint64_t jump_pc = b->end_pc - 2 * b->last_halfwords, load_pc;
	struct rvt_insn load, jump;
	enum rvt_insn_class iclass;

	if (!(w->flags & RVT_RUN_SEQUENTIAL_JUMP))
		return false;
	/* The usual case: both are in this block, and were executed in a row. */
	if (b->sequential && consecutive) {
		*target = b->sequential_target;
		return true;
	}
	/* The block begins with the jump. */
	if (b->pub.insns != 1 || !consecutive || !rvt_flow_last(flow, &load_pc, &iclass))
		return false;
	if (iclass != RVT_INSN_SEQUENTIAL || rvt_flow_peek_at(flow, load_pc, &load) ||
	    rvt_code_addr(&flow->code, load_pc + load.len_bytes) != jump_pc ||
	    rvt_flow_peek_at(flow, jump_pc, &jump))
		return false;
	return rvt_code_sequential(&flow->code, load_pc, &load, &jump, target);
}

/* Leaves @b by its last instruction, which was executed. @inferred: its target is known. */
static int leave_indirect(struct rvt_flow *flow, struct walk *w, struct rvt_code_block *b,
			  bool inferred, uint64_t target)
{
	struct rvt_order *order = w->order;
	bool is_return = b->end == RVT_END_RETURN ||
			 (b->end == RVT_END_COROUTINE && w->flags & RVT_RUN_COROUTINE);

	w->indirect++;
	if (is_return)
		order->popped_valid = rvt_returns_pop(&flow->returns, &order->popped);
	if (b->end == RVT_END_IND_CALL || (b->end == RVT_END_COROUTINE && is_return))
		rvt_returns_push(&flow->returns, b->end_pc);
	if (inferred)
		return go(flow, NULL, target);
	go(flow, NULL, b->end_pc);
	flow->consecutive = false;
	if (is_return && w->flags & RVT_RUN_STOP_RETURN)
		return RVT_STOP_RETURN;
	if (is_return && w->flags & RVT_RUN_IMPLICIT_RETURN && order->popped_valid) {
		w->returns++;
		return go(flow, NULL, order->popped);
	}
	if (b->absolute && w->flags & RVT_RUN_ABSOLUTE_JUMP)
		return go(flow, NULL, b->pub.target);
	return RVT_STOP_TARGET;
}

/* Executes what is left of @b, which no limit forbids, and moves on to its successor. */
static int run_block(struct rvt_flow *flow, struct walk *w, struct rvt_code_block *b)
{
	uint32_t count = b->insns - flow->insn, halfwords = b->halfwords - flow->halfword;
	bool inferred = false;
	uint64_t target = 0;
	int taken = 0;

	if (needs_outcome(w, b)) {
		taken = take_outcome(w, b, w->halfwords_left == halfwords);
		if (taken < 0) {
			int stop = step(flow, w, b, b->insns - 1);

			return stop == GO_ON ? RVT_STOP_OUTCOME : stop;
		}
	} else if (b->end >= RVT_END_INDIRECT && b->end <= RVT_END_RETURN) {
		inferred = infer_sequential(flow, w, b, count > 1 || flow->consecutive, &target);
	}
	if (execute(flow, w, b, count, halfwords))
		return -ECANCELED;
	switch (b->end) {
	case RVT_END_FALL:
		return go(flow, follow(flow, b, &b->next, b->end_pc), b->end_pc);
	case RVT_END_BRANCH:
		w->branches++;
		w->taken += taken;
		if (taken)
			return go(flow, follow(flow, b, &b->taken, b->pub.target), b->pub.target);
		return go(flow, follow(flow, b, &b->next, b->end_pc), b->end_pc);
	case RVT_END_CALL:
		rvt_returns_push(&flow->returns, b->end_pc);
		/* fall through */
	case RVT_END_JUMP:
		return go(flow, follow(flow, b, &b->taken, b->pub.target), b->pub.target);
	case RVT_END_TRAP_INSN:
		return GO_ON;
	default:
		return leave_indirect(flow, w, b, inferred, target);
	}
}

/* About to execute the ecall or ebreak at the end of @b. */
static int at_trap_insn(struct walk *w, const struct rvt_code_block *b)
{
	int stop = limit_reached(w);

	if (stop != GO_ON)
		return stop;
	if (at_stop_pc(w, b->end_pc - 2 * b->last_halfwords))
		return RVT_STOP_PC;
	if (w->flags & RVT_RUN_ECALL_COUNTS) {
		if (b->last_halfwords > w->halfwords_left)
			return RVT_STOP_MID_INSN;
		w->halfwords_left -= b->last_halfwords;
	}
	return RVT_STOP_TRAP_INSN;
}

/* Finds the block at flow->pc. */
static int find(struct rvt_flow *flow, struct walk *w)
{
	int stop = limit_reached(w), ret;

	if (stop != GO_ON)
		return stop;
	if (at_stop_pc(w, flow->pc))
		return RVT_STOP_PC;
	ret = rvt_flow_enter(flow, flow->pc, &flow->block);
	flow->insn = 0;
	flow->halfword = 0;
	if (!ret)
		return GO_ON;
	flow->block = NULL;
	if (ret == -ENOENT)
		return RVT_STOP_NO_CODE;
	return ret == -EILSEQ ? RVT_STOP_BAD_INSN : ret;
}

/* As run_block(), but a limit may lie in @b. */
static int run_limited(struct rvt_flow *flow, struct walk *w, struct rvt_code_block *b)
{
	int stop = step(flow, w, b, b->insns - 1);

	if (stop == GO_ON)
		stop = limit_reached(w);
	if (stop != GO_ON)
		return stop;
	if (at_stop_pc(w, rvt_flow_current(flow)))
		return RVT_STOP_PC;
	if (b->pub.halfwords[b->insns - 1] > w->halfwords_left)
		return RVT_STOP_MID_INSN;
	return run_block(flow, w, b);
}

/*
 * RVT_RUN_STOP_USED with no outcome left: the order is done, unless another stop holds here.
 */
static int all_used(struct rvt_flow *flow, struct walk *w, struct rvt_code_block *b)
{
	int stop = limit_reached(w);

	if (stop != GO_ON)
		return stop;
	if (at_stop_pc(w, rvt_flow_current(flow)))
		return RVT_STOP_PC;
	if (flow->insn == b->insns)
		return at_trap_insn(w, b);
	if (b->pub.halfwords[flow->insn] > w->halfwords_left)
		return RVT_STOP_MID_INSN;
	if (flow->insn + 1 == b->pub.insns && needs_outcome(w, b))
		return RVT_STOP_OUTCOME;
	return RVT_STOP_USED;
}

/* ---- replaying hops ---- */

static struct rvt_code_block *next_of_hop(void *ctx, struct rvt_code_block *from, bool taken,
					  uint64_t pc)
{
	struct rvt_code_block *b;

	if (from->end >= RVT_END_INDIRECT)
		return rvt_flow_enter(ctx, pc, &b) ? NULL : b;
	return follow(ctx, from, taken ? &from->taken : &from->next, pc);
}

static void expand_return(struct rvt_flow *flow, struct rvt_hop_path *path)
{
	if (path->return_times)
		rvt_counts_edge(flow->counts, path->last, path->last->insns - 1, path->return_pc,
				path->return_times);
	path->return_times = 0;
}

/* The counts of a hop, which may be forgotten then. */
static void expand(struct rvt_flow *flow, struct rvt_hop *hop)
{
	struct rvt_hop_path *path = rvt_hop_path(flow->hops, hop);

	rvt_counts_path(flow->counts, path->runs, hop->n_runs, hop->times);
	if (!(hop->flags & RVT_HOP_LEAVES))
		rvt_counts_edge(flow->counts, path->last, path->last->insns - 1, path->end_pc,
				hop->times);
	else
		expand_return(flow, path);
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
static bool last_key(const struct walk *w, uint32_t *key)
{
	*key = (w->bits & ((1u << w->n_bits) - 1)) | 1u << w->n_bits;
	return w->tails && w->outcomes_left == w->n_bits;
}

/* Which hop to look for: true when there are outcomes for one. */
static inline bool hop_key(struct walk *w, uint32_t *key)
{
	const uint32_t whole = 1u << RVT_HOP_OUTCOMES;

	if (unlikely(w->n_bits < RVT_HOP_OUTCOMES)) {
		fill(w);
		if (w->n_bits < RVT_HOP_OUTCOMES)
			return last_key(w, key);
	}
	*key = (w->bits & (whole - 1)) | whole;
	return true;
}

/* No hop is known here: the plain walk does its outcomes. */
static void do_without(struct walk *w)
{
	w->replay_at = w->outcomes_left > RVT_HOP_OUTCOMES ? w->outcomes_left - RVT_HOP_OUTCOMES :
		       0;
	w->tails &= w->outcomes_left > RVT_HOP_OUTCOMES;
}

/* Notes a hop that is not known, and makes it the second time. True if it can be replayed. */
static bool learn(struct rvt_flow *flow, struct walk *w, uint32_t place, uint32_t key)
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
static uint32_t replay_return(struct rvt_flow *flow, struct walk *w, const struct rvt_hop *hop,
			      struct range *range)
{
	struct rvt_return_stack *stack = &flow->returns;
	const struct rvt_target *target;
	struct rvt_hop_path *path;
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
	if (flow->counts) {
		path = rvt_hop_path(flow->hops, hop);
		if (path->return_pc != pc)
			expand_return(flow, path);
		path->return_pc = pc;
		path->return_times++;
	}
	if (target->piece != flow->piece) {
		flow->piece = target->piece;
		*range = range_of(flow, target->block->view);
	}
	return target->place;
}

/* Replays as many hops as are known from *@place on; then that is where the flow is, or 0. */
static inline __attribute__((always_inline)) const struct rvt_hop *
replay_hops(struct rvt_flow *flow, struct walk *w, uint32_t *place, bool counting, bool collecting)
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

/* The flow is behind @last, at @place if that is not 0. Returns a stop or GO_ON. */
static int settle(struct rvt_flow *flow, struct walk *w, const struct rvt_hop *last, uint32_t place)
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
		return leave_indirect(flow, w, path->last, false, 0);
	return go(flow, next, next ? next->pub.pc : path->end_pc);
}

/*
 * Replays hops from flow->block on, which is at its first instruction, as long as there are some.
 * Returns a stop, GO_ON, or -ECANCELED.
 */
static int replay(struct rvt_flow *flow, struct walk *w)
{
	uint64_t from = flow->block->pub.pc;
	uint32_t place = current_place(flow);
	const struct rvt_hop *last;
	int stop;

	if (!place) {
		do_without(w);
		return GO_ON;
	}
	if (flow->collect)
		last = replay_hops(flow, w, &place, flow->counts, true);
	else if (flow->counts)
		last = replay_hops(flow, w, &place, true, false);
	else
		last = replay_hops(flow, w, &place, false, false);
	if (!last)
		return GO_ON;
	if (flow->counts)
		rvt_counts_begin(flow->counts, from);
	stop = settle(flow, w, last, place);
	return flow->result ? -ECANCELED : stop;
}

/* Hops serve orders with outcomes in bits. */
static void prepare_replay(struct rvt_flow *flow, struct walk *w)
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

/* Whether replaying is worth a look. */
static inline bool at_hop(const struct rvt_flow *flow, const struct walk *w)
{
	return w->replays && w->outcomes_left <= w->replay_at && !flow->insn && flow->piece &&
	       (w->outcomes_left >= RVT_HOP_OUTCOMES || w->tails) && flow->block->view;
}

static int run(struct rvt_flow *flow, struct walk *w)
{
	int stop;

	do {
		struct rvt_code_block *b = flow->block;

		if (!b) {
			stop = find(flow, w);
			continue;
		}
		if (at_hop(flow, w)) {
			stop = replay(flow, w);
			b = flow->block;
			if (stop != GO_ON || !b)
				continue;
		}
		if (w->flags & RVT_RUN_STOP_USED && !w->outcomes_left)
			stop = all_used(flow, w, b);
		else if (flow->insn == b->insns)
			stop = at_trap_insn(w, b);
		else if (fits(flow, w, b))
			stop = run_block(flow, w, b);
		else
			stop = run_limited(flow, w, b);
	} while (stop == GO_ON);
	return stop;
}

int rvt_flow_run_blocks(struct rvt_flow *flow, struct rvt_order *order)
{
	struct walk w = {
		.order = order,
		.flags = order->flags,
		.bits = order->outcomes,
		.outcomes_left = order->n_outcomes,
		.n_bits = order->n_outcomes < 64 ? order->n_outcomes : 64,
		.halfwords_left = order->max_halfwords,
		.insns_left = order->max_insns,
	};
	uint64_t halfwords;
	int stop;

	if (order->max_insns == RVT_UNLIMITED && order->max_halfwords == RVT_UNLIMITED)
		w.insns_left = RVT_FLOW_MAX_INSNS;
	prepare_replay(flow, &w);
	stop = run(flow, &w);
	halfwords = order->max_halfwords - w.halfwords_left;
	order->used_outcomes = order->n_outcomes - w.outcomes_left;
	order->implicit_returns = w.returns;
	order->halfwords = halfwords;
	flow->stats.insns += w.insns;
	flow->stats.halfwords += halfwords;
	flow->stats.branches += w.branches;
	flow->stats.taken += w.taken;
	flow->stats.indirect += w.indirect;
	return stop;
}
