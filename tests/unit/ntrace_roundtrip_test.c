// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * N-Trace, encoder and decoder: random programs under random options come back as they ran; and
 * damaged input ends by itself, is reported, and invents no address.
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
#include <rvtrace/ntrace.h>
#include <rvtrace/stream.h>
#include "random-hart.h"

#define MAX_BYTES (1 << 20)
#define MAX_FOUND (1 << 18)

struct trip {
	struct hart *hart;
	struct rvt_ntrace_encoder_config config;
	struct rvt_ntrace_encoder *enc;
	struct rvt_params params;
	uint8_t *bytes;
	size_t len;
	uint64_t now;
	unsigned int refuse;		/* emit refuses one message of so many; 0: none */
	unsigned int no_room;		/* how often room() is still false */
	/* decoded */
	bool reference;
	struct rvt_image *image;
	struct hart_truth *found;
	size_t n_found;
	size_t n_starts, n_lost, n_stops;
	size_t gap[4096];		/* found[gap[i]] is the first after a gap */
	uint64_t time;
	bool bad_pc;
	char lost[200];			/* the first report */
	uint64_t lost_offsets;		/* of all reports: sum */
};

/* ---- encoding ---- */

static int emit(void *ctx, const uint8_t *bytes, size_t len)
{
	struct trip *t = ctx;

	if (t->refuse && hart_random(t->hart, t->refuse) == 0) {
		t->no_room = hart_random(t->hart, 20);
		return -ENOSPC;
	}
	if (t->len + len > MAX_BYTES)
		abort();
	memcpy(t->bytes + t->len, bytes, len);
	t->len += len;
	if (hart_random(t->hart, 30) == 0)
		t->bytes[t->len++] = 0xff;	/* idle */
	return 0;
}

static bool room(void *ctx)
{
	struct trip *t = ctx;

	return !t->no_room || !--t->no_room;
}

static uint64_t now(void *ctx)
{
	struct trip *t = ctx;

	return t->now += hart_random(t->hart, 100);
}

static void on_retire(void *ctx, const struct rvt_retire *run)
{
	struct trip *t = ctx;

	rvt_ntrace_encoder_retire(t->enc, run);
	if (hart_random(t->hart, 200) == 0)
		rvt_ntrace_encoder_mark(t->enc, hart_random(t->hart, 2) ?
					RVT_NTRACE_SYNC_TRACE_EVENT : RVT_NTRACE_SYNC_EXT_TRIGGER);
	if (t->config.context && hart_random(t->hart, 50) == 0) {
		bool guest = hart_random(t->hart, 2);

		rvt_ntrace_encoder_context(t->enc, guest, hart_random(t->hart, 1000));
	}
}

static void on_trap(void *ctx, const struct rvt_trap *trap)
{
	rvt_ntrace_encoder_trap(((struct trip *)ctx)->enc, trap);
}

