// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * A thread that moves between two cpus: what they tell comes in the order of time, where tracing
 * began, too, though a cpu's next message may be from long after its last one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "session-fixture.h"

#define TURNS 12
#define STEPS_OF_TURN 200
#define IDLE 3000	/* ticks */

struct told {
	uint64_t time;		/* of the last that was told */
	size_t late;		/* how often what was told was older than that */
	size_t starts, insns;
};

static void note_time(struct told *told, const struct rvt_hart_flow *hart)
{
	told->late += hart->time < told->time;
	told->time = hart->time;
}

static int take_runs(void *ctx, struct rvt_hart_flow *hart, const struct rvt_run *runs, size_t n)
{
	struct told *told = ctx;

	note_time(told, hart);
	for (size_t i = 0; i < n; i++)
		told->insns += runs[i].count;
	return 0;
}

static int take_event(void *ctx, struct rvt_hart_flow *hart, const struct rvt_event *event)
{
	struct told *told = ctx;

	if (event->type != RVT_EVENT_START)
		return 0;
	note_time(told, hart);
	told->starts++;
	return 0;
}

static void record(struct fixture *f)
{
	begin_recording(f, true, true);
	put_comm(f, 1, 0, false, "moves");
	put_mmap(f, 1, 0, f->programs[0]);
	f->ticks = 1000;
	for (int i = 0; i < TURNS; i++) {
		run_steps(f, i % CPUS, 1, 0, STEPS_OF_TURN);
		f->ticks += IDLE;
	}
	for (int n = 0; n < CPUS; n++)
		put_aux(f, n, 1, 0);
	assert_int_equal(rvt_perfdata_finish(f->writer), 0);
	f->writer = NULL;
}

static void check(const struct fixture *f, bool clock)
{
	const struct rvt_session_options options = { .size = sizeof(options), .clock = clock };
	struct told told = { 0 };
	const struct rvt_session_sink sink = { .size = sizeof(sink), .ctx = &told,
					       .runs = take_runs, .event = take_event };
	struct rvt_session *session;
	size_t expected = 0;
	char *error;

	assert_int_equal(rvt_session_open(f->data, &options, &session, &error), 0);
	assert_int_equal(rvt_session_run(session, &sink), 0);
	rvt_session_close(session);
	for (int n = 0; n < CPUS; n++)
		expected += f->cpus[n].expected.n;
	assert_int_equal(told.insns, expected);
	assert_int_equal(told.starts, TURNS);
	/* what comes behind a cpu's last message is told when all have ended */
	assert_in_range(told.late, 0, CPUS);
}

static void moves(void **state)
{
	(void)state;
	for (int kind = 0; kind < 4; kind++) {
		struct fixture *f;

		session_setup((void **)&f);
		f->etrace = kind & 1;
		f->repeats = kind == 2;
		record(f);
		check(f, kind & 2);
		check(f, !(kind & 2));
		session_teardown((void **)&f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(moves),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
