// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * N-Trace: from I-CNT, HIST and addresses to orders for the flow engine, and what to say when they
 * contradict the program.
 */
#include <errno.h>
#include <inttypes.h>
#include "ntrace/decoder-state.h"

/* A contradiction. @resync: nothing up to the next sync can be trusted; else the address can. */
#define CONTRADICT_TO(d, s, msg, resync, ...) \
	((d)->stream.stats.errors++, \
	 rvt_ntrace_lose(d, s, (msg)->offset, RVT_REASON_BAD_FLOW, resync, __VA_ARGS__))
#define CONTRADICT(d, s, msg, ...) CONTRADICT_TO(d, s, msg, true, __VA_ARGS__)

/* ---- walking ---- */

/* So many half-words were executed. */
static void pass(struct rvt_ntrace_source *s, uint64_t halfwords)
{
	uint64_t reported = halfwords < s->icnt ? halfwords : s->icnt;

	s->icnt -= reported;
	s->ahead += halfwords - reported;
	s->moved |= halfwords;
}

/* Runs with the outcomes of s->hist until something stops it. An enum rvt_stop, or negative. */
static int walk(struct rvt_ntrace_decoder *d, struct rvt_ntrace_source *s, uint32_t flags,
		uint64_t max_halfwords)
{
	const bool predicts = rvt_ntrace_predicts(s);
	struct rvt_order order = {
		.flags = flags,
		.n_outcomes = s->hist.bits,
		.refill = rvt_hist_refill,
		.refill_ctx = &s->hist,
		.period = s->hist.period,
		.max_halfwords = max_halfwords,
		.max_insns = RVT_UNLIMITED,
	};
	int stop;

	if (predicts)
		rvt_ntrace_predict(s, &order);
	else
		order.outcomes = rvt_hist_begin(&s->hist);
	stop = rvt_flow_run(s->flow, &order);
	if (stop < 0) {
		int ret = rvt_flow_flush(s->flow);

		rvt_ntrace_check(d, ret ? ret : stop);
		return stop;
	}
	pass(s, order.halfwords);
	if (!predicts)
		s->hist.bits -= order.used_outcomes;
	return stop;
}

static uint32_t mode_flags(const struct rvt_ntrace_source *s, enum rvt_ntrace_last last)
{
	if (s->mode != RVT_MODE_BTM)
		return 0;
	return RVT_RUN_NOT_TAKEN | (last == RVT_NTRACE_LAST_TAKEN ? RVT_RUN_LAST_TAKEN : 0);
}

/*
 * A branch without history while the mode is not settled. In HTM any message would have brought its
 * history, save ProgTraceSync, which drops it: then only what is ahead can tell.
 */
static bool tells_btm(const struct rvt_ntrace_decoder *d, const struct rvt_ntrace_source *s,
		      const struct rvt_ntrace_msg *msg)
{
	unsigned int src = d->params.src_bits ? msg->field[RVT_NTRACE_F_SRC] : 0;

	if (s->mode_settled || s->mode == RVT_MODE_BTM || s->hist.bits ||
	    rvt_ntrace_predicts(s))
		return false;
	return msg->field[RVT_NTRACE_F_TCODE] != RVT_NTRACE_PROG_TRACE_SYNC ||
	       rvt_ntrace_mode_ahead(d, s, src) == RVT_MODE_BTM;
}

