// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Something happens, and its consequence shows more than 10^8 instructions later: cause(), rounds
 * of work(), effect().
 */
#define ROUNDS 4000000

static volatile unsigned long sink;

__attribute__((noipa)) static void cause(void)
{
	sink = 1;
}

/* 28 to 32 instructions */
__attribute__((noipa)) static unsigned long work(unsigned long n)
{
	unsigned long x = n;

	for (int i = 0; i < 4; i++)
		x = x & 1 ? 3 * x + 1 : x / 2;
	return x;
}

__attribute__((noipa)) static void effect(void)
{
	sink = 2;
}

int main(void)
{
	unsigned long sum = 0;

	cause();
	for (unsigned long n = 0; n < ROUNDS; n++)
		sum += work(n);
	sink = sum;
	effect();
	return 0;
}
