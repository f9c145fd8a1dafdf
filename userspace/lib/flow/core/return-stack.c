// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Return stack: it forgets its oldest entry when it overflows.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "flow/core/state.h"

/* Sets the ceiling anew, when other entries are at the bottom, or the log is another one. */
static void set_ceiling(struct rvt_return_stack *stack)
{
	const bool careful = stack->log || stack->recursions ||
			     stack->depth >= RVT_DELTA_CAREFUL / sizeof(*stack->pcs);

	stack->ceiling = careful ? 0 : (uintptr_t)(stack->bottom + stack->depth);
}

/* The height is relative to that at the beginning of the log. */
static void log_height(struct rvt_stack_delta *log, int height)
{
	if (height > log->nesting)
		log->nesting = height;
	if (height > UINT8_MAX / 2 || log->n_pops + log->n_pushes > RVT_DELTA_PCS)
		log->invalid = true;
}

static void log_push(struct rvt_stack_delta *log, uint64_t pc)
{
	if (log->invalid || log->n_pops + log->n_pushes == RVT_DELTA_PCS) {
		log->invalid = true;
		return;
	}
	log->pcs[RVT_DELTA_PCS - ++log->n_pushes] = pc;
	log_height(log, log->n_pushes - log->n_pops);
}

static void log_pop(struct rvt_stack_delta *log, uint64_t pc)
{
	if (log->n_pushes)
		log->n_pushes--;
	else if (log->n_pops == RVT_DELTA_PCS)
		log->invalid = true;
	else
		log->pcs[log->n_pops++] = pc;
}

/* Logs calls that return at once: only their height counts. */
static void log_nest(struct rvt_stack_delta *log, unsigned int nesting)
{
	log_height(log, (int)nesting + log->n_pushes - log->n_pops);
}

struct rvt_stack_delta *rvt_returns_log(struct rvt_return_stack *stack, struct rvt_stack_delta *log)
{
	struct rvt_stack_delta *outer = stack->log;

	*log = (struct rvt_stack_delta){ .n_pops = 0 };
	stack->log = stack->depth ? log : NULL;
	set_ceiling(stack);
	return outer;
}

void rvt_returns_log_end(struct rvt_return_stack *stack, struct rvt_stack_delta *outer)
{
	const struct rvt_stack_delta *log = stack->log;

	stack->log = outer;
	set_ceiling(stack);
	if (!log || !outer)
		return;
	outer->invalid |= log->invalid;
	outer->empty |= log->empty;
	log_nest(outer, log->nesting);
	for (unsigned int i = 0; i < log->n_pops; i++)
		log_pop(outer, log->pcs[i]);
	for (unsigned int i = 1; i <= log->n_pushes; i++)
		log_push(outer, log->pcs[RVT_DELTA_PCS - i]);
}

size_t rvt_stack_delta_bytes(const struct rvt_stack_delta *delta)
{
	if (!delta->n_pops && !delta->n_pushes && !delta->nesting && !delta->empty)
		return 0;
	return sizeof(struct rvt_kept_delta) +
	       (delta->n_pops + delta->n_pushes) * sizeof(delta->pcs[0]);
}

void rvt_stack_delta_keep(const struct rvt_stack_delta *delta, struct rvt_kept_delta *kept)
{
	const bool few = delta->n_pops <= RVT_DELTA_FEW && delta->n_pushes <= RVT_DELTA_FEW;
	uint64_t *pcs = kept->pcs;

	*kept = (struct rvt_kept_delta){
		.pop_bytes = delta->n_pops * sizeof(*pcs),
		.push_bytes = delta->n_pushes * sizeof(*pcs),
		.nesting = delta->nesting, .flags = delta->empty ? RVT_DELTA_EMPTY : 0,
		.reach = few && !delta->empty ? delta->nesting * sizeof(*pcs) : RVT_DELTA_CAREFUL,
	};
	for (unsigned int i = 1; i <= delta->n_pushes; i++)
		*pcs++ = delta->pcs[RVT_DELTA_PCS - i];
	for (unsigned int i = delta->n_pops; i--; )
		*pcs++ = delta->pcs[i];
}

void rvt_stack_delta_keep_elsewhere(const struct rvt_kept_delta *elsewhere,
				    struct rvt_kept_delta *kept)
{
	*kept = (struct rvt_kept_delta){
		.flags = RVT_DELTA_ELSEWHERE, .reach = RVT_DELTA_CAREFUL,
	};
	kept->pcs[0] = (uintptr_t)elsewhere;
}

