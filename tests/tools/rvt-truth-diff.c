// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * rvt-truth-diff - is decoded flow what the emulator executed?
 *
 * Reads `perf-rvtrace script --raw-pc` from standard input (CPU TID PRV PC per retired
 * instruction, '#' lines at gaps, starts and stops) and the truth files DIR/truth.N, and compares
 * them instruction by instruction: address, privilege and, where the truth knows it, thread (a TID
 * of "-" is not compared: a recording without context leaves in scontext what was there). Memory
 * does not grow with them, but with --lossy.
 *
 * It knows nothing of the library that decodes; of the library it uses the truth reader alone.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <rvtrace/truth.h>
#include "util/array.h"

#define MAX_HARTS 64
#define SURROUNDINGS 8
#define FORGET (1u << 18)	/* instructions at once */
#define ANY_TID -2

struct insn {
	uint64_t pc;
	int64_t tid;		/* -1: not known */
	uint8_t prv;
};

struct insn_list {
	struct insn *at;
	size_t n;
};

/*
 * The truth of one hart, filtered to what the recording should hold. It is read as far as it is
 * compared: a part of it is in memory, but all with --lossy.
 */
struct hart {
	struct rvt_truth_reader *reader;	/* NULL: all was read */
	bool on;
	uint8_t prv;
	int64_t tid;
	struct insn_list truth;
	uint64_t forgotten;	/* instructions before those in .truth */
	size_t pos;		/* everything before is accounted for */
	bool seen_on;
};

/* Options. */
static bool lossy;		/* gaps are allowed: every decoded segment must be in the truth */
static bool by_task;		/* compare with all of a task's user code, not with ON..OFF */
static bool by_thread;		/* compare with the user code of tasks in ON..OFF */
static int64_t tids[256];
static unsigned int n_tids;
static bool by_hcontext;	/* it has the thread ids, not scontext */
static uint64_t min_insns = 1;
static const char *dir;

static struct hart harts[MAX_HARTS];
static unsigned int n_harts;
static uint64_t compared, segments, gaps;

static void die(const char *what)
{
	fprintf(stderr, "rvt-truth-diff: %s\n", what);
	exit(2);
}

static void push(struct insn_list *list, uint64_t pc, int64_t tid, uint8_t prv)
{
	if (array_grow(&list->at, list->n))
		die("out of memory");
	list->at[list->n++] = (struct insn){ .pc = pc, .tid = tid, .prv = prv };
}

static bool wanted_tid(int64_t tid)
{
	for (unsigned int i = 0; i < n_tids; i++)
		if (tids[i] == tid)
			return true;
	return false;
}

/* What is executed now. */
static bool wanted(const struct hart *hart)
{
	if (by_task)
		return hart->seen_on && hart->prv == 0 && wanted_tid(hart->tid);
	if (by_thread)
		return hart->on && hart->prv == 0 && wanted_tid(hart->tid);
	return hart->on;
}

/* 14 bits; all ones are an id that does not fit. */
static int64_t hcontext_tid(uint64_t hcontext)
{
	return hcontext == (1u << 14) - 1 ? -1 : (int64_t)hcontext;
}

static void open_truth(struct hart *hart, const char *path)
{
	unsigned int number;
	int ret = rvt_truth_open(path, &hart->reader, &number);

	if (!ret || ret == -ENOENT)
		return;
	fprintf(stderr, "rvt-truth-diff: %s: %s\n", path, strerror(-ret));
	exit(2);
}

/* Takes in one record of the truth. False: it has ended. */
static bool read_record(struct hart *hart)
{
	struct rvt_truth_record rec;
	int ret = hart->reader ? rvt_truth_next(hart->reader, &rec) : 0;
	uint64_t pc;

	if (ret < 0) {
		fprintf(stderr, "rvt-truth-diff: %s/truth.%zu: damaged or incomplete truth file\n", dir,
			(size_t)(hart - harts));
		exit(2);
	}
	if (!ret) {
		rvt_truth_reader_close(hart->reader);
		hart->reader = NULL;
		return false;
	}
	switch (rec.type) {
	case RVT_TRUTH_STATE:
		hart->prv = rec.prv;
		hart->tid = by_hcontext ? hcontext_tid(rec.hcontext) : (int64_t)rec.scontext;
		break;
	case RVT_TRUTH_ON:
		hart->on = true;
		hart->seen_on = true;
		break;
	case RVT_TRUTH_OFF:
		hart->on = false;
		break;
	case RVT_TRUTH_INSNS:
		if (!wanted(hart))
			break;
		pc = rec.pc;
		for (uint32_t i = 0; i < rec.count; i++) {
			push(&hart->truth, pc, hart->tid, hart->prv);
			pc += 2 * rec.halfwords[i];
		}
		break;
	default:
		break;
	}
	return true;
}

