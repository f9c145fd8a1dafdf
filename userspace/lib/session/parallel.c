// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Decoding on several processors: the bytes of every buffer are cut into slices
 * (rvt_stream_slice()), and threads take one after the other. A thread shares nothing with others
 * but what is only read: it has its own image, and for each buffer its own hart flows.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include "util/array.h"
#include "slice.h"
#include "state.h"

/* Slices that take room, for each job: they are decoded and not passed on yet. */
#define MAX_AHEAD 8

struct thread_pool {
	struct rvt_session *session;
	struct slice *slices;	/* by buffer */
	struct slice **order;	/* in which they are taken */
	struct joint *joints;	/* by buffer */
	struct slice **first;	/* by buffer */
	atomic_size_t n_slices;	/* those behind are void: an earlier one goes on to the end */
	size_t next;		/* .order: those before it are taken */
	size_t n_taken, n_joined;
	pthread_cond_t joined;
	atomic_int error;	/* the first one */
	const struct slice *misfit;	/* that was not joined; NULL: none */
};

struct worker {
	struct thread_pool *pool;
	pthread_t thread;
	void *ctx;		/* by sink.slices->open */
	struct slice *next;	/* to be taken by it; NULL: any */
	struct decode_context *decode;
	struct buffer *buffers;	/* as the session has them, with the worker's own hart flows */
	size_t n_finished;	/* those before it are decoded and told */
	struct rvt_session_totals stats;
};

/* ---- the order of slices ---- */

/* By time where buffers take turns, so that what comes together is decoded together. */
static int compare_slices(const void *x, const void *y)
{
	const struct slice *a = *(struct slice *const *)x, *b = *(struct slice *const *)y;

	if (a->time != b->time)
		return a->time < b->time ? -1 : 1;
	return a < b ? -1 : a > b;
}

static int plan(struct thread_pool *pool)
{
	const struct rvt_session *session = pool->session;
	const struct rvt_session_slices *slices = session_slices(session);
	size_t *n_slices = calloc(session->n_buffers + 1, sizeof(*n_slices));
	int err = 0;

	pool->order = calloc(pool->n_slices + 1, sizeof(*pool->order));
	pool->joints = calloc(session->n_buffers + 1, sizeof(*pool->joints));
	pool->first = calloc(session->n_buffers + 1, sizeof(*pool->first));
	if (!n_slices || !pool->order || !pool->joints || !pool->first) {
		free(n_slices);
		return -ENOMEM;
	}
	for (size_t i = 0; i < pool->n_slices; i++) {
		struct joint *joint = &pool->joints[pool->slices[i].buffer];

		pool->order[i] = &pool->slices[i];
		joint->next = joint->next ? joint->next : &pool->slices[i];
		pool->first[pool->slices[i].buffer] = joint->next;
		joint->end = &pool->slices[i + 1];
		n_slices[pool->slices[i].buffer]++;
	}
	if (slices && !session->options.by_cpu)
		qsort(pool->order, pool->n_slices, sizeof(*pool->order), compare_slices);
	if (slices && slices->plan)
		err = slices->plan(slices->ctx, n_slices, session->n_buffers);
	free(n_slices);
	return err;
}

/* Ends decoding and joining; the first error counts. The caller holds .lock. */
static void stop(struct thread_pool *pool, int err)
{
	int none = 0;

	atomic_compare_exchange_strong(&pool->error, &none, err);
	pthread_cond_broadcast(&pool->joined);
}

/* Up to the first slice that has not ended. One that did not fit is not tried again. */
static int join_ended(struct thread_pool *pool, struct joint *joint)
{
	int err = 0;

	while (joint->next < joint->end && joint->next->ended && !err && !pool->error) {
		const struct slice *slice = joint->next;

		err = rvt_session_join(pool->session, joint);
		pool->n_joined += !err;
		if (err == -EAGAIN)
			pool->misfit = slice;
	}
	pthread_cond_broadcast(&pool->joined);
	return err;
}

