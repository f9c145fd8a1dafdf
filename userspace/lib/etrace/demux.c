// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * E-Trace streams: framing, sources, damage.
 */
#include <errno.h>
#include <stdlib.h>
#include <stream-ops.h>
#include "flow/control.h"
#include <etrace/decoder-state.h>
#include <etrace/frame.h>

#define BOUNDARY_FRAMES 64

struct etrace_stream {
	struct rvt_stream base;
	struct rvt_stream_ops ops;
	struct rvt_etrace_codec codec;		/* parameters as given; of sources not seen yet */
	struct rvt_etrace_frames frames;
	unsigned int n_sources;
	struct rvt_etrace_decoder **sources;	/* by srcID; NULL: not seen */
	struct rvt_etrace_decoder *recent;	/* whose packets may be replayed; or NULL */
	struct rvt_etrace_decoder *held;	/* whose packet waits: struct held_sync; or NULL */
	size_t unused;				/* bytes that were fed last */
	struct rvt_etrace_slice slice;
};

static unsigned int frame_src(const struct etrace_stream *s, const uint8_t *bytes)
{
	unsigned int src = 0;

	if (s->n_sources > 1)
		src = bytes[1];
	if (s->n_sources > 256)
		src |= bytes[2] << 8;
	return src & (s->n_sources - 1);
}

static bool frame_valid(void *ctx, const uint8_t *bytes, unsigned int len)
{
	const struct etrace_stream *s = ctx;
	const struct rvt_etrace_decoder *dec = s->sources[frame_src(s, bytes)];
	struct rvt_etrace_msg msg;

	return !rvt_etrace_parse(dec ? &dec->codec : &s->codec, bytes, len, &msg);
}

static int create(const struct rvt_params *params, const struct rvt_stream_ops *ops,
		  struct rvt_stream **stream)
{
	struct etrace_stream *s = calloc(1, sizeof(*s));
	int ret;

	if (!s)
		return -ENOMEM;
	ret = rvt_etrace_codec_init(&s->codec, params);
	if (ret)
		goto err_out;
	s->ops = *ops;
	s->slice.to = UINT64_MAX;
	s->n_sources = 1u << params->srcid_bits;
	s->sources = calloc(s->n_sources, sizeof(*s->sources));
	if (!s->sources) {
		ret = -ENOMEM;
		goto err_out;
	}
	rvt_etrace_frames_init(&s->frames, params, frame_valid, s);
	*stream = &s->base;
	return 0;
err_out:
	free(s);
	return ret;
}

static void destroy(struct rvt_stream *stream)
{
	struct etrace_stream *s = (struct etrace_stream *)stream;

	for (unsigned int i = 0; i < s->n_sources; i++) {
		if (!s->sources[i])
			continue;
		rvt_etrace_decoder_fini(s->sources[i]);
		free(s->sources[i]);
	}
	free(s->sources);
	free(s);
}

static int find_source(struct etrace_stream *s, unsigned int src, struct rvt_etrace_decoder **dec)
{
	struct rvt_flow *flow;
	int ret;

	*dec = s->sources[src];
	if (*dec)
		return 0;
	*dec = malloc(sizeof(**dec));
	if (!*dec)
		return -ENOMEM;
	flow = s->ops.flow ? s->ops.flow(s->ops.ctx, src) : NULL;
	ret = rvt_etrace_decoder_init(*dec, &s->codec.params, flow, &s->base.stats);
	if (ret) {
		rvt_etrace_decoder_fini(*dec);
		free(*dec);
		return ret;
	}
	(*dec)->stream = &s->base;
	(*dec)->wants_accesses = s->ops.accesses;
	s->sources[src] = *dec;
	rvt_etrace_slice_source(&s->slice, *dec, s->frames.offset);
	return 0;
}

static bool is_decoded(const struct rvt_etrace_decoder *dec)
{
	return dec->flow && dec->progress == RVT_ETRACE_ACTIVE;
}

