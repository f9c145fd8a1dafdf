// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Recordings as session-fixture.h makes them, whole and damaged, ours and of other recorders. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include <malloc.h>
#include <rvtrace/switches.h>
#include "session-fixture.h"

/* Of the sanitizers, which gcc has no header for; tests are built without them, too. */
__attribute__((weak)) size_t __sanitizer_get_current_allocated_bytes(void);

/* Bytes of malloc() that were not freed. */
static size_t allocated_bytes(void)
{
	return __sanitizer_get_current_allocated_bytes ?
	       __sanitizer_get_current_allocated_bytes() : mallinfo2().uordblks;
}

/* ---- recordings ---- */

static void processes_and_exec(void **state)
{
	struct fixture *f = *state;
	struct rvt_session_totals stats;

	begin_recording(f, true, true);
	put_comm(f, 10, 0, false, "ten");
	put_mmap(f, 10, 0, f->programs[0]);
	put_comm(f, 20, 0, false, "twenty");
	put_mmap(f, 20, 0, f->programs[1]);
	run_program(f, 0, 10, 0);
	run_program(f, 1, 20, 1);
	run_program(f, 0, 20, 1);	/* migrates, with no new record */
	put_aux(f, 0, 20, 0);
	put_aux(f, 1, 20, 0);
	run_program(f, 1, 10, 0);
	/* 10 executes another program, which comes to lie where the first was */
	put_comm(f, 10, f->ticks * TICK_NS, true, "exec");
	put_mmap(f, 10, f->ticks * TICK_NS + 1, f->programs[2]);
	f->ticks += 2;
	run_program(f, 1, 10, 2);
	put_aux(f, 1, 10, 0);
	run_program(f, 0, 10, 2);
	put_aux(f, 0, 10, 0);
	read_back(f, false, &stats);
	check_equal(&f->cpus[0]);
	check_equal(&f->cpus[1]);
	assert_int_equal(f->resets, 0);
	assert_int_equal(stats.flow.insns, f->cpus[0].expected.n + f->cpus[1].expected.n);
	assert_int_equal(stats.session.missing_bytes, 0);
	assert_int_equal(stats.session.trace_bytes, f->cpus[0].aux_offset + f->cpus[1].aux_offset);
}

static uint64_t run_as_guest(void *ctx, const struct hart_sink *sink)
{
	run_guest(ctx, sink, 500);
	return hart_pc(ctx);
}

/* A guest executes where its host has code: it is lost, and the host's flow is as it was. */
static void guest_without_code(void **state)
{
	struct fixture *f = *state;
	struct rvt_session_totals stats;

	begin_recording(f, true, true);
	put_comm(f, 10, 0, false, "host");
	put_mmap(f, 10, 0, f->programs[0]);
	run_program(f, 0, 10, 0);
	run_other(f, 0, 10, run_as_guest, f->harts[0]);
	run_program(f, 0, 10, 0);
	run_program(f, 1, 10, 0);
	put_aux(f, 0, 10, 0);
	put_aux(f, 1, 10, 0);
	read_back(f, false, &stats);
	check_steps(&f->cpus[0]);
	check_equal(&f->cpus[1]);
	assert_true(f->cpus[0].lost);
	assert_int_equal(stats.flow.insns, f->cpus[0].expected.n + f->cpus[1].expected.n);
}

/*
 * The same in E-Trace, of programs that are interrupted in no loop without branches: how often one
 * ran is not told.
 */
static void two_processes_etrace(void **state)
{
	struct fixture *f = *state;
	struct rvt_session_totals stats;

	f->etrace = true;
	begin_recording(f, true, true);
	put_mmap(f, 10, 0, f->programs[0]);
	put_mmap(f, 20, 0, f->programs[2]);
	for (int i = 0; i < 6; i++) {
		run_program(f, i % CPUS, i % 3 ? 10 : 20, i % 3 ? 0 : 2);
		if (i >= 4)
			put_aux(f, i % CPUS, 10, 0);
	}
	read_back(f, false, &stats);
	check_equal(&f->cpus[0]);
	check_equal(&f->cpus[1]);
}

