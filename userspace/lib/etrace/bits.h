/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Fields of packets, least significant bit first: those of te_inst and of te_data packets alike.
 * Internal to librvtrace.
 */
#ifndef RVTRACE_ETRACE_BITS_H
#define RVTRACE_ETRACE_BITS_H

#include <string.h>
#include <etrace/packet.h>

/* The longest packet plus what a 64-bit access may touch behind it. */
#define RVT_ETRACE_BUFFER_BYTES 80

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "bit fields are loaded as words");

static inline uint64_t rvt_etrace_load(const uint8_t *buffer, unsigned int byte)
{
	uint64_t word;

	memcpy(&word, buffer + byte, sizeof(word));
	return word;
}

static inline uint64_t rvt_etrace_get_bits(const uint8_t *buffer, unsigned int pos,
					   unsigned int bits)
{
	uint64_t value = rvt_etrace_load(buffer, pos / 8) >> pos % 8;

	if (pos % 8 && bits > 64 - pos % 8)
		value |= (uint64_t)buffer[pos / 8 + 8] << (64 - pos % 8);
	return value & rvt_etrace_mask(bits);
}

/* A packet that is being written. */
struct rvt_etrace_bits {
	uint8_t bytes[RVT_ETRACE_BUFFER_BYTES];
	unsigned int pos;
};

static inline void rvt_etrace_put_bits(struct rvt_etrace_bits *b, uint64_t value, unsigned int bits)
{
	unsigned int shift = b->pos % 8;
	uint64_t word;

	if (!bits)
		return;
	value &= rvt_etrace_mask(bits);
	word = rvt_etrace_load(b->bytes, b->pos / 8) | value << shift;
	memcpy(b->bytes + b->pos / 8, &word, sizeof(word));
	if (shift && bits > 64 - shift)
		b->bytes[b->pos / 8 + 8] = value >> (64 - shift);
	b->pos += bits;
}

/* Whether bits from @pos to @end, which are behind the packet, are no copies of its last one. */
static inline bool rvt_etrace_has_excess(const uint8_t *buffer, unsigned int pos,
					 unsigned int end)
{
	bool last = buffer[(pos - 1) / 8] >> (pos - 1) % 8 & 1;

	for (; pos < end; pos += 32) {
		unsigned int bits = end - pos > 32 ? 32 : end - pos;

		if (rvt_etrace_get_bits(buffer, pos, bits) != (last ? rvt_etrace_mask(bits) : 0))
			return true;
	}
	return false;
}

/* ---- te_data (data-packet.c) ---- */

/* Adds the layouts of the packets that there are with the codec's parameters. */
void rvt_etrace_data_compile(struct rvt_etrace_codec *codec);
/* As rvt_etrace_parse(), of the payload in bits @start to @end of @buffer. */
const char *rvt_etrace_data_read(const struct rvt_etrace_codec *codec, const uint8_t *buffer,
				 unsigned int start, unsigned int end, struct rvt_etrace_msg *msg);
/* As rvt_etrace_write(), the payload only. Returns 0 or -EINVAL. */
int rvt_etrace_data_write(const struct rvt_etrace_layout *layout, const struct rvt_etrace_msg *msg,
			  struct rvt_etrace_bits *b);

#endif
