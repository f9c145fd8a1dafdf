/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A recording from file to flow: finds the AUX buffers of a perf.data, feeds them to a decoder
 * each, and says for every run of instructions on which cpu, in which thread and when it was.
 *
 * Threads: one at a time calls for a session; sessions know nothing of each other. Call-backs come
 * in the thread that called. With options.jobs they come in others, but one at a time, and may not
 * call for the session but for rvt_session_symbols() and what asks for statistics.
 */
#ifndef RVTRACE_SESSION_H
#define RVTRACE_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <rvtrace/dump.h>
#include <rvtrace/flow.h>
#include <rvtrace/linkage.h>
#include <rvtrace/span.h>
#include <rvtrace/stream.h>
#include <rvtrace/symbol.h>
#include <rvtrace/task.h>

RVT_BEGIN_DECLS

struct rvt_session;

/* All but .size may be 0. */
struct rvt_session_options {
	size_t size;		/* sizeof(struct rvt_session_options): the struct may grow */
	/*
	 * Where code is; what is in no file comes from the recording. Strings are not copied: they
	 * stay until the session is closed. .symfs: where to look for the files that mappings name,
	 * directories separated by ':'; in each the build id is tried, where it is a store of `perf
	 * buildid-cache` (.build-id/), then in each the whole path, then the bare file name.
	 * .vmlinux: kernel code from this ELF file, .kcore: or from a copy of /proc/kcore.
	 * .firmware: ELF file of what runs in machine mode, at its own addresses.
	 */
	const char *symfs, *vmlinux, *kcore, *firmware;
	const char *kallsyms;	/* file; NULL: the recording's copy */
	const char *params;	/* parameter file for a recording that has none; NULL: none */
	bool reference_walk;	/* see rvtrace/flow.h */
	/*
	 * One buffer after another instead of interleaved by time. Buffers of a trace without time
	 * stamps are interleaved by the times of their AUX records, with .jobs taken as 1.
	 */
	bool by_cpu;
	/*
	 * Count runs (rvt_flow_count()) instead of delivering them, with few TIME events. Implies
	 * .by_cpu. One sum for each space and name of a thread.
	 */
	bool count;
	bool count_threads;	/* .count: one sum for each thread */
	/*
	 * .count, without .count_threads: one sum of what runs in the upper half of addresses, the
	 * kernel, for each name only. hart.task is any thread of that name then, hart.space the
	 * kernel's. There are far fewer sums where many processes come and go.
	 */
	bool count_names;
	bool every_time;	/* .count: but every TIME event */
	/*
	 * Deliver flow with the time at which it was executed, see .span below. The session keeps
	 * the runs of up to a million instructions for each hart until the next time stamp, a few
	 * MiB. Without time stamps in the trace it shares the time between two AUX records among
	 * the bytes, and takes .jobs as 1. Not with .count, nor live.
	 */
	bool clock;
	/*
	 * Threads that decode, each another slice of the recording. With .count their call-backs
	 * come one at a time, but in no order, and what is counted is the same for any number.
	 * Needs sink.reset. Without .count, rvt_session_run() takes one thread.
	 */
	unsigned int jobs;
	uint64_t slice_bytes;	/* .jobs: size of what is decoded in one go; 0: chosen */
	/*
	 * Live: the session forgets what it knows of code when that takes so many bytes. So memory
	 * does not grow with the programs that start. 0: 64 MiB.
	 */
	uint64_t code_bytes;
	bool accesses;		/* deliver ACCESS events of data trace, too (rvtrace/access.h) */
	/*
	 * Code of guests (V=1): this ELF file, at its own addresses. It is never looked for in the
	 * host's code: NULL: flow of guests is lost (RVT_REASON_NO_CODE). .guest_kallsyms: a copy
	 * of /proc/kallsyms of a guest, for a .guest_vmlinux without symbols.
	 */
	const char *guest_vmlinux, *guest_kallsyms;
};

/* One hart's flow in one buffer. Members hold for what the session is delivering. */
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
	struct rvt_clock_span span;	/* (rvtrace/span.h) */
	/*
	 * When the AUX record was written, by the same clock: nothing in it is later. 0: not known
	 */
	uint64_t written;
	struct rvt_flow *flow;
	struct rvt_space *space;	/* what addresses mean now; may be NULL */
	void *user;		/* free for the caller; NULL at first */
	/* of a dump: the SRC field of its messages, in frames see rvt_stream_source(); else 0 */
	unsigned int source;
	/*
	 * For the commands of this project (session/slices.h, followed.h). .number: of the cpu in
	 * its buffer, the same in each slice. .moved: what happened up to then is in .space, ns.
	 */
	bool resumed, left;
	uint64_t number, moved;
};

