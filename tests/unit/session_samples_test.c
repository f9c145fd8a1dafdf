// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Trace in samples: of those that have bytes in common all is decoded once, and of others each
 * piece is one of what was executed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "session-fixture.h"

#define ROUNDS 12
#define WINDOW 4096u
#define PIECE 256u

/*
 * The program's trace, in samples of the last @window bytes each: one after each @steps. @ends: how
 * many were executed when each was taken.
 */
static void make(struct fixture *f, bool timed, size_t steps, size_t window, size_t ends[ROUNDS])
{
	struct cpu *cpu = &f->cpus[0];

	begin_recording(f, timed, true);
	put_mmap(f, 10, 0, f->programs[0]);
	for (int i = 0; i < ROUNDS; i++) {
		size_t len;

		run_steps(f, 0, 10, 0, steps);
		len = cpu->len < window ? cpu->len : window;
		put_sample(f, 0, 10, window - len, cpu->bytes + cpu->len - len, len);
		ends[i] = cpu->expected.n;
	}
}

static void in_common(struct fixture *f, bool timed)
{
	struct rvt_session_totals stats = { 0 };
	size_t ends[ROUNDS];

	make(f, timed, 300, WINDOW, ends);
	assert_true(f->cpus[0].len < ROUNDS * WINDOW / 2);
	read_stored(f, false, &stats);
	assert_int_equal(stats.session.trace_bytes, f->cpus[0].len);
	assert_int_equal(f->cpus[0].found.n, f->cpus[0].expected.n);
	check_equal(&f->cpus[0]);
}

static void all_once(void **state)
{
	in_common(*state, true);
}

static void all_once_without_stamps(void **state)
{
	in_common(*state, false);
}

/* The last zeroes that are left where the buffer is almost full are no trace. */
static void few_zeroes(void **state)
{
	struct fixture *f = *state;
	struct cpu *cpu = &f->cpus[0];
	struct rvt_session_totals stats = { 0 };

	begin_recording(f, true, true);
	put_mmap(f, 10, 0, f->programs[0]);
	run_steps(f, 0, 10, 0, 300);
	put_sample(f, 0, 10, 512 + -cpu->len % 8, cpu->bytes, cpu->len);
	run_steps(f, 0, 10, 0, 300);
	put_sample(f, 0, 10, 32 + -cpu->len % 8, cpu->bytes, cpu->len);
	read_stored(f, false, &stats);
	assert_int_equal(stats.session.trace_bytes, cpu->len);
	assert_int_equal(cpu->found.n, cpu->expected.n);
	check_equal(cpu);
}

/* Where @found goes on as @expected does from @at on; how many steps. */
static size_t same(const struct steps *found, size_t from, const struct steps *expected, size_t at)
{
	size_t n = 0;

	while (from + n < found->n && at + n < expected->n &&
	       found->at[from + n].pc == expected->at[at + n].pc)
		n++;
	return n;
}

/* Of each sample something, up to its end, in order. */
static void pieces_of(void **state)
{
	struct fixture *f = *state;
	struct cpu *cpu = &f->cpus[0];
	struct rvt_session_totals stats = { 0 };
	size_t from = 0, ends[ROUNDS];

	make(f, true, STEPS, PIECE, ends);
	assert_true(cpu->len > 2 * ROUNDS * PIECE);
	read_stored(f, false, &stats);
	assert_true(cpu->lost >= ROUNDS - 1);
	assert_true(cpu->found.n < cpu->expected.n / 2);
	for (int i = 0; i < ROUNDS; i++) {
		size_t at = i ? ends[i - 1] : 0;

		while (at < ends[i] && at + same(&cpu->found, from, &cpu->expected, at) < ends[i])
			at++;
		assert_true(ends[i] - at > 10);
		from += ends[i] - at;
	}
	assert_int_equal(from, cpu->found.n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(all_once, session_setup, session_teardown),
		cmocka_unit_test_setup_teardown(all_once_without_stamps, session_setup,
						session_teardown),
		cmocka_unit_test_setup_teardown(few_zeroes, session_setup, session_teardown),
		cmocka_unit_test_setup_teardown(pieces_of, session_setup, session_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
