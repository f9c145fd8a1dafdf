// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * What transfers.h makes of runs of blocks, of each kind of transfer and of lines between them, and
 * of tracing that stops while firmware runs.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>
#include <rvtrace/insn.h>
#include "../../tools/perf-plugin/common/transfers.h"

#define K(pc) (0xffffffff80000000ull + (pc))
#define HANDLER K(0x8000)

/* The last transfer, the stack behind it, and how many there were; the last straight line. */
struct seen {
	struct rvt_transfer transfer;
	size_t ended, depth, transfers;
	struct rvt_straight_line line;
	size_t lines;
	bool unwanted;
};

static int note(void *ctx, struct rvt_hart_flow *hart, const struct rvt_transfer *transfer,
		struct rvt_callstack *stack, size_t ended)
{
	struct seen *seen = ctx;

	(void)hart;
	seen->transfer = *transfer;
	seen->ended = ended;
	seen->depth = rvt_callstack_depth(stack);
	seen->transfers++;
	return 0;
}

static int note_line(void *ctx, struct rvt_hart_flow *hart, const struct rvt_straight_line *line,
		     struct rvt_callstack *stack)
{
	struct seen *seen = ctx;

	(void)hart;
	(void)stack;
	seen->line = *line;
	seen->lines++;
	return 0;
}

static bool is_wanted(void *ctx, const struct rvt_hart_flow *hart)
{
	const struct seen *seen = ctx;

	(void)hart;
	return !seen->unwanted;
}

struct fixture {
	struct rvt_transfers *transfers;
	struct rvt_session_sink sink;
	struct rvt_hart_flow hart;
	struct seen seen;
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	const struct rvt_transfers_ops ops = {
		.size = sizeof(ops), .ctx = &f->seen, .after = note, .line = note_line,
		.wants = is_wanted, .wants_ctx = &f->seen,
	};

	f->transfers = rvt_transfers_create(&ops, NULL, 16);
	rvt_transfers_sink(f->transfers, &f->sink);
	*state = f;
	return !f->transfers;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	f->sink.end(f->sink.ctx, &f->hart);
	rvt_transfers_destroy(f->transfers);
	free(f);
	return 0;
}

static void tell(struct fixture *f, enum rvt_event_type type, uint64_t pc)
{
	const struct rvt_event event = { .type = type, .pc = pc, .target = HANDLER };

	assert_int_equal(f->sink.event(f->sink.ctx, &f->hart, &event), 0);
}

static void expect(const struct fixture *f, enum rvt_transfer_kind kind, uint64_t from, uint64_t to,
		   size_t ended, size_t depth)
{
	assert_int_equal(f->seen.transfer.kind, kind);
	if (kind != RVT_TRANSFER_START)
		assert_int_equal(f->seen.transfer.from, from);
	assert_int_equal(f->seen.transfer.to, to);
	assert_int_equal(f->seen.ended, ended);
	assert_int_equal(f->seen.depth, depth);
}

/* Instructions @first to @last of a block at @pc: five of 4 bytes each, then one of @iclass. */
static void run_part(struct fixture *f, uint64_t pc, enum rvt_insn_class iclass, uint32_t first,
		     uint32_t last)
{
	static const uint8_t halfwords[6] = { 2, 2, 2, 2, 2, 2 };
	const struct rvt_block block = { .pc = pc, .insns = 6, .bytes = 24, .halfwords = halfwords,
					 .iclass = iclass };
	const struct rvt_run run = { &block, first, last - first + 1 };

	assert_int_equal(f->sink.runs(f->sink.ctx, &f->hart, &run, 1), 0);
}

static void run(struct fixture *f, uint64_t pc, enum rvt_insn_class iclass)
{
	run_part(f, pc, iclass, 0, 5);
}

