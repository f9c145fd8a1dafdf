// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "file/file.h"
#include "util/array.h"
#include "reader.h"

#define MAX_WARNINGS 8	/* sentences */

void rvt_perfdata_warn(struct rvt_perfdata *file, const char *format, ...)
{
	char *text = NULL, *both = NULL;
	va_list args;

	va_start(args, format);
	if (vasprintf(&text, format, args) < 0)
		text = NULL;
	va_end(args);
	if (!text || file->n_warnings++ >= MAX_WARNINGS) {
		free(text);
		return;
	}
	if (asprintf(&both, "%s%s%s", file->warning ? file->warning : "",
		     file->warning ? "\n  " : "", file->n_warnings == MAX_WARNINGS ?
		     "... and there is more like this" : text) >= 0) {
		free(file->warning);
		file->warning = both;
	}
	free(text);
}

__attribute__((format(printf, 3, 4)))
static int fail(char **error, int err, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	if (vasprintf(error, format, args) < 0)
		*error = NULL;
	va_end(args);
	return err;
}

/* The @len bytes at @offset, or NULL when the file has fewer. */
static const void *at(const struct rvt_perfdata *file, uint64_t offset, uint64_t len)
{
	if (offset > file->size || len > file->size - offset)
		return NULL;
	return file->bytes + offset;
}

static int check_header(struct rvt_perfdata *file, char **error)
{
	struct perfdata_header *header = &file->header;
	uint64_t head[2];

	if (file->size < sizeof(head))
		return fail(error, -EBADMSG, "%s: not a perf.data file: it has only %" PRIu64
			    " bytes", file->path, file->size);
	memcpy(head, file->bytes, sizeof(head));
	if (head[0] == __builtin_bswap64(PERFDATA_MAGIC))
		return fail(error, -ENOTSUP, "%s: recorded on a big-endian machine; only "
			    "little-endian perf.data files can be read", file->path);
	if (head[0] != PERFDATA_MAGIC)
		return fail(error, -EBADMSG, "%s: not a perf.data file (it does not begin with "
			    "PERFILE2)", file->path);
	if (head[1] == PERFDATA_PIPE_HEADER_SIZE)
		return fail(error, -ENOTSUP, "%s: in perf's pipe format; record into a file "
			    "instead (-o FILE)", file->path);
	if (file->size < sizeof(*header) || head[1] < sizeof(*header))
		return fail(error, -EBADMSG, "%s: truncated inside the file header (%" PRIu64
			    " bytes)", file->path, file->size);
	memcpy(header, file->bytes, sizeof(*header));
	return 0;
}

int rvt_perfdata_compare_ids(const void *a, const void *b)
{
	const struct id_entry *x = a, *y = b;

	return x->id < y->id ? -1 : x->id > y->id;
}

static int read_attr(struct rvt_perfdata *file, size_t n)
{
	uint64_t entry_size = file->header.attr_size;
	uint64_t attr_size = entry_size - sizeof(struct perfdata_section);
	struct rvt_perfdata_event *event = &file->events[n];
	struct perfdata_section ids;
	const uint8_t *entry;
	const void *stored;
	uint64_t *copy;

	entry = at(file, file->header.attrs.offset + n * entry_size, entry_size);
	if (!entry)
		return -EBADMSG;
	memcpy(&event->attr, entry, attr_size < sizeof(event->attr) ? attr_size :
	       sizeof(event->attr));
	memcpy(&ids, entry + attr_size, sizeof(ids));
	event->name = "";
	stored = at(file, ids.offset, ids.size);
	/* Each id is of one event: sections that overlap would cost their sum in memory. */
	if (!stored || ids.size % sizeof(uint64_t) ||
	    ids.size / sizeof(uint64_t) > file->size / sizeof(uint64_t) - file->n_ids)
		return -EBADMSG;
	copy = malloc(ids.size + 1);
	if (!copy)
		return -ENOMEM;
	memcpy(copy, stored, ids.size);
	event->ids = copy;
	event->n_ids = ids.size / sizeof(uint64_t);
	for (size_t i = 0; i < event->n_ids; i++) {
		if (array_grow(&file->ids, file->n_ids))
			return -ENOMEM;
		file->ids[file->n_ids++] = (struct id_entry){ copy[i], event };
	}
	return 0;
}

