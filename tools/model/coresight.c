/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * What is behind ATB bridges in a chip with Arm's CoreSight: a funnel, and a Trace Memory
 * Controller (TMC) in two configurations (Arm DDI 0461, DDI 0480). The ETF is a FIFO before other
 * components; the ETR writes frames to memory, into a circular buffer.
 *
 * They have neither the reset nor the handshakes of Control, so their registers are handled here. A
 * flush is done when the guest has polled it a number of times.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "formatter.h"
#include "model.h"

#define LOCK_ACCESS	0xfb0
#define UNLOCK		0xc5acce55u
#define DEVID		0xfc8

#define FUNNEL_CONTROL	0x000
#define FUNNEL_PORTS	0xffu
#define FUNNEL_HOLD	0xf00u
#define N_PORTS		8u

#define TMC_SIZE	0x004
#define TMC_STATUS	0x00c
#define STATUS_FULL	(1u << 0)
#define STATUS_READY	(1u << 2)
#define STATUS_EMPTY	(3u << 3)	/* of formatter and memory */
#define STATUS_MEM_ERR	(1u << 5)
#define TMC_READ_LOW	0x014
#define TMC_WRITE_LOW	0x018
#define TMC_TRIGGER	0x01c
#define TMC_CONTROL	0x020
#define TMC_MODE	0x028
#define MODE_CIRCULAR	0u
#define MODE_FIFO	2u
#define TMC_WATERMARK	0x034
#define TMC_READ_HIGH	0x038
#define TMC_WRITE_HIGH	0x03c
#define TMC_AXI		0x110
#define AXI_SCATTER	(1u << 7)
#define TMC_BASE_LOW	0x118
#define TMC_BASE_HIGH	0x11c
#define ADDRESS_HIGH	0xffu		/* 40 bits */
#define TMC_FORMATTER	0x304
#define FORMATTER_ON	(1u << 0)
#define FORMATTER_FLUSH	(1u << 6)
#define FORMATTER_STOP	(1u << 12)
#define TYPE_ETR	(1u << 6)
#define TYPE_ETF	(2u << 6)
#define WIDTH_64	(3u << 8)

/* What a FIFO keeps until it is flushed, if nothing follows. */
#define HELD_BYTES	4096

struct coresight {
	bool unlocked;
	unsigned int looks;	/* reads until a flush is done; 0: no flush */
	/* While enabled, under path_lock: */
	struct formatter formatter;
	uint64_t base, size, wp, shown_wp;
	bool full;
	uint8_t held[HELD_BYTES];
	size_t held_len;
	unsigned int held_id;
};

static uint64_t get64(const struct component *c, uint32_t low, uint32_t high)
{
	return (uint64_t)reg_get(c, high) << 32 | reg_get(c, low);
}

static void set_enabled(struct component *c, bool on)
{
	c->enabled = on;
	c->shown = CTL_ACTIVE | (on ? CTL_ENABLE : CTL_EMPTY);
}

static bool upstream_busy(const struct component *c)
{
	for (unsigned int i = 0; i < c->n_ins; i++)
		if (c->in[i]->enabled)
			return true;
	return false;
}

/* Returns whether a write takes effect: it unlocks, or the block is unlocked. */
static bool may_write(struct component *c, uint32_t offset, uint32_t value)
{
	struct coresight *cs = c->own;

	if (offset == LOCK_ACCESS) {
		cs->unlocked = value == UNLOCK;
		return false;
	}
	if (!cs->unlocked)
		violation(c, "wrote register 0x%03x while locked", offset);
	return cs->unlocked;
}

static struct component *cs_new(const struct part_ops *ops, unsigned int index, uint32_t offset,
				uint32_t devid)
{
	struct coresight *cs = calloc(1, sizeof(*cs));
	struct component *c = cs ? part_new(PART_CORESIGHT, ops, NULL, 0, index, offset) : NULL;

	if (!c)
		return NULL;
	c->own = cs;
	set_enabled(c, false);
	reg_set(c, DEVID, devid);
	return c;
}

/* ---- funnel ---- */

