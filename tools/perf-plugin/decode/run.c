// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Decoding a dump, on one processor or on several. Several: the dump is cut into parts (see
 * rvt_stream_part()). Threads take one part after the other; text comes out in the order of
 * the parts. The thread whose part is the oldest that is not finished writes at once; the others
 * collect some text and then wait.
 */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "util/array.h"
#include "decode/decode.h"

#define CHUNK (1 << 20)
#define MIN_PART (128 << 10)
#define MAX_PART (4 << 20)
/* Text that a part keeps while older ones are not finished. */
#define MAX_KEPT (16 << 20)

struct worker;

/* One source of the dump, as one thread decodes it. */
struct source {
	struct worker *worker;
	unsigned int src;
	bool in_part;			/* seen in the current part */
	struct rvt_flow *flow;
	struct decode_printer *printer;
};

struct part {
	uint64_t from, to;		/* the last one: to the end of the dump */
	bool finished;
	bool lost;			/* something was reported */
	struct rvt_stream_stats stream;
	struct rvt_flow_stats flow;
	char *kept;			/* text that waits */
	size_t n_kept, kept_size;
	char *errors;			/* malloc'd lines for standard error */
	size_t errors_size;
};

struct run {
	struct decode_job *job;
	bool tagged;			/* lines begin with the source */
	bool apart;			/* there are several parts */
	struct part *parts;
	atomic_size_t n_parts;		/* those behind are not wanted (any more) */
	atomic_size_t next;		/* part that nobody has taken */

	pthread_mutex_t lock;
	pthread_cond_t moved;
	size_t n_cut;			/* parts that there were at first */
	size_t head;			/* the oldest part that is not finished */
	int error;
};

struct worker {
	struct run *run;
	struct part *part;
	pthread_t thread;
	FILE *errors;
	struct decode_output output;
	struct source **sources;	/* by number; NULL: not seen */
	int error;
};

/* ---- the dump ---- */

uint64_t decode_offset(const struct decode_job *job, uint64_t position)
{
	uint64_t behind = job->size - job->first;

	return position < behind ? job->first + position : position - behind;
}

int decode_read(const struct decode_job *job, uint64_t from, uint64_t to, void *ctx,
		int (*take)(void *ctx, const void *bytes, size_t len, uint64_t position))
{
	uint64_t seam = job->size - job->first;
	char *buffer = malloc(CHUNK);
	int ret = buffer ? 0 : -ENOMEM;

	while (!ret && from < to) {
		uint64_t end = from < seam && to > seam ? seam : to;
		size_t want = end - from < CHUNK ? end - from : CHUNK;
		ssize_t n = pread(job->fd, buffer, want, decode_offset(job, from));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			ret = n ? -errno : -EIO;
			break;
		}
		ret = take(ctx, buffer, n, from);
		from += n;
	}
	free(buffer);
	return ret;
}

/* ---- what the decoder tells ---- */

static void report(struct worker *w, const struct rvt_event *event, const struct source *source)
{
	const struct decode_job *job = w->run->job;

	w->part->lost = true;
	fprintf(w->errors, "%s: offset 0x%" PRIx64 ": ", job->path,
		decode_offset(job, event->offset));
	if (source && w->run->tagged)
		fprintf(w->errors, "source %u: ", source->src);
	fprintf(w->errors, "%s\n", event->detail ? event->detail : "flow is lost");
}

static int on_runs(void *ctx, const struct rvt_run *runs, size_t n)
{
	struct source *source = ctx;

	return decode_printer_runs(source->printer, runs, n);
}

static int on_event(void *ctx, const struct rvt_event *event)
{
	struct source *source = ctx;

	if (event->type == RVT_EVENT_LOST)
		report(source->worker, event, source);
	return decode_printer_event(source->printer, event);
}

static int on_stream_event(void *ctx, const struct rvt_event *event)
{
	if (event->type == RVT_EVENT_LOST)
		report(ctx, event, NULL);
	return 0;
}

static void source_destroy(struct source *source)
{
	if (!source)
		return;
	rvt_flow_destroy(source->flow);
	decode_printer_destroy(source->printer);
	free(source);
}

static struct source *source_create(struct worker *w, unsigned int src)
{
	const struct decode_job *job = w->run->job;
	struct source *source = calloc(1, sizeof(*source));
	struct rvt_flow_sink sink = { source, NULL, on_event };
	struct rvt_flow_config config;
	char prefix[16] = "";

