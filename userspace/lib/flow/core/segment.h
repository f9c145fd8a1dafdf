/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Inside the flow engine: the layout of segments. A segment leads from a node, which is a block
 * where segments begin, and the next outcomes to another node, with all blocks in between. The
 * segments of a node lie in one cache line; the outcomes tell which one applies. So following a
 * program is following an automaton: one load for several branches, no hashing.
 *
 * A segment stays in one block table, whose blocks never change, and in one VA half. It holds
 * wherever the current mapping covers its addresses.
 */
#ifndef RVT_LIB_FLOW_SEGMENT_H
#define RVT_LIB_FLOW_SEGMENT_H

#include "flow/core/blocks.h"

#define RVT_SEGMENT_OUTCOMES 5	/* that one segment uses up, at most */
#define RVT_SEGMENT_RUNS 32
#define RVT_SEGMENT_PUSHES 4
#define RVT_SEGMENT_EXCESS 8	/* runs that can be read from where those of a segment begin */
#define RVT_NODE_BLOCKS (1u << 22)	/* only of so many blocks of an image */
#define RVT_LINE_SEGMENTS 4
#define RVT_NODES (1u << 17)		/* with lines that are linked to those of nodes */
#define RVT_DENSE_LINES 16		/* of a dense node */
#define RVT_LINES (2 * RVT_NODES)	/* the rest are of dense nodes */
#define RVT_SEGMENTS (RVT_LINES * RVT_LINE_SEGMENTS)
#define RVT_SEGMENT_TIMES ((1u << 14) - 1)
_Static_assert(RVT_DENSE_LINES * RVT_LINE_SEGMENTS == 2u << RVT_SEGMENT_OUTCOMES,
	       "a dense node has a segment for all outcomes, however many");
#define RVT_SEGMENT_PATH_BYTES (48u << 20)

/*
 * The key of a segment: the next outcomes in bits 0 to 4, and a bit for each of them that exists in
 * bits 5 to 9. Fewer than five exist only at the end of an order. Such an order continues to an
 * indirect jump, or ends where the last outcome is used up (RVT_SEGMENT_END), or ends before the
 * next branch (RVT_SEGMENT_TO_BRANCH, which sets a bit of an outcome that does not exist). No key
 * is 0. Above the key is its index in the table of a dense node (RVT_SEGMENT_SLOT_SHIFT).
 */
enum {
	RVT_SEGMENT_THERE = ((1u << RVT_SEGMENT_OUTCOMES) - 1) << RVT_SEGMENT_OUTCOMES,
	RVT_SEGMENT_END = 1u << 2 * RVT_SEGMENT_OUTCOMES,
	RVT_SEGMENT_TO_BRANCH = RVT_SEGMENT_END | 1u << (RVT_SEGMENT_OUTCOMES - 1),
	RVT_SEGMENT_KEY = 2u << 2 * RVT_SEGMENT_OUTCOMES,
	RVT_SEGMENT_KEYS = 2 * RVT_SEGMENT_KEY,
};
#define RVT_SEGMENT_SLOT_SHIFT 16

/* Of @n outcomes, the first in bit 0 of @bits. */
static inline uint32_t rvt_segment_key(uint64_t bits, unsigned int n)
{
	const uint32_t there = (1u << n) - 1, outcomes = bits & there;

	return (outcomes | 1u << n) << RVT_SEGMENT_SLOT_SHIFT | RVT_SEGMENT_KEY |
	       there << RVT_SEGMENT_OUTCOMES | outcomes;
}

static inline unsigned int rvt_segment_key_outcomes(uint32_t key)
{
	return __builtin_popcount(key & RVT_SEGMENT_THERE);
}

enum rvt_segment_state {
	RVT_SEGMENT_NONE,	/* there is none that is worth it */
	RVT_SEGMENT_CAREFUL,	/* has more to it than what is here: see its path */
	RVT_SEGMENT_CALLS,	/* has .nesting or .indirect */
	RVT_SEGMENT_PLAIN,
};

