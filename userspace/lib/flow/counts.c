// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Counts of runs and edges.
 */
#include <errno.h>
#include <stdlib.h>
#include "flow/engine.h"

#define FIRST_SIZE 4096

void rvt_counts_destroy(struct rvt_counts *counts)
{
	if (!counts)
		return;
	free(counts->runs);
	free(counts->edges);
	free(counts);
}

static size_t mix(uint64_t a, uint64_t b)
{
	uint64_t x = a * 0x9e3779b97f4a7c15ull ^ b;

	x *= 0xd6e8feb86659fd93ull;
	return x >> 24;
}

static struct rvt_counted_run *find_run(struct rvt_counted_run *runs, size_t size,
					const struct rvt_code_block *block, uint32_t first,
					uint32_t count)
{
	size_t i = mix((uintptr_t)block >> 4, (uint64_t)first << 32 | count) & (size - 1);

	while (runs[i].block &&
	       (runs[i].block != block || runs[i].first != first || runs[i].count != count))
		i = (i + 1) & (size - 1);
	return &runs[i];
}

static bool grow_runs(struct rvt_counts *c)
{
	size_t size = c->runs_size ? 2 * c->runs_size : FIRST_SIZE;
	struct rvt_counted_run *runs;

	if (2 * c->n_runs < c->runs_size)
		return true;
	runs = calloc(size, sizeof(*runs));
	if (!runs)
		return false;
	for (size_t i = 0; i < c->runs_size; i++) {
		struct rvt_counted_run *r = &c->runs[i];

		if (r->block)
			*find_run(runs, size, r->block, r->first, r->count) = *r;
	}
	free(c->runs);
	c->runs = runs;
	c->runs_size = size;
	return true;
}

void rvt_counts_run(struct rvt_counts *counts, const struct rvt_code_block *block, uint32_t first,
		    uint32_t count, uint64_t times)
{
	struct rvt_counted_run *run;

	if (!grow_runs(counts)) {
		counts->failed = true;
		return;
	}
	run = find_run(counts->runs, counts->runs_size, block, first, count);
	if (!run->block) {
		*run = (struct rvt_counted_run){ block, first, count, 0 };
		counts->n_runs++;
	}
	run->times += times;
}

static struct rvt_counted_edge *find_edge(struct rvt_counted_edge *edges, size_t size,
					  uint64_t from, uint64_t to, uint32_t iclass)
{
	size_t i = mix(from, to) & (size - 1);

	while (edges[i].used &&
	       (edges[i].from != from || edges[i].to != to || edges[i].iclass != iclass))
		i = (i + 1) & (size - 1);
	return &edges[i];
}

static bool grow_edges(struct rvt_counts *c)
{
	size_t size = c->edges_size ? 2 * c->edges_size : FIRST_SIZE;
	struct rvt_counted_edge *edges;

	if (2 * c->n_edges < c->edges_size)
		return true;
	edges = calloc(size, sizeof(*edges));
	if (!edges)
		return false;
	for (size_t i = 0; i < c->edges_size; i++) {
		struct rvt_counted_edge *e = &c->edges[i];

		if (e->used)
			*find_edge(edges, size, e->from, e->to, e->iclass) = *e;
	}
	free(c->edges);
	c->edges = edges;
	c->edges_size = size;
	return true;
}

/* Address of instruction @insn of @block; of what lies behind the last, too. */
static uint64_t address(const struct rvt_code_block *block, uint32_t insn)
{
	uint64_t pc = block->pub.pc;

	if (insn == block->pub.insns)
		return pc + block->pub.bytes;
	for (uint32_t i = 0; i < insn; i++)
		pc += 2 * block->pub.halfwords[i];
	return pc;
}

