// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Recordings in parts that several threads decode: what these tell, put in order, is what one
 * thread tells; of whole recordings and of damaged ones. And where parts are cut, and which fit
 * together.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "../../tools/perf-plugin/common/transfers.h"
#include "util/array.h"
#include "random-recording.h"
#include "session/parts.h"
#include "session/state.h"

/* ---- what is told ---- */

enum { LINE = 'l', TRANSFER = 't', INSN = 'i', LOST = '!', MOMENT = 'm' };

struct told {
	uint64_t what, cpu, from, to, insns;	/* no padding: compared as bytes */
	int64_t tid;
};

/* What was told of a part, or of all. */
struct telling {
	struct told *list;
	size_t n;
	size_t own;		/* moments up to here are not the next part's, too */
	struct transfers *transfers;
	struct rvt_session_sink sink;
	bool *thread;		/* that has it */
};

#define MAX_PARTS (1 << 12)
#define MAX_THREADS 8

struct tellings {
	bool lines, by_cpu;
	uint64_t part_bytes;
	struct telling parts[CPUS][MAX_PARTS];
	size_t joined[CPUS];
	size_t n[CPUS], planned[CPUS];
	bool threads[MAX_THREADS];	/* has a part */
	size_t n_threads;
	bool too_many;
};

static void tell(struct telling *telling, const struct rvt_lane *lane, struct told told)
{
	told.cpu = lane->cpu;
	told.tid = lane->task ? lane->task->tid : -1;
	assert_int_equal(array_grow(&telling->list, telling->n), 0);
	telling->list[telling->n++] = told;
}

static int tell_line(void *ctx, struct rvt_lane *lane, uint64_t first, uint64_t last,
		     uint64_t insns, struct rvt_callstack *stack)
{
	(void)stack;
	tell(ctx, lane, (struct told){ .what = LINE, .from = first, .to = last, .insns = insns });
	return 0;
}

static int tell_transfer(void *ctx, struct rvt_lane *lane, const struct transfer *transfer,
			 struct rvt_callstack *stack)
{
	(void)stack;
	tell(ctx, lane, (struct told){ .what = TRANSFER + 256 * transfer->kind,
				       .from = transfer->from, .to = transfer->to });
	return 0;
}

static int tell_runs(void *ctx, struct rvt_lane *lane, const struct rvt_run *runs, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		uint64_t pc = runs[i].block->pc;

		for (uint32_t j = 0; j < runs[i].first + runs[i].count; j++) {
			if (j >= runs[i].first)
				tell(ctx, lane, (struct told){ .what = INSN, .from = pc });
			pc += 2 * runs[i].block->halfwords[j];
		}
	}
	return 0;
}

static int tell_loss(void *ctx, struct rvt_lane *lane, const struct rvt_event *event)
{
	if (event->type == RVT_EVENT_LOST)
		tell(ctx, lane, (struct told){ .what = LOST, .from = event->offset });
	return 0;
}

static void open_telling(const struct tellings *all, struct telling *telling)
{
	const struct transfers_ops ops = { .ctx = telling, .line = tell_line,
					   .transfer = tell_transfer, .event = tell_loss };

	telling->sink = (struct rvt_session_sink){ .ctx = telling, .runs = tell_runs,
						   .event = tell_loss };
	if (!all->lines)
		return;
	telling->transfers = transfers_create(&ops, NULL, 0);
	assert_non_null(telling->transfers);
	transfers_sink(telling->transfers, &telling->sink);
}

static int on_runs(void *ctx, struct rvt_lane *lane, const struct rvt_run *runs, size_t n)
{
	const struct rvt_session_sink *sink = &((struct telling *)ctx)->sink;

	return sink->runs(sink->ctx, lane, runs, n);
}

static int on_event(void *ctx, struct rvt_lane *lane, const struct rvt_event *event)
{
	const struct rvt_session_sink *sink = &((struct telling *)ctx)->sink;

	return sink->event(sink->ctx, lane, event);
}

static void on_end(void *ctx, struct rvt_lane *lane)
{
	const struct rvt_session_sink *sink = &((struct telling *)ctx)->sink;

	if (sink->end)
		sink->end(sink->ctx, lane);
}

