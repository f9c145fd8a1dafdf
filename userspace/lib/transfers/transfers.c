// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <rvtrace/transfers.h>
#include "callstack/share.h"
#include "saved.h"
#include "session/slices.h"
#include "state.h"
#include "steps.h"
#include "util/sized.h"

#define CAUSE_ECALL_FIRST 8	/* from U-mode */
#define CAUSE_ECALL_LAST 11	/* from M-mode */

struct process_stack {
	int32_t pid;		/* first: key of the tree */
	struct rvt_callstack *stack;	/* of one of its threads */
};

static const struct {
	enum rvt_transfer_kind kind;
	const char *flags;
} class_kinds[RVT_INSN_CLASSES] = {
	[RVT_INSN_SEQUENTIAL] = { RVT_TRANSFER_JUMP, "" },
	[RVT_INSN_BRANCH] = { RVT_TRANSFER_BRANCH, "jcc" },
	[RVT_INSN_CALL] = { RVT_TRANSFER_CALL, "call" },
	[RVT_INSN_JUMP] = { RVT_TRANSFER_JUMP, "jmp" },
	[RVT_INSN_JUMP_LINKED] = { RVT_TRANSFER_JUMP, "jmp" },
	[RVT_INSN_IND_CALL] = { RVT_TRANSFER_CALL, "call" },
	[RVT_INSN_IND_JUMP] = { RVT_TRANSFER_JUMP, "jmp" },
	[RVT_INSN_IND_JUMP_LINKED] = { RVT_TRANSFER_JUMP, "jmp" },
	[RVT_INSN_COROUTINE] = { RVT_TRANSFER_CALL, "call" },
	[RVT_INSN_RETURN] = { RVT_TRANSFER_RETURN, "return" },
	[RVT_INSN_TRAP_RETURN] = { RVT_TRANSFER_TRAP_RETURN, "iret" },
	[RVT_INSN_ECALL] = { RVT_TRANSFER_JUMP, "syscall" },
	[RVT_INSN_EBREAK] = { RVT_TRANSFER_JUMP, "int" },
};

const char *rvt_transfer_flags(unsigned int iclass)
{
	return iclass < RVT_INSN_CLASSES ? class_kinds[iclass].flags : "";
}

static bool wants(const struct rvt_transfers *transfers, const struct rvt_hart_flow *hart)
{
	return !transfers->ops.wants || transfers->ops.wants(transfers->ops.wants_ctx, hart);
}

