// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Recordings of Control Transfer Records: samples across chunks, packed ones, damaged ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include <rvtrace/ctr.h>
#include <rvtrace/perfdata.h>
#include <rvtrace/session.h>
#include "session/access.h"

#define SAMPLES 6
#define META "rvtrace 1\npmu_type = 77\nevent = riscv_ctr//u\n\n[ctr]\n"

struct fixture {
	char path[32];
	struct rvt_perfdata_writer *writer;
	uint8_t bytes[4096];		/* of all samples */
	size_t ends[SAMPLES];		/* where each ends */
	uint64_t found[SAMPLES];	/* ip of those that were delivered */
	size_t n_found, n_warnings;
};

static uint64_t ip_of(size_t i)
{
	return 0x10000 + 16 * i;
}

static int setup(void **state)
{
	const struct perf_event_attr attr = { .type = 77, .sample_id_all = 1 };
	const uint64_t id = 5;
	struct fixture *f = calloc(1, sizeof(*f));
	size_t len = 0;
	int fd;

	strcpy(f->path, "/tmp/rvtrace-ctr-XXXXXX");
	fd = mkstemp(f->path);
	assert_true(fd >= 0);
	close(fd);
	for (size_t i = 0; i < SAMPLES; i++) {
		const struct rvt_ctr_entry entry = { .source = ip_of(i) - 2, .target = ip_of(i),
						     .type = RVT_CTR_JUMP };
		/* the times are not in order */
		const struct rvt_ctr_sample sample = { .time = 1000 + (i ^ 1), .ip = ip_of(i),
						       .pid = 3, .tid = 3, .depth = 16, .n = 1 };
		long put = rvt_ctr_put(&sample, &entry, f->bytes + len, sizeof(f->bytes) - len);

		assert_true(put > 0);
		len += put;
		f->ends[i] = len;
	}
	assert_int_equal(rvt_perfdata_create(f->path, &f->writer), 0);
	assert_int_equal(rvt_perfdata_add_event(f->writer, &attr, "riscv_ctr//u", &id, 1), 0);
	assert_int_equal(rvt_perfdata_begin(f->writer, META), 0);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	rvt_perfdata_abandon(f->writer);
	unlink(f->path);
	free(f);
	return 0;
}

/* Bytes @from to @to of all samples. @unpacked: what the chunk says that it had been. */
static void put(struct fixture *f, size_t from, size_t to, const void *bytes, size_t len,
		uint64_t unpacked)
{
	struct rvt_record_auxtrace chunk = {
		.header = { RVT_RECORD_AUXTRACE, 0, sizeof(chunk) }, .size = (len + 7) & ~7ul,
		.offset = from, .tid = -1, .unpacked = unpacked };
	static const uint8_t zeros[8];

	assert_true(from < to);
	assert_int_equal(rvt_perfdata_write(f->writer, &chunk, sizeof(chunk)), 0);
	assert_int_equal(rvt_perfdata_write(f->writer, bytes, len), 0);
	assert_int_equal(rvt_perfdata_write(f->writer, zeros, chunk.size - len), 0);
}

static void put_plain(struct fixture *f, size_t from, size_t to)
{
	/* sizes are rounded up where they are written, so chunks must not need that */
	assert_int_equal((to - from) % 8, 0);
	put(f, from, to, f->bytes + from, to - from, 0);
}

/* As `record -z` does. @lie: it says another size, or 0. */
static void put_packed(struct fixture *f, size_t from, size_t to, uint64_t lie)
{
	size_t room = 0, len;
	void *blob = NULL;

	assert_int_equal(rvt_aux_pack(f->bytes + from, to - from, 1, &blob, &room, &len), 0);
	put(f, from, to, blob, len, lie ? lie : to - from);
	free(blob);
}

static int found(void *ctx, const struct rvt_ctr_sample *sample, const struct rvt_task *task)
{
	struct fixture *f = ctx;

	assert_non_null(task);
	assert_true(f->n_found < SAMPLES);
	f->found[f->n_found++] = sample->ip;
	return 0;
}

static void warned(void *ctx, const char *text)
{
	assert_non_null(text);
	((struct fixture *)ctx)->n_warnings++;
}

