/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Inside the flow engine: its state, and what the two walks share. The block walk (run.c) is the
 * fast one; the reference walk (reference.c) executes one instruction at a time and
 * shares nothing with it but the return stack and the output.
 */
#ifndef RVT_LIB_FLOW_STATE_H
#define RVT_LIB_FLOW_STATE_H

#include <rvtrace/flow.h>
#include "flow/count/deferred.h"
#include "flow/core/blocks.h"
#include "flow/core/body.h"
#include "flow/memo/segments.h"
#include "flow/count/counts.h"
#include "flow/core/return-stack.h"

#define RVT_FLOW_BATCH 1024
/* Runs that are added at once when there is room for one: a path or a memo, in whole pieces. */
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
	struct rvt_mapping *piece;
};

/* A space and its generation. */
struct rvt_mapping_id {
	const struct rvt_space *space;
	uint64_t generation;
	uint32_t id;			/* 0: free */
	uint32_t mapping_epoch;		/* 0: none yet */
	bool taught;			/* by another flow, in a space that is not this one's */
};

/* What a part of a stream has to do with the parts before and behind it. */
struct rvt_flow_slice {
	bool goes_on;			/* delivers what is behind its end, too */
	bool resumed, left;		/* rvt_flow_resume(), rvt_flow_leave() */
	uint64_t resumed_at, left_at;	/* offsets of these synchronisations */
	struct rvt_flow_stats stats;	/* when it was left */
};

struct rvt_memos;

struct rvt_flow {
	struct rvt_flow_sink sink;
	bool delivers;			/* runs go to the sink */
	bool collect;			/* runs go to the batch */
	struct rvt_code_config code;
	bool reference;
	struct rvt_space *space;
	struct rvt_image *image;	/* of the spaces so far; NULL: there was none */
	bool several_images;
	uint64_t generation;		/* of the space, when mapping epoch was last checked */
	/* by rvt_va_half(): change with what addresses mean there */
	uint32_t mapping_epochs[2];
	uint32_t n_mapping_epochs;
	uint32_t block_epoch;		/* that .block and .piece are of */
	int result;			/* what the sink returned, once that is not 0 */

	/* where the flow is */
	bool has_pc;
	uint64_t pc;			/* of the next instruction, when .block is NULL */
	struct rvt_code_block *block;	/* the next instruction is number .insn of it */
	uint32_t insn, halfword;
	struct rvt_mapping *piece;	/* that .block was found through */

	/* the last instruction executed */
	bool has_last;
	bool consecutive;		/* no trap or jump order came behind it */
	struct rvt_code_block *last_block;
	uint32_t last_insn;

	struct rvt_segments *segments;	/* made when first used */
	bool no_segments;		/* there was no memory for them */

	struct rvt_counts *counts;	/* instead of delivering */
	struct rvt_deferred deferred;	/* some of them */
	struct rvt_memos *memos;	/* made when first used */
	bool no_memos;
	bool recording;			/* to .body */
	struct rvt_body body;
	uint64_t time_filter;		/* TIME events before are not told */
	struct rvt_flow *teacher;	/* of which this one may learn, once; or NULL */
	bool taught, retired;
	uint32_t mapping_id[2], n_mapping_ids;	/* .mapping_id: the ids of those of now, likewise */
	struct rvt_mapping_id mapping_ids[RVT_FLOW_MAPPING_IDS];

	struct rvt_return_stack returns;
	struct rvt_flow_stats stats;
	struct rvt_flow_slice slice;
	void *single;			/* tsearch: blocks that lie in no single mapping */
	/* where the last speculative walk led; .block is not set */
	struct rvt_target speculation_end;
	size_t n_runs;
	struct rvt_run runs[RVT_FLOW_BATCH + RVT_FLOW_EXCESS];
	struct rvt_target targets[RVT_FLOW_TARGETS];
};

/* The walks: order->flags and limits in, results and an enum rvt_stop or a negative error out. */
int rvt_walk_blocks(struct rvt_flow *flow, struct rvt_order *order);
int rvt_walk_reference(struct rvt_flow *flow, struct rvt_order *order);

