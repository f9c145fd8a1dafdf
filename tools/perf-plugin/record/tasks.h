/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Tasks and mappings that exist before the recording begins. */
#ifndef PERF_RVTRACE_RECORD_TASKS_H
#define PERF_RVTRACE_RECORD_TASKS_H

#include "record/record.h"

/* proc.c: records for what exists already. */
int record_synthesize_kernel(struct recorder *rec);
int record_synthesize_tasks(struct recorder *rec);
/*
 * snapshot.c: all tasks and mappings by BPF. -ENOTSUP: that cannot be; nothing was written.
 */
int record_snapshot(struct recorder *rec);
/* put.c: one record of what existed before. */
struct snapshot_task;
struct snapshot_map;
int record_put_task(struct recorder *rec, const struct snapshot_task *task);
int record_put_map(struct recorder *rec, const struct snapshot_map *map);
int record_put_kernel_map(struct recorder *rec, uint64_t addr, uint64_t len, uint64_t pgoff,
			  const char *name);
/*
 * user-pages.c: the pages of @map, whose record has been written, if they are in no file and
 * .user_code tells of such code. 0 or -errno.
 */
int record_put_pages(struct recorder *rec, const struct snapshot_map *map);
/* The threads of @pid (malloc'd). Returns how many, or -errno. */
int list_threads(pid_t pid, pid_t **tids);
/* The process that thread @tid belongs to. */
pid_t thread_group(pid_t tid);

#endif
