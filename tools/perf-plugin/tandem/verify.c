// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* `perf-rvtrace tandem verify`: check a trace against a golden model. */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "common/cmd.h"
#include "common/text.h"
#include "tandem/tandem.h"

static volatile sig_atomic_t interrupted;

static void on_signal(int number)
{
	(void)number;
	interrupted = 1;
}

struct verify {
	struct rvt_tandem_params params;
	struct rvt_tandem_verify_options options;
	uint64_t problems, bytes;
};

static void progress(void *ctx, uint64_t offset)
{
	const struct verify *verify = ctx;

	fprintf(stderr, "\r%3u %%\r", (unsigned int)(100 * offset / verify->bytes));
}

static void report(void *ctx, const struct rvt_tandem_shadow *shadow, uint64_t number, uint64_t pc,
		   const struct rvt_tandem_group *group, const char *text)
{
	(void)ctx;
	(void)shadow;
	printf("mismatch at offset 0x%" PRIx64 " (group %" PRIu64 "): pc 0x%" PRIx64 ", ",
	       group->offset, number, pc);
	if (group->has_insn)
		printf("instruction %0*" PRIx32 "\n", 2 * group->insn_bytes, group->insn);
	else
		printf("no instruction\n");
	fputs(text, stdout);
}

static void problem(void *ctx, uint64_t offset, enum rvt_tandem_problem problem)
{
	struct verify *verify = ctx;

	if (problem <= RVT_TANDEM_FORGIVEN)
		return;
	verify->problems++;
	printf("error at offset 0x%" PRIx64 ": %s\n", offset, rvt_tandem_problem_name(problem));
}

static void print_result(const struct verify *verify, const struct rvt_tandem_verify_result *result)
{
	unsigned int csr;
	char buf[16];

	printf("%12" PRIu64 "  groups\n", result->groups);
	printf("%12" PRIu64 "  steps executed, %" PRIu64 " of them traps, %" PRIu64 " interrupts\n",
	       result->executed, result->traps, result->interrupts);
	printf("%12" PRIu64 "  groups compared\n", result->compared);
	printf("%12" PRIu64 "  inputs copied before execution\n", result->inputs);
	if (result->no_pc)
		printf("%12" PRIu64 "  not compared: the pc was not known\n", result->no_pc);
	if (result->doubtful)
		printf("%12" PRIu64 "  not compared: registers not known since damage\n",
		       result->doubtful);
	if (result->unknown_code)
		printf("%12" PRIu64 "  not compared: code not in the trace\n",
		       result->unknown_code);
	if (result->unknown_memory)
		printf("%12" PRIu64 "  not compared: memory or page tables not in the trace\n",
		       result->unknown_memory);
	for (csr = 0; csr < 4096; csr++)
		if (result->unmodelled_csr[csr])
			printf("%12" PRIu32 "  not compared: access to %s, which is not modelled\n",
			       result->unmodelled_csr[csr], rvt_tandem_reg_name(csr, buf));
	if (result->disputed)
		printf("%12" PRIu64 "  not compared: the golden model's sources disagree, last "
		       "about %08" PRIx32 "\n", result->disputed, result->disputed_insn);
	if (verify->problems)
		printf("%12" PRIu64 "  errors of the trace\n", verify->problems);
	printf("%12" PRIu64 "  mismatches\n", result->mismatched);
}

static int exit_status(const struct verify *verify, const struct rvt_tandem_verify_result *result,
		       int error)
{
	if (error)
		return 2;
	if (result->mismatched)
		return 1;
	if (!result->compared)
		return cmd_error(2, "nothing could be verified: the trace has no instruction "
				 "at a known pc");
	return verify->problems ? 1 : 0;
}

