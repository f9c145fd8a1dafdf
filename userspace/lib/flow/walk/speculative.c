// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Strides: walking a message by hops, all or nothing.
 */
#include "flow/walk/speculative.h"
#include "flow/walk/walk.h"

#define unlikely(x) __builtin_expect(!!(x), 0)
#define INLINE inline __attribute__((always_inline))

#define MAX_HOPS 64
_Static_assert(MAX_HOPS <= RVT_STEP_WORDS && MAX_HOPS <= RVT_HOP_SUMS, "fits");

/*
 * What a stride is going to do to the return stack, as struct rvt_calls, but the addresses are
 * still where they are: on the stack, and in paths of hops, which are in no cache, and nobody waits
 * for them. The same number of addresses is always moved at least, so that nobody need foresee it.
 */
struct calls {
	unsigned int n_pops, n_pushes;	/* RVT_CALLS together, at most */
	int nesting;
	bool empty;
	const uint64_t *pushes[RVT_CALLS + RVT_HOP_PUSHES];
};
#define FEW_CALLS 4
_Static_assert(FEW_CALLS <= RVT_CALLS, "there is room for them");

#define COUNTED 4	/* hops, in one go */

/* What a stride is going to do. Nothing of it has happened. */
struct draft {
	struct rvt_mapping *piece;	/* that the last place was found through; NULL: none yet */
	/* hops up to this state must be looked at closely: all, unless it covers those in its view */
	enum rvt_hop_state careful;
	unsigned int n_hops, n_returns;
	uint64_t jumps;			/* that used up an outcome as branches do */
	int64_t indirect;		/* besides what hops say */
	struct rvt_hop *hops[MAX_HOPS + COUNTED - 1];
	struct {
		const struct rvt_hop *hop;	/* that it ends */
		uint64_t pc;			/* where it leads */
	} returns[RVT_CALLS];
	struct calls calls;
};

/*
 * Where looking up is. One hop waits for the one before, so this must be in registers: only
 * functions that are inlined get a pointer to it.
 */
struct here {
	uint32_t at;			/* place; 0: not known */
	uint32_t n_hops;		/* so far */
	uint64_t bits;			/* outcomes left, the next in bit 0; above them a stop bit */
	uint64_t even, odd;		/* their sums */
};

#define ALL_USED_UP 1			/* .bits */
#define FULL_KEY (1u << RVT_HOP_OUTCOMES)	/* .bits of as many as a hop can use up, at least */

/* Of @bits in @sum, from where they are in a hop up. */
static INLINE unsigned int sum_of(uint64_t sum, unsigned int shift, unsigned int bits)
{
	return sum >> shift & ((1u << bits) - 1);
}

static INLINE uint64_t halfwords(const struct here *here)
{
	return here->even >> RVT_HOP_HALFWORDS;
}

/*
 * rvt_hop_key() of the outcomes in so many bits, with a stop bit: FULL_KEY and more if these are as
 * many as a hop can use up. @last is part of it if they are fewer, the last ones.
 */
#define THERE(i) ((i) < 2 ? 0u : (i) < 4 ? 1u : (i) < 8 ? 3u : (i) < 16 ? 7u : (i) < 32 ? 15u : 31u)
#define KEY(i, last) ((i) << RVT_HOP_SLOT_SHIFT | RVT_HOP_KEY | THERE(i) << RVT_HOP_OUTCOMES | \
		      ((i) & THERE(i)) | ((i) < FULL_KEY ? (last) : 0u))
#define KEYS_4(i, last) KEY(i, last), KEY((i) + 1, last), KEY((i) + 2, last), KEY((i) + 3, last)
#define KEYS_16(i, last) KEYS_4(i, last), KEYS_4((i) + 4, last), KEYS_4((i) + 8, last), \
			 KEYS_4((i) + 12, last)
#define KEYS(last) { KEYS_16(0, last), KEYS_16(16, last), KEYS_16(32, last), KEYS_16(48, last) }
static const uint32_t keys_to_jump[2 * FULL_KEY] = KEYS(0u);
static const uint32_t keys_to_end[2 * FULL_KEY] = KEYS(RVT_HOP_END);
static const uint32_t keys_to_branch[2 * FULL_KEY] = KEYS(RVT_HOP_TO_BRANCH);

/* Of @keys, that of what comes next. */
static INLINE uint32_t next_key(const struct here *here, const uint32_t *keys)
{
	/* How many are left is hard to foresee. */
	const bool full = here->bits >= FULL_KEY;

	return keys[(here->bits & (FULL_KEY - 1)) + FULL_KEY * full];
}

