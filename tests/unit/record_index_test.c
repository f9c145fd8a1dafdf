// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * record --index: of each recording an index is made, one after the other. Who makes them is the
 * program itself, which is this test here: as `index -i FILE` it writes what it sees.
 */
#include <setjmp.h>
#include <stdbool.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>
#include "record/index.h"

#define FILES 3

static char folder[64];

/* Writes when it began and ended, and how nice it is; fails for the second one. */
static int make_index(const char *recording)
{
	struct timespec began, ended;
	char path[160];
	FILE *out;

	clock_gettime(CLOCK_MONOTONIC, &began);
	usleep(20000);
	clock_gettime(CLOCK_MONOTONIC, &ended);
	snprintf(path, sizeof(path), "%s.index", recording);
	out = fopen(path, "wx");
	if (!out)
		return 2;
	fprintf(out, "%lld %lld %d\n", began.tv_sec * 1000000000ll + began.tv_nsec,
		ended.tv_sec * 1000000000ll + ended.tv_nsec, getpriority(PRIO_PROCESS, 0));
	fclose(out);
	return strstr(recording, "1") != NULL;
}

static void read_index(unsigned int n, long long *began, long long *ended, int *nice)
{
	char path[160];
	FILE *in;

	snprintf(path, sizeof(path), "%s/r%u.index", folder, n);
	in = fopen(path, "r");
	assert_non_null(in);
	assert_int_equal(fscanf(in, "%lld %lld %d", began, ended, nice), 3);
	fclose(in);
	unlink(path);
}

static void one_after_the_other(void **state)
{
	struct index_queue queue = { .n = 0 };
	long long began, ended, before = 0;
	int nice, own = getpriority(PRIO_PROCESS, 0);
	char path[160];

	(void)state;
	for (unsigned int i = 0; i < FILES; i++) {
		snprintf(path, sizeof(path), "%s/r%u", folder, i);
		assert_int_equal(index_queue_add(&queue, path), 0);
		index_queue_go_on(&queue);
	}
	assert_int_equal(queue.n, FILES - 1);
	index_queue_finish(&queue);
	assert_int_equal(queue.n, 0);
	for (unsigned int i = 0; i < FILES; i++) {
		read_index(i, &began, &ended, &nice);
		assert_true(began >= before);
		/* the first one was made beside the recording, the others behind it */
		assert_int_equal(nice > own, !i && own < 19);
		before = ended;
	}
	index_queue_clear(&queue);
}

static void nothing(void **state)
{
	struct index_queue queue = { .n = 0 };

	(void)state;
	index_queue_go_on(&queue);
	index_queue_finish(&queue);
	index_queue_clear(&queue);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_after_the_other),
		cmocka_unit_test(nothing),
	};
	int failed;

	if (argc == 4 && !strcmp(argv[1], "index") && !strcmp(argv[2], "-i"))
		return make_index(argv[3]);
	snprintf(folder, sizeof(folder), "/tmp/rvtrace-queue-XXXXXX");
	if (!mkdtemp(folder))
		return 1;
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	rmdir(folder);
	return failed;
}
