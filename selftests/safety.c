// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Who may record what: perf_event_paranoid x capability x privilege mode x per thread or per CPU.
 * What is expected is what Documentation/admin-guide/perf-security.rst says of these levels;
 * firmware (machine) is for CAP_PERFMON at any level.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "common.h"

#define PARANOID "/proc/sys/kernel/perf_event_paranoid"
#define NOBODY 65534

enum who { USER, PERFMON, ROOT, WHOS };
enum what { USER_FLOW, KERNEL_FLOW, MACHINE_FLOW, STALLING, WHATS };
enum where { THREAD, CPU, WHERES };

static const char *const who_names[] = { "user", "user with CAP_PERFMON", "root" };
static const char *const what_names[] = { "user flow", "kernel flow", "machine flow",
					   "user flow with stall" };
static const char *const where_names[] = { "thread", "CPU" };

static int become(enum who who)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2] = { 0 };

	if (who == ROOT)
		return 0;
	if (prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) || setgroups(0, NULL) ||
	    setresgid(NOBODY, NOBODY, NOBODY) || setresuid(NOBODY, NOBODY, NOBODY))
		return -errno;
	if (who == PERFMON) {
		data[CAP_PERFMON / 32].permitted = 1u << CAP_PERFMON % 32;
		data[CAP_PERFMON / 32].effective = data[CAP_PERFMON / 32].permitted;
	}
	return syscall(SYS_capset, &header, data) ? -errno : 0;
}

/* Opens in a child that has the given rights. Returns 0 or -errno. */
static int try_open(enum who who, const struct perf_event_attr *attr, enum where where)
{
	int status, fd;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid) {
		if (become(who))
			_exit(255);
		fd = where == THREAD ? event_open(attr, 0, -1) : event_open(attr, -1, 0);
		_exit(fd < 0 ? -fd : 0);
	}
	if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		return -ECHILD;
	return -WEXITSTATUS(status);
}

/* Some distributions refuse everything but to root at level 3; others know no such level. */
static bool level_closes_all(enum who who)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE, .size = sizeof(attr), .config = PERF_COUNT_SW_DUMMY,
		.exclude_kernel = 1, .exclude_hv = 1,
	};

	return try_open(who, &attr, THREAD) != 0;
}

static bool allowed(int level, bool closed, enum who who, enum what what, enum where where)
{
	if (closed)
		return false;
	if (who != USER)
		return true;
	/* Firmware's flow; and a hart that stalls slows down everybody. */
	if (what == MACHINE_FLOW || what == STALLING)
		return false;
	if (where == CPU)
		return level < 1;
	return what == USER_FLOW || level < 2;
}

static void attr_for(struct perf_event_attr *attr, enum what what)
{
	static const uint64_t configs[] = {
		[MACHINE_FLOW] = CONFIG_MACHINE, [STALLING] = CONFIG_STALL,
	};

	attr_init(attr, configs[what]);
	attr->exclude_kernel = what == USER_FLOW || what == STALLING;
	attr->exclude_hv = what != MACHINE_FLOW;
}

static void test_level(int level)
{
	struct perf_event_attr attr;
	char text[16];
	bool closed[WHOS];
	int ret;

	snprintf(text, sizeof(text), "%d", level);
	write_line(PARANOID, text);
	for (enum who who = 0; who < WHOS; who++)
		closed[who] = level_closes_all(who);
	for (enum who who = 0; who < WHOS; who++)
		for (enum what what = 0; what < WHATS; what++)
			for (enum where where = 0; where < WHERES; where++) {
				bool may = allowed(level, closed[who], who, what, where);

				attr_for(&attr, what);
				ret = try_open(who, &attr, where);
				if (may && what == STALLING && ret == -EOPNOTSUPP) {
					tap_skip("the hardware cannot stall", "%s: %s",
						 who_names[who], what_names[what]);
					continue;
				}
				tap_check(may ? !ret : ret == -EACCES || ret == -EPERM,
					  "paranoid %d, %s: %s of a %s is %s (%d)", level,
					  who_names[who], what_names[what], where_names[where],
					  may ? "allowed" : "refused", ret);
			}
}

int main(void)
{
	char *old;

	require_pmu();
	if (geteuid())
		tap_skip_all("needs root");
	old = strdup(read_line(PARANOID));
	tap_plan(5 * WHOS * WHATS * WHERES);
	for (int level = -1; level <= 3; level++)
		test_level(level);
	write_line(PARANOID, old);
	free(old);
	tap_end();
}
