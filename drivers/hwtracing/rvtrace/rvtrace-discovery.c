// SPDX-License-Identifier: GPL-2.0-only
/*
 * RISC-V trace: the discovery attributes of an E-Trace encoder (chapter "Parameters and
 * Discovery").
 *
 * They come from the registers discovery_info_0 and discovery_info_1 where firmware says that there
 * are some ("reg-names" has "discovery"); what it gives as properties replaces that. All else has
 * the default that the specification says.
 */
#define pr_fmt(fmt) "rvtrace: " fmt

#include <linux/io-64-nonatomic-lo-hi.h>
#include <linux/platform_device.h>
#include <linux/property.h>
#include <linux/string.h>
#include <linux/sysfs.h>

#include "rvtrace-encoder.h"

#define RVTRACE_DISCOVERY_INFO_0	0x0
/*
 * The description says 4 for a register of 64 bits after another one at 0, in units of 8 bits. Both
 * have fields above bit 31, so that they cannot overlap: it lies behind the first one.
 */
#define RVTRACE_DISCOVERY_INFO_1	0x8
#define RVTRACE_DISCOVERY_SIZE		0x10

static const char *const rvtrace_dialect_names[RVTRACE_DIALECTS] = { "0.029", "2.0", "2.0.5" };

/**
 * struct rvtrace_field - where an attribute is in the registers
 * @info:	register: 0 or 1
 * @shift:	lowest bit
 * @width:	bits; 0: the registers do not have the attribute
 */
struct rvtrace_field {
	u8 info;
	u8 shift;
	u8 width;
};

/**
 * struct rvtrace_attribute - a discovery attribute
 * @dev:	its file
 * @draft:	the 0.029 draft has it
 * @ratified:	2.0 has it
 * @param:	decoders need it
 * @less:	difference between the decoder's parameter and the attribute
 * @draft_value:	default of the 0.029 draft
 * @ratified_value:	default of 2.0
 * @draft_field:	its place in the registers of the 0.029 draft
 * @ratified_field:	its place in the registers of 2.0
 */
struct rvtrace_attribute {
	struct device_attribute dev;
	bool draft, ratified, param;
	u8 less;
	u8 draft_value, ratified_value;
	struct rvtrace_field draft_field, ratified_field;
};

static ssize_t rvtrace_attribute_show(struct device *dev, struct device_attribute *attr, char *buf);

#define RVTRACE_ATTRIBUTE(_name, ...)							\
static struct rvtrace_attribute rvtrace_attribute_##_name = {				\
	.dev = __ATTR(_name, 0444, rvtrace_attribute_show, NULL), __VA_ARGS__		\
}

#define DRAFT(_default, _info, _shift, _width)						\
	.draft = true, .draft_value = (_default), .draft_field = { _info, _shift, _width }
#define RATIFIED(_default, _info, _shift, _width)					\
	.ratified = true, .ratified_value = (_default), .ratified_field = { _info, _shift, _width }
#define PARAM(_less)	.param = true, .less = (_less)

/* Those of the registers' example only */
RVTRACE_ATTRIBUTE(version, DRAFT(0, 0, 0, 4), RATIFIED(0, 0, 0, 4));
RVTRACE_ATTRIBUTE(minor_revision, DRAFT(0, 0, 4, 4), RATIFIED(0, 0, 4, 4));
RVTRACE_ATTRIBUTE(filter_impdef, DRAFT(0, 0, 55, 1), RATIFIED(0, 0, 54, 1));

