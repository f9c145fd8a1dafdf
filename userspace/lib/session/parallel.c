// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Decoding on several processors: the bytes of every buffer are cut into parts (rvt_stream_part()),
 * and threads take one after the other. A thread shares nothing with others but what is only read:
 * it has its own image, and for each buffer its own lanes.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include "util/array.h"
#include "parts.h"
#include "state.h"

/* Parts that take room, for each job: they are decoded and not passed on yet. */
#define MAX_AHEAD 8

struct crew {
	struct rvt_session *session;
	struct part *parts;	/* by buffer */
	struct part **order;	/* in which they are taken */
	struct joint *joints;	/* by buffer */
	size_t n_parts;
	size_t next;		/* .order: those before it are taken */
	size_t n_taken, n_joined;
	pthread_cond_t joined;
	atomic_int error;	/* the first one */
};

struct worker {
	struct crew *crew;
	pthread_t thread;
	void *ctx;		/* by sink.parts->open */
	struct part *next;	/* to be taken by it; NULL: any */
	struct world *world;
	struct buffer *buffers;	/* as the session has them, with the worker's own lanes */
	size_t n_finished;	/* those before it are decoded and told */
	struct rvt_session_stats stats;
};

/* ---- the order of parts ---- */

/* By time where buffers take turns, so that what comes together is decoded together. */
static int compare_parts(const void *x, const void *y)
{
	const struct part *a = *(struct part *const *)x, *b = *(struct part *const *)y;

	if (a->time != b->time)
		return a->time < b->time ? -1 : 1;
	return a < b ? -1 : a > b;
}

static int plan(struct crew *crew)
{
	const struct rvt_session *session = crew->session;
	const struct rvt_session_parts *parts = session_parts(session);
	size_t *n_parts = calloc(session->n_buffers + 1, sizeof(*n_parts));
	int err = 0;

	crew->order = calloc(crew->n_parts + 1, sizeof(*crew->order));
	crew->joints = calloc(session->n_buffers + 1, sizeof(*crew->joints));
	if (!n_parts || !crew->order || !crew->joints) {
		free(n_parts);
		return -ENOMEM;
	}
	for (size_t i = 0; i < crew->n_parts; i++) {
		struct joint *joint = &crew->joints[crew->parts[i].buffer];

		crew->order[i] = &crew->parts[i];
		joint->next = joint->next ? joint->next : &crew->parts[i];
		joint->end = &crew->parts[i + 1];
		n_parts[crew->parts[i].buffer]++;
	}
	if (parts && !session->options.by_cpu)
		qsort(crew->order, crew->n_parts, sizeof(*crew->order), compare_parts);
	if (parts && parts->plan)
		err = parts->plan(parts->ctx, n_parts, session->n_buffers);
	free(n_parts);
	return err;
}

static int join_ended(struct crew *crew, struct joint *joint)
{
	int err = 0;

	while (joint->next < joint->end && joint->next->ended && !err) {
		err = session_join(crew->session, joint);
		crew->n_joined += !err;
	}
	pthread_cond_broadcast(&crew->joined);
	return err;
}

/* What is counted is joined when nobody decodes any more: lanes are as they were. */
static int join_all(struct crew *crew)
{
	int err = 0;

	for (size_t i = 0; i < crew->session->n_buffers && !err; i++)
		err = join_ended(crew, &crew->joints[i]);
	return err;
}

/* ---- decoding ---- */

static void add_stats(struct worker *worker)
{
	struct rvt_session_stats *sum = &worker->crew->session->stats;

	session_lock(worker->crew->session);
	sum->trace_bytes += worker->stats.trace_bytes;
	sum->missing_bytes += worker->stats.missing_bytes;
	session_unlock(worker->crew->session);
	worker->stats.trace_bytes = worker->stats.missing_bytes = 0;
}

static struct part *next_in_order(struct crew *crew)
{
	while (crew->next < crew->n_parts && crew->order[crew->next]->taken)
		crew->next++;
	return crew->next < crew->n_parts ? crew->order[crew->next] : NULL;
}

/* The buffer's next one, if it is one of the next @most that are joined. */
static struct part *next_of(const struct joint *joint, unsigned int most)
{
	for (struct part *part = joint->next; part < joint->end && most; part++, most--)
		if (!part->taken)
			return part;
	return NULL;
}

/*
 * The part to take; NULL: none yet, or no more. Nobody is too far ahead of what is passed on: where
 * that waits for a buffer, this one catches up.
 */
static struct part *choose_part(struct crew *crew)
{
	const struct rvt_session_parts *parts = session_parts(crew->session);
	unsigned int jobs = crew->session->options.jobs, buffer;
	size_t waiting;

