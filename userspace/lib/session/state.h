/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Inside userspace/lib/session/: what a session is, and what its files have for each other. */
#ifndef SESSION_STATE_H
#define SESSION_STATE_H

#include <pthread.h>
#include <rvtrace/session.h>

struct part;	/* parts.h */

struct encoder {
	int32_t cpu;		/* -1: any (parameters from a file) */
	uint32_t src;
	bool has_src;
	struct rvt_params params;
};

struct chunk {
	uint64_t offset, len;	/* in the AUX data of the buffer */
	uint64_t packed;	/* not 0: .bytes are so many, and compressed */
	const uint8_t *bytes;
};

/* A lane with what the caller need not see. */
struct lane {
	struct rvt_lane lane;	/* first: handed out */
	struct rvt_session *session;
	struct buffer *buffer;
	const struct encoder *encoder;
	struct rvt_cursor *cursor;
	struct lane *next;
	bool timed;		/* time stamps are expected */
	bool no_code;		/* lost in code that cannot be read */
	bool start_held;	/* .start waits for what follows it */
	struct rvt_event start;
	uint64_t start_time;
	uint64_t start_insns;	/* executed before it, for lanes that deliver no runs */
	bool start_left;	/* that was behind the part */
	uint64_t part_insns;	/* executed before the part */
	bool owned;		/* the part has told a context */
	bool told;		/* RVT_PART_TOLD: nothing more is delivered */
	struct lane_owner *owners;	/* of counts, by number */
	size_t n_owners, owners_room;
};

/* Whose trace the next late AUX record of an event has, and of which cpu; .tid -1: not said. */
struct named_thread {
	uint64_t event;
	int32_t tid, cpu;
};

/* Whom counts that are set aside belong to. */
struct lane_owner {
	bool has_task;
	bool counted;			/* something is set aside */
	/* of the kernel only, by the name of .task: any space's, and of any thread so called */
	bool by_name;
	struct rvt_task task;		/* as it was then */
	struct rvt_space *space;
};

/* A protocol decoder; a per-thread buffer has one for each cpu that the thread ran on. */
struct decoder {
	const struct encoder *encoder;
	struct rvt_stream *stream;
	struct buffer *buffer;
	struct decoder *next;
};

/* Where code is while it is decoded. Each thread has its own. */
struct world {
	struct rvt_image *image;
	struct rvt_space *kernel;
	bool teaches;			/* flows of lanes that are gone do, the next */
	struct rvt_flow *teacher;	/* NULL: none yet */
	const struct encoder *taught_of;
};

struct buffer {
	struct rvt_session *session;
	struct world *world;
	struct part *part;		/* NULL: the whole buffer */
	void *ctx;			/* of the sink's call-backs */
	struct rvt_session_stats *stats;	/* where to count */
	unsigned int number;
	uint32_t idx;
	int32_t cpu, tid;
	struct chunk *chunks;
	size_t n_chunks;
	struct rvt_aux *records;
	size_t n_records;
	/* live.c */
	uint64_t received;	/* AUX data up to here has come */
	bool running;		/* a task that is traced into it, since .switched; false: none */
	uint64_t switched;
	struct decoder *decoders;
	struct lane *lanes;
	/* progress */
	size_t record;		/* being decoded */
	uint64_t done;		/* bytes of it */
	bool begun;
	uint64_t time;		/* of the last thing decoded */
	uintptr_t used, used_end;	/* of the file, and still in memory */
	/* the last compressed chunk that was looked at */
	const struct chunk *unpacked_chunk;
	uint8_t *unpacked;
	size_t unpacked_room;
};

struct rvt_session {
	struct rvt_session_options options;
	struct rvt_perfdata *file;
	struct rvt_owner *owner;
	struct world world, *worlds;	/* of this thread, of others */
	unsigned int n_worlds;
	struct rvt_symbols *symbols;
	char *meta;
	struct encoder *encoders;
	size_t n_encoders;
	uint32_t pmu_type;
	bool has_pmu_type;
	bool is_ctr;		/* no encoders: samples of Control Transfer Records */
	bool foreign;		/* recorded by another tool */
	bool has_switches;	/* there are context switches in it */
	bool foreign_ids;	/* the trace has other thread ids than the sideband, or none */
	bool contexts;		/* the trace says whose it is, any thread's id */
	struct named_thread *named;
	size_t n_named, named_room;
	uint64_t hcontext_max;	/* hcontext has the thread id, or this: no room; 0: scontext has */
	char *ksymbols;		/* functions that the kernel told of, in the form of kallsyms */
	size_t ksymbols_len, ksymbols_room;
	bool bad_code;		/* the copy of code that is in no file cannot be unpacked */
	bool by_task;		/* only chosen tasks were traced */
	uint64_t started;	/* when the first event was, ns; 0: not said */
	struct rvt_record_time_conv time_conv;
	bool has_time_conv;
	struct buffer *buffers;
	size_t n_buffers;
	struct rvt_session_stats stats;
	const struct rvt_session_sink *sink;
	/* live.c: fed while it is recorded; chunks are malloc'd */
	bool live;
	uint64_t newest;	/* time of what was fed */
	uint64_t horizon;	/* sideband up to this time is complete when the round ends */
	uint64_t settled;	/* it was complete up to this one at the end of the last round */
	bool parallel;		/* several threads: .lock is held in call-backs of no part */
	pthread_mutex_t lock;
	struct rvt_missing *missing;	/* of lanes that are gone */
	size_t n_missing;
};

