// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * N-Trace, BTM: what came before is taken by its bytes, several messages at once. The same trace
 * comes again and again until nearly all of it is; what that tells must be what the walk tells that
 * executes one instruction at a time, wherever the bytes are cut into pieces, and damaged ones,
 * too.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <rvtrace/image.h>
#include <rvtrace/ntrace.h>
#include <rvtrace/stream.h>
#include "flow/memo/memos.h"
#include "property.h"
#include "random-hart.h"
#include "rv-asm.h"
#include "told-sums.h"

#define MAX_BYTES (1 << 18)
#define STEPS 1500		/* of the hart */
#define TIMES 8			/* the trace comes */
#define CUTS 150		/* bytes in a row, behind each of which it is cut */
#define BAD_BITS 8

struct trip {
	struct hart *hart;
	const uint8_t *code;		/* HART_BYTES at HART_BASE */
	struct rvt_params params;
	struct rvt_ntrace_encoder_config config;
	struct rvt_ntrace_encoder *enc;
	uint8_t *bytes;
	size_t len;
	uint64_t now;
	bool reference, counts, remaps;
	uint64_t asks_from;		/* time stamps from here on */
	struct rvt_space *space;
	struct rvt_flow *flow;
	unsigned int n_batches;
	struct told_sums told, expected;
};

/* ---- a trace ---- */

static int emit(void *ctx, const uint8_t *bytes, size_t len)
{
	struct trip *t = ctx;

	assert_true(t->len + len < MAX_BYTES);
	memcpy(t->bytes + t->len, bytes, len);
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
	rvt_ntrace_encoder_retire(((struct trip *)ctx)->enc, run);
}

static void on_trap(void *ctx, const struct rvt_trap *trap)
{
	rvt_ntrace_encoder_trap(((struct trip *)ctx)->enc, trap);
}

static void random_config(struct trip *t)
{
	static const unsigned int options[] = {
		0, 0, RVT_OPT_SEQUENTIAL_JUMP, RVT_OPT_IMPLICIT_RETURN,
		RVT_OPT_IMPLICIT_RETURN | RVT_OPT_SEQUENTIAL_JUMP,
	};
	struct rvt_params *p = &t->params;
	struct hart *h = t->hart;

	rvt_params_init(p, RVT_PROTOCOL_NTRACE, RVT_DIALECT_NTRACE_1_0);
	p->options = options[hart_random(h, sizeof(options) / sizeof(*options))];
	/* A counter (mode 1) only suits programs that return where they were called. */
	p->implicit_return_mode = p->options & RVT_OPT_IMPLICIT_RETURN ?
				  2 + hart_random(h, 2) : 0;
	p->mode = hart_random(h, 2) ? RVT_MODE_BTM : RVT_MODE_AUTO;
	/* With time stamps and several sources there are no groups. */
	p->timestamp = hart_random(h, 8) ? RVT_TIMESTAMP_NONE : RVT_TIMESTAMP_DELTA;
	p->src_bits = hart_random(h, 8) ? 0 : 3;
	t->config = (struct rvt_ntrace_encoder_config){
		.dialect = p->dialect, .mode = RVT_MODE_BTM, .xlen = p->xlen,
		.options = p->options, .implicit_return_mode = p->implicit_return_mode,
		.return_stack_depth = 1 + hart_random(h, 32), .timestamp = p->timestamp,
		.src_bits = p->src_bits, .sync_mode = 3 * hart_random(h, 2),
		.sync_max = hart_random(h, 4), .icnt_bits = 8 + hart_random(h, 15),
		.hist_bits = 32, .bcnt_bits = hart_random(h, 2) * (1 + hart_random(h, 18)),
		.emit = emit, .now = now, .ctx = t,
	};
}

