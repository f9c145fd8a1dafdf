// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>
#include "property.h"
#include "random-recording.h"

#define PIDS 3
#define NO_PROGRAM "/nonexistent/program"

struct making {
	struct fixture *f;
	struct random r;
	bool late;		/* AUX records end after their task ran, in anybody's name */
	int programs[PIDS];	/* of each process */
	int32_t last[CPUS];	/* process that ran there */
	bool damage;
};

static int32_t pid_of(int process)
{
	return 10 * (process + 1);
}

/*
 * How often a loop without branches ran E-Trace does not tell where it is interrupted: programs 0
 * and 2 have none.
 */
static int random_program(struct making *m)
{
	return m->f->etrace ? 2 * random_below(&m->r, 2) : random_below(&m->r, PROGRAMS);
}

/* At most @most bytes from somewhere in the trace of @cpu that has not been put yet. */
static size_t some_bytes(struct making *m, const struct cpu *cpu, size_t most, size_t *at)
{
	size_t n = 1 + random_below(&m->r, most);

	*at = random_below(&m->r, cpu->len);
	return n < cpu->len - *at ? n : cpu->len - *at;
}

static void damage_bytes(struct making *m, struct cpu *cpu)
{
	size_t at, n = some_bytes(m, cpu, 40, &at);

	switch (random_below(&m->r, 4)) {
	case 0:
		cpu->bytes[at] ^= 1u << random_below(&m->r, 8);
		break;
	case 1:
		memset(cpu->bytes + at, random_one_in(&m->r, 2) ? 0xff : 0, n);
		break;
	case 2:
		memmove(cpu->bytes + at, cpu->bytes + at + n, cpu->len - at - n);
		cpu->len -= n;
		break;
	default:
		for (size_t i = 0; i < n; i++)
			cpu->bytes[at + i] = random_word(&m->r);
		break;
	}
}

static void put_trace(struct making *m, int n)
{
	static const uint64_t flags[] = { PERF_AUX_FLAG_TRUNCATED, PERF_AUX_FLAG_PARTIAL,
					  PERF_AUX_FLAG_COLLISION };
	struct cpu *cpu = &m->f->cpus[n];
	uint64_t flag = 0;

	put_frames(m->f, n);
	if (m->damage && random_one_in(&m->r, 4))
		flag = flags[random_below(&m->r, 3)];
	for (int i = random_below(&m->r, 4); m->damage && cpu->len && i; i--)
		damage_bytes(m, cpu);
	m->f->claimed = m->damage && random_one_in(&m->r, 12) ? random_below(&m->r, 3000) : 0;
	if (m->late)
		m->f->ticks += random_below(&m->r, 50000);
	m->f->misplaced = m->damage && random_one_in(&m->r, 4) ? random_below(&m->r, 400) : 0;
	put_aux(m->f, n, m->late ? pid_of(random_below(&m->r, PIDS)) : m->last[n], flag);
	m->f->claimed = m->f->misplaced = 0;
}

static void execute(struct making *m, int process)
{
	struct fixture *f = m->f;

	m->programs[process] = random_program(m);
	put_comm(f, pid_of(process), f->ticks * TICK_NS, true, "exec");
	put_mmap(f, pid_of(process), f->ticks * TICK_NS + 1, f->programs[m->programs[process]]);
	f->ticks += 2;
}

/* All cpus run @process, as many threads of it would: into one buffer. */
static void run_threads(struct making *m, int process)
{
	int32_t pids[CPUS];
	int sink = random_below(&m->r, CPUS);
	size_t steps;

	for (int n = 0; n < CPUS; n++) {
		pids[n] = m->last[n] = pid_of(process);
		if (!m->f->context)
			put_switch(m->f, n, pids[n], m->f->ticks * TICK_NS - 1);
	}
	steps = 50 + random_below(&m->r, 1500);
	run_together(m->f, sink, pids, m->programs[process], steps, 1 + random_below(&m->r, 100));
}

static void run_process(struct making *m, int process, int n)
{
	struct fixture *f = m->f;
	int32_t pid = pid_of(process);

	if (f->src_bits || f->framed)
		f->cpus[n].sink = &f->cpus[random_below(&m->r, CPUS)];
	if (!f->context)
		put_switch(f, n, pid, f->ticks * TICK_NS - 1);
	run_steps(f, n, pid, m->programs[process], 50 + random_below(&m->r, 1500));
	m->last[n] = pid;
}

static void run_somebody(struct making *m)
{
	int process = random_below(&m->r, PIDS), n = random_below(&m->r, CPUS);

	if (process && random_one_in(&m->r, 8))
		execute(m, process);
	if ((m->f->src_bits || m->f->framed) && process && random_one_in(&m->r, 3))
		run_threads(m, process);
	else
		run_process(m, process, n);
	if (random_one_in(&m->r, 3) || (m->f->by_task && !m->late))
		put_trace(m, n);
}

