// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Flow engine: orders, events, and the way from an address to its block.
 */
#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include "flow/core/state.h"
#include "flow/memo/table-pool.h"
#include "flow/memo/memos.h"
#include "insn/insn.h"

static void find_mapping_ids(struct rvt_flow *flow);

int rvt_flow_create(const struct rvt_flow_config *config, const struct rvt_flow_sink *sink,
		    struct rvt_flow **flow)
{
	struct rvt_flow_config full = {};
	struct rvt_flow *f;

	if (config)
		memcpy(&full, config, config->size < sizeof(full) ? config->size : sizeof(full));
	f = aligned_alloc(_Alignof(struct rvt_flow), sizeof(*f));
	if (!f)
		return -ENOMEM;
	memset(f, 0, sizeof(*f));
	if (sink)
		f->sink = *sink;
	f->code.isa = full.isa;
	f->code.hook = full.hook;
	f->code.hook_ctx = full.hook_ctx;
	f->code.jvt = full.jvt;
	f->reference = full.reference_walk;
	f->delivers = f->collect = f->sink.runs;
	find_mapping_ids(f);
	if (rvt_flow_set_return_stack(f, full.return_stack_depth, 0)) {
		free(f);
		return -ENOMEM;
	}
	*flow = f;
	return 0;
}

void rvt_flow_destroy(struct rvt_flow *flow)
{
	if (!flow)
		return;
	tdestroy(flow->single, free);
	rvt_returns_free(&flow->returns);
	rvt_flow_pool_tables(flow);
	rvt_segments_destroy(flow->segments);
	rvt_counts_destroy(flow->counts);
	rvt_deferred_free(&flow->deferred);
	rvt_memos_destroy(flow->memos);
	free(flow);
}

/* ---- code ---- */

/* More mappings than this are not compared. */
#define SAME_PIECES 512

/* What @space means is known from the space of another flow: the same mappings. NULL: it is not. */
static struct rvt_mapping_id *inherited_mapping_id(struct rvt_flow *flow,
						   const struct rvt_space *space)
{
	for (unsigned int i = 0; i < RVT_FLOW_MAPPING_IDS && space; i++) {
		struct rvt_mapping_id *m = &flow->mapping_ids[i];

		if (m->taught && m->space && m->generation == rvt_space_generation(m->space) &&
		    rvt_space_same(m->space, space, SAME_PIECES))
			return m;
	}
	return NULL;
}

/*
 * All numbers of mapping epochs have been used: what was learned in an old one must not be found in
 * a new.
 */
static void restart_mapping_epochs(struct rvt_flow *flow)
{
	memset(flow->targets, 0, sizeof(flow->targets));
	flow->speculation_end.mapping_epoch = 0;
	for (unsigned int i = 0; i < RVT_FLOW_MAPPING_IDS; i++)
		flow->mapping_ids[i].mapping_epoch = 0;
	flow->n_mapping_epochs = 1;
}

/* What @space means at @generation. Coming back to it, blocks are still known. */
static struct rvt_mapping_id *mapping_id_of(struct rvt_flow *flow, const struct rvt_space *space,
					    uint64_t generation)
{
	struct rvt_mapping_id *m = flow->mapping_ids, *end = m + RVT_FLOW_MAPPING_IDS;

	while (m < end && !(m->id && m->space == space && m->generation == generation))
		m++;
	if (m == end && flow->taught) {
		m = inherited_mapping_id(flow, space);
		if (m)
			*m = (struct rvt_mapping_id){
				space, generation, m->id, m->mapping_epoch, false,
			};
		else
			m = end;
	}
	if (m == end) {
		/* The kernel's stays. */
		do
			m = &flow->mapping_ids[flow->n_mapping_ids++ % RVT_FLOW_MAPPING_IDS];
		while (m->id && m->id == flow->mapping_id[1]);
		*m = (struct rvt_mapping_id){ space, generation, flow->n_mapping_ids, 0, false };
	}
	if (!m->mapping_epoch) {
		if (!++flow->n_mapping_epochs)
			restart_mapping_epochs(flow);
		m->mapping_epoch = flow->n_mapping_epochs;
	}
	return m;
}

