/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Inside userspace/lib/session/: what a session is, and what its files have for each other. */
#ifndef SESSION_STATE_H
#define SESSION_STATE_H

#include <pthread.h>
#include <rvtrace/clock.h>
#include <rvtrace/owner.h>
#include <rvtrace/session.h>
#include "sideband/missing.h"
#include "access.h"

struct slice;	/* slice.h */
struct span;	/* slice.h */
struct index_choice;	/* index-state.h */
struct dump;	/* source-dump.c */

#define RVT_MAX_SOURCES (1u << 23)	/* ids of frames and SRC fields together are shorter */

/* Where trace and code come from: source-perfdata.c, source-dump.c. */
struct session_source {
	/* A space in @image with the code that all threads share. 0 or -errno. */
	int (*kernel)(struct rvt_session *session, struct rvt_image *image,
		      struct rvt_space **kernel);
	/* @bytes of a chunk need not stay in memory. */
	void (*release)(struct rvt_session *session, const void *bytes, size_t len);
	/* What stands out in it: a sentence; NULL: nothing. May be NULL. */
	const char *(*warning)(const struct rvt_session *session);
	/* Also of what was opened in part only. */
	void (*close)(struct rvt_session *session);
};

struct encoder {
	int32_t cpu;		/* -1: any (parameters from a file) */
	uint32_t src;
	bool has_src;
	/* .params.atid: the id of its frames, where it is known */
	struct rvt_params params;
};

/* Whether messages name their encoder. */
static inline bool encoder_has_src(const struct encoder *encoder)
{
	return encoder->has_src && rvt_stream_source_bits(&encoder->params);
}

/* Whether messages or the frames around them do, as several may send to one sink. */
static inline bool encoder_is_named(const struct encoder *encoder)
{
	return encoder_has_src(encoder) || encoder->params.framing == RVT_FRAMING_CORESIGHT;
}

struct chunk {
	uint64_t offset, len;	/* in the AUX data of the buffer, up to the next chunk */
	uint64_t packed;	/* not 0: .bytes are so many, and compressed ... */
	uint64_t unpacked;	/* ... of so many, at least .len */
	const uint8_t *bytes;
};

/* A hart flow with what the caller need not see. */
struct hart_flow {
	struct rvt_hart_flow base;	/* first: handed out */
	struct rvt_session *session;
	struct buffer *buffer;
	const struct encoder *encoder;
	struct rvt_cursor *cursor;
	struct rvt_clock *clock;	/* NULL: flow is delivered at once */
	struct hart_flow *next;
	unsigned int atid;	/* of the frames that its trace comes in; 0: not known, or none */
	bool timed;		/* time stamps are expected */
	uint64_t held_stamp;	/* of the last message, which was held back; 0: it was not */
	uint64_t exec_record;	/* when a record ends that is taken for one from before an exec */
	bool no_code;		/* lost in code that cannot be read */
	bool start_held;	/* .start waits for what follows it */
	struct rvt_event start;
	uint64_t start_time;
	uint64_t start_insns;	/* executed before it, for hart flows that deliver no runs */
	bool start_left;	/* that was behind the slice */
	bool running;		/* flow was told, and neither STOP nor LOST since */
	bool trap_held;		/* .trap of a guest waits: its handler may be the host's */
	struct rvt_event trap;
	uint64_t trap_time;
	bool trap_left;
	struct rvt_flow_stats before;	/* the slice */
	bool owned;		/* the slice has told a context */
	bool told;		/* RVT_SLICE_DONE: nothing more is delivered */
	bool replaced;		/* behind the slice's end; so the cursor is past that */
	struct count_owner *owners;	/* of counts, by number */
	size_t n_owners, owners_room;
};

/* Whose trace the next late AUX record of an event has, and of which cpu; .tid -1: not said. */
struct named_thread {
	uint64_t event;
	int32_t tid, cpu;
};

