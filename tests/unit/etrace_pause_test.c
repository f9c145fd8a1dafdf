// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * E-Trace: decoding pauses at a time. What a synchronisation packet with that time says of what
 * comes behind is decoded under what is known later: another thread, code that was not there.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include <rvtrace/etrace.h>
#include <rvtrace/image.h>
#include <rvtrace/stream.h>
#include "rv-asm.h"

#define MAX_BYTES 1000
#define INSNS 16	/* of each thread: all but the last are branches that are not taken */
#define FIRST 0x10000
#define SECOND 0x20000
#define SECOND_TIME 2000

struct world {
	struct rvt_params params;
	struct rvt_etrace_encoder *enc;
	uint8_t trace[MAX_BYTES];
	size_t len, fed;
	uint64_t now;
	struct rvt_image *image;
	struct rvt_space *space;
	bool second_known;	/* what perf would have been told */
	unsigned int asked_early;
	struct rvt_flow *flow;
	struct rvt_stream *stream;
	/* what was told */
	unsigned int contexts, starts, losses;
	uint64_t insns, time;
};

/* ---- a trace ---- */

static int emit(void *ctx, const uint8_t *bytes, size_t len)
{
	struct world *w = ctx;

	assert_true(len <= MAX_BYTES - w->len);
	memcpy(w->trace + w->len, bytes, len);
	w->len += len;
	return 0;
}

static uint64_t now(void *ctx)
{
	return ((struct world *)ctx)->now;
}

static void retire(struct world *w, uint64_t pc)
{
	const struct rvt_retire insn = {
		.first_pc = pc, .last_pc = pc, .insns = 1, .halfwords = 2, .last_halfwords = 2,
		.itype = RVT_ITYPE_BRANCH_NOT_TAKEN,
	};

	rvt_etrace_encoder_retire(w->enc, &insn);
}

static void encode(struct world *w, bool stops)
{
	struct rvt_etrace_encoder_config config = {
		.params = &w->params, .emit = emit, .now = now, .ctx = w, .context = true,
		.context_precise = true, .timestamp_all = true,
	};

	rvt_params_init(&w->params, RVT_PROTOCOL_ETRACE, RVT_DIALECT_ETRACE_2_0);
	w->params.iaddress_width_p = 64;
	w->params.nocontext_p = 0;
	w->params.context_width_p = 32;
	w->params.timestamp_bytes = 8;
	assert_int_equal(rvt_etrace_encoder_create(&config, &w->enc), 0);
	w->now = SECOND_TIME / 2;
	rvt_etrace_encoder_context(w->enc, 1);
	rvt_etrace_encoder_start(w->enc);
	for (unsigned int i = 0; i < INSNS; i++)
		retire(w, FIRST + 4 * i);
	if (stops)
		rvt_etrace_encoder_stop(w->enc, false);
	w->now = SECOND_TIME;
	rvt_etrace_encoder_context(w->enc, 2);
	if (stops)
		rvt_etrace_encoder_start(w->enc);
	for (unsigned int i = 0; i < INSNS; i++)
		retire(w, SECOND + 4 * i);
	rvt_etrace_encoder_stop(w->enc, true);
	rvt_etrace_encoder_destroy(w->enc);
}

/* ---- decoding ---- */

static bool fetch(void *ctx, uint64_t addr, struct rvt_fetched *fetched)
{
	static uint8_t code[8 * INSNS];
	const uint32_t branch = rv_branch(8);
	struct world *w = ctx;

	for (unsigned int i = 0; i < 2 * INSNS; i++)
		memcpy(code + 4 * i, &branch, 4);
	*fetched = (struct rvt_fetched){
		.addr = addr & ~UINT64_C(0xffff), .bytes = code, .len = sizeof(code),
		.name = "code",
	};
	if (fetched->addr != SECOND)
		return fetched->addr == FIRST;
	w->asked_early += !w->second_known;
	return w->second_known;
}

static int on_runs(void *ctx, const struct rvt_run *runs, size_t n)
{
	struct world *w = ctx;

	for (size_t i = 0; i < n; i++)
		w->insns += runs[i].count;
	return 0;
}

static int on_event(void *ctx, const struct rvt_event *event)
{
	struct world *w = ctx;

	w->contexts += event->type == RVT_EVENT_CONTEXT;
	w->starts += event->type == RVT_EVENT_START;
	w->losses += event->type == RVT_EVENT_LOST;
	if (event->type != RVT_EVENT_TIME)
		return 0;
	w->time = event->time;
	if (event->time == SECOND_TIME)
		rvt_stream_pause(w->stream);
	return 0;
}

