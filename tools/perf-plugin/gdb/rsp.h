/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Packets of the GDB remote serial protocol ("$DATA#SUM"), for the stub. Input may be anything. One
 * thread at a time.
 */
#ifndef PERF_RVTRACE_GDB_RSP_H
#define PERF_RVTRACE_GDB_RSP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Maximum length of a packet's data, in either direction, without escapes. PacketSize tells the
 * debugger.
 */
#define RSP_MAX 16384

enum rsp_result {
	RSP_NOTHING,		/* needs more bytes */
	RSP_PACKET,		/* .data and .len have a packet */
	RSP_BAD,		/* a packet with a wrong sum */
	RSP_TOO_LONG,		/* a packet of more than RSP_MAX, which was dropped */
	RSP_ACK, RSP_NAK,
	RSP_INTERRUPT,		/* the debugger asks the program to stop */
	RSP_END,		/* the debugger has closed the connection */
};

/* Zeroed at first. */
struct rsp_reader {
	char data[RSP_MAX + 1];	/* zero-terminated, without escapes; may have zeros in it */
	size_t len;
	bool in_packet, escaped, too_long;
	/* 1, 2: digits of the sum that have yet to come, and one more */
	unsigned int sum_digits;
	uint8_t sum, told;
};

/* Takes the next byte. Skips meaningless bytes between packets. */
enum rsp_result rsp_take(struct rsp_reader *reader, uint8_t byte);

/* rsp_frame - makes a packet of @data. @out has room for 2 * @len + 4 bytes. Returns the length. */
size_t rsp_frame(const char *data, size_t len, char *out);

/* A connection. */
struct rsp {
	int in, out;		/* file descriptors, which the caller closes */
	bool no_ack;		/* the debugger needs no acknowledgements */
	bool skips_bytes;	/* it skips bytes that are outside of packets */
	struct rsp_reader reader;
	uint8_t bytes[4096];	/* read, but not taken yet: from .at to .end */
	size_t at, end;
	char *last;		/* the last packet sent, framed; malloc'd */
	size_t last_len;
	/* ms: time when the packet came, or when rsp_keep_waiting() last sent a byte */
	int64_t waited;
};

/*
 * Waits for the next packet, and acknowledges it. Returns RSP_PACKET, _TOO_LONG, _INTERRUPT or
 * _END.
 */
enum rsp_result rsp_read(struct rsp *rsp);
/*
 * Returns, without waiting, whether the debugger has asked to stop, or has closed the connection.
 */
bool rsp_interrupted(struct rsp *rsp);
/* Sends a packet of at most RSP_MAX bytes. Returns 0 or -errno. */
int rsp_send(struct rsp *rsp, const char *data, size_t len);
/*
 * Sends a meaningless byte if the answer takes long, so that the debugger waits on, if it
 * .skips_bytes. It may be called often: it sends at most two bytes a second. gdb waits for 2 s.
 */
void rsp_keep_waiting(struct rsp *rsp);
void rsp_close(struct rsp *rsp);

#endif
