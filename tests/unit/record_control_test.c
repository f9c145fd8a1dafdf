// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Stopping a recording: every event once, trace before sideband, each trace event on the cpu that
 * it is for if the recorder may run there, and the recorder's own affinity stays.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <cmocka.h>
#include "../../tools/perf-plugin/record/control.h"
#include "../../tools/perf-plugin/record/record.h"

#define NO_CPU 8000	/* no machine that this runs on has it */
#define RINGS 4
#define EVENTS 8

/* The events that were stopped, and where. */
static struct {
	int fd, cpu;
} stopped[EVENTS];
static size_t n_stopped;

int ioctl(int fd, unsigned long request, ...)
{
	assert_int_equal(request, PERF_EVENT_IOC_DISABLE);
	assert_true(n_stopped < EVENTS);
	stopped[n_stopped].fd = fd;
	stopped[n_stopped++].cpu = sched_getcpu();
	return 0;
}

int cmd_error(int err, const char *format, ...)
{
	fail_msg("%s", format);
	return err;
}

bool trigger_is_off(const struct recorder *rec, size_t n)
{
	(void)rec, (void)n;
	return false;
}

static void test_disable(void **state)
{
	struct ring rings[RINGS] = { { .cpu = NO_CPU }, { .cpu = -1 } };
	struct event_fd fds[EVENTS];
	struct recorder rec = { .rings = rings, .n_rings = RINGS, .fds = fds, .n_fds = EVENTS };
	cpu_set_t before, after;
	int first = -1, last = -1;

	(void)state;
	assert_int_equal(sched_getaffinity(0, sizeof(before), &before), 0);
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &before)) {
			first = first < 0 ? cpu : first;
			last = cpu;
		}
	rings[2].cpu = last;
	rings[3].cpu = first;
	for (int i = 0; i < EVENTS; i++)
		fds[i] = (struct event_fd){ .fd = 100 + i, .ring = i / 2, .trace = i % 2 };
	record_disable(&rec);
	assert_int_equal(n_stopped, EVENTS);
	for (int i = 0; i < RINGS; i++) {
		assert_int_equal(stopped[i].fd, 100 + 2 * i + 1);	/* trace */
		assert_int_equal(stopped[RINGS + i].fd, 100 + 2 * i);
	}
	assert_int_equal(stopped[2].cpu, last);
	assert_int_equal(stopped[3].cpu, first);
	assert_int_equal(sched_getaffinity(0, sizeof(after), &after), 0);
	assert_memory_equal(&after, &before, sizeof(before));
	/* the cpu of a trigger comes first, and sideband goes on */
	n_stopped = 0;
	record_hold(&rec, first);
	assert_int_equal(n_stopped, RINGS);
	assert_int_equal(stopped[0].fd, 100 + 2 * 3 + 1);
	assert_int_equal(stopped[0].cpu, first);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_disable) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
