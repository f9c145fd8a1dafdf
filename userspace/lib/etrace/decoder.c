// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * E-Trace decoder: what each packet means (0.029 chapter 9, 2.0 chapter "Decoder").
 */
#include <stdlib.h>
#include <string.h>
#include <etrace/decoder.h>

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
	dec->draft = params->dialect == RVT_DIALECT_ETRACE_0_029;
	dec->lost = true;
	dec->return_depth = ~0u;
	ret = rvt_etrace_codec_init(&dec->codec, params);
	if (ret || !flow)
		return ret;
	return rvt_etrace_decoder_resize(dec);
}

void rvt_etrace_decoder_fini(struct rvt_etrace_decoder *dec)
{
	free(dec->predictor);
	free(dec->cache);
}

/* ---- events ---- */

static int emit(struct rvt_etrace_decoder *dec, struct rvt_event *event)
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
	return emit(dec, &event);
}

/* Timestamps of few bytes count on from the time before; time never goes back. */
static void note_time(struct rvt_etrace_decoder *dec, const struct rvt_etrace_msg *msg)
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
	note_time(dec, msg);
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

/* Takes over privilege and context; an event if they changed. */
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
	return emit(dec, &event);
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
	return known ? emit(dec, &event) : 0;
}

int rvt_etrace_decoder_fail(struct rvt_etrace_decoder *dec,
			    const struct rvt_etrace_failure *failure)
{
	dec->stats->errors++;
	return rvt_etrace_decoder_lose(dec, failure->reason, failure->detail);
}

/* The event for a trap whose handler never came. */
int rvt_etrace_drop_trap(struct rvt_etrace_decoder *dec)
{
	if (!dec->trap.valid)
		return 0;
	dec->trap.valid = false;
	dec->trap.event.target = dec->trap.has_address ? dec->trap.address : RVT_UNLIMITED;
	return rvt_flow_trap(dec->flow, &dec->trap.event);
}

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

int rvt_etrace_decoder_gap(struct rvt_etrace_decoder *dec, enum rvt_reason reason,
			   const char *detail)
{
	int ret = settle(dec);

	return ret ? ret : rvt_etrace_decoder_lose(dec, reason, detail);
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

uint64_t rvt_etrace_full_address(const struct rvt_etrace_decoder *dec,
				 const struct rvt_etrace_msg *msg)
{
	return rvt_etrace_extend_address(dec, msg->field[RVT_ETRACE_F_ADDRESS] <<
			      dec->codec.params.iaddress_lsb_p);
}

static uint64_t reported_address(const struct rvt_etrace_decoder *dec,
				 const struct rvt_etrace_msg *msg)
{
	if (dec->codec.params.options & RVT_OPT_FULL_ADDRESS)
		return rvt_etrace_full_address(dec, msg);
	return rvt_etrace_extend_address(dec, dec->address + (msg->field[RVT_ETRACE_F_ADDRESS] <<
						   dec->codec.params.iaddress_lsb_p));
}

/* ---- formats 0, 1 and 2 ---- */

static void append_map(struct path *path, const struct rvt_etrace_msg *msg, unsigned int branches)
{
	uint64_t taken = ~msg->field[RVT_ETRACE_F_BRANCH_MAP] & rvt_etrace_mask(branches);

	path->map |= taken << path->map_bits;
	path->map_bits += branches;
}

/* The engine stands before the reported instruction. */
static void stand(struct rvt_etrace_decoder *dec, uint64_t address, struct path carried)
{
	dec->address = address;
	dec->pending = true;
	dec->from_trap = false;
	dec->carried = carried;
}

/* Where the engine stands: not at the last reported address after a packet without one. */
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
	stand(dec, dec->address, outcome(path.map >> path.map_bits & 1));
	return 0;
}

