// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Block walk: executes whole blocks, and follows links between them.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "flow/walk/emit.h"
#include "flow/walk/walk.h"

/* The first limit that forbids executing the instruction at @pc; RVT_GO_ON if none does. */
static int stop_before(const struct rvt_walk *w, uint64_t pc)
{
	if (!w->insns_left)
		return RVT_STOP_INSNS;
	if (!w->halfwords_left)
		return RVT_STOP_HALFWORDS;
	if (w->flags & RVT_RUN_STOP_PC && !rvt_outcomes_left(&w->outcomes) && w->insns &&
	    pc == w->order->stop_pc)
		return RVT_STOP_PC;
	return RVT_GO_ON;
}

/* @count instructions of @b from flow->insn on, @halfwords long, are executed. */
static int execute(struct rvt_flow *flow, struct rvt_walk *w, struct rvt_code_block *b,
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
 * Some limit lies inside the rest of @b, or may: executes up to it, but not instruction number
 * @end. Returns the stop, or RVT_GO_ON when that is next.
 */
static int execute_up_to(struct rvt_flow *flow, struct rvt_walk *w, struct rvt_code_block *b,
			 uint32_t end)
{
	uint64_t insns = w->insns_left, halfwords = w->halfwords_left;
	uint64_t pc = rvt_flow_current(flow);
	bool executed = w->insns;
	uint32_t i = flow->insn, done = 0;
	int stop = RVT_GO_ON;

	for (; i < end; i++) {
		uint32_t length = b->pub.halfwords[i];

		if (!insns)
			stop = RVT_STOP_INSNS;
		else if (!halfwords)
			stop = RVT_STOP_HALFWORDS;
		else if (w->flags & RVT_RUN_STOP_PC && executed && pc == w->order->stop_pc &&
			 !rvt_outcomes_left(&w->outcomes))
			stop = RVT_STOP_PC;
		else if (length > halfwords)
			stop = RVT_STOP_MID_INSN;
		if (stop != RVT_GO_ON)
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
static inline bool fits(const struct rvt_flow *flow, const struct rvt_walk *w,
			const struct rvt_code_block *b)
{
	if (b->halfwords - flow->halfword > w->halfwords_left ||
	    b->insns - flow->insn > w->insns_left)
		return false;
	return !(w->flags & RVT_RUN_STOP_PC) || rvt_outcomes_left(&w->outcomes) ||
	       w->order->stop_pc - b->pub.pc >= b->pub.bytes;
}

/* Whether the end of @b uses up an outcome. */
static bool needs_outcome(const struct rvt_walk *w, const struct rvt_code_block *b)
{
	return b->end == RVT_END_BRANCH ||
	       (w->flags & RVT_RUN_ALL_JUMPS && (b->end == RVT_END_JUMP || b->end == RVT_END_CALL));
}

/* Returns the predicted outcome of the branch at @pc, and uses it up. One is left. */
static bool take_predicted(struct rvt_flow *flow, struct rvt_outcomes *outcomes, uint64_t pc)
{
	uint8_t *entry = rvt_prediction_at(&flow->base.predictions, pc);
	bool taken = *entry >> 1;

	if (outcomes->n_bits) {
		taken = outcomes->bits & 1;
		outcomes->bits >>= 1;
		outcomes->n_bits--;
	} else {
		outcomes->behind--;
	}
	rvt_prediction_note(entry, taken);
	return taken;
}

/*
 * Returns the outcome for the end of @b: 0 or 1; -1 when there is none, or none that fits. @last:
 * the block uses up the last half-word.
 */
static inline int take_outcome(struct rvt_flow *flow, struct rvt_walk *w,
			       const struct rvt_code_block *b, bool last)
{
	struct rvt_outcomes *outcomes = &w->outcomes;
	int taken;

	if (!rvt_outcomes_left(outcomes)) {
		if (w->flags & RVT_RUN_LAST_TAKEN && last)
			return 1;
		return w->flags & RVT_RUN_NOT_TAKEN && b->end == RVT_END_BRANCH ? 0 : -1;
	}
	if (w->flags & RVT_RUN_PREDICTED)
		return take_predicted(flow, outcomes, b->end_pc - 2 * b->last_halfwords);
	if (w->order->outcome) {
		outcomes->behind--;
		return w->order->outcome(w->order->outcome_ctx,
					 b->end_pc - 2 * b->last_halfwords);
	}
	if (!outcomes->n_bits)
		rvt_walk_fill(w);
	taken = outcomes->bits & 1;
	if (!taken && b->end != RVT_END_BRANCH)
		return -1;
	outcomes->bits >>= 1;
	outcomes->n_bits--;
	return taken;
}

/* True when the indirect jump at the end of @b goes where the instruction before it says. */
static bool infer_sequential(struct rvt_flow *flow, const struct rvt_walk *w,
			     const struct rvt_code_block *b, bool consecutive, uint64_t *target)
{
	uint64_t jump_pc = b->end_pc - 2 * b->last_halfwords, load_pc;
	struct rvt_insn load, jump;
	enum rvt_insn_class iclass;

	if (!(w->flags & RVT_RUN_SEQUENTIAL_JUMP))
		return false;
	/* Usually both instructions are in this block and were executed in a row. */
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

/* Executes what is left of @b, which no limit forbids, and moves on to its successor. */
static int execute_block(struct rvt_flow *flow, struct rvt_walk *w, struct rvt_code_block *b)
{
	uint32_t count = b->insns - flow->insn, halfwords = b->halfwords - flow->halfword;
	bool inferred = false;
	uint64_t target = 0;
	int taken = 0;

	if (needs_outcome(w, b)) {
		taken = take_outcome(flow, w, b, w->halfwords_left == halfwords);
		if (taken < 0) {
			int stop = execute_up_to(flow, w, b, b->insns - 1);

			return stop == RVT_GO_ON ? RVT_STOP_OUTCOME : stop;
		}
	} else if (b->end >= RVT_END_INDIRECT && b->end <= RVT_END_RETURN) {
		inferred = infer_sequential(flow, w, b, count > 1 || flow->consecutive, &target);
	}
	if (execute(flow, w, b, count, halfwords))
		return -ECANCELED;
	switch (b->end) {
	case RVT_END_FALL:
		return rvt_walk_go(flow, b->end_pc);
	case RVT_END_BRANCH:
		w->branches++;
		w->taken += taken;
		return rvt_walk_go(flow, taken ? b->pub.target : b->end_pc);
	case RVT_END_CALL:
		rvt_returns_push(&flow->base.returns, b->end_pc);
		/* fall through */
	case RVT_END_JUMP:
		return rvt_walk_go(flow, b->pub.target);
	case RVT_END_TRAP_INSN:
		return RVT_GO_ON;
	default:
		return rvt_walk_leave(flow, w, &(struct rvt_leaving){
			b->end, inferred, b->absolute, b->end_pc,
			inferred ? target : b->pub.target,
		});
	}
}

/* The ecall or ebreak at the end of @b is next. Returns the stop that the order wants there. */
static int at_trap_insn(struct rvt_walk *w, const struct rvt_code_block *b)
{
	int stop = stop_before(w, b->end_pc - 2 * b->last_halfwords);

	if (stop != RVT_GO_ON)
		return stop;
	if (w->flags & RVT_RUN_ECALL_COUNTS) {
		if (b->last_halfwords > w->halfwords_left)
			return RVT_STOP_MID_INSN;
		w->halfwords_left -= b->last_halfwords;
	}
	return RVT_STOP_TRAP_INSN;
}

/* Finds the block at flow->pc. */
static int find(struct rvt_flow *flow, struct rvt_walk *w)
{
	int stop = stop_before(w, flow->pc), ret;

	if (stop != RVT_GO_ON)
		return stop;
	ret = rvt_flow_enter(flow, flow->pc, &flow->block);
	flow->insn = 0;
	flow->halfword = 0;
	if (!ret)
		return RVT_GO_ON;
	flow->block = NULL;
	if (ret == -ENOENT)
		return RVT_STOP_NO_CODE;
	return ret == -EILSEQ ? RVT_STOP_BAD_INSN : ret;
}

/* As execute_block(), but a limit may lie in @b. */
static int execute_limited(struct rvt_flow *flow, struct rvt_walk *w, struct rvt_code_block *b)
{
	int stop = execute_up_to(flow, w, b, b->insns - 1);

	if (stop == RVT_GO_ON)
		stop = stop_before(w, rvt_flow_current(flow));
	if (stop != RVT_GO_ON)
		return stop;
	if (b->pub.halfwords[b->insns - 1] > w->halfwords_left)
		return RVT_STOP_MID_INSN;
	return execute_block(flow, w, b);
}

/*
 * RVT_RUN_STOP_USED with no outcome left: the order is done, unless another stop holds here.
 */
static int all_used(struct rvt_flow *flow, struct rvt_walk *w, struct rvt_code_block *b)
{
	int stop = stop_before(w, rvt_flow_current(flow));

	if (stop != RVT_GO_ON)
		return stop;
	if (flow->insn == b->insns)
		return at_trap_insn(w, b);
	if (b->pub.halfwords[flow->insn] > w->halfwords_left)
		return RVT_STOP_MID_INSN;
	if (flow->insn + 1 == b->pub.insns && needs_outcome(w, b))
		return RVT_STOP_OUTCOME;
	return RVT_STOP_USED;
}

/* Whether segments may begin here, and the order has what they need. */
static inline bool is_at_segment(const struct rvt_flow *flow, const struct rvt_walk *w)
{
	const uint64_t outcomes = rvt_outcomes_left(&w->outcomes);

	return w->uses_segments && outcomes <= w->segments_at && !flow->insn && flow->mapping &&
	       (outcomes >= RVT_SEGMENT_OUTCOMES || w->tails || (w->ends && outcomes)) &&
	       flow->block->table;
}

int rvt_walk_order(struct rvt_flow *flow, struct rvt_walk *w)
{
	int stop;

	do {
		struct rvt_code_block *b = flow->block;

		if (!b) {
			stop = find(flow, w);
			continue;
		}
		if (is_at_segment(flow, w)) {
			stop = rvt_walk_segments(flow, w);
			b = flow->block;
			if (stop != RVT_GO_ON || !b)
				continue;
		}
		if (w->flags & RVT_RUN_STOP_USED && !rvt_outcomes_left(&w->outcomes))
			stop = all_used(flow, w, b);
		else if (flow->insn == b->insns)
			stop = at_trap_insn(w, b);
		else if (fits(flow, w, b))
			stop = execute_block(flow, w, b);
		else
			stop = execute_limited(flow, w, b);
	} while (stop == RVT_GO_ON);
	return stop;
}
