/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Feature sections of a perf.data that is made from a recording. */
#ifndef PERF_RVTRACE_FEATURES_H
#define PERF_RVTRACE_FEATURES_H

#include <rvtrace/perfdata.h>

/*
 * Copies what @in says about the machine and the recording. Writes names that @in does not have as
 * "unknown", as `perf data convert` crashes if one is missing. Leaves out the architecture without
 * @arch, as hotspot rejects those that it does not know. Returns 0 or -ENOMEM.
 */
int features_copy(const struct rvt_perfdata *in, struct rvt_perfdata_writer *out, bool arch);

#endif