int rvt_transfers_compare(const void *a, const void *b)
{
	const int32_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

struct hart_state *rvt_transfers_hart(struct rvt_hart_flow *hart)
{
	struct hart_state *state = hart->user;

	if (!state)
		hart->user = state = calloc(1, sizeof(*state));
	if (state && hart->resumed && !state->resumed)
		state->resumed = state->others = true;
	return state;
}

/* Threads of a process go on with each other's stacks. Without memory they do not. */
static void share_stack(struct rvt_transfers *transfers, int32_t pid, struct rvt_callstack *stack)
{
	struct process_stack *process, **found;

	if (!pid)
		return;
	found = tfind(&pid, &transfers->processes, rvt_transfers_compare);
	if (found) {
		rvt_callstack_share(stack, (*found)->stack);
		return;
	}
	process = malloc(sizeof(*process));
	if (!process)
		return;
	*process = (struct process_stack){ pid, stack };
	if (!tsearch(process, &transfers->processes, rvt_transfers_compare))
		free(process);
}

/* The thread is another one, or runs another program. */
static void clear_stack(struct thread_stack *thread, const struct rvt_task *task, uint32_t life)
{
	rvt_callstack_clear(thread->stack);
	if (task && task->pid == task->tid)
		rvt_callstack_forget_left(thread->stack);
	thread->life = life;
	thread->stopped_at = 0;
}

struct thread_stack *rvt_transfers_thread(struct rvt_transfers *transfers, int32_t tid,
					  int32_t pid, uint32_t life)
{
	struct thread_stack **found, *thread;

	found = tfind(&tid, &transfers->threads, rvt_transfers_compare);
	if (found)
		return *found;
	thread = malloc(sizeof(*thread));
	if (!thread)
		return NULL;
	*thread = (struct thread_stack){ .tid = tid, .life = life, .pid = pid,
					 .serial = transfers->n_threads };
	thread->stack = rvt_callstack_create(transfers->max_depth, transfers->unwind ?
					     rvt_unwind_code(transfers->unwind) : NULL);
	if (!thread->stack || !tsearch(thread, &transfers->threads, rvt_transfers_compare)) {
		rvt_callstack_destroy(thread->stack);
		free(thread);
		return NULL;
	}
	transfers->n_threads++;
	share_stack(transfers, pid, thread->stack);
	return thread;
}

/* The stack of the hart flow's thread; a cpu whose thread is not known has one of its own. */
static struct rvt_callstack *get_stack(struct rvt_transfers *transfers, struct rvt_hart_flow *hart)
{
	struct hart_state *state = hart->user;
	int32_t tid = hart->task && hart->task->tid > 0 ? rvt_task_key(hart->task) : -2 - hart->cpu;
	uint32_t life = hart->task ? hart->task->life : 0;
	int32_t pid = hart->task && hart->task->pid > 0 && !hart->task->guest ? hart->task->pid : 0;
	struct thread_stack *thread = state->thread;

	if (!thread || thread->tid != tid) {
		thread = rvt_transfers_thread(transfers, tid, pid, life);
		if (!thread)
			return NULL;
		state->thread = thread;
	}
	if (thread->life != life)
		clear_stack(thread, hart->task, life);
	return thread->stack;
}

/* NULL when no stacks are kept. */
static int find_stack(struct rvt_transfers *transfers, struct rvt_hart_flow *hart,
		      struct rvt_callstack **stack)
{
	*stack = transfers->max_depth ? get_stack(transfers, hart) : NULL;
	if (transfers->unwind)
		rvt_unwind_set_space(transfers->unwind, hart->space);
	return transfers->max_depth && !*stack ? -ENOMEM : 0;
}

static int end_line(struct rvt_transfers *transfers, struct rvt_hart_flow *hart)
{
	struct hart_state *state = hart->user;
	bool ours = state->in_line && !state->others;
	struct rvt_callstack *stack;
	int err;

	state->in_line = state->others = false;
	if (!ours || transfers->muted)
		return 0;
	if (!transfers->ops.line || !wants(transfers, hart))
		return 0;
	err = find_stack(transfers, hart, &stack);
	state->line.last = state->last;
	return err ? err : transfers->ops.line(transfers->ops.ctx, hart, &state->line, stack);
}

/*
 * "jalr ra, t0" is a call, which Go's compiler makes of a function's value; but also how coroutines
 * return to each other, where each return is the other one's call.
 */
static size_t swap(struct rvt_callstack *stack, const struct rvt_transfer *transfer)
{
	const struct rvt_frame *top = rvt_callstack_frame(stack, 0);

	return top && top->back == transfer->to ? rvt_callstack_return(stack, transfer->to) : 0;
}

static size_t update_stack(struct rvt_callstack *stack, const struct rvt_transfer *transfer,
			   uint64_t back, int *err)
{
	size_t ended;

	if (!stack)
		return 0;
	switch (transfer->kind) {
	case RVT_TRANSFER_CALL:
		ended = transfer->indirect ? swap(stack, transfer) : 0;
		*err = rvt_callstack_call(stack, transfer->from, back, transfer->to);
		return ended;
	case RVT_TRANSFER_TRAP:
		*err = rvt_callstack_trap(stack, transfer->from, transfer->to);
		return 0;
	case RVT_TRANSFER_RETURN:
		return rvt_callstack_return(stack, transfer->to);
	case RVT_TRANSFER_TRAP_RETURN:
		return rvt_callstack_trap_return(stack, transfer->to);
	case RVT_TRANSFER_JUMP:
		return transfer->indirect ?
			rvt_callstack_jump(stack, transfer->from, transfer->to) : 0;
	case RVT_TRANSFER_STOP:
		/* the kernel has returned to the program, which is not traced */
		return transfer->indirect ? rvt_callstack_resume(stack, 0, transfer->to) : 0;
	default:
		return 0;
	}
}

static int tell_step(const struct rvt_transfers *transfers, struct rvt_hart_flow *hart,
		     const struct rvt_step *step)
{
	return transfers->steps && !transfers->muted ?
		transfers->steps(transfers->steps_ctx, hart, step) : 0;
}

/* Only of what changes a stack. */
static int tell_transfer(const struct rvt_transfers *transfers, struct rvt_hart_flow *hart,
			 const struct rvt_transfer *transfer, uint64_t back)
{
	const struct rvt_step step = {
		.kind = RVT_STEP_TRANSFER, .transfer = transfer->kind,
		.indirect = transfer->indirect, .from = transfer->from, .to = transfer->to,
		.back = back,
	};

	if (!transfers->steps)
		return 0;
	switch (transfer->kind) {
	case RVT_TRANSFER_CALL:
	case RVT_TRANSFER_RETURN:
	case RVT_TRANSFER_TRAP:
	case RVT_TRANSFER_TRAP_RETURN:
		return tell_step(transfers, hart, &step);
	case RVT_TRANSFER_JUMP:
	case RVT_TRANSFER_STOP:
		return transfer->indirect ? tell_step(transfers, hart, &step) : 0;
	default:
		return 0;
	}
}

static int do_transfer(struct rvt_transfers *transfers, struct rvt_hart_flow *hart,
		       const struct rvt_transfer *transfer, uint64_t back)
{
	const struct rvt_transfers_ops *ops = &transfers->ops;
	struct rvt_callstack *stack;
	size_t ended;
	bool wanted;
	int err;

	if (transfers->muted)
		return 0;
	wanted = wants(transfers, hart);
	err = find_stack(transfers, hart, &stack);
	if (!err && ops->transfer && wanted)
		err = ops->transfer(ops->ctx, hart, transfer, stack);
	if (err)
		return err;
	ended = update_stack(stack, transfer, back, &err);
	if (!err)
		err = tell_transfer(transfers, hart, transfer, back);
	if (!err && ops->after && wanted)
		err = ops->after(ops->ctx, hart, transfer, stack, ended);
	return err;
}

/* Whether an instruction goes elsewhere in any case, be that to the instruction behind it. */
static bool always_jumps(unsigned int iclass)
{
	return iclass >= RVT_INSN_CALL && iclass <= RVT_INSN_TRAP_RETURN;
}

/*
 * The flow goes on at @pc: a transfer, unless that is where the last instruction falls through to.
 */
static int arrive(struct rvt_transfers *transfers, struct rvt_hart_flow *hart, uint64_t pc)
{
	struct hart_state *state = hart->user;
	struct rvt_transfer transfer = { .from = state->last, .to = pc };
	bool others;
	int err;

	if (!state->has_last || (pc == state->next && !always_jumps(state->last_class)))
		return 0;
	others = state->others;
	err = end_line(transfers, hart);
	transfer.kind = class_kinds[state->last_class].kind;
	transfer.flags = class_kinds[state->last_class].flags;
	transfer.indirect = state->last_class == RVT_INSN_IND_JUMP ||
		state->last_class == RVT_INSN_IND_JUMP_LINKED ||
		state->last_class == RVT_INSN_COROUTINE;
	if (!err && !others)
		err = do_transfer(transfers, hart, &transfer, state->next);
	return err ? err : state->crossed ? RVT_SLICE_DONE : 0;
}

/*
 * The line at hand ends with an event, which is the next slice's to tell if it is behind the end of
 * this one.
 */
static int break_line(struct rvt_transfers *transfers, struct rvt_hart_flow *hart)
{
	int err = end_line(transfers, hart);

	return err ? err : hart->left ? RVT_SLICE_DONE : 0;
}

static int take_runs(void *ctx, struct rvt_hart_flow *hart, const struct rvt_run *runs, size_t n)
{
	struct rvt_transfers *transfers = ctx;
	struct hart_state *state = rvt_transfers_hart(hart);
	uint64_t told = 0;

	if (!state)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		const struct rvt_block *block = runs[i].block;
		uint32_t last = runs[i].first + runs[i].count - 1, j = 0;
		uint64_t pc = block->pc;
		int err;

		hart->time = rvt_hart_time(hart, told);
		for (; j < runs[i].first; j++)
			pc += 2 * block->halfwords[j];
		err = arrive(transfers, hart, pc);
		if (err)
			return err;
		state->crossed = hart->left;
		if (!state->in_line) {
			state->in_line = true;
			state->line = (struct rvt_straight_line){ .first = pc,
								  .began = hart->time };
		}
		if (last + 1 == block->insns)
			pc = block->pc + block->bytes - 2 * block->halfwords[last];
		else
			for (; j < last; j++)
				pc += 2 * block->halfwords[j];
		state->line.insns += runs[i].count;
		told += runs[i].count;
		state->has_last = true;
		state->last = pc;
		state->next = pc + 2 * block->halfwords[last];
		state->last_class = last + 1 == block->insns ? block->iclass : RVT_INSN_SEQUENTIAL;
	}
	return 0;
}

