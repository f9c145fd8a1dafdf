// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>
#include <rvtrace/callstack.h>

static int setup(void **state)
{
	*state = rvt_callstack_create(8);
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

/* An exception goes where nothing has returned: the frames go at the next return that is known. */
static void exception(void **state)
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
	assert_int_equal(rvt_callstack_resume(stack, K(0x108)), 0);
	assert_int_equal(rvt_callstack_resume(stack, 0x220), 2);
	assert_int_equal(rvt_callstack_resume(stack, 0x220), 0);
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
	struct rvt_callstack *goes = *state, *comes = rvt_callstack_create(8);

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
	rvt_callstack_clear(stack);
	assert_int_equal(rvt_callstack_depth(stack), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(calls_and_returns, setup, teardown),
		cmocka_unit_test_setup_teardown(tail_call, setup, teardown),
		cmocka_unit_test_setup_teardown(longjmp_out, setup, teardown),
		cmocka_unit_test_setup_teardown(longjmp_after_interrupt, setup, teardown),
		cmocka_unit_test_setup_teardown(exception, setup, teardown),
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
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
