// SPDX-License-Identifier: GPL-2.0-only
/*
 * RISC-V trace: the part of Arm's CoreSight that is between ATB bridges and memory. A funnel, and a
 * Trace Memory Controller in two configurations: the ETF is a FIFO on the way, the ETR writes to
 * memory. This file shows their registers to the others as the Trace Control Interface has them: of
 * a funnel, of a funnel with one input, and of a RAM sink.
 *
 * It is for kernels whose own CoreSight drivers do not serve RISC-V, which is all but some of
 * vendors. So the compatibles are not CoreSight's.
 *
 * What the ETR writes are frames of 16 bytes, in which the ATB id of a bridge says whose a byte is.
 * It goes round in its buffer, and does not stop when that is full. The states of a Trace Memory
 * Controller, and what leads from one to the next:
 *
 *	Disabled --TraceCaptEn = 1--> Running --StopOnFl, FlushMan--> Stopping --> Stopped
 *	   ^                                                        (all written) TMCReady
 *	   +---------------------------- TraceCaptEn = 0 -----------------------------+
 *
 * Its settings may be written while it is disabled only. Where it has written to is read while it
 * is stopped, so it stays so until the next start, or until it is set up anew.
 */
#define pr_fmt(fmt) "rvtrace: " fmt

#include <linux/property.h>
#include <linux/slab.h>

#include "rvtrace-ramsink.h"

/* Of each block */
#define RVTRACE_CS_LOCK_ACCESS		0xfb0
#define   RVTRACE_CS_UNLOCK		0xc5acce55
#define RVTRACE_CS_DEVID		0xfc8

/* Funnel */
#define RVTRACE_CS_FUNNEL_CONTROL	0x000
#define   RVTRACE_CS_FUNNEL_PORTS	GENMASK(7, 0)
#define   RVTRACE_CS_FUNNEL_HOLD	GENMASK(11, 8)	/* bytes in a row of one input, less 1 */
#define     RVTRACE_CS_HOLD		7
#define   RVTRACE_CS_DEVID_PORTS	GENMASK(3, 0)

/* Trace Memory Controller */
#define RVTRACE_TMC_SIZE		0x004	/* in words of 4 bytes */
#define RVTRACE_TMC_STATUS		0x00c
#define   RVTRACE_TMC_STATUS_FULL	BIT(0)	/* it has gone round */
#define   RVTRACE_TMC_STATUS_READY	BIT(2)
#define   RVTRACE_TMC_STATUS_MEM_ERR	BIT(5)
#define RVTRACE_TMC_READ_LOW		0x014
#define RVTRACE_TMC_WRITE_LOW		0x018
#define RVTRACE_TMC_TRIGGER		0x01c
#define RVTRACE_TMC_CONTROL		0x020
#define   RVTRACE_TMC_CONTROL_CAPTURE	BIT(0)
#define RVTRACE_TMC_MODE		0x028
#define   RVTRACE_TMC_MODE_CIRCULAR	0
#define   RVTRACE_TMC_MODE_FIFO		2
#define RVTRACE_TMC_WATERMARK		0x034
#define RVTRACE_TMC_READ_HIGH		0x038
#define RVTRACE_TMC_WRITE_HIGH		0x03c
#define RVTRACE_TMC_AXI			0x110
#define   RVTRACE_TMC_AXI_PROT		GENMASK(1, 0)
#define     RVTRACE_TMC_PROT_NON_SECURE	2
#define   RVTRACE_TMC_AXI_CACHE		GENMASK(5, 2)
#define     RVTRACE_TMC_CACHE_NONE	0x3	/* buffered only */
#define     RVTRACE_TMC_CACHE_BACK	0xf	/* write back, allocate */
#define   RVTRACE_TMC_AXI_SCATTER	BIT(7)
#define   RVTRACE_TMC_AXI_BURST		GENMASK(11, 8)	/* transfers, less 1 */
#define     RVTRACE_TMC_BURST		15
#define RVTRACE_TMC_BASE_LOW		0x118
#define RVTRACE_TMC_BASE_HIGH		0x11c
#define RVTRACE_TMC_FORMATTER		0x304
#define   RVTRACE_TMC_FORMATTER_ON	BIT(0)
#define   RVTRACE_TMC_FORMATTER_TRIGGERS	BIT(1)
#define   RVTRACE_TMC_FORMATTER_FLUSH	BIT(6)	/* reads as 1 until that is done */
#define   RVTRACE_TMC_FORMATTER_STOP	BIT(12)	/* behind a flush */
#define RVTRACE_TMC_DEVID_TYPE		GENMASK(7, 6)
#define   RVTRACE_TMC_TYPE_ETR		1
#define   RVTRACE_TMC_TYPE_ETF		2
#define RVTRACE_TMC_DEVID_WIDTH		GENMASK(10, 8)	/* of the memory, 2^n bytes */

