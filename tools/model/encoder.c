/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Trace encoder (Trace Control Interface 1.0, "Trace Encoder"): its registers, filters, FIFO and messages. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "model.h"

#define TE_IMPL		0x004
#define TE_FEATURES	0x008
#define TE_FILTERS	0x00c
#define TE_DATA_CONTROL	0x010
#define TE_DATA_FILTERS	0x01c
#define TS_CONTROL	0x040
#define TS_LOW		0x048
#define TS_HIGH		0x04c
#define TE_TRIG_DBG	0x050
#define TE_TRIG_IN	0x054
#define TE_TRIG_OUT	0x058
#define TE_FILTER(i)	(0x400 + 0x20 * (i))

#define TE_TRACING	(1u << 2)
#define TE_MODE(ctl)	((ctl) >> 4 & 7)
#define TE_CONTEXT	(1u << 9)
#define TE_TRIG_ENABLE	(1u << 11)
#define TE_OVERFLOW	(1u << 12)
#define TE_STALL	(1u << 13)
#define TE_INHIBIT_SRC	(1u << 15)
#define TE_SYNC_MODE(ctl) ((ctl) >> 16 & 3)
#define TE_SYNC_MAX(ctl) ((ctl) >> 20 & 15)
#define TE_FORMAT(ctl)	((ctl) >> 24 & 7)
#define TE_CONTROL	(CTL_HANDSHAKE | TE_TRACING | 7u << 4 | TE_CONTEXT | TE_TRIG_ENABLE | TE_OVERFLOW | \
			 TE_STALL | TE_INHIBIT_SRC | 3u << 16 | 15u << 20 | 7u << 24)

#define TS_ACTIVE	(1u << 0)
#define TS_MODE(ctl)	((ctl) >> 4 & 7)
#define TS_ENABLE	(1u << 15)
#define TS_KNOWN	(0xffu << 16 | TS_ENABLE | 3u << 8 | 7u << 4 | 15u | 63u << 24)

#define FILTER_ENABLE	(1u << 0)
#define FILTER_PRIVILEGE (1u << 1)
#define FILTER_CONTROL	(FILTER_ENABLE | FILTER_PRIVILEGE | 3u << 2 | 0xffffu << 4 | 1u << 16 | 3u << 24)

#define FIXED_DESCS	13
#define FILTER_DESCS	2
#define MAX_FILTERS	16

struct encoder {
	struct reg_desc descs[FIXED_DESCS + FILTER_DESCS * MAX_FILTERS];
	struct hart *hart;
	struct rvt_ntrace_encoder *ntrace;	/* from Enable to Enable */
	uint64_t drained_insns;			/* the hart's count when the FIFO last drained */
	uint32_t fifo;				/* bytes in it */
};

/* ---- messages on their way ---- */

/* Model of the FIFO: bytes leave it at once, but its level goes down only as the hart executes. */
static void drain(struct component *c)
{
	struct encoder *e = c->own;
	uint64_t bytes = (e->hart->insns - e->drained_insns) * model.args.drain / 1000;

	if (!bytes)
		return;
	e->drained_insns = e->hart->insns;
	e->fifo -= bytes < e->fifo ? (uint32_t)bytes : e->fifo;
}

static int encoder_emit(void *ctx, const uint8_t *bytes, size_t len)
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
			/* The hart waits; in the model no time passes for that. */
			e->fifo = 0;
		}
		e->fifo += (uint32_t)len;
	}
	ret = c->out->ops->accept(c->out, bytes, len);
	if (ret)
		part_sticky(c, TE_OVERFLOW);
	else
		e->hart->emitted = true;
	return ret;
}

static bool encoder_room(void *ctx)
{
	struct component *c = ctx;
	struct encoder *e = c->own;

	if (!c->out->enabled)
		return false;
	if (!model.args.fifo)
		return true;
	drain(c);
	return e->fifo <= model.args.fifo / 2;
}

static uint64_t encoder_now(void *ctx)
{
	struct component *c = ctx;
	struct encoder *e = c->own;
	uint64_t mask = model.args.ts_width >= 64 ? ~0ull : (1ull << model.args.ts_width) - 1;

	return hart_time(e->hart) & mask;
}

/* ---- N-Trace from the registers ---- */

static bool timestamps(const struct component *c)
{
	uint32_t ts = reg_get(c, TS_CONTROL);

	return ts & TS_ACTIVE && ts & TS_ENABLE && TS_MODE(ts);
}

