// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Calls known in number and depth: 1345 of leaf(), 100 of middle(), 40 deep of deep(), 7 long
 * jumps.
 */
#include <setjmp.h>
#include <stdio.h>

static jmp_buf escape;
static volatile unsigned long sink;

__attribute__((noipa)) static void leaf(unsigned long n)
{
	sink += n;
}

__attribute__((noipa)) static void middle(unsigned long n)
{
	for (unsigned long i = 0; i < 10; i++)
		leaf(i + n);
	sink++;
}

__attribute__((noipa)) static void deep(int depth)
{
	if (depth > 1)
		deep(depth - 1);
	sink += depth;
}

__attribute__((noipa)) static void thrower(int depth)
{
	if (depth)
		thrower(depth - 1);
	sink++;
	if (sink)
		longjmp(escape, 1);
}

__attribute__((noipa)) static void after_escape(void)
{
	sink++;
}

__attribute__((noipa)) static void jumps(void)
{
	for (volatile int i = 0; i < 7; i++)
		if (!setjmp(escape))
			thrower(5);
	after_escape();
}

int main(void)
{
	for (unsigned long i = 0; i < 100; i++)
		middle(i);
	for (unsigned long i = 0; i < 345; i++)
		leaf(i);
	deep(40);
	jumps();
	after_escape();
	printf("%lu\n", sink);
	return 0;
}
