/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Registers of encoders and funnels as SiFive had them before the Trace Control Interface was
 * ratified, with the registers of a sink inside. Such a block only has registers; an encoder or a
 * funnel, and a sink, of the ratified interface do the work. These are where the guest does not
 * find them, answer at once, and get what is written to the block.
 */
#include <stdlib.h>
#include <string.h>
#include "te.h"

#define V0_SAME		(CTL_ACTIVE | CTL_ENABLE | TE_TRACING | TE_STALL | TE_INHIBIT_SRC)
#define V0_OVERFLOW	(1u << 12)	/* write 0 to clear */
#define V0_STOP		(1u << 14)
#define V0_SYNC		(0xffu << 16)
#define V0_SYNC_BRANCHES(ctl) ((ctl) >> 16 & 15)
#define V0_SYNC_INSNS(ctl) ((ctl) >> 20 & 15)
#define V0_SYNC_OFF	15u
#define V0_FORMAT	(1u << 24)
#define V0_SINK_ERROR	(1u << 27)	/* write 1 to clear */
#define V0_SINK		(15u << 28)
#define V0_SINK_MEMORY	(7u << 28)
#define V0_SINK_FUNNEL	(8u << 28)
#define V0_MODE_OPTIMIZATIONS 7u

#define V0_IMPL		0x04
#define V0_EVENTS	0x0c
#define V0_BASE		0x10
#define V0_HIGH		0x14
#define V0_LIMIT	0x18
#define V0_WP		0x1c
#define V0_TS_CONTROL	0x40
#define V0_TS_LOW	0x44
#define V0_TS_HIGH	0x48
#define V0_TS_STAMPS	(0xfu << 16)

/* Of the sink behind it. */
#define RAM_MODE_SMEM	(1u << 4)
#define RAM_STOP	(1u << 8)
#define RAM_START_LOW	0x010
#define RAM_START_HIGH	0x014
#define RAM_LIMIT_LOW	0x018
#define RAM_LIMIT_HIGH	0x01c
#define RAM_WP_LOW	0x020
#define RAM_WP_HIGH	0x024
#define RAM_RP_LOW	0x028

#define SYNC_MESSAGES	1u
#define SYNC_INSNS	3u

#define N_DESCS 10

struct v0 {
	struct reg_desc descs[N_DESCS];
	struct component *host, *sink;	/* .sink NULL: none */
	unsigned int src_bits;
};

/* ---- components behind it ---- */

static uint32_t host_control(const struct component *c)
{
	uint32_t value = reg_get(c, 0), control = value & (V0_SAME & ~TE_TRACING);
	uint32_t mode = TE_MODE(value);

	if (c->type != PART_ENCODER)
		return value & (CTL_ACTIVE | CTL_ENABLE);
	control |= (mode == V0_MODE_OPTIMIZATIONS ? 6 : mode) << 4 | 1u << 24;
	if (V0_SYNC_BRANCHES(value) != V0_SYNC_OFF)
		return control | SYNC_MESSAGES << 16 | (V0_SYNC_BRANCHES(value) + 1) << 20;
	if (V0_SYNC_INSNS(value) != V0_SYNC_OFF)
		return control | SYNC_INSNS << 16 | (V0_SYNC_INSNS(value) + 1) << 20;
	return control;
}

/* Optimisations can only be switched on together: counted returns, and counts of branches. */
static uint32_t host_features(const struct component *c)
{
	const struct v0 *v = c->own;
	uint32_t features = v->src_bits << 28 | c->index << 16;

	return TE_MODE(reg_get(c, 0)) != V0_MODE_OPTIMIZATIONS ? features :
	       features | 1u << 3 | 1u << 6 | 1u << 8;
}

static void start(struct component *c)
{
	const struct v0 *v = c->own;

	if (v->sink)
		part_write(v->sink, 0, CTL_ACTIVE | CTL_ENABLE | RAM_MODE_SMEM |
			   (reg_get(c, 0) & V0_STOP ? RAM_STOP : 0));
	if (c->type == PART_ENCODER)
		part_write(v->host, TE_FEATURES, host_features(c));
	part_write(v->host, 0, (host_control(c) & ~CTL_HANDSHAKE) | CTL_ACTIVE);
	part_write(v->host, 0, (host_control(c) & ~CTL_HANDSHAKE) | CTL_ACTIVE | CTL_ENABLE);
}

