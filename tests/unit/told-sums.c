// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "told-sums.h"

uint64_t told_hash(uint64_t number)
{
	const uint64_t x = number * 0x9e3779b97f4a7c15ull;

	return (x ^ x >> 32) * 0xd6e8feb86659fd93ull;
}

void told_run(struct told_sums *told, const struct rvt_run *run, uint64_t times)
{
	uint64_t pc = run->block->pc;

	for (uint32_t i = 0; i < run->first + run->count; i++) {
		if (i >= run->first)
			told->nodes += times * told_hash(pc);
		pc += 2 * run->block->halfwords[i];
	}
	told->insns += times * run->count;
}

void told_stream(struct told_sums *told, const struct rvt_stream *stream)
{
	struct rvt_stream_stats stats = { .size = sizeof(stats) };

	rvt_stream_stats(stream, &stats);
	told->messages = stats.messages;
	told->errors = stats.errors;
	told->skipped_bytes = stats.skipped_bytes;
}

void told_check(const struct told_sums *told, const struct told_sums *expected, const char *format,
		...)
{
	va_list args;

	if (!memcmp(told, expected, sizeof(*told)))
		return;
	va_start(args, format);
	vprint_error(format, args);
	va_end(args);
	fail_msg(": %lu of %lu instructions, %lu of %lu messages, %lu of %lu errors", told->insns,
		 expected->insns, told->messages, expected->messages, told->errors,
		 expected->errors);
}

void feed_copy(struct rvt_stream *stream, const uint8_t *bytes, size_t from, size_t to)
{
	uint8_t *copy = malloc(to - from + 1);

	memcpy(copy, bytes + from, to - from);
	assert_int_equal(rvt_stream_feed(stream, copy, to - from, from), 0);
	free(copy);
}
