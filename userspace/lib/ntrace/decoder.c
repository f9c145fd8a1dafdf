// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * N-Trace decoder: messages by source, and what each of them means for its source.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include "ntrace/decoder-state.h"

/* 1.0.0_rc7 sets no limit to B-CNT. A counter larger than this is damage. */
#define MAX_BCNT (1u << 24)

/* ---- events without flow ---- */

/* Something is wrong that cannot be put down to one source. */
static void report_all(struct rvt_ntrace_decoder *d, uint64_t offset, enum rvt_reason reason,
		       const char *detail)
{
	struct rvt_event event = { .type = RVT_EVENT_LOST, .reason = reason, .offset = offset,
				   .detail = detail };
	bool told = false;

	for (unsigned int i = 0; i < d->n_sources; i++)
		if (d->sources[i] && d->sources[i]->ctte)
			rvt_ntrace_ctte_forget(d->sources[i]->ctte);
	if (!rvt_ntrace_slice_begun(d)) {
		d->told_damage = true;	/* by another slice */
		return;
	}
	for (unsigned int i = 0; i < d->n_sources; i++) {
		struct rvt_ntrace_source *s = d->sources[i];

		if (!s || !s->flow || !s->synced)
			continue;
		rvt_ntrace_drain(d, s);
		if (d->result)
			return;
		rvt_ntrace_lose(d, s, offset, reason, true, "%s", detail);
		told = true;
	}
	if (!told)
		rvt_ntrace_slice_untold(d, offset);
	/* Damage that nobody's flow suffers from is told once, not for each message. */
	if (!told && !d->told_damage && d->ops.event)
		rvt_ntrace_check(d, d->ops.event(d->ops.ctx, &event));
	d->told_damage = true;
}

/* ---- messages ---- */

/*
 * Ownership (7.1): PROCESS is FORMAT 2, PRV 2, V 1, CONTEXT; SiFive: a number that software chose.
 */
static void on_ownership(struct rvt_ntrace_decoder *d, struct rvt_ntrace_source *s,
			 const struct rvt_ntrace_msg *msg)
{
	uint64_t process = msg->field[RVT_NTRACE_F_PROCESS];
	struct rvt_event event = { .type = RVT_EVENT_CONTEXT, .offset = msg->offset };
	struct rvt_context *c = &s->context;

	rvt_ntrace_emit_time(d, s, msg);
	if (d->params.dialect == RVT_DIALECT_NTRACE_SIFIVE) {
		if (!d->result)
			rvt_ntrace_set_scontext(d, s, msg, process);
		return;
	}
	if ((process & 3) == 1 || d->result) {
		d->stream.stats.reserved_messages++;
		return;
	}
	c->prv = process >> 2 & 3;
	c->v = process >> 4 & 1;
	c->prv_valid = true;
	if ((process & 3) == 2) {
		c->scontext = process >> 5;
		c->scontext_valid = true;
	} else if ((process & 3) == 3) {
		c->hcontext = process >> 5;
		c->hcontext_valid = true;
	}
	event.context = *c;
	rvt_ntrace_check(d, rvt_flow_event(s->flow, &event));
}

static void on_resource_full(struct rvt_ntrace_decoder *d, struct rvt_ntrace_source *s,
			     const struct rvt_ntrace_msg *msg)
{
	const uint64_t rcode = msg->field[RVT_NTRACE_F_RCODE];
	struct rvt_ntrace_full full = {};

	if (!rvt_ntrace_is_running(d, s, msg))
		return;
	if (rcode && !rvt_ntrace_full_of(msg, d->params.dialect, &full)) {
		d->stream.stats.errors++;
		rvt_ntrace_lose(d, s, msg->offset, RVT_REASON_BAD_PACKET, true,
				rcode == 2 ? "ResourceFull with an HREPEAT of 0" :
					     "ResourceFull with an RCODE that is not known");
		return;
	}
	if (rcode && !rvt_ntrace_settle_mode(d, s, msg, RVT_MODE_HTM))
		return;
	if (s->flowing && !rcode)
		rvt_ntrace_report(s, msg->field[RVT_NTRACE_F_RDATA]);
	if (s->flowing && rcode) {
		rvt_hist_set(&s->hist, full.hist, full.repeat);
		rvt_ntrace_walk_hist(d, s, msg);
	}
	rvt_ntrace_emit_time(d, s, msg);
}