void rvt_stack_delta_add(struct rvt_stack_delta *log, const struct rvt_kept_delta *kept)
{
	const struct rvt_kept_delta *delta = rvt_kept_delta_of(kept);
	const unsigned int n_pops = delta->pop_bytes / sizeof(delta->pcs[0]);
	const unsigned int n_pushes = delta->push_bytes / sizeof(delta->pcs[0]);

	log_nest(log, delta->nesting);
	log->empty |= !!(delta->flags & RVT_DELTA_EMPTY);
	for (unsigned int i = n_pops; i--; )
		log_pop(log, delta->pcs[n_pushes + i]);
	for (unsigned int i = 0; i < n_pushes; i++)
		log_push(log, delta->pcs[i]);
}

/* Drops the @n oldest entries. */
static void drop(struct rvt_return_stack *stack, unsigned int n)
{
	uint64_t *first = stack->pcs + RVT_DELTA_PCS;
	unsigned int used, from;

	stack->bottom += n;
	from = stack->bottom - stack->pcs;
	if (from > RVT_DELTA_PCS + stack->depth) {
		used = rvt_returns_used(stack);
		memmove(first, stack->bottom, used * sizeof(*first));
		if (stack->recursions)
			memmove(stack->recursions + RVT_DELTA_PCS, stack->recursions + from,
				used * sizeof(stack->recursions[0]));
		stack->bottom = first;
		stack->top = first + used;
	}
	set_ceiling(stack);
}

/* Returns how many entries must go when @more come for some time. */
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
rvt_returns_apply_rest(struct rvt_return_stack *stack, const struct rvt_kept_delta *kept)
{
	const struct rvt_kept_delta *delta = rvt_kept_delta_of(kept);
	const unsigned int n_pops = delta->pop_bytes / sizeof(delta->pcs[0]);
	const unsigned int used = rvt_returns_used(stack), dropped = excess(stack, delta->nesting);

	if (used < dropped + n_pops || stack->recursions ||
	    (delta->flags & RVT_DELTA_EMPTY && (dropped || used > n_pops)) ||
	    memcmp(stack->top - n_pops, (const uint8_t *)delta->pcs + delta->push_bytes,
		   delta->pop_bytes))
		return false;
	if (dropped)
		drop(stack, dropped);
	stack->top -= n_pops;
	memcpy(stack->top, delta->pcs, delta->push_bytes);
	stack->top += delta->push_bytes / sizeof(delta->pcs[0]);
	if (stack->log)
		rvt_stack_delta_add(stack->log, delta);
	return true;
}

/* Returns the count of recursions of the entry on top. */
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
	struct rvt_return_stack *stack = &flow->base.returns;

	if (stack->log)
		stack->log->invalid = true;
	if (stack->depth)
		drop(stack, rvt_returns_used(stack));
}

unsigned int rvt_flow_return_depth(const struct rvt_flow *flow)
{
	return rvt_returns_used(&flow->base.returns);
}

bool rvt_flow_return_at(const struct rvt_flow *flow, unsigned int index, uint64_t *pc)
{
	const struct rvt_return_stack *stack = &flow->base.returns;

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

/* Allocates room for twice as many entries as there can be, so that they seldom move. */
static bool make_stack(struct rvt_return_stack *stack, unsigned int depth,
		       unsigned int recursion_max)
{
	const size_t size = RVT_DELTA_PCS + 2 * (size_t)depth + RVT_DELTA_PCS;

	*stack = (struct rvt_return_stack){
		.depth = depth, .recursion_max = recursion_max,
		.pcs = calloc(size, sizeof(stack->pcs[0])),
	};
	if (recursion_max)
		stack->recursions = calloc(size, sizeof(stack->recursions[0]));
	if (!stack->pcs || (recursion_max && !stack->recursions))
		return false;
	stack->top = stack->bottom = stack->pcs + RVT_DELTA_PCS;
	set_ceiling(stack);
	return true;
}

int rvt_flow_set_return_stack(struct rvt_flow *flow, unsigned int depth,
			      unsigned int recursion_max)
{
	struct rvt_return_stack stack = {};

	if (!make_stack(&stack, depth, recursion_max)) {
		rvt_returns_free(&stack);
		return -ENOMEM;
	}
	rvt_returns_free(&flow->base.returns);
	flow->base.returns = stack;
	return 0;
}
