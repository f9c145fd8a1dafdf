// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * A whole recording, made here: random programs through the N-Trace encoder, with sideband, in a
 * perf.data. What the session says must be what the programs did, with the right cpu and thread.
 * Different programs lie at the same address in different processes, and before and after an exec,
 * so that a wrong address space cannot go unnoticed.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <cmocka.h>
#include <rvtrace/ntrace.h>
#include <rvtrace/session.h>
#include <rvtrace/switches.h>
#include "random-hart.h"

#define SAMPLE_TYPE (PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU)
#define PMU_TYPE 77
#define CPUS 2
#define PROGRAMS 3
#define STEPS 3000
#define TICK_NS 100
#define TRACE_ID 1
#define SIDE_ID 2
#define SWITCH_ID 3

/* Of the address sanitizer, which gcc has no header for: bytes of malloc() that were not freed. */
size_t __sanitizer_get_current_allocated_bytes(void);

struct step {
	int32_t tid;
	uint64_t pc;
};

struct steps {
	struct step *at;
	size_t n, room;
};

/* One cpu: its encoder, the bytes of the segment it is in, and what ran. */
struct cpu {
	struct rvt_ntrace_encoder *encoder;
	uint8_t *bytes;
	size_t len, room;
	uint64_t aux_offset;
	struct steps expected, found;
	size_t lost;
};

struct fixture {
	char data[40], programs[PROGRAMS][40];
	struct hart *harts[PROGRAMS];
	struct rvt_perfdata_writer *writer;
	struct cpu cpus[CPUS];
	uint64_t ticks;
	bool timed, context, packed, overwritten;
	unsigned int resets;	/* parts that did not fit together */
	const char *params;	/* file; NULL: none */
};

struct trailer {
	int32_t pid, tid;
	uint64_t time;
	uint32_t cpu, reserved;
	uint64_t id;
};

static void push(struct steps *steps, int32_t tid, uint64_t pc)
{
	if (steps->n == steps->room) {
		steps->room = steps->room * 2 + 4096;
		steps->at = reallocarray(steps->at, steps->room, sizeof(*steps->at));
		assert_non_null(steps->at);
	}
	steps->at[steps->n++] = (struct step){ tid, pc };
}

/* ---- making ---- */

static struct fixture *clock_of;

static uint64_t now(void *ctx)
{
	(void)ctx;
	return clock_of->ticks++;
}

static int emit(void *ctx, const uint8_t *bytes, size_t len)
{
	struct cpu *cpu = ctx;

	if (cpu->len + len > cpu->room) {
		cpu->room = cpu->room * 2 + 4096;
		cpu->bytes = realloc(cpu->bytes, cpu->room);
		assert_non_null(cpu->bytes);
	}
	memcpy(cpu->bytes + cpu->len, bytes, len);
	cpu->len += len;
	return 0;
}

static void put(struct fixture *f, struct perf_event_header *head, size_t len, const char *name,
		const struct trailer *trailer)
{
	uint64_t record[64] = { 0 };
	size_t name_len = name ? (strlen(name) + 8) & ~7ul : 0;

	head->size = len + name_len + sizeof(*trailer);
	memcpy(record, head, len);
	if (name)
		strcpy((char *)record + len, name);
	memcpy((char *)record + len + name_len, trailer, sizeof(*trailer));
	assert_int_equal(rvt_perfdata_write(f->writer, record, head->size), 0);
}

static void put_comm(struct fixture *f, int32_t pid, uint64_t time, bool exec, const char *comm)
{
	struct {
		struct perf_event_header header;
		int32_t pid, tid;
	} head = { { PERF_RECORD_COMM, exec ? PERF_RECORD_MISC_COMM_EXEC : 0, 0 }, pid, pid };
	const struct trailer trailer = { pid, pid, time, 0, 0, SIDE_ID };

	put(f, &head.header, sizeof(head), comm, &trailer);
}

static void put_mmap(struct fixture *f, int32_t pid, uint64_t time, const char *path)
{
	struct {
		struct perf_event_header header;
		int32_t pid, tid;
		uint64_t addr, len, pgoff, inode[3];
		uint32_t prot, flags;
	} head = { { PERF_RECORD_MMAP2, PERF_RECORD_MISC_USER, 0 }, pid, pid, HART_BASE, HART_BYTES,
		   0, { 0 }, PROT_READ | PROT_EXEC, MAP_PRIVATE };
	const struct trailer trailer = { pid, pid, time, 0, 0, SIDE_ID };

	put(f, &head.header, sizeof(head), path, &trailer);
}