static void on_direct_branch(struct rvt_ntrace_decoder *d, struct rvt_ntrace_source *s,
			     const struct rvt_ntrace_msg *msg)
{
	uint64_t pc = 0;

	if (!rvt_ntrace_is_running(d, s, msg) || !rvt_ntrace_settle_mode(d, s, msg, RVT_MODE_BTM))
		return;
	if (!s->flowing) {
		rvt_ntrace_emit_time(d, s, msg);
		return;
	}
	rvt_ntrace_report(s, msg->field[RVT_NTRACE_F_ICNT]);
	if (!rvt_ntrace_walk(d, s, msg, RVT_NTRACE_LAST_TAKEN)) {
		rvt_ntrace_emit_time(d, s, msg);
		return;
	}
	if (!rvt_ntrace_last_was_branch(d, s)) {
		rvt_flow_pc(s->flow, &pc);
		d->stream.stats.errors++;
		rvt_ntrace_lose(d, s, msg->offset, RVT_REASON_BAD_FLOW, true,
				"a taken branch is reported, but there is none before 0x%" PRIx64,
				pc);
		return;
	}
	s->moved = false;
	s->repeat = (struct rvt_ntrace_repeat){
		.valid = true, .direct = true, .icnt = msg->field[RVT_NTRACE_F_ICNT],
	};
	rvt_ntrace_emit_time(d, s, msg);
}

/* An indirect branch while flow is not known: flow resumes at its address. */
static void resume(struct rvt_ntrace_decoder *d, struct rvt_ntrace_source *s,
		   const struct rvt_ntrace_msg *msg, uint64_t target)
{
	s->flowing = true;
	s->resumed = true;
	rvt_ntrace_check(d, rvt_flow_start(s->flow, target, msg->offset, true));
}

/* Finds the target. Returns false if it is an entry of the jump target cache that is not known. */
static bool find_target(const struct rvt_ntrace_decoder *d, const struct rvt_ntrace_source *s,
			const struct rvt_ntrace_msg *msg, uint64_t *target)
{
	if (rvt_ntrace_has(msg, RVT_NTRACE_F_JIDX))
		return rvt_ntrace_jump_cache_find(&s->ctte->cache, msg->field[RVT_NTRACE_F_JIDX],
						  target);
	*target = rvt_ntrace_next_addr(&d->params, msg, RVT_NTRACE_F_UADDR, s->reference);
	return true;
}

/* Reports that it is not known where an indirect branch led, which is the reference of U-ADDR. */
static void lose_target(struct rvt_ntrace_decoder *d, struct rvt_ntrace_source *s,
			const struct rvt_ntrace_msg *msg)
{
	rvt_ntrace_lose(d, s, msg->offset, RVT_REASON_NO_SYNC, true,
			"entry %" PRIu64 " of the jump target cache is not known",
			msg->field[RVT_NTRACE_F_JIDX]);
}

