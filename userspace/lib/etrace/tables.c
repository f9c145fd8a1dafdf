// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <etrace/tables.h>

#define USE(f, width, ...) { RVT_ETRACE_F_##f, width, __VA_ARGS__ }
#define BITS(f, n) USE(f, n, 0, 0, 0)
#define W(f, w) USE(f, RVT_ETRACE_W_##w, 0, 0, 0)
#define WHEN(f, w, c) USE(f, RVT_ETRACE_W_##w, RVT_ETRACE_UNLESS_##c, 0, 0)
#define DIFFERS(f) USE(f, 1, 0, RVT_ETRACE_DIFFERS, 0)
#define FILLS(f, w) USE(f, RVT_ETRACE_W_##w, 0, RVT_ETRACE_FILLS, 0)
#define IS(f, n, v) USE(f, n, 0, 0, 1u << (v))
#define SET(f, n, mask) USE(f, n, 0, 0, mask)
#define END { RVT_ETRACE_FIELDS, 0, 0, 0, 0 }

#define FMT(n) IS(FORMAT, 2, n)
#define FMT_3(sub) FMT(3), IS(SUBFORMAT, 2, sub)
#define F0S(sub) USE(SUBFORMAT, RVT_ETRACE_W_F0S, 0, 0, 1u << (sub))
#define WITH_MAP SET(BRANCHES, 5, 0xfffffffe), W(BRANCH_MAP, MAP)
#define NO_BRANCHES IS(BRANCHES, 5, 0)
#define PACKET(id, ...) { RVT_ETRACE_##id, { __VA_ARGS__, END } }

/* irfail and irdepth, irreport and irdepth or irets */
#define IR_029 DIFFERS(IRREPORT), FILLS(IRDEPTH, IRDEPTH_STACK)
#define IR DIFFERS(IRREPORT), FILLS(IRDEPTH, IRDEPTH), FILLS(IRETS, IRETS)
#define ADDRESS_TAIL W(ADDRESS, ADDRESS), DIFFERS(NOTIFY), DIFFERS(UPDISCON)

static const struct rvt_etrace_format formats_0_029[] = {
	PACKET(ADDRESS, FMT(2), ADDRESS_TAIL, IR_029),
	PACKET(BRANCH_ADDRESS, FMT(1), WITH_MAP, ADDRESS_TAIL, IR_029),
	PACKET(BRANCH_MAP, FMT(1), NO_BRANCHES, BITS(BRANCH_MAP, 31),
	       SET(BRANCH_FMT, 2, RVT_ETRACE_COPIES)),
	PACKET(COUNT, FMT(1), NO_BRANCHES, BITS(BRANCH_COUNT, 31), IS(BRANCH_FMT, 2, 1)),
	PACKET(COUNT_ADDRESS, FMT(1), NO_BRANCHES, BITS(BRANCH_COUNT, 31),
	       IS(BRANCH_FMT, 2, 2), BITS(BPSUCCESS, 1), ADDRESS_TAIL, IR_029),
	PACKET(CACHE_BRANCHES, FMT(0), F0S(0), W(INDEX, INDEX), WITH_MAP, IR_029),
	PACKET(CACHE, FMT(0), F0S(0), W(INDEX, INDEX), NO_BRANCHES, IR_029),
	PACKET(SYNC_START, FMT_3(0), W(CONTEXT, CONTEXT), W(PRIVILEGE, PRIVILEGE),
	       W(ADDRESS, ADDRESS), DIFFERS(BRANCH)),
	PACKET(SYNC_TRAP, FMT_3(1), W(CONTEXT, CONTEXT), W(PRIVILEGE, PRIVILEGE),
	       WHEN(ADDRESS, ADDRESS, IMPLICIT), W(ECAUSE, ECAUSE), BITS(INTERRUPT, 1),
	       W(TVAL, TVAL), DIFFERS(BRANCH)),
	PACKET(SYNC_CONTEXT, FMT_3(2), W(CONTEXT, CONTEXT_029), W(PRIVILEGE, PRIVILEGE)),
	PACKET(SYNC_SUPPORT, FMT_3(3), BITS(IENABLE, 1), W(ENCODER_MODE, ENCODER_MODE),
	       BITS(QUAL_STATUS, 2), W(IOPTIONS, IOPTIONS)),
	{ .uses = { END } },
};

