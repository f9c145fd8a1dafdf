// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Makes the stations of an index: decodes all once more, with call stacks. */
#include <errno.h>
#include <stdlib.h>
#include "common/calls-saved.h"
#include "common/progress.h"
#include "index/stations.h"

struct making {
	struct calls *calls;
	struct calls_unseen unseen;
	struct rvt_transfers *transfers;
	struct rvt_session_sink sink;	/* of .transfers */
	struct rvt_station_span told;
	bool too_deep;		/* some views cut stacks of this depth */
};

static void note_time(struct making *making, uint64_t time)
{
	if (time < making->told.earliest)
		making->told.earliest = time;
	if (time > making->told.latest)
		making->told.latest = time;
}

/* Notes the time of everything that a view may check by its filters. */
static bool note_wanted(void *ctx, const struct rvt_hart_flow *hart)
{
	note_time(ctx, hart->time);
	return true;
}

static int take_event(void *ctx, struct rvt_hart_flow *hart, const struct rvt_event *event)
{
	struct making *making = ctx;

	note_time(making, hart->time);
	return making->sink.event(making->sink.ctx, hart, event);
}

static int take_runs(void *ctx, struct rvt_hart_flow *hart, const struct rvt_run *runs, size_t n)
{
	struct making *making = ctx;

	return making->sink.runs(making->sink.ctx, hart, runs, n);
}

static void take_end(void *ctx, struct rvt_hart_flow *hart)
{
	struct making *making = ctx;

	making->sink.end(making->sink.ctx, hart);
}

static int begin_call(void *ctx, struct call_thread *thread, struct call *call)
{
	struct making *making = ctx;

	(void)thread;
	return calls_note_unseen(&making->unseen, call);
}

static int after(void *ctx, struct rvt_hart_flow *hart, const struct rvt_transfer *transfer,
		 struct rvt_callstack *stack, size_t ended)
{
	struct making *making = ctx;

	(void)hart, (void)transfer, (void)ended;
	making->too_deep |= rvt_callstack_depth(stack) >= CALLS_MAX_DEPTH;
	return 0;
}

static int save(void *ctx, int (*keep)(void *keep_ctx, uint64_t key, const struct words *words),
		void *keep_ctx)
{
	struct making *making = ctx;
	int err = rvt_transfers_save(making->transfers, keep, keep_ctx);

	return err ? err : calls_save(making->calls, &making->unseen, keep, keep_ctx);
}

static void save_hart(void *ctx, const struct rvt_hart_flow *hart, struct words *words)
{
	(void)ctx;
	rvt_transfers_save_hart(hart, words);
}

static int make(struct making *making, struct rvt_session *session, struct rvt_index *index)
{
	const struct rvt_session_sink sink = {
		.size = sizeof(sink), .ctx = making, .runs = take_runs, .event = take_event,
		.end = take_end,
	};
	const struct rvt_station_ops ops = { .ctx = making, .save = save, .save_hart = save_hart };
	int err;

	rvt_transfers_sink(making->transfers, &making->sink);
	err = progress_stations(session, index, &sink, &ops, &making->told);
	rvt_stations_set_cuts(index, rvt_transfers_cuts(making->transfers));
	if (!err && making->too_deep)
		rvt_stations_drop(index);
	return err;
}

int index_add_stations(struct rvt_session *session, struct rvt_index *index)
{
	struct making making = { .too_deep = false };
	const struct calls_ops calls_ops = { .ctx = &making, .begin = begin_call, .after = after };
	struct places *places = places_create(session);
	struct rvt_transfers_ops ops;
	int err = -ENOMEM;

	making.calls = places ? calls_create(&calls_ops, places) : NULL;
	if (making.calls) {
		calls_transfers_ops(making.calls, &ops);
		ops.wants = note_wanted;
		ops.wants_ctx = &making;
		making.transfers = rvt_transfers_create(&ops, rvt_session_symbols(session),
							MAX_CALL_DEPTH);
	}
	if (making.transfers)
		err = make(&making, session, index);
	rvt_transfers_destroy(making.transfers);
	calls_destroy(making.calls);
	calls_unseen_clear(&making.unseen);
	places_destroy(places);
	/* an index is useful without them, too */
	return err == -ENOTSUP ? 0 : err;
}
