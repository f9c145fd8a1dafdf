/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Long output on terminals goes through a pager, as perf's does. */
#ifndef PERF_RVTRACE_PAGER_H
#define PERF_RVTRACE_PAGER_H

#include <stdbool.h>

/*
 * pager_begin - from now on standard output, if it is a terminal, is read by what PERF_PAGER or
 * PAGER names, or by less; "" or "cat": by none. Colours stay. The process waits for the pager at
 * its end.
 */
void pager_begin(void);
/* It has begun: the terminal is its own. */
bool pager_runs(void);

#endif
