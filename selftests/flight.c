// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Flight mode: each hart traces all the time, gives its encoder to events, and takes it back. What
 * a crashed machine has of it is tested where there is a dump of it. Harts that share a sink trace
 * while there is no event, others while none runs.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "common.h"

#define FLIGHT "/sys/module/rvtrace/parameters/flight"
#define AUX_SIZE (1u << 20)
#define ROUNDS 20

static bool flight(const char *value)
{
	return !write_line(FLIGHT, value) && read_line(FLIGHT)[0] == (*value == '1' ? 'Y' : 'N');
}

static bool is_state(const char *component, const char *state)
{
	return !strcmp(read_line(BUS_DIR "/%s/state", component) ?: "", state);
}

/* Harts reach other sinks than their own. */
static bool sinks_are_shared(void)
{
	return !access(BUS_DIR "/funnel-0", F_OK);
}

/* With an event open that does not run: flight mode goes on, or waits for the event to go. */
static bool harts_wait(void)
{
	return all_encoders(sinks_are_shared() ? "idle" : "tracing");
}

/* The event records its program only, as if there were no flight mode, and the mode goes on. */
static void test_event(void)
{
	struct perf_event_attr attr;
	struct messages messages;
	struct recording rec;
	bool good = true;

	attr_init(&attr, often_synced());
	if (recording_open(&rec, &attr, 0, -1, AUX_SIZE)) {
		tap_check(false, "an event opens");
		return;
	}
	good = harts_wait();
	for (int i = 0; i < ROUNDS; i++) {
		good = !recording_enable(&rec) && good;
		work(1000);
		good = !recording_disable(&rec) && good;
		good = harts_wait() && good;
	}
	recording_read(&rec, false);
	messages_count(&rec, &messages);
	tap_note("%u messages, %u of the user, %u of the kernel", messages.n, messages.user_syncs,
		 messages.kernel_syncs);
	tap_check(messages.whole && messages.user_syncs && !messages.kernel_syncs &&
		  !rec.partial && !rec.truncated, "an event has its own trace, all of it");
	recording_close(&rec);
	good = soon_all_encoders("tracing") && good;
	tap_check(good, "after each event flight mode goes on");
}

/* The last event may be one that was inherited, whose program exits. */
static void test_inherited(void)
{
	struct perf_event_attr attr;
	bool good = true;
	int fd, status;
	pid_t pid;

	attr_init(&attr, 0);
	attr.inherit = 1;
	for (int i = 0; i < ROUNDS; i++) {
		fflush(stdout);
		fd = event_open(&attr, 0, -1);
		good = fd >= 0 && good;
		pid = fork();
		if (!pid) {
			close(fd);
			work(1000);
			_exit(0);
		}
		close(fd);
		good = waitpid(pid, &status, 0) == pid && !status && good;
	}
	good = soon_all_encoders("tracing") && good;
	tap_check(good, "flight mode goes on after inherited events");
}

static void note_states(const char *when)
{
	tap_note("%s: encoder-0 is %s", when, read_line(BUS_DIR "/encoder-0/state") ?: "absent");
	tap_note("%s: encoder-1 is %s", when, read_line(BUS_DIR "/encoder-1/state") ?: "absent");
	tap_note("%s: ramsink-0 is %s", when, read_line(BUS_DIR "/ramsink-0/state") ?: "absent");
	tap_note("%s: ramsink-1 is %s", when, read_line(BUS_DIR "/ramsink-1/state") ?: "absent");
}

/* What is left while one of two harts is down: its own sink, or the one that both share. */
static bool one_sink_traces(void)
{
	const char *state;
	int traces = 0;

	for (int i = 0; (state = read_line(BUS_DIR "/ramsink-%d/state", i)); i++)
		traces += !strcmp(state, "tracing");
	return traces == 1;
}

static void test_hotplug(void)
{
	bool down, up;

	if (access("/sys/devices/system/cpu/cpu1/online", W_OK)) {
		tap_skip("cpu1 cannot be taken away", "hotplug");
		return;
	}
	down = !set_online(1, false) && one_sink_traces() && is_state("encoder-0", "tracing");
	if (!down)
		note_states("cpu1 is offline");
	up = !set_online(1, true) && soon_all_encoders("tracing");
	if (!up)
		note_states("cpu1 is online again");
	tap_check(down && up, "a hart that comes up again is in flight mode");
}