static struct rvt_flow *get_flow(void *ctx, unsigned int src)
{
	(void)src;
	return ((struct world *)ctx)->flow;
}

static void set_up(struct world *w, bool stops)
{
	const struct rvt_flow_sink sink = {
		.size = sizeof(sink), .ctx = w, .runs = on_runs, .event = on_event,
	};
	const struct rvt_stream_ops ops = { .size = sizeof(ops), .ctx = w, .flow = get_flow };
	struct rvt_flow_config config = { .size = sizeof(config) };

	*w = (struct world){ .len = 0 };
	encode(w, stops);
	assert_int_equal(rvt_image_create(&w->image), 0);
	assert_int_equal(rvt_space_create(w->image, NULL, &w->space), 0);
	rvt_space_set_fetch(w->space, fetch, w);
	rvt_stream_flow_config(&w->params, &config);
	assert_int_equal(rvt_flow_create(&config, &sink, &w->flow), 0);
	rvt_flow_set_space(w->flow, w->space);
	assert_int_equal(rvt_stream_create(&w->params, &ops, &w->stream), 0);
}

static void tear_down(struct world *w)
{
	rvt_stream_destroy(w->stream);
	rvt_flow_destroy(w->flow);
	rvt_image_destroy(w->image);
}

static void feed_part(struct world *w)
{
	size_t taken;

	assert_int_equal(rvt_stream_feed_part(w->stream, w->trace + w->fed, w->len - w->fed,
					      w->fed, &taken), 0);
	w->fed += taken;
	assert_int_equal(rvt_flow_flush(w->flow), 0);
}

/* Up to the second thread's first packet. */
static void pause_there(struct world *w, bool stops)
{
	set_up(w, stops);
	feed_part(w);
	assert_true(w->fed < w->len);
	assert_int_equal(w->time, SECOND_TIME);
	assert_int_equal(w->asked_early, 0);
	assert_int_equal(w->contexts, 1);
	assert_int_equal(w->starts, 1);
	w->second_known = true;
}

static void check_all(struct world *w)
{
	assert_int_equal(w->asked_early, 0);
	assert_int_equal(w->losses, 0);
	assert_int_equal(w->contexts, 2);
	assert_int_equal(w->starts, 2);
	assert_int_equal(w->insns, 2 * INSNS);
	tear_down(w);
}

static void test_start(void **state)
{
	struct world w;

	(void)state;
	pause_there(&w, true);
	assert_int_equal(w.insns, INSNS);
	feed_part(&w);
	assert_int_equal(rvt_stream_finish(w.stream), 0);
	check_all(&w);
}

/* Without a stop between them: a discontinuity. */
static void test_context(void **state)
{
	struct world w;

	(void)state;
	pause_there(&w, false);
	feed_part(&w);
	assert_int_equal(rvt_stream_finish(w.stream), 0);
	check_all(&w);
}

static void test_feed(void **state)
{
	struct world w;

	(void)state;
	pause_there(&w, true);
	assert_int_equal(rvt_stream_feed(w.stream, w.trace + w.fed, w.len - w.fed, w.fed), 0);
	assert_int_equal(rvt_stream_finish(w.stream), 0);
	check_all(&w);
}

/* The first instruction is known to have retired. */
static void test_lost(void **state)
{
	struct world w;

	(void)state;
	pause_there(&w, true);
	assert_int_equal(rvt_stream_lost(w.stream, w.fed, RVT_REASON_TRUNCATED, true), 0);
	assert_int_equal(rvt_flow_flush(w.flow), 0);
	assert_int_equal(w.starts, 2);
	assert_int_equal(w.losses, 1);
	assert_int_equal(w.insns, INSNS + 1);
	tear_down(&w);
}

static void test_finish(void **state)
{
	struct world w;

	(void)state;
	pause_there(&w, true);
	assert_int_equal(rvt_stream_finish(w.stream), 0);
	assert_int_equal(w.starts, 2);
	assert_int_equal(w.losses, 0);
	assert_int_equal(w.insns, INSNS + 1);
	tear_down(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_start),
		cmocka_unit_test(test_context),
		cmocka_unit_test(test_feed),
		cmocka_unit_test(test_lost),
		cmocka_unit_test(test_finish),
	};

	return cmocka_run_group_tests_name("etrace_pause", tests, NULL, NULL);
}
