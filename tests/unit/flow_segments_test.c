// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Segments: what they are made of, which ones of a line are those of a key, with any processor's
 * instructions, and where in words their fields are.
 */
#include <stdlib.h>
#include "flow/memo/table-pool.h"
#include "flow/walk/walk.h"
#include "flow-fixture.h"

#define ROUNDS 100000

/* Mostly like @key, so that what little differs decides. */
static struct rvt_segment any_segment(uint32_t key)
{
	const uint32_t differ = rand() % 2 ? 1u << rand() % 12 : 0;

	return (struct rvt_segment){
		.key = key ^ differ, .open = rand() % 2 ? 1u << rand() % 12 : 0,
		.leaves = rand(), .ends_return = rand(), .falls = rand(), .state = rand(),
		.n_pushes = rand(), .next = rand(), .times = rand(), .runs = rand(),
		.insns = rand(),
	};
}

static void test_like(void **state)
{
	(void)state;
	srand(1);
	for (unsigned int round = 0; round < ROUNDS; round++) {
		const uint32_t word = rand();
		const uint32_t key = rvt_segment_key(word, rand() % (RVT_SEGMENT_OUTCOMES + 1));
		struct rvt_segment *first = NULL;
		struct rvt_segment_line line;
		unsigned int like = 0;

		for (unsigned int i = RVT_LINE_SEGMENTS; i--; ) {
			struct rvt_segment *seg = &line.segments[i];

			*seg = any_segment(key & (RVT_SEGMENT_KEYS - 1));
			if ((seg->key | seg->open) != ((key & (RVT_SEGMENT_KEYS - 1)) | seg->open))
				continue;
			like |= 1u << i;
			first = seg;
		}
		assert_int_equal(rvt_segments_like_plain(&line, key), like);
#ifdef __SSE2__
		assert_int_equal(rvt_segments_like_sse2(&line, key), like);
#endif
		assert_ptr_equal(rvt_segment_in(&line, key), first);
	}
}

/* All ones in a field, of which as many segments as are summed up must not reach the next one. */
static void test_layout(void **state)
{
	static const struct {
		struct rvt_segment seg;
		unsigned int shift;
		uint64_t of, not_of;
	} fields[] = {
		{ { .used = 7 }, RVT_SEGMENT_USED, RVT_SEGMENT_EVEN, RVT_SEGMENT_ODD },
		{ { .taken = 7 }, RVT_SEGMENT_TAKEN, RVT_SEGMENT_EVEN, RVT_SEGMENT_ODD },
		{ { .halfwords = 4095 }, RVT_SEGMENT_HALFWORDS, RVT_SEGMENT_EVEN, RVT_SEGMENT_ODD },
		{ { .n_runs = 63 }, RVT_SEGMENT_N_RUNS, RVT_SEGMENT_ODD, RVT_SEGMENT_EVEN },
		{ { .insns = 2047 }, RVT_SEGMENT_INSNS, RVT_SEGMENT_ODD, RVT_SEGMENT_EVEN },
		{ { .indirect = 3 }, RVT_SEGMENT_INDIRECT, RVT_SEGMENT_ODD, RVT_SEGMENT_EVEN },
	};
	const struct rvt_segment once = { .times = 1 };
	uint64_t all = 0;

	(void)state;
	for (unsigned int i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		const struct rvt_segment *seg = &fields[i].seg;
		const uint64_t field = seg->used | seg->taken | seg->halfwords | seg->n_runs |
				       seg->insns | seg->indirect;

		assert_int_equal(seg->sums, field << fields[i].shift);
		assert_int_equal(seg->sums & fields[i].of, seg->sums);
		assert_int_equal(seg->sums & fields[i].not_of, 0);
		all |= seg->sums;
		for (unsigned int j = 0; j < sizeof(fields) / sizeof(fields[0]); j++)
			if (fields[j].of == fields[i].of && fields[j].shift > fields[i].shift)
				assert_true(RVT_SEGMENT_SUMS * field <
					    1ull << (fields[j].shift - fields[i].shift));
	}
	assert_int_equal(RVT_SEGMENT_EVEN | RVT_SEGMENT_ODD, all);
	assert_int_equal(once.next_times, RVT_SEGMENT_TIMES_ONE);
}

/* ---- making segments ---- */

/* The segment from @pc on under orders with @flags. */
static struct rvt_segment *learn(struct fixture *f, uint32_t flags, uint64_t pc, uint32_t key)
{
	struct rvt_code_block *block;

