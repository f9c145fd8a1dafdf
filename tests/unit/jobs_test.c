// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * The commands as a person runs them: --jobs changes nothing of what they print, whole or damaged
 * the recording. Uses build/host/perf-rvtrace-small-parts (tests/tools/small-parts.c); skipped where
 * there is none.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>
#include "property.h"
#include "random-recording.h"

#define PROGRAM "build/host/perf-rvtrace-small-parts"

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

	snprintf(command, sizeof(command), "SMALL_PARTS=%u " PROGRAM " %s --jobs %u -i %s 2>&1",
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
				fail_msg("seed %lu: %s --jobs %u, parts of %u bytes", (long)seed,
					 views[v], jobs[i], bytes);
			free(more);
		}
		printed += strlen(one);
		free(one);
	}
	return printed;
}

static void check_recordings(bool damage)
{
	uint64_t cases = property_setting("RVT_PROPERTY_CASES", 500) / 100;
	uint64_t first = property_setting("RVT_PROPERTY_SEED", 1);

	if (access(PROGRAM, X_OK))
		skip();
	for (uint64_t seed = first; seed < first + cases; seed++) {
		struct fixture *f;

		session_setup((void **)&f);
		random_recording(f, seed, damage);
		assert_int_equal(rvt_perfdata_finish(f->writer), 0);
		f->writer = NULL;
		assert_true(check_views(f, seed) > 100000);
		session_teardown((void **)&f);
	}
}

static void test_whole(void **state)
{
	(void)state;
	check_recordings(false);
}

static void test_damaged(void **state)
{
	(void)state;
	check_recordings(true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whole),
		cmocka_unit_test(test_damaged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
