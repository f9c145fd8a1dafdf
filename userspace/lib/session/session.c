// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* How a session is decoded and closed, and the order in which its buffers are decoded. */
#include <errno.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "util/array.h"
#include "util/sized.h"
#include "index-state.h"
#include "state.h"

int rvt_session_create(const struct session_source *source,
		       const struct rvt_session_options *options, struct rvt_session **result,
		       char **error)
{
	struct rvt_session *session = calloc(1, sizeof(*session));
	int err;

	*error = NULL;
	*result = NULL;
	if (!session)
		return -ENOMEM;
	session->source = source;
	session->only_source = -1;
	pthread_mutex_init(&session->lock, NULL);
	err = sized_copy(&session->options, sizeof(session->options), options);
	if (err)
		return rvt_session_give_up(session, err, "struct rvt_session_options", error);
	*result = session;
	return 0;
}

int rvt_session_create_sideband(struct rvt_session *session)
{
	const struct rvt_session_options *options = &session->options;
	const struct rvt_sideband_options sideband = {
		.size = sizeof(sideband), .symfs = options->symfs, .vmlinux = options->vmlinux,
		.kcore = options->kcore, .firmware = options->firmware,
	};

	return rvt_sideband_create(&sideband, &session->sideband);
}

int rvt_session_give_up(struct rvt_session *session, int err, const char *path, char **error)
{
	rvt_session_close(session);
	if (!*error)
		rvt_session_fail(error, err, "%s: %s", path, strerror(-err));
	return err;
}

void rvt_session_forget_choice(struct rvt_session *session)
{
	if (session->choice)
		rvt_index_choice_free(session->choice);
	session->choice = NULL;
	session->spans = NULL;
	session->n_spans = 0;
}

void rvt_session_close(struct rvt_session *session)
{
	if (!session)
		return;
	for (size_t i = 0; i < session->n_buffers; i++)
		rvt_buffer_destroy(&session->buffers[i]);
	rvt_session_forget_choice(session);
	rvt_missing_free(&session->missing);
	rvt_session_forget_buffers(session);
	free(session->buffers);
	free(session->encoders);
	free(session->ksymbols);
	tdestroy(session->named, free);
	free(session->meta);
	rvt_symbols_destroy(session->symbols);
	for (unsigned int i = 0; i < session->n_decode_contexts; i++)
		rvt_image_destroy(session->decode_contexts[i].image);
	free(session->decode_contexts);
	rvt_image_destroy(session->decode.image);
	rvt_sideband_destroy(session->sideband);
	pthread_mutex_destroy(&session->lock);
	session->source->close(session);
	free(session);
}

static bool has_stamps(const struct rvt_session *session)
{
	bool stamps = session->has_time_conv;

	for (size_t i = 0; i < session->n_encoders; i++)
		stamps &= rvt_encoder_tells_time(&session->encoders[i]);
	return stamps;
}

/*
 * Returns how far the buffer has got in time. Without time stamps all of a record is as old as the
 * record: one that ended later comes later, also where harts share a sink and drain it by turns.
 */
static uint64_t progress(const struct buffer *buffer, bool stamps)
{
	return stamps ? buffer->time : buffer->records[buffer->record].time;
}

/* The buffer that lags behind in time, of several the first; *@other is the next one after it. */
static struct buffer *next_buffer(struct rvt_session *session, bool stamps, struct buffer **other)
{
	struct buffer *next = NULL;

	*other = NULL;
	for (size_t i = 0; i < session->n_buffers; i++) {
		struct buffer *buffer = &session->buffers[i];

		if (buffer->skipped || buffer->record >= buffer->n_records)
			continue;
		if (!next || progress(buffer, stamps) < progress(next, stamps)) {
			*other = next;
			next = buffer;
		} else if (!*other || progress(buffer, stamps) < progress(*other, stamps)) {
			*other = buffer;
		}
	}
	return next;
}

/* Whether @buffer has not come as far as @other, or as far and is the first of them. */
static bool is_behind(const struct buffer *buffer, const struct buffer *other, bool stamps)
{
	uint64_t time = progress(buffer, stamps), others = progress(other, stamps);

	return time < others || (time == others && buffer->number < other->number);
}

