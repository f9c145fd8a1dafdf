// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "common/cmd.h"
#include "common/perf-options.h"
#include "common/text.h"
#include "file/file.h"

#define MAX_JOBS 256
#define MAX_PARTS 1000000

const char *cmd_name = "";
bool cmd_verbose;
static int cmd_argc;
static char **cmd_argv;

/*
 * Ends the process when a mapped file was truncated. The mapping is libelf's or libdw's, so we do
 * not know the file, and cannot continue.
 */
static void end_at_cut(void)
{
	static const char text[] = "perf-rvtrace: a file with debug information became shorter "
				   "while it was read\n";

	if (write(STDERR_FILENO, text, sizeof(text) - 1) < 0)
		_exit(2);
	_exit(1);
}

void cmd_begin(const char *name, int argc, char **argv)
{
	cmd_name = name;
	cmd_argc = argc;
	cmd_argv = argv;
	rvt_file_guard(end_at_cut);
}

/*
 * Prints a message, with names in it made visible, as they can have any bytes. Continuation lines
 * of our own are indented.
 */
static void put_message(char *text)
{
	char *line = text, *next;

	for (; (next = strstr(line, "\n  ")); line = next + 1) {
		*next = 0;
		put_visible(stderr, line);
		fputc('\n', stderr);
	}
	put_visible(stderr, line);
}

static void message(const char *kind, const char *format, va_list args)
{
	char *text;

	fprintf(stderr, "perf-rvtrace%s%s: %s", *cmd_name ? " " : "", cmd_name, kind);
	if (vasprintf(&text, format, args) < 0)
		text = NULL;
	if (text)
		put_message(text);
	else
		fputs(format, stderr);
	fputc('\n', stderr);
	free(text);
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

	/* getopt() has reported which option it was, but not to us */
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

int cmd_number(const char *what, const char *text, uint64_t min, uint64_t max, uint64_t *value)
{
	const char *end = text;

	if (!read_number(&end, value) && !*end && *value >= min && *value <= max)
		return 0;
	if (max < UINT64_MAX)
		return cmd_error(-EINVAL, "%s: '%s' is no number from %" PRIu64 " to %" PRIu64,
				 what, text, min, max);
	if (min)
		return cmd_error(-EINVAL, "%s: '%s' is no number of at least %" PRIu64, what, text,
				 min);
	return cmd_error(-EINVAL, "%s: '%s' is no number", what, text);
}

int cmd_decimal(const char *what, const char *text, double *value)
{
	const char *end = text;

	return !read_decimal(&end, value) && !*end ? 0 :
		cmd_error(-EINVAL, "%s: '%s' is no number", what, text);
}

int cmd_part(const char *what, const char *text, unsigned int *part, unsigned int *parts)
{
	const char *end = text;
	uint64_t i, n;

	if (!read_number(&end, &i) && *end++ == '/' && !read_number(&end, &n) && !*end && i &&
	    i <= n && n <= MAX_PARTS) {
		*part = i;
		*parts = n;
		return 0;
	}
	return cmd_error(-EINVAL, "%s: '%s' is no part, like 3/16", what, text);
}

int cmd_jobs(const char *text, unsigned int *jobs)
{
	uint64_t n = sysconf(_SC_NPROCESSORS_ONLN);

	if (text && cmd_number("--jobs", text, 1, MAX_JOBS, &n))
		return -EINVAL;
	*jobs = n < MAX_JOBS ? n : MAX_JOBS;
	return 0;
}

int cmd_check_owner(const char *path, bool force)
{
	struct stat st;

	if (force || geteuid() || stat(path, &st) || !st.st_uid)
		return 0;
	return cmd_error(-EPERM, "%s is not root's but of the user with id %u: give --force to "
			 "read it as root", path, (unsigned int)st.st_uid);
}

int cmd_end(int status)
{
	const char *path = rvt_file_first_cut();

	if (path)
		return cmd_error(status ? status : 1, "%s became shorter while it was read: what "
				 "was behind its new end is not in the result", path);
	return status;
}
