// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <errno.h>
#include <inttypes.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "common/calls-state.h"
#include "common/insn-code.h"
#include "util/array.h"

static int compare_threads(const void *a, const void *b)
{
	const struct call_thread *x = a, *y = b;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	return x->tid < y->tid ? -1 : x->tid > y->tid;
}

static int compare_functions(const void *a, const void *b)
{
	const struct call_function *x = a, *y = b;
	int order = strcmp(x->name, y->name);

	return order ? order : strcmp(x->dso, y->dso);
}

struct call_thread *calls_thread(struct calls *calls, const struct call_thread *key)
{
	struct call_thread **found = tfind(key, &calls->threads, compare_threads), *thread;

	if (found)
		return *found;
	thread = malloc(sizeof(*thread));
	if (!thread)
		return NULL;
	*thread = *key;
	if (!tsearch(thread, &calls->threads, compare_threads)) {
		free(thread);
		return NULL;
	}
	return thread;
}

static struct call_thread thread_of(const struct rvt_hart_flow *hart)
{
	return (struct call_thread){ .pid = hart->task ? hart->task->pid : -1,
				     .tid = hart->task ? rvt_task_key(hart->task) : -2 - hart->cpu,
				     .life = hart->task ? hart->task->life : 0 };
}

/* Finds the thread of the hart. NULL: there is none. */
static struct call_thread *known_thread(const struct calls *calls, const struct rvt_hart_flow *hart)
{
	const struct call_thread key = thread_of(hart);
	struct call_thread **found = tfind(&key, &calls->threads, compare_threads);

	return found ? *found : NULL;
}

/* Finds or makes the hart's thread, and tells a new name of it. Returns 0 or -errno. */
static int find_thread(struct calls *calls, const struct rvt_hart_flow *hart,
		       struct call_thread **thread)
{
	struct call_thread key = thread_of(hart);
	const char *comm;

	if (!calls->last || compare_threads(calls->last, &key))
		calls->last = calls_thread(calls, &key);
	*thread = calls->last;
	if (!*thread)
		return -ENOMEM;
	comm = places_comm(calls->places, hart);
	if ((*thread)->comm == comm || ((*thread)->comm && !strcmp((*thread)->comm, comm)))
		return 0;
	(*thread)->comm = comm;
	return calls->ops.thread ? calls->ops.thread(calls->ops.ctx, *thread) : 0;
}

struct call_function *calls_function(struct calls *calls, const char *name, const char *linkage,
				     const char *dso, bool kernel)
{
	uint64_t hash = ((uintptr_t)name >> 3 ^ (uintptr_t)dso << 7) * 0x9e3779b97f4a7c15ULL;
	struct function_slot *slot = &calls->slots[hash >> 52];
	const char *base = strrchr(dso, '/');
	struct call_function key = { .name = name, .linkage = linkage,
				     .dso = base ? base + 1 : dso, .kernel = kernel };
	struct call_function **found, *function;

	if (slot->function && slot->name == name && slot->dso == dso)
		return slot->function;
	found = tfind(&key, &calls->functions, compare_functions);
	function = found ? *found : malloc(sizeof(*function));
	if (!function)
		return NULL;
	if (!found) {
		*function = key;
		function->number = calls->n_functions++;
		if (!tsearch(function, &calls->functions, compare_functions)) {
			free(function);
			return NULL;
		}
	}
	*slot = (struct function_slot){ .name = name, .dso = dso, .function = function };
	return function;
}

/* Finds the function that stands for the handler of a trap, by its name in calls.h. */
static struct call_function *get_handler(struct calls *calls, struct rvt_hart_flow *hart,
					 const struct rvt_transfer *transfer)
{
	const struct place *place = places_find(calls->places, hart->space, transfer->to);
	const struct rvt_event *event = transfer->event;
	const char *kind;
	char text[48];

	if (!event)
		return calls_function(calls, CALL_TRAP, CALL_TRAP, place->dso, true);
	if (!event->interrupt && insn_is_ecall(hart->space, transfer->from))
		return calls_function(calls, CALL_SYSTEM, CALL_SYSTEM, place->dso, true);
	kind = event->interrupt ? CALL_INTERRUPT : CALL_EXCEPTION;
	if (event->cause_valid)
		snprintf(text, sizeof(text), "%s %" PRIu64 "]", kind, event->cause);
	else
		snprintf(text, sizeof(text), "%s]", kind);
	kind = places_keep(calls->places, text);
	return calls_function(calls, kind, kind, place->dso, true);
}

