// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Repeated history and segments, in numbers: long histories that come again must lead where the
 * reference walk goes, and be counted as often.
 */
#include <stdlib.h>
#include "flow/count/counts.h"
#include "flow-trio.h"

/* ---- repeated history ---- */

#define CODE_BYTES 600
#define HISTORIES 3
#define MAX_PERIOD 31

/* Branches, calls and, if they can be followed, returns and jumps; none leaves the code. */
static void put_code(struct rv_code *code, uint32_t flags)
{
	while (code->pc - code->base < CODE_BYTES - 8) {
		int32_t offset = 2 * rnd(CODE_BYTES / 2 - 4) - (int32_t)(code->pc - code->base);

		switch (rnd(12)) {
		case 0 ... 3: rv_put(code, rv_branch(offset)); break;
		case 4 ... 5: rv_put(code, rv_jal(RV_RA, offset)); break;
		case 6:
			if (flags & RVT_RUN_IMPLICIT_RETURN)
				rv_put(code, rv_c_jr(RV_RA));
			break;
		case 7:
			if (!(flags & RVT_RUN_SEQUENTIAL_JUMP))
				break;
			rv_put(code, rv_auipc(RV_T1, 0));
			rv_put(code, rv_jalr(0, RV_T1, offset));
			break;
		default: rv_put(code, RV_C_NOP); break;
		}
	}
	rv_put(code, rv_jal(0, (int32_t)(code->base - code->pc)));
}

/* A pattern of outcomes, again and again. */
struct pattern {
	uint64_t outcomes;		/* the first in bit 0 */
	unsigned int period, used;
	size_t *refills;		/* how often outcomes were asked for */
};

static uint64_t take_outcomes(struct pattern *p)
{
	uint64_t outcomes = 0;

	for (unsigned int i = 0; i < 64; i++)
		outcomes |= (p->outcomes >> p->used++ % p->period & 1) << i;
	return outcomes;
}

static uint32_t next_word(void *ctx, uint64_t *outcomes)
{
	struct pattern *p = ctx;

	*outcomes = take_outcomes(p);
	++*p->refills;
	return 64;
}

#define GO_ON 0			/* for an address: from where the flow is */

static int run_one(struct fixture *f, uint64_t pc, struct rvt_order order, struct pattern pattern,
		   struct rvt_order *done)
{
	int stop;

	if (order.refill) {
		order.outcomes = take_outcomes(&pattern);
		order.period = pattern.period;
	}

	f->out.n = 0;
	if (pc != GO_ON)
		rvt_flow_jump(f->flow, pc);
	order.refill_ctx = &pattern;
	stop = rvt_flow_run(f->flow, &order);
	rvt_flow_flush(f->flow);
	*done = order;
	return stop;
}

/* Of the flow that counts, and of all others. */
static size_t n_refills, n_other_refills;

static void run_all(struct trio *t, uint64_t pc, const struct rvt_order *order,
		    const struct pattern *pattern)
{
	struct rvt_order fast, counting, plain;
	struct pattern multiplied = *pattern;
	int stop = run_one(&t->plain, pc, *order, *pattern, &plain);

	multiplied.refills = &n_refills;
	assert_int_equal(run_one(&t->fast, pc, *order, *pattern, &fast), stop);
	assert_int_equal(run_one(&t->counting, pc, *order, multiplied, &counting), stop);
	assert_true(t->plain.out.n < MAX_PCS);
	assert_int_equal(t->fast.out.n, t->plain.out.n);
	assert_memory_equal(t->fast.out.pcs, t->plain.out.pcs,
			    t->plain.out.n * sizeof(t->plain.out.pcs[0]));
	assert_int_equal(fast.used_outcomes, plain.used_outcomes);
	assert_int_equal(fast.implicit_returns, plain.implicit_returns);
	assert_int_equal(fast.halfwords, plain.halfwords);
	assert_int_equal(counting.used_outcomes, plain.used_outcomes);
	assert_int_equal(counting.implicit_returns, plain.implicit_returns);
	assert_int_equal(counting.halfwords, plain.halfwords);
	same_returns(&t->fast, &t->plain);
	same_returns(&t->counting, &t->plain);
	tally(t);
}

static struct rvt_order long_order(uint32_t flags, const struct pattern *pattern)
{
	struct rvt_order o = unlimited();

	o.flags = flags | RVT_RUN_STOP_USED;
	o.n_outcomes = (uint64_t)pattern->period * (1 + rnd(40));
	o.refill = next_word;
	/* on, or into the middle of what is repeated */
	o.max_halfwords = rnd(4) ? 3000 : rnd(600);
	return o;
}