/* Whom deferred counts belong to. */
struct count_owner {
	bool has_task;
	bool counted;			/* something is deferred */
	/* of the kernel only, by the name of .task: any space's, and of any thread so called */
	bool by_name;
	struct rvt_task task;		/* as it was then */
	struct rvt_space *space;
};

/* A protocol decoder; a per-thread buffer has one for each cpu that the thread ran on. */
struct decoder {
	const struct encoder *encoder;
	/* of the stream: frames have the trace of other encoders, too */
	struct rvt_params params;
	struct rvt_stream *stream;
	struct buffer *buffer;
	struct decoder *next;
};

/* Where code is while it is decoded. Each thread has its own. */
struct decode_context {
	struct rvt_image *image;
	struct rvt_space *kernel;
	struct rvt_space *guest;	/* of what runs with V=1; the host's code is not in it */
	/* a hart flow takes over memos of the one before: see rvt_flow_set_encoder() */
	bool shares_memos;
	uint64_t n_decodings;		/* begun with .shares_memos */
};

struct buffer {
	struct rvt_session *session;
	struct decode_context *decode;
	struct slice *slice;		/* NULL: the whole buffer */
	void *ctx;			/* of the sink's call-backs */
	bool own_ctx;			/* .ctx is its thread's own: call-backs need no lock */
	struct rvt_session_totals *stats;	/* where to count */
	unsigned int number;
	uint32_t idx;
	int32_t cpu, tid;
	uint64_t started;	/* nothing in it is older, ns; 0: not said */
	struct chunk *chunks;
	size_t n_chunks;
	struct rvt_aux *records;
	size_t n_records;
	bool skipped;		/* it is in another share of the recording */
	struct rvt_params expected;	/* of its slices: rvt_stream_expect() */
	bool expects;			/* .expected holds */
	/* aux-samples.c: the last sample's trace, where that ends; NULL: there is none */
	const uint8_t *sampled;
	size_t sampled_len;
	uint64_t sampled_end;
	uint32_t *overlaps;		/* room for common_bytes() */
	size_t overlaps_room;
	/* live.c */
	uint64_t received;	/* AUX data up to here has come */
	bool running;		/* a task that is traced into it, since .switched; false: none */
	uint64_t switched;
	struct decoder *decoders;
	struct hart_flow *harts;
	/* progress */
	size_t record;		/* being decoded */
	uint64_t done;		/* bytes of it */
	bool begun;
	bool pending;		/* bytes before .done have more messages */
	uint64_t time;		/* of the last thing decoded */
	/* before this message, or this step, the flow was the next slice's already */
	bool was_left;
	uint64_t told_moment;	/* of a slice: see struct rvt_session_slices.moment */
	uint64_t until;		/* for STEP_STAMP */
	struct decoder *pausing;	/* it pauses at a stamp; NULL: none does */
	struct rvt_clock_speed speed;	/* at which the clocks of its hart flows begin */
	/*
	 * Of a slice: at which flow ran at the end of those before it, which have ended then. NULL:
	 * nobody knows.
	 */
	struct rvt_clock_speed (*speed_before)(const struct buffer *buffer);
	struct thread_pool *pool;	/* for that */
	int error;		/* of a call-back that could not return it */
	uintptr_t used, used_end;	/* of the file, and still in memory */
	/* the last compressed chunk that was looked at */
	const struct chunk *unpacked_chunk;
	uint8_t *unpacked;
	size_t unpacked_room;
};

/* What finds a buffer, in both trees of a session. */
struct buffer_key {
	int32_t cpu, tid;
	uint32_t idx;
	unsigned int number;
};

