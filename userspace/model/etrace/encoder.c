// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * E-Trace encoder: the pipe of previous, current and next instruction, and the decisions of the
 * reference algorithm's flow chart. It is fed straight lines; only the first and the last
 * instruction of a line are interesting.
 */
#include <errno.h>
#include <stdlib.h>
#include "model/etrace/encoder-state.h"

#define MAX_IRETS 255

/* What was sent for an instruction. */
enum sent {
	SENT_NOTHING,		/* or something without address */
	SENT_SYNC,
	SENT_ANYWAY,		/* its address, because it must be reported */
	SENT_EXPLICITLY,	/* its address, because of what follows or was asked for */
};

static bool options_fit(const struct rvt_params *p)
{
	bool predict = p->options & RVT_OPT_BRANCH_PREDICTION;
	bool cache = p->options & RVT_OPT_JUMP_TARGET_CACHE;

	if ((predict && !p->bpred_size_p) || (cache && !p->cache_size_p))
		return false;
	/* 0.029 has one kind of format 0 packets only. */
	return !predict || !cache || p->f0s_width_p || p->dialect == RVT_DIALECT_ETRACE_0_029;
}

/*
 * The standard support packet of 2.0.5 has 2, 3 or 4 bits for each size, and counts time by 16
 * bits.
 */
static bool standard_support_fits(const struct rvt_params *p)
{
	return p->f0s_width_p <= 3 && p->return_stack_size_p <= 7 && p->call_counter_size_p <= 15 &&
	       p->bpred_size_p <= 7 && p->cache_size_p <= 7 &&
	       (p->notime_p || (p->time_width_p && p->time_width_p % 16 == 0));
}

/*
 * Decoders must be able to read from a support packet what the encoder does: a bit stands for all
 * of its options. What has no bit is as the parameters say.
 */
static bool support_fits(const struct rvt_params *p)
{
	if (p->dialect == RVT_DIALECT_ETRACE_2_0_5)
		return standard_support_fits(p);
	for (unsigned int i = 0; i < p->n_ioptions; i++)
		if (p->options & p->ioptions[i] && p->ioptions[i] & ~p->options)
			return false;
	return true;
}

int rvt_etrace_encoder_create(const struct rvt_etrace_encoder_config *config,
			      struct rvt_etrace_encoder **result)
{
	const struct rvt_params *p = config->params;
	struct rvt_etrace_encoder *enc;
	int ret;

	*result = NULL;
	if (!config->emit || config->sync_mode > 3 || config->sync_max > 15 || config->flow > 3 ||
	    config->src >> p->srcid_bits)
		return -EINVAL;
	if (!options_fit(p) || !support_fits(p))
		return -EINVAL;
	enc = calloc(1, sizeof(*enc));
	if (!enc)
		return -ENOMEM;
	ret = rvt_etrace_codec_init(&enc->codec, p);
	if (ret)
		goto err_out;
	enc->config = *config;
	enc->config.params = &enc->codec.params;
	enc->options = p->options;
	enc->draft = p->dialect == RVT_DIALECT_ETRACE_0_029 ||
		     p->dialect == RVT_DIALECT_ETRACE_ESP32;
	enc->irets_mode = enc->codec.iret_ext;
	enc->codec.resync_disabled = p->dialect == RVT_DIALECT_ETRACE_2_0_5 && !config->sync_mode;
	enc->sync_period = 1ull << (config->sync_max + 4);
	ret = rvt_etrace_tables_create(enc);
	if (ret)
		goto err_out;
	enc->all_predicted = enc->predictor;
	*result = enc;
	return 0;
err_out:
	rvt_etrace_encoder_destroy(enc);
	return ret;
}

void rvt_etrace_encoder_destroy(struct rvt_etrace_encoder *enc)
{
	if (!enc)
		return;
	rvt_etrace_tables_destroy(enc);
	free(enc);
}

/* ---- the flow chart ---- */

/*
 * Something that a synchronisation packet cannot say is not reported yet. That includes that a
 * reported jump target was meant the second time round (6.6.2): a synchronisation packet that
 * follows would say that it was the first.
 */
static bool has_unreported(const struct rvt_etrace_encoder *enc)
{
	return enc->branches || enc->irets || enc->unconfirmed;
}

/* Uninferable in itself, whatever modes are on. */
static bool is_uninferable(const struct stage *cur)
{
	switch (cur->itype) {
	case RVT_ITYPE_TRAP_RETURN:
	case RVT_ITYPE_IND_CALL:
	case RVT_ITYPE_IND_JUMP:
	case RVT_ITYPE_COROUTINE:
	case RVT_ITYPE_RETURN:
	case RVT_ITYPE_IND_JUMP_LINKED:
		return !cur->absolute;
	default:
		return false;
	}
}

