// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* What a session knows, for those who ask. */
#include <stdarg.h>
#include <stdio.h>
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

uint64_t rvt_session_size(const struct rvt_session *session)
{
	uint64_t size = 0;

	for (size_t i = 0; i < session->n_buffers; i++)
		for (size_t k = 0; k < session->buffers[i].n_records; k++)
			size += session->buffers[i].records[k].size;
	return size;
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
