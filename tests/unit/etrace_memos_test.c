// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * E-Trace: what came before is taken by its bytes, several packets at once. The same trace comes
 * again and again until nearly all of it is; what that tells must be what the walk tells that
 * executes one instruction at a time, wherever the bytes are cut into pieces, and damaged ones,
 * too.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <rvtrace/etrace.h>
#include <rvtrace/image.h>
#include <rvtrace/stream.h>
#include "flow/memo/memos.h"
#include "property.h"
#include "random-hart.h"
#include "rv-asm.h"
#include "told-sums.h"

#define MAX_BYTES (1 << 18)
#define MAX_PACKETS (1 << 15)
#define STEPS 1500		/* of the hart */
#define TIMES 8			/* the trace comes */
#define CUTS 150		/* bytes in a row, behind each of which it is cut */
#define BAD_BITS 8

struct trip {
	struct hart *hart;
	const uint8_t *code;		/* HART_BYTES at HART_BASE */
	struct rvt_params params;
	struct rvt_etrace_encoder *enc;
	uint8_t *bytes;
	size_t len;
	uint64_t now;
	uint64_t n_packets;
	uint32_t packets[MAX_PACKETS];	/* where each begins */
	bool reference, counts, remaps;
	void (*spoil)(struct trip *t, struct rvt_memos *memos); /* or NULL */
	struct rvt_space *space;
	unsigned int n_sources;
	struct rvt_flow *flows[2];
	unsigned int n_batches;
	struct told_sums told, expected;
};

/* ---- a trace ---- */

static int emit(void *ctx, const uint8_t *bytes, size_t len)
{
	struct trip *t = ctx;

	assert_true(t->len + len < MAX_BYTES);
	assert_true(t->n_packets < MAX_PACKETS);
	memcpy(t->bytes + t->len, bytes, len);
	t->packets[t->n_packets++] = t->len;
	t->len += len;
	return 0;
}

static uint64_t now(void *ctx)
{
	struct trip *t = ctx;

	return t->now += hart_random(t->hart, 100);
}

static void on_retire(void *ctx, const struct rvt_retire *run)
{
	rvt_etrace_encoder_retire(((struct trip *)ctx)->enc, run);
}

static void on_trap(void *ctx, const struct rvt_trap *trap)
{
	rvt_etrace_encoder_trap(((struct trip *)ctx)->enc, trap);
}

static void random_params(struct trip *t)
{
	static const unsigned int options[] = {
		0, RVT_OPT_FULL_ADDRESS, RVT_OPT_SEQUENTIAL_JUMP, RVT_OPT_IMPLICIT_RETURN,
		RVT_OPT_BRANCH_PREDICTION, RVT_OPT_JUMP_TARGET_CACHE,
		RVT_OPT_BRANCH_PREDICTION | RVT_OPT_JUMP_TARGET_CACHE,
		RVT_OPT_BRANCH_PREDICTION | RVT_OPT_IMPLICIT_RETURN,
		RVT_OPT_JUMP_TARGET_CACHE | RVT_OPT_IMPLICIT_RETURN | RVT_OPT_SEQUENTIAL_JUMP,
		RVT_OPT_BRANCH_PREDICTION | RVT_OPT_JUMP_TARGET_CACHE | RVT_OPT_IMPLICIT_RETURN |
		RVT_OPT_SEQUENTIAL_JUMP,
	};
	static const unsigned int srcid_bits[] = { 0, 0, 8, 16 };
	struct rvt_params *p = &t->params;
	struct hart *h = t->hart;

	rvt_params_init(p, RVT_PROTOCOL_ETRACE, RVT_DIALECT_ETRACE_0_029 + hart_random(h, 3));
	p->iaddress_width_p = 64;
	p->nocontext_p = true;
	p->notime_p = true;
	p->ecause_width_p = 6;
	p->return_stack_size_p = 3;
	p->timestamp_bytes = hart_random(h, 4) ? 0 : 1 + hart_random(h, 8);
	p->srcid_bits = srcid_bits[hart_random(h, 4)];
	p->f0s_width_p = 1;
	p->bpred_size_p = 1 + hart_random(h, 7);
	p->cache_size_p = 1 + hart_random(h, 6);
	p->jump_cache_index = hart_random(h, 3);
	p->jump_cache_returns = hart_random(h, 2);
	p->options = options[hart_random(h, sizeof(options) / sizeof(*options))];
	p->n_ioptions = 0;
	for (unsigned int option = 1; option <= RVT_OPT_FULL_ADDRESS; option <<= 1)
		if (p->options & option)
			p->ioptions[p->n_ioptions++] = option;
}

