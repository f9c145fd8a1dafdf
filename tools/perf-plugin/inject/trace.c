// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Turns an encoder's trace into an ordinary perf.data with samples, which every tool that knows
 * perf.data reads.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "common/cmd.h"
#include "common/branches.h"
#include "common/features.h"
#include "common/output.h"
#include "common/pages.h"
#include "inject/inject.h"
#include "common/transfers.h"

#define MAX_CPUS 4096
#define FIRST_ID (1ULL << 32)	/* above all ids of the kernel */
#define BASE_SAMPLE_TYPE (PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | \
	PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD)

enum { EVENT_INSTRUCTIONS, EVENT_BRANCHES };

struct inject {
	const struct itrace *itrace;
	struct view *view;
	struct rvt_perfdata_writer *out;
	bool slices;	/* several threads make samples */
	FILE *page;	/* of a thread: what goes to .out later; NULL: there is only one thread */
	int write_error;	/* of .out, when pages were written to it */
	struct branches *branches;	/* NULL: not asked for */
	struct added *added;	/* samples of other events; NULL: copied as they are */
	struct itrace_clock *clocks;	/* by cpu */
	uint64_t skipped;
	uint64_t errors, samples;
};

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
	struct perf_event_header *header;
	struct inject_sample sample = { .n = 1 };

	if (inject->skipped < inject->itrace->skip) {
		inject->skipped++;
		return 0;
	}
	inject_add(&sample, FIRST_ID + event);
	inject_add(&sample, ip);
	inject_add(&sample, pid | (uint64_t)tid << 32);
	inject_add(&sample, hart->time);
	inject_add(&sample, addr);
	inject_add(&sample, (uint32_t)hart->cpu);
	inject_add(&sample, period);
	if (inject->itrace->callchain)
		inject_add_callchain(&sample, ip, 0, stack, 0, inject->itrace->callchain,
				     rvt_hart_in_guest(hart));
	if (inject->itrace->last_branches)
		inject_add_branches(&sample, inject->branches, hart,
				    inject->itrace->last_branches);
	header = (struct perf_event_header *)sample.words;
	*header = (struct perf_event_header){ PERF_RECORD_SAMPLE, cpumode(hart, ip),
					      sample.n * sizeof(uint64_t) };
	inject->samples++;
	if (inject->page)
		return fwrite(sample.words, header->size, 1, inject->page) ? 0 : -EIO;
	return rvt_perfdata_write(inject->out, sample.words, header->size);
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
	int cpu = hart->cpu >= 0 && hart->cpu < MAX_CPUS ? hart->cpu : 0;
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

/* Fills the call-backs of @sink. @depth: of call stacks; 0: none are kept. NULL: out of memory. */
static struct transfers *follow(struct inject *inject, unsigned int depth,
				struct rvt_session_sink *sink)
{
	const struct rvt_transfers_ops ops = {
		.size = sizeof(ops), .ctx = inject, .line = inject_line,
		.transfer = inject_transfer, .event = inject_event,
	};
	struct transfers *transfers = transfers_create(&ops, inject->view, depth);

	sink->warning = view_warning;
	if (transfers)
		transfers_sink(transfers, sink);
	return transfers;
}

/* ---- several threads ---- */

/* What one thread needs. */
struct maker {
	struct inject inject, *total;
	struct transfers *transfers;
};

static void close_maker(void *ctx, bool valid)
{
	struct maker *maker = ctx;

	if (valid) {
		maker->total->errors += maker->inject.errors;
		maker->total->samples += maker->inject.samples;
	}
	transfers_destroy(maker->transfers);
	free(maker->inject.clocks);
	free(maker);
}

static void *open_maker(void *ctx, struct rvt_session_sink *sink)
{
	struct inject *inject = ctx;
	struct maker *maker = calloc(1, sizeof(*maker));

	if (!maker)
		return NULL;
	maker->total = inject;
	maker->inject = *inject;
	maker->inject.errors = 0;
	maker->inject.samples = 0;
	maker->inject.clocks = calloc(MAX_CPUS, sizeof(*maker->inject.clocks));
	maker->transfers = follow(&maker->inject, 0, sink);
	if (!maker->inject.clocks || !maker->transfers) {
		close_maker(maker, false);
		return NULL;
	}
	return maker;
}

