// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Arrays that grow: what was there stays, and sizes that no memory has are refused. Sorted ones. */
#include <errno.h>
#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include "util/array.h"

/* Without it the address sanitizer ends the program when realloc() is to fail. */
const char *__asan_default_options(void)
{
	return "allocator_may_return_null=1";
}

struct element {
	uint64_t number;
	char rest[16];
};

static void push(struct element **list, size_t *n)
{
	assert_int_equal(array_grow(list, *n), 0);
	assert_true(malloc_usable_size(*list) >= (*n + 1) * sizeof(**list));
	(*list)[*n].number = *n;
	++*n;
}

static void check(const struct element *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		assert_int_equal(list[i].number, i);
}

static void test_one_by_one(void **state)
{
	struct element *list = NULL;
	size_t n = 0;

	(void)state;
	while (n < 5000)
		push(&list, &n);
	check(list, n);
	free(list);
}

/* Elements that are taken away leave the room that the next ones need. */
static void test_taken_away(void **state)
{
	struct element *list = NULL;
	size_t n = 0;

	(void)state;
	for (size_t most = 0; most < 70; most++) {
		while (n < most)
			push(&list, &n);
		check(list, n);
		n = most / 2;
		push(&list, &n);
		check(list, n);
		if (most % 7 == 0)
			n = 0;
	}
	free(list);
}

static void test_several(void **state)
{
	size_t room = 0, n = 0, before;
	uint16_t *list = NULL;

	(void)state;
	for (size_t more = 0; more < 300; more++) {
		assert_int_equal(array_reserve(&list, &room, n, more), 0);
		assert_true(room >= n + more);
		assert_true(!more || malloc_usable_size(list) >= room * sizeof(*list));
		for (size_t i = 0; i < more; i++)
			list[n + i] = n + i;
		n += more;
	}
	for (size_t i = 0; i < n; i++)
		assert_int_equal(list[i], i % 65536);
	/* what fits changes nothing; what does not at least doubles */
	before = room;
	assert_int_equal(array_reserve(&list, &room, n, room - n), 0);
	assert_int_equal(room, before);
	assert_int_equal(array_reserve(&list, &room, room, 1), 0);
	assert_int_equal(room, 2 * before);
	free(list);
}

/* Sums and products that wrap around would give too little. */
static void test_too_many(void **state)
{
	struct element *list = NULL, *before;
	volatile size_t many = SIZE_MAX;	/* else the compiler sees the error */
	size_t room = 0;

	(void)state;
	assert_int_equal(array_reserve(&list, &room, 0, 3), 0);
	before = list;
	assert_int_equal(array_reserve(&list, &room, 3, many - 2), -ENOMEM);
	assert_int_equal(array_reserve(&list, &room, 3, many / sizeof(*list)), -ENOMEM);
	assert_int_equal(array_grow(&list, many / 2 + 1), -ENOMEM);
	assert_ptr_equal(list, before);
	assert_true(room >= 3 && room < 100);
	free(list);
}

/* Sorted by .number, with equal ones; what a linear search finds. */
static void test_floor(void **state)
{
	struct element list[40] = { 0 };

	(void)state;
	for (size_t i = 1; i < 40; i++)
		list[i].number = list[i - 1].number + i % 3;
	list[38].number = UINT64_MAX - 1;
	list[39].number = UINT64_MAX;
	for (size_t i = 0; i < 40; i++)
		list[i].number += i < 38 ? 5 : 0;
	for (size_t n = 0; n <= 40; n++) {
		const uint64_t ends[] = { 0, UINT64_MAX - 2, UINT64_MAX - 1, UINT64_MAX };

		for (uint64_t key = 0; key < 64; key++) {
			uint64_t wanted = key < 60 ? key : ends[key - 60];
			const struct element *last = NULL;

			for (size_t i = 0; i < n; i++)
				if (list[i].number <= wanted)
					last = &list[i];
			assert_ptr_equal(array_floor(list, n, number, wanted), last);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_by_one),
		cmocka_unit_test(test_taken_away),
		cmocka_unit_test(test_several),
		cmocka_unit_test(test_too_many),
		cmocka_unit_test(test_floor),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
