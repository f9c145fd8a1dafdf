// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* The flow of a hart: whose it is, when it was, and what of it is told. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "util/array.h"
#include "flow/engine.h"
#include "parts.h"
#include "state.h"

/* ---- whose flow it is ---- */

/*
 * Where the trace itself says whose it is and when it was, a driver need not end the AUX record
 * when the task stops running: it may have several turns of the task in it, and ends when somebody
 * else runs, whom it names.
 */
static bool may_end_late(const struct lane *lane)
{
	return lane->timed && lane->session->contexts;
}

/*
 * Only some tasks were traced: an AUX record that ends with its task's turn names its thread. But
 * tasks that inherit the same events follow each other in one record: perf hands the running events
 * from one to the other. With time stamps the context switches are more exact.
 */
static int32_t lane_tid_by_task(const struct lane *lane)
{
	const struct buffer *buffer = lane->buffer;
	int32_t running = lane->timed && lane->session->has_switches ?
		rvt_cursor_running(lane->cursor, lane->lane.cpu) : -1;

	if (running >= 0 || may_end_late(lane))
		return running;
	return buffer->records[buffer->record].tid;
}

static bool tells_thread(const struct lane *lane, const struct rvt_context *context)
{
	return lane->session->hcontext_max ? context->hcontext_valid : context->scontext_valid;
}

bool lane_is_told(const struct lane *lane)
{
	return tells_thread(lane, &lane->lane.context);
}

/* -1: the trace has not told the thread id, or says that it has no room for it. */
static int32_t lane_told_tid(const struct lane *lane)
{
	const struct rvt_context *context = &lane->lane.context;
	uint64_t max = lane->session->hcontext_max;

	if (!lane_is_told(lane) || lane->session->foreign_ids)
		return -1;
	if (!max)
		return context->scontext;
	return context->hcontext < max ? (int32_t)context->hcontext : -1;
}

/* The thread id by the trace, else by how the recording was made, else by the context switches. */
static int32_t lane_tid(const struct lane *lane)
{
	const struct buffer *buffer = lane->buffer;
	int32_t told = lane_told_tid(lane);

	if (told >= 0)
		return told;
	if (buffer->tid >= 0)
		return buffer->tid;
	if (lane->session->by_task && buffer->record < buffer->n_records)
		return lane_tid_by_task(lane);
	return rvt_cursor_running(lane->cursor, lane->lane.cpu);
}

struct counting {
	struct lane *lane;
	const struct rvt_session_sink *sink;
	bool locked;		/* from the first that is told until end_telling() */
};

/* Of thousands of counts each is told in no time. */
static void begin_telling(struct counting *c)
{
	if (!c->locked)
		session_lock(c->lane->session);
	c->locked = true;
}

static void end_telling(struct counting *c)
{
	if (c->locked)
		session_unlock(c->lane->session);
	c->locked = false;
}

static int on_count_run(void *ctx, const struct rvt_run *run, uint64_t times)
{
	struct counting *c = ctx;

	if (!c->sink->count_run)
		return 0;
	begin_telling(c);
	return c->sink->count_run(c->sink->ctx, &c->lane->lane, run, times);
}

static int on_count_edge(void *ctx, uint64_t from, uint64_t to, enum rvt_insn_class iclass,
			 int64_t times)
{
	struct counting *c = ctx;

	if (!c->sink->count_edge)
		return 0;
	begin_telling(c);
	return c->sink->count_edge(c->sink->ctx, &c->lane->lane, from, to, iclass, times);
}

static bool lane_counts(const struct lane *lane)
{
	const struct rvt_session_sink *sink = lane->session->sink;

	return lane->session->options.count && (sink->count_run || sink->count_edge);
}

/* What was counted and is not set aside, for who runs now. */
static int tell_present(struct lane *lane)
{
	struct counting c = { .lane = lane, .sink = lane->session->sink };
	const struct rvt_count_sink counts = { &c, on_count_run, on_count_edge };
	int err = rvt_flow_counts(lane->lane.flow, &counts);

	end_telling(&c);
	return err;
}

