// SPDX-License-Identifier: GPL-2.0-only
/*
 * RISC-V trace: the encoder. From options to register values, start and stop.
 */
#define pr_fmt(fmt) "rvtrace: " fmt

#include <linux/bitops.h>

#include "rvtrace-encoder.h"

/*
 * trTeInstSyncMode: the first that the hardware has is the default, with a period of 2^(n + 4)
 * units
 */
#define RVTRACE_SYNC_MESSAGES		1
#define RVTRACE_SYNC_CLOCKS		2
#define RVTRACE_SYNC_INSTRUCTIONS	3
#define RVTRACE_SYNC_DEFAULT_MESSAGES	6
#define RVTRACE_SYNC_DEFAULT_UNITS	12

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
	/*
	 * Before they are probed there are none: registers that do not exist need not even read 0.
	 */
	for (i = 0; i < RVTRACE_TE_FILTERS; i++)
		if (enc->filters & BIT(i))
			rvtrace_write(comp, RVTRACE_TE_FILTER_CONTROL(i), 0);
	/* One that is not used may notify of each instruction all the same. */
	for (i = 0; i < enc->selectable; i++)
		rvtrace_write(comp, RVTRACE_TE_COMP_CONTROL(i), 0);
	/* Writing only Active clears the undefined bits of Control. */
	rvtrace_write(comp, RVTRACE_CONTROL, RVTRACE_CONTROL_ACTIVE);
	enc->config = 0;
	return 0;
}

/* Options that are one bit in config and one bit in trTeInstFeatures */
static const struct {
	u64 config;
	u32 feature;
	const char *name;
} rvtrace_features[] = {
	{ RVTRACE_CONFIG_BRANCH_PREDICTION, RVTRACE_TE_FEATURES_BRANCH_PREDICTION,
	  "branch_prediction" },
	{ RVTRACE_CONFIG_JUMP_TARGET_CACHE, RVTRACE_TE_FEATURES_JUMP_TARGET_CACHE,
	  "jump_target_cache" },
	{ RVTRACE_CONFIG_IMPLICIT_RETURN, RVTRACE_TE_FEATURES_IMPLICIT_RETURN,
	  "implicit_return" },
	{ RVTRACE_CONFIG_SEQUENTIAL_JUMP, RVTRACE_TE_FEATURES_SEQUENTIAL_JUMP,
	  "sequential_jump" },
	{ RVTRACE_CONFIG_REPEATED_HISTORY, RVTRACE_TE_FEATURES_REPEATED_HISTORY,
	  "repeated_history" },
	{ RVTRACE_CONFIG_ALL_JUMPS, RVTRACE_TE_FEATURES_ALL_JUMPS,
	  "all_jumps" },
	{ RVTRACE_CONFIG_EXTEND_ADDRESS_MSB, RVTRACE_TE_FEATURES_EXTEND_ADDR_MSB,
	  "extend_address_msb" },
	{ RVTRACE_CONFIG_FULL_ADDRESS, RVTRACE_TE_FEATURES_NO_ADDR_DIFF,
	  "full_address" },
	{ RVTRACE_CONFIG_IMPLICIT_EXCEPTION, RVTRACE_TE_FEATURES_NO_TRAP_ADDR,
	  "implicit_exception" },
};

static int rvtrace_configure_features(const struct rvtrace_encoder *enc,
				      const struct rvtrace_caps *caps, u64 options,
				      struct rvtrace_program *program)
{
	u32 return_mode = FIELD_GET(RVTRACE_CONFIG_IMPLICIT_RETURN_MODE, options);
	int i;

	for (i = 0; i < ARRAY_SIZE(rvtrace_features); i++) {
		if (!(options & rvtrace_features[i].config))
			continue;
		if (!(caps->features & rvtrace_features[i].feature))
			return rvtrace_refuse(&enc->comp, rvtrace_features[i].name);
		program->features |= rvtrace_features[i].feature;
	}
	if (return_mode && !(caps->return_modes & BIT(return_mode)))
		return rvtrace_refuse(&enc->comp, "such implicit_return_mode");
	/* The enable bit and the mode are two fields: an encoder may want both. */
	if (!return_mode && options & RVTRACE_CONFIG_IMPLICIT_RETURN)
		return_mode = fls(caps->return_modes) - 1;
	program->features |= FIELD_PREP(RVTRACE_TE_FEATURES_RETURN_MODE, max(return_mode, 0));
	return 0;
}

