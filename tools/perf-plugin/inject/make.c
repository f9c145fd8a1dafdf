// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Makes samples of an encoder's trace, and writes them behind all else that they need. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "common/branches.h"
#include "common/transfers.h"
#include "inject/state.h"

#define FIRST_ID (1ULL << 32)	/* above all ids of the kernel */
#define BASE_SAMPLE_TYPE (PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | \
	PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD)

enum { EVENT_INSTRUCTIONS, EVENT_BRANCHES };

/* Words of a sample. */
enum { AT_HEADER, AT_ID, AT_IP, AT_TASK, AT_TIME, AT_ADDR, AT_CPU, AT_PERIOD,
       AT_CALLCHAIN };

/* ---- samples ---- */

/* Returns whose address @ip is. In a guest, any address can be its kernel's. */
static uint16_t cpumode(const struct rvt_hart_flow *hart, uint64_t ip)
{
	if (rvt_hart_in_guest(hart))
		return hart->context.prv ? PERF_RECORD_MISC_GUEST_KERNEL :
		       PERF_RECORD_MISC_GUEST_USER;
	return (int64_t)ip < 0 ? PERF_RECORD_MISC_KERNEL : PERF_RECORD_MISC_USER;
}

static int put_sample(struct inject *inject, const struct rvt_hart_flow *hart, unsigned int event,
		      uint64_t ip, uint64_t addr, uint64_t period, struct rvt_callstack *stack)
{
	uint32_t pid = hart->task ? hart->task->pid : -1, tid = hart->task ? hart->task->tid : -1;
	struct inject_sample sample = { .n = 1 };
	struct perf_event_header *header = (struct perf_event_header *)sample.words;

	inject_add(&sample, FIRST_ID + event);
	inject_add(&sample, ip);
	inject_add(&sample, pid | (uint64_t)tid << 32);
	inject_add(&sample, hart->time);
	inject_add(&sample, addr);
	inject_add(&sample, (uint32_t)hart->cpu);
	inject_add(&sample, period);
	if (inject->itrace->last_branches)
		inject_add_branches(&sample, inject->branches, hart,
				    inject->itrace->last_branches);
	*header = (struct perf_event_header){ PERF_RECORD_SAMPLE, cpumode(hart, ip),
					      sample.n * sizeof(uint64_t) };
	if (inject->tape)
		return tape_record(inject->tape, inject->itrace->callchain ? hart : NULL, header);
	return inject_sample(inject, sample.words, stack, rvt_hart_in_guest(hart));
}

/* The call chain is between other words. */
static int write_with_chain(struct inject *inject, const uint64_t *words,
			    struct rvt_callstack *stack, bool guest)
{
	struct perf_event_header header = *(const struct perf_event_header *)words;
	struct inject_sample sample = { .n = AT_CALLCHAIN };

	memcpy(sample.words, words, AT_CALLCHAIN * sizeof(*words));
	inject_add_callchain(&sample, words[AT_IP], 0, stack, 0, inject->itrace->callchain, guest);
	for (size_t i = AT_CALLCHAIN; i < header.size / sizeof(*words); i++)
		inject_add(&sample, words[i]);
	header.size = sample.n * sizeof(*words);
	memcpy(sample.words, &header, sizeof(header));
	return rvt_perfdata_write(inject->out, sample.words, header.size);
}

int inject_sample(struct inject *inject, uint64_t *words, struct rvt_callstack *stack, bool guest)
{
	const struct perf_event_header *header = (const struct perf_event_header *)words;
	uint64_t *carried = &inject->carried[words[AT_CPU] < INJECT_MAX_CPUS ? words[AT_CPU] : 0];

	if (words[AT_ID] == FIRST_ID + EVENT_INSTRUCTIONS) {
		words[AT_PERIOD] += *carried;
		*carried = 0;
	}
	if (inject->skipped < inject->itrace->skip) {
		inject->skipped++;
		return 0;
	}
	inject->samples++;
	if (inject->itrace->callchain)
		return write_with_chain(inject, words, stack, guest);
	return rvt_perfdata_write(inject->out, words, header->size);
}

struct sample_context {
	struct inject *inject;
	const struct rvt_hart_flow *hart;
	struct rvt_callstack *stack;
};

static int put_instruction(void *ctx, uint64_t ip, uint64_t period)
{
	struct sample_context *context = ctx;

	return put_sample(context->inject, context->hart, EVENT_INSTRUCTIONS, ip, 0, period,
			  context->stack);
}

