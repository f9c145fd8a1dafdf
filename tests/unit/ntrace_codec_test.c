// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * N-Trace messages: table, reader, writer, assembler. Expected bytes and fields are derived by hand
 * from chapters 3, 6, 7 and 8 of the specification; several are its own examples.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "model/ntrace/assemble.h"
#include "ntrace/message.h"

#define F(name) RVT_NTRACE_F_##name

static struct rvt_params plain(void)
{
	return (struct rvt_params){
		.protocol = RVT_PROTOCOL_NTRACE, .dialect = RVT_DIALECT_NTRACE_1_0, .xlen = 64,
	};
}

static struct rvt_ntrace_reader *new_reader(const struct rvt_params *params, bool boundary)
{
	struct rvt_ntrace_reader *reader = malloc(sizeof(*reader));

	assert_non_null(reader);
	assert_int_equal(rvt_ntrace_reader_init(reader, params), 0);
	rvt_ntrace_reader_lost(reader, boundary);
	return reader;
}

/* Reads one message that is all of @bytes. The bytes are at the end of their allocation. */
static struct rvt_ntrace_msg read_one(const struct rvt_params *params, const void *bytes,
				      size_t len)
{
	struct rvt_ntrace_reader *reader = new_reader(params, true);
	struct rvt_ntrace_msg msg = { 0 }, none;
	uint8_t *copy = malloc(len);

	memcpy(copy, bytes, len);
	rvt_ntrace_reader_feed(reader, copy, len, 100);
	assert_int_equal(rvt_ntrace_reader_next(reader, &msg), RVT_NTRACE_READ_MESSAGE);
	assert_int_equal(msg.offset, 100);
	assert_int_equal(msg.len_bytes, len);
	assert_int_equal(rvt_ntrace_reader_next(reader, &none), RVT_NTRACE_READ_MORE);
	assert_false(rvt_ntrace_reader_finish(reader));
	free(copy);
	free(reader);
	return msg;
}

#define READ(params, ...) \
	read_one(params, (const uint8_t[]){ __VA_ARGS__ }, sizeof((uint8_t[]){ __VA_ARGS__ }))

/* The first thing in @bytes is damage @what of @damaged bytes, then follow @messages. */
static void check_damage(const struct rvt_params *params, const uint8_t *bytes, size_t len,
			 const char *what, uint64_t damaged, unsigned int messages)
{
	struct rvt_ntrace_reader *reader = new_reader(params, true);
	struct rvt_ntrace_msg msg;

	rvt_ntrace_reader_feed(reader, bytes, len, 0);
	assert_int_equal(rvt_ntrace_reader_next(reader, &msg), RVT_NTRACE_READ_DAMAGE);
	assert_string_equal(reader->damage.what, what);
	assert_int_equal(reader->damage.offset, 0);
	assert_int_equal(reader->damage.len_bytes, damaged);
	assert_int_equal(reader->skipped_bytes, damaged);
	while (messages--)
		assert_int_equal(rvt_ntrace_reader_next(reader, &msg), RVT_NTRACE_READ_MESSAGE);
	assert_int_equal(rvt_ntrace_reader_next(reader, &msg), RVT_NTRACE_READ_MORE);
	assert_false(rvt_ntrace_reader_finish(reader));
	free(reader);
}

#define DAMAGE(params, what, damaged, messages, ...) \
	check_damage(params, (const uint8_t[]){ __VA_ARGS__ }, \
		     sizeof((uint8_t[]){ __VA_ARGS__ }), what, damaged, messages)

