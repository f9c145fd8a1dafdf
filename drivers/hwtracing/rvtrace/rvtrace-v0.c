// SPDX-License-Identifier: GPL-2.0-only
/*
 * RISC-V trace: encoders and funnels as SiFive had them before the Trace Control Interface was
 * ratified ("version 0"): E31 to P550. This file shows their registers to the others as 1.0 has
 * them.
 *
 * The largest difference is that sinks are not components: an encoder or a funnel has the registers
 * of a sink in its own block, and bits of its Control select the sink and say whether that stops
 * when it is full. Such a sink is made a component of its own here, the only output of its host.
 * It runs when its host does. When it is full and stops, the host is disabled, and whatever comes
 * to a disabled funnel is lost.
 *
 * There are no filters: what is traced is traced in all privilege modes. Only sinks in system
 * memory are supported.
 */
#define pr_fmt(fmt) "rvtrace: " fmt

#include <linux/slab.h>

#include "rvtrace-encoder.h"
#include "rvtrace-ramsink.h"

/* Control has bits 0 to 3, the modes in 6:4, 13 (stall) and 15 (inhibit SRC) where 1.0 has them. */
#define RVTRACE_V0_CONTROL_SAME							\
	(RVTRACE_CONTROL_ACTIVE | RVTRACE_CONTROL_ENABLE | RVTRACE_TE_CONTROL_INST_TRACING | \
	 RVTRACE_CONTROL_EMPTY | RVTRACE_TE_CONTROL_INST_STALL_ENA |			\
	 RVTRACE_TE_CONTROL_INHIBIT_SRC)
#define   RVTRACE_V0_MODE_OPTIMIZATIONS	7	/* 6, and returns that are counted */
#define RVTRACE_V0_CONTROL_OVERFLOW	BIT(12)	/* write 0 to clear */
#define RVTRACE_V0_CONTROL_STOP_ON_WRAP	BIT(14)
#define RVTRACE_V0_CONTROL_SYNC_BRANCHES GENMASK(19, 16)
#define RVTRACE_V0_CONTROL_SYNC_INSNS	GENMASK(23, 20)
#define   RVTRACE_V0_SYNC_OFF		15
#define RVTRACE_V0_CONTROL_FORMAT	GENMASK(26, 24)
#define RVTRACE_V0_CONTROL_SINK_ERROR	BIT(27)	/* write 1 to clear */
#define RVTRACE_V0_CONTROL_SINK		GENMASK(31, 28)
#define   RVTRACE_V0_SINK_MEMORY	7
#define   RVTRACE_V0_SINK_FUNNEL	8

#define RVTRACE_V0_IMPL			0x04
#define   RVTRACE_V0_IMPL_VERSION	GENMASK(3, 0)
#define   RVTRACE_V0_IMPL_HAS_MEMORY	BIT(7)
#define   RVTRACE_V0_IMPL_SINK_WIDTH	GENMASK(17, 16)	/* 32 bits and more */
#define   RVTRACE_V0_IMPL_SRC_ID	GENMASK(23, 20)
#define   RVTRACE_V0_IMPL_SRC_BITS	GENMASK(26, 24)

#define RVTRACE_V0_SINK_BASE		0x10
#define RVTRACE_V0_SINK_HIGH		0x14	/* the upper halves of base, limit and WP */
#define RVTRACE_V0_SINK_LIMIT		0x18
#define RVTRACE_V0_SINK_WP		0x1c

/* Control is as in 1.0, but that bits 23:16 say what is stamped. */
#define RVTRACE_V0_TS_CONTROL		0x40
#define   RVTRACE_V0_TS_ALL_BRANCHES	FIELD_PREP_CONST(GENMASK(17, 16), 3)
#define   RVTRACE_V0_TS_STAMPS		GENMASK(23, 16)
#define RVTRACE_V0_TS_LOW		0x44
#define RVTRACE_V0_TS_HIGH		0x48

/* trTeInstSyncMode */
#define RVTRACE_V0_SYNC_MESSAGES	1
#define RVTRACE_V0_SYNC_INSTRUCTIONS	3

