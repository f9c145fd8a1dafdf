// SPDX-License-Identifier: GPL-2.0-only
/*
 * RISC-V Control Transfer Records: attributes of the PMU. format/ is the bits of struct
 * perf_event_attr (RISCV_CTR_CONFIG_*), caps/ what every hart has.
 */
#include <linux/sysfs.h>

#include "riscv_ctr.h"

PMU_FORMAT_ATTR(ras,			"config:7");
PMU_FORMAT_ATTR(external_traps,		"config:8");
PMU_FORMAT_ATTR(breakpoint_freeze,	"config:11");
PMU_FORMAT_ATTR(depth,			"config:16-24");
PMU_FORMAT_ATTR(no_exceptions,		"config:33");
PMU_FORMAT_ATTR(no_interrupts,		"config:34");
PMU_FORMAT_ATTR(no_trap_returns,	"config:35");
PMU_FORMAT_ATTR(not_taken,		"config:36");
PMU_FORMAT_ATTR(no_taken,		"config:37");
PMU_FORMAT_ATTR(no_indirect_calls,	"config:40");
PMU_FORMAT_ATTR(no_direct_calls,	"config:41");
PMU_FORMAT_ATTR(no_indirect_jumps,	"config:42");
PMU_FORMAT_ATTR(no_direct_jumps,	"config:43");
PMU_FORMAT_ATTR(no_swaps,		"config:44");
PMU_FORMAT_ATTR(no_returns,		"config:45");
PMU_FORMAT_ATTR(no_other_indirect,	"config:46");
PMU_FORMAT_ATTR(no_other_direct,	"config:47");
PMU_FORMAT_ATTR(cycles,			"config:48");
PMU_FORMAT_ATTR(mispredict,		"config:49");
PMU_FORMAT_ATTR(forget_stack,		"config:50");
PMU_FORMAT_ATTR(trigger,		"config1:0-3");
PMU_FORMAT_ATTR(trigger_type,		"config1:32-63");
PMU_FORMAT_ATTR(trigger_config,		"config2:0-63");

static struct attribute *riscv_ctr_format_attrs[] = {
	&format_attr_ras.attr,
	&format_attr_external_traps.attr,
	&format_attr_breakpoint_freeze.attr,
	&format_attr_depth.attr,
	&format_attr_no_exceptions.attr,
	&format_attr_no_interrupts.attr,
	&format_attr_no_trap_returns.attr,
	&format_attr_not_taken.attr,
	&format_attr_no_taken.attr,
	&format_attr_no_indirect_calls.attr,
	&format_attr_no_direct_calls.attr,
	&format_attr_no_indirect_jumps.attr,
	&format_attr_no_direct_jumps.attr,
	&format_attr_no_swaps.attr,
	&format_attr_no_returns.attr,
	&format_attr_no_other_indirect.attr,
	&format_attr_no_other_direct.attr,
	&format_attr_cycles.attr,
	&format_attr_mispredict.attr,
	&format_attr_forget_stack.attr,
	&format_attr_trigger.attr,
	&format_attr_trigger_type.attr,
	&format_attr_trigger_config.attr,
	NULL
};

static const struct attribute_group riscv_ctr_format_group = {
	.name = "format",
	.attrs = riscv_ctr_format_attrs,
};

static ssize_t version_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%s\n", riscv_ctr->name);
}
static DEVICE_ATTR_RO(version);

static ssize_t depths_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	unsigned int depth;
	ssize_t len = 0;

	for (depth = riscv_ctr_caps.min_depth; depth <= riscv_ctr_caps.max_depth; depth *= 2)
		len += sysfs_emit_at(buf, len, "%s%u", len ? " " : "", depth);
	return len + sysfs_emit_at(buf, len, "\n");
}
static DEVICE_ATTR_RO(depths);

