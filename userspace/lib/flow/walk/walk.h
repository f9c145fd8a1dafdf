/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Inside the block walk: an order in progress, and how the flow gets from block to block. The walk
 * itself is in block-walk.c; where segments are known, segment-walk.c walks these instead.
 */
#ifndef RVT_LIB_FLOW_WALK_H
#define RVT_LIB_FLOW_WALK_H

#include "flow/core/state.h"
#include "flow/memo/segments.h"

#define RVT_GO_ON (-1)		/* no enum rvt_stop: the order goes on */

/* Outcomes that are not used yet. */
struct rvt_outcomes {
	uint64_t bits;			/* the next in bit 0 */
	uint32_t n_bits;		/* in .bits */
	/*
	 * those that follow; RVT_RUN_PREDICTED: as predicted; all of them if order->outcome tells
	 */
	uint64_t behind;
};

static inline uint64_t rvt_outcomes_left(const struct rvt_outcomes *outcomes)
{
	return outcomes->n_bits + outcomes->behind;
}

/* An order in progress. */
struct rvt_walk {
	struct rvt_order *order;
	uint32_t flags;
	struct rvt_outcomes outcomes;
	uint32_t n_ahead;		/* in .ahead: the first of .outcomes.behind */
	uint64_t ahead;
	uint64_t halfwords_left, insns_left;
	uint64_t insns;			/* executed */
	uint64_t branches, taken, indirect;
	uint64_t returns;		/* inferred */
	bool uses_segments;		/* segments may be walked */
	bool tails;			/* also those to the jump behind the last outcome */
	bool ends;			/* or those that end with it */
	uint64_t segments_at;		/* when so many outcomes are left, or fewer */
};

/* Executes as far as the outcomes and limits in @w allow. Returns a stop, or -ECANCELED. */
int rvt_walk_order(struct rvt_flow *flow, struct rvt_walk *w);
/* More outcomes into .outcomes.bits, if there are more. */
void rvt_walk_fill(struct rvt_walk *w);
/* A block is left by its last instruction, an indirect jump. */
struct rvt_leaving {
	uint8_t end;			/* of the block, enum rvt_block_end */
	bool inferred;			/* to .target, by what was executed before */
	bool absolute;			/* to .target, by what the jump itself says */
	uint64_t end_pc;		/* behind it */
	uint64_t target;
};
/* The jump was executed. Returns a stop or RVT_GO_ON. */
int rvt_walk_leave(struct rvt_flow *flow, struct rvt_walk *w, const struct rvt_leaving *leaving);

/* Continues at @pc, whose block has yet to be found. */
static inline int rvt_walk_go(struct rvt_flow *flow, uint64_t pc)
{
	flow->block = NULL;
	flow->pc = pc;
	flow->insn = 0;
	flow->halfword = 0;
	return RVT_GO_ON;
}

/* ---- segments (segment-walk.c) ---- */

/*
 * Walks segments from flow->block on, which is at its first instruction, as long as there are any
 * that the order allows. Returns a stop, RVT_GO_ON, or -ECANCELED.
 */
int rvt_walk_segments(struct rvt_flow *flow, struct rvt_walk *w);

/*
 * The key of the segment from @node, behind @from, that the branch predictor leads through: it is
 * found outcome by outcome, from a guess. There may be none, or none that is worth it.
 */
uint32_t rvt_walk_predict(struct rvt_flow *flow, uint32_t flags, uint32_t node,
			  struct rvt_segment *from);

/* Whether all segments in @table lie in @mapping of it. */
static inline bool rvt_mapping_covers(const struct rvt_mapping *mapping,
				      const struct rvt_block_table *table)
{
	return mapping->start <= table->segments_low && mapping->last >= table->segments_high;
}

#endif
