// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * What CTTE's encoder has besides 1.0: a branch predictor, a cache of jump targets, a message that
 * says how it is configured, and synchronisation at branches.
 */
#include <errno.h>

#include "model/ntrace/encoder.h"

#define TAKEN_WEAKLY 2
#define TAKEN_STRONGLY 3
#define INDEX_BITS 6		/* of the cache */
#define ECODE_DATA 2u
#define STACK_DEPTH_SHIFT 8	/* in PARAM3, as the two below */
#define PREDICTOR_SHIFT 4
#define PREDICTOR_BITS 9
/* Of CAPS and ENAB */
#define CAP_IMPLICIT_RETURN (1u << 0)
#define CAP_REPEATED_HISTORY (1u << 1)
#define CAP_REPEAT_BRANCH (1u << 3)
#define CAP_JUMP_CACHE (1u << 4)
#define CAP_PREDICTION (1u << 5)
#define CAP_HIST_SYNC (1u << 8)
#define CAP_TIMESTAMP (1u << 15)
#define CAP_ADDR64 (1u << 23)

static bool predicts(const struct rvt_ntrace_encoder *enc)
{
	return enc->config.options & RVT_OPT_BRANCH_PREDICTION;
}

/* Returns what was predicted. */
static bool update(struct rvt_ntrace_encoder *enc, uint64_t pc, bool taken)
{
	uint8_t *counter = &enc->ctte.counters[pc >> 2 & (RVT_NTRACE_CTTE_COUNTERS - 1)];
	const bool predicted = *counter >= TAKEN_WEAKLY;

	if (taken)
		*counter += *counter < TAKEN_STRONGLY;
	else
		*counter -= *counter > 0;
	return predicted;
}

static void send_misprediction(struct rvt_ntrace_encoder *enc)
{
	struct rvt_ntrace_msg msg;

	rvt_ntrace_begin(&msg, RVT_NTRACE_BRANCH_PREDICTION);
	rvt_ntrace_set(&msg, RVT_NTRACE_F_BCNT, enc->ctte.predicted);
	enc->ctte.predicted = 0;
	rvt_ntrace_send(enc, &msg);
}

bool rvt_ntrace_ctte_branch(struct rvt_ntrace_encoder *enc, uint64_t pc, bool taken, bool due)
{
	const bool at_sync = enc->ctte.at_sync;
	bool predicted;

	enc->ctte.at_sync = false;
	if (taken && due && !at_sync) {
		if (predicts(enc))
			update(enc, pc, taken);
		return true;
	}
	if (!predicts(enc)) {
		rvt_ntrace_hist_add(enc, taken);
		return false;
	}
	predicted = update(enc, pc, taken);
	if (at_sync)
		rvt_ntrace_hist_add(enc, taken);
	else if (predicted == taken)
		enc->ctte.predicted++;
	else
		send_misprediction(enc);
	return false;
}

/* The number of the entry for @target. */
static unsigned int entry_of(const struct rvt_ntrace_encoder *enc, uint64_t target)
{
	const unsigned int top = enc->config.xlen == 32 ? 26 : 64;
	unsigned int entry = 0;

	for (unsigned int bit = 2; bit < top; bit++)
		entry ^= (target >> bit & 1) << (bit - 2) % INDEX_BITS;
	return entry;
}

bool rvt_ntrace_ctte_cached(struct rvt_ntrace_encoder *enc, uint64_t target, uint64_t *index)
{
	const unsigned int i = entry_of(enc, target);

	if (!(enc->config.options & RVT_OPT_JUMP_TARGET_CACHE))
		return false;
	*index = i;
	if (enc->ctte.valid[i] && enc->ctte.targets[i] == target)
		return true;
	enc->ctte.valid[i] = true;
	enc->ctte.targets[i] = target;
	return false;
}

void rvt_ntrace_send_configuration(struct rvt_ntrace_encoder *enc)
{
	const struct rvt_ntrace_encoder_config *c = &enc->config;
	uint64_t enabled = c->xlen == 64 ? CAP_ADDR64 : 0;
	struct rvt_ntrace_msg msg;

	if (c->options & RVT_OPT_IMPLICIT_RETURN)
		enabled |= CAP_IMPLICIT_RETURN;
	if (c->options & RVT_OPT_REPEATED_HISTORY)
		enabled |= CAP_REPEATED_HISTORY;
	if (c->options & RVT_OPT_JUMP_TARGET_CACHE)
		enabled |= CAP_JUMP_CACHE;
	if (c->options & RVT_OPT_BRANCH_PREDICTION)
		enabled |= CAP_PREDICTION;
	enabled |= (c->bcnt_bits ? CAP_REPEAT_BRANCH : 0) | (c->hist_sync ? CAP_HIST_SYNC : 0) |
		   (c->timestamp ? CAP_TIMESTAMP : 0);
	rvt_ntrace_begin(&msg, RVT_NTRACE_CONFIGURATION);
	rvt_ntrace_set(&msg, RVT_NTRACE_F_CFGVER, 1);
	rvt_ntrace_set(&msg, RVT_NTRACE_F_CAPS, enabled);
	rvt_ntrace_set(&msg, RVT_NTRACE_F_ENAB, enabled);
	rvt_ntrace_set(&msg, RVT_NTRACE_F_PARAM0, c->src << 4 | c->src_bits);
	rvt_ntrace_set(&msg, RVT_NTRACE_F_PARAM1,
		       !c->src_bits << 11 | c->sync_max << 7 | c->sync_mode << 3 |
		       (c->mode == RVT_MODE_HTM ? 6 : 3));
	rvt_ntrace_set(&msg, RVT_NTRACE_F_PARAM2, c->timestamp ? 1 : 0);
	rvt_ntrace_set(&msg, RVT_NTRACE_F_PARAM3, c->return_stack_depth << STACK_DEPTH_SHIFT |
		       PREDICTOR_BITS << PREDICTOR_SHIFT | INDEX_BITS);
	rvt_ntrace_send(enc, &msg);
}

int rvt_ntrace_encoder_drop_data(struct rvt_ntrace_encoder *enc)
{
	struct rvt_ntrace_msg msg;

	if (!rvt_ntrace_encoder_is_ctte(enc) || enc->state != RVT_NTRACE_RUNNING)
		return -EINVAL;
	rvt_ntrace_begin(&msg, RVT_NTRACE_ERROR);
	rvt_ntrace_set(&msg, RVT_NTRACE_F_ETYPE, 0);
	rvt_ntrace_set(&msg, RVT_NTRACE_F_ECODE, ECODE_DATA);
	rvt_ntrace_send(enc, &msg);
	return 0;
}
