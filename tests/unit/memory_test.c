// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* --max-memory: amounts, and a process that takes more and more. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>
#include "../../tools/perf-plugin/common/memory.h"

#define MIB (1ull << 20)
#define LIMIT (400 * MIB)	/* sanitizers want much */

static void test_amounts(void **state)
{
	static const struct {
		const char *text;
		uint64_t bytes;
	} amounts[] = {
		{ "1", 1 }, { "100B", 100 }, { "64K", 64 << 10 }, { "512M", 512 * MIB },
		{ "4G", 4096 * MIB }, { "8589934591G", 8589934591ull << 30 },
	};
	static const char *const none[] = {
		"", "0", "0G", "-1", "4g", "4GB", "G", "1.5G", "8589934592G",
		"18446744073709551616",
	};
	uint64_t bytes;

	(void)state;
	for (size_t i = 0; i < sizeof(amounts) / sizeof(*amounts); i++) {
		assert_int_equal(memory_parse(amounts[i].text, &bytes), 0);
		assert_true(bytes == amounts[i].bytes);
	}
	for (size_t i = 0; i < sizeof(none) / sizeof(*none); i++)
		assert_true(memory_parse(none[i], &bytes) < 0);
	assert_true(memory_default() > 16 * MIB);
}

/* So many bytes more that no file has. */
static void take(uint64_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		_exit(9);
	memset(p, 1, bytes);
}

static void wait_for_look(void)
{
	nanosleep(&(struct timespec){ .tv_nsec = 200000000 }, NULL);
}

/* On a busy machine a look may come late. */
static bool is_seen(void)
{
	for (int i = 0; i < 50 && !memory_exceeded(); i++)
		wait_for_look();
	return memory_exceeded();
}

/* As one that asks and one that does not. */
static int grow(bool asks)
{
	memory_watch(LIMIT);
	wait_for_look();
	if (memory_exceeded())
		return 2;
	take(LIMIT);
	if (!is_seen())
		return 3;
	if (asks)
		return 0;
	take(LIMIT / 4);
	/* It ends meanwhile. */
	for (int i = 0; i < 50; i++)
		wait_for_look();
	return 4;
}

static void test_growing(void **state)
{
	(void)state;
	for (int asks = 0; asks < 2; asks++) {
		pid_t child = fork();
		int status;

		if (!child)
			_exit(grow(asks));
		assert_int_equal(waitpid(child, &status, 0), child);
		assert_true(WIFEXITED(status));
		assert_int_equal(WEXITSTATUS(status), asks ? 0 : 1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_amounts),
		cmocka_unit_test(test_growing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
