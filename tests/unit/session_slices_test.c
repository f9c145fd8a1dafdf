// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Recordings in slices that several threads decode: what these tell, put in order, is what one
 * thread tells; of whole recordings and of damaged ones. And where slices are cut, and which fit
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
#include "session/slice.h"
#include "session/state.h"

/* ---- what is told ---- */

enum { LINE = 'l', TRANSFER = 't', INSN = 'i', LOST = '!', MOMENT = 'm' };

struct told {
	uint64_t what, cpu, from, to, insns;	/* no padding: compared as bytes */
	int64_t tid;
	uint64_t time;		/* with the clock */
};

/* What was told of a slice, or of all. */
struct telling {
	struct told *list;
	size_t n;
	size_t own;		/* moments up to here are not the next slice's, too */
	struct rvt_transfers *transfers;
	struct rvt_session_sink sink;
	bool *thread;		/* that has it */
};

#define MAX_SLICES (1 << 12)
#define MAX_THREADS 8

struct tellings {
	bool lines, by_cpu, clock;
	uint64_t slice_bytes;
	struct telling slices[CPUS][MAX_SLICES];
	size_t joined[CPUS];
	size_t n[CPUS], planned[CPUS];
	bool threads[MAX_THREADS];	/* has a slice */
	size_t n_threads;
	bool too_many;
};

static void tell(struct telling *telling, const struct rvt_hart_flow *hart, struct told told)
{
	told.cpu = hart->cpu;
	told.tid = hart->task ? hart->task->tid : -1;
	assert_int_equal(array_grow(&telling->list, telling->n), 0);
	telling->list[telling->n++] = told;
}

/* 0 without the clock: then it depends on what a decoder takes in at a time. */
static uint64_t time_of(const struct rvt_hart_flow *hart, uint64_t n)
{
	return hart->span.insns ? rvt_hart_time(hart, n) : 0;
}

static int tell_line(void *ctx, struct rvt_hart_flow *hart, const struct rvt_straight_line *line,
		     struct rvt_callstack *stack)
{
	(void)stack;
	tell(ctx, hart, (struct told){ .what = LINE, .from = line->first, .to = line->last,
				       .insns = line->insns, .time = time_of(hart, 0) });
	return 0;
}

static int tell_transfer(void *ctx, struct rvt_hart_flow *hart, const struct rvt_transfer *transfer,
			 struct rvt_callstack *stack)
{
	(void)stack;
	tell(ctx, hart, (struct told){ .what = TRANSFER + 256 * transfer->kind,
				       .from = transfer->from, .to = transfer->to });
	return 0;
}

static int tell_runs(void *ctx, struct rvt_hart_flow *hart, const struct rvt_run *runs, size_t n)
{
	uint64_t n_told = 0;

	for (size_t i = 0; i < n; i++) {
		uint64_t pc = runs[i].block->pc;

		for (uint32_t j = 0; j < runs[i].first + runs[i].count; j++) {
			if (j >= runs[i].first)
				tell(ctx, hart, (struct told){ .what = INSN, .from = pc,
					.time = time_of(hart, n_told++) });
			pc += 2 * runs[i].block->halfwords[j];
		}
	}
	return 0;
}

static int tell_loss(void *ctx, struct rvt_hart_flow *hart, const struct rvt_event *event)
{
	if (event->type == RVT_EVENT_LOST)
		tell(ctx, hart, (struct told){ .what = LOST, .from = event->offset });
	return 0;
}

static void open_telling(const struct tellings *all, struct telling *telling)
{
	const struct rvt_transfers_ops ops = {
		.size = sizeof(ops), .ctx = telling, .line = tell_line,
		.transfer = tell_transfer, .event = tell_loss,
	};

	telling->sink = (struct rvt_session_sink){ .size = sizeof(struct rvt_session_sink),
						   .ctx = telling, .runs = tell_runs,
						   .event = tell_loss };
	if (!all->lines)
		return;
	telling->transfers = rvt_transfers_create(&ops, NULL, 0);
	assert_non_null(telling->transfers);
	rvt_transfers_sink(telling->transfers, &telling->sink);
}

static int on_runs(void *ctx, struct rvt_hart_flow *hart, const struct rvt_run *runs, size_t n)
{
	const struct rvt_session_sink *sink = &((struct telling *)ctx)->sink;

	return sink->runs(sink->ctx, hart, runs, n);
}

