// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Whose the trace in an AUX record is, when only chosen tasks are traced. A driver ends the record
 * when its task stops running; or, if the trace says itself whose it is and when it was, some time
 * later: then there may be several turns of the task in it, and it names who happens to run when it
 * ends. Such a record has a flag (include/uapi/linux/rvtrace.h); and where the trace does not say
 * it, the driver does.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>
#include "../../include/uapi/linux/rvtrace.h"
#include "session-fixture.h"

#define LATER 50000		/* ticks: 5 ms */

/* What kind of recording. */
struct kind {
	bool etrace, timed, context;
};

static const struct kind ntrace = { .timed = true, .context = true };
static const struct kind etrace = { .etrace = true, .timed = true, .context = true };
static const struct kind ntrace_untimed = { .context = true };
static const struct kind etrace_untimed = { .etrace = true, .context = true };
static const struct kind ntrace_by_switches = { .timed = true };
static const struct kind ntrace_plain = { .timed = false };
static const struct kind etrace_plain = { .etrace = true };

/* Programs that E-Trace can tell when they are interrupted; see random-recording.c. */
static const int programs[] = { 0, 2 };

static struct fixture *begin(const struct kind *kind)
{
	struct fixture *f;

	session_setup((void **)&f);
	f->by_task = true;
	f->etrace = kind->etrace;
	begin_recording(f, kind->timed, kind->context);
	put_buffers(f);
	put_comm(f, 10, 0, false, "ten");
	put_mmap(f, 10, 0, f->programs[programs[0]]);
	put_comm(f, 20, 0, false, "twenty");
	put_mmap(f, 20, 0, f->programs[programs[1]]);
	return f;
}

static void end(struct fixture *f, bool by_cpu)
{
	struct rvt_session_totals stats;

	read_back(f, by_cpu, &stats);
	for (int n = 0; n < CPUS; n++) {
		check_equal(&f->cpus[n]);
		check_starts(&f->cpus[n]);
	}
	session_teardown((void **)&f);
}

/* perf notes the switches while tracing is on: after its start, and before its end. */
static void turn(struct fixture *f, int n, int32_t pid, int program)
{
	put_switch(f, n, pid, (f->ticks + 3) * TICK_NS);
	run_steps(f, n, pid, program, STEPS / 10);
	put_switch_out(f, n, pid, (f->ticks - 13) * TICK_NS);
}

/* 10 or 20, each with its program. */
static void turn_of(struct fixture *f, int n, int32_t pid)
{
	turn(f, n, pid, programs[pid == 20]);
}

static void with_kinds(void (*check)(const struct kind *kind, bool by_cpu),
		       const struct kind *const *kinds, size_t n)
{
	for (size_t i = 0; i < n; i++)
		for (int by_cpu = 0; by_cpu < 2; by_cpu++)
			check(kinds[i], by_cpu);
}

#define WITH(check, ...) do { \
	static const struct kind *const kinds[] = { __VA_ARGS__ }; \
	with_kinds(check, kinds, sizeof(kinds) / sizeof(*kinds)); \
} while (0)

/* ---- at once ---- */

static void each_turn(const struct kind *kind, bool by_cpu)
{
	struct fixture *f = begin(kind);

	for (int i = 0; i < 12; i++) {
		int32_t pid = i % 3 ? 10 : 20;
		int n = i % 5 & 1;

		turn_of(f, n, pid);
		put_aux(f, n, pid, 0);
		f->ticks += i % 2 ? LATER : 0;
	}
	end(f, by_cpu);
}

static void a_record_for_each_turn(void **state)
{
	(void)state;
	WITH(each_turn, &ntrace, &etrace, &ntrace_untimed, &etrace_untimed, &ntrace_by_switches);
}

/* ---- later ---- */

/* The record ends while nobody runs that is traced, or another one, on its own cpu or not. */
static void late(const struct kind *kind, bool by_cpu)
{
	static const int32_t ends[] = { STRANGER, 20, 10 };
	struct fixture *f = begin(kind);

	for (int i = 0; i < 6; i++) {
		/* 20 has turns, too; but on the other cpu, with a record of its own */
		turn_of(f, 0, 10);
		turn_of(f, 1, 20);
		f->ticks += LATER / 5;
		turn_of(f, 0, 10);
		f->ticks += LATER;
		put_aux(f, 0, ends[i % 3], 0);
		put_aux(f, 1, ends[(i + 1) % 3], 0);
		/* and the other way round, so that a cpu's context changes with its records */
		turn_of(f, 0, 20);
		f->ticks += LATER;
		put_aux(f, 0, ends[(i + 2) % 3], 0);
	}
	end(f, by_cpu);
}

static void later_records(void **state)
{
	(void)state;
	WITH(late, &ntrace, &etrace);
}

