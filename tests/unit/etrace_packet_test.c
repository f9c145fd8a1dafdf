// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * E-Trace packets as bits. Expected bytes are worked out by hand from the tables of the
 * specifications; the arithmetic is beside them.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <etrace/packet.h>

static void make_codec(struct rvt_etrace_codec *codec, enum rvt_dialect dialect, const char *text)
{
	struct rvt_params params;
	char *error;

	rvt_params_init(&params, RVT_PROTOCOL_ETRACE, dialect);
	if (rvt_params_parse(&params, "TEST", text, strlen(text), &error))
		fail_msg("%s", error);
	assert_int_equal(rvt_etrace_codec_init(codec, &params), 0);
}

static void expect_write(const struct rvt_etrace_codec *codec, const struct rvt_etrace_msg *msg,
			 const char *bytes, size_t len)
{
	uint8_t out[RVT_ETRACE_MAX_FRAME_BYTES];

	assert_int_equal(rvt_etrace_write(codec, msg, out, NULL), len);
	assert_memory_equal(out, bytes, len);
}

static void parse(const struct rvt_etrace_codec *codec, struct rvt_etrace_msg *msg,
		  const char *bytes, size_t len)
{
	const char *error;

	memset(msg, 0xa5, sizeof(*msg));
	error = rvt_etrace_parse(codec, (const uint8_t *)bytes, len, msg);
	if (error)
		fail_msg("%s", error);
}

#define EXPECT_WRITE(codec, msg, bytes) expect_write(codec, msg, bytes, sizeof(bytes) - 1)
#define PARSE(codec, msg, bytes) parse(codec, msg, bytes, sizeof(bytes) - 1)

static struct rvt_etrace_msg message(enum rvt_etrace_kind kind)
{
	return (struct rvt_etrace_msg){ .kind = kind };
}

/* 2.0 defaults: address has 31 bits in units of 2 bytes. */
static void test_address(void **state)
{
	struct rvt_etrace_msg msg = message(RVT_ETRACE_ADDRESS);
	struct rvt_etrace_codec codec;

	(void)state;
	make_codec(&codec, RVT_DIALECT_ETRACE_2_0, "");
	/* 10 | 8 << 2 = 0x22; all that follows is 0 */
	rvt_etrace_set(&msg, RVT_ETRACE_F_ADDRESS, 8);
	EXPECT_WRITE(&codec, &msg, "\x01\x22");
	PARSE(&codec, &msg, "\x01\x22");
	assert_int_equal(msg.kind, RVT_ETRACE_ADDRESS);
	assert_int_equal(msg.field[RVT_ETRACE_F_ADDRESS], 8);
	assert_false(msg.notify || msg.updiscon || msg.irreport);
	/* -8: 0x7ffffff8, all ones above; notify, updiscon and irreport copy the sign */
	PARSE(&codec, &msg, "\x01\xe2");
	assert_int_equal(msg.field[RVT_ETRACE_F_ADDRESS], 0x7ffffff8);
	assert_int_equal(msg.field[RVT_ETRACE_F_NOTIFY], 1);
	assert_false(msg.notify || msg.updiscon || msg.irreport);
	EXPECT_WRITE(&codec, &msg, "\x01\xe2");
	/* notify differs from the MSB (bit 32): bits 33 and up are 1 */
	msg = message(RVT_ETRACE_ADDRESS);
	rvt_etrace_set(&msg, RVT_ETRACE_F_ADDRESS, 8);
	msg.notify = true;
	EXPECT_WRITE(&codec, &msg, "\x05\x22\x00\x00\x00\xfe");
	/* updiscon differs from notify (0): bits 34 and up are 1 */
	msg.notify = false;
	msg.updiscon = true;
	EXPECT_WRITE(&codec, &msg, "\x05\x22\x00\x00\x00\xfc");
	PARSE(&codec, &msg, "\x05\x22\x00\x00\x00\xfc");
	assert_true(!msg.notify && msg.updiscon && !msg.irreport);
	/* only irreport differs: bit 35 alone is the last (irdepth has no bits) */
	msg.updiscon = false;
	msg.irreport = true;
	EXPECT_WRITE(&codec, &msg, "\x05\x22\x00\x00\x00\xf8");
}

