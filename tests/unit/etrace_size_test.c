// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Sizes of E-Trace payloads: what each optional mode is for, to the byte. The program is a loop
 * that calls a function with an inner loop, one of four functions through a pointer, and ends with
 * a long loop. What a round takes follows from the specification's packet tables.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include <rvtrace/etrace.h>

#define WARM_UP 8	/* a multiple of the number of functions, as ROUNDS */
#define ROUNDS 200
#define LONG_LOOP 1000
#define BASE 0x3fc0000000	/* full addresses take five bytes */

struct size {
	struct rvt_etrace_encoder *enc;
	uint64_t insns;
};

/* @insns instructions of four bytes from BASE + @pc on. */
static void run(struct size *s, uint64_t pc, unsigned int insns, enum rvt_itype itype)
{
	const struct rvt_retire retire = {
		.first_pc = BASE + pc, .last_pc = BASE + pc + 4 * (insns - 1), .insns = insns,
		.halfwords = 2 * insns, .last_halfwords = 2, .itype = itype,
	};

	rvt_etrace_encoder_retire(s->enc, &retire);
	s->insns += insns;
}

static void round_of_program(struct size *s, unsigned int i)
{
	run(s, 0x1000, 8, RVT_ITYPE_CALL);
	for (unsigned int k = 0; k < 5; k++)
		run(s, 0x2000, 6, k < 4 ? RVT_ITYPE_BRANCH_TAKEN : RVT_ITYPE_BRANCH_NOT_TAKEN);
	run(s, 0x2018, 3, RVT_ITYPE_RETURN);
	run(s, 0x1020, 4, RVT_ITYPE_IND_CALL);
	run(s, 0x30000 + 0x104 * (i % 4), 5, RVT_ITYPE_RETURN);
	run(s, 0x1030, 3, RVT_ITYPE_JUMP);
	for (unsigned int k = 0; k < LONG_LOOP; k++)
		run(s, 0x4000, 4, k + 1 < LONG_LOOP ? RVT_ITYPE_BRANCH_TAKEN :
		    RVT_ITYPE_BRANCH_NOT_TAKEN);
	run(s, 0x4010, 2, RVT_ITYPE_JUMP);
}

static int drop(void *ctx, const uint8_t *bytes, size_t len)
{
	(void)ctx, (void)bytes, (void)len;
	return 0;
}

struct sizes {
	unsigned int base, full, returns, predicted, cached, all;
};

static uint64_t payload_bytes(enum rvt_dialect dialect, unsigned int options, unsigned int sync_max,
			      unsigned int rounds)
{
	struct rvt_etrace_encoder_config config = {
		.emit = drop, .sync_mode = 1, .sync_max = sync_max,
	};
	struct rvt_etrace_encoder_stats stats;
	struct rvt_params params;
	struct size s = { .insns = 0 };

	rvt_params_init(&params, RVT_PROTOCOL_ETRACE, dialect);
	params.iaddress_width_p = 64;
	params.options = options;
	params.bpred_size_p = 6;
	params.cache_size_p = 5;
	params.return_stack_size_p = 5;
	params.f0s_width_p = 1;
	config.params = &params;
	assert_int_equal(rvt_etrace_encoder_create(&config, &s.enc), 0);
	rvt_etrace_encoder_start(s.enc);
	for (unsigned int i = 0; i < rounds; i++)
		round_of_program(&s, i);
	rvt_etrace_encoder_stop(s.enc, true);
	rvt_etrace_encoder_stats(s.enc, &stats);
	rvt_etrace_encoder_destroy(s.enc);
	return stats.payload_bytes;
}

/* Bytes for a round once predictor and cache know the program, without what begins and ends. */
static unsigned int round_bytes(enum rvt_dialect dialect, unsigned int options)
{
	uint64_t more = payload_bytes(dialect, options, 10, WARM_UP + ROUNDS) -
			payload_bytes(dialect, options, 10, WARM_UP);

	assert_int_equal(more % ROUNDS, 0);
	return more / ROUNDS;
}

/*
 * Sign compression: the bits of a packet above the last one that differs from its left neighbour
 * are not sent. @bits counts up to and with the sign.
 */
static unsigned int packet(unsigned int bits)
{
	return (bits + 7) / 8;
}