/* What was set aside for @owner. What was counted since must have been told, or set aside. */
static int tell_owner(struct lane *lane, struct lane_owner *owner)
{
	const struct rvt_task *task = lane->lane.task;
	struct rvt_space *space = lane->lane.space;
	int err;

	if (!owner->counted)
		return 0;
	owner->counted = false;
	rvt_flow_take_back(lane->lane.flow, owner - lane->owners);
	lane->lane.task = owner->has_task ? &owner->task : NULL;
	lane->lane.space = owner->space;
	err = tell_present(lane);
	lane->lane.task = task;
	lane->lane.space = space;
	return err;
}

int lane_tell_counts(struct lane *lane)
{
	int err = lane_counts(lane) ? tell_present(lane) : 0;

	for (size_t i = 0; i < lane->n_owners && !err; i++)
		err = tell_owner(lane, &lane->owners[i]);
	return err;
}

int lane_end_edge(struct lane *lane, bool executed)
{
	struct counting c = { .lane = lane, .sink = lane->session->sink };
	struct rvt_count edge;
	int err;

	if (!rvt_flow_left(lane->lane.flow, &edge) || !executed)
		return 0;
	err = on_count_edge(&c, edge.a, edge.b, edge.c, edge.times);
	end_telling(&c);
	return err;
}

static bool is_owner(const struct lane_owner *owner, const struct lane_owner *who)
{
	const struct rvt_task *a = &owner->task, *b = &who->task;

	if (owner->by_name != who->by_name || owner->space != who->space ||
	    owner->has_task != who->has_task || a->comm != b->comm)
		return false;
	return who->by_name || !who->has_task ||
	       (a->pid == b->pid && a->tid == b->tid && a->space == b->space &&
		a->life == b->life);
}

/* Who runs now, as an owner of counts. NULL: out of memory. */
static struct lane_owner *present_owner(struct lane *lane, bool by_name)
{
	const struct lane_owner who = {
		.has_task = lane->lane.task, .by_name = by_name,
		.space = by_name ? lane->buffer->world->kernel : lane->lane.space,
		.task = lane->lane.task ? *lane->lane.task : (struct rvt_task){ .pid = -1 },
	};
	struct lane_owner *owner = lane->owners, *end = owner + lane->n_owners;

	while (owner < end && !is_owner(owner, &who))
		owner++;
	if (owner < end)
		return owner;
	if (array_reserve(&lane->owners, &lane->owners_room, lane->n_owners, 1))
		return NULL;
	owner = &lane->owners[lane->n_owners++];
	*owner = who;
	return owner;
}

/* What was counted in @halves belongs to who runs now. What there is no room for stays. */
static void set_aside(struct lane *lane, bool by_name, unsigned int halves)
{
	struct lane_owner *owner = present_owner(lane, by_name);

	if (owner)
		owner->counted |= rvt_flow_set_aside(lane->lane.flow, owner - lane->owners, halves);
}

/*
 * What was counted is set aside as far as that pays, the rest is told. Live sideband does not stay:
 * all is told.
 */
static int leave_counts(struct lane *lane)
{
	const struct rvt_session_options *options = &lane->session->options;
	int err;

	if (!lane_counts(lane))
		return 0;
	if (!lane->session->live) {
		if (options->count_names && !options->count_threads)
			set_aside(lane, true, RVT_ASIDE_HIGH);
		set_aside(lane, false, RVT_ASIDE_BOTH);
	}
	err = tell_present(lane);
	return err || !lane->lane.flow->aside.full ? err : lane_tell_counts(lane);
}

/* Up to @time code changes that counts are of, or whose they are: these must be told before. */
static int tell_replaced(struct lane *lane, uint64_t time)
{
	int err = 0;

	if (!lane_counts(lane) || rvt_cursor_next(lane->cursor) > time)
		return 0;
	if (rvt_cursor_replaces(lane->cursor, lane->lane.task, time))
		err = leave_counts(lane);
	for (size_t i = 0; i < lane->n_owners && !err; i++) {
		const struct lane_owner *owner = &lane->owners[i];
		/* What becomes of the task does not matter to those of its name. */
		const struct rvt_task *task = owner->has_task && !owner->by_name ? &owner->task :
					      NULL;

		if (!owner->counted || !rvt_cursor_replaces(lane->cursor, task, time))
			continue;
		err = leave_counts(lane);
		if (!err)
			err = tell_owner(lane, &lane->owners[i]);
	}
	return err;
}

