// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <rvtrace/flow.h>
#include <ntrace/tables.h>

#define FIX(f, n) { RVT_NTRACE_F_##f, n, RVT_NTRACE_ALWAYS }
#define VAR(f) { RVT_NTRACE_F_##f, 0, RVT_NTRACE_ALWAYS }
#define VAR_WHEN(f, w) { RVT_NTRACE_F_##f, 0, RVT_NTRACE_WHEN_##w }
#define END { RVT_NTRACE_FIELDS, 0, 0 }
#define FORMAT_OF(dialects, id, modes, name, ...) \
	{ RVT_NTRACE_##id, RVT_NTRACE_IN_##modes, RVT_NTRACE_OF_##dialects, name, \
	  { __VA_ARGS__, END } }
#define FORMAT(id, modes, name, ...) FORMAT_OF(ALL, id, modes, name, __VA_ARGS__)

const struct rvt_ntrace_format rvt_ntrace_formats[RVT_NTRACE_FORMATS] = {
	FORMAT(OWNERSHIP, ANY, "Ownership", VAR(PROCESS)),
	FORMAT(DIRECT_BRANCH, BTM, "DirectBranch", VAR(ICNT)),
	FORMAT(INDIRECT_BRANCH, ANY, "IndirectBranch", FIX(BTYPE, 2), VAR(ICNT), VAR(UADDR)),
	FORMAT(ERROR, ANY, "Error", FIX(ETYPE, 4), VAR(ECODE)),
	FORMAT(PROG_TRACE_SYNC, ANY, "ProgTraceSync", FIX(SYNC, 4), VAR(ICNT), VAR(FADDR)),
	FORMAT(DIRECT_BRANCH_SYNC, BTM, "DirectBranchSync", FIX(SYNC, 4), VAR(ICNT), VAR(FADDR)),
	FORMAT(INDIRECT_BRANCH_SYNC, ANY, "IndirectBranchSync",
	       FIX(SYNC, 4), FIX(BTYPE, 2), VAR(ICNT), VAR(FADDR)),
	FORMAT(RESOURCE_FULL, ANY, "ResourceFull",
	       FIX(RCODE, 4), VAR(RDATA), VAR_WHEN(HREPEAT, RCODE_2)),
	FORMAT(INDIRECT_BRANCH_HIST, HTM, "IndirectBranchHist",
	       FIX(BTYPE, 2), VAR(ICNT), VAR(UADDR), VAR(HIST)),
	FORMAT(INDIRECT_BRANCH_HIST_SYNC, HTM, "IndirectBranchHistSync",
	       FIX(SYNC, 4), FIX(BTYPE, 2), VAR(ICNT), VAR(FADDR), VAR(HIST)),
	FORMAT(REPEAT_BRANCH, ANY, "RepeatBranch", VAR(BCNT)),
	FORMAT(PROG_TRACE_CORRELATION, ANY, "ProgTraceCorrelation",
	       FIX(EVCODE, 4), FIX(CDF, 2), VAR(ICNT), VAR_WHEN(HIST, CDF_1),
	       VAR_WHEN(CDATA1, CDF_2_3), VAR_WHEN(CDATA2, CDF_2_3), VAR_WHEN(CDATA3, CDF_3)),
	FORMAT_OF(SIFIVE, DATA_ACQUISITION, ANY, "DataAcquisition", VAR(IDTAG), VAR(DQDATA)),
	FORMAT_OF(SIFIVE, AUX_ACCESS_WRITE, ANY, "AuxAccessWrite", VAR(ADDR), VAR(DATA)),
	FORMAT_OF(SIFIVE, IN_CIRCUIT_TRACE, ANY, "InCircuitTrace",
		  FIX(CKSRC, 4), FIX(CKDF, 2), VAR(CKDATA0), VAR_WHEN(CKDATA1, CKDF_1)),
	FORMAT_OF(SIFIVE, IN_CIRCUIT_TRACE_SYNC, ANY, "InCircuitTraceSync",
		  FIX(SYNC, 4), FIX(CKSRC, 4), FIX(CKDF, 2), VAR(CKDATA0),
		  VAR_WHEN(CKDATA1, CKDF_1)),
	FORMAT_OF(CTTE, DATA_WRITE, ANY, "DataWrite",
		  FIX(DSZ, 4), FIX(ELSZ, 3), VAR(ADDR), VAR(DATA)),
	FORMAT_OF(CTTE, DATA_READ, ANY, "DataRead",
		  FIX(DSZ, 4), FIX(ELSZ, 3), VAR(ADDR), VAR(DATA)),
	FORMAT_OF(CTTE, DATA_WRITE_SYNC, ANY, "DataWriteSync",
		  FIX(DSZ, 4), FIX(ELSZ, 3), VAR(ADDR), VAR(DATA)),
	FORMAT_OF(CTTE, DATA_READ_SYNC, ANY, "DataReadSync",
		  FIX(DSZ, 4), FIX(ELSZ, 3), VAR(ADDR), VAR(DATA)),
	FORMAT_OF(CTTE, BRANCH_PREDICTION, HTM, "BranchPrediction", VAR(BCNT)),
	FORMAT_OF(CTTE, JUMP_TARGET_CACHE, HTM, "JumpTargetCache",
		  FIX(BTYPE, 2), VAR(ICNT), VAR(JIDX), VAR(HIST)),
	FORMAT_OF(CTTE, CONFIGURATION, ANY, "Configuration",
		  FIX(CFGVER, 4), VAR(CAPS), VAR(ENAB), VAR(PARAM0), VAR(PARAM1), VAR(PARAM2),
		  VAR(PARAM3)),
};