/**
 * struct rvtrace_v0 - a block of registers
 * @host:	the encoder or funnel
 * @sink:	the sink in it, or NULL
 * @features:	the options of trTeInstFeatures that are in force
 * @sink_control: trRamControl of the sink
 */
struct rvtrace_v0 {
	struct rvtrace_component *host;
	struct rvtrace_component *sink;
	u32 features;
	u32 sink_control;
};

static u32 rvtrace_v0_get(const struct rvtrace_v0 *v0, u32 reg)
{
	return readl_relaxed(v0->host->base + reg);
}

static void rvtrace_v0_set(const struct rvtrace_v0 *v0, u32 reg, u32 value)
{
	writel_relaxed(value, v0->host->base + reg);
}

/* ------------------------------------------------------------------ Control of the host */

/*
 * Converts the period of synchronization. In 1.0 it is 2^(max + 4), here 2^(n + 5), of one unit or
 * of the other.
 */
static u32 rvtrace_v0_sync(u32 control)
{
	u32 mode = FIELD_GET(RVTRACE_TE_CONTROL_INST_SYNC_MODE, control);
	u32 max = FIELD_GET(RVTRACE_TE_CONTROL_INST_SYNC_MAX, control);
	u32 branches = RVTRACE_V0_SYNC_OFF, insns = RVTRACE_V0_SYNC_OFF;

	if (mode == RVTRACE_V0_SYNC_MESSAGES)
		branches = max ? max - 1 : 0;
	else if (mode == RVTRACE_V0_SYNC_INSTRUCTIONS)
		insns = max ? max - 1 : 0;
	return FIELD_PREP(RVTRACE_V0_CONTROL_SYNC_BRANCHES, branches) |
	       FIELD_PREP(RVTRACE_V0_CONTROL_SYNC_INSNS, insns);
}

static u32 rvtrace_v0_sync_back(u32 value)
{
	u32 branches = FIELD_GET(RVTRACE_V0_CONTROL_SYNC_BRANCHES, value);
	u32 insns = FIELD_GET(RVTRACE_V0_CONTROL_SYNC_INSNS, value);

	if (branches != RVTRACE_V0_SYNC_OFF)
		return FIELD_PREP(RVTRACE_TE_CONTROL_INST_SYNC_MODE, RVTRACE_V0_SYNC_MESSAGES) |
		       FIELD_PREP(RVTRACE_TE_CONTROL_INST_SYNC_MAX, branches + 1);
	if (insns != RVTRACE_V0_SYNC_OFF)
		return FIELD_PREP(RVTRACE_TE_CONTROL_INST_SYNC_MODE, RVTRACE_V0_SYNC_INSTRUCTIONS) |
		       FIELD_PREP(RVTRACE_TE_CONTROL_INST_SYNC_MAX, insns + 1);
	return 0;
}

static u32 rvtrace_v0_encoder_control(const struct rvtrace_v0 *v0, u32 control)
{
	u32 mode = FIELD_GET(RVTRACE_TE_CONTROL_INST_MODE, control);

	if (mode == RVTRACE_V0_MODE_OPTIMIZATIONS)
		mode = 0;
	if (mode == RVTRACE_MODE_OPTIMIZED && v0->features & RVTRACE_TE_FEATURES_IMPLICIT_RETURN)
		mode = RVTRACE_V0_MODE_OPTIMIZATIONS;
	return (control & RVTRACE_V0_CONTROL_SAME) | rvtrace_v0_sync(control) |
	       FIELD_PREP(RVTRACE_TE_CONTROL_INST_MODE, mode);
}

/*
 * Converts @control of 1.0. Clears the bits for losses when it enables the component, and not
 * before: the code that disables the component reads them afterwards.
 */
