/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A recording from file to flow: finds the AUX buffers of a perf.data, feeds them to a decoder
 * each, and says for every run of instructions on which cpu, in which thread and when it was.
 */
#ifndef RVTRACE_SESSION_H
#define RVTRACE_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <rvtrace/clock.h>
#include <rvtrace/dump.h>
#include <rvtrace/flow.h>
#include <rvtrace/linkage.h>
#include <rvtrace/sideband.h>
#include <rvtrace/perfdata.h>
#include <rvtrace/stream.h>
#include <rvtrace/symbol.h>

RVT_BEGIN_DECLS

struct rvt_session;

struct rvt_session_options {
	struct rvt_sideband_options sideband;
	const char *kallsyms;	/* file; NULL: the recording's copy */
	const char *params;	/* parameter file for a recording that has none; NULL: none */
	bool reference_walk;	/* see rvtrace/flow.h */
	bool by_cpu;		/* one buffer after another instead of interleaved by time */
	/* Runs are counted (rvt_flow_count()), not delivered; few TIME events; implies .by_cpu. */
	bool count;
	bool count_threads;	/* .count: apart for each thread, not only space and name */
	/*
	 * .count, without .count_threads: what runs in the upper half of addresses, the kernel,
	 * apart for each name only; hart.task is any thread so called then, hart.space the
	 * kernel's. Where many processes come and go that is much less to count.
	 */
	bool count_names;
	bool every_time;	/* .count: but every TIME event */
	/*
	 * Flow is delivered with the time at which it was executed, when a time stamp tells that.
	 * Some megabytes of it wait for that. Where a trace has no time stamps, time is that of the
	 * bytes between two AUX records, and .jobs is taken as 1. Not with .count, nor live.
	 */
	bool clock;
	/*
	 * Threads that decode, each another slice of the recording. With .count their call-backs
	 * come one at a time, but in no order, and what is counted is the same for any number.
	 * Needs sink.reset; without .count, sink.slices.
	 */
	unsigned int jobs;
	uint64_t slice_bytes;	/* .jobs: size of what is decoded in one go; 0: chosen */
};

/* One hart's flow in one buffer. What it says holds for what is being delivered. */
struct rvt_hart_flow {
	int32_t cpu;
	const struct rvt_task *task;	/* NULL: not known */
	struct rvt_context context;
	/*
	 * perf's clock, ns: of the last time stamp or the AUX record; with options.clock, when what
	 * is delivered begins, and .span has the time of each of its instructions.
	 */
	uint64_t time;
	bool time_exact;	/* .time comes from a time stamp in the trace */
	struct rvt_clock_span span;	/* (rvtrace/clock.h) */
	/* When the AUX record was written, by the same clock: nothing in it is later. 0: not known */
	uint64_t written;
	struct rvt_flow *flow;
	struct rvt_space *space;	/* what addresses mean now; may be NULL */
	void *user;		/* free for the caller; NULL at first */
	/* see struct rvt_session_slices */
	bool resumed, left;
};

/* When instruction number @n of the runs that are delivered began, ns. */
static inline uint64_t rvt_hart_time(const struct rvt_hart_flow *hart, uint64_t n)
{
	return hart->span.insns ? rvt_clock_span_time(&hart->span, n) : hart->time;
}

/*
 * A PERF_RECORD_AUX: trace that a driver handed over in one piece. When it did, and who ran there:
 * where the trace says itself whose it is, it may be another's that ran before.
 */
struct rvt_aux {
	uint64_t offset, size;	/* in the AUX data of its buffer */
	uint64_t flags;		/* PERF_AUX_FLAG_* */
	uint64_t time;
	int32_t cpu, pid, tid;
};

/* What no errno is. */
#define RVT_SLICE_DONE (-4096)

/*
 * Slices of a recording, several at a time (options.jobs): .aux is not called, and .runs, .event
 * and .end of the sink get what .begin returned as their context, each slice in one thread. The
 * sink's .end comes for each hart flow at the end of each slice. What the slices of a buffer
 * deliver, in their order, is what one thread delivers of it; except that TIME and CONTEXT events
 * may come twice. Members but .reset and one of .open and .begin may be NULL; but for .moment there
 * is one call at a time, in any thread. Functions return 0 or an error, which ends the run.
 */
