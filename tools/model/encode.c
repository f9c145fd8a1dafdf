/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Makes messages from what a hart retires, and sends them: the protocols' encoders, set up by the
 * registers.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <rvtrace/etrace.h>
#include "te.h"

/* ---- sending messages ---- */

/* Models the FIFO: bytes leave it at once, but its level falls only as the hart executes. */
static void drain(struct component *c)
{
	struct encoder *e = c->own;
	uint64_t bytes = (e->hart->insns - e->drained_insns) * model.args.drain / 1000;

	if (!bytes)
		return;
	e->drained_insns = e->hart->insns;
	e->fifo -= bytes < e->fifo ? (uint32_t)bytes : e->fifo;
}

void encode_reset_fifo(struct component *c)
{
	struct encoder *e = c->own;

	e->fifo = 0;
	e->drained_insns = e->hart->insns;
}

/*
 * Returns whether a decoder that gets nothing more knows the hart's position: not by N-Trace's
 * Ownership, nor by ResourceFull with history but without I-CNT.
 */
static bool tells_position(const struct encoder *e, const uint8_t *bytes)
{
	unsigned int tcode = bytes[0] >> 2, bit = 6 + e->src_bits, rcode = 0;

	if (!e->ntrace || tcode == RVT_NTRACE_OWNERSHIP)
		return !e->ntrace;
	/* each byte has six bits of the message, above the two of MSEO */
	for (unsigned int i = 0; i < 4; i++, bit++)
		rcode |= (bytes[bit / 6] >> (2 + bit % 6) & 1) << i;
	return tcode != RVT_NTRACE_RESOURCE_FULL || rcode == 0;
}

static int emit(void *ctx, const uint8_t *bytes, size_t len)
{
	struct component *c = ctx;
	struct encoder *e = c->own;
	int ret;

	if (model.args.fifo) {
		drain(c);
		if (e->fifo + len > model.args.fifo) {
			part_sticky(c, TE_OVERFLOW);
			if (!(reg_get(c, 0) & TE_STALL))
				return -ENOSPC;
			/* the hart waits, for which no time passes in the model */
			e->fifo = 0;
		}
		e->fifo += (uint32_t)len;
	}
	ret = part_pass(c, bytes, len);
	/*
	 * the hart executes nothing, and takes no interrupt, until there is room or no need to wait
	 */
	while (ret && model.args.stall && can_wait && reg_get(c, 0) & TE_STALL &&
	       __atomic_load_n(&c->enabled, __ATOMIC_ACQUIRE)) {
		usleep(10);
		ret = part_pass(c, bytes, len);
	}
	if (ret)
		part_sticky(c, TE_OVERFLOW);
	else if (tells_position(e, bytes))
		e->hart->emitted = true;
	return ret;
}

static bool room(void *ctx)
{
	struct component *c = ctx;
	struct encoder *e = c->own;

	if (!part_has_room(c))
		return false;
	if (!model.args.fifo)
		return true;
	drain(c);
	return e->fifo <= model.args.fifo / 2;
}

static uint64_t now(void *ctx)
{
	const struct component *c = ctx;
	struct encoder *e = c->own;
	uint64_t stamp = timestamp_now(c);

	/* two clocks can differ by a tick, but a stamp must not go back */
	if (stamp > e->hart->last_stamp || e->hart->last_stamp - stamp > 1000)
		e->hart->last_stamp = stamp;
	return e->hart->last_stamp;
}

/* ---- protocols from the registers ---- */

static const struct {
	unsigned int bit, option;
} feature_options[] = {
	{ 0, RVT_OPT_FULL_ADDRESS },
	{ 1, RVT_OPT_IMPLICIT_EXCEPTION },
	{ 2, RVT_OPT_SEQUENTIAL_JUMP },
	{ 4, RVT_OPT_BRANCH_PREDICTION },
	{ 5, RVT_OPT_JUMP_TARGET_CACHE },
	{ 8, RVT_OPT_REPEATED_HISTORY },
	{ 9, RVT_OPT_ALL_JUMPS },
	{ 10, RVT_OPT_EXTEND_ADDRESS_MSB },
};

