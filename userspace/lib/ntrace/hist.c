// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Branch history of a message.
 */
#include "ntrace/hist.h"

/* So many outcomes cannot be of half-words that are not in any I-CNT. */
#define MAX_REPEAT (1u << 24)

/* The @n low bits of @value in reverse order. */
static uint64_t reverse(uint32_t value, uint32_t n)
{
	value = (value >> 1 & 0x55555555) | (value & 0x55555555) << 1;
	value = (value >> 2 & 0x33333333) | (value & 0x33333333) << 2;
	value = (value >> 4 & 0x0f0f0f0f) | (value & 0x0f0f0f0f) << 4;
	return n ? __builtin_bswap32(value) >> (32 - n) : 0;
}

void rvt_hist_set(struct rvt_hist *h, uint32_t hist, uint64_t repeat)
{
	const uint32_t bits = 31 - __builtin_clz(hist);
	const uint64_t outcomes = reverse(hist ^ 1u << bits, bits);

	if (repeat > MAX_REPEAT)
		repeat = MAX_REPEAT;
	*h = (struct rvt_hist){ .pattern = outcomes, .n_bits = bits, .bits = bits * repeat };
	if (!bits)
		return;
	/* As many copies as a word holds are taken at once. */
	for (; h->n_bits < h->bits && h->n_bits + bits <= 64; h->n_bits += bits)
		h->pattern |= outcomes << h->n_bits;
}

uint64_t rvt_hist_begin(struct rvt_hist *h)
{
	h->used = h->n_bits < 64 ? 64 - h->n_bits : 0;
	if (h->bits <= h->n_bits || h->n_bits == 64)
		return h->pattern;
	return h->pattern | h->pattern << h->n_bits;
}

uint32_t rvt_hist_refill(void *hist, uint64_t *outcomes)
{
	struct rvt_hist *h = hist;
	const uint32_t n = h->n_bits - h->used;

	*outcomes = h->pattern >> h->used;
	h->used = 0;
	return n;
}
