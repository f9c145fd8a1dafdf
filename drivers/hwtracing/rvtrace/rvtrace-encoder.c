// SPDX-License-Identifier: GPL-2.0-only
/*
 * RISC-V trace: the encoder. What it takes, from options to register values, start and stop.
 */
#define pr_fmt(fmt) "rvtrace: " fmt

#include <linux/bitops.h>

#include "rvtrace.h"

/*
 * trTeInstSyncMode: the first that the hardware has is the default, with a period of 2^(n + 4)
 * units
 */
#define RVTRACE_SYNC_MESSAGES		1
#define RVTRACE_SYNC_CLOCKS		2
#define RVTRACE_SYNC_INSTRUCTIONS	3
#define RVTRACE_SYNC_DEFAULT_MESSAGES	6
#define RVTRACE_SYNC_DEFAULT_UNITS	12

#define RVTRACE_NTRACE_MAJOR		1

#define RVTRACE_CONTROL_OPTIONS (RVTRACE_TE_CONTROL_CONTEXT | RVTRACE_TE_CONTROL_INST_STALL_ENA)
#define RVTRACE_FEATURE_OPTIONS						\
	(RVTRACE_TE_FEATURES_NO_ADDR_DIFF | RVTRACE_TE_FEATURES_NO_TRAP_ADDR | \
	 RVTRACE_TE_FEATURES_SEQUENTIAL_JUMP | RVTRACE_TE_FEATURES_IMPLICIT_RETURN | \
	 RVTRACE_TE_FEATURES_BRANCH_PREDICTION | RVTRACE_TE_FEATURES_JUMP_TARGET_CACHE | \
	 RVTRACE_TE_FEATURES_REPEATED_HISTORY | RVTRACE_TE_FEATURES_ALL_JUMPS | \
	 RVTRACE_TE_FEATURES_EXTEND_ADDR_MSB)

/* Registers of the encoder that are undefined at reset, Control apart */
static const u16 rvtrace_encoder_undefined[] = {
	RVTRACE_TE_INST_FEATURES, RVTRACE_TE_INST_FILTERS, RVTRACE_TE_DATA_CONTROL,
	RVTRACE_TE_DATA_FILTERS, RVTRACE_TE_TRIG_DBG_CONTROL, RVTRACE_TE_TRIG_EXT_IN_CONTROL,
	RVTRACE_TE_TRIG_EXT_OUT_CONTROL, RVTRACE_TS_CONTROL,
};

static int rvtrace_encoder_reset(struct rvtrace_component *comp)
{
	struct rvtrace_encoder *enc = to_rvtrace_encoder(comp);
	int i;

	for (i = 0; i < ARRAY_SIZE(rvtrace_encoder_undefined); i++)
		rvtrace_write(comp, rvtrace_encoder_undefined[i], 0);
	for (i = 0; i < RVTRACE_TE_FILTERS; i++)
		rvtrace_write(comp, RVTRACE_TE_FILTER_CONTROL(i), 0);
	for (i = 0; i < RVTRACE_TE_COMPARATORS; i++)
		rvtrace_write(comp, RVTRACE_TE_COMP_CONTROL(i), 0);
	/* Nothing but Active: this is what clears the undefined bits of Control. */
	rvtrace_write(comp, RVTRACE_CONTROL, RVTRACE_CONTROL_ACTIVE);
	enc->config = 0;
	return 0;
}

/* Bit per value of the field @mask of @reg that the hardware takes, other fields being @rest */
static u32 rvtrace_probe_values(struct rvtrace_component *comp, u32 reg, u32 mask, u32 rest)
{
	u32 shift = __ffs(mask), max = mask >> shift, value, values = 0;

	for (value = 0; value <= max; value++)
		if ((rvtrace_try(comp, reg, rest | value << shift) & mask) == value << shift)
			values |= BIT(value);
	return values;
}

/* The single-bit options of @mask that the hardware takes */
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
 * Without need for SRC (nothing is shared yet) there shall be none: by SrcBits, or else by
 * InhibitSrc, or else its width is reported and decoders skip it.
 */
