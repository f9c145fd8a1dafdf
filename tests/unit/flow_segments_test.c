// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Hops: which ones of a line are those of a key, with any processor's instructions, and where in
 * words their fields are.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include "flow/memo/segments.h"

#define ROUNDS 100000

/* Mostly like @key, so that what little differs decides. */
static struct rvt_hop any_hop(uint32_t key)
{
	const uint32_t differ = rand() % 2 ? 1u << rand() % 12 : 0;

	return (struct rvt_hop){
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
		const uint32_t key = rvt_hop_key(rand(), rand() % (RVT_HOP_OUTCOMES + 1));
		struct rvt_hop *first = NULL;
		struct rvt_hop_line line;
		unsigned int like = 0;

		for (unsigned int i = RVT_LINE_HOPS; i--; ) {
			struct rvt_hop *hop = &line.hops[i];

			*hop = any_hop(key & (RVT_HOP_KEYS - 1));
			if ((hop->key | hop->open) != ((key & (RVT_HOP_KEYS - 1)) | hop->open))
				continue;
			like |= 1u << i;
			first = hop;
		}
		assert_int_equal(rvt_hops_like_plain(&line, key), like);
#ifdef __SSE2__
		assert_int_equal(rvt_hops_like_sse2(&line, key), like);
#endif
		assert_ptr_equal(rvt_hop_in(&line, key), first);
	}
}

/* All ones in a field, of which as many hops as are summed up must not reach the next one. */
static void test_layout(void **state)
{
	static const struct {
		struct rvt_hop hop;
		unsigned int shift;
		uint64_t of, not_of;
	} fields[] = {
		{ { .used = 7 }, RVT_HOP_USED, RVT_HOP_EVEN, RVT_HOP_ODD },
		{ { .taken = 7 }, RVT_HOP_TAKEN, RVT_HOP_EVEN, RVT_HOP_ODD },
		{ { .halfwords = 4095 }, RVT_HOP_HALFWORDS, RVT_HOP_EVEN, RVT_HOP_ODD },
		{ { .n_runs = 63 }, RVT_HOP_N_RUNS, RVT_HOP_ODD, RVT_HOP_EVEN },
		{ { .insns = 2047 }, RVT_HOP_INSNS, RVT_HOP_ODD, RVT_HOP_EVEN },
		{ { .indirect = 3 }, RVT_HOP_INDIRECT, RVT_HOP_ODD, RVT_HOP_EVEN },
	};
	const struct rvt_hop once = { .times = 1 };
	uint64_t all = 0;

	(void)state;
	for (unsigned int i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		const struct rvt_hop *hop = &fields[i].hop;
		const uint64_t field = hop->used | hop->taken | hop->halfwords | hop->n_runs |
				       hop->insns | hop->indirect;

		assert_int_equal(hop->sums, field << fields[i].shift);
		assert_int_equal(hop->sums & fields[i].of, hop->sums);
		assert_int_equal(hop->sums & fields[i].not_of, 0);
		all |= hop->sums;
		for (unsigned int j = 0; j < sizeof(fields) / sizeof(fields[0]); j++)
			if (fields[j].of == fields[i].of && fields[j].shift > fields[i].shift)
				assert_true(RVT_HOP_SUMS * field <
					    1ull << (fields[j].shift - fields[i].shift));
	}
	assert_int_equal(RVT_HOP_EVEN | RVT_HOP_ODD, all);
	assert_int_equal(once.next_times, RVT_HOP_TIMES_ONE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_like),
		cmocka_unit_test(test_layout),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
