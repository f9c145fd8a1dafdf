// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Replays sideband: which threads, processes and mappings there are at a time. */
#include <errno.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "util/array.h"
#include "image/image.h"
#include "events.h"
#include "missing.h"

/* What is recorded of a task after it has ended comes within that time. */
#define ENDING_NS 1000000000ull

struct process {
	int32_t pid;		/* first: key of the tree */
	struct rvt_space *space;
	size_t n_threads;
	char guest[24];		/* the name of its guest */
	struct process *next;	/* of .unused_processes */
};

struct thread {
	int32_t tid;		/* first: key of the tree */
	struct rvt_task task;
	struct rvt_task guest;	/* what runs in it as a guest; see rvt_cursor_guest() */
	/* of before what comes next, by more than its first name and its switches */
	bool told;
	char unknown[16];	/* ":TID", the comm of a thread that was never named */
	struct process *process;
	uint64_t ended;		/* when it did; 0: it has not */
	bool queued;		/* in the queue .ended of the cursor */
	struct thread *next;	/* of .ended, or of .unused_threads */
};

struct rvt_cursor {
	const struct rvt_sideband *sideband;
	struct rvt_image *image;
	struct rvt_space *kernel;
	size_t *changed;	/* changes of the kernel's code that are in .kernel */
	size_t next;		/* first event that was not applied */
	size_t changes;		/* changes of the kernel's code up to there */
	void *threads, *processes;	/* tsearch trees by id */
	int32_t *running;	/* tid by cpu */
	int32_t n_running;
	struct missing_list missing;
	const struct thread *given;	/* by rvt_cursor_task() last; or NULL */
	/* rvt_cursor_forget_ended() */
	bool forgets;
	struct thread *ended, **ended_tail;	/* the one that ended first comes first */
	struct thread *unused_threads;	/* of tasks that are forgotten, for new ones */
	struct process *unused_processes;
};

