// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * N-Trace decoder: what CTTE's encoder has on both sides, a branch predictor and a cache of jump
 * targets. They are as at reset only where tracing begins, or goes on after an overflow. So where
 * data begins elsewhere, or flow was lost, what they hold is not known.
 *
 * With branch prediction there is history only of a branch at which the encoder synchronised: its
 * outcome comes in the next HIST, in front of those that are predicted.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "ntrace/decoder-state.h"

#define INITIALLY 1		/* of counters of two bits: not taken, weakly */
#define ENAB_BRANCH_PREDICTION (1u << 5)
#define PARAM1_BTM 3		/* its low bits: InstMode */

int rvt_ntrace_ctte_create(struct rvt_ntrace_decoder *d, struct rvt_ntrace_source *s)
{
	if (d->params.dialect != RVT_DIALECT_NTRACE_CTTE)
		return 0;
	s->ctte = calloc(1, sizeof(*s->ctte));
	if (!s->ctte)
		return -ENOMEM;
	s->ctte->predicts = d->begins.predicts;
	rvt_ntrace_jump_cache_clear(&s->ctte->cache);
	return 0;
}

void rvt_ntrace_ctte_reset(struct rvt_ntrace_ctte *ctte)
{
	memset(ctte->counters, INITIALLY, sizeof(ctte->counters));
	ctte->predictor_known = true;
	ctte->sync_outcome = RVT_NTRACE_NO_SYNC_OUTCOME;
	rvt_ntrace_jump_cache_clear(&ctte->cache);
}

void rvt_ntrace_ctte_forget(struct rvt_ntrace_ctte *ctte)
{
	ctte->predictor_known = false;
	rvt_ntrace_jump_cache_clear(&ctte->cache);
}

/* ---- branch prediction ---- */

static uint8_t *counter_of(struct rvt_ntrace_ctte *ctte, uint64_t pc)
{
	return &ctte->counters[pc >> 2 & (RVT_NTRACE_PREDICTOR_ENTRIES - 1)];
}

static bool next_outcome(struct rvt_ntrace_source *s, const uint8_t *counter)
{
	struct rvt_ntrace_ctte *ctte = s->ctte;
	struct rvt_hist *hist = &s->hist;
	bool taken = *counter >= 2;

	if (ctte->n_left && ctte->sync_outcome == RVT_NTRACE_SYNC_OUTCOME_DUE) {
		ctte->sync_outcome = RVT_NTRACE_SYNC_OUTCOME_WALKED;
		return false;
	}
	if (hist->bits) {
		taken = hist->pattern >> hist->used & 1;
		hist->used = (hist->used + 1) % hist->n_bits;
		hist->bits--;
		return taken;
	}
	if (ctte->n_left && !--ctte->n_left)
		return !taken;
	return taken;
}

static bool predict(void *ctx, uint64_t pc)
{
	struct rvt_ntrace_source *s = ctx;
	uint8_t *counter = counter_of(s->ctte, pc);
	const bool taken = next_outcome(s, counter);

	if (taken && *counter < 3)
		++*counter;
	else if (!taken && *counter)
		--*counter;
	return taken;
}

void rvt_ntrace_predict(struct rvt_ntrace_source *s, struct rvt_order *order)
{
	struct rvt_ntrace_ctte *ctte = s->ctte;

	/* It was walked before, as a prediction came first that is behind it. */
	if (ctte->sync_outcome == RVT_NTRACE_SYNC_OUTCOME_WALKED && s->hist.bits) {
		ctte->sync_outcome = RVT_NTRACE_NO_SYNC_OUTCOME;
		s->hist.bits--;
		s->hist.used++;
	} else if (s->hist.bits) {
		ctte->sync_outcome = RVT_NTRACE_NO_SYNC_OUTCOME;
	}
	order->outcome = predict;
	order->outcome_ctx = s;
	order->period = 0;
	if (order->flags & RVT_RUN_STOP_USED)
		order->n_outcomes = s->hist.bits + ctte->n_left +
				    (ctte->n_left &&
				     ctte->sync_outcome == RVT_NTRACE_SYNC_OUTCOME_DUE);
	else
		order->n_outcomes = ctte->predictor_known ? RVT_UNLIMITED : s->hist.bits;
}

static void set_predicts(struct rvt_ntrace_ctte *ctte, bool predicts)
{
	if (predicts && !ctte->predicts)
		ctte->predictor_known = false;
	ctte->predicts = predicts;
}

void rvt_ntrace_ctte_note(struct rvt_ntrace_ctte *ctte, const struct rvt_ntrace_msg *msg)
{
	switch (msg->field[RVT_NTRACE_F_TCODE]) {
	case RVT_NTRACE_CONFIGURATION:
		/* in BTM it may be enabled, and is not used */
		set_predicts(ctte, msg->field[RVT_NTRACE_F_ENAB] & ENAB_BRANCH_PREDICTION &&
			     msg->field[RVT_NTRACE_F_PARAM1] % 8 != PARAM1_BTM);
		break;
	case RVT_NTRACE_BRANCH_PREDICTION:
		set_predicts(ctte, true);
		break;
	default:
		break;
	}
}

/* ---- before decoding ---- */

struct rvt_ntrace_ctte_config rvt_ntrace_ctte_config(const struct rvt_params *params)
{
	return (struct rvt_ntrace_ctte_config){
		.predicts = params->options & RVT_OPT_BRANCH_PREDICTION,
		.xor = params->data_address == RVT_DATA_ADDRESS_XOR,
	};
}

/* Where there are several sources each would say it for itself. */
void rvt_ntrace_ctte_head(struct rvt_params *params, const void *bytes, size_t len)
{
	struct rvt_ntrace_ctte ctte = { .predicts = params->options & RVT_OPT_BRANCH_PREDICTION };
	struct rvt_ntrace_reader reader;
	enum rvt_ntrace_read read;
	struct rvt_ntrace_msg msg;

	if (params->dialect != RVT_DIALECT_NTRACE_CTTE || params->src_bits ||
	    rvt_ntrace_reader_init(&reader, params))
		return;
	rvt_ntrace_reader_feed(&reader, bytes, len, 0);
	while ((read = rvt_ntrace_reader_next(&reader, &msg)) != RVT_NTRACE_READ_MORE) {
		if (read != RVT_NTRACE_READ_MESSAGE)
			continue;
		rvt_ntrace_ctte_note(&ctte, &msg);
		if (msg.field[RVT_NTRACE_F_TCODE] == RVT_NTRACE_CONFIGURATION)
			params->data_address =
				msg.field[RVT_NTRACE_F_ENAB] & RVT_NTRACE_ENAB_DATA_XOR ?
					       RVT_DATA_ADDRESS_XOR : RVT_DATA_ADDRESS_FULL;
	}
	params->options &= ~(unsigned int)RVT_OPT_BRANCH_PREDICTION;
	params->options |= ctte.predicts ? RVT_OPT_BRANCH_PREDICTION : 0;
}
