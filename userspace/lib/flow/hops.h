/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Hops: from a block and the next few outcomes to where these lead, with all that lies between.
 * Blocks where hops begin are places, and a hop names the place that it leads to. So replaying a
 * program is following an automaton.
 *
 * Hops lie in the order in which they were made, and are found by an index of half a word each:
 * what a program does again and again should take little memory, as what is in no cache is slow.
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
#define RVT_PLACES (1u << 17)
#define RVT_PLACE_SLOTS (1u << 18)	/* a power of two */
#define RVT_HOP_NUMBER_BITS 18
#define RVT_HOPS (1u << RVT_HOP_NUMBER_BITS)
#define RVT_HOP_SEEN (1u << 18)		/* a power of two */
#define RVT_HOP_INDEX_MAX (1u << 20)
#define RVT_HOP_PATH_BYTES (48u << 20)

enum {
	RVT_HOP_CALLS = 1u << 0,	/* does something to the return stack */
	/* begins with a return, alone in its block: what was executed before decides */
	RVT_HOP_ALONE = 1u << 1,
	RVT_HOP_FALLS = 1u << 2,	/* its last instruction just went on to the next */
	/* ends in an indirect jump or a return, executed but not yet followed */
	RVT_HOP_LEAVES = 1u << 3,
	RVT_HOP_RETURNS = 1u << 4,	/* in a return, which the return stack decides */
	RVT_HOP_NONE = 1u << 5,		/* there is none that is worth it */
};

/* What replaying needs. Half a cache line. */
struct rvt_hop {
	uint64_t times;			/* replayed, and not yet in the counts */
	uint32_t place;			/* where it begins */
	uint32_t next;			/* place; 0: none, or it is in another view */
	uint32_t path;			/* the rest: in 8 bytes from the beginning of .paths */
	uint16_t insns, halfwords;
	uint8_t key, mask;		/* its outcomes with a stop bit; those bits that matter */
	uint8_t used : 4, branches : 4;	/* outcomes; branches among them */
	uint8_t taken;			/* of these branches */
	uint8_t returns, indirect;	/* inferred returns; all inferred indirect jumps */
	uint8_t n_runs;
	uint8_t flags;			/* RVT_HOP_* */
};

/* The rest of a hop. Behind it: .n_pushes addresses, then the hop's runs. */
struct rvt_hop_path {
	uint64_t low, high;		/* addresses of all blocks and of .end, high inclusive */
	struct rvt_code_block *last;
	uint64_t end_pc;		/* what follows, unless it leaves */
	uint8_t n_pushes;		/* calls that it does not return from */
	uint8_t nesting;		/* entries that the return stack must have room for */
};

struct rvt_place_slot {
	struct rvt_code_block *block;	/* NULL: free */
	uint32_t place;			/* 0: seen once */
};

/* In memory that is real only where it is used. */
struct rvt_hops {
	struct rvt_hop hops[RVT_HOPS];	/* number 0 is not used */
	uint32_t flags;			/* of the orders that the hops hold for */
	uint32_t n_hops, n_places, n_slots, n_counted, n_index;
	uint32_t n_path;		/* of .paths, in its unit */
	/* open addressing: the number of a hop, and above it bits of the hash of its key */
	uint32_t index_mask;
	uint32_t index[RVT_HOP_INDEX_MAX];
	uint8_t seen[RVT_HOP_SEEN];	/* what came once, by the hash of place and key */
	uint32_t counted[RVT_HOPS];	/* with .times: the number in .hops */
	struct rvt_code_block *blocks[RVT_PLACES];
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
	uint32_t key;		/* outcomes with a stop bit above the last of them */
	uint32_t flags;		/* RVT_RUN_* of the order */
	bool tail;		/* these are all: on to the next indirect jump */
	void *ctx;
	/* finds the block at @pc, which follows @from; NULL if there is none */
	struct rvt_code_block *(*next)(void *ctx, struct rvt_code_block *from, bool taken,
				       uint64_t pc);
};

/*
 * rvt_hops_learn - what was not found: NULL the first time, later the hop from @place under @order,
 * which may be RVT_HOP_NONE.
 */
struct rvt_hop *rvt_hops_learn(struct rvt_hops *hops, uint32_t place,
			       const struct rvt_hop_order *order);

static inline uint64_t rvt_hop_hash(uint32_t place, uint32_t key)
{
	return ((uint64_t)place << 6 | key) * 0x9e3779b97f4a7c15ull;
}

/* The hop from @place under @key; NULL: not known. */
static inline struct rvt_hop *rvt_hops_find(struct rvt_hops *hops, uint32_t place, uint32_t key)
{
	const uint64_t hash = rvt_hop_hash(place, key);
	uint32_t entry;

	for (uint32_t i = hash >> 40; ; i++) {
		struct rvt_hop *hop;

		entry = hops->index[i & hops->index_mask];
		if (!entry)
			return NULL;
		if ((entry ^ (uint32_t)(hash >> 8)) >> RVT_HOP_NUMBER_BITS)
			continue;
		hop = &hops->hops[entry & (RVT_HOPS - 1)];
		if (hop->place == place && !((hop->key ^ key) & hop->mask))
			return hop;
	}
}

static inline void rvt_hop_count(struct rvt_hops *hops, struct rvt_hop *hop, uint64_t times)
{
	if (!hop->times)
		hops->counted[hops->n_counted++] = hop - hops->hops;
	hop->times += times;
}

static inline struct rvt_hop_path *rvt_hop_path(struct rvt_hops *hops, const struct rvt_hop *hop)
{
	return (struct rvt_hop_path *)(hops->paths + 8 * (size_t)hop->path);
}

static inline uint64_t *rvt_hop_pushes(struct rvt_hop_path *path)
{
	return (uint64_t *)(path + 1);
}

static inline struct rvt_run *rvt_hop_runs(struct rvt_hop_path *path)
{
	return (struct rvt_run *)(rvt_hop_pushes(path) + path->n_pushes);
}

#endif
