// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * The N-Trace decoder as a stream: sources, losses, pieces, statistics; and its queue of history.
 * What each message means is tested by the files of tests/ntrace.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <rvtrace/image.h>
#include <rvtrace/stream.h>
#include "model/ntrace/assemble.h"
#include "ntrace/hist.h"
#include "rv-asm.h"

/* ---- history ---- */

/* All outcomes of @hist, @repeat times, as an order takes them, are @pattern again and again. */
static void check_hist(uint32_t hist, uint64_t repeat, const char *pattern)
{
	const size_t len = strlen(pattern);
	struct rvt_hist h;
	uint64_t word, total = 0;
	uint32_t n = 64;

	rvt_hist_set(&h, hist, repeat);
	assert_true(h.bits == len * repeat);
	word = rvt_hist_begin(&h);
	for (;;) {
		for (uint32_t i = 0; i < n && total < h.bits; i++, total++)
			assert_int_equal(word >> i & 1, pattern[total % len] == '1');
		if (total == h.bits)
			break;
		n = rvt_hist_refill(&h, &word);
		assert_in_range(n, 1, 64);
	}
}

static void test_hist(void **state)
{
	struct rvt_hist h;

	(void)state;
	rvt_hist_set(&h, 1, 7);		/* a stop bit only: nothing */
	assert_true(h.bits == 0);
	check_hist(0x5, 1, "01");	/* 8.3: not taken, taken */
	check_hist(0xc0000001, 1, "1000000000000000000000000000001");
	for (unsigned int repeat = 1; repeat < 100; repeat++) {
		check_hist(0x2, repeat, "0");
		check_hist(0x9, repeat, "001");
		check_hist(0x15, repeat, "0101");
		check_hist(0x8001, repeat, "000000000000001");
		check_hist(0x1fffffe, repeat, "111111111111111111111110");
		check_hist(0xfffffffe, repeat, "1111111111111111111111111111110");
	}
	check_hist(0xfffffffe, (1 << 18) - 1, "1111111111111111111111111111110");
	/* what no I-CNT can be large enough for does not overflow */
	rvt_hist_set(&h, 0xffffffff, UINT64_MAX);
	assert_true(h.bits > 1u << 24 && h.bits < 1ull << 32);
}

/* ---- streams ---- */

struct fixture {
	struct rvt_params params;
	struct rvt_image *image;
	struct rvt_space *space;
	struct rvt_stream *stream;
	struct rvt_flow *flows[16];
	unsigned int refuse_src;
	char text[4000];		/* what came out */
	int give_up;			/* what the event callback returns at LOST */
};

struct tag {
	struct fixture *f;
	unsigned int src;
};

static struct tag tags[16];
static rvt_insn_hook hook;

__attribute__((format(printf, 2, 3)))
static void say(struct fixture *f, const char *format, ...)
{
	size_t n = strlen(f->text);
	va_list args;

	va_start(args, format);
	vsnprintf(f->text + n, sizeof(f->text) - n, format, args);
	va_end(args);
}

static int on_runs(void *ctx, const struct rvt_run *runs, size_t n)
{
	struct tag *tag = ctx;

	for (size_t i = 0; i < n; i++) {
		uint64_t pc = runs[i].block->pc;

		for (uint32_t j = 0; j < runs[i].first + runs[i].count; j++) {
			if (j >= runs[i].first)
				say(tag->f, "%u:%lx ", tag->src, pc);
			pc += 2 * runs[i].block->halfwords[j];
		}
	}
	return 0;
}

static int on_event(void *ctx, const struct rvt_event *event)
{
	struct tag *tag = ctx;

	switch (event->type) {
	case RVT_EVENT_START:
		say(tag->f, "%u:start ", tag->src);
		break;
	case RVT_EVENT_STOP:
		say(tag->f, "%u:stop ", tag->src);
		break;
	case RVT_EVENT_LOST:
		say(tag->f, "%u:lost(%d,0x%lx) ", tag->src, event->reason, event->offset);
		return tag->f->give_up;
	default:
		break;
	}
	return 0;
}

