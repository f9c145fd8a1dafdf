/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The state of a struct calls as numbers, which an index keeps at stations (session/stations.h),
 * for all of a recording without filters.
 */
#ifndef PERF_RVTRACE_CALLS_SAVED_H
#define PERF_RVTRACE_CALLS_SAVED_H

#include "common/calls.h"
#include "session/stations.h"
#include "transfers/saved.h"

/* Keys of what is kept, above those of struct rvt_transfers. */
#define CALLS_KEYS RVT_TRANSFERS_KEYS

/* What an index keeps besides: how often each function was called unseen. */
struct calls_unseen {
	uint32_t *functions;	/* numbers; both arrays are malloc'd */
	uint64_t *times;
	size_t n;
};

/* Notes an unseen call, in .begin of a program that makes an index. Returns 0 or -ENOMEM. */
int calls_note_unseen(struct calls_unseen *unseen, const struct call *call);
void calls_unseen_clear(struct calls_unseen *unseen);
/* Calls @keep for each part. Returns 0, -ENOMEM, or what @keep returned. */
int calls_save(const struct calls *calls, const struct calls_unseen *unseen,
	       int (*keep)(void *ctx, uint64_t key, const struct words *words), void *ctx);

/*
 * calls_load - loads all that @reader has at its station: threads, and calls that have not ended.
 * Calls that were known before keep their .user; for others @ops.restore of struct calls_ops is
 * called. Returns 0, -EBADMSG, -ENOMEM, or what that returned. calls_load_losses - loads only on
 * which cpus flow was lost: with filters, none of the calls passed them.
 */
int calls_load(struct calls *calls, struct rvt_station_reader *reader);
int calls_load_losses(struct calls *calls, struct rvt_station_reader *reader);

/*
 * calls_open - computes a hash for the station of @reader. It is the same at two stations if the
 * same calls of functions that @wants lets through have not ended there, and none of these
 * functions was called unseen in between; else it is different, but for chance. Returns 0, -EBADMSG
 * or -ENOMEM.
 */
int calls_open(struct rvt_station_reader *reader,
	       bool (*wants)(void *ctx, const struct call_function *function), void *ctx,
	       uint64_t *open);

#endif
