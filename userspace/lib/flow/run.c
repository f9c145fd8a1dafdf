// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Block walk: executes whole blocks, and follows links between them.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "flow/engine.h"

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
	bool memo;			/* paths may be replayed */
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

/* ---- replaying paths ---- */

static struct rvt_code_block *next_of_path(void *ctx, struct rvt_code_block *from, bool taken,
					   uint64_t pc)
{
	struct rvt_code_block *b;

	if (from->end >= RVT_END_INDIRECT)
		return rvt_flow_enter(ctx, pc, &b) ? NULL : b;
	return follow(ctx, from, taken ? &from->taken : &from->next, pc);
}

static inline const struct rvt_memo_path *path_of(const struct rvt_flow *flow,
						  const struct rvt_memo *m)
{
	return &flow->memo->paths[m - flow->memo->memos];
}

/* The counts of a path, which may be replaced then. */
static void expand(struct rvt_flow *flow, const struct rvt_memo *m)
{
	uint64_t *times = &flow->memo->times[m - flow->memo->memos];
	const struct rvt_memo_path *path = path_of(flow, m);

	if (!*times)
		return;
	rvt_counts_path(flow->counts, path->runs, m->n_runs, *times);
	if (!m->pops)
		rvt_counts_edge(flow->counts, m->last, m->last->insns - 1, path->end_pc, *times);
	*times = 0;
}

void rvt_flow_expand_memo(struct rvt_flow *flow)
{
	for (size_t i = 0; flow->memo && i < RVT_MEMO_ENTRIES; i++)
		expand(flow, &flow->memo->memos[i]);
}

/* A path is replayed. */
static inline void count_path(struct rvt_flow *flow, const struct rvt_memo *m)
{
	struct rvt_counts *counts = flow->counts;

	rvt_counts_begin(counts, m->start->pub.pc);
	flow->memo->times[m - flow->memo->memos]++;
	rvt_counts_ahead(counts, m->last, m->last->insns - 1, path_of(flow, m)->end_pc);
	counts->ahead = !m->pops;
}

/* Nothing is known yet of what follows @b under @key: noted, and found out the second time. */
static void learn(struct rvt_flow *flow, uint32_t flags, struct rvt_memo *m,
		  struct rvt_code_block *b, uint32_t key)
{
	struct rvt_piece *piece = flow->piece;

	if (m->start != b || m->key != key) {
		expand(flow, m);
		m->start = b;
		m->key = key;
		m->built = false;
		m->n_runs = 0;
	} else if (!m->built && b->view) {
		rvt_memo_build(m, &flow->memo->paths[m - flow->memo->memos], b, key, flags, flow,
			       next_of_path);
		flow->piece = piece;
	}
}

/*
 * What the calls and returns of a path do to the stack. Sets *popped if the path ends in a return.
 * False, and nothing has happened, if this must be done one by one.
 */
static bool replay_calls(struct rvt_flow *flow, const struct rvt_memo *m, uint64_t *popped)
{
	const struct rvt_memo_path *path = path_of(flow, m);
	struct rvt_return_stack *stack = &flow->returns;

	if (!stack->depth)
		return !m->returns;
	if (m->nesting && (stack->recursion_max || m->nesting > stack->depth))
		return false;
	if (m->pops) {
		if (!stack->used || stack->used + m->nesting > stack->depth)
			return false;
		rvt_returns_nest(stack, m->nesting);
		return rvt_returns_pop(stack, popped);
	}
	rvt_returns_nest(stack, m->nesting);
	/* Calls drop the oldest entries even if the path returns from them. */
	if (stack->used + m->nesting > stack->depth)
		stack->used = stack->depth - m->nesting;
	for (unsigned int i = 0; i < m->n_pushes; i++)
		rvt_returns_push(stack, path->pushes[i]);
	return true;
}

/* Room in the batch for the runs of @m, which are then in it. False: delivering went wrong. */
static bool replay_runs(struct rvt_flow *flow, const struct rvt_memo *m)
{
	const struct rvt_memo_path *path = path_of(flow, m);
	struct rvt_run *to = flow->runs + flow->n_runs;

	/* Whole pieces of a fixed size copy faster; the batch has room for the excess. */
	for (unsigned int i = 0; i < m->n_runs; i += 2)
		memcpy(to + i, path->runs + i, 2 * sizeof(*to));
	flow->n_runs += m->n_runs;
	return flow->n_runs < RVT_FLOW_BATCH || !rvt_flow_deliver(flow);
}