static void put_switch(struct fixture *f, int cpu, int32_t pid, uint64_t time)
{
	struct perf_event_header head = { PERF_RECORD_SWITCH, 0, 0 };
	const struct trailer trailer = { pid, pid, time, cpu, 0, SIDE_ID };

	put(f, &head, sizeof(head), NULL, &trailer);
}

/* As the recorder's BPF program writes it; @lie: bytes of raw data that are not there. */
static void put_switch_sample(struct fixture *f, int cpu, int32_t prev, int32_t next, uint64_t time,
			      unsigned short flags, uint32_t lie)
{
	struct {
		struct perf_event_header header;
		uint64_t id;
		int32_t pid, tid;
		uint64_t time;
		uint32_t cpu, reserved;
		uint32_t raw_len;
		struct rvt_switch raw;
	} sample = { { PERF_RECORD_SAMPLE, 0, sizeof(sample) }, SWITCH_ID, prev, prev, time, cpu, 0,
		     sizeof(sample.raw) + lie, { prev, prev, next, next, 0, flags } };

	assert_int_equal(rvt_perfdata_write(f->writer, &sample, sizeof(sample)), 0);
}

/* What the encoder sent since the last time becomes one AUX record of @cpu. */
/* As `record -z` writes it: in pieces. */
static void put_packed(struct fixture *f, struct cpu *cpu, struct rvt_record_auxtrace chunk)
{
	for (size_t at = 0, n; at < cpu->len; at += n) {
		size_t room = 0, len;
		void *blob = NULL;

		n = cpu->len - at < 1000 ? cpu->len - at : 1000;
		assert_int_equal(rvt_aux_pack(cpu->bytes + at, n, 1, &blob, &room, &len), 0);
		assert_int_equal(len % 8, 0);
		chunk.offset = cpu->aux_offset + at;
		chunk.unpacked = n;
		chunk.size = len;
		assert_int_equal(rvt_perfdata_write(f->writer, &chunk, sizeof(chunk)), 0);
		assert_int_equal(rvt_perfdata_write(f->writer, blob, len), 0);
		free(blob);
	}
	cpu->aux_offset += cpu->len;
	cpu->len = 0;
}

static void put_aux(struct fixture *f, int n, int32_t pid, uint64_t flags)
{
	struct cpu *cpu = &f->cpus[n];
	struct {
		struct perf_event_header header;
		uint64_t offset, size, flags;
	} aux = { { PERF_RECORD_AUX, 0, 0 }, cpu->aux_offset, cpu->len, flags };
	struct rvt_record_auxtrace chunk = {
		.header = { RVT_RECORD_AUXTRACE, 0, sizeof(chunk) }, .size = (cpu->len + 7) & ~7ul,
		.offset = cpu->aux_offset, .idx = n, .tid = -1, .cpu = n };
	const struct trailer trailer = { pid, pid, f->ticks * TICK_NS, n, 0, TRACE_ID };
	static const uint8_t zeros[8];

	put(f, &aux.header, sizeof(aux), NULL, &trailer);
	if (f->packed) {
		put_packed(f, cpu, chunk);
		return;
	}
	assert_int_equal(rvt_perfdata_write(f->writer, &chunk, sizeof(chunk)), 0);
	assert_int_equal(rvt_perfdata_write(f->writer, cpu->bytes, cpu->len), 0);
	assert_int_equal(rvt_perfdata_write(f->writer, zeros, chunk.size - cpu->len), 0);
	cpu->aux_offset += cpu->len;
	cpu->len = 0;
}

static void retire(void *ctx, const struct rvt_retire *run)
{
	rvt_ntrace_encoder_retire(((struct cpu *)ctx)->encoder, run);
}

static void trap(void *ctx, const struct rvt_trap *event)
{
	rvt_ntrace_encoder_trap(((struct cpu *)ctx)->encoder, event);
}

/* @pid runs @program on @cpu for so many steps, traced. */
static void run_steps(struct fixture *f, int n, int32_t pid, int program, size_t steps)
{
	struct cpu *cpu = &f->cpus[n];
	const struct hart_sink sink = { cpu, retire, trap };
	const struct hart_truth *truth;
	size_t before, after;

	hart_truth(f->harts[program], &before);
	if (f->context)
		rvt_ntrace_encoder_context(cpu->encoder, false, pid);
	rvt_ntrace_encoder_start(cpu->encoder, RVT_NTRACE_SYNC_TRACE_ENABLE);
	hart_run(f->harts[program], &sink, steps);
	rvt_ntrace_encoder_stop(cpu->encoder, RVT_NTRACE_EV_TRACE_DISABLED,
				hart_pc(f->harts[program]));
	truth = hart_truth(f->harts[program], &after);
	for (size_t i = before; i < after; i++)
		if (truth[i].type == HART_INSN)
			push(&cpu->expected, pid, truth[i].pc);
	f->ticks += 10;
}

