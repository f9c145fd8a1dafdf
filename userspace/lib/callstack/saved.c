// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* A stack as numbers, to come back to it some other time. Numbers that rarely change come first. */
#include <errno.h>
#include <stdlib.h>
#include "share.h"
#include "stack.h"

enum { TRAP = 1, SIGNAL = 2, CUT = 4, OTHER_STACK = 8 };

/* ---- frames ---- */

/* Each calls from near where the one before it began. */
static void put_frames(struct words *words, const struct rvt_frame *frames, size_t n)
{
	words_put(words, n);
	for (size_t i = 0; i < n; i++) {
		const struct rvt_frame *frame = &frames[i];

		words_put(words, frame->from - (i ? frame[-1].to : 0));
		words_put(words, frame->back - frame->from);
		words_put(words, frame->to - frame->from);
		words_put(words, (frame->trap ? TRAP : 0) | (frame->signal ? SIGNAL : 0) |
			  (frame->cut ? CUT : 0) | (frame->other_stack ? OTHER_STACK : 0));
	}
}

/* NULL: out of memory, or there are no such frames. */
static struct rvt_frame *get_frames(struct words *words, size_t most, size_t *n)
{
	size_t count = words_get_count(words);
	struct rvt_frame *frames = NULL;

	if (count <= most)
		frames = calloc(count ? count : 1, sizeof(*frames));
	*n = count;
	words->failed |= !frames;
	for (size_t i = 0; frames && i < count; i++) {
		uint64_t flags;

		frames[i].from = (i ? frames[i - 1].to : 0) + words_get(words);
		frames[i].back = frames[i].from + words_get(words);
		frames[i].to = frames[i].from + words_get(words);
		flags = words_get(words);
		frames[i].trap = flags & TRAP;
		frames[i].signal = flags & SIGNAL;
		frames[i].cut = flags & CUT;
		frames[i].other_stack = flags & OTHER_STACK;
	}
	return frames;
}

static void count_backs(struct rvt_callstack *stack, const struct rvt_frame *frames, size_t n)
{
	for (size_t i = 0; i < n; i++)
		++*rvt_callstack_backs(stack, frames[i].back);
}

/* ---- where the flow has returned to ---- */

static void put_returns(struct words *words, const struct seen_returns *returns)
{
	words_put(words, returns->n);
	for (size_t i = 0; i < returns->n; i++)
		words_put(words, returns->to[i]);
}

static void get_returns(struct words *words, struct seen_returns *returns)
{
	size_t n = words_get_count(words);

	*returns = (struct seen_returns){ .n = 0 };
	words->failed |= n > MAX_RETURNS;
	while (!words->failed && returns->n < n)
		returns->to[returns->n++] = words_get(words);
}

/* Of an address in set number @set: what the set does not say. */
#define SET_SHIFT 8

static uint64_t in_set(uint64_t to)
{
	return to >> SET_SHIFT << 1 | (to & 1);
}

static uint64_t address_of(uint64_t in_set, size_t set)
{
	return in_set >> 1 << SET_SHIFT | (uint64_t)set << 1 | (in_set & 1);
}

/*
 * There are many, so they are small: addresses are near to each other, and all are told before any
 * depth. 0: it is free.
 */
static void put_seen(struct words *words, const struct rvt_callstack *stack)
{
	const struct seen_return *seen = stack->seen[0];
	uint64_t before = 0;

	_Static_assert(RVT_CALLSTACK_RETURN_SETS == 1 << (SET_SHIFT - 1), "an address and its set");
	for (size_t i = 0; i < RVT_CALLSTACK_RETURN_SETS * SEEN_WAYS; i++) {
		int64_t more = in_set(seen[i].to) - before;

		if (seen[i].to)
			before += (uint64_t)more;
		words_put(words, seen[i].to ? 1 + ((uint64_t)more << 1 ^ (uint64_t)(more >> 63)) :
				 0);
	}
	for (size_t i = 0; i < RVT_CALLSTACK_RETURN_SETS * SEEN_WAYS; i++)
		if (seen[i].to)
			words_put(words, seen[i].depth);
	for (size_t i = 0; i < RVT_CALLSTACK_RETURN_SETS * SEEN_WAYS; i++)
		if (seen[i].to)
			words_put(words, seen[i].life);
}

