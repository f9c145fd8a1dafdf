// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Callers of other versions, and those who leave out what may be left out. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include <rvtrace/session.h>
#include <rvtrace/stream.h>
#include <rvtrace/version.h>
#include "util/sized.h"

struct now {
	size_t size;
	int first, second;
};

/* What an older caller has is taken, what a newer one has besides is left out. */
static void test_copy(void **state)
{
	struct { struct now now; int third; } newer = { { sizeof(newer), 1, 2 }, 3 };
	struct { size_t size; int first; } older = { sizeof(older), 7 };
	struct { struct now now; int guard; } copy = { .guard = 42 };
	const struct now none = { .first = 1 };

	(void)state;
	assert_int_equal(sized_copy(&copy.now, sizeof(copy.now), &newer), 0);
	assert_int_equal(copy.now.size, sizeof(copy.now));
	assert_int_equal(copy.now.second, 2);
	older.size = offsetof(struct now, second);
	assert_int_equal(sized_copy(&copy.now, sizeof(copy.now), &older), 0);
	assert_int_equal(copy.now.first, 7);
	assert_int_equal(copy.now.second, 0);
	assert_int_equal(sized_copy(&copy.now, sizeof(copy.now), NULL), 0);
	assert_int_equal(copy.now.first, 0);
	assert_int_equal(copy.guard, 42);
	assert_int_equal(sized_copy(&copy.now, sizeof(copy.now), &none), -EINVAL);
}

/* Whatever the size that the caller says, nothing behind it is written. */
static void test_flow_config(void **state)
{
	struct rvt_params params;
	unsigned char room[2 * sizeof(struct rvt_flow_config)];

	(void)state;
	rvt_params_init(&params, RVT_PROTOCOL_NTRACE, RVT_DIALECT_NTRACE_1_0);
	params.xlen = 32;
	for (size_t size = sizeof(size_t); size < sizeof(room); size++) {
		struct rvt_flow_config *config = malloc(size);

		assert_non_null(config);
		memset(config, 0xa5, size);
		memcpy(config, &size, sizeof(size));
		rvt_stream_flow_config(&params, config);
		assert_int_equal(config->size, size);
		if (size >= offsetof(struct rvt_flow_config, return_stack_depth))
			assert_true(config->isa & RVT_ISA_RV32);
		free(config);
	}
}

static void test_open(void **state)
{
	const struct rvt_session_options unsized = { .jobs = 1 };
	struct rvt_session *session;
	char *error;

	(void)state;
	assert_int_equal(rvt_session_open("/dev/null", &unsized, &session, &error), -EINVAL);
	assert_non_null(error);
	free(error);
	assert_int_not_equal(rvt_session_open("/dev/null", NULL, &session, &error), 0);
	assert_non_null(error);
	free(error);
	assert_int_not_equal(rvt_session_open("/nonexistent", NULL, &session, &error), 0);
	assert_non_null(strstr(error, "/nonexistent"));
	free(error);
	rvt_session_close(NULL);
}

/* A dump without code: call-backs may be left out, structs must say their size. */
static void test_dump(void **state)
{
	char path[] = "/tmp/rvt-door-XXXXXX";
	struct rvt_params params;
	struct rvt_session_dump dump = { .size = sizeof(dump), .path = path, .params = &params };
	const struct rvt_session_sink unsized = { .ctx = NULL };
	int fd = mkstemp(path);
	struct rvt_session_stats stats;
	struct rvt_session *session;
	char *error;

	(void)state;
	assert_true(fd >= 0);
	/* idle bytes */
	assert_int_equal(write(fd, "\xff\xff\xff", 3), 3);
	close(fd);
	rvt_params_init(&params, RVT_PROTOCOL_NTRACE, RVT_DIALECT_NTRACE_1_0);
	assert_int_equal(rvt_session_open_dump(&dump, NULL, &session, &error), 0);
	assert_int_equal(rvt_session_run(session, &unsized), -EINVAL);
	assert_int_equal(rvt_session_run(session, NULL), 0);
	rvt_session_stats(session, &stats);
	assert_int_equal(stats.trace_bytes, 3);
	assert_int_equal(stats.stream.messages, 0);
	rvt_session_close(session);
	dump.size = 0;
	assert_int_equal(rvt_session_open_dump(&dump, NULL, &session, &error), -EINVAL);
	free(error);
	dump.size = sizeof(dump);
	dump.params = NULL;
	assert_int_equal(rvt_session_open_dump(&dump, NULL, &session, &error), -EINVAL);
	assert_non_null(strstr(error, "parameters"));
	free(error);
	dump.params = &params;
	params.src_bits = 99;
	assert_int_equal(rvt_session_open_dump(&dump, NULL, &session, &error), -EINVAL);
	assert_non_null(strstr(error, "fit no decoder"));
	free(error);
	unlink(path);
}

static void test_version(void **state)
{
	(void)state;
	assert_int_equal(rvt_version(), RVT_VERSION);
	assert_true(RVT_MAKE_VERSION(0, 10) > RVT_MAKE_VERSION(0, 2));
	assert_true(RVT_MAKE_VERSION(1, 0) > RVT_MAKE_VERSION(0, 200));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_copy),
		cmocka_unit_test(test_flow_config),
		cmocka_unit_test(test_open),
		cmocka_unit_test(test_dump),
		cmocka_unit_test(test_version),
	};

	return cmocka_run_group_tests_name("the library's door", tests, NULL, NULL);
}
