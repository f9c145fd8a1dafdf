// SPDX-License-Identifier: GPL-2.0-only
/*
 * RISC-V Control Transfer Records: what an open event asks for, and the counter that triggers it.
 *
 * The trigger is a counter of the event's own task or CPU. So perf's check of who may open the
 * event holds for the trigger, too; it counts and interrupts only while the task runs; perf copies
 * it to children as it copies the event; and it needs no care when a hart comes or goes.
 */
#define pr_fmt(fmt) "riscv_ctr: " fmt

#include <linux/bitfield.h>
#include <linux/capability.h>
#include <linux/err.h>
#include <linux/log2.h>
#include <linux/slab.h>

#include "riscv_ctr.h"

static struct workqueue_struct *riscv_ctr_wq;
static perf_overflow_handler_t riscv_ctr_handler;

static int riscv_ctr_trigger_attr(const struct perf_event_attr *attr,
				  struct perf_event_attr *trigger)
{
	u32 type = FIELD_GET(RISCV_CTR_CONFIG1_TYPE, attr->config1);
	unsigned int kind = FIELD_GET(RISCV_CTR_CONFIG1_TRIGGER, attr->config1);

	if (kind != RISCV_CTR_TRIGGER_OTHER && (type || attr->config2))
		return -EINVAL;
	switch (kind) {
	case RISCV_CTR_TRIGGER_CPU_CLOCK:
		trigger->type = PERF_TYPE_SOFTWARE;
		trigger->config = PERF_COUNT_SW_CPU_CLOCK;
		break;
	case RISCV_CTR_TRIGGER_CYCLES:
		trigger->type = PERF_TYPE_HARDWARE;
		trigger->config = PERF_COUNT_HW_CPU_CYCLES;
		break;
	case RISCV_CTR_TRIGGER_INSTRUCTIONS:
		trigger->type = PERF_TYPE_HARDWARE;
		trigger->config = PERF_COUNT_HW_INSTRUCTIONS;
		break;
	case RISCV_CTR_TRIGGER_OTHER:
		/* A tracepoint or a task's clock has no fixed place in a hart's flow. */
		if (type == PERF_TYPE_TRACEPOINT || type == PERF_TYPE_BREAKPOINT)
			return -EINVAL;
		/*
		 * The kernel may open any counter, and nobody else checks what the caller may open.
		 */
		if (!perfmon_capable())
			return -EACCES;
		trigger->type = type;
		trigger->config = attr->config2;
		break;
	default:
		return -EINVAL;
	}
	trigger->size = sizeof(*trigger);
	trigger->freq = attr->freq;
	trigger->sample_period = attr->sample_period;
	trigger->exclude_user = attr->exclude_user;
	trigger->exclude_kernel = attr->exclude_kernel;
	trigger->exclude_hv = attr->exclude_hv;
	trigger->exclude_idle = attr->exclude_idle;
	trigger->exclude_guest = 1;
	trigger->inherit = attr->inherit;
	trigger->inherit_thread = attr->inherit_thread;
	/* Counters of other users have to give way to a pinned one. */
	trigger->pinned = perfmon_capable();
	return 0;
}

static int riscv_ctr_depth(struct riscv_ctr_session *session, unsigned int wanted)
{
	if (!wanted)
		wanted = clamp_t(unsigned int, RISCV_CTR_DEFAULT_DEPTH, riscv_ctr_caps.min_depth,
				 riscv_ctr_caps.max_depth);
	if (wanted < RISCV_CTR_MIN_DEPTH || !is_power_of_2(wanted))
		return -EINVAL;
	if (wanted < riscv_ctr_caps.min_depth || wanted > riscv_ctr_caps.max_depth)
		return -EOPNOTSUPP;
	session->limit = wanted;
	/*
	 * When the kernel is recorded, so is its code from the interrupt to the handler. Then the
	 * hardware holds as many entries as it can, and the handler leaves that code out.
	 */
	session->depth = session->strip ? riscv_ctr_caps.max_depth : wanted;
	return 0;
}

