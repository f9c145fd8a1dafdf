// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <rvtrace/perfdata.h>

/* The arithmetic that struct perf_event_mmap_page describes under cap_user_time_zero and _short. */
uint64_t rvt_time_to_perf(const struct rvt_record_time_conv *conv, uint64_t ticks)
{
	uint64_t quotient, rest;

	if (conv->cap_user_time_short)
		ticks = conv->time_cycles + ((ticks - conv->time_cycles) & conv->time_mask);
	if (conv->time_shift > 63)
		return conv->time_zero;
	quotient = ticks >> conv->time_shift;
	rest = ticks & ((1ULL << conv->time_shift) - 1);
	return conv->time_zero + quotient * conv->time_mult +
		((rest * conv->time_mult) >> conv->time_shift);
}

uint64_t rvt_time_from_perf(const struct rvt_record_time_conv *conv, uint64_t ns)
{
	struct rvt_record_time_conv plain = *conv;
	uint64_t elapsed = ns - conv->time_zero;
	uint64_t quotient, rest, ticks;

	if (!conv->time_mult || conv->time_shift > 63)
		return 0;
	quotient = elapsed / conv->time_mult;
	rest = elapsed % conv->time_mult;
	ticks = (quotient << conv->time_shift) + (rest << conv->time_shift) / conv->time_mult;
	plain.cap_user_time_short = 0;
	/* both divisions round down: at most one tick is missing for each */
	for (int i = 0; i < 2 && rvt_time_to_perf(&plain, ticks) - conv->time_zero < elapsed; i++)
		ticks++;
	return ticks;
}
