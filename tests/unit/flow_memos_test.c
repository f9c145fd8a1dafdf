// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Memos: those of groups deliver and count what their parts do; what decides whether one is known.
 */
#include "flow/memo/memos.h"
#include "flow-fixture.h"
#include "memo-key.h"

/* @insns instructions from @pc on are what a message does that is @byte: until they are a memo. */
static const struct rvt_memo *make_memo(struct fixture *f, uint64_t pc, uint8_t byte,
					uint64_t insns)
{
	struct rvt_memo_key key = { .bytes = { byte } };
	struct rvt_order o = unlimited();
	const struct rvt_memo *memo;

	o.max_insns = insns;
	/* the first time is only noted */
	for (int i = 0; i < 2; i++) {
		rvt_flow_start(f->flow, pc, 0, true);
		assert_true(enter_memos(f->flow, &key));
		rvt_memos_record(f->flow, &key);
		assert_int_equal(rvt_flow_run(f->flow, &o), RVT_STOP_INSNS);
		if (rvt_memos_recording(f->flow))
			rvt_memos_keep(f->flow, key.address, 0, 0);
	}
	memo = rvt_memos_look_up(f->flow->base.memos, &key, rvt_memo_hash(&key));
	assert_non_null(memo);
	return memo;
}

/*
 * c.nop; c.nop; c.j 0x1000: the first instruction is one memo, the two others and the first again
 * another.
 */
static struct rvt_memo_group make_group(struct fixture *f)
{
	struct rvt_memo_group group = { .n = 2 };

	rv_put(&f->code, RV_C_NOP);
	rv_put(&f->code, RV_C_NOP);
	rv_put(&f->code, rv_c_j(-4));
	load(f);
	group.memos[0] = make_memo(f, 0x1000, 1, 1);
	group.memos[1] = make_memo(f, 0x1002, 2, 3);
	rvt_flow_start(f->flow, 0x1000, 0, true);
	rvt_flow_flush(f->flow);
	group.key.bytes[0] = 0x201;
	assert_true(enter_memos(f->flow, &group.key));
	return group;
}

static void group_memos(struct fixture *f, struct rvt_memo_key *key)
{
	const struct rvt_memo_group group = make_group(f);
	struct rvt_memo *whole;

	*key = group.key;
	assert_null(rvt_memos_group(f->flow, &group));
	assert_null(rvt_memos_look_up(f->flow->base.memos, key, rvt_memo_hash(key)));
	whole = rvt_memos_group(f->flow, &group);
	assert_non_null(whole);
	assert_ptr_equal(whole, rvt_memos_look_up(f->flow->base.memos, key, rvt_memo_hash(key)));
}

static void test_memo_groups(void **state)
{
	const uint64_t expected[] = { 0x1000, 0x1002, 0x1004, 0x1000 };
	struct rvt_memo_key key = { .address = 0 };
	struct rvt_memo *whole;
	struct fixture f;
	uint64_t pc;

	(void)state;
	set_up(&f, 0, 0);
	group_memos(&f, &key);
	whole = rvt_memos_look_up(f.flow->base.memos, &key, rvt_memo_hash(&key));
	assert_non_null(whole);
	f.out.n = 0;
	assert_true(rvt_memos_apply(f.flow, whole));
	rvt_memos_leave(f.flow);
	rvt_flow_flush(f.flow);
	assert_int_equal(f.out.n, 4);
	assert_memory_equal(f.out.pcs, expected, sizeof(expected));
	assert_true(rvt_flow_pc(f.flow, &pc));
	assert_int_equal(pc, 0x1002);
	tear_down(&f);
}

/* Nothing is joined of what is not there, or may have become another memo since it was taken. */
static void test_groups_with_gaps(void **state)
{
	struct rvt_memo_group group, gap, old;
	struct fixture f;

	(void)state;
	set_up(&f, 0, 0);
	group = gap = old = make_group(&f);
	gap.memos[1] = NULL;
	old.hand++;
	for (int i = 0; i < 2; i++) {
		assert_null(rvt_memos_group(f.flow, &gap));
		assert_null(rvt_memos_group(f.flow, &old));
	}
	assert_null(rvt_memos_look_up(f.flow->base.memos, &group.key, rvt_memo_hash(&group.key)));
	/* It has come often enough. */
	assert_non_null(rvt_memos_group(f.flow, &group));
	tear_down(&f);
}

