// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Attributes of components that can be set, and what they refuse: PIB sinks, ATB bridges, timestamp
 * units. What comes out of the pins is seen by who has a probe (in the lab, by who started the
 * emulator).
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "common.h"

#define AUX_SIZE (1u << 20)
#define READS 2000
#define ENCODER BUS_DIR "/encoder-0"
#define PIB BUS_DIR "/pibsink-0"
#define BRIDGE BUS_DIR "/atbbridge-0"

static int write_number(const char *path, unsigned long value)
{
	char text[32];

	snprintf(text, sizeof(text), "%lu", value);
	return write_line(path, text);
}

static unsigned long read_number(const char *path)
{
	return strtoul(read_line("%s", path) ?: "", NULL, 0);
}

static bool is_state(const char *path, const char *state)
{
	return !strcmp(read_line("%s/state", path) ?: "", state);
}

/* A mode, its pattern, and nothing else meanwhile */
static bool calibrate(unsigned long mode)
{
	bool good;

	good = !write_number(PIB "/mode", mode) && read_number(PIB "/mode") == mode;
	good = !write_number(PIB "/calibrate", 1) && good;
	good = is_state(PIB, "tracing") && write_number(PIB "/mode", mode) == -EBUSY && good;
	return !write_number(PIB "/calibrate", 0) && good;
}

static void test_pib(void)
{
	unsigned int n = 0, good = 0;
	char *modes, *mode;

	if (access(PIB "/modes", R_OK)) {
		tap_skip("no PIB sink", "PIB: modes and patterns");
		tap_skip("no PIB sink", "PIB: what is refused");
		return;
	}
	modes = strdup(read_line(PIB "/modes"));
	for (mode = strtok(modes, " "); mode; mode = strtok(NULL, " "), n++)
		good += calibrate(strtoul(mode, NULL, 0));
	free(modes);
	tap_check(n && good == n, "PIB: %u modes, %u take their value and send their pattern", n,
		  good);
	/* Modes are four bits, of which 15 has no meaning. */
	tap_check(write_number(PIB "/mode", 15) == -EOPNOTSUPP &&
		  write_number(PIB "/mode", 16) == -EINVAL &&
		  write_line(PIB "/mode", "pins") == -EINVAL,
		  "PIB: modes that there are not are refused");
}

static void test_bridge(void)
{
	if (access(BRIDGE "/trace_id", R_OK)) {
		tap_skip("no ATB bridge", "ATB: trace_id");
		return;
	}
	/* IHI 0032: 0x00 and 0x70 to 0x7f are reserved, 0x7d is a trigger. */
	tap_check(write_number(BRIDGE "/trace_id", 0) == -EINVAL &&
		  write_number(BRIDGE "/trace_id", 0x70) == -EINVAL &&
		  !write_number(BRIDGE "/trace_id", 0x6f) &&
		  read_number(BRIDGE "/trace_id") == 0x6f &&
		  !write_number(BRIDGE "/trace_id", 0x12) &&
		  read_number(BRIDGE "/trace_id") == 0x12,
		  "ATB: trace_id is 0x01 to 0x6f");
}

/* Reads the counter while it runs: it never goes back, and goes on. */
static bool counter_runs(void)
{
	unsigned long first = read_number(ENCODER "/timestamp_counter"), last = first, now;

	for (int i = 0; i < READS; i++) {
		now = read_number(ENCODER "/timestamp_counter");
		if (now < last)
			return false;
		last = now;
	}
	return last > first;
}

static void test_timestamps(void)
{
	struct perf_event_attr attr;
	struct recording rec;
	char mode[16];
	pid_t pid;
	int ret;

	snprintf(mode, sizeof(mode), "%s", read_line(ENCODER "/timestamp_mode") ?: "none");
	if (!strcmp(mode, "none")) {
		tap_skip("no timestamps", "timestamps: not read while inactive");
		tap_skip("no timestamps", "timestamps: the counter runs");
		return;
	}
	tap_check(soon_all_encoders("inactive") &&
		  !*(read_line(ENCODER "/timestamp_counter") ?: ""),
		  "timestamps: the counter is not read while the encoder is inactive");
	pid = busy_child(0, 0);
	attr_init(&attr, CONFIG_TIMESTAMP);
	ret = recording_open(&rec, &attr, -1, 0, AUX_SIZE);
	if (!ret)
		recording_enable(&rec);
	tap_check(!ret && counter_runs(),
		  "timestamps: the counter (%s) runs and does not go back (%d)", mode, ret);
	if (!ret)
		recording_close(&rec);
	end_child(pid);
}

int main(void)
{
	require_pmu();
	if (geteuid())
		tap_skip_all("needs root");
	tap_plan(6);
	test_pib();
	test_bridge();
	test_timestamps();
	tap_check(soon_all_encoders("inactive"), "all encoders are inactive in the end");
	tap_end();
}
