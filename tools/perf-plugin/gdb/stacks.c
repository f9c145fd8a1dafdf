// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <errno.h>
#include <stdlib.h>
#include "gdb/stacks.h"

#define MAX_DEPTH 4096
/*
 * Number of copies over the thread's whole length. When there are too many, every second one is
 * dropped.
 */
#define MAX_FAR 128
#define FIRST_APART (64u << 10)
/* Number of copies before the position that was last asked for, to step back from there. */
#define MAX_NEAR 64
#define NEAR_APART 1024
/* Stands for the target of a hidden trap: any address of the kernel. */
#define KERNEL_PC (UINT64_C(1) << 63)

struct copy {
	uint64_t number;
	struct rvt_callstack *stack;
};

struct copies {
	struct copy at[MAX_FAR];
	size_t n;
};

struct stacks {
	struct timeline *timeline;
	struct rvt_unwind *unwind;
	size_t thread;		/* thread of the stacks */
	struct copies far, near;
	uint64_t apart;		/* distance of copies in .far */
	struct copy now;	/* .stack NULL: none */
	uint64_t wanted;
	uint64_t stop;		/* position where to check for the next copy */
};

static void forget(struct copies *copies)
{
	while (copies->n)
		rvt_callstack_destroy(copies->at[--copies->n].stack);
}

static void forget_all(struct stacks *stacks)
{
	forget(&stacks->far);
	forget(&stacks->near);
	rvt_callstack_destroy(stacks->now.stack);
	stacks->now.stack = NULL;
	stacks->apart = FIRST_APART;
}

struct stacks *stacks_create(struct timeline *timeline, struct rvt_symbols *symbols)
{
	struct stacks *stacks = calloc(1, sizeof(*stacks));

	if (!stacks)
		return NULL;
	stacks->timeline = timeline;
	stacks->apart = FIRST_APART;
	stacks->unwind = rvt_unwind_create(symbols);
	if (!stacks->unwind) {
		free(stacks);
		return NULL;
	}
	return stacks;
}

void stacks_destroy(struct stacks *stacks)
{
	if (!stacks)
		return;
	forget_all(stacks);
	rvt_unwind_destroy(stacks->unwind);
	free(stacks);
}

/* ---- effects of instructions ---- */

/* Takes a trap: execution continued at .next_pc, where the instruction does not lead. */
static int take_trap(struct rvt_callstack *stack, const struct timeline_step *step)
{
	bool again = step->insn.iclass != RVT_INSN_ECALL && step->insn.iclass != RVT_INSN_EBREAK;
	uint64_t epc = again ? step->insn.behind : step->insn.pc;
	bool shown = (int64_t)step->next_pc < 0;
	int err = rvt_callstack_trap(stack, epc, shown ? step->next_pc : KERNEL_PC);

	if (!err && !shown)
		rvt_callstack_trap_return(stack, step->next_pc);
	return err;
}

/* Ends the innermost call, if a coroutine jump returns from it: it can be both return and call. */
static void end_swapped(struct rvt_callstack *stack, uint64_t to)
{
	const struct rvt_frame *top = rvt_callstack_frame(stack, 0);

	if (top && top->back == to)
		rvt_callstack_return(stack, to);
}

static int do_step(struct rvt_callstack *stack, const struct timeline_step *step)
{
	if (step->seam) {
		if (step->seam->kind == SEAM_LOST)
			rvt_callstack_gap(stack, step->next_pc);
		else
			rvt_callstack_resume(stack, step->insn.behind, step->next_pc);
		return 0;
	}
	switch (step->insn.iclass) {
	case RVT_INSN_COROUTINE:
		end_swapped(stack, step->next_pc);
		/* fall through */
	case RVT_INSN_CALL:
	case RVT_INSN_IND_CALL:
		return rvt_callstack_call(stack, step->insn.pc, step->insn.behind, step->next_pc);
	case RVT_INSN_RETURN:
		rvt_callstack_return(stack, step->next_pc);
		return 0;
	case RVT_INSN_TRAP_RETURN:
		rvt_callstack_trap_return(stack, step->next_pc);
		return 0;
	case RVT_INSN_IND_JUMP:
	case RVT_INSN_IND_JUMP_LINKED:
		rvt_callstack_jump(stack, step->insn.pc, step->next_pc);
		return 0;
	case RVT_INSN_SEQUENTIAL:
	case RVT_INSN_ECALL:
	case RVT_INSN_EBREAK:
		return step->next_pc == step->insn.behind ? 0 : take_trap(stack, step);
	default:
		return 0;
	}
}