static int compare_ids(const void *a, const void *b)
{
	const int32_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static void *lookup(void *const *tree, int32_t id)
{
	void *const *found = tfind(&id, tree, compare_ids);

	return found ? *found : NULL;
}

/* One with an empty space that has no place in the tree yet. NULL: out of memory. */
static struct process *take_process(struct rvt_cursor *cursor)
{
	struct process *process = cursor->unused_processes;

	if (process) {
		cursor->unused_processes = process->next;
		return process;
	}
	process = calloc(1, sizeof(*process));
	if (process && rvt_space_create(cursor->image, cursor->kernel, &process->space)) {
		free(process);
		return NULL;
	}
	return process;
}

static void recycle_process(struct rvt_cursor *cursor, struct process *process)
{
	process->next = cursor->unused_processes;
	cursor->unused_processes = process;
}

static struct process *get_process(struct rvt_cursor *cursor, int32_t pid)
{
	struct process *process = lookup(&cursor->processes, pid);

	if (process)
		return process;
	process = take_process(cursor);
	if (!process)
		return NULL;
	process->pid = pid;
	if (tsearch(process, &cursor->processes, compare_ids))
		return process;
	recycle_process(cursor, process);
	return NULL;
}

/* One that has no place in the tree yet. NULL: out of memory. */
static struct thread *take_thread(struct rvt_cursor *cursor)
{
	struct thread *thread = cursor->unused_threads;

	if (!thread)
		return calloc(1, sizeof(*thread));
	cursor->unused_threads = thread->next;
	*thread = (struct thread){ .task.life = thread->task.life + 1 };
	return thread;
}

static void recycle_thread(struct rvt_cursor *cursor, struct thread *thread)
{
	thread->next = cursor->unused_threads;
	cursor->unused_threads = thread;
}

static void forget_process(struct rvt_cursor *cursor, struct process *process)
{
	tdelete(process, &cursor->processes, compare_ids);
	rvt_space_clear(process->space);
	recycle_process(cursor, process);
}

static void join(struct rvt_cursor *cursor, struct thread *thread, struct process *process)
{
	struct process *left = thread->process;

	process->n_threads++;
	thread->process = process;
	if (left && !--left->n_threads && cursor->forgets)
		forget_process(cursor, left);
}

/* The thread @tid; @pid -1: of whatever process it is known to belong to. */
static struct thread *get_thread(struct rvt_cursor *cursor, int32_t pid, int32_t tid)
{
	struct thread *thread = lookup(&cursor->threads, tid);
	struct process *process;

	if (thread && (pid == -1 || thread->task.pid == pid))
		return thread;
	process = get_process(cursor, pid == -1 ? tid : pid);
	if (!process)
		return NULL;
	if (!thread) {
		thread = take_thread(cursor);
		if (!thread)
			return NULL;
		thread->tid = tid;
		snprintf(thread->unknown, sizeof(thread->unknown), ":%d", tid);
		thread->task.comm = tid ? thread->unknown : "swapper";
		thread->task.tid = tid;
		if (!tsearch(thread, &cursor->threads, compare_ids)) {
			recycle_thread(cursor, thread);
			return NULL;
		}
	}
	join(cursor, thread, process);
	thread->task.pid = pid;
	thread->task.space = process->space;
	return thread;
}

static int map_file(struct rvt_cursor *cursor, struct rvt_space *space,
		    const struct sideband_event *event)
{
	const struct rvt_sideband *sideband = cursor->sideband;
	const char *path = event->map.file->path;
	const uint8_t *build_id = event->map.build_id;
	size_t build_id_len = event->map.build_id_len;
	int err;

	if (event->map.file->outside) {
		err = rvt_space_map_unreadable(space, event->map.addr, event->map.len,
					       event->map.offset, path);
		return err ? err : rvt_missing_add(&cursor->missing, path, -EXDEV);
	}
	if (!build_id_len && sideband->file)
		build_id_len = rvt_perfdata_build_id(sideband->file, event->name, &build_id);
	err = rvt_space_map_file(space, event->map.addr, event->map.len, event->map.offset,
				 path, build_id_len ? build_id : NULL, build_id_len);
	return err && err != -ENOMEM ? rvt_missing_add(&cursor->missing, path, err) : err;
}

/* What the recording has of a mapping that is no file's; NULL: nothing. */
static const struct rvt_code *find_mapped(const struct rvt_sideband *sideband, const char *name)
{
	if (!strcmp(name, "[vdso]"))
		return rvt_sideband_mapped(sideband, RVT_CODE_VDSO);
	if (!strcmp(name, "[uprobes]"))
		return rvt_sideband_mapped(sideband, RVT_CODE_UPROBES);
	return NULL;
}

static int apply_mmap(struct rvt_cursor *cursor, const struct sideband_event *event)
{
	const struct rvt_code *code;
	struct process *process = get_process(cursor, event->pid);

	if (!process)
		return -ENOMEM;
	if (event->map.file)
		return map_file(cursor, process->space, event);
	code = find_mapped(cursor->sideband, event->name);
	if (code)
		return rvt_space_map_bytes(process->space, event->map.addr, code->bytes,
					   event->map.len < code->len ? event->map.len : code->len,
					   event->name);
	/* Remembered under its name as code that cannot be read, until a copy of it comes. */
	return rvt_space_map_unreadable(process->space, event->map.addr, event->map.len,
					event->map.offset, event->name);
}

static int apply_fork(struct rvt_cursor *cursor, const struct sideband_event *event)
{
	const struct rvt_space *space;
	struct thread *parent, *child;

	parent = get_thread(cursor, event->parent.pid, event->parent.tid);
	if (!parent)
		return -ENOMEM;
	space = parent->task.space;
	if (event->pid != event->parent.pid) {
		struct process *process = get_process(cursor, event->pid);

		if (!process)
			return -ENOMEM;
		rvt_space_copy(space, process->space);
	}
	child = get_thread(cursor, event->pid, event->tid);
	if (!child)
		return -ENOMEM;
	child->ended = 0;
	child->task.life++;
	if (parent->task.comm != parent->unknown)
		child->task.comm = parent->task.comm;
	return 0;
}

static int apply_comm(struct rvt_cursor *cursor, const struct sideband_event *event)
{
	struct thread *thread = get_thread(cursor, event->pid, event->tid);

	if (!thread)
		return -ENOMEM;
	thread->task.comm = event->name;
	if (event->type == SIDEBAND_EXEC) {
		rvt_space_clear(thread->task.space);
		thread->task.life++;
	}
	return 0;
}

static int apply_switch(struct rvt_cursor *cursor, const struct sideband_event *event)
{
	int32_t cpu = event->on.cpu;

	if (cpu < 0 || cpu > UINT16_MAX)
		return 0;
	while (cpu >= cursor->n_running) {
		if (array_grow(&cursor->running, cursor->n_running))
			return -ENOMEM;
		cursor->running[cursor->n_running++] = -1;
	}
	cursor->running[cpu] = event->on.next;
	/* a switch names the process of a thread that nothing else has told of */
	return event->pid >= 0 && !get_thread(cursor, event->pid, event->tid) ? -ENOMEM : 0;
}

static int apply_jit(struct rvt_cursor *cursor, const struct sideband_event *event)
{
	struct process *process = get_process(cursor, event->pid);

	return process ? rvt_space_map_bytes(process->space, event->jit.addr, event->jit.bytes,
					     event->jit.len, event->name) : -ENOMEM;
}

static int apply_copy(struct rvt_cursor *cursor, const struct sideband_event *event)
{
	struct process *process = get_process(cursor, event->pid);

	if (!event->copy.bytes)
		return 0;
	return process ? rvt_space_change_bytes(process->space, event->copy.addr, event->copy.bytes,
						event->copy.len, "//anon") : -ENOMEM;
}

static void queue_ended(struct rvt_cursor *cursor, struct thread *thread)
{
	thread->queued = true;
	thread->next = NULL;
	*cursor->ended_tail = thread;
	cursor->ended_tail = &thread->next;
}

static int apply_exit(struct rvt_cursor *cursor, const struct sideband_event *event)
{
	struct thread *thread;

	if (!cursor->forgets)
		return 0;
	thread = get_thread(cursor, event->pid, event->tid);
	if (!thread)
		return -ENOMEM;
	thread->ended = event->time;
	if (!thread->queued)
		queue_ended(cursor, thread);
	return 0;
}

static bool is_over(const struct thread *thread, uint64_t time)
{
	return thread->ended && thread->ended + ENDING_NS <= time;
}

/*
 * Tasks that are over at @time. One whose name is in .unknown stays: counts may wait under that
 * name. So does the one that is in use.
 */
static void forget_ended(struct rvt_cursor *cursor, uint64_t time)
{
	struct thread *in_use = NULL;

	while (cursor->ended && (is_over(cursor->ended, time) || !cursor->ended->ended)) {
		struct thread *thread = cursor->ended;

		if (thread == in_use)
			break;
		cursor->ended = thread->next;
		if (!cursor->ended)
			cursor->ended_tail = &cursor->ended;
		thread->queued = false;
		if (thread == cursor->given && thread->ended) {
			queue_ended(cursor, thread);
			in_use = thread;
		} else if (thread->ended && thread->task.comm != thread->unknown) {
			tdelete(thread, &cursor->threads, compare_ids);
			if (!--thread->process->n_threads)
				forget_process(cursor, thread->process);
			recycle_thread(cursor, thread);
		}
	}
}

/*
 * A task whose recording begins with its exec ran nothing of what was there before. The name that
 * the recorder gave it at first says nothing else; nor does that it was scheduled, for the event is
 * enabled within the exec, and may see it preempted.
 */
static bool tells(const struct sideband_event *event)
{
	return event->type == SIDEBAND_EXEC || event->type == SIDEBAND_FORK ||
		event->type == SIDEBAND_MMAP ||
	       (event->type == SIDEBAND_COMM && event->time);
}

static int apply(struct rvt_cursor *cursor, const struct sideband_event *event)
{
	switch (event->type) {
	case SIDEBAND_COMM:
	case SIDEBAND_EXEC:
		return apply_comm(cursor, event);
	case SIDEBAND_FORK:
		return apply_fork(cursor, event);
	case SIDEBAND_MMAP:
		return apply_mmap(cursor, event);
	case SIDEBAND_SWITCH:
		return apply_switch(cursor, event);
	case SIDEBAND_JIT:
		return apply_jit(cursor, event);
	case SIDEBAND_COPY:
		return apply_copy(cursor, event);
	case SIDEBAND_CHANGE:
		cursor->changes = event->change.listed;
		return 0;
	case SIDEBAND_EXIT:
		return apply_exit(cursor, event);
	}
	return 0;
}

/* The kernel's space is that of all cursors. */
static bool other_changed(const struct rvt_cursor *cursor)
{
	return cursor->changed && *cursor->changed != cursor->changes;
}

bool rvt_cursor_stays(const struct rvt_cursor *cursor, uint64_t time)
{
	return rvt_cursor_next(cursor) > time && !other_changed(cursor);
}

int rvt_cursor_seek(struct rvt_cursor *cursor, uint64_t time)
{
	const struct rvt_sideband *sideband = cursor->sideband;
	int any = 0, err;

	while (rvt_cursor_next(cursor) <= time && cursor->next < sideband->ready) {
		const struct sideband_event *event = sideband_event(sideband, cursor->next);
		struct thread *thread = NULL;

		err = apply(cursor, event);
		if (!err && tells(event)) {
			thread = get_thread(cursor, event->pid, event->tid);
			err = thread ? 0 : -ENOMEM;
		}
		if (err)
			return err;
		if (thread)
			thread->told = true;
		forget_ended(cursor, event->time);
		cursor->next++;
		any = 1;
	}
	if (other_changed(cursor)) {
		err = rvt_sideband_change_to(sideband, cursor->kernel, cursor->changed,
					     cursor->changes);
		return err ? err : 1;
	}
	return any;
}

uint64_t rvt_cursor_next(const struct rvt_cursor *cursor)
{
	const struct rvt_sideband *sideband = cursor->sideband;

	return cursor->next < sideband->ready ? sideband_event(sideband,
							       cursor->next)->time : UINT64_MAX;
}

size_t rvt_cursor_position(const struct rvt_cursor *cursor)
{
	return cursor->next;
}

/* Whether anything told what @tid executes, before event @end. */
static bool is_told(const struct rvt_cursor *cursor, int32_t tid, size_t end)
{
	const struct thread *thread = lookup(&cursor->threads, tid);

	if (thread && thread->told)
		return true;
	for (size_t i = cursor->next; i < end; i++) {
		const struct sideband_event *event = sideband_event(cursor->sideband, i);

		if (event->tid == tid && tells(event))
			return true;
	}
	return false;
}

uint64_t rvt_cursor_next_exec(const struct rvt_cursor *cursor, int32_t tid, int32_t cpu,
			      uint64_t until)
{
	const struct rvt_sideband *sideband = cursor->sideband;

	for (size_t i = cursor->next; i < sideband->ready; i++) {
		const struct sideband_event *event = sideband_event(sideband, i);

		if (event->time > until)
			break;
		if (event->type == SIDEBAND_EXEC &&
		    (event->on.cpu == cpu || (event->on.cpu < 0 && tid >= 0)) &&
		    (event->tid == tid || tid < 0) && is_told(cursor, event->tid, i))
			return event->time;
	}
	return UINT64_MAX;
}

static bool replaces(const struct sideband_event *event, const struct rvt_task *task)
{
	if (event->type == SIDEBAND_CHANGE)
		return true;
	if (!task)
		return false;
	switch (event->type) {
	case SIDEBAND_COMM:
	case SIDEBAND_EXEC:
		return event->tid == task->tid || event->pid == task->pid;
	case SIDEBAND_FORK:
	case SIDEBAND_EXIT:
		return event->tid == task->tid;
	case SIDEBAND_MMAP:
		return event->pid == task->pid &&
		       rvt_space_overlaps(task->space, event->map.addr, event->map.len);
	case SIDEBAND_JIT:
		return event->pid == task->pid &&
		       rvt_space_overlaps(task->space, event->jit.addr, event->jit.len);
	case SIDEBAND_COPY:
		return event->pid == task->pid &&
		       rvt_space_overlaps(task->space, event->copy.addr, event->copy.len);
	default:
		return false;
	}
}

bool rvt_cursor_replaces(const struct rvt_cursor *cursor, const struct rvt_task *task,
			 uint64_t time)
{
	const struct rvt_sideband *sideband = cursor->sideband;
	const struct thread *thread = task ? lookup(&cursor->threads, task->tid) : NULL;

	if (thread && is_over(thread, time))
		return true;
	for (size_t i = cursor->next; i < sideband->ready && sideband_event(sideband,
									    i)->time <= time; i++)
		if (replaces(sideband_event(sideband, i), task))
			return true;
	return false;
}

const struct rvt_task *rvt_cursor_task(struct rvt_cursor *cursor, int32_t tid)
{
	struct thread *thread = get_thread(cursor, -1, tid);

	cursor->given = thread;
	return thread ? &thread->task : NULL;
}

const struct rvt_task *rvt_cursor_guest(struct rvt_cursor *cursor, int32_t tid,
					struct rvt_space *space)
{
	struct thread *thread = get_thread(cursor, -1, tid);

	if (!thread)
		return NULL;
	cursor->given = thread;
	snprintf(thread->process->guest, sizeof(thread->process->guest), "[guest/%d]",
		 thread->process->pid);
	thread->guest = (struct rvt_task){
		.pid = thread->task.pid, .tid = tid, .comm = thread->process->guest,
		.space = space, .life = thread->task.life, .guest = true,
	};
	return &thread->guest;
}

void rvt_cursor_forget_ended(struct rvt_cursor *cursor)
{
	cursor->forgets = true;
}

int32_t rvt_cursor_running(const struct rvt_cursor *cursor, int32_t cpu)
{
	return cpu >= 0 && cpu < cursor->n_running ? cursor->running[cpu] : -1;
}

const struct rvt_missing *rvt_cursor_missing(const struct rvt_cursor *cursor, size_t n)
{
	return rvt_missing_at(&cursor->missing, n);
}

int rvt_cursor_create(const struct rvt_sideband *sideband, struct rvt_image *image,
		      struct rvt_space *kernel, struct rvt_cursor **result)
{
	struct rvt_cursor *cursor = calloc(1, sizeof(*cursor));
	struct sideband_kernel *known = rvt_sideband_find_kernel(sideband, kernel);

	if (!cursor)
		return -ENOMEM;
	cursor->changed = known ? &known->changed : NULL;
	cursor->sideband = sideband;
	cursor->image = image;
	cursor->kernel = kernel;
	cursor->ended_tail = &cursor->ended;
	if (rvt_cursor_seek(cursor, 0) < 0) {
		rvt_cursor_destroy(cursor);
		return -ENOMEM;
	}
	*result = cursor;
	return 0;
}

static void clear_space(const void *node, VISIT which, void *closure)
{
	const struct process *process = *(const struct process *const *)node;

	(void)closure;
	if (which == postorder || which == leaf)
		rvt_space_clear(process->space);
}

void rvt_cursor_clear_spaces(struct rvt_cursor *cursor)
{
	twalk_r(cursor->processes, clear_space, NULL);
}

void rvt_cursor_destroy(struct rvt_cursor *cursor)
{
	if (!cursor)
		return;
	tdestroy(cursor->threads, free);
	tdestroy(cursor->processes, free);
	while (cursor->unused_threads)
		free(take_thread(cursor));
	while (cursor->unused_processes)
		free(take_process(cursor));
	rvt_missing_free(&cursor->missing);
	free(cursor->running);
	free(cursor);
}
