// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Return stack: it forgets its oldest entry when it overflows.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "flow/core/state.h"

/* Other entries are at the bottom, or there is another log. */
static void set_ceiling(struct rvt_return_stack *stack)
{
	const bool careful = stack->log || stack->recursions ||
			     stack->depth >= RVT_CALLS_CAREFUL / sizeof(*stack->pcs);

	stack->ceiling = careful ? 0 : (uintptr_t)(stack->bottom + stack->depth);
}

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
static void log_nest(struct rvt_calls *log, unsigned int nesting)
{
	log_height(log, (int)nesting + log->n_pushes - log->n_pops);
}

static void set_log(struct rvt_return_stack *stack, struct rvt_calls *log)
{
	stack->log = log;
	set_ceiling(stack);
}

struct rvt_calls *rvt_returns_log(struct rvt_return_stack *stack, struct rvt_calls *log)
{
	struct rvt_calls *outer = stack->log;

	*log = (struct rvt_calls){ .n_pops = 0 };
	set_log(stack, stack->depth ? log : NULL);
	return outer;
}

void rvt_returns_log_end(struct rvt_return_stack *stack, struct rvt_calls *outer)
{
	const struct rvt_calls *log = stack->log;

	set_log(stack, outer);
	if (!log || !outer)
		return;
	outer->invalid |= log->invalid;
	outer->empty |= log->empty;
	log_nest(outer, log->nesting);
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
	const bool few = calls->n_pops <= RVT_FEW_CALLS && calls->n_pushes <= RVT_FEW_CALLS;
	uint64_t *pcs = kept->pcs;

	*kept = (struct rvt_kept_calls){
		.pop_bytes = calls->n_pops * sizeof(*pcs),
		.push_bytes = calls->n_pushes * sizeof(*pcs),
		.nesting = calls->nesting, .flags = calls->empty ? RVT_CALLS_EMPTY : 0,
		.reach = few && !calls->empty ? calls->nesting * sizeof(*pcs) : RVT_CALLS_CAREFUL,
	};
	for (unsigned int i = 1; i <= calls->n_pushes; i++)
		*pcs++ = calls->pcs[RVT_CALLS - i];
	for (unsigned int i = calls->n_pops; i--; )
		*pcs++ = calls->pcs[i];
}

void rvt_calls_keep_elsewhere(const struct rvt_kept_calls *elsewhere, struct rvt_kept_calls *kept)
{
	*kept = (struct rvt_kept_calls){
		.flags = RVT_CALLS_ELSEWHERE, .reach = RVT_CALLS_CAREFUL,
	};
	kept->pcs[0] = (uintptr_t)elsewhere;
}

static void log_replay(struct rvt_calls *log, const struct rvt_kept_calls *calls)
{
	const unsigned int n_pops = calls->pop_bytes / sizeof(calls->pcs[0]);
	const unsigned int n_pushes = calls->push_bytes / sizeof(calls->pcs[0]);

	log_nest(log, calls->nesting);
	log->empty |= !!(calls->flags & RVT_CALLS_EMPTY);
	for (unsigned int i = n_pops; i--; )
		log_pop(log, calls->pcs[n_pushes + i]);
	for (unsigned int i = 0; i < n_pushes; i++)
		log_push(log, calls->pcs[i]);
}

/* The @n oldest entries go. */
static void drop(struct rvt_return_stack *stack, unsigned int n)
{
	uint64_t *first = stack->pcs + RVT_CALLS;
	unsigned int used, from;

	stack->bottom += n;
	from = stack->bottom - stack->pcs;
	if (from > RVT_CALLS + stack->depth) {
		used = rvt_returns_used(stack);
		memmove(first, stack->bottom, used * sizeof(*first));
		if (stack->recursions)
			memmove(stack->recursions + RVT_CALLS, stack->recursions + from,
				used * sizeof(stack->recursions[0]));
		stack->bottom = first;
		stack->top = first + used;
	}
	set_ceiling(stack);
}

