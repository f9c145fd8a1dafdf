// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Where a recording is cut into slices: at boundaries of messages, some way apart. */
#include <errno.h>
#include "util/array.h"
#include "slice.h"
#include "state.h"
#include "stream-ops.h"

#define SLICES_PER_JOB 8
#define FIRST_SLICES 32	/* of the usual size */
#define MIN_SLICE (256ull << 10)
#define MAX_SLICE (4ull << 20)
/* Each slice looks for each source, and learns it, anew. */
#define SLICE_PER_SOURCE 512
/* Counts do not wait in memory. The last slices are small, so that threads end together. */
#define COUNTED_PER_JOB 4
#define MAX_COUNTED (16ull << 20)
/* The search for a message boundary goes so far. */
#define MAX_SEARCH (1ull << 20)
/* So much of a stream is read for what it says of itself. */
#define MAX_HEAD (64ull << 10)

struct cutting {
	struct rvt_session *session;
	uint64_t size;		/* of a slice told in order, about */
	uint64_t left;		/* bytes of records in this buffer and those behind it */
	struct slice *slices;
	size_t n;
};

static int add_slice(struct cutting *cutting, const struct slice *slice)
{
	if (array_grow(&cutting->slices, cutting->n))
		return -ENOMEM;
	cutting->slices[cutting->n++] = *slice;
	return 0;
}

/*
 * The one encoder whose trace the buffer has; NULL: there are others, too, or none. What several
 * harts had done at a cut cannot be told from one synchronisation.
 */
static const struct encoder *only_encoder(const struct buffer *buffer)
{
	const struct encoder *only = NULL;

	for (size_t i = 0; i < buffer->n_records; i++) {
		int32_t cpu = buffer->cpu >= 0 ? buffer->cpu : buffer->records[i].cpu;
		const struct encoder *encoder = rvt_session_encoder(buffer->session, cpu);

		if (!encoder || (only && encoder != only) || buffer->session->shared)
			return NULL;
		only = encoder;
	}
	return only;
}

/*
 * Returns whether records are in the order of their bytes and times. In a damaged file they may
 * claim the same bytes, or be older than what comes before: then they are decoded as they come.
 */
static bool are_in_order(const struct buffer *buffer)
{
	for (size_t i = 1; i < buffer->n_records; i++) {
		const struct rvt_aux *before = &buffer->records[i - 1];
		uint64_t end = before->offset + before->size;

		if (end < before->offset || buffer->records[i].offset < end ||
		    buffer->records[i].time < before->time)
			return false;
	}
	return true;
}

/*
 * Whether all bytes up to @to are in the file, of a record of which those up to *@known are: else
 * it is lost to its end, which may be far. *@known moves on.
 */
static bool is_there(const struct buffer *buffer, uint64_t *known, uint64_t to)
{
	while (*known <= to) {
		const struct chunk *chunk = rvt_buffer_chunk(buffer, *known);

		if (!chunk)
			return false;
		*known = chunk->offset + chunk->len;
	}
	return true;
}

/*
 * Returns where a message begins in record @n, at least @skip bytes behind its beginning; 0: not
 * known.
 */
static uint64_t find_boundary(struct buffer *buffer, const struct encoder *encoder, size_t n,
			      uint64_t skip)
{
	const struct rvt_aux *aux = &buffer->records[n];
	uint64_t offset = aux->offset + skip, len = aux->size - skip;
	const struct chunk *chunk = rvt_buffer_chunk(buffer, offset);
	const uint8_t *bytes = chunk ? rvt_buffer_bytes(buffer, chunk) : NULL;
	ssize_t at;

	if (!bytes)
		return 0;
	if (len > chunk->offset + chunk->len - offset)
		len = chunk->offset + chunk->len - offset;
	if (len > MAX_SEARCH)
		len = MAX_SEARCH;
	at = rvt_stream_boundary(&encoder->params, bytes + (offset - chunk->offset), len);
	if (!chunk->packed)
		buffer->session->source->release(buffer->session, bytes + (offset - chunk->offset),
						 at > 0 ? at : 0);
	return at > 0 ? offset + at : 0;
}

/* Reads what the beginning of the buffer says, which slices cannot know. */
static void read_head(struct buffer *buffer, const struct encoder *encoder)
{
	const struct chunk *chunk = rvt_buffer_chunk(buffer, buffer->records[0].offset);
	const uint8_t *bytes = chunk ? rvt_buffer_bytes(buffer, chunk) : NULL;
	uint64_t skip = chunk ? buffer->records[0].offset - chunk->offset : 0, len;

	if (!bytes)
		return;
	len = chunk->len - skip < MAX_HEAD ? chunk->len - skip : MAX_HEAD;
	buffer->expected = encoder->params;
	buffer->expects = rvt_stream_head(&buffer->expected, bytes + skip, len);
}

void rvt_session_prepare_slices(struct buffer *buffer)
{
	const struct encoder *encoder = only_encoder(buffer);

	if (encoder && buffer->n_records)
		read_head(buffer, encoder);
}

/* When what lies @done bytes into record @n happened, as if trace came evenly. */
static uint64_t time_of(const struct rvt_aux *records, size_t n, uint64_t done)
{
	uint64_t before = n ? records[n - 1].time : 0, after = records[n].time;

	if (!done || after <= before)	/* an empty record has no share of the time */
		return before;
	return before + (double)(after - before) * done / records[n].size;
}

