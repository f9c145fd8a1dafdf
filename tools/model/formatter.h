/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The formatter of a CoreSight sink: from bytes of sources to frames of 16 bytes (Arm CoreSight
 * SoC, "Formatter"). It knows nothing of the library's reader of frames.
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
	unsigned int at;		/* even */
	int id;				/* that a reader knows; -1: none */
	unsigned int frames;		/* since it was written */
	struct { uint8_t id, byte; } queue[2];
	unsigned int queued;
};

/* As after a reset: what was put and is not out yet is gone. */
void formatter_reset(struct formatter *f);
void formatter_put(struct formatter *f, uint8_t id, uint8_t byte);
/* What was put goes out. The rest of the last frame is of id 0. */
void formatter_flush(struct formatter *f);

#endif
