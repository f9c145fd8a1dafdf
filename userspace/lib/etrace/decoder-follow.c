// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * E-Trace decoder: from one reported instruction to the next.
 */
#include <string.h>
#include <etrace/decoder-state.h>

/* Visits of the reported address, and returns, before the right one. */
#define MAX_STOPS 100000
/* 2.0.5: the next return is reported. */
#define MAX_IRETS 255

static const struct path no_path;

uint32_t rvt_etrace_run_flags(const struct rvt_etrace_decoder *dec)
{
	uint32_t options = dec->codec.params.options;
	uint32_t flags = RVT_RUN_ABSOLUTE_JUMP;

	if (options & RVT_OPT_IMPLICIT_RETURN)
		flags |= RVT_RUN_IMPLICIT_RETURN;
	if (options & RVT_OPT_SEQUENTIAL_JUMP)
		flags |= RVT_RUN_SEQUENTIAL_JUMP;
	if (dec->predictor_size)
		flags |= RVT_RUN_PREDICTED;
	return flags;
}

static void set_outcomes(struct rvt_order *order, const struct path *path)
{
	order->n_outcomes = path->map_bits + path->predicted;
	order->outcomes = path->map;
	order->n_known = path->map_bits;
}

static void begin_order(struct rvt_etrace_decoder *dec, const struct path *path,
			struct rvt_order *order)
{
	memset(order, 0, sizeof(*order));
	order->flags = rvt_etrace_run_flags(dec);
	order->max_halfwords = RVT_UNLIMITED;
	order->max_insns = RVT_UNLIMITED;
	set_outcomes(order, path);
}

static uint64_t last_pc(const struct rvt_etrace_decoder *dec)
{
	enum rvt_insn_class iclass;
	uint64_t pc = 0;

	rvt_flow_last(dec->flow, &pc, &iclass);
	return pc;
}

static bool came_by_return(const struct rvt_etrace_decoder *dec)
{
	enum rvt_insn_class iclass;
	uint64_t pc;

	return rvt_flow_last(dec->flow, &pc, &iclass) && iclass == RVT_INSN_RETURN;
}

/*
 * rvt_flow_run(), but implicit returns go to the jump target cache (2.0.5's decoder does this,
 * its text forbids it: a parameter decides).
 */
static int run_noting_returns(struct rvt_etrace_decoder *dec, struct rvt_order *order)
{
	bool implicit = order->flags & RVT_RUN_IMPLICIT_RETURN;
	uint64_t used = 0, pc;
	int stop;

	if (implicit)
		order->flags |= RVT_RUN_STOP_RETURN;
	for (;;) {
		stop = rvt_flow_run(dec->flow, order);
		used += order->used_outcomes;
		if (stop != RVT_STOP_RETURN || !implicit)
			break;
		if (!order->popped_valid) {
			stop = RVT_STOP_TARGET;
			break;
		}
		rvt_etrace_cache_note(dec, last_pc(dec), order->popped, true);
		stop = rvt_flow_jump(dec->flow, order->popped);
		if (stop)
			return stop;
		order->n_outcomes -= order->used_outcomes;
		order->n_known -= order->used_outcomes < order->n_known ? order->used_outcomes :
									  order->n_known;
		order->outcomes >>= order->used_outcomes & 63;
		if (order->flags & RVT_RUN_STOP_PC && !order->n_outcomes &&
		    rvt_flow_pc(dec->flow, &pc) && pc == order->stop_pc) {
			stop = RVT_STOP_PC;
			break;
		}
	}
	order->used_outcomes = used;
	return stop;
}

static int run(struct rvt_etrace_decoder *dec, struct rvt_order *order)
{
	if (dec->cache && dec->codec.params.jump_cache_returns == RVT_JUMP_CACHE_ALL_RETURNS)
		return run_noting_returns(dec, order);
	return rvt_flow_run(dec->flow, order);
}

static int fail(struct rvt_etrace_failure *failure, enum rvt_reason reason, const char *detail)
{
	failure->reason = reason;
	failure->detail = detail;
	return RVT_ETRACE_NOWHERE;
}

