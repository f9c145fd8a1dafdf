// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* The messages of a recording as text or JSON, one buffer after the other. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include "state.h"
#include "dump-ops.h"
#include "util/sized.h"
#ifdef HAVE_JSON
#include "util/json-line.h"
#endif

#define GAP_FLAGS (PERF_AUX_FLAG_TRUNCATED | PERF_AUX_FLAG_PARTIAL | PERF_AUX_FLAG_COLLISION)

/* The dumps of a buffer: one for each encoder, as a per-thread buffer has trace of several. */
struct dumps {
	struct rvt_session *session;
	unsigned int flags;
	FILE *out;
	struct rvt_dump **dumps;	/* like session->encoders; NULL: not needed yet */
	struct rvt_dump_stats *sum;
};

static int get_dump(struct dumps *dumps, const struct buffer *buffer, const struct rvt_aux *aux,
		    struct rvt_dump **dump)
{
	const struct encoder *encoder =
		rvt_session_encoder(dumps->session, buffer->cpu >= 0 ? buffer->cpu : aux->cpu);
	size_t n;
	int err = 0;

	*dump = NULL;
	if (!encoder)
		return 0;
	n = encoder - dumps->session->encoders;
	if (!dumps->dumps[n]) {
		struct rvt_params params = encoder->params;

		/* frames may have the trace of others, too */
		params.atid = 0;
		err = rvt_dump_create(&params, dumps->flags, dumps->out, &dumps->dumps[n]);
	}
	*dump = dumps->dumps[n];
	return err;
}

static void feed_record(struct rvt_dump *dump, struct buffer *buffer,
			const struct rvt_aux *aux)
{
	uint64_t at = aux->offset, end = aux->offset + aux->size;

	for (size_t i = rvt_buffer_next_chunk(buffer, at); i < buffer->n_chunks && at < end; i++) {
		const struct chunk *chunk = &buffer->chunks[i];
		const uint8_t *bytes;
		uint64_t len;

		if (chunk->offset >= end)
			break;
		bytes = rvt_buffer_bytes(buffer, chunk);
		if (!bytes)
			continue;
		if (chunk->offset > at) {
			rvt_dump_lost(dump, false);
			at = chunk->offset;
		}
		len = chunk->offset + chunk->len - at;
		if (len > end - at)
			len = end - at;
		rvt_dump_feed(dump, bytes + (at - chunk->offset), len, at);
		at += len;
	}
	if (at < end)
		rvt_dump_lost(dump, false);
}

static void finish_all(struct dumps *dumps)
{
	for (size_t i = 0; i < dumps->session->n_encoders; i++) {
		struct rvt_dump_stats stats = { .size = sizeof(stats) };

		if (!dumps->dumps[i])
			continue;
		rvt_dump_finish(dumps->dumps[i]);
		rvt_dump_stats(dumps->dumps[i], &stats);
		rvt_dump_stats_add(dumps->sum, &stats);
		rvt_dump_destroy(dumps->dumps[i]);
		dumps->dumps[i] = NULL;
	}
}

static void name_buffer(const struct dumps *dumps, const struct buffer *buffer)
{
#ifdef HAVE_JSON
	if (dumps->flags & RVT_DUMP_JSON) {
		struct json_object *line = json_object_new_object();

		json_add(line, "buffer", json_object_new_int64(buffer->number));
		json_add(line, "cpu", json_object_new_int(buffer->cpu));
		json_add(line, "tid", json_object_new_int(buffer->tid));
		json_put_line(dumps->out, line);
		return;
	}
#endif
	fprintf(dumps->out, "buffer %u: cpu %d, thread %d\n", buffer->number, buffer->cpu,
		buffer->tid);
}

static int dump_buffer(struct dumps *dumps, struct buffer *buffer)
{
	struct rvt_dump *dump;
	int err;

	name_buffer(dumps, buffer);
	for (size_t i = 0; i < buffer->n_records; i++) {
		const struct rvt_aux *aux = &buffer->records[i], *before = i ? aux - 1 : NULL;

		if (before && (before->flags & GAP_FLAGS ||
			       before->offset + before->size != aux->offset)) {
			err = get_dump(dumps, buffer, before, &dump);
			if (err)
				return err;
			if (dump)
				rvt_dump_lost(dump, !(before->flags & PERF_AUX_FLAG_PARTIAL));
		}
		err = get_dump(dumps, buffer, aux, &dump);
		if (err)
			return err;
		if (dump)
			feed_record(dump, buffer, aux);
		else
			dumps->sum->skipped_bytes += aux->size;
	}
	return 0;
}

int rvt_session_dump(struct rvt_session *session, unsigned int flags, FILE *out,
		     struct rvt_dump_stats *stats)
{
	struct rvt_dump_stats sum = { .size = sizeof(sum) };
	struct dumps dumps = { .session = session, .flags = flags, .out = out, .sum = &sum };
	int err;

	err = sized_fill(stats, &sum, sizeof(sum));
	if (err)
		return err;
	dumps.dumps = calloc(session->n_encoders + 1, sizeof(dumps.dumps[0]));
	if (!dumps.dumps)
		return -ENOMEM;
	for (size_t i = 0; i < session->n_buffers && !err; i++) {
		err = dump_buffer(&dumps, &session->buffers[i]);
		finish_all(&dumps);
	}
	free(dumps.dumps);
	sized_fill(stats, &sum, sizeof(sum));
	return err;
}
