/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Inside this project: which processes have threads. */
#ifndef SIDEBAND_THREADS_H
#define SIDEBAND_THREADS_H

#include <rvtrace/sideband.h>

/* Processes that have other threads than the main one at any time. */
struct rvt_threaded {
	int32_t *pids;		/* sorted; malloc'd */
	size_t n;
};

/*
 * rvt_sideband_threaded - finds them, as far as the sideband read so far says. The caller frees
 * .pids. 0 or -ENOMEM.
 */
int rvt_sideband_threaded(const struct rvt_sideband *sideband, struct rvt_threaded *threaded);

static inline bool rvt_threaded_has(const struct rvt_threaded *threaded, int32_t pid)
{
	size_t low = 0, high = threaded->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (threaded->pids[middle] < pid)
			low = middle + 1;
		else
			high = middle;
	}
	return low < threaded->n && threaded->pids[low] == pid;
}

#endif
