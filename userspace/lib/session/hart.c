// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* The flow of a hart: whose it is, when it was, and what of it is told. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "util/array.h"
#include "flow/control.h"
#include "slice.h"
#include "state.h"

/* ---- whose flow it is ---- */

static struct rvt_owner_rules owner_rules(const struct hart_flow *hart)
{
	const struct rvt_session *session = hart->session;

	return (struct rvt_owner_rules){
		.size = sizeof(struct rvt_owner_rules),
		.ntrace = hart->encoder->params.protocol == RVT_PROTOCOL_NTRACE,
		.timed = hart->timed, .contexts = session->contexts,
		.foreign_ids = session->foreign_ids, .by_task = session->by_task,
		.switches = session->has_switches, .hcontext_max = session->hcontext_max,
		.thread = hart->buffer->tid,
	};
}

bool rvt_hart_is_told(const struct hart_flow *hart)
{
	const struct rvt_owner_rules rules = owner_rules(hart);

	return rvt_owner_told(&rules, &hart->base.context);
}

/* -1: not known */
static int32_t hart_tid(const struct hart_flow *hart)
{
	const struct rvt_owner_rules rules = owner_rules(hart);
	const struct buffer *buffer = hart->buffer;
	const int32_t *record = buffer->record < buffer->n_records ?
		&buffer->records[buffer->record].tid : NULL;

	return rvt_owner_thread(&rules, &hart->base.context, record,
				rvt_cursor_running(hart->cursor, hart->base.cpu));
}

/* Returns whether what comes belongs to somebody else than what was counted so far. */
static bool is_another(const struct hart_flow *hart, const struct rvt_task *task,
		       const struct rvt_space *space)
{
	const struct rvt_task *now = hart->base.task;

	if (!hart->base.space)
		return false;
	if (space != hart->base.space || !task != !now)
		return true;
	return task && (task->comm != now->comm ||
			(hart->session->options.count_threads && task != now));
}

/* Takes the task and its space from the cursor; the flow goes on in that space. */
static int hart_update(struct hart_flow *hart)
{
	int32_t tid = hart_tid(hart);
	struct rvt_space *space = hart->buffer->decode->kernel;
	const struct rvt_task *task = NULL;
	int err = 0;

	if (tid >= 0) {
		task = rvt_cursor_task(hart->cursor, tid);
		if (!task)
			return -ENOMEM;
		space = task->space;
	}
	if (rvt_hart_in_guest(&hart->base)) {
		space = hart->buffer->decode->guest;
		task = task ? rvt_cursor_guest(hart->cursor, tid, space) : NULL;
	}
	if (is_another(hart, task, space))
		err = rvt_hart_leave_counts(hart);
	hart->base.task = task;
	if (space != hart->base.space) {
		hart->base.space = space;
		rvt_flow_set_space(hart->base.flow, space);
	}
	return err;
}

/* Whether what comes is the next slice's. */
static bool is_behind_slice(const struct hart_flow *hart)
{
	const struct slice *slice = hart->buffer->slice;

	return slice && (rvt_flow_slice(hart->base.flow)->left ||
			 hart->buffer->record > slice->end_record);
}

/* Moves the cursor, as rvt_cursor_seek(). Called at each time stamp; few views have a clock. */
static int hart_move(struct hart_flow *hart, uint64_t time)
{
	int err = 0;

	if (hart->clock && !(hart->timed && rvt_cursor_stays(hart->cursor, time)))
		err = rvt_hart_flush_clock(hart, hart->held_stamp ? hart->held_stamp : UINT64_MAX);
	if (!err)
		err = rvt_hart_tell_replaced(hart, time);
	/* the next slice, which may be this thread's, begins before that */
	if (!err && is_behind_slice(hart))
		hart->replaced |= rvt_cursor_replaces(hart->cursor, hart->base.task, time);
	if (!err)
		err = rvt_cursor_seek(hart->cursor, time);
	if (err > 0 && time > hart->base.moved)
		hart->base.moved = time;
	return err;
}

int rvt_hart_seek(struct hart_flow *hart, uint64_t time)
{
	int moved = hart_move(hart, time);

	return moved > 0 ? hart_update(hart) : moved;
}

