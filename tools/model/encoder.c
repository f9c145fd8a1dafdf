/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Trace encoder (Trace Control Interface 1.0, "Trace Encoder"): its registers, enabling, triggers.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "te.h"

#define TE_CONTROL \
	(CTL_HANDSHAKE | TE_TRACING | 7u << 4 | TE_CONTEXT | TE_TRIG_ENABLE | TE_OVERFLOW | \
	 TE_STALL | TE_INHIBIT_SRC | 3u << 16 | 15u << 20 | 7u << 24)
#define FILTER_KNOWN	(0x3u << 24 | 0x1ffffu)
#define COMP_KNOWN	0xf77fu

/*
 * Vendor registers: storing bit N pulses external trigger input N; the outputs that pulsed, which a
 * store clears.
 */
#define TE_VENDOR_TRIG_IN	0xe00
#define TE_VENDOR_TRIG_OUT	0xe04
/* The hart's impdef signals. */
#define TE_VENDOR_IMPDEF	0xe08
/*
 * The values of tdata1 and tdata2 that a debugger would write for the hart's trigger i: the address
 * of an instruction, and mcontrol.action. QEMU's own triggers have no trace actions.
 */
#define TE_VENDOR_DEBUG(i)	(0xe10 + 0x10 * (i))
#define DEBUG_ACTION		8
#define DEBUG_DESCS		3

#define FILTER_DESCS	6
#define COMP_DESCS	5

/* Notes whether a debug trigger is set that acts while the encoder is enabled. */
static void arm(struct component *c, bool enabled)
{
	struct encoder *e = c->own;
	bool armed = false;

	for (unsigned int i = 0; i < DEBUG_TRIGGERS; i++)
		armed |= reg_get(c, TE_VENDOR_DEBUG(i) + DEBUG_ACTION) != 0;
	e->armed = enabled && armed && reg_get(c, 0) & TE_TRIG_ENABLE;
}

unsigned int encoder_debug_action(const struct component *c, uint64_t pc)
{
	const struct encoder *e = c->own;
	unsigned int i = 0;

	if (!e->armed)
		return 0;
	while (i < DEBUG_TRIGGERS &&
	       pc != ((uint64_t)reg_get(c, TE_VENDOR_DEBUG(i) + 4) << 32 |
		      reg_get(c, TE_VENDOR_DEBUG(i))))
		i++;
	return i < DEBUG_TRIGGERS ? reg_get(c, TE_VENDOR_DEBUG(i) + DEBUG_ACTION) : 0;
}

bool encoder_is_armed(const struct component *c)
{
	const struct encoder *e = c->own;

	return e->armed;
}

static const char *encoder_enable(struct component *c)
{
	struct encoder *e = c->own;
	const char *why;

	pthread_mutex_lock(&e->hart->lock);
	__atomic_and_fetch(&c->sticky, ~TE_OVERFLOW, __ATOMIC_RELEASE);
	encode_reset_fifo(c);
	filter_reset(c);
	arm(c, true);
	why = encode_create(c);
	pthread_mutex_unlock(&e->hart->lock);
	return why;
}

static void encoder_disable(struct component *c)
{
	struct encoder *e = c->own;

	e->armed = false;
	hart_want(e->hart, false);
	pthread_mutex_lock(&e->hart->lock);
	encode_destroy(c);
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
		format = highest(model.args.formats);
	value &= ~(7u << 4 | 3u << 16 | 7u << 24 | TE_OVERFLOW);
	return value | mode << 4 | sync << 16 | format << 24;
}

static uint32_t legal_features(const struct component *c, uint32_t value)
{
	/* features of the other protocol read 0 */
	value &= TE_FORMAT(reg_get(c, 0)) == FORMAT_NTRACE ? ~0x33u : ~0x700u;
	/* source ids have at most 12 bits */
	return value >> 28 > 12 ? (value & ~(15u << 28)) | 12u << 28 : value;
}

/* Clears actions that are not defined. */
static uint32_t legal_trigger(uint32_t value)
{
	for (unsigned int i = 0; i < 32; i += 4)
		if ((value >> i & 15) > TRIG_NOTIFY || (value >> i & 15) < TRIG_ON)
			value &= ~(15u << i);
	return value;
}

/*
 * Makes a filter's value legal: it can only select comparators that exist, and use none without
 * any.
 */
static uint32_t legal_filter(uint32_t value)
{
	if (!model.args.comparators)
		value &= ~0xfff0u;
	for (unsigned int shift = 5; shift <= 13; shift += 4)
		if ((value >> shift & 7) >= model.args.comparators)
			value &= ~(7u << shift);
	return value;
}

