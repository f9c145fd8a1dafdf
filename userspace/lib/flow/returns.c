// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Return stack: it forgets its oldest entry when it overflows.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "flow/engine.h"

/* The height is relative to that at the beginning of the log. */
static void log_height(struct rvt_calls *log, int height)
{
	if (height > log->nesting)
		log->nesting = height;
	if (height > UINT8_MAX / 2 || log->n_pops + log->n_pushes > RVT_CALLS)
		log->invalid = true;
}

static void log_push(struct rvt_calls *log, uint64_t pc)
{
	if (log->invalid || log->n_pops + log->n_pushes == RVT_CALLS) {
		log->invalid = true;
		return;
	}
	log->pcs[RVT_CALLS - ++log->n_pushes] = pc;
	log_height(log, log->n_pushes - log->n_pops);
}

static void log_pop(struct rvt_calls *log, uint64_t pc)
{
	if (log->n_pushes)
		log->n_pushes--;
	else if (log->n_pops == RVT_CALLS)
		log->invalid = true;
	else
		log->pcs[log->n_pops++] = pc;
}

/* Calls that return at once: only the height counts. */
void rvt_returns_nest(struct rvt_return_stack *stack, unsigned int nesting)
{
	struct rvt_calls *log = stack->log;

	if (log)
		log_height(log, (int)nesting + log->n_pushes - log->n_pops);
}

struct rvt_calls *rvt_returns_log(struct rvt_return_stack *stack, struct rvt_calls *log)
{
	struct rvt_calls *outer = stack->log;

	*log = (struct rvt_calls){ .n_pops = 0 };
	stack->log = stack->depth ? log : NULL;
	return outer;
}

void rvt_returns_log_end(struct rvt_return_stack *stack, struct rvt_calls *outer)
{
	const struct rvt_calls *log = stack->log;

	stack->log = outer;
	if (!log || !outer)
		return;
	outer->invalid |= log->invalid;
	outer->empty |= log->empty;
	rvt_returns_nest(stack, log->nesting);
	for (unsigned int i = 0; i < log->n_pops; i++)
		log_pop(outer, log->pcs[i]);
	for (unsigned int i = 1; i <= log->n_pushes; i++)
		log_push(outer, log->pcs[RVT_CALLS - i]);
}

size_t rvt_calls_bytes(const struct rvt_calls *calls)
{
	if (!calls->n_pops && !calls->n_pushes && !calls->nesting && !calls->empty)
		return 0;
	return sizeof(struct rvt_kept_calls) +
	       (calls->n_pops + calls->n_pushes) * sizeof(calls->pcs[0]);
}

void rvt_calls_keep(const struct rvt_calls *calls, struct rvt_kept_calls *kept)
{
	uint64_t *pcs = kept->pcs;

	kept->n_pops = calls->n_pops;
	kept->n_pushes = calls->n_pushes;
	kept->nesting = calls->nesting;
	kept->empty = calls->empty;
	for (unsigned int i = 0; i < calls->n_pops; i++)
		*pcs++ = calls->pcs[i];
	for (unsigned int i = 1; i <= calls->n_pushes; i++)
		*pcs++ = calls->pcs[RVT_CALLS - i];
}

static void log_replay(struct rvt_return_stack *stack, const struct rvt_kept_calls *calls)
{
	rvt_returns_nest(stack, calls->nesting);
	stack->log->empty |= calls->empty;
	for (unsigned int i = 0; i < calls->n_pops; i++)
		log_pop(stack->log, calls->pcs[i]);
	for (unsigned int i = 0; i < calls->n_pushes; i++)
		log_push(stack->log, calls->pcs[calls->n_pops + i]);
}

/* The entries move so that there is room for RVT_CALLS more. */
static void move_down(struct rvt_return_stack *stack)
{
	const unsigned int from = stack->top - stack->used, used = stack->used;

	memmove(stack->pcs + RVT_FEW_CALLS, stack->pcs + from, used * sizeof(stack->pcs[0]));
	if (stack->recursions)
		memmove(stack->recursions + RVT_FEW_CALLS, stack->recursions + from,
			used * sizeof(stack->recursions[0]));
	stack->top = RVT_FEW_CALLS + used;
}

/* Whether what @calls pops is on the stack below @top, which has so many entries. */
static inline bool match(const uint64_t *top, const struct rvt_kept_calls *calls)
{
	static const uint64_t masks[RVT_FEW_CALLS + 1][RVT_FEW_CALLS] = {
		{}, { ~0ull }, { ~0ull, ~0ull }, { ~0ull, ~0ull, ~0ull },
		{ ~0ull, ~0ull, ~0ull, ~0ull },
	};
	const uint64_t *pcs = calls->pcs;
	const unsigned int n = calls->n_pops;
	const uint64_t *mask = masks[n < RVT_FEW_CALLS ? n : RVT_FEW_CALLS];
	uint64_t differ = 0;

	/* How many there are is hard to foresee. */
	for (int i = 0; i < RVT_FEW_CALLS; i++)
		differ |= (top[-1 - i] ^ pcs[i]) & mask[i];
	for (int i = RVT_FEW_CALLS; i < (int)n; i++)
		differ |= top[-1 - i] ^ pcs[i];
	return !differ;
}