/* What a walk needs, in a quarter of a cache line. */
struct rvt_segment {
	uint32_t key : 12;		/* 0: free */
	uint32_t open : 12;		/* bits of the key that do not matter */
	/* ends in an indirect jump or a return, executed but not yet followed */
	uint32_t leaves : 1;
	uint32_t ends_return : 1;	/* it leaves by a return, which the return stack decides */
	/*
	 * its last instruction just went on to the next; if it leaves: that jumps, but neither
	 * calls nor returns, and is not RVT_SEGMENT_ABSOLUTE
	 */
	uint32_t falls : 1;
	uint32_t state : 2;		/* enum rvt_segment_state */
	uint32_t n_pushes : 3;		/* calls that it does not return from */
	union {
		struct {
			uint32_t next : 18;	/* node; 0: none, or it is in another block table */
			uint32_t times : 14;	/* executed, and not yet in the counts */
		};
		uint32_t next_times;
	};
	union {
		struct {		/* RVT_SEGMENT_USED, ... */
			uint64_t used : 3;	/* outcomes */
			uint64_t n_runs : 6;
			uint64_t taken : 3;	/* of the outcomes */
			uint64_t nesting : 3;	/* free entries that it needs on the return stack */
			uint64_t insns : 11;
			uint64_t halfwords : 12;
			uint64_t indirect : 2;	/* inferred; 3: or more, see its path */
			uint64_t runs : 23;	/* in 8 bytes from the beginning of .paths */
			/* one of .indirect; the others are returns */
			uint64_t sequential : 1;
		};
		uint64_t sums;
	};
};
_Static_assert(sizeof(struct rvt_segment) == 16 && RVT_SEGMENT_RUNS < 64 &&
	       RVT_SEGMENT_PATH_BYTES / 8 <= 1 << 23 && RVT_LINES <= 1 << 18, "fits");

#define RVT_SEGMENT_TIMES_ONE (1u << 18)	/* of .next_times: .times is above .next */

/*
 * Where numbers are in .sums. Two words hold the sums of up to RVT_SEGMENT_SUMS segments: between
 * the fields of each are those of the other.
 */
enum {
	RVT_SEGMENT_USED = 0, RVT_SEGMENT_TAKEN = 9, RVT_SEGMENT_HALFWORDS = 26,
	RVT_SEGMENT_N_RUNS = 3, RVT_SEGMENT_INSNS = 15, RVT_SEGMENT_INDIRECT = 38,
};
#define RVT_SEGMENT_SUMS 64
#define RVT_SEGMENT_EVEN (7ull << RVT_SEGMENT_USED | 7ull << RVT_SEGMENT_TAKEN | \
			  4095ull << RVT_SEGMENT_HALFWORDS)
#define RVT_SEGMENT_ODD (63ull << RVT_SEGMENT_N_RUNS | 2047ull << RVT_SEGMENT_INSNS | \
			 3ull << RVT_SEGMENT_INDIRECT)

#define RVT_SEGMENT_MANY_INDIRECT 3

enum {
	/* begins with a return, alone in its block: what was executed before decides */
	RVT_SEGMENT_ALONE = 1u << 0,
	RVT_SEGMENT_ABSOLUTE = 1u << 1,	/* leaves by a jump to .pub.target of .last */
};

/*
 * The rest of a segment. Before it lie the addresses that it pushes, behind it the segment's runs,
 * which .runs names.
 */
struct rvt_segment_path {
	uint64_t low, high;		/* addresses of all blocks and of .end, high inclusive */
	struct rvt_code_block *last;
	uint64_t end_pc;		/* what follows; if it leaves: behind .last */
	uint8_t last_insn;		/* of .last */
	uint8_t end;			/* of .last, enum rvt_block_end */
	uint8_t returns, indirect;	/* inferred returns; all inferred indirect jumps */
	uint8_t jumps;			/* that used up an outcome as a branch does */
	uint8_t flags;			/* RVT_SEGMENT_* */
};

/*
 * Segments of one node. It may have several lines: the first one is the node's, the rest linked.
 * One of many segments, like the loops of compression, becomes dense: it has another number, too,
 * from RVT_NODES on, that of a table of copies which the outcomes index. Segments that still lead
 * to its first line find that when they miss something there, and lead to the table from then on.
 */
