// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Where to trace: address filters, and triggers that start and stop. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>
#include "common.h"

#define BRANCHES 50000ul
#define ROUNDS 100
#define AUX_SIZE (1u << 20)
/* How often to try what another task's turn on the hart spoils */
#define TRIES 20
/* What triggers do: fields of four bits in trig_ext_in */
#define INPUT_0_STARTS_1_STOPS "0x32"

/*
 * A section of its own has symbols for its ends. Nothing else is called from within, and the
 * markers are there to start and to stop at.
 */
#define TRACED __attribute__((section("traced"), noinline))
extern const char __start_traced[], __stop_traced[];

TRACED static unsigned long traced_work(unsigned long n)
{
	volatile unsigned long sum = 0;

	for (unsigned long i = 0; i < n; i++)
		if (i * 2654435761u >> 7 & 1)
			sum += i;
	return sum;
}

TRACED static void traced_begin(void)
{
	__asm__ volatile("" ::: "memory");
}

TRACED static void traced_end(void)
{
	__asm__ volatile("" ::: "memory");
}

TRACED static void traced_span(void)
{
	traced_begin();
	traced_work(BRANCHES / ROUNDS);
	traced_end();
}

static void both_work(void)
{
	for (int i = 0; i < ROUNDS; i++) {
		work(BRANCHES / ROUNDS);
		traced_span();
	}
}

/* Records both_work() in this thread. @text's addresses are offsets in this program's file. */
static int record_with(struct recording *rec, struct perf_event_attr *attr, const char *text)
{
	int ret = recording_open(rec, attr, 0, -1, AUX_SIZE);

	if (ret)
		return ret;
	if (ioctl(rec->fd, PERF_EVENT_IOC_SET_FILTER, text)) {
		ret = -errno;
		recording_close(rec);
		return ret;
	}
	recording_enable(rec);
	both_work();
	recording_disable(rec);
	recording_read(rec, false);
	return 0;
}

__attribute__((format(printf, 2, 3)))
static int record_filtered(struct recording *rec, const char *format, ...)
{
	struct perf_event_attr attr;
	char text[4096];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	attr_init(&attr, often_synced());
	return record_with(rec, &attr, text);
}

/*
 * The program is not relocated, so the offset in the file follows from the address of the first
 * segment.
 */
static unsigned long offset(const void *address)
{
	return (unsigned long)address - 0x10000;
}

/* @inside: all syncs are in the section; else none is. */
static void check_where(int ret, struct recording *rec, bool inside, const char *what)
{
	struct messages m;

	if (ret) {
		tap_check(false, "%s: recorded (%d)", what, ret);
		return;
	}
	messages_count_within(rec, &m, __start_traced, __stop_traced);
	tap_check(m.whole && m.syncs > 4 && m.within == (inside ? m.syncs : 0),
		  "%s: %u syncs from 0x%llx to 0x%llx, %u of them within %p to %p", what, m.syncs,
		  (unsigned long long)m.low, (unsigned long long)m.high, m.within,
		  (void *)__start_traced, (void *)__stop_traced);
	recording_close(rec);
}

static void check_accepted(int ret, struct recording *rec, int expected, const char *what, int n)
{
	tap_check(ret == expected, "filter: %s %d others: %d (%d)", what, n, expected, ret);
	if (!ret)
		recording_close(rec);
}

/*
 * A thread filter takes a comparator as well. @text: @n address filters, as many as there are
 * comparators.
 */
static void test_thread_and_filters(char *text, int n)
{
	const char *able = read_line(PMU_DIR "/caps/thread_filter");
	struct perf_event_attr attr;
	struct recording rec;

	if (!able || strcmp(able, "1")) {
		tap_skip("no thread filter", "filter: a thread and one too many");
		tap_skip("no thread filter", "filter: a thread and one less");
		return;
	}
	attr_init(&attr, often_synced());
	attr.config2 = (uint64_t)getpid() << 32;
	check_accepted(record_with(&rec, &attr, text), &rec, -EOPNOTSUPP, "a thread and", n);
	*strrchr(text, ',') = 0;
	check_accepted(record_with(&rec, &attr, text), &rec, 0, "a thread and", n - 1);
}

