/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Speculative walks: a message that is no memo yet, walked by segments alone without leaving the
 * row of memos. First nothing happens but that the segments are looked up; only if they lead to the
 * very end of the message they are taken, all at once. Else the walk does it, as it does whatever
 * contradicts the program.
 */
#ifndef RVT_LIB_FLOW_SPECULATIVE_H
#define RVT_LIB_FLOW_SPECULATIVE_H

#include "flow/memo/memos.h"

#define RVT_SPECULATION_OUTCOMES 63

/* An order (struct rvt_order), as far as a speculative walk can do it. */
struct rvt_speculation {
	uint32_t flags;			/* RVT_RUN_* of them that decide where segments lead */
	unsigned int n_outcomes;	/* no more than RVT_SPECULATION_OUTCOMES are taken */
	uint64_t outcomes;		/* the first in bit 0 */
	/*
	 * Behind the last outcome it goes on to an indirect jump, which leads to .target, after
	 * exactly .halfwords; else it ends there. 0: to the first jump that leads nowhere by
	 * itself, without coming to .target before that.
	 */
	bool jumps;
	bool to_branch;			/* or up to the next branch */
	uint64_t halfwords, target;
	uint8_t extra;			/* as in struct rvt_memo */
};

/*
 * rvt_speculate - does what the message says of which rvt_memos_take() has just found no memo, in
 * a flow that stands at flow->memos->key.pc. The second time that it comes a memo is made of it.
 * Returns what it did as a memo that is good until the next call, already applied (*whole: as
 * rvt_memos_apply() returns). NULL: nothing happened, the message must be walked.
 */
struct rvt_memo *rvt_speculate(struct rvt_flow *flow, const struct rvt_speculation *spec,
			       bool *whole);

#endif