	if (!source)
		return NULL;
	source->worker = w;
	source->src = src;
	if (w->run->tagged)
		snprintf(prefix, sizeof(prefix), "%u ", src);
	if (job->print <= PRINT_EDGE)
		sink.runs = on_runs;
	rvt_stream_flow_config(job->params, &config);
	source->printer = decode_printer_create(job->print, prefix, job->space, &w->output);
	if (!source->printer || rvt_flow_create(&config, &sink, &source->flow)) {
		source_destroy(source);
		return NULL;
	}
	rvt_flow_set_space(source->flow, job->space);
	return source;
}

static struct rvt_flow *on_source(void *ctx, unsigned int src)
{
	struct worker *w = ctx;
	long wanted = w->run->job->src;

	if (src >= DECODE_MAX_SOURCES || (wanted != DECODE_ALL_SOURCES && wanted != src))
		return NULL;
	if (!w->sources[src])
		w->sources[src] = source_create(w, src);
	if (!w->sources[src]) {
		w->error = -ENOMEM;
		return NULL;
	}
	w->sources[src]->in_part = true;
	return w->sources[src]->flow;
}

/* ---- one part ---- */

static void add_stats(struct rvt_stream_stats *sum, const struct rvt_stream_stats *part)
{
	sum->messages += part->messages;
	sum->syncs += part->syncs;
	sum->idle_bytes += part->idle_bytes;
	sum->skipped_bytes += part->skipped_bytes;
	sum->vendor_messages += part->vendor_messages;
	sum->reserved_messages += part->reserved_messages;
	sum->errors += part->errors;
	sum->lost_reports += part->lost_reports;
}

static void add_flow_stats(struct rvt_flow_stats *sum, const struct rvt_flow_stats *stats, int sign)
{
	sum->insns += sign * stats->insns;
	sum->branches += sign * stats->branches;
	sum->traps += sign * stats->traps;
	sum->gaps += sign * stats->gaps;
}

/* What all flows of the worker did since they were made. */
static void sum_flows(const struct worker *w, struct rvt_flow_stats *sum, int sign)
{
	for (unsigned int i = 0; i < DECODE_MAX_SOURCES; i++) {
		struct rvt_flow_stats stats;

		if (!w->sources[i])
			continue;
		rvt_flow_stats(w->sources[i]->flow, &stats);
		add_flow_stats(sum, &stats, sign);
	}
}

/* End of a part that is not the last: where each source goes on. */
static void end_sources(struct worker *w, bool done)
{
	for (unsigned int i = 0; i < DECODE_MAX_SOURCES; i++) {
		struct source *source = w->sources[i];
		uint64_t pc;

		if (!source || !source->in_part)
			continue;
		source->in_part = false;
		decode_printer_end(source->printer,
				   done && rvt_flow_pc(source->flow, &pc) ? &pc : NULL);
	}
}

struct feeding {
	struct worker *worker;
	struct rvt_stream *stream;
	bool done, extended;
};

/* This part goes on to the end: nobody wants those behind it. */
static void drop_others(struct worker *w)
{
	struct run *run = w->run;
	size_t n = w->part - run->parts + 1;

	pthread_mutex_lock(&run->lock);
	if (n < run->n_parts)
		run->n_parts = n;
	pthread_cond_broadcast(&run->moved);
	pthread_mutex_unlock(&run->lock);
}

static bool is_wanted(const struct run *run, const struct part *part)
{
	return (size_t)(part - run->parts) < run->n_parts;
}

static int feed(void *ctx, const void *bytes, size_t len, uint64_t position)
{
	struct feeding *f = ctx;
	int ret = rvt_stream_feed(f->stream, bytes, len, position);

	f->done = rvt_stream_part_done(f->stream);
	if (!f->extended && rvt_stream_part_extended(f->stream)) {
		f->extended = true;
		drop_others(f->worker);
	}
	if (ret)
		return ret;
	if (!is_wanted(f->worker->run, f->worker->part))
		return -ECANCELED;
	return f->worker->error ? f->worker->error : f->done;
}

