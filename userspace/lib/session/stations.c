// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* How stations are made, and how decoding goes on from one. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "index-bytes.h"
#include "index-stations.h"
#include "slice.h"

/* A run has come to its end. This is no errno, nor RVT_SLICE_DONE. */
#define ARRIVED (-4097)

/* Keys of hart flows: their buffer and cpu. */
#define HARTS RVT_STATION_KEYS

/* Stations are so many segments apart, and there are at most so many. */
#define SEGMENTS 4
#define MAX_STATIONS 1024

static uint64_t hart_key(const struct hart_flow *hart)
{
	return HARTS | (uint64_t)hart->buffer->number << 32 | (uint32_t)hart->base.cpu;
}

/* Who runs on it, before what the caller has of it. */
static void put_hart(const struct hart_flow *hart, struct words *words)
{
	const struct rvt_task *task = hart->base.task;

	words_put(words, !!task);
	words_put(words, task ? (uint32_t)task->tid : 0);
	words_put(words, task ? task->life : 0);
	words_put(words, hart->base.time_exact);
	words_put(words, hart->clock && rvt_clock_holds(hart->clock));
}

/* ---- making ---- */

struct making {
	struct rvt_session *session;
	struct rvt_index *index;
	const struct rvt_station_ops *ops;
	struct rvt_station_span *told;
	int (*poll)(void *ctx);
	void *poll_ctx;
	uint64_t bytes, due;	/* apart; the next one is at this many */
	struct station_parts parts;
	struct index_buffer changes;	/* of the station that is being made */
	uint64_t latest;
};

static int keep(void *ctx, uint64_t key, const struct words *words)
{
	struct making *making = ctx;

	return rvt_station_parts_keep(&making->parts, key, words, &making->changes);
}

static int keep_harts(struct making *making)
{
	struct words words = { .at = NULL };
	int err = 0;

	for (size_t i = 0; i < making->session->n_buffers; i++)
		for (const struct hart_flow *hart = making->session->buffers[i].harts; hart && !err;
		     hart = hart->next) {
			words.n = 0;
			put_hart(hart, &words);
			making->ops->save_hart(making->ops->ctx, &hart->base, &words);
			err = words.failed ? -ENOMEM : keep(making, hart_key(hart), &words);
		}
	free(words.at);
	return err;
}

static struct index_spot spot_of(const struct buffer *buffer)
{
	return (struct index_spot){ .record = buffer->record, .begun = buffer->begun,
				    .done = buffer->begun ? buffer->done : 0,
				    .time = buffer->time };
}

/* Notes what was told since the last station, to which it belongs. */
static void note_told(struct making *making)
{
	struct rvt_index *index = making->index;
	struct rvt_station_span *told = making->told;

	if (told->earliest <= told->latest) {
		if (told->latest > making->latest)
			making->latest = told->latest;
		if (index->n_stations && told->earliest <
		    index->stations[index->n_stations - 1].earliest)
			index->stations[index->n_stations - 1].earliest = told->earliest;
	}
	*told = (struct rvt_station_span){ .earliest = UINT64_MAX };
}

static int add_station(struct making *making)
{
	const struct rvt_session *session = making->session;
	struct rvt_index *index = making->index;
	struct index_station *station;
	int err;

	note_told(making);
	if (array_grow(&index->stations, index->n_stations))
		return -ENOMEM;
	station = &index->stations[index->n_stations++];
	*station = (struct index_station){
		.latest = making->latest, .earliest = UINT64_MAX,
		.spots = calloc(session->n_buffers + 1, sizeof(*station->spots)) };
	if (!station->spots)
		return -ENOMEM;
	for (size_t i = 0; i < session->n_buffers; i++)
		station->spots[i] = spot_of(&session->buffers[i]);
	making->changes = (struct index_buffer){ .at = NULL };
	err = keep_harts(making);
	if (!err)
		err = making->ops->save(making->ops->ctx, keep, making);
	station->changes = making->changes.at;
	station->len = making->changes.n;
	return err;
}

/* Returns whether the decoder has passed on all that it has read. */
static bool is_between_messages(const struct rvt_session *session)
{
	for (size_t i = 0; i < session->n_buffers; i++)
		if (session->buffers[i].pending)
			return false;
	return true;
}

static int look(void *ctx)
{
	struct making *making = ctx;
	uint64_t done = making->session->stats.session.trace_bytes;
	int err = making->poll ? making->poll(making->poll_ctx) : 0;

	if (err || done < making->due || !is_between_messages(making->session))
		return err;
	making->due = done + making->bytes;
	return add_station(making);
}