static void tell_moment(void *ctx, uint64_t time, bool left)
{
	struct telling *telling = ctx;

	tell(telling, &(struct rvt_lane){ .cpu = 0 },
	     (struct told){ .what = MOMENT, .from = time });
	if (!left)
		telling->own = telling->n;
}

static void *open_thread(void *ctx)
{
	struct tellings *all = ctx;

	assert_in_range(all->n_threads, 0, MAX_THREADS - 1);
	return &all->threads[all->n_threads++];
}

static void *begin_part(void *ctx, void *thread, unsigned int buffer)
{
	struct tellings *all = ctx;
	struct telling *telling;

	assert_false(*(bool *)thread);
	*(bool *)thread = true;
	assert_in_range(buffer, 0, CPUS - 1);
	assert_in_range(all->n[buffer], 0, MAX_PARTS - 1);
	telling = &all->parts[buffer][all->n[buffer]++];
	open_telling(all, telling);
	telling->thread = thread;
	return telling;
}

static int end_part(void *ctx, void *part)
{
	struct telling *telling = part;

	(void)ctx;
	*telling->thread = false;
	while (telling->n > telling->own && telling->list[telling->n - 1].what == MOMENT)
		telling->n--;
	return 0;
}

/* It is the next one that began. */
static int join_part(void *ctx, void *part, unsigned int buffer)
{
	struct tellings *all = ctx;
	struct telling *next = &all->parts[buffer][all->joined[buffer]++];

	assert_ptr_equal(part, next);
	return 0;
}

/* Nothing of cpu 0 is passed on before all of cpu 1 is joined. */
static size_t wait_for_last(void *ctx, unsigned int *buffer)
{
	struct tellings *all = ctx;

	*buffer = CPUS - 1;
	if (all->joined[CPUS - 1] == all->planned[CPUS - 1])
		return 0;
	/* each thread has room for eight, and one in the making */
	all->too_many |= all->joined[0] > 9 * all->n_threads;
	return all->joined[0];
}

static int plan_parts(void *ctx, const size_t *n_parts, unsigned int n_buffers)
{
	struct tellings *all = ctx;

	assert_in_range(n_buffers, 1, CPUS);
	for (unsigned int i = 0; i < n_buffers; i++)
		all->planned[i] = n_parts[i];
	return 0;
}

static void forget_parts(void *ctx)
{
	struct tellings *all = ctx;

	for (int cpu = 0; cpu < CPUS; cpu++) {
		for (size_t i = 0; i < all->n[cpu]; i++) {
			free(all->parts[cpu][i].list);
			transfers_destroy(all->parts[cpu][i].transfers);
			all->parts[cpu][i] = (struct telling){ .n = 0 };
		}
		all->n[cpu] = all->joined[cpu] = 0;
	}
	memset(all->threads, 0, sizeof(all->threads));
	all->n_threads = 0;
}

/* A buffer that is read, part by part. */
struct cursor {
	const struct telling *part, *end;
	size_t at;
	uint64_t time;
};

/* The next thing; NULL: that was all. */
static const struct told *look(struct cursor *cursor)
{
	for (; cursor->part < cursor->end; cursor->part++, cursor->at = 0)
		if (cursor->at < cursor->part->n)
			return &cursor->part->list[cursor->at];
	return NULL;
}

/* As session.h has it: who has come less far comes first, and goes on until it is ahead. */
static void merge(struct telling *sum, const struct tellings *all)
{
	struct cursor cursors[CPUS] = { 0 };
	int n = 0, other = 1;

	_Static_assert(CPUS == 2, "the other one");
	for (int cpu = 0; cpu < CPUS; cpu++)
		cursors[cpu] = (struct cursor){ all->parts[cpu], all->parts[cpu] + all->n[cpu],
						0, 0 };
	while (look(&cursors[0]) || look(&cursors[1])) {
		const struct told *told = look(&cursors[n]);
		struct rvt_task task;

		if (!told || (look(&cursors[other]) && cursors[n].time > cursors[other].time)) {
			n = other;
			other = !n;
			/* a tie */
			if (look(&cursors[0]) && cursors[0].time == cursors[1].time)
				n = 0, other = 1;
			told = look(&cursors[n]);
		}
		cursors[n].at++;
		if (told->what == MOMENT) {
			cursors[n].time = told->from;
			continue;
		}
		task.tid = told->tid;
		tell(sum, &(struct rvt_lane){ .cpu = told->cpu, .task = &task }, *told);
	}
}