static uint32_t encoder_legal(struct component *c, uint32_t offset, uint32_t value)
{
	if (offset >= TE_FILTER(0) && offset < TE_FILTER(MAX_FILTERS) && !(offset % 0x20))
		return legal_filter(value);
	switch (offset) {
	case 0:
		return legal_control(value);
	case TE_FEATURES:
		return legal_features(c, value);
	case TS_CONTROL:
		return timestamp_legal(c, value);
	case TE_TRIG_IN:
		return legal_trigger(value);
	default:
		return value;
	}
}

static void pulse_outputs(struct component *c, bool on)
{
	uint32_t outputs = reg_get(c, TE_TRIG_OUT), pulsed = 0;

	for (unsigned int i = 0; i < 8; i++)
		if (outputs >> (4 * i) & (on ? 1 : 2))
			pulsed |= 1u << i;
	reg_set(c, TE_VENDOR_TRIG_OUT, reg_get(c, TE_VENDOR_TRIG_OUT) | pulsed);
}

/* Sets InstTracing to @on, for software or an external trigger. */
static void set_tracing(struct component *c, bool on, bool was)
{
	struct encoder *e = c->own;

	if (on != was)
		pulse_outputs(c, on);
	e->tracing = on;
	hart_want(e->hart, on && TE_MODE(reg_get(c, 0)));
}

bool encoder_debug_trace(struct component *c, bool on)
{
	struct encoder *e = c->own;
	uint32_t ctl = reg_get(c, 0);

	if (on == e->tracing)
		return false;
	c->reg[0] = on ? ctl | TE_TRACING : ctl & ~TE_TRACING;
	pulse_outputs(c, on);
	e->tracing = on;
	part_show(c);
	return true;
}

static void wrote_control(struct component *c, uint32_t value)
{
	bool tracing = reg_get(c, 0) & TE_TRACING;
	struct encoder *e = c->own;

	if (value & TE_OVERFLOW)
		__atomic_and_fetch(&c->sticky, ~TE_OVERFLOW, __ATOMIC_RELEASE);
	if (!(value & CTL_ENABLE)) {
		if (value & TE_TRACING)
			violation(c, "trTeInstTracing set while trTeEnable is not");
		e->tracing = false;
		return;
	}
	if (tracing && !(c->shown & CTL_ENABLE))
		violation(c, "trTeInstTracing set before trTeEnable was read back");
	if (c->enabled)
		set_tracing(c, tracing, e->tracing);
}

static void trigger(struct component *c, unsigned int action)
{
	struct encoder *e = c->own;
	uint32_t ctl = reg_get(c, 0);
	bool on = action == TRIG_ON;

	if (action == TRIG_NOTIFY) {
		hart_mark(e->hart, true);
		return;
	}
	if (!(ctl & TE_TRIG_ENABLE) || !c->enabled || (action != TRIG_ON && action != TRIG_OFF))
		return;
	c->reg[0] = on ? ctl | TE_TRACING : ctl & ~TE_TRACING;
	set_tracing(c, on, ctl & TE_TRACING);
	part_show(c);
}

static void encoder_wrote(struct component *c, uint32_t offset, uint32_t value)
{
	uint32_t actions = reg_get(c, TE_TRIG_IN);
	const struct encoder *e = c->own;

	switch (offset) {
	case 0:
		wrote_control(c, value);
		break;
	case TS_CONTROL:
		timestamp_wrote(c, value);
		break;
	case TE_VENDOR_TRIG_IN:
		for (unsigned int i = 0; i < 8; i++)
			if (value >> i & 1)
				trigger(c, actions >> (4 * i) & 15);
		break;
	case TE_VENDOR_TRIG_OUT:
		reg_set(c, TE_VENDOR_TRIG_OUT, 0);
		break;
	case TE_VENDOR_DEBUG(0) + DEBUG_ACTION:
	case TE_VENDOR_DEBUG(1) + DEBUG_ACTION:
	case TE_VENDOR_DEBUG(2) + DEBUG_ACTION:
	case TE_VENDOR_DEBUG(3) + DEBUG_ACTION:
		arm(c, c->enabled);
		break;
	case TE_VENDOR_IMPDEF:
		hart_set_impdef(e->hart, value);
		break;
	}
	timestamp_show(c);
}

static void encoder_was_read(struct component *c, uint32_t offset)
{
	if (offset == TS_LOW || offset == TS_HIGH)
		timestamp_show(c);
}

static const struct part_ops encoder_ops = {
	.name = "encoder",
	.legal = encoder_legal,
	.wrote = encoder_wrote,
	.was_read = encoder_was_read,
	.enable = encoder_enable,
	.disable = encoder_disable,
	.live_control = TE_TRACING | TE_TRIG_ENABLE | TE_OVERFLOW,
	.write_1_clears = TE_OVERFLOW,
};

static uint32_t impdef_mask(void)
{
	return model.args.impdef_bits < 32 ? (1u << model.args.impdef_bits) - 1 : ~0u;
}

