/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Frames of the CoreSight formatter (Arm CoreSight Architecture Specification, "Trace Formatter"):
 * 16 bytes, of which 15 are data or ids and the last one has a bit for each even byte. Cuts a byte
 * stream into bytes of sources. Internal to librvtrace.
 *
 * A stream in memory is frames and nothing else, but for the barrier that Linux writes where trace
 * is missing: FSYNC (ff ff ff 7f) four times. A stream of a TPIU has single FSYNCs between frames,
 * and HSYNCs (ff 7f) between the half-words of a frame. Both are read the same way. An even byte
 * 0xff is neither data nor an id (0x7f does not occur), so a synchronisation is one wherever it
 * stands.
 */
#ifndef RVTRACE_CORESIGHT_FRAMES_H
#define RVTRACE_CORESIGHT_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RVT_CORESIGHT_FRAME_BYTES 16
#define RVT_CORESIGHT_DATA_BYTES 15	/* of a frame, at most */
/* Ids of sources are 1..RVT_CORESIGHT_MAX_ID; 0 is padding, those above are reserved. */
#define RVT_CORESIGHT_MAX_ID 0x6f
#define RVT_CORESIGHT_N_IDS 128
/* Of one chunk. */
#define RVT_CORESIGHT_CHUNK_BYTES 65536
#define RVT_CORESIGHT_CHUNK_SEGMENTS 2048

enum rvt_coresight_read {
	RVT_CORESIGHT_READ_MORE,	/* input is used up (a partial frame is kept) */
	RVT_CORESIGHT_READ_DATA,	/* .id, .bytes, .len, .segments, .n_segments */
	RVT_CORESIGHT_READ_BARRIER,	/* at .at: trace is missing here */
	RVT_CORESIGHT_READ_DAMAGE,	/* .damage: bytes of any source may be missing here */
};

/* How the bytes of a segment lie in the recording. */
enum rvt_coresight_layout {
	RVT_CORESIGHT_ROW,		/* one behind the other */
	RVT_CORESIGHT_FRAMES,		/* in frames that hold nothing else */
	/* the same, but the first of each RVT_CORESIGHT_PERIOD frames begins with the id */
	RVT_CORESIGHT_REPEATED,
};

/* A formatter repeats an id after so many frames. */
#define RVT_CORESIGHT_PERIOD 8

/* From .index on the bytes of a chunk are those from .offset on, up to the next segment. */
struct rvt_coresight_segment {
	uint64_t offset;
	uint32_t index;
	enum rvt_coresight_layout layout;
};

/* Where a byte lies: @n bytes behind the first of a segment at @offset. */
static inline uint64_t rvt_coresight_offset(uint64_t offset, enum rvt_coresight_layout layout,
					    uint64_t n)
{
	const unsigned int data = RVT_CORESIGHT_DATA_BYTES;
	const unsigned int period = RVT_CORESIGHT_PERIOD * data - 1;

	if (layout == RVT_CORESIGHT_FRAMES)
		return offset + n + n / data;
	if (layout == RVT_CORESIGHT_REPEATED)
		/* as if the id were a byte */
		return offset + n / period * (RVT_CORESIGHT_PERIOD * RVT_CORESIGHT_FRAME_BYTES) +
		       n % period + (n % period + 1) / data;
	return offset + n;
}

/* So many bytes from the @n-th on lie side by side; UINT32_MAX: all of the segment. */
static inline uint32_t rvt_coresight_row(enum rvt_coresight_layout layout, uint32_t n)
{
	const unsigned int data = RVT_CORESIGHT_DATA_BYTES;

	if (layout == RVT_CORESIGHT_ROW)
		return UINT32_MAX;
	if (layout == RVT_CORESIGHT_REPEATED)
		n = n % (RVT_CORESIGHT_PERIOD * data - 1) + 1;
	return data - n % data;
}

struct rvt_coresight_damage {
	uint64_t offset, len_bytes;
	const char *what;	/* a sentence for people, static */
};

struct rvt_coresight_frames {
	/* for the user to read */
	uint64_t idle_bytes;		/* padding: of id 0 */
	uint64_t skipped_bytes;		/* that belong to no source, or nobody knows to which */
	unsigned int id;		/* 1..RVT_CORESIGHT_MAX_ID */
	uint32_t len, n_segments;
	uint64_t at;
	struct rvt_coresight_damage damage;
	uint8_t bytes[RVT_CORESIGHT_CHUNK_BYTES];
	struct rvt_coresight_segment segments[RVT_CORESIGHT_CHUNK_SEGMENTS];

	/* private */
	const uint8_t *pos, *end;
	uint64_t pos_offset;		/* of *pos */
	uint64_t phase;			/* of frames in memory: the offset of any of them */
	int current;			/* id; -1: not known */
	bool started;			/* .phase is known */
	bool synced;			/* it has what only a TPIU writes */
	bool hunting;			/* for an FSYNC */
	bool aligning;			/* bytes up to the next frame by .phase are skipped */
	bool delivered;			/* .bytes were handed out: the next chunk begins */
	bool damaged;			/* .damage was found and waits for the chunk before it */
	bool barrier;			/* likewise */
	bool finished;
	bool v3;			/* with instructions that not every processor has */
	/* the last segment, if it is REPEATED and ends before .pos, has so many frames; else 0 */
	unsigned int n_repeated;
	unsigned int n_fsyncs;		/* in a row */
	uint32_t history;		/* the last bytes that came one by one */
	/* a frame that is put together byte by byte */
	unsigned int fill;
	uint8_t frame[RVT_CORESIGHT_FRAME_BYTES];
	uint64_t offsets[RVT_CORESIGHT_FRAME_BYTES];
	/* what is left of a frame that has bytes of several sources */
	unsigned int queue_pos, queue_len;
	uint8_t queue_ids[RVT_CORESIGHT_FRAME_BYTES], queue[RVT_CORESIGHT_FRAME_BYTES];
	uint64_t queue_offsets[RVT_CORESIGHT_FRAME_BYTES];
};

/* The first byte begins a frame. Until the first id, data belongs to nobody. */
void rvt_coresight_frames_init(struct rvt_coresight_frames *frames);
/* The next bytes. They must live until next() returned MORE, which must precede the next feed(). */
void rvt_coresight_frames_feed(struct rvt_coresight_frames *frames, const void *bytes, size_t len,
			       uint64_t offset);
enum rvt_coresight_read rvt_coresight_frames_next(struct rvt_coresight_frames *frames);
/*
 * Bytes are missing here. @boundary: the next byte begins a frame. Else the next frame is where
 * frames in memory are by their offsets, or behind the next FSYNC of a TPIU's stream.
 */
void rvt_coresight_frames_lost(struct rvt_coresight_frames *frames, bool boundary);
/* No more bytes will come. next() returns DAMAGE for a partial frame, then MORE. */
void rvt_coresight_frames_finish(struct rvt_coresight_frames *frames);

#endif