/* Returns what is told by @jobs threads, in one; all->n: by how many parts, 0 for one thread. */
static struct telling tell_all(const struct fixture *f, unsigned int jobs, struct tellings *all)
{
	const struct rvt_session_options options = { .params = f->params, .by_cpu = all->by_cpu,
						     .jobs = jobs, .part_bytes = all->part_bytes };
	const struct rvt_session_parts parts = {
		.ctx = all, .overlap = all->lines, .open = open_thread, .begin = begin_part,
		.plan = plan_parts, .waiting = wait_for_last, .end = end_part,
		.moment = tell_moment, .join = join_part, .reset = forget_parts };
	struct telling sum = { .n = 0 };
	const struct rvt_session_sink sink = { .ctx = &sum, .runs = on_runs, .event = on_event,
					       .end = on_end, .parts = &parts };
	struct rvt_session_stats stats;
	struct rvt_session *session;
	char *error;

	if (rvt_session_open(f->data, &options, &session, &error))
		fail_msg("%s", error);
	open_telling(all, &sum);
	assert_int_equal(rvt_session_run(session, &sink), 0);
	rvt_session_stats(session, &stats);
	rvt_session_close(session);
	transfers_destroy(sum.transfers);
	assert_in_range(all->n_threads, 0, jobs);
	assert_false(all->too_many);
	for (int cpu = 0; cpu < CPUS; cpu++)
		assert_int_equal(all->joined[cpu], all->n[cpu]);
	merge(&sum, all);
	return sum;
}

/* What one thread tells is what was executed. */
static void check_told(const struct fixture *f, const struct telling *telling)
{
	size_t at[CPUS] = { 0 };

	for (size_t i = 0; i < telling->n; i++) {
		const struct told *told = &telling->list[i];
		const struct steps *found = &f->cpus[told->cpu].found;
		size_t *n = &at[told->cpu], last = *n + (told->what == LINE ? told->insns - 1 : 0);

		if (told->what != LINE && told->what != INSN)
			continue;
		assert_true(last < found->n);
		assert_int_equal(found->at[*n].tid, told->tid);
		assert_int_equal(found->at[*n].pc, told->from);
		if (told->what == LINE)
			assert_int_equal(found->at[last].pc, told->to);
		*n = last + 1;
	}
	for (int cpu = 0; cpu < CPUS; cpu++)
		assert_int_equal(at[cpu], f->cpus[cpu].found.n);
}

static struct telling tell_and_forget(const struct fixture *f, unsigned int jobs,
				      struct tellings *all, size_t *n_parts)
{
	struct telling sum = tell_all(f, jobs, all);

	*n_parts += all->n[0] + all->n[1];
	forget_parts(all);
	return sum;
}

/* Returns how many parts several threads decoded. */
static size_t check_parts_of(const struct fixture *f, bool damaged, bool lines, bool by_cpu,
			     uint64_t bytes)
{
	static const unsigned int jobs[] = { 2, 3, 7 };
	struct tellings *all = calloc(1, sizeof(*all));
	struct telling one, more;
	size_t n_parts = 0;

	assert_non_null(all);
	all->lines = lines;
	all->by_cpu = by_cpu;
	all->part_bytes = bytes;
	one = tell_and_forget(f, 1, all, &n_parts);
	assert_int_equal(n_parts, 0);
	if (!damaged)
		check_told(f, &one);
	for (size_t i = 0; i < sizeof(jobs) / sizeof(*jobs); i++) {
		more = tell_and_forget(f, jobs[i], all, &n_parts);
		assert_int_equal(more.n, one.n);
		assert_memory_equal(more.list, one.list, one.n * sizeof(*one.list));
		free(more.list);
	}
	free(one.list);
	free(all);
	return n_parts;
}

