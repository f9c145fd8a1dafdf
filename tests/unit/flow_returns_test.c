// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Return stack: what calls and returns did to one stack is done again to another at once if one by
 * one they would do the same to it, and else nothing is; however deep, full or empty it is.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "flow/core/state.h"

#define ROUNDS 20000
#define MAX_DEPTH 40
#define MAX_STEPS 24		/* calls and returns */

static uint64_t random_state = 0x9e3779b97f4a7c15ull;

static uint64_t any(void)
{
	/* xorshift64* */
	random_state ^= random_state >> 12;
	random_state ^= random_state << 25;
	random_state ^= random_state >> 27;
	return random_state * 0x2545f4914f6cdd1dull;
}

/* What a return stack is: the oldest entry first. */
struct model {
	unsigned int depth, used;
	uint64_t pcs[MAX_DEPTH];
};

static void model_push(struct model *m, uint64_t pc)
{
	if (m->used == m->depth)
		memmove(m->pcs, m->pcs + 1, --m->used * sizeof(m->pcs[0]));
	m->pcs[m->used++] = pc;
}

/* 0: it was empty. */
static uint64_t model_pop(struct model *m)
{
	return m->used ? m->pcs[--m->used] : 0;
}

static void assert_same(const struct rvt_flow *flow, const struct model *m)
{
	uint64_t pc;

	assert_int_equal(rvt_flow_return_depth(flow), m->used);
	for (unsigned int i = 0; i < m->used; i++) {
		assert_true(rvt_flow_return_at(flow, i, &pc));
		assert_int_equal(pc, m->pcs[m->used - 1 - i]);
	}
	assert_false(rvt_flow_return_at(flow, m->used, &pc));
}

/* A call (where it comes back to), or a return: 0. Few addresses, so that different ways meet. */
struct way {
	unsigned int n;
	uint64_t calls[MAX_STEPS];
	uint64_t popped[MAX_STEPS];	/* by the returns */
};

static uint64_t any_call(void)
{
	return 0x1000 + 2 * (any() % 2);
}

static void any_way(struct way *way)
{
	const unsigned int bias = any() % 9;

	way->n = any() % 4 ? 8 : MAX_STEPS;
	way->n = 1 + any() % way->n;
	for (unsigned int i = 0; i < way->n; i++)
		way->calls[i] = any() % 8 < bias ? any_call() : 0;
}

static void push_both(struct rvt_flow *flow, struct model *m, uint64_t pc)
{
	rvt_returns_push(&flow->base.returns, pc);
	model_push(m, pc);
}

/* Goes it one by one, both on the stack and in the model. */
static void go(struct rvt_flow *flow, struct model *m, struct way *way)
{
	for (unsigned int i = 0; i < way->n; i++) {
		uint64_t pc = 0;

		if (way->calls[i]) {
			push_both(flow, m, way->calls[i]);
			continue;
		}
		way->popped[i] = model_pop(m);
		assert_int_equal(rvt_returns_pop(&flow->base.returns, &pc), way->popped[i] != 0);
		assert_int_equal(pc, way->popped[i]);
	}
}

/* Whether all returns of @way lead from @m on where they did. Then @m is behind it. */
static bool go_again(struct model *m, const struct way *way)
{
	struct model to = *m;

	for (unsigned int i = 0; i < way->n; i++) {
		if (way->calls[i])
			model_push(&to, way->calls[i]);
		else if (model_pop(&to) != way->popped[i])
			return false;
	}
	*m = to;
	return true;
}

static void any_entries(struct rvt_flow *flow, struct model *m)
{
	if (!(any() % 4)) {
		rvt_flow_clear_returns(flow);
		m->used = 0;
	}
	for (unsigned int i = any() % (2 * m->depth); i--; )
		push_both(flow, m, any_call());
}

union room {
	struct rvt_kept_delta kept;
	uint64_t words[sizeof(struct rvt_kept_delta) / 8 + RVT_DELTA_PCS + RVT_DELTA_FEW];
};

