// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Opening, recording and closing: per thread and per CPU, by privilege mode, with and without
 * space.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "common.h"

#define BRANCHES 20000ul
#define AUX_SIZE (1u << 20)
/* How long to wait for what must happen on a busy machine */
#define PATIENCE_MS 20000

static void test_refusals(void)
{
	struct perf_event_attr attr;
	int fd;

	attr_init(&attr, 1ull << 63);
	fd = event_open(&attr, 0, -1);
	tap_check(fd == -EINVAL, "unknown option is EINVAL (%d)", fd);
	/*
	 * N-Trace only encoders have no branch prediction, E-Trace only ones no repeated history.
	 */
	attr_init(&attr, 1ull << 1 | 1ull << 5);
	fd = event_open(&attr, 0, -1);
	tap_check(fd == -EOPNOTSUPP, "option of another protocol is EOPNOTSUPP (%d)", fd);
	attr_init(&attr, 7ull << 24);
	fd = event_open(&attr, 0, -1);
	tap_check(fd == -EOPNOTSUPP, "unknown format is EOPNOTSUPP (%d)", fd);
	attr_init(&attr, 0);
	attr.exclude_user = 1;
	fd = event_open(&attr, 0, -1);
	tap_check(fd == -EINVAL, "nothing to trace is EINVAL (%d)", fd);
	attr_init(&attr, 1);
	fd = event_open(&attr, 0, -1);
	tap_check(fd >= 0, "event=1 is accepted (%d)", fd);
	if (fd >= 0)
		close(fd);
}

/* Records a child from its first to its last instruction after start_child(). */
static int record_child(struct recording *rec, struct perf_event_attr *attr, unsigned long n,
			size_t aux)
{
	int go, ret, status;
	pid_t pid = fork_child(n, &go);

	ret = recording_open(rec, attr, pid, -1, aux);
	if (!ret)
		ret = recording_enable(rec);
	start_child(go);
	waitpid(pid, &status, 0);
	if (!ret)
		recording_read(rec, false);
	return ret;
}

static void test_thread(const char *what, bool user, bool kernel)
{
	struct perf_event_attr attr;
	struct recording rec;
	struct messages m;
	int ret;

	/* Syncs often, so that each mode has some */
	attr_init(&attr, often_synced());
	attr.exclude_user = !user;
	attr.exclude_kernel = !kernel;
	/* A kernel that checks itself has much to trace. */
	ret = record_child(&rec, &attr, BRANCHES, 8 * AUX_SIZE);
	if (!tap_check(!ret, "%s: opened (%d)", what, ret)) {
		tap_check(false, "%s: recorded", what);
		tap_check(false, "%s: modes", what);
		return;
	}
	messages_count(&rec, &m);
	tap_note("%s: %zu bytes in %u records, %u partial, %u truncated", what, rec.n_bytes,
		 rec.records, rec.partial, rec.truncated);
	tap_note("%s: %u messages, %u syncs (%u user, %u kernel)", what, m.n, m.syncs, m.user_syncs,
		 m.kernel_syncs);
	tap_check(m.n && m.whole && m.correlations && !m.errors && !rec.partial && !rec.truncated,
		  "%s: whole messages, nothing lost", what);
	/*
	 * A program's address can be in kernel flow: where the return to it leads, if the next
	 * interrupt comes at once. That is rare.
	 */
	tap_check((user ? m.user_syncs > 0 : m.user_syncs <= m.kernel_syncs / 1000) &&
		  !!m.kernel_syncs == kernel, "%s: only the modes asked for", what);
	recording_close(&rec);
}

/* A child's Ownership messages. Returns its thread id, or -errno. */
static int trace_child(uint64_t config, struct messages *m)
{
	struct perf_event_attr attr;
	struct recording rec;
	pid_t pid;
	int go, ret;

	attr_init(&attr, config);
	pid = fork_child(BRANCHES, &go);
	ret = recording_open(&rec, &attr, pid, -1, AUX_SIZE);
	if (!ret)
		recording_enable(&rec);
	start_child(go);
	waitpid(pid, NULL, 0);
	if (ret)
		return ret;
	recording_read(&rec, false);
	messages_count(&rec, m);
	recording_close(&rec);
	return pid;
}

static void test_context(void)
{
	struct messages m = { 0 };
	int tid;

	if (strcmp(read_line(PMU_DIR "/caps/scontext") ?: "0", "1") || !has_context()) {
		tap_skip("no scontext, or none in the trace", "ownership");
		return;
	}
	tid = trace_child(CONFIG_CONTEXT, &m);
	tap_check(tid > 0 && m.ownerships && m.context == (uint64_t)tid,
		  "ownership: %u messages, context %llu is thread %d", m.ownerships,
		  (unsigned long long)m.context, tid);
}

