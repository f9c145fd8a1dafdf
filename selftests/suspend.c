// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * The system goes to sleep while events run, as far as that goes without losing the machine:
 * devices are asleep, and awake again. What the kernel cannot do with all devices the test cannot
 * do, either: a file system that is mounted by a device without power management (9P over virtio)
 * is gone afterwards.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "common.h"

/* What a slow machine fills in a moment: a record comes when a good part of it is full. */
#define AUX_SIZE (1u << 20)

/* Returns 0 when the machine slept, else -errno. */
static int sleep_once(void)
{
	int ret;

	write_line("/sys/module/suspend/parameters/pm_test_delay", "1");
	write_line("/sys/power/pm_test", "platform");
	ret = write_line("/sys/power/state", "freeze");
	write_line("/sys/power/pm_test", "none");
	return ret;
}

/* Waits until trace comes, 10 s at most. */
static bool goes_on(struct recording *rec)
{
	size_t before;

	recording_read(rec, true);
	before = rec->n_bytes;
	for (int tries = 0; tries < 1000 && rec->n_bytes == before; tries++) {
		usleep(10000);
		recording_read(rec, true);
	}
	return rec->n_bytes > before;
}

static void test_sleep(const char *name, bool of_task)
{
	pid_t pid = busy_child(0, of_task ? 1000 : 0);
	bool before = false, after = false;
	struct perf_event_attr attr;
	struct recording rec;
	struct messages m;
	int ret, slept;

	attr_init(&attr, 0);
	ret = recording_open(&rec, &attr, of_task ? pid : -1, of_task ? -1 : 0, AUX_SIZE);
	if (ret) {
		tap_check(false, "%s: opened (%d)", name, ret);
		end_child(pid);
		return;
	}
	recording_enable(&rec);
	before = goes_on(&rec);
	slept = sleep_once();
	after = goes_on(&rec);
	end_child(pid);
	recording_disable(&rec);
	recording_read(&rec, false);
	messages_count(&rec, &m);
	recording_close(&rec);
	if (slept == -EINVAL || slept == -EBUSY || slept == -EIO)
		tap_skip("this machine cannot sleep", "%s: trace goes on afterwards", name);
	else
		tap_check(!slept && before && after && m.whole && m.n,
			  "%s: trace comes before%s and afterwards%s (%d), %u messages%s", name,
			  before ? "" : " not", after ? "" : " not", slept, m.n,
			  m.whole ? "" : ", not all of them whole");
}

int main(void)
{
	require_pmu();
	if (geteuid())
		tap_skip_all("needs root");
	if (access("/sys/power/pm_test", W_OK))
		tap_skip_all("no CONFIG_PM_DEBUG");
	tap_plan(5);
	/* Nothing is active: there is nothing to be put to sleep, and nothing to be woken up. */
	sleep_once();
	tap_check(soon_all_encoders("inactive"), "without an event encoders stay inactive");
	test_sleep("a CPU", false);
	test_sleep("a task", true);
	test_sleep("a task once more", true);
	tap_check(soon_all_encoders("inactive"), "all encoders are inactive in the end");
	tap_end();
}
