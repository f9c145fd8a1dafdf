/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* What to do where something of the machine is missing. */
#ifndef PERF_RVTRACE_RECORD_MISSING_H
#define PERF_RVTRACE_RECORD_MISSING_H

#include <stdbool.h>

/* missing.c: says why there is no PMU, of traces or of CTR, and what to do. */
void record_explain_missing_pmu(void);
void record_explain_missing_ctr(void);
/* Whether @path, the file `compatible` of a devicetree node, names what the driver binds to. */
bool record_is_component(const char *path);
/* There is no PMU of Control Transfer Records; tells what to do where the harts have them. */
void record_tell_unused_ctr(const char *sysfs);
/* Says how a dump of this machine's trace is decoded, if @sysfs names a chip that is known. */
void record_hint_at_dump(const char *sysfs);

#endif