static int csfunnel_accept(struct component *c, const struct component *from, const uint8_t *bytes,
			   size_t len)
{
	int ret = -ENOSPC;

	pthread_mutex_lock(&c->path_lock);
	for (unsigned int i = 0; i < c->n_ins; i++)
		if (c->in[i] == from && reg_get(c, FUNNEL_CONTROL) >> i & 1)
			ret = part_pass(c, bytes, len);
	pthread_mutex_unlock(&c->path_lock);
	return ret;
}

static void csfunnel_write(struct component *c, uint32_t offset, uint32_t value)
{
	bool on = value & FUNNEL_PORTS;

	if (!may_write(c, offset, value))
		return;
	if (offset != FUNNEL_CONTROL) {
		violation(c, "wrote register 0x%03x, which is not there", offset);
		return;
	}
	if (value & ~(FUNNEL_PORTS | FUNNEL_HOLD))
		violation(c, "wrote 0x%08x to its control: reserved bits", value);
	if ((value & FUNNEL_HOLD) == FUNNEL_HOLD)
		violation(c, "a hold time that is reserved");
	if (c->enabled && !on && upstream_busy(c))
		violation(c, "disabled before what feeds it");
	if (on && !c->out[0]->enabled)
		violation(c, "enabled before what it feeds");
	pthread_mutex_lock(&c->path_lock);
	reg_set(c, FUNNEL_CONTROL, value);
	set_enabled(c, on);
	pthread_mutex_unlock(&c->path_lock);
}

static const struct part_ops csfunnel_ops = {
	.name = "CoreSight funnel",
	.foreign_write = csfunnel_write,
	.accept = csfunnel_accept,
};

struct component *csfunnel_new(unsigned int index, uint32_t offset)
{
	struct component *c = cs_new(&csfunnel_ops, index, offset, N_PORTS);

	if (c)
		reg_set(c, FUNNEL_CONTROL, 0x300);
	return c;
}

/* ---- both kinds of TMC ---- */

/* Flushes the components before this one, and then this one. */
static void flush(struct component *c)
{
	for (unsigned int i = 0; i < c->n_ins; i++)
		if (c->in[i]->type == PART_CORESIGHT)
			flush(c->in[i]);
	pthread_mutex_lock(&c->path_lock);
	if (c->ops->flush)
		c->ops->flush(c);
	pthread_mutex_unlock(&c->path_lock);
}

static void flushed(struct component *c)
{
	flush(c);
	reg_set(c, TMC_FORMATTER, reg_get(c, TMC_FORMATTER) & ~FORMATTER_FLUSH);
	if (!(reg_get(c, TMC_FORMATTER) & FORMATTER_STOP))
		return;
	set_enabled(c, false);
	reg_set(c, TMC_STATUS, reg_get(c, TMC_STATUS) | STATUS_READY | STATUS_EMPTY);
}

static void tmc_was_read(struct component *c, uint32_t offset)
{
	struct coresight *cs = c->own;

	if ((offset == TMC_FORMATTER || offset == TMC_STATUS) && cs->looks && !--cs->looks)
		flushed(c);
}

/* Starts the ETR. Returns what is wrong, or NULL. */
static const char *etr_start(struct component *c)
{
	uint64_t ram = model.args.ram_base, wp = get64(c, TMC_WRITE_LOW, TMC_WRITE_HIGH);
	struct coresight *cs = c->own;

	cs->base = get64(c, TMC_BASE_LOW, TMC_BASE_HIGH);
	cs->size = (uint64_t)reg_get(c, TMC_SIZE) * 4;
	cs->wp = cs->shown_wp = cs->base;
	cs->full = false;
	formatter_reset(&cs->formatter);
	if (!(reg_get(c, TMC_FORMATTER) & FORMATTER_ON))
		return "its formatter is off";
	if (reg_get(c, TMC_AXI) & AXI_SCATTER)
		return "there is no table of pages at its base";
	if (!cs->size || cs->size % FORMATTER_FRAME ||
	    cs->base % FORMATTER_FRAME || cs->base < ram ||
	    cs->base + cs->size > ram + model.args.ram_size)
		return "its buffer is no range of memory";
	return wp == cs->base && get64(c, TMC_READ_LOW, TMC_READ_HIGH) == wp &&
	       !(reg_get(c, TMC_STATUS) & STATUS_FULL) ? NULL : "its pointers are left from before";
}