/* Reports what stopped the walk too early. */
static void report_stop(struct rvt_ntrace_decoder *d, struct rvt_ntrace_source *s,
			const struct rvt_ntrace_msg *msg, int stop)
{
	enum rvt_insn_class iclass = RVT_INSN_SEQUENTIAL;
	uint64_t pc = 0, last = 0, icnt = s->icnt;

	rvt_flow_pc(s->flow, &pc);
	rvt_flow_last(s->flow, &last, &iclass);
	switch (stop) {
	case RVT_STOP_NO_CODE:
		rvt_ntrace_lose(d, s, msg->offset, RVT_REASON_NO_CODE, false,
				"no code at 0x%" PRIx64, pc);
		break;
	case RVT_STOP_BAD_INSN:
		rvt_ntrace_lose(d, s, msg->offset, RVT_REASON_BAD_INSN, false,
				"no instruction at 0x%" PRIx64, pc);
		break;
	case RVT_STOP_MID_INSN:
		CONTRADICT(d, s, msg, "I-CNT ends inside the instruction at 0x%" PRIx64, pc);
		break;
	case RVT_STOP_OUTCOME:
		if (s->hist.bits || s->mode == RVT_MODE_BTM)
			CONTRADICT(d, s, msg, "the jump at 0x%" PRIx64 " was not reported", pc);
		else if (rvt_ntrace_predicts(s))
			rvt_ntrace_lose(d, s, msg->offset, RVT_REASON_NO_SYNC, true,
					RVT_NTRACE_NOT_PREDICTABLE);
		else if (s->ctte)
			CONTRADICT(d, s, msg, "no history for the branch at 0x%" PRIx64 ": are "
				   "branches predicted (options = branch_prediction)?", pc);
		else
			CONTRADICT(d, s, msg, "no history for the branch at 0x%" PRIx64, pc);
		break;
	case RVT_STOP_TARGET:
		if (s->resumed && (iclass == RVT_INSN_RETURN || iclass == RVT_INSN_COROUTINE)) {
			rvt_ntrace_lose(d, s, msg->offset, RVT_REASON_NO_CODE, false,
					"0x%" PRIx64 " returns to a call for which there was "
					"no code", last);
			break;
		}
		CONTRADICT(d, s, msg, "0x%" PRIx64 " jumps where only a message can tell, but "
			   "I-CNT has %" PRIu64 " more and HIST %" PRIu64, last, icnt,
			   s->hist.bits);
		break;
	case RVT_STOP_TRAP_INSN:
		CONTRADICT(d, s, msg, "the instruction at 0x%" PRIx64 " never retires, but I-CNT "
			   "has %" PRIu64 " more", pc, icnt);
		break;
	default:
		if (s->ctte && s->ctte->n_left) {
			CONTRADICT(d, s, msg, "BranchPrediction has %" PRIu64 " branches more than "
				   "the program has up to 0x%" PRIx64, s->ctte->n_left, pc);
			break;
		}
		CONTRADICT(d, s, msg, "HIST has %" PRIu64 " bits more than the program has "
			   "branches up to 0x%" PRIx64, s->hist.bits, pc);
		break;
	}
}

int rvt_ntrace_walk_part(struct rvt_ntrace_decoder *d, struct rvt_ntrace_source *s,
			 uint64_t halfwords)
{
	return walk(d, s, d->run_flags, halfwords);
}

/* Runs all that I-CNT has reported. */
static int walk_reported(struct rvt_ntrace_decoder *d, struct rvt_ntrace_source *s,
			 enum rvt_ntrace_last last)
{
	return walk(d, s, d->run_flags | mode_flags(s, last), s->icnt);
}

bool rvt_ntrace_walk(struct rvt_ntrace_decoder *d, struct rvt_ntrace_source *s,
		     const struct rvt_ntrace_msg *msg, enum rvt_ntrace_last last)
{
	int stop;

	if (s->ahead) {
		CONTRADICT(d, s, msg,
			   "HIST of ResourceFull led %" PRIu64 " half-words beyond I-CNT",
			   s->ahead);
		return false;
	}
	/* Nothing to execute: an indirect jump may still wait for its target. */
	if (!s->icnt && !s->hist.bits)
		return true;
	if (s->unanswered) {
		report_stop(d, s, msg, RVT_STOP_TARGET);
		return false;
	}
	stop = walk_reported(d, s, last);
	if (stop == RVT_STOP_OUTCOME && tells_btm(d, s, msg)) {
		s->mode = RVT_MODE_BTM;
		s->mode_settled = true;
		stop = walk_reported(d, s, last);
	}
	if (stop < 0)
		return false;
	if (!s->icnt && !s->hist.bits &&
	    (stop == RVT_STOP_HALFWORDS || stop == RVT_STOP_TARGET || stop == RVT_STOP_TRAP_INSN)) {
		s->unanswered = stop == RVT_STOP_TARGET;
		return true;
	}
	report_stop(d, s, msg, stop);
	return false;
}

void rvt_ntrace_walk_hist(struct rvt_ntrace_decoder *d, struct rvt_ntrace_source *s,
			  const struct rvt_ntrace_msg *msg)
{
	/* Whether an ecall right behind the last branch was come to, I-CNT will tell. */
	const uint32_t flags = (d->run_flags & ~RVT_RUN_ECALL_COUNTS) | RVT_RUN_STOP_USED;
	const uint64_t room = s->ahead < RVT_NTRACE_MAX_AHEAD ? RVT_NTRACE_MAX_AHEAD - s->ahead : 0;
	int stop;

	if (!s->hist.bits && !(s->ctte && s->ctte->n_left))
		return;
	stop = s->unanswered ? RVT_STOP_TARGET : walk(d, s, flags, s->icnt + room);
	/* What is behind the last branch is none of its business. */
	if (stop >= 0 && (s->hist.bits || (s->ctte && s->ctte->n_left)))
		report_stop(d, s, msg, stop);
}