/* What is accounted for need not be in memory, but for what a difference shows around it. */
static void forget(struct hart *hart)
{
	size_t n = hart->pos - SURROUNDINGS;

	hart->truth.n -= n;
	memmove(hart->truth.at, hart->truth.at + n, hart->truth.n * sizeof(*hart->truth.at));
	hart->pos = SURROUNDINGS;
	hart->forgotten += n;
}

/* Whether there is an instruction @at, which is one of those in memory or behind them. */
static bool has_truth(struct hart *hart, size_t at)
{
	while (at >= hart->truth.n && read_record(hart))
		;
	return at < hart->truth.n;
}

/*
 * An Ownership message does not say at which instruction the context changed, only between which
 * two other messages. It changes in the kernel's context switch, so in user code the thread is
 * exact.
 */
static bool same(const struct insn *decoded, const struct insn *truth)
{
	return decoded->pc == truth->pc && decoded->prv == truth->prv &&
	       (decoded->prv || truth->tid <= 0 || decoded->tid == ANY_TID ||
		decoded->tid == truth->tid);
}

static void show(const char *what, const struct insn_list *list, uint64_t before, size_t at)
{
	size_t i = at > SURROUNDINGS ? at - SURROUNDINGS : 0;

	printf("%s:\n", what);
	for (; i < at + SURROUNDINGS && i < list->n; i++)
		printf("  %c %10" PRIu64 "  pc %016" PRIx64 "  prv %u  tid %" PRId64 "\n",
		       i == at ? '>' : ' ', before + i,
		       list->at[i].pc, list->at[i].prv, list->at[i].tid);
	if (at >= list->n)
		printf("  > (end)\n");
}

static void differ(unsigned int cpu, const struct insn_list *segment, size_t i, size_t truth_at)
{
	printf("FIRST DIFFERENCE: cpu %u, instruction %zu of a decoded segment of %zu\n", cpu, i,
	       segment->n);
	show("decoded", segment, 0, i);
	/* what comes next is shown, too */
	has_truth(&harts[cpu], truth_at + SURROUNDINGS);
	show("truth", &harts[cpu].truth, harts[cpu].forgotten, truth_at);
	exit(1);
}

/* A decoded segment must continue the truth exactly where the last one ended. */
static void check_exact(unsigned int cpu, const struct insn_list *segment)
{
	struct hart *hart = &harts[cpu];

	for (size_t i = 0; i < segment->n; i++, hart->pos++)
		if (!has_truth(hart, hart->pos) ||
		    !same(&segment->at[i], &hart->truth.at[hart->pos]))
			differ(cpu, segment, i, hart->pos);
	if (hart->pos >= FORGET)
		forget(hart);
}

static size_t match_length(const struct hart *hart, size_t at, const struct insn_list *segment)
{
	size_t i = 0;

	while (i < segment->n && at + i < hart->truth.n &&
	       same(&segment->at[i], &hart->truth.at[at + i]))
		i++;
	return i;
}

/*
 * A decoded segment must be somewhere in the truth, after all earlier ones. Taking the earliest
 * place where it fits leaves the most room for those that follow.
 */
static void check_somewhere(unsigned int cpu, const struct insn_list *segment)
{
	struct hart *hart = &harts[cpu];
	size_t best = 0, best_at = hart->pos;

	for (size_t at = hart->pos; at + segment->n <= hart->truth.n; at++) {
		size_t n = match_length(hart, at, segment);

		if (n == segment->n) {
			hart->pos = at + n;
			return;
		}
		if (n > best) {
			best = n;
			best_at = at;
		}
	}
	differ(cpu, segment, best, best_at + best);
}

static void end_segment(int cpu, struct insn_list *segment)
{
	if (!segment->n)
		return;
	if (cpu < 0 || cpu >= MAX_HARTS)
		die("decoded flow without a CPU number");
	if (lossy)
		check_somewhere((unsigned int)cpu, segment);
	else
		check_exact((unsigned int)cpu, segment);
	compared += segment->n;
	segments++;
	segment->n = 0;
}

static uint8_t parse_prv(const char *text)
{
	switch (*text) {
	case 'U': case '0': return 0;
	case 'S': case '1': return 1;
	case 'M': case '3': return 3;
	}
	die("a line whose privilege is none of U, S, M");
	return 0;
}

/*
 * "CPU TID PRV PC"; TID is -1 or '?' when the decoder does not know it, '-' when nobody shall care.
 */
