// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Hard times: thousands of starts, recorders side by side, harts that come and go, a storm of
 * forks. Takes minutes in an emulator; RVTRACE_CYCLES sets the number of starts.
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
/* Families that live at once */
#define FAMILIES 10

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
		set_online(1, i % 2);
		before = rec.n_bytes;
		for (int tries = 0; tries < 100 && rec.n_bytes == before; tries++) {
			usleep(10000);
			recording_read(&rec, true);
		}
		good += rec.n_bytes > before;
	}
	set_online(1, true);
	for (int i = 0; i < 3; i++)
		end_child(pid[i]);
	if (!ret) {
		recording_read(&rec, false);
		messages_count(&rec, &m);
		recording_close(&rec);
	}
	tap_check(!ret && good == HOTPLUGS && m.n && m.whole,
		  "hotplug: a thread is traced on after each of %d changes (%u)", HOTPLUGS, good);
}

/*
 * A child that forks one, too, and both are traced: their events are inherited, and come and go
 * with them.
 */
static void family(void)
{
	int status = 0;
	pid_t pid;

	if (fork())
		return;
	pid = fork();
	work(100);
	if (!pid)
		_exit(0);
	_exit(waitpid(pid, &status, 0) != pid || status);
}

static void test_forks(void)
{
	unsigned int n = cycles() / 20, good = 0;
	struct perf_event_attr attr;
	struct recording rec;
	struct messages m;
	int ret, status;

	pin(0);
	attr_init(&attr, CONFIG_CONTEXT);
	attr.inherit = 1;
	ret = recording_open(&rec, &attr, 0, 0, 4 * AUX_SIZE);
	if (ret) {
		tap_check(false, "forks: opened (%d)", ret);
		return;
	}
	fflush(stdout);
	recording_enable(&rec);
	for (unsigned int i = 0; i < n; i += FAMILIES) {
		for (int k = 0; k < FAMILIES; k++)
			family();
		while (wait(&status) > 0)
			good += WIFEXITED(status) && !WEXITSTATUS(status);
		recording_read(&rec, true);
	}
	recording_disable(&rec);
	recording_read(&rec, false);
	messages_count(&rec, &m);
	/* Each of the two processes of a family says who it is, each time that it starts. */
	tap_check(good >= n && m.whole && m.n_contexts == CONTEXTS && m.ownerships >= 2 * n &&
		  !rec.partial && !rec.truncated && !rec.lost,
		  "forks: %u traced: %u times it is said whose trace comes, %u losses",
		  2 * good, m.ownerships, rec.partial + rec.truncated + rec.lost);
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
	/* Stays on one CPU. */
	test_forks();
	/* Unbinding would take a component from under events that use it: there is no such file. */
	tap_check(access("/sys/bus/platform/drivers/rvtrace/unbind", F_OK),
		  "components cannot be unbound");
	tap_check(soon_all_encoders("inactive"), "all encoders are inactive in the end");
	tap_end();
}
