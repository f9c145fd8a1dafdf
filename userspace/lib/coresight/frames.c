// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Frames of the CoreSight formatter: which byte is whose. */
#include <endian.h>
#include <string.h>
#include "coresight/frames.h"

#define FRAME RVT_CORESIGHT_FRAME_BYTES
#define DATA (FRAME - 1)
#define ID_NULL 0x00
#define ID_FLUSH 0x7b	/* response to a flush: its data has no meaning */
#define ID_TRIGGER 0x7d
#define BARRIER_FSYNCS 4
#define FSYNC_HISTORY 0xffffff7fu	/* the last four bytes, the oldest one first */
#define EVEN_BYTES 0x0001000100010001ull	/* the lowest bit of each */
#define LAST_BYTE 0xff00000000000000ull

/* Bits 0 to 3 as the lowest bits of bytes 0, 2, 4, 6. */
static const uint64_t spread[16] = {
	0x0000000000000000, 0x0000000000000001, 0x0000000000010000, 0x0000000000010001,
	0x0000000100000000, 0x0000000100000001, 0x0000000100010000, 0x0000000100010001,
	0x0001000000000000, 0x0001000000000001, 0x0001000000010000, 0x0001000000010001,
	0x0001000100000000, 0x0001000100000001, 0x0001000100010000, 0x0001000100010001,
};

void rvt_coresight_frames_init(struct rvt_coresight_frames *frames)
{
	frames->idle_bytes = frames->skipped_bytes = 0;
	frames->id = frames->len = frames->n_segments = 0;
	frames->pos = frames->end = NULL;
	frames->current = -1;
	frames->started = frames->synced = frames->hunting = false;
	frames->delivered = frames->damaged = frames->barrier = frames->finished = false;
	frames->aligning = false;
	frames->history = 0;
	frames->n_fsyncs = frames->fill = frames->queue_pos = frames->queue_len = 0;
}

void rvt_coresight_frames_feed(struct rvt_coresight_frames *frames, const void *bytes, size_t len,
			       uint64_t offset)
{
	frames->pos = bytes;
	frames->end = frames->pos + len;
	frames->pos_offset = offset;
	if (len && !frames->started)
		frames->phase = offset;
	frames->started |= len;
}

void rvt_coresight_frames_lost(struct rvt_coresight_frames *frames, bool boundary)
{
	frames->skipped_bytes += frames->fill;
	frames->fill = 0;
	frames->current = -1;
	frames->n_fsyncs = 0;
	frames->history = 0;
	frames->queue_pos = frames->queue_len = 0;
	frames->hunting = frames->synced && !boundary;
	frames->aligning = !frames->hunting && !boundary;
	if (boundary)
		frames->started = false;
}

void rvt_coresight_frames_finish(struct rvt_coresight_frames *frames)
{
	frames->finished = true;
}

/* ---- pieces ---- */

static bool is_source(int id)
{
	return id > ID_NULL && id <= RVT_CORESIGHT_MAX_ID;
}

static void skip_bytes(struct rvt_coresight_frames *frames, int id, unsigned int n)
{
	if (id == ID_NULL)
		frames->idle_bytes += n;
	else
		frames->skipped_bytes += n;
}

/* The piece has no byte of another source, and room for a frame. */
static bool fits(const struct rvt_coresight_frames *frames, unsigned int id)
{
	return !frames->len ||
	       (frames->id == id && frames->len + FRAME <= RVT_CORESIGHT_PIECE_BYTES);
}

/* @n bytes from @offset on. They are in .bytes already. */
static void add_segment(struct rvt_coresight_frames *frames, unsigned int id, uint64_t offset,
			unsigned int n)
{
	frames->segments[frames->n_segments++] = (struct rvt_coresight_segment){
		.offset = offset, .index = frames->len };
	frames->id = id;
	frames->len += n;
}

static void note_damage(struct rvt_coresight_frames *frames, uint64_t offset, uint64_t len,
			const char *what)
{
	frames->damage = (struct rvt_coresight_damage){ offset, len, what };
	frames->damaged = true;
}

/* ---- frames ---- */

static void queue_byte(struct rvt_coresight_frames *frames, int id, uint8_t byte, uint64_t offset)
{
	if (!is_source(id)) {
		skip_bytes(frames, id, 1);
		return;
	}
	frames->queue_ids[frames->queue_len] = id;
	frames->queue[frames->queue_len] = byte;
	frames->queue_offsets[frames->queue_len++] = offset;
}