static int riscv_ctr_control(struct riscv_ctr_session *session, const struct perf_event_attr *attr)
{
	u64 control = attr->config & RISCV_CTR_CONFIG_OPTIONS;
	bool software = session->attr.type == PERF_TYPE_SOFTWARE;

	if (control & ~riscv_ctr_caps.options)
		return -EOPNOTSUPP;
	if ((attr->config & RISCV_CTR_CONFIG_CYCLES && !riscv_ctr_caps.cycles) ||
	    (attr->config & RISCV_CTR_CONFIG_MISPREDICT && !riscv_ctr_caps.mispredict))
		return -EOPNOTSUPP;
	if (!attr->exclude_user)
		control |= RISCV_CTR_CTL_U;
	if (!attr->exclude_kernel)
		control |= RISCV_CTR_CTL_S;
	if (!software)
		control |= riscv_ctr_caps.options & RISCV_CTR_CTL_LCOFIFRZ;
	session->control = control;
	session->strip = control & RISCV_CTR_CTL_S && !(control & RISCV_CTR_CTL_LCOFIFRZ);
	/*
	 * The handler finds its own entries by the record of the interrupt, and leaves that out
	 * later.
	 */
	session->written = session->strip && riscv_ctr_caps.types ?
			   control & ~RISCV_CTR_CTL_INTRINH : control;
	/* The kernel's calls at the switch away from a task are not those at the switch back. */
	session->keep_stack = control & RISCV_CTR_CTL_RASEMU &&
			      !(control & (RISCV_CTR_CTL_S | RISCV_CTR_CTL_BPFRZ)) &&
			      !(attr->config & RISCV_CTR_CONFIG_FORGET_STACK);
	session->keep_target = ~0ULL;
	session->keep_data = ~0ULL;
	if (!(attr->config & RISCV_CTR_CONFIG_MISPREDICT))
		session->keep_target &= ~RISCV_CTR_TARGET_MISP;
	if (!(attr->config & RISCV_CTR_CONFIG_CYCLES))
		session->keep_data &= ~RISCV_CTR_DATA_CYCLES;
	return 0;
}

static int riscv_ctr_session_configure(struct riscv_ctr_session *session,
				       const struct perf_event_attr *attr)
{
	int ret;

	if (attr->config & ~RISCV_CTR_CONFIG_ALL || attr->config1 & ~RISCV_CTR_CONFIG1_ALL)
		return -EINVAL;
	if (!attr->sample_period || (attr->exclude_user && attr->exclude_kernel))
		return -EINVAL;
	if (attr->exclude_host)
		return -EOPNOTSUPP;
	ret = riscv_ctr_trigger_attr(attr, &session->attr);
	if (!ret)
		ret = riscv_ctr_control(session, attr);
	if (!ret)
		ret = riscv_ctr_depth(session, FIELD_GET(RISCV_CTR_CONFIG_DEPTH, attr->config));
	return ret;
}

static void riscv_ctr_session_release(struct work_struct *work)
{
	struct riscv_ctr_session *session = container_of(work, struct riscv_ctr_session, release);

	perf_event_release_kernel(session->trigger);
	kfree(session);
}

static struct riscv_ctr_session *riscv_ctr_session_create(struct perf_event *event)
{
	struct riscv_ctr_session *session;
	int ret;

	session = kzalloc(sizeof(*session), GFP_KERNEL);
	if (!session)
		return ERR_PTR(-ENOMEM);
	refcount_set(&session->users, 1);
	INIT_WORK(&session->release, riscv_ctr_session_release);
	ret = riscv_ctr_session_configure(session, &event->attr);
	if (ret)
		goto err_free;
	session->trigger = perf_event_create_kernel_counter(&session->attr, event->cpu,
							    event->hw.target, riscv_ctr_handler,
							    session);
	if (IS_ERR(session->trigger)) {
		ret = PTR_ERR(session->trigger);
		goto err_free;
	}
	return session;

err_free:
	kfree(session);
	return ERR_PTR(ret);
}

/**
 * riscv_ctr_session_get - for a new event: its session, or its parent's
 * @event:	being initialised
 *
 * Return: the session, or an error pointer: what the options or the trigger were refused with.
 */
struct riscv_ctr_session *riscv_ctr_session_get(struct perf_event *event)
{
	struct riscv_ctr_session *session;

	if (!event->parent)
		return riscv_ctr_session_create(event);
	session = riscv_ctr_session_of(event->parent);
	refcount_inc(&session->users);
	return session;
}

/* Events are freed in places where the trigger cannot be freed, so a worker does it. */
void riscv_ctr_session_put(struct riscv_ctr_session *session)
{
	if (refcount_dec_and_test(&session->users))
		queue_work(riscv_ctr_wq, &session->release);
}

/**
 * riscv_ctr_session_init - before the first event
 * @handler:	overflow handler of the triggers
 *
 * Return: 0 or -ENOMEM.
 */
int riscv_ctr_session_init(perf_overflow_handler_t handler)
{
	riscv_ctr_handler = handler;
	riscv_ctr_wq = alloc_workqueue("riscv_ctr", WQ_UNBOUND, 0);
	return riscv_ctr_wq ? 0 : -ENOMEM;
}

void riscv_ctr_session_exit(void)
{
	destroy_workqueue(riscv_ctr_wq);
}
