// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * N-Trace encoder: what it sends for given instructions. Expected messages are worked out by hand
 * from chapters 7 to 10 of the specification; where its text has an example, that is used.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "ntrace-bench.h"

/* 8.4.1: the program of the specification, from 0x100, three times */
static void test_btm_example(void **state)
{
	struct trace *t = trace_new(RVT_MODE_BTM);

	(void)state;
	trace_start(t, RVT_NTRACE_SYNC_DEBUG_EXIT);
	trace_retire(t, 0x100, 1, 1, NONE);
	trace_retire(t, 0x102, 1, 2, TAKEN);
	trace_retire(t, 0x200, 1, 1, NONE);
	rvt_ntrace_encoder_stop(t->enc, RVT_NTRACE_EV_DEBUG, 0x202);
	trace_expect(t, "ProgTraceSync SYNC=3 F-ADDR=0x80\n"
			"DirectBranch I-CNT=3\n"
			"ProgTraceCorrelation EVCODE=0 CDF=0 I-CNT=1");
	trace_start(t, RVT_NTRACE_SYNC_DEBUG_EXIT);
	trace_retire(t, 0x100, 1, 1, NONE);
	trace_retire(t, 0x102, 1, 2, NOT_TAKEN);
	trace_retire(t, 0x106, 2, 2, TAKEN);
	trace_retire(t, 0x300, 1, 2, NONE);
	rvt_ntrace_encoder_stop(t->enc, RVT_NTRACE_EV_DEBUG, 0x304);
	trace_expect(t, "ProgTraceSync SYNC=3 F-ADDR=0x80\n"
			"DirectBranch I-CNT=7\n"
			"ProgTraceCorrelation EVCODE=0 CDF=0 I-CNT=2");
	trace_start(t, RVT_NTRACE_SYNC_DEBUG_EXIT);
	trace_retire(t, 0x100, 1, 1, NONE);
	trace_retire(t, 0x102, 1, 2, NOT_TAKEN);
	trace_retire(t, 0x106, 2, 2, NOT_TAKEN);
	trace_retire(t, 0x10e, 1, 1, NONE);
	trace_retire(t, 0x110, 1, 2, NONE);
	rvt_ntrace_encoder_stop(t->enc, RVT_NTRACE_EV_DEBUG, 0x114);
	trace_expect(t, "ProgTraceSync SYNC=3 F-ADDR=0x80\n"
			"ProgTraceCorrelation EVCODE=0 CDF=0 I-CNT=10");
	trace_end(t);
}

/* 8.4.2: the same program in HTM */
static void test_htm_example(void **state)
{
	struct trace *t = trace_new(RVT_MODE_HTM);

	(void)state;
	trace_start(t, RVT_NTRACE_SYNC_DEBUG_EXIT);
	trace_retire(t, 0x100, 1, 1, NONE);
	trace_retire(t, 0x102, 1, 2, TAKEN);
	trace_retire(t, 0x200, 1, 1, NONE);
	rvt_ntrace_encoder_stop(t->enc, RVT_NTRACE_EV_DEBUG, 0x202);
	trace_expect(t, "ProgTraceSync SYNC=3 F-ADDR=0x80\n"
			"ProgTraceCorrelation EVCODE=0 CDF=1 I-CNT=4 HIST=0b1_1");
	trace_start(t, RVT_NTRACE_SYNC_DEBUG_EXIT);
	trace_retire(t, 0x100, 1, 1, NONE);
	trace_retire(t, 0x102, 1, 2, NOT_TAKEN);
	trace_retire(t, 0x106, 2, 2, TAKEN);
	trace_retire(t, 0x300, 1, 2, NONE);
	trace_trap(t, false, 0x304, 0x400, 3);
	trace_expect(t, "ProgTraceSync SYNC=3 F-ADDR=0x80\n"
			"IndirectBranchHist B-TYPE=2 I-CNT=9 U-ADDR=0x280 HIST=0b1_01");
	trace_end(t);
}

