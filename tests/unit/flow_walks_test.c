// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Flow engine: random programs under random orders, where the block walk must do what the reference
 * walk does.
 */
#include <stdlib.h>
#include "flow/control.h"
#include "flow-fixture.h"
#include "property.h"

static struct random numbers;

static uint32_t rnd(uint32_t n)
{
	return random_below(&numbers, n);
}

static int32_t rnd_offset(void)
{
	return 2 * ((int32_t)rnd(64) - 32);
}

/* One number at a time: in which order arguments are evaluated is the compiler's choice. */
static uint32_t random_jal(void)
{
	int32_t offset = rnd_offset();

	return rv_jal(rnd(7), offset);
}

static uint32_t random_jalr(void)
{
	uint32_t rs1 = rnd(7);

	return rv_jalr(rnd(7), rs1, 0);
}

static uint32_t random_jalr_t1(void)
{
	int32_t offset = rnd_offset();

	return rv_jalr(rnd(2), RV_T1, offset + 4);
}

static void random_program(struct rv_code *code, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++) {
		uint32_t kind = rnd(26);

		switch (kind) {
		case 0 ... 3: rv_put(code, rv_branch(rnd_offset())); break;
		case 4 ... 5: rv_put(code, rv_c_branch(rnd_offset())); break;
		case 6: rv_put(code, random_jal()); break;
		case 7: rv_put(code, rv_c_j(rnd_offset())); break;
		case 8: rv_put(code, random_jalr()); break;
		case 9: rv_put(code, rv_c_jr(RV_RA)); break;
		case 10:
			rv_put(code, rv_auipc(RV_T1, 0));
			rv_put(code, random_jalr_t1());
			break;
		case 11: rv_put(code, rnd(4) ? RV_NOP : RV_ECALL); break;
		case 12: rv_put(code, rnd(4) ? RV_C_NOP : RV_SRET); break;
		case 13 ... 18: rv_put(code, RV_NOP); break;
		default: rv_put(code, RV_C_NOP); break;
		}
	}
}

/* More than 64 outcomes, in words of any length. */
static struct random refill_numbers;

static uint32_t random_refill(void *ctx, uint64_t *outcomes)
{
	struct random *words = ctx;
	uint32_t n = 1 + random_below(words, 64);

	*outcomes = random_word(words) >> (64 - n);
	return n;
}

static uint32_t random_flags(void)
{
	uint32_t flags = rnd(0x800);

	if (flags & RVT_RUN_STOP_USED)
		flags &= ~RVT_RUN_NOT_TAKEN;
	if (!(flags & RVT_RUN_NOT_TAKEN))
		flags &= ~RVT_RUN_LAST_TAKEN;
	return flags;
}

static struct rvt_order random_order(const struct rv_code *code)
{
	struct rvt_order o = unlimited();

	o.flags = random_flags();
	o.n_outcomes = rnd(3) ? rnd(12) : rnd(65);
	o.outcomes = rnd(1 << 30);
	o.outcomes = o.outcomes << 30 | rnd(1 << 30);
	o.outcomes = o.outcomes << 3 | rnd(8);
	if (rnd(3))
		o.max_halfwords = rnd(rnd(2) ? 20 : 200);
	else
		o.max_insns = rnd(100);
	if (rnd(4) == 0)
		o.max_insns = rnd(30);
	o.stop_pc = code->base + 2 * rnd((code->pc - code->base) / 2);
	if (rnd(4) == 0) {
		o.n_outcomes = rnd(400);
		o.refill = random_refill;
		random_seed(&refill_numbers, rnd(1 << 30));
	}
	return o;
}

static void compare_walks(struct fixture *a, struct fixture *b, struct rvt_order order)
{
	struct rvt_order oa = order, ob = order;
	struct random words_a = refill_numbers, words_b = refill_numbers;
	uint64_t pca = 0, pcb = 0;
	enum rvt_insn_class iclass;
	int stop_a, stop_b;

	oa.refill_ctx = &words_a;
	ob.refill_ctx = &words_b;
	a->out.n = b->out.n = 0;
	stop_a = rvt_flow_run(a->flow, &oa);
	stop_b = rvt_flow_run(b->flow, &ob);
	rvt_flow_flush(a->flow);
	rvt_flow_flush(b->flow);
	assert_int_equal(stop_a, stop_b);
	assert_int_equal(a->out.n, b->out.n);
	assert_memory_equal(a->out.pcs, b->out.pcs, a->out.n * sizeof(a->out.pcs[0]));
	assert_int_equal(oa.used_outcomes, ob.used_outcomes);
	assert_int_equal(oa.implicit_returns, ob.implicit_returns);
	assert_int_equal(oa.halfwords, ob.halfwords);
	if (rvt_flow_last(a->flow, &pca, &iclass) && iclass == RVT_INSN_RETURN &&
	    (stop_a == RVT_STOP_RETURN || stop_a == RVT_STOP_TARGET)) {
		assert_int_equal(oa.popped_valid, ob.popped_valid);
		if (oa.popped_valid)
			assert_int_equal(oa.popped, ob.popped);
	}
	pca = 0;
	assert_int_equal(rvt_flow_pc(a->flow, &pca), rvt_flow_pc(b->flow, &pcb));
	assert_int_equal(pca, pcb);
	assert_int_equal(rvt_flow_return_depth(a->flow), rvt_flow_return_depth(b->flow));
	for (unsigned int i = 0; i < rvt_flow_return_depth(a->flow); i++) {
		assert_true(rvt_flow_return_at(a->flow, i, &pca));
		assert_true(rvt_flow_return_at(b->flow, i, &pcb));
		assert_int_equal(pca, pcb);
	}
}

