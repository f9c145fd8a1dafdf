/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Between bytes and struct rvt_ntrace_msg: reader and writer. Internal to librvtrace.
 * The codec knows bits; what messages mean is the decoder's business.
 */
#ifndef RVTRACE_NTRACE_MESSAGE_H
#define RVTRACE_NTRACE_MESSAGE_H

#include <rvtrace/access.h>
#include <rvtrace/ntrace.h>
#include <ntrace/tables.h>

/* ---- bytes ---- */

#define RVT_NTRACE_ONES UINT64_C(0x0101010101010101)	/* bit 0 of each byte */

/* The 6 MDO bits of each byte in a row. */
static inline uint64_t rvt_ntrace_pack(uint64_t word)
{
	word = word >> 2 & UINT64_C(0x3f3f3f3f3f3f3f3f);
	word = (word & UINT64_C(0x003f003f003f003f)) | (word & UINT64_C(0x3f003f003f003f00)) >> 2;
	word = (word & UINT64_C(0x00000fff00000fff)) | (word & UINT64_C(0x0fff00000fff0000)) >> 4;
	return (word & 0xffffff) | (word & UINT64_C(0x00ffffff00000000)) >> 8;
}

/* ---- reader ---- */

enum rvt_ntrace_read {
	RVT_NTRACE_READ_MORE,		/* input is used up (a partial message is kept) */
	RVT_NTRACE_READ_MESSAGE,
	RVT_NTRACE_READ_DAMAGE,		/* bytes that are no message; reading goes on behind them */
};

struct rvt_ntrace_damage {
	uint64_t offset;		/* of the first byte of the damaged message */
	uint64_t len_bytes;		/* up to where messages start again */
	const char *what;		/* a sentence for people, static */
};

/* A message's layout with SRC accounted for. Private to the reader. */
struct rvt_ntrace_layout {
	uint8_t known;
	uint8_t fixed_bits;		/* TCODE, SRC and the fixed fields */
	uint8_t n_fixed, n_var;
	uint8_t hist;			/* field that must have a stop bit; 0: none */
	bool depends;			/* fixed fields choose another layout */
	uint64_t present;
	struct { uint8_t field, shift, mask; } fixed[3];
	struct { uint8_t field, max_bits; } var[6];
};

/* Layouts beyond those of the 64 TCODEs: messages whose fields depend on a fixed field. */
enum {
	RVT_NTRACE_LAYOUT_RCODE_0 = 64,
	RVT_NTRACE_LAYOUT_RCODE_1,
	RVT_NTRACE_LAYOUT_RCODE_2,
	RVT_NTRACE_LAYOUT_RCODE_8,	/* SiFive: 8 and 9 */
	RVT_NTRACE_LAYOUT_CDF_1,
	RVT_NTRACE_LAYOUT_CDF_2,
	RVT_NTRACE_LAYOUT_CDF_3,
	RVT_NTRACE_LAYOUT_CKDF_1,
	RVT_NTRACE_LAYOUT_SYNC_CKDF_1,
	RVT_NTRACE_LAYOUTS
};

#define RVT_NTRACE_IDLE 0xff	/* a byte between messages */

struct rvt_ntrace_reader {
	/* for the user to read */
	uint64_t idle_bytes;
	uint64_t skipped_bytes;		/* that belong to no message */
	struct rvt_ntrace_damage damage;
	const uint8_t *bytes;		/* of the last message; until the next call */

	/* private */
	const uint8_t *pos, *end;
	uint64_t offset;		/* of *pos */
	uint64_t carry_offset;
	uint32_t carry_len;
	uint32_t src_mask;
	uint8_t src_bits;
	bool sifive, ctte;
	bool timestamps;
	bool tentative;			/* nobody knows whether a message starts here */
	bool hunting;			/* until the byte behind the next end of message */
	bool report;			/* the bytes hunted through are reported as damage */
	uint8_t carry[RVT_NTRACE_MAX_MESSAGE_BYTES];
	struct rvt_ntrace_layout layouts[RVT_NTRACE_LAYOUTS];
};

