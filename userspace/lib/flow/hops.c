// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Hops: their memory, and how one is made.
 */
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include "flow/hops.h"

/* ---- memory ---- */

#define FIRST_INDEX (1u << 14)
/* Of a path, in 8 bytes. */
#define MAX_PATH ((sizeof(struct rvt_hop_path) / 8) + RVT_HOP_PUSHES + 2 * RVT_HOP_RUNS)

static void begin(struct rvt_hops *hops)
{
	/* 0 stands for none */
	hops->n_places = 1;
	hops->n_hops = 1;
	hops->index_mask = FIRST_INDEX - 1;
}

struct rvt_hops *rvt_hops_create(void)
{
	struct rvt_hops *hops = rvt_table_map(sizeof(*hops));

	if (!hops)
		return NULL;
	/* Used from the beginning on, but in any order. */
	madvise(hops->hops, sizeof(hops->hops), MADV_HUGEPAGE);
	begin(hops);
	return hops;
}

void rvt_hops_destroy(struct rvt_hops *hops)
{
	if (hops)
		munmap(hops, sizeof(*hops));
}

void rvt_hops_reset(struct rvt_hops *hops, uint32_t flags)
{
	/* Pages of zeros instead. */
	madvise(hops, sizeof(*hops), MADV_DONTNEED);
	begin(hops);
	hops->flags = flags;
}

static bool has_room_for_place(const struct rvt_hops *hops)
{
	return hops->n_places < RVT_PLACES - 1 && hops->n_slots < RVT_PLACE_SLOTS / 4 * 3;
}

bool rvt_hops_have_room(const struct rvt_hops *hops)
{
	return has_room_for_place(hops) && hops->n_hops < RVT_HOPS &&
	       hops->n_index < RVT_HOP_INDEX_MAX / 2 &&
	       RVT_HOP_PATH_BYTES / 8 - hops->n_path >= MAX_PATH;
}

static struct rvt_place_slot *find_slot(struct rvt_hops *hops, struct rvt_code_block *block)
{
	uint64_t mix = ((uintptr_t)block >> 4) * 0x9e3779b97f4a7c15ull;
	size_t i = mix >> 40 & (RVT_PLACE_SLOTS - 1);

	while (hops->slots[i].block && hops->slots[i].block != block)
		i = (i + 1) & (RVT_PLACE_SLOTS - 1);
	return &hops->slots[i];
}

static uint32_t make_place(struct rvt_hops *hops, struct rvt_place_slot *slot)
{
	slot->place = hops->n_places++;
	rvt_table_grows(hops, sizeof(*hops), hops->n_places);
	hops->blocks[slot->place] = slot->block;
	return slot->place;
}

uint32_t rvt_hops_place(struct rvt_hops *hops, struct rvt_code_block *block)
{
	struct rvt_place_slot *slot = find_slot(hops, block);

	if (slot->place)
		return slot->place;
	if (!has_room_for_place(hops))
		return 0;
	if (slot->block)
		return make_place(hops, slot);
	slot->block = block;
	hops->n_slots++;
	return 0;
}

uint32_t rvt_hops_make_place(struct rvt_hops *hops, struct rvt_code_block *block)
{
	uint32_t place = rvt_hops_place(hops, block);

	return place ? place : make_place(hops, find_slot(hops, block));
}

/* ---- making one ---- */

struct builder {
	struct rvt_hop *hop;
	struct rvt_hop_path *path;
	const struct rvt_hop_order *order;
	uint32_t key;		/* outcomes left, with their stop bit */
	uint8_t depth;		/* calls of the hop that have not returned */
	uint64_t pushes[RVT_HOP_PUSHES];	/* these calls */
	struct rvt_run runs[RVT_HOP_RUNS];
};

static bool has_outcome(const struct builder *p)
{
	return p->key > 1;
}

static void cover(struct rvt_hop_path *path, const struct rvt_code_block *b)
{
	uint64_t high = b->pub.pc + b->pub.bytes - 1;

	if (b->pub.pc < path->low)
		path->low = b->pub.pc;
	if (high > path->high)
		path->high = high;
}

static void add_run(struct builder *p, struct rvt_code_block *b)
{
	struct rvt_hop *hop = p->hop;

	p->runs[hop->n_runs++] = (struct rvt_run){ &b->pub, 0, b->insns };
	hop->insns += b->insns;
	hop->halfwords += b->halfwords;
	p->path->last = b;
	cover(p->path, b);
}

/*
 * Whether nothing but the return stack and messages can tell where the indirect jump at the end of
 * @b goes. *alone: what was executed before the hop decides.
 */
static bool is_free(const struct builder *p, const struct rvt_code_block *b, bool *alone)
{
	if (!(p->order->flags & RVT_RUN_SEQUENTIAL_JUMP))
		return true;
	/* What was executed just before decides; at the beginning of the hop that is not known. */
	*alone = b->pub.insns == 1 && !p->path->last;
	return !b->sequential && !(b->pub.insns == 1 && p->path->last &&
				   p->path->last->end == RVT_END_FALL);
}