static struct call_function *get_callee(struct calls *calls, struct rvt_hart_flow *hart,
					const struct rvt_transfer *transfer,
					const struct rvt_frame *frame)
{
	const struct place *place;
	const char *name;
	char unknown[24];

	if (frame->trap && transfer->kind == RVT_TRANSFER_TRAP)
		return get_handler(calls, hart, transfer);
	place = places_find(calls->places, hart->space, frame->to);
	if (!frame->cut && place->symbol)
		return calls_function(calls, place->symbol, place->linkage, place->dso,
				      (int64_t)frame->to < 0);
	snprintf(unknown, sizeof(unknown), "0x%" PRIx64, frame->to);
	name = frame->cut ? CALLERS_LOST : places_keep(calls->places, unknown);
	return calls_function(calls, name, name, place->dso, (int64_t)frame->to < 0);
}

/* ---- time of a thread ---- */

/* Adds the time from .until, when the thread was last seen, to @time to the time away. */
static void catch_up(struct call_thread *thread, uint64_t time)
{
	if (thread->seen && time <= thread->until)
		return;
	if (thread->seen)
		thread->away += time - thread->until;
	thread->until = time;
	thread->seen = true;
}

static void doubt_calls(struct call_thread *thread)
{
	for (size_t i = 0; i < thread->n; i++)
		thread->calls[i].whole = false;
}

/* ---- calls ---- */

/* Begins a call. @call has the members that callers choose. */
static int begin_call(struct calls *calls, struct call_thread *thread,
		      const struct rvt_hart_flow *hart, const struct call *call)
{
	struct call *begun;

	if (!call->function || array_reserve(&thread->calls, &thread->room, thread->n, 1))
		return -ENOMEM;
	begun = &thread->calls[thread->n++];
	*begun = *call;
	begun->cpu = hart->cpu;
	begun->began = thread->until;
	begun->away = thread->away;
	begun->insns = thread->insns;
	thread->n_tails += begun->tail;
	return calls->ops.begin ? calls->ops.begin(calls->ops.ctx, thread, begun) : 0;
}

static int begin_frame(struct calls *calls, struct call_thread *thread,
		       struct rvt_hart_flow *hart, const struct rvt_transfer *transfer,
		       const struct rvt_frame *frame, bool whole)
{
	const struct call call = {
		.function = get_callee(calls, hart, transfer, frame), .addr = frame->to,
		.from = frame->from, .back = frame->back, .trap = frame->trap,
		.whole = whole && !frame->cut };

	return begin_call(calls, thread, hart, &call);
}

/* Ends the innermost call. @whole: it returned. */
static int end_call(struct calls *calls, struct call_thread *thread, bool whole)
{
	struct call *call = &thread->calls[--thread->n];
	struct call *caller = thread->n ? call - 1 : NULL;

	thread->n_tails -= call->tail;
	call->time = thread->until - call->began;
	call->away = thread->away - call->away;
	call->insns = thread->insns - call->insns;
	call->whole &= whole;
	if (caller) {
		caller->callee_time += call->time;
		caller->callee_away += call->away;
		caller->callee_insns += call->insns;
	}
	return calls->ops.end ? calls->ops.end(calls->ops.ctx, thread, call) : 0;
}

/* Ends the innermost call that was no tail call, and its tail calls. */
static int end_frame(struct calls *calls, struct call_thread *thread, bool whole)
{
	int err = 0;

	while (!err && thread->calls[thread->n - 1].tail)
		err = end_call(calls, thread, whole);
	return err ? err : end_call(calls, thread, whole);
}

/*
 * Ends all calls of a thread that runs another program now, or whose number another thread has now.
 */
static int end_life(struct calls *calls, struct call_thread *thread, uint32_t life)
{
	int err = 0;

	while (thread->n && !err)
		err = end_call(calls, thread, false);
	thread->life = life;
	return err;
}

/* Returns whether a probe makes the function that returns to @pc return there. */
static bool is_diverted(struct calls *calls, const struct rvt_hart_flow *hart, uint64_t pc)
{
	return !strcmp(places_find(calls->places, hart->space, pc)->dso, "[uprobes]");
}

/* Returns whether @transfer is the return of @call, the outermost of those that end. */
static bool returns(struct calls *calls, const struct rvt_hart_flow *hart, const struct call *call,
		    const struct rvt_transfer *transfer)
{
	if (call->trap)
		return transfer->kind == RVT_TRANSFER_TRAP_RETURN;
	return transfer->kind == RVT_TRANSFER_RETURN &&
		(transfer->to == call->back || is_diverted(calls, hart, transfer->to));
}

/* Returns the innermost call that was no tail call; there is one. */
static const struct call *innermost_frame(const struct call_thread *thread)
{
	const struct call *call = &thread->calls[thread->n - 1];

	return call->tail ? call - 1 : call;
}

/* Ends and begins calls until they match the stack. */
static int follow_stack(struct calls *calls, struct call_thread *thread,
			struct rvt_hart_flow *hart, const struct rvt_transfer *transfer,
			struct rvt_callstack *stack, size_t ended)
{
	size_t depth = rvt_callstack_depth(stack);
	const struct rvt_frame *top = rvt_callstack_frame(stack, 0);
	bool whole;
	int err = 0;

