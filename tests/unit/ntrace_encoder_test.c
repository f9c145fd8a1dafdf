// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * N-Trace encoder: what it sends for given instructions. Expected messages are worked out by hand
 * from chapters 7 to 10 of the specification; where its text has an example, that is used.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "ntrace/assemble.h"
#include "ntrace/message.h"

struct trace {
	struct rvt_ntrace_encoder_config config;
	struct rvt_ntrace_encoder *enc;
	uint8_t bytes[4096];
	size_t len;
	size_t limit;		/* emit refuses beyond */
	bool no_room;
	uint64_t now;
};

static int emit(void *ctx, const uint8_t *bytes, size_t len)
{
	struct trace *t = ctx;

	if (t->len + len > t->limit)
		return -ENOSPC;
	memcpy(t->bytes + t->len, bytes, len);
	t->len += len;
	return 0;
}

static bool room(void *ctx)
{
	return !((struct trace *)ctx)->no_room;
}

static uint64_t now(void *ctx)
{
	return ((struct trace *)ctx)->now;
}

/* Not started yet, so that a test can change .config first. */
static struct trace *new_trace(enum rvt_mode mode)
{
	struct trace *t = calloc(1, sizeof(*t));

	assert_non_null(t);
	t->limit = sizeof(t->bytes);
	t->config = (struct rvt_ntrace_encoder_config){
		.dialect = RVT_DIALECT_NTRACE_1_0, .mode = mode, .xlen = 64,
		.icnt_bits = 22, .hist_bits = 32, .emit = emit, .room = room, .now = now, .ctx = t,
	};
	return t;
}

static void start(struct trace *t, enum rvt_ntrace_sync sync)
{
	if (!t->enc)
		assert_int_equal(rvt_ntrace_encoder_create(&t->config, &t->enc), 0);
	rvt_ntrace_encoder_start(t->enc, sync);
}

/* What was sent since the last call is exactly @text: one directive a line. */
static void expect(struct trace *t, const char *text)
{
	struct rvt_params params = {
		.xlen = 64, .dialect = t->config.dialect, .src_bits = t->config.src_bits,
	};
	uint8_t expected[4096];
	size_t len = 0;

	while (*text) {
		size_t n = strcspn(text, "\n");
		char line[300], error[200];
		int ret;

		snprintf(line, sizeof(line), "%.*s", (int)n, text);
		ret = rvt_ntrace_assemble(&params, line, expected + len, sizeof(expected) - len,
					  error, sizeof(error));
		if (ret < 0)
			fail_msg("%s: %s", line, error);
		len += ret;
		text += n + (text[n] == '\n');
	}
	assert_int_equal(t->len, len);
	assert_memory_equal(t->bytes, expected, len);
	t->len = 0;
}

static void end(struct trace *t)
{
	rvt_ntrace_encoder_destroy(t->enc);
	free(t);
}

/* @n instructions of @halfwords each from @pc on; the last is an @itype. */
static void retire(struct trace *t, uint64_t pc, unsigned int n, unsigned int halfwords,
		   enum rvt_itype itype)
{
	struct rvt_retire run = {
		.first_pc = pc, .last_pc = pc + 2 * halfwords * (n - 1), .insns = n,
		.halfwords = n * halfwords, .last_halfwords = halfwords, .itype = itype, .prv = 3,
	};

	rvt_ntrace_encoder_retire(t->enc, &run);
}

static void retire_as(struct trace *t, uint64_t pc, enum rvt_itype itype, unsigned int prv,
		      unsigned int v)
{
	struct rvt_retire run = {
		.first_pc = pc, .last_pc = pc, .insns = 1, .halfwords = 2, .last_halfwords = 2,
		.itype = itype, .prv = prv, .v = v,
	};

	rvt_ntrace_encoder_retire(t->enc, &run);
}

static void trap(struct trace *t, bool interrupt, uint64_t epc, uint64_t handler, unsigned int prv)
{
	struct rvt_trap trap = { .interrupt = interrupt, .epc = epc, .handler = handler, .prv = prv };

	rvt_ntrace_encoder_trap(t->enc, &trap);
}

#define NONE RVT_ITYPE_NONE
#define TAKEN RVT_ITYPE_BRANCH_TAKEN
#define NOT_TAKEN RVT_ITYPE_BRANCH_NOT_TAKEN

/* 8.4.1: the program of the specification, from 0x100, three times */
static void test_btm_example(void **state)
{
	struct trace *t = new_trace(RVT_MODE_BTM);

	(void)state;
	start(t, RVT_NTRACE_SYNC_DEBUG_EXIT);
	retire(t, 0x100, 1, 1, NONE);
	retire(t, 0x102, 1, 2, TAKEN);
	retire(t, 0x200, 1, 1, NONE);
	rvt_ntrace_encoder_stop(t->enc, RVT_NTRACE_EV_DEBUG, 0x202);
	expect(t, "ProgTraceSync SYNC=3 F-ADDR=0x80\n"
		  "DirectBranch I-CNT=3\n"
		  "ProgTraceCorrelation EVCODE=0 CDF=0 I-CNT=1");
	start(t, RVT_NTRACE_SYNC_DEBUG_EXIT);
	retire(t, 0x100, 1, 1, NONE);
	retire(t, 0x102, 1, 2, NOT_TAKEN);
	retire(t, 0x106, 2, 2, TAKEN);
	retire(t, 0x300, 1, 2, NONE);
	rvt_ntrace_encoder_stop(t->enc, RVT_NTRACE_EV_DEBUG, 0x304);
	expect(t, "ProgTraceSync SYNC=3 F-ADDR=0x80\n"
		  "DirectBranch I-CNT=7\n"
		  "ProgTraceCorrelation EVCODE=0 CDF=0 I-CNT=2");
	start(t, RVT_NTRACE_SYNC_DEBUG_EXIT);
	retire(t, 0x100, 1, 1, NONE);
	retire(t, 0x102, 1, 2, NOT_TAKEN);
	retire(t, 0x106, 2, 2, NOT_TAKEN);
	retire(t, 0x10e, 1, 1, NONE);
	retire(t, 0x110, 1, 2, NONE);
	rvt_ntrace_encoder_stop(t->enc, RVT_NTRACE_EV_DEBUG, 0x114);
	expect(t, "ProgTraceSync SYNC=3 F-ADDR=0x80\n"
		  "ProgTraceCorrelation EVCODE=0 CDF=0 I-CNT=10");
	end(t);
}

