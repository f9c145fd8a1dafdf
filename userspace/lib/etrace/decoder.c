// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * E-Trace decoder: what each packet means (0.029 chapter 9, 2.0 chapter "Decoder").
 */
#include <etrace/decoder-state.h>

/* Everything that is known to have retired is executed. */
static int settle(struct rvt_etrace_decoder *dec)
{
	bool known;
	uint64_t pc;
	int ret;

	if (!dec->started)
		return rvt_etrace_drop_trap(dec);
	ret = rvt_etrace_finish_pending(dec, &pc, &known);
	return ret ? ret : rvt_etrace_drop_trap(dec);
}

static uint64_t reported_address(const struct rvt_etrace_decoder *dec,
				 const struct rvt_etrace_msg *msg)
{
	return rvt_etrace_reported_address(dec, msg->field[RVT_ETRACE_F_ADDRESS], dec->address);
}

/* ---- formats 0, 1 and 2 ---- */

static void append_map(struct path *path, const struct rvt_etrace_msg *msg, unsigned int branches)
{
	uint64_t taken = ~msg->field[RVT_ETRACE_F_BRANCH_MAP] & rvt_etrace_mask(branches);

	path->map |= taken << path->map_bits;
	path->map_bits += branches;
}

/*
 * Returns where the engine stands, which is not the last reported address after a packet without
 * one.
 */
static uint64_t position(const struct rvt_etrace_decoder *dec)
{
	uint64_t pc = dec->address;

	rvt_flow_pc(dec->flow, &pc);
	return pc;
}

/* The branch at which the flow stands has this outcome. */
static struct path outcome(bool taken)
{
	return (struct path){ .map = taken, .map_bits = 1 };
}

static int on_map(struct rvt_etrace_decoder *dec, const struct rvt_etrace_msg *msg)
{
	struct path path = dec->carried;
	struct rvt_etrace_failure failure;
	int ret;

	append_map(&path, msg, 31);
	path.map_bits--;
	ret = rvt_etrace_follow_to_branch(dec, &path, &failure);
	if (ret < 0)
		return ret;
	if (ret == RVT_ETRACE_NOWHERE)
		return rvt_etrace_decoder_fail(dec, &failure);
	rvt_etrace_stand(dec, dec->address, outcome(path.map >> path.map_bits & 1));
	return 0;
}

/* Returns what is wrong with a message that has a branch count; NULL: nothing. */
static const char *refuse_count(const struct rvt_etrace_decoder *dec,
				const struct rvt_etrace_msg *msg)
{
	unsigned int limit = dec->codec.params.branch_count_limit;

	if (!rvt_etrace_has(msg, RVT_ETRACE_F_BRANCH_COUNT))
		return NULL;
	if (!dec->predictor_size)
		return "branch count without branch prediction";
	/* A damaged count would be followed round and round for minutes. */
	return limit && msg->field[RVT_ETRACE_F_BRANCH_COUNT] + 31 > limit ?
	       "branch count above the parameter branch_count_limit" : NULL;
}

static int on_count(struct rvt_etrace_decoder *dec, const struct rvt_etrace_msg *msg)
{
	struct path path = dec->carried;
	struct rvt_etrace_failure failure;
	uint64_t pc;
	int ret;

	path.predicted = msg->field[RVT_ETRACE_F_BRANCH_COUNT] + 31;
	ret = rvt_etrace_follow_to_branch(dec, &path, &failure);
	if (ret < 0)
		return ret;
	if (ret == RVT_ETRACE_NOWHERE)
		return rvt_etrace_decoder_fail(dec, &failure);
	rvt_flow_pc(dec->flow, &pc);
	rvt_etrace_stand(dec, dec->address, outcome(!rvt_flow_predicts(dec->flow, pc)));
	return 0;
}

static bool count_failed(const struct rvt_etrace_decoder *dec, const struct rvt_etrace_msg *msg)
{
	return dec->draft ? !msg->field[RVT_ETRACE_F_BPSUCCESS] :
			    msg->field[RVT_ETRACE_F_BRANCH_FMT] == 3;
}