/* Required */
RVTRACE_ATTRIBUTE(arch, PARAM(0), DRAFT(0, 0, 8, 4), RATIFIED(0, 0, 8, 4));
RVTRACE_ATTRIBUTE(bpred_size, PARAM(0), DRAFT(0, 0, 12, 4), RATIFIED(0, 0, 12, 4));
RVTRACE_ATTRIBUTE(cache_size, PARAM(0), DRAFT(0, 0, 16, 4), RATIFIED(0, 0, 16, 4));
RVTRACE_ATTRIBUTE(call_counter_size, PARAM(0), DRAFT(0, 0, 20, 3), RATIFIED(0, 0, 20, 3));
RVTRACE_ATTRIBUTE(context_width, PARAM(1), DRAFT(0, 0, 31, 5), RATIFIED(0, 0, 31, 5));
RVTRACE_ATTRIBUTE(time_width, PARAM(1), RATIFIED(0, 0, 0, 0));
RVTRACE_ATTRIBUTE(ecause_width, PARAM(1), DRAFT(3, 0, 39, 4), RATIFIED(3, 0, 39, 4));
RVTRACE_ATTRIBUTE(f0s_width, PARAM(0), DRAFT(0, 0, 56, 2), RATIFIED(0, 0, 55, 2));
RVTRACE_ATTRIBUTE(iaddress_lsb, PARAM(1), DRAFT(0, 0, 58, 2), RATIFIED(0, 0, 57, 2));
RVTRACE_ATTRIBUTE(iaddress_width, PARAM(1), DRAFT(31, 1, 0, 7), RATIFIED(31, 1, 0, 7));
RVTRACE_ATTRIBUTE(nocontext, PARAM(0), DRAFT(0, 1, 28, 1), RATIFIED(1, 1, 28, 1));
RVTRACE_ATTRIBUTE(notime, PARAM(0), RATIFIED(1, 0, 0, 0));
RVTRACE_ATTRIBUTE(privilege_width, PARAM(1), DRAFT(2, 1, 31, 2), RATIFIED(1, 1, 29, 2));
RVTRACE_ATTRIBUTE(return_stack_size, PARAM(0), DRAFT(0, 1, 36, 4), RATIFIED(0, 1, 34, 4));
RVTRACE_ATTRIBUTE(sijump, PARAM(0), DRAFT(0, 1, 40, 1), RATIFIED(0, 1, 38, 1));

/* Filtering */
RVTRACE_ATTRIBUTE(comparators, DRAFT(0, 0, 23, 3), RATIFIED(0, 0, 23, 3));
RVTRACE_ATTRIBUTE(filters, DRAFT(0, 0, 43, 4), RATIFIED(0, 0, 43, 4));
RVTRACE_ATTRIBUTE(ecause_choice, DRAFT(5, 0, 36, 3), RATIFIED(5, 0, 36, 3));
RVTRACE_ATTRIBUTE(filter_context, DRAFT(1, 0, 47, 1), RATIFIED(1, 0, 47, 1));
RVTRACE_ATTRIBUTE(filter_ecause, DRAFT(1, 0, 48, 4));
RVTRACE_ATTRIBUTE(filter_interrupt, DRAFT(1, 0, 52, 1));
RVTRACE_ATTRIBUTE(filter_excint, RATIFIED(1, 0, 48, 4));
RVTRACE_ATTRIBUTE(filter_time, RATIFIED(1, 0, 0, 0));
RVTRACE_ATTRIBUTE(filter_privilege, DRAFT(1, 0, 53, 1), RATIFIED(1, 0, 52, 1));
RVTRACE_ATTRIBUTE(filter_tval, DRAFT(1, 0, 54, 1), RATIFIED(1, 0, 53, 1));

/* Recommended */
RVTRACE_ATTRIBUTE(ctype_width, DRAFT(1, 0, 26, 5), RATIFIED(0, 0, 26, 5));
RVTRACE_ATTRIBUTE(ilastsize_width, DRAFT(0, 1, 7, 7), RATIFIED(0, 1, 7, 7));
RVTRACE_ATTRIBUTE(itype_width, DRAFT(4, 1, 14, 7), RATIFIED(3, 1, 14, 7));
RVTRACE_ATTRIBUTE(iretire_width, DRAFT(2, 1, 21, 7), RATIFIED(1, 1, 21, 7));
RVTRACE_ATTRIBUTE(ntkn_width, DRAFT(0, 1, 29, 2));
RVTRACE_ATTRIBUTE(retires, DRAFT(0, 1, 33, 3), RATIFIED(0, 1, 31, 3));
RVTRACE_ATTRIBUTE(taken_branches, DRAFT(0, 1, 41, 4), RATIFIED(0, 1, 39, 4));
RVTRACE_ATTRIBUTE(impdef_width, DRAFT(0, 1, 45, 5), RATIFIED(0, 1, 43, 5));