static int add_insns(void *ctx, const struct rvt_run *run, uint64_t times)
{
	*(uint64_t *)ctx += run->count * times;
	return 0;
}

static int add_jumps(void *ctx, uint64_t from, uint64_t to, enum rvt_insn_class iclass,
		     int64_t times)
{
	(void)iclass;
	if (from == 0x1004 && to == 0x1000)
		((uint64_t *)ctx)[1] += times;
	return 0;
}

static void test_group_counts(void **state)
{
	uint64_t sums[2] = {};
	const struct rvt_count_sink sink = { .size = sizeof(sink),
		.ctx = sums, .run = add_insns, .edge = add_jumps };
	struct rvt_memo_key key = { .address = 0 };
	struct rvt_memo *whole;
	struct fixture f;

	(void)state;
	set_up(&f, 0, 0);
	assert_int_equal(rvt_flow_count(f.flow), 0);
	group_memos(&f, &key);
	/* each part was walked twice */
	assert_int_equal(rvt_flow_counts(f.flow, &sink), 0);
	assert_int_equal(sums[0], 2 * 1 + 2 * 3);
	assert_int_equal(sums[1], 2);
	whole = rvt_memos_look_up(f.flow->base.memos, &key, rvt_memo_hash(&key));
	assert_non_null(whole);
	for (int i = 0; i < 5; i++)
		assert_true(rvt_memos_apply(f.flow, whole));
	rvt_memos_leave(f.flow);
	assert_int_equal(rvt_flow_counts(f.flow, &sink), 0);
	assert_int_equal(sums[0], 8 + 5 * 4);
	assert_int_equal(sums[1], 2 + 5);
	tear_down(&f);
}

/* ---- what all spaces share ---- */

#define KERNEL 0xffffffff80001000u

static void map_code(struct rvt_space *space, uint64_t addr)
{
	struct rv_code code = { .base = addr, .pc = addr };

	rv_put(&code, RV_C_NOP);
	rv_put(&code, RV_C_NOP);
	rv_put(&code, rv_c_j(-4));
	assert_int_equal(rvt_space_map_bytes(space, addr, code.bytes, code.pc - addr, "code"), 0);
}

/* Whether the memo of @byte at @pc is known in @space. */
static bool is_known(struct fixture *f, struct rvt_space *space, uint64_t pc, uint8_t byte)
{
	struct rvt_memo_key key = { .bytes = { byte } };

	rvt_flow_set_space(f->flow, space);
	rvt_flow_start(f->flow, pc, 0, true);
	assert_true(enter_memos(f->flow, &key));
	return rvt_memos_look_up(f->flow->base.memos, &key, rvt_memo_hash(&key));
}

/* What the kernel does is known in every process, but not what a program does. */
static void test_halves(void **state)
{
	struct rvt_space *processes[2];
	struct fixture f;

	(void)state;
	set_up(&f, 0, 0);
	map_code(f.space, KERNEL);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(rvt_space_create(f.image, f.space, &processes[i]), 0);
		map_code(processes[i], 0x1000);
	}
	rvt_flow_set_space(f.flow, processes[0]);
	make_memo(&f, 0x1000, 1, 3);
	make_memo(&f, KERNEL, 2, 3);
	assert_true(is_known(&f, processes[0], 0x1000, 1));
	assert_false(is_known(&f, processes[1], 0x1000, 1));
	assert_true(is_known(&f, processes[1], KERNEL, 2));
	assert_true(is_known(&f, f.space, KERNEL, 2));
	/* one that has something of its own there */
	map_code(processes[1], KERNEL);
	assert_false(is_known(&f, processes[1], KERNEL, 2));
	assert_true(is_known(&f, processes[0], KERNEL, 2));
	/* other code of the kernel's */
	map_code(f.space, KERNEL);
	assert_false(is_known(&f, processes[0], KERNEL, 2));
	tear_down(&f);
}

/* Instructions in each half. */
static int add_halves(void *ctx, const struct rvt_run *run, uint64_t times)
{
	((uint64_t *)ctx)[run->block->pc >> 63] += run->count * times;
	return 0;
}

