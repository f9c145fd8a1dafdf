// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <string.h>
#include <etrace/frame.h>

#define EXTEND 0x80

void rvt_etrace_frames_init(struct rvt_etrace_frames *frames, const struct rvt_params *params,
			    bool (*valid)(void *ctx, const uint8_t *bytes, unsigned int len_bytes),
			    void *ctx)
{
	memset(frames, 0, sizeof(*frames));
	frames->src_bytes = rvt_etrace_src_bytes(params);
	frames->timestamp_bytes = params->timestamp_bytes;
	/* A frame holds at most this many bytes with the low five bits zero in a row. */
	frames->null_run = 31 + params->timestamp_bytes + frames->src_bytes;
	frames->valid = valid;
	frames->ctx = ctx;
}

void rvt_etrace_frames_feed(struct rvt_etrace_frames *frames, const void *bytes, size_t len,
			    uint64_t offset)
{
	frames->begin = frames->pos = bytes;
	frames->end = frames->pos + len;
	frames->pos_offset = offset;
}

static unsigned int frame_length(const struct rvt_etrace_frames *frames, uint8_t header)
{
	return 1 + frames->src_bytes + (header & EXTEND ? frames->timestamp_bytes : 0) +
	       (header & RVT_ETRACE_LENGTH_BITS);
}

unsigned int rvt_etrace_frame_bytes(const struct rvt_params *params, uint8_t header)
{
	if (rvt_etrace_is_null(header))
		return 1;
	return 1 + rvt_etrace_src_bytes(params) + (header & EXTEND ? params->timestamp_bytes : 0) +
	       (header & RVT_ETRACE_LENGTH_BITS);
}

static bool bad_header(const struct rvt_etrace_frames *frames, uint8_t header)
{
	return header & EXTEND && !frames->timestamp_bytes;
}

static void start_hunt(struct rvt_etrace_frames *frames, uint64_t offset, const char *what)
{
	frames->hunting = true;
	frames->hunt_offset = offset;
	frames->hunt_bytes = 0;
	frames->hunt_what = what;
}

static void drop_carry(struct rvt_etrace_frames *frames, unsigned int n)
{
	frames->carry_len -= n;
	frames->carry_offset += n;
	memmove(frames->carry, frames->carry + n, frames->carry_len);
}

/* Moves up to @n bytes of input to the carry buffer; returns how many. */
static unsigned int fill_carry(struct rvt_etrace_frames *frames, unsigned int n)
{
	size_t avail = frames->end - frames->pos;

	if (n > RVT_ETRACE_CARRY_BYTES - frames->carry_len)
		n = RVT_ETRACE_CARRY_BYTES - frames->carry_len;
	if (n > avail)
		n = avail;
	if (!n)
		return 0;
	if (!frames->carry_len)
		frames->carry_offset = frames->pos_offset;
	memcpy(frames->carry + frames->carry_len, frames->pos, n);
	frames->carry_len += n;
	frames->pos += n;
	frames->pos_offset += n;
	return n;
}

/* ---- hunting for a frame boundary ---- */

enum verdict { WRONG, RIGHT, UNDECIDED };

/*
 * Can frames begin at @start of the carry buffer? RIGHT: yes, and *where is a boundary.
 */
static enum verdict try_chain(const struct rvt_etrace_frames *frames, unsigned int start,
			      unsigned int *where)
{
	unsigned int pos = start, count = 0, nulls = 0;

	while (pos < frames->carry_len) {
		uint8_t header = frames->carry[pos];
		unsigned int len = frame_length(frames, header);

		if (rvt_etrace_is_null(header)) {
			nulls++, pos++;
			continue;
		}
		if (nulls > frames->null_run || count == RVT_ETRACE_ALIGN_FRAMES) {
			*where = pos;
			return RIGHT;
		}
		nulls = 0;
		if (bad_header(frames, header))
			return WRONG;
		if (pos + len > frames->carry_len && !frames->at_end)
			return UNDECIDED;
		if (pos + len > frames->carry_len && frames->cut)
			break;
		if (pos + len > frames->carry_len)
			return WRONG;
		if (!frames->valid(frames->ctx, frames->carry + pos, len))
			return WRONG;
		pos += len;
		count++;
	}
	if (!frames->at_end)
		return UNDECIDED;
	*where = start;
	return count ? RIGHT : WRONG;
}