/* Returns the one of @values, a bit for each, that is nearest to @wanted; 0 when there is none. */
static u32 rvtrace_nearest(u32 values, u32 wanted)
{
	u32 below = values & GENMASK(wanted, 0), above = values >> wanted;

	if (below && (!above || wanted + 1 - fls(below) <= ffs(above) - 1))
		return fls(below) - 1;
	return above ? wanted + ffs(above) - 1 : 0;
}

static int rvtrace_configure_sync(const struct rvtrace_encoder *enc,
				  const struct rvtrace_caps *caps, u64 options,
				  struct rvtrace_program *program)
{
	u32 mode = FIELD_GET(RVTRACE_CONFIG_SYNCMODE, options);
	u32 max = FIELD_GET(RVTRACE_CONFIG_SYNCMAX, options);

	if (mode) {
		if (!(caps->sync_modes & BIT(mode)) || !(caps->sync_max & BIT(max)))
			return rvtrace_refuse(&enc->comp, "such syncmode or syncmax");
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
		/* A period that is much shorter would be much more trace. */
		max = rvtrace_nearest(caps->sync_max, max);
	}
	program->control |= FIELD_PREP(RVTRACE_TE_CONTROL_INST_SYNC_MODE, mode) |
			   FIELD_PREP(RVTRACE_TE_CONTROL_INST_SYNC_MAX, max);
	return 0;
}

static int rvtrace_configure_control(const struct rvtrace_encoder *enc,
				     const struct rvtrace_caps *caps, u64 options,
				     struct rvtrace_program *program)
{
	u32 mode = FIELD_GET(RVTRACE_CONFIG_MODE, options);
	u32 wanted = 0;

	if (!mode)
		mode = caps->modes & BIT(RVTRACE_MODE_OPTIMIZED) ? RVTRACE_MODE_OPTIMIZED :
								    RVTRACE_MODE_BASELINE;
	if (!(caps->modes & BIT(mode)))
		return rvtrace_refuse(&enc->comp, "such mode");
	if (options & (RVTRACE_CONFIG_CONTEXT | RVTRACE_CONFIG_HCONTEXT))
		wanted |= RVTRACE_TE_CONTROL_CONTEXT;
	if (options & RVTRACE_CONFIG_STALL)
		wanted |= RVTRACE_TE_CONTROL_INST_STALL_ENA;
	if (options & RVTRACE_CONFIG_TRIGGER)
		wanted |= RVTRACE_TE_CONTROL_INST_TRIG_ENABLE;
	if (wanted & ~caps->control)
		return rvtrace_refuse(&enc->comp,
				      "context, stall or trigger option that was asked for");
	if (enc->inhibit_src)
		wanted |= RVTRACE_TE_CONTROL_INHIBIT_SRC;
	program->control |= wanted | FIELD_PREP(RVTRACE_TE_CONTROL_INST_MODE, mode);
	return 0;
}

/*
 * rvtrace_encoder_configure - from an event's options to register values
 *
 * Touches no register: what the hardware takes was found out when it was probed. Returns 0,
 * -EOPNOTSUPP for options that this encoder has not, -ENODEV for a sink that it does not reach,
 * -EIO when it is broken.
 */
int rvtrace_encoder_configure(const struct rvtrace_encoder *enc,
			      const struct perf_event_attr *attr, struct rvtrace_program *program)
{
	u32 format = FIELD_GET(RVTRACE_CONFIG_FORMAT, attr->config);
	const struct rvtrace_caps *caps;
	int ret;

	format = format ? format - 1 : enc->format;
	if (format >= RVTRACE_FORMATS || !(enc->formats & BIT(format)))
		return rvtrace_refuse(&enc->comp, "such format");
	caps = &enc->caps[format];
	if (enc->comp.broken)
		return -EIO;
	*program = (struct rvtrace_program){
		.control = FIELD_PREP(RVTRACE_TE_CONTROL_FORMAT, format),
	};
	ret = rvtrace_configure_control(enc, caps, attr->config, program);
	if (ret)
		return ret;
	ret = rvtrace_configure_sync(enc, caps, attr->config, program);
	if (ret)
		return ret;
	ret = rvtrace_configure_features(enc, caps, attr->config, program);
	if (ret)
		return ret;
	program->timestamp = attr->config & RVTRACE_CONFIG_TIMESTAMP;
	if (program->timestamp && !enc->comp.ts.mode)
		return rvtrace_refuse(&enc->comp, "timestamps");
	return rvtrace_filter_configure(enc, attr, program);
}

