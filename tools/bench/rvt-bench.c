// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Times the decoding of a recording. Each way of decoding is run several times over in one process,
 * so that code is loaded and block caches are full; the first run, with opening the recording, is
 * told apart ("cold"), and done several times, as where the machine is virtual the first use of
 * memory may wait for its host.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <rvtrace/session.h>
#include "../perf-plugin/decode/decode.h"
#include "session/access.h"

#define SESSIONS 3	/* that a recording is opened in, one after the other */

struct result {
	uint64_t insns, bytes, branches, checked;
	uint64_t checksum;	/* of what was counted; 0: none */
	double first, best;	/* seconds of processor time, the least; 0: none yet */
	uint64_t cycles;	/* of the processor, in the run that took fewest; 0: not counted */
};

struct bench {
	const char *file;
	struct rvt_session_options options;
	unsigned int rounds;
	uint64_t checked, checksum;
	bool sums;			/* counts have a checksum */
	int null;			/* where text goes */
	int cycles;			/* counts them; -1: the machine does not */
	struct decode_output output;
	struct decode_printer *printer;
};

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return ts.tv_sec + ts.tv_nsec * 1e-9;
}

/* Virtual machines often have no such counter, and its use may be forbidden. */
static int open_cycles(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE, .size = sizeof(attr),
		.config = PERF_COUNT_HW_CPU_CYCLES, .exclude_kernel = 1, .exclude_hv = 1,
		.inherit = 1,
	};

	return syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

/* Since the last time; 0: not known. */
static uint64_t take_cycles(const struct bench *b)
{
	uint64_t cycles;

	if (b->cycles < 0 || read(b->cycles, &cycles, sizeof(cycles)) != sizeof(cycles))
		return 0;
	ioctl(b->cycles, PERF_EVENT_IOC_RESET, 0);
	return cycles;
}

/* What a caller that wants every instruction does at least: look at each address. */
static int every_insn(void *ctx, struct rvt_hart_flow *hart, const struct rvt_run *runs, size_t n)
{
	struct bench *b = ctx;
	uint64_t sum = 0;

	(void)hart;
	for (size_t i = 0; i < n; i++) {
		const uint8_t *halfwords = runs[i].block->halfwords;
		uint64_t pc = runs[i].block->pc;

		for (uint32_t k = 0; k < runs[i].first; k++)
			pc += 2 * halfwords[k];
		for (uint32_t k = runs[i].first; k < runs[i].first + runs[i].count; k++) {
			sum += pc;
			pc += 2 * halfwords[k];
		}
	}
	b->checked += sum;
	return 0;
}

/* Every run with its first address. */
static int every_run(void *ctx, struct rvt_hart_flow *hart, const struct rvt_run *runs, size_t n)
{
	struct bench *b = ctx;

	(void)hart;
	for (size_t i = 0; i < n; i++)
		b->checked += runs[i].count;
	return 0;
}

/* Text, as `perf-rvtrace decode --print=pc` writes it. */
static int print_runs(void *ctx, struct rvt_hart_flow *hart, const struct rvt_run *runs, size_t n)
{
	struct bench *b = ctx;

	every_run(ctx, hart, runs, n);
	return decode_printer_runs(b->printer, runs, n);
}

static int write_null(void *ctx, const char *text, size_t len)
{
	const struct bench *b = ctx;

	return write(b->null, text, len) == (ssize_t)len ? 0 : -EIO;
}

/* What an edge adds to the checksum, or an instruction at @from, where @to is 0. */
static uint64_t mix(uint64_t from, uint64_t to)
{
	const uint64_t x = (from ^ to << 32 ^ to >> 32) * 0x9e3779b97f4a7c15ull;

	return (x ^ x >> 32) * 0xd6e8feb86659fd93ull;
}

/* The checksum does not depend on the order of counts, nor on how code is cut into runs. */
static int count_run(void *ctx, struct rvt_hart_flow *hart, const struct rvt_run *run,
		     uint64_t times)
{
	const uint8_t *halfwords = run->block->halfwords;
	uint64_t pc = run->block->pc;
	struct bench *b = ctx;

	(void)hart;
	b->checked += run->count * times;
	if (!b->sums)
		return 0;
	for (uint32_t k = 0; k < run->first + run->count; k++) {
		if (k >= run->first)
			b->checksum += times * mix(pc, 0);
		pc += 2 * halfwords[k];
	}
	return 0;
}

static int count_edge(void *ctx, struct rvt_hart_flow *hart, uint64_t from, uint64_t to,
		      enum rvt_insn_class iclass, int64_t times)
{
	struct bench *b = ctx;

	(void)hart;
	if (b->sums)
		b->checksum += times * mix(from + iclass, to);
	return 0;
}

static double least(double known, double took)
{
	return known && known < took ? known : took;
}

/* @opening: how long opening took, before the first round; else 0. */
static int run_once(const struct bench *b, struct rvt_session *session,
		    const struct rvt_session_sink *sink, struct result *r, double opening)
{
	struct rvt_session_totals stats;
	uint64_t cycles = take_cycles(b);
	double begin = now(), took;
	int ret = rvt_session_run(session, sink);

	took = now() - begin;
	cycles = take_cycles(b);
	rvt_session_totals(session, &stats);
	r->insns = stats.flow.insns;
	r->branches = stats.flow.branches + stats.flow.indirect;
	r->bytes = stats.session.trace_bytes;
	if (opening)
		r->first = least(r->first, opening + took);
	if (!r->cycles || cycles < r->cycles)
		r->cycles = cycles;
	r->best = least(r->best, took);
	return ret;
}

