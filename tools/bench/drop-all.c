// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* A filter for `perf script --dlfilter` that lets nothing pass: what perf costs but for text. */
#include <perf/perf_dlfilter.h>

struct perf_dlfilter_fns perf_dlfilter_fns;

int filter_event_early(void *data, const struct perf_dlfilter_sample *sample, void *ctx)
{
	(void)data;
	(void)sample;
	(void)ctx;
	return 1;
}
