// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "esp32/packets.h"
#include "util/array.h"

/* Packets in a row, with indexes in a row, that are no accident. */
#define SURE 2
/* Packets that are delivered at once. */
#define CHUNK 4096

void rvt_esp32_packets_init(struct rvt_esp32_packets *packets)
{
	*packets = (struct rvt_esp32_packets){ .hunting = true, .no_damage = true };
}

void rvt_esp32_packets_fini(struct rvt_esp32_packets *packets)
{
	free(packets->buffer);
	free(packets->segments);
}

int rvt_esp32_packets_feed(struct rvt_esp32_packets *packets, const void *bytes, size_t len,
			   uint64_t offset)
{
	size_t kept = packets->buffer_len - packets->pos;

	if (kept)
		memmove(packets->buffer, packets->buffer + packets->pos, kept);
	packets->pos = 0;
	packets->buffer_len = kept;
	packets->buffer_offset = offset - kept;
	if (!len)
		return 0;
	if (array_reserve(&packets->buffer, &packets->room, kept, len) ||
	    array_reserve(&packets->segments, &packets->segments_room, 0, CHUNK))
		return -ENOMEM;
	memcpy(packets->buffer + kept, bytes, len);
	packets->buffer_len += len;
	return 0;
}

static bool is_header(uint8_t byte)
{
	return byte > RVT_ESP32_HEADER_BYTES && byte <= RVT_ESP32_MAX_BYTES;
}

static uint16_t index_at(const struct rvt_esp32_packets *p, size_t pos)
{
	return p->buffer[pos + 1] | p->buffer[pos + 2] << 8;
}

/* A whole packet at @pos. */
static bool has_packet(const struct rvt_esp32_packets *p, size_t pos)
{
	return is_header(p->buffer[pos]) && p->buffer_len - pos >= p->buffer[pos];
}

/* ---- hunting ---- */

enum verdict { WRONG, RIGHT, UNDECIDED };

/* Whether packets begin at @pos. */
static enum verdict try_chain(const struct rvt_esp32_packets *p, size_t pos)
{
	uint16_t last = 0;

	for (unsigned int n = 0; n < SURE; n++) {
		while (pos < p->buffer_len && !p->buffer[pos])
			pos++;
		if (pos == p->buffer_len)
			return !p->finished ? UNDECIDED : n ? RIGHT : WRONG;
		if (!is_header(p->buffer[pos]))
			return WRONG;
		if (n && p->buffer_len - pos >= RVT_ESP32_HEADER_BYTES &&
		    index_at(p, pos) != (uint16_t)(last + 1))
			return WRONG;
		if (!has_packet(p, pos))
			return !p->finished ? UNDECIDED : n ? RIGHT : WRONG;
		last = index_at(p, pos);
		pos += p->buffer[pos];
	}
	return RIGHT;
}

/* True: a packet begins at .pos, or the input is used up (and .hunting says so). */
static void hunt(struct rvt_esp32_packets *p)
{
	while (p->pos < p->buffer_len) {
		enum verdict verdict = p->buffer[p->pos] ? try_chain(p, p->pos) : WRONG;

		if (verdict == UNDECIDED)
			return;
		if (verdict == RIGHT) {
			p->hunting = false;
			return;
		}
		p->skipped_bytes += p->buffer[p->pos] != 0;
		p->pos++;
	}
}

static void start_hunt(struct rvt_esp32_packets *p)
{
	p->hunting = true;
	p->no_damage = false;
	p->hunt_offset = p->buffer_offset + p->pos;
}

/* ---- packets ---- */

/* The next packet is moved to @out, where there is room: its standard header is shorter. */
static void take(struct rvt_esp32_packets *p, uint8_t *out)
{
	const uint8_t *header = p->buffer + p->pos;
	const unsigned int whole = *header;

	p->segments[p->n_segments++] = (struct rvt_esp32_segment){
		p->len, p->buffer_offset + p->pos };
	p->index = index_at(p, p->pos);
	p->has_index = true;
	*out = whole - RVT_ESP32_HEADER_BYTES;
	memmove(out + 1, header + RVT_ESP32_HEADER_BYTES, whole - RVT_ESP32_HEADER_BYTES);
	p->len += whole - RVT_ESP32_HEADER_BYTES + 1;
	p->pos += whole;
}

static bool is_next(const struct rvt_esp32_packets *p)
{
	return has_packet(p, p->pos) &&
	       (!p->has_index || index_at(p, p->pos) == (uint16_t)(p->index + 1));
}

/* All packets up to what is none, or is not the next one, or up to CHUNK of them. */
static bool take_packets(struct rvt_esp32_packets *p)
{
	uint8_t *out = p->buffer + p->pos;

	p->bytes = out;
	p->len = p->n_segments = 0;
	while (p->pos < p->buffer_len && p->n_segments < CHUNK) {
		if (!p->buffer[p->pos]) {
			p->pos++;
			p->idle_bytes++;
			continue;
		}
		if (!is_next(p))
			break;
		take(p, out + p->len);
	}
	return p->n_segments;
}

static enum rvt_esp32_read report(struct rvt_esp32_packets *p, enum rvt_esp32_read read,
				  uint64_t from)
{
	p->offset = from;
	p->len = p->buffer_offset + p->pos - from;
	return read;
}

/* What is behind the packets that were read. */
static enum rvt_esp32_read at_end(struct rvt_esp32_packets *p)
{
	if (p->pos == p->buffer_len)
		return RVT_ESP32_READ_MORE;
	if (!is_header(p->buffer[p->pos])) {
		start_hunt(p);
		p->skipped_bytes++;
		p->pos++;
		return rvt_esp32_packets_next(p);
	}
	if (has_packet(p, p->pos)) {
		/* of the wrong index */
		p->has_index = false;
		return report(p, RVT_ESP32_READ_LOST, p->buffer_offset + p->pos);
	}
	if (!p->finished)
		return RVT_ESP32_READ_MORE;
	p->skipped_bytes += p->buffer_len - p->pos;
	start_hunt(p);
	p->pos = p->buffer_len;
	p->hunting = false;
	return report(p, RVT_ESP32_READ_DAMAGE, p->hunt_offset);
}

enum rvt_esp32_read rvt_esp32_packets_next(struct rvt_esp32_packets *p)
{
	const bool hunted = p->hunting;

	if (p->hunting)
		hunt(p);
	if (p->hunting && !(p->finished && !p->no_damage))
		return RVT_ESP32_READ_MORE;
	if (hunted && !p->no_damage) {
		p->hunting = false;
		p->has_index = false;
		return report(p, RVT_ESP32_READ_DAMAGE, p->hunt_offset);
	}
	return take_packets(p) ? RVT_ESP32_READ_DATA : at_end(p);
}

void rvt_esp32_packets_lost(struct rvt_esp32_packets *p)
{
	p->skipped_bytes += p->buffer_len - p->pos;
	p->pos = p->buffer_len;
	p->hunting = p->no_damage = true;
	p->has_index = false;
}

void rvt_esp32_packets_finish(struct rvt_esp32_packets *p)
{
	p->finished = true;
}
