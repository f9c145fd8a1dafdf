// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* What transfers.h makes of tracing that stops while firmware runs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>
#include "../../tools/perf-plugin/common/transfers.h"

#define K(pc) (0xffffffff80000000ull + (pc))
#define HANDLER K(0x8000)

/* The last transfer, and the stack behind it. */
struct seen {
	struct rvt_transfer transfer;
	size_t ended, depth;
};

static int note(void *ctx, struct rvt_hart_flow *hart, const struct rvt_transfer *transfer,
		struct rvt_callstack *stack, size_t ended)
{
	(void)hart;
	*(struct seen *)ctx = (struct seen){ *transfer, ended, rvt_callstack_depth(stack) };
	return 0;
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
	const struct rvt_transfers_ops ops = { .size = sizeof(ops), .ctx = &f->seen, .after = note };

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
		TEST(program_interrupted), TEST(kernel_interrupted), TEST(lost_in_kernel),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
