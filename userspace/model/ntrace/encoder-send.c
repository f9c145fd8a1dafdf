// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* The encoder's messages and their fields. */
#include "model/ntrace/encoder.h"

/* PROCESS.FORMAT */
enum { FORMAT_PRIVILEGE = 0, FORMAT_SCONTEXT = 2, FORMAT_HCONTEXT = 3 };

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

	rvt_ntrace_set(msg, field, value);
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

static void set_icnt(struct rvt_ntrace_encoder *enc, struct rvt_ntrace_msg *msg)
{
	rvt_ntrace_set(msg, RVT_NTRACE_F_ICNT, enc->icnt_halfwords);
	enc->icnt_halfwords = 0;
	enc->icnt_sent = true;
}

/* ---- Ownership ---- */

static void send_process(struct rvt_ntrace_encoder *enc, uint64_t process)
{
	struct rvt_ntrace_msg msg;

	rvt_ntrace_begin(&msg, RVT_NTRACE_OWNERSHIP);
	rvt_ntrace_set(&msg, RVT_NTRACE_F_PROCESS, process);
	rvt_ntrace_send(enc, &msg);
}

static void send_context(struct rvt_ntrace_encoder *enc, unsigned int format, uint64_t context)
{
	send_process(enc, context << 5 | (uint64_t)(enc->v & 1) << 4 | (enc->prv & 3) << 2 |
			  format);
}

void rvt_ntrace_send_ownership(struct rvt_ntrace_encoder *enc)
{
	bool hcontext = enc->hcontext_due && enc->hcontext_known;
	bool scontext = enc->scontext_due;
	bool privilege = enc->privilege_due;

	if (!enc->config.context || !enc->prv_known)
		return;
	enc->hcontext_due = enc->scontext_due = enc->privilege_due = false;
	if (rvt_ntrace_encoder_is_sifive(enc)) {
		if (scontext)
			send_process(enc, enc->scontext);
		return;
	}
	/* 1.0: hcontext first; both carry the privilege mode */
	if (hcontext)
		send_context(enc, FORMAT_HCONTEXT, enc->hcontext);
	if (scontext)
		send_context(enc, FORMAT_SCONTEXT, enc->scontext);
	if (privilege && !hcontext && !scontext)
		send_context(enc, FORMAT_PRIVILEGE, 0);
}

/* ---- synchronisation ---- */

/*
 * 1.0: every sync message resets the encoder. rc7, table "SYNC Field Values": these do not. CTTE:
 * what comes after a reset, a pause, or an overflow.
 */
static bool resets(const struct rvt_ntrace_encoder *enc, enum rvt_ntrace_sync sync)
{
	if (rvt_ntrace_encoder_is_ctte(enc))
		return sync == RVT_NTRACE_SYNC_RESET_EXIT || sync == RVT_NTRACE_SYNC_DEBUG_EXIT ||
		       sync == RVT_NTRACE_SYNC_TRACE_ENABLE ||
		       sync == RVT_NTRACE_SYNC_FIFO_OVERRUN ||
		       sync == RVT_NTRACE_SYNC_POWER_DOWN_EXIT;
	if (enc->config.dialect != RVT_DIALECT_NTRACE_RC7)
		return true;
	return sync != RVT_NTRACE_SYNC_EXT_TRIGGER && sync != RVT_NTRACE_SYNC_ICNT_FULL &&
	       sync != RVT_NTRACE_SYNC_TRACE_EVENT;
}

