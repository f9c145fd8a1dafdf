// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* From the bytes of a buffer, record by record, to the decoders that drive its hart flows. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "util/array.h"
#include "flow/control.h"
#include "stream-ops.h"
#include "slice.h"
#include "state.h"

#define MAX_FEED (256 << 10)
#define UNTIMED_FEED 256	/* where bytes tell the time */
#define RELEASE ((uintptr_t)8 << 20)	/* less often: each time all processors are interrupted */
#define GAP_FLAGS (PERF_AUX_FLAG_TRUNCATED | PERF_AUX_FLAG_PARTIAL | PERF_AUX_FLAG_COLLISION)

/* Once, whoever decodes, and however often. */
static void warn(struct rvt_session *session, const char *text)
{
	session_lock(session);
	if (session->sink->warning && !session->warned)
		session->sink->warning(session->sink->ctx, text);
	session->warned = true;
	session_unlock(session);
}

/* ---- decoders ---- */

static bool is_wanted(const struct rvt_session *session, unsigned int src)
{
	return session->only_source < 0 ? src < RVT_MAX_SOURCES :
					  src == (uint64_t)session->only_source;
}

/* Whether source @src of the frames with id @atid (0: not known, or no frames) is @encoder's. */
static bool is_of(const struct encoder *encoder, unsigned int atid, unsigned int src)
{
	if (atid && encoder->params.atid && encoder->params.atid != atid)
		return false;
	return !encoder_has_src(encoder) || encoder->src == src;
}

/*
 * The encoder whose trace source @source of @decoder's stream is. In a sink that several share each
 * hart has its own number, or its frames have. NULL: nobody's.
 */
static const struct encoder *source_encoder(const struct decoder *decoder, unsigned int source)
{
	const struct rvt_session *session = decoder->buffer->session;
	unsigned int atid = rvt_stream_source_atid(&decoder->params, source);
	unsigned int src = source & ((1u << rvt_stream_source_bits(&decoder->params)) - 1);

	if (session->by_source || is_of(decoder->encoder, atid, src))
		return decoder->encoder;
	for (size_t i = 0; i < session->n_encoders; i++) {
		const struct encoder *encoder = &session->encoders[i];

		if (encoder_is_named(encoder) && is_of(encoder, atid, src))
			return encoder;
	}
	return NULL;
}

/* The parameters of what comes in frames with id @atid. NULL: it is no trace of these encoders. */
static const struct rvt_params *choose_params(void *ctx, unsigned int atid)
{
	const struct decoder *decoder = ctx;
	const struct rvt_session *session = decoder->buffer->session;

	for (size_t i = 0; i < session->n_encoders; i++) {
		const struct rvt_params *params = &session->encoders[i].params;

		if (params->framing == RVT_FRAMING_CORESIGHT && params->atid == atid)
			return params;
	}
	return decoder->encoder->params.atid ? NULL : &decoder->encoder->params;
}

/* A hart has one id. Where nobody says which, another one is damage. */
static bool is_first_id(struct hart_flow *hart, const struct decoder *decoder, unsigned int source)
{
	unsigned int atid = rvt_stream_source_atid(&decoder->params, source);

	if (!hart->atid)
		hart->atid = atid;
	return hart->atid == atid;
}

static struct rvt_flow *choose_flow(void *ctx, unsigned int src)
{
	struct decoder *decoder = ctx;
	struct buffer *buffer = decoder->buffer;
	const struct rvt_session *session = buffer->session;
	const struct encoder *encoder = source_encoder(decoder, src);
	const struct rvt_aux *aux = &buffer->records[buffer->record];
	struct hart_flow *hart;
	int err;

	if (!encoder || (session->by_source && !is_wanted(session, src)))
		return NULL;
	for (hart = buffer->harts; hart; hart = hart->next)
		if (hart->encoder == encoder && (!session->by_source || hart->base.source == src))
			return is_first_id(hart, decoder, src) ? hart->base.flow : NULL;
	hart = rvt_hart_create(buffer, encoder, encoder->cpu >= 0 ? encoder->cpu : aux->cpu, src);
	err = hart ? rvt_hart_begin_record(hart, aux) : -ENOMEM;
	if (err) {
		buffer->error = err;
		return NULL;
	}
	return is_first_id(hart, decoder, src) ? hart->base.flow : NULL;
}

