// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * N-Trace encoder: traps, synchronisation, Ownership, time, loss. Expected messages are worked out
 * by hand from chapters 7 to 10 of the specification; where its text has an example, that is used.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "ntrace-bench.h"

/* Table 26 */
static void test_corner_cases(void **state)
{
	struct trace *t = trace_new(RVT_MODE_HTM);

	(void)state;
	/* pending interrupt at start; back to back exceptions; exception at a handler */
	trace_start(t, RVT_NTRACE_SYNC_DEBUG_EXIT);
	trace_trap(t, true, 0x100, 0x200, 3);
	trace_trap(t, false, 0x200, 0x300, 3);
	trace_trap(t, false, 0x300, 0x300, 3);
	/* back to back returns */
	trace_retire(t, 0x300, 1, 2, RVT_ITYPE_RETURN);
	trace_retire(t, 0x400, 1, 1, RVT_ITYPE_RETURN);
	/* a return whose target traps at once: two messages */
	trace_retire(t, 0x500, 1, 2, RVT_ITYPE_TRAP_RETURN);
	trace_trap(t, false, 0x600, 0x200, 3);
	trace_expect(t, "ProgTraceSync SYNC=3 F-ADDR=0x80\n"
			"IndirectBranch B-TYPE=3 I-CNT=0 U-ADDR=0x180\n"
			"IndirectBranch B-TYPE=2 I-CNT=0 U-ADDR=0x80\n"
			"IndirectBranch B-TYPE=2 I-CNT=0 U-ADDR=0\n"
			"IndirectBranch B-TYPE=0 I-CNT=2 U-ADDR=0x380\n"
			"IndirectBranch B-TYPE=0 I-CNT=1 U-ADDR=0x80\n"
			"IndirectBranch B-TYPE=0 I-CNT=2 U-ADDR=0x180\n"
			"IndirectBranch B-TYPE=2 I-CNT=0 U-ADDR=0x200");
	/* a taken branch whose target traps */
	trace_retire(t, 0x200, 1, 2, TAKEN);
	trace_trap(t, true, 0x280, 0x200, 3);
	trace_expect(t, "IndirectBranchHist B-TYPE=3 I-CNT=2 U-ADDR=0 HIST=0b1_1");
	rvt_ntrace_encoder_stop(t->enc, RVT_NTRACE_EV_LOW_POWER, 0x200);
	trace_expect(t, "ProgTraceCorrelation EVCODE=1 CDF=1 I-CNT=0 HIST=1");
	/* hart stops while tracing is off; tracing starts disabled */
	rvt_ntrace_encoder_stop(t->enc, RVT_NTRACE_EV_DEBUG, 0x200);
	trace_expect(t, "ProgTraceCorrelation EVCODE=0 CDF=1 I-CNT=0 HIST=1");
	trace_start(t, RVT_NTRACE_SYNC_TRACE_ENABLE);
	rvt_ntrace_encoder_stop(t->enc, RVT_NTRACE_EV_TRACE_DISABLED, 0x200);
	trace_expect(t, "ProgTraceCorrelation EVCODE=4 CDF=1 I-CNT=0 HIST=1");
	/* not started: nothing is traced */
	trace_retire(t, 0x200, 1, 2, RVT_ITYPE_IND_JUMP);
	trace_trap(t, true, 0x280, 0x200, 3);
	rvt_ntrace_encoder_mark(t->enc, RVT_NTRACE_SYNC_TRACE_EVENT);
	trace_expect(t, "");
	/* debug entry right after an indirect jump: its target is told */
	trace_start(t, RVT_NTRACE_SYNC_POWER_DOWN_EXIT);
	trace_retire(t, 0x200, 1, 2, RVT_ITYPE_IND_JUMP);
	rvt_ntrace_encoder_stop(t->enc, RVT_NTRACE_EV_DEBUG, 0x300);
	trace_expect(t, "ProgTraceSync SYNC=9 F-ADDR=0x100\n"
			"IndirectBranch I-CNT=2 U-ADDR=0x80\n"
			"ProgTraceCorrelation EVCODE=0 CDF=1 I-CNT=0 HIST=1");
	trace_end(t);
}