/* Null bytes at the front that are more than a sync sequence needs. */
static unsigned int surplus_nulls(const struct rvt_etrace_frames *frames)
{
	unsigned int n = 0;

	while (n < frames->carry_len && rvt_etrace_is_null(frames->carry[n]))
		n++;
	return n > frames->null_run + 1 ? n - frames->null_run - 1 : 0;
}

/* Returns whether a boundary was found: the carry buffer begins with it then. */
static bool search(struct rvt_etrace_frames *frames)
{
	unsigned int start = surplus_nulls(frames), where = 0;
	enum verdict verdict = WRONG;

	for (; start < frames->carry_len; start++) {
		verdict = try_chain(frames, start, &where);
		if (verdict != WRONG)
			break;
	}
	if (verdict == RIGHT)
		start = where;
	else if (!start && frames->carry_len == RVT_ETRACE_CARRY_BYTES)
		start = 1; /* frames and null packets in turn: no reason to wait for more */
	frames->hunt_bytes += start;
	frames->skipped_bytes += start;
	drop_carry(frames, start);
	return verdict == RIGHT;
}

/*
 * After a bad frame: does its header lead to frames that are good? Then nothing need be skipped,
 * not even to be sure. Null packets without end are as good.
 */
static enum verdict check_next(struct rvt_etrace_frames *frames)
{
	unsigned int where;
	enum verdict verdict = try_chain(frames, 0, &where);

	if (verdict == UNDECIDED && frames->carry_len == RVT_ETRACE_CARRY_BYTES)
		verdict = RIGHT;
	if (verdict != UNDECIDED)
		frames->doubtful = false;
	return verdict;
}

/* True when a boundary was found: the carry buffer begins with it. */
static bool align(struct rvt_etrace_frames *frames)
{
	enum verdict next = frames->doubtful ? check_next(frames) : WRONG;

	if (next != WRONG)
		return next == RIGHT;
	return search(frames);
}

/* Gives bytes back that were only looked at: a pause can leave frames in the input, not here. */
static void give_back(struct rvt_etrace_frames *frames)
{
	size_t n = frames->pos - frames->begin;

	if (n > frames->carry_len)
		n = frames->carry_len;
	frames->carry_len -= n;
	frames->pos -= n;
	frames->pos_offset -= n;
}

/* What is carried already may be enough. */
static bool hunt(struct rvt_etrace_frames *frames)
{
	do {
		fill_carry(frames, RVT_ETRACE_CARRY_BYTES);
		if (align(frames)) {
			frames->hunting = false;
			give_back(frames);
			return true;
		}
	} while (frames->pos < frames->end);
	return false;
}

static enum rvt_etrace_read report_hunt(struct rvt_etrace_frames *frames)
{
	frames->damage.offset = frames->hunt_offset;
	frames->damage.len_bytes = frames->hunt_bytes;
	frames->damage.what = frames->hunt_what;
	return RVT_ETRACE_READ_DAMAGE;
}

/*
 * Bit n of .chains: frames from where one may begin lead to the n-th byte from here. Those that
 * come to the same byte are one from there on.
 */
ssize_t rvt_etrace_frames_boundary(const struct rvt_etrace_frames *frames, const uint8_t *bytes,
				   size_t len, unsigned int sure)
{
	const unsigned int longest = frame_length(frames, EXTEND | RVT_ETRACE_LENGTH_BITS);
	const uint64_t any = (UINT64_C(1) << longest) - 1;
	uint64_t chains = any;
	unsigned int alone = 0;

	for (size_t pos = 0; pos < len; pos++, chains = chains >> 1 ?: any) {
		unsigned int n = rvt_etrace_is_null(bytes[pos]) ? 1 :
				 frame_length(frames, bytes[pos]);

		if (!(chains & 1))
			continue;
		if (n > len - pos)
			break;
		if (n > 1 && (bad_header(frames, bytes[pos]) ||
			      !frames->valid(frames->ctx, bytes + pos, n)))
			continue;
		alone = chains == 1 ? alone + (n > 1) : 0;
		if (alone == sure)
			return pos + n;
		chains |= UINT64_C(1) << n;
	}
	return -1;
}

/* ---- frames ---- */