static int on_event(void *ctx, struct rvt_hart_flow *hart, const struct rvt_event *event)
{
	const struct rvt_session_sink *sink = &((struct telling *)ctx)->sink;

	return sink->event(sink->ctx, hart, event);
}

static void on_end(void *ctx, struct rvt_hart_flow *hart)
{
	const struct rvt_session_sink *sink = &((struct telling *)ctx)->sink;

	if (sink->end)
		sink->end(sink->ctx, hart);
}

static void tell_moment(void *ctx, uint64_t time, bool left)
{
	struct telling *telling = ctx;

	tell(telling, &(struct rvt_hart_flow){ .cpu = 0 },
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

static void *begin_slice(void *ctx, void *thread, unsigned int buffer)
{
	struct tellings *all = ctx;
	struct telling *telling;

	assert_false(*(bool *)thread);
	*(bool *)thread = true;
	assert_in_range(buffer, 0, CPUS - 1);
	assert_in_range(all->n[buffer], 0, MAX_SLICES - 1);
	telling = &all->slices[buffer][all->n[buffer]++];
	open_telling(all, telling);
	telling->thread = thread;
	return telling;
}

static int end_slice(void *ctx, void *slice)
{
	struct telling *telling = slice;

	(void)ctx;
	*telling->thread = false;
	while (telling->n > telling->own && telling->list[telling->n - 1].what == MOMENT)
		telling->n--;
	return 0;
}

/* It is the next one that began. */
static int join_slice(void *ctx, void *slice, unsigned int buffer)
{
	struct tellings *all = ctx;
	struct telling *next = &all->slices[buffer][all->joined[buffer]++];

	assert_ptr_equal(slice, next);
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

static int plan_slices(void *ctx, const size_t *n_slices, unsigned int n_buffers)
{
	struct tellings *all = ctx;

	assert_in_range(n_buffers, 1, CPUS);
	for (unsigned int i = 0; i < n_buffers; i++)
		all->planned[i] = n_slices[i];
	return 0;
}

static void forget_slices(void *ctx)
{
	struct tellings *all = ctx;

	for (int cpu = 0; cpu < CPUS; cpu++) {
		for (size_t i = 0; i < all->n[cpu]; i++) {
			free(all->slices[cpu][i].list);
			rvt_transfers_destroy(all->slices[cpu][i].transfers);
			all->slices[cpu][i] = (struct telling){ .n = 0 };
		}
		all->n[cpu] = all->joined[cpu] = 0;
	}
	memset(all->threads, 0, sizeof(all->threads));
	all->n_threads = 0;
}

/* A buffer that is read, slice by slice. */
struct cursor {
	const struct telling *slice, *end;
	size_t at;
	uint64_t time;
};

/* The next thing; NULL: that was all. */
static const struct told *look(struct cursor *cursor)
{
	for (; cursor->slice < cursor->end; cursor->slice++, cursor->at = 0)
		if (cursor->at < cursor->slice->n)
			return &cursor->slice->list[cursor->at];
	return NULL;
}

/* As slices.h has it: who has come less far comes first, of both cpu 0. */
static void merge(struct telling *sum, const struct tellings *all)
{
	struct cursor cursors[CPUS] = { 0 };

	_Static_assert(CPUS == 2, "the other one");
	for (int cpu = 0; cpu < CPUS; cpu++)
		cursors[cpu] = (struct cursor){ all->slices[cpu], all->slices[cpu] + all->n[cpu],
						0, 0 };
	while (look(&cursors[0]) || look(&cursors[1])) {
		int n = !look(&cursors[0]) ||
			(look(&cursors[1]) && cursors[1].time < cursors[0].time);
		const struct told *told = look(&cursors[n]);
		struct rvt_task task;

		cursors[n].at++;
		if (told->what == MOMENT) {
			cursors[n].time = told->from;
			continue;
		}
		task.tid = told->tid;
		tell(sum, &(struct rvt_hart_flow){ .cpu = told->cpu, .task = &task }, *told);
	}
}

/* Returns what is told by @jobs threads, in one; all->n: by how many slices, 0 for one thread. */
static struct telling tell_all(const struct fixture *f, unsigned int jobs, struct tellings *all)
{
	const struct rvt_session_options options = { .size = sizeof(options),
						     .params = f->params, .by_cpu = all->by_cpu,
						     .jobs = jobs, .clock = all->clock,
						     .slice_bytes = all->slice_bytes };
	const struct rvt_session_slices slices = {
		.ctx = all, .overlap = all->lines, .open = open_thread, .begin = begin_slice,
		.plan = plan_slices, .waiting = wait_for_last, .end = end_slice,
		.moment = tell_moment, .join = join_slice, .reset = forget_slices };
	struct telling sum = { .n = 0 };
	const struct rvt_session_sink sink = { .size = sizeof(sink),
					       .ctx = &sum, .runs = on_runs, .event = on_event,
					       .end = on_end };
	struct rvt_session_totals stats;
	struct rvt_session *session;
	char *error;

	if (rvt_session_open(f->data, &options, &session, &error))
		fail_msg("%s", error);
	open_telling(all, &sum);
	assert_int_equal(rvt_session_run_slices(session, &sink, &slices), 0);
	rvt_session_totals(session, &stats);
	rvt_session_close(session);
	rvt_transfers_destroy(sum.transfers);
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

static uint64_t hash(int64_t tid, uint64_t pc)
{
	return (pc ^ (uint64_t)tid << 48) * UINT64_C(0x9e3779b97f4a7c15);
}

/*
 * The same in any order: a cpu that sends to the sinks of several has a hart flow in each buffer,
 * and which of them comes first at one time is not said.
 */
static void check_told_shared(const struct fixture *f, const struct telling *telling, bool lines)
{
	uint64_t insns[CPUS] = { 0 }, sums[CPUS] = { 0 };

	for (size_t i = 0; i < telling->n; i++) {
		const struct told *told = &telling->list[i];

		if (told->what == LINE || told->what == INSN)
			insns[told->cpu] += told->what == LINE ? told->insns : 1;
		if (told->what == INSN)
			sums[told->cpu] += hash(told->tid, told->from);
	}
	for (int cpu = 0; cpu < CPUS; cpu++) {
		const struct steps *found = &f->cpus[cpu].found;

		assert_int_equal(insns[cpu], found->n);
		for (size_t i = 0; i < found->n; i++)
			sums[cpu] -= lines ? 0 : hash(found->at[i].tid, found->at[i].pc);
		assert_int_equal(sums[cpu], 0);
	}
}

static struct telling tell_and_forget(const struct fixture *f, unsigned int jobs,
				      struct tellings *all, size_t *n_slices)
{
	struct telling sum = tell_all(f, jobs, all);

	*n_slices += all->n[0] + all->n[1];
	forget_slices(all);
	return sum;
}

/* Returns how many slices several threads decoded. */
static size_t check_slices_of(const struct fixture *f, bool damaged, bool lines, bool by_cpu,
			      bool clock, uint64_t bytes)
{
	static const unsigned int jobs[] = { 2, 3, 7 };
	struct tellings *all = calloc(1, sizeof(*all));
	struct telling one, more;
	size_t n_slices = 0;

	assert_non_null(all);
	all->lines = lines;
	all->by_cpu = by_cpu;
	all->clock = clock;
	all->slice_bytes = bytes;
	one = tell_and_forget(f, 1, all, &n_slices);
	assert_int_equal(n_slices, 0);
	if (!damaged && (f->src_bits || f->framed))
		check_told_shared(f, &one, lines);
	else if (!damaged)
		check_told(f, &one);
	for (size_t i = 0; i < sizeof(jobs) / sizeof(*jobs); i++) {
		more = tell_and_forget(f, jobs[i], all, &n_slices);
		assert_int_equal(more.n, one.n);
		assert_memory_equal(more.list, one.list, one.n * sizeof(*one.list));
		free(more.list);
	}
	free(one.list);
	free(all);
	return n_slices;
}

#define CLOCK_BYTES 450	/* of the slices of which times are compared, too */

/* By lines of code, or by instructions; cpus one after the other, or in the order of time. */
static size_t check_slices(const struct fixture *f, bool damaged)
{
	size_t n_slices = 0;

	for (uint64_t bytes = 150; bytes < 3000; bytes *= 3)
		for (int way = 0; way < 4; way++)
			n_slices += check_slices_of(f, damaged, way & 1, way & 2,
						    bytes == CLOCK_BYTES, bytes);
	return n_slices;
}

/* ---- recordings ---- */

static size_t check_recording(struct fixture *f, bool damaged)
{
	struct rvt_session_totals stats;

	/* in the order of time, and counted by cpu: the same */
	read_stored(f, false, &stats);
	return check_slices(f, damaged);
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
/* Up to two sources. */
#define OF(...) .sources = (struct slice_source[2]){ __VA_ARGS__ }, \
		.n_sources = sizeof((struct slice_source[]){ __VA_ARGS__ }) / \
			     sizeof(struct slice_source)
#define BEGUN_LEFT(at) { 0, .begun = true, .left = true, .left_at = (at) }
#define RESUMED(at) { 0, .waited = true, .resumed = true, .resumed_at = (at) }

struct fit {
	struct slice slices[3];
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
	/* slices in which nothing was change nothing */
	{ { { RAN, .timed_at_end = true }, { .executed = false },
	    { RAN, .untimed_at_begin = true } }, true, false },
	/* a loss is told once: as long as it takes */
	{ { { RAN, .lost_at_end = true }, { RAN, .lost_at_begin = true },
	    USED }, true, true },
	{ { { RAN, .lost_at_end = true }, USED, USED }, true, false },
	{ { USED, { RAN, .lost_at_begin = true }, USED }, false, false },
	{ { { .lost_at_begin = true }, USED, USED }, false, false },
	{ { { RAN, .lost_at_end = true }, { .broken_at_begin = true }, USED }, false, false },
	/* even if nothing else was in the slice */
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
	{ { { RAN, .to = 5, OF(BEGUN_LEFT(7)) }, { .to = 7 },
	    { RAN, .to = 9, OF(RESUMED(7)) } }, true, true },
	{ { { RAN, .to = 5, OF(BEGUN_LEFT(7)) }, { RAN, .to = 9, OF(RESUMED(6)) }, USED },
	  false, false },
	{ { { RAN, .to = 5, OF(BEGUN_LEFT(7)) }, { .to = 9 }, USED }, false, false },
	{ { { RAN, .to = 5, OF(BEGUN_LEFT(7)) }, { .to = 6 }, ALL }, false, false },
	{ { USED, { RAN, OF(RESUMED(6)) }, USED }, false, false },
	/* so do several, each for itself */
	{ { { RAN, .to = 5, OF(BEGUN_LEFT(7), { 3, .begun = true, .left = true, .left_at = 9 }) },
	    { RAN, .to = 8, OF(RESUMED(7), { 3, .waited = true }) },
	    { RAN, .to = 12, OF({ 3, .waited = true, .resumed = true, .resumed_at = 9 }) } },
	  true, true },
	{ { { RAN, .to = 5, OF(BEGUN_LEFT(7), { 3, .begun = true, .left = true, .left_at = 9 }) },
	    { RAN, .to = 12, OF(RESUMED(7)) }, ALL }, false, false },
	{ { { RAN, .to = 5, OF(BEGUN_LEFT(7)) },
	    { RAN, .to = 8, OF({ 3, .waited = true, .resumed = true, .resumed_at = 7 }) }, USED },
	  false, false },
	/* what waits for its first synchronisation is decoded by a slice before */
	{ { { RAN, .to = 5, OF({ 0, .begun = true }) }, { OF({ 0, .waited = true }) }, USED },
	  true, true },
	{ { { .to = 5 }, { OF({ 0, .waited = true }) }, USED }, false, false },
	{ { { RAN, .to = 5, OF({ 3, .begun = true }) }, { OF({ 0, .waited = true }) }, USED },
	  false, false },
	/* damage is told by it, too, if there is one; by which of several sources is not known */
	{ { { RAN, .to = 5, OF({ 0, .begun = true }) }, { .silent = true }, USED }, true, true },
	{ { USED, { .silent = true }, USED }, false, false },
	{ { { RAN, OF({ 0, .begun = true }) }, { .unsure = true }, USED }, false, false },
	/* what is behind an exec is not before it, as far as their record goes */
	{ { { RAN, .passed_exec = true }, { RAN, .before_exec = true }, USED }, false, false },
	{ { { RAN, .passed_exec = true }, { .done = 9 }, { RAN, .done = 20, .before_exec = true } },
	  false, false },
	{ { { RAN, .passed_exec = true }, { .done = 9, .end_record = 1 },
	    { RAN, .record = 1, .done = 20, .before_exec = true } }, true, true },
	{ { USED, { RAN, .before_exec = true }, { RAN, .passed_exec = true } }, true, true },
};

static bool join_all(struct rvt_session *session, const struct fit *fit)
{
	struct slice slices[3];
	struct joint joint = { .next = slices, .end = slices + 3 };
	int err = 0;

	memcpy(slices, fit->slices, sizeof(slices));
	while (!err && joint.next < joint.end)
		err = rvt_session_join(session, &joint);
	free(joint.sources);
	assert_true(!err || err == -EAGAIN);
	return !err;
}

static void test_fits(void **state)
{
	const struct rvt_session_slices slices = { .ctx = NULL };
	const struct rvt_session_sink sink = { .size = sizeof(sink), .ctx = NULL };
	struct rvt_session *session = calloc(1, sizeof(*session));

	(void)state;
	assert_non_null(session);
	session->sink = &sink;
	session->slices = &slices;
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

/* ---- what is not counted ---- */

/* A jump to itself, and one to straight code before it; others are left, or are branches. */
static void test_uncounted(void **state)
{
	const uint8_t halfwords[] = { 2, 2, 2 };
	struct rvt_block block = { .pc = 0x100, .insns = 3, .bytes = 12, .halfwords = halfwords,
				   .iclass = RVT_INSN_JUMP, .target = 0x108 };
	struct rvt_run run = { .block = &block, .count = 3 };
	struct encoder encoder = { .params = { .protocol = RVT_PROTOCOL_ETRACE } };
	struct hart_flow hart = { .encoder = &encoder };

	(void)state;
	assert_true(rvt_hart_loop_uncounted(&hart.base, &run));
	block.target = 0x100;
	assert_true(rvt_hart_loop_uncounted(&hart.base, &run));
	block.target = 0xfc;
	assert_false(rvt_hart_loop_uncounted(&hart.base, &run));
	block.target = 0x10c;
	assert_false(rvt_hart_loop_uncounted(&hart.base, &run));
	block.target = 0x104;
	run.count = 2;	/* interrupted before the jump */
	assert_false(rvt_hart_loop_uncounted(&hart.base, &run));
	run.count = 3;
	block.iclass = RVT_INSN_BRANCH;
	assert_false(rvt_hart_loop_uncounted(&hart.base, &run));
	block.iclass = RVT_INSN_JUMP;
	encoder.params.protocol = RVT_PROTOCOL_NTRACE;
	assert_false(rvt_hart_loop_uncounted(&hart.base, &run));
}

/* ---- where slices are cut ---- */

/* Of a recording of cpu 0 alone, in two AUX records. Returns how many slices. */
static size_t cut_recording(uint64_t claimed, struct slice **slices, struct cpu *cpu)
{
	const struct rvt_session_options options = { .size = sizeof(options),
						     .jobs = 2, .slice_bytes = 150 };
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
	assert_int_equal(rvt_session_cut(session, slices, &n), 0);
	rvt_session_close(session);
	session_teardown((void **)&f);
	return n;
}

/* One slice goes on where the one before ends, and that is behind the end of a message (MSEO 3). */
static void test_cuts(void **state)
{
	struct slice *slices;
	struct cpu cpu;
	size_t n = cut_recording(0, &slices, &cpu);

	(void)state;
	assert_true(n > 10);
	assert_int_equal(slices[0].from, 0);
	assert_int_equal(slices[n - 1].to, UINT64_MAX);
	for (size_t i = 1; i < n; i++) {
		uint64_t from = slices[i].from;

		assert_int_equal(from, slices[i - 1].to);
		assert_true(from > slices[i - 1].from);
		assert_int_equal(slices[i].record, from >= cpu.aux_offset);
		if (from > cpu.aux_offset)
			assert_int_equal(cpu.bytes[from - cpu.aux_offset - 1] & 3, 3);
	}
	free(cpu.bytes);
	free(slices);
}

/* Where two records claim the same bytes, these are decoded twice: not in slices. */
static void test_overlapping(void **state)
{
	struct slice *slices;
	struct cpu cpu;

	(void)state;
	assert_int_equal(cut_recording(1, &slices, &cpu), 1);
	assert_int_equal(slices[0].from, 0);
	assert_int_equal(slices[0].to, UINT64_MAX);
	free(cpu.bytes);
	free(slices);
}

/*
 * CTTE says in the beginning that it predicts branches, its parameters do not: several threads
 * decode it all the same.
 */
static void test_configured(void **state)
{
	struct rvt_session_totals stats;
	struct fixture *f;

	(void)state;
	session_setup((void **)&f);
	f->ctte = true;
	begin_recording(f, true, true);
	put_mmap(f, 10, 0, f->programs[0]);
	for (int i = 0; i < 20; i++) {
		run_program(f, 0, 10, 0);
		put_aux(f, 0, 10, 0);
	}
	read_stored(f, false, &stats);
	assert_true(check_slices_of(f, false, false, false, false, 450) > 20);
	session_teardown((void **)&f);
}

static size_t count_steps(const struct steps *steps, int32_t tid)
{
	size_t n = 0;

	for (size_t i = 0; i < steps->n; i++)
		n += steps->at[i].tid == tid;
	return n;
}

/*
 * All is in a record that has an exec, too, and the first of it shows that nothing ran before. What
 * comes later does not show that: code was mapped there before, too.
 */
static void test_exec_in_record(void **state)
{
	struct rvt_session_totals stats;
	struct fixture *f;

	(void)state;
	for (int etrace = 0; etrace < 2; etrace++) {
		session_setup((void **)&f);
		f->etrace = etrace;
		begin_recording(f, false, true);
		put_comm(f, 10, 0, false, "before");
		put_mmap(f, 10, 0, f->programs[1]);
		put_comm(f, 10, f->ticks * TICK_NS, true, "exec");
		put_mmap(f, 10, f->ticks * TICK_NS + 1, f->programs[0]);
		f->ticks += 2;
		/* nothing of 20 is mapped */
		run_steps(f, 0, 20, 2, 200);
		for (int i = 0; i < 20; i++)
			run_steps(f, 0, 10, 0, 500);
		put_aux(f, 0, 10, 0);
		read_stored(f, false, &stats);
		assert_int_equal(count_steps(&f->cpus[0].found, 10),
				 count_steps(&f->cpus[0].expected, 10));
		check_slices(f, true);
		session_teardown((void **)&f);
	}
}

/*
 * In a damaged file a record may be older than the one before it: what is mapped then does not
 * depend on which records a thread has decoded before.
 */
static void test_times_go_back(void **state)
{
	struct rvt_session_totals stats;
	struct fixture *f;

	(void)state;
	session_setup((void **)&f);
	begin_recording(f, false, true);
	put_mmap(f, 10, 0, f->programs[0]);
	for (int i = 0; i < 10; i++) {
		uint64_t ticks;

		if (i == 3)
			put_mmap(f, 10, f->ticks * TICK_NS, f->programs[1]);
		run_program(f, 0, 10, i < 3 ? 0 : 1);
		ticks = f->ticks + 1;
		f->ticks = i > 3 ? 1000 : ticks;
		put_aux(f, 0, 10, 0);
		f->ticks = ticks + 1;
	}
	read_stored(f, false, &stats);
	check_equal(&f->cpus[0]);
	check_slices(f, true);
	session_teardown((void **)&f);
}

int main(void)
{
	/*
	 * 100 slices, and not one thread again and again. Where one slice of what is damaged does
	 * not fit, one thread does all, and none counts; and what a thread decoded before can
	 * decide whether it fits (join.c). Of the first 8 recordings 2 fit always, in 432 slices:
	 * twice 25 for each of the 8.
	 */
	struct random_recordings whole = { .check = check_whole, .least = 100, .share = 60 };
	struct random_recordings damaged = { .check = check_damaged, .least = 25, .share = 60,
					     .damage = true };
	/* Sinks that several send to are not cut. */
	struct random_recordings shared = { .check = check_whole, .least = 10, .share = 120,
					    .shared = true };
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fits),
		cmocka_unit_test(test_uncounted),
		cmocka_unit_test(test_cuts),
		cmocka_unit_test(test_overlapping),
		cmocka_unit_test(test_configured),
		cmocka_unit_test(test_exec_in_record),
		cmocka_unit_test(test_times_go_back),
		{ "whole recordings", random_recordings_test, NULL, NULL, &whole },
		{ "damaged recordings", random_recordings_test, NULL, NULL, &damaged },
		{ "shared sinks", random_recordings_test, NULL, NULL, &shared },
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
