// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * For tools/bench/scaling and tools/gate. `rvt-scale repeat IN OUT TIMES MAPPINGS [untimed]` writes
 * a recording whose trace is that of IN so many times over, and in which its task has so many
 * mappings more. Where it begins anew time goes back, and slices do not fit together; untimed
 * leaves out what relates time stamps to perf's clock, so that nobody compares them.
 * `rvt-scale cut IN OUT BYTES` writes a recording with the first so many bytes of trace of each
 * buffer of IN, whose trace is not compressed.
 * `rvt-scale run JOBS SYMFS FILE [ROUNDS]` counts its instructions and edges, and prints what that
 * took; several times over in one session, whose later rounds find code read and decoded.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <rvtrace/session.h>
#include "session/access.h"

#define MAPPINGS_AT 0x100000000000ull
#define MAX_BUFFERS 64

/* ---- repeat ---- */

struct buffer {
	int32_t cpu, tid;
	uint64_t size;		/* bytes of its records */
};

struct copy {
	struct rvt_perfdata *in;
	struct rvt_perfdata_writer *out;
	struct buffer buffers[MAX_BUFFERS];
	unsigned int n_buffers;
	int32_t pid;		/* of the first trace */
	bool untimed;
	uint64_t limit;		/* bytes of trace of each buffer */
};

struct aux_body {
	uint64_t offset, size, flags;
};

struct mmap2 {
	struct perf_event_header header;
	uint32_t pid, tid;
	uint64_t addr, len, pgoff;
	uint32_t maj, min;
	uint64_t ino, generation;
	uint32_t prot, flags;
	char name[16];
	/* as in the recordings of perf rvtrace: tid, time, cpu, identifier */
	uint32_t by_pid, by_tid;
	uint64_t time;
	uint32_t cpu, reserved;
	uint64_t id;
};

static struct buffer *find_buffer(struct copy *c, int32_t cpu, int32_t tid)
{
	for (unsigned int i = 0; i < c->n_buffers; i++)
		if (c->buffers[i].cpu == cpu && c->buffers[i].tid == tid)
			return &c->buffers[i];
	if (c->n_buffers == MAX_BUFFERS)
		return NULL;
	c->buffers[c->n_buffers] = (struct buffer){ .cpu = cpu, .tid = tid };
	return &c->buffers[c->n_buffers++];
}

/* The buffer of an AUX record: that of its cpu, else of its thread. */
static struct buffer *buffer_of(struct copy *c, const struct rvt_perfdata_record *record)
{
	for (unsigned int i = 0; i < c->n_buffers; i++)
		if (c->buffers[i].cpu >= 0 ? c->buffers[i].cpu == record->cpu :
					     c->buffers[i].tid == record->tid)
			return &c->buffers[i];
	return NULL;
}

static void measure_buffers(struct copy *c)
{
	struct rvt_perfdata_record record;

	for (int pass = 0; pass < 2; pass++)
		for (uint64_t pos = 0; rvt_perfdata_next(c->in, &pos, &record) > 0;) {
			const struct rvt_record_auxtrace *chunk = (const void *)record.header;
			const struct aux_body *aux = (const void *)(record.header + 1);
			struct buffer *buffer;

			if (record.type == RVT_RECORD_AUXTRACE && !pass)
				find_buffer(c, chunk->cpu, chunk->tid);
			buffer = record.type == PERF_RECORD_AUX && pass ? buffer_of(c, &record) :
									  NULL;
			if (buffer && aux->offset + aux->size > buffer->size)
				buffer->size = aux->offset + aux->size;
			if (buffer && !c->pid)
				c->pid = record.pid;
		}
}

/* What is left of @size bytes at @offset when a buffer ends at @limit. */
static uint64_t clip(uint64_t offset, uint64_t size, uint64_t limit)
{
	if (offset >= limit)
		return 0;
	return size < limit - offset ? size : limit - offset;
}

