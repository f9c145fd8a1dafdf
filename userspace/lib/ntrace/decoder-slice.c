// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * N-Trace: decoding a slice of a stream. A synchronisation that resets the encoder needs nothing
 * that came before it. So a source is decoded by one slice up to and including such a message, and
 * from behind it by the next slice, which takes nothing but the address and the time from it.
 */
#include "flow/control.h"
#include "ntrace/decoder-state.h"

static bool divides(const struct rvt_ntrace_decoder *d, const struct rvt_ntrace_msg *msg)
{
	return rvt_ntrace_is_sync(msg) && rvt_ntrace_resets(d->params.dialect, msg);
}

void rvt_ntrace_slice_source(struct rvt_ntrace_decoder *d, struct rvt_ntrace_source *s)
{
	if (!s->flow)
		return;
	rvt_flow_note_source(s->flow, !d->slice_from);
	if (d->slice_from)
		return;
	s->progress = RVT_NTRACE_ACTIVE;
	d->n_active++;
}

/* The slice before this one has decoded @msg: only its result counts here. */
static void take_over(struct rvt_ntrace_decoder *d, struct rvt_ntrace_source *s,
		      const struct rvt_ntrace_msg *msg)
{
	struct rvt_event event = { .type = RVT_EVENT_TIME, .offset = msg->offset };

	/* what came before was told by that slice, what comes is this one's */
	d->told_damage = false;
	if (!rvt_ntrace_sync_fits(d, s, msg))
		return;
	s->progress = RVT_NTRACE_ACTIVE;
	d->n_active++;
	s->flowing = true;
	s->complained = true;
	if (rvt_ntrace_has(msg, RVT_NTRACE_F_TSTAMP)) {
		s->time = event.time = msg->field[RVT_NTRACE_F_TSTAMP];
		s->time_valid = true;
		rvt_ntrace_check(d, rvt_flow_event(s->flow, &event));
	}
	rvt_ntrace_set_reference(d, s, msg);
	rvt_flow_clear_returns(s->flow);
	rvt_ntrace_check(d, rvt_flow_resume(s->flow, s->reference, msg->offset));
	if (s->ctte && !d->result)
		rvt_ntrace_ctte_synced(s, msg);
}

bool rvt_ntrace_slice_skips(struct rvt_ntrace_decoder *d, struct rvt_ntrace_source *s,
			   const struct rvt_ntrace_msg *msg)
{
	if (s->progress == RVT_NTRACE_WAITING && divides(d, msg)) {
		if (msg->offset < d->slice_to)
			take_over(d, s, msg);
		else
			s->progress = RVT_NTRACE_DONE;
		return true;
	}
	return s->progress != RVT_NTRACE_ACTIVE;
}

void rvt_ntrace_slice_advance(struct rvt_ntrace_decoder *d, struct rvt_ntrace_source *s,
			     const struct rvt_ntrace_msg *msg)
{
	if (msg->offset < d->slice_to || !divides(d, msg) || !s->synced)
		return;
	s->left = !rvt_flow_leave(s->flow, msg->offset);
	if (s->left)
		return;
	s->progress = RVT_NTRACE_DONE;
	s->synced = false;
	s->flowing = false;
	d->n_active--;
}

bool rvt_ntrace_slice_begun(struct rvt_ntrace_decoder *d)
{
	const bool begun = !d->slice_from || d->n_active;

	d->stream.silent |= !begun;
	return begun;
}

void rvt_ntrace_slice_untold(struct rvt_ntrace_decoder *d, uint64_t offset)
{
	d->stream.unsure |= d->n_sources > 1 && (d->slice_from || offset >= d->slice_to);
}

void rvt_ntrace_slice_end(struct rvt_ntrace_decoder *d)
{
	/* The first slice also tells whether data begins inside a message, when one comes. */
	d->done |= d->slice_from && !d->n_active && d->reader.offset >= d->slice_to &&
		   !d->reader.carry_len && !d->reader.hunting;
}

void rvt_ntrace_slice_lost(struct rvt_ntrace_decoder *d, uint64_t offset)
{
	if (offset >= d->slice_to) {
		d->n_active = 0;
		d->done = true;
		return;
	}
	d->slice_from = 0;
	for (unsigned int i = 0; i < d->n_sources; i++) {
		struct rvt_ntrace_source *s = d->sources[i];

		if (!s || !s->flow || s->progress != RVT_NTRACE_WAITING)
			continue;
		rvt_flow_note_source(s->flow, true);
		s->progress = RVT_NTRACE_ACTIVE;
		d->n_active++;
	}
}
