// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* The life of a session, and the order in which its buffers are decoded. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "util/array.h"
#include "state.h"

#define READ_AT_LEAST (64u << 10)

static int load_file(const char *path, char **text, size_t *len)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t room = 0;
	ssize_t n = 0;
	int err = 0;

	*text = NULL;
	*len = 0;
	if (fd < 0)
		return -errno;
	do {
		err = array_reserve(text, &room, *len, READ_AT_LEAST);
		if (err)
			break;
		n = read(fd, *text + *len, room - *len - 1);
		if (n < 0)
			err = -errno;
		else
			*len += n;
	} while (n > 0);
	close(fd);
	if (err)
		free(*text);
	else
		(*text)[*len] = 0;
	return err;
}

/* Functions that came and went while it was recorded are not in the copy of its end. */
static int add_ksymbols(const struct rvt_session *session, char **text, size_t *len)
{
	size_t room = *len;

	if (!session->ksymbols)
		return 0;
	if (array_reserve(text, &room, *len, session->ksymbols_len + 1))
		return -ENOMEM;
	memcpy(*text + *len, session->ksymbols, session->ksymbols_len + 1);
	*len += session->ksymbols_len;
	return 0;
}

/* An rvt_kallsyms_reader: the recording's own copy. */
static int unpack_kallsyms(void *ctx, char **text, size_t *len)
{
	const struct rvt_session *session = ctx;
	const void *blob;

	if (rvt_perfdata_feature(session->file, RVT_FEAT_RVTRACE_KALLSYMS, &blob, len) ||
	    rvt_text_unpack(blob, *len, text, len)) {
		*text = NULL;
		*len = 0;
		if (!session->ksymbols)
			return -ENOENT;
	}
	return add_ksymbols(session, text, len);
}

static int load_kallsyms(struct rvt_session *session, char **error)
{
	char *text;
	size_t len;
	int err = load_file(session->options.kallsyms, &text, &len);

	if (err)
		return rvt_session_fail(error, err, "%s: %s", session->options.kallsyms,
					strerror(-err));
	err = add_ksymbols(session, &text, &len);
	if (!err)
		err = rvt_symbols_add_kallsyms(session->symbols, text, len);
	free(text);
	return err;
}

static int load_symbols(struct rvt_session *session, char **error)
{
	const struct rvt_code *vdso = rvt_sideband_vdso(session->sideband);
	int err = rvt_symbols_create(session->options.sideband.symfs, &session->symbols);

	if (err)
		return err;
	if (vdso)
		rvt_symbols_add_image(session->symbols, "[vdso]", vdso->bytes, vdso->len);
	if (session->options.kallsyms)
		return load_kallsyms(session, error);
	rvt_symbols_read_kallsyms(session->symbols, unpack_kallsyms, session);
	return 0;
}

static int load_kernel(struct rvt_session *session, char **error)
{
	const struct rvt_sideband_options *options = &session->options.sideband;
	int err = rvt_sideband_kernel(session->sideband, session->decode.image,
				      &session->decode.kernel);

	if (!err || err == -ENOMEM)
		return err;
	return rvt_session_fail(error, err, "%s: %s", options->vmlinux ?: options->kcore ?:
				options->firmware ?: rvt_perfdata_path(session->file),
				err == -ENOEXEC ? "not a RISC-V ELF file with code" :
						  strerror(-err));
}

int rvt_session_open(const char *path, const struct rvt_session_options *options,
		     struct rvt_session **result, char **error)
{
	struct rvt_session *session = calloc(1, sizeof(*session));
	char *target;
	int err;

	*error = NULL;
	if (!session)
		return -ENOMEM;
	session->options = *options;
	pthread_mutex_init(&session->lock, NULL);
	err = rvt_perfdata_open(path, &session->file, error);
	if (!err)
		err = rvt_sideband_create(&options->sideband, &session->sideband);
	if (!err)
		err = rvt_session_read_meta(session, error);
	if (!err)
		err = rvt_session_read_records(session, error);
	if (!err)
		err = rvt_image_create(&session->decode.image);
	if (!err)
		err = load_kernel(session, error);
	if (!err)
		err = load_symbols(session, error);
	if (err) {
		rvt_session_close(session);
		if (!*error)
			rvt_session_fail(error, err, "%s: %s", path, strerror(-err));
		return err;
	}
	target = rvt_session_meta(session, "target");
	session->by_task = target && !strcmp(target, "task");
	/* nothing else tells; and the proposed driver ends a record with each switch */
	if (session->foreign && !session->has_switches)
		session->by_task = true;
	free(target);
	*result = session;
	return 0;
}

