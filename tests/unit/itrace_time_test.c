// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Samples by time of programs that run evenly: an instruction takes 40 ns, or 1 ns, and a stamp of
 * 100 ns' resolution comes now and then, most often behind certain functions. The samples of each
 * function weigh what it executed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <rvtrace/clock.h>
#include "../../tools/perf-plugin/common/itrace.h"
#include "property.h"

#define FUNCTIONS 14
#define BASE 0x10000
#define FUNCTION_BYTES 0x1000
#define SLOW_NS 40	/* an instruction */
#define FAST_NS 1
#define TICK_NS 100
#define POINTS 2	/* percent */

/* Straight code, which ends in a jump. */
struct piece {
	struct rvt_block block;
	uint8_t halfwords[64];
};

struct program {
	const char *name;
	int pieces;		/* of each function */
	int (*next)(struct random *r, int function, uint64_t n);
};

struct sampled {
	struct itrace itrace;
	struct itrace_clock clock;
	struct rvt_clock *time;
	struct rvt_transfers *transfers;
	struct rvt_session_sink sink;
	struct rvt_hart_flow hart;
	uint64_t weights[FUNCTIONS], executed[FUNCTIONS], weight, insns;
	uint64_t n, last_time, insn_ns;
};

static int function_of(uint64_t pc)
{
	return (pc - BASE) / FUNCTION_BYTES;
}

static int put_sample(void *ctx, uint64_t ip, uint64_t period)
{
	struct sampled *s = ctx;

	s->weights[function_of(ip)] += period;
	s->weight += period;
	assert_true(s->hart.time >= s->last_time);
	/* neighbours are a period apart, but for a tick and the rounding of instructions */
	if (s->n++ > 1)
		assert_in_range(s->hart.time - s->last_time + 1, 1,
				s->itrace.period + TICK_NS + 2 * s->insn_ns + 1);
	s->last_time = s->hart.time;
	return 0;
}

static int take_line(void *ctx, struct rvt_hart_flow *hart, const struct rvt_straight_line *line,
		     struct rvt_callstack *stack)
{
	struct sampled *s = ctx;

	(void)stack;
	return itrace_sample(&s->itrace, &s->clock, hart, line, put_sample, s);
}

/* What a session does with flow whose time is known. */
static int take_runs(void *ctx, void *state, const struct rvt_clock_span *span,
		     const struct rvt_run *runs, size_t n)
{
	struct sampled *s = ctx;

	(void)state;
	s->hart.span = *span;
	s->hart.time = rvt_clock_span_time(span, 0);
	return s->sink.runs(s->sink.ctx, &s->hart, runs, n);
}

static struct piece *make_pieces(struct random *r, int n)
{
	struct piece *pieces = calloc(FUNCTIONS * n, sizeof(*pieces));

	assert_non_null(pieces);
	for (int i = 0; i < FUNCTIONS * n; i++) {
		struct piece *piece = &pieces[i];
		uint32_t insns = 1 + random_below(r, 20);

		memset(piece->halfwords, 2, sizeof(piece->halfwords));
		piece->block = (struct rvt_block){
			.pc = BASE + i / n * FUNCTION_BYTES + i % n * 256, .insns = insns,
			.bytes = 4 * insns, .halfwords = piece->halfwords,
			.iclass = RVT_INSN_IND_JUMP };
	}
	return pieces;
}

static void run_program(struct sampled *s, const struct program *program, uint64_t total)
{
	struct random r;
	struct piece *pieces;
	int function = 0;
	char state = 0;

	random_seed(&r, 1);
	pieces = make_pieces(&r, program->pieces);
	for (uint64_t n = 0; s->insns < total; n++) {
		struct piece *piece;
		struct rvt_run run;

		function = program->next(&r, function, n);
		piece = &pieces[function * program->pieces + random_below(&r, program->pieces)];
		run = (struct rvt_run){ .block = &piece->block, .count = piece->block.insns };
		s->insns += run.count;
		s->executed[function] += run.count;
		assert_int_equal(rvt_clock_runs(s->time, &state, &run, 1), 0);
		/* messages come behind what the first functions do, above all */
		if (random_one_in(&r, function < 3 ? 5 : 100))
			assert_int_equal(rvt_clock_stamp(s->time, s->insns * s->insn_ns / TICK_NS *
							 TICK_NS), 0);
	}
	assert_int_equal(rvt_clock_flush(s->time, UINT64_MAX), 0);
	free(pieces);
}