static bool in_kernel(uint64_t pc)
{
	return (int64_t)pc < 0;
}

/*
 * Tracing stops while firmware runs. If it goes on in the kernel, and stopped in user code,
 * firmware handed an interrupt over, and the trap itself was never seen; so if it goes on where the
 * kernel handles traps: an interrupt came before firmware's caller went on. And if it stopped in
 * the kernel and goes on in user code, the trap has ended.
 */
static enum rvt_transfer_kind bridge_kind(const struct rvt_transfers *transfers,
				      const struct hart_state *state, uint64_t pc)
{
	if (!state->stopped || (in_kernel(state->stopped_at) == in_kernel(pc) &&
				pc != transfers->handler))
		return RVT_TRANSFER_START;
	return in_kernel(pc) ? RVT_TRANSFER_TRAP : RVT_TRANSFER_TRAP_RETURN;
}

static int bridge_stop(struct rvt_transfers *transfers, struct rvt_hart_flow *hart, uint64_t pc)
{
	static const char *const flags[] = {
		[RVT_TRANSFER_START] = "tr strt", [RVT_TRANSFER_TRAP] = "hw int",
		[RVT_TRANSFER_TRAP_RETURN] = "iret" };
	struct hart_state *state = hart->user;
	enum rvt_transfer_kind kind = bridge_kind(transfers, state, pc);
	const struct rvt_transfer transfer = { .kind = kind, .from = state->stopped_at, .to = pc,
					   .flags = flags[kind] };
	struct rvt_callstack *stack;
	size_t ended, depth;
	uint64_t from;
	int err;

	if (transfers->muted)
		return 0;
	err = find_stack(transfers, hart, &stack);
	if (err || !stack)
		return err;
	from = state->thread->stopped_at;
	state->thread->stopped_at = 0;
	depth = rvt_callstack_depth(stack);
	if (kind != RVT_TRANSFER_START)
		ended = update_stack(stack, &transfer, 0, &err);
	else if (state->lost)
		ended = rvt_callstack_gap(stack, pc);
	else
		ended = rvt_callstack_resume(stack, from, pc);
	state->lost = false;
	if (err || (kind == RVT_TRANSFER_START && !ended && rvt_callstack_depth(stack) == depth))
		return err;
	return transfers->ops.after && wants(transfers, hart) ?
		transfers->ops.after(transfers->ops.ctx, hart, &transfer, stack, ended) : 0;
}

