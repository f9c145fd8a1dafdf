// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* What the flow of a hart has counted: whose it is, and when it is told. */
#include "util/array.h"
#include "flow/control.h"
#include "slice.h"
#include "state.h"

struct counting {
	struct hart_flow *hart;
	const struct rvt_session_sink *sink;
	bool locked;		/* from the first that is told until end_telling() */
};

/* Takes the lock once for all counts: to tell one of thousands takes no time. */
static void begin_telling(struct counting *c)
{
	if (!c->locked)
		buffer_lock(c->hart->buffer);
	c->locked = true;
}

static void end_telling(struct counting *c)
{
	if (c->locked)
		buffer_unlock(c->hart->buffer);
	c->locked = false;
}

static int on_count_run(void *ctx, const struct rvt_run *run, uint64_t times)
{
	struct counting *c = ctx;

	if (!c->sink->count_run)
		return 0;
	begin_telling(c);
	return c->sink->count_run(c->hart->buffer->ctx, &c->hart->base, run, times);
}

static int on_count_edge(void *ctx, uint64_t from, uint64_t to, enum rvt_insn_class iclass,
			 int64_t times)
{
	struct counting *c = ctx;

	if (!c->sink->count_edge)
		return 0;
	begin_telling(c);
	return c->sink->count_edge(c->hart->buffer->ctx, &c->hart->base, from, to, iclass, times);
}

static bool hart_counts(const struct hart_flow *hart)
{
	const struct rvt_session_sink *sink = hart->session->sink;

	return hart->session->options.count && (sink->count_run || sink->count_edge);
}

/* Tells what was counted and is not deferred, for who runs now. */
static int tell_present(struct hart_flow *hart)
{
	struct counting c = { .hart = hart, .sink = hart->session->sink };
	const struct rvt_count_sink counts = {
		.size = sizeof(counts), .ctx = &c, .run = on_count_run, .edge = on_count_edge,
	};
	int err = rvt_flow_counts(hart->base.flow, &counts);

	end_telling(&c);
	return err;
}

/* Tells what was deferred for @owner. What was counted since has been told, or deferred. */
static int tell_owner(struct hart_flow *hart, struct count_owner *owner)
{
	const struct rvt_task *task = hart->base.task;
	struct rvt_space *space = hart->base.space;
	int err;

	if (!owner->counted)
		return 0;
	owner->counted = false;
	rvt_flow_restore_counts(hart->base.flow, owner - hart->owners);
	hart->base.task = owner->has_task ? &owner->task : NULL;
	hart->base.space = owner->space;
	err = tell_present(hart);
	hart->base.task = task;
	hart->base.space = space;
	return err;
}

int rvt_hart_tell_counts(struct hart_flow *hart)
{
	int err = hart_counts(hart) ? tell_present(hart) : 0;

	for (size_t i = 0; i < hart->n_owners && !err; i++)
		err = tell_owner(hart, &hart->owners[i]);
	return err;
}

int rvt_hart_forget_blocks(struct hart_flow *hart)
{
	int err = rvt_flow_flush(hart->base.flow);

	if (!err)
		err = rvt_hart_tell_counts(hart);
	if (!err)
		rvt_flow_forget_blocks(hart->base.flow);
	return err;
}

int rvt_hart_end_edge(struct hart_flow *hart, bool executed)
{
	struct counting c = { .hart = hart, .sink = hart->session->sink };
	struct rvt_flow_edge edge;
	int err;

	if (!rvt_flow_left(hart->base.flow, &edge) || !executed)
		return 0;
	err = on_count_edge(&c, edge.from, edge.to, edge.iclass, edge.times);
	end_telling(&c);
	return err;
}

static bool is_owner(const struct count_owner *owner, const struct count_owner *who)
{
	const struct rvt_task *a = &owner->task, *b = &who->task;

	if (owner->by_name != who->by_name || owner->space != who->space ||
	    owner->has_task != who->has_task || a->comm != b->comm)
		return false;
	return who->by_name || !who->has_task ||
	       (a->pid == b->pid && a->tid == b->tid && a->space == b->space &&
		a->life == b->life);
}

/* Who runs now, as an owner of counts. NULL: out of memory. */
static struct count_owner *present_owner(struct hart_flow *hart, bool by_name)
{
	const struct count_owner who = {
		.has_task = hart->base.task, .by_name = by_name,
		.space = by_name ? hart->buffer->decode->kernel : hart->base.space,
		.task = hart->base.task ? *hart->base.task : (struct rvt_task){ .pid = -1 },
	};
	size_t n = 0;

	while (n < hart->n_owners && !is_owner(&hart->owners[n], &who))
		n++;
	if (n < hart->n_owners)
		return &hart->owners[n];
	if (array_reserve(&hart->owners, &hart->owners_room, n, 1))
		return NULL;
	hart->owners[n] = who;
	hart->n_owners++;
	return &hart->owners[n];
}

/* Defers the counts in @halves for who runs now. Counts for which there is no room stay. */
static void defer_counts(struct hart_flow *hart, bool by_name, unsigned int halves)
{
	struct count_owner *owner = present_owner(hart, by_name);

	if (owner)
		owner->counted |=
			rvt_flow_defer_counts(hart->base.flow, owner - hart->owners, halves);
}

/* Live sideband goes away, so all is told then. */
int rvt_hart_leave_counts(struct hart_flow *hart)
{
	const struct rvt_session_options *options = &hart->session->options;
	int err;

	if (!hart_counts(hart))
		return 0;
	if (!hart->session->live) {
		/* the upper half of a guest's addresses is not the kernel's */
		if (options->count_names && !options->count_threads &&
		    hart->base.space != hart->buffer->decode->guest)
			defer_counts(hart, true, RVT_DEFERRED_HIGH);
		defer_counts(hart, false, RVT_DEFERRED_BOTH);
	}
	err = tell_present(hart);
	return err || !rvt_flow_deferred_full(hart->base.flow) ? err : rvt_hart_tell_counts(hart);
}

int rvt_hart_tell_replaced(struct hart_flow *hart, uint64_t time)
{
	int err = 0;

	if (!hart_counts(hart) || rvt_cursor_next(hart->cursor) > time)
		return 0;
	if (rvt_cursor_replaces(hart->cursor, hart->base.task, time))
		err = rvt_hart_leave_counts(hart);
	for (size_t i = 0; i < hart->n_owners && !err; i++) {
		const struct count_owner *owner = &hart->owners[i];
		/* What becomes of the task does not matter to those of its name. */
		const struct rvt_task *task = owner->has_task && !owner->by_name ? &owner->task :
					      NULL;

		if (!owner->counted || !rvt_cursor_replaces(hart->cursor, task, time))
			continue;
		err = rvt_hart_leave_counts(hart);
		if (!err)
			err = tell_owner(hart, &hart->owners[i]);
	}
	return err;
}