/*
 * Uses @params->src_bits, timestamp and dialect. The reader starts as after
 * rvt_ntrace_reader_lost(reader, false). Returns 0 or -EINVAL (SRC wider than 12 bits).
 */
int rvt_ntrace_reader_init(struct rvt_ntrace_reader *reader, const struct rvt_params *params);
/*
 * The next @len bytes of the stream; they stay the caller's and must live until
 * rvt_ntrace_reader_next() returned RVT_NTRACE_READ_MORE, which must have happened before the
 * next call. @offset: of the first byte in the recording. Offsets need not be contiguous.
 */
void rvt_ntrace_reader_feed(struct rvt_ntrace_reader *reader, const void *bytes, size_t len,
			    uint64_t offset);
/*
 * rvt_ntrace_reader_next - the next message, or what is in its way.
 * RVT_NTRACE_READ_MESSAGE: *msg holds it. Only msg->field[] and msg->bits[] of fields in
 * msg->present are written; msg->bits[] only of variable fields. Vendor-defined and reserved TCODEs
 * come with TCODE and SRC; of CTTE also with TSTAMP, their last field if they have several. HIST,
 * and RDATA with RCODE 1 or 2, have their stop bit; values are within the limits of the
 * specification; addresses as sent (see below).
 * RVT_NTRACE_READ_DAMAGE: reader->damage tells what and where.
 * Never reads beyond the bytes that were fed; a message ends after 64 bytes at the latest.
 */
enum rvt_ntrace_read rvt_ntrace_reader_next(struct rvt_ntrace_reader *reader,
					    struct rvt_ntrace_msg *msg);
/*
 * Bytes are missing here. Forgets a partial message (counted as skipped) and input not yet read.
 * @boundary: the next byte begins a message. Otherwise that is found out: the next message counts
 * only if it is one that a trace begins with (ProgTraceSync with I-CNT 0,
 * ProgTraceCorrelation, Error), else everything up to the next end of a message is skipped
 * silently. Returns the number of bytes of the partial message.
 */
unsigned int rvt_ntrace_reader_lost(struct rvt_ntrace_reader *reader, bool boundary);
/* End of data: true if it ends inside a message or in damage; reader->damage says where. */
bool rvt_ntrace_reader_finish(struct rvt_ntrace_reader *reader);

static inline bool rvt_ntrace_has(const struct rvt_ntrace_msg *msg, enum rvt_ntrace_field field)
{
	return msg->present >> field & 1;
}

/* In as few bits as the value needs. */
static inline void rvt_ntrace_set(struct rvt_ntrace_msg *msg, enum rvt_ntrace_field field,
				  uint64_t value)
{
	msg->field[field] = value;
	msg->bits[field] = 0;
	msg->present |= UINT64_C(1) << field;
}

/* A message without fields but its TCODE. */
static inline void rvt_ntrace_begin(struct rvt_ntrace_msg *msg, enum rvt_ntrace_tcode tcode)
{
	msg->present = 0;
	rvt_ntrace_set(msg, RVT_NTRACE_F_TCODE, tcode);
}

/* Any message with SYNC and F-ADDR. */
static inline bool rvt_ntrace_is_sync(const struct rvt_ntrace_msg *msg)
{
	return rvt_ntrace_has(msg, RVT_NTRACE_F_FADDR);
}

/* TSTAMP is the time itself, not what has changed since the last one. */
static inline bool rvt_ntrace_has_full_time(const struct rvt_ntrace_msg *msg)
{
	const uint64_t tcode = msg->field[RVT_NTRACE_F_TCODE];

	return rvt_ntrace_has(msg, RVT_NTRACE_F_SYNC) || tcode == RVT_NTRACE_DATA_WRITE_SYNC ||
	       tcode == RVT_NTRACE_DATA_READ_SYNC;
}

/* A data message of CTTE. */
static inline bool rvt_ntrace_is_data(const struct rvt_ntrace_msg *msg)
{
	return rvt_ntrace_has(msg, RVT_NTRACE_F_DSZ);
}

#define RVT_NTRACE_ENAB_DATA_XOR (1u << 21)	/* in ENAB of a Configuration message */

