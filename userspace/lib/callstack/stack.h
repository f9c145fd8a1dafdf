/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Inside userspace/lib/callstack/: what a stack is, and the frames that wait beside it. */
#ifndef CALLSTACK_STACK_H
#define CALLSTACK_STACK_H

#include <rvtrace/callstack.h>

#define SEEN_SETS 128
#define SEEN_WAYS 4
#define BACK_SLOTS 1024
#define MAX_KEPT 64

/*
 * At .depth frames something returned to .to: setjmp() perhaps, and longjmp() will go there again,
 * unless the frame that it returned into has ended.
 */
struct seen_return {
	uint64_t to;		/* 0: free */
	size_t depth;
};

/* What runs on another stack, and waits: frames, outermost first. */
struct kept_frames {
	struct rvt_frame *frames;
	size_t n;
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
	struct seen_return seen[SEEN_SETS][SEEN_WAYS];
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

#endif
