// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Calling contexts of a recording. Several threads decode slices of it, and write to tapes trees of
 * what ran, as far as they know who called whom; who puts them together keeps the stacks.
 */
#include <errno.h>
#include <stdlib.h>
#include "common/contexts.h"
#include "common/contexts-slice.h"
#include "common/pages.h"
#include "common/tape.h"
#include "session/access.h"
#include "util/array.h"

/* tape_base() */
struct base {
	uint64_t hart;		/* .number */
	struct context *caller;
};

/* Takes what tapes have, in order. */
struct joining {
	struct contexts *contexts;
	struct view *view;
	struct tape_reader *reader;
	struct rvt_threaded threaded;
	struct context **tree;	/* the tree at hand: contexts by number, the first is who called */
	size_t n, room;
	struct base *bases;	/* of trees that come later, one for each hart flow */
	size_t n_bases, bases_room;
	uint64_t errors;
};

/* ---- slices ---- */

/* What one thread needs. */
struct maker {
	struct joining *joining;
	struct transfers *transfers;
	struct places *places;
	struct contexts_slice *slice;
	struct tape tape;
	uint64_t errors;
};

static int take_line(void *ctx, struct rvt_hart_flow *hart, const struct rvt_straight_line *line,
		     struct rvt_callstack *stack)
{
	return contexts_slice_line(((struct maker *)ctx)->slice, hart, line, stack);
}

static int take_after(void *ctx, struct rvt_hart_flow *hart, const struct rvt_transfer *transfer,
		      struct rvt_callstack *stack, size_t ended)
{
	return contexts_slice_jump(((struct maker *)ctx)->slice, hart, transfer, stack, ended);
}

static int take_event(void *ctx, struct rvt_hart_flow *hart, const struct rvt_event *event)
{
	struct maker *maker = ctx;

	(void)hart;
	maker->errors += event->type == RVT_EVENT_LOST;
	return 0;
}

static void close_maker(void *ctx, bool valid)
{
	struct maker *maker = ctx;

	if (valid)
		maker->joining->errors += maker->errors;
	transfers_destroy(maker->transfers);
	contexts_slice_destroy(maker->slice);
	places_destroy(maker->places);
	free(maker);
}

static void *open_maker(void *ctx, struct rvt_session_sink *sink)
{
	struct joining *joining = ctx;
	struct maker *maker = calloc(1, sizeof(*maker));
	const bool count_calls = joining->contexts->count_calls;
	const struct rvt_transfers_ops ops = {
		.size = sizeof(ops), .ctx = maker, .line = take_line, .event = take_event,
		.after = count_calls ? take_after : NULL,
	};

	if (!maker)
		return NULL;
	maker->joining = joining;
	maker->places = places_create(view_session(joining->view));
	maker->transfers = transfers_create(&ops, joining->view, 0);
	if (maker->places)
		maker->slice = contexts_slice_create(joining->view, maker->places,
						     &joining->threaded, &maker->tape,
						     count_calls);
	if (!maker->slice || !maker->transfers) {
		close_maker(maker, false);
		return NULL;
	}
	rvt_transfers_tell_steps(transfers_inner(maker->transfers), contexts_slice_step,
				 maker->slice);
	transfers_sink(maker->transfers, sink);
	sink->warning = view_warning;
	return maker;
}

static void begin_page(void *ctx, const struct pages_slice *page)
{
	struct maker *maker = ctx;

	tape_begin(&maker->tape, page->out);
	contexts_slice_clear(maker->slice);
}

/* An error shows at the end. */
static void tell_moment(void *ctx)
{
	contexts_slice_moment(((struct maker *)ctx)->slice);
}

static int end_page(void *ctx)
{
	struct maker *maker = ctx;
	int err = contexts_slice_write(maker->slice);

	if (!err)
		err = tape_end(&maker->tape);
	return !err && ferror(maker->tape.out) ? -EIO : err;
}

/* ---- joining ---- */