/* Goes a way and keeps it. False: it is more than can be kept. */
static bool keep(struct rvt_flow *flow, struct model *m, struct way *way, union room *room)
{
	struct rvt_stack_delta calls;
	struct rvt_stack_delta *outer = rvt_returns_log(&flow->base.returns, &calls);

	any_way(way);
	go(flow, m, way);
	rvt_returns_log_end(&flow->base.returns, outer);
	if (calls.invalid)
		return false;
	assert_true(rvt_stack_delta_bytes(&calls) <= sizeof(*room));
	memset(room, 0xaa, sizeof(*room));
	rvt_stack_delta_keep(&calls, &room->kept);
	return true;
}

/* Returns whether the way was gone. */
static bool replay(struct rvt_flow *flow, struct model *m, const struct way *way,
		   const struct rvt_kept_delta *kept)
{
	const bool gone = rvt_returns_apply(&flow->base.returns, kept);

	if (gone)
		assert_true(go_again(m, way));
	assert_same(flow, m);
	return gone;
}

static void test_replay(void **state)
{
	unsigned int gone = 0, elsewhere = 0;

	(void)state;
	for (unsigned int round = 0; round < ROUNDS; round++) {
		struct rvt_flow flow = {};
		const unsigned int deepest = any() % 2 ? 6 : MAX_DEPTH;
		struct model m = { .depth = 1 + any() % deepest }, before;
		uint64_t far[sizeof(struct rvt_kept_delta) / 8 + 1 + RVT_DELTA_FEW] = {};
		struct rvt_kept_delta *kept = (struct rvt_kept_delta *)far;
		struct way way;
		union room room;
		bool full;

		assert_int_equal(rvt_flow_set_return_stack(&flow, m.depth, 0), 0);
		any_entries(&flow, &m);
		before = m;
		if (keep(&flow, &m, &way, &room)) {
			rvt_stack_delta_keep_elsewhere(&room.kept, kept);
			/* The same again; where entries were dropped that need not be seen. */
			rvt_flow_clear_returns(&flow);
			for (unsigned int i = 0; i < before.used; i++)
				rvt_returns_push(&flow.base.returns, before.pcs[i]);
			full = before.used + room.kept.nesting > before.depth;
			assert_true(replay(&flow, &before, &way, round % 2 ? &room.kept : kept) ||
				    full);
			m = before;
			for (unsigned int i = 0; i < 20; i++) {
				any_entries(&flow, &m);
				gone += replay(&flow, &m, &way, &room.kept);
				elsewhere += replay(&flow, &m, &way, kept);
			}
		}
		rvt_returns_free(&flow.base.returns);
	}
	assert_true(gone > ROUNDS && elsewhere > ROUNDS);
}

/* What was replayed is in a log, too. */
static void test_log(void **state)
{
	(void)state;
	for (unsigned int round = 0; round < ROUNDS; round++) {
		struct rvt_flow flow = {};
		struct model m = { .depth = 1 + any() % MAX_DEPTH }, before;
		struct rvt_stack_delta calls, *outer;
		union room room, all;
		struct way way;

		assert_int_equal(rvt_flow_set_return_stack(&flow, m.depth, 0), 0);
		any_entries(&flow, &m);
		if (keep(&flow, &m, &way, &room)) {
			before = m;
			outer = rvt_returns_log(&flow.base.returns, &calls);
			if (replay(&flow, &m, &way, &room.kept)) {
				rvt_returns_log_end(&flow.base.returns, outer);
				rvt_stack_delta_keep(&calls, &all.kept);
				assert_memory_equal(&all, &room, rvt_stack_delta_bytes(&calls));
				assert_true(go_again(&before, &way));
			}
		}
		rvt_returns_free(&flow.base.returns);
	}
}

static void test_match(void **state)
{
	(void)state;
	for (unsigned int round = 0; round < ROUNDS; round++) {
		uint64_t a[RVT_DELTA_FEW], b[RVT_DELTA_FEW];
		const unsigned int n = any() % (RVT_DELTA_FEW + 1);

		for (unsigned int i = 0; i < RVT_DELTA_FEW; i++) {
			a[i] = any();
			b[i] = !(any() % 4);
			b[i] = a[i] ^ b[i] << any() % 64;
		}
		assert_int_equal(rvt_returns_match(a, b, 8 * n), !memcmp(a, b, 8 * n));
		assert_int_equal(rvt_returns_match_plain(a, b, 8 * n), !memcmp(a, b, 8 * n));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_replay),
		cmocka_unit_test(test_log),
		cmocka_unit_test(test_match),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
