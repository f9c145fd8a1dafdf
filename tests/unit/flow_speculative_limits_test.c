// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * What a speculative walk can be: as much as fits a memo, in code of one half and one meaning, by
 * the rules that its segments were made for. What is more, or elsewhere, is refused, and nothing
 * has happened.
 */
#include "flow/memo/memos.h"
#include "flow-trio.h"
#include "memo-key.h"

#define KERNEL 0xffffffff80001000u

/*
 * Replaying begins with a message that does what @spec says, all of whose outcomes are 1, where the
 * code begins, with @callers on the return stack: those of the beginning, and then @caller below
 * them. Segments are there of orders with returns, whether jumps are sequential or not. Returns the
 * memo, if it is one.
 */
static struct rvt_memo *begin(struct fixture *f, struct rvt_speculation *spec, unsigned int callers,
			      uint64_t caller)
{
	struct rvt_memo_key key = { .bytes = { 1 } };
	struct rvt_order o = unlimited();

	spec->outcomes = spec->n_outcomes ? UINT64_MAX >> (64 - spec->n_outcomes) : 0;
	o.flags = RVT_RUN_IMPLICIT_RETURN | RVT_RUN_STOP_USED |
		  (spec->flags & RVT_RUN_SEQUENTIAL_JUMP);
	o.n_outcomes = 1;
	rvt_flow_start(f->flow, f->code.base, 0, true);
	assert_true(rvt_flow_run(f->flow, &o) >= 0);
	rvt_flow_start(f->flow, f->code.base, 0, true);
	for (unsigned int i = 0; i < callers; i++)
		rvt_returns_push(&f->flow->base.returns, i ? f->code.base : caller);
	assert_true(enter_memos(f->flow, &key));
	return rvt_memos_take(f->flow, &key, rvt_memo_hash(&key), 1, true);
}

/* Whether that can be taken as a speculative walk. It is no memo. */
static bool takes(struct fixture *f, struct rvt_speculation spec, unsigned int callers,
		  uint64_t caller)
{
	struct rvt_memo *memo;
	bool whole = false;

	assert_null(begin(f, &spec, callers, caller));
	memo = rvt_speculate(f->flow, &spec, &whole);
	assert_int_equal(whole, !!memo);
	rvt_memos_leave(f->flow);
	return memo;
}

/* The same for a message that ends with the last of @n outcomes. */
static bool is_speculated(struct fixture *f, uint32_t flags, unsigned int n, unsigned int callers,
			  uint64_t caller)
{
	return takes(f, (struct rvt_speculation){ .flags = flags, .n_outcomes = n }, callers,
		     caller);
}

static void put_return(struct fixture *f, unsigned int depth)
{
	set_up(f, 0, depth);
	rv_put(&f->code, rv_c_jr(RV_RA));
	rv_put(&f->code, rv_branch(4));
	load(f);
}

/* So many times: calls of what is behind them, jumps to it, and a branch to the beginning. */
static void put_loop(struct fixture *f, unsigned int n_calls, unsigned int n_jumps)
{
	for (unsigned int i = 0; i < n_calls; i++)
		rv_put(&f->code, rv_jal(RV_RA, 4));
	for (unsigned int i = 0; i < n_jumps; i++)
		rv_put(&f->code, rv_c_j(2));
	rv_put(&f->code, rv_branch((int32_t)(f->code.base - f->code.pc)));
	load(f);
}

/* Of more runs there cannot be a memo. */
static void test_many_runs(void **state)
{
	const unsigned int most = RVT_BODY_RUNS / 26;
	struct fixture f;

	(void)state;
	set_up(&f, 0, 0);
	put_loop(&f, 0, 25);
	assert_true(is_speculated(&f, RVT_RUN_IMPLICIT_RETURN, most, 0, 0));
	assert_false(is_speculated(&f, RVT_RUN_IMPLICIT_RETURN, most + 1, 0, 0));
	tear_down(&f);
}