/* SYNC=1: HIST and I-CNT tell how far it came before the reset */
static void test_reset(void **state)
{
	struct trace *t = trace_new(RVT_MODE_HTM);

	(void)state;
	trace_start(t, RVT_NTRACE_SYNC_DEBUG_EXIT);
	trace_retire(t, 0x200, 1, 2, NOT_TAKEN);
	trace_retire(t, 0x204, 3, 2, NONE);
	trace_start(t, RVT_NTRACE_SYNC_RESET_EXIT);
	trace_retire(t, 0x1000, 1, 2, NONE);
	trace_expect(t, "ProgTraceSync SYNC=3 F-ADDR=0x100\n"
			"IndirectBranchHistSync SYNC=1 I-CNT=8 F-ADDR=0x800 HIST=0b1_0");
	trace_end(t);
	/* in BTM a taken branch before the reset is reported, too */
	t = trace_new(RVT_MODE_BTM);
	trace_start(t, RVT_NTRACE_SYNC_DEBUG_EXIT);
	trace_retire(t, 0x200, 1, 2, TAKEN);
	trace_start(t, RVT_NTRACE_SYNC_RESET_EXIT);
	trace_retire(t, 0x1000, 1, 2, NONE);
	trace_expect(t, "ProgTraceSync SYNC=3 F-ADDR=0x100\n"
			"DirectBranch I-CNT=2\n"
			"ProgTraceSync SYNC=1 I-CNT=0 F-ADDR=0x800");
	trace_end(t);
}

/* ecall: rc7 counts it, 1.0 does not */
static void test_ecall(void **state)
{
	struct rvt_trap ecall = {
		.cause = 11, .epc = 0x204, .handler = 0x300, .prv = 3, .ecall_halfwords = 2,
	};
	static const char *const messages[] = {
		"ProgTraceSync SYNC=3 F-ADDR=0x100\nIndirectBranch B-TYPE=2 I-CNT=4 U-ADDR=0x80",
		"ProgTraceSync SYNC=3 F-ADDR=0x100\nIndirectBranch B-TYPE=2 I-CNT=2 U-ADDR=0x80",
	};

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct trace *t = trace_new(RVT_MODE_BTM);

		t->config.dialect = i ? RVT_DIALECT_NTRACE_1_0 : RVT_DIALECT_NTRACE_RC7;
		trace_start(t, RVT_NTRACE_SYNC_DEBUG_EXIT);
		trace_retire(t, 0x200, 1, 2, NONE);
		rvt_ntrace_encoder_trap(t->enc, &ecall);
		trace_expect(t, messages[i]);
		trace_end(t);
	}
}

