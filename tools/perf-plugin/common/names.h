/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Keeps each name once: two names are equal when their addresses are. */
#ifndef PERF_RVTRACE_NAMES_H
#define PERF_RVTRACE_NAMES_H

/*
 * Returns the copy of @name in @names, a tsearch tree (NULL at first) to be freed by
 * tdestroy(names, free). NULL: out of memory.
 */
const char *names_keep(void **names, const char *name);

#endif
