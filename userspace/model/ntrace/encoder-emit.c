// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * How messages of the encoder get out, with their time, or are lost; repetition of the last one.
 */
#include <string.h>

#include "model/ntrace/encoder.h"

/* ECODE bits */
#define LOST_PROGRAM_TRACE (1u << 2)
#define LOST_OWNERSHIP (1u << 3)

static bool quiet(const struct rvt_ntrace_encoder *enc)
{
	return enc->state == RVT_NTRACE_LOSSY;
}

static void set_time(struct rvt_ntrace_encoder *enc, struct rvt_ntrace_msg *msg, uint64_t now)
{
	if (rvt_ntrace_has_full_time(msg))
		rvt_ntrace_set(msg, RVT_NTRACE_F_TSTAMP, now);
	else if (enc->config.timestamp == RVT_TIMESTAMP_XOR)
		rvt_ntrace_set(msg, RVT_NTRACE_F_TSTAMP, now ^ enc->time);
	else
		rvt_ntrace_set(msg, RVT_NTRACE_F_TSTAMP, now - enc->time);
}

/* As after a reset. */
static void reset_ctte(struct rvt_ntrace_ctte_encoder *ctte)
{
	memset(ctte, 0, sizeof(*ctte));
	memset(ctte->counters, RVT_NTRACE_CTTE_NOT_TAKEN, sizeof(ctte->counters));
}

void rvt_ntrace_encoder_forget(struct rvt_ntrace_encoder *enc)
{
	enc->icnt_halfwords = 0;
	memset(&enc->hist, 0, sizeof(enc->hist));
	memset(&enc->last, 0, sizeof(enc->last));
	enc->owed = RVT_NTRACE_OWED_NOTHING;
	enc->stack_depth = 0;
	enc->icnt_sent = true;
	reset_ctte(&enc->ctte);
}

static void lose(struct rvt_ntrace_encoder *enc, const struct rvt_ntrace_msg *msg)
{
	enc->ecode |= LOST_PROGRAM_TRACE;
	if (msg->field[RVT_NTRACE_F_TCODE] == RVT_NTRACE_OWNERSHIP)
		enc->ecode |= LOST_OWNERSHIP;
	enc->state = RVT_NTRACE_LOSSY;
	rvt_ntrace_encoder_forget(enc);
}

static bool emit(struct rvt_ntrace_encoder *enc, struct rvt_ntrace_msg *msg)
{
	uint8_t bytes[RVT_NTRACE_MAX_MESSAGE_BYTES];
	uint64_t now = 0;
	int len;

	rvt_ntrace_set(msg, RVT_NTRACE_F_SRC, enc->config.src);
	if (enc->config.timestamp != RVT_TIMESTAMP_NONE) {
		now = enc->config.now(enc->config.ctx);
		set_time(enc, msg, now);
	}
	len = rvt_ntrace_write(msg, enc->config.src_bits, bytes);
	if (len < 0 || enc->config.emit(enc->config.ctx, bytes, len)) {
		lose(enc, msg);
		return false;
	}
	enc->time = now;
	if (enc->config.sync_mode == 1)
		enc->sync_units++;
	return true;
}

void rvt_ntrace_send_repeats(struct rvt_ntrace_encoder *enc)
{
	struct rvt_ntrace_msg msg;

	if (quiet(enc) || !enc->last.repeats)
		return;
	rvt_ntrace_begin(&msg, RVT_NTRACE_REPEAT_BRANCH);
	rvt_ntrace_set(&msg, RVT_NTRACE_F_BCNT, enc->last.repeats);
	enc->last.repeats = 0;
	emit(enc, &msg);
}

bool rvt_ntrace_send(struct rvt_ntrace_encoder *enc, struct rvt_ntrace_msg *msg)
{
	rvt_ntrace_send_repeats(enc);
	enc->last.valid = false;
	if (quiet(enc))
		return false;
	return emit(enc, msg);
}

void rvt_ntrace_send_full(struct rvt_ntrace_encoder *enc, unsigned int rcode, uint64_t rdata,
			  uint64_t hrepeat)
{
	struct rvt_ntrace_msg msg;

	rvt_ntrace_begin(&msg, RVT_NTRACE_RESOURCE_FULL);
	rvt_ntrace_set(&msg, RVT_NTRACE_F_RCODE, rcode);
	rvt_ntrace_set(&msg, RVT_NTRACE_F_RDATA, rdata);
	rvt_ntrace_set(&msg, RVT_NTRACE_F_HREPEAT, hrepeat);
	if (rcode == 0) {
		enc->icnt_halfwords = 0;
		enc->icnt_sent = true;
	}
	rvt_ntrace_send(enc, &msg);
}

bool rvt_ntrace_send_error(struct rvt_ntrace_encoder *enc)
{
	struct rvt_ntrace_msg msg;

	if (!enc->ecode)
		return true;
	if (enc->config.room && !enc->config.room(enc->config.ctx))
		return false;
	rvt_ntrace_begin(&msg, RVT_NTRACE_ERROR);
	rvt_ntrace_set(&msg, RVT_NTRACE_F_ETYPE, 0);
	rvt_ntrace_set(&msg, RVT_NTRACE_F_ECODE, enc->ecode);
	if (!emit(enc, &msg))
		return false;
	enc->ecode = 0;
	return true;
}
