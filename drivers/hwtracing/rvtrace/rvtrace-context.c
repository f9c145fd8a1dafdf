// SPDX-License-Identifier: GPL-2.0-only
/*
 * RISC-V trace: hooks into the scheduler. scontext tells the encoder whose flow it sees; exec ends
 * an AUX record, so that what was run before it and after it can be told apart.
 */
#define pr_fmt(fmt) "rvtrace: " fmt

#include <linux/cpumask.h>
#include <linux/mutex.h>
#include <linux/sched.h>
#include <linux/smp.h>
#include <linux/tracepoint.h>
#include <asm/asm-extable.h>

#include "rvtrace.h"
#include "rvtrace-trace.h"

/* Supervisor context register, RISC-V Debug Specification 1.0, 5.7.11 */
#define RVTRACE_CSR_SCONTEXT	0x5a8

static struct tracepoint *rvtrace_tp_switch;
static struct tracepoint *rvtrace_tp_exec;
/* Protects registration; the counts are for the fast path of fork() */
static DEFINE_MUTEX(rvtrace_context_mutex);
static refcount_t rvtrace_hook_users = REFCOUNT_INIT(0);
static atomic_t rvtrace_context_users = ATOMIC_INIT(0);
static bool rvtrace_hooked;
static bool rvtrace_has_scontext;

/*
 * Not every hart has it, and firmware may withhold it: the access may trap, also on a hart that
 * comes up after the others were asked. Returns whether it did not.
 */
static bool rvtrace_scontext_set(unsigned long value)
{
	unsigned long present = 0;

	asm volatile("1:	csrw	%1, %2\n"
		     "	li	%0, 1\n"
		     "2:\n"
		     _ASM_EXTABLE(1b, 2b)
		     : "+r" (present) : "i" (RVTRACE_CSR_SCONTEXT), "rK" (value) : "memory");
	return present;
}

static void rvtrace_scontext_probe(void *data)
{
	if (!rvtrace_scontext_set(0))
		atomic_inc(data);
}

bool rvtrace_context_usable(void)
{
	return rvtrace_has_scontext;
}

/* Thread id of the initial namespace, as perf's sideband has it there */
static void rvtrace_scontext_write(const struct task_struct *task)
{
	rvtrace_scontext_set(task->pid);
	trace_rvtrace_context(task->pid);
}

void rvtrace_context_write(void)
{
	rvtrace_scontext_write(current);
}

static void rvtrace_sched_switch(void *data, bool preempt, struct task_struct *prev,
				 struct task_struct *next, unsigned int prev_state)
{
	if (atomic_read(&rvtrace_context_users))
		rvtrace_scontext_write(next);
}

/* A thread that is not its process's leader takes over the leader's id. */
static void rvtrace_sched_exec(void *data, struct task_struct *task, pid_t old_pid,
			       struct linux_binprm *bprm)
{
	rvtrace_run_drain();
	if (atomic_read(&rvtrace_context_users))
		rvtrace_context_write();
}

static int rvtrace_hook(void)
{
	int ret;

	if (rvtrace_hooked)
		return 0;
	ret = tracepoint_probe_register(rvtrace_tp_switch, rvtrace_sched_switch, NULL);
	if (ret)
		return ret;
	ret = tracepoint_probe_register(rvtrace_tp_exec, rvtrace_sched_exec, NULL);
	if (ret) {
		tracepoint_probe_unregister(rvtrace_tp_switch, rvtrace_sched_switch, NULL);
		return ret;
	}
	rvtrace_hooked = true;
	return 0;
}

static void rvtrace_unhook(struct work_struct *work)
{
	mutex_lock(&rvtrace_context_mutex);
	if (rvtrace_hooked && !refcount_read(&rvtrace_hook_users)) {
		tracepoint_probe_unregister(rvtrace_tp_exec, rvtrace_sched_exec, NULL);
		tracepoint_probe_unregister(rvtrace_tp_switch, rvtrace_sched_switch, NULL);
		tracepoint_synchronize_unregister();
		rvtrace_hooked = false;
	}
	mutex_unlock(&rvtrace_context_mutex);
}

static DECLARE_WORK(rvtrace_unhook_work, rvtrace_unhook);

/*
 * rvtrace_context_get - a new event: hook into the scheduler
 * @scontext: keep scontext up to date, too
 *
 * As with rvtrace_get(), fork() comes by the fast path only.
 */
int rvtrace_context_get(bool scontext)
{
	int ret = 0;

	if (!refcount_inc_not_zero(&rvtrace_hook_users)) {
		mutex_lock(&rvtrace_context_mutex);
		if (!refcount_inc_not_zero(&rvtrace_hook_users)) {
			ret = rvtrace_hook();
			if (!ret)
				refcount_set(&rvtrace_hook_users, 1);
		}
		mutex_unlock(&rvtrace_context_mutex);
	}
	if (!ret && scontext)
		atomic_inc(&rvtrace_context_users);
	return ret;
}

void rvtrace_context_put(bool scontext)
{
	if (scontext)
		atomic_dec(&rvtrace_context_users);
	if (refcount_dec_and_test(&rvtrace_hook_users))
		schedule_work(&rvtrace_unhook_work);
}

static void rvtrace_find_tracepoint(struct tracepoint *tp, void *data)
{
	if (!strcmp(tp->name, "sched_switch"))
		rvtrace_tp_switch = tp;
	else if (!strcmp(tp->name, "sched_process_exec"))
		rvtrace_tp_exec = tp;
}

/* The tracepoints' symbols are not exported; they are found by name. */
int rvtrace_context_init(void)
{
	atomic_t missing = ATOMIC_INIT(0);

	for_each_kernel_tracepoint(rvtrace_find_tracepoint, NULL);
	if (!rvtrace_tp_switch || !rvtrace_tp_exec) {
		pr_err("this kernel has no tracepoints sched_switch and sched_process_exec (CONFIG_TRACEPOINTS)\n");
		return -EOPNOTSUPP;
	}
	on_each_cpu(rvtrace_scontext_probe, &missing, 1);
	rvtrace_has_scontext = !atomic_read(&missing);
	return 0;
}

void rvtrace_context_exit(void)
{
	flush_work(&rvtrace_unhook_work);
}
