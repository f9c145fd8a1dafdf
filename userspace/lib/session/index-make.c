// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Makes an index: decodes all in segments, several at a time. Where two do not fit together they
 * become one, and decoding goes on there.
 */
#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include "util/array.h"
#include "index-gather.h"

/* After so many cuts in a row that do not fit, the rest of the buffer is one segment. */
#define MAX_MISFITS 8

/* A buffer whose segments are being made. */
struct made {
	struct index_segment *segments;
	size_t n;
	/* where the next one begins */
	uint64_t from;
	size_t record;
	struct joint_point entry;	/* before that, for a round */
	bool done;
	/* two in one: the next one ends here */
	uint64_t joined_to;	/* 0: anywhere */
	size_t joined_record;
	unsigned int misfits;
	size_t misfit_at;	/* segments, the last time */
};

struct maker {
	struct rvt_session *session;
	struct rvt_index *index;
	struct index_names names;
	struct made *buffers;
	struct index_gatherer **gatherers;
	size_t n_gatherers;
	void *gathered;		/* tsearch() of those that are decoded, by address */
	bool misfit;
};

/* ---- call-backs ---- */

static void *open_gatherer(void *ctx)
{
	struct maker *maker = ctx;
	struct index_gatherer *gatherer = rvt_index_gatherer(&maker->names);

	if (!gatherer)
		return NULL;
	if (array_grow(&maker->gatherers, maker->n_gatherers)) {
		rvt_index_gatherer_free(gatherer);
		return NULL;
	}
	maker->gatherers[maker->n_gatherers++] = gatherer;
	return gatherer;
}

static int compare_gathered(const void *a, const void *b)
{
	return (a > b) - (a < b);
}

static void *begin(void *ctx, void *thread, unsigned int buffer)
{
	struct maker *maker = ctx;
	struct index_gathered *gathered = rvt_index_gather(thread);

	(void)buffer;
	if (gathered && !tsearch(gathered, &maker->gathered, compare_gathered)) {
		rvt_index_gathered_free(gathered);
		return NULL;
	}
	return gathered;
}

static void set_exit(struct joint_point *exit, const struct joint *joint)
{
	if (joint->before) {
		exit->has_before = true;
		exit->before = *joint->before;
		exit->before.sources = NULL;
		exit->before.n_sources = 0;
		exit->before.span = NULL;
		exit->before.ctx = NULL;
	}
	if (joint->n_sources)
		exit->source = joint->sources[0];
	exit->known = joint->known;
	exit->given_up = joint->given_up;
	exit->passed_exec = joint->passed_exec;
	exit->latest = joint->latest;
}

/* The segment's lists are in order, and its own. */
static void take_list(uint32_t **list, const uint32_t **own, size_t n, size_t *own_n)
{
	*own = *list;
	*own_n = n;
	*list = NULL;
}

static int note(void *ctx, const struct slice *slice, const struct joint *joint)
{
	struct maker *maker = ctx;
	struct made *made = &maker->buffers[slice->buffer];
	struct index_gathered *gathered = slice->ctx;
	struct index_segment *segment;
	uint64_t moment;

	if (array_grow(&made->segments, made->n))
		return -ENOMEM;
	segment = &made->segments[made->n];
	*segment = (struct index_segment){ .told = gathered->told, .buffer = slice->buffer,
					   .from = slice->from, .record = slice->record,
					   .stats = slice->stats };
	/* damage of a sink's bytes is told to all harts that had flow, which depends on turns */
	segment->told.always |= maker->session->shared && gathered->told.lost;
	take_list(&gathered->tasks, &segment->told.tasks, gathered->n_tasks,
		  &segment->told.n_tasks);
	take_list(&gathered->granules, &segment->told.granules, gathered->n_granules,
		  &segment->told.n_granules);
	set_exit(&segment->exit, joint);
	moment = made->n ? segment[-1].exit.moment : 0;
	segment->exit.moment = slice->moment > moment ? slice->moment : moment;
	made->n++;
	made->from = slice->to;
	made->record = slice->end_record;
	made->done = slice->to == UINT64_MAX;
	made->joined_to = 0;
	tdelete(gathered, &maker->gathered, compare_gathered);
	rvt_index_gathered_free(gathered);
	return 0;
}

static void pop(struct made *made)
{
	struct index_segment *last = &made->segments[--made->n];

	made->from = last->from;
	made->record = last->record;
	free((void *)last->told.tasks);
	free((void *)last->told.granules);
}