/* Joins counts when nobody decodes any more, so that hart flows are as they were. */
static int join_all(struct thread_pool *pool)
{
	int err = 0;

	for (size_t i = 0; i < pool->session->n_buffers && !err; i++)
		err = join_ended(pool, &pool->joints[i]);
	return err;
}

/* ---- decoding ---- */

static bool is_void(const struct thread_pool *pool, const struct slice *slice)
{
	return slice >= pool->slices + pool->n_slices;
}

/*
 * @slice goes on to the end of a dump. Of a recording it cannot: others may have delivered what
 * changes whose flow it is.
 */
static void drop_rest(struct thread_pool *pool, struct slice *slice)
{
	session_lock(pool->session);
	slice->to = UINT64_MAX;
	if (!is_void(pool, slice)) {
		pool->n_slices = slice + 1 - pool->slices;
		pool->joints[slice->buffer].end = slice + 1;
	}
	pthread_cond_broadcast(&pool->joined);
	session_unlock(pool->session);
}

/* Adds the bytes that the worker has decoded, which show how far decoding is. */
static void add_stats(struct worker *worker)
{
	struct rvt_session_totals *sum = &worker->pool->session->stats;

	session_lock(worker->pool->session);
	sum->session.trace_bytes += worker->stats.session.trace_bytes;
	sum->session.missing_bytes += worker->stats.session.missing_bytes;
	session_unlock(worker->pool->session);
	worker->stats.session.trace_bytes = worker->stats.session.missing_bytes = 0;
}

static struct slice *next_in_order(struct thread_pool *pool)
{
	while (pool->next < pool->n_slices && pool->order[pool->next]->taken)
		pool->next++;
	return pool->next < pool->n_slices ? pool->order[pool->next] : NULL;
}

/* The buffer's next one, if it is one of the next @most that are joined. */
static struct slice *next_of(const struct joint *joint, unsigned int most)
{
	for (struct slice *slice = joint->next; slice < joint->end && most; slice++, most--)
		if (!slice->taken)
			return slice;
	return NULL;
}

/*
 * The slice to take; NULL: none yet, or no more. Nobody is too far ahead of what is passed on:
 * where that waits for a buffer, this one catches up.
 */
static struct slice *choose_slice(struct thread_pool *pool)
{
	const struct rvt_session_slices *slices = session_slices(pool->session);
	unsigned int jobs = pool->session->options.jobs ? pool->session->options.jobs : 1, buffer;
	size_t waiting;

	if (!slices)
		return next_in_order(pool);
	waiting = slices->waiting ? slices->waiting(slices->ctx, &buffer) : 0;
	if (pool->n_taken - pool->n_joined + waiting < jobs * MAX_AHEAD)
		return next_in_order(pool);
	return waiting ? next_of(&pool->joints[buffer], jobs) : NULL;
}

/* The next slice, as the caller has it; NULL: there is none, or there was an error. */
static struct slice *take_slice(struct worker *worker)
{
	struct thread_pool *pool = worker->pool;
	const struct rvt_session_slices *slices = session_slices(pool->session);
	struct slice *slice = NULL;

	if (worker->next) {
		slice = worker->next;
		worker->next = NULL;
		return pool->error ? NULL : slice;
	}
	session_lock(pool->session);
	while (!pool->error && pool->n_taken < pool->n_slices && !(slice = choose_slice(pool)))
		pthread_cond_wait(&pool->joined, &pool->session->lock);
	if (slice) {
		slice->taken = true;
		pool->n_taken++;
	}
	if (slice && slices) {
		slice->ctx = slices->begin ?
			slices->begin(slices->ctx, worker->ctx, slice->buffer) : worker->ctx;
		pool->error = slice->ctx ? 0 : -ENOMEM;
	}
	session_unlock(pool->session);
	return pool->error ? NULL : slice;
}

static int end_slice(struct thread_pool *pool, struct slice *slice, int err)
{
	const struct rvt_session_slices *slices = session_slices(pool->session);
	int ended = 0;

	session_lock(pool->session);
	if (!slices) {
		slice->ended = true;
		pthread_cond_broadcast(&pool->joined);
		session_unlock(pool->session);
		return err;
	}
	if (is_void(pool, slice)) {
		session_unlock(pool->session);
		return 0;
	}
	ended = slices->end ? slices->end(slices->ctx, slice->ctx) : 0;
	slice->ended = !err;
	if (!ended && !err)
		ended = join_ended(pool, &pool->joints[slice->buffer]);
	err = err ? err : ended;
	if (err)
		stop(pool, err);
	session_unlock(pool->session);
	return err;
}