/* What was counted so far belongs to somebody else than what comes. */
static bool is_another(const struct lane *lane, const struct rvt_task *task,
		       const struct rvt_space *space)
{
	const struct rvt_task *now = lane->lane.task;

	if (!lane->lane.space)
		return false;
	if (space != lane->lane.space || !task != !now)
		return true;
	return task && (task->comm != now->comm ||
			(lane->session->options.count_threads && task != now));
}

/* Takes the task and its space from the cursor; the flow goes on in that space. */
static int lane_update(struct lane *lane)
{
	int32_t tid = lane_tid(lane);
	struct rvt_space *space = lane->buffer->world->kernel;
	const struct rvt_task *task = NULL;
	int err = 0;

	if (tid >= 0) {
		task = rvt_cursor_task(lane->cursor, tid);
		if (!task)
			return -ENOMEM;
		space = task->space;
	}
	if (is_another(lane, task, space))
		err = leave_counts(lane);
	lane->lane.task = task;
	if (space != lane->lane.space) {
		lane->lane.space = space;
		rvt_flow_set_space(lane->lane.flow, space);
	}
	return err;
}

/* Moves the cursor. As rvt_cursor_seek(). */
static int lane_move(struct lane *lane, uint64_t time)
{
	int err = tell_replaced(lane, time);

	return err ? err : rvt_cursor_seek(lane->cursor, time);
}

int lane_seek(struct lane *lane, uint64_t time)
{
	int moved = lane_move(lane, time);

	return moved > 0 ? lane_update(lane) : moved;
}

/* Counts, and statistics alone, need no times but those at which something changes. */
static bool lane_needs_times(const struct lane *lane)
{
	const struct rvt_session_options *options = &lane->session->options;
	const struct rvt_session_sink *sink = lane->session->sink;

	return options->every_time || (!options->count && (sink->runs || sink->event));
}

static void note_time(struct lane *lane)
{
	struct part *part = lane->buffer->part;
	uint64_t time = lane->lane.time;

	/* What is behind its end the next part notes. */
	if (!part || lane->lane.flow->part.left)
		return;
	if (!part->latest || time < part->earliest)
		part->earliest = time;
	if (time > part->latest)
		part->latest = time;
}

/*
 * A tick of the counter lasts many nanoseconds: what the kernel logged within it may have happened
 * before the message. Mappings that come too early do no harm, those that are missing do.
 */
static int lane_time(struct lane *lane, uint64_t ticks)
{
	const struct rvt_record_time_conv *conv = &lane->session->time_conv;
	uint64_t next, until;
	int err;

	if (!lane->session->has_time_conv)
		return 0;
	if (lane->buffer->part && !lane->lane.time_exact)
		lane->buffer->part->untimed_at_begin |= lane_executed(lane) != lane->part_insns;
	lane->lane.time = rvt_time_to_perf(conv, ticks);
	lane->lane.time_exact = true;
	lane->buffer->time = lane->lane.time;
	note_time(lane);
	err = lane_seek(lane, rvt_time_to_perf(conv, ticks + 1) - 1);
	if (err || lane_needs_times(lane) ||
	    (conv->cap_user_time_short && ~conv->time_mask))
		return err;
	next = rvt_cursor_next(lane->cursor);
	if (lane->session->live && next > lane->session->horizon)
		next = lane->session->horizon;	/* what comes behind it is not known yet */
	until = next == UINT64_MAX ? UINT64_MAX : rvt_time_from_perf(conv, next);
	rvt_flow_quiet(lane->lane.flow, until > 2 ? until - 2 : 0);
	return 0;
}

uint64_t lane_executed(const struct lane *lane)
{
	struct rvt_flow_stats stats;

	rvt_flow_stats(lane->lane.flow, &stats);
	return stats.insns;
}

