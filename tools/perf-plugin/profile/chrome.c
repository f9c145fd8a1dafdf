// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Calls over time, as chrome://tracing and Perfetto read them: the JSON Array Format of trace
 * events. Each event is made, printed and freed, so that memory does not grow with the recording.
 */
#include <errno.h>
#include <inttypes.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include "common/cmd.h"
#include "profile/profile.h"

#ifdef HAVE_JSON
#include <json-c/json.h>

/* Above every process id: those of the n-th recording are moved up by n times this. */
#define RECORDING_PIDS 10000000

/* What a viewer was told of a thread; .key first, for tsearch(). */
struct named {
	int32_t pid, tid;
	char comm[96];
};

struct chrome {
	struct places *places;
	FILE *out;
	const char *recording;	/* its name, when there are several */
	int recordings;
	void *threads, *processes;	/* tsearch trees of struct named */
	bool any;
};

void *chrome_create(struct places *places, const struct rvt_session_options *options, FILE *out)
{
	struct chrome *chrome = calloc(1, sizeof(*chrome));

	(void)options;
	if (!chrome)
		return NULL;
	chrome->places = places;
	chrome->out = out;
	fputs("[\n", out);
	return chrome;
}

static void forget_names(struct chrome *chrome)
{
	tdestroy(chrome->threads, free);
	tdestroy(chrome->processes, free);
	chrome->threads = chrome->processes = NULL;
}

void chrome_next(void *data, struct places *places, const char *name)
{
	struct chrome *chrome = data;

	forget_names(chrome);
	chrome->places = places;
	chrome->recording = name;
	chrome->recordings++;
}

/* @event is freed. */
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

/* Microseconds, to the nanosecond. */
static void add_time(struct json_object *event, uint64_t ns)
{
	char text[32];

	snprintf(text, sizeof(text), "%" PRIu64 ".%03" PRIu64, ns / 1000, ns % 1000);
	json_object_object_add(event, "ts", json_object_new_double_s(ns / 1e3, text));
}

static int compare_named(const void *a, const void *b)
{
	const struct named *x = a, *y = b;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	return x->tid < y->tid ? -1 : x->tid > y->tid;
}

static int put_name(struct chrome *chrome, const char *kind, const struct named *named)
{
	struct json_object *event = new_event(chrome, "M", named->pid, named->tid);
	struct json_object *args = json_object_new_object();
	const char *recording = chrome->recording;
	char text[320];

	snprintf(text, sizeof(text), "%s%s%.250s%s", named->comm, recording ? " (" : "",
		 recording ? recording : "", recording ? ")" : "");
	json_object_object_add(event, "name", json_object_new_string(kind));
	json_object_object_add(args, "name", json_object_new_string(text));
	json_object_object_add(event, "args", args);
	return put(chrome, event);
}

/* Says how a thread or process is called, when it is first seen or has another name than before. */
static int tell_name(struct chrome *chrome, void **tree, const char *kind,
		     const struct named *named)
{
	struct named **found = tsearch(named, tree, compare_named);

	if (!found)
		return -ENOMEM;
	if (*found == named) {
		*found = malloc(sizeof(*named));
		if (!*found) {
			*found = (struct named *)named;
			tdelete(named, tree, compare_named);
			return -ENOMEM;
		}
	} else if (!strcmp((*found)->comm, named->comm)) {
		return 0;
	}
	**found = *named;
	return put_name(chrome, kind, named);
}

static int tell_names(struct chrome *chrome, const struct rvt_hart_flow *hart)
{
	struct named named = { .pid = hart->task ? hart->task->pid : -1,
			       .tid = hart->task ? hart->task->tid : -2 - hart->cpu };
	int err;

	snprintf(named.comm, sizeof(named.comm), "%s", places_comm(chrome->places, hart));
	err = tell_name(chrome, &chrome->threads, "thread_name", &named);
	if (err || named.pid != named.tid)
		return err;
	return tell_name(chrome, &chrome->processes, "process_name", &named);
}

static int put_begin(struct chrome *chrome, const struct rvt_hart_flow *hart, int32_t pid,
		     int32_t tid,
		     uint64_t addr)
{
	const struct place *place = places_find(chrome->places, hart->space, addr);
	struct json_object *event = new_event(chrome, "B", pid, tid);
	struct json_object *args = json_object_new_object();
	char unknown[24];

	snprintf(unknown, sizeof(unknown), "0x%" PRIx64, addr);
	add_time(event, hart->time);
	json_object_object_add(event, "name", json_object_new_string(place->symbol ? place->symbol :
								     unknown));
	json_object_object_add(args, "dso", json_object_new_string(place->dso));
	json_object_object_add(args, "cpu", json_object_new_int(hart->cpu));
	json_object_object_add(event, "args", args);
	return put(chrome, event);
}

static int chrome_after(void *ctx, struct rvt_hart_flow *hart, const struct transfer *transfer,
			struct rvt_callstack *stack, size_t ended)
{
	struct chrome *chrome = ctx;
	int32_t pid = hart->task ? hart->task->pid : -1;
	int32_t tid = hart->task ? hart->task->tid : -2 - hart->cpu;
	int err = 0;

	(void)stack;
	for (; ended && !err; ended--) {
		struct json_object *event = new_event(chrome, "E", pid, tid);

		add_time(event, hart->time);
		err = put(chrome, event);
	}
	if (err || (transfer->kind != TRANSFER_CALL && transfer->kind != TRANSFER_TRAP))
		return err;
	err = tell_names(chrome, hart);
	return err ? err : put_begin(chrome, hart, pid, tid, transfer->to);
}

void chrome_ops(struct transfers_ops *ops)
{
	ops->after = chrome_after;
}

/* Viewers close what is still open at the end of the trace. */
int chrome_write(void *data, const char *name, const char *dso, FILE *out)
{
	(void)data;
	(void)name;
	(void)dso;
	fputs("\n]\n", out);
	return 0;
}

void chrome_destroy(void *data)
{
	struct chrome *chrome = data;

	forget_names(chrome);
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

void chrome_ops(struct transfers_ops *ops)
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