/* How far a buffer goes in one step, at most to where it is the turn of @other. NULL: of none. */
static enum buffer_step choose_step(const struct rvt_session *session, bool stamps,
			     const struct buffer *other)
{
	if (session->by_message || (stamps && session->shared))
		return STEP_MESSAGE;
	if (!stamps || !other)
		return STEP_BYTES;
	/* a stream of frames pauses behind a frame only */
	return session->has_frames ? STEP_MESSAGE : STEP_STAMP;
}

/*
 * Buffers take turns from message to message: a message tells of what ran since the one before it,
 * so when the buffer with the oldest message goes on, a thread that moved from cpu to cpu is seen
 * in the order in which it ran; so are harts that share a buffer. Where messages have no time, from
 * record to record. What came before is no matter, so that a decoding that begins anywhere has the
 * same order.
 */
int rvt_session_run_merged(struct rvt_session *session)
{
	bool stamps = has_stamps(session);
	struct buffer *buffer, *other;
	int err = 0;

	while (err >= 0 && (buffer = next_buffer(session, stamps, &other))) {
		enum buffer_step step = choose_step(session, stamps, other);

		if (other)
			buffer->until = progress(other, stamps) + (buffer->number < other->number);
		do
			err = rvt_buffer_step(buffer, step);
		while (err == 1 && other && buffer->record < buffer->n_records &&
		       is_behind(buffer, other, stamps));
	}
	return err;
}

/* Decodes buffer by buffer. What one needed is given back before the next one begins. */
static int run_by_cpu(struct rvt_session *session)
{
	int err = 0;

	/* When all is told, the next hart need not learn what this one has. */
	session->decode.shares_memos = session->options.count;
	session->decode.n_decodings++;
	for (size_t i = 0; i < session->n_buffers && err >= 0; i++) {
		while ((err = rvt_buffer_step(&session->buffers[i], STEP_BYTES)) == 1)
			;
		if (!err)
			err = rvt_buffer_finish(&session->buffers[i]);
		rvt_buffer_rewind(&session->buffers[i]);
	}
	session->decode.shares_memos = false;
	return err;
}

void rvt_session_forget_stats(struct rvt_session *session)
{
	session->stats.session.trace_bytes = session->stats.session.missing_bytes = 0;
	memset(&session->stats.stream, 0, sizeof(session->stats.stream));
	memset(&session->stats.flow, 0, sizeof(session->stats.flow));
}

/* Then each depends on all before, or buffers take turns that no slice knows by itself. */
static bool times_by_records(const struct rvt_session *session)
{
	const struct rvt_session_options *options = &session->options;

	return !options->count && !has_stamps(session) &&
	       (options->clock || (!options->by_cpu && session->n_buffers > 1));
}

static bool runs_parallel(const struct rvt_session *session)
{
	const struct rvt_session_slices *slices = session_slices(session);
	const struct rvt_session_sink *sink = session->sink;

	if (slices && (session->spans || slices->apart))
		return !times_by_records(session);
	return session->options.jobs > 1 && !times_by_records(session) &&
	       (slices || (session->options.count && sink->reset));
}

/* Tells the sink that what slices have told is void. */
static void reset(struct rvt_session *session)
{
	const struct rvt_session_slices *slices = session_slices(session);

	if (slices)
		slices->reset(slices->ctx);
	else
		session->sink->reset(session->sink->ctx);
	rvt_session_forget_stats(session);
}

void rvt_session_add_skipped(struct rvt_session *session)
{
	const struct rvt_index *index = session->choice ? session->choice->index : NULL;

	if (!index)
		return;
	rvt_session_add_stats(&session->stats, &session->choice->skipped);
	for (size_t i = 0; i < index->n_missing; i++)
		rvt_missing_add(&session->missing, index->missing[i].path,
				index->missing[i].error);
}

static int run_parallel(struct rvt_session *session)
{
	int err = rvt_session_run_parallel(session);

	if (err == -EAGAIN)
		reset(session);
	return err;
}

