/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * From runs of blocks to what most views want: straight lines of code, the transfers of control
 * between them, and the call stack of the thread.
 */
#ifndef PERF_RVTRACE_TRANSFERS_H
#define PERF_RVTRACE_TRANSFERS_H

#include <rvtrace/callstack.h>
#include "common/view.h"

enum transfer_kind {
	TRANSFER_BRANCH,	/* a taken conditional branch */
	TRANSFER_JUMP,
	TRANSFER_CALL,
	TRANSFER_RETURN,
	TRANSFER_TRAP,		/* .from is the EPC */
	TRANSFER_TRAP_RETURN,
	TRANSFER_START,		/* tracing began at .to */
	TRANSFER_STOP,		/* .from ran last; the program goes on at .to */
};

struct transfer {
	enum transfer_kind kind;
	uint64_t from, to;
	const char *flags;	/* perf's words: call, return, jcc, jmp, int, iret, syscall, ... */
	bool indirect;		/* a jump to where a register says */
};

/* Straight code, no transfer between. It began at .began, ns, and ends now (hart->time). */
struct straight_line {
	uint64_t first, last;	/* addresses of its first and last instruction */
	uint64_t insns;
	uint64_t began;
};

/* Callbacks; members may be NULL; a negative return value ends decoding. */
struct transfers_ops {
	void *ctx;
	int (*line)(void *ctx, struct rvt_hart_flow *hart, const struct straight_line *line,
		    struct rvt_callstack *stack);
	/*
	 * @stack is as it was before the transfer, @after as the transfer leaves it; @ended frames
	 * are gone, and if it is deeper than that leaves it, frames have come (rvtrace/callstack.h).
	 */
	int (*transfer)(void *ctx, struct rvt_hart_flow *hart, const struct transfer *transfer,
			struct rvt_callstack *stack);
	int (*after)(void *ctx, struct rvt_hart_flow *hart, const struct transfer *transfer,
		     struct rvt_callstack *stack, size_t ended);
	int (*event)(void *ctx, struct rvt_hart_flow *hart, const struct rvt_event *event);
};

#define MAX_CALL_DEPTH 1024	/* of stacks that views keep */

/* What views print for a frame with .cut. */
#define CALLERS_LOST "[callers lost]"

struct transfers;

/* perf's words for what an instruction of @iclass (enum rvt_insn_class) does to the flow. */
const char *transfer_flags(unsigned int iclass);

/*
 * @view: its filters, or NULL; @max_depth of call stacks, 0: .stack is always NULL. NULL: out of
 * memory.
 */
struct transfers *transfers_create(const struct transfers_ops *ops, struct view *view,
				   size_t max_depth);
/* The view's summary gets to know how many stacks were cut off. */
void transfers_destroy(struct transfers *transfers);
/*
 * Fills .ctx, .runs, .event and .end of a session's sink. rvt_hart_flow.user is taken. Good for
 * slices with overlap (struct rvt_session_slices) if no stacks are kept.
 */
void transfers_sink(struct transfers *transfers, struct rvt_session_sink *sink);
/* How many LOST events there were; the view's summary knows of them. */
uint64_t transfers_lost(const struct transfers *transfers);
/* How often the flow contradicted a stack, which was cut off then. */
uint64_t transfers_cuts(const struct transfers *transfers);
/* Every thread's stack at the end: @call for each (in no order). */
void transfers_each_stack(struct transfers *transfers,
			  void (*call)(void *ctx, int32_t tid, struct rvt_callstack *stack),
			  	void *ctx);

#endif