static enum rvt_etrace_read deliver(struct rvt_etrace_frames *frames, const uint8_t *bytes,
				    unsigned int len, uint64_t offset)
{
	frames->bytes = bytes;
	frames->len_bytes = len;
	frames->offset = offset;
	return RVT_ETRACE_READ_FRAME;
}

/* The frame at the beginning of the carry buffer, which is not empty. */
static enum rvt_etrace_read next_carried(struct rvt_etrace_frames *frames)
{
	uint8_t header = frames->carry[0];
	unsigned int len = frame_length(frames, header);

	if (rvt_etrace_is_null(header)) {
		frames->idle_bytes++;
		drop_carry(frames, 1);
		return RVT_ETRACE_READ_MORE;
	}
	if (frames->carry_len < len)
		fill_carry(frames, len - frames->carry_len);
	if (bad_header(frames, header))
		start_hunt(frames, frames->carry_offset, "timestamp flagged, but there are none");
	if (frames->hunting || frames->carry_len < len)
		return RVT_ETRACE_READ_MORE;
	frames->carry_used = len;
	return deliver(frames, frames->carry, len, frames->carry_offset);
}

static enum rvt_etrace_read next_direct(struct rvt_etrace_frames *frames)
{
	const uint8_t *bytes = frames->pos;
	unsigned int len;

	while (bytes < frames->end && rvt_etrace_is_null(*bytes))
		bytes++;
	frames->idle_bytes += bytes - frames->pos;
	frames->pos_offset += bytes - frames->pos;
	frames->pos = bytes;
	if (bytes == frames->end)
		return RVT_ETRACE_READ_MORE;
	len = frame_length(frames, *bytes);
	if ((size_t)(frames->end - bytes) < len || bad_header(frames, *bytes)) {
		fill_carry(frames, len);
		return RVT_ETRACE_READ_MORE;
	}
	frames->pos += len;
	frames->pos_offset += len;
	return deliver(frames, bytes, len, frames->pos_offset - len);
}

/* Reads what is left when there is no more input. */
static enum rvt_etrace_read next_at_end(struct rvt_etrace_frames *frames)
{
	if (frames->hunting) {
		frames->hunt_bytes += frames->carry_len;
	} else if (frames->carry_len) {
		start_hunt(frames, frames->carry_offset, "data ends inside a packet");
		frames->hunt_bytes = frames->carry_len;
	} else {
		return RVT_ETRACE_READ_MORE;
	}
	frames->skipped_bytes += frames->carry_len;
	frames->carry_len = 0;
	frames->hunting = false;
	return frames->hunt_bytes ? report_hunt(frames) : RVT_ETRACE_READ_MORE;
}

enum rvt_etrace_read rvt_etrace_frames_next(struct rvt_etrace_frames *frames)
{
	enum rvt_etrace_read read;

	drop_carry(frames, frames->carry_used);
	frames->carry_used = 0;
	for (;;) {
		unsigned int carried = frames->carry_len;

		if (frames->hunting) {
			if (hunt(frames)) {
				if (frames->hunt_bytes)
					return report_hunt(frames);
				continue;
			}
			break;
		}
		read = carried ? next_carried(frames) : next_direct(frames);
		if (read != RVT_ETRACE_READ_MORE)
			return read;
		if (frames->hunting || frames->carry_len != carried)
			continue;
		break;
	}
	return frames->at_end && !frames->cut ? next_at_end(frames) : RVT_ETRACE_READ_MORE;
}

void rvt_etrace_frames_bad(struct rvt_etrace_frames *frames)
{
	start_hunt(frames, frames->offset + frames->len_bytes, "packet boundaries are not known");
	frames->doubtful = true;
}

void rvt_etrace_frames_cut(struct rvt_etrace_frames *frames)
{
	frames->at_end = frames->cut = true;
	frames->begin = frames->pos;
}

void rvt_etrace_frames_lost(struct rvt_etrace_frames *frames, bool boundary)
{
	frames->skipped_bytes += frames->carry_len - frames->carry_used;
	frames->carry_len = frames->carry_used = 0;
	frames->begin = frames->pos = frames->end;
	frames->doubtful = false;
	frames->hunting = frames->at_end = frames->cut = false;
	if (!boundary)
		start_hunt(frames, frames->pos_offset, "packet boundaries are not known");
}

void rvt_etrace_frames_finish(struct rvt_etrace_frames *frames)
{
	frames->at_end = true;
	frames->begin = frames->pos;
}
