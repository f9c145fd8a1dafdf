// SPDX-License-Identifier: GPL-2.0-only
/*
 * RISC-V trace: what a decoder must know of an encoder, for user space.
 */
#define pr_fmt(fmt) "rvtrace: " fmt

#include <linux/gfp.h>
#include <linux/kstrtox.h>
#include <linux/property.h>
#include <linux/string.h>
#include <linux/sysfs.h>

#include "rvtrace-encoder.h"

static struct rvtrace_encoder *dev_to_encoder(struct device *dev)
{
	return to_rvtrace_encoder(to_rvtrace_component(dev));
}

static const char *const rvtrace_format_names[RVTRACE_FORMATS] = { "etrace", "ntrace" };

const char *rvtrace_format_name(enum rvtrace_format format)
{
	return rvtrace_format_names[format];
}

/* Options of trTeInstFeatures and trTeControl, by the names that the PMU's format/ has for them */
static const struct {
	const char *name;
	u32 feature;
	u32 control;
} rvtrace_option_names[] = {
	{ "branch_prediction", RVTRACE_TE_FEATURES_BRANCH_PREDICTION, 0 },
	{ "jump_target_cache", RVTRACE_TE_FEATURES_JUMP_TARGET_CACHE, 0 },
	{ "implicit_return", RVTRACE_TE_FEATURES_IMPLICIT_RETURN, 0 },
	{ "sequential_jump", RVTRACE_TE_FEATURES_SEQUENTIAL_JUMP, 0 },
	{ "repeated_history", RVTRACE_TE_FEATURES_REPEATED_HISTORY, 0 },
	{ "all_jumps", RVTRACE_TE_FEATURES_ALL_JUMPS, 0 },
	{ "extend_address_msb", RVTRACE_TE_FEATURES_EXTEND_ADDR_MSB, 0 },
	{ "full_address", RVTRACE_TE_FEATURES_NO_ADDR_DIFF, 0 },
	{ "implicit_exception", RVTRACE_TE_FEATURES_NO_TRAP_ADDR, 0 },
	{ "context", 0, RVTRACE_TE_CONTROL_CONTEXT },
	{ "stall", 0, RVTRACE_TE_CONTROL_INST_STALL_ENA },
	{ "trigger", 0, RVTRACE_TE_CONTROL_INST_TRIG_ENABLE },
};

/* One line: the names of the options in @features and @control, and "timestamp" */
ssize_t rvtrace_features_emit(char *buf, u32 features, u32 control, bool timestamp)
{
	ssize_t len = 0;
	int i;

	for (i = 0; i < ARRAY_SIZE(rvtrace_option_names); i++)
		if (rvtrace_option_names[i].feature & features ||
		    rvtrace_option_names[i].control & control)
			len += sysfs_emit_at(buf, len, "%s ", rvtrace_option_names[i].name);
	if (timestamp)
		len += sysfs_emit_at(buf, len, "timestamp ");
	if (len)
		len--;
	return len + sysfs_emit_at(buf, len, "\n");
}

RVTRACE_ATTR_RO(cpu, "%d", to_rvtrace_encoder(comp)->cpu);
RVTRACE_ATTR_RO(protocol, "%s", rvtrace_format_name(to_rvtrace_encoder(comp)->format));
RVTRACE_ATTR_RO(protocol_version, "%lu.%lu",
		FIELD_GET(RVTRACE_TE_IMPL_PROTOCOL_MAJOR, comp->impl),
		FIELD_GET(RVTRACE_TE_IMPL_PROTOCOL_MINOR, comp->impl));
RVTRACE_ATTR_RO(src_id, "%u", to_rvtrace_encoder(comp)->src_id);
RVTRACE_ATTR_RO(src_bits, "%u", to_rvtrace_encoder(comp)->src_bits);

static ssize_t features_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	struct rvtrace_encoder *enc = dev_to_encoder(dev);
	const struct rvtrace_caps *caps = &enc->caps[enc->format];

	return rvtrace_features_emit(buf, caps->features, caps->control, enc->comp.ts.mode);
}
static DEVICE_ATTR_RO(features);

/*
 * Prints the parameters of trace that goes to the default sink, without options; "timestamp" is the
 * form that timestamps have when an event asks for them. Parameters that are known of the chip come
 * next, and those of firmware are last: the last of equal keys counts.
 */
