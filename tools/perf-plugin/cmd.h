/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* The subcommands of perf-rvtrace and what they share. */
#ifndef PERF_RVTRACE_CMD_H
#define PERF_RVTRACE_CMD_H

/* Each gets argv with its own name as argv[0] and returns the exit status. */
int cmd_record(int argc, char **argv);
int cmd_script(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_profile(int argc, char **argv);
int cmd_inject(int argc, char **argv);
int cmd_stat(int argc, char **argv);
int cmd_list(int argc, char **argv);
int cmd_decode(int argc, char **argv);
int cmd_dump(int argc, char **argv);
int cmd_tandem(int argc, char **argv);

/* Prints "perf-rvtrace NAME: message" on stderr. Returns @status, so that callers can return it. */
__attribute__((format(printf, 2, 3)))
int cmd_error(int status, const char *format, ...);
/* The same as a warning. */
__attribute__((format(printf, 1, 2)))
void cmd_warning(const char *format, ...);
/* NAME of the running subcommand. */
extern const char *cmd_name;

#endif
