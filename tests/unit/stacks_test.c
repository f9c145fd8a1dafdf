// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Call stacks of threads that change stacks as Go's do. 0x200 to 0x5ff are functions of goroutines,
 * which wait in gopark() (0x600). That calls mcall() (0x700) at 0x620, on another stack mcall()
 * calls schedule() (0x800), and that gogo() (0x900), which "returns" to the next goroutine: behind
 * 0x620, or to where it begins.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>
#include "callstack/share.h"

#define PARKED 0x624

static bool function_at(void *ctx, uint64_t pc, uint64_t *start, uint64_t *end)
{
	(void)ctx;
	*start = pc & ~0xffull;
	*end = *start + 0x100;
	return true;
}

static const struct rvt_callstack_code code = { .size = sizeof(code), .function = function_at };

static int setup(void **state)
{
	*state = rvt_callstack_create(64, &code);
	return *state ? 0 : -1;
}

static int teardown(void **state)
{
	rvt_callstack_destroy(*state);
	return 0;
}

/* A call from @from, four bytes long, to @to. */
static void call(struct rvt_callstack *stack, uint64_t from, uint64_t to)
{
	assert_int_equal(rvt_callstack_call(stack, from, from + 4, to), 0);
}

/* The goroutine at @from waits, and the thread looks for another one. */
static void park(struct rvt_callstack *stack, uint64_t from)
{
	call(stack, from, 0x600);
	call(stack, 0x620, 0x700);
	call(stack, 0x710, 0x800);
	call(stack, 0x810, 0x900);
}

static void expect(struct rvt_callstack *stack, size_t depth, uint64_t innermost)
{
	assert_int_equal(rvt_callstack_depth(stack), depth);
	assert_int_equal(depth ? rvt_callstack_frame(stack, 0)->from : 0, innermost);
}

static bool is_cut(struct rvt_callstack *stack)
{
	return rvt_callstack_depth(stack) == 1 && rvt_callstack_frame(stack, 0)->cut;
}

/* Two goroutines take turns; each is as deep as it was, and the other one's functions are not. */
static void two_goroutines(void **state)
{
	struct rvt_callstack *stack = *state;

	call(stack, 0x110, 0x800);
	call(stack, 0x810, 0x900);
	assert_int_equal(rvt_callstack_return(stack, 0x200), 2);
	expect(stack, 0, 0);
	call(stack, 0x210, 0x300);
	park(stack, 0x310);
	assert_int_equal(rvt_callstack_return(stack, 0x400), 5);
	expect(stack, 0, 0);
	for (int i = 0; i < 100; i++) {
		call(stack, 0x410, 0x500);
		call(stack, 0x520, 0x600);
		call(stack, 0x630, 0x700);
		call(stack, 0x710, 0x800);
		assert_int_equal(rvt_callstack_return(stack, PARKED), 4);
		expect(stack, 2, 0x310);
		assert_int_equal(rvt_callstack_return(stack, 0x314), 1);
		expect(stack, 1, 0x210);
		park(stack, 0x310);
		assert_int_equal(rvt_callstack_return(stack, 0x634), 5);
		expect(stack, 2, 0x520);
		assert_int_equal(rvt_callstack_return(stack, 0x524), 1);
		assert_int_equal(rvt_callstack_return(stack, 0x414), 1);
		expect(stack, 0, 0);
	}
	assert_int_equal(rvt_callstack_cuts(stack), 0);
}

