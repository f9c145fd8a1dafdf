// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Return stack: a ring that forgets its oldest entry when it overflows.
 */
#include <errno.h>
#include <stdlib.h>
#include "flow/engine.h"

void rvt_returns_push(struct rvt_return_stack *stack, uint64_t pc)
{
	struct rvt_return *top;

	if (!stack->depth)
		return;
	if (stack->used) {
		top = &stack->entries[(stack->top ? stack->top : stack->depth) - 1];
		if (top->pc == pc && top->recursions < stack->recursion_max) {
			top->recursions++;
			return;
		}
	}
	stack->entries[stack->top] = (struct rvt_return){ .pc = pc };
	stack->top = stack->top + 1 == stack->depth ? 0 : stack->top + 1;
	if (stack->used < stack->depth)
		stack->used++;
}

bool rvt_returns_pop(struct rvt_return_stack *stack, uint64_t *pc)
{
	struct rvt_return *top;

	if (!stack->used)
		return false;
	top = &stack->entries[(stack->top ? stack->top : stack->depth) - 1];
	*pc = top->pc;
	if (top->recursions) {
		top->recursions--;
		return true;
	}
	stack->top = top - stack->entries;
	stack->used--;
	return true;
}

void rvt_flow_clear_returns(struct rvt_flow *flow)
{
	flow->returns.used = 0;
	flow->returns.top = 0;
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
	*pc = stack->entries[(stack->top + stack->depth - 1 - index) % stack->depth].pc;
	return true;
}

int rvt_flow_set_return_stack(struct rvt_flow *flow, unsigned int depth,
			      unsigned int recursion_max)
{
	struct rvt_return *entries = NULL;

	if (depth) {
		entries = calloc(depth, sizeof(*entries));
		if (!entries)
			return -ENOMEM;
	}
	free(flow->returns.entries);
	flow->returns = (struct rvt_return_stack){
		.entries = entries, .depth = depth, .recursion_max = recursion_max,
	};
	return 0;
}