/* Behind all that is told at the end. */
static int add_end(struct making *making)
{
	struct rvt_index *index = making->index;
	const struct rvt_session *session = making->session;
	int err = 0;

	/* hart flows are gone, and all buffers are at their beginning again */
	err = add_station(making);
	for (size_t i = 0; i < session->n_buffers && !err; i++)
		index->stations[index->n_stations - 1].spots[i] =
			(struct index_spot){ .record = session->buffers[i].n_records };
	return err;
}

static int run_all(struct rvt_session *session)
{
	int err;

	session->by_message = true;
	err = rvt_session_run_merged(session);
	session->by_message = false;
	return err == 1 ? 0 : err;
}

int rvt_stations_make(struct rvt_session *session, struct rvt_index *index,
		      const struct rvt_session_sink *sink, const struct rvt_station_ops *ops,
		      struct rvt_station_span *told)
{
	struct making making = { .session = session, .index = index, .ops = ops, .told = told,
				 .poll = sink->poll, .poll_ctx = sink->poll_ctx,
				 .bytes = SEGMENTS * session->options.slice_bytes };
	struct rvt_session_totals stats = session->stats;
	bool accesses = session->options.accesses;
	struct rvt_session_sink own = *sink;
	int err;

	own.poll = look;
	own.poll_ctx = &making;
	*told = (struct rvt_station_span){ .earliest = UINT64_MAX };
	index->n_spots = session->n_buffers;
	if (making.bytes < index->trace / MAX_STATIONS)
		making.bytes = index->trace / MAX_STATIONS;
	/* views that keep stacks want none */
	session->options.accesses = false;
	err = rvt_session_prepare(session, &own);
	if (!err && session->shared)
		err = -ENOTSUP;
	if (!err)
		err = rvt_session_complete(session, run_all(session));
	if (!err)
		err = add_end(&making);
	session->options.accesses = accesses;
	for (size_t i = index->n_stations; i-- > 1;)
		if (index->stations[i].earliest < index->stations[i - 1].earliest)
			index->stations[i - 1].earliest = index->stations[i].earliest;
	session->stats = stats;
	session->sink = NULL;
	rvt_station_parts_free(&making.parts);
	if (err)
		rvt_stations_drop(index);
	return err;
}

/* ---- going on from one ---- */

/* What slices tell is told in order. Nothing is behind these. */
static const struct rvt_session_slices going_on = { .overlap = true };

struct going {
	struct rvt_session *session;
	const struct rvt_station_run *run;
	const struct index_station *from;
	size_t to;
	struct slice *slices;	/* of each buffer; those that had ended have none */
	size_t n_open;		/* those before it are slices that were begun */
	size_t apart;		/* a buffer that is not at .to */
	int (*poll)(void *ctx);
	void *poll_ctx;
};

static bool is_at(const struct buffer *buffer, const struct index_spot *spot)
{
	return buffer->record == spot->record && buffer->begun == spot->begun &&
		(!buffer->begun || buffer->done == spot->done) && !buffer->pending;
}

static bool is_past(const struct buffer *buffer, const struct index_spot *spot)
{
	if (buffer->record != spot->record)
		return buffer->record > spot->record;
	return buffer->begun && (!spot->begun || buffer->done > spot->done);
}

/* The segment before the one that has the place: what a slice begins with need not be whole. */
static struct slice first_slice(const struct rvt_index *index, const struct buffer *buffer,
				const struct index_spot *spot)
{
	const struct index_segment *segment = NULL, *before = NULL;
	uint64_t at = buffer->records[spot->record].offset + (spot->begun ? spot->done : 0);
	struct slice slice = { .buffer = buffer->number, .to = UINT64_MAX,
			       .end_record = buffer->n_records };

	for (size_t i = 0; i < index->n_segments; i++) {
		const struct index_segment *next = &index->segments[i];

		if (next->buffer != buffer->number || next->from > at ||
		    next->record > spot->record)
			continue;
		before = segment;
		segment = next;
	}
	if (!before)
		return slice;
	slice.from = before->from;
	slice.record = before->record;
	slice.done = before->from - buffer->records[before->record].offset;
	return slice;
}

/* Decodes up to @spot, and nothing of that counts. Returns 0, or -EAGAIN: it does not get there. */
static int go_to(struct buffer *buffer, const struct index_spot *spot)
{
	int more = 1;

	while (more > 0 && !is_at(buffer, spot)) {
		if (is_past(buffer, spot))
			return -EAGAIN;
		more = rvt_buffer_step(buffer, STEP_MESSAGE);
	}
	if (more < 0)
		return more;
	return is_at(buffer, spot) && buffer->time == spot->time ? 0 : -EAGAIN;
}

