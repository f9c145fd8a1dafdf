// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "common/cmd.h"
#include "common/perf-options.h"

const char *cmd_name = "";
bool cmd_verbose;
static int cmd_argc;
static char **cmd_argv;

void cmd_begin(const char *name, int argc, char **argv)
{
	cmd_name = name;
	cmd_argc = argc;
	cmd_argv = argv;
}

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
