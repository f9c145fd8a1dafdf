// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Memo of steps: recording, and in and out of replaying.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include "flow/steps.h"

/* Of a path with what lies behind it, in 16 bytes. What is read beyond its runs counts, too. */
#define MAX_PATH (1 + RVT_STEP_CALLS_UNITS + RVT_STEP_RUNS + 4)

static bool make_table(struct rvt_flow *flow)
{
	if (flow->steps)
		return true;
	if (flow->no_steps)
		return false;
	flow->steps = rvt_table_map(sizeof(*flow->steps));
	flow->no_steps = !flow->steps;
	if (flow->no_steps)
		return false;
	/* Steps are looked up all over their table. */
	madvise(flow->steps->steps, sizeof(flow->steps->steps), MADV_HUGEPAGE);
	return true;
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
	const struct rvt_step_path *path;

	if (!s)
		return;
	steps->last = NULL;
	flow->stats.insns += steps->insns;
	flow->stats.halfwords += steps->halfwords;
	flow->stats.branches += steps->branches;
	flow->stats.taken += steps->taken;
	flow->stats.indirect += steps->indirect;
	path = rvt_step_path(steps, s);
	flow->has_last = true;
	flow->consecutive = path->consecutive;
	flow->last_block = path->last_block;
	flow->last_insn = path->last_insn;
	flow->pc = s->pc;
	flow->block = NULL;
	flow->insn = flow->halfword = 0;
	if (flow->counts) {
		rvt_counts_begin(flow->counts, steps->from_pc);
		rvt_counts_ahead(flow->counts, path->last_block, path->last_insn, s->pc);
	}
}

/* ---- recording ---- */

/* Forgets all steps. */
static void reset(struct rvt_flow *flow)
{
	rvt_steps_expand(flow);
	madvise(flow->steps, sizeof(*flow->steps), MADV_DONTNEED);
}

void rvt_steps_record(struct rvt_flow *flow, const struct rvt_step_key *key)
{
	struct rvt_steps *steps = flow->steps;

	if (RVT_STEP_PATH_BYTES / 16 - steps->n_path < MAX_PATH)
		reset(flow);
	steps->key = *key;
	steps->recording = true;
	steps->before = flow->stats;
	steps->n_before = flow->n_runs;
	steps->n_captured = 0;
	steps->calls = (struct rvt_calls){ .n_pops = 0 };
	flow->returns.log = flow->returns.depth ? &steps->calls : NULL;
	flow->collect = true;
}

/* What was recorded, as far as replaying needs it. False: more than fits. */
static bool fill(const struct rvt_flow *flow, struct rvt_step *s)
{
	const struct rvt_flow_stats *now = &flow->stats, *before = &flow->steps->before;
	uint64_t insns = now->insns - before->insns, halfwords = now->halfwords - before->halfwords;
	uint64_t branches = now->branches - before->branches;
	uint64_t indirect = now->indirect - before->indirect;

	if (insns > UINT16_MAX || halfwords > UINT16_MAX || branches > UINT8_MAX ||
	    indirect > UINT8_MAX)
		return false;
	*s = (struct rvt_step){
		.key = flow->steps->key,
		.pc = rvt_flow_current(flow),
		.insns = insns,
		.halfwords = halfwords,
		.branches = branches,
		.taken = now->taken - before->taken,
		.indirect = indirect,
	};
	return true;
}

/* The counts of a step: before it goes, or when somebody asks. */
static void expand(struct rvt_flow *flow, struct rvt_step *s)
{
	struct rvt_step_path *path = rvt_step_path(flow->steps, s);

	if (!s->times || !flow->counts)
		return;
	rvt_counts_path(flow->counts, rvt_step_runs(s, path), path->n_runs, s->times);
	rvt_counts_edge(flow->counts, path->last_block, path->last_insn, s->pc, s->times);
	s->times = 0;
}