/* "Fields in Messages", both revisions */
static void test_table(void **state)
{
	static const struct {
		unsigned int tcode;
		const char *fields;
	} rows[] = {
		{ 2, "PROCESS" },
		{ 3, "I-CNT" },
		{ 4, "B-TYPE:2 I-CNT U-ADDR" },
		{ 8, "ETYPE:4 ECODE" },
		{ 9, "SYNC:4 I-CNT F-ADDR" },
		{ 11, "SYNC:4 I-CNT F-ADDR" },
		{ 12, "SYNC:4 B-TYPE:2 I-CNT F-ADDR" },
		{ 27, "RCODE:4 RDATA HREPEAT" },
		{ 28, "B-TYPE:2 I-CNT U-ADDR HIST" },
		{ 29, "SYNC:4 B-TYPE:2 I-CNT F-ADDR HIST" },
		{ 30, "B-CNT" },
		{ 33, "EVCODE:4 CDF:2 I-CNT HIST CDATA1 CDATA2 CDATA3" },
		/* SiFive */
		{ 7, "IDTAG DQDATA" },
		{ 23, "ADDR DATA" },
		{ 34, "CKSRC:4 CKDF:2 CKDATA0 CKDATA1" },
		{ 35, "SYNC:4 CKSRC:4 CKDF:2 CKDATA0 CKDATA1" },
		/* CTTE */
		{ 56, "B-CNT" },
		{ 57, "B-TYPE:2 I-CNT JIDX HIST" },
		{ 58, "CFGVER:4 CAPS ENAB PARAM0 PARAM1 PARAM2 PARAM3" },
		{ 5, "DSZ:4 ELSZ:3 ADDR DATA" },
		{ 6, "DSZ:4 ELSZ:3 ADDR DATA" },
		{ 13, "DSZ:4 ELSZ:3 ADDR DATA" },
		{ 14, "DSZ:4 ELSZ:3 ADDR DATA" },
	};
	const enum rvt_dialect standard = RVT_DIALECT_NTRACE_1_0;
	unsigned int known = 0, of_sifive = 0, of_ctte = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const struct rvt_ntrace_format *format = rvt_ntrace_format(rows[i].tcode);
		char fields[100] = "";

		assert_non_null(format);
		for (const struct rvt_ntrace_use *use = format->uses;
		     use->field != RVT_NTRACE_FIELDS; use++) {
			char *end = fields + strlen(fields);

			sprintf(end, "%s%s", *fields ? " " : "",
				rvt_ntrace_fields[use->field].name);
			if (use->bits)
				sprintf(end + strlen(end), ":%u", use->bits);
		}
		assert_string_equal(fields, rows[i].fields);
	}
	for (unsigned int tcode = 0; tcode < 64; tcode++) {
		known += rvt_ntrace_kind(standard, tcode) == RVT_NTRACE_STANDARD;
		of_sifive += rvt_ntrace_kind(RVT_DIALECT_NTRACE_SIFIVE, tcode) ==
			     RVT_NTRACE_STANDARD;
		of_ctte += rvt_ntrace_kind(RVT_DIALECT_NTRACE_CTTE, tcode) == RVT_NTRACE_STANDARD;
		assert_int_equal(rvt_ntrace_kind(standard, tcode) == RVT_NTRACE_VENDOR,
				 tcode >= 56 && tcode <= 62);
	}
	assert_int_equal(known, 12);
	assert_int_equal(of_sifive, 16);
	assert_int_equal(of_ctte, 19);
	assert_string_equal(rvt_ntrace_name(standard, 29), "IndirectBranchHistSync");
	assert_string_equal(rvt_ntrace_name(standard, 57), "Vendor");
	assert_string_equal(rvt_ntrace_name(standard, 63), "Reserved");
	assert_string_equal(rvt_ntrace_name(standard, 7), "Reserved");
	assert_string_equal(rvt_ntrace_name(RVT_DIALECT_NTRACE_SIFIVE, 7), "DataAcquisition");
}

/* Chapter 3.5: its bytes, and 0xff as the last byte followed by idle */
static void test_spec_message(void **state)
{
	static const uint8_t bytes[] = { 0xff, 0x70, 0xd0, 0x1d, 0x1d, 0xf8, 0xff, 0xff };
	struct rvt_params params = plain();
	struct rvt_ntrace_reader *reader = new_reader(&params, true);
	struct rvt_ntrace_msg msg;

	(void)state;
	rvt_ntrace_reader_feed(reader, bytes, sizeof(bytes), 0);
	assert_int_equal(rvt_ntrace_reader_next(reader, &msg), RVT_NTRACE_READ_MESSAGE);
	assert_int_equal(msg.offset, 1);
	assert_int_equal(msg.len_bytes, 6);
	assert_ptr_equal(reader->bytes, bytes + 1);
	assert_int_equal(msg.present, 1u << F(TCODE) | 1u << F(BTYPE) | 1u << F(ICNT) |
			 1u << F(UADDR) | 1u << F(HIST));
	assert_int_equal(msg.field[F(TCODE)], 28);
	assert_int_equal(msg.field[F(BTYPE)], 0);
	assert_int_equal(msg.field[F(ICNT)], 0x7d);
	assert_int_equal(msg.bits[F(ICNT)], 10);
	assert_int_equal(msg.field[F(UADDR)], 7);
	assert_int_equal(msg.bits[F(UADDR)], 6);
	assert_int_equal(msg.field[F(HIST)], 0xffe);
	assert_int_equal(msg.bits[F(HIST)], 12);
	assert_int_equal(rvt_ntrace_reader_next(reader, &msg), RVT_NTRACE_READ_MORE);
	assert_int_equal(reader->idle_bytes, 2);
	free(reader);
}

static uint64_t address_of(const struct rvt_ntrace_msg *msg, unsigned int xlen, bool extend_msb)
{
	const struct rvt_params params = {
		.xlen = xlen, .options = extend_msb ? RVT_OPT_EXTEND_ADDRESS_MSB : 0,
	};

	return rvt_ntrace_full_addr(&params, msg);
}