struct rvt_session_slices {
	void *ctx;
	/*
	 * Cuts lie amid straight lines of code. If so, the flow behind a slice's end is delivered,
	 * too (rvt_hart_flow.left), until a call-back returns RVT_SLICE_DONE. The next slice, which
	 * begins with the same (rvt_hart_flow.resumed), is to leave out what was told so.
	 */
	bool overlap;
	/* First: how many slices each of the buffers has. */
	int (*plan)(void *ctx, const size_t *n_slices, unsigned int n_buffers);
	/*
	 * Once for each thread: what it needs for one slice after another, which stays the
	 * caller's. NULL: out of memory. Without .begin it is the context of the call-backs.
	 */
	void *(*open)(void *ctx);
	/* @thread: by .open. Slices of one buffer begin in order. NULL: out of memory. */
	void *(*begin)(void *ctx, void *thread, unsigned int buffer);
	/*
	 * Where buffers take turns (not .by_cpu): the buffer has got to @time. One that has come
	 * less far comes first, then the one with the lower number; and it goes on, through the
	 * ends of its slices, until it is ahead of another. UINT64_MAX: what follows comes when all
	 * have ended, by number. @left: the next slice will say so, too; so it counts only if
	 * anything of this slice follows.
	 */
	void (*moment)(void *slice, uint64_t time, bool left);
	/* Nothing more comes of the slice. */
	int (*end)(void *ctx, void *slice);
	/*
	 * The slices of @buffer so far fit together, and this is the next of them. Before that, it
	 * may prove void.
	 */
	int (*join)(void *ctx, void *slice, unsigned int buffer);
	/*
	 * How many of the slices that were joined are kept until the next slice of *@buffer is,
	 * too. Of slices that take room, these and those that are not joined, there are only some
	 * for each job: *@buffer is decoded first then.
	 */
	size_t (*waiting)(void *ctx, unsigned int *buffer);
	/*
	 * Slices do not fit together: all will be told again, by one thread and with the sink's own
	 * context. What was joined will be the same then.
	 */
	void (*reset)(void *ctx);
};

/*
 * Call-backs; every member may be NULL; a negative return value ends rvt_session_run(), which
 * returns it. Order within a hart flow is program order. Flow through code that cannot be read is
 * one LOST event, however long it takes.
 */
struct rvt_session_sink {
	void *ctx;
	/* Before its bytes are decoded; @buffer counts the buffers of the recording. */
	int (*aux)(void *ctx, unsigned int buffer, const struct rvt_aux *aux);
	int (*runs)(void *ctx, struct rvt_hart_flow *hart, const struct rvt_run *runs, size_t n);
	int (*event)(void *ctx, struct rvt_hart_flow *hart, const struct rvt_event *event);
	/*
	 * With options.count, instead of .runs and in no order: as struct rvt_count_sink has it.
	 * Told before the task is another one or its code is replaced, and at the end: @hart is as
	 * it was.
	 */
	int (*count_run)(void *ctx, struct rvt_hart_flow *hart, const struct rvt_run *run,
			 uint64_t times);
	int (*count_edge)(void *ctx, struct rvt_hart_flow *hart, uint64_t from, uint64_t to,
			  enum rvt_insn_class iclass, int64_t times);
	/* With options.count and .jobs: what was told so far is void, and will be told again. */
	void (*reset)(void *ctx);
	const struct rvt_session_slices *slices;
	/* Now and then while decoding. An error ends the run. */
	int (*poll)(void *poll_ctx);
	void *poll_ctx;
	/* What stands out in the file itself: a sentence. */
	void (*warning)(void *ctx, const char *text);
	/* The hart flow is about to go away. */
	void (*end)(void *ctx, struct rvt_hart_flow *hart);
};

struct rvt_session_stats {
	struct rvt_stream_stats stream;	/* sums over all hart flows */
	struct rvt_flow_stats flow;
	uint64_t trace_bytes;
	uint64_t truncated, partial, collisions;	/* flagged AUX records */
	uint64_t lost_records;	/* sideband records that the kernel dropped */
	uint64_t missing_bytes;	/* that AUX records name and the file has not */
};

/*
 * rvt_session_open - open a recording and read its sideband. *error (malloc'd) is a sentence.
 * Returns 0; what rvt_perfdata_open() returns; -ENODATA: it holds no trace; -ENOTSUP: it does not
 * say how its encoders are to be decoded, or says something this version does not know; -ENOMEM.
 */
int rvt_session_open(const char *path, const struct rvt_session_options *options,
		     struct rvt_session **session, char **error);
