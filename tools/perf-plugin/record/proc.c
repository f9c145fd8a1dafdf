// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Writes records for what existed before the recording: kernel, modules, tasks and their mappings.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include "util/array.h"
#include "record/code.h"
#include "record/record.h"
#include "record/tasks.h"
#include "bpf/snapshot.h"
#include "common/text.h"

#define MAX_NAME 4096

/*
 * Finds the path of a module by modules.dep ("kernel/a/b.ko.xz: ..."); "[name]" if it is not there.
 */
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
		err = record_put_kernel_map(rec, addr, size, 0, path);
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
	err = record_put_kernel_map(rec, start, end - start, start, "[kernel.kallsyms]_text");
	return err ? err : put_modules(rec);
}

/* Writes the record of a line of /proc/PID/maps, if it is an executable mapping. */
static int put_map_line(struct recorder *rec, pid_t pid, const char *line)
{
	struct snapshot_map map = { .pid = pid };
	unsigned int major, minor;
	char prot[5];
	int name = 0;

	if (sscanf(line, "%llx-%llx %4s %llx %x:%x %llu %n", &map.start, &map.end, prot,
		   &map.offset, &major, &minor, &map.inode, &name) < 7 || !name || prot[2] != 'x')
		return 0;
	map.device = major << 20 | minor;
	map.readable = prot[0] == 'r';
	map.writable = prot[1] == 'w';
	map.shared = prot[3] == 's';
	snprintf(map.name, sizeof(map.name), "%s", line + name);
	return record_put_map(rec, &map);
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
		if (!isdigit((unsigned char)entry->d_name[0]))
			continue;
		if (array_grow(tids, n))
			break;
		(*tids)[n++] = atoi(entry->d_name);
	}
	closedir(dir);
	return n;
}

static int put_task(struct recorder *rec, pid_t pid, pid_t tid, const char *comm)
{
	struct snapshot_task task = { .pid = pid, .tid = tid };

	snprintf(task.comm, sizeof(task.comm), "%s", comm);
	return record_put_task(rec, &task);
}

/* Writes the names and numbers of the process's threads, and its mappings if @maps_too. */
static int put_process(struct recorder *rec, pid_t pid, bool maps_too)
{
	char *maps, *rest, *line, *comm;
	pid_t *tids;
	int n, err = 0;

	comm = read_text("/proc/%d/comm", pid);
	if (!comm)
		return 0;	/* it has ended */
	err = put_task(rec, pid, pid, comm);
	free(comm);
	maps = maps_too ? read_text("/proc/%d/maps", pid) : NULL;
	rest = maps;
	while (!err && (line = strsep(&rest, "\n")))
		err = put_map_line(rec, pid, line);
	free(maps);
	n = list_threads(pid, &tids);
	for (int i = 0; i < n && !err; i++) {
		comm = tids[i] == pid ? NULL : read_text("/proc/%d/task/%d/comm", pid, tids[i]);
		if (comm)
			err = put_task(rec, pid, tids[i], comm);
		free(comm);
	}
	free(tids);
	return err;
}

pid_t thread_group(pid_t tid)
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

	/* later files need all tasks: only the first one has records of those that started since */
	bool all = rec->target == TARGET_SYSTEM || rec->files > 1;

	if (rec->target == TARGET_TASKS && !all)
		return put_targets(rec);
	if (all || !rec->trace_attr.exclude_kernel)
		err = put_task(rec, 0, 0, "swapper");
	if (!err && all) {
		err = record_snapshot(rec);
		return err == -ENOTSUP ? put_all(rec, true) : err;
	}
	/*
	 * The kernel reports everything about a command from its exec on, but not who it was until
	 * then. Other tasks run in the kernel for the moment in which the trace switches between
	 * threads.
	 */
	if (!err && !rec->trace_attr.exclude_kernel)
		err = put_all(rec, false);
	return !err && rec->n_tids ? put_task(rec, rec->tids[0], rec->tids[0], RECORD_CHILD_NAME) :
		err;
}