/*
 * The way to an address, and the outcome of a branch there: that of a map's last bit, or (*open) as
 * predicted or not.
 */
static bool split_path(struct rvt_etrace_decoder *dec, const struct rvt_etrace_msg *msg,
		       uint64_t target, struct path *path, struct path *last)
{
	bool branch = rvt_flow_branch_at(dec->flow, target);

	*path = dec->carried;
	*last = (struct path){ .map_bits = 0 };
	if (msg->kind == RVT_ETRACE_COUNT_ADDRESS) {
		path->predicted = msg->field[RVT_ETRACE_F_BRANCH_COUNT] + 31;
		if (branch && !count_failed(dec, msg))
			path->predicted--;
		return branch;
	}
	if (rvt_etrace_has(msg, RVT_ETRACE_F_BRANCH_MAP))
		append_map(path, msg, msg->field[RVT_ETRACE_F_BRANCHES]);
	if (branch && path->map_bits) {
		path->map_bits--;
		*last = outcome(path->map >> path->map_bits & 1);
		path->map &= rvt_etrace_mask(path->map_bits);
	}
	return branch;
}

static int on_cache(struct rvt_etrace_decoder *dec, const struct rvt_etrace_msg *msg)
{
	struct path path = dec->carried, last;
	struct rvt_etrace_failure failure = {
		RVT_REASON_BAD_FLOW, "jump target index beyond the cache",
	};
	uint64_t target;
	int ret = RVT_ETRACE_NOWHERE;

	if (rvt_etrace_has(msg, RVT_ETRACE_F_BRANCH_MAP))
		append_map(&path, msg, msg->field[RVT_ETRACE_F_BRANCHES]);
	if (msg->field[RVT_ETRACE_F_INDEX] < dec->cache_size)
		ret = rvt_etrace_follow_cached(dec, &path, msg->field[RVT_ETRACE_F_INDEX],
					       &target, &last, &failure);
	if (ret < 0)
		return ret;
	if (ret == RVT_ETRACE_NOWHERE)
		return rvt_etrace_decoder_fail(dec, &failure);
	rvt_etrace_stand(dec, target, last);
	return 0;
}

static bool find_target(struct rvt_etrace_decoder *dec, const struct rvt_etrace_msg *msg,
			struct goal *goal, struct rvt_etrace_failure *failure)
{
	uint64_t index;

	failure->reason = RVT_REASON_BAD_FLOW;
	if (!rvt_etrace_has(msg, RVT_ETRACE_F_INDEX)) {
		goal->target = reported_address(dec, msg);
		return true;
	}
	index = msg->field[RVT_ETRACE_F_INDEX];
	failure->detail = "jump target cache entry is not known";
	if (index >= dec->cache_size || dec->cache[index] == 1)
		return false;
	goal->target = dec->cache[index];
	goal->by_jump_only = true;
	return true;
}

/*
 * After a stop at an address that was reached inferably (not by a notification, and not because the
 * predictor's count was full) the flow may have to go round once more: 6.6.2.
 */
static bool may_be_inferred(const struct rvt_etrace_msg *msg, int followed, bool branch)
{
	return followed == RVT_ETRACE_BY_PATH && !msg->notify && !branch;
}

static int on_address(struct rvt_etrace_decoder *dec, const struct rvt_etrace_msg *msg)
{
	struct rvt_event mark = { .type = RVT_EVENT_MARK };
	struct goal goal = {
		.notify = msg->notify, .updiscon = msg->updiscon, .irreport = msg->irreport,
		.ir = rvt_etrace_ir(msg),
	};
	struct rvt_etrace_failure failure;
	struct path path, last;
	bool branch;
	int ret;

	if (!find_target(dec, msg, &goal, &failure))
		return rvt_etrace_decoder_fail(dec, &failure);
	branch = split_path(dec, msg, goal.target, &path, &last);
	ret = rvt_etrace_follow(dec, &path, &goal, &failure);
	if (ret < 0)
		return ret;
	if (ret == RVT_ETRACE_NOWHERE)
		return rvt_etrace_decoder_fail(dec, &failure);
	if (branch && msg->kind == RVT_ETRACE_COUNT_ADDRESS)
		last = outcome(rvt_flow_predicts(dec->flow, goal.target) != count_failed(dec, msg));
	rvt_etrace_stand(dec, goal.target, last);
	dec->inferred = may_be_inferred(msg, ret, branch);
	dec->goal = goal;
	return msg->notify ? rvt_etrace_emit(dec, &mark) : 0;
}