void rvt_session_close(struct rvt_session *session)
{
	if (!session)
		return;
	for (size_t i = 0; i < session->n_buffers; i++)
		rvt_buffer_destroy(&session->buffers[i]);
	for (size_t i = 0; i < session->n_missing; i++)
		free((char *)session->missing[i].path);
	free(session->missing);
	free(session->buffers);
	free(session->encoders);
	free(session->ksymbols);
	free(session->named);
	free(session->meta);
	rvt_symbols_destroy(session->symbols);
	for (unsigned int i = 0; i < session->n_decode_contexts; i++)
		rvt_image_destroy(session->decode_contexts[i].image);
	free(session->decode_contexts);
	rvt_image_destroy(session->decode.image);
	rvt_sideband_destroy(session->sideband);
	pthread_mutex_destroy(&session->lock);
	rvt_perfdata_close(session->file);
	free(session);
}

/* The buffer that lags behind in time; *@others is the time of the next one after it. */
static struct buffer *next_buffer(struct rvt_session *session, uint64_t *others)
{
	struct buffer *next = NULL;

	*others = UINT64_MAX;
	for (size_t i = 0; i < session->n_buffers; i++) {
		struct buffer *buffer = &session->buffers[i];
		uint64_t later = buffer->time;

		if (buffer->record >= buffer->n_records)
			continue;
		if (!next || buffer->time < next->time) {
			later = next ? next->time : UINT64_MAX;
			next = buffer;
		}
		if (later < *others)
			*others = later;
	}
	return next;
}

/*
 * Buffers take turns from message to message: a message tells of what ran since the one before it,
 * so when the buffer with the oldest message goes on, a thread that moved from cpu to cpu is seen
 * in the order in which it ran.
 */
static int run_merged(struct rvt_session *session)
{
	struct buffer *buffer;
	uint64_t others;
	int err = 0;

	while (err >= 0 && (buffer = next_buffer(session, &others)))
		do
			err = rvt_buffer_step(buffer, others != UINT64_MAX);
		while (err == 1 && buffer->time <= others && others != UINT64_MAX);
	return err;
}

/* What one buffer needed is given back before the next one is decoded. */
static int run_by_cpu(struct rvt_session *session)
{
	int err = 0;

	/* When all is told, the next hart needs not learn what this one has. */
	session->decode.teaches = session->options.count;
	for (size_t i = 0; i < session->n_buffers && err >= 0; i++) {
		while ((err = rvt_buffer_step(&session->buffers[i], false)) == 1)
			;
		if (!err)
			err = rvt_buffer_finish(&session->buffers[i]);
		rvt_buffer_rewind(&session->buffers[i]);
	}
	rvt_decode_context_end_teaching(&session->decode);
	return err;
}

static void forget_stats(struct rvt_session *session)
{
	session->stats.trace_bytes = session->stats.missing_bytes = 0;
	memset(&session->stats.stream, 0, sizeof(session->stats.stream));
	memset(&session->stats.flow, 0, sizeof(session->stats.flow));
}

/* Then each depends on all before. */
static bool times_by_bytes(const struct rvt_session *session)
{
	bool stamps = session->has_time_conv;

	for (size_t i = 0; i < session->n_encoders; i++)
		stamps &= rvt_encoder_has_stamps(&session->encoders[i]);
	return session->options.clock && !session->options.count && !stamps;
}

static bool runs_parallel(const struct rvt_session *session)
{
	const struct rvt_session_sink *sink = session->sink;

	return session->options.jobs > 1 && !times_by_bytes(session) &&
	       (session_slices(session) || (session->options.count && sink->reset));
}

/* What slices have told is void. */
static void reset(struct rvt_session *session)
{
	const struct rvt_session_slices *slices = session_slices(session);

	if (slices)
		slices->reset(slices->ctx);
	else
		session->sink->reset(session->sink->ctx);
	forget_stats(session);
}

static int run(struct rvt_session *session)
{
	const struct rvt_session_options *options = &session->options;
	int err;

	if (runs_parallel(session)) {
		err = rvt_session_run_parallel(session);
		if (err != -EAGAIN)
			return err;
		reset(session);
	}
	err = options->by_cpu || options->count ? run_by_cpu(session) : run_merged(session);
	return err == 1 ? 0 : err;
}

void rvt_session_prepare(struct rvt_session *session, const struct rvt_session_sink *sink)
{
	const char *warning = rvt_perfdata_warning(session->file);

	session->sink = sink;
	for (size_t i = 0; i < session->n_buffers; i++)
		session->buffers[i].ctx = sink->ctx;
	forget_stats(session);
	if (warning && sink->warning)
		sink->warning(sink->ctx, warning);
	if (session->bad_code && sink->warning)
		sink->warning(sink->ctx, "the recording's copy of kernel, vdso and BPF code is "
			      "damaged: kernel flow needs --vmlinux or --kcore");
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

int rvt_session_run(struct rvt_session *session, const struct rvt_session_sink *sink)
{
	rvt_session_prepare(session, sink);
	return rvt_session_complete(session, run(session));
}
