// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * What memos do to the branch predictor.
 */
#include "flow/memo/effects.h"

/* The branches of a body, one after the other, as their effects are found. */
struct finder {
	const struct rvt_predictions *predictions;
	struct rvt_memo_effects *effects;
	unsigned int n_known;		/* outcomes left that were */
};

/* Returns the effect on entry @number. NULL: there is no room. */
static uint32_t *effect_on(struct rvt_memo_effects *effects, uint32_t number)
{
	for (unsigned int i = 0; i < effects->n; i++)
		if ((effects->entries[i] & RVT_EFFECT_NUMBER) == number)
			return &effects->entries[i];
	if (effects->n == RVT_MEMO_EFFECTS || number > RVT_EFFECT_NUMBER)
		return NULL;
	effects->entries[effects->n] = number | RVT_PREDICTION_SAME << RVT_EFFECT_MAP |
				       0xfu << RVT_EFFECT_HOLDS;
	return &effects->entries[effects->n++];
}

/*
 * The entry must predict @taken here: leaves those of its values from which it does. Returns false
 * if none is left.
 */
static bool demand(struct rvt_memo_effects *effects, uint32_t *effect, bool taken)
{
	effects->conditional = true;
	for (unsigned int old = 0; old < 4; old++)
		if (rvt_prediction_after(*effect >> RVT_EFFECT_MAP & 0xff, old) >> 1 != taken)
			*effect &= ~(1u << (RVT_EFFECT_HOLDS + old));
	return *effect >> RVT_EFFECT_HOLDS;
}

static bool add_branch(struct finder *f, uint32_t number, bool taken)
{
	uint32_t *effect = effect_on(f->effects, number);
	unsigned int map;

	if (!effect)
		return false;
	if (f->n_known)
		f->n_known--;
	else if (!demand(f->effects, effect, taken))
		return false;
	map = rvt_prediction_then(*effect >> RVT_EFFECT_MAP & 0xff, rvt_prediction_map(taken));
	*effect = (*effect & ~(0xffu << RVT_EFFECT_MAP)) | map << RVT_EFFECT_MAP;
	return true;
}

static bool add_segment(struct finder *f, struct rvt_segments *segments,
			const struct rvt_segment *seg)
{
	const uint16_t *at = rvt_segment_branches(segments, seg)->at;
	const unsigned int outcomes = rvt_segment_outcomes(seg);

	for (unsigned int i = 0; i < seg->used; i++)
		if (!add_branch(f, rvt_prediction_number(f->predictions, at[i]), outcomes >> i & 1))
			return false;
	return true;
}

/* Adds @run, which led to @next. */
static bool add_run(struct finder *f, const struct rvt_run *run, uint64_t next)
{
	const struct rvt_code_block *block = rvt_block_of(run);
	const uint64_t pc = block->end_pc - 2 * block->last_halfwords;

	if (block->end != RVT_END_BRANCH || run->first + run->count != block->insns)
		return true;
	/* The branch leads there whether taken or not. */
	if (block->pub.target == block->end_pc)
		return false;
	return add_branch(f, pc >> f->predictions->shift & f->predictions->mask,
			  next == block->pub.target);
}

bool rvt_memos_find_effects(struct rvt_flow *flow, uint64_t to, uint16_t own)
{
	struct rvt_memo_effects *effects = rvt_memo_recorded_effects(flow->base.memos);
	const struct rvt_body *body = &flow->body;
	struct finder f = {
		.predictions = &flow->base.predictions, .effects = effects,
		.n_known = body->n_known,
	};
	const uint32_t *word = body->words, *end = word + body->n_words;
	struct rvt_body_item item, next;
	uint32_t *asked;

	*effects = (struct rvt_memo_effects){ .own = own };
	if (!f.predictions->entries)
		return true;
	for (next.seg = NULL; word < end;) {
		const uint32_t *behind = rvt_body_next(flow->segments, word, &item);

		if (behind < end)
			rvt_body_next(flow->segments, behind, &next);
		if (item.seg ? !add_segment(&f, flow->segments, item.seg) :
			       !add_run(&f, &item.run, behind < end ?
					rvt_body_address(flow->segments, &next) : to))
			return false;
		word = behind;
	}
	if (!body->asks)
		return true;
	asked = effect_on(effects, body->asked);
	return asked && demand(effects, asked,
			       f.predictions->entries[body->asked] >> 1);
}