/* An address packet that says nothing new; or the second time round a loop without branches. */
static bool is_repeat(const struct rvt_etrace_decoder *dec, const struct rvt_etrace_msg *msg)
{
	return msg->kind == RVT_ETRACE_ADDRESS && dec->pending && !dec->inferred &&
	       !msg->notify && !msg->updiscon && !msg->irreport && !dec->has_repeat &&
	       reported_address(dec, msg) == position(dec);
}

static int on_flow(struct rvt_etrace_decoder *dec, const struct rvt_etrace_msg *msg)
{
	struct rvt_etrace_failure failure;
	const char *wrong;
	int ret;

	if (!dec->started)
		return 0;
	if (dec->inferred) {
		ret = rvt_etrace_look_again(dec, &failure);
		if (ret < 0)
			return ret;
		if (ret == RVT_ETRACE_NOWHERE)
			return rvt_etrace_decoder_fail(dec, &failure);
	}
	wrong = refuse_count(dec, msg);
	if (wrong) {
		dec->stats->errors++;
		return rvt_etrace_decoder_gap(dec, RVT_REASON_BAD_FLOW, wrong);
	}
	switch (msg->kind) {
	case RVT_ETRACE_BRANCH_MAP:
		ret = on_map(dec, msg);
		break;
	case RVT_ETRACE_COUNT:
		ret = on_count(dec, msg);
		break;
	case RVT_ETRACE_CACHE:
	case RVT_ETRACE_CACHE_BRANCHES:
		ret = msg->irreport ? on_address(dec, msg) : on_cache(dec, msg);
		break;
	default:
		ret = on_address(dec, msg);
		break;
	}
	return ret ? ret : rvt_etrace_emit_time(dec);
}

/* ---- format 3, subformat 0 ---- */

/* After a change of context with discontinuity the path does not lead to the address. */
static bool is_discontinuity(const struct rvt_etrace_decoder *dec, const struct rvt_etrace_msg *msg,
			     uint64_t address)
{
	struct walk_goal goal = { .target = address, .has_target = true, .path = &dec->carried };
	enum rvt_etrace_walked walked;

	if (!rvt_etrace_has(msg, RVT_ETRACE_F_CONTEXT) || !dec->context.scontext_valid ||
	    msg->field[RVT_ETRACE_F_CONTEXT] == dec->context.scontext)
		return false;
	walked = rvt_etrace_walk(dec, position(dec), &goal);
	return walked == RVT_ETRACE_WALK_BRANCH;
}

static int restart(struct rvt_etrace_decoder *dec, const struct rvt_etrace_msg *msg,
		   uint64_t address)
{
	bool known;
	uint64_t pc;
	int ret = rvt_etrace_finish_pending(dec, &pc, &known);

	return ret ? ret : rvt_etrace_begin(dec, msg, address);
}

/*
 * 6.6.2 takes it that an instruction that is reported before a synchronisation packet was
 * reached for the first time. But without unreported branches none need be reported before a
 * change of privilege: then the report was that of a jump's target, unless it is the trap
 * return itself.
 */
static bool stands_before_trap_return(const struct rvt_etrace_decoder *dec)
{
	struct rvt_insn insn;

	return !rvt_flow_peek_at(dec->flow, dec->address, &insn) &&
	       insn.iclass == RVT_INSN_TRAP_RETURN;
}

