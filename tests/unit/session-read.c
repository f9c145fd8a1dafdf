// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Reads a recording of the fixture: run by run, counted, and live; all must say the same. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include "session/slices.h"
#include "session-fixture.h"

/* ---- run by run ---- */

static int found_runs(void *ctx, struct rvt_hart_flow *hart, const struct rvt_run *runs, size_t n)
{
	const int32_t tid = hart->task ? hart->task->tid : -1;
	struct fixture *f = ctx;

	assert_in_range(hart->cpu, 0, CPUS - 1);
	for (size_t i = 0; i < n; i++) {
		uint64_t pc = runs[i].block->pc;

		for (uint32_t j = 0; j < runs[i].first + runs[i].count; j++) {
			if (j >= runs[i].first)
				push_step(&f->cpus[hart->cpu].found, tid, pc);
			pc += 2 * runs[i].block->halfwords[j];
		}
	}
	return 0;
}

static int found_event(void *ctx, struct rvt_hart_flow *hart, const struct rvt_event *event)
{
	struct fixture *f = ctx;

	if (event->type == RVT_EVENT_LOST)
		f->cpus[hart->cpu].lost++;
	else if (event->type == RVT_EVENT_START)
		push_step(&f->cpus[hart->cpu].found_starts, hart->task ? hart->task->tid : -1,
			  event->pc);
	return 0;
}

/* ---- counting: in one go or in small slices, the same sums ---- */

static uint64_t hash(int cpu, int tid, uint64_t pc)
{
	uint64_t x = (pc ^ (uint64_t)tid << 40) * 0x9e3779b97f4a7c15ull + cpu + 1;

	x *= 0xd6e8feb86659fd93ull;
	return x ^ x >> 29;
}

int sum_run(void *ctx, struct rvt_hart_flow *hart, const struct rvt_run *run, uint64_t times)
{
	struct sums *sums = ctx;
	uint64_t pc = run->block->pc;

	for (uint32_t i = 0; i < run->first + run->count; i++) {
		if (i >= run->first)
			sums->insns += times *
				hash(hart->cpu, hart->task ? hart->task->tid : -1, pc);
		pc += 2 * run->block->halfwords[i];
	}
	sums->insns_n += times * run->count;
	return 0;
}

static int sum_edge(void *ctx, struct rvt_hart_flow *hart, uint64_t from, uint64_t to,
		    enum rvt_insn_class iclass, int64_t times)
{
	((struct sums *)ctx)->edges += (uint64_t)times * hash(hart->cpu, iclass, from * 3 + to);
	return 0;
}

static int sum_event(void *ctx, struct rvt_hart_flow *hart, const struct rvt_event *event)
{
	struct sums *sums = ctx;

	(void)hart;
	sums->lost += event->type == RVT_EVENT_LOST;
	sums->traps += event->type == RVT_EVENT_TRAP;
	return 0;
}

static int sum_aux(void *ctx, unsigned int buffer, const struct rvt_aux *aux)
{
	((struct sums *)ctx)->aux += hash(buffer, aux->flags, aux->offset + aux->size);
	return 0;
}

static void forget(void *ctx)
{
	*(struct sums *)ctx = (struct sums){ .resets = ((struct sums *)ctx)->resets + 1 };
}

/* Sums of the session, and of each thread. */
struct parts {
	struct sums all;	/* first: the session's context */
	struct sums part[4];
	unsigned int n;
};

static void *open_part(void *ctx)
{
	struct parts *parts = ctx;

	assert_true(parts->n < sizeof(parts->part) / sizeof(*parts->part));
	return &parts->part[parts->n++];
}

static int sum_wanted_event(void *ctx, struct rvt_hart_flow *hart, const struct rvt_event *event)
{
	assert_true(event->type == RVT_EVENT_LOST || event->type == RVT_EVENT_TRAP);
	return sum_event(ctx, hart, event);
}

static void forget_parts(void *ctx)
{
	struct parts *parts = ctx;

	forget(&parts->all);
	memset(parts->part, 0, sizeof(parts->part));
}

static struct sums add_parts(const struct parts *parts)
{
	struct sums sums = parts->all;

	for (unsigned int i = 0; i < parts->n; i++) {
		const struct sums *part = &parts->part[i];

		sums.insns += part->insns;
		sums.insns_n += part->insns_n;
		sums.edges += part->edges;
		sums.lost += part->lost;
		sums.traps += part->traps;
		sums.aux += part->aux;
	}
	return sums;
}

/* @apart: each thread counts by itself, and gets the events that it asks for. */
static void count_session(const struct fixture *f, unsigned int jobs, bool apart,
			  struct sums *sums, struct rvt_session_totals *stats)
{
	struct parts parts = { .n = 0 };
	const struct rvt_session_options options = {
		.size = sizeof(options),
		.params = f->params, .count = true, .count_threads = true, .jobs = jobs,
		.slice_bytes = 150,
	};
	const struct rvt_session_sink sink = {
		.size = sizeof(sink),
		.ctx = &parts, .count_run = sum_run, .count_edge = sum_edge,
		.event = apart ? sum_wanted_event : sum_event,
		.events = apart ? 1u << RVT_EVENT_LOST | 1u << RVT_EVENT_TRAP : 0,
		.aux = sum_aux, .reset = forget_parts,
	};
	const struct rvt_session_slices slices = { .ctx = &parts, .open = open_part };
	struct rvt_session *session;
	char *error;