/* 8.4.2: the same program in HTM */
static void test_htm_example(void **state)
{
	struct trace *t = new_trace(RVT_MODE_HTM);

	(void)state;
	start(t, RVT_NTRACE_SYNC_DEBUG_EXIT);
	retire(t, 0x100, 1, 1, NONE);
	retire(t, 0x102, 1, 2, TAKEN);
	retire(t, 0x200, 1, 1, NONE);
	rvt_ntrace_encoder_stop(t->enc, RVT_NTRACE_EV_DEBUG, 0x202);
	expect(t, "ProgTraceSync SYNC=3 F-ADDR=0x80\n"
		  "ProgTraceCorrelation EVCODE=0 CDF=1 I-CNT=4 HIST=0b1_1");
	start(t, RVT_NTRACE_SYNC_DEBUG_EXIT);
	retire(t, 0x100, 1, 1, NONE);
	retire(t, 0x102, 1, 2, NOT_TAKEN);
	retire(t, 0x106, 2, 2, TAKEN);
	retire(t, 0x300, 1, 2, NONE);
	trap(t, false, 0x304, 0x400, 3);
	expect(t, "ProgTraceSync SYNC=3 F-ADDR=0x80\n"
		  "IndirectBranchHist B-TYPE=2 I-CNT=9 U-ADDR=0x280 HIST=0b1_01");
	end(t);
}

/* 8.4.4: counter of 4 bits. rc7 reports the full counter by SYNC=4, 1.0 by ResourceFull. */
static void test_icnt_full(void **state)
{
	static const enum rvt_dialect dialects[] = { RVT_DIALECT_NTRACE_RC7, RVT_DIALECT_NTRACE_1_0 };
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
		struct trace *t = new_trace(RVT_MODE_HTM);

		t->config.dialect = dialects[i];
		t->config.icnt_bits = 4;
		start(t, RVT_NTRACE_SYNC_DEBUG_EXIT);
		retire(t, 0x100, 1, 1, NONE);
		retire(t, 0x102, 1, 2, NOT_TAKEN);
		retire(t, 0x106, 1, 1, NONE);
		for (uint64_t pc = 0x108; pc < 0x11c; pc += 4)
			retire(t, pc, 1, 2, NONE);
		rvt_ntrace_encoder_stop(t->enc, RVT_NTRACE_EV_DEBUG, 0x11c);
		expect(t, messages[i]);
		/* j . until the counter is full, HIST empty: RCODE=0 in both */
		start(t, RVT_NTRACE_SYNC_DEBUG_EXIT);
		for (int k = 0; k < 8; k++)
			retire(t, 0x100, 1, 2, RVT_ITYPE_JUMP);
		rvt_ntrace_encoder_stop(t->enc, RVT_NTRACE_EV_DEBUG, 0x100);
		expect(t, i ? "ProgTraceSync SYNC=3 F-ADDR=0x80\n"
			      "ResourceFull RCODE=0 RDATA=14\n"
			      "ProgTraceCorrelation EVCODE=0 CDF=1 I-CNT=2 HIST=1" :
			      "ProgTraceSync SYNC=3 F-ADDR=0x80\n"
			      "ResourceFull RCODE=0 RDATA=8\n"
			      "ProgTraceCorrelation EVCODE=0 CDF=1 I-CNT=8 HIST=1");
		end(t);
	}
}

/* Table 24 */
static void test_address_example(void **state)
{
	struct trace *t = new_trace(RVT_MODE_HTM);

	(void)state;
	start(t, RVT_NTRACE_SYNC_TRACE_ENABLE);
	retire(t, 0x3fc04, 1, 2, RVT_ITYPE_IND_JUMP);
	retire(t, 0x3f368, 1, 2, RVT_ITYPE_IND_JUMP);
	retire(t, 0x3e100, 1, 2, NONE);
	expect(t, "ProgTraceSync SYNC=5 F-ADDR=0x1fe02\n"
		  "IndirectBranch I-CNT=2 U-ADDR=0x7b6\n"
		  "IndirectBranch I-CNT=2 U-ADDR=0x934");
	end(t);
}

/* 10.1.1: custom instruction XYZ at 0x104 */
static void test_custom_example(void **state)
{
	struct trace *t = new_trace(RVT_MODE_BTM);

	(void)state;
	start(t, RVT_NTRACE_SYNC_TRACE_ENABLE);
	retire(t, 0x100, 2, 2, NONE);
	retire(t, 0x108, 1, 1, NONE);
	rvt_ntrace_encoder_stop(t->enc, RVT_NTRACE_EV_TRACE_DISABLED, 0x10a);
	expect(t, "ProgTraceSync SYNC=5 F-ADDR=0x80\n"
		  "ProgTraceCorrelation EVCODE=4 I-CNT=5");
	start(t, RVT_NTRACE_SYNC_TRACE_ENABLE);
	retire(t, 0x100, 2, 2, RVT_ITYPE_IND_JUMP);
	retire(t, 0x200, 1, 1, NONE);
	rvt_ntrace_encoder_stop(t->enc, RVT_NTRACE_EV_TRACE_DISABLED, 0x202);
	expect(t, "ProgTraceSync SYNC=5 F-ADDR=0x80\n"
		  "IndirectBranch I-CNT=4 U-ADDR=0x180\n"
		  "ProgTraceCorrelation EVCODE=4 I-CNT=1");
	end(t);
}

/* HIST of 4 bits with stop bit: 3 branches, then ResourceFull before the next bit */
static void test_hist_full(void **state)
{
	struct trace *t = new_trace(RVT_MODE_HTM);

	(void)state;
	t->config.hist_bits = 4;
	start(t, RVT_NTRACE_SYNC_TRACE_ENABLE);
	retire(t, 0x100, 1, 2, TAKEN);
	retire(t, 0x100, 1, 2, TAKEN);
	retire(t, 0x100, 1, 2, NOT_TAKEN);
	expect(t, "ProgTraceSync SYNC=5 F-ADDR=0x80");
	retire(t, 0x104, 1, 2, TAKEN);
	expect(t, "ResourceFull RCODE=1 RDATA=0b1_110");
	/* I-CNT goes on counting */
	rvt_ntrace_encoder_stop(t->enc, RVT_NTRACE_EV_DEBUG, 0x100);
	expect(t, "ProgTraceCorrelation EVCODE=0 CDF=1 I-CNT=8 HIST=0b1_1");
	end(t);
}

static void branches(struct trace *t, const char *bits, unsigned int times)
{
	while (times--)
		for (const char *b = bits; *b; b++)
			retire(t, 0x100, 1, 2, *b == '1' ? TAKEN : NOT_TAKEN);
}

