/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Inside userspace/lib/callstack/: what a stack is, and the frames that wait beside it. */
#ifndef CALLSTACK_STACK_H
#define CALLSTACK_STACK_H

#include <rvtrace/callstack.h>
#include "returns.h"

#define SEEN_WAYS 4
#define BACK_SLOTS 1024
#define MAX_KEPT 64
#define MAX_RETURNS 16

/*
 * At .depth frames something returned to .to: setjmp() perhaps, and longjmp() will go there again,
 * unless the frame that it returned into has ended.
 */
struct seen_return {
	uint64_t to;		/* 0: free */
	uint32_t life;		/* of the stack */
	size_t depth;
};

/* Where the flow has returned to since it came to a stack whose callers are not known. */
struct seen_returns {
	uint64_t to[MAX_RETURNS];
	size_t n;		/* 0: nobody looks for the callers */
};

/* What runs on another stack, and waits: frames, outermost first. */
struct kept_frames {
	struct rvt_frame *frames;
	size_t n;
};

/* A stack that waits. .times stacks alike do: nothing tells them from each other. */
struct kept_stack {
	struct rvt_frame *frames;
	size_t depth, room;
	struct seen_returns returns;
	uint64_t hash;
	uint64_t backs;		/* a bit for each hash of .back */
	uint64_t times;
	uint64_t since;
	uint32_t life;
};

struct kept_stacks {
	struct kept_stack *left;
	size_t n, room;
	uint64_t now;
	uint32_t lives;
	uint32_t backs[BACK_SLOTS];	/* as in struct rvt_callstack */
	struct rvt_callstack *first;	/* all that share this, by .next */
};

struct rvt_callstack {
	struct rvt_frame *frames;	/* outermost first */
	size_t depth, room, max_depth;
	struct rvt_callstack_code code;
	uint64_t cuts;
	/* Frames, kept ones too, by a hash of .back: where it is 0 nothing returns to. */
	uint32_t backs[BACK_SLOTS];
	struct kept_frames kept[MAX_KEPT];	/* the oldest first */
	size_t n_kept;
	struct seen_return seen[RVT_CALLSTACK_RETURN_SETS][SEEN_WAYS];
	uint32_t life;			/* another one for each stack that the thread is on */
	size_t handler_ended;		/* with this depth, before the kernel goes on */
	size_t taken;			/* another thread has gone on with the outermost frames */
	struct seen_returns returns;	/* where .depth is 1, of a frame that is .cut */
	struct kept_stacks *stacks;	/* that wait; NULL: none ever did */
	struct rvt_callstack *next;	/* of those that share .stacks */
};

static inline uint32_t *rvt_callstack_backs(struct rvt_callstack *stack, uint64_t back)
{
	return &stack->backs[(back >> 1) % BACK_SLOTS];
}

/* frames.c: a stack that is full forgets its outermost frames. 0 or -ENOMEM. */
int rvt_callstack_push(struct rvt_callstack *stack, const struct rvt_frame *frame);
/* A copy (malloc'd, also of none); NULL: out of memory. */
struct rvt_frame *rvt_callstack_copy_frames(const struct rvt_frame *frames, size_t n);

/* kept.c: the frames from number @first on are kept, and end. Without memory they only end. */
void rvt_callstack_keep(struct rvt_callstack *stack, size_t first);
/* Frames that were kept come back, if one of them called what returns to @to. False: none did. */
bool rvt_callstack_restore(struct rvt_callstack *stack, uint64_t to);
void rvt_callstack_forget_kept(struct rvt_callstack *stack);

/* stacks.c: the whole stack waits, and another one begins. How many frames it had. */
size_t rvt_callstack_leave(struct rvt_callstack *stack);
/*
 * A stack without frames becomes the one that waits to do @returns next. False: none does, or some
 * that differ.
 */
bool rvt_callstack_go_on(struct rvt_callstack *stack, const struct seen_returns *returns);
/* Whether one waits to do @returns next. */
bool rvt_callstack_waits(const struct rvt_callstack *stack, const struct seen_returns *returns);
/*
 * Whether a stack waits to go on at @to that has other frames there than the @n - 1 outermost of
 * @stack; @n 0: any.
 */
bool rvt_callstack_others_wait(const struct rvt_callstack *stack, size_t n, uint64_t to);
/* False: out of memory. */
bool rvt_callstack_copy_left(struct rvt_callstack *clone, const struct rvt_callstack *stack);
void rvt_callstack_unshare(struct rvt_callstack *stack);
/* What waits beside it; NULL: out of memory. */
struct kept_stacks *rvt_callstack_stacks(struct rvt_callstack *stack);
/* What finds @left again, by its frames. */
void rvt_callstack_describe(struct kept_stack *left);
/* One more that waits; its frames are taken over. 0 or -ENOMEM. */
int rvt_callstack_add_left(struct kept_stacks *stacks, const struct kept_stack *left);

#endif