/* Two harts in the frames of one sink, in which E-Trace and N-Trace have no numbers of harts. */
static void frames_of_shared_sink(bool etrace, void **state)
{
	static const int32_t pids[CPUS] = { 10, 20 };
	struct fixture *f = *state;
	struct rvt_session_totals stats;

	f->etrace = etrace;
	f->framed = true;
	begin_recording(f, true, true);
	for (int n = 0; n < CPUS; n++)
		put_mmap(f, pids[n], 0, f->programs[0]);
	for (int round = 0; round < 3; round++) {
		run_together(f, round % CPUS, pids, 0, STEPS, 20);
		put_aux(f, round % CPUS, 10, 0);
	}
	read_back(f, false, &stats);
	for (int n = 0; n < CPUS; n++)
		check_equal(&f->cpus[n]);
	assert_int_equal(stats.flow.insns, f->cpus[0].expected.n + f->cpus[1].expected.n);
	assert_int_equal(stats.stream.errors, 0);
	assert_int_equal(stats.stream.skipped_bytes, 0);
}

static void ntrace_frames(void **state)
{
	frames_of_shared_sink(false, state);
}

static void etrace_frames(void **state)
{
	frames_of_shared_sink(true, state);
}

static void compressed(void **state)
{
	((struct fixture *)*state)->packed = true;
	processes_and_exec(state);
}

/* Two tasks that run in turn. */
static void go_on(struct fixture *f, int round)
{
	(void)round;
	for (int k = 0; k < 1000; k++)
		put_switch(f, k % CPUS, k % CPUS ? 20 : 10, f->ticks * TICK_NS);
	for (int n = 0; n < CPUS; n++) {
		run_steps(f, n, n ? 20 : 10, n, STEPS / 10);
		put_aux(f, n, n ? 20 : 10, 0);
	}
}

/* 100 tasks that a shell starts; the last one runs. Each has mappings of its own. */
static void start_and_end(struct fixture *f, int round)
{
	const int32_t first = 1000 + 100 * round;

	for (int32_t pid = first; pid < first + 100; pid++) {
		put_life(f, PERF_RECORD_FORK, pid, 10, f->ticks * TICK_NS);
		put_comm(f, pid, f->ticks * TICK_NS + 1, true, "worker");
		put_mmap(f, pid, f->ticks * TICK_NS + 2, f->programs[0]);
		f->ticks++;
		if (pid % 100 >= 98)
			continue;
		put_life(f, PERF_RECORD_EXIT, pid, 10, f->ticks * TICK_NS);
	}
	for (int n = 0; n < CPUS; n++) {
		const int32_t pid = first + 98 + n;

		put_switch(f, n, pid, f->ticks * TICK_NS);
		run_steps(f, n, pid, 0, STEPS / 10);
		put_aux(f, n, pid, 0);
		put_life(f, PERF_RECORD_EXIT, pid, 10, f->ticks * TICK_NS);
	}
	/* a second, and some */
	f->ticks += 1100000000 / TICK_NS;
}

/*
 * At the end a live session has no more memory than after a tenth. (Events are forgotten some
 * thousands at a time: a tenth is more than that.)
 */
