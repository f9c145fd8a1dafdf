// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <errno.h>
#include <inttypes.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "profile/timeline.h"
#include "util/array.h"

static int compare_threads(const void *a, const void *b)
{
	const struct timeline_thread *x = a, *y = b;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	return x->tid < y->tid ? -1 : x->tid > y->tid;
}

/* Finds or makes the thread of @hart. NULL: out of memory. */
static struct timeline_thread *get_thread(struct timeline *timeline,
					  const struct rvt_hart_flow *hart)
{
	struct timeline_thread key = { .pid = hart->task ? hart->task->pid : -1,
				       .tid = hart->task ? hart->task->tid : -2 - hart->cpu };
	struct timeline_thread **found = tfind(&key, &timeline->threads, compare_threads);
	struct timeline_thread *thread;

	if (found)
		return *found;
	thread = malloc(sizeof(*thread));
	if (!thread)
		return NULL;
	*thread = key;
	if (!tsearch(thread, &timeline->threads, compare_threads)) {
		free(thread);
		return NULL;
	}
	return thread;
}

static int tell_name(struct timeline *timeline, struct timeline_thread *thread,
		     const struct rvt_hart_flow *hart)
{
	const char *comm = places_comm(timeline->places, hart);

	if (!strncmp(thread->comm, comm, sizeof(thread->comm) - 1))
		return 0;
	snprintf(thread->comm, sizeof(thread->comm), "%s", comm);
	return timeline->ops.thread ? timeline->ops.thread(timeline->ops.ctx, thread) : 0;
}

static uint64_t next_time(struct timeline_thread *thread, uint64_t time)
{
	thread->last = time > thread->last ? time : thread->last + 1;
	return thread->last;
}

static int begin_slice(struct timeline *timeline, struct timeline_thread *thread,
		       const struct rvt_hart_flow *hart, const struct rvt_frame *frame)
{
	const struct place *place = places_find(timeline->places, hart->space, frame->to);
	struct timeline_slice *slice;
	char unknown[24];

	if (array_reserve(&thread->slices, &thread->room, thread->n, 1))
		return -ENOMEM;
	slice = &thread->slices[thread->n++];
	*slice = (struct timeline_slice){ .addr = frame->to, .dso = place->dso,
					  .begin = next_time(thread, hart->time) };
	snprintf(unknown, sizeof(unknown), "0x%" PRIx64, frame->to);
	slice->name = frame->cut ? CALLERS_LOST : place->symbol ? place->symbol :
		places_keep(timeline->places, unknown);
	return timeline->ops.begin ? timeline->ops.begin(timeline->ops.ctx, thread, slice) : 0;
}

static int end_slice(struct timeline *timeline, struct timeline_thread *thread, uint64_t time)
{
	const struct timeline_slice *slice = &thread->slices[--thread->n];

	time = next_time(thread, time);
	return timeline->ops.end ? timeline->ops.end(timeline->ops.ctx, thread, slice, time) : 0;
}

int timeline_after(struct timeline *timeline, struct rvt_hart_flow *hart,
		   struct rvt_callstack *stack, size_t ended)
{
	struct timeline_thread *thread = get_thread(timeline, hart);
	size_t depth = rvt_callstack_depth(stack);
	const struct rvt_frame *top = rvt_callstack_frame(stack, 0);
	int err;

	if (!thread)
		return -ENOMEM;
	err = tell_name(timeline, thread, hart);
	/* a signal handler's frame on top can have replaced a trap's */
	while (thread->n && !err && (ended || thread->n > depth ||
				     (thread->n == depth &&
				      thread->slices[depth - 1].addr != top->to))) {
		err = end_slice(timeline, thread, hart->time);
		ended -= !!ended;
	}
	while (thread->n < depth && !err)
		err = begin_slice(timeline, thread, hart,
				  rvt_callstack_frame(stack, depth - 1 - thread->n));
	return err;
}

static void end_thread(const void *node, VISIT which, void *closure)
{
	struct timeline_thread *thread = *(struct timeline_thread *const *)node;
	struct timeline *timeline = closure;

	if (which != postorder && which != leaf)
		return;
	while (thread->n && !timeline->err)
		timeline->err = end_slice(timeline, thread, thread->last);
}

static void free_thread(void *data)
{
	struct timeline_thread *thread = data;

	free(thread->slices);
	free(thread);
}

int timeline_end(struct timeline *timeline)
{
	twalk_r(timeline->threads, end_thread, timeline);
	tdestroy(timeline->threads, free_thread);
	timeline->threads = NULL;
	return timeline->err;
}
