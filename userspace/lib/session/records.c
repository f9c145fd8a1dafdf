// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Sorts the records of a recording: sideband to the decoder of who runs, trace to its buffer. */
#include <errno.h>
#include <inttypes.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include "../../../include/uapi/linux/rvtrace.h"
#include "coresight/frames.h"
#include "util/array.h"
#include "perfdata/reader.h"
#include "state.h"

#define FOREIGN_HW_ID_ATID 0xff

static int add_chunk(struct rvt_session *session, const struct rvt_perfdata_record *record)
{
	const struct rvt_record_auxtrace *aux = (const void *)record->header;
	struct buffer *buffer = rvt_session_get_buffer(session, aux);

	if (!buffer)
		return -ENOMEM;
	/* Nobody packs so much: damage, which leaves a gap. */
	if (!record->aux_len || aux->unpacked > RVT_AUX_MAX_UNPACKED)
		return 0;
	if (array_grow(&buffer->chunks, buffer->n_chunks))
		return -ENOMEM;
	buffer->chunks[buffer->n_chunks++] = (struct chunk){
		.offset = aux->offset, .len = aux->unpacked ? aux->unpacked : record->aux_len,
		.packed = aux->unpacked ? record->aux_len : 0, .unpacked = aux->unpacked,
		.bytes = record->aux,
	};
	return 0;
}

/* AUX records come before the chunk that holds their bytes, so they wait until all is read. */
struct pending {
	struct rvt_aux *records;
	size_t n;
};

static int compare_named(const void *a, const void *b)
{
	const struct named_thread *x = a, *y = b;

	return x->event < y->event ? -1 : x->event > y->event;
}

static struct named_thread *find_named(const struct rvt_session *session, uint64_t event)
{
	const struct named_thread key = { .event = event };
	struct named_thread *const *found = tfind(&key, &session->named, compare_named);

	return found ? *found : NULL;
}

/* Whose trace the event's next late AUX record has. */
static int add_named(struct rvt_session *session, const struct rvt_perfdata_record *record,
		     uint64_t hw_id)
{
	struct named_thread *named = find_named(session, record->id);

	if (!named) {
		named = calloc(1, sizeof(*named));
		if (!named)
			return -ENOMEM;
		named->event = record->id;
		if (!tsearch(named, &session->named, compare_named)) {
			free(named);
			return -ENOMEM;
		}
	}
	named->cpu = (int32_t)(hw_id & RVTRACE_HW_ID_CPU);
	named->tid = (int32_t)((hw_id & RVTRACE_HW_ID_TID) >> 32);
	if (!named->tid)
		named->tid = -1;
	return 0;
}

/*
 * CoreSight's drivers, and SpacemiT's, tell the id that frames have for the trace of the cpu (and
 * the sink, in the bits above), rvtrace's whose trace it is.
 */
static int add_hw_id(struct rvt_session *session, const struct rvt_perfdata_record *record)
{
	uint64_t hw_id;
	unsigned int atid;

	if (record->body_len < sizeof(hw_id))
		return 0;
	memcpy(&hw_id, record->header + 1, sizeof(hw_id));
	if (!session->foreign)
		return add_named(session, record, hw_id);
	atid = hw_id & FOREIGN_HW_ID_ATID;
	if (record->cpu_valid && atid && atid <= RVT_CORESIGHT_MAX_ID)
		rvt_session_set_atid(session, record->cpu, atid);
	return 0;
}

/* A late AUX record names who ran when it was written, and where; the truth was told before it. */
static void set_named(struct rvt_session *session, const struct rvt_perfdata_record *record,
		      struct rvt_aux *aux)
{
	struct named_thread *named = find_named(session, record->id);

	aux->flags &= ~(uint64_t)RVTRACE_AUX_FLAG_LATE;
	aux->pid = -1;
	aux->tid = -1;
	if (!named || named->tid < 0)
		return;
	aux->tid = named->tid;
	aux->cpu = named->cpu;
	named->tid = -1;
}