/* Whether a return at the end of @b goes to what is on top of the return stack. */
static bool returns_implicitly(const struct builder *p, const struct rvt_code_block *b)
{
	bool alone = false;

	if (!(p->order->flags & RVT_RUN_IMPLICIT_RETURN) ||
	    p->order->flags & RVT_RUN_STOP_RETURN || !p->depth || !is_free(p, b, &alone))
		return false;
	return !alone;
}

/* Whether an indirect jump at the end of @b goes where the instruction before it says. */
static bool jumps_sequentially(const struct builder *p, const struct rvt_code_block *b)
{
	return p->order->flags & RVT_RUN_SEQUENTIAL_JUMP && b->sequential &&
	       (b->end == RVT_END_INDIRECT || b->end == RVT_END_IND_CALL);
}

static bool push(struct builder *p, const struct rvt_code_block *b)
{
	if (p->depth == RVT_HOP_PUSHES)
		return false;
	p->pushes[p->depth++] = b->end_pc;
	if (p->depth > p->path->nesting)
		p->path->nesting = p->depth;
	return true;
}

/*
 * How the hop goes on from @b: false if it must end before @b. Sets *taken and *pc, the address
 * that follows.
 */
static bool go_on(struct builder *p, const struct rvt_code_block *b, bool *taken, uint64_t *pc)
{
	bool jump = b->end == RVT_END_JUMP || b->end == RVT_END_CALL;
	bool outcome = b->end == RVT_END_BRANCH ||
		       (jump && p->order->flags & RVT_RUN_ALL_JUMPS);
	struct rvt_hop *hop = p->hop;

	*taken = jump;
	if (outcome) {
		if (!has_outcome(p))
			return false;
		*taken = p->key & 1;
		if (jump && !*taken)
			return false;
	}
	*pc = *taken ? b->pub.target : b->end_pc;
	if (b->end == RVT_END_CALL) {
		if (!push(p, b))
			return false;
	} else if (jumps_sequentially(p, b)) {
		if (b->end == RVT_END_IND_CALL && !push(p, b))
			return false;
		hop->indirect++;
		*pc = b->sequential_target;
	} else if (b->end == RVT_END_RETURN && returns_implicitly(p, b)) {
		hop->returns++;
		hop->indirect++;
		*pc = p->pushes[--p->depth];
	} else if (b->end > RVT_END_CALL) {
		return false;
	}
	if (outcome) {
		p->key >>= 1;
		hop->used++;
		hop->branches += b->end == RVT_END_BRANCH;
		hop->taken += b->end == RVT_END_BRANCH && *taken;
	}
	return true;
}

/* Whether the hop may end behind the indirect jump at the end of @b. */
static bool leaves(const struct builder *p, const struct rvt_code_block *b)
{
	bool alone = false;

	if (b->end < RVT_END_INDIRECT || b->end > RVT_END_RETURN || b->end == RVT_END_COROUTINE ||
	    !is_free(p, b, &alone) || p->hop->n_runs == RVT_HOP_RUNS)
		return false;
	if (alone)
		p->hop->flags |= RVT_HOP_ALONE;
	if (b->end == RVT_END_RETURN && p->order->flags & RVT_RUN_IMPLICIT_RETURN &&
	    !(p->order->flags & RVT_RUN_STOP_RETURN))
		p->hop->flags |= RVT_HOP_RETURNS;
	return true;
}

static void lower(_Atomic(uint64_t) *bound, uint64_t value)
{
	uint64_t old = atomic_load_explicit(bound, memory_order_relaxed);

	while (value < old && !atomic_compare_exchange_weak(bound, &old, value))
		;
}

static void raise(_Atomic(uint64_t) *bound, uint64_t value)
{
	uint64_t old = atomic_load_explicit(bound, memory_order_relaxed);

	while (value > old && !atomic_compare_exchange_weak(bound, &old, value))
		;
}

static bool may_go_on(const struct builder *p, const struct rvt_code_block *b,
		      const struct rvt_view *view)
{
	return b && b->view == view && p->hop->n_runs < RVT_HOP_RUNS &&
	       (has_outcome(p) || p->order->tail);
}

/* The blocks of the hop. Returns the one behind it, if that is in the same view. */
static struct rvt_code_block *follow(struct builder *p, struct rvt_code_block *b)
{
	const struct rvt_hop_order *order = p->order;
	struct rvt_view *view = b->view;
	uint64_t pc;
	bool taken;

	p->path->end_pc = b->pub.pc;
	while (may_go_on(p, b, view) && go_on(p, b, &taken, &pc)) {
		add_run(p, b);
		b = order->next(order->ctx, b, taken, pc);
		p->path->end_pc = pc;
	}
	return b && b->view == view ? b : NULL;
}

/* The rest of a hop with its path. */
static void keep(struct rvt_hops *hops, const struct builder *p)
{
	struct rvt_hop_path *path = p->path;

	path->n_pushes = p->depth;
	memcpy(rvt_hop_pushes(path), p->pushes, p->depth * sizeof(p->pushes[0]));
	memcpy(rvt_hop_runs(path), p->runs, p->hop->n_runs * sizeof(p->runs[0]));
	hops->n_path += sizeof(*path) / 8 + p->depth + 2 * p->hop->n_runs;
}