static ssize_t rvtrace_params_emit(struct rvtrace_encoder *enc, enum rvtrace_format format,
				   char *buf)
{
	const char *sink_params = enc->paths[0].sink->platform->sink_params;
	const char *params;
	ssize_t len;

	len = sysfs_emit(buf, "protocol = %s\nxlen = %d\n%s", rvtrace_format_name(format),
			 __riscv_xlen, sink_params ?: "");
	if (enc->comp.ts.mode && !enc->comp.ts.platform)
		len += sysfs_emit_at(buf, len, "timestamp_clock = own\n");
	if (format == RVTRACE_FORMAT_NTRACE) {
		len += sysfs_emit_at(buf, len,
				     "dialect = 1.0\nmode = %s\nsrc_bits = %u\ntimestamp = %s\n",
				     enc->caps[format].modes & BIT(RVTRACE_MODE_OPTIMIZED) ?
				     "htm" : "btm", enc->src_bits,
				     enc->comp.ts.mode ? "delta" : "none");
		if (enc->comp.platform->ntrace_params)
			len += sysfs_emit_at(buf, len, "%s", enc->comp.platform->ntrace_params);
		if (!device_property_read_string(enc->comp.dev.parent,
						 "rvtrace,ntrace-decoder-params", &params))
			len += sysfs_emit_at(buf, len, "%s", params);
		return len;
	}
	len += rvtrace_discovery_emit(enc, buf, len);
	if (!device_property_read_string(enc->comp.dev.parent, "rvtrace,decoder-params", &params))
		len += sysfs_emit_at(buf, len, "%s", params);
	return len + sysfs_emit_at(buf, len, "srcid_bits = %u\n", enc->src_bits);
}

/* Prints the parameters of the default format. @buf is a page. */
ssize_t rvtrace_encoder_params(struct rvtrace_encoder *enc, char *buf)
{
	return rvtrace_params_emit(enc, enc->format, buf);
}

static ssize_t params_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	struct rvtrace_encoder *enc = dev_to_encoder(dev);

	return rvtrace_params_emit(enc, enc->format, buf);
}
static DEVICE_ATTR_RO(params);

static ssize_t params_etrace_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return rvtrace_params_emit(dev_to_encoder(dev), RVTRACE_FORMAT_ETRACE, buf);
}
static DEVICE_ATTR_RO(params_etrace);

static ssize_t params_ntrace_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return rvtrace_params_emit(dev_to_encoder(dev), RVTRACE_FORMAT_NTRACE, buf);
}
static DEVICE_ATTR_RO(params_ntrace);

/* Returns the value of the last line "@key = ..." in @params, or NULL. Changes @params. */
VISIBLE_IF_KUNIT const char *rvtrace_params_value(char *params, const char *key)
{
	const char *found = NULL;
	char *line, *value;

	while ((line = strsep(&params, "\n"))) {
		value = line;
		line = strsep(&value, "=");
		if (value && !strcmp(strim(line), key))
			found = strim(value);
	}
	return found;
}

/* Prints one value of "params". @buf may be NULL. Returns -ENOENT when there is no such key. */
static ssize_t rvtrace_decoder_value(struct rvtrace_encoder *enc, const char *key, char *buf)
{
	char *params = (char *)__get_free_page(GFP_KERNEL);
	const char *value;
	ssize_t len = -ENOENT;

	if (!params)
		return -ENOMEM;
	rvtrace_params_emit(enc, enc->format, params);
	value = rvtrace_params_value(params, key);
	if (value)
		len = buf ? sysfs_emit(buf, "%s\n", value) : 0;
	free_page((unsigned long)params);
	return len;
}

static ssize_t rvtrace_decoder_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return rvtrace_decoder_value(dev_to_encoder(dev), attr->attr.name, buf);
}

#define RVTRACE_DECODER_ATTR(_name)				\
	(&((struct device_attribute)				\
	   __ATTR(_name, 0444, rvtrace_decoder_show, NULL)).attr)

