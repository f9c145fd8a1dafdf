// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Mappings that change between messages: text pokes, munmap, exec, another process. What is
 * remembered of messages and paths must not outlive the code that it is of: the same messages,
 * decoded with and without memory, must lead through the same instructions.
 */
#include <stdlib.h>
#include <rvtrace/stream.h>
#include "flow-fixture.h"
#include "ntrace/message.h"

#define BASE 0x1000
#define MESSAGES 300
#define SLOTS 3
#define SPACES 3

static uint64_t seed;

static uint32_t rnd(uint32_t n)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (seed >> 33) % n;
}

/*
 * Code that one message leads through, again and again: slots of two half-words, a branch behind
 * each but the last that skips one more, and a jump that the message answers. Bit i of @variant:
 * slot i is one instruction, not two. So no message contradicts any variant, but the instructions
 * are not the same.
 */
static struct rv_code make_code(uint32_t variant)
{
	struct rv_code code = { .base = BASE, .pc = BASE };

	for (int i = 0; i < SLOTS; i++) {
		if (variant >> i & 1) {
			rv_put(&code, RV_NOP);
		} else {
			rv_put(&code, RV_C_NOP);
			rv_put(&code, RV_C_NOP);
		}
		if (i == SLOTS - 1)
			break;
		rv_put(&code, rv_c_branch(4));
		rv_put(&code, RV_C_NOP);
	}
	rv_put(&code, rv_c_jr(RV_RA));
	return code;
}

/* The address of slot i; behind it lie a branch and what that skips. */
static uint64_t slot(uint32_t i)
{
	return BASE + 8 * i;
}

struct world {
	struct rvt_image *image;
	struct rvt_space *spaces[SPACES];
	unsigned int current;
	struct rvt_flow *flow;
	struct rvt_stream *stream;
	struct output out;
	uint64_t counted[32];		/* by half-word */
	uint64_t seed;			/* of its changes */
	unsigned int change_every;
};

static void map_variant(struct world *w, uint32_t variant)
{
	struct rv_code code = make_code(variant);

	assert_int_equal(rvt_space_map_bytes(w->spaces[w->current], BASE, code.bytes,
					     code.pc - BASE, "program"), 0);
}

/* One of the things that a kernel does to mappings. */
static void change(struct world *w)
{
	uint64_t outer = seed;
	struct rv_code code;
	uint32_t i;

	seed = w->seed;
	switch (rnd(5)) {
	case 0:		/* a text poke: the code of one slot is replaced */
		i = rnd(SLOTS);
		code = make_code(rnd(1 << SLOTS));
		rvt_space_map_bytes(w->spaces[w->current], slot(i), code.bytes + (slot(i) - BASE),
				    4, "poke");
		break;
	case 1:		/* munmap, and nothing for a while */
		rvt_space_unmap(w->spaces[w->current], slot(rnd(SLOTS)), 4);
		break;
	case 2:		/* mmap over what was there */
		map_variant(w, rnd(1 << SLOTS));
		break;
	case 3:		/* exec */
		rvt_space_clear(w->spaces[w->current]);
		map_variant(w, rnd(1 << SLOTS));
		break;
	default:	/* another process runs */
		w->current = rnd(SPACES);
		rvt_flow_set_space(w->flow, w->spaces[w->current]);
		break;
	}
	w->seed = seed;
	seed = outer;
}

/* Every message has a time: then the mappings may change, as sideband events come into effect. */
static int change_at_times(void *ctx, const struct rvt_event *event)
{
	struct world *w = ctx;
	uint64_t outer = seed, drawn;

	if (event->type != RVT_EVENT_TIME)
		return on_event(&w->out, event);
	seed = w->seed;
	drawn = rnd(w->change_every);
	w->seed = seed;
	seed = outer;
	if (!drawn)
		change(w);
	return 0;
}

static int runs_of_world(void *ctx, const struct rvt_run *runs, size_t n)
{
	struct world *w = ctx;

	return on_runs(&w->out, runs, n);
}

static struct rvt_flow *flow_of_world(void *ctx, unsigned int src)
{
	struct world *w = ctx;

	(void)src;
	return w->flow;
}

/* A ProgTraceSync, then jumps from the end of the code to its beginning. */
static size_t make_trace(uint8_t *bytes, size_t size)
{
	struct rvt_ntrace_msg msg = {};
	size_t len = 0;

	for (int i = 0; i <= MESSAGES; i++) {
		uint32_t hist = rnd(4);

		memset(&msg, 0, sizeof(msg));
		msg.present = 1u << RVT_NTRACE_F_TSTAMP;
		msg.field[RVT_NTRACE_F_TSTAMP] = 1;
		if (!i) {
			msg.field[RVT_NTRACE_F_TCODE] = RVT_NTRACE_PROG_TRACE_SYNC;
			msg.field[RVT_NTRACE_F_SYNC] = RVT_NTRACE_SYNC_TRACE_ENABLE;
			msg.field[RVT_NTRACE_F_FADDR] = BASE >> 1;
		} else {
			msg.field[RVT_NTRACE_F_TCODE] = RVT_NTRACE_INDIRECT_BRANCH_HIST;
			/* each branch that is taken skips a half-word */
			msg.field[RVT_NTRACE_F_ICNT] = 2 * SLOTS + 2 * (SLOTS - 1) + 1 -
						       __builtin_popcount(hist);
			msg.field[RVT_NTRACE_F_HIST] = 4 | hist;
		}
		assert_true(len + RVT_NTRACE_MAX_MESSAGE_BYTES <= size);
		len += rvt_ntrace_write(&msg, 0, bytes + len);
	}
	return len;
}

