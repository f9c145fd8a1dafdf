// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* perf-rvtrace: `perf rvtrace` runs it, and it runs on its own. */
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "cmd.h"
#include "perf-options.h"

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

const char *cmd_name = "";
bool cmd_verbose;
static int cmd_argc;
static char **cmd_argv;

static void message(const char *kind, const char *format, va_list args)
{
	fprintf(stderr, "perf-rvtrace %s: %s", cmd_name, kind);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
}

int cmd_error(int status, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	message("", format, args);
	va_end(args);
	return status;
}

void cmd_warning(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	message("warning: ", format, args);
	va_end(args);
}

void cmd_info(const char *format, ...)
{
	va_list args;

	if (!cmd_verbose)
		return;
	va_start(args, format);
	message("", format, args);
	va_end(args);
}

int cmd_try_help(int status)
{
	const char *hint = NULL;

	/* getopt() has told which option it was, but not us */
	for (int i = 1; i < cmd_argc && strcmp(cmd_argv[i], "--") && !hint; i++) {
		hint = perf_option_hint(cmd_name, cmd_argv[i]);
		if (hint)
			fprintf(stderr, "%s: %s.\n", cmd_argv[i], hint);
	}
	fprintf(stderr, "Try 'perf rvtrace %s --help'.\n", cmd_name);
	return status;
}

int cmd_surplus(int status, const char *word, const char *hint)
{
	cmd_error(0, "'%s': this word is not expected here%s%s", word, *hint ? "; " : "", hint);
	return cmd_try_help(status);
}

const char *cmd_one_file(int argc, char **argv, const char *what)
{
	if (optind + 1 == argc)
		return argv[optind];
	if (optind < argc) {
		cmd_surplus(0, argv[optind + 1], "one file at a time");
		return NULL;
	}
	cmd_error(0, "which file? Give the name of %s", what);
	cmd_try_help(0);
	return NULL;
}

const char *cmd_first_word(void)
{
	return optind < cmd_argc ? cmd_argv[optind] : NULL;
}

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
		cmd_name = commands[i].name;
		snprintf(name, sizeof(name), "perf-rvtrace %s", cmd_name);
		argv[1] = name;
		cmd_argc = argc - 1;
		cmd_argv = argv + 1;
		return commands[i].run(cmd_argc, cmd_argv);
	}
	fprintf(stderr, "perf-rvtrace: there is no command '%s'\n\n", argv[1]);
	return usage(stderr, 1);
}
