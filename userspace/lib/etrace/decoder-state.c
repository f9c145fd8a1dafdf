// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * E-Trace decoder: what is known of the hart, and what becomes of it: times, privilege and context,
 * where the flow stands, and losing it.
 */
#include <stdlib.h>
#include <string.h>
#include <etrace/decoder-state.h>
#include "stream-ops.h"

int rvt_etrace_decoder_init(struct rvt_etrace_decoder *dec, const struct rvt_params *params,
			    struct rvt_flow *flow, struct rvt_stream_stats *stats)
{
	uint64_t *learnt = &dec->learnt[0][0][0];
	int ret;

	memset(dec, 0, sizeof(*dec));
	for (size_t i = 0; i < sizeof(dec->learnt) / sizeof(*learnt); i++)
		learnt[i] = 1;
	dec->flow = flow;
	dec->stats = stats;
	dec->draft = params->dialect == RVT_DIALECT_ETRACE_0_029 ||
		     params->dialect == RVT_DIALECT_ETRACE_ESP32;
	dec->lost = true;
	dec->return_depth = ~0u;
	ret = rvt_etrace_codec_init(&dec->codec, params);
	if (ret || !flow)
		return ret;
	return rvt_etrace_decoder_resize(dec);
}

void rvt_etrace_decoder_fini(struct rvt_etrace_decoder *dec)
{
	free(dec->cache);
	rvt_etrace_data_fini(&dec->data);
}

/* ---- events ---- */

int rvt_etrace_emit(struct rvt_etrace_decoder *dec, struct rvt_event *event)
{
	event->offset = dec->offset;
	return rvt_flow_event(dec->flow, event);
}

int rvt_etrace_emit_time(struct rvt_etrace_decoder *dec)
{
	struct rvt_event event = { .type = RVT_EVENT_TIME, .time = dec->time };

	if (!dec->time_valid || dec->time == dec->reported_time)
		return 0;
	dec->reported_time = dec->time;
	return rvt_etrace_emit(dec, &event);
}

void rvt_etrace_note_time(struct rvt_etrace_decoder *dec, const struct rvt_etrace_msg *msg)
{
	const struct rvt_params *p = &dec->codec.params;
	unsigned int bits;
	uint64_t stamp;

	if (rvt_etrace_has(msg, RVT_ETRACE_F_TIME)) {
		bits = p->time_width_p;
		stamp = msg->field[RVT_ETRACE_F_TIME];
	} else if (msg->extend) {
		bits = 8 * p->timestamp_bytes;
		stamp = msg->timestamp;
	} else {
		return;
	}
	if (bits < 64) {
		uint64_t before = dec->time & rvt_etrace_mask(bits);

		stamp |= dec->time & ~rvt_etrace_mask(bits);
		if (dec->time_valid && (stamp & rvt_etrace_mask(bits)) < before)
			stamp += 1ull << bits;
	}
	dec->time = stamp;
	dec->time_valid = true;
}

int rvt_etrace_note_stamp(struct rvt_etrace_decoder *dec, const struct rvt_etrace_msg *msg)
{
	rvt_etrace_note_time(dec, msg);
	return rvt_etrace_emit_time(dec);
}

/* 2.0 table "Privilege level (priv) encoding"; debug mode is M-mode to us. */
static void set_privilege(struct rvt_context *context, uint64_t privilege)
{
	context->prv_valid = true;
	context->v = privilege == 5 || privilege == 6;
	context->prv = privilege <= 3 ? privilege : context->v ? privilege - 5 : 3;
}

static bool is_same(const struct rvt_context *a, const struct rvt_context *b)
{
	return a->prv == b->prv && a->v == b->v && a->scontext_valid == b->scontext_valid &&
	       a->scontext == b->scontext;
}

int rvt_etrace_note_context(struct rvt_etrace_decoder *dec, const struct rvt_etrace_msg *msg)
{
	struct rvt_context context = dec->context;
	struct rvt_event event = { .type = RVT_EVENT_CONTEXT };

	dec->privilege = msg->field[RVT_ETRACE_F_PRIVILEGE];
	set_privilege(&context, dec->privilege);
	if (rvt_etrace_has(msg, RVT_ETRACE_F_CONTEXT)) {
		context.scontext_valid = true;
		context.scontext = msg->field[RVT_ETRACE_F_CONTEXT];
	}
	if (dec->context_valid && is_same(&context, &dec->context))
		return 0;
	dec->context_valid = true;
	dec->context = context;
	event.context = context;
	return rvt_etrace_emit(dec, &event);
}

/* ---- losing and ending ---- */

static void forget_position(struct rvt_etrace_decoder *dec, bool lost)
{
	dec->started = false;
	dec->lost |= lost;
	dec->pending = dec->inferred = dec->has_repeat = dec->from_trap = false;
	dec->carried = (struct path){ .map_bits = 0 };
	dec->trap.valid = false;
	if (lost)
		dec->context_valid = false;
}

void rvt_etrace_decoder_abandon(struct rvt_etrace_decoder *dec)
{
	forget_position(dec, false);
}