/* 7.1. PROCESS: FORMAT 2 bits, PRV 2, V 1, CONTEXT */
static void test_ownership(void **state)
{
	struct trace *t = trace_new(RVT_MODE_BTM);

	(void)state;
	t->config.context = true;
	trace_start(t, RVT_NTRACE_SYNC_DEBUG_EXIT);
	trace_retire_as(t, 0x200, NONE, 3, 0);
	trace_expect(t, "ProgTraceSync SYNC=3 F-ADDR=0x100\n"
			"Ownership PROCESS=0b0_11_10");
	/* scontext 0x1d; then, in VU-mode, as in the specification: 0x3b2 */
	rvt_ntrace_encoder_context(t->enc, false, 0x1d);
	trace_retire_as(t, 0x204, RVT_ITYPE_TRAP_RETURN, 3, 0);
	trace_retire_as(t, 0x400, NONE, 0, 1);
	trace_expect(t, "Ownership PROCESS=0x3ae\n"
			"IndirectBranch I-CNT=4 U-ADDR=0x300\n"
			"Ownership PROCESS=0b1_00_00");
	rvt_ntrace_encoder_context(t->enc, false, 0x1d);
	trace_retire_as(t, 0x404, NONE, 0, 1);
	trace_expect(t, "Ownership PROCESS=0x3b2");
	/* the second: M-mode is 0xc */
	trace_trap(t, false, 0x408, 0x200, 3);
	trace_expect(t, "IndirectBranch B-TYPE=2 I-CNT=4 U-ADDR=0x300\n"
			"Ownership PROCESS=0xc");
	/* no change of privilege, no message */
	trace_trap(t, false, 0x200, 0x200, 3);
	trace_expect(t, "IndirectBranch B-TYPE=2 I-CNT=0 U-ADDR=0");
	/* hcontext precedes scontext, both follow each sync */
	rvt_ntrace_encoder_context(t->enc, true, 5);
	rvt_ntrace_encoder_mark(t->enc, RVT_NTRACE_SYNC_TRACE_EVENT);
	trace_retire_as(t, 0x200, NONE, 3, 0);
	trace_expect(t, "ProgTraceSync SYNC=6 I-CNT=0 F-ADDR=0x100\n"
			"Ownership PROCESS=0b101_0_11_11\n"
			"Ownership PROCESS=0b11101_0_11_10");
	/* a trap return to the same privilege */
	trace_retire_as(t, 0x204, RVT_ITYPE_TRAP_RETURN, 3, 0);
	trace_retire_as(t, 0x300, NONE, 3, 0);
	trace_expect(t, "IndirectBranch I-CNT=4 U-ADDR=0x80");
	trace_end(t);
}

/* rc7 reports the privilege mode at each trap and return; trapped at the first instruction */
static void test_rc7_ownership(void **state)
{
	struct trace *t = trace_new(RVT_MODE_BTM);

	(void)state;
	t->config.context = true;
	t->config.dialect = RVT_DIALECT_NTRACE_RC7;
	trace_start(t, RVT_NTRACE_SYNC_DEBUG_EXIT);
	trace_trap(t, false, 0x200, 0x300, 3);
	trace_retire_as(t, 0x300, RVT_ITYPE_TRAP_RETURN, 3, 0);
	trace_retire_as(t, 0x300, NONE, 3, 0);
	trace_trap(t, false, 0x304, 0x300, 3);
	trace_expect(t, "ProgTraceSync SYNC=3 F-ADDR=0x100\n"
			"IndirectBranch B-TYPE=2 I-CNT=0 U-ADDR=0x80\n"
			"Ownership PROCESS=0b0_11_10\n"
			"IndirectBranch I-CNT=2 U-ADDR=0\n"
			"Ownership PROCESS=0xc\n"
			"IndirectBranch B-TYPE=2 I-CNT=2 U-ADDR=0\n"
			"Ownership PROCESS=0xc");
	trace_end(t);
}

/* 8.7: absolute in sync messages, relative in others */
static void test_timestamps(void **state)
{
	(void)state;
	for (int xor = 0; xor < 2; xor++) {
		struct trace *t = trace_new(RVT_MODE_BTM);

		t->config.timestamp = xor ? RVT_TIMESTAMP_XOR : RVT_TIMESTAMP_DELTA;
		t->now = 1000;
		trace_start(t, RVT_NTRACE_SYNC_DEBUG_EXIT);
		trace_retire(t, 0x200, 1, 2, TAKEN);
		t->now = 1010;
		trace_retire(t, 0x200, 1, 2, TAKEN);
		t->now = 1025;
		trace_retire(t, 0x200, 1, 2, NONE);
		rvt_ntrace_encoder_mark(t->enc, RVT_NTRACE_SYNC_EXT_TRIGGER);
		t->now = 1030;
		trace_retire(t, 0x204, 1, 2, NONE);
		/* 1000 ^ 1010 = 26, 1010 ^ 1025 = 2035 */
		trace_expect(t, xor ? "ProgTraceSync SYNC=3 F-ADDR=0x100 TSTAMP=1000\n"
				      "DirectBranch I-CNT=2 TSTAMP=26\n"
				      "DirectBranch I-CNT=2 TSTAMP=2035\n"
				      "ProgTraceSync SYNC=0 I-CNT=2 F-ADDR=0x102 TSTAMP=1030" :
				      "ProgTraceSync SYNC=3 F-ADDR=0x100 TSTAMP=1000\n"
				      "DirectBranch I-CNT=2 TSTAMP=10\n"
				      "DirectBranch I-CNT=2 TSTAMP=15\n"
				      "ProgTraceSync SYNC=0 I-CNT=2 F-ADDR=0x102 TSTAMP=1030");
		trace_end(t);
	}
}