/* Who runs is told by hcontext where the harts have it; filters for threads look at scontext. */
static void test_hcontext(void)
{
	unsigned long bits = strtoul(read_line(PMU_DIR "/caps/hcontext_bits") ?: "0", NULL, 10);
	uint64_t max = bits < 64 ? (1ull << bits) - 1 : UINT64_MAX;
	struct messages m = { 0 };
	struct perf_event_attr attr;
	int ret = trace_child(CONFIG_HCONTEXT, &m);

	if (!has_context())
		bits = 0;
	if (bits)
		tap_check(ret > 0 && m.hcontext == ((uint64_t)ret < max ? (uint64_t)ret : max),
			  "hcontext: %lu bits, %u messages, %llu is thread %d", bits, m.ownerships,
			  (unsigned long long)m.hcontext, ret);
	else
		tap_check(ret == -EOPNOTSUPP, "hcontext: the harts have none (%d)", ret);
	attr_init(&attr, CONFIG_HCONTEXT);
	attr.config2 = 1ull << 32;
	ret = event_open(&attr, 0, -1);
	tap_check(ret == -EOPNOTSUPP, "hcontext: a filter for a thread is not on it (%d)", ret);
}

static void test_cpu(void)
{
	struct perf_event_attr attr;
	struct recording rec;
	struct messages m;
	int ret;

	attr_init(&attr, 0);
	attr.exclude_kernel = 0;
	/* A kernel that checks itself has much to trace; in a full buffer a message may be cut. */
	ret = recording_open(&rec, &attr, -1, 0, 32 * AUX_SIZE);
	if (!tap_check(!ret, "cpu 0: opened (%d)", ret)) {
		tap_check(false, "cpu 0: recorded");
		return;
	}
	recording_enable(&rec);
	for (int i = 0; i < 10; i++) {
		usleep(20000);
		recording_read(&rec, true);
	}
	recording_disable(&rec);
	recording_read(&rec, false);
	messages_count(&rec, &m);
	tap_note("cpu 0: %zu bytes, %u records, %u messages, %u partial, %u truncated", rec.n_bytes,
		 rec.records, m.n, rec.partial, rec.truncated);
	/* Where the sink was overrun, what is left of it begins with what is left of a message. */
	tap_check(m.n && m.kernel_syncs && (m.whole || rec.partial),
		  "cpu 0: whole messages (%d), %u kernel syncs, %u errors", m.whole,
		  m.kernel_syncs, m.errors);
	recording_close(&rec);
}

/* The AUX buffer fills up; after it was read and the event enabled, recording goes on. */
static void test_full(void)
{
	struct perf_event_attr attr;
	struct recording rec;
	struct messages m;
	size_t first;
	int go, ret;
	pid_t pid;

	attr_init(&attr, 0);
	pid = fork_child(1000000000, &go);
	ret = recording_open(&rec, &attr, pid, -1, 2 * (size_t)sysconf(_SC_PAGESIZE));
	if (!ret)
		ret = recording_enable(&rec);
	start_child(go);
	if (ret) {
		tap_check(false, "full: opened (%d)", ret);
		tap_check(false, "full: goes on");
		end_child(pid);
		return;
	}
	for (int i = 0; i < PATIENCE_MS && !recording_full(&rec); i++)
		usleep(1000);
	recording_read(&rec, false);
	first = rec.n_bytes;
	messages_count(&rec, &m);
	/* until perf has disabled the event, the child may be switched in once more */
	tap_check(rec.truncated && first <= rec.aux_size,
		  "full: %zu bytes of %zu, truncated %u time(s)", first, rec.aux_size,
		  rec.truncated);
	recording_enable(&rec);
	/*
	 * The record can be seen before perf has disabled the event, and what is not disabled yet
	 * is not enabled again: so once is not enough.
	 */
	for (int i = 0; i < PATIENCE_MS && rec.n_bytes == first; i++) {
		usleep(1000);
		recording_enable(&rec);
		recording_read(&rec, true);
	}
	recording_read(&rec, true);
	tap_check(rec.n_bytes > first, "full: goes on after reading, %zu more bytes",
		  rec.n_bytes - first);
	end_child(pid);
	recording_close(&rec);
}

/* A recorder that is killed takes its event with it. */
static void test_killed(void)
{
	struct perf_event_attr attr;
	struct recording rec;
	int ready[2];
	pid_t pid;
	char c = 0;

	if (pipe(ready))
		return;
	fflush(stdout);
	pid = fork();
	if (!pid) {
		attr_init(&attr, 0);
		c = !recording_open(&rec, &attr, 0, -1, AUX_SIZE) && !recording_enable(&rec);
		if (write(ready[1], &c, 1) == 1)
			for (;;)
				work(1000);
		_exit(1);
	}
	close(ready[1]);
	tap_check(read(ready[0], &c, 1) == 1 && c == 1, "killed: records itself");
	usleep(20000);
	end_child(pid);
	close(ready[0]);
	tap_check(soon_all_encoders("inactive"), "killed: all encoders are inactive");
}

/* Without an AUX buffer nothing is recorded, and nobody is bothered. */
static void test_no_aux(void)
{
	struct perf_event_attr attr;
	int fd;

	attr_init(&attr, 0);
	attr.disabled = 0;
	fd = event_open(&attr, 0, -1);
	work(BRANCHES);
	tap_check(fd >= 0 && !all_encoders("tracing"), "no AUX buffer: quiet (%d)", fd);
	if (fd >= 0)
		close(fd);
}

int main(void)
{
	require_pmu();
	tap_plan(25);
	test_refusals();
	test_thread("user", true, false);
	test_thread("kernel", false, true);
	test_thread("user and kernel", true, true);
	test_context();
	test_hcontext();
	test_cpu();
	test_full();
	test_killed();
	test_no_aux();
	tap_check(soon_all_encoders("inactive"), "all encoders are inactive in the end");
	tap_end();
}