static void tell_moment(const struct buffer *buffer, uint64_t time, bool left)
{
	const struct rvt_session_slices *slices = session_slices(buffer->session);

	if (slices && slices->moment && !buffer->session->options.by_cpu)
		slices->moment(buffer->ctx, time, left);
}

/* Begins a span that is not the first with what came before it: see struct joint_point. */
static void enter_span(const struct buffer *buffer, const struct slice *slice)
{
	const struct span *span = slice->span;

	if (span && span->entry && slice->from == span->from && span->entry->moment)
		tell_moment(buffer, span->entry->moment, false);
}

/* Tells those who wait how the slice begins, as soon as that is known. */
static void tell_begin(struct thread_pool *pool, const struct buffer *buffer, struct slice *slice)
{
	enum slice_begin begin = slice->begin ? SLICE_UNKNOWN : rvt_buffer_slice_begin(buffer);

	if (!begin)
		return;
	session_lock(pool->session);
	slice->begin = begin;
	pthread_cond_broadcast(&pool->joined);
	session_unlock(pool->session);
}

/*
 * The slice in which the flow of @slice goes on, or breaks off, once that is known; one that nobody
 * has taken yet is this worker's next. NULL: none, or there was an error. .lock is held.
 */
static const struct slice *find_next(struct worker *worker, struct slice *slice)
{
	struct thread_pool *pool = worker->pool;
	const struct slice *end = pool->joints[slice->buffer].end;

	while (++slice < end && slice->taken) {
		while (!slice->begin && !slice->ended && !pool->error)
			pthread_cond_wait(&pool->joined, &pool->session->lock);
		if (slice->begin || pool->error)
			return slice;
	}
	if (slice == end)
		return NULL;
	slice->taken = true;
	pool->n_taken++;
	worker->next = slice;
	return slice;
}

/*
 * Counts the edge from this slice into the next one, if that begins with something executed. Where
 * this worker goes on with that one, the edge is counted there.
 */
static int end_edges(struct worker *worker, struct buffer *buffer, struct slice *slice)
{
	const struct slice *next;
	bool executed;

	if (!slice->n_edges)
		return 0;
	if (!worker->pool->session->sink->count_edge)
		return rvt_buffer_end_edges(buffer, false);
	session_lock(worker->pool->session);
	next = find_next(worker, slice);
	executed = next && next->begin == SLICE_EXECUTES;
	session_unlock(worker->pool->session);
	return next && next == worker->next ? 0 : rvt_buffer_end_edges(buffer, executed);
}

/*
 * How fast flow runs, which a slice that knows nothing of the one before takes from the first of
 * its buffer. That one is taken earlier, so that nobody waits for long.
 */
static void take_speed(struct thread_pool *pool, struct buffer *buffer, const struct slice *slice)
{
	const struct rvt_session_slices *slices = session_slices(pool->session);
	const struct slice *first = pool->first[slice->buffer];

	if (!slices || !slices->apart || slice == first)
		return;
	session_lock(pool->session);
	while (!first->ended && !pool->error)
		pthread_cond_wait(&pool->joined, &pool->session->lock);
	buffer->speed = first->speed;
	session_unlock(pool->session);
}

/*
 * How fast flow ran last, before the buffer's slice. Slices of a buffer are taken in order, so all
 * before it are decoded, or being decoded by threads that wait for earlier ones at most.
 */
static struct rvt_clock_speed find_speed(const struct buffer *buffer)
{
	struct thread_pool *pool = buffer->pool;
	const struct slice *slice = buffer->slice;
	struct rvt_clock_speed speed = { .insns = 0 };

