// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Streams in CoreSight frames. Bytes of an id are collected from a group of frames, and then
 * decoded in one go by a stream of their own, in which they have offsets of their own.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "coresight/coresight.h"
#include "coresight/frames.h"
#include "flow/control.h"
#include "params/params.h"
#include "util/array.h"

#define GROUP 262144u		/* bytes of frames */
#define MAX_EXTENTS 32768
#define WHOLE_CHUNK 16384	/* not collected */

/* Bytes of an id from .inner on, in its stream, are those from .offset on in the recording. */
struct extent {
	uint64_t inner, offset;
	enum rvt_coresight_layout layout;
};

struct channel {
	struct coresight_stream *outer;
	unsigned int id;
	struct rvt_stream *inner;	/* NULL: nobody wants it */
	struct rvt_params params;	/* of .inner */
	uint64_t count;			/* bytes of the id that were decoded, and losses */
	uint64_t n_lost;		/* losses that .inner was told of */
	bool fresh;			/* bytes came since the last one */
	uint8_t *bytes;			/* collected */
	size_t len, room;
	size_t done;			/* of them */
	struct extent *extents;		/* the last ones */
	size_t n_extents, extents_room;
	struct rvt_flow **flows;	/* that .inner drives */
	size_t n_flows;
	struct rvt_offset_map map;
};

struct coresight_stream {
	struct rvt_stream base;
	struct rvt_params params;
	struct rvt_stream_ops ops;
	int (*create)(const struct rvt_params *params, const struct rvt_stream_ops *ops,
		      struct rvt_stream **stream);
	struct rvt_coresight_frames frames;
	struct channel *channels[RVT_CORESIGHT_N_IDS];	/* NULL: not seen */
	size_t unused;			/* see struct rvt_protocol_ops */
	/* bytes of an id that comes first may begin amid a message */
	bool amid;
	bool loss_told;			/* what streams of ids tell of a loss was told */
	const struct channel *telling;	/* whose stream tells what is wrong; NULL: none */
	uint64_t errors, lost_reports;
	int result;			/* not 0: what a call-back returned, or -errno */
};

/* ---- one id ---- */

/* An offset in the recording, for what has one in the stream of the id. */
static uint64_t find_offset(const void *ctx, uint64_t inner)
{
	const struct channel *channel = ctx;
	const struct extent *extent = array_floor(channel->extents, channel->n_extents, inner,
						  inner);

	if (extent)
		return rvt_coresight_offset(extent->offset, extent->layout, inner - extent->inner);
	return channel->n_extents ? channel->extents->offset : 0;	/* about there */
}

static struct rvt_flow *channel_flow(void *ctx, unsigned int src)
{
	struct channel *channel = ctx;
	struct coresight_stream *s = channel->outer;
	struct rvt_flow *flow;

	if (src >> rvt_stream_source_bits(&s->params))
		return NULL;
	flow = s->ops.flow(s->ops.ctx, rvt_stream_source(&s->params, channel->id, src));
	if (!flow)
		return NULL;
	if (array_grow(&channel->flows, channel->n_flows)) {
		s->result = -ENOMEM;
		return NULL;
	}
	channel->flows[channel->n_flows++] = flow;
	rvt_flow_set_offsets(flow, &channel->map);
	return flow;
}

static int channel_event(void *ctx, const struct rvt_event *event)
{
	struct channel *channel = ctx;
	struct coresight_stream *s = channel->outer;
	struct rvt_event translated = *event;
	int ret;

	if (s->loss_told || !s->ops.event)
		return 0;
	translated.offset = find_offset(channel, event->offset);
	s->telling = channel;
	ret = s->ops.event(s->ops.ctx, &translated);
	s->telling = NULL;
	return ret;
}

/* What is wrong with the bytes of one id is not so with those of another. */
static bool concerns(const struct rvt_stream *stream, const struct rvt_flow *flow)
{
	const struct coresight_stream *s = (const struct coresight_stream *)stream;
	size_t n = 0;

	if (!s->telling)
		return true;
	while (n < s->telling->n_flows && s->telling->flows[n] != flow)
		n++;
	return n < s->telling->n_flows;
}

/* The flows' events have offsets in the recording while the stream of the id is at work. */
static void set_offsets(struct channel *channel, const struct rvt_offset_map *map)
{
	for (size_t i = 0; i < channel->n_flows; i++)
		rvt_flow_set_offsets(channel->flows[i], map);
}

static void close_channel(struct channel *channel)
{
	if (!channel)
		return;
	if (channel->inner)
		channel->inner->protocol->destroy(channel->inner);
	free(channel->bytes);
	free(channel->extents);
	free(channel->flows);
	free(channel);
}

