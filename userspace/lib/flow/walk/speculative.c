// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Speculative walks: an order is walked by segments, all of it or nothing. */
#include "flow/count/expand.h"
#include "flow/memo/memos.h"
#include "flow/walk/walk.h"

#define unlikely(x) __builtin_expect(!!(x), 0)
#define INLINE inline __attribute__((always_inline))

#define MAX_SEGMENTS 64
_Static_assert(MAX_SEGMENTS <= RVT_BODY_WORDS && MAX_SEGMENTS <= RVT_SEGMENT_SUMS, "fits");

/*
 * What a speculative walk will do to the return stack. It is a struct rvt_stack_delta whose
 * addresses are still on the stack and in paths of segments: these are in no cache, and the walk
 * does not wait for them. A copy always moves the same number of addresses, at least, so that the
 * processor has no branch to predict.
 */
struct delta {
	unsigned int n_pops, n_pushes;	/* RVT_DELTA_PCS together, at most */
	int nesting;
	bool empty;
	const uint64_t *pushes[RVT_DELTA_PCS + RVT_SEGMENT_PUSHES];
};
#define FEW_PCS 4
_Static_assert(FEW_PCS <= RVT_DELTA_PCS, "there is room for them");

#define COUNTED 4	/* segments, in one go */

/* What a speculative walk will do, when it has reached the end of the order. */
struct speculation {
	struct rvt_mapping *mapping;	/* that the last node was found through; NULL: none yet */
	/*
	 * Segments up to this state need a closer look: all of them, unless the mapping covers all
	 * segments of its block table.
	 */
	enum rvt_segment_state careful;
	unsigned int n_segments, n_returns;
	uint64_t jumps;			/* that used up an outcome as branches do */
	int64_t indirect;		/* besides what segments say */
	struct rvt_segment *segments[MAX_SEGMENTS + COUNTED - 1];
	struct {
		const struct rvt_segment *seg;	/* that it ends */
		uint64_t pc;			/* where it leads */
	} returns[RVT_DELTA_PCS];
	struct delta delta;
};

/*
 * Where the walk is. Each look-up waits for the one before, so this must stay in registers: only
 * inlined functions get a pointer to it.
 */
struct here {
	uint32_t at;			/* node; 0: not known */
	uint32_t n_segments;		/* so far */
	uint64_t bits;			/* outcomes left, the next in bit 0, and a stop bit */
	uint64_t even, odd;		/* their sums */
};

#define ALL_USED_UP 1			/* .bits */
/* .bits of as many as a segment can use up, at least */
#define FULL_KEY (1u << RVT_SEGMENT_OUTCOMES)

/* Returns the field of @bits bits in @sum that lies at @shift. */
static INLINE unsigned int sum_of(uint64_t sum, unsigned int shift, unsigned int bits)
{
	return sum >> shift & ((1u << bits) - 1);
}

static INLINE uint64_t halfwords(const struct here *here)
{
	return here->even >> RVT_SEGMENT_HALFWORDS;
}

/*
 * rvt_segment_key() of the outcomes in so many bits, with a stop bit: FULL_KEY and more if these
 * are as many as a segment can use up. @last is part of it if they are fewer, the last ones.
 */
#define THERE(i) ((i) < 2 ? 0u : (i) < 4 ? 1u : (i) < 8 ? 3u : (i) < 16 ? 7u : (i) < 32 ? 15u : 31u)
#define KEY(i, last)                                                                               \
	((i) << RVT_SEGMENT_SLOT_SHIFT | RVT_SEGMENT_KEY | THERE(i) << RVT_SEGMENT_OUTCOMES |      \
	 ((i)&THERE(i)) | ((i) < FULL_KEY ? (last) : 0u))
#define KEYS_4(i, last) KEY(i, last), KEY((i) + 1, last), KEY((i) + 2, last), KEY((i) + 3, last)
#define KEYS_16(i, last) KEYS_4(i, last), KEYS_4((i) + 4, last), KEYS_4((i) + 8, last), \
			 KEYS_4((i) + 12, last)
