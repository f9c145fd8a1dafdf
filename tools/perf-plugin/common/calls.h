/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Each call of a function, with its costs: time, instructions, and time in which nothing of its
 * thread was seen. The handler of a trap is a call by the interrupted function. If the kernel is
 * not traced, what it did between two pieces of a program's flow is a call, too.
 *
 * A function that is entered by a jump (a tail call) is a call by the function that jumped, until
 * it returns or jumps to a third one: the first function calls that one, too.
 */
#ifndef PERF_RVTRACE_CALLS_H
#define PERF_RVTRACE_CALLS_H

#include "common/places.h"
#include "common/transfers.h"

/* Deeper stacks lose their outermost calls. */
#define CALLS_MAX_DEPTH 65536

/* Names of handlers. A cause that is in the trace follows: "[interrupt 5]". */
#define CALL_SYSTEM "[system call]"
#define CALL_INTERRUPT "[interrupt"
#define CALL_EXCEPTION "[exception"
/* The handler of a trap that itself is not in the trace. */
#define CALL_TRAP "[trap]"
/* What the kernel did, if it is not traced; and firmware. */
#define CALL_TRAPPED "[interrupt or exception]"
#define CALL_FIRMWARE "[firmware]"

struct call_function {
	const char *name, *linkage, *dso;	/* .dso: without directories */
	bool kernel;
	uint32_t number;	/* in the order of their first calls, from 0 */
	void *user;		/* the caller's own; NULL at first */
};

struct call {
	struct call_function *function;
	uint64_t addr;		/* where it began to execute */
	/* address of the call, or of the interrupted instruction; 0: not known */
	uint64_t from;
	uint64_t back;		/* where it returns to; 0: not known */
	bool trap;
	bool tail;		/* a tail call: entered by a jump */
	/*
	 * Its beginning was seen, and its return to where it was called; no flow was lost
	 * meanwhile. Before its end: so far.
	 */
	bool whole;
	int32_t cpu;		/* where it began */
	uint64_t began;		/* ns */
	void *user;		/* the caller's own; NULL at first */
	/* costs, once it has ended; before, what the thread had when it began */
	uint64_t time;		/* ns; includes callees and .away */
	uint64_t away;		/* of .time: nothing of the thread was seen */
	uint64_t insns;
	/* of these: costs of direct callees, whole or not */
	uint64_t callee_time, callee_away, callee_insns;
};

/* Returns the call's costs without callees; time also without its own time away. */
static inline uint64_t call_own_time(const struct call *call)
{
	return call->time - call->callee_time - (call->away - call->callee_away);
}

static inline uint64_t call_own_insns(const struct call *call)
{
	return call->insns - call->callee_insns;
}

struct call_thread {
	/* first: key of the tree; .pid -1: stands for a cpu whose thread is not known */
	int32_t pid, tid;
	uint32_t life;
	const char *comm;	/* the last name */
	uint64_t insns;		/* seen so far */
	uint64_t until, away;	/* when last seen; time away before that */
	bool seen;
	bool stopped;		/* traced flow stopped at .stop, and has not resumed */
	uint64_t stop;
	struct call *calls;	/* that have not ended, the outermost first */
	size_t n, room;
	size_t n_tails;		/* of .calls: tail calls */
	void *user;		/* the caller's own; NULL at first */
};

/* Each returns 0, or -errno to end decoding; members may be NULL. */
struct calls_ops {
	void *ctx;
	/* The thread is new, or has another name now. */
	int (*thread)(void *ctx, struct call_thread *thread);
	int (*begin)(void *ctx, struct call_thread *thread, struct call *call);
	/*
	 * The thread's innermost call ends. At the end of the trace, no more flow of the thread
	 * follows.
	 */
	int (*end)(void *ctx, struct call_thread *thread, const struct call *call);
	/*
	 * Returns whether to tell an event. Others do not name a thread, but a loss counts as one
	 * even if it does not pass. NULL: all events are told.
	 */
	bool (*passes)(void *ctx, const struct rvt_hart_flow *hart);
	/*
	 * For views that can use a part of the recording: discard all; everything will be told
	 * again.
	 */
	void (*forget)(void *ctx);
	/*
	 * And of one that is about some functions only, all others may be left out: which they are,
	 * in which granules (view_use_index()), and whether all is needed now; may be NULL.
	 */
	bool (*wants)(void *ctx, const struct call_function *function);
	bool (*wants_granule)(void *ctx, const struct rvt_index_granule *granule, uint64_t size);
	bool (*is_busy)(void *ctx);
	/* The call began in a part of the recording that was left out (common/stacks.h). */
	int (*restore)(void *ctx, struct call_thread *thread, struct call *call);
	/*
	 * As in rvtrace/transfers.h; .transfer comes before the transfer begins or ends calls,
	 * .after behind that.
	 */
	int (*line)(void *ctx, struct call_thread *thread, struct rvt_hart_flow *hart,
		    const struct rvt_straight_line *line, struct rvt_callstack *stack);
	int (*transfer)(void *ctx, struct rvt_hart_flow *hart, const struct rvt_transfer *transfer,
			struct rvt_callstack *stack);
	int (*after)(void *ctx, struct rvt_hart_flow *hart, const struct rvt_transfer *transfer,
		     struct rvt_callstack *stack, size_t ended);
	int (*event)(void *ctx, struct call_thread *thread, struct rvt_hart_flow *hart,
		     const struct rvt_event *event);
};

struct calls;

/* NULL: out of memory. */
struct calls *calls_create(const struct calls_ops *ops, struct places *places);
/* Destroys functions and threads, too. */
void calls_destroy(struct calls *calls);
/* Fills @ops for transfers_create(), which should keep CALLS_MAX_DEPTH frames. */
void calls_transfers_ops(struct calls *calls, struct rvt_transfers_ops *ops);
/*
 * Ends the trace: tells calls that have not ended, as not whole. Returns 0, or what a call-back
 * returned.
 */
int calls_finish(struct calls *calls);
/*
 * Returns whether there was any time stamp. Without, times are those of pieces of trace, or none.
 */
bool calls_timed(const struct calls *calls);
/*
 * calls_run - decodes @view and tells @ops its calls. Sets *@timed, and adds gaps to *@errors,
 * unless they are NULL. With ops.forget it may decode only a part (common/stacks.h). Returns 0 or
 * -errno.
 */
int calls_run(struct view *view, struct places *places, const struct calls_ops *ops, bool *timed,
	      uint64_t *errors);

#endif
