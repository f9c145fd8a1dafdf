// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * The module's own door: processes that open, map, filter, enable, pause, redirect, read, fork,
 * exec, move, take harts away and close, at random by seed, as root and as nobody. Nothing may come
 * of it but errors; afterwards all is as it was. RVTRACE_SEED: the first seed; RVTRACE_SECONDS: how
 * long; RVTRACE_HOTPLUG=0: all harts stay; RVTRACE_CONTROL=1: no event is the PMU's, to see whether
 * it is the kernel that fails, or the emulator.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "common.h"

#define NOBODY 65534
#define PROCESSES 4		/* of each user */
#define EVENTS 12		/* of each process */
#define CHILDREN 4
#define SECONDS 10
#define SLACK 120		/* seconds until a process is said to hang */
#define AUX_SIZE (1u << 20)

struct event {
	int fd;			/* -1: none */
	void *data, *aux;
	size_t data_bytes, aux_bytes;
	bool writable;		/* .data */
};

static struct event events[EVENTS];
static pid_t children[CHILDREN];
static uint64_t state;
static unsigned int cpus;
static char self[256];		/* this program */
static bool is_root, hotplug, control;
static unsigned long done, failed;

static uint32_t any(uint32_t below)
{
	/* xorshift64 */
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (state >> 32) % below;
}

static void note(long ret)
{
	done++;
	failed += ret < 0;
}

static struct event *any_event(void)
{
	return &events[any(EVENTS)];
}

static pid_t any_child(void)
{
	return children[any(CHILDREN)];
}

static int any_cpu(void)
{
	return (int)any(cpus + 1) - 1;
}

/* Bits that mean something, mostly; now and then any. */
static uint64_t any_config(void)
{
	static const uint64_t bits[] = {
		CONFIG_CONTEXT, CONFIG_TIMESTAMP, CONFIG_STALL, CONFIG_MACHINE, CONFIG_TRIGGER,
		CONFIG_HCONTEXT, 1, 1 << 3, 1 << 5, 1 << 6, 1 << 8, 1 << 18,
	};
	uint64_t config = 0;

	if (!any(8))
		return (uint64_t)any(UINT32_MAX) << 32 | any(UINT32_MAX);
	for (unsigned int n = any(4); n; n--)
		config |= bits[any(ARRAY_SIZE(bits))];
	return config;
}

static void open_event(void)
{
	struct event *event = any_event(), *group = any_event();
	const pid_t pids[] = { 0, -1, any_child(), any_child(), 1 };
	const pid_t pid = pids[any(ARRAY_SIZE(pids))];
	struct perf_event_attr attr;
	unsigned long flags = PERF_FLAG_FD_CLOEXEC;
	long fd;

	if (event->fd >= 0)
		return;
	attr_init(&attr, any_config());
	attr.disabled = any(2);
	attr.inherit = any(2);
	attr.exclude_kernel = any(4);
	attr.exclude_user = !any(4);
	attr.exclude_hv = any(2);
	attr.exclude_idle = !any(4);
	attr.enable_on_exec = !any(4);
	attr.pinned = !any(8);
	attr.exclusive = !any(8);
	/*
	 * Not of another task: its exec takes ctx->mutex and then our perf_event_mutex, prctl()
	 * here the reverse (perf_event_remove_on_exec(), perf_event_task_disable(), Linux 7.2).
	 */
	attr.remove_on_exec = !pid && !any(8);
	attr.inherit_thread = !any(8);
	attr.write_backward = !any(8);
	attr.freq = !any(8);
	attr.aux_watermark = any(2) ? 1u << any(20) : 0;
	attr.sample_period = any(3) ? 1 : any(1 << 20);
	if (!any(4))
		attr.config1 = (uint64_t)(1000 * any(100000)) << 32 | (1000 * any(100000));
	if (!any(8))
		attr.config2 = any(4) ? any(8) : (uint64_t)getpid() << 32;
	/* an ordinary event, to group with or to be redirected to */
	if (control || !any(6)) {
		attr.type = PERF_TYPE_SOFTWARE;
		attr.config = PERF_COUNT_SW_DUMMY;
	}
	if (any(4))
		group = NULL;
	else if (any(2))
		flags |= PERF_FLAG_FD_OUTPUT;
	fd = syscall(SYS_perf_event_open, &attr, pid, any_cpu(), group ? group->fd : -1, flags);
	note(fd);
	event->fd = fd < 0 ? -1 : (int)fd;
}

