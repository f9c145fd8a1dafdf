/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Prints marks of a trace (RVT_EVENT_MARK) as text. */
#ifndef PERF_RVTRACE_MARKS_H
#define PERF_RVTRACE_MARKS_H

#include <stddef.h>
#include <rvtrace/flow.h>

#define MARK_TEXT_SIZE 96

/* Returns "user", "watchpoint" ...: static. */
const char *mark_name(enum rvt_mark mark);
/*
 * Writes what @event, a MARK, has besides its place, each with a space before it: " tag 0x4 value
 * 0x7", " value 0x2", " to 0x80000000", " sym:main", or nothing. Names in it may have any bytes.
 */
void mark_text(const struct rvt_event *event, char text[MARK_TEXT_SIZE]);

#endif