static unsigned int describe_fixed(struct reg_desc *d)
{
	const struct model_args *a = &model.args;
	const struct reg_desc fixed[] = {
		{ .offset = 0,
		  .known = TE_CONTROL,
		  .undefined = ~0u,
		  .warl = a->warl_control & ~(CTL_HANDSHAKE | TE_OVERFLOW) },
		{ .offset = TE_IMPL,
		  .known = ~0u,
		  .value = a->version | PART_ENCODER << 8 | a->protocol_version << 16 },
		{ .offset = TE_FEATURES,
		  .known = 0xffff07ff,
		  .warl = a->warl_features,
		  .undefined = ~0u,
		  .must_init = true },
		{ .offset = TE_FILTERS,
		  .known = 0xffff,
		  .warl = (1u << a->filters) - 1,
		  .undefined = ~0u,
		  .must_init = true },
		{ .offset = TE_DATA_CONTROL, .known = 0xf007f },
		{ .offset = TE_DATA_FILTERS, .known = 0xffff },
		{ .offset = TE_TRIG_DBG, .known = ~0u },
		{ .offset = TE_TRIG_IN,
		  .known = ~0u,
		  .warl = a->warl_triggers,
		  .undefined = ~0u,
		  .must_init = a->warl_triggers },
		{ .offset = TE_TRIG_OUT,
		  .known = ~0u,
		  .warl = a->warl_triggers & 0x33333333,
		  .undefined = ~0u,
		  .must_init = a->warl_triggers },
		{ .offset = TE_VENDOR_TRIG_IN, .known = 0xff, .live = true },
		{ .offset = TE_VENDOR_TRIG_OUT, .known = 0xff, .live = true },
		{ .offset = TE_VENDOR_IMPDEF, .known = impdef_mask(), .live = true },
	};
	unsigned int n = sizeof(fixed) / sizeof(*fixed);

	memcpy(d, fixed, sizeof(fixed));
	timestamp_describe(d + n, true);
	return n + TS_DESCS;
}

static unsigned int describe(struct reg_desc *d)
{
	unsigned int n = describe_fixed(d);

	for (unsigned int i = 0; i < DEBUG_TRIGGERS; i++) {
		const uint32_t at = TE_VENDOR_DEBUG(i);

		d[n++] = (struct reg_desc){ .offset = at, .known = ~0u, .warl = ~0u, .live = true };
		d[n++] = (struct reg_desc){ .offset = at + 4, .known = ~0u, .warl = ~0u,
					    .live = true };
		d[n++] = (struct reg_desc){ .offset = at + DEBUG_ACTION, .known = 15, .warl = 15,
					    .live = true };
	}

	for (unsigned int i = 0; i < model.args.filters; i++) {
		/* Control, MatchInst, MatchEcause, MatchValueImpdef, MatchMaskImpdef */
		const uint32_t known[FILTER_DESCS] = { FILTER_KNOWN, 0x1ff, ~0u, ~0u, ~0u, ~0u };
		const uint32_t warl[FILTER_DESCS] = {
			model.args.warl_filter & (model.args.impdef_bits ? 0x1ffff : 0xffff),
			0x1ff, ~0u, ~0u, impdef_mask(), impdef_mask(),
		};

		for (unsigned int k = 0; k < FILTER_DESCS; k++)
			d[n++] = (struct reg_desc){
				.offset = TE_FILTER(i) + 4 * k, .known = known[k], .undefined = ~0u,
				.warl = warl[k],
			};
	}
	for (unsigned int i = 0; i < model.args.comparators; i++) {
		d[n++] = (struct reg_desc){ .offset = TE_COMP(i),
					    .known = COMP_KNOWN,
					    .warl = COMP_KNOWN & model.args.warl_comparator,
					    .undefined = ~0u };
		for (unsigned int k = 4; k < 8; k++)
			d[n++] = (struct reg_desc){ .offset = TE_COMP(i) + 4 * k,
						    .known = ~0u,
						    .warl = ~0u,
						    .undefined = ~0u };
	}
	return n;
}

struct component *encoder_new(unsigned int index, uint32_t offset)
{
	struct encoder *e = calloc(1, sizeof(*e));
	struct component *c;
	unsigned int n;

	if (!e)
		return NULL;
	e->descs = calloc(17 + TS_DESCS + DEBUG_DESCS * DEBUG_TRIGGERS +
			  FILTER_DESCS * MAX_FILTERS + COMP_DESCS * MAX_COMPS,
			  sizeof(*e->descs));
	if (!e->descs)
		return NULL;
	n = describe(e->descs);
	e->hart = &harts[index];
	c = part_new(PART_ENCODER, &encoder_ops, e->descs, n, index, offset);
	if (!c)
		return NULL;
	c->own = e;
	e->hart->encoder = c;
	return c;
}