/* Nor is there room for more segments: each has as many runs as can be. */
static void test_many_segments(void **state)
{
	struct fixture f;
	uint64_t loop;

	(void)state;
	set_up(&f, 0, 4);
	rv_put(&f.code, rv_c_jr(RV_RA));
	loop = f.code.pc;
	for (unsigned int i = 1; i < RVT_SEGMENT_RUNS; i++)
		rv_put(&f.code, rv_c_j(2));
	rv_put(&f.code, rv_branch((int32_t)(loop - f.code.pc)));
	load(&f);
	assert_true(is_speculated(&f, RVT_RUN_IMPLICIT_RETURN, 7, 1, loop));
	assert_false(is_speculated(&f, RVT_RUN_IMPLICIT_RETURN, 64, 1, loop));
	tear_down(&f);
}

/* What is delivered is refused: there must be no more. */
static void test_refused(void **state)
{
	const unsigned int runs = 26 * (RVT_BODY_RUNS / 26);
	struct rvt_speculation spec = {
		.flags = RVT_RUN_IMPLICIT_RETURN, .n_outcomes = RVT_BODY_RUNS / 26,
	};
	struct fixture f;

	(void)state;
	set_up(&f, 0, 0);
	put_loop(&f, 0, 25);
	assert_null(begin(&f, &spec, 0, 0));
	rvt_flow_flush(f.flow);
	f.out.refuse_after = 1;
	for (unsigned int n = runs; n < RVT_FLOW_BATCH + runs; n += runs) {
		bool whole;

		assert_non_null(rvt_speculate(f.flow, &spec, &whole));
		assert_int_equal(whole, n < RVT_FLOW_BATCH);
	}
	assert_int_equal(f.flow->result, 77);
	rvt_memos_leave(f.flow);
	tear_down(&f);
}

/* For each caller there is a memo, the third time. */
static void test_callers(void **state)
{
	struct rvt_speculation spec = { .flags = RVT_RUN_IMPLICIT_RETURN, .n_outcomes = 1 };
	struct fixture f;

	(void)state;
	put_return(&f, 4);
	rv_put(&f.code, rv_branch(4));
	load(&f);
	for (int i = 0; i < 8; i++) {
		const uint64_t caller = f.code.base + 2 + (i < 6 ? i / 3 : i % 2) * 4;
		struct rvt_memo *memo = begin(&f, &spec, 1, caller);
		bool whole;

		assert_int_equal(!!memo, i >= 6 || i % 3 == 2);
		if (!memo)
			memo = rvt_speculate(f.flow, &spec, &whole);
		else
			rvt_memos_apply(f.flow, memo);
		assert_non_null(memo);
		assert_int_equal(memo->pc, caller + 4);
		rvt_memos_leave(f.flow);
	}
	tear_down(&f);
}

/* As many branches as a segment has outcomes, whose outcomes do not matter, and a jump back. */
static uint64_t put_any_loop(struct fixture *f)
{
	const uint64_t begin = f->code.pc;

	for (int i = 0; i < RVT_SEGMENT_OUTCOMES; i++)
		rv_put(&f->code, rv_branch(4));
	rv_put(&f->code, rv_jal(0, (int32_t)(begin - f->code.pc)));
	return begin;
}

