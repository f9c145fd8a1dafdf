// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <stdlib.h>
#include <string.h>
#include "stack.h"
#include "util/sized.h"

/* of an instruction that traps and is not executed again: ecall, ebreak, c.ebreak */
#define MAX_TRAPPED_BYTES 4

/* Linux has the upper half of the addresses for itself. */
static bool in_kernel(uint64_t pc)
{
	return (int64_t)pc < 0;
}

/* ---- what the code says ---- */

struct function {
	uint64_t start, end;
};

static bool find_function(const struct rvt_callstack *stack, uint64_t pc, struct function *function)
{
	const struct rvt_callstack_code *code = &stack->code;

	return code->function &&
		code->function(code->ctx, pc, &function->start, &function->end);
}

static bool has(const struct function *function, uint64_t pc)
{
	return pc >= function->start && pc < function->end;
}

static bool begins_function(const struct rvt_callstack *stack, uint64_t pc)
{
	struct function function;

	return find_function(stack, pc, &function) && function.start == pc;
}

/* ---- frames ---- */

struct rvt_callstack *rvt_callstack_create(size_t max_depth, const struct rvt_callstack_code *code)
{
	struct rvt_callstack *stack = calloc(1, sizeof(*stack));

	if (!stack)
		return NULL;
	stack->max_depth = max_depth ? max_depth : 1;
	if (sized_copy(&stack->code, sizeof(stack->code), code)) {
		free(stack);
		return NULL;
	}
	return stack;
}

struct rvt_callstack *rvt_callstack_clone(const struct rvt_callstack *stack)
{
	struct rvt_callstack *clone = malloc(sizeof(*clone));

	if (!clone)
		return NULL;
	*clone = *stack;
	clone->n_kept = 0;
	clone->taken = 0;
	clone->room = stack->depth;
	clone->frames = rvt_callstack_copy_frames(stack->frames, stack->depth);
	while (clone->frames && clone->n_kept < stack->n_kept) {
		const struct kept_frames *kept = &stack->kept[clone->n_kept];
		struct rvt_frame *frames = rvt_callstack_copy_frames(kept->frames, kept->n);

		if (!frames)
			break;
		clone->kept[clone->n_kept++] = (struct kept_frames){ frames, kept->n };
	}
	if (rvt_callstack_copy_left(clone, stack) && clone->frames &&
	    clone->n_kept == stack->n_kept)
		return clone;
	rvt_callstack_destroy(clone);
	return NULL;
}

void rvt_callstack_destroy(struct rvt_callstack *stack)
{
	if (!stack)
		return;
	rvt_callstack_forget_kept(stack);
	rvt_callstack_unshare(stack);
	free(stack->frames);
	free(stack);
}

int rvt_callstack_call(struct rvt_callstack *stack, uint64_t from, uint64_t back, uint64_t to)
{
	return rvt_callstack_push(stack, &(struct rvt_frame){ .from = from, .back = back,
							      .to = to });
}

int rvt_callstack_trap(struct rvt_callstack *stack, uint64_t epc, uint64_t handler)
{
	return rvt_callstack_push(stack, &(struct rvt_frame){ .from = epc, .back = epc,
							      .to = handler, .trap = true });
}

static struct seen_return *seen_set(struct rvt_callstack *stack, uint64_t to)
{
	return stack->seen[rvt_callstack_return_set(to)];
}

/*
 * In place of what was seen there before, or of a frame that has ended, or of the innermost: an
 * interrupt returns hundreds of times, and must not make forgotten what it interrupted.
 */
void rvt_callstack_note_return(struct rvt_callstack *stack, uint64_t to, size_t depth)
{
	struct seen_return *set = seen_set(stack, to), *victim = set;

	for (struct seen_return *s = set; s < set + SEEN_WAYS; s++) {
		if (s->to == to || !s->to || s->life != stack->life) {
			victim = s;
			break;
		}
		if (s->depth > victim->depth)
			victim = s;
	}
	*victim = (struct seen_return){ to, stack->life, depth };
}

static size_t unwind_to(struct rvt_callstack *stack, size_t depth)
{
	size_t ended = stack->depth - depth;

	while (stack->depth > depth)
		--*rvt_callstack_backs(stack, stack->frames[--stack->depth].back);
	if (stack->taken > depth)
		stack->taken = depth;
	return ended;
}

