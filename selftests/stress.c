// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Hard times: thousands of starts, recorders side by side, harts that come and go, sleep.
 * Takes minutes in an emulator; RVTRACE_CYCLES sets the number of starts.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "common.h"

#define AUX_SIZE (1u << 20)
#define CYCLES 10000
#define HOTPLUGS 10

static unsigned int cycles(void)
{
	const char *text = getenv("RVTRACE_CYCLES");

	return text ? (unsigned int)atoi(text) : CYCLES;
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
		pid[i] = busy_child(-1, 0);
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
		end_child(pid[i]);
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
	pid = busy_child(0, 0);
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
	end_child(pid);
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

int main(void)
{
	require_pmu();
	if (geteuid())
		tap_skip_all("needs root");
	tap_plan(6);
	test_cycles();
	test_recorders();
	test_hotplug();
	test_sleep();
	/* Unbinding would take a component from under events that use it: there is no such file. */
	tap_check(access("/sys/bus/platform/drivers/rvtrace/unbind", F_OK), "components cannot be unbound");
	tap_check(soon_all_encoders("inactive"), "all encoders are inactive in the end");
	tap_end();
}