/* The memo of @byte at @pc is taken @times times. */
static void take_memo(struct fixture *f, uint64_t pc, uint8_t byte, unsigned int times)
{
	struct rvt_memo_key key = { .bytes = { byte } };
	struct rvt_memo *s;

	for (unsigned int i = 0; i < times; i++) {
		rvt_flow_start(f->flow, pc, 0, true);
		assert_true(enter_memos(f->flow, &key));
		s = rvt_memos_look_up(f->flow->base.memos, &key, rvt_memo_hash(&key));
		assert_non_null(s);
		assert_true(rvt_memos_apply(f->flow, s));
		rvt_memos_leave(f->flow);
	}
}

/* What the kernel counted may be another owner's than what the program did. */
static void test_owners_of_halves(void **state)
{
	uint64_t sums[2] = {};
	const struct rvt_count_sink sink = { .size = sizeof(sink), .ctx = sums, .run = add_halves };
	struct fixture f;

	(void)state;
	set_up(&f, 0, 0);
	assert_int_equal(rvt_flow_count(f.flow), 0);
	map_code(f.space, KERNEL);
	map_code(f.space, 0x1000);
	make_memo(&f, 0x1000, 1, 3);
	make_memo(&f, KERNEL, 2, 3);
	assert_int_equal(rvt_flow_counts(f.flow, &sink), 0);
	assert_int_equal(sums[0], 6);
	assert_int_equal(sums[1], 6);
	take_memo(&f, 0x1000, 1, 5);
	take_memo(&f, KERNEL, 2, 7);
	take_memo(&f, 0x1000, 1, 1);
	assert_true(rvt_flow_defer_counts(f.flow, 1, RVT_DEFERRED_HIGH));
	assert_false(rvt_flow_defer_counts(f.flow, 1, RVT_DEFERRED_HIGH));
	assert_true(rvt_flow_defer_counts(f.flow, 2, RVT_DEFERRED_BOTH));
	assert_false(rvt_flow_defer_counts(f.flow, 2, RVT_DEFERRED_BOTH));
	assert_int_equal(rvt_flow_counts(f.flow, &sink), 0);
	assert_int_equal(sums[0], 6);
	assert_int_equal(sums[1], 6);
	rvt_flow_restore_counts(f.flow, 1);
	assert_int_equal(rvt_flow_counts(f.flow, &sink), 0);
	assert_int_equal(sums[0], 6);
	assert_int_equal(sums[1], 6 + 7 * 3);
	rvt_flow_restore_counts(f.flow, 2);
	assert_int_equal(rvt_flow_counts(f.flow, &sink), 0);
	assert_int_equal(sums[0], 6 + 6 * 3);
	assert_int_equal(sums[1], 6 + 7 * 3);
	tear_down(&f);
}

/* All ids of mapping ids are used up, and then so many that @id is that of the present one. */
static void use_ids(struct fixture *f, uint32_t id)
{
	const uint16_t code[] = { RV_C_NOP, rv_c_j(-2), RV_C_NOP };

	f->flow->n_mapping_ids = UINT32_MAX;
	do {
		assert_int_equal(rvt_space_map_bytes(f->space, 0x1000, code, sizeof(code), "other"),
				 0);
		assert_false(is_known(f, f->space, 0x1000, 1));
	} while (f->flow->base.mapping_id[0] != id);
}

/*
 * The same as is_known() in the present space, as a decoder asks: where the message led last time.
 */
static bool is_taken(struct fixture *f, uint64_t pc, uint8_t byte)
{
	struct rvt_memo_key key = { .bytes = { byte } };

	rvt_flow_start(f->flow, pc, 0, true);
	assert_true(enter_memos(f->flow, &key));
	return rvt_memos_take(f->flow, &key, rvt_memo_hash(&key), byte, true);
}

/* Memos of an old meaning are not found for one that has its id, but what they counted is told. */
static void test_old_ids(void **state)
{
	uint64_t sum = 0;
	const struct rvt_count_sink sink = { .size = sizeof(sink), .ctx = &sum, .run = add_insns };
	struct fixture f;

	(void)state;
	set_up(&f, 0, 0);
	assert_int_equal(rvt_flow_count(f.flow), 0);
	map_code(f.space, 0x1000);
	make_memo(&f, 0x1000, 1, 3);
	assert_true(is_taken(&f, 0x1000, 1));
	take_memo(&f, 0x1000, 1, 5);
	assert_true(rvt_flow_defer_counts(f.flow, 1, RVT_DEFERRED_BOTH));
	use_ids(&f, f.flow->base.mapping_id[0]);
	assert_false(is_taken(&f, 0x1000, 1));
	assert_int_equal(rvt_flow_counts(f.flow, &sink), 0);
	assert_int_equal(sum, 2 * 3);
	rvt_flow_restore_counts(f.flow, 1);
	assert_int_equal(rvt_flow_counts(f.flow, &sink), 0);
	assert_int_equal(sum, (2 + 5) * 3);
	/* and of the new meaning there are memos */
	make_memo(&f, 0x1000, 1, 3);
	assert_true(is_known(&f, f.space, 0x1000, 1));
	tear_down(&f);
}

