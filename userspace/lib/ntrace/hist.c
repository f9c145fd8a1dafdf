// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Pending branch history.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "array.h"
#include "ntrace/hist.h"

void rvt_hist_destroy(struct rvt_hist *hist)
{
	free(hist->runs);
	memset(hist, 0, sizeof(*hist));
}

/* The @n low bits of @value in reverse order. */
static uint64_t reverse(uint32_t value, uint32_t n)
{
	value = (value >> 1 & 0x55555555) | (value & 0x55555555) << 1;
	value = (value >> 2 & 0x33333333) | (value & 0x33333333) << 2;
	value = (value >> 4 & 0x0f0f0f0f) | (value & 0x0f0f0f0f) << 4;
	return n ? __builtin_bswap32(value) >> (32 - n) : 0;
}

static int make_room(struct rvt_hist *h)
{
	if (h->end == h->size && h->first > h->size / 2) {
		memmove(h->runs, h->runs + h->first, (h->end - h->first) * sizeof(h->runs[0]));
		h->end -= h->first;
		h->first = 0;
	}
	return array_reserve(&h->runs, &h->size, h->end, 1);
}

static int append(struct rvt_hist *h, uint64_t pattern, uint32_t bits, uint64_t repeat)
{
	struct rvt_hist_run *last = h->end > h->first ? &h->runs[h->end - 1] : NULL;
	int ret;

	if (!repeat)
		return 0;
	h->bits += bits * repeat;
	/* Pieces in a row fill whole words. */
	if (last && repeat == 1 && last->repeat == 1 && last->bits < 64) {
		uint32_t room = 64 - last->bits;

		last->pattern |= pattern << last->bits;
		last->bits += bits < room ? bits : room;
		if (bits <= room)
			return 0;
		pattern >>= room;
		bits -= room;
	}
	ret = make_room(h);
	if (!ret)
		h->runs[h->end++] = (struct rvt_hist_run){ pattern, repeat, bits };
	return ret;
}

int rvt_hist_push(struct rvt_hist *h, uint32_t hist, uint64_t repeat)
{
	uint32_t bits = 31 - __builtin_clz(hist), copies;
	uint64_t pattern = reverse(hist ^ 1u << bits, bits), wide = 0;
	int ret;

	if (!bits)
		return 0;
	copies = 64 / bits;
	if (repeat < 2 * copies || copies == 1)
		return append(h, pattern, bits, repeat);
	/* As many copies as a word holds are taken at once. */
	for (uint32_t i = 0; i < copies; i++)
		wide |= pattern << i * bits;
	ret = append(h, wide, copies * bits, repeat / copies);
	return ret ? ret : append(h, pattern, bits, repeat % copies);
}

void rvt_hist_begin(const struct rvt_hist *hist, struct rvt_hist_cursor *cursor)
{
	*cursor = (struct rvt_hist_cursor){ .hist = hist, .run = hist->first,
					    .offset = hist->offset };
	if (hist->first < hist->end)
		cursor->repeat = hist->runs[hist->first].repeat;
}

uint32_t rvt_hist_next(struct rvt_hist_cursor *c, uint64_t *outcomes)
{
	const struct rvt_hist *h = c->hist;
	uint64_t word = 0;
	uint32_t n = 0;

	while (c->run < h->end && n < 64) {
		const struct rvt_hist_run *run = &h->runs[c->run];
		uint32_t left = run->bits - c->offset, take = left < 64 - n ? left : 64 - n;

		word |= run->pattern >> c->offset << n;
		n += take;
		c->offset += take;
		if (take < left)
			break;
		c->offset = 0;
		if (--c->repeat)
			continue;
		if (++c->run < h->end)
			c->repeat = h->runs[c->run].repeat;
	}
	*outcomes = word;
	return n;
}

uint32_t rvt_hist_some(struct rvt_hist_cursor *c, uint64_t *outcomes)
{
	const struct rvt_hist *h = c->hist;
	const struct rvt_hist_run *run = &h->runs[c->run];
	uint32_t left;

	if (c->run == h->end)
		return 0;
	left = run->bits - c->offset;
	*outcomes = run->pattern >> c->offset;
	c->offset = 0;
	if (!--c->repeat && ++c->run < h->end)
		c->repeat = run[1].repeat;
	return left;
}

void rvt_hist_drop(struct rvt_hist *h, uint64_t n)
{
	h->bits -= n;
	n += h->offset;
	h->offset = 0;
	while (n) {
		struct rvt_hist_run *run = &h->runs[h->first];
		uint64_t whole = n / run->bits;

		if (whole < run->repeat) {
			run->repeat -= whole;
			h->offset = n % run->bits;
			return;
		}
		n -= run->bits * run->repeat;
		h->first++;
	}
	if (h->first == h->end)
		h->first = h->end = 0;
}