static int fail_stop(struct rvt_etrace_failure *failure, int stop)
{
	switch (stop) {
	case RVT_STOP_OUTCOME:
		return fail(failure, RVT_REASON_BAD_FLOW, "a branch without outcome on the way");
	case RVT_STOP_TARGET:
	case RVT_STOP_RETURN:
		return fail(failure, RVT_REASON_BAD_FLOW, "a jump before all branches");
	case RVT_STOP_TRAP_INSN:
		return fail(failure, RVT_REASON_BAD_FLOW, "an ecall or ebreak, but no trap");
	case RVT_STOP_NO_CODE:
		return fail(failure, RVT_REASON_NO_CODE, "no code is known there");
	case RVT_STOP_BAD_INSN:
		return fail(failure, RVT_REASON_BAD_INSN, "no instruction there");
	default:
		return fail(failure, RVT_REASON_BAD_FLOW, "the reported address is never reached");
	}
}

/* The uninferable jump that was just executed goes to the target. */
static int take_jump(struct rvt_etrace_decoder *dec, uint64_t target, bool mispredicted)
{
	bool keep = !mispredicted ||
		    dec->codec.params.jump_cache_returns != RVT_JUMP_CACHE_NO_RETURNS;
	int ret;

	rvt_etrace_cache_note(dec, last_pc(dec), target, keep);
	ret = rvt_flow_jump(dec->flow, target);
	return ret ? ret : RVT_ETRACE_BY_JUMP;
}

/*
 * To a goal. A synchronisation packet's is none of the addresses that the jump target cache takes.
 */
static int take_jump_to_goal(struct rvt_etrace_decoder *dec, const struct goal *goal,
			     bool mispredicted)
{
	int ret;

	if (!goal->sync)
		return take_jump(dec, goal->target, mispredicted);
	ret = rvt_flow_jump(dec->flow, goal->target);
	return ret ? ret : RVT_ETRACE_BY_JUMP;
}

/* ---- without irreport ---- */

/*
 * 2.0: an address that follows a return which was followed implicitly is reported without irreport
 * only if the return stack is empty then.
 */
static bool is_inner_return(struct rvt_etrace_decoder *dec, const struct goal *goal)
{
	if (dec->draft || dec->codec.iret_ext || goal->sync || goal->notify ||
	    !dec->return_depth || !came_by_return(dec))
		return false;
	dec->depth_matters = true;
	return rvt_flow_return_depth(dec->flow);
}

static int follow_plain(struct rvt_etrace_decoder *dec, const struct path *path,
			const struct goal *goal, struct rvt_etrace_failure *failure)
{
	struct rvt_order order;
	uint64_t total;
	int stop;

	begin_order(dec, path, &order);
	total = order.n_outcomes;
	if (!goal->by_jump_only && !goal->updiscon) {
		order.flags |= RVT_RUN_STOP_PC;
		order.stop_pc = goal->target;
	}
	for (;;) {
		stop = run(dec, &order);
		if (stop < 0)
			return stop;
		if (stop == RVT_STOP_PC && !is_inner_return(dec, goal))
			return RVT_ETRACE_BY_PATH;
		if (stop == RVT_STOP_TARGET && order.used_outcomes == total)
			return take_jump_to_goal(dec, goal, false);
		if (stop != RVT_STOP_PC)
			return fail_stop(failure, stop);
		set_outcomes(&order, &no_path);
		total = 0;
	}
}

/* ---- with irreport: implicit returns are counted, or the depth of the stack is ---- */

enum decision { FOLLOW, IS_WRONG, IS_REPORTED };

/*
 * Decides what a return means that would be followed to @popped. @irets: implicit returns since the
 * last outcome.
 */
static enum decision decide_return(struct rvt_etrace_decoder *dec, const struct goal *goal,
				   uint64_t popped, uint64_t irets)
{
	unsigned int depth = rvt_flow_return_depth(dec->flow) + 1;

	if (dec->codec.iret_ext) {
		if (irets != goal->ir)
			return FOLLOW;
		return popped == goal->target ? IS_REPORTED : IS_WRONG;
	}
	if (popped == goal->target)
		return FOLLOW;
	/* 0.029: the field has no bit for a full stack. */
	if (dec->draft)
		depth &= rvt_etrace_mask(dec->codec.params.return_stack_size_p);
	return depth == goal->ir ? IS_WRONG : FOLLOW;
}