/* A memo that is being recorded over a meaning is not kept for another one of its id. */
static void test_old_id_of_record(void **state)
{
	struct rvt_memo_key key = { .bytes = { 1 } };
	struct rvt_order o = unlimited();
	struct fixture f;

	(void)state;
	set_up(&f, 0, 0);
	o.max_insns = 1;
	map_code(f.space, 0x1000);
	for (int i = 0; i < 2; i++) {
		rvt_flow_start(f.flow, 0x1000, 0, true);
		assert_true(enter_memos(f.flow, &key));
		rvt_memos_record(f.flow, &key);
	}
	assert_true(rvt_memos_recording(f.flow));
	assert_int_equal(rvt_flow_run(f.flow, &o), RVT_STOP_INSNS);
	use_ids(&f, key.mapping_id);
	assert_int_equal(rvt_flow_run(f.flow, &o), RVT_STOP_INSNS);
	rvt_memos_keep(f.flow, key.address, 0, 0);
	assert_false(is_known(&f, f.space, 0x1000, 1));
	tear_down(&f);
}

/* A memo through code of both halves is none. */
static void test_both_halves(void **state)
{
	const uint64_t last = 0x7ffffffffffffffeu;
	struct rvt_memo_key key = { .bytes = { 1 } };
	struct rvt_order o = unlimited();
	struct fixture f;

	(void)state;
	set_up(&f, 0, 0);
	for (int i = 0; i < 3; i++) {
		struct rv_code code = { .base = last + 2 * i, .pc = last + 2 * i };

		rv_put(&code, RV_C_NOP);
		assert_int_equal(rvt_space_map_bytes(f.space, code.base, code.bytes, 2, "code"), 0);
	}
	o.max_insns = 2;
	for (int i = 0; i < 3; i++) {
		rvt_flow_start(f.flow, last, 0, true);
		assert_true(enter_memos(f.flow, &key));
		rvt_memos_record(f.flow, &key);
		assert_int_equal(rvt_flow_run(f.flow, &o), RVT_STOP_INSNS);
		if (rvt_memos_recording(f.flow))
			rvt_memos_keep(f.flow, key.address, 0, 0);
	}
	assert_false(is_known(&f, f.space, last, 1));
	tear_down(&f);
}

/* ---- the return stack ---- */

#define RV_RET 0x8082		/* c.jr ra */

/*
 * A message that is a return, with @caller on the stack (0: nothing), which then is where it leads;
 * else the message says 0x1004. Returns whether that is known, or was walked.
 */
static bool return_to(struct fixture *f, uint64_t caller)
{
	struct rvt_memo_key key = { .bytes = { 7 } };
	struct rvt_order o = unlimited();
	struct rvt_memo *memo;
	uint64_t pc;

	o.flags = RVT_RUN_IMPLICIT_RETURN;
	o.max_insns = 1;
	rvt_flow_start(f->flow, 0x1000, 0, true);
	if (caller)
		rvt_returns_push(&f->flow->base.returns, caller);
	assert_true(enter_memos(f->flow, &key));
	memo = rvt_memos_take(f->flow, &key, rvt_memo_hash(&key), 7, true);
	if (memo) {
		rvt_memos_apply(f->flow, memo);
		rvt_memos_leave(f->flow);
	} else {
		rvt_memos_record_missed(f->flow);
		assert_int_equal(rvt_flow_run(f->flow, &o),
				 caller ? RVT_STOP_INSNS : RVT_STOP_TARGET);
		if (!caller)
			rvt_flow_jump(f->flow, 0x1004);
		if (rvt_memos_recording(f->flow))
			rvt_memos_keep(f->flow, key.address, 0, 0);
	}
	assert_true(rvt_flow_pc(f->flow, &pc));
	assert_int_equal(pc, caller ? caller : 0x1004);
	assert_int_equal(rvt_flow_return_depth(f->flow), 0);
	return memo;
}

