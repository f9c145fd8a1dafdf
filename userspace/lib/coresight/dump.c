// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Dumps of what comes in CoreSight frames: messages of all ids, in the order of their ends. */
#include <errno.h>
#include <stdlib.h>
#include "coresight/coresight.h"
#include "coresight/frames.h"

struct coresight_dump {
	struct rvt_dump base;
	struct rvt_params params;
	unsigned int flags;
	FILE *out;
	int (*create)(const struct rvt_params *params, unsigned int flags, FILE *out,
		      struct rvt_dump **dump);
	struct rvt_coresight_frames frames;
	struct rvt_dump *ids[RVT_CORESIGHT_N_IDS];	/* NULL: not seen */
	bool amid;	/* an id's bytes may begin amid a message */
	uint64_t damaged;
};

int rvt_coresight_dump_create(const struct rvt_params *params, unsigned int flags, FILE *out,
			      int (*create)(const struct rvt_params *params, unsigned int flags,
					    FILE *out, struct rvt_dump **dump),
			      struct rvt_dump **result)
{
	struct rvt_dump *first;
	struct coresight_dump *dump;
	int ret;

	if (params->atid > RVT_CORESIGHT_MAX_ID)
		return -EINVAL;
	dump = calloc(1, sizeof(*dump));
	if (!dump)
		return -ENOMEM;
	dump->params = *params;
	dump->params.framing = RVT_FRAMING_NONE;
	dump->flags = flags;
	dump->out = out;
	dump->create = create;
	/* whether there is a dump for them */
	ret = create(&dump->params, flags, out, &first);
	if (ret) {
		free(dump);
		return ret;
	}
	first->ops->destroy(first);
	rvt_coresight_frames_init(&dump->frames);
	*result = &dump->base;
	return 0;
}

static void dump_destroy(struct rvt_dump *base)
{
	struct coresight_dump *dump = (struct coresight_dump *)base;

	for (unsigned int i = 0; i < RVT_CORESIGHT_N_IDS; i++)
		if (dump->ids[i])
			dump->ids[i]->ops->destroy(dump->ids[i]);
	free(dump);
}

/* NULL: not wanted, or out of memory. */
static struct rvt_dump *get_dump(struct coresight_dump *dump, unsigned int id)
{
	if (dump->ids[id] || (dump->params.atid && dump->params.atid != id) ||
	    dump->create(&dump->params, dump->flags, dump->out, &dump->ids[id]))
		return dump->ids[id];
	dump->ids[id]->atid = id;
	if (dump->amid)
		dump->ids[id]->ops->lost(dump->ids[id], false);
	return dump->ids[id];
}

/* Bytes that lie side by side. */
static void feed_segment(struct rvt_dump *inner, const struct rvt_coresight_segment *segment,
			 const uint8_t *bytes, uint32_t len)
{
	for (uint32_t at = 0, n; at < len; at += n) {
		n = rvt_coresight_row(segment->layout, at);
		if (n > len - at)
			n = len - at;
		inner->ops->feed(inner, bytes + at, n,
				 rvt_coresight_offset(segment->offset, segment->layout, at));
	}
}

static void on_data(struct coresight_dump *dump)
{
	const struct rvt_coresight_frames *frames = &dump->frames;
	struct rvt_dump *inner = get_dump(dump, frames->id);

	for (uint32_t i = 0; inner && i < frames->n_segments; i++) {
		const struct rvt_coresight_segment *segment = &frames->segments[i];
		uint32_t end = i + 1 < frames->n_segments ? segment[1].index : frames->len;

		feed_segment(inner, segment, frames->bytes + segment->index, end - segment->index);
	}
}

static void lose_all(struct coresight_dump *dump)
{
	dump->amid = true;
	for (unsigned int i = 0; i < RVT_CORESIGHT_N_IDS; i++)
		if (dump->ids[i])
			dump->ids[i]->ops->lost(dump->ids[i], false);
}

static void on_damage(struct coresight_dump *dump)
{
	const struct rvt_coresight_damage *d = &dump->frames.damage;

	dump->damaged++;
	dump_damage(dump->out, dump->flags & RVT_DUMP_JSON, d->offset, d->len_bytes, d->what);
	lose_all(dump);
}

static void read_all(struct coresight_dump *dump)
{
	for (;;) {
		switch (rvt_coresight_frames_next(&dump->frames)) {
		case RVT_CORESIGHT_READ_DATA:
			on_data(dump);
			break;
		case RVT_CORESIGHT_READ_BARRIER:
			lose_all(dump);
			break;
		case RVT_CORESIGHT_READ_DAMAGE:
			on_damage(dump);
			break;
		case RVT_CORESIGHT_READ_MORE:
			return;
		}
	}
}

static void dump_feed(struct rvt_dump *base, const void *bytes, size_t len, uint64_t offset)
{
	struct coresight_dump *dump = (struct coresight_dump *)base;

	rvt_coresight_frames_feed(&dump->frames, bytes, len, offset);
	read_all(dump);
}

static void dump_lost(struct rvt_dump *base, bool boundary)
{
	struct coresight_dump *dump = (struct coresight_dump *)base;

	rvt_coresight_frames_lost(&dump->frames, boundary);
	lose_all(dump);
}

static void dump_finish(struct rvt_dump *base)
{
	struct coresight_dump *dump = (struct coresight_dump *)base;

	rvt_coresight_frames_finish(&dump->frames);
	read_all(dump);
	for (unsigned int i = 0; i < RVT_CORESIGHT_N_IDS; i++)
		if (dump->ids[i])
			dump->ids[i]->ops->finish(dump->ids[i]);
}

static void dump_stats(const struct rvt_dump *base, struct rvt_dump_stats *stats)
{
	const struct coresight_dump *dump = (const struct coresight_dump *)base;

	*stats = (struct rvt_dump_stats){ .damaged = dump->damaged,
					  .idle_bytes = dump->frames.idle_bytes,
					  .skipped_bytes = dump->frames.skipped_bytes };
	for (unsigned int i = 0; i < RVT_CORESIGHT_N_IDS; i++) {
		struct rvt_dump_stats one;

		if (!dump->ids[i])
			continue;
		dump->ids[i]->ops->stats(dump->ids[i], &one);
		rvt_dump_stats_add(stats, &one);
	}
}

const struct rvt_dump_ops rvt_coresight_dump = {
	.destroy = dump_destroy,
	.feed = dump_feed,
	.lost = dump_lost,
	.finish = dump_finish,
	.stats = dump_stats,
};
