// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>
#include "perfdata/format.h"
#include <rvtrace/perfdata.h>

#define SAMPLE_TYPE (PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU)
#define META "rvtrace 1\n[encoder 0]\ncpu = 0\n"

static char path[64];

/* A PERF_RECORD_COMM with the trailer that SAMPLE_TYPE asks for. */
struct comm_record {
	struct perf_event_header header;
	uint32_t pid, tid;
	char comm[8];
	uint32_t sample_pid, sample_tid;
	uint64_t time;
	uint32_t cpu, reserved;
	uint64_t id;
};

static const struct comm_record comm = {
	.header = { PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC, sizeof(struct comm_record) },
	.pid = 7, .tid = 8, .comm = "sort", .sample_pid = 7, .sample_tid = 8,
	.time = 123456789, .cpu = 1, .id = 42,
};

static int make_path(void **state)
{
	int fd;

	(void)state;
	strcpy(path, "/tmp/rvtrace-perfdata-XXXXXX");
	fd = mkstemp(path);
	if (fd < 0)
		return -1;
	close(fd);
	return 0;
}

static int remove_path(void **state)
{
	(void)state;
	return unlink(path);
}

static struct rvt_perfdata_writer *begin(void)
{
	struct perf_event_attr attr = { .type = 99, .sample_id_all = 1,
		.sample_type = SAMPLE_TYPE };
	const uint64_t ids[2] = { 42, 43 }, side_ids[1] = { 50 };
	struct rvt_perfdata_writer *writer;

	assert_int_equal(rvt_perfdata_create(path, &writer), 0);
	assert_int_equal(rvt_perfdata_add_event(writer, &attr, "rvtrace//", ids, 2), 0);
	attr.type = PERF_TYPE_SOFTWARE;
	attr.config = PERF_COUNT_SW_DUMMY;
	assert_int_equal(rvt_perfdata_add_event(writer, &attr, "dummy:u", side_ids, 1), 0);
	assert_int_equal(rvt_perfdata_begin(writer, META), 0);
	return writer;
}

static void add_aux(struct rvt_perfdata_writer *writer, const char *bytes, size_t len)
{
	struct rvt_record_auxtrace aux = {
		.header = { RVT_RECORD_AUXTRACE, 0, sizeof(aux) },
		.size = len, .offset = 4096, .idx = 3, .tid = -1, .cpu = 1,
	};

	assert_int_equal(rvt_perfdata_write(writer, &aux, sizeof(aux)), 0);
	assert_int_equal(rvt_perfdata_write(writer, bytes, len), 0);
}

static struct rvt_perfdata *open_good(void)
{
	struct rvt_perfdata *file;
	char *error;
	int err = rvt_perfdata_open(path, &file, &error);

	if (err)
		fail_msg("%s", error);
	assert_null(error);
	return file;
}

static void open_bad(int expected, const char *word)
{
	struct rvt_perfdata *file;
	char *error;

	assert_int_equal(rvt_perfdata_open(path, &file, &error), expected);
	assert_non_null(error);
	assert_non_null(strstr(error, path));
	if (!strstr(error, word))
		fail_msg("\"%s\" is not in \"%s\"", word, error);
	free(error);
}

static void write_file(const void *bytes, size_t len)
{
	FILE *out = fopen(path, "w");

	assert_non_null(out);
	assert_int_equal(fwrite(bytes, 1, len, out), len);
	fclose(out);
}

static void check_comm(const struct rvt_perfdata_record *record)
{
	assert_int_equal(record->type, PERF_RECORD_COMM);
	assert_int_equal(record->misc, PERF_RECORD_MISC_COMM_EXEC);
	assert_true(record->time_valid && record->tid_valid && record->cpu_valid);
	assert_int_equal(record->time, 123456789);
	assert_int_equal(record->pid, 7);
	assert_int_equal(record->tid, 8);
	assert_int_equal(record->cpu, 1);
	assert_int_equal(record->id, 42);
	assert_int_equal(record->body_len, 16);
	assert_non_null(record->event);
	assert_string_equal(record->event->name, "rvtrace//");
}

