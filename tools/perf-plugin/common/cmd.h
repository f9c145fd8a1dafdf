/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* The subcommands of perf-rvtrace and what they share. */
#ifndef PERF_RVTRACE_CMD_H
#define PERF_RVTRACE_CMD_H

#include <stdbool.h>
#include <stdint.h>

/* Each gets argv with its own name as argv[0] and returns the exit status. */
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

/* Tells the functions below which subcommand runs, and its words. From now on SIGBUS is handled. */
void cmd_begin(const char *name, int argc, char **argv);

/* Prints "perf-rvtrace NAME: message" on stderr. Returns @status, so that callers can return it. */
__attribute__((format(printf, 2, 3)))
int cmd_error(int status, const char *format, ...);
/* The same as a warning. */
__attribute__((format(printf, 1, 2)))
void cmd_warning(const char *format, ...);
/* The same as a remark, which is printed after -v only. */
__attribute__((format(printf, 1, 2)))
void cmd_info(const char *format, ...);
extern bool cmd_verbose;
/*
 * Prints "Try 'perf rvtrace NAME --help'." on stderr, and what to do instead of options that only
 * stock perf has. Returns @status.
 */
int cmd_try_help(int status);
/*
 * The same for a word on the command line that means nothing: @hint, a sentence, says what may
 * help.
 */
int cmd_surplus(int status, const char *word, const char *hint);
/*
 * After getopt_long(): the only word that no option took, the name of a file (@what it is). When
 * there is none, or more than one, that is told and the result is NULL.
 */
const char *cmd_one_file(int argc, char **argv, const char *what);
/* After getopt_long(): the first word that no option took; NULL: none. */
const char *cmd_first_word(void);
/*
 * cmd_number - the number @text, decimal or 0x hexadecimal, that somebody typed as @what (an
 * option, or what it belongs to). 0, or -EINVAL after a message that names @what, @text and the
 * range.
 */
int cmd_number(const char *what, const char *text, uint64_t min, uint64_t max, uint64_t *value);
/* The same of a number of at least 0 that may have a decimal point. */
int cmd_decimal(const char *what, const char *text, double *value);
/* "I/N", one of N parts from 1 on. 0, or -EINVAL after a message that names @what and @text. */
int cmd_part(const char *what, const char *text, unsigned int *part, unsigned int *parts);
/* --jobs: as many threads as there are processors when @text is NULL. 0, or -EINVAL as above. */
int cmd_jobs(const char *text, unsigned int *jobs);

/*
 * As perf has it: who may do everything does not read what others have laid out for that. 0, or
 * -EPERM after a message: @path is another user's, root reads, and does not @force it.
 */
int cmd_check_owner(const char *path, bool force);
/* What stands in for the end of main(): an error where a file was cut while it was read. */
int cmd_end(int status);

/* NAME of the running subcommand; with "SUB", a subcommand of it: "NAME SUB". */
extern const char *cmd_name;

#endif
