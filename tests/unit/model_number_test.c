// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Numbers in the arguments of the model's plugins. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "../../tools/model/number.h"

static void test_numbers(void **state)
{
	uint64_t value;

	(void)state;
	assert_int_equal(model_number("0", 0, &value), 0);
	assert_true(value == 0);
	assert_int_equal(model_number("0xffffffffffffffff", UINT64_MAX, &value), 0);
	assert_true(value == UINT64_MAX);
	assert_int_equal(model_number("12", 12, &value), 0);
	assert_true(value == 12);
}

static void test_refused(void **state)
{
	static const char *const texts[] = {
		"", "x", "5x", " 5", "5 ", "-1", "+1", "0x", "0xg", "1.5", "18446744073709551616"
	};
	uint64_t value;

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		assert_int_equal(model_number(texts[i], UINT64_MAX, &value), -EINVAL);
	assert_int_equal(model_number("13", 12, &value), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
