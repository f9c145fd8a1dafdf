// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Branch history of a message.
 */
#include "ntrace/hist.h"

/* So many outcomes cannot be of half-words that are not in any I-CNT. */
#define MAX_REPEAT (1u << 24)

void rvt_hist_set(struct rvt_hist *h, uint32_t hist, uint64_t repeat)
{
	uint32_t bits;
	const uint64_t outcomes = rvt_hist_outcomes(hist, &bits);

	if (repeat > MAX_REPEAT)
		repeat = MAX_REPEAT;
	*h = (struct rvt_hist){
		.pattern = outcomes, .n_bits = bits, .period = bits, .bits = bits * repeat,
	};
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
