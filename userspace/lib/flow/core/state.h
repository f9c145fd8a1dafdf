/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Inside the flow engine: the state of a flow. One thread at a time may use it. What two flows
 * share are blocks (flow/core/blocks.h), which never change.
 */
#ifndef RVT_LIB_FLOW_STATE_H
#define RVT_LIB_FLOW_STATE_H

#include <stdlib.h>
#include "flow/order.h"
#include "flow/control.h"
#include "flow/core/blocks.h"
#include "flow/core/body.h"
#include "flow/core/memo.h"
#include "flow/core/return-stack.h"

#define RVT_FLOW_BATCH 1024
/* Runs that are added at once when there is room for one: a path or a memo, in whole mappings. */
#define RVT_FLOW_EXCESS (256 + RVT_SEGMENT_EXCESS)
#define RVT_FLOW_MAPPING_IDS 64
/* Blocks by the address that an indirect jump went to: a small cache before the tables. */
#define RVT_FLOW_TARGETS 8192
/* Where an unbounded order ends. */
#define RVT_FLOW_MAX_INSNS (1ull << 32)

/* A block and the mapping it was found through: in one cache line. */
struct rvt_target {
	_Alignas(32) uint64_t pc;
	uint32_t mapping_epoch;		/* valid when equal to that of the flow */
	uint32_t node;			/* of .block, for segments; 0: not known */
	struct rvt_code_block *block;
	struct rvt_mapping *mapping;
};

/* A space and its generation. */
struct rvt_mapping_id {
	const struct rvt_space *space;
	uint64_t generation;
	uint32_t id;			/* 0: free */
	uint32_t mapping_epoch;		/* 0: none yet */
	bool inherited;			/* of another flow, in a space that is not this one's */
};

/*
 * Deferred counts. Each time that another task goes on, what was counted before belongs to somebody
 * else. Expanding the counts of memos and segments each time would take longer than decoding. So
 * only these are noted, with their owner. They are expanded when somebody asks, or before their
 * code is replaced.
 *
 * What is noted must stay: until it is restored, no memo or segment of it makes room for another.
 */
#define RVT_DEFERRED_NOTES (1u << 21)	/* at most */
#define RVT_DEFERRED_TIMES ((1u << 10) - 1)

struct rvt_deferred_note {
	uint32_t kind : 2;		/* a memo or a segment */
	uint32_t number : 20;		/* of it */
	uint32_t times : 10;		/* RVT_DEFERRED_TIMES at most: more are several notes */
};

/* What was deferred at once. */
struct rvt_deferred_batch {
	size_t first, n;		/* of the notes; .n 0: restored */
	uint32_t owner;
};

struct rvt_deferred {
	struct rvt_deferred_note *notes;
	size_t n, room;
	struct rvt_deferred_batch *batches;
	size_t n_batches, batches_room;
	size_t left;			/* notes that were not restored */
	bool full;			/* or in the way: all should be restored */
};

struct rvt_flow;

/*
 * What counting (flow/count) does for those who do not know it: memos, and the pool.
 */
struct rvt_count_ops {
	/* What @memo has counted goes to runs and edges, before another takes its entry. */
	void (*expand_memo)(struct rvt_flow *flow, struct rvt_memo *memo);
	/* The same for all memos and segments, before their tables go. */
	void (*expand)(struct rvt_flow *flow);
	/*
	 * Memos were applied from @from on, and so counted, the last of which ends with instruction
	 * @insn of @block and leads to @to.
	 */
	void (*leave_memos)(struct rvt_flow *flow, uint64_t from,
			    const struct rvt_code_block *block, uint32_t insn, uint64_t to);
	/* The memory of *@from is *@to's from now on if neither has counted anything. */
	void (*inherit)(struct rvt_counts **to, struct rvt_counts **from);
	void (*destroy)(struct rvt_counts *counts);
};

struct rvt_flow {
	struct rvt_flow_base base;	/* first: see flow/core/memo.h */
	struct rvt_flow_sink sink;
	bool delivers;			/* runs go to the sink */
	struct rvt_code_config code;
	bool reference;
	struct rvt_space *space;
	struct rvt_image *image;	/* of the spaces so far; NULL: there was none */
	bool several_images;
	uint64_t generation;		/* of the space, when mapping epoch was last checked */
	/* by rvt_va_half(): change with what addresses mean there */
	uint32_t mapping_epochs[2];
	uint32_t n_mapping_epochs;
	uint32_t block_epoch;		/* that .block and .mapping are of */
	int result;			/* what the sink returned, once that is not 0 */

	/* where the flow is */
	bool has_pc;
	uint64_t pc;			/* of the next instruction, when .block is NULL */
	struct rvt_code_block *block;	/* the next instruction is number .insn of it */
	uint32_t insn, halfword;
	struct rvt_mapping *mapping;	/* that .block was found through */

	/* the last instruction executed */
	bool has_last;
	bool consecutive;		/* no trap or jump order came behind it */
	struct rvt_code_block *last_block;
	uint32_t last_insn;
	struct rvt_kept_insn kept;	/* .last_block may be in it */