/* 9.3: 150 times not-taken, taken. Then patterns that end in the middle, and long periods. */
static void test_repeated_history(void **state)
{
	struct trace *t = new_trace(RVT_MODE_HTM);

	(void)state;
	t->config.options = RVT_OPT_REPEATED_HISTORY;
	t->config.hrepeat_bits = 18;
	start(t, RVT_NTRACE_SYNC_TRACE_ENABLE);
	expect(t, "");
	branches(t, "01", 150);
	rvt_ntrace_encoder_stop(t->enc, RVT_NTRACE_EV_DEBUG, 0x100);
	expect(t, "ProgTraceSync SYNC=5 F-ADDR=0x80\n"
		  "ResourceFull RCODE=2 RDATA=0b1_01 HREPEAT=150\n"
		  "ProgTraceCorrelation EVCODE=0 CDF=1 I-CNT=600 HIST=1");
	/* the pattern breaks off in its third bit */
	start(t, RVT_NTRACE_SYNC_TRACE_ENABLE);
	branches(t, "001", 20);
	branches(t, "000", 1);
	rvt_ntrace_encoder_stop(t->enc, RVT_NTRACE_EV_DEBUG, 0x100);
	expect(t, "ProgTraceSync SYNC=5 F-ADDR=0x80\n"
		  "ResourceFull RCODE=2 RDATA=0b1_001 HREPEAT=20\n"
		  "ProgTraceCorrelation EVCODE=0 CDF=1 I-CNT=126 HIST=0b1_000");
	/* a period of 20 is found in 62 bits: 3 times and 2 bits, and one more bit */
	start(t, RVT_NTRACE_SYNC_TRACE_ENABLE);
	branches(t, "00000000010000000011", 3);
	branches(t, "000", 1);
	rvt_ntrace_encoder_stop(t->enc, RVT_NTRACE_EV_DEBUG, 0x100);
	expect(t, "ProgTraceSync SYNC=5 F-ADDR=0x80\n"
		  "ResourceFull RCODE=2 RDATA=0b1_0000_0000_0100_0000_0011 HREPEAT=3\n"
		  "ProgTraceCorrelation EVCODE=0 CDF=1 I-CNT=126 HIST=0b1_000");
	/* no period: the oldest 31 bits leave when the 63rd comes */
	start(t, RVT_NTRACE_SYNC_TRACE_ENABLE);
	branches(t, "0", 30);
	branches(t, "1", 1);
	branches(t, "1", 30);
	branches(t, "0", 1);
	expect(t, "ProgTraceSync SYNC=5 F-ADDR=0x80");
	branches(t, "1", 1);
	expect(t, "ResourceFull RCODE=1 RDATA=0b1_0000_0000_0000_0000_0000_0000_0000_001");
	rvt_ntrace_encoder_stop(t->enc, RVT_NTRACE_EV_DEBUG, 0x100);
	expect(t, "ResourceFull RCODE=1 RDATA=0b1_1111_1111_1111_1111_1111_1111_1111_110\n"
		  "ProgTraceCorrelation EVCODE=0 CDF=1 I-CNT=126 HIST=0b1_1");
	end(t);
}

/* HREPEAT of 3 bits counts to 7: more messages, whose counts add up */
static void test_hrepeat_overflow(void **state)
{
	struct trace *t = new_trace(RVT_MODE_HTM);

	(void)state;
	t->config.options = RVT_OPT_REPEATED_HISTORY;
	t->config.hrepeat_bits = 3;
	t->config.hist_bits = 4;
	start(t, RVT_NTRACE_SYNC_TRACE_ENABLE);
	branches(t, "1", 16);
	rvt_ntrace_encoder_stop(t->enc, RVT_NTRACE_EV_DEBUG, 0x100);
	expect(t, "ProgTraceSync SYNC=5 F-ADDR=0x80\n"
		  "ResourceFull RCODE=2 RDATA=0b1_1 HREPEAT=7\n"
		  "ResourceFull RCODE=2 RDATA=0b1_1 HREPEAT=7\n"
		  "ResourceFull RCODE=2 RDATA=0b1_1 HREPEAT=2\n"
		  "ProgTraceCorrelation EVCODE=0 CDF=1 I-CNT=32 HIST=1");
	/* what is left after an overflow is less than a message is worth: plain bits */
	start(t, RVT_NTRACE_SYNC_TRACE_ENABLE);
	branches(t, "1", 8);
	rvt_ntrace_encoder_stop(t->enc, RVT_NTRACE_EV_DEBUG, 0x100);
	expect(t, "ProgTraceSync SYNC=5 F-ADDR=0x80\n"
		  "ResourceFull RCODE=2 RDATA=0b1_1 HREPEAT=7\n"
		  "ProgTraceCorrelation EVCODE=0 CDF=1 I-CNT=16 HIST=0b1_1");
	end(t);
}

/* 7.11: same I-CNT, HIST and target; B-CNT of 2 bits counts to 3 */
static void test_repeat_branch(void **state)
{
	struct trace *t = new_trace(RVT_MODE_BTM);

	(void)state;
	t->config.bcnt_bits = 2;
	start(t, RVT_NTRACE_SYNC_TRACE_ENABLE);
	for (int i = 0; i < 6; i++)
		retire(t, 0x100, 3, 2, TAKEN);
	retire(t, 0x100, 3, 2, NOT_TAKEN);
	expect(t, "ProgTraceSync SYNC=5 F-ADDR=0x80\n"
		  "DirectBranch I-CNT=6\n"
		  "RepeatBranch B-CNT=3");
	retire(t, 0x10c, 1, 2, TAKEN);
	retire(t, 0x100, 1, 2, RVT_ITYPE_IND_JUMP);
	expect(t, "RepeatBranch B-CNT=2\n"
		  "DirectBranch I-CNT=8");
	/* indirect: the repeated message would have U-ADDR=0 */
	retire(t, 0x200, 1, 2, RVT_ITYPE_IND_JUMP);
	retire(t, 0x200, 1, 2, RVT_ITYPE_IND_JUMP);
	retire(t, 0x200, 1, 2, RVT_ITYPE_IND_JUMP);
	retire(t, 0x300, 1, 2, NONE);
	rvt_ntrace_encoder_stop(t->enc, RVT_NTRACE_EV_DEBUG, 0x304);
	expect(t, "IndirectBranch I-CNT=2 U-ADDR=0x180\n"
		  "RepeatBranch B-CNT=2\n"
		  "IndirectBranch I-CNT=2 U-ADDR=0x80\n"
		  "ProgTraceCorrelation EVCODE=0 I-CNT=2");
	end(t);
}

/* The same target by different messages is no repetition: HIST and B-TYPE differ */
static void test_no_repeat_branch(void **state)
{
	struct trace *t = new_trace(RVT_MODE_HTM);

	(void)state;
	t->config.bcnt_bits = 18;
	start(t, RVT_NTRACE_SYNC_TRACE_ENABLE);
	retire(t, 0x100, 1, 2, TAKEN);
	retire(t, 0x100, 1, 2, RVT_ITYPE_IND_JUMP);
	retire(t, 0x100, 1, 2, NOT_TAKEN);
	retire(t, 0x104, 1, 2, RVT_ITYPE_IND_JUMP);
	retire(t, 0x100, 1, 2, NOT_TAKEN);
	retire(t, 0x104, 1, 2, RVT_ITYPE_IND_JUMP);
	trap(t, false, 0x100, 0x100, 3);
	trap(t, true, 0x100, 0x100, 3);
	trap(t, true, 0x100, 0x100, 3);
	rvt_ntrace_encoder_stop(t->enc, RVT_NTRACE_EV_DEBUG, 0x100);
	expect(t, "ProgTraceSync SYNC=5 F-ADDR=0x80\n"
		  "IndirectBranchHist I-CNT=4 HIST=0b1_1\n"
		  "IndirectBranchHist I-CNT=4 HIST=0b1_0\n"
		  "RepeatBranch B-CNT=1\n"
		  "IndirectBranch B-TYPE=2 I-CNT=0\n"
		  "IndirectBranch B-TYPE=3 I-CNT=0\n"
		  "RepeatBranch B-CNT=1\n"
		  "ProgTraceCorrelation EVCODE=0 CDF=1 I-CNT=0 HIST=1");
	end(t);
}

