// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "inject.h"

#define MAX_CPUS 4096
/* Fields of a sample before the call chain, each one word. */
#define FIXED_TYPE (PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | \
	PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID | \
	PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD)
#define NEEDED_TYPE (PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU)

enum match { MATCH_NONE, MATCH_LINE, MATCH_AGAIN, MATCH_TRAP };

struct waiting {
	struct perf_event_header *header;	/* a copy */
	uint64_t time, ip;
	uint64_t order;		/* in the file: breaks ties of time */
	int32_t tid;
};

struct cpu_samples {
	struct waiting *samples;	/* by time */
	size_t n, room, next;
	enum match match;		/* how good .made is for the next one */
	struct inject_sample *made;
};

struct added {
	const struct itrace *itrace;
	const struct branches *branches;
	struct rvt_perfdata_writer *out;
	uint64_t written;
	struct cpu_samples cpus[MAX_CPUS];
};

/* Whether samples with @attr can be taken apart, and lack what is asked for. */
static bool fits(const struct perf_event_attr *attr)
{
	return (attr->sample_type & NEEDED_TYPE) == NEEDED_TYPE &&
		!(attr->sample_type & ~(uint64_t)FIXED_TYPE) &&
		(attr->sample_period || attr->sample_freq) && attr->type != PERF_TYPE_TRACEPOINT;
}

static bool is_trace(const struct rvt_perfdata_event *event)
{
	return !strncmp(event->name, "rvtrace", strlen("rvtrace"));
}

bool added_takes(const struct added *added, const struct rvt_perfdata_record *record)
{
	(void)added;
	return record->type == PERF_RECORD_SAMPLE && record->event && !is_trace(record->event) &&
		fits(&record->event->attr) && record->time_valid && record->cpu_valid &&
		record->cpu >= 0 && record->cpu < MAX_CPUS;
}

void added_attr(const struct added *added, struct perf_event_attr *attr)
{
	if (!fits(attr))
		return;
	if (added->itrace->add_callchain)
		attr->sample_type |= PERF_SAMPLE_CALLCHAIN;
	if (added->itrace->add_last_branches) {
		attr->sample_type |= PERF_SAMPLE_BRANCH_STACK;
		attr->branch_sample_type = PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_KERNEL |
			PERF_SAMPLE_BRANCH_ANY;
	}
}

