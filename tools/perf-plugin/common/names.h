/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Names that are kept once each: two are equal when their addresses are. */
#ifndef PERF_RVTRACE_NAMES_H
#define PERF_RVTRACE_NAMES_H

/*
 * The copy of @name in @names, a tsearch tree (NULL at first) to be ended with tdestroy(names,
 * free). NULL: out of memory.
 */
const char *names_keep(void **names, const char *name);

#endif
