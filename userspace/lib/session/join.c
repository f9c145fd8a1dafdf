// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Whether parts fit together. A part is decoded without what comes before it, so some of that it
 * takes for granted; where the part before shows it to be wrong, one thread decodes all.
 */
#include <errno.h>
#include "parts.h"
#include "state.h"

/*
 * False: @b took something for granted that @a, which it goes on from (NULL: nothing), shows to be
 * wrong.
 */
static bool fits(const struct part *a, const struct part *b)
{
	if (!a)
		return !b->lost_at_begin;
	return !(a->owned_at_end && b->unowned_at_begin) && a->n_edges <= 1 &&
		(a->lost_at_end ? !b->broken_at_begin : !b->lost_at_begin);
}

/* The same for what is told in order. */
static bool follows(const struct part *a, const struct part *b)
{
	return !a || (!(a->timed_at_end && b->untimed_at_begin) &&
		      a->lost_at_end == b->lost_at_begin);
}

/*
 * A flow that one part left is resumed by another, at the same synchronisation and nowhere else:
 * what a thread decoded before may make it take another one for good. Of several flows in a buffer
 * it is not known; they cannot be told in order.
 */
static bool goes_on(struct joint *joint, struct part *part, bool in_order)
{
	const struct part *left = joint->left;

	joint->several |= part->n_lanes > 1;
	if (joint->several)
		return !in_order || (!part->from && part->to == UINT64_MAX);
	if (part->resumed ? !left || left->left_at != part->resumed_at : left && part->executed)
		return false;
	if (part->left)
		joint->left = part;
	else if (part->resumed)
		joint->left = NULL;
	return !joint->left || joint->next + 1 < joint->end;
}

/* A damaged time stamp decides what is mapped from there on: one thread goes on with it. */
static bool is_later(struct joint *joint, const struct part *part)
{
	if (!part->latest)
		return true;
	if (part->earliest < joint->latest)
		return false;
	joint->latest = part->latest;
	return true;
}

int session_join(struct rvt_session *session, struct joint *joint)
{
	const struct rvt_session_parts *parts = session_parts(session);
	struct part *part = joint->next;

	if (!is_later(joint, part) || !goes_on(joint, part, parts))
		return -EAGAIN;
	/* those in which nothing was, not even a loss, are passed over */
	if (part->executed || part->broken_at_begin || part->lost_at_begin || part->lost_at_end) {
		if (!fits(joint->before, part) || (parts && !follows(joint->before, part)))
			return -EAGAIN;
		joint->before = part;
	}
	joint->next++;
	return parts && parts->join ? parts->join(parts->ctx, part->ctx, part->buffer) : 0;
}