/* 9.2. Call at 0x100, return at 0x204, once to 0x104 and once elsewhere. */
static void calls(struct trace *t, uint64_t back)
{
	retire(t, 0x100, 1, 2, RVT_ITYPE_CALL);
	retire(t, 0x200, 2, 2, RVT_ITYPE_RETURN);
	retire(t, back, 1, 2, NONE);
}

static void test_implicit_return(void **state)
{
	(void)state;
	for (int mode = 1; mode <= 3; mode++) {
		struct trace *t = new_trace(RVT_MODE_HTM);

		t->config.options = RVT_OPT_IMPLICIT_RETURN;
		t->config.implicit_return_mode = mode;
		t->config.return_stack_depth = 2;
		start(t, RVT_NTRACE_SYNC_TRACE_ENABLE);
		calls(t, 0x104);
		rvt_ntrace_encoder_stop(t->enc, RVT_NTRACE_EV_DEBUG, 0x108);
		expect(t, "ProgTraceSync SYNC=5 F-ADDR=0x80\n"
			  "ProgTraceCorrelation EVCODE=0 CDF=1 I-CNT=8 HIST=1");
		start(t, RVT_NTRACE_SYNC_TRACE_ENABLE);
		calls(t, 0x4000104);
		rvt_ntrace_encoder_stop(t->enc, RVT_NTRACE_EV_DEBUG, 0x4000108);
		/* a counter does not look; bits 0..19 are equal; the addresses are not */
		expect(t, mode < 3 ? "ProgTraceSync SYNC=5 F-ADDR=0x80\n"
				      "ProgTraceCorrelation EVCODE=0 CDF=1 I-CNT=8 HIST=1" :
				      "ProgTraceSync SYNC=5 F-ADDR=0x80\n"
				      "IndirectBranch I-CNT=6 U-ADDR=0x2000002\n"
				      "ProgTraceCorrelation EVCODE=0 CDF=1 I-CNT=2 HIST=1");
		/* nothing on the stack */
		start(t, RVT_NTRACE_SYNC_TRACE_ENABLE);
		retire(t, 0x200, 1, 2, RVT_ITYPE_RETURN);
		retire(t, 0x104, 1, 2, NONE);
		expect(t, "ProgTraceSync SYNC=5 F-ADDR=0x100\n"
			  "IndirectBranch I-CNT=2 U-ADDR=0x182");
		end(t);
	}
}

/* Depth 2: the third return finds nothing. Co-routines pop and push. Sync clears. */
static void test_return_stack(void **state)
{
	struct trace *t = new_trace(RVT_MODE_HTM);

	(void)state;
	t->config.options = RVT_OPT_IMPLICIT_RETURN;
	t->config.implicit_return_mode = 3;
	t->config.return_stack_depth = 2;
	start(t, RVT_NTRACE_SYNC_TRACE_ENABLE);
	retire(t, 0x100, 1, 2, RVT_ITYPE_CALL);
	retire(t, 0x200, 1, 2, RVT_ITYPE_CALL);
	retire(t, 0x300, 1, 2, RVT_ITYPE_CALL);
	retire(t, 0x400, 1, 2, RVT_ITYPE_RETURN);
	retire(t, 0x304, 1, 2, RVT_ITYPE_RETURN);
	retire(t, 0x204, 1, 2, RVT_ITYPE_RETURN);
	retire(t, 0x104, 1, 2, NONE);
	expect(t, "ProgTraceSync SYNC=5 F-ADDR=0x80\n"
		  "IndirectBranch I-CNT=12 U-ADDR=2");
	/* indirect call: reported, and its return address is pushed */
	retire(t, 0x108, 1, 1, RVT_ITYPE_IND_CALL);
	retire(t, 0x400, 1, 2, RVT_ITYPE_COROUTINE);
	retire(t, 0x10a, 1, 2, RVT_ITYPE_COROUTINE);
	retire(t, 0x404, 1, 2, RVT_ITYPE_RETURN);
	retire(t, 0x10e, 1, 2, NONE);
	expect(t, "IndirectBranch I-CNT=3 U-ADDR=0x282");
	/* the call's return address goes with the sync */
	retire(t, 0x112, 1, 2, RVT_ITYPE_CALL);
	rvt_ntrace_encoder_mark(t->enc, RVT_NTRACE_SYNC_TRACE_EVENT);
	retire(t, 0x400, 1, 2, RVT_ITYPE_RETURN);
	retire(t, 0x116, 1, 2, NONE);
	expect(t, "ProgTraceSync SYNC=6 I-CNT=10 F-ADDR=0x200\n"
		  "IndirectBranch I-CNT=2 U-ADDR=0x28b");
	end(t);
}

/* rc7: SYNC 0, 4 and 6 do not reset the encoder, so the stack survives (not a mode 1 counter) */
static void test_rc7_stack(void **state)
{
	(void)state;
	for (int mode = 1; mode <= 3; mode += 2) {
		struct trace *t = new_trace(RVT_MODE_HTM);

		t->config.dialect = RVT_DIALECT_NTRACE_RC7;
		t->config.options = RVT_OPT_IMPLICIT_RETURN;
		t->config.implicit_return_mode = mode;
		t->config.return_stack_depth = 2;
		start(t, RVT_NTRACE_SYNC_TRACE_ENABLE);
		retire(t, 0x112, 1, 2, RVT_ITYPE_CALL);
		rvt_ntrace_encoder_mark(t->enc, RVT_NTRACE_SYNC_TRACE_EVENT);
		retire(t, 0x400, 1, 2, RVT_ITYPE_RETURN);
		retire(t, 0x116, 1, 2, NONE);
		expect(t, mode == 1 ? "ProgTraceSync SYNC=5 F-ADDR=0x89\n"
				      "ProgTraceSync SYNC=6 I-CNT=2 F-ADDR=0x200\n"
				      "IndirectBranch I-CNT=2 U-ADDR=0x28b" :
				      "ProgTraceSync SYNC=5 F-ADDR=0x89\n"
				      "ProgTraceSync SYNC=6 I-CNT=2 F-ADDR=0x200");
		end(t);
	}
}