/* Of what came long before, which is hardly told of, about the offset is enough. */
static void forget_extents(struct channel *channel)
{
	size_t n = channel->n_extents / 2;

	if (channel->n_extents < MAX_EXTENTS)
		return;
	channel->n_extents -= n;
	memmove(channel->extents, channel->extents + n,
		channel->n_extents * sizeof(*channel->extents));
}

static void decode_bytes(struct channel *channel, const uint8_t *bytes, size_t len)
{
	struct coresight_stream *s = channel->outer;
	uint64_t at = channel->count;
	int ret;

	channel->count += len;
	set_offsets(channel, &channel->map);
	ret = channel->inner->protocol->feed(channel->inner, bytes, len, at);
	set_offsets(channel, NULL);
	s->result = s->result ? s->result : ret;
	forget_extents(channel);
}

/* The next @len bytes of what is collected are decoded. */
static void decode(struct channel *channel, size_t len)
{
	const uint8_t *bytes = channel->bytes + channel->done;

	channel->done += len;
	decode_bytes(channel, bytes, len);
	if (channel->done == channel->len)
		channel->done = channel->len = 0;
}

static void flush_channel(struct channel *channel)
{
	if (channel->len)
		decode(channel, channel->len - channel->done);
}

static void flush(struct coresight_stream *s)
{
	for (unsigned int i = 0; i <= RVT_CORESIGHT_MAX_ID && !s->result; i++)
		if (s->channels[i])
			flush_channel(s->channels[i]);
}

static int add_extent(struct channel *channel, uint64_t inner, uint64_t offset)
{
	if (array_reserve(&channel->extents, &channel->extents_room, channel->n_extents, 1))
		return -ENOMEM;
	channel->extents[channel->n_extents++] = (struct extent){ inner, offset,
								  RVT_CORESIGHT_ROW };
	return 0;
}

/* A loss before @offset, or where the id begins. It has an offset of its own. */
static int lose(struct channel *channel, uint64_t offset, enum rvt_reason reason, const char *what)
{
	int ret = add_extent(channel, channel->count, offset);

	if (ret)
		return ret;
	channel->n_lost++;
	channel->fresh = false;
	set_offsets(channel, &channel->map);
	ret = channel->inner->protocol->lost(channel->inner, channel->count++, reason, what, false);
	set_offsets(channel, NULL);
	return ret;
}

/* Bytes of an id that comes first may begin amid a message: the stream of the id is told so. */
static int begin_amid(struct channel *channel, uint64_t offset)
{
	struct coresight_stream *s = channel->outer;
	int ret;

	if (!s->amid)
		return 0;
	s->loss_told = true;
	ret = lose(channel, offset, RVT_REASON_TRUNCATED, NULL);
	s->loss_told = false;
	return ret;
}

static int open_inner(struct channel *channel)
{
	struct coresight_stream *s = channel->outer;
	const struct rvt_stream_ops ops = { .size = sizeof(ops), .ctx = channel,
					    .flow = channel_flow, .event = channel_event,
					    .accesses = s->ops.accesses };
	const struct rvt_params *given =
		s->ops.params ? s->ops.params(s->ops.ctx, channel->id) : &s->params;
	struct rvt_params room;

	if (!given || (s->params.atid && s->params.atid != channel->id))
		return 0;
	given = rvt_params_whole(given, &room);
	if (!given)
		return -EINVAL;
	channel->params = *given;
	channel->params.framing = RVT_FRAMING_NONE;
	channel->params.atid = 0;
	return s->create(&channel->params, &ops, &channel->inner);
}

/* @offset: of the first byte. NULL: out of memory, or a call-back was against it. */
static struct channel *get_channel(struct coresight_stream *s, unsigned int id, uint64_t offset)
{
	struct channel *channel = s->channels[id];

	if (channel)
		return channel;
	channel = calloc(1, sizeof(*channel));
	if (!channel) {
		s->result = -ENOMEM;
		return NULL;
	}
	channel->outer = s;
	channel->id = id;
	channel->map = (struct rvt_offset_map){ channel, find_offset };
	s->channels[id] = channel;
	s->result = open_inner(channel);
	if (!s->result && channel->inner)
		s->result = begin_amid(channel, offset);
	return s->result ? NULL : channel;
}

/* ---- frames ---- */

static int add_extents(struct channel *channel, const struct rvt_coresight_frames *frames)
{
	uint64_t inner = channel->count + channel->len - channel->done;
	uint32_t n = frames->n_segments;
	struct extent *extents;

	if (array_reserve(&channel->extents, &channel->extents_room, channel->n_extents, n))
		return -ENOMEM;
	extents = channel->extents + channel->n_extents;
	channel->n_extents += n;
	for (uint32_t i = 0; i < n; i++) {
		const struct rvt_coresight_segment *segment = &frames->segments[i];

		extents[i] = (struct extent){ inner + segment->index, segment->offset,
					      segment->layout };
	}
	return 0;
}

