// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Parts are slices that one thread decodes, one at a time (slice.h). Two that do not fit together
 * become one.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "util/array.h"
#include "parts.h"
#include "slice.h"
#include "state.h"

/*
 * After so many parts that do not fit, the rest of the buffer is one part: it would be decoded too
 * often otherwise.
 */
#define MAX_JOINED 8

struct rvt_parts {
	struct rvt_session *session;
	struct slice *slices;
	size_t n;
	struct { struct rvt_cursor *cursor; uint64_t time; } at[2];	/* of rvt_parts_space() */
	unsigned int next;	/* of .at: to be used again */
};

/* How far a buffer was decoded before one of its parts. */
struct progress {
	struct joint joint;
	struct rvt_session_totals stats;
};

/* A buffer that is decoded the first time. */
struct first_run {
	struct rvt_parts *parts;
	size_t first;			/* of its parts */
	struct progress *progress;	/* before each of them, and behind the last */
	size_t n;			/* that there is progress of */
	unsigned int joined;		/* so often in succession */
	size_t joined_at;
};

/* What they tell is told in order, and nothing twice. */
static const struct rvt_session_slices in_order;

static void clear_spaces(struct buffer *buffer)
{
	for (struct hart_flow *hart = buffer->harts; hart; hart = hart->next)
		rvt_cursor_clear_spaces(hart->cursor);
}

/* Goes back to the beginning of the buffer, of which nothing is known then. */
static void rewind_buffer(struct buffer *buffer)
{
	clear_spaces(buffer);
	rvt_buffer_rewind(buffer);
	buffer->slice = NULL;
	buffer->stats = &buffer->session->stats;
}

static int decode(struct buffer *buffer, struct slice *slice)
{
	int err = rvt_buffer_begin_slice(buffer, slice), more = 1;

	while (!err && more && !rvt_buffer_slice_done(buffer)) {
		more = rvt_buffer_step(buffer, rvt_buffer_slice_step(buffer));
		if (more < 0)
			err = more;
	}
	err = rvt_buffer_end_slice(buffer, err);
	rewind_buffer(buffer);
	return err;
}

/* ---- the first time ---- */

static int copy_progress(struct progress *to, const struct progress *from)
{
	size_t n = from->joint.n_sources;

	*to = *from;
	to->joint.sources = NULL;
	if (!n)
		return 0;
	to->joint.sources = malloc(n * sizeof(*to->joint.sources));
	to->joint.room = n;
	if (!to->joint.sources)
		return -ENOMEM;
	memcpy(to->joint.sources, from->joint.sources, n * sizeof(*to->joint.sources));
	return 0;
}

/* Forgets the progress behind part @n. */
static void go_back(struct first_run *run, size_t n)
{
	while (run->n > n - run->first + 1)
		free(run->progress[--run->n].joint.sources);
}

/* Forgets all of the slice but where it is. */
static void forget(struct slice *slice)
{
	free(slice->sources);
	*slice = (struct slice){ .buffer = slice->buffer, .from = slice->from, .to = slice->to,
				 .record = slice->record, .end_record = slice->end_record,
				 .done = slice->done, .time = slice->time };
}

/* Merges the parts behind @n up to @last into part @n. */
static void merge(struct rvt_parts *parts, size_t n, size_t last)
{
	parts->slices[n].to = parts->slices[last].to;
	parts->slices[n].end_record = parts->slices[last].end_record;
	for (size_t i = n + 1; i <= last; i++)
		free(parts->slices[i].sources);
	memmove(&parts->slices[n + 1], &parts->slices[last + 1],
		(parts->n - last - 1) * sizeof(*parts->slices));
	parts->n -= last - n;
	forget(&parts->slices[n]);
}

static size_t last_of_buffer(const struct rvt_parts *parts, size_t n)
{
	while (n + 1 < parts->n && parts->slices[n + 1].buffer == parts->slices[n].buffer)
		n++;
	return n;
}

/* Part @n, which was decoded, is the next one. -EAGAIN: it does not fit. */
static int join(struct first_run *run, size_t n)
{
	struct rvt_parts *parts = run->parts;
	struct slice *slice = &parts->slices[n];
	struct progress *progress;
	int err;

	if (slice->extended && slice->to != UINT64_MAX)
		return -EAGAIN;
	if (array_grow(&run->progress, run->n))
		return -ENOMEM;
	progress = &run->progress[run->n];
	err = copy_progress(progress, progress - 1);
	run->n++;
	if (err)
		return err;
	progress->joint.next = slice;
	parts->session->stats = progress->stats;
	err = rvt_session_join(parts->session, &progress->joint);
	progress->stats = parts->session->stats;
	return err;
}

/*
 * Part @n does not fit: the cut before it, or behind it, goes. Returns the part to be decoded
 * again.
 */
static size_t enlarge(struct first_run *run, size_t n)
{
	size_t last = last_of_buffer(run->parts, n), with = n;

	if (n == run->first || (run->parts->slices[n].extended && n < last))
		with = n + 1;
	else
		n--;
	run->joined = n > run->joined_at ? 1 : run->joined + 1;
	run->joined_at = n;
	go_back(run, n);
	merge(run->parts, n, run->joined >= MAX_JOINED ? last : with);
	return n;
}