static void on_indirect_branch(struct rvt_ntrace_decoder *d, struct rvt_ntrace_source *s,
			       const struct rvt_ntrace_msg *msg)
{
	bool has_hist = rvt_ntrace_has(msg, RVT_NTRACE_F_HIST);
	uint64_t target = 0;
	const bool known = find_target(d, s, msg, &target);
	struct rvt_ntrace_repeat repeat = {
		.valid = true, .target = target,
		.btype = msg->field[RVT_NTRACE_F_BTYPE], .icnt = msg->field[RVT_NTRACE_F_ICNT],
		.hist = has_hist ? msg->field[RVT_NTRACE_F_HIST] : 1,
	};

	if (!rvt_ntrace_is_running(d, s, msg) ||
	    (has_hist && !rvt_ntrace_settle_mode(d, s, msg, RVT_MODE_HTM)))
		return;
	if (known)
		s->reference = target;
	if (known && s->ctte && !repeat.btype && has_hist)
		rvt_ntrace_jump_cache_note(&s->ctte->cache, d->params.xlen, target);
	if (s->flowing) {
		rvt_ntrace_report(s, repeat.icnt);
		rvt_hist_set(&s->hist, repeat.hist, 1);
		if (rvt_ntrace_walk(d, s, msg, RVT_NTRACE_LAST_NOT_TAKEN)) {
			rvt_ntrace_emit_time(d, s, msg);
			if (!d->result && !known)
				lose_target(d, s, msg);
			else if (!d->result)
				rvt_ntrace_arrive(d, s, msg, repeat.btype, target);
			if (s->flowing)
				s->repeat = repeat;
			return;
		}
	}
	/* No code, no flow; but the address is known unless the walk found a contradiction. */
	rvt_ntrace_emit_time(d, s, msg);
	if (s->synced && !d->result && !known)
		lose_target(d, s, msg);
	else if (s->synced && !d->result)
		resume(d, s, msg, target);
}

static void on_repeat_branch(struct rvt_ntrace_decoder *d, struct rvt_ntrace_source *s,
			     const struct rvt_ntrace_msg *msg)
{
	struct rvt_ntrace_repeat repeat;
	uint64_t n = msg->field[RVT_NTRACE_F_BCNT];

	if (s->repeat.valid && s->repeat.unread)
		rvt_ntrace_read_repeat(d, s);
	repeat = s->repeat;

	if (!rvt_ntrace_is_running(d, s, msg))
		return;
	if (s->flowing && (!repeat.valid || n > MAX_BCNT)) {
		d->stream.stats.errors++;
		rvt_ntrace_lose(d, s, msg->offset, RVT_REASON_BAD_PACKET, true,
				repeat.valid ? "RepeatBranch with an impossible B-CNT" :
					       "RepeatBranch without a branch message to repeat");
		return;
	}
	for (; n && s->flowing && !d->result; n--) {
		rvt_ntrace_report(s, repeat.icnt);
		if (!repeat.direct)
			rvt_hist_set(&s->hist, repeat.hist, 1);
		if (!rvt_ntrace_walk(d, s, msg, repeat.direct ? RVT_NTRACE_LAST_TAKEN :
							       RVT_NTRACE_LAST_NOT_TAKEN))
			break;
		if (!repeat.direct)
			rvt_ntrace_arrive(d, s, msg, repeat.btype, repeat.target);
		s->moved = false;
	}
	if (s->flowing)
		s->repeat = repeat;
	rvt_ntrace_emit_time(d, s, msg);
	if (n && !s->flowing && s->synced && !d->result && !repeat.direct)
		resume(d, s, msg, repeat.target);
}

/* Any message with SYNC and F-ADDR: flow up to here, then a known address. */
static void on_sync(struct rvt_ntrace_decoder *d, struct rvt_ntrace_source *s,
		    const struct rvt_ntrace_msg *msg)
{
	const bool direct = msg->field[RVT_NTRACE_F_TCODE] == RVT_NTRACE_DIRECT_BRANCH_SYNC;
	bool walked = false;

	d->told_damage = false;
	s->complained = true;
	if (!rvt_ntrace_sync_fits(d, s, msg)) {
		rvt_ntrace_wrong_mode(d, s, msg);
		return;
	}
	if (s->flowing) {
		rvt_ntrace_report(s, msg->field[RVT_NTRACE_F_ICNT]);
		if (rvt_ntrace_has(msg, RVT_NTRACE_F_HIST))
			rvt_hist_set(&s->hist, msg->field[RVT_NTRACE_F_HIST], 1);
		if (s->ctte && s->mode != RVT_MODE_BTM &&
		    (direct || rvt_ntrace_has(msg, RVT_NTRACE_F_HIST)))
			walked = rvt_ntrace_walk_synced(d, s, msg);
		else
			walked = rvt_ntrace_walk(d, s, msg, direct ? RVT_NTRACE_LAST_TAKEN :
								     RVT_NTRACE_LAST_NOT_TAKEN);
	}
	rvt_ntrace_emit_time(d, s, msg);
	if (d->result)
		return;
	rvt_ntrace_arrive_sync(d, s, msg, walked, rvt_ntrace_full_addr(&d->params, msg));
	rvt_ntrace_set_reference(d, s, msg);
	if (s->ctte && !d->result)
		rvt_ntrace_ctte_synced(s, msg);
}

