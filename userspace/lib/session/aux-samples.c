// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Trace in samples of other events (PERF_SAMPLE_AUX): each has the last bytes of its cpu's trace
 * before it was taken. What a sample has in common with the one before it is taken once. Where
 * samples have nothing in common trace is missing between them, and the flow begins anew at the
 * first synchronisation of the second.
 */
#include <errno.h>
#include <string.h>
#include "util/array.h"
#include "perfdata/reader.h"
#include "state.h"

#define MIN_UNUSED 64	/* zeroes in a row: no trace has so many */
#define MIN_COMMON 32	/* bytes: less may be chance */

static size_t zeroes(const uint8_t *bytes, size_t len)
{
	size_t n = 0;

	while (n < len && !bytes[n])
		n++;
	return n;
}

/*
 * How many of the last bytes of the sample before are the first of @bytes, in time by their number
 * (Knuth, Morris, Pratt 1977): overlaps[i] is how many of the last of the first i + 1 bytes are the
 * first of all, too. 0: less than MIN_COMMON. -ENOMEM.
 */
static ssize_t common_bytes(struct buffer *buffer, const uint8_t *bytes, size_t len)
{
	const uint8_t *before = buffer->sampled;
	size_t n = 0, n_before = buffer->sampled_len;
	uint32_t *overlaps;

	if (!before || len < MIN_COMMON)
		return 0;
	if (array_reserve(&buffer->overlaps, &buffer->overlaps_room, 0, len))
		return -ENOMEM;
	overlaps = buffer->overlaps;
	overlaps[0] = 0;
	for (size_t i = 1; i < len; i++) {
		while (n && bytes[i] != bytes[n])
			n = overlaps[n - 1];
		n += bytes[i] == bytes[n];
		overlaps[i] = n;
	}
	n = 0;
	for (size_t i = n_before > len ? n_before - len : 0; i < n_before; i++) {
		while (n && (n == len || before[i] != bytes[n]))
			n = overlaps[n - 1];
		n += before[i] == bytes[n];
	}
	return n < MIN_COMMON ? 0 : n;
}

/* Trace is missing before what comes. @whole: it begins with a message. */
static int add_gap(struct buffer *buffer, const struct rvt_aux *aux, bool whole)
{
	struct rvt_aux gap = *aux;

	gap.size = 0;
	gap.flags = whole ? PERF_AUX_FLAG_TRUNCATED : PERF_AUX_FLAG_PARTIAL;
	return rvt_buffer_add_record(buffer, &gap);
}

static int add_bytes(struct buffer *buffer, const struct rvt_aux *aux, const uint8_t *bytes)
{
	if (array_grow(&buffer->chunks, buffer->n_chunks))
		return -ENOMEM;
	buffer->chunks[buffer->n_chunks++] = (struct chunk){
		.offset = aux->offset, .len = aux->size, .bytes = bytes,
	};
	return rvt_buffer_add_record(buffer, aux);
}

/*
 * Zeroes at the beginning, from before the buffer was full; the last of them may be few, so that
 * only what the sample before began with tells. *@common: as common_bytes().
 */
static size_t unused_bytes(struct buffer *buffer, const uint8_t *bytes, size_t len,
			   ssize_t *common)
{
	size_t n = zeroes(bytes, len);

	*common = common_bytes(buffer, bytes + n, len - n);
	if (*common || n >= MIN_UNUSED || !n)
		return n;
	*common = common_bytes(buffer, bytes, len);
	return 0;
}

int rvt_session_add_aux_sample(struct rvt_session *session,
			       const struct rvt_perfdata_record *record)
{
	const uint8_t *bytes = record->aux;
	const struct rvt_record_auxtrace whose = { .cpu = record->cpu, .tid = -1,
						   .idx = record->cpu };
	size_t len = record->aux_len, unused;
	ssize_t common;
	struct buffer *buffer;
	struct rvt_aux aux;
	int err = 0;

	if (zeroes(bytes, len) == len || !record->cpu_valid)
		return 0;
	buffer = rvt_session_get_buffer(session, &whose);
	if (!buffer)
		return -ENOMEM;
	unused = unused_bytes(buffer, bytes, len, &common);
	if (common < 0)
		return common;
	bytes += unused;
	len -= unused;
	aux = (struct rvt_aux){
		.offset = buffer->sampled_end, .size = len - common, .time = record->time,
		.cpu = record->cpu, .pid = record->tid_valid ? record->pid : -1,
		.tid = record->tid_valid ? record->tid : -1,
	};
	if (!common && (buffer->sampled || !unused))
		err = add_gap(buffer, &aux, unused);
	if (!err && aux.size)
		err = add_bytes(buffer, &aux, bytes + common);
	buffer->sampled = bytes;
	buffer->sampled_len = len;
	buffer->sampled_end += aux.size;
	return err;
}