/*
 * A round reports three addresses: of 0x1020 behind the call, with 13 branches (8 of the long loop
 * that no full map has taken, 5 of the loop in the function); of the function called by pointer;
 * and of 0x1030 behind that call. Differences in units of 2 bytes, with their sign: 0x1020 - 0x1030
 * has 4 bits, those to and from the functions at 0x30000 to 0x3030c have 18. Between functions
 * (when returns are implicit and nothing else is reported) they have 9 or 10.
 */
enum { NEAR = 4, FAR = 18, BETWEEN = 10, FULL = 38 };

static struct sizes sizes_of(enum rvt_dialect dialect)
{
	/* format, branches, map: of the 15 and 7 bits that hold 13 and 5 branches */
	const unsigned int map13 = 2 + 5 + 15, map5 = 2 + 5 + 7, format2 = 2;
	/*
	 * Full maps, branches = 0: all branches are taken, so that format 01 is followed by zeros.
	 */
	const unsigned int maps = 1000 / 31 * packet(2 + 1);
	/*
	 * The long loop is 999 branches predicted right and the last one wrong: 999 - 31 = 968 is
	 * 10 bits and a sign, as branch_fmt is 00. 0.029: format 1 with branches = 0, 31 bits of
	 * count and branch_fmt 01, whose 0 is the sign.
	 */
	const unsigned int count = dialect == RVT_DIALECT_ETRACE_0_029 ?
				   packet(2 + 5 + 31 + 2) : packet(2 + 1 + 10 + 1);
	/*
	 * Format, subformat, index of 5 bits, branches, map. The functions' indices are 0, 2, 4 and
	 * 6, whose top bit is a sign for what follows without branches (branches = 0); that of
	 * 0x1030 is 0x18. Of 15 bits of map, 13 are used, and of 7 bits the fifth, of the branch
	 * not taken.
	 */
	const unsigned int index = 2 + 1 + 5;

	return (struct sizes){
		.base = maps + packet(map13 + NEAR) + packet(format2 + FAR) + packet(format2 + FAR),
		.full = maps + packet(map13 + FULL) + 2 * packet(format2 + FULL),
		.returns = maps + packet(map13 + BETWEEN),
		.predicted = count + packet(map5 + NEAR) + 2 * packet(format2 + FAR),
		.cached = maps + packet(index + 5 + 13 + 1) + packet(index) + packet(index + 1),
		.all = count + packet(index + 5 + 5 + 1),
	};
}

static void check_dialect(enum rvt_dialect dialect)
{
	struct sizes want = sizes_of(dialect);

	assert_int_equal(round_bytes(dialect, 0), want.base);
	assert_int_equal(round_bytes(dialect, RVT_OPT_FULL_ADDRESS), want.full);
	assert_int_equal(round_bytes(dialect, RVT_OPT_IMPLICIT_RETURN), want.returns);
	assert_int_equal(round_bytes(dialect, RVT_OPT_BRANCH_PREDICTION), want.predicted);
	assert_int_equal(round_bytes(dialect, RVT_OPT_JUMP_TARGET_CACHE), want.cached);
	assert_int_equal(round_bytes(dialect, RVT_OPT_IMPLICIT_RETURN | RVT_OPT_BRANCH_PREDICTION |
				     RVT_OPT_JUMP_TARGET_CACHE), want.all);
	/*
	 * A synchronisation packet after 16 others: it replaces none of them, and at most the
	 * packet before it must say what it otherwise need not. Format, subformat, branch,
	 * privilege and the address of 38 bits; 0.029 has a bit of context besides.
	 */
	uint64_t rare = payload_bytes(dialect, 0, 10, ROUNDS);
	uint64_t often = payload_bytes(dialect, 0, 0, ROUNDS);
	uint64_t packets = 35 * ROUNDS;

	assert_true(often > rare);
	assert_true(often - rare <= packets / 16 * (packet(2 + 2 + 1 + 3 + 1 + FULL) + 8));
}

static void test_0_029(void **state)
{
	(void)state;
	check_dialect(RVT_DIALECT_ETRACE_0_029);
}

static void test_2_0(void **state)
{
	(void)state;
	check_dialect(RVT_DIALECT_ETRACE_2_0);
}

static void test_2_0_5(void **state)
{
	(void)state;
	check_dialect(RVT_DIALECT_ETRACE_2_0_5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_0_029),
		cmocka_unit_test(test_2_0),
		cmocka_unit_test(test_2_0_5),
	};

	return cmocka_run_group_tests_name("etrace sizes", tests, NULL, NULL);
}