static enum rvt_reason stop_reason(uint64_t evcode)
{
	switch (evcode) {
	case RVT_NTRACE_EV_DEBUG:
		return RVT_REASON_DEBUG;
	case RVT_NTRACE_EV_LOW_POWER:
		return RVT_REASON_LOW_POWER;
	default:
		return RVT_REASON_DISABLED;
	}
}

static void on_correlation(struct rvt_ntrace_decoder *d, struct rvt_ntrace_source *s,
			   const struct rvt_ntrace_msg *msg)
{
	struct rvt_event event = { .type = RVT_EVENT_STOP, .offset = msg->offset,
				   .reason = stop_reason(msg->field[RVT_NTRACE_F_EVCODE]) };
	bool has_hist = rvt_ntrace_has(msg, RVT_NTRACE_F_HIST), walked = true;

	if (msg->field[RVT_NTRACE_F_CDF] > 1) {
		d->stream.stats.errors++;
		rvt_ntrace_lose(d, s, msg->offset, RVT_REASON_BAD_PACKET, true,
				"ProgTraceCorrelation with a reserved CDF");
		return;
	}
	if (s->flowing) {
		rvt_ntrace_report(s, msg->field[RVT_NTRACE_F_ICNT]);
		if (has_hist && !rvt_ntrace_settle_mode(d, s, msg, RVT_MODE_HTM))
			return;
		if (has_hist)
			rvt_hist_set(&s->hist, msg->field[RVT_NTRACE_F_HIST], 1);
		walked = rvt_ntrace_walk(d, s, msg, RVT_NTRACE_LAST_NOT_TAKEN);
	}
	rvt_ntrace_emit_time(d, s, msg);
	/* An encoder that is enabled anew counts from zero: only a sync tells the time again. */
	s->time_valid = false;
	s->context = (struct rvt_context){};	/* nor whose flow it is, until Ownership follows */
	s->flowing = false;
	s->unanswered = false;
	s->repeat.valid = false;
	/* Stopped, whatever came before: only a sync goes on from here. */
	s->stopped = s->synced;
	if (s->ctte)
		rvt_ntrace_ctte_reset(s->ctte);
	if (walked && !d->result)
		rvt_ntrace_check(d, rvt_flow_event(s->flow, &event));
}

static void on_error(struct rvt_ntrace_decoder *d, struct rvt_ntrace_source *s,
		     const struct rvt_ntrace_msg *msg)
{
	struct rvt_event mark = {
		.type = RVT_EVENT_MARK, .mark = RVT_MARK_LOST, .offset = msg->offset,
		.has_value = true, .value = msg->field[RVT_NTRACE_F_ECODE],
	};
	uint64_t etype = msg->field[RVT_NTRACE_F_ETYPE];
	const bool kept = s->synced && !rvt_ntrace_may_lose_flow(d->params.dialect, msg);

	d->stream.stats.lost_reports++;
	/* Nobody synchronises after it, and no flow is lost. */
	if (s->ctte && !s->synced && !rvt_ntrace_may_lose_flow(d->params.dialect, msg))
		return;
	/* A flow that is kept has what was reported before: no sync need follow. */
	if (!kept)
		rvt_ntrace_drain(d, s);
	rvt_ntrace_emit_time(d, s, msg);
	if (d->result)
		return;
	if (kept) {
		if (mark.value & RVT_MARK_LOST_OWNERSHIP)
			s->context = (struct rvt_context){};
		s->flow_kept = true;
		rvt_ntrace_check(d, rvt_flow_event(s->flow, &mark));
		return;
	}
	rvt_ntrace_lose(d, s, msg->offset, RVT_REASON_OVERFLOW, true,
			etype ? "the encoder reports error %" PRIu64 " (ECODE 0x%" PRIx64 ")" :
				"the encoder's queue overflowed (ETYPE %" PRIu64 ", ECODE 0x%"
				PRIx64 ")", etype, msg->field[RVT_NTRACE_F_ECODE]);
}