static void test_repeated(void **state)
{
	struct trio *t = malloc(sizeof(*t));

	(void)state;
	n_refills = n_other_refills = 0;
	for (unsigned int program = 0; program < 240; program++) {
		struct pattern patterns[HISTORIES];
		uint64_t pcs[HISTORIES];
		uint32_t flags = program & 1 ? RVT_RUN_IMPLICIT_RETURN : 0;

		random_seed(&numbers, program + 1);
		flags |= program & 2 ? RVT_RUN_SEQUENTIAL_JUMP : 0;
		trio_begin(t, program % 9);
		put_code(&t->fast.code, flags);
		trio_load(t);
		for (int i = 0; i < HISTORIES; i++) {
			patterns[i] = (struct pattern){
				.outcomes = rnd(3) ? random_word(&numbers) : 0,
				.period = 1 + rnd(MAX_PERIOD), .refills = &n_other_refills,
			};
			pcs[i] = t->plain.code.base + 2 * rnd(CODE_BYTES / 2 - 8);
		}
		for (int i = 0; i < 60; i++) {
			/* mostly the same from the same address */
			unsigned int n = rnd(HISTORIES), from = rnd(6) ? n : rnd(HISTORIES);
			struct rvt_order o = long_order(flags, &patterns[n]);

			run_all(t, pcs[from], &o, &patterns[n]);
			if (rnd(5) == 0)
				change_owner(t);
			if (rnd(20) == 0)
				change_depth(t, rnd(4) ? 0 : 3);
		}
		trio_end(t);
	}
	/* Two others ask for all outcomes; where counts are multiplied nobody asks. */
	assert_true(n_other_refills > 1000);
	assert_true(n_refills < n_other_refills / 4);
	free(t);
}

/* ---- what repetition depends on ---- */

/* The same outcomes, but each time fewer: of these there must be no more used up. */
static void test_fewer_outcomes(void **state)
{
	struct trio *t = malloc(sizeof(*t));
	const struct pattern zeros = { .period = 1, .refills = &n_other_refills };

	(void)state;
	trio_begin(t, 0);
	/* a loop with one branch, not taken */
	rv_put(&t->fast.code, rv_c_branch(4));
	rv_put(&t->fast.code, RV_C_NOP);
	rv_put(&t->fast.code, rv_jal(0, -4));
	trio_load(t);
	for (unsigned int n = 3 * 64; n; n--) {
		struct rvt_order order = unlimited();

		order.flags = RVT_RUN_STOP_USED;
		order.n_outcomes = n;
		order.refill = next_word;
		for (int i = 0; i < 4; i++)
			run_all(t, t->fast.code.base, &order, &zeros);
	}
	trio_end(t);
	free(t);
}

#define LONG_BLOCK 128		/* instructions, at most: there it goes on into another */

/*
 * A return in a block of its own: whoever comes there by falling into it has loaded its target just
 * before, for all others the return stack has it.
 */
static void test_return_alone(void **state)
{
	struct trio *t = malloc(sizeof(*t));
	const uint32_t flags = RVT_RUN_IMPLICIT_RETURN | RVT_RUN_SEQUENTIAL_JUMP;
	const struct pattern zeros = { .period = 1, .refills = &n_other_refills };
	struct rvt_order call = unlimited(), fall = unlimited(), on = unlimited();
	struct rv_code *code;
	uint64_t before, alone;

	(void)state;
	trio_begin(t, 4);
	code = &t->fast.code;
	rv_put(code, rv_jal(RV_RA, 12));
	/* where the call returns to, and where the target that was loaded is: loops of a branch */
	for (int i = 0; i < 2; i++) {
		rv_put(code, rv_c_branch(2));
		rv_put(code, rv_jal(0, -2));
	}
	before = code->pc;
	for (int i = 1; i < LONG_BLOCK; i++)
		rv_put(code, RV_C_NOP);
	rv_put(code, rv_auipc(RV_RA, 0));
	alone = code->pc;
	rv_put(code, rv_jalr(0, RV_RA, (int32_t)(before - 6 - (alone - 4))));
	trio_load(t);
	call.max_insns = 1;
	fall.max_insns = LONG_BLOCK;
	on.n_outcomes = 3 * 32;
	on.refill = next_word;
	call.flags = fall.flags = flags;
	on.flags = flags | RVT_RUN_STOP_USED;
	for (int i = 0; i < 12; i++) {
		run_all(t, code->base, &call, &zeros);
		if (i % 4 == 3) {
			run_all(t, before, &fall, &zeros);
			run_all(t, GO_ON, &on, &zeros);
		} else {
			run_all(t, alone, &on, &zeros);
		}
	}
	trio_end(t);
	free(t);
}

/*
 * What was learned in a mapping epoch does not hold in the one that has its number 2^32 mapping
 * epochs later.
 */