static int on_stream_event(void *ctx, const struct rvt_event *event)
{
	say(ctx, "lost(%d,0x%lx) ", event->reason, event->offset);
	return 0;
}

static struct rvt_flow *on_source(void *ctx, unsigned int src)
{
	struct fixture *f = ctx;
	struct rvt_flow_config config = { .size = sizeof(config) };
	struct rvt_flow_sink sink = { .size = sizeof(sink), .ctx = &tags[src], .runs = on_runs,
		.event = on_event };

	assert_true(src < 16);
	assert_null(f->flows[src]);	/* asked once */
	if (src == f->refuse_src)
		return NULL;
	tags[src] = (struct tag){ f, src };
	rvt_stream_flow_config(&f->params, &config);
	config.hook = hook;
	assert_int_equal(rvt_flow_create(&config, &sink, &f->flows[src]), 0);
	rvt_flow_set_space(f->flows[src], f->space);
	return f->flows[src];
}

/* 100 nop; 104 nop, with a hook custom-0; 108 j 100 */
static void set_up(struct fixture *f, const char *params)
{
	struct rvt_stream_ops ops = { .size = sizeof(ops), .ctx = f,
				      .flow = on_source, .event = on_stream_event };
	uint8_t code[12], bytes[8];
	char *error;

	memset(f, 0, sizeof(*f));
	f->refuse_src = 99;
	f->params.size = sizeof(f->params);
	assert_int_equal(rvt_params_parse(&f->params, "test", params, strlen(params), &error), 0);
	assert_int_equal(rvt_image_create(&f->image), 0);
	assert_int_equal(rvt_space_create(f->image, NULL, &f->space), 0);
	for (unsigned int i = 0; i < 3; i++) {
		const char *insn = i == 2 ? "j 100" : i && hook ? "custom" : "nop";

		assert_int_equal(rv_assemble(0x100 + 4 * i, insn, bytes), 4);
		memcpy(code + 4 * i, bytes, 4);
	}
	rvt_space_map_bytes(f->space, 0x100, code, sizeof(code), "program");
	assert_int_equal(rvt_stream_create(&f->params, &ops, &f->stream), 0);
}

/* Instructions of 4 bytes in place of the first ones: @n, 3 at the most. */
static void map_program(struct fixture *f, const char *const *program, unsigned int n)
{
	uint8_t code[16];

	assert_in_range(n, 1, 3);
	for (unsigned int i = 0; i < n; i++)
		assert_int_equal(rv_assemble(0x100 + 4 * i, program[i], code + 4 * i), 4);
	rvt_space_map_bytes(f->space, 0x100, code, 4 * n, "program");
}

static void tear_down(struct fixture *f)
{
	rvt_stream_destroy(f->stream);
	for (unsigned int i = 0; i < 16; i++)
		rvt_flow_destroy(f->flows[i]);
	rvt_image_destroy(f->image);
}

/* Directives, separated by ';', to bytes. */
static size_t assemble(struct fixture *f, const char *text, uint8_t *bytes)
{
	size_t len = 0;

	while (*text) {
		size_t n = strcspn(text, ";");
		char line[200], error[200];
		int ret;

		snprintf(line, sizeof(line), "%.*s", (int)n, text);
		ret = rvt_ntrace_assemble(&f->params, line, bytes + len, 64, error, sizeof(error));
		if (ret < 0)
			fail_msg("%s: %s", line, error);
		len += ret;
		text += n + (text[n] == ';');
	}
	return len;
}

static int feed(struct fixture *f, const char *text, uint64_t offset)
{
	uint8_t bytes[1000];

	return rvt_stream_feed(f->stream, bytes, assemble(f, text, bytes), offset);
}

#define HTM "protocol = ntrace\nmode = htm\n"
#define SYNC "ProgTraceSync SYNC=5 I-CNT=0 F-ADDR=0x80;"	/* 0x100 */

