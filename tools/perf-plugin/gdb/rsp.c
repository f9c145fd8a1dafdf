// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "gdb/rsp.h"

#define INTERRUPT 3
#define WAITING 500	/* ms between bytes to a debugger that waits */
#define ESCAPE '}'
#define ESCAPED 0x20	/* XOR of an escaped byte */

static int hex_digit(uint8_t c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 'a' ^ 'A';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static enum rsp_result take_outside(struct rsp_reader *reader, uint8_t byte)
{
	switch (byte) {
	case '$':
		reader->len = 0;
		reader->sum = reader->told = 0;
		reader->sum_digits = 0;
		reader->escaped = reader->too_long = false;
		reader->in_packet = true;
		return RSP_NOTHING;
	case '+': return RSP_ACK;
	case '-': return RSP_NAK;
	case INTERRUPT: return RSP_INTERRUPT;
	default: return RSP_NOTHING;
	}
}

static enum rsp_result end_packet(struct rsp_reader *reader, bool valid)
{
	reader->in_packet = false;
	if (!valid || reader->escaped)
		return RSP_BAD;
	reader->data[reader->len] = 0;
	return reader->too_long ? RSP_TOO_LONG : RSP_PACKET;
}

static void add_byte(struct rsp_reader *reader, uint8_t byte)
{
	if (!reader->escaped && byte == ESCAPE) {
		reader->escaped = true;
		return;
	}
	if (reader->escaped)
		byte ^= ESCAPED;
	reader->escaped = false;
	if (reader->len == RSP_MAX)
		reader->too_long = true;
	else
		reader->data[reader->len++] = byte;
}

enum rsp_result rsp_take(struct rsp_reader *reader, uint8_t byte)
{
	int digit;

	if (!reader->in_packet)
		return take_outside(reader, byte);
	if (byte == '$')	/* the debugger has started anew */
		return reader->in_packet = false, take_outside(reader, byte);
	if (reader->sum_digits) {
		digit = hex_digit(byte);
		reader->told = reader->told << 4 | (digit & 15);
		if (digit < 0)
			return end_packet(reader, false);
		return --reader->sum_digits ? RSP_NOTHING :
			end_packet(reader, reader->told == reader->sum);
	}
	if (byte == '#') {
		reader->sum_digits = 2;
		return RSP_NOTHING;
	}
	reader->sum += byte;
	add_byte(reader, byte);
	return RSP_NOTHING;
}

size_t rsp_frame(const char *data, size_t len, char *out)
{
	static const char digits[] = "0123456789abcdef";
	uint8_t sum = 0;
	size_t n = 0;

	out[n++] = '$';
	for (size_t i = 0; i < len; i++) {
		char c = data[i];

		if (c == '$' || c == '#' || c == '*' || c == ESCAPE) {
			out[n++] = ESCAPE;
			sum += ESCAPE;
			c ^= ESCAPED;
		}
		out[n++] = c;
		sum += (uint8_t)c;
	}
	out[n++] = '#';
	out[n++] = digits[sum >> 4];
	out[n++] = digits[sum & 15];
	return n;
}

/* ---- a connection ---- */

static int write_all(int fd, const char *bytes, size_t len)
{
	while (len) {
		ssize_t n = write(fd, bytes, len);

		if (n < 0 && errno != EINTR)
			return -errno;
		bytes += n > 0 ? n : 0;
		len -= n > 0 ? n : 0;
	}
	return 0;
}

/* Reads bytes. Returns false if the connection is closed. */
static bool fill(struct rsp *rsp)
{
	ssize_t n;

	do {
		n = read(rsp->in, rsp->bytes, sizeof(rsp->bytes));
	} while (n < 0 && errno == EINTR);
	rsp->at = 0;
	rsp->end = n > 0 ? n : 0;
	return n > 0;
}

static void answer(struct rsp *rsp, char c)
{
	if (!rsp->no_ack)
		write_all(rsp->out, &c, 1);
}

static int64_t now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	return now.tv_sec * INT64_C(1000) + now.tv_nsec / 1000000;
}

enum rsp_result rsp_read(struct rsp *rsp)
{
	for (;;) {
		enum rsp_result result;

		if (rsp->at == rsp->end && !fill(rsp))
			return RSP_END;
		result = rsp_take(&rsp->reader, rsp->bytes[rsp->at++]);
		switch (result) {
		case RSP_NOTHING:
		case RSP_ACK:
		case RSP_END:
			break;
		case RSP_NAK:
			if (!rsp->no_ack && rsp->last)
				write_all(rsp->out, rsp->last, rsp->last_len);
			break;
		case RSP_BAD:
			answer(rsp, '-');
			break;
		case RSP_PACKET:
		case RSP_TOO_LONG:
			answer(rsp, '+');
			rsp->waited = now();
			return result;
		case RSP_INTERRUPT:
			return result;
		}
	}
}

bool rsp_interrupted(struct rsp *rsp)
{
	struct pollfd wait = { .fd = rsp->in, .events = POLLIN };

	/* a debugger sends nothing else while the program runs */
	if (rsp->at == rsp->end && poll(&wait, 1, 0) > 0 && !fill(rsp))
		return true;
	if (rsp->at == rsp->end || rsp->bytes[rsp->at] != INTERRUPT)
		return false;
	rsp->at++;
	return true;
}

int rsp_send(struct rsp *rsp, const char *data, size_t len)
{
	char *frame;

	if (len > RSP_MAX)
		return -EMSGSIZE;
	frame = realloc(rsp->last, 2 * len + 4);
	if (!frame)
		return -ENOMEM;
	rsp->last = frame;
	rsp->last_len = rsp_frame(data, len, frame);
	return write_all(rsp->out, frame, rsp->last_len);
}

void rsp_keep_waiting(struct rsp *rsp)
{
	if (!rsp->skips_bytes || now() < rsp->waited + WAITING)
		return;
	rsp->waited = now();
	write_all(rsp->out, "\n", 1);
}

void rsp_close(struct rsp *rsp)
{
	free(rsp->last);
	rsp->last = NULL;
}