static void random_options(struct trip *t)
{
	struct rvt_ntrace_encoder_config *c = &t->config;
	struct hart *h = t->hart;

	c->dialect = hart_random(h, 2) ? RVT_DIALECT_NTRACE_RC7 : RVT_DIALECT_NTRACE_1_0;
	c->mode = hart_random(h, 2) ? RVT_MODE_BTM : RVT_MODE_HTM;
	c->xlen = hart_random(h, 4) ? 64 : 32;
	if (hart_random(h, 2)) {
		c->options |= RVT_OPT_IMPLICIT_RETURN;
		c->implicit_return_mode = 1 + hart_random(h, 3);
		/* A counter (mode 1) only suits programs that return where they were called. */
		if (c->implicit_return_mode == 1)
			c->implicit_return_mode = 3;
		c->return_stack_depth = 1 + hart_random(h, 32);
	}
	if (hart_random(h, 2))
		c->options |= RVT_OPT_SEQUENTIAL_JUMP;
	if (hart_random(h, 2))
		c->options |= RVT_OPT_REPEATED_HISTORY;
	if (hart_random(h, 4) == 0)
		c->options |= RVT_OPT_ALL_JUMPS;
	if (hart_random(h, 2))
		c->options |= RVT_OPT_EXTEND_ADDRESS_MSB;
	c->src_bits = hart_random(h, 2) ? hart_random(h, 13) : 0;
	c->src = c->src_bits ? hart_random(h, 1 << c->src_bits) : 0;
	c->context = hart_random(h, 2);
	c->timestamp = hart_random(h, 3);
	c->sync_mode = hart_random(h, 4);
	c->sync_max = hart_random(h, 8);
	c->icnt_bits = hart_random(h, 2) ? 22 : 5 + hart_random(h, 8);
	c->hist_bits = hart_random(h, 2) ? 32 : 2 + hart_random(h, 31);
	c->hrepeat_bits = 2 + hart_random(h, 17);
	c->bcnt_bits = 1 + hart_random(h, 18);
	c->emit = emit;
	c->room = room;
	c->now = now;
	c->ctx = t;
}

static void set_params(struct trip *t)
{
	rvt_params_init(&t->params, RVT_PROTOCOL_NTRACE, t->config.dialect);
	t->params.mode = hart_random(t->hart, 2) ? RVT_MODE_AUTO : t->config.mode;
	t->params.xlen = t->config.xlen;
	t->params.options = t->config.options;
	t->params.implicit_return_mode = t->config.implicit_return_mode;
	t->params.src_bits = t->config.src_bits;
	t->params.timestamp = t->config.timestamp;
}

static void encode(struct trip *t, size_t pieces)
{
	struct hart_sink sink = { t, on_retire, on_trap };

	if (rvt_ntrace_encoder_create(&t->config, &t->enc))
		fail_msg("the encoder refuses the configuration");
	for (size_t i = 0; i < pieces; i++) {
		rvt_ntrace_encoder_start(t->enc, RVT_NTRACE_SYNC_TRACE_ENABLE);
		hart_run(t->hart, &sink, hart_random(t->hart, 4) ? 3000 : hart_random(t->hart, 30));
		rvt_ntrace_encoder_stop(t->enc, RVT_NTRACE_EV_TRACE_DISABLED, hart_pc(t->hart));
	}
	rvt_ntrace_encoder_destroy(t->enc);
}

/* ---- decoding ---- */

static void add_found(struct trip *t, enum hart_record type, uint64_t pc, uint64_t target,
		      bool interrupt)
{
	if (t->n_found < MAX_FOUND)
		t->found[t->n_found++] = (struct hart_truth){ type, interrupt, pc, target };
	if (type == HART_INSN && pc - HART_BASE >= HART_BYTES)
		t->bad_pc = true;
}

static int on_runs(void *ctx, const struct rvt_run *runs, size_t n)
{
	struct trip *t = ctx;

	for (size_t i = 0; i < n; i++) {
		uint64_t pc = runs[i].block->pc;

		for (uint32_t j = 0; j < runs[i].first + runs[i].count; j++) {
			if (j >= runs[i].first)
				add_found(t, HART_INSN, pc, 0, false);
			pc += 2 * runs[i].block->halfwords[j];
		}
	}
	/* A damaged counter may ask for very much. */
	return t->n_found == MAX_FOUND ? 99 : 0;
}

static int on_event(void *ctx, const struct rvt_event *event)
{
	struct trip *t = ctx;

	switch (event->type) {
	case RVT_EVENT_START:
		if (t->n_starts < sizeof(t->gap) / sizeof(t->gap[0]))
			t->gap[t->n_starts] = t->n_found;
		t->n_starts++;
		break;
	case RVT_EVENT_STOP:
		t->n_stops++;
		break;
	case RVT_EVENT_TRAP:
		add_found(t, HART_TRAP, event->pc, event->target, event->interrupt);
		break;
	case RVT_EVENT_LOST:
		t->lost_offsets += event->offset * event->reason;
		if (!t->n_lost++)
			snprintf(t->lost, sizeof(t->lost), "offset 0x%lx: %s", event->offset,
				 event->detail);
		break;
	case RVT_EVENT_TIME:
		t->time = event->time;
		break;
	default:
		break;
	}
	return 0;
}