static int inject_line(void *ctx, struct rvt_hart_flow *hart, const struct rvt_straight_line *line,
		       struct rvt_callstack *stack)
{
	struct inject *inject = ctx;
	struct sample_context context = { inject, hart, stack };
	int cpu = hart->cpu >= 0 && hart->cpu < INJECT_MAX_CPUS ? hart->cpu : 0;
	int err = inject->added ? added_line(inject->added, hart, line->first, line->last, stack) :
		  0;

	if (err)
		return err;
	return itrace_sample(inject->itrace, &inject->clocks[cpu], hart, line, put_instruction,
			     &context);
}

static int inject_transfer(void *ctx, struct rvt_hart_flow *hart,
			   const struct rvt_transfer *transfer, struct rvt_callstack *stack)
{
	struct inject *inject = ctx;
	int err = inject->added ? added_transfer(inject->added, hart, transfer, stack) : 0;

	if (!err && inject->branches)
		err = branches_add(inject->branches, hart, transfer);
	if (err || transfer->kind == RVT_TRANSFER_START || transfer->kind == RVT_TRANSFER_STOP ||
	    !itrace_wants(inject->itrace, transfer))
		return err;
	return put_sample(inject, hart, EVENT_BRANCHES, transfer->from, transfer->to, 1, stack);
}

static int inject_event(void *ctx, struct rvt_hart_flow *hart, const struct rvt_event *event)
{
	struct inject *inject = ctx;

	(void)hart;
	inject->errors += event->type == RVT_EVENT_LOST;
	return 0;
}

/* ---- the rest of the file ---- */

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
	if (!err && (itrace->branches || itrace->calls || itrace->returns ||
		     itrace->interrupts))
		err = rvt_perfdata_add_event(inject->out, &attr, "branches", &id, 1);
	for (size_t i = 0; i < rvt_perfdata_n_events(in) && !err; i++) {
		const struct rvt_perfdata_event *event = rvt_perfdata_event(in, i);

		if (view_is_trace_event(event))
			continue;
		attr = event->attr;
		if (inject->added)
			added_attr(inject->added, &attr);
		err = rvt_perfdata_add_event(inject->out, &attr, event->name, event->ids,
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
		    (record.event && view_is_trace_event(record.event)) ||
		    (inject->added && added_takes(inject->added, &record)))
			continue;
		err = rvt_perfdata_write(inject->out, record.header, record.header->size);
	}
	return err;
}

int inject_begin(struct inject *inject)
{
	int fd = fcntl(inject->fd, F_DUPFD_CLOEXEC, 0);
	int err = fd < 0 ? -errno : rvt_perfdata_create_fd(fd, &inject->out);

	if (err)
		return err;
	if (inject->added)
		added_output(inject->added, inject->out);
	err = begin(inject);
	return err ? err : copy_sideband(inject);
}

struct transfers *inject_follow(struct inject *inject, struct rvt_session_sink *sink)
{
	const struct itrace *itrace = inject->itrace;
	bool stacks = (itrace->callchain || itrace->add_callchain) && !inject->tape;
	const struct rvt_transfers_ops ops = {
		.size = sizeof(ops), .ctx = inject, .line = inject_line,
		.transfer = inject_transfer, .event = inject_event,
	};
	struct transfers *transfers = transfers_create(&ops, inject->view,
						       stacks ? MAX_CALL_DEPTH : 0);

	sink->warning = view_warning;
	if (transfers)
		transfers_sink(transfers, sink);
	return transfers;
}

/* ---- all of it ---- */

static unsigned int branch_entries(const struct itrace *itrace)
{
	return itrace->add_last_branches ? INJECT_MAX_BRANCHES : itrace->last_branches;
}

int inject_open(struct inject *inject)
{
	unsigned int entries = branch_entries(inject->itrace);

	inject->clocks = calloc(INJECT_MAX_CPUS, sizeof(*inject->clocks));
	inject->carried = calloc(INJECT_MAX_CPUS, sizeof(*inject->carried));
	inject->branches = entries ? branches_create(entries) : NULL;
	return inject->clocks && inject->carried && (inject->branches || !entries) ? 0 : -ENOMEM;
}

void inject_close(struct inject *inject)
{
	branches_destroy(inject->branches);
	free(inject->carried);
	free(inject->clocks);
}
