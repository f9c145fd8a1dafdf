// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * E-Trace data packets as bits, and what accesses they mean. Expected bytes are worked out by hand
 * from the tables of the specifications; the arithmetic is beside them. Bit 0 of each payload is
 * the type, 1.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <etrace/data.h>

#define MAX_ACCESSES 8

static struct rvt_etrace_codec codec;
static struct rvt_etrace_data data;
static struct rvt_access accesses[MAX_ACCESSES];
static unsigned int n_accesses;

static int keep(void *ctx, const struct rvt_access *access)
{
	(void)ctx;
	assert_true(n_accesses < MAX_ACCESSES);
	accesses[n_accesses++] = *access;
	return 0;
}

static void begin(enum rvt_dialect dialect, const char *text)
{
	struct rvt_params params;
	char *error;

	rvt_params_init(&params, RVT_PROTOCOL_ETRACE, dialect);
	params.iaddress_width_p = 64;
	params.data_width_p = 64;
	params.type_bits = 1;
	params.type_data = 1;
	if (rvt_params_parse(&params, "TEST", text, strlen(text), &error))
		fail_msg("%s", error);
	assert_int_equal(rvt_etrace_codec_init(&codec, &params), 0);
	rvt_etrace_data_fini(&data);
	memset(&data, 0, sizeof(data));
	n_accesses = 0;
}

static void expect_write(const struct rvt_etrace_msg *msg, const char *bytes, size_t len)
{
	uint8_t out[RVT_ETRACE_MAX_FRAME_BYTES];

	assert_int_equal(rvt_etrace_write(&codec, msg, out, NULL), len);
	assert_memory_equal(out, bytes, len);
}

/* Reads a packet, writes it again, and takes what it means. Returns what is wrong with it. */
static const char *take_packet(enum rvt_etrace_kind kind, const char *bytes, size_t len)
{
	struct rvt_etrace_msg msg;
	const char *wrong;

	memset(&msg, 0xa5, sizeof(msg));
	wrong = rvt_etrace_parse(&codec, (const uint8_t *)bytes, len, &msg);
	if (wrong)
		return wrong;
	assert_int_equal(msg.kind, kind);
	expect_write(&msg, bytes, len);
	msg.offset = 0x100;
	assert_int_equal(rvt_etrace_data_packet(&data, &codec, &msg, keep, NULL, &wrong), 0);
	return wrong;
}