static void check_shares(const struct sampled *s, const char *name)
{
	for (int i = 0; i < FUNCTIONS; i++) {
		double exact = 100.0 * s->executed[i] / s->insns;
		double sampled = 100.0 * s->weights[i] / s->weight;

		if (sampled > exact + POINTS || sampled < exact - POINTS)
			fail_msg("%s, a sample each %lu ns: function %d has %.2f %%, not %.2f",
				 name, (unsigned long)s->itrace.period, i, sampled, exact);
	}
}

static void sample_program(const struct program *program, const char *letters, uint64_t insn_ns,
			   uint64_t total)
{
	struct sampled s = { .insn_ns = insn_ns };
	const struct rvt_transfers_ops ops = { .size = sizeof(ops), .ctx = &s, .line = take_line };
	const struct rvt_clock_sink sink = { .ctx = &s, .runs = take_runs };

	assert_int_equal(itrace_parse(letters, NULL, &s.itrace), 0);
	s.itrace.tick_ns = TICK_NS;
	s.transfers = rvt_transfers_create(&ops, NULL, 0);
	assert_non_null(s.transfers);
	rvt_transfers_sink(s.transfers, &s.sink);
	assert_int_equal(rvt_clock_create(&sink, 1, &s.time), 0);
	assert_int_equal(rvt_clock_stamp(s.time, 0), 0);
	run_program(&s, program, total);
	s.sink.end(s.sink.ctx, &s.hart);
	assert_in_range(s.n, total * insn_ns / s.itrace.period / 2,
			total * insn_ns / s.itrace.period + 1);
	check_shares(&s, program->name);
	rvt_clock_destroy(s.time);
	rvt_transfers_destroy(s.transfers);
}

/* Any function after any other, some often. */
static int mixture(struct random *r, int function, uint64_t n)
{
	int a = random_below(r, FUNCTIONS), b = random_below(r, FUNCTIONS);

	(void)function;
	(void)n;
	return a < b ? a : b;
}

/* Loops: long in one function, then in another. */
static int loops(struct random *r, int function, uint64_t n)
{
	(void)n;
	return random_one_in(r, 200) ? (int)random_below(r, FUNCTIONS) : function;
}

/* One round after the other, each the same. */
static int rounds(struct random *r, int function, uint64_t n)
{
	static const int round[] = { 0, 3, 4, 3, 4, 5, 6, 0, 7, 8, 9, 10, 11, 12, 13, 5, 5, 5 };

	(void)r;
	(void)function;
	return round[n % (sizeof(round) / sizeof(*round))];
}

static const struct program programs[] = {
	{ "mixture", 10, mixture }, { "loops", 3, loops }, { "rounds", 7, rounds },
};

static void shares(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(programs) / sizeof(*programs); i++) {
		sample_program(&programs[i], "i1us", SLOW_NS, 3000000);
		sample_program(&programs[i], "i10us", SLOW_NS, 3000000);
		sample_program(&programs[i], "i100us", SLOW_NS, 20000000);
		sample_program(&programs[i], "i1ms", SLOW_NS, 60000000);
		sample_program(&programs[i], "i1us", FAST_NS, 4000000);
	}
}

#define PHASES 16
#define SLICES 20000

/* Of each sixteenth of the period, how many slices begin in it, and how often the next does so. */
static void begin_slices(const char *letters, uint64_t (*begun)(const struct itrace_clock *clock))
{
	unsigned int counts[PHASES] = { 0 }, again = 0, before = 0;
	struct itrace itrace;

	assert_int_equal(itrace_parse(letters, NULL, &itrace), 0);
	for (uint64_t seed = 1; seed <= SLICES; seed++) {
		struct itrace_clock clock;
		unsigned int phase;

		itrace_begin(&itrace, &clock, seed);
		assert_in_range(begun(&clock), 0, itrace.period - 1);
		phase = begun(&clock) * PHASES / itrace.period;
		counts[phase]++;
		again += phase == before;
		before = phase;
	}
	for (unsigned int i = 0; i < PHASES; i++)
		assert_in_range(counts[i], SLICES / PHASES * 9 / 10, SLICES / PHASES * 11 / 10);
	assert_in_range(again, SLICES / PHASES / 2, SLICES / PHASES * 2);
}

static uint64_t insns_of(const struct itrace_clock *clock)
{
	return clock->insns;
}

static uint64_t ns_of(const struct itrace_clock *clock)
{
	/* what no sample stands for yet is what runs from now on */
	assert_int_equal(clock->insns, 0);
	return clock->ns;
}

/* Slices begin anywhere in a period, one as likely as the other. */
static void phases(void **state)
{
	(void)state;
	begin_slices("i1000i", insns_of);
	begin_slices("i1000000007i", insns_of);
	begin_slices("i100us", ns_of);
	begin_slices("i1000ms", ns_of);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(phases),
		cmocka_unit_test(shares),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
