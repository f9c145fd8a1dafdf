// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "common/marks.h"
#include "html/html.h"
#include "util/array.h"

/* Limits with which a page can still be loaded and scrolled quickly. */
#define MAX_CALLS 300000
#define MAX_TURNS 200000
#define MAX_MARKS 10000
#define FINEST 20000		/* in parts of the whole time */

static double since(const struct html_data *data, uint64_t time)
{
	return time > data->first ? time - data->first : 0;
}

static uint32_t thread_number(const struct call_thread *thread)
{
	return (uintptr_t)thread->user - 1;
}

static int take_thread(void *ctx, struct call_thread *thread)
{
	struct html_data *data = ctx;

	if (!thread->user) {
		if (array_grow(&data->threads, data->n_threads))
			return -ENOMEM;
		thread->user = (void *)(uintptr_t)++data->n_threads;
	}
	data->threads[thread_number(thread)] = (struct html_thread){
		thread->pid, rvt_task_key_tid(thread->tid), thread->comm };
	return 0;
}

/* ---- calls ---- */

static int keep_function(struct html_data *data, const struct call_function *function)
{
	size_t n = data->n_functions;

	if (function->number < n)
		return 0;
	/* numbers ascend by one, and each function is seen when it begins */
	if (array_grow(&data->functions, n) || array_grow(&data->dsos, n) ||
	    array_grow(&data->kernel, n))
		return -ENOMEM;
	data->functions[n] = function->name;
	data->dsos[n] = function->dso;
	data->kernel[n] = function->kernel;
	data->n_functions++;
	return 0;
}

static int begin_call(void *ctx, struct call_thread *thread, struct call *call)
{
	(void)thread;
	return keep_function(ctx, call->function);
}

/* Doubles the length that a call must have, and drops shorter ones. */
static void drop_short_calls(struct html_data *data)
{
	size_t kept = 0;

	data->shortest = data->shortest ? 2 * data->shortest : 1;
	for (size_t i = 0; i < data->n_calls; i++)
		if (data->calls[i].time >= data->shortest)
			data->calls[kept++] = data->calls[i];
	data->left_out += data->n_calls - kept;
	data->n_calls = kept;
}

static int keep_call(struct html_data *data, const struct call_thread *thread,
		     const struct call *call)
{
	if (call->time < data->shortest) {
		data->left_out++;
		return 0;
	}
	while (data->n_calls >= MAX_CALLS)
		drop_short_calls(data);
	if (array_reserve(&data->calls, &data->calls_room, data->n_calls, 1))
		return -ENOMEM;
	data->calls[data->n_calls++] = (struct html_call){
		.began = since(data, call->began), .time = call->time,
		.thread = thread_number(thread), .function = call->function->number,
		.depth = thread->n < UINT16_MAX ? thread->n : UINT16_MAX,
		.partial = !call->whole };
	return 0;
}

static int end_call(void *ctx, struct call_thread *thread, const struct call *call)
{
	struct html_data *data = ctx;
	int err = latency_take(&data->latency, thread, call);

	return err ? err : keep_call(data, thread, call);
}

/* ---- cpus ---- */

static struct html_cpu *get_cpu(struct html_data *data, int32_t number)
{
	size_t cpu = number < 0 ? 0 : number;

	while (data->n_cpus <= cpu) {
		if (array_grow(&data->cpus, data->n_cpus))
			return NULL;
		data->cpus[data->n_cpus++] = (struct html_cpu){ 0 };
	}
	return &data->cpus[cpu];
}

static int add_turn(struct html_data *data, const struct html_turn *turn)
{
	if (data->n_turns >= MAX_TURNS)
		return 0;
	if (array_reserve(&data->turns, &data->turns_room, data->n_turns, 1))
		return -ENOMEM;
	data->turns[data->n_turns++] = *turn;
	return 0;
}

static int note_turn(struct html_data *data, struct html_cpu *cpu, uint32_t thread,
		     int32_t number, uint64_t from, uint64_t to)
{
	struct html_turn *last = cpu->turn ? &data->turns[cpu->turn - 1] : NULL;
	const struct html_turn turn = { .began = since(data, from), .time = to - from,
					.cpu = number < 0 ? 0 : number, .thread = thread };
	const struct html_turn lost = { .began = since(data, cpu->lost), .cpu = turn.cpu,
		.time = from > cpu->lost ? from - cpu->lost : 0, .thread = HTML_LOST };
	int err = cpu->lost ? add_turn(data, &lost) : 0;

	if (!err && !cpu->lost && last && last->thread == thread &&
	    turn.began <= last->began + last->time + data->fine) {
		if (turn.began + turn.time > last->began + last->time)
			last->time = turn.began + turn.time - last->began;
		return 0;
	}
	cpu->lost = 0;
	if (!err)
		err = add_turn(data, &turn);
	cpu->turn = data->n_turns;
	return err;
}