static struct attribute *rvtrace_discovery_attrs[] = {
	&rvtrace_attribute_version.dev.attr,
	&rvtrace_attribute_minor_revision.dev.attr,
	&rvtrace_attribute_filter_impdef.dev.attr,
	&rvtrace_attribute_arch.dev.attr,
	&rvtrace_attribute_bpred_size.dev.attr,
	&rvtrace_attribute_cache_size.dev.attr,
	&rvtrace_attribute_call_counter_size.dev.attr,
	&rvtrace_attribute_context_width.dev.attr,
	&rvtrace_attribute_time_width.dev.attr,
	&rvtrace_attribute_ecause_width.dev.attr,
	&rvtrace_attribute_f0s_width.dev.attr,
	&rvtrace_attribute_iaddress_lsb.dev.attr,
	&rvtrace_attribute_iaddress_width.dev.attr,
	&rvtrace_attribute_nocontext.dev.attr,
	&rvtrace_attribute_notime.dev.attr,
	&rvtrace_attribute_privilege_width.dev.attr,
	&rvtrace_attribute_return_stack_size.dev.attr,
	&rvtrace_attribute_sijump.dev.attr,
	&rvtrace_attribute_comparators.dev.attr,
	&rvtrace_attribute_filters.dev.attr,
	&rvtrace_attribute_ecause_choice.dev.attr,
	&rvtrace_attribute_filter_context.dev.attr,
	&rvtrace_attribute_filter_ecause.dev.attr,
	&rvtrace_attribute_filter_interrupt.dev.attr,
	&rvtrace_attribute_filter_excint.dev.attr,
	&rvtrace_attribute_filter_time.dev.attr,
	&rvtrace_attribute_filter_privilege.dev.attr,
	&rvtrace_attribute_filter_tval.dev.attr,
	&rvtrace_attribute_ctype_width.dev.attr,
	&rvtrace_attribute_ilastsize_width.dev.attr,
	&rvtrace_attribute_itype_width.dev.attr,
	&rvtrace_attribute_iretire_width.dev.attr,
	&rvtrace_attribute_ntkn_width.dev.attr,
	&rvtrace_attribute_retires.dev.attr,
	&rvtrace_attribute_taken_branches.dev.attr,
	&rvtrace_attribute_impdef_width.dev.attr,
	NULL
};

static_assert(ARRAY_SIZE(rvtrace_discovery_attrs) == RVTRACE_ATTRIBUTES + 1);

static const struct rvtrace_attribute *rvtrace_attribute_of(const struct attribute *attr)
{
	return container_of_const(attr, struct rvtrace_attribute, dev.attr);
}

static bool rvtrace_is_draft(const struct rvtrace_encoder *enc)
{
	return enc->discovery.dialect == RVTRACE_DIALECT_0_029;
}

static bool rvtrace_has_attribute(const struct rvtrace_encoder *enc,
				  const struct rvtrace_attribute *attribute)
{
	return rvtrace_is_draft(enc) ? attribute->draft : attribute->ratified;
}

static ssize_t rvtrace_attribute_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	struct rvtrace_encoder *enc = to_rvtrace_encoder(to_rvtrace_component(dev));
	int i;

	for (i = 0; rvtrace_discovery_attrs[i]; i++)
		if (rvtrace_discovery_attrs[i] == &attr->attr)
			return sysfs_emit(buf, "%u\n", enc->discovery.values[i]);
	return -ENOENT;
}

static umode_t rvtrace_attribute_visible(struct kobject *kobj, struct attribute *attr, int i)
{
	struct rvtrace_encoder *enc =
		to_rvtrace_encoder(to_rvtrace_component(kobj_to_dev(kobj)));

	if (!(enc->formats & BIT(RVTRACE_FORMAT_ETRACE)) ||
	    !rvtrace_has_attribute(enc, rvtrace_attribute_of(attr)))
		return 0;
	return attr->mode;
}

const struct attribute_group rvtrace_discovery_group = {
	.name = "discovery",
	.attrs = rvtrace_discovery_attrs,
	.is_visible = rvtrace_attribute_visible,
};

/*
 * Finds the version of E-Trace. Firmware may name it; else the protocol version says it. The major
 * number of that is 0 for all of 2.x.
 */
static void rvtrace_find_dialect(struct rvtrace_encoder *enc)
{
	struct device *dev = enc->comp.dev.parent;
	const char *name;
	int i;

	enc->discovery.dialect = RVTRACE_DIALECT_2_0;
	if (!FIELD_GET(RVTRACE_TE_IMPL_PROTOCOL_MAJOR, enc->comp.impl) &&
	    FIELD_GET(RVTRACE_TE_IMPL_PROTOCOL_MINOR, enc->comp.impl))
		enc->discovery.dialect = RVTRACE_DIALECT_2_0_5;
	if (device_property_read_string(dev, "rvtrace,etrace-dialect", &name))
		return;
	i = match_string(rvtrace_dialect_names, RVTRACE_DIALECTS, name);
	if (i < 0)
		dev_warn(dev, "unknown E-Trace dialect \"%s\", taken for %s\n", name,
			 rvtrace_dialect_names[enc->discovery.dialect]);
	else
		enc->discovery.dialect = i;
}

