/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Arrays that grow, and those that are sorted. Header only: library and command both use it. */
#ifndef RVTRACE_UTIL_ARRAY_H
#define RVTRACE_UTIL_ARRAY_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define ARRAY_FIRST_ROOM 8

/*
 * @array is the address of the pointer to the elements, which is NULL at first and given to free()
 * at last. Both return 0, or -ENOMEM and have changed nothing.
 */

/* Makes room for one element behind the @n there are. For arrays that get all their elements so. */
#define array_grow(array, n) array_grow_bytes((array), (n), sizeof(**(array)))

/* Makes room for @more elements behind the @n there are; *@room is kept: elements that fit. */
#define array_reserve(array, room, n, more) \
	array_reserve_bytes((array), (room), (n), (more), sizeof(**(array)))

/*
 * The last of the @n elements of @array whose @member is @key or less; NULL: none. @member is an
 * uint64_t that rises, or stays the same, from element to element.
 */
#define array_floor(array, n, member, key) \
	((__typeof__(&(array)[0])) \
	 array_floor_bytes((array), (n), sizeof((array)[0]), \
			   offsetof(__typeof__((array)[0]), member), (key)))

/* @array points to a pointer of any type. */
static inline int array_resize_bytes(void *array, size_t room, size_t size)
{
	void *elements;

	memcpy(&elements, array, sizeof(elements));
	elements = reallocarray(elements, room, size);
	if (!elements)
		return -ENOMEM;
	memcpy(array, &elements, sizeof(elements));
	return 0;
}

/* The room is the next power of two, which need not be kept: it grows when @n is one. */
static inline int array_grow_bytes(void *array, size_t n, size_t size)
{
	if (n && (n < ARRAY_FIRST_ROOM || n & (n - 1)))
		return 0;
	if (n > SIZE_MAX / 2)
		return -ENOMEM;
	return array_resize_bytes(array, n ? 2 * n : ARRAY_FIRST_ROOM, size);
}

static inline int array_reserve_bytes(void *array, size_t *room, size_t n, size_t more,
				      size_t size)
{
	size_t wanted = *room > SIZE_MAX / 2 ? SIZE_MAX : 2 * *room;
	int err;

	if (more <= *room - n)
		return 0;
	if (more > SIZE_MAX - n)
		return -ENOMEM;
	if (wanted < n + more)
		wanted = n + more;
	if (wanted < ARRAY_FIRST_ROOM)
		wanted = ARRAY_FIRST_ROOM;
	err = array_resize_bytes(array, wanted, size);
	if (!err)
		*room = wanted;
	return err;
}

static inline void *array_floor_bytes(const void *array, size_t n, size_t size, size_t member,
				      uint64_t key)
{
	const char *elements = array;
	size_t low = 0, high = n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		uint64_t value;

		memcpy(&value, elements + middle * size + member, sizeof(value));
		if (value <= key)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? (void *)(elements + (low - 1) * size) : NULL;
}

#endif