/* Chapter 8.2.1 (1.0: 9.2.1). The field begins behind an I-CNT of its own byte. */
static void test_msb_extension(void **state)
{
	static const struct {
		uint8_t mdo[11];
		unsigned int len;
		uint64_t field, address, plain_address;
	} examples[] = {
		{ { 63, 63, 63, 63, 63, 31 }, 6, 0x7ffffffff, 0xffffffffe, 0xffffffffe },
		{ { 63, 63, 63, 63, 31, 60 }, 6, 0xf1fffffff, 0xfffffffe3ffffffe, 0x1e3ffffffe },
		{ { 63, 63, 63, 63, 63, 63, 0 }, 7, 0xfffffffff, 0x1ffffffffe, 0x1ffffffffe },
		{ { 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 5 }, 11, 0x5fffffffffffffff,
		  0xbffffffffffffffe, 0xbffffffffffffffe },
	};
	struct rvt_params params = plain();

	(void)state;
	for (size_t i = 0; i < sizeof(examples) / sizeof(*examples); i++) {
		/* ProgTraceSync SYNC=5 I-CNT=0: MDO 9; 5 and I-CNT 0 in the bits above */
		uint8_t bytes[2 + 11] = { 9 << 2, 5 << 2 | 1 };
		unsigned int len = examples[i].len;
		struct rvt_ntrace_msg msg;

		for (unsigned int b = 0; b < len; b++)
			bytes[2 + b] = examples[i].mdo[b] << 2;
		bytes[2 + len - 1] |= 3;
		msg = read_one(&params, bytes, 2 + len);
		assert_int_equal(msg.field[F(SYNC)], 5);
		assert_true(msg.field[F(FADDR)] == examples[i].field);
		assert_true(address_of(&msg, 64, true) == examples[i].address);
		assert_true(address_of(&msg, 64, false) ==
			    examples[i].plain_address);
	}
	/* XLEN 32: extended to bit 31, not further */
	{
		struct rvt_ntrace_msg msg = READ(&params, 9 << 2, 5 << 2 | 1, 40 << 2 | 3);

		assert_true(address_of(&msg, 32, true) == 0xffffffd0);
		assert_true(address_of(&msg, 64, true) == 0xffffffffffffffd0);
	}
	/* bits beyond 62 that repeat the top bit are no overflow; others are */
	{
		uint8_t bytes[13] = { 9 << 2, 5 << 2 | 1 };
		struct rvt_ntrace_msg msg;

		bytes[2 + 9] = 60 << 2;
		bytes[2 + 10] = 63 << 2 | 3;
		msg = read_one(&params, bytes, 13);
		assert_true(address_of(&msg, 64, true) == UINT64_C(0xfe) << 56);
		bytes[2 + 10] = 15 << 2 | 3;
		check_damage(&params, bytes, 13, "a field is larger than its maximum", 13, 0);
	}
}

static void check_write(struct rvt_ntrace_msg *msg, unsigned int src_bits, const uint8_t *expected,
			size_t len)
{
	uint8_t bytes[RVT_NTRACE_MAX_MESSAGE_BYTES];

	assert_int_equal(rvt_ntrace_write(msg, src_bits, bytes), len);
	assert_memory_equal(bytes, expected, len);
}

static void test_write(void **state)
{
	struct rvt_ntrace_msg msg = { 0 };

	(void)state;
	/* RCODE=1 with one HIST bit: 6+4 bits, then 0b11 in what is left of the second byte */
	msg.field[F(TCODE)] = 27;
	msg.field[F(RCODE)] = 1;
	msg.field[F(RDATA)] = 3;
	check_write(&msg, 0, (uint8_t[]){ 27 << 2, (1 | 3 << 4) << 2 | 3 }, 2);
	/* SRC=5 of 3 bits shifts everything: 27 | 5, 1, 3 -> 011011 101 0001 11 */
	msg.field[F(SRC)] = 5;
	check_write(&msg, 3, (uint8_t[]){ 27 << 2, (5 | 1 << 3) << 2, 6 << 2 | 3 }, 3);
	/* a zero field has one bit: I-CNT=0 needs a byte of its own when the byte before is full */
	memset(&msg, 0, sizeof(msg));
	msg.field[F(TCODE)] = 3;
	check_write(&msg, 0, (uint8_t[]){ 3 << 2, 0 << 2 | 3 }, 2);
	/* TSTAMP is one more field */
	msg.present = 1u << F(TSTAMP);
	msg.field[F(TSTAMP)] = 64;
	check_write(&msg, 0, (uint8_t[]){ 3 << 2, 0 << 2 | 1, 0 << 2, 1 << 2 | 3 }, 4);
	/* more bits than the value needs */
	msg.present = 0;
	msg.bits[F(ICNT)] = 7;
	check_write(&msg, 0, (uint8_t[]){ 3 << 2, 0, 0 << 2 | 3 }, 3);
	/* reserved TCODE; a message that cannot end within the maximum */
	msg.bits[F(ICNT)] = 255;
	msg.bits[F(TSTAMP)] = 255;
	msg.present = 1u << F(TSTAMP);
	assert_int_equal(rvt_ntrace_write(&msg, 0, (uint8_t[64]){ 0 }), -EINVAL);
	msg.field[F(TCODE)] = 10;
	assert_int_equal(rvt_ntrace_write(&msg, 0, (uint8_t[64]){ 0 }), -EINVAL);
}

