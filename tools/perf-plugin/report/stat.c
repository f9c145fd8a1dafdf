// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* `perf rvtrace stat`: how much trace a recording has, how dense it is, and what was lost. */
#include <errno.h>
#include <linux/perf_event.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "common/cmd.h"
#include "common/color.h"
#include "common/json.h"
#include "common/transfers.h"
#include "common/view.h"
#include "session/access.h"

#define MAX_CPUS 4096
#define CLOCK_NS 1000000	/* a time stamp and its record's time may differ by this much */

struct cpu_counts {
	bool used;
	uint64_t insns, traps, gaps, trace_bytes;
	uint64_t stored_bytes;	/* bytes of AUX data in the file */
	uint64_t lost;		/* AUX records after which trace is missing */
	bool timed;		/* .first and .last are known */
	uint64_t first, last;	/* time, ns */
};

struct counts {
	struct view *view;
	struct cpu_counts *cpus;
	uint64_t errors;
	uint64_t from, to;	/* when the trace was made, ns */
	bool json;
	bool bad_time;		/* a time stamp is outside of it */
	bool by_thread;		/* buffers are of threads, with trace of any cpu */
	bool stacks;		/* they are built, and cuts are counted */
	struct rvt_session_sink stack_sink;
	uint64_t cuts;
	struct counts *next;	/* of another thread */
};

static const char help[] =
"usage: perf rvtrace stat [OPTIONS]\n"
"Size and rate of the trace, bits per instruction and losses, for each cpu.\n\n"
"      --stacks          count where call stacks could not be told, too (slower)\n"
"      --json            an object a line (see Documentation/json.rst)\n"
COLOR_HELP
VIEW_JOBS_HELP
VIEW_HELP;

enum { OPT_JOBS = 256, OPT_COLOR, OPT_STACKS, OPT_JSON };

static const struct option long_options[] = {
	{ "color", required_argument, NULL, OPT_COLOR },
	{ "jobs", required_argument, NULL, OPT_JOBS },
	{ "stacks", no_argument, NULL, OPT_STACKS },
	{ "json", no_argument, NULL, OPT_JSON },
	{ "force", no_argument, NULL, VIEW_FORCE },
	{ "help", no_argument, NULL, 'h' },
	VIEW_LONG_OPTIONS,
	{ NULL, 0, NULL, 0 },
};

static struct cpu_counts *get_cpu(struct counts *counts, int32_t cpu)
{
	struct cpu_counts *result = &counts->cpus[cpu >= 0 && cpu < MAX_CPUS ? cpu : 0];

	result->used = true;
	return result;
}

static int count_aux(void *ctx, unsigned int buffer, const struct rvt_aux *aux)
{
	struct cpu_counts *cpu = get_cpu(ctx, aux->cpu);

	(void)buffer;
	cpu->trace_bytes += aux->size;
	cpu->lost += !!(aux->flags & (PERF_AUX_FLAG_TRUNCATED | PERF_AUX_FLAG_PARTIAL |
				      PERF_AUX_FLAG_COLLISION));
	return 0;
}

static int count_runs(void *ctx, struct rvt_hart_flow *hart, const struct rvt_run *runs, size_t n)
{
	struct counts *counts = ctx;
	struct cpu_counts *cpu = get_cpu(counts, hart->cpu);
	uint64_t told = 0;

	for (size_t i = 0; i < n; i++) {
		hart->time = rvt_hart_time(hart, told);
		told += runs[i].count;
		if (!view_wants(counts->view, hart))
			continue;
		cpu->insns += runs[i].count;
		view_note_run(counts->view, hart, &runs[i], 1);
	}
	hart->time = rvt_hart_time(hart, 0);
	return counts->stacks ?
		counts->stack_sink.runs(counts->stack_sink.ctx, hart, runs, n) : 0;
}

static int count_run(void *ctx, struct rvt_hart_flow *hart, const struct rvt_run *run,
		     uint64_t times)
{
	struct counts *counts = ctx;
	struct cpu_counts *cpu = get_cpu(counts, hart->cpu);

	if (!view_wants(counts->view, hart))
		return 0;
	cpu->insns += times * run->count;
	view_note_run(counts->view, hart, run, times);
	return 0;
}

/* Those of all threads. */
static void forget(void *ctx)
{
	struct counts *all = ctx;

	for (struct counts *counts = all; counts; counts = counts->next) {
		memset(counts->cpus, 0, MAX_CPUS * sizeof(*counts->cpus));
		counts->errors = 0;
		counts->bad_time = false;
	}
	view_forget(all->view);
}