struct flow_of {
	struct trip *trip;
	struct rvt_flow *flow, *kept;
	struct rvt_space *space;
};

static struct rvt_flow *on_source(void *ctx, unsigned int src)
{
	struct flow_of *f = ctx;
	struct rvt_flow_sink sink = { .size = sizeof(sink), .ctx = f->trip, .runs = on_runs,
		.event = on_event };
	struct rvt_flow_config config = { .size = sizeof(config) };

	if (f->flow || src != f->trip->config.src)
		return NULL;
	if (f->kept) {
		f->flow = f->kept;
		return f->flow;
	}
	rvt_stream_flow_config(&f->trip->params, &config);
	config.reference_walk = f->trip->reference;
	assert_int_equal(rvt_flow_create(&config, &sink, &f->flow), 0);
	rvt_flow_set_space(f->flow, f->space);
	return f->flow;
}

/* Damage that is no source's. */
static int on_damage(void *ctx, const struct rvt_event *event)
{
	const struct flow_of *f = ctx;

	return on_event(f->trip, event);
}

static void begin_decoding(struct trip *t, struct flow_of *f)
{
	t->n_found = t->n_starts = t->n_lost = t->n_stops = 0;
	t->lost_offsets = 0;
	t->bad_pc = false;
	t->lost[0] = 0;
	*f = (struct flow_of){ .trip = t };
	assert_int_equal(rvt_image_create(&t->image), 0);
	assert_int_equal(rvt_space_create(t->image, NULL, &f->space), 0);
	rvt_space_map_bytes(f->space, HART_BASE, hart_code(t->hart), HART_BYTES, "program");
}

/* Feeds [from, to) in pieces of random length, until a slice is done. */
static int feed_range(struct trip *t, struct rvt_stream *stream, const uint8_t *bytes, size_t from,
		      size_t to)
{
	int ret = 0;

	while (from < to && !ret && !rvt_stream_slice_done(stream)) {
		size_t n = 1 + hart_random(t->hart, hart_random(t->hart, 2) ? 20 : 5000);
		uint8_t *copy;

		/* the mode is found in what is there: a first piece without branches has none */
		if (t->params.mode == RVT_MODE_AUTO || n > to - from)
			n = to - from;
		copy = malloc(n);	/* so that reading beyond it is seen */
		memcpy(copy, bytes + from, n);
		ret = rvt_stream_feed(stream, copy, n, from);
		free(copy);
		from += n;
	}
	return ret ? ret : rvt_stream_finish(stream);
}

/* Returns what the stream did. */
static int decode(struct trip *t, const uint8_t *bytes, size_t len, struct rvt_stream_stats *stats)
{
	struct flow_of f;
	struct rvt_stream_ops ops = { .size = sizeof(ops), .ctx = &f,
				      .flow = on_source, .event = on_damage };
	struct rvt_stream *stream;
	int ret;

	begin_decoding(t, &f);
	assert_int_equal(rvt_stream_create(&t->params, &ops, &stream), 0);
	ret = feed_range(t, stream, bytes, 0, len);
	rvt_stream_stats(stream, stats);
	rvt_stream_destroy(stream);
	rvt_flow_destroy(f.flow);
	rvt_image_destroy(t->image);
	return ret;
}

static void add_stats(struct rvt_stream_stats *sum, const struct rvt_stream_stats *part)
{
	sum->messages += part->messages;
	sum->syncs += part->syncs;
	sum->errors += part->errors;
	sum->lost_reports += part->lost_reports;
}

