// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Calling contexts of a recording. Several threads decode slices of it, and write to tapes what ran
 * in one function after the other; who puts them together keeps the stacks, and counts.
 */
#include <errno.h>
#include <stdlib.h>
#include "common/contexts.h"
#include "common/pages.h"
#include "common/tape.h"

/* Takes what tapes have, in order. */
struct joining {
	struct contexts *contexts;
	struct view *view;
	struct tape_reader *reader;
	uint64_t errors;
};

/* ---- slices ---- */

/* What one thread needs. */
struct maker {
	struct joining *joining;
	struct transfers *transfers;
	struct places *places;
	struct tape tape;
	/* what runs: instructions of the function with this label */
	struct tape_hart hart;
	struct tape_ran ran;
	const struct label *label;
	bool kernel;
	uint64_t errors;
};

/* What ran so far is one item of the tape. */
static int put_ran(struct maker *maker)
{
	const struct tape_ran ran = maker->ran;

	maker->ran = (struct tape_ran){ .insns = 0 };
	return ran.insns ? tape_ran(&maker->tape, &maker->hart, &ran) : 0;
}

static bool is_same_hart(const struct tape_hart *a, const struct tape_hart *b)
{
	return a->number == b->number && a->moved == b->moved && a->tid == b->tid &&
		a->guest == b->guest;
}

static int take_line(void *ctx, struct rvt_hart_flow *flow, const struct rvt_straight_line *line,
		     struct rvt_callstack *stack)
{
	struct maker *maker = ctx;
	const struct label *label = places_label(maker->places, flow->space, line->first);
	const struct tape_hart hart = tape_hart(flow);
	bool kernel = (int64_t)line->first < 0;
	int err = 0;

	(void)stack;
	if (maker->ran.insns && !(label->symbol && label == maker->label &&
				  kernel == maker->kernel && is_same_hart(&hart, &maker->hart)))
		err = put_ran(maker);
	if (!maker->ran.insns) {
		maker->hart = hart;
		maker->label = label;
		maker->kernel = kernel;
		maker->ran.first = line->first;
	}
	maker->ran.insns += line->insns;
	maker->ran.lines++;
	if (flow->time > line->began)
		maker->ran.ns += flow->time - line->began;
	return err;
}

/* Before a step of the stack. */
static int take_transfer(void *ctx, struct rvt_hart_flow *hart,
			 const struct rvt_transfer *transfer, struct rvt_callstack *stack)
{
	(void)hart;
	(void)stack;
	return transfer->kind == RVT_TRANSFER_BRANCH ||
		(transfer->kind == RVT_TRANSFER_JUMP && !transfer->indirect) ? 0 : put_ran(ctx);
}

static int take_after(void *ctx, struct rvt_hart_flow *hart, const struct rvt_transfer *transfer,
		      struct rvt_callstack *stack, size_t ended)
{
	struct maker *maker = ctx;
	int err;

	(void)stack;
	(void)ended;
	if (transfer->kind != RVT_TRANSFER_JUMP || transfer->indirect ||
	    !maker->joining->contexts->count_calls ||
	    !places_enters(maker->places, hart->space, transfer->from, transfer->to))
		return 0;
	err = put_ran(maker);
	return err ? err : tape_entered(&maker->tape, hart, transfer->to);
}

static int take_event(void *ctx, struct rvt_hart_flow *hart, const struct rvt_event *event)
{
	struct maker *maker = ctx;

	(void)hart;
	if (event->type != RVT_EVENT_LOST)
		return 0;
	maker->errors++;
	return put_ran(maker);
}

static void close_maker(void *ctx, bool valid)
{
	struct maker *maker = ctx;

	if (valid)
		maker->joining->errors += maker->errors;
	transfers_destroy(maker->transfers);
	places_destroy(maker->places);
	free(maker);
}

static void *open_maker(void *ctx, struct rvt_session_sink *sink)
{
	struct joining *joining = ctx;
	struct maker *maker = calloc(1, sizeof(*maker));
	const struct rvt_transfers_ops ops = {
		.size = sizeof(ops), .ctx = maker, .line = take_line, .transfer = take_transfer,
		.after = take_after, .event = take_event,
	};

	if (!maker)
		return NULL;
	maker->joining = joining;
	maker->places = places_create(view_session(joining->view));
	maker->transfers = transfers_create(&ops, joining->view, 0);
	if (!maker->places || !maker->transfers) {
		close_maker(maker, false);
		return NULL;
	}
	tape_steps(&maker->tape, maker->transfers);
	transfers_sink(maker->transfers, sink);
	sink->warning = view_warning;
	return maker;
}

static void begin_page(void *ctx, const struct pages_slice *slice)
{
	struct maker *maker = ctx;

	tape_begin(&maker->tape, slice->out);
	maker->ran = (struct tape_ran){ .insns = 0 };
}

/* What other buffers have may come in between. An error shows at the end. */
static void tell_moment(void *ctx)
{
	struct maker *maker = ctx;

	put_ran(maker);
	tape_moment(&maker->tape);
}

static int end_page(void *ctx)
{
	struct maker *maker = ctx;
	int err = put_ran(maker);

	if (!err)
		err = tape_end(&maker->tape);
	return !err && ferror(maker->tape.out) ? -EIO : err;
}

/* ---- joining ---- */

static int count_ran(void *ctx, struct rvt_hart_flow *hart, const struct tape_ran *ran,
		     struct rvt_callstack *stack)
{
	const struct joining *joining = ctx;

	return contexts_ran(joining->contexts, hart, ran, stack);
}

static int note_call(void *ctx, struct rvt_hart_flow *hart, const struct rvt_transfer *transfer,
		     struct rvt_callstack *stack, size_t ended)
{
	const struct joining *joining = ctx;

	return contexts_after(joining->contexts, hart, transfer, stack, ended);
}

static int count_entered(void *ctx, struct rvt_hart_flow *hart, uint64_t to,
			 struct rvt_callstack *stack)
{
	const struct joining *joining = ctx;

	return contexts_entered(joining->contexts, hart, to, stack);
}

/* Slices do not fit together: one thread tells all again. */
static void start_again(void *ctx)
{
	struct joining *joining = ctx;

	view_forget(joining->view);
	contexts_forget(joining->contexts);
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
	const struct tape_reads reads = { .ctx = joining, .ran = count_ran,
					  .entered = count_entered, .after = note_call };
	const struct pages_ops ops = {
		.ctx = joining, .overlap = true, .open = open_maker,
		.close = close_maker, .begin = begin_page, .moment = tell_moment, .end = end_page,
		.again = start_again, .anew = true, .run = run,
	};
	int err;

	joining->reader = tape_reader_create(joining->view, true, &reads);
	err = joining->reader ? tape_run(joining->reader, &ops) : -ENOMEM;
	tape_reader_destroy(joining->reader);
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