/* Periods of 16 units: messages, clocks, half-words */
static void test_periodic(void **state)
{
	struct trace *t = trace_new(RVT_MODE_BTM);

	(void)state;
	t->config.sync_mode = 3;
	trace_start(t, RVT_NTRACE_SYNC_DEBUG_EXIT);
	for (int i = 0; i < 7; i++)
		trace_retire(t, 0x200, 1, 2, RVT_ITYPE_JUMP);
	/* the 8th run makes it 16; the next boundary has a taken branch to report */
	trace_retire(t, 0x200, 1, 2, TAKEN);
	trace_retire(t, 0x200, 7, 2, NONE);
	trace_expect(t, "ProgTraceSync SYNC=3 F-ADDR=0x100\n"
			"DirectBranchSync SYNC=2 I-CNT=16 F-ADDR=0x100");
	/* linear code */
	trace_retire(t, 0x21c, 1, 2, NONE);
	trace_retire(t, 0x220, 8, 2, RVT_ITYPE_IND_JUMP);
	/* an indirect jump takes it along, then a trap does */
	trace_retire(t, 0x300, 8, 2, NONE);
	trace_trap(t, true, 0x320, 0x300, 3);
	trace_expect(t, "ProgTraceSync SYNC=2 I-CNT=16 F-ADDR=0x110\n"
			"IndirectBranchSync SYNC=2 I-CNT=16 F-ADDR=0x180\n"
			"IndirectBranchSync SYNC=2 B-TYPE=3 I-CNT=16 F-ADDR=0x180");
	trace_end(t);

	t = trace_new(RVT_MODE_HTM);
	t->config.sync_mode = 2;
	t->config.sync_max = 1;
	trace_start(t, RVT_NTRACE_SYNC_DEBUG_EXIT);
	trace_retire(t, 0x200, 1, 2, NOT_TAKEN);
	rvt_ntrace_encoder_clocks(t->enc, 31);
	trace_retire(t, 0x204, 1, 2, NONE);
	trace_expect(t, "ProgTraceSync SYNC=3 F-ADDR=0x100");
	rvt_ntrace_encoder_clocks(t->enc, 1);
	trace_retire(t, 0x208, 1, 2, NONE);
	trace_retire(t, 0x20c, 1, 2, NONE);
	trace_expect(t, "IndirectBranchHistSync SYNC=2 I-CNT=4 F-ADDR=0x104 HIST=0b1_0");
	trace_end(t);

	t = trace_new(RVT_MODE_BTM);
	t->config.sync_mode = 1;
	trace_start(t, RVT_NTRACE_SYNC_DEBUG_EXIT);
	for (int i = 0; i < 18; i++)
		trace_retire(t, 0x200, 1, 2, TAKEN);
	/* the sync message restarts the count: 16 others are sent, then the next is a sync */
	trace_expect(t, "ProgTraceSync SYNC=3 F-ADDR=0x100\n"
			"DirectBranch I-CNT=2\nDirectBranch I-CNT=2\nDirectBranch I-CNT=2\n"
			"DirectBranch I-CNT=2\nDirectBranch I-CNT=2\nDirectBranch I-CNT=2\n"
			"DirectBranch I-CNT=2\nDirectBranch I-CNT=2\nDirectBranch I-CNT=2\n"
			"DirectBranch I-CNT=2\nDirectBranch I-CNT=2\nDirectBranch I-CNT=2\n"
			"DirectBranch I-CNT=2\nDirectBranch I-CNT=2\nDirectBranch I-CNT=2\n"
			"DirectBranch I-CNT=2\n"
			"DirectBranchSync SYNC=2 I-CNT=2 F-ADDR=0x100");
	trace_end(t);
}