#define RVTRACE_CS_FRAME		16

#define RVTRACE_CS_IMPL(_type)						\
	(FIELD_PREP(RVTRACE_IMPL_MAJOR, 1) | FIELD_PREP(RVTRACE_IMPL_TYPE, _type))

/**
 * struct rvtrace_cs - a block of registers
 * @comp:	the component
 * @control:	what was written to Control in the form of 1.0
 * @closed:	of a funnel: trFunnelDisInput
 * @limit_high:	of an ETR: what was written to trRamLimitHigh
 * @axi_cache:	of an ETR: how its writes go to memory
 */
struct rvtrace_cs {
	struct rvtrace_component *comp;
	u32 control;
	u32 closed;
	u32 limit_high;
	u32 axi_cache;
};

static u32 rvtrace_cs_get(const struct rvtrace_cs *cs, u32 reg)
{
	return readl_relaxed(cs->comp->base + reg);
}

static void rvtrace_cs_set(const struct rvtrace_cs *cs, u32 reg, u32 value)
{
	writel_relaxed(value, cs->comp->base + reg);
}

static struct rvtrace_cs *rvtrace_cs_alloc(struct rvtrace_component *comp)
{
	struct rvtrace_cs *cs = devm_kzalloc(comp->dev.parent, sizeof(*cs), GFP_KERNEL);

	if (cs)
		cs->comp = comp;
	comp->platform_data = cs;
	return cs;
}

/* ------------------------------------------------------------------ funnel */

static u32 rvtrace_csfunnel_ports(const struct rvtrace_cs *cs)
{
	u32 nr = FIELD_GET(RVTRACE_CS_DEVID_PORTS, rvtrace_cs_get(cs, RVTRACE_CS_DEVID));

	return (BIT(nr) - 1) & RVTRACE_CS_FUNNEL_PORTS;
}

/*
 * Returns Control of a funnel. It stores nothing of what passes it, so a disabled funnel is empty.
 */
static u32 rvtrace_csfunnel_control(const struct rvtrace_cs *cs)
{
	if (!(cs->control & RVTRACE_CONTROL_ACTIVE))
		return RVTRACE_CONTROL_EMPTY;
	if (rvtrace_cs_get(cs, RVTRACE_CS_FUNNEL_CONTROL) & RVTRACE_CS_FUNNEL_PORTS)
		return RVTRACE_CONTROL_ACTIVE | RVTRACE_CONTROL_ENABLE;
	return RVTRACE_CONTROL_ACTIVE | RVTRACE_CONTROL_EMPTY;
}

static u32 rvtrace_csfunnel_read(struct rvtrace_component *comp, u32 reg)
{
	const struct rvtrace_cs *cs = comp->platform_data;

	switch (reg) {
	case RVTRACE_CONTROL:
		return rvtrace_csfunnel_control(cs);
	case RVTRACE_IMPL:
		return RVTRACE_CS_IMPL(RVTRACE_TYPE_FUNNEL);
	case RVTRACE_FUNNEL_DIS_INPUT:
		return cs->closed;
	default:
		return 0;
	}
}

static void rvtrace_csfunnel_write_control(struct rvtrace_cs *cs, u32 value)
{
	u32 control = FIELD_PREP(RVTRACE_CS_FUNNEL_HOLD, RVTRACE_CS_HOLD);

	cs->control = value;
	if (value & RVTRACE_CONTROL_ENABLE)
		control |= rvtrace_csfunnel_ports(cs) & ~cs->closed;
	rvtrace_cs_set(cs, RVTRACE_CS_LOCK_ACCESS, RVTRACE_CS_UNLOCK);
	rvtrace_cs_set(cs, RVTRACE_CS_FUNNEL_CONTROL, control);
}

static void rvtrace_csfunnel_write(struct rvtrace_component *comp, u32 reg, u32 value)
{
	struct rvtrace_cs *cs = comp->platform_data;

	if (reg == RVTRACE_CONTROL)
		rvtrace_csfunnel_write_control(cs, value);
	else if (reg == RVTRACE_FUNNEL_DIS_INPUT)
		cs->closed = value & rvtrace_csfunnel_ports(cs);
}

static int rvtrace_csfunnel_attach(struct rvtrace_component *comp)
{
	return rvtrace_cs_alloc(comp) ? 0 : -ENOMEM;
}