static void encode(struct trip *t)
{
	const struct hart_sink sink = { t, on_retire, on_trap };

	assert_int_equal(rvt_ntrace_encoder_create(&t->config, &t->enc), 0);
	rvt_ntrace_encoder_start(t->enc, RVT_NTRACE_SYNC_TRACE_ENABLE);
	hart_run(t->hart, &sink, STEPS);
	rvt_ntrace_encoder_stop(t->enc, RVT_NTRACE_EV_TRACE_DISABLED, hart_pc(t->hart));
	rvt_ntrace_encoder_destroy(t->enc);
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
	struct trip *t = ctx;

	t->told.losses += event->type == RVT_EVENT_LOST;
	if (event->type == RVT_EVENT_TIME && event->time >= t->asks_from)
		t->told.times += told_hash(event->time + told_hash(event->offset));
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
	(void)iclass;
	((struct trip *)ctx)->told.edges += times * told_hash(from + told_hash(to));
	return 0;
}

static struct rvt_flow *on_source(void *ctx, unsigned int src)
{
	return src ? NULL : ((struct trip *)ctx)->flow;
}

/* Whether @s is of several messages: their ends are among its bytes. */
static bool is_group(const struct rvt_memo *s)
{
	unsigned int ends = 0;

	for (unsigned int i = 0; i < 16; i++)
		ends += (s->key.bytes[i / 8] >> i % 8 * 8 & 3) == 3;
	return s->key.mapping_id && ends > 1;
}

static unsigned int n_groups(const struct rvt_memos *memos)
{
	unsigned int n = 0;

	for (unsigned int i = 0; memos && i < RVT_MEMO_ENTRIES; i++)
		n += is_group(&memos->memos[i]);
	return n;
}

static void create_flow(struct trip *t)
{
	const struct rvt_flow_sink sink = { .size = sizeof(sink), .ctx = t, .runs = on_runs,
		.event = on_event };
	struct rvt_flow_config config = { .size = sizeof(config) };

	rvt_stream_flow_config(&t->params, &config);
	config.reference_walk = t->reference;
	assert_int_equal(rvt_flow_create(&config, &sink, &t->flow), 0);
	if (t->counts)
		assert_int_equal(rvt_flow_count(t->flow), 0);
	rvt_flow_set_space(t->flow, t->space);
	rvt_flow_set_time_filter(t->flow, t->asks_from);
}

/* Returns how many memos of groups there were. */
static unsigned int end_flow(struct trip *t)
{
	const struct rvt_count_sink sink = { .size = sizeof(sink), .ctx = t, .run = count_run,
		.edge = count_edge };
	unsigned int groups;

	if (t->counts)
		assert_int_equal(rvt_flow_counts(t->flow, &sink), 0);
	groups = n_groups(t->flow->base.memos);
	rvt_flow_destroy(t->flow);
	return groups;
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
	unsigned int groups;

	t->told = (struct told_sums){ .insns = 0 };
	assert_int_equal(rvt_image_create(&image), 0);
	assert_int_equal(rvt_space_create(image, NULL, &t->space), 0);
	map_program(t);
	create_flow(t);
	assert_int_equal(rvt_stream_create(&t->params, &ops, &stream), 0);
	feed_copy(stream, t->bytes, 0, cut);
	feed_copy(stream, t->bytes, cut, t->len * TIMES);
	assert_int_equal(rvt_stream_finish(stream), 0);
	groups = end_flow(t);
	told_stream(&t->told, stream);
	rvt_stream_destroy(stream);
	rvt_image_destroy(image);
	return groups;
}

static void check_told(struct trip *t, uint64_t seed, size_t cut)
{
	/* Edges are counted, but not told. */
	const uint64_t edges = t->expected.edges;

	if (!t->counts)
		t->expected.edges = 0;
	told_check(&t->told, &t->expected, "seed %lu, options 0x%x, counts %d, cut at %zu of "
		   "%d * %zu", seed, t->params.options, t->counts, cut, TIMES, t->len);
	t->expected.edges = edges;
}

/* What the reference walk tells of the trace is expected. */
static void expect_of_reference(struct trip *t)
{
	t->reference = t->counts = true;
	decode(t, t->len);
	t->reference = t->counts = false;
	t->expected = t->told;
}

static struct trip *new_trip(uint64_t seed)
{
	struct trip *t = calloc(1, sizeof(*t));

	t->hart = hart_create(seed, false);
	t->code = hart_code(t->hart);
	t->bytes = malloc(TIMES * MAX_BYTES);
	random_config(t);
	return t;
}

