// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Whether slices fit together. A slice is decoded without what comes before it, so some of that it
 * takes for granted; where the slice before shows it to be wrong, one thread decodes all.
 */
#include <errno.h>
#include "slice.h"
#include "state.h"

/*
 * False: @b took something for granted that @a, which it goes on from (NULL: nothing), shows to be
 * wrong.
 */
static bool fits(const struct slice *a, const struct slice *b)
{
	if (!a)
		return !b->lost_at_begin;
	return !(a->owned_at_end && b->unowned_at_begin) && a->n_edges <= 1 &&
		(a->lost_at_end ? !b->broken_at_begin : !b->lost_at_begin);
}

/* The same for what is told in order. */
static bool follows(const struct slice *a, const struct slice *b)
{
	return !a || (!(a->timed_at_end && b->untimed_at_begin) && !a->held_at_end &&
		      a->lost_at_end == b->lost_at_begin);
}

/*
 * A flow that one slice left is resumed by another, at the same synchronisation and nowhere else:
 * what a thread decoded before may make it take another one for good. Of several flows in a buffer
 * it is not known; they cannot be told in order.
 */
static bool goes_on(struct joint *joint, struct slice *slice, bool in_order, bool by_source)
{
	const struct slice *left = joint->left;

	joint->several |= slice->n_harts > 1;
	/* in a dump they need not be in one order */
	if (joint->several)
		return !in_order || by_source || (!slice->from && slice->to == UINT64_MAX);
	if (slice->resumed ? !left || left->left_at != slice->resumed_at : left && slice->executed)
		return false;
	if (slice->left)
		joint->left = slice;
	else if (slice->resumed)
		joint->left = NULL;
	return !joint->left || joint->next + 1 < joint->end;
}

/* A damaged time stamp decides what is mapped from there on: one thread goes on with it. */
static bool is_later(struct joint *joint, const struct slice *slice)
{
	if (!slice->latest)
		return true;
	if (slice->earliest < joint->latest)
		return false;
	joint->latest = slice->latest;
	return true;
}

int rvt_session_join(struct rvt_session *session, struct joint *joint)
{
	const struct rvt_session_slices *slices = session_slices(session);
	struct slice *slice = joint->next;

	if (!is_later(joint, slice) || !goes_on(joint, slice, slices, session->by_source))
		return -EAGAIN;
	/* those in which nothing was, not even a loss, are passed over */
	if (slice->executed || slice->broken_at_begin || slice->lost_at_begin ||
	    slice->lost_at_end) {
		if (!fits(joint->before, slice) || (slices && !follows(joint->before, slice)))
			return -EAGAIN;
		joint->before = slice;
	}
	joint->next++;
	rvt_session_add_stats(&session->stats, &slice->stats);
	return slices && slices->join ? slices->join(slices->ctx, slice->ctx, slice->buffer) : 0;
}