/* Whether all that is in the upper half of @space is its parent's, and nothing reaches into it. */
static bool has_parents_half(const struct rvt_space *space)
{
	const uint64_t border = 1ull << 63;

	return space && space->parent && !rvt_space_overlaps(space, border, border) &&
	       !rvt_space_overlaps(space->parent, border - 1, 1);
}

/* For each half one id, and one that is passed over with the kernel's entry. */
#define MOST_NEW_IDS 4

/* All ids have been used: no memo that was made over an old meaning may be found for a new one. */
static void restart_mapping_ids(struct rvt_flow *flow)
{
	if (flow->memos)
		rvt_memos_invalidate(flow->memos);
	memset(flow->mapping_ids, 0, sizeof(flow->mapping_ids));
	flow->n_mapping_ids = 0;
}

/* The present meaning, of both halves. */
static void find_mapping_ids(struct rvt_flow *flow)
{
	const struct rvt_space *space = flow->space;
	const struct rvt_mapping_id *m;

	if (flow->n_mapping_ids > UINT32_MAX - MOST_NEW_IDS)
		restart_mapping_ids(flow);
	m = mapping_id_of(flow, space, flow->generation);
	flow->mapping_id[0] = m->id;
	flow->mapping_epochs[0] = m->mapping_epoch;
	if (has_parents_half(space))
		m = mapping_id_of(flow, space->parent, rvt_space_generation(space->parent));
	flow->mapping_id[1] = m->id;
	flow->mapping_epochs[1] = m->mapping_epoch;
}

void rvt_flow_new_mapping_epoch(struct rvt_flow *flow)
{
	for (unsigned int i = 0; i < RVT_FLOW_MAPPING_IDS; i++)
		flow->mapping_ids[i].mapping_epoch = 0;
	find_mapping_ids(flow);
	flow->block_epoch = flow->mapping_epochs[0];
}

void rvt_flow_retire(struct rvt_flow *flow)
{
	flow->teacher = NULL;
	/* What nobody wanted to know. */
	if (flow->counts && !flow->deferred.left)
		rvt_flow_counts(flow, &(struct rvt_count_sink){ NULL });
	flow->retired = !flow->deferred.left;
}

void rvt_flow_learn(struct rvt_flow *flow)
{
	struct rvt_flow *teacher = flow->teacher;

	flow->teacher = NULL;
	if (!teacher->retired || flow->segments || flow->memos ||
	    flow->returns.depth != teacher->returns.depth)
		return;
	flow->segments = teacher->segments;
	flow->memos = teacher->memos;
	teacher->segments = NULL;
	teacher->memos = NULL;
	rvt_counts_inherit(&flow->counts, &teacher->counts);
	rvt_deferred_inherit(&flow->deferred, &teacher->deferred);
	memcpy(flow->mapping_ids, teacher->mapping_ids, sizeof(flow->mapping_ids));
	for (unsigned int i = 0; i < RVT_FLOW_MAPPING_IDS; i++)
		flow->mapping_ids[i].taught = flow->mapping_ids[i].id;
	flow->taught = true;
	flow->n_mapping_ids = teacher->n_mapping_ids;
	rvt_flow_new_mapping_epoch(flow);
}

void rvt_flow_set_space(struct rvt_flow *flow, struct rvt_space *space)
{
	if (flow->space == space)
		return;
	if (space) {
		flow->several_images |= flow->image && flow->image != space->image;
		flow->image = space->image;
	}
	flow->space = space;
	flow->generation = space ? rvt_space_generation(space) : 0;
	find_mapping_ids(flow);
}

/*
 * What addresses mean may have changed since the last look: mappings, or the space itself. True
 * when blocks must be looked up again.
 */
