/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * One byte stream as a sink recorded it: framing, demultiplexing by SRC, and a protocol decoder
 * per source that drives a flow. The same interface for E-Trace and N-Trace.
 *
 * Threads: one at a time calls for a stream, and for the flows that it drives. Streams with flows
 * of their own may be used in several threads. What takes parameters only may be called from any.
 */
#ifndef RVTRACE_STREAM_H
#define RVTRACE_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <rvtrace/flow.h>
#include <rvtrace/linkage.h>
#include <rvtrace/params.h>

RVT_BEGIN_DECLS

struct rvt_stream;

struct rvt_stream_ops {
	size_t size;		/* sizeof(struct rvt_stream_ops): the struct may grow */
	void *ctx;
	/*
	 * The flow to drive for source @src (0 when the stream has no SRC field; in frames see
	 * rvt_stream_source()), asked once per source. NULL: skip this source. The flow stays the
	 * caller's.
	 */
	struct rvt_flow *(*flow)(void *ctx, unsigned int src);
	/* Damage that belongs to no source (framing). Like rvt_flow_sink.event; may be NULL. */
	int (*event)(void *ctx, const struct rvt_event *event);
	/*
	 * What the bytes of id @atid are, in frames that have several: parameters, or NULL: skip
	 * this id. The stream copies them and ignores their framing and atid. It asks once for
	 * each id. May be NULL: all ids have the parameters of rvt_stream_create().
	 */
	const struct rvt_params *(*params)(void *ctx, unsigned int atid);
	/* Flows deliver what data trace says, too: ACCESS events (rvtrace/access.h). */
	bool accesses;
};

struct rvt_stream_stats {
	size_t size;		/* sizeof(struct rvt_stream_stats): the struct may grow */
	uint64_t bytes, messages, syncs;
	uint64_t idle_bytes, skipped_bytes;	/* skipped: hunting for a message start */
	uint64_t vendor_messages, reserved_messages;
	uint64_t errors;			/* damaged messages, contradictions */
	uint64_t lost_reports;			/* Error messages, trace_lost, lost() calls */
	/* ACCESS events; of these: address, value or operand were sent, but are not known */
	uint64_t accesses, lost_accesses;
};

/*
 * Sources of a stream in frames, whose parameters are @params.
 *
 * rvt_stream_source - the number of a source: its SRC (srcID), and where the parameters leave open
 * whose trace it is (atid = 0) the id of its frames above that.
 * rvt_stream_source_atid - the id in such a number; 0: there is none in it.
 * rvt_stream_n_sources - how many numbers there are: each is less.
 */
static inline unsigned int rvt_stream_source_bits(const struct rvt_params *params)
{
	return params->protocol == RVT_PROTOCOL_ETRACE ? params->srcid_bits : params->src_bits;
}

static inline unsigned int rvt_stream_source(const struct rvt_params *params, unsigned int atid,
					     unsigned int src)
{
	if (params->framing != RVT_FRAMING_CORESIGHT || params->atid)
		return src;
	return atid << rvt_stream_source_bits(params) | src;
}

static inline unsigned int rvt_stream_source_atid(const struct rvt_params *params,
						  unsigned int source)
{
	if (params->framing != RVT_FRAMING_CORESIGHT || params->atid)
		return 0;
	return source >> rvt_stream_source_bits(params);
}

static inline unsigned int rvt_stream_n_sources(const struct rvt_params *params)
{
	unsigned int bits = rvt_stream_source_bits(params);

	return params->framing != RVT_FRAMING_CORESIGHT || params->atid ? 1u << bits :
									  1u << (7 + bits);
}

/*
 * What a flow must know of the parameters: instruction set, jump table, return stack. The caller
 * sets @config->size; no more than that is written, all else is 0. Returns 0, or -EINVAL: @params
 * or @config do not say their size.
 */
int rvt_stream_flow_config(const struct rvt_params *params, struct rvt_flow_config *config);

/*
 * @params and @ops are copied. Returns 0, -EINVAL (parameters out of range, @params or @ops without
 * size), -ENOMEM.
 */
