// SPDX-License-Identifier: GPL-2.0-only
/*
 * RISC-V trace: attributes of the PMU. format/ is the bits of struct perf_event_attr
 * (RVTRACE_CONFIG_*), caps/ what every encoder of this machine takes.
 */
#define pr_fmt(fmt) "rvtrace: " fmt

#include <linux/cpumask.h>
#include <linux/perf_event.h>
#include <linux/rcupdate.h>
#include <linux/sysfs.h>

#include "rvtrace-context.h"
#include "rvtrace-cpu.h"
#include "rvtrace-encoder.h"
#include "rvtrace-pmu.h"

PMU_FORMAT_ATTR(event,			"config:0");
PMU_FORMAT_ATTR(branch_prediction,	"config:1");
PMU_FORMAT_ATTR(jump_target_cache,	"config:2");
PMU_FORMAT_ATTR(implicit_return,	"config:3");
PMU_FORMAT_ATTR(sequential_jump,	"config:4");
PMU_FORMAT_ATTR(repeated_history,	"config:5");
PMU_FORMAT_ATTR(all_jumps,		"config:6");
PMU_FORMAT_ATTR(extend_address_msb,	"config:7");
PMU_FORMAT_ATTR(full_address,		"config:8");
PMU_FORMAT_ATTR(implicit_exception,	"config:9");
PMU_FORMAT_ATTR(implicit_return_mode,	"config:10-11");
PMU_FORMAT_ATTR(mode,			"config:12-14");
PMU_FORMAT_ATTR(context,		"config:15");
PMU_FORMAT_ATTR(timestamp,		"config:16");
PMU_FORMAT_ATTR(stall,			"config:17");
PMU_FORMAT_ATTR(syncmode,		"config:18-19");
PMU_FORMAT_ATTR(syncmax,		"config:20-23");
PMU_FORMAT_ATTR(format,			"config:24-26");
PMU_FORMAT_ATTR(machine,		"config:27");
PMU_FORMAT_ATTR(causes,			"config:28-29");
PMU_FORMAT_ATTR(trigger,		"config:30");
PMU_FORMAT_ATTR(hcontext,		"config:31");
PMU_FORMAT_ATTR(tval_match,		"config:32-34");
PMU_FORMAT_ATTR(tval_latch,		"config:35");
PMU_FORMAT_ATTR(impdef_match,		"config:36");
PMU_FORMAT_ATTR(tval,			"config1:0-63");
PMU_FORMAT_ATTR(impdef,			"config1:0-31");
PMU_FORMAT_ATTR(impdef_mask,		"config1:32-63");
PMU_FORMAT_ATTR(window,			"config1:0-31");
PMU_FORMAT_ATTR(period,			"config1:32-63");
PMU_FORMAT_ATTR(sink,			"config2:0-31");
PMU_FORMAT_ATTR(thread,			"config2:32-63");
PMU_FORMAT_ATTR(ecause,			"config3:0-63");

static struct attribute *rvtrace_format_attrs[] = {
	&format_attr_event.attr,
	&format_attr_branch_prediction.attr,
	&format_attr_jump_target_cache.attr,
	&format_attr_implicit_return.attr,
	&format_attr_sequential_jump.attr,
	&format_attr_repeated_history.attr,
	&format_attr_all_jumps.attr,
	&format_attr_extend_address_msb.attr,
	&format_attr_full_address.attr,
	&format_attr_implicit_exception.attr,
	&format_attr_implicit_return_mode.attr,
	&format_attr_mode.attr,
	&format_attr_context.attr,
	&format_attr_timestamp.attr,
	&format_attr_stall.attr,
	&format_attr_syncmode.attr,
	&format_attr_syncmax.attr,
	&format_attr_format.attr,
	&format_attr_machine.attr,
	&format_attr_causes.attr,
	&format_attr_trigger.attr,
	&format_attr_hcontext.attr,
	&format_attr_tval_match.attr,
	&format_attr_tval_latch.attr,
	&format_attr_impdef_match.attr,
	&format_attr_tval.attr,
	&format_attr_impdef.attr,
	&format_attr_impdef_mask.attr,
	&format_attr_window.attr,
	&format_attr_period.attr,
	&format_attr_sink.attr,
	&format_attr_thread.attr,
	&format_attr_ecause.attr,
	NULL
};

