// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Sinks that several harts write, with damage at random: messages name their hart (SRC), or frames
 * do. What of a hart's flow is not told is told as lost, and one thread and several tell the same.
 * tests/unit/jobs_test.c does so with commands, tests/long/growth.t with longer sinks.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "random-recording.h"

static uint64_t hash(uint64_t pc)
{
	return (pc ^ pc >> 13) * UINT64_C(0x9e3779b97f4a7c15);
}

/* The same in any order: which of two buffers comes first is not said. */
static uint64_t sum_up(const struct steps *steps)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < steps->n; i++)
		sum += hash(steps->at[i].pc);
	return sum;
}

static bool is_whole(const struct cpu *cpu)
{
	return cpu->found.n == cpu->expected.n && sum_up(&cpu->found) == sum_up(&cpu->expected);
}

/*
 * A hart of whose flow something is missing, or that has done something else, has lost something.
 * Of frames nobody knows whose the bytes were that are skipped: all together have.
 */
static size_t check_losses(struct fixture *f, uint64_t seed)
{
	struct rvt_session_totals stats;
	size_t n_lossy = 0;

	(void)seed;
	if (!f->src_bits && !f->framed)
		return 0;
	/* told in order and counted, by one thread and by several: the same */
	read_stored(f, false, &stats);
	for (int i = 0; i < CPUS; i++) {
		const struct cpu *cpu = &f->cpus[i];

		if (is_whole(cpu))
			continue;
		n_lossy++;
		assert_true(cpu->lost || (f->framed && stats.stream.errors));
	}
	return 100 * n_lossy;
}

int main(void)
{
	/* half of the recordings have shared sinks, and most of their harts lose something */
	struct random_recordings damaged = { .check = check_losses, .least = 50, .share = 4,
					     .damage = true, .shared = true };
	const struct CMUnitTest tests[] = {
		{ "damaged shared sinks", random_recordings_test, NULL, NULL, &damaged },
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