static const struct {
	u64 bit;
	const char *name;
} riscv_ctr_option_names[] = {
	{ RISCV_CTR_CTL_RASEMU,		"ras" },
	{ RISCV_CTR_CTL_STE,		"external_traps" },
	{ RISCV_CTR_CTL_BPFRZ,		"breakpoint_freeze" },
	{ RISCV_CTR_CTL_LCOFIFRZ,	"overflow_freeze" },
	{ RISCV_CTR_CTL_EXCINH,		"no_exceptions" },
	{ RISCV_CTR_CTL_INTRINH,	"no_interrupts" },
	{ RISCV_CTR_CTL_TRETINH,	"no_trap_returns" },
	{ RISCV_CTR_CTL_NTBREN,		"not_taken" },
	{ RISCV_CTR_CTL_TKBRINH,	"no_taken" },
	{ BIT_ULL(40),			"no_indirect_calls" },
	{ BIT_ULL(41),			"no_direct_calls" },
	{ BIT_ULL(42),			"no_indirect_jumps" },
	{ BIT_ULL(43),			"no_direct_jumps" },
	{ BIT_ULL(44),			"no_swaps" },
	{ BIT_ULL(45),			"no_returns" },
	{ BIT_ULL(46),			"no_other_indirect" },
	{ BIT_ULL(47),			"no_other_direct" },
};

static ssize_t options_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	ssize_t len = 0;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(riscv_ctr_option_names); i++)
		if (riscv_ctr_caps.options & riscv_ctr_option_names[i].bit)
			len += sysfs_emit_at(buf, len, "%s%s", len ? " " : "",
					     riscv_ctr_option_names[i].name);
	return len + sysfs_emit_at(buf, len, "\n");
}
static DEVICE_ATTR_RO(options);

/* Of ctrdata and ctrtarget */
static ssize_t has_cycles_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%d\n", riscv_ctr_caps.cycles);
}

static struct device_attribute dev_attr_cycles = __ATTR(cycles, 0444, has_cycles_show, NULL);

static ssize_t cycle_exponent_bits_show(struct device *dev, struct device_attribute *attr,
					char *buf)
{
	return sysfs_emit(buf, "%u\n", riscv_ctr_caps.cycle_exponent_bits);
}
static DEVICE_ATTR_RO(cycle_exponent_bits);

static ssize_t has_mispredict_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%d\n", riscv_ctr_caps.mispredict);
}

static struct device_attribute dev_attr_mispredict =
	__ATTR(mispredict, 0444, has_mispredict_show, NULL);

static ssize_t types_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%d\n", riscv_ctr_caps.types);
}
static DEVICE_ATTR_RO(types);

/* Values of "trigger" beside their meaning */
static ssize_t triggers_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%d cpu-clock\n%d cycles\n%d instructions\n"
			  "%d trigger_type, trigger_config\n",
			  RISCV_CTR_TRIGGER_CPU_CLOCK, RISCV_CTR_TRIGGER_CYCLES,
			  RISCV_CTR_TRIGGER_INSTRUCTIONS, RISCV_CTR_TRIGGER_OTHER);
}
static DEVICE_ATTR_RO(triggers);

static struct attribute *riscv_ctr_caps_attrs[] = {
	&dev_attr_version.attr,
	&dev_attr_depths.attr,
	&dev_attr_options.attr,
	&dev_attr_cycles.attr,
	&dev_attr_cycle_exponent_bits.attr,
	&dev_attr_mispredict.attr,
	&dev_attr_types.attr,
	&dev_attr_triggers.attr,
	NULL
};

static const struct attribute_group riscv_ctr_caps_group = {
	.name = "caps",
	.attrs = riscv_ctr_caps_attrs,
};

static ssize_t cpumask_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return cpumap_print_to_pagebuf(true, buf, &riscv_ctr_cpus);
}
static DEVICE_ATTR_RO(cpumask);

static struct attribute *riscv_ctr_cpumask_attrs[] = {
	&dev_attr_cpumask.attr,
	NULL
};

static const struct attribute_group riscv_ctr_cpumask_group = {
	.attrs = riscv_ctr_cpumask_attrs,
};

const struct attribute_group *riscv_ctr_groups[] = {
	&riscv_ctr_format_group,
	&riscv_ctr_caps_group,
	&riscv_ctr_cpumask_group,
	NULL
};
