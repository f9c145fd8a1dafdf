// SPDX-License-Identifier: GPL-2.0-only
/*
 * RISC-V trace: what an encoder takes. Found out once, by writing every value of every field and
 * reading back, while the encoder is disabled.
 */
#define pr_fmt(fmt) "rvtrace: " fmt

#include <linux/bitops.h>
#include <linux/cpumask.h>

#include "rvtrace-encoder.h"

#define RVTRACE_NTRACE_MAJOR		1

#define RVTRACE_CONTROL_OPTIONS							\
	(RVTRACE_TE_CONTROL_CONTEXT | RVTRACE_TE_CONTROL_INST_STALL_ENA |	\
	 RVTRACE_TE_CONTROL_INST_TRIG_ENABLE)

/*
 * Returns a bit for each value of the field @mask of @reg that the hardware takes. Other fields are
 * @rest.
 */
static u32 rvtrace_probe_values(struct rvtrace_component *comp, u32 reg, u32 mask, u32 rest)
{
	u32 shift = __ffs(mask), max = mask >> shift, value, values = 0;

	for (value = 0; value <= max; value++)
		if ((rvtrace_try(comp, reg, rest | value << shift) & mask) == value << shift)
			values |= BIT(value);
	return values;
}

/* Returns the single-bit options of @mask that the hardware takes. */
static u32 rvtrace_probe_bits(struct rvtrace_component *comp, u32 reg, u32 mask, u32 rest)
{
	u32 bit, left, bits = 0;

	for (left = mask; left; left &= left - 1) {
		bit = left & -left;
		bits |= rvtrace_try(comp, reg, rest | bit) & bit;
	}
	return bits;
}

static void rvtrace_probe_format(struct rvtrace_encoder *enc, enum rvtrace_format format)
{
	struct rvtrace_component *comp = &enc->comp;
	struct rvtrace_caps *caps = &enc->caps[format];
	u32 control, sync;

	control = RVTRACE_CONTROL_ACTIVE | FIELD_PREP(RVTRACE_TE_CONTROL_FORMAT, format);
	/* 0 is "no trace", and not a mode that anyone wants. */
	caps->modes = rvtrace_probe_values(comp, RVTRACE_CONTROL, RVTRACE_TE_CONTROL_INST_MODE,
					   control) & ~BIT(0);
	control |= FIELD_PREP(RVTRACE_TE_CONTROL_INST_MODE, fls(caps->modes) - 1);
	caps->sync_modes = rvtrace_probe_values(comp, RVTRACE_CONTROL,
						RVTRACE_TE_CONTROL_INST_SYNC_MODE, control);
	sync = FIELD_PREP(RVTRACE_TE_CONTROL_INST_SYNC_MODE, fls(caps->sync_modes) - 1);
	caps->sync_max = rvtrace_probe_values(comp, RVTRACE_CONTROL,
					      RVTRACE_TE_CONTROL_INST_SYNC_MAX, control | sync);
	caps->control = rvtrace_probe_bits(comp, RVTRACE_CONTROL, RVTRACE_CONTROL_OPTIONS, control);
	rvtrace_write(comp, RVTRACE_CONTROL, control);
	caps->features = rvtrace_probe_bits(comp, RVTRACE_TE_INST_FEATURES,
					    RVTRACE_FEATURE_OPTIONS, 0);
	caps->return_modes = rvtrace_probe_values(comp, RVTRACE_TE_INST_FEATURES,
						  RVTRACE_TE_FEATURES_RETURN_MODE,
						  RVTRACE_TE_FEATURES_IMPLICIT_RETURN);
	rvtrace_write(comp, RVTRACE_TE_INST_FEATURES, 0);
	rvtrace_write(comp, RVTRACE_CONTROL, RVTRACE_CONTROL_ACTIVE);
}

