// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Segments: their memory, and how one is made.
 */
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include "flow/core/predictions.h"
#include "flow/core/state.h"
#include "flow/memo/segments.h"
#include "flow/order.h"

/* ---- memory ---- */

static void begin(struct rvt_segments *segments)
{
	/* 0 stands for none */
	segments->n_nodes = 1;
}

struct rvt_segments *rvt_segments_create(void)
{
	struct rvt_segments *segments = rvt_table_map(sizeof(*segments));

	if (!segments)
		return NULL;
	begin(segments);
	return segments;
}

void rvt_segments_destroy(struct rvt_segments *segments)
{
	if (segments)
		munmap(segments, sizeof(*segments));
}

void rvt_segments_reset(struct rvt_segments *segments, uint32_t flags)
{
	/* The kernel gives pages of zeros for these. */
	madvise(segments, sizeof(*segments), MADV_DONTNEED);
	begin(segments);
	segments->flags = flags;
}

static uint32_t new_line(struct rvt_segments *segments, struct rvt_code_block *block)
{
	const uint32_t line = segments->n_nodes++;

	rvt_table_grows(segments, sizeof(*segments), segments->n_nodes);
	segments->blocks[line] = block;
	segments->pcs[line] = block->pub.pc;
	return line;
}

uint32_t rvt_segments_node(struct rvt_segments *segments, struct rvt_code_block *block)
{
	uint32_t *node;

	if (block->number >= RVT_NODE_BLOCKS)
		return 0;
	node = &segments->nodes[block->number];
	if (*node) {
		if (segments->blocks[*node] != block)
			return 0;
		return segments->more[*node].dense ? segments->more[*node].dense : *node;
	}
	if (segments->n_nodes >= RVT_SEGMENT_MAX_NODES)
		return 0;
	*node = new_line(segments, block);
	return *node;
}

/* ---- making one ---- */

#define OUTCOMES ((1u << RVT_SEGMENT_OUTCOMES) - 1)

/* what the fields of a segment hold */
#define MAX_INSNS 2047
#define MAX_HALFWORDS 4095

struct builder {
	struct rvt_flow *flow;
	uint32_t flags;		/* RVT_RUN_* of the order */
	bool tail;		/* these are all: on to the next indirect jump */
	bool to_branch;		/* or up to the next branch */
	uint32_t key;		/* outcomes left, with a stop bit above the last of them */
	uint32_t insns, halfwords;
	uint8_t used, taken;
	uint8_t depth;		/* calls of the segment that have not returned */
	uint8_t nesting;
	bool leaves, ends_return;
	uint8_t n_runs;
	struct rvt_segment_path path;
	struct rvt_segment_branches *branches;	/* NULL: nobody asks */
	uint64_t pushes[RVT_SEGMENT_PUSHES];	/* these calls */
	struct rvt_run runs[RVT_SEGMENT_RUNS];
};

static bool has_outcome(const struct builder *p)
{
	return p->key > 1;
}

static void cover(struct rvt_segment_path *path, const struct rvt_code_block *b)
{
	uint64_t high = b->pub.pc + b->pub.bytes - 1;

	if (b->pub.pc < path->low)
		path->low = b->pub.pc;
	if (high > path->high)
		path->high = high;
}

/* Adds the first @insns instructions of @b, which have so many half-words. */
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
 * Returns whether only the return stack and the trace can tell where the indirect jump at the end
 * of @b goes. Sets *alone if what was executed before the segment decides that.
 */
static bool is_free(const struct builder *p, const struct rvt_code_block *b, bool *alone)
{
	if (!(p->flags & RVT_RUN_SEQUENTIAL_JUMP))
		return true;
	/* The instruction before decides. At the beginning of a segment that is not known. */
	*alone = b->pub.insns == 1 && !p->path.last;
	return !b->sequential && !(b->pub.insns == 1 && p->path.last &&
				   p->path.last->end == RVT_END_FALL);
}

/* Returns whether a return at the end of @b goes to the top of the return stack. */
static bool returns_implicitly(const struct builder *p, const struct rvt_code_block *b)
{
	bool alone = false;

	if (!(p->flags & RVT_RUN_IMPLICIT_RETURN) ||
	    p->flags & RVT_RUN_STOP_RETURN || !p->depth || !is_free(p, b, &alone))
		return false;
	return !alone;
}