static int rvtrace_read_discovery(struct rvtrace_encoder *enc, u64 info[2])
{
	struct device *dev = enc->comp.dev.parent;
	struct resource *res;
	void __iomem *base;

	res = platform_get_resource_byname(to_platform_device(dev), IORESOURCE_MEM, "discovery");
	if (!res)
		return -ENOENT;
	if (resource_size(res) < RVTRACE_DISCOVERY_SIZE) {
		dev_err(dev, "discovery registers take %u bytes, \"reg\" has %pr\n",
			RVTRACE_DISCOVERY_SIZE, res);
		return -EINVAL;
	}
	/* The registers may be a part of the encoder's own page, so they are not claimed. */
	base = ioremap(res->start, RVTRACE_DISCOVERY_SIZE);
	if (!base)
		return -ENOMEM;
	info[0] = readq(base + RVTRACE_DISCOVERY_INFO_0);
	info[1] = readq(base + RVTRACE_DISCOVERY_INFO_1);
	iounmap(base);
	return 0;
}

static void rvtrace_find_attribute(struct rvtrace_encoder *enc, int i, const u64 *info)
{
	const struct rvtrace_attribute *attr = rvtrace_attribute_of(rvtrace_discovery_attrs[i]);
	const struct rvtrace_field *field = &attr->ratified_field;
	u32 value = attr->ratified_value;
	char property[64];

	if (rvtrace_is_draft(enc)) {
		field = &attr->draft_field;
		value = attr->draft_value;
	}
	if (info && field->width)
		value = info[field->info] >> field->shift & GENMASK(field->width - 1, 0);
	snprintf(property, sizeof(property), "rvtrace,te-%s", attr->dev.attr.name);
	strreplace(property, '_', '-');
	device_property_read_u32(enc->comp.dev.parent, property, &value);
	enc->discovery.values[i] = value;
}

/*
 * rvtrace_discovery_probe - find the discovery attributes of an encoder; it is active, so that
 * registers may be a part of it
 */
int rvtrace_discovery_probe(struct rvtrace_encoder *enc)
{
	u64 info[2];
	int ret, i;

	if (!(enc->formats & BIT(RVTRACE_FORMAT_ETRACE)))
		return 0;
	rvtrace_find_dialect(enc);
	ret = rvtrace_read_discovery(enc, info);
	if (ret && ret != -ENOENT)
		return ret;
	for (i = 0; i < RVTRACE_ATTRIBUTES; i++)
		if (rvtrace_has_attribute(enc, rvtrace_attribute_of(rvtrace_discovery_attrs[i])))
			rvtrace_find_attribute(enc, i, ret ? NULL : info);
	return 0;
}

/*
 * rvtrace_discovery_tells_guests - whether packets of E-Trace have room for the privilege modes of
 * guests: VU is 5 and VS is 6
 */
bool rvtrace_discovery_tells_guests(const struct rvtrace_encoder *enc)
{
	const struct rvtrace_attribute *attr = &rvtrace_attribute_privilege_width;
	int i = 0;

	while (rvtrace_discovery_attrs[i] != &attr->dev.attr)
		i++;
	return enc->discovery.values[i] + attr->less >= 3;
}

/* Prints the parameters that decoders have to know, in the form of "params". */
ssize_t rvtrace_discovery_emit(const struct rvtrace_encoder *enc, char *buf, ssize_t len)
{
	const struct rvtrace_attribute *attr;
	ssize_t start = len;
	int i;

	len += sysfs_emit_at(buf, len, "dialect = %s\n",
			     rvtrace_dialect_names[enc->discovery.dialect]);
	for (i = 0; i < RVTRACE_ATTRIBUTES; i++) {
		attr = rvtrace_attribute_of(rvtrace_discovery_attrs[i]);
		if (attr->param && rvtrace_has_attribute(enc, attr))
			len += sysfs_emit_at(buf, len, "%s_p = %u\n", attr->dev.attr.name,
					     enc->discovery.values[i] + attr->less);
	}
	return len - start;
}
