/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * --index: makes an index of each complete recording (`perf rvtrace index`), in a process of its
 * own, one after the other, while the next recording is made.
 */
#ifndef PERF_RVTRACE_RECORD_INDEX_H
#define PERF_RVTRACE_RECORD_INDEX_H

#include <stddef.h>
#include <sys/types.h>

struct index_queue {
	char **paths;		/* recordings that wait; malloc'd */
	size_t n;
	pid_t pid;		/* process that makes one; 0: none */
};

/* Queues the complete recording @path, which is copied. Returns 0 or -ENOMEM. */
int index_queue_add(struct index_queue *queue, const char *path);
/* Begins with the next recording unless one is in work. Does not wait. */
void index_queue_go_on(struct index_queue *queue);
/* Makes the indexes of all that wait, and waits for that. Ctrl-C ends this process and theirs. */
void index_queue_finish(struct index_queue *queue);
void index_queue_clear(struct index_queue *queue);

#endif
