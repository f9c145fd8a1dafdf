// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Frames of the CoreSight formatter: which byte is whose. */
#include <endian.h>
#include <string.h>
#ifdef __x86_64__
#include <immintrin.h>
#define V3 __attribute__((target("avx2")))
#endif
#include "coresight/frames.h"

#define FRAME RVT_CORESIGHT_FRAME_BYTES
#define DATA RVT_CORESIGHT_DATA_BYTES
#define PERIOD RVT_CORESIGHT_PERIOD
#define PERIOD_DATA (PERIOD * DATA - 1)
#define ID_NULL 0x00
#define ID_FLUSH 0x7b	/* response to a flush: its data has no meaning */
#define ID_TRIGGER 0x7d
#define BARRIER_FSYNCS 4
#define FSYNC_HISTORY 0xffffff7fu	/* the last four bytes, the oldest one first */
#define EVEN_BYTES 0x0001000100010001ull	/* the lowest bit of each */

#ifndef __SSE2__
/* Bits 0 to 3 as the lowest bits of bytes 0, 2, 4, 6: bit n goes 15 * n places up. */
static inline uint64_t spread(uint64_t bits)
{
	return bits * (1 | 1ull << 15 | 1ull << 30 | 1ull << 45) & EVEN_BYTES;
}
#endif

void rvt_coresight_frames_init(struct rvt_coresight_frames *frames)
{
	frames->idle_bytes = frames->skipped_bytes = 0;
	frames->id = frames->len = frames->n_segments = 0;
	frames->pos = frames->end = NULL;
	frames->current = -1;
	frames->started = frames->synced = frames->hunting = false;
	frames->delivered = frames->damaged = frames->barrier = frames->finished = false;
	frames->aligning = false;
#ifdef V3
	frames->v3 = __builtin_cpu_supports("avx2");
#else
	frames->v3 = false;
#endif
	frames->history = frames->n_repeated = 0;
	frames->n_fsyncs = frames->fill = frames->queue_pos = frames->queue_len = 0;
}

