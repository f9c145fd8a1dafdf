// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* `perf-rvtrace tandem`: traces of the tandem-verification protocol; and its subcommand show. */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "common/cmd.h"
#include "tandem/tandem.h"

static const struct {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *help;
} subcommands[] = {
	{ "show", tandem_show, "print a trace, or what is in it" },
	{ "from-elf", tandem_from_elf, "turn an ELF file into a trace that loads memory" },
	{ "verify", tandem_verify, "check a trace against a golden model, step by step" },
	{ "to-truth", tandem_to_truth, "turn a trace into the ground truth of decoder tests" },
};

struct show {
	struct rvt_tandem_params params;
	bool summary, in_group;
	uint64_t problems;
};

static void show_problem(void *ctx, uint64_t offset, enum rvt_tandem_problem problem)
{
	struct show *show = ctx;

	/* errors that the protocol tolerates are only counted */
	if (problem <= RVT_TANDEM_FORGIVEN)
		return;
	show->problems++;
	if (!show->summary)
		printf("%10" PRIx64 "  error: %s\n", offset, rvt_tandem_problem_name(problem));
}

static void show_record(struct show *show, const struct rvt_tandem_record *record)
{
	if (record->op == RVT_TANDEM_BEGIN_GROUP || record->op == RVT_TANDEM_END_GROUP)
		show->in_group = false;
	printf("%10" PRIx64 "  %s", record->offset, show->in_group ? "  " : "");
	rvt_tandem_print(stdout, &show->params, record);
	if (record->op == RVT_TANDEM_BEGIN_GROUP)
		show->in_group = true;
	putchar('\n');
}

static void print_summary(const struct rvt_tandem_stats *stats)
{
	unsigned int i;

	printf("%" PRIu64 " bytes\n", stats->bytes);
	for (i = 0; i < RVT_TANDEM_OPS; i++)
		if (stats->ops[i])
			printf("%12" PRIu64 "  %s%s\n", stats->ops[i], rvt_tandem_op_name(i),
			       i == RVT_TANDEM_INSN16 ? ", 16 bits" :
			       i == RVT_TANDEM_INSN32 ? ", 32 bits" : "");
	for (i = 1; i < RVT_TANDEM_PROBLEMS; i++)
		if (stats->problems[i])
			printf("%12" PRIu64 "  %s%s\n", stats->problems[i],
			       i <= RVT_TANDEM_FORGIVEN ? "forgiven: " : "error: ",
			       rvt_tandem_problem_name(i));
	if (stats->skipped_bytes)
		printf("%12" PRIu64 "  bytes skipped\n", stats->skipped_bytes);
}

static int show_file(const char *path, struct show *show)
{
	struct rvt_tandem_reader *reader;
	struct rvt_tandem_record record;
	int ret;

	ret = rvt_tandem_open(path, &show->params, &reader);
	if (ret)
		return cmd_error(2, "%s: %s", path, strerror(-ret));
	rvt_tandem_on_problem(reader, show_problem, show);
	while (rvt_tandem_next(reader, &record))
		if (!show->summary)
			show_record(show, &record);
	if (show->summary)
		print_summary(rvt_tandem_stats(reader));
	rvt_tandem_close(reader);
	return show->problems ? 1 : 0;
}

static int show_usage(void)
{
	fputs("usage: perf rvtrace tandem show [OPTIONS] FILE\n\n"
	      "  -s, --summary    count opcodes and errors instead of printing records\n"
	      "  -x, --xlen BITS  32 or 64 (64); sets the defaults of the other three\n"
	      "  -f, --flen BITS  32 or 64 (64)\n"
	      "  -m, --mlen BITS  32, 34 or 64 (64; 34 with XLEN 32)\n"
	      "  -i, --ilen BITS  16 or 32 (32)\n\n"
	      "Offsets are hexadecimal. The exit status is 1 when the trace has errors.\n", stdout);
	return 0;
}

int tandem_show(int argc, char **argv)
{
	static const struct option options[] = {
		{ "summary", no_argument, NULL, 's' }, { "xlen", required_argument, NULL, 'x' },
		{ "flen", required_argument, NULL, 'f' }, { "mlen", required_argument, NULL, 'm' },
		{ "ilen", required_argument, NULL, 'i' }, { "help", no_argument, NULL, 'h' }, { 0 }
	};
	struct show show = { 0 };
	const char *trace;
	int option;

	rvt_tandem_params_init(&show.params, 64);
	while ((option = getopt_long(argc, argv, "sx:f:m:i:h", options, NULL)) != -1) {
		if (option == 'h')
			return show_usage();
		if (option == '?')
			return cmd_try_help(2);
		if (option == 's')
			show.summary = true;
		else if (tandem_param(&show.params, option, optarg))
			return 2;
	}
	trace = cmd_one_file(argc, argv, "a trace");
	return !trace ? 2 : show_file(trace, &show);
}

static int usage(FILE *out, int status)
{
	size_t i;

	fputs("usage: perf rvtrace tandem SUBCOMMAND [OPTIONS]\n\n", out);
	for (i = 0; i < sizeof(subcommands) / sizeof(subcommands[0]); i++)
		fprintf(out, "  %-10s %s\n", subcommands[i].name, subcommands[i].help);
	fputs("\n'perf rvtrace tandem SUBCOMMAND --help' explains a subcommand.\n", out);
	return status;
}

int cmd_tandem(int argc, char **argv)
{
	static char name[64];	/* for messages, as in main() */
	size_t i;

	if (argc < 2)
		return usage(stderr, 2);
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))
		return usage(stdout, 0);
	for (i = 0; i < sizeof(subcommands) / sizeof(subcommands[0]); i++) {
		if (strcmp(argv[1], subcommands[i].name))
			continue;
		snprintf(name, sizeof(name), "perf-rvtrace tandem %s", argv[1]);
		argv[1] = name;
		cmd_name = strstr(name, "tandem");
		return subcommands[i].run(argc - 1, argv + 1);
	}
	cmd_error(0, "there is no subcommand '%s'", argv[1]);
	return cmd_try_help(2);
}