/* One message, and a memo for each caller, and for none. */
static void test_returns(void **state)
{
	struct fixture f;

	(void)state;
	set_up(&f, 0, 4);
	rv_put(&f.code, RV_RET);
	for (int i = 0; i < 4; i++)
		rv_put(&f.code, RV_C_NOP);
	load(&f);
	for (int i = 0; i < 2; i++)
		assert_false(return_to(&f, 0x1002));
	assert_true(return_to(&f, 0x1002));
	for (int i = 0; i < 2; i++)
		assert_false(return_to(&f, 0x1006));
	for (int i = 0; i < 2; i++)
		assert_false(return_to(&f, 0));
	for (int i = 0; i < 3; i++) {
		assert_true(return_to(&f, 0x1002));
		assert_true(return_to(&f, 0));
		assert_true(return_to(&f, 0x1006));
	}
	assert_false(return_to(&f, 0x1008));
	tear_down(&f);
}

#define MOST 12			/* calls or returns of one message: more than a line has room for */

/* @n instructions, which are one message. Returns whether it is known with what is on the stack. */
static bool run_message(struct fixture *f, unsigned int n)
{
	struct rvt_memo_key key = { .bytes = { n } };
	struct rvt_order o = unlimited();
	struct rvt_memo *memo;

	o.flags = RVT_RUN_IMPLICIT_RETURN;
	o.max_insns = n;
	assert_true(enter_memos(f->flow, &key));
	memo = rvt_memos_take(f->flow, &key, rvt_memo_hash(&key), 7, true);
	if (memo) {
		rvt_memos_apply(f->flow, memo);
		rvt_memos_leave(f->flow);
		return true;
	}
	rvt_memos_record_missed(f->flow);
	assert_int_equal(rvt_flow_run(f->flow, &o), RVT_STOP_INSNS);
	if (rvt_memos_recording(f->flow))
		rvt_memos_keep(f->flow, key.address, 0, 0);
	return false;
}

/* @n returns, each to the next of them, and the last one to @to. Whether that is known. */
static bool return_through(struct fixture *f, unsigned int n, uint64_t to)
{
	uint64_t pc;
	bool known;

	rvt_flow_start(f->flow, 0x1000, 0, true);
	rvt_returns_push(&f->flow->base.returns, 0x1000);	/* stays there */
	rvt_returns_push(&f->flow->base.returns, to);
	for (unsigned int i = n - 1; i; i--)
		rvt_returns_push(&f->flow->base.returns, 0x1000 + 2 * i);
	known = run_message(f, n);
	assert_true(rvt_flow_pc(f->flow, &pc));
	assert_int_equal(pc, to);
	assert_int_equal(rvt_flow_return_depth(f->flow), 1);
	rvt_flow_clear_returns(f->flow);
	return known;
}

/* Of many returns each counts. */
static void test_many_returns(void **state)
{
	struct fixture f;

	(void)state;
	set_up(&f, 0, MOST + 1);
	for (unsigned int i = 0; i < MOST; i++)
		rv_put(&f.code, RV_RET);
	for (int i = 0; i < 4; i++)
		rv_put(&f.code, RV_C_NOP);
	load(&f);
	for (unsigned int n = 1; n <= MOST; n++) {
		const uint64_t to = 0x1000 + 2 * MOST;

		for (int i = 0; i < 2; i++)
			assert_false(return_through(&f, n, to));
		assert_true(return_through(&f, n, to));
		for (int i = 0; i < 2; i++)
			assert_false(return_through(&f, n, to + 2));
		assert_true(return_through(&f, n, to + 2));
		assert_true(return_through(&f, n, to));
	}
	tear_down(&f);
}

/* What many calls leave on the stack. */
static void test_many_calls(void **state)
{
	struct fixture f;

	(void)state;
	set_up(&f, 0, MOST);
	for (unsigned int i = 0; i < MOST; i++)
		rv_put(&f.code, rv_jal(1, 4));
	rv_put(&f.code, RV_C_NOP);
	load(&f);
	for (unsigned int n = 1; n <= MOST; n++)
		for (int i = 0; i < 3; i++) {
			uint64_t pc;

			rvt_flow_start(f.flow, 0x1000, 0, true);
			assert_int_equal(run_message(&f, n), i == 2);
			assert_int_equal(rvt_flow_return_depth(f.flow), n);
			for (unsigned int k = 0; k < n; k++) {
				assert_true(rvt_flow_return_at(f.flow, k, &pc));
				assert_int_equal(pc, 0x1000 + 4 * (n - k));
			}
			rvt_flow_clear_returns(f.flow);
		}
	tear_down(&f);
}

