// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Samples of a trace that several threads make, each of slices of it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "common/pages.h"
#include "common/tape.h"
#include "common/transfers.h"
#include "inject/state.h"

/* Takes what pages have, in order. */
struct joining {
	struct inject *inject;
	struct tape_reader *reader;
};

/* ---- making ---- */

/* What one thread needs. */
struct maker {
	struct inject inject, *total;
	struct transfers *transfers;
	struct tape tape;
};

/* In a slice's page, behind its samples: so many instructions no sample stands for. */
struct rest {
	struct perf_event_header header;	/* .type 0, which no record has */
	uint64_t cpu, insns;
};

static void close_maker(void *ctx, bool valid)
{
	struct maker *maker = ctx;

	if (valid)
		maker->total->errors += maker->inject.errors;
	transfers_destroy(maker->transfers);
	inject_close(&maker->inject);
	free(maker);
}

static void *open_maker(void *ctx, struct rvt_session_sink *sink)
{
	const struct joining *joining = ctx;
	struct maker *maker = calloc(1, sizeof(*maker));

	if (!maker)
		return NULL;
	maker->total = joining->inject;
	maker->inject = (struct inject){ .itrace = maker->total->itrace,
					 .view = maker->total->view, .tape = &maker->tape };
	maker->transfers = inject_follow(&maker->inject, sink);
	if (maker->transfers && maker->inject.itrace->callchain)
		tape_steps(&maker->tape, maker->transfers);
	if (inject_open(&maker->inject) || !maker->transfers) {
		close_maker(maker, false);
		return NULL;
	}
	return maker;
}

/* The first slice of a buffer begins as all of it does. */
static void begin_page(void *ctx, const struct pages_slice *slice)
{
	struct maker *maker = ctx;
	struct inject *inject = &maker->inject;

	tape_begin(&maker->tape, slice->out);
	memset(inject->clocks, 0, INJECT_MAX_CPUS * sizeof(*inject->clocks));
	for (size_t i = 0; i < INJECT_MAX_CPUS && slice->number; i++)
		itrace_begin(inject->itrace, &inject->clocks[i],
			     (uint64_t)slice->buffer << 32 | slice->number);
	if (inject->branches)
		branches_clear(inject->branches);
}

/* An error shows at the end. */
static void tell_moment(void *ctx)
{
	tape_moment(&((struct maker *)ctx)->tape);
}

/* A sample by instructions stands for its period wherever its slice began. */
static int end_page(void *ctx)
{
	struct maker *maker = ctx;
	const struct inject *inject = &maker->inject;
	int err;

	for (size_t i = 0; i < INJECT_MAX_CPUS && itrace_by_time(inject->itrace); i++) {
		const struct rest rest = {
			.header = { .size = sizeof(rest) }, .cpu = i,
			.insns = inject->clocks[i].insns,
		};

		if (rest.insns && tape_record(inject->tape, NULL, &rest.header))
			return -EIO;
	}
	err = tape_end(&maker->tape);
	return !err && ferror(maker->tape.out) ? -EIO : err;
}

/* ---- joining ---- */

static bool is_guest(const struct perf_event_header *header)
{
	unsigned int mode = header->misc & PERF_RECORD_MISC_CPUMODE_MASK;

	return mode == PERF_RECORD_MISC_GUEST_KERNEL || mode == PERF_RECORD_MISC_GUEST_USER;
}

static int take_record(void *ctx, struct perf_event_header *header, struct rvt_callstack *stack)
{
	struct inject *inject = ((const struct joining *)ctx)->inject;
	const struct rest *rest = (const struct rest *)header;

	if (header->type == PERF_RECORD_SAMPLE)
		return inject_sample(inject, (uint64_t *)header, stack, is_guest(header));
	inject->carried[rest->cpu] += rest->insns;
	return 0;
}

/* One thread makes all samples anew: not all are where those of slices were. */
static void make_again(void *ctx)
{
	struct joining *joining = ctx;
	struct inject *inject = joining->inject;
	int err;

	view_forget(inject->view);
	rvt_perfdata_abandon(inject->out);
	inject->out = NULL;
	inject->skipped = inject->samples = 0;
	memset(inject->carried, 0, INJECT_MAX_CPUS * sizeof(*inject->carried));
	err = lseek(inject->fd, 0, SEEK_SET) || ftruncate(inject->fd, 0) ? -errno :
	      inject_begin(inject);
	tape_reader_restart(joining->reader, err);
}

static int run(void *ctx, const struct rvt_session_sink *sink,
	       const struct rvt_session_slices *slices)
{
	const struct joining *joining = ctx;

	return view_run_slices(joining->inject->view, sink, slices, false);
}

int inject_slices(struct inject *inject)
{
	const bool stacks = inject->itrace->callchain;
	struct joining joining = { .inject = inject };
	const struct tape_reads reads = { .ctx = &joining, .record = take_record };
	const struct pages_ops ops = {
		.ctx = &joining, .overlap = true, .apart = true, .in_turns = stacks,
		.open = open_maker, .close = close_maker, .begin = begin_page,
		.moment = tell_moment, .end = end_page, .again = make_again, .anew = true,
		.run = run,
	};
	int err;

	joining.reader = tape_reader_create(inject->view, stacks, &reads);
	err = joining.reader ? tape_run(joining.reader, &ops) : -ENOMEM;
	tape_reader_destroy(joining.reader);
	return err;
}