/* ---- the return stack, as it is going to be ---- */

static INLINE bool push(struct calls *calls, const uint64_t *pc)
{
	calls->pushes[calls->n_pushes++] = pc;
	return calls->n_pops + calls->n_pushes <= RVT_CALLS;
}

/* Where the next return leads that is not of a call of the stride is looked up soon. */
static INLINE void fetch_return(struct rvt_flow *flow, const struct calls *calls)
{
	__builtin_prefetch(rvt_flow_target(flow, flow->returns.top[-1 - (int)calls->n_pops]));
}

static INLINE bool pop(struct rvt_flow *flow, struct calls *calls, uint64_t *pc)
{
	const struct rvt_return_stack *stack = &flow->returns;
	const unsigned int own = !!calls->n_pushes;
	const uint64_t *const pushed = calls->pushes[calls->n_pushes - own];
	const uint64_t *const before = &stack->top[-1 - (int)calls->n_pops];

	if (unlikely(!own & (calls->n_pops >= rvt_returns_used(stack) ||
			     calls->n_pops == RVT_CALLS)))
		return false;
	*pc = *(own ? pushed : before);
	calls->n_pushes -= own;
	calls->n_pops += !own;
	fetch_return(flow, calls);
	return true;
}

/* The calls of @hop, and the returns from these. */
static INLINE bool call(struct rvt_flow *flow, struct calls *calls, const struct rvt_hop *hop)
{
	const uint64_t *pushes = rvt_hop_pushes(flow->hops, hop);
	const int height = (int)(calls->n_pushes - calls->n_pops) + hop->nesting;

	/* Without a stack calls leave nothing behind to return to. */
	if (unlikely(!flow->returns.depth))
		return !rvt_hop_returns(hop);
	calls->nesting = height > calls->nesting ? height : calls->nesting;
	__builtin_prefetch(pushes);
	for (unsigned int i = 0; i < RVT_HOP_PUSHES; i++)
		calls->pushes[calls->n_pushes + i] = pushes + i;
	calls->n_pushes += hop->n_pushes;
	return calls->n_pops + calls->n_pushes <= RVT_CALLS;
}

/* ---- where it leads ---- */

/* Looks up the block at @pc, and whether it is a place. */
static __attribute__((noinline)) bool make_place(struct rvt_flow *flow, struct rvt_target *target,
						 uint64_t pc)
{
	struct rvt_mapping *piece = flow->piece;
	struct rvt_code_block *block;

	if (rvt_flow_enter(flow, pc, &block))
		return false;
	flow->piece = piece;
	if (block->view)
		target->place = rvt_hops_place(flow->hops, block);
	return target->place;
}

/* False: out of memory. */
static INLINE bool look_at_view(struct rvt_flow *flow, struct draft *d)
{
	const struct rvt_view *view = rvt_view_get(flow->space->image, d->piece, &flow->code);

	d->careful = view && rvt_mapping_covers(d->piece, view) ? RVT_HOP_CAREFUL : RVT_HOP_PLAIN;
	return view;
}

/* The place at @pc, in the half where the stride is: 0 if no hops begin there. */
static INLINE uint32_t find_place(struct rvt_flow *flow, struct draft *d, uint64_t pc)
{
	struct rvt_target *target = rvt_flow_target(flow, pc);

	if (unlikely(!rvt_flow_knows(flow, target, pc) || !target->place) &&
	    !make_place(flow, target, pc))
		return 0;
	if (d->piece != target->piece) {
		d->piece = target->piece;
		if (!look_at_view(flow, d))
			return 0;
	}
	return target->place;
}

/*
 * The same where the stride begins. The one before may have ended in the midst of things, where
 * nothing jumps to: that needs no room among the targets.
 */
static INLINE uint32_t first_place(struct rvt_flow *flow, struct draft *d, uint64_t pc)
{
	const struct rvt_target *end = &flow->stride_end;

	if (!rvt_flow_knows(flow, end, pc) || !end->place)
		return find_place(flow, d, pc);
	d->piece = end->piece;
	return look_at_view(flow, d) ? end->place : 0;
}

static __attribute__((noinline)) struct rvt_hop *
learn(struct rvt_flow *flow, struct draft *d, uint32_t flags, uint32_t place, uint32_t key)
{
	struct rvt_mapping *piece = flow->piece;
	struct rvt_hop *hop;

	flow->piece = d->piece;
	hop = rvt_replay_learn(flow, flags, place, key);
	flow->piece = piece;
	/* The view may have hops where it had none. */
	return look_at_view(flow, d) ? hop : NULL;
}