static int on_start(struct rvt_etrace_decoder *dec, const struct rvt_etrace_msg *msg)
{
	struct goal goal = { .target = rvt_etrace_full_address(dec, msg), .sync = true };
	struct rvt_etrace_failure failure;
	struct path path = dec->carried;
	int ret;

	if (dec->trap.valid)
		return rvt_etrace_deliver_trap(dec, msg, &dec->trap.event, goal.target);
	if (!dec->started)
		return rvt_etrace_begin(dec, msg, goal.target);
	if (is_discontinuity(dec, msg, goal.target))
		return restart(dec, msg, goal.target);
	/* Privilege changes, without a trap, only by returning from one. */
	goal.by_jump_only = msg->field[RVT_ETRACE_F_PRIVILEGE] != dec->privilege;
	ret = RVT_ETRACE_BY_PATH;
	if (dec->inferred && goal.by_jump_only && !stands_before_trap_return(dec))
		ret = rvt_etrace_look_again(dec, &failure);
	if (ret >= 0 && ret != RVT_ETRACE_NOWHERE)
		ret = rvt_etrace_follow(dec, &path, &goal, &failure);
	if (ret < 0)
		return ret;
	if (ret == RVT_ETRACE_NOWHERE) {
		ret = rvt_etrace_decoder_fail(dec, &failure);
		return ret ? ret : rvt_etrace_begin(dec, msg, goal.target);
	}
	ret = rvt_etrace_emit_time(dec);
	return ret ? ret : rvt_etrace_sync(dec, msg, goal.target);
}

/* ---- format 3, subformats 2 and 3 ---- */

static int on_context(struct rvt_etrace_decoder *dec, const struct rvt_etrace_msg *msg)
{
	int ret = rvt_etrace_emit_time(dec);

	if (dec->codec.params.context_packet_returns == RVT_CONTEXT_PACKET_CLEARS)
		rvt_flow_clear_returns(dec->flow);
	return ret || !dec->started ? ret : rvt_etrace_change_context(dec, msg);
}

static int end_trace(struct rvt_etrace_decoder *dec, uint64_t qual)
{
	struct rvt_event stop = { .type = RVT_EVENT_STOP, .reason = RVT_REASON_DISABLED };
	const bool started = dec->started;
	struct rvt_etrace_failure failure;
	int ret = 0;

	if (qual == RVT_ETRACE_TRACE_LOST) {
		dec->stats->lost_reports++;
		return rvt_etrace_decoder_gap(dec, RVT_REASON_OVERFLOW, "the encoder lost packets");
	}
	if (!dec->started && !dec->trap.valid)
		return 0;
	if (dec->started && dec->inferred && qual == RVT_ETRACE_ENDED_NTR)
		ret = rvt_etrace_look_again(dec, &failure);
	if (ret == RVT_ETRACE_NOWHERE)
		return rvt_etrace_decoder_fail(dec, &failure);
	if (ret >= 0)
		ret = settle(dec);
	if (!ret)
		ret = rvt_etrace_emit_time(dec);
	/* It is not known where, if there was no code. */
	if (!ret && started == dec->started)
		ret = rvt_etrace_emit(dec, &stop);
	rvt_etrace_decoder_abandon(dec);
	return ret;
}

/* The encoder says that it dropped te_data packets. */
static int data_loss(struct rvt_etrace_decoder *dec)
{
	struct rvt_event mark = {
		.type = RVT_EVENT_MARK, .mark = RVT_MARK_LOST, .has_value = true,
		.value = RVT_MARK_LOST_DATA,
	};
	int ret = rvt_etrace_decoder_data_lost(dec);

	if (ret || !dec->codec.params.data_width_p)
		return ret;
	dec->stats->lost_reports++;
	return rvt_etrace_emit(dec, &mark);
}

