// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* What --time says: in seconds, and as parts of a recording. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>
#include "common/times.h"
#include "property.h"

#define MAX_RANGES 3
#define S 1000000000ULL		/* ns */
#define EVER UINT64_MAX

/* Of the parts below: 100 s long. */
static const struct time_range recording = { 50 * S, 150 * S };

static const struct {
	const char *text;
	size_t n;
	struct time_range ranges[MAX_RANGES];
} good[] = {
	{ "1.5,2", 1, { { 3 * S / 2, 2 * S } } },
	{ "1.000000001,", 1, { { S + 1, EVER } } },
	{ ",2", 1, { { 0, 2 * S } } },
	{ "7", 1, { { 7 * S, EVER } } },
	{ "3,3", 1, { { 3 * S, 3 * S } } },
	{ "", 0, { { 0, 0 } } },
	{ "1,2 5,6", 2, { { S, 2 * S }, { 5 * S, 6 * S } } },
	{ " 5,6  1,2 ", 2, { { S, 2 * S }, { 5 * S, 6 * S } } },
	{ "1,3 2,4 6,", 2, { { S, 4 * S }, { 6 * S, EVER } } },
	{ "1,9 2,3", 1, { { S, 9 * S } } },
	{ "1,2 2.000000001,3", 1, { { S, 3 * S } } },
	{ "1,2 2.000000002,3", 2, { { S, 2 * S }, { 2 * S + 2, 3 * S } } },
	{ "5, 1,9", 1, { { S, EVER } } },
	{ "10%-20%", 1, { { 60 * S, 70 * S } } },
	{ "0%-100%", 1, { { 50 * S, 150 * S } } },
	{ "25%/2", 1, { { 75 * S, 100 * S } } },
	{ "25%", 1, { { 50 * S, 75 * S } } },
	{ "60%/2", 1, { { 110 * S, 150 * S } } },
	{ "90%-1e300%", 1, { { 140 * S, 150 * S } } },
	{ "10%/2,10%/4", 2, { { 60 * S, 70 * S }, { 80 * S, 90 * S } } },
	{ "80%-90%,0%-10% 50%-60%", 3,
	  { { 50 * S, 60 * S }, { 100 * S, 110 * S }, { 130 * S, 140 * S } } },
};

static const char *const bad[] = {
	"x", "nan,", "1,inf", "-1,2", "5,4", "1,2,3", "1,2 5,4", "1,2 x", "0x1,2", "1e10,", "1-2",
	"1;2",
	"%", "10%-", "-10%", "10%-5%", "101%-102%", "10%-20", "10-20%", "10%/", "10%/x", "10%/0",
	"10%/-1", "10%/2,", "10%/2,,10%/3", "10%/2,5", "1,2 10%", "nan%-5%", "0%/1e999", "1e308%/9",
	"10%-20%-30%", "10%/2/3", "10%2",
};

static void parses(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
		struct times times = { 0 };

		assert_int_equal(times_parse(&times, good[i].text, times_are_parts(good[i].text) ?
					     &recording : NULL), 0);
		if (times.n != good[i].n)
			fail_msg("'%s': %zu ranges", good[i].text, times.n);
		for (size_t k = 0; k < times.n; k++) {
			if (times.ranges[k].from != good[i].ranges[k].from ||
			    times.ranges[k].to != good[i].ranges[k].to)
				fail_msg("'%s': range %zu is %llu to %llu", good[i].text, k,
					 (unsigned long long)times.ranges[k].from,
					 (unsigned long long)times.ranges[k].to);
		}
		times_free(&times);
	}
}

static void refuses(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct times times = { 0 };

		if (times_parse(&times, bad[i], times_are_parts(bad[i]) ? &recording : NULL) !=
		    -EINVAL)
			fail_msg("'%s' was taken", bad[i]);
		times_free(&times);
	}
}

static void everything(void **state)
{
	const struct times times = { 0 };

	(void)state;
	assert_true(times_have(&times, 0));
	assert_true(times_have(&times, EVER));
	assert_true(times_have_any(&times, EVER, 0));
	assert_true(times_have_all(&times, 0, EVER));
	assert_int_equal(times_span(&times).from, 0);
	assert_true(times_span(&times).to == EVER);
}

/* Ranges of a few nanoseconds against a list of which nanoseconds are wanted. */
static void random_ranges(void **state)
{
	enum { NS = 40 };
	const uint64_t seed = property_setting("RVT_PROPERTY_SEED", 1);
	const uint64_t cases = property_setting("RVT_PROPERTY_CASES", 100);
	struct random random;

	(void)state;
	random_seed(&random, seed);
	for (uint64_t i = 0; i < cases; i++) {
		bool wanted[NS] = { false };
		struct times times = { 0 };
		char text[200] = "";

		for (uint64_t n = 1 + random_below(&random, 5); n; n--) {
			unsigned int from = random_below(&random, NS);
			unsigned int to = from + random_below(&random, 5);
			size_t len = strlen(text);

			to = to < NS ? to : NS - 1;
			snprintf(text + len, sizeof(text) - len, "%s0.0000000%02u,0.0000000%02u",
				 len ? " " : "", from, to);
			memset(wanted + from, true, to - from + 1);
		}
		assert_int_equal(times_parse(&times, text, NULL), 0);
		for (unsigned int from = 0; from < NS; from++) {
			bool any = false, all = true;

			assert_int_equal(times_have(&times, from), wanted[from]);
			for (unsigned int to = from; to < NS; to++) {
				any |= wanted[to];
				all &= wanted[to];
				assert_int_equal(times_have_any(&times, from, to), any);
				assert_int_equal(times_have_all(&times, from, to), all);
			}
		}
		assert_true(wanted[times_span(&times).from]);
		assert_true(wanted[times_span(&times).to]);
		times_free(&times);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parses),
		cmocka_unit_test(refuses),
		cmocka_unit_test(everything),
		cmocka_unit_test(random_ranges),
	};

	return cmocka_run_group_tests_name("times", tests, NULL, NULL);
}
