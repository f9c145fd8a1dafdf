/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* What the files of `perf rvtrace doctor` share. */
#ifndef PERF_RVTRACE_DOCTOR_H
#define PERF_RVTRACE_DOCTOR_H

#include <stdbool.h>

enum verdict { VERDICT_GOOD, VERDICT_NOTE, VERDICT_BAD, VERDICTS };

/* --json */
extern bool doctor_json;

/* Prints a finding about @name. @next, a sentence, says what to try then (NULL: nothing). */
__attribute__((format(printf, 4, 5)))
void doctor_tell(enum verdict verdict, const char *name, const char *next, const char *format, ...);
/* Prints how many findings there were of each kind. Returns the exit status. */
int doctor_conclude(void);

/*
 * doctor_loop - runs the known loop on @cpu and prints its addresses, which doctor_record() reads.
 * This is the process that is recorded. Returns the exit status.
 */
int doctor_loop(unsigned int cpu);
/*
 * doctor_record - records the known loop on @cpu with this program itself, decodes it, compares,
 * and prints the finding. @encoder: the directory of the cpu's encoder in /sys, whose time stamps
 * are watched meanwhile, or NULL.
 */
void doctor_record(unsigned int cpu, const char *encoder);

#endif
