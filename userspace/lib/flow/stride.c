// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Strides: walking a message by hops, all or nothing.
 */
#include "flow/stride.h"
#include "flow/walk.h"

#define unlikely(x) __builtin_expect(!!(x), 0)
#define INLINE inline __attribute__((always_inline))

#define MAX_HOPS 64

/* What a stride is going to do. Nothing of it has happened. */
struct draft {
	uint32_t at;			/* place; 0: not known */
	uint32_t n_bits;		/* outcomes left, the next in bit 0 of .bits */
	uint64_t bits;
	struct rvt_piece *piece;	/* that the place was found through */
	bool covered;			/* by it, with all hops in its view */
	unsigned int n_hops, n_returns, n_runs;
	uint64_t insns, halfwords;
	uint64_t used, taken;		/* outcomes */
	uint64_t jumps, indirect;	/* .jumps: that used up an outcome as branches do */
	struct rvt_hop *hops[MAX_HOPS];
	struct {
		const struct rvt_hop *hop;	/* that it ends */
		uint64_t pc;			/* where it leads */
	} returns[RVT_CALLS];
	struct rvt_calls calls;
};

/* ---- the return stack, as it is going to be ---- */

static INLINE bool push(struct rvt_calls *calls, uint64_t pc)
{
	if (calls->n_pops + calls->n_pushes == RVT_CALLS)
		return false;
	calls->pcs[RVT_CALLS - ++calls->n_pushes] = pc;
	return true;
}

static INLINE bool pop(const struct rvt_return_stack *stack, struct rvt_calls *calls, uint64_t *pc)
{
	if (calls->n_pushes) {
		*pc = calls->pcs[RVT_CALLS - calls->n_pushes--];
		return true;
	}
	if (calls->n_pops == RVT_CALLS || calls->n_pops >= rvt_returns_used(stack))
		return false;
	*pc = stack->top[-1 - calls->n_pops];
	calls->pcs[calls->n_pops++] = *pc;
	return true;
}

/* The calls of @hop, and the returns from these. */
static bool call(struct rvt_flow *flow, struct rvt_calls *calls, const struct rvt_hop *hop)
{
	const uint64_t *pushes = rvt_hop_pushes(flow->hops, hop);
	const int height = calls->n_pushes - calls->n_pops + hop->nesting;

	/* Without a stack calls leave nothing behind to return to. */
	if (!flow->returns.depth)
		return !hop->returns;
	if (height > calls->nesting)
		calls->nesting = height;
	for (unsigned int i = 0; i < hop->n_pushes; i++)
		if (!push(calls, pushes[i]))
			return false;
	return true;
}

/* ---- where it leads ---- */

/* Looks up the block at @pc, and whether it is a place. */
static __attribute__((noinline)) bool make_place(struct rvt_flow *flow, struct rvt_target *target,
						 uint64_t pc)
{
	struct rvt_piece *piece = flow->piece;
	struct rvt_code_block *block;

	if (rvt_flow_enter(flow, pc, &block))
		return false;
	flow->piece = piece;
	if (block->view)
		target->place = rvt_hops_place(flow->hops, block);
	return target->place;
}

/* The block at @pc, in the half where the stride is: false if no hops begin there. */
static INLINE bool find_place(struct rvt_flow *flow, struct draft *d, uint64_t pc)
{
	struct rvt_target *target = rvt_flow_target(flow, pc);

	if (unlikely(!rvt_flow_knows(flow, target, pc) || !target->place) &&
	    !make_place(flow, target, pc))
		return false;
	d->at = target->place;
	if (d->piece != target->piece) {
		d->piece = target->piece;
		d->covered = rvt_piece_covers(d->piece, flow->hops->blocks[d->at]->view);
	}
	return true;
}

static struct rvt_hop *learn(struct rvt_flow *flow, struct draft *d, uint32_t flags, uint32_t key)
{
	struct rvt_piece *piece = flow->piece;
	struct rvt_hop *hop;

	flow->piece = d->piece;
	hop = rvt_replay_learn(flow, flags, d->at, key);
	flow->piece = piece;
	/* The view may have hops where it had none. */
	d->covered = rvt_piece_covers(d->piece, flow->hops->blocks[d->at]->view);
	return hop;
}

