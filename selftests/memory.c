// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Memory that runs out: each allocation that the kernel makes while events are opened, mapped,
 * filtered, inherited and recorded fails once, and so does each that loading the module needs.
 * Nothing but ENOMEM may come of it, and everything works afterwards. Wants a kernel with
 * CONFIG_FAULT_INJECTION, and the module's file in RVTRACE_MODULE; RVTRACE_LOADS says about how
 * many of the loading's allocations fail, where all would take too long. RVTRACE_SCENES names those
 * that are to be played: recording, overwriting, filtering, inheriting, loading.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "common.h"

#define AUX_SIZE (64u << 10)
/* More allocations than any of the scenes can need */
#define MAX_ALLOCATIONS 50000
#define DEBUG_DIR "/sys/kernel/debug"

/* What is tried again and again. Returns 0 or -errno; what it opened is closed. */
typedef int scene(void);

/* Made before memory runs out */
static struct perf_event_attr attr;
static char filter[512];
static const char *module;

static int record(size_t aux_size, bool overwrite, const char *with_filter)
{
	struct recording rec;
	int ret;

	ret = overwrite ? recording_open_overwrite(&rec, &attr, 0, -1, aux_size) :
			  recording_open(&rec, &attr, 0, -1, aux_size);
	if (ret)
		return ret;
	/*
	 * perf says EINVAL when it cannot allocate a filter; there is nothing else wrong with it.
	 */
	if (with_filter && ioctl(rec.fd, PERF_EVENT_IOC_SET_FILTER, with_filter))
		ret = errno == EINVAL ? -ENOMEM : -errno;
	if (!ret)
		ret = recording_enable(&rec);
	if (!ret) {
		work(100);
		ret = recording_disable(&rec);
	}
	recording_close(&rec);
	return ret;
}

static int scene_record(void)
{
	return record(AUX_SIZE, false, NULL);
}

static int scene_overwrite(void)
{
	return record(AUX_SIZE, true, NULL);
}

static int scene_filter(void)
{
	return record(AUX_SIZE, false, filter);
}

/* A child inherits the event. */
static int scene_fork(void)
{
	struct recording rec;
	int ret;
	pid_t pid;

	ret = recording_open(&rec, &attr, getpid(), 0, AUX_SIZE);
	if (ret)
		return ret;
	ret = recording_enable(&rec);
	if (!ret) {
		pid = fork();
		if (!pid) {
			work(100);
			_exit(0);
		}
		if (pid < 0)
			ret = -errno;
		else
			waitpid(pid, NULL, 0);
	}
	recording_close(&rec);
	return ret;
}

static int scene_load(void)
{
	int fd = open(module, O_RDONLY | O_CLOEXEC), ret;

	if (fd < 0)
		return -errno;
	ret = syscall(SYS_finit_module, fd, "", 0) ? -errno : 0;
	close(fd);
	return ret;
}

static int unload(void)
{
	return syscall(SYS_delete_module, "rvtrace", O_NONBLOCK) ? -errno : 0;
}

/* Plays a scene of which allocation @nth fails. Returns whether there were so many. */
static bool play(int fail_nth, int nth, scene *scene, int *result)
{
	char text[16] = "";

	snprintf(text, sizeof(text), "%d", nth);
	if (pwrite(fail_nth, text, strlen(text), 0) < 0)
		return false;
	*result = scene();
	memset(text, 0, sizeof(text));
	if (pread(fail_nth, text, sizeof(text) - 1, 0) <= 0 || pwrite(fail_nth, "0", 1, 0) < 0)
		return false;
	return atoi(text) == 0;
}

static bool wanted(const char *name)
{
	const char *scenes = getenv("RVTRACE_SCENES");

	return !scenes || strstr(scenes, name);
}

/*
 * Each allocation fails once, or each @step-th does. @after, if any, follows a scene that succeeded
 * and must succeed, too.
 */
static void test_scene(int fail_nth, const char *name, scene *scene, int (*after)(void), int step)
{
	unsigned int tries = 0, failed = 0, wrong = 0;
	int result = 0, other = 0;
	bool more = true;

	if (!wanted(name)) {
		tap_skip("not in RVTRACE_SCENES", "%s", name);
		return;
	}
	for (int n = 1; more && n < MAX_ALLOCATIONS; n += step) {
		more = play(fail_nth, n, scene, &result);
		tries += more;
		failed += result == -ENOMEM;
		if (!result && after)
			result = after();
		if (result && result != -ENOMEM) {
			wrong++;
			other = result;
		}
	}
	tap_check(tries > 10 && !more && !result && failed && !wrong,
		  "%s: %u allocations fail once each: %u times ENOMEM, %u times another error (%d)",
		  name, tries, failed, wrong, other);
}