static int read_attrs(struct rvt_perfdata *file, char **error)
{
	const struct perfdata_header *header = &file->header;
	uint64_t least = PERF_ATTR_SIZE_VER0 + sizeof(struct perfdata_section);
	int err = 0;

	if (header->attr_size < least || header->attr_size > UINT16_MAX ||
	    !at(file, header->attrs.offset, header->attrs.size))
		return fail(error, -EBADMSG, "%s: truncated or damaged: the event attributes "
			    "(offset %" PRIu64 ", %" PRIu64 " bytes) are not in the file",
			    file->path, header->attrs.offset, header->attrs.size);
	file->n_events = header->attrs.size / header->attr_size;
	file->events = calloc(file->n_events + 1, sizeof(*file->events));
	if (!file->events)
		return fail(error, -ENOMEM, "%s: out of memory", file->path);
	file->same_type = true;
	for (size_t i = 0; i < file->n_events && !err; i++) {
		err = read_attr(file, i);
		if (file->events[i].attr.sample_type != file->events[0].attr.sample_type)
			file->same_type = false;
	}
	if (err == -EBADMSG)
		return fail(error, err, "%s: damaged: the ids of an event are not in the file, "
			    "or of several", file->path);
	if (err)
		return fail(error, err, "%s: out of memory", file->path);
	if (file->n_ids)
		qsort(file->ids, file->n_ids, sizeof(*file->ids), rvt_perfdata_compare_ids);
	return 0;
}

/* Cuts the data section to what the file has. */
static int check_data(struct rvt_perfdata *file, char **error)
{
	struct perfdata_section *data = &file->header.data;
	uint64_t features = 0;

	for (size_t i = 0; i < RVT_FEAT_BITS / 64; i++)
		features |= file->header.features[i];
	if (data->offset > file->size)
		return fail(error, -EBADMSG,
			    "%s: truncated: the data should begin at offset %" PRIu64
			    ", but the file has %" PRIu64 " bytes", file->path, data->offset,
			    file->size);
	if (!data->size && !features && data->offset < file->size) {
		file->killed = true;
		data->size = file->size - data->offset;
		rvt_perfdata_warn(file, "%s: the header was never completed; was the recorder "
				  "killed? Using the %" PRIu64 " bytes of data that are there",
				  file->path, data->size);
	} else if (data->size > file->size - data->offset) {
		file->killed = true;
		rvt_perfdata_warn(file, "%s: truncated: %" PRIu64 " of %" PRIu64 " bytes of data "
				  "are missing", file->path,
				  data->size - (file->size - data->offset), data->size);
		data->size = file->size - data->offset;
	}
	return 0;
}

/* Metadata lies between the attributes and the data, so that a killed recorder leaves it. */
static void recover_meta(struct rvt_perfdata *file)
{
	const struct perfdata_header *header = &file->header;
	uint64_t begin = header->attrs.offset + header->attrs.size;
	uint64_t len = header->data.offset - begin;
	const char *text;

	if (begin > header->data.offset)
		return;
	text = at(file, begin, len);
	if (!text || len < strlen(PERFDATA_META_MAGIC) ||
	    memcmp(text, PERFDATA_META_MAGIC, strlen(PERFDATA_META_MAGIC)))
		return;
	file->features[RVT_FEAT_RVTRACE_META] = (struct perfdata_section){ begin,
									   strnlen(text, len) };
}

/* A section whose place is known; one that is not in the file is empty. */
static void set_feature(struct rvt_perfdata *file, unsigned int bit,
			const struct perfdata_section *section)
{
	file->features[bit] = *section;
	if (at(file, section->offset, section->size))
		return;
	rvt_perfdata_warn(file, "%s: truncated: feature section %u is not in the file",
			  file->path, bit);
	file->features[bit].size = 0;
	if (bit == RVT_FEAT_RVTRACE_META)
		recover_meta(file);
}

/* Our own sections; see struct perfdata_own. */
static void read_own_table(struct rvt_perfdata *file)
{
	const struct perfdata_section *table = &file->header.event_types;
	const uint8_t *bytes = at(file, table->offset, table->size);
	struct perfdata_own own;
	uint64_t magic;

	if (!table->size)
		return;
	if (!bytes || table->size < sizeof(magic)) {
		rvt_perfdata_warn(file, "%s: truncated: the sections of code and symbols are "
				  "missing", file->path);
		recover_meta(file);
		return;
	}
	memcpy(&magic, bytes, sizeof(magic));
	if (magic != PERFDATA_OWN_MAGIC)
		return;
	for (uint64_t pos = sizeof(magic); table->size - pos >= sizeof(own); pos += sizeof(own)) {
		memcpy(&own, bytes + pos, sizeof(own));
		if (own.bit >= RVT_FEAT_RVTRACE_META && own.bit < RVT_FEAT_BITS)
			set_feature(file, own.bit, &own.section);
	}
}

