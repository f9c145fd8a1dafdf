// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Records for what existed before the recording: kernel, modules, tasks and their mappings. */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>
#include <sys/utsname.h>
#include "record.h"
#include "snapshot.h"

#define MAX_NAME 4096

/* Sample trailer of RECORD_SAMPLE_TYPE; time 0: before everything that the kernel reports. */
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

static int put_kernel_mmap(struct recorder *rec, uint64_t addr, uint64_t len, uint64_t pgoff,
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

/* Path of a module by modules.dep ("kernel/a/b.ko.xz: ..."); "[name]" when it is not there. */
static void module_path(const char *deps, const char *release, const char *module, char *path,
			size_t room)
{
	snprintf(path, room, "[%s]", module);
	for (const char *line = deps; line && *line; line = strchr(line, '\n') ?
	     strchr(line, '\n') + 1 : NULL) {
		size_t len = strcspn(line, ":\n"), i = 0;
		const char *base = memrchr(line, '/', len);

		if (line[len] != ':')
			continue;
		base = base ? base + 1 : line;
		/* file names may have '-' where the module's name has '_' */
		while (module[i] && (base[i] == module[i] || (base[i] == '-' && module[i] == '_')))
			i++;
		if (module[i] || strncmp(base + i, ".ko", 3))
			continue;
		snprintf(path, room, "/lib/modules/%s/%.*s", release, (int)len, line);
		return;
	}
}

static int put_modules(struct recorder *rec)
{
	struct utsname uts = { 0 };
	char *deps, *modules, *line, *rest;
	int err = 0;

	uname(&uts);
	deps = read_text("/lib/modules/%s/modules.dep", uts.release);
	modules = read_text("/proc/modules");
	rest = modules;
	while (!err && (line = strsep(&rest, "\n"))) {
		char name[128], path[MAX_NAME];
		uint64_t size, addr;

		if (sscanf(line, "%127s %" SCNu64 " %*s %*s %*s %" SCNx64, name, &size,
			   &addr) != 3 ||
		    !addr)
			continue;
		module_path(deps, uts.release, name, path, sizeof(path));
		err = put_kernel_mmap(rec, addr, size, 0, path);
	}
	free(modules);
	free(deps);
	return err;
}

int record_synthesize_kernel(struct recorder *rec)
{
	uint64_t start, end;
	int err;

	if (rec->trace_attr.exclude_kernel || !kernel_text(&start, &end))
		return 0;
	err = put_kernel_mmap(rec, start, end - start, start, "[kernel.kallsyms]_text");
	return err ? err : put_modules(rec);
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

	return put(rec, &head.header, sizeof(head), *map->name ? map->name : "//anon", map->pid,
		   map->pid);
}

/* One line of /proc/PID/maps; only executable mappings matter. */
static int put_map_line(struct recorder *rec, pid_t pid, char *line)
{
	struct mmap2_head head = {
		.header = { .type = PERF_RECORD_MMAP2, .misc = PERF_RECORD_MISC_USER },
		.pid = pid, .tid = pid };
	uint64_t end;
	char prot[5];
	int name = 0;

	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %x:%x %" SCNu64 " %n",
		   (uint64_t *)&head.addr, &end, prot, (uint64_t *)&head.pgoff, &head.major,
		   &head.minor, (uint64_t *)&head.ino, &name) < 7 || !name || prot[2] != 'x')
		return 0;
	head.len = end - head.addr;
	head.prot = PROT_EXEC | (prot[0] == 'r' ? PROT_READ : 0) | (prot[1] == 'w' ?
								    PROT_WRITE : 0);
	head.flags = prot[3] == 's' ? MAP_SHARED : MAP_PRIVATE;
	return put(rec, &head.header, sizeof(head), line[name] ? line + name : "//anon", pid, pid);
}

int list_threads(pid_t pid, pid_t **tids)
{
	struct dirent *entry;
	char path[64];
	int n = 0;
	DIR *dir;

	*tids = NULL;
	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	dir = opendir(path);
	if (!dir)
		return errno == ENOENT ? -ESRCH : -errno;
	while ((entry = readdir(dir))) {
		pid_t *grown;

		if (!isdigit((unsigned char)entry->d_name[0]))
			continue;
		grown = reallocarray(*tids, n + 1, sizeof(*grown));
		if (!grown)
			break;
		*tids = grown;
		grown[n++] = atoi(entry->d_name);
	}
	closedir(dir);
	return n;
}

/* Names and numbers of its threads; @maps: and what it has mapped. */
static int put_process(struct recorder *rec, pid_t pid, bool maps_too)
{
	char *maps, *rest, *line, *comm;
	pid_t *tids;
	int n, err = 0;

	comm = read_text("/proc/%d/comm", pid);
	if (!comm)
		return 0;	/* it has ended */
	err = put_comm(rec, pid, pid, comm);
	free(comm);
	maps = maps_too ? read_text("/proc/%d/maps", pid) : NULL;
	rest = maps;
	while (!err && (line = strsep(&rest, "\n")))
		err = put_map_line(rec, pid, line);
	free(maps);
	n = list_threads(pid, &tids);
	for (int i = 0; i < n && !err; i++) {
		if (tids[i] == pid)
			continue;
		comm = read_text("/proc/%d/task/%d/comm", pid, tids[i]);
		err = put_thread(rec, pid, tids[i]);
		if (!err && comm)
			err = put_comm(rec, pid, tids[i], comm);
		free(comm);
	}
	free(tids);
	return err;
}

/* The process that thread @tid belongs to. */
static pid_t thread_group(pid_t tid)
{
	char *status = read_text("/proc/%d/status", tid);
	const char *line = status ? strstr(status, "\nTgid:") : NULL;
	pid_t pid = line ? atoi(line + strlen("\nTgid:")) : tid;

	free(status);
	return pid;
}

static int put_all(struct recorder *rec, bool maps_too)
{
	struct dirent *entry;
	int err = 0;
	DIR *dir = opendir("/proc");

	if (!dir)
		return -errno;
	while (!err && (entry = readdir(dir)))
		if (isdigit((unsigned char)entry->d_name[0]))
			err = put_process(rec, atoi(entry->d_name), maps_too);
	closedir(dir);
	return err;
}

static int put_targets(struct recorder *rec)
{
	int err = 0;

	for (size_t i = 0; i < rec->n_tids && !err; i++) {
		pid_t pid = thread_group(rec->tids[i]);
		bool seen = false;

		for (size_t j = 0; j < i && !seen; j++)
			seen = thread_group(rec->tids[j]) == pid;
		if (!seen)
			err = put_process(rec, pid, true);
	}
	return err;
}

int record_synthesize_tasks(struct recorder *rec)
{
	int err = 0;

	if (rec->target == TARGET_TASKS)
		return put_targets(rec);
	if (rec->target == TARGET_SYSTEM || !rec->trace_attr.exclude_kernel)
		err = put_comm(rec, 0, 0, "swapper");
	if (!err && rec->target == TARGET_SYSTEM) {
		err = record_snapshot(rec);
		return err == -ENOTSUP ? put_all(rec, true) : err;
	}
	/*
	 * A command begins with an exec: the kernel reports everything of it but who it was until then.
	 * Others run in the kernel for the moment in which the trace changes from thread to thread.
	 */
	if (!err && !rec->trace_attr.exclude_kernel)
		err = put_all(rec, false);
	return !err && rec->n_tids ? put_comm(rec, rec->tids[0], rec->tids[0], RECORD_CHILD_NAME) :
		err;
}
