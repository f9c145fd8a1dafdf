// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "common/text.h"

static void number(const char *text, int err, uint64_t expected, const char *rest)
{
	uint64_t value = 0;

	assert_int_equal(read_number(&text, &value), err);
	if (err)
		return;
	assert_int_equal(value, expected);
	assert_string_equal(text, rest);
}

static void test_numbers(void **state)
{
	(void)state;
	number("0", 0, 0, "");
	number("18446744073709551615", 0, UINT64_MAX, "");
	number("0xFFFFFFFFFFFFFFFF,", 0, UINT64_MAX, ",");
	number("0Xa-b", 0, 10, "-b");
	/* decimal, as perf reads it */
	number("010", 0, 10, "");
	number("0x", 0, 0, "x");
	number("0xg", 0, 0, "xg");
	number("12abc", 0, 12, "abc");
	number("18446744073709551616", -ERANGE, 0, NULL);
	number("0x10000000000000000", -ERANGE, 0, NULL);
	number("", -EINVAL, 0, NULL);
	number("-1", -EINVAL, 0, NULL);
	number("+1", -EINVAL, 0, NULL);
	number(" 1", -EINVAL, 0, NULL);
	number("x1", -EINVAL, 0, NULL);
}

static void decimal(const char *text, int err, double expected, const char *rest)
{
	double value = 0;

	assert_int_equal(read_decimal(&text, &value), err);
	if (err)
		return;
	assert_true(value == expected);
	assert_string_equal(text, rest);
}

static void test_decimals(void **state)
{
	(void)state;
	decimal("0", 0, 0, "");
	decimal("12.5,13", 0, 12.5, ",13");
	decimal(".5", 0, 0.5, "");
	decimal("1e3", 0, 1000, "");
	decimal("1e999", -ERANGE, 0, NULL);
	decimal("nan", -EINVAL, 0, NULL);
	decimal("inf", -EINVAL, 0, NULL);
	decimal("-1", -EINVAL, 0, NULL);
	decimal("", -EINVAL, 0, NULL);
	decimal(".", -EINVAL, 0, NULL);
	decimal("0x10", -EINVAL, 0, NULL);
}

static void hex(uint64_t value, const char *expected)
{
	char text[17] = "................", *end = put_hex(text, value);

	*end = 0;
	assert_string_equal(text, expected);
}

static void test_hex(void **state)
{
	(void)state;
	hex(0, "0");
	hex(0xf, "f");
	hex(0x10, "10");
	hex(0x123456789abcdef0, "123456789abcdef0");
	hex(UINT64_MAX, "ffffffffffffffff");
}

static void list(const char *text, int expected, int first, int last)
{
	int *numbers, n = parse_numbers(text, &numbers);

	assert_int_equal(n, expected);
	if (n < 0)
		return;
	assert_int_equal(numbers[0], first);
	assert_int_equal(numbers[n - 1], last);
	free(numbers);
}

static void test_lists(void **state)
{
	(void)state;
	list("5", 1, 5, 5);
	list("7,0-3", 5, 0, 7);
	list("0-1\n", 2, 0, 1);
	list("", -EINVAL, 0, 0);
	list("3-1", -EINVAL, 0, 0);
	list("-1", -EINVAL, 0, 0);
	list("1,,2", -EINVAL, 0, 0);
	list("1 2", -EINVAL, 0, 0);
	list("0-4294967296", -EINVAL, 0, 0);
	list("18446744073709551616", -EINVAL, 0, 0);
}

static void visible(const char *text, const char *expected)
{
	char *copy = text_visible(text);

	assert_string_equal(copy, expected);
	assert_int_equal(text_is_visible(text), !strcmp(text, expected));
	free(copy);
}

static void test_visible(void **state)
{
	(void)state;
	visible("", "");
	visible("a b;c\"\\~", "a b;c\"\\~");
	visible("\a\b\t\n\v\f\r", "\\a\\b\\t\\n\\v\\f\\r");
	visible("\033[31mred\177", "\\033[31mred\\177");
	visible("\001x", "\\001x");
	visible("gr\xc3\xbc\xc3\x9f", "gr\xc3\xbc\xc3\x9f");
	visible("\xe2\x82\xac\xf0\x9f\x99\x82", "\xe2\x82\xac\xf0\x9f\x99\x82");
	/* the control characters behind ASCII, as one byte and as UTF-8 */
	visible("\x9b" "1m", "\\2331m");
	visible("\xc2\x9b" "1m", "\\302\\2331m");
	/* cut, overlong, a surrogate, beyond the last */
	visible("\xc3", "\\303");
	visible("\xe2\x82", "\\342\\202");
	visible("\xc0\x8a", "\\300\\212");
	visible("\xe0\x80\x8a", "\\340\\200\\212");
	visible("\xed\xa0\x80", "\\355\\240\\200");
	visible("\xf4\x90\x80\x80", "\\364\\220\\200\\200");
	visible("\xff", "\\377");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_decimals),
		cmocka_unit_test(test_hex),
		cmocka_unit_test(test_lists),
		cmocka_unit_test(test_visible),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