static void read_back(struct fixture *f, struct rvt_session_totals *stats)
{
	const struct rvt_session_ctr_sink sink = { .size = sizeof(sink),
						   .ctx = f, .sample = found, .warning = warned };
	const struct rvt_session_options options = { .size = sizeof(options), .count = false };
	struct rvt_session *session;
	char *error = NULL;

	assert_int_equal(rvt_perfdata_finish(f->writer), 0);
	f->writer = NULL;
	assert_int_equal(rvt_session_open(f->path, &options, &session, &error), 0);
	assert_true(rvt_session_is_ctr(session));
	assert_int_equal(rvt_session_run_ctr(session, &sink), 0);
	rvt_session_totals(session, stats);
	rvt_session_close(session);
}

/* @order ends with -1. */
static void check_found(const struct fixture *f, const int *order)
{
	size_t n = 0;

	for (; order[n] >= 0; n++) {
		assert_true(n < f->n_found);
		assert_int_equal(f->found[n], ip_of(order[n]));
	}
	assert_int_equal(f->n_found, n);
}

static void across_chunks(void **state)
{
	struct fixture *f = *state;
	struct rvt_session_totals stats;
	size_t middle = f->ends[1] - 8, last = f->ends[SAMPLES - 1];

	put_plain(f, 0, middle);
	put_packed(f, middle, f->ends[3], 0);
	put_packed(f, f->ends[3], last, 0);
	read_back(f, &stats);
	check_found(f, (const int[]){ 1, 0, 3, 2, 5, 4, -1 });
	assert_int_equal(stats.session.trace_bytes, last);
	assert_int_equal(stats.session.missing_bytes, 0);
	assert_int_equal(f->n_warnings, 0);
}

/* A piece without bytes, before there are others. */
static void empty_chunk(void **state)
{
	struct fixture *f = *state;
	struct rvt_session_totals stats;

	put(f, 0, 8, f->bytes, 0, 0);
	put_plain(f, 0, f->ends[SAMPLES - 1]);
	read_back(f, &stats);
	check_found(f, (const int[]){ 1, 0, 3, 2, 5, 4, -1 });
	assert_int_equal(f->n_warnings, 0);
}

/* What cannot be unpacked is missing; the sample that it has the end of is damaged. */
static void damaged_chunk(struct fixture *f, uint64_t lie)
{
	struct rvt_session_totals stats;
	size_t middle = f->ends[1] - 8, last = f->ends[SAMPLES - 1];

	put_plain(f, 0, middle);
	put_packed(f, middle, f->ends[3], lie);
	put_plain(f, f->ends[3], last);
	read_back(f, &stats);
	check_found(f, (const int[]){ 0, 5, 4, -1 });
	assert_true(stats.session.missing_bytes >= f->ends[3] - middle);
	/* the damaged sample, and 8 more where the lie is believed */
	assert_true(stats.session.missing_bytes <= f->ends[3] - f->ends[0] + 8);
	assert_true(f->n_warnings > 0);
}

static void impossible_size(void **state)
{
	damaged_chunk(*state, 0xf5000000);
}

static void wrong_size(void **state)
{
	struct fixture *f = *state;

	damaged_chunk(f, f->ends[3] - f->ends[1] + 16);
}

/* ---- more than is in memory at a time ---- */

#define BUFFERS 3
#define MANY 4000	/* samples of each */

struct many {
	struct rvt_session *session;
	uint64_t next;			/* time, = number of the sample */
	bool lost[BUFFERS * MANY];
	size_t n_lost, lost_bytes;
};

static int found_many(void *ctx, const struct rvt_ctr_sample *sample, const struct rvt_task *task)
{
	struct many *many = ctx;
	struct rvt_ctr_entry entry;

	assert_non_null(task);
	while (many->next < BUFFERS * MANY && many->lost[many->next])
		many->next++;
	assert_int_equal(sample->time, many->next + 1);
	for (unsigned int i = 0; i < sample->n; i++) {
		assert_int_equal(rvt_ctr_get(sample, i, &entry), 0);
		assert_int_equal(entry.target, ip_of(many->next));
	}
	many->next++;
	return 0;
}

