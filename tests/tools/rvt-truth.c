// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * rvt-truth - print a ground-truth file.
 *
 * By default one line per record; with --pc one line per retired instruction: its address.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <rvtrace/truth.h>

static bool pc_only, traced_only, with_traps;
static int64_t want_prv = -1, want_scontext = -1;

/* What holds at this place of the file. */
static struct {
	bool on, lost;
	uint8_t prv;
	uint64_t scontext;
} now;

static bool wanted(void)
{
	if (traced_only && (!now.on || now.lost))
		return false;
	if (want_prv >= 0 && want_prv != now.prv)
		return false;
	return want_scontext < 0 || (uint64_t)want_scontext == now.scontext;
}

static void follow(const struct rvt_truth_record *rec)
{
	switch (rec->type) {
	case RVT_TRUTH_STATE:
		now.prv = rec->prv;
		now.scontext = rec->scontext;
		break;
	case RVT_TRUTH_ON:
		now.on = true;
		now.lost = false;
		break;
	case RVT_TRUTH_OFF:
		now.on = false;
		break;
	case RVT_TRUTH_LOST:
		now.lost = true;
		break;
	case RVT_TRUTH_FOUND:
		now.lost = false;
		break;
	default:
		break;
	}
}

static void print_pcs(const struct rvt_truth_record *rec)
{
	uint64_t pc = rec->pc;

	for (uint32_t i = 0; i < rec->count; i++) {
		printf("%016" PRIx64 "\n", pc);
		pc += 2 * rec->halfwords[i];
	}
}

static void print_trap(const struct rvt_truth_record *rec)
{
	printf("trap %s cause %" PRIu64 " epc %016" PRIx64 " tval %" PRIx64 " handler %016" PRIx64
	       "\n",
	       rec->interrupt ? "interrupt" : "exception", rec->cause, rec->epc, rec->tval,
	       rec->handler);
}

static void print_record(const struct rvt_truth_record *rec)
{
	switch (rec->type) {
	case RVT_TRUTH_INSNS:
		printf("insns %016" PRIx64 " count %u\n", rec->pc, rec->count);
		break;
	case RVT_TRUTH_STATE:
		printf("state prv %u v %u scontext %" PRIu64 " hcontext %" PRIu64 "\n", rec->prv,
		       rec->v, rec->scontext, rec->hcontext);
		break;
	case RVT_TRUTH_TRAP:
		print_trap(rec);
		break;
	case RVT_TRUTH_ON:
		printf("on sequence %" PRIu64 " time %" PRIu64 "\n", rec->sequence, rec->time);
		break;
	case RVT_TRUTH_OFF:
		printf("off sequence %" PRIu64 " time %" PRIu64 "\n", rec->sequence, rec->time);
		break;
	case RVT_TRUTH_LOST:
		puts("lost");
		break;
	case RVT_TRUTH_FOUND:
		puts("found");
		break;
	}
}

static void print(const struct rvt_truth_record *rec)
{
	follow(rec);
	if (!wanted())
		return;
	if (!pc_only)
		print_record(rec);
	else if (rec->type == RVT_TRUTH_INSNS)
		print_pcs(rec);
	else if (rec->type == RVT_TRUTH_TRAP && with_traps)
		print_trap(rec);
}

static const struct option options[] = {
	{ "pc", no_argument, NULL, 'p' },
	{ "traps", no_argument, NULL, 'T' },
	{ "traced", no_argument, NULL, 't' },
	{ "prv", required_argument, NULL, 'm' },
	{ "scontext", required_argument, NULL, 's' },
	{ "help", no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 },
};

static void usage(FILE *out)
{
	fputs("usage: rvt-truth [--pc [--traps]] [--traced] [--prv N] [--scontext N] FILE\n"
	      "  --pc          the address of each retired instruction, one a line\n"
	      "  --traps       with --pc: traps between them, too\n"
	      "  --traced      only what the encoder traced and did not lose\n"
	      "  --prv N       only at privilege mode N (0, 1 or 3)\n"
	      "  --scontext N  only while scontext was N\n", out);
}

int main(int argc, char **argv)
{
	struct rvt_truth_reader *reader;
	struct rvt_truth_record rec;
	int c, ret;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (c) {
		case 'p':
			pc_only = true;
			break;
		case 'T':
			with_traps = true;
			break;
		case 't':
			traced_only = true;
			break;
		case 'm':
			want_prv = strtoll(optarg, NULL, 0);
			break;
		case 's':
			want_scontext = strtoll(optarg, NULL, 0);
			break;
		default:
			usage(c == 'h' ? stdout : stderr);
			return c == 'h' ? 0 : 2;
		}
	}
	if (optind + 1 != argc) {
		usage(stderr);
		return 2;
	}
	ret = rvt_truth_open(argv[optind], &reader, NULL);
	if (!ret) {
		while ((ret = rvt_truth_next(reader, &rec)) == 1)
			print(&rec);
		rvt_truth_reader_close(reader);
	}
	if (ret)
		fprintf(stderr, "rvt-truth: %s: %s\n", argv[optind],
			ret == -EBADMSG ? "not a truth file, or damaged or incomplete"
					: strerror(-ret));
	return ret ? 1 : 0;
}
