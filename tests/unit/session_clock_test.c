// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * When instructions were executed (options.clock), of recordings whose traces have time stamps, and
 * of those that have only the times of AUX records. Programs run one after the other here.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "session-fixture.h"

#define PIECES 4

/* What ran on cpu 0, and when. */
struct seen {
	uint64_t first, last;	/* ns */
	uint64_t insns;
	uint64_t begin[PIECES + 1];	/* of each piece; .begin[PIECES]: the end */
	uint64_t of_piece[PIECES], late_of_piece[PIECES];
};

static void note(struct seen *seen, uint64_t time)
{
	int piece = 0;

	/* never back */
	assert_true(time >= seen->last);
	seen->last = time;
	if (!seen->insns++)
		seen->first = time;
	while (piece + 1 < PIECES && time >= seen->begin[piece + 1])
		piece++;
	seen->of_piece[piece]++;
	seen->late_of_piece[piece] += time - seen->begin[piece] >
		(seen->begin[piece + 1] - seen->begin[piece]) / 2;
}

static int take_runs(void *ctx, struct rvt_hart_flow *hart, const struct rvt_run *runs, size_t n)
{
	uint64_t told = 0;

	for (size_t i = 0; i < n; i++)
		for (uint32_t j = 0; j < runs[i].count; j++)
			note(ctx, rvt_hart_time(hart, told++));
	return 0;
}

/* A piece is the same program for as many steps each, and an AUX record. */
static void make(struct fixture *f, struct seen *seen, bool timed)
{
	begin_recording(f, timed, true);
	put_mmap(f, 10, 0, f->programs[0]);
	for (int i = 0; i < PIECES; i++) {
		seen->begin[i] = f->ticks * TICK_NS;
		run_steps(f, 0, 10, 0, STEPS);
		if (!timed)
			f->ticks += 1000;
		put_aux(f, 0, 10, 0);
		seen->begin[i + 1] = f->ticks * TICK_NS;
	}
	assert_int_equal(rvt_perfdata_finish(f->writer), 0);
	f->writer = NULL;
}

static void read_session(const struct fixture *f, const struct rvt_session_sink *sink)
{
	const struct rvt_session_options options = { .size = sizeof(options),
						     .params = f->params, .clock = true };
	struct rvt_session *session;
	char *error;

	if (rvt_session_open(f->data, &options, &session, &error))
		fail_msg("%s", error);
	assert_int_equal(rvt_session_run(session, sink), 0);
	rvt_session_close(session);
}

static void read_times(const struct fixture *f, struct seen *seen)
{
	const struct rvt_session_sink sink = { .size = sizeof(sink), .ctx = seen,
					       .runs = take_runs };

	read_session(f, &sink);
}

/* Each piece's instructions have times in its own time, early and late in it. */
static void check_times(void **state, bool timed)
{
	struct fixture *f = *state;
	struct seen seen = { 0 };

	make(f, &seen, timed);
	read_times(f, &seen);
	assert_int_equal(seen.insns, f->cpus[0].expected.n);
	assert_true(seen.last <= seen.begin[PIECES]);
	/* nothing tells when the first record began: all of it has the time of its end */
	for (int i = timed ? 0 : 2; i < PIECES; i++) {
		assert_in_range(seen.of_piece[i], 9 * seen.insns / PIECES / 10,
				11 * seen.insns / PIECES / 10);
		assert_in_range(seen.late_of_piece[i], seen.of_piece[i] / 4,
				3 * seen.of_piece[i] / 4);
	}
}

static void by_stamps(void **state)
{
	check_times(state, true);
}

static void by_records(void **state)
{
	check_times(state, false);
}

#define BEGAN (50000 * TICK_NS)	/* on cpu 0; on cpu 1 tracing began long before */
#define LONG 100000		/* ticks that the first record lasts */

/*
 * A record, of what ran from BEGAN to BEGAN + LONG ticks; that it began there the event says, or
 * the switch to the task.
 */
static void check_first(struct fixture *f, bool by_switch)
{
	struct seen seen = { .begin = { BEGAN } };

	begin_recording(f, false, true);
	put_start(f, 1, 20, TICK_NS);
	put_mmap(f, 10, BEGAN - 1, f->programs[0]);
	if (by_switch)
		put_switch(f, 0, 10, BEGAN);
	else
		put_start(f, 0, 10, BEGAN);
	put_switch(f, 0, 10, BEGAN + LONG * TICK_NS / 2);
	run_steps(f, 0, 10, 0, STEPS);
	f->ticks = BEGAN / TICK_NS + LONG;
	put_aux(f, 0, 10, 0);
	for (int i = 1; i <= PIECES; i++)
		seen.begin[i] = BEGAN + i * LONG * TICK_NS / PIECES;
	assert_int_equal(rvt_perfdata_finish(f->writer), 0);
	f->writer = NULL;
	read_times(f, &seen);
	assert_int_equal(seen.insns, f->cpus[0].expected.n);
	assert_true(seen.first >= BEGAN);
	assert_true(seen.last <= seen.begin[PIECES]);
	for (int i = 0; i < PIECES; i++)
		assert_in_range(seen.of_piece[i], 7 * seen.insns / PIECES / 10,
				13 * seen.insns / PIECES / 10);
}