static int on_bad(struct etrace_stream *s, struct rvt_etrace_decoder *dec, const char *what)
{
	s->base.stats.errors += rvt_etrace_in_slice(&s->slice, s->frames.offset);
	rvt_etrace_frames_bad(&s->frames);
	dec->offset = s->frames.offset;
	return is_decoded(dec) ? rvt_etrace_decoder_gap(dec, RVT_REASON_BAD_PACKET, what) : 0;
}

static int decode_packet(struct etrace_stream *s, struct rvt_etrace_decoder *dec,
			 const struct rvt_etrace_msg *msg)
{
	const struct rvt_stream_stats before = s->base.stats;
	const bool left = dec->left;
	bool skip;
	int ret = rvt_etrace_slice_skip(&s->slice, dec, msg, &skip);

	if (ret || skip) {
		s->slice.done = msg->offset >= s->slice.to && !s->slice.n_active;
		rvt_stream_tell_behind(&s->base);
		return ret;
	}
	rvt_etrace_memo_begin(dec, s->frames.bytes, msg);
	ret = rvt_etrace_decoder_packet(dec, msg);
	if (rvt_etrace_memo_end(dec))
		s->recent = dec;
	s->held = dec->held.what ? dec : NULL;
	rvt_etrace_slice_advance(&s->slice, dec, msg);
	/* the next slice counts it */
	if (left)
		rvt_stream_count_rest(&before, &s->base.stats);
	if (dec->progress == RVT_ETRACE_DONE)
		s->recent = NULL;
	s->slice.done = msg->offset >= s->slice.to && !s->slice.n_active;
	rvt_stream_tell_behind(&s->base);
	return ret;
}

/* A slice has those that come from its source's first synchronisation to the next slice's. */
static int on_data(struct etrace_stream *s, struct rvt_etrace_decoder *dec,
		   const struct rvt_etrace_msg *msg)
{
	const struct rvt_stream_stats before = s->base.stats;
	int ret;

	if (!dec->wants_accesses || !is_decoded(dec))
		return 0;
	ret = rvt_etrace_decoder_data(dec, msg);
	if (dec->left)
		rvt_stream_count_rest(&before, &s->base.stats);
	return ret;
}

static int on_frame(struct etrace_stream *s)
{
	struct rvt_etrace_decoder *dec;
	struct rvt_etrace_msg msg;
	const char *what;
	int ret = find_source(s, frame_src(s, s->frames.bytes), &dec);

	s->recent = NULL;
	if (ret)
		return ret;
	what = rvt_etrace_parse(&dec->codec, s->frames.bytes, s->frames.len_bytes, &msg);
	if (what)
		return on_bad(s, dec, what);
	s->base.stats.messages++;
	if (!msg.present) {
		s->base.stats.vendor_messages++;
		return 0;
	}
	msg.offset = s->frames.offset;
	if (rvt_etrace_is_data(&msg))
		return on_data(s, dec, &msg);
	if (dec->flow)
		return decode_packet(s, dec, &msg);
	/* What packets look like must be known even of a source that is skipped. */
	if (msg.kind == RVT_ETRACE_SYNC_SUPPORT)
		rvt_etrace_codec_support(&dec->codec, &msg);
	return 0;
}

/* Loses the flow of every source. */
static int lose_all(struct etrace_stream *s, uint64_t offset, enum rvt_reason reason,
		    const char *what, bool *told)
{
	int ret = 0;

	for (unsigned int i = 0; i < s->n_sources && !ret; i++) {
		struct rvt_etrace_decoder *dec = s->sources[i];

		if (!dec || !is_decoded(dec))
			continue;
		*told |= dec->started;
		dec->offset = offset;
		ret = rvt_etrace_decoder_gap(dec, reason, what);
	}
	return ret;
}

/*
 * Whether damage at @offset that was told to no source of this slice is this slice's to tell.
 * Sources may be in other slices there: of several it is not known whether they had flow to lose.
 * If there is one it is in the slice before until it begins in this one, and when it has ended in
 * the next.
 */