static void write_and_read(void **state)
{
	static const uint8_t id[20] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17,
		18,
					19, 20 };
	struct rvt_perfdata_writer *writer = begin();
	char *argv[] = { "record", "--", "sort" };
	struct rvt_perfdata_record record;
	struct rvt_perfdata *file;
	const uint8_t *found;
	const void *data;
	uint64_t pos = 0;
	size_t len;

	(void)state;
	assert_int_equal(rvt_perfdata_write(writer, &comm, sizeof(comm)), 0);
	add_aux(writer, "trace bytes 1234", 16);
	assert_int_equal(rvt_perfdata_write(writer, &comm, sizeof(comm)), 0);
	assert_int_equal(rvt_perfdata_written(writer), 2 * sizeof(comm) + 48 + 16);
	assert_int_equal(rvt_perfdata_add_string(writer, RVT_FEAT_ARCH, "riscv64"), 0);
	assert_int_equal(rvt_perfdata_add_cmdline(writer, argv, 3), 0);
	assert_int_equal(rvt_perfdata_add_build_id(writer, "/bin/a", id, 20, 2), 0);
	assert_int_equal(rvt_perfdata_add_build_id(writer, "/bin/sort", id, 8, 2), 0);
	assert_int_equal(rvt_perfdata_add_build_id(writer, "/bin/b", id, 21, 2), -EINVAL);
	assert_int_equal(rvt_perfdata_finish(writer), 0);

	file = open_good();
	assert_null(rvt_perfdata_warning(file));
	assert_int_equal(rvt_perfdata_n_events(file), 2);
	assert_int_equal(rvt_perfdata_event(file, 0)->attr.type, 99);
	assert_int_equal(rvt_perfdata_event(file, 0)->n_ids, 2);
	assert_int_equal(rvt_perfdata_event(file, 0)->ids[1], 43);
	assert_string_equal(rvt_perfdata_event(file, 1)->name, "dummy:u");
	assert_null(rvt_perfdata_event(file, 2));
	assert_string_equal(rvt_perfdata_string(file, RVT_FEAT_ARCH), "riscv64");
	assert_null(rvt_perfdata_string(file, RVT_FEAT_HOSTNAME));
	assert_int_equal(rvt_perfdata_feature(file, RVT_FEAT_RVTRACE_META, &data, &len), 0);
	assert_int_equal(len, strlen(META));
	assert_memory_equal(data, META, len);
	assert_int_equal(rvt_perfdata_feature(file, RVT_FEAT_RVTRACE_CODE, &data, &len), -ENOENT);
	assert_int_equal(rvt_perfdata_feature(file, 1000, &data, &len), -ENOENT);
	assert_int_equal(rvt_perfdata_build_id(file, "/bin/sort", &found), 8);
	assert_memory_equal(found, id, 8);
	assert_int_equal(rvt_perfdata_build_id(file, "/bin/a", &found), 20);
	assert_int_equal(rvt_perfdata_build_id(file, "/bin/none", &found), 0);

	assert_int_equal(rvt_perfdata_next(file, &pos, &record), 1);
	check_comm(&record);
	assert_int_equal(rvt_perfdata_next(file, &pos, &record), 1);
	assert_int_equal(record.type, RVT_RECORD_AUXTRACE);
	assert_int_equal(record.aux_len, 16);
	assert_memory_equal(record.aux, "trace bytes 1234", 16);
	assert_int_equal(rvt_perfdata_next(file, &pos, &record), 1);
	check_comm(&record);
	assert_int_equal(rvt_perfdata_next(file, &pos, &record), 0);
	rvt_perfdata_close(file);
}

/* SIGKILL leaves what begin() and write() have written: no features, data size 0. */
static void killed_recorder(void **state)
{
	struct rvt_perfdata_writer *writer = begin();
	struct rvt_perfdata_record record;
	struct rvt_perfdata *file;
	uint64_t pos = 0;
	const void *data;
	size_t len;

	(void)state;
	assert_int_equal(rvt_perfdata_write(writer, &comm, sizeof(comm)), 0);
	add_aux(writer, "trace bytes 1234", 16);
	rvt_perfdata_abandon(writer);

	file = open_good();
	assert_non_null(strstr(rvt_perfdata_warning(file), "killed"));
	assert_int_equal(rvt_perfdata_feature(file, RVT_FEAT_RVTRACE_META, &data, &len), 0);
	assert_int_equal(len, strlen(META));
	assert_int_equal(rvt_perfdata_next(file, &pos, &record), 1);
	assert_int_equal(record.time, 123456789);
	assert_int_equal(rvt_perfdata_next(file, &pos, &record), 1);
	assert_int_equal(record.aux_len, 16);
	assert_int_equal(rvt_perfdata_next(file, &pos, &record), 0);
	rvt_perfdata_close(file);
}