/* 8.4.4: counter of 4 bits. rc7 reports the full counter by SYNC=4, 1.0 by ResourceFull. */
static void test_icnt_full(void **state)
{
	static const enum rvt_dialect dialects[] = {
		RVT_DIALECT_NTRACE_RC7, RVT_DIALECT_NTRACE_1_0,
	};
	static const char *const messages[] = {
		"ProgTraceSync SYNC=3 F-ADDR=0x80\n"
		"IndirectBranchHistSync SYNC=4 I-CNT=8 F-ADDR=0x88 HIST=2\n"
		"ProgTraceCorrelation EVCODE=0 CDF=1 I-CNT=6 HIST=1",
		/* 14 + 2 would not fit into 4 bits, 12 + 2 do */
		"ProgTraceSync SYNC=3 F-ADDR=0x80\n"
		"ProgTraceCorrelation EVCODE=0 CDF=1 I-CNT=14 HIST=2",
	};

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct trace *t = trace_new(RVT_MODE_HTM);

		t->config.dialect = dialects[i];
		t->config.icnt_bits = 4;
		trace_start(t, RVT_NTRACE_SYNC_DEBUG_EXIT);
		trace_retire(t, 0x100, 1, 1, NONE);
		trace_retire(t, 0x102, 1, 2, NOT_TAKEN);
		trace_retire(t, 0x106, 1, 1, NONE);
		for (uint64_t pc = 0x108; pc < 0x11c; pc += 4)
			trace_retire(t, pc, 1, 2, NONE);
		rvt_ntrace_encoder_stop(t->enc, RVT_NTRACE_EV_DEBUG, 0x11c);
		trace_expect(t, messages[i]);
		/* j . until the counter is full, HIST empty: RCODE=0 in both */
		trace_start(t, RVT_NTRACE_SYNC_DEBUG_EXIT);
		for (int k = 0; k < 8; k++)
			trace_retire(t, 0x100, 1, 2, RVT_ITYPE_JUMP);
		rvt_ntrace_encoder_stop(t->enc, RVT_NTRACE_EV_DEBUG, 0x100);
		trace_expect(t, i ? "ProgTraceSync SYNC=3 F-ADDR=0x80\n"
				    "ResourceFull RCODE=0 RDATA=14\n"
				    "ProgTraceCorrelation EVCODE=0 CDF=1 I-CNT=2 HIST=1" :
				    "ProgTraceSync SYNC=3 F-ADDR=0x80\n"
				    "ResourceFull RCODE=0 RDATA=8\n"
				    "ProgTraceCorrelation EVCODE=0 CDF=1 I-CNT=8 HIST=1");
		trace_end(t);
	}
}

/* Table 24 */
static void test_address_example(void **state)
{
	struct trace *t = trace_new(RVT_MODE_HTM);

	(void)state;
	trace_start(t, RVT_NTRACE_SYNC_TRACE_ENABLE);
	trace_retire(t, 0x3fc04, 1, 2, RVT_ITYPE_IND_JUMP);
	trace_retire(t, 0x3f368, 1, 2, RVT_ITYPE_IND_JUMP);
	trace_retire(t, 0x3e100, 1, 2, NONE);
	trace_expect(t, "ProgTraceSync SYNC=5 F-ADDR=0x1fe02\n"
			"IndirectBranch I-CNT=2 U-ADDR=0x7b6\n"
			"IndirectBranch I-CNT=2 U-ADDR=0x934");
	trace_end(t);
}

/* 10.1.1: custom instruction XYZ at 0x104 */
static void test_custom_example(void **state)
{
	struct trace *t = trace_new(RVT_MODE_BTM);

	(void)state;
	trace_start(t, RVT_NTRACE_SYNC_TRACE_ENABLE);
	trace_retire(t, 0x100, 2, 2, NONE);
	trace_retire(t, 0x108, 1, 1, NONE);
	rvt_ntrace_encoder_stop(t->enc, RVT_NTRACE_EV_TRACE_DISABLED, 0x10a);
	trace_expect(t, "ProgTraceSync SYNC=5 F-ADDR=0x80\n"
			"ProgTraceCorrelation EVCODE=4 I-CNT=5");
	trace_start(t, RVT_NTRACE_SYNC_TRACE_ENABLE);
	trace_retire(t, 0x100, 2, 2, RVT_ITYPE_IND_JUMP);
	trace_retire(t, 0x200, 1, 1, NONE);
	rvt_ntrace_encoder_stop(t->enc, RVT_NTRACE_EV_TRACE_DISABLED, 0x202);
	trace_expect(t, "ProgTraceSync SYNC=5 F-ADDR=0x80\n"
			"IndirectBranch I-CNT=4 U-ADDR=0x180\n"
			"ProgTraceCorrelation EVCODE=4 I-CNT=1");
	trace_end(t);
}