bool rvt_session_choose_whole(struct rvt_session *session)
{
	const struct index_choice *choice = session->choice;

	for (size_t i = 0; choice && i < choice->n_spans; i++)
		choice->spans[i].whole = true;
	return choice;
}

static int run_chosen(struct rvt_session *session)
{
	int err = run_parallel(session);

	return err == -EAGAIN && rvt_session_choose_whole(session) ? run_parallel(session) : err;
}

static int run(struct rvt_session *session)
{
	const struct rvt_session_options *options = &session->options;
	int err;

	if (runs_parallel(session)) {
		err = run_chosen(session);
		if (!err)
			rvt_session_add_skipped(session);
		if (err != -EAGAIN)
			return err;
	}
	/* one thread decodes all of it */
	rvt_session_forget_choice(session);
	err = options->by_cpu || options->count ? run_by_cpu(session) :
						  rvt_session_run_merged(session);
	return err == 1 ? 0 : err;
}

/* Whether a buffer may have the trace of several encoders. */
static bool shares_sinks(const struct rvt_session *session)
{
	bool named = false;

	for (size_t i = 0; i < session->n_encoders; i++)
		named |= encoder_is_named(&session->encoders[i]);
	return named && session->n_encoders > 1;
}

static bool has_frames(const struct rvt_session *session)
{
	bool frames = false;

	for (size_t i = 0; i < session->n_encoders; i++)
		frames |= session->encoders[i].params.framing != RVT_FRAMING_NONE;
	return frames;
}

/* What an encoder writes that follows a later text is decoded by the one that is known. */
static void warn_of_archs(const struct rvt_session *session, const struct rvt_session_sink *sink)
{
	char text[160];

	for (size_t i = 0; i < session->n_encoders && sink->warning; i++) {
		const struct encoder *encoder = &session->encoders[i];

		if (encoder->params.protocol != RVT_PROTOCOL_ETRACE ||
		    encoder->params.arch_p <= RVT_ETRACE_ARCH)
			continue;
		snprintf(text, sizeof(text), "an encoder (cpu %d) follows version %u of E-Trace's "
			 "architecture (arch_p); up to %u is known: flow may be wrong",
			 encoder->cpu, encoder->params.arch_p, RVT_ETRACE_ARCH);
		sink->warning(sink->ctx, text);
	}
}

int rvt_session_prepare(struct rvt_session *session, const struct rvt_session_sink *from)
{
	const char *warning = session->source->warning ? session->source->warning(session) : NULL;
	const struct rvt_session_sink *sink = &session->own_sink;

	if (sized_copy(&session->own_sink, sizeof(session->own_sink), from))
		return -EINVAL;
	session->sink = sink;
	for (size_t i = 0; i < session->n_buffers; i++)
		session->buffers[i].ctx = sink->ctx;
	rvt_session_forget_stats(session);
	session->shared = shares_sinks(session);
	session->has_frames = has_frames(session);
	if (warning && sink->warning)
		sink->warning(sink->ctx, warning);
	warn_of_archs(session, sink);
	if (session->bad_code && sink->warning)
		sink->warning(sink->ctx, "the recording's copy of kernel, vdso and BPF code is "
			      "damaged: kernel flow needs --vmlinux or --kcore");
	return 0;
}

int rvt_session_complete(struct rvt_session *session, int err)
{
	for (size_t i = 0; i < session->n_buffers; i++) {
		if (!err)
			/* of those that took turns */
			err = rvt_buffer_finish(&session->buffers[i]);
		rvt_buffer_rewind(&session->buffers[i]);
	}
	session->sink = NULL;
	return err;
}

int rvt_session_run_slices(struct rvt_session *session, const struct rvt_session_sink *sink,
			   const struct rvt_session_slices *slices)
{
	int err = rvt_session_prepare(session, sink);

	if (err)
		return err;
	session->slices = slices;
	err = rvt_session_complete(session, run(session));
	session->slices = NULL;
	return err;
}

int rvt_session_run(struct rvt_session *session, const struct rvt_session_sink *sink)
{
	return rvt_session_run_slices(session, sink, NULL);
}