static void tmc_start(struct component *c, uint32_t mode)
{
	const char *why = NULL;

	if (reg_get(c, TMC_MODE) != mode)
		violation(c, "enabled in mode %u", reg_get(c, TMC_MODE));
	if (!(reg_get(c, TMC_STATUS) & STATUS_READY))
		violation(c, "enabled before it is ready");
	for (unsigned int i = 0; i < c->n_outs; i++)
		if (!c->out[i]->enabled)
			violation(c, "enabled before what it feeds");
	pthread_mutex_lock(&c->path_lock);
	if (mode == MODE_CIRCULAR)
		why = etr_start(c);
	if (why)
		violation(c, "enabled, but %s", why);
	reg_set(c, TMC_STATUS, 0);
	set_enabled(c, !why);
	pthread_mutex_unlock(&c->path_lock);
}

static void tmc_wrote_control(struct component *c, uint32_t value, uint32_t mode)
{
	uint32_t old = reg_get(c, TMC_CONTROL);

	reg_set(c, TMC_CONTROL, value & 1);
	if (value & ~1u)
		violation(c, "wrote 0x%08x to CTL: reserved bits", value);
	if (!old && value & 1)
		tmc_start(c, mode);
	if (!old || value & 1)
		return;
	if (!(reg_get(c, TMC_STATUS) & STATUS_READY))
		violation(c, "disabled before it has stopped");
	set_enabled(c, false);
	reg_set(c, TMC_STATUS,
		(reg_get(c, TMC_STATUS) & ~STATUS_FULL) | STATUS_READY | STATUS_EMPTY);
}

static void tmc_wrote_formatter(struct component *c, uint32_t value)
{
	struct coresight *cs = c->own;

	if (value & FORMATTER_FLUSH && value & FORMATTER_STOP && upstream_busy(c))
		violation(c, "stopped before what feeds it");
	reg_set(c, TMC_FORMATTER, value);
	if (!(value & FORMATTER_FLUSH))
		return;
	cs->looks = 1 + (model.args.late_reads ? part_random(c) % model.args.late_reads : 0);
}

static void tmc_write(struct component *c, uint32_t offset, uint32_t value, uint32_t mode)
{
	if (!may_write(c, offset, value))
		return;
	switch (offset) {
	case TMC_CONTROL:
		tmc_wrote_control(c, value, mode);
		return;
	case TMC_FORMATTER:
		tmc_wrote_formatter(c, value);
		return;
	case TMC_READ_HIGH: case TMC_WRITE_HIGH: case TMC_BASE_HIGH:
		value &= ADDRESS_HIGH;
		break;
	case TMC_READ_LOW: case TMC_WRITE_LOW: case TMC_BASE_LOW:
		value &= ~(uint32_t)(FORMATTER_FRAME - 1);
		break;
	case TMC_STATUS:
		value = (reg_get(c, TMC_STATUS) & ~STATUS_FULL) | (value & STATUS_FULL);
		break;
	case TMC_SIZE: case TMC_TRIGGER: case TMC_MODE: case TMC_WATERMARK: case TMC_AXI:
		break;
	default:
		violation(c, "wrote register 0x%03x, which is not there", offset);
		return;
	}
	if (reg_get(c, TMC_CONTROL) && offset != TMC_TRIGGER)
		violation(c, "wrote register 0x%03x other than while disabled", offset);
	reg_set(c, offset, value);
}

