// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "util/array.h"
#include "common/text.h"
#include "common/triggers.h"

#define SHOWN_MARKS 10

/* One that happened; its sample begins so, for the recorder's samples have these fields. */
struct mark {
	uint64_t time, ip;
	int32_t cpu;
	const char *spec;
	bool told;
};

struct trigger_marks {
	struct mark *marks;	/* in the order of time */
	size_t n;
	const struct rvt_session_sink *sink;
};

bool trigger_is_event(const struct rvt_perfdata_event *event)
{
	return !strncmp(event->name, TRIGGER_EVENT, strlen(TRIGGER_EVENT));
}

static int compare_marks(const void *a, const void *b)
{
	const struct mark *x = a, *y = b;

	return x->time < y->time ? -1 : x->time > y->time;
}

static int add(struct trigger_marks *marks, const struct rvt_perfdata_record *record)
{
	const uint64_t *body = (const uint64_t *)(record->header + 1);

	if (!record->time_valid || !record->cpu_valid || record->body_len < 2 * sizeof(*body) ||
	    !(record->event->attr.sample_type & PERF_SAMPLE_IDENTIFIER) ||
	    !(record->event->attr.sample_type & PERF_SAMPLE_IP))
		return 0;
	if (array_grow(&marks->marks, marks->n))
		return -ENOMEM;
	marks->marks[marks->n++] = (struct mark){
		.time = record->time, .ip = body[1], .cpu = record->cpu,
		.spec = record->event->name + strlen(TRIGGER_EVENT) };
	return 0;
}

struct trigger_marks *trigger_marks_read(struct rvt_perfdata *file)
{
	struct rvt_perfdata_record record;
	struct trigger_marks *marks;
	uint64_t pos = 0;
	bool any = false;

	for (size_t i = 0; i < rvt_perfdata_n_events(file); i++)
		any |= trigger_is_event(rvt_perfdata_event(file, i));
	marks = any ? calloc(1, sizeof(*marks)) : NULL;
	while (marks && rvt_perfdata_next(file, &pos, &record) > 0)
		if (record.type == PERF_RECORD_SAMPLE && record.event &&
		    trigger_is_event(record.event) && add(marks, &record))
			break;
	if (marks && marks->n)
		qsort(marks->marks, marks->n, sizeof(*marks->marks), compare_marks);
	return marks;
}

void trigger_marks_free(struct trigger_marks *marks)
{
	if (!marks)
		return;
	free(marks->marks);
	free(marks);
}

/* Those on the cpu of @hart up to @until. */
static int tell(struct trigger_marks *marks, struct rvt_hart_flow *hart, uint64_t until)
{
	uint64_t time = hart->time;
	int err = 0;

	for (size_t i = 0; i < marks->n && !err && marks->marks[i].time <= until; i++) {
		struct mark *mark = &marks->marks[i];
		const struct rvt_event event = {
			.type = RVT_EVENT_MARK, .mark = RVT_MARK_RECORDER, .pc = mark->ip,
			.own_pc = true, .time = mark->time, .detail = mark->spec };

		if (mark->told || mark->cpu != hart->cpu)
			continue;
		mark->told = true;
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
	for (size_t i = 0; i < marks->n; i++)
		marks->marks[i].told = false;
	marks->sink = before;
	sink->ctx = marks;
	sink->aux = take_aux;
	sink->runs = take_runs;
	sink->event = take_event;
	sink->damage = before->damage ? take_damage : NULL;
	sink->warning = take_warning;
	sink->end = take_end;
}

void trigger_marks_print(const struct trigger_marks *marks, FILE *out, const char *prefix)
{
	for (size_t i = 0; marks && i < marks->n && i < SHOWN_MARKS; i++) {
		const struct mark *mark = &marks->marks[i];

		fprintf(out, "%srecord --trigger ", prefix);
		put_visible(out, mark->spec);
		fprintf(out, " at %" PRIu64 ".%09" PRIu64 " s on cpu %d\n", mark->time / 1000000000,
			mark->time % 1000000000, mark->cpu);
	}
	if (marks && marks->n > SHOWN_MARKS)
		fprintf(out, "%s... and %zu times more\n", prefix, marks->n - SHOWN_MARKS);
}