static void test_plain(void **state)
{
	struct rvt_stream_stats stats = { .size = sizeof(stats) };
	struct fixture f;

	(void)state;
	set_up(&f, HTM);
	assert_int_equal(feed(&f, "idle 3;" SYNC
			      "ProgTraceCorrelation EVCODE=4 CDF=1 I-CNT=4 HIST=1", 0), 0);
	assert_int_equal(rvt_stream_finish(f.stream), 0);
	assert_string_equal(f.text, "0:start 0:100 0:104 0:stop ");
	rvt_stream_stats(f.stream, &stats);
	assert_int_equal(stats.messages, 2);
	assert_int_equal(stats.syncs, 1);
	assert_int_equal(stats.idle_bytes, 3);
	assert_int_equal(stats.errors, 0);
	assert_int_equal(stats.lost_reports, 0);
	tear_down(&f);
}

/* Custom-0 of a vendor whose loops end with it: a conditional branch to the instruction before. */
static int loop_end(void *ctx, const uint8_t *code, size_t avail, struct rvt_insn *insn)
{
	(void)ctx;
	if (avail < 4 || (code[0] & 0x7f) != 0x0b)
		return -ENOENT;
	insn->len_bytes = 4;
	insn->iclass = RVT_INSN_BRANCH;
	insn->flags = RVT_INSN_F_TARGET;
	insn->offset = -4;
	return 0;
}

/* 10.1.1: instructions that a vendor adds take part in history and in direct branch messages. */
static void test_custom_branch(void **state)
{
	static const char *const flow = "0:start 0:100 0:104 0:100 0:104 0:108 0:100 0:stop ";
	struct fixture f;

	(void)state;
	hook = loop_end;
	set_up(&f, HTM);
	feed(&f, SYNC "ProgTraceCorrelation EVCODE=4 CDF=1 I-CNT=12 HIST=0b1_10", 0);
	assert_int_equal(rvt_stream_finish(f.stream), 0);
	assert_string_equal(f.text, flow);
	tear_down(&f);
	set_up(&f, "protocol = ntrace\nmode = btm\n");
	feed(&f, SYNC "DirectBranch I-CNT=4; ProgTraceCorrelation EVCODE=4 I-CNT=8", 0);
	assert_int_equal(rvt_stream_finish(f.stream), 0);
	assert_string_equal(f.text, flow);
	tear_down(&f);
	hook = NULL;
}

/*
 * mode = auto: a ProgTraceSync behind a branch that was not taken has no history in either mode.
 * The messages behind it tell that there never is any; without them nothing is assumed.
 */
static void test_mode_ahead(void **state)
{
	static const char *const text = SYNC "ProgTraceSync SYNC=2 I-CNT=4 F-ADDR=0x84;"
		"DirectBranch I-CNT=6; ProgTraceCorrelation EVCODE=4 I-CNT=2";
	uint8_t bytes[100];
	struct fixture f;
	size_t len;

	(void)state;
	hook = loop_end;
	set_up(&f, "protocol = ntrace\nmode = auto\n");
	feed(&f, text, 0);
	assert_int_equal(rvt_stream_finish(f.stream), 0);
	assert_string_equal(f.text, "0:start 0:100 0:104 0:108 0:100 0:104 0:100 0:stop ");
	tear_down(&f);
	set_up(&f, "protocol = ntrace\nmode = auto\n");
	len = assemble(&f, text, bytes);
	for (size_t i = 0; i < len; i++)
		assert_int_equal(rvt_stream_feed(f.stream, bytes + i, 1, i), 0);
	assert_int_equal(rvt_stream_finish(f.stream), 0);
	assert_non_null(strstr(f.text, "0:start 0:100 0:lost("));
	tear_down(&f);
	hook = NULL;
}