/* Counts, and statistics alone, need no times but those at which something changes. */
static bool hart_needs_times(const struct hart_flow *hart)
{
	const struct rvt_session_options *options = &hart->session->options;
	const struct rvt_session_sink *sink = hart->session->sink;

	return options->every_time || (!options->count && (sink->runs || sink->event));
}

static void note_time(struct hart_flow *hart)
{
	struct slice *slice = hart->buffer->slice;
	uint64_t time = hart->base.time;

	/* The next slice notes what is behind the end of this one. */
	if (!slice || rvt_flow_slice(hart->base.flow)->left)
		return;
	if (!slice->latest || time < slice->earliest)
		slice->earliest = time;
	if (time > slice->latest)
		slice->latest = time;
}

void rvt_hart_note_moment(const struct buffer *buffer)
{
	if (buffer->slice && !buffer->was_left && buffer->time > buffer->slice->moment)
		buffer->slice->moment = buffer->time;
}

/*
 * The flow of one message is there, which was sent at @now. The encoder holds back the first of
 * several histories: its flow had run some time before @now, and nothing says when. It waits in the
 * clock for that of the next one.
 */
static int stamp_flow(struct hart_flow *hart, uint64_t now, bool held_back)
{
	uint64_t stamp = held_back ? hart->held_stamp : now;

	hart->held_stamp = held_back ? now : 0;
	return stamp ? rvt_hart_stamp(hart, stamp) : 0;
}

/* The buffer has got to @time; with STEP_STAMP the step may be over. */
static void pass_time(struct buffer *buffer, uint64_t time)
{
	buffer->time = time;
	rvt_hart_note_moment(buffer);
	if (buffer->pausing && time >= buffer->until)
		rvt_stream_pause(buffer->pausing->stream);
}

/*
 * A tick of the counter lasts many nanoseconds: what the kernel logged within it may have happened
 * before the message. Mappings that come too early do no harm, those that are missing do.
 */
static int hart_time(struct hart_flow *hart, const struct rvt_event *event)
{
	const struct rvt_record_time_conv *conv = &hart->session->time_conv;
	uint64_t ticks = event->time, now, next, until;
	int err;

	if (!hart->timed)
		return 0;
	now = rvt_time_to_perf(conv, ticks);
	if (hart->buffer->slice && !hart->base.time_exact)
		hart->buffer->slice->untimed_at_begin |=
			rvt_hart_executed(hart) != hart->before.insns;
	err = hart->clock ? stamp_flow(hart, now, event->held_back) : 0;
	if (err)
		return err;
	hart->base.time = now;
	hart->base.time_exact = true;
	pass_time(hart->buffer, now);
	note_time(hart);
	/* the slice has told all of its flow, and needed only the time of the last */
	if (hart->told)
		return 0;
	err = rvt_hart_seek(hart, rvt_time_to_perf(conv, ticks + 1) - 1);
	if (err || hart_needs_times(hart) ||
	    (conv->cap_user_time_short && ~conv->time_mask))
		return err;
	next = rvt_cursor_next(hart->cursor);
	if (hart->session->live && next > hart->session->horizon)
		next = hart->session->horizon;	/* what comes behind it is not known yet */
	until = next == UINT64_MAX ? UINT64_MAX : rvt_time_from_perf(conv, next);
	rvt_flow_set_time_filter(hart->base.flow, until > 2 ? until - 2 : 0);
	return 0;
}

uint64_t rvt_hart_executed(const struct hart_flow *hart)
{
	struct rvt_flow_stats stats = { .size = sizeof(stats) };

	rvt_flow_stats(hart->base.flow, &stats);
	return stats.insns;
}

static void hold_start(struct hart_flow *hart, const struct rvt_event *start)
{
	hart->start = *start;
	hart->start.detail = NULL;
	hart->start_held = true;
	hart->start_left = rvt_flow_slice(hart->base.flow)->left;
	hart->start_time = hart->base.time;
	hart->start_insns = rvt_hart_executed(hart);
}

static bool is_crossing(const struct hart_flow *hart, const struct rvt_event *event)
{
	return event->type == RVT_EVENT_CONTEXT && event->context.prv_valid &&
	       hart->base.context.prv_valid && event->context.v != hart->base.context.v;
}