/* A damaged count would be followed round and round for minutes. */
static bool count_possible(const struct rvt_etrace_decoder *dec, const struct rvt_etrace_msg *msg)
{
	unsigned int limit = dec->codec.params.branch_count_limit;

	return !limit || msg->field[RVT_ETRACE_F_BRANCH_COUNT] + 31 <= limit;
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
	stand(dec, dec->address, outcome(!rvt_etrace_predicted(dec, pc)));
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
	stand(dec, target, last);
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
		last = outcome(rvt_etrace_predicted(dec, goal.target) != count_failed(dec, msg));
	stand(dec, goal.target, last);
	dec->inferred = may_be_inferred(msg, ret, branch);
	dec->goal = goal;
	return msg->notify ? emit(dec, &mark) : 0;
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
	if (rvt_etrace_has(msg, RVT_ETRACE_F_BRANCH_COUNT) && !count_possible(dec, msg)) {
		dec->stats->errors++;
		return rvt_etrace_decoder_gap(dec, RVT_REASON_BAD_FLOW,
					      "branch count above the parameter branch_count_limit");
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

/* The branch at a synchronisation point has its own bit. */
void rvt_etrace_stand_at_sync(struct rvt_etrace_decoder *dec, const struct rvt_etrace_msg *msg,
			  uint64_t address)
{
	struct path last = { .map_bits = 0 };

	if (rvt_flow_branch_at(dec->flow, address))
		last = outcome(!msg->not_taken);
	stand(dec, address, last);
	dec->inferred = false;
	dec->stats->syncs++;
}

int rvt_etrace_begin(struct rvt_etrace_decoder *dec, const struct rvt_etrace_msg *msg,
		     uint64_t address)
{
	int ret = rvt_etrace_emit_time(dec);

	if (!ret)
		ret = rvt_etrace_note_context(dec, msg);
	rvt_etrace_decoder_sync(dec, true);
	if (!ret)
		ret = rvt_flow_start(dec->flow, address, dec->offset, false);
	dec->started = true;
	dec->lost = false;
	rvt_etrace_stand_at_sync(dec, msg, address);
	return ret;
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
	if (!ret)
		ret = rvt_etrace_note_context(dec, msg);
	rvt_etrace_decoder_sync(dec, false);
	rvt_etrace_stand_at_sync(dec, msg, goal.target);
	return ret;
}

/* ---- format 3, subformats 2 and 3 ---- */

static int on_context(struct rvt_etrace_decoder *dec, const struct rvt_etrace_msg *msg)
{
	int ret = rvt_etrace_emit_time(dec);

	if (dec->codec.params.context_packet_returns == RVT_CONTEXT_PACKET_CLEARS)
		rvt_flow_clear_returns(dec->flow);
	return ret || !dec->started ? ret : rvt_etrace_note_context(dec, msg);
}

static int end_trace(struct rvt_etrace_decoder *dec, uint64_t qual)
{
	struct rvt_event stop = { .type = RVT_EVENT_STOP, .reason = RVT_REASON_DISABLED };
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
	if (!ret)
		ret = emit(dec, &stop);
	forget_position(dec, false);
	return ret;
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
	if (ret)
		return ret;
	if (rvt_etrace_codec_support(&dec->codec, msg))
		return rvt_etrace_decoder_fail(dec, &failure);
	return rvt_etrace_decoder_resize(dec);
}

/* ---- all ---- */

static int on_packet(struct rvt_etrace_decoder *dec, const struct rvt_etrace_msg *msg)
{
	note_time(dec, msg);
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

/*
 * An encoder may report the last instruction a second time when tracing ends. That is so if the way
 * from it does not lead back to it.
 */
static bool drops_repeat(const struct rvt_etrace_decoder *dec, const struct rvt_etrace_msg *next)
{
	const struct walk_goal goal = {
		.target = position(dec), .has_target = true, .path = &dec->carried,
	};

	if (next->kind != RVT_ETRACE_SYNC_SUPPORT ||
	    next->field[RVT_ETRACE_F_QUAL_STATUS] != RVT_ETRACE_ENDED_REP)
		return false;
	return rvt_etrace_walk(dec, position(dec), &goal) != RVT_ETRACE_WALK_TARGET;
}

int rvt_etrace_decoder_packet(struct rvt_etrace_decoder *dec, const struct rvt_etrace_msg *msg)
{
	int ret = 0;

	dec->offset = msg->offset;
	if (dec->has_repeat) {
		if (!drops_repeat(dec, msg)) {
			dec->offset = dec->repeat.offset;
			ret = on_packet(dec, &dec->repeat);
			dec->offset = msg->offset;
		}
		dec->has_repeat = false;
	} else if (dec->started && is_repeat(dec, msg)) {
		dec->repeat = *msg;
		dec->has_repeat = true;
		return 0;
	}
	return ret ? ret : on_packet(dec, msg);
}

int rvt_etrace_decoder_finish(struct rvt_etrace_decoder *dec)
{
	int ret = 0;

	if (dec->has_repeat)
		ret = on_packet(dec, &dec->repeat);
	dec->has_repeat = false;
	if (!ret)
		ret = settle(dec);
	return ret ? ret : rvt_flow_flush(dec->flow);
}