	if (rvt_session_open(f->data, &options, &session, &error))
		fail_msg("%s", error);
	assert_int_equal(rvt_session_run_slices(session, &sink, apart ? &slices : NULL), 0);
	if (apart && !parts.all.resets)
		assert_int_equal(parts.all.insns_n, 0);
	*sums = add_parts(&parts);
	rvt_session_totals(session, stats);
	rvt_session_close(session);
}

static void check_counts(struct fixture *f)
{
	struct rvt_session_totals stats, more_stats;
	uint64_t insns = 0, lost = 0, n = 0;
	struct sums one, more;

	for (int cpu = 0; cpu < CPUS; cpu++) {
		const struct steps *found = &f->cpus[cpu].found;

		for (size_t i = 0; i < found->n; i++)
			insns += hash(cpu, found->at[i].tid, found->at[i].pc);
		n += found->n;
		lost += f->cpus[cpu].lost;
	}
	count_session(f, 1, false, &one, &stats);
	assert_int_equal(one.insns_n, n);
	assert_int_equal(one.insns, insns);
	assert_int_equal(one.lost, lost);
	for (unsigned int jobs = 2; jobs <= 4; jobs++) {
		count_session(f, jobs, jobs != 3, &more, &more_stats);
		f->resets += one.resets = more.resets;
		assert_memory_equal(&more, &one, sizeof(one));
		stats.stream.bytes = more_stats.stream.bytes;
		stats.stream.idle_bytes = more_stats.stream.idle_bytes;
		assert_memory_equal(&more_stats, &stats, sizeof(stats));
	}
}

/* ---- live: from what the recorder would hand over while it records ---- */

void write_head(struct rvt_perfdata *file, const char *path)
{
	struct rvt_perfdata_writer *writer;
	struct rvt_perfdata_record record;
	const void *meta = NULL;
	uint64_t pos = 0;
	size_t len;
	char *text;

	assert_int_equal(rvt_perfdata_create(path, &writer), 0);
	for (size_t i = 0; i < rvt_perfdata_n_events(file); i++) {
		const struct rvt_perfdata_event *event = rvt_perfdata_event(file, i);

		assert_int_equal(rvt_perfdata_add_event(writer, &event->attr, event->name,
							event->ids, event->n_ids), 0);
	}
	text = rvt_perfdata_feature(file, RVT_FEAT_RVTRACE_META, &meta, &len) ? NULL :
		strndup(meta, len);
	assert_int_equal(rvt_perfdata_begin(writer, text), 0);
	free(text);
	while (rvt_perfdata_next(file, &pos, &record) > 0)
		if (record.type > RVT_RECORD_FINISHED_ROUND && record.type != RVT_RECORD_AUXTRACE)
			assert_int_equal(rvt_perfdata_write(writer, record.header,
							    record.header->size), 0);
	for (int i = 0; i < CPUS; i++) {
		const struct rvt_record_auxtrace none = {
			.header = { RVT_RECORD_AUXTRACE, 0, sizeof(none) }, .idx = i, .tid = -1,
			.cpu = i };

		assert_int_equal(rvt_perfdata_write(writer, &none, sizeof(none)), 0);
	}
	assert_int_equal(rvt_perfdata_finish(writer), 0);
}

/* @per_round records between two rounds. */
static void feed_all(struct rvt_session *session, struct rvt_perfdata *file, unsigned int per_round)
{
	const struct perf_event_header round = { RVT_RECORD_FINISHED_ROUND, 0, sizeof(round) };
	struct rvt_perfdata_record record;
	unsigned int n = 0;
	uint64_t pos = 0;

	while (rvt_perfdata_next(file, &pos, &record) > 0) {
		size_t len = record.header->size + record.aux_len;

		if (record.type > RVT_RECORD_FINISHED_ROUND && record.type != RVT_RECORD_AUXTRACE)
			continue;
		assert_int_equal(rvt_session_feed(session, record.header, len), 0);
		if (++n % per_round == 0)
			assert_int_equal(rvt_session_feed(session, &round, sizeof(round)), 0);
	}
}

static void run_live(const struct fixture *f, const char *head, unsigned int per_round,
		     const struct rvt_session_options *options, const struct rvt_session_sink *sink)
{
	struct rvt_perfdata *file;
	struct rvt_session *session = NULL;
	char *error;

	if (rvt_perfdata_open(f->data, &file, &error) ||
	    (write_head(file, head), rvt_session_open(head, options, &session, &error)))
		fail_msg("%s", error);
	assert_int_equal(rvt_session_begin(session, sink), 0);
	feed_all(session, file, per_round);
	assert_int_equal(rvt_session_end(session), 0);
	rvt_session_close(session);
	rvt_perfdata_close(file);
}

