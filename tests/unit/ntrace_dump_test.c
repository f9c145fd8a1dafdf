// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Dump of N-Trace: offsets and bytes, JSON, counters. What the fields are is tested by
 * ntrace_files_test.c. Expected text is derived by hand from the form that rvtrace/dump.h gives.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <rvtrace/dump.h>

/* Idle, the message of chapter 3.5, idle, a sync, three bytes that are none, an Ownership */
static const uint8_t trace[] = {
	0xff, 0x70, 0xd0, 0x1d, 0x1d, 0xf8, 0xff, 0xff,
	0x24, 0x0d, 0x00, 0x09, 0x0f, 0x00, 0x02, 0x03, 0x08, 0xc8, 0x38, 0x03,
};

static char *dump(const struct rvt_params *params, unsigned int flags, size_t piece,
		  struct rvt_dump_stats *stats)
{
	struct rvt_dump *dump;
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_int_equal(rvt_dump_create(params, flags, out, &dump), 0);
	for (size_t pos = 0; pos < sizeof(trace); pos += piece)
		rvt_dump_feed(dump, trace + pos,
			      piece < sizeof(trace) - pos ? piece : sizeof(trace) - pos,
			      0x100 + pos);
	rvt_dump_finish(dump);
	rvt_dump_stats(dump, stats);
	rvt_dump_destroy(dump);
	fclose(out);
	return text;
}

static void check(unsigned int flags, const char *expected)
{
	static const size_t pieces[] = { sizeof(trace), 1, 3 };
	struct rvt_params params;

	rvt_params_init(&params, RVT_PROTOCOL_NTRACE, RVT_DIALECT_NTRACE_1_0);
	params.timestamp = RVT_TIMESTAMP_DELTA;
	for (size_t i = 0; i < sizeof(pieces) / sizeof(*pieces); i++) {
		struct rvt_dump_stats stats = { .size = sizeof(stats) };
		char *text = dump(&params, flags, pieces[i], &stats);

		assert_string_equal(text, expected);
		free(text);
		assert_int_equal(stats.messages, 3);
		assert_int_equal(stats.idle_bytes, 2);
		assert_int_equal(stats.damaged, 1);
		assert_int_equal(stats.skipped_bytes, 3);
	}
}

static void test_text(void **state)
{
	(void)state;
	check(0,
	      "00000101: 70 d0 1d 1d f8 ff                    IndirectBranchHist B-TYPE=0(jump) "
	      "I-CNT=125 U-ADDR=0x7 HIST=0b1_11111111110\n"
	      "00000108: 24 0d 00 09 0f                       ProgTraceSync SYNC=3(exit from debug "
	      "mode) I-CNT=0 F-ADDR=0x80 TSTAMP=3 address=0x100 time=3\n"
	      "0000010d: damaged, 3 bytes: reserved MSEO value 2\n"
	      "00000110: 08 c8 38 03                          Ownership PROCESS=0x3b2 FORMAT=2 "
	      "PRV=0 V=1 scontext=0x1d\n");
}

static void test_json(void **state)
{
	(void)state;
	check(RVT_DUMP_JSON,
	      "{\"offset\":257,\"bytes\":\"70d01d1df8ff\",\"message\":\"IndirectBranchHist\","
	      "\"TCODE\":28,\"B-TYPE\":0,\"I-CNT\":125,\"U-ADDR\":\"0x7\",\"HIST\":4094}\n"
	      "{\"offset\":264,\"bytes\":\"240d00090f\",\"message\":\"ProgTraceSync\",\"TCODE\":9,"
	      "\"SYNC\":3,\"I-CNT\":0,\"F-ADDR\":\"0x80\",\"TSTAMP\":3,\"address\":\"0x100\","
	      "\"time\":3}\n"
	      "{\"offset\":269,\"len\":3,\"damage\":\"reserved MSEO value 2\"}\n"
	      "{\"offset\":272,\"bytes\":\"08c83803\",\"message\":\"Ownership\",\"TCODE\":2,"
	      "\"PROCESS\":\"0x3b2\",\"FORMAT\":2,\"PRV\":0,\"V\":1,\"CONTEXT\":\"0x1d\"}\n");
}

static void test_parameters(void **state)
{
	struct rvt_params params;
	struct rvt_dump *dump;

	(void)state;
	rvt_params_init(&params, RVT_PROTOCOL_NTRACE, RVT_DIALECT_NTRACE_1_0);
	params.src_bits = 13;
	assert_int_equal(rvt_dump_create(&params, 0, stdout, &dump), -EINVAL);
	params.src_bits = 0;
	params.xlen = 16;
	assert_int_equal(rvt_dump_create(&params, 0, stdout, &dump), -EINVAL);
	params.xlen = 32;
	params.protocol = RVT_PROTOCOL_NONE;
	assert_int_equal(rvt_dump_create(&params, 0, stdout, &dump), -EINVAL);
	rvt_dump_destroy(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_json),
		cmocka_unit_test(test_parameters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