	if (!parts)
		return next_in_order(crew);
	waiting = parts->waiting ? parts->waiting(parts->ctx, &buffer) : 0;
	if (crew->n_taken - crew->n_joined + waiting < jobs * MAX_AHEAD)
		return next_in_order(crew);
	return waiting ? next_of(&crew->joints[buffer], jobs) : NULL;
}

/* The next part, as the caller has it; NULL: there is none, or there was an error. */
static struct part *take_part(struct worker *worker)
{
	struct crew *crew = worker->crew;
	const struct rvt_session_parts *parts = session_parts(crew->session);
	struct part *part = NULL;

	if (worker->next) {
		part = worker->next;
		worker->next = NULL;
		return crew->error ? NULL : part;
	}
	session_lock(crew->session);
	while (!crew->error && crew->n_taken < crew->n_parts && !(part = choose_part(crew)))
		pthread_cond_wait(&crew->joined, &crew->session->lock);
	if (part) {
		part->taken = true;
		crew->n_taken++;
	}
	if (part && parts) {
		part->ctx = parts->begin ?
			parts->begin(parts->ctx, worker->ctx, part->buffer) : worker->ctx;
		crew->error = part->ctx ? 0 : -ENOMEM;
	}
	session_unlock(crew->session);
	return crew->error ? NULL : part;
}

static int end_part(struct crew *crew, struct part *part, int err)
{
	const struct rvt_session_parts *parts = session_parts(crew->session);
	int ended = 0;

	session_lock(crew->session);
	if (!parts) {
		part->ended = true;
		pthread_cond_broadcast(&crew->joined);
		session_unlock(crew->session);
		return err;
	}
	ended = parts->end ? parts->end(parts->ctx, part->ctx) : 0;
	part->ended = true;
	if (!ended && !err)
		ended = join_ended(crew, &crew->joints[part->buffer]);
	session_unlock(crew->session);
	return err ? err : ended;
}

static void tell_moment(const struct buffer *buffer, uint64_t time, bool left)
{
	const struct rvt_session_parts *parts = session_parts(buffer->session);

	if (parts && parts->moment && !buffer->session->options.by_cpu)
		parts->moment(buffer->ctx, time, left);
}

/* Those who wait for it learn how the part begins, as soon as that is known. */
static void tell_begin(struct crew *crew, const struct buffer *buffer, struct part *part)
{
	enum part_begin begin = part->begin ? PART_UNKNOWN : buffer_part_begin(buffer);

	if (!begin)
		return;
	session_lock(crew->session);
	part->begin = begin;
	pthread_cond_broadcast(&crew->joined);
	session_unlock(crew->session);
}

/*
 * The part in which the flow of @part goes on, or breaks off, once that is known; one that nobody
 * has taken yet is this worker's next. NULL: none, or there was an error. .lock is held.
 */
static const struct part *find_next(struct worker *worker, struct part *part)
{
	struct crew *crew = worker->crew;
	const struct part *end = crew->joints[part->buffer].end;

	while (++part < end && part->taken) {
		while (!part->begin && !part->ended && !crew->error)
			pthread_cond_wait(&crew->joined, &crew->session->lock);
		if (part->begin || crew->error)
			return part;
	}
	if (part == end)
		return NULL;
	part->taken = true;
	crew->n_taken++;
	worker->next = part;
	return part;
}

/*
 * What is counted: the edge from this part into the next one was executed if that begins with
 * something executed. Where this worker goes on with that one, the edge is counted there.
 */
static int end_edges(struct worker *worker, struct buffer *buffer, struct part *part)
{
	const struct part *next;
	bool executed;

	if (!part->n_edges)
		return 0;
	if (!worker->crew->session->sink->count_edge)
		return buffer_end_edges(buffer, false);
	session_lock(worker->crew->session);
	next = find_next(worker, part);
	executed = next && next->begin == PART_EXECUTES;
	session_unlock(worker->crew->session);
	return next && next == worker->next ? 0 : buffer_end_edges(buffer, executed);
}

static int decode_part(struct worker *worker, struct part *part)
{
	struct buffer *buffer = &worker->buffers[part->buffer];
	int err = buffer_begin_part(buffer, part), more = 1;

	while (!err && more && !buffer_part_done(buffer)) {
		uint64_t time = buffer->time;
		bool left = buffer_part_left(buffer);

		more = buffer_step(buffer, buffer_part_slow(buffer));
		tell_begin(worker->crew, buffer, part);
		if (buffer->time != time)
			tell_moment(buffer, buffer->time, left);
		if (more < 0)
			err = more;
		else if (part->extended && part->to != UINT64_MAX)
			err = -EAGAIN;
		else if (worker->crew->error)
			err = -ECANCELED;
	}
	/* one thread ends all buffers together */
	if (!more || part->to == UINT64_MAX)
		tell_moment(buffer, UINT64_MAX, false);
	err = buffer_end_part(buffer, err);
	tell_begin(worker->crew, buffer, part);
	add_stats(worker);
	err = end_part(worker->crew, part, err);
	return err ? err : end_edges(worker, buffer, part);
}

