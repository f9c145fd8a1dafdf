// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Counts: what users of the engine call to have them.
 */
#include <errno.h>
#include "flow/count/expand.h"
#include "util/sized.h"

static void leave_memos(struct rvt_flow *flow, uint64_t from, const struct rvt_code_block *block,
			uint32_t insn, uint64_t to)
{
	rvt_counts_begin(flow->base.counts, from);
	rvt_counts_ahead(flow->base.counts, block, insn, to);
}

static const struct rvt_count_ops ops = {
	.expand_memo = rvt_count_memo, .expand = rvt_count_expand, .leave_memos = leave_memos,
	.inherit = rvt_counts_inherit, .destroy = rvt_counts_destroy,
};

int rvt_flow_count(struct rvt_flow *flow)
{
	if (flow->base.counts)
		return 0;
	flow->base.counts = rvt_counts_create();
	if (!flow->base.counts)
		return -ENOMEM;
	flow->count_ops = &ops;
	flow->delivers = flow->base.collect = false;
	return 0;
}

static int tell_block(const struct rvt_block_count *c, const struct rvt_count_sink *sink)
{
	const struct rvt_block *b = &c->block->pub;
	const struct rvt_run run = { b, 0, c->block->insns };
	int ret = 0;

	if (c->times && sink->run)
		ret = sink->run(sink->ctx, &run, c->times);
	if (c->taken && !ret && sink->edge)
		ret = sink->edge(sink->ctx, b->pc + b->bytes - 2 * c->block->last_halfwords,
				 b->target, b->iclass, c->taken);
	return ret;
}

/* Tells all counts and forgets them. */
static int tell_blocks(struct rvt_block_counts *blocks, const struct rvt_count_sink *sink)
{
	int ret = 0;

	for (uint32_t i = 0; i < blocks->n_counted; i++) {
		struct rvt_block_count *c = &blocks->counts[blocks->counted[i]];

		if (!ret)
			ret = tell_block(c, sink);
		*c = (struct rvt_block_count){ .block = NULL };
	}
	blocks->n_counted = 0;
	return ret;
}

static int tell_runs(const struct rvt_count_table *t, const struct rvt_count_sink *sink)
{
	int ret = 0;

	for (size_t i = 0; i < t->n && !ret && sink->run; i++) {
		const struct rvt_count *c = &t->counts[i];
		const struct rvt_code_block *block = (const void *)(uintptr_t)c->a;
		const struct rvt_run run = { &block->pub, c->b >> 32, c->b };

		ret = sink->run(sink->ctx, &run, c->times);
	}
	return ret;
}

static int tell_edges(const struct rvt_count_table *t, const struct rvt_count_sink *sink)
{
	int ret = 0;

	for (size_t i = 0; i < t->n && !ret && sink->edge; i++) {
		const struct rvt_count *c = &t->counts[i];

		if (c->times)
			ret = sink->edge(sink->ctx, c->a, c->b, c->c, c->times);
	}
	return ret;
}

int rvt_flow_counts(struct rvt_flow *flow, const struct rvt_count_sink *given)
{
	struct rvt_counts *c = flow->base.counts;
	struct rvt_count_sink own, *const sink = &own;
	int ret;

	if (!c || sized_copy(&own, sizeof(own), given))
		return -EINVAL;
	rvt_count_expand(flow);
	/* It is not known yet whether the last path went where it leads to. */
	if (c->has_last && c->ahead)
		rvt_counts_edge(c, c->last, c->last_insn, c->ahead_pc, -1);
	c->ahead = false;
	rvt_counts_flush(c);
	ret = tell_blocks(c->blocks, sink);
	if (!ret)
		ret = tell_runs(&c->runs, sink);
	if (!ret)
		ret = tell_edges(&c->edges, sink);
	rvt_counts_clear(c);
	return ret ? ret : c->failed ? -ENOMEM : 0;
}