/* ---- who is returned to: each finds the number of frames up to and with it; 0: none ---- */

/*
 * A handler does not return into what it interrupted; but who returns within the program has left
 * the kernel, unseen.
 */
static bool is_barrier(const struct rvt_frame *frame, uint64_t to)
{
	return frame->trap && !(in_kernel(frame->to) && !in_kernel(to));
}

static size_t find_call(struct rvt_callstack *stack, uint64_t to)
{
	if (!*rvt_callstack_backs(stack, to))
		return 0;
	for (size_t n = stack->depth; n && !is_barrier(&stack->frames[n - 1], to); n--) {
		const struct rvt_frame *frame = &stack->frames[n - 1];

		if (frame->back == to && !frame->trap && !frame->signal && !frame->cut)
			return n;
	}
	return 0;
}

/* The innermost call out of which an exception goes on at @to. */
static size_t find_landing(const struct rvt_callstack *stack, uint64_t to)
{
	const struct rvt_callstack_code *code = &stack->code;

	if (!code->landing_pad || in_kernel(to))
		return 0;
	for (size_t n = stack->depth; n && !is_barrier(&stack->frames[n - 1], to); n--) {
		const struct rvt_frame *frame = &stack->frames[n - 1];

		if (!frame->trap && !frame->cut &&
		    code->landing_pad(code->ctx, frame->from) == to)
			return n;
	}
	return 0;
}

/* Where something has returned before, with nothing but calls since: a long jump. */
static bool find_seen(struct rvt_callstack *stack, uint64_t to, size_t *depth)
{
	const struct seen_return *seen = seen_set(stack, to);
	const struct seen_return *end = seen + SEEN_WAYS;

	while (seen < end && (seen->to != to || seen->life != stack->life))
		seen++;
	if (!to || seen == end || seen->depth >= stack->depth)
		return false;
	for (size_t n = seen->depth; n < stack->depth; n++)
		if (stack->frames[n].trap)
			return false;
	*depth = seen->depth;
	return true;
}

/* Frames below these are of another stack, or another program. */
static size_t find_base(const struct rvt_callstack *stack)
{
	size_t n = stack->depth;

	while (n && !stack->frames[n - 1].trap && !stack->frames[n - 1].other_stack)
		n--;
	return n;
}

/* The innermost call that @function made. */
static size_t find_caller(const struct rvt_callstack *stack, const struct function *function)
{
	size_t base = find_base(stack), n = stack->depth;

	while (n > base && (stack->frames[n - 1].cut ||
			    !has(function, stack->frames[n - 1].from)))
		n--;
	return n > base ? n : 0;
}

/* ---- what ends ---- */

/* Without memory the cut has no mark. */
static void mark_cut(struct rvt_callstack *stack, uint64_t pc)
{
	rvt_callstack_push(stack, &(struct rvt_frame){ .from = pc, .to = pc, .cut = true });
	stack->returns.n = 0;
}

/*
 * Nobody who is known to have called something is returned to: @to is in a function that is not
 * known to run. Callers are not known from here on.
 */
static size_t cut(struct rvt_callstack *stack, uint64_t to)
{
	size_t base = find_base(stack), ended;

	if (in_kernel(to) || stack->depth == base ||
	    (stack->depth == base + 1 && stack->frames[base].cut))
		return 0;
	ended = unwind_to(stack, base);
	stack->cuts++;
	mark_cut(stack, to);
	if (stack->stacks)
		stack->returns = (struct seen_returns){ .to = { to }, .n = 1 };
	return ended;
}

/*
 * A return to @to that no call explains. To the beginning of a function nobody returns: it is
 * entered so, as the code is that a signal handler returns to.
 */
static size_t return_by_function(struct rvt_callstack *stack, uint64_t to)
{
	const struct rvt_frame *top = stack->depth ? &stack->frames[stack->depth - 1] : NULL;
	struct function function;
	size_t n;

	if (!top || !find_function(stack, to, &function) || to == function.start)
		return 0;
	n = find_caller(stack, &function);
	if (n)
		return unwind_to(stack, n - 1);
	return has(&function, top->to) ? 0 : cut(stack, to);
}

