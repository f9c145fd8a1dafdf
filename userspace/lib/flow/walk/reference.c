// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Reference walk: one instruction at a time, nothing remembered but the return stack. Slow and
 * plain on purpose; tests compare the block walk with it.
 */
#include <errno.h>
#include "flow/walk/emit.h"

struct walk {
	struct rvt_order *order;
	uint64_t outcomes_left, halfwords_left, insns_left;
	uint64_t bits;			/* outcomes at hand (with PREDICTED: all that are known): */
	uint32_t n_bits;
	bool executed;
	bool after_load;		/* the instruction before was lui or auipc: */
	struct rvt_insn load;
	uint64_t load_pc;
};

enum { EXECUTE = -1 };

static bool is_direct_jump(const struct rvt_insn *insn)
{
	return insn->iclass == RVT_INSN_JUMP || insn->iclass == RVT_INSN_JUMP_LINKED ||
	       insn->iclass == RVT_INSN_CALL;
}

/* Without a known jump table, table jumps are indirect. */
static void resolve_table(struct rvt_insn *insn, uint64_t target)
{
	if (!(insn->flags & RVT_INSN_F_TABLE) || target)
		return;
	insn->iclass = insn->iclass == RVT_INSN_CALL ? RVT_INSN_IND_CALL : RVT_INSN_IND_JUMP;
}

static bool needs_outcome(const struct walk *w, const struct rvt_insn *insn)
{
	return insn->iclass == RVT_INSN_BRANCH ||
	       (w->order->flags & RVT_RUN_ALL_JUMPS && is_direct_jump(insn));
}

static bool next_predicted(struct rvt_flow *flow, struct walk *w, uint64_t pc)
{
	uint8_t *entry = rvt_prediction_at(&flow->base.predictions, pc);
	const bool taken = w->n_bits ? w->bits & 1 : *entry >> 1;

	if (w->n_bits) {
		w->bits >>= 1;
		w->n_bits--;
	}
	w->outcomes_left--;
	rvt_prediction_note(entry, taken);
	return taken;
}

/* Returns the next outcome, 0 or 1; -1: there is none that fits. */
static int next_outcome(struct rvt_flow *flow, struct walk *w, const struct rvt_insn *insn,
			uint64_t pc)
{
	const struct rvt_order *order = w->order;
	bool last = w->halfwords_left == insn->len_bytes / 2;
	int taken;

	if (w->outcomes_left) {
		if (order->flags & RVT_RUN_PREDICTED)
			return next_predicted(flow, w, pc);
		if (!w->n_bits && !order->outcome)
			w->n_bits = order->refill(order->refill_ctx, &w->bits);
		taken = order->outcome ? order->outcome(order->outcome_ctx, pc) :
					 (int)(w->bits & 1);
		if (!taken && insn->iclass != RVT_INSN_BRANCH)
			return -1;
		w->bits >>= 1;
		w->n_bits--;
		w->outcomes_left--;
		return taken;
	}
	if (last && order->flags & RVT_RUN_LAST_TAKEN)
		return 1;
	if (insn->iclass == RVT_INSN_BRANCH && order->flags & RVT_RUN_NOT_TAKEN)
		return 0;
	return -1;
}

/* Returns the first stop of flow/order.h that forbids executing @insn at @pc, or EXECUTE. */
static int check_stops(struct rvt_flow *flow, struct walk *w, uint64_t pc, struct rvt_insn *insn)
{
	uint32_t flags = w->order->flags;
	int ret;

	if (!w->insns_left)
		return RVT_STOP_INSNS;
	if (!w->halfwords_left)
		return RVT_STOP_HALFWORDS;
	if (flags & RVT_RUN_STOP_PC && !w->outcomes_left && w->executed && pc == w->order->stop_pc)
		return RVT_STOP_PC;
	ret = rvt_flow_peek_at(flow, pc, insn);
	if (ret)
		return ret == -EILSEQ ? RVT_STOP_BAD_INSN : RVT_STOP_NO_CODE;
	if (insn->iclass == RVT_INSN_ECALL || insn->iclass == RVT_INSN_EBREAK) {
		if (!(flags & RVT_RUN_ECALL_COUNTS))
			return RVT_STOP_TRAP_INSN;
		if (insn->len_bytes / 2 > w->halfwords_left)
			return RVT_STOP_MID_INSN;
		w->halfwords_left -= insn->len_bytes / 2;
		return RVT_STOP_TRAP_INSN;
	}
	return insn->len_bytes / 2 > w->halfwords_left ? RVT_STOP_MID_INSN : EXECUTE;
}

