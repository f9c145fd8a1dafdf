// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Hops: their memory, and how one is made.
 */
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include "flow/memo/segments.h"

/* ---- memory ---- */

/* Of a path, in 8 bytes, with what may be read beyond it. */
#define MAX_PATH ((sizeof(struct rvt_hop_path) / 8) + RVT_HOP_PUSHES + \
		  2 * (RVT_HOP_RUNS + RVT_HOP_EXCESS))

static void begin(struct rvt_hops *hops)
{
	/* 0 stands for none */
	hops->n_places = 1;
}

struct rvt_hops *rvt_hops_create(void)
{
	struct rvt_hops *hops = rvt_table_map(sizeof(*hops));

	if (!hops)
		return NULL;
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

static bool has_room_for_lines(const struct rvt_hops *hops)
{
	/* A hop may lead to a new place, and need a line itself. */
	return hops->n_places < RVT_PLACES - 2;
}

bool rvt_hops_have_room(const struct rvt_hops *hops)
{
	return has_room_for_lines(hops) && RVT_HOP_PATH_BYTES / 8 - hops->n_path >= MAX_PATH;
}

static uint32_t new_line(struct rvt_hops *hops, struct rvt_code_block *block)
{
	const uint32_t line = hops->n_places++;

	rvt_table_grows(hops, sizeof(*hops), hops->n_places);
	hops->blocks[line] = block;
	hops->pcs[line] = block->pub.pc;
	return line;
}

uint32_t rvt_hops_place(struct rvt_hops *hops, struct rvt_code_block *block)
{
	uint32_t *place;

	if (block->number >= RVT_PLACE_BLOCKS)
		return 0;
	place = &hops->places[block->number];
	if (*place) {
		if (hops->blocks[*place] != block)
			return 0;
		return hops->more[*place].wide ? hops->more[*place].wide : *place;
	}
	if (!has_room_for_lines(hops))
		return 0;
	*place = new_line(hops, block);
	return *place;
}

/* ---- making one ---- */

#define OUTCOMES ((1u << RVT_HOP_OUTCOMES) - 1)

/* Of a hop: what its fields hold. */
#define MAX_INSNS 2047
#define MAX_HALFWORDS 4095

struct builder {
	const struct rvt_hop_order *order;
	bool tail;		/* these are all: on to the next indirect jump */
	bool to_branch;		/* or up to the next branch */
	uint32_t key;		/* outcomes left, with a stop bit above the last of them */
	uint32_t insns, halfwords;
	uint8_t used, taken;
	uint8_t depth;		/* calls of the hop that have not returned */
	uint8_t nesting;
	bool leaves, ends_return;
	uint8_t n_runs;
	struct rvt_hop_path path;
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

/* The first @insns instructions of @b, of so many half-words. */
static void add_part(struct builder *p, struct rvt_code_block *b, uint32_t insns,
		     uint32_t halfwords)
{
	p->runs[p->n_runs++] = (struct rvt_run){ &b->pub, 0, insns };
	p->insns += insns;
	p->halfwords += halfwords;
	p->path.last = b;
	p->path.last_insn = insns - 1;
	p->path.end = insns == b->insns ? b->end : RVT_END_FALL;
	cover(&p->path, b);
}

static void add_run(struct builder *p, struct rvt_code_block *b)
{
	add_part(p, b, b->insns, b->halfwords);
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
	*alone = b->pub.insns == 1 && !p->path.last;
	return !b->sequential && !(b->pub.insns == 1 && p->path.last &&
				   p->path.last->end == RVT_END_FALL);
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
	if (p->depth > p->nesting)
		p->nesting = p->depth;
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
		p->path.indirect++;
		*pc = b->sequential_target;
	} else if (b->end == RVT_END_RETURN && returns_implicitly(p, b)) {
		p->path.returns++;
		p->path.indirect++;
		*pc = p->pushes[--p->depth];
	} else if (b->end > RVT_END_CALL) {
		return false;
	}
	if (outcome) {
		p->key >>= 1;
		p->used++;
		p->taken += *taken;
		p->path.jumps += jump;
	}
	return true;
}

/* Whether the hop may end behind the indirect jump at the end of @b. */
static bool leaves(struct builder *p, const struct rvt_code_block *b)
{
	bool alone = false;

	if (b->end < RVT_END_INDIRECT || b->end > RVT_END_RETURN || b->end == RVT_END_COROUTINE ||
	    !is_free(p, b, &alone) || p->n_runs == RVT_HOP_RUNS)
		return false;
	if (alone)
		p->path.flags |= RVT_HOP_ALONE;
	if (b->end == RVT_END_RETURN && p->order->flags & RVT_RUN_IMPLICIT_RETURN &&
	    !(p->order->flags & RVT_RUN_STOP_RETURN))
		p->ends_return = true;
	if (b->absolute)
		p->path.flags |= RVT_HOP_ABSOLUTE;
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
	return b && b->view == view && p->n_runs < RVT_HOP_RUNS &&
	       (has_outcome(p) || p->tail || p->to_branch);
}

/* The blocks of the hop. Returns the one behind it, if that is in the same view. */
static struct rvt_code_block *follow(struct builder *p, struct rvt_code_block *b)
{
	const struct rvt_hop_order *order = p->order;
	struct rvt_view *view = b->view;
	uint64_t pc;
	bool taken;

