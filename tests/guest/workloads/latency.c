// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Calls of known length: latency [SLOW]
 *
 * 1000 calls of work(), each of which calls step() 20 times and spin() once. Calls 300 and 700 have
 * spin() go round 40 times as often, and call 500 sleeps for 5 ms in rest(). In call number SLOW
 * (of none unless it is given) step() goes another way once, by one branch in odd().
 */
#include <stdlib.h>
#include <time.h>

#define CALLS 1000

static volatile unsigned long sink;

__attribute__((noipa)) static void odd(unsigned long n, unsigned long slow)
{
	if (n == slow)
		sink += 7;
	else
		sink += 3;
}

__attribute__((noipa)) static void step(unsigned long n, unsigned long slow)
{
	sink += n;
	odd(n, slow);
}

__attribute__((noipa)) static void spin(unsigned long rounds)
{
	while (rounds--)
		sink++;
}

__attribute__((noipa)) static void rest(void)
{
	const struct timespec time = { 0, 5000000 };

	nanosleep(&time, NULL);
}

__attribute__((noipa)) static void work(unsigned long n, unsigned long slow)
{
	for (unsigned long i = 0; i < 20; i++)
		step(n, i == 10 ? slow : CALLS);
	spin(n == 300 || n == 700 ? 4000 : 100);
	if (n == 500)
		rest();
}

int main(int argc, char **argv)
{
	unsigned long slow = argc > 1 ? strtoul(argv[1], NULL, 0) : CALLS;

	for (unsigned long n = 0; n < CALLS; n++)
		work(n, slow);
	return 0;
}