static void world_create(struct world *w, bool reference_walk, bool count,
			 unsigned int change_every)
{
	struct rvt_params params = { .size = sizeof(params),
		.protocol = RVT_PROTOCOL_NTRACE, .dialect = RVT_DIALECT_NTRACE_1_0, .xlen = 64,
		.mode = RVT_MODE_HTM, .timestamp = RVT_TIMESTAMP_DELTA,
	};
	struct rvt_flow_config config = { .size = sizeof(config),
					  .reference_walk = reference_walk };
	struct rvt_flow_sink sink = { .size = sizeof(sink), .ctx = w, .runs = runs_of_world,
		.event = change_at_times };
	struct rvt_stream_ops ops = { .size = sizeof(ops), .ctx = w, .flow = flow_of_world };

	memset(w, 0, sizeof(*w));
	w->seed = seed;
	w->change_every = change_every;
	assert_int_equal(rvt_image_create(&w->image), 0);
	for (w->current = SPACES; w->current--; ) {
		assert_int_equal(rvt_space_create(w->image, NULL, &w->spaces[w->current]), 0);
		map_variant(w, w->current);
		if (!w->current)
			break;
	}
	assert_int_equal(rvt_flow_create(&config, &sink, &w->flow), 0);
	if (count)
		assert_int_equal(rvt_flow_count(w->flow), 0);
	rvt_flow_set_space(w->flow, w->spaces[0]);
	assert_int_equal(rvt_stream_create(&params, &ops, &w->stream), 0);
}

static void world_destroy(struct world *w)
{
	rvt_stream_destroy(w->stream);
	rvt_flow_destroy(w->flow);
	rvt_image_destroy(w->image);
	free(w);
}

static int count_run(void *ctx, const struct rvt_run *run, uint64_t times)
{
	struct world *w = ctx;
	uint64_t pc = run->block->pc;

	for (uint32_t i = 0; i < run->first + run->count; i++) {
		if (i >= run->first)
			w->counted[(pc - BASE) / 2] += times;
		pc += 2 * run->block->halfwords[i];
	}
	return 0;
}

static struct world *decode(const uint8_t *bytes, size_t len, bool reference_walk, bool count,
			    unsigned int change_every)
{
	struct world *w = malloc(sizeof(*w));
	struct rvt_count_sink sink = { .size = sizeof(sink), .ctx = w, .run = count_run };

	world_create(w, reference_walk, count, change_every);
	assert_int_equal(rvt_stream_feed(w->stream, bytes, len, 0), 0);
	assert_int_equal(rvt_stream_finish(w->stream), 0);
	if (count)
		assert_int_equal(rvt_flow_counts(w->flow, &sink), 0);
	for (size_t i = 0; i < w->out.n; i++)
		w->counted[(w->out.pcs[i] - BASE) / 2]++;
	return w;
}

static void test_changes(void **state)
{
	static uint8_t bytes[MESSAGES * 16];
	size_t followed = 0;

	(void)state;
	for (unsigned int i = 0; i < 400; i++) {
		/* now and then, so that there is something to remember, or all the time */
		unsigned int change_every = i % 3 ? 4 + i % 30 : 1 + i % 2;
		struct world *plain, *fast, *counts;
		size_t len;

		seed = i + 1;
		len = make_trace(bytes, sizeof(bytes));
		plain = decode(bytes, len, true, false, change_every);
		fast = decode(bytes, len, false, false, change_every);
		counts = decode(bytes, len, false, true, change_every);
		assert_true(plain->out.n < MAX_PCS);
		assert_int_equal(plain->out.n, fast->out.n);
		assert_memory_equal(plain->out.pcs, fast->out.pcs, plain->out.n * sizeof(uint64_t));
		assert_string_equal(plain->out.events, fast->out.events);
		assert_memory_equal(plain->counted, counts->counted, sizeof(plain->counted));
		followed += plain->out.n;
		world_destroy(plain);
		world_destroy(fast);
		world_destroy(counts);
	}
	/* Losses are no excuse: most of the code is there most of the time. */
	assert_true(followed > 400 * MESSAGES);
}

/* Without changes every message is followed from end to end. */
static void test_no_change(void **state)
{
	static uint8_t bytes[MESSAGES * 16];
	struct world *w;
	uint64_t jumps;

	(void)state;
	seed = 7;
	w = decode(bytes, make_trace(bytes, sizeof(bytes)), false, true, UINT32_MAX);
	jumps = w->counted[(slot(SLOTS - 1) + 4 - BASE) / 2];
	assert_int_equal(jumps, MESSAGES);
	world_destroy(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_changes),
		cmocka_unit_test(test_no_change),
	};

	return cmocka_run_group_tests_name("flow_mapping", tests, NULL, NULL);
}