/* Cut at every length: never a crash, records before the cut are there, the damage is named. */
static void truncated_anywhere(void **state)
{
	struct rvt_perfdata_writer *writer = begin();
	uint8_t bytes[8192];
	size_t len, data_end;
	FILE *in;

	(void)state;
	assert_int_equal(rvt_perfdata_write(writer, &comm, sizeof(comm)), 0);
	add_aux(writer, "trace bytes 1234", 16);
	assert_int_equal(rvt_perfdata_add_string(writer, RVT_FEAT_ARCH, "riscv64"), 0);
	assert_int_equal(rvt_perfdata_finish(writer), 0);
	in = fopen(path, "r");
	len = fread(bytes, 1, sizeof(bytes), in);
	fclose(in);
	assert_true(len < sizeof(bytes));
	/* offset and size of the data section are words 5 and 6 of the header */
	data_end = ((uint64_t *)bytes)[5] + ((uint64_t *)bytes)[6];
	for (size_t cut = 0; cut < len; cut++) {
		struct rvt_perfdata_record record;
		struct rvt_perfdata *file = NULL;
		char *error = NULL;
		uint64_t pos = 0;
		int err, n = 0;

		write_file(bytes, cut);
		err = rvt_perfdata_open(path, &file, &error);
		if (err) {
			assert_true(cut < data_end);
			assert_non_null(error);
			free(error);
			continue;
		}
		while ((err = rvt_perfdata_next(file, &pos, &record)) > 0)
			n++;
		assert_non_null(rvt_perfdata_warning(file));
		if (cut >= data_end)
			assert_int_equal(n, 2);
		else
			assert_true(n <= 2 && (err == -EBADMSG || err == 0));
		rvt_perfdata_close(file);
	}
}

static void not_perf_data(void **state)
{
	uint8_t bytes[200] = "PERFILE2";

	(void)state;
	write_file("hello", 5);
	open_bad(-EBADMSG, "not a perf.data");
	write_file("\177ELF and more bytes than a header", 32);
	open_bad(-EBADMSG, "not a perf.data");
	write_file("2ELIFREP\0\0\0\0\0\0\0\150", 16);
	open_bad(-ENOTSUP, "big-endian");
	bytes[8] = 16;
	write_file(bytes, sizeof(bytes));
	open_bad(-ENOTSUP, "pipe");
	bytes[8] = 104;
	write_file(bytes, 50);
	open_bad(-EBADMSG, "truncated");
	write_file(bytes, sizeof(bytes));
	open_bad(-EBADMSG, "attributes");
	unlink(path);
	open_bad(-ENOENT, "No such file");
	write_file("", 0);
	open_bad(-EBADMSG, "not a perf.data");
}

static void lying_record_sizes(void **state)
{
	struct rvt_perfdata_writer *writer = begin();
	struct comm_record short_record = comm, long_record = comm;
	struct rvt_perfdata_record record;
	struct rvt_perfdata *file;
	uint64_t pos = 0;

	(void)state;
	short_record.header.size = 4;
	assert_int_equal(rvt_perfdata_write(writer, &comm, sizeof(comm)), 0);
	assert_int_equal(rvt_perfdata_write(writer, &short_record, sizeof(comm)), 0);
	assert_int_equal(rvt_perfdata_finish(writer), 0);
	file = open_good();
	assert_int_equal(rvt_perfdata_next(file, &pos, &record), 1);
	assert_int_equal(rvt_perfdata_next(file, &pos, &record), -EBADMSG);
	assert_non_null(strstr(rvt_perfdata_warning(file), "damaged"));
	rvt_perfdata_close(file);

	writer = begin();
	long_record.header.size = 4096;
	assert_int_equal(rvt_perfdata_write(writer, &long_record, sizeof(comm)), 0);
	assert_int_equal(rvt_perfdata_finish(writer), 0);
	file = open_good();
	pos = 0;
	assert_int_equal(rvt_perfdata_next(file, &pos, &record), -EBADMSG);
	assert_non_null(strstr(rvt_perfdata_warning(file), "offset"));
	rvt_perfdata_close(file);
}