/* The same in slices that begin at random places. The flow is used for all. */
static int decode_parts(struct trip *t, const uint8_t *bytes, size_t len,
			struct rvt_stream_stats *sum)
{
	struct flow_of f;
	struct rvt_flow *flow = NULL;
	size_t from = 0;
	int ret = 0;

	begin_decoding(t, &f);
	memset(sum, 0, sizeof(*sum));
	while (from < len && !ret) {
		struct rvt_stream_ops ops = { .size = sizeof(ops), .ctx = &f,
					      .flow = on_source, .event = on_damage };
		size_t to = from + hart_random(t->hart, 2000);
		struct rvt_stream_stats stats = { .size = sizeof(stats) };
		struct rvt_stream *stream;
		ssize_t more = to < len ? rvt_stream_boundary(&t->params, bytes + to, len - to) :
					  -1;

		to = more < 0 ? len : to + more;
		assert_int_equal(rvt_stream_create(&t->params, &ops, &stream), 0);
		assert_int_equal(rvt_stream_slice(stream, from, to == len ? UINT64_MAX : to), 0);
		flow = f.flow ? f.flow : flow;
		f.flow = NULL;
		f.kept = flow;
		ret = feed_range(t, stream, bytes, from, len);
		rvt_stream_stats(stream, &stats);
		add_stats(sum, &stats);
		rvt_stream_destroy(stream);
		from = to;
	}
	rvt_flow_destroy(f.flow ? f.flow : flow);
	rvt_image_destroy(t->image);
	return ret;
}

static struct trip *trip_create(uint64_t seed)
{
	struct trip *t = calloc(1, sizeof(*t));

	t->hart = hart_create(seed, false);
	t->bytes = malloc(MAX_BYTES);
	t->found = malloc(MAX_FOUND * sizeof(t->found[0]));
	random_options(t);
	set_params(t);
	return t;
}

static void trip_destroy(struct trip *t)
{
	hart_destroy(t->hart);
	free(t->bytes);
	free(t->found);
	free(t);
}

static void describe(const struct trip *t, uint64_t seed)
{
	const struct rvt_ntrace_encoder_config *c = &t->config;
	char name[64];
	FILE *f;

	print_error("seed %lu: dialect %d mode %d xlen %u options 0x%x implicit %u depth %u "
		    "src %u/%u context %d timestamp %d sync %u/%u icnt %u hist %u "
		    "hrepeat %u bcnt %u%s\n",
		    seed, c->dialect, c->mode, c->xlen, c->options, c->implicit_return_mode,
		    c->return_stack_depth, c->src, c->src_bits, c->context, c->timestamp,
		    c->sync_mode, c->sync_max, c->icnt_bits, c->hist_bits, c->hrepeat_bits,
		    c->bcnt_bits, t->reference ? " (reference walk)" : "");
	print_error("lost %zu: %s\n", t->n_lost, t->lost);
	/* what is needed to look into it by hand */
	if (!getenv("RVT_KEEP"))
		return;
	snprintf(name, sizeof(name), "/tmp/rvt-trip-%lu.trace", seed);
	f = fopen(name, "w");
	fwrite(t->bytes, 1, t->len, f);
	fclose(f);
	snprintf(name, sizeof(name), "/tmp/rvt-trip-%lu.code", seed);
	f = fopen(name, "w");
	fwrite(hart_code(t->hart), 1, HART_BYTES, f);
	fclose(f);
}

static bool same(const struct hart_truth *a, const struct hart_truth *b)
{
	return a->type == b->type && a->interrupt == b->interrupt && a->pc == b->pc &&
	       a->target == b->target;
}

