// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * The encoder's messages: fields, timestamps, Ownership, repetition, loss.
 */
#include <string.h>

#include <ntrace/encoder.h>

/* ECODE bits */
#define LOST_PROGRAM_TRACE (1u << 2)
#define LOST_OWNERSHIP (1u << 3)

/* PROCESS.FORMAT */
enum { FORMAT_PRIVILEGE = 0, FORMAT_SCONTEXT = 2, FORMAT_HCONTEXT = 3 };

static void set(struct rvt_ntrace_msg *msg, enum rvt_ntrace_field field, uint64_t value)
{
	msg->field[field] = value;
	msg->bits[field] = 0;
	msg->present |= 1u << field;
}

static void begin(struct rvt_ntrace_msg *msg, enum rvt_ntrace_tcode tcode)
{
	msg->present = 0;
	set(msg, RVT_NTRACE_F_TCODE, tcode);
}

static bool quiet(const struct rvt_ntrace_encoder *enc)
{
	return enc->state == RVT_NTRACE_LOSSY;
}

static bool in_htm(const struct rvt_ntrace_encoder *enc)
{
	return enc->config.mode == RVT_MODE_HTM;
}

/*
 * F-ADDR or U-ADDR. With extension, as few MDOs as reproduce the address when the top bit of the
 * last one is extended; the field begins at a byte boundary as I-CNT precedes it.
 */
static void set_addr(const struct rvt_ntrace_encoder *enc, struct rvt_ntrace_msg *msg,
		     enum rvt_ntrace_field field, uint64_t addr)
{
	unsigned int width = enc->config.xlen - 1;
	uint64_t mask = enc->addr_mask >> 1;
	uint64_t value = (addr & enc->addr_mask) >> 1;

	set(msg, field, value);
	if (!(enc->config.options & RVT_OPT_EXTEND_ADDRESS_MSB))
		return;
	for (unsigned int bits = 6; bits < width; bits += 6) {
		uint64_t sent = value & ((UINT64_C(1) << bits) - 1);
		bool top = value >> (bits - 1) & 1;

		if ((top ? (sent | UINT64_MAX << bits) & mask : sent) == value) {
			msg->field[field] = sent;
			msg->bits[field] = bits;
			return;
		}
	}
	/* all bits, so that none is extended */
	msg->bits[field] = width;
}

static void set_time(struct rvt_ntrace_encoder *enc, struct rvt_ntrace_msg *msg, uint64_t now)
{
	if (rvt_ntrace_is_sync(msg))
		set(msg, RVT_NTRACE_F_TSTAMP, now);
	else if (enc->config.timestamp == RVT_TIMESTAMP_XOR)
		set(msg, RVT_NTRACE_F_TSTAMP, now ^ enc->time);
	else
		set(msg, RVT_NTRACE_F_TSTAMP, now - enc->time);
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

	set(msg, RVT_NTRACE_F_SRC, enc->config.src);
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
	begin(&msg, RVT_NTRACE_REPEAT_BRANCH);
	set(&msg, RVT_NTRACE_F_BCNT, enc->last.repeats);
	enc->last.repeats = 0;
	emit(enc, &msg);
}

/* Any message but RepeatBranch. */
static bool send(struct rvt_ntrace_encoder *enc, struct rvt_ntrace_msg *msg)
{
	rvt_ntrace_send_repeats(enc);
	enc->last.valid = false;
	if (quiet(enc))
		return false;
	return emit(enc, msg);
}

static void set_icnt(struct rvt_ntrace_encoder *enc, struct rvt_ntrace_msg *msg)
{
	set(msg, RVT_NTRACE_F_ICNT, enc->icnt_halfwords);
	enc->icnt_halfwords = 0;
	enc->icnt_sent = true;
}

void rvt_ntrace_send_full(struct rvt_ntrace_encoder *enc, unsigned int rcode, uint64_t rdata,
			  uint64_t hrepeat)
{
	struct rvt_ntrace_msg msg;

	begin(&msg, RVT_NTRACE_RESOURCE_FULL);
	set(&msg, RVT_NTRACE_F_RCODE, rcode);
	set(&msg, RVT_NTRACE_F_RDATA, rdata);
	set(&msg, RVT_NTRACE_F_HREPEAT, hrepeat);
	if (rcode == 0) {
		enc->icnt_halfwords = 0;
		enc->icnt_sent = true;
	}
	send(enc, &msg);
}

/* ---- Ownership ---- */

