/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Structs that callers fill begin with their size, so that they can grow. */
#ifndef RVT_UTIL_SIZED_H
#define RVT_UTIL_SIZED_H

#include <errno.h>
#include <stddef.h>
#include <string.h>

/*
 * Copies the struct @from, which begins with its size, to @to, which has @to_size bytes: members
 * that an older caller does not know are 0, those that only a newer one knows are left out. @from
 * NULL: all are 0. Returns 0, or -EINVAL: the caller did not say the size.
 */
static inline int sized_copy(void *to, size_t to_size, const void *from)
{
	size_t size = from ? *(const size_t *)from : 0;

	memset(to, 0, to_size);
	if (from && size <= sizeof(size))
		return -EINVAL;
	if (from)
		memcpy(to, from, size < to_size ? size : to_size);
	*(size_t *)to = to_size;
	return 0;
}

#endif
