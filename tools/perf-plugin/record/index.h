/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * --index: an index of each recording that is complete (`perf rvtrace index`), made by a process of
 * its own, one after the other, while the next recording is made.
 */
#ifndef PERF_RVTRACE_RECORD_INDEX_H
#define PERF_RVTRACE_RECORD_INDEX_H

#include <stddef.h>
#include <sys/types.h>

struct index_queue {
	char **paths;		/* of recordings that wait; malloc'd */
	size_t n;
	pid_t pid;		/* who makes one; 0: nobody */
};

/* @path, which is copied, is complete. 0 or -ENOMEM. */
int index_queue_add(struct index_queue *queue, const char *path);
/* Begins with the next one if nobody makes any. Does not wait. */
void index_queue_go_on(struct index_queue *queue);
/* Makes all that wait, and waits for that. Ctrl-C ends this process, and theirs. */
void index_queue_finish(struct index_queue *queue);
void index_queue_clear(struct index_queue *queue);

#endif
