// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * The driver's tracepoints in words, for every tool that uses libtraceevent: perf script,
 * trace-cmd. They look for plugins in $TRACEEVENT_PLUGIN_DIR, ~/.local/lib/traceevent/plugins and a
 * directory of the system.
 */
#include <stdio.h>
#include <string.h>
#include <event-parse.h>
#include <trace-seq.h>

#define SYSTEM "rvtrace"

/* 0 when the kernel's event has no such field. */
static unsigned long long field(struct tep_record *record, struct tep_event *event,
				const char *name)
{
	unsigned long long value = 0;

	tep_get_field_val(NULL, event, name, record, &value, 0);
	return value;
}

static int show_start(struct trace_seq *s, struct tep_record *record, struct tep_event *event,
		      void *context)
{
	int error = (int)field(record, event, "ret");

	(void)context;
	trace_seq_printf(s, "cpu %d starts into sink %u", (int)field(record, event, "cpu"),
			 (unsigned int)field(record, event, "sink"));
	if (error)
		trace_seq_printf(s, ": failed: %s", strerror(-error));
	return 0;
}

static int show_stop(struct trace_seq *s, struct tep_record *record, struct tep_event *event,
		     void *context)
{
	(void)context;
	trace_seq_printf(s, "cpu %d stops into sink %u%s", (int)field(record, event, "cpu"),
			 (unsigned int)field(record, event, "sink"),
			 field(record, event, "lost") ? ", the encoder lost trace" : "");
	return 0;
}

static int show_drain(struct trace_seq *s, struct tep_record *record, struct tep_event *event,
		      void *context)
{
	unsigned long long bytes = field(record, event, "bytes");

	(void)context;
	trace_seq_printf(s, "sink %u gives ", (unsigned int)field(record, event, "sink"));
	if (bytes < 10240)
		trace_seq_printf(s, "%llu bytes", bytes);
	else
		trace_seq_printf(s, "%llu KiB", bytes >> 10);
	if (field(record, event, "wrapped"))
		trace_seq_puts(s, ", older trace was overwritten");
	return 0;
}

static int show_context(struct trace_seq *s, struct tep_record *record, struct tep_event *event,
			void *context)
{
	(void)context;
	trace_seq_printf(s, "the trace goes on with thread %d",
			 (int)field(record, event, "pid"));
	return 0;
}

static const struct {
	const char *name;
	tep_event_handler_func show;
} events[] = {
	{ "rvtrace_start", show_start },
	{ "rvtrace_stop", show_stop },
	{ "rvtrace_drain", show_drain },
	{ "rvtrace_context", show_context },
};

int TEP_PLUGIN_LOADER(struct tep_handle *tep)
{
	for (size_t i = 0; i < sizeof(events) / sizeof(*events); i++)
		tep_register_event_handler(tep, -1, SYSTEM, events[i].name, events[i].show, NULL);
	return 0;
}

void TEP_PLUGIN_UNLOADER(struct tep_handle *tep)
{
	for (size_t i = 0; i < sizeof(events) / sizeof(*events); i++)
		tep_unregister_event_handler(tep, -1, SYSTEM, events[i].name, events[i].show, NULL);
}
