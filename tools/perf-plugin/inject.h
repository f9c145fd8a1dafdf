/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* inject-trace.c: samples from the flow of trace encoders. */
#ifndef PERF_RVTRACE_INJECT_H
#define PERF_RVTRACE_INJECT_H

#include "itrace.h"
#include "view.h"

/* Writes @output. Returns 0 or -errno after a message. */
int trace_inject(struct view *view, const struct itrace *itrace, const char *output);

#endif
