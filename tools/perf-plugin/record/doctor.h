/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* The parts of `perf rvtrace doctor`. */
#ifndef PERF_RVTRACE_DOCTOR_H
#define PERF_RVTRACE_DOCTOR_H

#include <stdbool.h>

enum verdict { VERDICT_GOOD, VERDICT_NOTE, VERDICT_BAD, VERDICTS };

/* --json */
extern bool doctor_json;

/* Tells what was found about @name; @next, a sentence, is what to try then (NULL: nothing). */
__attribute__((format(printf, 4, 5)))
void doctor_tell(enum verdict verdict, const char *name, const char *next, const char *format, ...);
/* Tells how many findings there were of each kind. Returns the exit status. */
int doctor_conclude(void);

/*
 * doctor_loop - run the known loop on @cpu and print where it is, as doctor_record() reads it: what
 * the process that is recorded does. Returns the exit status.
 */
int doctor_loop(unsigned int cpu);
/*
 * doctor_record - record the known loop on @cpu with this program itself, decode it, compare, and
 * tell. @encoder: the directory of the cpu's encoder in /sys, whose time stamps are watched
 * meanwhile, or NULL.
 */
void doctor_record(unsigned int cpu, const char *encoder);

#endif
