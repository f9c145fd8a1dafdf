// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Counts that are set aside.
 */
#include <stdlib.h>
#include "array.h"
#include "flow/engine.h"
#include "flow/leaps.h"
#include "flow/steps.h"

#define KIND_SHIFT 30
#define NUMBER ((1u << KIND_SHIFT) - 1)

enum kind { STEP, HOP, LEAP };

/* False: no room, and nothing is noted. */
static bool note(struct rvt_aside *aside, enum kind kind, uint32_t number, uint64_t times)
{
	const size_t before = aside->n;

	while (times) {
		uint32_t some = times < UINT32_MAX ? times : UINT32_MAX;

		if (aside->n == RVT_ASIDE_NOTES ||
		    array_reserve(&aside->notes, &aside->room, aside->n, 1)) {
			aside->n = before;
			aside->full = true;
			return false;
		}
		aside->notes[aside->n++] = (struct rvt_aside_note){
			(uint32_t)kind << KIND_SHIFT | number, some,
		};
		times -= some;
	}
	return true;
}

/* Each returns false when there is no room for more. */

static bool note_steps(struct rvt_aside *aside, struct rvt_steps *steps)
{
	while (steps && steps->n_counted) {
		uint32_t number = steps->counted[steps->n_counted - 1];
		struct rvt_step *s = &steps->steps[number];

		if (!note(aside, STEP, number, s->times))
			return false;
		/* One that took another's place is in the list twice. */
		if (s->times)
			s->flags |= RVT_STEP_ASIDE;
		s->times = 0;
		steps->n_counted--;
	}
	return true;
}

static bool note_hops(struct rvt_aside *aside, struct rvt_hops *hops)
{
	while (hops && hops->n_counted) {
		uint32_t number = hops->counted[hops->n_counted - 1];
		struct rvt_hop *hop = rvt_hop_at(hops, number);

		if (!note(aside, HOP, number, hop->times))
			return false;
		hop->times = 0;
		hops->n_counted--;
	}
	return true;
}

static bool note_leaps(struct rvt_aside *aside, struct rvt_leaps *leaps)
{
	while (leaps && leaps->n_counted) {
		uint32_t number = leaps->counted[leaps->n_counted - 1];
		struct rvt_leap *leap = &leaps->leaps[number];

		if (!note(aside, LEAP, number, leap->times))
			return false;
		leap->times = 0;
		leap->flags |= RVT_LEAP_ASIDE;
		leaps->n_counted--;
	}
	return true;
}

void rvt_flow_set_aside(struct rvt_flow *flow, uint32_t owner)
{
	struct rvt_aside *aside = &flow->aside;
	struct rvt_aside_part part = { .first = aside->n, .owner = owner };

	if (array_reserve(&aside->parts, &aside->parts_room, aside->n_parts, 1)) {
		aside->full = true;
		return;
	}
	if (note_steps(aside, flow->steps) && note_hops(aside, flow->hops))
		note_leaps(aside, flow->leaps);
	part.n = aside->n - part.first;
	if (!part.n)
		return;
	aside->left += part.n;
	aside->parts[aside->n_parts++] = part;
}

static void count_again(struct rvt_flow *flow, const struct rvt_aside_note *note)
{
	const uint32_t number = note->what & NUMBER;
	struct rvt_step *s;

	switch (note->what >> KIND_SHIFT) {
	case HOP:
		rvt_flow_count_hop(flow, rvt_hop_at(flow->hops, number), note->times);
		break;
	case LEAP:
		rvt_leap_count(flow->leaps, &flow->leaps->leaps[number], note->times);
		break;
	default:
		s = &flow->steps->steps[number];
		if (!s->times || s->times > UINT32_MAX - note->times)
			rvt_steps_begin_times(flow, s);
		s->times += note->times;
		break;
	}
}

/* Nothing is noted any more: what was may make room for others. */
static void clear(struct rvt_flow *flow)
{
	struct rvt_aside *aside = &flow->aside;

	for (size_t i = 0; i < aside->n; i++) {
		const uint32_t what = aside->notes[i].what;

		if (what >> KIND_SHIFT == STEP)
			flow->steps->steps[what & NUMBER].flags &= ~RVT_STEP_ASIDE;
		else if (what >> KIND_SHIFT == LEAP)
			flow->leaps->leaps[what & NUMBER].flags &= ~RVT_LEAP_ASIDE;
	}
	aside->n = aside->n_parts = 0;
	aside->full = false;
}

void rvt_flow_take_back(struct rvt_flow *flow, uint32_t owner)
{
	struct rvt_aside *aside = &flow->aside;

	for (size_t i = 0; i < aside->n_parts; i++) {
		struct rvt_aside_part *part = &aside->parts[i];

		if (part->owner != owner)
			continue;
		for (size_t k = part->first; k < part->first + part->n; k++)
			count_again(flow, &aside->notes[k]);
		aside->left -= part->n;
		part->n = 0;
	}
	if (!aside->left)
		clear(flow);
}

void rvt_flow_forget_aside(struct rvt_aside *aside)
{
	free(aside->notes);
	free(aside->parts);
}