/*
 * A guest begins or ends to run. Neither calls the other: the flow of one stops, and that of the
 * other goes on. A START without .pc gets that of what is told next.
 */
static int cross(struct hart_flow *hart, const struct rvt_event *event)
{
	const bool trapped = hart->trap_held;
	const struct rvt_event stop = { .type = RVT_EVENT_STOP, .offset = event->offset,
					.pc = trapped ? hart->trap.pc : 0, .crossing = true };
	int err;

	hart->trap_held = false;
	if (!hart->running)
		return 0;
	hart->running = false;
	err = rvt_hart_deliver(hart, &stop);
	hold_start(hart, &(struct rvt_event){ .type = RVT_EVENT_START, .offset = event->offset,
					      .pc = trapped ? hart->trap.target : 0,
					      .crossing = true });
	return err;
}

static int hart_context(struct hart_flow *hart, const struct rvt_event *event)
{
	const struct rvt_owner_rules rules = owner_rules(hart);
	int err = is_crossing(hart, event) ? cross(hart, event) : 0;

	if (err)
		return err;
	if (!rvt_owner_event(&rules, &hart->base.context, event))
		return 0;
	if (hart->buffer->slice && !hart->owned) {
		hart->owned = true;
		hart->buffer->slice->unowned_at_begin |=
			rvt_hart_executed(hart) != hart->before.insns;
	}
	return hart_update(hart);
}

bool rvt_hart_loop_uncounted(const struct rvt_hart_flow *base, const struct rvt_run *run)
{
	/* it is the first member */
	const struct hart_flow *hart = (const struct hart_flow *)base;
	const struct rvt_block *block = run->block;

	return block->iclass == RVT_INSN_JUMP && run->first + run->count == block->insns &&
		block->target >= block->pc && block->target - block->pc < block->bytes &&
		hart->encoder->params.protocol == RVT_PROTOCOL_ETRACE;
}

/* ---- what the flow says ---- */

/* Finds out how the flow that comes belongs to the slices before and behind. */
static void look_at_slice(struct hart_flow *hart)
{
	if (!session_slices(hart->session))
		return;
	hart->base.resumed = rvt_flow_slice(hart->base.flow)->resumed;
	/* what comes from here on may be lost to this slice, and is the next one's */
	if (rvt_flow_slice(hart->base.flow)->left && !hart->base.left)
		hart->buffer->slice->owned_at_end |= rvt_hart_is_told(hart);
	hart->base.left = rvt_flow_slice(hart->base.flow)->left;
}

/* @err is what a call-back returned. */
static int take_answer(struct hart_flow *hart, int err)
{
	if (err != RVT_SLICE_DONE)
		return err;
	hart->told = true;
	return 0;
}

int rvt_hart_deliver(struct hart_flow *hart, const struct rvt_event *event)
{
	const struct rvt_session_sink *sink = hart->session->sink;
	int err;

	if (!sink->event || hart->told)
		return 0;
	/* who takes slices has the time of all that the clock tells */
	if (hart->clock && event->type == RVT_EVENT_TIME && session_slices(hart->session))
		return 0;
	if (hart->clock)
		return rvt_hart_hold_event(hart, event);
	if (!session_wants_event(hart->session, event))
		return 0;
	if (session_slices(hart->session))
		return take_answer(hart, sink->event(hart->buffer->ctx, &hart->base, event));
	buffer_lock(hart->buffer);
	err = sink->event(hart->buffer->ctx, &hart->base, event);
	buffer_unlock(hart->buffer);
	return err;
}

int rvt_hart_damage(struct hart_flow *hart, const struct rvt_event *event)
{
	look_at_slice(hart);
	return rvt_hart_deliver(hart, event);
}

static int deliver_start(struct hart_flow *hart, const struct rvt_event *start)
{
	if (hart->buffer->slice && session_slices(hart->session))
		hart->buffer->slice->unowned_at_begin |= !hart->owned;
	hart->running = true;
	return rvt_hart_deliver(hart, start);
}

void rvt_hart_note_exec(const struct hart_flow *hart)
{
	const struct buffer *buffer = hart->buffer;
	struct rvt_flow_stats stats = { .size = sizeof(stats) };

	if (!hart->exec_record || !buffer->slice || !buffer->slice->done ||
	    buffer->record != buffer->slice->record)
		return;
	rvt_flow_stats(hart->base.flow, &stats);
	buffer->slice->before_exec |= stats.insns != hart->before.insns ||
				      stats.gaps != hart->before.gaps;
}