/* A record of an event that the file does not know has no trailer that could be read. */
static uint8_t *read_all(size_t *len)
{
	FILE *in = fopen(path, "r");
	uint8_t *bytes = malloc(1 << 20);

	assert_non_null(in);
	assert_non_null(bytes);
	*len = fread(bytes, 1, 1 << 20, in);
	fclose(in);
	return bytes;
}

/* An id is of one event: sections that overlap would cost their sum in memory. */
static void ids_of_several_events(void **state)
{
	struct rvt_perfdata_writer *writer = begin();
	struct perfdata_header header;
	struct perfdata_section ids;
	uint8_t *bytes;
	size_t len;

	(void)state;
	assert_int_equal(rvt_perfdata_write(writer, &comm, sizeof(comm)), 0);
	assert_int_equal(rvt_perfdata_finish(writer), 0);
	rvt_perfdata_close(open_good());
	bytes = read_all(&len);
	memcpy(&header, bytes, sizeof(header));
	ids = (struct perfdata_section){ 0, len / 8 * 8 };
	memcpy(bytes + header.attrs.offset + 2 * header.attr_size - sizeof(ids), &ids, sizeof(ids));
	write_file(bytes, len);
	free(bytes);
	open_bad(-EBADMSG, "of several");
}

static void unknown_id(void **state)
{
	struct rvt_perfdata_writer *writer = begin();
	struct comm_record unknown = comm;
	struct rvt_perfdata_record record;
	struct rvt_perfdata *file;
	uint64_t pos = 0;

	(void)state;
	unknown.id = 4711;
	assert_int_equal(rvt_perfdata_write(writer, &unknown, sizeof(unknown)), 0);
	assert_int_equal(rvt_perfdata_finish(writer), 0);
	file = open_good();
	assert_int_equal(rvt_perfdata_next(file, &pos, &record), 1);
	assert_null(record.event);
	assert_false(record.time_valid || record.tid_valid || record.cpu_valid);
	rvt_perfdata_close(file);
}

static void foreign_layouts(void **state)
{
	struct {
		struct perf_event_header header;
		uint32_t type, reserved;
		uint64_t priv[15];
	} info = { .header = { RVT_RECORD_AUXTRACE_INFO, 0, 24 }, .priv = { 11 } };
	struct rvt_perfdata_record record = { .type = RVT_RECORD_AUXTRACE_INFO };
	struct rvt_foreign_cpu cpus[2];
	uint32_t type = 0;
	size_t n;

	(void)state;
	record.header = &info.header;
	assert_int_equal(rvt_perfdata_foreign(&record, &type, cpus, 2, &n),
			 RVT_FOREIGN_UPSTREAM_V4);
	assert_int_equal(type, 11);
	info.header.size = 16 + 8 + 2 * 56;
	info.priv[0] = 12ULL << 32 | 2;
	info.priv[8] = 1;	/* cpu of the second entry */
	info.priv[14] = 5;	/* its source id */
	assert_int_equal(rvt_perfdata_foreign(&record, &type, cpus, 2, &n), RVT_FOREIGN_SPACEMIT);
	assert_int_equal(type, 12);
	assert_int_equal(n, 2);
	assert_int_equal(cpus[1].cpu, 1);
	assert_int_equal(cpus[1].src_id, 5);
	info.priv[0] = 12ULL << 32 | 3;
	assert_int_equal(rvt_perfdata_foreign(&record, &type, cpus, 2, &n), RVT_FOREIGN_NONE);
	info.header.size = 16;
	assert_int_equal(rvt_perfdata_foreign(&record, &type, cpus, 2, &n), RVT_FOREIGN_NONE);
}

/* 10 MHz: a tick is 100 ns = mult / 2^shift; 2^10 * 100 = 102400. */
static void time_conversion(void **state)
{
	struct rvt_record_time_conv conv = { .time_shift = 10, .time_mult = 102400,
					     .time_zero = 5000 };

	(void)state;
	assert_int_equal(rvt_time_to_perf(&conv, 0), 5000);
	assert_int_equal(rvt_time_to_perf(&conv, 7), 5700);
	assert_int_equal(rvt_time_to_perf(&conv, 10000000000ULL), 1000000005000ULL);
	assert_int_equal(rvt_time_from_perf(&conv, 5700), 7);
	assert_int_equal(rvt_time_from_perf(&conv, 5701), 8);
	assert_int_equal(rvt_time_from_perf(&conv, 1000000005000ULL), 10000000000ULL);
	/* a 24-bit counter that wrapped after .time_cycles */
	conv.cap_user_time_short = 1;
	conv.time_cycles = 0x1fffff0;
	conv.time_mask = 0xffffff;
	assert_int_equal(rvt_time_to_perf(&conv, 0x10), 5000 + 0x2000010 * 100ULL);
	conv.time_mult = 0;
	assert_int_equal(rvt_time_from_perf(&conv, 5700), 0);
}