static void test_irdepth(void **state)
{
	struct rvt_etrace_msg msg = message(RVT_ETRACE_ADDRESS);
	struct rvt_etrace_codec codec;

	(void)state;
	/* irdepth has 3 + 1 + 0 bits; bit 35 is irreport, bits 36 to 39 are 0101 */
	make_codec(&codec, RVT_DIALECT_ETRACE_2_0, "return_stack_size_p = 3\n");
	rvt_etrace_set(&msg, RVT_ETRACE_F_ADDRESS, 8);
	rvt_etrace_set(&msg, RVT_ETRACE_F_IRDEPTH, 5);
	msg.irreport = true;
	EXPECT_WRITE(&codec, &msg, "\x05\x22\x00\x00\x00\x58");
	/* not flagged: the same bits copy updiscon and compress away */
	msg.irreport = false;
	EXPECT_WRITE(&codec, &msg, "\x01\x22");
	/* 0.029: return_stack_size_p bits: 36 to 38 are 101 and so is everything above */
	make_codec(&codec, RVT_DIALECT_ETRACE_0_029, "return_stack_size_p = 3\n");
	msg.irreport = true;
	EXPECT_WRITE(&codec, &msg, "\x05\x22\x00\x00\x00\xd8");
	PARSE(&codec, &msg, "\x05\x22\x00\x00\x00\xd8");
	assert_int_equal(rvt_etrace_ir(&msg), 5);
	/* 2.0.5: irets, bits 36 to 43 */
	make_codec(&codec, RVT_DIALECT_ETRACE_2_0_5, "return_stack_size_p = 3\n");
	msg = message(RVT_ETRACE_ADDRESS);
	rvt_etrace_set(&msg, RVT_ETRACE_F_ADDRESS, 8);
	rvt_etrace_set(&msg, RVT_ETRACE_F_IRETS, 0x81);
	msg.irreport = true;
	EXPECT_WRITE(&codec, &msg, "\x06\x22\x00\x00\x00\x18\xf8");
	PARSE(&codec, &msg, "\x06\x22\x00\x00\x00\x18\xf8");
	assert_int_equal(rvt_etrace_ir(&msg), 0x81);
}

static void test_branches(void **state)
{
	struct rvt_etrace_msg msg = message(RVT_ETRACE_BRANCH_ADDRESS);
	struct rvt_etrace_codec codec;

	(void)state;
	make_codec(&codec, RVT_DIALECT_ETRACE_2_0, "");
	/* the draft's example 4: 3 branches, map 3, difference 0x148: 01, 00011, 011, 0xa4:
	 * 1 | 3 << 2 | 3 << 7 | 0xa4 << 10 = 0x2918d */
	rvt_etrace_set(&msg, RVT_ETRACE_F_BRANCHES, 3);
	rvt_etrace_set(&msg, RVT_ETRACE_F_BRANCH_MAP, 3);
	rvt_etrace_set(&msg, RVT_ETRACE_F_ADDRESS, 0x148 >> 1);
	EXPECT_WRITE(&codec, &msg, "\x03\x8d\x91\x02");
	PARSE(&codec, &msg, "\x03\x8d\x91\x02");
	assert_int_equal(msg.kind, RVT_ETRACE_BRANCH_ADDRESS);
	assert_int_equal(msg.field[RVT_ETRACE_F_BRANCHES], 3);
	assert_int_equal(msg.field[RVT_ETRACE_F_BRANCH_MAP], 3);
	assert_int_equal(msg.field[RVT_ETRACE_F_ADDRESS], 0xa4);
	/* full map: 01, 00000, 31 bits; map 5: 1 | 5 << 7 = 0x281 */
	msg = message(RVT_ETRACE_BRANCH_MAP);
	rvt_etrace_set(&msg, RVT_ETRACE_F_BRANCH_MAP, 5);
	EXPECT_WRITE(&codec, &msg, "\x02\x81\x02");
	/* the MSB of the map is its sign: 0x7fffffff */
	PARSE(&codec, &msg, "\x01\x81");
	assert_int_equal(msg.kind, RVT_ETRACE_BRANCH_MAP);
	assert_int_equal(msg.field[RVT_ETRACE_F_BRANCH_MAP], 0x7fffffff);
	EXPECT_WRITE(&codec, &msg, "\x01\x81");
	/* 0.029: branch_fmt copies the MSB, so the bytes are the same */
	make_codec(&codec, RVT_DIALECT_ETRACE_0_029, "");
	PARSE(&codec, &msg, "\x01\x81");
	assert_int_equal(msg.kind, RVT_ETRACE_BRANCH_MAP);
	EXPECT_WRITE(&codec, &msg, "\x01\x81");
}