/* Once through the loop at @pc and once more, with any outcomes; as the only memo. */
static void run_any_loop(struct fixture *f, uint64_t pc, uint16_t round)
{
	struct rvt_speculation spec = {
		.flags = RVT_RUN_IMPLICIT_RETURN, .n_outcomes = 2 * RVT_SEGMENT_OUTCOMES,
		.outcomes = rnd(1 << 2 * RVT_SEGMENT_OUTCOMES),
	};
	/* never the same: no memo is made of it */
	struct rvt_memo_key key = { .bytes = { round, round >> 8 } };
	struct rvt_flow_stats before = { .size = sizeof(before) }, after = before;
	struct rvt_memo *memo;
	uint64_t end;
	bool whole;

	rvt_flow_start(f->flow, pc, 0, true);
	rvt_flow_stats(f->flow, &before);
	assert_true(enter_memos(f->flow, &key));
	assert_null(rvt_memos_take(f->flow, &key, rvt_memo_hash(&key), 1, true));
	memo = rvt_speculate(f->flow, &spec, &whole);
	assert_non_null(memo);
	assert_int_equal(memo->pc, pc + 4 * RVT_SEGMENT_OUTCOMES);
	rvt_memos_leave(f->flow);
	rvt_flow_stats(f->flow, &after);
	assert_int_equal(after.insns - before.insns, 2 * RVT_SEGMENT_OUTCOMES + 1);
	assert_int_equal(after.taken - before.taken, __builtin_popcountll(spec.outcomes));
	assert_true(rvt_flow_pc(f->flow, &end));
	assert_int_equal(end, pc + 4 * RVT_SEGMENT_OUTCOMES);
}

/* Where a speculative walk ends there may be a dense node. Each has its own table. */
static void test_dense_nodes(void **state)
{
	const unsigned int rounds = 1000;
	struct rvt_order o = unlimited();
	const struct rvt_segments *segments;
	struct fixture f;
	uint64_t loops[3];

	(void)state;
	random_seed(&numbers, 1);
	set_up(&f, 0, 0);
	for (int i = 0; i < 3; i++)
		loops[i] = put_any_loop(&f);
	load(&f);
	/* segments are of such orders */
	o.flags = RVT_RUN_IMPLICIT_RETURN | RVT_RUN_STOP_USED;
	o.n_outcomes = 1;
	rvt_flow_start(f.flow, loops[0], 0, true);
	assert_true(rvt_flow_run(f.flow, &o) >= 0);
	segments = f.flow->segments;
	for (unsigned int i = 0; i < rounds; i++)
		run_any_loop(&f, loops[rnd(3)], i);
	/* where each loop begins, and the jump at its end */
	assert_int_equal(segments->n_dense, 6 * RVT_DENSE_LINES);
	for (uint32_t line = 0; line < segments->n_dense; line++) {
		const uint32_t dense = RVT_NODES + line - line % RVT_DENSE_LINES;

		assert_ptr_equal(segments->blocks[RVT_NODES + line],
				 segments->blocks[segments->more[dense].link]);
	}
	tear_down(&f);
}

/* There is no memo of more calls or returns. */
static void test_many_calls(void **state)
{
	struct fixture f;

	(void)state;
	set_up(&f, 0, 2 * RVT_DELTA_PCS);
	put_loop(&f, 1, 0);
	assert_true(is_speculated(&f, RVT_RUN_IMPLICIT_RETURN, RVT_DELTA_PCS, 0, 0));
	assert_int_equal(rvt_flow_return_depth(f.flow), RVT_DELTA_PCS);
	assert_false(is_speculated(&f, RVT_RUN_IMPLICIT_RETURN, RVT_DELTA_PCS + 1, 0, 0));
	assert_int_equal(rvt_flow_return_depth(f.flow), 0);
	tear_down(&f);
}

static void test_many_returns(void **state)
{
	struct fixture f;

	(void)state;
	put_return(&f, 2 * RVT_DELTA_PCS);
	assert_true(is_speculated(&f, RVT_RUN_IMPLICIT_RETURN, 1, RVT_DELTA_PCS, f.code.base + 2));
	assert_int_equal(rvt_flow_return_depth(f.flow), 0);
	assert_false(
		is_speculated(&f, RVT_RUN_IMPLICIT_RETURN, 1, RVT_DELTA_PCS + 1, f.code.base + 2));
	assert_int_equal(rvt_flow_return_depth(f.flow), RVT_DELTA_PCS + 1);
	tear_down(&f);
}