static void check_all(struct trip *t, uint64_t seed,
		      int (*how)(struct trip *, const uint8_t *, size_t, struct rvt_stream_stats *))
{
	struct rvt_stream_stats stats = { .size = sizeof(stats) };
	const struct hart_truth *truth;
	size_t n, i = 0;
	int ret = how(t, t->bytes, t->len, &stats);

	truth = hart_truth(t->hart, &n);
	while (i < n && i < t->n_found && same(&truth[i], &t->found[i]))
		i++;
	if (ret || t->n_lost || stats.errors || i != n || n != t->n_found) {
		describe(t, seed);
		if (i < n && i < t->n_found)
			print_error("record %zu: true %d %lx, found %d %lx\n", i, truth[i].type,
				    truth[i].pc, t->found[i].type, t->found[i].pc);
		fail_msg("returned %d, %zu of %zu records right, %zu found, %lu errors", ret, i, n,
			 t->n_found, stats.errors);
	}
	/* the time of the last message */
	if (t->config.timestamp && n)
		assert_int_equal(t->time, t->now);
}

static size_t n_seeds(void)
{
	const char *text = getenv("RVT_SEEDS");

	return text ? strtoul(text, NULL, 0) : 60;
}

static void test_round_trip(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= n_seeds(); seed++) {
		struct trip *t = trip_create(seed);

		encode(t, 1 + hart_random(t->hart, 4));
		t->reference = false;
		check_all(t, seed, decode);
		check_all(t, seed, decode_parts);
		t->reference = true;
		check_all(t, seed, decode);
		trip_destroy(t);
	}
}

/*
 * The encoder loses messages: gaps are reported, and what is decoded between them is true and in
 * order.
 */
static void check_pieces(struct trip *t, uint64_t seed)
{
	const struct hart_truth *truth;
	size_t n, from = 0;

	truth = hart_truth(t->hart, &n);
	for (size_t g = 0; g < t->n_starts && g < sizeof(t->gap) / sizeof(t->gap[0]); g++) {
		size_t first = t->gap[g], last = g + 1 < t->n_starts ? t->gap[g + 1] : t->n_found;
		size_t at = from, len = 0;

		for (; at < n; at++) {
			for (len = 0; first + len < last && at + len < n &&
				      same(&truth[at + len], &t->found[first + len]); len++)
				;
			if (first + len == last)
				break;
		}
		if (at == n && first < last) {
			describe(t, seed);
			fail_msg("piece %zu [%zu, %zu) is not in the truth behind %zu", g, first,
				 last, from);
		}
		from = at + len;
	}
}

static void test_overflow(void **state)
{
	(void)state;
	for (uint64_t seed = 1001; seed <= 1000 + n_seeds(); seed++) {
		struct trip *t = trip_create(seed);
		struct rvt_stream_stats stats = { .size = sizeof(stats) };

		t->refuse = 40;
		encode(t, 1 + hart_random(t->hart, 4));
		if (decode(t, t->bytes, t->len, &stats) || stats.errors) {
			describe(t, seed);
			fail_msg("an overflow is no error of the stream");
		}
		check_pieces(t, seed);
		trip_destroy(t);
	}
}

/* ---- damage ---- */

static size_t damage(struct trip *t, uint8_t *bytes, size_t len)
{
	struct hart *h = t->hart;
	size_t at = hart_random(h, len), n = 1 + hart_random(h, 40);

	if (n > len - at)
		n = len - at;
	switch (hart_random(h, 6)) {
	case 0:		/* a cut */
		memmove(bytes + at, bytes + at + n, len - at - n);
		return len - n;
	case 1:		/* flipped bits */
		for (size_t i = 0; i < n; i++) {
			uint8_t *byte = &bytes[hart_random(h, len)];

			*byte ^= 1 << hart_random(h, 8);
		}
		return len;
	case 2:
		memset(bytes + at, 0, n);
		return len;
	case 3:		/* noise */
		for (size_t i = 0; i < n; i++)
			bytes[at + i] = hart_random(h, 256);
		return len;
	case 4:		/* the end is missing */
		return at;
	default:	/* the beginning is missing */
		memmove(bytes, bytes + at, len - at);
		return len - at;
	}
}