/* Before the first sync (or the first after a loss) nothing can be followed. */
static void skip_unsynced(struct rvt_ntrace_decoder *d, struct rvt_ntrace_source *s,
			  const struct rvt_ntrace_msg *msg)
{
	if (s->complained || !rvt_ntrace_has(msg, RVT_NTRACE_F_ICNT))
		return;
	/* Tracing that starts disabled says so (8.6); nothing is missing then. */
	if (msg->field[RVT_NTRACE_F_TCODE] == RVT_NTRACE_PROG_TRACE_CORRELATION &&
	    !msg->field[RVT_NTRACE_F_ICNT])
		return;
	s->complained = true;
	rvt_ntrace_lose(d, s, msg->offset, RVT_REASON_NO_SYNC, true,
			"messages before the first synchronisation are skipped");
}

static void on_standard(struct rvt_ntrace_decoder *d, struct rvt_ntrace_source *s,
			const struct rvt_ntrace_msg *msg)
{
	uint64_t tcode = msg->field[RVT_NTRACE_F_TCODE];

	/* Then the next data message has its whole address. */
	if (rvt_ntrace_is_sync(msg) || tcode == RVT_NTRACE_ERROR)
		s->data.valid = false;
	if (rvt_ntrace_is_sync(msg)) {
		on_sync(d, s, msg);
		return;
	}
	if ((d->params.dialect == RVT_DIALECT_NTRACE_SIFIVE && rvt_ntrace_on_sifive(d, s, msg)) ||
	    (s->ctte && rvt_ntrace_on_ctte(d, s, msg)))
		return;
	if (tcode == RVT_NTRACE_ERROR) {
		s->complained = true;
		on_error(d, s, msg);
		return;
	}
	if (!s->synced) {
		skip_unsynced(d, s, msg);
		return;
	}
	switch (tcode) {
	case RVT_NTRACE_OWNERSHIP:
		on_ownership(d, s, msg);
		break;
	case RVT_NTRACE_DIRECT_BRANCH:
		on_direct_branch(d, s, msg);
		break;
	case RVT_NTRACE_INDIRECT_BRANCH:
	case RVT_NTRACE_INDIRECT_BRANCH_HIST:
	case RVT_NTRACE_JUMP_TARGET_CACHE:
		on_indirect_branch(d, s, msg);
		break;
	case RVT_NTRACE_RESOURCE_FULL:
		on_resource_full(d, s, msg);
		break;
	case RVT_NTRACE_REPEAT_BRANCH:
		on_repeat_branch(d, s, msg);
		break;
	case RVT_NTRACE_PROG_TRACE_CORRELATION:
		on_correlation(d, s, msg);
		break;
	}
}

static struct rvt_ntrace_source *source(struct rvt_ntrace_decoder *d,
					const struct rvt_ntrace_msg *msg)
{
	unsigned int src = d->params.src_bits ? msg->field[RVT_NTRACE_F_SRC] : 0;
	struct rvt_ntrace_source *s = d->sources[src];

	if (s)
		return s;
	s = calloc(1, sizeof(*s));
	if (!s || rvt_ntrace_ctte_create(d, s)) {
		free(s);
		rvt_ntrace_check(d, -ENOMEM);
		return NULL;
	}
	s->data.xor = d->begins.xor;
	s->mode = d->params.mode;
	s->mode_settled = s->mode != RVT_MODE_AUTO;
	/* A source that begins behind the slice is all the next one's. */
	s->flow = msg->offset < d->slice_to ? d->ops.flow(d->ops.ctx, src) : NULL;
	d->sources[src] = s;
	rvt_ntrace_slice_source(d, s);
	return s;
}