static void test_branch_count(void **state)
{
	struct rvt_etrace_msg msg = message(RVT_ETRACE_COUNT);
	struct rvt_etrace_codec codec;

	(void)state;
	make_codec(&codec, RVT_DIALECT_ETRACE_2_0, "options = branch_prediction\n");
	/* 00, no subformat field, 32 bits of count, 00: 9 << 2 = 0x24 */
	rvt_etrace_set(&msg, RVT_ETRACE_F_BRANCH_COUNT, 9);
	EXPECT_WRITE(&codec, &msg, "\x01\x24");
	PARSE(&codec, &msg, "\x01\x24");
	assert_int_equal(msg.kind, RVT_ETRACE_COUNT);
	assert_int_equal(msg.field[RVT_ETRACE_F_BRANCH_COUNT], 9);
	/* fmt 10 (bits 34, 35), address 8 from bit 36: 9 << 2, 8 << 4 | 8 in the fifth byte */
	msg = message(RVT_ETRACE_COUNT_ADDRESS);
	rvt_etrace_set(&msg, RVT_ETRACE_F_BRANCH_COUNT, 9);
	rvt_etrace_set(&msg, RVT_ETRACE_F_BRANCH_FMT, 2);
	rvt_etrace_set(&msg, RVT_ETRACE_F_ADDRESS, 8);
	EXPECT_WRITE(&codec, &msg, "\x06\x24\x00\x00\x00\x88\x00");
	PARSE(&codec, &msg, "\x06\x24\x00\x00\x00\x8c\x00");
	assert_int_equal(msg.field[RVT_ETRACE_F_BRANCH_FMT], 3);
	/* 01 cannot occur */
	assert_non_null(rvt_etrace_parse(&codec, (const uint8_t *)"\x06\x24\0\0\0\x84\0", 7, &msg));
	/* 0.029: in format 1: 01, 00000, 31 bits from 7, fmt 01 at 38: 9 << 7 = 0x480 | 1 */
	make_codec(&codec, RVT_DIALECT_ETRACE_0_029, "options = branch_prediction\n");
	msg = message(RVT_ETRACE_COUNT);
	rvt_etrace_set(&msg, RVT_ETRACE_F_BRANCH_COUNT, 9);
	EXPECT_WRITE(&codec, &msg, "\x05\x81\x04\x00\x00\x40");
	PARSE(&codec, &msg, "\x05\x81\x04\x00\x00\x40");
	assert_int_equal(msg.kind, RVT_ETRACE_COUNT);
	/* fmt 10, bpsuccess at 40, address -8 from 41: bits 44 and up are 1 */
	msg = message(RVT_ETRACE_COUNT_ADDRESS);
	rvt_etrace_set(&msg, RVT_ETRACE_F_BRANCH_COUNT, 9);
	rvt_etrace_set(&msg, RVT_ETRACE_F_BPSUCCESS, 1);
	rvt_etrace_set(&msg, RVT_ETRACE_F_ADDRESS, 0x7ffffff8);
	EXPECT_WRITE(&codec, &msg, "\x06\x81\x04\x00\x00\x80\xf1");
	PARSE(&codec, &msg, "\x06\x81\x04\x00\x00\x80\xf1");
	assert_int_equal(msg.kind, RVT_ETRACE_COUNT_ADDRESS);
	assert_int_equal(msg.field[RVT_ETRACE_F_ADDRESS], 0x7ffffff8);
	/* fmt 11 after a map whose MSB is 0 is none of them */
	assert_non_null(rvt_etrace_parse(&codec, (const uint8_t *)"\x06\x81\4\0\0\xc0\0", 7, &msg));
}

static void test_cache(void **state)
{
	struct rvt_etrace_msg msg = message(RVT_ETRACE_CACHE);
	struct rvt_etrace_codec codec;

	(void)state;
	make_codec(&codec, RVT_DIALECT_ETRACE_2_0,
		   "cache_size_p = 4\noptions = jump_target_cache\n");
	/* 00, index 4 bits, branches 00000: 9 << 2 */
	rvt_etrace_set(&msg, RVT_ETRACE_F_INDEX, 9);
	EXPECT_WRITE(&codec, &msg, "\x01\x24");
	PARSE(&codec, &msg, "\x01\x24");
	assert_int_equal(msg.kind, RVT_ETRACE_CACHE);
	/* with both kinds there is a subformat: 1 << 2 | 9 << 3 = 0x4c */
	make_codec(&codec, RVT_DIALECT_ETRACE_2_0, "cache_size_p = 4\nf0s_width_p = 1\n"
		   "options = jump_target_cache, branch_prediction\n");
	EXPECT_WRITE(&codec, &msg, "\x01\x4c");
	/* 2 branches, map 2: 1 << 2 | 9 << 3 | 2 << 7 | 2 << 12 = 0x214c */
	msg = message(RVT_ETRACE_CACHE_BRANCHES);
	rvt_etrace_set(&msg, RVT_ETRACE_F_INDEX, 9);
	rvt_etrace_set(&msg, RVT_ETRACE_F_BRANCHES, 2);
	rvt_etrace_set(&msg, RVT_ETRACE_F_BRANCH_MAP, 2);
	EXPECT_WRITE(&codec, &msg, "\x02\x4c\x21");
	/* 2.0.5 without branch predictor: the cache is subformat 0; with one it is 1 */
	make_codec(&codec, RVT_DIALECT_ETRACE_2_0_5, "cache_size_p = 4\nf0s_width_p = 1\n"
		   "options = jump_target_cache\n");
	EXPECT_WRITE(&codec, &msg, "\x02\x48\x21");
	make_codec(&codec, RVT_DIALECT_ETRACE_2_0_5, "cache_size_p = 4\nf0s_width_p = 1\n"
		   "bpred_size_p = 4\noptions = jump_target_cache\n");
	EXPECT_WRITE(&codec, &msg, "\x02\x4c\x21");
	/* 0.029: subformat 0 */
	make_codec(&codec, RVT_DIALECT_ETRACE_0_029, "cache_size_p = 4\nf0s_width_p = 1\n");
	EXPECT_WRITE(&codec, &msg, "\x02\x48\x21");
	/* no cache, no such packet */
	make_codec(&codec, RVT_DIALECT_ETRACE_2_0, "");
	assert_int_equal(rvt_etrace_write(&codec, &msg, (uint8_t[RVT_ETRACE_MAX_FRAME_BYTES]){},
					  NULL), -EINVAL);
}

