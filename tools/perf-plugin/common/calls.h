/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Each call of a function, with what it took: time, instructions, and time in which nothing of its
 * thread was seen. Handlers of traps are calls of what was interrupted. Where the kernel is not
 * traced, what it did between two pieces of a program's flow is a call as well.
 *
 * A function that is entered by a jump (a tail call) is called by the one that jumped, until it
 * returns or jumps on to a third: that one is called by the first, too.
 */
#ifndef PERF_RVTRACE_CALLS_H
#define PERF_RVTRACE_CALLS_H

#include "common/places.h"
#include "common/transfers.h"

/* Deeper stacks lose their outermost calls. */
#define CALLS_MAX_DEPTH 65536

/* Handlers have these names; a cause that the trace tells follows: "[interrupt 5]". */
#define CALL_SYSTEM "[system call]"
#define CALL_INTERRUPT "[interrupt"
#define CALL_EXCEPTION "[exception"
/* Of a trap that itself was not seen, but what handled it. */
#define CALL_TRAP "[trap]"
/* What the kernel did, where it is not traced, and firmware. */
#define CALL_TRAPPED "[interrupt or exception]"
#define CALL_FIRMWARE "[firmware]"

struct call_function {
	const char *name, *linkage, *dso;	/* .dso: without directories */
	bool kernel;
	uint32_t number;	/* in the order in which they were first called, from 0 on */
	void *user;		/* NULL; the caller's */
};

struct call {
	struct call_function *function;
	uint64_t addr;		/* where it began */
	/* the call, or the instruction that was interrupted; 0: not known */
	uint64_t from;
	uint64_t back;		/* where it returns to; 0: not known */
	bool trap;
	bool tail;		/* entered by a jump */
	/*
	 * It was seen to begin, and to return to where it was called; no flow was lost meanwhile.
	 * While it has not ended: so far.
	 */
	bool whole;
	int32_t cpu;		/* on which it began */
	uint64_t began;		/* ns */
	void *user;		/* NULL; the caller's */
	/* When it has ended; before, what there was before it. */
	uint64_t time;		/* ns, with all that it called and .away */
	uint64_t away;		/* of that: nothing of the thread was seen */
	uint64_t insns;
	/* Of it: what it called, direct and whole or not. */
	uint64_t callee_time, callee_away, callee_insns;
};

/* Without what it called; time without what it was away, too. */
static inline uint64_t call_own_time(const struct call *call)
{
	return call->time - call->callee_time - (call->away - call->callee_away);
}

static inline uint64_t call_own_insns(const struct call *call)
{
	return call->insns - call->callee_insns;
}

struct call_thread {
	/* first: key of the tree; .pid -1: of a cpu whose thread is unknown */
	int32_t pid, tid;
	uint32_t life;
	const char *comm;	/* the last name */
	uint64_t insns;		/* seen so far */
	uint64_t until, away;	/* seen until; and how long not, before */
	bool seen;
	bool stopped;		/* since .until, before .stop */
	uint64_t stop;
	struct call *calls;	/* that have not ended, the outermost first */
	size_t n, room;
	size_t n_tails;		/* of .calls: entered by jumps */
	void *user;		/* NULL; the caller's */
};

/* Each returns 0 or -errno, which ends decoding; members may be NULL. */
struct calls_ops {
	void *ctx;
	/* The thread was not seen before, or has another name now. */
	int (*thread)(void *ctx, struct call_thread *thread);
	int (*begin)(void *ctx, struct call_thread *thread, struct call *call);
	/* The thread's innermost call. At the end of the trace, nothing more comes of a thread. */
	int (*end)(void *ctx, struct call_thread *thread, const struct call *call);
	/*
	 * Which events are told; others name no thread, but a loss is one also where it does not
	 * pass. NULL: all are.
	 */
	bool (*passes)(void *ctx, const struct rvt_hart_flow *hart);
	/*
	 * Of a view that can do with a part of the recording: what was told is void, and all will
	 * be told again.
	 */
	void (*forget)(void *ctx);
	/*
	 * And of one that is about some functions only, all others may be left out: which they are,
	 * in which granules (view_use_index()), and whether all is needed now; may be NULL.
	 */
	bool (*wants)(void *ctx, const struct call_function *function);
	bool (*wants_granule)(void *ctx, const struct rvt_index_granule *granule, uint64_t size);
	bool (*is_busy)(void *ctx);
	/* It began in a part of the recording that was left out (common/stacks.h). */
	int (*restore)(void *ctx, struct call_thread *thread, struct call *call);
	/*
	 * As in rvtrace/transfers.h; .transfer comes before calls begin and end of it, .after when
	 * they have.
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
/* Functions and threads go, too. */
void calls_destroy(struct calls *calls);
/* Fills @ops for transfers_create(), which should keep CALLS_MAX_DEPTH frames. */
void calls_transfers_ops(struct calls *calls, struct rvt_transfers_ops *ops);
/*
 * The trace has ended: calls that have not are told, and are not whole. 0, or what a call-back
 * returned.
 */
int calls_finish(struct calls *calls);
/* Whether any time stamp was seen: without, times are those of pieces of trace, or none. */
bool calls_timed(const struct calls *calls);
/*
 * calls_run - decodes @view and tells @ops of its calls. Sets *@timed, and adds gaps to *@errors,
 * unless they are NULL. With ops.forget it may decode a part only (common/stacks.h). 0 or -errno.
 */
int calls_run(struct view *view, struct places *places, const struct calls_ops *ops, bool *timed,
	      uint64_t *errors);

#endif