/* Makes a TMC as after the chip's reset, when its settings have no defined values. */
static struct component *tmc_new(const struct part_ops *ops, unsigned int index, uint32_t offset,
				 uint32_t type)
{
	struct component *c = cs_new(ops, index, offset, type | WIDTH_64);

	if (!c)
		return NULL;
	for (uint32_t o = TMC_SIZE; o <= TMC_FORMATTER; o += 4)
		reg_set(c, o, part_random(c));
	reg_set(c, TMC_CONTROL, 0);
	reg_set(c, TMC_AXI, 0);
	reg_set(c, TMC_FORMATTER, 0);
	reg_set(c, TMC_STATUS, STATUS_READY | STATUS_EMPTY | STATUS_FULL);
	return c;
}

/* ---- ETF ---- */

/* Passes on what the FIFO held back: the last data waits for more, or for a flush. */
static void etf_flush(struct component *c)
{
	struct coresight *cs = c->own;

	if (!cs->held_len)
		return;
	atb_id = cs->held_id;
	if (part_pass(c, cs->held, cs->held_len))
		violation(c, "there is no room behind it");
	cs->held_len = 0;
}

static int etf_accept(struct component *c, const struct component *from, const uint8_t *bytes,
		      size_t len)
{
	const unsigned int id = atb_id;
	struct coresight *cs = c->own;

	(void)from;
	if (len > HELD_BYTES)
		return -ENOSPC;
	pthread_mutex_lock(&c->path_lock);
	etf_flush(c);
	memcpy(cs->held, bytes, len);
	cs->held_len = len;
	cs->held_id = id;
	pthread_mutex_unlock(&c->path_lock);
	return 0;
}

static void etf_write(struct component *c, uint32_t offset, uint32_t value)
{
	tmc_write(c, offset, value, MODE_FIFO);
}

static const struct part_ops etf_ops = {
	.name = "ETF",
	.foreign_write = etf_write,
	.was_read = tmc_was_read,
	.flush = etf_flush,
	.accept = etf_accept,
};

struct component *etf_new(unsigned int index, uint32_t offset)
{
	return tmc_new(&etf_ops, index, offset, TYPE_ETF);
}

/* ---- ETR ---- */

static void show_wp(struct component *c)
{
	struct coresight *cs = c->own;

	cs->shown_wp = cs->wp;
	reg_set(c, TMC_WRITE_HIGH, (uint32_t)(cs->wp >> 32));
	reg_set(c, TMC_WRITE_LOW, (uint32_t)cs->wp);
	if (cs->full)
		reg_set(c, TMC_STATUS, reg_get(c, TMC_STATUS) | STATUS_FULL);
}

static void write_frame(void *ctx, const uint8_t *frame)
{
	struct component *c = ctx;
	struct coresight *cs = c->own;

	memory_write(c, cs->wp, frame, FORMATTER_FRAME);
	cs->wp += FORMATTER_FRAME;
	if (cs->wp == cs->base + cs->size) {
		cs->wp = cs->base;
		cs->full = true;
	}
}

static int etr_accept(struct component *c, const struct component *from, const uint8_t *bytes,
		      size_t len)
{
	struct coresight *cs = c->own;

	(void)from;
	pthread_mutex_lock(&c->path_lock);
	for (size_t i = 0; i < len; i++)
		formatter_put(&cs->formatter, (uint8_t)atb_id, bytes[i]);
	if (cs->full || cs->wp - cs->shown_wp >= model.args.wp_lag)
		show_wp(c);
	pthread_mutex_unlock(&c->path_lock);
	return 0;
}

static void etr_flush(struct component *c)
{
	struct coresight *cs = c->own;

	formatter_flush(&cs->formatter);
	show_wp(c);
}

static void etr_write(struct component *c, uint32_t offset, uint32_t value)
{
	tmc_write(c, offset, value, MODE_CIRCULAR);
}

static const struct part_ops etr_ops = {
	.name = "ETR",
	.foreign_write = etr_write,
	.was_read = tmc_was_read,
	.flush = etr_flush,
	.accept = etr_accept,
};

struct component *etr_new(unsigned int index, uint32_t offset)
{
	struct component *c = tmc_new(&etr_ops, index, offset, TYPE_ETR);
	struct coresight *cs = c ? c->own : NULL;

	if (c) {
		cs->formatter.out = write_frame;
		cs->formatter.ctx = c;
	}
	return c;
}