/* ------------------------------------------------------------------ both kinds of TMC */

static bool rvtrace_tmc_captures(const struct rvtrace_cs *cs)
{
	return rvtrace_cs_get(cs, RVTRACE_TMC_CONTROL) & RVTRACE_TMC_CONTROL_CAPTURE;
}

static bool rvtrace_tmc_is_ready(const struct rvtrace_cs *cs)
{
	return !(rvtrace_cs_get(cs, RVTRACE_TMC_FORMATTER) & RVTRACE_TMC_FORMATTER_FLUSH) &&
	       rvtrace_cs_get(cs, RVTRACE_TMC_STATUS) & RVTRACE_TMC_STATUS_READY;
}

/*
 * Returns Control of a TMC, without changing anything. Until the TMC has stopped, it is still
 * enabled. When it has been disabled and is not ready yet, it has not come out of reset.
 */
static u32 rvtrace_tmc_control(const struct rvtrace_cs *cs)
{
	if (!(cs->control & RVTRACE_CONTROL_ACTIVE))
		return RVTRACE_CONTROL_EMPTY;
	if (cs->control & RVTRACE_CONTROL_ENABLE)
		return rvtrace_tmc_captures(cs) ? cs->control :
						  cs->control & ~RVTRACE_CONTROL_ENABLE;
	if (rvtrace_tmc_is_ready(cs))
		return cs->control | RVTRACE_CONTROL_EMPTY;
	return rvtrace_tmc_captures(cs) ? cs->control | RVTRACE_CONTROL_ENABLE :
					  cs->control & ~RVTRACE_CONTROL_ACTIVE;
}

static void rvtrace_tmc_disable(const struct rvtrace_cs *cs)
{
	rvtrace_cs_set(cs, RVTRACE_CS_LOCK_ACCESS, RVTRACE_CS_UNLOCK);
	rvtrace_cs_set(cs, RVTRACE_TMC_CONTROL, 0);
}

static void rvtrace_tmc_run(const struct rvtrace_cs *cs)
{
	rvtrace_cs_set(cs, RVTRACE_TMC_FORMATTER,
		       RVTRACE_TMC_FORMATTER_ON | RVTRACE_TMC_FORMATTER_TRIGGERS);
	rvtrace_cs_set(cs, RVTRACE_TMC_TRIGGER, 0);
	rvtrace_cs_set(cs, RVTRACE_TMC_CONTROL, RVTRACE_TMC_CONTROL_CAPTURE);
}

/*
 * Flushes and stops the TMC. The flush goes upstream first, and what comes out of it is written
 * before the TMC stops.
 */
static void rvtrace_tmc_stop(const struct rvtrace_cs *cs)
{
	u32 formatter = RVTRACE_TMC_FORMATTER_ON | RVTRACE_TMC_FORMATTER_TRIGGERS |
			RVTRACE_TMC_FORMATTER_STOP;

	rvtrace_cs_set(cs, RVTRACE_TMC_FORMATTER, formatter);
	rvtrace_cs_set(cs, RVTRACE_TMC_FORMATTER, formatter | RVTRACE_TMC_FORMATTER_FLUSH);
}

static void rvtrace_tmc_write_control(struct rvtrace_cs *cs, u32 value,
				      void (*set_up)(const struct rvtrace_cs *cs))
{
	bool enabled = cs->control & RVTRACE_CONTROL_ENABLE;

	cs->control = value & (RVTRACE_CONTROL_ACTIVE | RVTRACE_CONTROL_ENABLE |
			       RVTRACE_RAM_CONTROL_MODE_SMEM);
	if (enabled && value & RVTRACE_CONTROL_ACTIVE) {
		if (!(value & RVTRACE_CONTROL_ENABLE))
			rvtrace_tmc_stop(cs);
		return;
	}
	rvtrace_tmc_disable(cs);
	if (!(value & RVTRACE_CONTROL_ENABLE))
		return;
	set_up(cs);
	rvtrace_tmc_run(cs);
}

static int rvtrace_tmc_attach(struct rvtrace_component *comp, u32 wanted)
{
	struct rvtrace_cs *cs = rvtrace_cs_alloc(comp);
	u32 devid;

	if (!cs)
		return -ENOMEM;
	devid = rvtrace_cs_get(cs, RVTRACE_CS_DEVID);
	if (FIELD_GET(RVTRACE_TMC_DEVID_TYPE, devid) == wanted)
		return 0;
	dev_err(comp->dev.parent, "not the Trace Memory Controller that its compatible names, not used (devid 0x%08x)\n",
		devid);
	return -ENODEV;
}