static void misfit(void *ctx, const struct slice *slice, bool behind)
{
	struct maker *maker = ctx;
	struct made *made = &maker->buffers[slice->buffer];

	/* all of the buffer: others decode it in one go with what else there is */
	if (!slice->from && slice->to == UINT64_MAX)
		return;
	maker->misfit = true;
	made->joined_to = slice->to;
	made->joined_record = slice->end_record;
	if (!behind && made->n)
		pop(made);
	else if (slice->to != UINT64_MAX)
		behind = true;
	/* up to the end of the next one: slices of a buffer follow each other */
	if (behind && slice[1].buffer == slice->buffer) {
		made->joined_to = slice[1].to;
		made->joined_record = slice[1].end_record;
	}
	made->misfits = made->n > made->misfit_at ? 1 : made->misfits + 1;
	made->misfit_at = made->n;
	if (made->misfits >= MAX_MISFITS) {
		made->joined_to = UINT64_MAX;
		made->joined_record = maker->session->buffers[slice->buffer].n_records;
	}
}

static void forget_gathered(void *gathered)
{
	rvt_index_gathered_free(gathered);
}

static void forget(void *ctx)
{
	struct maker *maker = ctx;

	tdestroy(maker->gathered, forget_gathered);
	maker->gathered = NULL;
	for (size_t i = 0; i < maker->n_gatherers; i++)
		rvt_index_gatherer_free(maker->gatherers[i]);
	maker->n_gatherers = 0;
}

/* ---- rounds ---- */

static int add_span(struct span **spans, size_t *n, const struct span *span)
{
	if (array_grow(spans, *n))
		return -ENOMEM;
	(*spans)[(*n)++] = *span;
	return 0;
}

/* Adds what is left of the buffer as spans. */
static int add_spans(struct maker *maker, unsigned int number, struct span **spans, size_t *n)
{
	const struct buffer *buffer = &maker->session->buffers[number];
	struct made *made = &maker->buffers[number];
	struct span span = { .buffer = number, .from = made->from, .to = UINT64_MAX,
			     .record = made->record, .end_record = buffer->n_records };
	int err = 0;

	if (made->done || !buffer->n_records)
		return 0;
	span.done = span.from ? span.from - buffer->records[span.record].offset : 0;
	if (made->n) {
		/* the segments move when there are more */
		made->entry = made->segments[made->n - 1].exit;
		span.entry = &made->entry;
	}
	if (made->joined_to) {
		span.to = made->joined_to;
		span.end_record = made->joined_record;
		span.whole = true;
		err = add_span(spans, n, &span);
	}
	if (err || (made->joined_to == UINT64_MAX))
		return err;
	if (made->joined_to) {
		/* goes on where the other one ends: nothing is between them */
		span = (struct span){ .buffer = number, .from = span.to, .to = UINT64_MAX,
				      .record = span.end_record, .end_record = buffer->n_records };
		span.done = span.from - buffer->records[span.record].offset;
		span.goes_on = true;
	}
	return add_span(spans, n, &span);
}

static int run_round(struct maker *maker)
{
	struct rvt_session *session = maker->session;
	struct span *spans = NULL;
	size_t n = 0;
	int err = array_grow(&spans, 0);

	for (unsigned int i = 0; i < session->n_buffers && !err; i++)
		err = add_spans(maker, i, &spans, &n);
	session->spans = spans;
	session->n_spans = n;
	maker->misfit = false;
	if (!err)
		err = rvt_session_run_parallel(session);
	session->spans = NULL;
	session->n_spans = 0;
	free(spans);
	forget(maker);
	return err;
}

static int run_rounds(struct maker *maker)
{
	const struct rvt_session_slices slices = {
		.ctx = maker, .overlap = true, .open = open_gatherer, .begin = begin,
		.note = note, .misfit = misfit, .reset = forget,
	};
	int err;

	maker->session->slices = &slices;
	do
		err = run_round(maker);
	while (err == -EAGAIN && maker->misfit);
	maker->session->slices = NULL;
	return err;
}

/* ---- all of it ---- */

static int compare_tasks(const void *a, const void *b)
{
	const struct rvt_index_task *x = *(struct rvt_index_task *const *)a;
	const struct rvt_index_task *y = *(struct rvt_index_task *const *)b;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	return strcmp(x->comm, y->comm);
}

