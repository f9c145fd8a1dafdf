// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * What a flow leaves to the next one of its image: what it has learned of code, and nothing of its
 * trace.
 */
#include <stdlib.h>
#include "flow/memo/memos.h"
#include "flow-fixture.h"
#include "memo-key.h"

/* ---- segments ---- */

/* c.nop, a branch to itself, and back to the c.nop. */
static void put_loop(struct fixture *f)
{
	rv_put(&f->code, RV_C_NOP);
	rv_put(&f->code, rv_c_branch(2));
	rv_put(&f->code, rv_c_j(-4));
	load(f);
}

static void set_up_counting(struct fixture *f)
{
	set_up(f, 0, 0);
	put_loop(f);
	assert_int_equal(rvt_flow_count(f->flow), 0);
}

/* 20 branches that are not taken: 1 + 20 * 3 instructions. */
static void run_loop(struct fixture *f)
{
	struct rvt_order o = unlimited();

	o.n_outcomes = 20;
	rvt_flow_start(f->flow, 0x1000, 0, true);
	assert_int_equal(rvt_flow_run(f->flow, &o), RVT_STOP_OUTCOME);
}

static int add_insns(void *ctx, const struct rvt_run *run, uint64_t times)
{
	*(uint64_t *)ctx += run->count * times;
	return 0;
}

static uint64_t counted(struct fixture *f)
{
	uint64_t insns = 0;
	const struct rvt_count_sink sink = { .size = sizeof(sink),
		.ctx = &insns, .run = add_insns };

	assert_int_equal(rvt_flow_counts(f->flow, &sink), 0);
	return insns;
}

static void next_flow(struct fixture *f)
{
	rvt_flow_destroy(f->flow);
	make_flow(f, 0, 0);
	assert_int_equal(rvt_flow_count(f->flow), 0);
}

static void test_segments(void **state)
{
	struct fixture f;
	uint32_t n_path;
	uint64_t insns;

	(void)state;
	set_up_counting(&f);
	run_loop(&f);
	insns = counted(&f);
	assert_int_equal(insns, 20 * 3 + 1);
	n_path = f.flow->segments->n_path;
	assert_true(n_path > 0);
	for (int i = 0; i < 3; i++) {
		next_flow(&f);
		assert_null(f.flow->segments);
		run_loop(&f);
		/* nothing was made a second time */
		assert_int_equal(f.flow->segments->n_path, n_path);
		assert_int_equal(counted(&f), insns);
	}
	tear_down(&f);
}

/* What nobody was told would be told to somebody else. */
static void test_untold_counts(void **state)
{
	struct fixture f;

	(void)state;
	set_up_counting(&f);
	for (int i = 0; i < 3; i++)
		run_loop(&f);
	assert_true(f.flow->segments->n_counted);
	next_flow(&f);
	run_loop(&f);
	assert_int_equal(counted(&f), 20 * 3 + 1);
	tear_down(&f);
}

static int add_edges(void *ctx, uint64_t from, uint64_t to, enum rvt_insn_class iclass,
		     int64_t times)
{
	(void)from, (void)to, (void)iclass;
	*(int64_t *)ctx += times;
	return 0;
}

/* The memory that is counted in is the next flow's, what was told is told once. */
static void test_memory_of_counts(void **state)
{
	int64_t edges = 0, edges_again = 0;
	const struct rvt_count_sink sink = { .size = sizeof(sink), .ctx = &edges,
		.edge = add_edges };
	const struct rvt_count_sink again = { .size = sizeof(again), .ctx = &edges_again,
		.edge = add_edges };
	const void *memory;
	struct fixture f;

	(void)state;
	set_up_counting(&f);
	run_loop(&f);
	assert_int_equal(rvt_flow_counts(f.flow, &sink), 0);
	assert_int_equal(edges, 20);
	memory = f.flow->base.counts;
	next_flow(&f);
	run_loop(&f);
	assert_ptr_equal(f.flow->base.counts, memory);
	assert_int_equal(rvt_flow_counts(f.flow, &again), 0);
	assert_int_equal(edges_again, edges);
	assert_int_equal(counted(&f), 0);
	tear_down(&f);
}

/* An instruction that was walked is counted by itself, though no segment is left to count. */
static void test_untold_walk(void **state)
{
	struct rvt_order o = unlimited();
	struct fixture f;

	(void)state;
	set_up_counting(&f);
	run_loop(&f);
	counted(&f);
	o.max_insns = 1;
	rvt_flow_start(f.flow, 0x1000, 0, true);
	assert_int_equal(rvt_flow_run(f.flow, &o), RVT_STOP_INSNS);
	assert_int_equal(f.flow->segments->n_counted, 0);
	next_flow(&f);
	run_loop(&f);
	assert_int_equal(counted(&f), 20 * 3 + 1);
	tear_down(&f);
}