/* The trace comes TIMES times, and is whole. */
static void expect(struct trip *t)
{
	for (unsigned int i = 1; i < TIMES; i++)
		memcpy(t->bytes + i * t->len, t->bytes, t->len);
	expect_of_reference(t);
	assert_int_equal(t->expected.errors, 0);
	assert_int_equal(t->expected.losses, 0);
}

static struct trip *make_trip(uint64_t seed)
{
	struct trip *t = new_trip(seed);

	encode(t);
	/* Somebody asks for times from the middle on, from the beginning, or for none. */
	t->asks_from = hart_random(t->hart, 3) ? t->now / 2 * hart_random(t->hart, 2) : UINT64_MAX;
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

/* What contradicts itself or the program is no memo. */
static void test_damaged(void **state)
{
	const uint64_t cases = property_share(60);
	uint64_t errors = 0;

	(void)state;
	for (uint64_t seed = 401; seed < 401 + cases; seed++) {
		struct trip *t = make_trip(seed);

		for (unsigned int i = 0; i < BAD_BITS; i++)
			t->bytes[(2 + hart_random(t->hart, TIMES - 2)) * t->len +
				 hart_random(t->hart, t->len)] ^= 1u << hart_random(t->hart, 8);
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

/*
 * Two places lead into one row of branches, of which the first ones fill a group. The next group
 * begins where it is the same code, and ends with a jump to one of the two places: by the same
 * bytes from one to the other, as an address is told as what differs from the last one.
 */
#define PLACE(n) (HART_BASE + 64 * (n))
#define ROW (HART_BASE + 128)
#define BRANCHES 9
#define ROUNDS 400

static uint8_t *put(uint8_t *p, uint32_t code)
{
	for (unsigned int i = 0; i < 4; i++)
		p[i] = code >> 8 * i;
	return p + 4;
}

static void make_row(uint8_t code[HART_BYTES])
{
	uint8_t *p = code + (ROW - HART_BASE);

	for (unsigned int n = 0; n < 2; n++)
		put(code + 64 * n, rv_branch(ROW - PLACE(n)));
	for (unsigned int i = 0; i < BRANCHES; i++)
		p = put(put(p, rv_branch(8)), RV_NOP);
	put(p, rv_jalr(RV_ZERO, RV_T1, 0));
}

/* The instruction at @pc is all that is executed. */
static void jump(struct trip *t, uint64_t pc, enum rvt_itype itype)
{
	const struct rvt_retire run = {
		.first_pc = pc, .last_pc = pc, .insns = 1, .halfwords = 2, .last_halfwords = 2,
		.itype = itype,
	};

	rvt_ntrace_encoder_retire(t->enc, &run);
}

static void encode_places(struct trip *t)
{
	unsigned int place = 0;

	assert_int_equal(rvt_ntrace_encoder_create(&t->config, &t->enc), 0);
	rvt_ntrace_encoder_start(t->enc, RVT_NTRACE_SYNC_TRACE_ENABLE);
	for (unsigned int i = 0; i < ROUNDS; i++) {
		jump(t, PLACE(place), RVT_ITYPE_BRANCH_TAKEN);
		for (unsigned int k = 0; k < BRANCHES; k++)
			jump(t, ROW + 8 * k, RVT_ITYPE_BRANCH_TAKEN);
		jump(t, ROW + 8 * BRANCHES, RVT_ITYPE_IND_JUMP);
		place = hart_random(t->hart, 2);
	}
	rvt_ntrace_encoder_stop(t->enc, RVT_NTRACE_EV_TRACE_DISABLED, PLACE(place));
	rvt_ntrace_encoder_destroy(t->enc);
}

static void test_same_bytes(void **state)
{
	static uint8_t code[HART_BYTES];
	unsigned int groups = 0;

	(void)state;
	make_row(code);
	for (uint64_t seed = 301; seed < 301 + 8; seed++) {
		struct trip *t = new_trip(seed);

		t->code = code;
		encode_places(t);
		expect(t);
		assert_int_equal(t->expected.insns, TIMES * ROUNDS * (BRANCHES + 2));
		t->counts = true;
		groups += decode(t, t->len);
		check_told(t, seed, t->len);
		free_trip(t);
	}
	assert_true(groups > 8 * 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_again_and_again),
		cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_cut_anywhere),
		cmocka_unit_test(test_same_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