static void run(struct fixture *f, int n, int32_t pid, int program)
{
	run_steps(f, n, pid, program, STEPS);
}

static void begin(struct fixture *f, bool timed, bool context)
{
	struct perf_event_attr attr = { .type = PMU_TYPE, .sample_id_all = 1,
					.sample_type = SAMPLE_TYPE };
	const struct rvt_record_time_conv conv = {
		.header = { RVT_RECORD_TIME_CONV, 0, sizeof(conv) }, .time_shift = 10,
		.time_mult = TICK_NS << 10, .cap_user_time_zero = 1 };
	const uint64_t trace_id = TRACE_ID, side_id = SIDE_ID, switch_id = SWITCH_ID;
	char meta[512] = "rvtrace 1\npmu_type = 77\n";

	f->timed = timed;
	f->context = context;
	f->ticks = 1000;
	clock_of = f;
	for (int i = 0; i < CPUS; i++) {
		const struct rvt_ntrace_encoder_config config = {
			.dialect = RVT_DIALECT_NTRACE_1_0, .mode = RVT_MODE_HTM, .xlen = 64,
			.context = context, .timestamp = timed ? RVT_TIMESTAMP_DELTA :
								 RVT_TIMESTAMP_NONE,
			.sync_mode = 3, .sync_max = 4, .icnt_bits = 22, .hist_bits = 32,
			.hrepeat_bits = 18, .emit = emit, .now = timed ? now : NULL,
			.ctx = &f->cpus[i] };

		assert_int_equal(rvt_ntrace_encoder_create(&config, &f->cpus[i].encoder), 0);
		sprintf(meta + strlen(meta), "\n[encoder %d]\ncpu = %d\nsrc = 0\nprotocol = "
					     "ntrace\n"
			"mode = htm\ntimestamp = %s\n", i, i, timed ? "delta" : "none");
	}
	assert_int_equal(rvt_perfdata_create(f->data, &f->writer), 0);
	assert_int_equal(rvt_perfdata_add_event(f->writer, &attr, "rvtrace//", &trace_id, 1), 0);
	attr.type = PERF_TYPE_SOFTWARE;
	assert_int_equal(rvt_perfdata_add_event(f->writer, &attr, "dummy:u", &side_id, 1), 0);
	attr.sample_type |= PERF_SAMPLE_RAW;
	assert_int_equal(rvt_perfdata_add_event(f->writer, &attr, RVT_SWITCH_EVENT, &switch_id, 1), 0);
	assert_int_equal(rvt_perfdata_begin(f->writer, meta), 0);
	if (timed)
		assert_int_equal(rvt_perfdata_write(f->writer, &conv, sizeof(conv)), 0);
}

/* ---- reading ---- */

static int found_runs(void *ctx, struct rvt_lane *lane, const struct rvt_run *runs, size_t n)
{
	struct fixture *f = ctx;

	assert_in_range(lane->cpu, 0, CPUS - 1);
	for (size_t i = 0; i < n; i++) {
		uint64_t pc = runs[i].block->pc;

		for (uint32_t j = 0; j < runs[i].first + runs[i].count; j++) {
			if (j >= runs[i].first)
				push(&f->cpus[lane->cpu].found, lane->task ? lane->task->tid : -1,
				     pc);
			pc += 2 * runs[i].block->halfwords[j];
		}
	}
	return 0;
}

static int found_event(void *ctx, struct rvt_lane *lane, const struct rvt_event *event)
{
	struct fixture *f = ctx;

	if (event->type == RVT_EVENT_LOST)
		f->cpus[lane->cpu].lost++;
	return 0;
}

/* ---- counting: in one go or in small parts, the same sums ---- */

struct sums {
	uint64_t insns, insns_n, edges, lost, traps, aux;
	unsigned int resets;
};

static uint64_t hash(int cpu, int tid, uint64_t pc)
{
	uint64_t x = (pc ^ (uint64_t)tid << 40) * 0x9e3779b97f4a7c15ull + cpu + 1;

	x *= 0xd6e8feb86659fd93ull;
	return x ^ x >> 29;
}