/*
 * For parts of a stream. rvt_flow_begin_slice: what flow->slice has is of a new part. @goes_on:
 * after rvt_flow_leave() it is decoded further until the caller has seen enough. rvt_flow_leave:
 * the next instruction is executed elsewhere, if at all, from the synchronisation at @offset on;
 * the edge there is not counted, but kept for rvt_flow_left(), which returns false when there is
 * none. Returns whether the part is done, with what is to come not counted in the statistics.
 * rvt_flow_leads_on: whether there is one. rvt_flow_resume: what led to @pc was decoded elsewhere,
 * up to the synchronisation at @offset, or by this flow, if it leads on; no event.
 * rvt_flow_end_slice: after the last bytes.
 */
void rvt_flow_begin_slice(struct rvt_flow *flow, bool goes_on);
bool rvt_flow_leave(struct rvt_flow *flow, uint64_t offset);
bool rvt_flow_left(struct rvt_flow *flow, struct rvt_count *edge);
bool rvt_flow_leads_on(const struct rvt_flow *flow);
int rvt_flow_resume(struct rvt_flow *flow, uint64_t pc, uint64_t offset);
void rvt_flow_end_slice(struct rvt_flow *flow);

/*
 * rvt_flow_learn - what flow->teacher has learned of code (segments, memos) is @flow's,
 * which is about to make the first of its own. Both are of the same image, configuration and
 * encoder. rvt_flow_retire - a flow whose counts have been told does not run again, but teaches.
 * Spaces live as long as the image.
 */
void rvt_flow_learn(struct rvt_flow *flow);
void rvt_flow_retire(struct rvt_flow *flow);

/*
 * A number that stands for what addresses mean now in the half of @pc: never 0, and never two
 * mapping ids.
 */
uint32_t rvt_flow_mapping_id(struct rvt_flow *flow, uint64_t pc);

/* Counting: a run of a walk (counts.c); what segments (expand.c) and memos have counted. */
void rvt_flow_count_run(struct rvt_flow *flow, const struct rvt_code_block *block, uint32_t first,
			uint32_t count);
void rvt_flow_expand_segments(struct rvt_flow *flow);
void rvt_flow_count_segment(struct rvt_flow *flow, struct rvt_segment *seg, uint64_t times);
static inline void rvt_flow_count_once(struct rvt_flow *flow, struct rvt_segment *seg)
{
	const uint32_t old = seg->next_times, one = RVT_SEGMENT_TIMES_ONE;

	/* The first time, and when no more fits. */
	if (__builtin_expect(old - one >= RVT_SEGMENT_TIMES * one - one, 0))
		rvt_flow_count_segment(flow, seg, 1);
	else
		seg->next_times = old + one;
}
void rvt_memos_expand(struct rvt_flow *flow);
/*
 * Counts what the @n @words of a body stand for, which was executed @times times and went on to @to
 * each time. rvt_count_body: the same for a body.
 */
void rvt_count_words(struct rvt_flow *flow, const uint32_t *words, unsigned int n, uint64_t to,
		     uint64_t times);
static inline void rvt_count_body(struct rvt_flow *flow, const struct rvt_body *body, uint64_t to,
				  uint64_t times)
{
	rvt_count_words(flow, body->words, body->n_words, to, times);
}

/* Segments are about to be forgotten, and so all memos; nothing may be deferred. */
void rvt_memos_reset(struct rvt_flow *flow);
void rvt_memos_destroy(struct rvt_memos *memos);

/* Delivers the batch; returns flow->result. */
int rvt_flow_deliver(struct rvt_flow *flow);
/*
 * rvt_flow_enter - the block at @pc, ready to run from its start. Sets flow->piece.
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

static inline int rvt_flow_emit(struct rvt_flow *flow, struct rvt_code_block *block,
				uint32_t first, uint32_t count)
{
	const struct rvt_run run = { &block->pub, first, count };

	if (flow->counts)
		rvt_flow_count_run(flow, block, first, count);
	if (flow->recording)
		rvt_body_add_run(&flow->body, &run);
	if (!flow->collect)
		return 0;
	flow->runs[flow->n_runs++] = run;
	return flow->n_runs >= RVT_FLOW_BATCH ? rvt_flow_deliver(flow) : 0;
}

#endif