/* Returns whether the indirect jump at the end of @b goes where the instruction before it says. */
static bool jumps_sequentially(const struct builder *p, const struct rvt_code_block *b)
{
	return p->flags & RVT_RUN_SEQUENTIAL_JUMP && b->sequential &&
	       (b->end == RVT_END_INDIRECT || b->end == RVT_END_IND_CALL);
}

static bool push(struct builder *p, const struct rvt_code_block *b)
{
	if (p->depth == RVT_SEGMENT_PUSHES)
		return false;
	p->pushes[p->depth++] = b->end_pc;
	if (p->depth > p->nesting)
		p->nesting = p->depth;
	return true;
}

/*
 * Finds how the segment goes on from @b. Sets *pc, the address that follows. Returns false if the
 * segment must end before @b.
 */
static bool go_on(struct builder *p, const struct rvt_code_block *b, uint64_t *pc)
{
	bool jump = b->end == RVT_END_JUMP || b->end == RVT_END_CALL;
	bool outcome = b->end == RVT_END_BRANCH ||
		       (jump && p->flags & RVT_RUN_ALL_JUMPS);
	bool taken = jump;

	if (outcome) {
		if (!has_outcome(p))
			return false;
		taken = p->key & 1;
		if (jump && !taken)
			return false;
	}
	*pc = taken ? b->pub.target : b->end_pc;
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
		if (p->branches)
			p->branches->at[p->used] =
				rvt_prediction_short(b->end_pc - 2 * b->last_halfwords);
		p->key >>= 1;
		p->used++;
		p->taken += taken;
		p->path.jumps += jump;
	}
	return true;
}

/* Returns whether the segment may end behind the indirect jump at the end of @b. */
static bool leaves(struct builder *p, const struct rvt_code_block *b)
{
	bool alone = false;

	if (b->end < RVT_END_INDIRECT || b->end > RVT_END_RETURN || b->end == RVT_END_COROUTINE ||
	    !is_free(p, b, &alone) || p->n_runs == RVT_SEGMENT_RUNS)
		return false;
	if (alone)
		p->path.flags |= RVT_SEGMENT_ALONE;
	if (b->end == RVT_END_RETURN && p->flags & RVT_RUN_IMPLICIT_RETURN &&
	    !(p->flags & RVT_RUN_STOP_RETURN))
		p->ends_return = true;
	if (b->absolute)
		p->path.flags |= RVT_SEGMENT_ABSOLUTE;
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
		      const struct rvt_block_table *table)
{
	return b && b->table == table && p->n_runs < RVT_SEGMENT_RUNS &&
	       (has_outcome(p) || p->tail || p->to_branch);
}

/* Follows the blocks of the segment. Returns the one behind it, if that is in the same table. */
static struct rvt_code_block *follow(struct builder *p, struct rvt_code_block *b)
{
	struct rvt_block_table *table = b->table;
	uint64_t pc;

	p->path.end_pc = b->pub.pc;
	while (may_go_on(p, b, table) && go_on(p, b, &pc)) {
		add_run(p, b);
		if (rvt_flow_enter(p->flow, pc, &b))
			b = NULL;
		p->path.end_pc = pc;
	}
	return b && b->table == table ? b : NULL;
}

static enum rvt_segment_state state_of(const struct builder *p)
{
	const struct rvt_segment_path *path = &p->path;

	if (path->jumps || path->flags & RVT_SEGMENT_ALONE || path->indirect > path->returns + 1 ||
	    path->indirect >= RVT_SEGMENT_MANY_INDIRECT)
		return RVT_SEGMENT_CAREFUL;
	return p->nesting || path->indirect ? RVT_SEGMENT_CALLS : RVT_SEGMENT_PLAIN;
}

/* Returns what .falls of the segment is. */
static bool falls(const struct builder *p)
{
	if (p->leaves)
		return p->path.end == RVT_END_INDIRECT && !(p->path.flags & RVT_SEGMENT_ABSOLUTE);
	return p->path.end == RVT_END_FALL;
}

