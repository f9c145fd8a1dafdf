// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Flow engine: tables from a flow that ends to one that begins.
 */
#include <stdlib.h>
#include "flow/memo/leaps.h"
#include "flow/memo/table-pool.h"
#include "flow/memo/memos.h"

/* Whether hops are of the blocks of one image, and nothing in the tables is still to be counted. */
static bool may_leave(const struct rvt_flow *flow)
{
	return flow->image && !flow->several_images && flow->hops && flow->leaps &&
	       !flow->aside.left && !flow->hops->n_counted && !flow->leaps->n_counted &&
	       (!flow->steps || !flow->steps->n_counted);
}

void rvt_flow_leave_tables(struct rvt_flow *flow)
{
	struct rvt_spare *spare;

	if (!may_leave(flow))
		return;
	spare = malloc(sizeof(*spare));
	if (!spare)
		return;
	rvt_leaps_forget(flow->leaps);
	if (flow->steps)
		rvt_steps_forget(flow->steps);
	*spare = (struct rvt_spare){
		.hops = flow->hops, .leaps = flow->leaps, .steps = flow->steps,
		.counts = flow->counts, .n_epochs = flow->n_epochs,
	};
	rvt_flow_inherit_aside(&spare->aside, &flow->aside);
	flow->hops = NULL;
	flow->leaps = NULL;
	flow->steps = NULL;
	flow->counts = NULL;
	rvt_spare_put(flow->image, spare);
}

void rvt_flow_inherit(struct rvt_flow *flow)
{
	struct rvt_spare *spare;

	if (flow->hops || flow->steps || !flow->image || flow->several_images)
		return;
	spare = rvt_spare_take(flow->image);
	if (!spare)
		return;
	flow->hops = spare->hops;
	flow->leaps = spare->leaps;
	flow->steps = spare->steps;
	rvt_counts_inherit(&flow->counts, &spare->counts);
	rvt_flow_inherit_aside(&flow->aside, &spare->aside);
	rvt_flow_epochs_from(flow, spare->n_epochs);
	rvt_counts_destroy(spare->counts);
	free(spare);
}

void rvt_spare_destroy(struct rvt_spare *spare)
{
	rvt_hops_destroy(spare->hops);
	rvt_leaps_destroy(spare->leaps);
	rvt_steps_destroy(spare->steps);
	rvt_counts_destroy(spare->counts);
	rvt_flow_forget_aside(&spare->aside);
	free(spare);
}
