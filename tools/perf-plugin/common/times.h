/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* The times that a view is of, as --time gives them. */
#ifndef PERF_RVTRACE_TIMES_H
#define PERF_RVTRACE_TIMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* From .from to .to, both included, ns. */
struct time_range {
	uint64_t from, to;
};

/* In order; none touches the next. None at all: everything is wanted. All zero to begin with. */
struct times {
	struct time_range *ranges;
	size_t n;
};

/* Returns whether @text gives parts of a recording, so that one must know its times. */
bool times_are_parts(const char *text);
/*
 * times_parse - reads "FROM,TO" in seconds, where either may be missing, several with spaces
 * between; or parts of @recording, as perf has them, with commas or spaces between: "10%-20%",
 * "20%/3" (the third part of that size), "10%" (the first). @recording: its first and last time;
 * NULL: not known. Returns 0, -EINVAL (there is no message) or -ENOMEM; @times is valid anyway.
 */
int times_parse(struct times *times, const char *text, const struct time_range *recording);
void times_free(struct times *times);

/* Returns whether any time from @from to @to is wanted; all: whether each is. */
bool times_have_any(const struct times *times, uint64_t from, uint64_t to);
bool times_have_all(const struct times *times, uint64_t from, uint64_t to);
/* Views ask this of everything that ran; most often there are no ranges. */
static inline bool times_have(const struct times *times, uint64_t time)
{
	return !times->n || times_have_any(times, time, time);
}

/* From the first to the last that is wanted. */
struct time_range times_span(const struct times *times);

#endif
