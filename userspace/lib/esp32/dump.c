// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Packets as the standard encapsulation has them, and what their index tells. */
#include <errno.h>
#include <stdlib.h>
#include "esp32/esp32.h"
#include "esp32/packets.h"

struct esp32_dump {
	struct rvt_dump base;
	struct rvt_esp32_packets packets;
	struct rvt_dump *inner;
	FILE *out;
	bool json;
	uint64_t damaged;
};

int rvt_esp32_dump_create(const struct rvt_params *params, unsigned int flags, FILE *out,
			  int (*create)(const struct rvt_params *params, unsigned int flags,
					FILE *out, struct rvt_dump **dump),
			  struct rvt_dump **result)
{
	struct rvt_params inner = *params;
	struct esp32_dump *dump;
	int ret;

	if (params->protocol != RVT_PROTOCOL_ETRACE)
		return -EINVAL;
	dump = calloc(1, sizeof(*dump));
	if (!dump)
		return -ENOMEM;
	inner.framing = RVT_FRAMING_NONE;
	ret = create(&inner, flags, out, &dump->inner);
	if (ret) {
		free(dump);
		return ret;
	}
	dump->out = out;
	dump->json = flags & RVT_DUMP_JSON;
	rvt_esp32_packets_init(&dump->packets);
	*result = &dump->base;
	return 0;
}

static void dump_destroy(struct rvt_dump *base)
{
	struct esp32_dump *dump = (struct esp32_dump *)base;

	rvt_esp32_packets_fini(&dump->packets);
	dump->inner->ops->destroy(dump->inner);
	free(dump);
}

static void on_damage(struct esp32_dump *dump, const char *what)
{
	dump->damaged++;
	dump_damage(dump->out, dump->json, dump->packets.offset, dump->packets.len, what);
	dump->inner->ops->lost(dump->inner, true);
}

static void on_data(struct esp32_dump *dump)
{
	const struct rvt_esp32_packets *p = &dump->packets;

	for (size_t i = 0; i < p->n_segments; i++) {
		const struct rvt_esp32_segment *segment = &p->segments[i];
		size_t end = i + 1 < p->n_segments ? segment[1].index : p->len;

		dump->inner->ops->feed(dump->inner, p->bytes + segment->index, end - segment->index,
				       segment->offset);
	}
}

static void read_all(struct esp32_dump *dump)
{
	for (;;) {
		switch (rvt_esp32_packets_next(&dump->packets)) {
		case RVT_ESP32_READ_DATA:
			on_data(dump);
			break;
		case RVT_ESP32_READ_LOST:
			on_damage(dump, RVT_ESP32_MISSING);
			break;
		case RVT_ESP32_READ_DAMAGE:
			on_damage(dump, RVT_ESP32_NO_PACKET);
			break;
		case RVT_ESP32_READ_MORE:
			return;
		}
	}
}

/* Out of memory: what there is no room for is not dumped. */
static void dump_feed(struct rvt_dump *base, const void *bytes, size_t len, uint64_t offset)
{
	struct esp32_dump *dump = (struct esp32_dump *)base;

	if (!rvt_esp32_packets_feed(&dump->packets, bytes, len, offset))
		read_all(dump);
}

static void dump_lost(struct rvt_dump *base, bool boundary)
{
	struct esp32_dump *dump = (struct esp32_dump *)base;

	(void)boundary;
	rvt_esp32_packets_lost(&dump->packets);
	dump->inner->ops->lost(dump->inner, true);
}

static void dump_finish(struct rvt_dump *base)
{
	struct esp32_dump *dump = (struct esp32_dump *)base;

	rvt_esp32_packets_finish(&dump->packets);
	read_all(dump);
	dump->inner->ops->finish(dump->inner);
}

static void dump_stats(const struct rvt_dump *base, struct rvt_dump_stats *stats)
{
	const struct esp32_dump *dump = (const struct esp32_dump *)base;

	dump->inner->ops->stats(dump->inner, stats);
	stats->damaged += dump->damaged;
	stats->idle_bytes += dump->packets.idle_bytes;
	stats->skipped_bytes += dump->packets.skipped_bytes;
}

const struct rvt_dump_ops rvt_esp32_dump = {
	.destroy = dump_destroy,
	.feed = dump_feed,
	.lost = dump_lost,
	.finish = dump_finish,
	.stats = dump_stats,
};
