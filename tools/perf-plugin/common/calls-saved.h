/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Where a struct calls is, as numbers: what an index keeps of it at stations (session/stations.h),
 * of all of a recording without filters.
 */
#ifndef PERF_RVTRACE_CALLS_SAVED_H
#define PERF_RVTRACE_CALLS_SAVED_H

#include "common/calls.h"
#include "session/stations.h"
#include "transfers/saved.h"

/* Keys of what is kept; behind those of struct rvt_transfers. */
#define CALLS_KEYS RVT_TRANSFERS_KEYS

/* What an index keeps besides: how often each function had been called, and that was not seen. */
struct calls_unseen {
	uint32_t *functions;	/* numbers; malloc'd, both */
	uint64_t *times;
	size_t n;
};

/* For .begin of who makes an index. 0 or -ENOMEM. */
int calls_note_unseen(struct calls_unseen *unseen, const struct call *call);
void calls_unseen_clear(struct calls_unseen *unseen);
/* Calls @keep for each part. 0, -ENOMEM, or what @keep returned. */
int calls_save(const struct calls *calls, const struct calls_unseen *unseen,
	       int (*keep)(void *ctx, uint64_t key, const struct words *words), void *ctx);

/*
 * calls_load - all that @reader has at its station: threads, and calls that have not ended. .user
 * of those that were known before stays; @ops.restore of struct calls_ops is called for each that
 * was not. 0, -EBADMSG, -ENOMEM, or what that returned.
 * calls_load_losses - only that flow was lost on which cpus: with filters, none of them passed.
 */
int calls_load(struct calls *calls, struct rvt_station_reader *reader);
int calls_load_losses(struct calls *calls, struct rvt_station_reader *reader);

/*
 * calls_open - of the station of @reader: a number that is the same at two stations if the same
 * calls of functions that @wants lets through have not ended there, and none of these functions was
 * called unseen in between; but for chance only then. 0, -EBADMSG, -ENOMEM.
 */
int calls_open(struct rvt_station_reader *reader,
	       bool (*wants)(void *ctx, const struct call_function *function), void *ctx,
	       uint64_t *open);

#endif