static void test_sync(void **state)
{
	struct rvt_etrace_msg msg = message(RVT_ETRACE_SYNC_START);
	struct rvt_etrace_codec codec;

	(void)state;
	make_codec(&codec, RVT_DIALECT_ETRACE_2_0, "");
	/* 11, 00, branch 1, privilege 11, address 0x40000842 from bit 7:
	 * 3 | 1 << 4 | 3 << 5 | 0x40000842 << 7 = 0x2000042173 */
	msg.not_taken = true;
	rvt_etrace_set(&msg, RVT_ETRACE_F_PRIVILEGE, 3);
	rvt_etrace_set(&msg, RVT_ETRACE_F_ADDRESS, 0x80001084 >> 1);
	EXPECT_WRITE(&codec, &msg, "\x05\x73\x21\x04\x00\xe0");
	PARSE(&codec, &msg, "\x05\x73\x21\x04\x00\xe0");
	assert_int_equal(msg.field[RVT_ETRACE_F_ADDRESS], 0x40000842);
	assert_int_equal(msg.field[RVT_ETRACE_F_PRIVILEGE], 3);
	assert_true(msg.not_taken);
	/* 0.029 defaults: 11, 00, context 0, privilege 011, address from bit 8, branch = MSB */
	make_codec(&codec, RVT_DIALECT_ETRACE_0_029, "");
	msg = message(RVT_ETRACE_SYNC_START);
	rvt_etrace_set(&msg, RVT_ETRACE_F_PRIVILEGE, 3);
	rvt_etrace_set(&msg, RVT_ETRACE_F_ADDRESS, 0x80001084 >> 1);
	EXPECT_WRITE(&codec, &msg, "\x05\x63\x42\x08\x00\xc0");
	/* not taken: bit 39 differs from bit 38 */
	msg.not_taken = true;
	EXPECT_WRITE(&codec, &msg, "\x05\x63\x42\x08\x00\x40");
	PARSE(&codec, &msg, "\x05\x63\x42\x08\x00\x40");
	assert_true(msg.not_taken);
	assert_int_equal(msg.field[RVT_ETRACE_F_ADDRESS], 0x40000842);
}

static void test_trap(void **state)
{
	struct rvt_etrace_msg msg = message(RVT_ETRACE_SYNC_TRAP);
	struct rvt_etrace_codec codec;

	(void)state;
	make_codec(&codec, RVT_DIALECT_ETRACE_2_0, "");
	/* 11, 01, branch 1, privilege 01, ecause 0111, interrupt 1, thaddr 1, address 0x10 at 13:
	 * 3 | 1 << 2 | 1 << 4 | 1 << 5 | 7 << 7 | 1 << 11 | 1 << 12 | 0x10 << 13 = 0x21bb7 */
	msg.not_taken = true;
	rvt_etrace_set(&msg, RVT_ETRACE_F_PRIVILEGE, 1);
	rvt_etrace_set(&msg, RVT_ETRACE_F_ECAUSE, 7);
	rvt_etrace_set(&msg, RVT_ETRACE_F_INTERRUPT, 1);
	rvt_etrace_set(&msg, RVT_ETRACE_F_THADDR, 1);
	rvt_etrace_set(&msg, RVT_ETRACE_F_ADDRESS, 0x10);
	rvt_etrace_set(&msg, RVT_ETRACE_F_TVAL, 0x55);
	EXPECT_WRITE(&codec, &msg, "\x03\xb7\x1b\x02");
	PARSE(&codec, &msg, "\x03\xb7\x1b\x02");
	assert_false(rvt_etrace_has(&msg, RVT_ETRACE_F_TVAL));
	/* an exception has tval, here from bit 44: 0x55 << 4 in byte 5 */
	rvt_etrace_set(&msg, RVT_ETRACE_F_INTERRUPT, 0);
	rvt_etrace_set(&msg, RVT_ETRACE_F_TVAL, 0x55);
	EXPECT_WRITE(&codec, &msg, "\x07\xb7\x13\x02\x00\x00\x50\x05");
	/* implicit exception mode: no address if thaddr is 1; tval from bit 13 */
	make_codec(&codec, RVT_DIALECT_ETRACE_2_0, "options = implicit_exception\n");
	EXPECT_WRITE(&codec, &msg, "\x03\xb7\xb3\x0a");
	PARSE(&codec, &msg, "\x03\xb7\xb3\x0a");
	assert_false(rvt_etrace_has(&msg, RVT_ETRACE_F_ADDRESS));
	assert_int_equal(msg.field[RVT_ETRACE_F_TVAL], 0x55);
	rvt_etrace_set(&msg, RVT_ETRACE_F_THADDR, 0);
	rvt_etrace_set(&msg, RVT_ETRACE_F_ADDRESS, 0x10);
	EXPECT_WRITE(&codec, &msg, "\x07\xb7\x03\x02\x00\x00\x50\x05");
	/* 0.029: context 0, privilege 001, address at 8, ecause at 39, interrupt 43, tvalepc 44,
	 * branch 76: 3 | 1 << 2 | 1 << 5; 0x10 << 0; 7 << 7; 3; 8 | 0x55 << 4 */
	make_codec(&codec, RVT_DIALECT_ETRACE_0_029, "");
	msg.not_taken = false;
	rvt_etrace_set(&msg, RVT_ETRACE_F_INTERRUPT, 1);
	EXPECT_WRITE(&codec, &msg, "\x07\x27\x10\x00\x00\x80\x5b\x05");
	/* implicit: ecause at 8, interrupt 12, tvalepc 13 */
	make_codec(&codec, RVT_DIALECT_ETRACE_0_029, "options = implicit_exception\n");
	EXPECT_WRITE(&codec, &msg, "\x03\x27\xb7\x0a");
}

