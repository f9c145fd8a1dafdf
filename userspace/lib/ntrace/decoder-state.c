// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * N-Trace decoder: the state of a source, without the messages that change it.
 */
#include <stdarg.h>
#include <stdio.h>
#include "ntrace/decoder-state.h"

bool rvt_ntrace_check(struct rvt_ntrace_decoder *d, int ret)
{
	if (ret && !d->result)
		d->result = ret;
	return !d->result;
}

void rvt_ntrace_forget(struct rvt_ntrace_source *s)
{
	s->icnt = 0;
	s->ahead = 0;
	s->flow_kept = false;
	s->hist.bits = 0;
	s->unanswered = false;
	s->moved = false;
	s->repeat.valid = false;
}

void rvt_ntrace_lose(struct rvt_ntrace_decoder *d, struct rvt_ntrace_source *s, uint64_t offset,
		     enum rvt_reason reason, bool resync, const char *format, ...)
{
	struct rvt_event event = { .type = RVT_EVENT_LOST, .reason = reason, .offset = offset };
	char detail[160];
	va_list args;

	va_start(args, format);
	vsnprintf(detail, sizeof(detail), format, args);
	va_end(args);
	event.detail = detail;
	rvt_ntrace_forget(s);
	s->flowing = false;
	if (s->ctte)
		s->ctte->predictor_known = false;
	if (resync) {
		s->synced = false;
		s->stopped = false;
		s->time_valid = false;
		s->context = (struct rvt_context){};
	}
	rvt_ntrace_check(d, rvt_flow_event(s->flow, &event));
}

bool rvt_ntrace_is_running(struct rvt_ntrace_decoder *d, struct rvt_ntrace_source *s,
			   const struct rvt_ntrace_msg *msg)
{
	if (!s->stopped)
		return true;
	d->stream.stats.errors++;
	rvt_ntrace_lose(d, s, msg->offset, RVT_REASON_BAD_FLOW, true,
			"tracing goes on without a synchronisation after it was stopped");
	return false;
}

void rvt_ntrace_set_reference(struct rvt_ntrace_decoder *d, struct rvt_ntrace_source *s,
			      const struct rvt_ntrace_msg *msg)
{
	uint64_t tcode = msg->field[RVT_NTRACE_F_TCODE];
	bool has_hist = rvt_ntrace_has(msg, RVT_NTRACE_F_HIST);

	s->reference = rvt_ntrace_full_addr(&d->params, msg);
	s->synced = true;
	s->stopped = false;
	s->resumed = false;
	s->flow_kept = false;
	if (s->ctte && rvt_ntrace_resets(d->params.dialect, msg))
		rvt_ntrace_ctte_reset(s->ctte);
	s->repeat = (struct rvt_ntrace_repeat){
		.valid = tcode != RVT_NTRACE_PROG_TRACE_SYNC,
		.direct = tcode == RVT_NTRACE_DIRECT_BRANCH_SYNC, .target = s->reference,
		.btype = rvt_ntrace_has(msg, RVT_NTRACE_F_BTYPE) ?
			 msg->field[RVT_NTRACE_F_BTYPE] : 0,
		.icnt = msg->field[RVT_NTRACE_F_ICNT],
		.hist = has_hist ? msg->field[RVT_NTRACE_F_HIST] : 1,
	};
}

void rvt_ntrace_emit_time(struct rvt_ntrace_decoder *d, struct rvt_ntrace_source *s,
			  const struct rvt_ntrace_msg *msg)
{
	uint64_t stamp = msg->field[RVT_NTRACE_F_TSTAMP];
	struct rvt_event event;

	if (!rvt_ntrace_has(msg, RVT_NTRACE_F_TSTAMP) || d->result)
		return;
	if (rvt_ntrace_has_full_time(msg)) {
		s->time = stamp;
		s->time_valid = true;
	} else if (d->params.timestamp == RVT_TIMESTAMP_XOR) {
		s->time ^= stamp;
	} else {
		s->time += stamp;
	}
	if (!s->time_valid)
		return;
	event = (struct rvt_event){
		.type = RVT_EVENT_TIME, .offset = msg->offset, .time = s->time,
		.held_back = msg->field[RVT_NTRACE_F_TCODE] == RVT_NTRACE_RESOURCE_FULL &&
			     rvt_ntrace_holds_back(d, msg->field[RVT_NTRACE_F_RCODE]),
	};
	rvt_ntrace_check(d, rvt_flow_event(s->flow, &event));
}