static int run(const char *path, struct verify *verify)
{
	struct rvt_tandem_verify_result *result = calloc(1, sizeof(*result));
	struct rvt_tandem_reader *reader = NULL;
	int ret;

	if (!result)
		return cmd_error(2, "%s", strerror(ENOMEM));
	ret = tandem_unicorn_create(&verify->params, &verify->options.ops, &verify->options.ctx);
	if (ret) {
		cmd_error(2, ret == -ENOTSUP ? "this build has no golden model (libunicorn)" :
			  "the golden model cannot be started");
		goto out;
	}
	ret = rvt_tandem_open(path, &verify->params, &reader);
	if (ret) {
		cmd_error(2, "%s: %s", path, strerror(-ret));
		goto out;
	}
	rvt_tandem_on_problem(reader, problem, verify);
	verify->bytes = rvt_tandem_stats(reader)->bytes;
	verify->options.report_ctx = verify;
	if (isatty(STDERR_FILENO))
		verify->options.progress = progress;
	ret = rvt_tandem_verify(reader, &verify->params, &verify->options, result);
	print_result(verify, result);
	if (ret)
		cmd_error(2, "verification stopped: %s", strerror(-ret));
	else if (interrupted)
		cmd_warning("interrupted; this is the result so far");
out:
	ret = exit_status(verify, result, ret);
	rvt_tandem_close(reader);
	tandem_unicorn_destroy(verify->options.ctx);
	free(result);
	return ret;
}

static int add_ram(struct rvt_tandem_verify_options *options, const char *text)
{
	struct rvt_tandem_range *range = &options->ram[options->ram_len];
	const char *rest = text;

	if (options->ram_len == RVT_TANDEM_MAX_RANGES)
		return cmd_error(-EINVAL, "at most %u RAM ranges", RVT_TANDEM_MAX_RANGES);
	if (read_number(&rest, &range->base) || *rest++ != ':' ||
	    read_number(&rest, &range->size) || *rest || !range->size)
		return cmd_error(-EINVAL, "--ram: '%s' is not BASE:SIZE", text);
	options->ram_len++;
	return 0;
}

static void absent_range(struct rvt_tandem_verify_options *options, unsigned int from,
			 unsigned int to)
{
	for (; from < to; from++)
		options->absent_regs[from] = true;
}

static int add_absent(struct rvt_tandem_verify_options *options, char *list)
{
	char *name;
	int reg;

	while ((name = strsep(&list, ","))) {
		if (!strcmp(name, "pc")) {
			options->absent_pc = true;
		} else if (!strcmp(name, "privilege")) {
			options->absent_privilege = true;
		} else if (!strcmp(name, "memory")) {
			options->absent_memory = true;
		} else if (!strcmp(name, "gpr")) {
			absent_range(options, RVT_TANDEM_GPR, RVT_TANDEM_FPR);
		} else if (!strcmp(name, "fpr")) {
			absent_range(options, RVT_TANDEM_FPR, RVT_TANDEM_REGS);
		} else if (!strcmp(name, "csr")) {
			absent_range(options, 0, RVT_TANDEM_GPR);
		} else {
			reg = rvt_tandem_reg_find(name);
			if (reg < 0)
				return cmd_error(reg, "'%s' is none of pc, privilege, memory, gpr, "
						 "fpr, csr, or a register", name);
			options->absent_regs[reg] = true;
		}
	}
	return 0;
}

static int add_choices(struct rvt_tandem_verify_options *options, char *list)
{
	static const struct {
		const char *name;
		unsigned int bit;
	} choices[] = {
		{ "ebreak-tval=0", RVT_TANDEM_CHOICE_EBREAK_TVAL_0 },
		{ "illegal-tval=0", RVT_TANDEM_CHOICE_ILLEGAL_TVAL_0 },
		{ "misaligned", RVT_TANDEM_CHOICE_MISALIGNED },
		{ "ad-fault", RVT_TANDEM_CHOICE_AD_FAULT },
		{ "warl", RVT_TANDEM_CHOICE_WARL },
		{ "minstret", RVT_TANDEM_CHOICE_MINSTRET },
	};
	const size_t n = sizeof(choices) / sizeof(choices[0]);
	char *name;
	size_t i;

	while ((name = strsep(&list, ","))) {
		for (i = 0; i < n && strcmp(name, choices[i].name); i++)
			;
		if (i == n)
			return cmd_error(-EINVAL, "--choices: '%s' is none of ebreak-tval=0, "
					 "illegal-tval=0, misaligned, ad-fault, warl, minstret",
					 name);
		options->choices |= choices[i].bit;
	}
	return 0;
}

