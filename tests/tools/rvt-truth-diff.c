// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * rvt-truth-diff - is decoded flow what the emulator executed?
 *
 * Reads `perf-rvtrace script --raw-pc` from standard input (CPU TID PRV PC per retired
 * instruction, '#' lines at gaps, starts and stops) and the truth files DIR/truth.N, and compares
 * them instruction by instruction: address, privilege and, where the truth knows it, thread (a TID
 * of "-" is not compared: a recording without context leaves in scontext what was there). Memory
 * does not grow with them.
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
#define FORGET (1u << 18)	/* instructions at once; segments with more are not kept either */
#define ANY_TID -2
#define GUEST 4		/* beside the privilege: V=1 */

struct insn {
	uint64_t pc;
	int64_t tid;		/* -1: not known */
	uint8_t prv;
};

struct insn_list {
	struct insn *at;
	size_t n;
};

/* The thread of a segment's user code, from instruction @from on. */
struct turn {
	uint64_t from;
	int64_t tid;
};

/*
 * Decoded flow without a gap. What is behind the first FORGET instructions of a lossy one is known
 * by the hash of all, and by the threads' turns.
 */
struct segment {
	struct insn_list first;
	uint64_t n;
	uint64_t hash;
	struct turn *turns;
	size_t n_turns;
};

/*
 * The truth of one hart, filtered to what the recording should hold. It is read as far as it is
 * compared; a part of it is in memory.
 */
