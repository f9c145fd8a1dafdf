/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * What `record --trigger` leaves in a recording: samples of events called TRIGGER_EVENT SPEC; and
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
/* Reads all that @file has; NULL: there are none, or no memory for them. */
struct trigger_marks *trigger_marks_read(struct rvt_perfdata *file);
/* @marks may be NULL. */
void trigger_marks_free(struct trigger_marks *marks);
/*
 * trigger_marks_sink - makes *@sink, which counts nothing, one that also has an event of each
 * trigger when the flow of its cpu is past it: a MARK, RVT_MARK_RECORDER; and one of each sample
 * with trace, RVT_MARK_SAMPLE. hart.time is the trigger's or sample's then. What @sink was must
 * stay until the run is over.
 */
void trigger_marks_sink(struct trigger_marks *marks, const struct rvt_session_sink *before,
			struct rvt_session_sink *sink);

/* A line for each, at most some; @marks may be NULL. */
void trigger_marks_print(const struct trigger_marks *marks, FILE *out, const char *prefix);

#endif