static bool mapping_changed(struct rvt_flow *flow)
{
	uint64_t generation = flow->space ? rvt_space_generation(flow->space) : 0;

	if (generation != flow->generation) {
		flow->generation = generation;
		find_mapping_ids(flow);
	}
	return flow->block_epoch != flow->mapping_epochs[0];
}

uint32_t rvt_flow_mapping_id(struct rvt_flow *flow, uint64_t pc)
{
	mapping_changed(flow);
	return flow->mapping_id[rvt_va_half(pc)];
}

/* What a space has at an address is known until its generation changes. */
struct single {
	const struct rvt_space *space;
	uint64_t generation, pc;
	struct rvt_code_block *block;
};

static int compare_singles(const void *a, const void *b)
{
	const struct single *sa = a, *sb = b;

	return memcmp(sa, sb, offsetof(struct single, block));
}

int rvt_flow_single(struct rvt_flow *flow, uint64_t pc, struct rvt_code_block **block)
{
	struct single key = { flow->space, flow->generation, pc, NULL }, **found, *s;
	int ret;

	found = tfind(&key, &flow->single, compare_singles);
	if (found) {
		*block = (*found)->block;
		return 0;
	}
	s = malloc(sizeof(*s));
	if (!s)
		return -ENOMEM;
	*s = key;
	ret = rvt_code_decode(flow->space, &flow->code, pc, &s->block);
	if (!ret && !tsearch(s, &flow->single, compare_singles))
		ret = -ENOMEM;
	if (ret) {
		free(s);
		return ret;
	}
	*block = s->block;
	return 0;
}

static int find_block(struct rvt_flow *flow, uint64_t pc, struct rvt_code_block **block)
{
	struct rvt_mapping *piece = rvt_space_mapping(flow->space, pc);
	struct rvt_block_table *table;
	int ret;

	if (!piece || !piece->object)
		return -ENOENT;
	table = rvt_block_table_get(flow->space->image, piece, &flow->code);
	if (!table)
		return -ENOMEM;
	ret = rvt_block_table_block(flow->space, table, piece, pc, block);
	if (ret == -EAGAIN)
		ret = rvt_flow_single(flow, pc, block);
	if (!ret)
		flow->piece = piece;
	return ret;
}

int rvt_flow_enter(struct rvt_flow *flow, uint64_t pc, struct rvt_code_block **block)
{
	struct rvt_target *target = rvt_flow_target(flow, pc);
	int ret;

	if (rvt_flow_knows(flow, target, pc)) {
		*block = target->block;
		flow->piece = target->piece;
		return 0;
	}
	if (!flow->space)
		return -ENOENT;
	ret = find_block(flow, pc, block);
	if (!ret)
		*target = (struct rvt_target){
			pc, flow->mapping_epochs[rvt_va_half(pc)], 0, *block, flow->piece,
		};
	return ret;
}

int rvt_flow_peek_at(struct rvt_flow *flow, uint64_t pc, struct rvt_insn *insn)
{
	return flow->space ? rvt_code_insn(flow->space, &flow->code, pc, insn) : -ENOENT;
}

int rvt_flow_peek(struct rvt_flow *flow, struct rvt_insn *insn)
{
	return flow->has_pc ? rvt_flow_peek_at(flow, rvt_flow_current(flow), insn) : -ENOENT;
}

bool rvt_flow_branch_at(struct rvt_flow *flow, uint64_t pc)
{
	struct rvt_mapping *piece = flow->piece;	/* belongs to flow->block */
	struct rvt_code_block *block;
	int ret;

	pc = rvt_code_addr(&flow->code, pc & ~1ull);
	mapping_changed(flow);
	ret = rvt_flow_enter(flow, pc, &block);
	flow->piece = piece;
	return !ret && block->insns == 1 && block->end == RVT_END_BRANCH;
}

bool rvt_flow_pc(const struct rvt_flow *flow, uint64_t *pc)
{
	if (flow->has_pc)
		*pc = rvt_flow_current(flow);
	return flow->has_pc;
}

