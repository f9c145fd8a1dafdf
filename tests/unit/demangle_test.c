// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Names of C++ functions, by section 5.1 of the C++ ABI (Itanium). */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include "../../tools/perf-plugin/common/demangle.h"

static void test_cpp(void **state)
{
	char *name = demangle("_ZN4work5queue4pushEiRKS0_");

	(void)state;
	if (!name)
		skip();	/* no C++ run-time library here */
	assert_string_equal(name, "work::queue::push(int, work::queue const&)");
	free(name);
	assert_null(demangle("_Z"));
}

static void test_others(void **state)
{
	(void)state;
	assert_null(demangle("main"));
	assert_null(demangle("ZN4work"));
	assert_null(demangle("_start"));
	assert_null(demangle(""));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cpp),
		cmocka_unit_test(test_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
