// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Decoding on several processors: the bytes of every buffer are cut into parts (rvt_stream_part()), and
 * threads take one after the other. A thread shares nothing with others but what is only read: it has
 * its own image, and for each buffer its own lanes.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include "array.h"
#include "session.h"

#define PARTS_PER_JOB 8
/* Parts that are decoded and not joined, for each job. */
#define MAX_AHEAD 8
#define FIRST_PARTS 32	/* of the usual size */
#define MIN_PART (256ull << 10)
#define MAX_PART (4ull << 20)
/* How far a message boundary is looked for. */
#define MAX_SEARCH (1ull << 20)

/* How far the parts of a buffer are joined. */
struct joint {
	struct part *next, *end;
	struct part *before;	/* the last one in which anything was; NULL: none */
	struct part *left;	/* whose flow must be resumed; NULL: none */
	uint64_t latest;	/* time stamp so far */
};

struct crew {
	struct rvt_session *session;
	struct part *parts;	/* by buffer */
	struct part **order;	/* in which they are taken */
	struct joint *joints;	/* by buffer */
	size_t n_parts;
	size_t next;		/* .order: nobody has taken it */
	size_t n_joined;
	pthread_cond_t joined;
	atomic_int error;	/* the first one */
};

struct worker {
	struct crew *crew;
	pthread_t thread;
	void *ctx;		/* by sink.parts->open */
	struct buffer *buffers;	/* as the session has them, with the worker's own lanes */
	struct rvt_session_stats stats;
};

/* ---- cutting ---- */

static int add_part(struct crew *crew, const struct part *part)
{
	if (array_grow(&crew->parts, crew->n_parts))
		return -ENOMEM;
	crew->parts[crew->n_parts++] = *part;
	return 0;
}

/* The one encoder whose trace the buffer has; NULL: there are others, too, or none. */
static const struct encoder *only_encoder(const struct buffer *buffer)
{
	const struct encoder *only = NULL;

	for (size_t i = 0; i < buffer->n_records; i++) {
		int32_t cpu = buffer->cpu >= 0 ? buffer->cpu : buffer->records[i].cpu;
		const struct encoder *encoder = session_encoder(buffer->session, cpu);

		if (!encoder || (only && encoder != only))
			return NULL;
		only = encoder;
	}
	return only;
}

/* Not so in a damaged file: records that claim the same bytes are decoded as they come. */
static bool are_in_order(const struct buffer *buffer)
{
	for (size_t i = 1; i < buffer->n_records; i++) {
		const struct rvt_aux *before = &buffer->records[i - 1];
		uint64_t end = before->offset + before->size;

		if (end < before->offset || buffer->records[i].offset < end)
			return false;
	}
	return true;
}

/* Where a message begins in record @n, at least @skip bytes behind its beginning; 0: not known. */
static uint64_t find_boundary(struct buffer *buffer, const struct encoder *encoder, size_t n,
			      uint64_t skip)
{
	const struct rvt_aux *aux = &buffer->records[n];
	uint64_t offset = aux->offset + skip, len = aux->size - skip;
	const struct chunk *chunk = buffer_chunk(buffer, offset);
	const uint8_t *bytes = chunk ? buffer_bytes(buffer, chunk) : NULL;
	ssize_t at;

	if (!bytes)
		return 0;
	if (len > chunk->offset + chunk->len - offset)
		len = chunk->offset + chunk->len - offset;
	if (len > MAX_SEARCH)
		len = MAX_SEARCH;
	at = rvt_stream_boundary(&encoder->params, bytes + (offset - chunk->offset), len);
	if (!chunk->packed)
		rvt_perfdata_release(buffer->session->file, bytes + (offset - chunk->offset),
				     at > 0 ? at : 0);
	return at > 0 ? offset + at : 0;
}