bool rvt_flow_last(const struct rvt_flow *flow, uint64_t *pc, enum rvt_insn_class *iclass)
{
	const struct rvt_block *b;

	if (!flow->has_last)
		return false;
	b = &flow->last_block->pub;
	*pc = b->pc;
	for (uint32_t i = 0; i < flow->last_insn; i++)
		*pc += 2 * b->halfwords[i];
	*iclass = flow->last_insn + 1 == b->insns ? b->iclass : RVT_INSN_SEQUENTIAL;
	return true;
}

/* ---- output ---- */

int rvt_flow_deliver(struct rvt_flow *flow)
{
	size_t n = flow->n_runs;

	flow->n_runs = 0;
	if (!flow->result && n && flow->delivers)
		flow->result = flow->sink.runs(flow->sink.ctx, flow->runs, n);
	/* In the middle of a walk: the block at hand is finished, the next is looked up anew. */
	if (mapping_changed(flow))
		flow->piece = NULL;
	return flow->result;
}

int rvt_flow_flush(struct rvt_flow *flow)
{
	return rvt_flow_deliver(flow);
}

static int emit_event(struct rvt_flow *flow, const struct rvt_event *event)
{
	if (!rvt_flow_deliver(flow) && flow->sink.event)
		flow->result = flow->sink.event(flow->sink.ctx, event);
	return flow->result;
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
	if (flow->counts)
		rvt_counts_break(flow->counts);
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
	return emit_event(flow, &event);
}

void rvt_flow_begin_slice(struct rvt_flow *flow, bool goes_on)
{
	flow->slice = (struct rvt_flow_slice){ .goes_on = goes_on };
	/* that is of the part before */
	flow->time_filter = 0;
}

bool rvt_flow_leave(struct rvt_flow *flow, uint64_t offset)
{
	if (flow->counts && flow->has_pc)
		rvt_counts_leave(flow->counts, rvt_flow_current(flow));
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
	return flow->counts && flow->counts->left.times;
}

bool rvt_flow_left(struct rvt_flow *flow, struct rvt_count *edge)
{
	if (!rvt_flow_leads_on(flow))
		return false;
	*edge = flow->counts->left;
	flow->counts->left.times = 0;
	return true;
}

int rvt_flow_resume(struct rvt_flow *flow, uint64_t pc, uint64_t offset)
{
	bool led_here = rvt_flow_leads_on(flow);

	forget_pc(flow);
	set_pc(flow, pc);
	if (led_here)
		flow->counts->has_last = true;
	flow->slice.resumed = true;
	flow->slice.resumed_at = offset;
	return flow->result;
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
	return emit_event(flow, trap);
}

static bool is_bad(enum rvt_reason reason)
{
	return reason == RVT_REASON_BAD_PACKET || reason == RVT_REASON_BAD_FLOW ||
	       reason == RVT_REASON_BAD_INSN;
}

int rvt_flow_event(struct rvt_flow *flow, struct rvt_event *event)
{
	if (event->type == RVT_EVENT_TIME && event->time < flow->time_filter)
		return flow->result;
	rvt_flow_pc(flow, &event->pc);
	if (event->type == RVT_EVENT_LOST) {
		flow->stats.gaps++;
		flow->stats.refuted += is_bad(event->reason);
	}
	if (event->type == RVT_EVENT_LOST || event->type == RVT_EVENT_STOP)
		forget_pc(flow);
	return emit_event(flow, event);
}

void rvt_flow_set_time_filter(struct rvt_flow *flow, uint64_t until)
{
	flow->time_filter = until;
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
	if (mapping_changed(flow)) {
		flow->block_epoch = flow->mapping_epochs[0];
		flow->pc = rvt_flow_current(flow);
		flow->block = NULL;
		flow->piece = NULL;
	}
	ret = flow->reference ? rvt_walk_reference(flow, order) :
				rvt_walk_blocks(flow, order);
	if (flow->result)
		return flow->result < 0 ? flow->result : -ECANCELED;
	return ret;
}

void rvt_flow_stats(const struct rvt_flow *flow, struct rvt_flow_stats *stats)
{
	*stats = flow->stats;
}