#define ETRACE_OPTIONS \
	(RVT_OPT_FULL_ADDRESS | RVT_OPT_IMPLICIT_EXCEPTION | RVT_OPT_SEQUENTIAL_JUMP | \
	 RVT_OPT_BRANCH_PREDICTION | RVT_OPT_JUMP_TARGET_CACHE | RVT_OPT_IMPLICIT_RETURN)
#define DATA_OPTIONS (RVT_OPT_DATA_NO_ADDRESS | RVT_OPT_DATA_NO_VALUE | RVT_OPT_MULTI_ACCESS)
#define NTRACE_OPTIONS (RVT_OPT_SEQUENTIAL_JUMP | RVT_OPT_REPEATED_HISTORY | RVT_OPT_ALL_JUMPS | \
			RVT_OPT_EXTEND_ADDRESS_MSB | RVT_OPT_IMPLICIT_RETURN)

static unsigned int return_mode(const struct component *c)
{
	return reg_get(c, TE_FEATURES) >> 6 & 3;
}

static unsigned int options(const struct component *c)
{
	uint32_t features = reg_get(c, TE_FEATURES);
	unsigned int set = 0;

	for (size_t i = 0; i < sizeof(feature_options) / sizeof(*feature_options); i++)
		if (features >> feature_options[i].bit & 1)
			set |= feature_options[i].option;
	/* the specification has an enable bit and a mode: both must be set */
	if (features & 1u << 3 && return_mode(c))
		set |= RVT_OPT_IMPLICIT_RETURN;
	return set;
}

static unsigned int src(const struct component *c, unsigned int bits)
{
	return (reg_get(c, TE_FEATURES) >> 16 & 0xfff) & ((1u << bits) - 1);
}

static int create_ntrace(struct component *c, struct encoder *e)
{
	uint32_t ctl = reg_get(c, 0);
	struct rvt_ntrace_encoder_config config = {
		.dialect = model.args.dialect,
		.mode = TE_MODE(ctl) == 3 ? RVT_MODE_BTM : RVT_MODE_HTM,
		.xlen = 64,
		.options = options(c) & NTRACE_OPTIONS,
		.implicit_return_mode = return_mode(c),
		.return_stack_depth = model.args.stack_depth,
		.src_bits = ctl & TE_INHIBIT_SRC ? 0 : reg_get(c, TE_FEATURES) >> 28,
		.context = ctl & TE_CONTEXT,
		.timestamp = timestamp_enabled(c) ? model.args.timestamp : RVT_TIMESTAMP_NONE,
		.sync_mode = TE_SYNC_MODE(ctl), .sync_max = TE_SYNC_MAX(ctl),
		.icnt_bits = model.args.icnt_bits, .hist_bits = model.args.hist_bits,
		.hrepeat_bits = model.args.hrepeat_bits, .bcnt_bits = model.args.bcnt_bits,
		.emit = emit, .room = room, .now = now, .ctx = c,
	};
	int ret;

	e->src_bits = config.src_bits;
	config.src = src(c, config.src_bits);
	ret = rvt_ntrace_encoder_create(&config, &e->ntrace);
	if (ret)
		return ret;
	rvt_ntrace_encoder_context(e->ntrace, false, e->hart->scontext);
	/* is only sent if used */
	if (e->hart->hcontext)
		rvt_ntrace_encoder_context(e->ntrace, true, e->hart->hcontext);
	return 0;
}

static int create_etrace(struct component *c, struct encoder *e)
{
	uint32_t ctl = reg_get(c, 0);
	struct rvt_params params = model.etrace;
	struct rvt_etrace_encoder_config config = {
		.params = &params,
		.context = ctl & TE_CONTEXT && !params.nocontext_p,
		.sync_mode = TE_SYNC_MODE(ctl), .sync_max = TE_SYNC_MAX(ctl),
		.emit = emit, .room = room, .now = timestamp_enabled(c) ? now : NULL, .ctx = c,
	};
	int ret;

	params.options = (options(c) & ETRACE_OPTIONS) | (model.etrace.options & DATA_OPTIONS);
	params.srcid_bits = ctl & TE_INHIBIT_SRC ? 0 : reg_get(c, TE_FEATURES) >> 28;
	config.src = src(c, params.srcid_bits);
	ret = rvt_etrace_encoder_create(&config, &e->etrace);
	if (!ret)
		rvt_etrace_encoder_context(e->etrace, e->hart->scontext);
	return ret;
}

