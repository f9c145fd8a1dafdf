/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Counts values by their size, in little memory. Values that differ by less than one part in 64
 * share a bucket, which knows their sum. So the least and the greatest value, the number and the
 * sum are exact, and a percentile is the mean of values that are nearly the same.
 */
#ifndef PERF_RVTRACE_HISTOGRAM_H
#define PERF_RVTRACE_HISTOGRAM_H

#include <stdint.h>

#define HISTOGRAM_BUCKETS 64	/* for each power of two */
#define HISTOGRAM_ROWS 59

struct histogram_bucket {
	uint64_t count, sum;
	uint64_t example;	/* of the first value in it */
};

/* Empty when zeroed. */
struct histogram {
	uint64_t n, sum, min, max;
	struct histogram_bucket *rows[HISTOGRAM_ROWS];	/* NULL for rows without values */
};

/* Adds a value. @example says where it is from. Returns 0 or -ENOMEM. */
int histogram_add(struct histogram *histogram, uint64_t value, uint64_t example);
/* Empties the histogram and frees its rows. */
void histogram_clear(struct histogram *histogram);
/*
 * Returns the value that @percent of all do not exceed; 0 when there is none. Sets *@example,
 * unless it is NULL, to the example of a value like that.
 */
uint64_t histogram_percentile(const struct histogram *histogram, double percent,
			      uint64_t *example);
/* Counts the values of at least @from and below @to. Bounds are rounded to those of buckets. */
uint64_t histogram_between(const struct histogram *histogram, uint64_t from, uint64_t to);
/* Sums up how far values exceed @limit, without those in the bucket of @limit. */
uint64_t histogram_above(const struct histogram *histogram, uint64_t limit);

#endif
