/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* RAM sink (Trace Control Interface 1.0, "Trace RAM Sink"): SMEM, and SRAM if configured. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "model.h"

#define RAM_IMPL	0x004
#define RAM_START_LOW	0x010
#define RAM_START_HIGH	0x014
#define RAM_LIMIT_LOW	0x018
#define RAM_LIMIT_HIGH	0x01c
#define RAM_WP_LOW	0x020
#define RAM_WP_HIGH	0x024
#define RAM_RP_LOW	0x028
#define RAM_RP_HIGH	0x02c
#define RAM_DATA	0x040

#define RAM_MODE_SMEM	(1u << 4)
#define RAM_STOP	(1u << 8)
#define RAM_CONTROL	(CTL_HANDSHAKE | RAM_MODE_SMEM | RAM_STOP | 3u << 9 | 7u << 12)
#define RAM_WRAP	1u

#define N_DESCS 12

struct sink {
	struct reg_desc descs[N_DESCS];
	uint8_t *sram;
	/* While enabled, under path_lock: */
	uint64_t start, limit, wp;
	uint64_t shown_wp;	/* value of the register, which may lag */
	bool wrap, stop_on_wrap, full;
	uint8_t word[64];
	uint32_t filled;
};

static bool smem(const struct component *c)
{
	return reg_get(c, 0) & RAM_MODE_SMEM;
}

/* Reads an address. Addresses of SRAM have no upper half. */
static uint64_t get64(const struct component *c, uint32_t low)
{
	return (smem(c) ? (uint64_t)reg_get(c, low + 4) << 32 : 0) | reg_get(c, low);
}

/* Returns the memory at a bus address, or NULL. */
static uint8_t *memory_at(const struct component *c, uint64_t addr, uint32_t len)
{
	const struct sink *s = c->own;
	uint64_t base = model.args.ram_base;

	if (!smem(c))
		return addr + len <= model.args.sram ? s->sram + addr : NULL;
	return addr >= base && addr + len <= base + model.args.ram_size ? model.ram + (addr - base)
									: NULL;
}

/* Returns the address of the only memory that the sink reaches; 0: it reaches all. */
static uint64_t carveout(const struct component *c)
{
	if (!model.args.carveout)
		return 0;
	return model.args.window + MODEL_CARVEOUTS + (uint64_t)c->index * model.args.carveout;
}

static void show_wp(struct component *c)
{
	struct sink *s = c->own;

	s->shown_wp = s->wp;
	reg_set(c, RAM_WP_HIGH, (uint32_t)(s->wp >> 32));
	reg_set(c, RAM_WP_LOW, (uint32_t)s->wp | (s->wrap ? RAM_WRAP : 0));
}

/* Writes one whole word to memory. */
static void write_word(struct component *c)
{
	uint32_t width = model.args.access_width;
	struct sink *s = c->own;
	uint8_t *to = memory_at(c, s->wp, width);

	if (to) {
		if (smem(c))
			memory_write(c, s->wp, s->word, width);
		else
			memcpy(to, s->word, width);
	} else {
		violation(c, "address 0x%llx is no memory", (unsigned long long)s->wp);
	}
	s->filled = 0;
	if (s->wp == s->limit) {
		s->wp = s->start;
		s->wrap = true;
		s->full = s->stop_on_wrap;
	} else {
		s->wp += width;
	}
}

static int sink_accept(struct component *c, const struct component *from, const uint8_t *bytes,
		       size_t len)
{
	struct sink *s = c->own;
	int ret = 0;

	(void)from;

	pthread_mutex_lock(&c->path_lock);
	if (!c->enabled || s->full) {
		ret = -ENOSPC;
		goto out;
	}
	for (size_t i = 0; i < len && !s->full; i++) {
		s->word[s->filled++] = bytes[i];
		if (s->filled == model.args.access_width)
			write_word(c);
	}
	if (s->full || s->wp - s->shown_wp >= model.args.wp_lag)
		show_wp(c);
	if (s->full) {
		part_stopped(c);
		/* the message that came with the last word may be truncated */
		ret = -ENOSPC;
	}
out:
	pthread_mutex_unlock(&c->path_lock);
	return ret;
}

static const char *sink_enable(struct component *c)
{
	struct sink *s = c->own;
	const char *why = NULL;

	pthread_mutex_lock(&c->path_lock);
	s->start = get64(c, RAM_START_LOW);
	s->limit = get64(c, RAM_LIMIT_LOW);
	s->wp = get64(c, RAM_WP_LOW) & ~3ull;
	s->shown_wp = s->wp;
	s->wrap = reg_get(c, RAM_WP_LOW) & RAM_WRAP;
	s->stop_on_wrap = reg_get(c, 0) & RAM_STOP;
	s->full = false;
	s->filled = 0;
	if (s->limit < s->start || !memory_at(c, s->start, 4) ||
	    !memory_at(c, s->limit, model.args.access_width))
		why = "Start and Limit are no range of memory";
	else if (carveout(c) && s->limit >= carveout(c) + model.args.carveout)
		why = "Limit is in memory that it does not reach";
	else if (s->wp < s->start || s->wp > s->limit)
		why = "WP is not between Start and Limit";
	if (why)
		s->full = true;
	pthread_mutex_unlock(&c->path_lock);
	return why;
}

/* Returns an active encoder upstream, or NULL. Others have lost their format. */
static const struct component *active_encoder(const struct component *c)
{
	const struct component *found = NULL;

	if (c->type == PART_ENCODER)
		return c->shown & CTL_ACTIVE ? c : NULL;
	for (unsigned int i = 0; i < c->n_ins && !found; i++)
		found = active_encoder(c->in[i]);
	return found;
}

/*
 * Returns the idle byte: N-Trace's is all ones; E-Trace's encapsulation has a header without
 * payload.
 */
