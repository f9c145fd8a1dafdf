// SPDX-License-Identifier: GPL-2.0-only
/*
 * RISC-V Control Transfer Records as branch stacks (PERF_SAMPLE_BRANCH_STACK) of the harts' PMU
 *
 * A counter's overflow freezes the records (LCOFIFRZ), so that they lead up to the sampled
 * instruction. Without that, the way to the handler would be recorded with the kernel: then only
 * user space is. The records never outlive the task whose flow they are. Call stacks of user space
 * (RAS emulation) are saved and written back with their task.
 *
 * All events on a hart record the same, for there is one control register: an event that asks for
 * something else waits until perf rotates.
 *
 * Guests are not recorded: while V=1 vsctrctl is in force, which nothing here writes.
 */
#define pr_fmt(fmt) "riscv_ctr: " fmt

#include <linux/bitfield.h>
#include <linux/cleanup.h>
#include <linux/minmax.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <asm/cpufeature.h>

#include "riscv_ctr.h"
#include "riscv_ctr_brstack.h"

/* What keeps transfers of a type out, but for those of the two kinds that must be asked for */
#define RISCV_CTR_CTL_TRAPS	(RISCV_CTR_CTL_EXCINH | RISCV_CTR_CTL_INTRINH)
#define RISCV_CTR_CTL_INHIBIT	(RISCV_CTR_CTL_FILTERS & ~RISCV_CTR_CTL_NTBREN)
#define RISCV_CTR_CTL_INH(type)	BIT_ULL(32 + (type))

#define RISCV_CTR_BRANCHES	(PERF_SAMPLE_BRANCH_PLM_ALL | PERF_SAMPLE_BRANCH_ANY | \
				 PERF_SAMPLE_BRANCH_ANY_CALL | PERF_SAMPLE_BRANCH_ANY_RETURN | \
				 PERF_SAMPLE_BRANCH_IND_CALL | PERF_SAMPLE_BRANCH_COND | \
				 PERF_SAMPLE_BRANCH_CALL_STACK | PERF_SAMPLE_BRANCH_IND_JUMP | \
				 PERF_SAMPLE_BRANCH_CALL | PERF_SAMPLE_BRANCH_NO_FLAGS | \
				 PERF_SAMPLE_BRANCH_NO_CYCLES | PERF_SAMPLE_BRANCH_TYPE_SAVE | \
				 PERF_SAMPLE_BRANCH_HW_INDEX | PERF_SAMPLE_BRANCH_PRIV_SAVE)

static const u8 riscv_ctr_perf_type[16] = {
	[RISCV_CTR_TYPE_EXCEPTION]	= PERF_BR_SYSCALL,
	[RISCV_CTR_TYPE_INTERRUPT]	= PERF_BR_IRQ,
	[RISCV_CTR_TYPE_TRAP_RETURN]	= PERF_BR_ERET,
	[RISCV_CTR_TYPE_NOT_TAKEN]	= PERF_BR_COND,
	[RISCV_CTR_TYPE_TAKEN]		= PERF_BR_COND,
	[RISCV_CTR_TYPE_INDIRECT_CALL]	= PERF_BR_IND_CALL,
	[RISCV_CTR_TYPE_CALL]		= PERF_BR_CALL,
	[RISCV_CTR_TYPE_INDIRECT_JUMP]	= PERF_BR_IND,
	[RISCV_CTR_TYPE_JUMP]		= PERF_BR_UNCOND,
	[RISCV_CTR_TYPE_SWAP]		= PERF_BR_IND,
	[RISCV_CTR_TYPE_RETURN]		= PERF_BR_RET,
	[RISCV_CTR_TYPE_INDIRECT_OTHER]	= PERF_BR_IND,
	[RISCV_CTR_TYPE_OTHER]		= PERF_BR_UNCOND,
};

/**
 * struct riscv_ctr_brstack - a hart, and where its samples are put together
 * @users:	events with branch stacks that are on the hart
 * @control:	what they ask for, while there are any
 * @probed:	@usable is known
 * @usable:	the hart lets the kernel use the registers
 * @raw:	entries as they are read
 * @nr:		the start of a struct perf_branch_stack: number of @entries
 * @hw_idx:	-1: entries have no index of their own
 * @entries:	youngest first
 */
