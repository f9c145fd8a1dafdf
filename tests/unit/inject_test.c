// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * What `inject` makes in small slices of a recording, by any number of threads, compared with what
 * the cpus executed. Uses build/host/perf-rvtrace-small-slices (tests/tools/small-slices.c);
 * skipped where there is none.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include "inject-recording.h"
#include "random-recording.h"
#include "run-command.h"

#define ROUNDS 8
#define STEPS_OF_ROUND 2000
#define BRANCHES 8
#define PERIOD 37

/* A sample as inject lays it out, behind its header. */
struct sample {
	uint64_t id, ip;
	uint32_t pid, tid;
	uint64_t time, addr, cpu, period;
	uint64_t n;		/* with last branches */
	struct perf_branch_entry branches[];
};

struct samples {
	const struct sample **at;	/* of each cpu, in the order of the file */
	size_t n;
};

/* Two cpus, of which each traces a process that is stopped now and then. */
static void record(struct fixture *f, uint64_t seed)
{
	f->etrace = seed & 1;
	f->sifive = seed % 6 == 2;
	f->repeats = seed % 6 == 4;
	begin_recording(f, true, true);
	for (int n = 0; n < CPUS; n++) {
		put_comm(f, n + 1, 0, false, "process");
		put_mmap(f, n + 1, 0, f->programs[2 * n]);
	}
	for (int n = 0; n < CPUS; n++) {
		f->ticks = 1000;
		for (int i = 0; i < ROUNDS; i++) {
			run_steps(f, n, n + 1, 2 * n, STEPS_OF_ROUND);
			f->ticks += 5000;
		}
		put_aux(f, n, n + 1, 0);
	}
	assert_int_equal(rvt_perfdata_finish(f->writer), 0);
	f->writer = NULL;
}

/* The slices are not more than so many; the first ones are smaller. */
static size_t most_slices(const struct fixture *f, int cpu, unsigned int bytes)
{
	return f->cpus[cpu].aux_offset / bytes + 8;
}

/* Instructions. */
static size_t total(const struct fixture *f, int cpu)
{
	return f->cpus[cpu].expected.n;
}

static void read_samples(const struct fixture *f, struct rvt_perfdata *file,
			 struct samples samples[CPUS])
{
	struct rvt_perfdata_record record;
	uint64_t pos = 0;

	for (int n = 0; n < CPUS; n++) {
		samples[n].at = calloc(total(f, n) + 1, sizeof(*samples[n].at));
		samples[n].n = 0;
		assert_non_null(samples[n].at);
	}
	while (rvt_perfdata_next(file, &pos, &record) > 0) {
		const struct sample *sample = (const void *)(record.header + 1);

		if (record.type != PERF_RECORD_SAMPLE)
			continue;
		assert_in_range(sample->cpu, 0, CPUS - 1);
		assert_in_range(samples[sample->cpu].n, 0, total(f, sample->cpu));
		samples[sample->cpu].at[samples[sample->cpu].n++] = sample;
	}
}

/* Has @check look at what `inject --itrace=@letters` makes of the recording. */
static void inject(const struct fixture *f, const char *letters, unsigned int bytes,
		   unsigned int jobs, void (*check)(const struct fixture *f, unsigned int bytes,
						    const struct samples samples[CPUS]))
{
	struct rvt_perfdata *file = inject_recording(f, letters, bytes, jobs);
	struct samples samples[CPUS];

	read_samples(f, file, samples);
	check(f, bytes, samples);
	for (int n = 0; n < CPUS; n++)
		free(samples[n].at);
	rvt_perfdata_close(file);
}

static uint64_t executed(const struct fixture *f, int cpu, size_t n)
{
	return f->cpus[cpu].expected.at[n].pc;
}

static bool is_trap(const struct perf_branch_entry *branch)
{
	return branch->type == PERF_BR_IRQ || branch->type == PERF_BR_SYSCALL;
}

/*
 * The last branches before instruction @at, the newest first: all are in the trace, and none of it
 * is missing between them. What a trap interrupted was not executed. Returns how many there are.
 */
static size_t check_branches(const struct fixture *f, int cpu, size_t at,
			     const struct sample *sample)
{
	uint64_t pc = executed(f, cpu, at);
	size_t n = 0;

	while (n < sample->n) {
		const struct perf_branch_entry *branch = &sample->branches[n];
		uint64_t before = at ? executed(f, cpu, at - 1) : 0;

		/* of a trap in a trap it may not be known where that was */
		if (is_trap(branch) && (branch->to == pc || !pc)) {
			pc = branch->from;
			n++;
			continue;
		}
		if (branch->to == pc && branch->from == before)
			n++;
		else
			assert_true(pc - before == 2 || pc - before == 4);
		pc = before;
		at--;
	}
	return n;
}

