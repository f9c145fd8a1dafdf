/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Hops: from a block and the next few outcomes to where these lead, with all that lies between.
 * Blocks where hops begin are places; a place has a line of hops, among which the outcomes tell the
 * one, and a hop names the place that it leads to. So replaying a program is following an automaton:
 * one load for several branches, no hashing. What that load needs is as small and as close together
 * as can be, as what is in no cache is slow: most places have no more hops than fit a line.
 *
 * A hop stays in one view, whose blocks never change, and in one half; so it holds wherever the
 * current mapping covers its addresses.
 */
#ifndef RVT_LIB_FLOW_HOPS_H
#define RVT_LIB_FLOW_HOPS_H

#include "flow/cache.h"

#define RVT_HOP_OUTCOMES 5	/* that one hop uses up, at most */
#define RVT_HOP_RUNS 32
#define RVT_HOP_PUSHES 4
#define RVT_HOP_EXCESS 8	/* runs that can be read from where those of a hop begin */
#define RVT_LINE_HOPS 4
#define RVT_PLACES (1u << 17)
#define RVT_PLACE_BLOCKS (1u << 22)	/* only of so many blocks of an image */
#define RVT_PLACE_SEEN UINT32_MAX
#define RVT_HOPS (RVT_PLACES * RVT_LINE_HOPS)
#define RVT_HOP_TIMES ((1u << 21) - 1)
#define RVT_HOP_END (1u << 6)		/* with a key: these outcomes are all, and not a step more */
#define RVT_HOP_PATH_BYTES (48u << 20)

enum rvt_hop_state {
	RVT_HOP_NONE,		/* there is none that is worth it */
	RVT_HOP_CAREFUL,	/* has more to it than what is here: see its path */
	RVT_HOP_CALLS,		/* does something to the return stack, which is here */
	RVT_HOP_PLAIN,
};

/* What replaying needs, in a quarter of a cache line. */
struct rvt_hop {
	uint32_t key : 7;		/* 0: free */
	uint32_t open : 7;		/* bits of the key that do not matter */
	uint32_t next : 17;		/* place; 0: none, or it is in another view */
	/* ends in an indirect jump or a return, executed but not yet followed */
	uint32_t leaves : 1;
	uint32_t times : 21;		/* replayed, and not yet in the counts */
	uint32_t state : 2;		/* enum rvt_hop_state */
	uint32_t n_pushes : 3;		/* calls that it does not return from */
	uint32_t nesting : 3;		/* entries that the return stack must have room for */
	uint32_t returns : 2;		/* inferred; 3: or more, see its path */
	uint32_t ends_return : 1;	/* it leaves by a return, which the return stack decides */
	uint32_t runs : 26;		/* in 8 bytes from the beginning of .paths */
	uint32_t n_runs : 6;
	uint32_t used : 3;		/* outcomes */
	uint32_t taken : 3;		/* of them */
	uint32_t insns : 11;
	uint32_t halfwords : 12;
	uint32_t falls : 1;		/* its last instruction just went on to the next */
};
_Static_assert(sizeof(struct rvt_hop) == 16 && RVT_HOP_RUNS < 64, "fits");

#define RVT_HOP_MANY_RETURNS 3

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
	uint64_t end_pc;		/* what follows; behind the last instruction, if it leaves */
	uint8_t last_insn;		/* of .last */
	uint8_t end;			/* of .last, enum rvt_block_end */
	uint8_t returns, indirect;	/* inferred returns; all inferred indirect jumps */
	uint8_t jumps;			/* that used up an outcome as a branch does */
	uint8_t flags;			/* RVT_HOP_* */
};

/* Hops of one place. It may have several lines: the first one is the place's, the rest linked. */
struct rvt_hop_line {
	_Alignas(64) struct rvt_hop hops[RVT_LINE_HOPS];
};

/* In memory that is real only where it is used. */
struct rvt_hops {
	struct rvt_hop_line lines[RVT_PLACES];	/* by place; place 0: none */
	struct rvt_code_block *blocks[RVT_PLACES];	/* of each line */
	uint32_t links[RVT_PLACES];	/* the line behind each; 0: none */
	uint32_t flags;			/* of the orders that the hops hold for */
	uint32_t n_places, n_counted;
	uint32_t n_path;		/* used of .paths, in 8 bytes */
	uint32_t counted[RVT_HOPS];	/* with .times: the number of the hop */
	/* by number of the block that it begins with; RVT_PLACE_SEEN: asked for once, 0: not yet */
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
 * The place that begins with @block; 0 if this is the first time that it is asked for, there is
 * no room for another, or a block of another image has the same number.
 */
uint32_t rvt_hops_place(struct rvt_hops *hops, struct rvt_code_block *block);

struct rvt_hop_order {
	uint32_t key;		/* outcomes with a stop bit above the last of them; RVT_HOP_END */
	uint32_t flags;		/* RVT_RUN_* of the order */
	bool tail;		/* these are all: on to the next indirect jump */
	void *ctx;
	/* finds the block at @pc, which follows @from; NULL if there is none */
	struct rvt_code_block *(*next)(void *ctx, struct rvt_code_block *from, bool taken,
				       uint64_t pc);
};

/*
 * rvt_hops_learn - the hop from @place under @order, which cannot be replayed as it is: if it is not
 * known it is made, which may end in RVT_HOP_NONE. NULL: there is no room.
 */
struct rvt_hop *rvt_hops_learn(struct rvt_hops *hops, uint32_t place,
			       const struct rvt_hop_order *order);

/* The hop from the further lines of @place. */
struct rvt_hop *rvt_hop_linked(struct rvt_hops *hops, uint32_t place, uint32_t key);

static inline struct rvt_hop *rvt_hop_in(struct rvt_hop_line *line, uint32_t key)
{
	uint32_t like = 0;

	/* Which one it is cannot be foreseen: no branch for each. */
	for (unsigned int i = 0; i < RVT_LINE_HOPS; i++) {
		const struct rvt_hop *hop = &line->hops[i];

		like |= (uint32_t)!((hop->key ^ key) & ~(uint32_t)hop->open) << i;
	}
	return like ? &line->hops[__builtin_ctz(like)] : NULL;
}

/* NULL: not known. */
static inline struct rvt_hop *rvt_hop(struct rvt_hops *hops, uint32_t place, uint32_t key)
{
	struct rvt_hop *hop = rvt_hop_in(&hops->lines[place], key);

	return hop ? hop : rvt_hop_linked(hops, place, key);
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