/* Each class of instruction makes its kind of transfer, with perf's word, and moves the stack. */
static void kinds_of_transfers(void **state)
{
	static const struct {
		enum rvt_insn_class iclass;
		enum rvt_transfer_kind kind;
		const char *flags;
		bool indirect;
		size_t depth;
	} kinds[] = {
		{ RVT_INSN_BRANCH, RVT_TRANSFER_BRANCH, "jcc", false, 0 },
		{ RVT_INSN_JUMP, RVT_TRANSFER_JUMP, "jmp", false, 0 },
		{ RVT_INSN_JUMP_LINKED, RVT_TRANSFER_JUMP, "jmp", false, 0 },
		{ RVT_INSN_IND_JUMP, RVT_TRANSFER_JUMP, "jmp", true, 0 },
		{ RVT_INSN_IND_JUMP_LINKED, RVT_TRANSFER_JUMP, "jmp", true, 0 },
		{ RVT_INSN_CALL, RVT_TRANSFER_CALL, "call", false, 1 },
		{ RVT_INSN_IND_CALL, RVT_TRANSFER_CALL, "call", false, 1 },
		{ RVT_INSN_COROUTINE, RVT_TRANSFER_CALL, "call", true, 1 },
		{ RVT_INSN_RETURN, RVT_TRANSFER_RETURN, "return", false, 0 },
		{ RVT_INSN_TRAP_RETURN, RVT_TRANSFER_TRAP_RETURN, "iret", false, 0 },
	};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		struct fixture *f = *state;

		run(f, 0x1000, kinds[i].iclass);
		assert_int_equal(f->seen.transfers, 0);
		run(f, 0x2000, RVT_INSN_JUMP);
		assert_int_equal(f->seen.transfers, 1);
		expect(f, kinds[i].kind, 0x1014, 0x2000, 0, kinds[i].depth);
		assert_string_equal(f->seen.transfer.flags, kinds[i].flags);
		assert_string_equal(rvt_transfer_flags(kinds[i].iclass), kinds[i].flags);
		assert_int_equal(f->seen.transfer.indirect, kinds[i].indirect);
		teardown(state);
		assert_int_equal(setup(state), 0);
	}
}

/* What falls through to the next block goes on in the same line; a transfer ends it. */
static void straight_lines(void **state)
{
	struct fixture *f = *state;

	run(f, 0x1000, RVT_INSN_BRANCH);
	run_part(f, 0x1018, RVT_INSN_BRANCH, 0, 1);
	run_part(f, 0x1018, RVT_INSN_BRANCH, 2, 5);
	assert_int_equal(f->seen.lines, 0);
	run_part(f, 0x3000, RVT_INSN_JUMP, 3, 5);
	assert_int_equal(f->seen.lines, 1);
	assert_int_equal(f->seen.line.first, 0x1000);
	assert_int_equal(f->seen.line.last, 0x102c);
	assert_int_equal(f->seen.line.insns, 12);
	expect(f, RVT_TRANSFER_BRANCH, 0x102c, 0x300c, 0, 0);
	/* A trap before the block's end: its last instruction did not run. */
	run_part(f, 0x4000, RVT_INSN_JUMP, 0, 1);
	assert_int_equal(f->seen.line.first, 0x300c);
	assert_int_equal(f->seen.line.last, 0x3014);
	assert_int_equal(f->seen.line.insns, 3);
	tell(f, RVT_EVENT_TRAP, 0x4008);
	assert_int_equal(f->seen.lines, 3);
	assert_int_equal(f->seen.line.first, 0x4000);
	assert_int_equal(f->seen.line.last, 0x4004);
	assert_int_equal(f->seen.line.insns, 2);
	expect(f, RVT_TRANSFER_TRAP, 0x4008, HANDLER, 0, 1);
}

/* A jump, call or return to the instruction behind it is one, too; a branch falls through. */
static void jumps_to_next(void **state)
{
	struct fixture *f = *state;

	run(f, 0x1000, RVT_INSN_JUMP);
	run(f, 0x1018, RVT_INSN_CALL);
	expect(f, RVT_TRANSFER_JUMP, 0x1014, 0x1018, 0, 0);
	assert_int_equal(f->seen.line.first, 0x1000);
	assert_int_equal(f->seen.line.last, 0x1014);
	run(f, 0x1030, RVT_INSN_BRANCH);
	expect(f, RVT_TRANSFER_CALL, 0x102c, 0x1030, 0, 1);
	run(f, 0x1048, RVT_INSN_RETURN);
	assert_int_equal(f->seen.transfers, 2);
	run(f, 0x1060, RVT_INSN_IND_JUMP);
	assert_int_equal(f->seen.transfers, 3);
	expect(f, RVT_TRANSFER_RETURN, 0x105c, 0x1060, 0, 1);
	/* told with the event, and not again */
	tell(f, RVT_EVENT_MARK, 0x1078);
	expect(f, RVT_TRANSFER_JUMP, 0x1074, 0x1078, 0, 1);
	assert_true(f->seen.transfer.indirect);
	assert_int_equal(f->seen.transfers, 4);
	run(f, 0x1078, RVT_INSN_BRANCH);
	assert_int_equal(f->seen.transfers, 4);
}