/* What only some hops have. False: it must be looked at more closely than here. */
static bool add_rest(struct rvt_flow *flow, struct draft *d, const struct rvt_hop *last,
		     const struct rvt_hop *hop)
{
	const struct rvt_hop_path *path = rvt_hop_path(flow->hops, hop);

	if (!d->covered && (path->low < d->piece->start || path->high > d->piece->last))
		return false;
	if (path->flags & RVT_HOP_ALONE && (!last || last->falls))
		return false;
	d->indirect += path->indirect;
	d->jumps += path->jumps;
	return true;
}

/* The next hop, of @key. NULL: there is none, or it must be looked at more closely than here. */
static INLINE struct rvt_hop *next_hop(struct rvt_flow *flow, struct draft *d,
				       const struct rvt_stride *stride, struct rvt_hop *last,
				       uint32_t key)
{
	struct rvt_hop *hop = rvt_hop(flow->hops, d->at, key, last);

	if (unlikely(!hop))
		hop = learn(flow, d, stride->flags, key);
	if (unlikely(!hop || hop->state < RVT_HOP_CAREFUL || d->n_hops == MAX_HOPS))
		return NULL;
	if (unlikely(hop->state == RVT_HOP_CAREFUL || !d->covered)) {
		if (!add_rest(flow, d, last, hop))
			return NULL;
	} else if (hop->state == RVT_HOP_CALLS) {
		d->indirect += hop->returns;
	}
	if (hop->nesting && !call(flow, &d->calls, hop))
		return NULL;
	d->hops[d->n_hops++] = hop;
	d->n_runs += hop->n_runs;
	d->bits >>= hop->used;
	d->n_bits -= hop->used;
	d->used += hop->used;
	d->taken += hop->taken;
	d->insns += hop->insns;
	d->halfwords += hop->halfwords;
	d->at = hop->next;
	return hop;
}

/* @hop leaves by a return that the return stack decides. */
static bool follow_return(struct rvt_flow *flow, struct draft *d, const struct rvt_hop *hop)
{
	uint64_t pc;

	if (d->n_returns == RVT_CALLS || !pop(&flow->returns, &d->calls, &pc) ||
	    rvt_half(pc) != rvt_half(flow->steps->key.pc) || !find_place(flow, d, pc))
		return false;
	d->returns[d->n_returns].hop = hop;
	d->returns[d->n_returns++].pc = pc;
	d->indirect++;
	return true;
}

/* The jump at the end of @hop is told by the message: what it does to the return stack. */
static bool leave(struct rvt_flow *flow, struct draft *d, const struct rvt_hop *hop)
{
	const struct rvt_hop_path *path = rvt_hop_path(flow->hops, hop);
	uint64_t pc;

	d->indirect++;
	if (!flow->returns.depth || path->end == RVT_END_INDIRECT)
		return true;
	if (path->end == RVT_END_RETURN)
		return pop(&flow->returns, &d->calls, &pc);
	if (path->end != RVT_END_IND_CALL || !push(&d->calls, path->end_pc))
		return false;
	if (d->calls.n_pushes - d->calls.n_pops > d->calls.nesting)
		d->calls.nesting = d->calls.n_pushes - d->calls.n_pops;
	return true;
}

/* Looks up all hops. False: they do not lead to the end of the message. */
static bool find_hops(struct rvt_flow *flow, struct draft *d, const struct rvt_stride *stride)
{
	const uint32_t short_key = stride->jumps ? 0 : RVT_HOP_END;
	struct rvt_hop *hop = NULL;
	uint32_t key;

	for (;;) {
		if (!d->n_bits && !stride->jumps)
			return true;
		if (d->n_bits < RVT_HOP_OUTCOMES)
			key = rvt_hop_key(d->bits, d->n_bits) | short_key;
		else
			key = rvt_hop_key(d->bits, RVT_HOP_OUTCOMES);
		hop = next_hop(flow, d, stride, hop, key);
		if (unlikely(!hop))
			return false;
		if (d->at)
			continue;
		if (!hop->leaves)
			return !d->n_bits && !stride->jumps;
		if (stride->jumps && d->halfwords >= stride->halfwords)
			return d->halfwords == stride->halfwords && !d->n_bits &&
			       !hop->ends_return && leave(flow, d, hop);
		if (!hop->ends_return || !follow_return(flow, d, hop))
			return false;
	}
}

