/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Timestamp unit of encoders and funnels (Trace Control Interface 1.0, "Timestamp Unit"). */
#include <time.h>
#include "te.h"

#define EVEN_INSNS 20	/* in 100 ns: faster than any emulator */

#define TS_ACTIVE	(1u << 0)
#define TS_COUNT	(1u << 1)
#define TS_RESET	(1u << 2)
#define TS_MODE(ctl)	((ctl) >> 4 & 7)
#define TS_PRESCALE(ctl) ((ctl) >> 8 & 3)
#define TS_ENABLE	(1u << 15)
#define TS_KNOWN	(63u << 24 | 0xffu << 16 | TS_ENABLE | 3u << 8 | 7u << 4 | 15u)

enum { TS_NONE, TS_EXTERNAL, TS_SYSTEM, TS_CORE, TS_SHARED };

/*
 * Returns the time. QEMU's virtual time runs with the host's clock; their difference is updated
 * whenever a hart's CSR can be read.
 */
uint64_t model_time(void)
{
	static int64_t difference;
	struct timespec ts;
	int64_t host;
	uint64_t now;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	host = (int64_t)ts.tv_sec * 10000000 + ts.tv_nsec / 100;
	if (!this_hart)
		return (uint64_t)(host + __atomic_load_n(&difference, __ATOMIC_RELAXED));
	now = cpu_time();
	__atomic_store_n(&difference, (int64_t)now - host, __ATOMIC_RELAXED);
	return now;
}

/*
 * Returns an artificially even time while an encoder traces: each instruction takes the same time.
 * That is faster than any emulator, so this time is never ahead of the others', and does not go
 * back when tracing begins again.
 */
static uint64_t even_time(const struct encoder *e)
{
	return e->began + e->traced_insns / EVEN_INSNS;
}

/* Returns what the unit counts. In the model, harts have no clocks of their own. */
static uint64_t source(const struct component *c)
{
	if (model.args.clock == CLOCK_EVEN && c->type == PART_ENCODER)
		return even_time(c->own);
	if (model.args.clock == CLOCK_OF_INSNS)
		return c->type == PART_ENCODER ? harts[c->index].insns : 0;
	return model_time();
}

static bool is_internal(unsigned int mode)
{
	return mode == TS_SYSTEM || mode == TS_CORE;
}

static uint64_t counter(const struct component *c)
{
	uint32_t ctl = reg_get(c, TS_CONTROL);
	unsigned int mode = TS_MODE(ctl);

	if (mode == TS_EXTERNAL)
		return source(c);
	if (!is_internal(mode))
		return 0;
	if (!(ctl & TS_COUNT))
		return c->timestamp.held;
	return (source(c) - c->timestamp.base) >> 2 * TS_PRESCALE(ctl);
}

/* Returns the funnel that shares its counter: the first one behind @c with a counter. */
static const struct component *sharer(const struct component *c)
{
	for (c = c->out[0]; c; c = c->out[0])
		if (c->type == PART_FUNNEL && reg_get(c, TS_CONTROL) & TS_ACTIVE &&
		    TS_MODE(reg_get(c, TS_CONTROL)) != TS_SHARED)
			return c;
	return NULL;
}

uint64_t timestamp_now(const struct component *c)
{
	uint64_t mask = (1ull << model.args.ts_width) - 1;

	if (TS_MODE(reg_get(c, TS_CONTROL)) == TS_SHARED) {
		c = sharer(c);
		if (!c)
			return 0;
	}
	return counter(c) & mask;
}

bool timestamp_enabled(const struct component *c)
{
	uint32_t ctl = reg_get(c, TS_CONTROL);

	return ctl & TS_ACTIVE && ctl & TS_ENABLE && TS_MODE(ctl);
}

uint32_t timestamp_legal(const struct component *c, uint32_t value)
{
	uint32_t modes = model.args.ts_modes | 1u << TS_NONE;

	if (c->type != PART_ENCODER) {
		value &= ~TS_ENABLE;
		modes &= ~(1u << TS_CORE);
	}
	value &= ~TS_RESET;
	if (!(modes >> TS_MODE(value) & 1))
		value = (value & ~(7u << 4)) | (31 - (uint32_t)__builtin_clz(modes)) << 4;
	return value;
}

/* Takes a write. @value is as written; the register has the legal part of it. */
void timestamp_wrote(struct component *c, uint32_t value)
{
	uint32_t ctl = reg_get(c, TS_CONTROL);
	unsigned int mode = TS_MODE(ctl);

	if (!is_internal(mode))
		return;
	if (value & TS_RESET)
		c->timestamp.held = 0;
	if (ctl & TS_COUNT)
		c->timestamp.base = source(c) - (c->timestamp.held << 2 * TS_PRESCALE(ctl));
}

void timestamp_show(struct component *c)
{
	uint64_t now;

	if (!(reg_get(c, TS_CONTROL) & TS_ACTIVE))
		return;
	now = TS_MODE(reg_get(c, TS_CONTROL)) == TS_SHARED ? 0 : timestamp_now(c);
	reg_set(c, TS_LOW, (uint32_t)now);
	reg_set(c, TS_HIGH, (uint32_t)(now >> 32));
}

void timestamp_describe(struct reg_desc *d, bool encoder)
{
	uint32_t warl = TS_ACTIVE | TS_COUNT | 7u << 4 | 3u << 8 | (encoder ? TS_ENABLE : 0);

	d[0] = (struct reg_desc){
		.offset = TS_CONTROL, .known = TS_KNOWN, .warl = model.args.ts_modes ? warl : 0,
		.undefined = ~TS_ACTIVE, .must_init = true, .live = true,
		.value = model.args.ts_modes ? model.args.ts_width << 24 : 0,
	};
	d[1] = (struct reg_desc){ .offset = TS_LOW, .known = ~0u, .live = true };
	d[2] = (struct reg_desc){ .offset = TS_HIGH, .known = ~0u, .live = true };
}