/*
 * Nothing may have run before an exec; then the driver has not ended a record there. What starts
 * where nothing was mapped before it is of the program that came with it.
 */
static int pass_exec(struct hart_flow *hart, uint64_t pc)
{
	struct rvt_space *space = hart->base.space;
	struct rvt_location location;
	int err;

	if (!hart->exec_record || pc >> 63 || !space || !rvt_space_locate(space, pc, &location))
		return 0;
	rvt_hart_note_exec(hart);
	if (hart->buffer->slice && hart->buffer->record == hart->buffer->slice->end_record)
		hart->buffer->slice->passed_exec = true;
	err = hart_move(hart, hart->exec_record);
	hart->exec_record = 0;
	return err < 0 ? err : hart_update(hart);
}

/*
 * A START is held back for three reasons. Through code that cannot be read (a missing file, the
 * kernel of a recording that has no copy of it) a decoder stumbles from message to message. That is
 * one gap: a START after it waits until something was executed, and is forgotten when the next
 * thing is the same loss again. In N-Trace whose flow it is comes behind the synchronisation: until
 * then a START would be told of who ran before. And where buffers take turns a START is of the time
 * behind its message, at whose stamp it may be another's turn.
 */
static int release_start(struct hart_flow *hart)
{
	uint64_t time = hart->base.time;
	bool left = hart->base.left;
	int err = 0;

	hart->no_code = false;
	if (!hart->start_held)
		return 0;
	hart->start_held = false;
	if (!rvt_hart_is_told(hart))
		err = hart_update(hart);
	if (!err && rvt_hart_executed(hart) == hart->start_insns)
		err = pass_exec(hart, hart->start.pc);
	hart->base.left = hart->start_left;
	hart->base.time = hart->start_time;
	if (!err)
		err = deliver_start(hart, &hart->start);
	hart->base.left = left;
	hart->base.time = time;
	return err;
}

/* Nobody has told whose flow starts; if an exec came before it depends on that. */
static bool start_is_unsure(const struct hart_flow *hart)
{
	const struct rvt_owner_rules rules = owner_rules(hart);

	return hart->exec_record && rvt_owner_waits(&rules, &hart->base.context);
}

int rvt_hart_end_holding(struct hart_flow *hart)
{
	if (!hart->start_held || !hart->start.pc || hart->no_code || hart->start_left)
		return 0;
	if (hart->buffer->slice && start_is_unsure(hart)) {
		hart->buffer->slice->unsure = true;
		return 0;
	}
	return release_start(hart);
}

static int release_trap(struct hart_flow *hart)
{
	uint64_t time = hart->base.time;
	bool left = hart->base.left;
	int err;

	if (!hart->trap_held)
		return 0;
	hart->trap_held = false;
	hart->base.left = hart->trap_left;
	hart->base.time = hart->trap_time;
	err = rvt_hart_deliver(hart, &hart->trap);
	hart->base.left = left;
	hart->base.time = time;
	return err;
}

static void hold_trap(struct hart_flow *hart, const struct rvt_event *trap)
{
	hart->trap = *trap;
	hart->trap.detail = NULL;
	hart->trap_held = true;
	hart->trap_left = hart->base.left;
	hart->trap_time = hart->base.time;
}

/* Flow that waits is rare: this stays out of what each delivery passes. */
static __attribute__((noinline)) int release_before_runs(struct hart_flow *hart,
							 const struct rvt_run *runs)
{
	int err = release_trap(hart);

	if (hart->start_held && !hart->start.pc)
		hart->start.pc = rvt_run_insn_address(runs, 0);
	return err ? err : release_start(hart);
}

static int hart_runs(void *ctx, const struct rvt_run *runs, size_t n)
{
	struct hart_flow *hart = ctx;
	const struct rvt_session_sink *sink = hart->session->sink;
	int err = 0;

	hart->no_code = false;
	if (hart->trap_held || hart->start_held)
		err = release_before_runs(hart, runs);
	/* a slice may begin without a START */
	hart->running = true;
	look_at_slice(hart);
	if (!err && hart->clock)
		return rvt_hart_hold_runs(hart, runs, n);
	if (err || !sink->runs || hart->told)
		return err;
	return take_answer(hart, sink->runs(hart->buffer->ctx, &hart->base, runs, n));
}

