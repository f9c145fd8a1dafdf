// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include "util/array.h"
#include "report/rows.h"

#define SLOT_BITS 16
#define SLOTS (1 << SLOT_BITS)
#define UNKNOWN "[unknown]"

/* The row that a block in a space belongs to, when this task runs it. */
struct row_slot {
	uint64_t pc, generation;
	const struct rvt_space *space;
	const char *comm;
	int32_t tid, cpu;
	uint32_t insns;
	bool used;
	bool at_start;		/* the block begins a function */
	struct row *row;	/* NULL: the block is part of several functions */
};

/* ---- making and finding ---- */

struct rows *rows_create(struct view *view, unsigned int keys, struct srclines *srclines)
{
	struct rows *rows = calloc(1, sizeof(*rows));

	if (!rows)
		return NULL;
	*rows = (struct rows){ .view = view, .keys = keys, .srclines = srclines };
	rows->places = places_create(view_session(view));
	rows->slots = calloc(SLOTS, sizeof(*rows->slots));
	if (!rows->places || !rows->slots) {
		rows_destroy(rows);
		return NULL;
	}
	return rows;
}

static void no_free(void *row)
{
	(void)row;
}

void rows_destroy(struct rows *rows)
{
	struct rows *next;

	for (; rows; rows = next) {
		next = rows->next;
		tdestroy(rows->tree, no_free);
		for (size_t i = 0; i < rows->n; i++)
			free(rows->list[i]);
		free(rows->list);
		free(rows->slots);
		places_destroy(rows->places);
		free(rows);
	}
}

void *rows_open(void *ctx)
{
	struct rows *all = ctx;
	struct rows *rows = rows_create(all->view, all->keys, all->srclines);

	if (rows) {
		rows->next = all->next;
		all->next = rows;
	}
	return rows;
}

static int compare_names(const char *a, const char *b)
{
	return a == b ? 0 : !a ? -1 : !b ? 1 : strcmp(a, b);
}

int rows_compare(const void *a, const void *b)
{
	const struct row *x = a, *y = b;
	int order = compare_names(x->symbol, y->symbol);

	if (!order)
		order = compare_names(x->comm, y->comm);
	if (!order)
		order = compare_names(x->dso, y->dso);
	if (!order)
		order = compare_names(x->file, y->file);
	if (!order)
		order = (x->line > y->line) - (x->line < y->line);
	if (!order)
		order = (x->pid > y->pid) - (x->pid < y->pid);
	if (!order)
		order = (x->tid > y->tid) - (x->tid < y->tid);
	if (!order)
		order = (x->cpu > y->cpu) - (x->cpu < y->cpu);
	return order ? order : x->privilege - y->privilege;
}

/* Finds or makes the row with the names and numbers of @key. NULL: out of memory. */
static struct row *find_row(struct rows *rows, const struct row *key)
{
	struct row **found = tfind(key, &rows->tree, rows_compare), *row;

	if (found)
		return *found;
	if (array_grow(&rows->list, rows->n))
		return NULL;
	row = malloc(sizeof(*row));
	if (!row)
		return NULL;
	*row = *key;
	if (!tsearch(row, &rows->tree, rows_compare)) {
		free(row);
		return NULL;
	}
	return rows->list[rows->n++] = row;
}

/* Returns the name for the rows; NULL when rows are not told apart by it. */
static const char *row_comm(const struct rows *rows, const struct rvt_hart_flow *hart)
{
	return rows->keys & 1u << SORT_COMM ? places_comm(rows->places, hart) : NULL;
}

/* The row of what is at @pc, which is @place, by the thread on @hart, whose name is @comm. */
static struct row *get_row(struct rows *rows, const struct rvt_hart_flow *hart, uint64_t pc,
			   const struct place *place, const char *comm)
{
	struct row key = { .comm = comm, .pid = -1, .tid = -1, .cpu = -1 };

	if (rows->keys & 1u << SORT_PID)
		key.pid = hart->task ? hart->task->pid : -1;
	if (rows->keys & 1u << SORT_TID)
		key.tid = hart->task ? hart->task->tid : -1;
	if (rows->keys & 1u << SORT_CPU)
		key.cpu = hart->cpu;
	if (rows->keys & 1u << SORT_DSO)
		key.dso = place->dso;
	if (rows->keys & 1u << SORT_SYM) {
		key.symbol = place->symbol ? place->symbol : UNKNOWN;
		key.privilege = (int64_t)pc < 0 ? 'k' : 'u';
	}
	if (rows->srclines && !srclines_find(rows->srclines, place, &key.file, &key.line))
		key.file = UNKNOWN;
	if (key.file)
		key.file = places_keep(rows->places, key.file);
	return find_row(rows, &key);
}

/* ---- counting ---- */

static uint64_t pc_of(const struct rvt_block *block, uint32_t insn)
{
	uint64_t pc = block->pc;

	for (uint32_t i = 0; i < insn; i++)
		pc += 2 * block->halfwords[i];
	return pc;
}

