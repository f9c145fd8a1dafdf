// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include "inject.h"

void inject_add(struct inject_sample *sample, uint64_t word)
{
	if (sample->n < sizeof(sample->words) / sizeof(*sample->words))
		sample->words[sample->n++] = word;
}

void inject_add_callchain(struct inject_sample *sample, uint64_t ip, struct rvt_callstack *stack,
			  unsigned int max)
{
	size_t length_at = sample->n, frames = 0;
	bool kernel = (int64_t)ip < 0;

	inject_add(sample, 0);
	inject_add(sample, kernel ? PERF_CONTEXT_KERNEL : PERF_CONTEXT_USER);
	inject_add(sample, ip);
	for (struct rvt_frame *frame; stack && frames + 1 < max &&
	     (frame = rvt_callstack_frame(stack, frames)); frames++) {
		if (kernel && (int64_t)frame->back >= 0) {
			kernel = false;
			inject_add(sample, PERF_CONTEXT_USER);
		}
		inject_add(sample, frame->back);
	}
	sample->words[length_at] = sample->n - length_at - 1;
}

void inject_add_branches(struct inject_sample *sample, const struct branches *branches,
			 const struct rvt_lane *lane, size_t max)
{
	struct perf_branch_entry *entries = (void *)&sample->words[sample->n + 1];
	size_t n = lane ? branches_get(branches, lane, entries, max) : 0;

	inject_add(sample, n);
	sample->n += n * (sizeof(*entries) / sizeof(uint64_t));
}
