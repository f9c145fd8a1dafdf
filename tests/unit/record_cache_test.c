// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* The cache of what recordings share has a bound: what was used longest ago goes first. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>
#include "record/cache.h"

#define BYTES 1000
#define NOW 1000000

static char folder[64];

/* DIR/NAME of BYTES bytes, which was used at @used (s). */
static void make(const char *name, int64_t used)
{
	const struct timespec times[2] = { { used, 0 }, { used, 0 } };
	static const char bytes[BYTES];
	char path[128];
	FILE *out;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	*strrchr(path, '/') = 0;
	mkdir(path, 0700);
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	out = fopen(path, "w");
	assert_non_null(out);
	assert_int_equal(fwrite(bytes, 1, BYTES, out), BYTES);
	assert_int_equal(fclose(out), 0);
	assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

static bool is_there(const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return !access(path, F_OK);
}

static int setup(void **state)
{
	(void)state;
	strcpy(folder, "/tmp/record_cache_test-XXXXXX");
	assert_non_null(mkdtemp(folder));
	make("aa/old", NOW - 30);
	make("bb/older", NOW - 40);
	make("bb/new", NOW - 10);
	make("cc/in-use", NOW);
	return 0;
}

static int teardown(void **state)
{
	char command[128];

	(void)state;
	snprintf(command, sizeof(command), "rm -r %s", folder);
	assert_int_equal(system(command), 0);
	return 0;
}

static void oldest_first(void **state)
{
	(void)state;
	assert_int_equal(cache_prune(folder, 4 * BYTES, NOW), 0);
	assert_true(is_there("bb/older"));
	assert_int_equal(cache_prune(folder, 3 * BYTES, NOW), 1);
	assert_false(is_there("bb/older"));
	assert_true(is_there("bb/new") && is_there("aa/old") && is_there("cc/in-use"));
	/* and its folder, which was the last file's */
	assert_int_equal(cache_prune(folder, 3 * BYTES - 1, NOW), 1);
	assert_false(is_there("aa"));
	assert_true(is_there("bb/new") && is_there("cc/in-use"));
}

static void what_is_in_use_stays(void **state)
{
	(void)state;
	assert_int_equal(cache_prune(folder, 0, NOW), 3);
	assert_true(is_there("cc/in-use"));
	assert_false(is_there("aa") || is_there("bb"));
}

static void use_is_noted(void **state)
{
	char path[128];

	(void)state;
	snprintf(path, sizeof(path), "%s/bb/older", folder);
	cache_touch(path);
	assert_int_equal(cache_prune(folder, 3 * BYTES, NOW), 1);
	assert_true(is_there("bb/older"));
	assert_false(is_there("aa/old"));
}

/* Another recorder is about to rename it. */
static void what_is_being_made_stays(void **state)
{
	(void)state;
	make("aa/.new", NOW - 50);
	assert_int_equal(cache_prune(folder, 0, NOW), 3);
	assert_true(is_there("aa/.new"));
}

static void no_folder(void **state)
{
	(void)state;
	assert_int_equal(cache_prune("/tmp/record_cache_test-none", 0, NOW), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(oldest_first, setup, teardown),
		cmocka_unit_test_setup_teardown(what_is_in_use_stays, setup, teardown),
		cmocka_unit_test_setup_teardown(use_is_noted, setup, teardown),
		cmocka_unit_test_setup_teardown(what_is_being_made_stays, setup, teardown),
		cmocka_unit_test(no_folder),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
