/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Everything a decoder must know that is not in the trace itself. Text form: `key = value`
 * lines, `#` comments. The same text is the parameter file of `perf-rvtrace decode` and the
 * per-encoder part of a recording's metadata.
 *
 * Threads: any may call; each needs parameters of its own while it changes them.
 *
 * Parameters begin with their size, which says what of them a caller knows: rvt_params_init() sets
 * it. Without it the caller does: struct rvt_params params = { .size = sizeof(params) }. Members
 * that come with a later version are behind those of today; 0 is their default.
 */
#ifndef RVTRACE_PARAMS_H
#define RVTRACE_PARAMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <rvtrace/linkage.h>

RVT_BEGIN_DECLS

enum rvt_protocol { RVT_PROTOCOL_NONE, RVT_PROTOCOL_NTRACE, RVT_PROTOCOL_ETRACE };
enum rvt_dialect {
	RVT_DIALECT_NTRACE_RC7,		/* 1.0.0_rc7 */
	RVT_DIALECT_NTRACE_1_0,		/* 1.0 (default) */
	RVT_DIALECT_ETRACE_0_029,
	RVT_DIALECT_ETRACE_2_0,		/* default */
	RVT_DIALECT_ETRACE_2_0_5,
	RVT_DIALECT_NTRACE_SIFIVE,	/* SiFive before 1.0: E31 to P550 */
	RVT_DIALECT_ETRACE_ESP32,	/* ESP32-C6 and H2 */
	RVT_DIALECT_NTRACE_CTTE,	/* Accemic CEDARtools.TraceEncoder */
};
enum rvt_mode { RVT_MODE_AUTO, RVT_MODE_BTM, RVT_MODE_HTM };
/* Which bits of what index the jump target cache of E-Trace (see Documentation/e-trace.rst). */
enum rvt_jump_cache_index {
	RVT_JUMP_CACHE_TARGET,		/* low bits of the jump target (default) */
	RVT_JUMP_CACHE_SOURCE,		/* low bits of the jump instruction's address */
	RVT_JUMP_CACHE_HASH,		/* (a>>2)^(a>>8)^(a>>14)^(a>>20) of the target */
};
/* Which return targets go to the jump target cache, with implicit returns. */
enum rvt_jump_cache_returns {
	RVT_JUMP_CACHE_NO_RETURNS,	/* a mispredicted one invalidates its entry */
	RVT_JUMP_CACHE_MISPREDICTED,	/* (default) */
	RVT_JUMP_CACHE_ALL_RETURNS,
};
/*
 * Whether context packets of 0.029 (format 3, subformat 2) have context with nocontext_p = 1, too.
 */
enum rvt_context_packet_context {
	RVT_CONTEXT_PACKET_ALWAYS,	/* as the table says (default) */
	RVT_CONTEXT_PACKET_AS_OTHERS,	/* as all others: no */
};
/* What a context packet does to the return stack of implicit returns. */
enum rvt_context_packet_returns {
	RVT_CONTEXT_PACKET_KEEPS,	/* nothing: it is no synchronisation packet (default) */
	RVT_CONTEXT_PACKET_CLEARS,	/* as the decoder of 0.029 does it for all of format 3 */
};
/* What the address in a trap packet means with thaddr = 0, where 2.0 leaves it undefined. */
enum rvt_trap_address {
	RVT_TRAP_ADDRESS_HANDLER,	/* the handler's, if not 0, as in 2.0.5 (default) */
	RVT_TRAP_ADDRESS_UNDEFINED,	/* nothing */
};
/* What lies around the bytes of the protocol. */
enum rvt_framing {
	RVT_FRAMING_NONE,		/* nothing (default) */
	/* frames of the CoreSight formatter: 16 bytes, an id each */
	RVT_FRAMING_CORESIGHT,
	RVT_FRAMING_ESP32,		/* E-Trace packets with a length and an index */
};
/* Which kinds of compressed values an encoder of E-Trace data packets offers. */
enum rvt_data_compression {
	RVT_DATA_COMPRESSION_BOTH,	/* diff has two bits everywhere (default) */
	RVT_DATA_COMPRESSION_XOR,	/* one bit where the specification leaves the choice */
	RVT_DATA_COMPRESSION_DIFFERENCE,
};
/* Whether operands of atomic operations and CSRs are compressed as values are. */
enum rvt_data_operands {
	RVT_DATA_OPERANDS_TABLES,	/* where the dialect's tables say so (default) */
	RVT_DATA_OPERANDS_FULL,		/* never, as the text below the tables says */
};
/* How packets of E-Trace data trace are told from those of instruction trace. */
enum rvt_data_packets {
	RVT_DATA_PACKETS_TYPE,		/* by the type field of the encapsulation (default) */
	RVT_DATA_PACKETS_ALL,		/* the stream has no others: another id separates them */
};
/* Addresses of the data messages of CTTE (TCODE 5 and 6; 13 and 14 have their whole address). */
/* What time stamps count. */
enum rvt_timestamp_clock {
	RVT_TIMESTAMP_CLOCK_PLATFORM,	/* the platform's time counter (default) */
	RVT_TIMESTAMP_CLOCK_OWN,	/* the encoder's own: nothing says when it was 0 */
};
enum rvt_data_address {
	RVT_DATA_ADDRESS_FULL,		/* each has its whole address (default) */
	RVT_DATA_ADDRESS_XOR,		/* XORed with that of the data message before */
};
enum rvt_timestamp { RVT_TIMESTAMP_NONE, RVT_TIMESTAMP_DELTA, RVT_TIMESTAMP_XOR };