static int take_line(void *ctx, struct call_thread *thread, struct rvt_hart_flow *hart,
		     const struct rvt_straight_line *line, struct rvt_callstack *stack)
{
	struct html_data *data = ctx;
	uint64_t to = hart->time > line->began ? hart->time : line->began;
	struct html_cpu *cpu = get_cpu(data, hart->cpu);
	int err;

	if (!cpu)
		return -ENOMEM;
	if (!data->any) {
		data->any = true;
		data->first = line->began;
	}
	if (to > data->last)
		data->last = to;
	err = note_turn(data, cpu, thread_number(thread), hart->cpu, line->began, to);
	if (!err)
		err = code_line(&data->code, hart, line, stack);
	return err ? err : contexts_line(&data->contexts, hart, line, stack);
}

static int take_transfer(void *ctx, struct rvt_hart_flow *hart, const struct rvt_transfer *transfer,
			 struct rvt_callstack *stack)
{
	struct html_data *data = ctx;

	return code_transfer(&data->code, hart, transfer, stack);
}

static int take_after(void *ctx, struct rvt_hart_flow *hart, const struct rvt_transfer *transfer,
		      struct rvt_callstack *stack, size_t ended)
{
	struct html_data *data = ctx;

	return contexts_after(&data->contexts, hart, transfer, stack, ended);
}

static int take_event(void *ctx, struct call_thread *thread, struct rvt_hart_flow *hart,
		      const struct rvt_event *event)
{
	struct html_data *data = ctx;
	char text[MARK_TEXT_SIZE];
	struct html_mark mark = { .time = since(data, hart->time), .cpu = hart->cpu };
	struct html_cpu *cpu = get_cpu(data, hart->cpu);

	(void)thread;
	if (!cpu)
		return -ENOMEM;
	if (event->type == RVT_EVENT_LOST && !cpu->lost)
		cpu->lost = hart->time ? hart->time : 1;
	if (event->type != RVT_EVENT_MARK || data->n_marks >= MAX_MARKS)
		return 0;
	mark_text(event, text);
	if (array_grow(&data->marks, data->n_marks) ||
	    asprintf(&mark.text, "%s%s", mark_name(event->mark), text) < 0)
		return -ENOMEM;
	data->marks[data->n_marks++] = mark;
	return 0;
}

/* ---- common ---- */

static int take_only_line(void *ctx, struct call_thread *thread, struct rvt_hart_flow *hart,
			  const struct rvt_straight_line *line, struct rvt_callstack *stack)
{
	struct html_data *data = ctx;

	(void)thread;
	return contexts_line(&data->contexts, hart, line, stack);
}

/* Returns whether the flow passes the filters, and so is on the page. */
static bool passes(void *ctx, const struct rvt_hart_flow *hart)
{
	struct html_data *data = ctx;

	return view_wants(data->view, hart);
}

static void free_lists(struct html_data *data)
{
	for (size_t i = 0; i < data->n_marks; i++)
		free(data->marks[i].text);
	free(data->marks);
	free(data->threads);
	free(data->functions);
	free(data->dsos);
	free(data->kernel);
	free(data->calls);
	free(data->turns);
	free(data->cpus);
	latency_free(&data->latency);
	context_free(&data->contexts.root);
}

static void begin(struct html_data *data)
{
	data->contexts.places = data->places;
	data->contexts.by_thread = true;
	data->latency = (struct latency){ .options = &data->latency_options, .view = data->view,
					  .places = data->places };
}

static void forget(void *ctx)
{
	struct html_data *data = ctx;
	const struct html_data kept = { .view = data->view, .places = data->places,
					.latency_options = data->latency_options,
					.code = data->code, .fine = data->fine };

	free_lists(data);
	*data = kept;
	if (data->code.state)
		code_forget(&data->code);
	begin(data);
}

int html_gather(struct html_data *data, bool all)
{
	const struct calls_ops contexts = { .ctx = data, .line = take_only_line,
					    .after = take_after, .passes = passes,
					    .forget = forget };
	const struct calls_ops ops = {
		.ctx = data, .thread = take_thread, .begin = begin_call, .end = end_call,
		.line = take_line, .transfer = take_transfer, .after = take_after,
		.event = take_event, .passes = passes, .forget = forget };
	uint64_t from, to;
	int err, ended;

	rvt_session_span(view_session(data->view), &from, &to);
	data->fine = to != UINT64_MAX && to > from ? (to - from) / FINEST : 0;
	begin(data);
	data->code = (struct code){ .view = data->view, .places = data->places };
	err = all ? code_begin(&data->code) : 0;
	if (!err)
		err = calls_run(data->view, data->places, all ? &ops : &contexts, &data->timed,
				&data->errors);
	ended = code_end(&data->code);
	data->latency.timed = data->timed;
	context_add_up(&data->contexts.root);
	return err ? err : ended;
}

void html_free(struct html_data *data)
{
	free_lists(data);
	code_free(&data->code);
	places_destroy(data->places);
	view_close(data->view);
}