/* Both wait in the same place: which of them goes on is known when it returns to its caller. */
static void same_place(void **state)
{
	struct rvt_callstack *stack = *state;

	call(stack, 0x110, 0x900);
	rvt_callstack_return(stack, 0x200);
	call(stack, 0x210, 0x300);
	park(stack, 0x310);
	rvt_callstack_return(stack, 0x400);
	park(stack, 0x410);
	for (int i = 0; i < 100; i++) {
		assert_true(rvt_callstack_return(stack, PARKED) > 0);
		assert_true(is_cut(stack));
		assert_int_equal(rvt_callstack_cuts(stack), 1);
		/* what is called meanwhile returns as ever */
		call(stack, 0x628, 0x650);
		assert_int_equal(rvt_callstack_return(stack, 0x62c), 1);
		assert_int_equal(rvt_callstack_return(stack, i % 2 ? 0x414 : 0x314), 1);
		assert_int_equal(rvt_callstack_cuts(stack), 0);
		if (i % 2)
			expect(stack, 0, 0);
		else
			expect(stack, 1, 0x210);
		park(stack, i % 2 ? 0x410 : 0x310);
	}
}

/* Of some that have been called alike it does not matter which one it is. */
static void alike(void **state)
{
	struct rvt_callstack *stack = *state;

	call(stack, 0x110, 0x900);
	for (int i = 0; i < 10; i++) {
		rvt_callstack_return(stack, 0x200);
		call(stack, 0x210, 0x300);
		park(stack, 0x310);
	}
	for (int i = 0; i < 100; i++) {
		rvt_callstack_return(stack, PARKED);
		expect(stack, 2, 0x310);
		assert_int_equal(rvt_callstack_return(stack, 0x314), 1);
		park(stack, 0x310);
	}
	assert_int_equal(rvt_callstack_cuts(stack), 0);
}

/* Twice the same recursion, one deeper: not even all that returns tells them from each other. */
static void recursion(void **state)
{
	struct rvt_callstack *stack = *state;

	call(stack, 0x110, 0x900);
	for (int deep = 3; deep < 6; deep += 2) {
		rvt_callstack_return(stack, 0x200);
		for (int i = 0; i < deep; i++)
			call(stack, i ? 0x310 : 0x210, 0x300);
		park(stack, 0x320);
	}
	rvt_callstack_return(stack, PARKED);
	rvt_callstack_return(stack, 0x324);
	rvt_callstack_return(stack, 0x314);
	rvt_callstack_return(stack, 0x314);
	assert_true(is_cut(stack));
	rvt_callstack_return(stack, 0x314);
	expect(stack, 2, 0x310);
	assert_int_equal(rvt_callstack_cuts(stack), 0);
}

/* One that waits while thousands begin and end is not forgotten. */
static void many_end(void **state)
{
	struct rvt_callstack *stack = *state;

	call(stack, 0x110, 0x900);
	rvt_callstack_return(stack, 0x200);
	call(stack, 0x210, 0x300);
	park(stack, 0x310);
	for (int i = 0; i < 20000; i++) {
		rvt_callstack_return(stack, 0x400);
		call(stack, 0x420, 0x500);
		rvt_callstack_return(stack, 0x424);
		/* it ends: behind this call nothing goes on */
		call(stack, 0x440, 0x700);
		call(stack, 0x710, 0x800);
	}
	rvt_callstack_return(stack, PARKED);
	expect(stack, 2, 0x310);
	assert_int_equal(rvt_callstack_cuts(stack), 0);
}

/* More than are kept: the oldest are forgotten, and where one goes on nobody is known. */
static void too_many(void **state)
{
	struct rvt_callstack *stack = *state;

	call(stack, 0x110, 0x900);
	for (uint64_t i = 0; i < 5000; i++) {
		rvt_callstack_return(stack, 0x1000);
		call(stack, 0x10000 + i * 0x100 + 0x10, 0x300);
		call(stack, 0x100000 + i * 0x100 + 0x20, 0x700);
	}
	rvt_callstack_return(stack, 0x100000 + 4999 * 0x100 + 0x24);
	expect(stack, 1, 0x10000 + 4999 * 0x100 + 0x10);
	call(stack, 0x320, 0x700);
	rvt_callstack_return(stack, 0x100000 + 2000 * 0x100 + 0x24);
	expect(stack, 1, 0x10000 + 2000 * 0x100 + 0x10);
	call(stack, 0x330, 0x700);
	assert_int_equal(rvt_callstack_cuts(stack), 0);
	rvt_callstack_return(stack, 0x100000 + 0x24);
	assert_true(is_cut(stack));
	assert_int_equal(rvt_callstack_cuts(stack), 1);
}

