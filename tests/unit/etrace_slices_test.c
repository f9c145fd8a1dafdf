// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * E-Trace in slices: whatever the options, wherever the stream is cut, and damaged or not, the
 * slices one after the other tell what the whole tells; delivered or counted.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <rvtrace/etrace.h>
#include <rvtrace/image.h>
#include <rvtrace/stream.h>
#include "flow/core/state.h"
#include "random-hart.h"

#define MAX_BYTES (1 << 20)
#define MAX_TOLD (1 << 19)
#define TOO_MUCH 99
#define MAX_INSNS 3000000	/* a damaged count may ask for very much */

/* What was told, in order; times and contexts may be told twice. */
struct told {
	uint64_t *words;
	size_t n;
	uint64_t runs, edges, insns;	/* sums of hashes of what was counted */
};

struct trip {
	struct hart *hart;
	struct rvt_params params;
	struct rvt_etrace_encoder *enc;
	uint8_t *bytes;
	size_t len;
	unsigned int refuse;
	uint64_t now;
	bool counts;
	struct rvt_image *image;
	struct rvt_space *space;
	struct rvt_flow *flow;
	struct told told;
	unsigned int n_slices;	/* that ended before the stream did */
};

/* ---- a trace ---- */

static int emit(void *ctx, const uint8_t *bytes, size_t len)
{
	struct trip *t = ctx;

	if (t->refuse && !hart_random(t->hart, t->refuse))
		return -28;	/* ENOSPC */
	assert_true(t->len + len < MAX_BYTES);
	memcpy(t->bytes + t->len, bytes, len);
	t->len += len;
	if (!hart_random(t->hart, 50))
		t->bytes[t->len++] = 0;		/* idle */
	return 0;
}

static uint64_t now(void *ctx)
{
	struct trip *t = ctx;

	return t->now += hart_random(t->hart, 100);
}

static void on_retire(void *ctx, const struct rvt_retire *run)
{
	struct trip *t = ctx;

	rvt_etrace_encoder_retire(t->enc, run);
	if (!hart_random(t->hart, 200))
		rvt_etrace_encoder_mark(t->enc);
	if (!hart_random(t->hart, 50))
		rvt_etrace_encoder_context(t->enc, hart_random(t->hart, 15));
}

static void on_trap(void *ctx, const struct rvt_trap *trap)
{
	rvt_etrace_encoder_trap(((struct trip *)ctx)->enc, trap);
}

static void random_params(struct trip *t)
{
	static const unsigned int options[] = {
		RVT_OPT_SEQUENTIAL_JUMP, RVT_OPT_IMPLICIT_RETURN, RVT_OPT_BRANCH_PREDICTION,
		RVT_OPT_FULL_ADDRESS, RVT_OPT_JUMP_TARGET_CACHE, RVT_OPT_IMPLICIT_EXCEPTION,
	};
	struct rvt_params *p = &t->params;
	struct hart *h = t->hart;

	rvt_params_init(p, RVT_PROTOCOL_ETRACE, RVT_DIALECT_ETRACE_0_029 + hart_random(h, 3));
	p->iaddress_width_p = 64;
	p->nocontext_p = hart_random(h, 2);
	p->context_width_p = 4;
	p->notime_p = hart_random(h, 4) != 0;
	p->time_width_p = hart_random(h, 2) ? 64 : 16;
	p->ecause_width_p = 6;
	p->f0s_width_p = 1;
	p->bpred_size_p = 1 + hart_random(h, 7);
	p->cache_size_p = 1 + hart_random(h, 7);
	p->return_stack_size_p = hart_random(h, 6);
	p->timestamp_bytes = hart_random(h, 3) ? 0 : 8;
	p->srcid_bits = hart_random(h, 3) ? 0 : 8;
	for (unsigned int i = 0; i < 6; i++) {
		p->ioptions[i] = options[i];
		/* those that rule slices out are rare */
		if (!hart_random(h, i < 4 ? 2 : 8))
			p->options |= options[i];
	}
	p->n_ioptions = 6;
}

