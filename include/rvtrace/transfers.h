/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * From runs of blocks to what most views want: straight lines of code, the transfers of control
 * between them, and the call stack of the thread.
 *
 * Threads: one at a time calls for the same object, as the session whose sink it is does.
 */
#ifndef RVTRACE_TRANSFERS_H
#define RVTRACE_TRANSFERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <rvtrace/callstack.h>
#include <rvtrace/linkage.h>
#include <rvtrace/session.h>

RVT_BEGIN_DECLS

enum rvt_transfer_kind {
	RVT_TRANSFER_BRANCH,	/* a taken conditional branch */
	RVT_TRANSFER_JUMP,
	RVT_TRANSFER_CALL,
	RVT_TRANSFER_RETURN,
	RVT_TRANSFER_TRAP,	/* .from is the EPC */
	RVT_TRANSFER_TRAP_RETURN,
	RVT_TRANSFER_START,	/* tracing began at .to */
	/*
	 * .from ran last; the program goes on at .to, or (0) it is not known where. With .indirect
	 * the kernel has returned to a program that is not traced: its frames end.
	 */
	RVT_TRANSFER_STOP,
};

struct rvt_transfer {
	enum rvt_transfer_kind kind;
	uint64_t from, to;
	const char *flags;	/* perf's words: call, return, jcc, jmp, int, iret, syscall, ... */
	bool indirect;		/* a jump to where a register says; a call that may return, too */
	const struct rvt_event *event;	/* of a TRAP; NULL: the trap itself was not seen */
};

/* Straight code, no transfer between. It began at .began, ns, and ends now (hart->time). */
struct rvt_straight_line {
	uint64_t first, last;	/* addresses of its first and last instruction */
	uint64_t insns;
	uint64_t began;
};

/*
 * Call-backs; members but .size may be NULL; a negative return value ends decoding. Order is that
 * of the hart flow. @stack is that of the thread that runs; NULL where no stacks are kept.
 */
struct rvt_transfers_ops {
	size_t size;		/* sizeof(struct rvt_transfers_ops): the struct may grow */
	void *ctx;
	/* Whether lines and transfers are told; stacks are kept in any case. NULL: all are. */
	bool (*wants)(void *wants_ctx, const struct rvt_hart_flow *hart);
	void *wants_ctx;
	int (*line)(void *ctx, struct rvt_hart_flow *hart, const struct rvt_straight_line *line,
		    struct rvt_callstack *stack);
	/*
	 * @stack is as it was before the transfer, @after as the transfer leaves it; @ended frames
	 * are gone, and if it is deeper than that leaves it, frames have come
	 * (rvtrace/callstack.h).
	 */
	int (*transfer)(void *ctx, struct rvt_hart_flow *hart, const struct rvt_transfer *transfer,
			struct rvt_callstack *stack);
	int (*after)(void *ctx, struct rvt_hart_flow *hart, const struct rvt_transfer *transfer,
		     struct rvt_callstack *stack, size_t ended);
	/* The session's events, behind what they end. */
	int (*event)(void *ctx, struct rvt_hart_flow *hart, const struct rvt_event *event);
};

struct rvt_transfers;

/* perf's words for what an instruction of @iclass (enum rvt_insn_class) does to the flow. */
const char *rvt_transfer_flags(unsigned int iclass);
/*
 * rvt_transfers_create - @ops is copied. @max_depth of call stacks; 0: none are kept. @symbols:
 * those of the session, which tell where exceptions go and functions begin; they must outlive it;
 * NULL: stacks do without. Returns NULL when out of memory, or when @ops does not say its size.
 */
struct rvt_transfers *rvt_transfers_create(const struct rvt_transfers_ops *ops,
					   struct rvt_symbols *symbols, size_t max_depth);
/* @transfers may be NULL. */
void rvt_transfers_destroy(struct rvt_transfers *transfers);
/*
 * Fills .ctx, .runs, .event and .end of a session's sink. rvt_hart_flow.user is taken, and
 * rvt_hart_flow.time is set to the time of what call-backs are told.
 */
void rvt_transfers_sink(struct rvt_transfers *transfers, struct rvt_session_sink *sink);
/* How often the flow contradicted a stack, which was cut off then. */
uint64_t rvt_transfers_cuts(const struct rvt_transfers *transfers);

RVT_END_DECLS

#endif