struct hart {
	unsigned int number;
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
/* The same truths, read a second time as far as no later segment can begin before. */
static struct hart behind[MAX_HARTS];
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

/* Reads the truth of hart @number from its beginning. */
static void open_truth(struct hart *hart, unsigned int number)
{
	struct insn *room = hart->truth.at;
	char path[4096];
	int ret;

	rvt_truth_reader_close(hart->reader);
	free(room);
	*hart = (struct hart){ .number = number, .prv = 3, .tid = -1 };
	snprintf(path, sizeof(path), "%s/truth.%u", dir, number);
	ret = rvt_truth_open(path, &hart->reader, &number);
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
		fprintf(stderr, "rvt-truth-diff: %s/truth.%u: damaged or incomplete truth file\n",
			dir, hart->number);
		exit(2);
	}
	if (!ret) {
		rvt_truth_reader_close(hart->reader);
		hart->reader = NULL;
		return false;
	}
	switch (rec.type) {
	case RVT_TRUTH_STATE:
		hart->prv = rec.prv | (rec.v ? GUEST : 0);
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

/* Whether there is an instruction @at, which is one of those in memory or behind them. */
static bool has_truth(struct hart *hart, size_t at)
{
	while (at >= hart->truth.n && read_record(hart))
		;
	return at < hart->truth.n;
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

/* The next instruction, which is accounted for then; NULL: the truth has ended. */
static const struct insn *next_insn(struct hart *hart)
{
	if (hart->pos >= FORGET)
		forget(hart);
	return has_truth(hart, hart->pos) ? &hart->truth.at[hart->pos++] : NULL;
}

/* What is before instruction @at of the truth is accounted for, and no more. */
static void go_to(struct hart *hart, uint64_t at)
{
	if (at < hart->forgotten + hart->pos)
		open_truth(hart, hart->number);
	while (hart->forgotten + hart->pos < at && next_insn(hart))
		;
}

/*
 * An Ownership message does not say at which instruction the context changed, only between which
 * two other messages. It changes in the kernel's context switch, so in user code, and in what a
 * guest executes, the thread is exact.
 */
static bool same(const struct insn *decoded, const struct insn *truth)
{
	return decoded->pc == truth->pc && decoded->prv == truth->prv &&
	       ((decoded->prv && !(decoded->prv & GUEST)) || truth->tid <= 0 ||
		decoded->tid == ANY_TID || decoded->tid == truth->tid);
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

static void differ(struct hart *hart, const struct segment *segment, size_t i, size_t truth_at)
{
	printf("FIRST DIFFERENCE: cpu %u, instruction %zu of a decoded segment of %" PRIu64 "\n",
	       hart->number, i, segment->n);
	show("decoded", &segment->first, 0, i);
	/* what comes next is shown, too */
	has_truth(hart, truth_at + SURROUNDINGS);
	show("truth", &hart->truth, hart->forgotten, truth_at);
	exit(1);
}

/* A decoded segment must continue the truth exactly where the last one ended. */
static void check_exact(struct hart *hart, const struct segment *segment)
{
	const struct insn_list *list = &segment->first;

	for (size_t i = 0; i < list->n; i++, hart->pos++)
		if (!has_truth(hart, hart->pos) ||
		    !same(&list->at[i], &hart->truth.at[hart->pos]))
			differ(hart, segment, i, hart->pos);
	if (hart->pos >= FORGET)
		forget(hart);
}

static size_t match_length(struct hart *hart, const struct insn_list *list)
{
	size_t i = 0;

	while (i < list->n && has_truth(hart, hart->pos + i) &&
	       same(&list->at[i], &hart->truth.at[hart->pos + i]))
		i++;
	return i;
}

/*
 * A decoded segment must be somewhere in the truth, after all earlier ones. Taking the earliest
 * place where it fits leaves the most room for those that follow.
 */
static void check_somewhere(struct hart *hart, const struct segment *segment)
{
	uint64_t best_at = hart->forgotten + hart->pos;
	size_t best = 0;

	do {
		size_t n = match_length(hart, &segment->first);

		if (n == segment->first.n) {
			hart->pos += n;
			return;
		}
		if (n > best) {
			best = n;
			best_at = hart->forgotten + hart->pos;
		}
	} while (next_insn(hart));
	go_to(hart, best_at);
	differ(hart, segment, best, hart->pos + best);
}

/* ---- segments of more instructions than are kept ---- */

/*
 * A polynomial modulo 2^61 - 1: the hash of a window of the truth follows from that of the window
 * one instruction before.
 */
#define HASH_PRIME ((1ull << 61) - 1)
#define HASH_BASE 0x16f11fe89b0d677cull

static uint64_t hash_product(uint64_t a, uint64_t b)
{
	return (uint64_t)((unsigned __int128)a * b % HASH_PRIME);
}

static uint64_t hash_insn(const struct insn *insn)
{
	return (insn->pc + insn->prv * 0x9e3779b97f4a7c15ull) % HASH_PRIME;
}

static uint64_t hash_append(uint64_t hash, const struct insn *insn)
{
	return (hash_product(hash, HASH_BASE) + hash_insn(insn)) % HASH_PRIME;
}

/* What the first of @n instructions adds to their hash. */
static uint64_t hash_weight(uint64_t n)
{
	uint64_t weight = 1, power = HASH_BASE;

	for (n--; n; n >>= 1, power = hash_product(power, power))
		if (n & 1)
			weight = hash_product(weight, power);
	return weight;
}

/*
 * Whether the threads of the segment are those of the truth from where @trail is, which is behind
 * it then.
 */
static bool same_threads(struct hart *trail, const struct segment *segment)
{
	size_t turn = 0;

	for (uint64_t i = 0; i < segment->n; i++) {
		const struct insn *truth = next_insn(trail);
		struct insn decoded = *truth;

		if (truth->prv)
			continue;
		while (turn + 1 < segment->n_turns && segment->turns[turn + 1].from <= i)
			turn++;
		decoded.tid = segment->turns[turn].tid;
		if (!same(&decoded, truth))
			return false;
	}
	return true;
}

/* As check_somewhere(). @trail reads what leaves the window when @hart reads what comes into it. */
static void check_long(struct hart *hart, struct hart *trail, const struct segment *segment)
{
	uint64_t start = hart->forgotten + hart->pos, at = start;
	uint64_t weight = hash_weight(segment->n), hash = 0;
	const struct insn *in, *out;

	go_to(trail, start);
	for (uint64_t i = 0; i < segment->n; i++) {
		in = next_insn(hart);
		if (!in)
			goto none;
		hash = hash_append(hash, in);
	}
	for (;;) {
		if (hash == segment->hash) {
			if (same_threads(trail, segment))
				return;
			go_to(trail, at);
		}
		in = next_insn(hart);
		if (!in)
			goto none;
		out = next_insn(trail);
		hash += HASH_PRIME - hash_product(hash_insn(out), weight);
		hash = hash_append(hash, in);
		at++;
	}
none:
	go_to(hart, start);
	check_somewhere(hart, segment);
	printf("FIRST DIFFERENCE: cpu %u, somewhere behind the first %zu instructions of a decoded "
	       "segment of %" PRIu64 "\n", hart->number, segment->first.n, segment->n);
	show("decoded", &segment->first, 0, segment->first.n - 1);
	show("truth", &hart->truth, hart->forgotten, hart->pos - 1);
	exit(1);
}

static void append(struct segment *segment, const struct insn *insn)
{
	if (segment->n < FORGET)
		push(&segment->first, insn->pc, insn->tid, insn->prv);
	if (lossy) {
		segment->hash = hash_append(segment->hash, insn);
		if (!insn->prv && (!segment->n_turns ||
				   segment->turns[segment->n_turns - 1].tid != insn->tid)) {
			if (array_grow(&segment->turns, segment->n_turns))
				die("out of memory");
			segment->turns[segment->n_turns++] = (struct turn){ segment->n, insn->tid };
		}
	}
	segment->n++;
}

static void end_segment(int cpu, struct segment *segment)
{
	if (!segment->n)
		return;
	if (cpu < 0 || cpu >= MAX_HARTS)
		die("decoded flow without a CPU number");
	if (!lossy)
		check_exact(&harts[cpu], segment);
	else if (segment->n == segment->first.n)
		check_somewhere(&harts[cpu], segment);
	else
		check_long(&harts[cpu], &behind[cpu], segment);
	compared += segment->n;
	segments++;
	segment->n = segment->first.n = segment->n_turns = 0;
	segment->hash = 0;
}

static uint8_t parse_prv(const char *text)
{
	switch (*text) {
	case 'U': case '0': return 0;
	case 'S': case '1': return 1;
	case 'M': case '3': return 3;
	case 'V': return GUEST | parse_prv(text + 1);
	}
	die("a line whose privilege is none of U, S, M, VU, VS");
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
	struct segment segment = { 0 };
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
		/* Long segments are checked in pieces; a lossy one must be found as a whole. */
		if (line_cpu != cpu || (!lossy && segment.n == FORGET))
			end_segment(cpu, &segment);
		cpu = line_cpu;
		append(&segment, &insn);
	}
	end_segment(cpu, &segment);
	free(line);
	free(segment.first.at);
	free(segment.turns);
}

static void check_complete(void)
{
	const struct segment none = { 0 };

	for (unsigned int i = 0; i < MAX_HARTS && !lossy; i++)
		if (has_truth(&harts[i], harts[i].pos))
			differ(&harts[i], &none, 0, harts[i].pos);
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
	fputs("usage: rvt-truth-diff [--lossy] [--tid TID]... [--thread TID]... [--hcontext] "
	      "[--min N]\n"
	      "       TRUTHDIR < RAW-PC\n"
	      "  --lossy    gaps are expected: what was decoded must be in the truth, in order\n"
	      "  --tid TID  compare with all user code of these threads, not with what the\n"
	      "             encoder says it traced\n"
	      "  --thread TID compare with user code of these threads, as far as the encoder says\n"
	      "             it traced it: of several recordings one after the other\n"
	      "  --hcontext hcontext has the thread ids; 16383 is one that it has no room for\n"
	      "  --min N    fewer than N compared instructions is a failure\n", out);
}

int main(int argc, char **argv)
{
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
	for (unsigned int i = 0; i < MAX_HARTS; i++) {
		open_truth(&harts[i], i);
		if (lossy)
			open_truth(&behind[i], i);
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
