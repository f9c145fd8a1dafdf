/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Symbols of the kernel, for the recording. */
#ifndef PERF_RVTRACE_RECORD_SYMBOLS_H
#define PERF_RVTRACE_RECORD_SYMBOLS_H

struct recorder;
struct shared_list;

/*
 * What the recording must have of /proc/kallsyms (malloc'd; NULL: none can be read): all of it, or,
 * when @shared, which is open or all zero, refers to the kernel's own symbols, those of others.
 */
char *record_symbols(const struct recorder *rec, struct shared_list *shared);

/* The first line of @kallsyms that is not the kernel's own: a name in brackets ends it. */
const char *symbols_of_others(const char *kallsyms);

#endif
