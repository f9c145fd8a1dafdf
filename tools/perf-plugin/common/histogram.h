/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * How many values there are of each size, in little memory. Values that differ by less than one
 * part in 64 share a bucket, which knows their sum. So the least and the greatest value, the number
 * and the sum are exact, and a percentile is the mean of values that are nearly the same.
 */
#ifndef PERF_RVTRACE_HISTOGRAM_H
#define PERF_RVTRACE_HISTOGRAM_H

#include <stdint.h>

#define HISTOGRAM_BUCKETS 64	/* for each power of two */
#define HISTOGRAM_ROWS 59

struct histogram_bucket {
	uint64_t count, sum;
	uint64_t example;	/* what came with the first value in it */
};

/* All 0 is an empty one. */
struct histogram {
	uint64_t n, sum, min, max;
	struct histogram_bucket *rows[HISTOGRAM_ROWS];	/* those that have values */
};

/* 0 or -ENOMEM. */
int histogram_add(struct histogram *histogram, uint64_t value, uint64_t example);
/* Nothing is left to be freed. */
void histogram_clear(struct histogram *histogram);
/*
 * The value that @percent of all are not above; 0 when there is none. @example, unless it is NULL,
 * is set to what came with a value like that.
 */
uint64_t histogram_percentile(const struct histogram *histogram, double percent,
			      uint64_t *example);
/* How many values there are from @from on and below @to. Bounds are rounded to those of buckets. */
uint64_t histogram_between(const struct histogram *histogram, uint64_t from, uint64_t to);
/* The sum of what each value is above @limit, but for the bucket of @limit. */
uint64_t histogram_above(const struct histogram *histogram, uint64_t limit);

#endif