static u32 rvtrace_v0_control(const struct rvtrace_v0 *v0, u32 control)
{
	bool starts = control & RVTRACE_CONTROL_ENABLE &&
		      !(rvtrace_v0_get(v0, RVTRACE_CONTROL) & RVTRACE_CONTROL_ENABLE);
	u32 value;

	if (!(control & RVTRACE_CONTROL_ACTIVE))
		return 0;
	if (control == RVTRACE_CONTROL_ACTIVE)
		return control;
	if (v0->host->type == RVTRACE_TYPE_ENCODER)
		value = rvtrace_v0_encoder_control(v0, control);
	else
		value = control & (RVTRACE_CONTROL_ACTIVE | RVTRACE_CONTROL_ENABLE);
	value |= starts ? RVTRACE_V0_CONTROL_SINK_ERROR : RVTRACE_V0_CONTROL_OVERFLOW;
	if (v0->sink_control & RVTRACE_RAM_CONTROL_STOP_ON_WRAP)
		value |= RVTRACE_V0_CONTROL_STOP_ON_WRAP;
	return value | FIELD_PREP(RVTRACE_V0_CONTROL_SINK, v0->sink ? RVTRACE_V0_SINK_MEMORY :
								     RVTRACE_V0_SINK_FUNNEL);
}

static u32 rvtrace_v0_control_back(const struct rvtrace_v0 *v0)
{
	u32 value = rvtrace_v0_get(v0, RVTRACE_CONTROL);
	u32 control = value & RVTRACE_V0_CONTROL_SAME;
	u32 mode = FIELD_GET(RVTRACE_TE_CONTROL_INST_MODE, value);

	if (v0->host->type != RVTRACE_TYPE_ENCODER)
		return control;
	if (mode == RVTRACE_V0_MODE_OPTIMIZATIONS)
		mode = RVTRACE_MODE_OPTIMIZED;
	/*
	 * Trace that the sink could not write is as lost as messages that did not fit into the
	 * encoder.
	 */
	if (value & (RVTRACE_V0_CONTROL_OVERFLOW | RVTRACE_V0_CONTROL_SINK_ERROR))
		control |= RVTRACE_TE_CONTROL_INST_STALL_OR_OVERFLOW;
	return control | rvtrace_v0_sync_back(value) |
	       FIELD_PREP(RVTRACE_TE_CONTROL_INST_MODE, mode) |
	       (value & RVTRACE_V0_CONTROL_FORMAT);
}

static void rvtrace_v0_write_control(struct rvtrace_v0 *v0, u32 control)
{
	/* The sink loses its registers, too. */
	if (!(control & RVTRACE_CONTROL_ACTIVE)) {
		v0->features = 0;
		if (v0->sink)
			to_rvtrace_ramsink(v0->sink)->length = 0;
	}
	rvtrace_v0_set(v0, RVTRACE_CONTROL, rvtrace_v0_control(v0, control));
}

/* ------------------------------------------------------------------ other registers of the host */

/* Returns Impl in the form of 1.0. */
static u32 rvtrace_v0_impl(const struct rvtrace_v0 *v0, enum rvtrace_type type)
{
	u32 impl = rvtrace_v0_get(v0, RVTRACE_V0_IMPL);
	u32 form = (impl & RVTRACE_V0_IMPL_VERSION) | FIELD_PREP(RVTRACE_IMPL_TYPE, type);

	if (type == RVTRACE_TYPE_ENCODER)
		return form | FIELD_PREP(RVTRACE_TE_IMPL_PROTOCOL_MAJOR, 1);
	if (type == RVTRACE_TYPE_RAMSINK && impl & RVTRACE_V0_IMPL_HAS_MEMORY)
		return form | RVTRACE_RAM_IMPL_HAS_SMEM;
	return form;
}

static u32 rvtrace_v0_features(const struct rvtrace_v0 *v0)
{
	u32 impl = rvtrace_v0_get(v0, RVTRACE_V0_IMPL);

	return v0->features |
	       FIELD_PREP(RVTRACE_TE_FEATURES_SRC_ID, FIELD_GET(RVTRACE_V0_IMPL_SRC_ID, impl)) |
	       FIELD_PREP(RVTRACE_TE_FEATURES_SRC_BITS, FIELD_GET(RVTRACE_V0_IMPL_SRC_BITS, impl));
}

/*
 * Selects that returns are counted, which is mode 1 of 1.0. This takes effect when Control is
 * written.
 */