/* Who learns of a flow has its memory, and none of what that did not tell. */
static void test_taught_counts(void **state)
{
	const struct rvt_flow_config config = { .size = sizeof(config) };
	struct fixture f, later;
	const void *memory;

	(void)state;
	set_up_counting(&f);
	rvt_flow_set_encoder(f.flow, 1);
	run_loop(&f);
	memory = f.flow->base.counts;
	assert_int_equal(rvt_flow_counts(f.flow, NULL), 0);
	rvt_flow_destroy(f.flow);
	f.flow = NULL;
	later = f;
	assert_int_equal(rvt_flow_create(&config, NULL, &later.flow), 0);
	assert_int_equal(rvt_flow_count(later.flow), 0);
	rvt_flow_set_space(later.flow, f.space);
	rvt_flow_set_encoder(later.flow, 1);
	run_loop(&later);
	assert_ptr_equal(later.flow->base.counts, memory);
	assert_int_equal(counted(&later), 20 * 3 + 1);
	rvt_flow_destroy(later.flow);
	tear_down(&f);
}

/* Blocks of one image are no blocks of another, and go with it. */
static void test_other_image(void **state)
{
	struct fixture f, other;
	uint32_t n_path;

	(void)state;
	set_up(&f, 0, 0);
	set_up(&other, 0, 0);
	put_loop(&f);
	put_loop(&other);
	assert_int_equal(rvt_flow_count(f.flow), 0);
	run_loop(&f);
	n_path = f.flow->segments->n_path;
	rvt_flow_set_space(f.flow, other.space);
	run_loop(&f);
	counted(&f);
	next_flow(&f);
	tear_down(&other);
	run_loop(&f);
	assert_int_equal(f.flow->segments->n_path, n_path);
	tear_down(&f);
}

/* ---- memos ---- */

static struct rvt_memo_key key_of(uint64_t message)
{
	return (struct rvt_memo_key){ .bytes = { message }, .pc = 0x1000 };
}

static const struct rvt_memo *memo_of(struct fixture *f, uint64_t message)
{
	struct rvt_memo_key key = key_of(message);

	assert_true(enter_memos(f->flow, &key));
	return rvt_memos_look_up(f->flow->base.memos, &key, rvt_memo_hash(&key));
}

/* A memo of the first instruction, for @message. */
static void make_memo(struct fixture *f, uint64_t message)
{
	struct rvt_memo_key key = key_of(message);
	struct rvt_order o = unlimited();

	o.max_insns = 1;
	/* the first time is only noted */
	for (int i = 0; i < 2; i++) {
		rvt_flow_start(f->flow, 0x1000, 0, true);
		assert_null(memo_of(f, message));
		assert_true(enter_memos(f->flow, &key));
		rvt_memos_record(f->flow, &key);
		assert_int_equal(rvt_flow_run(f->flow, &o), RVT_STOP_INSNS);
		if (rvt_memos_recording(f->flow))
			rvt_memos_keep(f->flow, key.address, 0, 0);
	}
	rvt_flow_start(f->flow, 0x1000, 0, true);
	assert_non_null(memo_of(f, message));
}

/*
 * Two messages of one set of the index whose tag is 1: a way that is free looks as if it had that,
 * if the one before it has. *second comes after *first.
 */
static void find_neighbours(uint32_t mapping_id, uint64_t *first, uint64_t *second)
{
	uint64_t *of_set = calloc(RVT_MEMO_SETS, sizeof(*of_set));

	assert_non_null(of_set);
	*first = 0;
	for (*second = 1; !*first; ++*second) {
		struct rvt_memo_key key = key_of(*second);
		uint64_t hash;

		key.mapping_id = mapping_id;
		hash = rvt_memo_hash(&key);
		if (hash >> 56 > 1)
			continue;
		*first = of_set[rvt_memo_set(hash)];
		of_set[rvt_memo_set(hash)] = *second;
	}
	--*second;
	free(of_set);
}

static void test_memos(void **state)
{
	struct rvt_memo_key key = key_of(1);
	const struct rvt_memos *memos;
	uint64_t first, second;
	struct fixture f;

	(void)state;
	set_up(&f, 0, 0);
	put_loop(&f);
	/* Both flows come when the code is there: so it has one meaning for them. */
	next_flow(&f);
	run_loop(&f);
	rvt_flow_start(f.flow, 0x1000, 0, true);
	assert_true(enter_memos(f.flow, &key));
	find_neighbours(key.mapping_id, &first, &second);
	make_memo(&f, first);
	make_memo(&f, second);
	counted(&f);
	/*
	 * E-Trace's predictions, which a decoder believes as far as the key of the memo proves them
	 */
	f.flow->base.memos->own_predictor[1] = 2;
	memos = f.flow->base.memos;
	next_flow(&f);
	run_loop(&f);
	assert_ptr_equal(f.flow->base.memos, memos);
	assert_int_equal(memos->own_predictor[1], 0);
	rvt_flow_start(f.flow, 0x1000, 0, true);
	assert_int_equal(rvt_flow_mapping_id(f.flow, 0x1000), key.mapping_id);
	/* asserts that no message is known, nor noted to have come once */
	assert_null(memo_of(&f, second));
	make_memo(&f, first);
	assert_null(memo_of(&f, second));
	make_memo(&f, second);
	tear_down(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_segments),
		cmocka_unit_test(test_untold_counts),
		cmocka_unit_test(test_memory_of_counts),
		cmocka_unit_test(test_untold_walk),
		cmocka_unit_test(test_taught_counts),
		cmocka_unit_test(test_other_image),
		cmocka_unit_test(test_memos),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
