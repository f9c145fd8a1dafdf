// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Flow engine: tables of flows, and the pool where they wait for the next flow.
 */
#include <stdlib.h>
#include <string.h>
#include "flow/memo/memos.h"
#include "flow/memo/segments.h"
#include "flow/memo/table-pool.h"
#include "util/reserve.h"

#define MANY_NODES 1024		/* of the flow that had the tables before */

struct tables {
	struct rvt_pooled pooled;
	struct rvt_code_config code;
	unsigned int depth;		/* of the return stack */
	uint64_t encoder;
	struct rvt_segments *segments;	/* or NULL */
	struct rvt_memos *memos;	/* or NULL */
	struct rvt_counts *counts;	/* or NULL */
	const struct rvt_count_ops *count_ops;
	struct rvt_deferred deferred;
	uint32_t n_mapping_ids;
	struct rvt_mapping_id mapping_ids[RVT_FLOW_MAPPING_IDS];
};

static void free_tables(struct tables *t)
{
	rvt_segments_destroy(t->segments);
	rvt_memos_destroy(t->memos);
	if (t->counts)
		t->count_ops->destroy(t->counts);
	rvt_deferred_free(&t->deferred);
	free(t);
}

static void destroy(struct rvt_pooled *pooled)
{
	/* .pooled is the first member */
	free_tables((struct tables *)pooled);
}

/* ---- in ---- */

/*
 * Returns whether the tables may go to the pool: segments are of one image, and nothing in the
 * tables is still to be counted.
 */
static bool may_put(const struct rvt_flow *flow)
{
	return flow->image && !flow->several_images && (flow->segments || flow->base.memos) &&
	       !flow->deferred.left && (!flow->segments || !flow->segments->n_counted) &&
	       (!flow->base.memos || !flow->base.memos->n_counted);
}

static bool put(struct rvt_flow *flow)
{
	struct tables *t;

	if (!may_put(flow))
		return false;
	t = calloc(1, sizeof(*t));
	if (!t)
		return false;
	t->pooled.destroy = destroy;
	t->code = flow->code;
	t->depth = flow->base.returns.depth;
	t->encoder = flow->encoder;
	t->segments = flow->segments;
	t->memos = flow->base.memos;
	t->counts = flow->base.counts;
	t->count_ops = flow->count_ops;
	rvt_deferred_inherit(&t->deferred, &flow->deferred);
	t->n_mapping_ids = flow->n_mapping_ids;
	memcpy(t->mapping_ids, flow->mapping_ids, sizeof(t->mapping_ids));
	flow->base.counts = NULL;
	rvt_pool_put(flow->image, &t->pooled);
	return true;
}

void rvt_tables_put(struct rvt_flow *flow)
{
	if (!put(flow)) {
		rvt_segments_destroy(flow->segments);
		rvt_memos_destroy(flow->base.memos);
	}
	flow->segments = NULL;
	flow->base.memos = NULL;
}

/* ---- out ---- */

static bool has_same_code(const struct rvt_pooled *pooled, const void *ctx)
{
	const struct tables *t = (const struct tables *)pooled;
	const struct rvt_flow *flow = ctx;

	return rvt_code_same_config(&t->code, &flow->code);
}

static bool has_same_encoder(const struct rvt_pooled *pooled, const void *ctx)
{
	const struct tables *t = (const struct tables *)pooled;
	const struct rvt_flow *flow = ctx;

	return t->encoder == flow->encoder && t->depth == flow->base.returns.depth &&
	       has_same_code(pooled, ctx);
}

/* Takes over the mapping ids of the flow that had @t, for spaces with the same mappings. */
static void inherit_mapping_ids(struct rvt_flow *flow, const struct tables *t)
{
	memcpy(flow->mapping_ids, t->mapping_ids, sizeof(flow->mapping_ids));
	for (unsigned int i = 0; i < RVT_FLOW_MAPPING_IDS; i++)
		flow->mapping_ids[i].inherited = flow->mapping_ids[i].id;
	flow->inherited = true;
	flow->n_mapping_ids = t->n_mapping_ids;
}

static void take(struct rvt_flow *flow)
{
	struct rvt_pooled *pooled = NULL;
	struct tables *t;
	bool same;

	if (flow->segments || flow->base.memos || !flow->image || flow->several_images)
		return;
	if (flow->encoder)
		pooled = rvt_pool_take(flow->image, has_same_encoder, flow);
	same = pooled;
	if (!pooled)
		pooled = rvt_pool_take(flow->image, has_same_code, flow);
	if (!pooled)
		return;
	t = (struct tables *)pooled;
	if (same)
		inherit_mapping_ids(flow, t);
	else if (t->memos)
		rvt_memos_forget(t->memos);
	flow->segments = t->segments;
	flow->base.memos = t->memos;
	t->segments = NULL;
	t->memos = NULL;
	/* A flow with many nodes uses all of its targets. */
	if (flow->segments && flow->segments->n_nodes >= MANY_NODES)
		populate(flow, sizeof(*flow));
	if (t->counts && flow->base.counts)
		flow->count_ops->inherit(&flow->base.counts, &t->counts);
	rvt_deferred_inherit(&flow->deferred, &t->deferred);
	/* Nodes have other numbers from now on. */
	rvt_flow_new_mapping_epoch(flow);
	free_tables(t);
}

bool rvt_tables_have_memos(struct rvt_flow *flow)
{
	if (flow->base.memos)
		return true;
	take(flow);
	if (flow->base.memos || flow->no_memos)
		return flow->base.memos;
	flow->base.memos = rvt_memos_create();
	flow->no_memos = !flow->base.memos;
	return flow->base.memos;
}

static bool make_segments(struct rvt_flow *flow, uint32_t flags)
{
	take(flow);
	if (flow->segments)
		return true;
	flow->segments = rvt_segments_create();
	flow->no_segments = !flow->segments;
	if (flow->segments)
		flow->segments->flags = flags;
	return flow->segments;
}

/* Forgets all segments. Returns false, and does not, while counts are deferred. */
static bool reset_segments(struct rvt_flow *flow, uint32_t flags)
{
	if (flow->deferred.left) {
		flow->deferred.full = true;
		return flow->segments->flags == flags;
	}
	rvt_memos_reset(flow);
	if (flow->base.counts)
		flow->count_ops->expand(flow);
	rvt_segments_reset(flow->segments, flags);
	rvt_flow_new_mapping_epoch(flow);
	return true;
}

bool rvt_tables_prepare_segments(struct rvt_flow *flow, uint32_t flags)
{
	if (!flow->segments && !make_segments(flow, flags))
		return false;
	return rvt_tables_have_segments(flow, flags) || reset_segments(flow, flags);
}

void rvt_tables_forget(struct rvt_flow *flow)
{
	rvt_memos_reset(flow);
	if (flow->segments)
		rvt_segments_reset(flow->segments, flow->segments->flags);
	rvt_flow_new_mapping_epoch(flow);
}