static void test_conditional_fields(void **state)
{
	struct rvt_params params = plain();
	struct rvt_ntrace_msg msg;

	(void)state;
	msg = READ(&params, 27 << 2, (2 | 1 << 4) << 2, 1 << 2 | 1, 9 << 2 | 3);
	assert_int_equal(msg.field[F(RDATA)], 5);
	assert_int_equal(msg.field[F(HREPEAT)], 9);
	msg = READ(&params, 27 << 2, (0 | 1 << 4) << 2, 1 << 2 | 3);
	assert_int_equal(msg.field[F(RDATA)], 5);
	assert_false(rvt_ntrace_has(&msg, F(HREPEAT)));
	/* CDF: EVCODE=4 CDF=1 fill the second byte */
	msg = READ(&params, 33 << 2, (4 | 1 << 4) << 2, 7 << 2 | 1, 1 << 2 | 3);
	assert_int_equal(msg.field[F(ICNT)], 7);
	assert_int_equal(msg.field[F(HIST)], 1);
	msg = READ(&params, 33 << 2, (4 | 0 << 4) << 2, 7 << 2 | 3);
	assert_false(rvt_ntrace_has(&msg, F(HIST)));
	/* the one more field is the timestamp, wherever it is */
	params.timestamp = RVT_TIMESTAMP_DELTA;
	msg = READ(&params, 33 << 2, (4 | 0 << 4) << 2, 7 << 2 | 1, 1 << 2 | 3);
	assert_false(rvt_ntrace_has(&msg, F(HIST)));
	assert_int_equal(msg.field[F(TSTAMP)], 1);
	msg = READ(&params, 27 << 2, (2 | 1 << 4) << 2, 1 << 2 | 1, 9 << 2 | 3);
	assert_false(rvt_ntrace_has(&msg, F(TSTAMP)));
	msg = READ(&params, 27 << 2, (2 | 1 << 4) << 2, 1 << 2 | 1, 9 << 2 | 1, 8 << 2 | 3);
	assert_int_equal(msg.field[F(TSTAMP)], 8);
	/* reserved RCODE: the number of fields is not known, RDATA is */
	msg = READ(&params, 27 << 2, (8 | 1 << 4) << 2, 1 << 2 | 3);
	assert_int_equal(msg.field[F(RDATA)], 5);
}

static void test_opaque(void **state)
{
	struct rvt_params params = plain();
	struct rvt_ntrace_msg msg;

	(void)state;
	msg = READ(&params, 56 << 2, 1, 2 << 2, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 3);
	assert_int_equal(msg.field[F(TCODE)], 56);
	assert_int_equal(msg.present, 1u << F(TCODE));
	msg = READ(&params, 5 << 2, 3);
	assert_int_equal(msg.field[F(TCODE)], 5);
	params.src_bits = 7;
	msg = READ(&params, 60 << 2, 9 << 2, 1 << 2 | 3);
	assert_int_equal(msg.field[F(SRC)], 0x49);
	DAMAGE(&params, "message ends inside SRC", 2, 1, 60 << 2, 3, 60 << 2, 0, 3);
}

static void test_non_minimal(void **state)
{
	struct rvt_params params = plain();
	struct rvt_ntrace_msg msg;

	(void)state;
	msg = READ(&params, 3 << 2, 5 << 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
		   3);
	assert_int_equal(msg.field[F(ICNT)], 5);
	assert_int_equal(msg.bits[F(ICNT)], 20 * 6);
}

