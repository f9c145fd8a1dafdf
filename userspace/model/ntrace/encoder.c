// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * What an encoder does with instructions (N-Trace chapters 9 and 10, with 1.0's corrections of
 * the rc7 text: HIST has 1 for taken, a return is reported if it does not match).
 *
 * An instruction that must be reported is owed until the next one is known; that next one, the
 * boundary, is also where sync messages go.
 */
#include <errno.h>
#include <stdlib.h>

#include "model/ntrace/encoder.h"

#define NTRACE_OPTIONS (RVT_OPT_SEQUENTIAL_JUMP | RVT_OPT_IMPLICIT_RETURN | \
			RVT_OPT_REPEATED_HISTORY | RVT_OPT_ALL_JUMPS | RVT_OPT_EXTEND_ADDRESS_MSB)
#define CTTE_OPTIONS (RVT_OPT_SEQUENTIAL_JUMP | RVT_OPT_IMPLICIT_RETURN | \
		      RVT_OPT_REPEATED_HISTORY | RVT_OPT_BRANCH_PREDICTION | \
		      RVT_OPT_JUMP_TARGET_CACHE)
#define MAX_STACK 32		/* of the standard */
/* trTeInstImplicitReturnMode 2 compares this many bits of a return address. */
#define PARTIAL_BITS 20

enum { BTYPE_JUMP = 0, BTYPE_EXCEPTION = 2, BTYPE_INTERRUPT = 3 };

static bool within(unsigned int value, unsigned int low, unsigned int high)
{
	return value >= low && value <= high;
}

/* SiFive counts calls only, repeats no branches, and sends addresses whole. */
static bool valid_sifive(const struct rvt_ntrace_encoder_config *c)
{
	if (c->options & RVT_OPT_IMPLICIT_RETURN && c->implicit_return_mode != 1)
		return false;
	return !c->bcnt_bits && !(c->options & RVT_OPT_EXTEND_ADDRESS_MSB);
}

/* CTTE compares returns as a whole; where branches are predicted nothing is repeated. */
static bool valid_ctte(const struct rvt_ntrace_encoder_config *c)
{
	const unsigned int of_htm = RVT_OPT_BRANCH_PREDICTION | RVT_OPT_JUMP_TARGET_CACHE;

	if ((c->options & RVT_OPT_IMPLICIT_RETURN && c->implicit_return_mode != 3) ||
	    (c->options & of_htm && c->mode != RVT_MODE_HTM))
		return false;
	return !(c->options & RVT_OPT_BRANCH_PREDICTION) ||
	       (!c->bcnt_bits && !(c->options & RVT_OPT_REPEATED_HISTORY));
}

static bool valid(const struct rvt_ntrace_encoder_config *c)
{
	const bool ctte = c->dialect == RVT_DIALECT_NTRACE_CTTE;
	const bool sifive = c->dialect == RVT_DIALECT_NTRACE_SIFIVE;

	if (c->dialect != RVT_DIALECT_NTRACE_RC7 && c->dialect != RVT_DIALECT_NTRACE_1_0 &&
	    !(sifive && valid_sifive(c)) && !(ctte && valid_ctte(c)))
		return false;
	if (c->mode != RVT_MODE_BTM && c->mode != RVT_MODE_HTM)
		return false;
	if (c->mode == RVT_MODE_HTM && !within(c->hist_bits, 2, RVT_NTRACE_MAX_HIST_BITS))
		return false;
	if ((c->xlen != 32 && c->xlen != 64) ||
	    c->options & ~(ctte ? CTTE_OPTIONS : NTRACE_OPTIONS))
		return false;
	if (c->options & RVT_OPT_IMPLICIT_RETURN &&
	    !(within(c->implicit_return_mode, 1, 3) &&
	      within(c->return_stack_depth, 1, sifive ? RVT_NTRACE_MAX_STACK : MAX_STACK)))
		return false;
	if (c->options & RVT_OPT_REPEATED_HISTORY &&
	    !within(c->hrepeat_bits, 2, RVT_NTRACE_MAX_REPEAT_BITS))
		return false;
	if (c->src_bits > RVT_NTRACE_MAX_SRC_BITS || c->src >> c->src_bits)
		return false;
	if (c->sync_mode > 3 || c->sync_max > 15 || c->bcnt_bits > RVT_NTRACE_MAX_REPEAT_BITS)
		return false;
	return within(c->icnt_bits, 4, RVT_NTRACE_MAX_ICNT_BITS) && c->emit &&
	       (c->now || c->timestamp == RVT_TIMESTAMP_NONE);
}

