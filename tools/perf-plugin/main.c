// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* perf-rvtrace: `perf rvtrace` runs it; it also runs by itself. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include "common/cmd.h"
#include "common/output.h"
#include "common/progress.h"

#define STATUS_INTERRUPTED 130	/* as in a shell for a process that SIGINT ended */

static const struct command {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *help;
	bool to_file;	/* its result does not go to standard output */
} commands[] = {
	{ "record", cmd_record, "record the control flow of a command, process, cpu or system",
	  true },
	{ "script", cmd_script, "print the recorded flow: branches, calls or instructions", false },
	{ "report", cmd_report, "count the instructions of every function", false },
	{ "annotate", cmd_annotate, "source and code with exact counts", false },
	{ "latency", cmd_latency, "how long calls took, and why some took longer", false },
	{ "gdb", cmd_gdb, "a debugger goes through a recording, forwards and backwards", true },
	{ "diff", cmd_diff, "what two recordings do differently", false },
	{ "export", cmd_export, "calls, threads and switches as a database", false },
	{ "archive", cmd_archive, "a recording with all kernel code in it, for another machine",
	  true },
	{ "inject", cmd_inject, "an ordinary perf.data with samples made from the trace", true },
	{ "profile", cmd_profile, "profiles for compilers, flame graphs, timelines", false },
	{ "fleet", cmd_fleet, "many recordings as one report and one profile", true },
	{ "stat", cmd_stat, "size, density and losses of a recording", false },
	{ "index", cmd_index, "so that views need not decode all of a recording", true },
	{ "list", cmd_list, "the trace hardware of this machine", false },
	{ "doctor", cmd_doctor, "whether the trace hardware of this machine works", true },
	{ "decode", cmd_decode, "the program's flow from a bare dump and ELF files", false },
	{ "crash", cmd_crash, "what each hart executed before its kernel panicked", false },
	{ "dump", cmd_dump, "print the messages of a trace", false },
	{ "tandem", cmd_tandem, "traces for tandem verification: print, make, check, convert",
	  false },
};

static int usage(FILE *out, int status)
{
	fputs("usage: perf rvtrace COMMAND [OPTIONS]\n\n", out);
	for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++)
		fprintf(out, "  %-10s %s\n", commands[i].name, commands[i].help);
	fputs("\n'perf rvtrace COMMAND --help' explains a command, --version tells the version.\n",
	      out);
	return status;
}

static const struct command *find_command(const char *name)
{
	for (size_t i = 0; name && i < sizeof(commands) / sizeof(*commands); i++)
		if (!strcmp(commands[i].name, name))
			return &commands[i];
	return NULL;
}

int main(int argc, char **argv)
{
	static char name[64];	/* name in messages of getopt_long() */
	const char *word = argc > 1 ? argv[1] : NULL;
	const struct command *command = find_command(word);
	int status;

	output_begin(!command || !command->to_file);
	if (!word)
		return usage(stderr, 1);
	if (!strcmp(word, "--help") || !strcmp(word, "-h") || !strcmp(word, "help"))
		return usage(stdout, 0);
	if (!strcmp(word, "--version") || !strcmp(word, "-v") || !strcmp(word, "version")) {
		puts("perf-rvtrace " PERF_RVTRACE_VERSION);
		return 0;
	}
	if (!command) {
		fprintf(stderr, "perf-rvtrace: there is no command '%s'\n\n", word);
		return usage(stderr, 1);
	}
	snprintf(name, sizeof(name), "perf-rvtrace %s", command->name);
	argv[1] = name;
	cmd_begin(command->name, argc - 1, argv + 1);
	status = command->run(argc - 1, argv + 1);
	return cmd_end(progress_interrupted() ? STATUS_INTERRUPTED : status);
}