static bool must_report(struct rvt_etrace_encoder *enc, const struct stage *cur, enum next next)
{
	if (next == NEXT_TRAP || next == NEXT_END || cur->notify || rvt_etrace_count_full(enc))
		return true;
	return next != NEXT_PLAIN && has_unreported(enc);
}

static enum sent encode_sync(struct rvt_etrace_encoder *enc, const struct stage *cur)
{
	if (cur->after_trap && !enc->trap_reported)
		rvt_etrace_report_handler(enc, cur);
	else
		rvt_etrace_report_start(enc, cur);
	if (cur->after_trap)
		enc->trap_valid = enc->trap_reported = false;
	return SENT_SYNC;
}

/*
 * Reported imprecisely, between any two packets; unless it clears the return stack: then the
 * decoder must stand where the encoder does.
 */
static enum sent encode_context(struct rvt_etrace_encoder *enc, const struct stage *cur)
{
	bool clears = enc->codec.params.context_packet_returns == RVT_CONTEXT_PACKET_CLEARS &&
		      enc->depth_max;

	if (clears) {
		rvt_etrace_report_address(enc, cur, NEXT_PLAIN, true);
		enc->depth = 0;
	}
	rvt_etrace_report_context(enc);
	return clears ? SENT_EXPLICITLY : SENT_NOTHING;
}

static enum sent encode(struct rvt_etrace_encoder *enc, const struct stage *cur, enum next next)
{
	if (cur->after_trap || cur->first || cur->precise || cur->resync)
		return encode_sync(enc, cur);
	if (rvt_etrace_is_branch(cur))
		rvt_etrace_count_branch(enc, cur);
	if (cur->arrival >= ARRIVED_BY_JUMP) {
		rvt_etrace_report_address(enc, cur, next, false);
		return SENT_ANYWAY;
	}
	if (must_report(enc, cur, next)) {
		rvt_etrace_report_address(enc, cur, next, cur->notify);
		return SENT_EXPLICITLY;
	}
	if (rvt_etrace_branches_full(enc))
		rvt_etrace_report_branches(enc);
	else if (enc->context_pending)
		return encode_context(enc, cur);
	return SENT_NOTHING;
}

/* ---- from one instruction to the next ---- */

static enum arrival follow_return(struct rvt_etrace_encoder *enc, const struct stage *cur,
				  uint64_t target)
{
	unsigned int depth = enc->depth;
	uint64_t predicted = 0;
	bool found = rvt_etrace_returns_pop(enc, &predicted);

	if (cur->sijump)
		return ARRIVED_INFERABLY;
	if (!rvt_etrace_has_option(enc, RVT_OPT_IMPLICIT_RETURN))
		return ARRIVED_BY_JUMP;
	if (!found)
		return ARRIVED_BY_EMPTY_RETURN;
	if (!enc->counter_only && predicted != target)
		return ARRIVED_BY_WRONG_RETURN;
	if (enc->irets_mode && enc->irets == MAX_IRETS)
		return ARRIVED_BY_255TH_RETURN;
	enc->irets++;
	enc->returned_depths |= 1ull << depth % 64;
	enc->return_since_call = true;
	enc->branch_since_return = false;
	if (enc->cache && enc->codec.params.jump_cache_returns == RVT_JUMP_CACHE_ALL_RETURNS)
		enc->cache[rvt_etrace_cache_index(enc, cur->pc, target)] = target;
	return ARRIVED_BY_RETURN;
}

/* Where @cur went changes what the modes remember. */
static enum arrival leave(struct rvt_etrace_encoder *enc, const struct stage *cur, uint64_t target)
{
	switch (cur->itype) {
	case RVT_ITYPE_BRANCH_TAKEN:
	case RVT_ITYPE_BRANCH_NOT_TAKEN:
		rvt_etrace_visits_clear(enc);
		enc->branch_since_return = true;
		return ARRIVED_INFERABLY;
	case RVT_ITYPE_RETURN:
		return follow_return(enc, cur, target);
	case RVT_ITYPE_CALL:
	case RVT_ITYPE_IND_CALL:
		rvt_etrace_returns_push(enc, cur->pc + 2 * cur->halfwords);
		break;
	default:
		break;
	}
	return is_uninferable(cur) && !cur->sijump ? ARRIVED_BY_JUMP : ARRIVED_INFERABLY;
}

/*
 * 0.029 and 2.0 cannot tell which of several returns from the same depth, or which visit of the
 * same code, is meant when no branch lies between. Reporting the held instruction, like one for
 * which notification was requested, keeps the decoder in step.
 */