/* When instruction number @n of the runs that are delivered began, ns. */
static inline uint64_t rvt_hart_time(const struct rvt_hart_flow *hart, uint64_t n)
{
	return hart->span.insns ? rvt_clock_span_time(&hart->span, n) : hart->time;
}

/* Whether it is a guest's, as far as the trace tells. */
static inline bool rvt_hart_in_guest(const struct rvt_hart_flow *hart)
{
	return hart->context.prv_valid && hart->context.v;
}

/*
 * Whether @run ends in a direct jump to itself, or to straight code before it: a loop without any
 * branch. E-Trace encodes no direct jumps, so that such a loop counts once each time it is entered,
 * however long it runs. N-Trace counts its instructions: false.
 */
bool rvt_hart_loop_uncounted(const struct rvt_hart_flow *hart, const struct rvt_run *run);

/*
 * A PERF_RECORD_AUX: trace that a driver handed over at once. .time, .cpu, .pid and .tid are when
 * it did so, and who ran there then. Where the trace itself says whose it is, it may be that of a
 * thread which ran before.
 */
struct rvt_aux {
	uint64_t offset, size;	/* in the AUX data of its buffer */
	uint64_t flags;		/* PERF_AUX_FLAG_* */
	uint64_t time;
	int32_t cpu, pid, tid;
};

/*
 * Call-backs; every member but .size may be NULL; a negative return value ends rvt_session_run(),
 * which returns it. Order within a hart flow is program order. Flow through code that cannot be
 * read is one LOST event, however long it takes.
 */
struct rvt_session_sink {
	size_t size;		/* sizeof(struct rvt_session_sink): the struct may grow */
	void *ctx;
	/* Before its bytes are decoded; @buffer counts the buffers of the recording. */
	int (*aux)(void *ctx, unsigned int buffer, const struct rvt_aux *aux);
	int (*runs)(void *ctx, struct rvt_hart_flow *hart, const struct rvt_run *runs, size_t n);
	int (*event)(void *ctx, struct rvt_hart_flow *hart, const struct rvt_event *event);
	/*
	 * Damage of a buffer's bytes that belongs to no hart (a LOST event). NULL: .event gets it,
	 * once for each hart that had flow.
	 */
	int (*damage)(void *ctx, unsigned int buffer, const struct rvt_event *event);
	/*
	 * With options.count, instead of .runs and in no order: as struct rvt_count_sink has it.
	 * The session calls these before the task changes or its code is replaced, and at the end.
	 * @hart is as it was when the runs were executed.
	 */
	int (*count_run)(void *ctx, struct rvt_hart_flow *hart, const struct rvt_run *run,
			 uint64_t times);
	int (*count_edge)(void *ctx, struct rvt_hart_flow *hart, uint64_t from, uint64_t to,
			  enum rvt_insn_class iclass, int64_t times);
	/* With options.count and .jobs: all counts so far are void; the session counts again. */
	void (*reset)(void *ctx);
	/* Now and then while decoding. An error ends the run. */
	int (*poll)(void *poll_ctx);
	void *poll_ctx;
	/* What stands out in the file itself: a sentence. */
	void (*warning)(void *ctx, const char *text);
	/* The hart flow is about to go away. */
	void (*end)(void *ctx, struct rvt_hart_flow *hart);
	/*
	 * Bits (1 << enum rvt_event_type): .event gets only these. 0: all. Threads take no lock for
	 * the others.
	 */
	uint32_t events;
};

struct rvt_session_stats {
	size_t size;		/* sizeof(struct rvt_session_stats): the struct may grow */
	uint64_t trace_bytes;
	uint64_t truncated, partial, collisions;	/* flagged AUX records */
	uint64_t lost_records;	/* sideband records that the kernel dropped */
	uint64_t missing_bytes;	/* that AUX records name and the file has not */
};

/*
 * rvt_session_open - open a recording and read its sideband. @options may be NULL: all are 0.
 * *error (malloc'd, or NULL when out of memory) is a sentence; @error must not be NULL. -EINVAL:
 * @options do not say their size. Returns 0; what rvt_perfdata_open() returns; -ENODATA: it holds
 * no trace; -ENOTSUP: it does not say how its encoders are to be decoded, or says something this
 * version does not know; -ENOMEM.
 */
int rvt_session_open(const char *path, const struct rvt_session_options *options,
		     struct rvt_session **session, char **error);