static int decode_part(struct worker *w, struct part *part)
{
	const struct decode_job *job = w->run->job;
	struct rvt_stream_ops ops = { w, on_source, on_stream_event };
	struct feeding f = { .worker = w };
	int ret = rvt_stream_create(job->params, &ops, &f.stream);

	if (ret)
		return ret;
	sum_flows(w, &part->flow, -1);
	if (w->run->apart)
		ret = rvt_stream_part(f.stream, part->from, part->to == job->size ? UINT64_MAX :
				      part->to);
	if (!ret)
		ret = decode_read(job, part->from, job->size, &f, feed);
	if (!ret || f.done)
		ret = rvt_stream_finish(f.stream);
	rvt_stream_stats(f.stream, &part->stream);
	rvt_stream_destroy(f.stream);
	sum_flows(w, &part->flow, 1);
	if (w->run->apart)
		end_sources(w, f.done);
	return ret;
}

/* ---- the order of the parts ---- */

static int write_kept(struct part *part)
{
	int ret = part->n_kept ? decode_write_stdout(NULL, part->kept, part->n_kept) : 0;

	free(part->kept);
	part->kept = NULL;
	part->n_kept = part->kept_size = 0;
	return ret;
}

static int keep(struct part *part, const char *text, size_t len)
{
	if (array_reserve(&part->kept, &part->kept_size, part->n_kept, len))
		return -ENOMEM;
	memcpy(part->kept + part->n_kept, text, len);
	part->n_kept += len;
	return 0;
}

/* Text of the worker's part: written when it is its turn, else kept. */
static int write_in_turn(void *ctx, const char *text, size_t len)
{
	struct worker *w = ctx;
	struct run *run = w->run;
	struct part *part = w->part;
	int ret = 0;

	pthread_mutex_lock(&run->lock);
	while (&run->parts[run->head] != part && part->n_kept + len > MAX_KEPT && !run->error &&
	       is_wanted(run, part))
		pthread_cond_wait(&run->moved, &run->lock);
	if (run->error || !is_wanted(run, part)) {
		ret = run->error ? run->error : -ECANCELED;
	} else if (&run->parts[run->head] != part) {
		ret = keep(part, text, len);
	} else {
		/* Nobody else writes, nor moves on, while this part is the head. */
		pthread_mutex_unlock(&run->lock);
		ret = write_kept(part);
		return ret ? ret : decode_write_stdout(NULL, text, len);
	}
	pthread_mutex_unlock(&run->lock);
	return ret;
}

/* The worker's part is decoded: what follows it in order and is finished, too, is written. */
static void finish_part(struct run *run, struct part *part, int error)
{
	pthread_mutex_lock(&run->lock);
	part->finished = true;
	if (!run->error && is_wanted(run, part))
		run->error = error;
	while (run->head < run->n_parts && run->parts[run->head].finished) {
		struct part *head = &run->parts[run->head];
		int ret = write_kept(head);

		if (!run->error)
			run->error = ret;
		if (head->errors)
			fputs(head->errors, stderr);
		free(head->errors);
		head->errors = NULL;
		run->head++;
	}
	pthread_cond_broadcast(&run->moved);
	pthread_mutex_unlock(&run->lock);
}

static void *work(void *ctx)
{
	struct worker *w = ctx;
	struct run *run = w->run;
	size_t i;

	while ((i = atomic_fetch_add(&run->next, 1)) < run->n_parts) {
		int ret;

		w->part = &run->parts[i];
		w->errors = open_memstream(&w->part->errors, &w->part->errors_size);
		if (!w->errors) {
			finish_part(run, w->part, -ENOMEM);
			break;
		}
		w->output.error = 0;
		ret = decode_part(w, w->part);
		if (!ret)
			ret = decode_output_flush(&w->output);
		fclose(w->errors);
		finish_part(run, w->part, ret);
	}
	return NULL;
}

/* ---- cutting the dump ---- */

struct search {
	const struct decode_job *job;
	uint64_t found;
};

static int find_boundary(void *ctx, const void *bytes, size_t len, uint64_t position)
{
	struct search *search = ctx;
	ssize_t at = rvt_stream_boundary(search->job->params, bytes, len);

	if (at == -1)
		return 0;	/* go on in the next piece */
	if (at < 0)
		return at;
	search->found = position + at;
	return 1;
}

static int cut(struct run *run)
{
	const struct decode_job *job = run->job;
	uint64_t size = job->size / (job->jobs * 4), from = 0;

	if (size < MIN_PART)
		size = MIN_PART;
	if (size > MAX_PART)
		size = MAX_PART;
	do {
		struct search search = { job, job->size };
		uint64_t to = job->size - from > 2 * size ? from + size : job->size;

		if (job->jobs > 1 && to < job->size &&
		    decode_read(job, to, job->size, &search, find_boundary) == 1)
			to = search.found;
		else
			to = job->size;
		if (array_grow(&run->parts, run->n_parts))
			return -ENOMEM;
		run->parts[run->n_parts++] = (struct part){ .from = from, .to = to };
		from = to;
	} while (from < job->size);
	return 0;
}