/* 2.0 and 2.0.5 but for the support packet */
#define COMMON_2_0 \
	PACKET(ADDRESS, FMT(2), ADDRESS_TAIL, IR), \
	PACKET(BRANCH_ADDRESS, FMT(1), WITH_MAP, ADDRESS_TAIL, IR), \
	PACKET(BRANCH_MAP, FMT(1), NO_BRANCHES, BITS(BRANCH_MAP, 31)), \
	PACKET(COUNT, FMT(0), F0S(0), BITS(BRANCH_COUNT, 32), IS(BRANCH_FMT, 2, 0)), \
	PACKET(COUNT_ADDRESS, FMT(0), F0S(0), BITS(BRANCH_COUNT, 32), \
	       SET(BRANCH_FMT, 2, 0xc), ADDRESS_TAIL, IR), \
	PACKET(CACHE_BRANCHES, FMT(0), F0S(1), W(INDEX, INDEX), WITH_MAP, IR), \
	PACKET(CACHE, FMT(0), F0S(1), W(INDEX, INDEX), NO_BRANCHES, IR), \
	PACKET(SYNC_START, FMT_3(0), BITS(BRANCH, 1), W(PRIVILEGE, PRIVILEGE), \
	       W(TIME, TIME), W(CONTEXT, CONTEXT), W(ADDRESS, ADDRESS)), \
	PACKET(SYNC_TRAP, FMT_3(1), BITS(BRANCH, 1), W(PRIVILEGE, PRIVILEGE), \
	       W(TIME, TIME), W(CONTEXT, CONTEXT), W(ECAUSE, ECAUSE), BITS(INTERRUPT, 1), \
	       BITS(THADDR, 1), WHEN(ADDRESS, ADDRESS, IMPLICIT_THADDR), \
	       WHEN(TVAL, TVAL, INTERRUPT)), \
	PACKET(SYNC_CONTEXT, FMT_3(2), W(PRIVILEGE, PRIVILEGE), W(TIME, TIME), \
	       W(CONTEXT, CONTEXT))

static const struct rvt_etrace_format formats_2_0[] = {
	COMMON_2_0,
	PACKET(SYNC_SUPPORT, FMT_3(3), BITS(IENABLE, 1), W(ENCODER_MODE, ENCODER_MODE),
	       BITS(QUAL_STATUS, 2), W(IOPTIONS, IOPTIONS), BITS(DENABLE, 1), BITS(DLOSS, 1),
	       W(DOPTIONS, DOPTIONS)),
	{ .uses = { END } },
};

static const struct rvt_etrace_format formats_2_0_5[] = {
	COMMON_2_0,
	PACKET(SYNC_SUPPORT, FMT_3(3), BITS(IENABLE, 1), BITS(ENCODER_MODE, 2),
	       BITS(QUAL_STATUS, 2), BITS(SIJUMP, 1), BITS(IMPLICIT_RETURN, 1),
	       BITS(BRANCH_PREDICTOR, 1), BITS(JUMP_TARGET_CACHE, 1), BITS(IMPLICIT_EXCEPT, 1),
	       BITS(FULL_IADDRESS, 1), BITS(RESYNC_DISABLED, 1), BITS(IRET_EXT, 1),
	       W(TIME_WIDTH, SUPPORT_TIME), BITS(F0S_WIDTH, 2), BITS(RETURN_STACK_SIZE, 3),
	       BITS(CALL_COUNTER_SIZE, 4), BITS(BPRED_SIZE, 3), BITS(CACHE_SIZE, 3),
	       BITS(DENABLE, 1), BITS(DLOSS, 1), BITS(MMACAS_EXT, 1), BITS(NOADDR, 1),
	       BITS(NODATA, 1), BITS(FULL_DADDRESS, 1), BITS(FULL_DATA, 1)),
	{ .uses = { END } },
};

/*
 * ESP32-C6 (Technical Reference Manual, "RISC-V Trace Encoder"): no thaddr, a tval for interrupts
 * as well, and a support packet without mode and options.
 */
