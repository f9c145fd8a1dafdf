// SPDX-License-Identifier: GPL-2.0-only
/*
 * RISC-V trace: guests of KVM on encoders without a filter for privilege modes. Such an encoder is
 * stopped while its hart runs a guest, if the event leaves guests out, or if nothing in the trace
 * would tell the guest's flow from the host's. So it is in flight mode.
 *
 * The tracepoints of KVM say when that is. KVM may be a module, which comes and goes.
 */
#define pr_fmt(fmt) "rvtrace: " fmt

#include <linux/cleanup.h>
#include <linux/irqflags.h>
#include <linux/module.h>
#include <linux/string.h>
#include <linux/tracepoint.h>

#include "rvtrace-encoder.h"
#include "rvtrace-flight.h"
#include "rvtrace-session.h"

struct kvm_vcpu;
struct kvm_cpu_trap;

static void rvtrace_guests_switch(bool guest)
{
	struct rvtrace_cpu *rc;

	guard(irqsave)();
	rc = this_cpu_ptr(&rvtrace_cpus);
	WRITE_ONCE(rc->in_guest, guest);
	if ((rc->running || rvtrace_flight_runs()) && rc->encoder->program.holds_guests)
		rvtrace_path_update_tracing(rc);
}

static void rvtrace_guests_entry(void *data, struct kvm_vcpu *vcpu)
{
	rvtrace_guests_switch(true);
}

static void rvtrace_guests_exit_guest(void *data, struct kvm_cpu_trap *trap)
{
	rvtrace_guests_switch(false);
}

static const struct {
	const char *name;
	void *probe;
} rvtrace_guests_probes[] = {
	{ "kvm_entry", rvtrace_guests_entry },
	{ "kvm_exit", rvtrace_guests_exit_guest },
};

/* Connects the probe to @tp if that is one of KVM's, or takes it away. @data: whether to connect */
static void rvtrace_guests_probe(struct tracepoint *tp, void *data)
{
	const bool *connect = data;
	void *probe;
	int i;

	for (i = 0; i < ARRAY_SIZE(rvtrace_guests_probes); i++) {
		if (strcmp(tp->name, rvtrace_guests_probes[i].name))
			continue;
		probe = rvtrace_guests_probes[i].probe;
		if (!*connect)
			tracepoint_probe_unregister(tp, probe, NULL);
		else if (tracepoint_probe_register(tp, probe, NULL))
			pr_warn("no probe of %s: where no filter holds guests back, they are traced\n",
				tp->name);
	}
}

#ifdef CONFIG_MODULES
/* Called for the modules that are there, too, when it is registered, and when it no longer is. */
static int rvtrace_guests_module(struct notifier_block *block, unsigned long state, void *data)
{
	const struct tp_module *tp_module = data;
	struct module *mod = tp_module->mod;
	bool connect = state == MODULE_STATE_COMING;
	unsigned int i;

	if (strcmp(mod->name, "kvm") || (!connect && state != MODULE_STATE_GOING))
		return NOTIFY_DONE;
	for (i = 0; i < mod->num_tracepoints; i++)
		rvtrace_guests_probe(tracepoint_ptr_deref(&mod->tracepoints_ptrs[i]), &connect);
	return NOTIFY_OK;
}

static struct notifier_block rvtrace_guests_block = {
	.notifier_call = rvtrace_guests_module,
};
#endif

/*
 * rvtrace_guests_init - follow the harts into guests and out of them
 *
 * A guest that runs meanwhile is noticed when it is entered the next time. Returns 0 or an error.
 */
int rvtrace_guests_init(void)
{
	bool connect = true;
#ifdef CONFIG_MODULES
	int ret = register_tracepoint_module_notifier(&rvtrace_guests_block);

	if (ret)
		return ret;
#endif
	for_each_kernel_tracepoint(rvtrace_guests_probe, &connect);
	return 0;
}

void rvtrace_guests_exit(void)
{
	bool connect = false;

#ifdef CONFIG_MODULES
	unregister_tracepoint_module_notifier(&rvtrace_guests_block);
#endif
	for_each_kernel_tracepoint(rvtrace_guests_probe, &connect);
	tracepoint_synchronize_unregister();
}