/* Rounds in one session, of which the first one is cold. */
static int measure_session(struct bench *b, unsigned int rounds,
			   const struct rvt_session_sink *sink,
			   struct result *r)
{
	struct rvt_session *session;
	double opening = now();
	char *error = NULL;
	int ret;

	ret = rvt_session_open(b->file, &b->options, &session, &error);
	if (ret) {
		fprintf(stderr, "%s\n", error ? error : strerror(-ret));
		free(error);
		return ret;
	}
	opening = now() - opening;
	for (unsigned int i = 0; i < rounds && !ret; i++) {
		b->checked = b->checksum = 0;
		ret = run_once(b, session, sink, r, i ? 0 : opening);
	}
	r->checked = b->checked;
	r->checksum = b->checksum;
	rvt_session_close(session);
	return ret;
}

static int measure(struct bench *b, bool count, const struct rvt_session_sink *sink,
		   struct result *r)
{
	const unsigned int sessions = b->rounds < 2 ? 1 : SESSIONS;
	const unsigned int warm = (b->rounds - 1 + sessions - 1) / sessions;
	int ret = 0;

	b->options.count = count;
	b->options.count_names = count;
	b->options.by_cpu = true;
	for (unsigned int i = 0; i < sessions && !ret; i++)
		ret = measure_session(b, 1 + warm, sink, r);
	return ret;
}

static void report(const char *what, const struct result *r)
{
	char cycles[24] = "-";

	if (r->cycles)
		snprintf(cycles, sizeof(cycles), "%.1f", (double)r->cycles / r->branches);
	printf("%-10s %12" PRIu64 " %8.1f %10.1f %9.1f %8s %9.2f %9.2f\n", what, r->insns,
	       r->insns / r->best / 1e6, r->bytes / r->best / 1e6, r->best * 1e9 / r->branches,
	       cycles, r->best, r->first / r->best);
	if (r->checksum)
		printf("%-10s %016" PRIx64 "\n", "checksum", r->checksum);
}

static int bench(struct bench *b, const char *only)
{
	const struct rvt_session_sink walk = { .size = sizeof(walk), .ctx = b };
	const struct rvt_session_sink counts = { .size = sizeof(counts),
						 .ctx = b, .count_run = count_run,
						 .count_edge = count_edge };
	const struct rvt_session_sink runs = { .size = sizeof(runs), .ctx = b, .runs = every_run };
	const struct rvt_session_sink insns = { .size = sizeof(insns),
						.ctx = b, .runs = every_insn };
	const struct rvt_session_sink lines = { .size = sizeof(lines),
						.ctx = b, .runs = print_runs };
	const struct {
		const char *name;
		bool count;
		const struct rvt_session_sink *sink;
	} ways[] = {
		{ "walk", false, &walk }, { "counts", true, &counts },
		{ "runs", false, &runs }, { "lines", false, &lines },
		{ "every", false, &insns },
	};
	struct rusage usage;
	uint64_t expected = 0;

	printf("%-10s %12s %8s %10s %9s %8s %9s %9s\n", "way", "instructions", "M insn/s",
	       "MB/s trace", "ns/branch", "cyc/br", "seconds", "cold/warm");
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		struct result r = { .insns = 0 };
		int ret;

		if (only && strcmp(only, ways[i].name))
			continue;
		ret = measure(b, ways[i].count, ways[i].sink, &r);
		if (ret)
			return ret;
		report(ways[i].name, &r);
		if (!expected)
			expected = r.insns;
		if (r.insns != expected || (i && i < 4 && r.checked != r.insns)) {
			fprintf(stderr, "%s: %" PRIu64 " instructions, told %" PRIu64
				", expected %" PRIu64 "\n", ways[i].name, r.insns, r.checked,
				expected);
			return -EBADMSG;
		}
	}
	getrusage(RUSAGE_SELF, &usage);
	printf("%-10s %12ld KiB\n", "peak RSS", usage.ru_maxrss);
	return 0;
}

static int open_text(struct bench *b)
{
	b->null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	if (b->null < 0 || decode_output_open(&b->output, write_null, b))
		return -1;
	b->printer = decode_printer_create(PRINT_PC, "", NULL, &b->output);
	return b->printer ? 0 : -1;
}

static void close_text(struct bench *b)
{
	decode_printer_destroy(b->printer);
	decode_output_close(&b->output);
	close(b->null);
}

int main(int argc, char **argv)
{
	struct bench b = { .rounds = 5, .options.size = sizeof(b.options) };
	const char *only = NULL;
	int c, ret;

	while ((c = getopt(argc, argv, "n:s:w:rc")) != -1) {
		switch (c) {
		case 'n': b.rounds = atoi(optarg) > 0 ? atoi(optarg) : 1; break;
		case 's': b.options.symfs = optarg; break;
		case 'w': only = optarg; break;
		case 'r': b.options.reference_walk = true; break;
		case 'c': b.sums = true; break;
		default: return 2;
		}
	}
	if (optind != argc - 1) {
		fprintf(stderr, "usage: rvt-bench [-n ROUNDS] [-s SYMFS] "
			"[-w walk|counts|runs|lines|every] [-r] [-c] RECORDING\n");
		return 2;
	}
	b.file = argv[optind];
	b.cycles = open_cycles();
	if (open_text(&b))
		return 1;
	ret = bench(&b, only);
	close_text(&b);
	return ret ? 1 : 0;
}
