// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * E-Trace encoder: what the optional modes remember.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "model/etrace/encoder-state.h"

#define NO_ADDRESS 1ull	/* odd: no instruction is there */

static void returns_size(struct rvt_etrace_encoder *enc)
{
	const struct rvt_params *p = &enc->codec.params;

	enc->counter_only = !p->return_stack_size_p;
	if (!rvt_etrace_has_option(enc, RVT_OPT_IMPLICIT_RETURN))
		return;
	if (p->return_stack_depth)
		enc->depth_max = p->return_stack_depth;
	else if (p->return_stack_size_p)
		enc->depth_max = 1u << p->return_stack_size_p;
	else if (p->call_counter_size_p)
		enc->depth_max = 1u << p->call_counter_size_p;
	if (enc->irets_mode && p->return_stack_size_p && p->call_counter_size_p)
		enc->recursion_max = (1u << p->call_counter_size_p) - 1;
}

int rvt_etrace_tables_create(struct rvt_etrace_encoder *enc)
{
	const struct rvt_params *p = &enc->codec.params;

	returns_size(enc);
	if (enc->depth_max) {
		enc->returns = calloc(enc->depth_max, sizeof(*enc->returns));
		if (!enc->returns)
			return -ENOMEM;
	}
	if (rvt_etrace_has_option(enc, RVT_OPT_BRANCH_PREDICTION)) {
		enc->predictor = malloc(1u << p->bpred_size_p);
		if (!enc->predictor)
			return -ENOMEM;
	}
	if (rvt_etrace_has_option(enc, RVT_OPT_JUMP_TARGET_CACHE)) {
		enc->cache = malloc((1u << p->cache_size_p) * sizeof(*enc->cache));
		if (!enc->cache)
			return -ENOMEM;
	}
	rvt_etrace_tables_sync(enc, true);
	return 0;
}

void rvt_etrace_tables_destroy(struct rvt_etrace_encoder *enc)
{
	free(enc->returns);
	free(enc->predictor);
	free(enc->cache);
}

void rvt_etrace_tables_sync(struct rvt_etrace_encoder *enc, bool start)
{
	const struct rvt_params *p = &enc->codec.params;

	if (enc->cache && (start || !enc->config.cache_kept))
		for (size_t i = 0; i < 1u << p->cache_size_p; i++)
			enc->cache[i] = NO_ADDRESS;
	if (!start && enc->codec.resync_disabled)
		return;
	enc->depth = 0;
	if (enc->predictor)
		memset(enc->predictor, 1, 1u << p->bpred_size_p);
}

/* ---- return stack ---- */

static struct return_entry *returns_top(struct rvt_etrace_encoder *enc)
{
	return &enc->returns[(enc->oldest + enc->depth - 1) % enc->depth_max];
}

void rvt_etrace_returns_push(struct rvt_etrace_encoder *enc, uint64_t pc)
{
	if (!enc->depth_max)
		return;
	enc->return_since_call = false;
	if (enc->depth) {
		struct return_entry *top = returns_top(enc);

		if (top->pc == pc && top->recursions < enc->recursion_max) {
			top->recursions++;
			return;
		}
	}
	if (enc->depth == enc->depth_max)
		enc->oldest = (enc->oldest + 1) % enc->depth_max;
	else
		enc->depth++;
	*returns_top(enc) = (struct return_entry){ .pc = pc };
}

bool rvt_etrace_returns_pop(struct rvt_etrace_encoder *enc, uint64_t *pc)
{
	struct return_entry *top;

	if (!enc->depth)
		return false;
	top = returns_top(enc);
	*pc = top->pc;
	if (top->recursions)
		top->recursions--;
	else
		enc->depth--;
	return true;
}

/* ---- branch predictor, jump target cache ---- */

/* Addresses are in units of the smallest instruction. */
static unsigned int address_shift(const struct rvt_etrace_encoder *enc)
{
	return enc->codec.params.iaddress_lsb_p > 1 ? 2 : 1;
}

bool rvt_etrace_predict(struct rvt_etrace_encoder *enc, uint64_t pc, bool taken)
{
	static const uint8_t after[4][2] = {	/* state, not taken or taken */
		{ 0, 1 }, { 0, 3 }, { 0, 3 }, { 2, 3 },
	};
	uint64_t mask = (1u << enc->codec.params.bpred_size_p) - 1;
	uint8_t *state = &enc->predictor[pc >> address_shift(enc) & mask];
	bool right = *state >> 1 == taken;

	*state = after[*state][taken];
	return right;
}

unsigned int rvt_etrace_cache_index(const struct rvt_etrace_encoder *enc, uint64_t jump_pc,
				    uint64_t target)
{
	const struct rvt_params *p = &enc->codec.params;
	uint64_t mask = (1u << p->cache_size_p) - 1;

	switch (p->jump_cache_index) {
	case RVT_JUMP_CACHE_SOURCE:
		return jump_pc >> address_shift(enc) & mask;
	case RVT_JUMP_CACHE_HASH:
		return (target >> 2 ^ target >> 8 ^ target >> 14 ^ target >> 20) & mask;
	default:
		return target >> address_shift(enc) & mask;
	}
}

/* ---- visited code ---- */

void rvt_etrace_visits_clear(struct rvt_etrace_encoder *enc)
{
	enc->irets = 0;
	enc->n_ranges = 0;
	enc->returned_depths = 0;
}

bool rvt_etrace_visited(const struct rvt_etrace_encoder *enc, const struct range *range)
{
	if (enc->n_ranges == MAX_RANGES)
		return true;
	for (unsigned int i = 0; i < enc->n_ranges; i++)
		if (range->first <= enc->ranges[i].last && range->last >= enc->ranges[i].first)
			return true;
	return false;
}

void rvt_etrace_visits_add(struct rvt_etrace_encoder *enc, const struct range *range)
{
	if (enc->depth_max && !enc->irets_mode && enc->n_ranges < MAX_RANGES)
		enc->ranges[enc->n_ranges++] = *range;
}