void rvt_ntrace_drain(struct rvt_ntrace_decoder *d, struct rvt_ntrace_source *s)
{
	if (s->flowing && !s->unanswered && s->icnt)
		walk_reported(d, s, RVT_NTRACE_LAST_NOT_TAKEN);
	rvt_ntrace_forget(s);
}

/* ---- arriving ---- */

bool rvt_ntrace_last_was_branch(const struct rvt_ntrace_decoder *d,
				const struct rvt_ntrace_source *s)
{
	enum rvt_insn_class iclass;
	uint64_t pc;

	if (!s->moved || !rvt_flow_last(s->flow, &pc, &iclass))
		return false;
	switch (iclass) {
	case RVT_INSN_BRANCH:
		return true;
	case RVT_INSN_JUMP:
	case RVT_INSN_JUMP_LINKED:
	case RVT_INSN_CALL:
		return d->run_flags & RVT_RUN_ALL_JUMPS;
	default:
		return false;
	}
}

/* Whether the last instruction can have gone to an address that only a message tells. */
static bool last_may_jump(const struct rvt_ntrace_source *s)
{
	enum rvt_insn_class iclass;
	struct rvt_insn insn;
	uint64_t pc;

	if (!s->moved || !rvt_flow_last(s->flow, &pc, &iclass))
		return false;
	switch (iclass) {
	case RVT_INSN_IND_CALL:
	case RVT_INSN_IND_JUMP:
	case RVT_INSN_IND_JUMP_LINKED:
	case RVT_INSN_COROUTINE:
	case RVT_INSN_RETURN:
	case RVT_INSN_TRAP_RETURN:
		return true;
	case RVT_INSN_JUMP:
	case RVT_INSN_CALL:
		/* Zcmt: an encoder may not know the table */
		return !rvt_flow_peek_at(s->flow, pc, &insn) && insn.flags & RVT_INSN_F_TABLE;
	default:
		/* chapter 10.1.1: a custom instruction that jumped */
		return !rvt_flow_peek_at(s->flow, pc, &insn) && insn.flags & RVT_INSN_F_CUSTOM;
	}
}

/* A branch at the end of a BTM stretch: the sync's address tells where it went. */
static bool last_branch_leads_to(const struct rvt_ntrace_source *s, uint64_t target)
{
	enum rvt_insn_class iclass;
	struct rvt_insn insn;
	uint64_t pc;

	return s->mode == RVT_MODE_BTM && s->moved && rvt_flow_last(s->flow, &pc, &iclass) &&
	       iclass == RVT_INSN_BRANCH && !rvt_flow_peek_at(s->flow, pc, &insn) &&
	       (pc + insn.offset == target || pc + insn.len_bytes == target);
}

static void go_on_at(struct rvt_ntrace_decoder *d, struct rvt_ntrace_source *s, uint64_t pc)
{
	s->unanswered = false;
	s->moved = false;
	rvt_ntrace_check(d, rvt_flow_jump(s->flow, pc));
}

static void start(struct rvt_ntrace_decoder *d, struct rvt_ntrace_source *s, uint64_t offset,
		  uint64_t pc)
{
	s->flowing = true;
	s->stopped = false;
	s->unanswered = false;
	s->moved = false;
	rvt_ntrace_check(d, rvt_flow_start(s->flow, pc, offset, true));
}

static void trap(struct rvt_ntrace_decoder *d, struct rvt_ntrace_source *s,
		 const struct rvt_ntrace_msg *msg, uint32_t btype, uint64_t handler)
{
	struct rvt_event event = {
		.type = RVT_EVENT_TRAP, .offset = msg->offset, .target = handler,
		.interrupt = btype == 3,
	};

	if (s->unanswered) {
		/* The jump's own message is missing: where it went is not known. */
		CONTRADICT_TO(d, s, msg, false,
			      "a trap follows an indirect jump whose target is missing");
		start(d, s, msg->offset, handler);
		return;
	}
	rvt_flow_pc(s->flow, &event.pc);
	s->moved = false;
	rvt_ntrace_check(d, rvt_flow_trap(s->flow, &event));
}