struct riscv_ctr_brstack {
	unsigned int users;
	u64 control;
	bool probed;
	bool usable;
	struct rvtrace_ctr_entry raw[RISCV_CTR_MAX_DEPTH];
	u64 nr;
	u64 hw_idx;
	struct perf_branch_entry entries[RISCV_CTR_MAX_DEPTH];
};

/**
 * struct riscv_ctr_brstack_task - the call stack of a task that is not on a hart
 * @valid:	there is one
 * @entries:	all of the hart's, youngest first
 */
struct riscv_ctr_brstack_task {
	bool valid;
	struct rvtrace_ctr_entry entries[RISCV_CTR_MAX_DEPTH];
};

static struct riscv_ctr_brstack __percpu *riscv_ctr_brstacks;
static unsigned int riscv_ctr_brstack_depth;

static bool riscv_ctr_brstack_keeps_stack(u64 control)
{
	return control & RISCV_CTR_CTL_RASEMU && !(control & RISCV_CTR_CTL_S);
}

/* ------------------------------------------------------------------ what an event asks for */

/* Returns the inhibit bits of the control register that let only the wanted types through. */
static u64 riscv_ctr_brstack_types(u64 wanted)
{
	u64 inhibit = RISCV_CTR_CTL_INHIBIT;

	if (wanted & PERF_SAMPLE_BRANCH_ANY)
		return 0;
	if (wanted & PERF_SAMPLE_BRANCH_ANY_CALL)
		inhibit &= ~(RISCV_CTR_CTL_INH(RISCV_CTR_TYPE_CALL) | RISCV_CTR_CTL_TRAPS |
			     RISCV_CTR_CTL_INH(RISCV_CTR_TYPE_INDIRECT_CALL));
	if (wanted & PERF_SAMPLE_BRANCH_ANY_RETURN)
		inhibit &= ~(RISCV_CTR_CTL_INH(RISCV_CTR_TYPE_RETURN) | RISCV_CTR_CTL_TRETINH);
	if (wanted & PERF_SAMPLE_BRANCH_IND_CALL)
		inhibit &= ~RISCV_CTR_CTL_INH(RISCV_CTR_TYPE_INDIRECT_CALL);
	if (wanted & PERF_SAMPLE_BRANCH_CALL)
		inhibit &= ~RISCV_CTR_CTL_INH(RISCV_CTR_TYPE_CALL);
	if (wanted & PERF_SAMPLE_BRANCH_COND)
		inhibit &= ~RISCV_CTR_CTL_TKBRINH;
	if (wanted & PERF_SAMPLE_BRANCH_IND_JUMP)
		inhibit &= ~(RISCV_CTR_CTL_INH(RISCV_CTR_TYPE_INDIRECT_JUMP) |
			     RISCV_CTR_CTL_INH(RISCV_CTR_TYPE_SWAP) |
			     RISCV_CTR_CTL_INH(RISCV_CTR_TYPE_INDIRECT_OTHER));
	return inhibit;
}

/**
 * riscv_ctr_brstack_init - may the event have branch stacks?
 * @event:	being initialised; it asks for them
 *
 * Return: 0, or -EOPNOTSUPP for what the harts do not have.
 */
int riscv_ctr_brstack_init(struct perf_event *event)
{
	u64 wanted = event->attr.branch_sample_type;
	u64 control;

	if (!riscv_ctr_brstacks || wanted & ~RISCV_CTR_BRANCHES)
		return -EOPNOTSUPP;
	control = riscv_ctr_caps.options & RISCV_CTR_CTL_LCOFIFRZ;
	if (wanted & PERF_SAMPLE_BRANCH_USER)
		control |= RISCV_CTR_CTL_U;
	if (wanted & PERF_SAMPLE_BRANCH_KERNEL)
		control |= RISCV_CTR_CTL_S;
	if (control & RISCV_CTR_CTL_S && !(control & RISCV_CTR_CTL_LCOFIFRZ))
		return -EOPNOTSUPP;
	if (wanted & PERF_SAMPLE_BRANCH_CALL_STACK)
		control |= RISCV_CTR_CTL_RASEMU;
	else
		control |= riscv_ctr_brstack_types(wanted);
	if (control & RISCV_CTR_CTL_OPTIONS & ~riscv_ctr_caps.options)
		return -EOPNOTSUPP;
	event->hw.branch_reg.config = control;
	event->attach_state |= PERF_ATTACH_SCHED_CB;
	if (riscv_ctr_brstack_keeps_stack(control) && event->pmu->task_ctx_cache)
		event->attach_state |= PERF_ATTACH_TASK_DATA;
	return 0;
}

