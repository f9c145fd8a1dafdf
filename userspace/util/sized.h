/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Structs that the caller provides begin with their size, so that they can grow. */
#ifndef RVT_UTIL_SIZED_H
#define RVT_UTIL_SIZED_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* No struct is larger: a size above is no size, but what was on the caller's stack. */
#define SIZED_MAX 65536

static inline bool is_sized(const void *from)
{
	const size_t size = *(const size_t *)from;

	return size > sizeof(size) && size <= SIZED_MAX;
}

/*
 * Copies the struct @from, which begins with its size, to @to, which has @to_size bytes: members
 * that an older caller does not know are 0, those that only a newer one knows are left out. @from
 * NULL: all are 0. Returns 0, or -EINVAL: the caller did not say the size.
 */
static inline int sized_copy(void *to, size_t to_size, const void *from)
{
	const bool given = from && is_sized(from);

	memset(to, 0, to_size);
	if (given) {
		const size_t size = *(const size_t *)from;

		memcpy(to, from, size < to_size ? size : to_size);
	}
	*(size_t *)to = to_size;
	return from && !given ? -EINVAL : 0;
}

/*
 * The reverse: fills the caller's struct @to, which says its size and keeps it, from @from, which
 * has @from_size bytes. Members that only a newer caller knows are 0. Returns 0, or -EINVAL: the
 * caller did not say the size; nothing is written.
 */
static inline int sized_fill(void *to, const void *from, size_t from_size)
{
	size_t size;

	if (!is_sized(to))
		return -EINVAL;
	size = *(const size_t *)to;
	memset(to, 0, size);
	memcpy(to, from, size < from_size ? size : from_size);
	*(size_t *)to = size;
	return 0;
}

#endif
