/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Inside the library: counts that are deferred. Each time that another task goes on, what was
 * counted before belongs to somebody else. To expand the counts of memos and segments each
 * time would take longer than to decode; so only these are noted, with whose they are, and expanded
 * when somebody asks, or before code that they are of is replaced.
 *
 * What is noted must stay: until it is taken back, no memo or segment of it makes room for
 * another.
 */
#ifndef RVT_LIB_FLOW_DEFERRED_H
#define RVT_LIB_FLOW_DEFERRED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rvt_flow;

#define RVT_DEFERRED_NOTES (1u << 21)	/* at most */
#define RVT_DEFERRED_TIMES ((1u << 10) - 1)

struct rvt_deferred_note {
	uint32_t kind : 2;		/* a memo or a segment */
	uint32_t number : 20;		/* of it */
	uint32_t times : 10;		/* RVT_DEFERRED_TIMES at most: more are several notes */
};

/* What was deferred at once. */
struct rvt_deferred_batch {
	size_t first, n;		/* of the notes; .n 0: taken back */
	uint32_t owner;
};

struct rvt_deferred {
	struct rvt_deferred_note *notes;
	size_t n, room;
	struct rvt_deferred_batch *parts;
	size_t n_parts, parts_room;
	size_t left;			/* notes that were not taken back */
	bool full;			/* or in the way: it is time to take all back */
};

/* Of rvt_va_half(): which of them. */
#define RVT_DEFERRED_HIGH (1u << 1)
#define RVT_DEFERRED_BOTH (1u << 0 | RVT_DEFERRED_HIGH)

/*
 * What memos and segments in @halves have counted is @owner's, any number of the caller's.
 * What there is no room for is left to count. rvt_flow_counts() tells that, and all that is counted
 * otherwise. Returns whether something was deferred.
 */
bool rvt_flow_defer_counts(struct rvt_flow *flow, uint32_t owner, unsigned int halves);
/*
 * What was deferred for @owner counts again: the next rvt_flow_counts() tells it. It should have
 * told what was counted before.
 */
void rvt_flow_restore_counts(struct rvt_flow *flow, uint32_t owner);
void rvt_deferred_free(struct rvt_deferred *deferred);
/* The memory of @from is that of @to. Nothing is noted in either. */
void rvt_deferred_inherit(struct rvt_deferred *to, struct rvt_deferred *from);

#endif