void random_recording(struct fixture *f, uint64_t seed, bool damage)
{
	struct making m = { .f = f, .damage = damage };
	bool timed;

	random_seed(&m.r, seed);
	f->etrace = random_one_in(&m.r, 2);
	f->sifive = !f->etrace && random_one_in(&m.r, 3);
	f->ctte = f->may_share && !f->etrace && !f->sifive && random_one_in(&m.r, 2);
	f->packed = random_one_in(&m.r, 4);
	f->by_task = random_one_in(&m.r, 2);
	f->src_bits = f->may_share && random_one_in(&m.r, 4) ? 8 : 0;
	timed = !random_one_in(&m.r, 4);
	f->framed = f->may_share && random_one_in(&m.r, 3);
	begin_recording(f, timed, !random_one_in(&m.r, 4));
	m.late = f->by_task && f->timed && f->context;
	for (int i = 0; i < PIDS; i++) {
		m.programs[i] = random_program(&m);
		put_comm(f, pid_of(i), 0, false, "process");
		put_mmap(f, pid_of(i), 0, i ? f->programs[m.programs[i]] : NO_PROGRAM);
	}
	/* buffers are numbered as they come: that of cpu 0 first, as in a live session */
	for (int n = 0; n < CPUS; n++) {
		run_process(&m, 1, n);
		put_trace(&m, n);
	}
	for (int i = 6 + random_below(&m.r, 12); i; i--)
		run_somebody(&m);
	for (int n = 0; n < CPUS; n++)
		put_trace(&m, n);
}

static void write_file(const char *path, const void *bytes, size_t len)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, len, file), len);
	assert_int_equal(fclose(file), 0);
}

void random_dump(struct fixture *f, uint64_t seed, bool damage)
{
	static const int32_t pids[CPUS] = { 10, 20 };
	struct making m = { .f = f, .damage = damage };
	bool timed;
	struct cpu *sink = &f->cpus[0];
	char params[60];

	random_seed(&m.r, seed);
	f->etrace = random_one_in(&m.r, 2);
	f->sifive = !f->etrace && seed % 5 == 3;
	f->ctte = !f->etrace && seed % 5 == 4;
	/* what is no number of bytes shifts what comes behind it */
	f->src_bits = random_one_in(&m.r, 3) ? 1 + random_below(&m.r, 12) : 8;
	f->framed = random_one_in(&m.r, 4);
	timed = !random_one_in(&m.r, 4);
	begin_recording(f, timed, !random_one_in(&m.r, 4));
	for (int n = 0; n < CPUS; n++)
		f->cpus[n].sink = sink;
	for (int i = 4 + random_below(&m.r, 6); i; i--) {
		bool alone = random_one_in(&m.r, 3);
		size_t steps = 100 + random_below(&m.r, 1500);

		if (alone)
			run_steps(f, random_below(&m.r, CPUS), 10, 0, steps);
		else
			run_together(f, 0, pids, 0, steps, 1 + random_below(&m.r, 200));
	}
	put_frames(f, 0);
	for (int i = random_below(&m.r, 20); damage && i; i--)
		damage_bytes(&m, sink);
	rvt_perfdata_abandon(f->writer);
	f->writer = NULL;
	snprintf(params, sizeof(params), "%s.params", f->data);
	write_file(f->data, sink->bytes, sink->len);
	if (f->framed)
		strcat(f->encoder, "framing = coresight\n");
	write_file(params, f->encoder, strlen(f->encoder));
}

static size_t check_seed(const struct random_recordings *test, uint64_t seed)
{
	struct fixture *f;
	size_t seen;

	print_message("seed %lu\n", (long)seed);
	session_setup((void **)&f);
	f->may_share = test->shared;
	if (test->dump)
		random_dump(f, seed, test->damage);
	else
		random_recording(f, seed, test->damage);
	seen = test->check(f, seed);
	session_teardown((void **)&f);
	return seen;
}

void random_recordings_test(void **state)
{
	const struct random_recordings *test = *state;
	uint64_t cases = property_setting("RVT_PROPERTY_CASES", 500) / test->share;
	uint64_t seed = property_setting("RVT_PROPERTY_SEED", 1);
	time_t end = time(NULL) + (test->seconds ? property_setting(test->seconds, 0) : 0);
	size_t seen = 0, n = 0;

	if (test->needs && access(test->needs, X_OK))
		skip();
	for (; n < cases || time(NULL) < end; n++)
		seen += check_seed(test, seed++);
	assert_true(seen >= test->least * n);
}