static void ntrace_config(struct component *c, struct rvt_ntrace_encoder_config *config)
{
	uint32_t ctl = reg_get(c, 0), feat = reg_get(c, TE_FEATURES);
	unsigned int ir_mode = feat >> 6 & 3;
	static const struct {
		unsigned int bit, option;
	} map[] = {
		{ 2, RVT_OPT_SEQUENTIAL_JUMP }, { 8, RVT_OPT_REPEATED_HISTORY },
		{ 9, RVT_OPT_ALL_JUMPS }, { 10, RVT_OPT_EXTEND_ADDRESS_MSB },
	};

	*config = (struct rvt_ntrace_encoder_config){
		.dialect = model.args.dialect,
		.mode = TE_MODE(ctl) == 3 ? RVT_MODE_BTM : RVT_MODE_HTM,
		.xlen = 64,
		.return_stack_depth = model.args.stack_depth,
		.src_bits = ctl & TE_INHIBIT_SRC ? 0 : feat >> 28,
		.context = ctl & TE_CONTEXT,
		.timestamp = timestamps(c) ? model.args.timestamp : RVT_TIMESTAMP_NONE,
		.sync_mode = TE_SYNC_MODE(ctl), .sync_max = TE_SYNC_MAX(ctl),
		.icnt_bits = model.args.icnt_bits, .hist_bits = model.args.hist_bits,
		.hrepeat_bits = model.args.hrepeat_bits, .bcnt_bits = model.args.bcnt_bits,
		.emit = encoder_emit, .room = encoder_room, .now = encoder_now, .ctx = c,
	};
	config->src = (feat >> 16 & 0xfff) & ((1u << config->src_bits) - 1);
	for (size_t i = 0; i < sizeof(map) / sizeof(*map); i++)
		if (feat >> map[i].bit & 1)
			config->options |= map[i].option;
	if (feat & 1u << 3 && ir_mode) {
		config->options |= RVT_OPT_IMPLICIT_RETURN;
		config->implicit_return_mode = ir_mode;
	}
}

/* ---- what its hart sees ---- */

static bool filter_matches(const struct component *c, unsigned int i, unsigned int prv)
{
	uint32_t ctl = reg_get(c, TE_FILTER(i));

	if (!(ctl & FILTER_ENABLE))
		return false;
	return !(ctl & FILTER_PRIVILEGE) || reg_get(c, TE_FILTER(i) + 4) >> prv & 1;
}

bool encoder_qualifies(const struct component *c, unsigned int prv)
{
	uint32_t used = reg_get(c, TE_FILTERS);

	for (unsigned int i = 0; i < model.args.filters; i++)
		if (used >> i & 1 && filter_matches(c, i, prv))
			return true;
	return !used;
}

void encoder_begin(struct component *c)
{
	struct encoder *e = c->own;

	if (e->ntrace)
		rvt_ntrace_encoder_start(e->ntrace, RVT_NTRACE_SYNC_TRACE_ENABLE);
}

void encoder_retire(struct component *c, const struct rvt_retire *run)
{
	struct encoder *e = c->own;

	if (!e->ntrace)
		return;
	rvt_ntrace_encoder_clocks(e->ntrace, run->insns);
	rvt_ntrace_encoder_retire(e->ntrace, run);
}

void encoder_trap(struct component *c, const struct rvt_trap *trap)
{
	struct encoder *e = c->own;

	if (e->ntrace)
		rvt_ntrace_encoder_trap(e->ntrace, trap);
}

void encoder_context(struct component *c, bool hcontext, uint64_t value)
{
	struct encoder *e = c->own;

	if (e->ntrace)
		rvt_ntrace_encoder_context(e->ntrace, hcontext, value);
}

void encoder_end(struct component *c, uint64_t next_pc)
{
	struct encoder *e = c->own;

	if (e->ntrace)
		rvt_ntrace_encoder_stop(e->ntrace, RVT_NTRACE_EV_TRACE_DISABLED, next_pc);
}

bool encoder_lossy(const struct component *c)
{
	const struct encoder *e = c->own;

	return e->ntrace && rvt_ntrace_encoder_lossy(e->ntrace);
}

/* ---- registers ---- */

static const char *encoder_enable(struct component *c)
{
	struct rvt_ntrace_encoder_config config;
	struct encoder *e = c->own;
	const char *why = NULL;

	pthread_mutex_lock(&e->hart->lock);
	__atomic_and_fetch(&c->sticky, ~TE_OVERFLOW, __ATOMIC_RELEASE);
	e->fifo = 0;
	e->drained_insns = e->hart->insns;
	if (TE_MODE(reg_get(c, 0))) {
		ntrace_config(c, &config);
		if (rvt_ntrace_encoder_create(&config, &e->ntrace))
			why = "its settings fit no encoder";
		else
			rvt_ntrace_encoder_context(e->ntrace, false, e->hart->scontext);
	}
	pthread_mutex_unlock(&e->hart->lock);
	return why;
}

static void encoder_disable(struct component *c)
{
	struct encoder *e = c->own;

	hart_want(e->hart, false);
	pthread_mutex_lock(&e->hart->lock);
	rvt_ntrace_encoder_destroy(e->ntrace);
	e->ntrace = NULL;
	pthread_mutex_unlock(&e->hart->lock);
	reg_set(c, 0, reg_get(c, 0) & ~TE_TRACING);
}

static uint32_t lowest(uint32_t set)
{
	return set ? (uint32_t)__builtin_ctz(set) : 0;
}

static uint32_t highest(uint32_t set)
{
	return set ? 31 - (uint32_t)__builtin_clz(set) : 0;
}

