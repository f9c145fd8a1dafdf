// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* A busy life: many starts and stops, forks, exec, harts that go, two recorders, unloading. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "common.h"

#define AUX_SIZE (1u << 20)
#define CYCLES 300
#define FORKS 200

static void test_cycles(void)
{
	struct perf_event_attr attr;
	struct recording rec;
	struct messages m;
	int ret, i;

	attr_init(&attr, 0);
	ret = recording_open(&rec, &attr, 0, -1, AUX_SIZE);
	if (!tap_check(!ret, "cycles: opened (%d)", ret)) {
		tap_check(false, "cycles: recorded");
		return;
	}
	for (i = 0; i < CYCLES; i++) {
		recording_enable(&rec);
		work(10);
		recording_disable(&rec);
		recording_read(&rec, false);
	}
	messages_count(&rec, &m);
	tap_check(m.whole && m.syncs >= CYCLES && !rec.partial && !rec.truncated,
		  "cycles: %d starts, %u syncs, %u records, %u partial", CYCLES, m.syncs,
		  rec.records, rec.partial);
	recording_close(&rec);
}

/* One event per CPU follows all children. */
static void test_forks(void)
{
	unsigned int cpus = (unsigned int)sysconf(_SC_NPROCESSORS_ONLN);
	unsigned int whole = 0, lost = 0, syncs = 0;
	struct recording *recs = calloc(cpus, sizeof(*recs));
	struct perf_event_attr attr;
	struct messages m;
	int ret = 0;

	attr_init(&attr, 0);
	attr.inherit = 1;
	for (unsigned int i = 0; i < cpus && !ret; i++) {
		ret = recording_open(&recs[i], &attr, getpid(), (int)i, 4 * AUX_SIZE);
		if (!ret)
			ret = recording_enable(&recs[i]);
	}
	if (!tap_check(!ret, "forks: opened (%d)", ret)) {
		tap_check(false, "forks: recorded");
		free(recs);
		return;
	}
	for (int i = 0; i < FORKS; i++) {
		pid_t pid = fork();

		if (!pid) {
			work(100);
			_exit(0);
		}
		if (i % 4 == 3)
			while (wait(NULL) > 0)
				;
		for (unsigned int c = 0; c < cpus; c++)
			recording_read(&recs[c], true);
	}
	while (wait(NULL) > 0)
		;
	for (unsigned int c = 0; c < cpus; c++) {
		recording_disable(&recs[c]);
		recording_read(&recs[c], false);
		messages_count(&recs[c], &m);
		whole += m.whole;
		syncs += m.syncs;
		lost += recs[c].partial + recs[c].truncated + recs[c].lost;
		recording_close(&recs[c]);
	}
	tap_check(whole == cpus && syncs >= FORKS && !lost,
		  "forks: %d children, %u syncs, %u losses", FORKS, syncs, lost);
	free(recs);
}

/* exec ends an AUX record: what follows belongs to the new program. */
static void test_exec(const char *self)
{
	struct perf_event_attr attr;
	struct recording rec;
	unsigned int records;
	int ready[2], go[2];
	pid_t pid;
	char c;
	int ret;

	if (pipe(ready) || pipe(go))
		return;
	fflush(stdout);
	pid = fork();
	if (!pid) {
		if (read(go[0], &c, 1) == 1)
			execl(self, self, "--work", NULL);
		_exit(1);
	}
	attr_init(&attr, 0);
	ret = recording_open(&rec, &attr, pid, -1, AUX_SIZE);
	if (!ret)
		recording_enable(&rec);
	if (write(go[1], "", 1) != 1)
		ret = -EPIPE;
	waitpid(pid, NULL, 0);
	if (ret) {
		tap_check(false, "exec: recorded (%d)", ret);
	} else {
		recording_read(&rec, false);
		records = rec.records;
		tap_check(records >= 2, "exec: ends a record (%u records)", records);
		recording_close(&rec);
	}
	close(ready[0]);
	close(ready[1]);
	close(go[0]);
	close(go[1]);
}