static void test_damage(void **state)
{
	struct rvt_params params = plain();
	uint8_t zeros[200] = { 0 };

	(void)state;
	DAMAGE(&params, "reserved MSEO value 2", 3, 1, 3 << 2, 2, 3, 3 << 2, 3);
	DAMAGE(&params, "reserved MSEO value 2", 4, 1, 28 << 2, 1, 6, 3, 3 << 2, 3);
	DAMAGE(&params, "first byte of a message with MSEO not 0", 1, 1, 7, 3 << 2, 3);
	DAMAGE(&params, "first byte of a message with MSEO not 0", 3, 1, 9, 4, 3, 3 << 2, 3);
	DAMAGE(&params, "message ends before its last field", 2, 1, 4 << 2, 3, 3 << 2, 3);
	DAMAGE(&params, "message ends before its last field", 3, 0, 28 << 2, 1, 7);
	DAMAGE(&params, "message has more fields than its table", 3, 1, 3 << 2, 1, 3, 3 << 2, 3);
	/* the end of the message is found behind the error */
	DAMAGE(&params, "message has more fields than its table", 5, 1,
	       3 << 2, 1, 1, 0, 3, 3 << 2, 3);
	/* CDF 2: two fields behind I-CNT, neither less nor more */
	DAMAGE(&params, "message ends before its last field", 4, 0, 33 << 2, 2 << 6, 1, 3);
	DAMAGE(&params, "message has more fields than its table", 6, 0,
	       33 << 2, 2 << 6, 1, 1, 1, 3);
	DAMAGE(&params, "HIST without stop bit", 4, 0, 28 << 2, 1, 1, 3);
	DAMAGE(&params, "HIST without stop bit", 2, 0, 27 << 2, 1 << 2 | 3);
	/* limits: I-CNT 22 bits, RDATA of RCODE 1 32 bits */
	DAMAGE(&params, "a field is larger than its maximum", 5, 0, 3 << 2, 0, 0, 0, 16 << 2 | 3);
	DAMAGE(&params, "a field is larger than its maximum", 8, 0,
	       27 << 2, 1 << 2, 0, 0, 0, 0, 0, 4 | 3);
	DAMAGE(&params, "a field is larger than its maximum", 6, 0,
	       30 << 2, 0, 0, 0, 1 << 2, 3);
	zeros[0] = 28 << 2;
	zeros[150] = 3;
	zeros[151] = 3 << 2;
	zeros[152] = 3;
	check_damage(&params, zeros, 153, "message does not end", 151, 1);
	params.timestamp = RVT_TIMESTAMP_DELTA;
	DAMAGE(&params, "message has more fields than its table", 4, 0, 3 << 2, 1, 1, 3);
	/* 66 bits of timestamp whose top bits are set */
	DAMAGE(&params, "a field is larger than its maximum", 13, 0, 3 << 2, 1,
	       0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 16 << 2 | 3);
}

/* "message ends before its last field": exactly full fixed fields and nothing variable */
static void test_empty_variable_field(void **state)
{
	struct rvt_params params = plain();

	(void)state;
	params.src_bits = 2;
	/* 6 + 2 + 4 bits of Error end with the second byte; ECODE is always sent */
	DAMAGE(&params, "a variable-length field has no bits", 2, 0, 8 << 2, 3);
	(void)READ(&params, 8 << 2, 0, 3);
}

/* rc7 does not limit HREPEAT and B-CNT */
static void test_rc7_limits(void **state)
{
	struct rvt_params params = plain();
	struct rvt_ntrace_msg msg;

	(void)state;
	params.dialect = RVT_DIALECT_NTRACE_RC7;
	msg = READ(&params, 30 << 2, 0, 0, 0, 1 << 2 | 3);
	assert_int_equal(msg.field[F(BCNT)], 1 << 18);
}

static void test_ends(void **state)
{
	static const uint8_t partial[] = { 3 << 2, 3, 28 << 2, 1, 1 };
	struct rvt_params params = plain();
	struct rvt_ntrace_reader *reader = new_reader(&params, true);
	struct rvt_ntrace_msg msg;

	(void)state;
	rvt_ntrace_reader_feed(reader, NULL, 0, 0);
	assert_int_equal(rvt_ntrace_reader_next(reader, &msg), RVT_NTRACE_READ_MORE);
	assert_false(rvt_ntrace_reader_finish(reader));
	/* cut in a message */
	rvt_ntrace_reader_lost(reader, true);
	rvt_ntrace_reader_feed(reader, partial, sizeof(partial), 10);
	assert_int_equal(rvt_ntrace_reader_next(reader, &msg), RVT_NTRACE_READ_MESSAGE);
	assert_int_equal(rvt_ntrace_reader_next(reader, &msg), RVT_NTRACE_READ_MORE);
	assert_true(rvt_ntrace_reader_finish(reader));
	assert_int_equal(reader->damage.offset, 12);
	assert_int_equal(reader->damage.len_bytes, 3);
	assert_string_equal(reader->damage.what, "data ends inside a message");
	assert_int_equal(reader->skipped_bytes, 3);
	/* lost() forgets the partial message and says how long it was */
	rvt_ntrace_reader_lost(reader, true);
	rvt_ntrace_reader_feed(reader, partial + 2, 3, 0);
	assert_int_equal(rvt_ntrace_reader_next(reader, &msg), RVT_NTRACE_READ_MORE);
	assert_int_equal(rvt_ntrace_reader_lost(reader, true), 3);
	rvt_ntrace_reader_feed(reader, partial, 2, 0);
	assert_int_equal(rvt_ntrace_reader_next(reader, &msg), RVT_NTRACE_READ_MESSAGE);
	free(reader);
	params.src_bits = 13;
	reader = malloc(sizeof(*reader));
	assert_int_equal(rvt_ntrace_reader_init(reader, &params), -EINVAL);
	free(reader);
}