static int hart_lost(struct hart_flow *hart, const struct rvt_event *event)
{
	const struct rvt_owner_rules rules = owner_rules(hart);
	bool again = hart->no_code && event->reason == RVT_REASON_NO_CODE;
	int err = 0;

	hart->start_held = hart->running = false;
	if (!again) {
		/* behind the slice it is the next one's loss */
		hart->no_code = event->reason == RVT_REASON_NO_CODE && !hart->base.left &&
				!hart->session->every_loss;
		err = rvt_hart_deliver(hart, event);
	}
	if (err || !rvt_owner_event(&rules, &hart->base.context, event))
		return err;
	return hart_update(hart);
}

/*
 * What breaks the flow off is told whatever came before the slice, so it is kept what was taken for
 * granted. A loss in code that cannot be read is most likely slice of one that began before.
 */
static void note_in_slice(struct hart_flow *hart, const struct rvt_event *event)
{
	struct slice *slice = hart->buffer->slice;
	bool unreadable = event->type == RVT_EVENT_LOST && event->reason == RVT_REASON_NO_CODE;

	if (session_slices(hart->session)) {
		slice->unowned_at_begin |= !hart->owned && event->type != RVT_EVENT_START;
		slice->untimed_at_begin |= !hart->base.time_exact;
	}
	/* a context that comes later may name another task, whose code can be read */
	slice->unowned_at_begin |= !hart->owned && unreadable;
	if (hart->base.left && hart->no_code)
		hart->told = slice->lost_at_end = true;
	/* the next slice takes it for granted that this one has told it */
	if (hart->base.left && unreadable && !hart->told &&
	    rvt_hart_executed(hart) == rvt_flow_slice(hart->base.flow)->stats.insns) {
		hart->base.left = false;
		rvt_hart_deliver(hart, event);
		hart->told = slice->lost_at_end = true;
	}
	if (!slice->from || slice->lost_at_begin || hart->no_code ||
	    event->type == RVT_EVENT_START ||
	    rvt_hart_executed(hart) != hart->before.insns)
		return;
	if (unreadable && !slice->broken_at_begin)
		hart->no_code = slice->lost_at_begin = true;
	else
		slice->broken_at_begin = true;
}

static int hart_stop(struct hart_flow *hart, const struct rvt_event *event)
{
	const struct rvt_owner_rules rules = owner_rules(hart);
	int err = hart->no_code ? 0 : rvt_hart_deliver(hart, event);

	hart->start_held = hart->running = false;
	if (err || !rvt_owner_event(&rules, &hart->base.context, event))
		return err;
	return hart_update(hart);
}

static bool others_take_turns(const struct hart_flow *hart)
{
	const struct rvt_session *session = hart->session;

	return hart->timed && (session->n_buffers > 1 || session->shared);
}

static int hart_start(struct hart_flow *hart, const struct rvt_event *event)
{
	const struct rvt_owner_rules rules = owner_rules(hart);
	int err;

	if (hart->no_code || others_take_turns(hart) ||
	    rvt_owner_waits(&rules, &hart->base.context)) {
		hold_start(hart, event);
		return 0;
	}
	err = pass_exec(hart, event->pc);
	return err ? err : deliver_start(hart, event);
}

/* Whether nothing that a held START may wait for is left to come before @event. */
static bool ends_holding(const struct hart_flow *hart, const struct rvt_event *event)
{
	if (!hart->start_held)
		return false;
	if (rvt_hart_executed(hart) != hart->start_insns)
		return true;
	return !hart->no_code && event->type != RVT_EVENT_TIME && event->type != RVT_EVENT_CONTEXT;
}

static __attribute__((noinline)) int release_before_event(struct hart_flow *hart,
							  const struct rvt_event *event)
{
	int err = 0;

	if (hart->trap_held && event->type != RVT_EVENT_TIME && !is_crossing(hart, event))
		err = release_trap(hart);
	if (err || !ends_holding(hart, event))
		return err;
	if (!hart->start.pc)
		hart->start.pc = event->pc;
	return release_start(hart);
}

