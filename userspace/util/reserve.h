/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Large zeroed memory that takes none until it is written, however often it is had and given back.
 */
#ifndef RVT_UTIL_RESERVE_H
#define RVT_UTIL_RESERVE_H

#include <stddef.h>
#include <sys/mman.h>

/*
 * @len bytes of zeros, aligned to a page; NULL: out of memory. calloc() would clear, and so touch,
 * what was freed before.
 */
static inline void *reserve(size_t len)
{
	void *p = mmap(NULL, len, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

/*
 * All @len bytes at @p, the beginning of a page, will be written: the kernel, from Linux 5.14 on,
 * makes them real at once, which takes less time than a page fault for each page.
 */
static inline void populate(void *p, size_t len)
{
#ifdef MADV_POPULATE_WRITE
	madvise(p, len, MADV_POPULATE_WRITE);
#else
	(void)p;
	(void)len;
#endif
}

static inline void unreserve(void *p, size_t len)
{
	if (p)
		munmap(p, len);
}

#endif
