// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>
#include "util/array.h"
#include "format.h"

struct blob {
	uint8_t *bytes;
	size_t len, room;
};

struct writer_event {
	struct perf_event_attr attr;
	char *name;
	uint64_t *ids;
	size_t n_ids;
};

struct rvt_perfdata_writer {
	int fd;
	struct writer_event *events;
	size_t n_events;
	uint32_t attr_bytes;	/* of each event's attr in the file */
	struct perfdata_header header;
	struct perfdata_section meta;
	struct blob features[RVT_FEAT_BITS];
	uint8_t buffer[64 << 10];	/* small pieces wait here */
	size_t buffered;
};

static int blob_add(struct blob *blob, const void *bytes, size_t len)
{
	if (array_reserve(&blob->bytes, &blob->room, blob->len, len))
		return -ENOMEM;
	if (len)
		memcpy(blob->bytes + blob->len, bytes, len);
	blob->len += len;
	return 0;
}

/* A string as perf stores it: length including padding, then the string padded with zeros. */
static int blob_add_string(struct blob *blob, const char *string)
{
	static const char zeros[PERFDATA_NAME_ALIGN];
	uint32_t len = strlen(string) + 1;
	uint32_t padded = (len + PERFDATA_NAME_ALIGN - 1) & ~(PERFDATA_NAME_ALIGN - 1u);
	int err;

	err = blob_add(blob, &padded, sizeof(padded));
	if (!err)
		err = blob_add(blob, string, len);
	if (!err)
		err = blob_add(blob, zeros, padded - len);
	return err;
}

/* Leaves in @vectors what is behind the first @n bytes. Returns how many vectors that is. */
static int advance(struct iovec **vectors, int n_vectors, size_t n)
{
	for (; n_vectors && n >= (*vectors)->iov_len; (*vectors)++, n_vectors--)
		n -= (*vectors)->iov_len;
	if (n_vectors) {
		(*vectors)->iov_base = (char *)(*vectors)->iov_base + n;
		(*vectors)->iov_len -= n;
	}
	return n_vectors;
}

/*
 * Writes a part of @vectors from the stack. A file system with direct I/O (9P without a cache)
 * cannot write the pages of a ring, because they belong to no file. Returns as write() does.
 */
static ssize_t write_copy(int fd, const struct iovec *vectors)
{
	uint8_t copy[16 << 10];
	size_t len = vectors->iov_len < sizeof(copy) ? vectors->iov_len : sizeof(copy);

	memcpy(copy, vectors->iov_base, len);
	return write(fd, copy, len);
}

static int write_all(int fd, struct iovec *vectors, int n_vectors)
{
	n_vectors = advance(&vectors, n_vectors, 0);
	while (n_vectors) {
		ssize_t n = writev(fd, vectors, n_vectors);

		if (n < 0 && errno == EFAULT)
			n = write_copy(fd, vectors);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		n_vectors = advance(&vectors, n_vectors, n);
	}
	return 0;
}

/* What waits, and @bytes behind it: a chunk of trace goes with its record in one system call. */
static int write_out(struct rvt_perfdata_writer *w, const void *bytes, size_t len)
{
	struct iovec vectors[] = { { w->buffer, w->buffered }, { (void *)bytes, len } };

	w->buffered = 0;
	return write_all(w->fd, vectors, 2);
}

int rvt_perfdata_create_fd(int fd, struct rvt_perfdata_writer **writer)
{
	struct rvt_perfdata_writer *w = calloc(1, sizeof(*w));

	if (!w) {
		close(fd);
		return -ENOMEM;
	}
	w->fd = fd;
	*writer = w;
	return 0;
}

int rvt_perfdata_create(const char *path, struct rvt_perfdata_writer **writer)
{
	int fd = open(path, O_CREAT | O_RDWR | O_TRUNC | O_CLOEXEC, 0600);

	return fd < 0 ? -errno : rvt_perfdata_create_fd(fd, writer);
}

int rvt_perfdata_add_event(struct rvt_perfdata_writer *w, const struct perf_event_attr *attr,
			   const char *name, const uint64_t *ids, size_t n_ids)
{
	struct writer_event *event;

	if (array_grow(&w->events, w->n_events))
		return -ENOMEM;
	event = &w->events[w->n_events];
	event->attr = *attr;
	event->name = strdup(name);
	event->ids = calloc(n_ids + 1, sizeof(*ids));
	event->n_ids = n_ids;
	if (!event->name || !event->ids) {
		free(event->name);
		free(event->ids);
		return -ENOMEM;
	}
	if (n_ids)
		memcpy(event->ids, ids, n_ids * sizeof(*ids));
	w->n_events++;
	return 0;
}

/*
 * The smallest published size of struct perf_event_attr that holds all that is set: a perf that is
 * older than the headers this was built with refuses larger ones.
 */