/* HIST of 4 bits with stop bit: 3 branches, then ResourceFull before the next bit */
static void test_hist_full(void **state)
{
	struct trace *t = trace_new(RVT_MODE_HTM);

	(void)state;
	t->config.hist_bits = 4;
	trace_start(t, RVT_NTRACE_SYNC_TRACE_ENABLE);
	trace_retire(t, 0x100, 1, 2, TAKEN);
	trace_retire(t, 0x100, 1, 2, TAKEN);
	trace_retire(t, 0x100, 1, 2, NOT_TAKEN);
	trace_expect(t, "ProgTraceSync SYNC=5 F-ADDR=0x80");
	trace_retire(t, 0x104, 1, 2, TAKEN);
	trace_expect(t, "ResourceFull RCODE=1 RDATA=0b1_110");
	/* I-CNT goes on counting */
	rvt_ntrace_encoder_stop(t->enc, RVT_NTRACE_EV_DEBUG, 0x100);
	trace_expect(t, "ProgTraceCorrelation EVCODE=0 CDF=1 I-CNT=8 HIST=0b1_1");
	trace_end(t);
}

static void branches(struct trace *t, const char *bits, unsigned int times)
{
	while (times--)
		for (const char *b = bits; *b; b++)
			trace_retire(t, 0x100, 1, 2, *b == '1' ? TAKEN : NOT_TAKEN);
}

/* 9.3: 150 times not-taken, taken. Then patterns that end in the middle, and long periods. */
static void test_repeated_history(void **state)
{
	struct trace *t = trace_new(RVT_MODE_HTM);

	(void)state;
	t->config.options = RVT_OPT_REPEATED_HISTORY;
	t->config.hrepeat_bits = 18;
	trace_start(t, RVT_NTRACE_SYNC_TRACE_ENABLE);
	trace_expect(t, "");
	branches(t, "01", 150);
	rvt_ntrace_encoder_stop(t->enc, RVT_NTRACE_EV_DEBUG, 0x100);
	trace_expect(t, "ProgTraceSync SYNC=5 F-ADDR=0x80\n"
			"ResourceFull RCODE=2 RDATA=0b1_01 HREPEAT=150\n"
			"ProgTraceCorrelation EVCODE=0 CDF=1 I-CNT=600 HIST=1");
	/* the pattern breaks off in its third bit */
	trace_start(t, RVT_NTRACE_SYNC_TRACE_ENABLE);
	branches(t, "001", 20);
	branches(t, "000", 1);
	rvt_ntrace_encoder_stop(t->enc, RVT_NTRACE_EV_DEBUG, 0x100);
	trace_expect(t, "ProgTraceSync SYNC=5 F-ADDR=0x80\n"
			"ResourceFull RCODE=2 RDATA=0b1_001 HREPEAT=20\n"
			"ProgTraceCorrelation EVCODE=0 CDF=1 I-CNT=126 HIST=0b1_000");
	/* a period of 20 is found in 62 bits: 3 times and 2 bits, and one more bit */
	trace_start(t, RVT_NTRACE_SYNC_TRACE_ENABLE);
	branches(t, "00000000010000000011", 3);
	branches(t, "000", 1);
	rvt_ntrace_encoder_stop(t->enc, RVT_NTRACE_EV_DEBUG, 0x100);
	trace_expect(t, "ProgTraceSync SYNC=5 F-ADDR=0x80\n"
			"ResourceFull RCODE=2 RDATA=0b1_0000_0000_0100_0000_0011 HREPEAT=3\n"
			"ProgTraceCorrelation EVCODE=0 CDF=1 I-CNT=126 HIST=0b1_000");
	/* no period: the oldest 31 bits leave when the 63rd comes */
	trace_start(t, RVT_NTRACE_SYNC_TRACE_ENABLE);
	branches(t, "0", 30);
	branches(t, "1", 1);
	branches(t, "1", 30);
	branches(t, "0", 1);
	trace_expect(t, "ProgTraceSync SYNC=5 F-ADDR=0x80");
	branches(t, "1", 1);
	trace_expect(t, "ResourceFull RCODE=1 RDATA=0b1_0000_0000_0000_0000_0000_0000_0000_001");
	rvt_ntrace_encoder_stop(t->enc, RVT_NTRACE_EV_DEBUG, 0x100);
	trace_expect(t, "ResourceFull RCODE=1 RDATA=0b1_1111_1111_1111_1111_1111_1111_1111_110\n"
			"ProgTraceCorrelation EVCODE=0 CDF=1 I-CNT=126 HIST=0b1_1");
	trace_end(t);
}