static void live_memory(struct fixture *f, void (*round)(struct fixture *f, int n))
{
	const struct rvt_session_options options = { .size = sizeof(options), .count = true };
	char head[] = "/tmp/rvtrace-head-XXXXXX";
	struct sums sums = { .insns = 0 };
	const struct rvt_session_sink sink = { .size = sizeof(sink),
					       .ctx = &sums, .count_run = sum_run };
	uint64_t tenth = 0, fed, pos, insns = 0;
	size_t before = 0, after;
	struct rvt_perfdata *file;
	struct rvt_session *session;
	char *error;

	begin_recording(f, true, true);
	put_mmap(f, 10, 0, f->programs[0]);
	put_mmap(f, 20, 0, f->programs[1]);
	for (int i = 0; i < 100; i++) {
		if (i == 10)
			tenth = rvt_perfdata_written(f->writer);
		round(f, i);
		for (int n = 0; n < CPUS; n++) {
			insns += f->cpus[n].expected.n;
			f->cpus[n].expected.n = 0;
		}
	}
	fed = rvt_perfdata_written(f->writer) - tenth;
	assert_int_equal(rvt_perfdata_finish(f->writer), 0);
	f->writer = NULL;
	close(mkstemp(head));
	if (rvt_perfdata_open(f->data, &file, &error))
		fail_msg("%s", error);
	write_head(file, head);
	if (rvt_session_open(head, &options, &session, &error))
		fail_msg("%s", error);
	assert_int_equal(rvt_session_begin(session, &sink), 0);
	pos = feed_from(session, file, 0, tenth);
	before = allocated_bytes();
	feed_from(session, file, pos, UINT64_MAX);
	after = allocated_bytes();
	/* A table may still double once. */
	if (after > before + fed / 5)
		fail_msg("%zu bytes, then %zu, for %zu bytes", before, after, (size_t)fed);
	assert_int_equal(rvt_session_end(session), 0);
	assert_int_equal(sums.insns_n, insns);
	rvt_session_close(session);
	rvt_perfdata_close(file);
	unlink(head);
}

static void live_memory_of_trace(void **state)
{
	live_memory(*state, go_on);
}

static void live_memory_of_tasks(void **state)
{
	live_memory(*state, start_and_end);
}

/* Without Ownership the context switches tell who runs. */
static void switches_instead_of_context(void **state)
{
	struct fixture *f = *state;
	struct rvt_session_totals stats;

	begin_recording(f, true, false);
	put_mmap(f, 10, 0, f->programs[0]);
	put_mmap(f, 20, 0, f->programs[1]);
	put_switch(f, 0, 10, f->ticks * TICK_NS - 1);
	run_program(f, 0, 10, 0);
	put_switch(f, 0, 20, f->ticks * TICK_NS - 1);
	run_program(f, 0, 20, 1);
	put_aux(f, 0, 20, 0);
	read_back(f, true, &stats);
	check_equal(&f->cpus[0]);
}

/* What was traced since @before is not found: nobody is known to have run it. */
static void forget_expected(struct fixture *f, size_t before)
{
	f->cpus[0].expected.n = before;
}

/*
 * So do those that BPF told. After one that is damaged, and after one that says that further ones
 * are not told, the flow is nobody's until the next.
 */
static void switches_by_bpf(void **state)
{
	struct fixture *f = *state;
	struct rvt_session_options options = { .size = sizeof(options) };
	struct rvt_session_totals stats;
	struct rvt_session *session;
	const char *warning;
	char *error;
	size_t before;

	begin_recording(f, true, false);
	put_mmap(f, 10, 0, f->programs[0]);
	put_mmap(f, 20, 0, f->programs[1]);
	put_switch_sample(f, 0, 0, 10, f->ticks * TICK_NS - 1, 0, 0);
	run_program(f, 0, 10, 0);
	put_switch_sample(f, 0, 10, 20, f->ticks * TICK_NS - 1, 0, 0);
	run_program(f, 0, 20, 1);
	before = f->cpus[0].expected.n;
	put_switch_sample(f, 0, 20, 10, f->ticks * TICK_NS - 1, 0, 1);
	run_program(f, 0, 10, 0);
	forget_expected(f, before);
	put_switch_sample(f, 0, 10, 20, f->ticks * TICK_NS - 1, 0, 0);
	run_program(f, 0, 20, 1);
	before = f->cpus[0].expected.n;
	put_switch_sample(f, 0, 20, 10, f->ticks * TICK_NS - 1, RVT_SWITCH_LAST, 0);
	run_program(f, 0, 10, 0);
	forget_expected(f, before);
	put_switch_sample(f, 0, 30, 20, f->ticks * TICK_NS - 1, 0, 0);
	run_program(f, 0, 20, 1);
	put_aux(f, 0, 20, 0);
	read_back(f, true, &stats);
	check_steps(&f->cpus[0]);
	assert_int_equal(f->cpus[0].lost, 2);

	assert_int_equal(rvt_session_open(f->data, &options, &session, &error), 0);
	warning = rvt_perfdata_warning(rvt_session_file(session));
	assert_non_null(warning);
	assert_non_null(strstr(warning, "a sample of the event " RVT_SWITCH_EVENT));
	assert_null(strchr(warning, '\n'));	/* of one of them */
	rvt_session_close(session);
}