static void test_context(void **state)
{
	struct rvt_etrace_msg msg = message(RVT_ETRACE_SYNC_CONTEXT);
	struct rvt_etrace_codec codec;

	(void)state;
	/* 11, 10, privilege 01, time 0x1234 at 6, context 0x56 at 22 */
	make_codec(&codec, RVT_DIALECT_ETRACE_2_0, "context_width_p = 8\nnocontext_p = 0\n"
		   "time_width_p = 16\nnotime_p = 0\n");
	rvt_etrace_set(&msg, RVT_ETRACE_F_PRIVILEGE, 1);
	rvt_etrace_set(&msg, RVT_ETRACE_F_TIME, 0x1234);
	rvt_etrace_set(&msg, RVT_ETRACE_F_CONTEXT, 0x56);
	/* 0x1b | 0x1234 << 6 = 0x48d1b; 0x56 << 22 = 0x15800000 */
	EXPECT_WRITE(&codec, &msg, "\x04\x1b\x8d\x84\x15");
	/* 0.029: context first, and present with nocontext_p: 0xb | 0x56 << 4 | 1 << 12 */
	make_codec(&codec, RVT_DIALECT_ETRACE_0_029, "context_width_p = 8\nnocontext_p = 1\n");
	EXPECT_WRITE(&codec, &msg, "\x02\x6b\x15");
}

static void test_support(void **state)
{
	struct rvt_etrace_msg msg = message(RVT_ETRACE_SYNC_SUPPORT);
	struct rvt_etrace_codec codec;

	(void)state;
	make_codec(&codec, RVT_DIALECT_ETRACE_2_0, "encoder_mode_bits = 1\n"
		   "ioptions = implicit_return, implicit_exception, full_address, "
		   "jump_target_cache, branch_prediction\ndoptions_bits = 4\n"
		   "options = full_address\n");
	/* 1111, ienable 1, mode 0, qual 11, ioptions 00100 at 8, 0, 0, 0000:
	 * 0xf | 1 << 4 | 3 << 6 | 4 << 8 */
	rvt_etrace_set(&msg, RVT_ETRACE_F_IENABLE, 1);
	rvt_etrace_set(&msg, RVT_ETRACE_F_QUAL_STATUS, RVT_ETRACE_ENDED_NTR);
	rvt_etrace_codec_describe(&codec, &msg);
	EXPECT_WRITE(&codec, &msg, "\x02\xdf\x04");
	/* options 11000: jump target cache and branch prediction */
	PARSE(&codec, &msg, "\x02\xdf\x18");
	assert_int_equal(rvt_etrace_codec_support(&codec, &msg), 0);
	assert_int_equal(codec.params.options,
			 RVT_OPT_JUMP_TARGET_CACHE | RVT_OPT_BRANCH_PREDICTION);
	/* the standard packet of 2.0.5; fields from bit 9 on: sijump 1, then implicit_return at
	 * 10 = 1, resync_disabled at 15 = 1, iret_ext 1; time_width at 17 = 01 (32 bits);
	 * f0s_width at 19 = 1; return_stack_size at 21 = 5; call_counter_size at 24 = 2;
	 * bpred_size at 28 = 6; cache_size at 31 = 7; the rest 0 */
	make_codec(&codec, RVT_DIALECT_ETRACE_2_0_5, "notime_p = 0\n");
	PARSE(&codec, &msg, "\x05\x1f\x86\xab\xe2\x03");
	assert_int_equal(msg.field[RVT_ETRACE_F_IENABLE], 1);
	assert_int_equal(msg.field[RVT_ETRACE_F_QUAL_STATUS], 0);
	assert_int_equal(rvt_etrace_codec_support(&codec, &msg), 0);
	assert_int_equal(codec.params.options, RVT_OPT_SEQUENTIAL_JUMP | RVT_OPT_IMPLICIT_RETURN);
	assert_true(codec.resync_disabled && codec.iret_ext);
	assert_int_equal(codec.params.time_width_p, 32);
	assert_int_equal(codec.params.f0s_width_p, 1);
	assert_int_equal(codec.params.return_stack_size_p, 5);
	assert_int_equal(codec.params.call_counter_size_p, 2);
	assert_int_equal(codec.params.bpred_size_p, 6);
	assert_int_equal(codec.params.cache_size_p, 7);
}