/* Whether @encoder's trace may come in the buffer: its hart's, or from a sink that harts share. */
static bool may_come(const struct buffer *buffer, const struct encoder *encoder)
{
	return buffer->cpu < 0 || encoder->cpu < 0 || encoder->cpu == buffer->cpu ||
	       encoder_is_named(encoder);
}

int rvt_buffer_open_harts(struct buffer *buffer)
{
	const struct rvt_session *session = buffer->session;

	for (size_t i = 0; i < session->n_encoders; i++) {
		const struct encoder *encoder = &session->encoders[i];

		if (may_come(buffer, encoder) &&
		    !rvt_hart_create(buffer, encoder,
				     encoder->cpu >= 0 ? encoder->cpu : buffer->cpu, encoder->src))
			return -ENOMEM;
	}
	return 0;
}

int rvt_buffer_idle(struct buffer *buffer, uint64_t time)
{
	int err = 0;

	for (struct hart_flow *hart = buffer->harts; hart && err >= 0; hart = hart->next)
		err = rvt_hart_seek(hart, time);
	return err < 0 ? err : 0;
}

static int deliver_damage(struct buffer *buffer, const struct rvt_event *event)
{
	const struct rvt_session_sink *sink = buffer->session->sink;
	int err;

	if (session_slices(buffer->session))
		return sink->damage(buffer->ctx, buffer->number, event);
	buffer_lock(buffer);
	err = sink->damage(buffer->ctx, buffer->number, event);
	buffer_unlock(buffer);
	return err;
}

static int framing_event(void *ctx, const struct rvt_event *event)
{
	struct decoder *decoder = ctx;
	struct buffer *buffer = decoder->buffer;
	const struct rvt_session_sink *sink = buffer->session->sink;
	int err = 0;

	if (sink->damage)
		return deliver_damage(buffer, event);
	/* Damage that belongs to nobody concerns everybody whose trace it may be. */
	for (struct hart_flow *hart = buffer->harts; hart && !err; hart = hart->next)
		if (!decoder->stream || rvt_stream_concerns(decoder->stream, hart->base.flow))
			err = rvt_hart_damage(hart, event);
	return err;
}

static bool is_framed(const struct encoder *encoder)
{
	return encoder->params.framing == RVT_FRAMING_CORESIGHT;
}

/* In frames of a recording there may be trace of any encoder: sources have numbers for all. */
static void set_params(struct decoder *decoder)
{
	const struct rvt_session *session = decoder->buffer->session;
	struct rvt_params *params = &decoder->params;

	*params = decoder->encoder->params;
	if (session->by_source || !is_framed(decoder->encoder))
		return;
	params->atid = 0;
	for (size_t i = 0; i < session->n_encoders; i++) {
		unsigned int bits = rvt_stream_source_bits(&session->encoders[i].params);

		if (bits <= rvt_stream_source_bits(params))
			continue;
		if (params->protocol == RVT_PROTOCOL_ETRACE)
			params->srcid_bits = bits;
		else
			params->src_bits = bits;
	}
}

/* Whether a slice must say at which message the buffer has got how far in time. */
static bool takes_turns(const struct buffer *buffer)
{
	const struct rvt_session *session = buffer->session;
	const struct rvt_session_slices *slices = session_slices(session);

	return slices && slices->moment && (!slices->apart || slices->in_turns) &&
		!session->options.by_cpu &&
		(session->n_buffers > 1 || session->shared);
}

/* Whether its stream tells of each message, so that a step may go on through many. */
static bool tells_messages(const struct buffer *buffer)
{
	return !buffer->session->shared && !buffer->session->has_frames;
}

/* Of a slice: what comes is of the time that this message has told. */
static void pass_message(void *ctx)
{
	struct buffer *buffer = ((struct decoder *)ctx)->buffer;

	rvt_buffer_tell_moment(buffer);
	buffer->was_left = rvt_buffer_slice_left(buffer);
}