/* Whether the event of @record is one that traces. */
static bool is_of_trace(const struct rvt_session *session, const struct rvt_perfdata_record *record)
{
	return !session->has_pmu_type || !record->event ||
	       record->event->attr.type == session->pmu_type;
}

static int note_start(struct rvt_session *session, const struct rvt_perfdata_record *record)
{
	if (!is_of_trace(session, record))
		return 0;
	if (record->time_valid && (!session->started || record->time < session->started))
		session->started = record->time;
	return rvt_session_note_start(session, record);
}

bool rvt_session_read_aux(struct rvt_session *session, const struct rvt_perfdata_record *record,
			  struct rvt_aux *result)
{
	const uint64_t *body = (const uint64_t *)(record->header + 1);
	struct rvt_aux aux;

	if (record->body_len < 24 || !is_of_trace(session, record))
		return false;
	aux = (struct rvt_aux){ .offset = body[0], .size = body[1], .flags = body[2],
		.time = record->time, .cpu = record->cpu_valid ? record->cpu : -1,
		.pid = record->tid_valid ? record->pid : -1,
		.tid = record->tid_valid ? record->tid : -1 };
	if (aux.flags & RVTRACE_AUX_FLAG_LATE)
		set_named(session, record, &aux);
	session->stats.session.truncated += !!(aux.flags & PERF_AUX_FLAG_TRUNCATED);
	session->stats.session.partial += !!(aux.flags & PERF_AUX_FLAG_PARTIAL);
	session->stats.session.collisions += !!(aux.flags & PERF_AUX_FLAG_COLLISION);
	*result = aux;
	return true;
}

static int add_record(struct rvt_session *session, struct pending *pending,
		      const struct rvt_perfdata_record *record)
{
	struct rvt_aux aux;

	if (!rvt_session_read_aux(session, record, &aux))
		return 0;
	if (array_grow(&pending->records, pending->n))
		return -ENOMEM;
	pending->records[pending->n++] = aux;
	return 0;
}

static int give_to_buffers(struct rvt_session *session, const struct pending *pending)
{
	int err = 0;

	for (size_t i = 0; i < pending->n && !err; i++) {
		struct buffer *buffer = rvt_session_aux_buffer(session, &pending->records[i]);

		/* where trace is in samples they tell of what is in none */
		if (buffer && !buffer->sampled)
			err = rvt_buffer_add_record(buffer, &pending->records[i]);
	}
	return err;
}

static int compare_records(const void *a, const void *b)
{
	const struct rvt_aux *x = a, *y = b;

	if (x->offset == y->offset)
		return x->size < y->size ? -1 : x->size > y->size;
	return x->offset < y->offset ? -1 : 1;
}

static int compare_chunks(const void *a, const void *b)
{
	const struct chunk *x = a, *y = b;

	return x->offset < y->offset ? -1 : x->offset > y->offset;
}

/* The first byte of [@offset, @end) that is in a chunk, or @end. */
static uint64_t first_byte(const struct buffer *buffer, uint64_t offset, uint64_t end)
{
	size_t i = rvt_buffer_next_chunk(buffer, offset);
	const struct chunk *chunk;

	if (i == buffer->n_chunks)
		return end;
	chunk = &buffer->chunks[i];
	return chunk->offset <= offset ? offset : chunk->offset < end ? chunk->offset : end;
}

