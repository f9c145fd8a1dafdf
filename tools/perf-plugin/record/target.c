// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Chooses which cpus and tasks are recorded. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <mntent.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "util/array.h"
#include "common/cmd.h"
#include "common/text.h"
#include "record/record.h"
#include "record/tasks.h"

static int read_cpus(const char *path, int **cpus)
{
	char *text = read_text("%s", path);
	int n = text ? parse_numbers(text, cpus) : -ENOENT;

	free(text);
	return n;
}

static bool has_encoder(const struct recorder *rec, int cpu)
{
	for (int i = 0; i < rec->n_encoder_cpus; i++)
		if (rec->encoder_cpus[i] == cpu)
			return true;
	return false;
}

int record_choose_cpus(struct recorder *rec)
{
	const struct number_list *wanted = &rec->options.cpus;
	char path[128];

	snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%s/cpumask", rec->pmu_name);
	rec->n_online_cpus = read_cpus("/sys/devices/system/cpu/online", &rec->online_cpus);
	if (rec->n_online_cpus <= 0)
		return cmd_error(-EIO, "cannot read /sys/devices/system/cpu/online");
	rec->n_encoder_cpus = read_cpus(path, &rec->encoder_cpus);
	if (rec->n_encoder_cpus <= 0)
		return cmd_error(-ENODEV, "no hart has a trace encoder (the PMU's cpumask is "
					  "empty)");
	for (int i = 0; i < wanted->n; i++)
		if (!has_encoder(rec, wanted->numbers[i]))
			return cmd_error(-ENODEV, "cpu %d has no trace encoder; cpus that have "
					 "one: see %s", wanted->numbers[i], path);
	rec->trace_cpus = wanted->n ? wanted->numbers : rec->encoder_cpus;
	rec->n_trace_cpus = wanted->n ? wanted->n : rec->n_encoder_cpus;
	return 0;
}

static int add_tids(struct recorder *rec, const pid_t *tids, int n)
{
	for (int i = 0; i < n; i++) {
		if (array_grow(&rec->tids, rec->n_tids))
			return -ENOMEM;
		rec->tids[rec->n_tids++] = tids[i];
	}
	return 0;
}

static int add_process(struct recorder *rec, pid_t pid)
{
	pid_t *tids;
	int n = list_threads(pid, &tids), err;

	if (n <= 0)
		return cmd_error(-ESRCH, "process %d does not exist", pid);
	err = add_tids(rec, tids, n);
	free(tids);
	return err;
}

/* Finds the user of -u, by name or number. */
static int find_user(const char *user, uint64_t *uid)
{
	const struct passwd *entry = getpwnam(user);
	const char *end = user;

	if (entry)
		*uid = entry->pw_uid;
	else if (read_number(&end, uid) || *end)
		return cmd_error(-EINVAL, "-u: there is no user '%s'", user);
	return 0;
}

/* Adds all threads of all processes of the user, without the recorder itself. */
static int add_user(struct recorder *rec, const char *user)
{
	struct dirent *process;
	uint64_t uid;
	int err = find_user(user, &uid);
	DIR *dir = err ? NULL : opendir("/proc");

	if (!dir)
		return err ? err : cmd_error(-errno, "cannot read /proc: %s", strerror(errno));
	while (!err && (process = readdir(dir))) {
		const char *digits = process->d_name;
		struct stat st;
		uint64_t pid;
		pid_t *tids;
		int n;

		if (read_number(&digits, &pid) || *digits || pid == (uint64_t)getpid() ||
		    fstatat(dirfd(dir), process->d_name, &st, 0) || st.st_uid != uid)
			continue;
		n = list_threads(pid, &tids);
		if (n <= 0)
			continue;	/* has ended meanwhile */
		err = add_tids(rec, tids, n);
		free(tids);
	}
	closedir(dir);
	return err || rec->n_tids ? err :
		cmd_error(-ESRCH, "-u: user '%s' has no processes", user);
}

/* Finds where perf's control groups are mounted: version 1 has a hierarchy of its own. */
static int find_cgroups(char *path, size_t size)
{
	FILE *mounts = setmntent("/proc/self/mounts", "r");
	struct mntent *entry;
	bool found = false;

	while (mounts && (entry = getmntent(mounts))) {
		bool own = !strcmp(entry->mnt_type, "cgroup") && hasmntopt(entry, "perf_event");

		if (!own && (found || strcmp(entry->mnt_type, "cgroup2")))
			continue;
		snprintf(path, size, "%s", entry->mnt_dir);
		found = true;
		if (own)
			break;
	}
	if (mounts)
		endmntent(mounts);
	return found ? 0 : -ENOENT;
}

int record_choose_cgroup(struct recorder *rec)
{
	const char *name = rec->options.cgroup;
	char root[PATH_MAX], path[2 * PATH_MAX];

	rec->cgroup = -1;
	if (!name)
		return 0;
	if (find_cgroups(root, sizeof(root)))
		return cmd_error(-ENOENT, "-G: no control groups are mounted: mount -t cgroup2 "
				 "none /sys/fs/cgroup");
	snprintf(path, sizeof(path), "%s/%s", root, name);
	rec->cgroup = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return rec->cgroup >= 0 ? 0 :
		cmd_error(-errno, "-G: no control group '%s' (%s): %s", name, path,
			  strerror(errno));
}

int record_choose_tasks(struct recorder *rec)
{
	const struct record_options *options = &rec->options;
	int err = 0;

	rec->target = record_target(options);
	for (int i = 0; i < options->pids.n && !err; i++)
		err = add_process(rec, options->pids.numbers[i]);
	if (!err && options->user)
		err = add_user(rec, options->user);
	if (!err && options->tids.n)
		err = add_tids(rec, options->tids.numbers, options->tids.n);
	for (int i = 0; i < options->switch_pids.n && !err; i++)
		if (kill(options->switch_pids.numbers[i], 0) && errno != EPERM)
			err = cmd_error(-errno, "--switches: process %d does not exist",
					options->switch_pids.numbers[i]);
	return err;
}

int record_choose_command(struct recorder *rec, pid_t pid)
{
	rec->command_pid = pid;
	return rec->target == TARGET_COMMAND ? add_tids(rec, &pid, 1) : 0;
}