/* What the addresses of data messages are XORed with. */
struct rvt_ntrace_data {
	bool xor;		/* data_address, or what a Configuration message says */
	bool valid;
	uint64_t address;
};

/* Sets *@access to what a data message says. Its address is not valid where it cannot be known. */
void rvt_ntrace_data_access(struct rvt_ntrace_data *data, const struct rvt_params *params,
			    const struct rvt_ntrace_msg *msg, struct rvt_access *access);

/*
 * A field as an address (or as what the reference address is to be XORed with): bit 0 added, and
 * with extend_address_msb (trTeInstExtendAddrMSB) the last bit of the last MDO extended up to bit
 * XLEN-1.
 */
static inline uint64_t rvt_ntrace_addr_field(const struct rvt_params *params,
					     const struct rvt_ntrace_msg *msg,
					     enum rvt_ntrace_field field)
{
	uint64_t value = msg->field[field];
	unsigned int bits = msg->bits[field];

	if (params->options & RVT_OPT_EXTEND_ADDRESS_MSB && bits && bits < 64 &&
	    value >> (bits - 1) & 1)
		value |= UINT64_MAX << bits;
	value <<= 1;
	return params->xlen == 32 ? (uint32_t)value : value;
}

/* Where only `address_bits` of an address are sent the top one stands for those above. */
static inline uint64_t rvt_ntrace_addr_extend(const struct rvt_params *params, uint64_t addr)
{
	const unsigned int above = params->address_bits ? 64 - params->address_bits : 0;

	return (uint64_t)((int64_t)(addr << above) >> above);
}

/* The address of F-ADDR. */
static inline uint64_t rvt_ntrace_full_addr(const struct rvt_params *params,
					    const struct rvt_ntrace_msg *msg)
{
	return rvt_ntrace_addr_extend(params,
				      rvt_ntrace_addr_field(params, msg, RVT_NTRACE_F_FADDR));
}

/* The address that U-ADDR, or CKDATA0 or 1, makes of the one before. */
static inline uint64_t rvt_ntrace_next_addr(const struct rvt_params *params,
					    const struct rvt_ntrace_msg *msg,
					    enum rvt_ntrace_field field, uint64_t reference)
{
	return rvt_ntrace_addr_extend(params,
				      reference ^ rvt_ntrace_addr_field(params, msg, field));
}

/*
 * An in-circuit trace message (SiFive): *pc is where what it reports happened, *reference the one
 * of U-ADDR, before and after it. False: it has no address.
 */
static inline bool rvt_ntrace_circuit_address(const struct rvt_params *params,
					      const struct rvt_ntrace_msg *msg,
					      uint64_t *reference, uint64_t *pc)
{
	const bool two = msg->field[RVT_NTRACE_F_CKDF];
	const uint64_t cksrc = msg->field[RVT_NTRACE_F_CKSRC];

	if (!rvt_ntrace_has(msg, RVT_NTRACE_F_CKSRC) || (cksrc == RVT_NTRACE_CK_CONTROL && !two))
		return false;
	*pc = rvt_ntrace_next_addr(params, msg, RVT_NTRACE_F_CKDATA0,
				   rvt_ntrace_has(msg, RVT_NTRACE_F_SYNC) ? 0 : *reference);
	*reference = cksrc == RVT_NTRACE_CK_CALL && two ?
		     rvt_ntrace_next_addr(params, msg, RVT_NTRACE_F_CKDATA1, *pc) : *pc;
	return true;
}

/* ---- writer ---- */

/*
 * rvt_ntrace_write - @msg to bytes. Writes the fields that the message's table lists: fixed
 * fields cut to their width, variable ones with at least msg->bits[] bits (0: as few as the
 * value needs). SRC is written when @src_bits is not 0. TSTAMP when present.
 * Returns the length, or -EINVAL for a TCODE without table, or a message longer than
 * RVT_NTRACE_MAX_MESSAGE_BYTES.
 */
int rvt_ntrace_write(const struct rvt_ntrace_msg *msg, unsigned int src_bits,
		     uint8_t bytes[RVT_NTRACE_MAX_MESSAGE_BYTES]);

#endif