static void rvtrace_probe_src(struct rvtrace_encoder *enc)
{
	struct rvtrace_component *comp = &enc->comp;
	u32 features;

	features = rvtrace_try(comp, RVTRACE_TE_INST_FEATURES,
			       RVTRACE_TE_FEATURES_SRC_ID |
			       FIELD_PREP(RVTRACE_TE_FEATURES_SRC_BITS, 12));
	enc->max_src_bits = FIELD_GET(RVTRACE_TE_FEATURES_SRC_BITS, features);
	features = rvtrace_try(comp, RVTRACE_TE_INST_FEATURES, 0);
	enc->src_id = FIELD_GET(RVTRACE_TE_FEATURES_SRC_ID, features);
	enc->src_bits = FIELD_GET(RVTRACE_TE_FEATURES_SRC_BITS, features);
	if (!enc->src_bits)
		return;
	enc->inhibit_src = rvtrace_try(comp, RVTRACE_CONTROL, RVTRACE_CONTROL_ACTIVE |
				       RVTRACE_TE_CONTROL_INHIBIT_SRC) &
			   RVTRACE_TE_CONTROL_INHIBIT_SRC;
	if (enc->inhibit_src)
		enc->src_bits = 0;
}

static void rvtrace_probe_filters(struct rvtrace_encoder *enc)
{
	struct rvtrace_component *comp = &enc->comp;
	u32 control;

	enc->filters = rvtrace_try(comp, RVTRACE_TE_INST_FILTERS, GENMASK(15, 0));
	rvtrace_write(comp, RVTRACE_TE_INST_FILTERS, 0);
	if (!(enc->filters & BIT(0)))
		return;
	enc->privilege_set = rvtrace_try(comp, RVTRACE_TE_FILTER_MATCH_INST(0),
					 RVTRACE_TE_FILTER_PRIVILEGE);
	enc->privilege_clear = ~rvtrace_try(comp, RVTRACE_TE_FILTER_MATCH_INST(0), 0);
	control = RVTRACE_TE_FILTER_ENABLE | RVTRACE_TE_FILTER_MATCH_PRIVILEGE;
	if ((rvtrace_try(comp, RVTRACE_TE_FILTER_CONTROL(0), control) & control) != control)
		enc->privilege_clear = 0;
	rvtrace_write(comp, RVTRACE_TE_FILTER_CONTROL(0), 0);
}

/*
 * Clocks that all harts share are better than their own. "Shared" takes its time from a funnel, and
 * is what remains.
 */
static void rvtrace_probe_timestamp(struct rvtrace_encoder *enc)
{
	static const u8 best[] = {
		RVTRACE_TS_MODE_EXTERNAL, RVTRACE_TS_MODE_INTERNAL_SYSTEM,
		RVTRACE_TS_MODE_SHARED, RVTRACE_TS_MODE_INTERNAL_CORE,
	};
	u32 control, modes;
	int i;

	modes = rvtrace_probe_values(&enc->comp, RVTRACE_TS_CONTROL, RVTRACE_TS_CONTROL_MODE,
				     RVTRACE_TS_CONTROL_ACTIVE);
	for (i = 0; i < ARRAY_SIZE(best) && !enc->ts_mode; i++)
		if (modes & BIT(best[i]))
			enc->ts_mode = best[i];
	control = rvtrace_try(&enc->comp, RVTRACE_TS_CONTROL, RVTRACE_TS_CONTROL_ACTIVE |
			      RVTRACE_TS_CONTROL_ENABLE |
			      FIELD_PREP(RVTRACE_TS_CONTROL_MODE, enc->ts_mode));
	if (!(control & RVTRACE_TS_CONTROL_ENABLE))
		enc->ts_mode = 0;
	if (enc->ts_mode)
		enc->ts_width = FIELD_GET(RVTRACE_TS_CONTROL_WIDTH, control);
	rvtrace_write(&enc->comp, RVTRACE_TS_CONTROL, 0);
}

static int rvtrace_encoder_probe(struct rvtrace_component *comp)
{
	struct rvtrace_encoder *enc = to_rvtrace_encoder(comp);
	int ret;

	ret = rvtrace_probe_formats(enc);
	if (ret)
		return ret;
	rvtrace_probe_src(enc);
	rvtrace_probe_filters(enc);
	rvtrace_probe_timestamp(enc);
	return 0;
}

/* Options that are one bit in config and one bit in trTeInstFeatures */
static const struct {
	u64 config;
	u32 feature;
} rvtrace_features[] = {
	{ RVTRACE_CONFIG_BRANCH_PREDICTION, RVTRACE_TE_FEATURES_BRANCH_PREDICTION },
	{ RVTRACE_CONFIG_JUMP_TARGET_CACHE, RVTRACE_TE_FEATURES_JUMP_TARGET_CACHE },
	{ RVTRACE_CONFIG_IMPLICIT_RETURN, RVTRACE_TE_FEATURES_IMPLICIT_RETURN },
	{ RVTRACE_CONFIG_SEQUENTIAL_JUMP, RVTRACE_TE_FEATURES_SEQUENTIAL_JUMP },
	{ RVTRACE_CONFIG_REPEATED_HISTORY, RVTRACE_TE_FEATURES_REPEATED_HISTORY },
	{ RVTRACE_CONFIG_ALL_JUMPS, RVTRACE_TE_FEATURES_ALL_JUMPS },
	{ RVTRACE_CONFIG_EXTEND_ADDRESS_MSB, RVTRACE_TE_FEATURES_EXTEND_ADDR_MSB },
	{ RVTRACE_CONFIG_FULL_ADDRESS, RVTRACE_TE_FEATURES_NO_ADDR_DIFF },
	{ RVTRACE_CONFIG_IMPLICIT_EXCEPTION, RVTRACE_TE_FEATURES_NO_TRAP_ADDR },
};