static void send_process(struct rvt_ntrace_encoder *enc, unsigned int format, uint64_t context)
{
	struct rvt_ntrace_msg msg;

	begin(&msg, RVT_NTRACE_OWNERSHIP);
	set(&msg, RVT_NTRACE_F_PROCESS,
	    context << 5 | (uint64_t)(enc->v & 1) << 4 | (enc->prv & 3) << 2 | format);
	send(enc, &msg);
}

void rvt_ntrace_send_ownership(struct rvt_ntrace_encoder *enc)
{
	bool hcontext = enc->hcontext_due && enc->hcontext_known;
	bool scontext = enc->scontext_due;
	bool privilege = enc->privilege_due;

	if (!enc->config.context || !enc->prv_known)
		return;
	enc->hcontext_due = enc->scontext_due = enc->privilege_due = false;
	/* 1.0: hcontext first; both carry the privilege mode */
	if (hcontext)
		send_process(enc, FORMAT_HCONTEXT, enc->hcontext);
	if (scontext)
		send_process(enc, FORMAT_SCONTEXT, enc->scontext);
	if (privilege && !hcontext && !scontext)
		send_process(enc, FORMAT_PRIVILEGE, 0);
}

/* ---- synchronisation ---- */

/* 1.0: every sync message resets the encoder. rc7, table "SYNC Field Values": these do not. */
static bool resets(const struct rvt_ntrace_encoder *enc, enum rvt_ntrace_sync sync)
{
	if (enc->config.dialect != RVT_DIALECT_NTRACE_RC7)
		return true;
	return sync != RVT_NTRACE_SYNC_EXT_TRIGGER && sync != RVT_NTRACE_SYNC_ICNT_FULL &&
	       sync != RVT_NTRACE_SYNC_TRACE_EVENT;
}

static void synced(struct rvt_ntrace_encoder *enc, enum rvt_ntrace_sync sync, uint64_t addr)
{
	/* the message has the I-CNT, too */
	enc->sync_due &= ~(1u << sync | 1u << RVT_NTRACE_SYNC_ICNT_FULL);
	if (quiet(enc))
		return;
	enc->ref = addr;
	enc->state = RVT_NTRACE_RUNNING;
	if (resets(enc, sync)) {
		enc->stack_depth = 0;
		enc->sync_units = 0;
		enc->sync_due &= ~(1u << RVT_NTRACE_SYNC_PERIODIC);
	} else if (enc->config.implicit_return_mode == 1) {
		/* 9.2: the counter is reset by whatever sync message, in rc7 too */
		enc->stack_depth = 0;
	}
	enc->hcontext_due = enc->scontext_due = true;
}

static void send_synced(struct rvt_ntrace_encoder *enc, struct rvt_ntrace_msg *msg,
			enum rvt_ntrace_sync sync, uint64_t addr)
{
	set(msg, RVT_NTRACE_F_SYNC, sync);
	set_addr(enc, msg, RVT_NTRACE_F_FADDR, addr);
	send(enc, msg);
	synced(enc, sync, addr);
}

void rvt_ntrace_send_direct_sync(struct rvt_ntrace_encoder *enc, enum rvt_ntrace_sync sync,
				 uint64_t target)
{
	struct rvt_ntrace_msg msg;

	begin(&msg, RVT_NTRACE_DIRECT_BRANCH_SYNC);
	set_icnt(enc, &msg);
	send_synced(enc, &msg, sync, target);
}

void rvt_ntrace_send_indirect_sync(struct rvt_ntrace_encoder *enc, enum rvt_ntrace_sync sync,
				   unsigned int btype, uint64_t target)
{
	uint64_t hist = in_htm(enc) ? rvt_ntrace_hist_take(enc) : 1;
	struct rvt_ntrace_msg msg;

	begin(&msg, hist == 1 ? RVT_NTRACE_INDIRECT_BRANCH_SYNC :
				RVT_NTRACE_INDIRECT_BRANCH_HIST_SYNC);
	set(&msg, RVT_NTRACE_F_BTYPE, btype);
	set(&msg, RVT_NTRACE_F_HIST, hist);
	set_icnt(enc, &msg);
	send_synced(enc, &msg, sync, target);
}