static void check_start(const uint8_t *bytes, size_t len, uint64_t first, uint64_t skipped)
{
	struct rvt_params params = plain();
	struct rvt_ntrace_reader *reader = new_reader(&params, false);
	struct rvt_ntrace_msg msg;

	rvt_ntrace_reader_feed(reader, bytes, len, 0);
	assert_int_equal(rvt_ntrace_reader_next(reader, &msg), RVT_NTRACE_READ_MESSAGE);
	assert_int_equal(msg.offset, first);
	assert_int_equal(reader->skipped_bytes, skipped);
	while (rvt_ntrace_reader_next(reader, &msg) != RVT_NTRACE_READ_MORE)
		;
	assert_false(rvt_ntrace_reader_finish(reader));
	free(reader);
}

/* Data that may begin inside a message: nothing is invented, and nothing is called damage */
static void test_unknown_start(void **state)
{
	(void)state;
	/* ends of a message, whatever they look like, are skipped */
	check_start((uint8_t[]){ 3 << 2, 3, 3 << 2, 3 }, 4, 2, 2);
	check_start((uint8_t[]){ 1, 3, 3 << 2, 3 }, 4, 2, 2);
	check_start((uint8_t[]){ 3, 3 << 2, 3 }, 3, 1, 1);
	/* a whole start of trace counts */
	check_start((uint8_t[]){ 9 << 2, 5 << 2 | 1, 4 | 3, 3 << 2, 3 }, 5, 0, 0);
	check_start((uint8_t[]){ 33 << 2, 4 << 2, 3, 3 << 2, 3 }, 5, 0, 0);
	/* a sync with I-CNT could be the tail of a longer one */
	check_start((uint8_t[]){ 9 << 2, 37 << 2 | 1, 4 | 3, 3 << 2, 3 }, 5, 3, 3);
	/* behind 0xff there is a message, be it idle or the end of one */
	check_start((uint8_t[]){ 0xff, 3 << 2, 3 }, 3, 1, 0);
}

/* ---- random messages ---- */

static uint64_t seed = 1;

static uint64_t random64(void)
{
	/* xorshift64* */
	seed ^= seed >> 12;
	seed ^= seed << 25;
	seed ^= seed >> 27;
	return seed * UINT64_C(0x2545f4914f6cdd1d);
}

static unsigned int below(unsigned int n)
{
	return random64() >> 33 & 0x7fffffff ? (random64() >> 33) % n : 0;
}

static uint64_t random_value(unsigned int max_bits)
{
	unsigned int bits = 1 + below(max_bits);

	return random64() >> (64 - bits);
}

static const struct rvt_ntrace_format *random_format(enum rvt_dialect dialect)
{
	const struct rvt_ntrace_format *format;

	do
		format = &rvt_ntrace_formats[below(RVT_NTRACE_FORMATS)];
	while (!rvt_ntrace_format_of(dialect, format->tcode));
	return format;
}

static struct rvt_ntrace_msg random_message(const struct rvt_params *params)
{
	static const uint8_t sifive_rcodes[] = { 0, 1, 8, 9 };
	const struct rvt_ntrace_format *format = random_format(params->dialect);
	struct rvt_ntrace_msg msg = { .present = 1u << F(TCODE) };

	msg.field[F(TCODE)] = format->tcode;
	if (params->src_bits) {
		msg.present |= 1u << F(SRC);
		msg.field[F(SRC)] = random_value(params->src_bits);
	}
	for (const struct rvt_ntrace_use *use = format->uses; use->field != RVT_NTRACE_FIELDS;
	     use++) {
		unsigned int bits = use->bits ? use->bits :
						rvt_ntrace_fields[use->field].max_bits[1];
		uint64_t value = random_value(bits);

		if (use->field == F(RCODE))
			value = params->dialect == RVT_DIALECT_NTRACE_SIFIVE ?
				sifive_rcodes[value % 4] : value % 3;
		if (use->field == F(CKDF))
			value %= 2;
		if (use->field == F(RDATA))
			value = random_value(msg.field[F(RCODE)] ? 32 : 22);
		if (use->field == F(HIST) || use->field == F(RDATA))
			value += !value;
		if (use->when == RVT_NTRACE_WHEN_RCODE_2 && msg.field[F(RCODE)] != 2)
			continue;
		if ((use->when == RVT_NTRACE_WHEN_CDF_1 && msg.field[F(CDF)] != 1) ||
		    (use->when == RVT_NTRACE_WHEN_CDF_2_3 && msg.field[F(CDF)] < 2) ||
		    (use->when == RVT_NTRACE_WHEN_CDF_3 && msg.field[F(CDF)] != 3))
			continue;
		if (use->when == RVT_NTRACE_WHEN_CKDF_1 && !msg.field[F(CKDF)])
			continue;
		msg.field[use->field] = value;
		msg.present |= UINT64_C(1) << use->field;
	}
	if (params->timestamp != RVT_TIMESTAMP_NONE && below(4)) {
		msg.present |= 1u << F(TSTAMP);
		msg.field[F(TSTAMP)] = random_value(64);
	}
	return msg;
}