void rvt_ntrace_arrive(struct rvt_ntrace_decoder *d, struct rvt_ntrace_source *s,
		       const struct rvt_ntrace_msg *msg, uint32_t btype, uint64_t target)
{
	enum rvt_insn_class iclass;
	uint64_t pc = 0;

	if (btype) {
		trap(d, s, msg, btype, target);
	} else if (s->unanswered || last_may_jump(s)) {
		go_on_at(d, s, target);
	} else {
		rvt_flow_last(s->flow, &pc, &iclass);
		CONTRADICT(d, s, msg, "an indirect jump is reported, but the instruction at "
			   "0x%" PRIx64 " is none", pc);
	}
}

/* The SYNC codes with which tracing begins anew. */
static bool begins_anew(uint64_t sync, enum rvt_reason *reason)
{
	switch (sync) {
	case RVT_NTRACE_SYNC_RESET_EXIT:
		*reason = RVT_REASON_NONE;
		return true;
	case RVT_NTRACE_SYNC_DEBUG_EXIT:
		*reason = RVT_REASON_DEBUG;
		return true;
	case RVT_NTRACE_SYNC_TRACE_ENABLE:
		*reason = RVT_REASON_DISABLED;
		return true;
	case RVT_NTRACE_SYNC_POWER_DOWN_EXIT:
		*reason = RVT_REASON_LOW_POWER;
		return true;
	default:
		return false;
	}
}

/* The last instruction is one: CTTE gives a sync there the B-TYPE of an interrupt. */
static bool is_trap_return(const struct rvt_ntrace_source *s)
{
	enum rvt_insn_class iclass;
	uint64_t pc;

	return s->unanswered && rvt_flow_last(s->flow, &pc, &iclass) &&
	       iclass == RVT_INSN_TRAP_RETURN;
}

/* The flow has a pc, and the sync says that it is at @faddr now. */
static void pass_sync(struct rvt_ntrace_decoder *d, struct rvt_ntrace_source *s,
		      const struct rvt_ntrace_msg *msg, uint64_t faddr)
{
	uint64_t sync = msg->field[RVT_NTRACE_F_SYNC], pc = 0;
	struct rvt_event stop = { .type = RVT_EVENT_STOP, .offset = msg->offset };
	uint32_t btype = rvt_ntrace_has(msg, RVT_NTRACE_F_BTYPE) ?
			 msg->field[RVT_NTRACE_F_BTYPE] : 0;

	rvt_flow_pc(s->flow, &pc);
	if (sync == RVT_NTRACE_SYNC_FIFO_OVERRUN && !s->flow_kept) {
		rvt_ntrace_lose(d, s, msg->offset, RVT_REASON_OVERFLOW, false,
				"the encoder restarts after an overflow");
		start(d, s, msg->offset, faddr);
	} else if (begins_anew(sync, &stop.reason)) {
		rvt_ntrace_forget(s);
		s->context = (struct rvt_context){};
		if (rvt_ntrace_check(d, rvt_flow_event(s->flow, &stop)))
			start(d, s, msg->offset, faddr);
	} else if (btype && !(s->ctte && is_trap_return(s))) {
		trap(d, s, msg, btype, faddr);
	} else if (s->unanswered || pc == faddr || last_may_jump(s) ||
		   last_branch_leads_to(s, faddr)) {
		go_on_at(d, s, faddr);
	} else {
		/* not CONTRADICT: this message is the sync that goes on */
		d->stream.stats.errors++;
		rvt_ntrace_lose(d, s, msg->offset, RVT_REASON_BAD_FLOW, false,
				"flow reached 0x%" PRIx64 ", but the synchronisation is at "
				"0x%" PRIx64, pc, faddr);
		start(d, s, msg->offset, faddr);
	}
}

void rvt_ntrace_arrive_sync(struct rvt_ntrace_decoder *d, struct rvt_ntrace_source *s,
			    const struct rvt_ntrace_msg *msg, bool walked, uint64_t faddr)
{
	uint64_t sync = msg->field[RVT_NTRACE_F_SYNC];
	bool marker = sync == RVT_NTRACE_SYNC_EXT_TRIGGER || sync == RVT_NTRACE_SYNC_TRACE_EVENT;
	struct rvt_event mark = {
		.type = RVT_EVENT_MARK, .offset = msg->offset,
		.mark = sync == RVT_NTRACE_SYNC_EXT_TRIGGER ? RVT_MARK_TRIGGER : RVT_MARK_EVENT,
	};

	if (walked)
		pass_sync(d, s, msg, faddr);
	else
		start(d, s, msg->offset, faddr);
	if (rvt_ntrace_resets(d->params.dialect, msg))
		rvt_flow_clear_returns(s->flow);
	if (marker && !d->result)
		rvt_ntrace_check(d, rvt_flow_event(s->flow, &mark));
}
