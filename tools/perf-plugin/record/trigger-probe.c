// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Makes the kernel's probes for triggers: uprobes, and one where tasks end. They are made in
 * tracefs, so that one probe serves all cpus, threads and children, whose events are ordinary
 * tracepoints. Names of probes have the recorder's process id; each recorder removes probes of
 * recorders that were killed.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "util/array.h"
#include "common/cmd.h"
#include "common/text.h"
#include "common/triggers.h"
#include "record/record.h"

#define GROUP "rvtrace_"
#define TRACER_BYTES 8	/* the function tracer's room at the beginning of a function */

static const char *const lists[] = { "uprobe_events", "kprobe_events" };

/* Writes one command to a list of probes. Returns 0 or -errno. */
static int tell(const char *tracefs, const char *list, const char *text)
{
	char path[64];
	int fd, err = 0;

	snprintf(path, sizeof(path), "%s/%s", tracefs, list);
	fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (write(fd, text, strlen(text)) < 0)
		err = -errno;
	close(fd);
	return err;
}

static bool is_stale(pid_t pid)
{
	return pid == getpid() || (kill(pid, 0) && errno == ESRCH);
}

/* Removes the probes of this recorder, and of recorders that are gone. */
static void remove_probes(const char *tracefs)
{
	for (size_t i = 0; i < sizeof(lists) / sizeof(*lists); i++) {
		char *text = read_text("%s/%s", tracefs, lists[i]), *rest = text, *line;

		while ((line = strsep(&rest, "\n"))) {
			char event[64], command[80];
			int pid;

			if (sscanf(line, "%*[^:]:%63s", event) != 1 ||
			    sscanf(event, GROUP "%d/", &pid) != 1 || !is_stale(pid))
				continue;
			snprintf(command, sizeof(command), "-:%s", event);
			tell(tracefs, lists[i], command);
		}
		free(text);
	}
}

static int explain(const struct trigger *trigger, const char *tracefs, const char *list, int err)
{
	if (err == -EACCES || err == -EPERM)
		return cmd_error(err, "--trigger '%s': %s/%s may not be written: probes need root "
				 "(sudo)", trigger->spec, tracefs, list);
	if (err == -ENOENT)
		return cmd_error(err, "--trigger '%s': %s/%s is not there: the kernel has no such "
				 "probes (CONFIG_UPROBE_EVENTS, CONFIG_KPROBE_EVENTS)",
				 trigger->spec, tracefs, list);
	return cmd_error(err, "--trigger '%s': the kernel makes no probe there: %s", trigger->spec,
			 strerror(-err));
}

/* Adds an event of @trigger at the tracepoint @name, "SYSTEM:NAME"; @filter may be NULL. */
static int add_event(struct recorder *rec, size_t n, const char *name, const char *filter)
{
	const struct trigger *trigger = &rec->options.triggers.triggers[n];
	const struct perf_event_attr attr = { 0 };
	struct event_list *list = &rec->options.extra;
	char system[64], *error = NULL;
	struct event *event;
	int err;

	snprintf(system, sizeof(system), "%.*s", (int)strcspn(name, ":"), name);
	err = tracepoint_add(rec->options.tracefs, system, strchr(name, ':') + 1, &attr, list,
			     &error);
	if (err) {
		cmd_error(err, "--trigger '%s': %s", trigger->spec, error ? error : strerror(-err));
		free(error);
		return err;
	}
	event = &list->events[list->n - 1];
	free(event->name);
	event->filter = filter ? strdup(filter) : NULL;
	event->trigger = n + 1;
	/*
	 * count only one: a signal that ends a process is delivered, too, and each thread of a
	 * process ends
	 */
	event->counted = trigger->kind == TRIGGER_CODE || !strcmp(system, "signal");
	if (asprintf(&event->name, TRIGGER_EVENT "%s", trigger->spec) < 0)
		event->name = NULL;
	return event->name && (!filter || event->filter) ? 0 : -ENOMEM;
}