static void pin_held(struct rvt_etrace_encoder *enc)
{
	rvt_etrace_report_address(enc, &enc->held, NEXT_PLAIN, true);
}

/* @cur: the instruction that follows the held one, in @run. @from_depth_again: see below. */
static bool must_pin(const struct rvt_etrace_encoder *enc, const struct stage *cur,
		     const struct rvt_retire *run, bool from_depth_again)
{
	switch (cur->arrival) {
	case ARRIVED_BY_WRONG_RETURN:
		/* The decoder would take an earlier return, or an earlier visit, for this one. */
		return from_depth_again ||
		       rvt_etrace_visited(enc, &(struct range){ cur->pc, cur->pc });
	case ARRIVED_INFERABLY:
	case ARRIVED_BY_RETURN:
		/* Without an implicit return nothing is executed twice between two branches. */
		return enc->irets &&
		       rvt_etrace_visited(enc, &(struct range){ run->first_pc, run->last_pc });
	default:
		return false;
	}
}

static void leave_held(struct rvt_etrace_encoder *enc, enum sent sent, const struct rvt_retire *run,
		       struct stage *cur)
{
	unsigned int depth = enc->depth;
	bool again = enc->returned_depths >> depth % 64 & 1;

	cur->arrival = leave(enc, &enc->held, run->first_pc);
	cur->jump_pc = enc->held.pc;
	cur->irdepth = depth;
	if (enc->irets_mode || sent > SENT_NOTHING)
		return;
	if (must_pin(enc, cur, run, again)) {
		pin_held(enc);
		if (cur->arrival == ARRIVED_BY_RETURN) {
			enc->irets = 1;
			enc->returned_depths = 1ull << depth % 64;
		}
	}
}

/* 2.0 table "Privilege level (priv) encoding" */
static uint8_t privilege(const struct rvt_etrace_encoder *enc, uint8_t prv, uint8_t v)
{
	return v && enc->codec.params.privilege_width_p >= 3 ? 5 + prv : prv;
}

/*
 * A change of context waits until an inferable instruction: a synchronisation packet cannot say
 * that the target of a jump is meant, or a return was not to where the return stack says.
 */
static bool is_precise(const struct rvt_etrace_encoder *enc, uint8_t prv)
{
	return prv != enc->prv || (enc->context_changed && !is_uninferable(&enc->held));
}

/* The first instruction of @run enters the pipe; all before it leave. */
static struct stage enter(struct rvt_etrace_encoder *enc, const struct rvt_retire *run)
{
	struct stage cur = { .pc = run->first_pc, .prv = privilege(enc, run->prv, run->v) };

	if (enc->has_held) {
		bool precise = is_precise(enc, cur.prv);
		enum sent sent = encode(enc, &enc->held, precise ? NEXT_PRECISE : NEXT_PLAIN);

		leave_held(enc, sent, run, &cur);
		cur.precise = precise;
		enc->has_held = false;
	}
	cur.first = enc->first;
	cur.after_trap = enc->trap_valid;
	cur.notify = enc->mark;
	if (cur.first || cur.after_trap || cur.precise)
		enc->context_changed = false;
	enc->first = enc->mark = false;
	enc->prv = cur.prv;
	return cur;
}

static bool resync_due(struct rvt_etrace_encoder *enc, const struct rvt_retire *run)
{
	return enc->config.sync_mode && enc->sync_count >= enc->sync_period &&
	       /* a decoder that starts there would not know where it goes */
	       !(run->sijump && rvt_etrace_has_option(enc, RVT_OPT_SEQUENTIAL_JUMP));
}

static void restart(struct rvt_etrace_encoder *enc)
{
	enc->lossy = false;
	enc->has_held = enc->trap_valid = enc->trap_reported = false;
	enc->first = true;
	enc->n_requests = 0;
	rvt_etrace_report_support(enc, RVT_ETRACE_TRACE_LOST);
}

static bool is_working(struct rvt_etrace_encoder *enc)
{
	if (!enc->tracing)
		return false;
	if (enc->lossy && (!enc->config.room || enc->config.room(enc->config.ctx)))
		restart(enc);
	return !enc->lossy;
}