static void encode(struct trip *t)
{
	struct rvt_etrace_encoder_config config = {
		.params = &t->params, .emit = emit, .now = now, .ctx = t,
	};
	const struct hart_sink sink = { t, on_retire, on_trap };

	assert_int_equal(rvt_etrace_encoder_create(&config, &t->enc), 0);
	rvt_etrace_encoder_start(t->enc);
	hart_run(t->hart, &sink, STEPS);
	rvt_etrace_encoder_stop(t->enc, true);
	rvt_etrace_encoder_destroy(t->enc);
}

/* ---- decoding ---- */

static void map_program(struct trip *t)
{
	assert_int_equal(rvt_space_map_bytes(t->space, HART_BASE, t->code, HART_BYTES,
					     "program"), 0);
}

static int on_runs(void *ctx, const struct rvt_run *runs, size_t n)
{
	struct trip *t = ctx;

	for (size_t i = 0; i < n; i++)
		told_run(&t->told, &runs[i], 1);
	/* what was learned holds no more, wherever that finds the decoder */
	if (t->remaps && ++t->n_batches % 4 == 0)
		map_program(t);
	return 0;
}

static int on_event(void *ctx, const struct rvt_event *event)
{
	((struct trip *)ctx)->told.losses += event->type == RVT_EVENT_LOST;
	return 0;
}

static int count_run(void *ctx, const struct rvt_run *run, uint64_t times)
{
	told_run(&((struct trip *)ctx)->told, run, times);
	return 0;
}

static int count_edge(void *ctx, uint64_t from, uint64_t to, enum rvt_insn_class iclass,
		      int64_t times)
{
	(void)ctx, (void)from, (void)to, (void)iclass, (void)times;
	return 0;
}

static struct rvt_flow *on_source(void *ctx, unsigned int src)
{
	return src < 2 ? ((struct trip *)ctx)->flows[src] : NULL;
}

/* As decoder-memo.c has it in the state of a key. */
static unsigned int n_frames(const struct rvt_memo *s)
{
	return s->key.state & 15;
}

static unsigned int n_groups(const struct rvt_memos *memos)
{
	unsigned int n = 0;

	for (unsigned int i = 0; memos && i < RVT_MEMO_ENTRIES; i++)
		n += memos->memos[i].key.mapping_id && n_frames(&memos->memos[i]) > 1;
	return n;
}

/* What decoder-memo.c notes of a memo of so many bytes, by bytes that it may be at. */
static uint32_t predictor_entry(uint32_t number, unsigned int len)
{
	return number * sizeof(struct rvt_memo) | len;
}

/*
 * What is predicted need not be right: a memo that is none of these bytes, or another length. Only
 * the latter of most, so that all else fits.
 */
static void spoil_predictors(struct trip *t, struct rvt_memos *memos)
{
	for (unsigned int i = 0; memos && i < RVT_PREDICTOR_ENTRIES; i++) {
		uint32_t *slot = &memos->predictor[i], *pair = &memos->own_predictor[i];
		uint32_t number;

		/* one number at a time: their order must not be the compiler's choice */
		if (*slot && !hart_random(t->hart, 8)) {
			number = 1 + hart_random(t->hart, memos->n_memos);
			*slot = number + hart_random(t->hart, 1 << 15) * RVT_MEMO_ENTRIES;
		}
		if (*pair && !hart_random(t->hart, 8)) {
			number = 1 + hart_random(t->hart, memos->n_memos);
			*pair = predictor_entry(number,
						hart_random(t->hart, sizeof(struct rvt_memo)));
		} else if (*pair && hart_random(t->hart, 4))
			*pair ^= hart_random(t->hart, sizeof(struct rvt_memo));
	}
}