const char *encode_create(struct component *c)
{
	struct encoder *e = c->own;
	uint32_t ctl = reg_get(c, 0);
	int ret;

	if (!TE_MODE(ctl))
		return NULL;
	if (TE_FORMAT(ctl) == FORMAT_ETRACE)
		ret = create_etrace(c, e);
	else
		ret = create_ntrace(c, e);
	return ret ? "its settings fit no encoder" : NULL;
}

void encode_destroy(struct component *c)
{
	struct encoder *e = c->own;

	rvt_ntrace_encoder_destroy(e->ntrace);
	rvt_etrace_encoder_destroy(e->etrace);
	e->ntrace = NULL;
	e->etrace = NULL;
}

/* ---- from its hart ---- */

void encoder_begin(struct component *c)
{
	struct encoder *e = c->own;

	e->began = model_time();
	e->traced_insns = 0;
	if (e->ntrace)
		rvt_ntrace_encoder_start(e->ntrace, RVT_NTRACE_SYNC_TRACE_ENABLE);
	else if (e->etrace)
		rvt_etrace_encoder_start(e->etrace);
}

void encoder_retire(struct component *c, const struct rvt_retire *run)
{
	struct encoder *e = c->own;

	if (e->ntrace) {
		rvt_ntrace_encoder_clocks(e->ntrace, run->insns);
		rvt_ntrace_encoder_retire(e->ntrace, run);
	} else if (e->etrace) {
		rvt_etrace_encoder_clocks(e->etrace, run->insns);
		rvt_etrace_encoder_retire(e->etrace, run);
	}
	/*
	 * the encoder learns and sends where the last jump went only now: that was before this run
	 */
	e->traced_insns += run->insns;
}

void encoder_trap(struct component *c, const struct rvt_trap *trap)
{
	struct encoder *e = c->own;

	if (e->ntrace)
		rvt_ntrace_encoder_trap(e->ntrace, trap);
	else if (e->etrace)
		rvt_etrace_encoder_trap(e->etrace, trap);
}

bool encoder_access(struct component *c, const struct rvt_access *access)
{
	struct encoder *e = c->own;

	if (e->etrace)
		rvt_etrace_encoder_access(e->etrace, access);
	return e->etrace;
}

void encoder_context(struct component *c, bool hcontext, uint64_t value)
{
	struct encoder *e = c->own;

	if (e->ntrace)
		rvt_ntrace_encoder_context(e->ntrace, hcontext, value);
	else if (e->etrace && !hcontext)
		rvt_etrace_encoder_context(e->etrace, value);
}

void encoder_mark(struct component *c, bool external)
{
	struct encoder *e = c->own;

	if (e->ntrace)
		rvt_ntrace_encoder_mark(e->ntrace, external ? RVT_NTRACE_SYNC_EXT_TRIGGER :
							      RVT_NTRACE_SYNC_TRACE_EVENT);
	else if (e->etrace)
		rvt_etrace_encoder_mark(e->etrace);
}

void encoder_end(struct component *c, uint64_t next_pc)
{
	struct encoder *e = c->own;

	if (e->ntrace)
		rvt_ntrace_encoder_stop(e->ntrace, RVT_NTRACE_EV_TRACE_DISABLED, next_pc);
	else if (e->etrace)
		rvt_etrace_encoder_stop(e->etrace, !e->hart->wanted);
}

bool encoder_lossy(const struct component *c)
{
	const struct encoder *e = c->own;

	if (e->ntrace)
		return rvt_ntrace_encoder_lossy(e->ntrace);
	return e->etrace && rvt_etrace_encoder_lossy(e->etrace);
}