	p->path.end_pc = b->pub.pc;
	while (may_go_on(p, b, view) && go_on(p, b, &taken, &pc)) {
		add_run(p, b);
		b = order->next(order->ctx, b, taken, pc);
		p->path.end_pc = pc;
	}
	return b && b->view == view ? b : NULL;
}

static enum rvt_hop_state state_of(const struct builder *p)
{
	const struct rvt_hop_path *path = &p->path;

	if (path->jumps || path->flags & RVT_HOP_ALONE || path->indirect > path->returns + 1 ||
	    path->indirect >= RVT_HOP_MANY_INDIRECT)
		return RVT_HOP_CAREFUL;
	return p->nesting || path->indirect ? RVT_HOP_CALLS : RVT_HOP_PLAIN;
}

/* What .falls says of a hop. */
static bool falls(const struct builder *p)
{
	if (p->leaves)
		return p->path.end == RVT_END_INDIRECT && !(p->path.flags & RVT_HOP_ABSOLUTE);
	return p->path.end == RVT_END_FALL;
}

/* What @hop needs for replaying, and the rest of it behind the other paths. */
static void keep(struct rvt_hops *hops, struct rvt_hop *hop, const struct builder *p)
{
	const struct rvt_hop_path *path = &p->path;

	*hop = (struct rvt_hop){
		.state = state_of(p), .leaves = p->leaves, .ends_return = p->ends_return,
		.falls = falls(p), .n_pushes = p->depth, .nesting = p->nesting,
		.indirect = path->indirect < RVT_HOP_MANY_INDIRECT ? path->indirect :
			    RVT_HOP_MANY_INDIRECT,
		.sequential = path->indirect != path->returns,
		.runs = hops->n_path + p->depth + sizeof(*path) / 8, .n_runs = p->n_runs,
		.used = p->used, .taken = p->taken, .insns = p->insns, .halfwords = p->halfwords,
	};
	*rvt_hop_path(hops, hop) = *path;
	memcpy((uint64_t *)rvt_hop_path(hops, hop) - p->depth, p->pushes,
	       p->depth * sizeof(p->pushes[0]));
	memcpy(rvt_hop_runs(hops, hop), p->runs, p->n_runs * sizeof(p->runs[0]));
	hops->n_path = hop->runs + 2 * p->n_runs;
}

/* The way of @p goes on to the branch at the end of @b. False: there is none, or no room. */
static bool go_to_branch(struct builder *p, struct rvt_code_block *b)
{
	if (!b || has_outcome(p) || b->end != RVT_END_BRANCH || p->n_runs == RVT_HOP_RUNS)
		return false;
	if (b->insns > 1)
		add_part(p, b, b->insns - 1, b->halfwords - b->last_halfwords);
	else
		cover(&p->path, b);
	p->path.end_pc = b->end_pc - 2 * b->last_halfwords;
	return p->path.last;
}

/* Where @p leads, from @first on; *end: the block behind it, if that is in the same view. */
static bool find_way(struct builder *p, struct rvt_code_block *first, struct rvt_code_block **end)
{
	struct rvt_code_block *b = follow(p, first);

	if (p->to_branch) {
		if (!go_to_branch(p, b))
			return false;
		b = NULL;
	} else if (b && (has_outcome(p) || p->tail) && leaves(p, b)) {
		add_run(p, b);
		p->leaves = true;
		p->path.end_pc = b->end_pc;
		b = NULL;
	} else if (b ? p->tail || !p->used : !p->path.last) {
		/* Nothing is gained, or it does not end where the order does, or the view. */
		return false;
	}
	if (b)
		cover(&p->path, b);
	*end = b;
	return rvt_half(p->path.low) == rvt_half(p->path.high) && p->insns <= MAX_INSNS &&
	       p->halfwords <= MAX_HALFWORDS;
}

/* Makes the hop from @place. */
static struct rvt_hop build(struct rvt_hops *hops, uint32_t place,
			    const struct rvt_hop_order *order)
{
	const unsigned int n = rvt_hop_key_outcomes(order->key);
	struct builder p = {
		.order = order, .path.low = UINT64_MAX,
		.tail = n < RVT_HOP_OUTCOMES && !(order->key & RVT_HOP_END),
		.to_branch = n < RVT_HOP_OUTCOMES &&
			     (order->key & RVT_HOP_TO_BRANCH) == RVT_HOP_TO_BRANCH,
		.key = (order->key & ((1u << n) - 1)) | 1u << n,
	};
	struct rvt_code_block *first = hops->blocks[place], *end;
	struct rvt_hop hop = { .state = RVT_HOP_NONE };

	if (!find_way(&p, first, &end))
		return hop;
	lower(&first->view->hops_low, p.path.low);
	raise(&first->view->hops_high, p.path.high);
	keep(hops, &hop, &p);
	hop.next = end ? rvt_hops_place(hops, end) : 0;
	return hop;
}

/* ---- finding ---- */

/* In the lines that are linked to that of @place, which is not wide. */
static struct rvt_hop *find_linked(struct rvt_hops *hops, uint32_t place, uint32_t key)
{
	struct rvt_hop *hop = NULL;