static int rvtrace_probe_formats(struct rvtrace_encoder *enc)
{
	u32 major = FIELD_GET(RVTRACE_TE_IMPL_PROTOCOL_MAJOR, enc->comp.impl);
	u32 minor = FIELD_GET(RVTRACE_TE_IMPL_PROTOCOL_MINOR, enc->comp.impl);
	struct device *dev = enc->comp.dev.parent;
	u32 formats;
	int format;

	formats = rvtrace_probe_values(&enc->comp, RVTRACE_CONTROL, RVTRACE_TE_CONTROL_FORMAT,
				       RVTRACE_CONTROL_ACTIVE);
	formats &= BIT(RVTRACE_FORMATS) - 1;
	if (formats & BIT(RVTRACE_FORMAT_NTRACE) && major != RVTRACE_NTRACE_MAJOR) {
		dev_err(dev, "N-Trace version %u.%u is not one that this driver knows (%u.x)\n",
			major, minor, RVTRACE_NTRACE_MAJOR);
		formats &= ~BIT(RVTRACE_FORMAT_NTRACE);
	}
	if (!formats) {
		dev_err(dev, "no trace format that this driver knows, encoder not used (impl 0x%08x)\n",
			enc->comp.impl);
		return -ENODEV;
	}
	enc->formats = formats;
	enc->format = fls(formats) - 1;
	for (format = 0; format < RVTRACE_FORMATS; format++)
		if (formats & BIT(format))
			rvtrace_probe_format(enc, format);
	if (!enc->caps[enc->format].modes) {
		dev_err(dev, "encoder without a mode of instruction trace, not used\n");
		return -ENODEV;
	}
	return 0;
}

/*
 * SRC distinguishes encoders that share a sink. An encoder that shares none writes no SRC: SrcBits
 * is set to 0, or else InhibitSrc is set. Where the hardware has neither, or the chip's encoders
 * share what is behind the components of this driver, the driver reports the width of SRC.
 */
VISIBLE_IF_KUNIT int rvtrace_probe_src(struct rvtrace_encoder *enc)
{
	struct rvtrace_component *comp = &enc->comp;
	u32 bits = comp->platform->src_bits;
	u32 features = 0;

	if (enc->shares && !bits)
		bits = max(fls(nr_cpu_ids - 1), 1);
	if (bits)
		features = FIELD_PREP(RVTRACE_TE_FEATURES_SRC_ID, enc->cpu) |
			   FIELD_PREP(RVTRACE_TE_FEATURES_SRC_BITS, bits);
	features = rvtrace_try(comp, RVTRACE_TE_INST_FEATURES, features);
	enc->src_id = FIELD_GET(RVTRACE_TE_FEATURES_SRC_ID, features);
	enc->src_bits = FIELD_GET(RVTRACE_TE_FEATURES_SRC_BITS, features);
	if (bits) {
		if (!enc->src_bits || enc->src_id >> enc->src_bits) {
			dev_err(comp->dev.parent, "encoder that shares a sink cannot send a SRC of its own, not used\n");
			return -ENODEV;
		}
		return 0;
	}
	if (!enc->src_bits)
		return 0;
	enc->inhibit_src = rvtrace_try(comp, RVTRACE_CONTROL, RVTRACE_CONTROL_ACTIVE |
				       RVTRACE_TE_CONTROL_INHIBIT_SRC) &
			   RVTRACE_TE_CONTROL_INHIBIT_SRC;
	if (enc->inhibit_src)
		enc->src_bits = 0;
	return 0;
}

/* Returns the bits that this trigger control takes when all its fields have the same value. */
static u32 rvtrace_probe_trigger(struct rvtrace_component *comp, u32 reg)
{
	const u32 fields = 0x11111111;
	u32 value, bits = 0;

	for (value = 1; value < 16; value++)
		bits |= rvtrace_try(comp, reg, value * fields) & value * fields;
	rvtrace_write(comp, reg, 0);
	return bits;
}

static void rvtrace_probe_triggers(struct rvtrace_encoder *enc)
{
	struct rvtrace_component *comp = &enc->comp;

	enc->trigger_bits = (struct rvtrace_triggers){
		.dbg = rvtrace_probe_trigger(comp, RVTRACE_TE_TRIG_DBG_CONTROL),
		.ext_in = rvtrace_probe_trigger(comp, RVTRACE_TE_TRIG_EXT_IN_CONTROL),
		.ext_out = rvtrace_probe_trigger(comp, RVTRACE_TE_TRIG_EXT_OUT_CONTROL),
	};
}

int rvtrace_encoder_probe(struct rvtrace_component *comp)
{
	struct rvtrace_encoder *enc = to_rvtrace_encoder(comp);
	int ret;

	ret = rvtrace_probe_formats(enc);
	if (ret)
		return ret;
	ret = rvtrace_probe_src(enc);
	if (ret)
		return ret;
	rvtrace_filter_probe(enc);
	rvtrace_probe_triggers(enc);
	rvtrace_ts_probe(comp);
	return rvtrace_discovery_probe(enc);
}
