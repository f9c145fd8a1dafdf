/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Inside userspace/lib/session/: numbers of seven bits a byte, the low ones first, all but the last
 * byte with the eighth bit; signed ones as zigzag.
 */
#ifndef SESSION_INDEX_BYTES_H
#define SESSION_INDEX_BYTES_H

#include <stdbool.h>
#include "util/array.h"

struct index_buffer {
	uint8_t *at;
	size_t n, room;		/* .room: of what is read, the end */
	bool failed;		/* no memory, or it ends too early */
	uint64_t time;		/* the last one */
};

static inline void put(struct index_buffer *out, uint64_t number)
{
	if (array_reserve(&out->at, &out->room, out->n, 10)) {
		out->failed = true;
		return;
	}
	for (; number > 0x7f; number >>= 7)
		out->at[out->n++] = number | 0x80;
	out->at[out->n++] = number;
}

static inline uint64_t get(struct index_buffer *in)
{
	uint64_t number = 0;

	for (unsigned int shift = 0; shift < 64; shift += 7) {
		uint8_t byte;

		if (in->n == in->room)
			break;
		byte = in->at[in->n++];
		number |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return number;
	}
	in->failed = true;
	return 0;
}

static inline uint64_t zigzag(int64_t number)
{
	return (uint64_t)number << 1 ^ (uint64_t)(number >> 63);
}

static inline int64_t get_signed(struct index_buffer *in)
{
	uint64_t number = get(in);

	return (int64_t)(number >> 1 ^ -(number & 1));
}

/* Times are near to each other. */
static inline void put_time(struct index_buffer *out, uint64_t time)
{
	put(out, zigzag((int64_t)(time - out->time)));
	out->time = time;
}

static inline uint64_t get_time(struct index_buffer *in)
{
	in->time += (uint64_t)get_signed(in);
	return in->time;
}

#endif
