// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Histograms against a sorted list of the same values. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include "../../tools/perf-plugin/common/histogram.h"

#define VALUES 5000

static int compare(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static void assert_near(uint64_t value, uint64_t expected)
{
	assert_true(value >= expected - expected / 64 && value <= expected + expected / 64);
}

static void test_random(void **state)
{
	static const double percents[] = { 1, 50, 90, 99, 99.9, 100 };
	static uint64_t values[VALUES];
	struct histogram histogram = { 0 };
	uint64_t sum = 0, above = 0, random = 1, example;

	(void)state;
	for (size_t i = 0; i < VALUES; i++) {
		random = random * 6364136223846793005 + 1442695040888963407;
		values[i] = random >> 16 >> (random >> 59);
		sum += values[i];
		assert_int_equal(histogram_add(&histogram, values[i], values[i]), 0);
	}
	qsort(values, VALUES, sizeof(*values), compare);
	assert_int_equal(histogram.n, VALUES);
	assert_int_equal(histogram.sum, sum);
	assert_int_equal(histogram.min, values[0]);
	assert_int_equal(histogram.max, values[VALUES - 1]);
	for (size_t i = 0; i < sizeof(percents) / sizeof(*percents); i++) {
		uint64_t expected = values[(size_t)(percents[i] / 100 * VALUES - 0.5)];

		assert_near(histogram_percentile(&histogram, percents[i], &example), expected);
		assert_near(example, expected);
	}
	for (size_t i = 0; i < VALUES; i++)
		above += values[i] > values[VALUES / 2] ? values[i] - values[VALUES / 2] : 0;
	assert_near(histogram_above(&histogram, values[VALUES / 2]), above);
	assert_int_equal(histogram_between(&histogram, 0, UINT64_MAX), VALUES);
	histogram_clear(&histogram);
	assert_int_equal(histogram_percentile(&histogram, 50, NULL), 0);
}

/* One value is exact, whatever it is, up to the largest there is. */
static void test_exact(void **state)
{
	static const uint64_t values[] = { 0, 1, 63, 64, 834, 1000003, UINT64_MAX };

	(void)state;
	for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++) {
		struct histogram histogram = { 0 };

		assert_int_equal(histogram_add(&histogram, values[i], 7), 0);
		assert_int_equal(histogram_percentile(&histogram, 50, NULL), values[i]);
		assert_int_equal(histogram_above(&histogram, 0), values[i]);
		histogram_clear(&histogram);
	}
}

/* Bounds at powers of two are those of buckets. */
static void test_between(void **state)
{
	struct histogram histogram = { 0 };

	(void)state;
	for (uint64_t i = 0; i < 1000; i++)
		assert_int_equal(histogram_add(&histogram, i, 0), 0);
	assert_int_equal(histogram_between(&histogram, 0, 64), 64);
	assert_int_equal(histogram_between(&histogram, 64, 128), 64);
	assert_int_equal(histogram_between(&histogram, 256, 512), 256);
	assert_int_equal(histogram_between(&histogram, 512, 1024), 488);
	histogram_clear(&histogram);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_exact),
		cmocka_unit_test(test_between),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