static void map_event(void)
{
	struct event *event = any_event();
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t bytes = (any(8) ? 1ul << any(7) : any(40)) * page;
	struct perf_event_mmap_page *head = event->data;
	int prot = PROT_READ | (any(4) ? PROT_WRITE : 0);
	void *p;

	if (event->fd < 0)
		return;
	if (!event->data) {
		bytes += page;
		p = mmap(NULL, bytes, prot, MAP_SHARED, event->fd, 0);
		note(p == MAP_FAILED ? -1 : 0);
		event->data = p == MAP_FAILED ? NULL : p;
		event->data_bytes = bytes;
		event->writable = prot & PROT_WRITE;
	} else if (!event->aux) {
		if (event->writable) {
			head->aux_offset = event->data_bytes;
			head->aux_size = bytes;
		}
		p = mmap(NULL, bytes, prot, MAP_SHARED, event->fd, (off_t)event->data_bytes);
		note(p == MAP_FAILED ? -1 : 0);
		event->aux = p == MAP_FAILED ? NULL : p;
		event->aux_bytes = bytes;
	}
}

static void unmap_event(void)
{
	struct event *event = any_event();

	/* in any order, and the event may be closed before */
	if (event->aux && any(2)) {
		note(munmap(event->aux, event->aux_bytes));
		event->aux = NULL;
	} else if (event->data) {
		note(munmap(event->data, event->data_bytes));
		event->data = NULL;
	}
}

static void close_event(void)
{
	struct event *event = any_event();

	if (event->fd < 0)
		return;
	note(close(event->fd));
	event->fd = -1;
	if (!any(8))
		return;
	if (event->aux)
		munmap(event->aux, event->aux_bytes);
	if (event->data)
		munmap(event->data, event->data_bytes);
	event->aux = NULL;
	event->data = NULL;
}

static void control_event(void)
{
	static const unsigned long requests[] = {
		PERF_EVENT_IOC_ENABLE, PERF_EVENT_IOC_ENABLE, PERF_EVENT_IOC_DISABLE,
		PERF_EVENT_IOC_RESET, PERF_EVENT_IOC_REFRESH, PERF_EVENT_IOC_PAUSE_OUTPUT,
	};
	struct event *event = any_event();
	unsigned long request = requests[any(ARRAY_SIZE(requests))];
	uint64_t period = 1 + any(1000);

	if (event->fd < 0)
		return;
	switch (any(8)) {
	case 0:
		note(ioctl(event->fd, PERF_EVENT_IOC_SET_OUTPUT, any(4) ? any_event()->fd : -1));
		break;
	case 1:
		note(ioctl(event->fd, PERF_EVENT_IOC_PERIOD, &period));
		break;
	default:
		note(ioctl(event->fd, request, any(4) ? 0 : PERF_IOC_FLAG_GROUP));
	}
}

static void filter_event(void)
{
	/*
	 * %s: this program. Not by /proc/self/exe: with that, perf itself takes its locks in two
	 * orders.
	 */
	static const char *const formats[] = {
		"filter 0x%lx/0x%lx@%s", "start 0x%1$lx@%3$s, stop 0x%2$lx@%3$s",
		"start 0x%lx, stop 0x%lx",
		"filter 0x%lx/0x%lx", "stop 0x%lx/0x%lx@/bin/sh", "%lx %lx",
		"filter 0x%lx/0x%lx@%s, filter 0/0x1000@/bin/sh",
	};
	struct event *event = any_event();
	char text[600];

	if (event->fd < 0)
		return;
	snprintf(text, sizeof(text), formats[any(ARRAY_SIZE(formats))], (unsigned long)any(1 << 20),
		 (unsigned long)any(1 << 12), self);
	note(ioctl(event->fd, PERF_EVENT_IOC_SET_FILTER, any(8) ? text : ""));
}