	session_lock(pool->session);
	while (!speed.insns && !pool->error && slice > pool->slices &&
	       slice[-1].buffer == slice->buffer && slice[-1].to == slice->from) {
		slice--;
		while (!slice->ended && !pool->error)
			pthread_cond_wait(&pool->joined, &pool->session->lock);
		speed = slice->speed;
	}
	session_unlock(pool->session);
	return speed;
}

/* More is carried over the end of @slice than a synchronisation tells. 0, or -EAGAIN. */
static int go_on_to_end(struct thread_pool *pool, struct slice *slice)
{
	if (!pool->session->by_source || !session_slices(pool->session))
		return -EAGAIN;
	drop_rest(pool, slice);
	return 0;
}

static int decode_slice(struct worker *worker, struct slice *slice)
{
	struct buffer *buffer = &worker->buffers[slice->buffer];
	int err, more = 1;

	take_speed(worker->pool, buffer, slice);
	err = rvt_buffer_begin_slice(buffer, slice);
	enter_span(buffer, slice);
	while (!err && more && !rvt_buffer_slice_done(buffer)) {
		buffer->was_left = rvt_buffer_slice_left(buffer);
		more = rvt_buffer_step(buffer, rvt_buffer_slice_step(buffer));
		tell_begin(worker->pool, buffer, slice);
		rvt_buffer_tell_moment(buffer);
		if (more < 0)
			err = more;
		else if (slice->extended && slice->to != UINT64_MAX)
			err = go_on_to_end(worker->pool, slice);
		else if (worker->pool->error || is_void(worker->pool, slice))
			err = -ECANCELED;
	}
	/* one thread ends all buffers together */
	if (!more || slice->to == UINT64_MAX)
		tell_moment(buffer, UINT64_MAX, false);
	err = rvt_buffer_end_slice(buffer, err);
	tell_begin(worker->pool, buffer, slice);
	add_stats(worker);
	err = end_slice(worker->pool, slice, err);
	return err ? err : end_edges(worker, buffer, slice);
}

/* Finishes the buffers before @n: what this worker counted of them is complete. */
static int finish_buffers(struct worker *worker, size_t n)
{
	int err = 0;

	for (; worker->n_finished < n && !err; worker->n_finished++) {
		err = rvt_buffer_finish(&worker->buffers[worker->n_finished]);
		/* their tables need not stay while others grow */
		if (!session_slices(worker->pool->session))
			rvt_buffer_rewind(&worker->buffers[worker->n_finished]);
	}
	return err;
}

static void *work(void *ctx)
{
	struct worker *worker = ctx;
	struct thread_pool *pool = worker->pool;
	struct slice *slice;
	int err = 0;

	while (!err && (slice = take_slice(worker))) {
		/* slices that are counted come buffer by buffer */
		if (!session_slices(pool->session))
			err = finish_buffers(worker, slice->buffer);
		if (!err)
			err = decode_slice(worker, slice);
	}
	if (!err)
		err = finish_buffers(worker, pool->session->n_buffers);
	if (err) {
		session_lock(pool->session);
		stop(pool, err);
		session_unlock(pool->session);
	}
	return NULL;
}

/* ---- threads ---- */

/*
 * Decode contexts live as long as the session: names that were delivered point into them, and they
 * keep the code that was read.
 */
static int open_decode_contexts(struct rvt_session *session, unsigned int n)
{
	int err = 0;

	while (!err && session->n_decode_contexts < n) {
		struct decode_context *decode;

		err = array_grow(&session->decode_contexts, session->n_decode_contexts);
		if (err)
			break;
		decode = &session->decode_contexts[session->n_decode_contexts];
		err = rvt_session_open_context(session, decode);
		session->n_decode_contexts += !!decode->image;
	}
	return err;
}

static int worker_open(struct worker *worker, struct thread_pool *pool,
		       struct decode_context *decode)
{
	struct rvt_session *session = pool->session;
	const struct rvt_session_slices *slices = session_slices(session), *own = session->slices;

