// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Hard times: thousands of starts, recorders side by side, harts that come and go, sleep, memory that runs out.
 * Takes minutes in an emulator; RVTRACE_CYCLES sets the number of starts.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "common.h"

#define AUX_SIZE (1u << 20)
#define CYCLES 10000
#define HOTPLUGS 10
/* More allocations than opening, mapping, recording and closing can need */
#define MAX_FAILURES 2000

static unsigned int cycles(void)
{
	const char *text = getenv("RVTRACE_CYCLES");

	return text ? (unsigned int)atoi(text) : CYCLES;
}

static void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		tap_note("cannot run on CPU %d", cpu);
}

/* Starts and stops @n times; returns the number of losses, or -1 when not every start shows. */
static int start_and_stop(unsigned int n, size_t aux_size)
{
	struct perf_event_attr attr;
	struct recording rec;
	struct messages m;
	unsigned int syncs = 0, lost = 0;

	attr_init(&attr, 0);
	if (recording_open(&rec, &attr, 0, -1, aux_size))
		return -1;
	for (unsigned int i = 1; i <= n; i++) {
		recording_enable(&rec);
		work(10);
		recording_disable(&rec);
		recording_read(&rec, false);
		if (i % 500 && i < n)
			continue;
		messages_count(&rec, &m);
		syncs += m.whole ? m.syncs : 0;
		rec.n_bytes = 0;
		rec.n_starts = 0;
		rec.gap = true;
	}
	lost = rec.partial + rec.truncated + rec.lost;
	recording_close(&rec);
	return syncs >= n ? (int)lost : -1;
}

static void test_cycles(void)
{
	unsigned int n = cycles();
	int lost = start_and_stop(n, AUX_SIZE);

	tap_check(!lost, "%u starts and stops: %d losses", n, lost);
}

static void test_recorders(void)
{
	pid_t pid[4];
	int status, good = 0;

	fflush(stdout);
	for (int i = 0; i < 4; i++) {
		pid[i] = fork();
		if (!pid[i])
			_exit(start_and_stop(cycles() / 10, (size_t)(64 << 10) << i) != 0);
	}
	for (int i = 0; i < 4; i++) {
		waitpid(pid[i], &status, 0);
		good += WIFEXITED(status) && !WEXITSTATUS(status);
	}
	tap_check(good == 4, "4 recorders at once: %d see all of theirs and lose nothing", good);
}

static pid_t busy(int cpu)
{
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid) {
		if (cpu >= 0)
			pin(cpu);
		for (;;)
			work(1000);
	}
	return pid;
}

static void test_hotplug(void)
{
	static const char online[] = "/sys/devices/system/cpu/cpu1/online";
	struct perf_event_attr attr;
	struct recording rec;
	struct messages m;
	unsigned int good = 0;
	size_t before;
	pid_t pid[3];
	int ret;

	if (access(online, W_OK) || access(BUS_DIR "/encoder-1", F_OK)) {
		tap_skip("no second CPU that can go", "hotplug: a traced thread survives it");
		return;
	}
	/* More threads than harts, so that the one that goes is never idle. */
	for (int i = 0; i < 3; i++)
		pid[i] = busy(-1);
	attr_init(&attr, 0);
	ret = recording_open(&rec, &attr, pid[0], -1, 16 * AUX_SIZE);
	if (!ret)
		recording_enable(&rec);
	for (int i = 0; i < HOTPLUGS && !ret; i++) {
		write_line(online, i % 2 ? "1" : "0");
		before = rec.n_bytes;
		for (int tries = 0; tries < 100 && rec.n_bytes == before; tries++) {
			usleep(10000);
			recording_read(&rec, true);
		}
		good += rec.n_bytes > before;
	}
	write_line(online, "1");
	for (int i = 0; i < 3; i++) {
		kill(pid[i], SIGKILL);
		waitpid(pid[i], NULL, 0);
	}
	if (!ret) {
		recording_read(&rec, false);
		messages_count(&rec, &m);
		recording_close(&rec);
	}
	tap_check(!ret && good == HOTPLUGS && m.n && m.whole,
		  "hotplug: a thread is traced on after each of %d changes (%u)", HOTPLUGS, good);
}