static int hart_event(void *ctx, const struct rvt_event *event)
{
	struct hart_flow *hart = ctx;
	int err = 0;

	if (hart->trap_held || hart->start_held)
		err = release_before_event(hart, event);
	if (err)
		return err;
	look_at_slice(hart);
	if (hart->buffer->slice && !hart->session->every_loss && event->type != RVT_EVENT_TIME &&
	    event->type != RVT_EVENT_CONTEXT && event->type != RVT_EVENT_MARK &&
	    event->type != RVT_EVENT_ACCESS)
		note_in_slice(hart, event);
	switch (event->type) {
	case RVT_EVENT_TIME:
		err = hart_time(hart, event);
		break;
	case RVT_EVENT_CONTEXT:
		err = hart_context(hart, event);
		if (!err && hart->start_held && hart->start.pc && !hart->no_code &&
		    rvt_hart_is_told(hart))
			err = release_start(hart);
		break;
	case RVT_EVENT_MARK:
		err = hart_context(hart, event);
		break;
	case RVT_EVENT_LOST:
		return hart_lost(hart, event);
	case RVT_EVENT_START:
		return hart_start(hart, event);
	case RVT_EVENT_STOP:
		return hart_stop(hart, event);
	case RVT_EVENT_TRAP:
		if (!hart->no_code && !rvt_hart_in_guest(&hart->base))
			break;
		if (!hart->no_code) {
			hold_trap(hart, event);
			return 0;
		}
		/* out of the unreadable code: flow goes on in the handler, if that can be read */
		hold_start(hart, &(struct rvt_event){ .type = RVT_EVENT_START,
						      .offset = event->offset,
						      .pc = event->target });
		return 0;
	default:
		break;
	}
	return err ? err : rvt_hart_deliver(hart, event);
}

bool rvt_encoder_tells_time(const struct encoder *encoder)
{
	const struct rvt_params *params = &encoder->params;

	if (params->timestamp_clock != RVT_TIMESTAMP_CLOCK_PLATFORM)
		return false;
	return params->protocol == RVT_PROTOCOL_NTRACE ?
		params->timestamp != RVT_TIMESTAMP_NONE :
		!params->notime_p || params->timestamp_bytes;
}

void rvt_hart_end_flow(struct hart_flow *hart)
{
	/* What nobody wanted to know would keep its tables out of the pool. */
	if (hart->buffer->decode->shares_memos && hart->session->options.count)
		rvt_flow_counts(hart->base.flow, NULL);
	rvt_flow_destroy(hart->base.flow);
}

/*
 * Whether the same bytes mean the same to the flows of both: their encoders are alike, and have the
 * same number if messages name them. Decoders rely on it that a memo is of the flow's own messages.
 */
static bool means_same(const struct encoder *encoder, const struct encoder *other)
{
	return !memcmp(&encoder->params, &other->params, sizeof(other->params)) &&
	       (!encoder_has_src(encoder) || encoder->src == other->src);
}

/*
 * For rvt_flow_set_encoder(); never that of an earlier decoding. Of a dump all sources have one
 * encoder.
 */
static uint64_t encoder_number(const struct hart_flow *hart)
{
	const struct decode_context *decode = hart->buffer->decode;
	const struct rvt_session *session = hart->session;
	size_t n = 0;

	while (n < session->n_encoders && !means_same(&session->encoders[n], hart->encoder))
		n++;
	return decode->n_decodings << 32 | (n + hart->base.source + 1);
}