/* What only some hops have. False: it must be looked at more closely than here. */
static bool add_rest(struct rvt_flow *flow, struct draft *d, const struct rvt_hop *last,
		     const struct rvt_hop *hop)
{
	const struct rvt_hop_path *path = rvt_hop_path(flow->hops, hop);

	if (hop->state == RVT_HOP_NONE)
		return false;
	if (d->careful != RVT_HOP_CAREFUL &&
	    (path->low < d->piece->start || path->high > d->piece->last))
		return false;
	if (path->flags & RVT_HOP_ALONE && (last ? last->falls : rvt_steps_consecutive(flow)))
		return false;
	d->indirect += path->indirect - hop->indirect;
	d->jumps += path->jumps;
	return true;
}

/* The next hop, of @key. NULL: there is none, or it must be looked at more closely than here. */
static INLINE struct rvt_hop *next_hop(struct rvt_flow *flow, struct draft *d, struct here *here,
				       uint32_t flags, struct rvt_hop *last, uint32_t key)
{
	struct rvt_hop *hop = rvt_hop(flow->hops, here->at, key, last);

	if (unlikely(!hop))
		hop = learn(flow, d, flags, here->at, key);
	if (unlikely(!hop || here->n_hops == MAX_HOPS))
		return NULL;
	if (unlikely(hop->state <= d->careful) && !add_rest(flow, d, last, hop))
		return NULL;
	if (hop->nesting && !call(flow, &d->calls, hop))
		return NULL;
	d->hops[here->n_hops++] = hop;
	here->bits >>= hop->used;
	here->even += hop->sums & RVT_HOP_EVEN;
	here->odd += hop->sums & RVT_HOP_ODD;
	here->at = hop->next;
	return hop;
}

/* @hop leaves by a return that the return stack decides. The place where that leads; 0: not known. */
static INLINE uint32_t follow_return(struct rvt_flow *flow, struct draft *d,
				     const struct rvt_hop *hop)
{
	uint64_t pc;

	if (d->n_returns == RVT_CALLS || !pop(flow, &d->calls, &pc) ||
	    rvt_half(pc) != rvt_half(flow->steps->key.pc))
		return 0;
	d->returns[d->n_returns].hop = hop;
	d->returns[d->n_returns++].pc = pc;
	d->indirect++;
	return find_place(flow, d, pc);
}

/* What the return stack decides: @hop leaves by a return. It may find nothing there. */
static INLINE bool leave_by_return(struct rvt_flow *flow, struct draft *d)
{
	uint64_t pc;

	d->calls.empty = !d->calls.n_pushes &&
			 d->calls.n_pops == rvt_returns_used(&flow->returns);
	return d->calls.empty || pop(flow, &d->calls, &pc);
}

/* The jump at the end of @hop is told by the message: what it does to the return stack. */
static INLINE bool leave(struct rvt_flow *flow, struct draft *d, const struct rvt_stride *stride,
			 const struct rvt_hop *hop)
{
	const struct rvt_hop_path *path = rvt_hop_path(flow->hops, hop);

	d->indirect++;
	/* Its path is in no cache. */
	if (hop->falls)
		return true;
	if (hop->ends_return)
		return !flow->returns.depth || leave_by_return(flow, d);
	if (stride->flags & RVT_RUN_ABSOLUTE_JUMP && path->flags & RVT_HOP_ABSOLUTE)
		return false;
	if (!flow->returns.depth || path->end == RVT_END_INDIRECT)
		return true;
	if (path->end == RVT_END_RETURN)
		return leave_by_return(flow, d);
	if (path->end != RVT_END_IND_CALL || !push(&d->calls, &path->end_pc))
		return false;
	if ((int)(d->calls.n_pushes - d->calls.n_pops) > d->calls.nesting)
		d->calls.nesting = d->calls.n_pushes - d->calls.n_pops;
	return true;
}

/* Whether @pc is in @hop. */
static bool passes(struct rvt_flow *flow, const struct rvt_hop *hop, uint64_t pc)
{
	const struct rvt_hop_path *path = rvt_hop_path(flow->hops, hop);
	const struct rvt_run *runs = rvt_hop_runs(flow->hops, hop);

	if (pc < path->low || pc > path->high)
		return false;
	for (unsigned int i = 0; i < hop->n_runs; i++)
		if (pc - runs[i].block->pc < runs[i].block->bytes)
			return true;
	return false;
}