/* The encapsulation specification's example: srcID of 6 bits (1), type of 2 bits (10). */
static void test_encapsulation(void **state)
{
	struct rvt_etrace_codec codec;
	struct rvt_etrace_msg msg;

	(void)state;
	make_codec(&codec, RVT_DIALECT_ETRACE_2_0, "srcid_bits = 6\ntype_bits = 2\n");
	PARSE(&codec, &msg, "\x06\x81\x32\x04\x00\x00\x02");
	assert_int_equal(msg.src, 1);
	assert_int_equal(msg.type, 2);
	assert_int_equal(msg.kind, RVT_ETRACE_ADDRESS);
	EXPECT_WRITE(&codec, &msg, "\x06\x81\x32\x04\x00\x00\x02");
	/* flow 3, timestamp of 2 bytes, srcID of 4 bits 0xa; payload 0x22 crosses bytes:
	 * a | 0x1234 << 4 | 0x22 << 20 = 0x221234a; length counts the payload and the 4 bits */
	make_codec(&codec, RVT_DIALECT_ETRACE_2_0, "srcid_bits = 4\ntimestamp_bytes = 2\n");
	PARSE(&codec, &msg, "\xe2\x4a\x23\x21\x02");
	assert_int_equal(msg.flow, 3);
	assert_int_equal(msg.src, 0xa);
	assert_int_equal(msg.timestamp, 0x1234);
	assert_int_equal(msg.field[RVT_ETRACE_F_ADDRESS], 8);
	EXPECT_WRITE(&codec, &msg, "\xe2\x4a\x23\x21\x02");
	/* data trace: nothing is known of the payload */
	make_codec(&codec, RVT_DIALECT_ETRACE_2_0, "type_bits = 1\n");
	msg.notify = msg.updiscon = msg.irreport = msg.not_taken = true;
	PARSE(&codec, &msg, "\x01\x45");
	assert_int_equal(msg.type, 1);
	assert_int_equal(msg.present, 0);
	assert_false(msg.notify || msg.updiscon || msg.irreport || msg.not_taken);
	/* nothing but srcID */
	make_codec(&codec, RVT_DIALECT_ETRACE_2_0, "srcid_bits = 8\ntype_bits = 8\n");
	assert_non_null(rvt_etrace_parse(&codec, (const uint8_t *)"\x01\x45\x02", 3, &msg));
}

static void test_bad(void **state)
{
	struct rvt_etrace_codec codec;
	struct rvt_etrace_msg msg;
	struct rvt_params params;

	(void)state;
	make_codec(&codec, RVT_DIALECT_ETRACE_2_0, "");
	/* address packets have 36 bits: a sixth byte must repeat the sign */
	PARSE(&codec, &msg, "\x06\x22\x00\x00\x00\x00\x00");
	assert_non_null(rvt_etrace_parse(&codec, (const uint8_t *)"\x06\x22\0\0\0\0\1", 7, &msg));
	assert_non_null(rvt_etrace_parse(&codec, (const uint8_t *)"\x05\x22\0\0\0\x10", 6, &msg));
	/* a support packet may have more */
	PARSE(&codec, &msg, "\x06\x1f\x00\x00\x12\x00\x01");
	/* without options there is no format 0 */
	params = codec.params;
	params.iaddress_width_p = 65;
	assert_int_equal(rvt_etrace_codec_init(&codec, &params), -EINVAL);
	params.iaddress_width_p = 32;
	params.srcid_bits = 17;
	assert_int_equal(rvt_etrace_codec_init(&codec, &params), -EINVAL);
	params.srcid_bits = 16;
	params.protocol = RVT_PROTOCOL_NTRACE;
	assert_int_equal(rvt_etrace_codec_init(&codec, &params), -EINVAL);
}

/* ---- what an encoder cannot say in its support packets it does not do ---- */

static int nowhere(void *ctx, const uint8_t *bytes, size_t len)
{
	(void)ctx, (void)bytes, (void)len;
	return 0;
}

static int create_encoder(enum rvt_dialect dialect, const char *text)
{
	struct rvt_params params;
	struct rvt_etrace_encoder_config config = { .params = &params, .emit = nowhere };
	struct rvt_etrace_encoder *enc;
	char *error;
	int ret;

	rvt_params_init(&params, RVT_PROTOCOL_ETRACE, dialect);
	assert_int_equal(rvt_params_parse(&params, "test", text, strlen(text), &error), 0);
	ret = rvt_etrace_encoder_create(&config, &enc);
	rvt_etrace_encoder_destroy(enc);
	return ret;
}

static void test_encoder_limits(void **state)
{
	static const struct {
		const char *largest, *too_large;
	} sizes[] = {
		{ "f0s_width_p = 3", "f0s_width_p = 4" },
		{ "return_stack_size_p = 7", "return_stack_size_p = 8" },
		{ "call_counter_size_p = 15", "call_counter_size_p = 16" },
		{ "bpred_size_p = 7", "bpred_size_p = 8" },
		{ "cache_size_p = 7", "cache_size_p = 8" },
		{ "notime_p = 0\ntime_width_p = 64", "notime_p = 0\ntime_width_p = 40" },
	};
	struct rvt_params params;
	const struct rvt_etrace_encoder_config config = { .params = &params, .emit = nowhere };
	struct rvt_etrace_encoder *encoder;

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		assert_int_equal(create_encoder(RVT_DIALECT_ETRACE_2_0_5, sizes[i].largest), 0);
		assert_int_equal(create_encoder(RVT_DIALECT_ETRACE_2_0_5, sizes[i].too_large),
				 -EINVAL);
		assert_int_equal(create_encoder(RVT_DIALECT_ETRACE_2_0, sizes[i].too_large), 0);
	}
	assert_int_equal(create_encoder(RVT_DIALECT_ETRACE_2_0, "options = full_address"), 0);
	assert_int_equal(create_encoder(RVT_DIALECT_ETRACE_2_0, "options = full_address\n"
					"ioptions = -, full_address"), 0);
	assert_int_equal(create_encoder(RVT_DIALECT_ETRACE_2_0, "options = full_address\n"
					"ioptions = -, implicit_return"), 0);
	rvt_params_init(&params, RVT_PROTOCOL_ETRACE, RVT_DIALECT_ETRACE_2_0);
	params.options = RVT_OPT_FULL_ADDRESS;
	params.n_ioptions = 1;
	params.ioptions[0] = RVT_OPT_FULL_ADDRESS | RVT_OPT_SEQUENTIAL_JUMP;
	assert_int_equal(rvt_etrace_encoder_create(&config, &encoder), -EINVAL);
	/* a predictor or a cache of no size */
	assert_int_equal(create_encoder(RVT_DIALECT_ETRACE_0_029, "options = branch_prediction"),
			 -EINVAL);
	assert_int_equal(create_encoder(RVT_DIALECT_ETRACE_0_029, "options = jump_target_cache"),
			 -EINVAL);
}