static void encode(struct trip *t, unsigned int pieces)
{
	struct rvt_etrace_encoder_config config = {
		.params = &t->params, .context = !t->params.nocontext_p,
		.context_precise = hart_random(t->hart, 2), .sync_mode = hart_random(t->hart, 4),
		.sync_max = hart_random(t->hart, 4), .emit = emit, .now = now, .ctx = t,
	};
	struct hart_sink sink = { t, on_retire, on_trap };

	assert_int_equal(rvt_etrace_encoder_create(&config, &t->enc), 0);
	for (unsigned int i = 0; i < pieces; i++) {
		rvt_etrace_encoder_start(t->enc);
		hart_run(t->hart, &sink, hart_random(t->hart, 4) ? 3000 : hart_random(t->hart, 30));
		rvt_etrace_encoder_stop(t->enc, hart_random(t->hart, 2));
	}
	rvt_etrace_encoder_destroy(t->enc);
}

static void damage(struct trip *t)
{
	size_t at = hart_random(t->hart, t->len), n = 1 + hart_random(t->hart, 40);

	if (n > t->len - at)
		n = t->len - at;
	switch (hart_random(t->hart, 3)) {
	case 0:
		t->bytes[at] ^= 1 << hart_random(t->hart, 8);
		break;
	case 1:
		memmove(t->bytes + at, t->bytes + at + n, t->len - at - n);
		t->len -= n;
		break;
	default:
		for (size_t i = 0; i < n; i++)
			t->bytes[at + i] = hart_random(t->hart, 256);
	}
}

/* ---- decoding ---- */

static void tell(struct trip *t, uint64_t a, uint64_t b, uint64_t c)
{
	if (t->told.n + 3 > MAX_TOLD)
		return;
	t->told.words[t->told.n++] = a;
	t->told.words[t->told.n++] = b;
	t->told.words[t->told.n++] = c;
}

static int on_runs(void *ctx, const struct rvt_run *runs, size_t n)
{
	struct trip *t = ctx;

	for (size_t i = 0; i < n; i++) {
		uint64_t pc = runs[i].block->pc;

		for (uint32_t j = 0; j < runs[i].first + runs[i].count; j++) {
			if (j >= runs[i].first)
				tell(t, 0, pc, 0);
			pc += 2 * runs[i].block->halfwords[j];
		}
		t->told.insns += runs[i].count;
	}
	return t->told.insns > MAX_INSNS ? TOO_MUCH : 0;
}

static int on_event(void *ctx, const struct rvt_event *event)
{
	if (event->type != RVT_EVENT_TIME && event->type != RVT_EVENT_CONTEXT)
		tell(ctx, 100 + event->type, event->offset ^ (uint64_t)event->reason << 48,
		     event->pc ^ event->target << 8 ^ event->cause << 56);
	return 0;
}

static int on_stream_event(void *ctx, const struct rvt_event *event)
{
	tell(ctx, 200 + event->type, event->offset, event->reason);
	return 0;
}

static uint64_t hash(uint64_t a, uint64_t b)
{
	uint64_t x = a * 0x9e3779b97f4a7c15ull ^ b;

	x *= 0xd6e8feb86659fd93ull;
	return x ^ x >> 29;
}

static int count_run(void *ctx, const struct rvt_run *run, uint64_t times)
{
	struct trip *t = ctx;
	uint64_t pc = run->block->pc;

	for (uint32_t i = 0; i < run->first + run->count; i++) {
		if (i >= run->first)
			t->told.runs += times * hash(pc, 1);
		pc += 2 * run->block->halfwords[i];
	}
	t->told.insns += times * run->count;
	return 0;
}

static int count_edge(void *ctx, uint64_t from, uint64_t to, enum rvt_insn_class iclass,
		      int64_t times)
{
	struct trip *t = ctx;

	t->told.edges += (uint64_t)times * hash(from, to + iclass);
	return 0;
}

static struct rvt_flow *on_source(void *ctx, unsigned int src)
{
	return src ? NULL : ((struct trip *)ctx)->flow;
}

