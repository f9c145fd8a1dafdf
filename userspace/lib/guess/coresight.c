// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* What CoreSight frames have of the source with most bytes. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "coresight/frames.h"
#include "guess/guess.h"

static uint64_t read_frames(struct rvt_coresight_frames *frames, const uint8_t *bytes, size_t len,
			    uint64_t by_id[RVT_CORESIGHT_N_IDS], unsigned int id, uint8_t *out)
{
	enum rvt_coresight_read read;
	uint64_t used = 0;

	rvt_coresight_frames_init(frames);
	rvt_coresight_frames_feed(frames, bytes, len, 0);
	while ((read = rvt_coresight_frames_next(frames)) != RVT_CORESIGHT_READ_MORE) {
		if (read != RVT_CORESIGHT_READ_DATA)
			continue;
		by_id[frames->id] += frames->len;
		if (frames->id == id && out) {
			memcpy(out + used, frames->bytes, frames->len);
			used += frames->len;
		}
	}
	return used;
}

int rvt_guess_deframe(const uint8_t *bytes, size_t len, uint8_t **out, size_t *out_len)
{
	struct rvt_coresight_frames *frames = malloc(sizeof(*frames));
	uint64_t by_id[RVT_CORESIGHT_N_IDS] = { 0 };
	unsigned int id = 0;

	*out = malloc(len + 1);
	*out_len = 0;
	if (!frames || !*out) {
		free(frames);
		free(*out);
		*out = NULL;
		return -ENOMEM;
	}
	read_frames(frames, bytes, len, by_id, 0, NULL);
	for (unsigned int i = 1; i < RVT_CORESIGHT_N_IDS; i++)
		if (by_id[i] > by_id[id])
			id = i;
	if (by_id[id])
		*out_len = read_frames(frames, bytes, len, by_id, id, *out);
	free(frames);
	return 0;
}
