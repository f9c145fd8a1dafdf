// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Recordings of Control Transfer Records: samples of all buffers, in the order of time. Of each
 * buffer two windows are in memory, whose samples are sorted: the driver writes them in the order
 * of time but for those of nested interrupts.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <rvtrace/ctr.h>
#include "util/array.h"
#include "util/sized.h"
#include "state.h"

#define WINDOW (64 << 10)	/* bytes */

struct numbered {
	struct rvt_ctr_sample sample;
	uint64_t number;	/* keeps samples of the same time in order */
};

/* Some bytes of a row, which are chunks that follow each other without a gap or damage. */
struct window {
	uint8_t *bytes;
	size_t len, room;
	uint64_t pos;		/* of .bytes in the row */
	size_t done;		/* bytes that were read as samples, or are none */
	struct numbered *samples;	/* they point into .bytes */
	size_t n, next;		/* samples in the order of time; of these delivered */
};

struct reader {
	struct collection *all;
	struct buffer *buffer;
	size_t chunk;		/* that comes next, */
	uint64_t chunk_done;	/* and how much of it was taken */
	uint64_t end;		/* of what was taken, in the AUX data */
	bool row_ended;		/* nothing is appended to the newest window's row */
	bool damaged;		/* since .damaged_at in the row there was no sample */
	uint64_t damaged_at;
	uint64_t n_samples;
	struct window windows[2];
	unsigned int newest;
	bool finished;		/* all is in windows */
};

struct collection {
	struct rvt_session *session;
	const struct rvt_session_ctr_sink *sink;
	struct reader *readers;
	/* those that have samples: a heap, the first has the oldest */
	struct reader **heap;
	size_t n_heap;
};

bool rvt_session_is_ctr(const struct rvt_session *session)
{
	return session->is_ctr;
}

static void warn_damage(const struct reader *reader, uint64_t to)
{
	const struct collection *all = reader->all;
	char *text;

	if (!all->sink->warning ||
	    asprintf(&text, "%s: buffer %u: bytes %" PRIu64 " to %" PRIu64 " are no sample",
		     rvt_perfdata_path(all->session->file), reader->buffer->number,
		     reader->damaged_at, to) < 0)
		return;
	all->sink->warning(all->sink->ctx, text);
	free(text);
}

static void end_damage(struct reader *reader, uint64_t to)
{
	if (!reader->damaged)
		return;
	reader->damaged = false;
	reader->all->session->stats.session.missing_bytes += to - reader->damaged_at;
	warn_damage(reader, to);
}

/* ---- windows ---- */

