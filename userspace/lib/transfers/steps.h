/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Inside this project: what changes call stacks, one step after the other. Call stacks need all of
 * the flow in the order of time, which slices (session/slices.h) do not have. So each slice tells
 * the steps of its flow, which costs little, and one that takes the steps of all slices in order
 * (session/followed.h) keeps the stacks.
 */
#ifndef TRANSFERS_STEPS_H
#define TRANSFERS_STEPS_H

#include <rvtrace/transfers.h>

enum rvt_step_kind {
	RVT_STEP_TRANSFER,	/* .transfer, .indirect, .from, .to; of a CALL .back */
	RVT_STEP_WENT_ON,	/* tracing, at .to; .crossing */
	RVT_STEP_STOPPED,	/* tracing, before .to (0: not known where); .executed */
	RVT_STEP_LOST,		/* flow is */
};

struct rvt_step {
	enum rvt_step_kind kind;
	enum rvt_transfer_kind transfer;
	bool indirect;		/* as in struct rvt_transfer */
	bool crossing;		/* as in struct rvt_event: the stop before it was told by nobody */
	bool executed;		/* something was, since tracing began */
	uint64_t from, to;
	uint64_t back;		/* where a call returns to */
};

/*
 * rvt_transfers_tell_steps - from now on @steps is told each step, behind .transfer and before
 * .after. @transfers keeps no stacks (@max_depth 0). It returns 0, or an error, which ends
 * decoding.
 */
void rvt_transfers_tell_steps(struct rvt_transfers *transfers,
			      int (*steps)(void *ctx, struct rvt_hart_flow *hart,
					   const struct rvt_step *step), void *ctx);
/*
 * rvt_transfers_take_step - does to the stacks that @transfers keeps what the flow of @step did.
 * @hart: by rvt_followed_hart(). 0 or -ENOMEM.
 */
int rvt_transfers_take_step(struct rvt_transfers *transfers, struct rvt_hart_flow *hart,
			    const struct rvt_step *step);
/* The stack of the thread that runs, in *@stack. 0 or -ENOMEM. */
int rvt_transfers_stack(struct rvt_transfers *transfers, struct rvt_hart_flow *hart,
			struct rvt_callstack **stack);

#endif
