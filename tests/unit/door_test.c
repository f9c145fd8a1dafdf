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
#include <rvtrace/callstack.h>
#include <rvtrace/flow.h>
#include <rvtrace/image.h>
#include <rvtrace/session.h>
#include <rvtrace/stream.h>
#include <rvtrace/version.h>
#include "flow/order.h"
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
		int ret;

		assert_non_null(config);
		memset(config, 0xa5, size);
		memcpy(config, &size, sizeof(size));
		ret = rvt_stream_flow_config(&params, config);
		assert_int_equal(ret, size > sizeof(size) ? 0 : -EINVAL);
		assert_int_equal(config->size, size);
		if (size >= offsetof(struct rvt_flow_config, return_stack_depth))
			assert_true(config->isa & RVT_ISA_RV32);
		free(config);
	}
}

/*
 * Parameters of an older caller: what it does not know is 0, and none of it is written. Those of a
 * newer one: what only that knows is 0.
 */
static void test_params(void **state)
{
	static const char text[] = "dialect = 2.0.5\ncache_size_p = 3\ntrap_vector = 0x1000\n";
	const size_t old = offsetof(struct rvt_params, return_stack_size_p);
	struct { struct rvt_params now; uint64_t later; } newer = { .later = 42 };
	struct rvt_params params = { .size = old }, whole;
	char *error, *printed;

	(void)state;
	memset((char *)&params + old, 0xa5, sizeof(params) - old);
	assert_int_equal(rvt_params_parse(&params, "old", text, strlen(text), &error), 0);
	assert_int_equal(params.size, old);
	assert_int_equal(params.cache_size_p, 3);
	for (size_t i = old; i < sizeof(params); i++)
		assert_int_equal(((unsigned char *)&params)[i], 0xa5);
	assert_int_equal(rvt_params_print(&params, &printed), 0);
	assert_non_null(strstr(printed, "cache_size_p = 3\n"));
	assert_non_null(strstr(printed, "return_stack_size_p = 0\n"));
	assert_null(strstr(printed, "trap_vector"));
	free(printed);

	newer.now.size = sizeof(newer);
	assert_int_equal(rvt_params_parse(&newer.now, "new", text, strlen(text), &error), 0);
	assert_int_equal(newer.now.size, sizeof(newer));
	assert_int_equal(newer.now.vectors.base, 0x1000);
	assert_int_equal(newer.later, 0);

	rvt_params_init(&whole, RVT_PROTOCOL_NTRACE, RVT_DIALECT_NTRACE_1_0);
	assert_int_equal(whole.size, sizeof(whole));
	whole.size = 0;
	assert_int_equal(rvt_params_set_defaults(&whole, RVT_PROTOCOL_NTRACE,
						 RVT_DIALECT_NTRACE_1_0), -EINVAL);
	assert_int_equal(rvt_params_print(&whole, &printed), -EINVAL);
	assert_int_equal(rvt_params_parse(&whole, "none", text, strlen(text), &error), -EINVAL);
	assert_non_null(strstr(error, "size"));
	free(error);
	/* as of what was on the stack */
	whole.size = 0xa5a5a5a5;
	assert_int_equal(rvt_params_load(&whole, "/dev/null", &error), -EINVAL);
	assert_non_null(strstr(error, "size"));
	free(error);
}

static struct rvt_flow *no_flow(void *ctx, unsigned int src)
{
	(void)ctx;
	(void)src;
	return NULL;
}

/* Streams and dumps look at no more of the parameters than there is. */
static void test_short_params(void **state)
{
	const size_t old = offsetof(struct rvt_params, mode);
	const struct rvt_stream_ops ops = { .size = sizeof(ops), .flow = no_flow };
	struct rvt_params *params = malloc(old), whole;
	struct rvt_dump_stats stats = { .size = offsetof(struct rvt_dump_stats, idle_bytes),
					.idle_bytes = 42 };
	struct rvt_stream *stream;
	struct rvt_dump *dump;

	(void)state;
	rvt_params_init(&whole, RVT_PROTOCOL_NTRACE, RVT_DIALECT_NTRACE_1_0);
	assert_non_null(params);
	whole.size = old;
	memcpy(params, &whole, old);
	assert_int_equal(rvt_stream_create(params, &ops, &stream), 0);
	rvt_stream_destroy(stream);
	/* idle bytes */
	assert_int_equal(rvt_stream_message(params, "\xff", 1), 1);
	assert_int_equal(rvt_dump_create(params, 0, stderr, &dump), 0);
	rvt_dump_feed(dump, "\xff\xff", 2, 0);
	assert_int_equal(rvt_dump_stats(dump, &stats), 0);
	assert_int_equal(stats.idle_bytes, 42);
	stats.size = sizeof(stats);
	assert_int_equal(rvt_dump_stats(dump, &stats), 0);
	assert_int_equal(stats.idle_bytes, 2);
	rvt_dump_destroy(dump);
	/* its first member; there is not a whole one */
	*(size_t *)params = 0;
	assert_int_equal(rvt_stream_create(params, &ops, &stream), -EINVAL);
	assert_int_equal(rvt_dump_create(params, 0, stderr, &dump), -EINVAL);
	assert_int_equal(rvt_stream_boundary(params, "\xff", 1), -EINVAL);
	free(params);
}

