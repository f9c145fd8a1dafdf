// SPDX-License-Identifier: GPL-2.0-only
/*
 * RISC-V trace: hooks into the scheduler.
 *
 * - sched_switch puts the id of the next thread into a context CSR, scontext or hcontext; encoders
 *   trace it.
 * - exec ends an AUX record, so that no record has trace of both programs.
 * - exit writes the deferred records of the task: later no event is left that could be disabled.
 */
#define pr_fmt(fmt) "rvtrace: " fmt

#include <linux/cpumask.h>
#include <linux/mutex.h>
#include <linux/sched.h>
#include <linux/smp.h>
#include <linux/threads.h>
#include <linux/tracepoint.h>
#include <trace/events/sched.h>
#include <asm/asm-extable.h>
#include <asm/csr.h>

#ifdef RVTRACE_COMPAT
#include "rvtrace-compat.h"
#endif
#include "rvtrace-context.h"
#include "rvtrace-late.h"
#include "rvtrace-session.h"
#include "trace.h"

/* RISC-V Debug Specification 1.0, 5.7: of the supervisor, and of the hypervisor */
#define RVTRACE_CSR_SCONTEXT	0x5a8
#define RVTRACE_CSR_HCONTEXT	0x6a8

/**
 * struct rvtrace_context_csr - a CSR that can hold the id of the running thread
 * @max:	the largest number that it keeps on every hart; 0: it is not there
 * @users:	events that want the id of the running thread in it
 */
struct rvtrace_context_csr {
	atomic_long_t max;
	atomic_t users;
};

static struct rvtrace_context_csr rvtrace_context_csrs[RVTRACE_CONTEXTS] = {
	[RVTRACE_CONTEXT_SCONTEXT].max = ATOMIC_LONG_INIT(-1),
	[RVTRACE_CONTEXT_HCONTEXT].max = ATOMIC_LONG_INIT(-1),
};

/* The mutex protects registration; the count is for the fast path of fork(). */
static DEFINE_MUTEX(rvtrace_context_mutex);
static refcount_t rvtrace_hook_users = REFCOUNT_INIT(0);
static bool rvtrace_hooked;

/*
 * Writes a CSR that not every hart has, and that firmware may withhold. So the access may trap,
 * also on a hart that comes up after the others were asked. Returns whether it did not trap.
 */
static __always_inline bool rvtrace_csr_write(unsigned int csr, unsigned long value)
{
	unsigned long present = 0;

	asm volatile("1:	csrw	%1, %2\n"
		     "	li	%0, 1\n"
		     "2:\n"
		     _ASM_EXTABLE(1b, 2b)
		     : "+r" (present) : "i" (csr), "rK" (value) : "memory");
	return present;
}

static __always_inline bool rvtrace_context_csr_write(enum rvtrace_context context,
						      unsigned long value)
{
	if (context == RVTRACE_CONTEXT_HCONTEXT)
		return rvtrace_csr_write(RVTRACE_CSR_HCONTEXT, value);
	return rvtrace_csr_write(RVTRACE_CSR_SCONTEXT, value);
}

static unsigned long rvtrace_context_csr_read(enum rvtrace_context context)
{
	if (context == RVTRACE_CONTEXT_HCONTEXT)
		return csr_read(RVTRACE_CSR_HCONTEXT);
	return csr_read(RVTRACE_CSR_SCONTEXT);
}

/* Finds out how many bits the CSRs have: they are WARL, so all bits are written and read back. */
static void rvtrace_context_probe(void *unused)
{
	enum rvtrace_context context;
	unsigned long max;

	for (context = RVTRACE_CONTEXT_SCONTEXT; context < RVTRACE_CONTEXTS; context++) {
		max = 0;
		if (rvtrace_context_csr_write(context, ~0UL)) {
			max = rvtrace_context_csr_read(context);
			rvtrace_context_csr_write(context, 0);
		}
		atomic_long_and(max, &rvtrace_context_csrs[context].max);
	}
}

static void rvtrace_context_clear(void *unused)
{
	enum rvtrace_context context;

	for (context = RVTRACE_CONTEXT_SCONTEXT; context < RVTRACE_CONTEXTS; context++)
		rvtrace_context_csr_write(context, 0);
	this_cpu_write(rvtrace_cpus.context_task, NULL);
}

/*
 * rvtrace_context_bits - how many bits of a thread's id the trace can have by this CSR
 *
 * Returns 0 when not every hart has the CSR. scontext must have room for each id, or it is not
 * used, because filters compare it.
 */
unsigned int rvtrace_context_bits(enum rvtrace_context context)
{
	unsigned long max = atomic_long_read(&rvtrace_context_csrs[context].max);

	if (context == RVTRACE_CONTEXT_SCONTEXT && max < PID_MAX_LIMIT)
		return 0;
	return fls_long(max);
}

/*
 * rvtrace_context_of - which CSR an event wants the running thread's id in
 *
 * That is scontext, unless the event says "hcontext" or the harts have no scontext. Returns an
 * enum rvtrace_context, or -EOPNOTSUPP when the harts have no such CSR.
 */
int rvtrace_context_of(const struct perf_event_attr *attr)
{
	bool thread = FIELD_GET(RVTRACE_CONFIG2_THREAD, attr->config2);
	bool context = attr->config & RVTRACE_CONFIG_CONTEXT;
	bool hcontext = attr->config & RVTRACE_CONFIG_HCONTEXT;

	if (!thread && !context && !hcontext)
		return RVTRACE_CONTEXT_NONE;
	if (!hcontext && rvtrace_context_bits(RVTRACE_CONTEXT_SCONTEXT))
		return RVTRACE_CONTEXT_SCONTEXT;
	/* Comparators look at scontext. */
	if (!thread && rvtrace_context_bits(RVTRACE_CONTEXT_HCONTEXT))
		return RVTRACE_CONTEXT_HCONTEXT;
	return -EOPNOTSUPP;
}

