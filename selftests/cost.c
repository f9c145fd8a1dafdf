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
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#include "common.h"

#define AUX_SIZE (8u << 20)
#define BATCHES 10
#define ROUNDS 200
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

/*
 * What @ROUNDS take, in the best of some batches: ticks and other tasks are in the rest. What is
 * recorded is read in between, if @rec is not NULL: records that do not fit cost less.
 */
static long long rounds(const struct partner *partner, struct recording *rec)
{
	uint64_t best = UINT64_MAX, start, took;

	for (unsigned int batch = 0; batch < BATCHES; batch++) {
		start = now();
		partner_rounds(partner, ROUNDS);
		took = now() - start;
		if (took < best)
			best = took;
		if (rec)
			recording_read(rec, false);
	}
	return (long long)best;
}

/* What a switch costs more than without an event */
struct cost {
	long long disabled, enabled;
};

/* What the event is one of */
enum scope {
	THREAD_ON_CPU,
	THREAD,			/* wherever it runs */
	CPU,			/* and the hardware filters for the thread */
};

/* Costs 0 where the event cannot be opened. */
static struct cost measure_event(struct perf_event_attr *attr, enum scope scope)
{
	struct partner partner = partner_start(0);
	struct cost cost = { 0, 0 };
	struct recording rec;
	long long without;

	/* perf looks at each switch of every task for a second after the last event of one. */
	sleep(2);
	without = rounds(&partner, NULL);
	if (scope == CPU)
		attr->config2 |= (uint64_t)partner.pid << 32;
	if (!recording_open(&rec, attr, scope == CPU ? -1 : partner.pid, scope == THREAD ? -1 : 0,
			    AUX_SIZE)) {
		cost.disabled = (rounds(&partner, &rec) - without) / ROUNDS;
		recording_enable(&rec);
		cost.enabled = (rounds(&partner, &rec) - without) / ROUNDS;
		recording_close(&rec);
	}
	partner_end(&partner);
	return cost;
}

/*
 * Prints what an enabled event costs more than a disabled one, what that costs more than none, and
 * what of the former is not @perf, if that is not 0. @plain is what a disabled event without
 * options costs, if that is not 0: what options cost even then is of the enabled one's.
 */
static struct cost measure_switch(const char *name, struct perf_event_attr *attr, enum scope scope,
				  long long plain, long long perf)
{
	struct cost cost = measure_event(attr, scope);
	long long more = cost.enabled - (plain ? plain : cost.disabled);

	printf("switch_%s %lld\n", name, more);
	printf("switch_%s_disabled %lld\n", name, cost.disabled);
	if (perf)
		printf("switch_%s_driver %lld\n", name, more - perf);
	return cost;
}

/* perf's part, or 0 when it is not known */
static long long measure_perf(void)
{
	const char *line = read_line("/sys/bus/event_source/devices/aux_null/type");
	uint32_t type = line ? (uint32_t)atoi(line) : 0;
	struct perf_event_attr attr;
	struct cost cost = { 0, 0 };

	attr_init(&attr, 0);
	attr.type = type;
	if (type)
		cost = measure_switch("perf", &attr, THREAD_ON_CPU, 0, 0);
	return cost.enabled - cost.disabled;
}

static void measure_switches(void)
{
	static const struct {
		const char *name;
		uint64_t config;
		bool kernel;
		enum scope scope;
	} kinds[] = {
		{ "user", 0, false, THREAD_ON_CPU },
		/* The trace says whose it is, and when: threads may share records. */
		{ "user_context", CONFIG_CONTEXT | CONFIG_TIMESTAMP, false, THREAD_ON_CPU },
		{ "user_and_kernel", CONFIG_CONTEXT | CONFIG_TIMESTAMP, true, THREAD_ON_CPU },
		{ "user_anywhere", 0, false, THREAD },
		{ "thread_of_cpu", CONFIG_CONTEXT, true, CPU },
		/* Much has been traced meanwhile, and the driver expects more. */
		{ "user_again", 0, false, THREAD_ON_CPU },
	};
	struct perf_event_attr attr;
	long long perf = measure_perf(), plain = 0;
	struct cost cost;

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		attr_init(&attr, kinds[i].config);
		attr.exclude_kernel = !kinds[i].kernel;
		/* What is on the CPU is not switched. */
		if (kinds[i].scope == CPU)
			cost = measure_switch(kinds[i].name, &attr, CPU, 0, 0);
		else
			cost = measure_switch(kinds[i].name, &attr, kinds[i].scope, plain, perf);
		if (!i)
			plain = cost.disabled;
	}
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

/*
 * Who is woken up then runs when the other one sleeps, and not sometimes before: the ways cost
 * different. perf_event_open() wants root, too.
 */
static void be_in_turn(void)
{
	struct sched_param param = { .sched_priority = 1 };

	if (sched_setscheduler(0, SCHED_FIFO, &param))
		tap_note("no SCHED_FIFO: switches differ in cost");
}

int main(void)
{
	require_pmu();
	pin(0);
	be_in_turn();
	measure_switches();
	measure_program();
	return 0;
}