static int parse_line(const char *line, struct insn *insn)
{
	char *end;
	long cpu = strtol(line, &end, 10);

	if (end == line || *end != ' ')
		die("a line that does not begin with a CPU number");
	if (end[1] == '-' && end[2] == ' ')
		insn->tid = ANY_TID;
	else
		insn->tid = end[1] == '?' ? -1 : strtol(end + 1, NULL, 10);
	end++;
	while (*end && *end != ' ')
		end++;
	if (!*end)
		die("a line without privilege");
	insn->prv = parse_prv(end + 1);
	end = strchr(end + 1, ' ');
	if (!end)
		die("a line without pc");
	insn->pc = strtoull(end + 1, NULL, 16);
	return (int)cpu;
}

static void compare(FILE *in)
{
	struct insn_list segment = { 0 };
	struct insn insn;
	char *line = NULL;
	size_t room = 0;
	int cpu = -1;

	while (getline(&line, &room, in) > 0) {
		int line_cpu;

		if (*line == '#') {
			if (strstr(line, "gap") || strstr(line, "lost")) {
				gaps++;
				fprintf(stderr, "%s", line);
			}
			end_segment(cpu, &segment);
			continue;
		}
		line_cpu = parse_line(line, &insn);
		/* Long segments are checked in pieces; a lossy one must stay whole to be found. */
		if (line_cpu != cpu || (!lossy && segment.n == FORGET))
			end_segment(cpu, &segment);
		cpu = line_cpu;
		push(&segment, insn.pc, insn.tid, insn.prv);
	}
	end_segment(cpu, &segment);
	free(line);
	free(segment.at);
}

static void check_complete(void)
{
	struct insn_list none = { 0 };

	for (unsigned int i = 0; i < n_harts && !lossy; i++)
		if (has_truth(&harts[i], harts[i].pos))
			differ(i, &none, 0, harts[i].pos);
}

static const struct option options[] = {
	{ "lossy", no_argument, NULL, 'l' },
	{ "tid", required_argument, NULL, 't' },
	{ "thread", required_argument, NULL, 'T' },
	{ "hcontext", no_argument, NULL, 'c' },
	{ "min", required_argument, NULL, 'm' },
	{ "help", no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 },
};

static void usage(FILE *out)
{
	fputs("usage: rvt-truth-diff [--lossy] [--tid TID]... [--thread TID]... [--hcontext] [--min N]\n"
	      "       TRUTHDIR < RAW-PC\n"
	      "  --lossy    gaps are expected: what was decoded must be in the truth, in order\n"
	      "  --tid TID  compare with all user code of these threads, not with what the\n"
	      "             encoder says it traced\n"
	      "  --thread TID compare with user code of these threads, as far as the encoder says it\n"
	      "             traced it: of several recordings one after the other\n"
	      "  --hcontext hcontext has the thread ids; 16383 is one that it has no room for\n"
	      "  --min N    fewer than N compared instructions is a failure\n", out);
}

int main(int argc, char **argv)
{
	char path[4096];
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (c) {
		case 'l':
			lossy = true;
			break;
		case 't':
		case 'T':
			*(c == 't' ? &by_task : &by_thread) = true;
			if (n_tids == sizeof(tids) / sizeof(*tids))
				die("too many threads");
			tids[n_tids++] = strtoll(optarg, NULL, 10);
			break;
		case 'c':
			by_hcontext = true;
			break;
		case 'm':
			min_insns = strtoull(optarg, NULL, 10);
			break;
		case 'h':
			usage(stdout);
			return 0;
		default:
			usage(stderr);
			return 2;
		}
	}
	if (optind + 1 != argc) {
		usage(stderr);
		return 2;
	}
	dir = argv[optind];
	for (n_harts = 0; n_harts < MAX_HARTS; n_harts++) {
		snprintf(path, sizeof(path), "%s/truth.%u", dir, n_harts);
		harts[n_harts] = (struct hart){ .prv = 3, .tid = -1 };
		open_truth(&harts[n_harts], path);
		while (lossy && read_record(&harts[n_harts]))
			;
	}
	compare(stdin);
	check_complete();
	if (compared < min_insns) {
		printf("only %" PRIu64 " instructions were decoded, at least %" PRIu64
		       " expected\n",
		       compared, min_insns);
		return 1;
	}
	if (!lossy && gaps) {
		printf("%" PRIu64 " gaps in a recording that should have none\n", gaps);
		return 1;
	}
	printf("equal: %" PRIu64 " instructions in %" PRIu64 " segments, %" PRIu64 " gaps\n",
	       compared, segments, gaps);
	return 0;
}
