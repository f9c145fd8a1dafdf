/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* The formatter of a CoreSight sink. */
#include <stdbool.h>
#include <string.h>
#include "formatter.h"

/* Repeats the id after so many frames, for readers that begin anywhere. */
#define REPEAT_FRAMES 8
#define LAST (FORMATTER_FRAME - 2)

void formatter_reset(struct formatter *f)
{
	memset(f->frame, 0, sizeof(f->frame));
	f->at = f->frames = f->queued = 0;
	f->id = -1;
}

/*
 * Places two bytes into the frame; behind the last even byte, the byte with the low bits of all
 * even ones.
 */
static void place(struct formatter *f, uint8_t even, unsigned int bit, uint8_t odd)
{
	f->frame[f->at] = even;
	if (f->at < LAST)
		f->frame[f->at + 1] = odd;
	f->frame[FORMATTER_FRAME - 1] |= (uint8_t)(bit << f->at / 2);
	f->at += 2;
	if (f->at < FORMATTER_FRAME)
		return;
	f->out(f->ctx, f->frame);
	memset(f->frame, 0, sizeof(f->frame));
	f->at = 0;
	f->frames++;
}

static void place_id(struct formatter *f, uint8_t id, bool later, uint8_t odd)
{
	f->id = id;
	f->frames = 0;
	place(f, (uint8_t)(id << 1 | 1), later, odd);
}

/* Places queued bytes, as many as fit into the next two. */
static void place_pair(struct formatter *f)
{
	const uint8_t id = f->queue[0].id, byte = f->queue[0].byte;
	const uint8_t next = f->queued == 2 ? f->queue[1].id : 0;
	const bool last = f->at == LAST;
	unsigned int n = 1;

	if (id != f->id || (!f->at && f->frames >= REPEAT_FRAMES)) {
		n = !last;
		place_id(f, id, false, byte);
	} else if (last) {
		place(f, byte & 0xfe, byte & 1, 0);
	} else if (next != id) {
		/* the odd byte still has the old id */
		place_id(f, next, true, byte);
	} else {
		n = 2;
		place(f, byte & 0xfe, byte & 1, f->queue[1].byte);
	}
	f->queued -= n;
	f->queue[0] = f->queue[n & 1];
}

void formatter_put(struct formatter *f, uint8_t id, uint8_t byte)
{
	f->queue[f->queued].id = id;
	f->queue[f->queued++].byte = byte;
	while (f->queued == 2)
		place_pair(f);
}

void formatter_flush(struct formatter *f)
{
	while (f->queued)
		place_pair(f);
	if (f->at && f->id)
		place_id(f, 0, false, 0);
	while (f->at)
		place(f, 0, 0, 0);
}
