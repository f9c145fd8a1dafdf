// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Encoders that share a sink: one process gets the trace of all, and nobody gets another's. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "common.h"

#define AUX_SIZE (4u << 20)
/* Harts take turns at the sink, so that each gets some of it. */
#define PAUSE_US 2000

static void test_system_wide(void)
{
	struct perf_event_attr attr;
	struct recording rec[2];
	struct messages m;
	uint64_t sources = 0;
	unsigned int whole = 0, lost = 0;
	pid_t pid[2];
	int ret = 0;

	attr_init(&attr, 0);
	for (int i = 0; i < 2; i++)
		pid[i] = busy_child(i, PAUSE_US);
	for (int i = 0; i < 2 && !ret; i++)
		ret = recording_open(&rec[i], &attr, -1, i, AUX_SIZE);
	for (int i = 0; i < 2 && !ret; i++)
		ret = recording_enable(&rec[i]);
	for (int n = 0; n < 20 && !ret; n++) {
		usleep(10000);
		for (int i = 0; i < 2; i++)
			recording_read(&rec[i], true);
	}
	for (int i = 0; i < 2 && !ret; i++)
		recording_disable(&rec[i]);
	for (int i = 0; i < 2 && !ret; i++) {
		recording_read(&rec[i], false);
		messages_count(&rec[i], &m);
		tap_note("buffer of CPU %d: %zu bytes, %u partial, %u truncated", i, rec[i].n_bytes,
			 rec[i].partial, rec[i].truncated);
		tap_note("buffer of CPU %d: %u messages, %u syncs (%u user, %u kernel), SRC 0x%llx",
			 i, m.n, m.syncs, m.user_syncs, m.kernel_syncs,
			 (unsigned long long)m.sources);
		sources |= m.n ? m.sources : 0;
		whole += m.whole;
		lost += rec[i].partial + rec[i].truncated;
		recording_close(&rec[i]);
	}
	tap_check(!ret && whole == 2 && !lost, "system-wide: whole messages, nothing lost (%d)",
		  ret);
	tap_check(sources == 3, "system-wide: both harts are in the trace (SRC 0x%llx)",
		  (unsigned long long)sources);
	for (int i = 0; i < 2; i++)
		end_child(pid[i]);
}

/*
 * Records a busy child of its own on one hart for a while; exits with 0 when it saw its flow only.
 */
static int lonely_recorder(int cpu)
{
	struct perf_event_attr attr;
	struct recording rec;
	struct messages m;
	pid_t pid = busy_child(cpu, PAUSE_US);
	int ret;

	attr_init(&attr, CONFIG_CONTEXT);
	ret = recording_open(&rec, &attr, pid, -1, AUX_SIZE);
	if (!ret)
		ret = recording_enable(&rec);
	for (int n = 0; n < 20 && !ret; n++) {
		usleep(10000);
		recording_read(&rec, true);
	}
	end_child(pid);
	if (ret)
		return 2;
	recording_read(&rec, false);
	messages_count(&rec, &m);
	tap_note("recorder on CPU %d: %zu bytes, %u contexts, last %llu of %d", cpu, rec.n_bytes,
		 m.n_contexts, (unsigned long long)m.context, pid);
	if (!m.n)
		return 0;	/* the other one had the sink all the time */
	return m.n_contexts == 1 && m.context == (uint64_t)pid && m.whole ? 0 : 1;
}

static void test_strangers(void)
{
	pid_t pid[2];
	int status, bad = 0;

	if (!has_context()) {
		tap_skip("no thread ids in the trace", "two recorders at once");
		return;
	}
	fflush(stdout);
	for (int i = 0; i < 2; i++) {
		pid[i] = fork();
		if (!pid[i])
			exit(lonely_recorder(i));
	}
	for (int i = 0; i < 2; i++) {
		waitpid(pid[i], &status, 0);
		bad += !WIFEXITED(status) || WEXITSTATUS(status);
	}
	tap_check(!bad, "two recorders at once: each its own flow only");
}

/* Somebody has opened an event with the smallest AUX buffer before. */
static void test_small_first(void)
{
	struct perf_event_attr attr;
	struct recording small, rec;
	pid_t pid = busy_child(0, PAUSE_US);
	int ret;

	attr_init(&attr, 0);
	ret = recording_open(&small, &attr, -1, 1, (size_t)sysconf(_SC_PAGESIZE));
	if (!ret)
		ret = recording_open(&rec, &attr, -1, 0, AUX_SIZE);
	if (!ret)
		ret = recording_enable(&rec);
	for (int n = 0; n < 20 && !ret; n++) {
		usleep(10000);
		recording_read(&rec, true);
	}
	end_child(pid);
	if (ret) {
		tap_check(false, "a small buffer first: opened (%d)", ret);
		return;
	}
	recording_disable(&rec);
	recording_read(&rec, false);
	tap_check(rec.n_bytes && !rec.partial, "a small buffer first: %zu bytes, %u partial",
		  rec.n_bytes, rec.partial);
	recording_close(&rec);
	recording_close(&small);
}

