/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* report/graph.c: `perf rvtrace report -g`: instructions by who called whom. */
#ifndef PERF_RVTRACE_REPORT_GRAPH_H
#define PERF_RVTRACE_REPORT_GRAPH_H

#include "common/places.h"
#include "common/view.h"

enum graph_order {
	GRAPH_CALLER,	/* from the thread down to what was called */
	GRAPH_CALLEE,	/* from each function up to what called it */
};

struct graph_options {
	enum graph_order order;
	bool json;		/* lines are objects */
	bool no_pager;
	unsigned int jobs;	/* threads */
	double percent_limit;
	uint64_t max_lines;	/* 0: all */
	/* filters: only these functions, and what they called, or called them; NULL: all */
	const char *symbols, *dsos;
};

/* Decodes and prints. Returns 0 or -errno; *@errors counts gaps in the trace. */
int report_graph(struct view *view, struct places *places, const struct graph_options *options,
		 uint64_t *errors);

#endif
