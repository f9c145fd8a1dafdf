// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Large tables: what is in them stays when they move into huge pages, and when they cannot.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <cmocka.h>
#include "flow/core/blocks.h"

#define SIZE ((5ul << 20) + 100)	/* the last page is not full */
#define LARGE 256			/* entries: then it moves */

static unsigned int n_moved;
static bool fails;

/* The library's. One that fails may have unmapped already where it was to go. */
void *mremap(void *old, size_t old_size, size_t size, int flags, ...)
{
	void *to = NULL;
	va_list args;

	va_start(args, flags);
	if (flags & (MREMAP_FIXED | MREMAP_DONTUNMAP))
		to = va_arg(args, void *);
	va_end(args);
	n_moved++;
	if (!fails) {
		void *moved = (void *)syscall(SYS_mremap, old, old_size, size, flags, to);

		assert_ptr_not_equal(moved, MAP_FAILED);
		return moved;
	}
	if (flags & MREMAP_FIXED)
		munmap(to, size);
	errno = ENOMEM;
	return MAP_FAILED;
}

/* What is at @at of the table: zeros in most pages. */
static uint8_t byte_at(size_t at)
{
	const size_t page = at >> 12;

	return page % 7 && page != SIZE >> 12 ? 0 : 1 + at % 251;
}

static void check_growing(void)
{
	uint8_t *table = rvt_table_map(SIZE);

	assert_non_null(table);
	/*
	 * Where the system gives huge pages to whoever does not refuse, it is one from its
	 * beginning.
	 */
	madvise(table, SIZE, MADV_NOHUGEPAGE);
	for (size_t at = 0; at < SIZE; at++)
		if (byte_at(at))
			table[at] = byte_at(at);
	n_moved = 0;
	rvt_table_grows(table, SIZE, LARGE - 1);
	assert_int_equal(n_moved, 0);
	rvt_table_grows(table, SIZE, LARGE);
	assert_int_equal(n_moved, 1);
	rvt_table_grows(table, SIZE, LARGE + 1);
	assert_int_equal(n_moved, 1);
	for (size_t at = 0; at < SIZE; at++)
		if (table[at] != byte_at(at))
			fail_msg("%#zx: %u", at, table[at]);
	memset(table, 0, SIZE);
	munmap(table, SIZE);
}

static void test_moves(void **state)
{
	(void)state;
	if (sysconf(_SC_PAGESIZE) != 4096)
		skip();
	check_growing();
}

static void test_cannot_move(void **state)
{
	(void)state;
	if (sysconf(_SC_PAGESIZE) != 4096)
		skip();
	fails = true;
	check_growing();
	fails = false;
}

/* One that was huge from its beginning, or is full, has nothing to gain. */
static void test_full(void **state)
{
	uint8_t *table = rvt_table_map(SIZE);

	(void)state;
	assert_non_null(table);
	memset(table, 1, SIZE);
	n_moved = 0;
	rvt_table_grows(table, SIZE, LARGE);
	assert_int_equal(n_moved, 0);
	munmap(table, SIZE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_moves),
		cmocka_unit_test(test_cannot_move),
		cmocka_unit_test(test_full),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