/* ------------------------------------------------------------------ on a hart */

/* Returns whether the hart has CTR. It may have come up after riscv_ctr_brstack_setup(). */
static bool riscv_ctr_brstack_usable(struct riscv_ctr_brstack *hart)
{
	if (!hart->probed)
		hart->usable = riscv_ctr->probe();
	hart->probed = true;
	return hart->usable;
}

/**
 * riscv_ctr_brstack_add - the event is put on the hart
 * @event:	with branch stacks
 *
 * Return: 0, -EOPNOTSUPP when the hart has no records, -EAGAIN when others record something else.
 */
int riscv_ctr_brstack_add(struct perf_event *event)
{
	struct riscv_ctr_brstack *hart = this_cpu_ptr(riscv_ctr_brstacks);
	u64 control = event->hw.branch_reg.config;

	if (!riscv_ctr_brstack_usable(hart))
		return -EOPNOTSUPP;
	if (hart->users && hart->control != control)
		return -EAGAIN;
	if (!hart->users) {
		hart->control = control;
		riscv_ctr->start(control, riscv_ctr_brstack_depth);
	}
	hart->users++;
	perf_sched_cb_inc(event->pmu);
	return 0;
}

/* Takes the event, which was added, off the hart. */
void riscv_ctr_brstack_del(struct perf_event *event)
{
	struct riscv_ctr_brstack *hart = this_cpu_ptr(riscv_ctr_brstacks);

	perf_sched_cb_dec(event->pmu);
	if (--hart->users)
		return;
	riscv_ctr->stop();
	riscv_ctr->clear();
}

/* Returns the state of this hart, or NULL when no event with branch stacks is on it. */
static struct riscv_ctr_brstack *riscv_ctr_brstack_in_use(void)
{
	struct riscv_ctr_brstack *hart;

	if (!riscv_ctr_brstacks)
		return NULL;
	hart = this_cpu_ptr(riscv_ctr_brstacks);
	return hart->users ? hart : NULL;
}

/* Starts recording again: power management may have cost the hart its registers. */
void riscv_ctr_brstack_power_lost(void)
{
	struct riscv_ctr_brstack *hart = riscv_ctr_brstack_in_use();

	if (hart)
		riscv_ctr->start(hart->control, riscv_ctr_brstack_depth);
}

static void riscv_ctr_brstack_save(struct riscv_ctr_brstack_task *stack)
{
	riscv_ctr_read_array(stack->entries, riscv_ctr_brstack_depth);
	stack->valid = true;
}

static void riscv_ctr_brstack_restore(struct riscv_ctr_brstack_task *stack, u64 control)
{
	/* Nothing is recorded here: neither S, nor what the task did before. */
	riscv_ctr->start(control, riscv_ctr_brstack_depth);
	if (stack->valid)
		riscv_ctr_write_array(stack->entries, riscv_ctr_brstack_depth);
	stack->valid = false;
}

/* Saves or drops the records of the task that leaves: records do not say whose they are. */
static void riscv_ctr_brstack_sched_task(struct perf_event_pmu_context *pmu_ctx,
					 struct task_struct *task, bool sched_in)
{
	struct riscv_ctr_brstack *hart = this_cpu_ptr(riscv_ctr_brstacks);
	const struct perf_ctx_data *data;

	if (!hart->users)
		return;
	guard(rcu)();
	data = rcu_dereference(task->perf_ctx_data);
	if (!data || !riscv_ctr_brstack_keeps_stack(hart->control)) {
		if (sched_in)
			riscv_ctr->clear();
	} else if (sched_in) {
		riscv_ctr_brstack_restore(data->data, hart->control);
	} else {
		riscv_ctr_brstack_save(data->data);
	}
}

/* ------------------------------------------------------------------ samples */

static unsigned int riscv_ctr_brstack_cycles(u64 data)
{
	u64 mantissa = FIELD_GET(GENMASK_ULL(27, 16), data);
	unsigned int exponent = FIELD_GET(GENMASK_ULL(31, 28), data);
	u64 cycles = exponent ? (mantissa + BIT(12)) << (exponent - 1) : mantissa;

	return data & BIT_ULL(15) ? min_t(u64, cycles, U16_MAX) : 0;
}