static void first_record_by_event(void **state)
{
	check_first(*state, false);
}

static void first_record_by_switch(void **state)
{
	check_first(*state, true);
}

/* ---- a hart that stands still now and then ---- */

#define ROUNDS 10000
#define STALL 100000		/* ticks; each instruction takes one */
#define STALL_ROUNDS 185	/* from one to the next: 11 messages of 31 branches, and 29 */
#define NEAR 200		/* ticks and instructions of a few messages */

struct stalls {
	struct fixture *f;
	const struct hart_sink *sink;
	uint64_t times[8 * ROUNDS];	/* of each instruction, ns */
	size_t n, told, far;
};

/* Instructions of 4 bytes from @first to @last, by their places in the program */
static void run_line(struct stalls *stalls, unsigned int first, unsigned int last, uint8_t itype)
{
	const unsigned int insns = last - first + 1;
	const struct rvt_retire run = {
		.first_pc = HART_BASE + 4 * first, .last_pc = HART_BASE + 4 * last,
		.insns = insns, .halfwords = 2 * insns, .last_halfwords = 2, .itype = itype,
	};

	for (unsigned int i = 0; i < insns; i++)
		stalls->times[stalls->n++] = ++stalls->f->ticks * TICK_NS;
	stalls->sink->retire(stalls->sink->ctx, &run);
}

static const uint32_t branches[] = {
	0x00050a63,	/* beq a0, x0, +20 */
	0x00000013, 0x00000013, 0x00000013, 0x00000013,	/* nop */
	0x00059463,	/* bne a1, x0, +8 */
	0xfe9ff06f,	/* jal x0, -24 */
	0x00050067,	/* jalr x0, 0(a0), to the first */
};

/* What branches do never repeats for long. A message has 31, or ends at an indirect jump. */
static uint64_t run_branches(void *ctx, const struct hart_sink *sink)
{
	struct stalls *stalls = ctx;
	struct hart *hart = stalls->f->harts[0];

	stalls->sink = sink;
	for (int i = 1; i <= ROUNDS; i++) {
		bool skips = hart_random(hart, 2), leaves = i % STALL_ROUNDS == 0;

		run_line(stalls, 0, 0, skips ? RVT_ITYPE_BRANCH_TAKEN : RVT_ITYPE_BRANCH_NOT_TAKEN);
		run_line(stalls, skips ? 5 : 1, 5,
			 leaves ? RVT_ITYPE_BRANCH_TAKEN : RVT_ITYPE_BRANCH_NOT_TAKEN);
		if (leaves)
			stalls->f->ticks += STALL;
		run_line(stalls, leaves ? 7 : 6, leaves ? 7 : 6,
			 leaves ? RVT_ITYPE_IND_JUMP : RVT_ITYPE_JUMP);
	}
	return HART_BASE;
}

static int compare_times(void *ctx, struct rvt_hart_flow *hart, const struct rvt_run *runs,
			 size_t n)
{
	struct stalls *stalls = ctx;
	uint64_t insns = 0;

	for (size_t i = 0; i < n; i++)
		insns += runs[i].count;
	for (uint64_t i = 0; i < insns; i++) {
		uint64_t truth = stalls->times[stalls->told], time = rvt_hart_time(hart, i);

		assert_true(++stalls->told <= stalls->n);
		stalls->far += time > truth + NEAR * TICK_NS || truth > time + NEAR * TICK_NS;
	}
	return 0;
}

/*
 * With repeated history a message says late when its flow had run. A hart that stood still before
 * that does not go on as slowly: only where it stood still is not known to a few messages.
 */
static void stands_still(void **state)
{
	static struct stalls stalls;
	struct fixture *f = *state;
	const struct rvt_session_sink sink = { .size = sizeof(sink), .ctx = &stalls,
					       .runs = compare_times };
	FILE *out = fopen(f->programs[0], "r+");

	assert_non_null(out);
	assert_int_equal(fwrite(branches, sizeof(branches), 1, out), 1);
	fclose(out);
	f->repeats = true;
	begin_recording(f, true, true);
	put_mmap(f, 10, 0, f->programs[0]);
	stalls = (struct stalls){ .f = f };
	run_other(f, 0, 10, run_branches, &stalls);
	put_aux(f, 0, 10, 0);
	assert_int_equal(rvt_perfdata_finish(f->writer), 0);
	f->writer = NULL;
	read_session(f, &sink);
	assert_int_equal(stalls.told, stalls.n);
	assert_true(stalls.far <= ROUNDS / STALL_ROUNDS * NEAR);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(by_stamps, session_setup, session_teardown),
		cmocka_unit_test_setup_teardown(by_records, session_setup, session_teardown),
		cmocka_unit_test_setup_teardown(first_record_by_event, session_setup,
						session_teardown),
		cmocka_unit_test_setup_teardown(first_record_by_switch, session_setup,
						session_teardown),
		cmocka_unit_test_setup_teardown(stands_still, session_setup, session_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