struct rvt_session {
	struct rvt_session_options options;
	const struct session_source *source;
	struct rvt_perfdata *file;	/* NULL: it is no recording */
	struct dump *dump;		/* NULL: it is no dump */
	int64_t only_source;		/* -1: all */
	bool by_source;		/* each source of a stream is a hart */
	bool by_message;	/* one thread goes from message to message in any case */
	bool every_loss;	/* also those in code that cannot be read are told one by one */
	struct rvt_sideband *sideband;
	struct decode_context decode, *decode_contexts;	/* of this thread, of others */
	unsigned int n_decode_contexts;
	struct rvt_symbols *symbols;
	char *meta;
	struct encoder *encoders;
	size_t n_encoders;
	bool shared;		/* a buffer may have the trace of several of them */
	bool has_frames;	/* messages come in frames */
	uint32_t pmu_type;
	bool has_pmu_type;
	bool warned;		/* of trace of a cpu that has no encoder */
	bool is_ctr;		/* no encoders: samples of Control Transfer Records */
	bool foreign;		/* recorded by another tool */
	bool has_switches;	/* there are context switches in it */
	bool foreign_ids;	/* the trace has other thread ids than the sideband, or none */
	bool contexts;		/* the trace says whose it is, any thread's id */
	void *named;		/* tsearch() of struct named_thread by event */
	uint64_t hcontext_max;	/* hcontext has the thread id, or this: no room; 0: scontext has */
	char *ksymbols;		/* functions that the kernel told of, in the form of kallsyms */
	size_t ksymbols_len, ksymbols_room;
	bool bad_code;		/* the copy of code that is in no file cannot be unpacked */
	bool by_task;		/* only chosen tasks were traced */
	uint64_t started;	/* when the first event was, ns; 0: not said */
	void *starts;		/* tsearch() of struct rvt_start (started.c) */
	struct rvt_record_time_conv time_conv;
	bool has_time_conv;
	struct buffer *buffers;
	size_t n_buffers;
	void *buffer_tree;	/* tsearch() of struct buffer_key by all of it, and by */
	void *owner_tree;	/* cpu or thread: the first buffer of each */
	struct rvt_session_totals stats;
	const struct rvt_session_sink *sink;	/* NULL, or .own_sink */
	struct rvt_session_sink own_sink;
	const struct rvt_session_slices *slices;	/* NULL: flow is delivered by one thread */
	/* what slices are cut from; NULL: all buffers */
	const struct span *spans;
	size_t n_spans;
	struct index_choice *choice;	/* NULL: all is decoded */
	/* live.c: fed while it is recorded; chunks are malloc'd */
	bool live;
	uint64_t newest;	/* time of what was fed */
	uint64_t horizon;	/* sideband up to this time is complete when the round ends */
	uint64_t settled;	/* it was complete up to this one at the end of the last round */
	bool parallel;		/* several threads: .lock is held in call-backs of no slice */
	pthread_mutex_t lock;
	struct missing_list missing;	/* of hart flows that are gone */
};

/*
 * session.c: rvt_session_create() makes an empty session; *@error is NULL then. 0 or -ENOMEM.
 * rvt_session_give_up() closes one that cannot be opened and returns @err; a sentence with @path
 * takes the place of *@error if that is NULL.
 */
int rvt_session_create(const struct session_source *source,
		       const struct rvt_session_options *options, struct rvt_session **session,
		       char **error);
int rvt_session_create_sideband(struct rvt_session *session);
/*
 * context.c: .guest of a decode context that has its image: code of guests, as far as there is any.
 * 0, -ENOMEM, or what opening options.guest_vmlinux returned.
 */
int rvt_session_open_guest(struct rvt_session *session, struct decode_context *decode);
/*
 * context.c: another one, for who decodes beside the session's own thread; before anybody does. The
 * caller destroys .image, unless that is NULL, also after an error. 0, -ENOMEM, or as above.
 */
int rvt_session_open_context(struct rvt_session *session, struct decode_context *decode);
int rvt_session_give_up(struct rvt_session *session, int err, const char *path, char **error);
/* session.c: before and after decoding; @err is how that went, and returned if it is not 0. */
int rvt_session_prepare(struct rvt_session *session, const struct rvt_session_sink *sink);
int rvt_session_complete(struct rvt_session *session, int err);
/* session.c: forgets what was counted while decoding, to decode anew. */
void rvt_session_forget_stats(struct rvt_session *session);
/* session.c: all buffers by turns, in order of time. 0, 1, or an error. */
int rvt_session_run_merged(struct rvt_session *session);
/* cut.c: what slices of the buffer must know of its beginning. */
void rvt_session_prepare_slices(struct buffer *buffer);

