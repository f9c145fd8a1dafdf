/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Leaps: segments in a row (flow/memo/segments.h). From a node and the next outcomes to where the
 * segments lead that these outcomes alone decide, with the returns between them. A program that
 * does the same again takes a dozen segments in one look-up.
 *
 * A leap may lead through several mappings of one half: it holds for the mapping epoch that the
 * flow had there when it was made.
 */
#ifndef RVT_LIB_FLOW_LEAPS_H
#define RVT_LIB_FLOW_LEAPS_H

#include "flow/count/counts.h"
#include "flow/memo/segments.h"
#include "flow/core/return-stack.h"

#define RVT_LEAP_OUTCOMES 32	/* that a leap is found by; it uses up nearly all of them */
#define RVT_LEAP_ENDS (RVT_LEAP_OUTCOMES - RVT_SEGMENT_OUTCOMES + 1)	/* or more are used up */
#define RVT_LEAP_HOPS RVT_LEAP_OUTCOMES	/* at most */
#define RVT_LEAP_RUNS 128	/* of all its segments, at most: what they add up fits bytes */
#define RVT_LEAP_BITS 16
#define RVT_LEAPS (1u << RVT_LEAP_BITS)
#define RVT_LEAP_PATH_BYTES (16u << 20)

struct rvt_leap_key {
	uint32_t node;			/* with RVT_LEAP_REST, ...; 0: of a leap that is free */
	uint32_t outcomes;		/* all of them, or with a stop bit */
	uint32_t mapping_epoch;
};

enum {
	RVT_LEAP_REST = 1u << 30,	/* the last outcomes of an order, fewer than else */
	RVT_LEAP_TAIL = 1u << 31,	/* the same, and on to the next indirect jump */
};

enum {
	RVT_LEAP_CALLS = 1u << 0,	/* does something to the return stack */
	RVT_LEAP_ALONE = 1u << 1,	/* its first segment is RVT_SEGMENT_ALONE */
	RVT_LEAP_POPS = 1u << 2,	/* it has returns that were followed: .popped */
	RVT_LEAP_DEFERRED = 1u << 3,	/* flow/count/deferred.h */
};

/* What replaying needs: one cache line. */
struct rvt_leap {
	_Alignas(64) struct rvt_leap_key key;
	uint32_t next;			/* node; 0: its last segment leads to none */
	uint64_t times;			/* replayed, and not yet in the counts */
	struct rvt_mapping *piece;	/* at .next, or of the last segment */
	uint64_t popped;		/* by the last return between two segments */
	uint32_t path;			/* the rest: in 8 bytes from the beginning of .paths */
	uint32_t last;			/* segment: its number in .segments */
	uint32_t insns, halfwords;
	uint8_t used, branches, taken;	/* as in struct rvt_segment */
	uint8_t returns, indirect;
	uint8_t n_segments;
	uint8_t flags;			/* RVT_LEAP_* */
};
_Static_assert(sizeof(struct rvt_leap) == 64, "one cache line");

/*
 * In memory that is real only where it is used. Each leap has one slot, where it drives out
 * another. The rest of a leap: numbers of its segments, and what it does to the return stack.
 */
struct rvt_leaps {
	struct rvt_leap leaps[RVT_LEAPS];
	uint16_t seen[RVT_LEAPS];	/* what came once, by the hash of its key */
	uint32_t counted[RVT_LEAPS];	/* with .times */
	uint32_t n_counted;
	uint32_t n_path;		/* used of .paths, in 8 bytes */
	_Alignas(8) uint8_t paths[RVT_LEAP_PATH_BYTES];

	/* being recorded */
	bool recording;
	struct rvt_leap draft;
	uint32_t segments[RVT_LEAP_HOPS];
	unsigned int n_runs;
	struct rvt_stack_delta delta;
	struct rvt_stack_delta *outer;	/* the log of the return stack before */
};

/* NULL when out of memory. */
struct rvt_leaps *rvt_leaps_create(void);
void rvt_leaps_destroy(struct rvt_leaps *leaps);
/* Forgets everything; nothing may be left to count. */
void rvt_leaps_reset(struct rvt_leaps *leaps);
/* The same for flows whose mapping epochs are later ones: no leap is found any more. */
void rvt_leaps_forget(struct rvt_leaps *leaps);
/* No leap is found any more, but what they have counted stays. */
void rvt_leaps_outdate(struct rvt_leaps *leaps);
/* Whether more can be made. Else it is time for a reset. */
bool rvt_leaps_have_room(const struct rvt_leaps *leaps);
/* What leaps have counted is counted for their segments, and for the returns between these. */
void rvt_leaps_expand(struct rvt_flow *flow);

static inline uint64_t rvt_leap_hash(const struct rvt_leap_key *key)
{
	uint64_t x = ((uint64_t)key->node << 32 | key->outcomes) * 0x9e3779b97f4a7c15ull;

	return (x ^ x >> 32 ^ key->mapping_epoch) * 0xd6e8feb86659fd93ull;
}

static inline struct rvt_leap *rvt_leap_slot(struct rvt_leaps *leaps, uint64_t hash)
{
	return &leaps->leaps[hash >> (64 - RVT_LEAP_BITS)];
}

static inline bool rvt_leap_is(const struct rvt_leap *leap, const struct rvt_leap_key *key)
{
	return !((leap->key.node ^ key->node) | (leap->key.outcomes ^ key->outcomes) |
		 (leap->key.mapping_epoch ^ key->mapping_epoch));
}

static inline void rvt_leap_count(struct rvt_leaps *leaps, struct rvt_leap *leap, uint64_t times)
{
	if (!leap->times)
		leaps->counted[leaps->n_counted++] = leap - leaps->leaps;
	leap->times += times;
}

/* Numbers of the segments of a leap. */
static inline const uint32_t *rvt_leap_segments(const struct rvt_leaps *leaps,
						const struct rvt_leap *leap)
{
	return (const uint32_t *)(leaps->paths + 8 * (size_t)leap->path);
}

static inline uint32_t rvt_leap_segments_units(unsigned int n_segments)
{
	return (n_segments + 1) / 2;
}

/* Of a leap with RVT_LEAP_CALLS. */
static inline const struct rvt_kept_delta *rvt_leap_calls(const struct rvt_leaps *leaps,
							  const struct rvt_leap *leap)
{
	return (const struct rvt_kept_delta *)(leaps->paths +
					       8 * (size_t)(leap->path +
							    rvt_leap_segments_units(
								    leap->n_segments)));
}

/*
 * What was at @key is not known. The second time that happens it is recorded: returns true, and
 * the log of @stack belongs to the leap until rvt_leaps_keep() or rvt_leaps_drop().
 */
bool rvt_leaps_record(struct rvt_leaps *leaps, struct rvt_return_stack *stack,
		      const struct rvt_leap_key *key);
/* A segment that was taken meanwhile. */
void rvt_leaps_add(struct rvt_leaps *leaps, struct rvt_segments *segments,
		   const struct rvt_segment *seg);
/* A return at the end of the last segment was followed; @pc was popped. */
void rvt_leaps_add_return(struct rvt_leaps *leaps, uint64_t pc);
/*
 * Recording ends at node @next in @piece. The leap is kept unless it is more than one can hold, or
 * one that is not yet in the counts has its slot.
 */
void rvt_leaps_keep(struct rvt_leaps *leaps, struct rvt_return_stack *stack, uint32_t next,
		    struct rvt_mapping *piece);
void rvt_leaps_drop(struct rvt_leaps *leaps, struct rvt_return_stack *stack);

#endif