/* perf has no way to say which option it was: the log has it. */
static int rvtrace_refuse(const struct rvtrace_encoder *enc, const char *what)
{
	dev_notice_ratelimited(&enc->comp.dev, "event refused: the hardware has no %s\n", what);
	return -EOPNOTSUPP;
}

static int rvtrace_configure_features(const struct rvtrace_encoder *enc,
				      const struct rvtrace_caps *caps, u64 options,
				      struct rvtrace_config *config)
{
	u32 return_mode = FIELD_GET(RVTRACE_CONFIG_IMPLICIT_RETURN_MODE, options);
	int i;

	for (i = 0; i < ARRAY_SIZE(rvtrace_features); i++)
		if (options & rvtrace_features[i].config)
			config->features |= rvtrace_features[i].feature;
	if (config->features & ~caps->features)
		return rvtrace_refuse(enc, "option of trTeInstFeatures that was asked for");
	if (return_mode && !(caps->return_modes & BIT(return_mode)))
		return rvtrace_refuse(enc, "such implicit_return_mode");
	/* The enable bit and the mode are two fields: an encoder may want both. */
	if (!return_mode && options & RVTRACE_CONFIG_IMPLICIT_RETURN)
		return_mode = fls(caps->return_modes) - 1;
	config->features |= FIELD_PREP(RVTRACE_TE_FEATURES_RETURN_MODE, max(return_mode, 0));
	return 0;
}

static int rvtrace_configure_sync(const struct rvtrace_encoder *enc,
				  const struct rvtrace_caps *caps, u64 options,
				  struct rvtrace_config *config)
{
	u32 mode = FIELD_GET(RVTRACE_CONFIG_SYNCMODE, options);
	u32 max = FIELD_GET(RVTRACE_CONFIG_SYNCMAX, options);
	u32 below;

	if (mode) {
		if (!(caps->sync_modes & BIT(mode)) || !(caps->sync_max & BIT(max)))
			return rvtrace_refuse(enc, "such syncmode or syncmax");
	} else {
		max = RVTRACE_SYNC_DEFAULT_UNITS;
		if (caps->sync_modes & BIT(RVTRACE_SYNC_MESSAGES)) {
			mode = RVTRACE_SYNC_MESSAGES;
			max = RVTRACE_SYNC_DEFAULT_MESSAGES;
		} else if (caps->sync_modes & BIT(RVTRACE_SYNC_INSTRUCTIONS)) {
			mode = RVTRACE_SYNC_INSTRUCTIONS;
		} else if (caps->sync_modes & BIT(RVTRACE_SYNC_CLOCKS)) {
			mode = RVTRACE_SYNC_CLOCKS;
		}
		/* The longest period that is not longer, else the shortest. */
		below = caps->sync_max & GENMASK(max, 0);
		max = below ? fls(below) - 1 : max(ffs(caps->sync_max) - 1, 0);
	}
	config->control |= FIELD_PREP(RVTRACE_TE_CONTROL_INST_SYNC_MODE, mode) |
			   FIELD_PREP(RVTRACE_TE_CONTROL_INST_SYNC_MAX, max);
	return 0;
}

static int rvtrace_configure_control(const struct rvtrace_encoder *enc,
				     const struct rvtrace_caps *caps, u64 options,
				     struct rvtrace_config *config)
{
	u32 mode = FIELD_GET(RVTRACE_CONFIG_MODE, options);
	u32 wanted = 0;

	if (!mode)
		mode = caps->modes & BIT(RVTRACE_MODE_OPTIMIZED) ? RVTRACE_MODE_OPTIMIZED :
								    RVTRACE_MODE_BASELINE;
	if (!(caps->modes & BIT(mode)))
		return rvtrace_refuse(enc, "such mode");
	if (options & RVTRACE_CONFIG_CONTEXT)
		wanted |= RVTRACE_TE_CONTROL_CONTEXT;
	if (options & RVTRACE_CONFIG_STALL)
		wanted |= RVTRACE_TE_CONTROL_INST_STALL_ENA;
	if (wanted & ~caps->control)
		return rvtrace_refuse(enc, wanted & ~caps->control & RVTRACE_TE_CONTROL_CONTEXT ?
					   "context messages" : "stall mode");
	if (enc->inhibit_src)
		wanted |= RVTRACE_TE_CONTROL_INHIBIT_SRC;
	config->control |= wanted | FIELD_PREP(RVTRACE_TE_CONTROL_INST_MODE, mode);
	return 0;
}