static uint32_t attr_bytes(const struct perf_event_attr *attr)
{
	const uint8_t *bytes = (const uint8_t *)attr;
	uint32_t size = sizeof(*attr);

	while (size > PERF_ATTR_SIZE_VER5 && !bytes[size - 1] && !bytes[size - 2] &&
	       !bytes[size - 3] && !bytes[size - 4] && !bytes[size - 5] && !bytes[size - 6] &&
	       !bytes[size - 7] && !bytes[size - 8])
		size -= 8;
	return size;
}

static void set_attr_sizes(struct rvt_perfdata_writer *w)
{
	w->attr_bytes = PERF_ATTR_SIZE_VER5;
	for (size_t i = 0; i < w->n_events; i++)
		if (attr_bytes(&w->events[i].attr) > w->attr_bytes)
			w->attr_bytes = attr_bytes(&w->events[i].attr);
	for (size_t i = 0; i < w->n_events; i++)
		w->events[i].attr.size = w->attr_bytes;
}

int rvt_perfdata_begin(struct rvt_perfdata_writer *w, const char *meta)
{
	static const uint8_t zeros[8];
	uint64_t pos = sizeof(w->header), attr_size;
	struct blob front = { 0 };
	int err = 0;

	set_attr_sizes(w);
	attr_size = w->attr_bytes + sizeof(struct perfdata_section);
	for (size_t i = 0; i < w->n_events && !err; i++)
		err = blob_add(&front, w->events[i].ids, w->events[i].n_ids * sizeof(uint64_t));
	w->header.attrs.offset = pos + front.len;
	w->header.attrs.size = w->n_events * attr_size;
	for (size_t i = 0; i < w->n_events && !err; i++) {
		struct perfdata_section ids = { pos, w->events[i].n_ids * sizeof(uint64_t) };

		pos += ids.size;
		err = blob_add(&front, &w->events[i].attr, w->attr_bytes);
		if (!err)
			err = blob_add(&front, &ids, sizeof(ids));
	}
	if (meta && !err) {
		w->meta.offset = sizeof(w->header) + front.len;
		w->meta.size = strlen(meta);
		err = blob_add(&front, meta, w->meta.size);
		if (!err)
			err = blob_add(&front, zeros, 8 - front.len % 8);
	}
	w->header.magic = PERFDATA_MAGIC;
	w->header.size = sizeof(w->header);
	w->header.attr_size = attr_size;
	w->header.data.offset = sizeof(w->header) + front.len;
	if (!err)
		err = write_out(w, &w->header, sizeof(w->header));
	if (!err)
		err = write_out(w, front.bytes, front.len);
	free(front.bytes);
	return err;
}

int rvt_perfdata_flush(struct rvt_perfdata_writer *w)
{
	return write_out(w, NULL, 0);
}

int rvt_perfdata_write(struct rvt_perfdata_writer *w, const void *bytes, size_t len)
{
	int err = 0;

	w->header.data.size += len;
	if (len > sizeof(w->buffer) / 4)
		return write_out(w, bytes, len);
	if (len > sizeof(w->buffer) - w->buffered)
		err = rvt_perfdata_flush(w);
	if (err)
		return err;
	memcpy(w->buffer + w->buffered, bytes, len);
	w->buffered += len;
	return 0;
}

uint64_t rvt_perfdata_written(const struct rvt_perfdata_writer *w)
{
	return w->header.data.size;
}

int rvt_perfdata_add_feature(struct rvt_perfdata_writer *w, unsigned int bit, const void *bytes,
			     size_t len)
{
	if (bit >= RVT_FEAT_BITS)
		return -EINVAL;
	w->header.features[bit / 64] |= 1ULL << bit % 64;
	return blob_add(&w->features[bit], bytes, len);
}

int rvt_perfdata_add_string(struct rvt_perfdata_writer *w, unsigned int bit, const char *string)
{
	int err = rvt_perfdata_add_feature(w, bit, NULL, 0);

	return err ? err : blob_add_string(&w->features[bit], string);
}

int rvt_perfdata_add_cmdline(struct rvt_perfdata_writer *w, char *const argv[], size_t argc)
{
	uint32_t n = argc;
	int err = rvt_perfdata_add_feature(w, RVT_FEAT_CMDLINE, &n, sizeof(n));

	for (size_t i = 0; i < argc && !err; i++)
		err = blob_add_string(&w->features[RVT_FEAT_CMDLINE], argv[i]);
	return err;
}