/* Nor if the last one leads where the message says. */
static void test_last_return(void **state)
{
	struct rvt_speculation spec = { .flags = RVT_RUN_IMPLICIT_RETURN, .jumps = true };
	struct fixture f;

	(void)state;
	put_return(&f, 2 * RVT_DELTA_PCS);
	spec.target = f.code.base + 2;
	spec.halfwords = RVT_DELTA_PCS;
	assert_true(takes(&f, spec, RVT_DELTA_PCS + 1, f.code.base));
	assert_int_equal(rvt_flow_return_depth(f.flow), 1);
	spec.halfwords++;
	assert_false(takes(&f, spec, RVT_DELTA_PCS + 1, f.code.base));
	assert_int_equal(rvt_flow_return_depth(f.flow), RVT_DELTA_PCS + 1);
	tear_down(&f);
}

/* Calls that are too many for one segment, but not for a memo, and returns from them. */
static void put_calls(struct fixture *f)
{
	for (int i = 0; i < 2; i++) {
		rv_put(&f->code, rv_branch(4));
		for (int k = 0; k < RVT_SEGMENT_PUSHES; k++) {
			rv_put(&f->code, rv_jal(RV_RA, 6));
			rv_put(&f->code, rv_c_jr(RV_RA));
		}
	}
	rv_put(&f->code, rv_c_jr(RV_RA));
	load(f);
}

/* So many returns from one segment to another, most of them from calls of the message. */
static void test_returns_from_calls(void **state)
{
	const unsigned int each = RVT_SEGMENT_PUSHES + 1, most = RVT_DELTA_PCS / each;
	struct fixture f;

	(void)state;
	set_up(&f, 0, 2 * RVT_DELTA_PCS);
	put_calls(&f);
	assert_true(is_speculated(&f, RVT_RUN_IMPLICIT_RETURN, 2 * most + 2, RVT_DELTA_PCS,
				  f.code.base));
	assert_false(is_speculated(&f, RVT_RUN_IMPLICIT_RETURN, 2 * most + 4, RVT_DELTA_PCS,
				   f.code.base));
	tear_down(&f);
}

/* A return's target is loaded just before it, in another block; or a jump leads to it. */
static void put_alone(struct fixture *f, bool falls)
{
	const uint64_t alone = f->code.base + 8 + 2 * LONG_BLOCK + 2;

	rv_put(&f->code, rv_branch(falls ? 8 : (int32_t)(alone - f->code.base)));
	rv_put(&f->code, rv_branch(4));
	for (int i = 1; i < LONG_BLOCK; i++)
		rv_put(&f->code, RV_C_NOP);
	rv_put(&f->code, rv_auipc(RV_RA, 0));
	assert_int_equal(f->code.pc, alone);
	rv_put(&f->code, rv_jalr(0, RV_RA, 8));
	rv_put(&f->code, rv_branch(4));
	load(f);
}

static void test_return_alone(void **state)
{
	const uint32_t flags = RVT_RUN_IMPLICIT_RETURN | RVT_RUN_SEQUENTIAL_JUMP;

	(void)state;
	for (int falls = 0; falls < 2; falls++) {
		struct fixture f;

		set_up(&f, 0, 4);
		put_alone(&f, falls);
		assert_int_equal(is_speculated(&f, flags, 2, 1, f.code.base + 4), !falls);
		tear_down(&f);
	}
}

/* The last outcome leads to another mapping: where the next branch is there is not known here. */
static void test_branch_elsewhere(void **state)
{
	struct rvt_speculation spec = { .flags = RVT_RUN_IMPLICIT_RETURN, .to_branch = true };
	const uint32_t insns[] = { RV_NOP, rv_branch(4) };
	struct fixture f;

	(void)state;
	set_up(&f, 0, 0);
	for (int i = 1; i < RVT_SEGMENT_OUTCOMES; i++)
		rv_put(&f.code, rv_branch(4));
	rv_put(&f.code, rv_branch(0x100));
	load(&f);
	assert_int_equal(rvt_space_map_bytes(f.space, f.code.pc - 4 + 0x100, insns, sizeof(insns),
					     "elsewhere"), 0);
	spec.n_outcomes = RVT_SEGMENT_OUTCOMES - 1;
	assert_true(takes(&f, spec, 0, 0));
	spec.n_outcomes++;
	assert_false(takes(&f, spec, 0, 0));
	tear_down(&f);
}

