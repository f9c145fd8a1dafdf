// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Sizes of E-Trace payloads: what each optional mode is for. The program is a loop that calls a
 * function with an inner loop, one of four functions through a pointer, and ends with a long
 * loop; it runs 200 times.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include <rvtrace/etrace.h>

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

/* Payload bits for 1000 instructions. */
static double bits(enum rvt_dialect dialect, unsigned int options, unsigned int sync_max)
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
	for (unsigned int i = 0; i < ROUNDS; i++)
		round_of_program(&s, i);
	rvt_etrace_encoder_stop(s.enc, true);
	rvt_etrace_encoder_stats(s.enc, &stats);
	rvt_etrace_encoder_destroy(s.enc);
	return 8e3 * stats.payload_bytes / s.insns;
}

static void check_dialect(enum rvt_dialect dialect)
{
	double base = bits(dialect, 0, 10);
	double full = bits(dialect, RVT_OPT_FULL_ADDRESS, 10);
	double returns = bits(dialect, RVT_OPT_IMPLICIT_RETURN, 10);
	double predicted = bits(dialect, RVT_OPT_BRANCH_PREDICTION, 10);
	double cached = bits(dialect, RVT_OPT_JUMP_TARGET_CACHE, 10);
	double all = bits(dialect, RVT_OPT_IMPLICIT_RETURN | RVT_OPT_BRANCH_PREDICTION |
			  RVT_OPT_JUMP_TARGET_CACHE, 10);

	print_message("bits per 1000 instructions: base %.1f, full address %.1f, returns %.1f, "
		      "prediction %.1f, cache %.1f, all %.1f\n", base, full, returns, predicted,
		      cached, all);
	assert_true(full > base);
	assert_true(returns < base && predicted < base && cached < base);
	assert_true(all < returns && all < predicted && all < cached);
	/* resynchronisation every 16 packets costs, too */
	assert_true(bits(dialect, 0, 0) > base);
	/*
	 * Base: three jumps (two returns and one call) and 1005 branches for 4055 instructions.
	 * At most three packets with an address of 17 bits and a map of 31, and 32 full maps of
	 * five bytes.
	 */
	assert_true(base < 1e3 * (3 * 8 * (1 + 3 + 4) + 32 * 8 * 5) / 4055);
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
