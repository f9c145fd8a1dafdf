// SPDX-License-Identifier: GPL-2.0-only
/*
 * RISC-V trace: SpacemiT's K3. Its registers are those of the Trace Control Interface 1.0, its
 * compatibles are its own.
 *
 * An encoder and its bridge answer the encoder's own hart only, a funnel the harts of its cluster:
 * "cpus" says which. Bridges come before funnels, and what leaves a funnel goes into CoreSight.
 * There all encoders share one sink, whose frames name the bridge by its ATB id; decoders look at
 * SRC.
 */
#define pr_fmt(fmt) "rvtrace: " fmt

#include "rvtrace-component.h"

/* By hart, so that an id says whose trace it is */
#define RVTRACE_K3_ATB_ID	0x10

const struct rvtrace_platform_ops rvtrace_k3_ops = {
	.major		= 1,
	.src_bits	= 12,
	.atb_id		= RVTRACE_K3_ATB_ID,
	.own_hart	= true,
};