/* As a recorder does, and as one that lies. */
static void read_event(void)
{
	struct event *event = any_event();
	struct perf_event_mmap_page *page = event->data;
	uint64_t count[4];

	if (event->fd >= 0 && !any(4))
		note(read(event->fd, count, sizeof(count)));
	if (!page || !event->writable)
		return;
	__atomic_store_n(&page->data_tail, page->data_head, __ATOMIC_RELEASE);
	__atomic_store_n(&page->aux_tail, any(16) ? page->aux_head : any(UINT32_MAX),
			 __ATOMIC_RELEASE);
	done++;
}

static void start_child_of_ours(void)
{
	unsigned int i = any(CHILDREN), life = any(5);

	if (children[i] > 0) {
		kill(children[i], SIGKILL);
		waitpid(children[i], NULL, 0);
		children[i] = 0;
	}
	if (!any(3))
		return;
	children[i] = fork();
	if (children[i]) {
		note(children[i]);
		return;
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* what it inherited goes with it, or before */
	if (life == 0)
		for (int n = 0; n < EVENTS; n++)
			close(events[n].fd);
	for (unsigned int n = any(200); n; n--) {
		work(100);
		if (!any(20) && !fork()) {
			work(100);
			_exit(0);
		}
	}
	if (life == 1)
		execl("/proc/self/exe", "random", "--work", NULL);
	if (life == 2)
		pause();
	_exit(0);
}

static void move(void)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	for (unsigned int i = 0; i < cpus; i++)
		if (any(2))
			CPU_SET(i, &set);
	note(sched_setaffinity(any(2) ? 0 : any_child(), sizeof(set), &set));
}

static void change_hart(void)
{
	char path[80];

	if (!is_root || !hotplug || cpus < 2 || any(8))
		return;
	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%u/online", 1 + any(cpus - 1));
	note(write_line(path, any(2) ? "1" : "0"));
}

/* Each file of the driver's in sysfs; as root some are written to, too. */
static void visit_sysfs(void)
{
	static const char *const folders[] = {
		PMU_DIR, PMU_DIR "/caps", PMU_DIR "/format", BUS_DIR "/encoder-0",
		BUS_DIR "/encoder-1",
	};
	const char *folder = folders[any(ARRAY_SIZE(folders))];
	DIR *dir = opendir(folder);
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		char path[512];

		if (entry->d_type != DT_REG)
			continue;
		read_line("%s/%s", folder, entry->d_name);
		snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
		/* not the one that says after how long perf gives up multiplexing */
		if (!any(16) && strcmp(entry->d_name, "perf_event_mux_interval_ms") &&
		    strcmp(entry->d_name, "uevent"))
			write_line(path, any(2) ? "1" : "0");
		done++;
	}
	if (dir)
		closedir(dir);
}

static void switch_all(void)
{
	note(prctl(any(2) ? PR_TASK_PERF_EVENTS_ENABLE : PR_TASK_PERF_EVENTS_DISABLE));
}

static void work_or_visit(void)
{
	if (any(20))
		work(100);
	else
		visit_sysfs();
}

static void work_long(void)
{
	work(200);
}

#define STEPS	24

/* A step is as likely as it has places here. */
static void (*const steps[STEPS])(void) = {
	[0 ... 3] = open_event,
	[4 ... 6] = map_event,
	[7] = unmap_event,
	[8 ... 9] = close_event,
	[10 ... 13] = control_event,
	[14] = filter_event,
	[15 ... 16] = read_event,
	[17] = start_child_of_ours,
	[18] = move,
	[19] = change_hart,
	[20] = switch_all,
	[21] = work_or_visit,
	[22 ... 23] = work_long,
};

static void step(void)
{
	steps[any(STEPS)]();
}

/* One process; does not return. Its exit status is 0. */
static void live(uint64_t seed, unsigned int seconds, bool as_nobody, int out)
{
	time_t end = time(NULL) + seconds;
	unsigned long counts[2];

	alarm(seconds + SLACK);
	if (as_nobody && (setgid(NOBODY) || setuid(NOBODY)))
		_exit(2);
	is_root = !as_nobody;
	state = seed * 0x9e3779b97f4a7c15 | 1;
	for (int i = 0; i < EVENTS; i++)
		events[i].fd = -1;
	while (time(NULL) < end)
		step();
	for (int i = 0; i < CHILDREN; i++)
		if (children[i] > 0)
			kill(children[i], SIGKILL);
	counts[0] = done;
	counts[1] = failed;
	_exit(write(out, counts, sizeof(counts)) == sizeof(counts) ? 0 : 3);
}