static uint32_t legal_control(uint32_t value)
{
	uint32_t mode = TE_MODE(value), sync = TE_SYNC_MODE(value), format = TE_FORMAT(value);

	if (mode && !(model.args.modes >> mode & 1))
		mode = highest(model.args.modes);
	if (sync && !(model.args.sync_modes >> sync & 1))
		sync = lowest(model.args.sync_modes);
	if (!(model.args.formats >> format & 1))
		format = lowest(model.args.formats);
	value &= ~(7u << 4 | 3u << 16 | 7u << 24 | TE_OVERFLOW);
	return value | mode << 4 | sync << 16 | format << 24;
}

static uint32_t encoder_legal(struct component *c, uint32_t offset, uint32_t value)
{
	uint32_t mode;

	(void)c;
	switch (offset) {
	case 0:
		return legal_control(value);
	case TE_FEATURES:
		/* Sources wider than 12 bits do not exist. */
		return value >> 28 > 12 ? (value & ~(15u << 28)) | 12u << 28 : value;
	case TS_CONTROL:
		mode = TS_MODE(value);
		return mode > 1 ? (value & ~(7u << 4)) | 1u << 4 : value;
	default:
		return value;
	}
}

static void encoder_wrote(struct component *c, uint32_t offset, uint32_t value)
{
	struct encoder *e = c->own;
	bool tracing;

	if (offset)
		return;
	if (value & TE_OVERFLOW)
		__atomic_and_fetch(&c->sticky, ~TE_OVERFLOW, __ATOMIC_RELEASE);
	tracing = reg_get(c, 0) & TE_TRACING;
	if (tracing && value & TE_TRACING && !(c->shown & CTL_ENABLE))
		violation(c, "trTeInstTracing set before trTeEnable was read back");
	if (c->enabled && value & CTL_ENABLE)
		hart_want(e->hart, tracing && TE_MODE(reg_get(c, 0)));
}

static void encoder_was_read(struct component *c, uint32_t offset)
{
	struct encoder *e = c->own;
	uint64_t now;

	if ((offset != TS_LOW && offset != TS_HIGH) || !(reg_get(c, TS_CONTROL) & TS_ACTIVE))
		return;
	now = encoder_now(c);
	(void)e;
	reg_set(c, TS_LOW, (uint32_t)now);
	reg_set(c, TS_HIGH, (uint32_t)(now >> 32));
}

static const struct part_ops encoder_ops = {
	.name = "encoder",
	.legal = encoder_legal,
	.wrote = encoder_wrote,
	.was_read = encoder_was_read,
	.enable = encoder_enable,
	.disable = encoder_disable,
	.live_control = TE_TRACING | TE_TRIG_ENABLE | TE_OVERFLOW,
};

static unsigned int describe(struct reg_desc *d)
{
	const struct model_args *a = &model.args;
	uint32_t filters = (1u << a->filters) - 1;
	const struct reg_desc fixed[FIXED_DESCS] = {
		{ .offset = 0, .known = TE_CONTROL, .undefined = ~0u,
		  .warl = a->warl_control & ~(CTL_HANDSHAKE | TE_OVERFLOW) },
		{ .offset = TE_IMPL, .known = ~0u,
		  .value = a->version | PART_ENCODER << 8 | a->protocol_version << 16 },
		{ .offset = TE_FEATURES, .known = 0xffff07ff, .warl = a->warl_features, .undefined = ~0u,
		  .must_init = true },
		{ .offset = TE_FILTERS, .known = 0xffff, .warl = filters, .undefined = ~0u, .must_init = true },
		{ .offset = TE_DATA_CONTROL, .known = 0xf007f },
		{ .offset = TE_DATA_FILTERS, .known = 0xffff },
		{ .offset = TS_CONTROL, .known = TS_KNOWN, .warl = a->warl_ts, .undefined = ~0u,
		  .must_init = true, .value = a->ts_width << 24 },
		{ .offset = TS_LOW, .known = ~0u, .live = true },
		{ .offset = TS_HIGH, .known = ~0u, .live = true },
		{ .offset = TE_TRIG_DBG, .known = ~0u },
		{ .offset = TE_TRIG_IN, .known = ~0u },
		{ .offset = TE_TRIG_OUT, .known = ~0u },
	};
	unsigned int n = FIXED_DESCS - 1;

	memcpy(d, fixed, sizeof(fixed));
	for (unsigned int i = 0; i < a->filters; i++) {
		d[n++] = (struct reg_desc){ .offset = TE_FILTER(i), .known = FILTER_CONTROL,
					    .warl = FILTER_ENABLE | FILTER_PRIVILEGE, .undefined = ~0u };
		d[n++] = (struct reg_desc){ .offset = TE_FILTER(i) + 4, .known = 0x1ff, .warl = 0xff,
					    .undefined = ~0u };
	}
	return n;
}

int encoder_new(unsigned int index, uint32_t offset)
{
	struct encoder *e = calloc(1, sizeof(*e));
	struct component *c;
	unsigned int n;

	if (!e)
		return -ENOMEM;
	n = describe(e->descs);
	e->hart = &harts[index];
	c = part_new(PART_ENCODER, &encoder_ops, e->descs, n, index, offset);
	if (!c)
		return -ENOSPC;
	c->own = e;
	e->hart->encoder = c;
	return 0;
}