/* Both marks at one instruction; a mark before a trap */
static void test_marks(void **state)
{
	struct trace *t = trace_new(RVT_MODE_HTM);

	(void)state;
	trace_start(t, RVT_NTRACE_SYNC_DEBUG_EXIT);
	trace_retire(t, 0x200, 1, 2, RVT_ITYPE_IND_JUMP);
	rvt_ntrace_encoder_mark(t->enc, RVT_NTRACE_SYNC_TRACE_EVENT);
	rvt_ntrace_encoder_mark(t->enc, RVT_NTRACE_SYNC_EXT_TRIGGER);
	rvt_ntrace_encoder_mark(t->enc, RVT_NTRACE_SYNC_PERIODIC);
	trace_retire(t, 0x300, 1, 2, NOT_TAKEN);
	trace_expect(t, "ProgTraceSync SYNC=3 F-ADDR=0x100\n"
			"IndirectBranchSync SYNC=0 I-CNT=2 F-ADDR=0x180\n"
			"ProgTraceSync SYNC=6 I-CNT=0 F-ADDR=0x180");
	rvt_ntrace_encoder_mark(t->enc, RVT_NTRACE_SYNC_TRACE_EVENT);
	trace_trap(t, false, 0x304, 0x400, 3);
	trace_expect(t, "IndirectBranchHistSync SYNC=6 I-CNT=2 F-ADDR=0x182 HIST=0b1_0\n"
			"IndirectBranch B-TYPE=2 I-CNT=0 U-ADDR=0x382");
	trace_end(t);
}

/* 7.4: Error before the sync with SYNC=7, as soon as there is room */
static void test_loss(void **state)
{
	struct trace *t = trace_new(RVT_MODE_HTM);

	(void)state;
	t->config.context = true;
	trace_start(t, RVT_NTRACE_SYNC_DEBUG_EXIT);
	trace_retire(t, 0x200, 1, 2, NOT_TAKEN);
	trace_retire(t, 0x204, 1, 2, RVT_ITYPE_IND_JUMP);
	trace_expect(t, "ProgTraceSync SYNC=3 F-ADDR=0x100\nOwnership PROCESS=0b0_11_10");
	t->limit = 0;
	t->no_room = true;
	trace_retire(t, 0x300, 1, 2, NOT_TAKEN);
	assert_true(rvt_ntrace_encoder_lossy(t->enc));
	t->limit = sizeof(t->bytes);
	trace_retire(t, 0x304, 1, 2, RVT_ITYPE_CALL);
	trace_trap(t, false, 0x400, 0x500, 3);
	trace_expect(t, "");
	t->no_room = false;
	trace_retire(t, 0x500, 1, 2, TAKEN);
	assert_false(rvt_ntrace_encoder_lossy(t->enc));
	trace_retire(t, 0x500, 1, 2, RVT_ITYPE_IND_JUMP);
	trace_retire(t, 0x600, 1, 2, NONE);
	trace_expect(t, "Error ETYPE=0 ECODE=0b100\n"
			"ProgTraceSync SYNC=7 F-ADDR=0x280\n"
			"Ownership PROCESS=0b0_11_10\n"
			"IndirectBranchHist I-CNT=4 U-ADDR=0x180 HIST=0b1_1");
	/* an Ownership is lost; a trap comes first; room for Error only */
	rvt_ntrace_encoder_context(t->enc, false, 7);
	t->limit = 0;
	trace_retire(t, 0x604, 1, 2, NONE);
	t->limit = 3;
	trace_trap(t, true, 0x608, 0x500, 3);
	assert_true(rvt_ntrace_encoder_lossy(t->enc));
	trace_expect(t, "Error ETYPE=0 ECODE=0b1100");
	/* still lost when it stops, and when it starts again */
	t->limit = 0;
	rvt_ntrace_encoder_stop(t->enc, RVT_NTRACE_EV_DEBUG, 0x500);
	assert_true(rvt_ntrace_encoder_lossy(t->enc));
	t->limit = sizeof(t->bytes);
	trace_start(t, RVT_NTRACE_SYNC_DEBUG_EXIT);
	trace_retire(t, 0x500, 1, 2, NONE);
	trace_expect(t, "Error ETYPE=0 ECODE=0b100\n"
			"ProgTraceSync SYNC=7 F-ADDR=0x280\n"
			"Ownership PROCESS=0b111_0_11_10");
	/* lost, then stopped with room: the last message but one is the Error */
	t->limit = 0;
	rvt_ntrace_encoder_mark(t->enc, RVT_NTRACE_SYNC_TRACE_EVENT);
	trace_retire(t, 0x504, 1, 2, NONE);
	t->limit = sizeof(t->bytes);
	rvt_ntrace_encoder_stop(t->enc, RVT_NTRACE_EV_DEBUG, 0x508);
	trace_expect(t, "Error ETYPE=0 ECODE=0b100\n"
			"ProgTraceCorrelation EVCODE=0 CDF=1 I-CNT=0 HIST=1");
	trace_end(t);
}