/* Fills @seg with what walking needs, and puts the rest behind the other paths. */
static void keep(struct rvt_segments *segments, struct rvt_segment *seg, const struct builder *p)
{
	const struct rvt_segment_path *path = &p->path;

	*seg = (struct rvt_segment){
		.state = state_of(p), .leaves = p->leaves, .ends_return = p->ends_return,
		.falls = falls(p), .n_pushes = p->depth, .nesting = p->nesting,
		.indirect = path->indirect < RVT_SEGMENT_MANY_INDIRECT ? path->indirect :
			    RVT_SEGMENT_MANY_INDIRECT,
		.sequential = path->indirect != path->returns,
		.runs = segments->n_path + p->depth + sizeof(*path) / 8, .n_runs = p->n_runs,
		.used = p->used, .taken = p->taken, .insns = p->insns, .halfwords = p->halfwords,
	};
	*rvt_segment_path(segments, seg) = *path;
	memcpy((uint64_t *)rvt_segment_path(segments, seg) - p->depth, p->pushes,
	       p->depth * sizeof(p->pushes[0]));
	memcpy(rvt_segment_runs(segments, seg), p->runs, p->n_runs * sizeof(p->runs[0]));
	segments->n_path = seg->runs + 2 * p->n_runs;
}

/* Goes on to the branch at the end of @b. Returns false if there is none, or no room. */
static bool go_to_branch(struct builder *p, struct rvt_code_block *b)
{
	if (!b || has_outcome(p) || b->end != RVT_END_BRANCH || p->n_runs == RVT_SEGMENT_RUNS)
		return false;
	if (b->insns > 1)
		add_part(p, b, b->insns - 1, b->halfwords - b->last_halfwords);
	else
		cover(&p->path, b);
	p->path.end_pc = b->end_pc - 2 * b->last_halfwords;
	return p->path.last;
}

/*
 * Follows the segment from @first on. Sets *end to the block behind it, if that is in the same
 * block table.
 */
static bool find_end(struct builder *p, struct rvt_code_block *first, struct rvt_code_block **end)
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
		/* It brings nothing, does not end where the order does, or leaves the table. */
		return false;
	}
	if (b)
		cover(&p->path, b);
	*end = b;
	return rvt_va_half(p->path.low) == rvt_va_half(p->path.high) && p->insns <= MAX_INSNS &&
	       p->halfwords <= MAX_HALFWORDS;
}

/* Makes the segment of @key from @node. */
static struct rvt_segment build(struct rvt_flow *flow, uint32_t node, uint32_t key, uint32_t flags,
				struct rvt_segment_branches *branches)
{
	const unsigned int n = rvt_segment_key_outcomes(key);
	struct rvt_segments *segments = flow->segments;
	struct builder p = {
		.flow = flow, .flags = flags, .branches = branches, .path.low = UINT64_MAX,
		.tail = n < RVT_SEGMENT_OUTCOMES && !(key & RVT_SEGMENT_END),
		.to_branch = n < RVT_SEGMENT_OUTCOMES &&
			     (key & RVT_SEGMENT_TO_BRANCH) == RVT_SEGMENT_TO_BRANCH,
		.key = (key & ((1u << n) - 1)) | 1u << n,
	};
	struct rvt_code_block *first = segments->blocks[node], *end;
	struct rvt_segment seg = { .state = RVT_SEGMENT_NONE };

	if (!find_end(&p, first, &end))
		return seg;
	lower(&first->table->segments_low, p.path.low);
	raise(&first->table->segments_high, p.path.high);
	keep(segments, &seg, &p);
	seg.next = end ? rvt_segments_node(segments, end) : 0;
	return seg;
}

/* ---- finding ---- */

/* Looks in the lines that are linked to that of @node, which is not dense. */
static struct rvt_segment *find_linked(struct rvt_segments *segments, uint32_t node, uint32_t key)
{
	struct rvt_segment *seg = NULL;

	while (!seg && segments->more[node].link) {
		node = segments->more[node].link;
		seg = rvt_segment_in(&segments->lines[node], key);
	}
	return seg;
}

static uint32_t sparse_node(const struct rvt_segments *segments, uint32_t node)
{
	return node < RVT_NODES ? node : segments->more[node].link;
}