static void on_source(struct rvt_ntrace_decoder *d, struct rvt_ntrace_source *s,
		      const struct rvt_ntrace_msg *msg)
{
	struct rvt_stream_stats before;

	if (s->left) {
		before = d->stream.stats;
		on_standard(d, s, msg);
		rvt_ntrace_slice_advance(d, s, msg);
		/* the next slice counts it */
		rvt_stream_count_rest(&before, &d->stream.stats);
		return;
	}
	on_standard(d, s, msg);
	rvt_ntrace_slice_advance(d, s, msg);
}

/* A message of CTTE that is not decoded: but times are differences, and so its own counts. */
static void skip_stamped(struct rvt_ntrace_decoder *d, const struct rvt_ntrace_msg *msg)
{
	struct rvt_ntrace_source *s = d->sources[d->params.src_bits ?
						 msg->field[RVT_NTRACE_F_SRC] : 0];

	if (rvt_ntrace_has(msg, RVT_NTRACE_F_TSTAMP) && s && s->flow && s->synced &&
	    s->progress == RVT_NTRACE_ACTIVE)
		rvt_ntrace_emit_time(d, s, msg);
}

/* Whether the dialect has no such message; then nothing else is to be done. */
static bool is_other(struct rvt_ntrace_decoder *d, const struct rvt_ntrace_msg *msg)
{
	const unsigned int tcode = msg->field[RVT_NTRACE_F_TCODE];

	if (d->reader.layouts[tcode].known)
		return false;
	if (rvt_ntrace_kind(d->params.dialect, tcode) == RVT_NTRACE_VENDOR)
		d->stream.stats.vendor_messages++;
	else
		d->stream.stats.reserved_messages++;
	skip_stamped(d, msg);
	return true;
}

static void on_message(struct rvt_ntrace_decoder *d, const struct rvt_ntrace_msg *msg)
{
	struct rvt_ntrace_source *s;

	d->stream.stats.messages++;
	d->stream.stats.syncs += rvt_ntrace_is_sync(msg) && rvt_ntrace_in_slice(d, msg->offset);
	if (!d->told_start) {
		d->told_start = true;
		if (d->reader.skipped_bytes)
			report_all(d, d->first_offset, RVT_REASON_NO_SYNC,
				   "data begins inside a message");
		if (d->result)
			return;
	}
	if (is_other(d, msg))
		return;
	s = source(d, msg);
	if (s && s->ctte)
		rvt_ntrace_ctte_note(s->ctte, msg);
	if (!s || !s->flow || rvt_ntrace_slice_skips(d, s, msg))
		return;
	on_source(d, s, msg);
}

/* ---- the stream ---- */

static void decoder_destroy(struct rvt_stream *stream)
{
	struct rvt_ntrace_decoder *d = (struct rvt_ntrace_decoder *)stream;

	for (unsigned int i = 0; d->sources && i < d->n_sources; i++) {
		if (d->sources[i])
			free(d->sources[i]->ctte);
		free(d->sources[i]);
	}
	free(d->sources);
	free(d);
}

static uint32_t run_flags(const struct rvt_params *params)
{
	uint32_t flags = RVT_RUN_COROUTINE;

	if (params->options & RVT_OPT_IMPLICIT_RETURN || params->implicit_return_mode)
		flags |= RVT_RUN_IMPLICIT_RETURN;
	if (params->options & RVT_OPT_SEQUENTIAL_JUMP)
		flags |= RVT_RUN_SEQUENTIAL_JUMP;
	if (params->options & RVT_OPT_ALL_JUMPS)
		flags |= RVT_RUN_ALL_JUMPS;
	if (params->dialect == RVT_DIALECT_NTRACE_RC7)
		flags |= RVT_RUN_ECALL_COUNTS;
	return flags;
}

static int decoder_create(const struct rvt_params *params, const struct rvt_stream_ops *ops,
			  struct rvt_stream **stream)
{
	struct rvt_ntrace_decoder *d;
	int ret;

