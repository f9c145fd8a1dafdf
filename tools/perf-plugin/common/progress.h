/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Decodes with a progress display; Ctrl-C ends it. */
#ifndef PERF_RVTRACE_PROGRESS_H
#define PERF_RVTRACE_PROGRESS_H

#include <stdbool.h>
#include <rvtrace/session.h>
#include "session/index.h"
#include "session/slices.h"
#include "session/stations.h"

/*
 * progress_run - rvt_session_run_slices() with a line on stderr, if that is a terminal (and if the
 * caller does not print to a terminal meanwhile, @prints): bytes, rate, time left. -EINTR: Ctrl-C
 * was pressed; a second one ends the program.
 */
int progress_run(struct rvt_session *session, const struct rvt_session_sink *sink,
		 const struct rvt_session_slices *slices, bool prints);
/* Like progress_run(), for rvt_index_make(). */
int progress_index(struct rvt_session *session, struct rvt_index **index);
/* Like progress_run(), for rvt_stations_make() and rvt_stations_run(). */
int progress_stations(struct rvt_session *session, struct rvt_index *index,
		      const struct rvt_session_sink *sink, const struct rvt_station_ops *ops,
		      struct rvt_station_span *told);
int progress_run_station(struct rvt_session *session, const struct rvt_session_sink *sink,
			 const struct rvt_station_run *run);
/* Removes the line, before something else is printed. */
void progress_hide(void);
/* Returns whether Ctrl-C has ended the decoding. */
bool progress_interrupted(void);

#endif
