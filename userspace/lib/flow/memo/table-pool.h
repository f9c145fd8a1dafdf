/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Inside the flow engine: tables that a flow leaves to its image when it ends, for the next one
 * there. What segments say of code is as true then as are the blocks of the image, so a recording
 * that is decoded again, or another part of it, begins with them. What memos say is
 * forgotten, as it is of one trace; their memory is used again, which is cheaper than to have pages
 * cleared.
 */
#ifndef RVT_LIB_FLOW_TABLE_POOL_H
#define RVT_LIB_FLOW_TABLE_POOL_H

#include "flow/core/state.h"

struct rvt_pool_entry {
	struct rvt_pool_entry *next;
	struct rvt_segments *segments;
	struct rvt_memos *memos;	/* or NULL */
	struct rvt_counts *counts;	/* or NULL */
	struct rvt_deferred deferred;
};

/*
 * @flow is about to end: its tables are the image's, unless something in them is not counted yet.
 */
void rvt_flow_pool_tables(struct rvt_flow *flow);
/* @flow, which has no tables, has some that another flow left, if there are any. */
void rvt_flow_take_pooled(struct rvt_flow *flow);
void rvt_pool_entry_destroy(struct rvt_pool_entry *spare);

#endif