#define ROUND_MESSAGES 300

static void check_round(const struct rvt_params *params)
{
	static struct rvt_ntrace_msg sent[ROUND_MESSAGES];
	static uint8_t bytes[ROUND_MESSAGES * (RVT_NTRACE_MAX_MESSAGE_BYTES + 3)];
	struct rvt_ntrace_reader *reader = new_reader(params, true);
	size_t len = 0, idle = 0, n = 0;
	struct rvt_ntrace_msg msg;

	for (size_t i = 0; i < ROUND_MESSAGES; i++) {
		int ret;

		sent[i] = random_message(params);
		for (unsigned int k = below(3); k; k--, idle++)
			bytes[len++] = 0xff;
		sent[i].offset = len;
		ret = rvt_ntrace_write(&sent[i], params->src_bits, bytes + len);
		/* 38 and an SRC; fields of a reserved CDF may be as long as they like; 58 has 7 */
		assert_true(ret > 0 && (ret <= 39 || sent[i].field[F(CDF)] > 1 ||
					sent[i].field[F(TCODE)] == RVT_NTRACE_CONFIGURATION));
		sent[i].len_bytes = ret;
		len += ret;
	}
	for (size_t pos = 0; pos < len; ) {
		size_t piece = 1 + below(below(2) ? 8 : 300);
		uint8_t *copy;

		if (piece > len - pos)
			piece = len - pos;
		copy = malloc(piece);
		memcpy(copy, bytes + pos, piece);
		rvt_ntrace_reader_feed(reader, copy, piece, pos);
		while (rvt_ntrace_reader_next(reader, &msg) == RVT_NTRACE_READ_MESSAGE) {
			assert_true(n < ROUND_MESSAGES);
			assert_int_equal(msg.offset, sent[n].offset);
			assert_int_equal(msg.len_bytes, sent[n].len_bytes);
			assert_memory_equal(reader->bytes, bytes + msg.offset, msg.len_bytes);
			assert_int_equal(msg.present, sent[n].present);
			for (unsigned int f = 0; f < RVT_NTRACE_FIELDS; f++)
				if (msg.present >> f & 1)
					assert_true(msg.field[f] == sent[n].field[f]);
			n++;
		}
		free(copy);
		pos += piece;
	}
	assert_int_equal(n, ROUND_MESSAGES);
	assert_int_equal(reader->idle_bytes, idle);
	assert_int_equal(reader->skipped_bytes, 0);
	assert_false(rvt_ntrace_reader_finish(reader));
	free(reader);
}

static void test_round_trip(void **state)
{
	struct rvt_params params = plain();

	(void)state;
	for (params.src_bits = 0; params.src_bits <= 12; params.src_bits++) {
		for (int time = 0; time < 2; time++) {
			params.timestamp = time ? RVT_TIMESTAMP_DELTA : RVT_TIMESTAMP_NONE;
			params.dialect = RVT_DIALECT_NTRACE_1_0;
			check_round(&params);
			params.dialect = RVT_DIALECT_NTRACE_SIFIVE;
			check_round(&params);
			params.dialect = RVT_DIALECT_NTRACE_CTTE;
			check_round(&params);
		}
	}
}

/* Whatever the bytes are: each is part of one message, idle, or skipped; pieces do not matter */
static void check_noise(const struct rvt_params *params, const uint8_t *bytes, size_t len,
			size_t max_piece, uint64_t result[4])
{
	struct rvt_ntrace_reader *reader = new_reader(params, true);
	uint64_t in_messages = 0, in_damage = 0, damaged = 0, n = 0, end = 0;
	struct rvt_ntrace_msg msg;

	for (size_t pos = 0; pos < len; ) {
		size_t piece = max_piece < len - pos ? max_piece : len - pos;
		enum rvt_ntrace_read read;
		uint8_t *copy = malloc(piece);

		memcpy(copy, bytes + pos, piece);
		rvt_ntrace_reader_feed(reader, copy, piece, pos);
		while ((read = rvt_ntrace_reader_next(reader, &msg)) != RVT_NTRACE_READ_MORE) {
			if (read == RVT_NTRACE_READ_MESSAGE) {
				assert_true(msg.offset >= end);
				end = msg.offset + msg.len_bytes;
				in_messages += msg.len_bytes;
				n++;
			} else {
				assert_true(reader->damage.offset >= end);
				end = reader->damage.offset + reader->damage.len_bytes;
				in_damage += reader->damage.len_bytes;
				damaged++;
			}
			assert_true(end <= len);
		}
		free(copy);
		pos += piece;
	}
	if (rvt_ntrace_reader_finish(reader)) {
		in_damage += reader->damage.len_bytes;
		damaged++;
	}
	assert_int_equal(in_damage, reader->skipped_bytes);
	assert_int_equal(in_messages + reader->idle_bytes + reader->skipped_bytes, len);
	result[0] = n;
	result[1] = damaged;
	result[2] = in_damage;
	result[3] = reader->idle_bytes;
	free(reader);
}