static unsigned long number_of(const char *name, unsigned long otherwise)
{
	const char *text = getenv(name);

	return text ? strtoul(text, NULL, 0) : otherwise;
}

static void run(const char *who, bool as_nobody, uint64_t seed, unsigned int seconds)
{
	unsigned long counts[2], all = 0, bad = 0;
	pid_t pids[PROCESSES];
	int pipes[2], good = 0, status;

	if (pipe2(pipes, O_NONBLOCK)) {
		tap_check(false, "%s: no pipe", who);
		return;
	}
	fflush(stdout);
	for (int i = 0; i < PROCESSES; i++) {
		pids[i] = fork();
		if (!pids[i])
			live(seed + (uint64_t)i, seconds, as_nobody, pipes[1]);
	}
	close(pipes[1]);
	for (int i = 0; i < PROCESSES; i++) {
		waitpid(pids[i], &status, 0);
		good += WIFEXITED(status) && !WEXITSTATUS(status);
	}
	while (read(pipes[0], counts, sizeof(counts)) == sizeof(counts)) {
		all += counts[0];
		bad += counts[1];
	}
	close(pipes[0]);
	/* some must be let through, and some refused: else nothing was tried */
	tap_check(good == PROCESSES && all > bad && bad,
		  "%s: seeds %lu to %lu, %lu calls, %lu of them refused, %d of %d processes well",
		  who, (unsigned long)seed, (unsigned long)seed + PROCESSES - 1, all, bad, good,
		  PROCESSES);
}

/* What was taken away is there again. */
static void all_harts(void)
{
	for (unsigned int i = 1; i < cpus; i++) {
		char path[80];

		snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%u/online", i);
		write_line(path, "1");
	}
}

static void test_works(void)
{
	struct perf_event_attr attr;
	struct recording rec;
	struct messages m;
	int ret;

	attr_init(&attr, 0);
	ret = recording_open(&rec, &attr, 0, -1, AUX_SIZE);
	if (!tap_check(!ret, "afterwards: opened (%d)", ret)) {
		tap_check(false, "afterwards: recorded");
		return;
	}
	recording_enable(&rec);
	work(10000);
	recording_disable(&rec);
	recording_read(&rec, false);
	messages_count(&rec, &m);
	tap_check(m.whole && m.syncs && !rec.partial && !rec.truncated,
		  "afterwards: whole messages, nothing lost");
	recording_close(&rec);
}

int main(int argc, char **argv)
{
	static const char paranoid[] = "/proc/sys/kernel/perf_event_paranoid";
	uint64_t seed = number_of("RVTRACE_SEED", (unsigned long)time(NULL));
	unsigned int seconds = (unsigned int)number_of("RVTRACE_SECONDS", SECONDS);

	if (argc > 1 && !strcmp(argv[1], "--work")) {
		work(1000);
		return 0;
	}
	require_pmu();
	if (geteuid())
		tap_skip_all("not root");
	signal(SIGCHLD, SIG_DFL);
	cpus = (unsigned int)sysconf(_SC_NPROCESSORS_CONF);
	if (readlink("/proc/self/exe", self, sizeof(self) - 1) < 0)
		tap_skip_all("no /proc");
	hotplug = number_of("RVTRACE_HOTPLUG", 1);
	control = number_of("RVTRACE_CONTROL", 0);
	tap_plan(6);
	run("root", false, seed, seconds);
	all_harts();
	write_line(paranoid, "2");
	run("nobody", true, seed + PROCESSES, seconds);
	write_line(paranoid, "-1");
	run("nobody, who may all", true, seed + 2 * PROCESSES, seconds);
	write_line(paranoid, "2");
	tap_check(soon_all_encoders("inactive"), "afterwards: all encoders are inactive");
	test_works();
	tap_end();
}