static void begin_page(void *ctx, FILE *out, FILE *errors)
{
	struct maker *maker = ctx;

	(void)errors;
	maker->inject.page = out;
}

static void decode_again(void *ctx)
{
	const struct inject *inject = ctx;

	view_forget(inject->view);
}

static int run_slices(void *ctx, const struct rvt_session_sink *sink,
		      const struct rvt_session_slices *slices)
{
	const struct inject *inject = ctx;

	return view_run_slices(inject->view, sink, slices, false);
}

static ssize_t write_pages(void *ctx, const char *bytes, size_t len)
{
	struct inject *inject = ctx;

	inject->write_error = rvt_perfdata_write(inject->out, bytes, len);
	return inject->write_error ? 0 : len;
}

static int decode_slices(struct inject *inject)
{
	const struct pages_ops ops = {
		.ctx = inject, .overlap = true, .open = open_maker, .close = close_maker,
		.begin = begin_page, .again = decode_again, .run = run_slices,
	};
	FILE *out = fopencookie(inject, "w", (cookie_io_functions_t){ .write = write_pages });
	int err = out ? pages_run(&ops, out) : -ENOMEM;

	if (out && fclose(out) && !err)
		err = -EIO;
	return inject->write_error ? inject->write_error : err;
}

bool trace_in_slices(const struct itrace *itrace)
{
	return !itrace->instructions && !itrace->callchain && !itrace->last_branches &&
		!itrace->add_callchain && !itrace->add_last_branches && !itrace->skip;
}

static int decode(struct inject *inject)
{
	struct rvt_session_sink sink = { .size = sizeof(sink) };
	struct transfers *transfers;
	int err;

	if (inject->slices)
		return decode_slices(inject);
	transfers = follow(inject, trace_in_slices(inject->itrace) ? 0 : MAX_CALL_DEPTH, &sink);
	if (!transfers)
		return -ENOMEM;
	err = view_run(inject->view, &sink, false);
	transfers_destroy(transfers);
	return err || !inject->added ? err : added_finish(inject->added);
}

static int write_all(struct inject *inject, const char *output, bool arch)
{
	struct output_file file;
	int err = output_create(&file, output);

	if (err)
		return err;
	err = rvt_perfdata_create_fd(file.fd, &inject->out);
	if (inject->added)
		added_output(inject->added, inject->out);
	if (!err)
		err = begin(inject);
	if (!err)
		err = copy_sideband(inject);
	if (!err)
		err = decode(inject);
	if (!err)
		err = features_copy(rvt_session_file(view_session(inject->view)), inject->out,
				    arch);
	if (err)
		rvt_perfdata_abandon(inject->out);
	else
		err = rvt_perfdata_finish(inject->out);
	if (!err)
		return 0;
	output_discard(&file);
	return cmd_error(err, "cannot write %s: %s", output, strerror(-err));
}

int trace_inject(struct view *view, const struct itrace *itrace, const char *output, bool arch,
		 bool slices)
{
	struct inject inject = { .itrace = itrace, .view = view, .slices = slices };
	unsigned int entries = itrace->add_last_branches ? INJECT_MAX_BRANCHES :
		itrace->last_branches;
	uint64_t samples;
	int err;

	inject.clocks = calloc(MAX_CPUS, sizeof(*inject.clocks));
	if (entries)
		inject.branches = branches_create(entries);
	err = inject.clocks && (inject.branches || !entries) ? 0 :
		cmd_error(-ENOMEM, "out of memory");
	if (!err && (itrace->add_callchain || itrace->add_last_branches))
		err = added_create(rvt_session_file(view_session(view)), itrace, inject.branches,
				   &inject.added);
	if (!err)
		err = write_all(&inject, output, arch);
	samples = inject.samples + (inject.added ? added_samples(inject.added) : 0);
	added_destroy(inject.added);
	branches_destroy(inject.branches);
	free(inject.clocks);
	if (err)
		return err;
	fprintf(stderr, "[ perf rvtrace inject: %llu samples in %s ]\n",
		(unsigned long long)samples, output);
	return view_summary(view, inject.errors);
}
