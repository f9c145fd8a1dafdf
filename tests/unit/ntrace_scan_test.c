// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * N-Trace: what is scanned of messages is what the reader reads, with any processor's instructions,
 * of whole and of damaged streams, and nothing beyond their end is touched.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <rvtrace/ntrace.h>
#include "ntrace/message.h"
#include "ntrace/scan.h"

#define STREAMS 3000
#define MAX_STREAM 2048

static uint64_t random_state;

static uint64_t any(void)
{
	/* xorshift64* */
	random_state ^= random_state >> 12;
	random_state ^= random_state << 25;
	random_state ^= random_state >> 27;
	return random_state * 0x2545f4914f6cdd1dull;
}

/* Of any size, small ones more often. */
static uint64_t any_bits(unsigned int max_bits)
{
	const unsigned int bits = any() % max_bits;

	return any() >> (64 - 1 - bits);
}

struct stream {
	struct rvt_params params;
	uint8_t *bytes;			/* as long as they are */
	size_t len;
};

static void flip_bit(uint8_t *bytes, size_t len)
{
	const size_t at = any() % len;

	bytes[at] ^= 1u << any() % 8;
}

static void random_message(const struct rvt_params *params, struct rvt_ntrace_msg *msg)
{
	static const enum rvt_ntrace_tcode tcodes[] = {
		RVT_NTRACE_DIRECT_BRANCH, RVT_NTRACE_INDIRECT_BRANCH,
		RVT_NTRACE_INDIRECT_BRANCH_HIST, RVT_NTRACE_INDIRECT_BRANCH_HIST,
		RVT_NTRACE_RESOURCE_FULL, RVT_NTRACE_RESOURCE_FULL, RVT_NTRACE_OWNERSHIP,
		RVT_NTRACE_REPEAT_BRANCH,
	};

	/* Mostly what can be a step. */
	const unsigned int n = any() % 8 ? 6 : 8;

	rvt_ntrace_begin(msg, tcodes[any() % n]);
	if (params->src_bits)
		rvt_ntrace_set(msg, RVT_NTRACE_F_SRC, any() & ((1u << params->src_bits) - 1));
	rvt_ntrace_set(msg, RVT_NTRACE_F_BTYPE, any() % 8 ? 0 : any() & 3);
	rvt_ntrace_set(msg, RVT_NTRACE_F_ICNT, any_bits(22));
	rvt_ntrace_set(msg, RVT_NTRACE_F_UADDR, any_bits(62));
	rvt_ntrace_set(msg, RVT_NTRACE_F_HIST, any_bits(31) | 1);
	rvt_ntrace_set(msg, RVT_NTRACE_F_RCODE, any() % 3);
	rvt_ntrace_set(msg, RVT_NTRACE_F_RDATA, any_bits(22) | 1);
	rvt_ntrace_set(msg, RVT_NTRACE_F_HREPEAT, any_bits(16));
	rvt_ntrace_set(msg, RVT_NTRACE_F_PROCESS, any_bits(30));
	rvt_ntrace_set(msg, RVT_NTRACE_F_BCNT, any_bits(18));
	if (params->timestamp != RVT_TIMESTAMP_NONE && any() % 8)
		rvt_ntrace_set(msg, RVT_NTRACE_F_TSTAMP, any_bits(any() % 8 ? 20 : 63));
	else
		msg->present &= ~(1u << RVT_NTRACE_F_TSTAMP);
}