static int get_decoder(struct buffer *buffer, int32_t cpu, struct decoder **result)
{
	const struct encoder *encoder = rvt_session_encoder(buffer->session, cpu);
	struct rvt_stream_ops ops = { .size = sizeof(ops),
				      .flow = choose_flow, .event = framing_event,
				      .accesses = buffer->session->options.accesses };
	const struct slice *slice = buffer->slice;
	struct decoder *decoder;
	int err;

	*result = NULL;
	if (!encoder)
		return -ENOENT;
	for (decoder = buffer->decoders; decoder; decoder = decoder->next)
		if (decoder->encoder == encoder ||
		    (is_framed(decoder->encoder) && is_framed(encoder)))
			break;
	if (!decoder) {
		decoder = calloc(1, sizeof(*decoder));
		if (!decoder)
			return -ENOMEM;
		decoder->encoder = encoder;
		decoder->buffer = buffer;
		ops.ctx = decoder;
		set_params(decoder);
		if (!buffer->session->by_source)
			ops.params = choose_params;
		err = rvt_stream_create(&decoder->params, &ops, &decoder->stream);
		if (!err && slice)
			err = rvt_stream_slice(decoder->stream, slice->from, slice->to);
		if (!err && slice && takes_turns(buffer) && tells_messages(buffer)) {
			decoder->stream->behind_message = pass_message;
			decoder->stream->behind_ctx = decoder;
		}
		if (!err && slice && buffer->expects)
			rvt_stream_expect(decoder->stream, &buffer->expected);
		if (err) {
			rvt_stream_destroy(decoder->stream);
			free(decoder);
			return err;
		}
		decoder->next = buffer->decoders;
		buffer->decoders = decoder;
	}
	*result = decoder;
	return 0;
}

static int32_t record_cpu(const struct buffer *buffer, const struct rvt_aux *aux)
{
	return buffer->cpu >= 0 ? buffer->cpu : aux->cpu;
}

/* Tells the decoder of the record before about bytes that are missing after it. */
static int check_continuity(struct buffer *buffer)
{
	const struct rvt_aux *aux = &buffer->records[buffer->record], *before = aux - 1;
	struct decoder *decoder;
	int err;

	if (!buffer->record ||
	    (!(before->flags & GAP_FLAGS) && before->offset + before->size == aux->offset))
		return 0;
	err = get_decoder(buffer, record_cpu(buffer, before), &decoder);
	if (err)
		return err == -ENOENT ? 0 : err;
	/* After PARTIAL the sink's ring goes on anywhere; after TRUNCATED tracing started anew. */
	return rvt_stream_lost(decoder->stream, aux->offset, RVT_REASON_TRUNCATED,
			       !(before->flags & PERF_AUX_FLAG_PARTIAL));
}

static int tell_aux(struct buffer *buffer, const struct rvt_aux *aux)
{
	const struct rvt_session_sink *sink = buffer->session->sink;
	int err;

	if (!sink->aux || (buffer->slice && session_slices(buffer->session)))
		return 0;
	buffer_lock(buffer);
	err = sink->aux(buffer->ctx, buffer->number, aux);
	buffer_unlock(buffer);
	return err;
}

static int begin_record(struct buffer *buffer)
{
	const struct rvt_aux *aux = &buffer->records[buffer->record];
	int err = check_continuity(buffer);

	buffer->begun = true;
	buffer->done = 0;
	if (!err && (!buffer->slice || buffer->record <= buffer->slice->end_record))
		err = tell_aux(buffer, aux);
	for (struct hart_flow *hart = buffer->harts; hart && !err; hart = hart->next)
		err = rvt_hart_begin_record(hart, aux);
	return err;
}

static int flush(struct buffer *buffer)
{
	int err = 0;

	for (struct hart_flow *hart = buffer->harts; hart && !err; hart = hart->next)
		err = rvt_flow_flush(hart->base.flow);
	return err;
}

/*
 * Gives trace without time stamps a time: bytes of a record share the time since the record before,
 * those of the first record the time since the buffer's trace began.
 */