static void jalr(struct trace *t, uint64_t pc, unsigned int insns, enum rvt_itype itype)
{
	struct rvt_retire run = {
		.first_pc = pc, .last_pc = pc + 4 * (insns - 1), .insns = insns,
		.halfwords = 2 * insns, .last_halfwords = 2, .itype = itype, .sijump = true, .prv = 3,
	};

	rvt_ntrace_encoder_retire(t->enc, &run);
}

/* 9.1: both instructions must be in the same message */
static void test_sequential_jump(void **state)
{
	struct trace *t = new_trace(RVT_MODE_HTM);

	(void)state;
	start(t, RVT_NTRACE_SYNC_TRACE_ENABLE);
	jalr(t, 0x100, 2, RVT_ITYPE_IND_JUMP);
	retire(t, 0x200, 1, 2, NONE);
	expect(t, "ProgTraceSync SYNC=5 F-ADDR=0x80\n"
		  "IndirectBranch I-CNT=4 U-ADDR=0x180");
	rvt_ntrace_encoder_destroy(t->enc);
	t->enc = NULL;
	t->config.options = RVT_OPT_SEQUENTIAL_JUMP | RVT_OPT_IMPLICIT_RETURN;
	t->config.implicit_return_mode = 3;
	t->config.return_stack_depth = 8;
	start(t, RVT_NTRACE_SYNC_TRACE_ENABLE);
	jalr(t, 0x100, 2, RVT_ITYPE_IND_CALL);
	retire(t, 0x200, 1, 2, RVT_ITYPE_RETURN);
	/* in two runs, nothing sent between */
	retire(t, 0x108, 1, 2, NONE);
	jalr(t, 0x10c, 1, RVT_ITYPE_IND_JUMP);
	retire(t, 0x300, 1, 2, NONE);
	expect(t, "ProgTraceSync SYNC=5 F-ADDR=0x80");
	/* a message between */
	rvt_ntrace_encoder_mark(t->enc, RVT_NTRACE_SYNC_EXT_TRIGGER);
	jalr(t, 0x304, 1, RVT_ITYPE_IND_JUMP);
	retire(t, 0x200, 1, 2, NONE);
	expect(t, "ProgTraceSync SYNC=0 I-CNT=12 F-ADDR=0x182\n"
		  "IndirectBranch I-CNT=2 U-ADDR=0x82");
	/* the first traced instruction */
	rvt_ntrace_encoder_stop(t->enc, RVT_NTRACE_EV_DEBUG, 0x204);
	start(t, RVT_NTRACE_SYNC_DEBUG_EXIT);
	t->len = 0;
	jalr(t, 0x304, 1, RVT_ITYPE_IND_JUMP);
	retire(t, 0x200, 1, 2, NONE);
	expect(t, "ProgTraceSync SYNC=3 F-ADDR=0x182\n"
		  "IndirectBranch I-CNT=2 U-ADDR=0x82");
	end(t);
}

/* trTeInstEnAllJumps: direct jumps are itype 5 */
static void test_all_jumps(void **state)
{
	struct trace *t = new_trace(RVT_MODE_HTM);

	(void)state;
	t->config.options = RVT_OPT_ALL_JUMPS;
	start(t, RVT_NTRACE_SYNC_TRACE_ENABLE);
	retire(t, 0x100, 1, 2, RVT_ITYPE_JUMP);
	retire(t, 0x200, 1, 2, NOT_TAKEN);
	retire(t, 0x204, 1, 2, RVT_ITYPE_CALL);
	retire(t, 0x300, 1, 2, RVT_ITYPE_JUMP_LINKED);
	rvt_ntrace_encoder_stop(t->enc, RVT_NTRACE_EV_DEBUG, 0x400);
	expect(t, "ProgTraceSync SYNC=5 F-ADDR=0x80\n"
		  "ProgTraceCorrelation EVCODE=0 CDF=1 I-CNT=8 HIST=0b1_1011");
	end(t);
	t = new_trace(RVT_MODE_BTM);
	t->config.options = RVT_OPT_ALL_JUMPS;
	start(t, RVT_NTRACE_SYNC_TRACE_ENABLE);
	retire(t, 0x100, 1, 2, RVT_ITYPE_JUMP);
	retire(t, 0x200, 1, 2, NOT_TAKEN);
	rvt_ntrace_encoder_stop(t->enc, RVT_NTRACE_EV_DEBUG, 0x204);
	expect(t, "ProgTraceSync SYNC=5 F-ADDR=0x80\n"
		  "DirectBranch I-CNT=2\n"
		  "ProgTraceCorrelation EVCODE=0 I-CNT=2");
	end(t);
}

/* 8.2: kernel addresses. F-ADDR of 0xffffffff800031f4 is 0x...c00018fa: 36 bits with a 1 on top */
static void test_extend_msb(void **state)
{
	struct trace *t = new_trace(RVT_MODE_HTM);

	(void)state;
	t->config.options = RVT_OPT_EXTEND_ADDRESS_MSB;
	start(t, RVT_NTRACE_SYNC_TRACE_ENABLE);
	retire(t, 0xffffffff800031f4, 1, 2, RVT_ITYPE_IND_JUMP);
	/* XOR 0x...c00018fa with 0x1000: all ones above, 36 bits again */
	retire(t, 0x2000, 1, 2, RVT_ITYPE_IND_JUMP);
	/* U-ADDR 0x20 has bit 5 set, so a zero MDO must follow; 0x1f does not need it */
	retire(t, 0x2040, 1, 2, RVT_ITYPE_IND_JUMP);
	retire(t, 0x207e, 1, 2, RVT_ITYPE_IND_JUMP);
	/* an illegal address of 63 significant bits */
	retire(t, 0xbffffffffffffffe, 1, 2, NONE);
	expect(t, "ProgTraceSync SYNC=5 F-ADDR=0xfc00018fa\n"
		  "IndirectBranch I-CNT=2 U-ADDR=0xfc00008fa\n"
		  "IndirectBranch I-CNT=2 U-ADDR=0x20@12\n"
		  "IndirectBranch I-CNT=2 U-ADDR=0x1f\n"
		  "IndirectBranch I-CNT=2 U-ADDR=0x5fff_ffff_ffff_efc0");
	end(t);
	t = new_trace(RVT_MODE_HTM);
	t->config.options = RVT_OPT_EXTEND_ADDRESS_MSB;
	t->config.xlen = 32;
	start(t, RVT_NTRACE_SYNC_TRACE_ENABLE);
	retire(t, 0xfffffff0, 1, 2, RVT_ITYPE_IND_JUMP);
	retire(t, 0x7ffffff0, 1, 2, NONE);
	/* 31 bits of field: 0x7ffffff8 -> 111000; the XOR is bit 30 alone, 36 bits needed */
	expect(t, "ProgTraceSync SYNC=5 F-ADDR=0x38\n"
		  "IndirectBranch I-CNT=2 U-ADDR=0x40000000");
	/* 30 significant bits, the top one set: a sixth MDO keeps it from being extended */
	retire(t, 0x7ffffffa, 1, 2, RVT_ITYPE_IND_JUMP);
	t->len = 0;
	rvt_ntrace_encoder_mark(t->enc, RVT_NTRACE_SYNC_TRACE_EVENT);
	retire(t, 0x7ffffffc, 1, 2, NONE);
	expect(t, "IndirectBranchSync SYNC=6 I-CNT=4 F-ADDR=0x3ffffffe@31");
	end(t);
}

