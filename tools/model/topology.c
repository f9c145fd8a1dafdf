/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Makes and connects the components. */
#include <errno.h>
#include "model.h"

/* Offsets of components that do not belong to one hart; dtb-hook has the same numbers. */
#define SHARED_FUNNEL	0x20000
#define SHARED_SINK	0x21000
#define SHARED_PIB	0x22000
#define CORESIGHT_FUNNEL 0x23000
#define CORESIGHT_ETF	0x24000
#define CORESIGHT_ETR	0x25000
#define LOWER_FUNNEL(i)	(0x28000 + MODEL_PAGE * (i))

static void connect(struct component *from, struct component *to)
{
	from->out[from->n_outs++] = to;
	to->in[to->n_ins++] = from;
}

static int shared_funnel(unsigned int n, bool tree, struct component *target, uint32_t base)
{
	struct component *top = funnel_new(0, base + SHARED_FUNNEL), *lower = top;

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

/* Makes one component for each hart. */
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

/* As in SpacemiT's K3: the funnel's output goes to CoreSight, and off the chip or to memory. */
static int funnel_of_bridges(unsigned int n, bool etr)
{
	struct component *funnel = funnel_new(0, SHARED_FUNNEL);
	struct component *behind[3] = { NULL };

	if (!funnel)
		return -ENOMEM;
	for (unsigned int i = 0; i < n; i++)
		connect(harts[i].encoder->out[0], funnel);
	if (!etr)
		return 0;
	behind[0] = csfunnel_new(0, CORESIGHT_FUNNEL);
	behind[1] = etf_new(0, CORESIGHT_ETF);
	behind[2] = etr_new(0, CORESIGHT_ETR);
	if (!behind[0] || !behind[1] || !behind[2])
		return -ENOMEM;
	connect(funnel, behind[0]);
	connect(behind[0], behind[1]);
	connect(behind[1], behind[2]);
	return 0;
}

/* Offset of components behind the registers of others. */
#define BEHIND		0x100000

/* Makes blocks from before ratification: the funnel has a sink inside, or each encoder has. */
static int build_v0(unsigned int n, bool shared)
{
	unsigned int src_bits = shared ? 32 - (unsigned int)__builtin_clz((n - 1) | 1) : 0;
	struct component *sink;
	int ret = 0;

	for (unsigned int i = 0; i < n; i++)
		if (!encoder_new(i, BEHIND + 2 * MODEL_PAGE * i))
			return -ENOMEM;
	if (shared) {
		sink = sink_new(n, BEHIND + SHARED_SINK);
		ret = shared_funnel(n, false, sink, BEHIND);
		if (!ret && !v0_new(sink->in[0], sink, 0, SHARED_FUNNEL))
			ret = -ENOMEM;
	}
	for (unsigned int i = 0; i < n && !ret; i++) {
		sink = NULL;
		if (!shared) {
			sink = sink_new(i, BEHIND + 2 * MODEL_PAGE * i + MODEL_PAGE);
			if (!sink)
				return -ENOMEM;
			connect(harts[i].encoder, sink);
		}
		if (!v0_new(harts[i].encoder, sink, src_bits, 2 * MODEL_PAGE * i))
			ret = -ENOMEM;
	}
	return ret;
}

int topology_build(unsigned int n)
{
	int ret;

	if (model.args.registers == REGISTERS_V0)
		return build_v0(n, model.args.topology == TOPOLOGY_FUNNEL);
	for (unsigned int i = 0; i < n; i++)
		if (!encoder_new(i, 2 * MODEL_PAGE * i))
			return -ENOMEM;
	switch (model.args.topology) {
	case TOPOLOGY_FUNNEL:
		return shared_funnel(n, false, sink_new(n, SHARED_SINK), 0);
	case TOPOLOGY_TREE:
		return shared_funnel(n, true, sink_new(n, SHARED_SINK), 0);
	case TOPOLOGY_BOTH:
		ret = own(n, sink_new);
		return ret ? ret : shared_funnel(n, false, sink_new(n, SHARED_SINK), 0);
	case TOPOLOGY_PIB:
		return shared_funnel(n, false, pib_new(0, SHARED_PIB), 0);
	case TOPOLOGY_ATB:
		return own(n, atb_new);
	case TOPOLOGY_K3:
	case TOPOLOGY_K3_ETR:
		ret = own(n, atb_new);
		return ret ? ret : funnel_of_bridges(n, model.args.topology == TOPOLOGY_K3_ETR);
	default:
		return own(n, sink_new);
	}
}
