// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * The te_data packets (2.0 chapter "Data Trace Encoder Output Packets", 2.0.5 extension "Data Trace
 * of Multiple-Memory Access and Compare and Swap"). What an encoder does not report is left out of
 * a packet: addresses, or values and the lengths before them.
 */
#include <etrace/tables.h>

#define USE(f, width, when, match) { RVT_ETRACE_F_##f, width, when, 0, match }
#define W(f, w) USE(f, RVT_ETRACE_W_##w, 0, 0)
#define WHEN(f, w, c) USE(f, RVT_ETRACE_W_##w, RVT_ETRACE_##c, 0)
#define SET(f, n, mask) USE(f, n, 0, mask)
#define END { RVT_ETRACE_FIELDS, 0, 0, 0, 0 }
#define PACKET(id, ...) { RVT_ETRACE_DATA_##id, { __VA_ARGS__, END } }

/* @mask: a bit for each value of format */
#define FMT(mask) SET(FORMAT, RVT_ETRACE_W_DATA_FORMAT, mask)
#define VALUE_FIELDS WHEN(DATA_LEN, LEN, IF_BOTH), WHEN(DATA, DATA, IF_VALUE)
#define OPERAND_FIELDS WHEN(OP_LEN, LEN, IF_VALUE), WHEN(OPERAND, OPERAND, IF_VALUE)
#define ADDRESS_FIELD WHEN(ADDRESS, DADDRESS, IF_ADDRESS)
#define ACCESS_FIELDS W(SIZE, SIZE), W(DIFF, DIFF), VALUE_FIELDS, ADDRESS_FIELD
#define LOAD_REQUEST_FIELDS W(SIZE, SIZE), W(LRID, LRID), SET(DIFF, 1, 0), W(ADDRESS, DADDRESS)
#define RESPONSE_FIELDS \
	W(SIZE, SIZE), W(LRID, LRID), SET(RESP, 2, 0), WHEN(DATA, DATA, UNLESS_ERROR)
#define ATOMIC_FIELDS W(SIZE, SIZE), W(DIFF, DIFF), OPERAND_FIELDS, VALUE_FIELDS, ADDRESS_FIELD
/* Without an address the operand is the last field, and needs no length. */
#define ATOMIC_REQUEST_FIELDS \
	W(SIZE, SIZE), W(LRID, LRID), W(DIFF, DIFF_REQUEST), WHEN(OP_LEN, LEN, IF_ADDRESS), \
	W(OPERAND, OPERAND), ADDRESS_FIELD
#define CSR_FIELDS \
	W(DIFF, DIFF_CSR), WHEN(DATA_LEN, CSR_LEN, IF_VALUE), WHEN(DATA, DATA, IF_VALUE), \
	SET(ADDR_MSBS, 6, 0), WHEN(OP_LEN, CSR_LEN, UNLESS_READ_ONLY), \
	WHEN(OPERAND, OPERAND, UNLESS_READ_ONLY), SET(ADDR_LSBS, 6, 0)

static const struct rvt_etrace_format formats[] = {
	PACKET(SPLIT_LOAD, FMT(0x3), LOAD_REQUEST_FIELDS),
	PACKET(ACCESS, FMT(0xf), ACCESS_FIELDS),
	PACKET(RESPONSE, FMT(0x10), RESPONSE_FIELDS),
	PACKET(CSR, FMT(0x20), SET(SUBTYPE, 2, 0x7), CSR_FIELDS),
	PACKET(SPLIT_ATOMIC, FMT(0x40), SET(SUBTYPE, 3, 0x7f), ATOMIC_REQUEST_FIELDS),
	PACKET(ATOMIC, FMT(0x40), SET(SUBTYPE, 3, 0xff), ATOMIC_FIELDS),
	PACKET(ATOMIC_RESPONSE, FMT(0x80), W(LRID, LRID), SET(RESP, 2, 0),
	       WHEN(DATA_LEN, LEN, UNLESS_ERROR), WHEN(DATA, DATA, UNLESS_ERROR)),
	{ .uses = { END } },
};

static const struct rvt_etrace_format formats_multi_access[] = {
	PACKET(SPLIT_LOAD, FMT(0x3), SET(SUBFORMAT, 2, 0x3), LOAD_REQUEST_FIELDS),
	PACKET(ACCESS, FMT(0x3), SET(SUBFORMAT, 2, 0xf), ACCESS_FIELDS),
	PACKET(RESPONSE, FMT(0x8), RESPONSE_FIELDS),
	PACKET(CSR, FMT(0x4), SET(SUBFORMAT, 4, 0x70), CSR_FIELDS),
	PACKET(CAS_FAILURE, FMT(0x4), SET(SUBFORMAT, 4, 0x80), W(SIZE, SIZE), W(DIFF, DIFF),
	       OPERAND_FIELDS, ADDRESS_FIELD),
	PACKET(SPLIT_ATOMIC, FMT(0x4), SET(SUBFORMAT, 4, 0x7f00), ATOMIC_REQUEST_FIELDS),
	PACKET(ATOMIC, FMT(0x4), SET(SUBFORMAT, 4, 0xff80), ATOMIC_FIELDS),
	{ .uses = { END } },
};

const struct rvt_etrace_format *rvt_etrace_data_formats(bool multi_access)
{
	return multi_access ? formats_multi_access : formats;
}