/* HREPEAT of 3 bits counts to 7: more messages, whose counts add up */
static void test_hrepeat_overflow(void **state)
{
	struct trace *t = trace_new(RVT_MODE_HTM);

	(void)state;
	t->config.options = RVT_OPT_REPEATED_HISTORY;
	t->config.hrepeat_bits = 3;
	t->config.hist_bits = 4;
	trace_start(t, RVT_NTRACE_SYNC_TRACE_ENABLE);
	branches(t, "1", 16);
	rvt_ntrace_encoder_stop(t->enc, RVT_NTRACE_EV_DEBUG, 0x100);
	trace_expect(t, "ProgTraceSync SYNC=5 F-ADDR=0x80\n"
			"ResourceFull RCODE=2 RDATA=0b1_1 HREPEAT=7\n"
			"ResourceFull RCODE=2 RDATA=0b1_1 HREPEAT=7\n"
			"ResourceFull RCODE=2 RDATA=0b1_1 HREPEAT=2\n"
			"ProgTraceCorrelation EVCODE=0 CDF=1 I-CNT=32 HIST=1");
	/* what is left after an overflow is less than a message is worth: plain bits */
	trace_start(t, RVT_NTRACE_SYNC_TRACE_ENABLE);
	branches(t, "1", 8);
	rvt_ntrace_encoder_stop(t->enc, RVT_NTRACE_EV_DEBUG, 0x100);
	trace_expect(t, "ProgTraceSync SYNC=5 F-ADDR=0x80\n"
			"ResourceFull RCODE=2 RDATA=0b1_1 HREPEAT=7\n"
			"ProgTraceCorrelation EVCODE=0 CDF=1 I-CNT=16 HIST=0b1_1");
	trace_end(t);
}

/* 7.11: same I-CNT, HIST and target; B-CNT of 2 bits counts to 3 */
static void test_repeat_branch(void **state)
{
	struct trace *t = trace_new(RVT_MODE_BTM);

	(void)state;
	t->config.bcnt_bits = 2;
	trace_start(t, RVT_NTRACE_SYNC_TRACE_ENABLE);
	for (int i = 0; i < 6; i++)
		trace_retire(t, 0x100, 3, 2, TAKEN);
	trace_retire(t, 0x100, 3, 2, NOT_TAKEN);
	trace_expect(t, "ProgTraceSync SYNC=5 F-ADDR=0x80\n"
			"DirectBranch I-CNT=6\n"
			"RepeatBranch B-CNT=3");
	trace_retire(t, 0x10c, 1, 2, TAKEN);
	trace_retire(t, 0x100, 1, 2, RVT_ITYPE_IND_JUMP);
	trace_expect(t, "RepeatBranch B-CNT=2\n"
			"DirectBranch I-CNT=8");
	/* indirect: the repeated message would have U-ADDR=0 */
	trace_retire(t, 0x200, 1, 2, RVT_ITYPE_IND_JUMP);
	trace_retire(t, 0x200, 1, 2, RVT_ITYPE_IND_JUMP);
	trace_retire(t, 0x200, 1, 2, RVT_ITYPE_IND_JUMP);
	trace_retire(t, 0x300, 1, 2, NONE);
	rvt_ntrace_encoder_stop(t->enc, RVT_NTRACE_EV_DEBUG, 0x304);
	trace_expect(t, "IndirectBranch I-CNT=2 U-ADDR=0x180\n"
			"RepeatBranch B-CNT=2\n"
			"IndirectBranch I-CNT=2 U-ADDR=0x80\n"
			"ProgTraceCorrelation EVCODE=0 I-CNT=2");
	trace_end(t);
}

