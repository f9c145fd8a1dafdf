/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* rvtrace/transfers.h for a view: its filters, and its summary of what was lost. */
#ifndef PERF_RVTRACE_TRANSFERS_H
#define PERF_RVTRACE_TRANSFERS_H

#include <rvtrace/transfers.h>
#include "common/view.h"

#define MAX_CALL_DEPTH (1 << 18)	/* frames of 32 bytes in 8 MiB, the usual limit */

/* What views print for a frame with .cut. */
#define CALLERS_LOST "[callers lost]"

struct transfers;

/* As rvt_transfers_create() of the view's session; .wants is the view's. */
struct transfers *transfers_create(const struct rvt_transfers_ops *ops, struct view *view,
				   size_t max_depth);
/* The view's summary gets to know how many stacks were cut off. */
void transfers_destroy(struct transfers *transfers);
/*
 * Fills .ctx, .runs, .event and .end of a session's sink. rvt_hart_flow.user is taken. Good for
 * slices with overlap (struct rvt_session_slices) if no stacks are kept.
 */
void transfers_sink(struct transfers *transfers, struct rvt_session_sink *sink);
/*
 * For a part of a recording (common/stacks.h): it has seen nothing, and nothing is told until
 * transfers_mute(). What was lost, and what was cut off, others know.
 */
int transfers_renew(struct transfers *transfers);
void transfers_mute(struct transfers *transfers, bool muted);
struct rvt_transfers *transfers_inner(struct transfers *transfers);
/* What was told so far is void (see .reset in rvtrace/session.h). If no stacks are kept. */
void transfers_forget(struct transfers *transfers);
/* How many LOST events there were; the view's summary knows of them. */
uint64_t transfers_lost(const struct transfers *transfers);
/* How often the flow contradicted a stack, which was cut off then. */
uint64_t transfers_cuts(const struct transfers *transfers);

#endif
