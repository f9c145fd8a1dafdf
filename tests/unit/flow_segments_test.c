// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Segments: which ones of a line are those of a key, with any processor's instructions, and where
 * in words their fields are.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include "flow/memo/segments.h"

#define ROUNDS 100000

/* Mostly like @key, so that what little differs decides. */
static struct rvt_segment any_segment(uint32_t key)
{
	const uint32_t differ = rand() % 2 ? 1u << rand() % 12 : 0;

	return (struct rvt_segment){
		.key = key ^ differ, .open = rand() % 2 ? 1u << rand() % 12 : 0,
		.leaves = rand(), .ends_return = rand(), .falls = rand(), .state = rand(),
		.n_pushes = rand(), .next = rand(), .times = rand(), .runs = rand(),
		.insns = rand(),
	};
}

static void test_like(void **state)
{
	(void)state;
	srand(1);
	for (unsigned int round = 0; round < ROUNDS; round++) {
		const uint32_t key = rvt_segment_key(rand(), rand() % (RVT_SEGMENT_OUTCOMES + 1));
		struct rvt_segment *first = NULL;
		struct rvt_segment_line line;
		unsigned int like = 0;

		for (unsigned int i = RVT_LINE_SEGMENTS; i--; ) {
			struct rvt_segment *seg = &line.segments[i];

			*seg = any_segment(key & (RVT_SEGMENT_KEYS - 1));
			if ((seg->key | seg->open) != ((key & (RVT_SEGMENT_KEYS - 1)) | seg->open))
				continue;
			like |= 1u << i;
			first = seg;
		}
		assert_int_equal(rvt_segments_like_plain(&line, key), like);
#ifdef __SSE2__
		assert_int_equal(rvt_segments_like_sse2(&line, key), like);
#endif
		assert_ptr_equal(rvt_segment_in(&line, key), first);
	}
}

/* All ones in a field, of which as many segments as are summed up must not reach the next one. */
static void test_layout(void **state)
{
	static const struct {
		struct rvt_segment seg;
		unsigned int shift;
		uint64_t of, not_of;
	} fields[] = {
		{ { .used = 7 }, RVT_SEGMENT_USED, RVT_SEGMENT_EVEN, RVT_SEGMENT_ODD },
		{ { .taken = 7 }, RVT_SEGMENT_TAKEN, RVT_SEGMENT_EVEN, RVT_SEGMENT_ODD },
		{ { .halfwords = 4095 }, RVT_SEGMENT_HALFWORDS, RVT_SEGMENT_EVEN, RVT_SEGMENT_ODD },
		{ { .n_runs = 63 }, RVT_SEGMENT_N_RUNS, RVT_SEGMENT_ODD, RVT_SEGMENT_EVEN },
		{ { .insns = 2047 }, RVT_SEGMENT_INSNS, RVT_SEGMENT_ODD, RVT_SEGMENT_EVEN },
		{ { .indirect = 3 }, RVT_SEGMENT_INDIRECT, RVT_SEGMENT_ODD, RVT_SEGMENT_EVEN },
	};
	const struct rvt_segment once = { .times = 1 };
	uint64_t all = 0;

	(void)state;
	for (unsigned int i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		const struct rvt_segment *seg = &fields[i].seg;
		const uint64_t field = seg->used | seg->taken | seg->halfwords | seg->n_runs |
				       seg->insns | seg->indirect;

		assert_int_equal(seg->sums, field << fields[i].shift);
		assert_int_equal(seg->sums & fields[i].of, seg->sums);
		assert_int_equal(seg->sums & fields[i].not_of, 0);
		all |= seg->sums;
		for (unsigned int j = 0; j < sizeof(fields) / sizeof(fields[0]); j++)
			if (fields[j].of == fields[i].of && fields[j].shift > fields[i].shift)
				assert_true(RVT_SEGMENT_SUMS * field <
					    1ull << (fields[j].shift - fields[i].shift));
	}
	assert_int_equal(RVT_SEGMENT_EVEN | RVT_SEGMENT_ODD, all);
	assert_int_equal(once.next_times, RVT_SEGMENT_TIMES_ONE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_like),
		cmocka_unit_test(test_layout),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
