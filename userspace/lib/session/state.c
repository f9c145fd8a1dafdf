// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* What a session knows, for those who ask. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include "sideband/threads.h"
#include "state.h"
#include "util/sized.h"

int rvt_session_fail(char **error, int err, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	if (vasprintf(error, format, args) < 0)
		*error = NULL;
	va_end(args);
	return err;
}

static uint64_t buffer_size(const struct buffer *buffer)
{
	uint64_t size = 0;

	for (size_t i = 0; i < buffer->n_records; i++)
		size += buffer->records[i].size;
	return size;
}

uint64_t rvt_session_size(const struct rvt_session *session)
{
	uint64_t size = 0;

	for (size_t i = 0; i < session->n_buffers; i++)
		if (!session->buffers[i].skipped)
			size += buffer_size(&session->buffers[i]);
	return size;
}

/* The biggest buffer that has no share yet, of several the first; NULL: all have. */
static struct buffer *biggest(struct rvt_session *session, const bool *has_share)
{
	struct buffer *found = NULL;

	for (size_t i = 0; i < session->n_buffers; i++) {
		struct buffer *buffer = &session->buffers[i];

		if (!has_share[i] && (!found || buffer_size(buffer) > buffer_size(found)))
			found = buffer;
	}
	return found;
}

int rvt_session_take_share(struct rvt_session *session, unsigned int share, unsigned int shares)
{
	bool *has_share = calloc(session->n_buffers + 1, sizeof(*has_share));
	uint64_t *sizes = calloc(shares, sizeof(*sizes));
	struct buffer *buffer;

	if (!has_share || !sizes) {
		free(has_share);
		free(sizes);
		return -ENOMEM;
	}
	while ((buffer = biggest(session, has_share))) {
		unsigned int least = 0;

		for (unsigned int i = 1; i < shares; i++)
			if (sizes[i] < sizes[least])
				least = i;
		sizes[least] += buffer_size(buffer);
		buffer->skipped = least != share;
		has_share[buffer - session->buffers] = true;
	}
	free(has_share);
	free(sizes);
	return 0;
}

void rvt_session_span(const struct rvt_session *session, uint64_t *from, uint64_t *to)
{
	*from = session->started;
	*to = 0;
	for (size_t i = 0; i < session->n_buffers; i++)
		for (size_t k = 0; k < session->buffers[i].n_records; k++)
			if (session->buffers[i].records[k].time > *to)
				*to = session->buffers[i].records[k].time;
	if (!*to)
		*to = UINT64_MAX;
}

void rvt_session_totals(const struct rvt_session *session, struct rvt_session_totals *totals)
{
	*totals = session->stats;
}

int rvt_session_stats(const struct rvt_session *session, struct rvt_session_stats *stats)
{
	return sized_fill(stats, &session->stats.session, sizeof(session->stats.session));
}

int rvt_session_stream_stats(const struct rvt_session *session, struct rvt_stream_stats *stats)
{
	return sized_fill(stats, &session->stats.stream, sizeof(session->stats.stream));
}

int rvt_session_flow_stats(const struct rvt_session *session, struct rvt_flow_stats *stats)
{
	return sized_fill(stats, &session->stats.flow, sizeof(session->stats.flow));
}

struct rvt_perfdata *rvt_session_file(const struct rvt_session *session)
{
	return session->file;
}

struct rvt_symbols *rvt_session_symbols(const struct rvt_session *session)
{
	return session->symbols;
}

const struct rvt_record_time_conv *rvt_session_time_conv(const struct rvt_session *session)
{
	return session->has_time_conv ? &session->time_conv : NULL;
}

int rvt_session_threaded(const struct rvt_session *session, struct rvt_threaded *threaded)
{
	return rvt_sideband_threaded(session->sideband, threaded);
}

const struct rvt_missing *rvt_session_missing(const struct rvt_session *session, size_t n)
{
	return rvt_missing_at(&session->missing, n);
}

const char *rvt_session_dso_name(const struct rvt_session *session, const char *path)
{
	return rvt_sideband_recorded_name(session->sideband, path);
}

bool rvt_session_has_kernel(const struct rvt_session *session)
{
	return rvt_sideband_has_kernel(session->sideband);
}
