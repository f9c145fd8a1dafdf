/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Hops: from a block and the next few outcomes to where these lead, with all that lies between.
 * Blocks where hops begin are places; a place has a line of hops, among which the outcomes tell
 * the one, and a hop names the place that it leads to. So replaying a program is following an
 * automaton: one load for several branches, no hashing. What that load needs is as small and as
 * close together as can be, as what is in no cache is slow: most places have no more hops than fit
 * a line.
 *
 * A hop stays in one view, whose blocks never change, and in one half; so it holds wherever the
 * current mapping covers its addresses.
 */
#ifndef RVT_LIB_FLOW_HOPS_H
#define RVT_LIB_FLOW_HOPS_H

#ifdef __SSE2__
#include <emmintrin.h>
#endif
#include "flow/core/blocks.h"

#define RVT_HOP_OUTCOMES 5	/* that one hop uses up, at most */
#define RVT_HOP_RUNS 32
#define RVT_HOP_PUSHES 4
#define RVT_HOP_EXCESS 8	/* runs that can be read from where those of a hop begin */
#define RVT_PLACE_BLOCKS (1u << 22)	/* only of so many blocks of an image */
#define RVT_LINE_HOPS 4
#define RVT_PLACES (1u << 17)		/* with lines that are linked to those of places */
#define RVT_WIDE_LINES 16		/* of a wide place */
#define RVT_LINES (2 * RVT_PLACES)	/* the rest are of wide places */
#define RVT_HOPS (RVT_LINES * RVT_LINE_HOPS)
#define RVT_HOP_TIMES ((1u << 14) - 1)
_Static_assert(RVT_WIDE_LINES * RVT_LINE_HOPS == 2u << RVT_HOP_OUTCOMES,
	       "a wide place has a hop for all outcomes, however many");
#define RVT_HOP_PATH_BYTES (48u << 20)

/*
 * What a hop is found by: the next outcomes, above them a bit for each that there is. Not so many
 * are there only at the end of an order, which goes on to an indirect jump, or ends where the last
 * of them is used up (RVT_HOP_END), or up to the branch that comes then (RVT_HOP_TO_BRANCH, with a
 * bit of an outcome that is not there). No key is 0. Above it is where in the table of a wide place.
 */
enum {
	RVT_HOP_THERE = ((1u << RVT_HOP_OUTCOMES) - 1) << RVT_HOP_OUTCOMES,
	RVT_HOP_END = 1u << 2 * RVT_HOP_OUTCOMES,
	RVT_HOP_TO_BRANCH = RVT_HOP_END | 1u << (RVT_HOP_OUTCOMES - 1),
	RVT_HOP_KEY = 2u << 2 * RVT_HOP_OUTCOMES,
	RVT_HOP_KEYS = 2 * RVT_HOP_KEY,
};
#define RVT_HOP_SLOT_SHIFT 16

/* Of @n outcomes, the first in bit 0 of @bits. */
static inline uint32_t rvt_hop_key(uint64_t bits, unsigned int n)
{
	const uint32_t there = (1u << n) - 1, outcomes = bits & there;

	return (outcomes | 1u << n) << RVT_HOP_SLOT_SHIFT | RVT_HOP_KEY |
	       there << RVT_HOP_OUTCOMES | outcomes;
}

static inline unsigned int rvt_hop_key_outcomes(uint32_t key)
{
	return __builtin_popcount(key & RVT_HOP_THERE);
}

enum rvt_hop_state {
	RVT_HOP_NONE,		/* there is none that is worth it */
	RVT_HOP_CAREFUL,	/* has more to it than what is here: see its path */
	RVT_HOP_CALLS,		/* has .nesting or .indirect */
	RVT_HOP_PLAIN,
};

