// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Leaps: their memory, and how one is recorded.
 */
#include <string.h>
#include <sys/mman.h>
#include "flow/core/state.h"
#include "flow/memo/leaps.h"

/* Of the rest of a leap, in 8 bytes. */
#define MAX_PATH_UNITS ((RVT_LEAP_HOPS + 1) / 2 + 1 + RVT_CALLS)

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
		leaps->leaps[i].key.place = 0;
}

bool rvt_leaps_have_room(const struct rvt_leaps *leaps)
{
	return leaps->n_path + MAX_PATH_UNITS <= RVT_LEAP_PATH_BYTES / 8;
}

/* ---- counts ---- */

static void expand(struct rvt_flow *flow, struct rvt_leap *leap)
{
	const uint32_t *numbers = rvt_leap_hops(flow->leaps, leap);
	struct rvt_hops *hops = flow->hops;

	for (unsigned int i = 0; i < leap->n_hops; i++) {
		struct rvt_hop *hop = rvt_hop_at(hops, numbers[i]);
		struct rvt_code_block *next = i + 1 < leap->n_hops ?
					      rvt_hop_block(hops, numbers[i + 1]) :
					      hops->blocks[leap->next];

		rvt_flow_count_hop(flow, hop, leap->times);
		/* Only returns are followed from hop to hop. */
		if (next && hop->leaves)
			rvt_counts_jump(flow->counts, rvt_hop_path(hops, hop)->last, next->pub.pc,
					leap->times);
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
	leaps->outer = rvt_returns_log(stack, &leaps->calls);
	leaps->recording = true;
	return true;
}

void rvt_leaps_add(struct rvt_leaps *leaps, struct rvt_hops *hops, const struct rvt_hop *hop)
{
	const struct rvt_hop_path *path = rvt_hop_path(hops, hop);
	struct rvt_leap *draft = &leaps->draft;

	/* Returns and ways into other views use up no outcomes: there may be any number of hops. */
	if (draft->n_hops == RVT_LEAP_HOPS) {
		leaps->n_runs = RVT_LEAP_RUNS + 1;
		return;
	}
	if (!draft->n_hops && path->flags & RVT_HOP_ALONE)
		draft->flags |= RVT_LEAP_ALONE;
	draft->last = rvt_hop_number(hops, hop);
	leaps->hops[draft->n_hops++] = draft->last;
	leaps->n_runs += hop->n_runs;
	draft->insns += hop->insns;
	draft->halfwords += hop->halfwords;
	draft->used += hop->used;
	draft->branches += hop->used - path->jumps;
	draft->taken += hop->taken - path->jumps;
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
	const uint32_t hops_units = rvt_leap_hops_units(draft->n_hops);
	const uint32_t calls_units = rvt_calls_bytes(&leaps->calls) / 8;
	struct rvt_leap *leap = rvt_leap_slot(leaps, rvt_leap_hash(&draft->key));

	rvt_leaps_drop(leaps, stack);
	if (draft->n_hops < 2 || leaps->calls.invalid || leaps->n_runs > RVT_LEAP_RUNS ||
	    leap->times || leap->flags & RVT_LEAP_ASIDE || !rvt_leaps_have_room(leaps))
		return;
	draft->next = next;
	draft->piece = piece;
	draft->path = leaps->n_path;
	leaps->n_path += hops_units + calls_units;
	if (calls_units)
		draft->flags |= RVT_LEAP_CALLS;
	*leap = *draft;
	memcpy(leaps->paths + 8 * (size_t)leap->path, leaps->hops,
	       leap->n_hops * sizeof(leaps->hops[0]));
	if (calls_units)
		rvt_calls_keep(&leaps->calls,
			       (struct rvt_kept_calls *)(uintptr_t)rvt_leap_calls(leaps, leap));
}