/* The same target by different messages is no repetition: HIST and B-TYPE differ */
static void test_no_repeat_branch(void **state)
{
	struct trace *t = trace_new(RVT_MODE_HTM);

	(void)state;
	t->config.bcnt_bits = 18;
	trace_start(t, RVT_NTRACE_SYNC_TRACE_ENABLE);
	trace_retire(t, 0x100, 1, 2, TAKEN);
	trace_retire(t, 0x100, 1, 2, RVT_ITYPE_IND_JUMP);
	trace_retire(t, 0x100, 1, 2, NOT_TAKEN);
	trace_retire(t, 0x104, 1, 2, RVT_ITYPE_IND_JUMP);
	trace_retire(t, 0x100, 1, 2, NOT_TAKEN);
	trace_retire(t, 0x104, 1, 2, RVT_ITYPE_IND_JUMP);
	trace_trap(t, false, 0x100, 0x100, 3);
	trace_trap(t, true, 0x100, 0x100, 3);
	trace_trap(t, true, 0x100, 0x100, 3);
	rvt_ntrace_encoder_stop(t->enc, RVT_NTRACE_EV_DEBUG, 0x100);
	trace_expect(t, "ProgTraceSync SYNC=5 F-ADDR=0x80\n"
			"IndirectBranchHist I-CNT=4 HIST=0b1_1\n"
			"IndirectBranchHist I-CNT=4 HIST=0b1_0\n"
			"RepeatBranch B-CNT=1\n"
			"IndirectBranch B-TYPE=2 I-CNT=0\n"
			"IndirectBranch B-TYPE=3 I-CNT=0\n"
			"RepeatBranch B-CNT=1\n"
			"ProgTraceCorrelation EVCODE=0 CDF=1 I-CNT=0 HIST=1");
	trace_end(t);
}

/* 9.2. Call at 0x100, return at 0x204, once to 0x104 and once elsewhere. */
static void calls(struct trace *t, uint64_t back)
{
	trace_retire(t, 0x100, 1, 2, RVT_ITYPE_CALL);
	trace_retire(t, 0x200, 2, 2, RVT_ITYPE_RETURN);
	trace_retire(t, back, 1, 2, NONE);
}

static void test_implicit_return(void **state)
{
	(void)state;
	for (int mode = 1; mode <= 3; mode++) {
		struct trace *t = trace_new(RVT_MODE_HTM);

		t->config.options = RVT_OPT_IMPLICIT_RETURN;
		t->config.implicit_return_mode = mode;
		t->config.return_stack_depth = 2;
		trace_start(t, RVT_NTRACE_SYNC_TRACE_ENABLE);
		calls(t, 0x104);
		rvt_ntrace_encoder_stop(t->enc, RVT_NTRACE_EV_DEBUG, 0x108);
		trace_expect(t, "ProgTraceSync SYNC=5 F-ADDR=0x80\n"
				"ProgTraceCorrelation EVCODE=0 CDF=1 I-CNT=8 HIST=1");
		trace_start(t, RVT_NTRACE_SYNC_TRACE_ENABLE);
		calls(t, 0x4000104);
		rvt_ntrace_encoder_stop(t->enc, RVT_NTRACE_EV_DEBUG, 0x4000108);
		/* a counter does not look; bits 0..19 are equal; the addresses are not */
		trace_expect(t, mode < 3 ? "ProgTraceSync SYNC=5 F-ADDR=0x80\n"
					    "ProgTraceCorrelation EVCODE=0 CDF=1 I-CNT=8 HIST=1" :
					    "ProgTraceSync SYNC=5 F-ADDR=0x80\n"
					    "IndirectBranch I-CNT=6 U-ADDR=0x2000002\n"
					    "ProgTraceCorrelation EVCODE=0 CDF=1 I-CNT=2 HIST=1");
		/* nothing on the stack */
		trace_start(t, RVT_NTRACE_SYNC_TRACE_ENABLE);
		trace_retire(t, 0x200, 1, 2, RVT_ITYPE_RETURN);
		trace_retire(t, 0x104, 1, 2, NONE);
		trace_expect(t, "ProgTraceSync SYNC=5 F-ADDR=0x100\n"
				"IndirectBranch I-CNT=2 U-ADDR=0x182");
		trace_end(t);
	}
}

