// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <errno.h>
#include <stdlib.h>
#include "esp32/esp32.h"
#include "esp32/packets.h"
#include "flow/control.h"
#include "util/array.h"

struct esp32_stream {
	struct rvt_stream base;
	struct rvt_stream_ops ops;
	struct rvt_esp32_packets packets;
	struct rvt_stream *inner;
	/*
	 * What the inner stream has at .count and behind is at .extents in the recording: packets
	 * that it is given, or where a loss is, which has an offset of its own.
	 */
	uint64_t count;
	const struct rvt_esp32_segment *extents;
	size_t n_extents;
	struct rvt_flow *flow;
	struct rvt_offset_map map;
	uint64_t errors;
};

/* An offset in the recording, for what has one in the inner stream. */
static uint64_t find_offset(const void *ctx, uint64_t inner)
{
	const struct esp32_stream *s = ctx;
	const uint64_t index = inner > s->count ? inner - s->count : 0;
	const struct rvt_esp32_segment *extent = array_floor(s->extents, s->n_extents, index,
							     index);

	return extent ? extent->offset : 0;
}

static struct rvt_flow *get_flow(void *ctx, unsigned int src)
{
	struct esp32_stream *s = ctx;

	s->flow = s->ops.flow ? s->ops.flow(s->ops.ctx, src) : NULL;
	if (s->flow)
		rvt_flow_set_offsets(s->flow, &s->map);
	return s->flow;
}

static int pass_event(void *ctx, const struct rvt_event *event)
{
	struct esp32_stream *s = ctx;
	struct rvt_event translated = *event;

	if (!s->ops.event)
		return 0;
	translated.offset = find_offset(s, event->offset);
	return s->ops.event(s->ops.ctx, &translated);
}

/* While the inner stream is at work, the flow's events have offsets in the recording. */
static void work_at(struct esp32_stream *s, const struct rvt_esp32_segment *extents, size_t n)
{
	s->extents = extents;
	s->n_extents = n;
	if (s->flow)
		rvt_flow_set_offsets(s->flow, extents ? &s->map : NULL);
}

int rvt_esp32_stream_create(const struct rvt_params *params, const struct rvt_stream_ops *ops,
			    int (*create)(const struct rvt_params *params,
					  const struct rvt_stream_ops *ops,
					  struct rvt_stream **stream),
			    struct rvt_stream **stream)
{
	struct rvt_stream_ops own = { .size = sizeof(own), .flow = get_flow, .event = pass_event };
	struct rvt_params inner = *params;
	struct esp32_stream *s;
	int ret;

	if (params->protocol != RVT_PROTOCOL_ETRACE || params->srcid_bits ||
	    params->timestamp_bytes || params->type_bits)
		return -EINVAL;
	s = calloc(1, sizeof(*s));
	if (!s)
		return -ENOMEM;
	inner.framing = RVT_FRAMING_NONE;
	s->ops = *ops;
	s->map = (struct rvt_offset_map){ s, find_offset };
	own.ctx = s;
	ret = create(&inner, &own, &s->inner);
	if (ret) {
		free(s);
		return ret;
	}
	rvt_esp32_packets_init(&s->packets);
	*stream = &s->base;
	return 0;
}

static void destroy(struct rvt_stream *stream)
{
	struct esp32_stream *s = (struct esp32_stream *)stream;

	rvt_esp32_packets_fini(&s->packets);
	s->inner->protocol->destroy(s->inner);
	free(s);
}

static int decode(struct esp32_stream *s)
{
	const struct rvt_esp32_packets *p = &s->packets;
	int ret;

	work_at(s, p->segments, p->n_segments);
	ret = s->inner->protocol->feed(s->inner, p->bytes, p->len, s->count);
	s->count += p->len;
	work_at(s, NULL, 0);
	return ret;
}

static int lose(struct esp32_stream *s, uint64_t offset, enum rvt_reason reason, const char *what)
{
	const struct rvt_esp32_segment extent = { 0, offset };
	int ret;

	work_at(s, &extent, 1);
	ret = s->inner->protocol->lost(s->inner, s->count, reason, what, true);
	s->count++;
	work_at(s, NULL, 0);
	return ret;
}

static int read_all(struct esp32_stream *s)
{
	int ret = 0;

	while (!ret) {
		switch (rvt_esp32_packets_next(&s->packets)) {
		case RVT_ESP32_READ_DATA:
			ret = decode(s);
			break;
		case RVT_ESP32_READ_LOST:
			ret = lose(s, s->packets.offset, RVT_REASON_OVERFLOW, RVT_ESP32_MISSING);
			break;
		case RVT_ESP32_READ_DAMAGE:
			s->errors++;
			ret = lose(s, s->packets.offset, RVT_REASON_BAD_PACKET,
				   RVT_ESP32_NO_PACKET);
			break;
		case RVT_ESP32_READ_MORE:
			return 0;
		}
	}
	return ret;
}

static int feed(struct rvt_stream *stream, const void *bytes, size_t len, uint64_t offset)
{
	struct esp32_stream *s = (struct esp32_stream *)stream;
	int ret = rvt_esp32_packets_feed(&s->packets, bytes, len, offset);

	return ret ? ret : read_all(s);
}

static size_t unused(const struct rvt_stream *stream)
{
	(void)stream;
	return 0;
}

static int lost(struct rvt_stream *stream, uint64_t offset, enum rvt_reason reason,
		const char *what, bool boundary)
{
	struct esp32_stream *s = (struct esp32_stream *)stream;

	(void)boundary;
	rvt_esp32_packets_lost(&s->packets);
	return lose(s, offset, reason, what);
}

static int finish(struct rvt_stream *stream)
{
	struct esp32_stream *s = (struct esp32_stream *)stream;
	struct rvt_esp32_segment end = { 0, 0 };
	int ret;

	rvt_esp32_packets_finish(&s->packets);
	ret = read_all(s);
	end.offset = s->packets.buffer_offset + s->packets.pos;
	work_at(s, &end, 1);
	if (!ret)
		ret = s->inner->protocol->finish(s->inner);
	work_at(s, NULL, 0);
	return ret;
}

static size_t message(const struct rvt_params *params, const uint8_t *bytes, size_t len)
{
	size_t n = bytes[0] & RVT_ESP32_MAX_BYTES;

	(void)params;
	return !n ? 1 : n < len ? n : len;
}

/* Losses that this stream told the inner one of are counted once. */
static void update_stats(struct rvt_stream *stream)
{
	struct esp32_stream *s = (struct esp32_stream *)stream;
	const uint64_t bytes = stream->stats.bytes;

	if (s->inner->protocol->update_stats)
		s->inner->protocol->update_stats(s->inner);
	stream->stats = s->inner->stats;
	stream->stats.bytes = bytes;
	stream->stats.errors += s->errors;
	stream->stats.lost_reports = s->inner->stats.lost_reports - s->errors;
	stream->stats.idle_bytes += s->packets.idle_bytes;
	stream->stats.skipped_bytes += s->packets.skipped_bytes;
}

/* Never cut: such memories are small. */
const struct rvt_protocol_ops rvt_esp32_protocol = {
	.destroy = destroy,
	.feed = feed,
	.unused = unused,
	.lost = lost,
	.finish = finish,
	.message = message,
	.update_stats = update_stats,
};
