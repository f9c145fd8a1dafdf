/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * PIB sink (Trace Control Interface 1.0, "Pin Interface Block"). The capture file gets what a probe
 * sees on the pins, byte by byte; clock and pin timing are not modelled.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "model.h"

#define PIB_IMPL	0x004
#define PIB_MODE(ctl)	((ctl) >> 4 & 15)
#define PIB_CALIBRATE	(1u << 9)
#define PIB_SETTINGS	(15u << 4 | 1u << 8 | PIB_CALIBRATE | 7u << 12 | 0xffffu << 16)
#define PIB_MODES	(1u << 0 | 1u << 4 | 1u << 5 | 0x1fu << 8)
/* After so many messages, a probe of 1, 2 or 4 pins gets an idle byte to align with. */
#define IDLE_EVERY	64

static const struct {
	uint32_t modes;
	const char *bytes;
	size_t len;
} patterns[] = {
	{ 1u << 4 | 1u << 5 | 1u << 8 | 1u << 11, "\xaa\x55\x00\xff", 4 },
	{ 1u << 9, "\x66\x66\xcc\x33", 4 },
	{ 1u << 10, "\x5a\x5a\xf0\x0f", 4 },
	{ 1u << 12, "\xaa\xaa\x55\x55\x00\x00\xff\xff", 8 },
};

struct pib {
	struct reg_desc descs[2];
	unsigned int messages;
};

static int pib_accept(struct component *c, const struct component *from, const uint8_t *bytes,
		      size_t len)
{
	uint32_t mode = PIB_MODE(reg_get(c, 0));
	struct pib *p = c->own;
	int ret = 0;

	(void)from;
	pthread_mutex_lock(&c->path_lock);
	if (!c->enabled || !mode || reg_get(c, 0) & PIB_CALIBRATE) {
		ret = -ENOSPC;
	} else {
		capture(c, bytes, len);
		if (mode >= 8 && mode <= 10 && ++p->messages % IDLE_EVERY == 0)
			capture(c, (const uint8_t *)"\xff", 1);
	}
	pthread_mutex_unlock(&c->path_lock);
	return ret;
}

static const char *pib_enable(struct component *c)
{
	uint32_t mode = PIB_MODE(reg_get(c, 0));

	if (!mode)
		return "trPibMode is off";
	if (!(reg_get(c, 0) & PIB_CALIBRATE))
		return NULL;
	for (size_t i = 0; i < sizeof(patterns) / sizeof(*patterns); i++)
		if (patterns[i].modes >> mode & 1)
			for (unsigned int n = 0; n < 16; n++)
				capture(c, (const uint8_t *)patterns[i].bytes, patterns[i].len);
	return NULL;
}

static uint32_t pib_legal(struct component *c, uint32_t offset, uint32_t value)
{
	(void)c;
	if (!offset && !(model.args.pib_modes >> PIB_MODE(value) & 1))
		value &= ~(15u << 4);
	return value;
}

static const struct part_ops pib_ops = {
	.name = "pib",
	.legal = pib_legal,
	.enable = pib_enable,
	.accept = pib_accept,
};

struct component *pib_new(unsigned int index, uint32_t offset)
{
	struct pib *p = calloc(1, sizeof(*p));
	struct component *c;

	if (!p)
		return NULL;
	p->descs[0] = (struct reg_desc){ .offset = 0, .known = CTL_HANDSHAKE | PIB_SETTINGS,
					 .warl = PIB_SETTINGS & ~(7u << 12), .undefined = ~0u };
	p->descs[1] = (struct reg_desc){ .offset = PIB_IMPL, .known = ~0u,
					 .value = model.args.version | PART_PIB << 8 };
	c = part_new(PART_PIB, &pib_ops, p->descs, 2, index, offset);
	if (c)
		c->own = p;
	return c;
}