/* Depth 2: the third return finds nothing. Co-routines pop and push. Sync clears. */
static void test_return_stack(void **state)
{
	struct trace *t = trace_new(RVT_MODE_HTM);

	(void)state;
	t->config.options = RVT_OPT_IMPLICIT_RETURN;
	t->config.implicit_return_mode = 3;
	t->config.return_stack_depth = 2;
	trace_start(t, RVT_NTRACE_SYNC_TRACE_ENABLE);
	trace_retire(t, 0x100, 1, 2, RVT_ITYPE_CALL);
	trace_retire(t, 0x200, 1, 2, RVT_ITYPE_CALL);
	trace_retire(t, 0x300, 1, 2, RVT_ITYPE_CALL);
	trace_retire(t, 0x400, 1, 2, RVT_ITYPE_RETURN);
	trace_retire(t, 0x304, 1, 2, RVT_ITYPE_RETURN);
	trace_retire(t, 0x204, 1, 2, RVT_ITYPE_RETURN);
	trace_retire(t, 0x104, 1, 2, NONE);
	trace_expect(t, "ProgTraceSync SYNC=5 F-ADDR=0x80\n"
			"IndirectBranch I-CNT=12 U-ADDR=2");
	/* indirect call: reported, and its return address is pushed */
	trace_retire(t, 0x108, 1, 1, RVT_ITYPE_IND_CALL);
	trace_retire(t, 0x400, 1, 2, RVT_ITYPE_COROUTINE);
	trace_retire(t, 0x10a, 1, 2, RVT_ITYPE_COROUTINE);
	trace_retire(t, 0x404, 1, 2, RVT_ITYPE_RETURN);
	trace_retire(t, 0x10e, 1, 2, NONE);
	trace_expect(t, "IndirectBranch I-CNT=3 U-ADDR=0x282");
	/* the call's return address goes with the sync */
	trace_retire(t, 0x112, 1, 2, RVT_ITYPE_CALL);
	rvt_ntrace_encoder_mark(t->enc, RVT_NTRACE_SYNC_TRACE_EVENT);
	trace_retire(t, 0x400, 1, 2, RVT_ITYPE_RETURN);
	trace_retire(t, 0x116, 1, 2, NONE);
	trace_expect(t, "ProgTraceSync SYNC=6 I-CNT=10 F-ADDR=0x200\n"
			"IndirectBranch I-CNT=2 U-ADDR=0x28b");
	trace_end(t);
}

/* rc7: SYNC 0, 4 and 6 do not reset the encoder, so the stack survives (not a mode 1 counter) */
static void test_rc7_stack(void **state)
{
	(void)state;
	for (int mode = 1; mode <= 3; mode += 2) {
		struct trace *t = trace_new(RVT_MODE_HTM);

		t->config.dialect = RVT_DIALECT_NTRACE_RC7;
		t->config.options = RVT_OPT_IMPLICIT_RETURN;
		t->config.implicit_return_mode = mode;
		t->config.return_stack_depth = 2;
		trace_start(t, RVT_NTRACE_SYNC_TRACE_ENABLE);
		trace_retire(t, 0x112, 1, 2, RVT_ITYPE_CALL);
		rvt_ntrace_encoder_mark(t->enc, RVT_NTRACE_SYNC_TRACE_EVENT);
		trace_retire(t, 0x400, 1, 2, RVT_ITYPE_RETURN);
		trace_retire(t, 0x116, 1, 2, NONE);
		trace_expect(t, mode == 1 ? "ProgTraceSync SYNC=5 F-ADDR=0x89\n"
					    "ProgTraceSync SYNC=6 I-CNT=2 F-ADDR=0x200\n"
					    "IndirectBranch I-CNT=2 U-ADDR=0x28b" :
					    "ProgTraceSync SYNC=5 F-ADDR=0x89\n"
					    "ProgTraceSync SYNC=6 I-CNT=2 F-ADDR=0x200");
		trace_end(t);
	}
}

static void jalr(struct trace *t, uint64_t pc, unsigned int insns, enum rvt_itype itype)
{
	struct rvt_retire run = {
		.first_pc = pc, .last_pc = pc + 4 * (insns - 1), .insns = insns,
		.halfwords = 2 * insns, .last_halfwords = 2, .itype = itype, .sijump = true,
		.prv = 3,
	};

	rvt_ntrace_encoder_retire(t->enc, &run);
}