/* @hop leaves by a jump: whether it is that of the message, or too late for that. */
static INLINE bool is_last(const struct here *here, const struct rvt_stride *stride,
			   const struct rvt_hop *hop)
{
	if (!stride->jumps || stride->halfwords)
		return stride->jumps && halfwords(here) >= stride->halfwords;
	return here->bits == ALL_USED_UP && !hop->ends_return;
}

/* A branch with nothing before it. */
static bool is_branch(const struct rvt_code_block *block)
{
	return block->insns == 1 && block->end == RVT_END_BRANCH;
}

/* Looks up all hops. False: they do not lead to the end of the message. */
static INLINE bool find_hops(struct rvt_flow *flow, struct draft *d, struct here *here,
			     const struct rvt_stride *stride)
{
	const uint32_t *keys = stride->to_branch ? keys_to_branch :
			       stride->jumps ? keys_to_jump : keys_to_end;
	/* With no more than these it may be there. */
	const uint64_t last_bits = stride->jumps ? 0 : ALL_USED_UP;
	struct rvt_hop *hop = NULL;
	uint32_t key;

	while (here->at) {
		if (here->bits == last_bits &&
		    (!stride->to_branch || is_branch(flow->hops->blocks[here->at])))
			return true;
		key = next_key(here, keys);
		hop = next_hop(flow, d, here, stride->flags, hop, key);
		if (unlikely(!hop))
			return false;
		if (here->at)
			continue;
		if (!hop->leaves)
			return here->bits == ALL_USED_UP && !stride->jumps &&
			       (!stride->to_branch || key & RVT_HOP_END);
		/* Behind the last outcome, which is used up in this hop or before, it must not. */
		if (!stride->halfwords && here->bits == ALL_USED_UP &&
		    passes(flow, hop, stride->target))
			return false;
		if (is_last(here, stride, hop))
			return (!stride->halfwords || halfwords(here) == stride->halfwords) &&
			       here->bits == ALL_USED_UP && leave(flow, d, stride, hop);
		if (!hop->ends_return)
			return false;
		here->at = follow_return(flow, d, hop);
	}
	return false;
}

/* ---- taking it ---- */

/* What is executed in all. False: more than fits a step. */
static INLINE bool sum_up(const struct draft *d, const struct here *here, uint64_t *sums)
{
	const struct rvt_flow_stats stats = {
		.insns = sum_of(here->odd, RVT_HOP_INSNS, 17),
		.halfwords = halfwords(here),
		.branches = sum_of(here->even, RVT_HOP_USED, 9) - d->jumps,
		.taken = sum_of(here->even, RVT_HOP_TAKEN, 9) - d->jumps,
		.indirect = sum_of(here->odd, RVT_HOP_INDIRECT, 8) + d->indirect,
	};

	return rvt_step_pack(&stats, sums) &&
	       sum_of(here->odd, RVT_HOP_N_RUNS, 12) <= RVT_STEP_RUNS;
}

/* What is done to the return stack, as addresses. */
static INLINE void write_log(const struct rvt_return_stack *stack, const struct calls *calls,
			     struct rvt_calls *log)
{
	log->n_pops = calls->n_pops;
	log->n_pushes = calls->n_pushes;
	log->nesting = calls->nesting;
	log->empty = calls->empty;
	log->invalid = false;
	/* In this order: what is too much gives way to what is not. */
	for (unsigned int i = 0; i < FEW_CALLS; i++)
		log->pcs[i] = stack->top[-1 - (int)i];
	for (unsigned int i = 0; i < FEW_CALLS; i++)
		log->pcs[RVT_CALLS - 1 - i] = *calls->pushes[i];
	for (unsigned int i = FEW_CALLS; i < calls->n_pushes; i++)
		log->pcs[RVT_CALLS - 1 - i] = *calls->pushes[i];
	for (unsigned int i = FEW_CALLS; i < calls->n_pops; i++)
		log->pcs[i] = stack->top[-1 - (int)i];
}

static __attribute__((noinline)) bool do_rare_calls(struct rvt_return_stack *stack,
						    const struct rvt_calls *log)
{
	_Alignas(struct rvt_kept_calls) uint8_t
		kept[sizeof(struct rvt_kept_calls) + (RVT_CALLS + RVT_FEW_CALLS) * sizeof(uint64_t)];

	rvt_calls_keep(log, (struct rvt_kept_calls *)kept);
	return rvt_returns_replay(stack, (struct rvt_kept_calls *)kept);
}