/* ---- teaching ---- */

/* What is known to another flow is known where the same is mapped, and only there. */
static void test_teaching(void **state)
{
	const struct rvt_flow_config config = { .size = sizeof(config) };
	struct rvt_space *same, *other;
	struct fixture f, later;

	(void)state;
	set_up(&f, 0, 0);
	for (int i = 0; i < 3; i++)
		rv_put(&f.code, RV_C_NOP);
	load(&f);
	assert_int_equal(rvt_flow_count(f.flow), 0);
	rvt_flow_set_encoder(f.flow, 1);
	make_memo(&f, 0x1000, 1, 3);
	assert_int_equal(rvt_flow_counts(f.flow, NULL), 0);
	rvt_flow_destroy(f.flow);
	f.flow = NULL;
	assert_int_equal(rvt_space_create(f.image, NULL, &same), 0);
	assert_int_equal(rvt_space_map_bytes(same, 0x1000, f.code.bytes, 6, "program"), 0);
	assert_int_equal(rvt_space_create(f.image, NULL, &other), 0);
	f.code.bytes[4] ^= 4;		/* c.addi of something else */
	assert_int_equal(rvt_space_map_bytes(other, 0x1000, f.code.bytes, 6, "program"), 0);
	later = f;
	assert_int_equal(rvt_flow_create(&config, NULL, &later.flow), 0);
	rvt_flow_set_encoder(later.flow, 1);
	assert_false(is_known(&later, other, 0x1000, 1));
	assert_true(is_known(&later, same, 0x1000, 1));
	assert_false(is_known(&later, other, 0x1000, 1));
	/* and not any more when something is mapped beside it */
	assert_int_equal(rvt_space_map_bytes(same, 0x3000, f.code.bytes, 6, "more"), 0);
	assert_false(is_known(&later, same, 0x1000, 1));
	rvt_flow_destroy(later.flow);
	tear_down(&f);
}

/* ---- which memo a message is likely to be ---- */

#define MIX 0x123456789abcdef0u
#define OTHER_TAG (1ull << 40)

static const struct rvt_memo *likely(const struct fixture *f, uint64_t mix)
{
	const uint32_t number = rvt_memos_predict(f->flow->base.memos, mix);

	return number ? &f->flow->base.memos->memos[number] : NULL;
}

/* The one that the same message was the last time. */
static void test_likely(void **state)
{
	const struct rvt_memo *a, *b;
	struct fixture f;

	(void)state;
	set_up(&f, 0, 0);
	make_group(&f);
	a = make_memo(&f, 0x1000, 1, 1);
	b = make_memo(&f, 0x1002, 2, 3);
	assert_null(likely(&f, MIX));
	rvt_memos_train(f.flow->base.memos, MIX, a);
	assert_ptr_equal(a, likely(&f, MIX));
	rvt_memos_train(f.flow->base.memos, MIX, b);
	assert_ptr_equal(b, likely(&f, MIX));
	/* Of another message in the same slot nothing is known. */
	assert_int_equal(rvt_predictor_slot(MIX), rvt_predictor_slot(MIX ^ OTHER_TAG));
	assert_null(likely(&f, MIX ^ OTHER_TAG));
	/* and once something is known the first message is not taken for it */
	rvt_memos_train(f.flow->base.memos, MIX ^ OTHER_TAG, a);
	assert_ptr_equal(a, likely(&f, MIX ^ OTHER_TAG));
	assert_null(likely(&f, MIX));
	tear_down(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_likely),
		cmocka_unit_test(test_memo_groups),
		cmocka_unit_test(test_groups_with_gaps),
		cmocka_unit_test(test_group_counts),
		cmocka_unit_test(test_halves),
		cmocka_unit_test(test_owners_of_halves),
		cmocka_unit_test(test_old_ids),
		cmocka_unit_test(test_old_id_of_record),
		cmocka_unit_test(test_both_halves),
		cmocka_unit_test(test_returns),
		cmocka_unit_test(test_many_returns),
		cmocka_unit_test(test_many_calls),
		cmocka_unit_test(test_teaching),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