	assert_true(rvt_tables_prepare_segments(f->flow, flags));
	assert_int_equal(rvt_flow_enter(f->flow, pc, &block), 0);
	return rvt_segments_learn(f->flow, rvt_segments_node(f->flow->segments, block), key,
				  flags);
}

static const struct rvt_segment_path *path_of(const struct fixture *f,
					      const struct rvt_segment *seg)
{
	return rvt_segment_path(f->flow->segments, seg);
}

/* Run number @i of @seg is @insns instructions from the beginning of the block at @pc. */
static void check_run(const struct fixture *f, const struct rvt_segment *seg, unsigned int i,
		      uint64_t pc, unsigned int insns)
{
	const struct rvt_run *run = rvt_segment_runs(f->flow->segments, seg) + i;

	assert_true(i < seg->n_runs);
	assert_int_equal(run->block->pc, pc);
	assert_int_equal(run->first, 0);
	assert_int_equal(run->count, insns);
}

/*
 * 1000 c.nop, 1002 branch to 1006, 1004 c.nop, 1006 c.nop, 1008 branch to 100c, 100a c.nop,
 * 100c c.jr a0
 */
static void put_branches(struct fixture *f)
{
	rv_put(&f->code, RV_C_NOP);
	rv_put(&f->code, rv_c_branch(4));
	rv_put(&f->code, RV_C_NOP);
	rv_put(&f->code, RV_C_NOP);
	rv_put(&f->code, rv_c_branch(4));
	rv_put(&f->code, RV_C_NOP);
	rv_put(&f->code, rv_c_jr(10));
	load(f);
}

/* The last outcomes of an order, and on to the indirect jump. */
static void test_to_jump(void **state)
{
	const struct rvt_segment *seg;
	struct fixture f;

	(void)state;
	set_up(&f, 0, 0);
	put_branches(&f);
	seg = learn(&f, 0, 0x1000, rvt_segment_key(2, 2));
	assert_int_equal(seg->state, RVT_SEGMENT_PLAIN);
	assert_int_equal(seg->n_runs, 3);
	check_run(&f, seg, 0, 0x1000, 2);
	check_run(&f, seg, 1, 0x1004, 3);
	check_run(&f, seg, 2, 0x100c, 1);
	assert_int_equal(seg->used, 2);
	assert_int_equal(seg->taken, 1);
	assert_int_equal(seg->insns, 6);
	assert_int_equal(seg->halfwords, 6);
	assert_true(seg->leaves);
	assert_false(seg->ends_return);
	assert_int_equal(seg->next, 0);
	assert_int_equal(path_of(&f, seg)->end_pc, 0x100e);
	tear_down(&f);
}

/* No further than the branch that uses up the last outcome. */
static void test_to_end(void **state)
{
	const struct rvt_segment *seg;
	struct fixture f;

	(void)state;
	set_up(&f, 0, 0);
	put_branches(&f);
	seg = learn(&f, 0, 0x1000, rvt_segment_key(2, 2) | RVT_SEGMENT_END);
	assert_int_equal(seg->n_runs, 2);
	check_run(&f, seg, 0, 0x1000, 2);
	check_run(&f, seg, 1, 0x1004, 3);
	assert_int_equal(seg->insns, 5);
	assert_false(seg->leaves);
	assert_int_equal(path_of(&f, seg)->end_pc, 0x100c);
	/* and names the node where it leads */
	assert_int_not_equal(seg->next, 0);
	assert_int_equal(f.flow->segments->pcs[seg->next], 0x100c);
	tear_down(&f);
}

/* Up to the branch behind the last outcome, which is not executed. */
static void test_to_branch(void **state)
{
	const struct rvt_segment *seg;
	struct fixture f;

	(void)state;
	set_up(&f, 0, 0);
	put_branches(&f);
	seg = learn(&f, 0, 0x1000, rvt_segment_key(0, 1) | RVT_SEGMENT_TO_BRANCH);
	assert_int_equal(seg->n_runs, 2);
	check_run(&f, seg, 0, 0x1000, 2);
	check_run(&f, seg, 1, 0x1004, 2);
	assert_int_equal(seg->used, 1);
	assert_int_equal(seg->taken, 0);
	assert_int_equal(seg->insns, 4);
	assert_int_equal(path_of(&f, seg)->end_pc, 0x1008);
	tear_down(&f);
}