/* When what lies @done bytes behind the beginning of record @n happened, as if trace came evenly. */
static uint64_t time_of(const struct rvt_aux *records, size_t n, uint64_t done)
{
	uint64_t before = n ? records[n - 1].time : 0, after = records[n].time;

	return after > before ? before + (double)(after - before) * done / records[n].size : before;
}

static int cut_buffer(struct crew *crew, struct buffer *buffer, uint64_t size)
{
	const struct encoder *encoder = are_in_order(buffer) ? only_encoder(buffer) : NULL;
	struct part part = { .buffer = buffer->number, .to = UINT64_MAX,
			     .end_record = buffer->n_records };
	/* Where lines come out somebody waits for the first: what is told in order begins with small parts. */
	uint64_t step = session_parts(crew->session) ? (size + FIRST_PARTS - 1) / FIRST_PARTS : size;
	uint64_t passed = 0, wanted = step, time;	/* bytes of records */
	int err = 0;

	for (size_t i = 0; encoder && i < buffer->n_records && !err; i++) {
		uint64_t end = passed + buffer->records[i].size;

		while (wanted < end && !err) {
			uint64_t skip = wanted - passed, at;

			/* What is not in the file is lost to the end of the record, which may claim to be endless. */
			if (!buffer_chunk(buffer, buffer->records[i].offset + skip)) {
				wanted = end;
				break;
			}
			at = find_boundary(buffer, encoder, i, skip);
			step = 2 * step < size ? 2 * step : size;
			wanted += step;
			if (!at || at <= part.from)
				continue;
			part.to = at;
			part.end_record = i;
			err = add_part(crew, &part);
			time = time_of(buffer->records, i, at - buffer->records[i].offset);
			part = (struct part){ .buffer = buffer->number, .from = at, .to = UINT64_MAX,
					      .record = i, .done = at - buffer->records[i].offset,
					      .time = time > part.time ? time : part.time,
					      .end_record = buffer->n_records };
		}
		passed = end;
	}
	return err ? err : add_part(crew, &part);
}

static int cut(struct crew *crew)
{
	struct rvt_session *session = crew->session;
	uint64_t size = rvt_session_size(session) / (session->options.jobs * PARTS_PER_JOB);
	int err = 0;

	size = size < MIN_PART ? MIN_PART : size > MAX_PART ? MAX_PART : size;
	if (session->options.part_bytes)
		size = session->options.part_bytes;
	for (size_t i = 0; i < session->n_buffers && !err; i++)
		if (session->buffers[i].n_records)
			err = cut_buffer(crew, &session->buffers[i], size);
	return err;
}

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

/* ---- how parts fit together ---- */

/* False: @b took something for granted that @a, which it goes on from (NULL: nothing), shows to be wrong. */
static bool fits(const struct part *a, const struct part *b)
{
	if (!a)
		return !b->lost_at_begin;
	return !(a->owned_at_end && b->unowned_at_begin) && a->n_left <= 1 &&
		(a->lost_at_end ? !b->broken_at_begin : !b->lost_at_begin);
}

/* The same for what is told in order. */
static bool follows(const struct part *a, const struct part *b)
{
	return !a || (!(a->timed_at_end && b->untimed_at_begin) && a->lost_at_end == b->lost_at_begin);
}

/*
 * A flow that one part left is resumed by another, at the same synchronisation and nowhere else. A buffer with several
 * flows cannot be told in parts.
 */
static bool goes_on(struct joint *joint, struct part *part)
{
	const struct part *left = joint->left;

	if (part->n_lanes > 1 && (part->from || part->to != UINT64_MAX))
		return false;
	if (part->resumed ? !left || left->left_at != part->resumed_at : left && part->executed)
		return false;
	if (part->left)
		joint->left = part;
	else if (part->resumed)
		joint->left = NULL;
	return !joint->left || joint->next + 1 < joint->end;
}

/* A damaged time stamp decides what is mapped from there on: one thread goes on with it. */
static bool is_later(struct joint *joint, const struct part *part)
{
	if (!part->latest)
		return true;
	if (part->earliest < joint->latest)
		return false;
	joint->latest = part->latest;
	return true;
}