static void read_feature_table(struct rvt_perfdata *file)
{
	const struct perfdata_header *header = &file->header;
	uint64_t pos = header->data.offset + header->data.size;

	if (file->killed) {
		recover_meta(file);
		return;
	}
	for (unsigned int bit = 0; bit < RVT_FEAT_BITS; bit++) {
		struct perfdata_section section;
		const void *entry;

		if (!(header->features[bit / 64] >> bit % 64 & 1))
			continue;
		entry = at(file, pos, sizeof(struct perfdata_section));
		if (!entry) {
			rvt_perfdata_warn(file, "%s: truncated: the feature sections are missing",
					  file->path);
			recover_meta(file);
			return;
		}
		memcpy(&section, entry, sizeof(section));
		set_feature(file, bit, &section);
		pos += sizeof(section);
	}
	read_own_table(file);
}

/* Names of the events, matched by their first id. Anything odd leaves the names empty. */
static void read_event_desc(struct rvt_perfdata *file)
{
	const uint8_t *pos, *end;
	uint32_t head[2];
	const void *data;
	size_t len;

	if (rvt_perfdata_feature(file, RVT_FEAT_EVENT_DESC, &data, &len) || len < sizeof(head))
		return;
	pos = data;
	end = pos + len;
	memcpy(head, pos, sizeof(head));
	pos += sizeof(head);
	for (size_t i = 0; i < head[0] && i < file->n_events; i++) {
		uint32_t n_ids, name_len;

		if ((size_t)(end - pos) < head[1] + 2 * sizeof(uint32_t))
			return;
		memcpy(&n_ids, pos + head[1], sizeof(n_ids));
		memcpy(&name_len, pos + head[1] + sizeof(n_ids), sizeof(name_len));
		pos += head[1] + 2 * sizeof(uint32_t);
		if (!name_len || name_len > (size_t)(end - pos) || pos[name_len - 1] ||
		    n_ids > (end - pos - name_len) / sizeof(uint64_t))
			return;
		file->events[i].name = (const char *)pos;
		pos += name_len + n_ids * sizeof(uint64_t);
	}
}

static int compare_build_ids(const void *a, const void *b)
{
	const struct named_build_id *x = a, *y = b;
	int order = strcmp(x->name, y->name);

	return order ? order : (x->id > y->id) - (x->id < y->id);
}

/* Up to the first entry that is damaged. 0 or -ENOMEM. */
static int read_build_ids(struct rvt_perfdata *file)
{
	struct perfdata_build_id entry;
	const void *data;
	size_t len;

	if (rvt_perfdata_feature(file, RVT_FEAT_BUILD_ID, &data, &len))
		return 0;
	for (const uint8_t *pos = data; len >= sizeof(entry); pos += entry.header.size,
	     len -= entry.header.size) {
		const char *name = (const char *)pos + sizeof(entry);
		size_t room;

		memcpy(&entry, pos, sizeof(entry));
		if (entry.header.size <= sizeof(entry) || entry.header.size > len)
			break;
		room = entry.header.size - sizeof(entry);
		if (strnlen(name, room) == room)
			continue;
		if (array_grow(&file->build_ids, file->n_build_ids))
			return -ENOMEM;
		file->build_ids[file->n_build_ids++] = (struct named_build_id){
			name, pos + offsetof(struct perfdata_build_id, id),
			!(entry.header.misc & PERFDATA_MISC_BUILD_ID_SIZE) ? sizeof(entry.id) :
			entry.id_len <= sizeof(entry.id) ? entry.id_len : 0,
		};
	}
	if (file->n_build_ids)
		qsort(file->build_ids, file->n_build_ids, sizeof(*file->build_ids),
		      compare_build_ids);
	return 0;
}

static int map_file(struct rvt_perfdata *file, char **error)
{
	struct stat st;
	int fd, err;

	fd = rvt_file_open(file->path, 0, &st);
	if (fd == -EINVAL)
		return fail(error, -ENOTSUP, "%s: not a regular file", file->path);
	if (fd < 0)
		return fail(error, fd, "%s: %s", file->path, strerror(-fd));
	err = rvt_file_map(fd, st.st_size, file->path, &file->mapped);
	close(fd);
	if (err)
		return fail(error, err, "%s: cannot map: %s", file->path, strerror(-err));
	file->size = file->mapped->len;
	file->bytes = file->mapped->bytes;
	return 0;
}