static int lane_context(struct lane *lane, const struct rvt_context *context)
{
	struct rvt_context *now = &lane->lane.context;

	if (context->prv_valid) {
		now->prv = context->prv;
		now->v = context->v;
		now->prv_valid = true;
	}
	if (context->hcontext_valid) {
		now->hcontext = context->hcontext;
		now->hcontext_valid = true;
	}
	if (context->scontext_valid) {
		now->scontext = context->scontext;
		now->scontext_valid = true;
	}
	if (!tells_thread(lane, context))
		return 0;
	if (lane->buffer->part && !lane->owned) {
		lane->owned = true;
		lane->buffer->part->unowned_at_begin |= lane_executed(lane) != lane->part_insns;
	}
	return lane_update(lane);
}

/* ---- what the flow says ---- */

/* How the flow that comes belongs to the parts before and behind. */
static void look_at_part(struct lane *lane)
{
	if (!session_parts(lane->session))
		return;
	lane->lane.resumed = lane->lane.flow->part.resumed;
	/* what comes from here on may be lost to this part, and is the next one's */
	if (lane->lane.flow->part.left && !lane->lane.left)
		lane->buffer->part->owned_at_end |= lane_is_told(lane);
	lane->lane.left = lane->lane.flow->part.left;
}

/* @err is what a call-back returned. */
static int take_answer(struct lane *lane, int err)
{
	if (err != RVT_PART_TOLD)
		return err;
	lane->told = true;
	return 0;
}

int lane_deliver(struct lane *lane, const struct rvt_event *event)
{
	const struct rvt_session_sink *sink = lane->session->sink;
	int err;

	if (!sink->event || lane->told)
		return 0;
	if (session_parts(lane->session))
		return take_answer(lane, sink->event(lane->buffer->ctx, &lane->lane, event));
	session_lock(lane->session);
	err = sink->event(lane->buffer->ctx, &lane->lane, event);
	session_unlock(lane->session);
	return err;
}

int lane_damage(struct lane *lane, const struct rvt_event *event)
{
	look_at_part(lane);
	return lane_deliver(lane, event);
}

static int deliver_start(struct lane *lane, const struct rvt_event *start)
{
	if (lane->buffer->part && session_parts(lane->session))
		lane->buffer->part->unowned_at_begin |= !lane->owned;
	return lane_deliver(lane, start);
}

/*
 * A START is held back for two reasons. Through code that cannot be read (a missing file, the
 * kernel of a recording that has no copy of it) a decoder stumbles from message to message. That is
 * one gap: a START after it waits until something was executed, and is forgotten when the next
 * thing is the same loss again. And in N-Trace whose flow it is comes behind the synchronisation:
 * until then a START would be told of who ran before.
 */
static int release_start(struct lane *lane)
{
	uint64_t time = lane->lane.time;
	bool left = lane->lane.left;
	int err = 0;

	lane->no_code = false;
	if (!lane->start_held)
		return 0;
	lane->start_held = false;
	if (!lane_is_told(lane))
		err = lane_update(lane);
	lane->lane.left = lane->start_left;
	lane->lane.time = lane->start_time;
	if (!err)
		err = deliver_start(lane, &lane->start);
	lane->lane.left = left;
	lane->lane.time = time;
	return err;
}

static int lane_runs(void *ctx, const struct rvt_run *runs, size_t n)
{
	struct lane *lane = ctx;
	const struct rvt_session_sink *sink = lane->session->sink;
	int err = release_start(lane);

	look_at_part(lane);
	if (err || !sink->runs || lane->told)
		return err;
	return take_answer(lane, sink->runs(lane->buffer->ctx, &lane->lane, runs, n));
}

static int lane_lost(struct lane *lane, const struct rvt_event *event)
{
	bool again = lane->no_code && event->reason == RVT_REASON_NO_CODE;
	int err = 0;

	lane->start_held = false;
	if (!again) {
		/* behind the part it is the next one's loss */
		lane->no_code = event->reason == RVT_REASON_NO_CODE && !lane->lane.left;
		err = lane_deliver(lane, event);
	}
	/* Ownership may have changed unseen, but not by what is only unreadable. */
	if (err || event->reason == RVT_REASON_NO_CODE)
		return err;
	memset(&lane->lane.context, 0, sizeof(lane->lane.context));
	return lane_update(lane);
}

