// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * N-Trace decoder: messages that only CTTE has, and its synchronisation at branches.
 */
#include "ntrace/decoder-state.h"

#define ENAB_IMPLICIT_RETURN (1u << 0)
#define CAPS_ADDR64 (1u << 23)

static void on_data(struct rvt_ntrace_decoder *d, struct rvt_ntrace_source *s,
		    const struct rvt_ntrace_msg *msg)
{
	struct rvt_access access;
	struct rvt_event event = { .type = RVT_EVENT_ACCESS, .offset = msg->offset,
				   .access = &access };

	if (s->synced)
		rvt_ntrace_emit_time(d, s, msg);
	if (!d->ops.accesses || d->result)
		return;
	rvt_ntrace_data_access(&s->data, &d->params, msg, &access);
	d->stream.stats.accesses++;
	d->stream.stats.lost_accesses += !access.address_valid;
	rvt_ntrace_check(d, rvt_flow_event(s->flow, &event));
}

/* So many branches as predicted, then one that is not. */
static void on_prediction(struct rvt_ntrace_decoder *d, struct rvt_ntrace_source *s,
			  const struct rvt_ntrace_msg *msg)
{
	struct rvt_ntrace_ctte *ctte = s->ctte;

	if (!rvt_ntrace_is_running(d, s, msg) ||
	    !rvt_ntrace_settle_mode(d, s, msg, RVT_MODE_HTM))
		return;
	if (s->flowing && !ctte->predictor_known) {
		rvt_ntrace_lose(d, s, msg->offset, RVT_REASON_NO_SYNC, true,
				RVT_NTRACE_NOT_PREDICTABLE);
	} else if (s->flowing) {
		ctte->n_left = msg->field[RVT_NTRACE_F_BCNT] + 1;
		rvt_ntrace_walk_hist(d, s, msg);
		ctte->n_left = 0;
	}
	rvt_ntrace_emit_time(d, s, msg);
}

/* ---- the configuration ---- */

/* What contradicts the parameters. */
static void on_configuration(struct rvt_ntrace_decoder *d, struct rvt_ntrace_source *s,
			     const struct rvt_ntrace_msg *msg)
{
	const bool wide = msg->field[RVT_NTRACE_F_CAPS] & CAPS_ADDR64;
	const char *what = NULL;

	rvt_ntrace_emit_time(d, s, msg);
	s->data.xor = msg->field[RVT_NTRACE_F_ENAB] & RVT_NTRACE_ENAB_DATA_XOR;
	if (wide != (d->params.xlen == 64))
		what = wide ? "the encoder says that its addresses have 64 bits: xlen = 64" :
			      "the encoder says that its addresses have 32 bits: xlen = 32";
	else if (msg->field[RVT_NTRACE_F_ENAB] & ENAB_IMPLICIT_RETURN &&
		 !(d->run_flags & RVT_RUN_IMPLICIT_RETURN))
		what = "the encoder says that it leaves out returns: implicit_return_mode = 3";
	if (!what || d->result)
		return;
	d->stream.stats.errors++;
	rvt_ntrace_lose(d, s, msg->offset, RVT_REASON_BAD_PACKET, true, "%s", what);
}

bool rvt_ntrace_on_ctte(struct rvt_ntrace_decoder *d, struct rvt_ntrace_source *s,
			const struct rvt_ntrace_msg *msg)
{
	if (rvt_ntrace_is_data(msg)) {
		on_data(d, s, msg);
		return true;
	}
	switch (msg->field[RVT_NTRACE_F_TCODE]) {
	case RVT_NTRACE_CONFIGURATION:
		on_configuration(d, s, msg);
		return true;
	case RVT_NTRACE_BRANCH_PREDICTION:
		if (s->synced)
			on_prediction(d, s, msg);
		return s->synced;
	case RVT_NTRACE_INDIRECT_BRANCH_HIST:
		/* Its target, and so its entry, is not known. */
		if (!s->synced && !msg->field[RVT_NTRACE_F_BTYPE])
			rvt_ntrace_jump_cache_clear(&s->ctte->cache);
		return false;
	default:
		return false;
	}
}