static void test_filters(void)
{
	const char *count = read_line(PMU_DIR "/nr_addr_filters");
	unsigned long size = (unsigned long)(__stop_traced - __start_traced);
	int n = count ? atoi(count) : 0, ret;
	char exe[256] = "", text[4096];
	struct recording rec;
	size_t len = 0;

	if (n < 2 || readlink("/proc/self/exe", exe, sizeof(exe) - 1) < 0) {
		tap_skip("no comparators", "filter: range");
		tap_skip("no comparators", "filter: left out");
		tap_skip("no comparators", "filter: start and stop");
		tap_skip("no comparators", "filter: too many");
		tap_skip("no comparators", "filter: a thread and one too many");
		tap_skip("no comparators", "filter: a thread and one less");
		return;
	}
	ret = record_filtered(&rec, "filter 0x%lx/0x%lx@%s", offset(__start_traced), size, exe);
	check_where(ret, &rec, true, "filter: range");
	ret = record_filtered(&rec, "stop 0x%lx/0x%lx@%s", offset(__start_traced), size, exe);
	if (ret == -EOPNOTSUPP)
		tap_skip("no filter leaves a range out", "filter: left out");
	else
		check_where(ret, &rec, false, "filter: left out");
	ret = record_filtered(&rec, "start 0x%lx@%s,stop 0x%lx@%s", offset(traced_begin), exe,
			      offset(traced_end), exe);
	check_where(ret, &rec, true, "filter: start and stop");

	for (int i = 0; i <= n; i++)
		len += (size_t)snprintf(text + len, sizeof(text) - len, "filter 0x%x/0x10@%s,",
					0x100 * i, exe);
	text[len - 1] = 0;
	ret = record_filtered(&rec, "%s", text);
	tap_check(ret == -EOPNOTSUPP, "filter: %d of them are refused (%d)", n + 1, ret);
	if (!ret)
		recording_close(&rec);
	*strrchr(text, ',') = 0;
	test_thread_and_filters(text, n);
}

/*
 * The registers of CPU 0's encoder, or NULL. Its device is that of the devicetree's node, named by
 * its address.
 */
static volatile uint32_t *map_encoder(void)
{
	char path[512], *unit;
	ssize_t len = readlink(BUS_DIR "/encoder-0", path, sizeof(path) - 1);
	void *map;
	int fd;

	if (len < 0)
		return NULL;
	path[len] = 0;
	unit = strrchr(path, '/');
	*unit = 0;
	unit = strrchr(path, '/') + 1;
	fd = open("/dev/mem", O_RDWR | O_SYNC | O_CLOEXEC);
	if (fd < 0)
		return NULL;
	map = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, strtol(unit, NULL, 16));
	close(fd);
	return map == MAP_FAILED ? NULL : map;
}

static long switches(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_nvcsw + usage.ru_nivcsw;
}

/* The model sees stores of programs that have no offset, as writel() has none. */
static void store(volatile uint32_t *reg, uint32_t value)
{
	__asm__ volatile("sw %0, (%1)" : : "r"(value), "r"(reg) : "memory");
}

/*
 * Stopped by one trigger, started by another. False when another task came between: trace starts
 * anew then.
 */
static bool record_triggered(struct recording *rec, volatile uint32_t *pulse)
{
	long before = switches();

	recording_enable(rec);
	store(pulse, 1 << 1);
	traced_span();
	store(pulse, 1 << 0);
	before -= switches();
	work(BRANCHES);
	recording_disable(rec);
	return !before;
}

static void test_triggers(void)
{
	const char *reg = getenv("RVTRACE_TRIGGER_REGISTER");
	volatile uint32_t *encoder = reg ? map_encoder() : NULL;
	struct perf_event_attr attr;
	struct recording rec;
	const char *reason = "RVTRACE_TRIGGER_REGISTER does not say what pulses trigger inputs";
	bool undisturbed = false;
	int ret = 0;

	if (reg)
		reason = "no way to the registers: iomem=relaxed is wanted";
	if (!encoder) {
		tap_skip(reason, "triggers");
		return;
	}
	pin(0);
	ret = write_line(BUS_DIR "/encoder-0/trig_ext_in", INPUT_0_STARTS_1_STOPS);
	attr_init(&attr, CONFIG_TRIGGER | often_synced());
	for (int i = 0; i < TRIES && !undisturbed && !ret; i++) {
		ret = recording_open(&rec, &attr, 0, -1, AUX_SIZE);
		if (ret)
			break;
		undisturbed = record_triggered(&rec, encoder + strtoul(reg, NULL, 0) / 4);
		if (!undisturbed)
			recording_close(&rec);
	}
	write_line(BUS_DIR "/encoder-0/trig_ext_in", "0");
	munmap((void *)encoder, 4096);
	if (ret == -EOPNOTSUPP) {
		tap_skip("the encoder takes no triggers", "triggers");
		return;
	}
	if (ret || !undisturbed) {
		tap_check(false, "triggers: recorded, alone on the hart for a moment (%d)", ret);
		return;
	}
	recording_read(&rec, false);
	check_where(0, &rec, false, "triggers: from the second on");
}

int main(void)
{
	require_pmu();
	tap_plan(7);
	test_filters();
	test_triggers();
	tap_end();
}
