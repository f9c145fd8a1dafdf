// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * System calls from known places: write() 17 times from inner() below outer() and main(), 5 times
 * from inner() below main(); 11 times rest() sleeps, below main().
 */
#include <unistd.h>

__attribute__((noipa)) static int inner(int fd)
{
	return write(fd, "+\n", 2) == 2 ? 0 : 1;
}

__attribute__((noipa)) static int outer(int fd)
{
	return inner(fd) + 1;	/* no tail call */
}

__attribute__((noipa)) static int rest(void)
{
	return usleep(1000) + 1;
}

int main(void)
{
	int failed = 0;

	for (int i = 0; i < 17; i++)
		failed += outer(STDOUT_FILENO) - 1;
	for (int i = 0; i < 5; i++)
		failed += inner(STDOUT_FILENO);
	for (int i = 0; i < 11; i++)
		failed += rest() - 1;
	return failed != 0;
}
