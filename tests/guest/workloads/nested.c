// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* One way to the function that takes all the time: main, first, second, third. */
#include <stdio.h>

static volatile unsigned long sink;

__attribute__((noipa)) static void third(unsigned long n)
{
	while (n--)
		sink += n & 3 ? n : 1;
}

__attribute__((noipa)) static void second(unsigned long n)
{
	third(n);
	sink++;
}

__attribute__((noipa)) static void first(unsigned long n)
{
	for (int i = 0; i < 4; i++)
		second(n);
	sink++;
}

int main(void)
{
	first(80000);
	printf("%lu\n", sink);
	return 0;
}