static int stamp_bytes(struct buffer *buffer)
{
	const struct rvt_aux *aux = &buffer->records[buffer->record];
	uint64_t from = buffer->record ? aux[-1].time : buffer->started;
	struct rvt_clock_span span = { .from = from ? from : aux->time, .to = aux->time,
				       .insns = aux->size };
	int err = 0;

	if (!buffer->session->options.clock)
		return 0;
	for (struct hart_flow *hart = buffer->harts; hart && !err; hart = hart->next) {
		if (hart->timed)
			continue;
		err = rvt_flow_flush(hart->base.flow);
		if (!err)
			err = rvt_hart_stamp(hart, rvt_clock_span_time(&span, buffer->done));
	}
	return err;
}

/*
 * Begins a record. Messages that waited for more bytes are told then, if none come. *@over: one of
 * them had a time, at which it may be another buffer's turn.
 */
static int begin_step(struct buffer *buffer, enum buffer_step step, bool *over)
{
	uint64_t time = buffer->time;
	int err = begin_record(buffer);

	*over = buffer->time != time;
	return err || !*over || step == STEP_BYTES ? err : flush(buffer);
}

/* Tells what ran, before the time of the record takes effect. */
static int end_record(struct buffer *buffer)
{
	const struct rvt_aux *aux = &buffer->records[buffer->record];
	int err = flush(buffer);

	for (const struct hart_flow *hart = buffer->harts; hart; hart = hart->next)
		rvt_hart_note_exec(hart);
	if (aux->time > buffer->time)
		buffer->time = aux->time;
	rvt_hart_note_moment(buffer);
	buffer->record++;
	buffer->begun = false;
	return err;
}

const struct chunk *rvt_buffer_chunk(const struct buffer *buffer, uint64_t offset)
{
	const struct chunk *found = array_floor(buffer->chunks, buffer->n_chunks, offset, offset);

	return found && offset - found->offset < found->len ? found : NULL;
}

size_t rvt_buffer_next_chunk(const struct buffer *buffer, uint64_t offset)
{
	const struct chunk *found = array_floor(buffer->chunks, buffer->n_chunks, offset, offset);

	if (!found)
		return 0;
	return found - buffer->chunks + (offset - found->offset >= found->len);
}

const uint8_t *rvt_buffer_bytes(struct buffer *buffer, const struct chunk *chunk)
{
	if (!chunk->packed)
		return chunk->bytes;
	if (buffer->unpacked_chunk == chunk)
		return buffer->unpacked;
	buffer->unpacked_chunk = NULL;
	if (chunk->unpacked > RVT_AUX_MAX_UNPACKED)
		return NULL;
	if (array_reserve(&buffer->unpacked, &buffer->unpacked_room, 0, chunk->unpacked))
		return NULL;
	if (rvt_aux_unpack(chunk->bytes, chunk->packed, buffer->unpacked, chunk->unpacked))
		return NULL;
	buffer->unpacked_chunk = chunk;
	return buffer->unpacked;
}

/* Returns how much of what lies at @offset this slice counts. */
static uint64_t counted(const struct buffer *buffer, uint64_t offset, uint64_t len)
{
	uint64_t to = buffer->slice ? buffer->slice->to : UINT64_MAX;

	if (offset >= to)
		return 0;
	return len < to - offset ? len : to - offset;
}

static void release_used(struct buffer *buffer, uintptr_t end)
{
	if (end <= buffer->used)
		return;
	buffer->session->source->release(buffer->session, (void *)buffer->used,
					 end - buffer->used);
	buffer->used = end;
}

/*
 * Trace that was decoded need not stay in memory: the file has it. Pieces are small, so some are
 * collected first; what lies between them may be needed again, and is then read again.
 */
static void release(struct buffer *buffer, const uint8_t *bytes, uint64_t len)
{
	uintptr_t begin = (uintptr_t)bytes;

	if (begin < buffer->used_end || begin - buffer->used_end > RVT_PERFDATA_MAPPED) {
		release_used(buffer, buffer->used_end);
		buffer->used = begin;
	}
	buffer->used_end = begin + len;
	if (buffer->used_end - buffer->used >= RELEASE)
		release_used(buffer, buffer->used_end & -RVT_PERFDATA_MAPPED);
}

