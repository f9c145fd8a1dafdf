// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include "property.h"

/* xorshift64* */
void random_seed(struct random *r, uint64_t seed)
{
	r->state = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
}

uint64_t random_word(struct random *r)
{
	r->state ^= r->state >> 12;
	r->state ^= r->state << 25;
	r->state ^= r->state >> 27;
	return r->state * UINT64_C(0x2545f4914f6cdd1d);
}

unsigned int random_below(struct random *r, unsigned int n)
{
	return (random_word(r) >> 32) % n;
}

bool random_one_in(struct random *r, unsigned int n)
{
	return !random_below(r, n);
}