static void create_flow(struct trip *t, struct rvt_flow **flow)
{
	const struct rvt_flow_sink sink = { .size = sizeof(sink), .ctx = t, .runs = on_runs,
		.event = on_event };
	struct rvt_flow_config config = { .size = sizeof(config) };

	rvt_stream_flow_config(&t->params, &config);
	config.reference_walk = t->reference;
	assert_int_equal(rvt_flow_create(&config, &sink, flow), 0);
	if (t->counts)
		assert_int_equal(rvt_flow_count(*flow), 0);
	rvt_flow_set_space(*flow, t->space);
}

/* Returns how many memos of groups there were. */
static unsigned int end_flow(struct trip *t, struct rvt_flow *flow)
{
	const struct rvt_count_sink sink = { .size = sizeof(sink), .ctx = t, .run = count_run,
		.edge = count_edge };
	unsigned int groups;

	if (t->counts)
		assert_int_equal(rvt_flow_counts(flow, &sink), 0);
	groups = n_groups(flow->base.memos);
	rvt_flow_destroy(flow);
	return groups;
}

static void feed_spoiling(struct trip *t, struct rvt_stream *stream, size_t to)
{
	const size_t part = to / (8 * TIMES) + 1;

	for (size_t from = 0; from < to; from += part) {
		feed_copy(stream, t->bytes, from, from + part < to ? from + part : to);
		for (unsigned int i = 0; i < t->n_sources; i++)
			t->spoil(t, t->flows[i]->base.memos);
	}
}

/*
 * Decodes all, in two pieces: up to @cut, and the rest. Returns how many memos of groups there are.
 */
static unsigned int decode(struct trip *t, size_t cut)
{
	const struct rvt_stream_ops ops = { .size = sizeof(ops), .ctx = t,
					    .flow = on_source, .event = on_event };
	struct rvt_stream *stream;
	struct rvt_image *image;
	unsigned int groups = 0;

	t->told = (struct told_sums){ .insns = 0 };
	assert_int_equal(rvt_image_create(&image), 0);
	assert_int_equal(rvt_space_create(image, NULL, &t->space), 0);
	map_program(t);
	for (unsigned int i = 0; i < t->n_sources; i++)
		create_flow(t, &t->flows[i]);
	assert_int_equal(rvt_stream_create(&t->params, &ops, &stream), 0);
	if (t->spoil)
		feed_spoiling(t, stream, cut);
	else
		feed_copy(stream, t->bytes, 0, cut);
	feed_copy(stream, t->bytes, cut, t->len * TIMES);
	assert_int_equal(rvt_stream_finish(stream), 0);
	for (unsigned int i = 0; i < t->n_sources; i++)
		groups += end_flow(t, t->flows[i]);
	told_stream(&t->told, stream);
	rvt_stream_destroy(stream);
	rvt_image_destroy(image);
	return groups;
}

static void check_told(const struct trip *t, uint64_t seed, size_t cut)
{
	told_check(&t->told, &t->expected, "seed %lu, options 0x%x, counts %d, cut at %zu of "
		   "%d * %zu", seed, t->params.options, t->counts, cut, TIMES, t->len);
}

/* What the reference walk tells of the trace is expected. */
static void expect_of_reference(struct trip *t)
{
	t->reference = true;
	decode(t, t->len);
	t->reference = false;
	t->expected = t->told;
}

