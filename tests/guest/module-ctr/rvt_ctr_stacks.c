// SPDX-License-Identifier: GPL-2.0-only
/*
 * While this is loaded the kernel's PMU of the harts accepts events with branch stacks, as it will
 * when it reads Control Transfer Records itself. (Samples have none.)
 */
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/perf_event.h>

static int forget_stack(struct kprobe *probe, struct pt_regs *regs)
{
	struct perf_event *event = (struct perf_event *)regs->a0;

	event->attr.sample_type &= ~(u64)PERF_SAMPLE_BRANCH_STACK;
	return 0;
}

static struct kprobe probe = {
	.symbol_name = "riscv_pmu_event_init",
	.pre_handler = forget_stack,
};

/* Some kernels have no probes where a function begins: ftrace does. Its instructions do nothing. */
static int __init begin(void)
{
	int ret;

	do {
		ret = register_kprobe(&probe);
		if (!ret)
			return 0;
		probe.addr = NULL;
		probe.flags = 0;
		probe.offset += 8;
	} while (ret == -EINVAL && probe.offset <= 16);
	return ret;
}

static void __exit end(void)
{
	unregister_kprobe(&probe);
}

module_init(begin);
module_exit(end);
MODULE_DESCRIPTION("Lets the kernel's PMU accept branch stacks, for tests of riscv_ctr");
MODULE_LICENSE("GPL");
