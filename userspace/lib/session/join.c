// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Whether slices fit together. A slice is decoded without what comes before it, so some of that it
 * takes for granted; where the slice before shows it to be wrong, one thread decodes all.
 */
#include <errno.h>
#include <string.h>
#include "util/array.h"
#include "slice.h"
#include "state.h"

/*
 * Returns whether all that @b took for granted is right, by @a, from which it goes on (NULL: by
 * nothing).
 */
static bool fits(const struct slice *a, const struct slice *b)
{
	if (!a)
		return !b->lost_at_begin;
	return !(a->owned_at_end && b->unowned_at_begin) && a->n_edges <= 1 &&
		(a->lost_at_end ? !b->broken_at_begin : !b->lost_at_begin);
}

/* Returns whether @b also fits to @a where slices are told in order. */
static bool follows(const struct slice *a, const struct slice *b)
{
	return !a || (!(a->timed_at_end && b->untimed_at_begin) && !a->held_at_end &&
		      a->lost_at_end == b->lost_at_begin);
}

/* Sources up to @n are in .sources. */
static int make_room(struct joint *joint, size_t n)
{
	size_t room = joint->room;

	if (n <= joint->n_sources)
		return 0;
	if (array_reserve(&joint->sources, &room, joint->n_sources, n - joint->n_sources))
		return -ENOMEM;
	joint->room = room;
	memset(joint->sources + joint->n_sources, 0,
	       (n - joint->n_sources) * sizeof(*joint->sources));
	joint->n_sources = n;
	return 0;
}

/*
 * A flow that one slice left is resumed by another, at the same synchronisation and nowhere else:
 * what a thread decoded before may make it take another one for good. One that waited for it must
 * have been decoded by a slice before. 0, -EAGAIN, -ENOMEM.
 */
static int take_source(struct joint *joint, const struct slice_source *from)
{
	struct joint_source *source;

	if (make_room(joint, from->source + 1))
		return -ENOMEM;
	source = &joint->sources[from->source];
	if ((from->waited && !source->known) ||
	    (from->resumed && !(source->left && source->left_at == from->resumed_at)))
		return -EAGAIN;
	if (from->resumed)
		source->left = false;
	if (from->left) {
		source->left = true;
		source->left_at = from->left_at;
	}
	source->known |= from->begun || from->resumed;
	return 0;
}

/*
 * Forgets the sources of which @slice, in which bytes are missing, has no messages. Nobody decodes
 * them behind the missing bytes, so a later slice that waits for one of them does not fit.
 */
static void forget_others(struct joint *joint, const struct slice *slice)
{
	joint->known = false;
	for (size_t i = 0; i < joint->n_sources; i++)
		joint->sources[i].known = false;
	for (size_t i = 0; i < slice->n_sources; i++) {
		const struct slice_source *from = &slice->sources[i];

		joint->sources[from->source].known = from->begun || from->resumed;
	}
}

static int take_sources(struct joint *joint, const struct slice *slice)
{
	int err = slice->unsure || (slice->silent && !joint->known) ? -EAGAIN : 0;

	for (size_t i = 0; i < slice->n_sources && !err; i++)
		err = take_source(joint, &slice->sources[i]);
	if (slice->missed && !err)
		forget_others(joint, slice);
	for (size_t i = 0; i < joint->n_sources && !err; i++) {
		const struct joint_source *source = &joint->sources[i];

		joint->known |= source->known;
		if (source->left && source->left_at < slice->to)
			err = -EAGAIN;
	}
	return err;
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

/* ---- spans ---- */

/* Behind what nobody decodes now, all is as it was found when somebody did. */
static int enter(struct joint *joint, const struct span *span)
{
	const struct joint_point *entry = span->entry;

	if (make_room(joint, 1))
		return -ENOMEM;
	memset(joint->sources, 0, joint->n_sources * sizeof(*joint->sources));
	memset(&joint->stats, 0, sizeof(joint->stats));
	joint->known = joint->given_up = joint->passed_exec = false;
	joint->before = NULL;
	joint->latest = 0;
	if (!entry)
		return 0;
	joint->sources[0] = entry->source;
	joint->known = entry->known;
	joint->given_up = entry->given_up;
	joint->passed_exec = entry->passed_exec;
	joint->latest = entry->latest;
	joint->before = entry->has_before ? &entry->before : NULL;
	return 0;
}

/* Whether what was decoded of the span is what was found before. */
static bool leaves(const struct joint *joint, const struct span *span)
{
	const struct rvt_session_totals *stats = span->expected;
	const struct joint_point *exit = span->exit;
	const struct joint_source *source = joint->sources;

	if (stats && (stats->flow.insns != joint->stats.flow.insns ||
		      stats->flow.gaps != joint->stats.flow.gaps ||
		      stats->session.trace_bytes != joint->stats.session.trace_bytes))
		return false;
	/* who told what was lost just at the end depends on the overlap */
	if (exit && (!joint->before != !exit->has_before ||
		     (joint->before && joint->before->lost_at_end != exit->before.lost_at_end)))
		return false;
	return !exit || (joint->known == exit->known && joint->given_up == exit->given_up &&
			 joint->latest == exit->latest && source->known == exit->source.known &&
			 source->left == exit->source.left &&
			 (!source->left || source->left_at == exit->source.left_at));
}

/* Returns false if @slice has something from before an exec that was passed already. */
static bool passes_exec(struct joint *joint, const struct slice *slice)
{
	bool passed = joint->passed_exec;

	/* its first record may be another one than that in which the slice before ended */
	joint->passed_exec = slice->passed_exec ||
		(passed && slice->done && slice->record == slice->end_record);
	return !(passed && slice->before_exec);
}

/* Whether @slice guessed the time of its last flow, which the first stamp behind it tells. */
static bool guesses_time(const struct rvt_session *session, const struct joint *joint,
			 const struct slice *slice)
{
	return session_slices(session) && slice->held_at_end && slice + 1 < joint->end;
}

static int fit(const struct rvt_session *session, struct joint *joint, const struct slice *slice)
{
	int err = !joint->given_up && !guesses_time(session, joint, slice) &&
		is_later(joint, slice) && passes_exec(joint, slice) ?
		take_sources(joint, slice) : -EAGAIN;

	if (err)
		return err;
	/* those in which nothing was, not even a loss, are passed over */
	if (slice->executed || slice->broken_at_begin || slice->lost_at_begin ||
	    slice->lost_at_end) {
		if (!fits(joint->before, slice) ||
		    (session_slices(session) && !follows(joint->before, slice)))
			return -EAGAIN;
		joint->before = slice;
	}
	joint->given_up = slice->given_up;
	return 0;
}

int rvt_session_join(struct rvt_session *session, struct joint *joint)
{
	const struct rvt_session_slices *slices = session_slices(session);
	const struct slice *slice = joint->next;
	const struct span *span = slice->span;
	int err = span && !span->goes_on && slice->from == span->from ? enter(joint, span) : 0;

	if (!err)
		err = fit(session, joint, slice);
	rvt_session_add_stats(&joint->stats, &slice->stats);
	if (!err && span && slice->to == span->to && !leaves(joint, span))
		err = -EAGAIN;
	if (err)
		return err;
	joint->next++;
	rvt_session_add_stats(&session->stats, &slice->stats);
	if (slices && slices->note)
		err = slices->note(slices->ctx, slice, joint);
	return !err && slices && slices->join ?
		slices->join(slices->ctx, slice->ctx, slice->buffer) : err;
}