/* ---- what an index chose (rvt_index_choose()) ---- */

/*
 * Cuts within what is chosen may not fit, where those that the index has do: it is not cut from now
 * on. Returns whether something is chosen.
 */
bool rvt_session_choose_whole(struct rvt_session *session);
/* All is decoded from now on. */
void rvt_session_forget_choice(struct rvt_session *session);
/* Adds the statistics of segments that were not decoded, which the index has. */
void rvt_session_add_skipped(struct rvt_session *session);

/* meta.c: encoders from the metadata text or a parameter file. 0 or -errno with *error. */
int rvt_session_read_meta(struct rvt_session *session, char **error);
int rvt_session_add_foreign(struct rvt_session *session, const struct rvt_perfdata_record *record,
			    char **error);
/* The encoder of any cpu, by options.params. */
int rvt_session_read_params(struct rvt_session *session, char **error);
int rvt_session_add_encoder(struct rvt_session *session, const struct encoder *encoder);
/* The frames of @cpu's encoder have the id @atid. */
void rvt_session_set_atid(struct rvt_session *session, int32_t cpu, unsigned int atid);
int rvt_session_check_encoders(const struct rvt_session *session, char **error);
const struct encoder *rvt_session_encoder(const struct rvt_session *session, int32_t cpu);

/* records.c */
int rvt_session_read_records(struct rvt_session *session, char **error);
/* Takes in what is no AUX data and no AUX record. 0 or -errno with *error. */
int rvt_session_read_sideband(struct rvt_session *session, const struct rvt_perfdata_record *record,
			      char **error);
/* A PERF_RECORD_AUX of this session's trace, counted. False: it is none. */
bool rvt_session_read_aux(struct rvt_session *session, const struct rvt_perfdata_record *record,
			  struct rvt_aux *aux);

/*
 * buffers.c
 *
 * rvt_session_buffer - NULL: there is none like this yet.
 * rvt_session_add_buffer - a new one. NULL: out of memory.
 * rvt_session_get_buffer - a new one where there is none. NULL: out of memory.
 * rvt_session_aux_buffer - the one that has the trace of @aux; NULL: none.
 * rvt_session_forget_buffers - frees what finds buffers.
 */
struct buffer *rvt_session_buffer(struct rvt_session *session,
				  const struct rvt_record_auxtrace *aux);
struct buffer *rvt_session_add_buffer(struct rvt_session *session,
				      const struct rvt_record_auxtrace *aux);
struct buffer *rvt_session_get_buffer(struct rvt_session *session,
				      const struct rvt_record_auxtrace *aux);
struct buffer *rvt_session_aux_buffer(struct rvt_session *session, const struct rvt_aux *aux);
int rvt_buffer_add_record(struct buffer *buffer, const struct rvt_aux *aux);
void rvt_session_forget_buffers(struct rvt_session *session);

/* aux-samples.c: the trace in a sample, .aux. 0 or -ENOMEM. */
int rvt_session_add_aux_sample(struct rvt_session *session,
			       const struct rvt_perfdata_record *record);

/*
 * started.c
 *
 * rvt_session_note_start - PERF_RECORD_ITRACE_START of an event that traces, or a switch of a task
 * that is traced. 0 or -ENOMEM.
 * rvt_session_started - when the trace of @cpu, or of thread @tid if that is negative, began, by
 * all that was noted: its first event, else the first such switch, else what began first of all.
 */
int rvt_session_note_start(struct rvt_session *session, const struct rvt_perfdata_record *record);
uint64_t rvt_session_started(const struct rvt_session *session, int32_t cpu, int32_t tid);
void rvt_session_forget_starts(struct rvt_session *session);

/*
 * hart.c: each that returns an int returns 0 or -errno, or what a call-back returned. NULL: out of
 * memory. @source: that messages name.
 */
