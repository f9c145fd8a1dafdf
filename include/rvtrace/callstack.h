/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The call stack of one thread, rebuilt from its flow.
 *
 * A return is matched with the call that it belongs to. Where a function is left in another way the
 * code decides (struct rvt_callstack_code): an exception ends the frames up to the call whose
 * landing pad the flow goes to; what returns into a function ends what that function has called.
 * longjmp() goes where setjmp() returned to. A switch of stacks (swapcontext(), coroutines) is a
 * jump or return to where a call would return to: the frames that it leaves are kept, and are there
 * again when the flow comes back to them. A return to the beginning of a function, as goroutines
 * begin, leaves the whole stack until something returns to it again; which one that is, where
 * several wait in the same place, further returns decide. Tail calls need no frame. A trap return
 * ends whatever the handler had called; if it enters a signal handler, the handler is called by
 * what the trap interrupted, until that goes on.
 *
 * What the flow contradicts, and no code explains, is cut off: a frame with .cut takes the place of
 * the callers that are not known. A gap in the trace cuts nothing by itself.
 *
 * Threads: one at a time calls for a stack, and @code is asked in that thread. Stacks know nothing
 * of each other, unless they ask the same code.
 */
#ifndef RVTRACE_CALLSTACK_H
#define RVTRACE_CALLSTACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <rvtrace/linkage.h>

RVT_BEGIN_DECLS

struct rvt_callstack;

struct rvt_frame {
	uint64_t from;		/* the call, or the instruction that trapped */
	uint64_t back;		/* where the callee returns to; 0: not known */
	uint64_t to;		/* where it began */
	uint64_t tag;		/* the caller's own */
	bool trap;
	bool signal;		/* a signal handler, at .to, that interrupted .from */
	bool cut;		/* no call: who called .to, or what began before, is not known */
	bool other_stack;	/* what it called runs on another stack */
};

/*
 * What is known of the code that runs. .is_landing_pad is asked for each return, the others only
 * where returns do not match calls, and for indirect jumps. Every member but .size may be NULL.
 */
struct rvt_callstack_code {
	size_t size;		/* sizeof(struct rvt_callstack_code): the struct may grow */
	void *ctx;
	/* Sets the addresses of the function that has @pc. False: not known. */
	bool (*function)(void *ctx, uint64_t pc, uint64_t *start, uint64_t *end);
	/* Where an exception that comes out of the call at @from goes on; 0: not here. */
	uint64_t (*landing_pad)(void *ctx, uint64_t from);
	/*
	 * Whether a probe has functions return to @pc, from where the kernel goes to the caller
	 * (Linux' uretprobes).
	 */
	bool (*diverted)(void *ctx, uint64_t pc);
	/*
	 * Whether exceptions that come out of some call go on at @pc. Nothing returns there, but it
	 * may lie behind a call that never returns.
	 */
	bool (*is_landing_pad)(void *ctx, uint64_t pc);
};

/*
 * rvt_callstack_create - at most @max_depth frames; deeper stacks are cut off at their outermost.
 * @code is copied; what its .ctx points to must outlive the stack. @code NULL: nothing is known.
 * Returns NULL when out of memory, or when @code does not say its size.
 */
struct rvt_callstack *rvt_callstack_create(size_t max_depth, const struct rvt_callstack_code *code);
/*
 * rvt_callstack_clone - another stack with what @stack has now; it asks the same code. To come back
 * to a place in the flow without all that leads there. NULL: out of memory.
 */
struct rvt_callstack *rvt_callstack_clone(const struct rvt_callstack *stack);
/* @stack may be NULL. */
void rvt_callstack_destroy(struct rvt_callstack *stack);
/* Each returns 0 or -ENOMEM. */
int rvt_callstack_call(struct rvt_callstack *stack, uint64_t from, uint64_t back, uint64_t to);
int rvt_callstack_trap(struct rvt_callstack *stack, uint64_t epc, uint64_t handler);
/*
 * What follows returns how many frames it ended. Frames that come back or mark a cut are above
 * those that are left.
 *
 * rvt_callstack_return - a return to @to: 0 when it belongs to no call seen.
 * rvt_callstack_jump - an indirect jump from @from to @to: ends frames if it changes stacks.
 * rvt_callstack_trap_return - sret, mret to @to: ends the trap that came from there, with all that
 * its handler has called, or else the innermost that it may be. When the trap was not seen, the
 * kernel's frames go if @to is the program's, and nothing if it is the kernel's (the upper half of
 * the addresses).
 * rvt_callstack_resume - tracing had stopped before @from, and goes on at @pc: if that is the
 * program's, traps into the kernel have ended.
 * rvt_callstack_gap - flow was lost, and goes on at @pc: as rvt_callstack_resume(); frames stay as
 * far as the function at @pc does not contradict them.
 */
size_t rvt_callstack_return(struct rvt_callstack *stack, uint64_t to);
size_t rvt_callstack_jump(struct rvt_callstack *stack, uint64_t from, uint64_t to);
size_t rvt_callstack_trap_return(struct rvt_callstack *stack, uint64_t to);
size_t rvt_callstack_resume(struct rvt_callstack *stack, uint64_t from, uint64_t pc);
size_t rvt_callstack_gap(struct rvt_callstack *stack, uint64_t pc);
/* Forgets everything but the number of cuts. */
void rvt_callstack_clear(struct rvt_callstack *stack);
size_t rvt_callstack_depth(const struct rvt_callstack *stack);
/* How often frames were cut off. */
uint64_t rvt_callstack_cuts(const struct rvt_callstack *stack);
/* @n = 0 is the innermost. NULL: there are not that many. Valid until the next change. */
struct rvt_frame *rvt_callstack_frame(struct rvt_callstack *stack, size_t n);

/* ---- the code of a recording's files ---- */

struct rvt_space;
struct rvt_symbols;
struct rvt_unwind;

/*
 * Asks @symbols, which must outlive it. NULL: out of memory. One thread at a time may use it and
 * all stacks that ask it (rvtrace/symbol.h).
 */
struct rvt_unwind *rvt_unwind_create(struct rvt_symbols *symbols);
/* @unwind may be NULL. Before that: the stacks that ask it. */
void rvt_unwind_destroy(struct rvt_unwind *unwind);
/* What addresses mean from now on; may be NULL. */
void rvt_unwind_set_space(struct rvt_unwind *unwind, struct rvt_space *space);
/* For rvt_callstack_create(). As long as @unwind is. */
const struct rvt_callstack_code *rvt_unwind_code(const struct rvt_unwind *unwind);

RVT_END_DECLS

#endif