#define TAKE(kind, bytes) \
	assert_null(take_packet(RVT_ETRACE_DATA_##kind, bytes, sizeof(bytes) - 1))

/* The last of so many accesses. */
static const struct rvt_access *last(unsigned int n)
{
	assert_int_equal(n_accesses, n);
	assert_int_equal(accesses[n - 1].offset, 0x100);
	return &accesses[n - 1];
}

static void expect(unsigned int n, enum rvt_access_kind kind, unsigned int bytes, uint64_t address,
		   uint64_t value)
{
	const struct rvt_access *a = last(n);

	assert_int_equal(a->kind, kind);
	assert_int_equal(a->bytes, bytes);
	assert_true(a->address_valid);
	assert_int_equal(a->address, address);
	assert_true(a->value_valid);
	assert_int_equal(a->value, value);
}

/* Format has 2 bits; fields: format @1, size @3, diff @5, data_len @7, data, address */
static void test_unified(void **state)
{
	(void)state;
	begin(RVT_DIALECT_ETRACE_2_0, "");
	/* load aligned, size 3, full: 3 << 3; data_len 0 has 3 bits; 5 << 10; 0x1000 >> 3 << 18 */
	TAKE(ACCESS, "\x04\x19\x14\x00\x08");
	expect(1, RVT_ACCESS_LOAD, 8, 0x1000, 5);
	/*
	 * store unaligned, 3 << 1; size 2, 2 << 3; data_len 0 has 2 bits; 0xfe << 9; 0x1ffe << 17
	 */
	TAKE(ACCESS, "\x04\x17\xfc\xfd\x3f");
	expect(2, RVT_ACCESS_STORE, 4, 0x1ffe, 0xfffffffe);
	/* diff 1: the address of the last 8 bytes + 2 << 3, its value ^ 2 */
	TAKE(ACCESS, "\x03\x39\x08\x08");
	expect(3, RVT_ACCESS_LOAD, 8, 0x1010, 7);
	/* diff 3: address - 2 << 3, value - 3: 0xfd << 10, all ones from bit 19 on */
	TAKE(ACCESS, "\x03\x79\xf4\xfb");
	expect(4, RVT_ACCESS_LOAD, 8, 0x1000, 4);
	/* diff 2: address + 1 << 3, value in full, 9: 1 | 3 << 3 | 2 << 5 | 9 << 10 | 1 << 18 */
	TAKE(ACCESS, "\x03\x59\x24\x04");
	expect(5, RVT_ACCESS_LOAD, 8, 0x1008, 9);
	assert_int_equal(data.n_accesses, 5);
	assert_int_equal(data.n_lost, 0);
}

/* An address with its top bit set is as long as its difference from the sign. */
static void test_high_address(void **state)
{
	(void)state;
	begin(RVT_DIALECT_ETRACE_2_0, "");
	/*
	 * load aligned of 1 byte at 0xffffffffffffffff, value 0x7f: 1 | 0 << 3 | 0x7f << 7
	 * (data_len has no bits), all ones from bit 15 on: 0x3f81, and bit 15 and up: 0xbf81
	 */
	TAKE(ACCESS, "\x02\x81\xbf");
	expect(1, RVT_ACCESS_LOAD, 1, UINT64_MAX, 0x7f);
	/* address of 39 bits, as of Sv39: sign-extended */
	begin(RVT_DIALECT_ETRACE_2_0, "daddress_width_p = 39\n");
	TAKE(ACCESS, "\x02\x81\xbf");
	expect(1, RVT_ACCESS_LOAD, 1, UINT64_MAX, 0x7f);
}

static void test_one_only(void **state)
{
	const struct rvt_access *a;

	(void)state;
	/* without values diff has 1 bit: store aligned, 2 << 1; size 0; 0x80 << 6 */
	begin(RVT_DIALECT_ETRACE_2_0, "options = data_no_value\n");
	TAKE(ACCESS, "\x02\x05\x20");
	a = last(1);
	assert_true(a->address_valid && !a->value_valid);
	assert_int_equal(a->kind, RVT_ACCESS_STORE);
	assert_int_equal(a->address, 0x80);
	/* difference -1: diff 1 << 5, all ones from bit 6 on */
	TAKE(ACCESS, "\x01\xe5");
	assert_int_equal(last(2)->address, 0x7f);
	/* without addresses: size 2 << 3, diff 0, 0x1234 << 7 */
	begin(RVT_DIALECT_ETRACE_2_0, "options = data_no_address\n");
	TAKE(ACCESS, "\x03\x11\x1a\x09");
	a = last(1);
	assert_true(!a->address_valid && a->value_valid);
	assert_int_equal(a->value, 0x1234);
	/* diff 1: ^ 4; diff 3: -4, all ones from bit 9 on; diff 2 is reserved */
	TAKE(ACCESS, "\x02\x31\x02");
	assert_int_equal(last(2)->value, 0x1230);
	TAKE(ACCESS, "\x01\x71");
	assert_int_equal(last(3)->value, 0x1230);
	TAKE(ACCESS, "\x02\x71\xfe");
	assert_int_equal(last(4)->value, 0x122c);
	assert_string_equal(take_packet(RVT_ETRACE_DATA_ACCESS, "\x01\x51", 2),
			    "reserved value of diff");
	/* one bit of diff: 1 << 5 is what the encoder offers; 4 << 6 */
	begin(RVT_DIALECT_ETRACE_2_0, "options = data_no_address\ndata_compression = xor\n");
	TAKE(ACCESS, "\x02\x11\x03");
	assert_int_equal(last(1)->value, 0xc);
	TAKE(ACCESS, "\x02\x31\x01");
	assert_int_equal(last(2)->value, 8);
	begin(RVT_DIALECT_ETRACE_2_0, "options = data_no_address\ndata_compression = difference\n");
	TAKE(ACCESS, "\x02\x11\x03");
	TAKE(ACCESS, "\x02\x31\x01");
	assert_int_equal(last(2)->value, 0x10);
}

/* Format has 3 bits; request: size @4, lrid @6, diff @8, address @9; data: resp @8, data @10 */
static void test_split(void **state)
{
	const struct rvt_access *a;

	(void)state;
	begin(RVT_DIALECT_ETRACE_2_0, "lrid_width_p = 2\ndtype_width_p = 4\n");
	/* two requests, 3 << 4, lrid 2 and 1, at 0x1000 and, 1 << 8, 8 above */
	TAKE(SPLIT_LOAD, "\x03\xb1\x00\x04");
	TAKE(SPLIT_LOAD, "\x02\x71\x03");
	assert_int_equal(n_accesses, 0);
	/* data of lrid 1: format 4 << 1, size, resp 2 << 8, 9 << 10 */
	TAKE(RESPONSE, "\x02\x79\x26");
	expect(1, RVT_ACCESS_LOAD, 8, 0x1008, 9);
	/* of lrid 2: resp 1 << 8: 9 ^ 1 */
	TAKE(RESPONSE, "\x02\xb9\x05");
	expect(2, RVT_ACCESS_LOAD, 8, 0x1000, 8);
	/* an error has no data, and its top bit is that of resp */
	TAKE(SPLIT_LOAD, "\x03\xb1\x00\x04");
	TAKE(RESPONSE, "\x02\xb9\x00");
	a = last(3);
	assert_true(a->error && !a->value_valid && a->address_valid);
	assert_int_equal(data.n_lost, 0);
	/* data that nobody asked for; a request that gets none before its number comes again */
	TAKE(RESPONSE, "\x02\xb9\x26");
	assert_true(!last(4)->address_valid && last(4)->value_valid);
	TAKE(SPLIT_LOAD, "\x03\xb1\x00\x04");
	TAKE(SPLIT_LOAD, "\x03\xb1\x00\x02");
	assert_true(last(5)->address_valid && !last(5)->value_valid);
	assert_int_equal(data.n_lost, 2);
	/* and one that gets none at all */
	assert_int_equal(rvt_etrace_data_lose(&data, &codec, keep, NULL), 0);
	assert_true(last(6)->address_valid && !last(6)->value_valid);
	assert_int_equal(last(6)->address, 0x800);
	assert_int_equal(data.n_lost, 3);
	/*
	 * stores are not split: format 2 << 1, size 3 << 4, diff 0, data_len 3 bits, 1 << 11, 2 <<
	 * 19
	 */
	TAKE(ACCESS, "\x03\x35\x08\x10");
	expect(7, RVT_ACCESS_STORE, 8, 0x10, 1);
}

static void test_atomic(void **state)
{
	const struct rvt_access *a;

	(void)state;
	begin(RVT_DIALECT_ETRACE_2_0, "dtype_width_p = 4\n");
	/*
	 * format 6 << 1, add 1 << 4, size 2 << 7, diff 0, op_len 0 of 2 bits, 1 << 13, data_len 0,
	 * 7 << 23, 0x2000 >> 2 << 31
	 */
	TAKE(ATOMIC, "\x06\x1d\x21\x80\x03\x00\x04");
	expect(1, RVT_ACCESS_ATOMIC, 4, 0x2000, 7);
	a = last(1);
	assert_int_equal(a->operation, RVT_ACCESS_ADD);
	assert_true(a->operand_valid);
	assert_int_equal(a->operand, 1);
	/* diff 1 << 9: the operand is in full all the same; value ^ 1: 1 << 23; address + 0 */
	TAKE(ATOMIC, "\x04\x1d\x23\x80\x00");
	expect(2, RVT_ACCESS_ATOMIC, 4, 0x2000, 6);
	assert_int_equal(last(2)->operand, 1);
	/* a failed store-conditional, with addresses only: 7 << 4, size 3 << 7, diff 0, 4 << 10 */
	begin(RVT_DIALECT_ETRACE_2_0, "dtype_width_p = 4\noptions = data_no_value\n");
	TAKE(ATOMIC, "\x02\xfd\x11");
	assert_int_equal(last(1)->operation, RVT_ACCESS_SC_FAILURE);
	assert_int_equal(last(1)->address, 0x20);
	/*
	 * without addresses the data is last: swap, size 2 << 7, diff @9, op_len @11, 1 << 13, 3 <<
	 * 21
	 */
	begin(RVT_DIALECT_ETRACE_2_0, "dtype_width_p = 4\noptions = data_no_address\n");
	TAKE(ATOMIC, "\x03\x0d\x21\x60");
	a = last(1);
	assert_true(!a->address_valid && a->value_valid);
	assert_int_equal(a->value, 3);
	assert_int_equal(a->operand, 1);
}

static void test_split_atomic(void **state)
{
	const struct rvt_access *a;

	(void)state;
	begin(RVT_DIALECT_ETRACE_2_0, "dtype_width_p = 4\nlrid_width_p = 2\n");
	/* or 3 << 4, size 2 << 7, lrid 1 << 9, diff 0, op_len 0 @13, 6 << 15, 0x800 << 23 */
	TAKE(SPLIT_ATOMIC, "\x05\x3d\x03\x03\x00\x04");
	/* format 7 << 1, lrid 1 << 4, resp 2 << 6, data_len 0 of 2 bits, 9 << 10 */
	TAKE(ATOMIC_RESPONSE, "\x02\x9f\x24");
	expect(1, RVT_ACCESS_ATOMIC, 4, 0x2000, 9);
	a = last(1);
	assert_int_equal(a->operation, RVT_ACCESS_OR);
	assert_int_equal(a->operand, 6);
	/* the operand of a request is a difference, as its table says: diff 1 << 11: 6 ^ 1 */
	TAKE(SPLIT_ATOMIC, "\x03\x3d\x8b\x00");
	assert_int_equal(rvt_etrace_data_lose(&data, &codec, keep, NULL), 0);
	assert_int_equal(accesses[1].operand, 7);
	assert_int_equal(accesses[1].address, 0x2000);
	/* data that nobody asked for cannot be read to its end */
	TAKE(ATOMIC_RESPONSE, "\x02\x9f\x00");
	assert_true(!last(3)->value_valid && !last(3)->address_valid);
}

static void test_csr(void **state)
{
	const struct rvt_access *a;

	(void)state;
	begin(RVT_DIALECT_ETRACE_2_0, "dtype_width_p = 4\n");
	/*
	 * format 5 << 1, set 1 << 4, diff @6, data_len 0 of 3 bits @8, 0x22 << 11, csr 0x300: 0xc
	 * << 19, op_len @25, 8 << 28, 0 @36
	 */
	TAKE(CSR, "\x05\x1b\x10\x61\x80\x00");
	expect(1, RVT_ACCESS_CSR, 8, 0x300, 0x22);
	a = last(1);
	assert_int_equal(a->operation, RVT_ACCESS_CSR_SET);
	assert_true(a->operand_valid);
	assert_int_equal(a->operand, 8);
	/* 0xc00 is read-only, and has no operand: 0x30 << 19, 0 @25 */
	TAKE(CSR, "\x04\x1b\x10\x81\x01");
	expect(2, RVT_ACCESS_CSR, 8, 0xc00, 0x22);
	assert_false(last(2)->operand_valid);
	/* with CSRs of 32 bits lengths have 2: data @10, 0xc << 18, op_len @24, 8 << 26, 0 @34 */
	begin(RVT_DIALECT_ETRACE_2_0, "xlen = 32\ndtype_width_p = 4\ndata_width_p = 32\n");
	TAKE(CSR, "\x04\x1b\x88\x30\x20");
	expect(1, RVT_ACCESS_CSR, 4, 0x300, 0x22);
	assert_int_equal(last(1)->operand, 8);
	/* numbers only: write, diff @6, 0xc << 7, 5 << 13 */
	begin(RVT_DIALECT_ETRACE_2_0, "dtype_width_p = 4\noptions = data_no_value\n");
	TAKE(CSR, "\x03\x0b\xa6\x00");
	a = last(1);
	assert_int_equal(a->address, 0x305);
	assert_int_equal(a->operation, RVT_ACCESS_CSR_WRITE);
}

static void test_multi_access(void **state)
{
	const struct rvt_access *a;

	(void)state;
	begin(RVT_DIALECT_ETRACE_2_0_5, "dtype_width_p = 4\noptions = multi_access\n");
	/*
	 * format 1 << 1, store aligned 2 << 3, size 3 << 5, diff 0, data_len @9, 1 << 12, 0x600 <<
	 * 20
	 */
	TAKE(ACCESS, "\x04\x73\x10\x00\x60");
	expect(1, RVT_ACCESS_STORE, 8, 0x3000, 1);
	assert_true(last(1)->multiple);
	/* a compare-and-swap that failed: format 2 << 1, 7 << 3, size 2 << 7, op_len @11, 3 << 13,
	 * 0x800 << 21 */
	TAKE(CAS_FAILURE, "\x05\x3d\x61\x00\x00\x01");
	a = last(2);
	assert_int_equal(a->operation, RVT_ACCESS_CAS_FAILURE);
	assert_int_equal(a->address, 0x2000);
	assert_int_equal(a->operand, 3);
	assert_false(a->value_valid || a->multiple);
	/* max, 13 << 3: operands are differences: diff 1 << 9, 3 ^ 1; nothing is known of values */
	TAKE(ATOMIC, "\x04\x6d\x23\x80\x03");
	a = last(3);
	assert_int_equal(a->operation, RVT_ACCESS_MAX);
	assert_true(a->operand_valid && !a->value_valid);
	assert_int_equal(a->operand, 2);
	/* CSR: format 2 << 1, clear 6 << 3, diff @7, data_len @9, 0x22 << 12, 0xc << 20, 8 << 29 */
	TAKE(CSR, "\x05\x35\x20\xc2\x00\x01");
	expect(4, RVT_ACCESS_CSR, 8, 0x300, 0x22);
	assert_int_equal(last(4)->operation, RVT_ACCESS_CSR_CLEAR);
	assert_int_equal(last(4)->operand, 8);
	/*
	 * loads and stores only: no format at all: store aligned 2 << 1, size 3 << 3, 1 << 10, 8 <<
	 * 18
	 */
	begin(RVT_DIALECT_ETRACE_2_0_5, "dtype_width_p = 1\noptions = multi_access\n");
	TAKE(ACCESS, "\x03\x1d\x04\x20");
	expect(1, RVT_ACCESS_STORE, 8, 0x40, 1);
	/* one bit: 1 << 1 is of several */
	begin(RVT_DIALECT_ETRACE_2_0_5, "dtype_width_p = 2\noptions = multi_access\n");
	TAKE(ACCESS, "\x03\x3b\x08\x40");
	expect(1, RVT_ACCESS_STORE, 8, 0x40, 1);
	assert_true(last(1)->multiple);
}

/* A support packet of 2.0.5 says what data packets look like. */
static void test_support(void **state)
{
	struct rvt_etrace_msg msg = { .kind = RVT_ETRACE_SYNC_SUPPORT };

	(void)state;
	begin(RVT_DIALECT_ETRACE_2_0_5, "dtype_width_p = 4\n");
	rvt_etrace_codec_describe(&codec, &msg);
	rvt_etrace_set(&msg, RVT_ETRACE_F_MMACAS_EXT, 1);
	rvt_etrace_set(&msg, RVT_ETRACE_F_NODATA, 1);
	assert_int_equal(rvt_etrace_codec_support(&codec, &msg), 0);
	/* format 0, store aligned 2 << 3, size 3 << 5, diff 0, 8 << 8 */
	TAKE(ACCESS, "\x02\x71\x08");
	assert_int_equal(last(1)->address, 0x40);
	/* neither addresses nor values */
	rvt_etrace_set(&msg, RVT_ETRACE_F_NOADDR, 1);
	assert_int_equal(rvt_etrace_codec_support(&codec, &msg), -EINVAL);
	/* 2.0: doptions, as the parameter says */
	begin(RVT_DIALECT_ETRACE_2_0, "doptions = -, data_no_value\n");
	msg = (struct rvt_etrace_msg){ .kind = RVT_ETRACE_SYNC_SUPPORT };
	rvt_etrace_codec_describe(&codec, &msg);
	rvt_etrace_set(&msg, RVT_ETRACE_F_DOPTIONS, 2);
	/* 2 bits of format, type 0: 11, 11, ienable 0, mode 0, qual 0, denable 0, dloss 0, 2 << 11,
	 * the last bit */
	expect_write(&msg, "\x02\x1e\xf0", 3);
	assert_int_equal(rvt_etrace_codec_support(&codec, &msg), 0);
	TAKE(ACCESS, "\x02\x05\x20");
	assert_int_equal(last(1)->address, 0x80);
}

/* What a difference is from must be known. */
static void test_bases(void **state)
{
	const struct rvt_access *a;

	(void)state;
	begin(RVT_DIALECT_ETRACE_2_0, "");
	TAKE(ACCESS, "\x04\x19\x14\x00\x08");
	rvt_etrace_data_sync(&data);
	/* diff 1: neither is known */
	TAKE(ACCESS, "\x03\x39\x08\x08");
	a = last(2);
	assert_false(a->address_valid || a->value_valid);
	assert_int_equal(data.n_lost, 1);
	/* diff 2: the value is; from then on differences of values */
	TAKE(ACCESS, "\x03\x59\x24\x04");
	a = last(3);
	assert_true(!a->address_valid && a->value_valid && a->value == 9);
	TAKE(ACCESS, "\x03\x39\x08\x08");
	a = last(4);
	assert_true(!a->address_valid && a->value_valid && a->value == 11);
	assert_int_equal(data.n_lost, 3);
	/* full */
	TAKE(ACCESS, "\x04\x19\x14\x00\x08");
	expect(5, RVT_ACCESS_LOAD, 8, 0x1000, 5);
}

static void test_bad(void **state)
{
	struct rvt_params params;

	(void)state;
	begin(RVT_DIALECT_ETRACE_2_0, "data_width_p = 32\n");
	/* size 3 with 2 bits of size, but a bus of 4 bytes */
	assert_string_equal(take_packet(RVT_ETRACE_DATA_ACCESS, "\x04\x19\x14\x00\x08", 5),
			    "access wider than data_width_p");
	begin(RVT_DIALECT_ETRACE_2_0, "dtype_width_p = 4\n");
	/* atomic of subtype 7 with values; CSR of subtype 3 */
	assert_string_equal(take_packet(RVT_ETRACE_DATA_ATOMIC, "\x02\x7d\x00", 3),
			    "no data packet of this dialect and options");
	assert_string_equal(take_packet(RVT_ETRACE_DATA_CSR, "\x02\x3b\x00", 3),
			    "no data packet of this dialect and options");
	/* a request without address: 1 byte behind it is none of its fields */
	begin(RVT_DIALECT_ETRACE_2_0, "daddress_width_p = 8\n");
	assert_string_equal(take_packet(RVT_ETRACE_DATA_ACCESS, "\x04\x19\x14\x00\x08", 5),
			    "packet is longer than its fields");
	params = codec.params;
	params.data_width_p = 24;
	assert_int_equal(rvt_etrace_codec_init(&codec, &params), -EINVAL);
	params.data_width_p = 64;
	params.type_data = params.type_instruction;
	assert_int_equal(rvt_etrace_codec_init(&codec, &params), -EINVAL);
}

/* ---- any field, any parameters ---- */

static uint64_t random_bits(unsigned int bits)
{
	uint64_t value = (uint64_t)random() << 42 ^ (uint64_t)random() << 21 ^ (uint64_t)random();

	return (random() & 1 ? value : value >> random() % 64) & rvt_etrace_mask(bits);
}

static unsigned int bits_of(const struct rvt_etrace_use *use, const struct rvt_etrace_msg *msg)
{
	switch (use->width) {
	case RVT_ETRACE_W_LEN:
		return msg->field[RVT_ETRACE_F_SIZE];
	case RVT_ETRACE_W_DATA:
		return 8 * (msg->field[RVT_ETRACE_F_DATA_LEN] + 1);
	case RVT_ETRACE_W_OPERAND:
		return 8 * (msg->field[RVT_ETRACE_F_OP_LEN] + 1);
	default:
		return use->width;
	}
}

static void fill(const struct rvt_etrace_layout *layout, struct rvt_etrace_msg *msg)
{
	unsigned int max_size = __builtin_ctz(codec.params.data_width_p / 8);

	*msg = (struct rvt_etrace_msg){ .kind = layout->kind };
	msg->field[RVT_ETRACE_F_SIZE] = random() % (max_size + 1);
	for (unsigned int i = 0; i < layout->n; i++) {
		const struct rvt_etrace_use *use = &layout->uses[i];
		uint64_t value;

		do
			value = use->field == RVT_ETRACE_F_SIZE ? msg->field[use->field] :
				random_bits(bits_of(use, msg));
		while (use->match && (value > 31 || !(use->match >> value & 1)));
		rvt_etrace_set(msg, use->field, value);
	}
	if (layout->kind == RVT_ETRACE_DATA_ATOMIC_RESPONSE)
		codec.request_size[msg->field[RVT_ETRACE_F_LRID]] =
			msg->field[RVT_ETRACE_F_SIZE] + 1;
}

/* A split load and a unified one differ by what the encoder can do, not by their formats. */
static bool is_hidden(const struct rvt_etrace_msg *msg, bool split)
{
	unsigned int transaction = msg->field[codec.params.options & RVT_OPT_MULTI_ACCESS ?
					      RVT_ETRACE_F_SUBFORMAT : RVT_ETRACE_F_FORMAT];

	return split && msg->kind == RVT_ETRACE_DATA_ACCESS && !(transaction & 2);
}

static void round_trip(const struct rvt_etrace_layout *layout, bool split)
{
	uint8_t bytes[RVT_ETRACE_MAX_FRAME_BYTES];
	struct rvt_etrace_msg in, out;
	const char *error;
	int len;

	fill(layout, &in);
	if (is_hidden(&in, split))
		return;
	in.src = random_bits(codec.params.srcid_bits);
	len = rvt_etrace_write(&codec, &in, bytes, NULL);
	assert_true(len > 0);
	error = rvt_etrace_parse(&codec, bytes, len, &out);
	if (error)
		fail_msg("kind %u: %s", in.kind, error);
	assert_int_equal(out.kind, in.kind);
	assert_int_equal(out.src, in.src);
	for (unsigned int f = 0; f < RVT_ETRACE_FIELDS; f++)
		if (rvt_etrace_has(&out, f))
			assert_int_equal(out.field[f], in.field[f]);
}

static void test_round_trip(void **state)
{
	static const unsigned int nothing[] = {
		0, 0, RVT_OPT_DATA_NO_ADDRESS, RVT_OPT_DATA_NO_VALUE,
	};
	unsigned int kinds = 0;

	(void)state;
	srandom(3);
	for (unsigned int round = 0; round < 3000; round++) {
		struct rvt_params params;
		bool split = false;

		rvt_params_init(&params, RVT_PROTOCOL_ETRACE,
				RVT_DIALECT_ETRACE_2_0 + random() % 2);
		params.xlen = random() & 1 ? 32 : 64;
		params.iaddress_width_p = params.xlen;
		params.data_width_p = 8u << random() % 4;
		params.daddress_width_p = random() & 1 ? 0 : 8 + random() % 57;
		params.lrid_width_p = random() & 1 ? 0 : random() % 9;
		params.dtype_width_p = random() % 5;
		params.srcid_bits = random() % 17;
		params.type_bits = 1 + random() % 3;
		params.type_data = 1;
		params.data_compression = random() % 3;
		params.options = nothing[random() % 4];
		if (params.dialect == RVT_DIALECT_ETRACE_2_0_5 && random() & 1)
			params.options |= RVT_OPT_MULTI_ACCESS;
		assert_int_equal(rvt_etrace_codec_init(&codec, &params), 0);
		for (unsigned int i = 0; i < codec.n_data; i++)
			split |= codec.layouts[codec.n_layouts + i].kind ==
				 RVT_ETRACE_DATA_SPLIT_LOAD;
		for (unsigned int i = 0; i < codec.n_data; i++) {
			const struct rvt_etrace_layout *layout =
				&codec.layouts[codec.n_layouts + i];

			kinds |= 1u << layout->kind;
			round_trip(layout, split);
		}
	}
	for (unsigned int kind = RVT_ETRACE_DATA_ACCESS; kind < RVT_ETRACE_KINDS; kind++)
		assert_true(kinds >> kind & 1);
}

/* Any bytes are read without harm, and what is read can be taken. */
static void test_any_bytes(void **state)
{
	(void)state;
	srandom(4);
	for (unsigned int round = 0; round < 20000; round++) {
		static const char *const texts[] = {
			"dtype_width_p = 4\n", "dtype_width_p = 4\nlrid_width_p = 3\n",
			"dtype_width_p = 4\noptions = multi_access\n",
			"dtype_width_p = 4\nlrid_width_p = 3\noptions = data_no_address\n",
		};
		uint8_t bytes[RVT_ETRACE_MAX_LENGTH + 1];
		struct rvt_etrace_msg msg;
		const char *wrong;
		unsigned int len = 2 + random() % RVT_ETRACE_MAX_LENGTH;

		if (!(round % 1000))
			begin(round & 1000 ? RVT_DIALECT_ETRACE_2_0 : RVT_DIALECT_ETRACE_2_0_5,
			      texts[round / 1000 % 4]);
		for (unsigned int i = 0; i < len; i++)
			bytes[i] = random();
		bytes[0] = len - 1;
		bytes[1] |= 1;
		if (rvt_etrace_parse(&codec, bytes, len, &msg))
			continue;
		n_accesses = 0;
		assert_int_equal(rvt_etrace_data_packet(&data, &codec, &msg, keep, NULL, &wrong),
				 0);
	}
	assert_true(data.n_accesses > 100);
}

static int end(void **state)
{
	(void)state;
	rvt_etrace_data_fini(&data);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_unified),
		cmocka_unit_test(test_high_address),
		cmocka_unit_test(test_one_only),
		cmocka_unit_test(test_split),
		cmocka_unit_test(test_atomic),
		cmocka_unit_test(test_split_atomic),
		cmocka_unit_test(test_csr),
		cmocka_unit_test(test_multi_access),
		cmocka_unit_test(test_support),
		cmocka_unit_test(test_bases),
		cmocka_unit_test(test_bad),
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_any_bytes),
	};

	return cmocka_run_group_tests_name("etrace data packets", tests, NULL, end);
}
