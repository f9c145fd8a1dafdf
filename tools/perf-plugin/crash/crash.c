// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * perf-rvtrace crash: prints what each hart executed last, from the dump of a machine whose kernel
 * has panicked. The driver's flight mode left the trace in memory; the kernel's code is that of the
 * dump, as patched at that time.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <rvtrace/params.h>
#include "common/cmd.h"
#include "common/text.h"
#include "common/view.h"
#include "crash/crash.h"

enum { STATUS_CLEAN, STATUS_LOST, STATUS_UNUSABLE };

#define LAST_INSNS 1000000
/* An address this far from a symbol is in no function. */
#define MAX_FUNCTION (1 << 20)
#define LINE_ROOM 32

struct options {
	const char *path, *kallsyms;
	uint64_t last;
	int *cpus, n_cpus;	/* NULL: all */
	bool raw;
};

struct crash {
	struct options options;
	struct vmcore *core;
	struct crash_flight flight;
	struct crash_symbols symbols;
	struct rvt_image *image;
	struct rvt_space *space;
	struct crash_code code;
	bool lost;
	unsigned int n_harts;
};

static const char usage_text[] =
	"usage: perf-rvtrace crash [OPTIONS] VMCORE\n"
	"Prints what each hart executed up to the panic of its kernel. The driver was in flight\n"
	"mode (rvtrace.flight=1), VMCORE is the dump of that machine: an ELF core file.\n"
	"      --last N          instructions of each hart (1000000); 0: all that the trace has\n"
	"  -C, --cpu LIST        only these\n"
	"      --kallsyms FILE   symbols from a copy of /proc/kallsyms; without it the dump's\n"
	"                        own, which are those of the kernel without modules\n"
	"      --raw-pc          CPU TID PRIVILEGE PC, for programs that compare\n"
	"Exit status: 0 clean; 1 trace was lost, or some hart has none; 2 unusable arguments or\n"
	"files.\n";

/* ---- options ---- */

static int parse_cpus(struct options *o, const char *text)
{
	free(o->cpus);
	o->n_cpus = parse_numbers(text, &o->cpus);
	if (o->n_cpus >= 0)
		return 0;
	o->cpus = NULL;
	return cmd_error(STATUS_UNUSABLE, "--cpu: '%s' is no list of cpus like 0-3,5", text);
}

static int parse_option(struct options *o, int opt)
{
	switch (opt) {
	case 'l':
		return cmd_number("--last", optarg, 0, INT64_MAX, &o->last);
	case 'C':
		return parse_cpus(o, optarg);
	case 'k':
		o->kallsyms = optarg;
		return 0;
	case 'r':
		o->raw = true;
		return 0;
	case 'h':
		fputs(usage_text, stdout);
		exit(STATUS_CLEAN);
	default:
		return cmd_try_help(STATUS_UNUSABLE);
	}
}

static int parse_options(int argc, char **argv, struct options *o)
{
	static const struct option longs[] = {
		{ "last", required_argument, NULL, 'l' },
		{ "cpu", required_argument, NULL, 'C' },
		{ "kallsyms", required_argument, NULL, 'k' },
		{ "raw-pc", no_argument, NULL, 'r' },
		{ "help", no_argument, NULL, 'h' },
		{}
	};
	int opt;

	while ((opt = getopt_long(argc, argv, "C:h", longs, NULL)) != -1) {
		if (parse_option(o, opt))
			return STATUS_UNUSABLE;
	}
	o->path = cmd_one_file(argc, argv, "a dump");
	return o->path ? 0 : STATUS_UNUSABLE;
}

static bool wants_cpu(const struct options *o, uint32_t cpu)
{
	for (int i = 0; i < o->n_cpus; i++)
		if (o->cpus[i] == (int)cpu)
			return true;
	return !o->cpus;
}

/* ---- printing ---- */

static const struct crash_symbol *find_symbol(const struct crash *crash, uint64_t pc)
{
	const struct crash_symbol *symbol = crash_symbols_find(&crash->symbols, pc);

	return symbol && pc - symbol->addr < MAX_FUNCTION ? symbol : NULL;
}

static void print_insn(const struct crash *crash, uint32_t cpu, uint64_t pc)
{
	const struct crash_symbol *symbol = find_symbol(crash, pc);

	printf("[%03u] %16" PRIx64 " ", cpu, pc);
	if (!symbol) {
		puts("[unknown]");
		return;
	}
	put_visible(stdout, symbol->name);
	printf("+0x%" PRIx64 " ([", pc - symbol->addr);
	put_visible(stdout, symbol->owner ? symbol->owner : "kernel.kallsyms");
	puts("])");
}