/* ---- taking it ---- */

/* What it does to the return stack is done. False: it cannot be. */
static bool do_calls(struct rvt_flow *flow, const struct rvt_calls *calls)
{
	_Alignas(struct rvt_kept_calls) uint8_t
		kept[sizeof(struct rvt_kept_calls) + (RVT_CALLS + RVT_FEW_CALLS) * sizeof(uint64_t)];

	if (!rvt_calls_bytes(calls))
		return true;
	rvt_calls_keep(calls, (struct rvt_kept_calls *)kept);
	return rvt_returns_replay(&flow->returns, (struct rvt_kept_calls *)kept);
}

static void count(struct rvt_flow *flow, const struct draft *d, const struct rvt_stride *stride,
		  const struct rvt_hop_path *last)
{
	for (unsigned int i = 0; i < d->n_hops; i++)
		rvt_flow_count_once(flow, d->hops[i]);
	for (unsigned int i = 0; i < d->n_returns; i++)
		rvt_counts_return(flow->counts, &rvt_hop_path(flow->hops, d->returns[i].hop)->last,
				  d->returns[i].pc);
	if (stride->jumps)
		rvt_counts_jump(flow->counts, last->last, stride->target, 1);
}

static bool deliver(struct rvt_flow *flow, const struct draft *d)
{
	for (unsigned int i = 0; i < d->n_hops; i++)
		rvt_flow_collect_hop(flow, d->hops[i]);
	return rvt_steps_deliver_full(flow);
}

/* What was looked up is done. NULL: it cannot be, and nothing happened. */
static struct rvt_step *take(struct rvt_flow *flow, const struct draft *d,
			     const struct rvt_stride *stride)
{
	const struct rvt_hop_path *last = rvt_hop_path(flow->hops, d->hops[d->n_hops - 1]);
	const struct rvt_flow_stats stats = {
		.insns = d->insns, .halfwords = d->halfwords, .branches = d->used - d->jumps,
		.taken = d->taken - d->jumps, .indirect = d->indirect,
	};
	struct rvt_step_draft draft = {
		.step.pc = stride->jumps ? stride->target : last->end_pc,
		.step.flags = stride->jumps ? 0 : RVT_STEP_KEEPS_ADDRESS,
		.last_block = last->last, .last_insn = last->last_insn,
		.consecutive = !stride->jumps,
		.calls = &d->calls, .hops = d->hops, .n_hops = d->n_hops,
	};

	if (d->n_runs > RVT_STEP_RUNS || !rvt_step_pack(&stats, &draft.step) ||
	    !do_calls(flow, &d->calls))
		return NULL;
	if (flow->counts)
		count(flow, d, stride, last);
	return rvt_steps_draft(flow, &draft);
}

struct rvt_step *rvt_stride_take(struct rvt_flow *flow, const struct rvt_stride *stride,
				 bool *whole)
{
	struct rvt_hops *hops = flow->hops;
	struct rvt_step *s;
	struct draft d;

	if (!hops || hops->flags != (stride->flags & RVT_HOP_RUN_FLAGS) ||
	    !rvt_hops_have_room(hops) || !rvt_steps_have_room(flow->steps) ||
	    flow->returns.recursions)
		return NULL;
	d.n_bits = stride->n_outcomes;
	d.bits = stride->outcomes;
	d.piece = NULL;
	d.n_hops = d.n_returns = d.n_runs = 0;
	d.insns = d.halfwords = d.used = d.taken = d.jumps = d.indirect = 0;
	d.calls.n_pops = d.calls.n_pushes = d.calls.nesting = 0;
	d.calls.empty = d.calls.invalid = false;
	if (!find_place(flow, &d, flow->steps->key.pc) || !find_hops(flow, &d, stride))
		return NULL;
	s = take(flow, &d, stride);
	if (!s)
		return NULL;
	rvt_steps_add(flow, s);
	*whole = !flow->collect || deliver(flow, &d);
	return s;
}