static void hold_start(struct lane *lane, const struct rvt_event *start)
{
	lane->start = *start;
	lane->start.detail = NULL;
	lane->start_held = true;
	lane->start_left = lane->lane.left;
	lane->start_time = lane->lane.time;
	lane->start_insns = lane_executed(lane);
}

/*
 * What breaks the flow off is told whatever came before the part, so it is kept what was taken for
 * granted. A loss in code that cannot be read is most likely part of one that began before.
 */
static void note_in_part(struct lane *lane, const struct rvt_event *event)
{
	struct part *part = lane->buffer->part;
	bool unreadable = event->type == RVT_EVENT_LOST && event->reason == RVT_REASON_NO_CODE;

	if (session_parts(lane->session)) {
		part->unowned_at_begin |= !lane->owned && event->type != RVT_EVENT_START;
		part->untimed_at_begin |= !lane->lane.time_exact;
	}
	if (lane->lane.left && lane->no_code)
		lane->told = part->lost_at_end = true;
	/* the next part takes it for granted that this one has told it */
	if (lane->lane.left && unreadable && !lane->told &&
	    lane_executed(lane) == lane->lane.flow->part.stats.insns) {
		lane->lane.left = false;
		lane_deliver(lane, event);
		lane->told = part->lost_at_end = true;
	}
	if (!part->from || part->lost_at_begin || lane->no_code || event->type == RVT_EVENT_START ||
	    lane_executed(lane) != lane->part_insns)
		return;
	if (unreadable && !part->broken_at_begin)
		lane->no_code = part->lost_at_begin = true;
	else
		part->broken_at_begin = true;
}

/* An Ownership message follows each synchronisation (N-Trace 1.0, 7.1). */
static bool owner_follows(const struct lane *lane)
{
	return lane->session->contexts && lane->encoder->params.protocol == RVT_PROTOCOL_NTRACE;
}

/* Somebody else may run when tracing goes on. */
static int lane_stop(struct lane *lane, const struct rvt_event *event)
{
	int err = lane->no_code ? 0 : lane_deliver(lane, event);

	lane->start_held = false;
	if (err || !owner_follows(lane))
		return err;
	lane->lane.context.scontext_valid = lane->lane.context.hcontext_valid = false;
	return lane_update(lane);
}

static int lane_start(struct lane *lane, const struct rvt_event *event)
{
	if (!lane->no_code && (lane_is_told(lane) || !owner_follows(lane)))
		return deliver_start(lane, event);
	hold_start(lane, event);
	return 0;
}

/* Whether nothing that a held START may wait for is left to come before @event. */
static bool ends_holding(const struct lane *lane, const struct rvt_event *event)
{
	if (!lane->start_held)
		return false;
	if (lane_executed(lane) != lane->start_insns)
		return true;
	return !lane->no_code && event->type != RVT_EVENT_TIME && event->type != RVT_EVENT_CONTEXT;
}

static int lane_event(void *ctx, const struct rvt_event *event)
{
	struct lane *lane = ctx;
	int err = 0;

	if (ends_holding(lane, event))
		err = release_start(lane);
	if (err)
		return err;
	look_at_part(lane);
	if (lane->buffer->part && event->type != RVT_EVENT_TIME && event->type != RVT_EVENT_CONTEXT)
		note_in_part(lane, event);
	switch (event->type) {
	case RVT_EVENT_TIME:
		err = lane_time(lane, event->time);
		break;
	case RVT_EVENT_CONTEXT:
		err = lane_context(lane, &event->context);
		if (!err && lane->start_held && !lane->no_code && lane_is_told(lane))
			err = release_start(lane);
		break;
	case RVT_EVENT_LOST:
		return lane_lost(lane, event);
	case RVT_EVENT_START:
		return lane_start(lane, event);
	case RVT_EVENT_STOP:
		return lane_stop(lane, event);
	case RVT_EVENT_TRAP:
		if (!lane->no_code)
			break;
		/* out of the unreadable code: flow goes on in the handler, if that can be read */
		hold_start(lane, &(struct rvt_event){ .type = RVT_EVENT_START,
						      .offset = event->offset,
						      .pc = event->target });
		return 0;
	default:
		break;
	}
	return err ? err : lane_deliver(lane, event);
}

