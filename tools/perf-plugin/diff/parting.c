// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Finds where threads of two recordings part. It compares the sequences of transfers of each
 * thread, by addresses in files: interrupts, and where a program is loaded, make no difference. The
 * first pass keeps a hash of each chunk of a sequence. The second pass looks only at the first
 * chunk that differs: it keeps that of A, and compares B with it during decoding.
 */
#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include "diff/diff.h"
#include "util/array.h"

#define CHUNK 4096	/* transfers */
#define PRIME 0x100000001b3ULL	/* of FNV-1a */
#define BASIS 0xcbf29ce484222325ULL

struct thread {
	int32_t tid;		/* first: key of the tree, with .life */
	uint32_t life;
	const char *comm;
	unsigned int number;	/* among threads of its name, from 1 on */
	uint64_t steps, hash;
	uint64_t *chunks;	/* the hash after each complete chunk */
	size_t n_chunks;
	/* second pass */
	struct diff_parting *parting;	/* NULL: does not part, or is in one recording only */
	struct thread *other;	/* of a thread in B: the thread in A */
	uint64_t from, at;	/* .from: where to compare; .at: transfers so far */
	struct diff_step *kept;	/* transfers of A from there on */
	size_t n_kept;
	bool parted;
};

struct walk {
	struct diff *diff;
	struct diff_side *side;
	bool second, is_b;
	void *threads;		/* tsearch tree */
	struct thread **list;
	size_t n;
	struct thread *last;
};

static int compare_threads(const void *a, const void *b)
{
	const struct thread *x = a, *y = b;

	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	return x->life < y->life ? -1 : x->life > y->life;
}

static struct thread *add_thread(struct walk *walk, const struct thread *key)
{
	struct thread **found = tfind(key, &walk->threads, compare_threads), *thread;

	if (found)
		return *found;
	thread = calloc(1, sizeof(*thread));
	if (!thread || array_grow(&walk->list, walk->n)) {
		free(thread);
		return NULL;
	}
	*thread = *key;
	thread->number = 1;
	thread->hash = BASIS;
	for (size_t i = 0; i < walk->n; i++)
		thread->number += !strcmp(walk->list[i]->comm, thread->comm);
	if (!tsearch(thread, &walk->threads, compare_threads)) {
		free(thread);
		return NULL;
	}
	return walk->list[walk->n++] = thread;
}

static struct thread *get_thread(struct walk *walk, const struct rvt_hart_flow *hart)
{
	struct thread key = { .tid = hart->task ? hart->task->tid : -2 - hart->cpu,
			      .life = hart->task ? hart->task->life : 0 };

	if (walk->last && !compare_threads(walk->last, &key))
		return walk->last;
	key.comm = places_comm(walk->side->places, hart);
	return walk->last = add_thread(walk, &key);
}

static const char *base_name(const char *path)
{
	const char *base = strrchr(path, '/');

	return base ? base + 1 : path;
}

static uint64_t add_name(uint64_t hash, const char *name)
{
	for (; *name; name++)
		hash = (hash ^ (uint8_t)*name) * PRIME;
	return hash;
}

/*
 * Returns whether the place is in no file, and so has a different address each time: functions
 * identify such places.
 */
static bool is_moved(const struct place *place)
{
	return !place->path && place->symbol;
}

static uint64_t add_place(uint64_t hash, const struct place *place)
{
	hash = add_name(hash, is_moved(place) ? place->symbol : base_name(place->dso));
	return (hash ^ (is_moved(place) ? place->offset : place->vaddr)) * PRIME;
}

static bool same_place(const struct place *a, const struct place *b)
{
	if (is_moved(a) && is_moved(b))
		return a->offset == b->offset && !strcmp(a->symbol, b->symbol);
	return a->vaddr == b->vaddr && !strcmp(base_name(a->dso), base_name(b->dso));
}

static bool same_step(const struct diff_step *a, const struct diff_step *b)
{
	return same_place(&a->from, &b->from) && same_place(&a->to, &b->to);
}

static struct diff_step get_step(struct walk *walk, struct rvt_hart_flow *hart,
				 const struct rvt_transfer *transfer)
{
	struct diff_step step;

	step.from = *places_find(walk->side->places, hart->space, transfer->from);
	step.to = *places_find(walk->side->places, hart->space, transfer->to);
	return step;
}