/* Makes counts for another thread, which go with those at @ctx. NULL: out of memory. */
static void *open_counts(void *ctx)
{
	struct counts *all = ctx, *counts = malloc(sizeof(*counts));

	if (!counts)
		return NULL;
	*counts = *all;
	counts->cpus = calloc(MAX_CPUS, sizeof(*counts->cpus));
	if (!counts->cpus) {
		free(counts);
		return NULL;
	}
	all->next = counts;
	return counts;
}

static void free_others(struct counts *all)
{
	struct counts *next;

	for (struct counts *counts = all->next; counts; counts = next) {
		next = counts->next;
		free(counts->cpus);
		free(counts);
	}
}

static void add_span(struct cpu_counts *cpu, uint64_t first, uint64_t last)
{
	if (!cpu->timed || first < cpu->first)
		cpu->first = first;
	if (!cpu->timed || last > cpu->last)
		cpu->last = last;
	cpu->timed = true;
}

/*
 * Takes the flow's time for the cpu. A damaged trace can have any time, so a time outside of the
 * recording, or after its record was written, is only noted as bad.
 */
static void count_time(struct counts *counts, struct cpu_counts *cpu,
		       const struct rvt_hart_flow *hart)
{
	const uint64_t time = hart->time;

	if (time < counts->from || time > counts->to ||
	    (hart->written && time > hart->written && time - hart->written > CLOCK_NS)) {
		counts->bad_time = true;
		return;
	}
	add_span(cpu, time, time);
}

static void add_counts(struct cpu_counts *sum, const struct cpu_counts *cpu)
{
	sum->used |= cpu->used;
	sum->trace_bytes += cpu->trace_bytes;
	sum->insns += cpu->insns;
	sum->traps += cpu->traps;
	sum->gaps += cpu->gaps;
	sum->lost += cpu->lost;
	if (cpu->timed)
		add_span(sum, cpu->first, cpu->last);
}

/* Adds what other threads counted. */
static void join(struct counts *all)
{
	for (const struct counts *counts = all->next; counts; counts = counts->next) {
		for (int i = 0; i < MAX_CPUS; i++)
			add_counts(&all->cpus[i], &counts->cpus[i]);
		all->errors += counts->errors;
		all->bad_time |= counts->bad_time;
	}
}

static int count_event(void *ctx, struct rvt_hart_flow *hart, const struct rvt_event *event)
{
	struct counts *counts = ctx;
	struct cpu_counts *cpu = get_cpu(counts, hart->cpu);

	if (event->type == RVT_EVENT_TIME && hart->time_exact && view_passes(counts->view, hart))
		count_time(counts, cpu, hart);
	cpu->traps += event->type == RVT_EVENT_TRAP && view_wants(counts->view, hart);
	if (event->type == RVT_EVENT_LOST) {
		if (!counts->stacks)	/* else the transfers report it */
			view_lost(counts->view, hart, event);
		cpu->gaps++;
		counts->errors++;
	}
	return counts->stacks ?
		counts->stack_sink.event(counts->stack_sink.ctx, hart, event) : 0;
}

static void end_stacks(void *ctx, struct rvt_hart_flow *hart)
{
	struct counts *counts = ctx;

	if (counts->stacks)
		counts->stack_sink.end(counts->stack_sink.ctx, hart);
}

static void json_line(const char *type, int number, const struct cpu_counts *cpu)
{
	struct json json = json_begin(stdout, type);

	if (number >= 0)
		json_number(&json, "cpu", number);
	json_number(&json, "trace_bytes", cpu->trace_bytes);
	json_number(&json, "insns", cpu->insns);
	json_number(&json, "traps", cpu->traps);
	json_number(&json, "gaps", cpu->gaps);
	json_number(&json, "overruns", cpu->lost);
	if (cpu->last > cpu->first) {
		json_number(&json, "from", cpu->first);
		json_number(&json, "to", cpu->last);
	}
	json_end(&json);
}

static void json_stream(const struct counts *counts, const struct rvt_session_totals *stats)
{
	struct json json = json_begin(stdout, "stream");

	json_number(&json, "messages", stats->stream.messages);
	json_number(&json, "syncs", stats->stream.syncs);
	json_number(&json, "branches", stats->flow.branches);
	json_number(&json, "taken", stats->flow.taken);
	json_number(&json, "indirect", stats->flow.indirect);
	json_number(&json, "truncated", stats->session.truncated);
	json_number(&json, "partial", stats->session.partial);
	json_number(&json, "collisions", stats->session.collisions);
	json_number(&json, "lost_reports", stats->stream.lost_reports);
	json_number(&json, "errors", stats->stream.errors);
	json_number(&json, "bytes_skipped", stats->stream.skipped_bytes);
	json_flag(&json, "bad_time", counts->bad_time);
	if (counts->stacks)
		json_number(&json, "stack_cuts", counts->cuts);
	json_end(&json);
}

