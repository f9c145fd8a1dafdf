// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Handles triggers during a recording. Their samples wake the recorder, which first of all stops
 * the trace. After a snapshot the trigger's events are off for some time, while counters continue,
 * so that it can be told how often it has happened.
 */
#include <errno.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include "util/array.h"
#include "common/cmd.h"
#include "common/durations.h"
#include "common/text.h"
#include "record/record.h"

static double now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1e3 + ts.tv_nsec / 1e6;
}

static struct trigger *get_trigger(const struct recorder *rec, unsigned int number)
{
	return &rec->options.triggers.triggers[number - 1];
}

/* ---- events that count ---- */

static int open_counter(struct trigger *trigger, const struct perf_event_attr *attr, int tid,
			int cpu, const char *filter)
{
	int fd = syscall(SYS_perf_event_open, attr, tid, cpu, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0)
		return errno == ESRCH ? 0 :
			cmd_error(-errno, "--trigger '%s': cannot open its events on cpu %d: %s%s",
				  trigger->spec, cpu, strerror(errno),
				  errno == EACCES || errno == EPERM ?
				  "; run as root, or give the command CAP_PERFMON" : "");
	if (filter && ioctl(fd, PERF_EVENT_IOC_SET_FILTER, filter)) {
		close(fd);
		return cmd_error(-errno, "--trigger '%s': the kernel does not take '%s': %s",
				 trigger->spec, filter, strerror(errno));
	}
	if (array_grow(&trigger->counters, trigger->n_counters)) {
		close(fd);
		return -ENOMEM;
	}
	trigger->counters[trigger->n_counters++] = fd;
	return 0;
}

/*
 * Opens a counter where measured calls begin. It takes no samples, and its BPF program lets it
 * count nothing.
 */
static int open_entry(const struct recorder *rec, struct trigger *trigger,
		      struct perf_event_attr *attr, int tid, int cpu)
{
	char *id = read_text("%s/events/%s/id", rec->options.tracefs, trigger->entries);

	if (!id)
		return cmd_error(-ENOENT, "--trigger '%s': its probe has gone", trigger->spec);
	attr->config = strtoull(id, NULL, 0);
	free(id);
	return open_counter(trigger, attr, tid, cpu, NULL);
}

int triggers_open_counters(struct recorder *rec, const struct extra_event *extra, int tid, int cpu)
{
	struct trigger *trigger = get_trigger(rec, extra->trigger);
	struct perf_event_attr attr = {
		.size = sizeof(attr), .type = extra->attr.type, .config = extra->attr.config,
		.inherit = extra->attr.inherit, .disabled = extra->attr.enable_on_exec,
		.enable_on_exec = extra->attr.enable_on_exec,
	};
	int err = open_counter(trigger, &attr, tid, cpu, extra->filter);

	return err || !trigger->entries ? err : open_entry(rec, trigger, &attr, tid, cpu);
}

static uint64_t count(const struct trigger *trigger)
{
	uint64_t sum = 0, value;

	for (size_t i = 0; i < trigger->n_counters; i++)
		if (read(trigger->counters[i], &value, sizeof(value)) == sizeof(value))
			sum += value;
	return sum;
}

int triggers_measure(struct recorder *rec)
{
	int err = 0;

	for (size_t i = 0; i < rec->options.triggers.n && !err; i++) {
		struct trigger *trigger = &rec->options.triggers.triggers[i];

		/*
		 * BPF needs one event of each probe: the first counter is of ends, the second of
		 * entries
		 */
		if (trigger->over_ns)
			err = trigger->n_counters < 2 ? -ESRCH :
				trigger_measure(trigger, trigger->counters[1],
						trigger->counters[0]);
	}
	return err;
}

/* ---- what the rings tell ---- */

/* Returns the 8 bytes at @pos, a multiple of 8: no record begins or ends within. */
static uint64_t word(const struct ring *ring, uint64_t pos)
{
	const uint8_t *data = (const uint8_t *)ring->page + ring->page->data_offset;
	uint64_t value;

	memcpy(&value, data + (pos & (ring->data_bytes - 1)), sizeof(value));
	return value;
}

static struct trigger *find_trigger(const struct recorder *rec, uint64_t id)
{
	for (size_t i = 0; i < rec->n_extra; i++)
		for (size_t n = 0; rec->extra[i].trigger && n < rec->extra[i].n_ids; n++)
			if (rec->extra[i].ids[n] == id)
				return get_trigger(rec, rec->extra[i].trigger);
	return NULL;
}

static void see_sample(struct recorder *rec, const struct ring *ring, uint64_t pos)
{
	struct trigger *trigger = find_trigger(rec, word(ring, pos));
	uint64_t words[sizeof(struct trigger_sample) / sizeof(uint64_t)];

	if (!trigger || trigger->pending || trigger->off_until_ms > 0)
		return;
	trigger->pending = true;
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		words[i] = word(ring, pos + i * sizeof(*words));
	memcpy(&trigger->sample, words, sizeof(words));
}

void triggers_see(struct recorder *rec, unsigned int n, uint64_t head)
{
	struct ring *ring = &rec->rings[n];

	if (!rec->options.triggers.n)
		return;
	while (ring->seen < head) {
		uint64_t first = word(ring, ring->seen);
		struct perf_event_header header;

		memcpy(&header, &first, sizeof(header));
		if (header.size < sizeof(header))
			break;	/* the kernel writes no such record */
		/* the sample id ends in time, cpu, id */
		if (header.type == PERF_RECORD_AUX)
			ring->flushed = word(ring, ring->seen + header.size - 3 * sizeof(first));
		if (header.type == PERF_RECORD_SAMPLE &&
		    header.size >= sizeof(header) + sizeof(struct trigger_sample))
			see_sample(rec, ring, ring->seen + sizeof(header));
		ring->seen += header.size;
	}
}

