// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * The worked examples of chapter 10 of the 0.029 draft, from the encoder's side: what retires
 * there, and the packet that the text gives for it. tests/etrace/x-example-*.eta have the decoder's
 * side.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include <etrace/packet.h>

#define MAX_PACKETS 8

struct example {
	struct rvt_etrace_encoder *enc;
	struct rvt_etrace_codec codec;
	struct rvt_etrace_msg msgs[MAX_PACKETS];
	unsigned int n;
};

static int collect(void *ctx, const uint8_t *bytes, size_t len)
{
	struct example *e = ctx;

	assert_true(e->n < MAX_PACKETS);
	assert_null(rvt_etrace_parse(&e->codec, bytes, len, &e->msgs[e->n]));
	e->n++;
	return 0;
}

static void begin(struct example *e)
{
	struct rvt_params params;
	struct rvt_etrace_encoder_config config = { .params = &params, .emit = collect, .ctx = e };

	memset(e, 0, sizeof(*e));
	rvt_params_init(&params, RVT_PROTOCOL_ETRACE, RVT_DIALECT_ETRACE_0_029);
	params.iaddress_width_p = 64;
	assert_int_equal(rvt_etrace_codec_init(&e->codec, &params), 0);
	assert_int_equal(rvt_etrace_encoder_create(&config, &e->enc), 0);
	rvt_etrace_encoder_start(e->enc);
}

/* @insns instructions from @first to @last, which has @last_bytes. */
static void run(struct example *e, uint64_t first, uint64_t last, unsigned int insns,
		unsigned int last_bytes, enum rvt_itype itype)
{
	const struct rvt_retire retire = {
		.first_pc = first, .last_pc = last, .insns = insns, .itype = itype, .prv = 3,
		.halfwords = (last - first + last_bytes) / 2, .last_halfwords = last_bytes / 2,
	};

	rvt_etrace_encoder_retire(e->enc, &retire);
}

/*
 * The packets are a support packet, a synchronisation at @start, and one with these fields, which
 * reports @delta from the address before it.
 */
static void end(struct example *e, uint64_t start, enum rvt_etrace_kind kind, int64_t delta,
		unsigned int branches, uint64_t branch_map, unsigned int updiscon)
{
	const struct rvt_etrace_msg *msg = &e->msgs[2];

	assert_int_equal(e->n, 3);
	assert_int_equal(e->msgs[0].kind, RVT_ETRACE_SYNC_SUPPORT);
	assert_int_equal(e->msgs[1].kind, RVT_ETRACE_SYNC_START);
	assert_int_equal(e->msgs[1].field[RVT_ETRACE_F_ADDRESS], start >> 1);
	assert_int_equal(msg->kind, kind);
	assert_int_equal(msg->field[RVT_ETRACE_F_ADDRESS], (uint64_t)(delta / 2) & INT64_MAX);
	if (branches) {
		assert_int_equal(msg->field[RVT_ETRACE_F_BRANCHES], branches);
		assert_int_equal(msg->field[RVT_ETRACE_F_BRANCH_MAP], branch_map);
	}
	assert_int_equal(msg->field[RVT_ETRACE_F_UPDISCON], updiscon);
	rvt_etrace_encoder_destroy(e->enc);
}

static void test_call_and_return(void **state)
{
	struct example e;

	(void)state;
	begin(&e);
	run(&e, 0x80001a80, 0x80001a84, 2, 4, RVT_ITYPE_CALL);
	run(&e, 0x80001178, 0x8000118a, 7, 2, RVT_ITYPE_RETURN);
	/* 1: nothing for the call */
	assert_int_equal(e.n, 2);
	run(&e, 0x80001a88, 0x80001a8c, 2, 4, RVT_ITYPE_BRANCH_TAKEN);
	/* 2: ADDR_ONLY, 80001a88 */
	end(&e, 0x80001a80, RVT_ETRACE_ADDRESS, 0x80001a88 - 0x80001a80, 0, 0, 0);
}

static void test_branch_and_return(void **state)
{
	struct example e;

	(void)state;
	begin(&e);
	run(&e, 0x800010da, 0x800010dc, 2, 4, RVT_ITYPE_BRANCH_TAKEN);
	run(&e, 0x800010ec, 0x800010f6, 6, 2, RVT_ITYPE_RETURN);
	run(&e, 0x80001b8a, 0x80001b8e, 2, 4, RVT_ITYPE_BRANCH_TAKEN);
	end(&e, 0x800010da, RVT_ETRACE_BRANCH_ADDRESS, 0xab0, 1, 0, 0);
}

static void test_three_branches(void **state)
{
	struct example e;

	(void)state;
	begin(&e);
	/* what was reported before it is 148 lower */
	run(&e, 0x80001110, 0x80001110, 1, 2, RVT_ITYPE_BRANCH_NOT_TAKEN);
	run(&e, 0x80001112, 0x80001116, 3, 4, RVT_ITYPE_BRANCH_NOT_TAKEN);
	run(&e, 0x8000111a, 0x8000111a, 1, 2, RVT_ITYPE_BRANCH_NOT_TAKEN);
	run(&e, 0x8000111c, 0x8000111e, 2, 4, RVT_ITYPE_BRANCH_TAKEN);
	run(&e, 0x8000115e, 0x80001168, 6, 2, RVT_ITYPE_RETURN);
	run(&e, 0x80001258, 0x8000125c, 2, 4, RVT_ITYPE_BRANCH_TAKEN);
	end(&e, 0x80001110, RVT_ETRACE_BRANCH_ADDRESS, 0x148, 3, 3, 0);
}

static void test_calls_and_branch_target(void **state)
{
	struct example e;

	(void)state;
	begin(&e);
	run(&e, 0x8000121c, 0x8000121e, 2, 2, RVT_ITYPE_BRANCH_TAKEN);
	run(&e, 0x8000124a, 0x80001254, 5, 4, RVT_ITYPE_CALL);
	run(&e, 0x80001100, 0x8000110c, 7, 4, RVT_ITYPE_CALL);
	run(&e, 0x800010f8, 0x800010fe, 3, 2, RVT_ITYPE_RETURN);
	run(&e, 0x80001110, 0x80001110, 1, 2, RVT_ITYPE_BRANCH_NOT_TAKEN);
	run(&e, 0x80001112, 0x80001116, 3, 4, RVT_ITYPE_BRANCH_NOT_TAKEN);
	/* ...fffef4; the sign is in updiscon */
	end(&e, 0x8000121c, RVT_ETRACE_BRANCH_ADDRESS, -0x10c, 2, 2, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_call_and_return),
		cmocka_unit_test(test_branch_and_return),
		cmocka_unit_test(test_three_branches),
		cmocka_unit_test(test_calls_and_branch_target),
	};

	return cmocka_run_group_tests_name("etrace worked examples", tests, NULL, NULL);
}
