/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The formatter of a CoreSight sink, for tests: from bytes of sources to frames. It knows nothing
 * of the library's reader of frames.
 */
#ifndef CORESIGHT_FORMATTER_H
#define CORESIGHT_FORMATTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct formatter {
	/* what is written; the caller frees .out */
	uint8_t *out;
	size_t len, room;
	/* choices: a number below the argument, or NULL for the plainest form */
	unsigned int (*choose)(void *ctx, unsigned int below);
	void *ctx;
	bool tpiu;		/* FSYNC and HSYNC here and there */
	/* state */
	int id;			/* that the reader knows; -1: none */
	unsigned int repeat;	/* frames since the id was written */
};

static inline void formatter_put(struct formatter *f, uint8_t byte)
{
	if (f->len == f->room) {
		f->room = f->room ? 2 * f->room : 4096;
		f->out = realloc(f->out, f->room);
		if (!f->out)
			abort();
	}
	f->out[f->len++] = byte;
}

static inline void formatter_fsync(struct formatter *f)
{
	formatter_put(f, 0xff);
	formatter_put(f, 0xff);
	formatter_put(f, 0xff);
	formatter_put(f, 0x7f);
}

/* What Linux writes where trace is missing. */
static inline void formatter_barrier(struct formatter *f)
{
	for (int i = 0; i < 4; i++)
		formatter_fsync(f);
	f->id = -1;
}

static inline bool formatter_wants(const struct formatter *f, unsigned int one_in)
{
	return f->choose && !f->choose(f->ctx, one_in);
}

/* HSYNCs go between half-words only. */
static inline void formatter_hsync(struct formatter *f)
{
	while (f->tpiu && formatter_wants(f, 6)) {
		formatter_put(f, 0xff);
		formatter_put(f, 0x7f);
	}
}

/*
 * One frame of the next of @n bytes, each of the source in @ids, padded with id 0 behind the last.
 * @where, which may be NULL: gets the offset of each byte in .out. Returns how many it took.
 */
static inline size_t formatter_frame(struct formatter *f, const uint8_t *ids, const uint8_t *bytes,
				     size_t n, size_t *where)
{
	uint8_t pairs[8][2] = { { 0 } }, aux = 0;
	int owner[16];		/* index of the byte at each place, or -1 */
	size_t i = 0;

	memset(owner, -1, sizeof(owner));
	f->repeat++;
	for (unsigned int p = 0; p < 16; p += 2) {
		uint8_t *even = &pairs[p / 2][0], *odd = &pairs[p / 2][1];
		bool last = p == 14, again;
		int id = i < n ? ids[i] : 0;

		again = id == f->id && ((!p && f->repeat >= 8) || formatter_wants(f, 9));
		if (id != f->id || again) {
			*even = id << 1 | 1;
			/* the bit means nothing where the id stays, or there is no odd byte */
			if ((again || last) && formatter_wants(f, 2))
				aux |= 1 << p / 2;
			f->id = id;
			f->repeat = 0;
			if (!last && i < n) {
				owner[p + 1] = i;
				*odd = bytes[i++];
			}
		} else if (!last && i + 1 <= n && i < n &&
			   (i + 1 < n ? ids[i + 1] : 0) != id) {
			/* the id of the byte behind the next one, which is still of this one */
			f->id = i + 1 < n ? ids[i + 1] : 0;
			f->repeat = 0;
			*even = f->id << 1 | 1;
			aux |= 1 << p / 2;
			owner[p + 1] = i;
			*odd = bytes[i++];
		} else if (i < n) {
			*even = bytes[i] & 0xfe;
			aux |= (bytes[i] & 1) << p / 2;
			owner[p] = i++;
			if (!last) {
				owner[p + 1] = i;
				*odd = bytes[i++];
			}
		}
	}
	pairs[7][1] = aux;
	if (f->tpiu && formatter_wants(f, 5))
		formatter_fsync(f);
	for (unsigned int p = 0; p < 16; p++) {
		if (!(p % 2))
			formatter_hsync(f);
		if (where && owner[p] >= 0)
			where[owner[p]] = f->len;
		formatter_put(f, pairs[p / 2][p % 2]);
	}
	return i;
}

static inline void formatter_write(struct formatter *f, const uint8_t *ids, const uint8_t *bytes,
				   size_t n, size_t *where)
{
	for (size_t i = 0; i < n;)
		i += formatter_frame(f, ids + i, bytes + i, n - i, where ? where + i : NULL);
}

#endif