struct hart_flow *rvt_hart_create(struct buffer *buffer, const struct encoder *encoder, int32_t cpu,
				  unsigned int source);
/* The flow of @hart goes; what it counted and did not tell is lost. */
void rvt_hart_end_flow(struct hart_flow *hart);
/* The buffer's current record, which is @aux, begins. */
int rvt_hart_begin_record(struct hart_flow *hart, const struct rvt_aux *aux);
/* Forgets what happened, so that time may go back; only between slices. 0 or -ENOMEM. */
int rvt_hart_go_back(struct hart_flow *hart);
/*
 * The record, the slice, or what ran before an exec, ends: it is noted if something of the record
 * in which the slice begins was taken for that. Whether it was the slice before knows.
 */
void rvt_hart_note_exec(const struct hart_flow *hart);
/* The buffer has got to .time: its slice, while that is at its own, notes the latest. */
void rvt_hart_note_moment(const struct buffer *buffer);
/* What happened up to @time has. */
int rvt_hart_seek(struct hart_flow *hart, uint64_t time);
int rvt_hart_deliver(struct hart_flow *hart, const struct rvt_event *event);
/* Nothing comes behind a START that is held back: it is delivered. */
int rvt_hart_end_holding(struct hart_flow *hart);
/* Damage of the stream, which is none of the flow. */
int rvt_hart_damage(struct hart_flow *hart, const struct rvt_event *event);
/* Whether the trace has told which thread runs. */
bool rvt_hart_is_told(const struct hart_flow *hart);
/* Instructions, until now. */
uint64_t rvt_hart_executed(const struct hart_flow *hart);
/* Whether a hart's flow has time stamps: E-Trace has them in packets, or in the frames around. */
bool rvt_encoder_tells_time(const struct encoder *encoder);

/* counts.c: results as those of hart.c. */
/* options.count: all that was counted since the last time. */
int rvt_hart_tell_counts(struct hart_flow *hart);
/*
 * The same, and runs are delivered; then the flow uses none of the image's blocks. Not with .clock.
 */
int rvt_hart_forget_blocks(struct hart_flow *hart);
/*
 * The edge that leads out of the slice, if any: told, or forgotten. The hart flow is still as it
 * was: later the task may have another name, and its code may be replaced.
 */
int rvt_hart_end_edge(struct hart_flow *hart, bool executed);
/* Before somebody else runs: defers counts as far as that pays, and tells the rest. */
int rvt_hart_leave_counts(struct hart_flow *hart);
/* Tells counts whose code, or whose owner, changes up to @time. */
int rvt_hart_tell_replaced(struct hart_flow *hart, uint64_t time);

/*
 * clock.c: flow waits until its time is known. Each returns 0 or -errno, or what a call-back
 * returned.
 *
 * rvt_hart_open_clock - makes .clock if it is wanted.
 * rvt_hart_begin_clock - a slice begins. Without .clock nothing.
 * rvt_hart_hold_runs, rvt_hart_hold_event - into .clock, which is there.
 * rvt_hart_stamp - all before was executed by @time. Without .clock nothing.
 * rvt_hart_flush_clock - before the cursor moves, or nothing more comes: all before was executed by
 * @limit (UINT64_MAX: not known). Without .clock nothing.
 */
int rvt_hart_open_clock(struct hart_flow *hart);
void rvt_hart_begin_clock(struct hart_flow *hart);
int rvt_hart_hold_runs(struct hart_flow *hart, const struct rvt_run *runs, size_t n);
int rvt_hart_hold_event(struct hart_flow *hart, const struct rvt_event *event);
int rvt_hart_stamp(struct hart_flow *hart, uint64_t time);
int rvt_hart_flush_clock(struct hart_flow *hart, uint64_t limit);

/* How far a buffer goes in one step. */
enum buffer_step {
	STEP_BYTES,	/* some MB of trace */
	STEP_STAMP,	/* or less: up to the message at whose time it has come to .until */
	STEP_MESSAGE,	/* one message */
};