static uint64_t max_feed(const struct buffer *buffer)
{
	for (const struct hart_flow *hart = buffer->harts; hart; hart = hart->next)
		if (hart->clock && !hart->timed)
			return UNTIMED_FEED;
	return MAX_FEED;
}

/* *@taken: so many bytes of @len are decoded. */
static int feed_bytes(struct buffer *buffer, struct decoder *decoder, enum buffer_step step,
		      const uint8_t *bytes, uint64_t len, uint64_t offset, size_t *taken)
{
	int err;

	*taken = len;
	if (step == STEP_MESSAGE)
		return rvt_stream_feed_message(decoder->stream, bytes, len, offset,
					       &buffer->pending);
	if (step == STEP_BYTES)
		return rvt_stream_feed(decoder->stream, bytes, len, offset);
	buffer->pausing = decoder;
	err = rvt_stream_feed_part(decoder->stream, bytes, len, offset, taken);
	buffer->pausing = NULL;
	return err;
}

static int feed(struct buffer *buffer, struct decoder *decoder, enum buffer_step step)
{
	const struct rvt_aux *aux = &buffer->records[buffer->record];
	uint64_t offset = aux->offset + buffer->done, len = aux->size - buffer->done;
	const struct chunk *chunk = rvt_buffer_chunk(buffer, offset);
	const uint8_t *bytes = chunk ? rvt_buffer_bytes(buffer, chunk) : NULL;
	size_t taken;
	int err;

	if (!bytes) {
		/* The rest of the record is skipped, and so is what the next slice has of it. */
		if (buffer->slice && offset + len > buffer->slice->to)
			buffer->slice->given_up = true;
		buffer->stats->session.missing_bytes += counted(buffer, offset, len);
		buffer->done = aux->size;
		return rvt_stream_lost(decoder->stream, offset, RVT_REASON_TRUNCATED, false);
	}
	if (len > chunk->offset + chunk->len - offset)
		len = chunk->offset + chunk->len - offset;
	if (counted(buffer, offset, len))
		len = counted(buffer, offset, len);
	if (len > max_feed(buffer))
		len = max_feed(buffer);
	bytes += offset - chunk->offset;
	if (step == STEP_MESSAGE)
		len = rvt_stream_message(&decoder->params, bytes, len);
	err = feed_bytes(buffer, decoder, step, bytes, len, offset, &taken);
	len = taken;
	buffer->stats->session.trace_bytes += counted(buffer, offset, len);
	buffer->done += len;
	if (!err)
		err = buffer->error;
	if (buffer->session->live)
		return err;	/* live.c frees what was decoded */
	if (!chunk->packed)
		release(buffer, bytes, len);
	else if (offset + len == chunk->offset + chunk->len)
		release(buffer, chunk->bytes, chunk->packed);
	return err;
}

static int go_on(struct buffer *buffer, struct decoder *decoder)
{
	int err = rvt_stream_step(decoder->stream, &buffer->pending);

	return err ? err : buffer->error;
}

static int poll_sink(struct rvt_session *session)
{
	const struct rvt_session_sink *sink = session->sink;
	int err;

	if (!sink->poll)
		return 0;
	session_lock(session);
	err = sink->poll(sink->poll_ctx);
	session_unlock(session);
	return err;
}

int rvt_buffer_step(struct buffer *buffer, enum buffer_step step)
{
	const struct rvt_aux *aux;
	struct decoder *decoder;
	bool over;
	int err;

	if (buffer->skipped || buffer->record >= buffer->n_records)
		return 0;
	err = poll_sink(buffer->session);
	if (err)
		return err;
	aux = &buffer->records[buffer->record];
	if (!buffer->begun) {
		err = begin_step(buffer, step, &over);
		if (err || over)
			return err ? err : 1;
	}
	err = get_decoder(buffer, record_cpu(buffer, aux), &decoder);
	if (err == -ENOENT) {
		warn(buffer->session, "trace of a cpu that the metadata knows no encoder of is "
				      "skipped");
		err = end_record(buffer);
		return err ? err : 1;
	}
	if (!err && buffer->pending)
		err = go_on(buffer, decoder);
	else if (!err && buffer->done < aux->size)
		err = feed(buffer, decoder, step);
	if (!err)
		err = stamp_bytes(buffer);
	/* it may be another buffer's turn */
	if (!err && step != STEP_BYTES)
		err = flush(buffer);
	if (!err && buffer->done >= aux->size && !buffer->pending)
		err = end_record(buffer);
	return err ? err : 1;
}

