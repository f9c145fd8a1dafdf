/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Calls rvtrace/transfers.h for a view, with its filters and its summary of losses. */
#ifndef PERF_RVTRACE_TRANSFERS_H
#define PERF_RVTRACE_TRANSFERS_H

#include <rvtrace/transfers.h>
#include "common/view.h"

#define MAX_CALL_DEPTH (1 << 18)	/* frames of 32 bytes in 8 MiB, the usual limit */

/* How views print a frame with .cut. */
#define CALLERS_LOST "[callers lost]"

struct transfers;

/* Like rvt_transfers_create() for the view's session; .wants is the view's. */
struct transfers *transfers_create(const struct rvt_transfers_ops *ops, struct view *view,
				   size_t max_depth);
/* Destroys it. Adds the number of stacks that were cut off to the view's summary. */
void transfers_destroy(struct transfers *transfers);
/*
 * Fills .ctx, .runs, .event and .end of a session's sink, and uses rvt_hart_flow.user. If no stacks
 * are kept, it works for slices with overlap (struct rvt_session_slices).
 */
void transfers_sink(struct transfers *transfers, struct rvt_session_sink *sink);
/*
 * Begins a part of a recording (common/stacks.h): nothing is told until transfers_mute(). stacks.c
 * accounts for losses and cut stacks.
 */
int transfers_renew(struct transfers *transfers);
void transfers_mute(struct transfers *transfers, bool muted);
struct rvt_transfers *transfers_inner(struct transfers *transfers);
/* Discards what was told so far (see .reset in rvtrace/session.h). Only if no stacks are kept. */
void transfers_forget(struct transfers *transfers);
/* Returns how many LOST events there were; the view's summary has them. */
uint64_t transfers_lost(const struct transfers *transfers);
/* Returns how often the flow contradicted a stack, which was cut off then. */
uint64_t transfers_cuts(const struct transfers *transfers);

#endif
