// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* perf-rvtrace: `perf rvtrace` runs it, and it runs on its own. */
#include <stdio.h>
#include <string.h>
#include "common/cmd.h"

static const struct command {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *help;
} commands[] = {
	{ "record", cmd_record, "record the control flow of a command, process, cpu or system" },
	{ "script", cmd_script, "print the recorded flow: branches, calls or instructions" },
	{ "report", cmd_report, "count the instructions of every function" },
	{ "inject", cmd_inject, "an ordinary perf.data with samples made from the trace" },
	{ "profile", cmd_profile, "profiles for compilers, flame graphs, timelines" },
	{ "stat", cmd_stat, "size, density and losses of a recording" },
	{ "list", cmd_list, "the trace hardware of this machine" },
	{ "decode", cmd_decode, "the program's flow from a bare dump and ELF files" },
	{ "dump", cmd_dump, "print the messages of a trace" },
	{ "tandem", cmd_tandem, "traces for tandem verification: print, make, check, convert" },
};

static int usage(FILE *out, int status)
{
	fputs("usage: perf rvtrace COMMAND [OPTIONS]\n\n", out);
	for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++)
		fprintf(out, "  %-10s %s\n", commands[i].name, commands[i].help);
	fputs("\n'perf rvtrace COMMAND --help' explains a command.\n", out);
	return status;
}

int main(int argc, char **argv)
{
	static char name[64];	/* what getopt_long() calls us in its messages */

	if (argc < 2)
		return usage(stderr, 1);
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help"))
		return usage(stdout, 0);
	for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++) {
		if (strcmp(argv[1], commands[i].name))
			continue;
		snprintf(name, sizeof(name), "perf-rvtrace %s", commands[i].name);
		argv[1] = name;
		cmd_begin(commands[i].name, argc - 1, argv + 1);
		return commands[i].run(argc - 1, argv + 1);
	}
	fprintf(stderr, "perf-rvtrace: there is no command '%s'\n\n", argv[1]);
	return usage(stderr, 1);
}