static void check_each(const struct fixture *f, unsigned int bytes,
		       const struct samples samples[CPUS])
{
	for (int cpu = 0; cpu < CPUS; cpu++) {
		size_t less = 0;

		assert_int_equal(samples[cpu].n, total(f, cpu));
		for (size_t i = 0; i < samples[cpu].n; i++) {
			const struct sample *sample = samples[cpu].at[i];

			assert_int_equal(sample->ip, executed(f, cpu, i));
			assert_int_equal(sample->tid, cpu + 1);
			assert_int_equal(sample->period, 1);
			less += check_branches(f, cpu, i, sample) < BRANCHES;
		}
		/* where slices begin, and where the program was stopped */
		assert_in_range(less, 1, 40 * BRANCHES * (most_slices(f, cpu, bytes) + ROUNDS));
	}
}

/* Has @test inject so many recordings. */
static void each_recording(uint64_t n, void (*test)(const struct fixture *f, uint64_t seed))
{
	if (access(SMALL_SLICES_PROGRAM, X_OK))
		skip();
	for (uint64_t seed = 0; seed < n; seed++) {
		struct fixture *f;

		session_setup((void **)&f);
		record(f, seed);
		test(f, seed);
		session_teardown((void **)&f);
	}
}

static void inject_each(const struct fixture *f, uint64_t seed)
{
	inject(f, "i1il8", 150 << seed % 4, 1 + seed % 3, check_each);
}

/* Each instruction once, with the branches before it. */
static void every_instruction(void **state)
{
	(void)state;
	each_recording(12, inject_each);
}

static void check_distances(const struct fixture *f, unsigned int bytes,
			    const struct samples samples[CPUS])
{
	for (int cpu = 0; cpu < CPUS; cpu++) {
		size_t slices = most_slices(f, cpu, bytes), all = total(f, cpu) / PERIOD;

		assert_in_range(samples[cpu].n + slices, all, all + 2 * slices);
		for (size_t i = 0; i < samples[cpu].n; i++)
			assert_int_equal(samples[cpu].at[i]->period, PERIOD);
	}
}

static void check_first(const struct fixture *f, unsigned int bytes,
			const struct samples samples[CPUS])
{
	(void)bytes;
	for (int cpu = 0; cpu < CPUS; cpu++) {
		assert_int_equal(samples[cpu].n, total(f, cpu) / PERIOD);
		for (size_t i = 0; i < samples[cpu].n; i++)
			assert_int_equal(samples[cpu].at[i]->ip,
					 executed(f, cpu, (i + 1) * PERIOD - 1));
	}
}

static void inject_by_instructions(const struct fixture *f, uint64_t seed)
{
	(void)seed;
	inject(f, "i37i", 1 << 30, 2, check_first);
	inject(f, "i37i", 300, 2, check_distances);
}

/* A period apart: in all of what is one slice, and else within each. */
static void by_instructions(void **state)
{
	(void)state;
	each_recording(6, inject_by_instructions);
}

/*
 * By time: no sample is of the time in which the program was stopped, which would take hundreds,
 * though a slice begins without knowing how fast it runs. Samples weigh all that was executed
 * before the last of them.
 */
static void check_times(const struct fixture *f, unsigned int bytes,
			const struct samples samples[CPUS])
{
	(void)bytes;
	for (int cpu = 0; cpu < CPUS; cpu++) {
		uint64_t weight = 0;

		for (size_t i = 0; i < samples[cpu].n; i++)
			weight += samples[cpu].at[i]->period;
		assert_in_range(samples[cpu].n, 4, 50);
		assert_in_range(weight, total(f, cpu) / 2, total(f, cpu));
	}
}

static void inject_by_time(const struct fixture *f, uint64_t seed)
{
	(void)seed;
	inject(f, "i10us", 1 << 30, 2, check_times);
	inject(f, "i10us", 600, 2, check_times);
}

static void by_time(void **state)
{
	(void)state;
	each_recording(6, inject_by_time);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_instruction),
		cmocka_unit_test(by_instructions),
		cmocka_unit_test(by_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