static int by_time(const void *a, const void *b)
{
	const struct numbered *x = a, *y = b;

	if (x->sample.time != y->sample.time)
		return x->sample.time < y->sample.time ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

/*
 * Reads what is in @window, but for the end, where a sample may lie whose rest comes in the next
 * one.
 */
static int read_samples(struct reader *reader, struct window *window)
{
	struct rvt_ctr_sample sample;
	size_t least = reader->row_ended ? 1 : RVT_CTR_MAX_BYTES;

	while (window->len - window->done >= least) {
		size_t before = window->done, unsure;
		int err = rvt_ctr_next(window->bytes, window->len, &window->done, &sample);

		if (err < 0) {
			if (!reader->damaged)
				reader->damaged_at = window->pos + before;
			reader->damaged = true;
			/* from here on, what is no sample yet may be one when the rest is there */
			unsure = before + ((window->len - least - before) / 8 + 1) * 8;
			if (!reader->row_ended && window->done > unsure)
				window->done = unsure;
			continue;
		}
		end_damage(reader, window->pos + before);
		if (array_grow(&window->samples, window->n))
			return -ENOMEM;
		window->samples[window->n++] = (struct numbered){ sample, reader->n_samples++ };
	}
	if (reader->row_ended)
		end_damage(reader, window->pos + window->len);
	if (window->n)
		qsort(window->samples, window->n, sizeof(*window->samples), by_time);
	return 0;
}

static int append(struct window *window, const uint8_t *bytes, size_t len)
{
	if (array_reserve(&window->bytes, &window->room, window->len, len))
		return -ENOMEM;
	/* a piece can be empty, and the window have no bytes yet */
	if (len)
		memcpy(window->bytes + window->len, bytes, len);
	window->len += len;
	return 0;
}

/* Some of the next chunk if that goes on where the row is; else the row has ended. */
static int take_chunk(struct reader *reader, struct window *window)
{
	struct rvt_session *session = reader->all->session;
	const struct chunk *chunk = &reader->buffer->chunks[reader->chunk];
	uint64_t len = chunk->len - reader->chunk_done;
	const uint8_t *bytes;
	int err;

	/* nothing of a new row has been taken: it begins wherever its first chunk is */
	if (!reader->chunk_done && chunk->offset != reader->end &&
	    (window->len || window->pos)) {
		reader->row_ended = true;
		return 0;
	}
	bytes = rvt_buffer_bytes(reader->buffer, chunk);
	if (!reader->chunk_done && reader->chunk && chunk->offset > reader->end)
		session->stats.session.missing_bytes += chunk->offset - reader->end;
	if (!bytes) {
		session->stats.session.missing_bytes += len;
		reader->row_ended = true;
	} else {
		if (len > WINDOW)
			len = WINDOW;
		err = append(window, bytes + reader->chunk_done, len);
		if (err)
			return err;
		session->stats.session.trace_bytes += len;
	}
	reader->chunk_done += len;
	reader->end = chunk->offset + reader->chunk_done;
	if (reader->chunk_done == chunk->len) {
		if (bytes && !chunk->packed)
			session->source->release(session, chunk->bytes, chunk->len);
		reader->chunk++;
		reader->chunk_done = 0;
	}
	return 0;
}

/* The next samples go to the window whose samples were delivered. 1, 0: none are left, -ENOMEM. */
static int load(struct reader *reader)
{
	struct window *old = &reader->windows[reader->newest], *window;
	int err = 0;

	if (reader->finished)
		return 0;
	reader->newest = !reader->newest;
	window = &reader->windows[reader->newest];
	window->n = window->next = window->len = window->done = 0;
	window->pos = 0;
	if (!reader->row_ended) {
		window->pos = old->pos + old->done;
		err = append(window, old->bytes + old->done, old->len - old->done);
	}
	reader->row_ended = false;
	while (!err && !reader->row_ended && window->len < WINDOW + RVT_CTR_MAX_BYTES) {
		if (reader->chunk == reader->buffer->n_chunks) {
			reader->finished = reader->row_ended = true;
			break;
		}
		err = take_chunk(reader, window);
	}
	if (!err)
		err = read_samples(reader, window);
	return err ? err : 1;
}

/* The window with the oldest sample; NULL: there are no more. */
static struct window *oldest(struct reader *reader)
{
	struct window *a = &reader->windows[0], *b = &reader->windows[1];

	if (a->next == a->n || b->next == b->n)
		return a->next < a->n ? a : b->next < b->n ? b : NULL;
	return by_time(&a->samples[a->next], &b->samples[b->next]) < 0 ? a : b;
}

/* Both windows have samples, unless all are there. 0 or -ENOMEM. */
static int fill(struct reader *reader)
{
	int loaded = 1;

	while (loaded > 0) {
		const struct window *next = &reader->windows[!reader->newest];

		if (next->next < next->n)
			return 0;
		loaded = load(reader);
	}
	return loaded;
}

/* ---- all buffers ---- */

static bool is_before(struct reader *x, struct reader *y)
{
	const struct window *a = oldest(x), *b = oldest(y);
	uint64_t s = a->samples[a->next].sample.time, t = b->samples[b->next].sample.time;

	return s != t ? s < t : x->buffer->number < y->buffer->number;
}

/* The element at @i goes to where it belongs among those below. */
static void sift_down(struct collection *all, size_t i)
{
	struct reader **heap = all->heap, *moved = heap[i];

	for (size_t child; (child = 2 * i + 1) < all->n_heap; i = child) {
		if (child + 1 < all->n_heap && is_before(heap[child + 1], heap[child]))
			child++;
		if (!is_before(heap[child], moved))
			break;
		heap[i] = heap[child];
	}
	heap[i] = moved;
}

static int open_readers(struct collection *all)
{
	struct rvt_session *session = all->session;
	int err = 0;

	all->readers = calloc(session->n_buffers + 1, sizeof(*all->readers));
	all->heap = calloc(session->n_buffers + 1, sizeof(*all->heap));
	if (!all->readers || !all->heap)
		return -ENOMEM;
	for (size_t i = 0; i < session->n_buffers && !err; i++) {
		struct reader *reader = &all->readers[i];

		reader->all = all;
		reader->buffer = &session->buffers[i];
		reader->row_ended = true;
		err = fill(reader);
		if (oldest(reader))
			all->heap[all->n_heap++] = reader;
	}
	for (size_t i = all->n_heap / 2; i-- > 0 && !err; )
		sift_down(all, i);
	return err;
}

static void close_readers(struct collection *all)
{
	for (size_t i = 0; all->readers && i < all->session->n_buffers; i++) {
		for (int j = 0; j < 2; j++) {
			free(all->readers[i].windows[j].bytes);
			free(all->readers[i].windows[j].samples);
		}
	}
	free(all->readers);
	free(all->heap);
}

static int deliver(struct collection *all, struct rvt_cursor *cursor,
		   const struct rvt_ctr_sample *sample)
{
	int err = rvt_cursor_seek(cursor, sample->time);
	const struct rvt_task *task;

	if (err < 0)
		return err;
	task = rvt_cursor_task(cursor, sample->tid);
	return task ? all->sink->sample(all->sink->ctx, sample, task) : -ENOMEM;
}

static int deliver_all(struct collection *all, struct rvt_cursor *cursor)
{
	int err = 0;

	while (all->n_heap && !err) {
		struct reader *reader = all->heap[0];
		struct window *window = oldest(reader);

		err = deliver(all, cursor, &window->samples[window->next++].sample);
		if (!err)
			err = fill(reader);
		if (!oldest(reader))
			all->heap[0] = all->heap[--all->n_heap];
		if (all->n_heap)
			sift_down(all, 0);
	}
	return err;
}

int rvt_session_run_ctr(struct rvt_session *session, const struct rvt_session_ctr_sink *sink)
{
	struct rvt_session_ctr_sink own;
	struct collection all = { .session = session, .sink = &own };
	struct rvt_cursor *cursor = NULL;
	int err = sized_copy(&own, sizeof(own), sink);

	if (!err)
		err = open_readers(&all);
	if (!err)
		err = rvt_cursor_create(session->sideband, session->decode.image,
					session->decode.kernel, &cursor);
	if (!err)
		err = deliver_all(&all, cursor);
	rvt_cursor_destroy(cursor);
	close_readers(&all);
	return err;
}