/* Returns the head as drain_data() reads it. */
static uint64_t data_head(const struct ring *ring)
{
	return __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE);
}

const struct trigger *triggers_due(struct recorder *rec)
{
	for (unsigned int n = 0; n < rec->n_rings; n++)
		triggers_see(rec, n, data_head(&rec->rings[n]));
	for (size_t i = 0; i < rec->options.triggers.n; i++)
		if (rec->options.triggers.triggers[i].pending)
			return &rec->options.triggers.triggers[i];
	return NULL;
}

/* ---- after a snapshot ---- */

static void switch_events(const struct recorder *rec, const struct trigger *trigger,
			  unsigned long request)
{
	for (size_t i = 0; i < rec->n_fds; i++)
		if (rec->fds[i].trigger && get_trigger(rec, rec->fds[i].trigger) == trigger)
			ioctl(rec->fds[i].fd, request, 0);
}

/* Returns how long the trigger's cpu was traced after it; 0: not known, or not at all. */
static uint64_t trace_behind(const struct recorder *rec, const struct trigger_sample *sample)
{
	for (size_t n = 0; n < rec->n_rings; n++)
		if (rec->rings[n].cpu == (int)sample->cpu && rec->rings[n].flushed > sample->time)
			return rec->rings[n].flushed - sample->time;
	return 0;
}

static void say(const struct recorder *rec, const struct trigger *trigger)
{
	const struct trigger_sample *sample = &trigger->sample;
	uint64_t ns = trace_behind(rec, sample);
	char behind[DURATION_SIZE];

	if (rec->options.quiet)
		return;
	fprintf(stderr, "[ perf rvtrace record: snapshot %u: %s at %" PRIu64 ".%06" PRIu64
			" s in thread %u on cpu %u", rec->snapshots, trigger->spec,
		sample->time / 1000000000, sample->time % 1000000000 / 1000, sample->tid,
		sample->cpu);
	if (ns)
		fprintf(stderr, ", traced for %s behind it", duration_text(ns, behind));
	fputs(" ]\n", stderr);
}

void triggers_taken(struct recorder *rec)
{
	for (size_t i = 0; i < rec->options.triggers.n; i++) {
		struct trigger *trigger = &rec->options.triggers.triggers[i];

		if (!trigger->pending)
			continue;
		trigger->pending = false;
		trigger->snapshots++;
		say(rec, trigger);
		if (!trigger->every_ns)
			continue;
		trigger->off_until_ms = now_ms() + trigger->every_ns / 1e6;
		switch_events(rec, trigger, PERF_EVENT_IOC_DISABLE);
	}
}

void triggers_leave_out(struct recorder *rec)
{
	for (size_t i = 0; i < rec->options.triggers.n; i++) {
		struct trigger *trigger = &rec->options.triggers.triggers[i];

		trigger->left_out += trigger->pending;
		trigger->pending = false;
	}
}

double triggers_rearm(struct recorder *rec, double most)
{
	for (size_t i = 0; i < rec->options.triggers.n; i++) {
		struct trigger *trigger = &rec->options.triggers.triggers[i];
		double left = trigger->off_until_ms - now_ms();

		if (trigger->off_until_ms <= 0)
			continue;
		if (left > 0) {
			most = left < most ? left : most;
			continue;
		}
		/* discards what happened while it was off */
		for (unsigned int n = 0; n < rec->n_rings; n++)
			triggers_see(rec, n, data_head(&rec->rings[n]));
		trigger->off_until_ms = 0;
		switch_events(rec, trigger, PERF_EVENT_IOC_ENABLE);
	}
	return most;
}

bool trigger_is_off(const struct recorder *rec, size_t n)
{
	unsigned int number = rec->fds[n].trigger;

	return number && get_trigger(rec, number)->off_until_ms > 0;
}

/* Tells how often it happened without a snapshot of its own. */
static void tell_missed(const struct trigger *trigger, uint64_t times)
{
	char every[DURATION_SIZE];

	fprintf(stderr,
		"[ perf rvtrace record: trigger %s: %" PRIu64 " more times made no snapshot of "
			"their own (every=%s) ]\n", trigger->spec, times,
		duration_text(trigger->every_ns, every));
	if (trigger->left_out)
		fprintf(stderr,
			"[ perf rvtrace record: trigger %s: %" PRIu64 " of them came before "
				"tracing had gone on behind a snapshot ]\n", trigger->spec,
			trigger->left_out);
}

void triggers_summarize(const struct recorder *rec)
{
	uint64_t all = 0;

	for (size_t i = 0; i < rec->options.triggers.n; i++) {
		const struct trigger *trigger = &rec->options.triggers.triggers[i];
		uint64_t times = count(trigger);

		all += trigger->snapshots;
		if (times > trigger->snapshots && !rec->options.quiet)
			tell_missed(trigger, times - trigger->snapshots);
	}
	if (rec->options.triggers.n && !all)
		cmd_warning("no trigger has happened: what there is of the trace is that of "
			    "the end");
}