static void execute(struct fixture *f, int32_t pid, int program)
{
	put_comm(f, pid, f->ticks * TICK_NS, true, "exec");
	put_mmap(f, pid, f->ticks * TICK_NS + 1, f->programs[program]);
	f->ticks += 10;
}

/* The messages of cpu @n come to the buffer of cpu @sink. */
static void run_into(struct fixture *f, int sink, int n, int32_t pid, int program)
{
	f->cpus[n].sink = &f->cpus[sink];
	run_program(f, n, pid, program);
}

/*
 * Without time stamps a mapping counts from the AUX record on within which it was made; but a
 * record that ends with an exec is of the program before.
 */
static void no_timestamps(void **state)
{
	struct fixture *f = *state;
	struct rvt_session_totals stats;

	begin_recording(f, false, true);
	put_mmap(f, 10, f->ticks * TICK_NS, f->programs[0]);
	run_program(f, 0, 10, 0);
	put_aux(f, 0, 10, 0);
	run_program(f, 0, 10, 0);
	execute(f, 10, 2);
	put_aux(f, 0, 10, 0);
	run_program(f, 0, 10, 2);
	put_aux(f, 0, 10, 0);
	read_back(f, true, &stats);
	check_equal(&f->cpus[0]);
}

/* Where nothing ran before an exec, the first record behind it is of the new program. */
static void no_timestamps_exec_first(void **state)
{
	struct fixture *f = *state;
	struct rvt_session_totals stats;

	begin_recording(f, false, true);
	put_comm(f, 10, f->ticks * TICK_NS, false, "forked");
	f->ticks += 2;
	execute(f, 10, 0);
	run_program(f, 0, 10, 0);
	put_aux(f, 0, 10, 0);
	read_back(f, true, &stats);
	assert_int_equal(f->cpus[0].lost, 0);
	check_equal(&f->cpus[0]);
}

/*
 * So it is where harts share a sink, which each of them empties into its own buffer: a record of
 * one has what the other ran before an exec, or behind one that lies in its own record.
 */
static void no_timestamps_exec_in_shared_sink(void **state)
{
	static const int32_t pids[CPUS] = { 10, 20 };
	struct fixture *f = *state;
	struct rvt_session_totals stats;

	f->framed = true;
	begin_recording(f, false, true);
	for (int n = 0; n < CPUS; n++)
		put_mmap(f, pids[n], 0, f->programs[0]);
	put_buffers(f);
	run_into(f, 0, 1, 20, 0);
	put_aux(f, 0, 10, 0);
	run_into(f, 1, 0, 10, 0);
	execute(f, 10, 2);
	put_aux(f, 1, 20, 0);
	run_into(f, 1, 0, 10, 2);
	put_aux(f, 1, 20, 0);
	run_into(f, 0, 1, 20, 0);
	execute(f, 10, 1);
	put_aux(f, 0, 10, 0);
	run_into(f, 1, 0, 10, 1);
	put_aux(f, 1, 20, 0);
	run_into(f, 0, 1, 20, 0);
	put_aux(f, 0, 10, 0);
	read_back(f, false, &stats);
	for (int n = 0; n < CPUS; n++) {
		assert_int_equal(f->cpus[n].lost, 0);
		check_equal(&f->cpus[n]);
	}
}

