/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Strides: a message that is no step yet, walked by hops alone without leaving the row of steps.
 * First nothing happens but that the hops are looked up; only if they lead to the very end of the
 * message they are taken, all at once. Else the walk does it, as it does whatever contradicts the
 * program.
 */
#ifndef RVT_LIB_FLOW_STRIDE_H
#define RVT_LIB_FLOW_STRIDE_H

#include "flow/memo/memos.h"

#define RVT_STRIDE_OUTCOMES 63

/* An order (struct rvt_order), as far as a stride can do it. */
struct rvt_stride {
	uint32_t flags;			/* RVT_RUN_* of them that decide where hops lead */
	unsigned int n_outcomes;	/* no more than RVT_STRIDE_OUTCOMES are taken */
	uint64_t outcomes;		/* the first in bit 0 */
	/*
	 * Behind the last outcome it goes on to an indirect jump, which leads to .target, after
	 * exactly .halfwords; else it ends there. 0: to the first jump that leads nowhere by
	 * itself, without coming to .target before that.
	 */
	bool jumps;
	bool to_branch;			/* or up to the next branch */
	uint64_t halfwords, target;
	uint8_t extra;			/* as in struct rvt_step */
};

/*
 * rvt_stride_take - does what the message says of which rvt_steps_take() has just found no step, in
 * a flow that stands at flow->steps->key.pc. The second time that it comes a step is made of it.
 * Returns what it did as a step that is good until the next call, already applied (*whole: as
 * rvt_steps_apply() returns). NULL: nothing happened, the message must be walked.
 */
struct rvt_step *rvt_stride_take(struct rvt_flow *flow, const struct rvt_stride *stride,
				 bool *whole);

#endif
