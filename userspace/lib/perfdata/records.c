// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* The records of a file, one behind the other; where one is damaged, the next that is whole. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include "reader.h"

#define RELEASE (UINT64_C(16) << 20)

#define FIRST_USER_RECORD 64	/* PERF_RECORD_USER_TYPE_START */
#define TYPES 256		/* far more than there are */
#define HEADERS_IN_A_ROW 4

static const struct rvt_perfdata_event *find_event(const struct rvt_perfdata *file, uint64_t id)
{
	const struct id_entry key = { id, NULL }, *entry;

	if (!file->n_ids)
		return NULL;
	entry = bsearch(&key, file->ids, file->n_ids, sizeof(key), rvt_perfdata_compare_ids);
	return entry ? entry->event : NULL;
}

static uint64_t word_at(const struct perf_event_header *header, size_t offset)
{
	uint64_t word;

	memcpy(&word, (const uint8_t *)header + offset, sizeof(word));
	return word;
}

static void set_tid(struct rvt_perfdata_record *record, uint64_t word)
{
	record->tid_valid = true;
	record->pid = (int32_t)word;
	record->tid = (int32_t)(word >> 32);
}

static void set_cpu(struct rvt_perfdata_record *record, uint64_t word)
{
	record->cpu_valid = true;
	record->cpu = (int32_t)word;
}

/* The trailer that sample_id_all appends, read from its end. */
static void parse_trailer(const struct rvt_perfdata *file, struct rvt_perfdata_record *record)
{
	const struct rvt_perfdata_event *event = file->n_events ? &file->events[0] : NULL;
	size_t end = record->header->size;
	uint64_t type;

	if (!event || !event->attr.sample_id_all)
		return;
	if (event->attr.sample_type & PERF_SAMPLE_IDENTIFIER && end >= 16) {
		record->id = word_at(record->header, end - 8);
		record->event = find_event(file, record->id);
		event = record->event;
	} else if (!file->same_type) {
		return;
	}
	if (!event)
		return;
	type = event->attr.sample_type & (PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID |
		PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER);
	if (end < sizeof(*record->header) + 8 * __builtin_popcountll(type))
		return;
	record->body_len -= 8 * __builtin_popcountll(type);
	end -= type & PERF_SAMPLE_IDENTIFIER ? 8 : 0;
	if (type & PERF_SAMPLE_CPU)
		set_cpu(record, word_at(record->header, end -= 8));
	end -= type & PERF_SAMPLE_STREAM_ID ? 8 : 0;
	if (type & PERF_SAMPLE_ID) {
		record->id = word_at(record->header, end -= 8);
		record->event = find_event(file, record->id);
	}
	if (type & PERF_SAMPLE_TIME) {
		record->time = word_at(record->header, end -= 8);
		record->time_valid = true;
	}
	if (type & PERF_SAMPLE_TID)
		set_tid(record, word_at(record->header, end - 8));
	if (!record->event && file->n_events == 1)
		record->event = event;
}

/* Behind raw data, a word each. */
#define WORDS_BEHIND (PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT | PERF_SAMPLE_DATA_SRC | \
		      PERF_SAMPLE_TRANSACTION | PERF_SAMPLE_PHYS_ADDR | PERF_SAMPLE_CGROUP | \
		      PERF_SAMPLE_DATA_PAGE_SIZE | PERF_SAMPLE_CODE_PAGE_SIZE)

/* Returns where what follows begins; 0: it is longer than the record. */
static size_t parse_raw(struct rvt_perfdata_record *record, size_t pos)
{
	size_t size = record->header->size;
	uint32_t len;

	if (pos + sizeof(len) > size)
		return 0;
	memcpy(&len, (const uint8_t *)record->header + pos, sizeof(len));
	pos += sizeof(len);
	if (len > size - pos)
		return 0;
	record->raw = (const uint8_t *)record->header + pos;
	record->raw_len = len;
	return pos + len;
}

static void parse_aux(struct rvt_perfdata_record *record, size_t pos)
{
	size_t size = record->header->size;
	uint64_t len;

	if (pos % 8 || pos + sizeof(len) > size)
		return;
	len = word_at(record->header, pos);
	pos += sizeof(len);
	if (len > size - pos)
		return;
	record->aux = (const uint8_t *)record->header + pos;
	record->aux_len = len;
}

/* @pos: where the fields @type of a sample begin, which are behind its cpu. */
static void parse_rest(uint64_t type, struct rvt_perfdata_record *record, size_t pos)
{
	uint64_t known = PERF_SAMPLE_PERIOD | PERF_SAMPLE_RAW;

	if (type & PERF_SAMPLE_AUX)
		known |= WORDS_BEHIND | PERF_SAMPLE_AUX;
	if (type & ~known)
		return;
	pos += type & PERF_SAMPLE_PERIOD ? 8 : 0;
	if (type & PERF_SAMPLE_RAW)
		pos = parse_raw(record, pos);
	if (!pos || !(type & PERF_SAMPLE_AUX))
		return;
	parse_aux(record, pos + 8 * __builtin_popcountll(type & WORDS_BEHIND));
}