/* As far as suspending goes without losing the machine: devices are asleep, and awake again. */
static void test_sleep(void)
{
	struct perf_event_attr attr;
	struct recording rec;
	struct messages m;
	size_t before = 0;
	int ret, slept;
	pid_t pid;

	if (access("/sys/power/pm_test", W_OK)) {
		tap_skip("no CONFIG_PM_DEBUG", "sleep: trace goes on afterwards");
		return;
	}
	pid = busy(0);
	attr_init(&attr, 0);
	ret = recording_open(&rec, &attr, -1, 0, 16 * AUX_SIZE);
	if (!ret)
		recording_enable(&rec);
	usleep(50000);
	write_line("/sys/module/suspend/parameters/pm_test_delay", "1");
	write_line("/sys/power/pm_test", "platform");
	slept = write_line("/sys/power/state", "freeze");
	write_line("/sys/power/pm_test", "none");
	if (slept == -EINVAL || slept == -EBUSY || slept == -EIO) {
		tap_skip("this machine cannot sleep", "sleep: trace goes on afterwards");
	} else if (!ret) {
		recording_read(&rec, true);
		before = rec.n_bytes;
		for (int tries = 0; tries < 100 && rec.n_bytes == before; tries++) {
			usleep(10000);
			recording_read(&rec, true);
		}
	}
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	if (!ret) {
		recording_disable(&rec);
		recording_read(&rec, false);
		messages_count(&rec, &m);
	}
	if (!slept || ret)
		tap_check(!ret && !slept && rec.n_bytes > before && m.whole && m.n,
			  "sleep: trace goes on afterwards, in whole messages (%d, %d)", ret, slept);
	if (!ret)
		recording_close(&rec);
}

/* One recording with one allocation that fails; false when there were not so many. */
static bool fail_nth(int fd, int nth, unsigned int *failed, unsigned int *wrong)
{
	struct perf_event_attr attr;
	struct recording rec;
	char text[16] = "0";
	int ret;

	attr_init(&attr, CONFIG_CONTEXT);
	snprintf(text, sizeof(text), "%d", nth);
	if (pwrite(fd, text, strlen(text), 0) < 0)
		return false;
	ret = recording_open(&rec, &attr, 0, -1, 64 << 10);
	if (!ret) {
		recording_enable(&rec);
		work(100);
		recording_disable(&rec);
	}
	memset(text, 0, sizeof(text));
	if (pread(fd, text, sizeof(text) - 1, 0) <= 0 || pwrite(fd, "0", 1, 0) < 0)
		return false;
	if (!ret) {
		recording_read(&rec, false);
		recording_close(&rec);
	}
	*failed += ret == -ENOMEM;
	*wrong += ret && ret != -ENOMEM;
	return atoi(text) == 0;
}

static void test_memory(void)
{
	int fd = open("/proc/thread-self/fail-nth", O_RDWR | O_CLOEXEC), n = 1;
	unsigned int failed = 0, wrong = 0;

	if (fd < 0) {
		tap_skip("no CONFIG_FAULT_INJECTION", "memory: each allocation fails once");
		tap_skip("no CONFIG_FAULT_INJECTION", "memory: recording works afterwards");
		return;
	}
	write_line("/sys/kernel/debug/failslab/ignore-gfp-wait", "N");
	write_line("/sys/kernel/debug/failslab/verbose", "0");
	write_line("/sys/kernel/debug/fail_page_alloc/ignore-gfp-wait", "N");
	write_line("/sys/kernel/debug/fail_page_alloc/min-order", "0");
	write_line("/sys/kernel/debug/fail_page_alloc/verbose", "0");
	while (n < MAX_FAILURES && fail_nth(fd, n, &failed, &wrong))
		n++;
	close(fd);
	tap_check(n > 10 && n < MAX_FAILURES && failed && !wrong,
		  "memory: each of %d allocations fails once: %u times ENOMEM, %u times another error", n - 1,
		  failed, wrong);
	tap_check(!start_and_stop(10, AUX_SIZE), "memory: recording works afterwards");
}

static void test_idle(void)
{
	bool idle = false;

	for (int i = 0; i < 100 && !idle; i++) {
		const char *state = read_line(BUS_DIR "/encoder-0/state");

		idle = state && !strcmp(state, "inactive");
		usleep(10000);
	}
	tap_check(idle, "the hardware is inactive in the end");
}

int main(void)
{
	require_pmu();
	if (geteuid())
		tap_skip_all("needs root");
	tap_plan(8);
	test_cycles();
	test_recorders();
	test_hotplug();
	test_sleep();
	test_memory();
	/* Unbinding would take a component from under events that use it: there is no such file. */
	tap_check(access("/sys/bus/platform/drivers/rvtrace/unbind", F_OK), "components cannot be unbound");
	test_idle();
	tap_end();
}