/* The trace comes TIMES times, and is whole. */
static void expect(struct trip *t)
{
	for (unsigned int i = 1; i < TIMES; i++)
		memcpy(t->bytes + i * t->len, t->bytes, t->len);
	expect_of_reference(t);
	assert_int_equal(t->expected.messages, TIMES * t->n_packets);
	assert_int_equal(t->expected.errors, 0);
	assert_int_equal(t->expected.losses, 0);
}

static struct trip *new_trip(uint64_t seed)
{
	struct trip *t = calloc(1, sizeof(*t));

	t->hart = hart_create(seed, false);
	t->code = hart_code(t->hart);
	t->bytes = malloc(TIMES * MAX_BYTES);
	t->n_sources = 1;
	return t;
}

/* 2.0.5 cannot tell whether a call to where it returns to did return: programs do without then. */
static void encode_well(struct trip *t)
{
	do {
		random_params(t);
		t->len = t->n_packets = 0;
		encode(t);
		for (unsigned int i = 1; i < TIMES; i++)
			memcpy(t->bytes + i * t->len, t->bytes, t->len);
		expect_of_reference(t);
	} while (t->expected.errors && t->params.dialect == RVT_DIALECT_ETRACE_2_0_5 &&
		 t->params.options & RVT_OPT_IMPLICIT_RETURN);
}

static struct trip *make_trip(uint64_t seed)
{
	struct trip *t = new_trip(seed);

	encode_well(t);
	expect(t);
	assert_in_range(t->expected.insns, TIMES * STEPS / 10, TIMES * STEPS);
	return t;
}

static void free_trip(struct trip *t)
{
	hart_destroy(t->hart);
	free(t->bytes);
	free(t);
}

static void test_again_and_again(void **state)
{
	const uint64_t cases = property_share(200);
	unsigned int groups = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= cases; seed++) {
		struct trip *t = make_trip(seed);

		for (unsigned int way = 0; way < 3; way++) {
			t->counts = way == 0;
			t->remaps = way == 2;
			groups += decode(t, t->len);
			check_told(t, seed, t->len);
		}
		free_trip(t);
	}
	assert_true(groups > 5 * cases);
}

static void test_wrong_predictions(void **state)
{
	const uint64_t cases = property_share(60);

	(void)state;
	for (uint64_t seed = 201; seed < 201 + cases; seed++) {
		struct trip *t = make_trip(seed);

		t->counts = true;
		t->spoil = spoil_predictors;
		decode(t, t->len * TIMES);
		check_told(t, seed, t->len * TIMES);
		free_trip(t);
	}
}

/* A bit of what is known is another: one of a header, or any. */
static void damage(struct trip *t)
{
	const size_t at = hart_random(t->hart, 2) ? hart_random(t->hart, t->len) :
			  t->packets[hart_random(t->hart, t->n_packets)];
	const uint8_t bit = 1u << hart_random(t->hart, 8);

	t->bytes[(2 + hart_random(t->hart, TIMES - 2)) * t->len + at] ^= bit;
}

/* What contradicts itself or the program is no memo. */
static void test_damaged(void **state)
{
	const uint64_t cases = property_share(60);
	uint64_t errors = 0;

	(void)state;
	for (uint64_t seed = 401; seed < 401 + cases; seed++) {
		struct trip *t = make_trip(seed);

		for (unsigned int i = 0; i < BAD_BITS; i++)
			damage(t);
		expect_of_reference(t);
		errors += t->expected.errors;
		for (unsigned int way = 0; way < 2; way++) {
			t->counts = way;
			decode(t, t->len);
			check_told(t, seed, t->len);
		}
		free_trip(t);
	}
	assert_true(errors > cases);
}

/* Amid what is known. */
static void test_cut_anywhere(void **state)
{
	const size_t cuts = property_share(CUTS);

	(void)state;
	for (uint64_t seed = 101; seed <= 104; seed++) {
		struct trip *t = make_trip(seed);

		t->counts = true;
		for (size_t i = 0; i < cuts; i++) {
			const size_t cut = (TIMES - 1) * t->len + t->len / 4 + i;

			decode(t, cut);
			check_told(t, seed, cut);
		}
		free_trip(t);
	}
}