/* A hart is down while an event comes and goes, and comes up beside one. */
static void test_hotplug_beside_event(void)
{
	struct perf_event_attr attr;
	bool good;
	int fd;

	if (access("/sys/devices/system/cpu/cpu1/online", W_OK)) {
		tap_skip("cpu1 cannot be taken away", "hotplug beside an event");
		return;
	}
	attr_init(&attr, 0);
	good = !set_online(1, false);
	fd = event_open(&attr, 0, -1);
	good = fd >= 0 && is_state("encoder-0", sinks_are_shared() ? "idle" : "tracing") && good;
	good = !set_online(1, true) && good;
	good = soon_all_encoders(sinks_are_shared() ? "idle" : "tracing") && good;
	close(fd);
	good = soon_all_encoders("tracing") && good;
	if (!good)
		note_states("afterwards");
	tap_check(good, "a hart comes up beside an event");
}

static void test_switch(void)
{
	bool good = true;

	for (int i = 0; i < ROUNDS; i++)
		good = flight("0") && soon_all_encoders("inactive") && flight("1") &&
		       all_encoders("tracing") && good;
	tap_check(good, "it is switched off and on %d times", ROUNDS);
}

/* Opens events that start and stop, until it is killed or one cannot. */
static void use_events(int cpu)
{
	struct perf_event_attr attr;
	struct recording rec;

	pin(cpu);
	attr_init(&attr, 0);
	while (!recording_open(&rec, &attr, 0, -1, AUX_SIZE)) {
		for (int i = 0; i < ROUNDS; i++) {
			if (recording_enable(&rec))
				_exit(1);
			work(10);
			if (recording_disable(&rec))
				_exit(1);
		}
		recording_close(&rec);
	}
	_exit(1);
}

static void test_switch_beside_events(void)
{
	bool good = true;
	pid_t pid[2];

	for (int cpu = 0; cpu < 2; cpu++) {
		pid[cpu] = fork();
		if (!pid[cpu])
			use_events(cpu);
	}
	for (int i = 0; i < ROUNDS; i++)
		good = flight("0") && flight("1") && good;
	for (int cpu = 0; cpu < 2; cpu++) {
		/* It goes on until here. */
		good = !waitpid(pid[cpu], NULL, WNOHANG) && good;
		end_child(pid[cpu]);
	}
	good = soon_all_encoders("tracing") && good;
	tap_check(good, "it is switched off and on %d times beside events", ROUNDS);
}

/*
 * Fills the sink of CPU 1 with trace of the kernel, takes that CPU away, uses the sink of CPU 0 for
 * an event, and crashes the kernel before much more has happened. The event is opened first: perf
 * patches the kernel's code then, and a dump has it as it was patched last.
 */
static int use_sinks_and_crash(void)
{
	struct perf_event_attr attr;
	struct recording rec;

	attr_init(&attr, 0);
	if (recording_open(&rec, &attr, -1, 0, AUX_SIZE))
		return 1;
	pin(1);
	for (int i = 0; i < 500; i++)
		read_line("/proc/loadavg");
	pin(0);
	if (set_online(1, false) || recording_enable(&rec))
		return 1;
	work(1000);
	if (recording_disable(&rec))
		return 1;
	recording_read(&rec, false);
	if (rec.n_bytes)
		write_line("/proc/sysrq-trigger", "c");
	return 1;
}

int main(int argc, char **argv)
{
	require_pmu();
	if (argc > 1 && !strcmp(argv[1], "crash"))
		return use_sinks_and_crash();
	if (access(BUS_DIR "/ramsink-0", F_OK))
		tap_skip_all("there is no RAM sink");
	tap_plan(9);
	tap_check(flight("1") && all_encoders("tracing"), "all harts trace");
	test_event();
	test_inherited();
	test_hotplug();
	test_hotplug_beside_event();
	test_switch();
	test_switch_beside_events();
	tap_check(flight("0") && soon_all_encoders("inactive"), "none traces afterwards");
	tap_end();
}