struct hart_flow *rvt_hart_create(struct buffer *buffer, const struct encoder *encoder, int32_t cpu,
				  unsigned int source)
{
	struct rvt_session *session = buffer->session;
	const struct rvt_session_slices *slices = session_slices(session);
	struct hart_flow *hart = calloc(1, sizeof(*hart));
	const struct rvt_flow_sink sink = {
		.size = sizeof(sink), .ctx = hart,
		.runs = session->sink->runs ? hart_runs : NULL, .event = hart_event,
	};
	struct rvt_flow_config config = { .size = sizeof(config) };

	if (!hart)
		return NULL;
	hart->session = session;
	hart->buffer = buffer;
	hart->encoder = encoder;
	hart->base.cpu = cpu;
	hart->base.number = (uint64_t)buffer->number << 32 | (uint32_t)cpu;
	hart->base.source = session->by_source ? source : 0;
	hart->timed = session->has_time_conv && rvt_encoder_tells_time(encoder);
	rvt_stream_flow_config(&encoder->params, &config);
	config.reference_walk = session->options.reference_walk;
	if (rvt_cursor_create(session->sideband, buffer->decode->image, buffer->decode->kernel,
			      &hart->cursor) ||
	    rvt_flow_create(&config, &sink, &hart->base.flow) ||
	    (session->options.count && rvt_flow_count(hart->base.flow)) ||
	    rvt_hart_open_clock(hart) || hart_update(hart)) {
		rvt_clock_destroy(hart->clock);
		rvt_flow_destroy(hart->base.flow);
		rvt_cursor_destroy(hart->cursor);
		free(hart);
		return NULL;
	}
	if (session->live)
		rvt_cursor_forget_ended(hart->cursor);
	if (buffer->decode->shares_memos)
		rvt_flow_set_encoder(hart->base.flow, encoder_number(hart));
	rvt_flow_begin_slice(hart->base.flow, slices && slices->overlap);
	hart->next = buffer->harts;
	buffer->harts = hart;
	return hart;
}

/*
 * The cursor is at the beginning again. Blocks of what was executed stay, with spaces in which
 * nothing is mapped any more.
 */
int rvt_hart_go_back(struct hart_flow *hart)
{
	const struct rvt_session *session = hart->session;
	const struct decode_context *decode = hart->buffer->decode;
	struct rvt_cursor *cursor;
	int err = rvt_cursor_create(session->sideband, decode->image, decode->kernel, &cursor);

	if (err)
		return err;
	rvt_cursor_clear_spaces(hart->cursor);
	rvt_cursor_destroy(hart->cursor);
	hart->cursor = cursor;
	hart->base.task = NULL;
	hart->base.space = NULL;
	hart->base.moved = 0;
	hart->replaced = false;
	return 0;
}

/* When the record before @aux ended; of a shared sink, that may be in any buffer. */
static uint64_t record_begin(const struct hart_flow *hart, const struct rvt_aux *aux)
{
	const struct rvt_session *session = hart->session;
	uint64_t begin = 0;

	if (!session->shared)
		return hart->buffer->record ? aux[-1].time : 0;
	for (size_t i = 0; i < session->n_buffers && aux->time; i++) {
		const struct buffer *buffer = &session->buffers[i];
		const struct rvt_aux *before = array_floor(buffer->records, buffer->n_records, time,
							   aux->time - 1);

		if (before && before->time > begin)
			begin = before->time;
	}
	return begin;
}

/* When the hart, of which the record has trace, next executes another program. */
static uint64_t next_exec(const struct hart_flow *hart, const struct rvt_aux *aux)
{
	const bool shared = hart->session->shared;

	return rvt_cursor_next_exec(hart->cursor, shared ? -1 : aux->tid,
				    shared ? hart->base.cpu : aux->cpu, aux->time);
}

/*
 * Without time stamps the time of the AUX record must do: it is when its task stopped running, so
 * that what is mapped within it is there. But the driver ends a record at exec, and what ran in it
 * ran before: such a record gets the mappings from just before the exec, if that was on its cpu
 * (but see pass_exec()).
 */
int rvt_hart_begin_record(struct hart_flow *hart, const struct rvt_aux *aux)
{
	const struct rvt_owner_rules rules = owner_rules(hart);
	uint64_t before = record_begin(hart, aux), exec;
	int err = 0;

	hart->base.written = aux->time;
	if (!hart->base.time_exact)
		hart->base.time = aux->time;
	rvt_owner_record(&rules, &hart->base.context);
	if (!hart->timed && !hart->buffer->record && hart->buffer->started)
		err = rvt_hart_stamp(hart, hart->buffer->started);
	if (!err && !hart->timed && before < aux->time)
		err = hart_move(hart, before);
	if (!hart->timed && err >= 0) {
		exec = next_exec(hart, aux);
		hart->exec_record = exec == UINT64_MAX ? 0 : aux->time;
		err = hart_move(hart, exec == UINT64_MAX ? aux->time : exec - 1);
	}
	return err < 0 ? err : hart_update(hart);
}