	worker->buffers = calloc(session->n_buffers + 1, sizeof(*worker->buffers));
	if (!worker->buffers)
		return -ENOMEM;
	worker->pool = pool;
	worker->decode = decode;
	decode->shares_memos = session->options.count;
	decode->n_decodings++;
	if (own && own->open && !(worker->ctx = own->open(own->ctx)))
		return -ENOMEM;
	for (size_t i = 0; i < session->n_buffers; i++) {
		struct buffer *buffer = &worker->buffers[i];

		*buffer = session->buffers[i];
		buffer->decode = decode;
		buffer->stats = &worker->stats;
		buffer->own_ctx = session->options.count && worker->ctx;
		if (buffer->own_ctx)
			buffer->ctx = worker->ctx;
		/* segments of an index may be decoded without those before them */
		if (slices && !slices->apart && !slices->note) {
			buffer->pool = pool;
			buffer->speed_before = find_speed;
		}
		buffer->unpacked = NULL;
		buffer->unpacked_chunk = NULL;
		buffer->unpacked_room = 0;
	}
	return 0;
}

static void worker_close(struct worker *worker)
{
	rvt_session_add_stats(&worker->pool->session->stats, &worker->stats);
	worker->decode->shares_memos = false;
	for (size_t i = 0; i < worker->pool->session->n_buffers; i++)
		rvt_buffer_rewind(&worker->buffers[i]);
	free(worker->buffers);
}

static int run_workers(struct thread_pool *pool, struct worker *workers, unsigned int n)
{
	unsigned int started = 0;
	int err = open_decode_contexts(pool->session, n);

	for (unsigned int i = 0; i < n && !err; i++)
		err = worker_open(&workers[i], pool, &pool->session->decode_contexts[i]);
	pool->session->parallel = true;
	while (!err && started < n &&
	       !pthread_create(&workers[started].thread, NULL, work, &workers[started]))
		started++;
	for (unsigned int i = 0; i < started; i++)
		pthread_join(workers[i].thread, NULL);
	pool->session->parallel = false;
	if (!err && !started)
		err = -EAGAIN;
	return err ? err : pool->error;
}

/* For who makes an index: where slices do not fit together. */
static void tell_misfit(const struct thread_pool *pool, const struct rvt_session_slices *slices)
{
	const struct slice *slice = pool->misfit;

	for (size_t i = 0; i < pool->n_slices && !slice; i++)
		if (pool->slices[i].extended && pool->slices[i].to != UINT64_MAX)
			slice = &pool->slices[i];
	if (slice)
		slices->misfit(slices->ctx, slice, slice != pool->misfit);
}

/*
 * Who can do with one thread needs no others; nor is there anything to do where nothing is chosen.
 */
static unsigned int count_workers(const struct thread_pool *pool)
{
	const struct rvt_session *session = pool->session;
	unsigned int jobs = session->options.jobs ? session->options.jobs : 1;

	return jobs < pool->n_slices ? jobs : pool->n_slices;
}

int rvt_session_run_parallel(struct rvt_session *session)
{
	const struct rvt_session_slices *slices = session_slices(session);
	struct thread_pool pool = { .session = session, .joined = PTHREAD_COND_INITIALIZER };
	const bool apart = slices && slices->apart;
	struct worker *workers = NULL;
	unsigned int n = 0;
	size_t n_slices;
	int err = rvt_session_cut(session, &pool.slices, &n_slices);

	pool.n_slices = n_slices;
	if (!err)
		err = plan(&pool);
	if (!err) {
		n = count_workers(&pool);
		workers = calloc(n + 1, sizeof(*workers));
		err = !workers ? -ENOMEM : n < 2 && !session->spans && !apart ? -EAGAIN :
		      n ? run_workers(&pool, workers, n) : 0;
	}
	if (!err && !slices)
		err = join_all(&pool);
	if (err == -EAGAIN && slices && slices->misfit)
		tell_misfit(&pool, slices);
	for (unsigned int i = 0; i < n && workers; i++)
		if (workers[i].pool)
			worker_close(&workers[i]);
	free(workers);
	for (size_t i = 0; i < session->n_buffers && pool.joints; i++)
		free(pool.joints[i].sources);
	free(pool.joints);
	free(pool.first);
	free(pool.order);
	rvt_session_free_slices(pool.slices, n_slices);
	return err;
}