static int count_run(void *ctx, const struct rvt_run *run, uint64_t times)
{
	*(uint64_t *)ctx += run->count * times;
	return 0;
}

/* What an older caller's sinks do not have is not called. */
static void test_flow(void **state)
{
	const struct rvt_flow_sink unsized = { .ctx = NULL };
	const struct rvt_flow_config no_config = { .isa = 0 };
	struct rvt_count_sink sink = { .size = offsetof(struct rvt_count_sink, edge),
				       .run = count_run, .edge = (void *)-1 };
	struct rvt_flow_stats stats = { .size = offsetof(struct rvt_flow_stats, halfwords),
					.halfwords = 42 };
	struct rvt_order order = { .max_halfwords = 4, .max_insns = RVT_UNLIMITED };
	struct rvt_image *image;
	struct rvt_space *space;
	struct rvt_flow *flow;
	uint64_t insns = 0;

	(void)state;
	sink.ctx = &insns;
	assert_int_equal(rvt_flow_create(&no_config, NULL, &flow), -EINVAL);
	assert_null(flow);
	assert_int_equal(rvt_flow_create(NULL, &unsized, &flow), -EINVAL);
	assert_int_equal(rvt_flow_create(NULL, NULL, &flow), 0);
	assert_int_equal(rvt_flow_count(flow), 0);
	assert_int_equal(rvt_image_create(&image), 0);
	assert_int_equal(rvt_space_create(image, NULL, &space), 0);
	/* c.nop; c.j 1000 */
	assert_int_equal(rvt_space_map_bytes(space, 0x1000, "\x01\x00\xfd\xbf", 4, "code"), 0);
	rvt_flow_set_space(flow, space);
	assert_int_equal(rvt_flow_start(flow, 0x1000, 0, true), 0);
	assert_int_equal(rvt_flow_run(flow, &order), RVT_STOP_HALFWORDS);
	assert_int_equal(rvt_flow_stats(flow, &stats), 0);
	assert_int_equal(stats.insns, 4);
	assert_int_equal(stats.halfwords, 42);
	stats.size = 1;
	assert_int_equal(rvt_flow_stats(flow, &stats), -EINVAL);
	assert_int_equal(rvt_flow_counts(flow, &(struct rvt_count_sink){ .ctx = NULL }), -EINVAL);
	assert_int_equal(rvt_flow_counts(flow, &sink), 0);
	assert_int_equal(insns, 4);
	assert_int_equal(rvt_flow_counts(flow, NULL), 0);
	rvt_flow_destroy(flow);
	rvt_flow_destroy(NULL);
	rvt_image_destroy(image);
	rvt_stream_destroy(NULL);
	rvt_dump_destroy(NULL);
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
	const struct rvt_dump_image image = { .path = path };
	int fd = mkstemp(path);
	struct rvt_session_stats stats = { .size = sizeof(stats) };
	struct rvt_stream_stats stream = { .size = sizeof(stream) };
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
	assert_int_equal(rvt_session_stats(session, &stats), 0);
	assert_int_equal(stats.trace_bytes, 3);
	assert_int_equal(rvt_session_stream_stats(session, &stream), 0);
	assert_int_equal(stream.bytes, 3);
	assert_int_equal(stream.messages, 0);
	stream.size = offsetof(struct rvt_stream_stats, messages);
	stream.messages = 42;
	assert_int_equal(rvt_session_stream_stats(session, &stream), 0);
	assert_int_equal(stream.messages, 42);
	stream.size = 0;
	assert_int_equal(rvt_session_stream_stats(session, &stream), -EINVAL);
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
	dump.images = &image;
	dump.n_images = 1;
	assert_int_equal(rvt_session_open_dump(&dump, NULL, &session, &error), -EINVAL);
	assert_non_null(strstr(error, "rvt_dump_image"));
	free(error);
	dump.n_images = 0;
	params.src_bits = 99;
	assert_int_equal(rvt_session_open_dump(&dump, NULL, &session, &error), -EINVAL);
	assert_non_null(strstr(error, "fit no decoder"));
	free(error);
	unlink(path);
}

static void test_callstack(void **state)
{
	const struct rvt_callstack_code unsized = { .ctx = NULL };
	struct rvt_callstack *stack;

	(void)state;
	assert_null(rvt_callstack_create(4, &unsized));
	stack = rvt_callstack_create(4, NULL);
	assert_int_equal(rvt_callstack_call(stack, 0x10, 0x14, 0x40), 0);
	assert_int_equal(rvt_callstack_jump(stack, 0x40, 0x80), 0);
	assert_int_equal(rvt_callstack_return(stack, 0x14), 1);
	rvt_callstack_destroy(stack);
	rvt_callstack_destroy(NULL);
	rvt_unwind_destroy(NULL);
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
		cmocka_unit_test(test_params),
		cmocka_unit_test(test_short_params),
		cmocka_unit_test(test_flow),
		cmocka_unit_test(test_open),
		cmocka_unit_test(test_dump),
		cmocka_unit_test(test_callstack),
		cmocka_unit_test(test_version),
	};

	return cmocka_run_group_tests_name("the library's door", tests, NULL, NULL);
}
