// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Decoding while it is recorded. Rings are read one after the other, so that what a ring had is
 * known only up to when it was read: all that happened before the newest record of a round is there
 * when the next round has been read, too (as perf orders its events). Trace is decoded up to that
 * time.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "flow/control.h"
#include "util/array.h"
#include "state.h"

/* The driver hands a task's trace over some time after the task stopped running, at most. */
#define HANDED_OVER_NS 1000000000ull
/* Blocks are forgotten when they take more. */
#define MAX_BLOCK_BYTES (64u << 20)

/* ---- what comes ---- */

static int add_chunk(struct buffer *buffer, const struct rvt_record_auxtrace *aux,
		     const uint8_t *bytes)
{
	struct chunk chunk = { .offset = aux->offset,
			       .len = aux->unpacked ? aux->unpacked : aux->size,
			       .packed = aux->unpacked ? aux->size : 0,
			       .unpacked = aux->unpacked };
	uint8_t *copy;

	if (array_grow(&buffer->chunks, buffer->n_chunks))
		return -ENOMEM;
	copy = malloc(aux->size);
	if (!copy)
		return -ENOMEM;
	chunk.bytes = memcpy(copy, bytes, aux->size);
	buffer->chunks[buffer->n_chunks++] = chunk;
	buffer->received = chunk.offset + chunk.len;
	return 0;
}

static int take_trace(struct rvt_session *session, const struct rvt_record_auxtrace *aux)
{
	struct buffer *buffer = rvt_session_buffer(session, aux);

	if (!buffer)
		return -EBADMSG;
	return aux->size ? add_chunk(buffer, aux, (const uint8_t *)(aux + 1)) : 0;
}

static int take_aux(struct rvt_session *session, const struct rvt_perfdata_record *record)
{
	struct buffer *buffer;
	struct rvt_aux aux;

	if (!rvt_session_read_aux(session, record, &aux))
		return 0;
	buffer = rvt_session_aux_buffer(session, &aux);
	return buffer ? rvt_buffer_add_record(buffer, &aux) : 0;
}

static void take_switch(struct rvt_session *session, const struct rvt_perfdata_record *record)
{
	for (size_t i = 0; i < session->n_buffers; i++) {
		struct buffer *buffer = &session->buffers[i];

		if (buffer->cpu >= 0 ? buffer->cpu != record->cpu : buffer->tid != record->tid)
			continue;
		buffer->running = record->type == PERF_RECORD_ITRACE_START ||
			!(record->misc & PERF_RECORD_MISC_SWITCH_OUT);
		buffer->switched = record->time;
	}
}

static int take_sideband(struct rvt_session *session, const struct rvt_perfdata_record *record)
{
	char *error = NULL;
	int err;

	switch (record->type) {
	case PERF_RECORD_KSYMBOL:
		return 0;	/* names of functions are those of the beginning */
	case PERF_RECORD_ITRACE_START:
	case PERF_RECORD_SWITCH:
	case PERF_RECORD_SWITCH_CPU_WIDE:
		take_switch(session, record);
		break;
	}
	err = rvt_session_read_sideband(session, record, &error);
	free(error);
	return err;
}

/* ---- what is decoded ---- */

/* Returns whether all bytes of the next record are there, and all sideband that it may need. */
static bool is_ready(const struct buffer *buffer, uint64_t horizon)
{
	const struct rvt_aux *aux;

	if (buffer->record >= buffer->n_records)
		return false;
	aux = &buffer->records[buffer->record];
	return horizon == UINT64_MAX ||
	       (aux->time <= horizon && aux->offset + aux->size <= buffer->received);
}

/* Returns where the trace begins that is not decoded yet. */
static uint64_t position(const struct buffer *buffer)
{
	const struct rvt_aux *last;

	if (buffer->record < buffer->n_records)
		return buffer->records[buffer->record].offset + (buffer->begun ? buffer->done : 0);
	if (!buffer->record)
		return 0;
	last = &buffer->records[buffer->record - 1];
	return last->offset + last->size;
}

/* The record that was decoded last stays: the next one must go on where it ended. */
static void drop_decoded(struct buffer *buffer)
{
	uint64_t begin = position(buffer);
	size_t n = 0;

	while (n < buffer->n_chunks && buffer->chunks[n].offset + buffer->chunks[n].len <= begin)
		free((void *)buffer->chunks[n++].bytes);
	if (n) {
		buffer->n_chunks -= n;
		buffer->unpacked_chunk = NULL;
		memmove(buffer->chunks, buffer->chunks + n,
			buffer->n_chunks * sizeof(*buffer->chunks));
	}
	if (buffer->record < 2)
		return;
	n = buffer->record - 1;
	buffer->n_records -= n;
	buffer->record = 1;
	memmove(buffer->records, buffer->records + n, buffer->n_records * sizeof(*buffer->records));
}

