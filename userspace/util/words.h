/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Numbers that one writes and another reads in the same order. Header only: library and command
 * both use it.
 */
#ifndef RVTRACE_UTIL_WORDS_H
#define RVTRACE_UTIL_WORDS_H

#include <stdbool.h>
#include "util/array.h"

struct words {
	uint64_t *at;		/* of the writer: malloc'd */
	size_t n, room;		/* of the reader .n is where it is, .room the end */
	bool failed;		/* no memory, or read beyond the end */
};

static inline void words_put(struct words *words, uint64_t word)
{
	if (array_reserve(&words->at, &words->room, words->n, 1))
		words->failed = true;
	else
		words->at[words->n++] = word;
}

static inline uint64_t words_get(struct words *words)
{
	if (words->n < words->room)
		return words->at[words->n++];
	words->failed = true;
	return 0;
}

/* A number of things that follow, each a word at least. */
static inline size_t words_get_count(struct words *words)
{
	uint64_t count = words_get(words);

	if (count <= words->room - words->n)
		return count;
	words->failed = true;
	return 0;
}

/* To read what @at has, which stays the caller's. */
static inline struct words words_of(const uint64_t *at, size_t n)
{
	return (struct words){ .at = (uint64_t *)at, .room = n };
}

#endif
