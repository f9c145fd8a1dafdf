/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Packets of the GDB remote serial protocol ("$DATA#SUM"), the side of the stub. What comes in may
 * be anything. One thread at a time.
 */
#ifndef PERF_RVTRACE_GDB_RSP_H
#define PERF_RVTRACE_GDB_RSP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Of a packet's data, either way, before it is escaped. PacketSize tells the debugger. */
#define RSP_MAX 16384

enum rsp_result {
	RSP_NOTHING,		/* more bytes are needed */
	RSP_PACKET,		/* .data and .len are a packet */
	RSP_BAD,		/* a packet whose sum is wrong */
	RSP_TOO_LONG,		/* a packet of more than RSP_MAX, which was read and dropped */
	RSP_ACK, RSP_NAK,
	RSP_INTERRUPT,		/* the debugger wants the program to stop */
	RSP_END,		/* the debugger has gone */
};

/* Zeroed at first. */
struct rsp_reader {
	char data[RSP_MAX + 1];	/* without escapes, zero-terminated; may have zero bytes in it */
	size_t len;
	bool in_packet, escaped, too_long;
	/* 1, 2: so many of the sum have yet to come, and one more */
	unsigned int sum_digits;
	uint8_t sum, told;
};

/* Takes the next byte. Bytes between packets that mean nothing are skipped. */
enum rsp_result rsp_take(struct rsp_reader *reader, uint8_t byte);

/*
 * rsp_frame - @data as a packet. @out has room for 2 * @len + 4 bytes. Returns how many of them
 * it takes.
 */
size_t rsp_frame(const char *data, size_t len, char *out);

/* A connection. */
struct rsp {
	int in, out;		/* file descriptors, which stay the caller's */
	bool no_ack;		/* the debugger needs no acknowledgements */
	bool skips_bytes;	/* it skips bytes that are in no packet */
	struct rsp_reader reader;
	uint8_t bytes[4096];	/* read, and not taken yet: from .at to .end */
	size_t at, end;
	char *last;		/* the last packet that was sent, in frame; malloc'd */
	size_t last_len;
	/* ms: when the packet came, or rsp_keep_waiting() last sent a byte */
	int64_t waited;
};

/* Waits for the next packet, and acknowledges it. RSP_PACKET, _TOO_LONG, _INTERRUPT or _END. */
enum rsp_result rsp_read(struct rsp *rsp);
/* Whether the debugger has asked to stop, or has gone; does not wait. */
bool rsp_interrupted(struct rsp *rsp);
/* Sends a packet of at most RSP_MAX bytes. 0 or -errno. */
int rsp_send(struct rsp *rsp, const char *data, size_t len);
/*
 * The answer takes long: a byte that means nothing, so that the debugger goes on waiting, if it
 * .skips_bytes. May be called often: it sends two a second at most. gdb waits for 2 s.
 */
void rsp_keep_waiting(struct rsp *rsp);
void rsp_close(struct rsp *rsp);

#endif
