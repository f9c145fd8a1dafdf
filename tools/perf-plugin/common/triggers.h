/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Marks in a recording: samples of events called TRIGGER_EVENT SPEC, by `record --trigger`; and
 * samples that have the trace before them.
 */
#ifndef PERF_RVTRACE_TRIGGERS_H
#define PERF_RVTRACE_TRIGGERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <rvtrace/perfdata.h>
#include <rvtrace/session.h>

#define TRIGGER_EVENT "trigger:"

struct trigger_marks;

bool trigger_is_event(const struct rvt_perfdata_event *event);
/* Reads all marks of @file. NULL: there are none, or no memory for them. */
struct trigger_marks *trigger_marks_read(struct rvt_perfdata *file);
/* @marks may be NULL. */
void trigger_marks_free(struct trigger_marks *marks);
/*
 * trigger_marks_sink - makes *@sink, for runs that do not only count. It passes all on to @before,
 * which must live until the run is over, and adds an event when the flow of a cpu gets there: for
 * each trigger a MARK, RVT_MARK_RECORDER, and for each sample with trace RVT_MARK_SAMPLE. hart.time
 * is the time of the trigger or sample then.
 */
void trigger_marks_sink(struct trigger_marks *marks, const struct rvt_session_sink *before,
			struct rvt_session_sink *sink);

/* Prints a line for each, up to a limit; @marks may be NULL. */
void trigger_marks_print(const struct trigger_marks *marks, FILE *out, const char *prefix);

#endif
