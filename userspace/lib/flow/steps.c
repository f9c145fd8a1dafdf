// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Memo of steps: recording, and in and out of replaying.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include "flow/steps.h"

/* Memory that is real only where it is used. */
static bool make_table(struct rvt_flow *flow)
{
	if (flow->steps)
		return true;
	if (flow->no_steps)
		return false;
	flow->steps = mmap(NULL, sizeof(*flow->steps), PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (flow->steps == MAP_FAILED) {
		flow->steps = NULL;
		flow->no_steps = true;
	}
	return flow->steps;
}

void rvt_steps_destroy(struct rvt_flow *flow)
{
	if (flow->steps)
		munmap(flow->steps, sizeof(*flow->steps));
}

bool rvt_steps_enter(struct rvt_flow *flow, struct rvt_step_key *key)
{
	struct rvt_steps *steps;

	if (flow->reference || flow->result || !flow->has_pc || !make_table(flow))
		return false;
	steps = flow->steps;
	key->meaning = rvt_flow_meaning(flow);
	key->pc = rvt_flow_current(flow);
	steps->epoch = flow->epoch;
	steps->last = NULL;
	steps->insns = steps->halfwords = steps->branches = steps->taken = steps->indirect = 0;
	/* From step to step edges are counted with the steps; not so from what was before. */
	steps->from_pc = key->pc;
	return true;
}

void rvt_steps_leave(struct rvt_flow *flow)
{
	struct rvt_steps *steps = flow->steps;
	const struct rvt_step *s = steps->last;

	if (!s)
		return;
	steps->last = NULL;
	flow->stats.insns += steps->insns;
	flow->stats.halfwords += steps->halfwords;
	flow->stats.branches += steps->branches;
	flow->stats.taken += steps->taken;
	flow->stats.indirect += steps->indirect;
	flow->has_last = true;
	flow->consecutive = s->consecutive;
	flow->last_block = s->last_block;
	flow->last_insn = s->last_insn;
	flow->pc = s->pc;
	flow->block = NULL;
	flow->insn = flow->halfword = 0;
	if (flow->counts) {
		rvt_counts_begin(flow->counts, steps->from_pc);
		rvt_counts_ahead(flow->counts, s->last_block, s->last_insn, s->pc);
	}
}

/* ---- recording ---- */

void rvt_steps_record(struct rvt_flow *flow, const struct rvt_step_key *key)
{
	struct rvt_steps *steps = flow->steps;
	uint64_t hash = rvt_step_hash(key);
	uint16_t *seen = &steps->seen[hash >> 4 & (RVT_STEP_SEEN - 1)], tag = hash >> 48 | 1;

	/* What comes only once is not worth it. */
	if (*seen != tag) {
		*seen = tag;
		return;
	}
	steps->key = *key;
	steps->recording = true;
	steps->before = flow->stats;
	steps->n_before = flow->n_runs;
	steps->n_captured = 0;
	steps->calls = (struct rvt_calls){ .n_pops = 0 };
	flow->returns.log = flow->returns.depth ? &steps->calls : NULL;
	flow->collect = true;
}

static bool fill(const struct rvt_flow *flow, struct rvt_step *s)
{
	const struct rvt_flow_stats *now = &flow->stats, *before = &flow->steps->before;
	uint64_t insns = now->insns - before->insns, halfwords = now->halfwords - before->halfwords;

	if (insns > UINT16_MAX || halfwords > UINT16_MAX)
		return false;
	s->insns = insns;
	s->halfwords = halfwords;
	s->branches = now->branches - before->branches;
	s->taken = now->taken - before->taken;
	s->indirect = now->indirect - before->indirect;
	s->pc = rvt_flow_current(flow);
	s->last_block = flow->last_block;
	s->last_insn = flow->last_insn;
	s->consecutive = flow->consecutive;
	return true;
}

/* Paths that were counted with the step are expanded before it goes. */
static void expand(struct rvt_flow *flow, struct rvt_step *s)
{
	const struct rvt_run *runs = flow->steps->runs[s - flow->steps->steps];

	if (!s->times || !flow->counts)
		return;
	rvt_counts_path(flow->counts, runs, s->n_runs, s->times);
	rvt_counts_edge(flow->counts, s->last_block, s->last_insn, s->pc, s->times);
	s->times = 0;
}

void rvt_steps_capture(struct rvt_flow *flow)
{
	struct rvt_steps *steps = flow->steps;
	size_t n = flow->n_runs - steps->n_before;

	if (n <= RVT_STEP_RUNS - steps->n_captured) {
		memcpy(steps->captured + steps->n_captured, flow->runs + steps->n_before,
		       n * sizeof(*flow->runs));
		steps->n_captured += n;
	} else {
		steps->n_captured = RVT_STEP_RUNS + 1;
		flow->collect = flow->delivers;
	}
	steps->n_before = flow->n_runs;
}

void rvt_steps_drop(struct rvt_flow *flow)
{
	if (!rvt_steps_recording(flow))
		return;
	rvt_steps_capture(flow);
	flow->steps->recording = false;
	flow->returns.log = NULL;
	flow->collect = flow->delivers;
	if (!flow->delivers)
		flow->n_runs = 0;
}

struct rvt_step *rvt_steps_keep(struct rvt_flow *flow)
{
	struct rvt_steps *steps = flow->steps;
	struct rvt_step *s, filled;

	rvt_steps_drop(flow);
	if (flow->result || steps->calls.invalid || flow->returns.recursion_max ||
	    !steps->n_captured || steps->n_captured > RVT_STEP_RUNS ||
	    !flow->has_pc || !flow->has_last || steps->key.meaning != rvt_flow_meaning(flow) ||
	    flow->stats.traps != steps->before.traps || flow->stats.gaps != steps->before.gaps ||
	    !fill(flow, &filled))
		return NULL;
	s = &steps->steps[rvt_step_hash(&steps->key) >> 20 & (RVT_STEP_ENTRIES - 1)];
	expand(flow, s);
	filled.key = steps->key;
	filled.times = 0;
	filled.n_runs = steps->n_captured;
	filled.extra = 0;
	filled.calls = steps->calls;
	filled.calls_anything = filled.calls.n_pops || filled.calls.n_pushes ||
				filled.calls.nesting;
	*s = filled;
	memcpy(steps->runs[s - steps->steps], steps->captured,
	       steps->n_captured * sizeof(steps->captured[0]));
	return s;
}

void rvt_steps_expand(struct rvt_flow *flow)
{
	for (size_t i = 0; flow->steps && i < RVT_STEP_ENTRIES; i++)
		expand(flow, &flow->steps->steps[i]);
}