/* Small pieces are collected, so that what decodes them begins less often. */
static int take_bytes(struct channel *channel, const struct rvt_coresight_frames *frames)
{
	int ret = add_extents(channel, frames);

	channel->fresh = true;
	if (!ret && !channel->len && frames->len >= WHOLE_CHUNK) {
		decode_bytes(channel, frames->bytes, frames->len);
		return channel->outer->result;
	}
	if (!ret)
		ret = array_reserve(&channel->bytes, &channel->room, channel->len, frames->len);
	if (ret)
		return ret;
	memcpy(channel->bytes + channel->len, frames->bytes, frames->len);
	channel->len += frames->len;
	return 0;
}

static void on_data(struct coresight_stream *s)
{
	struct channel *channel = get_channel(s, s->frames.id, s->frames.segments[0].offset);

	if (channel && channel->inner)
		s->result = take_bytes(channel, &s->frames);
}

/* Bytes of each id may be missing before @offset, for the reason that @what says. */
static void lose_all(struct coresight_stream *s, uint64_t offset, enum rvt_reason reason,
		     const char *what)
{
	struct rvt_event event = { .type = RVT_EVENT_LOST, .reason = reason, .offset = offset,
				   .detail = what };
	bool any = false, told = false;

	flush(s);
	for (unsigned int i = 0; i <= RVT_CORESIGHT_MAX_ID && !s->result; i++) {
		struct channel *channel = s->channels[i];

		if (!channel || !channel->inner)
			continue;
		any = true;
		/* what had no bytes since the last loss has no more to lose */
		if (!channel->fresh)
			continue;
		s->loss_told = told;
		told = true;
		s->result = lose(channel, offset, reason, what);
	}
	s->loss_told = false;
	s->amid = true;
	if (!any && s->ops.event && !s->result)
		s->result = s->ops.event(s->ops.ctx, &event);
}

static void on_damage(struct coresight_stream *s)
{
	const struct rvt_coresight_damage *damage = &s->frames.damage;

	s->errors++;
	lose_all(s, damage->offset, RVT_REASON_BAD_PACKET, damage->what);
}

/* Before any trace it says nothing. */
static void on_barrier(struct coresight_stream *s)
{
	s->amid = true;
	for (unsigned int i = 0; i <= RVT_CORESIGHT_MAX_ID; i++) {
		if (!s->channels[i])
			continue;
		s->lost_reports++;
		lose_all(s, s->frames.at, RVT_REASON_TRUNCATED,
			 "trace is missing here, says a barrier");
		return;
	}
}

static void read_all(struct coresight_stream *s)
{
	while (!s->result) {
		switch (rvt_coresight_frames_next(&s->frames)) {
		case RVT_CORESIGHT_READ_DATA:
			on_data(s);
			break;
		case RVT_CORESIGHT_READ_BARRIER:
			on_barrier(s);
			break;
		case RVT_CORESIGHT_READ_DAMAGE:
			on_damage(s);
			break;
		case RVT_CORESIGHT_READ_MORE:
			return;
		}
	}
}

/* ---- the stream ---- */

int rvt_coresight_stream_create(const struct rvt_params *params, const struct rvt_stream_ops *ops,
				int (*create)(const struct rvt_params *params,
					      const struct rvt_stream_ops *ops,
					      struct rvt_stream **stream),
				struct rvt_stream **stream)
{
	struct rvt_params inner = *params;
	struct coresight_stream *s;
	int ret;

	if (!ops->flow || params->atid > RVT_CORESIGHT_MAX_ID)
		return -EINVAL;
	/* whether there is a decoder for them */
	inner.framing = RVT_FRAMING_NONE;
	ret = create(&inner, ops, stream);
	if (ret)
		return ret;
	(*stream)->protocol->destroy(*stream);
	*stream = NULL;
	s = calloc(1, sizeof(*s));
	if (!s)
		return -ENOMEM;
	s->params = *params;
	s->ops = *ops;
	s->create = create;
	rvt_coresight_frames_init(&s->frames);
	*stream = &s->base;
	return 0;
}

static void destroy(struct rvt_stream *stream)
{
	struct coresight_stream *s = (struct coresight_stream *)stream;

	for (unsigned int i = 0; i < RVT_CORESIGHT_N_IDS; i++)
		close_channel(s->channels[i]);
	free(s);
}

/*
 * Where bytes are cut into groups does not depend on how they come. Who may pause does so behind a
 * frame.
 */
static size_t group_bytes(const struct coresight_stream *s, size_t len, uint64_t offset)
{
	size_t size = s->base.may_pause ? RVT_CORESIGHT_FRAME_BYTES : GROUP;
	size_t left = size - offset % size;

	return len < left ? len : left;
}