/* Stops the component; the sink takes nothing afterwards. */
static void stop(struct component *c)
{
	const struct v0 *v = c->own;

	part_write(v->host, 0, (host_control(c) & ~CTL_HANDSHAKE) | CTL_ACTIVE);
	if (v->sink)
		part_write(v->sink, 0, CTL_ACTIVE | RAM_MODE_SMEM |
			   (reg_get(c, 0) & V0_STOP ? RAM_STOP : 0));
}

static void v0_reset(struct component *c)
{
	const struct v0 *v = c->own;

	part_write(v->host, 0, 0);
	part_write(v->host, 0, CTL_ACTIVE);
	if (!v->sink)
		return;
	part_write(v->sink, 0, 0);
	part_write(v->sink, 0, CTL_ACTIVE);
	part_write(v->sink, 0, CTL_ACTIVE | RAM_MODE_SMEM);
}

/* ---- writes ---- */

static void wrote_control(struct component *c, uint32_t value)
{
	const struct v0 *v = c->own;
	uint32_t tracing = c->type == PART_ENCODER ? reg_get(c, 0) & TE_TRACING : 0;

	if (!(value & V0_OVERFLOW)) {
		__atomic_and_fetch(&v->host->sticky, ~TE_OVERFLOW, __ATOMIC_RELEASE);
		__atomic_and_fetch(&c->sticky, ~V0_OVERFLOW, __ATOMIC_RELEASE);
	}
	if (v->host->enabled && !c->enabled)
		stop(c);
	else if (!v->host->enabled && c->enabled)
		start(c);
	if (c->enabled && tracing != (reg_get(v->host, 0) & TE_TRACING))
		part_write(v->host, 0, (host_control(c) & ~CTL_HANDSHAKE) | CTL_ACTIVE |
			   CTL_ENABLE | tracing);
}

static void v0_wrote(struct component *c, uint32_t offset, uint32_t value)
{
	const struct v0 *v = c->own;

	switch (offset) {
	case 0:
		wrote_control(c, value);
		break;
	case V0_TS_CONTROL:
		part_write(v->host, TS_CONTROL, value & ~V0_TS_STAMPS);
		break;
	case V0_BASE:
		part_write(v->sink, RAM_START_LOW, value);
		break;
	case V0_HIGH:
		part_write(v->sink, RAM_START_HIGH, value);
		part_write(v->sink, RAM_LIMIT_HIGH, value);
		part_write(v->sink, RAM_WP_HIGH, value);
		break;
	case V0_LIMIT:
		part_write(v->sink, RAM_LIMIT_LOW, value);
		break;
	case V0_WP:
		part_write(v->sink, RAM_WP_LOW, value);
		break;
	}
}

static uint32_t legal_control(const struct component *c, uint32_t value)
{
	const struct v0 *v = c->own;
	uint32_t mode = TE_MODE(value);

	value &= ~(V0_SINK | 7u << 4);
	if (c->type == PART_ENCODER &&
	    (mode == V0_MODE_OPTIMIZATIONS || model.args.modes >> mode & 1))
		value |= mode << 4;
	return value | (v->sink ? V0_SINK_MEMORY : V0_SINK_FUNNEL);
}

/* Returns the value that the component behind makes of it. */
static uint32_t v0_legal(struct component *c, uint32_t offset, uint32_t value)
{
	uint32_t align = model.args.access_width - 1;
	const struct v0 *v = c->own;

	switch (offset) {
	case 0:
		return legal_control(c, value);
	case V0_TS_CONTROL:
		return timestamp_legal(v->host, value);
	case V0_BASE: case V0_LIMIT:
		return value & ~align;
	case V0_WP:
		return value & (~align | 1);
	default:
		return value;
	}
}

void v0_changed(struct component *c, const struct component *inner, uint32_t offset)
{
	const struct v0 *v = c->own;

	if (inner == v->sink && offset == RAM_WP_LOW)
		reg_set(c, V0_WP, reg_get(inner, offset));
	else if (inner == v->host && offset == TS_LOW)
		reg_set(c, V0_TS_LOW, reg_get(inner, offset));
	else if (inner == v->host && offset == TS_HIGH)
		reg_set(c, V0_TS_HIGH, reg_get(inner, offset));
}