/* ---- the end ---- */

/* @times: 1, or -1 to subtract. */
static void add_flow_stats(struct rvt_flow_stats *sum, const struct rvt_flow_stats *stats,
			   int times)
{
	sum->insns += times * stats->insns;
	sum->halfwords += times * stats->halfwords;
	sum->branches += times * stats->branches;
	sum->taken += times * stats->taken;
	sum->indirect += times * stats->indirect;
	sum->traps += times * stats->traps;
	sum->gaps += times * stats->gaps;
	sum->refuted += times * stats->refuted;
}

void rvt_session_add_stats(struct rvt_session_totals *sum, const struct rvt_session_totals *stats)
{
	rvt_stream_stats_add(&sum->stream, &stats->stream);
	add_flow_stats(&sum->flow, &stats->flow, 1);
	sum->session.trace_bytes += stats->session.trace_bytes;
	sum->session.missing_bytes += stats->session.missing_bytes;
}

static void keep_missing(struct rvt_session *session, const struct rvt_cursor *cursor)
{
	const struct rvt_missing *missing;

	for (size_t n = 0; (missing = rvt_cursor_missing(cursor, n)); n++)
		rvt_missing_add(&session->missing, missing->path, missing->error);
}

static int finish_decoders(struct buffer *buffer)
{
	struct rvt_stream_stats stream = { .size = sizeof(stream) };
	int err = 0;

	for (struct decoder *decoder = buffer->decoders; decoder && !err; decoder = decoder->next) {
		err = rvt_stream_finish(decoder->stream);
		rvt_stream_stats(decoder->stream, &stream);
		rvt_stream_stats_add(&buffer->stats->stream, &stream);
	}
	return err;
}

static void destroy_decoders(struct buffer *buffer)
{
	while (buffer->decoders) {
		struct decoder *next = buffer->decoders->next;

		rvt_stream_destroy(buffer->decoders->stream);
		free(buffer->decoders);
		buffer->decoders = next;
	}
}

int rvt_buffer_finish(struct buffer *buffer)
{
	struct rvt_flow_stats flow = { .size = sizeof(flow) };
	bool told = buffer->slice && session_slices(buffer->session);
	int err = finish_decoders(buffer);

	for (struct hart_flow *hart = buffer->harts; hart && !err; hart = hart->next) {
		err = rvt_flow_flush(hart->base.flow);
		/* a slice that is delivered in order has told and counted its own at its end */
		if (!err && !told)
			err = rvt_hart_end_holding(hart);
		if (!err)
			err = rvt_hart_flush_clock(hart, UINT64_MAX);
		if (!err)
			err = rvt_hart_tell_counts(hart);
		rvt_flow_stats(hart->base.flow, &flow);
		if (!told)
			add_flow_stats(&buffer->stats->flow, &flow, 1);
	}
	return err;
}

static void tell_end(struct hart_flow *hart)
{
	const struct rvt_session_sink *sink = hart->session->sink;

	if (sink && sink->end)
		sink->end(hart->buffer->ctx, &hart->base);
	hart->base.user = NULL;
}

void rvt_buffer_rewind(struct buffer *buffer)
{
	/* of a slice at its end */
	bool told = buffer->slice && session_slices(buffer->session);

	destroy_decoders(buffer);
	while (buffer->harts) {
		struct hart_flow *hart = buffer->harts;

		buffer->harts = hart->next;
		session_lock(buffer->session);
		if (!told)
			tell_end(hart);
		keep_missing(buffer->session, hart->cursor);
		session_unlock(buffer->session);
		rvt_hart_end_flow(hart);
		rvt_clock_destroy(hart->clock);
		rvt_cursor_destroy(hart->cursor);
		free(hart->owners);
		free(hart);
	}
	buffer->record = 0;
	buffer->done = 0;
	buffer->begun = buffer->pending = false;
	buffer->time = 0;
	release_used(buffer, buffer->used_end);
	buffer->used = buffer->used_end = 0;
	free(buffer->unpacked);
	buffer->unpacked = NULL;
	buffer->unpacked_chunk = NULL;
	buffer->unpacked_room = 0;
}

