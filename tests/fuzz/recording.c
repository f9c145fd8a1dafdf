// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * A whole recording: read in the order of time, counted, dumped, or as Control Transfer Records.
 * With FUZZ_JOBS: counted by one thread and by several, which must tell the same.
 *
 * Code that mappings name is looked for in the folder "files" beside the program.
 */
#include <libgen.h>
#include <limits.h>
#include <unistd.h>
#include <rvtrace/ctr.h>
#include <rvtrace/session.h>
#include "fuzz.h"
#include "session/access.h"

#define MAX_INSNS 100000
#define SLICE_BYTES 300

struct told {
	uint64_t insns, sum, edges, lost;
	bool over;
};

static char files[PATH_MAX];

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	char self[PATH_MAX - 8] = "";

	(void)argc, (void)argv;
	if (readlink("/proc/self/exe", self, sizeof(self) - 1) < 0)
		broken("where is the program?");
	snprintf(files, sizeof(files), "%s/files", dirname(self));
	return 0;
}

static uint64_t mix(uint64_t a, uint64_t b)
{
	return (a ^ b * UINT64_C(0x9e3779b97f4a7c15)) * UINT64_C(0xff51afd7ed558ccd) + (a >> 29);
}

/* In no order, and however the runs are cut. */
static void add_run(struct told *told, const struct rvt_run *run, uint64_t times)
{
	uint64_t pc = run->block->pc;

	for (uint32_t k = 0; k < run->first + run->count; k++) {
		if (k >= run->first)
			told->sum += times * mix(0, pc);
		pc += 2 * run->block->halfwords[k];
	}
	told->insns += times * run->count;
}

static int got_runs(void *ctx, struct rvt_hart_flow *hart, const struct rvt_run *runs, size_t n)
{
	struct told *told = ctx;

	(void)hart;
	for (size_t i = 0; i < n; i++)
		add_run(told, &runs[i], 1);
	told->over |= told->insns > MAX_INSNS;
	return told->over ? -1 : 0;
}

static int got_event(void *ctx, struct rvt_hart_flow *hart, const struct rvt_event *event)
{
	struct told *told = ctx;

	if (hart->task && !hart->task->comm)
		broken("a task without a name");
	told->lost += event->type == RVT_EVENT_LOST;
	return 0;
}

static int count_run(void *ctx, struct rvt_hart_flow *hart, const struct rvt_run *run,
		     uint64_t times)
{
	(void)hart;
	add_run(ctx, run, times);
	return 0;
}

static int count_edge(void *ctx, struct rvt_hart_flow *hart, uint64_t from, uint64_t to,
		      enum rvt_insn_class iclass, int64_t times)
{
	struct told *told = ctx;

	(void)hart, (void)iclass;
	told->edges += times * mix(from, to);
	return 0;
}

static void forget(void *ctx)
{
	*(struct told *)ctx = (struct told){ 0 };
}

static struct rvt_session *open_recording(const char *path, struct rvt_session_options *options)
{
	struct rvt_session *session;
	char *error = NULL;
	int err;

	options->symfs = files;
	err = rvt_session_open(path, options, &session, &error);
	if (err && !error)
		broken("%s: error %d without a message", path, err);
	free(error);
	return err ? NULL : session;
}

static int got_sample(void *ctx, const struct rvt_ctr_sample *sample, const struct rvt_task *task)
{
	struct rvt_ctr_entry entry;

	(void)ctx;
	if (!task->comm)
		broken("a task without a name");
	for (unsigned int n = 0; n < sample->n; n++)
		rvt_ctr_get(sample, n, &entry);
	return 0;
}

/* Of all of it, without a limit: only after the runs have been few. */
static bool count(const char *path, unsigned int jobs, struct told *told,
		  struct rvt_session_totals *stats)
{
	const struct rvt_session_sink sink = {
		.size = sizeof(sink),
		.ctx = told, .count_run = count_run, .count_edge = count_edge, .event = got_event,
		.reset = forget,
	};
	struct rvt_session_options options = {
		.size = sizeof(options),
		.count = true, .jobs = jobs, .slice_bytes = SLICE_BYTES,
	};
	struct rvt_session *session = open_recording(path, &options);

	*told = (struct told){ 0 };
	if (!session)
		return false;
	rvt_session_run(session, &sink);
	rvt_session_totals(session, stats);
	rvt_session_close(session);
	return true;
}

/* False: it is too long to be read in each way. */
static bool read_in_order(const char *path, struct told *told)
{
	const struct rvt_session_sink sink = { .size = sizeof(sink),
					       .ctx = told, .runs = got_runs, .event = got_event };
	const struct rvt_session_ctr_sink samples = { .size = sizeof(samples),
						      .sample = got_sample };
	struct rvt_session_options options = { .size = sizeof(options), .by_cpu = false,
					       .accesses = true };
	struct rvt_session *session = open_recording(path, &options);
	struct rvt_dump_stats stats = { .size = sizeof(stats) };

	*told = (struct told){ 0 };
	if (!session)
		return false;
	if (rvt_session_is_ctr(session)) {
		rvt_session_run_ctr(session, &samples);
		told->over = true;
	} else {
		rvt_session_run(session, &sink);
		rvt_session_dump(session, RVT_DUMP_JSON, fuzz_null(), &stats);
	}
	for (size_t n = 0; rvt_session_missing(session, n); n++)
		if (!rvt_session_missing(session, n)->path)
			broken("a missing file without a name");
	rvt_session_close(session);
	return !told->over;
}

static void compare(const char *what, uint64_t a, uint64_t b)
{
	if (a != b)
		broken("%s: %llu and %llu", what, (unsigned long long)a, (unsigned long long)b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *path = fuzz_write("perf.data", data, size);
	struct rvt_session_totals stats, other;
	struct told runs, counts, by_jobs;

	if (!read_in_order(path, &runs) || !count(path, 0, &counts, &stats))
		return 0;
	compare("counted and delivered: instructions", counts.insns, runs.insns);
	compare("counted and delivered: which instructions", counts.sum, runs.sum);
	if (!FUZZ_JOBS || !count(path, FUZZ_JOBS, &by_jobs, &other))
		return 0;
	compare("jobs: instructions", by_jobs.insns, counts.insns);
	compare("jobs: which instructions", by_jobs.sum, counts.sum);
	compare("jobs: edges", by_jobs.edges, counts.edges);
	compare("jobs: gaps", other.flow.gaps, stats.flow.gaps);
	compare("jobs: errors", other.stream.errors, stats.stream.errors);
	compare("jobs: messages", other.stream.messages, stats.stream.messages);
	compare("jobs: bytes", other.session.trace_bytes, stats.session.trace_bytes);
	return 0;
}