static const struct attribute_group rvtrace_format_group = {
	.name = "format",
	.attrs = rvtrace_format_attrs,
};

/**
 * struct rvtrace_common - what all encoders have in common, in the default format of each
 * @caps:		options that all have
 * @formats:		bit per RVTRACE_FORMAT_* that all have
 * @privilege_set:	privilege modes that the filters of all can let through
 * @privilege_clear:	privilege modes that the filters of all can hold back
 * @timestamp:		all write time stamps
 * @context_filter:	all can filter by scontext or hcontext
 * @tval_functions:	operators on trap values that the filters of all have
 * @tval_latches:	the same, for latches
 * @impdef_mask:	impdef signals that the filters of all look at
 */
struct rvtrace_common {
	struct rvtrace_caps caps;
	u8 formats;
	u8 privilege_set;
	u8 privilege_clear;
	bool timestamp;
	bool context_filter;
	u8 tval_functions;
	u8 tval_latches;
	u32 impdef_mask;
};

static void rvtrace_common(struct rvtrace_common *common)
{
	const struct rvtrace_encoder *enc;
	const struct rvtrace_caps *caps;
	int cpu;

	memset(common, ~0, sizeof(*common));
	common->timestamp = true;
	common->context_filter = true;
	guard(rcu)();
	for_each_possible_cpu(cpu) {
		enc = READ_ONCE(per_cpu(rvtrace_cpus, cpu).encoder);
		if (!enc)
			continue;
		caps = &enc->caps[enc->format];
		common->formats &= enc->formats;
		common->privilege_set &= enc->privilege_set;
		common->privilege_clear &= enc->privilege_clear;
		common->timestamp &= !!enc->comp.ts.mode;
		common->context_filter &= enc->context_filter;
		common->tval_functions &= enc->tval_functions;
		common->tval_latches &= enc->tval_latches;
		common->impdef_mask &= enc->impdef_mask;
		common->caps.modes &= caps->modes;
		common->caps.sync_modes &= caps->sync_modes;
		common->caps.sync_max &= caps->sync_max;
		common->caps.return_modes &= caps->return_modes;
		common->caps.control &= caps->control;
		common->caps.features &= caps->features;
	}
}

static ssize_t modes_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	struct rvtrace_common common;

	rvtrace_common(&common);
	return rvtrace_values_emit(buf, common.caps.modes, 1);
}
static DEVICE_ATTR_RO(modes);

static ssize_t syncmodes_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	struct rvtrace_common common;

	rvtrace_common(&common);
	return rvtrace_values_emit(buf, common.caps.sync_modes, 1);
}
static DEVICE_ATTR_RO(syncmodes);

static ssize_t syncmax_values_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	struct rvtrace_common common;

	rvtrace_common(&common);
	return rvtrace_values_emit(buf, common.caps.sync_max, 0);
}
static DEVICE_ATTR_RO(syncmax_values);

static ssize_t implicit_return_modes_show(struct device *dev, struct device_attribute *attr,
					  char *buf)
{
	struct rvtrace_common common;

	rvtrace_common(&common);
	return rvtrace_values_emit(buf, common.caps.return_modes, 1);
}
static DEVICE_ATTR_RO(implicit_return_modes);

/* Values of "format" beside their meaning */
static ssize_t formats_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	struct rvtrace_common common;
	ssize_t len = 0;
	int format;

	rvtrace_common(&common);
	for (format = 0; format < RVTRACE_FORMATS; format++)
		if (common.formats & BIT(format))
			len += sysfs_emit_at(buf, len, "%d %s\n", format + 1,
					     rvtrace_format_name(format));
	return len;
}
static DEVICE_ATTR_RO(formats);

static ssize_t features_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	struct rvtrace_common common;

	rvtrace_common(&common);
	return rvtrace_features_emit(buf, common.caps.features, common.caps.control,
				     common.timestamp);
}
static DEVICE_ATTR_RO(features);

