// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Branch history of a message.
 */
#include "ntrace/hist.h"

/* So many outcomes cannot be of half-words that are not in any I-CNT. */
#define MAX_REPEAT (1u << 24)

bool rvt_ntrace_full_read(enum rvt_dialect dialect, unsigned int rcode, uint64_t rdata,
			  uint64_t hrepeat, struct rvt_ntrace_full *full)
{
	switch (rcode) {
	case 1:
		*full = (struct rvt_ntrace_full){ rdata, 1 };
		return true;
	case 2:
		*full = (struct rvt_ntrace_full){ rdata, hrepeat };
		return hrepeat;
	case 8:
	case 9:
		*full = (struct rvt_ntrace_full){ rcode == 8 ? 0x2 : 0x3, rdata };
		return dialect == RVT_DIALECT_NTRACE_SIFIVE;
	default:
		return false;
	}
}

bool rvt_ntrace_full_of(const struct rvt_ntrace_msg *msg, enum rvt_dialect dialect,
			struct rvt_ntrace_full *full)
{
	const uint64_t rcode = msg->field[RVT_NTRACE_F_RCODE];

	return rvt_ntrace_full_read(dialect, rcode, msg->field[RVT_NTRACE_F_RDATA],
				    rcode == 2 ? msg->field[RVT_NTRACE_F_HREPEAT] : 1, full);
}

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