/* ------------------------------------------------------------------ ETF: a FIFO on the way */

static void rvtrace_etf_set_up(const struct rvtrace_cs *cs)
{
	rvtrace_cs_set(cs, RVTRACE_TMC_MODE, RVTRACE_TMC_MODE_FIFO);
	rvtrace_cs_set(cs, RVTRACE_TMC_WATERMARK, 0);
}

static u32 rvtrace_etf_read(struct rvtrace_component *comp, u32 reg)
{
	const struct rvtrace_cs *cs = comp->platform_data;

	switch (reg) {
	case RVTRACE_CONTROL:
		return rvtrace_tmc_control(cs);
	case RVTRACE_IMPL:
		return RVTRACE_CS_IMPL(RVTRACE_TYPE_FUNNEL);
	default:
		return 0;
	}
}

static void rvtrace_etf_write(struct rvtrace_component *comp, u32 reg, u32 value)
{
	if (reg == RVTRACE_CONTROL)
		rvtrace_tmc_write_control(comp->platform_data, value, rvtrace_etf_set_up);
}

static int rvtrace_etf_attach(struct rvtrace_component *comp)
{
	return rvtrace_tmc_attach(comp, RVTRACE_TMC_TYPE_ETF);
}

/* ------------------------------------------------------------------ ETR: to memory */

static u64 rvtrace_etr_base(const struct rvtrace_cs *cs)
{
	return (u64)rvtrace_cs_get(cs, RVTRACE_TMC_BASE_HIGH) << 32 |
	       rvtrace_cs_get(cs, RVTRACE_TMC_BASE_LOW);
}

/*
 * Sets pointers that some hardware does not set to the base of the buffer by itself, and clears a
 * status that it does not clear. Other hardware ignores this.
 */
static void rvtrace_etr_set_up(const struct rvtrace_cs *cs)
{
	u32 axi = rvtrace_cs_get(cs, RVTRACE_TMC_AXI);
	u64 base = rvtrace_etr_base(cs);

	axi &= ~(RVTRACE_TMC_AXI_PROT | RVTRACE_TMC_AXI_CACHE | RVTRACE_TMC_AXI_SCATTER |
		 RVTRACE_TMC_AXI_BURST);
	axi |= FIELD_PREP(RVTRACE_TMC_AXI_PROT, RVTRACE_TMC_PROT_NON_SECURE) |
	       FIELD_PREP(RVTRACE_TMC_AXI_CACHE, cs->axi_cache) |
	       FIELD_PREP(RVTRACE_TMC_AXI_BURST, RVTRACE_TMC_BURST);
	rvtrace_cs_set(cs, RVTRACE_TMC_MODE, RVTRACE_TMC_MODE_CIRCULAR);
	rvtrace_cs_set(cs, RVTRACE_TMC_AXI, axi);
	rvtrace_cs_set(cs, RVTRACE_TMC_READ_HIGH, upper_32_bits(base));
	rvtrace_cs_set(cs, RVTRACE_TMC_READ_LOW, lower_32_bits(base));
	rvtrace_cs_set(cs, RVTRACE_TMC_WRITE_HIGH, upper_32_bits(base));
	rvtrace_cs_set(cs, RVTRACE_TMC_WRITE_LOW, lower_32_bits(base));
	rvtrace_cs_set(cs, RVTRACE_TMC_STATUS, 0);
}

static u64 rvtrace_etr_limit(const struct rvtrace_cs *cs)
{
	u64 size = (u64)rvtrace_cs_get(cs, RVTRACE_TMC_SIZE) * sizeof(u32);

	return rvtrace_etr_base(cs) + size - to_rvtrace_ramsink(cs->comp)->access;
}

static void rvtrace_etr_write_limit(const struct rvtrace_cs *cs, u32 low)
{
	u64 end = ((u64)cs->limit_high << 32 | low) + to_rvtrace_ramsink(cs->comp)->access;

	rvtrace_cs_set(cs, RVTRACE_TMC_SIZE, (end - rvtrace_etr_base(cs)) / sizeof(u32));
}

/*
 * Returns WP. When the bus refused an address, it is not known what was written: WP is where it
 * cannot be then.
 */
static u32 rvtrace_etr_write_pointer(const struct rvtrace_cs *cs)
{
	u32 status = rvtrace_cs_get(cs, RVTRACE_TMC_STATUS);
	u32 wp = rvtrace_cs_get(cs, RVTRACE_TMC_WRITE_LOW) & RVTRACE_RAM_WP_ADDR;

	if (status & RVTRACE_TMC_STATUS_MEM_ERR) {
		dev_err_ratelimited(&cs->comp->dev, "the bus refused an address\n");
		return lower_32_bits(rvtrace_etr_base(cs)) - RVTRACE_CS_FRAME;
	}
	return status & RVTRACE_TMC_STATUS_FULL ? wp | RVTRACE_RAM_WP_WRAP : wp;
}

