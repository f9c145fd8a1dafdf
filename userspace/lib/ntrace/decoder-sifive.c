// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * N-Trace decoder: what SiFive's encoders before 1.0 send besides. None of it is flow; but
 * in-circuit trace moves the reference of U-ADDR.
 */
#include "ntrace/decoder-state.h"

/* Stimulus registers are words in a row: IDTAG is the byte in them that was written. */
#define STIMULUS_BYTES 4

static void emit_mark(struct rvt_ntrace_decoder *d, struct rvt_ntrace_source *s,
		      const struct rvt_ntrace_msg *msg, struct rvt_event event)
{
	event.type = RVT_EVENT_MARK;
	event.offset = msg->offset;
	rvt_ntrace_check(d, rvt_flow_event(s->flow, &event));
}

void rvt_ntrace_set_scontext(struct rvt_ntrace_decoder *d, struct rvt_ntrace_source *s,
			     const struct rvt_ntrace_msg *msg, uint64_t value)
{
	struct rvt_event event = { .type = RVT_EVENT_CONTEXT, .offset = msg->offset };

	s->context.scontext = value;
	s->context.scontext_valid = true;
	event.context = s->context;
	rvt_ntrace_check(d, rvt_flow_event(s->flow, &event));
}

/* The low bits of IDTAG tell how much was written there. */
static unsigned int stimulus_bytes(uint64_t idtag)
{
	static const uint8_t bytes[STIMULUS_BYTES] = { 4, 1, 2, 1 };

	return bytes[idtag % STIMULUS_BYTES];
}

static void on_data_acquisition(struct rvt_ntrace_decoder *d, struct rvt_ntrace_source *s,
				const struct rvt_ntrace_msg *msg)
{
	const uint64_t idtag = msg->field[RVT_NTRACE_F_IDTAG];

	emit_mark(d, s, msg, (struct rvt_event){
		.mark = RVT_MARK_USER, .has_value = true, .tag = idtag / STIMULUS_BYTES,
		.value = msg->field[RVT_NTRACE_F_DQDATA], .value_bytes = stimulus_bytes(idtag),
	});
}

static void on_aux_access_write(struct rvt_ntrace_decoder *d, struct rvt_ntrace_source *s,
				const struct rvt_ntrace_msg *msg)
{
	emit_mark(d, s, msg, (struct rvt_event){
		.mark = RVT_MARK_USER, .has_value = true, .tag = msg->field[RVT_NTRACE_F_ADDR],
		.value = msg->field[RVT_NTRACE_F_DATA],
	});
}

/* Returns false if CKSRC is reserved. */
static bool circuit_mark(uint64_t cksrc, enum rvt_mark *mark)
{
	switch (cksrc) {
	case RVT_NTRACE_CK_CONTROL:
		*mark = RVT_MARK_CONTROL;
		return true;
	case RVT_NTRACE_CK_TRIGGER:
		*mark = RVT_MARK_TRIGGER;
		return true;
	case RVT_NTRACE_CK_CALL:
		*mark = RVT_MARK_CALL;
		return true;
	case RVT_NTRACE_CK_EXCEPTION:
		*mark = RVT_MARK_EXCEPTION;
		return true;
	case RVT_NTRACE_CK_INTERRUPT:
		*mark = RVT_MARK_INTERRUPT;
		return true;
	case RVT_NTRACE_CK_WATCHPOINT:
		*mark = RVT_MARK_WATCHPOINT;
		return true;
	case RVT_NTRACE_CK_PC_SAMPLE:
		*mark = RVT_MARK_PC_SAMPLE;
		return true;
	default:
		return false;
	}
}

/* The flow, if there is any, goes on behind it: it has no I-CNT. */
static void on_circuit(struct rvt_ntrace_decoder *d, struct rvt_ntrace_source *s,
		       const struct rvt_ntrace_msg *msg)
{
	const uint64_t cksrc = msg->field[RVT_NTRACE_F_CKSRC];
	const bool two = msg->field[RVT_NTRACE_F_CKDF];
	struct rvt_event event = {
		.has_value = two || cksrc == RVT_NTRACE_CK_CONTROL,
		.value = msg->field[two ? RVT_NTRACE_F_CKDATA1 : RVT_NTRACE_F_CKDATA0],
	};
	bool known;

	if (rvt_ntrace_circuit_address(&d->params, msg, &s->reference, &event.pc)) {
		s->synced |= rvt_ntrace_has(msg, RVT_NTRACE_F_SYNC);
		known = s->synced;
		event.own_pc = true;
	} else {
		known = true;
	}
	/* An address that is relative to nothing is none. */
	if (!known)
		return;
	if (cksrc == RVT_NTRACE_CK_CONTEXT) {
		rvt_ntrace_set_scontext(d, s, msg, event.value);
		return;
	}
	if (cksrc == RVT_NTRACE_CK_CALL) {
		event.target = two ? s->reference : 0;
		event.has_value = false;
	}
	if (!event.has_value)
		event.value = 0;
	if (circuit_mark(cksrc, &event.mark))
		emit_mark(d, s, msg, event);
	else
		d->stream.stats.reserved_messages++;
}

bool rvt_ntrace_on_sifive(struct rvt_ntrace_decoder *d, struct rvt_ntrace_source *s,
			  const struct rvt_ntrace_msg *msg)
{
	switch (msg->field[RVT_NTRACE_F_TCODE]) {
	case RVT_NTRACE_DATA_ACQUISITION:
		rvt_ntrace_emit_time(d, s, msg);
		if (!d->result)
			on_data_acquisition(d, s, msg);
		return true;
	case RVT_NTRACE_AUX_ACCESS_WRITE:
		rvt_ntrace_emit_time(d, s, msg);
		if (!d->result)
			on_aux_access_write(d, s, msg);
		return true;
	case RVT_NTRACE_IN_CIRCUIT_TRACE:
	case RVT_NTRACE_IN_CIRCUIT_TRACE_SYNC:
		rvt_ntrace_emit_time(d, s, msg);
		if (!d->result)
			on_circuit(d, s, msg);
		return true;
	default:
		return false;
	}
}