/* Calls nest, and returns end them: one, or several at once where frames were skipped. */
static void calls_and_returns(void **state)
{
	struct fixture *f = *state;

	run(f, 0x1000, RVT_INSN_CALL);
	run(f, 0x2000, RVT_INSN_CALL);
	expect(f, RVT_TRANSFER_CALL, 0x1014, 0x2000, 0, 1);
	run(f, 0x3000, RVT_INSN_CALL);
	expect(f, RVT_TRANSFER_CALL, 0x2014, 0x3000, 0, 2);
	run(f, 0x4000, RVT_INSN_RETURN);
	expect(f, RVT_TRANSFER_CALL, 0x3014, 0x4000, 0, 3);
	run(f, 0x3018, RVT_INSN_RETURN);
	expect(f, RVT_TRANSFER_RETURN, 0x4014, 0x3018, 1, 2);
	run(f, 0x1018, RVT_INSN_JUMP);
	expect(f, RVT_TRANSFER_RETURN, 0x302c, 0x1018, 2, 0);
	assert_int_equal(rvt_transfers_cuts(f->transfers), 0);
}

/* Two that call each other by "jalr ra, t0" and the like: none gets deeper. */
static void swaps(void **state)
{
	struct fixture *f = *state;

	run(f, 0x1000, RVT_INSN_COROUTINE);
	run(f, 0x2000, RVT_INSN_COROUTINE);
	expect(f, RVT_TRANSFER_CALL, 0x1014, 0x2000, 0, 1);
	for (uint64_t at = 0x18; at < 0x400; at += 0x18) {
		run(f, 0x1000 + at, RVT_INSN_COROUTINE);
		expect(f, RVT_TRANSFER_CALL, 0x2000 + at - 4, 0x1000 + at, 1, 1);
		run(f, 0x2000 + at, RVT_INSN_COROUTINE);
		expect(f, RVT_TRANSFER_CALL, 0x1000 + at + 0x14, 0x2000 + at, 1, 1);
	}
}

/* A stack has at most 16 frames: older ones go, and their returns are no contradiction. */
static void deep_recursion(void **state)
{
	struct fixture *f = *state;

	for (int i = 0; i < 40; i++)
		run(f, 0x1000, RVT_INSN_CALL);
	assert_int_equal(f->seen.transfers, 39);
	assert_true(f->seen.depth <= 16);
	run(f, 0x2000, RVT_INSN_RETURN);
	run(f, 0x1018, RVT_INSN_RETURN);
	assert_int_equal(f->seen.ended, 1);
	assert_int_equal(f->seen.transfer.kind, RVT_TRANSFER_RETURN);
}

/* What nobody wants is not told, but moves the stack. */
static void unwanted(void **state)
{
	struct fixture *f = *state;

	f->seen.unwanted = true;
	run(f, 0x1000, RVT_INSN_CALL);
	run(f, 0x2000, RVT_INSN_CALL);
	run(f, 0x3000, RVT_INSN_RETURN);
	assert_int_equal(f->seen.transfers, 0);
	assert_int_equal(f->seen.lines, 0);
	f->seen.unwanted = false;
	run(f, 0x2018, RVT_INSN_RETURN);
	expect(f, RVT_TRANSFER_RETURN, 0x3014, 0x2018, 1, 1);
}

/* Threads have stacks of their own, and take them from cpu to cpu. */
static void stacks_of_threads(void **state)
{
	struct fixture *f = *state;
	struct rvt_task one = { .pid = 1, .tid = 1 }, two = { .pid = 2, .tid = 2 };

	f->hart.task = &one;
	run(f, 0x1000, RVT_INSN_CALL);
	run(f, 0x2000, RVT_INSN_CALL);
	run(f, 0x3000, RVT_INSN_JUMP);
	assert_int_equal(f->seen.depth, 2);
	f->hart.task = &two;
	run(f, 0x5000, RVT_INSN_CALL);
	run(f, 0x6000, RVT_INSN_JUMP);
	expect(f, RVT_TRANSFER_CALL, 0x5014, 0x6000, 0, 1);
	f->hart.task = &one;
	run(f, 0x3000, RVT_INSN_RETURN);
	run(f, 0x2018, RVT_INSN_RETURN);
	expect(f, RVT_TRANSFER_RETURN, 0x3014, 0x2018, 1, 1);
	f->hart.task = NULL;
}

