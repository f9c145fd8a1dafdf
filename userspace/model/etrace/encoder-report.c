// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * E-Trace encoder: from the decision to report something to the packet that does.
 */
#include <errno.h>
#include <string.h>
#include "model/etrace/encoder-state.h"
#include "model/etrace/esp32.h"

#define MAP_BRANCHES 31u
/* The draft's text; its field has 31 bits. */
#define DRAFT_MAX_COUNT 0xffffu

struct rvt_etrace_msg rvt_etrace_new_msg(const struct rvt_etrace_encoder *enc,
					 enum rvt_etrace_kind kind)
{
	const struct rvt_etrace_encoder_config *config = &enc->config;
	struct rvt_etrace_msg msg;

	msg.kind = kind;
	msg.src = config->src;
	msg.flow = config->flow;
	msg.extend = config->now && enc->codec.params.timestamp_bytes &&
		     (config->timestamp_all || kind <= RVT_ETRACE_SYNC_SUPPORT);
	msg.notify = msg.updiscon = msg.irreport = msg.not_taken = false;
	msg.present = 0;
	msg.timestamp = 0;
	if (msg.extend)
		msg.timestamp = config->now(config->ctx) &
				rvt_etrace_mask(8 * enc->codec.params.timestamp_bytes);
	return msg;
}

void rvt_etrace_send(struct rvt_etrace_encoder *enc, const struct rvt_etrace_msg *msg)
{
	const struct rvt_etrace_encoder_config *config = &enc->config;
	uint8_t bytes[RVT_ETRACE_MAX_FRAME_BYTES + RVT_ESP32_HEADER_BYTES];
	unsigned int payload;
	int len;

	if (enc->lossy)
		return;
	len = rvt_etrace_write(&enc->codec, msg, bytes, &payload);
	if (len > 0 && enc->codec.params.framing == RVT_FRAMING_ESP32)
		len = rvt_esp32_wrap(bytes, len, enc->index++);
	/* Too long for the encapsulation counts as lost, too. */
	if (len < 0 || config->emit(config->ctx, bytes, len) == -ENOSPC) {
		enc->lossy = true;
		return;
	}
	enc->stats.packets[msg->kind]++;
	enc->stats.payload_bytes += payload;
	enc->stats.bytes += len;
	if (config->sync_mode == 1)
		enc->sync_count++;
}

unsigned int rvt_etrace_payload_length(const struct rvt_etrace_encoder *enc,
				       const struct rvt_etrace_msg *msg)
{
	uint8_t bytes[RVT_ETRACE_MAX_FRAME_BYTES];
	unsigned int payload;

	return rvt_etrace_write(&enc->codec, msg, bytes, &payload) < 0 ? UINT32_MAX : payload;
}

static uint64_t field_address(const struct rvt_etrace_encoder *enc, uint64_t address)
{
	const struct rvt_params *p = &enc->codec.params;

	return address >> p->iaddress_lsb_p &
	       rvt_etrace_mask(p->iaddress_width_p - p->iaddress_lsb_p);
}

/* ---- branches ---- */

static void clear_branches(struct rvt_etrace_encoder *enc)
{
	enc->map = 0;
	enc->branches = 0;
	enc->predicted = 0;
	enc->all_predicted = enc->predictor;
	enc->mispredicted = false;
}

void rvt_etrace_count_branch(struct rvt_etrace_encoder *enc, const struct stage *cur)
{
	bool taken = cur->itype == RVT_ITYPE_BRANCH_TAKEN;
	bool right = enc->predictor && rvt_etrace_predict(enc, cur->pc, taken);

	if (enc->all_predicted && right) {
		enc->predicted++;
	} else if (enc->all_predicted && enc->predicted >= MAP_BRANCHES) {
		enc->mispredicted = true;
		return;
	} else {
		enc->all_predicted = false;
		enc->predicted = 0;
	}
	if (enc->branches < MAP_BRANCHES) {
		enc->map |= (uint32_t)!taken << enc->branches;
		enc->branches++;
	}
}

bool rvt_etrace_branches_full(const struct rvt_etrace_encoder *enc)
{
	return enc->mispredicted ||
	       (enc->branches == MAP_BRANCHES && enc->predicted < MAP_BRANCHES);
}

