// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Frames of coroutines that wait until the flow comes back to their stacks. */
#include <stdlib.h>
#include <string.h>
#include "stack.h"

static void forget_backs(struct rvt_callstack *stack, const struct rvt_frame *frames, size_t n)
{
	for (size_t i = 0; i < n; i++)
		--*rvt_callstack_backs(stack, frames[i].back);
}

static void remove_kept(struct rvt_callstack *stack, size_t n)
{
	struct kept_frames *kept = &stack->kept[n];

	forget_backs(stack, kept->frames, kept->n);
	free(kept->frames);
	stack->n_kept--;
	memmove(kept, kept + 1, (stack->n_kept - n) * sizeof(*kept));
}

void rvt_callstack_keep(struct rvt_callstack *stack, size_t first)
{
	const struct rvt_frame *frames = stack->frames + first;
	size_t n = stack->depth - first;
	struct rvt_frame *copy = n ? malloc(n * sizeof(*copy)) : NULL;

	stack->depth = first;
	if (!copy) {
		forget_backs(stack, frames, n);
		return;
	}
	memcpy(copy, frames, n * sizeof(*copy));
	if (stack->n_kept == MAX_KEPT)
		remove_kept(stack, 0);
	stack->kept[stack->n_kept++] = (struct kept_frames){ copy, n };
}

/* How many frames are below the call that returns to @to; .n: there is none. */
static size_t find_call(const struct kept_frames *kept, uint64_t to)
{
	for (size_t n = kept->n; n; n--)
		if (kept->frames[n - 1].back == to)
			return n - 1;
	return kept->n;
}

/*
 * Of coroutines that wait in the same place the one that has waited longest: schedulers take turns.
 * One that called nothing but what switched stacks comes before one that was left in another way.
 */
static bool find_kept(const struct rvt_callstack *stack, uint64_t to, size_t *which, size_t *below)
{
	bool found = false;

	for (size_t i = stack->n_kept; i; i--) {
		const struct kept_frames *kept = &stack->kept[i - 1];
		size_t n = find_call(kept, to);

		if (n == kept->n || (found && n + 1 < kept->n))
			continue;
		*which = i - 1;
		*below = n;
		found = true;
	}
	return found;
}

bool rvt_callstack_restore(struct rvt_callstack *stack, uint64_t to)
{
	size_t which = 0, below = 0;

	if (!*rvt_callstack_backs(stack, to) || !find_kept(stack, to, &which, &below))
		return false;
	if (stack->depth)
		stack->frames[stack->depth - 1].other_stack = true;
	for (size_t i = 0; i < below; i++)
		if (rvt_callstack_push(stack, &stack->kept[which].frames[i]))
			break;
	remove_kept(stack, which);
	return true;
}

void rvt_callstack_forget_kept(struct rvt_callstack *stack)
{
	while (stack->n_kept)
		remove_kept(stack, stack->n_kept - 1);
}
