/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Inside userspace/lib/session/: what is in a segment, while it is decoded. */
#ifndef SESSION_INDEX_GATHER_H
#define SESSION_INDEX_GATHER_H

#include "index-state.h"

/* Tasks and granules of all segments, by number; several threads add to them. */
struct index_names {
	struct rvt_index *index;
	pthread_mutex_t lock;
	void *tasks, *granules, *paths;	/* tsearch() of struct index_name */
};

/* What one thread needs for one segment after another. NULL: out of memory. */
struct index_gatherer;
/* A segment that is decoded. */
struct index_gathered {
	struct index_gatherer *gatherer;
	struct rvt_index_segment told;
	uint32_t *tasks, *granules;
	size_t n_tasks, n_granules;
	/* how the last run went on, where it is told for how long lines go on */
	bool crossed;
	uint64_t next;
};

struct index_gatherer *rvt_index_gatherer(struct index_names *names);
void rvt_index_gatherer_free(struct index_gatherer *gatherer);
/* NULL: out of memory. */
struct index_gathered *rvt_index_gather(struct index_gatherer *gatherer);
void rvt_index_gathered_free(struct index_gathered *gathered);
/* Call-backs of a session's sink with a segment as context. */
int rvt_index_runs(void *ctx, struct rvt_hart_flow *hart, const struct rvt_run *runs, size_t n);
int rvt_index_event(void *ctx, struct rvt_hart_flow *hart, const struct rvt_event *event);
/* What finds names goes. */
void rvt_index_names_free(struct index_names *names);

#endif