void rvt_counts_edge(struct rvt_counts *counts, const struct rvt_code_block *block, uint32_t insn,
		     uint64_t to, int64_t times)
{
	uint64_t end = address(block, insn + 1), from = end - 2 * block->pub.halfwords[insn];
	uint32_t iclass = insn + 1 == block->pub.insns ? block->pub.iclass : RVT_INSN_SEQUENTIAL;
	struct rvt_counted_edge *edge;

	if (to == end)
		return;
	if (!grow_edges(counts)) {
		counts->failed = true;
		return;
	}
	edge = find_edge(counts->edges, counts->edges_size, from, to, iclass);
	if (!edge->used) {
		*edge = (struct rvt_counted_edge){ from, to, 1, iclass, 0 };
		counts->n_edges++;
	}
	edge->times += times;
}

void rvt_counts_break(struct rvt_counts *counts)
{
	if (counts->has_last && counts->ahead)
		rvt_counts_edge(counts, counts->last, counts->last_insn, counts->ahead_pc, -1);
	counts->has_last = false;
	counts->ahead = false;
}

void rvt_counts_arrive(struct rvt_counts *counts, uint64_t pc)
{
	if (!counts->has_last || (counts->ahead && counts->ahead_pc == pc))
		return;
	if (counts->ahead)
		rvt_counts_edge(counts, counts->last, counts->last_insn, counts->ahead_pc, -1);
	rvt_counts_edge(counts, counts->last, counts->last_insn, pc, 1);
}

void rvt_counts_path(struct rvt_counts *counts, const struct rvt_run *runs, unsigned int n,
		     uint64_t times)
{
	for (unsigned int i = 0; i < n; i++) {
		const struct rvt_code_block *block = rvt_block_of(&runs[i]);

		rvt_counts_run(counts, block, runs[i].first, runs[i].count, times);
		if (i + 1 < n)
			rvt_counts_edge(counts, block, runs[i].first + runs[i].count - 1,
					address(rvt_block_of(&runs[i + 1]), runs[i + 1].first),
					times);
	}
}

/* One run of a walk, at @pc. */
void rvt_flow_count_run(struct rvt_flow *flow, const struct rvt_code_block *block, uint32_t first,
			uint32_t count)
{
	struct rvt_counts *counts = flow->counts;

	rvt_counts_begin(counts, address(block, first));
	rvt_counts_run(counts, block, first, count, 1);
	counts->has_last = true;
	counts->ahead = false;
	counts->last = block;
	counts->last_insn = first + count - 1;
}

/* ---- for users of the engine ---- */

int rvt_flow_count(struct rvt_flow *flow)
{
	if (flow->counts)
		return 0;
	flow->counts = calloc(1, sizeof(*flow->counts));
	if (!flow->counts)
		return -ENOMEM;
	flow->delivers = flow->collect = false;
	return 0;
}

static int tell_runs(struct rvt_counts *c, const struct rvt_count_sink *sink)
{
	int ret = 0;

	for (size_t i = 0; i < c->runs_size && !ret; i++) {
		struct rvt_counted_run *r = &c->runs[i];
		const struct rvt_run run = { r->block ? &r->block->pub : NULL, r->first, r->count };

		if (r->block && r->times && sink->run)
			ret = sink->run(sink->ctx, &run, r->times);
		r->times = 0;
	}
	return ret;
}

static int tell_edges(struct rvt_counts *c, const struct rvt_count_sink *sink)
{
	int ret = 0;

	for (size_t i = 0; i < c->edges_size && !ret; i++) {
		struct rvt_counted_edge *e = &c->edges[i];

		if (e->times && sink->edge)
			ret = sink->edge(sink->ctx, e->from, e->to, e->iclass, e->times);
		e->times = 0;
	}
	return ret;
}

int rvt_flow_counts(struct rvt_flow *flow, const struct rvt_count_sink *sink)
{
	struct rvt_counts *c = flow->counts;
	int ret;

	if (!c)
		return -EINVAL;
	rvt_flow_expand_hops(flow);
	rvt_steps_expand(flow);
	/* Whether the last path went where it leads to is not known yet. */
	if (c->has_last && c->ahead)
		rvt_counts_edge(c, c->last, c->last_insn, c->ahead_pc, -1);
	c->ahead = false;
	ret = tell_runs(c, sink);
	if (!ret)
		ret = tell_edges(c, sink);
	return ret ? ret : c->failed ? -ENOMEM : 0;
}
