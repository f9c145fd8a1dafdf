/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Branch history that was received and not yet used, in run-length form: repeated history
 * (HREPEAT up to 2^18 times 31 bits) costs no more than one entry.
 */
#ifndef RVT_LIB_NTRACE_HIST_H
#define RVT_LIB_NTRACE_HIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* @repeat times the same @bits outcomes; the first one in bit 0, bits above are zero. */
struct rvt_hist_run {
	uint64_t pattern;
	uint64_t repeat;
	uint32_t bits;		/* 1..64 */
};

struct rvt_hist {
	struct rvt_hist_run *runs;
	size_t first, end, size;	/* runs[first..end) are in use */
	uint32_t offset;		/* bits of runs[first] that are used up */
	uint64_t bits;			/* outcomes left in all */
};

/* Frees memory; the history is empty then. */
void rvt_hist_destroy(struct rvt_hist *hist);
/*
 * rvt_hist_push - appends @repeat times the field @hist: stop bit on top, last branch in bit 0
 * (N-Trace 8.3). Returns 0 or -ENOMEM.
 */
int rvt_hist_push(struct rvt_hist *h, uint32_t hist, uint64_t repeat);
/* A place in the history, which stays as it is while the place moves on. */
struct rvt_hist_cursor {
	const struct rvt_hist *hist;
	size_t run;
	uint64_t repeat;	/* of that run, still to come */
	uint32_t offset;
};

void rvt_hist_begin(const struct rvt_hist *hist, struct rvt_hist_cursor *cursor);
/* Up to 64 of the next outcomes, the first in bit 0; returns how many, 0 at the end. */
uint32_t rvt_hist_next(struct rvt_hist_cursor *cursor, uint64_t *outcomes);
/* The same, but only what is left of a run, which is faster. */
uint32_t rvt_hist_some(struct rvt_hist_cursor *cursor, uint64_t *outcomes);
/* The first @n outcomes were used; @n at most hist->bits. */
void rvt_hist_drop(struct rvt_hist *hist, uint64_t n);

static inline void rvt_hist_clear(struct rvt_hist *hist)
{
	hist->first = hist->end = 0;
	hist->offset = 0;
	hist->bits = 0;
}

static inline size_t rvt_hist_runs(const struct rvt_hist *hist)
{
	return hist->end - hist->first;
}

#endif
