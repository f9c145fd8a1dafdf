// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Decodes the calls of a recording, or of the part of it that matters. */
#include <errno.h>
#include "common/calls.h"
#include "common/stacks.h"

struct attempt {
	struct view *view;
	struct places *places;
	const struct calls_ops *ops;
	bool *timed;
	uint64_t *errors;
};

static int decode(const struct attempt *attempt, struct stacks *stacks,
		  struct transfers *transfers)
{
	struct rvt_session_sink sink = { .size = sizeof(sink), .warning = view_warning };

	transfers_sink(transfers, &sink);
	return stacks ? stacks_run(stacks, transfers, &sink) :
			view_run(attempt->view, &sink, false);
}

static struct stacks *open_stacks(const struct attempt *attempt, struct calls *calls,
				  uint64_t *lost)
{
	const struct calls_ops *ops = attempt->ops;
	const struct stacks_ops stacks_ops = {
		.ctx = ops->ctx, .calls = calls, .wants = ops->wants,
		.wants_granule = ops->wants_granule, .is_busy = ops->is_busy };

	*lost = 0;
	return ops->forget ? stacks_open(attempt->view, &stacks_ops, lost) : NULL;
}

/* Decodes once; with @partly only what matters. -EAGAIN: everything must be decoded. */
static int run(const struct attempt *attempt, bool partly)
{
	struct calls *calls = calls_create(attempt->ops, attempt->places);
	struct rvt_transfers_ops transfers_ops;
	struct transfers *transfers = NULL;
	struct stacks *stacks = NULL;
	uint64_t lost = 0;
	int err = -ENOMEM;

	if (calls) {
		calls_transfers_ops(calls, &transfers_ops);
		transfers = transfers_create(&transfers_ops, attempt->view, CALLS_MAX_DEPTH);
	}
	if (transfers) {
		stacks = partly ? open_stacks(attempt, calls, &lost) : NULL;
		err = decode(attempt, stacks, transfers);
		if (!err)
			err = calls_finish(calls);
		if (attempt->timed)
			*attempt->timed = calls_timed(calls);
		if (attempt->errors && err != -EAGAIN)
			*attempt->errors += stacks ? lost : transfers_lost(transfers);
	}
	stacks_close(stacks);
	transfers_destroy(transfers);
	calls_destroy(calls);
	return err;
}

int calls_run(struct view *view, struct places *places, const struct calls_ops *ops, bool *timed,
	      uint64_t *errors)
{
	const struct attempt attempt = { view, places, ops, timed, errors };
	int err = run(&attempt, true);

	if (err == -EAGAIN && ops->forget) {
		ops->forget(ops->ctx);
		err = run(&attempt, false);
	}
	return err;
}