static int on_support(struct rvt_etrace_decoder *dec, const struct rvt_etrace_msg *msg)
{
	const struct rvt_etrace_failure failure = {
		RVT_REASON_BAD_PACKET, "support packet with impossible values",
	};
	uint64_t qual = msg->field[RVT_ETRACE_F_QUAL_STATUS];
	int ret = 0;

	if (qual != RVT_ETRACE_NO_CHANGE || !msg->field[RVT_ETRACE_F_IENABLE])
		ret = end_trace(dec, qual);
	if (!ret && rvt_etrace_has(msg, RVT_ETRACE_F_DLOSS) && msg->field[RVT_ETRACE_F_DLOSS])
		ret = data_loss(dec);
	if (ret)
		return ret;
	if (rvt_etrace_codec_support(&dec->codec, msg))
		return rvt_etrace_decoder_fail(dec, &failure);
	return rvt_etrace_decoder_resize(dec);
}

/* ---- all ---- */

static int on_packet(struct rvt_etrace_decoder *dec, const struct rvt_etrace_msg *msg)
{
	rvt_etrace_note_time(dec, msg);
	switch (msg->kind) {
	case RVT_ETRACE_SYNC_START:
		return on_start(dec, msg);
	case RVT_ETRACE_SYNC_TRAP:
		return dec->draft ? rvt_etrace_on_trap_draft(dec, msg) :
				    rvt_etrace_on_trap(dec, msg);
	case RVT_ETRACE_SYNC_CONTEXT:
		return on_context(dec, msg);
	case RVT_ETRACE_SYNC_SUPPORT:
		return on_support(dec, msg);
	default:
		return on_flow(dec, msg);
	}
}

/* The way from the last instruction leads back to it, and no jump is needed to say so. */
static bool leads_back(const struct rvt_etrace_decoder *dec)
{
	const struct walk_goal goal = {
		.target = position(dec), .has_target = true, .path = &dec->carried,
	};

	return rvt_etrace_walk(dec, position(dec), &goal) == RVT_ETRACE_WALK_TARGET;
}

/*
 * An encoder may report the last instruction a second time when tracing ends. That is so if the way
 * from it does not lead back to it.
 */
static bool drops_repeat(const struct rvt_etrace_decoder *dec, const struct rvt_etrace_msg *next)
{
	return next->kind == RVT_ETRACE_SYNC_SUPPORT &&
	       next->field[RVT_ETRACE_F_QUAL_STATUS] == RVT_ETRACE_ENDED_REP && !leads_back(dec);
}

static int take_repeat(struct rvt_etrace_decoder *dec)
{
	const uint64_t offset = dec->offset;
	int ret;

	dec->has_repeat = false;
	dec->offset = dec->repeat.offset;
	ret = on_packet(dec, &dec->repeat);
	dec->offset = offset;
	return ret;
}

int rvt_etrace_decoder_packet(struct rvt_etrace_decoder *dec, const struct rvt_etrace_msg *msg)
{
	int ret = 0;

	dec->offset = msg->offset;
	if (dec->has_repeat) {
		if (!drops_repeat(dec, msg))
			ret = take_repeat(dec);
		dec->has_repeat = false;
	} else if (dec->started && is_repeat(dec, msg)) {
		dec->repeat = *msg;
		dec->has_repeat = true;
		return 0;
	}
	return ret ? ret : on_packet(dec, msg);
}

/* The next packet is not known: it may have been the one that makes drops_repeat() true. */
static int settle_all(struct rvt_etrace_decoder *dec)
{
	int ret = dec->has_repeat && leads_back(dec) ? take_repeat(dec) : 0;

	dec->has_repeat = false;
	return ret ? ret : settle(dec);
}

int rvt_etrace_decoder_gap(struct rvt_etrace_decoder *dec, enum rvt_reason reason,
			   const char *detail)
{
	int ret = settle_all(dec);

	if (!ret)
		ret = rvt_etrace_decoder_data_lost(dec);
	return ret ? ret : rvt_etrace_decoder_lose(dec, reason, detail);
}

int rvt_etrace_decoder_finish(struct rvt_etrace_decoder *dec)
{
	int ret = settle_all(dec);

	if (!ret)
		ret = rvt_etrace_decoder_data_lost(dec);
	return ret ? ret : rvt_flow_flush(dec->flow);
}
