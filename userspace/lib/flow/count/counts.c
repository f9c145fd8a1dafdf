// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Counts of runs and edges.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include "flow/core/state.h"
#include "flow/count/counts.h"

#define FIRST_SIZE 4096

static void table_free(struct rvt_count_table *table)
{
	free(table->counts);
	free(table->slots);
}

struct rvt_counts *rvt_counts_create(void)
{
	struct rvt_counts *counts = calloc(1, sizeof(*counts));

	if (!counts)
		return NULL;
	counts->blocks = rvt_table_map(sizeof(*counts->blocks));
	if (!counts->blocks) {
		free(counts);
		return NULL;
	}
	return counts;
}

void rvt_counts_destroy(struct rvt_counts *counts)
{
	if (!counts)
		return;
	table_free(&counts->runs);
	table_free(&counts->edges);
	munmap(counts->blocks, sizeof(*counts->blocks));
	free(counts);
}

static bool is_empty(const struct rvt_counts *c)
{
	return !c->blocks->n_counted && !c->runs.n && !c->edges.n && !c->n_jumps && !c->n_run_log &&
	       !c->n_return_log && !c->n_jump_log && !c->n_out_log && !c->n_edge_log && !c->failed;
}

void rvt_counts_inherit(struct rvt_counts **to, struct rvt_counts **from)
{
	struct rvt_counts *old = *from, *new = *to;

	if (!old || !new || !is_empty(old) || !is_empty(new) || new->has_last)
		return;
	old->has_last = old->ahead = false;
	old->left.times = 0;
	*to = old;
	*from = new;
}

static size_t mix(uint64_t a, uint64_t b)
{
	uint64_t x = a * 0x9e3779b97f4a7c15ull ^ b;

	x *= 0xd6e8feb86659fd93ull;
	return x >> 24;
}

/* Returns the slot of the count of @key, or the free one where it would be. */
static size_t find_slot(const struct rvt_count_table *t, const struct rvt_count *key)
{
	size_t i = mix(key->a, key->b) & (t->size - 1);

	while (t->slots[i]) {
		const struct rvt_count *c = &t->counts[t->slots[i] - 1];

		if (c->a == key->a && c->b == key->b && c->c == key->c)
			break;
		i = (i + 1) & (t->size - 1);
	}
	return i;
}

/* Makes room for another count. Returns false when out of memory. */
static bool grow(struct rvt_count_table *t)
{
	struct rvt_count_table new = { .n = t->n, .size = t->size ? 2 * t->size : FIRST_SIZE };

	if (2 * t->n < t->size)
		return true;
	new.slots = calloc(new.size, sizeof(*new.slots));
	if (!new.slots)
		return false;
	new.counts = reallocarray(t->counts, new.size / 2, sizeof(*new.counts));
	if (!new.counts) {
		free(new.slots);
		return false;
	}
	for (size_t i = 0; i < new.n; i++) {
		new.counts[i].slot = find_slot(&new, &new.counts[i]);
		new.slots[new.counts[i].slot] = i + 1;
	}
	free(t->slots);
	*t = new;
	return true;
}

/* Returns false when out of memory. */
static bool add(struct rvt_count_table *t, const struct rvt_count *key, int64_t times)
{
	size_t slot;

	if (!grow(t))
		return false;
	slot = find_slot(t, key);
	if (!t->slots[slot]) {
		t->counts[t->n] = (struct rvt_count){
			.a = key->a, .b = key->b, .c = key->c, .slot = slot,
		};
		t->slots[slot] = ++t->n;
	}
	t->counts[t->slots[slot] - 1].times += times;
	return true;
}

/* Forgets all counts, in time by their number. */
static void table_clear(struct rvt_count_table *t)
{
	for (size_t i = 0; i < t->n; i++)
		t->slots[t->counts[i].slot] = 0;
	t->n = 0;
}

/* Returns the counts of @block; NULL: it has none of its own. */
static inline struct rvt_block_count *count_of(struct rvt_counts *counts,
					       const struct rvt_code_block *block)
{
	struct rvt_block_counts *blocks = counts->blocks;
	struct rvt_block_count *count;

	if (block->number >= RVT_BLOCK_COUNTS)
		return NULL;
	count = &blocks->counts[block->number];
	if (!count->block) {
		count->block = block;
		blocks->counted[blocks->n_counted++] = block->number;
		rvt_table_grows(blocks, sizeof(*blocks), blocks->n_counted);
	}
	/* A block of another image may have that number. */
	return count->block == block ? count : NULL;
}

static void add_taken(struct rvt_counts *counts, const struct rvt_code_block *block, int64_t times)
{
	struct rvt_block_count *whole = count_of(counts, block);

	if (whole)
		whole->taken += times;
	else
		rvt_counts_jump(counts, block, block->pub.target, times);
}

static void add_run(struct rvt_counts *counts, const struct rvt_code_block *block, uint32_t first,
		    uint32_t count, uint64_t times)
{
	const struct rvt_count key = { .a = (uintptr_t)block, .b = (uint64_t)first << 32 | count };
	struct rvt_block_count *whole = NULL;

	if (!first && count == block->insns)
		whole = count_of(counts, block);
	if (whole)
		whole->times += times;
	else if (!add(&counts->runs, &key, times))
		counts->failed = true;
}