/* ---- synchronisation ---- */

/* Runs so many half-words of what is reported. */
static int walk_part(struct rvt_ntrace_decoder *d, struct rvt_ntrace_source *s, uint64_t halfwords)
{
	const uint64_t before = s->hist.bits;
	const int stop = rvt_ntrace_walk_part(d, s, halfwords);

	if (stop >= 0 && !rvt_ntrace_predicts(s)) {
		s->hist.pattern >>= before - s->hist.bits;
		s->hist.n_bits -= before - s->hist.bits;
	}
	return stop;
}

/*
 * Runs all that is reported but the last instruction, which then is *insn, at *pc. False: there is
 * no such instruction.
 */
static bool walk_to_last(struct rvt_ntrace_decoder *d, struct rvt_ntrace_source *s, uint64_t *pc,
			 struct rvt_insn *insn)
{
	int stop = RVT_STOP_HALFWORDS;

	if (s->icnt > 2)
		stop = walk_part(d, s, s->icnt - 2);
	while (stop == RVT_STOP_HALFWORDS || stop == RVT_STOP_MID_INSN) {
		if (!s->icnt || !rvt_flow_pc(s->flow, pc) || rvt_flow_peek(s->flow, insn))
			return false;
		if (insn->len_bytes / 2u >= s->icnt)
			return insn->len_bytes / 2u == s->icnt;
		stop = walk_part(d, s, insn->len_bytes / 2);
	}
	return false;
}

/* A branch with which the encoder synchronised: it has no history, F-ADDR says where it went. */
static bool leads_to(const struct rvt_ntrace_msg *msg, uint64_t pc, const struct rvt_insn *insn,
		     uint64_t faddr)
{
	if (insn->iclass != RVT_INSN_BRANCH)
		return false;
	return msg->field[RVT_NTRACE_F_TCODE] == RVT_NTRACE_DIRECT_BRANCH_SYNC ||
	       pc + insn->offset == faddr;
}

bool rvt_ntrace_walk_synced(struct rvt_ntrace_decoder *d, struct rvt_ntrace_source *s,
			    const struct rvt_ntrace_msg *msg)
{
	const uint64_t faddr = rvt_ntrace_full_addr(&d->params, msg);
	struct rvt_insn insn;
	uint64_t pc;
	bool last;

	s->ctte->jumped = false;
	last = s->icnt && !s->ahead && !s->unanswered && walk_to_last(d, s, &pc, &insn);
	if (last && !s->hist.bits && leads_to(msg, pc, &insn, faddr)) {
		rvt_hist_set(&s->hist, 3, 1);
		s->ctte->jumped = true;
	} else if (last) {
		s->ctte->jumped = insn.iclass != RVT_INSN_SEQUENTIAL &&
				  insn.iclass != RVT_INSN_BRANCH;
	}
	return !d->result && rvt_ntrace_walk(d, s, msg, RVT_NTRACE_LAST_NOT_TAKEN);
}

/*
 * A synchronisation at a branch reports where that is; its outcome, which is that it was not taken,
 * is the first in the next HIST. (A taken one is part of the message; at the first instruction
 * after a reset it may be either.)
 */
void rvt_ntrace_ctte_synced(struct rvt_ntrace_source *s, const struct rvt_ntrace_msg *msg)
{
	const uint64_t tcode = msg->field[RVT_NTRACE_F_TCODE];

	s->ctte->sync_outcome = RVT_NTRACE_NO_SYNC_OUTCOME;
	if (!rvt_ntrace_predicts(s) || msg->field[RVT_NTRACE_F_SYNC] == RVT_NTRACE_SYNC_RESET_EXIT)
		return;
	if ((tcode == RVT_NTRACE_PROG_TRACE_SYNC ||
	     (tcode == RVT_NTRACE_INDIRECT_BRANCH_HIST_SYNC && !s->ctte->jumped)) &&
	    rvt_flow_branch_at(s->flow, s->reference))
		s->ctte->sync_outcome = RVT_NTRACE_SYNC_OUTCOME_DUE;
}
