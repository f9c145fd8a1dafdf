// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Streams: choice of the protocol decoder.
 */
#include <errno.h>
#include "coresight/coresight.h"
#include "esp32/esp32.h"
#include "stream-ops.h"
#include "params/params.h"
#include "util/sized.h"

/* N-Trace allows an encoder 32 entries; more do no harm, as an underflow is always explicit. */
#define NTRACE_RETURN_STACK_DEPTH 64
#define ETRACE_MAX_RETURN_STACK_SIZE 16

static const struct rvt_protocol_ops *find_protocol(enum rvt_protocol protocol)
{
	switch (protocol) {
	case RVT_PROTOCOL_NTRACE:
		return &rvt_ntrace_protocol;
	case RVT_PROTOCOL_ETRACE:
		return &rvt_etrace_protocol;
	default:
		return NULL;
	}
}

/* What reads the outermost layer; NULL: nothing does. */
static const struct rvt_protocol_ops *find_reader(const struct rvt_params *params)
{
	switch (params->framing) {
	case RVT_FRAMING_NONE:
		return find_protocol(params->protocol);
	case RVT_FRAMING_CORESIGHT:
		return &rvt_coresight_protocol;
	case RVT_FRAMING_ESP32:
		return &rvt_esp32_protocol;
	default:
		return NULL;
	}
}

static void init(struct rvt_stream *stream, const struct rvt_protocol_ops *protocol)
{
	stream->protocol = protocol;
	stream->slice_to = UINT64_MAX;
}

/* Without framing. */
static int create_plain(const struct rvt_params *params, const struct rvt_stream_ops *ops,
			struct rvt_stream **stream)
{
	const struct rvt_protocol_ops *protocol = find_protocol(params->protocol);
	int ret;

	if (!protocol || params->framing || (params->xlen != 32 && params->xlen != 64))
		return -EINVAL;
	ret = protocol->create(params, ops, stream);
	if (!ret)
		init(*stream, protocol);
	return ret;
}

int rvt_stream_create(const struct rvt_params *params, const struct rvt_stream_ops *ops,
		      struct rvt_stream **stream)
{
	struct rvt_stream_ops own;
	struct rvt_params room;
	int ret;

	*stream = NULL;
	params = rvt_params_whole(params, &room);
	if (!params || !ops || sized_copy(&own, sizeof(own), ops))
		return -EINVAL;
	switch (params->framing) {
	case RVT_FRAMING_CORESIGHT:
		ret = rvt_coresight_stream_create(params, &own, create_plain, stream);
		break;
	case RVT_FRAMING_ESP32:
		ret = rvt_esp32_stream_create(params, &own, create_plain, stream);
		break;
	default:
		return create_plain(params, &own, stream);
	}
	if (!ret)
		init(*stream, find_reader(params));
	return ret;
}

void rvt_stream_destroy(struct rvt_stream *stream)
{
	if (stream)
		stream->protocol->destroy(stream);
}

static int feed(struct rvt_stream *stream, const void *bytes, size_t len, uint64_t offset)
{
	stream->stats.bytes += len;
	return stream->protocol->feed(stream, bytes, len, offset);
}

static void update_stats(struct rvt_stream *stream)
{
	if (stream->protocol->update_stats)
		stream->protocol->update_stats(stream);
}

/* The end of the slice lies before the next byte. */
static int pass_end(struct rvt_stream *stream)
{
	const struct rvt_protocol_ops *protocol = stream->protocol;

	stream->passed = true;
	if (protocol->slice_carries && protocol->slice_carries(stream)) {
		stream->extended = true;
		return protocol->slice(stream, stream->slice_from, UINT64_MAX);
	}
	update_stats(stream);
	stream->counted = stream->stats;
	return 0;
}

int rvt_stream_feed(struct rvt_stream *stream, const void *bytes, size_t len, uint64_t offset)
{
	size_t before = 0;
	int ret = 0;

	if (!stream->passed && offset + len >= stream->slice_to) {
		before = stream->slice_to > offset ? stream->slice_to - offset : 0;
		if (before)
			ret = feed(stream, bytes, before, offset);
		if (!ret)
			ret = pass_end(stream);
	}
	if (ret || before == len)
		return ret;
	return feed(stream, (const uint8_t *)bytes + before, len - before, offset + before);
}

int rvt_stream_feed_message(struct rvt_stream *stream, const void *bytes, size_t len,
			    uint64_t offset, bool *more)
{
	int ret;

	*more = false;
	if (!stream->protocol->collect)
		return rvt_stream_feed(stream, bytes, len, offset);
	stream->stats.bytes += len;
	ret = stream->protocol->collect(stream, bytes, len, offset);
	return ret ? ret : stream->protocol->step(stream, more);
}

int rvt_stream_step(struct rvt_stream *stream, bool *more)
{
	return stream->protocol->step(stream, more);
}

