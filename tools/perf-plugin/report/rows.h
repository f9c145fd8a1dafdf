/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * report/rows.c: instructions by function and by what else lines of a report tell apart. Threads
 * that decode count in rows of their own, which are joined at the end.
 */
#ifndef PERF_RVTRACE_REPORT_ROWS_H
#define PERF_RVTRACE_REPORT_ROWS_H

#include "common/places.h"
#include "common/srcline.h"
#include "common/view.h"

enum sort_key { SORT_COMM, SORT_PID, SORT_TID, SORT_CPU, SORT_DSO, SORT_SYM, SORT_SRCLINE,
		SORT_KEYS };

struct row {
	/* of what is not sorted by: NULL. They live as long as the rows. */
	const char *comm, *dso, *symbol, *file;
	int line;		/* of .file */
	int32_t pid, tid, cpu;
	char privilege;		/* 'u', 'k', or 0 when not sorted by symbol */
	uint64_t insns, calls, branches;
};

struct row_slot;

struct rows {
	struct view *view;
	unsigned int keys;	/* bit per enum sort_key */
	struct places *places;
	struct srclines *srclines;	/* the caller's; NULL: not sorted by lines */
	void *tree;		/* tsearch tree of struct row */
	struct row **list;	/* .n of them */
	size_t n;
	struct row_slot *slots;
	uint64_t insns, errors;
	struct rows *next;	/* of another thread */
};

/* NULL: out of memory. */
struct rows *rows_create(struct view *view, unsigned int keys, struct srclines *srclines);
/* With those of other threads. @rows may be NULL. */
void rows_destroy(struct rows *rows);

/* Call-backs of a session's sink; each @ctx is struct rows. */
int rows_count_run(void *ctx, struct rvt_hart_flow *hart, const struct rvt_run *run,
		   uint64_t times);
int rows_count_runs(void *ctx, struct rvt_hart_flow *hart, const struct rvt_run *runs, size_t n);
int rows_event(void *ctx, struct rvt_hart_flow *hart, const struct rvt_event *event);
/* Forgets what they and those of other threads have. */
void rows_forget(void *ctx);
/*
 * For struct rvt_session_slices: makes rows like those at @ctx for another thread, which go with
 * them. All use the same .srclines, so with these only one thread may count. NULL: out of memory.
 */
void *rows_open(void *ctx);

/* Adds what those of other threads have, which have nothing then. 0 or -ENOMEM. */
int rows_join(struct rows *rows);
/* In the order of their names, thread and cpu. */
int rows_compare(const void *a, const void *b);

#endif
