/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Which components there are, and how they are connected. */
#include <errno.h>
#include "model.h"

/* Components that are not one of a hart; dtb-hook has the same numbers. */
#define SHARED_FUNNEL	0x20000
#define SHARED_SINK	0x21000
#define SHARED_PIB	0x22000
#define LOWER_FUNNEL(i)	(0x28000 + MODEL_PAGE * (i))

static void connect(struct component *from, struct component *to)
{
	from->out[from->n_outs++] = to;
	to->in[to->n_ins++] = from;
}

static int shared_funnel(unsigned int n, bool tree, struct component *target)
{
	struct component *top = funnel_new(0, SHARED_FUNNEL), *lower = top;

	if (!top || !target)
		return -ENOMEM;
	connect(top, target);
	for (unsigned int i = 0; i < n; i++) {
		if (tree && i % 2 == 0) {
			lower = funnel_new(1 + i / 2, LOWER_FUNNEL(i / 2));
			if (!lower)
				return -ENOMEM;
			connect(lower, top);
		}
		connect(harts[i].encoder, lower);
	}
	return 0;
}

/* A component of its own for each hart. */
static int own(unsigned int n, struct component *(*create)(unsigned int index, uint32_t offset))
{
	for (unsigned int i = 0; i < n; i++) {
		struct component *c = create(i, 2 * MODEL_PAGE * i + MODEL_PAGE);

		if (!c)
			return -ENOMEM;
		connect(harts[i].encoder, c);
	}
	return 0;
}

int topology_build(unsigned int n)
{
	int ret;

	for (unsigned int i = 0; i < n; i++)
		if (!encoder_new(i, 2 * MODEL_PAGE * i))
			return -ENOMEM;
	switch (model.args.topology) {
	case TOPOLOGY_FUNNEL:
		return shared_funnel(n, false, sink_new(n, SHARED_SINK));
	case TOPOLOGY_TREE:
		return shared_funnel(n, true, sink_new(n, SHARED_SINK));
	case TOPOLOGY_BOTH:
		ret = own(n, sink_new);
		return ret ? ret : shared_funnel(n, false, sink_new(n, SHARED_SINK));
	case TOPOLOGY_PIB:
		return shared_funnel(n, false, pib_new(0, SHARED_PIB));
	case TOPOLOGY_ATB:
		return own(n, atb_new);
	default:
		return own(n, sink_new);
	}
}