/*
 * A task's trace is handed over when the task has stopped running, or soon after, so that of a
 * buffer into which none has run for long before the last round nothing older can come. Of a whole
 * cpu it can, however long nothing came.
 */
static bool is_idle(const struct buffer *buffer)
{
	const struct rvt_session *session = buffer->session;

	return session->by_task && buffer->record >= buffer->n_records && !buffer->running &&
	       session->settled >= HANDED_OVER_NS &&
	       buffer->switched <= session->settled - HANDED_OVER_NS;
}

static int decode(struct buffer *buffer, uint64_t horizon)
{
	int err = 0;

	while (err >= 0 && is_ready(buffer, horizon)) {
		size_t record = buffer->record;

		do
			err = rvt_buffer_step(buffer, STEP_BYTES);
		while (err == 1 && buffer->record == record);
	}
	if (err < 0)
		return err;
	return is_idle(buffer) ? rvt_buffer_idle(buffer, buffer->session->settled) : 0;
}

/* Sideband that every hart flow is past. */
static void forget(struct rvt_session *session)
{
	size_t oldest = SIZE_MAX;

	for (size_t i = 0; i < session->n_buffers; i++)
		for (struct hart_flow *hart = session->buffers[i].harts; hart; hart = hart->next)
			if (rvt_cursor_position(hart->cursor) < oldest)
				oldest = rvt_cursor_position(hart->cursor);
	if (oldest != SIZE_MAX)
		rvt_sideband_forget(session->sideband, oldest);
}

/*
 * Programs that start again and again have their code at ever other addresses. What is known of it
 * goes before it is too much: what runs is soon known again.
 */
static int forget_code(struct rvt_session *session)
{
	struct rvt_image *image = session->decode.image;
	const size_t most = session->options.code_bytes ? session->options.code_bytes :
							   MAX_BLOCK_BYTES;
	int err = 0;

	if (rvt_image_block_bytes(image) < most)
		return 0;
	for (size_t i = 0; i < session->n_buffers; i++)
		for (struct hart_flow *hart = session->buffers[i].harts; hart && !err;
		     hart = hart->next)
			err = rvt_hart_forget_blocks(hart);
	if (!err)
		rvt_image_forget_blocks(image);
	return err;
}

static int end_round(struct rvt_session *session, uint64_t horizon)
{
	int err = rvt_sideband_go_on(session->sideband, horizon);

	for (size_t i = 0; i < session->n_buffers && !err; i++)
		err = decode(&session->buffers[i], horizon);
	/* where a sink is shared, records begin where those of other buffers end */
	for (size_t i = 0; i < session->n_buffers && !err; i++)
		drop_decoded(&session->buffers[i]);
	if (!err)
		forget(session);
	if (!err)
		err = forget_code(session);
	session->settled = horizon;
	session->horizon = session->newest;
	return err;
}

/* ---- the interface ---- */

int rvt_session_begin(struct rvt_session *session, const struct rvt_session_sink *sink)
{
	int err = rvt_session_prepare(session, sink);

	session->live = true;
	for (size_t i = 0; i < session->n_buffers && !err; i++)
		err = rvt_buffer_open_harts(&session->buffers[i]);
	return err;
}

static int take(struct rvt_session *session, const struct perf_event_header *header)
{
	struct rvt_perfdata_record record;

	if (header->type == RVT_RECORD_AUXTRACE)
		return take_trace(session, (const void *)header);
	if (header->type == RVT_RECORD_FINISHED_ROUND)
		return end_round(session, session->horizon);
	rvt_perfdata_parse(session->file, header, &record);
	if (record.time_valid && record.time > session->newest)
		session->newest = record.time;
	return header->type == PERF_RECORD_AUX ? take_aux(session, &record) :
		take_sideband(session, &record);
}

int rvt_session_feed(struct rvt_session *session, const void *bytes, size_t len)
{
	const uint8_t *at = bytes, *end = at + len;
	int err = 0;

	while (at < end && !err) {
		const struct perf_event_header *header = (const void *)at;
		uint64_t size = sizeof(*header), left = end - at;

		if (left >= size)
			size = header->size;
		if (size < sizeof(*header) || size > left)
			return -EBADMSG;
		if (header->type == RVT_RECORD_AUXTRACE) {
			const struct rvt_record_auxtrace *aux = (const void *)at;

			if (size != sizeof(*aux) || aux->size > left - size)
				return -EBADMSG;
			size += aux->size;
		}
		err = take(session, header);
		at += size;
	}
	return err;
}

int rvt_session_end(struct rvt_session *session)
{
	return rvt_session_complete(session, end_round(session, UINT64_MAX));
}
