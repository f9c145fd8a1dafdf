/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Inside the flow engine: counting instead of delivering. What was executed is an unordered set of
 * runs and edges with how often each was. Segments and memos only count up a number of their own;
 * they are expanded when somebody asks. Nearly all runs are whole blocks, and nearly all edges
 * direct jumps at their ends: these are counted by the number of the block; what else there is in
 * tables.
 */
#ifndef RVT_LIB_FLOW_COUNTS_H
#define RVT_LIB_FLOW_COUNTS_H

#include "flow/core/blocks.h"

/*
 * How often something was: a run (.a the block, .b first << 32 | count) or an edge (.a from, .b to,
 * .c the class of the instruction at from).
 */
struct rvt_count {
	uint64_t a, b;
	uint32_t c;
	uint32_t slot;			/* in the index */
	int64_t times;
};

/* All that was counted since it was told the last time, and a hash index of it. */
struct rvt_count_table {
	struct rvt_count *counts;
	uint32_t *slots;		/* open addressing: 1 + number in .counts, 0: free */
	size_t n, size;			/* .slots has .size, a power of two; .counts half of that */
};

#define RVT_BLOCK_COUNTS (1u << 22)

/* Of a block as a whole. */
struct rvt_block_count {
	const struct rvt_code_block *block;	/* NULL: nothing is counted */
	uint64_t times;
	int64_t taken;			/* to the target of its direct jump or branch */
};

#define RVT_JUMP_COUNTS 4096
#define RVT_JUMP_LOG 256
#define RVT_RUN_LOG 128
#define RVT_RETURN_LOG 128
#define RVT_OUT_LOG 32
#define RVT_EDGE_LOG 32

/* Of an indirect jump at the end of a block. */
struct rvt_jump_count {
	const struct rvt_code_block *block;	/* NULL: free */
	uint64_t to;
	int64_t times;
};

struct rvt_run_note {
	const struct rvt_code_block *block;
	uint32_t first, count;		/* RVT_RUN_TAKEN: no run, but the direct jump at its end */
	int64_t times;
};
#define RVT_RUN_TAKEN 0

/* An indirect jump at the end of *@block. That is read only when many notes are counted at once. */
struct rvt_return_note {
	struct rvt_code_block *const *block;
	uint64_t to;
	int64_t times;
};

/* In memory that is real only where it is used. */
struct rvt_block_counts {
	struct rvt_block_count counts[RVT_BLOCK_COUNTS];	/* by number of the block */
	uint32_t n_counted;
	uint32_t counted[RVT_BLOCK_COUNTS];	/* numbers of those with a .block */
};

struct rvt_counts {
	struct rvt_block_counts *blocks;
	/*
	 * Jumps of late, each in one slot. What another one drives out goes to .edges. All this
	 * lies all over memory, and nobody waits for it: so many are counted at a time.
	 */
	struct rvt_jump_count jumps[RVT_JUMP_COUNTS];
	uint32_t n_jumps;
	uint16_t jumped[RVT_JUMP_COUNTS];	/* those that have been used */
	struct rvt_count_table runs, edges;	/* what remains */
	uint32_t n_run_log, n_return_log, n_jump_log, n_out_log, n_edge_log;
	struct rvt_run_note run_log[RVT_RUN_LOG];	/* not yet in .blocks or .runs */
	struct rvt_return_note return_log[RVT_RETURN_LOG];	/* not yet in .jumps */
	struct rvt_jump_count jump_log[RVT_JUMP_LOG];	/* neither */
	struct rvt_jump_count out_log[RVT_OUT_LOG];	/* no more in .jumps, not yet in .edges */
	struct rvt_count edge_log[RVT_EDGE_LOG];	/* not yet in .edges */
	bool failed;			/* out of memory: the counts are not complete */

	/* The last run, whose successor makes an edge of it. */
	bool has_last;
	bool ahead;			/* that edge is counted already, as one to .ahead_pc */
	const struct rvt_code_block *last;
	uint32_t last_insn;
	uint64_t ahead_pc;
	struct rvt_kept_insn kept;	/* .last may be in it */
	struct rvt_count left;		/* .times 0: none; see rvt_flow_left() */
};

/* NULL when out of memory. */
struct rvt_counts *rvt_counts_create(void);
void rvt_counts_destroy(struct rvt_counts *counts);
/*
 * What another flow counted in, *@from, and was told of all, is *@to from now on, and the other way
 * round, if both are there and nothing is counted in either: memory that is real already.
 */