/* ---- any values of any packet, in any framing, survive ---- */

static uint64_t random_bits(unsigned int bits)
{
	uint64_t value = (uint64_t)random() << 42 ^ (uint64_t)random() << 21 ^ (uint64_t)random();

	if (!bits)
		return 0;
	/* small positive and negative values are what compression is about */
	if (random() & 1)
		value = rvt_etrace_sign(value, 1 + random() % bits);
	return value & rvt_etrace_mask(bits);
}

static void fill(const struct rvt_etrace_layout *layout, struct rvt_etrace_msg *msg)
{
	memset(msg, 0, sizeof(*msg));
	msg->kind = layout->kind;
	msg->notify = random() & 1;
	msg->updiscon = random() & 1;
	msg->irreport = random() & 1;
	for (unsigned int i = 0; i < layout->n; i++) {
		const struct rvt_etrace_use *use = &layout->uses[i];
		unsigned int bits = use->width;

		if (bits == RVT_ETRACE_W_MAP)
			bits = rvt_etrace_map_bits(msg->field[RVT_ETRACE_F_BRANCHES]);
		if (use->coding != RVT_ETRACE_DIFFERS)
			rvt_etrace_set(msg, use->field, random_bits(bits));
		if (use->match == 0xfffffffe)
			rvt_etrace_set(msg, use->field, 1 + random() % 31);
		else if (use->match == 0xc)
			rvt_etrace_set(msg, use->field, 2 + (random() & 1));
		if (use->field == RVT_ETRACE_F_BRANCH)
			msg->not_taken = random() & 1;
	}
}

static void compare(const struct rvt_etrace_layout *layout, const struct rvt_etrace_msg *in,
		    const struct rvt_etrace_msg *out)
{
	assert_int_equal(in->kind, out->kind);
	assert_int_equal(in->src, out->src);
	assert_int_equal(in->timestamp, out->timestamp);
	for (unsigned int i = 0; i < layout->n; i++) {
		const struct rvt_etrace_use *use = &layout->uses[i];

		switch (use->field) {
		case RVT_ETRACE_F_NOTIFY:
			assert_int_equal(in->notify, out->notify);
			break;
		case RVT_ETRACE_F_UPDISCON:
			assert_int_equal(in->updiscon, out->updiscon);
			break;
		case RVT_ETRACE_F_IRREPORT:
			assert_int_equal(in->irreport, out->irreport);
			break;
		case RVT_ETRACE_F_BRANCH:
			assert_int_equal(in->not_taken, out->not_taken);
			break;
		default:
			if (use->match && use->match != 0xc && use->match != 0xfffffffe)
				break;
			if (use->coding == RVT_ETRACE_FILLS && !in->irreport)
				break;
			if (rvt_etrace_has(out, use->field))
				assert_int_equal(in->field[use->field], out->field[use->field]);
		}
	}
}

static void random_params(struct rvt_params *p)
{
	rvt_params_init(p, RVT_PROTOCOL_ETRACE, RVT_DIALECT_ETRACE_0_029 + random() % 3);
	p->iaddress_lsb_p = random() % 3;
	p->iaddress_width_p = 32 + random() % 33;
	p->nocontext_p = random() & 1;
	p->context_width_p = random() % 33;
	p->notime_p = random() & 1;
	p->time_width_p = 1 + random() % 40;
	p->privilege_width_p = 1 + random() % 4;
	p->ecause_width_p = 1 + random() % 8;
	p->f0s_width_p = 1 + random() % 2;
	p->bpred_size_p = random() % 8;
	p->cache_size_p = random() % 8;
	p->return_stack_size_p = random() % 8;
	p->call_counter_size_p = random() % 8;
	p->encoder_mode_bits = random() % 5;
	p->n_ioptions = random() % 9;
	p->doptions_bits = random() % 5;
	p->srcid_bits = random() % 17;
	p->timestamp_bytes = random() % 9;
	p->type_bits = random() % 3;
	p->options = random() & 1 ? RVT_OPT_IMPLICIT_EXCEPTION : 0;
}