void rvt_etrace_encoder_retire(struct rvt_etrace_encoder *enc, const struct rvt_retire *run)
{
	struct stage cur;

	if (!is_working(enc))
		return;
	cur = enter(enc, run);
	if (enc->config.sync_mode == 3)
		enc->sync_count += run->halfwords;
	if (run->insns > 1) {
		bool sync = cur.first || cur.after_trap || cur.precise;
		bool resync = !sync && resync_due(enc, run);

		if (sync || resync || cur.notify || cur.arrival >= ARRIVED_BY_JUMP)
			encode(enc, &cur, resync ? NEXT_RESYNC : NEXT_PLAIN);
		cur = (struct stage){ .pc = run->last_pc, .prv = cur.prv, .resync = resync };
	}
	rvt_etrace_visits_add(enc, &(struct range){ run->first_pc, run->last_pc });
	cur.itype = run->itype;
	cur.halfwords = run->last_halfwords;
	/* The instruction that loads the register must have been traced. */
	cur.sijump = run->sijump && rvt_etrace_has_option(enc, RVT_OPT_SEQUENTIAL_JUMP) &&
		     !cur.first && !cur.after_trap;
	cur.absolute = run->absolute;
	enc->held = cur;
	enc->has_held = true;
}

/* ---- traps ---- */

/* Returns whether the decoder needs to be told where the trap happened. */
static bool report_last_before_trap(struct rvt_etrace_encoder *enc, uint64_t epc)
{
	bool uninferable = is_uninferable(&enc->held);

	encode(enc, &enc->held, NEXT_TRAP);
	leave(enc, &enc->held, epc);
	enc->has_held = false;
	return uninferable;
}

void rvt_etrace_encoder_trap(struct rvt_etrace_encoder *enc, const struct rvt_trap *trap)
{
	bool report = false;

	if (!is_working(enc))
		return;
	if (enc->has_held) {
		report = report_last_before_trap(enc, trap->epc);
	} else if (enc->trap_valid) {
		/* 0.029 cannot say that nothing of a handler retired: the trap is left out. */
		if (!enc->draft && !enc->trap_reported)
			rvt_etrace_report_trap(enc, enc->trap.handler);
	} else {
		report = true;
	}
	enc->trap = *trap;
	enc->trap_valid = true;
	enc->trap_reported = false;
	if (report && !enc->draft) {
		rvt_etrace_report_trap(enc, trap->epc);
		enc->trap_reported = true;
	}
	enc->prv = privilege(enc, trap->prv, trap->v);
}

/* ---- everything else ---- */

void rvt_etrace_encoder_context(struct rvt_etrace_encoder *enc, uint64_t value)
{
	if (!enc->config.context || value == enc->context)
		return;
	enc->context = value;
	if (enc->config.context_precise)
		enc->context_changed = true;
	else
		enc->context_pending = enc->tracing;
}

void rvt_etrace_encoder_mark(struct rvt_etrace_encoder *enc)
{
	enc->mark = true;
}

void rvt_etrace_encoder_clocks(struct rvt_etrace_encoder *enc, uint64_t clocks)
{
	if (enc->config.sync_mode == 2)
		enc->sync_count += clocks;
}

void rvt_etrace_encoder_start(struct rvt_etrace_encoder *enc)
{
	if (enc->tracing)
		return;
	enc->tracing = enc->first = true;
	enc->has_held = enc->trap_valid = enc->trap_reported = false;
	enc->mark = enc->context_changed = enc->context_pending = false;
	if (!enc->enabled && !enc->lossy) {
		enc->enabled = true;
		rvt_etrace_report_support(enc, RVT_ETRACE_NO_CHANGE);
	}
	enc->enabled = true;
}

void rvt_etrace_encoder_stop(struct rvt_etrace_encoder *enc, bool disabled)
{
	enum rvt_etrace_qual_status qual = RVT_ETRACE_ENDED_REP;
	bool tracing = enc->tracing;

	if (tracing && !enc->lossy) {
		rvt_etrace_data_flush(enc);
		if (enc->has_held && encode(enc, &enc->held, NEXT_END) == SENT_ANYWAY)
			qual = RVT_ETRACE_ENDED_NTR;
		if (enc->trap_valid && !enc->trap_reported && !enc->draft)
			rvt_etrace_report_trap(enc, enc->trap.handler);
	}
	enc->has_held = enc->trap_valid = enc->tracing = false;
	if (disabled)
		enc->enabled = false;
	if (enc->lossy && (!enc->config.room || enc->config.room(enc->config.ctx))) {
		enc->lossy = false;
		enc->n_requests = 0;
		qual = RVT_ETRACE_TRACE_LOST;
	}
	if (tracing || disabled)
		rvt_etrace_report_support(enc, tracing ? qual : RVT_ETRACE_NO_CHANGE);
}

bool rvt_etrace_encoder_lossy(const struct rvt_etrace_encoder *enc)
{
	return enc->lossy;
}

void rvt_etrace_encoder_stats(const struct rvt_etrace_encoder *enc,
			      struct rvt_etrace_encoder_stats *stats)
{
	*stats = enc->stats;
}
