// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <errno.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>
#include "common/calls-saved.h"
#include "common/cmd.h"
#include "common/stacks.h"

struct stacks {
	struct view *view;
	struct stacks_ops ops;
	const struct rvt_index *index;
	struct rvt_station_reader *reader;
	bool by_time;		/* up to .to */
	uint64_t to;
	size_t first;		/* station at which it begins */
	bool *needed;		/* the part behind this station; NULL with .by_time */
	bool *granules;		/* by number: wanted */
	struct transfers *transfers;
	size_t station;		/* last one reached */
	bool ended;		/* reached the end of the recording */
};

void stacks_close(struct stacks *stacks)
{
	if (!stacks)
		return;
	rvt_station_reader_destroy(stacks->reader);
	free(stacks->needed);
	free(stacks->granules);
	free(stacks);
}

/* ---- what was lost in all of it ---- */

struct accounts {
	struct view *view;
	atomic_uint_fast64_t lost;
};

static int account_runs(void *ctx, struct rvt_hart_flow *hart, const struct rvt_run *runs, size_t n)
{
	struct accounts *accounts = ctx;

	for (size_t i = 0; i < n; i++)
		view_note_run(accounts->view, hart, &runs[i], 1);
	return 0;
}

static int account_event(void *ctx, struct rvt_hart_flow *hart, const struct rvt_event *event)
{
	struct accounts *accounts = ctx;

	if (event->type == RVT_EVENT_LOST) {
		view_lost(accounts->view, hart, event);
		accounts->lost++;
	}
	return 0;
}

static void *open_accounts(void *ctx)
{
	return ctx;
}

static void forget_accounts(void *ctx)
{
	struct accounts *accounts = ctx;

	accounts->lost = 0;
	view_forget(accounts->view);
}

static bool wants_none(void *ctx, const struct rvt_index_segment *segment)
{
	(void)ctx, (void)segment;
	return false;
}

/*
 * Accounts for losses in all of the recording. The index knows them; segments about which it cannot
 * know all are decoded. Sets *@bytes to the bytes of trace in these.
 */
static int account(struct stacks *stacks, uint64_t *bytes, uint64_t *lost)
{
	struct accounts accounts = { .view = stacks->view };
	const struct rvt_session_sink sink = {
		.size = sizeof(sink), .ctx = &accounts, .runs = account_runs,
		.event = account_event, .warning = view_warning,
	};
	const struct rvt_session_slices slices = {
		.ctx = &accounts, .open = open_accounts, .reset = forget_accounts,
	};
	int err = rvt_index_choose(view_session(stacks->view), stacks->index, wants_none, NULL,
				   bytes);

	if (!err)
		err = view_run_slices(stacks->view, &sink, &slices, false);
	*lost = err ? 0 : accounts.lost + view_skipped_losses(stacks->view);
	return err;
}

/* ---- which parts ---- */

/* Begins by time: at the last station before which nothing passes the filter. */
static void choose_time(struct stacks *stacks, uint64_t from)
{
	size_t n = rvt_stations_n(stacks->index);

	while (stacks->first + 1 < n &&
	       rvt_station_latest_before(stacks->index, stacks->first + 1) < from)
		stacks->first++;
}

static bool wants_segment(void *ctx, const struct rvt_index_segment *segment)
{
	const struct stacks *stacks = ctx;

	for (size_t i = 0; i < segment->n_granules; i++)
		if (stacks->granules[segment->granules[i]])
			return true;
	return false;
}

static bool choose_granules(struct stacks *stacks)
{
	uint64_t size = rvt_index_granule_size(stacks->index);
	size_t n = rvt_index_n_granules(stacks->index);

	stacks->granules = size ? calloc(n + 1, sizeof(*stacks->granules)) : NULL;
	for (size_t i = 0; stacks->granules && i < n; i++)
		stacks->granules[i] = stacks->ops.wants_granule(stacks->ops.ctx,
								rvt_index_granule(stacks->index, i),
								size);
	return stacks->granules;
}

/*
 * Chooses parts by functions: where their code was executed, or one of their calls began or ended
 * in another way.
 */
static int choose_functions(struct stacks *stacks)
{
	size_t n = rvt_stations_n(stacks->index);
	uint64_t open, before = 0;
	int err = 0;

	stacks->needed = calloc(n + 1, sizeof(*stacks->needed));
	if (!stacks->needed)
		return -ENOMEM;
	rvt_stations_touch(view_session(stacks->view), stacks->index, wants_segment, stacks,
			   stacks->needed);
	for (size_t i = 0; i <= n && !err; i++) {
		err = rvt_station_reader_seek(stacks->reader, i);
		if (!err)
			err = calls_open(stacks->reader, stacks->ops.wants, stacks->ops.ctx, &open);
		if (!err && i && open != before)
			stacks->needed[i - 1] = true;
		before = open;
	}
	/* fills gaps of one part: to begin anew costs about as much as to decode it */
	for (size_t i = 1; i + 1 < n && !err; i++)
		stacks->needed[i] |= stacks->needed[i - 1] && stacks->needed[i + 1];
	return err;
}

static bool is_needed(const struct stacks *stacks, size_t station)
{
	if (stacks->by_time)
		return rvt_station_earliest_after(stacks->index, station) <= stacks->to;
	return stacks->needed[station] ||
		(stacks->ops.is_busy && stacks->ops.is_busy(stacks->ops.ctx));
}

static uint64_t count_bytes(const struct stacks *stacks)
{
	size_t n = rvt_stations_n(stacks->index);
	uint64_t bytes = 0;

	for (size_t i = stacks->first; i < n; i++)
		if (is_needed(stacks, i))
			bytes += rvt_stations_bytes(view_session(stacks->view), stacks->index, i,
						    i + 1);
	return bytes;
}

