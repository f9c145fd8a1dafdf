// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Recordings of Control Transfer Records: samples of all buffers, in the order of time. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <rvtrace/ctr.h>
#include "util/array.h"
#include "util/sized.h"
#include "state.h"

struct numbered {
	struct rvt_ctr_sample sample;
	uint64_t number;	/* keeps samples of the same time in order */
};

struct collection {
	struct rvt_session *session;
	const struct rvt_session_ctr_sink *sink;
	struct numbered *samples;
	size_t n;
	/* The buffer's bytes in a row; samples point into them. */
	uint8_t **copies;
	size_t n_copies;
};

bool rvt_session_is_ctr(const struct rvt_session *session)
{
	return session->is_ctr;
}

static int add_sample(struct collection *all, const struct rvt_ctr_sample *sample)
{
	if (array_grow(&all->samples, all->n))
		return -ENOMEM;
	all->samples[all->n] = (struct numbered){ *sample, all->n };
	all->n++;
	return 0;
}

static void warn_damage(const struct collection *all, const struct buffer *buffer, size_t from,
			size_t to)
{
	char *text;

	if (!all->sink->warning ||
	    asprintf(&text, "%s: buffer %u: bytes %zu to %zu are no sample", rvt_perfdata_path(
		     all->session->file), buffer->number, from, to) < 0)
		return;
	all->sink->warning(all->sink->ctx, text);
	free(text);
}

static int read_samples(struct collection *all, const struct buffer *buffer, const uint8_t *bytes,
			size_t len)
{
	struct rvt_ctr_sample sample;
	size_t pos = 0, before = 0;
	int err;

	while ((err = rvt_ctr_next(bytes, len, &pos, &sample))) {
		if (err < 0) {
			all->session->stats.missing_bytes += pos - before;
			warn_damage(all, buffer, before, pos);
		} else {
			err = add_sample(all, &sample);
			if (err)
				return err;
		}
		before = pos;
	}
	return 0;
}

/* Bytes of chunks that follow each other. */
struct row {
	uint8_t *bytes;
	size_t len, room;
};

static int append(struct row *row, const uint8_t *bytes, size_t len)
{
	if (array_reserve(&row->bytes, &row->room, row->len, len))
		return -ENOMEM;
	/* a piece can be empty, and @row have no bytes yet */
	if (len)
		memcpy(row->bytes + row->len, bytes, len);
	row->len += len;
	return 0;
}

/* The samples of @row, whose bytes stay until all is delivered; then another may begin. */
static int end_row(struct collection *all, const struct buffer *buffer, struct row *row)
{
	int err;

	if (!row->bytes)
		return 0;
	if (array_grow(&all->copies, all->n_copies))
		return -ENOMEM;
	all->copies[all->n_copies++] = row->bytes;
	all->session->stats.trace_bytes += row->len;
	err = read_samples(all, buffer, row->bytes, row->len);
	*row = (struct row){ .len = 0 };
	return err;
}

/* Chunks follow each other; a sample may lie across two. A gap, or damage, ends a row. */
static int read_buffer(struct collection *all, struct buffer *buffer)
{
	struct row row = { .len = 0 };
	uint64_t end = 0;
	int err = 0;

	for (size_t i = 0; i < buffer->n_chunks && !err; i++) {
		const struct chunk *chunk = &buffer->chunks[i];
		const uint8_t *bytes = rvt_buffer_bytes(buffer, chunk);

		if (!bytes || chunk->offset != end)
			err = end_row(all, buffer, &row);
		if (i && chunk->offset > end)
			all->session->stats.missing_bytes += chunk->offset - end;
		end = chunk->offset + chunk->len;
		if (!bytes)
			all->session->stats.missing_bytes += chunk->len;
		else if (!err)
			err = append(&row, bytes, chunk->len);
	}
	if (!err)
		err = end_row(all, buffer, &row);
	free(row.bytes);
	return err;
}

static int by_time(const void *a, const void *b)
{
	const struct numbered *x = a, *y = b;

	if (x->sample.time != y->sample.time)
		return x->sample.time < y->sample.time ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

static int deliver(struct collection *all)
{
	struct rvt_session *session = all->session;
	struct rvt_cursor *cursor;
	int err = rvt_cursor_create(session->sideband, session->decode.image,
				    session->decode.kernel,
				    &cursor);

	for (size_t i = 0; i < all->n && !err; i++) {
		const struct rvt_ctr_sample *sample = &all->samples[i].sample;
		const struct rvt_task *task;

		err = rvt_cursor_seek(cursor, sample->time);
		if (err < 0)
			break;
		task = rvt_cursor_task(cursor, sample->tid);
		err = task ? all->sink->sample(all->sink->ctx, sample, task) : -ENOMEM;
	}
	rvt_cursor_destroy(cursor);
	return err;
}

int rvt_session_run_ctr(struct rvt_session *session, const struct rvt_session_ctr_sink *sink)
{
	struct rvt_session_ctr_sink own;
	struct collection all = { .session = session, .sink = &own };
	int err = sized_copy(&own, sizeof(own), sink);

	for (size_t i = 0; i < session->n_buffers && !err; i++)
		err = read_buffer(&all, &session->buffers[i]);
	if (!err && all.n)
		qsort(all.samples, all.n, sizeof(*all.samples), by_time);
	if (!err)
		err = deliver(&all);
	for (size_t i = 0; i < all.n_copies; i++)
		free(all.copies[i]);
	free(all.copies);
	free(all.samples);
	return err;
}
