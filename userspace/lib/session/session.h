/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Inside userspace/lib/session/. */
#ifndef SESSION_SESSION_H
#define SESSION_SESSION_H

#include <rvtrace/session.h>

struct encoder {
	int32_t cpu;		/* -1: any (parameters from a file) */
	uint32_t src;
	bool has_src;
	struct rvt_params params;
};

struct chunk {
	uint64_t offset, len;	/* in the AUX data of the buffer */
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
	bool start_held;	/* .start waits for a run that follows it */
	struct rvt_event start;
	uint64_t start_insns;	/* executed before it, for lanes that deliver no runs */
};

/* A protocol decoder; a per-thread buffer has one for each cpu that the thread ran on. */
struct decoder {
	const struct encoder *encoder;
	struct rvt_stream *stream;
	struct buffer *buffer;
	struct decoder *next;
};

struct buffer {
	struct rvt_session *session;
	unsigned int number;
	uint32_t idx;
	int32_t cpu, tid;
	struct chunk *chunks;
	size_t n_chunks;
	struct rvt_aux *records;
	size_t n_records;
	struct decoder *decoders;
	struct lane *lanes;
	/* progress */
	size_t record;		/* being decoded */
	uint64_t done;		/* bytes of it */
	bool begun;
	uint64_t time;		/* of the last thing decoded */
};

struct rvt_session {
	struct rvt_session_options options;
	struct rvt_perfdata *file;
	struct rvt_owner *owner;
	struct rvt_image *image;
	struct rvt_space *kernel;
	struct rvt_symbols *symbols;
	char *meta;
	struct encoder *encoders;
	size_t n_encoders;
	uint32_t pmu_type;
	bool has_pmu_type;
	bool is_ctr;		/* no encoders: samples of Control Transfer Records */
	bool foreign;		/* recorded by another tool */
	bool has_switches;	/* there are context switches in it */
	bool foreign_ids;	/* the recorder saw other thread ids than scontext has */
	char *ksymbols;		/* functions that the kernel told of, in the form of kallsyms */
	size_t ksymbols_len;
	bool bad_code;		/* the copy of code that is in no file cannot be unpacked */
	bool by_task;		/* only chosen tasks were traced: an AUX record names its thread */
	struct rvt_record_time_conv time_conv;
	bool has_time_conv;
	struct buffer *buffers;
	size_t n_buffers;
	struct rvt_session_stats stats;
	const struct rvt_session_sink *sink;
	struct rvt_missing *missing;	/* of lanes that are gone */
	size_t n_missing;
};

/* meta.c: encoders from the metadata text or a parameter file. 0 or -errno with *error. */
int session_read_meta(struct rvt_session *session, char **error);
int session_add_foreign(struct rvt_session *session, const struct rvt_perfdata_record *record);
int session_check_encoders(const struct rvt_session *session, char **error);
const struct encoder *session_encoder(const struct rvt_session *session, int32_t cpu);

/* buffers.c */
int session_read_records(struct rvt_session *session, char **error);

/* lane.c: one step of a buffer, at most @max bytes. 1: more to do, 0: done, or an error. */
int buffer_step(struct buffer *buffer, uint64_t max);
int buffer_finish(struct buffer *buffer);
/* Forgets what was decoded, so that it can be decoded again. */
void buffer_rewind(struct buffer *buffer);
void buffer_destroy(struct buffer *buffer);

__attribute__((format(printf, 3, 4)))
int session_fail(char **error, int err, const char *format, ...);

#endif