/* Returns whether the encoder takes what the triggers shall do. */
static bool rvtrace_program_triggers(struct rvtrace_encoder *enc)
{
	const struct rvtrace_triggers none = { }, *triggers = &none;
	struct rvtrace_component *comp = &enc->comp;

	if (enc->program.control & RVTRACE_TE_CONTROL_INST_TRIG_ENABLE)
		triggers = &enc->triggers;
	return rvtrace_try(comp, RVTRACE_TE_TRIG_DBG_CONTROL, triggers->dbg) == triggers->dbg &&
	       rvtrace_try(comp, RVTRACE_TE_TRIG_EXT_IN_CONTROL, triggers->ext_in) ==
	       triggers->ext_in &&
	       rvtrace_try(comp, RVTRACE_TE_TRIG_EXT_OUT_CONTROL, triggers->ext_out) ==
	       triggers->ext_out;
}

static int rvtrace_encoder_program(struct rvtrace_encoder *enc, const struct rvtrace_config *config)
{
	const u32 checked = RVTRACE_TE_CONTROL_FORMAT | RVTRACE_TE_CONTROL_INST_MODE |
			    RVTRACE_TE_CONTROL_CONTEXT | RVTRACE_TE_CONTROL_INST_STALL_ENA |
			    RVTRACE_TE_CONTROL_INST_TRIG_ENABLE |
			    RVTRACE_TE_CONTROL_INST_SYNC_MODE | RVTRACE_TE_CONTROL_INST_SYNC_MAX;
	struct rvtrace_component *comp = &enc->comp;
	u32 features;

	comp->control = RVTRACE_CONTROL_ACTIVE | enc->program.control;
	if ((rvtrace_try(comp, RVTRACE_CONTROL, comp->control) ^ comp->control) & checked)
		return -EIO;
	features = enc->program.features | FIELD_PREP(RVTRACE_TE_FEATURES_SRC_ID, enc->src_id);
	if (!enc->inhibit_src)
		features |= FIELD_PREP(RVTRACE_TE_FEATURES_SRC_BITS, enc->src_bits);
	if ((rvtrace_try(comp, RVTRACE_TE_INST_FEATURES, features) ^ features) &
	    RVTRACE_FEATURE_OPTIONS)
		return -EIO;
	rvtrace_ts_set(comp, enc->program.timestamp);
	if (!rvtrace_program_triggers(enc))
		return -EIO;
	return rvtrace_filter_program(enc, config);
}

/*
 * rvtrace_encoder_start - enable the encoder; everything downstream is enabled already
 * @attr: options, those of @config
 * @tracing: start tracing, too
 *
 * An event that ran on the hart last time, or another one of the same program, finds its settings
 * still there.
 */
int rvtrace_encoder_start(struct rvtrace_encoder *enc, const struct perf_event_attr *attr,
			  const struct rvtrace_config *config, bool tracing)
{
	struct rvtrace_component *comp = &enc->comp;
	int ret;

	if (enc->config != config->serial) {
		enc->config = 0;
		ret = rvtrace_encoder_configure(enc, attr, &enc->program);
		if (!ret)
			ret = rvtrace_encoder_program(enc, config);
		if (ret == -EIO)
			dev_err_ratelimited(&comp->dev, "does not take an option that it took when it was probed\n");
		if (ret)
			return ret;
		enc->config = config->serial;
	}
	ret = rvtrace_enable(comp, enc->program.control);
	if (!ret && tracing)
		rvtrace_encoder_set_tracing(enc, true);
	return ret;
}

const struct rvtrace_ops rvtrace_encoder_ops = {
	.name	= "encoder",
	.size	= sizeof(struct rvtrace_encoder),
	.groups	= rvtrace_encoder_groups,
	.probe	= rvtrace_encoder_probe,
	.reset	= rvtrace_encoder_reset,
};
