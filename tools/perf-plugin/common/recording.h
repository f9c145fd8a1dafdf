/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#ifndef PERF_RVTRACE_RECORDING_H
#define PERF_RVTRACE_RECORDING_H

#include <stdbool.h>

/* Returns whether the file at @path begins as a recording, a perf.data, does. */
bool recording_recognize(const char *path);

#endif