/* What @log says is done to the stack, where it was looked up. False: it cannot be. */
static INLINE bool do_calls(struct rvt_return_stack *stack, const struct rvt_calls *log)
{
	uint64_t *to = stack->top - log->n_pops;

	if (log->empty || !rvt_returns_have_room(stack, log->nesting))
		return do_rare_calls(stack, log);
	for (unsigned int i = 0; i < FEW_CALLS; i++)
		to[i] = log->pcs[RVT_CALLS - 1 - i];
	for (unsigned int i = FEW_CALLS; i < log->n_pushes; i++)
		to[i] = log->pcs[RVT_CALLS - 1 - i];
	stack->top = to + log->n_pushes;
	return true;
}

static void count(struct rvt_flow *flow, struct draft *d, const struct rvt_stride *stride,
		  const struct rvt_hop_path *last)
{
	struct rvt_hop none = { .times = 1 };

	for (unsigned int i = 0; i < COUNTED - 1; i++)
		d->hops[d->n_hops + i] = &none;
	for (unsigned int i = 0; i < d->n_hops; i += COUNTED)
		for (unsigned int j = i; j < i + COUNTED; j++)
			rvt_flow_count_once(flow, d->hops[j]);
	for (unsigned int i = 0; i < d->n_returns; i++)
		rvt_counts_return(flow->counts, &rvt_hop_path(flow->hops, d->returns[i].hop)->last,
				  d->returns[i].pc);
	if (stride->jumps)
		rvt_counts_return(flow->counts, &last->last, stride->target);
}

static bool deliver(struct rvt_flow *flow, const struct draft *d)
{
	for (unsigned int i = 0; i < d->n_hops; i++)
		rvt_flow_collect_hop(flow, d->hops[i]);
	return rvt_steps_deliver_full(flow);
}

/* What was looked up is done. NULL: it cannot be, and nothing happened. */
static INLINE struct rvt_step *take(struct rvt_flow *flow, struct draft *d,
				    const struct here *here, const struct rvt_stride *stride)
{
	const struct rvt_hop_path *last = rvt_hop_path(flow->hops, d->hops[d->n_hops - 1]);
	struct rvt_calls *log = &flow->steps->returns;
	struct rvt_step_draft draft;

	__builtin_prefetch(last);
	if (!sum_up(d, here, &draft.sums))
		return NULL;
	write_log(&flow->returns, &d->calls, log);
	if (!do_calls(&flow->returns, log))
		return NULL;
	if (flow->counts)
		count(flow, d, stride, last);
	draft.consecutive = !stride->jumps;
	draft.hops = d->hops;
	draft.n_hops = d->n_hops;
	draft.flags = stride->jumps ? 0 : RVT_STEP_KEEPS_ADDRESS;
	draft.extra = stride->extra;
	/* The path is in no cache. */
	draft.pc = stride->jumps ? stride->target : here->at ? flow->hops->pcs[here->at] :
		   last->end_pc;
	flow->stride_end = (struct rvt_target){
		.pc = draft.pc, .epoch = flow->epochs[rvt_half(draft.pc)], .place = here->at,
		.piece = d->piece,
	};
	return rvt_steps_draft(flow, &draft);
}

struct rvt_step *rvt_stride_take(struct rvt_flow *flow, const struct rvt_stride *stride,
				 bool *whole)
{
	static const uint64_t none;
	struct rvt_hops *hops = flow->hops;
	struct rvt_step *s;
	struct here here;
	struct draft d;

	if (!hops || hops->flags != (stride->flags & RVT_HOP_RUN_FLAGS) ||
	    !rvt_hops_have_room(hops) || !rvt_steps_have_room(flow->steps) ||
	    flow->returns.recursions || stride->n_outcomes > RVT_STRIDE_OUTCOMES)
		return NULL;
	d.piece = NULL;
	d.n_returns = 0;
	d.jumps = d.indirect = 0;
	d.calls.n_pops = d.calls.n_pushes = d.calls.nesting = 0;
	d.calls.empty = false;
	for (unsigned int i = 0; i < FEW_CALLS; i++)
		d.calls.pushes[i] = &none;
	fetch_return(flow, &d.calls);
	here = (struct here){
		.at = first_place(flow, &d, flow->steps->key.pc),
		.bits = stride->outcomes | 1ull << stride->n_outcomes,
	};
	if (!find_hops(flow, &d, &here, stride))
		return NULL;
	d.n_hops = here.n_hops;
	s = take(flow, &d, &here, stride);
	if (!s)
		return NULL;
	rvt_steps_add(flow, s);
	*whole = !flow->collect || deliver(flow, &d);
	return s;
}
