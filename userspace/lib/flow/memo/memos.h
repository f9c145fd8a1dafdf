/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Inside the flow engine: what it does with memos besides what decoders do (flow/memo.h).
 */
#ifndef RVT_LIB_FLOW_MEMOS_H
#define RVT_LIB_FLOW_MEMOS_H

#include "flow/core/state.h"
#include "flow/memo.h"

/* An empty table in memory that is real only where it is used; NULL when there is none. */
struct rvt_memos *rvt_memos_create(void);
void rvt_memos_destroy(struct rvt_memos *memos);
/*
 * Forgets all memos, after their counts went to runs and edges. Nothing may be deferred. Segments
 * that bodies name may go then.
 */
void rvt_memos_reset(struct rvt_flow *flow);
/*
 * What a speculative walk did for the key of which a look-up has just found no memo. The second
 * time that the key comes a memo is made of it. rvt_memos_transient() returns it as a memo that is
 * good until the next call; it is not applied.
 */
struct rvt_transient_memo {
	uint64_t pc, sums;		/* as in struct rvt_memo */
	uint8_t flags, extra;		/* likewise */
	bool consecutive;
	struct rvt_segment *const *segments;	/* RVT_BODY_WORDS at most, in the half of the key */
	unsigned int n_segments;
	unsigned int n_known;		/* as in struct rvt_body, and the next two */
	bool asks;
	uint32_t asked;
	uint16_t own;			/* as rvt_memos_keep() has it */
};
struct rvt_memo *rvt_memos_transient(struct rvt_flow *flow,
				     const struct rvt_transient_memo *transient);
/* What was executed, for a memo. False: more than fits. */
bool rvt_memo_pack(const struct rvt_flow_stats *stats, uint64_t *sums);
/* All of them; none may be left to count. */
void rvt_memos_forget(struct rvt_memos *memos);
/* Since rvt_memos_enter(): whether what was executed last just went on to where the flow is. */
bool rvt_memos_consecutive(const struct rvt_flow *flow);
/* Whether there is room for another memo: else rvt_memos_record() begins anew. */
bool rvt_memos_have_room(const struct rvt_memos *memos);

/* False: delivering went wrong, or mappings changed. */
static inline bool rvt_memos_deliver_full(struct rvt_flow *flow)
{
	return flow->n_runs < RVT_FLOW_BATCH ||
	       (!rvt_flow_deliver(flow) &&
		flow->mapping_epochs[0] == flow->base.memos->mapping_epoch);
}

#endif
