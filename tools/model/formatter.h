/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The formatter of a CoreSight sink: makes frames of 16 bytes from bytes of sources (Arm CoreSight
 * SoC, "Formatter"). It shares nothing with the library's reader of frames.
 */
#ifndef MODEL_FORMATTER_H
#define MODEL_FORMATTER_H

#include <stdint.h>

#define FORMATTER_FRAME 16

struct formatter {
	void (*out)(void *ctx, const uint8_t *frame);
	void *ctx;
	/* private */
	uint8_t frame[FORMATTER_FRAME];
	unsigned int at;		/* is even */
	int id;				/* current one for a reader; -1: none */
	unsigned int frames;		/* since the id was last written */
	struct { uint8_t id, byte; } queue[2];
	unsigned int queued;
};

/* Resets the formatter, and discards what is not written yet. */
void formatter_reset(struct formatter *f);
void formatter_put(struct formatter *f, uint8_t id, uint8_t byte);
/* Writes all that was put. The rest of the last frame has id 0. */
void formatter_flush(struct formatter *f);

#endif