/* Finds where an indirect jump leads. Returns a stop, or EXECUTE and sets *next. */
static int leave_indirect(struct rvt_flow *flow, struct walk *w, const struct rvt_insn *insn,
			  uint64_t pc, uint64_t *next)
{
	struct rvt_order *order = w->order;
	bool swap = insn->iclass == RVT_INSN_COROUTINE && order->flags & RVT_RUN_COROUTINE;
	bool is_return = insn->iclass == RVT_INSN_RETURN || swap;
	uint64_t target;
	bool inferred = order->flags & RVT_RUN_SEQUENTIAL_JUMP && w->after_load &&
			rvt_code_sequential(&flow->code, w->load_pc, &w->load, insn, &target);

	flow->stats.indirect++;
	if (is_return)
		order->popped_valid = rvt_returns_pop(&flow->base.returns, &order->popped);
	if (insn->iclass == RVT_INSN_IND_CALL || swap)
		rvt_returns_push(&flow->base.returns, *next);
	if (inferred) {
		*next = target;
		return EXECUTE;
	}
	if (is_return && order->flags & RVT_RUN_STOP_RETURN)
		return RVT_STOP_RETURN;
	if (is_return && order->flags & RVT_RUN_IMPLICIT_RETURN && order->popped_valid) {
		order->implicit_returns++;
		*next = order->popped;
		return EXECUTE;
	}
	if (insn->flags & RVT_INSN_F_ABSOLUTE && order->flags & RVT_RUN_ABSOLUTE_JUMP) {
		*next = rvt_code_target(flow->space, &flow->code, pc, insn);
		return EXECUTE;
	}
	return RVT_STOP_TARGET;
}

/* Tells that @insn was executed, and finds where it leads. */
static int execute(struct rvt_flow *flow, struct walk *w, struct rvt_insn *insn, uint64_t pc,
		   uint64_t target, int taken)
{
	uint64_t next = rvt_code_addr(&flow->code, pc + insn->len_bytes);
	struct rvt_code_block *block;
	int stop = EXECUTE;

	if (rvt_flow_single(flow, pc, &block))
		return -ENOMEM;
	w->executed = true;
	w->insns_left--;
	w->halfwords_left -= insn->len_bytes / 2;
	flow->stats.insns++;
	flow->stats.halfwords += insn->len_bytes / 2;
	switch (insn->iclass) {
	case RVT_INSN_SEQUENTIAL:
		break;
	case RVT_INSN_BRANCH:
		flow->stats.branches++;
		flow->stats.taken += taken;
		if (taken)
			next = target;
		break;
	case RVT_INSN_CALL:
		rvt_returns_push(&flow->base.returns, next);
		next = target;
		break;
	case RVT_INSN_JUMP:
	case RVT_INSN_JUMP_LINKED:
		next = target;
		break;
	default:
		stop = leave_indirect(flow, w, insn, pc, &next);
		break;
	}
	w->after_load = insn->flags & RVT_INSN_F_LOADS_IMM;
	w->load = *insn;
	w->load_pc = pc;
	flow->has_last = true;
	flow->consecutive = insn->iclass == RVT_INSN_SEQUENTIAL;
	flow->last_block = block;
	flow->last_insn = 0;
	flow->pc = next;
	if (rvt_flow_emit(flow, block, 0, 1))
		return -ECANCELED;
	return stop;
}

/* Takes over the lui or auipc that an earlier order executed, if the flow has just gone on. */
static void resume(struct rvt_flow *flow, struct walk *w)
{
	enum rvt_insn_class iclass;

	if (!flow->consecutive || !rvt_flow_last(flow, &w->load_pc, &iclass) ||
	    rvt_flow_peek_at(flow, w->load_pc, &w->load))
		return;
	w->after_load = w->load.flags & RVT_INSN_F_LOADS_IMM;
}

static int walk_insns(struct rvt_flow *flow, struct walk *w)
{
	for (;;) {
		uint64_t pc = flow->pc, target;
		struct rvt_insn insn;
		int stop = check_stops(flow, w, pc, &insn), taken = 0;

		if (stop != EXECUTE)
			return stop;
		target = rvt_code_target(flow->space, &flow->code, pc, &insn);
		resolve_table(&insn, target);
		if (needs_outcome(w, &insn)) {
			taken = next_outcome(flow, w, &insn, pc);
			if (taken < 0)
				return RVT_STOP_OUTCOME;
		} else if (w->order->flags & RVT_RUN_STOP_USED && !w->outcomes_left) {
			return RVT_STOP_USED;
		}
		stop = execute(flow, w, &insn, pc, target, taken);
		if (stop != EXECUTE)
			return stop;
	}
}

int rvt_walk_reference(struct rvt_flow *flow, struct rvt_order *order)
{
	struct walk w = {
		.order = order,
		.outcomes_left = order->n_outcomes,
		.bits = order->outcomes,
		.n_bits = order->flags & RVT_RUN_PREDICTED ? order->n_known :
			  order->n_outcomes < 64 ? order->n_outcomes : 64,
		.halfwords_left = order->max_halfwords,
		.insns_left = order->max_insns,
	};
	int stop;

	if (order->max_insns == RVT_UNLIMITED && order->max_halfwords == RVT_UNLIMITED)
		w.insns_left = RVT_FLOW_MAX_INSNS;
	resume(flow, &w);
	stop = walk_insns(flow, &w);
	order->used_outcomes = order->n_outcomes - w.outcomes_left;
	order->halfwords = order->max_halfwords - w.halfwords_left;
	return stop;
}