int rvt_stream_create(const struct rvt_params *params, const struct rvt_stream_ops *ops,
		      struct rvt_stream **stream);
/* @stream may be NULL. The flows stay. */
void rvt_stream_destroy(struct rvt_stream *stream);
/*
 * rvt_stream_feed - the next @len bytes; @offset is where they lie in the recording (for
 * messages). A message may straddle two calls. Until the first synchronisation of a source its
 * messages are skipped. Damage is reported as LOST events and decoding goes on at the next sync.
 * Returns 0, or the non-zero value that a callback returned.
 */
int rvt_stream_feed(struct rvt_stream *stream, const void *bytes, size_t len, uint64_t offset);
/*
 * To decode up to a time, and to go on later: a call-back of a flow calls rvt_stream_pause() when
 * it gets a TIME event that is late enough.
 *
 * rvt_stream_feed_part - as rvt_stream_feed(), but ends behind the message during which
 * rvt_stream_pause() was called. *@taken is how many bytes it used; feed the others later. A
 * synchronisation packet of E-Trace says which context and which code come from its time on. The
 * stream keeps that part of it, CONTEXT and START, for the next rvt_stream_feed_part(), feed(),
 * lost() or finish(), and looks for its code then. Flows may have collected what they have not
 * delivered yet: rvt_flow_flush(). Not for slices. In any other function rvt_stream_pause() does
 * nothing.
 */
int rvt_stream_feed_part(struct rvt_stream *stream, const void *bytes, size_t len,
			 uint64_t offset, size_t *taken);
void rvt_stream_pause(struct rvt_stream *stream);
/*
 * Bytes are missing here: forget a partial message, report LOST on every source that had flow,
 * hunt for a message start and a sync. @boundary: the next byte begins a message.
 */
int rvt_stream_lost(struct rvt_stream *stream, uint64_t offset, enum rvt_reason reason,
		    bool boundary);
/*
 * Slices of a stream, to decode one stream on several processors. Offsets count the bytes of the
 * stream, so that slices can be told apart by them.
 *
 * rvt_stream_slice - to be called before the first feed(). The stream gets bytes from @from on,
 * which is 0 or what rvt_stream_boundary() found, and goes on behind @to (the next slice's @from;
 * UINT64_MAX: the last slice) until rvt_stream_slice_done(). Every source is decoded from its first
 * full synchronisation in [@from, @to) to its first one at or behind @to. All slices deliver, one
 * after the other, what one stream delivers; but a source that appears in a later slice begins
 * there without a START event, and TIME and CONTEXT events may come twice. Flows can be used for
 * one slice after the other. A slice may find that its end carries more over than a
 * synchronisation says, or that no message begins there. Then it is the last one
 * (rvt_stream_slice_extended()) and goes on to the end of the stream; the caller must throw away
 * what other slices made of that. Returns 0.
 */
int rvt_stream_slice(struct rvt_stream *stream, uint64_t from, uint64_t to);
bool rvt_stream_slice_done(const struct rvt_stream *stream);
bool rvt_stream_slice_extended(const struct rvt_stream *stream);
/*
 * rvt_stream_boundary - where in @bytes a message begins, as far as that can be told from them: an
 * index, -1 if it cannot (give more bytes), or -EINVAL: the parameters are of no protocol. In
 * frames @bytes must begin with one.
 */
ssize_t rvt_stream_boundary(const struct rvt_params *params, const void *bytes, size_t len);
/*
 * rvt_stream_message - how many of @bytes make one message, if one begins there, or are idle: for
 * callers that must look after each. Any number is good for rvt_stream_feed(); it is at least 1
 * unless @len is 0.
 */
size_t rvt_stream_message(const struct rvt_params *params, const void *bytes, size_t len);
/* End of data: reports a partial message and flushes the flows. */
int rvt_stream_finish(struct rvt_stream *stream);
/*
 * The caller sets @stats->size; no more is written. Returns 0, or -EINVAL: it does not say its
 * size.
 */
int rvt_stream_stats(const struct rvt_stream *stream, struct rvt_stream_stats *stats);

RVT_END_DECLS

#endif
