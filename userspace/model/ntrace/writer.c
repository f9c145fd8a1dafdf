// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Messages to bytes (N-Trace chapter 3).
 */
#include <errno.h>

#include <ntrace/message.h>

#define MSEO_FIELD_END 1
#define MSEO_MESSAGE_END 3

struct output {
	uint8_t *bytes;
	unsigned int len;
	unsigned int used_bits;		/* of the MDO being filled */
	uint8_t mdo;
	bool overflow;
};

static void put_byte(struct output *out, uint8_t mseo)
{
	if (out->len < RVT_NTRACE_MAX_MESSAGE_BYTES)
		out->bytes[out->len++] = out->mdo << 2 | mseo;
	else
		out->overflow = true;
	out->mdo = 0;
	out->used_bits = 0;
}

static void put_bits(struct output *out, uint64_t value, unsigned int bits)
{
	while (bits) {
		unsigned int n = 6 - out->used_bits;

		if (!n) {
			put_byte(out, 0);
			continue;
		}
		if (n > bits)
			n = bits;
		out->mdo |= (value & ((1u << n) - 1)) << out->used_bits;
		out->used_bits += n;
		value >>= n;
		bits -= n;
	}
}

static unsigned int significant(uint64_t value)
{
	return value ? 64 - __builtin_clzll(value) : 1;
}

static void put_var(struct output *out, uint64_t value, unsigned int min_bits)
{
	unsigned int bits = significant(value);

	put_bits(out, value, bits);
	for (; bits < min_bits; bits++)
		put_bits(out, 0, 1);
	put_byte(out, MSEO_FIELD_END);
}

static bool present(const struct rvt_ntrace_msg *msg, const struct rvt_ntrace_use *use)
{
	switch (use->when) {
	case RVT_NTRACE_WHEN_RCODE_2:
		return msg->field[RVT_NTRACE_F_RCODE] == 2;
	case RVT_NTRACE_WHEN_CDF_1:
		return msg->field[RVT_NTRACE_F_CDF] == 1;
	case RVT_NTRACE_WHEN_CDF_2_3:
		return msg->field[RVT_NTRACE_F_CDF] >= 2;
	case RVT_NTRACE_WHEN_CDF_3:
		return msg->field[RVT_NTRACE_F_CDF] == 3;
	case RVT_NTRACE_WHEN_CKDF_1:
		return msg->field[RVT_NTRACE_F_CKDF] == 1;
	default:
		return true;
	}
}

int rvt_ntrace_write(const struct rvt_ntrace_msg *msg, unsigned int src_bits,
		     uint8_t bytes[RVT_NTRACE_MAX_MESSAGE_BYTES])
{
	const struct rvt_ntrace_format *format = rvt_ntrace_format(msg->field[RVT_NTRACE_F_TCODE]);
	struct output out = { .bytes = bytes };

	if (!format)
		return -EINVAL;
	put_bits(&out, format->tcode, 6);
	put_bits(&out, msg->field[RVT_NTRACE_F_SRC], src_bits);
	for (const struct rvt_ntrace_use *use = format->uses; use->field != RVT_NTRACE_FIELDS;
	     use++) {
		if (!present(msg, use))
			continue;
		if (use->bits)
			put_bits(&out, msg->field[use->field], use->bits);
		else
			put_var(&out, msg->field[use->field], msg->bits[use->field]);
	}
	if (rvt_ntrace_has(msg, RVT_NTRACE_F_TSTAMP))
		put_var(&out, msg->field[RVT_NTRACE_F_TSTAMP], msg->bits[RVT_NTRACE_F_TSTAMP]);
	if (out.overflow)
		return -EINVAL;
	out.bytes[out.len - 1] |= MSEO_MESSAGE_END;
	return out.len;
}
