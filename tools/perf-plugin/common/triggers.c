// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "util/array.h"
#include "common/text.h"
#include "common/triggers.h"

#define SHOWN_MARKS 10

/* A sample of the recorder, which begins with these fields. */
struct mark {
	uint64_t time, ip;
	int32_t cpu;
	enum rvt_mark what;	/* RVT_MARK_RECORDER, RVT_MARK_SAMPLE */
	const char *spec;
};

/* Marks of .cpu before .next have been told. */
struct told_marks {
	int32_t cpu;
	size_t next;
};

struct trigger_marks {
	struct mark *marks;	/* in the order of time */
	size_t n, n_samples;
	struct told_marks *told;
	size_t n_told;
	const struct rvt_session_sink *sink;
};

bool trigger_is_event(const struct rvt_perfdata_event *event)
{
	return !strncmp(event->name, TRIGGER_EVENT, strlen(TRIGGER_EVENT));
}

/* Returns whether the samples of @event have trace. */
static bool has_trace(const struct rvt_perfdata_event *event)
{
	return event->attr.sample_type & PERF_SAMPLE_AUX;
}

static int compare_marks(const void *a, const void *b)
{
	const struct mark *x = a, *y = b;

	return x->time < y->time ? -1 : x->time > y->time;
}

static int add(struct trigger_marks *marks, const struct rvt_perfdata_record *record)
{
	bool trigger = trigger_is_event(record->event);
	const uint64_t *body = (const uint64_t *)(record->header + 1);

	if (!record->time_valid || !record->cpu_valid || record->body_len < 2 * sizeof(*body) ||
	    !(record->event->attr.sample_type & PERF_SAMPLE_IDENTIFIER) ||
	    !(record->event->attr.sample_type & PERF_SAMPLE_IP))
		return 0;
	if (array_grow(&marks->marks, marks->n))
		return -ENOMEM;
	marks->marks[marks->n++] = (struct mark){
		.time = record->time, .ip = body[1], .cpu = record->cpu,
		.what = trigger ? RVT_MARK_RECORDER : RVT_MARK_SAMPLE,
		.spec = record->event->name + (trigger ? strlen(TRIGGER_EVENT) : 0) };
	marks->n_samples += !trigger;
	return 0;
}

struct trigger_marks *trigger_marks_read(struct rvt_perfdata *file)
{
	struct rvt_perfdata_record record;
	struct trigger_marks *marks;
	uint64_t pos = 0;
	bool any = false;

	for (size_t i = 0; i < rvt_perfdata_n_events(file); i++)
		any |= trigger_is_event(rvt_perfdata_event(file, i)) ||
			has_trace(rvt_perfdata_event(file, i));
	marks = any ? calloc(1, sizeof(*marks)) : NULL;
	while (marks && rvt_perfdata_next(file, &pos, &record) > 0)
		if (record.type == PERF_RECORD_SAMPLE && record.event &&
		    (trigger_is_event(record.event) || has_trace(record.event)) &&
		    add(marks, &record))
			break;
	if (marks && !marks->n) {
		trigger_marks_free(marks);
		return NULL;
	}
	if (marks)
		qsort(marks->marks, marks->n, sizeof(*marks->marks), compare_marks);
	return marks;
}

void trigger_marks_free(struct trigger_marks *marks)
{
	if (!marks)
		return;
	free(marks->marks);
	free(marks->told);
	free(marks);
}

/* Finds or makes the entry of a cpu. NULL: out of memory. */
static struct told_marks *told_of(struct trigger_marks *marks, int32_t cpu)
{
	for (size_t i = 0; i < marks->n_told; i++)
		if (marks->told[i].cpu == cpu)
			return &marks->told[i];
	if (array_grow(&marks->told, marks->n_told))
		return NULL;
	marks->told[marks->n_told] = (struct told_marks){ .cpu = cpu };
	return &marks->told[marks->n_told++];
}