/* 9.1: both instructions must be in the same message */
static void test_sequential_jump(void **state)
{
	struct trace *t = trace_new(RVT_MODE_HTM);

	(void)state;
	trace_start(t, RVT_NTRACE_SYNC_TRACE_ENABLE);
	jalr(t, 0x100, 2, RVT_ITYPE_IND_JUMP);
	trace_retire(t, 0x200, 1, 2, NONE);
	trace_expect(t, "ProgTraceSync SYNC=5 F-ADDR=0x80\n"
			"IndirectBranch I-CNT=4 U-ADDR=0x180");
	rvt_ntrace_encoder_destroy(t->enc);
	t->enc = NULL;
	t->config.options = RVT_OPT_SEQUENTIAL_JUMP | RVT_OPT_IMPLICIT_RETURN;
	t->config.implicit_return_mode = 3;
	t->config.return_stack_depth = 8;
	trace_start(t, RVT_NTRACE_SYNC_TRACE_ENABLE);
	jalr(t, 0x100, 2, RVT_ITYPE_IND_CALL);
	trace_retire(t, 0x200, 1, 2, RVT_ITYPE_RETURN);
	/* in two runs, nothing sent between */
	trace_retire(t, 0x108, 1, 2, NONE);
	jalr(t, 0x10c, 1, RVT_ITYPE_IND_JUMP);
	trace_retire(t, 0x300, 1, 2, NONE);
	trace_expect(t, "ProgTraceSync SYNC=5 F-ADDR=0x80");
	/* a message between */
	rvt_ntrace_encoder_mark(t->enc, RVT_NTRACE_SYNC_EXT_TRIGGER);
	jalr(t, 0x304, 1, RVT_ITYPE_IND_JUMP);
	trace_retire(t, 0x200, 1, 2, NONE);
	trace_expect(t, "ProgTraceSync SYNC=0 I-CNT=12 F-ADDR=0x182\n"
			"IndirectBranch I-CNT=2 U-ADDR=0x82");
	/* the first traced instruction */
	rvt_ntrace_encoder_stop(t->enc, RVT_NTRACE_EV_DEBUG, 0x204);
	trace_start(t, RVT_NTRACE_SYNC_DEBUG_EXIT);
	t->len = 0;
	jalr(t, 0x304, 1, RVT_ITYPE_IND_JUMP);
	trace_retire(t, 0x200, 1, 2, NONE);
	trace_expect(t, "ProgTraceSync SYNC=3 F-ADDR=0x182\n"
			"IndirectBranch I-CNT=2 U-ADDR=0x82");
	trace_end(t);
}

/* trTeInstEnAllJumps: direct jumps are itype 5 */
static void test_all_jumps(void **state)
{
	struct trace *t = trace_new(RVT_MODE_HTM);

	(void)state;
	t->config.options = RVT_OPT_ALL_JUMPS;
	trace_start(t, RVT_NTRACE_SYNC_TRACE_ENABLE);
	trace_retire(t, 0x100, 1, 2, RVT_ITYPE_JUMP);
	trace_retire(t, 0x200, 1, 2, NOT_TAKEN);
	trace_retire(t, 0x204, 1, 2, RVT_ITYPE_CALL);
	trace_retire(t, 0x300, 1, 2, RVT_ITYPE_JUMP_LINKED);
	rvt_ntrace_encoder_stop(t->enc, RVT_NTRACE_EV_DEBUG, 0x400);
	trace_expect(t, "ProgTraceSync SYNC=5 F-ADDR=0x80\n"
			"ProgTraceCorrelation EVCODE=0 CDF=1 I-CNT=8 HIST=0b1_1011");
	trace_end(t);
	t = trace_new(RVT_MODE_BTM);
	t->config.options = RVT_OPT_ALL_JUMPS;
	trace_start(t, RVT_NTRACE_SYNC_TRACE_ENABLE);
	trace_retire(t, 0x100, 1, 2, RVT_ITYPE_JUMP);
	trace_retire(t, 0x200, 1, 2, NOT_TAKEN);
	rvt_ntrace_encoder_stop(t->enc, RVT_NTRACE_EV_DEBUG, 0x204);
	trace_expect(t, "ProgTraceSync SYNC=5 F-ADDR=0x80\n"
			"DirectBranch I-CNT=2\n"
			"ProgTraceCorrelation EVCODE=0 I-CNT=2");
	trace_end(t);
}

