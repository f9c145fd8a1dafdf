// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <errno.h>
#include <stdlib.h>
#include "common/transfers.h"
#include "transfers/saved.h"

struct transfers {
	struct rvt_transfers_ops ops;
	size_t max_depth;
	struct rvt_transfers *transfers;
	struct rvt_session_sink sink;	/* of .transfers */
	struct view *view;
	uint64_t lost;
	bool partly;		/* stacks.c accounts for losses and cut stacks */
};

static bool wants(void *view, const struct rvt_hart_flow *hart)
{
	return view_wants(view, hart);
}

static int take_runs(void *ctx, struct rvt_hart_flow *hart, const struct rvt_run *runs, size_t n)
{
	struct transfers *transfers = ctx;

	/* only a direct jump ends what view_note_run() notes */
	for (size_t i = 0; i < n && !transfers->partly; i++)
		if (runs[i].block->iclass == RVT_INSN_JUMP)
			view_note_run(transfers->view, hart, &runs[i], 1);
	return transfers->sink.runs(transfers->sink.ctx, hart, runs, n);
}

static int take_event(void *ctx, struct rvt_hart_flow *hart, const struct rvt_event *event)
{
	struct transfers *transfers = ctx;
	int err = transfers->sink.event(transfers->sink.ctx, hart, event);

	if (!err && event->type == RVT_EVENT_LOST && !transfers->partly) {
		transfers->lost++;
		view_lost(transfers->view, hart, event);
	}
	return err;
}

static void take_end(void *ctx, struct rvt_hart_flow *hart)
{
	struct transfers *transfers = ctx;

	transfers->sink.end(transfers->sink.ctx, hart);
}

static int open_inner(struct transfers *transfers)
{
	struct rvt_session *session = view_session(transfers->view);

	transfers->transfers = rvt_transfers_create(&transfers->ops, rvt_session_symbols(session),
						    transfers->max_depth);
	if (!transfers->transfers)
		return -ENOMEM;
	rvt_transfers_sink(transfers->transfers, &transfers->sink);
	return 0;
}

struct transfers *transfers_create(const struct rvt_transfers_ops *ops, struct view *view,
				   size_t max_depth)
{
	struct transfers *transfers = calloc(1, sizeof(*transfers));

	if (!transfers)
		return NULL;
	transfers->ops = *ops;
	transfers->ops.wants = view_has_filters(view) ? wants : NULL;
	transfers->ops.wants_ctx = view;
	transfers->view = view;
	transfers->max_depth = max_depth;
	if (open_inner(transfers)) {
		free(transfers);
		return NULL;
	}
	return transfers;
}

void transfers_destroy(struct transfers *transfers)
{
	if (!transfers)
		return;
	if (!transfers->partly)
		view_cut(transfers->view, transfers_cuts(transfers));
	rvt_transfers_destroy(transfers->transfers);
	free(transfers);
}

int transfers_renew(struct transfers *transfers)
{
	rvt_transfers_destroy(transfers->transfers);
	transfers->transfers = NULL;
	transfers->partly = true;
	if (open_inner(transfers))
		return -ENOMEM;
	transfers_mute(transfers, true);
	return 0;
}

void transfers_mute(struct transfers *transfers, bool muted)
{
	rvt_transfers_mute(transfers->transfers, muted);
}

struct rvt_transfers *transfers_inner(struct transfers *transfers)
{
	return transfers->transfers;
}

void transfers_sink(struct transfers *transfers, struct rvt_session_sink *sink)
{
	sink->ctx = transfers;
	sink->runs = take_runs;
	sink->event = take_event;
	sink->end = take_end;
}

void transfers_forget(struct transfers *transfers)
{
	transfers->lost = 0;
	view_forget(transfers->view);
}

uint64_t transfers_lost(const struct transfers *transfers)
{
	return transfers->lost;
}

uint64_t transfers_cuts(const struct transfers *transfers)
{
	return rvt_transfers_cuts(transfers->transfers);
}