static int open_buffers(struct going *going)
{
	struct rvt_session *session = going->session;
	int err = 0;

	for (; going->n_open < session->n_buffers && !err; going->n_open++) {
		struct buffer *buffer = &session->buffers[going->n_open];
		const struct index_spot *spot = &going->from->spots[going->n_open];
		struct slice *slice = &going->slices[going->n_open];

		if (spot->record >= buffer->n_records) {
			buffer->record = buffer->n_records;
			continue;
		}
		*slice = first_slice(going->run->index, buffer, spot);
		rvt_session_prepare_slices(buffer);
		err = rvt_buffer_begin_slice(buffer, slice);
		if (!err)
			err = go_to(buffer, spot);
	}
	return err;
}

static int load_hart(struct going *going, struct hart_flow *hart, struct words *words)
{
	struct words own = { .at = NULL };
	bool same;

	put_hart(hart, &own);
	same = !own.failed;
	for (size_t i = 0; i < own.n; i++)
		same &= words_get(words) == own.at[i];
	free(own.at);
	if (!same)
		return -EAGAIN;
	return going->run->load_hart(going->run->ctx, &hart->base, words);
}

static int take_hart(void *ctx, uint64_t key, struct words *words)
{
	struct going *going = ctx;
	const struct rvt_session *session = going->session;
	uint32_t number = (key & ~HARTS) >> 32;
	struct hart_flow *hart = number < session->n_buffers ? session->buffers[number].harts :
				 NULL;

	/* one that had ended has nothing more to tell */
	if (number < session->n_buffers &&
	    session->buffers[number].record >= session->buffers[number].n_records)
		return 0;
	while (hart && hart_key(hart) != key)
		hart = hart->next;
	return hart ? load_hart(going, hart, words) : -EAGAIN;
}

static int arrive(struct going *going)
{
	int err = going->run->arrive(going->run->ctx);

	return err ? err : rvt_station_reader_walk(going->run->reader, HARTS, UINT64_MAX, take_hart,
						   going);
}

static bool has_end(const struct going *going)
{
	return going->to >= rvt_stations_n(going->run->index);
}

/* Whether all have come to the next station, and that is the end: from message to message. */
static int look_for_end(void *ctx)
{
	struct going *going = ctx;
	const struct rvt_session *session = going->session;
	const struct index_spot *spots = going->run->index->stations[going->to].spots;
	int err = going->poll ? going->poll(going->poll_ctx) : 0;

	if (err || has_end(going) || going->n_open < session->n_buffers)
		return err;
	if (!is_at(&session->buffers[going->apart], &spots[going->apart]))
		return is_past(&session->buffers[going->apart], &spots[going->apart]) ?
			-EAGAIN : 0;
	for (size_t i = 0; i < session->n_buffers; i++)
		if (!is_at(&session->buffers[i], &spots[i])) {
			going->apart = i;
			return 0;
		}
	if (!going->run->further(going->run->ctx, going->to))
		return ARRIVED;
	going->to++;
	return 0;
}

static int go_on(struct going *going)
{
	int err = open_buffers(going);

	if (!err)
		err = arrive(going);
	if (!err)
		err = run_all(going->session);
	if (err == ARRIVED)
		return going->run->leave(going->run->ctx, going->to);
	/* the end comes before the place */
	return err || has_end(going) ? err : -EAGAIN;
}

/* Each has a slice, or nothing is left of it. At the end of the recording what it tells counts. */
static int close_buffers(struct going *going, int err)
{
	struct rvt_session *session = going->session;

	for (size_t i = 0; i < session->n_buffers; i++) {
		struct buffer *buffer = &session->buffers[i];

		if (buffer->slice)
			err = rvt_buffer_end_slice(buffer, err);
		for (struct hart_flow *hart = buffer->harts; hart; hart = hart->next)
			rvt_cursor_clear_spaces(hart->cursor);
		rvt_buffer_rewind(buffer);
		buffer->slice = NULL;
		buffer->stats = &session->stats;
		free(going->slices[i].sources);
	}
	return err;
}

int rvt_stations_run(struct rvt_session *session, const struct rvt_session_sink *sink,
		     const struct rvt_station_run *run)
{
	const struct rvt_index *index = run->index;
	struct rvt_session_totals stats = session->stats;
	struct going going = {
		.session = session, .run = run, .from = &index->stations[run->from],
		.to = run->from + 1,
		.slices = calloc(session->n_buffers + 1, sizeof(*going.slices)),
		.poll = sink->poll, .poll_ctx = sink->poll_ctx,
	};
	struct rvt_session_sink own = *sink;
	int err = going.slices ? rvt_station_reader_seek(run->reader, run->from) : -ENOMEM;

	own.poll = look_for_end;
	own.poll_ctx = &going;
	own.warning = NULL;
	if (!err)
		err = rvt_session_prepare(session, &own);
	if (!err) {
		session->slices = &going_on;
		err = close_buffers(&going, go_on(&going));
		session->slices = NULL;
	}
	session->sink = NULL;
	session->stats = stats;
	free(going.slices);
	return err;
}