static int copy_trace(struct copy *c, const struct rvt_perfdata_record *record, uint64_t round)
{
	uint64_t bytes[8192];
	struct rvt_record_auxtrace *chunk = (void *)bytes;
	struct aux_body *aux = (void *)&bytes[1];
	struct buffer *buffer;
	int err;

	memcpy(bytes, record->header, record->header->size);
	if (record->type == PERF_RECORD_AUX) {
		buffer = buffer_of(c, record);
		aux->size = clip(aux->offset, aux->size, c->limit);
		if (!aux->size)
			return 0;
		aux->offset += buffer ? round * buffer->size : 0;
		return rvt_perfdata_write(c->out, bytes, record->header->size);
	}
	chunk->size = clip(chunk->offset, record->aux_len, c->limit);
	if (!chunk->size)
		return 0;
	if (c->limit != UINT64_MAX && chunk->unpacked)
		return -ENOTSUP;
	buffer = find_buffer(c, chunk->cpu, chunk->tid);
	chunk->offset += buffer ? round * buffer->size : 0;
	err = rvt_perfdata_write(c->out, bytes, record->header->size);
	return err ? err : rvt_perfdata_write(c->out, record->aux, chunk->size);
}

static int copy_records(struct copy *c, uint64_t times)
{
	struct rvt_perfdata_record record;
	int err = 0;

	for (uint64_t round = 0; round < times && !err; round++)
		for (uint64_t pos = 0; !err && rvt_perfdata_next(c->in, &pos, &record) > 0;) {
			if (record.type == RVT_RECORD_AUXTRACE || record.type == PERF_RECORD_AUX)
				err = copy_trace(c, &record, round);
			else if (!round && !(c->untimed && record.type == RVT_RECORD_TIME_CONV))
				err = rvt_perfdata_write(c->out, record.header,
							 record.header->size);
		}
	return err;
}

static int add_mappings(struct copy *c, uint64_t n)
{
	struct mmap2 map = {
		.header = { PERF_RECORD_MMAP2, PERF_RECORD_MISC_USER, sizeof(map) },
		.pid = c->pid, .tid = c->pid, .len = 4096, .prot = 5, .name = "/etc/hostname",
		.by_pid = c->pid, .by_tid = c->pid,
		.id = rvt_perfdata_event(c->in, 0)->ids[0],
	};
	int err = 0;

	for (uint64_t i = 0; i < n && !err; i++) {
		map.addr = MAPPINGS_AT + i * 8192;
		err = rvt_perfdata_write(c->out, &map, sizeof(map));
	}
	return err;
}

static int begin(struct copy *c)
{
	const void *data;
	char *meta;
	size_t len;
	int err = 0;

	for (size_t i = 0; i < rvt_perfdata_n_events(c->in) && !err; i++) {
		const struct rvt_perfdata_event *event = rvt_perfdata_event(c->in, i);

		err = rvt_perfdata_add_event(c->out, &event->attr, event->name, event->ids,
					     event->n_ids);
	}
	if (!err)
		err = rvt_perfdata_feature(c->in, RVT_FEAT_RVTRACE_META, &data, &len);
	if (err)
		return err;
	meta = strndup(data, len);
	err = meta ? rvt_perfdata_begin(c->out, meta) : -ENOMEM;
	free(meta);
	return err;
}

static int end(struct copy *c)
{
	int err = 0;

	for (unsigned int bit = 0; bit < RVT_FEAT_BITS && !err; bit++) {
		const void *data;
		size_t len;

		if (bit != RVT_FEAT_RVTRACE_META && bit != RVT_FEAT_EVENT_DESC &&
		    !rvt_perfdata_feature(c->in, bit, &data, &len))
			err = rvt_perfdata_add_feature(c->out, bit, data, len);
	}
	return err ? err : rvt_perfdata_finish(c->out);
}

static int copy(struct copy *c, const char *in, const char *out, uint64_t times, uint64_t mappings)
{
	char *error = NULL;
	int err = rvt_perfdata_open(in, &c->in, &error);

	if (!err)
		err = rvt_perfdata_create(out, &c->out);
	if (!err)
		err = begin(c);
	if (!err) {
		measure_buffers(c);
		err = add_mappings(c, mappings);
	}
	if (!err)
		err = copy_records(c, times);
	if (!err)
		err = end(c);
	if (err)
		fprintf(stderr, "%s\n", error ? error : strerror(-err));
	free(error);
	rvt_perfdata_close(c->in);
	return err ? 1 : 0;
}