/* ---- slices ---- */

/* Counts must be told while what they are of is mapped. */
static int go_back(struct hart_flow *hart)
{
	struct rvt_session *session = hart->session;
	int err = rvt_hart_tell_counts(hart);

	session_lock(session);
	keep_missing(session, hart->cursor);
	session_unlock(session);
	return err ? err : rvt_hart_go_back(hart);
}

int rvt_buffer_begin_slice(struct buffer *buffer, struct slice *slice)
{
	int err = 0;

	buffer->slice = slice;
	if (session_slices(buffer->session))
		buffer->stats = &slice->stats;
	if (slice->ctx)
		buffer->ctx = slice->ctx;
	buffer->record = slice->record;
	buffer->done = slice->done;
	buffer->begun = slice->from;
	buffer->time = 0;
	buffer->told_moment = 0;
	buffer->was_left = false;
	for (struct hart_flow *hart = buffer->harts; hart && !err; hart = hart->next) {
		hart->before.size = sizeof(hart->before);
		rvt_flow_stats(hart->base.flow, &hart->before);
		hart->owned = hart->no_code = hart->start_held = hart->base.time_exact = false;
		hart->told = hart->base.resumed = hart->base.left = false;
		hart->trap_held = hart->running = false;
		hart->held_stamp = 0;
		rvt_flow_begin_slice(hart->base.flow,
				     rvt_flow_slice(hart->base.flow)->goes_on);
		memset(&hart->base.context, 0, sizeof(hart->base.context));
		rvt_hart_begin_clock(hart);
		if (hart->replaced)
			err = go_back(hart);
		if (!err)
			err = rvt_hart_begin_record(hart, &buffer->records[slice->record]);
	}
	return err;
}

bool rvt_buffer_slice_left(const struct buffer *buffer)
{
	for (const struct hart_flow *hart = buffer->harts; hart; hart = hart->next)
		if (rvt_flow_slice(hart->base.flow)->left)
			return true;
	return false;
}

bool rvt_buffer_slice_done(struct buffer *buffer)
{
	bool done = buffer->decoders;

	for (struct decoder *decoder = buffer->decoders; decoder; decoder = decoder->next) {
		buffer->slice->extended |= rvt_stream_slice_extended(decoder->stream);
		done &= rvt_stream_slice_done(decoder->stream);
	}
	/* what was told is delivered only when its time is known */
	for (const struct hart_flow *hart = buffer->harts; hart; hart = hart->next)
		done |= hart->told && !(hart->clock && rvt_clock_holds(hart->clock));
	return done;
}

enum buffer_step rvt_buffer_slice_step(const struct buffer *buffer)
{
	bool rest;

	if (!session_slices(buffer->session) || buffer->record >= buffer->n_records)
		return STEP_BYTES;
	rest = buffer->records[buffer->record].offset + buffer->done >= buffer->slice->to;
	return rest || (takes_turns(buffer) && !tells_messages(buffer)) ? STEP_MESSAGE :
									  STEP_BYTES;
}

void rvt_buffer_tell_moment(struct buffer *buffer)
{
	const struct rvt_session_slices *slices = session_slices(buffer->session);

	if (buffer->time == buffer->told_moment || !slices || !slices->moment ||
	    buffer->session->options.by_cpu)
		return;
	buffer->told_moment = buffer->time;
	slices->moment(buffer->ctx, buffer->time, buffer->was_left);
}

static void count_slice(struct slice *slice, const struct hart_flow *hart)
{
	struct rvt_flow_stats flow = { .size = sizeof(flow) };

	rvt_flow_stats(hart->base.flow, &flow);
	add_flow_stats(&slice->stats.flow, &flow, 1);
	add_flow_stats(&slice->stats.flow, &hart->before, -1);
}