void rvt_counts_runs(struct rvt_counts *counts)
{
	const struct rvt_run_note *log = counts->run_log, *end = log + counts->n_run_log;

	for (const struct rvt_run_note *note = log; note < end; note++)
		rvt_block_fetch(note->block);
	for (const struct rvt_run_note *note = log; note < end; note++)
		rvt_counts_fetch(counts, note->block);
	for (const struct rvt_run_note *note = log; note < end; note++)
		if (note->count == RVT_RUN_TAKEN)
			add_taken(counts, note->block, note->times);
		else
			add_run(counts, note->block, note->first, note->count, note->times);
	counts->n_run_log = 0;
}

/* Returns the address of instruction @insn of @block, or behind the last one. */
static uint64_t address(const struct rvt_code_block *block, uint32_t insn)
{
	uint64_t pc = block->pub.pc;

	if (insn == block->pub.insns)
		return pc + block->pub.bytes;
	for (uint32_t i = 0; i < insn; i++)
		pc += 2 * block->pub.halfwords[i];
	return pc;
}

/* Moves the log into its table. All slots that this needs are prefetched first. */
static void add_edges(struct rvt_counts *counts)
{
	const struct rvt_count *log = counts->edge_log, *end = log + counts->n_edge_log;
	struct rvt_count_table *t = &counts->edges;

	for (const struct rvt_count *e = log; e < end && t->size; e++)
		__builtin_prefetch(&t->slots[mix(e->a, e->b) & (t->size - 1)]);
	for (const struct rvt_count *e = log; e < end && t->size; e++)
		__builtin_prefetch(&t->counts[t->slots[mix(e->a, e->b) & (t->size - 1)]]);
	for (const struct rvt_count *e = log; e < end; e++)
		if (!add(t, e, e->times))
			counts->failed = true;
	counts->n_edge_log = 0;
}

static void add_edge(struct rvt_counts *counts, const struct rvt_code_block *block, uint32_t insn,
		     uint64_t to, int64_t times)
{
	uint32_t iclass = insn + 1 == block->pub.insns ? block->pub.iclass : RVT_INSN_SEQUENTIAL;
	uint64_t from = address(block, insn + 1) - 2 * block->pub.halfwords[insn];

	counts->edge_log[counts->n_edge_log++] = (struct rvt_count){
		.a = from, .b = to, .c = iclass, .times = times,
	};
	if (counts->n_edge_log == RVT_EDGE_LOG)
		add_edges(counts);
}

/* Moves what was driven out of .jumps to .edges. */
static void add_driven_out(struct rvt_counts *counts)
{
	for (uint32_t i = 0; i < counts->n_out_log; i++) {
		const struct rvt_jump_count *jump = &counts->out_log[i];

		/* Code that just goes on is no edge. That is looked up here, not each time. */
		if (jump->times && jump->to != jump->block->pub.pc + jump->block->pub.bytes)
			add_edge(counts, jump->block, jump->block->pub.insns - 1, jump->to,
				 jump->times);
	}
	counts->n_out_log = 0;
}

static void drive_out(struct rvt_counts *counts, const struct rvt_jump_count *jump)
{
	/* The block is in no cache, and there is time to fetch it. */
	rvt_block_fetch(jump->block);
	counts->out_log[counts->n_out_log++] = *jump;
	if (counts->n_out_log == RVT_OUT_LOG)
		add_driven_out(counts);
}

void rvt_counts_flush(struct rvt_counts *counts)
{
	rvt_counts_runs(counts);
	rvt_counts_jumps(counts);
	for (uint32_t i = 0; i < counts->n_jumps; i++) {
		struct rvt_jump_count *jump = &counts->jumps[counts->jumped[i]];

		drive_out(counts, jump);
		jump->block = NULL;
	}
	counts->n_jumps = 0;
	add_driven_out(counts);
	add_edges(counts);
}

static inline size_t jump_slot(const struct rvt_jump_count *jump)
{
	return mix((uintptr_t)jump->block >> 4, jump->to) & (RVT_JUMP_COUNTS - 1);
}

static void add_jump(struct rvt_counts *counts, const struct rvt_jump_count *new, uint16_t slot)
{
	struct rvt_jump_count *jump = &counts->jumps[slot];

	if (jump->block != new->block || jump->to != new->to) {
		if (jump->block)
			drive_out(counts, jump);
		else
			counts->jumped[counts->n_jumps++] = slot;
		*jump = (struct rvt_jump_count){ new->block, new->to, 0 };
	}
	jump->times += new->times;
}

/* Returns the slot where @jump is or goes, and prefetches it. */
static inline uint16_t fetch_slot(struct rvt_counts *counts, const struct rvt_jump_count *jump)
{
	const size_t slot = jump_slot(jump);

	__builtin_prefetch(&counts->jumps[slot], 1);
	return slot;
}

