/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* The subcommands of perf-rvtrace and what they share. */
#ifndef PERF_RVTRACE_CMD_H
#define PERF_RVTRACE_CMD_H

#include <stdbool.h>
#include <stdint.h>

/* Each takes argv with its own name as argv[0], and returns the exit status. */
int cmd_record(int argc, char **argv);
int cmd_script(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_annotate(int argc, char **argv);
int cmd_archive(int argc, char **argv);
int cmd_export(int argc, char **argv);
int cmd_gdb(int argc, char **argv);
int cmd_diff(int argc, char **argv);
int cmd_latency(int argc, char **argv);
int cmd_profile(int argc, char **argv);
int cmd_fleet(int argc, char **argv);
int cmd_inject(int argc, char **argv);
int cmd_stat(int argc, char **argv);
int cmd_index(int argc, char **argv);
int cmd_list(int argc, char **argv);
int cmd_doctor(int argc, char **argv);
int cmd_decode(int argc, char **argv);
int cmd_crash(int argc, char **argv);
int cmd_dump(int argc, char **argv);
int cmd_tandem(int argc, char **argv);

/*
 * Tells the functions below which subcommand runs, and its arguments. Handles SIGBUS from now on.
 */
void cmd_begin(const char *name, int argc, char **argv);

/* Prints "perf-rvtrace NAME: message" on stderr. Returns @status, so that callers can return it. */
__attribute__((format(printf, 2, 3)))
int cmd_error(int status, const char *format, ...);
/* Prints a warning. */
__attribute__((format(printf, 1, 2)))
void cmd_warning(const char *format, ...);
/* Prints a remark, after -v only. */
__attribute__((format(printf, 1, 2)))
void cmd_info(const char *format, ...);
extern bool cmd_verbose;
/*
 * Prints "Try 'perf rvtrace NAME --help'." on stderr, and what to do instead of options that only
 * stock perf has. Returns @status.
 */
int cmd_try_help(int status);
/*
 * Rejects a word on the command line that has no meaning; @hint, a sentence, says what may help.
 * Returns @status.
 */
int cmd_surplus(int status, const char *word, const char *hint);
/*
 * Returns the only word that no option took, the name of a file (@what it is), after getopt_long().
 * NULL after a message when there is none, or more than one.
 */
const char *cmd_one_file(int argc, char **argv, const char *what);
/* Returns the first word that no option took, after getopt_long(). NULL: none. */
const char *cmd_first_word(void);
/*
 * cmd_number - reads the number @text, decimal or 0x hexadecimal, which the user gave as @what (an
 * option, or what it belongs to). Returns 0, or -EINVAL after a message that names @what, @text and
 * the range.
 */
int cmd_number(const char *what, const char *text, uint64_t min, uint64_t max, uint64_t *value);
/* Like cmd_number(), for a number of at least 0 that may have a decimal point. */
int cmd_decimal(const char *what, const char *text, double *value);
/*
 * Reads "I/N", one of N parts from 1 on. Returns 0, or -EINVAL after a message that names @what and
 * @text.
 */
int cmd_part(const char *what, const char *text, unsigned int *part, unsigned int *parts);
/*
 * Reads --jobs: with @text NULL, as many threads as there are processors. Returns 0, or -EINVAL
 * after a message.
 */
int cmd_jobs(const char *text, unsigned int *jobs);

/*
 * Checks that root does not read another user's file, which could be a trap, unless it says @force;
 * as perf does. Returns 0, or -EPERM after a message.
 */
int cmd_check_owner(const char *path, bool force);
/* Ends main(). Returns the exit status: an error if a file was truncated while it was read. */
int cmd_end(int status);

/* The running subcommand: "NAME"; for a subcommand of one "NAME SUB". */
extern const char *cmd_name;

#endif