/* Tasks get their numbers by what they are, not by which thread saw them first. */
static int sort_tasks(struct rvt_index *index)
{
	struct rvt_index_task *tasks = calloc(index->n_tasks + 1, sizeof(*tasks));
	const struct rvt_index_task **order = calloc(index->n_tasks + 1, sizeof(*order));
	uint32_t *numbers = calloc(index->n_tasks + 1, sizeof(*numbers));
	int err = tasks && order && numbers ? 0 : -ENOMEM;

	for (size_t i = 0; i < index->n_tasks && !err; i++)
		order[i] = &index->tasks[i];
	if (index->n_tasks && !err)
		qsort(order, index->n_tasks, sizeof(*order), compare_tasks);
	for (size_t i = 0; i < index->n_tasks && !err; i++) {
		tasks[i] = *order[i];
		numbers[order[i] - index->tasks] = i;
	}
	for (size_t i = 0; i < index->n_segments && !err; i++) {
		uint32_t *list = (uint32_t *)index->segments[i].told.tasks;

		for (size_t k = 0; k < index->segments[i].told.n_tasks; k++)
			list[k] = numbers[list[k]];
	}
	free(order);
	free(numbers);
	if (err) {
		free(tasks);
		return err;
	}
	free(index->tasks);
	index->tasks = tasks;
	return 0;
}

/* Takes over what was made. */
static int collect(struct maker *maker)
{
	struct rvt_index *index = maker->index;
	int err = 0;

	for (size_t i = 0; i < maker->session->n_buffers && !err; i++) {
		const struct made *made = &maker->buffers[i];

		for (size_t k = 0; k < made->n && !err; k++) {
			err = array_grow(&index->segments, index->n_segments);
			if (err)
				break;
			index->segments[index->n_segments++] = made->segments[k];
			memset(&made->segments[k].told, 0, sizeof(made->segments[k].told));
			/* its warning is due each time */
			index->segments[index->n_segments - 1].told.always |=
				maker->session->warned;
		}
	}
	return err;
}

static int collect_missing(const struct rvt_session *session, struct rvt_index *index)
{
	const struct rvt_missing *missing;

	for (size_t n = 0; (missing = rvt_missing_at(&session->missing, n)); n++) {
		struct index_missing copy = { strdup(missing->path), missing->error };

		if (!copy.path || array_grow(&index->missing, index->n_missing)) {
			free(copy.path);
			return -ENOMEM;
		}
		index->missing[index->n_missing++] = copy;
	}
	return 0;
}

static int make(struct maker *maker)
{
	struct rvt_session *session = maker->session;
	struct rvt_index *index = maker->index;
	int err = rvt_index_key(session, &index->key);

	maker->buffers = calloc(session->n_buffers + 1, sizeof(*maker->buffers));
	if (!maker->buffers)
		err = -ENOMEM;
	if (!err)
		err = run_rounds(maker);
	if (!err)
		err = collect(maker);
	if (!err)
		err = sort_tasks(index);
	if (!err)
		err = collect_missing(session, index);
	for (size_t i = 0; i < session->n_buffers && maker->buffers; i++) {
		while (maker->buffers[i].n)
			pop(&maker->buffers[i]);
		free(maker->buffers[i].segments);
	}
	free(maker->buffers);
	free(maker->gatherers);
	rvt_index_names_free(&maker->names);
	return err;
}

/* Segments are told apart by the time stamps in them, or by buffers one after the other. */
static bool has_segments(const struct rvt_session *session)
{
	bool stamps = session->has_time_conv;

	for (size_t i = 0; i < session->n_encoders; i++)
		stamps &= rvt_encoder_tells_time(&session->encoders[i]);
	return stamps && session->file && !session->is_ctr;
}

int rvt_index_make(struct rvt_session *session, int (*poll)(void *ctx), void *ctx,
		   struct rvt_index **result)
{
	const struct rvt_session_sink sink = {
		.size = sizeof(sink), .runs = rvt_index_runs, .event = rvt_index_event,
		.poll = poll, .poll_ctx = ctx,
	};
	struct maker maker = { .session = session };
	int err;

	if (!has_segments(session))
		return -ENOTSUP;
	maker.index = calloc(1, sizeof(*maker.index));
	if (!maker.index)
		return -ENOMEM;
	maker.index->shift = RVT_INDEX_SHIFT;
	maker.index->trace = rvt_session_size(session);
	maker.names.index = maker.index;
	pthread_mutex_init(&maker.names.lock, NULL);
	err = rvt_session_prepare(session, &sink);
	if (!err)
		err = rvt_session_complete(session, make(&maker));
	pthread_mutex_destroy(&maker.names.lock);
	if (err)
		rvt_index_free(maker.index);
	else
		*result = maker.index;
	return err;
}