/* Without the option the same addresses are long */
static void test_full_addresses(void **state)
{
	struct trace *t = new_trace(RVT_MODE_HTM);

	(void)state;
	start(t, RVT_NTRACE_SYNC_TRACE_ENABLE);
	retire(t, 0xffffffff800031f4, 1, 2, NONE);
	assert_int_equal(t->len, 2 + 11);
	expect(t, "ProgTraceSync SYNC=5 F-ADDR=0x7fff_ffff_c000_18fa");
	end(t);
}

/* Table 26 */
static void test_corner_cases(void **state)
{
	struct trace *t = new_trace(RVT_MODE_HTM);

	(void)state;
	/* pending interrupt at start; back to back exceptions; exception at an interrupt's target */
	start(t, RVT_NTRACE_SYNC_DEBUG_EXIT);
	trap(t, true, 0x100, 0x200, 3);
	trap(t, false, 0x200, 0x300, 3);
	trap(t, false, 0x300, 0x300, 3);
	/* back to back returns */
	retire(t, 0x300, 1, 2, RVT_ITYPE_RETURN);
	retire(t, 0x400, 1, 1, RVT_ITYPE_RETURN);
	/* a return whose target traps at once: two messages */
	retire(t, 0x500, 1, 2, RVT_ITYPE_TRAP_RETURN);
	trap(t, false, 0x600, 0x200, 3);
	expect(t, "ProgTraceSync SYNC=3 F-ADDR=0x80\n"
		  "IndirectBranch B-TYPE=3 I-CNT=0 U-ADDR=0x180\n"
		  "IndirectBranch B-TYPE=2 I-CNT=0 U-ADDR=0x80\n"
		  "IndirectBranch B-TYPE=2 I-CNT=0 U-ADDR=0\n"
		  "IndirectBranch B-TYPE=0 I-CNT=2 U-ADDR=0x380\n"
		  "IndirectBranch B-TYPE=0 I-CNT=1 U-ADDR=0x80\n"
		  "IndirectBranch B-TYPE=0 I-CNT=2 U-ADDR=0x180\n"
		  "IndirectBranch B-TYPE=2 I-CNT=0 U-ADDR=0x200");
	/* a taken branch whose target traps */
	retire(t, 0x200, 1, 2, TAKEN);
	trap(t, true, 0x280, 0x200, 3);
	expect(t, "IndirectBranchHist B-TYPE=3 I-CNT=2 U-ADDR=0 HIST=0b1_1");
	rvt_ntrace_encoder_stop(t->enc, RVT_NTRACE_EV_LOW_POWER, 0x200);
	expect(t, "ProgTraceCorrelation EVCODE=1 CDF=1 I-CNT=0 HIST=1");
	/* hart stops while tracing is off; tracing starts disabled */
	rvt_ntrace_encoder_stop(t->enc, RVT_NTRACE_EV_DEBUG, 0x200);
	expect(t, "ProgTraceCorrelation EVCODE=0 CDF=1 I-CNT=0 HIST=1");
	start(t, RVT_NTRACE_SYNC_TRACE_ENABLE);
	rvt_ntrace_encoder_stop(t->enc, RVT_NTRACE_EV_TRACE_DISABLED, 0x200);
	expect(t, "ProgTraceCorrelation EVCODE=4 CDF=1 I-CNT=0 HIST=1");
	/* not started: nothing is traced */
	retire(t, 0x200, 1, 2, RVT_ITYPE_IND_JUMP);
	trap(t, true, 0x280, 0x200, 3);
	rvt_ntrace_encoder_mark(t->enc, RVT_NTRACE_SYNC_TRACE_EVENT);
	expect(t, "");
	/* debug entry right after an indirect jump: its target is told */
	start(t, RVT_NTRACE_SYNC_POWER_DOWN_EXIT);
	retire(t, 0x200, 1, 2, RVT_ITYPE_IND_JUMP);
	rvt_ntrace_encoder_stop(t->enc, RVT_NTRACE_EV_DEBUG, 0x300);
	expect(t, "ProgTraceSync SYNC=9 F-ADDR=0x100\n"
		  "IndirectBranch I-CNT=2 U-ADDR=0x80\n"
		  "ProgTraceCorrelation EVCODE=0 CDF=1 I-CNT=0 HIST=1");
	end(t);
}

/* SYNC=1: HIST and I-CNT tell how far it came before the reset */
static void test_reset(void **state)
{
	struct trace *t = new_trace(RVT_MODE_HTM);

	(void)state;
	start(t, RVT_NTRACE_SYNC_DEBUG_EXIT);
	retire(t, 0x200, 1, 2, NOT_TAKEN);
	retire(t, 0x204, 3, 2, NONE);
	start(t, RVT_NTRACE_SYNC_RESET_EXIT);
	retire(t, 0x1000, 1, 2, NONE);
	expect(t, "ProgTraceSync SYNC=3 F-ADDR=0x100\n"
		  "IndirectBranchHistSync SYNC=1 I-CNT=8 F-ADDR=0x800 HIST=0b1_0");
	end(t);
	/* in BTM a taken branch before the reset is reported, too */
	t = new_trace(RVT_MODE_BTM);
	start(t, RVT_NTRACE_SYNC_DEBUG_EXIT);
	retire(t, 0x200, 1, 2, TAKEN);
	start(t, RVT_NTRACE_SYNC_RESET_EXIT);
	retire(t, 0x1000, 1, 2, NONE);
	expect(t, "ProgTraceSync SYNC=3 F-ADDR=0x100\n"
		  "DirectBranch I-CNT=2\n"
		  "ProgTraceSync SYNC=1 I-CNT=0 F-ADDR=0x800");
	end(t);
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
		struct trace *t = new_trace(RVT_MODE_BTM);

		t->config.dialect = i ? RVT_DIALECT_NTRACE_1_0 : RVT_DIALECT_NTRACE_RC7;
		start(t, RVT_NTRACE_SYNC_DEBUG_EXIT);
		retire(t, 0x200, 1, 2, NONE);
		rvt_ntrace_encoder_trap(t->enc, &ecall);
		expect(t, messages[i]);
		end(t);
	}
}