/* The fixed fields at the beginning of a PERF_RECORD_SAMPLE. */
static void parse_sample(const struct rvt_perfdata *file, struct rvt_perfdata_record *record)
{
	const struct rvt_perfdata_event *event = file->n_events ? &file->events[0] : NULL;
	size_t pos = sizeof(*record->header), size = record->header->size;
	uint64_t type;

	if (!event)
		return;
	if (event->attr.sample_type & PERF_SAMPLE_IDENTIFIER && size >= pos + 8) {
		record->id = word_at(record->header, pos);
		event = find_event(file, record->id);
	} else if (!file->same_type) {
		return;
	}
	if (!event)
		return;
	record->event = event;
	type = event->attr.sample_type & (PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP |
		PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR | PERF_SAMPLE_ID |
		PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU);
	if (size < pos + 8 * __builtin_popcountll(type))
		return;
	pos += type & PERF_SAMPLE_IDENTIFIER ? 8 : 0;
	pos += type & PERF_SAMPLE_IP ? 8 : 0;
	if (type & PERF_SAMPLE_TID) {
		set_tid(record, word_at(record->header, pos));
		pos += 8;
	}
	if (type & PERF_SAMPLE_TIME) {
		record->time = word_at(record->header, pos);
		record->time_valid = true;
		pos += 8;
	}
	pos += type & PERF_SAMPLE_ADDR ? 8 : 0;
	pos += type & PERF_SAMPLE_ID ? 8 : 0;
	pos += type & PERF_SAMPLE_STREAM_ID ? 8 : 0;
	if (type & PERF_SAMPLE_CPU) {
		set_cpu(record, word_at(record->header, pos));
		pos += 8;
	}
	parse_rest(event->attr.sample_type & ~type, record, pos);
}

/* ---- damage ---- */

/* What every record's header is; @left: bytes of the data section from it on. */
static bool is_sane(const struct perf_event_header *header, uint64_t left)
{
	if (left < sizeof(*header) || !header->type || header->type >= TYPES ||
	    header->size < sizeof(*header) || header->size % 8 || header->size > left)
		return false;
	return header->type != RVT_RECORD_AUXTRACE ||
		header->size == sizeof(struct rvt_record_auxtrace);
}

/*
 * The header at @pos of the data section; zeroes behind its end. Returns the bytes from there on.
 */
static uint64_t header_at(const struct rvt_perfdata *file, uint64_t pos,
			  struct perf_event_header *header)
{
	const struct perfdata_section *data = &file->header.data;
	uint64_t left = pos < data->size ? data->size - pos : 0;

	memset(header, 0, sizeof(*header));
	if (left)
		memcpy(header, file->bytes + data->offset + pos,
		       left < sizeof(*header) ? left : sizeof(*header));
	return left;
}

/* Whether the kernel's record at @pos names one of the file's events where such records do. */
static bool names_event(const struct rvt_perfdata *file, uint64_t pos,
			const struct perf_event_header *header)
{
	size_t at = header->type == PERF_RECORD_SAMPLE ? sizeof(*header) :
		    header->size - sizeof(uint64_t);
	uint64_t id;

	if (header->size < 2 * sizeof(uint64_t))
		return false;
	memcpy(&id, file->bytes + file->header.data.offset + pos + at, sizeof(id));
	return find_event(file, id);
}

/*
 * Whether what is at @pos, amid anything, is the beginning of a record: the odds that it only looks
 * so are those of an event's 64-bit number, or of several headers in a row.
 */
static bool is_convincing(const struct rvt_perfdata *file, uint64_t pos)
{
	bool has_ids = file->n_events && file->n_ids && file->events[0].attr.sample_id_all &&
		file->events[0].attr.sample_type & PERF_SAMPLE_IDENTIFIER;
	struct rvt_record_auxtrace aux;

	for (int i = 0; i < HEADERS_IN_A_ROW; i++) {
		struct perf_event_header header;
		uint64_t left = header_at(file, pos, &header);

		if (!left && i)
			return true;
		if (!is_sane(&header, left))
			return false;
		if (header.type < FIRST_USER_RECORD && has_ids)
			return names_event(file, pos, &header);
		pos += header.size;
		if (header.type != RVT_RECORD_AUXTRACE)
			continue;
		memcpy(&aux, file->bytes + file->header.data.offset + pos - sizeof(aux),
		       sizeof(aux));
		if (aux.size > left - sizeof(aux) || aux.unpacked > RVT_AUX_MAX_UNPACKED)
			return false;
		pos += aux.size;
	}
	return true;
}

/* The first record at or behind @pos; the size of the data section: there is none. */
static uint64_t find_record(const struct rvt_perfdata *file, uint64_t pos)
{
	uint64_t end = file->header.data.size;

	while (pos < end && !is_convincing(file, pos))
		pos++;
	return pos < end ? pos : end;
}