/* A flagged record is a gap: it is reported once, and the next sync is picked up. */
static void truncated_record(void **state)
{
	struct fixture *f = *state;
	struct rvt_session_totals stats;
	struct steps *expected = &f->cpus[0].expected;
	size_t cut;

	begin_recording(f, true, true);
	put_mmap(f, 10, 0, f->programs[0]);
	run_program(f, 0, 10, 0);
	cut = expected->n;
	f->cpus[0].len -= 10;	/* the end did not fit */
	put_aux(f, 0, 10, PERF_AUX_FLAG_TRUNCATED);
	run_program(f, 0, 10, 0);
	put_aux(f, 0, 10, 0);
	read_back(f, true, &stats);
	assert_int_equal(f->cpus[0].lost, 1);
	assert_int_equal(stats.session.truncated, 1);
	assert_true(f->cpus[0].found.n < expected->n);
	assert_true(f->cpus[0].found.n > cut);
	/* everything after the gap is there: the last ones are the last ones */
	for (size_t i = 1; i <= expected->n - cut; i++)
		assert_int_equal(f->cpus[0].found.at[f->cpus[0].found.n - i].pc,
				 expected->at[expected->n - i].pc);
	/* and nothing before it is invented */
	for (size_t i = 0; i < f->cpus[0].found.n - (expected->n - cut); i++)
		assert_int_equal(f->cpus[0].found.at[i].pc, expected->at[i].pc);
}

/* A damaged record may claim any size: what is there is decoded, and nobody looks for the rest. */
static void endless_record(void **state)
{
	struct fixture *f = *state;
	struct rvt_session_totals stats;
	const struct steps *found = &f->cpus[0].found, *expected = &f->cpus[0].expected;

	begin_recording(f, true, true);
	put_mmap(f, 10, 0, f->programs[0]);
	run_program(f, 0, 10, 0);
	f->claimed = UINT64_C(1) << 62;
	put_aux(f, 0, 10, 0);
	alarm(60);
	read_back(f, true, &stats);
	alarm(0);
	assert_int_equal(stats.session.missing_bytes, f->claimed);
	assert_in_range(found->n, expected->n / 2, expected->n);
	for (size_t i = 0; i < found->n; i++)
		assert_int_equal(found->at[i].pc, expected->at[i].pc);
}

/*
 * A buffer in which old trace gave way to new: three records, each of which says where it ends, and
 * what the buffer held in the end, which begins amid the second. That is decoded from its next
 * synchronisation on, to the end.
 */
static void overwritten(void **state)
{
	struct fixture *f = *state;
	struct cpu *cpu = &f->cpus[0];
	struct rvt_session_totals stats;
	uint8_t held[1 << 16];
	size_t ends[3], expected[3], keep;
	static const uint8_t zeros[8];

	f->overwritten = true;
	begin_recording(f, true, true);
	put_mmap(f, 10, 0, f->programs[0]);
	for (int i = 0; i < 3; i++) {
		struct {
			struct perf_event_header header;
			uint64_t offset, size, flags;
		} aux = { { PERF_RECORD_AUX, 0, 0 }, 0, 0, PERF_AUX_FLAG_OVERWRITE };
		struct trailer trailer = { 10, 10, 0, 0, 0, TRACE_ID };
		size_t before = cpu->len;

		run_program(f, 0, 10, 0);
		expected[i] = cpu->expected.n;
		ends[i] = cpu->len;
		aux.offset = cpu->len;
		aux.size = cpu->len - before;
		trailer.time = f->ticks * TICK_NS;
		put_record(f, &aux.header, sizeof(aux), NULL, &trailer);
	}
	keep = ends[2] - ends[1] + (ends[1] - ends[0]) * 3 / 4;
	assert_in_range(keep, 1, sizeof(held));
	memcpy(held, cpu->bytes + ends[2] - keep, keep);

	struct rvt_record_auxtrace chunk = {
		.header = { RVT_RECORD_AUXTRACE, 0, sizeof(chunk) }, .size = (keep + 7) & ~7ul,
		.offset = ends[2] - keep, .idx = 0, .tid = -1, .cpu = 0 };

	assert_int_equal(rvt_perfdata_write(f->writer, &chunk, sizeof(chunk)), 0);
	assert_int_equal(rvt_perfdata_write(f->writer, held, keep), 0);
	assert_int_equal(rvt_perfdata_write(f->writer, zeros, chunk.size - keep), 0);
	read_back(f, true, &stats);
	assert_int_equal(stats.session.missing_bytes, 0);
	/* More than the third run, less than the second and third; and exactly the last that ran */
	assert_true(cpu->found.n > expected[2] - expected[1]);
	assert_true(cpu->found.n < expected[2] - expected[0]);
	for (size_t i = 1; i <= cpu->found.n; i++)
		assert_int_equal(cpu->found.at[cpu->found.n - i].pc,
				 cpu->expected.at[cpu->expected.n - i].pc);
}

