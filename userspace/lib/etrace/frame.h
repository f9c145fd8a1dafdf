/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Encapsulation 1.0 ("Unformatted Trace & Diagnostic Data Packet Encapsulation for RISC-V"):
 * cuts a byte stream into frames. Internal to librvtrace.
 */
#ifndef RVTRACE_ETRACE_FRAME_H
#define RVTRACE_ETRACE_FRAME_H

#include <sys/types.h>
#include <etrace/packet.h>

#define RVT_ETRACE_LENGTH_BITS 0x1f	/* of a header */

/* A null packet: idle. */
static inline bool rvt_etrace_is_null(uint8_t header)
{
	return !(header & RVT_ETRACE_LENGTH_BITS);
}

enum rvt_etrace_read {
	RVT_ETRACE_READ_MORE,	/* input is used up (a partial frame is kept) */
	RVT_ETRACE_READ_FRAME,	/* .bytes, .len_bytes, .offset */
	RVT_ETRACE_READ_DAMAGE,	/* .damage: bytes that were skipped; frames follow */
};

struct rvt_etrace_damage {
	uint64_t offset, len_bytes;
	const char *what;	/* a sentence for people, static */
};

/* Enough for RVT_ETRACE_ALIGN_FRAMES frames and one sync sequence. */
#define RVT_ETRACE_ALIGN_FRAMES 16
#define RVT_ETRACE_CARRY_BYTES 1024

struct rvt_etrace_frames {
	/* for the user to read */
	uint64_t idle_bytes;		/* null packets */
	uint64_t skipped_bytes;		/* that belong to no frame */
	const uint8_t *bytes;		/* a whole frame; valid until the next call */
	unsigned int len_bytes;
	uint64_t offset;
	struct rvt_etrace_damage damage;

	/* private */
	const uint8_t *begin, *pos, *end;	/* .begin to .pos: used, and still there */
	uint64_t pos_offset;		/* of *pos */
	uint64_t carry_offset;
	unsigned int carry_len, carry_used;
	unsigned int src_bytes, timestamp_bytes, null_run;
	uint64_t hunt_offset, hunt_bytes;
	const char *hunt_what;
	bool hunting, at_end;
	bool cut;			/* .at_end: amid a frame, perhaps */
	bool doubtful;			/* hunting, but the next byte may well begin a frame */
	bool (*valid)(void *ctx, const uint8_t *bytes, unsigned int len_bytes);
	void *ctx;
	uint8_t carry[RVT_ETRACE_CARRY_BYTES];
};

/*
 * The stream is taken to begin with a frame. @valid: can these bytes be a frame? Asked when frame
 * boundaries are not known.
 */
void rvt_etrace_frames_init(struct rvt_etrace_frames *frames, const struct rvt_params *params,
			    bool (*valid)(void *ctx, const uint8_t *bytes, unsigned int len_bytes),
			    void *ctx);
/* Length of the frame that begins with @header; a null byte is one of its own. */
unsigned int rvt_etrace_frame_bytes(const struct rvt_params *params, uint8_t header);
/* The next bytes. They must live until next() returned MORE, which must precede the next feed(). */
void rvt_etrace_frames_feed(struct rvt_etrace_frames *frames, const void *bytes, size_t len,
			    uint64_t offset);
enum rvt_etrace_read rvt_etrace_frames_next(struct rvt_etrace_frames *frames);
/*
 * rvt_etrace_frames_boundary - where in @bytes, amid a stream, a frame ends for sure. Wherever the
 * first one begins, all that can be read from there on is the same frames in the end: @sure of them
 * have come then. An index; -1: not within these bytes. Needs nothing of @frames but what init()
 * was told.
 */
ssize_t rvt_etrace_frames_boundary(const struct rvt_etrace_frames *frames, const uint8_t *bytes,
				   size_t len, unsigned int sure);
/*
 * The last frame's contents were bad. If RVT_ETRACE_ALIGN_FRAMES valid frames follow it, only its
 * payload was damaged. Else boundaries are wrong: a sync sequence is looked for, or that many valid
 * frames in a row, behind which the first is taken.
 */
void rvt_etrace_frames_bad(struct rvt_etrace_frames *frames);
/* Bytes are missing here: next() may return further frames, then MORE, until lost(). */
void rvt_etrace_frames_cut(struct rvt_etrace_frames *frames);
/* Bytes are missing here. Forgets a partial frame. @boundary: the next byte begins a frame. */
void rvt_etrace_frames_lost(struct rvt_etrace_frames *frames, bool boundary);
/*
 * No more bytes will come. next() may return further frames, then DAMAGE for a partial one, then
 * MORE.
 */
void rvt_etrace_frames_finish(struct rvt_etrace_frames *frames);

#endif