void rvt_ntrace_send_sync(struct rvt_ntrace_encoder *enc, enum rvt_ntrace_sync sync, uint64_t pc)
{
	uint64_t hist = in_htm(enc) ? rvt_ntrace_hist_take(enc) : 1;
	struct rvt_ntrace_msg msg;

	/* ProgTraceSync has no HIST; on linear code B-TYPE is 0 */
	begin(&msg, hist == 1 ? RVT_NTRACE_PROG_TRACE_SYNC : RVT_NTRACE_INDIRECT_BRANCH_HIST_SYNC);
	set(&msg, RVT_NTRACE_F_BTYPE, 0);
	set(&msg, RVT_NTRACE_F_HIST, hist);
	set_icnt(enc, &msg);
	send_synced(enc, &msg, sync, pc);
}

/* ---- branches ---- */

/* The branch message in @branch, unless it is the same again. */
static void send_branch(struct rvt_ntrace_encoder *enc, struct rvt_ntrace_last_branch *branch)
{
	struct rvt_ntrace_last_branch *last = &enc->last;
	struct rvt_ntrace_msg msg;

	branch->icnt = enc->icnt_halfwords;
	if (enc->config.bcnt_bits && last->valid && last->tcode == branch->tcode &&
	    last->btype == branch->btype && last->icnt == branch->icnt &&
	    last->hist == branch->hist && last->target == branch->target) {
		enc->icnt_halfwords = 0;
		enc->icnt_sent = true;
		if (++last->repeats == (UINT64_C(1) << enc->config.bcnt_bits) - 1)
			rvt_ntrace_send_repeats(enc);
		return;
	}
	begin(&msg, branch->tcode);
	set_icnt(enc, &msg);
	set(&msg, RVT_NTRACE_F_BTYPE, branch->btype);
	set(&msg, RVT_NTRACE_F_HIST, branch->hist);
	set_addr(enc, &msg, RVT_NTRACE_F_UADDR, branch->target ^ enc->ref);
	if (!send(enc, &msg))
		return;
	if (branch->tcode != RVT_NTRACE_DIRECT_BRANCH)
		enc->ref = branch->target;
	*last = *branch;
	last->valid = true;
	last->repeats = 0;
}

void rvt_ntrace_send_direct(struct rvt_ntrace_encoder *enc, uint64_t target)
{
	struct rvt_ntrace_last_branch branch = {
		.tcode = RVT_NTRACE_DIRECT_BRANCH, .hist = 1, .target = target,
	};

	send_branch(enc, &branch);
}

void rvt_ntrace_send_indirect(struct rvt_ntrace_encoder *enc, unsigned int btype, uint64_t target)
{
	struct rvt_ntrace_last_branch branch = { .btype = btype, .target = target };

	branch.hist = in_htm(enc) ? rvt_ntrace_hist_take(enc) : 1;
	branch.tcode = branch.hist == 1 ? RVT_NTRACE_INDIRECT_BRANCH :
					  RVT_NTRACE_INDIRECT_BRANCH_HIST;
	send_branch(enc, &branch);
}

void rvt_ntrace_send_correlation(struct rvt_ntrace_encoder *enc, enum rvt_ntrace_evcode evcode)
{
	uint64_t hist = in_htm(enc) ? rvt_ntrace_hist_take(enc) : 1;
	struct rvt_ntrace_msg msg;

	begin(&msg, RVT_NTRACE_PROG_TRACE_CORRELATION);
	set(&msg, RVT_NTRACE_F_EVCODE, evcode);
	/* in HTM even if HIST is empty */
	set(&msg, RVT_NTRACE_F_CDF, in_htm(enc));
	set_icnt(enc, &msg);
	set(&msg, RVT_NTRACE_F_HIST, hist);
	send(enc, &msg);
}

/* ---- loss ---- */

void rvt_ntrace_encoder_forget(struct rvt_ntrace_encoder *enc)
{
	enc->icnt_halfwords = 0;
	memset(&enc->hist, 0, sizeof(enc->hist));
	memset(&enc->last, 0, sizeof(enc->last));
	enc->owed = RVT_NTRACE_OWED_NOTHING;
	enc->stack_depth = 0;
	enc->icnt_sent = true;
}

bool rvt_ntrace_send_error(struct rvt_ntrace_encoder *enc)
{
	struct rvt_ntrace_msg msg;

	if (!enc->ecode)
		return true;
	if (enc->config.room && !enc->config.room(enc->config.ctx))
		return false;
	begin(&msg, RVT_NTRACE_ERROR);
	set(&msg, RVT_NTRACE_F_ETYPE, 0);
	set(&msg, RVT_NTRACE_F_ECODE, enc->ecode);
	if (!emit(enc, &msg))
		return false;
	enc->ecode = 0;
	return true;
}