int rvt_perfdata_open(const char *path, struct rvt_perfdata **result, char **error)
{
	struct rvt_perfdata *file = calloc(1, sizeof(*file));
	int err;

	*error = NULL;
	if (!file)
		return -ENOMEM;
	file->path = strdup(path);
	err = file->path ? map_file(file, error) : -ENOMEM;
	if (!err)
		err = check_header(file, error);
	if (!err)
		err = check_data(file, error);
	if (!err)
		err = read_attrs(file, error);
	if (err) {
		rvt_perfdata_close(file);
		return err;
	}
	read_feature_table(file);
	read_event_desc(file);
	err = read_build_ids(file);
	if (err) {
		rvt_perfdata_close(file);
		return err;
	}
	*result = file;
	return 0;
}

void rvt_perfdata_close(struct rvt_perfdata *file)
{
	if (!file)
		return;
	for (size_t i = 0; i < file->n_events && file->events; i++)
		free((void *)file->events[i].ids);
	rvt_file_unmap(file->mapped);
	free(file->events);
	free(file->ids);
	free(file->build_ids);
	free(file->warning);
	free(file->path);
	free(file);
}

const char *rvt_perfdata_path(const struct rvt_perfdata *file)
{
	return file->path;
}

const char *rvt_perfdata_warning(const struct rvt_perfdata *file)
{
	return file->warning;
}

size_t rvt_perfdata_n_events(const struct rvt_perfdata *file)
{
	return file->n_events;
}

const struct rvt_perfdata_event *rvt_perfdata_event(const struct rvt_perfdata *file, size_t n)
{
	return n < file->n_events ? &file->events[n] : NULL;
}

int rvt_perfdata_feature(const struct rvt_perfdata *file, unsigned int bit, const void **data,
			 size_t *len)
{
	const struct perfdata_section *section;

	if (bit >= RVT_FEAT_BITS)
		return -ENOENT;
	section = &file->features[bit];
	if (!section->size)
		return -ENOENT;
	*data = at(file, section->offset, section->size);
	*len = section->size;
	return *data ? 0 : -EBADMSG;
}

const char *rvt_perfdata_string(const struct rvt_perfdata *file, unsigned int bit)
{
	const void *data;
	uint32_t size;
	size_t len;

	if (rvt_perfdata_feature(file, bit, &data, &len) || len <= sizeof(size))
		return NULL;
	memcpy(&size, data, sizeof(size));
	len -= sizeof(size);
	if (!size || size > len || ((const char *)data)[sizeof(size) + size - 1])
		return NULL;
	return (const char *)data + sizeof(size);
}

size_t rvt_perfdata_build_id(const struct rvt_perfdata *file, const char *name, const uint8_t **id)
{
	size_t low = 0, high = file->n_build_ids;

	/* the first of that name */
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (strcmp(file->build_ids[middle].name, name) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == file->n_build_ids || strcmp(file->build_ids[low].name, name))
		return 0;
	*id = file->build_ids[low].id;
	return file->build_ids[low].len;
}

enum rvt_foreign rvt_perfdata_foreign(const struct rvt_perfdata_record *record, uint32_t *pmu_type,
				      struct rvt_foreign_cpu *cpus, size_t max, size_t *n)
{
	/* after the header: u32 type, u32 reserved, u64 priv[] */
	const uint8_t *priv = (const uint8_t *)record->header + 16;
	uint64_t word;
	size_t len;

	*n = 0;
	if (record->type != RVT_RECORD_AUXTRACE_INFO || record->header->size < 24)
		return RVT_FOREIGN_NONE;
	len = record->header->size - 16;
	memcpy(&word, priv, sizeof(word));
	if (len == sizeof(word) && word <= UINT32_MAX) {
		*pmu_type = word;
		return RVT_FOREIGN_UPSTREAM_V4;
	}
	if (len != sizeof(word) + (word & UINT32_MAX) * sizeof(*cpus))
		return RVT_FOREIGN_NONE;
	*pmu_type = word >> 32;
	*n = word & UINT32_MAX;
	memcpy(cpus, priv + sizeof(word), (*n < max ? *n : max) * sizeof(*cpus));
	return RVT_FOREIGN_SPACEMIT;
}