static void test_src(void **state)
{
	struct trace *t = trace_new(RVT_MODE_BTM);

	(void)state;
	t->config.src_bits = 5;
	t->config.src = 17;
	trace_start(t, RVT_NTRACE_SYNC_DEBUG_EXIT);
	trace_retire(t, 0x200, 1, 2, NONE);
	trace_expect(t, "ProgTraceSync SRC=17 SYNC=3 F-ADDR=0x100");
	trace_end(t);
}

static void check_config(struct trace *t, int expected)
{
	struct rvt_ntrace_encoder *enc = NULL;

	assert_int_equal(rvt_ntrace_encoder_create(&t->config, &enc), expected);
	rvt_ntrace_encoder_destroy(enc);
}

#define REFUSE(field, value) do { \
	__typeof__(t->config.field) old = t->config.field; \
	t->config.field = value; \
	check_config(t, -EINVAL); \
	t->config.field = old; \
} while (0)

static void test_config(void **state)
{
	struct trace *t = trace_new(RVT_MODE_HTM);

	(void)state;
	check_config(t, 0);
	REFUSE(dialect, RVT_DIALECT_ETRACE_2_0);
	REFUSE(mode, RVT_MODE_AUTO);
	REFUSE(xlen, 16);
	REFUSE(options, RVT_OPT_FULL_ADDRESS);
	REFUSE(options, RVT_OPT_IMPLICIT_RETURN);
	REFUSE(options, RVT_OPT_REPEATED_HISTORY);
	REFUSE(src_bits, 13);
	REFUSE(src, 1);
	REFUSE(sync_mode, 4);
	REFUSE(sync_max, 16);
	REFUSE(icnt_bits, 3);
	REFUSE(icnt_bits, 23);
	REFUSE(hist_bits, 1);
	REFUSE(hist_bits, 33);
	REFUSE(bcnt_bits, 19);
	REFUSE(emit, NULL);
	t->config.options = RVT_OPT_IMPLICIT_RETURN;
	t->config.implicit_return_mode = 1;
	t->config.return_stack_depth = 32;
	check_config(t, 0);
	REFUSE(implicit_return_mode, 4);
	REFUSE(return_stack_depth, 33);
	REFUSE(return_stack_depth, 0);
	t->config.timestamp = RVT_TIMESTAMP_DELTA;
	REFUSE(now, NULL);
	rvt_ntrace_encoder_destroy(NULL);
	trace_end(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_corner_cases),
		cmocka_unit_test(test_reset),
		cmocka_unit_test(test_ecall),
		cmocka_unit_test(test_ownership),
		cmocka_unit_test(test_rc7_ownership),
		cmocka_unit_test(test_timestamps),
		cmocka_unit_test(test_periodic),
		cmocka_unit_test(test_marks),
		cmocka_unit_test(test_loss),
		cmocka_unit_test(test_src),
		cmocka_unit_test(test_config),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
