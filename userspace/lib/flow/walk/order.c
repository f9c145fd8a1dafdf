// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Block walk: an order as a whole. Of repeated history, the walk executes patterns until the flow
 * is where it was before. The rest does the same again, so its counts are multiplied.
 */
#include "flow/count/expand.h"
#include "flow/memo/table-pool.h"
#include "flow/walk/emit.h"
#include "flow/walk/walk.h"

/* Returns the first @n outcomes of @order. */
static struct rvt_outcomes first_outcomes(const struct rvt_order *order, uint64_t n)
{
	const uint32_t most = order->outcome ? 0 :
			      order->flags & RVT_RUN_PREDICTED ? order->n_known : 64;
	const uint32_t n_bits = n < most ? n : most;

	return (struct rvt_outcomes){ order->outcomes, n_bits, n - n_bits };
}

/* ---- repeated history ---- */

/* What decides how a walk goes on, besides outcomes, code and return addresses. */
struct position {
	uint64_t pc;
	uint32_t mapping_epoch;
	unsigned int depth;		/* of the return stack */
	const struct rvt_code_block *last_block;
	uint32_t last_insn;
	bool consecutive;
};

static struct position position_of(const struct rvt_flow *flow)
{
	return (struct position){
		.pc = rvt_flow_current(flow), .mapping_epoch = flow->mapping_epochs[0],
		.depth = rvt_returns_used(&flow->base.returns), .last_block = flow->last_block,
		.last_insn = flow->last_insn, .consecutive = flow->consecutive,
	};
}

static bool is_same(const struct position *a, const struct position *b)
{
	return a->pc == b->pc && a->mapping_epoch == b->mapping_epoch && a->depth == b->depth &&
	       a->last_block == b->last_block && a->last_insn == b->last_insn &&
	       a->consecutive == b->consecutive;
}

/* A walk from one position on. */
struct stretch {
	struct position from;
	struct rvt_walk before;		/* what the order had done there */
	unsigned int patterns;		/* walked since */
	struct rvt_stack_delta delta;
};

static void begin_stretch(struct rvt_flow *flow, const struct rvt_walk *w, struct stretch *s)
{
	s->from = position_of(flow);
	s->before = *w;
	s->patterns = 0;
	rvt_body_begin(&flow->body);
	rvt_returns_log(&flow->base.returns, &s->delta);
}

/* Whether the flow is where @s began, with the same return addresses and none dropped meanwhile. */
static bool is_cycle(const struct rvt_flow *flow, const struct stretch *s)
{
	const struct position now = position_of(flow);

	return is_same(&s->from, &now) && rvt_stack_delta_is_none(&s->delta) &&
	       s->from.depth + s->delta.nesting <= flow->base.returns.depth && !flow->body.too_long;
}

/* Counts the cycle @s @times times more. */
static void multiply(struct rvt_flow *flow, struct rvt_walk *w, const struct stretch *s,
		     uint64_t times)
{
	const struct rvt_walk *before = &s->before;

	w->halfwords_left -= times * (before->halfwords_left - w->halfwords_left);
	w->insns_left -= times * (before->insns_left - w->insns_left);
	w->insns += times * (w->insns - before->insns);
	w->branches += times * (w->branches - before->branches);
	w->taken += times * (w->taken - before->taken);
	w->indirect += times * (w->indirect - before->indirect);
	w->returns += times * (w->returns - before->returns);
	if (flow->base.counts && times)
		rvt_count_body(flow, &flow->body, s->from.pc, times);
}

/* Returns how often @s can be repeated: at most @times, and within the order's limits. */
static uint64_t times_of(const struct rvt_walk *w, const struct stretch *s, uint64_t times)
{
	const uint64_t halfwords = s->before.halfwords_left - w->halfwords_left;
	const uint64_t insns = s->before.insns_left - w->insns_left;

	if (w->halfwords_left / halfwords < times)
		times = w->halfwords_left / halfwords;
	return w->insns_left / insns < times ? w->insns_left / insns : times;
}

/* Limits the walk to the next @n outcomes of the order, which begin with a pattern. */
static void set_outcomes(struct rvt_walk *w, const struct rvt_walk *whole, uint64_t n)
{
	w->outcomes = first_outcomes(w->order, n);
	w->n_ahead = 0;
	w->segments_at = n;
	w->ends = whole->ends;
}

/* find_cycle() gives up on cycles of more patterns, and on those that begin later. */
#define MAX_PATTERNS 16

/*
 * Walks patterns one by one until they lead in a circle (Brent's algorithm). Sets *patterns to how
 * many are left. Returns RVT_GO_ON, or a stop before the end of a pattern.
 */
