/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Between the files of `perf rvtrace index`. */
#ifndef PERF_RVTRACE_INDEX_STATIONS_H
#define PERF_RVTRACE_INDEX_STATIONS_H

#include "session/index.h"

/* What views of calls need, as far as @index can have it. 0, or -errno; -EINTR: Ctrl-C. */
int index_add_stations(struct rvt_session *session, struct rvt_index *index);

#endif