static bool tells(struct etrace_stream *s, uint64_t offset)
{
	if (!s->slice.from && offset < s->slice.to)
		return true;
	s->base.unsure |= s->n_sources > 1;
	s->base.silent |= s->slice.from && !s->slice.began;
	return (!s->slice.from || s->slice.began) && !s->slice.ended;
}

/* Damage that no source was told of is one of the stream. */
static int on_damage(struct etrace_stream *s)
{
	const struct rvt_etrace_damage *damage = &s->frames.damage;
	struct rvt_event event = {
		.type = RVT_EVENT_LOST, .reason = RVT_REASON_BAD_PACKET,
		.offset = damage->offset, .detail = damage->what,
	};
	bool told = false;
	int ret;

	s->recent = NULL;
	s->base.stats.errors += rvt_etrace_in_slice(&s->slice, damage->offset);
	ret = lose_all(s, damage->offset, RVT_REASON_BAD_PACKET, damage->what, &told);
	if (ret || told || !tells(s, damage->offset) || !s->ops.event)
		return ret;
	return s->ops.event(s->ops.ctx, &event);
}

static int take_held(struct etrace_stream *s)
{
	struct rvt_etrace_decoder *dec = s->held;

	s->held = NULL;
	return dec ? rvt_etrace_take_held(dec) : 0;
}

static int drain(struct etrace_stream *s)
{
	int ret = take_held(s);

	while (!ret && !s->slice.done && !s->base.paused) {
		if (s->recent)
			ret = rvt_etrace_replay(s->recent, &s->frames);
		if (ret || s->base.paused)
			break;
		switch (rvt_etrace_frames_next(&s->frames)) {
		case RVT_ETRACE_READ_FRAME:
			ret = on_frame(s);
			break;
		case RVT_ETRACE_READ_DAMAGE:
			ret = on_damage(s);
			break;
		case RVT_ETRACE_READ_MORE:
			/* nothing is left for this slice to wait for */
			s->slice.done = s->slice.from && !s->slice.n_active &&
				       s->frames.pos_offset >= s->slice.to &&
				       !s->frames.carry_len && !s->frames.hunting;
			return 0;
		}
	}
	return ret;
}

/* -ECANCELED stands for a positive result of a flow's sink: ask the flow for it. */
static int result_of(struct etrace_stream *s, int ret)
{
	for (unsigned int i = 0; i < s->n_sources && ret == -ECANCELED; i++)
		if (s->sources[i] && s->sources[i]->flow)
			ret = rvt_flow_flush(s->sources[i]->flow) ?: ret;
	return ret;
}

static int feed(struct rvt_stream *stream, const void *bytes, size_t len, uint64_t offset)
{
	struct etrace_stream *s = (struct etrace_stream *)stream;

	int ret;

	rvt_etrace_frames_feed(&s->frames, bytes, len, offset);
	ret = drain(s);
	/* The caller feeds them again. */
	s->unused = s->base.paused ? s->frames.end - s->frames.pos : 0;
	s->frames.end -= s->unused;
	return result_of(s, ret);
}

static size_t unused(const struct rvt_stream *stream)
{
	return ((const struct etrace_stream *)stream)->unused;
}

/* No slice needs anything from before @offset. */
static void slice_lost(struct etrace_stream *s, uint64_t offset)
{
	if (offset >= s->slice.to) {
		s->slice.n_active = 0;
		s->slice.done = true;
		return;
	}
	s->slice.from = 0;
	for (unsigned int i = 0; i < s->n_sources; i++) {
		struct rvt_etrace_decoder *dec = s->sources[i];

		if (dec && dec->flow && dec->progress == RVT_ETRACE_WAITING) {
			rvt_flow_note_source(dec->flow, true);
			dec->progress = RVT_ETRACE_ACTIVE;
			s->slice.n_active++;
		}
	}
}

