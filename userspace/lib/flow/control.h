/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * What the session and the decoders of slices ask of a flow besides rvtrace/flow.h: slices of a
 * stream, deferred counts, and the table pool. All of it in the thread that uses the flow.
 */
#ifndef RVT_LIB_FLOW_CONTROL_H
#define RVT_LIB_FLOW_CONTROL_H

#include <rvtrace/flow.h>
#include <rvtrace/image.h>

/* What a slice of a stream has to do with the slices before and behind it. */
struct rvt_flow_slice {
	bool goes_on;			/* delivers what is behind its end, too */
	bool begun, waited;		/* rvt_flow_note_source() */
	bool resumed, left;		/* rvt_flow_resume(), rvt_flow_leave() */
	uint64_t resumed_at, left_at;	/* offsets of these synchronisations */
	struct rvt_flow_stats stats;	/* when it was left */
};

/* From the last instruction of a slice to the first of the next one. */
struct rvt_flow_edge {
	uint64_t from, to;		/* as in struct rvt_count_sink */
	enum rvt_insn_class iclass;
	int64_t times;
};

/* Starts a slice. @goes_on: see struct rvt_flow_slice. TIME events are delivered again. */
void rvt_flow_begin_slice(struct rvt_flow *flow, bool goes_on);
/* The present slice. Valid until the flow is destroyed. */
const struct rvt_flow_slice *rvt_flow_slice(const struct rvt_flow *flow);
/*
 * A message of the flow's source came in the slice. @begun: it is decoded from there on, as nothing
 * is needed from before. Else it waits for a synchronisation, and a slice before is taken to decode
 * it until then.
 */
void rvt_flow_note_source(struct rvt_flow *flow, bool begun);
/*
 * rvt_flow_leave - the slice ends before the next instruction, with the synchronisation at @offset:
 * the next slice executes what follows. What this flow executes from now on is not in its
 * statistics. The edge to the next instruction is not counted; rvt_flow_left() has it. Returns
 * true when the slice is done, false when it goes on.
 */
bool rvt_flow_leave(struct rvt_flow *flow, uint64_t offset);
/* Whether there is an edge to the next slice. */
bool rvt_flow_leads_on(const struct rvt_flow *flow);
/* The same; sets *edge, and there is none any more. */
bool rvt_flow_left(struct rvt_flow *flow, struct rvt_flow_edge *edge);
/*
 * rvt_flow_resume - the flow continues at @pc: what led there was executed by the slice before, up
 * to the synchronisation at @offset, or by this flow if it leads on. No event. Returns what the
 * sink returned.
 */
int rvt_flow_resume(struct rvt_flow *flow, uint64_t pc, uint64_t offset);
/* Offsets of a decoder, which are told as others. */
struct rvt_offset_map {
	const void *ctx;
	uint64_t (*find)(const void *ctx, uint64_t offset);
};

/*
 * Events that are told from now on have the offset that @map, which must live on, finds. NULL:
 * none.
 */
void rvt_flow_set_offsets(struct rvt_flow *flow, const struct rvt_offset_map *map);

/* After the last bytes of the slice. */
void rvt_flow_end_slice(struct rvt_flow *flow);

/* Of rvt_flow_defer_counts(): code below 2^63 (bit 0), from there on (bit 1). */
#define RVT_DEFERRED_HIGH (1u << 1)
#define RVT_DEFERRED_BOTH (1u << 0 | RVT_DEFERRED_HIGH)

/*
 * rvt_flow_defer_counts - what memos and segments in @halves have counted since the last call is
 * @owner's, any number of the caller's. It is noted, and told when rvt_flow_restore_counts() asks.
 * What there is no room for stays, and so does what was counted otherwise: rvt_flow_counts() tells
 * it. Returns whether something was noted.
 */
bool rvt_flow_defer_counts(struct rvt_flow *flow, uint32_t owner, unsigned int halves);
/*
 * The next rvt_flow_counts() tells what was deferred for @owner. What was counted before should
 * have been told.
 */
void rvt_flow_restore_counts(struct rvt_flow *flow, uint32_t owner);
/* Whether there is no more room, or what is deferred is in the way: all should be restored. */
bool rvt_flow_deferred_full(const struct rvt_flow *flow);

/*
 * rvt_flow_forget_blocks - forgets all that is known of blocks, so that those of the image may go.
 * The flow goes on as if nothing had happened. Before, what it counted was told, nothing is
 * deferred, and runs were delivered.
 */
void rvt_flow_forget_blocks(struct rvt_flow *flow);
/*
 * What all blocks of @image and their tables take, in bytes, more or less. They only grow: a
 * program that starts again has its code at another bias.
 */
size_t rvt_image_block_bytes(struct rvt_image *image);
/*
 * All blocks of @image go, their numbers begin anew, and with them what is in the pool. Each flow
 * in it has forgotten its own (rvt_flow_forget_blocks()), and nobody uses the image meanwhile.
 */
void rvt_image_forget_blocks(struct rvt_image *image);

/*
 * rvt_flow_set_encoder - messages of the same bytes mean the same to flows of one image and
 * configuration that have the same number: when the flow first needs tables it takes those that
 * another flow of this number left to the pool, with all memos. So flows of two sources of one
 * stream, whose messages name their source, have two numbers: a message of one means nothing to the
 * other. 0, the default: it takes only segments, which are of the code, not of the trace. Before
 * anything was executed.
 *
 * The pool is the image's. rvt_flow_destroy() puts the tables there if all that they counted was
 * told.
 */
void rvt_flow_set_encoder(struct rvt_flow *flow, uint64_t encoder);

#endif
