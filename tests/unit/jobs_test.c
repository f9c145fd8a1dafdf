// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * The commands as a person runs them: --jobs changes nothing of what they print, whole or damaged
 * the recording. Uses build/host/perf-rvtrace-small-slices (tests/tools/small-slices.c); skipped
 * where there is none.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>
#include "random-recording.h"

#define PROGRAM "build/host/perf-rvtrace-small-slices"

static const char *const views[] = {
	"stat", "report", "report -s comm,dso,sym", "script", "script --by-cpu",
	"script --insn-trace", "profile -f counts", "profile -f folded",
};

/* What @view of the recording prints, messages and status included (malloc'd). */
static char *print(const struct fixture *f, const char *view, unsigned int bytes, unsigned int jobs)
{
	char command[256], *text = NULL;
	size_t len = 0;
	FILE *pipe, *sum = open_memstream(&text, &len);
	int c, status;

	snprintf(command, sizeof(command), "SMALL_SLICES=%u " PROGRAM " %s --jobs %u -i %s 2>&1",
		 bytes, view, jobs, f->data);
	pipe = popen(command, "r");
	assert_non_null(pipe);
	while ((c = getc(pipe)) != EOF)
		putc(c, sum);
	status = pclose(pipe);
	assert_true(WIFEXITED(status));
	fprintf(sum, "status %d\n", WEXITSTATUS(status));
	fclose(sum);
	return text;
}

static size_t check_views(const struct fixture *f, uint64_t seed)
{
	static const unsigned int jobs[] = { 2, 3, 7 };
	size_t printed = 0;

	for (size_t v = 0; v < sizeof(views) / sizeof(*views); v++) {
		unsigned int bytes = 150 << (seed + v) % 4;
		char *one = print(f, views[v], bytes, 1);

		for (size_t i = 0; i < sizeof(jobs) / sizeof(*jobs); i++) {
			char *more = print(f, views[v], bytes, jobs[i]);

			if (strcmp(one, more))
				fail_msg("seed %lu: %s --jobs %u, slices of %u bytes", (long)seed,
					 views[v], jobs[i], bytes);
			free(more);
		}
		printed += strlen(one);
		free(one);
	}
	return printed;
}

static size_t check_recording(struct fixture *f, uint64_t seed)
{
	assert_int_equal(rvt_perfdata_finish(f->writer), 0);
	f->writer = NULL;
	return check_views(f, seed);
}

/* A recording in which both cpus have messages of the same times; one of them runs for longer. */
static void record_same_times(struct fixture *f, int longer, size_t cut_off)
{
	begin_recording(f, true, true);
	for (int n = 0; n < CPUS; n++) {
		put_comm(f, n + 1, 0, false, "process");
		put_mmap(f, n + 1, 0, f->programs[2 * n]);
		f->ticks = 1000;
		run_steps(f, n, n + 1, 2 * n, n == longer ? STEPS : STEPS - 500);
		f->cpus[n].len -= cut_off;
		put_aux(f, n, n + 1, 0);
	}
}

/*
 * Whose turn it is does not depend on where slices end; what all end with, here a message that is
 * cut off, has its order, too.
 */
static void same_times(void **state)
{
	(void)state;
	if (access(PROGRAM, X_OK))
		skip();
	for (uint64_t seed = 0; seed < 8; seed++) {
		struct fixture *f;

		session_setup((void **)&f);
		f->etrace = seed & 1;
		record_same_times(f, seed >> 1 & 1, seed & 4 ? 3 : 0);
		assert_true(check_recording(f, seed) > 10000);
		session_teardown((void **)&f);
	}
}

int main(void)
{
	struct random_recordings whole = {
		.check = check_recording, .least = 100000, .share = 100, .needs = PROGRAM };
	struct random_recordings damaged = {
		.check = check_recording, .least = 100000, .share = 100, .needs = PROGRAM,
		.damage = true };
	const struct CMUnitTest tests[] = {
		{ "whole recordings", random_recordings_test, NULL, NULL, &whole },
		{ "damaged recordings", random_recordings_test, NULL, NULL, &damaged },
		cmocka_unit_test(same_times),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
