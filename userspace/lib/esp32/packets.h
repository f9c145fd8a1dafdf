/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * How the encoder of ESP32-C6 and H2 writes E-Trace packets to memory (Technical Reference Manual
 * of the ESP32-C6, "RISC-V Trace Encoder"): a byte with the length of all, two with an index that
 * counts packets, then the payload. Zeros are between packets, 14 of them behind every 128. Makes a
 * stream of the standard encapsulation of them. Internal to librvtrace.
 */
#ifndef RVTRACE_ESP32_PACKETS_H
#define RVTRACE_ESP32_PACKETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RVT_ESP32_HEADER_BYTES 3	/* length and index */
#define RVT_ESP32_MAX_BYTES 31		/* of a packet: what the length can say */

enum rvt_esp32_read {
	RVT_ESP32_READ_MORE,	/* input is used up (what is partial, or doubtful, is kept) */
	RVT_ESP32_READ_DATA,	/* .bytes, .len, .segments: packets in the standard encapsulation */
	RVT_ESP32_READ_LOST,	/* at .offset: the index says that packets are missing */
	RVT_ESP32_READ_DAMAGE,	/* at .offset, of .len bytes: no packets */
};

/* A packet begins at .index of the bytes, and was made of one at .offset. */
struct rvt_esp32_segment {
	uint64_t index, offset;
};

struct rvt_esp32_packets {
	/* for the user to read; .bytes and .segments are valid until the next call */
	const uint8_t *bytes;
	size_t len;
	struct rvt_esp32_segment *segments;	/* of DATA: one for each packet */
	size_t n_segments;
	uint64_t offset;		/* of LOST and DAMAGE */
	uint64_t idle_bytes;		/* zeros between packets */
	uint64_t skipped_bytes;		/* that belong to no packet */

	/* private */
	uint8_t *buffer;
	size_t buffer_len, room, pos;
	size_t segments_room;
	uint64_t buffer_offset;		/* of .buffer[0] */
	uint64_t hunt_offset;		/* where hunting began */
	uint16_t index;			/* of the last packet */
	bool has_index;
	bool hunting;
	bool no_damage;			/* what is hunted through is no damage */
	bool finished;
};

/* Nobody knows whether the first byte begins a packet: that is found out. */
void rvt_esp32_packets_init(struct rvt_esp32_packets *packets);
void rvt_esp32_packets_fini(struct rvt_esp32_packets *packets);
/* The next bytes, which are copied. next() must have returned MORE before. Returns 0 or -ENOMEM. */
int rvt_esp32_packets_feed(struct rvt_esp32_packets *packets, const void *bytes, size_t len,
			   uint64_t offset);
enum rvt_esp32_read rvt_esp32_packets_next(struct rvt_esp32_packets *packets);
/* Bytes are missing here: forgets what is kept. */
void rvt_esp32_packets_lost(struct rvt_esp32_packets *packets);
/* No more bytes will come: next() returns what is left, then MORE. */
void rvt_esp32_packets_finish(struct rvt_esp32_packets *packets);

#endif
