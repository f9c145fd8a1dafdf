/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* What the files of `perf rvtrace index` share. */
#ifndef PERF_RVTRACE_INDEX_STATIONS_H
#define PERF_RVTRACE_INDEX_STATIONS_H

#include "session/index.h"

/*
 * Adds what views of calls need to @index, as far as possible. Returns 0, or -errno; -EINTR:
 * Ctrl-C.
 */
int index_add_stations(struct rvt_session *session, struct rvt_index *index);

#endif
