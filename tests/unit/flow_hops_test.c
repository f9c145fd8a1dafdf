// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Hops: which ones of a line are those of a key, with any processor's instructions.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include "flow/hops.h"

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_like),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