/* How often to let allocations of a scene fail for about @tries of them to fail; 0: all */
static int step_for(int fail_nth, scene *scene, int tries)
{
	char text[16] = "";
	int n = MAX_ALLOCATIONS;

	snprintf(text, sizeof(text), "%d", n);
	if (!tries || pwrite(fail_nth, text, strlen(text), 0) < 0)
		return 1;
	scene();
	memset(text, 0, sizeof(text));
	if (pread(fail_nth, text, sizeof(text) - 1, 0) > 0)
		n -= atoi(text);
	if (pwrite(fail_nth, "0", 1, 0) < 0)
		return 1;
	return n > tries ? n / tries : 1;
}

/*
 * Failures must reach the tasks that ask for them, and none else; and the log is for what goes
 * wrong.
 */
static void set_up(void)
{
	if (access(DEBUG_DIR "/failslab", F_OK))
		mount("debugfs", DEBUG_DIR, "debugfs", 0, NULL);
	write_line(DEBUG_DIR "/failslab/ignore-gfp-wait", "N");
	write_line(DEBUG_DIR "/failslab/verbose", "0");
	write_line(DEBUG_DIR "/fail_page_alloc/ignore-gfp-wait", "N");
	write_line(DEBUG_DIR "/fail_page_alloc/ignore-gfp-highmem", "N");
	write_line(DEBUG_DIR "/fail_page_alloc/min-order", "0");
	write_line(DEBUG_DIR "/fail_page_alloc/verbose", "0");
}

/* The stack needs memory to grow, too, and who gets none for that is killed. */
static void grow_stack(void)
{
	char room[64 << 10];

	memset(room, 0, sizeof(room));
	/* Else the compiler sees that nobody looks at it. */
	__asm__ volatile("" : : "r"(room) : "memory");
}

/*
 * glibc registers an area (rseq) in which the kernel writes the hart when a thread moves. Behind
 * fork() that needs a copy of the page, and who gets none is killed. Whether it registers one it
 * reads from the environment before main().
 */
static void without_rseq(void)
{
	static const char none[] = "glibc.pthread.rseq=0";
	const char *tunables = getenv("GLIBC_TUNABLES");

	if (tunables && !strcmp(tunables, none))
		return;
	setenv("GLIBC_TUNABLES", none, 1);
	execl("/proc/self/exe", "memory", NULL);
	tap_skip_all("cannot execute itself again");
}

static void make_filter(void)
{
	char exe[256] = "";

	if (readlink("/proc/self/exe", exe, sizeof(exe) - 1) > 0)
		snprintf(filter, sizeof(filter), "filter 0x100/0x100@%s", exe);
}

static void test_load(int fail_nth)
{
	static const char *const names[] = { "loading: unloaded before", "loading",
					     "loading: works afterwards" };
	const char *tries = getenv("RVTRACE_LOADS");
	int step;

	if (!module || !wanted(names[1])) {
		for (int i = 0; i < 3; i++)
			tap_skip("RVTRACE_MODULE or RVTRACE_SCENES does not name it", "%s",
				 names[i]);
		return;
	}
	tap_check(!unload(), "%s", names[0]);
	step = step_for(fail_nth, scene_load, tries ? atoi(tries) : 0);
	unload();
	test_scene(fail_nth, names[1], scene_load, unload, step);
	tap_check(!scene_load() && !access(PMU_DIR "/type", R_OK) && !record(AUX_SIZE, false, NULL),
		  "%s", names[2]);
}

int main(void)
{
	int fail_nth, filters;

	without_rseq();
	require_pmu();
	if (geteuid())
		tap_skip_all("needs root");
	fail_nth = open("/proc/thread-self/fail-nth", O_RDWR | O_CLOEXEC);
	if (fail_nth < 0)
		tap_skip_all("this kernel has no CONFIG_FAULT_INJECTION");
	set_up();
	module = getenv("RVTRACE_MODULE");
	filters = atoi(read_line(PMU_DIR "/nr_addr_filters") ?: "0");
	make_filter();
	attr_init(&attr, 0);
	grow_stack();
	tap_plan(10);
	test_scene(fail_nth, "recording", scene_record, NULL, 1);
	test_scene(fail_nth, "overwriting", scene_overwrite, NULL, 1);
	if (filters && *filter)
		test_scene(fail_nth, "filtering", scene_filter, NULL, 1);
	else
		tap_skip("no comparators", "filtering");
	attr.inherit = 1;
	test_scene(fail_nth, "inheriting", scene_fork, NULL, 1);
	attr.inherit = 0;
	tap_check(!record(AUX_SIZE, false, *filter && filters ? filter : NULL),
		  "recording works afterwards");
	tap_check(soon_all_encoders("inactive"), "all encoders are inactive");
	test_load(fail_nth);
	tap_check(soon_all_encoders("inactive"), "all encoders are inactive in the end");
	close(fail_nth);
	tap_end();
}
