// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Samples ordinary events while the trace is recorded. The same file has their samples, and `inject
 * --itrace=GL` adds the call chain and the branches that the trace has for them.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "common/cmd.h"
#include "record/record.h"

#define DEFAULT_FREQUENCY 4000	/* as in perf record */

int record_add_extra(struct record_options *options, const char *event)
{
	struct event_roots roots = { .sysfs = "/sys" };
	char *error = NULL;
	int err;

	if (!options->tracefs && strchr(event, ':'))
		options->tracefs = tracefs_find();
	roots.tracefs = options->tracefs;
	err = event_parse(&roots, event, &options->extra, &error);
	if (err)
		cmd_error(0, "-e %s: %s", event, error ? error : strerror(-err));
	free(error);
	return err;
}

/*
 * Sets how often to sample. A tracepoint is sampled each time, unless the event itself says
 * otherwise.
 */
static void set_rate(const struct record_options *options, const struct event *event,
		     struct perf_event_attr *attr)
{
	if (event->rate)
		return;
	if (event->tracepoint) {
		attr->sample_period = 1;
	} else if (options->period) {
		attr->sample_period = options->period;
	} else {
		attr->freq = 1;
		attr->sample_freq = options->frequency ? options->frequency : DEFAULT_FREQUENCY;
	}
}

int record_prepare_extra(struct recorder *rec)
{
	const struct perf_event_attr *trace = &rec->trace_attr;
	const struct event_list *list = &rec->options.extra;

	rec->extra = calloc(list->n + 1, sizeof(*rec->extra));
	if (!rec->extra)
		return -ENOMEM;
	rec->n_extra = list->n;
	for (size_t i = 0; i < list->n; i++) {
		const struct event *event = &list->events[i];
		struct perf_event_attr *attr = &rec->extra[i].attr;

		rec->extra[i].name = event->name;
		rec->extra[i].grouped = event->grouped;
		rec->extra[i].asked = true;
		rec->extra[i].filter = event->filter;
		rec->extra[i].trigger = event->trigger;
		rec->extra[i].counted = event->counted;
		*attr = event->attr;
		set_rate(&rec->options, event, attr);
		attr->size = sizeof(*attr);
		attr->sample_type = RECORD_SAMPLE_TYPE | PERF_SAMPLE_PERIOD;
		attr->sample_id_all = 1;
		attr->exclude_hv = 1;
		if (attr->aux_sample_size)
			attr->sample_type |= PERF_SAMPLE_AUX;
		if (event->tracepoint)
			attr->sample_type |= PERF_SAMPLE_RAW;
		else
			attr->exclude_kernel |= trace->exclude_kernel;
		attr->exclude_user |= !event->tracepoint && rec->options.all_kernel;
		attr->inherit = trace->inherit;
		/* events of a group run while their leader runs */
		attr->disabled = trace->disabled && !event->grouped;
		attr->enable_on_exec = trace->enable_on_exec && !event->grouped;
		/*
		 * a trigger wakes the recorder each time, other events when there is much to read
		 */
		attr->watermark = !event->trigger;
		if (event->trigger)
			attr->wakeup_events = 1;
		else
			attr->wakeup_watermark = trace->wakeup_watermark;
	}
	return 0;
}

int record_explain_extra(const struct extra_event *extra, int err, pid_t tid, int cpu)
{
	bool tracepoint = extra->attr.type == PERF_TYPE_TRACEPOINT;

	if (extra->trigger && err != -EACCES && err != -EPERM)
		return cmd_error(err, "'%s': the kernel cannot watch that on cpu %d: %s; it probes "
				 "no instruction that it can neither copy nor do itself (fence, "
				 "ecall, CSRs)", extra->name, cpu, strerror(-err));
	if (tracepoint && (err == -EACCES || err == -EPERM))
		return cmd_error(err, "'%s': not permitted: tracepoints need root, CAP_PERFMON, or "
				 "kernel.perf_event_paranoid = -1", extra->name);
	if (extra->attr.aux_sample_size && err == -EINVAL)
		return cmd_error(err, "'%s': its samples can have no trace: the driver needs a "
				 "kernel with kprobes for that (CONFIG_KPROBES)", extra->name);
	if (extra->grouped && (err == -EINVAL || err == -EOPNOTSUPP))
		return cmd_error(err, "'%s': not in a group with the trace (%s): aux-action needs "
				 "Linux 6.13", extra->name, strerror(-err));
	if (err == -EACCES || err == -EPERM)
		return cmd_error(err, "'%s': not permitted: try %s:u, root, or a lower "
				 "kernel.perf_event_paranoid", extra->name, extra->name);
	if (err == -EOPNOTSUPP)
		return cmd_error(err, "'%s': the counters of cpu %d cannot be sampled (no overflow "
				 "interrupt, Sscofpmf), or not in these modes;\n  cpu-clock can be "
				 "on every machine", extra->name, cpu);
	if (err == -ENOENT || err == -EINVAL || err == -ENODEV)
		return cmd_error(err, "'%s': the hardware of cpu %d does not have this event (%s)",
				 extra->name, cpu, strerror(-err));
	return cmd_error(err, "cannot open the event '%s' (thread %d, cpu %d): %s", extra->name,
			 tid, cpu, strerror(-err));
}