	if (params->src_bits > RVT_NTRACE_MAX_SRC_BITS || !ops->flow ||
	    (params->dialect != RVT_DIALECT_NTRACE_RC7 &&
	     params->dialect != RVT_DIALECT_NTRACE_1_0 &&
	     params->dialect != RVT_DIALECT_NTRACE_SIFIVE &&
	     params->dialect != RVT_DIALECT_NTRACE_CTTE))
		return -EINVAL;
	d = calloc(1, sizeof(*d));
	if (!d)
		return -ENOMEM;
	d->params = *params;
	d->ops = *ops;
	d->run_flags = run_flags(params);
	d->begins = d->ends = rvt_ntrace_ctte_config(params);
	d->slice_to = UINT64_MAX;
	d->n_sources = 1u << params->src_bits;
	d->sources = calloc(d->n_sources, sizeof(d->sources[0]));
	ret = d->sources ? rvt_ntrace_reader_init(&d->reader, params) : -ENOMEM;
	if (ret) {
		decoder_destroy(&d->stream);
		return ret;
	}
	rvt_ntrace_scan_init(&d->scan, &d->reader);
	*stream = &d->stream;
	return 0;
}

static int decoder_feed(struct rvt_stream *stream, const void *bytes, size_t len, uint64_t offset)
{
	struct rvt_ntrace_decoder *d = (struct rvt_ntrace_decoder *)stream;
	struct rvt_ntrace_msg msg;

	if (d->result)
		return d->result;
	if (!d->fed)
		d->first_offset = offset;
	d->fed = true;
	rvt_ntrace_reader_feed(&d->reader, bytes, len, offset);
	rvt_ntrace_scan_begin(&d->scan, bytes);
	while (!d->result && !d->done && !stream->paused) {
		if (d->recent)
			rvt_ntrace_replay(d);
		if (d->result || stream->paused)
			break;
		switch (rvt_ntrace_reader_next(&d->reader, &msg)) {
		case RVT_NTRACE_READ_MORE:
			rvt_ntrace_slice_end(d);
			return 0;
		case RVT_NTRACE_READ_MESSAGE:
			rvt_ntrace_memo_begin(d, &msg);
			on_message(d, &msg);
			rvt_ntrace_memo_end(d, &msg);
			rvt_stream_tell_behind(stream);
			d->done = msg.offset >= d->slice_to && !d->n_active;
			break;
		case RVT_NTRACE_READ_DAMAGE:
			d->recent = NULL;
			d->missed = false;
			d->stream.stats.errors += rvt_ntrace_in_slice(d, d->reader.damage.offset);
			d->told_start = true;
			report_all(d, d->reader.damage.offset, RVT_REASON_BAD_PACKET,
				   d->reader.damage.what);
			break;
		}
	}
	return d->result;
}

static size_t decoder_unused(const struct rvt_stream *stream)
{
	const struct rvt_ntrace_decoder *d = (const struct rvt_ntrace_decoder *)stream;

	return d->reader.end - d->reader.pos;
}

static int decoder_lost(struct rvt_stream *stream, uint64_t offset, enum rvt_reason reason,
			const char *what, bool boundary)
{
	struct rvt_ntrace_decoder *d = (struct rvt_ntrace_decoder *)stream;

	if (d->result)
		return d->result;
	stream->stats.lost_reports += rvt_ntrace_in_slice(d, offset);
	rvt_ntrace_reader_lost(&d->reader, boundary);
	d->recent = NULL;
	d->told_start = true;
	report_all(d, offset, reason, what ? what : "data is missing here");
	/* What follows without a sync belongs to the same loss. */
	for (unsigned int i = 0; i < d->n_sources; i++)
		if (d->sources[i]) {
			d->sources[i]->complained = true;
			d->sources[i]->synced = false;
			d->sources[i]->data.valid = false;
		}
	rvt_ntrace_slice_lost(d, offset);
	return d->result;
}