/* Ends call number @n - 1; what it has called may go on later if that has a stack of its own. */
static size_t end_call(struct rvt_callstack *stack, size_t n, uint64_t to)
{
	size_t before = stack->depth;
	bool trap = false;

	for (size_t i = n; i < stack->depth; i++)
		trap |= stack->frames[i].trap;
	if (!trap && n < stack->depth && !stack->stacks)
		rvt_callstack_keep(stack, n);
	unwind_to(stack, n - 1);
	rvt_callstack_note_return(stack, to, stack->depth);
	return before - stack->depth;
}

/* The innermost call, which returns without saying to where. */
static size_t return_diverted(struct rvt_callstack *stack)
{
	const struct rvt_frame *top = stack->depth ? &stack->frames[stack->depth - 1] : NULL;

	return top && !top->trap && !top->cut ? end_call(stack, stack->depth, top->back) : 0;
}

/* The innermost frame returns to nobody who has called: if it is a signal handler, it has ended. */
static void note_handler_end(struct rvt_callstack *stack)
{
	if (stack->depth && stack->frames[stack->depth - 1].signal)
		stack->handler_ended = stack->depth;
}

/*
 * Whether the innermost of the @n outermost frames is a signal handler, which has ended: what the
 * kernel goes to next is what the handler has put in place of what it interrupted.
 */
static bool has_handler_ended(const struct rvt_callstack *stack, size_t n)
{
	return n && stack->handler_ended == n && stack->frames[n - 1].signal;
}

static void replace_handler(struct rvt_callstack *stack, size_t n, uint64_t pc)
{
	stack->frames[n - 1].to = pc;
	stack->handler_ended = 0;
}

/* An exception may go on behind a call that never returns. */
static bool is_landing(const struct rvt_callstack *stack, uint64_t to)
{
	const struct rvt_callstack_code *code = &stack->code;

	return code->is_landing_pad && !in_kernel(to) && code->is_landing_pad(code->ctx, to);
}

/* ---- other stacks ---- */

static bool has_trap(const struct rvt_callstack *stack)
{
	size_t n = stack->depth;

	while (n && !stack->frames[n - 1].trap)
		n--;
	return n;
}

/* The flow goes on at @to, on a stack that has waited. */
static size_t change_stack(struct rvt_callstack *stack, uint64_t to)
{
	const struct seen_returns returns = { .to = { to }, .n = 1 };
	size_t ended = rvt_callstack_leave(stack);

	if (!rvt_callstack_go_on(stack, &returns)) {
		stack->cuts++;
		mark_cut(stack, to);
		stack->returns = returns;
	}
	return ended;
}

/* @n: of the call that it may be a return from; 0: of none. */
static bool changes_stack(const struct rvt_callstack *stack, size_t n, uint64_t to)
{
	return stack->stacks && !in_kernel(to) && (!n || n < stack->depth) && !has_trap(stack) &&
		rvt_callstack_others_wait(stack, n, to);
}

/*
 * To the beginning of a function a program "returns" if it has made up a stack for it, as Go has
 * for a goroutine. But the code that a signal handler returns to is entered so, too.
 */
static bool begins_stack(const struct rvt_callstack *stack, uint64_t to)
{
	return stack->depth && !in_kernel(to) && !stack->frames[stack->depth - 1].signal &&
		!has_trap(stack) && begins_function(stack, to);
}

/* What has returned now tells more of the stack whose callers are looked for. */
static size_t look_for_callers(struct rvt_callstack *stack, uint64_t to)
{
	struct seen_returns returns = stack->returns;

	if (returns.n == MAX_RETURNS) {
		stack->returns.n = 0;
		return 0;
	}
	returns.to[returns.n++] = to;
	unwind_to(stack, 0);
	if (rvt_callstack_go_on(stack, &returns)) {
		stack->cuts--;
		return 1;
	}
	mark_cut(stack, to);
	stack->returns = returns;
	return 1;
}

/* The same of a jump, which is a return if that is how a signal handler ends. */
static size_t look_for_interrupted(struct rvt_callstack *stack, uint64_t to)
{
	struct seen_returns returns = stack->returns;

	if (returns.n == MAX_RETURNS)
		return 0;
	returns.to[returns.n++] = to;
	return rvt_callstack_waits(stack, &returns) ? look_for_callers(stack, to) : 0;
}

