// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Turns an encoder's trace into an ordinary perf.data with samples, which every tool that knows
 * perf.data reads.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cmd.h"
#include "inject.h"
#include "transfers.h"

#define MAX_CALL_DEPTH 1024
#define MAX_CPUS 4096
#define FIRST_ID (1ULL << 32)	/* above what the kernel has given out */
#define BASE_SAMPLE_TYPE (PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | \
	PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD)

enum { EVENT_INSTRUCTIONS, EVENT_BRANCHES };

/* What a cpu has since its last sample. */
struct cpu_state {
	struct perf_branch_entry *branches;	/* ring */
	size_t next, filled;
	int32_t tid;
	struct itrace_clock clock;
};

struct inject {
	const struct itrace *itrace;
	struct view *view;
	struct rvt_perfdata_writer *out;
	struct cpu_state *cpus;
	uint64_t errors, samples;
};

/* ---- samples ---- */

struct sample {
	uint64_t words[4096];	/* the longest call chain and branch stack fit */
	size_t n;
};

static void add(struct sample *sample, uint64_t word)
{
	sample->words[sample->n++] = word;
}

/* Return addresses, innermost first, with a marker wherever kernel and user change. */
static void add_callchain(struct sample *sample, const struct inject *inject, uint64_t ip,
			  struct rvt_callstack *stack)
{
	size_t length_at = sample->n, frames = 0;
	bool kernel = (int64_t)ip < 0;

	add(sample, 0);
	add(sample, kernel ? PERF_CONTEXT_KERNEL : PERF_CONTEXT_USER);
	add(sample, ip);
	for (struct rvt_frame *frame; frames + 1 < inject->itrace->callchain &&
	     (frame = rvt_callstack_frame(stack, frames)); frames++) {
		if (kernel && (int64_t)frame->back >= 0) {
			kernel = false;
			add(sample, PERF_CONTEXT_USER);
		}
		add(sample, frame->back);
	}
	sample->words[length_at] = sample->n - length_at - 1;
}

static void add_branches(struct sample *sample, const struct inject *inject,
			 const struct cpu_state *cpu)
{
	size_t size = inject->itrace->last_branches;

	add(sample, cpu->filled);
	for (size_t i = 1; i <= cpu->filled; i++) {
		size_t slot = (cpu->next + size - i) % size;
		const struct perf_branch_entry *branch = &cpu->branches[slot];

		memcpy(&sample->words[sample->n], branch, sizeof(*branch));
		sample->n += sizeof(*branch) / sizeof(uint64_t);
	}
}

static int put_sample(struct inject *inject, const struct rvt_lane *lane, unsigned int event,
		      uint64_t ip, uint64_t addr, uint64_t period, struct rvt_callstack *stack)
{
	const struct cpu_state *cpu =
		&inject->cpus[lane->cpu >= 0 && lane->cpu < MAX_CPUS ? lane->cpu : 0];
	uint32_t pid = lane->task ? lane->task->pid : -1, tid = lane->task ? lane->task->tid : -1;
	struct perf_event_header *header;
	struct sample sample = { .n = 1 };

	add(&sample, FIRST_ID + event);
	add(&sample, ip);
	add(&sample, pid | (uint64_t)tid << 32);
	add(&sample, lane->time);
	add(&sample, addr);
	add(&sample, (uint32_t)lane->cpu);
	add(&sample, period);
	if (inject->itrace->callchain)
		add_callchain(&sample, inject, ip, stack);
	if (inject->itrace->last_branches)
		add_branches(&sample, inject, cpu);
	header = (struct perf_event_header *)sample.words;
	*header = (struct perf_event_header){ PERF_RECORD_SAMPLE, (int64_t)ip < 0 ?
		PERF_RECORD_MISC_KERNEL : PERF_RECORD_MISC_USER, sample.n * sizeof(uint64_t) };
	inject->samples++;
	return rvt_perfdata_write(inject->out, sample.words, header->size);
}

static struct cpu_state *get_cpu(struct inject *inject, const struct rvt_lane *lane)
{
	struct cpu_state *cpu = &inject->cpus[lane->cpu >= 0 &&
		lane->cpu < MAX_CPUS ? lane->cpu : 0];
	int32_t tid = lane->task ? lane->task->tid : -1;

