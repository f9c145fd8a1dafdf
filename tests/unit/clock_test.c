// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <rvtrace/clock.h>

#define MAX_TOLD 4096

/* What was told: @n instructions of state .state, or an event, from .from to .to. */
struct told {
	int state;
	int event;	/* enum rvt_event_type; -1: instructions */
	uint64_t from, to, n;
};

struct fixture {
	struct rvt_clock *clock;
	struct told told[MAX_TOLD];
	size_t n;
	int answer;
	char detail[16];
};

static int take_runs(void *ctx, void *state, const struct rvt_clock_span *span,
		     const struct rvt_run *runs, size_t n)
{
	struct fixture *f = ctx;
	uint64_t insns = 0;

	for (size_t i = 0; i < n; i++)
		insns += runs[i].count;
	assert_true(f->n < MAX_TOLD);
	f->told[f->n++] = (struct told){ *(int *)state, -1, rvt_clock_span_time(span, 0),
					 rvt_clock_span_time(span, insns), insns };
	*(int *)state = -1;	/* it may */
	return f->answer;
}

static int take_event(void *ctx, void *state, const struct rvt_clock_span *span,
		      const struct rvt_event *event)
{
	struct fixture *f = ctx;
	uint64_t time = rvt_clock_span_time(span, 0);

	assert_true(f->n < MAX_TOLD);
	f->told[f->n++] = (struct told){ *(int *)state, event->type, time, time, 0 };
	if (event->detail)
		strncpy(f->detail, event->detail, sizeof(f->detail) - 1);
	return f->answer;
}

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	const struct rvt_clock_sink sink = { .ctx = f, .runs = take_runs, .event = take_event };

	*state = f;
	return !f || rvt_clock_create(&sink, sizeof(int), &f->clock);
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	rvt_clock_destroy(f->clock);
	free(f);
	return 0;
}

static const struct rvt_block block = { .pc = 0x1000, .insns = UINT32_MAX };

static void ran(struct fixture *f, int state, uint32_t n)
{
	const struct rvt_run run = { .block = &block, .count = n };

	assert_int_equal(rvt_clock_runs(f->clock, &state, &run, 1), 0);
}

static void event(struct fixture *f, enum rvt_event_type type)
{
	const struct rvt_event event = { .type = type };
	int state = 0;

	assert_int_equal(rvt_clock_event(f->clock, &state, &event), 0);
}

static void stamp(struct fixture *f, uint64_t time)
{
	assert_int_equal(rvt_clock_stamp(f->clock, time), 0);
	assert_false(rvt_clock_holds(f->clock));
}

static void expect(struct fixture *f, size_t i, int state, uint64_t from, uint64_t to, uint64_t n)
{
	assert_in_range(i, 0, f->n - 1);
	assert_int_equal(f->told[i].event, -1);
	assert_int_equal(f->told[i].state, state);
	assert_int_equal(f->told[i].from, from);
	assert_int_equal(f->told[i].to, to);
	assert_int_equal(f->told[i].n, n);
}

static void expect_event(struct fixture *f, size_t i, enum rvt_event_type type, uint64_t time)
{
	assert_in_range(i, 0, f->n - 1);
	assert_int_equal(f->told[i].event, type);
	assert_int_equal(f->told[i].from, time);
}

/* 100 ns, 10 instructions: nothing is told before the time is known. */
static void spread(void **state)
{
	struct fixture *f = *state;

	stamp(f, 1000);
	ran(f, 1, 4);
	event(f, RVT_EVENT_TRAP);
	ran(f, 1, 5);
	ran(f, 2, 1);
	assert_int_equal(f->n, 0);
	assert_true(rvt_clock_holds(f->clock));
	stamp(f, 1100);
	assert_int_equal(f->n, 4);
	expect(f, 0, 1, 1000, 1040, 4);
	expect_event(f, 1, RVT_EVENT_TRAP, 1040);
	expect(f, 2, 1, 1040, 1090, 5);
	expect(f, 3, 2, 1090, 1100, 1);
	assert_false(rvt_clock_guessed(f->clock));
}

static void never_back(void **state)
{
	struct fixture *f = *state;

	stamp(f, 1000);
	ran(f, 0, 10);
	stamp(f, 900);
	expect(f, 0, 0, 1000, 1000, 10);
	ran(f, 0, 10);
	stamp(f, 1010);
	expect(f, 1, 0, 1000, 1010, 10);
}

/* 10 ns an instruction before; 1 us in which 20 ran, and a pause between. */
static void pause_between(void **state)
{
	struct fixture *f = *state;

	stamp(f, 1000);
	ran(f, 0, 100);
	stamp(f, 2000);
	ran(f, 0, 15);
	event(f, RVT_EVENT_STOP);
	event(f, RVT_EVENT_START);
	ran(f, 0, 5);
	stamp(f, 3000);
	expect(f, 1, 0, 2000, 2150, 15);
	expect_event(f, 2, RVT_EVENT_STOP, 2150);
	expect_event(f, 3, RVT_EVENT_START, 2950);
	expect(f, 4, 0, 2950, 3000, 5);
	assert_false(rvt_clock_guessed(f->clock));
	/* there was no time for a pause: all were faster */
	ran(f, 0, 60);
	event(f, RVT_EVENT_LOST);
	event(f, RVT_EVENT_START);
	ran(f, 0, 40);
	stamp(f, 3100);
	expect(f, 5, 0, 3000, 3060, 60);
	expect(f, 8, 0, 3060, 3100, 40);
}