static u32 rvtrace_etr_read(struct rvtrace_component *comp, u32 reg)
{
	const struct rvtrace_cs *cs = comp->platform_data;

	switch (reg) {
	case RVTRACE_CONTROL:
		return rvtrace_tmc_control(cs);
	case RVTRACE_IMPL:
		return RVTRACE_CS_IMPL(RVTRACE_TYPE_RAMSINK) | RVTRACE_RAM_IMPL_HAS_SMEM;
	case RVTRACE_RAM_START_LOW:
		return rvtrace_cs_get(cs, RVTRACE_TMC_BASE_LOW);
	case RVTRACE_RAM_START_HIGH:
		return rvtrace_cs_get(cs, RVTRACE_TMC_BASE_HIGH);
	case RVTRACE_RAM_LIMIT_LOW:
		return lower_32_bits(rvtrace_etr_limit(cs));
	case RVTRACE_RAM_LIMIT_HIGH:
		return upper_32_bits(rvtrace_etr_limit(cs));
	case RVTRACE_RAM_WP_LOW:
		return rvtrace_etr_write_pointer(cs);
	case RVTRACE_RAM_WP_HIGH:
		return rvtrace_cs_get(cs, RVTRACE_TMC_WRITE_HIGH);
	default:
		return 0;
	}
}

/* Writes a register. WP cannot be written: the hardware starts at the beginning of its buffer. */
static void rvtrace_etr_write(struct rvtrace_component *comp, u32 reg, u32 value)
{
	struct rvtrace_cs *cs = comp->platform_data;

	switch (reg) {
	case RVTRACE_CONTROL:
		rvtrace_tmc_write_control(cs, value, rvtrace_etr_set_up);
		break;
	case RVTRACE_RAM_START_LOW:
		rvtrace_cs_set(cs, RVTRACE_TMC_BASE_LOW, value);
		break;
	case RVTRACE_RAM_START_HIGH:
		rvtrace_cs_set(cs, RVTRACE_TMC_BASE_HIGH, value);
		break;
	case RVTRACE_RAM_LIMIT_LOW:
		rvtrace_etr_write_limit(cs, value);
		break;
	case RVTRACE_RAM_LIMIT_HIGH:
		cs->limit_high = value;
		break;
	default:
		break;
	}
}

static int rvtrace_etr_attach(struct rvtrace_component *comp)
{
	struct rvtrace_ramsink *sink = to_rvtrace_ramsink(comp);
	int ret = rvtrace_tmc_attach(comp, RVTRACE_TMC_TYPE_ETR);
	struct rvtrace_cs *cs = comp->platform_data;
	u32 width;

	if (ret)
		return ret;
	width = FIELD_GET(RVTRACE_TMC_DEVID_WIDTH, rvtrace_cs_get(cs, RVTRACE_CS_DEVID));
	sink->access = max_t(u32, BIT(width), RVTRACE_CS_FRAME);
	/* It starts at the beginning of its buffer, not somewhere in an AUX buffer. */
	sink->no_direct = true;
	cs->axi_cache = device_get_dma_attr(comp->dev.parent) == DEV_DMA_COHERENT ?
			RVTRACE_TMC_CACHE_BACK : RVTRACE_TMC_CACHE_NONE;
	return 0;
}

const struct rvtrace_platform_ops rvtrace_csfunnel_ops = {
	.major	= 1,
	.type	= RVTRACE_TYPE_FUNNEL,
	.read	= rvtrace_csfunnel_read,
	.write	= rvtrace_csfunnel_write,
	.attach	= rvtrace_csfunnel_attach,
};

const struct rvtrace_platform_ops rvtrace_etf_ops = {
	.major	= 1,
	.type	= RVTRACE_TYPE_FUNNEL,
	.read	= rvtrace_etf_read,
	.write	= rvtrace_etf_write,
	.attach	= rvtrace_etf_attach,
};

const struct rvtrace_platform_ops rvtrace_etr_ops = {
	.major	= 1,
	.type	= RVTRACE_TYPE_RAMSINK,
	.read	= rvtrace_etr_read,
	.write	= rvtrace_etr_write,
	.attach	= rvtrace_etr_attach,
	.sink_params = "framing = coresight\n",
};