int rvt_perfdata_add_build_id(struct rvt_perfdata_writer *w, const char *name, const uint8_t *id,
			      size_t len, uint16_t misc)
{
	static const char zeros[PERFDATA_NAME_ALIGN];
	size_t name_len = strlen(name) + 1;
	size_t padded = (name_len + PERFDATA_NAME_ALIGN - 1) & ~(PERFDATA_NAME_ALIGN - 1u);
	struct perfdata_build_id entry = { .pid = -1 };
	int err;

	if (!len || len > sizeof(entry.id) || sizeof(entry) + padded > UINT16_MAX)
		return -EINVAL;
	entry.header.misc = misc | PERFDATA_MISC_BUILD_ID_SIZE;
	entry.header.size = sizeof(entry) + padded;
	memcpy(entry.id, id, len);
	entry.id_len = len;
	err = rvt_perfdata_add_feature(w, RVT_FEAT_BUILD_ID, &entry, sizeof(entry));
	if (!err)
		err = rvt_perfdata_add_feature(w, RVT_FEAT_BUILD_ID, name, name_len);
	if (!err)
		err = rvt_perfdata_add_feature(w, RVT_FEAT_BUILD_ID, zeros, padded - name_len);
	return err;
}

static int add_event_desc(struct rvt_perfdata_writer *w)
{
	uint32_t n = w->n_events, attr_size = w->attr_bytes;
	struct blob *blob = &w->features[RVT_FEAT_EVENT_DESC];
	int err;

	err = rvt_perfdata_add_feature(w, RVT_FEAT_EVENT_DESC, &n, sizeof(n));
	if (!err)
		err = blob_add(blob, &attr_size, sizeof(attr_size));
	for (size_t i = 0; i < w->n_events && !err; i++) {
		const struct writer_event *event = &w->events[i];
		uint32_t n_ids = event->n_ids;

		err = blob_add(blob, &event->attr, attr_size);
		if (!err)
			err = blob_add(blob, &n_ids, sizeof(n_ids));
		if (!err)
			err = blob_add_string(blob, event->name);
		if (!err)
			err = blob_add(blob, event->ids, n_ids * sizeof(uint64_t));
	}
	return err;
}

static bool has_feature(const struct rvt_perfdata_writer *w, unsigned int bit)
{
	return w->header.features[bit / 64] >> bit % 64 & 1;
}

/* The table of our own sections goes to the end, where the header's .event_types points. */
static int write_own_table(struct rvt_perfdata_writer *w, uint64_t pos, uint64_t table)
{
	const uint64_t magic = PERFDATA_OWN_MAGIC;
	int err = write_out(w, &magic, sizeof(magic));

	w->header.event_types = (struct perfdata_section){ table, sizeof(magic) };
	for (unsigned int bit = RVT_FEAT_RVTRACE_META; bit < RVT_FEAT_BITS && !err; bit++) {
		struct perfdata_own own = { bit, { pos, w->features[bit].len } };

		if (!has_feature(w, bit))
			continue;
		if (bit == RVT_FEAT_RVTRACE_META && w->meta.size)
			own.section = w->meta;
		else
			pos += own.section.size;
		w->header.features[bit / 64] &= ~(1ULL << bit % 64);
		w->header.event_types.size += sizeof(own);
		err = write_out(w, &own, sizeof(own));
	}
	return err;
}

/*
 * Section table of perf's features in the order of the bits, then the contents of all, then the
 * table of ours. The metadata is there already.
 */
static int write_features(struct rvt_perfdata_writer *w)
{
	uint64_t pos = w->header.data.offset + w->header.data.size, own;
	int err = 0;

	for (unsigned int bit = 0; bit < RVT_FEAT_RVTRACE_META; bit++)
		pos += has_feature(w, bit) * sizeof(struct perfdata_section);
	for (unsigned int bit = 0; bit < RVT_FEAT_RVTRACE_META && !err; bit++) {
		const struct perfdata_section section = { pos, w->features[bit].len };

		if (!has_feature(w, bit))
			continue;
		pos += section.size;
		err = write_out(w, &section, sizeof(section));
	}
	own = pos;
	for (unsigned int bit = 0; bit < RVT_FEAT_BITS && !err; bit++) {
		err = write_out(w, w->features[bit].bytes, w->features[bit].len);
		if (bit >= RVT_FEAT_RVTRACE_META)
			pos += w->features[bit].len;
	}
	return err ? err : write_own_table(w, own, pos);
}

void rvt_perfdata_abandon(struct rvt_perfdata_writer *w)
{
	if (!w)
		return;
	for (size_t i = 0; i < w->n_events; i++) {
		free(w->events[i].name);
		free(w->events[i].ids);
	}
	for (unsigned int bit = 0; bit < RVT_FEAT_BITS; bit++)
		free(w->features[bit].bytes);
	free(w->events);
	rvt_perfdata_flush(w);
	close(w->fd);
	free(w);
}

int rvt_perfdata_finish(struct rvt_perfdata_writer *w)
{
	int err = rvt_perfdata_flush(w);

	if (!err)
		err = add_event_desc(w);
	if (!err && w->meta.size)
		err = rvt_perfdata_add_feature(w, RVT_FEAT_RVTRACE_META, NULL, 0);
	if (!err)
		err = write_features(w);
	if (!err && lseek(w->fd, 0, SEEK_SET) < 0)
		err = -errno;
	if (!err)
		err = write_out(w, &w->header, sizeof(w->header));
	rvt_perfdata_abandon(w);
	return err;
}