/* NULL: out of memory. */
static struct base *get_base(struct joining *joining, uint64_t hart)
{
	struct base *base = joining->bases;

	while (base < joining->bases + joining->n_bases && base->hart != hart)
		base++;
	if (base < joining->bases + joining->n_bases)
		return base;
	if (array_reserve(&joining->bases, &joining->bases_room, joining->n_bases, 1))
		return NULL;
	base = &joining->bases[joining->n_bases++];
	*base = (struct base){ .hart = hart };
	return base;
}

static int take_base(void *ctx, struct rvt_hart_flow *hart, struct rvt_callstack *stack)
{
	struct joining *joining = ctx;
	struct base *base = get_base(joining, hart->number);

	if (!base)
		return -ENOMEM;
	base->caller = contexts_caller(joining->contexts, hart, stack);
	return base->caller ? 0 : -ENOMEM;
}

/* A tree comes. NULL: out of memory. */
static struct context *find_caller(struct joining *joining, struct rvt_hart_flow *hart,
				   const struct tape_ran *ran, struct rvt_callstack *stack)
{
	const struct base *base;

	if (ran->place == TAPE_BEGINS)
		return contexts_caller(joining->contexts, hart, stack);
	base = get_base(joining, hart->number);
	return base ? base->caller : NULL;
}

static int count_ran(void *ctx, struct rvt_hart_flow *hart, const struct tape_ran *ran,
		     struct rvt_callstack *stack)
{
	struct joining *joining = ctx;
	struct context *context;

	if (ran->place != TAPE_GOES_ON)
		joining->n = 0;
	if (array_reserve(&joining->tree, &joining->room, joining->n, 2))
		return -ENOMEM;
	if (!joining->n)
		joining->tree[joining->n++] = find_caller(joining, hart, ran, stack);
	if (ran->parent >= joining->n)
		return -EINVAL;
	context = contexts_below(joining->contexts, hart, joining->tree[ran->parent], ran);
	joining->tree[joining->n++] = context;
	return context ? 0 : -ENOMEM;
}

static int note_call(void *ctx, struct rvt_hart_flow *hart, const struct rvt_transfer *transfer,
		     struct rvt_callstack *stack, size_t ended)
{
	const struct joining *joining = ctx;

	return contexts_after(joining->contexts, hart, transfer, stack, ended);
}

/* Slices do not fit together: one thread tells all again. */
static void start_again(void *ctx)
{
	struct joining *joining = ctx;

	view_forget(joining->view);
	contexts_forget(joining->contexts);
	joining->n = joining->n_bases = 0;
	tape_reader_restart(joining->reader, 0);
}

static int run(void *ctx, const struct rvt_session_sink *sink,
	       const struct rvt_session_slices *slices)
{
	const struct joining *joining = ctx;

	return view_run_slices(joining->view, sink, slices, false);
}

static int run_slices(struct joining *joining)
{
	const struct tape_reads reads = { .ctx = joining, .ran = count_ran, .base = take_base,
					  .after = note_call };
	const struct pages_ops ops = {
		.ctx = joining, .overlap = true, .open = open_maker,
		.close = close_maker, .begin = begin_page, .moment = tell_moment, .end = end_page,
		.again = start_again, .anew = true, .run = run,
	};
	int err = rvt_session_threaded(view_session(joining->view), &joining->threaded);

	if (err)
		return err;
	joining->reader = tape_reader_create(joining->view, true, &reads);
	err = joining->reader ? tape_run(joining->reader, &ops) : -ENOMEM;
	tape_reader_destroy(joining->reader);
	free(joining->threaded.pids);
	free(joining->tree);
	free(joining->bases);
	return err;
}

bool contexts_whole(const struct view *view)
{
	return !view_has_filters(view) && !view_has_triggers(view);
}

int contexts_run(struct contexts *contexts, struct view *view, uint64_t *errors)
{
	struct joining joining = { .contexts = contexts, .view = view };
	int err = run_slices(&joining);

	*errors += joining.errors;
	return err;
}