static void setup_stream(struct stream *st, unsigned int number, bool damaged)
{
	uint8_t bytes[MAX_STREAM];
	size_t len = 0;

	random_state = 0x9e3779b97f4a7c15ull * (number + 1);
	rvt_params_init(&st->params, RVT_PROTOCOL_NTRACE, RVT_DIALECT_NTRACE_1_0);
	st->params.src_bits = any() % 2 ? 0 : any() % 13;
	st->params.timestamp = any() % 2 ? RVT_TIMESTAMP_NONE : RVT_TIMESTAMP_XOR;
	while (len < MAX_STREAM - 2 * RVT_NTRACE_MAX_MESSAGE_BYTES && any() % 200) {
		struct rvt_ntrace_msg msg;
		int n;

		random_message(&st->params, &msg);
		n = rvt_ntrace_write(&msg, st->params.src_bits, bytes + len);
		assert_true(n > 0);
		len += n;
		if (any() % 30 == 0)
			bytes[len++] = 0xff;
	}
	for (unsigned int i = 0; damaged && len && i < 1 + number % 8; i++)
		flip_bit(bytes, len);
	/* the last message is cut */
	len -= len ? any() % (len < 20 ? len : 20) : 0;
	st->bytes = malloc(len ? len : 1);
	assert_non_null(st->bytes);
	memcpy(st->bytes, bytes, len);
	st->len = len;
}

static void begin_reader(const struct stream *st, struct rvt_ntrace_reader *reader)
{
	assert_int_equal(rvt_ntrace_reader_init(reader, &st->params), 0);
	rvt_ntrace_reader_lost(reader, true);
	rvt_ntrace_reader_feed(reader, st->bytes, st->len, 0);
}

/* All that is said of @m is so: the reader, which is there, reads it as @msg. */
static void check_message(const struct stream *st, const struct rvt_ntrace_scanned *m,
			  const struct rvt_ntrace_msg *msg)
{
	const bool stamped = rvt_ntrace_has(msg, RVT_NTRACE_F_TSTAMP);
	uint8_t bytes[RVT_NTRACE_KEY_BYTES] = {};

	assert_ptr_equal(m->pos, st->bytes + msg->offset);
	assert_int_equal(m->len, msg->len_bytes);
	assert_int_equal(m->len != m->key_len, stamped);
	assert_int_equal(m->stamp, stamped ? msg->field[RVT_NTRACE_F_TSTAMP] : 0);
	assert_int_equal(rvt_ntrace_scanned_tcode(m), msg->field[RVT_NTRACE_F_TCODE]);
	/* One field ends before the time stamp, if there is one. */
	assert_int_equal(m->pos[m->key_len - 1] & 3, stamped ? 1 : 3);
	memcpy(bytes, m->pos, m->key_len);
	assert_memory_equal(m->bytes, bytes, sizeof(m->bytes));
	assert_int_equal(m->rest >> RVT_NTRACE_REST_SHIFT, bytes[sizeof(m->bytes)]);
}

static bool can_be_step(const struct rvt_ntrace_msg *msg, const uint8_t *bytes)
{
	const unsigned int tcode = msg->field[RVT_NTRACE_F_TCODE];
	unsigned int key_len = msg->len_bytes;

	if (rvt_ntrace_has(msg, RVT_NTRACE_F_TSTAMP))
		while ((bytes[--key_len - 1] & 3) != 1)
			;
	return key_len <= RVT_NTRACE_KEY_BYTES && msg->len_bytes - key_len <= 8 &&
	       (tcode == RVT_NTRACE_DIRECT_BRANCH || tcode == RVT_NTRACE_INDIRECT_BRANCH ||
		tcode == RVT_NTRACE_INDIRECT_BRANCH_HIST || tcode == RVT_NTRACE_RESOURCE_FULL);
}

/* The rest is compared with what steps were made of; a time stamp must be one in any case. */
static void check_stamp(const struct rvt_ntrace_scanned *m)
{
	for (unsigned int i = m->key_len; i + 1u < m->len; i++)
		assert_int_equal(m->pos[i] & 3, 0);
	assert_int_equal(m->pos[m->len - 1] & 3, 3);
}