/* A reserved id is no source: some source's id, and what follows it, is damaged. */
static void change_id(struct rvt_coresight_frames *frames, int id, uint64_t offset)
{
	frames->current = id;
	if (id > RVT_CORESIGHT_MAX_ID && id != ID_TRIGGER && id != ID_FLUSH)
		note_damage(frames, offset, 1, "a frame with a source id that is reserved");
}

/* Frames follow a row of FSYNCs. In memory only whole barriers occur. */
static void end_fsyncs(struct rvt_coresight_frames *frames)
{
	frames->synced |= frames->n_fsyncs % BARRIER_FSYNCS != 0;
	frames->n_fsyncs = 0;
}

/* The bytes of .frame, by source, into the queue. */
static void take_frame(struct rvt_coresight_frames *frames)
{
	const uint8_t *frame = frames->frame;
	const uint64_t *offsets = frames->offsets;

	end_fsyncs(frames);
	frames->fill = 0;
	frames->queue_pos = frames->queue_len = 0;
	for (unsigned int i = 0; i < DATA; i += 2) {
		bool bit = frame[DATA] >> i / 2 & 1;

		if (!(frame[i] & 1)) {
			queue_byte(frames, frames->current, frame[i] | bit, offsets[i]);
			if (i + 1 < DATA)
				queue_byte(frames, frames->current, frame[i + 1], offsets[i + 1]);
			continue;
		}
		/* with the bit set, the odd byte is still of the source before */
		if (!bit)
			change_id(frames, frame[i] >> 1, offsets[i]);
		if (i + 1 < DATA)
			queue_byte(frames, frames->current, frame[i + 1], offsets[i + 1]);
		if (bit)
			change_id(frames, frame[i] >> 1, offsets[i]);
	}
}

/* What is in .frame before the last @n_sync bytes is no whole frame. */
static void drop_frame(struct rvt_coresight_frames *frames, unsigned int n_sync, const char *what)
{
	unsigned int n = frames->fill - n_sync;

	if (n) {
		frames->skipped_bytes += n;
		frames->current = -1;
		note_damage(frames, frames->offsets[0], n, what);
	}
	frames->fill = 0;
}

static void on_fsync(struct rvt_coresight_frames *frames)
{
	unsigned int fill = frames->fill;

	drop_frame(frames, fill < 4 ? fill : 4, "a frame is cut short by a synchronisation");
	/* it began in what was taken for the end of a frame */
	if (fill < 4 && frames->current >= 0 && !frames->hunting) {
		frames->current = -1;
		note_damage(frames, frames->pos_offset - 4, 4,
			    "a synchronisation where no frame ends");
	}
	frames->phase = frames->pos_offset;
	frames->hunting = false;
	if (++frames->n_fsyncs != BARRIER_FSYNCS)
		return;
	frames->current = -1;
	frames->barrier = true;
	frames->at = frames->pos_offset;
}

static bool has_no_id(const uint8_t *frame)
{
	for (unsigned int i = 0; i < DATA; i += 2)
		if (frame[i] == 0xff)
			return true;
	return false;
}

/* The next 16 bytes, if they are a frame. */
static bool take_direct(struct rvt_coresight_frames *frames)
{
	if (frames->fill || frames->hunting || frames->end - frames->pos < FRAME ||
	    has_no_id(frames->pos))
		return false;
	memcpy(frames->frame, frames->pos, FRAME);
	for (unsigned int i = 0; i < DATA; i++)
		frames->offsets[i] = frames->pos_offset + i;
	frames->pos += FRAME;
	frames->pos_offset += FRAME;
	frames->history = frames->pos[-1];
	take_frame(frames);
	return true;
}

/* The next byte, where FSYNC, HSYNC or damage is near, or a frame is not here as a whole. */
static void push_byte(struct rvt_coresight_frames *frames)
{
	unsigned int i = frames->fill++;

	frames->frame[i] = *frames->pos++;
	frames->offsets[i] = frames->pos_offset++;
	frames->history = frames->history << 8 | frames->frame[i];
	if (frames->history == FSYNC_HISTORY) {
		on_fsync(frames);
		return;
	}
	if (frames->hunting) {
		frames->fill = 0;
		frames->skipped_bytes++;
	} else if (i % 2 && frames->frame[i - 1] == 0xff && frames->frame[i] == 0x7f) {
		frames->fill -= 2;
		frames->synced = true;
	} else if (frames->fill == FRAME) {
		if (has_no_id(frames->frame))
			drop_frame(frames, 0, "a frame with the source id 0x7f, which does not "
				   "exist");
		else
			take_frame(frames);
	}
}

