// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include "common/histogram.h"

#define BITS 6	/* HISTOGRAM_BUCKETS is 2 to the power of this */

/* Returns the row of a value. Row 0 has values below 64, row n those below 64 << n. */
static unsigned int row_of(uint64_t value)
{
	return value < HISTOGRAM_BUCKETS ? 0 : 64 - BITS - __builtin_clzll(value);
}

/* Returns the least value of a bucket. */
static uint64_t bucket_from(unsigned int row, unsigned int bucket)
{
	return row ? (uint64_t)(HISTOGRAM_BUCKETS + bucket) << (row - 1) : bucket;
}

int histogram_add(struct histogram *histogram, uint64_t value, uint64_t example)
{
	unsigned int row = row_of(value);
	unsigned int bucket = (row ? value >> (row - 1) : value) % HISTOGRAM_BUCKETS;

	if (!histogram->rows[row])
		histogram->rows[row] = calloc(HISTOGRAM_BUCKETS, sizeof(**histogram->rows));
	if (!histogram->rows[row])
		return -ENOMEM;
	histogram->rows[row][bucket].sum += value;
	if (!histogram->rows[row][bucket].count++)
		histogram->rows[row][bucket].example = example;
	if (!histogram->n || value < histogram->min)
		histogram->min = value;
	if (value > histogram->max)
		histogram->max = value;
	histogram->n++;
	histogram->sum += value;
	return 0;
}

void histogram_clear(struct histogram *histogram)
{
	for (unsigned int row = 0; row < HISTOGRAM_ROWS; row++)
		free(histogram->rows[row]);
	*histogram = (struct histogram){ 0 };
}

uint64_t histogram_percentile(const struct histogram *histogram, double percent,
			      uint64_t *example)
{
	uint64_t wanted = ceil(percent / 100 * histogram->n), seen = 0;

	if (!wanted)
		wanted = 1;
	for (unsigned int row = 0; row < HISTOGRAM_ROWS; row++)
		for (unsigned int i = 0; histogram->rows[row] && i < HISTOGRAM_BUCKETS; i++) {
			const struct histogram_bucket *bucket = &histogram->rows[row][i];

			seen += bucket->count;
			if (seen < wanted)
				continue;
			if (example)
				*example = bucket->example;
			return bucket->sum / bucket->count;
		}
	return 0;
}

uint64_t histogram_between(const struct histogram *histogram, uint64_t from, uint64_t to)
{
	uint64_t n = 0;

	for (unsigned int row = 0; row < HISTOGRAM_ROWS; row++)
		for (unsigned int i = 0; histogram->rows[row] && i < HISTOGRAM_BUCKETS; i++)
			if (bucket_from(row, i) >= from && bucket_from(row, i) < to)
				n += histogram->rows[row][i].count;
	return n;
}

uint64_t histogram_above(const struct histogram *histogram, uint64_t limit)
{
	uint64_t sum = 0;

	for (unsigned int row = 0; row < HISTOGRAM_ROWS; row++)
		for (unsigned int i = 0; histogram->rows[row] && i < HISTOGRAM_BUCKETS; i++)
			if (bucket_from(row, i) > limit)
				sum += histogram->rows[row][i].sum -
					limit * histogram->rows[row][i].count;
	return sum;
}