#define KEYS(last) { KEYS_16(0, last), KEYS_16(16, last), KEYS_16(32, last), KEYS_16(48, last) }
static const uint32_t keys_to_jump[2 * FULL_KEY] = KEYS(0u);
static const uint32_t keys_to_end[2 * FULL_KEY] = KEYS(RVT_SEGMENT_END);
static const uint32_t keys_to_branch[2 * FULL_KEY] = KEYS(RVT_SEGMENT_TO_BRANCH);

/* Returns the one of @keys that fits the outcomes left. */
static INLINE uint32_t next_key(const struct here *here, const uint32_t *keys)
{
	/* Processors predict badly how many are left, so no branch asks. */
	const bool full = here->bits >= FULL_KEY;

	return keys[(here->bits & (FULL_KEY - 1)) + FULL_KEY * full];
}

/* ---- the return stack, as it is going to be ---- */

static INLINE bool push(struct delta *delta, const uint64_t *pc)
{
	delta->pushes[delta->n_pushes++] = pc;
	return delta->n_pops + delta->n_pushes <= RVT_DELTA_PCS;
}

static INLINE bool pop(struct rvt_flow *flow, struct delta *delta, uint64_t *pc)
{
	const struct rvt_return_stack *stack = &flow->base.returns;
	const unsigned int own = !!delta->n_pushes;
	const uint64_t *const pushed = delta->pushes[delta->n_pushes - own];
	const uint64_t *const before = &stack->top[-1 - (int)delta->n_pops];

	if (unlikely(!own & (delta->n_pops >= rvt_returns_used(stack) ||
			     delta->n_pops == RVT_DELTA_PCS)))
		return false;
	*pc = *(own ? pushed : before);
	delta->n_pushes -= own;
	delta->n_pops += !own;
	rvt_flow_fetch_return(flow, delta->n_pops);
	return true;
}

/* Pushes the calls of @seg that have not returned, and notes how high the stack went. */
static INLINE bool call(struct rvt_flow *flow, struct delta *delta, const struct rvt_segment *seg)
{
	const uint64_t *pushes = rvt_segment_pushes(flow->segments, seg);
	const int height = (int)(delta->n_pushes - delta->n_pops) + seg->nesting;

	/* Without a stack calls leave nothing behind to return to. */
	if (unlikely(!flow->base.returns.depth))
		return !rvt_segment_returns(seg);
	delta->nesting = height > delta->nesting ? height : delta->nesting;
	__builtin_prefetch(pushes);
	for (unsigned int i = 0; i < RVT_SEGMENT_PUSHES; i++)
		delta->pushes[delta->n_pushes + i] = pushes + i;
	delta->n_pushes += seg->n_pushes;
	return delta->n_pops + delta->n_pushes <= RVT_DELTA_PCS;
}

/* ---- where it leads ---- */

/* Looks up the block at @pc, and whether it is a node. */
static __attribute__((noinline)) bool make_node(struct rvt_flow *flow, struct rvt_target *target,
						uint64_t pc)
{
	struct rvt_mapping *mapping = flow->mapping;
	struct rvt_code_block *block;

	if (rvt_flow_enter(flow, pc, &block))
		return false;
	flow->mapping = mapping;
	if (block->table)
		target->node = rvt_segments_node(flow->segments, block);
	return target->node;
}

/* False: out of memory. */
static INLINE bool look_at_table(struct rvt_flow *flow, struct speculation *d)
{
	const struct rvt_block_table *table =
		rvt_block_table_get(flow->space->image, d->mapping, &flow->code);

	d->careful = table && rvt_mapping_covers(d->mapping, table) ? RVT_SEGMENT_CAREFUL :
								  RVT_SEGMENT_PLAIN;
	return table;
}

/* Returns the node at @pc, which is in the half where the walk is; 0: no segments begin there. */
static INLINE uint32_t find_node(struct rvt_flow *flow, struct speculation *d, uint64_t pc)
{
	struct rvt_target *target = rvt_flow_target(flow, pc);

	if (unlikely(!rvt_flow_knows(flow, target, pc) || !target->node) &&
	    !make_node(flow, target, pc))
		return 0;
	if (d->mapping != target->mapping) {
		d->mapping = target->mapping;
		if (!look_at_table(flow, d))
			return 0;
	}
	return target->node;
}