/* Code of a bare dump's program. */
struct rvt_dump_image {
	size_t size;		/* sizeof(struct rvt_dump_image): the struct may grow */
	const char *path;
	/* raw: of its first byte; else what is added to those of the ELF file */
	uint64_t address;
	bool raw;		/* a memory image, no ELF file */
};

/* A bare dump: the memory of a sink, the capture of a probe. */
struct rvt_session_dump {
	size_t size;		/* sizeof(struct rvt_session_dump): the struct may grow */
	const char *path;
	const struct rvt_params *params;	/* NULL: options.params has them */
	const struct rvt_dump_image *images;	/* each of the same .size */
	size_t n_images;
	uint64_t oldest;	/* where its oldest byte is: not 0 when a ring wrapped */
	bool only_source;	/* deliver nothing but the flow of .source */
	unsigned int source;
};

/*
 * rvt_session_open_dump - as rvt_session_open() for a dump: the same options and call-backs. All of
 * it is one buffer; each source is a hart (rvt_hart_flow.source). Nothing says whose the flow is or
 * when it was: .task is NULL, .time is 0. Offsets in events count from the oldest byte. Each loss
 * is an event, also in code that cannot be read. @dump, its parameters and images are copied.
 * Returns 0 or -errno with a sentence in *error: -EINVAL for parameters that fit no decoder, a
 * struct that does not say its size, or a dump that is no regular file.
 */
int rvt_session_open_dump(const struct rvt_session_dump *dump,
			  const struct rvt_session_options *options, struct rvt_session **session,
			  char **error);
/*
 * rvt_session_count_sources - how many sources a dump has messages of. Reads all of it, decodes no
 * flow. Returns 0, -EINVAL (it is no dump) or -ENOMEM.
 */
int rvt_session_count_sources(const struct rvt_session *session, unsigned int *n);
/* @session may be NULL. */
void rvt_session_close(struct rvt_session *session);
/*
 * Decodes everything; code that was read stays for the next time. @sink, which is copied, may be
 * NULL: statistics only. Returns 0, what a call-back returned, or -errno; -EINVAL: @sink does not
 * say its size.
 */
int rvt_session_run(struct rvt_session *session, const struct rvt_session_sink *sink);
/*
 * rvt_session_dump - every buffer's messages to @out (rvtrace/dump.h; @flags: RVT_DUMP_*). A line
 * that names the buffer precedes them; JSON: "buffer", "cpu", "tid". Offsets are those of the AUX
 * data. Trace of an encoder that is not known counts as skipped. The caller sets @stats->size.
 * Returns 0 or -errno; -EINVAL: @stats does not say its size.
 */
int rvt_session_dump(struct rvt_session *session, unsigned int flags, FILE *out,
		     struct rvt_dump_stats *stats);

/* The recording holds Control Transfer Records: rvt_session_run() has nothing to decode in it. */
bool rvt_session_is_ctr(const struct rvt_session *session);
/* Bytes of trace in the recording: what stats.trace_bytes and .missing_bytes will come to. */
uint64_t rvt_session_size(const struct rvt_session *session);
/*
 * rvt_session_span - when its trace was made, by perf's clock (ns): not before *@from, when the
 * first event was started (0: no record says so), and not after *@to, when its last AUX record was
 * written (UINT64_MAX: they have no times). A time stamp that says otherwise is damaged.
 */
void rvt_session_span(const struct rvt_session *session, uint64_t *from, uint64_t *to);
/*
 * rvt_session_stats - what the recording has and misses.
 * rvt_session_stream_stats, rvt_session_flow_stats - sums over all hart flows.
 * The caller sets @stats->size; no more is written. Each returns 0, or -EINVAL: @stats does not say
 * its size.
 */
int rvt_session_stats(const struct rvt_session *session, struct rvt_session_stats *stats);
int rvt_session_stream_stats(const struct rvt_session *session, struct rvt_stream_stats *stats);
int rvt_session_flow_stats(const struct rvt_session *session, struct rvt_flow_stats *stats);

struct rvt_symbols *rvt_session_symbols(const struct rvt_session *session);
/* The value of @key in the part of the metadata before the encoders (malloc'd); NULL: none. */
char *rvt_session_meta(const struct rvt_session *session, const char *key);
/* A file by the name that it had on the recorded machine (without --symfs). */
const char *rvt_session_dso_name(const struct rvt_session *session, const char *path);
/* A file that some mapping names and that could not be used: the @n-th, or NULL. */
const struct rvt_missing *rvt_session_missing(const struct rvt_session *session, size_t n);
/* True if the session has the kernel's code. */
bool rvt_session_has_kernel(const struct rvt_session *session);

RVT_END_DECLS

#endif