bool rvt_etrace_count_full(const struct rvt_etrace_encoder *enc)
{
	uint64_t max = enc->config.max_branch_count;

	if (!max)
		max = enc->draft ? DRAFT_MAX_COUNT : UINT32_MAX;
	return enc->predicted == max + MAP_BRANCHES;
}

static void set_map(const struct rvt_etrace_encoder *enc, struct rvt_etrace_msg *msg)
{
	rvt_etrace_set(msg, RVT_ETRACE_F_BRANCHES, enc->branches);
	rvt_etrace_set(msg, RVT_ETRACE_F_BRANCH_MAP, enc->map);
}

static void set_count(const struct rvt_etrace_encoder *enc, struct rvt_etrace_msg *msg)
{
	rvt_etrace_set(msg, RVT_ETRACE_F_BRANCH_COUNT, enc->predicted - MAP_BRANCHES);
}

void rvt_etrace_report_branches(struct rvt_etrace_encoder *enc)
{
	struct rvt_etrace_msg msg = rvt_etrace_new_msg(enc, enc->mispredicted ? RVT_ETRACE_COUNT :
						 RVT_ETRACE_BRANCH_MAP);

	if (enc->mispredicted)
		set_count(enc, &msg);
	else
		rvt_etrace_set(&msg, RVT_ETRACE_F_BRANCH_MAP, enc->map);
	rvt_etrace_send(enc, &msg);
	enc->unconfirmed = false;
	clear_branches(enc);
}

/* ---- addresses ---- */

/* 2.0 section "Format 2 irreport and irdepth" */
static bool irreport_2_0(const struct rvt_etrace_encoder *enc, const struct stage *cur,
			 enum next next)
{
	if (next == NEXT_PLAIN || !enc->irets)
		return false;
	if (cur->arrival == ARRIVED_BY_RETURN)
		return enc->depth;
	return cur->arrival == ARRIVED_INFERABLY && enc->return_since_call &&
	       !enc->branch_since_return;
}

/* 2.0.5 section "Format 2 irreport and irets" */
static bool irreport_2_0_5(const struct rvt_etrace_encoder *enc, const struct stage *cur)
{
	switch (cur->arrival) {
	case ARRIVED_BY_JUMP:
		return false;
	case ARRIVED_INFERABLY:
	case ARRIVED_BY_EMPTY_RETURN:
		return enc->irets;
	default:
		return true;
	}
}

static void set_irreport(const struct rvt_etrace_encoder *enc, const struct stage *cur,
			 enum next next, struct rvt_etrace_msg *msg)
{
	uint64_t stack_mask = rvt_etrace_mask(enc->codec.params.return_stack_size_p);
	bool wrong = cur->arrival == ARRIVED_BY_WRONG_RETURN;

	if (!enc->depth_max)
		return;
	if (enc->irets_mode) {
		msg->irreport = irreport_2_0_5(enc, cur);
		/* The return that is being reported is none that was followed implicitly. */
		rvt_etrace_set(msg, RVT_ETRACE_F_IRETS,
			       enc->irets - (cur->arrival == ARRIVED_BY_RETURN));
		return;
	}
	msg->irreport = wrong || (!enc->draft && irreport_2_0(enc, cur, next));
	/*
	 * 2.0: a decoder takes the first return from that depth for the wrong one. If there was
	 * one, all that can be done is to report the instruction as if notification had been
	 * requested.
	 */
	if (!wrong && msg->irreport && enc->returned_depths >> enc->depth % 64 & 1) {
		msg->irreport = false;
		msg->notify = true;
	}
	if (msg->irreport)
		rvt_etrace_set(msg, RVT_ETRACE_F_IRDEPTH, !wrong ? enc->depth :
			       enc->draft ? cur->irdepth & stack_mask : cur->irdepth);
}

static void set_address(const struct rvt_etrace_encoder *enc, const struct stage *cur,
			struct rvt_etrace_msg *msg)
{
	bool full = rvt_etrace_has_option(enc, RVT_OPT_FULL_ADDRESS);

	rvt_etrace_set(msg, RVT_ETRACE_F_ADDRESS,
		       field_address(enc, full ? cur->pc : cur->pc - enc->last_address));
}

/* Looks up and updates the cache. True when *msg was replaced by one with an index. */
static bool use_cache(struct rvt_etrace_encoder *enc, const struct stage *cur,
		      struct rvt_etrace_msg *msg)
{
	unsigned int index = rvt_etrace_cache_index(enc, cur->jump_pc, cur->pc);
	bool hit = enc->cache[index] == cur->pc;
	struct rvt_etrace_msg other = *msg;

