// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Flow engine: tables from a flow that ends to one that begins.
 */
#include <stdlib.h>
#include "flow/memo/table-pool.h"
#include "flow/memo/memos.h"

/*
 * Whether segments are of the blocks of one image, and nothing in the tables is still to be
 * counted.
 */
static bool may_leave(const struct rvt_flow *flow)
{
	return flow->image && !flow->several_images && flow->segments &&
	       !flow->deferred.left && !flow->segments->n_counted &&
	       (!flow->memos || !flow->memos->n_counted);
}

void rvt_flow_pool_tables(struct rvt_flow *flow)
{
	struct rvt_pool_entry *spare;

	if (!may_leave(flow))
		return;
	spare = malloc(sizeof(*spare));
	if (!spare)
		return;
	if (flow->memos)
		rvt_memos_forget(flow->memos);
	*spare = (struct rvt_pool_entry){
		.segments = flow->segments, .memos = flow->memos,
		.counts = flow->counts,
	};
	rvt_deferred_inherit(&spare->deferred, &flow->deferred);
	flow->segments = NULL;
	flow->memos = NULL;
	flow->counts = NULL;
	rvt_pool_put(flow->image, spare);
}

void rvt_flow_take_pooled(struct rvt_flow *flow)
{
	struct rvt_pool_entry *spare;

	if (flow->segments || flow->memos || !flow->image || flow->several_images)
		return;
	spare = rvt_pool_take(flow->image);
	if (!spare)
		return;
	flow->segments = spare->segments;
	flow->memos = spare->memos;
	rvt_counts_inherit(&flow->counts, &spare->counts);
	rvt_deferred_inherit(&flow->deferred, &spare->deferred);
	rvt_flow_new_mapping_epoch(flow);
	rvt_counts_destroy(spare->counts);
	free(spare);
}

void rvt_pool_entry_destroy(struct rvt_pool_entry *spare)
{
	rvt_segments_destroy(spare->segments);
	rvt_memos_destroy(spare->memos);
	rvt_counts_destroy(spare->counts);
	rvt_deferred_free(&spare->deferred);
	free(spare);
}