static void begin(struct trip *t)
{
	const struct rvt_flow_sink sink = { .size = sizeof(sink), .ctx = t, .runs = on_runs,
		.event = on_event };
	struct rvt_flow_config config = { .size = sizeof(config) };

	t->told.n = t->told.runs = t->told.edges = t->told.insns = 0;
	assert_int_equal(rvt_image_create(&t->image), 0);
	assert_int_equal(rvt_space_create(t->image, NULL, &t->space), 0);
	rvt_space_map_bytes(t->space, HART_BASE, hart_code(t->hart), HART_BYTES, "program");
	rvt_stream_flow_config(&t->params, &config);
	assert_int_equal(rvt_flow_create(&config, &sink, &t->flow), 0);
	if (t->counts)
		assert_int_equal(rvt_flow_count(t->flow), 0);
	rvt_flow_set_space(t->flow, t->space);
}

static void end(struct trip *t)
{
	const struct rvt_count_sink sink = { .size = sizeof(sink), .ctx = t, .run = count_run,
		.edge = count_edge };

	if (t->counts)
		assert_int_equal(rvt_flow_counts(t->flow, &sink), 0);
	rvt_flow_destroy(t->flow);
	rvt_image_destroy(t->image);
}

/* Feeds from @from on in pieces of random length, until a slice is done. */
static int feed(struct trip *t, struct rvt_stream *stream, size_t from)
{
	int ret = 0;

	while (from < t->len && !ret && !rvt_stream_slice_done(stream)) {
		size_t n = 1 + hart_random(t->hart, hart_random(t->hart, 2) ? 20 : 5000);
		uint8_t *copy;

		if (n > t->len - from)
			n = t->len - from;
		copy = malloc(n);	/* so that reading beyond it is seen */
		memcpy(copy, t->bytes + from, n);
		ret = rvt_stream_feed(stream, copy, n, from);
		free(copy);
		from += n;
	}
	return ret ? ret : rvt_stream_finish(stream);
}

static void add_stats(struct rvt_stream_stats *sum, struct rvt_stream *stream)
{
	struct rvt_stream_stats stats = { .size = sizeof(stats) };

	rvt_stream_stats(stream, &stats);
	sum->messages += stats.messages;
	sum->syncs += stats.syncs;
	sum->errors += stats.errors;
	sum->idle_bytes += stats.idle_bytes;
	sum->skipped_bytes += stats.skipped_bytes;
	sum->lost_reports += stats.lost_reports;
}

/* @slice: the size of a slice is up to so many bytes; 0: the whole. Returns what feed() did. */
static int decode(struct trip *t, unsigned int slice, struct rvt_stream_stats *sum)
{
	const struct rvt_stream_ops ops = { .size = sizeof(ops), .ctx = t,
					    .flow = on_source, .event = on_stream_event };
	struct rvt_flow_edge edge;
	bool extended = false;
	size_t from = 0;
	int ret = 0;

	begin(t);
	memset(sum, 0, sizeof(*sum));
	while (from < t->len && !ret && !extended) {
		size_t to = slice ? from + hart_random(t->hart, slice) : t->len;
		ssize_t more = to < t->len ? rvt_stream_boundary(&t->params, t->bytes + to,
								 t->len - to) : -1;
		struct rvt_stream *stream;

		to = more < 0 ? t->len : to + more;
		assert_int_equal(rvt_stream_create(&t->params, &ops, &stream), 0);
		if (slice)
			rvt_stream_slice(stream, from, to == t->len ? UINT64_MAX : to);
		ret = feed(t, stream, from);
		extended = rvt_stream_slice_extended(stream);
		t->n_slices += to < t->len && !extended;
		if (rvt_flow_left(t->flow, &edge))
			count_edge(t, edge.from, edge.to, edge.iclass, 1);
		add_stats(sum, stream);
		rvt_stream_destroy(stream);
		from = to;
	}
	end(t);
	return ret;
}

/* ---- the test ---- */