static void random_mapping(struct fixture *a, struct fixture *b)
{
	uint64_t addr = a->code.base + 2 * rnd(60), len = 2 * (1 + rnd(10));
	uint8_t bytes[32];

	for (size_t i = 0; i < sizeof(bytes); i += 2) {
		bytes[i] = rnd(2) ? 0x01 : 0x05;	/* c.nop, c.addi */
		bytes[i + 1] = 0;
	}
	if (rnd(2)) {
		rvt_space_map_bytes(a->space, addr, bytes, len, "poke");
		rvt_space_map_bytes(b->space, addr, bytes, len, "poke");
	} else {
		load(a);
		load(b);
	}
}

static void test_random(void **state)
{
	struct fixture *a = malloc(sizeof(*a)), *b = malloc(sizeof(*b));

	(void)state;
	for (int program = 0; program < 150; program++) {
		random_seed(&numbers, program + 1);
		reference = false;
		set_up(a, 0, program % 5);
		reference = true;
		set_up(b, 0, program % 5);
		random_program(&a->code, 40 + rnd(300));
		b->code = a->code;
		load(a);
		load(b);
		for (int i = 0; i < 400; i++) {
			uint64_t pc = a->code.base + 2 * rnd((a->code.pc - a->code.base) / 2);

			if (rnd(3) == 0) {
				rvt_flow_jump(a->flow, pc);
				rvt_flow_jump(b->flow, pc);
			}
			if (rnd(40) == 0)
				random_mapping(a, b);
			compare_walks(a, b, random_order(&a->code));
		}
		tear_down(a);
		tear_down(b);
	}
	free(a);
	free(b);
	reference = false;
}

/*
 * The same again and again: few nodes, few histories, and one set of flags, so that paths are
 * replayed. Small return stacks, which overflow.
 */
static void test_replay(void **state)
{
	struct fixture *a = malloc(sizeof(*a)), *b = malloc(sizeof(*b));

	(void)state;
	for (int program = 0; program < 300; program++) {
		uint64_t words[3], pcs[4];
		uint32_t flags;

		random_seed(&numbers, program + 1000);
		reference = false;
		set_up(a, 0, program % 7);
		reference = true;
		set_up(b, 0, program % 7);
		random_program(&a->code, 40 + rnd(200));
		b->code = a->code;
		load(a);
		load(b);
		flags = random_flags() | (program % 3 ? RVT_RUN_IMPLICIT_RETURN : 0);
		flags &= program % 2 ? ~RVT_RUN_STOP_RETURN : ~RVT_RUN_ALL_JUMPS;
		for (int i = 0; i < 4; i++)
			pcs[i] = a->code.base + 2 * rnd((a->code.pc - a->code.base) / 2);
		for (int i = 0; i < 3; i++) {
			words[i] = (uint64_t)rnd(1 << 30) << 34;
			words[i] |= (uint64_t)rnd(1 << 30) << 4;
		}
		for (int i = 0; i < 200; i++) {
			struct rvt_order o = unlimited();

			o.flags = flags;
			o.n_outcomes = 30 + rnd(35);
			o.outcomes = words[rnd(3)];
			o.max_halfwords = rnd(4) ? 1000 : rnd(100);
			if (rnd(3)) {
				uint64_t pc = pcs[rnd(4)];

				rvt_flow_jump(a->flow, pc);
				rvt_flow_jump(b->flow, pc);
			}
			compare_walks(a, b, o);
		}
		tear_down(a);
		tear_down(b);
	}
	free(a);
	free(b);
	reference = false;
}

/* ---- counting ---- */

#define PLACES 1024	/* half-words of code */

struct tally {
	uint64_t base;
	int64_t insns[PLACES];
	int64_t edges[PLACES][PLACES];
};

static size_t node(const struct tally *t, uint64_t pc)
{
	assert_in_range(pc, t->base, t->base + 2 * PLACES - 1);
	return (pc - t->base) / 2;
}

