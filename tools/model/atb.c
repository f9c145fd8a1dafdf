/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * ATB bridge (Trace Control Interface 1.0, "ATB Bridge"). The capture file gets what leaves on the
 * bus.
 */
#include <errno.h>
#include <stdlib.h>
#include "model.h"

#define ATB_IMPL	0x004
#define ATB_ID(ctl)	((ctl) >> 8 & 0x7f)
#define ATB_ASYNC_FREQ	(7u << 12)	/* in Impl, but can be set */

_Thread_local unsigned int atb_id;

static int atb_accept(struct component *c, const struct component *from, const uint8_t *bytes,
		      size_t len)
{
	int ret = 0;

	(void)from;
	pthread_mutex_lock(&c->path_lock);
	atb_id = ATB_ID(reg_get(c, 0));
	if (c->n_outs)
		ret = part_pass(c, bytes, len);
	else
		capture(c, bytes, len);
	pthread_mutex_unlock(&c->path_lock);
	return ret;
}

static const char *atb_enable(struct component *c)
{
	uint32_t id = ATB_ID(reg_get(c, 0));

	return !id || id >= 0x70 ? "its ATB ID is not a legal one" : NULL;
}

static const struct part_ops atb_ops = {
	.name = "atb",
	.enable = atb_enable,
	.accept = atb_accept,
};

struct component *atb_new(unsigned int index, uint32_t offset)
{
	struct reg_desc *d = calloc(2, sizeof(*d));

	if (!d)
		return NULL;
	d[0] = (struct reg_desc){ .offset = 0, .known = CTL_HANDSHAKE | 0x7f00, .warl = 0x7f00,
				  .undefined = ~0u };
	d[1] = (struct reg_desc){ .offset = ATB_IMPL,
				  .known = ~0u,
				  .warl = ATB_ASYNC_FREQ,
				  .undefined = ~0u,
				  .value = model.args.version | PART_ATB_BRIDGE << 8 };
	return part_new(PART_ATB_BRIDGE, &atb_ops, d, 2, index, offset);
}