static void rvtrace_v0_write_features(struct rvtrace_v0 *v0, u32 value)
{
	u32 control;

	v0->features = 0;
	if (value & RVTRACE_TE_FEATURES_IMPLICIT_RETURN)
		v0->features = RVTRACE_TE_FEATURES_IMPLICIT_RETURN |
			       FIELD_PREP(RVTRACE_TE_FEATURES_RETURN_MODE, 1);
	control = rvtrace_v0_control_back(v0);
	if (FIELD_GET(RVTRACE_TE_CONTROL_INST_MODE, control) != RVTRACE_MODE_OPTIMIZED)
		return;
	rvtrace_v0_write_control(v0, control & ~RVTRACE_TE_CONTROL_INST_STALL_OR_OVERFLOW);
	if (FIELD_GET(RVTRACE_TE_CONTROL_INST_MODE, rvtrace_v0_get(v0, RVTRACE_CONTROL)) !=
	    RVTRACE_V0_MODE_OPTIMIZATIONS)
		v0->features = 0;
}

static u32 rvtrace_v0_read_host(struct rvtrace_v0 *v0, u32 reg)
{
	switch (reg) {
	case RVTRACE_CONTROL:
		return rvtrace_v0_control_back(v0);
	case RVTRACE_IMPL:
		return rvtrace_v0_impl(v0, v0->host->type);
	case RVTRACE_TE_INST_FEATURES:
		return v0->host->type == RVTRACE_TYPE_ENCODER ? rvtrace_v0_features(v0) : 0;
	case RVTRACE_TS_CONTROL:
		return rvtrace_v0_get(v0, RVTRACE_V0_TS_CONTROL) & ~RVTRACE_V0_TS_STAMPS;
	case RVTRACE_TS_COUNTER_LOW:
		return rvtrace_v0_get(v0, RVTRACE_V0_TS_LOW);
	case RVTRACE_TS_COUNTER_HIGH:
		return rvtrace_v0_get(v0, RVTRACE_V0_TS_HIGH);
	default:
		return 0;
	}
}

static void rvtrace_v0_write_host(struct rvtrace_v0 *v0, u32 reg, u32 value)
{
	bool encoder = v0->host->type == RVTRACE_TYPE_ENCODER;

	if (reg == RVTRACE_CONTROL)
		rvtrace_v0_write_control(v0, value);
	else if (reg == RVTRACE_TE_INST_FEATURES && encoder)
		rvtrace_v0_write_features(v0, value);
	else if (reg == RVTRACE_TS_CONTROL)
		rvtrace_v0_set(v0, RVTRACE_V0_TS_CONTROL,
			       value & RVTRACE_TS_CONTROL_ENABLE ?
			       value | RVTRACE_V0_TS_ALL_BRANCHES : value);
}

/* ------------------------------------------------------------------ the sink */

/*
 * Returns Control of the sink. The sink is enabled with its host, which disables itself when the
 * sink is full.
 */
static u32 rvtrace_v0_sink_control(const struct rvtrace_v0 *v0)
{
	u32 value, control = v0->sink_control;

	if (!(control & RVTRACE_CONTROL_ACTIVE))
		return RVTRACE_CONTROL_EMPTY;
	value = rvtrace_v0_get(v0, RVTRACE_CONTROL);
	if (v0->host->control & RVTRACE_CONTROL_ENABLE && !(value & RVTRACE_CONTROL_ENABLE))
		control &= ~RVTRACE_CONTROL_ENABLE;
	if (value & RVTRACE_V0_CONTROL_SINK_ERROR)
		dev_err_ratelimited(&v0->sink->dev, "the bus refused an address\n");
	return control | (value & RVTRACE_CONTROL_EMPTY);
}

static u32 rvtrace_v0_read_sink(struct rvtrace_v0 *v0, u32 reg)
{
	switch (reg) {
	case RVTRACE_CONTROL:
		return rvtrace_v0_sink_control(v0);
	case RVTRACE_IMPL:
		return rvtrace_v0_impl(v0, RVTRACE_TYPE_RAMSINK);
	case RVTRACE_RAM_START_LOW:
		return rvtrace_v0_get(v0, RVTRACE_V0_SINK_BASE);
	case RVTRACE_RAM_LIMIT_LOW:
		return rvtrace_v0_get(v0, RVTRACE_V0_SINK_LIMIT);
	case RVTRACE_RAM_WP_LOW:
		return rvtrace_v0_get(v0, RVTRACE_V0_SINK_WP);
	case RVTRACE_RAM_START_HIGH:
	case RVTRACE_RAM_LIMIT_HIGH:
	case RVTRACE_RAM_WP_HIGH:
		return rvtrace_v0_get(v0, RVTRACE_V0_SINK_HIGH);
	default:
		return 0;
	}
}