int rvt_ntrace_encoder_create(const struct rvt_ntrace_encoder_config *config,
			      struct rvt_ntrace_encoder **enc)
{
	struct rvt_ntrace_encoder *e;

	if (!valid(config))
		return -EINVAL;
	e = calloc(1, sizeof(*e));
	if (!e)
		return -ENOMEM;
	e->config = *config;
	e->addr_mask = config->xlen == 32 ? UINT32_MAX : UINT64_MAX;
	e->sync_period = UINT64_C(1) << (config->sync_max + 4);
	*enc = e;
	return 0;
}

void rvt_ntrace_encoder_destroy(struct rvt_ntrace_encoder *enc)
{
	free(enc);
}

bool rvt_ntrace_encoder_lossy(const struct rvt_ntrace_encoder *enc)
{
	return enc->ecode;
}

static bool option(const struct rvt_ntrace_encoder *enc, unsigned int opt)
{
	return enc->config.options & opt;
}

static bool rc7(const struct rvt_ntrace_encoder *enc)
{
	return enc->config.dialect == RVT_DIALECT_NTRACE_RC7;
}

/* ---- return stack ---- */

static void push(struct rvt_ntrace_encoder *enc, uint64_t addr)
{
	if (!option(enc, RVT_OPT_IMPLICIT_RETURN))
		return;
	enc->stack[enc->stack_top] = addr & enc->addr_mask;
	enc->stack_top = (enc->stack_top + 1) % enc->config.return_stack_depth;
	if (enc->stack_depth < enc->config.return_stack_depth)
		enc->stack_depth++;
}

static void pop(struct rvt_ntrace_encoder *enc)
{
	unsigned int size = enc->config.return_stack_depth;

	enc->predicted_valid = enc->stack_depth;
	if (!enc->stack_depth)
		return;
	enc->stack_depth--;
	enc->stack_top = (enc->stack_top + size - 1) % size;
	enc->predicted = enc->stack[enc->stack_top];
}

static bool return_is_implicit(const struct rvt_ntrace_encoder *enc, uint64_t pc)
{
	uint64_t difference = (enc->predicted ^ pc) & enc->addr_mask;

	if (!enc->predicted_valid)
		return false;
	switch (enc->config.implicit_return_mode) {
	case 1:
		return true;
	case 2:
		return !(difference & ((UINT64_C(1) << PARTIAL_BITS) - 1));
	default:
		return !difference;
	}
}

/* ---- boundaries ---- */

/* The most urgent synchronisation that is due; false if none is. */
static bool next_sync(const struct rvt_ntrace_encoder *enc, enum rvt_ntrace_sync *sync)
{
	static const enum rvt_ntrace_sync order[] = {
		RVT_NTRACE_SYNC_EXT_TRIGGER, RVT_NTRACE_SYNC_TRACE_EVENT,
		RVT_NTRACE_SYNC_REQUEST, RVT_NTRACE_SYNC_PERIODIC, RVT_NTRACE_SYNC_ICNT_FULL,
	};

	for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++) {
		if (enc->sync_due & 1u << order[i]) {
			*sync = order[i];
			return true;
		}
	}
	return false;
}

/* The instruction that owes something went to @pc. */
static void settle(struct rvt_ntrace_encoder *enc, uint64_t pc)
{
	enum rvt_ntrace_owed owed = enc->owed;
	enum rvt_ntrace_sync sync;

	enc->owed = RVT_NTRACE_OWED_NOTHING;
	if (owed == RVT_NTRACE_OWED_RETURN)
		owed = return_is_implicit(enc, pc) ? RVT_NTRACE_OWED_NOTHING :
						     RVT_NTRACE_OWED_INDIRECT;
	if (owed == RVT_NTRACE_OWED_NOTHING)
		return;
	if (next_sync(enc, &sync)) {
		if (owed == RVT_NTRACE_OWED_DIRECT)
			rvt_ntrace_send_direct_sync(enc, sync, pc);
		else
			rvt_ntrace_send_indirect_sync(enc, sync, BTYPE_JUMP, pc);
	} else if (owed == RVT_NTRACE_OWED_DIRECT) {
		rvt_ntrace_send_direct(enc, pc);
	} else {
		rvt_ntrace_send_indirect(enc, BTYPE_JUMP, pc);
	}
}

