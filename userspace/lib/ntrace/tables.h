/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The messages of N-Trace (chapters 6 and 7), and those that chips have besides. One table drives
 * reader, writer, dump and assembler. 1.0.0_rc7 and 1.0 have the same TCODEs, fields, orders and
 * widths; they differ in the limits of two fields, and in behaviour (encoder.c, decoder.c).
 */
#ifndef RVTRACE_NTRACE_TABLES_H
#define RVTRACE_NTRACE_TABLES_H

#include <rvtrace/ntrace.h>

#define RVT_NTRACE_MAX_SRC_BITS 12
#define RVT_NTRACE_MAX_ICNT_BITS 22
#define RVT_NTRACE_MAX_ADDR_BITS 63
#define RVT_NTRACE_MAX_HIST_BITS 32
/* Counts that no text limits: SiFive: branches in a ResourceFull; CTTE: HREPEAT, B-CNT */
#define RVT_NTRACE_MAX_COUNT_BITS 32
#define RVT_NTRACE_MAX_REPEAT_BITS 18	/* HREPEAT, B-CNT; not limited in rc7 */

/*
 * The longest message has 38 bytes. The reader takes longer ones (zeros on top of a field are
 * legal, vendors are free) and gives up here.
 */
#define RVT_NTRACE_MAX_MESSAGE_BYTES 64

/* In which dialects a message is. */
enum {
	RVT_NTRACE_OF_STANDARD = 1u << 0,	/* 1.0.0_rc7 and 1.0 */
	RVT_NTRACE_OF_SIFIVE = 1u << 1,
	RVT_NTRACE_OF_CTTE = 1u << 2,
	RVT_NTRACE_OF_ALL = 7,
};

enum { RVT_NTRACE_IN_BTM = 1u << 0, RVT_NTRACE_IN_HTM = 1u << 1, RVT_NTRACE_IN_ANY = 3 };

/* When a field is there. */
enum rvt_ntrace_when {
	RVT_NTRACE_ALWAYS,
	RVT_NTRACE_WHEN_RCODE_2,
	RVT_NTRACE_WHEN_CDF_1,
	RVT_NTRACE_WHEN_CDF_2_3,
	RVT_NTRACE_WHEN_CDF_3,
	RVT_NTRACE_WHEN_CKDF_1,
};

struct rvt_ntrace_use {
	uint8_t field;		/* enum rvt_ntrace_field; RVT_NTRACE_FIELDS ends a list */
	uint8_t bits;		/* 0: variable */
	uint8_t when;		/* enum rvt_ntrace_when */
};

/* One TCODE: what follows TCODE and SRC. Fixed fields come first; TSTAMP may end any message. */
struct rvt_ntrace_format {
	uint8_t tcode;
	uint8_t modes;
	uint8_t dialects;	/* RVT_NTRACE_OF_* */
	const char *name;
	struct rvt_ntrace_use uses[8];
};

struct rvt_ntrace_field_info {
	const char *name;	/* as in the specification */
	uint8_t max_bits[2];	/* of the value: [0] 1.0.0_rc7, [1] 1.0 */
};

#define RVT_NTRACE_FORMATS 23
extern const struct rvt_ntrace_format rvt_ntrace_formats[RVT_NTRACE_FORMATS];
extern const struct rvt_ntrace_field_info rvt_ntrace_fields[RVT_NTRACE_FIELDS];

enum rvt_ntrace_kind { RVT_NTRACE_STANDARD, RVT_NTRACE_VENDOR, RVT_NTRACE_RESERVED };

/* Any message of the table; NULL for other TCODEs. */
const struct rvt_ntrace_format *rvt_ntrace_format(unsigned int tcode);
/* Of the messages of @dialect; NULL for vendor-defined and reserved TCODEs. */
const struct rvt_ntrace_format *rvt_ntrace_format_of(enum rvt_dialect dialect, unsigned int tcode);
/* STANDARD: one of the messages of @dialect. */
enum rvt_ntrace_kind rvt_ntrace_kind(enum rvt_dialect dialect, unsigned int tcode);
/*
 * Whether program trace may be missing behind an Error message: not where ETYPE is a queue overrun
 * and ECODE names other messages only. SiFive before 1.0 gives no meaning to ECODE.
 */
bool rvt_ntrace_may_lose_flow(enum rvt_dialect dialect, const struct rvt_ntrace_msg *msg);
/*
 * A sync resets the encoder. 1.0: any. 1.0.0_rc7: not those that mark a place (SYNC 0, 4, 6). CTTE:
 * where tracing begins, and after an overflow.
 */
bool rvt_ntrace_resets(enum rvt_dialect dialect, const struct rvt_ntrace_msg *msg);
/* Message name; "Vendor" or "Reserved". */
const char *rvt_ntrace_name(enum rvt_dialect dialect, unsigned int tcode);
/*
 * Meaning of a SYNC, B-TYPE, EVCODE, RCODE, ETYPE or CKSRC value; NULL for other fields and values.
 */
const char *rvt_ntrace_value_name(enum rvt_dialect dialect, enum rvt_ntrace_field field,
				  uint64_t value);

#endif