/* session.c: before and after decoding; @err is how that went, and returned if it is not 0. */
void session_begin(struct rvt_session *session, const struct rvt_session_sink *sink);
int session_end(struct rvt_session *session, int err);

/* meta.c: encoders from the metadata text or a parameter file. 0 or -errno with *error. */
int session_read_meta(struct rvt_session *session, char **error);
int session_add_foreign(struct rvt_session *session, const struct rvt_perfdata_record *record);
int session_check_encoders(const struct rvt_session *session, char **error);
const struct encoder *session_encoder(const struct rvt_session *session, int32_t cpu);

/* buffers.c */
int session_read_records(struct rvt_session *session, char **error);
struct buffer *session_buffer(struct rvt_session *session, const struct rvt_record_auxtrace *aux);
/* Takes in what is no AUX data and no AUX record. 0 or -errno with *error. */
int session_read_sideband(struct rvt_session *session, const struct rvt_perfdata_record *record,
			  char **error);
/* A PERF_RECORD_AUX of this session's trace, counted. False: it is none. */
bool session_read_aux(struct rvt_session *session, const struct rvt_perfdata_record *record,
		      struct rvt_aux *aux);
int buffer_add_record(struct buffer *buffer, const struct rvt_aux *aux);
/* Whether the trace of @aux is in @buffer. */
bool session_aux_in(const struct buffer *buffer, const struct rvt_aux *aux);

/*
 * lane.c: each that returns an int returns 0 or -errno, or what a call-back returned. NULL: out of
 * memory.
 */
struct lane *lane_create(struct buffer *buffer, const struct encoder *encoder, int32_t cpu);
/* The lane goes, but its flow may teach the next one of its world. */
void lane_end_flow(struct lane *lane);
/* Nobody learns any more. */
void world_end_teaching(struct world *world);
/* The buffer's current record, which is @aux, begins. */
int lane_begin_record(struct lane *lane, const struct rvt_aux *aux);
/* What happened up to @time has. */
int lane_seek(struct lane *lane, uint64_t time);
/* options.count: all that was counted since the last time. */
int lane_tell_counts(struct lane *lane);
/*
 * The edge that leads out of the part, if any: told, or forgotten. The lane is still as it was:
 * later the task may have another name, and its code may be replaced.
 */
int lane_end_edge(struct lane *lane, bool executed);
int lane_deliver(struct lane *lane, const struct rvt_event *event);
/* Damage of the stream, which is none of the flow. */
int lane_damage(struct lane *lane, const struct rvt_event *event);
/* Whether the trace has told which thread runs. */
bool lane_is_told(const struct lane *lane);
/* Instructions, until now. */
uint64_t lane_executed(const struct lane *lane);

/* feed.c: one step of a buffer, or one message. 1: more to do, 0: done, or an error. */
int buffer_step(struct buffer *buffer, bool one_message);
int buffer_finish(struct buffer *buffer);
/*
 * The lanes of all encoders whose trace may come in the buffer; before its first bytes. 0 or
 * -errno.
 */
int buffer_open_lanes(struct buffer *buffer);
/* Without any trace until @time. 0 or -errno. */
int buffer_idle(struct buffer *buffer, uint64_t time);
/* Forgets what was decoded, so that it can be decoded again. */
void buffer_rewind(struct buffer *buffer);
void buffer_destroy(struct buffer *buffer);
/* Adds what decoding counts. */
void session_add_stats(struct rvt_session_stats *sum, const struct rvt_session_stats *stats);
/* Gets ready for @part, which has its .ctx; what lanes have is kept. */
int buffer_begin_part(struct buffer *buffer, struct part *part);
/* True when the part has ended (.extended: when it must not). */
bool buffer_part_done(struct buffer *buffer);
/* Whether the next part decodes what comes, too. */
bool buffer_part_left(const struct buffer *buffer);
/*
 * Whether to go from message to message: buffers take turns, or all was fed and the rest is for the
 * last line.
 */
bool buffer_part_slow(const struct buffer *buffer);
/* What the part shows so far of how the flow from the one before goes on. */
enum part_begin buffer_part_begin(const struct buffer *buffer);
/*
 * Ends the part; its decoders go. @err: how it went, and returned if it is not 0. With part.n_edges
 * buffer_end_edges() follows, or the next part does: then it takes the edge with it.
 */
int buffer_end_part(struct buffer *buffer, int err);
int buffer_end_edges(struct buffer *buffer, bool executed);
/* The chunk that holds @offset; chunks are sorted. NULL: none does. */
const struct chunk *buffer_chunk(const struct buffer *buffer, uint64_t offset);
/* Its bytes, until another chunk is asked for; NULL: damaged, or no memory. */
const uint8_t *buffer_bytes(struct buffer *buffer, const struct chunk *chunk);

/*
 * parallel.c: all buffers in parts on session->options.jobs threads. -EAGAIN: the parts do not fit
 * together, what was told is void.
 */
int session_run_parallel(struct rvt_session *session);

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

/* NULL: call-backs are not told by parts. */
static inline const struct rvt_session_parts *session_parts(const struct rvt_session *session)
{
	return session->sink && !session->options.count ? session->sink->parts : NULL;
}

__attribute__((format(printf, 3, 4)))
int session_fail(char **error, int err, const char *format, ...);

#endif