/* The stack has grown, and the function goes on behind the call in which that was done. */
static void growth(void **state)
{
	struct rvt_callstack *stack = *state;

	call(stack, 0x110, 0x900);
	rvt_callstack_return(stack, 0x200);
	park(stack, 0x210);
	rvt_callstack_return(stack, 0x200);
	for (int i = 1; i < 50; i++) {
		call(stack, i == 1 ? 0x210 : 0x310, 0x300);
		call(stack, 0x304, 0xa00);
		call(stack, 0xa10, 0xb00);
		call(stack, 0xb20, 0x900);
		assert_int_equal(rvt_callstack_return(stack, 0x308), 3);
		assert_int_equal(rvt_callstack_depth(stack), i);
	}
	assert_int_equal(rvt_callstack_cuts(stack), 0);
}

/* A thread goes on with what another one has left, which looks for work, or runs another one. */
static void two_threads(void **state)
{
	struct rvt_callstack *one = *state, *two = rvt_callstack_create(64, &code);

	rvt_callstack_share(two, one);
	call(one, 0x110, 0x900);
	call(two, 0x110, 0x900);
	rvt_callstack_return(one, 0x200);
	call(one, 0x210, 0x300);
	park(one, 0x310);
	rvt_callstack_return(one, 0x400);
	rvt_callstack_return(two, PARKED);
	expect(two, 2, 0x310);
	call(one, 0x410, 0x500);
	call(one, 0x510, 0x600);
	call(one, 0x630, 0x700);
	call(one, 0x710, 0x800);
	call(one, 0x820, 0xc00);
	/* the first thread sleeps in there, and the second goes on with its goroutine */
	assert_int_equal(rvt_callstack_return(two, 0x314), 1);
	park(two, 0x310);
	rvt_callstack_return(two, 0x634);
	expect(two, 2, 0x510);
	assert_int_equal(rvt_callstack_return(two, 0x514), 1);
	/* and the other way round */
	assert_int_equal(rvt_callstack_return(one, 0x824), 1);
	call(one, 0x810, 0x900);
	rvt_callstack_return(one, PARKED);
	expect(one, 2, 0x310);
	/* nobody is left who waits for what the other one is in the middle of */
	call(one, 0x630, 0x700);
	rvt_callstack_destroy(one);
	call(two, 0x410, 0x600);
	assert_int_equal(rvt_callstack_return(two, 0x634), 0);
	rvt_callstack_destroy(two);
	*state = NULL;
}

/* Another program, in which nothing waits. */
static void forgotten(void **state)
{
	struct rvt_callstack *stack = *state;

	call(stack, 0x110, 0x900);
	rvt_callstack_return(stack, 0x200);
	call(stack, 0x210, 0x300);
	park(stack, 0x310);
	rvt_callstack_return(stack, 0x400);
	rvt_callstack_clear(stack);
	rvt_callstack_forget_left(stack);
	call(stack, 0x410, 0x500);
	rvt_callstack_return(stack, PARKED);
	assert_true(is_cut(stack));
}

/* A copy has its own stacks that wait. */
static void copies(void **state)
{
	struct rvt_callstack *stack = *state, *copy;

	call(stack, 0x110, 0x900);
	rvt_callstack_return(stack, 0x200);
	call(stack, 0x210, 0x300);
	park(stack, 0x310);
	rvt_callstack_return(stack, 0x400);
	call(stack, 0x410, 0x500);
	copy = rvt_callstack_clone(stack);
	for (int i = 0; i < 2; i++) {
		struct rvt_callstack *which = i ? copy : stack;

		call(which, 0x520, 0x700);
		rvt_callstack_return(which, PARKED);
		expect(which, 2, 0x310);
		call(which, 0x330, 0x700);
		rvt_callstack_return(which, 0x524);
		expect(which, 1, 0x410);
	}
	rvt_callstack_destroy(copy);
}