/* Tracing goes on at @pc. @crossing: it only crossed a boundary. */
static int go_on(struct rvt_transfers *transfers, struct rvt_hart_flow *hart, uint64_t pc,
		 bool crossing)
{
	const struct rvt_step step = { .kind = RVT_STEP_WENT_ON, .to = pc, .crossing = crossing };
	struct hart_state *state = hart->user;
	int err = tell_step(transfers, hart, &step);

	if (!err && !crossing)
		err = bridge_stop(transfers, hart, pc);
	state->stopped = false;
	return err;
}

/* Tracing stopped before @pc (0: nobody knows where); @executed: something was, since it began. */
static void note_stop(struct hart_state *state, uint64_t pc, bool executed)
{
	state->stopped = pc;
	state->stopped_at = pc;
	if (state->thread && executed)
		state->thread->stopped_at = pc;
}

static void note_loss(struct hart_state *state)
{
	state->stopped = false;
	state->lost = true;
	if (state->thread)
		state->thread->stopped_at = 0;
}

static void note_handler(struct rvt_transfers *transfers, uint64_t handler)
{
	if (in_kernel(handler))
		transfers->handler = handler;
}

static int take_trap(struct rvt_transfers *transfers, struct rvt_hart_flow *hart,
		     const struct rvt_event *event)
{
	struct hart_state *state = hart->user;
	struct rvt_transfer transfer = { .kind = RVT_TRANSFER_TRAP, .from = event->pc,
					 .to = event->target,
					 .flags = event->interrupt ? "hw int" : "int",
					 .event = event };
	int err = arrive(transfers, hart, event->pc);

	if (!err)
		err = break_line(transfers, hart);
	state->has_last = false;
	note_handler(transfers, event->target);
	if (!event->interrupt && event->cause_valid && event->cause >= CAUSE_ECALL_FIRST &&
	    event->cause <= CAUSE_ECALL_LAST)
		transfer.flags = "syscall";
	return err ? err : do_transfer(transfers, hart, &transfer, 0);
}