/* From the last instruction of @a to the first of @b, if that was executed. */
static int tell_edge(const struct rvt_session_sink *sink, struct part *a, const struct part *b)
{
	if (!a || !a->n_left || !sink->count_edge || b->broken_at_begin || b->lost_at_begin)
		return 0;
	return sink->count_edge(sink->ctx, &a->left_lane, a->left_from, a->left_to, a->left_class, 1);
}

/* The next part of the buffer. -EAGAIN: it does not fit. */
static int join_part(struct crew *crew, struct joint *joint)
{
	const struct rvt_session_parts *parts = session_parts(crew->session);
	struct part *part = joint->next;
	int err = 0;

	if (!is_later(joint, part) || (parts && !goes_on(joint, part)))
		return -EAGAIN;
	/* those in which nothing was are passed over */
	if (part->executed || part->broken_at_begin || part->lost_at_begin) {
		if (!fits(joint->before, part) || (parts && !follows(joint->before, part)))
			return -EAGAIN;
		err = tell_edge(crew->session->sink, joint->before, part);
		joint->before = part;
	}
	joint->next++;
	crew->n_joined++;
	return !err && parts && parts->join ? parts->join(parts->ctx, part->ctx, part->buffer) : err;
}

static int join_ended(struct crew *crew, struct joint *joint)
{
	int err = 0;

	while (joint->next < joint->end && joint->next->ended && !err)
		err = join_part(crew, joint);
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

/*
 * The next part, as the caller has it; NULL: there is none, or there was an error. What is ahead of
 * those that are joined takes room: so nobody is too far ahead.
 */
static struct part *take_part(struct worker *worker)
{
	struct crew *crew = worker->crew;
	const struct rvt_session_parts *parts = session_parts(crew->session);
	size_t ahead = crew->session->options.jobs * MAX_AHEAD;
	struct part *part = NULL;

	session_lock(crew->session);
	while (parts && crew->next >= crew->n_joined + ahead && !crew->error)
		pthread_cond_wait(&crew->joined, &crew->session->lock);
	if (crew->next < crew->n_parts && !crew->error)
		part = crew->order[crew->next++];
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

	if (!parts) {
		part->ended = true;
		return err;
	}
	session_lock(crew->session);
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

	if (parts && parts->moment && (!buffer->session->options.by_cpu || time == UINT64_MAX))
		parts->moment(buffer->ctx, time, left);
}

static int decode_part(struct worker *worker, struct part *part)
{
	struct buffer *buffer = &worker->buffers[part->buffer];
	int err = buffer_begin_part(buffer, part), more = 1;

	while (!err && more && !buffer_part_done(buffer)) {
		uint64_t time = buffer->time;
		bool left = buffer_part_left(buffer);

		more = buffer_step(buffer, buffer_part_slow(buffer));
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
	add_stats(worker);
	return end_part(worker->crew, part, err);
}

static void *work(void *ctx)
{
	struct worker *worker = ctx;
	struct crew *crew = worker->crew;
	size_t n_buffers = crew->session->n_buffers;
	struct part *part;
	int err = 0, none = 0;

	while (!err && (part = take_part(worker)))
		err = decode_part(worker, part);
	for (size_t n = 0; n < n_buffers && !err; n++)
		err = buffer_finish(&worker->buffers[n]);
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
		err = rvt_image_create(&world->image);
		if (err)
			break;
		session->n_worlds++;
		err = rvt_owner_kernel(session->owner, world->image, &world->kernel);
	}
	return err;
}

static int worker_open(struct worker *worker, struct crew *crew, const struct world *world)
{
	struct rvt_session *session = crew->session;
	const struct rvt_session_parts *parts = session_parts(session);

	worker->crew = crew;
	worker->buffers = calloc(session->n_buffers + 1, sizeof(*worker->buffers));
	if (!worker->buffers)
		return -ENOMEM;
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
	int err = cut(&crew);

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
