/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Inside the flow engine: the two walks, and how they say what was executed. The block walk is the
 * fast one; the reference walk (reference.c) executes one instruction at a time and shares nothing
 * with it but this, the return stack and the decoding of instructions.
 */
#ifndef RVT_LIB_FLOW_EMIT_H
#define RVT_LIB_FLOW_EMIT_H

#include "flow/core/state.h"
#include "flow/count/counts.h"

/* The walks: order->flags and limits in, results and an enum rvt_stop or a negative error out. */
int rvt_walk_blocks(struct rvt_flow *flow, struct rvt_order *order);
int rvt_walk_reference(struct rvt_flow *flow, struct rvt_order *order);

/* @count instructions of @block from @first on were executed. Returns 0 or flow->result. */
static inline int rvt_flow_emit(struct rvt_flow *flow, struct rvt_code_block *block,
				uint32_t first, uint32_t count)
{
	const struct rvt_run run = { &block->pub, first, count };

	if (flow->base.counts)
		rvt_flow_count_run(flow, block, first, count);
	if (flow->recording)
		rvt_body_add_run(&flow->body, &run);
	if (!flow->base.collect)
		return 0;
	flow->runs[flow->n_runs++] = run;
	return flow->n_runs >= RVT_FLOW_BATCH ? rvt_flow_deliver(flow) : 0;
}

#endif