/* 8.2: kernel addresses. F-ADDR of 0xffffffff800031f4 is 0x...c00018fa: 36 bits with a 1 on top */
static void test_extend_msb(void **state)
{
	struct trace *t = trace_new(RVT_MODE_HTM);

	(void)state;
	t->config.options = RVT_OPT_EXTEND_ADDRESS_MSB;
	trace_start(t, RVT_NTRACE_SYNC_TRACE_ENABLE);
	trace_retire(t, 0xffffffff800031f4, 1, 2, RVT_ITYPE_IND_JUMP);
	/* XOR 0x...c00018fa with 0x1000: all ones above, 36 bits again */
	trace_retire(t, 0x2000, 1, 2, RVT_ITYPE_IND_JUMP);
	/* U-ADDR 0x20 has bit 5 set, so a zero MDO must follow; 0x1f does not need it */
	trace_retire(t, 0x2040, 1, 2, RVT_ITYPE_IND_JUMP);
	trace_retire(t, 0x207e, 1, 2, RVT_ITYPE_IND_JUMP);
	/* an illegal address of 63 significant bits */
	trace_retire(t, 0xbffffffffffffffe, 1, 2, NONE);
	trace_expect(t, "ProgTraceSync SYNC=5 F-ADDR=0xfc00018fa\n"
			"IndirectBranch I-CNT=2 U-ADDR=0xfc00008fa\n"
			"IndirectBranch I-CNT=2 U-ADDR=0x20@12\n"
			"IndirectBranch I-CNT=2 U-ADDR=0x1f\n"
			"IndirectBranch I-CNT=2 U-ADDR=0x5fff_ffff_ffff_efc0");
	trace_end(t);
	t = trace_new(RVT_MODE_HTM);
	t->config.options = RVT_OPT_EXTEND_ADDRESS_MSB;
	t->config.xlen = 32;
	trace_start(t, RVT_NTRACE_SYNC_TRACE_ENABLE);
	trace_retire(t, 0xfffffff0, 1, 2, RVT_ITYPE_IND_JUMP);
	trace_retire(t, 0x7ffffff0, 1, 2, NONE);
	/* 31 bits of field: 0x7ffffff8 -> 111000; the XOR is bit 30 alone, 36 bits needed */
	trace_expect(t, "ProgTraceSync SYNC=5 F-ADDR=0x38\n"
			"IndirectBranch I-CNT=2 U-ADDR=0x40000000");
	/* 30 significant bits, the top one set: a sixth MDO keeps it from being extended */
	trace_retire(t, 0x7ffffffa, 1, 2, RVT_ITYPE_IND_JUMP);
	t->len = 0;
	rvt_ntrace_encoder_mark(t->enc, RVT_NTRACE_SYNC_TRACE_EVENT);
	trace_retire(t, 0x7ffffffc, 1, 2, NONE);
	trace_expect(t, "IndirectBranchSync SYNC=6 I-CNT=4 F-ADDR=0x3ffffffe@31");
	trace_end(t);
}

/* Without the option the same addresses are long */
static void test_full_addresses(void **state)
{
	struct trace *t = trace_new(RVT_MODE_HTM);

	(void)state;
	trace_start(t, RVT_NTRACE_SYNC_TRACE_ENABLE);
	trace_retire(t, 0xffffffff800031f4, 1, 2, NONE);
	assert_int_equal(t->len, 2 + 11);
	trace_expect(t, "ProgTraceSync SYNC=5 F-ADDR=0x7fff_ffff_c000_18fa");
	trace_end(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_btm_example),
		cmocka_unit_test(test_htm_example),
		cmocka_unit_test(test_icnt_full),
		cmocka_unit_test(test_address_example),
		cmocka_unit_test(test_custom_example),
		cmocka_unit_test(test_hist_full),
		cmocka_unit_test(test_repeated_history),
		cmocka_unit_test(test_hrepeat_overflow),
		cmocka_unit_test(test_repeat_branch),
		cmocka_unit_test(test_no_repeat_branch),
		cmocka_unit_test(test_implicit_return),
		cmocka_unit_test(test_return_stack),
		cmocka_unit_test(test_rc7_stack),
		cmocka_unit_test(test_sequential_jump),
		cmocka_unit_test(test_all_jumps),
		cmocka_unit_test(test_extend_msb),
		cmocka_unit_test(test_full_addresses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