static void test_round_trip(void **state)
{
	(void)state;
	srandom(1);
	for (unsigned int round = 0; round < 2000; round++) {
		struct rvt_etrace_codec codec;
		struct rvt_params params;

		random_params(&params);
		assert_int_equal(rvt_etrace_codec_init(&codec, &params), 0);
		for (unsigned int i = 0; i < codec.n_layouts; i++) {
			uint8_t bytes[RVT_ETRACE_MAX_FRAME_BYTES];
			struct rvt_etrace_msg in, out;
			const char *error;
			int len;

			fill(&codec.layouts[i], &in);
			in.src = random_bits(params.srcid_bits);
			in.extend = params.timestamp_bytes && random() & 1;
			in.timestamp = in.extend ? random_bits(8 * params.timestamp_bytes) : 0;
			len = rvt_etrace_write(&codec, &in, bytes, NULL);
			if (len == -E2BIG)
				continue;
			assert_true(len > 0);
			error = rvt_etrace_parse(&codec, bytes, len, &out);
			if (error)
				fail_msg("dialect %u kind %u: %s", params.dialect, in.kind, error);
			compare(&codec.layouts[i], &in, &out);
		}
	}
}

/* ---- what is read from the payload alone is what the parser says ---- */

static bool is_cached(const struct rvt_etrace_msg *msg)
{
	return msg->kind == RVT_ETRACE_CACHE || msg->kind == RVT_ETRACE_CACHE_BRANCHES;
}

static bool is_plain(const struct rvt_etrace_msg *msg)
{
	return (msg->kind == RVT_ETRACE_ADDRESS || msg->kind == RVT_ETRACE_BRANCH_ADDRESS ||
		msg->kind == RVT_ETRACE_BRANCH_MAP || is_cached(msg)) &&
	       !msg->notify && !msg->updiscon && !msg->irreport;
}

/* Returns whether the frame at @bytes is plain; then it is what the parser says. */
static bool check_plain(const struct rvt_etrace_codec *codec, const uint8_t *bytes,
			unsigned int len)
{
	struct rvt_etrace_plain plain;
	uint64_t payload[2] = {};
	struct rvt_etrace_msg msg;
	unsigned int branches;

	memcpy(payload, bytes + 1, len - 1);
	if (!rvt_etrace_read_plain(codec, payload, len - 1, &plain))
		return false;
	assert_null(rvt_etrace_parse(codec, bytes, len, &msg));
	assert_true(is_plain(&msg));
	assert_int_equal(plain.kind, msg.kind);
	branches = msg.kind == RVT_ETRACE_ADDRESS || msg.kind == RVT_ETRACE_CACHE ? 0 :
		   msg.kind == RVT_ETRACE_BRANCH_MAP ? 31 : msg.field[RVT_ETRACE_F_BRANCHES];
	assert_int_equal(plain.n_outcomes, branches);
	if (branches)
		assert_int_equal(plain.taken, ~msg.field[RVT_ETRACE_F_BRANCH_MAP] &
					      rvt_etrace_mask(branches));
	if (msg.kind != RVT_ETRACE_BRANCH_MAP)
		assert_int_equal(plain.address, msg.field[is_cached(&msg) ? RVT_ETRACE_F_INDEX :
									    RVT_ETRACE_F_ADDRESS]);
	return true;
}

static void check_written(const struct rvt_etrace_codec *codec, unsigned int layout)
{
	uint8_t bytes[RVT_ETRACE_MAX_FRAME_BYTES];
	struct rvt_etrace_msg msg;
	int len;

	fill(&codec->layouts[layout], &msg);
	if (random() & 1)
		msg.notify = msg.updiscon = msg.irreport = false;
	len = rvt_etrace_write(codec, &msg, bytes, NULL);
	if (len < 0 || len > 17)
		return;
	assert_null(rvt_etrace_parse(codec, bytes, len, &msg));
	assert_int_equal(check_plain(codec, bytes, len), is_plain(&msg));
}

static void test_plain(void **state)
{
	uint8_t bytes[17] = { 0 };

	(void)state;
	srandom(2);
	for (unsigned int round = 0; round < 2000; round++) {
		struct rvt_etrace_codec codec;
		struct rvt_params params;

		random_params(&params);
		params.srcid_bits = params.type_bits = 0;
		assert_int_equal(rvt_etrace_codec_init(&codec, &params), 0);
		for (unsigned int i = 0; i < codec.n_layouts; i++)
			check_written(&codec, i);
		/* any bytes, most of them the same */
		memset(bytes + 1, random() & 1 ? 0xff : 0, 16);
		for (unsigned int i = 1 + random() % 16; i; i--)
			bytes[i] = random();
		check_plain(&codec, bytes, 2 + random() % 16);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_address),
		cmocka_unit_test(test_irdepth),
		cmocka_unit_test(test_branches),
		cmocka_unit_test(test_branch_count),
		cmocka_unit_test(test_cache),
		cmocka_unit_test(test_sync),
		cmocka_unit_test(test_trap),
		cmocka_unit_test(test_context),
		cmocka_unit_test(test_support),
		cmocka_unit_test(test_encapsulation),
		cmocka_unit_test(test_bad),
		cmocka_unit_test(test_encoder_limits),
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_plain),
	};

	return cmocka_run_group_tests_name("etrace packets", tests, NULL, NULL);
}