int rvt_etrace_decoder_lose(struct rvt_etrace_decoder *dec, enum rvt_reason reason,
			    const char *detail)
{
	struct rvt_event event = { .type = RVT_EVENT_LOST, .reason = reason, .detail = detail };
	bool known = dec->started || dec->trap.valid;

	forget_position(dec, true);
	return known ? rvt_etrace_emit(dec, &event) : 0;
}

int rvt_etrace_decoder_fail(struct rvt_etrace_decoder *dec,
			    const struct rvt_etrace_failure *failure)
{
	dec->stats->errors++;
	return rvt_etrace_decoder_lose(dec, failure->reason, failure->detail);
}

int rvt_etrace_drop_trap(struct rvt_etrace_decoder *dec)
{
	if (!dec->trap.valid)
		return 0;
	dec->trap.valid = false;
	dec->trap.event.target = dec->trap.has_address ? dec->trap.address : RVT_UNLIMITED;
	return rvt_flow_trap(dec->flow, &dec->trap.event);
}

/* ---- addresses ---- */

uint64_t rvt_etrace_extend_address(const struct rvt_etrace_decoder *dec, uint64_t address)
{
	unsigned int bits = dec->codec.params.iaddress_width_p;

	address &= rvt_etrace_mask(bits);
	/* Wider than 32 bits these are virtual addresses, sign-extended to XLEN. */
	if (dec->codec.params.xlen == 64 && bits > 32)
		address = rvt_etrace_sign(address, bits);
	return address;
}

uint64_t rvt_etrace_reported_address(const struct rvt_etrace_decoder *dec, uint64_t field,
				     uint64_t last)
{
	const uint64_t address = field << dec->codec.params.iaddress_lsb_p;

	if (dec->codec.params.options & RVT_OPT_FULL_ADDRESS)
		last = 0;
	return rvt_etrace_extend_address(dec, last + address);
}

uint64_t rvt_etrace_full_address(const struct rvt_etrace_decoder *dec,
				 const struct rvt_etrace_msg *msg)
{
	return rvt_etrace_extend_address(dec, msg->field[RVT_ETRACE_F_ADDRESS] <<
					 dec->codec.params.iaddress_lsb_p);
}

/* ---- where the flow stands ---- */

void rvt_etrace_stand(struct rvt_etrace_decoder *dec, uint64_t address, struct path carried)
{
	dec->address = address;
	dec->pending = true;
	dec->from_trap = false;
	dec->carried = carried;
}

void rvt_etrace_stand_at_sync(struct rvt_etrace_decoder *dec, const struct rvt_etrace_msg *msg,
			      uint64_t address)
{
	struct path last = { .map_bits = 0 };

	/* The branch at a synchronisation point has its own bit. */
	if (rvt_flow_branch_at(dec->flow, address))
		last = (struct path){ .map = !msg->not_taken, .map_bits = 1 };
	rvt_etrace_stand(dec, address, last);
	rvt_etrace_data_sync(&dec->data);
	dec->inferred = false;
	dec->stats->syncs++;
}

static int take_sync(struct rvt_etrace_decoder *dec, const struct rvt_etrace_msg *msg,
		     enum rvt_etrace_held what, uint64_t address)
{
	const bool begins = what == RVT_ETRACE_HELD_BEGIN, from_trap = dec->from_trap;
	int ret = rvt_etrace_note_context(dec, msg);

	if (what == RVT_ETRACE_HELD_CONTEXT)
		return ret;
	rvt_etrace_decoder_sync(dec, begins);
	if (begins && !ret)
		ret = rvt_flow_start(dec->flow, address, dec->offset, false);
	rvt_etrace_stand_at_sync(dec, msg, address);
	dec->from_trap = from_trap;
	dec->lost &= !begins;
	return ret;
}

int rvt_etrace_take_held(struct rvt_etrace_decoder *dec)
{
	const enum rvt_etrace_held what = dec->held.what;

	dec->held.what = RVT_ETRACE_HELD_NOTHING;
	return take_sync(dec, &dec->held.msg, what, dec->held.address);
}

/* Now, or when decoding goes on. */
static int take_or_hold(struct rvt_etrace_decoder *dec, const struct rvt_etrace_msg *msg,
			enum rvt_etrace_held what, uint64_t address)
{
	if (dec->stream->paused) {
		dec->held = (struct held_sync){ what, *msg, address };
		return 0;
	}
	/* A slice says here how far it has come: other cpus come first. */
	rvt_stream_tell_behind(dec->stream);
	return take_sync(dec, msg, what, address);
}

int rvt_etrace_change_context(struct rvt_etrace_decoder *dec, const struct rvt_etrace_msg *msg)
{
	return take_or_hold(dec, msg, RVT_ETRACE_HELD_CONTEXT, 0);
}

int rvt_etrace_sync(struct rvt_etrace_decoder *dec, const struct rvt_etrace_msg *msg,
		    uint64_t address)
{
	dec->from_trap = false;
	return take_or_hold(dec, msg, RVT_ETRACE_HELD_SYNC, address);
}

int rvt_etrace_begin(struct rvt_etrace_decoder *dec, const struct rvt_etrace_msg *msg,
		     uint64_t address)
{
	int ret = rvt_etrace_emit_time(dec);

	if (ret)
		return ret;
	dec->started = true;
	dec->from_trap = false;
	return take_or_hold(dec, msg, RVT_ETRACE_HELD_BEGIN, address);
}