static int put_uprobe(const struct recorder *rec, const struct trigger *trigger, char type,
		      const char *name, const char *path, uint64_t offset)
{
	char *command;
	int err;

	if (asprintf(&command, "%c:%s %s:0x%" PRIx64, type, name, path, offset) < 0)
		return -ENOMEM;
	err = tell(rec->options.tracefs, lists[0], command);
	free(command);
	return err ? explain(trigger, rec->options.tracefs, lists[0], err) : 0;
}

static int place_code(struct recorder *rec, size_t n)
{
	struct trigger *trigger = &rec->options.triggers.triggers[n];
	char event[64], end[80], path_name[80], *path;
	uint64_t offset;
	int err = trigger_find(rec, trigger, &path, &offset);

	if (err)
		return err;
	snprintf(event, sizeof(event), GROUP "%d:t%zu", getpid(), n);
	snprintf(path_name, sizeof(path_name), GROUP "%d/t%zu", getpid(), n);
	err = put_uprobe(rec, trigger, 'p', path_name, path, offset);
	if (!err && trigger->over_ns) {
		trigger->entries = strdup(path_name);
		snprintf(path_name, sizeof(path_name), GROUP "%d/t%zu_end", getpid(), n);
		err = trigger->entries ?
			put_uprobe(rec, trigger, 'r', path_name, path, offset) : -ENOMEM;
	}
	free(path);
	if (err)
		return err;
	snprintf(end, sizeof(end), "%s_end", event);
	return add_event(rec, n, trigger->over_ns ? end : event, NULL);
}

/*
 * Makes a probe where a task ends, with its status. Some kernels allow none in the function
 * tracer's room.
 */
static int place_end(struct recorder *rec, size_t n, const char *filter)
{
	const struct trigger *trigger = &rec->options.triggers.triggers[n];
	char command[96], event[64];
	int err = 0;

	snprintf(event, sizeof(event), GROUP "%d:t%zu", getpid(), n);
	for (unsigned int at = 0; at <= TRACER_BYTES; at += TRACER_BYTES) {
		snprintf(command, sizeof(command), "p:" GROUP "%d/t%zu do_exit+%u code=%%a0:u32",
			 getpid(), n, at);
		err = tell(rec->options.tracefs, lists[1], command);
		if (!err)
			return add_event(rec, n, event, filter);
	}
	return explain(trigger, rec->options.tracefs, lists[1], err);
}

/*
 * Adds events for a signal: its delivery, and the end of a task. If a signal ends a process without
 * a core dump, the kernel delivers SIGKILL to each thread instead, but the status has the signal.
 * 0x80: with a core dump.
 */
static int place_signal(struct recorder *rec, size_t n)
{
	int signal = rec->options.triggers.triggers[n].signal, err;
	char filter[64];

	snprintf(filter, sizeof(filter), "sig == %d", signal);
	err = add_event(rec, n, "signal:signal_deliver", filter);
	if (err)
		return err;
	snprintf(filter, sizeof(filter), "code == %d || code == %d", signal, signal | 0x80);
	return place_end(rec, n, filter);
}

int triggers_place(struct recorder *rec)
{
	struct record_options *options = &rec->options;
	int err = 0;

	if (!options->triggers.n)
		return 0;
	if (!options->tracefs)
		options->tracefs = tracefs_find();
	if (!options->tracefs)
		return cmd_error(-ENOENT, "--trigger: tracefs is not mounted: as root, mount -t "
				 "tracefs tracefs /sys/kernel/tracing");
	remove_probes(options->tracefs);
	for (size_t n = 0; n < options->triggers.n && !err; n++)
		switch (options->triggers.triggers[n].kind) {
		case TRIGGER_CODE: err = place_code(rec, n); break;
		case TRIGGER_SIGNAL: err = place_signal(rec, n); break;
		case TRIGGER_EXIT: err = place_end(rec, n, "code != 0"); break;
		}
	return err;
}

void triggers_close(struct recorder *rec)
{
	const struct trigger_list *list = &rec->options.triggers;

	for (size_t n = 0; n < list->n; n++)
		trigger_close(&list->triggers[n]);
	if (list->n && rec->options.tracefs)
		remove_probes(rec->options.tracefs);
}