/* What this worker counted of the buffers before @n is complete. */
static int finish_buffers(struct worker *worker, size_t n)
{
	int err = 0;

	for (; worker->n_finished < n && !err; worker->n_finished++) {
		err = buffer_finish(&worker->buffers[worker->n_finished]);
		/* their tables need not stay while others grow */
		if (!session_parts(worker->crew->session))
			buffer_rewind(&worker->buffers[worker->n_finished]);
	}
	return err;
}

static void *work(void *ctx)
{
	struct worker *worker = ctx;
	struct crew *crew = worker->crew;
	struct part *part;
	int err = 0, none = 0;

	while (!err && (part = take_part(worker))) {
		/* parts that are counted come buffer by buffer */
		if (!session_parts(crew->session))
			err = finish_buffers(worker, part->buffer);
		if (!err)
			err = decode_part(worker, part);
	}
	if (!err)
		err = finish_buffers(worker, crew->session->n_buffers);
	if (err) {
		session_lock(crew->session);
		atomic_compare_exchange_strong(&crew->error, &none, err);
		pthread_cond_broadcast(&crew->joined);
		session_unlock(crew->session);
	}
	return NULL;
}

/* ---- threads ---- */

/* Worlds stay as long as the session: what was told has names in them, and code that was read. */
static int open_worlds(struct rvt_session *session, unsigned int n)
{
	int err = 0;

	while (!err && session->n_worlds < n) {
		struct world *world;

		err = array_grow(&session->worlds, session->n_worlds);
		if (err)
			break;
		world = &session->worlds[session->n_worlds];
		*world = (struct world){ .image = NULL };
		err = rvt_image_create(&world->image);
		if (err)
			break;
		session->n_worlds++;
		err = rvt_owner_kernel(session->owner, world->image, &world->kernel);
	}
	return err;
}

static int worker_open(struct worker *worker, struct crew *crew, struct world *world)
{
	struct rvt_session *session = crew->session;
	const struct rvt_session_parts *parts = session_parts(session);

	worker->buffers = calloc(session->n_buffers + 1, sizeof(*worker->buffers));
	if (!worker->buffers)
		return -ENOMEM;
	worker->crew = crew;
	worker->world = world;
	world->teaches = session->options.count;
	if (parts && parts->open && !(worker->ctx = parts->open(parts->ctx)))
		return -ENOMEM;
	for (size_t i = 0; i < session->n_buffers; i++) {
		struct buffer *buffer = &worker->buffers[i];

		*buffer = session->buffers[i];
		buffer->world = world;
		buffer->stats = &worker->stats;
		buffer->unpacked = NULL;
		buffer->unpacked_chunk = NULL;
		buffer->unpacked_room = 0;
	}
	return 0;
}

static void worker_close(struct worker *worker)
{
	session_add_stats(&worker->crew->session->stats, &worker->stats);
	world_end_teaching(worker->world);
	for (size_t i = 0; i < worker->crew->session->n_buffers; i++)
		buffer_rewind(&worker->buffers[i]);
	free(worker->buffers);
}

static int run_workers(struct crew *crew, struct worker *workers, unsigned int n)
{
	unsigned int started = 0;
	int err = open_worlds(crew->session, n);

	for (unsigned int i = 0; i < n && !err; i++)
		err = worker_open(&workers[i], crew, &crew->session->worlds[i]);
	crew->session->parallel = true;
	while (!err && started < n &&
	       !pthread_create(&workers[started].thread, NULL, work, &workers[started]))
		started++;
	for (unsigned int i = 0; i < started; i++)
		pthread_join(workers[i].thread, NULL);
	crew->session->parallel = false;
	if (!err && !started)
		err = -EAGAIN;
	return err ? err : crew->error;
}

int session_run_parallel(struct rvt_session *session)
{
	struct crew crew = { .session = session, .joined = PTHREAD_COND_INITIALIZER };
	struct worker *workers = NULL;
	unsigned int n = 0;
	int err = session_cut(session, &crew.parts, &crew.n_parts);

	if (!err)
		err = plan(&crew);
	if (!err) {
		n = session->options.jobs < crew.n_parts ? session->options.jobs : crew.n_parts;
		workers = calloc(n + 1, sizeof(*workers));
		err = !workers ? -ENOMEM : n < 2 ? -EAGAIN : run_workers(&crew, workers, n);
	}
	if (!err && !session_parts(session))
		err = join_all(&crew);
	for (unsigned int i = 0; i < n && workers; i++)
		if (workers[i].crew)
			worker_close(&workers[i]);
	free(workers);
	free(crew.joints);
	free(crew.order);
	free(crew.parts);
	return err;
}
