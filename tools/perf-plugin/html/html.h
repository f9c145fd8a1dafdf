/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * `perf rvtrace report --html`: shows a recording as one page for a browser, which needs no
 * network.
 */
#ifndef PERF_RVTRACE_HTML_H
#define PERF_RVTRACE_HTML_H

#include <stdio.h>
#include "annotate/annotate.h"
#include "common/calls.h"
#include "common/contexts.h"
#include "common/view.h"
#include "latency/latency.h"

/* A row of the report, with the members of its --json. */
struct html_row {
	const char *comm, *dso, *symbol;
	bool kernel;
	uint64_t insns, branches, entered;
};

struct html_options {
	const char *before;	/* a second recording, for the difference; NULL: none */
	const struct html_row *rows;
	size_t n_rows;
};

/*
 * html_write - writes the page of the recording of @options to @out. Returns 0, or -errno after a
 * message; @out is useless then.
 */
int html_write(const struct html_options *html, const struct view_options *options, FILE *out);

/* ---- inside ---- */

/* A call on the timeline. */
struct html_call {
	double began, time;	/* ns; .began: since .first */
	uint32_t thread, function;
	uint16_t depth;
	uint16_t partial;
};

/* A turn on a cpu: a thread ran, or (.thread is HTML_LOST) flow was lost. */
#define HTML_LOST UINT32_MAX

struct html_turn {
	double began, time;
	uint32_t cpu, thread;
};

struct html_mark {
	double time;
	int32_t cpu;
	char *text;
};

struct html_thread {
	int32_t pid, tid;
	const char *comm;
};

struct html_cpu {
	size_t turn;		/* number of its last turn + 1; 0: none yet */
	uint64_t lost;		/* when flow was lost, if it has not resumed; 0: not lost */
};

/* What one pass over a recording gathers. */
struct html_data {
	struct view *view;
	struct places *places;
	struct contexts contexts;
	struct latency latency;
	struct latency_options latency_options;
	struct code code;
	bool timed, any;
	uint64_t first, last;	/* ns */
	uint64_t errors;
	struct html_thread *threads;
	size_t n_threads;
	const char **functions, **dsos;	/* by call_function.number, as .kernel */
	uint8_t *kernel;
	size_t n_functions;
	struct html_call *calls;
	size_t n_calls, calls_room;
	uint64_t shortest;	/* ns: the timeline leaves out shorter calls */
	uint64_t left_out;
	struct html_turn *turns;
	size_t n_turns, turns_room;
	uint64_t fine;		/* ns: shorter pauses of a thread are not shown */
	struct html_mark *marks;
	size_t n_marks;
	struct html_cpu *cpus;
	size_t n_cpus;
};

/* html/gather.c: gathers the data; without @all only contexts. Returns 0 or -errno. */
int html_gather(struct html_data *data, bool all);
void html_free(struct html_data *data);
/*
 * html/write.c: writes the page's data, as JSON. @before: contexts of the second recording, or
 * NULL. Returns 0 or -errno.
 */
int html_write_data(const struct html_options *html, struct html_data *data,
		    struct html_data *before, const struct view_options *options, FILE *out);

#endif