	/* a signal handler's frame on top can have replaced a trap's */
	while (thread->n > thread->n_tails && !err &&
	       (ended || thread->n - thread->n_tails > depth ||
		(thread->n - thread->n_tails == depth &&
		 innermost_frame(thread)->addr != top->to))) {
		ended -= !!ended;
		err = end_frame(calls, thread, !ended &&
				returns(calls, hart, innermost_frame(thread), transfer));
	}
	whole = thread->n - thread->n_tails + 1 == depth &&
		(transfer->kind == RVT_TRANSFER_CALL || transfer->kind == RVT_TRANSFER_TRAP ||
		 top->signal);
	while (thread->n - thread->n_tails < depth && !err)
		err = begin_frame(calls, thread, hart, transfer,
				  rvt_callstack_frame(stack, depth - 1 - (thread->n -
									  thread->n_tails)),
				  whole);
	return err;
}

/* Takes a jump from one function to the beginning of another as a tail call. */
static int follow_jump(struct calls *calls, struct call_thread *thread,
		       struct rvt_hart_flow *hart, const struct rvt_transfer *transfer)
{
	const struct place *place = places_find(calls->places, hart->space, transfer->to);
	struct call *caller;
	struct call call;
	int err;

	if (!thread->n || !place->symbol || place->start != transfer->to ||
	    place->end <= place->start ||
	    (transfer->from >= place->start && transfer->from < place->end))
		return 0;
	call = (struct call){
		.function = calls_function(calls, place->symbol, place->linkage, place->dso,
					   (int64_t)transfer->to < 0),
		.addr = transfer->to, .from = transfer->from, .tail = true, .whole = true };
	caller = &thread->calls[thread->n - 1];
	err = caller->tail ? end_call(calls, thread, true) : 0;
	return err ? err : begin_call(calls, thread, hart, &call);
}

/* ---- what is not traced ---- */

/*
 * Returns a name for what ran between a stop at @pc and now, when the thread continues at @to;
 * NULL: nothing.
 */
static const char *untraced_name(struct rvt_hart_flow *hart, uint64_t pc, uint64_t to)
{
	bool kernel = (int64_t)pc < 0;

	if (to == pc + 4 && insn_is_ecall(hart->space, pc))
		return kernel ? CALL_FIRMWARE : CALL_SYSTEM;
	return to == pc ? kernel ? CALL_FIRMWARE : CALL_TRAPPED : NULL;
}

static int tell_untraced(struct calls *calls, struct call_thread *thread,
			 struct rvt_hart_flow *hart, uint64_t to)
{
	const char *name = untraced_name(hart, thread->stop, to);
	const bool firmware = (int64_t)to < 0;
	struct call call = { .addr = thread->stop, .from = thread->stop, .back = to, .trap = true,
			     .whole = true };
	int err;

	if (!name) {
		catch_up(thread, hart->time);
		return 0;
	}
	call.function = calls_function(calls, name, name, firmware ? CALL_FIRMWARE : "[kernel]",
				       true);
	err = begin_call(calls, thread, hart, &call);
	if (err)
		return err;
	catch_up(thread, hart->time);
	return end_call(calls, thread, true);
}

/* ---- call-backs ---- */

int calls_lost_room(struct calls *calls, size_t n)
{
	bool **lists[] = { &calls->lost, &calls->ever_lost };

	if (n <= calls->n_lost)
		return 0;
	for (size_t i = 0; i < 2; i++) {
		bool *more = realloc(*lists[i], n * sizeof(*more));

		if (!more)
			return -ENOMEM;
		memset(more + calls->n_lost, 0, (n - calls->n_lost) * sizeof(*more));
		*lists[i] = more;
	}
	calls->n_lost = n;
	return 0;
}

/*
 * Notes lost flow on the cpu: the thread may have called functions or returned from some meanwhile.
 */
static int note_loss(struct calls *calls, int32_t cpu)
{
	size_t n = cpu < 0 ? 0 : (size_t)cpu + 1;

	if (calls_lost_room(calls, n + 1))
		return -ENOMEM;
	calls->lost[n] = calls->ever_lost[n] = true;
	return 0;
}

/*
 * Brings the hart's @thread up to @time: doubts its calls after a loss, and ends those of an
 * earlier life.
 */
static int meet(struct calls *calls, const struct rvt_hart_flow *hart, uint64_t time,
		struct call_thread *thread)
{
	size_t cpu = hart->cpu < 0 ? 0 : (size_t)hart->cpu + 1;
	uint32_t life = hart->task ? hart->task->life : 0;
	int err;