static int sum_run(void *ctx, struct rvt_lane *lane, const struct rvt_run *run, uint64_t times)
{
	struct sums *sums = ctx;
	uint64_t pc = run->block->pc;

	for (uint32_t i = 0; i < run->first + run->count; i++) {
		if (i >= run->first)
			sums->insns += times * hash(lane->cpu, lane->task ? lane->task->tid : -1, pc);
		pc += 2 * run->block->halfwords[i];
	}
	sums->insns_n += times * run->count;
	return 0;
}

static int sum_edge(void *ctx, struct rvt_lane *lane, uint64_t from, uint64_t to,
		    enum rvt_insn_class iclass, int64_t times)
{
	((struct sums *)ctx)->edges += (uint64_t)times * hash(lane->cpu, iclass, from * 3 + to);
	return 0;
}

static int sum_event(void *ctx, struct rvt_lane *lane, const struct rvt_event *event)
{
	struct sums *sums = ctx;

	(void)lane;
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

static void count(const struct fixture *f, unsigned int jobs, struct sums *sums,
		  struct rvt_session_stats *stats)
{
	const struct rvt_session_options options = {
		.params = f->params, .count = true, .count_threads = true, .jobs = jobs,
		.part_bytes = 150,
	};
	const struct rvt_session_sink sink = {
		.ctx = sums, .count_run = sum_run, .count_edge = sum_edge, .event = sum_event,
		.aux = sum_aux, .reset = forget,
	};
	struct rvt_session *session;
	char *error;

	*sums = (struct sums){ .insns = 0 };
	if (rvt_session_open(f->data, &options, &session, &error))
		fail_msg("%s", error);
	assert_int_equal(rvt_session_run(session, &sink), 0);
	rvt_session_stats(session, stats);
	rvt_session_close(session);
}

static void check_counts(struct fixture *f)
{
	struct rvt_session_stats stats, more_stats;
	uint64_t insns = 0, lost = 0, n = 0;
	struct sums one, more;

	for (int cpu = 0; cpu < CPUS; cpu++) {
		const struct steps *found = &f->cpus[cpu].found;

		for (size_t i = 0; i < found->n; i++)
			insns += hash(cpu, found->at[i].tid, found->at[i].pc);
		n += found->n;
		lost += f->cpus[cpu].lost;
	}
	count(f, 1, &one, &stats);
	assert_int_equal(one.insns_n, n);
	assert_int_equal(one.insns, insns);
	assert_int_equal(one.lost, lost);
	for (unsigned int jobs = 2; jobs <= 4; jobs++) {
		count(f, jobs, &more, &more_stats);
		f->resets += one.resets = more.resets;
		assert_memory_equal(&more, &one, sizeof(one));
		stats.stream.bytes = more_stats.stream.bytes;
		stats.stream.idle_bytes = more_stats.stream.idle_bytes;
		assert_memory_equal(&more_stats, &stats, sizeof(stats));
	}
}

/* ---- live: from what the recorder would hand over while it records ---- */

/* All of the recording that is there before anything has happened. */
static void write_head(struct rvt_perfdata *file, const char *path)
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
	struct rvt_session *session;
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

static void check_live(struct fixture *f)
{
	const struct rvt_session_options options = { .params = f->params };
	const struct rvt_session_options counting = { .params = f->params, .count = true,
						      .count_threads = true };
	char head[] = "/tmp/rvtrace-head-XXXXXX";
	struct rvt_session_stats stats;
	struct sums one, live;

	close(mkstemp(head));
	count(f, 1, &one, &stats);
	for (unsigned int per_round = 1; per_round < 20; per_round += 6) {
		struct fixture *again = calloc(1, sizeof(*again));
		const struct rvt_session_sink sink = { .ctx = again, .runs = found_runs,
						       .event = found_event };
		const struct rvt_session_sink sums = {
			.ctx = &live, .count_run = sum_run, .count_edge = sum_edge,
			.event = sum_event, .aux = sum_aux, .reset = forget };

		assert_non_null(again);
		run_live(f, head, per_round, &options, &sink);
		for (int i = 0; i < CPUS; i++) {
			const struct cpu *a = &f->cpus[i], *b = &again->cpus[i];

			assert_int_equal(a->found.n, b->found.n);
			for (size_t k = 0; k < a->found.n; k++) {
				assert_int_equal(a->found.at[k].tid, b->found.at[k].tid);
				assert_int_equal(a->found.at[k].pc, b->found.at[k].pc);
			}
			assert_int_equal(a->lost, b->lost);
			free(b->found.at);
		}
		free(again);
		live = (struct sums){ .insns = 0 };
		run_live(f, head, per_round, &counting, &sums);
		assert_memory_equal(&live, &one, sizeof(one));
	}
	unlink(head);
}

/* Feeds what was written from @from on; returns up to where. */
static uint64_t feed_from(struct rvt_session *session, struct rvt_perfdata *file, uint64_t from,
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

static void read_back(struct fixture *f, bool by_cpu, struct rvt_session_stats *stats)
{
	const struct rvt_session_options options = { .by_cpu = by_cpu, .params = f->params };
	const struct rvt_session_sink sink = { .ctx = f, .runs = found_runs, .event = found_event };
	struct rvt_session *session;
	char *error;

	assert_int_equal(rvt_perfdata_finish(f->writer), 0);
	f->writer = NULL;
	if (rvt_session_open(f->data, &options, &session, &error))
		fail_msg("%s", error);
	assert_int_equal(rvt_session_run(session, &sink), 0);
	rvt_session_stats(session, stats);
	rvt_session_close(session);
	check_counts(f);
	if (!f->overwritten)
		check_live(f);
}

static void check_steps(const struct cpu *cpu)
{
	for (size_t i = 0; i < cpu->expected.n && i < cpu->found.n; i++)
		if (cpu->expected.at[i].pc != cpu->found.at[i].pc ||
		    cpu->expected.at[i].tid != cpu->found.at[i].tid)
			fail_msg("instruction %zu: tid %d pc %#lx, not tid %d pc %#lx", i,
				 cpu->found.at[i].tid, (long)cpu->found.at[i].pc,
				 cpu->expected.at[i].tid, (long)cpu->expected.at[i].pc);
	assert_int_equal(cpu->found.n, cpu->expected.n);
}

static void check_equal(const struct cpu *cpu)
{
	check_steps(cpu);
	assert_int_equal(cpu->lost, 0);
}

/* ---- tests ---- */

static void processes_and_exec(void **state)
{
	struct fixture *f = *state;
	struct rvt_session_stats stats;

	begin(f, true, true);
	put_comm(f, 10, 0, false, "ten");
	put_mmap(f, 10, 0, f->programs[0]);
	put_comm(f, 20, 0, false, "twenty");
	put_mmap(f, 20, 0, f->programs[1]);
	run(f, 0, 10, 0);
	run(f, 1, 20, 1);
	run(f, 0, 20, 1);	/* migrates, with no new record */
	put_aux(f, 0, 20, 0);
	put_aux(f, 1, 20, 0);
	run(f, 1, 10, 0);
	/* 10 executes another program, which comes to lie where the first was */
	put_comm(f, 10, f->ticks * TICK_NS, true, "exec");
	put_mmap(f, 10, f->ticks * TICK_NS + 1, f->programs[2]);
	f->ticks += 2;
	run(f, 1, 10, 2);
	put_aux(f, 1, 10, 0);
	run(f, 0, 10, 2);
	put_aux(f, 0, 10, 0);
	read_back(f, false, &stats);
	check_equal(&f->cpus[0]);
	check_equal(&f->cpus[1]);
	assert_int_equal(f->resets, 0);
	assert_int_equal(stats.flow.insns, f->cpus[0].expected.n + f->cpus[1].expected.n);
	assert_int_equal(stats.missing_bytes, 0);
	assert_int_equal(stats.trace_bytes, f->cpus[0].aux_offset + f->cpus[1].aux_offset);
}

static void compressed(void **state)
{
	((struct fixture *)*state)->packed = true;
	processes_and_exec(state);
}

/*
 * Much trace and sideband of little code: at the end a live session has no more memory than after a tenth. (Events are
 * forgotten some thousands at a time: a tenth is more than that.)
 */
static void live_memory(void **state)
{
	struct fixture *f = *state;
	const struct rvt_session_options options = { .count = true };
	char head[] = "/tmp/rvtrace-head-XXXXXX";
	struct sums sums = { .insns = 0 };
	const struct rvt_session_sink sink = { .ctx = &sums, .count_run = sum_run };
	uint64_t tenth = 0, fed, pos, insns = 0;
	size_t before = 0, after;
	struct rvt_perfdata *file;
	struct rvt_session *session;
	char *error;

	begin(f, true, true);
	put_mmap(f, 10, 0, f->programs[0]);
	put_mmap(f, 20, 0, f->programs[1]);
	for (int i = 0; i < 100; i++) {
		if (i == 10)
			tenth = rvt_perfdata_written(f->writer);
		for (int k = 0; k < 1000; k++)
			put_switch(f, k % CPUS, k % CPUS ? 20 : 10, f->ticks * TICK_NS);
		for (int n = 0; n < CPUS; n++) {
			run_steps(f, n, n ? 20 : 10, n, STEPS / 10);
			put_aux(f, n, n ? 20 : 10, 0);
			insns += f->cpus[n].expected.n;
			f->cpus[n].expected.n = 0;
		}
	}
	fed = rvt_perfdata_written(f->writer) - tenth;
	assert_int_equal(rvt_perfdata_finish(f->writer), 0);
	f->writer = NULL;
	close(mkstemp(head));
	if (rvt_perfdata_open(f->data, &file, &error) ||
	    (write_head(file, head), rvt_session_open(head, &options, &session, &error)))
		fail_msg("%s", error);
	assert_int_equal(rvt_session_begin(session, &sink), 0);
	pos = feed_from(session, file, 0, tenth);
	before = __sanitizer_get_current_allocated_bytes();
	feed_from(session, file, pos, UINT64_MAX);
	after = __sanitizer_get_current_allocated_bytes();
	/* A table may still double once. */
	if (after > before + fed / 20)
		fail_msg("%zu bytes, then %zu, for %zu bytes", before, after, (size_t)fed);
	assert_int_equal(rvt_session_end(session), 0);
	assert_int_equal(sums.insns_n, insns);
	rvt_session_close(session);
	rvt_perfdata_close(file);
	unlink(head);
}

/* Without Ownership the context switches tell who runs. */
static void switches_instead_of_context(void **state)
{
	struct fixture *f = *state;
	struct rvt_session_stats stats;

	begin(f, true, false);
	put_mmap(f, 10, 0, f->programs[0]);
	put_mmap(f, 20, 0, f->programs[1]);
	put_switch(f, 0, 10, f->ticks * TICK_NS - 1);
	run(f, 0, 10, 0);
	put_switch(f, 0, 20, f->ticks * TICK_NS - 1);
	run(f, 0, 20, 1);
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
 * So do those that BPF told. After one that is damaged, and after one that says that further ones are not
 * told, the flow is nobody's until the next.
 */
static void switches_by_bpf(void **state)
{
	struct fixture *f = *state;
	struct rvt_session_options options = { 0 };
	struct rvt_session_stats stats;
	struct rvt_session *session;
	const char *warning;
	char *error;
	size_t before;

	begin(f, true, false);
	put_mmap(f, 10, 0, f->programs[0]);
	put_mmap(f, 20, 0, f->programs[1]);
	put_switch_sample(f, 0, 0, 10, f->ticks * TICK_NS - 1, 0, 0);
	run(f, 0, 10, 0);
	put_switch_sample(f, 0, 10, 20, f->ticks * TICK_NS - 1, 0, 0);
	run(f, 0, 20, 1);
	before = f->cpus[0].expected.n;
	put_switch_sample(f, 0, 20, 10, f->ticks * TICK_NS - 1, 0, 1);
	run(f, 0, 10, 0);
	forget_expected(f, before);
	put_switch_sample(f, 0, 10, 20, f->ticks * TICK_NS - 1, 0, 0);
	run(f, 0, 20, 1);
	before = f->cpus[0].expected.n;
	put_switch_sample(f, 0, 20, 10, f->ticks * TICK_NS - 1, RVT_SWITCH_LAST, 0);
	run(f, 0, 10, 0);
	forget_expected(f, before);
	put_switch_sample(f, 0, 30, 20, f->ticks * TICK_NS - 1, 0, 0);
	run(f, 0, 20, 1);
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

/*
 * Without time stamps a mapping counts from the AUX record on within which it was made; but a
 * record that ends with an exec is of the program before.
 */
static void no_timestamps(void **state)
{
	struct fixture *f = *state;
	struct rvt_session_stats stats;

	begin(f, false, true);
	put_mmap(f, 10, f->ticks * TICK_NS, f->programs[0]);
	run(f, 0, 10, 0);
	put_aux(f, 0, 10, 0);
	run(f, 0, 10, 0);
	put_comm(f, 10, f->ticks * TICK_NS, true, "exec");
	put_mmap(f, 10, f->ticks * TICK_NS + 1, f->programs[2]);
	f->ticks += 10;
	put_aux(f, 0, 10, 0);
	run(f, 0, 10, 2);
	put_aux(f, 0, 10, 0);
	read_back(f, true, &stats);
	check_equal(&f->cpus[0]);
}

/* A flagged record is a gap: it is reported once, and the next sync is picked up. */
static void truncated_record(void **state)
{
	struct fixture *f = *state;
	struct rvt_session_stats stats;
	struct steps *expected = &f->cpus[0].expected;
	size_t cut;

	begin(f, true, true);
	put_mmap(f, 10, 0, f->programs[0]);
	run(f, 0, 10, 0);
	cut = expected->n;
	f->cpus[0].len -= 10;	/* the end did not fit */
	put_aux(f, 0, 10, PERF_AUX_FLAG_TRUNCATED);
	run(f, 0, 10, 0);
	put_aux(f, 0, 10, 0);
	read_back(f, true, &stats);
	assert_int_equal(f->cpus[0].lost, 1);
	assert_int_equal(stats.truncated, 1);
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

/*
 * A buffer in which old trace gave way to new: three records, each of which says where it ends, and what the buffer held
 * in the end, which begins amid the second. That is decoded from its next synchronisation on, to the end.
 */
static void overwritten(void **state)
{
	struct fixture *f = *state;
	struct cpu *cpu = &f->cpus[0];
	struct rvt_session_stats stats;
	uint8_t held[1 << 16];
	size_t ends[3], expected[3], keep;
	static const uint8_t zeros[8];

	f->overwritten = true;
	begin(f, true, true);
	put_mmap(f, 10, 0, f->programs[0]);
	for (int i = 0; i < 3; i++) {
		struct {
			struct perf_event_header header;
			uint64_t offset, size, flags;
		} aux = { { PERF_RECORD_AUX, 0, 0 }, 0, 0, PERF_AUX_FLAG_OVERWRITE };
		struct trailer trailer = { 10, 10, 0, 0, 0, TRACE_ID };
		size_t before = cpu->len;

		run(f, 0, 10, 0);
		expected[i] = cpu->expected.n;
		ends[i] = cpu->len;
		aux.offset = cpu->len;
		aux.size = cpu->len - before;
		trailer.time = f->ticks * TICK_NS;
		put(f, &aux.header, sizeof(aux), NULL, &trailer);
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
	assert_int_equal(stats.missing_bytes, 0);
	/* More than the third run, less than the second and third; and exactly the last that ran */
	assert_true(cpu->found.n > expected[2] - expected[1]);
	assert_true(cpu->found.n < expected[2] - expected[0]);
	for (size_t i = 1; i <= cpu->found.n; i++)
		assert_int_equal(cpu->found.at[cpu->found.n - i].pc,
				 cpu->expected.at[cpu->expected.n - i].pc);
}

/* Code that is missing is one gap for as long as it takes. */
static void missing_code(void **state)
{
	struct fixture *f = *state;
	struct rvt_session_stats stats;

	begin(f, true, true);
	put_mmap(f, 10, 0, "/nonexistent/program");
	put_mmap(f, 20, 0, f->programs[1]);
	run(f, 0, 10, 0);
	f->cpus[0].expected.n = 0;
	run(f, 0, 20, 1);
	put_aux(f, 0, 20, 0);
	read_back(f, true, &stats);
	assert_int_equal(f->cpus[0].lost, 1);
	f->cpus[0].lost = 0;
	check_equal(&f->cpus[0]);
}

static void refused(void **state)
{
	struct fixture *f = *state;
	struct rvt_session_options options = { 0 };
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

/* An AUXTRACE_INFO record as others write it. */
struct foreign_info {
	struct perf_event_header header;
	uint32_t type, reserved;
	uint64_t priv[1 + 7 * CPUS];
};

static const struct foreign_info upstream_info = {
	{ RVT_RECORD_AUXTRACE_INFO, 0, 24 }, 10, 0, { PMU_TYPE }
};

/* for each cpu: number, count of parameters, format, context, inhibit, bits, id */
static const struct foreign_info spacemit_info = {
	{ RVT_RECORD_AUXTRACE_INFO, 0, sizeof(struct foreign_info) }, 10, 0,
	{ (uint64_t)PMU_TYPE << 32 | CPUS, 0, 7, 1, 1, 1, 0, 0, 1, 7, 1, 1, 1, 0, 0 }
};

static void begin_foreign(struct fixture *f, const struct foreign_info *info, bool timed,
			  bool context)
{
	const struct rvt_record_time_conv conv = {
		.header = { RVT_RECORD_TIME_CONV, 0, sizeof(conv) }, .time_shift = 10,
		.time_mult = TICK_NS << 10, .cap_user_time_zero = 1 };
	struct perf_event_attr attr = { .type = PMU_TYPE, .sample_id_all = 1,
					.sample_type = SAMPLE_TYPE };
	const uint64_t trace_id = TRACE_ID, side_id = SIDE_ID;

	begin(f, timed, context);
	rvt_perfdata_abandon(f->writer);
	assert_int_equal(rvt_perfdata_create(f->data, &f->writer), 0);
	assert_int_equal(rvt_perfdata_add_event(f->writer, &attr, "rvtrace//", &trace_id, 1), 0);
	attr.type = PERF_TYPE_SOFTWARE;
	assert_int_equal(rvt_perfdata_add_event(f->writer, &attr, "dummy:u", &side_id, 1), 0);
	assert_int_equal(rvt_perfdata_begin(f->writer, NULL), 0);
	assert_int_equal(rvt_perfdata_write(f->writer, info, info->header.size), 0);
	if (timed)
		assert_int_equal(rvt_perfdata_write(f->writer, &conv, sizeof(conv)), 0);
}

/* Two threads on two cpus, as far as the trace or the AUX records tell them apart. */
static void run_foreign(struct fixture *f)
{
	put_mmap(f, 10, 0, f->programs[0]);
	put_mmap(f, 20, 0, f->programs[1]);
	run(f, 0, 10, 0);
	put_aux(f, 0, 10, 0);
	run(f, 1, 20, 1);
	put_aux(f, 1, 20, 0);
	run(f, 0, 20, 1);
	put_aux(f, 0, 20, 0);
}

static void read_foreign(struct fixture *f, const char *params)
{
	struct rvt_session_stats stats;
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
	const struct rvt_session_options options = { 0 };
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

static void spacemit(void **state)
{
	begin_foreign(*state, &spacemit_info, false, true);
	run_foreign(*state);
	read_foreign(*state, "");
}

/* What the record lacks, the kind of time stamps, comes from a file. */
static void spacemit_with_parameters(void **state)
{
	begin_foreign(*state, &spacemit_info, true, true);
	run_foreign(*state);
	read_foreign(*state, "protocol = ntrace\nmode = htm\ntimestamp = delta\n");
}

static void make_name(char *name, const char *template)
{
	int fd;

	strcpy(name, template);
	fd = mkstemp(name);
	assert_true(fd >= 0);
	close(fd);
}

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	make_name(f->data, "/tmp/rvtrace-session-XXXXXX");
	for (int i = 0; i < PROGRAMS; i++) {
		FILE *out;

		make_name(f->programs[i], "/tmp/rvtrace-program-XXXXXX");
		f->harts[i] = hart_create(1000 + i, false);
		assert_non_null(f->harts[i]);
		out = fopen(f->programs[i], "w");
		assert_non_null(out);
		assert_int_equal(fwrite(hart_code(f->harts[i]), 1, HART_BYTES, out), HART_BYTES);
		fclose(out);
	}
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	rvt_perfdata_abandon(f->writer);
	unlink(f->data);
	for (int i = 0; i < PROGRAMS; i++) {
		unlink(f->programs[i]);
		hart_destroy(f->harts[i]);
	}
	for (int i = 0; i < CPUS; i++) {
		rvt_ntrace_encoder_destroy(f->cpus[i].encoder);
		free(f->cpus[i].bytes);
		free(f->cpus[i].expected.at);
		free(f->cpus[i].found.at);
	}
	free(f);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(processes_and_exec, setup, teardown),
		cmocka_unit_test_setup_teardown(compressed, setup, teardown),
		cmocka_unit_test_setup_teardown(live_memory, setup, teardown),
		cmocka_unit_test_setup_teardown(switches_instead_of_context, setup, teardown),
		cmocka_unit_test_setup_teardown(switches_by_bpf, setup, teardown),
		cmocka_unit_test_setup_teardown(no_timestamps, setup, teardown),
		cmocka_unit_test_setup_teardown(truncated_record, setup, teardown),
		cmocka_unit_test_setup_teardown(overwritten, setup, teardown),
		cmocka_unit_test_setup_teardown(missing_code, setup, teardown),
		cmocka_unit_test_setup_teardown(upstream_without_parameters, setup, teardown),
		cmocka_unit_test_setup_teardown(upstream_with_parameters, setup, teardown),
		cmocka_unit_test_setup_teardown(spacemit, setup, teardown),
		cmocka_unit_test_setup_teardown(spacemit_with_parameters, setup, teardown),
		cmocka_unit_test_setup_teardown(refused, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
