/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Trace funnel (Trace Control Interface 1.0, "Trace Funnel"): passes messages on in the order in
 * which they arrive.
 */
#include <stdlib.h>
#include "model.h"

#define FUNNEL_IMPL	0x004
#define FUNNEL_DISINPUT	0x008
#define FUNNEL_CONTROL	(CTL_ACTIVE | CTL_ENABLE | CTL_EMPTY)
#define N_DESCS		(3 + TS_DESCS)

static bool input_is_disabled(const struct component *c, const struct component *from)
{
	uint32_t disabled = reg_get(c, FUNNEL_DISINPUT);

	for (unsigned int i = 0; i < c->n_ins; i++)
		if (c->in[i] == from)
			return disabled >> i & 1;
	return false;
}

/* Returns whether the funnel loses this message: which ones, the seed says. */
static bool loses(struct component *c)
{
	uint64_t n = (model.args.seed << 32) + c->taken++;

	if (!model.args.funnel_drops)
		return false;
	n = (n ^ n >> 30) * 0xbf58476d1ce4e5b9ull;
	n = (n ^ n >> 27) * 0x94d049bb133111ebull;
	return (n ^ n >> 31) % model.args.funnel_drops == 0;
}

static int funnel_accept(struct component *c, const struct component *from, const uint8_t *bytes,
			 size_t len)
{
	int ret = 0;

	pthread_mutex_lock(&c->path_lock);
	/* data of a disabled input is discarded */
	if (input_is_disabled(c, from) || loses(c))
		ret = 0;
	else if (c->n_outs)
		ret = part_pass(c, bytes, len);
	else
		capture((struct component *)from, bytes, len);
	/* before ratification, a funnel discarded data when its sink was full */
	if (c->front && (!c->front->enabled || c->front->stopped))
		ret = 0;
	pthread_mutex_unlock(&c->path_lock);
	return ret;
}

static uint32_t funnel_legal(struct component *c, uint32_t offset, uint32_t value)
{
	if (offset == FUNNEL_DISINPUT)
		return value & ((1u << c->n_ins) - 1);
	return offset == TS_CONTROL ? timestamp_legal(c, value) : value;
}

static void funnel_wrote(struct component *c, uint32_t offset, uint32_t value)
{
	if (offset == TS_CONTROL)
		timestamp_wrote(c, value);
	timestamp_show(c);
}

static void funnel_was_read(struct component *c, uint32_t offset)
{
	if (offset == TS_LOW || offset == TS_HIGH)
		timestamp_show(c);
}

static const struct part_ops funnel_ops = {
	.name = "funnel",
	.legal = funnel_legal,
	.wrote = funnel_wrote,
	.was_read = funnel_was_read,
	.accept = funnel_accept,
};

struct component *funnel_new(unsigned int index, uint32_t offset)
{
	struct reg_desc *d = calloc(N_DESCS, sizeof(*d));

	if (!d)
		return NULL;
	d[0] = (struct reg_desc){ .offset = 0, .known = FUNNEL_CONTROL };
	d[1] = (struct reg_desc){ .offset = FUNNEL_IMPL, .known = ~0u,
				  .value = model.args.version | PART_FUNNEL << 8 };
	d[2] = (struct reg_desc){ .offset = FUNNEL_DISINPUT,
				  .known = 0xffff,
				  .warl = model.args.warl_funnel,
				  .undefined = ~0u,
				  .must_init = true };
	timestamp_describe(d + 3, false);
	return part_new(PART_FUNNEL, &funnel_ops, d, N_DESCS, index, offset);
}