/* ---- the same bytes from different addresses ---- */

/*
 * Stations, each of which calls the same row of branches and then jumps to some station. A whole
 * row is one map without address: at its end only the last address and the outcome that is carried
 * over tell where the flow comes from, and distances between stations, which are what is reported,
 * are the same for many of them.
 */
#define STATIONS 8
#define STATION(n) (HART_BASE + 64 * (n))
#define ROW (HART_BASE + 64 * STATIONS)
#define BRANCHES 31
#define ROUNDS 500

struct ride {
	struct trip *trip;
	bool odd;			/* addresses of jumps, at times: bit 0 is ignored */
	struct rvt_etrace_encoder *enc;
	uint64_t station, n_insns;
	uint64_t from;			/* of the run that is going on */
};

static uint8_t *put(uint8_t *p, uint32_t code, unsigned int bytes)
{
	for (unsigned int i = 0; i < bytes; i++)
		p[i] = code >> 8 * i;
	return p + bytes;
}

static void make_stations(uint8_t code[HART_BYTES])
{
	uint8_t *p;

	for (unsigned int n = 0; n < STATIONS; n++) {
		p = code + 64 * n;
		p = put(p, rv_jal(RV_RA, ROW - STATION(n)), 4);
		for (unsigned int i = 0; i < n; i++)
			p = put(p, RV_NOP, 4);
		put(p, rv_jalr(RV_ZERO, RV_T1, 0), 4);
	}
	p = code + 64 * STATIONS;
	for (unsigned int i = 0; i < BRANCHES; i++)
		p = put(put(p, rv_branch(8), 4), RV_NOP, 4);
	put(p, rv_jalr(RV_ZERO, RV_RA, 0), 4);
}

/* The instruction at @last ends a run, and leads to @to. All have 4 bytes. */
static void ride_to(struct ride *r, uint64_t last, enum rvt_itype itype, uint64_t to)
{
	const unsigned int insns = 1 + (last - (r->from & ~1ull)) / 4;
	const struct rvt_retire run = {
		.first_pc = r->from, .last_pc = last, .insns = insns,
		.halfwords = 2 * insns, .last_halfwords = 2, .itype = itype,
	};

	rvt_etrace_encoder_retire(r->enc, &run);
	r->n_insns += run.insns;
	r->from = to;
}

static void ride_on(struct ride *r)
{
	static const uint32_t maps[] = { 0, 0x7fffffff, 0x40000000, 0x3fffffff };
	struct hart *h = r->trip->hart;
	const uint32_t map = maps[hart_random(h, 4)];
	const uint64_t call = STATION(r->station), jump = call + 4 + 4 * r->station;

	ride_to(r, call, RVT_ITYPE_CALL, ROW);
	for (unsigned int i = 0; i < BRANCHES; i++) {
		const uint64_t pc = ROW + 8 * i;

		if (map >> i & 1)
			ride_to(r, pc, RVT_ITYPE_BRANCH_TAKEN, pc + 8);
		else
			ride_to(r, pc, RVT_ITYPE_BRANCH_NOT_TAKEN, pc + 4);
	}
	ride_to(r, ROW + 8 * BRANCHES, RVT_ITYPE_RETURN, call + 4);
	r->station = (r->station + 1 + hart_random(h, 2)) % STATIONS;
	ride_to(r, jump, RVT_ITYPE_IND_JUMP,
		STATION(r->station) + (r->odd ? hart_random(h, 2) : 0));
}

/* A time that is like the payload of a row that went all one way. */
static uint64_t time_like_payload(void *ctx)
{
	return hart_random(((struct trip *)ctx)->hart, 2) ? 0x01 : 0x81;
}