static void test_old_epoch(void **state)
{
	struct trio *t = malloc(sizeof(*t));
	struct fixture *const flows[] = { &t->fast, &t->counting, &t->plain };
	const uint32_t nops = RV_C_NOP << 16 | RV_C_NOP;
	const struct pattern zeros = { .period = 1, .refills = &n_other_refills };
	struct rvt_order one = unlimited(), on = unlimited();
	uint32_t mapping_epoch;

	(void)state;
	one.max_insns = 1;
	on.n_outcomes = 3 * 32;
	on.refill = next_word;
	trio_begin(t, 0);
	/* a loop with two branches, none taken */
	for (int i = 0; i < 2; i++) {
		rv_put(&t->fast.code, rv_c_branch(4));
		rv_put(&t->fast.code, RV_C_NOP);
	}
	rv_put(&t->fast.code, rv_jal(0, -8));
	trio_load(t);
	for (int i = 0; i < 4; i++)
		run_all(t, t->fast.code.base, &on, &zeros);
	assert_true(t->counting.flow->segments->n_counted > 0);
	mapping_epoch = t->fast.flow->mapping_epochs[0];
	do {
		for (int i = 0; i < 3; i++) {
			/* and then none but the first */
			if (flows[i]->flow->mapping_epochs[0] == mapping_epoch)
				flows[i]->flow->n_mapping_epochs = UINT32_MAX;
			assert_int_equal(rvt_space_map_bytes(flows[i]->space, t->fast.code.base + 4,
							     &nops, 4, "nops"), 0);
		}
		run_all(t, t->fast.code.base, &one, &zeros);
	} while (t->fast.flow->mapping_epochs[0] != mapping_epoch);
	assert_int_equal(t->counting.flow->mapping_epochs[0], mapping_epoch);
	run_all(t, t->fast.code.base, &on, &zeros);
	trio_end(t);
	free(t);
}

/* ---- many segments, many nodes ---- */

#define OUTCOMES 5u
#define WAYS (1u << OUTCOMES)

/* A function with two callers; behind each call there are so many ways that its node is dense. */
static void put_calls(struct rv_code *code, uint64_t callers[2])
{
	const uint64_t function = code->base + 2 * (4 + 4 * OUTCOMES + 2);

	for (int i = 0; i < 2; i++) {
		callers[i] = code->pc;
		rv_put(code, rv_jal(RV_RA, (int32_t)(function - code->pc)));
		for (unsigned int k = 0; k < OUTCOMES; k++) {
			rv_put(code, rv_c_branch(4));
			rv_put(code, RV_C_NOP);
		}
		rv_put(code, rv_c_jr(10));
	}
	rv_put(code, rv_c_branch(4));
	rv_put(code, RV_C_NOP);
	rv_put(code, rv_c_jr(RV_RA));
}

/*
 * What leads to a dense node learns that, but not a return, which leads elsewhere the next time.
 * Returns are counted, too, when the segments that they are behind have been forgotten.
 */
static void test_dense_returns(void **state)
{
	struct trio *t = malloc(sizeof(*t));
	const struct pattern none = { .period = 1, .refills = &n_other_refills };
	struct rvt_order call = unlimited(), on = unlimited();
	uint64_t callers[2];

	(void)state;
	trio_begin(t, 4);
	put_calls(&t->fast.code, callers);
	trio_load(t);
	call.max_insns = 1;
	call.flags = on.flags = RVT_RUN_IMPLICIT_RETURN;
	on.n_outcomes = 1 + OUTCOMES;
	for (unsigned int i = 0; i < 4 * WAYS; i++) {
		for (int k = 0; k < 2; k++) {
			run_all(t, callers[k], &call, &none);
			on.outcomes = i % (2 * WAYS);
			run_all(t, GO_ON, &on, &none);
		}
	}
	assert_int_equal(t->counting.flow->segments->n_dense, 2 * RVT_DENSE_LINES);
	tell(t, t->owner);
	run_all(t, callers[0], &call, &none);
	run_all(t, GO_ON, &on, &none);
	assert_int_equal(t->counting.flow->base.counts->n_return_log, 1);
	/* the tables are of orders with the same flags */
	call.flags = on.flags |= RVT_RUN_SEQUENTIAL_JUMP;
	run_all(t, callers[0], &call, &none);
	run_all(t, GO_ON, &on, &none);
	assert_int_equal(t->counting.flow->segments->n_dense, 0);
	trio_end(t);
	free(t);
}

/* Functions of some times c.beqz over c.nop and a return, and what was executed of them. */
struct many {
	struct fixture f;
	unsigned int branches;		/* of each */
	uint64_t base, insns, taken;
};

static unsigned int many_bytes(const struct many *m)
{
	return 4 * m->branches + 2;
}

