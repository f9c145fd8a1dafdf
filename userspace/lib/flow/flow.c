// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Flow engine: what its users call (rvtrace/flow.h, flow/control.h), in terms of the layers below.
 */
#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include "flow/count/counts.h"
#include "flow/memo/table-pool.h"
#include "flow/walk/emit.h"
#include "util/reserve.h"
#include "util/sized.h"

int rvt_flow_create(const struct rvt_flow_config *config, const struct rvt_flow_sink *sink,
		    struct rvt_flow **flow)
{
	struct rvt_flow_config full;
	struct rvt_flow_sink own;
	struct rvt_flow *f;

	*flow = NULL;
	if (sized_copy(&full, sizeof(full), config) || sized_copy(&own, sizeof(own), sink))
		return -EINVAL;
	/* There are thousands where a dump has so many sources, of which most say little. */
	f = reserve(sizeof(*f));
	if (!f)
		return -ENOMEM;
	f->sink = own;
	f->code.isa = full.isa;
	f->code.hook = full.hook;
	f->code.hook_ctx = full.hook_ctx;
	f->code.jvt = full.jvt;
	f->reference = full.reference_walk;
	f->delivers = f->base.collect = f->sink.runs;
	rvt_flow_find_mapping_ids(f);
	if (rvt_flow_set_return_stack(f, full.return_stack_depth, 0)) {
		unreserve(f, sizeof(*f));
		return -ENOMEM;
	}
	*flow = f;
	return 0;
}

void rvt_flow_destroy(struct rvt_flow *flow)
{
	if (!flow)
		return;
	rvt_tables_put(flow);
	tdestroy(flow->single, free);
	rvt_returns_free(&flow->base.returns);
	free(flow->base.predictions.entries);
	rvt_counts_destroy(flow->base.counts);
	rvt_deferred_free(&flow->deferred);
	unreserve(flow, sizeof(*flow));
}

/* ---- orders ---- */

static void set_pc(struct rvt_flow *flow, uint64_t pc)
{
	flow->has_pc = true;
	flow->consecutive = false;
	flow->pc = rvt_code_addr(&flow->code, pc & ~1ull);
	flow->block = NULL;
}

/* What comes next is no consequence of what was executed last. */
static void break_counts(struct rvt_flow *flow)
{
	if (flow->base.counts)
		rvt_counts_break(flow->base.counts);
}

static void forget_pc(struct rvt_flow *flow)
{
	break_counts(flow);
	flow->has_pc = false;
	flow->has_last = false;
	flow->consecutive = false;
	flow->block = NULL;
}

int rvt_flow_start(struct rvt_flow *flow, uint64_t pc, uint64_t offset, bool clear_stack)
{
	struct rvt_event event = { .type = RVT_EVENT_START, .offset = offset };

	if (clear_stack)
		rvt_flow_clear_returns(flow);
	break_counts(flow);
	set_pc(flow, pc);
	flow->has_last = false;
	event.pc = flow->pc;
	return rvt_flow_deliver_event(flow, &event);
}

void rvt_flow_begin_slice(struct rvt_flow *flow, bool goes_on)
{
	flow->slice = (struct rvt_flow_slice){ .goes_on = goes_on };
	/* that is of the slice before */
	flow->base.time_filter = 0;
}

void rvt_flow_note_source(struct rvt_flow *flow, bool begun)
{
	flow->slice.begun |= begun;
	flow->slice.waited |= !begun;
}

bool rvt_flow_leave(struct rvt_flow *flow, uint64_t offset)
{
	if (flow->base.counts && flow->has_pc)
		rvt_counts_leave(flow->base.counts, rvt_flow_current(flow));
	if (!flow->slice.left) {
		rvt_flow_deliver(flow);
		flow->slice.left = true;
		flow->slice.left_at = offset;
		flow->slice.stats = flow->stats;
	}
	return !flow->slice.goes_on;
}

bool rvt_flow_leads_on(const struct rvt_flow *flow)
{
	return flow->base.counts && flow->base.counts->left.times;
}

bool rvt_flow_left(struct rvt_flow *flow, struct rvt_flow_edge *edge)
{
	struct rvt_count *left;

	if (!rvt_flow_leads_on(flow))
		return false;
	left = &flow->base.counts->left;
	*edge = (struct rvt_flow_edge){ left->a, left->b, left->c, left->times };
	left->times = 0;
	return true;
}