/* ---- copies ---- */

static int add_copy(struct copies *copies, const struct copy *of)
{
	struct rvt_callstack *stack = rvt_callstack_clone(of->stack);

	if (!stack)
		return -ENOMEM;
	copies->at[copies->n++] = (struct copy){ of->number, stack };
	return 0;
}

static void thin_out(struct stacks *stacks)
{
	struct copies *far = &stacks->far;
	size_t kept = 0;

	for (size_t i = 0; i < far->n; i++) {
		if (i % 2)
			far->at[kept++] = far->at[i];
		else
			rvt_callstack_destroy(far->at[i].stack);
	}
	far->n = kept;
	stacks->apart *= 2;
}

static int keep(struct stacks *stacks)
{
	struct copies *far = &stacks->far, *near = &stacks->near;
	uint64_t last = far->n ? far->at[far->n - 1].number : 0;
	int err = 0;

	if (stacks->now.number >= last + stacks->apart) {
		err = add_copy(far, &stacks->now);
		if (far->n == MAX_FAR)
			thin_out(stacks);
	}
	if (!err && near->n < MAX_NEAR &&
	    stacks->wanted - stacks->now.number < (uint64_t)MAX_NEAR * NEAR_APART)
		err = add_copy(near, &stacks->now);
	return err;
}

/* Returns the last copy at @number or before; NULL: none. */
static const struct copy *find_copy(const struct stacks *stacks, uint64_t number)
{
	const struct copies *both[] = { &stacks->far, &stacks->near };
	const struct copy *found = NULL;

	for (size_t i = 0; i < 2; i++)
		for (size_t j = 0; j < both[i]->n; j++) {
			const struct copy *copy = &both[i]->at[j];

			if (copy->number <= number && (!found || copy->number > found->number))
				found = copy;
		}
	return found;
}

/* Makes .now the nearest stack before @number. */
static int go_near(struct stacks *stacks, uint64_t number)
{
	const struct copy *copy = find_copy(stacks, number);
	struct rvt_callstack *stack;
	uint64_t from = copy ? copy->number : 0;

	if (stacks->now.stack && stacks->now.number <= number && stacks->now.number >= from)
		return 0;
	stack = copy ? rvt_callstack_clone(copy->stack) :
		       rvt_callstack_create(MAX_DEPTH, rvt_unwind_code(stacks->unwind));
	if (!stack)
		return -ENOMEM;
	rvt_callstack_destroy(stacks->now.stack);
	stacks->now = (struct copy){ from, stack };
	if (number - from > NEAR_APART)
		forget(&stacks->near);
	return 0;
}

static uint64_t next_stop(const struct stacks *stacks)
{
	uint64_t left = stacks->wanted - stacks->now.number;
	uint64_t near = (uint64_t)MAX_NEAR * NEAR_APART;
	uint64_t step = left > near ? left - near : NEAR_APART;

	if (step > FIRST_APART)
		step = FIRST_APART;
	return step < left ? stacks->now.number + step : stacks->wanted;
}

static int take_step(void *ctx, const struct timeline_step *step)
{
	struct stacks *stacks = ctx;
	int err = 0;

	if (step->number >= stacks->stop) {
		stacks->now.number = step->number;
		err = keep(stacks);
		stacks->stop = next_stop(stacks);
	}
	return err ? err : do_step(stacks->now.stack, step);
}

int stacks_at(struct stacks *stacks, size_t thread, uint64_t number, struct rvt_callstack **stack)
{
	int err;

	if (thread != stacks->thread)
		forget_all(stacks);
	stacks->thread = thread;
	stacks->wanted = number;
	rvt_unwind_set_space(stacks->unwind, timeline_space(stacks->timeline, thread, number));
	err = go_near(stacks, number);
	if (!err && stacks->now.number < number) {
		stacks->stop = next_stop(stacks);
		err = timeline_walk(stacks->timeline, thread, stacks->now.number, number,
				    take_step, stacks);
		stacks->now.number = number;
	}
	if (err) {
		/* the stack is at no known position */
		rvt_callstack_destroy(stacks->now.stack);
		stacks->now.stack = NULL;
		return err;
	}
	*stack = stacks->now.stack;
	return 0;
}
