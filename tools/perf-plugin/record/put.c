// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Writes records as the kernel does, for what existed before the recording. */
#include <string.h>
#include <sys/mman.h>
#include "record/record.h"
#include "record/tasks.h"
#include "bpf/snapshot.h"

#define MAX_NAME 4096

/* Sample trailer of RECORD_SAMPLE_TYPE. Time 0 is before all that the kernel reports. */
struct trailer {
	int32_t pid, tid;
	uint64_t time;
	uint32_t cpu, reserved;
	uint64_t id;
};

/* Writes @head, @name padded to 8 bytes, and the trailer as one record. */
static int put(struct recorder *rec, struct perf_event_header *head, size_t head_len,
	       const char *name, pid_t pid, pid_t tid)
{
	const struct trailer trailer = { .pid = pid, .tid = tid,
					 .id = rec->n_side_ids ? rec->side_ids[0] : 0 };
	size_t name_len = name ? strnlen(name, MAX_NAME - 1) + 1 : 0;
	size_t padded = (name_len + 7) & ~7UL;
	uint64_t record[(sizeof(struct trailer) + MAX_NAME + 128) / 8] = { 0 };
	uint8_t *bytes = (uint8_t *)record;

	head->size = head_len + padded + sizeof(trailer);
	memcpy(bytes, head, head_len);
	if (name_len)
		memcpy(bytes + head_len, name, name_len - 1);
	memcpy(bytes + head_len + padded, &trailer, sizeof(trailer));
	return rvt_perfdata_write(rec->writer, record, head->size);
}

static int put_comm(struct recorder *rec, pid_t pid, pid_t tid, const char *comm)
{
	struct {
		struct perf_event_header header;
		uint32_t pid, tid;
	} head = { .header = { .type = PERF_RECORD_COMM }, .pid = pid, .tid = tid };

	return put(rec, &head.header, sizeof(head), comm, pid, tid);
}

static int put_thread(struct recorder *rec, pid_t pid, pid_t tid)
{
	struct {
		struct perf_event_header header;
		uint32_t pid, ppid, tid, ptid;
		uint64_t time;
	} head = { .header = { .type = PERF_RECORD_FORK }, .pid = pid, .ppid = pid, .tid = tid,
		   .ptid = pid };

	return put(rec, &head.header, sizeof(head), NULL, pid, tid);
}

int record_put_kernel_map(struct recorder *rec, uint64_t addr, uint64_t len, uint64_t pgoff,
			  const char *name)
{
	struct {
		struct perf_event_header header;
		uint32_t pid, tid;
		uint64_t addr, len, pgoff;
	} head = { .header = { .type = PERF_RECORD_MMAP, .misc = PERF_RECORD_MISC_KERNEL },
		   .pid = -1, .tid = 0, .addr = addr, .len = len, .pgoff = pgoff };

	return put(rec, &head.header, sizeof(head), name, -1, 0);
}

struct mmap2_head {
	struct perf_event_header header;
	uint32_t pid, tid;
	uint64_t addr, len, pgoff;
	uint32_t major, minor;
	uint64_t ino, ino_generation;
	uint32_t prot, flags;
};

int record_put_task(struct recorder *rec, const struct snapshot_task *task)
{
	int err = task->pid == task->tid ? 0 : put_thread(rec, task->pid, task->tid);

	return err ? err : put_comm(rec, task->pid, task->tid, task->comm);
}

int record_put_map(struct recorder *rec, const struct snapshot_map *map)
{
	struct mmap2_head head = {
		.header = { .type = PERF_RECORD_MMAP2, .misc = PERF_RECORD_MISC_USER },
		.pid = map->pid, .tid = map->pid, .addr = map->start,
		.len = map->end - map->start, .pgoff = map->offset,
		.major = map->device >> 20, .minor = map->device & 0xfffff, .ino = map->inode,
		.prot = PROT_EXEC | (map->readable ? PROT_READ : 0) |
			(map->writable ? PROT_WRITE : 0),
		.flags = map->shared ? MAP_SHARED : MAP_PRIVATE,
	};

	int err = put(rec, &head.header, sizeof(head), *map->name ? map->name : "//anon", map->pid,
		      map->pid);

	return err ? err : record_put_pages(rec, map);
}