static const struct rvt_etrace_format formats_esp32[] = {
	PACKET(ADDRESS, FMT(2), ADDRESS_TAIL),
	PACKET(BRANCH_ADDRESS, FMT(1), WITH_MAP, ADDRESS_TAIL),
	PACKET(BRANCH_MAP, FMT(1), NO_BRANCHES, BITS(BRANCH_MAP, 31)),
	PACKET(SYNC_START, FMT_3(0), BITS(BRANCH, 1), W(PRIVILEGE, PRIVILEGE), W(ADDRESS, ADDRESS)),
	PACKET(SYNC_TRAP, FMT_3(1), BITS(BRANCH, 1), W(PRIVILEGE, PRIVILEGE), W(ECAUSE, ECAUSE),
	       BITS(INTERRUPT, 1), W(ADDRESS, ADDRESS), W(TVAL, TVAL)),
	PACKET(SYNC_SUPPORT, FMT_3(3), BITS(IENABLE, 1), BITS(QUAL_STATUS, 2)),
	{ .uses = { END } },
};

const struct rvt_etrace_format *rvt_etrace_formats(enum rvt_dialect dialect)
{
	switch (dialect) {
	case RVT_DIALECT_ETRACE_0_029:
		return formats_0_029;
	case RVT_DIALECT_ETRACE_2_0:
		return formats_2_0;
	case RVT_DIALECT_ETRACE_2_0_5:
		return formats_2_0_5;
	case RVT_DIALECT_ETRACE_ESP32:
		return formats_esp32;
	default:
		return NULL;
	}
}

const char *rvt_etrace_kind_name(enum rvt_etrace_kind kind)
{
	static const char *const names[RVT_ETRACE_KINDS] = {
		[RVT_ETRACE_SYNC_START] = "sync-start",
		[RVT_ETRACE_SYNC_TRAP] = "sync-trap",
		[RVT_ETRACE_SYNC_CONTEXT] = "sync-context",
		[RVT_ETRACE_SYNC_SUPPORT] = "sync-support",
		[RVT_ETRACE_ADDRESS] = "addr-only",
		[RVT_ETRACE_BRANCH_ADDRESS] = "diff-delta",
		[RVT_ETRACE_BRANCH_MAP] = "branch-map",
		[RVT_ETRACE_COUNT] = "branch-count",
		[RVT_ETRACE_COUNT_ADDRESS] = "branch-count-addr",
		[RVT_ETRACE_CACHE_BRANCHES] = "jump-target-branches",
		[RVT_ETRACE_CACHE] = "jump-target",
		[RVT_ETRACE_DATA_ACCESS] = "data-access",
		[RVT_ETRACE_DATA_ATOMIC] = "data-atomic",
		[RVT_ETRACE_DATA_CAS_FAILURE] = "data-cas-failure",
		[RVT_ETRACE_DATA_CSR] = "data-csr",
		[RVT_ETRACE_DATA_SPLIT_LOAD] = "data-split-load",
		[RVT_ETRACE_DATA_SPLIT_ATOMIC] = "data-split-atomic",
		[RVT_ETRACE_DATA_RESPONSE] = "data-response",
		[RVT_ETRACE_DATA_ATOMIC_RESPONSE] = "data-atomic-response",
	};

	return names[kind];
}