static int decode_parts(struct first_run *run, const struct rvt_parts_ops *ops, size_t *n)
{
	struct rvt_parts *parts = run->parts;
	unsigned int number = parts->slices[run->first].buffer;
	size_t i = run->first;
	int err = 0;

	while (!err && i < parts->n && parts->slices[i].buffer == number) {
		err = ops->begin(ops->ctx, i, number);
		if (!err)
			err = decode(&parts->session->buffers[number], &parts->slices[i]);
		if (!err)
			err = join(run, i);
		/* What an index chose fits, or the recording is another one. */
		if (err == -EAGAIN && parts->session->choice)
			return err;
		if (err == -EAGAIN && last_of_buffer(parts, run->first) > run->first) {
			i = enlarge(run, i);
			err = 0;
		} else if (!err || err == -EAGAIN) {
			/* all of the buffer is one: there is nothing that it must fit to */
			if (err)
				rvt_session_add_stats(&parts->session->stats,
						      &parts->slices[i].stats);
			err = 0;
			i++;
		}
	}
	*n = i;
	return err;
}

static int decode_buffer(struct rvt_parts *parts, const struct rvt_parts_ops *ops, size_t *n)
{
	struct first_run run = { .parts = parts, .first = *n };
	int err = array_grow(&run.progress, 0);

	if (err)
		return err;
	run.progress[run.n++] = (struct progress){ .stats = parts->session->stats };
	err = decode_parts(&run, ops, n);
	while (run.n)
		free(run.progress[--run.n].joint.sources);
	free(run.progress);
	return err;
}

static int decode_all(struct rvt_parts *parts, const struct rvt_parts_ops *ops)
{
	size_t n = 0;
	int err = 0;

	while (n < parts->n && !err)
		err = decode_buffer(parts, ops, &n);
	return err;
}

/* Cuts, and decodes all that is to be decoded. */
static int make(struct rvt_parts *parts, uint64_t bytes, const struct rvt_parts_ops *ops)
{
	struct rvt_session *session = parts->session;
	const uint64_t chosen = session->options.slice_bytes;
	int err;

	rvt_session_free_slices(parts->slices, parts->n);
	rvt_session_forget_stats(session);
	if (!chosen)
		session->options.slice_bytes = bytes;
	err = rvt_session_cut(session, &parts->slices, &parts->n);
	session->options.slice_bytes = chosen;
	return err ? err : decode_all(parts, ops);
}

int rvt_parts_create(struct rvt_session *session, uint64_t bytes,
		     const struct rvt_session_sink *sink, const struct rvt_parts_ops *ops,
		     struct rvt_parts **result)
{
	struct rvt_parts *parts = calloc(1, sizeof(*parts));
	int err = parts ? rvt_session_prepare(session, sink) : -ENOMEM;

	if (err) {
		free(parts);
		return err;
	}
	parts->session = session;
	session->slices = &in_order;
	err = make(parts, bytes, ops);
	if (err == -EAGAIN && rvt_session_choose_whole(session))
		err = make(parts, bytes, ops);
	if (err == -EAGAIN) {
		rvt_session_forget_choice(session);
		err = make(parts, bytes, ops);
	}
	if (!err)
		rvt_session_add_skipped(session);
	session->slices = NULL;
	session->sink = NULL;
	if (err) {
		rvt_parts_destroy(parts);
		return err;
	}
	*result = parts;
	return 0;
}

void rvt_parts_destroy(struct rvt_parts *parts)
{
	if (!parts)
		return;
	for (size_t i = 0; i < 2; i++)
		rvt_cursor_destroy(parts->at[i].cursor);
	rvt_session_free_slices(parts->slices, parts->n);
	free(parts);
}

/* ---- again ---- */

int rvt_parts_decode(struct rvt_parts *parts, size_t part, const struct rvt_session_sink *sink)
{
	struct rvt_session *session = parts->session;
	struct rvt_session_totals stats = session->stats;
	int err;

	if (part >= parts->n)
		return -EINVAL;
	err = rvt_session_prepare(session, sink);
	if (!err) {
		session->slices = &in_order;
		forget(&parts->slices[part]);
		err = decode(&session->buffers[parts->slices[part].buffer], &parts->slices[part]);
		session->slices = NULL;
		session->sink = NULL;
	}
	session->stats = stats;
	return err;
}

/* ---- what addresses mean ---- */

/*
 * Returns a cursor that is not past @time. It is made anew, in place of the one used longest ago,
 * if there is none.
 */
static struct rvt_cursor *get_cursor(struct rvt_parts *parts, uint64_t time)
{
	struct rvt_session *session = parts->session;
	unsigned int n = parts->next ^ 1;	/* the last one */

	if (!parts->at[n].cursor || parts->at[n].time > time ||
	    (parts->at[n ^ 1].cursor && parts->at[n ^ 1].time <= time &&
	     parts->at[n ^ 1].time > parts->at[n].time))
		n ^= 1;
	if (parts->at[n].cursor && parts->at[n].time > time) {
		rvt_cursor_clear_spaces(parts->at[n].cursor);
		rvt_cursor_destroy(parts->at[n].cursor);
		parts->at[n].cursor = NULL;
	}
	if (!parts->at[n].cursor && rvt_cursor_create(session->sideband, session->decode.image,
						      session->decode.kernel, &parts->at[n].cursor))
		return NULL;
	parts->at[n].time = time;
	parts->next = n ^ 1;
	return parts->at[n].cursor;
}

struct rvt_space *rvt_parts_space(struct rvt_parts *parts, int32_t tid, uint64_t time)
{
	struct rvt_session *session = parts->session;
	struct rvt_cursor *cursor = session->sideband ? get_cursor(parts, time) : NULL;
	const struct rvt_task *task;

	/*
	 * as while it is decoded: what happened within a tick of the trace's clock may be before it
	 */
	if (session->has_time_conv)
		time = rvt_time_to_perf(&session->time_conv,
					rvt_time_from_perf(&session->time_conv, time) + 1) - 1;
	if (!cursor || rvt_cursor_seek(cursor, time) < 0)
		return NULL;
	task = rvt_cursor_task(cursor, tid);
	return task ? task->space : NULL;
}
