/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Three flows that are given the same: one delivers, one counts, and the reference walk tells what
 * they must do. For tests of what is remembered in the flow engine.
 */
#ifndef TESTS_FLOW_TRIO_H
#define TESTS_FLOW_TRIO_H

#include "flow/core/state.h"
#include "flow-fixture.h"
#include "property.h"

static struct random numbers;

static inline uint32_t rnd(uint32_t n)
{
	return random_below(&numbers, n);
}

#define LONG_BLOCK 128		/* instructions of a block, at most: there it goes on in another */
#define TRIO_BYTES 1024		/* of code, at most */
#define OWNERS 3		/* that what is counted may belong to */

struct tally {
	uint64_t base;
	int64_t insns[TRIO_BYTES / 2];
	uint64_t jumps;		/* of each, how often, times what stands for it */
};

static inline uint64_t stands_for(uint64_t from, uint64_t to)
{
	return ((from ^ to << 32) | 1) * UINT64_C(0x9e3779b97f4a7c15);
}

/* The same order for a flow that delivers, one that counts, and the reference walk. */
struct trio {
	struct fixture fast, counting, plain;
	struct tally counted[OWNERS], expected[OWNERS];
	unsigned int owner;
	uint64_t last;
};

/* A trio without code, yet: rv_put() it into t->fast.code. */
static inline void trio_begin(struct trio *t, unsigned int depth)
{
	memset(t, 0, sizeof(*t));
	set_up(&t->fast, 0, depth);
	set_up(&t->counting, 0, depth);
	assert_int_equal(rvt_flow_count(t->counting.flow), 0);
	reference = true;
	set_up(&t->plain, 0, depth);
	reference = false;
}

static inline void trio_load(struct trio *t)
{
	t->counting.code = t->plain.code = t->fast.code;
	load(&t->fast);
	load(&t->counting);
	load(&t->plain);
	for (int i = 0; i < OWNERS; i++)
		t->counted[i].base = t->expected[i].base = t->plain.code.base;
}

static inline void tally(struct trio *t)
{
	const struct fixture *f = &t->plain;
	struct tally *to = &t->expected[t->owner];

	for (size_t i = 0; i < f->out.n; i++) {
		uint64_t pc = f->out.pcs[i], last = t->last;

		to->insns[(pc - to->base) / 2]++;
		if (last && pc != last + insn_bytes(f->code.bytes[last - to->base]))
			to->jumps += stands_for(last, pc);
		t->last = pc;
	}
}

/* The return stacks are the same. */
static inline void same_returns(const struct fixture *a, const struct fixture *b)
{
	assert_int_equal(rvt_flow_return_depth(a->flow), rvt_flow_return_depth(b->flow));
	for (unsigned int i = 0; i < rvt_flow_return_depth(a->flow); i++) {
		uint64_t pc, other;

		assert_true(rvt_flow_return_at(a->flow, i, &pc));
		assert_true(rvt_flow_return_at(b->flow, i, &other));
		assert_int_equal(pc, other);
	}
}

static inline int count_run(void *ctx, const struct rvt_run *run, uint64_t times)
{
	struct tally *t = ctx;
	uint64_t pc = run->block->pc;

	for (uint32_t i = 0; i < run->first + run->count; i++) {
		if (i >= run->first)
			t->insns[(pc - t->base) / 2] += times;
		pc += 2 * run->block->halfwords[i];
	}
	return 0;
}

static inline int count_jump(void *ctx, uint64_t from, uint64_t to, enum rvt_insn_class iclass,
			     int64_t times)
{
	(void)iclass;
	((struct tally *)ctx)->jumps += times * stands_for(from, to);
	return 0;
}

static inline void tell(struct trio *t, unsigned int owner)
{
	const struct rvt_count_sink sink = { .size = sizeof(sink),
		.ctx = &t->counted[owner], .run = count_run,
		.edge = count_jump };

	assert_int_equal(rvt_flow_counts(t->counting.flow, &sink), 0);
}

/* Another one goes on. Now and then somebody's counts are asked for before the end. */
static inline void change_owner(struct trio *t)
{
	unsigned int asked = rnd(OWNERS);

	/* There is no code up there. */
	assert_false(rvt_flow_defer_counts(t->counting.flow, t->owner, RVT_DEFERRED_HIGH));
	rvt_flow_defer_counts(t->counting.flow, t->owner, RVT_DEFERRED_BOTH);
	tell(t, t->owner);
	if (rnd(8) == 0) {
		rvt_flow_restore_counts(t->counting.flow, asked);
		tell(t, asked);
	}
	t->owner = rnd(OWNERS);
}

static inline void change_depth(struct trio *t, unsigned int recursion_max)
{
	unsigned int depth = rnd(2) ? 0 : rnd(9);

	assert_int_equal(rvt_flow_set_return_stack(t->fast.flow, depth, recursion_max), 0);
	assert_int_equal(rvt_flow_set_return_stack(t->counting.flow, depth, recursion_max), 0);
	assert_int_equal(rvt_flow_set_return_stack(t->plain.flow, depth, recursion_max), 0);
}

static inline void compare_counts(struct trio *t)
{
	tell(t, t->owner);
	for (unsigned int i = 0; i < OWNERS; i++) {
		rvt_flow_restore_counts(t->counting.flow, i);
		tell(t, i);
	}
	assert_int_equal(t->counting.flow->deferred.left, 0);
	assert_memory_equal(t->counted, t->expected, sizeof(t->expected));
}

/* Flows end, and others go on with what these leave to the image. They have to be started. */
static inline void renew_flows(struct trio *t)
{
	compare_counts(t);
	rvt_flow_destroy(t->fast.flow);
	make_flow(&t->fast, 0, 0);
	rvt_flow_destroy(t->counting.flow);
	make_flow(&t->counting, 0, 0);
	assert_int_equal(rvt_flow_count(t->counting.flow), 0);
	reference = true;
	rvt_flow_destroy(t->plain.flow);
	make_flow(&t->plain, 0, 0);
	reference = false;
	change_depth(t, 0);
	t->last = 0;
}

static inline void trio_end(struct trio *t)
{
	compare_counts(t);
	tear_down(&t->fast);
	tear_down(&t->counting);
	tear_down(&t->plain);
}

#endif