/* ---- the fast path: whole frames of one source ---- */

enum fast { FAST_TAKEN, FAST_FULL, FAST_OTHER };

/*
 * The next 16 bytes, if they are a frame of the present source only, with or without its id at the
 * beginning.
 */
static enum fast take_whole(struct rvt_coresight_frames *frames)
{
	uint64_t low, high, ids;
	unsigned int first;

	memcpy(&low, frames->pos, sizeof(low));
	memcpy(&high, frames->pos + sizeof(low), sizeof(high));
	low = le64toh(low);
	high = le64toh(high);
	ids = (low & EVEN_BYTES) << 1 | (high & EVEN_BYTES);
	first = ids == 2 && (int)(low >> 1 & 0x7f) == frames->current;
	if (!is_source(frames->current) || (ids && !first))
		return FAST_OTHER;
	if (!fits(frames, frames->current))
		return FAST_FULL;
	low |= spread[frames->pos[DATA] & 15];
	high |= spread[frames->pos[DATA] >> 4];
	add_segment(frames, frames->current, frames->pos_offset + first, DATA - first);
	low = htole64(low);
	high = htole64(high & ~LAST_BYTE);
	if (first) {
		low = htole64(le64toh(low) >> 8 | le64toh(high) << 56);
		high = htole64(le64toh(high) >> 8);
	}
	memcpy(frames->bytes + frames->len - (DATA - first), &low, sizeof(low));
	memcpy(frames->bytes + frames->len - (DATA - first) + sizeof(low), &high, sizeof(high));
	frames->pos += FRAME;
	frames->pos_offset += FRAME;
	frames->history = frames->pos[-1];
	return FAST_TAKEN;
}

/* ---- the reader ---- */

/* Moves what the queue has to the piece. Returns false when the piece is full. */
static bool take_queue(struct rvt_coresight_frames *frames)
{
	while (frames->queue_pos < frames->queue_len) {
		unsigned int i = frames->queue_pos, n = 1;

		if (!fits(frames, frames->queue_ids[i]))
			return false;
		while (i + n < frames->queue_len && frames->queue_ids[i + n] == frames->queue_ids[i] &&
		       frames->queue_offsets[i + n] == frames->queue_offsets[i] + n)
			n++;
		memcpy(frames->bytes + frames->len, frames->queue + i, n);
		add_segment(frames, frames->queue_ids[i], frames->queue_offsets[i], n);
		frames->queue_pos += n;
	}
	return true;
}

static void align(struct rvt_coresight_frames *frames)
{
	uint64_t n = (frames->phase - frames->pos_offset) % FRAME, left = frames->end - frames->pos;

	if (n > left)
		n = left;
	frames->skipped_bytes += n;
	frames->pos += n;
	frames->pos_offset += n;
	frames->aligning = (frames->phase - frames->pos_offset) % FRAME;
}

/* Until a piece is whole, or something else is to be told. */
static void read_frames(struct rvt_coresight_frames *frames)
{
	while (take_queue(frames) && !frames->damaged && !frames->barrier &&
	       frames->pos < frames->end) {
		enum fast fast = FAST_OTHER;

		if (frames->aligning) {
			align(frames);
			continue;
		}
		while (!frames->fill && !frames->n_fsyncs && frames->end - frames->pos >= FRAME &&
		       (fast = take_whole(frames)) == FAST_TAKEN)
			;
		if (fast == FAST_FULL)
			return;
		if (frames->pos < frames->end && !take_direct(frames))
			push_byte(frames);
	}
}

enum rvt_coresight_read rvt_coresight_frames_next(struct rvt_coresight_frames *frames)
{
	if (frames->delivered)
		frames->len = frames->n_segments = 0;
	frames->delivered = false;
	read_frames(frames);
	if (frames->len) {
		frames->delivered = true;
		return RVT_CORESIGHT_READ_DATA;
	}
	if (frames->finished && !frames->damaged)
		drop_frame(frames, 0, "data ends inside a frame");
	if (frames->damaged) {
		frames->damaged = false;
		return RVT_CORESIGHT_READ_DAMAGE;
	}
	if (frames->barrier) {
		frames->barrier = false;
		return RVT_CORESIGHT_READ_BARRIER;
	}
	return RVT_CORESIGHT_READ_MORE;
}
