// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * A damaged trace of a healthy hart: the damage is reported, and nothing that it hides is called a
 * mismatch; behind it, wrong results are still found.
 */
#include "tandem-trace.h"

#define LOOPS 24u
#define LOOP_BASE UINT64_C(0x80000010)
#define MAX_GROUPS 400u

/* Where each group begins. */
struct places {
	size_t at[MAX_GROUPS];
	unsigned int len;
};

static void note_place(struct trace *t, struct places *places)
{
	assert_true(places->len < MAX_GROUPS);
	places->at[places->len++] = t->len;
}

/*
 * A loop that stores, loads, multiplies and jumps back, encoded by GNU as. @wrong: the loop whose
 * product is wrong, LOOPS: none.
 */
static void program(struct trace *t, struct places *places, unsigned int wrong)
{
	uint64_t sum = 0, product;
	unsigned int i;

	new_trace(t);
	begin(t);
	REC(t, .op = RVT_TANDEM_STATE_INIT);
	state(t, RVT_TANDEM_PC, LOOP_BASE);
	reg(t, X(6), DATA);
	end(t);
	for (i = 0; i < LOOPS; i++) {
		note_place(t, places);
		insn(t, 0x00728293);			/* addi t0,t0,7 */
		reg(t, X(5), sum += 7);
		end(t);
		note_place(t, places);
		insn(t, 0x00533023);			/* sd t0,0(t1) */
		store(t, DATA, 3, sum);
		end(t);
		note_place(t, places);
		insn(t, 0x00033383);			/* ld t2,0(t1) */
		load(t, DATA, 3, sum);
		reg(t, X(7), sum);
		end(t);
		note_place(t, places);
		insn(t, 0x02538533);			/* mul a0,t2,t0 */
		product = sum * sum + (i == wrong);
		reg(t, X(10), product);
		end(t);
		note_place(t, places);
		begin(t);				/* j .-16 */
		state(t, RVT_TANDEM_PC, LOOP_BASE);
		REC(t, .op = RVT_TANDEM_INSN32, .value = 0xff1ff06f);
		end(t);
	}
}

static void undamaged(void **unused)
{
	struct trace *t = malloc(sizeof(*t));
	struct places places = { .len = 0 };

	(void)unused;
	program(t, &places, LOOPS);
	verify(t);
	assert_string_equal(t->text, "");
	assert_int_equal(t->result.compared, 5 * LOOPS);
	free(t);
}

/* One opcode that does not exist, anywhere: no mismatch, and the rest is compared. */
static void bad_opcodes(void **unused)
{
	struct trace *t = malloc(sizeof(*t));
	unsigned int i, n;

	(void)unused;
	for (i = 0, n = 1; i < n; i++) {
		struct places places = { .len = 0 };

		program(t, &places, LOOPS);
		n = places.len - 10;
		/* the record behind begin group */
		t->bytes[places.at[i] + 1] = 0xee;
		verify(t);
		assert_string_equal(t->text, "");
		assert_in_range(t->result.compared, 5 * LOOPS - 6, 5 * LOOPS - 1);
		assert_in_range(t->result.no_pc, 0, 5);
	}
	free(t);
}

/* Some groups lost at once. */
static void lost_groups(void **unused)
{
	struct trace *t = malloc(sizeof(*t));
	unsigned int lost, at;

	(void)unused;
	for (lost = 1; lost < 9; lost++)
		for (at = 5; at < 15; at++) {
			struct places places = { .len = 0 };

			program(t, &places, LOOPS);
			memset(t->bytes + places.at[at] + 1, 0xee,
			       places.at[at + lost] - places.at[at] - 2);
			verify(t);
			assert_string_equal(t->text, "");
			assert_true(t->result.compared > 5 * LOOPS - 40);
		}
	free(t);
}

/* What is wrong behind the damage is found. */
static void wrong_behind_damage(void **unused)
{
	struct places places = { .len = 0 };
	struct trace *t = malloc(sizeof(*t));

	(void)unused;
	program(t, &places, LOOPS - 1);
	t->bytes[places.at[7] + 1] = 0xee;
	verify(t);
	assert_string_equal(t->text, "  a0: expected 0x6e40, seen 0x6e41\n");
	free(t);
}

/* Nothing at a known pc: nothing is verified. */
static void nothing_verified(void **unused)
{
	struct trace *t = malloc(sizeof(*t));

	(void)unused;
	memset(t, 0, sizeof(*t));
	rvt_tandem_params_init(&t->params, 64);
	verify(t);
	assert_int_equal(t->result.compared, 0);
	insn(t, 0x4295);
	reg(t, X(5), 5);
	end(t);
	verify(t);
	assert_int_equal(t->result.compared, 0);
	assert_int_equal(t->result.no_pc, 1);
	/* loads only, as from-elf writes them */
	t->len = 0;
	begin(t);
	REC(t, .op = RVT_TANDEM_STATE_INIT);
	store(t, DATA, 3, 1);
	end(t);
	begin(t);
	REC(t, .op = RVT_TANDEM_STATE_INIT);
	state(t, RVT_TANDEM_PC, BASE);
	end(t);
	reg(t, CSR_MSCRATCH, 0);
	verify(t);
	assert_int_equal(t->result.compared, 0);
	free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(undamaged), cmocka_unit_test(bad_opcodes),
		cmocka_unit_test(lost_groups), cmocka_unit_test(wrong_behind_damage),
		cmocka_unit_test(nothing_verified),
	};

	return has_golden_model() ? cmocka_run_group_tests(tests, NULL, NULL) : 0;
}