/* Another program in the process that opened an event: records CPU 1 for a while. */
static int executed(void)
{
	struct perf_event_attr attr;
	struct recording rec;
	struct messages m;
	int ret;

	attr_init(&attr, 0);
	ret = recording_open(&rec, &attr, -1, 1, AUX_SIZE);
	if (!ret)
		ret = recording_enable(&rec);
	for (int n = 0; n < 20 && !ret; n++) {
		usleep(10000);
		recording_read(&rec, true);
	}
	if (ret)
		return 2;
	recording_disable(&rec);
	recording_read(&rec, false);
	messages_count(&rec, &m);
	tap_note("the executed program: %u messages, SRC 0x%llx", m.n,
		 (unsigned long long)m.sources);
	return m.n && m.sources != 2;
}

/* Records with an event that its parent opened; says on @to whether that is CPU 0's flow only. */
static _Noreturn void record_inherited(int fd, int to)
{
	struct recording rec;
	struct messages m;
	char verdict = 'n';

	if (fd < 0 || recording_map_fd(&rec, fd, 0, AUX_SIZE) || recording_enable(&rec))
		exit(write(to, &verdict, 1) != 1);
	for (int n = 0; n < 40; n++) {
		usleep(10000);
		recording_read(&rec, true);
	}
	recording_disable(&rec);
	recording_read(&rec, false);
	messages_count(&rec, &m);
	tap_note("who has its event: %u messages, SRC 0x%llx", m.n, (unsigned long long)m.sources);
	if (!m.n || m.sources == 1)
		verdict = 'y';
	/* Whoever reads this opens events of its own. */
	recording_close(&rec);
	exit(write(to, &verdict, 1) != 1);
}

/*
 * A process opens an event, gives it to a child and executes another program, perhaps one with more
 * rights: then its id is the same, but it is somebody else.
 */
static void test_exec(void)
{
	struct perf_event_attr attr;
	int status = -1, fds[2], fd;
	pid_t pid, busy[2];
	char verdict = 0;

	if (pipe(fds))
		exit(1);
	for (int i = 0; i < 2; i++)
		busy[i] = busy_child(i, PAUSE_US);
	fflush(stdout);
	pid = fork();
	if (!pid) {
		attr_init(&attr, 0);
		fd = event_open(&attr, -1, 0);
		if (!fork())
			record_inherited(fd, fds[1]);
		execl("/proc/self/exe", "shared", "executed", NULL);
		exit(3);
	}
	waitpid(pid, &status, 0);
	tap_check(read(fds[0], &verdict, 1) == 1 && verdict == 'y' && !status,
		  "a program that was executed shares with nobody from before (%d)", status);
	close(fds[0]);
	close(fds[1]);
	for (int i = 0; i < 2; i++)
		end_child(busy[i]);
}

/*
 * Windows open and close while the other hart stops and starts the encoder, to drain the sink. The
 * sink is small, so that it is drained all the time.
 */
static void test_windows(void)
{
	struct perf_event_attr attr;
	struct recording rec[2];
	struct messages m[2] = { };
	pid_t pid[2];
	int ret = 0;

	attr_init(&attr, 0);
	attr.config1 = 20 | 40ull << 32;
	for (int i = 0; i < 2; i++)
		pid[i] = busy_child(i, 0);
	for (int i = 0; i < 2 && !ret; i++)
		ret = recording_open(&rec[i], &attr, -1, i, 64u << 10);
	for (int i = 0; i < 2 && !ret; i++)
		ret = recording_enable(&rec[i]);
	for (int n = 0; n < 100 && !ret; n++) {
		usleep(2000);
		for (int i = 0; i < 2; i++)
			recording_read(&rec[i], true);
	}
	for (int i = 0; i < 2 && !ret; i++)
		recording_disable(&rec[i]);
	for (int i = 0; i < 2 && !ret; i++) {
		recording_read(&rec[i], false);
		messages_count(&rec[i], &m[i]);
		tap_note("buffer of CPU %d: %u records, %u messages, SRC 0x%llx", i, rec[i].records,
			 m[i].n, (unsigned long long)m[i].sources);
		recording_close(&rec[i]);
	}
	for (int i = 0; i < 2; i++)
		end_child(pid[i]);
	tap_check(!ret && (m[0].sources | m[1].sources) == 3, "windows of both harts: traced (%d)",
		  ret);
	tap_check(soon_all_encoders("inactive"), "windows of both harts: no component broke");
}

int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "executed"))
		return executed();
	require_pmu();
	if (geteuid())
		tap_skip_all("needs root");
	if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
		tap_skip_all("needs two CPUs");
	tap_plan(7);
	test_system_wide();
	test_strangers();
	test_windows();
	test_exec();
	test_small_first();
	tap_end();
}