/* Where it stopped is told with the line before: only that knows what ran last. */
static int take_stop(struct rvt_transfers *transfers, struct rvt_hart_flow *hart,
		     const struct rvt_event *event)
{
	struct hart_state *state = hart->user;
	/* where a trap return goes, nothing but what runs there tells */
	bool left = state->has_last && state->last_class == RVT_INSN_TRAP_RETURN &&
		(!event->pc || event->pc == state->next);
	uint64_t pc = left ? 0 : event->pc;
	struct rvt_transfer transfer = { .kind = RVT_TRANSFER_STOP, .from = state->last, .to = pc,
				     .flags = "tr end",
				     .indirect = left && in_kernel(state->last) &&
						 !event->crossing };
	/* the last instruction may have gone elsewhere, though nothing ran there */
	int err = pc ? arrive(transfers, hart, pc) : 0;
	bool others = state->others;

	if (!err)
		err = end_line(transfers, hart);
	if (!err && state->has_last && !others)
		err = do_transfer(transfers, hart, &transfer, 0);
	if (!event->crossing) {
		const struct rvt_step step = { .kind = RVT_STEP_STOPPED, .to = pc,
					       .executed = state->has_last };

		note_stop(state, pc, state->has_last);
		if (!err)
			err = tell_step(transfers, hart, &step);
	}
	state->has_last = false;
	return err ? err : hart->left ? RVT_SLICE_DONE : 0;
}

static int take_event(void *ctx, struct rvt_hart_flow *hart, const struct rvt_event *event)
{
	struct rvt_transfers *transfers = ctx;
	struct hart_state *state = rvt_transfers_hart(hart);
	struct rvt_transfer transfer = { .kind = RVT_TRANSFER_START, .flags = "tr strt",
					 .to = event->pc };
	int err = 0;

	if (!state)
		return -ENOMEM;
	switch (event->type) {
	case RVT_EVENT_TRAP:
		err = take_trap(transfers, hart, event);
		break;
	case RVT_EVENT_START:
		err = break_line(transfers, hart);
		state->has_last = false;
		if (!err)
			err = do_transfer(transfers, hart, &transfer, 0);
		if (!err)
			err = go_on(transfers, hart, event->pc, event->crossing);
		break;
	case RVT_EVENT_STOP:
		err = take_stop(transfers, hart, event);
		break;
	case RVT_EVENT_MARK:
		if (event->pc && !event->own_pc) {
			err = arrive(transfers, hart, event->pc);
			/* where the flow goes on has been told */
			state->next = event->pc;
			state->last_class = RVT_INSN_SEQUENTIAL;
		}
		if (!err)
			err = break_line(transfers, hart);
		break;
	case RVT_EVENT_LOST:
		err = break_line(transfers, hart);
		state->has_last = false;
		note_loss(state);
		if (!err)
			err = tell_step(transfers, hart,
					&(struct rvt_step){ .kind = RVT_STEP_LOST });
		break;
	default:
		break;
	}
	if (!err && transfers->ops.event && !transfers->muted)
		err = transfers->ops.event(transfers->ops.ctx, hart, event);
	return err;
}