/* Code of the other half holds for another meaning. */
static void test_other_half(void **state)
{
	const uint32_t branch = rv_branch(4);
	struct fixture f;

	(void)state;
	put_return(&f, 4);
	assert_int_equal(rvt_space_map_bytes(f.space, KERNEL, &branch, 4, "kernel"), 0);
	assert_true(is_speculated(&f, RVT_RUN_IMPLICIT_RETURN, 1, 1, f.code.base + 2));
	assert_false(is_speculated(&f, RVT_RUN_IMPLICIT_RETURN, 1, 1, KERNEL));
	tear_down(&f);
}

/* Segments are of other orders; or calls are counted that a memo would have to have. */
static void test_other_rules(void **state)
{
	struct fixture f;

	(void)state;
	set_up(&f, 0, 4);
	put_loop(&f, 0, 0);
	assert_true(is_speculated(&f, RVT_RUN_IMPLICIT_RETURN, 1, 0, 0));
	assert_false(is_speculated(&f, 0, 1, 0, 0));
	assert_false(is_speculated(&f, RVT_RUN_IMPLICIT_RETURN | RVT_RUN_ALL_JUMPS, 1, 0, 0));
	assert_int_equal(rvt_flow_set_return_stack(f.flow, 4, 1), 0);
	assert_false(is_speculated(&f, RVT_RUN_IMPLICIT_RETURN, 1, 0, 0));
	tear_down(&f);
}

/*
 * What was learned in a mapping epoch does not hold in the one that has its number 2^32 mapping
 * epochs later.
 */
static void test_old_epoch(void **state)
{
	struct rvt_speculation spec = { .flags = RVT_RUN_IMPLICIT_RETURN, .n_outcomes = 1 };
	const uint32_t other[] = { RV_NOP, rv_branch(-8) };
	struct rvt_memo *memo;
	struct fixture f;
	uint32_t mapping_epoch;
	bool whole;

	(void)state;
	set_up(&f, 0, 0);
	rv_put(&f.code, rv_branch(4));
	rv_put(&f.code, rv_branch(4));
	rv_put(&f.code, rv_branch(-8));
	load(&f);
	assert_true(takes(&f, spec, 0, 0));
	mapping_epoch = f.flow->mapping_epochs[0];
	f.flow->n_mapping_epochs = UINT32_MAX;
	/* without the second branch, where that speculative walk has led */
	f.code.base += 4;
	do {
		assert_int_equal(rvt_space_map_bytes(f.space, f.code.base, other, sizeof(other),
						     "other"), 0);
		assert_null(begin(&f, &spec, 0, 0));
		rvt_memos_leave(f.flow);
	} while (f.flow->mapping_epochs[0] != mapping_epoch);
	assert_null(begin(&f, &spec, 0, 0));
	memo = rvt_speculate(f.flow, &spec, &whole);
	assert_non_null(memo);
	assert_int_equal(memo->pc, f.code.base - 4);
	rvt_memos_leave(f.flow);
	tear_down(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_many_runs),
		cmocka_unit_test(test_many_segments),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_callers),
		cmocka_unit_test(test_dense_nodes),
		cmocka_unit_test(test_many_calls),
		cmocka_unit_test(test_many_returns),
		cmocka_unit_test(test_last_return),
		cmocka_unit_test(test_returns_from_calls),
		cmocka_unit_test(test_return_alone),
		cmocka_unit_test(test_branch_elsewhere),
		cmocka_unit_test(test_other_half),
		cmocka_unit_test(test_other_rules),
		cmocka_unit_test(test_old_epoch),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