/*
 * Returns the node where the walk begins. The walk before may have ended in straight code, where
 * nothing jumps to: that takes no room among the targets.
 */
static INLINE uint32_t first_node(struct rvt_flow *flow, struct speculation *d, uint64_t pc)
{
	const struct rvt_target *end = &flow->speculation_end;

	if (!rvt_flow_knows(flow, end, pc) || !end->node)
		return find_node(flow, d, pc);
	d->mapping = end->mapping;
	return look_at_table(flow, d) ? end->node : 0;
}

static __attribute__((noinline)) struct rvt_segment *
learn(struct rvt_flow *flow, struct speculation *d, uint32_t flags, uint32_t node, uint32_t key)
{
	struct rvt_mapping *mapping = flow->mapping;
	struct rvt_segment *seg;

	flow->mapping = d->mapping;
	seg = rvt_segments_learn(flow, node, key, flags);
	flow->mapping = mapping;
	/* The block table may now have segments where it had none. */
	return look_at_table(flow, d) ? seg : NULL;
}

/* Adds what few segments have. Returns false if @seg needs more than is done here. */
static bool add_rest(struct rvt_flow *flow, struct speculation *d, const struct rvt_segment *last,
		     const struct rvt_segment *seg)
{
	const struct rvt_segment_path *path = rvt_segment_path(flow->segments, seg);

	if (seg->state == RVT_SEGMENT_NONE)
		return false;
	if (d->careful != RVT_SEGMENT_CAREFUL &&
	    (path->low < d->mapping->start || path->high > d->mapping->last))
		return false;
	if (path->flags & RVT_SEGMENT_ALONE && (last ? last->falls : rvt_memos_consecutive(flow)))
		return false;
	d->indirect += path->indirect - seg->indirect;
	d->jumps += path->jumps;
	return true;
}

/* Returns the next segment, of @key. NULL: there is none, or it needs more than is done here. */
static INLINE struct rvt_segment *next_segment(struct rvt_flow *flow, struct speculation *d,
					       struct here *here, uint32_t flags,
					       struct rvt_segment *last, uint32_t key)
{
	struct rvt_segment *seg = rvt_segment(flow->segments, here->at, key, last);

	if (unlikely(!seg))
		seg = learn(flow, d, flags, here->at, key);
	if (unlikely(!seg || here->n_segments == MAX_SEGMENTS))
		return NULL;
	if (unlikely(seg->state <= d->careful) && !add_rest(flow, d, last, seg))
		return NULL;
	if (seg->nesting && !call(flow, &d->delta, seg))
		return NULL;
	d->segments[here->n_segments++] = seg;
	here->bits >>= seg->used;
	here->even += seg->sums & RVT_SEGMENT_EVEN;
	here->odd += seg->sums & RVT_SEGMENT_ODD;
	here->at = seg->next;
	return seg;
}

/*
 * Follows the return at the end of @seg by the return stack. Returns the node there; 0: not known.
 */
static INLINE uint32_t follow_return(struct rvt_flow *flow, struct speculation *d,
				     const struct rvt_segment *seg)
{
	uint64_t pc;

	if (d->n_returns == RVT_DELTA_PCS || !pop(flow, &d->delta, &pc) ||
	    rvt_va_half(pc) != rvt_va_half(flow->base.memos->key.pc))
		return 0;
	d->returns[d->n_returns].seg = seg;
	d->returns[d->n_returns++].pc = pc;
	d->indirect++;
	return find_node(flow, d, pc);
}

/* Pops what the return at the end of @seg goes to, if the stack has anything. */
static INLINE bool leave_by_return(struct rvt_flow *flow, struct speculation *d)
{
	uint64_t pc;

	d->delta.empty = !d->delta.n_pushes &&
			 d->delta.n_pops == rvt_returns_used(&flow->base.returns);
	return d->delta.empty || pop(flow, &d->delta, &pc);
}

