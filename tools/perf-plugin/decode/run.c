// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Decoding a dump, on one processor or on several. Several: the dump is cut into slices (see
 * rvt_stream_slice()). Threads take one slice after the other; text comes out in the order of
 * the slices. The thread whose slice is the oldest that is not finished writes at once; the others
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
#define MIN_SLICE (128 << 10)
#define MAX_SLICE (4 << 20)
/* Text that a slice keeps while older ones are not finished. */
#define MAX_KEPT (16 << 20)

struct worker;

/* One source of the dump, as one thread decodes it. */
struct source {
	struct worker *worker;
	unsigned int src;
	bool in_slice;			/* seen in the current slice */
	struct rvt_flow *flow;
	struct decode_printer *printer;
};

struct slice {
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
	bool apart;			/* there are several slices */
	struct slice *slices;
	atomic_size_t n_slices;		/* those behind are not wanted (any more) */
	atomic_size_t next;		/* slice that nobody has taken */

	pthread_mutex_t lock;
	pthread_cond_t moved;
	size_t n_cut;			/* slices that there were at first */
	size_t head;			/* the oldest slice that is not finished */
	int error;
};

struct worker {
	struct run *run;
	struct slice *slice;
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

	w->slice->lost = true;
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
	w->sources[src]->in_slice = true;
	return w->sources[src]->flow;
}

/* ---- one slice ---- */