/* 7.1. PROCESS: FORMAT 2 bits, PRV 2, V 1, CONTEXT */
static void test_ownership(void **state)
{
	struct trace *t = new_trace(RVT_MODE_BTM);

	(void)state;
	t->config.context = true;
	start(t, RVT_NTRACE_SYNC_DEBUG_EXIT);
	retire_as(t, 0x200, NONE, 3, 0);
	expect(t, "ProgTraceSync SYNC=3 F-ADDR=0x100\n"
		  "Ownership PROCESS=0b0_11_10");
	/* scontext 0x1d; then, in VU-mode, as in the specification: 0x3b2 */
	rvt_ntrace_encoder_context(t->enc, false, 0x1d);
	retire_as(t, 0x204, RVT_ITYPE_TRAP_RETURN, 3, 0);
	retire_as(t, 0x400, NONE, 0, 1);
	expect(t, "Ownership PROCESS=0x3ae\n"
		  "IndirectBranch I-CNT=4 U-ADDR=0x300\n"
		  "Ownership PROCESS=0b1_00_00");
	rvt_ntrace_encoder_context(t->enc, false, 0x1d);
	retire_as(t, 0x404, NONE, 0, 1);
	expect(t, "Ownership PROCESS=0x3b2");
	/* the second: M-mode is 0xc */
	trap(t, false, 0x408, 0x200, 3);
	expect(t, "IndirectBranch B-TYPE=2 I-CNT=4 U-ADDR=0x300\n"
		  "Ownership PROCESS=0xc");
	/* no change of privilege, no message */
	trap(t, false, 0x200, 0x200, 3);
	expect(t, "IndirectBranch B-TYPE=2 I-CNT=0 U-ADDR=0");
	/* hcontext precedes scontext, both follow each sync */
	rvt_ntrace_encoder_context(t->enc, true, 5);
	rvt_ntrace_encoder_mark(t->enc, RVT_NTRACE_SYNC_TRACE_EVENT);
	retire_as(t, 0x200, NONE, 3, 0);
	expect(t, "ProgTraceSync SYNC=6 I-CNT=0 F-ADDR=0x100\n"
		  "Ownership PROCESS=0b101_0_11_11\n"
		  "Ownership PROCESS=0b11101_0_11_10");
	/* a trap return to the same privilege */
	retire_as(t, 0x204, RVT_ITYPE_TRAP_RETURN, 3, 0);
	retire_as(t, 0x300, NONE, 3, 0);
	expect(t, "IndirectBranch I-CNT=4 U-ADDR=0x80");
	end(t);
}

/* rc7 reports the privilege mode at each trap and return; trapped at the first instruction */
static void test_rc7_ownership(void **state)
{
	struct trace *t = new_trace(RVT_MODE_BTM);

	(void)state;
	t->config.context = true;
	t->config.dialect = RVT_DIALECT_NTRACE_RC7;
	start(t, RVT_NTRACE_SYNC_DEBUG_EXIT);
	trap(t, false, 0x200, 0x300, 3);
	retire_as(t, 0x300, RVT_ITYPE_TRAP_RETURN, 3, 0);
	retire_as(t, 0x300, NONE, 3, 0);
	trap(t, false, 0x304, 0x300, 3);
	expect(t, "ProgTraceSync SYNC=3 F-ADDR=0x100\n"
		  "IndirectBranch B-TYPE=2 I-CNT=0 U-ADDR=0x80\n"
		  "Ownership PROCESS=0b0_11_10\n"
		  "IndirectBranch I-CNT=2 U-ADDR=0\n"
		  "Ownership PROCESS=0xc\n"
		  "IndirectBranch B-TYPE=2 I-CNT=2 U-ADDR=0\n"
		  "Ownership PROCESS=0xc");
	end(t);
}

/* 8.7: absolute in sync messages, relative in others */
static void test_timestamps(void **state)
{
	(void)state;
	for (int xor = 0; xor < 2; xor++) {
		struct trace *t = new_trace(RVT_MODE_BTM);

		t->config.timestamp = xor ? RVT_TIMESTAMP_XOR : RVT_TIMESTAMP_DELTA;
		t->now = 1000;
		start(t, RVT_NTRACE_SYNC_DEBUG_EXIT);
		retire(t, 0x200, 1, 2, TAKEN);
		t->now = 1010;
		retire(t, 0x200, 1, 2, TAKEN);
		t->now = 1025;
		retire(t, 0x200, 1, 2, NONE);
		rvt_ntrace_encoder_mark(t->enc, RVT_NTRACE_SYNC_EXT_TRIGGER);
		t->now = 1030;
		retire(t, 0x204, 1, 2, NONE);
		/* 1000 ^ 1010 = 26, 1010 ^ 1025 = 2035 */
		expect(t, xor ? "ProgTraceSync SYNC=3 F-ADDR=0x100 TSTAMP=1000\n"
				"DirectBranch I-CNT=2 TSTAMP=26\n"
				"DirectBranch I-CNT=2 TSTAMP=2035\n"
				"ProgTraceSync SYNC=0 I-CNT=2 F-ADDR=0x102 TSTAMP=1030" :
				"ProgTraceSync SYNC=3 F-ADDR=0x100 TSTAMP=1000\n"
				"DirectBranch I-CNT=2 TSTAMP=10\n"
				"DirectBranch I-CNT=2 TSTAMP=15\n"
				"ProgTraceSync SYNC=0 I-CNT=2 F-ADDR=0x102 TSTAMP=1030");
		end(t);
	}
}

/* Periods of 16 units: messages, clocks, half-words */
static void test_periodic(void **state)
{
	struct trace *t = new_trace(RVT_MODE_BTM);

	(void)state;
	t->config.sync_mode = 3;
	start(t, RVT_NTRACE_SYNC_DEBUG_EXIT);
	for (int i = 0; i < 7; i++)
		retire(t, 0x200, 1, 2, RVT_ITYPE_JUMP);
	/* the 8th run makes it 16; the next boundary has a taken branch to report */
	retire(t, 0x200, 1, 2, TAKEN);
	retire(t, 0x200, 7, 2, NONE);
	expect(t, "ProgTraceSync SYNC=3 F-ADDR=0x100\n"
		  "DirectBranchSync SYNC=2 I-CNT=16 F-ADDR=0x100");
	/* linear code */
	retire(t, 0x21c, 1, 2, NONE);
	retire(t, 0x220, 8, 2, RVT_ITYPE_IND_JUMP);
	/* an indirect jump takes it along, then a trap does */
	retire(t, 0x300, 8, 2, NONE);
	trap(t, true, 0x320, 0x300, 3);
	expect(t, "ProgTraceSync SYNC=2 I-CNT=16 F-ADDR=0x110\n"
		  "IndirectBranchSync SYNC=2 I-CNT=16 F-ADDR=0x180\n"
		  "IndirectBranchSync SYNC=2 B-TYPE=3 I-CNT=16 F-ADDR=0x180");
	end(t);

	t = new_trace(RVT_MODE_HTM);
	t->config.sync_mode = 2;
	t->config.sync_max = 1;
	start(t, RVT_NTRACE_SYNC_DEBUG_EXIT);
	retire(t, 0x200, 1, 2, NOT_TAKEN);
	rvt_ntrace_encoder_clocks(t->enc, 31);
	retire(t, 0x204, 1, 2, NONE);
	expect(t, "ProgTraceSync SYNC=3 F-ADDR=0x100");
	rvt_ntrace_encoder_clocks(t->enc, 1);
	retire(t, 0x208, 1, 2, NONE);
	retire(t, 0x20c, 1, 2, NONE);
	expect(t, "IndirectBranchHistSync SYNC=2 I-CNT=4 F-ADDR=0x104 HIST=0b1_0");
	end(t);

	t = new_trace(RVT_MODE_BTM);
	t->config.sync_mode = 1;
	start(t, RVT_NTRACE_SYNC_DEBUG_EXIT);
	for (int i = 0; i < 18; i++)
		retire(t, 0x200, 1, 2, TAKEN);
	/* the sync message restarts the count: 16 others are sent, then the next is a sync */
	expect(t, "ProgTraceSync SYNC=3 F-ADDR=0x100\n"
		  "DirectBranch I-CNT=2\nDirectBranch I-CNT=2\nDirectBranch I-CNT=2\n"
		  "DirectBranch I-CNT=2\nDirectBranch I-CNT=2\nDirectBranch I-CNT=2\n"
		  "DirectBranch I-CNT=2\nDirectBranch I-CNT=2\nDirectBranch I-CNT=2\n"
		  "DirectBranch I-CNT=2\nDirectBranch I-CNT=2\nDirectBranch I-CNT=2\n"
		  "DirectBranch I-CNT=2\nDirectBranch I-CNT=2\nDirectBranch I-CNT=2\n"
		  "DirectBranch I-CNT=2\n"
		  "DirectBranchSync SYNC=2 I-CNT=2 F-ADDR=0x100");
	end(t);
}

