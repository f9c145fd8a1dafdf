/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Explains what to do when something is missing on this machine. */
#ifndef PERF_RVTRACE_RECORD_MISSING_H
#define PERF_RVTRACE_RECORD_MISSING_H

#include <stdbool.h>

/* record/missing.c: explain why there is no PMU, of traces or of CTR, and what to do. */
void record_explain_missing_pmu(void);
void record_explain_missing_ctr(void);
/*
 * Returns whether @path, the file `compatible` of a devicetree node, names what the driver binds
 * to.
 */
bool record_is_component(const char *path);
/* Tells what to do if the harts have Control Transfer Records, but there is no PMU of them. */
void record_tell_unused_ctr(const char *sysfs);
/* Tells how to decode a dump of this machine's trace, if @sysfs names a chip that we know. */
void record_hint_at_dump(const char *sysfs);

#endif
