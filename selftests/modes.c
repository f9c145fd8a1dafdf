// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Other ways to record than everything: overwrite mode, duty cycle, pause, traps, samples. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "common.h"

#define BRANCHES 50000ul
#define AUX_SIZE (1u << 20)

static void work_for(unsigned int ms)
{
	struct timespec start, now;

	clock_gettime(CLOCK_MONOTONIC, &start);
	do {
		work(1000);
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while ((now.tv_sec - start.tv_sec) * 1000 + (now.tv_nsec - start.tv_nsec) / 1000000 < ms);
}

static void test_overwrite(void)
{
	struct perf_event_attr attr;
	struct recording rec;
	struct messages m;
	int ret;

	attr_init(&attr, often_synced());
	ret = recording_open_overwrite(&rec, &attr, 0, -1, 4 * (size_t)sysconf(_SC_PAGESIZE));
	if (!tap_check(!ret, "overwrite: opened (%d)", ret)) {
		tap_check(false, "overwrite: snapshot");
		tap_check(false, "overwrite: another");
		return;
	}
	for (int i = 0; i < 2; i++) {
		recording_enable(&rec);
		work(20 * BRANCHES);
		recording_disable(&rec);
		recording_snapshot(&rec);
		messages_count(&rec, &m);
		tap_check(m.whole && m.syncs && rec.page->aux_head > rec.aux_size,
			  "overwrite: snapshot %d: %zu bytes, head %llu, %u messages, %u syncs", i,
			  rec.n_bytes, (unsigned long long)rec.page->aux_head, m.n, m.syncs);
	}
	recording_close(&rec);
}

/*
 * Returns how many bytes of trace @ms milliseconds of work give, or -errno; -EIO: they are not
 * whole messages.
 */
static ssize_t trace_of(uint64_t duty_cycle, unsigned int ms)
{
	struct perf_event_attr attr;
	struct recording rec;
	struct messages m;
	ssize_t ret;

	attr_init(&attr, 0);
	attr.config1 = duty_cycle;
	ret = recording_open(&rec, &attr, 0, -1, 8 * AUX_SIZE);
	if (ret)
		return ret;
	recording_enable(&rec);
	work_for(ms);
	recording_disable(&rec);
	recording_read(&rec, false);
	messages_count(&rec, &m);
	ret = m.whole ? (ssize_t)rec.n_bytes : -EIO;
	recording_close(&rec);
	return ret;
}

/*
 * A hart that stalls must not wait for a timer of its own: nobody reads, and the trace is much more
 * than the buffers hold.
 */
static void test_stall(void)
{
	struct perf_event_attr attr;
	struct recording rec;
	struct messages m;
	int go, ret, status = -1;
	pid_t pid;

	attr_init(&attr, CONFIG_STALL);
	pid = fork_child(500000, &go);
	ret = recording_open(&rec, &attr, pid, -1, 64u << 10);
	if (ret == -EOPNOTSUPP) {
		end_child(pid);
		tap_skip("the hardware cannot stall", "stall");
		return;
	}
	if (!ret)
		ret = recording_enable(&rec);
	start_child(go);
	waitpid(pid, &status, 0);
	if (ret) {
		tap_check(false, "stall: opened (%d)", ret);
		return;
	}
	recording_read(&rec, false);
	messages_count(&rec, &m);
	/* The last message that fits into the AUX buffer may be cut. */
	tap_check(!status && m.n && rec.partial + rec.truncated,
		  "stall: the program ends; %zu bytes, %u partial, %u truncated", rec.n_bytes,
		  rec.partial, rec.truncated);
	recording_close(&rec);
}

static void test_window(void)
{
	struct perf_event_attr attr;
	ssize_t all = 0, fifth = 0;
	bool whole = true;
	int ret;

	/*
	 * window=20000,period=100000: long enough for a slow machine to get somewhere within a
	 * window. By turns: how fast it is may change.
	 */
	for (int i = 0; i < 4; i++) {
		ssize_t without = trace_of(0, 100), with = trace_of(20000 | 100000ull << 32, 500);

		whole = whole && without > 0 && with > 0;
		all += without;
		fifth += with;
	}
	/*
	 * A fifth of five times as long is the same, but for what else is going on. Without
	 * windows it would be five times as much.
	 */
	tap_check(whole && fifth > all / 4 && fifth < 4 * all,
		  "window: %zd bytes, %zd bytes in a fifth of five times as long", all, fifth);
	attr_init(&attr, 0);
	attr.config1 = 100 | 50ull << 32;
	ret = event_open(&attr, 0, -1);
	tap_check(ret == -EINVAL, "window: longer than its period is EINVAL (%d)", ret);
}

/*
 * User flow within system calls is none: only traps' handlers are traced, which are the kernel's.
 */
static void test_causes(void)
{
	struct perf_event_attr attr;
	struct recording rec;
	struct messages m;
	int ret;

	/* ecall from U-mode is cause 8; "causes=1" is exceptions. */
	attr_init(&attr, often_synced() | 1ull << 28);
	attr.config3 = 1ull << 8;
	attr.exclude_kernel = 0;
	/* A kernel that checks itself has much to trace. */
	ret = recording_open(&rec, &attr, 0, -1, 8 * AUX_SIZE);
	if (ret == -EOPNOTSUPP) {
		tap_skip("no filter for causes", "causes");
		return;
	}
	if (ret) {
		tap_check(false, "causes: opened (%d)", ret);
		return;
	}
	recording_enable(&rec);
	for (int i = 0; i < 100; i++) {
		work(100);
		getppid();
	}
	recording_disable(&rec);
	recording_read(&rec, false);
	messages_count(&rec, &m);
	tap_check(m.whole && m.kernel_syncs && !m.user_syncs, "causes: %u syncs, %u in user mode",
		  m.syncs, m.user_syncs);
	recording_close(&rec);
}

static void test_pause(void)
{
#if defined(PERF_ATTR_SIZE_VER8)
	struct perf_event_attr attr, resume;
	struct recording rec;
	struct messages m;
	uint64_t count = 0;
	int ret, fd;

	attr_init(&attr, 0);
	attr.aux_start_paused = 1;
	ret = recording_open(&rec, &attr, 0, -1, AUX_SIZE);
	if (ret == -EOPNOTSUPP || ret == -EINVAL) {
		tap_skip("this kernel has no AUX pause", "pause: starts paused");
		tap_skip("this kernel has no AUX pause", "pause: resumed");
		return;
	}
	if (ret) {
		tap_check(false, "pause: opened (%d)", ret);
		return;
	}
	recording_enable(&rec);
	work(BRANCHES);
	recording_disable(&rec);
	recording_read(&rec, false);
	messages_count(&rec, &m);
	tap_check(!m.syncs, "pause: starts paused: %u syncs", m.syncs);

	memset(&resume, 0, sizeof(resume));
	resume.size = sizeof(resume);
	resume.type = PERF_TYPE_SOFTWARE;
	resume.config = PERF_COUNT_SW_CONTEXT_SWITCHES;
	resume.sample_period = 1;
	resume.aux_resume = 1;
	fd = (int)syscall(__NR_perf_event_open, &resume, 0, -1, rec.fd, PERF_FLAG_FD_CLOEXEC);
	recording_enable(&rec);
	usleep(20000);
	work(BRANCHES);
	recording_disable(&rec);
	recording_read(&rec, false);
	messages_count(&rec, &m);
	tap_check(fd >= 0 && m.syncs && m.whole, "pause: resumed: %u messages (%d)", m.n,
		  fd < 0 ? errno : 0);
	ret = (int)read(fd, &count, sizeof(count));
	tap_note("pause: %llu context switches (%d)", (unsigned long long)count, ret);
	recording_close(&rec);
	if (fd >= 0)
		close(fd);
#else
	tap_skip("built without AUX pause", "pause: starts paused");
	tap_skip("built without AUX pause", "pause: resumed");
#endif
}

#define SAMPLE_BYTES 1024

/* How many bytes are still clear before the first trace */
static size_t clear_bytes(const uint8_t *bytes, size_t n)
{
	size_t i = 0;

	while (i < n && !bytes[i])
		i++;
	return i;
}

/*
 * There are whole messages in a sample behind the first, which may be cut.
 */
static bool sample_is_good(const uint8_t *bytes)
{
	size_t from = clear_bytes(bytes, SAMPLE_BYTES), start = 0;
	struct recording rec = { .starts = &start, .n_starts = 1 };
	struct messages m;

	/* What is cut may begin with clear bytes as well as what is not. */
	while (from < SAMPLE_BYTES && (bytes[from++] & 3) != 3)
		;
	rec.bytes = (uint8_t *)bytes + from;
	rec.n_bytes = SAMPLE_BYTES - from;
	messages_count(&rec, &m);
	return m.whole && m.n;
}

/*
 * Looks at the samples in a ring: {u64 size, bytes}. Returns how many there are from the first on
 * that has trace: on a busy machine the program may not have got anywhere before. @good: how many
 * have whole messages in their end.
 */
static unsigned int count_samples(const uint8_t *data, uint64_t head, uint64_t size,
				  unsigned int *good)
{
	unsigned int n = 0;

	for (uint64_t at = 0; at + sizeof(struct perf_event_header) <= head && head <= size;) {
		const struct perf_event_header *header = (const void *)(data + at);
		const uint64_t *body = (const void *)(header + 1);
		const uint8_t *bytes = (const void *)(body + 1);

		at += header->size;
		if (header->type != PERF_RECORD_SAMPLE ||
		    (!n && clear_bytes(bytes, body[0]) == body[0]))
			continue;
		n++;
		if (body[0] == SAMPLE_BYTES && sample_is_good(bytes))
			(*good)++;
		else
			tap_note("sample %u: %llu bytes, %zu of them clear", n,
				 (unsigned long long)body[0], clear_bytes(bytes, body[0]));
	}
	return n;
}

/* Samples of a clock, each with the last trace before it */
static void test_samples(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), ring = 64 * page;
	struct perf_event_attr attr, clock;
	struct perf_event_mmap_page *map;
	unsigned int n, good = 0;
	struct recording rec;
	int ret, fd;

	attr_init(&attr, often_synced());
	ret = recording_open_overwrite(&rec, &attr, 0, -1, 4 * page);
	if (!tap_check(!ret, "samples: opened (%d)", ret)) {
		tap_check(false, "samples: trace in them");
		return;
	}
	memset(&clock, 0, sizeof(clock));
	clock.size = sizeof(clock);
	clock.type = PERF_TYPE_SOFTWARE;
	clock.config = PERF_COUNT_SW_CPU_CLOCK;
	clock.sample_period = 2000000;
	clock.sample_type = PERF_SAMPLE_AUX;
	clock.aux_sample_size = SAMPLE_BYTES;
	clock.exclude_kernel = 1;
	fd = (int)syscall(__NR_perf_event_open, &clock, 0, -1, rec.fd, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0 && errno == EINVAL) {
		tap_skip("this kernel has no kprobes", "samples: trace in them");
		recording_close(&rec);
		return;
	}
	map = mmap(NULL, page + ring, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (fd < 0 || map == MAP_FAILED) {
		tap_check(false, "samples: trace in them (%d)", errno);
		recording_close(&rec);
		return;
	}
	recording_enable(&rec);
	for (int i = 0; i < 50 && map->data_head < 8 * SAMPLE_BYTES; i++)
		work_for(100);
	recording_disable(&rec);
	n = count_samples((const uint8_t *)map + page, map->data_head, ring, &good);
	tap_check(n > 2 && good == n, "samples: %u, whole messages in %u", n, good);
	munmap(map, page + ring);
	close(fd);
	recording_close(&rec);
}

int main(void)
{
	require_pmu();
	tap_plan(11);
	test_samples();
	test_overwrite();
	test_window();
	test_stall();
	test_causes();
	test_pause();
	tap_end();
}