/* ---- damage amid the data ---- */

#define DAMAGED_RECORDS 40

/* The whole file; malloc'd. */
/*
 * Records of two sorts with trace between them; offsets[]: where each begins in the file. Trace
 * bytes are such that none looks like a record (their type would be far too large).
 */
static size_t write_many(uint64_t *offsets)
{
	struct rvt_perfdata_writer *writer = begin();
	struct rvt_perfdata_record record;
	struct rvt_perfdata *file;
	uint64_t pos = 0;
	char trace[104];
	size_t n = 0;

	memset(trace, 0xc7, sizeof(trace));
	for (int i = 0; i < DAMAGED_RECORDS; i++) {
		struct comm_record one = comm;

		one.pid = 1000 + i;
		assert_int_equal(rvt_perfdata_write(writer, &one, sizeof(one)), 0);
		if (i % 8 == 3)
			add_aux(writer, trace, sizeof(trace));
	}
	assert_int_equal(rvt_perfdata_finish(writer), 0);
	file = open_good();
	while (rvt_perfdata_next(file, &pos, &record) > 0)
		offsets[n++] = record.offset;
	rvt_perfdata_close(file);
	return n;
}

/* Reads what is in the file now; found[i]: whether there is a record at offsets[i]. */
static void read_damaged(const uint64_t *offsets, size_t n, bool *found, bool *warned)
{
	struct rvt_perfdata *file = open_good();
	struct rvt_perfdata_record record;
	uint64_t pos = 0;

	memset(found, 0, n * sizeof(*found));
	while (rvt_perfdata_next(file, &pos, &record) > 0)
		for (size_t i = 0; i < n; i++)
			found[i] |= record.offset == offsets[i];
	*warned = rvt_perfdata_warning(file);
	rvt_perfdata_close(file);
}

/* Each byte of each header is changed in three ways; what lies behind the record is still read. */
static void damaged_headers(void **state)
{
	static const uint8_t changes[] = { 0x01, 0x80, 0xff };
	uint64_t offsets[2 * DAMAGED_RECORDS];
	size_t n = write_many(offsets), len, last;
	bool found[2 * DAMAGED_RECORDS], warned;
	uint8_t *bytes = read_all(&len);

	(void)state;
	assert_int_equal(n, DAMAGED_RECORDS + 5);
	for (size_t i = 0; i + 1 < n; i++)
		for (size_t at = 0; at < sizeof(struct perf_event_header) * sizeof(changes); at++) {
			struct perf_event_header header;
			uint8_t *byte = &bytes[offsets[i] + at / sizeof(changes)];
			uint64_t behind;

			*byte ^= changes[at % sizeof(changes)];
			memcpy(&header, &bytes[offsets[i]], sizeof(header));
			write_file(bytes, len);
			*byte ^= changes[at % sizeof(changes)];
			read_damaged(offsets, n, found, &warned);
			/* a size that lies covers what it says, if it can be true */
			behind = offsets[i] + header.size;
			if (behind <= offsets[i] || behind > offsets[n - 1] + sizeof(comm) ||
			    header.type >= 256 || header.size % 8 ||
			    header.type == RVT_RECORD_AUXTRACE)
				behind = offsets[i] + 1;
			last = n;
			for (size_t j = 0; j < n; j++)
				if (!found[j] && j != i && (j < i || offsets[j] >= behind))
					last = j;
			if (last != n)
				fail_msg("byte %zu of record %zu by %#x: record %zu is lost",
					 at / sizeof(changes), i, changes[at % sizeof(changes)],
					 last);
			if (!found[i])
				assert_true(warned);
		}
	free(bytes);
}