static void test_noise(void **state)
{
	struct rvt_params params = plain();
	uint8_t bytes[3000];

	(void)state;
	for (unsigned int round = 0; round < 60; round++) {
		static const size_t pieces[] = { sizeof(bytes), 1, 7, 64, 100 };
		uint64_t first[4], again[4];

		params.src_bits = round % 13;
		params.timestamp = round % 2 ? RVT_TIMESTAMP_DELTA : RVT_TIMESTAMP_NONE;
		for (size_t i = 0; i < sizeof(bytes); i++) {
			/* round 0..19: noise, then mostly field ends, then mostly zeros */
			uint8_t byte = random64() >> 32;

			bytes[i] = round < 20 ? byte : round < 40 ? byte & ~2 :
						       byte & -(byte > 250);
		}
		check_noise(&params, bytes, sizeof(bytes), pieces[0], first);
		for (size_t i = 1; i < sizeof(pieces) / sizeof(*pieces); i++) {
			check_noise(&params, bytes, sizeof(bytes), pieces[i], again);
			assert_memory_equal(first, again, sizeof(first));
		}
	}
}

/* ---- assembler ---- */

static void check_assemble(const char *line, const uint8_t *expected, int len)
{
	struct rvt_params params = plain();
	uint8_t bytes[100];
	char error[200] = "";

	params.src_bits = 3;
	assert_int_equal(rvt_ntrace_assemble(&params, line, bytes, sizeof(bytes), error,
					     sizeof(error)), len);
	if (len > 0)
		assert_memory_equal(bytes, expected, len);
	assert_int_equal(len == -EINVAL, *error != 0);
}

static void test_assemble(void **state)
{
	struct rvt_params params = plain();
	uint8_t bytes[4];
	char error[200];

	(void)state;
	check_assemble("", NULL, 0);
	check_assemble("  # comment", NULL, 0);
	check_assemble("idle 3 # three", (uint8_t[]){ 255, 255, 255 }, 3);
	check_assemble("bytes 70 d0 1d", (uint8_t[]){ 0x70, 0xd0, 0x1d }, 3);
	/* 27, SRC 5 in 3 bits, RCODE 1, 0b11 */
	check_assemble("ResourceFull SRC=5 RCODE=1 RDATA=0b1_1",
		       (uint8_t[]){ 27 << 2, (5 | 1 << 3) << 2, 6 << 2 | 3 }, 3);
	/* 3 bits of SRC, 3 of I-CNT, then 4 bits of zero */
	check_assemble("DirectBranch I-CNT=2@7", (uint8_t[]){ 3 << 2, 2 << 5, 3 }, 3);
	check_assemble("DirectBranch I-CNT=", NULL, -EINVAL);
	check_assemble("DirectBranch I-CNT=1x", NULL, -EINVAL);
	check_assemble("DirectBranch I-CNT=0b2", NULL, -EINVAL);
	check_assemble("DirectBranch HIST=1", NULL, -EINVAL);
	check_assemble("DirectBranch SRC=8", NULL, -EINVAL);
	check_assemble("DirectBranch BAD=8", NULL, -EINVAL);
	check_assemble("ResourceFull RCODE=16", NULL, -EINVAL);
	check_assemble("Branch", NULL, -EINVAL);
	check_assemble("bytes 100", NULL, -EINVAL);
	assert_int_equal(rvt_ntrace_assemble(&params, "idle 5", bytes, 4, error, sizeof(error)),
			 -ENOSPC);
	assert_int_equal(rvt_ntrace_assemble(&params, "IndirectBranch I-CNT=0xfff U-ADDR=0xfff",
					     bytes, 4, error, sizeof(error)), -ENOSPC);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table),
		cmocka_unit_test(test_spec_message),
		cmocka_unit_test(test_msb_extension),
		cmocka_unit_test(test_write),
		cmocka_unit_test(test_conditional_fields),
		cmocka_unit_test(test_opaque),
		cmocka_unit_test(test_non_minimal),
		cmocka_unit_test(test_damage),
		cmocka_unit_test(test_empty_variable_field),
		cmocka_unit_test(test_rc7_limits),
		cmocka_unit_test(test_ends),
		cmocka_unit_test(test_unknown_start),
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_noise),
		cmocka_unit_test(test_assemble),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