/* Makes @hop, or RVT_HOP_NONE. */
static void build(struct rvt_hops *hops, struct rvt_hop *hop, const struct rvt_hop_order *order)
{
	struct rvt_hop_path *path = (struct rvt_hop_path *)(hops->paths + 8 * (size_t)hops->n_path);
	struct builder p = { .hop = hop, .path = path, .order = order, .key = order->key };
	struct rvt_code_block *first = hops->blocks[hop->place], *b;

	*path = (struct rvt_hop_path){ .low = UINT64_MAX };
	b = follow(&p, first);
	if (b && (has_outcome(&p) || order->tail) && leaves(&p, b)) {
		add_run(&p, b);
		hop->flags |= RVT_HOP_LEAVES;
		b = NULL;
	} else if (b ? order->tail || !hop->used : !path->last) {
		/* Nothing is gained, or it does not end where the order does, or the view. */
		hop->flags = RVT_HOP_NONE;
		return;
	}
	if (b)
		cover(path, b);
	if (rvt_half(path->low) != rvt_half(path->high)) {
		hop->flags = RVT_HOP_NONE;
		return;
	}
	if (path->last->end == RVT_END_FALL)
		hop->flags |= RVT_HOP_FALLS;
	if (path->nesting)
		hop->flags |= RVT_HOP_CALLS;
	lower(&first->view->hops_low, path->low);
	raise(&first->view->hops_high, path->high);
	hop->next = b ? rvt_hops_make_place(hops, b) : 0;
	keep(hops, &p);
}

/* ---- learning ---- */

#define WHOLE (1u << RVT_HOP_OUTCOMES)

static void index_add(struct rvt_hops *hops, uint32_t place, uint32_t key, uint32_t number)
{
	const uint64_t hash = rvt_hop_hash(place, key);
	uint32_t i = hash >> 40 & hops->index_mask;

	while (hops->index[i])
		i = (i + 1) & hops->index_mask;
	hops->index[i] = ((uint32_t)(hash >> 8) & ~(RVT_HOPS - 1)) | number;
}

/*
 * Twice the index. Other keys of a hop than its own, see find_similar(), are forgotten, and will
 * be found out again.
 */
static void grow(struct rvt_hops *hops)
{
	memset(hops->index, 0, (hops->index_mask + 1) * sizeof(hops->index[0]));
	hops->index_mask = 2 * hops->index_mask + 1;
	for (uint32_t i = 1; i < hops->n_hops; i++)
		index_add(hops, hops->hops[i].place, hops->hops[i].key, i);
	hops->n_index = hops->n_hops - 1;
}

static void index_hop(struct rvt_hops *hops, uint32_t place, uint32_t key, uint32_t number)
{
	if (2 * hops->n_index > hops->index_mask)
		grow(hops);
	index_add(hops, place, key, number);
	hops->n_index++;
}

/*
 * What outcomes mean that a hop does not use up is no matter: it is the same for any. Such a hop
 * has zeros there for its own key.
 */
static struct rvt_hop *find_similar(struct rvt_hops *hops, uint32_t place, uint32_t key)
{
	for (unsigned int used = 0; used < RVT_HOP_OUTCOMES && key >= WHOLE; used++) {
		uint32_t own = WHOLE | (key & ((1u << used) - 1));
		struct rvt_hop *hop = rvt_hops_find(hops, place, own);

		if (hop && !((hop->key ^ key) & hop->mask)) {
			index_hop(hops, place, key, hop - hops->hops);
			return hop;
		}
	}
	return NULL;
}

/* True if it comes for the second time, or may. */
static bool is_known(struct rvt_hops *hops, uint32_t place, uint32_t key)
{
	uint64_t hash = rvt_hop_hash(place, key);
	uint8_t *seen = &hops->seen[hash >> 30 & (RVT_HOP_SEEN - 1)];
	uint8_t tag = hash >> 10 | 1;

	if (*seen == tag)
		return true;
	*seen = tag;
	return false;
}

struct rvt_hop *rvt_hops_learn(struct rvt_hops *hops, uint32_t place,
			       const struct rvt_hop_order *order)
{
	struct rvt_hop *hop = find_similar(hops, place, order->key);

	if (hop || !is_known(hops, place, order->key) || !rvt_hops_have_room(hops))
		return hop;
	hop = &hops->hops[hops->n_hops++];
	*hop = (struct rvt_hop){ .place = place, .key = order->key, .path = hops->n_path,
				 .mask = 2 * WHOLE - 1 };
	build(hops, hop, order);
	/* A jump may have ended it for its outcome. */
	if (!(hop->flags & RVT_HOP_NONE) && order->key >= WHOLE &&
	    !(order->flags & RVT_RUN_ALL_JUMPS)) {
		hop->mask = WHOLE | ((1u << hop->used) - 1);
		hop->key &= hop->mask;
	}
	index_hop(hops, place, hop->key, hop - hops->hops);
	if (hop->key != order->key)
		index_hop(hops, place, order->key, hop - hops->hops);
	return hop;
}