/* The slice ends at @at, which is in record @n, and then is the next one. */
static int end_slice(struct cutting *cutting, const struct buffer *buffer, struct slice *slice,
		     size_t n, uint64_t at)
{
	uint64_t done = at - buffer->records[n].offset, begun = slice->time;
	uint64_t time = time_of(buffer->records, n, done);
	int err;

	slice->to = at;
	slice->end_record = n;
	err = add_slice(cutting, slice);
	*slice = (struct slice){ .buffer = buffer->number, .from = at, .to = UINT64_MAX,
				 .record = n, .done = done,
				 .end_record = buffer->n_records, .span = slice->span,
				 .time = time > begun ? time : begun };
	return err;
}

static uint64_t slice_size(const struct rvt_session *session, uint64_t left, unsigned int per_job,
			   uint64_t most)
{
	unsigned int jobs = session->options.jobs ? session->options.jobs : 1;
	uint64_t size = left / (jobs * per_job);

	if (session->options.slice_bytes)
		return session->options.slice_bytes;
	return size < MIN_SLICE ? MIN_SLICE : size > most ? most : size;
}

/*
 * The size of the slice that begins where @left bytes are left; the one before it has @before. Many
 * harts can write to @encoder's sink, which may be NULL.
 */
static uint64_t next_size(const struct cutting *cutting, const struct encoder *encoder,
			  uint64_t left, uint64_t before)
{
	const struct rvt_session *session = cutting->session;
	const struct rvt_session_slices *slices = session_slices(session);
	uint64_t size = cutting->size, least = 0;

	if (encoder && session->by_source && !session->options.slice_bytes)
		least = SLICE_PER_SOURCE * rvt_stream_n_sources(&encoder->params);
	if (!slices) {
		size = slice_size(session, left, COUNTED_PER_JOB, MAX_COUNTED);
	} else if (!slices->note && !slices->apart) {
		/* Somebody waits for the first lines, so the first slice is small. */
		before = before ? 2 * before : (size + FIRST_SLICES - 1) / FIRST_SLICES;
		size = before < size ? before : size;
	}
	return size < least ? least : size;
}

static int cut_span(struct cutting *cutting, const struct span *span)
{
	struct buffer *buffer = &cutting->session->buffers[span->buffer];
	const struct encoder *encoder = !span->whole && are_in_order(buffer) ?
		only_encoder(buffer) : NULL;
	struct slice slice = { .buffer = buffer->number, .from = span->from, .to = UINT64_MAX,
			       .record = span->record, .done = span->done,
			       .end_record = buffer->n_records,
			       .time = time_of(buffer->records, span->record, span->done),
			       .span = span };
	uint64_t step = next_size(cutting, encoder, cutting->left, 0);
	/* bytes of records, counted from the beginning of the first one */
	uint64_t passed = 0, wanted = span->done + step;
	int err = 0;

	if (encoder)
		read_head(buffer, encoder);
	for (size_t i = span->record;
	     encoder && i <= span->end_record && i < buffer->n_records && !err; i++) {
		uint64_t end = passed + buffer->records[i].size;
		uint64_t known = buffer->records[i].offset;

		while (wanted < end && !err) {
			uint64_t skip = wanted - passed, at;

			if (!is_there(buffer, &known, buffer->records[i].offset + skip)) {
				wanted = end;
				break;
			}
			at = find_boundary(buffer, encoder, i, skip);
			step = next_size(cutting, encoder, cutting->left - wanted, step);
			wanted += step;
			if (at > slice.from && at < span->to)
				err = end_slice(cutting, buffer, &slice, i, at);
		}
		passed = end;
	}
	cutting->left -= passed < cutting->left ? passed : cutting->left;
	slice.to = span->to;
	slice.end_record = span->end_record;
	return err ? err : add_slice(cutting, &slice);
}

static int cut_buffers(struct cutting *cutting)
{
	const struct rvt_session *session = cutting->session;
	int err = 0;

	for (size_t i = 0; i < session->n_buffers && !err; i++) {
		const struct buffer *buffer = &session->buffers[i];
		const struct span all = { .buffer = buffer->number, .to = UINT64_MAX,
					  .end_record = buffer->n_records };
		size_t first = cutting->n;

		if (buffer->n_records && !buffer->skipped)
			err = cut_span(cutting, &all);
		for (size_t n = first; n < cutting->n; n++)
			cutting->slices[n].span = NULL;
	}
	return err;
}

void rvt_session_free_slices(struct slice *slices, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(slices[i].sources);
	free(slices);
}

int rvt_session_cut(struct rvt_session *session, struct slice **slices, size_t *n)
{
	uint64_t left = rvt_session_size(session);
	struct cutting cutting = {
		.session = session, .left = left,
		.size = slice_size(session, left, SLICES_PER_JOB, MAX_SLICE),
	};
	int err = 0;

	if (!session->spans)
		err = cut_buffers(&cutting);
	for (size_t i = 0; session->spans && i < session->n_spans && !err; i++)
		err = cut_span(&cutting, &session->spans[i]);
	*slices = cutting.slices;
	*n = cutting.n;
	return err;
}
