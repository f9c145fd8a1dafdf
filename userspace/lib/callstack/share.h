/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Inside the library: call stacks of the threads of one process, which change stacks. */
#ifndef CALLSTACK_SHARE_H
#define CALLSTACK_SHARE_H

#include <rvtrace/callstack.h>

/*
 * rvt_callstack_share - @stack, a new one, is that of another thread of the process that @with is
 * of: what one of them leaves the other may go on with. One thread at a time calls for all of them.
 * Without memory nothing is shared.
 */
void rvt_callstack_share(struct rvt_callstack *stack, struct rvt_callstack *with);
/* The process runs another program: no stack waits any more. */
void rvt_callstack_forget_left(struct rvt_callstack *stack);

#endif