/*
 * The modes that the event is to see. Firmware is nobody's business but the machine owner's: it is
 * in the trace when it is asked for by name only.
 */
static u8 rvtrace_privileges(const struct perf_event_attr *attr)
{
	u8 privileges = 0;

	if (!attr->exclude_user)
		privileges |= RVTRACE_PRIVILEGE_U;
	if (!attr->exclude_kernel)
		privileges |= RVTRACE_PRIVILEGE_S;
	if (!attr->exclude_user && !attr->exclude_guest)
		privileges |= RVTRACE_PRIVILEGE_VU;
	if (!attr->exclude_kernel && !attr->exclude_guest)
		privileges |= RVTRACE_PRIVILEGE_VS;
	if (attr->config & RVTRACE_CONFIG_MACHINE && !attr->exclude_hv)
		privileges |= RVTRACE_PRIVILEGE_M;
	return privileges;
}

/*
 * What the hardware cannot hold back must be wanted. Modes that no filter can select are either
 * missing from the hart (VU, VS) or cannot be let through; the others are refused.
 */
static int rvtrace_configure_privileges(const struct rvtrace_encoder *enc,
					const struct perf_event_attr *attr,
					struct rvtrace_config *config)
{
	const u8 known = RVTRACE_PRIVILEGE_U | RVTRACE_PRIVILEGE_S | RVTRACE_PRIVILEGE_M;
	const u8 guest = RVTRACE_PRIVILEGE_VU | RVTRACE_PRIVILEGE_VS;
	u8 wanted = rvtrace_privileges(attr);

	config->privileges = wanted;
	if (!enc->privilege_clear)
		return (wanted & (known | guest)) == (known | guest) ? 0 :
			rvtrace_refuse(enc, "privilege filter to exclude anything");
	if (wanted & known & ~enc->privilege_set)
		return rvtrace_refuse(enc, "trace of a privilege mode that was asked for");
	if (~wanted & ~enc->privilege_clear & RVTRACE_TE_FILTER_PRIVILEGE)
		return rvtrace_refuse(enc, "filter for a privilege mode to be excluded");
	config->privileges &= enc->privilege_set;
	return 0;
}

/*
 * rvtrace_encoder_configure - from an event's options to register values
 *
 * Touches no register: what the hardware takes was found out when it was probed. Returns 0, -EINVAL
 * for options that no encoder knows, -EOPNOTSUPP for those that this one has not.
 */
int rvtrace_encoder_configure(struct rvtrace_encoder *enc, const struct perf_event_attr *attr,
			      struct rvtrace_config *config)
{
	u32 format = FIELD_GET(RVTRACE_CONFIG_FORMAT, attr->config);
	const struct rvtrace_caps *caps;
	int ret;

	format = format ? format - 1 : enc->format;
	if (format >= RVTRACE_FORMATS || !(enc->formats & BIT(format)))
		return rvtrace_refuse(enc, "such format");
	caps = &enc->caps[format];
	if (enc->comp.broken)
		return -EIO;
	config->control = FIELD_PREP(RVTRACE_TE_CONTROL_FORMAT, format);
	config->features = 0;
	ret = rvtrace_configure_control(enc, caps, attr->config, config);
	if (ret)
		return ret;
	ret = rvtrace_configure_sync(enc, caps, attr->config, config);
	if (ret)
		return ret;
	ret = rvtrace_configure_features(enc, caps, attr->config, config);
	if (ret)
		return ret;
	config->timestamp = attr->config & RVTRACE_CONFIG_TIMESTAMP;
	if (config->timestamp && !enc->ts_mode)
		return rvtrace_refuse(enc, "timestamps");
	config->sink = FIELD_GET(RVTRACE_CONFIG2_SINK, attr->config2);
	if (!rvtrace_encoder_path(enc, config->sink))
		return -ENODEV;
	return rvtrace_configure_privileges(enc, attr, config);
}

/* The way to the sink with the given number, or to the default sink for 0 */
struct rvtrace_path *rvtrace_encoder_path(struct rvtrace_encoder *enc, u32 sink)
{
	unsigned int i;