static void print_loss(uint64_t n)
{
	enum color color = n ? COLOR_HOT : COLOR_NONE;

	printf(" %s%8" PRIu64 "%s", color_begin(color), n, color_end(color));
}

static void print_rate(bool known, int digits, double rate)
{
	if (known)
		printf(" %10.*f", digits, rate);
	else
		printf(" %10s", "-");
}

/* @whole: what is counted is all that the cpu did, as the bytes are all of its trace. */
static void print_line(const char *name, const struct cpu_counts *cpu, bool whole)
{
	double seconds = (cpu->last - cpu->first) / 1e9;

	printf("%-5s %14" PRIu64 " %14" PRIu64, name, cpu->trace_bytes, cpu->insns);
	print_rate(whole, 3, cpu->insns ? 8.0 * cpu->trace_bytes / cpu->insns : 0);
	printf(" %10" PRIu64, cpu->traps);
	print_loss(cpu->gaps);
	print_loss(cpu->lost);
	if (seconds > 0) {
		printf(" %10.3f", seconds);
		print_rate(whole, 2, cpu->trace_bytes / seconds / 1e6);
	}
	putchar('\n');
}

/*
 * Counts the bytes of trace that the file really has: a truncated one lacks some that its records
 * promise. Buffers of threads (cpu -1) have trace of any cpu, so there is only their sum.
 */
static void count_stored(struct counts *counts)
{
	struct rvt_perfdata *file = rvt_session_file(view_session(counts->view));
	struct rvt_perfdata_record record;
	uint64_t pos = 0;

	while (rvt_perfdata_next(file, &pos, &record) > 0) {
		const struct rvt_record_auxtrace *chunk = (const void *)record.header;

		if (record.type != RVT_RECORD_AUXTRACE || chunk->cpu >= MAX_CPUS)
			continue;
		if ((int32_t)chunk->cpu < 0)
			counts->by_thread = true;
		else if (!chunk->unpacked)
			counts->cpus[chunk->cpu].stored_bytes += record.aux_len;
		else if (record.aux_len == chunk->size)
			counts->cpus[chunk->cpu].stored_bytes += chunk->unpacked;
	}
}

/* Returns how many bytes of trace the file has of the cpu. */
static uint64_t trace_bytes(const struct counts *counts, const struct cpu_counts *cpu)
{
	return counts->by_thread || cpu->trace_bytes < cpu->stored_bytes ? cpu->trace_bytes :
		cpu->stored_bytes;
}

static void print_stream(const struct counts *counts, const struct rvt_session_totals *stats)
{
	printf("\n%" PRIu64 " messages, %" PRIu64 " synchronisation points; %" PRIu64 " branches, "
										      "%" PRIu64
	       " taken; %" PRIu64 " indirect jumps\n", stats->stream.messages, stats->stream.syncs,
	       stats->flow.branches, stats->flow.taken, stats->flow.indirect);
	if (stats->session.truncated || stats->session.partial || stats->session.collisions ||
	    stats->stream.lost_reports)
		printf("lost: %" PRIu64 " AUX records truncated, %" PRIu64 " partial, %" PRIu64
		       " collisions; %" PRIu64 " gaps reported in the trace\n",
		       stats->session.truncated, stats->session.partial, stats->session.collisions,
		       stats->stream.lost_reports);
	if (stats->session.truncated)
		printf("a larger second number of record's -m, like -m ,64M, or :u helps against "
		       "truncated records\n");
	if (stats->stream.errors || stats->stream.skipped_bytes)
		printf("damage: %" PRIu64 " errors, %" PRIu64 " bytes skipped\n",
		       stats->stream.errors,
		       stats->stream.skipped_bytes);
	if (counts->stacks)
		printf("call stacks were cut off %" PRIu64 " times\n", counts->cuts);
	if (counts->bad_time)
		printf("damage: time stamps outside of the time of the recording, or later than "
		       "they were written; the seconds are without them\n");
}