/* Adds what is left of a record, which begins amid a message. An empty record before it says so. */
static int add_clipped(struct buffer *buffer, const struct rvt_aux *written)
{
	uint64_t end = written->offset;
	uint64_t offset = end - (written->size < end ? written->size : end);
	struct rvt_aux left = *written;
	int err = 0;

	if (!(written->flags & PERF_AUX_FLAG_OVERWRITE))
		return rvt_buffer_add_record(buffer, written);
	left.offset = first_byte(buffer, offset, end);
	if (left.offset == end)
		return 0;
	if (left.offset != offset) {
		left.size = 0;
		left.flags |= PERF_AUX_FLAG_PARTIAL;
		err = rvt_buffer_add_record(buffer, &left);
	}
	left.size = end - left.offset;
	left.flags = written->flags;
	return err ? err : rvt_buffer_add_record(buffer, &left);
}

/*
 * A buffer in which old trace gave way to new: its records say where they end and how much was
 * written, and of most nothing is left.
 */
static int clip_overwritten(struct buffer *buffer)
{
	struct rvt_aux *written = buffer->records;
	size_t n = buffer->n_records;
	int err = 0;

	buffer->records = NULL;
	buffer->n_records = 0;
	for (size_t i = 0; i < n && !err; i++)
		err = add_clipped(buffer, &written[i]);
	free(written);
	return err;
}

/* Padding that a recorder put behind a chunk is not trace, nor what another one claims. */
static void clip_chunks(struct buffer *buffer)
{
	for (size_t i = 1; i < buffer->n_chunks; i++) {
		struct chunk *chunk = &buffer->chunks[i - 1];
		uint64_t len = chunk[1].offset - chunk->offset;

		if (chunk->len > len)
			chunk->len = len;
	}
}

/* Without any AUX record (they were lost, or another recorder left them out) a chunk is one. */
static int sort_buffer(struct buffer *buffer)
{
	int err;

	if (buffer->n_chunks)
		qsort(buffer->chunks, buffer->n_chunks, sizeof(*buffer->chunks), compare_chunks);
	clip_chunks(buffer);
	err = clip_overwritten(buffer);
	if (err)
		return err;
	if (buffer->n_records) {
		qsort(buffer->records, buffer->n_records, sizeof(*buffer->records),
		      compare_records);
		return 0;
	}
	for (size_t i = 0; i < buffer->n_chunks && !err; i++) {
		const struct rvt_aux aux = {
			.offset = buffer->chunks[i].offset, .size = buffer->chunks[i].len,
			.cpu = buffer->cpu, .pid = -1, .tid = buffer->tid };

		err = rvt_buffer_add_record(buffer, &aux);
	}
	return err;
}

struct ksymbol_body {
	uint64_t addr;
	uint32_t len;
	uint16_t type, flags;
	char name[];
};

/* BPF programs and trampolines: functions of the kernel that appear while it runs. */
static int add_ksymbol(struct rvt_session *session, const struct rvt_perfdata_record *record)
{
	const struct ksymbol_body *body = (const void *)(record->header + 1);
	size_t room = record->body_len - sizeof(*body), len = session->ksymbols_len;

	if (record->body_len <= sizeof(*body) ||
	    body->flags & PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER ||
	    strnlen(body->name, room) == room)
		return 0;
	if (array_reserve(&session->ksymbols, &session->ksymbols_room, len, room + 64))
		return -ENOMEM;
	session->ksymbols_len += sprintf(session->ksymbols + len, "%016llx t %s\t[bpf]\n",
					 (unsigned long long)body->addr, body->name);
	return 0;
}

/* Samples of the recorder's BPF programs are sideband; one that is damaged is left out. */
static int add_sample(struct rvt_session *session, const struct rvt_perfdata_record *record)
{
	int err = rvt_sideband_add(session->sideband, record);

	if (err != -EBADMSG)
		return err;
	rvt_perfdata_warn(session->file, "%s: offset %#" PRIx64
			  ": damaged: a sample of the event %s is not what the recorder writes",
			  rvt_perfdata_path(session->file), record->offset, record->event->name);
	return 0;
}

