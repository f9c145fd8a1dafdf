/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Hops: from a block and the next few outcomes to where these lead, with all that lies between.
 * Blocks where hops begin are places; a place has a table of hops that the outcomes index, and
 * a hop names the place that it leads to. So replaying a program is following an automaton: one
 * load for several branches, no hashing, nothing to compare.
 *
 * A hop stays in one view, whose blocks never change; so it holds wherever the current mapping
 * covers its addresses.
 */
#ifndef RVT_LIB_FLOW_HOPS_H
#define RVT_LIB_FLOW_HOPS_H

#include "flow/cache.h"

#define RVT_HOP_OUTCOMES 5	/* that one hop uses up, at most */
#define RVT_PLACE_HOPS (2 << RVT_HOP_OUTCOMES)
#define RVT_HOP_RUNS 32
#define RVT_HOP_PUSHES 4
#define RVT_PLACES (1u << 16)
#define RVT_PLACE_SLOTS (1u << 17)	/* a power of two */
#define RVT_HOP_PATH_BYTES (48u << 20)
#define RVT_HOPS (RVT_PLACES * RVT_PLACE_HOPS)	/* several may have one path */

enum rvt_hop_state {
	RVT_HOP_UNKNOWN,
	RVT_HOP_SEEN,		/* once; it is made when it comes again */
	RVT_HOP_NONE,		/* there is none that is worth it */
	RVT_HOP_READY,
};

enum {
	RVT_HOP_CALLS = 1u << 0,	/* does something to the return stack */
	/* begins with a return, alone in its block: what was executed before decides */
	RVT_HOP_ALONE = 1u << 1,
	RVT_HOP_FALLS = 1u << 2,	/* its last instruction just went on to the next */
	/* ends in an indirect jump or a return, executed but not yet followed */
	RVT_HOP_LEAVES = 1u << 3,
	RVT_HOP_RETURNS = 1u << 4,	/* in a return, which the return stack decides */
};

/* What replaying needs. Half a cache line. */
struct rvt_hop {
	uint64_t times;			/* replayed, and not yet in the counts */
	uint32_t next;			/* place; 0: none, or it is in another view */
	uint32_t path;			/* the rest: in 16 bytes from the beginning of .paths */
	uint16_t insns, halfwords;
	uint8_t used, branches, taken;	/* outcomes; branches among them; taken of these */
	uint8_t returns, indirect;	/* inferred returns; all inferred indirect jumps */
	uint8_t n_runs;
	uint8_t state;			/* enum rvt_hop_state */
	uint8_t flags;			/* RVT_HOP_* */
};

/* The rest of a hop. */
struct rvt_hop_path {
	uint64_t low, high;		/* addresses of all blocks and of .end, high inclusive */
	struct rvt_code_block *first, *last;
	struct rvt_code_block *end;	/* the next block; NULL: not in this view */
	uint64_t end_pc;		/* what follows, unless it leaves */
	uint8_t n_pushes;		/* calls that it does not return from */
	uint8_t nesting;		/* entries that the return stack must have room for */
	uint64_t pushes[RVT_HOP_PUSHES];
	struct rvt_run runs[RVT_HOP_RUNS];	/* .n_runs of them are there */
};

struct rvt_place_slot {
	struct rvt_code_block *block;	/* NULL: free */
	uint32_t place;			/* 0: seen once */
};

/* In memory that is real only where it is used. */
struct rvt_hops {
	struct rvt_hop hops[RVT_HOPS];
	uint32_t flags;			/* of the orders that the hops hold for */
	uint32_t n_places, n_slots, n_counted;
	size_t n_path;			/* of .paths, in its unit */
	uint32_t counted[RVT_HOPS];	/* with .times: the number in .hops */
	struct rvt_code_block *blocks[RVT_PLACES];
	struct rvt_place_slot slots[RVT_PLACE_SLOTS];
	_Alignas(16) uint8_t paths[RVT_HOP_PATH_BYTES];
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
/* The place that begins with @block; 0 if this is the first time that it is asked for. */
uint32_t rvt_hops_place(struct rvt_hops *hops, struct rvt_code_block *block);
/* The same, and there is one afterwards. */
uint32_t rvt_hops_make_place(struct rvt_hops *hops, struct rvt_code_block *block);

struct rvt_hop_order {
	uint32_t key;		/* outcomes with a stop bit above the last of them */
	uint32_t flags;		/* RVT_RUN_* of the order */
	bool tail;		/* these are all: on to the next indirect jump */
	void *ctx;
	/* finds the block at @pc, which follows @from; NULL if there is none */
	struct rvt_code_block *(*next)(void *ctx, struct rvt_code_block *from, bool taken,
				       uint64_t pc);
};

/* rvt_hops_build - fills @hop: the way from @place under @order; READY or NONE then. */
void rvt_hops_build(struct rvt_hops *hops, uint32_t place, struct rvt_hop *hop,
		    const struct rvt_hop_order *order);

static inline struct rvt_hop *rvt_hop(struct rvt_hops *hops, uint32_t place, uint32_t key)
{
	return &hops->hops[place * RVT_PLACE_HOPS + key];
}

static inline struct rvt_hop_path *rvt_hop_path(struct rvt_hops *hops, const struct rvt_hop *hop)
{
	return (struct rvt_hop_path *)(hops->paths + 16 * (size_t)hop->path);
}

#endif