static int usage(void)
{
	fputs("usage: perf rvtrace tandem verify [OPTIONS] FILE\n\n"
	      "  -r, --ram BASE:SIZE   RAM, may be repeated (0x80000000 up to 16 GiB); loads from\n"
	      "                        elsewhere are inputs\n"
	      "  -S, --shared-memory   loads from RAM are inputs too: others write to it\n"
	      "  -a, --absent LIST     what the trace leaves out: pc, privilege, memory, gpr,\n"
	      "                        fpr, csr, or registers by name\n"
	      "  -c, --choices LIST    what the implementation chose: ebreak-tval=0, "
	      "illegal-tval=0,\n"
	      "                        misaligned (accesses may trap), ad-fault (no update of A "
	      "and\n"
	      "                        D), warl (written CSRs), minstret (counts something else)\n"
	      "  -n, --max-reports N   mismatches to print (20); all are counted; 0: print all\n"
	      "  -l, --limit N         stop after N instructions\n"
	      "  -x, --xlen BITS       32 or 64 (64); sets the defaults of the other three\n"
	      "  -f, --flen, -m, --mlen, -i, --ilen BITS\n\n"
	      "Exit status: 0 all agrees, 1 mismatches or a damaged trace, 2 could not verify.\n",
	      stdout);
	return 0;
}

static int parse(struct verify *verify, int option, char *value)
{
	struct rvt_tandem_verify_options *options = &verify->options;

	switch (option) {
	case 'r':
		return add_ram(options, value);
	case 'S':
		options->shared_memory = true;
		return 0;
	case 'a':
		return add_absent(options, value);
	case 'c':
		return add_choices(options, value);
	case 'n':
		return cmd_number("--max-reports", value, 0, UINT64_MAX, &options->max_reports);
	case 'l':
		return cmd_number("--limit", value, 0, UINT64_MAX, &options->max_insns);
	default:
		return tandem_param(&verify->params, option, value);
	}
}

int tandem_verify(int argc, char **argv)
{
	static const struct option options[] = {
		{ "ram", required_argument, NULL, 'r' },
		{ "shared-memory", no_argument, NULL, 'S' },
		{ "absent", required_argument, NULL, 'a' },
		{ "choices", required_argument, NULL, 'c' },
		{ "max-reports", required_argument, NULL, 'n' },
		{ "limit", required_argument, NULL, 'l' },
		{ "xlen", required_argument, NULL, 'x' }, { "flen", required_argument, NULL, 'f' },
		{ "mlen", required_argument, NULL, 'm' }, { "ilen", required_argument, NULL, 'i' },
		{ "help", no_argument, NULL, 'h' }, { 0 }
	};
	struct verify verify = { .options = { .max_reports = 20, .report = report } };
	const char *trace;
	int option;

	rvt_tandem_params_init(&verify.params, 64);
	while ((option = getopt_long(argc, argv, "r:Sa:c:n:l:x:f:m:i:h", options, NULL)) != -1) {
		if (option == 'h')
			return usage();
		if (option == '?')
			return cmd_try_help(2);
		if (parse(&verify, option, optarg))
			return 2;
	}
	trace = cmd_one_file(argc, argv, "a trace");
	if (!trace)
		return 2;
	if (!verify.options.ram_len)
		add_ram(&verify.options, "0x80000000:0x400000000");
	verify.options.stop = &interrupted;
	signal(SIGINT, on_signal);
	return run(trace, &verify);
}