/* The sample @number, of a length that differs from others'. */
static size_t make_sample(uint64_t number, uint8_t *bytes, size_t room)
{
	static struct rvt_ctr_entry entries[256];
	const struct rvt_ctr_sample sample = { .time = number + 1, .pid = 3, .tid = 3, .depth = 256,
					       .n = number * 7919 % 257 };
	long len;

	for (unsigned int i = 0; i < sample.n; i++)
		entries[i] = (struct rvt_ctr_entry){ .source = 16, .target = ip_of(number),
						     .type = RVT_CTR_JUMP };
	len = rvt_ctr_put(&sample, entries, bytes, room);
	assert_true(len > 0);
	return len;
}

/* Writes what buffer @idx has, in chunks that begin anywhere; each third is packed. */
static void put_chunks(struct fixture *f, uint32_t idx, const uint8_t *bytes, size_t len)
{
	static const uint8_t zeros[8];
	size_t room = 0, packed = 0;
	void *blob = NULL;

	for (size_t at = 0, n = 8, i = 0; at < len; at += n, i++) {
		struct rvt_record_auxtrace chunk = {
			.header = { RVT_RECORD_AUXTRACE, 0, sizeof(chunk) }, .offset = at,
			.idx = idx, .tid = -1, .cpu = idx };

		n = 8 + i * 10007 * 8 % 100000;
		if (n > len - at)
			n = len - at;
		if (i % 3 == 2) {
			assert_int_equal(rvt_aux_pack(bytes + at, n, 1, &blob, &room, &packed), 0);
			chunk.unpacked = n;
		}
		chunk.size = chunk.unpacked ? packed : (n + 7) & ~7ul;
		assert_int_equal(rvt_perfdata_write(f->writer, &chunk, sizeof(chunk)), 0);
		assert_int_equal(rvt_perfdata_write(f->writer, chunk.unpacked ? blob : bytes + at,
						    chunk.unpacked ? packed : n), 0);
		if (!chunk.unpacked)
			assert_int_equal(rvt_perfdata_write(f->writer, zeros, chunk.size - n), 0);
	}
	free(blob);
}

/* Samples of a buffer in pairs of which the younger comes first; some are damaged. */
static void many_windows(void **state)
{
	const struct rvt_session_options options = { .size = sizeof(options), .count = false };
	const size_t room = (size_t)MANY * 6400;
	struct many *many = calloc(1, sizeof(*many));
	uint8_t *bytes = malloc(room);
	const struct rvt_session_ctr_sink sink = { .size = sizeof(sink), .ctx = many,
						   .sample = found_many };
	struct fixture *f = *state;
	struct rvt_session_stats stats = { .size = sizeof(stats) };
	char *error = NULL;

	assert_non_null(bytes);
	for (uint32_t idx = 0; idx < BUFFERS; idx++) {
		size_t len = 0;

		for (uint64_t i = 0; i < MANY; i++) {
			uint64_t number = (i ^ 1) * BUFFERS + idx;
			size_t size = make_sample(number, bytes + len, room - len);

			/* now and then one alone, and dozens in a row: more than a window */
			if (i % 97 == 5 || (i > 2000 && i < 2060)) {
				bytes[len] ^= 0xff;
				many->lost[number] = true;
				many->n_lost++;
				many->lost_bytes += size;
			}
			len += size;
		}
		put_chunks(f, idx, bytes, len);
	}
	assert_int_equal(rvt_perfdata_finish(f->writer), 0);
	f->writer = NULL;
	assert_int_equal(rvt_session_open(f->path, &options, &many->session, &error), 0);
	assert_int_equal(rvt_session_run_ctr(many->session, &sink), 0);
	assert_true(many->n_lost > 100);
	assert_int_equal(many->next, BUFFERS * MANY);
	rvt_session_stats(many->session, &stats);
	assert_int_equal(stats.missing_bytes, many->lost_bytes);
	rvt_session_close(many->session);
	free(bytes);
	free(many);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(across_chunks, setup, teardown),
		cmocka_unit_test_setup_teardown(empty_chunk, setup, teardown),
		cmocka_unit_test_setup_teardown(impossible_size, setup, teardown),
		cmocka_unit_test_setup_teardown(wrong_size, setup, teardown),
		cmocka_unit_test_setup_teardown(many_windows, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