/* Applies the jump at the end of @seg, which goes to spec->target, to the return stack. */
static INLINE bool leave(struct rvt_flow *flow, struct speculation *d,
			 const struct rvt_speculation *spec, const struct rvt_segment *seg)
{
	const struct rvt_segment_path *path = rvt_segment_path(flow->segments, seg);

	d->indirect++;
	/* Its path is in no cache. */
	if (seg->falls)
		return true;
	if (seg->ends_return)
		return !flow->base.returns.depth || leave_by_return(flow, d);
	if (spec->flags & RVT_RUN_ABSOLUTE_JUMP && path->flags & RVT_SEGMENT_ABSOLUTE)
		return false;
	if (!flow->base.returns.depth || path->end == RVT_END_INDIRECT)
		return true;
	if (path->end == RVT_END_RETURN)
		return leave_by_return(flow, d);
	if (path->end != RVT_END_IND_CALL || !push(&d->delta, &path->end_pc))
		return false;
	if ((int)(d->delta.n_pushes - d->delta.n_pops) > d->delta.nesting)
		d->delta.nesting = d->delta.n_pushes - d->delta.n_pops;
	return true;
}

/* Returns whether @pc is in @seg. */
static bool passes(struct rvt_flow *flow, const struct rvt_segment *seg, uint64_t pc)
{
	const struct rvt_segment_path *path = rvt_segment_path(flow->segments, seg);
	const struct rvt_run *runs = rvt_segment_runs(flow->segments, seg);

	if (pc < path->low || pc > path->high)
		return false;
	for (unsigned int i = 0; i < seg->n_runs; i++)
		if (pc - runs[i].block->pc < runs[i].block->bytes)
			return true;
	return false;
}

/* Returns whether the jump at the end of @seg is that to spec->target, or lies behind that. */
static INLINE bool is_last(const struct here *here, const struct rvt_speculation *spec,
			   const struct rvt_segment *seg)
{
	if (!spec->jumps || spec->halfwords)
		return spec->jumps && halfwords(here) >= spec->halfwords;
	return here->bits == ALL_USED_UP && !seg->ends_return;
}

/* Returns whether @block is a branch and nothing else. */
static bool is_branch(const struct rvt_code_block *block)
{
	return block->insns == 1 && block->end == RVT_END_BRANCH;
}

/* Looks up all segments. Returns false if they do not lead to the end of the order. */
static INLINE bool find_segments(struct rvt_flow *flow, struct speculation *d, struct here *here,
				 const struct rvt_speculation *spec)
{
	const uint32_t *keys = spec->to_branch ? keys_to_branch :
			       spec->jumps ? keys_to_jump : keys_to_end;
	/* A node ends the walk when all outcomes are used up, unless a jump must come first. */
	const uint64_t last_bits = spec->jumps ? 0 : ALL_USED_UP;
	struct rvt_segment *seg = NULL;
	uint32_t key;

	while (here->at) {
		if (here->bits == last_bits &&
		    (!spec->to_branch || is_branch(flow->segments->blocks[here->at])))
			return true;
		key = next_key(here, keys);
		seg = next_segment(flow, d, here, spec->flags, seg, key);
		if (unlikely(!seg))
			return false;
		if (here->at)
			continue;
		if (!seg->leaves)
			return here->bits == ALL_USED_UP && !spec->jumps &&
			       (!spec->to_branch || key & RVT_SEGMENT_END);
		/*
		 * The walk must not pass the last outcome, which this segment or one before uses
		 * up.
		 */
		if (!spec->halfwords && here->bits == ALL_USED_UP &&
		    passes(flow, seg, spec->target))
			return false;
		if (is_last(here, spec, seg))
			return (!spec->halfwords || halfwords(here) == spec->halfwords) &&
			       here->bits == ALL_USED_UP && leave(flow, d, spec, seg);
		if (!seg->ends_return)
			return false;
		here->at = follow_return(flow, d, seg);
	}
	return false;
}