/* However many buffers claim to be of a cpu, its trace is read once. */
static void buffers_of_one_cpu(void **state)
{
	struct fixture *f = *state;
	struct rvt_session_totals stats;

	f->overwritten = true;	/* what is read live has no such buffers */
	begin_recording(f, true, true);
	put_mmap(f, 10, 0, f->programs[0]);
	put_buffers(f);
	for (uint32_t i = 0; i < 1000; i++) {
		const struct rvt_record_auxtrace none = {
			.header = { RVT_RECORD_AUXTRACE, 0, sizeof(none) }, .idx = CPUS + i,
			.tid = -1, .cpu = 0 };

		assert_int_equal(rvt_perfdata_write(f->writer, &none, sizeof(none)), 0);
	}
	for (int i = 0; i < 3; i++) {
		run_program(f, 0, 10, 0);
		put_aux(f, 0, 10, 0);
	}
	read_back(f, true, &stats);
	assert_int_equal(stats.session.missing_bytes, 0);
	assert_int_equal(f->cpus[0].found.n, f->cpus[0].expected.n);
}

/* Code that is missing is one gap for as long as it takes. */
static void missing_code(void **state)
{
	struct fixture *f = *state;
	struct rvt_session_totals stats;

	begin_recording(f, true, true);
	put_mmap(f, 10, 0, "/nonexistent/program");
	put_mmap(f, 20, 0, f->programs[1]);
	run_program(f, 0, 10, 0);
	f->cpus[0].expected.n = 0;
	run_program(f, 0, 20, 1);
	put_aux(f, 0, 20, 0);
	read_back(f, true, &stats);
	assert_int_equal(f->cpus[0].lost, 1);
	f->cpus[0].lost = 0;
	check_equal(&f->cpus[0]);
}

static void no_timestamps_etrace(void **state)
{
	((struct fixture *)*state)->etrace = true;
	no_timestamps(state);
}

static void refused(void **state)
{
	struct fixture *f = *state;
	struct rvt_session_options options = { .size = sizeof(options) };
	struct perf_event_attr attr = { .type = PMU_TYPE, .sample_id_all = 1,
					.sample_type = SAMPLE_TYPE };
	struct rvt_session *session;
	static const struct {
		const char *meta;
		int err;
		const char *says;
	} cases[] = {
		{ NULL, -ENOTSUP, "--params" },
		{ "rvtrace 2\n", -ENOTSUP, "newer" },
		{ "rvtrace 1\n", -ENOTSUP, "--params" },
		{ "rvtrace 1\n\n[encoder 0]\ncpu = 0\nprotocol = quantum\n", -ENOTSUP, "quantum" },
		{ "rvtrace 1\n\n[encoder 0]\ncpu = 0\nprotocol = ntrace\n", -ENODATA, "no trace" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char *error;

		assert_int_equal(rvt_perfdata_create(f->data, &f->writer), 0);
		assert_int_equal(rvt_perfdata_add_event(f->writer, &attr, "x", NULL, 0), 0);
		assert_int_equal(rvt_perfdata_begin(f->writer, cases[i].meta), 0);
		assert_int_equal(rvt_perfdata_finish(f->writer), 0);
		f->writer = NULL;
		assert_int_equal(rvt_session_open(f->data, &options, &session, &error),
				 cases[i].err);
		assert_non_null(error);
		if (!strstr(error, cases[i].says) || !strstr(error, f->data))
			fail_msg("case %zu: %s", i, error);
		free(error);
	}
}

static void read_foreign(struct fixture *f, const char *params)
{
	struct rvt_session_totals stats;
	char path[] = "/tmp/rvtrace-params-XXXXXX";
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, params, strlen(params)), strlen(params));
	close(fd);
	f->params = *params ? path : NULL;
	read_back(f, true, &stats);
	unlink(path);
	check_equal(&f->cpus[0]);
	check_equal(&f->cpus[1]);
}