/* By lines of code, or by instructions; cpus one after the other, or in the order of time. */
static size_t check_parts(const struct fixture *f, bool damaged)
{
	size_t n_parts = 0;

	for (uint64_t bytes = 150; bytes < 3000; bytes *= 3)
		for (int way = 0; way < 4; way++)
			n_parts += check_parts_of(f, damaged, way & 1, way & 2, bytes);
	return n_parts;
}

/* ---- recordings ---- */

static size_t check_recording(struct fixture *f, bool damaged)
{
	struct rvt_session_stats stats;

	/* in the order of time, and counted by cpu: the same */
	read_stored(f, false, &stats);
	return check_parts(f, damaged);
}

static size_t check_whole(struct fixture *f, uint64_t seed)
{
	(void)seed;
	return check_recording(f, false);
}

static size_t check_damaged(struct fixture *f, uint64_t seed)
{
	(void)seed;
	return check_recording(f, true);
}

/* ---- what fits together ---- */

#define RAN .executed = true
#define USED { RAN }
#define ALL { .to = UINT64_MAX }

struct fit {
	struct part parts[3];
	bool counted, told;	/* whether they fit when they are counted, or told in order */
};

static const struct fit fits[] = {
	{ { USED, USED, USED }, true, true },
	/* the context is another's */
	{ { { RAN, .owned_at_end = true }, { RAN, .unowned_at_begin = true }, USED },
	  false, false },
	/* so is the time; counts have none */
	{ { { RAN, .timed_at_end = true }, { RAN, .untimed_at_begin = true }, USED },
	  true, false },
	/* parts in which nothing was change nothing */
	{ { { RAN, .timed_at_end = true }, { .executed = false },
	    { RAN, .untimed_at_begin = true } }, true, false },
	/* a loss is told once: as long as it takes */
	{ { { RAN, .lost_at_end = true }, { RAN, .lost_at_begin = true },
	    USED }, true, true },
	{ { { RAN, .lost_at_end = true }, USED, USED }, true, false },
	{ { USED, { RAN, .lost_at_begin = true }, USED }, false, false },
	{ { { .lost_at_begin = true }, USED, USED }, false, false },
	{ { { RAN, .lost_at_end = true }, { .broken_at_begin = true }, USED }, false, false },
	/* even if nothing else was in the part */
	{ { { .lost_at_end = true }, { .broken_at_begin = true }, USED }, false, false },
	{ { { .lost_at_end = true }, { RAN, .lost_at_begin = true }, USED }, true, true },
	/* time goes on, or stands, or goes back */
	{ { { RAN, .earliest = 10, .latest = 20 },
	    { RAN, .earliest = 20, .latest = 20 },
	    { RAN, .earliest = 21, .latest = 30 } }, true, true },
	{ { { RAN, .earliest = 10, .latest = 20 },
	    { RAN, .earliest = 19, .latest = 30 }, USED }, false, false },
	{ { { RAN, .earliest = 10, .latest = 20 }, { .executed = false },
	    { RAN, .earliest = 19, .latest = 30 } }, false, false },
	/* a flow goes on where it was left, and there only */
	{ { { RAN, .left = true, .left_at = 7 }, { .executed = false },
	    { RAN, .resumed = true, .resumed_at = 7 } }, true, true },
	{ { { RAN, .left = true, .left_at = 7 },
	    { RAN, .resumed = true, .resumed_at = 6 }, USED }, false, false },
	{ { { RAN, .left = true, .left_at = 7 }, USED, USED }, false, false },
	{ { USED, { RAN, .resumed = true, .resumed_at = 6 }, USED }, false, false },
	{ { USED, USED, { RAN, .left = true, .left_at = 7 } }, false, false },
	/* several of them have no order */
	{ { USED, { RAN, .from = 1, .to = 2, .n_lanes = 2 }, USED }, true, false },
	{ { { RAN, .to = UINT64_MAX, .n_lanes = 2 }, ALL, ALL }, true, true },
};

static bool join_all(struct rvt_session *session, const struct fit *fit)
{
	struct part parts[3];
	struct joint joint = { .next = parts, .end = parts + 3 };
	int err = 0;

	memcpy(parts, fit->parts, sizeof(parts));
	while (!err && joint.next < joint.end)
		err = session_join(session, &joint);
	assert_true(!err || err == -EAGAIN);
	return !err;
}