	for (i = 0; i < enc->nr_paths; i++)
		if (!sink || rvtrace_path_sink(&enc->paths[i])->sink_id == sink)
			return &enc->paths[i];
	return NULL;
}

/* The filter's match values must be there before it is enabled. */
static int rvtrace_program_filters(struct rvtrace_encoder *enc, const struct rvtrace_config *config)
{
	const u32 control = RVTRACE_TE_FILTER_ENABLE | RVTRACE_TE_FILTER_MATCH_PRIVILEGE;
	struct rvtrace_component *comp = &enc->comp;
	u32 filters;

	if (!enc->privilege_clear)
		return 0;
	rvtrace_write(comp, RVTRACE_TE_FILTER_CONTROL(0), 0);
	if (rvtrace_try(comp, RVTRACE_TE_FILTER_MATCH_INST(0), config->privileges) !=
	    config->privileges)
		return -EIO;
	if (rvtrace_try(comp, RVTRACE_TE_FILTER_CONTROL(0), control) != control)
		return -EIO;
	filters = rvtrace_try(comp, RVTRACE_TE_INST_FILTERS, BIT(0));
	return filters == BIT(0) ? 0 : -EIO;
}

static int rvtrace_program(struct rvtrace_encoder *enc, const struct rvtrace_config *config)
{
	const u32 checked = RVTRACE_TE_CONTROL_FORMAT | RVTRACE_TE_CONTROL_INST_MODE |
			    RVTRACE_TE_CONTROL_CONTEXT | RVTRACE_TE_CONTROL_INST_STALL_ENA |
			    RVTRACE_TE_CONTROL_INST_SYNC_MODE | RVTRACE_TE_CONTROL_INST_SYNC_MAX;
	struct rvtrace_component *comp = &enc->comp;
	u32 ts = 0;

	enc->config = 0;
	comp->control = RVTRACE_CONTROL_ACTIVE | config->control;
	if ((rvtrace_try(comp, RVTRACE_CONTROL, comp->control) ^ comp->control) & checked)
		return -EIO;
	if ((rvtrace_try(comp, RVTRACE_TE_INST_FEATURES, config->features) ^ config->features) &
	    RVTRACE_FEATURE_OPTIONS)
		return -EIO;
	if (config->timestamp)
		ts = RVTRACE_TS_CONTROL_ACTIVE | RVTRACE_TS_CONTROL_COUNT |
		     RVTRACE_TS_CONTROL_ENABLE |
		     FIELD_PREP(RVTRACE_TS_CONTROL_MODE, enc->ts_mode);
	rvtrace_write(comp, RVTRACE_TS_CONTROL, ts);
	if (rvtrace_program_filters(enc, config))
		return -EIO;
	enc->config = config->serial;
	return 0;
}

/* Starts the encoder; everything downstream is enabled already. */
int rvtrace_encoder_start(struct rvtrace_encoder *enc, const struct rvtrace_config *config)
{
	struct rvtrace_component *comp = &enc->comp;
	int ret;

	if (enc->config != config->serial) {
		ret = rvtrace_program(enc, config);
		if (ret) {
			dev_err_ratelimited(&comp->dev, "does not take an option that it took when it was probed\n");
			return ret;
		}
	}
	ret = rvtrace_enable(comp, config->control);
	if (ret)
		return ret;
	comp->control |= RVTRACE_TE_CONTROL_INST_TRACING;
	rvtrace_write(comp, RVTRACE_CONTROL, comp->control);
	return 0;
}

/*
 * Ends the trace. The message that says so is flushed with the rest when the encoder is disabled:
 * Empty need not become 1 before.
 */
void rvtrace_encoder_stop_tracing(struct rvtrace_encoder *enc)
{
	struct rvtrace_component *comp = &enc->comp;

	comp->control &= ~RVTRACE_TE_CONTROL_INST_TRACING;
	rvtrace_write(comp, RVTRACE_CONTROL, comp->control);
}

/* The encoder had to drop messages since it was enabled. */
bool rvtrace_encoder_lost(struct rvtrace_encoder *enc)
{
	u32 control = rvtrace_read(&enc->comp, RVTRACE_CONTROL);

	return control & RVTRACE_TE_CONTROL_INST_STALL_OR_OVERFLOW &&
	       !(enc->comp.control & RVTRACE_TE_CONTROL_INST_STALL_ENA);
}

const struct rvtrace_ops rvtrace_encoder_ops = {
	.name	= "encoder",
	.size	= sizeof(struct rvtrace_encoder),
	.groups	= rvtrace_encoder_groups,
	.probe	= rvtrace_encoder_probe,
	.reset	= rvtrace_encoder_reset,
};
