// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "stack.h"
#include "util/array.h"

/* Half at once, so that endless recursion does not move frames at every call; a cut remains. */
static void forget_outermost(struct rvt_callstack *stack)
{
	size_t forgotten = (stack->depth + 1) / 2;

	for (size_t i = 0; i < forgotten; i++)
		--*rvt_callstack_backs(stack, stack->frames[i].back);
	stack->depth -= forgotten;
	stack->taken -= forgotten < stack->taken ? forgotten : stack->taken;
	stack->returns.n = 0;
	memmove(stack->frames, stack->frames + forgotten, stack->depth * sizeof(*stack->frames));
	memset(stack->seen, 0, sizeof(stack->seen));	/* its depths are no more */
	if (stack->depth) {
		struct rvt_frame *outermost = &stack->frames[0];

		--*rvt_callstack_backs(stack, outermost->back);
		*outermost = (struct rvt_frame){ .from = outermost->to, .to = outermost->to,
						 .cut = true };
		++*rvt_callstack_backs(stack, 0);
	}
	stack->cuts++;
}

int rvt_callstack_push(struct rvt_callstack *stack, const struct rvt_frame *frame)
{
	if (stack->depth == stack->max_depth)
		forget_outermost(stack);
	if (array_reserve(&stack->frames, &stack->room, stack->depth, 1))
		return -ENOMEM;
	stack->frames[stack->depth++] = *frame;
	++*rvt_callstack_backs(stack, frame->back);
	return 0;
}

struct rvt_frame *rvt_callstack_copy_frames(const struct rvt_frame *frames, size_t n)
{
	struct rvt_frame *copy = malloc((n ? n : 1) * sizeof(*copy));

	if (copy && n)
		memcpy(copy, frames, n * sizeof(*copy));
	return copy;
}
