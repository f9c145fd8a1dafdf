// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Turns a recording into a profile. Several threads decode for a profile that consists of counts
 * only: each has a tally, and all tallies are added up at the end.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "common/cmd.h"
#include "common/contexts.h"
#include "common/stacks.h"
#include "ctr/ctr.h"
#include "profile/profile.h"


/* The counts of one thread. .transfers is the context of the session's call-backs. */
struct tally {
	struct tally *next;
	struct transfers *transfers;
	struct places *places;
	void *data;		/* of the format */
};

struct decoding {
	struct view *view;
	const struct profile_format *format;
	const struct rvt_session_options *options;
	struct tally *tallies;
};

static struct transfers *open_transfers(const struct decoding *d, void *data)
{
	struct rvt_transfers_ops ops = { .size = sizeof(ops), .ctx = data };

	d->format->ops(&ops);
	return transfers_create(&ops, d->view, d->format->add ? 0 : MAX_CALL_DEPTH);
}

/* ---- tallies ---- */

static void destroy_tally(const struct decoding *d, struct tally *tally)
{
	transfers_destroy(tally->transfers);
	if (tally->data)
		d->format->destroy(tally->data);
	places_destroy(tally->places);
	free(tally);
}

static struct tally *create_tally(const struct decoding *d)
{
	struct tally *tally = calloc(1, sizeof(*tally));

	if (!tally)
		return NULL;
	tally->places = places_create(view_session(d->view));
	if (tally->places)
		tally->data = d->format->create(tally->places, d->options, NULL);
	if (tally->data)
		tally->transfers = open_transfers(d, tally->data);
	if (!tally->transfers) {
		destroy_tally(d, tally);
		return NULL;
	}
	return tally;
}

static void *open_tally(void *ctx)
{
	struct decoding *d = ctx;
	struct tally *tally = create_tally(d);

	if (!tally)
		return NULL;
	tally->next = d->tallies;
	d->tallies = tally;
	return tally->transfers;
}

static void forget_tallies(void *ctx)
{
	struct decoding *d = ctx;

	while (d->tallies) {
		struct tally *next = d->tallies->next;

		destroy_tally(d, d->tallies);
		d->tallies = next;
	}
}

/* Discards all counts: the session tells all of it again. */
static void start_again(void *ctx)
{
	struct decoding *d = ctx;

	view_forget(d->view);
	forget_tallies(d);
}

static int add_up(const struct decoding *d, void *data, uint64_t *errors)
{
	int err = 0;

	for (const struct tally *tally = d->tallies; tally && !err; tally = tally->next) {
		*errors += transfers_lost(tally->transfers);
		err = d->format->add(data, tally->data);
	}
	return err;
}

/* ---- decoding ---- */

/* Decodes on several threads. Adds to *@errors what was lost in segments that an index skipped. */
static int run_slices(struct decoding *d, struct transfers *transfers, uint64_t *errors)
{
	const struct rvt_session_slices slices = {
		.ctx = d, .overlap = true, .open = open_tally, .reset = start_again,
	};
	struct rvt_session_sink sink = { .size = sizeof(sink), .warning = view_warning };
	bool chosen = !view_has_triggers(d->view) && view_use_index(d->view, NULL, NULL);
	int err;

	transfers_sink(transfers, &sink);
	err = view_run_slices(d->view, &sink, &slices, false);
	if (chosen)
		*errors += view_skipped_losses(d->view);
	return err;
}

static int run(struct decoding *d, struct transfers *transfers, struct stacks *stacks,
	       uint64_t *errors)
{
	struct rvt_session_sink sink = { .size = sizeof(sink), .warning = view_warning };

	if (d->format->add)
		return run_slices(d, transfers, errors);
	transfers_sink(transfers, &sink);
	return stacks ? stacks_run(stacks, transfers, &sink) :
			view_run_slices(d->view, &sink, NULL, false);
}

static int decode_once(struct decoding *d, void *data, struct stacks *stacks, uint64_t *errors)
{
	struct transfers *transfers = open_transfers(d, data);
	int err = transfers ? run(d, transfers, stacks, errors) : -ENOMEM;

	if (!err)
		err = add_up(d, data, errors);
	if (transfers)
		*errors += transfers_lost(transfers);
	forget_tallies(d);
	transfers_destroy(transfers);
	return err;
}

/*
 * Opens call stacks for a part of the recording, if its index knows the stacks at its beginning.
 * NULL: decode from the beginning.
 */
static struct stacks *open_stacks(const struct decoding *d, uint64_t *lost)
{
	const struct stacks_ops ops = { .ctx = NULL };

	*lost = 0;
	return d->format->add || !d->format->forget ? NULL : stacks_open(d->view, &ops, lost);
}

static int decode_trace(struct decoding *d, void *data, uint64_t *errors)
{
	uint64_t lost;
	struct stacks *stacks = open_stacks(d, &lost);
	bool together = !stacks && d->format->run && d->options->jobs > 1 &&
		contexts_whole(d->view);
	int err = together ? d->format->run(data, d->view, errors) :
			     decode_once(d, data, stacks, errors);

	if (err == -EAGAIN && stacks) {
		d->format->forget(data);
		err = decode_once(d, data, NULL, errors);
	} else {
		*errors += lost;
	}
	stacks_close(stacks);
	/* -EPIPE: the output failed; closing it reports that */
	return err && err != -EPIPE ? cmd_error(err, "decoding ended: %s", strerror(-err)) : err;
}

int profile_decode(struct view *view, const struct profile_format *format,
		   const struct rvt_session_options *options, void *data, uint64_t *errors)
{
	struct decoding decoding = { .view = view, .format = format, .options = options };
	struct rvt_transfers_ops ops = { .size = sizeof(ops), .ctx = data };

	if (!rvt_session_is_ctr(view_session(view)))
		return decode_trace(&decoding, data, errors);
	format->ops(&ops);
	return ctr_profile(view, &ops);
}
