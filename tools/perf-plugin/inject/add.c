// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "util/array.h"
#include "inject/inject.h"

#define MAX_CPUS 4096
#define ECALL_BYTES 4
/* Fields of a sample before the call chain, each one word. PERF_SAMPLE_RAW may follow it. */
#define FIXED_TYPE (PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | \
	PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID | \
	PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD)
#define NEEDED_TYPE (PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU)

/*
 * How well the trace matches a sample, in rising order. MATCH_CHANGE: only where the trace left the
 * sample's thread.
 */
enum match { MATCH_NONE, MATCH_CHANGE, MATCH_LINE, MATCH_AGAIN, MATCH_TRAP };

struct waiting {
	struct perf_event_header *header;	/* a copy */
	size_t fixed_words;	/* before the call chain */
	bool tracepoint;
	uint64_t time, ip;
	uint64_t order;		/* in the file, for samples of the same time */
	int32_t tid;
};

/* What is added to one sample; parts that were not asked for are empty. */
struct additions {
	struct inject_sample chain, branches;
};

struct cpu_samples {
	struct waiting *samples;	/* by time */
	size_t n, next;
	enum match match;		/* how well .additions match the next one */
	struct additions *additions;
	int32_t tid;			/* the thread that ran last, */
	struct rvt_callstack *stack;	/* and its stack; NULL: none ran */
};

struct added {
	const struct itrace *itrace;
	const struct branches *branches;
	struct rvt_perfdata_writer *out;
	uint64_t written;
	struct cpu_samples cpus[MAX_CPUS];
};

/* Returns whether samples with @attr have only fields that we know, and no additions yet. */
static bool fits(const struct perf_event_attr *attr)
{
	return (attr->sample_type & NEEDED_TYPE) == NEEDED_TYPE &&
		!(attr->sample_type & ~(uint64_t)(FIXED_TYPE | PERF_SAMPLE_RAW)) &&
		(attr->sample_period || attr->sample_freq);
}

/* Returns the number of words before the call chain, with the header. */
static size_t fixed_words(const struct perf_event_attr *attr)
{
	return 1 + __builtin_popcountll(attr->sample_type & FIXED_TYPE);
}

