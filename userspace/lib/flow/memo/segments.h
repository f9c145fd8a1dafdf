/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Inside the flow engine: making segments, and looking them up. What they are is in
 * flow/core/segment.h.
 */
#ifndef RVT_LIB_FLOW_SEGMENTS_H
#define RVT_LIB_FLOW_SEGMENTS_H

#ifdef __SSE2__
#include <emmintrin.h>
#endif
#include "flow/core/predictions.h"
#include "flow/core/segment.h"

/* NULL when out of memory. */
struct rvt_segments *rvt_segments_create(void);
void rvt_segments_destroy(struct rvt_segments *segments);
/* Forgets everything; nothing may be left to count. */
void rvt_segments_reset(struct rvt_segments *segments, uint32_t flags);

/* A segment may lead to a new node, and need a line itself. */
#define RVT_SEGMENT_MAX_NODES (RVT_NODES - 2)
/* Of a path, in 8 bytes, with what may be read beyond it. */
#define RVT_SEGMENT_MAX_PATH ((sizeof(struct rvt_segment_path) / 8) + RVT_SEGMENT_PUSHES + \
			      2 * (RVT_SEGMENT_RUNS + RVT_SEGMENT_EXCESS))

/* Whether more can be made. Else it is time for a reset. */
static inline bool rvt_segments_have_room(const struct rvt_segments *segments)
{
	return segments->n_nodes < RVT_SEGMENT_MAX_NODES &&
	       RVT_SEGMENT_PATH_BYTES / 8 - segments->n_path >= RVT_SEGMENT_MAX_PATH;
}

/*
 * The node that begins with @block; 0 if there is no room for another, or a block of another image
 * has the same number.
 */
uint32_t rvt_segments_node(struct rvt_segments *segments, struct rvt_code_block *block);

/*
 * rvt_segments_learn - makes the segment of @key from @node, in flow->mapping, under orders with
 * @flags (RVT_RUN_*). It is not known yet, and may be RVT_SEGMENT_NONE. NULL: there is no room.
 */
struct rvt_segment *rvt_segments_learn(struct rvt_flow *flow, uint32_t node, uint32_t key,
				       uint32_t flags);

/* The same as rvt_segment() for what is not where it is looked for first. */
struct rvt_segment *rvt_segment_find(struct rvt_segments *segments, uint32_t node, uint32_t key,
				     struct rvt_segment *from);

/* ---- predicted outcomes ---- */

/* The branches of @seg are executed: their outcomes are noted. */
static inline void rvt_segment_note_outcomes(const struct rvt_predictions *predictions,
					     struct rvt_segments *segments,
					     const struct rvt_segment *seg)
{
	const uint16_t *at = rvt_segment_branches(segments, seg)->at;
	unsigned int outcomes = rvt_segment_outcomes(seg);

	for (unsigned int i = 0; i < seg->used; i++, outcomes >>= 1) {
		const uint32_t number = rvt_prediction_number(predictions, at[i]);

		rvt_prediction_note(&predictions->entries[number], outcomes & 1);
	}
}

/*
 * A bit for each outcome of @seg that is not predicted now, the first in bit 0; right up to the
 * first, as long as outcomes are as predicted.
 */
static inline unsigned int rvt_segment_mispredicted(const struct rvt_predictions *predictions,
						    struct rvt_segments *segments,
						    const struct rvt_segment *seg)
{
	const uint16_t *at = rvt_segment_branches(segments, seg)->at;
	unsigned int predicted = 0;

	for (unsigned int i = 0; i < RVT_SEGMENT_OUTCOMES; i++) {
		const uint32_t number = rvt_prediction_number(predictions, at[i]);

		predicted |= (predictions->entries[number] >> 1) << i;
	}
	return (predicted ^ seg->key) & ((1u << seg->used) - 1);
}

static inline bool rvt_segment_is(const struct rvt_segment *seg, uint32_t key)
{
	return !((seg->key ^ key) & ~(uint32_t)seg->open & (RVT_SEGMENT_KEYS - 1));
}

/* A bit for each segment of @line that is that of @key. */
static inline unsigned int rvt_segments_like_plain(const struct rvt_segment_line *line,
						   uint32_t key)
{
	unsigned int like = 0;

	for (unsigned int i = 0; i < RVT_LINE_SEGMENTS; i++)
		like |= (unsigned int)rvt_segment_is(&line->segments[i], key) << i;
	return like;
}

#ifdef __SSE2__
/*
 * What a segment is found by, which does not change; what is behind it is stored to all the time.
 */
static inline __m128i rvt_segment_head(const struct rvt_segment *seg)
{
	int head;

	__builtin_memcpy(&head, seg, sizeof(head));
	return _mm_cvtsi32_si128(head);
}

static inline unsigned int rvt_segments_like_sse2(const struct rvt_segment_line *line, uint32_t key)
{
	const struct rvt_segment *segments = line->segments;
	/* One by one: else GCC may put them together in memory, which takes longer. */
	const __m128i low =
		_mm_unpacklo_epi32(rvt_segment_head(&segments[0]), rvt_segment_head(&segments[1]));
	const __m128i high =
		_mm_unpacklo_epi32(rvt_segment_head(&segments[2]), rvt_segment_head(&segments[3]));
	const __m128i heads = _mm_unpacklo_epi64(low, high);
	/* .key is in bits 0 to 11, .open in those above */
	const __m128i differ = _mm_andnot_si128(_mm_srli_epi32(heads, 12),
						_mm_xor_si128(heads, _mm_set1_epi32(key)));
	const __m128i same = _mm_cmpeq_epi32(_mm_slli_epi32(differ, 20), _mm_setzero_si128());

	return _mm_movemask_ps(_mm_castsi128_ps(same));
}
#endif

static inline struct rvt_segment *rvt_segment_in(struct rvt_segment_line *line, uint32_t key)
{
	/* Which one it is cannot be foreseen: no branch for each. */
#ifdef __SSE2__
	const unsigned int like = rvt_segments_like_sse2(line, key);
#else
	const unsigned int like = rvt_segments_like_plain(line, key);
#endif

	return like ? &line->segments[__builtin_ctz(like)] : NULL;
}

/* In the table of a dense node. */
static inline struct rvt_segment *rvt_segment_dense(struct rvt_segments *segments, uint32_t node,
						    uint32_t key)
{
	/* It goes on over the lines that follow. */
	return (struct rvt_segment *)&segments->lines[node] + (key >> RVT_SEGMENT_SLOT_SHIFT);
}

/* NULL: not known. @from: the segment before, or NULL. */
static inline struct rvt_segment *rvt_segment(struct rvt_segments *segments, uint32_t node,
					      uint32_t key, struct rvt_segment *from)
{
	struct rvt_segment *seg;

	if (node >= RVT_NODES) {
		seg = rvt_segment_dense(segments, node, key);
		if (!rvt_segment_is(seg, key))
			seg = NULL;
	} else {
		/* Where the rest is, if it is not in the first line. */
		__builtin_prefetch(&segments->more[node]);
		seg = rvt_segment_in(&segments->lines[node], key);
	}
	return seg ? seg : rvt_segment_find(segments, node, key, from);
}

#endif