static void test_fits(void **state)
{
	const struct rvt_session_parts parts = { .ctx = NULL };
	const struct rvt_session_sink sink = { .parts = &parts };
	struct rvt_session *session = calloc(1, sizeof(*session));

	(void)state;
	assert_non_null(session);
	session->sink = &sink;
	for (size_t i = 0; i < sizeof(fits) / sizeof(*fits); i++) {
		session->options.count = true;
		if (join_all(session, &fits[i]) != fits[i].counted)
			fail_msg("case %zu, counted", i);
		session->options.count = false;
		if (join_all(session, &fits[i]) != fits[i].told)
			fail_msg("case %zu, told", i);
	}
	free(session);
}

/* ---- where parts are cut ---- */

/* Of a recording of cpu 0 alone, in two AUX records. Returns how many parts. */
static size_t cut_recording(uint64_t claimed, struct part **parts, struct cpu *cpu)
{
	const struct rvt_session_options options = { .jobs = 2, .part_bytes = 150 };
	struct rvt_session *session;
	struct fixture *f;
	size_t n;
	char *error;

	session_setup((void **)&f);
	begin_recording(f, true, true);
	put_mmap(f, 10, 0, f->programs[0]);
	run_program(f, 0, 10, 0);
	f->claimed = claimed;
	put_aux(f, 0, 10, 0);
	f->claimed = 0;
	run_program(f, 0, 10, 0);
	cpu->len = f->cpus[0].len;
	cpu->bytes = malloc(cpu->len);
	memcpy(cpu->bytes, f->cpus[0].bytes, cpu->len);
	cpu->aux_offset = f->cpus[0].aux_offset;
	put_aux(f, 0, 10, 0);
	assert_int_equal(rvt_perfdata_finish(f->writer), 0);
	f->writer = NULL;
	if (rvt_session_open(f->data, &options, &session, &error))
		fail_msg("%s", error);
	assert_int_equal(session_cut(session, parts, &n), 0);
	rvt_session_close(session);
	session_teardown((void **)&f);
	return n;
}

/* One part goes on where the one before ends, and that is behind the end of a message (MSEO 3). */
static void test_cuts(void **state)
{
	struct part *parts;
	struct cpu cpu;
	size_t n = cut_recording(0, &parts, &cpu);

	(void)state;
	assert_true(n > 10);
	assert_int_equal(parts[0].from, 0);
	assert_int_equal(parts[n - 1].to, UINT64_MAX);
	for (size_t i = 1; i < n; i++) {
		uint64_t from = parts[i].from;

		assert_int_equal(from, parts[i - 1].to);
		assert_true(from > parts[i - 1].from);
		assert_int_equal(parts[i].record, from >= cpu.aux_offset);
		if (from > cpu.aux_offset)
			assert_int_equal(cpu.bytes[from - cpu.aux_offset - 1] & 3, 3);
	}
	free(cpu.bytes);
	free(parts);
}

/* Where two records claim the same bytes, these are decoded twice: not in parts. */
static void test_overlapping(void **state)
{
	struct part *parts;
	struct cpu cpu;

	(void)state;
	assert_int_equal(cut_recording(1, &parts, &cpu), 1);
	assert_int_equal(parts[0].from, 0);
	assert_int_equal(parts[0].to, UINT64_MAX);
	free(cpu.bytes);
	free(parts);
}

int main(void)
{
	/*
	 * 100 parts, and not one thread again and again. Where one part of what is damaged does not
	 * fit, one thread does all, and none counts; and what a thread decoded before can decide
	 * whether it fits (join.c). Of the first 8 recordings 2 fit always, in 432 parts: twice 25
	 * for each of the 8.
	 */
	struct random_recordings whole = { .check = check_whole, .least = 100, .share = 60 };
	struct random_recordings damaged = { .check = check_damaged, .least = 25, .share = 60,
					     .damage = true };
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fits),
		cmocka_unit_test(test_cuts),
		cmocka_unit_test(test_overlapping),
		{ "whole recordings", random_recordings_test, NULL, NULL, &whole },
		{ "damaged recordings", random_recordings_test, NULL, NULL, &damaged },
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