/* Chooses parts. Returns 0; -ENOTSUP: all must be decoded; or -errno. */
static int choose(struct stacks *stacks)
{
	bool granules = stacks->ops.wants && !view_has_filters(stacks->view);
	uint64_t from;
	int err = 0;

	stacks->index = view_has_triggers(stacks->view) ? NULL : view_index(stacks->view);
	if (!stacks->index || rvt_stations_n(stacks->index) < 2)
		return -ENOTSUP;
	stacks->by_time = view_times(stacks->view, &from, &stacks->to);
	if (!stacks->by_time && !granules)
		return -ENOTSUP;
	stacks->reader = rvt_station_reader_create(stacks->index);
	if (!stacks->reader)
		return -ENOMEM;
	if (stacks->by_time)
		choose_time(stacks, from);
	else
		err = choose_granules(stacks) ? choose_functions(stacks) : -ENOTSUP;
	return err;
}

struct stacks *stacks_open(struct view *view, const struct stacks_ops *ops, uint64_t *lost)
{
	struct stacks *stacks = NULL;
	uint64_t bytes, size = rvt_session_size(view_session(view)), accounted;
	int err;

	*lost = 0;
	if (!view_times(view, &bytes, &bytes) && !ops->wants)
		return NULL;
	stacks = calloc(1, sizeof(*stacks));
	if (!stacks)
		return NULL;
	stacks->view = view;
	stacks->ops = *ops;
	err = choose(stacks);
	if (!err) {
		bytes = count_bytes(stacks);
		/* decoding in parts takes longer than all in one go */
		err = bytes < size / 4 * 3 ? account(stacks, &accounted, lost) : -ENOTSUP;
	}
	if (err) {
		stacks_close(stacks);
		return NULL;
	}
	bytes += accounted;
	cmd_info("%" PRIu64 " of %" PRIu64 " bytes of trace are decoded: the index says where",
		 bytes < size ? bytes : size, size);
	view_cut(view, rvt_stations_cuts(stacks->index));
	return stacks;
}

/* ---- decoding ---- */

static int load_part(void *ctx, uint64_t key, struct words *words)
{
	return rvt_transfers_load(ctx, key, words);
}

static int arrive(void *ctx)
{
	struct stacks *stacks = ctx;
	struct calls *calls = stacks->ops.calls;
	int err = rvt_station_reader_walk(stacks->reader, 0, RVT_TRANSFERS_KEYS, load_part,
					  transfers_inner(stacks->transfers));

	if (!err && calls)
		err = stacks->by_time ? calls_load_losses(calls, stacks->reader) :
		      calls_load(calls, stacks->reader);
	transfers_mute(stacks->transfers, false);
	return err;
}

static int load_hart(void *ctx, struct rvt_hart_flow *hart, struct words *words)
{
	const struct stacks *stacks = ctx;

	return rvt_transfers_load_hart(transfers_inner(stacks->transfers), hart, words);
}

static bool goes_further(void *ctx, size_t station)
{
	return is_needed(ctx, station);
}

static int compare_part(void *ctx, uint64_t key, const struct words *words)
{
	return rvt_station_reader_has(ctx, key, words) ? 0 : -EAGAIN;
}

/* Checks that all stacks are what they were when the index was made. */
static int leave(void *ctx, size_t station)
{
	struct stacks *stacks = ctx;
	int err = rvt_station_reader_seek(stacks->reader, station);

	stacks->station = station;
	stacks->ended = false;
	if (!err)
		err = rvt_transfers_save(transfers_inner(stacks->transfers), compare_part,
					 stacks->reader);
	transfers_mute(stacks->transfers, true);
	return err;
}

static int run_from(struct stacks *stacks, const struct rvt_session_sink *sink, size_t station)
{
	const struct rvt_station_run run = {
		.index = stacks->index, .reader = stacks->reader, .from = station, .ctx = stacks,
		.arrive = arrive, .load_hart = load_hart, .further = goes_further, .leave = leave,
	};
	int err = transfers_renew(stacks->transfers);

	stacks->station = rvt_stations_n(stacks->index);
	stacks->ended = true;
	return err ? err : view_run_station(stacks->view, sink, &run);
}

/* Loads the calls that have not ended at the end of the recording, so that these are told. */
static int load_end(struct stacks *stacks)
{
	int err = rvt_station_reader_seek(stacks->reader, rvt_stations_n(stacks->index));

	return err ? err : calls_load(stacks->ops.calls, stacks->reader);
}

int stacks_run(struct stacks *stacks, struct transfers *transfers,
	       const struct rvt_session_sink *sink)
{
	size_t n = rvt_stations_n(stacks->index);
	int err = transfers_renew(transfers);

	stacks->transfers = transfers;
	stacks->station = stacks->first;
	while (!err && stacks->station < n && !view_interrupted(stacks->view))
		if (is_needed(stacks, stacks->station))
			err = run_from(stacks, sink, stacks->station);
		else if (stacks->by_time)
			break;
		else
			stacks->station++;
	if (!err && !stacks->by_time && !stacks->ended && stacks->ops.calls &&
	    !view_interrupted(stacks->view))
		err = load_end(stacks);
	/* the index is damaged */
	if (err == -EBADMSG)
		err = -EAGAIN;
	if (err == -EAGAIN) {
		view_forget(stacks->view);
		cmd_info("the trace is not what the index says: all of it was decoded");
	}
	return err;
}