/* ---- taking it ---- */

/* Adds up what the segments execute. Returns false if that is more than a memo holds. */
static INLINE bool sum_up(const struct speculation *d, const struct here *here, uint64_t *sums)
{
	const struct rvt_flow_stats stats = {
		.insns = sum_of(here->odd, RVT_SEGMENT_INSNS, 17),
		.halfwords = halfwords(here),
		.branches = sum_of(here->even, RVT_SEGMENT_USED, 9) - d->jumps,
		.taken = sum_of(here->even, RVT_SEGMENT_TAKEN, 9) - d->jumps,
		.indirect = sum_of(here->odd, RVT_SEGMENT_INDIRECT, 8) + d->indirect,
	};

	return rvt_memo_pack(&stats, sums) &&
	       sum_of(here->odd, RVT_SEGMENT_N_RUNS, 12) <= RVT_BODY_RUNS;
}

/* Writes what the walk does to the return stack as addresses. */
static INLINE void write_log(const struct rvt_return_stack *stack, const struct delta *delta,
			     struct rvt_stack_delta *log)
{
	log->n_pops = delta->n_pops;
	log->n_pushes = delta->n_pushes;
	log->nesting = delta->nesting;
	log->empty = delta->empty;
	log->invalid = false;
	/* The order matters: a later copy overwrites what an earlier one moved in excess. */
	for (unsigned int i = 0; i < FEW_PCS; i++)
		log->pcs[i] = stack->top[-1 - (int)i];
	for (unsigned int i = 0; i < FEW_PCS; i++)
		log->pcs[RVT_DELTA_PCS - 1 - i] = *delta->pushes[i];
	for (unsigned int i = FEW_PCS; i < delta->n_pushes; i++)
		log->pcs[RVT_DELTA_PCS - 1 - i] = *delta->pushes[i];
	for (unsigned int i = FEW_PCS; i < delta->n_pops; i++)
		log->pcs[i] = stack->top[-1 - (int)i];
}

static __attribute__((noinline)) bool apply_rare_delta(struct rvt_return_stack *stack,
						       const struct rvt_stack_delta *log)
{
	_Alignas(struct rvt_kept_delta)
		uint8_t kept[sizeof(struct rvt_kept_delta) +
			     (RVT_DELTA_PCS + RVT_DELTA_FEW) * sizeof(uint64_t)];

	rvt_stack_delta_keep(log, (struct rvt_kept_delta *)kept);
	return rvt_returns_apply(stack, (struct rvt_kept_delta *)kept);
}

/* Does to the stack what @log says. The walk has looked it up there. Returns false if it cannot. */
static INLINE bool apply_delta(struct rvt_return_stack *stack, const struct rvt_stack_delta *log)
{
	uint64_t *to = stack->top - log->n_pops;

	if (log->empty || !rvt_returns_have_room(stack, log->nesting))
		return apply_rare_delta(stack, log);
	for (unsigned int i = 0; i < FEW_PCS; i++)
		to[i] = log->pcs[RVT_DELTA_PCS - 1 - i];
	for (unsigned int i = FEW_PCS; i < log->n_pushes; i++)
		to[i] = log->pcs[RVT_DELTA_PCS - 1 - i];
	stack->top = to + log->n_pushes;
	return true;
}

static void count(struct rvt_flow *flow, struct speculation *d, const struct rvt_speculation *spec,
		  const struct rvt_segment_path *last)
{
	struct rvt_segment none = { .times = 1 };

	for (unsigned int i = 0; i < COUNTED - 1; i++)
		d->segments[d->n_segments + i] = &none;
	for (unsigned int i = 0; i < d->n_segments; i += COUNTED)
		for (unsigned int j = i; j < i + COUNTED; j++)
			rvt_count_segment_once(flow, d->segments[j]);
	for (unsigned int i = 0; i < d->n_returns; i++)
		rvt_counts_return(flow->base.counts,
				  &rvt_segment_path(flow->segments, d->returns[i].seg)->last,
				  d->returns[i].pc, 1);
	if (spec->jumps)
		rvt_counts_return(flow->base.counts, &last->last, spec->target, 1);
}