/* Both marks at one instruction; a mark before a trap */
static void test_marks(void **state)
{
	struct trace *t = new_trace(RVT_MODE_HTM);

	(void)state;
	start(t, RVT_NTRACE_SYNC_DEBUG_EXIT);
	retire(t, 0x200, 1, 2, RVT_ITYPE_IND_JUMP);
	rvt_ntrace_encoder_mark(t->enc, RVT_NTRACE_SYNC_TRACE_EVENT);
	rvt_ntrace_encoder_mark(t->enc, RVT_NTRACE_SYNC_EXT_TRIGGER);
	rvt_ntrace_encoder_mark(t->enc, RVT_NTRACE_SYNC_PERIODIC);
	retire(t, 0x300, 1, 2, NOT_TAKEN);
	expect(t, "ProgTraceSync SYNC=3 F-ADDR=0x100\n"
		  "IndirectBranchSync SYNC=0 I-CNT=2 F-ADDR=0x180\n"
		  "ProgTraceSync SYNC=6 I-CNT=0 F-ADDR=0x180");
	rvt_ntrace_encoder_mark(t->enc, RVT_NTRACE_SYNC_TRACE_EVENT);
	trap(t, false, 0x304, 0x400, 3);
	expect(t, "IndirectBranchHistSync SYNC=6 I-CNT=2 F-ADDR=0x182 HIST=0b1_0\n"
		  "IndirectBranch B-TYPE=2 I-CNT=0 U-ADDR=0x382");
	end(t);
}

/* 7.4: Error before the sync with SYNC=7, as soon as there is room */
static void test_loss(void **state)
{
	struct trace *t = new_trace(RVT_MODE_HTM);

	(void)state;
	t->config.context = true;
	start(t, RVT_NTRACE_SYNC_DEBUG_EXIT);
	retire(t, 0x200, 1, 2, NOT_TAKEN);
	retire(t, 0x204, 1, 2, RVT_ITYPE_IND_JUMP);
	expect(t, "ProgTraceSync SYNC=3 F-ADDR=0x100\nOwnership PROCESS=0b0_11_10");
	t->limit = 0;
	t->no_room = true;
	retire(t, 0x300, 1, 2, NOT_TAKEN);
	assert_true(rvt_ntrace_encoder_lossy(t->enc));
	t->limit = sizeof(t->bytes);
	retire(t, 0x304, 1, 2, RVT_ITYPE_CALL);
	trap(t, false, 0x400, 0x500, 3);
	expect(t, "");
	t->no_room = false;
	retire(t, 0x500, 1, 2, TAKEN);
	assert_false(rvt_ntrace_encoder_lossy(t->enc));
	retire(t, 0x500, 1, 2, RVT_ITYPE_IND_JUMP);
	retire(t, 0x600, 1, 2, NONE);
	expect(t, "Error ETYPE=0 ECODE=0b100\n"
		  "ProgTraceSync SYNC=7 F-ADDR=0x280\n"
		  "Ownership PROCESS=0b0_11_10\n"
		  "IndirectBranchHist I-CNT=4 U-ADDR=0x180 HIST=0b1_1");
	/* an Ownership is lost; a trap comes first; room for Error only */
	rvt_ntrace_encoder_context(t->enc, false, 7);
	t->limit = 0;
	retire(t, 0x604, 1, 2, NONE);
	t->limit = 3;
	trap(t, true, 0x608, 0x500, 3);
	assert_true(rvt_ntrace_encoder_lossy(t->enc));
	expect(t, "Error ETYPE=0 ECODE=0b1100");
	/* still lost when it stops, and when it starts again */
	t->limit = 0;
	rvt_ntrace_encoder_stop(t->enc, RVT_NTRACE_EV_DEBUG, 0x500);
	assert_true(rvt_ntrace_encoder_lossy(t->enc));
	t->limit = sizeof(t->bytes);
	start(t, RVT_NTRACE_SYNC_DEBUG_EXIT);
	retire(t, 0x500, 1, 2, NONE);
	expect(t, "Error ETYPE=0 ECODE=0b100\n"
		  "ProgTraceSync SYNC=7 F-ADDR=0x280\n"
		  "Ownership PROCESS=0b111_0_11_10");
	/* lost, then stopped with room: the last message but one is the Error */
	t->limit = 0;
	rvt_ntrace_encoder_mark(t->enc, RVT_NTRACE_SYNC_TRACE_EVENT);
	retire(t, 0x504, 1, 2, NONE);
	t->limit = sizeof(t->bytes);
	rvt_ntrace_encoder_stop(t->enc, RVT_NTRACE_EV_DEBUG, 0x508);
	expect(t, "Error ETYPE=0 ECODE=0b100\n"
		  "ProgTraceCorrelation EVCODE=0 CDF=1 I-CNT=0 HIST=1");
	end(t);
}

static void test_src(void **state)
{
	struct trace *t = new_trace(RVT_MODE_BTM);

	(void)state;
	t->config.src_bits = 5;
	t->config.src = 17;
	start(t, RVT_NTRACE_SYNC_DEBUG_EXIT);
	retire(t, 0x200, 1, 2, NONE);
	expect(t, "ProgTraceSync SRC=17 SYNC=3 F-ADDR=0x100");
	end(t);
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
	struct trace *t = new_trace(RVT_MODE_HTM);

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
	end(t);
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