/* Run by run; as @options say. */
static void check_live_runs(struct fixture *f, const char *head, unsigned int per_round,
			    const struct rvt_session_options *options)
{
	struct fixture *again = calloc(1, sizeof(*again));
	const struct rvt_session_sink sink = { .size = sizeof(sink), .ctx = again,
					       .runs = found_runs, .event = found_event };

	assert_non_null(again);
	run_live(f, head, per_round, options, &sink);
	for (int i = 0; i < CPUS; i++) {
		const struct cpu *a = &f->cpus[i], *b = &again->cpus[i];

		assert_int_equal(a->found.n, b->found.n);
		for (size_t k = 0; k < a->found.n; k++) {
			assert_int_equal(a->found.at[k].tid, b->found.at[k].tid);
			assert_int_equal(a->found.at[k].pc, b->found.at[k].pc);
		}
		assert_int_equal(a->lost, b->lost);
		assert_int_equal(a->found_starts.n, b->found_starts.n);
		free(b->found.at);
		free(b->found_starts.at);
	}
	free(again);
}

static void check_live(struct fixture *f)
{
	const struct rvt_session_options options = { .size = sizeof(options), .params = f->params };
	const struct rvt_session_options counting = { .size = sizeof(counting),
						      .params = f->params, .count = true,
						      .count_threads = true };
	struct rvt_session_options forgetting = options, forgetting_counts = counting;
	char head[] = "/tmp/rvtrace-head-XXXXXX";
	struct rvt_session_totals stats;
	struct sums one, live;

	forgetting.code_bytes = forgetting_counts.code_bytes = 1;
	close(mkstemp(head));
	count_session(f, 1, false, &one, &stats);
	for (unsigned int per_round = 1; per_round < 20; per_round += 6) {
		const struct rvt_session_sink sums = {
			.size = sizeof(sums),
			.ctx = &live, .count_run = sum_run, .count_edge = sum_edge,
			.event = sum_event, .aux = sum_aux, .reset = forget };

		check_live_runs(f, head, per_round, &options);
		/* Nothing that is known of code outlives a round. */
		check_live_runs(f, head, per_round, &forgetting);
		live = (struct sums){ .insns = 0 };
		run_live(f, head, per_round, &counting, &sums);
		assert_memory_equal(&live, &one, sizeof(one));
		live = (struct sums){ .insns = 0 };
		run_live(f, head, per_round, &forgetting_counts, &sums);
		assert_memory_equal(&live, &one, sizeof(one));
	}
	unlink(head);
}

uint64_t feed_from(struct rvt_session *session, struct rvt_perfdata *file, uint64_t from,
		   uint64_t to)
{
	const struct perf_event_header round = { RVT_RECORD_FINISHED_ROUND, 0, sizeof(round) };
	struct rvt_perfdata_record record;

	while (from < to && rvt_perfdata_next(file, &from, &record) > 0) {
		if (record.type > RVT_RECORD_FINISHED_ROUND && record.type != RVT_RECORD_AUXTRACE)
			continue;
		assert_int_equal(rvt_session_feed(session, record.header,
						  record.header->size + record.aux_len), 0);
		if (record.type == RVT_RECORD_AUXTRACE)
			assert_int_equal(rvt_session_feed(session, &round, sizeof(round)), 0);
	}
	return from;
}

void read_stored(struct fixture *f, bool by_cpu, struct rvt_session_totals *stats)
{
	const struct rvt_session_options options = { .size = sizeof(options),
						     .by_cpu = by_cpu, .params = f->params };
	const struct rvt_session_sink sink = { .size = sizeof(sink),
					       .ctx = f, .runs = found_runs, .event = found_event };
	struct rvt_session *session;
	char *error;

	assert_int_equal(rvt_perfdata_finish(f->writer), 0);
	f->writer = NULL;
	if (rvt_session_open(f->data, &options, &session, &error))
		fail_msg("%s", error);
	assert_int_equal(rvt_session_run(session, &sink), 0);
	rvt_session_totals(session, stats);
	rvt_session_close(session);
	check_counts(f);
}

void read_back(struct fixture *f, bool by_cpu, struct rvt_session_totals *stats)
{
	read_stored(f, by_cpu, stats);
	if (!f->overwritten)
		check_live(f);
}

static void compare(const struct steps *expected, const struct steps *found, const char *what)
{
	for (size_t i = 0; i < expected->n && i < found->n; i++)
		if (expected->at[i].pc != found->at[i].pc ||
		    expected->at[i].tid != found->at[i].tid)
			fail_msg("%s %zu: tid %d pc %#lx, not tid %d pc %#lx", what, i,
				 found->at[i].tid, (long)found->at[i].pc,
				 expected->at[i].tid, (long)expected->at[i].pc);
	assert_int_equal(found->n, expected->n);
}

void check_steps(const struct cpu *cpu)
{
	compare(&cpu->expected, &cpu->found, "instruction");
}

void check_starts(const struct cpu *cpu)
{
	compare(&cpu->starts, &cpu->found_starts, "start");
}

void check_equal(const struct cpu *cpu)
{
	check_steps(cpu);
	assert_int_equal(cpu->lost, 0);
}