void rvt_counts_inherit(struct rvt_counts **to, struct rvt_counts **from);
/* What is in the log of runs is counted. */
void rvt_counts_runs(struct rvt_counts *counts);
/* A walk has executed @count instructions of @block from @first on. */
void rvt_flow_count_run(struct rvt_flow *flow, const struct rvt_code_block *block, uint32_t first,
			uint32_t count);
/* @first to @first + @count of @block were executed @times times. */
static inline void rvt_counts_run(struct rvt_counts *counts, const struct rvt_code_block *block,
				  uint32_t first, uint32_t count, int64_t times)
{
	counts->run_log[counts->n_run_log++] = (struct rvt_run_note){ block, first, count, times };
	if (counts->n_run_log == RVT_RUN_LOG)
		rvt_counts_runs(counts);
}

/* Instruction @insn of @block was followed by @to; no edge if that is what lies behind it. */
void rvt_counts_edge(struct rvt_counts *counts, const struct rvt_code_block *block, uint32_t insn,
		     uint64_t to, int64_t times);
/* What is in the logs of returns and jumps is counted. */
void rvt_counts_jumps(struct rvt_counts *counts);
/* The same as rvt_counts_edge() for the indirect jump at the end of @block. */
static inline void rvt_counts_jump(struct rvt_counts *counts, const struct rvt_code_block *block,
				   uint64_t to, int64_t times)
{
	counts->jump_log[counts->n_jump_log++] = (struct rvt_jump_count){ block, to, times };
	if (counts->n_jump_log == RVT_JUMP_LOG)
		rvt_counts_jumps(counts);
}

/* A run or a path begins at @pc: the edge from the last run. */
void rvt_counts_arrive(struct rvt_counts *counts, uint64_t pc);
/* What comes next is at @pc and counted elsewhere: the edge there is kept in counts->left. */
void rvt_counts_leave(struct rvt_counts *counts, uint64_t pc);
/* What comes next does not follow from the last run. */
void rvt_counts_break(struct rvt_counts *counts);
/* @n whole runs in a row, the last of which may end early; @times times. And the edges between. */
void rvt_counts_path(struct rvt_counts *counts, const struct rvt_run *runs, unsigned int n,
		     uint64_t times);

/* The same for what *@block names, which must stay there until rvt_counts_jumps(). */
static inline void rvt_counts_return(struct rvt_counts *counts,
				     struct rvt_code_block *const *block, uint64_t to,
				     int64_t times)
{
	counts->return_log[counts->n_return_log++] = (struct rvt_return_note){ block, to, times };
	if (counts->n_return_log == RVT_RETURN_LOG)
		rvt_counts_jumps(counts);
}

/* Both lines of @block, or those of its counts, are needed soon. */
static inline void rvt_block_fetch(const struct rvt_code_block *block)
{
	__builtin_prefetch(block);
	__builtin_prefetch(&block->number);
}

static inline void rvt_counts_fetch(const struct rvt_counts *counts,
				    const struct rvt_code_block *block)
{
	if (block->number < RVT_BLOCK_COUNTS)
		__builtin_prefetch(&counts->blocks->counts[block->number], 1);
}

/* The last run was instruction @insn of @block, and its edge to @pc is counted with a path. */
static inline void rvt_counts_ahead(struct rvt_counts *counts, const struct rvt_code_block *block,
				    uint32_t insn, uint64_t pc)
{
	counts->has_last = true;
	counts->ahead = true;
	counts->last = block;
	counts->last_insn = insn;
	counts->ahead_pc = pc;
}

/* What is in logs, and jumps of late, is in .blocks, .runs and .edges. */
void rvt_counts_flush(struct rvt_counts *counts);
/* Forgets .runs and .edges. */
void rvt_counts_clear(struct rvt_counts *counts);
/* All was told, and blocks go; the last run still makes an edge of what follows it. */
void rvt_counts_forget_blocks(struct rvt_counts *counts);

/* Cheap when the last path leads to @pc. */
static inline void rvt_counts_begin(struct rvt_counts *counts, uint64_t pc)
{
	if (!counts->ahead || counts->ahead_pc != pc)
		rvt_counts_arrive(counts, pc);
}

#endif