/*
 * Replays paths from flow->block on, which is at its first instruction, as long as there are some.
 * Returns GO_ON, or -ECANCELED.
 */
static int replay(struct rvt_flow *flow, struct walk *w)
{
	uint64_t insns_left = w->insns_left, halfwords_left = w->halfwords_left;
	uint64_t low = flow->piece->start, high = flow->piece->last;
	struct rvt_code_block *b = flow->block;
	const struct rvt_memo *last = NULL;
	/* An instruction that just went on to the next may decide where a jump goes. */
	bool after_fall = flow->consecutive;
	uint64_t popped = 0;
	int stop = GO_ON;

	while (b) {
		struct rvt_memo *m;
		struct rvt_memo_reach *reach = rvt_memo_reach(flow->memo, b);
		uint32_t n = reach->outcomes, key;

		if (w->n_bits < n)
			fill(w);
		n = w->n_bits < n ? w->n_bits : n;
		if (!n)
			break;
		key = (w->bits & ((1u << n) - 1)) | 1u << n;
		m = &flow->memo->memos[rvt_memo_index(b, key)];
		if (m->start != b || m->key != key || !m->n_runs) {
			rvt_memo_miss(reach);
			learn(flow, w->flags, m, b, key);
			break;
		}
		if (m->halfwords > halfwords_left || m->insns > insns_left ||
		    m->low < low || m->high > high || (m->alone && after_fall))
			break;
		if ((m->nesting || m->pops) && !replay_calls(flow, m, &popped))
			break;
		rvt_memo_hit(reach);
		w->bits >>= m->used;
		w->n_bits -= m->used;
		w->outcomes_left -= m->used;
		halfwords_left -= m->halfwords;
		insns_left -= m->insns;
		w->branches += m->branches;
		w->taken += m->taken;
		w->returns += m->returns;
		w->indirect += m->indirect;
		after_fall = m->last->end == RVT_END_FALL;
		last = m;
		b = m->end;
		if (flow->counts)
			count_path(flow, m);
		if (flow->collect && !replay_runs(flow, m)) {
			stop = -ECANCELED;
			break;
		}
		if (!flow->piece) {	/* the callback changed the mappings */
			b = NULL;
		} else if (m->pops && !rvt_flow_enter(flow, popped, &b)) {
			low = flow->piece->start;
			high = flow->piece->last;
		}
	}
	if (!last)
		return stop;
	w->halfwords_left = halfwords_left;
	w->insns += w->insns_left - insns_left;
	w->insns_left = insns_left;
	flow->has_last = true;
	flow->consecutive = true;
	flow->last_block = last->last;
	flow->last_insn = last->last->insns - 1;
	go(flow, b, last->pops ? popped : path_of(flow, last)->end_pc);
	return stop;
}

/* The memo serves orders with outcomes in bits. */
static bool prepare_memo(struct rvt_flow *flow, const struct rvt_order *order)
{
	if (order->outcome || !order->n_outcomes)
		return false;
	if (!flow->memo) {
		flow->memo = aligned_alloc(64, sizeof(*flow->memo));
		flow->memo_flags = (uint32_t)~RVT_MEMO_FLAGS;
		if (flow->memo)
			memset(flow->memo->times, 0, sizeof(flow->memo->times));
	}
	if (flow->memo && flow->memo_flags != (order->flags & RVT_MEMO_FLAGS)) {
		if (flow->counts)
			rvt_flow_expand_memo(flow);
		memset(flow->memo->memos, 0, sizeof(flow->memo->memos));
		for (size_t i = 0; i < RVT_MEMO_REACHES; i++)
			flow->memo->reaches[i] = (struct rvt_memo_reach){
				.outcomes = RVT_MEMO_FIRST };
		flow->memo_flags = order->flags & RVT_MEMO_FLAGS;
	}
	return flow->memo;
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
		if (w->memo && w->outcomes_left && !flow->insn && flow->piece) {
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
		.memo = prepare_memo(flow, order),
	};
	uint64_t halfwords;
	int stop;

	if (order->max_insns == RVT_UNLIMITED && order->max_halfwords == RVT_UNLIMITED)
		w.insns_left = RVT_FLOW_MAX_INSNS;
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