	calls->timed |= hart->time_exact;
	if (cpu < calls->n_lost && calls->lost[cpu]) {
		calls->lost[cpu] = false;
		doubt_calls(thread);
	}
	err = thread->life != life ? end_life(calls, thread, life) : 0;
	catch_up(thread, time);
	return err;
}

static int take_line(void *ctx, struct rvt_hart_flow *hart, const struct rvt_straight_line *line,
		     struct rvt_callstack *stack)
{
	struct calls *calls = ctx;
	struct call_thread *thread;
	int err = find_thread(calls, hart, &thread);

	if (!err)
		err = meet(calls, hart, line->began, thread);
	if (err)
		return err;
	thread->stopped = false;
	thread->insns += line->insns;
	if (hart->time > thread->until)
		thread->until = hart->time;
	return calls->ops.line ? calls->ops.line(calls->ops.ctx, thread, hart, line, stack) : 0;
}

static int pass_transfer(void *ctx, struct rvt_hart_flow *hart, const struct rvt_transfer *transfer,
			 struct rvt_callstack *stack)
{
	struct calls *calls = ctx;

	return calls->ops.transfer(calls->ops.ctx, hart, transfer, stack);
}

static int take_after(void *ctx, struct rvt_hart_flow *hart, const struct rvt_transfer *transfer,
		      struct rvt_callstack *stack, size_t ended)
{
	struct calls *calls = ctx;
	struct call_thread *thread;
	int err = find_thread(calls, hart, &thread);
	size_t depth;

	if (!err && transfer->kind == RVT_TRANSFER_START && thread->stopped) {
		thread->stopped = false;
		err = tell_untraced(calls, thread, hart, transfer->to);
	}
	if (!err)
		err = meet(calls, hart, hart->time, thread);
	if (err)
		return err;
	if (transfer->kind == RVT_TRANSFER_STOP) {
		thread->stopped = true;
		thread->stop = transfer->to;
	}
	depth = thread->n;
	err = follow_stack(calls, thread, hart, transfer, stack, ended);
	if (!err && transfer->kind == RVT_TRANSFER_JUMP && thread->n == depth)
		err = follow_jump(calls, thread, hart, transfer);
	if (!err && calls->ops.after)
		err = calls->ops.after(calls->ops.ctx, hart, transfer, stack, ended);
	return err;
}

static int take_event(void *ctx, struct rvt_hart_flow *hart, const struct rvt_event *event)
{
	struct calls *calls = ctx;
	struct call_thread *thread;
	bool told = !calls->ops.passes || calls->ops.passes(calls->ops.ctx, hart);
	int err = 0;

	/* these say nothing of a thread, and who runs slices does not get them all */
	if (event->type == RVT_EVENT_TIME || event->type == RVT_EVENT_CONTEXT)
		return 0;
	if (event->type != RVT_EVENT_LOST && (!told || !calls->ops.event))
		return 0;
	if (told)
		err = find_thread(calls, hart, &thread);
	else
		thread = known_thread(calls, hart);
	if (!err && event->type == RVT_EVENT_LOST) {
		if (thread) {
			doubt_calls(thread);
			thread->stopped = false;
		}
		err = note_loss(calls, hart->cpu);
	}
	return err || !told || !calls->ops.event ? err :
		calls->ops.event(calls->ops.ctx, thread, hart, event);
}

/* ---- the whole ---- */

struct calls *calls_create(const struct calls_ops *ops, struct places *places)
{
	struct calls *calls = calloc(1, sizeof(*calls));

	if (calls) {
		calls->ops = *ops;
		calls->places = places;
	}
	return calls;
}

static void free_thread(void *data)
{
	struct call_thread *thread = data;

	free(thread->calls);
	free(thread);
}

void calls_destroy(struct calls *calls)
{
	if (!calls)
		return;
	tdestroy(calls->threads, free_thread);
	tdestroy(calls->functions, free);
	free(calls->lost);
	free(calls->ever_lost);
	free(calls);
}

void calls_transfers_ops(struct calls *calls, struct rvt_transfers_ops *ops)
{
	*ops = (struct rvt_transfers_ops){
		.size = sizeof(*ops), .ctx = calls, .line = take_line,
		.transfer = calls->ops.transfer ? pass_transfer : NULL, .after = take_after,
		.event = take_event };
}

static void finish_thread(const void *node, VISIT which, void *closure)
{
	struct call_thread *thread = *(struct call_thread *const *)node;
	struct calls *calls = closure;

	if ((which == postorder || which == leaf) && !calls->err)
		calls->err = end_life(calls, thread, thread->life);
}

int calls_finish(struct calls *calls)
{
	calls->err = 0;
	twalk_r(calls->threads, finish_thread, calls);
	return calls->err;
}

bool calls_timed(const struct calls *calls)
{
	return calls->timed;
}