void rvt_coresight_frames_feed(struct rvt_coresight_frames *frames, const void *bytes, size_t len,
			       uint64_t offset)
{
	frames->n_repeated = 0;
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

/* ---- chunks ---- */

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

/* The chunk has no byte of another source, and room for a frame. */
static bool fits(const struct rvt_coresight_frames *frames, unsigned int id)
{
	return !frames->len ||
	       (frames->id == id && frames->len + FRAME <= RVT_CORESIGHT_CHUNK_BYTES &&
		frames->n_segments + FRAME <= RVT_CORESIGHT_CHUNK_SEGMENTS);
}

/* @n bytes from @offset on. They are in .bytes already. */
static void add_segment(struct rvt_coresight_frames *frames, unsigned int id, uint64_t offset,
			unsigned int n, enum rvt_coresight_layout layout)
{
	frames->segments[frames->n_segments++] = (struct rvt_coresight_segment){
		.offset = offset, .index = frames->len, .layout = layout };
	frames->id = id;
	frames->len += n;
	frames->n_repeated = layout == RVT_CORESIGHT_REPEATED;
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
	frames->fill = frames->n_repeated = 0;
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

/* The next 16 bytes, if they are a frame. An FSYNC may have begun in what was none. */
static bool take_direct(struct rvt_coresight_frames *frames)
{
	if (frames->fill || frames->hunting || frames->end - frames->pos < FRAME ||
	    has_no_id(frames->pos) ||
	    (frames->history << 8 | frames->pos[0]) == FSYNC_HISTORY)
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

	frames->n_repeated = 0;
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

/*
 * split_frame - which even bytes of the frame are ids: bit 2 * n for byte 2 * n. @bytes: gets its
 * 15 bytes as if all were data, and one more of no meaning.
 */
#ifdef __SSE2__
static inline unsigned int split_frame(const uint8_t *frame, uint8_t *bytes)
{
	const __m128i bits = _mm_setr_epi16(1, 2, 4, 8, 16, 32, 64, 128);
	__m128i data = _mm_loadu_si128((const __m128i *)frame);
	__m128i aux = _mm_shuffle_epi32(_mm_shufflelo_epi16(_mm_srli_si128(data, DATA), 0), 0);

	aux = _mm_srli_epi16(_mm_cmpeq_epi16(_mm_and_si128(aux, bits), bits), 15);
	_mm_storeu_si128((__m128i *)bytes, _mm_or_si128(data, aux));
	return _mm_movemask_epi8(_mm_slli_epi16(data, 7)) & 0x5555;
}
#else
static inline unsigned int split_frame(const uint8_t *frame, uint8_t *bytes)
{
	uint64_t low, high, aux, ids;

	memcpy(&low, frame, sizeof(low));
	memcpy(&high, frame + sizeof(low), sizeof(high));
	low = le64toh(low);
	high = le64toh(high);
	ids = (low & EVEN_BYTES) | (high & EVEN_BYTES) << 8;
	aux = high >> 56;
	low = htole64(low | spread(aux & 15));
	high = htole64(high | spread(aux >> 4));
	memcpy(bytes, &low, sizeof(low));
	memcpy(bytes + sizeof(low), &high, sizeof(high));
	/* bits 0, 16, 32, 48, and 8 above each */
	ids |= ids >> 14 | ids >> 28 | ids >> 42;
	return (ids & 0x55) | (ids >> 8 & 0x55) << 8;
}
#endif

#ifdef V3
/* The bytes of two frames as if all were data. */
static inline V3 __m256i join_pair(__m256i data)
{
	const __m256i bits = _mm256_setr_epi16(1, 2, 4, 8, 16, 32, 64, 128,
					       1, 2, 4, 8, 16, 32, 64, 128);
	/* the last byte of a frame for each even one, zero for each odd one */
	const __m256i aux = _mm256_shuffle_epi8(data, _mm256_set1_epi16((short)0x800f));

	return _mm256_or_si256(data, _mm256_srli_epi16(
		_mm256_cmpeq_epi16(_mm256_and_si256(aux, bits), bits), 15));
}

static inline V3 void store_pair(uint8_t *first, uint8_t *second, __m256i bytes)
{
	_mm_storeu_si128((__m128i *)first, _mm256_castsi256_si128(bytes));
	_mm_storeu_si128((__m128i *)second, _mm256_extracti128_si256(bytes, 1));
}

/* Frames of data, two at a time, as long as there are any. Returns how many. */
static V3 size_t split_pairs_v3(const uint8_t *pos, const uint8_t *end, uint8_t *bytes)
{
	const __m256i lowest = _mm256_set1_epi16(1);
	const uint8_t *begin = pos;

	for (; end - pos >= 2 * FRAME; pos += 2 * FRAME, bytes += 2 * DATA) {
		const __m256i data = _mm256_loadu_si256((const __m256i *)pos);

		if (!_mm256_testz_si256(data, lowest))
			break;
		store_pair(bytes, bytes + DATA, join_pair(data));
	}
	return (pos - begin) / FRAME;
}

/*
 * Periods of frames, each of which begins with @id, at most @max. Writes 16 bytes more than they
 * hold. Returns how many.
 */
static V3 size_t split_periods_v3(const uint8_t *pos, size_t max, uint8_t id, uint8_t *bytes)
{
	const __m256i lowest = _mm256_set1_epi16(1);
	const __m256i *at = (const __m256i *)pos;
	size_t n;

	for (n = 0; n < max; n++, at += PERIOD / 2, bytes += PERIOD_DATA) {
		__m256i data[PERIOD / 2], ids;
		__m128i first;

		for (unsigned int i = 0; i < PERIOD / 2; i++)
			data[i] = _mm256_loadu_si256(at + i);
		ids = _mm256_xor_si256(data[0], _mm256_setr_epi64x(1, 0, 0, 0));
		for (unsigned int i = 1; i < PERIOD / 2; i++)
			ids = _mm256_or_si256(ids, data[i]);
		if (*(const uint8_t *)at != id || !_mm256_testz_si256(ids, lowest))
			break;
		data[0] = join_pair(data[0]);
		first = _mm_srli_si128(_mm256_castsi256_si128(data[0]), 1);
		_mm_storeu_si128((__m128i *)bytes, first);
		_mm_storeu_si128((__m128i *)(bytes + DATA - 1),
				 _mm256_extracti128_si256(data[0], 1));
		for (unsigned int i = 1; i < PERIOD / 2; i++)
			store_pair(bytes + 2 * i * DATA - 1, bytes + (2 * i + 1) * DATA - 1,
				   join_pair(data[i]));
	}
	return n;
}
#endif

/* The frames of data from @pos on, up to @end, into @bytes. Returns how many. */
static size_t split_frames(const struct rvt_coresight_frames *frames, const uint8_t *pos,
			   const uint8_t *end, uint8_t *bytes)
{
	size_t n = 0;

#ifdef V3
	if (frames->v3)
		n = split_pairs_v3(pos, end, bytes);
#else
	(void)frames;
#endif
	while (pos + n * FRAME < end && !split_frame(pos + n * FRAME, bytes + n * DATA))
		n++;
	return n;
}

/* @n frames were taken. */
static void pass_frames(struct rvt_coresight_frames *frames, size_t n)
{
	frames->pos += n * FRAME;
	frames->pos_offset += n * FRAME;
	frames->history = frames->pos[-1];
}

/* The next frames of data from .pos on, at most @max; a chunk has room for them. */
static void take_data_frames(struct rvt_coresight_frames *frames, size_t max)
{
	const bool repeated = frames->n_repeated && frames->n_repeated < PERIOD;
	const size_t room = PERIOD - frames->n_repeated;
	size_t n;

	if (repeated && max > room)
		max = room;
	n = split_frames(frames, frames->pos, frames->pos + max * FRAME,
			 frames->bytes + frames->len);
	if (!n)
		return;
	if (repeated) {
		frames->len += n * DATA;
		frames->n_repeated += n;
	} else {
		add_segment(frames, frames->current, frames->pos_offset, n * DATA,
			    RVT_CORESIGHT_FRAMES);
	}
	pass_frames(frames, n);
}

/* As many whole periods as come next, and fit the chunk. */
static void take_periods(struct rvt_coresight_frames *frames)
{
#ifdef V3
	const size_t room = (RVT_CORESIGHT_CHUNK_BYTES - frames->len) / (PERIOD * FRAME);
	size_t max = (size_t)(frames->end - frames->pos) / (PERIOD * FRAME), n;

	if (!frames->v3)
		return;
	if (max > room)
		max = room;
	n = split_periods_v3(frames->pos, max, frames->current << 1 | 1,
			     frames->bytes + frames->len);
	if (!n)
		return;
	if (frames->n_repeated == PERIOD)
		frames->len += n * PERIOD_DATA;
	else
		add_segment(frames, frames->current, frames->pos_offset + 1, n * PERIOD_DATA,
			    RVT_CORESIGHT_REPEATED);
	frames->n_repeated = PERIOD;
	pass_frames(frames, n * PERIOD);
#else
	(void)frames;
#endif
}

/* The next frame, if its only id is that of the present source, at the beginning. */
static bool take_repeated(struct rvt_coresight_frames *frames)
{
	const uint8_t *frame = frames->pos;
	uint8_t bytes[FRAME];

	if (frame[0] >> 1 != frames->current || split_frame(frame, bytes) != 1)
		return false;
	memcpy(frames->bytes + frames->len, bytes + 1, DATA);
	if (frames->n_repeated == PERIOD) {
		frames->len += DATA - 1;
		frames->n_repeated = 1;
	} else {
		add_segment(frames, frames->current, frames->pos_offset + 1, DATA - 1,
			    RVT_CORESIGHT_REPEATED);
	}
	pass_frames(frames, 1);
	return true;
}

/*
 * The next frames of the present source only. Returns false when the chunk is full. A formatter
 * repeats the id in every eighth frame.
 */
static bool take_whole(struct rvt_coresight_frames *frames)
{
	bool taken = true;

	if (!is_source(frames->current) || frames->fill || frames->n_fsyncs)
		return true;
	while (taken && frames->end - frames->pos >= FRAME) {
		size_t room = (RVT_CORESIGHT_CHUNK_BYTES - frames->len) / FRAME;
		size_t n = (size_t)(frames->end - frames->pos) / FRAME;

		if (!fits(frames, frames->current))
			return false;
		take_data_frames(frames, n < room ? n : room);
		if (fits(frames, frames->current))
			take_periods(frames);
		taken = frames->end - frames->pos >= FRAME && fits(frames, frames->current) &&
			take_repeated(frames);
	}
	return true;
}

/* ---- the reader ---- */

/* Moves what the queue has to the chunk. Returns false when the chunk is full. */
static bool take_queue(struct rvt_coresight_frames *frames)
{
	while (frames->queue_pos < frames->queue_len) {
		unsigned int i = frames->queue_pos, n = 1;

		if (!fits(frames, frames->queue_ids[i]))
			return false;
		while (i + n < frames->queue_len &&
		       frames->queue_ids[i + n] == frames->queue_ids[i] &&
		       frames->queue_offsets[i + n] == frames->queue_offsets[i] + n)
			n++;
		memcpy(frames->bytes + frames->len, frames->queue + i, n);
		add_segment(frames, frames->queue_ids[i], frames->queue_offsets[i], n,
			    RVT_CORESIGHT_ROW);
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

/* Until a chunk is whole, or something else is to be told. */
static void read_frames(struct rvt_coresight_frames *frames)
{
	while (take_queue(frames) && !frames->damaged && !frames->barrier &&
	       frames->pos < frames->end) {
		if (frames->aligning) {
			align(frames);
			continue;
		}
		if (!take_whole(frames))
			return;
		if (frames->pos < frames->end && !take_direct(frames))
			push_byte(frames);
	}
}

enum rvt_coresight_read rvt_coresight_frames_next(struct rvt_coresight_frames *frames)
{
	if (frames->delivered)
		frames->len = frames->n_segments = frames->n_repeated = 0;
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