/* Behind a jump that leaves there may be any outcomes. */
static void test_open_outcomes(void **state)
{
	const struct rvt_segment *seg;
	struct fixture f;

	(void)state;
	set_up(&f, 0, 0);
	put_branches(&f);
	seg = learn(&f, 0, 0x1000, rvt_segment_key(0, RVT_SEGMENT_OUTCOMES));
	assert_int_equal(seg->used, 2);
	assert_true(seg->leaves);
	for (unsigned int outcomes = 0; outcomes < 1u << RVT_SEGMENT_OUTCOMES; outcomes++)
		assert_int_equal(rvt_segment_is(seg, rvt_segment_key(outcomes,
								     RVT_SEGMENT_OUTCOMES)),
				 !(outcomes & 3));
	tear_down(&f);
}

/* 1000 call 1008, 1004 branch to itself, 1006 c.nop, 1008 c.nop, 100a return */
static void put_call(struct fixture *f)
{
	rv_put(&f->code, rv_jal(RV_RA, 8));
	rv_put(&f->code, rv_c_branch(0));
	rv_put(&f->code, RV_C_NOP);
	rv_put(&f->code, RV_C_NOP);
	rv_put(&f->code, rv_c_jr(RV_RA));
	load(f);
}

/* A call and its return are in one segment, and leave nothing on the return stack. */
static void test_call_and_return(void **state)
{
	const struct rvt_segment *seg;
	struct fixture f;

	(void)state;
	set_up(&f, 0, 4);
	put_call(&f);
	seg = learn(&f, RVT_RUN_IMPLICIT_RETURN, 0x1000,
		    rvt_segment_key(0, 1) | RVT_SEGMENT_END);
	assert_int_equal(seg->state, RVT_SEGMENT_CALLS);
	assert_int_equal(seg->n_runs, 3);
	check_run(&f, seg, 0, 0x1000, 1);
	check_run(&f, seg, 1, 0x1008, 2);
	check_run(&f, seg, 2, 0x1004, 1);
	assert_int_equal(seg->halfwords, 5);
	assert_int_equal(rvt_segment_returns(seg), 1);
	assert_int_equal(seg->nesting, 1);
	assert_int_equal(seg->n_pushes, 0);
	tear_down(&f);
}

/* Without implicit returns the return leaves, and the call is still on the stack. */
static void test_call(void **state)
{
	const struct rvt_segment *seg;
	struct fixture f;

	(void)state;
	set_up(&f, 0, 4);
	put_call(&f);
	seg = learn(&f, 0, 0x1000, rvt_segment_key(0, 1));
	assert_int_equal(seg->n_runs, 2);
	assert_true(seg->leaves);
	assert_false(seg->ends_return);
	assert_int_equal(seg->used, 0);
	assert_int_equal(seg->n_pushes, 1);
	assert_int_equal(*rvt_segment_pushes(f.flow->segments, seg), 0x1004);
	tear_down(&f);
}

/* Of calls that do not return a segment has no more than fit. */
static void test_many_pushes(void **state)
{
	const struct rvt_segment *seg;
	struct fixture f;

	(void)state;
	set_up(&f, 0, 8);
	rv_put(&f.code, rv_c_branch(2));
	for (unsigned int i = 0; i < RVT_SEGMENT_PUSHES + 2; i++)
		rv_put(&f.code, rv_jal(RV_RA, 4));
	rv_put(&f.code, rv_c_jr(10));
	load(&f);
	seg = learn(&f, 0, 0x1000, rvt_segment_key(0, RVT_SEGMENT_OUTCOMES));
	assert_int_equal(seg->n_pushes, RVT_SEGMENT_PUSHES);
	assert_int_equal(seg->n_runs, 1 + RVT_SEGMENT_PUSHES);
	assert_int_equal(path_of(&f, seg)->end_pc, 0x1002 + 4 * RVT_SEGMENT_PUSHES);
	for (unsigned int i = 0; i < RVT_SEGMENT_PUSHES; i++)
		assert_int_equal(rvt_segment_pushes(f.flow->segments, seg)[i], 0x1006 + 4 * i);
	tear_down(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_like),
		cmocka_unit_test(test_layout),
		cmocka_unit_test(test_to_jump),
		cmocka_unit_test(test_to_end),
		cmocka_unit_test(test_to_branch),
		cmocka_unit_test(test_open_outcomes),
		cmocka_unit_test(test_call_and_return),
		cmocka_unit_test(test_call),
		cmocka_unit_test(test_many_pushes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
