// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Counts that are set aside.
 */
#include <stdlib.h>
#include "util/array.h"
#include "flow/core/state.h"
#include "flow/memo/leaps.h"
#include "flow/memo/memos.h"

enum kind { STEP, HOP, LEAP };
_Static_assert(RVT_STEP_ENTRIES <= 1 << 20 && RVT_HOPS <= 1 << 20 && RVT_LEAPS <= 1 << 20,
	       "numbers fit a note");

/* False: no room, and nothing is noted. */
static bool note(struct rvt_aside *aside, enum kind kind, uint32_t number, uint64_t times)
{
	const size_t before = aside->n;

	while (times) {
		uint32_t some = times < RVT_ASIDE_TIMES ? times : RVT_ASIDE_TIMES;

		if (aside->n == RVT_ASIDE_NOTES ||
		    array_reserve(&aside->notes, &aside->room, aside->n, 1)) {
			aside->n = before;
			aside->full = true;
			return false;
		}
		aside->notes[aside->n++] = (struct rvt_aside_note){ kind, number, some };
		times -= some;
	}
	return true;
}

static bool is_in(unsigned int halves, uint64_t pc)
{
	return halves >> rvt_half(pc) & 1;
}

/*
 * Each notes what is in @halves; what is not stays in its list. They return false when there is no
 * room for more.
 */

static bool note_steps(struct rvt_aside *aside, struct rvt_steps *steps, unsigned int halves)
{
	uint32_t left = 0;
	bool room = true;

	for (uint32_t i = 0; i < steps->n_counted; i++) {
		const uint32_t number = steps->counted[i];
		struct rvt_step *s = &steps->steps[number];
		const bool in = is_in(halves, s->key.pc);

		room = room && (!in || note(aside, STEP, number, s->times));
		if (!room || !in) {
			steps->counted[left++] = number;
			continue;
		}
		/* One that took another's place is in the list twice. */
		if (s->times)
			s->flags |= RVT_STEP_ASIDE;
		s->times = 0;
	}
	steps->n_counted = left;
	return room;
}

static bool note_hops(struct rvt_aside *aside, struct rvt_hops *hops, unsigned int halves)
{
	uint32_t left = 0;
	bool room = true;

	for (uint32_t i = 0; i < hops->n_counted; i++) {
		const uint32_t number = hops->counted[i];
		const bool in = is_in(halves, hops->pcs[number / RVT_LINE_HOPS]);
		struct rvt_hop *hop = rvt_hop_at(hops, number);

		room = room && (!in || note(aside, HOP, number, hop->times));
		if (!room || !in)
			hops->counted[left++] = number;
		else
			hop->times = 0;
	}
	hops->n_counted = left;
	return room;
}

/* The code of a leap is in one half. */
static bool note_leaps(struct rvt_aside *aside, struct rvt_leaps *leaps,
		       const struct rvt_hops *hops, unsigned int halves)
{
	uint32_t left = 0;
	bool room = true;

	for (uint32_t i = 0; i < leaps->n_counted; i++) {
		const uint32_t number = leaps->counted[i];
		struct rvt_leap *leap = &leaps->leaps[number];
		const bool in = is_in(halves, hops->pcs[leap->last / RVT_LINE_HOPS]);

		room = room && (!in || note(aside, LEAP, number, leap->times));
		if (!room || !in) {
			leaps->counted[left++] = number;
			continue;
		}
		leap->times = 0;
		leap->flags |= RVT_LEAP_ASIDE;
	}
	leaps->n_counted = left;
	return room;
}

bool rvt_flow_set_aside(struct rvt_flow *flow, uint32_t owner, unsigned int halves)
{
	struct rvt_aside *aside = &flow->aside;
	struct rvt_aside_part part = { .first = aside->n, .owner = owner };

	if (array_reserve(&aside->parts, &aside->parts_room, aside->n_parts, 1)) {
		aside->full = true;
		return false;
	}
	if ((!flow->steps || note_steps(aside, flow->steps, halves)) &&
	    (!flow->hops || note_hops(aside, flow->hops, halves)) && flow->leaps)
		note_leaps(aside, flow->leaps, flow->hops, halves);
	part.n = aside->n - part.first;
	if (!part.n)
		return false;
	aside->left += part.n;
	aside->parts[aside->n_parts++] = part;
	return true;
}

static void count_again(struct rvt_flow *flow, const struct rvt_aside_note *note)
{
	struct rvt_step *s;

	switch (note->kind) {
	case HOP:
		rvt_flow_count_hop(flow, rvt_hop_at(flow->hops, note->number), note->times);
		break;
	case LEAP:
		rvt_leap_count(flow->leaps, &flow->leaps->leaps[note->number], note->times);
		break;
	default:
		s = &flow->steps->steps[note->number];
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
		const struct rvt_aside_note *note = &aside->notes[i];

		if (note->kind == STEP)
			flow->steps->steps[note->number].flags &= ~RVT_STEP_ASIDE;
		else if (note->kind == LEAP)
			flow->leaps->leaps[note->number].flags &= ~RVT_LEAP_ASIDE;
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

void rvt_flow_inherit_aside(struct rvt_aside *to, struct rvt_aside *from)
{
	rvt_flow_forget_aside(to);
	*to = (struct rvt_aside){
		.notes = from->notes, .room = from->room,
		.parts = from->parts, .parts_room = from->parts_room,
	};
	*from = (struct rvt_aside){ .notes = NULL };
}
