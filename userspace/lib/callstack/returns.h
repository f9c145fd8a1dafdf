/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Inside this project: calls that have returned. A stack remembers where something has returned to,
 * for longjmp() goes there, and nothing else of a call that has returned to its caller. Who tells
 * no stack of such calls tells it of these returns.
 */
#ifndef CALLSTACK_RETURNS_H
#define CALLSTACK_RETURNS_H

#include <rvtrace/callstack.h>

#define RVT_CALLSTACK_RETURN_SETS 128

/*
 * The set that a return to @to is remembered in; sets know nothing of each other. Of returns to one
 * address, with none to others of its set between, only the last one counts.
 */
static inline unsigned int rvt_callstack_return_set(uint64_t to)
{
	return (to >> 1) % RVT_CALLSTACK_RETURN_SETS;
}

/* A call has returned to @to, and left @depth frames. */
void rvt_callstack_note_return(struct rvt_callstack *stack, uint64_t to, size_t depth);

#endif