/* First message, or first after a loss. */
static void begin(struct rvt_ntrace_encoder *enc, uint64_t pc)
{
	bool restart = enc->state == RVT_NTRACE_LOSSY;

	if (!rvt_ntrace_send_error(enc))
		return;
	if (restart)
		rvt_ntrace_encoder_forget(enc);
	enc->state = RVT_NTRACE_RUNNING;
	if (!restart && rvt_ntrace_encoder_is_ctte(enc) && enc->config.configuration)
		rvt_ntrace_send_configuration(enc);
	rvt_ntrace_send_sync(enc, restart ? RVT_NTRACE_SYNC_FIFO_OVERRUN : enc->start_reason, pc);
}

static void check_period(struct rvt_ntrace_encoder *enc)
{
	if (enc->config.sync_mode && enc->sync_units >= enc->sync_period)
		enc->sync_due |= 1u << RVT_NTRACE_SYNC_PERIODIC;
}

static bool icnt_is_full(const struct rvt_ntrace_encoder *enc, uint32_t halfwords)
{
	uint64_t limit = UINT64_C(1) << enc->config.icnt_bits;

	if (!enc->icnt_halfwords)
		return false;
	/* rc7, 7.8: the top bit of the counter means that it is full */
	if (rc7(enc) && enc->icnt_halfwords >= limit / 2)
		return true;
	return enc->icnt_halfwords + halfwords >= limit;
}

static bool hist_is_empty(const struct rvt_ntrace_encoder *enc)
{
	return !enc->hist.n && !enc->hist.period;
}

/* @halfwords are about to be counted. */
static void make_icnt_room(struct rvt_ntrace_encoder *enc, uint32_t halfwords)
{
	if (!icnt_is_full(enc, halfwords))
		return;
	/* rc7, 8.4.4: ResourceFull if HIST is empty, else a sync message */
	if (rc7(enc) && enc->config.mode == RVT_MODE_HTM && !hist_is_empty(enc))
		enc->sync_due |= 1u << RVT_NTRACE_SYNC_ICNT_FULL;
	else
		rvt_ntrace_send_full(enc, 0, enc->icnt_halfwords, 0);
}

static bool tracing(const struct rvt_ntrace_encoder *enc)
{
	return enc->state != RVT_NTRACE_OFF;
}

/* Brings the encoder to RUNNING if that is possible. */
static bool resume(struct rvt_ntrace_encoder *enc, uint64_t pc)
{
	if (enc->state == RVT_NTRACE_STARTING || enc->state == RVT_NTRACE_LOSSY)
		begin(enc, pc);
	return enc->state == RVT_NTRACE_RUNNING;
}

static bool htm_of_ctte(const struct rvt_ntrace_encoder *enc)
{
	return rvt_ntrace_encoder_is_ctte(enc) && enc->config.mode == RVT_MODE_HTM;
}

/* CTTE: the synchronisation that is due waits until it is known where this branch leads. */
static bool is_branch_to_sync(const struct rvt_ntrace_encoder *enc, const struct rvt_retire *run)
{
	return htm_of_ctte(enc) && run->insns == 1 && run->itype == RVT_ITYPE_BRANCH_TAKEN;
}

/* Sync messages that no branch message could take along. */
static void sync_here(struct rvt_ntrace_encoder *enc, uint64_t pc)
{
	enum rvt_ntrace_sync sync;

	while (next_sync(enc, &sync))
		rvt_ntrace_send_sync(enc, sync, pc);
}

/* rc7 reports the privilege mode after each trap and trap return, 1.0 when it changes. */
static void set_privilege(struct rvt_ntrace_encoder *enc, uint8_t prv, uint8_t v, bool trap)
{
	if (enc->prv != prv || enc->v != v || (rc7(enc) && (trap || !enc->prv_known)))
		enc->privilege_due = true;
	enc->prv_known = true;
	enc->prv = prv;
	enc->v = v;
}

/* ---- instructions ---- */

/* A jalr whose register the instruction before loaded: both must be in one message. */
static bool is_sequential(const struct rvt_ntrace_encoder *enc, const struct rvt_retire *run,
			  bool icnt_sent)
{
	return option(enc, RVT_OPT_SEQUENTIAL_JUMP) && run->sijump &&
	       (run->insns > 1 || !icnt_sent);
}