static void add_stats(struct rvt_stream_stats *sum, const struct rvt_stream_stats *slice)
{
	sum->messages += slice->messages;
	sum->syncs += slice->syncs;
	sum->idle_bytes += slice->idle_bytes;
	sum->skipped_bytes += slice->skipped_bytes;
	sum->vendor_messages += slice->vendor_messages;
	sum->reserved_messages += slice->reserved_messages;
	sum->errors += slice->errors;
	sum->lost_reports += slice->lost_reports;
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

/* End of a slice that is not the last: where each source goes on. */
static void end_sources(struct worker *w, bool done)
{
	for (unsigned int i = 0; i < DECODE_MAX_SOURCES; i++) {
		struct source *source = w->sources[i];
		uint64_t pc;

		if (!source || !source->in_slice)
			continue;
		source->in_slice = false;
		decode_printer_end(source->printer,
				   done && rvt_flow_pc(source->flow, &pc) ? &pc : NULL);
	}
}

struct feeding {
	struct worker *worker;
	struct rvt_stream *stream;
	bool done, extended;
};

/* This slice goes on to the end: nobody wants those behind it. */
static void drop_others(struct worker *w)
{
	struct run *run = w->run;
	size_t n = w->slice - run->slices + 1;

	pthread_mutex_lock(&run->lock);
	if (n < run->n_slices)
		run->n_slices = n;
	pthread_cond_broadcast(&run->moved);
	pthread_mutex_unlock(&run->lock);
}

static bool is_wanted(const struct run *run, const struct slice *slice)
{
	return (size_t)(slice - run->slices) < run->n_slices;
}

static int feed(void *ctx, const void *bytes, size_t len, uint64_t position)
{
	struct feeding *f = ctx;
	int ret = rvt_stream_feed(f->stream, bytes, len, position);

	f->done = rvt_stream_slice_done(f->stream);
	if (!f->extended && rvt_stream_slice_extended(f->stream)) {
		f->extended = true;
		drop_others(f->worker);
	}
	if (ret)
		return ret;
	if (!is_wanted(f->worker->run, f->worker->slice))
		return -ECANCELED;
	return f->worker->error ? f->worker->error : f->done;
}

static int decode_slice(struct worker *w, struct slice *slice)
{
	const struct decode_job *job = w->run->job;
	struct rvt_stream_ops ops = { w, on_source, on_stream_event };
	struct feeding f = { .worker = w };
	int ret = rvt_stream_create(job->params, &ops, &f.stream);

	if (ret)
		return ret;
	sum_flows(w, &slice->flow, -1);
	if (w->run->apart)
		ret = rvt_stream_slice(f.stream, slice->from, slice->to == job->size ? UINT64_MAX :
				       slice->to);
	if (!ret)
		ret = decode_read(job, slice->from, job->size, &f, feed);
	if (!ret || f.done)
		ret = rvt_stream_finish(f.stream);
	rvt_stream_stats(f.stream, &slice->stream);
	rvt_stream_destroy(f.stream);
	sum_flows(w, &slice->flow, 1);
	if (w->run->apart)
		end_sources(w, f.done);
	return ret;
}

/* ---- the order of the slices ---- */

static int write_kept(struct slice *slice)
{
	int ret = slice->n_kept ? decode_write_stdout(NULL, slice->kept, slice->n_kept) : 0;

	free(slice->kept);
	slice->kept = NULL;
	slice->n_kept = slice->kept_size = 0;
	return ret;
}

static int keep(struct slice *slice, const char *text, size_t len)
{
	if (array_reserve(&slice->kept, &slice->kept_size, slice->n_kept, len))
		return -ENOMEM;
	memcpy(slice->kept + slice->n_kept, text, len);
	slice->n_kept += len;
	return 0;
}

/* Text of the worker's slice: written when it is its turn, else kept. */
static int write_in_turn(void *ctx, const char *text, size_t len)
{
	struct worker *w = ctx;
	struct run *run = w->run;
	struct slice *slice = w->slice;
	int ret = 0;

	pthread_mutex_lock(&run->lock);
	while (&run->slices[run->head] != slice && slice->n_kept + len > MAX_KEPT && !run->error &&
	       is_wanted(run, slice))
		pthread_cond_wait(&run->moved, &run->lock);
	if (run->error || !is_wanted(run, slice)) {
		ret = run->error ? run->error : -ECANCELED;
	} else if (&run->slices[run->head] != slice) {
		ret = keep(slice, text, len);
	} else {
		/* Nobody else writes, nor moves on, while this slice is the head. */
		pthread_mutex_unlock(&run->lock);
		ret = write_kept(slice);
		return ret ? ret : decode_write_stdout(NULL, text, len);
	}
	pthread_mutex_unlock(&run->lock);
	return ret;
}

/* The worker's slice is decoded: what follows it in order and is finished, too, is written. */
static void finish_slice(struct run *run, struct slice *slice, int error)
{
	pthread_mutex_lock(&run->lock);
	slice->finished = true;
	if (!run->error && is_wanted(run, slice))
		run->error = error;
	while (run->head < run->n_slices && run->slices[run->head].finished) {
		struct slice *head = &run->slices[run->head];
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

	while ((i = atomic_fetch_add(&run->next, 1)) < run->n_slices) {
		int ret;

		w->slice = &run->slices[i];
		w->errors = open_memstream(&w->slice->errors, &w->slice->errors_size);
		if (!w->errors) {
			finish_slice(run, w->slice, -ENOMEM);
			break;
		}
		w->output.error = 0;
		ret = decode_slice(w, w->slice);
		if (!ret)
			ret = decode_output_flush(&w->output);
		fclose(w->errors);
		finish_slice(run, w->slice, ret);
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

	if (size < MIN_SLICE)
		size = MIN_SLICE;
	if (size > MAX_SLICE)
		size = MAX_SLICE;
	do {
		struct search search = { job, job->size };
		uint64_t to = job->size - from > 2 * size ? from + size : job->size;

		if (job->jobs > 1 && to < job->size &&
		    decode_read(job, to, job->size, &search, find_boundary) == 1)
			to = search.found;
		else
			to = job->size;
		if (array_grow(&run->slices, run->n_slices))
			return -ENOMEM;
		run->slices[run->n_slices++] = (struct slice){ .from = from, .to = to };
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
	w->slice = run->slices;
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
		ret = decode_slice(&workers[0], &run->slices[0]);
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
	run.n_cut = run.n_slices;
	run.apart = run.n_slices > 1;
	if (!ret) {
		n = job->jobs < run.n_slices ? job->jobs : run.n_slices;
		workers = calloc(n, sizeof(workers[0]));
		ret = workers ? run_workers(&run, workers, n) : -ENOMEM;
	}
	for (unsigned int i = 0; workers && i < n; i++) {
		if (!ret)
			ret = workers[i].error;
		if (workers[i].run)
			worker_close(&workers[i], seen);
	}
	for (size_t i = 0; i < run.n_slices; i++) {
		add_stats(&job->stream, &run.slices[i].stream);
		add_flow_stats(&job->flow, &run.slices[i].flow, 1);
		job->lost |= run.slices[i].lost;
	}
	job->stream.bytes = job->size;
	for (size_t i = run.n_slices; i < run.n_cut; i++) {
		free(run.slices[i].kept);
		free(run.slices[i].errors);
	}
	free(workers);
	free(seen);
	free(run.slices);
	pthread_cond_destroy(&run.moved);
	pthread_mutex_destroy(&run.lock);
	return ret;
}