static void many_create(struct many *m, size_t functions, unsigned int branches)
{
	const uint16_t branch[] = { rv_c_branch(4), RV_C_NOP };
	uint8_t *code, *end;

	m->branches = branches;
	code = end = malloc(functions * many_bytes(m));
	for (size_t i = 0; i < functions; i++) {
		for (unsigned int k = 0; k < 2 * branches; k++) {
			*end++ = branch[k % 2];
			*end++ = branch[k % 2] >> 8;
		}
		*end++ = (uint8_t)rv_c_jr(RV_RA);
		*end++ = rv_c_jr(RV_RA) >> 8;
	}
	set_up(&m->f, 0, 0);
	m->base = 0x10000;
	m->insns = m->taken = 0;
	assert_int_equal(rvt_flow_count(m->f.flow), 0);
	assert_int_equal(rvt_space_map_bytes(m->f.space, m->base, code, end - code, "functions"),
			 0);
	free(code);
}

static void many_call(struct many *m, unsigned int function, unsigned int outcomes)
{
	const unsigned int taken = __builtin_popcount(outcomes & ((1u << m->branches) - 1));
	struct rvt_order o = unlimited();

	o.n_outcomes = OUTCOMES;
	o.outcomes = outcomes;
	rvt_flow_start(m->f.flow, m->base + function * many_bytes(m), 0, true);
	assert_int_equal(rvt_flow_run(m->f.flow, &o), RVT_STOP_TARGET);
	assert_int_equal(o.used_outcomes, m->branches);
	m->insns += 2 * m->branches - taken + 1;
	m->taken += taken;
}

static int sub_insns(void *ctx, const struct rvt_run *run, uint64_t times)
{
	((struct many *)ctx)->insns -= run->count * times;
	return 0;
}

static int sub_taken(void *ctx, uint64_t from, uint64_t to, enum rvt_insn_class iclass,
		     int64_t times)
{
	(void)iclass;
	if (to == from + 4)
		((struct many *)ctx)->taken -= times;
	return 0;
}

/* What is counted is what was executed. */
static void many_destroy(struct many *m)
{
	const struct rvt_count_sink sink = { .size = sizeof(sink), .ctx = m, .run = sub_insns,
		.edge = sub_taken };

	assert_int_equal(rvt_flow_counts(m->f.flow, &sink), 0);
	rvt_flow_restore_counts(m->f.flow, 0);
	assert_int_equal(rvt_flow_counts(m->f.flow, &sink), 0);
	assert_int_equal(m->insns, 0);
	assert_int_equal(m->taken, 0);
	tear_down(&m->f);
}

/*
 * All ways through @functions are taken and counted four times. That takes so many lines for each,
 * and makes @dense of their nodes dense.
 */
static void take_all(unsigned int functions, unsigned int branches, unsigned int lines,
		     unsigned int dense)
{
	struct many m;

	many_create(&m, functions, branches);
	for (unsigned int round = 0; round < 4; round++)
		for (unsigned int i = 0; i < functions * WAYS; i++)
			many_call(&m, i / WAYS, i % WAYS);
	assert_int_equal(m.f.flow->segments->n_nodes - 1, functions * lines);
	assert_int_equal(m.f.flow->segments->n_dense, functions * dense * RVT_DENSE_LINES);
	many_destroy(&m);
}

/*
 * A segment uses up the first of five outcomes, and the others may be anything: two segments for
 * each.
 */
static void test_many_segments(void **state)
{
	(void)state;
	take_all(20000, 1, 1, 0);
}

/*
 * A segment uses up all five outcomes: a function has 32, and they lead to its c.nop and its
 * return, which have a line each. There is a table for so many, which does not change what is
 * counted.
 */
static void test_many_lines(void **state)
{
	(void)state;
	take_all(1000, OUTCOMES, WAYS / RVT_LINE_SEGMENTS + 2, 1);
}

/* More nodes than there is room for, while what is deferred keeps what is there from going. */
static void test_many_nodes(void **state)
{
	const unsigned int functions = RVT_NODES + 1000;
	struct many m;

	(void)state;
	many_create(&m, functions, 1);
	for (unsigned int i = 0; i < 20; i++)
		many_call(&m, 0, 0);
	rvt_flow_defer_counts(m.f.flow, 0, RVT_DEFERRED_BOTH);
	assert_true(m.f.flow->deferred.left);
	/* at second sight it is a node */
	for (unsigned int i = 0; i < 2 * functions; i++)
		many_call(&m, i / 2, i);
	assert_true(m.f.flow->deferred.full);
	many_destroy(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_repeated),
		cmocka_unit_test(test_fewer_outcomes),
		cmocka_unit_test(test_return_alone),
		cmocka_unit_test(test_old_epoch),
		cmocka_unit_test(test_many_segments),
		cmocka_unit_test(test_many_lines),
		cmocka_unit_test(test_dense_returns),
		cmocka_unit_test(test_many_nodes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