static uint8_t idle_byte(const struct component *c)
{
	const struct component *encoder = active_encoder(c);

	return encoder && !(reg_get(encoder, 0) >> 24 & 7) ? 0x00 : 0xff;
}

/* Writes the last, incomplete word, filled up with idle bytes. */
static void sink_flush(struct component *c)
{
	struct sink *s = c->own;

	pthread_mutex_lock(&c->path_lock);
	if (s->filled && !s->full) {
		memset(s->word + s->filled, idle_byte(c), model.args.access_width - s->filled);
		write_word(c);
	}
	s->filled = 0;
	show_wp(c);
	pthread_mutex_unlock(&c->path_lock);
}

static uint32_t sink_legal(struct component *c, uint32_t offset, uint32_t value)
{
	uint32_t align = model.args.access_width - 1;

	switch (offset) {
	case 0:
		if (!model.args.sram)
			return value | RAM_MODE_SMEM;
		return model.args.smem ? value : value & ~RAM_MODE_SMEM;
	case RAM_START_LOW:
		if (carveout(c))
			return (uint32_t)carveout(c);
		return smem(c) ? value & ~align : 0;
	case RAM_LIMIT_LOW:
		if (!smem(c) && value > model.args.sram - 4)
			value = model.args.sram - 4;
		return smem(c) ? value & ~align : value & ~3u;
	case RAM_WP_LOW:
		return smem(c) ? value & ~(align & ~RAM_WRAP) : value & RAM_WRAP;
	case RAM_RP_LOW:
		return smem(c) || !model.args.live_read ? 0 : value & ~3u;
	case RAM_START_HIGH:
		if (carveout(c))
			return (uint32_t)(carveout(c) >> 32);
		return smem(c) ? value : 0;
	case RAM_LIMIT_HIGH: case RAM_WP_HIGH:
		return smem(c) ? value : 0;
	default:
		return value;
	}
}

static void show_data(struct component *c)
{
	const struct sink *s = c->own;
	uint32_t word, rp = reg_get(c, RAM_RP_LOW);

	if (!s->sram || smem(c))
		return;
	memcpy(&word, s->sram + (rp < model.args.sram ? rp : 0), sizeof(word));
	reg_set(c, RAM_DATA, word);
}

static void sink_wrote(struct component *c, uint32_t offset, uint32_t value)
{
	(void)value;
	if (offset == RAM_RP_LOW || offset == 0)
		show_data(c);
}

/* Moves RP on when trRamData was read. */
static void sink_was_read(struct component *c, uint32_t offset)
{
	uint32_t rp = reg_get(c, RAM_RP_LOW);
	const struct sink *s = c->own;

	if (offset != RAM_DATA || !s->sram || smem(c))
		return;
	reg_set(c, RAM_RP_LOW,
		rp == reg_get(c, RAM_LIMIT_LOW) ? reg_get(c, RAM_START_LOW) : rp + 4);
	show_data(c);
}

static const struct part_ops sink_ops = {
	.name = "RAM sink",
	.legal = sink_legal,
	.wrote = sink_wrote,
	.was_read = sink_was_read,
	.enable = sink_enable,
	.flush = sink_flush,
	.accept = sink_accept,
};

struct component *sink_new(unsigned int index, uint32_t offset)
{
	bool sram = model.args.sram;
	/* SRAM begins at 0 and is small */
	uint32_t high = model.args.smem ? ~0u : 0;
	const struct reg_desc descs[N_DESCS] = {
		{ .offset = 0,
		  .known = RAM_CONTROL,
		  .warl = RAM_MODE_SMEM | RAM_STOP,
		  .undefined = ~0u },
		{ .offset = RAM_IMPL,
		  .known = ~0u,
		  .value = model.args.version | PART_RAM_SINK << 8 | (sram ? 1u << 12 : 0) |
			   (model.args.smem ? 1u << 13 : 0) },
		{ .offset = RAM_START_LOW,
		  .known = ~3u,
		  .warl = high & ~3u,
		  .undefined = ~0u,
		  .must_init = !sram },
		{ .offset = RAM_START_HIGH,
		  .known = ~0u,
		  .warl = high,
		  .undefined = ~0u,
		  .must_init = !sram },
		{ .offset = RAM_LIMIT_LOW,
		  .known = ~3u,
		  .warl = ~3u,
		  .undefined = ~0u,
		  .must_init = true },
		{ .offset = RAM_LIMIT_HIGH,
		  .known = ~0u,
		  .warl = high,
		  .undefined = ~0u,
		  .must_init = !sram },
		{ .offset = RAM_WP_LOW,
		  .known = ~2u,
		  .warl = ~2u,
		  .undefined = ~0u,
		  .must_init = true },
		{ .offset = RAM_WP_HIGH,
		  .known = ~0u,
		  .warl = high,
		  .undefined = ~0u,
		  .must_init = !sram },
		{ .offset = RAM_RP_LOW,
		  .known = ~3u,
		  .warl = sram ? ~3u : 0,
		  .undefined = ~0u,
		  .live = true },
		{ .offset = RAM_RP_HIGH, .known = ~0u, .live = true },
		{ .offset = RAM_DATA, .known = ~0u, .undefined = ~0u, .live = true },
	};
	struct sink *s = calloc(1, sizeof(*s));
	struct component *c;

	if (!s)
		return NULL;
	memcpy(s->descs, descs, sizeof(descs));
	if (sram) {
		s->sram = calloc(1, model.args.sram);
		if (!s->sram)
			return NULL;
	}
	c = part_new(PART_RAM_SINK, &sink_ops, s->descs, N_DESCS - 1, index, offset);
	if (!c)
		return NULL;
	c->own = s;
	return c;
}