/* Every other packet without its time, so that there are rows of packets as well. */
static int emit_some_times(void *ctx, const uint8_t *bytes, size_t len)
{
	const struct trip *t = ctx;
	const unsigned int heads = 1 + t->params.srcid_bits / 8;
	uint8_t copy[64];

	if (!(bytes[0] & 0x80) || hart_random(t->hart, 2))
		return emit(ctx, bytes, len);
	memcpy(copy, bytes, heads);
	copy[0] &= 0x7f;
	memcpy(copy + heads, bytes + heads + t->params.timestamp_bytes,
	       len - heads - t->params.timestamp_bytes);
	return emit(ctx, copy, len - t->params.timestamp_bytes);
}

static void begin_ride(struct trip *t, struct ride *r, unsigned int src)
{
	const struct rvt_etrace_encoder_config config = {
		.params = &t->params, .emit = emit_some_times, .now = time_like_payload,
		.timestamp_all = true, .ctx = t, .src = src,
	};

	*r = (struct ride){
		.trip = t, .from = STATION(0), .odd = !t->params.iaddress_lsb_p,
	};
	assert_int_equal(rvt_etrace_encoder_create(&config, &r->enc), 0);
	rvt_etrace_encoder_start(r->enc);
}

static uint64_t end_ride(struct ride *r)
{
	rvt_etrace_encoder_stop(r->enc, true);
	rvt_etrace_encoder_destroy(r->enc);
	return r->n_insns;
}

/* As many sources as there are, by turns. */
static void encode_rides(struct trip *t)
{
	struct ride rides[2];
	uint64_t n_insns = 0;

	for (unsigned int i = 0; i < t->n_sources; i++)
		begin_ride(t, &rides[i], i);
	for (unsigned int i = 0; i < ROUNDS; i++)
		ride_on(&rides[hart_random(t->hart, t->n_sources)]);
	for (unsigned int i = 0; i < t->n_sources; i++)
		n_insns += end_ride(&rides[i]);
	expect(t);
	assert_int_equal(t->expected.insns, TIMES * n_insns);
}

/*
 * Everywhere a memo is predicted that nobody may take for that: of packets that do something to the
 * return stack; but all else fits where its bytes are.
 */
static void predict_forbidden(struct trip *t, struct rvt_memos *memos)
{
	const unsigned int heads = 1 + t->params.srcid_bits / 8;
	uint32_t n = memos ? memos->n_memos : 0, from = n ? hart_random(t->hart, n) : 0;

	for (uint32_t i = 0; i < n; i++) {
		const uint32_t number = 1 + (from + i) % n;
		const struct rvt_memo *s = &memos->memos[number];

		if (!s->key.mapping_id || !(s->flags & RVT_MEMO_DELTA))
			continue;
		for (unsigned int g = 0; g < RVT_PREDICTOR_ENTRIES; g++)
			memos->own_predictor[g] =
				predictor_entry(number, heads + (s->key.state >> 4 & 31));
		return;
	}
}

static void test_same_bytes(void **state)
{
	static uint8_t code[HART_BYTES];
	unsigned int groups = 0;

	(void)state;
	make_stations(code);
	for (uint64_t seed = 301; seed < 301 + 24; seed++) {
		struct trip *t = new_trip(seed);
		const unsigned int way = seed - 301;

		random_params(t);
		t->code = code;
		t->n_sources = 1 + (way & 1);
		t->params.srcid_bits = way & 1 ? 8 : t->params.srcid_bits;
		t->params.timestamp_bytes = way >> 1 & 1;
		t->params.options = t->params.ioptions[0] =
			way & 4 ? RVT_OPT_IMPLICIT_RETURN : 0;
		t->params.iaddress_lsb_p = (way & 12) != 8;
		encode_rides(t);
		t->counts = true;
		groups += decode(t, t->len);
		check_told(t, seed, t->len);
		t->spoil = predict_forbidden;
		decode(t, t->len * TIMES);
		check_told(t, seed, t->len * TIMES);
		free_trip(t);
	}
	assert_true(groups > 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_again_and_again),
		cmocka_unit_test(test_wrong_predictions),
		cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_cut_anywhere),
		cmocka_unit_test(test_same_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