/* Tells the marks on the cpu of @hart up to @until. */
static int tell(struct trigger_marks *marks, struct rvt_hart_flow *hart, uint64_t until)
{
	struct told_marks *told = told_of(marks, hart->cpu);
	uint64_t time = hart->time;
	int err = told ? 0 : -ENOMEM;

	while (!err && told->next < marks->n && marks->marks[told->next].time <= until) {
		const struct mark *mark = &marks->marks[told->next++];
		const struct rvt_event event = {
			.type = RVT_EVENT_MARK, .mark = mark->what, .pc = mark->ip,
			.own_pc = true, .time = mark->time, .detail = mark->spec };

		if (mark->cpu != hart->cpu)
			continue;
		hart->time = mark->time;
		err = marks->sink->event(marks->sink->ctx, hart, &event);
	}
	hart->time = time;
	return err;
}

static int take_runs(void *ctx, struct rvt_hart_flow *hart, const struct rvt_run *runs, size_t n)
{
	struct trigger_marks *marks = ctx;
	int err = tell(marks, hart, hart->time);

	return err || !marks->sink->runs ? err :
		marks->sink->runs(marks->sink->ctx, hart, runs, n);
}

static int take_event(void *ctx, struct rvt_hart_flow *hart, const struct rvt_event *event)
{
	struct trigger_marks *marks = ctx;
	int err = tell(marks, hart, hart->time);

	return err ? err : marks->sink->event(marks->sink->ctx, hart, event);
}

static int take_aux(void *ctx, unsigned int buffer, const struct rvt_aux *aux)
{
	const struct trigger_marks *marks = ctx;

	return marks->sink->aux ? marks->sink->aux(marks->sink->ctx, buffer, aux) : 0;
}

static int take_damage(void *ctx, unsigned int buffer, const struct rvt_event *event)
{
	const struct trigger_marks *marks = ctx;

	return marks->sink->damage(marks->sink->ctx, buffer, event);
}

static void take_warning(void *ctx, const char *text)
{
	const struct trigger_marks *marks = ctx;

	if (marks->sink->warning)
		marks->sink->warning(marks->sink->ctx, text);
}

static void take_end(void *ctx, struct rvt_hart_flow *hart)
{
	struct trigger_marks *marks = ctx;

	tell(marks, hart, UINT64_MAX);
	if (marks->sink->end)
		marks->sink->end(marks->sink->ctx, hart);
}

void trigger_marks_sink(struct trigger_marks *marks, const struct rvt_session_sink *before,
			struct rvt_session_sink *sink)
{
	*sink = *before;
	if (!before->event)
		return;
	marks->n_told = 0;
	marks->sink = before;
	sink->ctx = marks;
	sink->events = 0;
	sink->aux = take_aux;
	sink->runs = take_runs;
	sink->event = take_event;
	sink->damage = before->damage ? take_damage : NULL;
	sink->warning = take_warning;
	sink->end = take_end;
}

void trigger_marks_print(const struct trigger_marks *marks, FILE *out, const char *prefix)
{
	size_t n = marks ? marks->n - marks->n_samples : 0, shown = 0;

	for (size_t i = 0; marks && i < marks->n && shown < SHOWN_MARKS; i++) {
		const struct mark *mark = &marks->marks[i];

		if (mark->what != RVT_MARK_RECORDER)
			continue;
		shown++;
		fprintf(out, "%srecord --trigger ", prefix);
		put_visible(out, mark->spec);
		fprintf(out, " at %" PRIu64 ".%09" PRIu64 " s on cpu %d\n", mark->time / 1000000000,
			mark->time % 1000000000, mark->cpu);
	}
	if (n > shown)
		fprintf(out, "%s... and %zu times more\n", prefix, n - shown);
	if (marks && marks->n_samples)
		fprintf(out, "%sthe trace is in %zu samples, each has what came before it\n",
			prefix, marks->n_samples);
}