static void compare(struct trip *t, uint64_t seed)
{
	struct rvt_stream_stats whole = { .size = sizeof(whole) }, slices = whole;
	struct told before;

	if (decode(t, 0, &whole))	/* too long */
		return;
	before = t->told;
	before.words = malloc(before.n * sizeof(uint64_t) + 1);
	memcpy(before.words, t->told.words, before.n * sizeof(uint64_t));
	assert_int_equal(decode(t, 2000, &slices), 0);
	for (size_t i = 0; i < before.n && i < t->told.n; i++)
		if (before.words[i] != t->told.words[i])
			fail_msg("seed %lu: told word %zu is 0x%lx, not 0x%lx", seed, i,
				 t->told.words[i], before.words[i]);
	if (before.n != t->told.n || before.runs != t->told.runs || before.edges != t->told.edges ||
	    before.insns != t->told.insns || memcmp(&whole, &slices, sizeof(whole)))
		fail_msg("seed %lu (counts: %d, options 0x%x): whole: %zu words, %lu instructions, "
			 "edges %lx, %lu messages, %lu syncs, %lu errors, %lu idle, %lu skipped; "
			 "slices: %zu, %lu, %lx, %lu, %lu, %lu, %lu, %lu", seed, t->counts,
			 t->params.options, before.n, before.insns, before.edges, whole.messages,
			 whole.syncs, whole.errors, whole.idle_bytes, whole.skipped_bytes,
			 t->told.n, t->told.insns, t->told.edges, slices.messages, slices.syncs,
			 slices.errors, slices.idle_bytes, slices.skipped_bytes);
	free(before.words);
}

static unsigned int check(uint64_t seed, bool damaged)
{
	struct trip *t = calloc(1, sizeof(*t));
	unsigned int n_slices;

	t->hart = hart_create(seed, false);
	t->bytes = malloc(MAX_BYTES);
	t->told.words = malloc(MAX_TOLD * sizeof(uint64_t));
	random_params(t);
	t->refuse = seed % 4 ? 0 : 200;
	encode(t, 1 + hart_random(t->hart, 4));
	for (unsigned int i = 0; damaged && i <= seed % 3; i++)
		damage(t);
	compare(t, seed);
	t->counts = true;
	compare(t, seed);
	n_slices = t->n_slices;
	hart_destroy(t->hart);
	free(t->told.words);
	free(t->bytes);
	free(t);
	return n_slices;
}

static void test_slices(void **state)
{
	const char *text = getenv("RVT_SLICES_CASES");
	uint64_t n = text ? strtoull(text, NULL, 0) : 80;
	unsigned int n_slices = 0;

	for (uint64_t seed = 1; seed <= n; seed++)
		n_slices += check(seed, *state != NULL);
	/* slices, and not one that always becomes the whole */
	assert_true(n_slices > n);
}

/*
 * Frames of which all bytes are the same can be read from any byte on; where the first one ends
 * shows when null packets come, behind which all readings are one.
 */
static void test_sure_boundary(void **state)
{
	enum { FRAMES = 200, FRAME_BYTES = 2, NULLS = 3 };
	const size_t nulls = 1 + FRAMES * FRAME_BYTES, behind = nulls + NULLS;
	uint8_t bytes[1 + 2 * FRAMES * FRAME_BYTES + NULLS];
	struct rvt_params params;
	ssize_t found;

	(void)state;
	rvt_params_init(&params, RVT_PROTOCOL_ETRACE, RVT_DIALECT_ETRACE_2_0);
	/* the first byte is the end of a frame; 1 is a length, and a packet of that length */
	memset(bytes, 1, sizeof(bytes));
	memset(bytes + nulls, 0, NULLS);
	assert_int_equal(rvt_stream_boundary(&params, bytes, behind), -1);
	found = rvt_stream_boundary(&params, bytes, sizeof(bytes));
	assert_in_range(found, behind, sizeof(bytes));
	assert_int_equal((found - behind) % FRAME_BYTES, 0);
}

int main(void)
{
	static bool damaged = true;
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sure_boundary),
		cmocka_unit_test(test_slices),
		cmocka_unit_test_prestate(test_slices, &damaged),
	};

	return cmocka_run_group_tests_name("etrace slices", tests, NULL, NULL);
}