void rvt_steps_capture(struct rvt_flow *flow)
{
	struct rvt_steps *steps = flow->steps;
	size_t n = flow->n_runs - steps->n_before;

	if (steps->n_captured + n <= RVT_STEP_RUNS) {
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

/* What a step cannot hold. */
static bool is_more(struct rvt_flow *flow)
{
	struct rvt_steps *steps = flow->steps;

	return flow->result || steps->calls.invalid || flow->returns.recursion_max ||
	       !steps->n_captured || steps->n_captured > RVT_STEP_RUNS ||
	       !flow->has_pc || !flow->has_last || steps->key.meaning != rvt_flow_meaning(flow) ||
	       flow->stats.traps != steps->before.traps || flow->stats.gaps != steps->before.gaps;
}

/* The entry for a step of @key: of its last version, a free one, or one that was used least. */
static struct rvt_step *make_room(struct rvt_flow *flow, const struct rvt_step_key *key)
{
	struct rvt_steps *steps = flow->steps;
	struct rvt_step *bucket = rvt_steps_bucket(steps, rvt_step_hash(key));
	/* Where nothing is counted it is the turn of each. */
	struct rvt_step *room = &bucket[steps->turn++ % RVT_STEP_WAYS];

	for (struct rvt_step *s = bucket; s < bucket + RVT_STEP_WAYS; s++) {
		if (!s->key.meaning || rvt_step_is(s, key)) {
			room = s;
			break;
		}
		if (s->times < room->times)
			room = s;
	}
	expand(flow, room);
	return room;
}

/* A path for @filled: that of @old, whose place it takes, if there is room in it. */
static void take_path(struct rvt_steps *steps, const struct rvt_step *old, struct rvt_step *filled)
{
	size_t room = steps->n_captured;

	if (filled->flags & RVT_STEP_CALLS)
		room += RVT_STEP_CALLS_UNITS;
	filled->path = old->path;
	if (old->key.meaning && rvt_step_path(steps, old)->room >= room)
		return;
	filled->path = steps->n_path;
	rvt_step_path(steps, filled)->room = room;
	steps->n_path += 1 + room;
}

void rvt_steps_keep(struct rvt_flow *flow, uint64_t address, uint8_t extra)
{
	struct rvt_steps *steps = flow->steps;
	struct rvt_step *s, filled;
	struct rvt_step_path *path;

	rvt_steps_drop(flow);
	if (is_more(flow) || !fill(flow, &filled))
		return;
	if (address != filled.pc) {
		if (address != steps->key.address)
			return;
		filled.flags |= RVT_STEP_KEEPS_ADDRESS;
	}
	if (steps->calls.n_pops || steps->calls.n_pushes || steps->calls.nesting)
		filled.flags |= RVT_STEP_CALLS;
	filled.extra = extra;
	s = make_room(flow, &steps->key);
	take_path(steps, s, &filled);
	*s = filled;
	path = rvt_step_path(steps, s);
	path->last_block = flow->last_block;
	path->last_insn = flow->last_insn;
	path->consecutive = flow->consecutive;
	path->n_runs = steps->n_captured;
	if (s->flags & RVT_STEP_CALLS)
		*rvt_step_calls(path) = steps->calls;
	memcpy(rvt_step_runs(s, path), steps->captured,
	       steps->n_captured * sizeof(steps->captured[0]));
}

#define AHEAD 8

void rvt_steps_expand(struct rvt_flow *flow)
{
	struct rvt_steps *steps = flow->steps;

	if (!steps)
		return;
	for (uint32_t i = 0; i < steps->n_counted; i++) {
		/* They lie all over their table. */
		if (i + AHEAD < steps->n_counted)
			__builtin_prefetch(&steps->steps[steps->counted[i + AHEAD]]);
		expand(flow, &steps->steps[steps->counted[i]]);
	}
	steps->n_counted = 0;
}

void rvt_steps_begin_times(struct rvt_flow *flow, struct rvt_step *s)
{
	struct rvt_steps *steps = flow->steps;

	expand(flow, s);
	/* A step that took the place of another is in the list a second time. */
	if (steps->n_counted == RVT_STEP_ENTRIES)
		rvt_steps_expand(flow);
	steps->counted[steps->n_counted++] = s - steps->steps;
}