/* The trace does not say all of it; each record is of one task. */
static void named(const struct kind *kind, bool by_cpu)
{
	struct fixture *f = begin(kind);

	for (int i = 0; i < 6; i++) {
		turn_of(f, 0, 10);
		f->ticks += LATER / 5;
		turn_of(f, 0, 10);
		turn_of(f, 1, 20);
		f->ticks += LATER;
		/* the cpu is told when trace comes from another, without a thread */
		put_thread(f, 0, 0);
		put_thread(f, 0, 10);
		put_aux(f, 0, 20, RVTRACE_AUX_FLAG_LATE);
		put_thread(f, 1, 20);
		put_aux(f, 1, STRANGER, RVTRACE_AUX_FLAG_LATE);
		/* what is not late needs no name */
		turn_of(f, 0, 20);
		put_thread(f, 0, 0);
		put_aux(f, 0, 20, 0);
		/* nor is a name wanted of it */
		turn_of(f, 1, 10);
		put_thread(f, 1, 20);
		put_aux(f, 1, 10, 0);
		f->ticks += LATER;
	}
	end(f, by_cpu);
}

static void late_records_have_names(void **state)
{
	(void)state;
	WITH(named, &ntrace, &etrace, &ntrace_untimed, &etrace_untimed, &ntrace_by_switches,
	     &ntrace_plain, &etrace_plain);
}

/* perf hands the event of a task on to another one that inherited the same: in one record. */
static void handed_on(const struct kind *kind, bool by_cpu)
{
	struct fixture *f = begin(kind);

	for (int i = 0; i < 4; i++) {
		turn_of(f, 0, 10);
		turn_of(f, 0, 20);
		turn_of(f, 1, 10);
		turn_of(f, 0, 20);
		turn_of(f, 0, 10);
		f->ticks += LATER;
		put_aux(f, 0, STRANGER, 0);
		put_aux(f, 1, 20, 0);
	}
	end(f, by_cpu);
}

static void inherited_events(void **state)
{
	(void)state;
	WITH(handed_on, &ntrace, &etrace, &etrace_untimed);
}

/*
 * While a record is open its task goes on elsewhere: it executes another program, which lies where
 * the old one was, and that ends the other cpu's record. Then it comes back into the first.
 */
static void executes(const struct kind *kind, bool by_cpu)
{
	struct fixture *f = begin(kind);

	turn_of(f, 0, 10);
	turn_of(f, 1, 10);
	put_comm(f, 10, f->ticks * TICK_NS, true, "exec");
	put_mmap(f, 10, f->ticks * TICK_NS + 1, f->programs[programs[1]]);
	f->ticks += 2;
	put_aux(f, 1, 10, 0);
	turn(f, 1, 10, programs[1]);
	turn(f, 0, 10, programs[1]);
	f->ticks += LATER;
	put_aux(f, 1, STRANGER, 0);
	put_aux(f, 0, 10, 0);
	end(f, by_cpu);
}

static void exec_in_an_open_record(void **state)
{
	(void)state;
	WITH(executes, &ntrace, &etrace);
}

/* 20 ends, and its number is that of a child of 10 before the record of what it ran ends. */
static void reuses(const struct kind *kind, bool by_cpu)
{
	struct fixture *f = begin(kind);

	turn_of(f, 1, 20);
	f->ticks += LATER / 5;
	put_life(f, PERF_RECORD_FORK, 20, 10, f->ticks * TICK_NS);
	f->ticks += LATER;
	put_aux(f, 1, 20, 0);
	turn(f, 1, 20, programs[0]);
	put_aux(f, 1, 20, 0);
	turn_of(f, 0, 10);
	put_aux(f, 0, 10, 0);
	end(f, by_cpu);
}

static void number_used_again(void **state)
{
	(void)state;
	WITH(reuses, &ntrace, &etrace);
}

/*
 * Live: rounds in which the other cpu's records come, and sideband, while the record of a task that
 * went to sleep is still open.
 */
static void rounds(const struct kind *kind, bool by_cpu)
{
	struct fixture *f = begin(kind);

	for (int i = 0; i < 4; i++) {
		int program = programs[i % 2];

		turn(f, 0, 10, program);
		for (int k = 0; k < 30; k++) {
			turn_of(f, 1, 20);
			put_aux(f, 1, 20, 0);
			f->ticks += LATER / 30;
		}
		put_comm(f, 10, f->ticks * TICK_NS, true, "exec");
		put_mmap(f, 10, f->ticks * TICK_NS + 1, f->programs[programs[(i + 1) % 2]]);
		f->ticks += 2;
		for (int k = 0; k < 30; k++) {
			turn_of(f, 1, 20);
			put_aux(f, 1, 20, 0);
			f->ticks += LATER / 30;
		}
		put_aux(f, 0, STRANGER, 0);
	}
	end(f, by_cpu);
}

static void live_rounds_in_an_open_record(void **state)
{
	(void)state;
	WITH(rounds, &ntrace, &etrace);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_record_for_each_turn),
		cmocka_unit_test(later_records),
		cmocka_unit_test(late_records_have_names),
		cmocka_unit_test(inherited_events),
		cmocka_unit_test(exec_in_an_open_record),
		cmocka_unit_test(number_used_again),
		cmocka_unit_test(live_rounds_in_an_open_record),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