struct rvt_segment_line {
	_Alignas(64) struct rvt_segment segments[RVT_LINE_SEGMENTS];
};

struct rvt_segment_more {
	uint32_t link;			/* the line behind it, or 0; of a dense node: the first */
	uint32_t dense;			/* of a node: the dense node; 0: it is not */
};

/* With RVT_RUN_PREDICTED: the branches of a segment, as rvt_prediction_short() has them. */
struct rvt_segment_branches {
	_Alignas(16) uint16_t at[RVT_SEGMENT_OUTCOMES];
};

/* In memory that is real only where it is used. */
struct rvt_segments {
	struct rvt_segment_line lines[RVT_LINES];	/* by node; node 0: none */
	struct rvt_code_block *blocks[RVT_LINES];	/* of each line */
	uint64_t pcs[RVT_LINES];		/* of these blocks */
	struct rvt_segment_more more[RVT_LINES];	/* of each line */
	uint32_t flags;			/* of the orders that the segments hold for */
	uint32_t n_nodes, n_dense, n_counted;	/* .n_dense: lines of dense nodes */
	uint32_t n_path;		/* used of .paths, in 8 bytes */
	uint32_t counted[RVT_SEGMENTS];	/* with .times: the number of the segment */
	/* by number of the block that it begins with; 0: not asked for yet */
	uint32_t nodes[RVT_NODE_BLOCKS];
	/* RVT_RUN_PREDICTED: by number of the segment; by node, outcomes predicted the last time */
	struct rvt_segment_branches branches[RVT_SEGMENTS];
	uint8_t guesses[RVT_LINES];
	_Alignas(8) uint8_t paths[RVT_SEGMENT_PATH_BYTES];
};

/* The flags of an order that decide where segments lead. */
#define RVT_SEGMENT_RUN_FLAGS (RVT_RUN_ALL_JUMPS | RVT_RUN_IMPLICIT_RETURN | RVT_RUN_STOP_RETURN | \
			       RVT_RUN_SEQUENTIAL_JUMP | RVT_RUN_PREDICTED)

/* Inferred, of a segment that is not RVT_SEGMENT_CAREFUL. */
static inline unsigned int rvt_segment_returns(const struct rvt_segment *seg)
{
	return seg->indirect - seg->sequential;
}

/* Segments are numbered through all lines, which have nothing between them. */
_Static_assert(sizeof(struct rvt_segment_line) == RVT_LINE_SEGMENTS * sizeof(struct rvt_segment),
	       "lines are full of segments");

static inline uint32_t rvt_segment_number(const struct rvt_segments *segments,
					  const struct rvt_segment *seg)
{
	return seg - (const struct rvt_segment *)segments->lines;
}

static inline struct rvt_segment *rvt_segment_at(struct rvt_segments *segments, uint32_t number)
{
	return (struct rvt_segment *)segments->lines + number;
}

static inline struct rvt_segment_branches *
rvt_segment_branches(struct rvt_segments *segments, const struct rvt_segment *seg)
{
	return &segments->branches[rvt_segment_number(segments, seg)];
}

/* The outcomes that a segment uses up, the first in bit 0. */
static inline unsigned int rvt_segment_outcomes(const struct rvt_segment *seg)
{
	return seg->key & ((1u << seg->used) - 1);
}

/* Where a segment begins. */
static inline struct rvt_code_block *rvt_segment_block(const struct rvt_segments *segments,
						       uint32_t number)
{
	return segments->blocks[number / RVT_LINE_SEGMENTS];
}

static inline struct rvt_run *rvt_segment_runs(struct rvt_segments *segments,
					       const struct rvt_segment *seg)
{
	return (struct rvt_run *)(segments->paths + 8 * (size_t)seg->runs);
}

static inline struct rvt_segment_path *rvt_segment_path(struct rvt_segments *segments,
							const struct rvt_segment *seg)
{
	return (struct rvt_segment_path *)rvt_segment_runs(segments, seg) - 1;
}

static inline const uint64_t *rvt_segment_pushes(struct rvt_segments *segments,
						 const struct rvt_segment *seg)
{
	return (const uint64_t *)rvt_segment_path(segments, seg) - seg->n_pushes;
}

#endif
