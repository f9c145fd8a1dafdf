/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Inside this project: which processes have threads. */
#ifndef SIDEBAND_THREADS_H
#define SIDEBAND_THREADS_H

#include <rvtrace/sideband.h>

/*
 * rvt_sideband_threaded - the processes that have other threads than the main one at any time, as
 * far as the sideband read so far says: in *@pids, sorted, to be freed, and their number in *@n. 0
 * or -ENOMEM.
 */
int rvt_sideband_threaded(const struct rvt_sideband *sideband, int32_t **pids, size_t *n);

#endif