/* `options =` names, both protocols; bit numbers are ours and never go on a wire. */
enum {
	RVT_OPT_SEQUENTIAL_JUMP = 1u << 0,
	RVT_OPT_IMPLICIT_RETURN = 1u << 1,
	RVT_OPT_REPEATED_HISTORY = 1u << 2,	/* N-Trace */
	RVT_OPT_ALL_JUMPS = 1u << 3,
	RVT_OPT_EXTEND_ADDRESS_MSB = 1u << 4,	/* N-Trace */
	RVT_OPT_IMPLICIT_EXCEPTION = 1u << 5,	/* E-Trace */
	RVT_OPT_BRANCH_PREDICTION = 1u << 6,	/* E-Trace; N-Trace of CTTE */
	RVT_OPT_JUMP_TARGET_CACHE = 1u << 7,	/* the same */
	RVT_OPT_FULL_ADDRESS = 1u << 8,		/* E-Trace */
	/* E-Trace data trace: no addresses, no values, packets of the extension (2.0.5) */
	RVT_OPT_DATA_NO_ADDRESS = 1u << 9,
	RVT_OPT_DATA_NO_VALUE = 1u << 10,
	RVT_OPT_MULTI_ACCESS = 1u << 11,
};

#define RVT_MAX_CAUSES 64
#define RVT_MAX_IOPTIONS 32

struct rvt_trap_vectors {
	bool base_valid;		/* `trap_vector = ADDRESS`: one for all */
	uint64_t base;
	uint64_t exception_valid, interrupt_valid;	/* bit per cause */
	uint64_t exception[RVT_MAX_CAUSES];
	uint64_t interrupt[RVT_MAX_CAUSES];
};	/* part of struct rvt_params: it does not grow */