/*
 * A return that was predicted and that nothing but its target's report made known, such as a
 * notification, goes to the cache as others do. One too many to be counted does not.
 */
static bool is_predicted(const struct rvt_etrace_decoder *dec, enum decision decision,
			 uint64_t irets)
{
	return dec->codec.params.jump_cache_returns == RVT_JUMP_CACHE_ALL_RETURNS &&
	       (decision == FOLLOW || irets < MAX_IRETS);
}

/* Whether the flow, which stands before the target, is where the packet says. */
static bool is_goal(struct rvt_etrace_decoder *dec, const struct goal *goal, uint64_t irets)
{
	if (goal->by_jump_only || goal->updiscon)
		return false;
	if (rvt_flow_branch_at(dec->flow, goal->target))
		return true;
	/* An instruction that follows no return has irreport only with irets. */
	if (dec->codec.iret_ext)
		return goal->ir && irets == goal->ir && !came_by_return(dec);
	return goal->notify || (!dec->draft && rvt_flow_return_depth(dec->flow) == goal->ir);
}

static bool stands_at(const struct rvt_etrace_decoder *dec, uint64_t address)
{
	uint64_t pc;

	return rvt_flow_pc(dec->flow, &pc) && pc == address;
}

/* From where all outcomes are used. @irets: returns followed since. */
static int follow_returns(struct rvt_etrace_decoder *dec, const struct goal *goal, uint64_t irets,
			  struct rvt_etrace_failure *failure)
{
	struct rvt_order order;

	begin_order(dec, &no_path, &order);
	order.flags |= RVT_RUN_STOP_RETURN | RVT_RUN_STOP_PC;
	order.stop_pc = goal->target;
	for (unsigned int i = 0; i < MAX_STOPS; i++) {
		int stop = rvt_flow_run(dec->flow, &order), ret;
		enum decision decision;

		if (stop < 0)
			return stop;
		if (stop == RVT_STOP_PC) {
			if (is_goal(dec, goal, irets))
				return RVT_ETRACE_BY_PATH;
			continue;
		}
		if (stop == RVT_STOP_TARGET || (stop == RVT_STOP_RETURN && !order.popped_valid))
			return take_jump_to_goal(dec, goal, false);
		if (stop != RVT_STOP_RETURN)
			return fail_stop(failure, stop);
		decision = decide_return(dec, goal, order.popped, irets);
		if (decision == IS_WRONG)
			return take_jump_to_goal(dec, goal, true);
		if (is_predicted(dec, decision, irets))
			rvt_etrace_cache_note(dec, last_pc(dec), order.popped, true);
		ret = rvt_flow_jump(dec->flow, order.popped);
		if (ret)
			return ret;
		if (decision == IS_REPORTED)
			return RVT_ETRACE_BY_JUMP;
		irets++;
		if (stands_at(dec, goal->target) && is_goal(dec, goal, irets))
			return RVT_ETRACE_BY_PATH;
	}
	return fail_stop(failure, RVT_STOP_INSNS);
}

static int follow_irreport(struct rvt_etrace_decoder *dec, const struct path *path,
			   const struct goal *goal, struct rvt_etrace_failure *failure)
{
	struct rvt_order order;
	int stop;

	begin_order(dec, path, &order);
	if (order.n_outcomes) {
		order.flags |= RVT_RUN_STOP_USED;
		stop = run(dec, &order);
		if (stop < 0)
			return stop;
		/* A branch right behind the last one can only be the target itself. */
		if (stop != RVT_STOP_USED && stop != RVT_STOP_OUTCOME)
			return fail_stop(failure, stop);
		if (stands_at(dec, goal->target) && is_goal(dec, goal, 0))
			return RVT_ETRACE_BY_PATH;
		if (stop == RVT_STOP_OUTCOME)
			return fail_stop(failure, stop);
	}
	return follow_returns(dec, goal, 0, failure);
}