static void rvtrace_v0_write_sink_control(struct rvtrace_v0 *v0, u32 value)
{
	v0->sink_control = value & (RVTRACE_CONTROL_ACTIVE | RVTRACE_CONTROL_ENABLE |
				    RVTRACE_RAM_CONTROL_MODE_SMEM |
				    RVTRACE_RAM_CONTROL_STOP_ON_WRAP);
	/* The sink had stopped while its host ran, and has been drained. */
	if (value & RVTRACE_CONTROL_ENABLE && v0->host->control & RVTRACE_CONTROL_ENABLE)
		rvtrace_v0_write_control(v0, v0->host->control);
}

static void rvtrace_v0_write_sink(struct rvtrace_v0 *v0, u32 reg, u32 value)
{
	switch (reg) {
	case RVTRACE_CONTROL:
		rvtrace_v0_write_sink_control(v0, value);
		break;
	case RVTRACE_RAM_START_LOW:
		rvtrace_v0_set(v0, RVTRACE_V0_SINK_BASE, value);
		break;
	case RVTRACE_RAM_START_HIGH:
		rvtrace_v0_set(v0, RVTRACE_V0_SINK_HIGH, value);
		break;
	case RVTRACE_RAM_LIMIT_LOW:
		rvtrace_v0_set(v0, RVTRACE_V0_SINK_LIMIT, value);
		break;
	case RVTRACE_RAM_WP_LOW:
		rvtrace_v0_set(v0, RVTRACE_V0_SINK_WP, value);
		break;
	default:
		break;
	}
}

/* ------------------------------------------------------------------ both */

static u32 rvtrace_v0_read(struct rvtrace_component *comp, u32 reg)
{
	struct rvtrace_v0 *v0 = comp->platform_data;

	return comp == v0->host ? rvtrace_v0_read_host(v0, reg) : rvtrace_v0_read_sink(v0, reg);
}

static void rvtrace_v0_write(struct rvtrace_component *comp, u32 reg, u32 value)
{
	struct rvtrace_v0 *v0 = comp->platform_data;

	if (comp == v0->host)
		rvtrace_v0_write_host(v0, reg, value);
	else
		rvtrace_v0_write_sink(v0, reg, value);
}

static int rvtrace_v0_attach(struct rvtrace_component *comp)
{
	struct rvtrace_v0 *v0 = devm_kzalloc(comp->dev.parent, sizeof(*v0), GFP_KERNEL);

	if (!v0)
		return -ENOMEM;
	v0->host = comp;
	comp->platform_data = v0;
	return 0;
}

static bool rvtrace_v0_attach_sink(struct rvtrace_component *host, struct rvtrace_component *sink)
{
	struct rvtrace_v0 *v0 = host->platform_data;
	u32 impl = rvtrace_v0_get(v0, RVTRACE_V0_IMPL);

	if (!(impl & RVTRACE_V0_IMPL_HAS_MEMORY))
		return false;
	sink->platform_data = v0;
	v0->sink = sink;
	to_rvtrace_ramsink(sink)->access = 4 << FIELD_GET(RVTRACE_V0_IMPL_SINK_WIDTH, impl);
	return true;
}

#define RVTRACE_V0_OPS(_type)					\
{								\
	.type		= _type,				\
	.read		= rvtrace_v0_read,			\
	.write		= rvtrace_v0_write,			\
	.attach		= rvtrace_v0_attach,			\
	.attach_sink	= rvtrace_v0_attach_sink,		\
	.sink_boundary	= BIT_ULL(32),				\
	.ntrace_params	= "dialect = sifive\ntimestamp = xor\n", \
}

const struct rvtrace_platform_ops rvtrace_v0_encoder_ops = RVTRACE_V0_OPS(RVTRACE_TYPE_ENCODER);
const struct rvtrace_platform_ops rvtrace_v0_funnel_ops = RVTRACE_V0_OPS(RVTRACE_TYPE_FUNNEL);
