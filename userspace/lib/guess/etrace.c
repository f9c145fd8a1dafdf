// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* E-Trace packets that make no sense, whatever the code is. */
#include <errno.h>
#include <stdlib.h>
#include "etrace/frame.h"
#include "guess/guess.h"

#define MAX_SOURCES (1u << 16)

struct source {
	bool synced;
};

struct reading {
	const struct rvt_etrace_codec *codec;
	struct rvt_guess_reading *result;
	struct source *sources;		/* by srcID */
	uint8_t flow;			/* of the first */
	bool synced;			/* any of them */
};

static bool any_frame(void *ctx, const uint8_t *bytes, unsigned int len_bytes)
{
	struct rvt_etrace_msg msg;

	return !rvt_etrace_parse(ctx, bytes, len_bytes, &msg);
}

static bool is_wrong(struct reading *r, const struct rvt_etrace_msg *msg)
{
	const struct rvt_params *params = &r->codec->params;
	struct source *source = &r->sources[msg->src];

	if (params->type_bits && msg->type != rvt_etrace_type(params))
		return true;
	/* The flow is that of an encoder, and never changes. */
	if (r->result->messages == 1)
		r->flow = msg->flow;
	if (msg->flow != r->flow)
		return true;
	if (msg->kind == RVT_ETRACE_SYNC_START || msg->kind == RVT_ETRACE_SYNC_TRAP)
		r->synced = source->synced = true;
	return msg->kind != RVT_ETRACE_SYNC_SUPPORT && !source->synced;
}

static void look_at(struct reading *r, const struct rvt_etrace_frames *frames)
{
	struct rvt_etrace_msg msg;

	r->result->messages++;
	if (!rvt_etrace_parse(r->codec, frames->bytes, frames->len_bytes, &msg) &&
	    !is_wrong(r, &msg))
		return;
	r->result->wrong++;
	r->result->wrong_bytes += frames->len_bytes;
}

int rvt_guess_read_etrace(const struct rvt_params *params, const uint8_t *bytes, size_t len,
			  struct rvt_guess_reading *result)
{
	struct source *sources = calloc(MAX_SOURCES, sizeof(*sources));
	struct rvt_etrace_codec codec;
	struct reading r = { .codec = &codec, .result = result, .sources = sources };
	struct rvt_etrace_frames *frames = malloc(sizeof(*frames));
	enum rvt_etrace_read read;
	int ret = sources && frames ? rvt_etrace_codec_init(&codec, params) : -ENOMEM;

	*result = (struct rvt_guess_reading){ 0 };
	if (!ret) {
		rvt_etrace_frames_init(frames, params, any_frame, &codec);
		rvt_etrace_frames_feed(frames, bytes, len, 0);
		while ((read = rvt_etrace_frames_next(frames)) != RVT_ETRACE_READ_MORE) {
			if (read == RVT_ETRACE_READ_FRAME)
				look_at(&r, frames);
			else
				result->wrong++;
		}
		result->bytes = len - frames->idle_bytes;
		result->wrong_bytes += frames->skipped_bytes;
		if (!r.synced) {
			result->wrong = result->messages;
			result->wrong_bytes = result->bytes;
		}
	}
	free(frames);
	free(sources);
	return ret;
}