/* Each place is told once, however often the file is read. */
static bool is_new(struct rvt_perfdata *file, uint64_t pos)
{
	if (pos < file->checked)
		return false;
	file->checked = pos + 1;
	return true;
}

/* Moves *@pos from bytes that are no record to the next that are. -EBADMSG: there are none. */
static int skip_damage(struct rvt_perfdata *file, uint64_t *pos)
{
	const struct perfdata_section *data = &file->header.data;
	uint64_t offset = data->offset + *pos, next = find_record(file, *pos + 1);
	struct perf_event_header header;
	uint64_t left = header_at(file, *pos, &header);
	bool cut = left < sizeof(header) || header.size > left, fresh = is_new(file, *pos);

	if (fresh && next == data->size)
		rvt_perfdata_warn(file, "%s: offset %#" PRIx64 ": %s a record (type %u, %u bytes, "
				  "%" PRIu64 " left); nothing behind it can be read", file->path,
				  offset, cut ? "truncated inside" : "damaged:", header.type,
				  header.size, left);
	else if (fresh)
		rvt_perfdata_warn(file, "%s: offset %#" PRIx64 ": damaged: no record begins with "
				  "type %u and %u bytes; %" PRIu64 " bytes are skipped, reading "
				  "goes on at offset %#" PRIx64, file->path, offset, header.type,
				  header.size, next - *pos, data->offset + next);
	if (next == data->size)
		return -EBADMSG;
	*pos = next;
	return 0;
}

/* ---- AUX data ---- */

/* What is behind an AUXTRACE record. Returns the bytes it takes in the file. */
static uint64_t take_aux(struct rvt_perfdata *file, struct rvt_perfdata_record *record,
			 uint64_t left)
{
	const struct rvt_record_auxtrace *aux = (const void *)record->header;
	uint64_t pos = record->offset - file->header.data.offset, end;

	record->aux = file->bytes + record->offset + aux->header.size;
	record->aux_len = aux->size;
	if (aux->size <= left)
		return aux->size;
	end = find_record(file, pos + aux->header.size);
	record->aux_len = end - pos - aux->header.size;
	if (is_new(file, pos))
		rvt_perfdata_warn(file, "%s: offset %#" PRIx64 ": %s: %" PRIu64 " of %" PRIu64
				  " bytes of trace data are missing", file->path, record->offset,
				  end == file->header.data.size ? "truncated" : "damaged",
				  aux->size - record->aux_len, aux->size);
	return record->aux_len;
}

/*
 * Linux maps 64 KiB around a byte that is read, but since 6.18 all of the folio that it is in: in a
 * file that was just written that may be 2 MiB. It never maps across the borders of page tables.
 */
void rvt_perfdata_release(const struct rvt_perfdata *file, const void *bytes, size_t len)
{
	uintptr_t begin = (uintptr_t)bytes & -RVT_PERFDATA_MAPPED, first = (uintptr_t)file->bytes;
	uintptr_t end = ((uintptr_t)bytes + len + RVT_PERFDATA_MAPPED - 1) & -RVT_PERFDATA_MAPPED;

	/* nothing of the mapping's neighbours */
	if (begin < first)
		begin = first;
	if (end > first + file->size)
		end = first + file->size;
	if (end > begin)
		madvise((void *)begin, end - begin, MADV_DONTNEED);
}

/*
 * A long file must not fill the memory while it is read once; what is looked at again comes back.
 */
static void release(struct rvt_perfdata *file, uint64_t offset)
{
	uint64_t end = offset & -RELEASE;

	if (offset < file->released)
		file->released = 0;
	if (end <= file->released)
		return;
	madvise((void *)(file->bytes + file->released), end - file->released, MADV_DONTNEED);
	file->released = end;
}

void rvt_perfdata_parse(const struct rvt_perfdata *file, const struct perf_event_header *header,
			struct rvt_perfdata_record *record)
{
	memset(record, 0, sizeof(*record));
	record->type = header->type;
	record->misc = header->misc;
	record->header = header;
	record->body_len = header->size - sizeof(*header);
	if (header->type == PERF_RECORD_SAMPLE)
		parse_sample(file, record);
	else if (header->type < FIRST_USER_RECORD)
		parse_trailer(file, record);
}

int rvt_perfdata_next(struct rvt_perfdata *file, uint64_t *pos, struct rvt_perfdata_record *record)
{
	struct perf_event_header header;
	uint64_t left = header_at(file, *pos, &header), offset;
	const void *whole;
	int err;

	if (!left)
		return 0;
	if (!is_sane(&header, left)) {
		err = skip_damage(file, pos);
		if (err)
			return err;
		left = header_at(file, *pos, &header);
	}
	offset = file->header.data.offset + *pos;
	release(file, offset);
	whole = file->bytes + offset;
	if (offset % 8) {
		memcpy(file->bounce, whole, header.size);
		whole = file->bounce;
	}
	rvt_perfdata_parse(file, whole, record);
	record->offset = offset;
	*pos += header.size;
	if (header.type == RVT_RECORD_AUXTRACE)
		*pos += take_aux(file, record, left - header.size);
	return 1;
}