static void v0_was_read(struct component *c, uint32_t offset)
{
	const struct v0 *v = c->own;

	if (offset == V0_TS_LOW || offset == V0_TS_HIGH)
		timestamp_show(v->host);
}

static const struct part_ops encoder_ops = {
	.name = "v0 encoder",
	.legal = v0_legal,
	.wrote = v0_wrote,
	.was_read = v0_was_read,
	.reset = v0_reset,
	.live_control = TE_TRACING | V0_OVERFLOW | V0_SINK_ERROR,
};

static const struct part_ops funnel_ops = {
	.name = "v0 funnel",
	.legal = v0_legal,
	.wrote = v0_wrote,
	.was_read = v0_was_read,
	.reset = v0_reset,
	.live_control = V0_OVERFLOW | V0_SINK_ERROR,
};

static unsigned int describe(const struct component *host, const struct v0 *v, struct reg_desc *d)
{
	const bool encoder = host->type == PART_ENCODER;
	const uint32_t settings = encoder ? 7u << 4 | TE_STALL | TE_INHIBIT_SRC | V0_SYNC : 0;
	const uint32_t tracing = encoder ? TE_TRACING : 0;
	const uint32_t width = (uint32_t)__builtin_ctz(model.args.access_width) - 2;
	const struct reg_desc common[] = {
		{ .offset = 0,
		  .known = CTL_HANDSHAKE | tracing | settings | V0_OVERFLOW | V0_STOP |
			   V0_SINK_ERROR | V0_SINK,
		  .warl = tracing | settings | V0_STOP | V0_SINK,
		  .undefined = settings | V0_STOP,
		  .value = encoder ? V0_FORMAT : 0 },
		{ .offset = V0_IMPL,
		  .known = ~0u,
		  .value = (v->sink ? 1u << 7 : 1u << 8) | width << 16 | host->index << 20 |
			   v->src_bits << 24 | host->index << 28 },
		{ .offset = V0_TS_CONTROL,
		  .known = 0x3f0f8fff,
		  .warl = model.args.ts_modes ? V0_TS_STAMPS | 0x8373 : 0,
		  .undefined = ~1u,
		  .live = true,
		  .must_init = true,
		  .value = model.args.ts_modes ? model.args.ts_width << 24 : 0 },
		{ .offset = V0_TS_LOW, .known = ~0u, .live = true },
		{ .offset = V0_TS_HIGH, .known = ~0u, .live = true },
	};
	const struct reg_desc sink[] = {
		{ .offset = V0_BASE, .known = ~0u, .warl = ~3u, .undefined = ~0u,
		  .must_init = true },
		{ .offset = V0_HIGH, .known = ~0u, .warl = ~0u, .undefined = ~0u,
		  .must_init = true },
		{ .offset = V0_LIMIT, .known = ~0u, .warl = ~3u, .undefined = ~0u,
		  .must_init = true },
		{ .offset = V0_WP, .known = ~0u, .warl = ~2u, .undefined = ~0u, .must_init = true },
	};
	unsigned int n = sizeof(common) / sizeof(*common);

	memcpy(d, common, sizeof(common));
	if (!v->sink)
		return n;
	memcpy(d + n, sink, sizeof(sink));
	return n + sizeof(sink) / sizeof(*sink);
}

struct component *v0_new(struct component *host, struct component *sink, unsigned int src_bits,
			 uint32_t offset)
{
	struct v0 *v = calloc(1, sizeof(*v));
	struct component *c;

	if (!v)
		return NULL;
	v->host = host;
	v->sink = sink;
	v->src_bits = host->type == PART_ENCODER ? src_bits : 0;
	c = part_new(host->type, host->type == PART_ENCODER ? &encoder_ops : &funnel_ops, v->descs,
		     describe(host, v, v->descs), host->index, offset);
	if (!c)
		return NULL;
	c->own = v;
	host->front = c;
	if (sink)
		sink->front = c;
	return c;
}
