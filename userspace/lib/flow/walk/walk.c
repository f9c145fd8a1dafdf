// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* What block walk and segment walk share: getting outcomes, leaving by an indirect jump. */
#include "flow/walk/walk.h"

void rvt_walk_fill(struct rvt_walk *w)
{
	struct rvt_outcomes *outcomes = &w->outcomes;

	while (outcomes->n_bits < 64) {
		uint32_t n = 64 - outcomes->n_bits;

		if (!w->n_ahead) {
			if (!outcomes->behind)
				return;
			w->n_ahead = w->order->refill(w->order->refill_ctx, &w->ahead);
			/* The last word may have more than belong to the order. */
			if (w->n_ahead > outcomes->behind)
				w->n_ahead = outcomes->behind;
		}
		if (n > w->n_ahead)
			n = w->n_ahead;
		outcomes->bits |= w->ahead << outcomes->n_bits;
		outcomes->n_bits += n;
		outcomes->behind -= n;
		w->n_ahead -= n;
		w->ahead = n < 64 ? w->ahead >> n : 0;
	}
}

int rvt_walk_leave(struct rvt_flow *flow, struct rvt_walk *w, const struct rvt_leaving *l)
{
	struct rvt_order *order = w->order;
	bool is_return = l->end == RVT_END_RETURN ||
			 (l->end == RVT_END_COROUTINE && w->flags & RVT_RUN_COROUTINE);

	w->indirect++;
	if (is_return)
		order->popped_valid = rvt_returns_pop(&flow->base.returns, &order->popped);
	if (l->end == RVT_END_IND_CALL || (l->end == RVT_END_COROUTINE && is_return))
		rvt_returns_push(&flow->base.returns, l->end_pc);
	if (l->inferred)
		return rvt_walk_go(flow, l->target);
	rvt_walk_go(flow, l->end_pc);
	flow->consecutive = false;
	if (is_return && w->flags & RVT_RUN_STOP_RETURN)
		return RVT_STOP_RETURN;
	if (is_return && w->flags & RVT_RUN_IMPLICIT_RETURN && order->popped_valid) {
		w->returns++;
		return rvt_walk_go(flow, order->popped);
	}
	if (l->absolute && w->flags & RVT_RUN_ABSOLUTE_JUMP)
		return rvt_walk_go(flow, l->target);
	return RVT_STOP_TARGET;
}