/* How many entries must go when there are @more for some time. */
static unsigned int excess(const struct rvt_return_stack *stack, unsigned int more)
{
	const unsigned int high = rvt_returns_used(stack) + more;

	return high > stack->depth ? high - stack->depth : 0;
}

void rvt_returns_nest(struct rvt_return_stack *stack, unsigned int nesting)
{
	const unsigned int dropped = excess(stack, nesting);

	if (stack->log)
		log_nest(stack->log, nesting);
	if (dropped)
		drop(stack, dropped);
}

__attribute__((noinline)) bool
rvt_returns_replay_rest(struct rvt_return_stack *stack, const struct rvt_kept_calls *kept)
{
	const struct rvt_kept_calls *calls = rvt_calls_found(kept);
	const unsigned int n_pops = calls->pop_bytes / sizeof(calls->pcs[0]);
	const unsigned int used = rvt_returns_used(stack), dropped = excess(stack, calls->nesting);

	if (used < dropped + n_pops || stack->recursions ||
	    (calls->flags & RVT_CALLS_EMPTY && (dropped || used > n_pops)) ||
	    memcmp(stack->top - n_pops, (const uint8_t *)calls->pcs + calls->push_bytes,
		   calls->pop_bytes))
		return false;
	if (dropped)
		drop(stack, dropped);
	stack->top -= n_pops;
	memcpy(stack->top, calls->pcs, calls->push_bytes);
	stack->top += calls->push_bytes / sizeof(calls->pcs[0]);
	if (stack->log)
		log_replay(stack->log, calls);
	return true;
}

/* Those of the entry on top. */
static uint32_t *recursions(struct rvt_return_stack *stack)
{
	return stack->recursions + (stack->top - 1 - stack->pcs);
}

void rvt_returns_push(struct rvt_return_stack *stack, uint64_t pc)
{
	if (!stack->depth)
		return;
	if (stack->log)
		log_push(stack->log, pc);
	if (stack->recursions && rvt_returns_used(stack) && rvt_returns_top(stack) == pc &&
	    *recursions(stack) < stack->recursion_max) {
		++*recursions(stack);
		return;
	}
	if (rvt_returns_used(stack) == stack->depth)
		drop(stack, 1);
	*stack->top++ = pc;
	if (stack->recursions)
		*recursions(stack) = 0;
}

bool rvt_returns_pop(struct rvt_return_stack *stack, uint64_t *pc)
{
	if (!rvt_returns_used(stack)) {
		if (stack->log)
			stack->log->empty = true;
		return false;
	}
	*pc = rvt_returns_top(stack);
	if (stack->log)
		log_pop(stack->log, *pc);
	if (stack->recursions && *recursions(stack)) {
		--*recursions(stack);
		return true;
	}
	stack->top--;
	return true;
}

void rvt_flow_clear_returns(struct rvt_flow *flow)
{
	struct rvt_return_stack *stack = &flow->returns;

	if (stack->log)
		stack->log->invalid = true;
	if (stack->depth)
		drop(stack, rvt_returns_used(stack));
}

unsigned int rvt_flow_return_depth(const struct rvt_flow *flow)
{
	return rvt_returns_used(&flow->returns);
}

bool rvt_flow_return_at(const struct rvt_flow *flow, unsigned int index, uint64_t *pc)
{
	const struct rvt_return_stack *stack = &flow->returns;

	if (index >= rvt_returns_used(stack))
		return false;
	*pc = stack->top[-1 - (int)index];
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
	const size_t size = RVT_CALLS + 2 * (size_t)depth + RVT_CALLS;

	*stack = (struct rvt_return_stack){
		.depth = depth, .recursion_max = recursion_max,
		.pcs = calloc(size, sizeof(stack->pcs[0])),
	};
	if (recursion_max)
		stack->recursions = calloc(size, sizeof(stack->recursions[0]));
	if (!stack->pcs || (recursion_max && !stack->recursions))
		return false;
	stack->top = stack->bottom = stack->pcs + RVT_CALLS;
	set_ceiling(stack);
	return true;
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