bool rvt_returns_replay(struct rvt_return_stack *stack, const struct rvt_kept_calls *calls)
{
	const unsigned int n_pops = calls->n_pops, n_pushes = calls->n_pushes;
	const unsigned int high = stack->used + calls->nesting;
	const unsigned int dropped = high > stack->depth ? high - stack->depth : 0;
	const uint64_t *pushes = calls->pcs + n_pops;
	uint64_t *to;

	if (stack->used < dropped + n_pops || stack->recursions ||
	    (calls->empty && (dropped || stack->used > n_pops)) ||
	    !match(stack->pcs + stack->top, calls))
		return false;
	if (stack->top > stack->room)
		move_down(stack);
	to = stack->pcs + stack->top - n_pops;
	memcpy(to, pushes, RVT_FEW_CALLS * sizeof(*to));
	for (unsigned int i = RVT_FEW_CALLS; i < n_pushes; i++)
		to[i] = pushes[i];
	stack->top += n_pushes - n_pops;
	stack->used += n_pushes - n_pops - dropped;
	if (stack->log)
		log_replay(stack, calls);
	return true;
}

void rvt_returns_push(struct rvt_return_stack *stack, uint64_t pc)
{
	if (!stack->depth)
		return;
	if (stack->log)
		log_push(stack->log, pc);
	if (stack->used && stack->recursions && rvt_returns_top(stack) == pc &&
	    stack->recursions[stack->top - 1] < stack->recursion_max) {
		stack->recursions[stack->top - 1]++;
		return;
	}
	if (stack->top > stack->room)
		move_down(stack);
	if (stack->recursions)
		stack->recursions[stack->top] = 0;
	stack->pcs[stack->top++] = pc;
	if (stack->used < stack->depth)
		stack->used++;
}

bool rvt_returns_pop(struct rvt_return_stack *stack, uint64_t *pc)
{
	if (!stack->used) {
		if (stack->log)
			stack->log->empty = true;
		return false;
	}
	*pc = rvt_returns_top(stack);
	if (stack->log)
		log_pop(stack->log, *pc);
	if (stack->recursions && stack->recursions[stack->top - 1]) {
		stack->recursions[stack->top - 1]--;
		return true;
	}
	stack->top--;
	stack->used--;
	return true;
}

void rvt_flow_clear_returns(struct rvt_flow *flow)
{
	if (flow->returns.log)
		flow->returns.log->invalid = true;
	flow->returns.used = 0;
}

unsigned int rvt_flow_return_depth(const struct rvt_flow *flow)
{
	return flow->returns.used;
}

bool rvt_flow_return_at(const struct rvt_flow *flow, unsigned int index, uint64_t *pc)
{
	const struct rvt_return_stack *stack = &flow->returns;

	if (index >= stack->used)
		return false;
	*pc = stack->pcs[stack->top - 1 - index];
	return true;
}

void rvt_returns_free(struct rvt_return_stack *stack)
{
	free(stack->pcs);
	free(stack->recursions);
	*stack = (struct rvt_return_stack){};
}

/* Twice as many as there can be, so that they seldom move. False: no memory. */
static bool make_stack(struct rvt_return_stack *stack, unsigned int depth,
		       unsigned int recursion_max)
{
	const size_t room = RVT_FEW_CALLS + 2 * (size_t)depth, size = room + RVT_CALLS + 1;

	*stack = (struct rvt_return_stack){
		.depth = depth, .recursion_max = recursion_max, .room = room,
		.top = RVT_FEW_CALLS,
		.pcs = calloc(size, sizeof(stack->pcs[0])),
	};
	if (recursion_max)
		stack->recursions = calloc(size, sizeof(stack->recursions[0]));
	return stack->pcs && (!recursion_max || stack->recursions);
}

int rvt_flow_set_return_stack(struct rvt_flow *flow, unsigned int depth,
			      unsigned int recursion_max)
{
	const bool had_one = flow->returns.depth;
	struct rvt_return_stack stack = {};

	if (!make_stack(&stack, depth, recursion_max)) {
		rvt_returns_free(&stack);
		return -ENOMEM;
	}
	rvt_returns_free(&flow->returns);
	flow->returns = stack;
	/* Without a stack it was not noted what leaps do to it. */
	if (had_one != !!depth)
		rvt_flow_new_epoch(flow);
	return 0;
}