const struct rvt_ntrace_field_info rvt_ntrace_fields[RVT_NTRACE_FIELDS] = {
	[RVT_NTRACE_F_TCODE] = { "TCODE", { 6, 6 } },
	[RVT_NTRACE_F_SRC] = { "SRC", { RVT_NTRACE_MAX_SRC_BITS, RVT_NTRACE_MAX_SRC_BITS } },
	[RVT_NTRACE_F_SYNC] = { "SYNC", { 4, 4 } },
	[RVT_NTRACE_F_BTYPE] = { "B-TYPE", { 2, 2 } },
	[RVT_NTRACE_F_ICNT] = { "I-CNT", { RVT_NTRACE_MAX_ICNT_BITS, RVT_NTRACE_MAX_ICNT_BITS } },
	[RVT_NTRACE_F_UADDR] = { "U-ADDR", { RVT_NTRACE_MAX_ADDR_BITS, RVT_NTRACE_MAX_ADDR_BITS } },
	[RVT_NTRACE_F_FADDR] = { "F-ADDR", { RVT_NTRACE_MAX_ADDR_BITS, RVT_NTRACE_MAX_ADDR_BITS } },
	[RVT_NTRACE_F_HIST] = { "HIST", { RVT_NTRACE_MAX_HIST_BITS, RVT_NTRACE_MAX_HIST_BITS } },
	[RVT_NTRACE_F_ETYPE] = { "ETYPE", { 4, 4 } },
	[RVT_NTRACE_F_ECODE] = { "ECODE", { 64, 64 } },
	[RVT_NTRACE_F_RCODE] = { "RCODE", { 4, 4 } },
	[RVT_NTRACE_F_RDATA] = { "RDATA", { 64, 64 } },
	[RVT_NTRACE_F_HREPEAT] = { "HREPEAT", { 64, RVT_NTRACE_MAX_REPEAT_BITS } },
	[RVT_NTRACE_F_BCNT] = { "B-CNT", { 64, RVT_NTRACE_MAX_REPEAT_BITS } },
	[RVT_NTRACE_F_EVCODE] = { "EVCODE", { 4, 4 } },
	[RVT_NTRACE_F_CDF] = { "CDF", { 2, 2 } },
	[RVT_NTRACE_F_PROCESS] = { "PROCESS", { 64, 64 } },
	[RVT_NTRACE_F_TSTAMP] = { "TSTAMP", { 64, 64 } },
	[RVT_NTRACE_F_IDTAG] = { "IDTAG", { 64, 64 } },
	[RVT_NTRACE_F_DQDATA] = { "DQDATA", { 64, 64 } },
	[RVT_NTRACE_F_ADDR] = { "ADDR", { 64, 64 } },
	[RVT_NTRACE_F_DATA] = { "DATA", { 64, 64 } },
	[RVT_NTRACE_F_CKSRC] = { "CKSRC", { 4, 4 } },
	[RVT_NTRACE_F_CKDF] = { "CKDF", { 2, 2 } },
	[RVT_NTRACE_F_CKDATA0] = { "CKDATA0", { 64, 64 } },
	[RVT_NTRACE_F_CKDATA1] = { "CKDATA1", { 64, 64 } },
	[RVT_NTRACE_F_CDATA1] = { "CDATA1", { 64, 64 } },
	[RVT_NTRACE_F_CDATA2] = { "CDATA2", { 64, 64 } },
	[RVT_NTRACE_F_CDATA3] = { "CDATA3", { 64, 64 } },
	[RVT_NTRACE_F_JIDX] = { "JIDX", { 64, 64 } },
	[RVT_NTRACE_F_DSZ] = { "DSZ", { 4, 4 } },
	[RVT_NTRACE_F_ELSZ] = { "ELSZ", { 3, 3 } },
	[RVT_NTRACE_F_CFGVER] = { "CFGVER", { 4, 4 } },
	[RVT_NTRACE_F_CAPS] = { "CAPS", { 32, 32 } },
	[RVT_NTRACE_F_ENAB] = { "ENAB", { 32, 32 } },
	[RVT_NTRACE_F_PARAM0] = { "PARAM0", { 32, 32 } },
	[RVT_NTRACE_F_PARAM1] = { "PARAM1", { 32, 32 } },
	[RVT_NTRACE_F_PARAM2] = { "PARAM2", { 32, 32 } },
	[RVT_NTRACE_F_PARAM3] = { "PARAM3", { 32, 32 } },
};