	if (inject->itrace->last_branches && !cpu->branches)
		cpu->branches = calloc(inject->itrace->last_branches, sizeof(*cpu->branches));
	/* the branches of one thread say nothing about the next */
	if (cpu->tid != tid)
		cpu->filled = 0;
	cpu->tid = tid;
	return cpu->branches || !inject->itrace->last_branches ? cpu : NULL;
}

struct sample_context {
	struct inject *inject;
	const struct rvt_lane *lane;
	struct rvt_callstack *stack;
};

static int put_instruction(void *ctx, uint64_t ip, uint64_t period)
{
	struct sample_context *context = ctx;

	return put_sample(context->inject, context->lane, EVENT_INSTRUCTIONS, ip, 0, period,
			  context->stack);
}

static int inject_line(void *ctx, struct rvt_lane *lane, uint64_t first, uint64_t last,
		       uint64_t insns,
		       struct rvt_callstack *stack)
{
	struct inject *inject = ctx;
	struct cpu_state *cpu = get_cpu(inject, lane);
	struct sample_context context = { inject, lane, stack };

	(void)last;
	return cpu ? itrace_sample(inject->itrace, &cpu->clock, lane, first, insns, put_instruction,
				   &context) : -ENOMEM;
}

static unsigned int branch_type(const struct transfer *transfer)
{
	switch (transfer->kind) {
	case TRANSFER_BRANCH: return PERF_BR_COND;
	case TRANSFER_JUMP: return PERF_BR_UNCOND;
	case TRANSFER_CALL: return PERF_BR_CALL;
	case TRANSFER_RETURN: return PERF_BR_RET;
	case TRANSFER_TRAP: return PERF_BR_SYSCALL;
	case TRANSFER_TRAP_RETURN: return PERF_BR_SYSRET;
	default: return PERF_BR_UNKNOWN;
	}
}

static int inject_transfer(void *ctx, struct rvt_lane *lane, const struct transfer *transfer,
			   struct rvt_callstack *stack)
{
	struct inject *inject = ctx;
	size_t size = inject->itrace->last_branches;
	struct cpu_state *cpu = get_cpu(inject, lane);

	if (!cpu)
		return -ENOMEM;
	if (transfer->kind == TRANSFER_START)
		cpu->filled = 0;
	if (transfer->kind == TRANSFER_START || transfer->kind == TRANSFER_STOP)
		return 0;
	if (size) {
		cpu->branches[cpu->next] = (struct perf_branch_entry){ .from = transfer->from,
			.to = transfer->to, .type = branch_type(transfer) };
		cpu->next = (cpu->next + 1) % size;
		cpu->filled += cpu->filled < size;
	}
	return itrace_wants(inject->itrace, transfer) ?
		put_sample(inject, lane, EVENT_BRANCHES, transfer->from, transfer->to, 1,
			   stack) : 0;
}

static int inject_event(void *ctx, struct rvt_lane *lane, const struct rvt_event *event)
{
	struct inject *inject = ctx;

	(void)lane;
	if (event->type == RVT_EVENT_LOST) {
		inject->errors++;
		view_lost(inject->view, event);
	}
	return 0;
}

/* ---- the rest of the file ---- */

static bool is_trace_event(const struct rvt_perfdata_event *event)
{
	return !strncmp(event->name, "rvtrace", strlen("rvtrace"));
}

