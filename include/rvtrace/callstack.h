/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The call stack of one thread, rebuilt from its flow. It survives what real programs do: a return
 * is matched with the call that it belongs to, so that frames which exceptions or a gap in the
 * trace left behind go away; longjmp is known by going where setjmp returned to; tail calls need
 * no frame; a trap return ends whatever the handler had called, and what it interrupted stays, even
 * if the trap was not seen.
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
	uint64_t back;		/* where the callee returns to */
	uint64_t to;		/* where it began */
	uint64_t tag;		/* the caller's own */
	bool trap;
};

/* At most @max_depth frames; of deeper stacks the outermost are forgotten. NULL: out of memory. */
struct rvt_callstack *rvt_callstack_create(size_t max_depth);
void rvt_callstack_destroy(struct rvt_callstack *stack);
/* Each returns 0 or -ENOMEM. */
int rvt_callstack_call(struct rvt_callstack *stack, uint64_t from, uint64_t back, uint64_t to);
int rvt_callstack_trap(struct rvt_callstack *stack, uint64_t epc, uint64_t handler);
/* A return to @to. Returns how many frames it ended: 0 when it belongs to no call seen. */
size_t rvt_callstack_return(struct rvt_callstack *stack, uint64_t to);
/*
 * rvt_callstack_trap_return - sret, mret to @to: ends the trap that came from there, with all that
 * its handler has called, or else the innermost that it may be. When the trap was not seen, the
 * kernel's frames go if @to is the program's, and nothing if it is the kernel's (the upper half of
 * the addresses).
 * rvt_callstack_resume - the flow goes on at @pc, and what was before that is not known: if that is
 * the program, traps into the kernel have ended.
 * Both return how many frames they ended.
 */
size_t rvt_callstack_trap_return(struct rvt_callstack *stack, uint64_t to);
size_t rvt_callstack_resume(struct rvt_callstack *stack, uint64_t pc);
void rvt_callstack_clear(struct rvt_callstack *stack);
size_t rvt_callstack_depth(const struct rvt_callstack *stack);
/* @n = 0 is the innermost. NULL: there are not that many. Valid until the next change. */
struct rvt_frame *rvt_callstack_frame(struct rvt_callstack *stack, size_t n);

RVT_END_DECLS

#endif
