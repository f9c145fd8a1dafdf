// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Counts of tasks that take turns, and meanwhile execute and map other programs where the old ones
 * were: what is deferred when another task continues (flow/control.h) is told with whom it
 * belongs to and while the old program is still there, as what the reference walk counts at each
 * turn, and as what is delivered run by run.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <rvtrace/image.h>
#include "property.h"
#include "session-fixture.h"

#define PIDS 3
#define TURNS 80
#define TURN_STEPS 400

/* ---- recordings ---- */

struct making {
	struct fixture *f;
	struct random r;
	int programs[PIDS];	/* of each process */
};

static int32_t pid_of(int process)
{
	return 10 * (process + 1);
}

/* Programs that E-Trace can tell when they are interrupted; see random-recording.c. */
static void map_program(struct making *m, int process)
{
	struct fixture *f = m->f;

	m->programs[process] = 2 * random_below(&m->r, 2);
	put_mmap(f, pid_of(process), f->ticks * TICK_NS + 1, f->programs[m->programs[process]]);
	f->ticks += 2;
}

static void change(struct making *m, int process)
{
	static const char *const names[] = { "one", "two", "three" };
	const char *name = names[random_below(&m->r, 3)];
	struct fixture *f = m->f;

	switch (random_below(&m->r, 3)) {
	case 0:
		put_comm(f, pid_of(process), f->ticks * TICK_NS, true, name);
		map_program(m, process);
		break;
	case 1:
		map_program(m, process);
		break;
	default:
		put_comm(f, pid_of(process), f->ticks * TICK_NS, false, name);
		f->ticks += 2;
		break;
	}
}

static void make_recording(struct fixture *f, uint64_t seed)
{
	struct making m = { .f = f };

	random_seed(&m.r, seed);
	f->etrace = seed & 1;
	f->sifive = seed % 4 == 2;
	begin_recording(f, true, true);
	for (int i = 0; i < PIDS; i++) {
		put_comm(f, pid_of(i), f->ticks * TICK_NS, false, "zero");
		map_program(&m, i);
	}
	for (int i = 0; i < TURNS; i++) {
		int process = random_below(&m.r, PIDS), n = random_below(&m.r, CPUS);

		if (random_one_in(&m.r, 12))
			change(&m, process);
		run_steps(f, n, pid_of(process), m.programs[process], TURN_STEPS);
		if (random_one_in(&m.r, 8))
			put_aux(f, n, pid_of(process), 0);
	}
	for (int n = 0; n < CPUS; n++)
		put_aux(f, n, 10, 0);
	assert_int_equal(rvt_perfdata_finish(f->writer), 0);
	f->writer = NULL;
}

/* ---- what is told ---- */

/* Sums that are equal for any order; .calls: how often something was told. */
struct told {
	uint64_t insns, insns_n, edges, edges_by_address, calls;
};

static uint64_t mix(uint64_t x, uint64_t more)
{
	x = (x ^ more) * 0x9e3779b97f4a7c15ull;
	return x ^ x >> 29;
}

static uint64_t mix_text(uint64_t x, const char *text)
{
	while (*text)
		x = mix(x, *text++);
	return x;
}

/* Whose instruction, and of which program, that is, by what is known now. */
static uint64_t place(const struct rvt_hart_flow *hart, uint64_t pc)
{
	struct rvt_location location;
	uint64_t x = mix(hart->cpu, pc);

	assert_non_null(hart->task);
	assert_int_equal(rvt_space_locate(hart->space, pc, &location), 0);
	assert_non_null(location.path);
	return mix_text(mix_text(mix(x, hart->task->tid), hart->task->comm), location.path);
}

static int told_run(void *ctx, struct rvt_hart_flow *hart, const struct rvt_run *run,
		    uint64_t times)
{
	struct told *told = ctx;
	uint64_t pc = run->block->pc;

	for (uint32_t i = 0; i < run->first + run->count; i++) {
		if (i >= run->first)
			told->insns += times * place(hart, pc);
		pc += 2 * run->block->halfwords[i];
	}
	told->insns_n += times * run->count;
	told->calls++;
	return 0;
}

static int told_edge(void *ctx, struct rvt_hart_flow *hart, uint64_t from, uint64_t to,
		     enum rvt_insn_class iclass, int64_t times)
{
	struct told *told = ctx;

	told->edges += (uint64_t)times * mix(place(hart, from), to + iclass);
	told->edges_by_address += (uint64_t)times * mix(mix(hart->cpu, from), to + iclass);
	return 0;
}

static int told_runs(void *ctx, struct rvt_hart_flow *hart, const struct rvt_run *runs, size_t n)
{
	for (size_t i = 0; i < n; i++)
		told_run(ctx, hart, &runs[i], 1);
	return 0;
}

/* ---- hart flows ---- */

/* Which hart flows this thread has counts of that are not gone. */
static _Thread_local bool counted_of[CPUS];

static int note_run(void *ctx, struct rvt_hart_flow *hart, const struct rvt_run *run,
		    uint64_t times)
{
	(void)run, (void)times;
	counted_of[hart->cpu] = true;
	*(bool *)ctx |= counted_of[!hart->cpu];
	return 0;
}

static void note_end(void *ctx, struct rvt_hart_flow *hart)
{
	(void)ctx;
	counted_of[hart->cpu] = false;
}