const struct rvt_ntrace_format *rvt_ntrace_format(unsigned int tcode)
{
	for (size_t i = 0; i < RVT_NTRACE_FORMATS; i++)
		if (rvt_ntrace_formats[i].tcode == tcode)
			return &rvt_ntrace_formats[i];
	return NULL;
}

static unsigned int dialect_bit(enum rvt_dialect dialect)
{
	switch (dialect) {
	case RVT_DIALECT_NTRACE_SIFIVE:
		return RVT_NTRACE_OF_SIFIVE;
	case RVT_DIALECT_NTRACE_CTTE:
		return RVT_NTRACE_OF_CTTE;
	default:
		return RVT_NTRACE_OF_STANDARD;
	}
}

const struct rvt_ntrace_format *rvt_ntrace_format_of(enum rvt_dialect dialect, unsigned int tcode)
{
	const struct rvt_ntrace_format *format = rvt_ntrace_format(tcode);

	return format && format->dialects & dialect_bit(dialect) ? format : NULL;
}

enum rvt_ntrace_kind rvt_ntrace_kind(enum rvt_dialect dialect, unsigned int tcode)
{
	if (rvt_ntrace_format_of(dialect, tcode))
		return RVT_NTRACE_STANDARD;
	return tcode >= 56 && tcode <= 62 ? RVT_NTRACE_VENDOR : RVT_NTRACE_RESERVED;
}

/* Bits of ECODE (7.4): data trace (reserved for it), Ownership, vendor-defined messages */
#define ECODE_OTHERS (0x22u | RVT_MARK_LOST_OWNERSHIP | RVT_MARK_LOST_VENDOR)

bool rvt_ntrace_may_lose_flow(enum rvt_dialect dialect, const struct rvt_ntrace_msg *msg)
{
	uint64_t ecode = msg->field[RVT_NTRACE_F_ECODE];

	return dialect == RVT_DIALECT_NTRACE_SIFIVE || msg->field[RVT_NTRACE_F_ETYPE] || !ecode ||
		ecode & ~(uint64_t)ECODE_OTHERS;
}