static bool are_callers_looked_for(const struct rvt_callstack *stack)
{
	return stack->depth == 1 && stack->frames[0].cut && stack->returns.n;
}

/* A handler has changed where the program goes on, and that has ended, too. */
static bool ends_signal(const struct rvt_callstack *stack, uint64_t to)
{
	const struct rvt_frame *top = stack->depth ? &stack->frames[stack->depth - 1] : NULL;

	return top && top->signal && top->back == to;
}

size_t rvt_callstack_return(struct rvt_callstack *stack, uint64_t to)
{
	size_t n = find_call(stack, to), landing = 0, depth;

	if (n && is_landing(stack, to))
		landing = find_landing(stack, to);
	if (landing)
		return unwind_to(stack, landing - 1);
	if (n > stack->taken && !changes_stack(stack, n, to))
		return end_call(stack, n, to);
	if (stack->code.diverted && stack->code.diverted(stack->code.ctx, to))
		return return_diverted(stack);
	if (ends_signal(stack, to))
		return unwind_to(stack, stack->depth - 1);
	if (are_callers_looked_for(stack))
		return look_for_callers(stack, to);
	n = find_landing(stack, to);
	if (n)
		return unwind_to(stack, n - 1);
	if (rvt_callstack_restore(stack, to))
		return 0;
	if (changes_stack(stack, 0, to))
		return change_stack(stack, to);
	if (find_seen(stack, to, &depth))
		return unwind_to(stack, depth);
	if (begins_stack(stack, to))
		return rvt_callstack_leave(stack);
	note_handler_end(stack);
	return return_by_function(stack, to);
}

size_t rvt_callstack_jump(struct rvt_callstack *stack, uint64_t from, uint64_t to)
{
	struct function function;
	size_t n, depth;
	bool known;

	if (in_kernel(to))
		return 0;
	known = find_function(stack, to, &function);
	if (known && has(&function, from))
		return 0;
	if (ends_signal(stack, to))
		return unwind_to(stack, stack->depth - 1);
	if (are_callers_looked_for(stack))
		return look_for_interrupted(stack, to);
	if (!stack->depth || !known || to == function.start)
		return 0;
	n = find_call(stack, to);
	if (n > stack->taken && !changes_stack(stack, n, to))
		return end_call(stack, n, to);
	if (rvt_callstack_restore(stack, to))
		return 0;
	if (changes_stack(stack, 0, to))
		return change_stack(stack, to);
	if (find_seen(stack, to, &depth))
		return unwind_to(stack, depth);
	stack->frames[stack->depth - 1].other_stack = true;
	return 0;
}

/* ---- traps ---- */

/*
 * Whether what was interrupted at @epc goes on at @pc; after ecall and ebreak that is behind them.
 */
static bool goes_on(uint64_t epc, uint64_t pc)
{
	return pc - epc <= MAX_TRAPPED_BYTES;
}

/* The innermost trap that came from @to; of ecall and ebreak the next instruction. 0: none. */
static size_t find_trap_from(const struct rvt_callstack *stack, uint64_t to)
{
	size_t n = stack->depth;

	while (n && !(stack->frames[n - 1].trap && goes_on(stack->frames[n - 1].back, to)))
		n--;
	return n;
}

/*
 * The innermost trap, if it may end by a return to @to although it came from elsewhere: by a table
 * of fixups, say. Who goes on in the kernel does not end a trap from the program. 0: none.
 */
static size_t find_trap_like(const struct rvt_callstack *stack, uint64_t to)
{
	size_t n = stack->depth;

	while (n && !stack->frames[n - 1].trap)
		n--;
	return n && in_kernel(stack->frames[n - 1].back) == in_kernel(to) ? n : 0;
}

/* The signal handler that interrupted the program at @pc, among the @n outermost. 0: none. */
static size_t find_signal(const struct rvt_callstack *stack, size_t n, uint64_t pc)
{
	while (n && !(stack->frames[n - 1].signal && goes_on(stack->frames[n - 1].back, pc)))
		n--;
	return n;
}

/*
 * The kernel, which trap number @n entered, goes to @pc in the program: to what it interrupted, or
 * to a signal handler, or from that back.
 */