static void riscv_ctr_brstack_convert(struct perf_branch_entry *to,
				      const struct rvtrace_ctr_entry *from,
				      const struct perf_event *event)
{
	*to = (struct perf_branch_entry){
		.from = from->source & ~RISCV_CTR_SOURCE_V,
		.to = from->target & ~RISCV_CTR_TARGET_MISP,
		.type = riscv_ctr_perf_type[FIELD_GET(RISCV_CTR_DATA_TYPE, from->data)],
	};
	/* The kernel's addresses are the upper half. */
	to->priv = (s64)(to->to ?: to->from) < 0 ? PERF_BR_PRIV_KERNEL : PERF_BR_PRIV_USER;
	if (!branch_sample_no_cycles(event))
		to->cycles = riscv_ctr_brstack_cycles(from->data);
	if (!branch_sample_no_flags(event) && riscv_ctr_caps.mispredict) {
		to->mispred = !!(from->target & RISCV_CTR_TARGET_MISP);
		to->predicted = !to->mispred;
	}
}

/**
 * riscv_ctr_brstack_sample - a counter has overflowed: gives the sample its branch stack
 * @event:	with branch stacks
 * @data:	its sample
 */
void riscv_ctr_brstack_sample(struct perf_event *event, struct perf_sample_data *data)
{
	struct riscv_ctr_brstack *hart = this_cpu_ptr(riscv_ctr_brstacks);
	unsigned int i;

	/* perf would cut off the rest. */
	hart->nr = riscv_ctr_read_entries(hart->raw, min_t(unsigned int, riscv_ctr_brstack_depth,
							   event->attr.sample_max_stack),
					  hart->control & RISCV_CTR_CTL_RASEMU);
	hart->hw_idx = -1ULL;
	for (i = 0; i < hart->nr; i++)
		riscv_ctr_brstack_convert(&hart->entries[i], &hart->raw[i], event);
	perf_sample_save_brstack(data, event, (struct perf_branch_stack *)&hart->nr, NULL);
}

/**
 * riscv_ctr_brstack_thaw - the handler of overflows is done: recording goes on
 *
 * The hart froze recording, whichever counter overflowed. New records do not follow the old ones
 * where the handler itself would have been recorded, so the old ones are dropped. Call stacks go
 * on: all that was called meanwhile has returned.
 */
void riscv_ctr_brstack_thaw(void)
{
	struct riscv_ctr_brstack *hart = riscv_ctr_brstack_in_use();

	if (!hart)
		return;
	if (hart->control & RISCV_CTR_CTL_S && !(hart->control & RISCV_CTR_CTL_RASEMU))
		riscv_ctr->clear();
	csr_clear(RISCV_CTR_CSR_SCTRSTATUS, RISCV_CTR_STATUS_FROZEN);
}

/* ------------------------------------------------------------------ setting up */

static void riscv_ctr_brstack_probe_hart(void *unused)
{
	riscv_ctr_discover_hart();
}

/**
 * riscv_ctr_brstack_setup - before the PMU is registered: gives it branch stacks if harts have them
 * @pmu:	the harts'
 */
void riscv_ctr_brstack_setup(struct pmu *pmu)
{
	int cpu;

	if (!riscv_isa_extension_available(NULL, SSCTR))
		return;
	riscv_ctr = &riscv_ctr_v1;
	/* One after the other, for they change the same structure. */
	for_each_online_cpu(cpu)
		smp_call_function_single(cpu, riscv_ctr_brstack_probe_hart, NULL, 1);
	if (cpumask_empty(&riscv_ctr_cpus) || !riscv_ctr_caps.types ||
	    riscv_ctr_caps.min_depth > riscv_ctr_caps.max_depth) {
		pr_info("no branch stacks: firmware does not let the kernel use the records (mstateen0), or they have no types\n");
		return;
	}
	riscv_ctr_brstack_depth = riscv_ctr_caps.max_depth;
	riscv_ctr_brstacks = alloc_percpu(struct riscv_ctr_brstack);
	if (!riscv_ctr_brstacks)
		return;
	/* Without it, call stacks do not survive a switch. */
	pmu->task_ctx_cache = KMEM_CACHE(riscv_ctr_brstack_task, 0);
	pmu->sched_task = riscv_ctr_brstack_sched_task;
	pr_info("branch stacks of %u entries\n", riscv_ctr_brstack_depth);
}