int rvt_flow_resume(struct rvt_flow *flow, uint64_t pc, uint64_t offset)
{
	bool led_here = rvt_flow_leads_on(flow);

	forget_pc(flow);
	set_pc(flow, pc);
	if (led_here)
		flow->base.counts->has_last = true;
	flow->slice.resumed = true;
	flow->slice.resumed_at = offset;
	return flow->result;
}

const struct rvt_flow_slice *rvt_flow_slice(const struct rvt_flow *flow)
{
	return &flow->slice;
}

void rvt_flow_end_slice(struct rvt_flow *flow)
{
	if (flow->slice.left)
		flow->stats = flow->slice.stats;
}

int rvt_flow_jump(struct rvt_flow *flow, uint64_t pc)
{
	set_pc(flow, pc);
	return flow->result;
}

int rvt_flow_trap(struct rvt_flow *flow, const struct rvt_event *trap)
{
	flow->stats.traps++;
	break_counts(flow);
	if (trap->target == RVT_UNLIMITED) {
		forget_pc(flow);
	} else {
		set_pc(flow, trap->target);
		flow->has_last = false;
	}
	return rvt_flow_deliver_event(flow, trap);
}

static bool is_bad(enum rvt_reason reason)
{
	return reason == RVT_REASON_BAD_PACKET || reason == RVT_REASON_BAD_FLOW ||
	       reason == RVT_REASON_BAD_INSN;
}

int rvt_flow_event(struct rvt_flow *flow, struct rvt_event *event)
{
	if (event->type == RVT_EVENT_TIME && event->time < flow->base.time_filter)
		return flow->result;
	if (!event->own_pc)
		rvt_flow_pc(flow, &event->pc);
	if (event->type == RVT_EVENT_LOST) {
		flow->stats.gaps++;
		flow->stats.refuted += is_bad(event->reason);
	}
	if (event->type == RVT_EVENT_LOST || event->type == RVT_EVENT_STOP)
		forget_pc(flow);
	return rvt_flow_deliver_event(flow, event);
}

void rvt_flow_set_time_filter(struct rvt_flow *flow, uint64_t until)
{
	flow->base.time_filter = until;
}

int rvt_flow_run(struct rvt_flow *flow, struct rvt_order *order)
{
	int ret;

	order->used_outcomes = 0;
	order->implicit_returns = 0;
	order->halfwords = 0;
	order->popped_valid = false;
	if (flow->result)
		return flow->result < 0 ? flow->result : -ECANCELED;
	if (!flow->has_pc)
		return RVT_STOP_LOST;
	if (rvt_flow_mapping_changed(flow)) {
		flow->block_epoch = flow->mapping_epochs[0];
		flow->pc = rvt_flow_current(flow);
		flow->block = NULL;
		flow->mapping = NULL;
	}
	ret = flow->reference ? rvt_walk_reference(flow, order) :
				rvt_walk_blocks(flow, order);
	if (flow->result)
		return flow->result < 0 ? flow->result : -ECANCELED;
	return ret;
}

void rvt_flow_set_offsets(struct rvt_flow *flow, const struct rvt_offset_map *map)
{
	flow->offsets = map;
}

void rvt_flow_forget_blocks(struct rvt_flow *flow)
{
	rvt_tables_forget(flow);
	if (flow->base.counts)
		rvt_counts_forget_blocks(flow->base.counts);
	tdestroy(flow->single, free);
	flow->single = NULL;
	if (flow->has_pc)
		flow->pc = rvt_flow_current(flow);
	flow->block = NULL;
	flow->mapping = NULL;
	if (!flow->has_last)
		return;
	rvt_block_keep_insn(&flow->kept, flow->last_block, flow->last_insn);
	flow->last_block = &flow->kept.block;
	flow->last_insn = 0;
}

void rvt_flow_set_encoder(struct rvt_flow *flow, uint64_t encoder)
{
	flow->encoder = encoder;
}

int rvt_flow_stats(const struct rvt_flow *flow, struct rvt_flow_stats *stats)
{
	return sized_fill(stats, &flow->stats, sizeof(flow->stats));
}