bool rvt_ntrace_resets(enum rvt_dialect dialect, const struct rvt_ntrace_msg *msg)
{
	switch (msg->field[RVT_NTRACE_F_SYNC]) {
	case RVT_NTRACE_SYNC_RESET_EXIT:
	case RVT_NTRACE_SYNC_DEBUG_EXIT:
	case RVT_NTRACE_SYNC_TRACE_ENABLE:
	case RVT_NTRACE_SYNC_FIFO_OVERRUN:
	case RVT_NTRACE_SYNC_POWER_DOWN_EXIT:
		return true;
	case RVT_NTRACE_SYNC_EXT_TRIGGER:
	case RVT_NTRACE_SYNC_ICNT_FULL:
	case RVT_NTRACE_SYNC_TRACE_EVENT:
		return dialect != RVT_DIALECT_NTRACE_RC7 && dialect != RVT_DIALECT_NTRACE_CTTE;
	default:
		return dialect != RVT_DIALECT_NTRACE_CTTE;
	}
}

const char *rvt_ntrace_name(enum rvt_dialect dialect, unsigned int tcode)
{
	const struct rvt_ntrace_format *format = rvt_ntrace_format_of(dialect, tcode);

	if (format)
		return format->name;
	return rvt_ntrace_kind(dialect, tcode) == RVT_NTRACE_VENDOR ? "Vendor" : "Reserved";
}

/* Values that SiFive gives a meaning before 1.0 does, or another one. */
static const char *sifive_value_name(enum rvt_ntrace_field field, uint64_t value)
{
	static const char *const cksrc[16] = {
		[RVT_NTRACE_CK_CONTROL] = "core control",
		[RVT_NTRACE_CK_TRIGGER] = "external trigger",
		[RVT_NTRACE_CK_CALL] = "call",
		[RVT_NTRACE_CK_EXCEPTION] = "exception",
		[RVT_NTRACE_CK_INTERRUPT] = "interrupt",
		[RVT_NTRACE_CK_CONTEXT] = "context",
		[RVT_NTRACE_CK_WATCHPOINT] = "watchpoint",
		[RVT_NTRACE_CK_PC_SAMPLE] = "PC sample",
	};

	switch (field) {
	case RVT_NTRACE_F_SYNC:
		return value == 11 ? "message contention" : value == 15 ? "PC sample" : NULL;
	case RVT_NTRACE_F_EVCODE:
		return value == RVT_NTRACE_EV_RESET ? "enter reset" : NULL;
	case RVT_NTRACE_F_RCODE:
		return value == 8 ? "branches not taken" : value == 9 ? "branches taken" : NULL;
	case RVT_NTRACE_F_CKSRC:
		return cksrc[value & 15];
	default:
		return NULL;
	}
}

const char *rvt_ntrace_value_name(enum rvt_dialect dialect, enum rvt_ntrace_field field,
				  uint64_t value)
{
	static const char *const sync[16] = {
		"external trigger", "exit from reset", "periodic", "exit from debug mode",
		"I-CNT full", "trace enable", "trace event", "restart after overrun",
		[9] = "exit from power-down", [14] = "vendor", [15] = "vendor",
	};
	static const char *const btype[4] = {
		"jump", "exception or interrupt", "exception", "interrupt",
	};
	static const char *const evcode[16] = {
		[0] = "debug entry", [1] = "low power", [4] = "trace disabled",
		[8 ... 15] = "vendor",
	};
	static const char *const rcode[16] = {
		"I-CNT full", "HIST full", "HIST repeated",
		[8 ... 15] = "vendor",
	};
	static const char *const etype[16] = {
		"queue overrun",
		[8 ... 15] = "vendor",
	};

	if (dialect == RVT_DIALECT_NTRACE_SIFIVE && sifive_value_name(field, value))
		return sifive_value_name(field, value);
	if (dialect == RVT_DIALECT_NTRACE_CTTE && field == RVT_NTRACE_F_SYNC &&
	    value == RVT_NTRACE_SYNC_REQUEST)
		return "request";
	switch (field) {
	case RVT_NTRACE_F_SYNC:
		return sync[value & 15];
	case RVT_NTRACE_F_BTYPE:
		return btype[value & 3];
	case RVT_NTRACE_F_EVCODE:
		return evcode[value & 15];
	case RVT_NTRACE_F_RCODE:
		return rcode[value & 15];
	case RVT_NTRACE_F_ETYPE:
		return etype[value & 15];
	default:
		return NULL;
	}
}
