// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <stdlib.h>
#include "events.h"
#include "threads.h"
#include "util/array.h"

struct pids {
	int32_t *of;
	size_t n, room;
};

/* A process is often named many times in a row. */
static int note(struct pids *pids, int32_t pid, int32_t tid)
{
	int err;

	if (pid <= 0 || tid < 0 || tid == pid || (pids->n && pids->of[pids->n - 1] == pid))
		return 0;
	err = array_reserve(&pids->of, &pids->room, pids->n, 1);
	if (!err)
		pids->of[pids->n++] = pid;
	return err;
}

static int compare(const void *a, const void *b)
{
	const int32_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

int rvt_sideband_threaded(const struct rvt_sideband *sideband, struct rvt_threaded *threaded)
{
	struct pids found = { .of = NULL };
	size_t kept = 0;
	int err = 0;

	for (size_t i = sideband->first; i < sideband->n_events && !err; i++) {
		const struct sideband_event *event = sideband_event(sideband, i);

		err = note(&found, event->pid, event->tid);
		if (!err && event->type == SIDEBAND_FORK)
			err = note(&found, event->parent.pid, event->parent.tid);
	}
	if (err) {
		free(found.of);
		return err;
	}
	if (found.n)
		qsort(found.of, found.n, sizeof(*found.of), compare);
	for (size_t i = 0; i < found.n; i++)
		if (!kept || found.of[kept - 1] != found.of[i])
			found.of[kept++] = found.of[i];
	*threaded = (struct rvt_threaded){ found.of, kept };
	return 0;
}