/* ---- steps ---- */

void rvt_transfers_tell_steps(struct rvt_transfers *transfers,
			      int (*steps)(void *ctx, struct rvt_hart_flow *hart,
					   const struct rvt_step *step), void *ctx)
{
	transfers->steps = steps;
	transfers->steps_ctx = ctx;
}

static int take_transfer(struct rvt_transfers *transfers, struct rvt_hart_flow *hart,
			 const struct rvt_step *step)
{
	const struct rvt_transfer transfer = { .kind = step->transfer, .from = step->from,
					       .to = step->to, .indirect = step->indirect };

	if (step->transfer == RVT_TRANSFER_TRAP)
		note_handler(transfers, step->to);
	return do_transfer(transfers, hart, &transfer, step->back);
}

int rvt_transfers_take_step(struct rvt_transfers *transfers, struct rvt_hart_flow *hart,
			    const struct rvt_step *step)
{
	struct hart_state *state = rvt_transfers_hart(hart);

	if (!state)
		return -ENOMEM;
	switch (step->kind) {
	case RVT_STEP_TRANSFER:
		return take_transfer(transfers, hart, step);
	case RVT_STEP_WENT_ON:
		return go_on(transfers, hart, step->to, step->crossing);
	case RVT_STEP_STOPPED:
		note_stop(state, step->to, step->executed);
		return 0;
	case RVT_STEP_LOST:
		note_loss(state);
		return 0;
	}
	return -EINVAL;
}

int rvt_transfers_stack(struct rvt_transfers *transfers, struct rvt_hart_flow *hart,
			struct rvt_callstack **stack)
{
	return rvt_transfers_hart(hart) ? find_stack(transfers, hart, stack) : -ENOMEM;
}

static void take_end(void *ctx, struct rvt_hart_flow *hart)
{
	if (hart->user)
		end_line(ctx, hart);
	free(hart->user);
	hart->user = NULL;
}

struct rvt_transfers *rvt_transfers_create(const struct rvt_transfers_ops *ops,
					   struct rvt_symbols *symbols, size_t max_depth)
{
	struct rvt_transfers *transfers = calloc(1, sizeof(*transfers));

	if (!transfers)
		return NULL;
	transfers->max_depth = max_depth;
	if (sized_copy(&transfers->ops, sizeof(transfers->ops), ops))
		goto fail;
	if (symbols && max_depth) {
		transfers->unwind = rvt_unwind_create(symbols);
		if (!transfers->unwind)
			goto fail;
	}
	return transfers;
fail:
	free(transfers);
	return NULL;
}

static void destroy_thread(void *data)
{
	struct thread_stack *thread = data;

	rvt_callstack_destroy(thread->stack);
	free(thread);
}

void rvt_transfers_destroy(struct rvt_transfers *transfers)
{
	if (!transfers)
		return;
	tdestroy(transfers->processes, free);
	tdestroy(transfers->threads, destroy_thread);
	rvt_unwind_destroy(transfers->unwind);
	free(transfers);
}

void rvt_transfers_sink(struct rvt_transfers *transfers, struct rvt_session_sink *sink)
{
	sink->ctx = transfers;
	sink->runs = take_runs;
	sink->event = take_event;
	sink->end = take_end;
}

void rvt_transfers_mute(struct rvt_transfers *transfers, bool muted)
{
	transfers->muted = muted;
}

static void add_cuts(const void *node, VISIT which, void *closure)
{
	const struct thread_stack *thread = *(const struct thread_stack *const *)node;

	if (which == postorder || which == leaf)
		*(uint64_t *)closure += rvt_callstack_cuts(thread->stack);
}

uint64_t rvt_transfers_cuts(const struct rvt_transfers *transfers)
{
	uint64_t cuts = 0;

	twalk_r(transfers->threads, add_cuts, &cuts);
	return cuts;
}