static int compare(const void *a, const void *b)
{
	const struct waiting *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

static int keep(struct added *added, const struct rvt_perfdata_record *record)
{
	struct cpu_samples *cpu = &added->cpus[record->cpu];
	const uint64_t *words = (const uint64_t *)(record->header + 1);
	bool identified = record->event->attr.sample_type & PERF_SAMPLE_IDENTIFIER;
	struct perf_event_header *copy;

	if (cpu->n == cpu->room) {
		size_t room = cpu->room * 2 + 64;
		struct waiting *grown = reallocarray(cpu->samples, room, sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		cpu->samples = grown;
		cpu->room = room;
	}
	copy = malloc(record->header->size);
	if (!copy)
		return -ENOMEM;
	memcpy(copy, record->header, record->header->size);
	cpu->samples[cpu->n++] = (struct waiting){ .header = copy, .time = record->time,
		.tid = record->tid, .ip = words[identified], .order = record->offset };
	return 0;
}

int added_create(struct rvt_perfdata *file, const struct itrace *itrace,
		 const struct branches *branches, struct added **result)
{
	struct added *added = calloc(1, sizeof(*added));
	struct rvt_perfdata_record record;
	uint64_t pos = 0;
	int err = 0;

	if (!added)
		return -ENOMEM;
	added->itrace = itrace;
	added->branches = branches;
	while (!err && rvt_perfdata_next(file, &pos, &record) > 0)
		if (added_takes(added, &record))
			err = keep(added, &record);
	for (size_t i = 0; i < MAX_CPUS && !err; i++) {
		struct cpu_samples *cpu = &added->cpus[i];

		if (!cpu->n)
			continue;
		qsort(cpu->samples, cpu->n, sizeof(*cpu->samples), compare);
		cpu->made = malloc(sizeof(*cpu->made));
		err = cpu->made ? 0 : -ENOMEM;
	}
	if (err) {
		added_destroy(added);
		return err;
	}
	*result = added;
	return 0;
}

void added_destroy(struct added *added)
{
	for (size_t i = 0; added && i < MAX_CPUS; i++) {
		for (size_t j = 0; j < added->cpus[i].n; j++)
			free(added->cpus[i].samples[j].header);
		free(added->cpus[i].samples);
		free(added->cpus[i].made);
	}
	free(added);
}

void added_output(struct added *added, struct rvt_perfdata_writer *out)
{
	added->out = out;
}

uint64_t added_samples(const struct added *added)
{
	return added->written;
}

/* The sample as it was. */
static struct inject_sample *begin(struct cpu_samples *cpu, enum match match)
{
	const struct waiting *waiting = &cpu->samples[cpu->next];

	cpu->match = match;
	cpu->made->n = waiting->header->size / sizeof(uint64_t);
	memcpy(cpu->made->words, waiting->header, waiting->header->size);
	return cpu->made;
}

static void end(struct cpu_samples *cpu)
{
	struct perf_event_header *header = (struct perf_event_header *)cpu->made->words;

	header->size = cpu->made->n * sizeof(uint64_t);
}

/* With what @lane and @stack have now. @lane NULL: nothing. */
static void make(const struct added *added, struct cpu_samples *cpu, const struct rvt_lane *lane,
		 struct rvt_callstack *stack, enum match match)
{
	struct inject_sample *sample = begin(cpu, match);

	if (added->itrace->add_callchain)
		inject_add_callchain(sample, cpu->samples[cpu->next].ip, stack, 0,
				     added->itrace->add_callchain);
	if (added->itrace->add_last_branches)
		inject_add_branches(sample, added->branches, lane,
				    added->itrace->add_last_branches);
	end(cpu);
}

/*
 * The handler that took the sample still runs, and its trap is on the stack: several samples can be
 * of one interrupt. False: it is not.
 */
static bool make_from_handler(const struct added *added, struct cpu_samples *cpu,
			      const struct rvt_lane *lane, struct rvt_callstack *stack)
{
	uint64_t ip = cpu->samples[cpu->next].ip;
	const struct rvt_frame *frame;
	struct inject_sample *sample;
	size_t n = 0;

	while ((frame = rvt_callstack_frame(stack, n)) && !(frame->trap && frame->from == ip))
		n++;
	if (!frame)
		return false;
	sample = begin(cpu, MATCH_TRAP);
	if (added->itrace->add_callchain)
		inject_add_callchain(sample, ip, stack, n + 1, added->itrace->add_callchain);
	if (added->itrace->add_last_branches)
		inject_add_branches_before(sample, added->branches, lane,
					   added->itrace->add_last_branches, ip);
	end(cpu);
	return true;
}

/* The next sample may be of the same interrupt as the one before it, which was just written. */
static void make_again(struct cpu_samples *cpu)
{
	const struct waiting *next = &cpu->samples[cpu->next], *before = next - 1;
	size_t old = before->header->size / sizeof(uint64_t), more = cpu->made->n - old;

	if (cpu->next == cpu->n || next->ip != before->ip || next->tid != before->tid ||
	    next->header->size != before->header->size)
		return;
	begin(cpu, MATCH_AGAIN);
	cpu->made->n += more;
	end(cpu);
}

static int write_next(struct added *added, struct cpu_samples *cpu)
{
	const struct perf_event_header *header = (const void *)cpu->made->words;
	int err = rvt_perfdata_write(added->out, header, header->size);
	bool trap = cpu->match >= MATCH_AGAIN;

	cpu->next++;
	cpu->match = MATCH_NONE;
	added->written++;
	if (trap)
		make_again(cpu);
	return err;
}

/* Writes the samples that were taken before what the lane delivers now. */
static int pass(struct added *added, struct cpu_samples *cpu, const struct rvt_lane *lane,
		struct rvt_callstack *stack)
{
	int err = 0;

	while (!err && cpu->next < cpu->n && cpu->samples[cpu->next].time < lane->time) {
		bool same = lane->task && lane->task->tid == cpu->samples[cpu->next].tid;

		if (cpu->match < MATCH_AGAIN &&
		    !(same && make_from_handler(added, cpu, lane, stack)) && !cpu->match)
			make(added, cpu, NULL, NULL, MATCH_NONE);
		err = write_next(added, cpu);
	}
	return err;
}

static struct cpu_samples *cpu_of(struct added *added, const struct rvt_lane *lane)
{
	return &added->cpus[lane->cpu >= 0 && lane->cpu < MAX_CPUS ? lane->cpu : 0];
}

static bool is_next(const struct cpu_samples *cpu, const struct rvt_lane *lane)
{
	return cpu->next < cpu->n && lane->task &&
		lane->task->tid == cpu->samples[cpu->next].tid;
}

int added_line(struct added *added, const struct rvt_lane *lane, uint64_t first, uint64_t last,
	       struct rvt_callstack *stack)
{
	struct cpu_samples *cpu = cpu_of(added, lane);
	int err = pass(added, cpu, lane, stack);
	uint64_t ip;

	if (err || !is_next(cpu, lane) || cpu->match >= MATCH_AGAIN)
		return err;
	ip = cpu->samples[cpu->next].ip;
	if (ip >= first && ip <= last)
		make(added, cpu, lane, stack, MATCH_LINE);
	return 0;
}

int added_transfer(struct added *added, const struct rvt_lane *lane,
		   const struct transfer *transfer, struct rvt_callstack *stack)
{
	struct cpu_samples *cpu = cpu_of(added, lane);
	int err = pass(added, cpu, lane, stack);
	uint64_t ip;

	if (err || !is_next(cpu, lane))
		return err;
	ip = cpu->samples[cpu->next].ip;
	if ((transfer->kind == TRANSFER_TRAP && transfer->from == ip) ||
	    (transfer->kind == TRANSFER_STOP && transfer->to == ip))
		make(added, cpu, lane, stack, MATCH_TRAP);
	return 0;
}

int added_finish(struct added *added)
{
	int err = 0;

	for (size_t i = 0; i < MAX_CPUS; i++) {
		struct cpu_samples *cpu = &added->cpus[i];

		while (!err && cpu->next < cpu->n) {
			if (!cpu->match)
				make(added, cpu, NULL, NULL, MATCH_NONE);
			err = write_next(added, cpu);
		}
	}
	return err;
}
