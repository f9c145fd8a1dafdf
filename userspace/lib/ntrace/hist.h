/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Branch history of a message: repeated history (HREPEAT up to 2^18 times 31 bits) takes no more
 * room than any other.
 */
#ifndef RVT_LIB_NTRACE_HIST_H
#define RVT_LIB_NTRACE_HIST_H

#include <stdbool.h>
#include <stdint.h>
#include <rvtrace/ntrace.h>

/* Outcomes, the first of them in bit 0, again and again. */
struct rvt_hist {
	uint64_t pattern;	/* bits above are zero */
	uint32_t n_bits;	/* of .pattern: 0 to 64 */
	uint32_t used;		/* of it, by what was taken last */
	uint32_t period;	/* outcomes of the field HIST */
	uint64_t bits;		/* outcomes left in all */
};

/* Those of the field @hist, which has a stop bit: the first in bit 0. *n: how many. */
static inline uint64_t rvt_hist_outcomes(uint32_t hist, uint32_t *n)
{
	uint32_t x;

	*n = 31 - __builtin_clz(hist);
	/* in reverse order, with the stop bit below the first */
	x = (hist >> 1 & 0x55555555) | (hist & 0x55555555) << 1;
	x = (x >> 2 & 0x33333333) | (x & 0x33333333) << 2;
	x = (x >> 4 & 0x0f0f0f0f) | (x & 0x0f0f0f0f) << 4;
	return (uint64_t)__builtin_bswap32(x) >> (32 - *n);
}

/* @repeat times the field @hist: stop bit on top, last branch in bit 0 (N-Trace 8.3). */
void rvt_hist_set(struct rvt_hist *h, uint32_t hist, uint64_t repeat);

/* Of a ResourceFull: so many times the field HIST. */
struct rvt_ntrace_full {
	uint32_t hist;
	uint64_t repeat;
};

/* What the history of @msg is, a ResourceFull; false: it has none, or an RCODE not of @dialect. */
bool rvt_ntrace_full_of(const struct rvt_ntrace_msg *msg, enum rvt_dialect dialect,
			struct rvt_ntrace_full *full);
/* The same for the values of its fields. @hrepeat: with RCODE 2. */
bool rvt_ntrace_full_read(enum rvt_dialect dialect, unsigned int rcode, uint64_t rdata,
			  uint64_t hrepeat, struct rvt_ntrace_full *full);
/* The first 64 outcomes, or all if there are fewer. */
uint64_t rvt_hist_begin(struct rvt_hist *h);
/*
 * Some of those that follow, as struct rvt_order wants them: returns how many, which may be more
 * than are left.
 */
uint32_t rvt_hist_refill(void *hist, uint64_t *outcomes);

#endif
