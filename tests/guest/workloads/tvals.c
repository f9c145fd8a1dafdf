// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Page faults at known addresses:
 *	tvals BASE ROUNDS
 * Writes to 8 * n bytes behind the start of page n of four at BASE (hexadecimal), each of which is
 * not there, in turn.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/mman.h>

#define PAGES 4
#define PAGE 4096ul

int main(int argc, char **argv)
{
	unsigned long base = argc > 1 ? strtoul(argv[1], NULL, 16) : 0x10000000;
	long rounds = argc > 2 ? atol(argv[2]) : 1;
	volatile char *pages = mmap((void *)base, PAGES * PAGE, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);

	if (pages == MAP_FAILED)
		return 1;
	while (rounds--) {
		if (madvise((void *)base, PAGES * PAGE, MADV_DONTNEED))
			return 1;
		for (unsigned long n = 0; n < PAGES; n++)
			pages[n * PAGE + 8 * n] = 1;
	}
	return 0;
}