/* From where the reader is. Returns how many were scanned. */
static unsigned int check_from(const struct stream *st, struct rvt_ntrace_reader reader, bool v3)
{
	struct rvt_ntrace_scan scan;
	struct rvt_ntrace_msg msg;
	unsigned int n = 0;

	rvt_ntrace_scan_init(&scan, &reader);
	scan.v3 &= v3;
	rvt_ntrace_scan_begin(&scan, reader.pos);
	rvt_ntrace_scan(&scan, &reader, st->bytes + st->len, NULL);
	assert_true(scan.ended || scan.n >= RVT_NTRACE_SCANNED);
	for (unsigned int i = 0; i < scan.n; i++)
		check_stamp(&scan.msgs[i]);
	for (; n < scan.n && rvt_ntrace_reader_next(&reader, &msg) == RVT_NTRACE_READ_MESSAGE; n++)
		check_message(st, &scan.msgs[n], &msg);
	/* Where the reader reads no message no step was ever made of what was scanned. */
	if (n == scan.n && scan.n < RVT_NTRACE_SCANNED &&
	    rvt_ntrace_reader_next(&reader, &msg) == RVT_NTRACE_READ_MESSAGE &&
	    st->bytes + msg.offset == scan.pos)
		assert_false(can_be_step(&msg, scan.pos));
	return scan.n;
}

/*
 * The same for messages in groups: those of a group are as one by one, and more could not be in it.
 * Returns how many groups have several.
 */
static unsigned int check_groups_from(const struct stream *st, struct rvt_ntrace_reader reader,
				      bool v3)
{
	struct rvt_ntrace_scan scan;
	struct rvt_ntrace_msg msg;
	unsigned int groups = 0;

	rvt_ntrace_scan_init(&scan, &reader);
	scan.v3 &= v3;
	scan.groups = true;
	rvt_ntrace_scan_begin(&scan, reader.pos);
	rvt_ntrace_scan(&scan, &reader, st->bytes + st->len, NULL);
	assert_true(scan.ended || scan.n >= RVT_NTRACE_SCANNED);
	for (unsigned int i = 0; i < scan.n; i++) {
		const struct rvt_ntrace_scanned *m = &scan.msgs[i];
		unsigned int len = 0, direct = 0;
		uint8_t bytes[16] = {};

		assert_true(m->n);
		if (m->n == 1) {
			if (rvt_ntrace_reader_next(&reader, &msg) != RVT_NTRACE_READ_MESSAGE)
				return groups;
			check_message(st, m, &msg);
			assert_int_equal(m->direct,
					 msg.field[RVT_NTRACE_F_TCODE] == RVT_NTRACE_DIRECT_BRANCH);
			continue;
		}
		groups++;
		for (unsigned int k = 0; k < m->n; k++) {
			/* What the reader does not read has no memo. */
			if (rvt_ntrace_reader_next(&reader, &msg) != RVT_NTRACE_READ_MESSAGE)
				return groups;
			assert_ptr_equal(m->pos + len, st->bytes + msg.offset);
			assert_true(msg.field[RVT_NTRACE_F_TCODE] == RVT_NTRACE_DIRECT_BRANCH ||
				    msg.field[RVT_NTRACE_F_TCODE] == RVT_NTRACE_INDIRECT_BRANCH);
			direct += msg.field[RVT_NTRACE_F_TCODE] == RVT_NTRACE_DIRECT_BRANCH;
			len += msg.len_bytes;
		}
		assert_true(m->direct ? direct == m->n :
			    msg.field[RVT_NTRACE_F_TCODE] == RVT_NTRACE_INDIRECT_BRANCH);
		assert_int_equal(m->len, len);
		assert_int_equal(m->key_len, len);
		assert_int_equal(m->stamp, 0);
		assert_int_equal(m->rest, 0);
		memcpy(bytes, m->pos, len);
		assert_memory_equal(m->bytes, bytes, sizeof(bytes));
	}
	return groups;
}