/* Shows whether the hardware can distinguish exclude_user, exclude_kernel and exclude_hv. */
static ssize_t privilege_filter_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	const u8 modes = RVTRACE_PRIVILEGE_U | RVTRACE_PRIVILEGE_S;
	struct rvtrace_common common;

	rvtrace_common(&common);
	return sysfs_emit(buf, "%d\n", (common.privilege_set & modes) == modes &&
			  (common.privilege_clear & (modes | RVTRACE_PRIVILEGE_M)) ==
			  (modes | RVTRACE_PRIVILEGE_M));
}
static DEVICE_ATTR_RO(privilege_filter);

static ssize_t scontext_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%d\n", !!rvtrace_context_bits(RVTRACE_CONTEXT_SCONTEXT));
}
static DEVICE_ATTR_RO(scontext);

/*
 * Shows how many bits of a thread id hcontext has room for; the id may have more. 0: not every hart
 * has hcontext.
 */
static ssize_t hcontext_bits_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%u\n", rvtrace_context_bits(RVTRACE_CONTEXT_HCONTEXT));
}
static DEVICE_ATTR_RO(hcontext_bits);

static ssize_t thread_filter_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	struct rvtrace_common common;

	rvtrace_common(&common);
	return sysfs_emit(buf, "%d\n", common.context_filter &&
			  rvtrace_context_bits(RVTRACE_CONTEXT_SCONTEXT));
}
static DEVICE_ATTR_RO(thread_filter);

/* Show the values of tval_match, and those of them that can be used with tval_latch. */
static ssize_t tval_matches_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	struct rvtrace_common common;

	rvtrace_common(&common);
	return rvtrace_values_emit(buf, common.tval_functions << 1, 1);
}
static DEVICE_ATTR_RO(tval_matches);

static ssize_t tval_latches_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	struct rvtrace_common common;

	rvtrace_common(&common);
	return rvtrace_values_emit(buf, common.tval_latches << 1, 1);
}
static DEVICE_ATTR_RO(tval_latches);

static ssize_t impdef_signals_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	struct rvtrace_common common;

	rvtrace_common(&common);
	return sysfs_emit(buf, "0x%x\n", common.impdef_mask);
}
static DEVICE_ATTR_RO(impdef_signals);

static struct attribute *rvtrace_caps_attrs[] = {
	&dev_attr_modes.attr,
	&dev_attr_syncmodes.attr,
	&dev_attr_syncmax_values.attr,
	&dev_attr_implicit_return_modes.attr,
	&dev_attr_formats.attr,
	&dev_attr_features.attr,
	&dev_attr_privilege_filter.attr,
	&dev_attr_scontext.attr,
	&dev_attr_hcontext_bits.attr,
	&dev_attr_thread_filter.attr,
	&dev_attr_tval_matches.attr,
	&dev_attr_tval_latches.attr,
	&dev_attr_impdef_signals.attr,
	NULL
};

static const struct attribute_group rvtrace_caps_group = {
	.name = "caps",
	.attrs = rvtrace_caps_attrs,
};

static ssize_t cpumask_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	cpumask_var_t mask;
	ssize_t len;
	int cpu;

	if (!zalloc_cpumask_var(&mask, GFP_KERNEL))
		return -ENOMEM;
	for_each_possible_cpu(cpu)
		if (READ_ONCE(per_cpu(rvtrace_cpus, cpu).encoder))
			cpumask_set_cpu(cpu, mask);
	len = cpumap_print_to_pagebuf(true, buf, mask);
	free_cpumask_var(mask);
	return len;
}
static DEVICE_ATTR_RO(cpumask);

static struct attribute *rvtrace_cpumask_attrs[] = {
	&dev_attr_cpumask.attr,
	NULL
};

static const struct attribute_group rvtrace_cpumask_group = {
	.attrs = rvtrace_cpumask_attrs,
};

const struct attribute_group *rvtrace_pmu_groups[] = {
	&rvtrace_format_group,
	&rvtrace_caps_group,
	&rvtrace_cpumask_group,
	NULL
};