static void add_jumps(struct rvt_counts *counts, const struct rvt_jump_count *log,
		      const uint16_t *slots, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		add_jump(counts, &log[i], slots[i]);
}

static void add_returns(struct rvt_counts *counts)
{
	const struct rvt_return_note *log = counts->return_log;
	const uint32_t n = counts->n_return_log;
	struct rvt_jump_count jumps[RVT_RETURN_LOG];
	uint16_t slots[RVT_RETURN_LOG];

	for (uint32_t i = 0; i < n; i++)
		__builtin_prefetch(log[i].block);
	for (uint32_t i = 0; i < n; i++) {
		jumps[i] = (struct rvt_jump_count){ *log[i].block, log[i].to, log[i].times };
		slots[i] = fetch_slot(counts, &jumps[i]);
	}
	add_jumps(counts, jumps, slots, n);
	counts->n_return_log = 0;
}

void rvt_counts_jumps(struct rvt_counts *counts)
{
	uint16_t slots[RVT_JUMP_LOG];

	add_returns(counts);
	for (uint32_t i = 0; i < counts->n_jump_log; i++)
		slots[i] = fetch_slot(counts, &counts->jump_log[i]);
	add_jumps(counts, counts->jump_log, slots, counts->n_jump_log);
	counts->n_jump_log = 0;
}

/* Returns whether the edge from the end of @block to @to is that of a direct jump or branch. */
static bool is_taken(const struct rvt_code_block *block, uint64_t to)
{
	return to == block->pub.target && block->end >= RVT_END_BRANCH &&
	       block->end <= RVT_END_CALL && to != block->pub.pc + block->pub.bytes;
}

void rvt_counts_edge(struct rvt_counts *counts, const struct rvt_code_block *block, uint32_t insn,
		     uint64_t to, int64_t times)
{
	if (insn + 1 < block->pub.insns) {
		if (to != address(block, insn + 1))
			add_edge(counts, block, insn, to, times);
	} else if (is_taken(block, to)) {
		rvt_counts_run(counts, block, 0, RVT_RUN_TAKEN, times);
	} else {
		rvt_counts_jump(counts, block, to, times);
	}
}

void rvt_counts_leave(struct rvt_counts *counts, uint64_t pc)
{
	const struct rvt_code_block *block = counts->last;
	uint32_t insn = counts->last_insn;
	bool has_last = counts->has_last;

	rvt_counts_break(counts);
	if (!has_last || pc == address(block, insn + 1))
		return;
	counts->left = (struct rvt_count){
		.a = address(block, insn), .b = pc, .times = 1,
		.c = insn + 1 == block->pub.insns ? block->pub.iclass : RVT_INSN_SEQUENTIAL,
	};
}

void rvt_counts_break(struct rvt_counts *counts)
{
	if (counts->has_last && counts->ahead)
		rvt_counts_edge(counts, counts->last, counts->last_insn, counts->ahead_pc, -1);
	counts->has_last = false;
	counts->ahead = false;
	counts->left.times = 0;
}

void rvt_counts_arrive(struct rvt_counts *counts, uint64_t pc)
{
	if (!counts->has_last || (counts->ahead && counts->ahead_pc == pc))
		return;
	if (counts->ahead)
		rvt_counts_edge(counts, counts->last, counts->last_insn, counts->ahead_pc, -1);
	rvt_counts_edge(counts, counts->last, counts->last_insn, pc, 1);
}

/* Counts @block, all of which was executed, and the edge to @to. */
static void add_whole(struct rvt_counts *counts, const struct rvt_code_block *block, uint64_t to,
		      int64_t times)
{
	add_run(counts, block, 0, block->insns, times);
	if (is_taken(block, to))
		add_taken(counts, block, times);
	else
		rvt_counts_edge(counts, block, block->insns - 1, to, times);
}

void rvt_counts_path(struct rvt_counts *counts, const struct rvt_run *runs, unsigned int n,
		     uint64_t times)
{
	for (unsigned int i = 0; i < n; i++) {
		const struct rvt_code_block *block = rvt_block_of(&runs[i]);

		if (i + 1 < n)
			add_whole(counts, block, runs[i + 1].block->pc, times);
		else
			add_run(counts, block, 0, runs[i].count, times);
	}
}

/* Counts one run of a walk, at @pc. */
void rvt_flow_count_run(struct rvt_flow *flow, const struct rvt_code_block *block, uint32_t first,
			uint32_t count)
{
	struct rvt_counts *counts = flow->base.counts;

	rvt_counts_begin(counts, address(block, first));
	rvt_counts_run(counts, block, first, count, 1);
	counts->has_last = true;
	counts->ahead = false;
	counts->last = block;
	counts->last_insn = first + count - 1;
}

void rvt_counts_clear(struct rvt_counts *counts)
{
	table_clear(&counts->runs);
	table_clear(&counts->edges);
}

void rvt_counts_forget_blocks(struct rvt_counts *counts)
{
	if (!counts->has_last)
		return;
	rvt_block_keep_insn(&counts->kept, counts->last, counts->last_insn);
	counts->last = &counts->kept.block;
	counts->last_insn = 0;
}
