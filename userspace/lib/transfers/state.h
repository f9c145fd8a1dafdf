/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Inside userspace/lib/transfers/: what a struct rvt_transfers is. */
#ifndef TRANSFERS_STATE_H
#define TRANSFERS_STATE_H

#include <rvtrace/transfers.h>

struct rvt_step;

struct thread_stack {
	int32_t tid;		/* first: key of the tree */
	uint32_t life;
	uint64_t stopped_at;	/* where its tracing last stopped; 0: not known */
	struct rvt_callstack *stack;
	uint64_t serial;	/* so many were there before */
	int32_t pid;		/* whose other threads it shares stacks with; 0: none */
};

struct hart_state {
	bool has_last;		/* .last is the instruction before the next run */
	bool in_line;
	uint8_t last_class;	/* enum rvt_insn_class */
	uint64_t last, next;	/* its address, and that of the one after it */
	struct rvt_straight_line line;	/* at hand; but for .last */
	/*
	 * In a slice of a recording (struct rvt_session_slices): a straight line belongs to the
	 * slice in which it began, with the transfer at its end.
	 */
	bool resumed;		/* hart flow->resumed was seen */
	bool others;		/* the line at hand belongs to the slice before */
	bool crossed;		/* it reaches behind the end of this slice */
	bool lost;		/* flow is, since it last went on */
	bool stopped;		/* tracing stopped before .stopped_at */
	uint64_t stopped_at;
	struct thread_stack *thread;
};

struct rvt_transfers {
	struct rvt_transfers_ops ops;
	size_t max_depth;
	bool muted;		/* nothing is told, and stacks stay as they are */
	/* steps.h; NULL: nobody asks */
	int (*steps)(void *ctx, struct rvt_hart_flow *hart, const struct rvt_step *step);
	void *steps_ctx;
	uint64_t handler;	/* of the kernel, as far as traps were seen; 0: none was */
	uint64_t n_threads;
	void *threads, *processes;	/* tsearch trees */
	struct rvt_unwind *unwind;	/* NULL: no stacks are kept, or no files are known */
};

/*
 * transfers.c: the stack of thread @tid, which may be a new one. It shares what waits with those of
 * the process @pid (0: with none). NULL: out of memory.
 */
struct thread_stack *rvt_transfers_thread(struct rvt_transfers *transfers, int32_t tid,
					  int32_t pid, uint32_t life);
/* Of both trees. */
int rvt_transfers_compare(const void *a, const void *b);
/* The state of a hart flow. NULL: out of memory. */
struct hart_state *rvt_transfers_hart(struct rvt_hart_flow *hart);

#endif
