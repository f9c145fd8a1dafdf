// SPDX-License-Identifier: GPL-2.0-only
/*
 * RISC-V trace: what the kernel does not export to modules. Tracepoints are found by their names,
 * and a function by kprobes.
 */
#define pr_fmt(fmt) "rvtrace: " fmt

#include <linux/kprobes.h>
#include <linux/string.h>
#include <linux/tracepoint.h>

#include "rvtrace-compat.h"

static struct {
	const char *name;
	struct tracepoint *tp;
} rvtrace_compat_tracepoints[] = {
	{ "sched_switch" },
	{ "sched_process_exec" },
	{ "sched_process_exit" },
};

static long (*rvtrace_compat_copy)(struct perf_output_handle *aux_handle,
				   struct perf_output_handle *handle, unsigned long from,
				   unsigned long to);

static struct tracepoint *rvtrace_compat_tracepoint(const char *name)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(rvtrace_compat_tracepoints); i++)
		if (!strcmp(rvtrace_compat_tracepoints[i].name, name))
			return rvtrace_compat_tracepoints[i].tp;
	return NULL;
}

/* Connects @probe to the tracepoint @name, one of those above. */
int rvtrace_compat_register(const char *name, void *probe, void *data)
{
	return tracepoint_probe_register(rvtrace_compat_tracepoint(name), probe, data);
}

int rvtrace_compat_unregister(const char *name, void *probe, void *data)
{
	return tracepoint_probe_unregister(rvtrace_compat_tracepoint(name), probe, data);
}

/* Calls perf_output_copy_aux(): what it does needs the inside of a ring buffer. */
long rvtrace_compat_copy_aux(struct perf_output_handle *aux_handle,
			     struct perf_output_handle *handle, unsigned long from,
			     unsigned long to)
{
	return rvtrace_compat_copy(aux_handle, handle, from, to);
}

static void rvtrace_compat_find_tracepoint(struct tracepoint *tp, void *data)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(rvtrace_compat_tracepoints); i++)
		if (!strcmp(tp->name, rvtrace_compat_tracepoints[i].name))
			rvtrace_compat_tracepoints[i].tp = tp;
}

static void rvtrace_compat_find_copy(void)
{
#ifdef CONFIG_KPROBES
	struct kprobe probe = { .symbol_name = "perf_output_copy_aux" };

	if (register_kprobe(&probe))
		return;
	rvtrace_compat_copy = (void *)probe.addr;
	unregister_kprobe(&probe);
#endif
}

#ifdef CONFIG_KPROBES
static void (*rvtrace_compat_kexec_fn)(void);

static int rvtrace_compat_kexec(struct kprobe *probe, struct pt_regs *regs)
{
	rvtrace_compat_kexec_fn();
	return 0;
}

static struct kprobe rvtrace_compat_kexec_probe = {
	.symbol_name = "machine_kexec",
	.pre_handler = rvtrace_compat_kexec,
};
#endif

/*
 * rvtrace_compat_before_kexec - have @fn called before another kernel is started
 *
 * After a crash, that is before panic notifiers, with the other harts stopped. NULL ends it.
 * Returns 0, or an error when the kernel does not make it possible.
 */
int rvtrace_compat_before_kexec(void (*fn)(void))
{
#ifdef CONFIG_KPROBES
	/*
	 * Otherwise the probe would stay where it was, and could not be registered a second time.
	 */
	if (rvtrace_compat_kexec_fn)
		unregister_kprobe(&rvtrace_compat_kexec_probe);
	rvtrace_compat_kexec_probe.addr = NULL;
	rvtrace_compat_kexec_probe.flags = 0;
	rvtrace_compat_kexec_fn = fn;
	if (!fn || !register_kprobe(&rvtrace_compat_kexec_probe))
		return 0;
	rvtrace_compat_kexec_fn = NULL;
#endif
	return -EOPNOTSUPP;
}

/*
 * rvtrace_compat_init - find what is needed
 *
 * Without kprobes @pmu takes no AUX samples. Returns 0, or -EOPNOTSUPP without a tracepoint.
 */
int rvtrace_compat_init(struct pmu *pmu)
{
	int i;

	for_each_kernel_tracepoint(rvtrace_compat_find_tracepoint, NULL);
	for (i = 0; i < ARRAY_SIZE(rvtrace_compat_tracepoints); i++) {
		if (rvtrace_compat_tracepoints[i].tp)
			continue;
		pr_err("this kernel has no tracepoint %s (CONFIG_TRACEPOINTS)\n",
		       rvtrace_compat_tracepoints[i].name);
		return -EOPNOTSUPP;
	}
	rvtrace_compat_find_copy();
	if (!rvtrace_compat_copy) {
		pr_info("no AUX samples: this kernel has no kprobes to find perf_output_copy_aux with\n");
		pmu->snapshot_aux = NULL;
	}
	return 0;
}
