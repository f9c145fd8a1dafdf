/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Parses events in perf's syntax, which are sampled beside the trace, into the kernel's attributes.
 */
#ifndef PERF_RVTRACE_EVENT_H
#define PERF_RVTRACE_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <linux/perf_event.h>

/* What an event does to the trace that leads its group: bits of perf_event_attr.aux_action. */
enum event_aux_action {
	EVENT_AUX_START_PAUSED = 1,	/* of the trace itself */
	EVENT_AUX_PAUSE = 2,
	EVENT_AUX_RESUME = 4,
};

#define EVENT_AUX_SAMPLE 4096u		/* bytes of trace in a sample, by default; as in perf */
#define EVENT_MAX_AUX_SAMPLE (60u << 10)	/* a record has 64 KiB */

struct event {
	char *name;		/* perf's name of it; malloc'd */
	char *tracepoint;	/* SYSTEM/NAME, malloc'd; NULL: it is none */
	struct perf_event_attr attr;	/* type, config words, the modes it counts in */
	bool rate;		/* .attr has a period or frequency */
	bool grouped;		/* with the trace */
	char *filter;		/* of a tracepoint: which ones to report; malloc'd; NULL: all */
	unsigned int trigger;	/* number of its trigger, from 1; 0: none */
	bool counted;		/* count how often it happens, too */
};

struct event_list {
	struct event *events;
	size_t n;
};

/* Where the kernel describes events: "/sys", and what tracefs_find() returned. */
struct event_roots {
	const char *sysfs;
	const char *tracefs;	/* NULL: there is none */
};

/* Returns the length of the first event, or of the first group, in "A,B/x=1,y/u,{C,D}". */
size_t event_length(const char *text);
/*
 * event_parse - adds the event that @text names to @list, or all tracepoints that it does:
 *	NAME[/period=N,freq=N,name=TEXT/][:MODIFIERS]	hardware, software and cache events, rHEX
 *	PMU/TERM=VALUE,ALIAS,.../[MODIFIERS]		TERM of the PMU's format, or as above;
 *							ALIAS of its events
 *	SYSTEM:TRACEPOINT[:MODIFIERS]			either may be a pattern, like syscalls:*
 * 0, -ENOMEM, or -EINVAL with a malloc'd sentence in *error.
 */
int event_parse(const struct event_roots *roots, const char *text, struct event_list *list,
		char **error);
void event_list_clear(struct event_list *list);
/*
 * event_take_aux_action - takes the term aux-action=WHAT out of @text, which it changes. Sets
 * *action to an enum event_aux_action; 0: there is no such term. Returns 0, or -EINVAL with a
 * malloc'd sentence in *error.
 */
int event_take_aux_action(char *text, uint32_t *action, char **error);
/*
 * event_sample_size - parses the size of trace in samples, @text, to *size, bytes.
 *
 * event_take_aux_sample_size - takes the term aux-sample-size=SIZE out of @text, which it changes;
 * *size 0: there is no such term.
 *
 * Both return 0, -ENOMEM, or -EINVAL with a malloc'd sentence in *error.
 */
int event_sample_size(const char *text, uint32_t *size, char **error);
int event_take_aux_sample_size(char *text, uint32_t *size, char **error);
/* Sets aux_action, for which headers of Linux before 6.13 have no member. */
void event_set_aux_action(struct perf_event_attr *attr, uint32_t action);

/*
 * record/event-names.c: finds a name of perf's own, or rHEX, of @len bytes. Returns false if it is
 * none.
 */
bool event_find_name(const char *name, size_t len, struct perf_event_attr *attr);

/* ---- tracepoint.c ---- */

/* Finds where tracefs is mounted, or mounts it if necessary and allowed. NULL: not mounted. */
const char *tracefs_find(void);
/*
 * Adds the tracepoints that match SYSTEM:NAME, with attributes like @attr. Returns what
 * event_parse() does.
 */
int tracepoint_add(const char *tracefs, const char *system, const char *name,
		   const struct perf_event_attr *attr, struct event_list *list, char **error);
/*
 * Makes what stock perf must know of tracepoints to print their fields (HEADER_TRACING_DATA):
 * malloc'd. Returns 0, -ENOENT when there is no tracepoint, -ENOMEM, or the error of a file that
 * cannot be read.
 */
int tracepoint_data(const char *tracefs, const struct event_list *list, void **data, size_t *len);

#endif