/* An AUXTRACE record that says it has more than is left ends where the next record is. */
static void damaged_trace_size(void **state)
{
	uint64_t offsets[2 * DAMAGED_RECORDS], pos = 0;
	size_t n = write_many(offsets), len, traces = 0;
	struct rvt_perfdata_record record;
	struct rvt_perfdata *file;
	uint8_t *bytes = read_all(&len);

	(void)state;
	/* the fifth record is the first with trace: of 104 bytes */
	bytes[offsets[4] + offsetof(struct rvt_record_auxtrace, size) + 6] = 1;
	write_file(bytes, len);
	free(bytes);
	file = open_good();
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(rvt_perfdata_next(file, &pos, &record), 1);
		assert_int_equal(record.offset, offsets[i]);
		traces += record.aux_len;
	}
	assert_int_equal(rvt_perfdata_next(file, &pos, &record), 0);
	assert_int_equal(traces, 5 * 104);
	assert_non_null(strstr(rvt_perfdata_warning(file), "bytes of trace data are missing"));
	rvt_perfdata_close(file);
}

/* ---- memory ---- */

#define LARGE ((size_t)16 << 20)

/* How many of the pages that hold the @len bytes at @bytes are mapped now. */
static size_t mapped_pages(const char *bytes, size_t len)
{
	size_t page = sysconf(_SC_PAGESIZE), n = len / page, found = 0;
	uint64_t *entries = calloc(n, sizeof(*entries));
	int fd = open("/proc/self/pagemap", O_RDONLY);

	assert_non_null(entries);
	assert_true(fd >= 0);
	assert_int_equal(pread(fd, entries, n * sizeof(*entries),
			       (uintptr_t)bytes / page * sizeof(*entries)), n * sizeof(*entries));
	close(fd);
	for (size_t i = 0; i < n; i++)
		found += entries[i] >> 63;
	free(entries);
	return found;
}

/* What the kernel maps around a byte goes with it, however much that is (Linux 6.18: a folio). */
static void release_all_around(void **state)
{
	struct rvt_perfdata_writer *writer = begin();
	char *trace = malloc(LARGE);
	struct rvt_perfdata_record record;
	struct rvt_perfdata *file;
	uintptr_t first, end;
	uint64_t pos = 0;

	(void)state;
	assert_non_null(trace);
	memset(trace, 7, LARGE);	/* of what is not there yet the kernel makes small folios */
	add_aux(writer, trace, LARGE);
	free(trace);
	assert_int_equal(rvt_perfdata_finish(writer), 0);
	file = open_good();
	assert_int_equal(rvt_perfdata_next(file, &pos, &record), 1);
	/* opening has read what is before and behind */
	first = ((uintptr_t)record.aux + RVT_PERFDATA_MAPPED) & -RVT_PERFDATA_MAPPED;
	end = ((uintptr_t)record.aux + LARGE - 1) & -RVT_PERFDATA_MAPPED;
	rvt_perfdata_release(file, (void *)first, end - first);
	assert_int_equal(mapped_pages((void *)first, end - first), 0);
	for (uintptr_t at = first + 54321; at < end; at += 543210) {
		assert_int_equal(*(const volatile char *)at, 7);
		assert_true(mapped_pages((void *)first, end - first) > 0);
		rvt_perfdata_release(file, (void *)at, 1);
		assert_int_equal(mapped_pages((void *)first, end - first), 0);
	}
	rvt_perfdata_close(file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(write_and_read, make_path, remove_path),
		cmocka_unit_test_setup_teardown(killed_recorder, make_path, remove_path),
		cmocka_unit_test_setup_teardown(truncated_anywhere, make_path, remove_path),
		cmocka_unit_test_setup_teardown(not_perf_data, make_path, remove_path),
		cmocka_unit_test_setup_teardown(lying_record_sizes, make_path, remove_path),
		cmocka_unit_test_setup_teardown(ids_of_several_events, make_path, remove_path),
		cmocka_unit_test_setup_teardown(unknown_id, make_path, remove_path),
		cmocka_unit_test_setup_teardown(damaged_headers, make_path, remove_path),
		cmocka_unit_test_setup_teardown(damaged_trace_size, make_path, remove_path),
		cmocka_unit_test_setup_teardown(release_all_around, make_path, remove_path),
		cmocka_unit_test(foreign_layouts),
		cmocka_unit_test(time_conversion),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