/* What replaying needs, in a quarter of a cache line. */
struct rvt_hop {
	uint32_t key : 12;		/* 0: free */
	uint32_t open : 12;		/* bits of the key that do not matter */
	/* ends in an indirect jump or a return, executed but not yet followed */
	uint32_t leaves : 1;
	uint32_t ends_return : 1;	/* it leaves by a return, which the return stack decides */
	/*
	 * its last instruction just went on to the next; if it leaves: that jumps, but neither
	 * calls nor returns, and is not RVT_HOP_ABSOLUTE
	 */
	uint32_t falls : 1;
	uint32_t state : 2;		/* enum rvt_hop_state */
	uint32_t n_pushes : 3;		/* calls that it does not return from */
	union {
		struct {
			uint32_t next : 18;	/* place; 0: none, or it is in another view */
			uint32_t times : 14;	/* replayed, and not yet in the counts */
		};
		uint32_t next_times;
	};
	union {
		struct {		/* RVT_HOP_USED, ... */
			uint64_t used : 3;	/* outcomes */
			uint64_t n_runs : 6;
			uint64_t taken : 3;	/* of the outcomes */
			uint64_t nesting : 3;	/* entries that the return stack must have room for */
			uint64_t insns : 11;
			uint64_t halfwords : 12;
			uint64_t indirect : 2;	/* inferred; 3: or more, see its path */
			uint64_t runs : 23;	/* in 8 bytes from the beginning of .paths */
			uint64_t sequential : 1;	/* one of .indirect, the others are returns */
		};
		uint64_t sums;
	};
};
_Static_assert(sizeof(struct rvt_hop) == 16 && RVT_HOP_RUNS < 64 &&
	       RVT_HOP_PATH_BYTES / 8 <= 1 << 23 && RVT_LINES <= 1 << 18, "fits");

#define RVT_HOP_TIMES_ONE (1u << 18)	/* of .next_times: .times is above .next */

/*
 * Where numbers are in .sums. Two words hold the sums of up to RVT_HOP_SUMS hops: between the
 * fields of each are those of the other.
 */
enum {
	RVT_HOP_USED = 0, RVT_HOP_TAKEN = 9, RVT_HOP_HALFWORDS = 26,
	RVT_HOP_N_RUNS = 3, RVT_HOP_INSNS = 15, RVT_HOP_INDIRECT = 38,
};
#define RVT_HOP_SUMS 64
#define RVT_HOP_EVEN (7ull << RVT_HOP_USED | 7ull << RVT_HOP_TAKEN | 4095ull << RVT_HOP_HALFWORDS)
#define RVT_HOP_ODD (63ull << RVT_HOP_N_RUNS | 2047ull << RVT_HOP_INSNS | 3ull << RVT_HOP_INDIRECT)

#define RVT_HOP_MANY_INDIRECT 3

enum {
	/* begins with a return, alone in its block: what was executed before decides */
	RVT_HOP_ALONE = 1u << 0,
	RVT_HOP_ABSOLUTE = 1u << 1,	/* leaves by a jump to .pub.target of .last */
};

/*
 * The rest of a hop. Before it lie the addresses that it pushes, behind it the hop's runs, which
 * .runs names.
 */
struct rvt_hop_path {
	uint64_t low, high;		/* addresses of all blocks and of .end, high inclusive */
	struct rvt_code_block *last;
	uint64_t end_pc;		/* what follows; if it leaves: behind .last */
	uint8_t last_insn;		/* of .last */
	uint8_t end;			/* of .last, enum rvt_block_end */
	uint8_t returns, indirect;	/* inferred returns; all inferred indirect jumps */
	uint8_t jumps;			/* that used up an outcome as a branch does */
	uint8_t flags;			/* RVT_HOP_* */
};

/*
 * Hops of one place. It may have several lines: the first one is the place's, the rest linked. One
 * of many hops, like the loops of compression, becomes wide: it has another number, too, from
 * RVT_PLACES on, that of a table of copies which the outcomes index. Hops that still lead to its
 * first line find that when they miss something there, and lead to the table from then on.
 */
