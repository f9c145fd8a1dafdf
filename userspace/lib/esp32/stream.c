// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <errno.h>
#include <stdlib.h>
#include "esp32/esp32.h"
#include "esp32/packets.h"

struct esp32_stream {
	struct rvt_stream base;
	struct rvt_esp32_packets packets;
	struct rvt_stream *inner;
	uint64_t errors;
};

int rvt_esp32_stream_create(const struct rvt_params *params, const struct rvt_stream_ops *ops,
			    int (*create)(const struct rvt_params *params,
					  const struct rvt_stream_ops *ops,
					  struct rvt_stream **stream),
			    struct rvt_stream **stream)
{
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
	ret = create(&inner, ops, &s->inner);
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

static int read_all(struct esp32_stream *s)
{
	const struct rvt_protocol_ops *inner = s->inner->protocol;
	const struct rvt_esp32_packets *p = &s->packets;
	int ret = 0;

	while (!ret) {
		switch (rvt_esp32_packets_next(&s->packets)) {
		case RVT_ESP32_READ_DATA:
			ret = inner->feed(s->inner, p->bytes, p->len, p->offset);
			break;
		case RVT_ESP32_READ_LOST:
			ret = inner->lost(s->inner, p->offset, RVT_REASON_OVERFLOW,
					  RVT_ESP32_MISSING, true);
			break;
		case RVT_ESP32_READ_DAMAGE:
			s->errors++;
			ret = inner->lost(s->inner, p->offset, RVT_REASON_BAD_PACKET,
					  RVT_ESP32_NO_PACKET, true);
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
	return s->inner->protocol->lost(s->inner, offset, reason, what, true);
}

static int finish(struct rvt_stream *stream)
{
	struct esp32_stream *s = (struct esp32_stream *)stream;
	int ret;

	rvt_esp32_packets_finish(&s->packets);
	ret = read_all(s);
	return ret ? ret : s->inner->protocol->finish(s->inner);
}

/* ---- slices: there are none; such memories are small ---- */

static int slice(struct rvt_stream *stream, uint64_t from, uint64_t to)
{
	(void)stream;
	return from || to != UINT64_MAX ? -EINVAL : 0;
}

static bool slice_done(const struct rvt_stream *stream)
{
	(void)stream;
	return false;
}

static ssize_t boundary(const struct rvt_params *params, const void *bytes, size_t len)
{
	(void)params;
	(void)bytes;
	(void)len;
	return -1;
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
	stream->stats.skipped_bytes += s->packets.skipped_bytes;
}

const struct rvt_protocol_ops rvt_esp32_protocol = {
	.destroy = destroy,
	.feed = feed,
	.unused = unused,
	.lost = lost,
	.finish = finish,
	.slice = slice,
	.slice_done = slice_done,
	.boundary = boundary,
	.message = message,
	.update_stats = update_stats,
};
