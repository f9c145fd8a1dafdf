/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Symbols of the kernel, for the recording. */
#ifndef PERF_RVTRACE_RECORD_SYMBOLS_H
#define PERF_RVTRACE_RECORD_SYMBOLS_H

struct recorder;
struct shared_list;

/*
 * Returns what the recording must have of /proc/kallsyms (malloc'd; NULL: none can be read): all of
 * it, or only symbols of others than the kernel, if @shared refers to the kernel's own. @shared is
 * open or all zero.
 */
char *record_symbols(const struct recorder *rec, struct shared_list *shared);

/* Returns the first line of @kallsyms that is not the kernel's own: a name in brackets ends it. */
const char *symbols_of_others(const char *kallsyms);

#endif
