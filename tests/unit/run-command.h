/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Commands that unit tests run as a person would. */
#ifndef TESTS_RUN_COMMAND_H
#define TESTS_RUN_COMMAND_H

/* perf-rvtrace with slices of SMALL_SLICES bytes (tests/tools/small-slices.c) */
#define SMALL_SLICES_PROGRAM "build/host/perf-rvtrace-small-slices"

/*
 * Runs the command of @format in a shell. Returns what it wrote to standard output, with a last
 * line "status N" (malloc'd). The test fails where it cannot be run, or does not end by itself.
 */
__attribute__((format(printf, 1, 2)))
char *run_command(const char *format, ...);

#endif
