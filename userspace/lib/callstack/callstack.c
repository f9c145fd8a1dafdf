// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <rvtrace/callstack.h>
#include "util/array.h"

#define SEEN_SETS 128
#define SEEN_WAYS 4
/* of an instruction that traps and is not executed again: ecall, ebreak, c.ebreak */
#define MAX_TRAPPED_BYTES 4

/*
 * At .depth frames something returned to .to: setjmp() perhaps, and longjmp() will go there again,
 * unless the frame that it returned into has ended.
 */
struct seen_return {
	uint64_t to;		/* 0: free */
	size_t depth;
};

struct rvt_callstack {
	struct rvt_frame *frames;	/* outermost first */
	size_t depth, room, max_depth;
	struct seen_return seen[SEEN_SETS][SEEN_WAYS];
};

/* Linux has the upper half of the addresses for itself. */
static bool in_kernel(uint64_t pc)
{
	return (int64_t)pc < 0;
}

struct rvt_callstack *rvt_callstack_create(size_t max_depth)
{
	struct rvt_callstack *stack = calloc(1, sizeof(*stack));

	if (stack)
		stack->max_depth = max_depth ? max_depth : 1;
	return stack;
}

void rvt_callstack_destroy(struct rvt_callstack *stack)
{
	if (!stack)
		return;
	free(stack->frames);
	free(stack);
}

static int push(struct rvt_callstack *stack, const struct rvt_frame *frame)
{
	if (stack->depth == stack->max_depth) {
		/* half at once, so that endless recursion does not move frames at every call */
		size_t forgotten = (stack->depth + 1) / 2;

		stack->depth -= forgotten;
		memmove(stack->frames, stack->frames + forgotten,
			stack->depth * sizeof(*stack->frames));
		memset(stack->seen, 0, sizeof(stack->seen));	/* its depths are no more */
	}
	if (array_reserve(&stack->frames, &stack->room, stack->depth, 1))
		return -ENOMEM;
	stack->frames[stack->depth++] = *frame;
	return 0;
}

int rvt_callstack_call(struct rvt_callstack *stack, uint64_t from, uint64_t back, uint64_t to)
{
	return push(stack, &(struct rvt_frame){ .from = from, .back = back, .to = to });
}

int rvt_callstack_trap(struct rvt_callstack *stack, uint64_t epc, uint64_t handler)
{
	return push(stack, &(struct rvt_frame){ .from = epc, .back = epc, .to = handler,
						.trap = true });
}

static struct seen_return *seen_set(struct rvt_callstack *stack, uint64_t to)
{
	return stack->seen[(to >> 1) % SEEN_SETS];
}

/*
 * Something has returned to @to. In place of what was seen there before, or of a frame that has
 * ended, or of the innermost: an interrupt returns hundreds of times, and must not make
 * forgotten what it interrupted.
 */
static void note_return(struct rvt_callstack *stack, uint64_t to)
{
	struct seen_return *set = seen_set(stack, to), *place = set;

	for (struct seen_return *s = set; s < set + SEEN_WAYS; s++) {
		if (s->to == to || !s->to) {
			place = s;
			break;
		}
		if (s->depth > place->depth)
			place = s;
	}
	*place = (struct seen_return){ to, stack->depth };
}

static size_t unwind_to(struct rvt_callstack *stack, size_t depth)
{
	size_t ended = stack->depth - depth;

	stack->depth = depth;
	return ended;
}

/* Back to where something has returned before, with nothing but calls since: a long jump. */
static size_t long_jump(struct rvt_callstack *stack, uint64_t to)
{
	const struct seen_return *seen = seen_set(stack, to);
	const struct seen_return *end = seen + SEEN_WAYS;

	while (seen < end && seen->to != to)
		seen++;
	if (!to || seen == end || seen->depth >= stack->depth)
		return 0;
	for (size_t n = seen->depth; n < stack->depth; n++)
		if (stack->frames[n].trap)
			return 0;
	return unwind_to(stack, seen->depth);
}

/*
 * A handler does not return into what it interrupted; but who returns within the program has left
 * the kernel, unseen.
 */
static bool is_barrier(const struct rvt_frame *frame, uint64_t to)
{
	return frame->trap && !(in_kernel(frame->to) && !in_kernel(to));
}

size_t rvt_callstack_return(struct rvt_callstack *stack, uint64_t to)
{
	for (size_t n = stack->depth; n && !is_barrier(&stack->frames[n - 1], to); n--) {
		if (stack->frames[n - 1].back == to && !stack->frames[n - 1].trap) {
			size_t ended = unwind_to(stack, n - 1);

			note_return(stack, to);
			return ended;
		}
	}
	return long_jump(stack, to);
}

/* The innermost trap that came from @to; of ecall and ebreak the next instruction. 0: none. */
static size_t find_trap_from(const struct rvt_callstack *stack, uint64_t to)
{
	size_t n = stack->depth;

	while (n && !(stack->frames[n - 1].trap &&
		      to - stack->frames[n - 1].back <= MAX_TRAPPED_BYTES))
		n--;
	return n;
}

/*
 * The innermost trap, if it may end by a return to @to although it came from elsewhere: by a table
 * of fixups, say. Who goes on in the kernel does not end a trap from the program. 0: none.
 */
static size_t find_trap_like(const struct rvt_callstack *stack, uint64_t to)
{
	size_t n = stack->depth;

	while (n && !stack->frames[n - 1].trap)
		n--;
	return n && in_kernel(stack->frames[n - 1].back) == in_kernel(to) ? n : 0;
}

size_t rvt_callstack_trap_return(struct rvt_callstack *stack, uint64_t to)
{
	size_t ended = rvt_callstack_resume(stack, to), n;

	if (ended)
		return ended;
	n = find_trap_from(stack, to);
	if (!n)
		n = find_trap_like(stack, to);
	return n ? unwind_to(stack, n - 1) : 0;
}

size_t rvt_callstack_resume(struct rvt_callstack *stack, uint64_t pc)
{
	size_t n = 0;

	if (in_kernel(pc))
		return 0;
	while (n < stack->depth && !(stack->frames[n].trap && in_kernel(stack->frames[n].to)))
		n++;
	/* not even the trap was seen */
	if (n == stack->depth)
		while (n && in_kernel(stack->frames[n - 1].from))
			n--;
	return unwind_to(stack, n);
}

void rvt_callstack_clear(struct rvt_callstack *stack)
{
	stack->depth = 0;
	memset(stack->seen, 0, sizeof(stack->seen));
}

size_t rvt_callstack_depth(const struct rvt_callstack *stack)
{
	return stack->depth;
}

struct rvt_frame *rvt_callstack_frame(struct rvt_callstack *stack, size_t n)
{
	return n < stack->depth ? &stack->frames[stack->depth - 1 - n] : NULL;
}