/* ---- first pass ---- */

static int note_step(struct walk *walk, struct thread *thread, const struct diff_step *step)
{
	(void)walk;
	thread->hash = add_place(add_place(thread->hash, &step->from), &step->to);
	if (++thread->steps % CHUNK)
		return 0;
	if (array_grow(&thread->chunks, thread->n_chunks))
		return -ENOMEM;
	thread->chunks[thread->n_chunks++] = thread->hash;
	return 0;
}

/* ---- second pass ---- */

static int keep_stack(struct walk *walk, struct rvt_hart_flow *hart,
		      const struct rvt_transfer *transfer, struct rvt_callstack *stack,
		      struct diff_parting *parting)
{
	size_t depth = stack ? rvt_callstack_depth(stack) : 0;
	uint64_t pc = transfer->from;

	parting->stack = calloc(depth + 1, sizeof(*parting->stack));
	if (!parting->stack)
		return -ENOMEM;
	for (size_t i = 0; i <= depth; i++) {
		const struct place *place = places_find(walk->side->places, hart->space, pc);

		parting->stack[parting->n_stack++] = place->symbol ? place->symbol : "[unknown]";
		if (i < depth)
			pc = rvt_callstack_frame(stack, i)->from;
	}
	return 0;
}

static int keep_step(struct thread *thread, const struct diff_step *step)
{
	if (array_grow(&thread->kept, thread->n_kept))
		return -ENOMEM;
	thread->kept[thread->n_kept++] = *step;
	return 0;
}

static int compare_step(struct walk *walk, struct rvt_hart_flow *hart,
			const struct rvt_transfer *transfer, struct rvt_callstack *stack,
			struct thread *thread, const struct diff_step *step)
{
	uint64_t i = thread->at - thread->from;
	struct diff_parting *parting = thread->parting;
	const struct thread *a = thread->other;

	if (thread->parted)
		return 0;
	if (i < a->n_kept && same_step(&a->kept[i], step)) {
		parting->before = *step;
		return 0;
	}
	thread->parted = true;
	parting->same = thread->at;
	parting->after[DIFF_B] = *step;
	parting->ended[DIFF_A] = i >= a->n_kept;
	if (i < a->n_kept)
		parting->after[DIFF_A] = a->kept[i];
	return keep_stack(walk, hart, transfer, stack, parting);
}

static int look_at_step(struct walk *walk, struct rvt_hart_flow *hart,
			const struct rvt_transfer *transfer, struct rvt_callstack *stack,
			struct thread *thread)
{
	uint64_t until = thread->from + 2 * CHUNK;
	struct diff_step step;
	int err;

	/* also compares the last transfer that is the same */
	if (!thread->parting || thread->at + 1 < thread->from || thread->at >= until) {
		thread->at++;
		return 0;
	}
	step = get_step(walk, hart, transfer);
	if (thread->at < thread->from) {
		if (walk->is_b)
			thread->parting->before = step;
		err = 0;
	} else {
		err = walk->is_b ? compare_step(walk, hart, transfer, stack, thread, &step) :
			keep_step(thread, &step);
	}
	thread->at++;
	return err;
}

static int take_transfer(void *ctx, struct rvt_hart_flow *hart,
			 const struct rvt_transfer *transfer, struct rvt_callstack *stack)
{
	struct walk *walk = ctx;
	const char *dsos = walk->diff->options->dsos;
	struct diff_step step;
	struct thread *thread;

	if (transfer->kind > RVT_TRANSFER_RETURN || (int64_t)transfer->from < 0 ||
	    (int64_t)transfer->to < 0 ||
	    (dsos && !view_in_files(dsos, places_find(walk->side->places, hart->space,
						      transfer->from)->dso)))
		return 0;
	thread = get_thread(walk, hart);
	if (!thread)
		return -ENOMEM;
	if (walk->second)
		return look_at_step(walk, hart, transfer, stack, thread);
	step = get_step(walk, hart, transfer);
	return note_step(walk, thread, &step);
}