static void print_run(const struct crash *crash, uint32_t cpu, const struct crash_entry *entry,
		      uint64_t skip)
{
	const struct rvt_run run = { entry->block, entry->first, entry->count };
	uint64_t pc = rvt_run_insn_address(&run, skip);
	char text[LINE_ROOM];

	for (uint32_t i = skip; i < run.count; i++) {
		if (crash->options.raw) {
			*put_hex(text, pc) = 0;
			printf("%u -1 %c %s\n", cpu, (int64_t)pc < 0 ? 'S' : 'U', text);
		} else {
			print_insn(crash, cpu, pc);
		}
		pc += 2 * run.block->halfwords[run.first + i];
	}
}

static void print_event(const struct crash *crash, uint32_t cpu, const struct crash_entry *entry)
{
	const struct rvt_event event = { .type = entry->type, .reason = entry->reason };
	const char *reason = entry->reason ? view_reason(&event) : "";
	const char *what = entry->type == RVT_EVENT_START ? "start" :
			   entry->type == RVT_EVENT_STOP ? "stop" :
			   entry->type == RVT_EVENT_LOST ? "lost" :
			   entry->interrupt ? "interrupt" : "exception";

	if (!crash->options.raw) {
		printf("[%03u] %16" PRIx64 " -- %s%s%s\n", cpu, entry->pc, what,
		       *reason ? ": " : "", reason);
	} else if (entry->type != RVT_EVENT_TRAP) {
		printf("# %s cpu %u pc %" PRIx64 " time 0 offset %" PRIu64 "%s%s\n", what, cpu,
		       entry->pc, entry->offset, *reason ? ": " : "", reason);
	}
}

#define MISSING (RVTRACE_FLIGHT_F_LOST | RVTRACE_FLIGHT_F_NO_END)

/* Prints what is known of the hart, losses first. */
static void print_head(const struct crash *crash, const struct crash_hart *hart,
		       const struct crash_tail *tail)
{
	const bool panicked = crash->flight.header.panic_time &&
			      crash->flight.header.panic_cpu == hart->record.cpu;
	uint64_t shown = tail->wanted && tail->insns > tail->wanted ? tail->wanted : tail->insns;

	printf("# CPU %u%s: the last %" PRIu64 " of %" PRIu64 " instructions in %zu bytes of trace",
	       hart->record.cpu, panicked ? ", which panicked" : "", shown, tail->total, hart->len);
	if (tail->loss.n)
		printf("; flow was lost %" PRIu64 " times", tail->loss.n);
	if (tail->loss.why) {
		fputs(", first: ", stdout);
		put_visible(stdout, tail->loss.why);
	}
	if (hart->record.flags & RVTRACE_FLIGHT_F_LOST)
		fputs("; the encoder had to drop messages", stdout);
	if (hart->record.flags & RVTRACE_FLIGHT_F_NO_END)
		fputs("; what it executed last is missing: its encoder could not be stopped",
		      stdout);
	putchar('\n');
}

static void print_tail(const struct crash *crash, const struct crash_hart *hart,
		       const struct crash_tail *tail)
{
	uint64_t skip = tail->wanted && tail->insns > tail->wanted ?
			tail->insns - tail->wanted : 0;

	print_head(crash, hart, tail);
	for (size_t i = 0; i < tail->n; i++) {
		const struct crash_entry *entry = crash_tail_entry(tail, i);

		if (entry->block) {
			print_run(crash, hart->record.cpu, entry, skip);
			skip = 0;
		} else {
			print_event(crash, hart->record.cpu, entry);
		}
	}
}

/* ---- harts ---- */

/*
 * Reads the encoder's parameters, as the driver wrote them; flight mode uses none of the optional
 * features.
 */
static int read_params(const struct crash_hart *hart, struct rvt_params *params)
{
	char *error = NULL;

	rvt_params_init(params, RVT_PROTOCOL_NTRACE, RVT_DIALECT_NTRACE_1_0);
	if (rvt_params_parse(params, "parameters", hart->params, strlen(hart->params), &error)) {
		cmd_error(0, "CPU %u: %s", hart->record.cpu, error ? error : "out of memory");
		free(error);
		return -EINVAL;
	}
	params->options = 0;
	params->timestamp = RVT_TIMESTAMP_NONE;
	params->timestamp_bytes = 0;
	return 0;
}

