// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* A hart's flow on its way through the clock (options.clock). */
#include <string.h>
#include "slice.h"
#include "state.h"

#define CLOCK_NS 1000000	/* by so much a time stamp and a record's time may differ */

/* What is delivered was held back: the hart flow is as it was then, for as long as it is told. */
static void go_back(struct hart_flow *hart, struct rvt_hart_flow *then,
		    const struct rvt_clock_span *span)
{
	then->user = hart->base.user;
	then->span = *span;
	then->time = rvt_clock_span_time(span, 0);
	hart->base = *then;
}

static int come_back(struct hart_flow *hart, const struct rvt_hart_flow *now, int err)
{
	void *user = hart->base.user;

	hart->base = *now;
	hart->base.user = user;
	return err;
}

static int tell_runs(void *ctx, void *state, const struct rvt_clock_span *span,
		     const struct rvt_run *runs, size_t n)
{
	struct hart_flow *hart = ctx;
	const struct rvt_session_sink *sink = hart->session->sink;
	const struct rvt_hart_flow now = hart->base;

	go_back(hart, state, span);
	return come_back(hart, &now, sink->runs(hart->buffer->ctx, &hart->base, runs, n));
}

static int tell_event(void *ctx, void *state, const struct rvt_clock_span *span,
		      const struct rvt_event *event)
{
	struct hart_flow *hart = ctx;
	const struct rvt_session_sink *sink = hart->session->sink;
	const struct rvt_hart_flow now = hart->base;

	if (!session_wants_event(hart->session, event))
		return 0;
	go_back(hart, state, span);
	return come_back(hart, &now, sink->event(hart->buffer->ctx, &hart->base, event));
}

/* @err is what the clock returned: a call-back's answer, or no memory. */
static int take_answer(struct hart_flow *hart, int err)
{
	if (err != RVT_SLICE_DONE)
		return err;
	hart->told = true;
	return 0;
}

static struct rvt_clock_speed ask_speed(void *ctx)
{
	const struct buffer *buffer = ((const struct hart_flow *)ctx)->buffer;

	return buffer->slice && buffer->speed_before ? buffer->speed_before(buffer) :
						       (struct rvt_clock_speed){ 0 };
}

int rvt_hart_open_clock(struct hart_flow *hart)
{
	const struct rvt_session *session = hart->session;
	const struct rvt_clock_sink sink = { .ctx = hart, .runs = tell_runs, .event = tell_event,
					     .speed = ask_speed };
	int err;

	if (!session->options.clock || session->options.count || session->live ||
	    !session->sink->runs)
		return 0;
	err = rvt_clock_create(&sink, sizeof(struct rvt_hart_flow), &hart->clock);
	if (!err)
		rvt_clock_set_speed(hart->clock, &hart->buffer->speed);
	return err;
}

void rvt_hart_begin_clock(struct hart_flow *hart)
{
	if (!hart->clock)
		return;
	rvt_clock_reset(hart->clock);
	rvt_clock_set_speed(hart->clock, &hart->buffer->speed);
}

static struct rvt_hart_flow state_of(const struct hart_flow *hart)
{
	struct rvt_hart_flow state;

	memcpy(&state, &hart->base, sizeof(state));
	state.user = NULL;
	state.time = 0;
	memset(&state.span, 0, sizeof(state.span));
	return state;
}

int rvt_hart_hold_runs(struct hart_flow *hart, const struct rvt_run *runs, size_t n)
{
	const struct rvt_hart_flow state = state_of(hart);
	uint64_t insns = 0;

	if (!hart->told)
		return take_answer(hart, rvt_clock_runs(hart->clock, &state, runs, n));
	if (!rvt_clock_holds(hart->clock))
		return 0;
	for (size_t i = 0; i < n; i++)
		insns += runs[i].count;
	return rvt_clock_pass(hart->clock, insns);
}

int rvt_hart_hold_event(struct hart_flow *hart, const struct rvt_event *event)
{
	const struct rvt_hart_flow state = state_of(hart);

	return take_answer(hart, rvt_clock_event(hart->clock, &state, event));
}

int rvt_hart_stamp(struct hart_flow *hart, uint64_t time)
{
	uint64_t written = hart->base.written;

	/* what is damaged can say any time; nothing is later than it was written */
	if (!hart->clock || (written && time > written && time - written > CLOCK_NS))
		return 0;
	return take_answer(hart, rvt_clock_stamp(hart->clock, time));
}

int rvt_hart_flush_clock(struct hart_flow *hart, uint64_t limit)
{
	uint64_t written = hart->base.written;

	if (written && written < limit)
		limit = written;
	return hart->clock ? take_answer(hart, rvt_clock_flush(hart->clock, limit)) : 0;
}