static size_t leave_kernel(struct rvt_callstack *stack, size_t n, uint64_t pc)
{
	struct rvt_frame *trap = &stack->frames[n];
	size_t signal;

	if (goes_on(trap->back, pc))
		return unwind_to(stack, n);
	signal = find_signal(stack, n, pc);
	if (signal)
		return unwind_to(stack, signal - 1);
	if (!begins_function(stack, pc))
		return unwind_to(stack, n);
	if (has_handler_ended(stack, n)) {
		replace_handler(stack, n, pc);
		return unwind_to(stack, n);
	}
	stack->handler_ended = 0;
	trap->trap = false;
	trap->signal = true;
	trap->to = pc;
	return unwind_to(stack, n + 1);
}

/* As leave_kernel(), where the kernel is not traced: it was entered at @from (0: not known). */
static size_t pass_kernel(struct rvt_callstack *stack, uint64_t from, uint64_t pc)
{
	size_t signal;

	if (!from || goes_on(from, pc))
		return 0;
	signal = find_signal(stack, stack->depth, pc);
	if (signal)
		return unwind_to(stack, signal - 1);
	if (!begins_function(stack, pc))
		return 0;
	if (has_handler_ended(stack, stack->depth)) {
		replace_handler(stack, stack->depth, pc);
		return 0;
	}
	stack->handler_ended = 0;
	rvt_callstack_push(stack, &(struct rvt_frame){ .from = from, .back = from, .to = pc,
						       .signal = true });
	return 0;
}

/* The number of the outermost trap into the kernel; the depth: there is none. */
static size_t find_kernel(const struct rvt_callstack *stack)
{
	size_t n = 0;

	while (n < stack->depth && !(stack->frames[n].trap && in_kernel(stack->frames[n].to)))
		n++;
	return n;
}

static size_t go_on_in_program(struct rvt_callstack *stack, uint64_t from, uint64_t pc)
{
	size_t n = find_kernel(stack);

	if (n < stack->depth)
		return leave_kernel(stack, n, pc);
	/* not even the trap was seen */
	while (n && in_kernel(stack->frames[n - 1].from))
		n--;
	return n < stack->depth ? unwind_to(stack, n) : pass_kernel(stack, from, pc);
}

size_t rvt_callstack_trap_return(struct rvt_callstack *stack, uint64_t to)
{
	bool left = !in_kernel(to) && find_kernel(stack) < stack->depth;
	size_t ended = in_kernel(to) ? 0 : go_on_in_program(stack, 0, to), n;

	if (ended || left)
		return ended;
	n = find_trap_from(stack, to);
	if (!n)
		n = find_trap_like(stack, to);
	return n ? unwind_to(stack, n - 1) : 0;
}

size_t rvt_callstack_resume(struct rvt_callstack *stack, uint64_t from, uint64_t pc)
{
	return in_kernel(pc) ? 0 : go_on_in_program(stack, from, pc);
}

size_t rvt_callstack_gap(struct rvt_callstack *stack, uint64_t pc)
{
	size_t ended = rvt_callstack_resume(stack, 0, pc), n;
	const struct rvt_frame *top = stack->depth ? &stack->frames[stack->depth - 1] : NULL;
	struct function function;

	if (!top || top->cut || top->trap || !find_function(stack, pc, &function) ||
	    has(&function, top->to))
		return ended;
	n = find_caller(stack, &function);
	if (!n) {
		mark_cut(stack, pc);
		return ended;
	}
	stack->cuts++;
	return ended + unwind_to(stack, n - 1);
}

void rvt_callstack_clear(struct rvt_callstack *stack)
{
	rvt_callstack_forget_kept(stack);
	unwind_to(stack, 0);
	memset(stack->seen, 0, sizeof(stack->seen));
	stack->handler_ended = 0;
}

size_t rvt_callstack_depth(const struct rvt_callstack *stack)
{
	return stack->depth;
}

uint64_t rvt_callstack_cuts(const struct rvt_callstack *stack)
{
	return stack->cuts;
}

struct rvt_frame *rvt_callstack_frame(struct rvt_callstack *stack, size_t n)
{
	return n < stack->depth ? &stack->frames[stack->depth - 1 - n] : NULL;
}