	while (!hop && hops->more[place].link) {
		place = hops->more[place].link;
		hop = rvt_hop_in(&hops->lines[place], key);
	}
	return hop;
}

static uint32_t narrow_place(const struct rvt_hops *hops, uint32_t place)
{
	return place < RVT_PLACES ? place : hops->more[place].link;
}

struct rvt_hop *rvt_hop_find(struct rvt_hops *hops, uint32_t place, uint32_t key,
			     struct rvt_hop *from)
{
	const uint32_t narrow = narrow_place(hops, place), wide = hops->more[narrow].wide;
	struct rvt_hop *hop = NULL, *copy;

	/* Else it was looked for there. */
	if (place != narrow)
		hop = rvt_hop_in(&hops->lines[narrow], key);
	if (!hop)
		hop = find_linked(hops, narrow, key);
	if (!wide)
		return hop;
	if (from && from->next == narrow)
		from->next = wide;
	copy = rvt_hop_wide(hops, wide, key);
	if (!hop || copy->key)
		return hop;
	*copy = *hop;
	copy->times = 0;
	return copy;
}

/* ---- learning ---- */

#define WIDE_FROM 6	/* lines: a table is more memory, so that more of it is in no cache */

/*
 * Outcomes that @hop does not use up do not matter: it is the same for any. Not so where a jump
 * may have ended it for its outcome. One that leaves goes on behind the last that it uses up, so it
 * does not matter how many there are but these.
 */
static uint32_t open_bits(const struct rvt_hop_order *order, const struct rvt_hop *hop)
{
	const uint32_t more = OUTCOMES & ~((1u << hop->used) - 1);
	const uint32_t needed = hop->used ? 1u << (RVT_HOP_OUTCOMES + hop->used - 1) : 0;

	if (hop->state == RVT_HOP_NONE || order->key & RVT_HOP_END ||
	    order->flags & RVT_RUN_ALL_JUMPS)
		return 0;
	if (hop->leaves)
		return more | (RVT_HOP_THERE & ~needed);
	return rvt_hop_key_outcomes(order->key) == RVT_HOP_OUTCOMES ? more : 0;
}

static void make_wide(struct rvt_hops *hops, uint32_t place)
{
	const uint32_t wide = RVT_PLACES + hops->n_wide;

	if (hops->more[place].wide || wide + RVT_WIDE_LINES > RVT_LINES)
		return;
	hops->n_wide += RVT_WIDE_LINES;
	hops->more[place].wide = wide;
	hops->more[wide].link = place;
	for (unsigned int i = 0; i < RVT_WIDE_LINES; i++) {
		hops->blocks[wide + i] = hops->blocks[place];
		hops->pcs[wide + i] = hops->pcs[place];
	}
}

/* Where a new hop from @place, which is not wide, goes. There must be room. */
static struct rvt_hop *free_hop(struct rvt_hops *hops, uint32_t place)
{
	const uint32_t first = place;
	unsigned int n_lines = 1;

	for (;; place = hops->more[place].link, n_lines++) {
		for (unsigned int i = 0; i < RVT_LINE_HOPS; i++)
			if (!hops->lines[place].hops[i].key)
				return &hops->lines[place].hops[i];
		if (!hops->more[place].link)
			break;
	}
	if (n_lines >= WIDE_FROM)
		make_wide(hops, first);
	hops->more[place].link = new_line(hops, hops->blocks[first]);
	return hops->lines[hops->more[place].link].hops;
}

struct rvt_hop *rvt_hops_learn(struct rvt_hops *hops, uint32_t place,
			       const struct rvt_hop_order *order)
{
	struct rvt_hop *hop, built;

	if (!rvt_hops_have_room(hops))
		return NULL;
	built = build(hops, place, order);
	built.open = open_bits(order, &built);
	built.key = order->key & (RVT_HOP_KEYS - 1) & ~(uint32_t)built.open;
	hop = free_hop(hops, narrow_place(hops, place));
	*hop = built;
	return hop;
}
