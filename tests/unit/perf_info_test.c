// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Metadata of recordings by perf: PERF_RECORD_AUXTRACE_INFO as text, and what is wrong with it. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "property.h"
#include "session/perf-info.h"

#define MAGIC 0x52565452ull

/* Two harts with the same parameters, one with others. Keys: 0 protocol, 2 xlen, 25 ioptions */
static const uint64_t good[] = {
	10, MAGIC << 32 | 1, 1u << 1 | 1u << 2, 14, 2, 3,
	3, 0, 1, 2, 64, 8, 1,			/* N-Trace, time stamps: delta */
	4, 0, 2, 2, 32, 25, 0x3111111111111112, 0x300 + 25, 0x21,
	0, 0, 0,
	1, 1, 0,
	7, 2, 1,
};

#define N_GOOD (sizeof(good) / sizeof(*good))
#define AT_CPUS (N_GOOD - 9)

static void becomes_text(void **state)
{
	char *text;

	(void)state;
	assert_true(rvt_perf_info_is(good, N_GOOD));
	assert_int_equal(rvt_perf_info_print(good, N_GOOD, &text), 0);
	assert_string_equal(text,
		"pmu_type = 10\ntarget = task\nhcontext_bits = 14\n"
		"[encoder 0]\ncpu = 0\nsrc = 0\n"
		"protocol = ntrace\nxlen = 64\ntimestamp = delta\n"
		"[encoder 1]\ncpu = 1\nsrc = 1\n"
		"protocol = ntrace\nxlen = 64\ntimestamp = delta\n"
		"[encoder 7]\ncpu = 7\nsrc = 2\n"
		"protocol = etrace\nxlen = 32\n"
		"ioptions = sequential_jump, -, -, -, -, -, -, -, -, -, -, -, -, -, -, "
		"implicit_return, -, sequential_jump\n");
	free(text);
}

/* Two kinds of encoders: the words are those of perf, and mean the same. */
static void is_made(void **state)
{
	struct rvt_perfdata_info info = {
		.pmu_type = 10, .hcontext = true, .hcontext_bits = 14,
	};
	struct rvt_params ntrace = { .size = sizeof(ntrace) }, etrace = ntrace;
	uint64_t *words;
	char *text, *sets[2];
	size_t n;

	(void)state;
	rvt_params_init(&ntrace, RVT_PROTOCOL_NTRACE, RVT_DIALECT_NTRACE_1_0);
	rvt_params_init(&etrace, RVT_PROTOCOL_ETRACE, RVT_DIALECT_ETRACE_2_0);
	etrace.n_ioptions = 18;
	etrace.ioptions[15] = RVT_OPT_IMPLICIT_RETURN;
	etrace.ioptions[17] = RVT_OPT_SEQUENTIAL_JUMP;
	assert_int_equal(rvt_perf_info_add(&info, 0, 0, &ntrace), 0);
	assert_int_equal(rvt_perf_info_add(&info, 1, 1, &ntrace), 0);
	assert_int_equal(rvt_perf_info_add(&info, 7, 2, &etrace), 0);
	assert_int_equal(rvt_perf_info_words(&info, &words, &n), 0);
	assert_true(rvt_perf_info_is(words, n));
	/* the head, and what says which cpu has which set */
	assert_memory_equal(words, good, 6 * sizeof(*words));
	assert_memory_equal(words + n - 9, good + AT_CPUS, 9 * sizeof(*words));
	assert_int_equal(rvt_perf_info_print(words, n, &text), 0);
	for (unsigned int i = 0; i < 3; i++) {
		const struct rvt_params *given = i < 2 ? &ntrace : &etrace;
		struct rvt_params params = { .size = sizeof(params) };
		char *from = strstr(text, "\nsrc = "), *error = NULL;

		from = strchr(from + 1, '\n') + 1;
		n = strcspn(from, "[");
		assert_int_equal(rvt_params_parse(&params, "text", from, n, &error), 0);
		assert_int_equal(rvt_params_print(&params, &sets[0]), 0);
		assert_int_equal(rvt_params_print(given, &sets[1]), 0);
		assert_string_equal(sets[0], sets[1]);
		free(sets[0]);
		free(sets[1]);
		memmove(text, from + n, strlen(from + n) + 1);
	}
	free(text);
	free(words);
	rvt_perf_info_fini(&info);
}

static void says_how_it_was_recorded(void **state)
{
	const uint64_t words[] = { 9, MAGIC << 32 | 1, 1u << 3 | 1u << 4, 0, 0, 0 };
	char *text;

	(void)state;
	assert_int_equal(rvt_perf_info_print(words, 6, &text), 0);
	assert_string_equal(text, "pmu_type = 9\ntarget = cpu\ncontext = none\n"
				  "pid_namespace = other\n");
	free(text);
}

/* The words with one of them changed, and only @n of them */
static int changed(size_t at, uint64_t value, size_t n)
{
	uint64_t words[N_GOOD], *exact = malloc(n * sizeof(*exact));
	char *text;
	int err;

	memcpy(words, good, sizeof(words));
	words[at] = value;
	memcpy(exact, words, n * sizeof(*exact));	/* what is behind it is not read */
	err = rvt_perf_info_print(exact, n, &text);
	free(exact);
	if (err)
		assert_null(text);
	free(text);
	return err;
}

static void is_refused(void **state)
{
	(void)state;
	assert_false(rvt_perf_info_is(good, 5));
	assert_false(rvt_perf_info_is(good + 6, N_GOOD - 6));
	assert_int_equal(changed(1, MAGIC << 32 | 2, N_GOOD), -ENOTSUP);	/* version */
	assert_int_equal(changed(7, 0xff, N_GOOD), -ENOTSUP);			/* key */
	assert_int_equal(changed(8, 3, N_GOOD), -ENOTSUP);			/* protocol */
	assert_int_equal(changed(4, 3, N_GOOD), -EBADMSG);			/* sets */
	assert_int_equal(changed(4, UINT64_MAX, N_GOOD), -EBADMSG);
	assert_int_equal(changed(5, 4, N_GOOD), -EBADMSG);			/* cpus */
	assert_int_equal(changed(5, UINT64_MAX, N_GOOD), -EBADMSG);
	assert_int_equal(changed(6, UINT64_MAX, N_GOOD), -EBADMSG);		/* parameters */
	assert_int_equal(changed(AT_CPUS + 2, 2, N_GOOD), -EBADMSG);		/* set of a cpu */
	for (size_t n = 6; n < N_GOOD; n++)
		assert_int_equal(changed(0, 10, n), -EBADMSG);
}

static void any_words_are_read_safely(void **state)
{
	struct random random;

	(void)state;
	random_seed(&random, 1);
	for (unsigned int i = 0; i < 20000; i++) {
		size_t at = random_below(&random, N_GOOD);
		size_t n = 6 + random_below(&random, N_GOOD - 5);
		uint64_t value = random_word(&random) >> random_below(&random, 64);

		if (at != 1)
			changed(at, value, n);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(becomes_text),
		cmocka_unit_test(is_made),
		cmocka_unit_test(says_how_it_was_recorded),
		cmocka_unit_test(is_refused),
		cmocka_unit_test(any_words_are_read_safely),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