static void print_counts(struct counts *counts)
{
	struct cpu_counts sum = { 0 };
	struct rvt_session_totals stats;
	const bool whole = !view_divides_cpus(counts->view);

	if (counts->json)
		view_json_losses(counts->view, stdout);
	else
		view_print_losses(counts->view, stdout, "# ");
	rvt_session_totals(view_session(counts->view), &stats);
	if (stats.session.missing_bytes)
		count_stored(counts);
	if (!counts->json)
		printf("%scpu      trace bytes   instructions  bits/insn      traps     gaps     "
		       "lost    seconds       MB/s%s\n", color_begin(COLOR_TITLE),
		       color_end(COLOR_TITLE));
	for (int i = 0; i < MAX_CPUS; i++) {
		struct cpu_counts *cpu = &counts->cpus[i];
		char name[16];

		if (!cpu->used || !view_wants_cpu(counts->view, i))
			continue;
		if (stats.session.missing_bytes)
			cpu->trace_bytes = trace_bytes(counts, cpu);
		snprintf(name, sizeof(name), "%d", i);
		if (counts->json)
			json_line("cpu", i, cpu);
		else
			print_line(name, cpu, whole);
		add_counts(&sum, cpu);
	}
	if (counts->json) {
		json_line("all", -1, &sum);
		json_stream(counts, &stats);
		return;
	}
	print_line("all", &sum, whole);
	print_stream(counts, &stats);
}

static int run(struct counts *counts, const struct view_options *options)
{
	bool count = options->session.count;
	const struct rvt_session_sink sink = {
		.size = sizeof(sink),
		.ctx = counts, .aux = count_aux, .event = count_event, .warning = view_warning,
		.runs = count ? NULL : count_runs, .count_run = count_run, .reset = forget,
		.end = end_stacks,
		.events = counts->stacks ? 0 : 1u << RVT_EVENT_TIME | 1u << RVT_EVENT_TRAP |
					       1u << RVT_EVENT_LOST,
	};
	const struct rvt_session_slices slices = { .ctx = counts, .open = open_counts };
	const struct rvt_transfers_ops ops = { .size = sizeof(ops) };
	struct transfers *transfers = NULL;
	int err;

	counts->view = view_open(options);
	counts->cpus = calloc(MAX_CPUS, sizeof(*counts->cpus));
	if (!counts->view || !counts->cpus ||
	    view_refuse_ctr(counts->view, "there is no trace to count"))
		return -EINVAL;
	rvt_session_span(view_session(counts->view), &counts->from, &counts->to);
	counts->from -= counts->from < CLOCK_NS ? counts->from : CLOCK_NS;
	counts->to += UINT64_MAX - counts->to < CLOCK_NS ? 0 : CLOCK_NS;
	if (counts->stacks) {
		transfers = transfers_create(&ops, counts->view,
					     MAX_CALL_DEPTH);
		if (!transfers)
			return -ENOMEM;
		transfers_sink(transfers, &counts->stack_sink);
	}
	err = count ? view_run_slices(counts->view, &sink, &slices, false) :
		view_run(counts->view, &sink, false);
	join(counts);
	if (transfers)
		counts->cuts = transfers_cuts(transfers);
	transfers_destroy(transfers);
	if (err)
		return cmd_error(err, "decoding ended: %s", strerror(-err));
	print_counts(counts);
	return view_summary(counts->view, counts->errors);
}

int cmd_stat(int argc, char **argv)
{
	struct view_options options = { .session = { .by_cpu = true, .count_threads = true,
						     .every_time = true } };
	struct counts counts = { 0 };
	const char *jobs = NULL;
	int c, err;

	while ((c = getopt_long(argc, argv, "h" VIEW_SHORT_OPTIONS, long_options, NULL)) >= 0) {
		if (c == 'h') {
			fputs(help, stdout);
			return 0;
		}
		if (c == OPT_COLOR && color_set(optarg))
			return 1;
		if (c == OPT_JOBS)
			jobs = optarg;
		else if (c == OPT_JSON)
			counts.json = true;
		else if (c == OPT_STACKS)
			counts.stacks = true;
		else if (c != OPT_COLOR && !view_option(&options, c, optarg))
			return cmd_try_help(1);
	}
	if ((counts.json && json_supported()) || cmd_jobs(jobs, &options.session.jobs))
		return 1;
	/* counted flow has no times, and not who called whom */
	options.session.count = !options.time && !counts.stacks;
	/* stacks go with threads from cpu to cpu */
	options.session.by_cpu = !counts.stacks;
	err = run(&counts, &options);
	view_close(counts.view);
	free_others(&counts);
	free(counts.cpus);
	return err ? 1 : 0;
}