struct rvt_hop_line {
	_Alignas(64) struct rvt_hop hops[RVT_LINE_HOPS];
};

struct rvt_hop_more {
	uint32_t link;			/* the line behind it, or 0; of a wide place: the first */
	uint32_t wide;			/* of a place: the wide place; 0: it is not */
};

/* In memory that is real only where it is used. */
struct rvt_hops {
	struct rvt_hop_line lines[RVT_LINES];	/* by place; place 0: none */
	struct rvt_code_block *blocks[RVT_LINES];	/* of each line */
	uint64_t pcs[RVT_LINES];		/* of these blocks */
	struct rvt_hop_more more[RVT_LINES];	/* of each line */
	uint32_t flags;			/* of the orders that the hops hold for */
	uint32_t n_places, n_wide, n_counted;	/* .n_wide: lines of wide places */
	uint32_t n_path;		/* used of .paths, in 8 bytes */
	uint32_t counted[RVT_HOPS];	/* with .times: the number of the hop */
	/* by number of the block that it begins with; 0: not asked for yet */
	uint32_t places[RVT_PLACE_BLOCKS];
	_Alignas(8) uint8_t paths[RVT_HOP_PATH_BYTES];
};

/* The flags of an order that decide where hops lead. */
#define RVT_HOP_RUN_FLAGS (RVT_RUN_ALL_JUMPS | RVT_RUN_IMPLICIT_RETURN | RVT_RUN_STOP_RETURN | \
			   RVT_RUN_SEQUENTIAL_JUMP)

/* NULL when out of memory. */
struct rvt_hops *rvt_hops_create(void);
void rvt_hops_destroy(struct rvt_hops *hops);
/* Forgets everything; nothing may be left to count. */
void rvt_hops_reset(struct rvt_hops *hops, uint32_t flags);
/* Whether more can be made. Else it is time for a reset. */
bool rvt_hops_have_room(const struct rvt_hops *hops);
/*
 * The place that begins with @block; 0 if there is no room for another, or a block of another image
 * has the same number.
 */
uint32_t rvt_hops_place(struct rvt_hops *hops, struct rvt_code_block *block);

struct rvt_hop_order {
	uint32_t key;
	uint32_t flags;		/* RVT_RUN_* of the order */
	void *ctx;
	/* finds the block at @pc, which follows @from; NULL if there is none */
	struct rvt_code_block *(*next)(void *ctx, struct rvt_code_block *from, bool taken,
				       uint64_t pc);
};

/*
 * rvt_hops_learn - makes the hop from @place under @order, which is not known. It may be
 * RVT_HOP_NONE. NULL: there is no room.
 */
struct rvt_hop *rvt_hops_learn(struct rvt_hops *hops, uint32_t place,
			       const struct rvt_hop_order *order);

/* The same as rvt_hop() for what is not where it is looked for first. */
struct rvt_hop *rvt_hop_find(struct rvt_hops *hops, uint32_t place, uint32_t key,
			     struct rvt_hop *from);

static inline bool rvt_hop_is(const struct rvt_hop *hop, uint32_t key)
{
	return !((hop->key ^ key) & ~(uint32_t)hop->open & (RVT_HOP_KEYS - 1));
}

/* A bit for each hop of @line that is that of @key. */
static inline unsigned int rvt_hops_like_plain(const struct rvt_hop_line *line, uint32_t key)
{
	unsigned int like = 0;

	for (unsigned int i = 0; i < RVT_LINE_HOPS; i++)
		like |= (unsigned int)rvt_hop_is(&line->hops[i], key) << i;
	return like;
}

#ifdef __SSE2__
/* What a hop is found by, which does not change; what is behind it is stored to all the time. */
static inline __m128i rvt_hop_head(const struct rvt_hop *hop)
{
	int head;

	__builtin_memcpy(&head, hop, sizeof(head));
	return _mm_cvtsi32_si128(head);
}

