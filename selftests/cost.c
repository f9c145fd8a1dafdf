// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * What tracing costs, by the clock: a switch of a traced task out and in, and a program that only
 * computes. In an emulator whose clock counts instructions the nanoseconds are instructions. Prints
 * NAME VALUE; not a test.
 *
 * perf does its part of a switch whatever the PMU does; how much that is shows a PMU that opens and
 * closes an AUX record and nothing else, if its module is there (tools/bench/aux-null).
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "common.h"

#define AUX_SIZE (8u << 20)
#define WARM_UP 50
#define ROUNDS 1000
#define BRANCHES 6000000ul

static uint64_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static uint64_t sink_bytes(const char *what)
{
	const char *line = read_line(BUS_DIR "/ramsink-0/%s", what);

	return line ? strtoull(line, NULL, 10) : 0;
}

struct partner {
	pid_t pid;
	int to, from;
};

/* A task on the same hart that answers: each round switches it in and out. */
static struct partner partner_start(void)
{
	int to[2], from[2];
	struct partner partner;
	char c;

	if (pipe(to) || pipe(from))
		exit(1);
	fflush(stdout);
	partner.pid = fork();
	if (!partner.pid) {
		while (read(to[0], &c, 1) == 1)
			if (write(from[1], &c, 1) != 1)
				break;
		_exit(0);
	}
	partner.to = to[1];
	partner.from = from[0];
	return partner;
}

static uint64_t rounds(const struct partner *partner, unsigned int n)
{
	uint64_t start = now();
	char c = 0;

	for (unsigned int i = 0; i < n; i++)
		if (write(partner->to, &c, 1) != 1 || read(partner->from, &c, 1) != 1)
			exit(1);
	return now() - start;
}

/*
 * Returns what a switch costs more with the event enabled than with it disabled; 0 when it cannot
 * be opened.
 */
static long long measure_event(const struct perf_event_attr *attr)
{
	struct partner partner = partner_start();
	uint64_t without, with = 0;
	struct recording rec;
	int ret;

	ret = recording_open(&rec, attr, partner.pid, -1, AUX_SIZE);
	if (!ret) {
		rounds(&partner, WARM_UP);
		without = rounds(&partner, ROUNDS);
		recording_enable(&rec);
		rounds(&partner, WARM_UP);
		with = rounds(&partner, ROUNDS) - without;
		recording_disable(&rec);
		recording_read(&rec, false);
		recording_close(&rec);
	}
	end_child(partner.pid);
	return (long long)with / ROUNDS;
}

/* perf's part, or 0 when it is not known */
static long long measure_perf(void)
{
	const char *line = read_line("/sys/bus/event_source/devices/aux_null/type");
	uint32_t type = line ? (uint32_t)atoi(line) : 0;
	struct perf_event_attr attr;

	attr_init(&attr, 0);
	attr.type = type;
	return type ? measure_event(&attr) : 0;
}

static void measure_switches(void)
{
	static const struct {
		const char *name;
		uint64_t config;
		bool kernel;
	} kinds[] = {
		{ "user", 0, false },
		{ "user_context", CONFIG_CONTEXT, false },
		{ "user_and_kernel", CONFIG_CONTEXT, true },
	};
	long long cost[3], perf;
	struct perf_event_attr attr;

	for (int i = 0; i < 3; i++) {
		attr_init(&attr, kinds[i].config);
		attr.exclude_kernel = !kinds[i].kernel;
		cost[i] = measure_event(&attr);
		printf("switch_%s %lld\n", kinds[i].name, cost[i]);
	}
	perf = measure_perf();
	if (!perf)
		return;
	printf("switch_perf %lld\n", perf);
	for (int i = 0; i < 3; i++)
		printf("switch_%s_driver %lld\n", kinds[i].name, cost[i] - perf);
}

static uint64_t compute(void)
{
	uint64_t start = now();

	work(BRANCHES);
	return now() - start;
}

static void measure_program(void)
{
	uint64_t traced = sink_bytes("traced_bytes"), copied = sink_bytes("copied_bytes");
	uint64_t without, with;
	struct perf_event_attr attr;
	struct recording rec;

	attr_init(&attr, 0);
	attr.exclude_kernel = 0;
	if (recording_open(&rec, &attr, 0, -1, AUX_SIZE))
		return;
	work(BRANCHES / 100);
	without = compute();
	recording_enable(&rec);
	with = compute();
	recording_disable(&rec);
	recording_read(&rec, false);
	traced = sink_bytes("traced_bytes") - traced;
	copied = sink_bytes("copied_bytes") - copied;
	printf("program %llu\nprogram_traced %llu\n", (unsigned long long)without,
	       (unsigned long long)with);
	printf("program_overhead_percent %.3f\n",
	       100.0 * ((double)with - (double)without) / (double)without);
	printf("program_trace_bytes %llu\n", (unsigned long long)traced);
	printf("copied_per_traced_byte %.3f\n", traced ? (double)copied / (double)traced : 0.0);
	printf("truncated %u\n", rec.truncated);
	recording_close(&rec);
}

int main(void)
{
	require_pmu();
	pin(0);
	measure_switches();
	measure_program();
	return 0;
}