/* ---- to the target of a jump that is in the cache ---- */

/*
 * The entry is looked up when the jump is reached: returns on the way may change it. What is
 * left of the map then is the outcome of a branch at the target.
 */
int rvt_etrace_follow_cached(struct rvt_etrace_decoder *dec, const struct path *path,
			     unsigned int index, uint64_t *target, struct path *last,
			     struct rvt_etrace_failure *failure)
{
	struct rvt_order order;
	uint64_t total, left;
	int stop;

	begin_order(dec, path, &order);
	total = order.n_outcomes;
	stop = run(dec, &order);
	if (stop < 0)
		return stop;
	left = total - order.used_outcomes;
	if (stop != RVT_STOP_TARGET || left > 1)
		return fail_stop(failure, stop);
	*target = dec->cache[index];
	if (*target & 1)
		return fail(failure, RVT_REASON_BAD_FLOW, "jump target cache entry is not known");
	if (rvt_flow_branch_at(dec->flow, *target) != left)
		return fail(failure, RVT_REASON_BAD_FLOW, "wrong number of branches");
	*last = (struct path){ .map = path->map >> order.used_outcomes & 1, .map_bits = left };
	return take_jump(dec, *target, false);
}

/* ---- what decoder.c needs ---- */

int rvt_etrace_follow(struct rvt_etrace_decoder *dec, const struct path *path,
		      const struct goal *goal, struct rvt_etrace_failure *failure)
{
	if (goal->irreport && dec->return_depth)
		return follow_irreport(dec, path, goal, failure);
	return follow_plain(dec, path, goal, failure);
}

int rvt_etrace_follow_to_branch(struct rvt_etrace_decoder *dec, const struct path *path,
				struct rvt_etrace_failure *failure)
{
	struct rvt_order order;
	uint64_t total;
	int stop;

	begin_order(dec, path, &order);
	total = order.n_outcomes;
	stop = run(dec, &order);
	if (stop < 0)
		return stop;
	if (stop == RVT_STOP_OUTCOME && order.used_outcomes == total)
		return RVT_ETRACE_AT_BRANCH;
	return fail_stop(failure, stop);
}

int rvt_etrace_look_again(struct rvt_etrace_decoder *dec, struct rvt_etrace_failure *failure)
{
	const struct walk_goal anything = { .has_target = false };
	struct goal goal = dec->goal;
	struct rvt_order order;
	int stop;

	dec->inferred = false;
	/* Before anything but a synchronisation packet only a return that failed has irreport. */
	if (goal.irreport && dec->return_depth) {
		goal.by_jump_only = true;
		return follow_returns(dec, &goal, goal.ir, failure);
	}
	if (rvt_etrace_walk(dec, dec->address, &anything) != RVT_ETRACE_WALK_JUMP)
		return RVT_ETRACE_BY_PATH;
	begin_order(dec, &no_path, &order);
	stop = run(dec, &order);
	if (stop < 0)
		return stop;
	if (stop != RVT_STOP_TARGET)
		return fail_stop(failure, stop);
	return take_jump(dec, dec->address, false);
}

int rvt_etrace_finish_pending(struct rvt_etrace_decoder *dec, uint64_t *pc, bool *known)
{
	*known = rvt_flow_pc(dec->flow, pc);
	if (dec->pending) {
		struct rvt_order order;
		int stop;

		begin_order(dec, &dec->carried, &order);
		order.max_insns = 1;
		stop = rvt_flow_run(dec->flow, &order);
		if (stop < 0)
			return stop;
		if (stop == RVT_STOP_NO_CODE || stop == RVT_STOP_BAD_INSN) {
			struct rvt_etrace_failure failure;

			*known = false;
			fail_stop(&failure, stop);
			return rvt_etrace_decoder_fail(dec, &failure);
		}
		*known = stop != RVT_STOP_TARGET && stop != RVT_STOP_RETURN &&
			 rvt_flow_pc(dec->flow, pc);
	}
	dec->pending = dec->inferred = false;
	dec->carried = no_path;
	return 0;
}