static int find_cycle(struct rvt_flow *flow, struct rvt_walk *w, uint64_t *patterns)
{
	const struct rvt_walk whole = *w;
	unsigned int power = 1;
	struct stretch s;

	begin_stretch(flow, w, &s);
	for (unsigned int i = 0; i < MAX_PATTERNS && *patterns; i++) {
		int stop;

		set_outcomes(w, &whole, w->order->period);
		stop = rvt_walk_order(flow, w);
		--*patterns;
		if (rvt_outcomes_left(&w->outcomes) ||
		    (stop != RVT_STOP_USED && stop != RVT_STOP_OUTCOME))
			return stop;
		s.patterns++;
		if (is_cycle(flow, &s)) {
			const uint64_t times = times_of(w, &s, *patterns / s.patterns);

			multiply(flow, w, &s, times);
			*patterns -= times * s.patterns;
			break;
		}
		if (s.patterns == power) {
			power *= 2;
			begin_stretch(flow, w, &s);
		}
	}
	set_outcomes(w, &whole, *patterns * w->order->period);
	return RVT_GO_ON;
}

static int walk_repeated(struct rvt_flow *flow, struct rvt_walk *w)
{
	uint64_t patterns = rvt_outcomes_left(&w->outcomes) / w->order->period;
	int stop;

	flow->recording = flow->base.counts;
	stop = find_cycle(flow, w, &patterns);
	flow->recording = false;
	rvt_returns_log_end(&flow->base.returns, NULL);
	if (stop == RVT_GO_ON)
		return rvt_walk_order(flow, w);
	w->outcomes.behind += patterns * w->order->period;
	return stop;
}

/* Fewer patterns are walked one by one, and so is all history whose runs are delivered. */
#define MIN_PATTERNS 3

static bool is_repeated(const struct rvt_flow *flow, const struct rvt_walk *w)
{
	const struct rvt_order *order = w->order;

	return order->period && order->n_outcomes >= MIN_PATTERNS * (uint64_t)order->period &&
	       w->ends && !(order->flags & RVT_RUN_ECALL_COUNTS) && !flow->base.collect &&
	       !flow->recording && !flow->base.returns.recursions;
}

/* ---- orders ---- */

/* Decides whether this order may walk segments. They serve orders with outcomes in bits. */
static void prepare_segments(struct rvt_flow *flow, struct rvt_walk *w)
{
	const struct rvt_order *order = w->order;
	const uint32_t flags = order->flags & RVT_SEGMENT_RUN_FLAGS;

	/* Of the addresses of branches segments keep no more bits than so many. */
	if (order->outcome || flow->no_segments ||
	    (order->flags & RVT_RUN_PREDICTED &&
	     flow->base.predictions.mask >> RVT_PREDICTIONS_MAX_BITS))
		return;
	w->tails = order->max_halfwords != RVT_UNLIMITED &&
		   !(order->flags & (RVT_RUN_STOP_PC | RVT_RUN_STOP_USED | RVT_RUN_NOT_TAKEN));
	w->ends = order->flags & RVT_RUN_STOP_USED && !(order->flags & RVT_RUN_STOP_PC) &&
		  order->n_outcomes;
	w->segments_at = order->n_outcomes;
	w->uses_segments = (order->n_outcomes >= RVT_SEGMENT_OUTCOMES || w->tails || w->ends) &&
			   (rvt_tables_have_segments(flow, flags) ||
			    rvt_tables_prepare_segments(flow, flags));
}

/* Notes in @body how many outcomes of @order, which was executed, were known; they came first. */
static void note_known(struct rvt_body *body, const struct rvt_order *order)
{
	const uint64_t known = order->used_outcomes < order->n_known ? order->used_outcomes :
								       order->n_known;

	/* A body cannot say that known outcomes follow predicted ones. */
	body->too_long |= known && body->predicted;
	body->predicted |= order->used_outcomes > known;
	body->n_known += known;
}

int rvt_walk_blocks(struct rvt_flow *flow, struct rvt_order *order)
{
	struct rvt_walk w = {
		.order = order,
		.flags = order->flags,
		.outcomes = first_outcomes(order, order->n_outcomes),
		.halfwords_left = order->max_halfwords,
		.insns_left = order->max_insns,
	};
	uint64_t halfwords;
	int stop;

	if (order->max_insns == RVT_UNLIMITED && order->max_halfwords == RVT_UNLIMITED)
		w.insns_left = RVT_FLOW_MAX_INSNS;
	prepare_segments(flow, &w);
	stop = is_repeated(flow, &w) ? walk_repeated(flow, &w) : rvt_walk_order(flow, &w);
	halfwords = order->max_halfwords - w.halfwords_left;
	order->used_outcomes = order->n_outcomes - rvt_outcomes_left(&w.outcomes);
	if (flow->recording && order->flags & RVT_RUN_PREDICTED)
		note_known(&flow->body, order);
	order->implicit_returns = w.returns;
	order->halfwords = halfwords;
	flow->stats.insns += w.insns;
	flow->stats.halfwords += halfwords;
	flow->stats.branches += w.branches;
	flow->stats.taken += w.taken;
	flow->stats.indirect += w.indirect;
	return stop;
}