static void note_clock(struct slice *slice, const struct hart_flow *hart)
{
	const struct rvt_session_slices *slices = session_slices(hart->session);
	const struct rvt_clock_speed speed = rvt_clock_speed(hart->clock);

	if (speed.insns)
		slice->speed = speed;
	/* the slice before may know it */
	if (!slices || !slices->apart)
		slice->untimed_at_begin |= rvt_clock_guessed(hart->clock);
}

/* Notes what the slice takes for granted of the one before, and what it tells the one behind. */
static void note_slice(struct slice *slice, const struct hart_flow *hart)
{
	bool executed = rvt_hart_executed(hart) != hart->before.insns;

	slice->owned_at_end |= rvt_hart_is_told(hart);
	slice->unowned_at_begin |= !hart->owned && executed;
	slice->timed_at_end |= hart->base.time_exact;
	slice->untimed_at_begin |= !hart->base.time_exact && executed;
	if (hart->clock)
		note_clock(slice, hart);
	slice->executed |= executed;
	slice->lost_at_end |= hart->no_code;
	slice->n_edges += rvt_flow_leads_on(hart->base.flow);
}

/* Which of its messages the slice has decoded. */
static int note_source(struct slice *slice, const struct hart_flow *hart)
{
	const struct rvt_flow_slice *flow = rvt_flow_slice(hart->base.flow);

	if (!flow->begun && !flow->waited && !flow->resumed && !flow->left)
		return 0;
	if (array_grow(&slice->sources, slice->n_sources))
		return -ENOMEM;
	slice->sources[slice->n_sources++] = (struct slice_source){
		.source = hart->base.source, .begun = flow->begun, .waited = flow->waited,
		.resumed = flow->resumed, .resumed_at = flow->resumed_at,
		.left = flow->left, .left_at = flow->left_at,
	};
	return 0;
}

enum slice_begin rvt_buffer_slice_begin(const struct buffer *buffer)
{
	if (buffer->slice->broken_at_begin || buffer->slice->lost_at_begin)
		return SLICE_BREAKS;
	for (const struct hart_flow *hart = buffer->harts; hart; hart = hart->next)
		if (rvt_hart_executed(hart) != hart->before.insns)
			return SLICE_EXECUTES;
	return SLICE_UNKNOWN;
}

int rvt_buffer_end_edges(struct buffer *buffer, bool executed)
{
	int err = 0;

	for (struct hart_flow *hart = buffer->harts; hart && !err; hart = hart->next)
		err = rvt_hart_end_edge(hart, executed);
	return err;
}

int rvt_buffer_end_slice(struct buffer *buffer, int err)
{
	/* what comes now comes when all have ended */
	for (struct decoder *decoder = buffer->decoders; decoder; decoder = decoder->next)
		decoder->stream->behind_message = NULL;
	if (!err)
		err = finish_decoders(buffer);
	for (const struct decoder *decoder = buffer->decoders; decoder; decoder = decoder->next) {
		buffer->slice->unsure |= decoder->stream->unsure;
		buffer->slice->silent |= decoder->stream->silent;
		buffer->slice->missed |= decoder->stream->missed;
	}
	destroy_decoders(buffer);
	for (struct hart_flow *hart = buffer->harts; hart; hart = hart->next) {
		rvt_hart_note_exec(hart);
		if (!err)
			err = rvt_hart_end_holding(hart);
		rvt_flow_end_slice(hart->base.flow);
		buffer->slice->held_at_end |= hart->clock && rvt_clock_holds(hart->clock);
		if (!err)
			err = rvt_hart_flush_clock(hart, UINT64_MAX);
		note_slice(buffer->slice, hart);
		if (!err)
			err = note_source(buffer->slice, hart);
		if (session_slices(buffer->session))
			count_slice(buffer->slice, hart);
		hart->base.left = rvt_flow_slice(hart->base.flow)->left;
		if (session_slices(buffer->session))
			tell_end(hart);
	}
	return err;
}

void rvt_buffer_destroy(struct buffer *buffer)
{
	rvt_buffer_rewind(buffer);
	for (size_t i = 0; buffer->session->live && i < buffer->n_chunks; i++)
		free((void *)buffer->chunks[i].bytes);
	free(buffer->chunks);
	free(buffer->overlaps);
	free(buffer->records);
	buffer->chunks = NULL;
	buffer->records = NULL;
}
