/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Hops: from a block and the next few outcomes to where these lead, with all that lies between.
 * Blocks where hops begin are places; a place has a table of hops that the outcomes index, and a
 * hop names the place that it leads to. So replaying a program is following an automaton: one load
 * for several branches, no hashing, nothing to compare. What that load needs is as small as can be,
 * as what is in no cache is slow.
 *
 * A hop stays in one view, whose blocks never change, and in one half; so it holds wherever the
 * current mapping covers its addresses.
 */
#ifndef RVT_LIB_FLOW_HOPS_H
#define RVT_LIB_FLOW_HOPS_H

#include "flow/cache.h"

#define RVT_HOP_OUTCOMES 5	/* that one hop uses up, at most */
#define RVT_PLACE_HOPS (2u << RVT_HOP_OUTCOMES)
#define RVT_HOP_RUNS 32
#define RVT_HOP_PUSHES 4
#define RVT_HOP_EXCESS 8	/* runs that can be read from where those of a hop begin */
#define RVT_PLACES (1u << 16)
#define RVT_PLACE_SLOTS (1u << 17)	/* a power of two */
#define RVT_PLACE_ENDS (1u << RVT_HOP_OUTCOMES)
#define RVT_INNER_HOPS (RVT_PLACES * RVT_PLACE_HOPS)	/* several may have one path */
#define RVT_HOPS (RVT_INNER_HOPS + RVT_PLACES * RVT_PLACE_ENDS)
#define RVT_HOP_END (1u << 31)		/* with a key: these outcomes are all, and not a step more */
#define RVT_HOP_PATH_BYTES (48u << 20)

enum rvt_hop_state {
	RVT_HOP_UNKNOWN,
	RVT_HOP_NONE,		/* there is none that is worth it */
	RVT_HOP_CAREFUL,	/* has more to it than the sums, or it may not fit: see its path */
	RVT_HOP_PLAIN,
};

/* What replaying needs, in a quarter of a cache line. */
struct rvt_hop {
	uint32_t next;			/* place; 0: none, or it is in another view */
	uint32_t times;			/* replayed, and not yet in the counts */
	uint32_t runs : 26;		/* in 8 bytes from the beginning of .paths */
	uint32_t n_runs : 6;
	uint32_t used : 3;		/* outcomes */
	uint32_t taken : 3;		/* of them */
	uint32_t state : 3;		/* enum rvt_hop_state */
	uint32_t insns : 11;
	uint32_t halfwords : 12;
};
_Static_assert(sizeof(struct rvt_hop) == 16 && RVT_HOP_RUNS < 64, "fits");

enum {
	RVT_HOP_CALLS = 1u << 0,	/* does something to the return stack */
	/* begins with a return, alone in its block: what was executed before decides */
	RVT_HOP_ALONE = 1u << 1,
	RVT_HOP_FALLS = 1u << 2,	/* its last instruction just went on to the next */
	/* ends in an indirect jump or a return, executed but not yet followed */
	RVT_HOP_LEAVES = 1u << 3,
	RVT_HOP_RETURNS = 1u << 4,	/* in a return, which the return stack decides */
};

/*
 * The rest of a hop. Before it lie .n_pushes addresses, behind it the hop's runs, which .runs
 * names.
 */
struct rvt_hop_path {
	uint64_t low, high;		/* addresses of all blocks and of .end, high inclusive */
	struct rvt_code_block *last;
	uint64_t end_pc;		/* what follows, unless it leaves */
	uint8_t n_pushes;		/* calls that it does not return from */
	uint8_t nesting;		/* entries that the return stack must have room for */
	uint8_t returns, indirect;	/* inferred returns; all inferred indirect jumps */
	uint8_t jumps;			/* that used up an outcome as a branch does */
	uint8_t flags;			/* RVT_HOP_* */
};

struct rvt_place_slot {
	struct rvt_code_block *block;	/* NULL: free */
	uint32_t place;			/* 0: seen once */
};

/* In memory that is real only where it is used. */
struct rvt_hops {
	struct rvt_hop hops[RVT_HOPS];	/* by place and outcomes, see rvt_hop(); place 0: none */
	uint32_t flags;			/* of the orders that the hops hold for */
	uint32_t n_places, n_slots, n_counted;
	uint32_t n_path;		/* used of .paths, in 8 bytes */
	uint32_t counted[RVT_HOPS];	/* with .times: the number in .hops */
	struct rvt_code_block *blocks[RVT_PLACES];
	uint32_t slot_mask;		/* how many .slots there are, less one */
	struct rvt_place_slot slots[RVT_PLACE_SLOTS];
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
 * The place that begins with @block; 0 if this is the first time that it is asked for, or there is
 * no room for another.
 */
uint32_t rvt_hops_place(struct rvt_hops *hops, struct rvt_code_block *block);
/* The same, and there is one afterwards. There must be room. */
uint32_t rvt_hops_make_place(struct rvt_hops *hops, struct rvt_code_block *block);

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

static inline struct rvt_hop *rvt_hop(struct rvt_hops *hops, uint32_t place, uint32_t key)
{
	if (key & RVT_HOP_END)
		return &hops->hops[RVT_INNER_HOPS + place * RVT_PLACE_ENDS + (key ^ RVT_HOP_END)];
	return &hops->hops[place * RVT_PLACE_HOPS + key];
}

static inline uint32_t rvt_hop_number(const struct rvt_hops *hops, const struct rvt_hop *hop)
{
	return hop - hops->hops;
}

static inline uint32_t rvt_hop_place(uint32_t number)
{
	return number < RVT_INNER_HOPS ? number / RVT_PLACE_HOPS :
					 (number - RVT_INNER_HOPS) / RVT_PLACE_ENDS;
}

static inline struct rvt_run *rvt_hop_runs(struct rvt_hops *hops, const struct rvt_hop *hop)
{
	return (struct rvt_run *)(hops->paths + 8 * (size_t)hop->runs);
}

static inline struct rvt_hop_path *rvt_hop_path(struct rvt_hops *hops, const struct rvt_hop *hop)
{
	return (struct rvt_hop_path *)rvt_hop_runs(hops, hop) - 1;
}

static inline const uint64_t *rvt_hop_pushes(const struct rvt_hop_path *path)
{
	return (const uint64_t *)path - path->n_pushes;
}

#endif
