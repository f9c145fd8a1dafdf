// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>
#include <rvtrace/callstack.h>
#include "callstack/returns.h"

static int setup(void **state)
{
	*state = rvt_callstack_create(8, NULL);
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

static void calls_and_returns(void **state)
{
	struct rvt_callstack *stack = *state;

	assert_null(rvt_callstack_frame(stack, 0));
	call(stack, 0x100, 0x200);
	call(stack, 0x210, 0x300);
	assert_int_equal(rvt_callstack_depth(stack), 2);
	assert_int_equal(rvt_callstack_frame(stack, 0)->to, 0x300);
	assert_int_equal(rvt_callstack_frame(stack, 1)->back, 0x104);
	assert_null(rvt_callstack_frame(stack, 2));
	assert_int_equal(rvt_callstack_return(stack, 0x214), 1);
	assert_int_equal(rvt_callstack_return(stack, 0x104), 1);
	assert_int_equal(rvt_callstack_depth(stack), 0);
}

/* f tail-calls g: g returns to f's caller, and no frame of f is left. */
static void tail_call(void **state)
{
	struct rvt_callstack *stack = *state;

	call(stack, 0x100, 0x200);
	/* a jump from f to g: nothing to tell the stack */
	assert_int_equal(rvt_callstack_return(stack, 0x104), 1);
	assert_int_equal(rvt_callstack_depth(stack), 0);
}

/* longjmp returns to where setjmp returned: the frames between are gone. */
static void longjmp_out(void **state)
{
	struct rvt_callstack *stack = *state;

	call(stack, 0x100, 0x200);	/* main calls f */
	call(stack, 0x210, 0x900);	/* f calls setjmp */
	assert_int_equal(rvt_callstack_return(stack, 0x214), 1);
	call(stack, 0x220, 0x300);	/* f calls g */
	call(stack, 0x310, 0x400);	/* g calls h */
	call(stack, 0x410, 0x990);	/* h calls longjmp, which returns to 0x214 */
	assert_int_equal(rvt_callstack_return(stack, 0x214), 3);
	assert_int_equal(rvt_callstack_depth(stack), 1);
	assert_int_equal(rvt_callstack_frame(stack, 0)->to, 0x200);
	assert_int_equal(rvt_callstack_return(stack, 0x104), 1);
}

/* An interrupt between setjmp() and longjmp(), in which thousands of functions return. */
static void longjmp_after_interrupt(void **state)
{
	struct rvt_callstack *stack = *state;

	call(stack, 0x100, 0x200);
	call(stack, 0x210, 0x300);	/* setjmp() */
	assert_int_equal(rvt_callstack_return(stack, 0x214), 1);
	call(stack, 0x220, 0x400);
	assert_int_equal(rvt_callstack_trap(stack, 0x404, 0x10000), 0);
	for (uint64_t pc = 0x10000; pc < 0x20000; pc += 16) {
		call(stack, pc, 0x30000);
		call(stack, pc + 8, 0x40000);
		assert_int_equal(rvt_callstack_return(stack, pc + 12), 1);
		assert_int_equal(rvt_callstack_return(stack, pc + 4), 1);
	}
	assert_int_equal(rvt_callstack_trap_return(stack, 0x404), 1);
	call(stack, 0x404, 0x500);	/* longjmp() */
	assert_int_equal(rvt_callstack_return(stack, 0x214), 2);
	assert_int_equal(rvt_callstack_depth(stack), 1);
	assert_int_equal(rvt_callstack_return(stack, 0), 0);
}

/*
 * An exception goes where nothing has returned, and nothing is known of the code: the frames go at
 * the next return that is known.
 */
static void exception_without_code(void **state)
{
	struct rvt_callstack *stack = *state;

	call(stack, 0x100, 0x200);
	call(stack, 0x220, 0x300);
	/* the unwinder, which "returns" to a landing pad in 0x200 */
	call(stack, 0x310, 0x990);
	assert_int_equal(rvt_callstack_return(stack, 0x280), 0);
	assert_int_equal(rvt_callstack_return(stack, 0x104), 3);
	assert_int_equal(rvt_callstack_depth(stack), 0);
}

static void unknown_return(void **state)
{
	struct rvt_callstack *stack = *state;

	assert_int_equal(rvt_callstack_return(stack, 0x500), 0);
	call(stack, 0x100, 0x200);
	assert_int_equal(rvt_callstack_return(stack, 0x500), 0);
	assert_int_equal(rvt_callstack_depth(stack), 1);
}

static void traps(void **state)
{
	struct rvt_callstack *stack = *state;

	call(stack, 0x100, 0x200);
	assert_int_equal(rvt_callstack_trap(stack, 0x204, 0x8000), 0);
	assert_true(rvt_callstack_frame(stack, 0)->trap);
	call(stack, 0x8010, 0x8100);
	/* a return to an address of the interrupted program is none of the handler's */
	assert_int_equal(rvt_callstack_return(stack, 0x104), 0);
	call(stack, 0x8110, 0x8200);
	/* the handler leaves from deep inside, as a syscall's exit path does */
	assert_int_equal(rvt_callstack_trap_return(stack, 0x204), 3);
	assert_int_equal(rvt_callstack_depth(stack), 1);
	assert_int_equal(rvt_callstack_return(stack, 0x104), 1);
}

/* ---- Linux: the kernel has the upper half of the addresses ---- */

#define K(pc) (0xffffffff80000000ull + (pc))

static void trap(struct rvt_callstack *stack, uint64_t epc)
{
	assert_int_equal(rvt_callstack_trap(stack, epc, K(0x8000)), 0);
}

/* The kernel asks firmware for something; an interrupt comes before it goes on, and is not seen. */
static void unseen_trap_in_kernel(void **state)
{
	struct rvt_callstack *stack = *state;

	call(stack, 0x100, 0x200);	/* main calls f */
	trap(stack, 0x204);		/* ecall */
	call(stack, K(0x8010), K(0x100));
	call(stack, K(0x110), K(0x200));	/* which calls firmware at 208 */
	call(stack, K(0x8020), K(0x300));	/* the interrupt's handler */
	assert_int_equal(rvt_callstack_return(stack, K(0x8024)), 1);
	assert_int_equal(rvt_callstack_trap_return(stack, K(0x20c)), 0);
	assert_int_equal(rvt_callstack_depth(stack), 4);
	assert_int_equal(rvt_callstack_return(stack, K(0x114)), 1);
	assert_int_equal(rvt_callstack_return(stack, K(0x8014)), 1);
	assert_int_equal(rvt_callstack_trap_return(stack, 0x208), 1);
	assert_int_equal(rvt_callstack_return(stack, 0x104), 1);
	assert_int_equal(rvt_callstack_depth(stack), 0);
}

/* Of a trap from the program, the handler's frames go, and the program's stay. */
static void unseen_trap_from_program(void **state)
{
	struct rvt_callstack *stack = *state;

	call(stack, 0x100, 0x200);
	call(stack, K(0x8010), K(0x100));
	call(stack, K(0x110), K(0x200));
	assert_int_equal(rvt_callstack_trap_return(stack, 0x204), 2);
	assert_int_equal(rvt_callstack_depth(stack), 1);
	assert_int_equal(rvt_callstack_return(stack, 0x104), 1);
}

/* What the kernel did goes when the program returns, or goes on after a gap. */
static void unseen_trap_return(void **state)
{
	struct rvt_callstack *stack = *state;

	call(stack, 0x100, 0x200);
	call(stack, 0x210, 0x300);
	trap(stack, 0x304);
	call(stack, K(0x8010), K(0x100));
	trap(stack, K(0x104));
	assert_int_equal(rvt_callstack_return(stack, 0x214), 4);
	assert_int_equal(rvt_callstack_depth(stack), 1);
	trap(stack, 0x218);
	call(stack, K(0x8010), K(0x100));
	assert_int_equal(rvt_callstack_resume(stack, 0, K(0x108)), 0);
	assert_int_equal(rvt_callstack_resume(stack, 0, 0x220), 2);
	assert_int_equal(rvt_callstack_resume(stack, 0, 0x220), 0);
	assert_int_equal(rvt_callstack_return(stack, 0x104), 1);
}

/* An interrupt of the kernel whose end is in a gap; then the kernel ends the trap before. */
static void nested_traps(void **state)
{
	struct rvt_callstack *stack = *state;

	call(stack, 0x100, 0x200);
	trap(stack, 0x204);
	call(stack, K(0x8010), K(0x100));
	trap(stack, K(0x104));
	trap(stack, K(0x8004));
	/* to the first one's instruction, over the second */
	assert_int_equal(rvt_callstack_trap_return(stack, K(0x104)), 2);
	assert_int_equal(rvt_callstack_depth(stack), 3);
	trap(stack, K(0x108));
	assert_int_equal(rvt_callstack_trap_return(stack, 0x208), 3);
	assert_int_equal(rvt_callstack_depth(stack), 1);
}

/* Copying from the program faults, and the kernel goes on elsewhere: that fault alone has ended. */
static void fixup(void **state)
{
	struct rvt_callstack *stack = *state;

	call(stack, 0x100, 0x200);
	trap(stack, 0x204);
	call(stack, K(0x8010), K(0x100));
	trap(stack, K(0x104));
	call(stack, K(0x8020), K(0x300));
	assert_int_equal(rvt_callstack_return(stack, K(0x8024)), 1);
	assert_int_equal(rvt_callstack_trap_return(stack, K(0x180)), 1);
	assert_int_equal(rvt_callstack_return(stack, K(0x8014)), 1);
	assert_int_equal(rvt_callstack_trap_return(stack, 0x208), 1);
	assert_int_equal(rvt_callstack_depth(stack), 1);
}

/*
 * A restartable sequence is interrupted, and another thread runs meanwhile: the kernel returns to
 * where the sequence is given up. The program is as deep as before.
 */
static void given_up_sequence(void **state)
{
	struct rvt_callstack *stack = *state;

	call(stack, 0x100, 0x200);
	call(stack, 0x210, 0x300);
	trap(stack, 0x304);
	call(stack, K(0x8010), K(0x100));
	call(stack, K(0x110), K(0x9000));	/* schedule */
	assert_int_equal(rvt_callstack_return(stack, K(0x114)), 1);
	assert_int_equal(rvt_callstack_return(stack, K(0x8014)), 1);
	assert_int_equal(rvt_callstack_trap_return(stack, 0x380), 1);
	assert_int_equal(rvt_callstack_depth(stack), 2);
	assert_int_equal(rvt_callstack_return(stack, 0x214), 1);
	assert_int_equal(rvt_callstack_return(stack, 0x104), 1);
}

/*
 * A timer interrupts f; the kernel returns into a signal handler instead of into f. The handler
 * calls g, returns to the trampoline, and that asks the kernel to go on in f.
 */
static void signal_handler(void **state)
{
	struct rvt_callstack *stack = *state;

	call(stack, 0x100, 0x200);	/* main calls f */
	assert_int_equal(rvt_callstack_trap(stack, 0x204, 0x8000), 0);
	call(stack, 0x8010, 0x8100);
	assert_int_equal(rvt_callstack_trap_return(stack, 0x600), 2);	/* the handler */
	assert_int_equal(rvt_callstack_depth(stack), 1);
	call(stack, 0x610, 0x700);
	assert_int_equal(rvt_callstack_return(stack, 0x614), 1);
	/* the kernel, not a call, has set the handler's return address */
	assert_int_equal(rvt_callstack_return(stack, 0xf000), 0);
	assert_int_equal(rvt_callstack_trap(stack, 0xf004, 0x8000), 0);
	call(stack, 0x8020, 0x8300);
	assert_int_equal(rvt_callstack_trap_return(stack, 0x204), 2);	/* to f */
	assert_int_equal(rvt_callstack_depth(stack), 1);
	assert_int_equal(rvt_callstack_return(stack, 0x104), 1);	/* f returns to main */
	assert_int_equal(rvt_callstack_depth(stack), 0);
}

/*
 * Where threads change, the trace tells it some instructions too late: the first returns of the
 * thread that comes count for the one that goes. All threads change in one function, so that it
 * evens out.
 */
static void late_switch(void **state)
{
	struct rvt_callstack *goes = *state, *comes = rvt_callstack_create(8, NULL);

	assert_non_null(comes);
	/* both went to sleep in schedule (0x9000), which calls switch_to (0x9100) */
	call(comes, 0x300, 0x9000);
	call(comes, 0x9010, 0x9100);
	call(goes, 0x100, 0x9000);
	call(goes, 0x9010, 0x9100);
	/* switch_to returns in the one that comes, seen as one of the one that goes */
	assert_int_equal(rvt_callstack_return(goes, 0x9014), 1);
	/* told now: schedule returns to its caller, over the frame that is still there */
	assert_int_equal(rvt_callstack_return(comes, 0x304), 2);
	assert_int_equal(rvt_callstack_depth(comes), 0);
	/* and back again */
	call(comes, 0x310, 0x9000);
	call(comes, 0x9010, 0x9100);
	assert_int_equal(rvt_callstack_return(comes, 0x9014), 1);
	assert_int_equal(rvt_callstack_return(goes, 0x104), 1);
	assert_int_equal(rvt_callstack_depth(goes), 0);
	assert_int_equal(rvt_callstack_depth(comes), 1);
	rvt_callstack_destroy(comes);
}

static void depth_limit(void **state)
{
	struct rvt_callstack *stack = *state;

	for (uint64_t i = 1; i <= 100; i++)
		call(stack, i * 0x10, 0x4000);
	assert_in_range(rvt_callstack_depth(stack), 4, 8);
	assert_int_equal(rvt_callstack_frame(stack, 0)->from, 100 * 0x10);
	assert_int_equal(rvt_callstack_frame(stack, 1)->from, 99 * 0x10);
	assert_true(rvt_callstack_frame(stack, rvt_callstack_depth(stack) - 1)->cut);
	assert_in_range(rvt_callstack_cuts(stack), 100 / 8, 100 / 3);
	rvt_callstack_clear(stack);
	assert_int_equal(rvt_callstack_depth(stack), 0);
}

/*
 * ---- code: each function has 0x100 bytes; what is called at 0x..10 lands at 0x..80; probed
 * functions return to PROBE ----
 */

#define PROBE 0xff000

static bool function_at(void *ctx, uint64_t pc, uint64_t *start, uint64_t *end)
{
	(void)ctx;
	*start = pc & ~0xffull;
	*end = *start + 0x100;
	return true;
}

static uint64_t landing_pad_of(void *ctx, uint64_t from)
{
	(void)ctx;
	return (from & 0xff) == 0x10 ? from + 0x70 : 0;
}

static bool is_diverted(void *ctx, uint64_t pc)
{
	(void)ctx;
	return pc == PROBE;
}

static bool is_landing_pad(void *ctx, uint64_t pc)
{
	(void)ctx;
	return (pc & 0xff) == 0x80;
}

static const struct rvt_callstack_code code = { .size = sizeof(code), .function = function_at,
						.landing_pad = landing_pad_of,
						.diverted = is_diverted,
						.is_landing_pad = is_landing_pad };

static int setup_code(void **state)
{
	*state = rvt_callstack_create(16, &code);
	return *state ? 0 : -1;
}

/* main calls f, which calls g where nothing catches, and that calls the unwinder. */
static void exception(void **state)
{
	struct rvt_callstack *stack = *state;

	call(stack, 0x110, 0x200);
	for (int i = 0; i < 1000; i++) {
		call(stack, 0x210, 0x300);
		call(stack, 0x320, 0x400);
		call(stack, 0x430, 0x900);
		call(stack, 0x920, 0xa00);
		assert_int_equal(rvt_callstack_return(stack, 0x280), 4);
		assert_int_equal(rvt_callstack_depth(stack), 1);
	}
	assert_int_equal(rvt_callstack_return(stack, 0x114), 1);
	assert_int_equal(rvt_callstack_cuts(stack), 0);
}

/* Each level has the same landing pad: the innermost comes first, then the one that called it. */
static void exception_in_recursion(void **state)
{
	struct rvt_callstack *stack = *state;

	for (int i = 0; i < 5; i++)
		call(stack, 0x210, 0x200);
	call(stack, 0x220, 0x900);	/* throws */
	for (int depth = 4; depth >= 0; depth--) {
		rvt_callstack_return(stack, 0x280);
		assert_int_equal(rvt_callstack_depth(stack), depth);
		call(stack, 0x284, 0x900);	/* rethrows */
	}
}

/* The unwinder is called in front of the landing pad, and never returns: not even to there. */
static void exception_behind_call(void **state)
{
	struct rvt_callstack *stack = *state;

	for (int i = 0; i < 5; i++)
		call(stack, 0x210, 0x200);
	for (int depth = 4; depth >= 0; depth--) {
		call(stack, 0x27c, 0x900);	/* rethrows */
		assert_int_equal(rvt_callstack_return(stack, 0x280), 2);
		assert_int_equal(rvt_callstack_depth(stack), depth);
	}
	/* nobody is known who called that function: a return, after all */
	call(stack, 0x37c, 0x900);
	assert_int_equal(rvt_callstack_return(stack, 0x380), 1);
	assert_int_equal(rvt_callstack_cuts(stack), 0);
}

/* A landing pad that no table tells: the function is known to have called. */
static void return_into_function(void **state)
{
	struct rvt_callstack *stack = *state;

	call(stack, 0x120, 0x200);
	call(stack, 0x220, 0x300);
	call(stack, 0x320, 0x400);
	assert_int_equal(rvt_callstack_return(stack, 0x240), 2);
	assert_int_equal(rvt_callstack_depth(stack), 1);
	assert_int_equal(rvt_callstack_cuts(stack), 0);
}

/* Nobody has called from where it returns to: the rest is not known, and that is told once. */
static void cut(void **state)
{
	struct rvt_callstack *stack = *state;

	call(stack, 0x120, 0x200);
	call(stack, 0x220, 0x300);
	assert_int_equal(rvt_callstack_return(stack, 0x740), 2);
	assert_int_equal(rvt_callstack_depth(stack), 1);
	assert_true(rvt_callstack_frame(stack, 0)->cut);
	assert_int_equal(rvt_callstack_cuts(stack), 1);
	call(stack, 0x750, 0x400);
	assert_int_equal(rvt_callstack_return(stack, 0x754), 1);
	assert_int_equal(rvt_callstack_return(stack, 0x840), 0);
	assert_int_equal(rvt_callstack_depth(stack), 1);
	assert_int_equal(rvt_callstack_cuts(stack), 1);
}

/* A trace that begins amid the program: nothing is there to be cut. */
static void nothing_to_cut(void **state)
{
	struct rvt_callstack *stack = *state;

	assert_int_equal(rvt_callstack_return(stack, 0x740), 0);
	assert_int_equal(rvt_callstack_depth(stack), 0);
	assert_int_equal(rvt_callstack_cuts(stack), 0);
}

/*
 * main resumes a coroutine by switching stacks (0x900, which jumps); that calls something, which
 * switches back. Depth is the same in every round.
 */
static void coroutine(void **state)
{
	struct rvt_callstack *stack = *state;

	call(stack, 0x120, 0x200);
	for (int i = 0; i < 100; i++) {
		call(stack, 0x220, 0x900);
		if (!i) {
			assert_int_equal(rvt_callstack_jump(stack, 0x940, 0x500), 0);
			call(stack, 0x520, 0x600);
		} else {
			assert_int_equal(rvt_callstack_jump(stack, 0x940, 0x634), 0);
			assert_true(rvt_callstack_frame(stack, 1)->other_stack);
		}
		assert_int_equal(rvt_callstack_depth(stack), 3);
		assert_int_equal(rvt_callstack_frame(stack, 0)->from, 0x520);
		call(stack, 0x630, 0x900);
		assert_int_equal(rvt_callstack_jump(stack, 0x940, 0x224), 3);
		assert_int_equal(rvt_callstack_depth(stack), 1);
	}
	assert_int_equal(rvt_callstack_return(stack, 0x124), 1);
	assert_int_equal(rvt_callstack_cuts(stack), 0);
}

/* Two that take turns from the same place, one deeper than the other; they return to change. */
static void coroutines_in_turn(void **state)
{
	struct rvt_callstack *stack = *state;

	for (int i = 0; i < 100; i++) {
		int deeper = i % 2;

		call(stack, 0x220, 0x900);
		if (i < 2) {
			rvt_callstack_jump(stack, 0x940, 0x500);
			for (int n = 0; n < 1 + deeper; n++)
				call(stack, 0x520, 0x500);
		} else {
			assert_int_equal(rvt_callstack_return(stack, 0x534), 0);
		}
		assert_int_equal(rvt_callstack_depth(stack), 2 + deeper);
		call(stack, 0x530, 0x900);
		rvt_callstack_return(stack, 0x224);
		assert_int_equal(rvt_callstack_depth(stack), 0);
	}
}

/* What runs on an unknown stack is cut off alone. */
static void unknown_stack(void **state)
{
	struct rvt_callstack *stack = *state;

	call(stack, 0x120, 0x200);
	call(stack, 0x220, 0x900);
	assert_int_equal(rvt_callstack_jump(stack, 0x940, 0x534), 0);
	call(stack, 0x540, 0x600);
	assert_int_equal(rvt_callstack_return(stack, 0x740), 1);
	assert_int_equal(rvt_callstack_cuts(stack), 1);
	assert_int_equal(rvt_callstack_depth(stack), 3);
	call(stack, 0x750, 0x900);
	assert_int_equal(rvt_callstack_jump(stack, 0x940, 0x224), 3);
	assert_int_equal(rvt_callstack_depth(stack), 1);
}

/* A jump within a function, or to the beginning of one, is no switch of stacks. */
static void other_jumps(void **state)
{
	struct rvt_callstack *stack = *state;

	call(stack, 0x120, 0x200);
	call(stack, 0x220, 0x200);	/* recursion: 0x224 is where it returns to */
	assert_int_equal(rvt_callstack_jump(stack, 0x260, 0x224), 0);
	assert_int_equal(rvt_callstack_jump(stack, 0x260, 0x500), 0);
	assert_int_equal(rvt_callstack_depth(stack), 2);
	assert_false(rvt_callstack_frame(stack, 0)->other_stack);
	/* a signal interrupts f at 0x224; its handler is f, too, and jumps there itself */
	assert_int_equal(rvt_callstack_trap(stack, 0x224, K(0x8000)), 0);
	assert_int_equal(rvt_callstack_trap_return(stack, 0x200), 0);
	assert_true(rvt_callstack_frame(stack, 0)->signal);
	assert_int_equal(rvt_callstack_jump(stack, 0x210, 0x224), 0);
	assert_true(rvt_callstack_frame(stack, 0)->signal);
	/* from elsewhere the jump ends it */
	assert_int_equal(rvt_callstack_jump(stack, 0x910, 0x224), 1);
	assert_int_equal(rvt_callstack_depth(stack), 2);
}

/* A stack that was told of a return alone is as one that was told of the call, too. */
static void noted_return(void **state)
{
	struct rvt_callstack *stack = *state;

	call(stack, 0x100, 0x200);	/* main calls f, which has called setjmp */
	rvt_callstack_note_return(stack, 0x214, rvt_callstack_depth(stack));
	call(stack, 0x220, 0x300);
	call(stack, 0x310, 0x900);	/* longjmp */
	assert_int_equal(rvt_callstack_return(stack, 0x214), 2);
	assert_int_equal(rvt_callstack_depth(stack), 1);
}

/* The kernel enters a handler for what a timer interrupted; it is called by that. */
static void signal_frame(void **state)
{
	struct rvt_callstack *stack = *state;

	call(stack, 0x120, 0x200);
	trap(stack, 0x234);
	call(stack, K(0x8010), K(0x9000));
	assert_int_equal(rvt_callstack_trap_return(stack, 0x600), 1);
	assert_int_equal(rvt_callstack_depth(stack), 2);
	assert_true(rvt_callstack_frame(stack, 0)->signal);
	assert_int_equal(rvt_callstack_frame(stack, 0)->from, 0x234);
	call(stack, 0x610, 0x700);
	assert_int_equal(rvt_callstack_return(stack, 0x614), 1);
	/* to the code that leaves it, which no call was made from */
	assert_int_equal(rvt_callstack_return(stack, 0xf00), 0);
	trap(stack, 0xf04);
	assert_int_equal(rvt_callstack_trap_return(stack, 0x234), 2);
	assert_int_equal(rvt_callstack_depth(stack), 1);
	assert_int_equal(rvt_callstack_return(stack, 0x124), 1);
	assert_int_equal(rvt_callstack_cuts(stack), 0);
}

/* The same where the kernel is not traced; and a handler that leaves by siglongjmp(). */
static void signal_without_kernel(void **state)
{
	struct rvt_callstack *stack = *state;

	call(stack, 0x120, 0x200);
	call(stack, 0x220, 0x900);	/* sigsetjmp() */
	assert_int_equal(rvt_callstack_return(stack, 0x224), 1);
	assert_int_equal(rvt_callstack_resume(stack, 0x234, 0x600), 0);
	assert_int_equal(rvt_callstack_depth(stack), 2);
	assert_int_equal(rvt_callstack_resume(stack, 0xf04, 0x234), 1);
	assert_int_equal(rvt_callstack_depth(stack), 1);
	assert_int_equal(rvt_callstack_resume(stack, 0x234, 0x600), 0);
	call(stack, 0x620, 0x910);	/* siglongjmp() */
	assert_int_equal(rvt_callstack_return(stack, 0x224), 2);
	assert_int_equal(rvt_callstack_depth(stack), 1);
}

/*
 * A function calls itself from the same place; each is probed. So with the kernel's flow and
 * without.
 */
static void diverted_return(void **state)
{
	struct rvt_callstack *stack = *state;

	call(stack, 0x120, 0x200);
	call(stack, 0x220, 0x200);
	call(stack, 0x220, 0x200);
	assert_int_equal(rvt_callstack_return(stack, PROBE), 1);
	assert_int_equal(rvt_callstack_resume(stack, PROBE, 0x224), 0);
	assert_int_equal(rvt_callstack_return(stack, PROBE), 1);
	trap(stack, PROBE);
	assert_int_equal(rvt_callstack_trap_return(stack, 0x224), 1);
	assert_int_equal(rvt_callstack_depth(stack), 1);
	assert_int_equal(rvt_callstack_frame(stack, 0)->back, 0x124);
	assert_int_equal(rvt_callstack_return(stack, PROBE), 1);
	assert_int_equal(rvt_callstack_return(stack, PROBE), 0);
	assert_int_equal(rvt_callstack_cuts(stack), 0);
}

/* Flow that goes on where it may have been, in a caller, and where nobody was known to be. */
static void gaps(void **state)
{
	struct rvt_callstack *stack = *state;

	call(stack, 0x120, 0x200);
	call(stack, 0x220, 0x300);
	call(stack, 0x320, 0x400);
	assert_int_equal(rvt_callstack_gap(stack, 0x450), 0);
	assert_int_equal(rvt_callstack_depth(stack), 3);
	assert_int_equal(rvt_callstack_cuts(stack), 0);
	assert_int_equal(rvt_callstack_gap(stack, 0x250), 2);
	assert_int_equal(rvt_callstack_depth(stack), 1);
	assert_int_equal(rvt_callstack_cuts(stack), 1);
	/* somebody has called 0x700; that it was 0x200 is not sure */
	assert_int_equal(rvt_callstack_gap(stack, 0x750), 0);
	assert_true(rvt_callstack_frame(stack, 0)->cut);
	assert_int_equal(rvt_callstack_depth(stack), 2);
	assert_int_equal(rvt_callstack_gap(stack, 0x850), 0);
	assert_int_equal(rvt_callstack_depth(stack), 2);
	/* it returns: to main after all */
	assert_int_equal(rvt_callstack_return(stack, 0x124), 2);
	assert_int_equal(rvt_callstack_depth(stack), 0);
	assert_int_equal(rvt_callstack_cuts(stack), 1);
}

/* ---- copies ---- */

/* The way into a coroutine that waits, and out of it by a long jump. */
static void go_on(struct rvt_callstack *stack)
{
	assert_int_equal(rvt_callstack_depth(stack), 2);
	assert_int_equal(rvt_callstack_cuts(stack), 1);
	call(stack, 0x240, 0x900);
	assert_int_equal(rvt_callstack_jump(stack, 0x940, 0x634), 0);
	assert_int_equal(rvt_callstack_depth(stack), 4);
	assert_int_equal(rvt_callstack_frame(stack, 0)->from, 0x520);
	call(stack, 0x640, 0x900);
	assert_int_equal(rvt_callstack_jump(stack, 0x940, 0x244), 3);
	call(stack, 0x250, 0x300);
	call(stack, 0x310, 0x990);
	assert_int_equal(rvt_callstack_return(stack, 0x234), 2);
	assert_int_equal(rvt_callstack_depth(stack), 2);
	assert_int_equal(rvt_callstack_frame(stack, 0)->tag, 4711);
}

/* What is of the other one now is gone with it, or is not there yet. */
static void copies(void **state)
{
	struct rvt_callstack *stack = rvt_callstack_create(8, &code), *second, *third;

	(void)state;
	call(stack, 0x700, 0x800);
	rvt_callstack_gap(stack, 0x120);
	assert_int_equal(rvt_callstack_return(stack, 0xb20), 2);	/* cut off */
	call(stack, 0xb30, 0x200);
	rvt_callstack_frame(stack, 0)->tag = 4711;
	call(stack, 0x220, 0x900);
	rvt_callstack_jump(stack, 0x940, 0x500);
	call(stack, 0x520, 0x600);
	call(stack, 0x630, 0x900);
	rvt_callstack_jump(stack, 0x940, 0x224);
	call(stack, 0x230, 0x400);	/* setjmp() */
	rvt_callstack_return(stack, 0x234);
	second = rvt_callstack_clone(stack);
	assert_non_null(second);
	third = rvt_callstack_clone(second);
	assert_non_null(third);
	go_on(stack);
	rvt_callstack_return(stack, 0xb34);
	rvt_callstack_clear(stack);
	go_on(second);
	rvt_callstack_destroy(stack);
	rvt_callstack_destroy(second);
	go_on(third);
	/* as deep as the first may be, and no deeper */
	for (uint64_t i = 1; i <= 100; i++)
		call(third, i * 0x1000, 0x2000);
	assert_in_range(rvt_callstack_depth(third), 4, 8);
	rvt_callstack_destroy(third);
}

/* A copy of none, and one of a stack that has been cleared. */
static void empty_copies(void **state)
{
	struct rvt_callstack *stack = *state, *copy = rvt_callstack_clone(stack);

	assert_non_null(copy);
	assert_int_equal(rvt_callstack_depth(copy), 0);
	call(copy, 0x100, 0x200);
	assert_int_equal(rvt_callstack_depth(stack), 0);
	assert_int_equal(rvt_callstack_return(copy, 0x104), 1);
	rvt_callstack_destroy(copy);
	call(stack, 0x100, 0x200);
	rvt_callstack_clear(stack);
	copy = rvt_callstack_clone(stack);
	assert_non_null(copy);
	assert_int_equal(rvt_callstack_return(copy, 0x104), 0);
	rvt_callstack_destroy(copy);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(calls_and_returns, setup, teardown),
		cmocka_unit_test_setup_teardown(tail_call, setup, teardown),
		cmocka_unit_test_setup_teardown(longjmp_out, setup, teardown),
		cmocka_unit_test_setup_teardown(longjmp_after_interrupt, setup, teardown),
		cmocka_unit_test_setup_teardown(exception_without_code, setup, teardown),
		cmocka_unit_test_setup_teardown(unknown_return, setup, teardown),
		cmocka_unit_test_setup_teardown(traps, setup, teardown),
		cmocka_unit_test_setup_teardown(unseen_trap_in_kernel, setup, teardown),
		cmocka_unit_test_setup_teardown(unseen_trap_from_program, setup, teardown),
		cmocka_unit_test_setup_teardown(unseen_trap_return, setup, teardown),
		cmocka_unit_test_setup_teardown(nested_traps, setup, teardown),
		cmocka_unit_test_setup_teardown(fixup, setup, teardown),
		cmocka_unit_test_setup_teardown(given_up_sequence, setup, teardown),
		cmocka_unit_test_setup_teardown(signal_handler, setup, teardown),
		cmocka_unit_test_setup_teardown(late_switch, setup, teardown),
		cmocka_unit_test_setup_teardown(depth_limit, setup, teardown),
		cmocka_unit_test_setup_teardown(exception, setup_code, teardown),
		cmocka_unit_test_setup_teardown(exception_in_recursion, setup_code, teardown),
		cmocka_unit_test_setup_teardown(exception_behind_call, setup_code, teardown),
		cmocka_unit_test_setup_teardown(return_into_function, setup_code, teardown),
		cmocka_unit_test_setup_teardown(cut, setup_code, teardown),
		cmocka_unit_test_setup_teardown(nothing_to_cut, setup_code, teardown),
		cmocka_unit_test_setup_teardown(coroutine, setup_code, teardown),
		cmocka_unit_test_setup_teardown(coroutines_in_turn, setup_code, teardown),
		cmocka_unit_test_setup_teardown(unknown_stack, setup_code, teardown),
		cmocka_unit_test_setup_teardown(other_jumps, setup_code, teardown),
		cmocka_unit_test_setup_teardown(noted_return, setup, teardown),
		cmocka_unit_test_setup_teardown(signal_frame, setup_code, teardown),
		cmocka_unit_test_setup_teardown(signal_without_kernel, setup_code, teardown),
		cmocka_unit_test_setup_teardown(diverted_return, setup_code, teardown),
		cmocka_unit_test_setup_teardown(gaps, setup_code, teardown),
		cmocka_unit_test(copies),
		cmocka_unit_test_setup_teardown(empty_copies, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