static int take_line(void *ctx, struct rvt_hart_flow *hart, const struct rvt_straight_line *line,
		     struct rvt_callstack *stack)
{
	struct walk *walk = ctx;

	return walk->second ? 0 : contexts_line(&walk->side->contexts, hart, line, stack);
}

static int take_after(void *ctx, struct rvt_hart_flow *hart, const struct rvt_transfer *transfer,
		      struct rvt_callstack *stack, size_t ended)
{
	struct walk *walk = ctx;

	return walk->second ? 0 :
	       contexts_after(&walk->side->contexts, hart, transfer, stack, ended);
}

static int decode(struct walk *walk)
{
	const struct rvt_transfers_ops ops = { .size = sizeof(ops), .ctx = walk, .line = take_line,
		.transfer = take_transfer, .after = take_after };
	struct rvt_session_sink sink = { .size = sizeof(sink), .warning = view_warning };
	struct transfers *transfers = transfers_create(&ops, walk->side->view, MAX_CALL_DEPTH);
	int err;

	if (!transfers)
		return -ENOMEM;
	view_forget(walk->side->view);
	transfers_sink(transfers, &sink);
	err = view_run(walk->side->view, &sink, false);
	if (!walk->second)
		walk->side->errors = transfers_lost(transfers);
	transfers_destroy(transfers);
	return err;
}

/* ---- both ---- */

static struct thread *find_other(const struct walk *a, const struct thread *like)
{
	for (size_t i = 0; i < a->n; i++)
		if (!strcmp(a->list[i]->comm, like->comm) && a->list[i]->number == like->number)
			return a->list[i];
	return NULL;
}

static bool is_same(const struct thread *a, const struct thread *b)
{
	return a->steps == b->steps && a->hash == b->hash;
}

/* Finds the threads that differ, and the first chunk of each that does. */
static int find_chunks(struct diff *diff, struct walk *a, struct walk *b)
{
	diff->partings = calloc(b->n + 1, sizeof(*diff->partings));
	if (!diff->partings)
		return -ENOMEM;
	for (size_t i = 0; i < b->n; i++) {
		struct thread *thread = b->list[i], *other = find_other(a, thread);
		size_t chunk = 0;

		if (!other)
			continue;
		diff->threads++;
		if (is_same(thread, other))
			continue;
		while (chunk < thread->n_chunks && chunk < other->n_chunks &&
		       thread->chunks[chunk] == other->chunks[chunk])
			chunk++;
		thread->other = other;
		thread->from = other->from = chunk * CHUNK;
		thread->parting = other->parting = &diff->partings[diff->n_partings++];
		*thread->parting = (struct diff_parting){ .comm = thread->comm,
							  .number = thread->number };
	}
	return 0;
}

/* Ends the threads that end in B before they part. */
static void end_partings(struct walk *b)
{
	for (size_t i = 0; i < b->n; i++) {
		struct thread *thread = b->list[i];
		uint64_t at = thread->at > thread->from ? thread->at - thread->from : 0;

		if (!thread->parting || thread->parted)
			continue;
		thread->parting->same = thread->at;
		thread->parting->ended[DIFF_B] = true;
		thread->parting->ended[DIFF_A] = at >= thread->other->n_kept;
		if (at < thread->other->n_kept)
			thread->parting->after[DIFF_A] = thread->other->kept[at];
	}
}

static void free_thread(void *data)
{
	struct thread *thread = data;

	free(thread->chunks);
	free(thread->kept);
	free(thread);
}

static void end_walk(struct walk *walk)
{
	tdestroy(walk->threads, free_thread);
	free(walk->list);
}

int diff_partings(struct diff *diff)
{
	struct walk a = { .diff = diff, .side = &diff->side[DIFF_A] };
	struct walk b = { .diff = diff, .side = &diff->side[DIFF_B], .is_b = true };
	int err = decode(&a);

	if (!err)
		err = decode(&b);
	if (!err)
		err = find_chunks(diff, &a, &b);
	if (!err && diff->n_partings && !view_interrupted(a.side->view) &&
	    !view_interrupted(b.side->view)) {
		a.second = b.second = true;
		err = decode(&a);
		if (!err)
			err = decode(&b);
		end_partings(&b);
	}
	end_walk(&a);
	end_walk(&b);
	return err;
}