/* Upstream's says only which PMU it is: a file must tell the rest. */
static void upstream_without_parameters(void **state)
{
	const struct rvt_session_options options = { .size = sizeof(options) };
	struct fixture *f = *state;
	struct rvt_session *session;
	char *error;

	begin_foreign(f, &upstream_info, false, true);
	run_foreign(f);
	assert_int_equal(rvt_perfdata_finish(f->writer), 0);
	f->writer = NULL;
	assert_int_equal(rvt_session_open(f->data, &options, &session, &error), -ENOTSUP);
	assert_non_null(strstr(error, "--params"));
	free(error);
}

/* There is no Ownership and no context switch: each AUX record is of the thread that it names. */
static void upstream_with_parameters(void **state)
{
	begin_foreign(*state, &upstream_info, false, false);
	run_foreign(*state);
	read_foreign(*state, "protocol = ntrace\nmode = htm\ntimestamp = none\n");
}

/* In frames; drivers tell their ids, but without them there is only one in each buffer, too. */
static void spacemit(void **state)
{
	struct fixture *f = *state;

	f->framed = true;
	begin_foreign(f, &spacemit_info, true, true);
	for (int n = 0; n < CPUS; n++)
		put_hw_id(f, n, 0x1234 << 8 | (FRAME_ID + n));
	run_foreign(f);
	read_foreign(f, "");
}

/* All trace is in the sink when the event stops that is last: each hart's is found by its id. */
static void spacemit_one_sink(void **state)
{
	static const int32_t pids[CPUS] = { 10, 20 };
	struct rvt_session_totals stats;
	struct fixture *f = *state;

	f->framed = true;
	begin_foreign(f, &spacemit_info, true, true);
	for (int n = 0; n < CPUS; n++) {
		put_hw_id(f, n, 0x1234 << 8 | (FRAME_ID + n));
		put_mmap(f, pids[n], 0, f->programs[0]);
	}
	put_buffers(f);
	run_together(f, 1, pids, 0, STEPS, 20);
	put_aux(f, 1, 20, 0);
	read_back(f, false, &stats);
	for (int n = 0; n < CPUS; n++)
		check_equal(&f->cpus[n]);
}

static void spacemit_with_parameters(void **state)
{
	((struct fixture *)*state)->framed = true;
	begin_foreign(*state, &spacemit_info, true, true);
	run_foreign(*state);
	read_foreign(*state, "protocol = ntrace\nmode = htm\ntimestamp = delta\n");
}

#define RECORDING(test) cmocka_unit_test_setup_teardown(test, session_setup, session_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		RECORDING(processes_and_exec),
		RECORDING(guest_without_code),
		RECORDING(two_processes_etrace),
		RECORDING(ntrace_frames),
		RECORDING(etrace_frames),
		RECORDING(no_timestamps_etrace),
		RECORDING(compressed),
		RECORDING(live_memory_of_trace),
		RECORDING(live_memory_of_tasks),
		RECORDING(switches_instead_of_context),
		RECORDING(switches_by_bpf),
		RECORDING(no_timestamps),
		RECORDING(no_timestamps_exec_first),
		RECORDING(no_timestamps_exec_in_shared_sink),
		RECORDING(truncated_record),
		RECORDING(endless_record),
		RECORDING(overwritten),
		RECORDING(buffers_of_one_cpu),
		RECORDING(missing_code),
		RECORDING(upstream_without_parameters),
		RECORDING(upstream_with_parameters),
		RECORDING(spacemit),
		RECORDING(spacemit_one_sink),
		RECORDING(spacemit_with_parameters),
		RECORDING(refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
