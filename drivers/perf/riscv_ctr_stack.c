// SPDX-License-Identifier: GPL-2.0-only
/*
 * RISC-V Control Transfer Records: call stacks that survive a switch.
 *
 * With RAS emulation the records are the calls that have not returned. The records of a task are
 * saved when its event leaves a hart and written back when an event of the same task and the same
 * configuration comes to any hart. Only user code is recorded then, so nothing that the kernel
 * executes between the two moments belongs on the stack.
 *
 * perf record opens an event for each CPU, and the task may come back on another one: so what is
 * saved belongs to the task. The events of a task share it; the last of them frees it. Their
 * reference on the task keeps the address of its task_struct from being used again.
 */
#include <linux/err.h>
#include <linux/hashtable.h>
#include <linux/lockdep.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/sched/task_stack.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

#include "riscv_ctr.h"

#define RISCV_CTR_STACK_HASH_BITS	8

/**
 * struct riscv_ctr_stack - the saved records of a task
 * @node:	in the hash table
 * @task:	whose records these are
 * @users:	events of the task that share this
 * @control:	configuration of these events
 * @depth:	entries of the hardware that they use
 * @valid:	there is something to write back
 * @pc:		where the task had left user code when the records were saved
 * @sp:		its user stack pointer then
 * @entries:	youngest first, with the holes that returns leave (no V bit)
 *
 * The hash table, @task and @users are protected by riscv_ctr_stack_lock. The rest is touched on
 * the hart where the task is being switched, which is one at a time.
 */
struct riscv_ctr_stack {
	struct hlist_node node;
	const struct task_struct *task;
	unsigned int users;
	u64 control;
	unsigned int depth;
	bool valid;
	unsigned long pc;
	unsigned long sp;
	struct rvtrace_ctr_entry entries[] __counted_by(depth);
};

static DEFINE_HASHTABLE(riscv_ctr_stacks, RISCV_CTR_STACK_HASH_BITS);
static DEFINE_SPINLOCK(riscv_ctr_stack_lock);

static struct riscv_ctr_stack *riscv_ctr_stack_find(const struct task_struct *task,
						    const struct riscv_ctr_session *session)
{
	struct riscv_ctr_stack *stack;

	lockdep_assert_held(&riscv_ctr_stack_lock);
	hash_for_each_possible(riscv_ctr_stacks, stack, node, (unsigned long)task)
		if (stack->task == task && stack->control == session->control &&
		    stack->depth == session->depth)
			return stack;
	return NULL;
}

/**
 * riscv_ctr_stack_get - where an event's records are saved
 * @event:	being initialised
 * @session:	its session
 *
 * Return: NULL where nothing is to be saved, else what the events of the task share; an error
 * pointer without memory. Give it to riscv_ctr_stack_put().
 */
struct riscv_ctr_stack *riscv_ctr_stack_get(const struct perf_event *event,
					    const struct riscv_ctr_session *session)
{
	const struct task_struct *task = event->hw.target;
	struct riscv_ctr_stack *stack, *found;
	unsigned long flags;

	if (!task || !session->keep_stack)
		return NULL;
	stack = kzalloc(struct_size(stack, entries, session->depth), GFP_KERNEL);
	if (!stack)
		return ERR_PTR(-ENOMEM);
	stack->task = task;
	stack->control = session->control;
	stack->depth = session->depth;
	spin_lock_irqsave(&riscv_ctr_stack_lock, flags);
	found = riscv_ctr_stack_find(task, session);
	if (!found)
		hash_add(riscv_ctr_stacks, &stack->node, (unsigned long)task);
	else
		swap(stack, found);
	stack->users++;
	spin_unlock_irqrestore(&riscv_ctr_stack_lock, flags);
	kfree(found);
	return stack;
}

void riscv_ctr_stack_put(struct riscv_ctr_stack *stack)
{
	unsigned long flags;
	bool last;

	if (!stack)
		return;
	spin_lock_irqsave(&riscv_ctr_stack_lock, flags);
	last = !--stack->users;
	if (last)
		hash_del(&stack->node);
	spin_unlock_irqrestore(&riscv_ctr_stack_lock, flags);
	if (last)
		kfree(stack);
}

/**
 * riscv_ctr_stack_save - keeps the records of the task that leaves this hart
 * @stack:	of the task, which is current; NULL: nothing is kept
 *
 * Context: interrupts off; recording has stopped, the records are still there.
 */
void riscv_ctr_stack_save(struct riscv_ctr_stack *stack)
{
	if (!stack || stack->task != current)
		return;
	riscv_ctr_read_array(stack->entries, stack->depth);
	stack->pc = instruction_pointer(task_pt_regs(current));
	stack->sp = user_stack_pointer(task_pt_regs(current));
	stack->valid = true;
}

/**
 * riscv_ctr_stack_restore - writes the records of the task that comes to this hart back
 * @stack:	of the task, which is current; NULL: nothing was kept
 *
 * A task comes back in the visit to the kernel in which it left. When it has been in user code
 * meanwhile, because the event was disabled, the records no longer are its stack: they are dropped.
 *
 * Context: interrupts off; the records are empty, and no user code runs before all are there.
 */
void riscv_ctr_stack_restore(struct riscv_ctr_stack *stack)
{
	if (!stack || !stack->valid || stack->task != current)
		return;
	stack->valid = false;
	if (stack->pc == instruction_pointer(task_pt_regs(current)) &&
	    stack->sp == user_stack_pointer(task_pt_regs(current)))
		riscv_ctr_write_array(stack->entries, stack->depth);
}