static int repeat(char **args)
{
	struct copy c = { .untimed = args[4], .limit = UINT64_MAX };

	return copy(&c, args[0], args[1], strtoull(args[2], NULL, 10), strtoull(args[3], NULL, 10));
}

static int cut(char **args)
{
	struct copy c = { .limit = strtoull(args[2], NULL, 10) };

	return copy(&c, args[0], args[1], 1, 0);
}

/* ---- run ---- */

struct sums {
	uint64_t insns;
	int64_t edges;
};

static int count_run(void *ctx, struct rvt_hart_flow *hart, const struct rvt_run *run,
		     uint64_t times)
{
	(void)hart;
	((struct sums *)ctx)->insns += times * run->count;
	return 0;
}

static int count_edge(void *ctx, struct rvt_hart_flow *hart, uint64_t from, uint64_t to,
		      enum rvt_insn_class iclass, int64_t times)
{
	(void)hart, (void)from, (void)to, (void)iclass;
	((struct sums *)ctx)->edges += times;
	return 0;
}

static void forget(void *ctx)
{
	*(struct sums *)ctx = (struct sums){ 0 };
	fputs("slices did not fit together: one thread\n", stderr);
}

static double seconds(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

/* Counts all of it once, and prints a line. */
static int run_once(struct rvt_session *session, const char *jobs, double opening)
{
	struct sums sums = { 0 };
	const struct rvt_session_sink sink = {
		.size = sizeof(sink),
		.ctx = &sums, .count_run = count_run, .count_edge = count_edge, .reset = forget,
	};
	double wall = seconds(CLOCK_MONOTONIC), cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
	struct rvt_session_totals stats;
	struct rusage usage;
	int err = rvt_session_run(session, &sink);

	wall = seconds(CLOCK_MONOTONIC) - wall;
	cpu = seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu;
	rvt_session_totals(session, &stats);
	getrusage(RUSAGE_SELF, &usage);
	printf("%s %.1f %" PRIu64 " %" PRId64 " %.2f %.2f %.2f %ld\n", jobs,
	       stats.session.trace_bytes / 1e6, sums.insns, sums.edges, opening, wall, cpu,
	       usage.ru_maxrss / 1024);
	return err;
}

static int run(char **args, int rounds)
{
	const struct rvt_session_options options = {
		.size = sizeof(options),
		.symfs = args[1], .count = true, .count_names = true,
		.jobs = atoi(args[0]),
	};
	double opening = seconds(CLOCK_MONOTONIC);
	struct rvt_session *session;
	char *error;
	int err = rvt_session_open(args[2], &options, &session, &error);

	if (err) {
		fprintf(stderr, "%s\n", error);
		return 1;
	}
	opening = seconds(CLOCK_MONOTONIC) - opening;
	for (int round = 0; round < rounds && !err; round++)
		err = run_once(session, args[0], round ? 0 : opening);
	rvt_session_close(session);
	return err ? 1 : 0;
}

int main(int argc, char **argv)
{
	const bool untimed = argc == 7 && !strcmp(argv[6], "untimed");

	if ((argc == 6 || untimed) && !strcmp(argv[1], "repeat"))
		return repeat(argv + 2);
	if (argc == 5 && !strcmp(argv[1], "cut"))
		return cut(argv + 2);
	if ((argc == 5 || argc == 6) && !strcmp(argv[1], "run"))
		return run(argv + 2, argc == 6 ? atoi(argv[5]) : 1);
	fprintf(stderr, "usage: rvt-scale repeat IN OUT TIMES MAPPINGS [untimed]\n"
		"       rvt-scale cut IN OUT BYTES\n"
		"       rvt-scale run JOBS SYMFS RECORDING [ROUNDS]\n");
	return 2;
}
