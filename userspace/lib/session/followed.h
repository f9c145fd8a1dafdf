/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Inside this project: hart flows that follow others. Slices (session/slices.h) decode; what comes
 * of all of them in order is put together by one that has hart flows of its own, and is told where
 * those of the slices were.
 */
#ifndef SESSION_FOLLOWED_H
#define SESSION_FOLLOWED_H

#include <rvtrace/session.h>

struct rvt_followed;

/*
 * rvt_followed_create - @session, a recording, must outlive it, and nobody has decoded it yet.
 * NULL: out of memory, or the kernel's code cannot be read any more.
 */
struct rvt_followed *rvt_followed_create(struct rvt_session *session);
/* @followed may be NULL. Frees .user of its hart flows. */
void rvt_followed_destroy(struct rvt_followed *followed);
/* Forgets all hart flows, to begin again. Frees their .user. */
void rvt_followed_forget(struct rvt_followed *followed);
/* The hart flow with this .number, which is of @cpu. NULL: out of memory. */
struct rvt_hart_flow *rvt_followed_hart(struct rvt_followed *followed, uint64_t number,
					int32_t cpu);
/*
 * rvt_followed_set - sets .task and .space of @hart: thread @tid runs (-1: not known which), or
 * with @guest its guest, and what happened up to @moved is there (rvt_hart_flow.moved, which never
 * goes back). 0 or -ENOMEM.
 */
int rvt_followed_set(struct rvt_followed *followed, struct rvt_hart_flow *hart, int32_t tid,
		     bool guest, uint64_t moved);

#endif
