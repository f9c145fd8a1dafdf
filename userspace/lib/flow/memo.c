// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Memo of paths: building an entry.
 */
#include <string.h>
#include "flow/memo.h"

/* A path in the making. */
struct path {
	struct rvt_memo *memo;
	struct rvt_memo_path *rest;
	uint32_t flags;
	uint32_t key;		/* outcomes left, with their stop bit */
	uint8_t depth;		/* calls of the path that have not returned */
};

static bool has_outcome(const struct path *p)
{
	return p->key > 1;
}

static void cover(struct rvt_memo *m, const struct rvt_code_block *b)
{
	uint64_t high = b->pub.pc + b->pub.bytes - 1;

	if (b->pub.pc < m->low)
		m->low = b->pub.pc;
	if (high > m->high)
		m->high = high;
}

static void add_run(struct path *p, struct rvt_code_block *b)
{
	struct rvt_memo *m = p->memo;

	p->rest->runs[m->n_runs++] = (struct rvt_run){ &b->pub, 0, b->insns };
	m->insns += b->insns;
	m->halfwords += b->halfwords;
	m->last = b;
	cover(m, b);
}

/* Whether a return at the end of @b goes to what is on top of the return stack. */
static bool returns_implicitly(const struct path *p, const struct rvt_code_block *b)
{
	if (!(p->flags & RVT_RUN_IMPLICIT_RETURN) || p->flags & RVT_RUN_STOP_RETURN)
		return false;
	if (!(p->flags & RVT_RUN_SEQUENTIAL_JUMP))
		return true;
	/* What was executed just before decides; at the beginning of the path that is not known. */
	if (b->pub.insns == 1 && !p->memo->last)
		p->memo->alone = true;
	return !b->sequential && !(b->pub.insns == 1 && p->memo->last &&
				   p->memo->last->end == RVT_END_FALL);
}

/* Whether an indirect jump at the end of @b goes where the instruction before it says. */
static bool jumps_sequentially(const struct path *p, const struct rvt_code_block *b)
{
	return p->flags & RVT_RUN_SEQUENTIAL_JUMP && b->sequential &&
	       (b->end == RVT_END_INDIRECT || b->end == RVT_END_IND_CALL);
}

static bool push(struct path *p, uint64_t pc)
{
	if (p->depth == RVT_MEMO_PUSHES)
		return false;
	p->rest->pushes[p->depth++] = pc;
	if (p->depth > p->memo->nesting)
		p->memo->nesting = p->depth;
	return true;
}

/*
 * How the path leaves @b: false if it must end before @b. Sets *taken and *pc, the address that
 * follows.
 */
static bool leave(struct path *p, const struct rvt_code_block *b, bool *taken, uint64_t *pc)
{
	struct rvt_memo *m = p->memo;
	bool jump = b->end == RVT_END_JUMP || b->end == RVT_END_CALL;
	bool outcome = b->end == RVT_END_BRANCH || (jump && p->flags & RVT_RUN_ALL_JUMPS);

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
		if (!push(p, b->end_pc))
			return false;
	} else if (jumps_sequentially(p, b)) {
		if (b->end == RVT_END_IND_CALL && !push(p, b->end_pc))
			return false;
		m->indirect++;
		*pc = b->sequential_target;
	} else if (b->end == RVT_END_RETURN) {
		if (!returns_implicitly(p, b))
			return false;
		m->returns++;
		m->indirect++;
		m->pops = !p->depth;
		*pc = p->depth ? p->rest->pushes[--p->depth] : 0;
	} else if (b->end > RVT_END_CALL) {
		return false;
	}
	if (outcome) {
		p->key >>= 1;
		m->used++;
		m->branches += b->end == RVT_END_BRANCH;
		m->taken += b->end == RVT_END_BRANCH && *taken;
	}
	return true;
}

void rvt_memo_build(struct rvt_memo *memo, struct rvt_memo_path *path,
		    struct rvt_code_block *start, uint32_t key, uint32_t flags, void *ctx,
		    struct rvt_code_block *(*next)(void *ctx, struct rvt_code_block *from,
						   bool taken, uint64_t pc))
{
	struct path p = { .memo = memo, .rest = path, .flags = flags, .key = key };
	struct rvt_code_block *b = start;

	memset(memo, 0, sizeof(*memo));
	memo->start = start;
	memo->key = key;
	memo->built = true;
	memo->low = UINT64_MAX;
	while (b && b->view == start->view && memo->n_runs < RVT_MEMO_RUNS && has_outcome(&p)) {
		bool taken;
		uint64_t pc;

		if (!leave(&p, b, &taken, &pc))
			break;
		add_run(&p, b);
		b = memo->pops ? NULL : next(ctx, b, taken, pc);
		memo->end = b && b->view == start->view ? b : NULL;
		path->end_pc = pc;
	}
	memo->n_pushes = p.depth;
	if (memo->end)
		cover(memo, memo->end);
	/* It ended before anything was decided: the plain walk does as well. */
	if (!memo->used && !memo->indirect)
		memo->n_runs = 0;
}