static void test_two(void)
{
	struct perf_event_attr attr;
	int first, second;

	attr_init(&attr, 0);
	first = event_open(&attr, 0, -1);
	second = event_open(&attr, 0, -1);
	tap_check(first >= 0 && second == -EBUSY,
		  "two events on a thread: the second is EBUSY (%d)", second);
	if (second >= 0)
		close(second);
	second = event_open(&attr, -1, 0);
	tap_check(second == -EBUSY, "an event on a CPU beside one on a thread is EBUSY (%d)",
		  second);
	if (second >= 0)
		close(second);
	close(first);
}

/* Two threads on one hart, each with its recorder: both get their own flow. */
static void test_neighbours(void)
{
	struct recording rec[2];
	struct perf_event_attr attr;
	struct messages m;
	pid_t pid[2];
	int go[2], ret = 0, good = 0;

	if (!has_context()) {
		tap_skip("no thread ids in the trace", "neighbours");
		return;
	}
	pin(0);
	attr_init(&attr, CONFIG_CONTEXT);
	for (int i = 0; i < 2; i++)
		pid[i] = fork_child(2000000, &go[i]);
	for (int i = 0; i < 2; i++) {
		ret = recording_open(&rec[i], &attr, pid[i], -1, 4 * AUX_SIZE);
		if (ret)
			break;
		recording_enable(&rec[i]);
	}
	for (int i = 0; i < 2; i++)
		start_child(go[i]);
	while (wait(NULL) > 0)
		;
	for (int i = 0; i < 2 && !ret; i++) {
		recording_read(&rec[i], false);
		messages_count(&rec[i], &m);
		tap_note("neighbour %d: %zu bytes, %u records, context %llu of %d", i,
			 rec[i].n_bytes, rec[i].records, (unsigned long long)m.context, pid[i]);
		good += m.whole && m.n && m.context == (uint64_t)pid[i];
		recording_close(&rec[i]);
	}
	tap_check(good == 2, "neighbours on a hart: each its own (%d)", ret);
}

static void test_hotplug(void)
{
	static const char online[] = "/sys/devices/system/cpu/cpu1/online";
	struct perf_event_attr attr;
	struct recording rec;
	struct messages m;
	pid_t pid;
	int ret;

	if (access(online, W_OK) || access(BUS_DIR "/encoder-1", F_OK)) {
		tap_skip("no second CPU that can go", "hotplug: stops");
		tap_skip("no second CPU that can go", "hotplug: encoder is inactive");
		tap_skip("no second CPU that can go", "hotplug: works again");
		return;
	}
	pid = busy_child(1, 0);
	attr_init(&attr, 0);
	ret = recording_open(&rec, &attr, -1, 1, AUX_SIZE);
	if (!ret)
		recording_enable(&rec);
	usleep(50000);
	set_online(1, false);
	if (!ret) {
		recording_read(&rec, false);
		messages_count(&rec, &m);
	}
	tap_check(!ret && m.n && m.whole,
		  "hotplug: the record of a hart that goes down is whole (%d)", ret);
	tap_check(!strcmp(read_line(BUS_DIR "/encoder-1/state") ?: "", "inactive"),
		  "hotplug: its encoder is inactive");
	if (!ret)
		recording_close(&rec);
	set_online(1, true);
	ret = recording_open(&rec, &attr, -1, 1, AUX_SIZE);
	if (!ret)
		recording_enable(&rec);
	end_child(pid);
	pid = fork();
	if (!pid) {
		pin(1);
		work(100000);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	if (!ret) {
		recording_disable(&rec);
		recording_read(&rec, false);
		messages_count(&rec, &m);
		recording_close(&rec);
	}
	tap_check(!ret && m.n && m.whole, "hotplug: works again when it is back (%d)", ret);
}

static void test_unload(void)
{
	struct perf_event_attr attr;
	int fd;

	attr_init(&attr, 0);
	fd = event_open(&attr, 0, -1);
	tap_check(syscall(SYS_delete_module, "rvtrace", O_NONBLOCK) && errno == EWOULDBLOCK,
		  "unloading with an open event is refused (%d)", errno);
	close(fd);
}

int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "--work")) {
		work(10000);
		return 0;
	}
	require_pmu();
	if (geteuid())
		tap_skip_all("needs root");
	tap_plan(12);
	test_cycles();
	test_forks();
	test_exec(argv[0]);
	test_two();
	test_neighbours();
	test_hotplug();
	test_unload();
	tap_end();
}