int rvt_stream_feed_part(struct rvt_stream *stream, const void *bytes, size_t len,
			 uint64_t offset, size_t *taken)
{
	int ret;

	stream->may_pause = true;
	ret = stream->protocol->feed(stream, bytes, len, offset);
	*taken = len - (stream->paused ? stream->protocol->unused(stream) : 0);
	stream->may_pause = stream->paused = false;
	stream->stats.bytes += *taken;
	return ret;
}

void rvt_stream_pause(struct rvt_stream *stream)
{
	stream->paused = stream->may_pause;
}

int rvt_stream_lost(struct rvt_stream *stream, uint64_t offset, enum rvt_reason reason,
		    bool boundary)
{
	void (*behind_message)(void *ctx) = stream->behind_message;
	int ret;

	stream->missed |= offset < stream->slice_to;
	/* messages that waited for more bytes are told now; nobody can pause between them */
	stream->behind_message = NULL;
	ret = stream->protocol->lost(stream, offset, reason, NULL, boundary);
	stream->behind_message = behind_message;
	return ret;
}

int rvt_stream_slice(struct rvt_stream *stream, uint64_t from, uint64_t to)
{
	stream->slice_from = from;
	stream->slice_to = to;
	if (!stream->protocol->slice)
		return from || to != UINT64_MAX ? -EINVAL : 0;
	return stream->protocol->slice(stream, from, to);
}

bool rvt_stream_slice_done(const struct rvt_stream *stream)
{
	return stream->protocol->slice_done && stream->protocol->slice_done(stream);
}

bool rvt_stream_slice_extended(const struct rvt_stream *stream)
{
	return stream->extended;
}

ssize_t rvt_stream_boundary(const struct rvt_params *params, const void *bytes, size_t len)
{
	const struct rvt_protocol_ops *protocol;
	struct rvt_params room;

	params = rvt_params_whole(params, &room);
	protocol = params ? find_reader(params) : NULL;
	if (!protocol)
		return -EINVAL;
	return protocol->boundary ? protocol->boundary(params, bytes, len) : -1;
}

bool rvt_stream_concerns(const struct rvt_stream *stream, const struct rvt_flow *flow)
{
	return !stream->protocol->concerns || stream->protocol->concerns(stream, flow);
}

bool rvt_stream_head(struct rvt_params *params, const void *bytes, size_t len)
{
	const struct rvt_protocol_ops *protocol = find_reader(params);

	if (!protocol || !protocol->head)
		return false;
	protocol->head(params, bytes, len);
	return true;
}

void rvt_stream_expect(struct rvt_stream *stream, const struct rvt_params *params)
{
	if (stream->protocol->expect)
		stream->protocol->expect(stream, params);
}

size_t rvt_stream_message(const struct rvt_params *params, const void *bytes, size_t len)
{
	const struct rvt_protocol_ops *protocol;
	struct rvt_params room;

	params = rvt_params_whole(params, &room);
	protocol = params ? find_reader(params) : NULL;
	return protocol && len ? protocol->message(params, bytes, len) : len;
}

int rvt_stream_finish(struct rvt_stream *stream)
{
	return stream->protocol->finish(stream);
}

int rvt_stream_stats(const struct rvt_stream *stream, struct rvt_stream_stats *stats)
{
	struct rvt_stream_stats full;

	update_stats((struct rvt_stream *)stream);
	full = stream->stats;
	if (stream->passed && !stream->extended) {
		/* What is behind the slice is counted by others. */
		full = stream->counted;
		rvt_stream_count_rest(&stream->stats, &full);
	}
	return sized_fill(stats, &full, sizeof(full));
}

int rvt_stream_flow_config(const struct rvt_params *params, struct rvt_flow_config *result)
{
	struct rvt_flow_config full = { .size = sizeof(full) }, *config = &full;
	struct rvt_params room;
	unsigned int size;

	params = rvt_params_whole(params, &room);
	if (!params)
		return -EINVAL;
	size = params->return_stack_size_p ? params->return_stack_size_p :
					     params->call_counter_size_p;
	config->isa = params->isa;
	if (params->xlen == 32)
		config->isa |= RVT_ISA_RV32;
	config->jvt = params->jvt;
	if (params->protocol == RVT_PROTOCOL_NTRACE) {
		if (params->options & RVT_OPT_IMPLICIT_RETURN || params->implicit_return_mode)
			config->return_stack_depth = params->return_stack_depth ?
						     params->return_stack_depth :
						     NTRACE_RETURN_STACK_DEPTH;
	}
	else if (size)
		config->return_stack_depth = 1u << (size < ETRACE_MAX_RETURN_STACK_SIZE ?
						    size : ETRACE_MAX_RETURN_STACK_SIZE);
	return sized_fill(result, &full, sizeof(full));
}