static int begin(struct inject *inject)
{
	struct rvt_perfdata *in = rvt_session_file(view_session(inject->view));
	const struct itrace *itrace = inject->itrace;
	struct perf_event_attr attr = { .type = PERF_TYPE_HARDWARE, .sample_id_all = 1,
		.config = PERF_COUNT_HW_INSTRUCTIONS, .sample_type = BASE_SAMPLE_TYPE,
		.sample_period = 1 };
	uint64_t id = FIRST_ID + EVENT_INSTRUCTIONS;
	int err = 0;

	if (itrace->callchain)
		attr.sample_type |= PERF_SAMPLE_CALLCHAIN;
	if (itrace->last_branches) {
		attr.sample_type |= PERF_SAMPLE_BRANCH_STACK;
		attr.branch_sample_type = PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_KERNEL |
			PERF_SAMPLE_BRANCH_ANY;
	}
	if (itrace->instructions)
		err = rvt_perfdata_add_event(inject->out, &attr, "instructions", &id, 1);
	attr.config = PERF_COUNT_HW_BRANCH_INSTRUCTIONS;
	id = FIRST_ID + EVENT_BRANCHES;
	if (!err && (itrace->branches || itrace->calls || itrace->returns))
		err = rvt_perfdata_add_event(inject->out, &attr, "branches", &id, 1);
	for (size_t i = 0; i < rvt_perfdata_n_events(in) && !err; i++) {
		const struct rvt_perfdata_event *event = rvt_perfdata_event(in, i);

		if (!is_trace_event(event))
			err = rvt_perfdata_add_event(inject->out, &event->attr, event->name,
						     event->ids,
						     event->n_ids);
	}
	return err ? err : rvt_perfdata_begin(inject->out, NULL);
}

static int copy_sideband(struct inject *inject)
{
	struct rvt_perfdata *in = rvt_session_file(view_session(inject->view));
	struct rvt_perfdata_record record;
	uint64_t pos = 0;
	int err = 0;

	while (!err && rvt_perfdata_next(in, &pos, &record) > 0) {
		if (record.type == RVT_RECORD_AUXTRACE || record.type == RVT_RECORD_AUXTRACE_INFO ||
		    record.type == PERF_RECORD_AUX || record.type == PERF_RECORD_ITRACE_START ||
		    (record.event && is_trace_event(record.event)))
			continue;
		err = rvt_perfdata_write(inject->out, record.header, record.header->size);
	}
	return err;
}

static int copy_features(struct inject *inject)
{
	static const unsigned int bits[] = { RVT_FEAT_BUILD_ID, RVT_FEAT_HOSTNAME,
		RVT_FEAT_OSRELEASE,
		RVT_FEAT_VERSION, RVT_FEAT_ARCH, RVT_FEAT_NRCPUS, RVT_FEAT_CMDLINE,
		RVT_FEAT_SAMPLE_TIME };
	struct rvt_perfdata *in = rvt_session_file(view_session(inject->view));
	const void *data;
	size_t len;
	int err = 0;

	for (size_t i = 0; i < sizeof(bits) / sizeof(*bits) && !err; i++)
		if (!rvt_perfdata_feature(in, bits[i], &data, &len))
			err = rvt_perfdata_add_feature(inject->out, bits[i], data, len);
	return err;
}

static int decode(struct inject *inject)
{
	const struct transfers_ops ops = { .ctx = inject, .line = inject_line,
					   .transfer = inject_transfer, .event = inject_event };
	struct rvt_session_sink sink = { .warning = view_warning };
	struct transfers *transfers = transfers_create(&ops, inject->view, MAX_CALL_DEPTH);
	int err;

	if (!transfers)
		return -ENOMEM;
	transfers_sink(transfers, &sink);
	err = rvt_session_run(view_session(inject->view), &sink);
	transfers_destroy(transfers);
	return err;
}

static int write_all(struct inject *inject, const char *output)
{
	int err = rvt_perfdata_create(output, &inject->out);

	if (!err)
		err = begin(inject);
	if (!err)
		err = copy_sideband(inject);
	if (!err)
		err = decode(inject);
	if (!err)
		err = copy_features(inject);
	if (err)
		rvt_perfdata_abandon(inject->out);
	else
		err = rvt_perfdata_finish(inject->out);
	return err;
}

int trace_inject(struct view *view, const struct itrace *itrace, const char *output)
{
	struct inject inject = { .itrace = itrace, .view = view };
	int err;

	inject.cpus = calloc(MAX_CPUS, sizeof(*inject.cpus));
	err = inject.cpus ? write_all(&inject, output) : -ENOMEM;
	for (int i = 0; i < MAX_CPUS && inject.cpus; i++)
		free(inject.cpus[i].branches);
	free(inject.cpus);
	if (err)
		return cmd_error(err, "cannot write %s: %s", output, strerror(-err));
	fprintf(stderr, "[ perf rvtrace inject: %llu samples in %s ]\n",
		(unsigned long long)inject.samples, output);
	return view_summary(view, inject.errors);
}