/* A loss between two calls: flow ends there, and goes on at the next sync only. */
static void test_lost(void **state)
{
	struct rvt_stream_stats stats = { .size = sizeof(stats) };
	struct fixture f;

	(void)state;
	set_up(&f, HTM);
	feed(&f, SYNC "ResourceFull RCODE=0 RDATA=2;", 0);
	/* what ResourceFull reported is certain */
	assert_int_equal(rvt_stream_lost(f.stream, 0x77, RVT_REASON_TRUNCATED, true), 0);
	assert_string_equal(f.text, "0:start 0:100 0:lost(2,0x77) ");
	f.text[0] = 0;
	feed(&f, "IndirectBranchHist B-TYPE=2 I-CNT=4 U-ADDR=0 HIST=1;" SYNC
	     "ProgTraceCorrelation EVCODE=4 CDF=1 I-CNT=2 HIST=1", 0x80);
	assert_int_equal(rvt_stream_finish(f.stream), 0);
	assert_string_equal(f.text, "0:start 0:100 0:stop ");
	rvt_stream_stats(f.stream, &stats);
	assert_int_equal(stats.lost_reports, 1);
	assert_int_equal(stats.errors, 0);
	tear_down(&f);
}

/* The message that the loss cut is forgotten. */
static void test_lost_in_message(void **state)
{
	uint8_t bytes[100];
	struct fixture f;
	size_t len;

	(void)state;
	set_up(&f, HTM);
	len = assemble(&f, SYNC, bytes);
	rvt_stream_feed(f.stream, bytes, len - 1, 0);
	rvt_stream_lost(f.stream, 5, RVT_REASON_TRUNCATED, false);
	assert_string_equal(f.text, "lost(2,0x5) ");	/* no source had flow yet */
	/* the rest of a message, then a sync */
	f.text[0] = 0;
	rvt_stream_feed(f.stream, bytes + len - 1, 1, 10);
	rvt_stream_feed(f.stream, bytes, len, 11);
	assert_int_equal(rvt_stream_finish(f.stream), 0);
	assert_string_equal(f.text, "0:start ");
	tear_down(&f);
}

static void test_end_in_message(void **state)
{
	uint8_t bytes[100];
	struct fixture f;
	size_t len;

	(void)state;
	set_up(&f, HTM);
	len = assemble(&f, SYNC "ProgTraceCorrelation EVCODE=4 CDF=1 I-CNT=4 HIST=1", bytes);
	for (size_t i = 0; i < len - 1; i++)
		rvt_stream_feed(f.stream, bytes + i, 1, i);
	assert_int_equal(rvt_stream_finish(f.stream), 0);
	/* The sync has 6 + 4 bits of TCODE and SYNC, I-CNT in the same two bytes, F-ADDR in two */
	assert_string_equal(f.text, "0:start 0:lost(3,0x4) ");
	tear_down(&f);
}

/*
 * A slice that begins amid damage: that is told by the one before, but not the damage that its own
 * flow, lost meanwhile, does not suffer from.
 */
static void test_damage_in_slice(void **state)
{
	const char *wrong = "IndirectBranchHist B-TYPE=0 I-CNT=2 U-ADDR=0x10 HIST=2;";
	const uint8_t damage[] = { 0xfe, 0x03 };
	const uint64_t from = 100, sync = from + sizeof(damage);
	uint8_t bytes[200];
	char expected[100];
	struct fixture f;
	uint64_t lost, end;

	(void)state;
	set_up(&f, HTM);
	lost = sync + assemble(&f, SYNC, bytes);
	end = lost + assemble(&f, wrong, bytes);
	assert_int_equal(rvt_stream_slice(f.stream, from, UINT64_MAX), 0);
	assert_int_equal(rvt_stream_feed(f.stream, damage, sizeof(damage), from), 0);
	assert_int_equal(feed(&f, SYNC, sync), 0);
	assert_int_equal(feed(&f, wrong, lost), 0);
	assert_int_equal(rvt_stream_feed(f.stream, damage, sizeof(damage), end), 0);
	assert_int_equal(rvt_stream_finish(f.stream), 0);
	snprintf(expected, sizeof(expected), "0:100 0:lost(%d,0x%lx) lost(%d,0x%lx) ",
		 RVT_REASON_BAD_FLOW, (long)lost, RVT_REASON_BAD_PACKET, (long)end);
	assert_string_equal(f.text, expected);
	tear_down(&f);
}