bool added_takes(const struct added *added, const struct rvt_perfdata_record *record)
{
	(void)added;
	return record->type == PERF_RECORD_SAMPLE && record->event &&
		!view_is_trace_event(record->event) && fits(&record->event->attr) &&
		record->time_valid && record->cpu_valid &&
		record->cpu >= 0 && record->cpu < MAX_CPUS &&
		record->header->size >= fixed_words(&record->event->attr) * sizeof(uint64_t);
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

	if (array_grow(&cpu->samples, cpu->n))
		return -ENOMEM;
	copy = malloc(record->header->size);
	if (!copy)
		return -ENOMEM;
	memcpy(copy, record->header, record->header->size);
	cpu->samples[cpu->n++] = (struct waiting){ .header = copy, .time = record->time,
		.tracepoint = record->event->attr.type == PERF_TYPE_TRACEPOINT,
		.fixed_words = fixed_words(&record->event->attr), .tid = record->tid,
		.ip = words[identified], .order = record->offset };
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
		cpu->additions = malloc(sizeof(*cpu->additions));
		err = cpu->additions ? 0 : -ENOMEM;
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
		free(added->cpus[i].additions);
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

static struct additions *begin(struct cpu_samples *cpu, enum match match)
{
	cpu->match = match;
	cpu->additions->chain.n = cpu->additions->branches.n = 0;
	return cpu->additions;
}

/*
 * Makes additions from what @hart and @stack have now; @below is an address to begin with (0:
 * none). With @hart and @stack NULL, they are empty.
 */
static void make(const struct added *added, struct cpu_samples *cpu,
		 const struct rvt_hart_flow *hart,
		 uint64_t below, struct rvt_callstack *stack, enum match match)
{
	struct additions *additions = begin(cpu, match);

	if (added->itrace->add_callchain)
		inject_add_callchain(&additions->chain, cpu->samples[cpu->next].ip, below,
				     stack, 0, added->itrace->add_callchain, false);
	if (added->itrace->add_last_branches)
		inject_add_branches(&additions->branches, added->branches, hart,
				    added->itrace->add_last_branches);
}

/*
 * Returns whether the sample was taken in a trap at @epc. The sample has this address; if of a
 * tracepoint at the entry of a system call, the address behind the ecall.
 */
static bool is_epc(const struct waiting *sample, uint64_t epc)
{
	return epc == sample->ip || (sample->tracepoint && epc + ECALL_BYTES == sample->ip);
}

/*
 * Returns whether the sample was taken in what the frame called. A tracepoint's sample has the
 * address to which the call returns.
 */
static bool was_taken_in(const struct waiting *sample, const struct rvt_frame *frame)
{
	return frame->trap ? is_epc(sample, frame->from) :
		sample->tracepoint && frame->back == sample->ip;
}

/*
 * Makes additions from the stack of the handler that took the sample, while the handler runs: of
 * the trap of an interrupt, in which several samples can be taken, or of the call of a tracepoint.
 * Returns false if that is not on the stack.
 */
static bool make_from_handler(const struct added *added, struct cpu_samples *cpu,
			      const struct rvt_hart_flow *hart, struct rvt_callstack *stack)
{
	const struct waiting *sample = &cpu->samples[cpu->next];
	const struct rvt_frame *frame;
	struct additions *additions;
	size_t n = 0;

	while ((frame = rvt_callstack_frame(stack, n)) && !was_taken_in(sample, frame))
		n++;
	if (!frame)
		return false;
	additions = begin(cpu, MATCH_TRAP);
	if (added->itrace->add_callchain)
		inject_add_callchain(&additions->chain, sample->ip, 0, stack, n + 1,
				     added->itrace->add_callchain, false);
	if (added->itrace->add_last_branches)
		inject_add_branches_before(&additions->branches, added->branches, hart->cpu,
					   sample->tid, added->itrace->add_last_branches,
					   frame->from);
	return true;
}

/*
 * Keeps the additions of the sample that was just written, if the next one may be of the same
 * interrupt.
 */
static void match_again(struct cpu_samples *cpu)
{
	const struct waiting *next = &cpu->samples[cpu->next], *before = next - 1;

	if (cpu->next < cpu->n && !next->tracepoint && next->ip == before->ip &&
	    next->tid == before->tid)
		cpu->match = MATCH_AGAIN;
}

static int write_words(struct added *added, const void *words, size_t n)
{
	return rvt_perfdata_write(added->out, words, n * sizeof(uint64_t));
}

/* Writes a sample with its additions: the call chain before its raw data, the branches behind. */
static int write_sample(struct added *added, const struct waiting *waiting,
			struct additions *additions)
{
	const uint64_t *words = (const uint64_t *)waiting->header;
	size_t n = waiting->header->size / sizeof(uint64_t), fixed = waiting->fixed_words;
	struct perf_event_header header = *waiting->header;
	int err;

	if (n + additions->chain.n + additions->branches.n > UINT16_MAX / sizeof(uint64_t)) {
		/* the sample itself is so large that additions do not fit */
		additions->chain.words[0] = additions->branches.words[0] = 0;
		additions->chain.n = !!additions->chain.n;
		additions->branches.n = !!additions->branches.n;
	}
	header.size = (n + additions->chain.n + additions->branches.n) * sizeof(uint64_t);
	err = rvt_perfdata_write(added->out, &header, sizeof(header));
	if (!err)
		err = write_words(added, words + 1, fixed - 1);
	if (!err)
		err = write_words(added, additions->chain.words, additions->chain.n);
	if (!err)
		err = write_words(added, words + fixed, n - fixed);
	if (!err)
		err = write_words(added, additions->branches.words, additions->branches.n);
	return err;
}

static int write_next(struct added *added, struct cpu_samples *cpu)
{
	int err = write_sample(added, &cpu->samples[cpu->next], cpu->additions);
	bool trap = cpu->match >= MATCH_AGAIN;

	cpu->next++;
	cpu->match = MATCH_NONE;
	added->written++;
	if (trap)
		match_again(cpu);
	return err;
}

/* Writes the samples that are older than what the hart flow delivers now. */
static int pass(struct added *added, struct cpu_samples *cpu, const struct rvt_hart_flow *hart,
		struct rvt_callstack *stack)
{
	/* times within the span are estimates, but its beginning is exact */
	uint64_t time = hart->span.insns ? hart->span.from : hart->time;
	int err = 0;

	while (!err && cpu->next < cpu->n && cpu->samples[cpu->next].time < time) {
		bool same = hart->task && hart->task->tid == cpu->samples[cpu->next].tid;

		if (cpu->match < MATCH_AGAIN &&
		    !(same && make_from_handler(added, cpu, hart, stack)) && !cpu->match)
			make(added, cpu, NULL, 0, NULL, MATCH_NONE);
		err = write_next(added, cpu);
	}
	return err;
}

static struct cpu_samples *cpu_of(struct added *added, const struct rvt_hart_flow *hart)
{
	return &added->cpus[hart->cpu >= 0 && hart->cpu < MAX_CPUS ? hart->cpu : 0];
}

static bool is_next(const struct cpu_samples *cpu, const struct rvt_hart_flow *hart)
{
	return cpu->next < cpu->n && hart->task &&
		hart->task->tid == cpu->samples[cpu->next].tid;
}

/*
 * Notes that the trace changes to the next thread, which it does in a tracepoint of the scheduler.
 * Samples that others take there are still of the thread before, and come later: they get what that
 * thread has now.
 */
static void change_thread(const struct added *added, struct cpu_samples *cpu,
			  const struct rvt_hart_flow *hart, struct rvt_callstack *stack)
{
	const struct waiting *sample = &cpu->samples[cpu->next];
	struct rvt_task task = { .tid = cpu->tid };
	struct rvt_hart_flow before = *hart;

	if (stack == cpu->stack)
		return;
	before.task = &task;
	if (cpu->match == MATCH_CHANGE)
		cpu->match = MATCH_NONE;
	if (cpu->stack && cpu->next < cpu->n && sample->tracepoint && sample->tid == cpu->tid &&
	    !cpu->match)
		make(added, cpu, &before, 0, cpu->stack, MATCH_CHANGE);
	cpu->tid = hart->task ? hart->task->tid : -1;
	cpu->stack = stack;
}

int added_line(struct added *added, const struct rvt_hart_flow *hart, uint64_t first, uint64_t last,
	       struct rvt_callstack *stack)
{
	struct cpu_samples *cpu = cpu_of(added, hart);
	int err = pass(added, cpu, hart, stack);
	uint64_t ip;

	change_thread(added, cpu, hart, stack);
	if (err || !is_next(cpu, hart) || cpu->match >= MATCH_AGAIN)
		return err;
	ip = cpu->samples[cpu->next].ip;
	if (ip >= first && ip <= last)
		make(added, cpu, hart, 0, stack, MATCH_LINE);
	return 0;
}

/*
 * Makes additions where the trace stops, before the instruction at @to: an ecall, or one that is
 * interrupted.
 */
static void stop(const struct added *added, struct cpu_samples *cpu,
		 const struct rvt_hart_flow *hart,
		 uint64_t to, struct rvt_callstack *stack)
{
	const struct waiting *sample = &cpu->samples[cpu->next];

	if (is_epc(sample, to))
		make(added, cpu, hart, 0, stack, MATCH_TRAP);
	else if (sample->tracepoint && (int64_t)sample->ip < 0 && (int64_t)to >= 0 && !cpu->match)
		make(added, cpu, hart, to, stack, MATCH_CHANGE);
}

int added_transfer(struct added *added, const struct rvt_hart_flow *hart,
		   const struct rvt_transfer *transfer, struct rvt_callstack *stack)
{
	struct cpu_samples *cpu = cpu_of(added, hart);
	int err = pass(added, cpu, hart, stack);
	const struct waiting *sample = &cpu->samples[cpu->next];

	change_thread(added, cpu, hart, stack);
	if (err || !is_next(cpu, hart))
		return err;
	if (transfer->kind == RVT_TRANSFER_START && cpu->match == MATCH_CHANGE)
		cpu->match = MATCH_NONE;
	if (transfer->kind == RVT_TRANSFER_STOP)
		stop(added, cpu, hart, transfer->to, stack);
	else if (transfer->kind == RVT_TRANSFER_TRAP && is_epc(sample, transfer->from))
		make(added, cpu, hart, 0, stack, MATCH_TRAP);
	else if (transfer->kind == RVT_TRANSFER_RETURN && transfer->to == sample->ip)
		make_from_handler(added, cpu, hart, stack);
	return 0;
}

int added_finish(struct added *added)
{
	int err = 0;

	for (size_t i = 0; i < MAX_CPUS; i++) {
		struct cpu_samples *cpu = &added->cpus[i];

		while (!err && cpu->next < cpu->n) {
			if (!cpu->match)
				make(added, cpu, NULL, 0, NULL, MATCH_NONE);
			err = write_next(added, cpu);
		}
	}
	return err;
}