	struct rvt_segments *segments;	/* made when first used */
	bool no_segments;		/* there was no memory for them */

	const struct rvt_count_ops *count_ops;	/* NULL: nothing is counted */
	struct rvt_deferred deferred;
	bool no_memos;			/* there was no memory for them */
	bool recording;			/* to .body */
	struct rvt_body body;
	uint64_t encoder;		/* rvt_flow_set_encoder() */
	bool inherited;			/* mapping ids are those of another flow */
	uint32_t n_mapping_ids;
	struct rvt_mapping_id mapping_ids[RVT_FLOW_MAPPING_IDS];

	struct rvt_flow_stats stats;
	struct rvt_flow_slice slice;
	const struct rvt_offset_map *offsets;	/* of events; NULL: as decoders give them */
	void *single;			/* tsearch: blocks that lie in no single mapping */
	/* where the last speculative walk led; .block is not set */
	struct rvt_target speculation_end;
	size_t n_runs;
	struct rvt_run runs[RVT_FLOW_BATCH + RVT_FLOW_EXCESS];
	struct rvt_target targets[RVT_FLOW_TARGETS];
};

/* Mapping ids and epochs of the present space and generation. */
void rvt_flow_find_mapping_ids(struct rvt_flow *flow);
/*
 * What addresses mean may have changed since the last look: mappings, or the space itself. True
 * when blocks must be looked up again.
 */
static inline bool rvt_flow_mapping_changed(struct rvt_flow *flow)
{
	const uint64_t generation = flow->space ? rvt_space_generation(flow->space) : 0;

	if (generation != flow->generation) {
		flow->generation = generation;
		rvt_flow_find_mapping_ids(flow);
	}
	return flow->block_epoch != flow->mapping_epochs[0];
}
/*
 * A number that stands for what addresses mean now in the half of @pc: never 0, and never two
 * mapping ids.
 */
uint32_t rvt_flow_mapping_id(struct rvt_flow *flow, uint64_t pc);

static inline void rvt_deferred_free(struct rvt_deferred *deferred)
{
	free(deferred->notes);
	free(deferred->batches);
}

/* The memory of @from is that of @to. Nothing is noted in either. */
static inline void rvt_deferred_inherit(struct rvt_deferred *to, struct rvt_deferred *from)
{
	rvt_deferred_free(to);
	*to = (struct rvt_deferred){
		.notes = from->notes, .room = from->room,
		.batches = from->batches, .batches_room = from->batches_room,
	};
	*from = (struct rvt_deferred){ .notes = NULL };
}

/* Delivers the batch; returns flow->result. */
int rvt_flow_deliver(struct rvt_flow *flow);
/* The same, and then @event. */
int rvt_flow_deliver_event(struct rvt_flow *flow, const struct rvt_event *event);
/*
 * rvt_flow_enter - the block at @pc, ready to run from its start. Sets flow->mapping.
 * Returns 0, -ENOENT, -EILSEQ or -ENOMEM.
 */
int rvt_flow_enter(struct rvt_flow *flow, uint64_t pc, struct rvt_code_block **block);
/* Nodes have other numbers from now on. */
void rvt_flow_new_mapping_epoch(struct rvt_flow *flow);
static inline struct rvt_target *rvt_flow_target(struct rvt_flow *flow, uint64_t pc)
{
	return &flow->targets[(pc >> 1) % RVT_FLOW_TARGETS];
}
static inline bool rvt_flow_knows(const struct rvt_flow *flow, const struct rvt_target *target,
				  uint64_t pc)
{
	return target->pc == pc && target->mapping_epoch == flow->mapping_epochs[rvt_va_half(pc)];
}

/* Where the return that pops entry @n below the top of the return stack leads is looked up soon. */
static inline void rvt_flow_fetch_return(struct rvt_flow *flow, unsigned int n)
{
	/* There is room below the bottom of the stack. */
	__builtin_prefetch(rvt_flow_target(flow, flow->base.returns.top[-1 - (int)n]));
}

/* A block of one instruction; for code that lies in no single mapping, and the reference walk. */
int rvt_flow_single(struct rvt_flow *flow, uint64_t pc, struct rvt_code_block **block);
static inline uint64_t rvt_flow_current(const struct rvt_flow *flow)
{
	return flow->block ? flow->block->pub.pc + 2 * flow->halfword : flow->pc;
}

/* The runs of @seg go to the batch, which has room for the excess. */
static inline __attribute__((always_inline)) void
rvt_flow_collect_segment(struct rvt_flow *flow, const struct rvt_segment *seg)
{
	const struct rvt_run *runs = rvt_segment_runs(flow->segments, seg);
	struct rvt_run *to = flow->runs + flow->n_runs;

	/* How many there are is hard to foresee: most have no more than these. */
	__builtin_memcpy(to, runs, RVT_SEGMENT_EXCESS * sizeof(*to));
	for (unsigned int i = RVT_SEGMENT_EXCESS; i < seg->n_runs; i++)
		to[i] = runs[i];
	flow->n_runs += seg->n_runs;
}

#endif
