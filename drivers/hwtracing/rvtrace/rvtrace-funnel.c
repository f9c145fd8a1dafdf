// SPDX-License-Identifier: GPL-2.0-only
/*
 * RISC-V trace: the funnel. It takes whole messages from its inputs in turn. SRC names
 * the encoder that wrote a message.
 */
#define pr_fmt(fmt) "rvtrace: " fmt

#include "rvtrace-cpu.h"
#include "rvtrace-path.h"

static int rvtrace_funnel_reset(struct rvtrace_component *comp)
{
	rvtrace_write(comp, RVTRACE_FUNNEL_DIS_INPUT, 0);
	/* Encoders in shared mode depend on it. It is 0 until the unit has been probed. */
	rvtrace_ts_set(comp, true);
	rvtrace_write(comp, RVTRACE_CONTROL, RVTRACE_CONTROL_ACTIVE);
	return 0;
}

static int rvtrace_funnel_probe(struct rvtrace_component *comp)
{
	struct rvtrace_funnel *funnel = to_rvtrace_funnel(comp);

	if (!comp->nr_outputs && !comp->leads_out) {
		dev_err(comp->dev.parent, "funnel without output, not used\n");
		return -ENODEV;
	}
	funnel->maskable = rvtrace_try(comp, RVTRACE_FUNNEL_DIS_INPUT, RVTRACE_FUNNEL_INPUTS);
	rvtrace_write(comp, RVTRACE_FUNNEL_DIS_INPUT, 0);
	rvtrace_ts_probe(comp);
	return 0;
}

/*
 * Closes inputs from components that feed others, too, unless the path that is being started comes
 * through them. Inputs that are open now stay so until the funnel is disabled.
 */
static int rvtrace_funnel_enable(struct rvtrace_component *comp, struct rvtrace_cpu *rc)
{
	struct rvtrace_funnel *funnel = to_rvtrace_funnel(comp);
	u32 closed = funnel->forked;
	unsigned int i;

	for (i = 0; i < rc->path->nr_hops; i++)
		if (rc->path->hops[i] == comp)
			closed &= ~BIT(rc->path->ports[i]);
	if (closed & ~funnel->maskable)
		return -EOPNOTSUPP;
	funnel->open = ~closed;
	rvtrace_write(comp, RVTRACE_FUNNEL_DIS_INPUT, closed);
	return rvtrace_enable(comp, 0);
}

/* Returns whether an enabled component passes on what arrives at this input. */
bool rvtrace_funnel_open(struct rvtrace_component *comp, unsigned int port)
{
	return comp->type != RVTRACE_TYPE_FUNNEL || to_rvtrace_funnel(comp)->open & BIT(port);
}

static ssize_t inputs_maskable_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "0x%04x\n",
			  to_rvtrace_funnel(to_rvtrace_component(dev))->maskable);
}
static DEVICE_ATTR_RO(inputs_maskable);

static struct attribute *rvtrace_funnel_attrs[] = {
	&dev_attr_inputs_maskable.attr,
	NULL
};

static const struct attribute_group rvtrace_funnel_group = {
	.attrs = rvtrace_funnel_attrs,
};

static const struct attribute_group *rvtrace_funnel_groups[] = {
	&rvtrace_component_group,
	&rvtrace_funnel_group,
	&rvtrace_ts_group,
	NULL
};

const struct rvtrace_ops rvtrace_funnel_ops = {
	.name	= "funnel",
	.size	= sizeof(struct rvtrace_funnel),
	.groups	= rvtrace_funnel_groups,
	.probe	= rvtrace_funnel_probe,
	.reset	= rvtrace_funnel_reset,
	.enable	= rvtrace_funnel_enable,
};