void rvt_session_close(struct rvt_session *session);
/*
 * Decodes everything; code that was read stays for the next time. Returns 0, what a call-back
 * returned, or -errno.
 */
int rvt_session_run(struct rvt_session *session, const struct rvt_session_sink *sink);
/*
 * A recording that is still being made. The file has all of it but AUX data and what happens from
 * now on (an empty PERF_RECORD_AUXTRACE for each AUX buffer), and the kernel's code is that of now.
 * options.by_cpu and .jobs mean nothing: hart flows are independent of each other, as with .by_cpu.
 * Code that JIT compilers make is not known.
 *
 * rvt_session_begin - @sink is called by what follows, until the end. 0 or -errno.
 * rvt_session_feed - more of the data section, whole records: sideband as the kernel writes it,
 * AUXTRACE records with their bytes (of each buffer in order), and after each time that all rings
 * were looked at PERF_RECORD_FINISHED_ROUND. Trace is decoded when sideband is complete up to its
 * AUX record's time, at the end of a later round. What was decoded is not kept, nor sideband that
 * no hart flow needs any more: memory grows with the code that runs, not with the trace. Returns 0,
 * what a call-back returned, -EBADMSG (these are no records), -ENOMEM.
 * rvt_session_end - the rest. As rvt_session_run() returns; statistics are final then.
 */
int rvt_session_begin(struct rvt_session *session, const struct rvt_session_sink *sink);
int rvt_session_feed(struct rvt_session *session, const void *bytes, size_t len);
int rvt_session_end(struct rvt_session *session);
/*
 * rvt_session_dump - every buffer's messages to @out (rvtrace/dump.h; @flags: RVT_DUMP_*). A line
 * that names the buffer precedes them; JSON: "buffer", "cpu", "tid". Offsets are those of the AUX
 * data. Trace
 * of an encoder that is not known counts as skipped. Returns 0 or -errno.
 */
int rvt_session_dump(struct rvt_session *session, unsigned int flags, FILE *out,
		     struct rvt_dump_stats *stats);

/* ---- Control Transfer Records (rvtrace/ctr.h) instead of a trace ---- */

struct rvt_ctr_sample;

struct rvt_session_ctr_sink {
	void *ctx;
	/* @task was running; its .space is what addresses meant. Negative: ends the run. */
	int (*sample)(void *ctx, const struct rvt_ctr_sample *sample, const struct rvt_task *task);
	/* What is damaged: a sentence. May be NULL. */
	void (*warning)(void *ctx, const char *text);
};

/* The recording holds samples of riscv_ctr: rvt_session_run() has nothing to decode in it. */
bool rvt_session_is_ctr(const struct rvt_session *session);
/* Every sample, in the order of time. Returns 0, what a call-back returned, or -ENOMEM. */
int rvt_session_run_ctr(struct rvt_session *session, const struct rvt_session_ctr_sink *sink);

/* Bytes of trace in the recording: what stats.trace_bytes and .missing_bytes will come to. */
uint64_t rvt_session_size(const struct rvt_session *session);
/*
 * rvt_session_span - when its trace was made, by perf's clock (ns): not before *@from, when the
 * first event was started (0: no record says so), and not after *@to, when its last AUX record was
 * written (UINT64_MAX: they have no times). A time stamp that says otherwise is damaged.
 */
void rvt_session_span(const struct rvt_session *session, uint64_t *from, uint64_t *to);
void rvt_session_stats(const struct rvt_session *session, struct rvt_session_stats *stats);

struct rvt_perfdata *rvt_session_file(const struct rvt_session *session);
struct rvt_symbols *rvt_session_symbols(const struct rvt_session *session);
/* Conversion of time stamps; NULL when the recording has none. */
const struct rvt_record_time_conv *rvt_session_time_conv(const struct rvt_session *session);
/* The value of @key in the part of the metadata before the encoders (malloc'd); NULL: none. */
char *rvt_session_meta(const struct rvt_session *session, const char *key);
/* A file by the name that it had on the recorded machine (without --symfs). */
const char *rvt_session_dso_name(const struct rvt_session *session, const char *path);
/* A file that some mapping names and that could not be used: the @n-th, or NULL. */
const struct rvt_missing *rvt_session_missing(const struct rvt_session *session, size_t n);
/* True when the kernel's code is at hand. */
bool rvt_session_has_kernel(const struct rvt_session *session);

RVT_END_DECLS

#endif