/* buffer.c: 1: there is more to do, 0: done, or an error. */
int rvt_buffer_step(struct buffer *buffer, enum buffer_step step);
int rvt_buffer_finish(struct buffer *buffer);
/*
 * The hart flows of all encoders whose trace may come in the buffer; before its first bytes. 0 or
 * -errno.
 */
int rvt_buffer_open_harts(struct buffer *buffer);
/* Without any trace until @time. 0 or -errno. */
int rvt_buffer_idle(struct buffer *buffer, uint64_t time);
/* Forgets what was decoded, so that it can be decoded again. */
void rvt_buffer_rewind(struct buffer *buffer);
void rvt_buffer_destroy(struct buffer *buffer);
/* Adds what decoding counts. */
void rvt_session_add_stats(struct rvt_session_totals *sum, const struct rvt_session_totals *stats);
/* Gets ready for @slice, which has its .ctx; what hart flows have is kept. */
int rvt_buffer_begin_slice(struct buffer *buffer, struct slice *slice);
/* True when the slice has ended (.extended: when it must not). */
bool rvt_buffer_slice_done(struct buffer *buffer);
/* Whether the next slice decodes what comes, too. */
bool rvt_buffer_slice_left(const struct buffer *buffer);
/*
 * How far the next step goes: to the next message where buffers take turns, or where all was fed
 * and the rest is for the last line.
 */
enum buffer_step rvt_buffer_slice_step(const struct buffer *buffer);
/* Tells how far the buffer has got in time, if that is more than the last time. */
void rvt_buffer_tell_moment(struct buffer *buffer);
/* What the slice shows so far of how the flow from the one before goes on. */
enum slice_begin rvt_buffer_slice_begin(const struct buffer *buffer);
/*
 * Ends the slice; its decoders go. @err: how it went, and returned if it is not 0. With
 * slice.n_edges rvt_buffer_end_edges() follows, or the next slice does: then it takes the edge with
 * it.
 */
int rvt_buffer_end_slice(struct buffer *buffer, int err);
int rvt_buffer_end_edges(struct buffer *buffer, bool executed);
/* The chunk that holds @offset; chunks are sorted. NULL: none does. */
const struct chunk *rvt_buffer_chunk(const struct buffer *buffer, uint64_t offset);
/* The number of the first chunk that ends behind @offset; .n_chunks: none does. */
size_t rvt_buffer_next_chunk(const struct buffer *buffer, uint64_t offset);
/* Its bytes, until another chunk is asked for; NULL: damaged, or no memory. */
const uint8_t *rvt_buffer_bytes(struct buffer *buffer, const struct chunk *chunk);

/*
 * parallel.c: all buffers, or .spans, in slices on session->options.jobs threads. -EAGAIN: the
 * slices do not fit together, what was told is void.
 */
int rvt_session_run_parallel(struct rvt_session *session);

/* While several threads call back. */
static inline void session_lock(struct rvt_session *session)
{
	if (session->parallel)
		pthread_mutex_lock(&session->lock);
}

static inline void session_unlock(struct rvt_session *session)
{
	if (session->parallel)
		pthread_mutex_unlock(&session->lock);
}

/* The same, but for a thread that calls back in a context of its own. */
static inline void buffer_lock(struct buffer *buffer)
{
	if (!buffer->own_ctx)
		session_lock(buffer->session);
}

static inline void buffer_unlock(struct buffer *buffer)
{
	if (!buffer->own_ctx)
		session_unlock(buffer->session);
}

static inline bool session_wants_event(const struct rvt_session *session,
				       const struct rvt_event *event)
{
	const struct rvt_session_sink *sink = session->sink;

	return sink->event && (!sink->events || sink->events >> event->type & 1);
}

/* NULL: call-backs are not told by slices. */
static inline const struct rvt_session_slices *session_slices(const struct rvt_session *session)
{
	return session->sink && !session->options.count ? session->slices : NULL;
}

__attribute__((format(printf, 3, 4)))
int rvt_session_fail(char **error, int err, const char *format, ...);

#endif