/* ---- all of it ---- */

static struct rvt_flow *count_source(void *ctx, unsigned int src)
{
	(void)src;
	(*(unsigned int *)ctx)++;
	return NULL;
}

static int feed_stream(void *ctx, const void *bytes, size_t len, uint64_t position)
{
	return rvt_stream_feed(ctx, bytes, len, position);
}

/* How many sources there are: lines are tagged only when there are several. */
static int count_sources(const struct decode_job *job, unsigned int *n)
{
	struct rvt_stream_ops ops = { .ctx = n, .flow = count_source };
	struct rvt_stream *stream;
	int ret = rvt_stream_create(job->params, &ops, &stream);

	*n = 0;
	if (ret)
		return ret;
	ret = decode_read(job, 0, job->size, stream, feed_stream);
	if (!ret)
		ret = rvt_stream_finish(stream);
	rvt_stream_destroy(stream);
	return ret;
}

static int worker_open(struct worker *w, struct run *run)
{
	w->run = run;
	w->part = run->parts;
	w->errors = stderr;
	w->sources = calloc(DECODE_MAX_SOURCES, sizeof(w->sources[0]));
	if (!w->sources)
		return -ENOMEM;
	return decode_output_open(&w->output, run->apart ? write_in_turn : decode_write_stdout, w);
}

static void worker_close(struct worker *w, bool *seen)
{
	struct decode_job *job = w->run->job;

	for (unsigned int i = 0; w->sources && i < DECODE_MAX_SOURCES; i++) {
		if (!w->sources[i])
			continue;
		job->n_sources += !seen[i];
		seen[i] = true;
		source_destroy(w->sources[i]);
	}
	free(w->sources);
	decode_output_close(&w->output);
}

static int run_workers(struct run *run, struct worker *workers, unsigned int n)
{
	unsigned int started = 0;
	int ret = 0;

	for (unsigned int i = 0; i < n && !ret; i++)
		ret = worker_open(&workers[i], run);
	if (ret)
		return ret;
	if (!run->apart) {
		ret = decode_part(&workers[0], &run->parts[0]);
		return ret ? ret : decode_output_flush(&workers[0].output);
	}
	while (started < n && !pthread_create(&workers[started].thread, NULL, work,
					      &workers[started]))
		started++;
	for (unsigned int i = 0; i < started; i++)
		pthread_join(workers[i].thread, NULL);
	return started ? run->error : -EAGAIN;
}

int decode_run(struct decode_job *job)
{
	struct run run = { .job = job };
	struct worker *workers = NULL;
	unsigned int n = 1, sources = 1;
	bool *seen = calloc(DECODE_MAX_SOURCES, sizeof(seen[0]));
	int ret = seen ? 0 : -ENOMEM;

	pthread_mutex_init(&run.lock, NULL);
	pthread_cond_init(&run.moved, NULL);
	if (!ret && job->src == DECODE_ALL_SOURCES &&
	    (job->params->src_bits || job->params->srcid_bits))
		ret = count_sources(job, &sources);
	run.tagged = sources > 1;
	if (!ret)
		ret = cut(&run);
	run.n_cut = run.n_parts;
	run.apart = run.n_parts > 1;
	if (!ret) {
		n = job->jobs < run.n_parts ? job->jobs : run.n_parts;
		workers = calloc(n, sizeof(workers[0]));
		ret = workers ? run_workers(&run, workers, n) : -ENOMEM;
	}
	for (unsigned int i = 0; workers && i < n; i++) {
		if (!ret)
			ret = workers[i].error;
		if (workers[i].run)
			worker_close(&workers[i], seen);
	}
	for (size_t i = 0; i < run.n_parts; i++) {
		add_stats(&job->stream, &run.parts[i].stream);
		add_flow_stats(&job->flow, &run.parts[i].flow, 1);
		job->lost |= run.parts[i].lost;
	}
	job->stream.bytes = job->size;
	for (size_t i = run.n_parts; i < run.n_cut; i++) {
		free(run.parts[i].kept);
		free(run.parts[i].errors);
	}
	free(workers);
	free(seen);
	free(run.parts);
	pthread_cond_destroy(&run.moved);
	pthread_mutex_destroy(&run.lock);
	return ret;
}