/*
 * Writes the thread id of the initial namespace, as perf's sideband has it there. Instead of an id
 * that does not fit it writes the largest number, which is no thread's id: decoders use perf's
 * context switches then.
 */
static void rvtrace_context_set(enum rvtrace_context context, const struct task_struct *task)
{
	unsigned long max = atomic_long_read(&rvtrace_context_csrs[context].max);

	rvtrace_context_csr_write(context, min_t(unsigned long, task->pid, max));
	trace_rvtrace_context(context == RVTRACE_CONTEXT_HCONTEXT, task->pid);
}

/*
 * Writes the id of the running thread, unless the switch to it has done so. Events of a control
 * group start amid the switch, while the thread before is current still.
 */
void rvtrace_context_write(struct rvtrace_cpu *rc, enum rvtrace_context context)
{
	if (!rc->context_task || rc->context_csr != context)
		rvtrace_context_set(context, rc->context_task ?: current);
}

static void rvtrace_context_update(struct rvtrace_cpu *rc, const struct task_struct *task)
{
	enum rvtrace_context context;

	rc->context_task = NULL;
	for (context = RVTRACE_CONTEXT_SCONTEXT; context < RVTRACE_CONTEXTS; context++) {
		if (!atomic_read(&rvtrace_context_csrs[context].users))
			continue;
		rvtrace_context_set(context, task);
		rc->context_task = task;
		rc->context_csr = context;
	}
}

/* Returns whether @task has any events of perf. */
static bool rvtrace_has_events(const struct task_struct *task)
{
	const struct perf_event_context *ctx = READ_ONCE(task->perf_event_ctxp);

	return ctx && READ_ONCE(ctx->nr_events);
}

static void rvtrace_sched_switch(void *data, bool preempt, struct task_struct *prev,
				 struct task_struct *next, unsigned int prev_state)
{
	struct rvtrace_cpu *rc = this_cpu_ptr(&rvtrace_cpus);

	rc->prev = prev;
	rc->next_has_events = rvtrace_has_events(next);
	rvtrace_context_update(rc, next);
}

/* A thread that is not its process's leader takes over the leader's id. */
static void rvtrace_sched_exec(void *data, struct task_struct *task, pid_t old_pid,
			       struct linux_binprm *bprm)
{
	rvtrace_run_drain();
	guard(irqsave)();
	rvtrace_context_update(this_cpu_ptr(&rvtrace_cpus), current);
}

#ifdef RVTRACE_EXIT_HAS_GROUP
static void rvtrace_sched_exit(void *data, struct task_struct *task, bool group_dead)
#else
static void rvtrace_sched_exit(void *data, struct task_struct *task)
#endif
{
	rvtrace_late_flush_task(task);
}

static int rvtrace_hook(void)
{
	int ret, cpu;

	if (rvtrace_hooked)
		return 0;
	/* Without the hook nobody updated it. */
	for_each_possible_cpu(cpu)
		per_cpu(rvtrace_cpus, cpu).prev = NULL;
	ret = register_trace_sched_switch(rvtrace_sched_switch, NULL);
	if (ret)
		return ret;
	ret = register_trace_sched_process_exec(rvtrace_sched_exec, NULL);
	if (ret)
		goto err_switch;
	ret = register_trace_sched_process_exit(rvtrace_sched_exit, NULL);
	if (ret)
		goto err_exec;
	rvtrace_hooked = true;
	return 0;

err_exec:
	unregister_trace_sched_process_exec(rvtrace_sched_exec, NULL);
err_switch:
	unregister_trace_sched_switch(rvtrace_sched_switch, NULL);
	return ret;
}

static void rvtrace_unhook(struct work_struct *work)
{
	mutex_lock(&rvtrace_context_mutex);
	if (rvtrace_hooked && !refcount_read(&rvtrace_hook_users)) {
		unregister_trace_sched_process_exit(rvtrace_sched_exit, NULL);
		unregister_trace_sched_process_exec(rvtrace_sched_exec, NULL);
		unregister_trace_sched_switch(rvtrace_sched_switch, NULL);
		tracepoint_synchronize_unregister();
		/* Guests may be able to read scontext. */
		on_each_cpu(rvtrace_context_clear, NULL, 1);
		rvtrace_hooked = false;
	}
	mutex_unlock(&rvtrace_context_mutex);
}

static DECLARE_WORK(rvtrace_unhook_work, rvtrace_unhook);

/*
 * rvtrace_context_get - a new event: hook into the scheduler
 * @context: keep this CSR up to date, too
 *
 * As with rvtrace_get(), fork() comes by the fast path only.
 */
int rvtrace_context_get(enum rvtrace_context context)
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
	if (!ret && context)
		atomic_inc(&rvtrace_context_csrs[context].users);
	return ret;
}

void rvtrace_context_put(enum rvtrace_context context)
{
	if (context)
		atomic_dec(&rvtrace_context_csrs[context].users);
	if (refcount_dec_and_test(&rvtrace_hook_users))
		schedule_work(&rvtrace_unhook_work);
}

void rvtrace_context_init(void)
{
	on_each_cpu(rvtrace_context_probe, NULL, 1);
}

void rvtrace_context_exit(void)
{
	flush_work(&rvtrace_unhook_work);
}
