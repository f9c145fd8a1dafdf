// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Decodes all of a hart's trace, and keeps the end of the flow in a ring buffer. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "crash/crash.h"

#define FIRST_ROOM 4096

struct decode {
	struct crash_tail *tail;
	struct rvt_flow *flow;
	unsigned int src, src_bits;
};

static int grow(struct crash_tail *tail)
{
	size_t room = tail->room ? 2 * tail->room : FIRST_ROOM;
	struct crash_entry *entries = calloc(room, sizeof(*entries));

	if (!entries)
		return -ENOMEM;
	for (size_t i = 0; i < tail->n; i++)
		entries[i] = *crash_tail_entry(tail, i);
	free(tail->entries);
	tail->entries = entries;
	tail->room = room;
	tail->begin = 0;
	return 0;
}

/* Drops entries that are older than wanted. */
static void drop(struct crash_tail *tail)
{
	while (tail->wanted && tail->n) {
		const struct crash_entry *oldest = crash_tail_entry(tail, 0);
		uint32_t count = oldest->block ? oldest->count : 0;

		if (tail->insns - count < tail->wanted)
			break;
		tail->insns -= count;
		tail->begin = (tail->begin + 1) % tail->room;
		tail->n--;
	}
}

static int add(struct crash_tail *tail, const struct crash_entry *entry)
{
	if (tail->n == tail->room && grow(tail))
		return -ENOMEM;
	tail->entries[(tail->begin + tail->n++) % tail->room] = *entry;
	if (entry->block) {
		tail->insns += entry->count;
		tail->total += entry->count;
		drop(tail);
	}
	return 0;
}

static int on_runs(void *ctx, const struct rvt_run *runs, size_t n)
{
	struct decode *decode = ctx;
	int err = 0;

	for (size_t i = 0; i < n && !err; i++) {
		const struct crash_entry entry = { .block = runs[i].block, .first = runs[i].first,
						   .count = runs[i].count };

		err = add(decode->tail, &entry);
	}
	return err;
}

static void note_loss(struct crash_loss *loss, const struct rvt_event *event)
{
	loss->n++;
	if (!loss->why && event->detail)
		loss->why = strdup(event->detail);
}

static int on_event(void *ctx, const struct rvt_event *event)
{
	struct decode *decode = ctx;
	struct crash_tail *tail = decode->tail;
	const struct crash_entry entry = {
		.type = event->type, .reason = event->reason, .pc = event->pc,
		.target = event->target, .offset = event->offset, .interrupt = event->interrupt,
	};

	if (event->type == RVT_EVENT_LOST) {
		/*
		 * the oldest data was overwritten: nothing is lost before the first synchronisation
		 */
		if (!tail->total) {
			note_loss(&tail->before, event);
			return 0;
		}
		note_loss(&tail->loss, event);
	} else if (event->type != RVT_EVENT_START && event->type != RVT_EVENT_STOP &&
		   event->type != RVT_EVENT_TRAP) {
		return 0;
	}
	return add(tail, &entry);
}

static struct rvt_flow *flow_of(void *ctx, unsigned int src)
{
	struct decode *decode = ctx;
	/* in frames, the id of a bridge is above SRC */
	const unsigned int mask = (1u << decode->src_bits) - 1;

	return (src & mask) == (decode->src & mask) ? decode->flow : NULL;
}

static int feed(struct rvt_stream *stream, const struct crash_hart *hart)
{
	int err = 0;

	/* the oldest byte is amid a message if the buffer has wrapped */
	if (hart->record.flags & RVTRACE_FLIGHT_F_WRAPPED)
		err = rvt_stream_lost(stream, 0, RVT_REASON_TRUNCATED, false);
	if (!err)
		err = rvt_stream_feed(stream, hart->trace, hart->len, 0);
	return err ? err : rvt_stream_finish(stream);
}

int crash_tail_decode(struct crash_tail *tail, const struct crash_hart *hart,
		      const struct rvt_params *params, struct rvt_space *space)
{
	struct decode decode = { .tail = tail, .src = hart->record.src,
				 .src_bits = rvt_stream_source_bits(params) };
	const struct rvt_flow_sink sink = { .size = sizeof(sink), .ctx = &decode, .runs = on_runs,
					    .event = on_event };
	const struct rvt_stream_ops ops = { .size = sizeof(ops), .ctx = &decode, .flow = flow_of,
					    .event = on_event };
	struct rvt_flow_config config = { .size = sizeof(config) };
	struct rvt_stream *stream = NULL;
	int err = rvt_stream_flow_config(params, &config);

	if (!err)
		err = rvt_flow_create(&config, &sink, &decode.flow);
	if (err)
		return err;
	rvt_flow_set_space(decode.flow, space);
	err = rvt_stream_create(params, &ops, &stream);
	if (!err)
		err = feed(stream, hart);
	rvt_stream_destroy(stream);
	rvt_flow_destroy(decode.flow);
	/* unless no flow follows */
	if (!tail->total) {
		tail->loss = tail->before;
		tail->before = (struct crash_loss){ 0 };
	}
	return err;
}

void crash_tail_free(struct crash_tail *tail)
{
	free(tail->entries);
	free(tail->before.why);
	free(tail->loss.why);
}