#define K(pc) (0xffffffff80000000ull + (pc))
#define SIGRETURN 0xf00

/*
 * A signal comes at 0x234, and its handler has the program go on in 0x500 instead: which does
 * something, and jumps to 0x234. So with the kernel's flow and without.
 */
static void preempted(void **state)
{
	struct rvt_callstack *stack = *state;

	call(stack, 0x110, 0x200);
	for (int i = 0; i < 20; i++) {
		bool kernel = i % 2;

		if (kernel) {
			rvt_callstack_trap(stack, 0x234, K(0x8000));
			rvt_callstack_trap_return(stack, 0x400);
		} else {
			rvt_callstack_resume(stack, 0x234, 0x400);
		}
		expect(stack, 2, 0x234);
		call(stack, 0x410, 0x300);
		assert_int_equal(rvt_callstack_return(stack, 0x414), 1);
		assert_int_equal(rvt_callstack_return(stack, SIGRETURN), 0);
		if (kernel) {
			rvt_callstack_trap(stack, SIGRETURN + 4, K(0x8000));
			rvt_callstack_trap_return(stack, 0x500);
		} else {
			rvt_callstack_resume(stack, SIGRETURN + 4, 0x500);
		}
		expect(stack, 2, 0x234);
		assert_int_equal(rvt_callstack_frame(stack, 0)->to, 0x500);
		assert_true(rvt_callstack_frame(stack, 0)->signal);
		call(stack, 0x520, 0x600);
		assert_int_equal(rvt_callstack_return(stack, 0x524), 1);
		/* one more signal, whose handler goes back */
		rvt_callstack_resume(stack, 0x530, 0x400);
		expect(stack, 3, 0x530);
		rvt_callstack_return(stack, SIGRETURN);
		rvt_callstack_resume(stack, SIGRETURN + 4, 0x530);
		expect(stack, 2, 0x234);
		assert_int_equal(i % 3 ? rvt_callstack_jump(stack, 0x540, 0x234) :
				 rvt_callstack_return(stack, 0x234), 1);
		expect(stack, 1, 0x110);
	}
	assert_int_equal(rvt_callstack_return(stack, 0x114), 1);
	assert_int_equal(rvt_callstack_cuts(stack), 0);
}

/*
 * Two are preempted in different functions and wait in the same place: which of them goes on is
 * known when it jumps to where it was interrupted.
 */
static void preempted_both(void **state)
{
	struct rvt_callstack *stack = *state;

	call(stack, 0x110, 0x900);
	for (uint64_t at = 0x200; at <= 0x300; at += 0x100) {
		rvt_callstack_return(stack, at);
		call(stack, at + 0x10, 0xc00);
		rvt_callstack_resume(stack, at + 0xa34, 0x400);
		rvt_callstack_return(stack, SIGRETURN);
		rvt_callstack_resume(stack, SIGRETURN + 4, 0x500);
		call(stack, 0x510, 0x600);
		call(stack, 0x620, 0x700);
		call(stack, 0x710, 0x800);
	}
	rvt_callstack_return(stack, PARKED);
	rvt_callstack_return(stack, 0x514);
	assert_true(is_cut(stack));
	/* a jump to nowhere that waits */
	assert_int_equal(rvt_callstack_jump(stack, 0x520, 0x844), 0);
	assert_int_equal(rvt_callstack_jump(stack, 0x530, 0xc34), 1);
	expect(stack, 1, 0x210);
	assert_int_equal(rvt_callstack_cuts(stack), 0);
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(two_goroutines), TEST(same_place), TEST(alike), TEST(recursion),
		TEST(many_end), TEST(too_many), TEST(growth), TEST(two_threads), TEST(forgotten),
		TEST(copies), TEST(preempted), TEST(preempted_both),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