struct rvt_params {
	size_t size;			/* sizeof(struct rvt_params): the struct may grow */
	enum rvt_protocol protocol;
	enum rvt_dialect dialect;
	unsigned int xlen;		/* 32 or 64 */
	unsigned int isa;		/* RVT_ISA_*, `isa = zcmp, zcmt, x1_link` plus xlen */
	uint64_t jvt;			/* Zcmt jump table base, `jvt = ADDRESS`; 0: not known */
	unsigned int options;		/* RVT_OPT_* in force at the start of the stream */
	enum rvt_framing framing;
	/* With RVT_FRAMING_CORESIGHT: only bytes of this id, 1..0x6f, are trace; 0: of each id. */
	unsigned int atid;
	/* N-Trace */
	enum rvt_mode mode;
	unsigned int src_bits;		/* 0..12 */
	unsigned int address_bits;	/* sent of an address, the top one extended; 0: all */
	enum rvt_timestamp timestamp;
	unsigned int implicit_return_mode;	/* trTeInstImplicitReturnMode 0..3 */
	/* both */
	unsigned int return_stack_depth; /* entries; 0: what the protocol or the sizes below say */
	/* E-Trace, names as in the specification; values are the parameters, not the
	 * discovery encodings */
	unsigned int iaddress_width_p, iaddress_lsb_p, context_width_p, nocontext_p;
	unsigned int time_width_p, notime_p, privilege_width_p, ecause_width_p, f0s_width_p;
	unsigned int bpred_size_p, cache_size_p, return_stack_size_p, call_counter_size_p, sijump_p;
	unsigned int encoder_mode_bits, doptions_bits;
	unsigned int n_ioptions;
	unsigned int ioptions[RVT_MAX_IOPTIONS];	/* RVT_OPT_* of each bit, 0 = unused */
	unsigned int srcid_bits, timestamp_bytes, type_bits;
	/* type of te_inst packets; not given: 2 if type_bits >= 2 */
	unsigned int type_instruction;
	unsigned int support_time_bits;	/* of time_width in the 2.0.5 support packet: 2, later 3 */
	/* A count of predicted branches above this is taken for damage; 0: none is. */
	unsigned int branch_count_limit;
	enum rvt_jump_cache_index jump_cache_index;
	enum rvt_jump_cache_returns jump_cache_returns;
	enum rvt_context_packet_context context_packet_context;
	enum rvt_context_packet_returns context_packet_returns;
	enum rvt_trap_address trap_address;
	struct rvt_trap_vectors vectors;
	/*
	 * Version of the architecture that an encoder of E-Trace follows; RVT_ETRACE_ARCH is known.
	 */
	unsigned int arch_p;
	/*
	 * E-Trace data trace. data_width_p: 8, 16, 32 or 64; 0: there is none. daddress_width_p 0:
	 * as iaddress_width_p. lrid_width_p > 0: loads and atomic operations are split into request
	 * and data. dtype_width_p 1: loads and stores only; 0 counts as 1.
	 */
	unsigned int data_width_p, daddress_width_p, lrid_width_p, dtype_width_p;
	enum rvt_data_packets data_packets;
	/* of te_data packets; not given: 1 if type_bits is 1 and type_instruction 0, else 0 or 3 */
	unsigned int type_data;
	enum rvt_data_compression data_compression;
	enum rvt_data_operands data_operands;
	/*
	 * 2.0: RVT_OPT_* of each bit of doptions, 0 = unused; then doptions_bits counts for nothing
	 */
	unsigned int n_doptions;
	unsigned int doptions[RVT_MAX_IOPTIONS];
	enum rvt_data_address data_address;	/* N-Trace */
	enum rvt_timestamp_clock timestamp_clock;	/* both */
};

#define RVT_ETRACE_ARCH 0

/*
 * rvt_params_set_defaults - defaults of a dialect. For E-Trace these are the defaults of the
 * discovery attributes. Returns 0, or -EINVAL: @params does not say its size.
 */
int rvt_params_set_defaults(struct rvt_params *params, enum rvt_protocol protocol,
			    enum rvt_dialect dialect);
/* The same for parameters that do not say their size yet. */
static inline void rvt_params_init(struct rvt_params *params, enum rvt_protocol protocol,
				   enum rvt_dialect dialect)
{
	params->size = sizeof(*params);
	rvt_params_set_defaults(params, protocol, dialect);
}

/*
 * rvt_params_parse - read text. A `protocol` or `dialect` in it sets everything to the defaults
 * of that dialect first, wherever it stands; without them *params must hold valid parameters,
 * and the text changes single ones. The last of equal keys counts. A key of the other protocol
 * is an error. E-Trace without `xlen`: 32 if iaddress_width_p is at most 32, else 64. What
 * recordings say of an encoder besides (`cpu`, `src`, `timestamp_frequency`), and files of chips
 * (`compatible`: the name in a devicetree), is passed over.
 * @name is used in messages ("FILE:LINE: ..."). On failure *error is a malloc'd message (which
 * lists the valid keys or values) that the caller frees, or NULL when out of memory, and *params
 * is undefined. Returns 0, -EINVAL (also: @params does not say its size), -ENOMEM.
 */
int rvt_params_parse(struct rvt_params *params, const char *name, const char *text, size_t len,
		     char **error);
/*
 * rvt_params_load - the same for a file: nothing but their size need be set before; a missing
 * `protocol` is an error. Also -errno of open() and read().
 */
int rvt_params_load(struct rvt_params *params, const char *path, char **error);
/*
 * rvt_params_print - writes the text form (malloc'd); parse(print(p)) == p. Returns 0, -EINVAL
 * (@params does not say its size), -ENOMEM.
 */
int rvt_params_print(const struct rvt_params *params, char **text);

RVT_END_DECLS

#endif