static void branch(struct rvt_ntrace_encoder *enc, uint64_t pc, bool taken)
{
	enum rvt_ntrace_sync sync;

	if (htm_of_ctte(enc)) {
		check_period(enc);
		if (rvt_ntrace_ctte_branch(enc, pc, taken, next_sync(enc, &sync)))
			enc->owed = RVT_NTRACE_OWED_DIRECT;
	} else if (enc->config.mode == RVT_MODE_HTM)
		rvt_ntrace_hist_add(enc, taken);
	else if (taken)
		enc->owed = RVT_NTRACE_OWED_DIRECT;
}

static void direct_jump(struct rvt_ntrace_encoder *enc)
{
	if (option(enc, RVT_OPT_ALL_JUMPS))
		branch(enc, 0, true);
}

static void indirect_jump(struct rvt_ntrace_encoder *enc, bool sequential)
{
	if (!sequential)
		enc->owed = RVT_NTRACE_OWED_INDIRECT;
}

static void return_jump(struct rvt_ntrace_encoder *enc, bool sequential)
{
	enc->predicted_valid = false;
	if (option(enc, RVT_OPT_IMPLICIT_RETURN))
		pop(enc);
	if (!sequential)
		enc->owed = RVT_NTRACE_OWED_RETURN;
}

static void last_instruction(struct rvt_ntrace_encoder *enc, const struct rvt_retire *run,
			     bool sequential)
{
	uint64_t link = run->last_pc + 2 * run->last_halfwords;

	switch (run->itype) {
	case RVT_ITYPE_BRANCH_NOT_TAKEN:
	case RVT_ITYPE_BRANCH_TAKEN:
		branch(enc, run->last_pc, run->itype == RVT_ITYPE_BRANCH_TAKEN);
		break;
	case RVT_ITYPE_CALL:
		push(enc, link);
		direct_jump(enc);
		break;
	case RVT_ITYPE_JUMP:
	case RVT_ITYPE_JUMP_LINKED:
		direct_jump(enc);
		break;
	case RVT_ITYPE_IND_CALL:
		push(enc, link);
		indirect_jump(enc, sequential);
		break;
	case RVT_ITYPE_IND_JUMP:
	case RVT_ITYPE_IND_JUMP_LINKED:
		indirect_jump(enc, sequential);
		break;
	case RVT_ITYPE_COROUTINE:
		return_jump(enc, sequential);
		push(enc, link);
		break;
	case RVT_ITYPE_RETURN:
		return_jump(enc, sequential);
		break;
	case RVT_ITYPE_TRAP_RETURN:
		enc->owed = RVT_NTRACE_OWED_INDIRECT;
		/* known again when an instruction retires (or never, if that traps) */
		enc->prv_known = false;
		break;
	default:
		break;
	}
}

void rvt_ntrace_encoder_retire(struct rvt_ntrace_encoder *enc, const struct rvt_retire *retired)
{
	bool icnt_sent;

	if (!tracing(enc))
		return;
	set_privilege(enc, retired->prv, retired->v, false);
	enc->ctte.at_sync = false;
	if (enc->state != RVT_NTRACE_RUNNING && is_branch_to_sync(enc, retired))
		return;
	if (!resume(enc, retired->first_pc))
		return;
	check_period(enc);
	settle(enc, retired->first_pc);
	make_icnt_room(enc, retired->halfwords);
	if (!is_branch_to_sync(enc, retired))
		sync_here(enc, retired->first_pc);
	enc->ctte.at_sync &= retired->insns == 1;
	rvt_ntrace_send_ownership(enc);
	icnt_sent = enc->icnt_sent;
	if (enc->state != RVT_NTRACE_RUNNING)
		return;
	enc->icnt_sent = false;
	enc->icnt_halfwords += retired->halfwords;
	if (enc->config.sync_mode == 3)
		enc->sync_units += retired->halfwords;
	last_instruction(enc, retired, is_sequential(enc, retired, icnt_sent));
}

/* rc7 counts ecall and ebreak, which its itype table calls reported after retirement. */
static void count_trapped(struct rvt_ntrace_encoder *enc, const struct rvt_trap *trap)
{
	if (!rc7(enc) || trap->interrupt || !trap->ecall_halfwords)
		return;
	make_icnt_room(enc, trap->ecall_halfwords);
	sync_here(enc, trap->epc);
	enc->icnt_halfwords += trap->ecall_halfwords;
}