static int feed(struct rvt_stream *stream, const void *bytes, size_t len, uint64_t offset)
{
	struct coresight_stream *s = (struct coresight_stream *)stream;

	while (len && !s->result && !s->base.paused) {
		size_t n = group_bytes(s, len, offset);

		rvt_coresight_frames_feed(&s->frames, bytes, n, offset);
		read_all(s);
		flush(s);
		bytes = (const uint8_t *)bytes + n;
		offset += n;
		len -= n;
	}
	s->unused = len;
	return s->result;
}

/* ---- message by message ---- */

static int collect(struct rvt_stream *stream, const void *bytes, size_t len, uint64_t offset)
{
	struct coresight_stream *s = (struct coresight_stream *)stream;

	rvt_coresight_frames_feed(&s->frames, bytes, len, offset);
	read_all(s);
	return s->result;
}

/* The id whose next byte came first. NULL: nothing is collected. */
static struct channel *first_channel(const struct coresight_stream *s, unsigned int *n)
{
	struct channel *first = NULL;

	*n = 0;
	for (unsigned int i = 0; i <= RVT_CORESIGHT_MAX_ID; i++) {
		struct channel *channel = s->channels[i];

		if (!channel || !channel->len)
			continue;
		++*n;
		if (!first || find_offset(channel, channel->count) <
			      find_offset(first, first->count))
			first = channel;
	}
	return first;
}

static int step(struct rvt_stream *stream, bool *more)
{
	struct coresight_stream *s = (struct coresight_stream *)stream;
	unsigned int n;
	struct channel *channel = first_channel(s, &n);

	*more = false;
	if (!channel || s->result)
		return s->result;
	decode(channel, channel->inner->protocol->message(&channel->params,
							  channel->bytes + channel->done,
							  channel->len - channel->done));
	*more = !s->result && (n > 1 || channel->len);
	return s->result;
}

static size_t unused(const struct rvt_stream *stream)
{
	return ((const struct coresight_stream *)stream)->unused;
}

static int lost(struct rvt_stream *stream, uint64_t offset, enum rvt_reason reason,
		const char *what, bool boundary)
{
	struct coresight_stream *s = (struct coresight_stream *)stream;

	if (s->result)
		return s->result;
	s->lost_reports++;
	rvt_coresight_frames_lost(&s->frames, boundary);
	lose_all(s, offset, reason, what);
	return s->result;
}

static int finish(struct rvt_stream *stream)
{
	struct coresight_stream *s = (struct coresight_stream *)stream;

	if (s->result)
		return s->result;
	rvt_coresight_frames_finish(&s->frames);
	read_all(s);
	flush(s);
	for (unsigned int i = 0; i <= RVT_CORESIGHT_MAX_ID && !s->result; i++) {
		struct channel *channel = s->channels[i];

		if (!channel || !channel->inner)
			continue;
		set_offsets(channel, &channel->map);
		s->result = channel->inner->protocol->finish(channel->inner);
		set_offsets(channel, NULL);
	}
	return s->result;
}

static size_t message(const struct rvt_params *params, const uint8_t *bytes, size_t len)
{
	(void)params;
	(void)bytes;
	return len < RVT_CORESIGHT_FRAME_BYTES ? len : RVT_CORESIGHT_FRAME_BYTES;
}

/* ---- what was counted ---- */

static void add_stats(struct rvt_stream_stats *sum, const struct channel *channel)
{
	struct rvt_stream_stats stats = channel->inner->stats;

	stats.bytes = 0;	/* they are the frames', and counted there */
	stats.lost_reports -= channel->n_lost;
	rvt_stream_stats_add(sum, &stats);
}

static void update_stats(struct rvt_stream *stream)
{
	struct coresight_stream *s = (struct coresight_stream *)stream;

	stream->stats = (struct rvt_stream_stats){
		.bytes = stream->stats.bytes, .errors = s->errors, .lost_reports = s->lost_reports,
		.idle_bytes = s->frames.idle_bytes, .skipped_bytes = s->frames.skipped_bytes };
	for (unsigned int i = 0; i <= RVT_CORESIGHT_MAX_ID; i++) {
		const struct channel *channel = s->channels[i];

		if (!channel || !channel->inner)
			continue;
		if (channel->inner->protocol->update_stats)
			channel->inner->protocol->update_stats(channel->inner);
		add_stats(&stream->stats, channel);
	}
}

/* Never cut: no frame tells where messages of all ids begin. */
const struct rvt_protocol_ops rvt_coresight_protocol = {
	.destroy = destroy,
	.feed = feed,
	.collect = collect,
	.step = step,
	.unused = unused,
	.lost = lost,
	.finish = finish,
	.message = message,
	.concerns = concerns,
	.update_stats = update_stats,
};