int rvt_session_read_sideband(struct rvt_session *session, const struct rvt_perfdata_record *record,
			      char **error)
{
	switch (record->type) {
	case PERF_RECORD_LOST:
		if (record->body_len >= 16)
			session->stats.session.lost_records +=
				((const uint64_t *)(record->header + 1))[1];
		return 0;
	case RVT_RECORD_TIME_CONV:
		/* the short form ends before .time_cycles */
		memset(&session->time_conv, 0, sizeof(session->time_conv));
		memcpy(&session->time_conv, record->header,
		       record->header->size < sizeof(session->time_conv) ?
		       record->header->size : sizeof(session->time_conv));
		session->has_time_conv = session->time_conv.time_mult;
		return 0;
	case RVT_RECORD_AUXTRACE_INFO:
		return rvt_session_add_foreign(session, record, error);
	case PERF_RECORD_AUX_OUTPUT_HW_ID:
		return add_hw_id(session, record);
	case PERF_RECORD_KSYMBOL:
		return add_ksymbol(session, record);
	case RVT_RECORD_COMPRESSED:
		return rvt_session_fail(error, -ENOTSUP,
					"%s: it has compressed records (perf record -z); "
					"record without -z", rvt_perfdata_path(session->file));
	case PERF_RECORD_SWITCH:
	case PERF_RECORD_SWITCH_CPU_WIDE:
		session->has_switches = true;
		return rvt_sideband_add(session->sideband, record);
	case PERF_RECORD_SAMPLE:
		return add_sample(session, record);
	default:
		return rvt_sideband_add(session->sideband, record);
	}
}

static int read_one(struct rvt_session *session, struct pending *pending,
		    const struct rvt_perfdata_record *record, char **error)
{
	int err = 0;

	switch (record->type) {
	case RVT_RECORD_AUXTRACE:
		return add_chunk(session, record);
	case PERF_RECORD_AUX:
		return add_record(session, pending, record);
	case PERF_RECORD_ITRACE_START:
		err = note_start(session, record);
		break;
	case PERF_RECORD_SWITCH:
		err = rvt_session_note_start(session, record);
		break;
	case PERF_RECORD_SAMPLE:
		err = record->aux ? rvt_session_add_aux_sample(session, record) : 0;
		break;
	}
	return err ? err : rvt_session_read_sideband(session, record, error);
}

static void set_clock(struct rvt_session *session)
{
	char *text = rvt_session_meta(session, "monotonic_offset");
	int64_t offset = text ? strtoll(text, NULL, 10) : 0;

	rvt_sideband_set_clock(session->sideband,
			       session->has_time_conv ? &session->time_conv : NULL,
			       text ? &offset : NULL);
	free(text);
}

int rvt_session_read_records(struct rvt_session *session, char **error)
{
	struct rvt_perfdata_record record;
	struct pending pending = { 0 };
	uint64_t pos = 0;
	int err = 0;

	/* The file ends where it cannot be read. The reader has a warning about that. */
	while (!err && rvt_perfdata_next(session->file, &pos, &record) > 0)
		err = read_one(session, &pending, &record, error);
	if (!err)
		err = rvt_sideband_add_file(session->sideband, session->file);
	if (err == -EBADMSG) {
		session->bad_code = true;
		err = 0;
	}
	if (!err)
		err = give_to_buffers(session, &pending);
	for (size_t i = 0; i < session->n_buffers && !err; i++) {
		struct buffer *buffer = &session->buffers[i];

		buffer->started = rvt_session_started(session, buffer->cpu, buffer->tid);
		err = sort_buffer(buffer);
	}
	rvt_session_forget_starts(session);
	set_clock(session);
	if (!err)
		err = rvt_sideband_sort(session->sideband);
	free(pending.records);
	if (!err)
		err = rvt_session_check_encoders(session, error);
	if (!err && !session->n_buffers)
		err = rvt_session_fail(error, -ENODATA,
				       "%s: it holds no trace (no AUXTRACE records, no samples "
				       "with trace)",
				       rvt_perfdata_path(session->file));
	return err;
}
