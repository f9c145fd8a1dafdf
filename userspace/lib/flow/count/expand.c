// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Block walk: what hops have counted becomes counts of runs and edges.
 */
#include "flow/core/state.h"
#include "flow/memo/leaps.h"

static void count_path(struct rvt_flow *flow, const struct rvt_hop *hop, uint64_t times)
{
	const struct rvt_hop_path *path = rvt_hop_path(flow->hops, hop);

	rvt_counts_path(flow->counts, rvt_hop_runs(flow->hops, hop), hop->n_runs, times);
	if (!hop->leaves)
		rvt_counts_edge(flow->counts, path->last, path->last_insn, path->end_pc, times);
}

void rvt_flow_count_hop(struct rvt_flow *flow, struct rvt_hop *hop, uint64_t times)
{
	struct rvt_hops *hops = flow->hops;

	if (!hop->times)
		hops->counted[hops->n_counted++] = rvt_hop_number(hops, hop);
	times += hop->times;
	/* It stays in the list. */
	if (times > RVT_HOP_TIMES) {
		count_path(flow, hop, times - 1);
		times = 1;
	}
	hop->times = times;
}

/*
 * Hops, their runs, the blocks of these and the counts of the blocks lie all over their tables, and
 * each tells where the next is: they are fetched for some hops at once. (A function that only
 * fetches is one without effect for the compiler, unless it is inlined.)
 */
#define AT_ONCE 16

static inline __attribute__((always_inline)) void
fetch(struct rvt_flow *flow, const uint32_t *numbers, unsigned int n)
{
	struct rvt_hops *hops = flow->hops;

	for (unsigned int i = 0; i < n; i++)
		__builtin_prefetch(rvt_hop_at(hops, numbers[i]), 1);
	for (unsigned int i = 0; i < n; i++) {
		const uint8_t *path = (void *)rvt_hop_path(hops, rvt_hop_at(hops, numbers[i]));

		for (unsigned int line = 0; line < 3; line++)
			__builtin_prefetch(path + 64 * line);
	}
	for (unsigned int i = 0; i < n; i++) {
		const struct rvt_hop *hop = rvt_hop_at(hops, numbers[i]);
		const struct rvt_run *runs = rvt_hop_runs(hops, hop);

		for (unsigned int k = 0; k < hop->n_runs; k++)
			rvt_block_fetch(rvt_block_of(&runs[k]));
	}
	for (unsigned int i = 0; i < n; i++) {
		const struct rvt_hop *hop = rvt_hop_at(hops, numbers[i]);
		const struct rvt_run *runs = rvt_hop_runs(hops, hop);

		for (unsigned int k = 0; k < hop->n_runs; k++)
			rvt_counts_fetch(flow->counts, rvt_block_of(&runs[k]));
	}
}

void rvt_flow_expand_hops(struct rvt_flow *flow)
{
	struct rvt_hops *hops = flow->hops;

	if (!hops)
		return;
	/* Notes of returns are of paths of hops, which may be about to go. */
	rvt_counts_jumps(flow->counts);
	rvt_leaps_expand(flow);
	for (uint32_t i = 0; i < hops->n_counted; i++) {
		struct rvt_hop *hop = rvt_hop_at(hops, hops->counted[i]);
		const uint32_t left = hops->n_counted - i;

		if (!(i % AT_ONCE))
			fetch(flow, hops->counted + i, left < AT_ONCE ? left : AT_ONCE);
		count_path(flow, hop, hop->times);
		hop->times = 0;
	}
	hops->n_counted = 0;
}
