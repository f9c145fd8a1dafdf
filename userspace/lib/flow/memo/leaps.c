// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Leaps: their memory, and how one is recorded.
 */
#include <string.h>
#include <sys/mman.h>
#include "flow/core/state.h"
#include "flow/memo/leaps.h"

/* Of the rest of a leap, in 8 bytes. */
#define MAX_PATH_UNITS ((RVT_LEAP_HOPS + 1) / 2 + 1 + RVT_DELTA_PCS)

/* ---- memory ---- */

struct rvt_leaps *rvt_leaps_create(void)
{
	struct rvt_leaps *leaps = rvt_table_map(sizeof(*leaps));

	if (leaps)
		madvise(leaps->leaps, sizeof(leaps->leaps), MADV_HUGEPAGE);
	return leaps;
}

void rvt_leaps_destroy(struct rvt_leaps *leaps)
{
	if (leaps)
		munmap(leaps, sizeof(*leaps));
}

void rvt_leaps_reset(struct rvt_leaps *leaps)
{
	madvise(leaps, sizeof(*leaps), MADV_DONTNEED);
}

void rvt_leaps_forget(struct rvt_leaps *leaps)
{
	memset(leaps->seen, 0, sizeof(leaps->seen));
	leaps->n_path = 0;
}

void rvt_leaps_outdate(struct rvt_leaps *leaps)
{
	for (size_t i = 0; i < RVT_LEAPS; i++)
		leaps->leaps[i].key.node = 0;
}

bool rvt_leaps_have_room(const struct rvt_leaps *leaps)
{
	return leaps->n_path + MAX_PATH_UNITS <= RVT_LEAP_PATH_BYTES / 8;
}

/* ---- counts ---- */

static void expand(struct rvt_flow *flow, struct rvt_leap *leap)
{
	const uint32_t *numbers = rvt_leap_segments(flow->leaps, leap);
	struct rvt_segments *segments = flow->segments;

	for (unsigned int i = 0; i < leap->n_segments; i++) {
		struct rvt_segment *seg = rvt_segment_at(segments, numbers[i]);
		struct rvt_code_block *next = i + 1 < leap->n_segments ?
					      rvt_segment_block(segments, numbers[i + 1]) :
					      segments->blocks[leap->next];

		rvt_flow_count_segment(flow, seg, leap->times);
		/* Only returns are followed from segment to segment. */
		if (next && seg->leaves)
			rvt_counts_jump(flow->counts, rvt_segment_path(segments, seg)->last,
					next->pub.pc, leap->times);
	}
	leap->times = 0;
}

void rvt_leaps_expand(struct rvt_flow *flow)
{
	struct rvt_leaps *leaps = flow->leaps;

	for (uint32_t i = 0; i < leaps->n_counted; i++)
		expand(flow, &leaps->leaps[leaps->counted[i]]);
	leaps->n_counted = 0;
}

/* ---- recording ---- */

/* True if it comes for the second time, or may. */
static bool is_known(struct rvt_leaps *leaps, const struct rvt_leap_key *key)
{
	uint64_t hash = rvt_leap_hash(key);
	uint16_t *seen = &leaps->seen[hash >> (64 - RVT_LEAP_BITS)];
	uint16_t tag = hash >> 20 | 1;

	if (*seen == tag)
		return true;
	*seen = tag;
	return false;
}

bool rvt_leaps_record(struct rvt_leaps *leaps, struct rvt_return_stack *stack,
		      const struct rvt_leap_key *key)
{
	if (!is_known(leaps, key))
		return false;
	leaps->draft = (struct rvt_leap){ .key = *key };
	leaps->n_runs = 0;
	leaps->outer = rvt_returns_log(stack, &leaps->delta);
	leaps->recording = true;
	return true;
}

void rvt_leaps_add(struct rvt_leaps *leaps, struct rvt_segments *segments,
		   const struct rvt_segment *seg)
{
	const struct rvt_segment_path *path = rvt_segment_path(segments, seg);
	struct rvt_leap *draft = &leaps->draft;

	/*
	 * Returns and ways into other block tables use up no outcomes: there may be any number of
	 * segments.
	 */
	if (draft->n_segments == RVT_LEAP_HOPS) {
		leaps->n_runs = RVT_LEAP_RUNS + 1;
		return;
	}
	if (!draft->n_segments && path->flags & RVT_SEGMENT_ALONE)
		draft->flags |= RVT_LEAP_ALONE;
	draft->last = rvt_segment_number(segments, seg);
	leaps->segments[draft->n_segments++] = draft->last;
	leaps->n_runs += seg->n_runs;
	draft->insns += seg->insns;
	draft->halfwords += seg->halfwords;
	draft->used += seg->used;
	draft->branches += seg->used - path->jumps;
	draft->taken += seg->taken - path->jumps;
	draft->returns += path->returns;
	draft->indirect += path->indirect;
}

void rvt_leaps_add_return(struct rvt_leaps *leaps, uint64_t pc)
{
	struct rvt_leap *draft = &leaps->draft;

	draft->popped = pc;
	draft->flags |= RVT_LEAP_POPS;
	draft->returns++;
	draft->indirect++;
}

void rvt_leaps_drop(struct rvt_leaps *leaps, struct rvt_return_stack *stack)
{
	rvt_returns_log_end(stack, leaps->outer);
	leaps->recording = false;
}

void rvt_leaps_keep(struct rvt_leaps *leaps, struct rvt_return_stack *stack, uint32_t next,
		    struct rvt_mapping *piece)
{
	struct rvt_leap *draft = &leaps->draft;
	const uint32_t segments_units = rvt_leap_segments_units(draft->n_segments);
	const uint32_t delta_units = rvt_stack_delta_bytes(&leaps->delta) / 8;
	struct rvt_leap *leap = rvt_leap_slot(leaps, rvt_leap_hash(&draft->key));

	rvt_leaps_drop(leaps, stack);
	if (draft->n_segments < 2 || leaps->delta.invalid || leaps->n_runs > RVT_LEAP_RUNS ||
	    leap->times || leap->flags & RVT_LEAP_DEFERRED || !rvt_leaps_have_room(leaps))
		return;
	draft->next = next;
	draft->piece = piece;
	draft->path = leaps->n_path;
	leaps->n_path += segments_units + delta_units;
	if (delta_units)
		draft->flags |= RVT_LEAP_CALLS;
	*leap = *draft;
	memcpy(leaps->paths + 8 * (size_t)leap->path, leaps->segments,
	       leap->n_segments * sizeof(leaps->segments[0]));
	if (delta_units)
		rvt_stack_delta_keep(
			&leaps->delta,
			(struct rvt_kept_delta *)(uintptr_t)rvt_leap_calls(leaps, leap));
}