const char *rvt_etrace_field_name(enum rvt_dialect dialect, enum rvt_etrace_field field)
{
	static const char *const names[RVT_ETRACE_FIELDS] = {
		[RVT_ETRACE_F_FORMAT] = "format",
		[RVT_ETRACE_F_SUBFORMAT] = "subformat",
		[RVT_ETRACE_F_BRANCH] = "branch",
		[RVT_ETRACE_F_PRIVILEGE] = "privilege",
		[RVT_ETRACE_F_TIME] = "time",
		[RVT_ETRACE_F_CONTEXT] = "context",
		[RVT_ETRACE_F_ECAUSE] = "ecause",
		[RVT_ETRACE_F_INTERRUPT] = "interrupt",
		[RVT_ETRACE_F_THADDR] = "thaddr",
		[RVT_ETRACE_F_ADDRESS] = "address",
		[RVT_ETRACE_F_TVAL] = "tval",
		[RVT_ETRACE_F_NOTIFY] = "notify",
		[RVT_ETRACE_F_UPDISCON] = "updiscon",
		[RVT_ETRACE_F_IRREPORT] = "irreport",
		[RVT_ETRACE_F_IRDEPTH] = "irdepth",
		[RVT_ETRACE_F_IRETS] = "irets",
		[RVT_ETRACE_F_BRANCHES] = "branches",
		[RVT_ETRACE_F_BRANCH_MAP] = "branch_map",
		[RVT_ETRACE_F_BRANCH_COUNT] = "branch_count",
		[RVT_ETRACE_F_BRANCH_FMT] = "branch_fmt",
		[RVT_ETRACE_F_BPSUCCESS] = "bpsuccess",
		[RVT_ETRACE_F_INDEX] = "index",
		[RVT_ETRACE_F_IENABLE] = "ienable",
		[RVT_ETRACE_F_ENCODER_MODE] = "encoder_mode",
		[RVT_ETRACE_F_QUAL_STATUS] = "qual_status",
		[RVT_ETRACE_F_IOPTIONS] = "ioptions",
		[RVT_ETRACE_F_DENABLE] = "denable",
		[RVT_ETRACE_F_DLOSS] = "dloss",
		[RVT_ETRACE_F_DOPTIONS] = "doptions",
		[RVT_ETRACE_F_SIJUMP] = "sijump",
		[RVT_ETRACE_F_IMPLICIT_RETURN] = "implicit_return",
		[RVT_ETRACE_F_BRANCH_PREDICTOR] = "branch_predictor",
		[RVT_ETRACE_F_JUMP_TARGET_CACHE] = "jump_target_cache",
		[RVT_ETRACE_F_IMPLICIT_EXCEPT] = "implicit_except",
		[RVT_ETRACE_F_FULL_IADDRESS] = "full_iaddress",
		[RVT_ETRACE_F_RESYNC_DISABLED] = "resync_disabled",
		[RVT_ETRACE_F_IRET_EXT] = "iret_ext",
		[RVT_ETRACE_F_TIME_WIDTH] = "time_width",
		[RVT_ETRACE_F_F0S_WIDTH] = "f0s_width",
		[RVT_ETRACE_F_RETURN_STACK_SIZE] = "return_stack_size",
		[RVT_ETRACE_F_CALL_COUNTER_SIZE] = "call_counter_size",
		[RVT_ETRACE_F_BPRED_SIZE] = "bpred_size",
		[RVT_ETRACE_F_CACHE_SIZE] = "cache_size",
		[RVT_ETRACE_F_MMACAS_EXT] = "mmacas_ext",
		[RVT_ETRACE_F_NOADDR] = "noaddr",
		[RVT_ETRACE_F_NODATA] = "nodata",
		[RVT_ETRACE_F_FULL_DADDRESS] = "full_daddress",
		[RVT_ETRACE_F_FULL_DATA] = "full_data",
		[RVT_ETRACE_F_SUBTYPE] = "subtype",
		[RVT_ETRACE_F_SIZE] = "size",
		[RVT_ETRACE_F_LRID] = "lrid",
		[RVT_ETRACE_F_DIFF] = "diff",
		[RVT_ETRACE_F_RESP] = "resp",
		[RVT_ETRACE_F_OP_LEN] = "op_len",
		[RVT_ETRACE_F_OPERAND] = "operand",
		[RVT_ETRACE_F_DATA_LEN] = "data_len",
		[RVT_ETRACE_F_DATA] = "data",
		[RVT_ETRACE_F_ADDR_MSBS] = "addr_msbs",
		[RVT_ETRACE_F_ADDR_LSBS] = "addr_lsbs",
	};

	if (dialect == RVT_DIALECT_ETRACE_ESP32 && field == RVT_ETRACE_F_TVAL)
		return "tvalepc";
	if (dialect == RVT_DIALECT_ETRACE_0_029) {
		switch (field) {
		case RVT_ETRACE_F_IRREPORT:
			return "irfail";
		case RVT_ETRACE_F_TVAL:
			return "tvalepc";
		case RVT_ETRACE_F_IENABLE:
			return "enable";
		case RVT_ETRACE_F_IOPTIONS:
			return "options";
		default:
			break;
		}
	}
	return names[field];
}

const char *rvt_etrace_qual_name(enum rvt_dialect dialect, uint64_t qual_status)
{
	switch (qual_status) {
	case RVT_ETRACE_NO_CHANGE:
		return "no_change";
	case RVT_ETRACE_ENDED_REP:
		return "ended_rep";
	case RVT_ETRACE_TRACE_LOST:
		return "trace_lost";
	default:
		return dialect == RVT_DIALECT_ETRACE_0_029 || dialect == RVT_DIALECT_ETRACE_ESP32 ?
		       "ended_upd" : "ended_ntr";
	}
}