static void test_sources(void **state)
{
	struct fixture f;

	(void)state;
	set_up(&f, HTM "src_bits = 4\n");
	f.refuse_src = 7;
	feed(&f, "ProgTraceSync SRC=2 SYNC=5 F-ADDR=0x80; ProgTraceSync SRC=7 SYNC=5 F-ADDR=0x80;"
	     "ProgTraceSync SRC=9 SYNC=5 F-ADDR=0x82;"
	     "ProgTraceCorrelation SRC=2 EVCODE=4 CDF=1 I-CNT=2 HIST=1;"
	     "ProgTraceCorrelation SRC=7 EVCODE=4 CDF=1 I-CNT=2 HIST=1;"
	     "ProgTraceCorrelation SRC=9 EVCODE=4 CDF=1 I-CNT=4 HIST=1;", 0);
	assert_int_equal(rvt_stream_finish(f.stream), 0);
	assert_string_equal(f.text, "2:start 9:start 2:100 2:stop 9:104 9:108 9:stop ");
	tear_down(&f);
}

/* One source starts late: only its own messages are missing. */
static void test_first_sync_of_each(void **state)
{
	struct fixture f;

	(void)state;
	set_up(&f, HTM "src_bits = 4\n");
	feed(&f, "ProgTraceSync SRC=2 SYNC=5 F-ADDR=0x80;"
	     "IndirectBranchHist SRC=3 B-TYPE=0 I-CNT=4 U-ADDR=0 HIST=1;"
	     "IndirectBranchHist SRC=3 B-TYPE=0 I-CNT=4 U-ADDR=0 HIST=1;"
	     "ProgTraceCorrelation SRC=2 EVCODE=4 CDF=1 I-CNT=2 HIST=1;"
	     "ProgTraceSync SRC=3 SYNC=2 F-ADDR=0x80;"
	     "ProgTraceCorrelation SRC=3 EVCODE=4 CDF=1 I-CNT=2 HIST=1;", 0);
	assert_int_equal(rvt_stream_finish(f.stream), 0);
	assert_string_equal(f.text, "2:start 3:lost(7,0x5) 2:100 2:stop 3:start 3:100 3:stop ");
	tear_down(&f);
}

/* What a callback returns ends decoding and comes out of every call. */
static void test_give_up(void **state)
{
	struct fixture f;

	(void)state;
	set_up(&f, HTM);
	f.give_up = 55;
	assert_int_equal(feed(&f, SYNC "Error ETYPE=0 ECODE=4;" SYNC, 0), 55);
	assert_int_equal(feed(&f, SYNC, 100), 55);
	assert_int_equal(rvt_stream_lost(f.stream, 0, RVT_REASON_TRUNCATED, true), 55);
	assert_int_equal(rvt_stream_finish(f.stream), 55);
	assert_string_equal(f.text, "0:start 0:lost(1,0x4) ");
	tear_down(&f);
}

static void test_create(void **state)
{
	struct rvt_stream_ops ops = { .size = sizeof(ops), .flow = on_source };
	struct rvt_stream *stream;
	struct rvt_params params;

	(void)state;
	rvt_params_init(&params, RVT_PROTOCOL_NTRACE, RVT_DIALECT_NTRACE_1_0);
	params.src_bits = 13;
	assert_int_equal(rvt_stream_create(&params, &ops, &stream), -EINVAL);
	params.src_bits = 0;
	params.xlen = 16;
	assert_int_equal(rvt_stream_create(&params, &ops, &stream), -EINVAL);
	params.xlen = 64;
	params.dialect = RVT_DIALECT_ETRACE_2_0;
	assert_int_equal(rvt_stream_create(&params, &ops, &stream), -EINVAL);
	params.protocol = RVT_PROTOCOL_NONE;
	assert_int_equal(rvt_stream_create(&params, &ops, &stream), -EINVAL);
}