static void synced(struct rvt_ntrace_encoder *enc, enum rvt_ntrace_sync sync, uint64_t addr)
{
	/* the message has the I-CNT, too */
	enc->sync_due &= ~(1u << sync | 1u << RVT_NTRACE_SYNC_ICNT_FULL);
	if (enc->state == RVT_NTRACE_LOSSY)
		return;
	enc->ref = addr;
	enc->state = RVT_NTRACE_RUNNING;
	enc->ctte.predicted = 0;
	if (rvt_ntrace_encoder_is_ctte(enc) && !resets(enc, sync)) {
		enc->sync_units = 0;
		enc->sync_due &= ~(1u << RVT_NTRACE_SYNC_PERIODIC);
	} else if (resets(enc, sync)) {
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
	rvt_ntrace_set(msg, RVT_NTRACE_F_SYNC, sync);
	set_addr(enc, msg, RVT_NTRACE_F_FADDR, addr);
	rvt_ntrace_send(enc, msg);
	synced(enc, sync, addr);
}

static void send_hist_sync(struct rvt_ntrace_encoder *enc, enum rvt_ntrace_sync sync,
			   unsigned int btype, uint64_t hist, uint64_t addr)
{
	struct rvt_ntrace_msg msg;

	rvt_ntrace_begin(&msg, RVT_NTRACE_INDIRECT_BRANCH_HIST_SYNC);
	rvt_ntrace_set(&msg, RVT_NTRACE_F_BTYPE, btype);
	rvt_ntrace_set(&msg, RVT_NTRACE_F_HIST, hist);
	set_icnt(enc, &msg);
	send_synced(enc, &msg, sync, addr);
}

/* HIST of a sync message; CTTE may send it before that. */
static uint64_t take_hist_for_sync(struct rvt_ntrace_encoder *enc)
{
	const uint64_t hist = in_htm(enc) ? rvt_ntrace_hist_take(enc) : 1;

	if (hist == 1 || !rvt_ntrace_encoder_is_ctte(enc) || enc->config.hist_sync)
		return hist;
	rvt_ntrace_send_full(enc, 1, hist, 0);
	return 1;
}

void rvt_ntrace_send_direct_sync(struct rvt_ntrace_encoder *enc, enum rvt_ntrace_sync sync,
				 uint64_t target)
{
	const uint64_t hist = take_hist_for_sync(enc);
	struct rvt_ntrace_msg msg;

	/* only CTTE sends it in HTM */
	if (hist != 1) {
		send_hist_sync(enc, sync, 0, hist, target);
		return;
	}

	rvt_ntrace_begin(&msg, RVT_NTRACE_DIRECT_BRANCH_SYNC);
	set_icnt(enc, &msg);
	send_synced(enc, &msg, sync, target);
}

void rvt_ntrace_send_indirect_sync(struct rvt_ntrace_encoder *enc, enum rvt_ntrace_sync sync,
				   unsigned int btype, uint64_t target)
{
	const uint64_t hist = take_hist_for_sync(enc);
	struct rvt_ntrace_msg msg;

	if (hist != 1) {
		send_hist_sync(enc, sync, btype, hist, target);
		return;
	}
	rvt_ntrace_begin(&msg, RVT_NTRACE_INDIRECT_BRANCH_SYNC);
	rvt_ntrace_set(&msg, RVT_NTRACE_F_BTYPE, btype);
	set_icnt(enc, &msg);
	send_synced(enc, &msg, sync, target);
}

void rvt_ntrace_send_sync(struct rvt_ntrace_encoder *enc, enum rvt_ntrace_sync sync, uint64_t pc)
{
	const uint64_t hist = take_hist_for_sync(enc);
	struct rvt_ntrace_msg msg;

	enc->ctte.at_sync = true;
	/* ProgTraceSync has no HIST; on linear code B-TYPE is 0 */
	if (hist != 1) {
		send_hist_sync(enc, sync, 0, hist, pc);
		return;
	}
	rvt_ntrace_begin(&msg, RVT_NTRACE_PROG_TRACE_SYNC);
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
	rvt_ntrace_begin(&msg, branch->tcode);
	set_icnt(enc, &msg);
	rvt_ntrace_set(&msg, RVT_NTRACE_F_BTYPE, branch->btype);
	rvt_ntrace_set(&msg, RVT_NTRACE_F_HIST, branch->hist);
	set_addr(enc, &msg, RVT_NTRACE_F_UADDR, branch->target ^ enc->ref);
	rvt_ntrace_set(&msg, RVT_NTRACE_F_JIDX, branch->index);
	if (!rvt_ntrace_send(enc, &msg))
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
	const bool htm_of_ctte = in_htm(enc) && rvt_ntrace_encoder_is_ctte(enc);

	branch.hist = in_htm(enc) ? rvt_ntrace_hist_take(enc) : 1;
	branch.tcode = branch.hist == 1 && !htm_of_ctte ? RVT_NTRACE_INDIRECT_BRANCH :
							  RVT_NTRACE_INDIRECT_BRANCH_HIST;
	if (htm_of_ctte && !btype && rvt_ntrace_ctte_cached(enc, target, &branch.index))
		branch.tcode = RVT_NTRACE_JUMP_TARGET_CACHE;
	send_branch(enc, &branch);
	enc->ctte.predicted = 0;
}

void rvt_ntrace_send_correlation(struct rvt_ntrace_encoder *enc, enum rvt_ntrace_evcode evcode)
{
	uint64_t hist = in_htm(enc) ? rvt_ntrace_hist_take(enc) : 1;
	struct rvt_ntrace_msg msg;

	rvt_ntrace_begin(&msg, RVT_NTRACE_PROG_TRACE_CORRELATION);
	rvt_ntrace_set(&msg, RVT_NTRACE_F_EVCODE, evcode);
	/* in HTM even if HIST is empty */
	rvt_ntrace_set(&msg, RVT_NTRACE_F_CDF, in_htm(enc));
	enc->ctte.predicted = 0;
	set_icnt(enc, &msg);
	rvt_ntrace_set(&msg, RVT_NTRACE_F_HIST, hist);
	rvt_ntrace_send(enc, &msg);
}
