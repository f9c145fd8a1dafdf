/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Memo of paths: from (block, next outcomes) to where these outcomes lead, with all that lies
 * between. One look-up replays several branches. A path stays in one view, whose blocks never
 * change; so an entry holds wherever the current mapping covers its addresses.
 */
#ifndef RVT_LIB_FLOW_MEMO_H
#define RVT_LIB_FLOW_MEMO_H

#include "flow/cache.h"

#define RVT_MEMO_OUTCOMES 10	/* that one path uses up, at most */
#define RVT_MEMO_FIRST 6	/* that are tried first */
#define RVT_MEMO_RUNS 16
#define RVT_MEMO_PUSHES 4
#define RVT_MEMO_ENTRIES 16384	/* a power of two */

/* What a look-up needs: one cache line. */
struct rvt_memo {
	_Alignas(64) struct rvt_code_block *start;
	uint32_t key;			/* outcomes with a stop bit above the last of them */
	uint16_t halfwords, insns;
	bool built;			/* false: seen once; a path is made when it comes again */
	uint8_t n_runs;			/* 0: there is no path that is worth it */
	uint8_t used, branches, taken;	/* outcomes; branches among them; taken of these */
	uint8_t returns;		/* inferred */
	uint8_t indirect;		/* returns, and jumps to what was loaded just before */
	bool alone;			/* begins with a return that nothing precedes in its block */
	uint8_t n_pushes;		/* calls that the path does not return from */
	uint8_t nesting;		/* entries that the return stack must have room for */
	bool pops;			/* ends in an implicit return to a call before the path */
	uint64_t low, high;		/* addresses of all blocks and of .end, high inclusive */
	struct rvt_code_block *last;	/* of the path */
	struct rvt_code_block *end;	/* the next block; NULL: not in this view, or .pops */
};

/* The rest of an entry. */
struct rvt_memo_path {
	uint64_t end_pc;		/* what follows, unless .pops */
	uint64_t pushes[RVT_MEMO_PUSHES];
	struct rvt_run runs[RVT_MEMO_RUNS];
};

/*
 * How many outcomes are looked up at once from some blocks: as many as often enough come
 * again in the same combination.
 */
struct rvt_memo_reach {
	uint8_t outcomes, hits, misses;
};

#define RVT_MEMO_REACHES 8192

struct rvt_memo_table {
	struct rvt_memo_reach reaches[RVT_MEMO_REACHES];
	uint64_t times[RVT_MEMO_ENTRIES];	/* replayed, and not yet in the counts */
	struct rvt_memo memos[RVT_MEMO_ENTRIES];
	struct rvt_memo_path paths[RVT_MEMO_ENTRIES];
};

/* The flags of an order that decide where paths lead. */
#define RVT_MEMO_FLAGS (RVT_RUN_ALL_JUMPS | RVT_RUN_IMPLICIT_RETURN | RVT_RUN_STOP_RETURN | \
			RVT_RUN_SEQUENTIAL_JUMP)

/*
 * rvt_memo_build - fills @memo and @path: the path from @start under the outcomes of @key.
 * @flags: RVT_RUN_* of the order. @next finds the block at @pc, which follows @from; NULL if there is none.
 */
void rvt_memo_build(struct rvt_memo *memo, struct rvt_memo_path *path,
		    struct rvt_code_block *start, uint32_t key, uint32_t flags, void *ctx,
		    struct rvt_code_block *(*next)(void *ctx, struct rvt_code_block *from,
						   bool taken, uint64_t pc));

static inline struct rvt_memo_reach *rvt_memo_reach(struct rvt_memo_table *table,
						   const struct rvt_code_block *start)
{
	uint64_t mix = ((uintptr_t)start >> 4) * 0x9e3779b97f4a7c15ull;

	return &table->reaches[mix >> 48 & (RVT_MEMO_REACHES - 1)];
}

static inline void rvt_memo_hit(struct rvt_memo_reach *reach)
{
	if (++reach->hits)
		return;
	if (!reach->misses && reach->outcomes < RVT_MEMO_OUTCOMES)
		reach->outcomes++;
	reach->misses /= 2;
	reach->hits = 128;
}

static inline void rvt_memo_miss(struct rvt_memo_reach *reach)
{
	if (++reach->misses < 24 || 8 * reach->misses < reach->hits)
		return;
	if (reach->outcomes > 2)
		reach->outcomes--;
	reach->hits = reach->misses = 0;
}

static inline uint32_t rvt_memo_index(const struct rvt_code_block *start, uint32_t key)
{
	uint64_t mix = ((uintptr_t)start >> 4 ^ (uint64_t)key << 40) * 0x9e3779b97f4a7c15ull;

	return mix >> 32 & (RVT_MEMO_ENTRIES - 1);
}

#endif
