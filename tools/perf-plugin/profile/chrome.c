// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Calls over time, as chrome://tracing and Perfetto read them: the JSON Array Format of trace
 * events. Each event is made, printed and freed, so that memory does not grow with the recording.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "common/cmd.h"
#include "profile/profile.h"
#include "profile/timeline.h"

#ifdef HAVE_JSON
#include <json-c/json.h>

/* Above every process id: those of recording n are raised by n times this. */
#define RECORDING_PIDS 10000000

struct chrome {
	struct timeline timeline;
	FILE *out;
	const char *recording;	/* its name, when there are several */
	int recordings;
	bool any;
};

/* Writes @event, and frees it. */
static int put(struct chrome *chrome, struct json_object *event)
{
	if (chrome->any)
		fputs(",\n", chrome->out);
	chrome->any = true;
	fputs(json_object_to_json_string_ext(event, JSON_C_TO_STRING_PLAIN |
					     JSON_C_TO_STRING_NOSLASHESCAPE), chrome->out);
	json_object_put(event);
	return ferror(chrome->out) ? -EPIPE : 0;
}

static struct json_object *new_event(const struct chrome *chrome, const char *phase, int32_t pid,
				     int32_t tid)
{
	struct json_object *event = json_object_new_object();
	int base = chrome->recordings ? (chrome->recordings - 1) * RECORDING_PIDS : 0;

	json_object_object_add(event, "ph", json_object_new_string(phase));
	json_object_object_add(event, "pid", json_object_new_int(base + pid));
	json_object_object_add(event, "tid", json_object_new_int(base + tid));
	return event;
}

/* Adds a time in microseconds, with the nanoseconds behind the point. */
static void add_time(struct json_object *event, const char *key, uint64_t ns)
{
	char text[32];

	snprintf(text, sizeof(text), "%" PRIu64 ".%03" PRIu64, ns / 1000, ns % 1000);
	json_object_object_add(event, key, json_object_new_double_s(ns / 1e3, text));
}

static int put_name(struct chrome *chrome, const char *kind, const struct timeline_thread *thread)
{
	struct json_object *event = new_event(chrome, "M", thread->pid, thread->tid);
	struct json_object *args = json_object_new_object();
	const char *recording = chrome->recording;
	char text[360];

	snprintf(text, sizeof(text), "%s%s%.250s%s", thread->comm, recording ? " (" : "",
		 recording ? recording : "", recording ? ")" : "");
	json_object_object_add(event, "name", json_object_new_string(kind));
	json_object_object_add(args, "name", json_object_new_string(text));
	json_object_object_add(event, "args", args);
	return put(chrome, event);
}

static int put_thread(void *ctx, const struct timeline_thread *thread)
{
	int err = put_name(ctx, "thread_name", thread);

	return err || thread->pid != thread->tid ? err : put_name(ctx, "process_name", thread);
}

/*
 * Writes a slice as one event with its length. speedscope takes pairs of events that begin and end
 * only if both have the same name and arguments, and distinguishes functions by their arguments.
 */
static int put_slice(void *ctx, const struct timeline_thread *thread,
		     const struct timeline_slice *slice, uint64_t time)
{
	struct chrome *chrome = ctx;
	struct json_object *event = new_event(chrome, "X", thread->pid, thread->tid);

	add_time(event, "ts", slice->begin);
	add_time(event, "dur", time - slice->begin);
	json_object_object_add(event, "name", json_object_new_string(slice->name));
	json_object_object_add(event, "cat", json_object_new_string(slice->dso));
	return put(chrome, event);
}

void *chrome_create(struct places *places, const struct rvt_session_options *options, FILE *out)
{
	struct chrome *chrome = calloc(1, sizeof(*chrome));

	(void)options;
	if (!chrome)
		return NULL;
	chrome->timeline = (struct timeline){
		.places = places,
		.ops = { .ctx = chrome, .thread = put_thread, .end = put_slice },
	};
	chrome->out = out;
	fputs("[\n", out);
	return chrome;
}

static int chrome_after(void *ctx, struct rvt_hart_flow *hart, const struct rvt_transfer *transfer,
			struct rvt_callstack *stack, size_t ended)
{
	struct chrome *chrome = ctx;

	(void)transfer;
	return timeline_after(&chrome->timeline, hart, stack, ended);
}

void chrome_ops(struct rvt_transfers_ops *ops)
{
	ops->after = chrome_after;
}

void chrome_next(void *data, struct places *places, const char *name)
{
	struct chrome *chrome = data;

	chrome->timeline.places = places;
	chrome->recording = name;
	chrome->recordings++;
}

int chrome_close(void *data)
{
	struct chrome *chrome = data;

	return timeline_end(&chrome->timeline);
}

int chrome_write(void *data, const char *name, const char *dso, FILE *out)
{
	int err = chrome_close(data);

	(void)name;
	(void)dso;
	fputs("\n]\n", out);
	return err;
}

void chrome_destroy(void *data)
{
	struct chrome *chrome = data;

	chrome->timeline.ops = (struct timeline_ops){ 0 };
	timeline_end(&chrome->timeline);
	free(chrome);
}
#else
void *chrome_create(struct places *places, const struct rvt_session_options *options, FILE *out)
{
	(void)places, (void)options, (void)out;
	cmd_error(0, "the format chrome needs json-c: install libjson-c-dev and build again");
	return NULL;
}

void chrome_next(void *data, struct places *places, const char *name)
{
	(void)data, (void)places, (void)name;
}

int chrome_close(void *data)
{
	(void)data;
	return 0;
}

void chrome_ops(struct rvt_transfers_ops *ops)
{
	(void)ops;
}

int chrome_write(void *data, const char *name, const char *dso, FILE *out)
{
	(void)data, (void)name, (void)dso, (void)out;
	return -ENOTSUP;
}

void chrome_destroy(void *data)
{
	(void)data;
}
#endif