static struct attribute *rvtrace_decoder_attrs[] = {
	RVTRACE_DECODER_ATTR(protocol),
	RVTRACE_DECODER_ATTR(xlen),
	RVTRACE_DECODER_ATTR(framing),
	RVTRACE_DECODER_ATTR(dialect),
	RVTRACE_DECODER_ATTR(mode),
	RVTRACE_DECODER_ATTR(src_bits),
	RVTRACE_DECODER_ATTR(srcid_bits),
	RVTRACE_DECODER_ATTR(timestamp),
	RVTRACE_DECODER_ATTR(timestamp_clock),
	NULL
};

static umode_t rvtrace_decoder_visible(struct kobject *kobj, struct attribute *attr, int i)
{
	struct rvtrace_encoder *enc = dev_to_encoder(kobj_to_dev(kobj));

	return rvtrace_decoder_value(enc, attr->name, NULL) < 0 ? 0 : attr->mode;
}

static const struct attribute_group rvtrace_decoder_group = {
	.name = "decoder",
	.attrs = rvtrace_decoder_attrs,
	.is_visible = rvtrace_decoder_visible,
};

/**
 * struct rvtrace_trigger_attr - a trigger control
 * @attr:	its file
 * @offset:	of its value in struct rvtrace_triggers
 */
struct rvtrace_trigger_attr {
	struct device_attribute attr;
	size_t offset;
};

static u32 *rvtrace_trigger(struct rvtrace_triggers *triggers, struct device_attribute *attr)
{
	return (void *)triggers + container_of(attr, struct rvtrace_trigger_attr, attr)->offset;
}

static ssize_t rvtrace_trigger_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "0x%08x\n", *rvtrace_trigger(&dev_to_encoder(dev)->triggers, attr));
}

static ssize_t rvtrace_trigger_store(struct device *dev, struct device_attribute *attr,
				     const char *buf, size_t count)
{
	struct rvtrace_encoder *enc = dev_to_encoder(dev);
	u32 value;
	int ret;

	ret = kstrtou32(buf, 0, &value);
	if (ret)
		return ret;
	if (value & ~*rvtrace_trigger(&enc->trigger_bits, attr))
		return -EOPNOTSUPP;
	*rvtrace_trigger(&enc->triggers, attr) = value;
	return count;
}

#define RVTRACE_TRIGGER_ATTR(_name)						\
static struct rvtrace_trigger_attr rvtrace_attr_##_name = {			\
	__ATTR(trig_##_name, 0644, rvtrace_trigger_show, rvtrace_trigger_store),	\
	offsetof(struct rvtrace_triggers, _name)				\
}

RVTRACE_TRIGGER_ATTR(dbg);
RVTRACE_TRIGGER_ATTR(ext_in);
RVTRACE_TRIGGER_ATTR(ext_out);

static struct attribute *rvtrace_encoder_attrs[] = {
	&dev_attr_cpu.attr,
	&dev_attr_protocol.attr,
	&dev_attr_protocol_version.attr,
	&dev_attr_src_id.attr,
	&dev_attr_src_bits.attr,
	&dev_attr_features.attr,
	&dev_attr_params.attr,
	&dev_attr_params_etrace.attr,
	&dev_attr_params_ntrace.attr,
	&rvtrace_attr_dbg.attr.attr,
	&rvtrace_attr_ext_in.attr.attr,
	&rvtrace_attr_ext_out.attr.attr,
	NULL
};

/* Parameters of a format that the encoder has */
static umode_t rvtrace_encoder_visible(struct kobject *kobj, struct attribute *attr, int i)
{
	struct rvtrace_encoder *enc = dev_to_encoder(kobj_to_dev(kobj));

	if (attr == &dev_attr_params_etrace.attr)
		return enc->formats & BIT(RVTRACE_FORMAT_ETRACE) ? attr->mode : 0;
	if (attr == &dev_attr_params_ntrace.attr)
		return enc->formats & BIT(RVTRACE_FORMAT_NTRACE) ? attr->mode : 0;
	return attr->mode;
}

static const struct attribute_group rvtrace_encoder_group = {
	.attrs = rvtrace_encoder_attrs,
	.is_visible = rvtrace_encoder_visible,
};

const struct attribute_group *rvtrace_encoder_groups[] = {
	&rvtrace_component_group,
	&rvtrace_encoder_group,
	&rvtrace_decoder_group,
	&rvtrace_discovery_group,
	&rvtrace_ts_group,
	NULL
};