/* All of @text decodes to @flow. */
static void check_flow(const char *text, const char *flow)
{
	struct fixture f;

	set_up(&f, HTM);
	feed(&f, text, 0);
	assert_int_equal(rvt_stream_finish(f.stream), 0);
	assert_string_equal(f.text, flow);
	tear_down(&f);
}

/*
 * History of ResourceFull is walked to its last branch, and the I-CNT that comes counts that, too.
 * 100 nop, 104 custom branch to 100, 108 j 100.
 */
static void test_history_first(void **state)
{
	struct fixture f;

	(void)state;
	hook = loop_end;
	/* it is there when nothing else comes any more */
	check_flow(SYNC "ResourceFull RCODE=1 RDATA=0b1_11", "0:start 0:100 0:104 0:100 0:104 ");
	/* both counters full, in either order */
	check_flow(SYNC "ResourceFull RCODE=1 RDATA=0b1_11; ResourceFull RCODE=0 RDATA=6;"
		   "ProgTraceCorrelation EVCODE=4 CDF=1 I-CNT=4 HIST=1",
		   "0:start 0:100 0:104 0:100 0:104 0:100 0:stop ");
	check_flow(SYNC "ResourceFull RCODE=0 RDATA=6; ResourceFull RCODE=1 RDATA=0b1_11;"
		   "ProgTraceCorrelation EVCODE=4 CDF=1 I-CNT=6 HIST=0b1_0",
		   "0:start 0:100 0:104 0:100 0:104 0:100 0:104 0:stop ");
	/* I-CNT of less than that */
	set_up(&f, HTM);
	feed(&f, SYNC "ResourceFull RCODE=1 RDATA=0b1_11", 0);
	feed(&f, "ProgTraceCorrelation EVCODE=4 CDF=1 I-CNT=7 HIST=1", 0x40);
	assert_int_equal(rvt_stream_finish(f.stream), 0);
	assert_string_equal(f.text, "0:start 0:100 0:104 0:100 0:104 0:lost(4,0x40) ");
	tear_down(&f);
	hook = NULL;
}

/* History that would lead further than any I-CNT counts ends there: 108 j 100 has no branch. */
static void test_history_without_end(void **state)
{
	struct rvt_flow_stats stats = { .size = sizeof(stats) };
	struct fixture f;
	uint8_t loop[8];

	(void)state;
	set_up(&f, HTM);
	assert_int_equal(rv_assemble(0x100, "j 100", loop), 4);
	rvt_space_map_bytes(f.space, 0x100, loop, 4, "loop");
	feed(&f, SYNC, 0);
	f.text[0] = 0;
	rvt_flow_count(f.flows[0]);
	feed(&f, "ResourceFull RCODE=1 RDATA=0b1_1", 0x40);
	assert_string_equal(f.text, "0:lost(4,0x40) ");
	rvt_flow_stats(f.flows[0], &stats);
	assert_int_equal(stats.insns, 1 << 22);
	tear_down(&f);
}

/*
 * Very much history before its I-CNT: 2^17 ResourceFull messages of 31 branches. Time must be
 * linear; what is certain is walked on the way.
 */