static int decoder_finish(struct rvt_stream *stream)
{
	struct rvt_ntrace_decoder *d = (struct rvt_ntrace_decoder *)stream;

	if (d->result)
		return d->result;
	if (d->done) {
		/* what is left in the reader belongs to other slices */
	} else if (rvt_ntrace_reader_finish(&d->reader)) {
		d->stream.stats.errors += rvt_ntrace_in_slice(d, d->reader.damage.offset);
		report_all(d, d->reader.damage.offset, RVT_REASON_BAD_PACKET,
			   d->reader.damage.what);
	} else if (!d->stream.stats.messages && d->reader.skipped_bytes) {
		report_all(d, d->first_offset, RVT_REASON_NO_SYNC, "no message in all the data");
	}
	for (unsigned int i = 0; i < d->n_sources && !d->result; i++) {
		struct rvt_ntrace_source *s = d->sources[i];

		if (!s || !s->flow)
			continue;
		rvt_ntrace_drain(d, s);
		rvt_ntrace_check(d, rvt_flow_flush(s->flow));
	}
	return d->result;
}

static int decoder_slice(struct rvt_stream *stream, uint64_t from, uint64_t to)
{
	struct rvt_ntrace_decoder *d = (struct rvt_ntrace_decoder *)stream;

	d->slice_from = from;
	d->slice_to = to;
	if (from) {
		rvt_ntrace_reader_lost(&d->reader, true);
		d->told_start = true;
	}
	return 0;
}

static bool decoder_slice_done(const struct rvt_stream *stream)
{
	return ((const struct rvt_ntrace_decoder *)stream)->done;
}

/*
 * Returns whether slices depend on what is not synchronised anew: whether branches are predicted,
 * and how data messages look.
 */
static bool decoder_slice_carries(const struct rvt_stream *stream)
{
	const struct rvt_ntrace_decoder *d = (const struct rvt_ntrace_decoder *)stream;
	/* one that has no messages yet is as when the slice began */
	bool carries = d->n_sources == 1 && !d->sources[0] &&
		       (d->begins.predicts != d->ends.predicts || d->begins.xor != d->ends.xor);

	for (unsigned int i = 0; i < d->n_sources && !carries; i++)
		carries = d->sources[i] && d->sources[i]->ctte &&
			  (d->sources[i]->ctte->predicts != d->ends.predicts ||
			   (d->ops.accesses && d->sources[i]->data.xor != d->ends.xor));
	return carries;
}

static void decoder_expect(struct rvt_stream *stream, const struct rvt_params *params)
{
	struct rvt_ntrace_decoder *d = (struct rvt_ntrace_decoder *)stream;

	if (d->params.src_bits)
		return;
	d->ends = rvt_ntrace_ctte_config(params);
	if (d->slice_from)
		d->begins = d->ends;
}

/* A byte with both MSEO bits ends a message, or is idle: in either case one may begin behind it. */
static ssize_t decoder_boundary(const struct rvt_params *params, const void *bytes, size_t len)
{
	const uint8_t *p = bytes;

	(void)params;
	for (size_t i = 0; i < len; i++)
		if ((p[i] & 3) == 3)
			return i + 1;
	return -1;
}

/* Or all that is idle. */
static size_t decoder_message(const struct rvt_params *params, const uint8_t *bytes, size_t len)
{
	ssize_t at = decoder_boundary(params, bytes, len);
	size_t idle = 0;

	while (idle < len && bytes[idle] == RVT_NTRACE_IDLE)
		idle++;
	return idle ? idle : at > 0 ? (size_t)at : len;
}

static void decoder_update_stats(struct rvt_stream *stream)
{
	struct rvt_ntrace_decoder *d = (struct rvt_ntrace_decoder *)stream;

	stream->stats.idle_bytes = d->reader.idle_bytes;
	stream->stats.skipped_bytes = d->reader.skipped_bytes;
}

const struct rvt_protocol_ops rvt_ntrace_protocol = {
	.create = decoder_create,
	.destroy = decoder_destroy,
	.feed = decoder_feed,
	.unused = decoder_unused,
	.lost = decoder_lost,
	.finish = decoder_finish,
	.slice = decoder_slice,
	.slice_done = decoder_slice_done,
	.slice_carries = decoder_slice_carries,
	.boundary = decoder_boundary,
	.head = rvt_ntrace_ctte_head,
	.expect = decoder_expect,
	.message = decoder_message,
	.update_stats = decoder_update_stats,
};