static void check_groups(bool damaged, bool v3)
{
	unsigned int groups = 0;

	for (unsigned int i = 0; i < STREAMS; i++) {
		struct rvt_ntrace_reader reader;
		struct rvt_ntrace_msg msg;
		struct stream st;

		setup_stream(&st, i, damaged);
		if (!st.params.src_bits && st.params.timestamp == RVT_TIMESTAMP_NONE) {
			begin_reader(&st, &reader);
			do
				groups += check_groups_from(&st, reader, v3);
			while (rvt_ntrace_reader_next(&reader, &msg) != RVT_NTRACE_READ_MORE);
		}
		free(st.bytes);
	}
	assert_true(groups > STREAMS);
}

static void test_groups(void **state)
{
	(void)state;
	check_groups(false, false);
	check_groups(false, true);
	check_groups(true, false);
	check_groups(true, true);
}

static unsigned int check_stream(const struct stream *st, bool v3)
{
	struct rvt_ntrace_reader reader;
	struct rvt_ntrace_msg msg;
	unsigned int n = 0;

	begin_reader(st, &reader);
	do
		n += check_from(st, reader, v3);
	while (rvt_ntrace_reader_next(&reader, &msg) != RVT_NTRACE_READ_MORE);
	return n;
}

static void check_streams(bool damaged, bool v3)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < STREAMS; i++) {
		struct stream st;

		setup_stream(&st, i, damaged);
		n += check_stream(&st, v3);
		free(st.bytes);
	}
	assert_true(n > 100 * STREAMS);
}

static void test_plain(void **state)
{
	(void)state;
	check_streams(false, false);
}

static void test_v3(void **state)
{
	(void)state;
	check_streams(false, true);
}

static void test_damage(void **state)
{
	(void)state;
	check_streams(true, false);
	check_streams(true, true);
}

/* What was taken goes, but for the last one, and more comes behind the rest. */
static void test_goes_on(void **state)
{
	enum { MESSAGES = 200, TAKEN = 50 };
	struct rvt_ntrace_scan scan;
	struct rvt_ntrace_reader reader;
	struct stream st = { .len = 0 };
	unsigned int begins[MESSAGES];

	(void)state;
	rvt_params_init(&st.params, RVT_PROTOCOL_NTRACE, RVT_DIALECT_NTRACE_1_0);
	st.bytes = malloc(MESSAGES * RVT_NTRACE_MAX_MESSAGE_BYTES);
	assert_non_null(st.bytes);
	for (unsigned int i = 0; i < MESSAGES; i++) {
		struct rvt_ntrace_msg msg;

		rvt_ntrace_begin(&msg, RVT_NTRACE_DIRECT_BRANCH);
		rvt_ntrace_set(&msg, RVT_NTRACE_F_ICNT, i * i);
		begins[i] = st.len;
		st.len += rvt_ntrace_write(&msg, 0, st.bytes + st.len);
	}
	begin_reader(&st, &reader);
	rvt_ntrace_scan_init(&scan, &reader);
	rvt_ntrace_scan_begin(&scan, st.bytes);
	rvt_ntrace_scan(&scan, &reader, st.bytes + st.len, NULL);
	assert_true(scan.n >= RVT_NTRACE_SCANNED &&
		    scan.n <= sizeof(scan.msgs) / sizeof(scan.msgs[0]));
	scan.at = TAKEN;
	rvt_ntrace_scan(&scan, &reader, st.bytes + st.len, NULL);
	assert_int_equal(scan.at, 1);
	assert_true(scan.n >= RVT_NTRACE_SCANNED &&
		    scan.n <= sizeof(scan.msgs) / sizeof(scan.msgs[0]));
	for (unsigned int i = 0; i < scan.n; i++)
		assert_ptr_equal(scan.msgs[i].pos, st.bytes + begins[TAKEN - 1 + i]);
	free(st.bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_plain),
		cmocka_unit_test(test_v3),
		cmocka_unit_test(test_damage),
		cmocka_unit_test(test_groups),
		cmocka_unit_test(test_goes_on),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