static void test_long_chain(void **state)
{
	struct fixture f;
	struct rvt_flow_stats stats = { .size = sizeof(stats) };
	uint8_t bytes[64], loop[8];
	size_t len;

	(void)state;
	set_up(&f, HTM);
	/* 100: b 100, for ever */
	assert_int_equal(rv_assemble(0x100, "b 100", loop), 4);
	rvt_space_map_bytes(f.space, 0x100, loop, 4, "loop");
	feed(&f, SYNC, 0);
	f.text[0] = 0;
	len = assemble(&f, "ResourceFull RCODE=1 RDATA=0xffffffff", bytes);
	for (int i = 0; i < 1 << 15; i++)
		rvt_stream_feed(f.stream, bytes, len, 100);
	len = assemble(&f, "ResourceFull RCODE=0 RDATA=0x1f0000", bytes);
	rvt_stream_feed(f.stream, bytes, len, 100);
	len = assemble(&f, "ProgTraceCorrelation EVCODE=4 CDF=1 I-CNT=0 HIST=1", bytes);
	rvt_stream_feed(f.stream, bytes, len, 100);
	assert_int_equal(rvt_stream_finish(f.stream), 0);
	rvt_flow_stats(f.flows[0], &stats);
	assert_int_equal(stats.insns, 31 << 15);
	assert_int_equal(stats.branches, 31 << 15);
	assert_int_equal(stats.taken, 31 << 15);
	assert_int_equal(stats.gaps, 0);
	tear_down(&f);
}

/* History that repeats itself, so that more than fit a word or not, in the same message again. */
static void test_repeated_history(void **state)
{
	static const char *const program[] = { "b 108", "nop", "j 100" };

	(void)state;
	for (unsigned int repeat = 1; repeat <= 4; repeat++) {
		const uint64_t branches = 6 * 31 * repeat;
		struct rvt_flow_stats stats = { .size = sizeof(stats) };
		struct fixture f;
		char text[64];

		set_up(&f, HTM);
		map_program(&f, program, 3);
		feed(&f, SYNC, 0);
		f.text[0] = 0;
		snprintf(text, sizeof(text), "ResourceFull RCODE=2 RDATA=0xffffffff HREPEAT=%u",
			 repeat);
		rvt_flow_count(f.flows[0]);
		for (int i = 0; i < 6; i++)
			feed(&f, text, 0);
		assert_int_equal(rvt_stream_finish(f.stream), 0);
		rvt_flow_stats(f.flows[0], &stats);
		assert_int_equal(stats.branches, branches);
		assert_int_equal(stats.taken, branches);
		assert_int_equal(stats.insns, 2 * branches - 1);
		tear_down(&f);
	}
}

/* What comes again is of the source that it names, though all of them are in the same program. */
static void test_sources_by_turns(void **state)
{
	static const char turns[] = "2222299929992929";
	char text[1000] = "", line[64];
	struct rvt_flow_stats stats = { .size = sizeof(stats) };
	struct fixture f;
	uint8_t loop[8];
	size_t n = 0;

	(void)state;
	set_up(&f, HTM "src_bits = 4\n");
	assert_int_equal(rv_assemble(0x100, "b 100", loop), 4);
	rvt_space_map_bytes(f.space, 0x100, loop, 4, "loop");
	feed(&f, "ProgTraceSync SRC=2 SYNC=5 F-ADDR=0x80; ProgTraceSync SRC=9 SYNC=5 F-ADDR=0x80;",
	     0);
	for (size_t i = 0; turns[i]; i++) {
		snprintf(line, sizeof(line), "ResourceFull SRC=%c RCODE=1 RDATA=0b1_111;",
			 turns[i]);
		strcat(text, line);
		n += turns[i] == '9';
	}
	feed(&f, text, 0);
	assert_int_equal(rvt_stream_finish(f.stream), 0);
	rvt_flow_stats(f.flows[9], &stats);
	assert_int_equal(stats.branches, 3 * n);
	rvt_flow_stats(f.flows[2], &stats);
	assert_int_equal(stats.branches, 3 * (strlen(turns) - n));
	tear_down(&f);
}

/*
 * Behind an indirect jump: that is where it leads; or a trap in the same half-words, before which
 * somebody should have said where it led: a gap. What comes again is what its B-TYPE says.
 */