/* Firmware that interrupts the program hands over to the kernel, or goes on with the program. */
static void program_interrupted(void **state)
{
	struct fixture *f = *state;

	tell(f, RVT_EVENT_START, 0x100);
	tell(f, RVT_EVENT_STOP, 0x120);
	tell(f, RVT_EVENT_START, K(0x8000));
	expect(f, RVT_TRANSFER_TRAP, 0x120, K(0x8000), 0, 1);
	tell(f, RVT_EVENT_STOP, K(0x8010));
	tell(f, RVT_EVENT_START, 0x120);
	expect(f, RVT_TRANSFER_TRAP_RETURN, K(0x8010), 0x120, 1, 0);
	tell(f, RVT_EVENT_STOP, 0x130);
	tell(f, RVT_EVENT_START, 0x130);
	expect(f, RVT_TRANSFER_START, 0, 0x130, 0, 0);
}

/* The kernel asked for something, and is interrupted before it goes on, or is not. */
static void kernel_interrupted(void **state)
{
	struct fixture *f = *state;

	tell(f, RVT_EVENT_TRAP, 0x100);
	expect(f, RVT_TRANSFER_TRAP, 0x100, HANDLER, 0, 1);
	tell(f, RVT_EVENT_STOP, K(0x200));
	tell(f, RVT_EVENT_START, K(0x204));
	expect(f, RVT_TRANSFER_START, 0, K(0x204), 0, 1);
	tell(f, RVT_EVENT_STOP, K(0x200));
	tell(f, RVT_EVENT_START, HANDLER);
	expect(f, RVT_TRANSFER_TRAP, K(0x200), HANDLER, 0, 2);
}

/*
 * The program is not traced: the kernel returns to it, and is entered again. E-Trace tells what is
 * behind the trap return as the place where tracing stopped.
 */
static void kernel_alone(void **state)
{
	struct fixture *f = *state;

	tell(f, RVT_EVENT_TRAP, K(0x9000));
	tell(f, RVT_EVENT_STOP, K(0x8100));
	for (int i = 0; i < 3; i++) {
		tell(f, RVT_EVENT_START, HANDLER);
		run(f, HANDLER, RVT_INSN_CALL);
		run(f, K(0x200), RVT_INSN_TRAP_RETURN);
		assert_int_equal(f->seen.depth, i ? 1 : 3);
		tell(f, RVT_EVENT_STOP, i == 1 ? 0 : K(0x218));
		expect(f, RVT_TRANSFER_STOP, K(0x214), 0, i ? 1 : 3, 0);
	}
	/* firmware was asked: nothing has ended */
	tell(f, RVT_EVENT_START, HANDLER);
	run(f, HANDLER, RVT_INSN_CALL);
	run(f, K(0x200), RVT_INSN_ECALL);
	tell(f, RVT_EVENT_STOP, K(0x218));
	expect(f, RVT_TRANSFER_STOP, K(0x214), K(0x218), 0, 1);
}

/* The end of a trap is in a gap: it has ended where the program goes on. */
static void lost_in_kernel(void **state)
{
	struct fixture *f = *state;

	tell(f, RVT_EVENT_TRAP, 0x100);
	tell(f, RVT_EVENT_LOST, 0);
	tell(f, RVT_EVENT_START, K(0x300));
	expect(f, RVT_TRANSFER_START, 0, K(0x300), 0, 1);
	tell(f, RVT_EVENT_LOST, 0);
	tell(f, RVT_EVENT_START, 0x110);
	expect(f, RVT_TRANSFER_START, 0, 0x110, 1, 0);
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(kinds_of_transfers), TEST(straight_lines), TEST(jumps_to_next),
		TEST(calls_and_returns), TEST(swaps), TEST(deep_recursion), TEST(unwanted),
		TEST(stacks_of_threads),
		TEST(program_interrupted), TEST(kernel_interrupted), TEST(kernel_alone),
		TEST(lost_in_kernel),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