static inline unsigned int rvt_hops_like_sse2(const struct rvt_hop_line *line, uint32_t key)
{
	const struct rvt_hop *hops = line->hops;
	/* Step by step: else GCC may put them together in memory, which takes longer. */
	const __m128i low = _mm_unpacklo_epi32(rvt_hop_head(&hops[0]), rvt_hop_head(&hops[1]));
	const __m128i high = _mm_unpacklo_epi32(rvt_hop_head(&hops[2]), rvt_hop_head(&hops[3]));
	const __m128i heads = _mm_unpacklo_epi64(low, high);
	/* .key is in bits 0 to 11, .open in those above */
	const __m128i differ = _mm_andnot_si128(_mm_srli_epi32(heads, 12),
						_mm_xor_si128(heads, _mm_set1_epi32(key)));
	const __m128i same = _mm_cmpeq_epi32(_mm_slli_epi32(differ, 20), _mm_setzero_si128());

	return _mm_movemask_ps(_mm_castsi128_ps(same));
}
#endif

static inline struct rvt_hop *rvt_hop_in(struct rvt_hop_line *line, uint32_t key)
{
	/* Which one it is cannot be foreseen: no branch for each. */
#ifdef __SSE2__
	const unsigned int like = rvt_hops_like_sse2(line, key);
#else
	const unsigned int like = rvt_hops_like_plain(line, key);
#endif

	return like ? &line->hops[__builtin_ctz(like)] : NULL;
}

/* In the table of a wide place. */
static inline struct rvt_hop *rvt_hop_wide(struct rvt_hops *hops, uint32_t place, uint32_t key)
{
	return hops->lines[place].hops + (key >> RVT_HOP_SLOT_SHIFT);
}

/* NULL: not known. @from: the hop before, or NULL. */
static inline struct rvt_hop *rvt_hop(struct rvt_hops *hops, uint32_t place, uint32_t key,
				      struct rvt_hop *from)
{
	struct rvt_hop *hop;

	if (place >= RVT_PLACES) {
		hop = rvt_hop_wide(hops, place, key);
		if (!rvt_hop_is(hop, key))
			hop = NULL;
	} else {
		/* Where the rest is, if it is not in the first line. */
		__builtin_prefetch(&hops->more[place]);
		hop = rvt_hop_in(&hops->lines[place], key);
	}
	return hop ? hop : rvt_hop_find(hops, place, key, from);
}

/* Inferred, of a hop that is not RVT_HOP_CAREFUL. */
static inline unsigned int rvt_hop_returns(const struct rvt_hop *hop)
{
	return hop->indirect - hop->sequential;
}

static inline uint32_t rvt_hop_number(const struct rvt_hops *hops, const struct rvt_hop *hop)
{
	return hop - hops->lines[0].hops;
}

static inline struct rvt_hop *rvt_hop_at(struct rvt_hops *hops, uint32_t number)
{
	return &hops->lines[0].hops[number];
}

/* Where a hop begins. */
static inline struct rvt_code_block *rvt_hop_block(const struct rvt_hops *hops, uint32_t number)
{
	return hops->blocks[number / RVT_LINE_HOPS];
}

static inline struct rvt_run *rvt_hop_runs(struct rvt_hops *hops, const struct rvt_hop *hop)
{
	return (struct rvt_run *)(hops->paths + 8 * (size_t)hop->runs);
}

static inline struct rvt_hop_path *rvt_hop_path(struct rvt_hops *hops, const struct rvt_hop *hop)
{
	return (struct rvt_hop_path *)rvt_hop_runs(hops, hop) - 1;
}

static inline const uint64_t *rvt_hop_pushes(struct rvt_hops *hops, const struct rvt_hop *hop)
{
	return (const uint64_t *)rvt_hop_path(hops, hop) - hop->n_pushes;
}

#endif