/* Counts instruction by instruction, for a block in which a function ends. */
static int count_each(struct rows *rows, const struct rvt_hart_flow *hart,
		      const struct rvt_run *run, bool at_start, uint64_t times)
{
	const char *comm = row_comm(rows, hart);
	uint64_t pc = pc_of(run->block, run->first);

	for (uint32_t i = run->first; i < run->first + run->count; i++) {
		const struct place *place = places_find(rows->places, hart->space, pc);
		struct row *row = get_row(rows, hart, pc, place, comm);

		if (!row)
			return -ENOMEM;
		row->insns += times;
		if (!i && run->block->insns && at_start)
			row->calls += times;
		if (i + 1 == run->block->insns && run->block->iclass != RVT_INSN_SEQUENTIAL)
			row->branches += times;
		pc += 2 * run->block->halfwords[i];
	}
	return 0;
}

/* Keys for which rows tell threads apart. */
#define BY_THREAD (1u << SORT_PID | 1u << SORT_TID)

static struct row_slot *find_slot(struct rows *rows, const struct rvt_hart_flow *hart,
				  const struct rvt_block *block)
{
	const struct rvt_space *space = hart->space ? rvt_space_holder(hart->space, block->pc) :
				  NULL;
	const char *comm = row_comm(rows, hart);
	int32_t tid = hart->task && rows->keys & BY_THREAD ? hart->task->tid : -1;
	int32_t cpu = rows->keys & 1u << SORT_CPU ? hart->cpu : -1;
	uint64_t generation = space ? rvt_space_generation(space) : 0;
	uint64_t hash = (block->pc >> 1 ^ (uintptr_t)space >> 4 ^ (uint64_t)tid << 40 ^
			 (uintptr_t)comm << 20) * 0x9e3779b97f4a7c15ULL;
	struct row_slot *slot = &rows->slots[hash >> (64 - SLOT_BITS)];
	const struct place *place;

	if (slot->used && slot->space == space && slot->pc == block->pc && slot->tid == tid &&
	    slot->comm == comm && slot->generation == generation && slot->cpu == cpu &&
	    slot->insns == block->insns)
		return slot;
	place = places_find(rows->places, hart->space, block->pc);
	*slot = (struct row_slot){ .used = true, .pc = block->pc, .generation = generation,
		.space = space, .comm = comm, .tid = tid, .cpu = cpu,
		.insns = block->insns };
	slot->at_start = place->symbol && place->start == block->pc;
	if (!rows->srclines && (!place->symbol || block->pc + block->bytes <= place->end))
		slot->row = get_row(rows, hart, block->pc, place, comm);
	return slot;
}

static int count_wanted(struct rows *rows, struct rvt_hart_flow *hart, const struct rvt_run *run,
			uint64_t times)
{
	const struct rvt_block *block = run->block;
	struct row_slot *slot = find_slot(rows, hart, block);

	view_note_run(rows->view, hart, run, times);
	rows->insns += times * run->count;
	if (!slot->row)
		return count_each(rows, hart, run, slot->at_start, times);
	slot->row->insns += times * run->count;
	if (slot->at_start && !run->first)
		slot->row->calls += times;
	if (run->first + run->count == block->insns && block->iclass != RVT_INSN_SEQUENTIAL)
		slot->row->branches += times;
	return 0;
}

int rows_count_run(void *ctx, struct rvt_hart_flow *hart, const struct rvt_run *run, uint64_t times)
{
	struct rows *rows = ctx;

	return view_wants(rows->view, hart) ? count_wanted(rows, hart, run, times) : 0;
}

int rows_count_runs(void *ctx, struct rvt_hart_flow *hart, const struct rvt_run *runs, size_t n)
{
	struct rows *rows = ctx;
	uint64_t told = 0;
	int err = 0;

	for (size_t i = 0; i < n && !err; i++) {
		hart->time = rvt_hart_time(hart, told);
		told += runs[i].count;
		if (view_wants(rows->view, hart))
			err = count_wanted(rows, hart, &runs[i], 1);
	}
	return err;
}

int rows_event(void *ctx, struct rvt_hart_flow *hart, const struct rvt_event *event)
{
	struct rows *rows = ctx;

	if (event->type != RVT_EVENT_LOST)
		return 0;
	view_lost(rows->view, hart, event);
	rows->errors += view_wants(rows->view, hart);
	return 0;
}

static void forget_counts(struct rows *rows)
{
	for (size_t i = 0; i < rows->n; i++)
		rows->list[i]->insns = rows->list[i]->calls = rows->list[i]->branches = 0;
	rows->insns = rows->errors = 0;
}

void rows_forget(void *ctx)
{
	struct rows *all = ctx;

	for (struct rows *rows = all; rows; rows = rows->next) {
		forget_counts(rows);
		memset(rows->slots, 0, SLOTS * sizeof(*rows->slots));
	}
	view_forget(all->view);
}

int rows_join(struct rows *rows)
{
	for (struct rows *other = rows->next; other; other = other->next) {
		for (size_t i = 0; i < other->n; i++) {
			const struct row *from = other->list[i];
			struct row key = *from, *to;

			key.insns = key.calls = key.branches = 0;
			to = find_row(rows, &key);
			if (!to)
				return -ENOMEM;
			to->insns += from->insns;
			to->calls += from->calls;
			to->branches += from->branches;
		}
		rows->insns += other->insns;
		rows->errors += other->errors;
		forget_counts(other);
	}
	return 0;
}