static void test_traps_by_turns(void **state)
{
	static const char turns[] = "0000100012003000123010203000";
	const char *const program[] = { "nop", "jalr zero a0 0" };
	char text[2000] = "", line[64];
	struct rvt_flow_stats stats = { .size = sizeof(stats) };
	struct fixture f;
	size_t n = 0;

	(void)state;
	set_up(&f, HTM);
	map_program(&f, program, 2);
	feed(&f, SYNC, 0);
	for (size_t i = 0; turns[i]; i++) {
		snprintf(line, sizeof(line),
			 "IndirectBranchHist B-TYPE=%c I-CNT=4 U-ADDR=0 HIST=1;", turns[i]);
		strcat(text, line);
		n += turns[i] != '0';
	}
	feed(&f, text, 0);
	assert_int_equal(rvt_stream_finish(f.stream), 0);
	rvt_flow_stats(f.flows[0], &stats);
	assert_int_equal(stats.gaps, n);
	assert_int_equal(stats.insns, 2 * strlen(turns));
	tear_down(&f);
}

/* History came first, and then an I-CNT that ends with it: there was no indirect jump. */
static void test_nothing_behind_history(void **state)
{
	static const char *const program[] = { "b 100", "nop", "jalr zero a0 0" };
	char text[2000] = "", line[128];
	struct rvt_flow_stats stats = { .size = sizeof(stats) };
	struct fixture f;

	(void)state;
	set_up(&f, HTM);
	map_program(&f, program, 3);
	feed(&f, SYNC, 0);
	for (unsigned int i = 0; i < 8; i++) {
		snprintf(line, sizeof(line), "ResourceFull RCODE=1 RDATA=0b1_0;"
			 "IndirectBranchHist B-TYPE=0 I-CNT=%u U-ADDR=0 HIST=1;", i < 7 ? 6 : 2);
		strcat(text, line);
	}
	feed(&f, text, 0);
	assert_int_equal(rvt_stream_finish(f.stream), 0);
	rvt_flow_stats(f.flows[0], &stats);
	assert_int_equal(stats.gaps, 1);
	assert_int_equal(stats.insns, 7 * 3 + 1);
	tear_down(&f);
}

/* A jump that comes again and again, and then without the stop bit of its history: damage. */
static void test_no_stop_bit(void **state)
{
	static const char *const program[] = { "nop", "jalr zero a0 0" };
	struct rvt_flow_stats stats = { .size = sizeof(stats) };
	struct fixture f;

	(void)state;
	set_up(&f, HTM);
	map_program(&f, program, 2);
	feed(&f, SYNC, 0);
	feed(&f, "IndirectBranchHist I-CNT=4 HIST=1; IndirectBranchHist I-CNT=4 HIST=1;"
		 "IndirectBranchHist I-CNT=4 HIST=1; IndirectBranchHist I-CNT=4 HIST=0;", 0x40);
	assert_int_equal(rvt_stream_finish(f.stream), 0);
	rvt_flow_stats(f.flows[0], &stats);
	assert_int_equal(stats.gaps, 1);
	assert_int_equal(stats.insns, 3 * 2);
	tear_down(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hist),
		cmocka_unit_test(test_plain),
		cmocka_unit_test(test_custom_branch),
		cmocka_unit_test(test_mode_ahead),
		cmocka_unit_test(test_lost),
		cmocka_unit_test(test_lost_in_message),
		cmocka_unit_test(test_end_in_message),
		cmocka_unit_test(test_damage_in_slice),
		cmocka_unit_test(test_sources),
		cmocka_unit_test(test_first_sync_of_each),
		cmocka_unit_test(test_give_up),
		cmocka_unit_test(test_create),
		cmocka_unit_test(test_history_first),
		cmocka_unit_test(test_history_without_end),
		cmocka_unit_test(test_long_chain),
		cmocka_unit_test(test_repeated_history),
		cmocka_unit_test(test_sources_by_turns),
		cmocka_unit_test(test_traps_by_turns),
		cmocka_unit_test(test_nothing_behind_history),
		cmocka_unit_test(test_no_stop_bit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