static int tally_run(void *ctx, const struct rvt_run *run, uint64_t times)
{
	struct tally *t = ctx;
	uint64_t pc = run->block->pc;

	for (uint32_t i = 0; i < run->first + run->count; i++) {
		if (i >= run->first)
			t->insns[node(t, pc)] += times;
		pc += 2 * run->block->halfwords[i];
	}
	return 0;
}

static int tally_edge(void *ctx, uint64_t from, uint64_t to, enum rvt_insn_class iclass,
		      int64_t times)
{
	struct tally *t = ctx;

	(void)iclass;
	t->edges[node(t, from)][node(t, to)] += times;
	return 0;
}

/* What one order of the reference walk executed; *last is the instruction before. */
static void tally_pcs(struct tally *t, const struct fixture *f, uint64_t *last)
{
	for (size_t i = 0; i < f->out.n; i++) {
		uint64_t pc = f->out.pcs[i];

		t->insns[node(t, pc)]++;
		if (*last) {
			if (pc != *last + insn_bytes(f->code.bytes[*last - t->base]))
				t->edges[node(t, *last)][node(t, pc)]++;
		}
		*last = pc;
	}
}

static void compare_tallies(const struct tally *a, const struct tally *b)
{
	for (int i = 0; i < PLACES; i++) {
		assert_int_equal(a->insns[i], b->insns[i]);
		for (int j = 0; j < PLACES; j++)
			assert_int_equal(a->edges[i][j], b->edges[i][j]);
	}
}

/* Counts are those of the instructions and edges that the reference walk delivers. */
static void test_counts(void **state)
{
	struct fixture *a = malloc(sizeof(*a)), *b = malloc(sizeof(*b));
	struct tally *expected = malloc(sizeof(*expected)), *counted = malloc(sizeof(*counted));
	struct rvt_count_sink sink = { .size = sizeof(sink), .ctx = counted, .run = tally_run,
		.edge = tally_edge };
	int64_t total = 0;

	(void)state;
	for (int program = 0; program < 24; program++) {
		uint64_t words[3], pcs[4], last = 0;
		uint32_t flags;

		random_seed(&numbers, program + 5000);
		reference = false;
		set_up(a, 0, program % 7);
		assert_int_equal(rvt_flow_count(a->flow), 0);
		reference = true;
		set_up(b, 0, program % 7);
		random_program(&a->code, 40 + rnd(200));
		b->code = a->code;
		load(a);
		load(b);
		memset(expected, 0, sizeof(*expected));
		memset(counted, 0, sizeof(*counted));
		expected->base = counted->base = a->code.base;
		flags = random_flags() | (program % 3 ? RVT_RUN_IMPLICIT_RETURN : 0);
		flags &= program % 2 ? ~RVT_RUN_STOP_RETURN : ~RVT_RUN_ALL_JUMPS;
		for (int i = 0; i < 4; i++)
			pcs[i] = a->code.base + 2 * rnd((a->code.pc - a->code.base) / 2);
		for (int i = 0; i < 3; i++) {
			words[i] = (uint64_t)rnd(1 << 30) << 34;
			words[i] |= (uint64_t)rnd(1 << 30) << 4;
		}
		for (int i = 0; i < 200; i++) {
			struct rvt_order oa = unlimited(), ob;

			oa.flags = flags;
			oa.n_outcomes = 30 + rnd(35);
			oa.outcomes = words[rnd(3)];
			oa.max_halfwords = rnd(4) ? 1000 : rnd(100);
			ob = oa;
			if (rnd(3)) {
				uint64_t pc = pcs[rnd(4)];

				rvt_flow_jump(a->flow, pc);
				rvt_flow_jump(b->flow, pc);
			}
			b->out.n = 0;
			assert_int_equal(rvt_flow_run(a->flow, &oa), rvt_flow_run(b->flow, &ob));
			rvt_flow_flush(b->flow);
			tally_pcs(expected, b, &last);
			/* in one piece, or in many */
			if (program % 4 == 0 && rnd(10) == 0) {
				assert_int_equal(rvt_flow_counts(a->flow, &sink), 0);
				if (rnd(2)) {
					rvt_flow_forget_blocks(a->flow);
					rvt_image_forget_blocks(a->image);
				}
			}
		}
		assert_int_equal(a->out.n, 0);
		assert_int_equal(rvt_flow_counts(a->flow, &sink), 0);
		compare_tallies(expected, counted);
		for (int i = 0; i < PLACES; i++)
			total += counted->insns[i];
		tear_down(a);
		tear_down(b);
	}
	assert_true(total > 50000);
	free(a);
	free(b);
	free(expected);
	free(counted);
	reference = false;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_replay),
		cmocka_unit_test(test_counts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