	enc->cache[index] = cur->pc;
	if (cur->arrival == ARRIVED_BY_WRONG_RETURN &&
	    enc->codec.params.jump_cache_returns == RVT_JUMP_CACHE_NO_RETURNS)
		enc->cache[index] = 1;
	/* No notify or updiscon can be sent with an index. */
	if (!hit || msg->notify || msg->updiscon || msg->kind == RVT_ETRACE_COUNT_ADDRESS)
		return false;
	/* A decoder needs the target early to tell which return failed. */
	if (msg->irreport &&
	    enc->codec.params.jump_cache_returns == RVT_JUMP_CACHE_ALL_RETURNS)
		return false;
	other.kind = enc->branches ? RVT_ETRACE_CACHE_BRANCHES : RVT_ETRACE_CACHE;
	rvt_etrace_set(&other, RVT_ETRACE_F_INDEX, index);
	if (rvt_etrace_payload_length(enc, &other) > rvt_etrace_payload_length(enc, msg))
		return false;
	*msg = other;
	return true;
}

void rvt_etrace_report_address(struct rvt_etrace_encoder *enc, const struct stage *cur,
			       enum next next, bool notify)
{
	bool reported = cur->arrival >= ARRIVED_BY_JUMP;
	struct rvt_etrace_msg msg;

	if (enc->predicted >= MAP_BRANCHES) {
		bool success = rvt_etrace_is_branch(cur) && !enc->mispredicted;

		msg = rvt_etrace_new_msg(enc, RVT_ETRACE_COUNT_ADDRESS);
		set_count(enc, &msg);
		rvt_etrace_set(&msg, RVT_ETRACE_F_BRANCH_FMT,
			       enc->mispredicted && !enc->draft ? 3 : 2);
		rvt_etrace_set(&msg, RVT_ETRACE_F_BPSUCCESS, success);
	} else {
		msg = rvt_etrace_new_msg(enc, enc->branches ?
					 RVT_ETRACE_BRANCH_ADDRESS : RVT_ETRACE_ADDRESS);
		set_map(enc, &msg);
	}
	set_address(enc, cur, &msg);
	msg.notify = notify;
	msg.updiscon = reported && next != NEXT_PLAIN && next != NEXT_END;
	set_irreport(enc, cur, next, &msg);
	if (enc->cache && reported && cur->arrival != ARRIVED_BY_255TH_RETURN)
		use_cache(enc, cur, &msg);
	rvt_etrace_send(enc, &msg);
	enc->last_address = cur->pc;
	enc->unconfirmed = reported && !msg.updiscon;
	clear_branches(enc);
	rvt_etrace_visits_clear(enc);
}

/* ---- format 3 ---- */

static void set_sync(struct rvt_etrace_encoder *enc, struct rvt_etrace_msg *msg, uint8_t prv)
{
	const struct rvt_params *p = &enc->codec.params;
	uint64_t now = enc->config.now && !p->notime_p ? enc->config.now(enc->config.ctx) : 0;

	rvt_etrace_set(msg, RVT_ETRACE_F_PRIVILEGE, prv & rvt_etrace_mask(p->privilege_width_p));
	rvt_etrace_set(msg, RVT_ETRACE_F_TIME, now & rvt_etrace_mask(p->time_width_p));
	rvt_etrace_set(msg, RVT_ETRACE_F_CONTEXT,
		       enc->context & rvt_etrace_mask(p->context_width_p));
	enc->context_pending = false;
}

/* The instruction at @cur is reported with its branch outcome; everything before it was. */
static void finish_sync(struct rvt_etrace_encoder *enc, const struct stage *cur)
{
	rvt_etrace_tables_sync(enc, cur->first);
	clear_branches(enc);
	rvt_etrace_visits_clear(enc);
	enc->return_since_call = enc->branch_since_return = false;
	if (enc->predictor && rvt_etrace_is_branch(cur))
		rvt_etrace_predict(enc, cur->pc, cur->itype == RVT_ITYPE_BRANCH_TAKEN);
	enc->last_address = cur->pc;
	enc->unconfirmed = false;
	enc->sync_count = 0;
	memset(enc->bases, 0, sizeof(enc->bases));
}