static void note_reset(void *ctx)
{
	(void)ctx;
	fail();
}

/* What one buffer's hart flows have is given back before the next buffer's hart flows count. */
static void one_buffer_at_a_time(void **state)
{
	bool both = false;
	const struct rvt_session_sink sink = { .size = sizeof(sink),
					       .ctx = &both, .count_run = note_run,
					       .end = note_end, .reset = note_reset };
	struct rvt_session_options options = { .size = sizeof(options),
					       .count = true, .slice_bytes = 2000 };
	struct fixture *f = *state;

	_Static_assert(CPUS == 2, "the other one");
	make_recording(f, 1);
	for (options.jobs = 1; options.jobs <= 3; options.jobs++) {
		struct rvt_session *session;
		char *error;

		if (rvt_session_open(f->data, &options, &session, &error))
			fail_msg("%s", error);
		assert_int_equal(rvt_session_run(session, &sink), 0);
		rvt_session_close(session);
		assert_false(both);
	}
}

static void forget(void *ctx)
{
	*(struct told *)ctx = (struct told){ .insns = 0 };
}

static struct told read_recording(const struct fixture *f,
				  const struct rvt_session_options *options)
{
	struct told told = { .insns = 0 };
	const struct rvt_session_sink counted = { .size = sizeof(counted),
						  .ctx = &told, .count_run = told_run,
						  .count_edge = told_edge, .reset = forget };
	const struct rvt_session_sink delivered = { .size = sizeof(delivered),
						    .ctx = &told, .runs = told_runs };
	struct rvt_session *session;
	char *error;

	if (rvt_session_open(f->data, options, &session, &error))
		fail_msg("%s", error);
	assert_int_equal(rvt_session_run(session, options->count ? &counted : &delivered), 0);
	rvt_session_close(session);
	return told;
}

static void check_equal_counts(const struct told *a, const struct told *b)
{
	assert_int_equal(a->insns_n, b->insns_n);
	assert_int_equal(a->insns, b->insns);
	assert_int_equal(a->edges_by_address, b->edges_by_address);
	assert_int_equal(a->edges, b->edges);
}

static void counts_of_turns(void **state)
{
	uint64_t cases = (property_setting("RVT_PROPERTY_CASES", 500) + 24) / 25;
	uint64_t first = property_setting("RVT_PROPERTY_SEED", 1);
	uint64_t calls = 0, calls_at_each_turn = 0;

	(void)state;
	for (uint64_t seed = first; seed < first + cases; seed++) {
		struct rvt_session_options options = { .size = sizeof(options),
						       .count = true, .count_threads = true,
						       .slice_bytes = 2000 };
		const struct rvt_session_options one_job = { .size = sizeof(one_job), .jobs = 1 };
		struct told one, more, reference, delivered;
		struct fixture *f;

		print_message("seed %lu\n", (long)seed);
		session_setup((void **)&f);
		make_recording(f, seed);
		delivered = read_recording(f, &one_job);
		one = read_recording(f, &options);
		options.reference_walk = true;
		reference = read_recording(f, &options);
		options.reference_walk = false;
		assert_int_equal(one.insns_n, f->cpus[0].expected.n + f->cpus[1].expected.n);
		assert_int_equal(one.insns_n, delivered.insns_n);
		assert_int_equal(one.insns, delivered.insns);
		check_equal_counts(&one, &reference);
		for (options.jobs = 2; options.jobs <= 3; options.jobs++) {
			more = read_recording(f, &options);
			check_equal_counts(&more, &one);
		}
		calls += one.calls;
		calls_at_each_turn += reference.calls;
		session_teardown((void **)&f);
	}
	/* something was deferred */
	print_message("told %lu times, at each turn %lu\n", (long)calls, (long)calls_at_each_turn);
	assert_true(2 * calls < calls_at_each_turn);
}

/*
 * Where harts share a sink, what one of them has learned is in the tables that another one takes
 * when the next buffer is decoded: it must not take messages of that one for its own, though it
 * stands where that one stood.
 */
static void counts_of_shared_sink(void **state)
{
	static const int32_t pids[CPUS] = { 10, 20 };

	(void)state;
	/* in both protocols: messages, frames or both name the hart */
	for (int i = 0; i < 6; i++) {
		struct rvt_session_totals stats;
		struct fixture *f;

		session_setup((void **)&f);
		f->etrace = i % 2;
		f->src_bits = i / 2 != 1 ? 8 : 0;
		f->framed = i / 2 > 0;
		begin_recording(f, true, true);
		for (int n = 0; n < CPUS; n++)
			put_mmap(f, pids[n], 0, f->programs[0]);
		for (int round = 0; round < 4; round++) {
			run_together(f, round % CPUS, pids, 0, STEPS, 20);
			put_aux(f, round % CPUS, 10, 0);
		}
		/* counts of it are looked at, too */
		read_stored(f, false, &stats);
		for (int n = 0; n < CPUS; n++)
			check_equal(&f->cpus[n]);
		session_teardown((void **)&f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counts_of_turns),
		cmocka_unit_test(counts_of_shared_sink),
		cmocka_unit_test_setup_teardown(one_buffer_at_a_time, session_setup,
						session_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