static __attribute__((noinline)) void note_outcomes(struct rvt_flow *flow,
						    const struct speculation *d)
{
	for (unsigned int i = 0; i < d->n_segments; i++)
		rvt_segment_note_outcomes(&flow->base.predictions, flow->segments, d->segments[i]);
}

static bool deliver(struct rvt_flow *flow, const struct speculation *d)
{
	for (unsigned int i = 0; i < d->n_segments; i++)
		rvt_flow_collect_segment(flow, d->segments[i]);
	return rvt_memos_deliver_full(flow);
}

/* Does all that was looked up. Returns NULL, and has done nothing, if it cannot. */
static INLINE struct rvt_memo *take(struct rvt_flow *flow, struct speculation *d,
				    const struct here *here, const struct rvt_speculation *spec)
{
	const struct rvt_segment_path *last =
		rvt_segment_path(flow->segments, d->segments[d->n_segments - 1]);
	struct rvt_stack_delta *log = &flow->base.memos->returns;
	struct rvt_transient_memo speculation;

	__builtin_prefetch(last);
	if (!sum_up(d, here, &speculation.sums))
		return NULL;
	write_log(&flow->base.returns, &d->delta, log);
	if (!apply_delta(&flow->base.returns, log))
		return NULL;
	if (flow->base.counts)
		count(flow, d, spec, last);
	speculation.consecutive = !spec->jumps;
	speculation.segments = d->segments;
	speculation.n_segments = d->n_segments;
	speculation.flags = spec->jumps ? 0 : RVT_MEMO_KEEPS_ADDRESS;
	speculation.extra = spec->extra;
	speculation.own = spec->own;
	speculation.n_known = spec->n_outcomes;
	speculation.asks = false;
	if (spec->flags & RVT_RUN_PREDICTED)
		note_outcomes(flow, d);
	/* The path is in no cache. */
	speculation.pc = spec->jumps ? spec->target : here->at ? flow->segments->pcs[here->at] :
		   last->end_pc;
	flow->speculation_end = (struct rvt_target){
		.pc = speculation.pc,
		.mapping_epoch = flow->mapping_epochs[rvt_va_half(speculation.pc)],
		.node = here->at,
		.mapping = d->mapping,
	};
	return rvt_memos_transient(flow, &speculation);
}

struct rvt_memo *rvt_speculate(struct rvt_flow *flow, const struct rvt_speculation *spec,
			       bool *whole)
{
	static const uint64_t none;
	struct rvt_segments *segments = flow->segments;
	struct rvt_memo *s;
	struct here here;
	struct speculation d;

	if (!segments || segments->flags != (spec->flags & RVT_SEGMENT_RUN_FLAGS) ||
	    !rvt_segments_have_room(segments) || !rvt_memos_have_room(flow->base.memos) ||
	    flow->base.returns.recursions || spec->n_outcomes > RVT_SPECULATION_OUTCOMES ||
	    (spec->jumps && spec->target != rvt_code_addr(&flow->code, spec->target & ~1ull)))
		return NULL;
	d.mapping = NULL;
	d.n_returns = 0;
	d.jumps = d.indirect = 0;
	d.delta.n_pops = d.delta.n_pushes = d.delta.nesting = 0;
	d.delta.empty = false;
	for (unsigned int i = 0; i < FEW_PCS; i++)
		d.delta.pushes[i] = &none;
	rvt_flow_fetch_return(flow, 0);
	here = (struct here){
		.at = first_node(flow, &d, flow->base.memos->key.pc),
		.bits = spec->outcomes | 1ull << spec->n_outcomes,
	};
	if (!find_segments(flow, &d, &here, spec))
		return NULL;
	d.n_segments = here.n_segments;
	s = take(flow, &d, &here, spec);
	if (!s)
		return NULL;
	rvt_memos_add(flow, s);
	*whole = !flow->base.collect || deliver(flow, &d);
	return s;
}
