// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * A filter for `perf script --dlfilter`: a branch passes if bit 6 of its target is 0. At the end
 * the filter says how many it saw and how many passed.
 */
#include <perf/perf_dlfilter.h>
#include <stdio.h>

struct perf_dlfilter_fns perf_dlfilter_fns;

static unsigned long seen, passed;

int filter_event_early(void *data, const struct perf_dlfilter_sample *sample, void *ctx)
{
	int pass = !(sample->addr & 0x40);

	(void)data;
	(void)ctx;
	seen++;
	passed += pass;
	return !pass;
}

int stop(void *data, void *ctx)
{
	(void)data;
	(void)ctx;
	fprintf(stderr, "%lu of %lu passed\n", passed, seen);
	return 0;
}