static int lost(struct rvt_stream *stream, uint64_t offset, enum rvt_reason reason,
		const char *what, bool boundary)
{
	struct etrace_stream *s = (struct etrace_stream *)stream;
	bool told = false;
	int ret;

	/* what waits for more to be sure of boundaries gets no more */
	rvt_etrace_frames_cut(&s->frames);
	ret = drain(s);
	if (ret)
		return result_of(s, ret);
	s->base.stats.lost_reports += rvt_etrace_in_slice(&s->slice, offset);
	rvt_etrace_frames_lost(&s->frames, boundary);
	s->recent = NULL;
	ret = lose_all(s, offset, reason, what ? what : "bytes are missing", &told);
	slice_lost(s, offset);
	return result_of(s, ret);
}

static int finish_source(struct etrace_stream *s, struct rvt_etrace_decoder *dec)
{
	const struct rvt_stream_stats before = s->base.stats;
	int ret = is_decoded(dec) ? rvt_etrace_decoder_finish(dec) : rvt_flow_flush(dec->flow);

	if (dec->left)
		rvt_stream_count_rest(&before, &s->base.stats);
	return ret;
}

static int finish(struct rvt_stream *stream)
{
	struct etrace_stream *s = (struct etrace_stream *)stream;
	int ret;

	if (!s->slice.done)
		rvt_etrace_frames_finish(&s->frames);
	ret = drain(s);
	for (unsigned int i = 0; i < s->n_sources && !ret; i++)
		if (s->sources[i] && s->sources[i]->flow)
			ret = finish_source(s, s->sources[i]);
	return result_of(s, ret);
}

/* ---- slices ---- */

static int slice(struct rvt_stream *stream, uint64_t from, uint64_t to)
{
	struct etrace_stream *s = (struct etrace_stream *)stream;

	s->slice.from = from;
	s->slice.to = to;
	s->slice.done = false;
	return 0;
}

static bool slice_done(const struct rvt_stream *stream)
{
	return ((const struct etrace_stream *)stream)->slice.done;
}

static bool slice_carries(const struct rvt_stream *stream)
{
	const struct etrace_stream *s = (const struct etrace_stream *)stream;

	/* A request may wait for its data longer than to the next synchronisation. */
	if (s->frames.hunting || s->frames.carry_len ||
	    (s->ops.accesses && s->codec.params.lrid_width_p) ||
	    rvt_etrace_slice_carries(&s->codec, &s->codec))
		return true;
	for (unsigned int i = 0; i < s->n_sources; i++)
		if (s->sources[i] && rvt_etrace_slice_carries(&s->sources[i]->codec, &s->codec))
			return true;
	return false;
}

/* If packets are damaged that may be wrong: the slice before notices (slice_carries()). */
static ssize_t boundary(const struct rvt_params *params, const void *bytes, size_t len)
{
	struct rvt_stream *stream;
	ssize_t found;

	if (create(params, &(struct rvt_stream_ops){ .size = sizeof(struct rvt_stream_ops),
						     .ctx = NULL }, &stream))
		return -1;
	found = rvt_etrace_frames_boundary(&((struct etrace_stream *)stream)->frames, bytes, len,
					   BOUNDARY_FRAMES);
	destroy(stream);
	return found;
}

/* Or all that is idle. */
static size_t message(const struct rvt_params *params, const uint8_t *bytes, size_t len)
{
	size_t n = rvt_etrace_frame_bytes(params, bytes[0]), nulls = 0;

	while (nulls < len && rvt_etrace_is_null(bytes[nulls]))
		nulls++;
	return nulls ? nulls : n < len ? n : len;
}

static void update_stats(struct rvt_stream *stream)
{
	struct etrace_stream *s = (struct etrace_stream *)stream;

	stream->stats.idle_bytes = s->frames.idle_bytes;
	stream->stats.skipped_bytes = s->frames.skipped_bytes;
}

const struct rvt_protocol_ops rvt_etrace_protocol = {
	.create = create,
	.destroy = destroy,
	.feed = feed,
	.unused = unused,
	.lost = lost,
	.finish = finish,
	.slice = slice,
	.slice_done = slice_done,
	.slice_carries = slice_carries,
	.boundary = boundary,
	.message = message,
	.update_stats = update_stats,
};