/* E-Trace has time stamps in packets, or in the frames around them. */
static bool has_stamps(const struct rvt_params *params)
{
	return params->protocol == RVT_PROTOCOL_NTRACE ?
		params->timestamp != RVT_TIMESTAMP_NONE :
		!params->notime_p || params->timestamp_bytes;
}

void lane_end_flow(struct lane *lane)
{
	struct world *world = lane->buffer->world;
	struct rvt_flow *before = world->teacher;

	if (!world->teaches) {
		rvt_flow_destroy(lane->lane.flow);
		return;
	}
	rvt_flow_retire(lane->lane.flow);
	world->teacher = lane->lane.flow;
	world->taught_of = lane->encoder;
	rvt_flow_destroy(before);
}

void world_end_teaching(struct world *world)
{
	world->teaches = false;
	rvt_flow_destroy(world->teacher);
	world->teacher = NULL;
}

struct lane *lane_create(struct buffer *buffer, const struct encoder *encoder, int32_t cpu)
{
	struct rvt_session *session = buffer->session;
	const struct rvt_session_parts *parts = session_parts(session);
	struct lane *lane = calloc(1, sizeof(*lane));
	const struct rvt_flow_sink sink = {
		.ctx = lane, .runs = session->sink->runs ? lane_runs : NULL, .event = lane_event,
	};
	struct rvt_flow_config config = { .size = sizeof(config) };

	if (!lane)
		return NULL;
	lane->session = session;
	lane->buffer = buffer;
	lane->encoder = encoder;
	lane->lane.cpu = cpu;
	lane->timed = session->has_time_conv && has_stamps(&encoder->params);
	rvt_stream_flow_config(&encoder->params, &config);
	config.reference_walk = session->options.reference_walk;
	if (rvt_cursor_create(session->owner, buffer->world->image, buffer->world->kernel,
			      &lane->cursor) ||
	    rvt_flow_create(&config, &sink, &lane->lane.flow) ||
	    (session->options.count && rvt_flow_count(lane->lane.flow)) || lane_update(lane)) {
		rvt_flow_destroy(lane->lane.flow);
		rvt_cursor_destroy(lane->cursor);
		free(lane);
		return NULL;
	}
	/* What messages lead to is the same where the encoder is. */
	if (buffer->world->teacher && !memcmp(&buffer->world->taught_of->params, &encoder->params,
					      sizeof(encoder->params)))
		lane->lane.flow->teacher = buffer->world->teacher;
	rvt_flow_begin_part(lane->lane.flow, parts && parts->overlap);
	lane->next = buffer->lanes;
	buffer->lanes = lane;
	return lane;
}

/*
 * Without time stamps the time of the AUX record must do: it is when its task stopped running, so
 * that what is mapped within it is there. But the driver ends a record at exec, and what ran in it
 * ran before: such a record gets the mappings from just before the exec.
 */
int lane_begin_record(struct lane *lane, const struct rvt_aux *aux)
{
	uint64_t before = lane->buffer->record ? aux[-1].time : 0, exec;
	int err = 0;

	lane->lane.written = aux->time;
	if (!lane->lane.time_exact)
		lane->lane.time = aux->time;
	/* Whose it is a trace that says so says again only when it changes. */
	if (lane->session->by_task && !lane->session->contexts)
		lane->lane.context.scontext_valid = lane->lane.context.hcontext_valid = false;
	if (!lane->timed && before < aux->time)
		err = lane_move(lane, before);
	if (!lane->timed && err >= 0) {
		exec = rvt_cursor_next_exec(lane->cursor, aux->tid, aux->time);
		err = lane_move(lane, exec == UINT64_MAX ? aux->time : exec - 1);
	}
	return err < 0 ? err : lane_update(lane);
}