static void get_seen(struct words *words, struct rvt_callstack *stack)
{
	struct seen_return *seen = stack->seen[0];
	uint64_t before = 0;

	for (size_t i = 0; i < RVT_CALLSTACK_RETURN_SETS * SEEN_WAYS; i++) {
		uint64_t word = words_get(words);

		seen[i].to = 0;
		if (!word)
			continue;
		before += (word - 1) >> 1 ^ -((word - 1) & 1);
		seen[i].to = address_of(before, i / SEEN_WAYS);
	}
	for (size_t i = 0; i < RVT_CALLSTACK_RETURN_SETS * SEEN_WAYS; i++)
		if (seen[i].to)
			seen[i].depth = words_get(words);
	for (size_t i = 0; i < RVT_CALLSTACK_RETURN_SETS * SEEN_WAYS; i++)
		if (seen[i].to)
			seen[i].life = words_get(words);
}

/* ---- the stack ---- */

void rvt_callstack_save(const struct rvt_callstack *stack, struct words *words)
{
	put_seen(words, stack);
	words_put(words, stack->life);
	words_put(words, stack->handler_ended);
	words_put(words, stack->taken);
	put_returns(words, &stack->returns);
	words_put(words, stack->n_kept);
	for (size_t i = 0; i < stack->n_kept; i++)
		put_frames(words, stack->kept[i].frames, stack->kept[i].n);
	put_frames(words, stack->frames, stack->depth);
}

static int result_of(const struct words *words)
{
	return words->failed ? -EBADMSG : 0;
}

int rvt_callstack_load(struct rvt_callstack *stack, struct words *words)
{
	size_t kept;

	get_seen(words, stack);
	stack->life = words_get(words);
	stack->handler_ended = words_get(words);
	stack->taken = words_get(words);
	get_returns(words, &stack->returns);
	kept = words_get_count(words);
	words->failed |= kept > MAX_KEPT;
	while (!words->failed && stack->n_kept < kept) {
		struct kept_frames *frames = &stack->kept[stack->n_kept];

		frames->frames = get_frames(words, SIZE_MAX, &frames->n);
		if (!frames->frames)
			break;
		stack->n_kept++;
		count_backs(stack, frames->frames, frames->n);
	}
	if (words->failed)
		return -EBADMSG;
	free(stack->frames);
	stack->frames = get_frames(words, stack->max_depth, &stack->depth);
	stack->room = stack->depth;
	if (!stack->frames)
		stack->room = stack->depth = 0;
	count_backs(stack, stack->frames, stack->depth);
	if (stack->taken > stack->depth)
		words->failed = true;
	return result_of(words);
}

/* ---- what waits ---- */

void rvt_callstack_save_left(const struct rvt_callstack *stack, struct words *words)
{
	const struct kept_stacks *stacks = stack->stacks;

	words_put(words, stacks->now);
	words_put(words, stacks->lives);
	words_put(words, stacks->n);
	for (size_t i = 0; i < stacks->n; i++) {
		const struct kept_stack *left = &stacks->left[i];

		words_put(words, left->times);
		words_put(words, left->since);
		words_put(words, left->life);
		put_returns(words, &left->returns);
		put_frames(words, left->frames, left->depth);
	}
}

int rvt_callstack_load_left(struct rvt_callstack *stack, struct words *words)
{
	struct kept_stacks *stacks = rvt_callstack_stacks(stack);
	size_t n;

	if (!stacks)
		return -ENOMEM;
	stacks->now = words_get(words);
	stacks->lives = words_get(words);
	n = words_get_count(words);
	for (size_t i = 0; i < n && !words->failed; i++) {
		struct kept_stack left = { .times = words_get(words) };

		left.since = words_get(words);
		left.life = words_get(words);
		get_returns(words, &left.returns);
		left.frames = get_frames(words, SIZE_MAX, &left.depth);
		left.room = left.depth;
		if (!left.frames)
			break;
		rvt_callstack_describe(&left);
		if (!rvt_callstack_add_left(stacks, &left))
			continue;
		free(left.frames);
		return -ENOMEM;
	}
	return result_of(words);
}

/* Callers are looked for only where some may wait. */
bool rvt_callstack_is_sound(const struct rvt_callstack *stack)
{
	return stack->stacks || !stack->returns.n;
}