struct rvt_segment *rvt_segment_find(struct rvt_segments *segments, uint32_t node, uint32_t key,
				     struct rvt_segment *from)
{
	const uint32_t sparse = sparse_node(segments, node), dense = segments->more[sparse].dense;
	struct rvt_segment *seg = NULL, *copy;

	/* Otherwise it was looked for there. */
	if (node != sparse)
		seg = rvt_segment_in(&segments->lines[sparse], key);
	if (!seg)
		seg = find_linked(segments, sparse, key);
	if (!dense)
		return seg;
	if (from && from->next == sparse)
		from->next = dense;
	copy = rvt_segment_dense(segments, dense, key);
	if (!seg || copy->key)
		return seg;
	*copy = *seg;
	copy->times = 0;
	if (segments->flags & RVT_RUN_PREDICTED)
		*rvt_segment_branches(segments, copy) = *rvt_segment_branches(segments, seg);
	return copy;
}

/* ---- learning ---- */

#define DENSE_FROM 6	/* lines: a table is more memory, so that more of it is in no cache */

/*
 * Returns the bits of the key that do not matter. @seg is the same for any outcomes that it does
 * not use up, unless a jump may have ended it for its outcome. One that leaves goes on behind the
 * last outcome that it uses up, so the number of the others does not matter either.
 */
static uint32_t open_bits(uint32_t key, uint32_t flags, const struct rvt_segment *seg)
{
	const uint32_t more = OUTCOMES & ~((1u << seg->used) - 1);
	const uint32_t needed = seg->used ? 1u << (RVT_SEGMENT_OUTCOMES + seg->used - 1) : 0;

	if (seg->state == RVT_SEGMENT_NONE || key & RVT_SEGMENT_END ||
	    flags & RVT_RUN_ALL_JUMPS)
		return 0;
	if (seg->leaves)
		return more | (RVT_SEGMENT_THERE & ~needed);
	return rvt_segment_key_outcomes(key) == RVT_SEGMENT_OUTCOMES ? more : 0;
}

static void make_dense(struct rvt_segments *segments, uint32_t node)
{
	const uint32_t dense = RVT_NODES + segments->n_dense;

	if (segments->more[node].dense || dense + RVT_DENSE_LINES > RVT_LINES)
		return;
	segments->n_dense += RVT_DENSE_LINES;
	segments->more[node].dense = dense;
	segments->more[dense].link = node;
	for (unsigned int i = 0; i < RVT_DENSE_LINES; i++) {
		segments->blocks[dense + i] = segments->blocks[node];
		segments->pcs[dense + i] = segments->pcs[node];
	}
}

/* Returns the place for a new segment from @node, which is not dense. There is room. */
static struct rvt_segment *free_segment(struct rvt_segments *segments, uint32_t node)
{
	const uint32_t first = node;
	unsigned int n_lines = 1;

	for (;; node = segments->more[node].link, n_lines++) {
		for (unsigned int i = 0; i < RVT_LINE_SEGMENTS; i++)
		       if (!segments->lines[node].segments[i].key)
				return &segments->lines[node].segments[i];
		if (!segments->more[node].link)
			break;
	}
	if (n_lines >= DENSE_FROM)
		make_dense(segments, first);
	segments->more[node].link = new_line(segments, segments->blocks[first]);
	return segments->lines[segments->more[node].link].segments;
}

struct rvt_segment *rvt_segments_learn(struct rvt_flow *flow, uint32_t node, uint32_t key,
				       uint32_t flags)
{
	struct rvt_segments *segments = flow->segments;
	struct rvt_mapping *mapping = flow->mapping;
	const bool predicted = flags & RVT_RUN_PREDICTED;
	struct rvt_segment_branches branches;
	struct rvt_segment *seg, built;

	if (!rvt_segments_have_room(segments))
		return NULL;
	if (predicted)
		branches = (struct rvt_segment_branches){ .at = { 0 } };
	built = build(flow, node, key, flags, predicted ? &branches : NULL);
	/* Finding blocks has changed it. */
	flow->mapping = mapping;
	built.open = open_bits(key, flags, &built);
	built.key = key & (RVT_SEGMENT_KEYS - 1) & ~(uint32_t)built.open;
	seg = free_segment(segments, sparse_node(segments, node));
	*seg = built;
	if (predicted)
		*rvt_segment_branches(segments, seg) = branches;
	return seg;
}
