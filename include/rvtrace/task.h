/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * What a session says of threads of the recorded machine, and of files that it needs. The session
 * owns both.
 *
 * Threads of the caller: read them in the call-back that passes them, and in its thread.
 */
#ifndef RVTRACE_TASK_H
#define RVTRACE_TASK_H

#include <stdbool.h>
#include <stdint.h>
#include <rvtrace/linkage.h>

RVT_BEGIN_DECLS

struct rvt_space;

/*
 * A thread. Valid until its cursor moves; .space until the cursor is destroyed, or the task is
 * forgotten (rvt_cursor_forget_ended()).
 */
struct rvt_task {
	int32_t pid, tid;	/* pid -1: the sideband does not know this thread */
	const char *comm;	/* never NULL */
	struct rvt_space *space;	/* its user space, with the kernel behind it */
	/* changes with every fork and exec: its stack is another one then */
	uint32_t life;
	/*
	 * What the thread runs as a guest of a virtual machine: .comm is "[guest/PID]", .space the
	 * guests'. The thread itself is another task, with the same numbers.
	 */
	bool guest;
};

/* A number that no other task has at the same time: the thread's id; a guest's is negative. */
static inline int32_t rvt_task_key(const struct rvt_task *task)
{
	return task->guest ? -(1 << 29) - task->tid : task->tid;
}

/* The thread of such a number. */
static inline int32_t rvt_task_key_tid(int32_t key)
{
	return key < -(1 << 28) ? -(1 << 29) - key : key;
}

/* A file that a mapping names and that could not be used. */
struct rvt_missing {
	const char *path;
	int error;		/* -ENOENT, -ESTALE (other build id), ... */
};

RVT_END_DECLS

#endif
