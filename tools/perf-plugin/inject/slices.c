// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Samples of a trace that several threads make, each of slices of it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "common/pages.h"
#include "common/transfers.h"
#include "inject/state.h"
#include "util/array.h"

/* Takes what pages have, in order. */
struct joining {
	struct inject *inject;
	uint8_t *bytes;		/* of which the last record may be incomplete */
	size_t len, room;
	int err;
};

/* ---- making ---- */

/* What one thread needs. */
struct maker {
	struct inject inject, *total;
	struct transfers *transfers;
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
					 .view = maker->total->view };
	maker->transfers = inject_follow(&maker->inject, sink);
	if (inject_open(&maker->inject) || !maker->transfers) {
		close_maker(maker, false);
		return NULL;
	}
	return maker;
}

/* The first slice of a buffer begins as all of it does. */
static void begin_page(void *ctx, const struct pages_slice *slice)
{
	struct inject *inject = &((struct maker *)ctx)->inject;

	inject->page = slice->out;
	memset(inject->clocks, 0, INJECT_MAX_CPUS * sizeof(*inject->clocks));
	for (size_t i = 0; i < INJECT_MAX_CPUS && slice->number; i++)
		itrace_begin(inject->itrace, &inject->clocks[i],
			     (uint64_t)slice->buffer << 32 | slice->number);
	if (inject->branches)
		branches_clear(inject->branches);
}

/* A sample by instructions stands for its period wherever its slice began. */
static int end_page(void *ctx)
{
	struct inject *inject = &((struct maker *)ctx)->inject;

	for (size_t i = 0; i < INJECT_MAX_CPUS && itrace_by_time(inject->itrace); i++) {
		const struct rest rest = {
			.header = { .size = sizeof(rest) }, .cpu = i,
			.insns = inject->clocks[i].insns,
		};

		if (rest.insns && !fwrite(&rest, sizeof(rest), 1, inject->page))
			return -EIO;
	}
	return 0;
}

/* ---- joining ---- */

/* One thread makes all samples anew: not all are where those of slices were. */
static void make_again(void *ctx)
{
	struct joining *joining = ctx;
	struct inject *inject = joining->inject;

	view_forget(inject->view);
	rvt_perfdata_abandon(inject->out);
	inject->out = NULL;
	inject->skipped = inject->samples = 0;
	memset(inject->carried, 0, INJECT_MAX_CPUS * sizeof(*inject->carried));
	joining->len = 0;
	joining->err = lseek(inject->fd, 0, SEEK_SET) || ftruncate(inject->fd, 0) ?
		-errno : inject_begin(inject);
}

static int run(void *ctx, const struct rvt_session_sink *sink,
	       const struct rvt_session_slices *slices)
{
	const struct joining *joining = ctx;

	return view_run_slices(joining->inject->view, sink, slices, false);
}

static int take_record(struct joining *joining, struct perf_event_header *header)
{
	const struct rest *rest = (const struct rest *)header;

	if (header->type == PERF_RECORD_SAMPLE)
		return inject_sample(joining->inject, (uint64_t *)header);
	joining->inject->carried[rest->cpu] += rest->insns;
	return 0;
}

/* Takes the records that are complete. */
static int take_records(struct joining *joining)
{
	size_t at = 0;
	int err = 0;

	while (!err && joining->len - at >= sizeof(struct perf_event_header)) {
		struct perf_event_header *header = (void *)(joining->bytes + at);

		if (joining->len - at < header->size)
			break;
		err = take_record(joining, header);
		at += header->size;
	}
	joining->len -= at;
	memmove(joining->bytes, joining->bytes + at, joining->len);
	return err;
}

static ssize_t take_bytes(void *ctx, const char *bytes, size_t len)
{
	struct joining *joining = ctx;

	if (!joining->err)
		joining->err = array_reserve(&joining->bytes, &joining->room, joining->len, len);
	if (joining->err)
		return 0;
	memcpy(joining->bytes + joining->len, bytes, len);
	joining->len += len;
	joining->err = take_records(joining);
	return joining->err ? 0 : len;
}

int inject_slices(struct inject *inject)
{
	struct joining joining = { .inject = inject };
	const struct pages_ops ops = {
		.ctx = &joining, .overlap = true, .apart = true, .open = open_maker,
		.close = close_maker, .begin = begin_page, .end = end_page, .again = make_again,
		.run = run,
	};
	FILE *out = fopencookie(&joining, "w", (cookie_io_functions_t){ .write = take_bytes });
	int err = out ? pages_run(&ops, out) : -ENOMEM;

	if (out && fclose(out) && !err)
		err = -EIO;
	free(joining.bytes);
	return joining.err ? joining.err : err;
}
