/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Inside librvtrace: what a protocol offers to stream.c. A protocol decoder embeds
 * struct rvt_stream as its first member and keeps .stats up to date.
 */
#ifndef RVT_LIB_STREAM_OPS_H
#define RVT_LIB_STREAM_OPS_H

#include <rvtrace/stream.h>

/* The functions of rvtrace/stream.h with the same names; same contracts. */
struct rvt_protocol_ops {
	int (*create)(const struct rvt_params *params, const struct rvt_stream_ops *ops,
		      struct rvt_stream **stream);
	void (*destroy)(struct rvt_stream *stream);
	int (*feed)(struct rvt_stream *stream, const void *bytes, size_t len, uint64_t offset);
	/* How many of the bytes that were fed last were not used: not 0 when .paused. */
	size_t (*unused)(const struct rvt_stream *stream);
	/* @what: a sentence for people, static; NULL: bytes are missing. */
	int (*lost)(struct rvt_stream *stream, uint64_t offset, enum rvt_reason reason,
		    const char *what, bool boundary);
	int (*finish)(struct rvt_stream *stream);
	/* NULL, and so .slice_done and .boundary: such streams are never cut. */
	int (*slice)(struct rvt_stream *stream, uint64_t from, uint64_t to);
	bool (*slice_done)(const struct rvt_stream *stream);
	/*
	 * All bytes before the end of the slice were fed: true if the slice must go on, because
	 * more than a synchronisation tells is carried over, or no message begins here. May be
	 * NULL: never.
	 */
	bool (*slice_carries)(const struct rvt_stream *stream);
	ssize_t (*boundary)(const struct rvt_params *params, const void *bytes, size_t len);
	/*
	 * Of a stream that says itself what parameters may say, but does not repeat it: .head
	 * changes *@params, which are the stream's, to what its beginning, @bytes, says. .expect,
	 * of a slice: that is how slices end, unless .slice_carries, and how all but the first
	 * begin. May be NULL, both.
	 */
	void (*head)(struct rvt_params *params, const void *bytes, size_t len);
	void (*expect)(struct rvt_stream *stream, const struct rvt_params *params);
	/*
	 * Returns how many of the bytes are one message, if one begins there, or idle; at least 1.
	 * @len > 0.
	 */
	size_t (*message)(const struct rvt_params *params, const uint8_t *bytes, size_t len);
	/*
	 * Where bytes of several messages come at once, to go from message to message nevertheless:
	 * .collect is as .feed, but decodes nothing; .step decodes a message of what was collected,
	 * and *@more: there are others. .feed decodes them all, before what it is given. NULL: what
	 * .message says is one message.
	 */
	int (*collect)(struct rvt_stream *stream, const void *bytes, size_t len, uint64_t offset);
	int (*step)(struct rvt_stream *stream, bool *more);
	/*
	 * In ops.event: whether that may concern @flow, whose bytes need not come with the others.
	 * May be NULL: it may.
	 */
	bool (*concerns)(const struct rvt_stream *stream, const struct rvt_flow *flow);
	/* Brings .stats up to date before they are read; may be NULL. */
	void (*update_stats)(struct rvt_stream *stream);
};

struct rvt_stream {
	const struct rvt_protocol_ops *protocol;	/* set by stream.c after create() */
	struct rvt_stream_stats stats;
	/* rvt_stream_pause(): feed() returns before the next message, as if no more had come */
	bool paused, may_pause;
	/* Called behind each message that told a time, and behind others, too; NULL: nobody is. */
	void (*behind_message)(void *ctx);
	void *behind_ctx;
	/* of stream.c: */
	uint64_t slice_from, slice_to;
	bool passed;		/* slice_to was reached; .counted is what was counted until then */
	bool extended;
	struct rvt_stream_stats counted;
	/*
	 * By protocol decoders, of a slice. What is wrong with the stream is told to each source,
	 * or, if none has flow to lose, by itself.
	 * .unsure: none had in this slice, but others may have had in another one.
	 * .silent: another slice was taken to tell it, as no source had begun in this one.
	 * By stream.c: .missed: bytes were missing in the slice, so that all sources begin anew.
	 */
	bool unsure, silent, missed;
};

static inline void rvt_stream_tell_behind(const struct rvt_stream *stream)
{
	if (stream->behind_message)
		stream->behind_message(stream->behind_ctx);
}

static inline void rvt_stream_stats_add(struct rvt_stream_stats *sum,
					const struct rvt_stream_stats *stats)
{
	sum->bytes += stats->bytes;
	sum->messages += stats->messages;
	sum->syncs += stats->syncs;
	sum->idle_bytes += stats->idle_bytes;
	sum->skipped_bytes += stats->skipped_bytes;
	sum->vendor_messages += stats->vendor_messages;
	sum->reserved_messages += stats->reserved_messages;
	sum->errors += stats->errors;
	sum->lost_reports += stats->lost_reports;
	sum->accesses += stats->accesses;
	sum->lost_accesses += stats->lost_accesses;
}

/* Copies what is counted behind the end of a slice, too: nobody else sees it. */
static inline void rvt_stream_count_rest(const struct rvt_stream_stats *from,
					 struct rvt_stream_stats *to)
{
	to->syncs = from->syncs;
	to->errors = from->errors;
	to->lost_reports = from->lost_reports;
	to->accesses = from->accesses;
	to->lost_accesses = from->lost_accesses;
}

/*
 * stream.c: as rvt_stream_feed() of what rvt_stream_message() said. *@more: there is more in it,
 * which rvt_stream_step() decodes, a message a call.
 */
int rvt_stream_feed_message(struct rvt_stream *stream, const void *bytes, size_t len,
			    uint64_t offset, bool *more);
int rvt_stream_step(struct rvt_stream *stream, bool *more);
/* stream.c: as .concerns. */
bool rvt_stream_concerns(const struct rvt_stream *stream, const struct rvt_flow *flow);
/* stream.c: as .head and .expect; the latter after rvt_stream_slice(). False: there are none. */
bool rvt_stream_head(struct rvt_params *params, const void *bytes, size_t len);
void rvt_stream_expect(struct rvt_stream *stream, const struct rvt_params *params);

extern const struct rvt_protocol_ops rvt_ntrace_protocol;	/* ntrace/decoder.c */
extern const struct rvt_protocol_ops rvt_etrace_protocol;	/* etrace/decoder.c */

#endif
