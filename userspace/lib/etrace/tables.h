/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The packets of E-Trace: te_inst, one table per dialect (0.029 chapter 6; 2.0 chapter "Instruction
 * Trace Encoder Output Packets"; 2.0.5 chapter "Extensions"), and te_data (2.0 chapter "Data Trace
 * Encoder Output Packets"; 2.0.5 extension "Data Trace of Multiple-Memory Access and Compare and
 * Swap"). The tables drive reader, writer, dump and assembler. Internal to librvtrace.
 */
#ifndef RVTRACE_ETRACE_TABLES_H
#define RVTRACE_ETRACE_TABLES_H

#include <rvtrace/etrace.h>

/* Widths of fields: a number of bits, or one of these, which depend on parameters. */
enum rvt_etrace_width {
	RVT_ETRACE_W_FIXED_MAX = 64,
	RVT_ETRACE_W_CONTEXT,	/* context_width_p, 0 if nocontext_p */
	RVT_ETRACE_W_CONTEXT_029, /* of context packets: context_packet_context says when */
	RVT_ETRACE_W_PRIVILEGE,
	RVT_ETRACE_W_TIME,	/* time_width_p, 0 if notime_p */
	RVT_ETRACE_W_ADDRESS,	/* iaddress_width_p - iaddress_lsb_p */
	RVT_ETRACE_W_TVAL,	/* iaddress_width_p */
	RVT_ETRACE_W_ECAUSE,
	RVT_ETRACE_W_F0S,
	RVT_ETRACE_W_INDEX,	/* cache_size_p */
	RVT_ETRACE_W_IRDEPTH_STACK, /* return_stack_size_p */
	RVT_ETRACE_W_IRDEPTH,	/* return_stack_size_p + 1 (if there is one) + call_counter_size_p;
				 * 0 with the implicit return extension */
	RVT_ETRACE_W_IRETS,	/* 8 with the implicit return extension, else 0 */
	RVT_ETRACE_W_ENCODER_MODE,
	RVT_ETRACE_W_IOPTIONS,
	RVT_ETRACE_W_DOPTIONS,
	RVT_ETRACE_W_SUPPORT_TIME, /* of time_width in the 2.0.5 support packet */
	RVT_ETRACE_W_MAP,	/* 1, 3, 7, 15 or 31, by branches */
	/* te_data */
	RVT_ETRACE_W_DATA_FORMAT, /* 2 or 3; with the extension 0 to 2 */
	RVT_ETRACE_W_SIZE,
	RVT_ETRACE_W_LRID,
	RVT_ETRACE_W_DIFF,	/* 2 with address and value, 1 with address, else as DIFF_VALUE */
	RVT_ETRACE_W_DIFF_VALUE, /* 1 or 2: data_compression */
	/* of split atomic operations: as DIFF_VALUE, 2 with the extension */
	RVT_ETRACE_W_DIFF_REQUEST,
	RVT_ETRACE_W_DIFF_CSR,	/* as DIFF_VALUE, 1 without values */
	RVT_ETRACE_W_CSR_LEN,	/* 2 or 3, by XLEN */
	RVT_ETRACE_W_DADDRESS,	/* daddress_width_p */
	RVT_ETRACE_W_LEN,	/* the value of size */
	RVT_ETRACE_W_DATA,	/* as data_len says, data_width_p without */
	RVT_ETRACE_W_OPERAND,	/* as op_len says, data_width_p without */
};

enum rvt_etrace_when {
	RVT_ETRACE_ALWAYS,
	RVT_ETRACE_UNLESS_IMPLICIT,	  /* not with implicit exception mode */
	RVT_ETRACE_UNLESS_IMPLICIT_THADDR, /* not with implicit exception mode and thaddr = 1 */
	RVT_ETRACE_UNLESS_INTERRUPT,
	/* te_data: by what the encoder reports */
	RVT_ETRACE_IF_ADDRESS,
	RVT_ETRACE_IF_VALUE,
	RVT_ETRACE_IF_BOTH,
	/* by the packet */
	RVT_ETRACE_UNLESS_ERROR,	/* not with resp = 0 */
	RVT_ETRACE_UNLESS_READ_ONLY,	/* not of a CSR that is read-only; if there are values */
};

/* How a bit relates to the one before it. */
enum rvt_etrace_coding {
	RVT_ETRACE_PLAIN,
	RVT_ETRACE_DIFFERS,	/* 1 is sent as the inverse of the preceding bit */
	RVT_ETRACE_FILLS,	/* all bits copy the preceding one unless irreport is flagged */
};

#define RVT_ETRACE_ANY 0u	/* no restriction on the value */
#define RVT_ETRACE_COPIES (~0u)	/* all bits copy the preceding one */

struct rvt_etrace_use {
	uint8_t field;		/* enum rvt_etrace_field; RVT_ETRACE_FIELDS ends a list */
	uint8_t width;		/* bits, or enum rvt_etrace_width */
	uint8_t when;
	uint8_t coding;
	uint32_t match;		/* bit per value that this packet may have here, or ANY, COPIES */
};

#define RVT_ETRACE_MAX_USES 32

/* Layouts are tried in the order of the table; format and match values tell them apart. */
struct rvt_etrace_format {
	uint8_t kind;		/* enum rvt_etrace_kind */
	struct rvt_etrace_use uses[RVT_ETRACE_MAX_USES];
};

/* A format without uses ends the table. NULL if @dialect is not one of E-Trace. */
const struct rvt_etrace_format *rvt_etrace_formats(enum rvt_dialect dialect);
/* Of te_data packets; @multi_access: those of the extension. */
const struct rvt_etrace_format *rvt_etrace_data_formats(bool multi_access);
/* Name of a packet, as "format 3, subformat 0 (start)". */
const char *rvt_etrace_kind_name(enum rvt_etrace_kind kind);
/* A field's name in a dialect. */
const char *rvt_etrace_field_name(enum rvt_dialect dialect, enum rvt_etrace_field field);
/* Meaning of a qual_status value in a dialect. */
const char *rvt_etrace_qual_name(enum rvt_dialect dialect, uint64_t qual_status);

/* Length of branch_map for a number of branches; 0 stands for a full map. */
static inline unsigned int rvt_etrace_map_bits(unsigned int branches)
{
	if (!branches || branches >= 16)
		return 31;
	return branches >= 8 ? 15 : branches >= 4 ? 7 : branches >= 2 ? 3 : 1;
}

#endif