static void test_damage(void **state)
{
	(void)state;
	for (uint64_t seed = 2001; seed <= 2000 + n_seeds(); seed++) {
		struct trip *t = trip_create(seed);
		uint8_t *copy = malloc(MAX_BYTES);

		encode(t, 1);
		for (int i = 0; i < 10; i++) {
			struct rvt_stream_stats stats = { .size = sizeof(stats) };
			size_t len = t->len;
			int ret;

			memcpy(copy, t->bytes, len);
			for (uint32_t j = 1 + hart_random(t->hart, 3); j && len > 1; j--)
				len = damage(t, copy, len);
			t->reference = i & 1;
			ret = decode(t, copy, len, &stats);
			if (t->bad_pc || (ret && ret != 99)) {
				describe(t, seed);
				fail_msg("returned %d, bad pc: %d", ret, t->bad_pc);
			}
		}
		free(copy);
		trip_destroy(t);
	}
}

/* Damaged or not: slices give what the whole gives. */
static void check_parts(struct trip *t, const uint8_t *bytes, size_t len, uint64_t seed)
{
	struct hart_truth *whole = malloc(MAX_FOUND * sizeof(whole[0]));
	struct rvt_stream_stats a = { .size = sizeof(a) }, b = a;
	uint64_t lost_offsets;
	size_t n, n_lost;
	int ret = decode(t, bytes, len, &a);

	n = t->n_found;
	n_lost = t->n_lost;
	lost_offsets = t->lost_offsets;
	memcpy(whole, t->found, n * sizeof(whole[0]));
	if (ret) {	/* too long */
		free(whole);
		return;
	}
	ret = decode_parts(t, bytes, len, &b);
	if (ret || n != t->n_found || n_lost != t->n_lost || lost_offsets != t->lost_offsets ||
	    memcmp(whole, t->found, n * sizeof(whole[0])) || a.messages != b.messages ||
	    a.syncs != b.syncs || a.errors != b.errors || a.lost_reports != b.lost_reports) {
		describe(t, seed);
		fail_msg("whole: %zu records, %zu losses, %lu messages, %lu errors; slices: "
			 "%zu, %zu, %lu, %lu", n, n_lost, a.messages, a.errors, t->n_found,
			 t->n_lost,
			 b.messages, b.errors);
	}
	free(whole);
}

static void test_parts(void **state)
{
	(void)state;
	for (uint64_t seed = 4001; seed <= 4000 + n_seeds(); seed++) {
		struct trip *t = trip_create(seed);
		uint8_t *copy = malloc(MAX_BYTES);

		/* what the mode is must not depend on where a slice begins */
		t->params.mode = t->config.mode;
		t->refuse = seed & 1 ? 100 : 0;
		encode(t, 1 + hart_random(t->hart, 4));
		for (int i = 0; i < 4; i++) {
			size_t len = t->len;

			memcpy(copy, t->bytes, len);
			for (int j = 0; j < i && len > 1; j++)
				len = damage(t, copy, len);
			check_parts(t, copy, len, seed);
		}
		free(copy);
		trip_destroy(t);
	}
}

/* Nothing but noise. */
static void test_noise(void **state)
{
	(void)state;
	for (uint64_t seed = 3001; seed <= 3000 + n_seeds(); seed++) {
		struct trip *t = trip_create(seed);
		struct rvt_stream_stats stats = { .size = sizeof(stats) };
		int ret;

		for (size_t i = 0; i < 20000; i++)
			t->bytes[i] = hart_random(t->hart, 256);
		if (seed & 1)
			memset(t->bytes, 0, 10000);
		ret = decode(t, t->bytes, 20000, &stats);
		assert_true(ret == 0 || ret == 99);
		assert_false(t->bad_pc);
		trip_destroy(t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_overflow),
		cmocka_unit_test(test_damage),
		cmocka_unit_test(test_parts),
		cmocka_unit_test(test_noise),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
