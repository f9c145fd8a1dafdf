/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Between bits and struct rvt_etrace_msg. A codec is a dialect's table with all widths filled
 * in. Internal to librvtrace; knows bits, not programs.
 */
#ifndef RVTRACE_ETRACE_PACKET_H
#define RVTRACE_ETRACE_PACKET_H

#include <etrace/tables.h>

/* header, srcID, timestamp, payload */
#define RVT_ETRACE_MAX_FRAME_BYTES (1 + 2 + 8 + 31)
#define RVT_ETRACE_MAX_LENGTH 31	/* of the header's length field */

struct rvt_etrace_layout {
	uint8_t kind;
	uint8_t n;
	bool open;		/* implementation specific bits may follow */
	struct rvt_etrace_use uses[RVT_ETRACE_MAX_USES]; /* widths are bits, or W_MAP */
};

struct rvt_etrace_codec {
	struct rvt_params params;	/* as changed by support packets */
	bool iret_ext;			/* 2.0.5: irets instead of irdepth */
	bool resync_disabled;		/* 2.0.5 */
	/* 2.0: size + 1 of the atomic operation that was requested last with each lrid; 0: none */
	uint8_t request_size[256];
	int cache_subformat;		/* of packets with an index; -1: there are none */
	/* private */
	uint8_t n_layouts, n_data;	/* those of te_data are behind the others */
	uint8_t first[4], n[4];		/* layouts of each format value */
	struct rvt_etrace_layout layouts[RVT_ETRACE_KINDS];
};

/*
 * Also checks the E-Trace parameters: returns 0, or -EINVAL when one is out of range. Called again
 * (by way of rvt_etrace_codec_update()) whenever parameters or options changed.
 */
int rvt_etrace_codec_init(struct rvt_etrace_codec *codec, const struct rvt_params *params);
int rvt_etrace_codec_update(struct rvt_etrace_codec *codec);
/* Takes over what a support packet says about options and (2.0.5) sizes. Returns 0 or -EINVAL. */
int rvt_etrace_codec_support(struct rvt_etrace_codec *codec, const struct rvt_etrace_msg *msg);
/* The reverse: the fields of a support packet that say the options and sizes. */
void rvt_etrace_codec_describe(const struct rvt_etrace_codec *codec, struct rvt_etrace_msg *msg);

/* Number of whole srcID bytes, S in the encapsulation specification. */
static inline unsigned int rvt_etrace_src_bytes(const struct rvt_params *params)
{
	return params->srcid_bits / 8;
}

/* The layout of a packet; NULL: there is none with these parameters. */
const struct rvt_etrace_layout *rvt_etrace_layout(const struct rvt_etrace_codec *codec,
						  enum rvt_etrace_kind kind);

static inline bool rvt_etrace_is_data(const struct rvt_etrace_msg *msg)
{
	return msg->kind >= RVT_ETRACE_DATA_ACCESS;
}

/* Whether packets with this type field are te_data. */
static inline bool rvt_etrace_is_data_type(const struct rvt_params *params, unsigned int type)
{
	if (!params->data_width_p)
		return false;
	return params->data_packets == RVT_DATA_PACKETS_ALL ||
	       (params->type_bits && type == params->type_data);
}

static inline unsigned int rvt_etrace_daddress_width(const struct rvt_params *params)
{
	return params->daddress_width_p ? params->daddress_width_p : params->iaddress_width_p;
}

/* Value of the type field that means instruction trace. */
static inline unsigned int rvt_etrace_type(const struct rvt_params *params)
{
	return params->type_instruction;
}

static inline bool rvt_etrace_has(const struct rvt_etrace_msg *msg, enum rvt_etrace_field field)
{
	return msg->present >> field & 1;
}

static inline void rvt_etrace_set(struct rvt_etrace_msg *msg, enum rvt_etrace_field field,
				  uint64_t value)
{
	msg->field[field] = value;
	msg->present |= 1ull << field;
}

/* Irdepth or irets, whichever there is. */
static inline uint64_t rvt_etrace_ir(const struct rvt_etrace_msg *msg)
{
	return rvt_etrace_has(msg, RVT_ETRACE_F_IRETS) ? msg->field[RVT_ETRACE_F_IRETS] :
	       rvt_etrace_has(msg, RVT_ETRACE_F_IRDEPTH) ? msg->field[RVT_ETRACE_F_IRDEPTH] : 0;
}

/*
 * rvt_etrace_parse - a whole frame (header to last byte, as cut out by frame.h) to *msg.
 * Sign-extends from the last bit of the last byte. Sets everything but msg->offset.
 * Returns NULL, or what is wrong: a sentence for people, static.
 */
const char *rvt_etrace_parse(const struct rvt_etrace_codec *codec, const uint8_t *bytes,
			     unsigned int len_bytes, struct rvt_etrace_msg *msg);

/* A packet that tells nothing but outcomes and an address, or an index of the jump target cache. */
struct rvt_etrace_plain {
	/* ADDRESS, BRANCH_ADDRESS, BRANCH_MAP, CACHE or CACHE_BRANCHES */
	enum rvt_etrace_kind kind;
	unsigned int n_outcomes;
	uint64_t taken;			/* bit 0 is the first outcome */
	/* as in msg->field[RVT_ETRACE_F_ADDRESS]; CACHE: the index */
	uint64_t address;
};

/*
 * rvt_etrace_read_plain - what rvt_etrace_parse() says of a packet whose payload is these bytes, 16
 * at most, zeros behind. False if that is something else, or an error.
 */
bool rvt_etrace_read_plain(const struct rvt_etrace_codec *codec, const uint64_t payload[2],
			   unsigned int len_bytes, struct rvt_etrace_plain *plain);

/*
 * rvt_etrace_write - *msg to a whole frame. Fields listed in the layout of msg->kind are taken from
 * msg->field[] (those not in msg->present are 0; those with one legal value need not be set), but
 * for the bits that msg->notify, updiscon, irreport and not_taken say. The payload is sign
 * compressed. *payload_bytes (may be NULL): its length, without encapsulation.
 * Returns the length in bytes, -EINVAL (no such packet in this dialect, a value too large for its
 * field), -E2BIG (longer than an encapsulated packet may be).
 */
int rvt_etrace_write(const struct rvt_etrace_codec *codec, const struct rvt_etrace_msg *msg,
		     uint8_t bytes[RVT_ETRACE_MAX_FRAME_BYTES], unsigned int *payload_bytes);

/* Sign extension of the low @bits of @value. */
static inline uint64_t rvt_etrace_sign(uint64_t value, unsigned int bits)
{
	if (!bits || bits >= 64)
		return value;
	return (uint64_t)((int64_t)(value << (64 - bits)) >> (64 - bits));
}

static inline uint64_t rvt_etrace_mask(unsigned int bits)
{
	return bits >= 64 ? UINT64_MAX : (1ull << bits) - 1;
}

#endif