/* 2.0 sends 1 for what is no branch. */
static bool branch_bit(const struct rvt_etrace_encoder *enc, const struct stage *cur)
{
	return enc->codec.params.dialect == RVT_DIALECT_ETRACE_0_029 ?
	       cur->itype == RVT_ITYPE_BRANCH_NOT_TAKEN : cur->itype != RVT_ITYPE_BRANCH_TAKEN;
}

void rvt_etrace_report_start(struct rvt_etrace_encoder *enc, const struct stage *cur)
{
	struct rvt_etrace_msg msg = rvt_etrace_new_msg(enc, RVT_ETRACE_SYNC_START);

	set_sync(enc, &msg, cur->prv);
	msg.not_taken = branch_bit(enc, cur);
	rvt_etrace_set(&msg, RVT_ETRACE_F_ADDRESS, field_address(enc, cur->pc));
	rvt_etrace_send(enc, &msg);
	finish_sync(enc, cur);
}

static void set_trap(const struct rvt_etrace_encoder *enc, struct rvt_etrace_msg *msg)
{
	const struct rvt_params *p = &enc->codec.params;
	const struct rvt_trap *trap = &enc->trap;
	/* 0.029 section 6.3.1: the address of an illegal instruction, else the trap value */
	bool epc = enc->draft && !trap->interrupt && trap->cause == 2;

	rvt_etrace_set(msg, RVT_ETRACE_F_ECAUSE, trap->cause & rvt_etrace_mask(p->ecause_width_p));
	rvt_etrace_set(msg, RVT_ETRACE_F_INTERRUPT, trap->interrupt);
	rvt_etrace_set(msg, RVT_ETRACE_F_TVAL,
		       (epc ? trap->epc : trap->tval) & rvt_etrace_mask(p->iaddress_width_p));
}

void rvt_etrace_report_handler(struct rvt_etrace_encoder *enc, const struct stage *cur)
{
	struct rvt_etrace_msg msg = rvt_etrace_new_msg(enc, RVT_ETRACE_SYNC_TRAP);

	set_sync(enc, &msg, cur->prv);
	set_trap(enc, &msg);
	msg.not_taken = branch_bit(enc, cur);
	rvt_etrace_set(&msg, RVT_ETRACE_F_THADDR, 1);
	rvt_etrace_set(&msg, RVT_ETRACE_F_ADDRESS, field_address(enc, cur->pc));
	rvt_etrace_send(enc, &msg);
	finish_sync(enc, cur);
}

void rvt_etrace_report_trap(struct rvt_etrace_encoder *enc, uint64_t address)
{
	struct rvt_etrace_msg msg = rvt_etrace_new_msg(enc, RVT_ETRACE_SYNC_TRAP);

	set_sync(enc, &msg, enc->prv);
	set_trap(enc, &msg);
	msg.not_taken = true;
	rvt_etrace_set(&msg, RVT_ETRACE_F_THADDR, 0);
	rvt_etrace_set(&msg, RVT_ETRACE_F_ADDRESS, field_address(enc, address));
	rvt_etrace_send(enc, &msg);
	enc->sync_count = 0;
}

void rvt_etrace_report_context(struct rvt_etrace_encoder *enc)
{
	struct rvt_etrace_msg msg = rvt_etrace_new_msg(enc, RVT_ETRACE_SYNC_CONTEXT);

	set_sync(enc, &msg, enc->prv);
	rvt_etrace_send(enc, &msg);
}

void rvt_etrace_report_support(struct rvt_etrace_encoder *enc, enum rvt_etrace_qual_status qual)
{
	struct rvt_etrace_msg msg = rvt_etrace_new_msg(enc, RVT_ETRACE_SYNC_SUPPORT);

	rvt_etrace_codec_describe(&enc->codec, &msg);
	rvt_etrace_set(&msg, RVT_ETRACE_F_IENABLE, enc->enabled);
	rvt_etrace_set(&msg, RVT_ETRACE_F_QUAL_STATUS, qual);
	rvt_etrace_set(&msg, RVT_ETRACE_F_DENABLE, enc->enabled && enc->codec.params.data_width_p);
	/* What could not be sent may have been either. */
	rvt_etrace_set(&msg, RVT_ETRACE_F_DLOSS, qual == RVT_ETRACE_TRACE_LOST &&
						 enc->codec.params.data_width_p);
	rvt_etrace_send(enc, &msg);
}