/* The end of a trace, without a last time stamp. */
static void no_stamp_follows(void **state)
{
	struct fixture *f = *state;

	stamp(f, 1000);
	ran(f, 0, 100);
	stamp(f, 1200);
	ran(f, 0, 50);
	assert_int_equal(rvt_clock_flush(f->clock, UINT64_MAX), 0);
	expect(f, 1, 0, 1200, 1300, 50);
	/* it was written before that */
	ran(f, 0, 50);
	assert_int_equal(rvt_clock_flush(f->clock, 1310), 0);
	expect(f, 2, 0, 1300, 1310, 50);
	ran(f, 0, 50);
	assert_int_equal(rvt_clock_flush(f->clock, 1), 0);
	expect(f, 3, 0, 1310, 1310, 50);
	assert_false(rvt_clock_guessed(f->clock));
}

static void no_rate(void **state)
{
	struct fixture *f = *state;

	stamp(f, 1000);
	ran(f, 0, 50);
	assert_int_equal(rvt_clock_flush(f->clock, UINT64_MAX), 0);
	expect(f, 0, 0, 1000, 1000, 50);
	assert_true(rvt_clock_guessed(f->clock));
	rvt_clock_reset(f->clock);
	assert_false(rvt_clock_guessed(f->clock));
}

/* A trace that says nothing of time before its first stamp, or at all. */
static void before_the_first(void **state)
{
	struct fixture *f = *state;

	ran(f, 0, 10);
	stamp(f, 500);
	expect(f, 0, 0, 500, 500, 10);
	rvt_clock_reset(f->clock);
	ran(f, 0, 10);
	assert_int_equal(rvt_clock_flush(f->clock, 700), 0);
	expect(f, 1, 0, 700, 700, 10);
}

/* What need not be told takes time, too. */
static void passed(void **state)
{
	struct fixture *f = *state;

	stamp(f, 0);
	ran(f, 0, 10);
	assert_int_equal(rvt_clock_pass(f->clock, 20), 0);
	assert_int_equal(rvt_clock_pass(f->clock, 10), 0);
	stamp(f, 40);
	assert_int_equal(f->n, 1);
	expect(f, 0, 0, 0, 10, 10);
}

/* An answer ends the telling, and the rest is forgotten. */
static void answer(void **state)
{
	struct fixture *f = *state;

	stamp(f, 0);
	ran(f, 1, 10);
	ran(f, 2, 10);
	f->answer = -ECANCELED;
	assert_int_equal(rvt_clock_stamp(f->clock, 20), -ECANCELED);
	assert_int_equal(f->n, 1);
	f->answer = 0;
	stamp(f, 40);
	assert_int_equal(f->n, 1);
}

/* The detail of a loss is gone when the loss is told. */
static void copies(void **state)
{
	struct fixture *f = *state;
	char detail[] = "overflow";
	struct rvt_event lost = { .type = RVT_EVENT_LOST, .detail = detail };
	int none = 0;

	assert_int_equal(rvt_clock_event(f->clock, &none, &lost), 0);
	memset(detail, 'x', sizeof(detail) - 1);
	stamp(f, 1);
	assert_string_equal(f->detail, "overflow");
	/* and is freed when it never is */
	assert_int_equal(rvt_clock_event(f->clock, &none, &lost), 0);
}

/* Without any stamp no more is held than fits; then the rate that is known counts. */
static void bounded(void **state)
{
	struct fixture *f = *state;
	uint64_t told = 0, last = 0;

	stamp(f, 0);
	ran(f, 0, 1000);
	stamp(f, 1000);
	for (int i = 0; i < 3000000; i++)
		ran(f, i / 1000, 1);
	for (size_t i = 1; i < f->n; i++) {
		assert_true(f->told[i].from >= last);
		last = f->told[i].to;
		told += f->told[i].n;
	}
	assert_in_range(told, 2000000, 3000000);
	assert_int_equal(last, 1000 + told);
}

/* What is held is told at the same places, in whatever parts it comes. */
static void in_parts(void **state)
{
	static const uint32_t parts[] = { 1000, 300007, 2700000 };
	struct fixture *one = *state;

	for (int i = 0; i < 2700000; i++)
		ran(one, 0, 1);
	stamp(one, 1000);
	assert_true(one->n > 2);
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		uint64_t ends = 0, expected = 0;
		struct fixture *f;
		size_t n = 0;

		setup((void **)&f);
		for (uint32_t left = 2700000, part; left; left -= part) {
			part = left < parts[i] ? left : parts[i];
			ran(f, 0, part);
		}
		stamp(f, 1000);
		for (size_t k = 0; k < f->n; k++) {
			ends += f->told[k].n;
			if (ends > expected)
				expected += one->told[n++].n;
			assert_true(ends <= expected);
		}
		assert_int_equal(n, one->n);
		teardown((void **)&f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(spread, setup, teardown),
		cmocka_unit_test_setup_teardown(never_back, setup, teardown),
		cmocka_unit_test_setup_teardown(pause_between, setup, teardown),
		cmocka_unit_test_setup_teardown(no_stamp_follows, setup, teardown),
		cmocka_unit_test_setup_teardown(no_rate, setup, teardown),
		cmocka_unit_test_setup_teardown(before_the_first, setup, teardown),
		cmocka_unit_test_setup_teardown(passed, setup, teardown),
		cmocka_unit_test_setup_teardown(answer, setup, teardown),
		cmocka_unit_test_setup_teardown(copies, setup, teardown),
		cmocka_unit_test_setup_teardown(bounded, setup, teardown),
		cmocka_unit_test_setup_teardown(in_parts, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
