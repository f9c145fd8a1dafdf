/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Inside the flow engine: the tables of a flow, and the pool where it leaves them for another flow
 * of the same image and configuration. What segments say of code holds there; what memos say holds
 * for flows of the same encoder (rvt_flow_set_encoder()). Else their memory is used again, which is
 * cheaper than to have pages cleared. Several threads may use the pool of one image.
 */
#ifndef RVT_LIB_FLOW_TABLE_POOL_H
#define RVT_LIB_FLOW_TABLE_POOL_H

#include "flow/core/state.h"
#include "flow/memo/segments.h"

/* @flow ends: its tables go to the pool, or, where something in them was not told, away. */
void rvt_tables_put(struct rvt_flow *flow);
/* Whether @flow has a table of memos; it is made, or taken from the pool, when first asked for. */
bool rvt_tables_have_memos(struct rvt_flow *flow);
/* Whether @flow has segments for orders with @flags, and room for more. */
static inline bool rvt_tables_have_segments(const struct rvt_flow *flow, uint32_t flags)
{
	return flow->segments && flow->segments->flags == flags &&
	       rvt_segments_have_room(flow->segments);
}
/*
 * The same, and if not, they are made, taken from the pool, or forgotten. False, too: not now, as
 * some counts are deferred.
 */
bool rvt_tables_prepare_segments(struct rvt_flow *flow, uint32_t flags);
/* All memos and segments are forgotten. What they counted must have been told. */
void rvt_tables_forget(struct rvt_flow *flow);

#endif
