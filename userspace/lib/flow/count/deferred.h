/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Inside the library: counts that are set aside. Each time that another task goes on, what was
 * counted before belongs to somebody else. To expand the counts of steps, hops and leaps each time
 * would take longer than to decode; so only these are noted, with whose they are, and expanded when
 * somebody asks, or before code that they are of is replaced.
 *
 * What is noted must stay: until it is taken back, no step, hop or leap of it makes room for
 * another.
 */
#ifndef RVT_LIB_FLOW_ASIDE_H
#define RVT_LIB_FLOW_ASIDE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rvt_flow;

#define RVT_ASIDE_NOTES (1u << 21)	/* at most */
#define RVT_ASIDE_TIMES ((1u << 10) - 1)

struct rvt_aside_note {
	uint32_t kind : 2;		/* a step, a hop or a leap */
	uint32_t number : 20;		/* of it */
	uint32_t times : 10;		/* RVT_ASIDE_TIMES at most: more are several notes */
};

/* What was set aside at once. */
struct rvt_aside_part {
	size_t first, n;		/* of the notes; .n 0: taken back */
	uint32_t owner;
};

struct rvt_aside {
	struct rvt_aside_note *notes;
	size_t n, room;
	struct rvt_aside_part *parts;
	size_t n_parts, parts_room;
	size_t left;			/* notes that were not taken back */
	bool full;			/* or in the way: it is time to take all back */
};

/* Of rvt_half(): which of them. */
#define RVT_ASIDE_HIGH (1u << 1)
#define RVT_ASIDE_BOTH (1u << 0 | RVT_ASIDE_HIGH)

/*
 * What steps, hops and leaps in @halves have counted is @owner's, any number of the caller's. What
 * there is no room for is left to count. rvt_flow_counts() tells that, and all that is counted
 * otherwise. Returns whether something was set aside.
 */
bool rvt_flow_set_aside(struct rvt_flow *flow, uint32_t owner, unsigned int halves);
/*
 * What was set aside for @owner counts again: the next rvt_flow_counts() tells it. It should have
 * told what was counted before.
 */
void rvt_flow_take_back(struct rvt_flow *flow, uint32_t owner);
void rvt_flow_forget_aside(struct rvt_aside *aside);
/* The memory of @from is that of @to. Nothing is noted in either. */
void rvt_flow_inherit_aside(struct rvt_aside *to, struct rvt_aside *from);

#endif
