/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Inside the library: call stacks of the threads of one process, which change stacks. */
#ifndef CALLSTACK_SHARE_H
#define CALLSTACK_SHARE_H

#include <rvtrace/callstack.h>
#include "util/words.h"

/*
 * rvt_callstack_share - @stack, a new one, is that of another thread of the process that @with is
 * of: what one of them leaves the other may go on with. One thread at a time calls for all of them.
 * Without memory nothing is shared.
 */
void rvt_callstack_share(struct rvt_callstack *stack, struct rvt_callstack *with);
/* The process runs another program: no stack waits any more. */
void rvt_callstack_forget_left(struct rvt_callstack *stack);
/* Whether stacks that wait are looked for; of those that share them @stack was the first one. */
bool rvt_callstack_has_left(const struct rvt_callstack *stack);
bool rvt_callstack_is_first(const struct rvt_callstack *stack);

/*
 * saved.c: all that a stack has, but for tags of frames and the number of cuts; and what waits
 * beside it. The second of each pair is for a new stack of the same depth, and returns 0, -EBADMSG
 * or -ENOMEM. Those that share what waits are made, and share it, in the same order.
 */
void rvt_callstack_save(const struct rvt_callstack *stack, struct words *words);
int rvt_callstack_load(struct rvt_callstack *stack, struct words *words);
void rvt_callstack_save_left(const struct rvt_callstack *stack, struct words *words);
int rvt_callstack_load_left(struct rvt_callstack *stack, struct words *words);
/* Behind both: whether one fits to the other. */
bool rvt_callstack_is_sound(const struct rvt_callstack *stack);

#endif