void rvt_ntrace_encoder_trap(struct rvt_ntrace_encoder *enc, const struct rvt_trap *trap)
{
	const uint32_t periodic = 1u << RVT_NTRACE_SYNC_PERIODIC;
	unsigned int btype = trap->interrupt ? BTYPE_INTERRUPT : BTYPE_EXCEPTION;
	enum rvt_ntrace_sync sync;

	if (!tracing(enc))
		return;
	if ((enc->state != RVT_NTRACE_RUNNING && htm_of_ctte(enc)) || !resume(enc, trap->epc)) {
		set_privilege(enc, trap->prv, trap->v, true);
		return;
	}
	check_period(enc);
	settle(enc, trap->epc);
	if (enc->sync_due & ~periodic && !htm_of_ctte(enc))
		sync_here(enc, trap->epc);
	rvt_ntrace_send_ownership(enc);
	count_trapped(enc, trap);
	if (htm_of_ctte(enc) && next_sync(enc, &sync))
		rvt_ntrace_send_indirect_sync(enc, sync, btype, trap->handler);
	else if (enc->sync_due & periodic)
		rvt_ntrace_send_indirect_sync(enc, RVT_NTRACE_SYNC_PERIODIC, btype, trap->handler);
	else
		rvt_ntrace_send_indirect(enc, btype, trap->handler);
	set_privilege(enc, trap->prv, trap->v, true);
	rvt_ntrace_send_ownership(enc);
}

/* ---- events ---- */

void rvt_ntrace_encoder_start(struct rvt_ntrace_encoder *enc, enum rvt_ntrace_sync sync)
{
	/* a reset while tracing: the first message tells how far it came (8.5, SYNC=1) */
	if (enc->state == RVT_NTRACE_RUNNING) {
		/* of a taken branch the target need not be known; it repeats no other message */
		if (enc->owed == RVT_NTRACE_OWED_DIRECT)
			rvt_ntrace_send_direct(enc, UINT64_MAX);
		enc->owed = RVT_NTRACE_OWED_NOTHING;
	} else {
		rvt_ntrace_encoder_forget(enc);
	}
	enc->start_reason = sync;
	enc->sync_due = 0;
	enc->sync_units = 0;
	enc->prv_known = false;
	enc->state = enc->ecode ? RVT_NTRACE_LOSSY : RVT_NTRACE_STARTING;
}

void rvt_ntrace_encoder_context(struct rvt_ntrace_encoder *enc, bool hcontext, uint64_t value)
{
	if (hcontext) {
		enc->hcontext = value;
		enc->hcontext_known = true;
		enc->hcontext_due = true;
	} else {
		enc->scontext = value;
		enc->scontext_due = true;
	}
}

void rvt_ntrace_encoder_mark(struct rvt_ntrace_encoder *enc, enum rvt_ntrace_sync sync)
{
	if (tracing(enc) &&
	    (sync == RVT_NTRACE_SYNC_EXT_TRIGGER || sync == RVT_NTRACE_SYNC_TRACE_EVENT ||
	     (sync == RVT_NTRACE_SYNC_REQUEST && rvt_ntrace_encoder_is_ctte(enc))))
		enc->sync_due |= 1u << sync;
}

void rvt_ntrace_encoder_clocks(struct rvt_ntrace_encoder *enc, uint64_t clocks)
{
	if (enc->config.sync_mode == 2)
		enc->sync_units += clocks;
}

void rvt_ntrace_encoder_stop(struct rvt_ntrace_encoder *enc, enum rvt_ntrace_evcode evcode,
			     uint64_t next_pc)
{
	if (enc->state == RVT_NTRACE_RUNNING) {
		settle(enc, next_pc);
		if (!htm_of_ctte(enc))
			sync_here(enc, next_pc);
	}
	if (enc->state != RVT_NTRACE_LOSSY || rvt_ntrace_send_error(enc)) {
		/* nothing has been counted unless it was running */
		if (enc->state != RVT_NTRACE_RUNNING)
			rvt_ntrace_encoder_forget(enc);
		enc->state = RVT_NTRACE_RUNNING;
		rvt_ntrace_send_correlation(enc, evcode);
	}
	enc->sync_due = 0;
	enc->state = RVT_NTRACE_OFF;
}
