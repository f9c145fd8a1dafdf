/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Pages long output on terminals, as perf does. */
#ifndef PERF_RVTRACE_PAGER_H
#define PERF_RVTRACE_PAGER_H

#include <stdbool.h>

/*
 * pager_begin - if standard output is a terminal, pipes it into the program that PERF_PAGER or
 * PAGER names, or into less; with "" or "cat" into none. Colours stay. The process waits for the
 * pager at its end.
 */
void pager_begin(void);
/* Returns whether a pager runs, which owns the terminal. */
bool pager_runs(void);

#endif