static int show_hart(struct crash *crash, const struct crash_hart *hart)
{
	struct crash_tail tail = { .wanted = crash->options.last };
	struct rvt_params params;
	int err = read_params(hart, &params);

	if (err)
		return err;
	err = crash_tail_decode(&tail, hart, &params, crash->space);
	if (err) {
		cmd_error(0, "CPU %u: %s", hart->record.cpu, strerror(-err));
	} else {
		print_tail(crash, hart, &tail);
		crash->lost |= tail.loss.n || hart->record.flags & MISSING;
	}
	crash_tail_free(&tail);
	return err;
}

static void show_harts(struct crash *crash)
{
	for (unsigned int n = 0; n < crash->flight.header.nr_harts; n++) {
		struct crash_hart hart;
		int ret;

		if (!wants_cpu(&crash->options, n))
			continue;
		ret = crash_hart_read(crash->core, &crash->flight, n, &hart);
		if (ret > 0)
			ret = show_hart(crash, &hart) ?: 1;
		crash_hart_free(&hart);
		if (ret > 0)
			crash->n_harts++;
		else if (!ret && crash->options.cpus)
			cmd_error(0, "CPU %u: it was not in flight mode", n);
		crash->lost |= ret < 0 || (!ret && crash->options.cpus);
	}
}

/* ---- the command ---- */

static int open_flight(struct crash *crash)
{
	const struct options *o = &crash->options;
	struct rvtrace_flight_header *header = &crash->flight.header;
	uint64_t satp = 0;

	crash->core = vmcore_open(o->path);
	if (!crash->core)
		return STATUS_UNUSABLE;
	if (!crash_flight_find(crash->core, &crash->flight))
		return cmd_error(STATUS_UNUSABLE, "%s: the driver was not in flight mode, or its "
				 "pages are not in the dump.\n  Switch it on by rvtrace.flight=1, "
				 "or 1 to /sys/module/rvtrace/parameters/flight", o->path);
	if (crash->flight.headers > 1)
		cmd_warning("%s: flight mode of %u kernels, the one that panicked is shown",
			    o->path, crash->flight.headers);
	if (!header->panic_time)
		cmd_warning("%s: the kernel did not tell the driver that it panicked", o->path);
	if (!header->satp)
		vmcore_number(crash->core, "NUMBER(satp)", 0, &satp);
	vmcore_set_satp(crash->core, header->satp ? header->satp : satp);
	return 0;
}

static int open_code(struct crash *crash)
{
	crash->code.core = crash->core;
	if (rvt_image_create(&crash->image) ||
	    rvt_space_create(crash->image, NULL, &crash->space))
		return cmd_error(STATUS_UNUSABLE, "out of memory");
	rvt_space_set_fetch(crash->space, crash_code_fetch, &crash->code);
	return 0;
}

/* Reads the symbols. Without them, addresses are printed. */
static int open_symbols(struct crash *crash)
{
	const struct options *o = &crash->options;

	if (o->raw)
		return 0;
	if (o->kallsyms)
		return crash_symbols_file(&crash->symbols, o->kallsyms) ? STATUS_UNUSABLE : 0;
	if (!crash_symbols_core(&crash->symbols, crash->core))
		cmd_warning("%s: it has no symbols of its kernel: give --kallsyms", o->path);
	return 0;
}

static void print_machine(const struct crash *crash)
{
	const struct rvtrace_flight_header *header = &crash->flight.header;
	char id[64];

	if (!vmcore_text(crash->core, "BUILD-ID", id, sizeof(id)))
		id[0] = 0;
	fputs("# kernel ", stdout);
	put_visible(stdout, header->release);
	if (id[0]) {
		fputs(", build id ", stdout);
		put_visible(stdout, id);
	}
	puts("; user code is not shown");
}

static int run(struct crash *crash)
{
	int ret = open_flight(crash);

	if (!ret)
		ret = open_code(crash);
	if (!ret)
		ret = open_symbols(crash);
	if (ret)
		return ret;
	print_machine(crash);
	show_harts(crash);
	if (!crash->n_harts)
		return cmd_error(STATUS_UNUSABLE, "%s: no hart has trace that can be decoded",
				 crash->options.path);
	return crash->lost ? STATUS_LOST : STATUS_CLEAN;
}

int cmd_crash(int argc, char **argv)
{
	struct crash crash = { .options.last = LAST_INSNS };
	int ret = parse_options(argc, argv, &crash.options);

	if (!ret)
		ret = run(&crash);
	if (crash.image)
		rvt_image_destroy(crash.image);
	crash_code_free(&crash.code);
	crash_symbols_free(&crash.symbols);
	vmcore_close(crash.core);
	free(crash.options.cpus);
	return ret;
}
