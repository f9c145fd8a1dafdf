/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Records of tasks and mappings that exist before the recording begins. */
#ifndef PERF_RVTRACE_RECORD_TASKS_H
#define PERF_RVTRACE_RECORD_TASKS_H

#include "record/record.h"

/* record/proc.c: write records for what exists already. */
int record_synthesize_kernel(struct recorder *rec);
int record_synthesize_tasks(struct recorder *rec);
/*
 * record/snapshot.c: writes all tasks and mappings by BPF. Returns -ENOTSUP, with nothing written,
 * if that is not possible.
 */
int record_snapshot(struct recorder *rec);
/* record/put.c: each writes one record of what existed before. */
struct snapshot_task;
struct snapshot_map;
int record_put_task(struct recorder *rec, const struct snapshot_task *task);
int record_put_map(struct recorder *rec, const struct snapshot_map *map);
int record_put_kernel_map(struct recorder *rec, uint64_t addr, uint64_t len, uint64_t pgoff,
			  const char *name);
/*
 * record/user-pages.c: copies the pages of @map, whose record has been written, if they are in no
 * file and .user_code reports such code. Returns 0 or -errno.
 */
int record_put_pages(struct recorder *rec, const struct snapshot_map *map);
/* Lists the threads of @pid (malloc'd). Returns how many, or -errno. */
int list_threads(pid_t pid, pid_t **tids);
/* Returns the process that thread @tid belongs to. */
pid_t thread_group(pid_t tid);

#endif
