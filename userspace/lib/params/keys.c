// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* The keys of decoder parameters: names, ranges, where their values are in struct rvt_params. */
#include <stddef.h>
#include <rvtrace/insn.h>
#include "keys.h"

static const struct name protocol_names[] = {
	{ "ntrace", RVT_PROTOCOL_NTRACE, BOTH },
	{ "etrace", RVT_PROTOCOL_ETRACE, BOTH },
	{}
};

static const struct name dialect_names[] = {
	{ "1.0.0_rc7", RVT_DIALECT_NTRACE_RC7, NTRACE },
	{ "1.0", RVT_DIALECT_NTRACE_1_0, NTRACE },
	{ "sifive", RVT_DIALECT_NTRACE_SIFIVE, NTRACE },
	{ "ctte", RVT_DIALECT_NTRACE_CTTE, NTRACE },
	{ "0.029", RVT_DIALECT_ETRACE_0_029, ETRACE },
	{ "2.0", RVT_DIALECT_ETRACE_2_0, ETRACE },
	{ "2.0.5", RVT_DIALECT_ETRACE_2_0_5, ETRACE },
	{ "esp32", RVT_DIALECT_ETRACE_ESP32, ETRACE },
	{}
};

static const struct name mode_names[] = {
	{ "btm", RVT_MODE_BTM, BOTH },
	{ "htm", RVT_MODE_HTM, BOTH },
	{ "auto", RVT_MODE_AUTO, BOTH },
	{}
};

static const struct name timestamp_names[] = {
	{ "none", RVT_TIMESTAMP_NONE, BOTH },
	{ "delta", RVT_TIMESTAMP_DELTA, BOTH },
	{ "xor", RVT_TIMESTAMP_XOR, BOTH },
	{}
};

static const struct name timestamp_clock_names[] = {
	{ "platform", RVT_TIMESTAMP_CLOCK_PLATFORM, BOTH },
	{ "own", RVT_TIMESTAMP_CLOCK_OWN, BOTH },
	{}
};

static const struct name framing_names[] = {
	{ "none", RVT_FRAMING_NONE, BOTH },
	{ "coresight", RVT_FRAMING_CORESIGHT, BOTH },
	{ "esp32", RVT_FRAMING_ESP32, ETRACE },
	{}
};

static const struct name jump_cache_index_names[] = {
	{ "target", RVT_JUMP_CACHE_TARGET, BOTH },
	{ "source", RVT_JUMP_CACHE_SOURCE, BOTH },
	{ "hash", RVT_JUMP_CACHE_HASH, BOTH },
	{}
};

static const struct name jump_cache_returns_names[] = {
	{ "none", RVT_JUMP_CACHE_NO_RETURNS, BOTH },
	{ "mispredicted", RVT_JUMP_CACHE_MISPREDICTED, BOTH },
	{ "all", RVT_JUMP_CACHE_ALL_RETURNS, BOTH },
	{}
};

static const struct name context_packet_context_names[] = {
	{ "always", RVT_CONTEXT_PACKET_ALWAYS, BOTH },
	{ "as_others", RVT_CONTEXT_PACKET_AS_OTHERS, BOTH },
	{}
};

static const struct name context_packet_returns_names[] = {
	{ "keep", RVT_CONTEXT_PACKET_KEEPS, BOTH },
	{ "clear", RVT_CONTEXT_PACKET_CLEARS, BOTH },
	{}
};

static const struct name trap_address_names[] = {
	{ "handler", RVT_TRAP_ADDRESS_HANDLER, BOTH },
	{ "undefined", RVT_TRAP_ADDRESS_UNDEFINED, BOTH },
	{}
};

static const struct name data_packets_names[] = {
	{ "type", RVT_DATA_PACKETS_TYPE, BOTH },
	{ "all", RVT_DATA_PACKETS_ALL, BOTH },
	{}
};

static const struct name data_compression_names[] = {
	{ "both", RVT_DATA_COMPRESSION_BOTH, BOTH },
	{ "xor", RVT_DATA_COMPRESSION_XOR, BOTH },
	{ "difference", RVT_DATA_COMPRESSION_DIFFERENCE, BOTH },
	{}
};

static const struct name data_operands_names[] = {
	{ "tables", RVT_DATA_OPERANDS_TABLES, BOTH },
	{ "full", RVT_DATA_OPERANDS_FULL, BOTH },
	{}
};

static const struct name data_address_names[] = {
	{ "full", RVT_DATA_ADDRESS_FULL, BOTH },
	{ "xor", RVT_DATA_ADDRESS_XOR, BOTH },
	{}
};

static const struct name xlen_names[] = {
	{ "32", 32, BOTH },
	{ "64", 64, BOTH },
	{}
};

/* `isa =` lists extensions; the width comes from xlen. */
static const struct name isa_names[] = {
	{ "zcmp", RVT_ISA_ZCMP, BOTH },
	{ "zcmt", RVT_ISA_ZCMT, BOTH },
	{ "x1_link", RVT_ISA_X1_LINK, BOTH },
	{}
};

static const struct name option_names[] = {
	{ "implicit_return", RVT_OPT_IMPLICIT_RETURN, BOTH },
	{ "sequential_jump", RVT_OPT_SEQUENTIAL_JUMP, BOTH },
	{ "repeated_history", RVT_OPT_REPEATED_HISTORY, NTRACE },
	{ "all_jumps", RVT_OPT_ALL_JUMPS, NTRACE },
	{ "extend_address_msb", RVT_OPT_EXTEND_ADDRESS_MSB, NTRACE },
	{ "implicit_exception", RVT_OPT_IMPLICIT_EXCEPTION, ETRACE },
	{ "branch_prediction", RVT_OPT_BRANCH_PREDICTION, BOTH },
	{ "jump_target_cache", RVT_OPT_JUMP_TARGET_CACHE, BOTH },
	{ "full_address", RVT_OPT_FULL_ADDRESS, ETRACE },
	{ "data_no_address", RVT_OPT_DATA_NO_ADDRESS, ETRACE },
	{ "data_no_value", RVT_OPT_DATA_NO_VALUE, ETRACE },
	{ "multi_access", RVT_OPT_MULTI_ACCESS, ETRACE },
	{}
};

/* Other numbers are no size of a value. */
static const struct name data_width_names[] = {
	{ "0", 0, ETRACE },
	{ "8", 8, ETRACE },
	{ "16", 16, ETRACE },
	{ "32", 32, ETRACE },
	{ "64", 64, ETRACE },
	{}
};

#define NUMBER(f, lo, hi, word) { #f, KEY_NUMBER, ETRACE, FIELD(f), NULL, lo, hi, word }

_Static_assert(sizeof(enum rvt_protocol) == sizeof(unsigned int), "KEY_NAME stores unsigned int");
_Static_assert(FIELD(n_ioptions) + sizeof(unsigned int) == FIELD(ioptions), "KEY_IOPTIONS");
_Static_assert(FIELD(n_doptions) + sizeof(unsigned int) == FIELD(doptions), "KEY_IOPTIONS");

const struct key rvt_params_keys[] = {
	{ "protocol", KEY_NAME, BOTH, FIELD(protocol), protocol_names, 0, 0, 0 },
	{ "dialect", KEY_NAME, BOTH, FIELD(dialect), dialect_names, 0, 0, 1 },
	{ "xlen", KEY_NAME, BOTH, FIELD(xlen), xlen_names, 0, 0, 2 },
	{ "isa", KEY_SET, BOTH, FIELD(isa), isa_names, 0, 0, 3 },
	{ "jvt", KEY_ADDRESS, BOTH, FIELD(jvt), NULL, 0, 0, 4 },
	{ "options", KEY_SET, BOTH, FIELD(options), option_names, 0, 0, 5 },
	{ "framing", KEY_NAME, BOTH, FIELD(framing), framing_names, 0, 0, 40 },
	{ "atid", KEY_NUMBER, BOTH, FIELD(atid), NULL, 0, 0x6f, 41 },
	{ "mode", KEY_NAME, NTRACE, FIELD(mode), mode_names, 0, 0, 6 },
	{ "src_bits", KEY_NUMBER, NTRACE, FIELD(src_bits), NULL, 0, 12, 7 },
	{ "address_bits", KEY_NUMBER, NTRACE, FIELD(address_bits), NULL, 0, 64, 42 },
	{ "timestamp", KEY_NAME, NTRACE, FIELD(timestamp), timestamp_names, 0, 0, 8 },
	{ "timestamp_clock", KEY_NAME, BOTH, FIELD(timestamp_clock), timestamp_clock_names, 0, 0,
	  54 },
	{ "implicit_return_mode", KEY_NUMBER, NTRACE, FIELD(implicit_return_mode), NULL, 0, 3, 9 },
	{ "return_stack_depth", KEY_NUMBER, BOTH, FIELD(return_stack_depth), NULL, 0, 65536, 32 },
	NUMBER(iaddress_width_p, 8, 64, 10),
	NUMBER(iaddress_lsb_p, 0, 2, 11),
	NUMBER(context_width_p, 0, 64, 12),
	NUMBER(nocontext_p, 0, 1, 13),
	NUMBER(time_width_p, 0, 64, 14),
	NUMBER(notime_p, 0, 1, 15),
	NUMBER(privilege_width_p, 1, 8, 16),
	NUMBER(ecause_width_p, 1, 64, 17),
	NUMBER(f0s_width_p, 0, 8, 18),
	NUMBER(bpred_size_p, 0, 20, 19),
	NUMBER(cache_size_p, 0, 20, 20),
	NUMBER(return_stack_size_p, 0, 16, 21),
	NUMBER(call_counter_size_p, 0, 16, 22),
	NUMBER(sijump_p, 0, 1, 23),
	NUMBER(arch_p, 0, 255, 43),
	NUMBER(encoder_mode_bits, 0, 32, 24),
	{ "ioptions", KEY_IOPTIONS, ETRACE, FIELD(ioptions), option_names, 0, 0, 25 },
	NUMBER(doptions_bits, 0, 64, 26),
	NUMBER(srcid_bits, 0, 16, 27),
	NUMBER(timestamp_bytes, 0, 8, 28),
	NUMBER(type_bits, 0, 8, 29),
	NUMBER(type_instruction, 0, 255, 30),
	NUMBER(support_time_bits, 2, 3, 31),
	NUMBER(branch_count_limit, 0, 0xffffffff, 33),
	{ "jump_cache_index", KEY_NAME, ETRACE, FIELD(jump_cache_index),
	  jump_cache_index_names, 0, 0, 34 },
	{ "jump_cache_returns", KEY_NAME, ETRACE, FIELD(jump_cache_returns),
	  jump_cache_returns_names, 0, 0, 35 },
	{ "context_packet_context", KEY_NAME, ETRACE, FIELD(context_packet_context),
	  context_packet_context_names, 0, 0, 36 },
	{ "context_packet_returns", KEY_NAME, ETRACE, FIELD(context_packet_returns),
	  context_packet_returns_names, 0, 0, 37 },
	{ "data_width_p", KEY_NAME, ETRACE, FIELD(data_width_p), data_width_names, 0, 0, 44 },
	NUMBER(daddress_width_p, 0, 64, 45),
	NUMBER(lrid_width_p, 0, 8, 46),
	NUMBER(dtype_width_p, 0, 4, 47),
	{ "data_packets", KEY_NAME, ETRACE, FIELD(data_packets), data_packets_names, 0, 0, 48 },
	NUMBER(type_data, 0, 255, 49),
	{ "data_compression", KEY_NAME, ETRACE, FIELD(data_compression), data_compression_names,
	  0, 0, 50 },
	{ "data_operands", KEY_NAME, ETRACE, FIELD(data_operands), data_operands_names, 0, 0, 51 },
	{ "doptions", KEY_IOPTIONS, ETRACE, FIELD(doptions), option_names, 0, 0, 52 },
	{ "data_address", KEY_NAME, NTRACE, FIELD(data_address), data_address_names, 0, 0, 53 },
	{ "trap_address", KEY_NAME, ETRACE, FIELD(trap_address), trap_address_names, 0, 0, 38 },
	{ "trap_vector", KEY_VECTOR, ETRACE, 0, NULL, 0, 0, 39 },
	{ "trap_vector.exception.", KEY_VECTORS, ETRACE, FIELD(vectors.exception), NULL, 0, 0,
	  0x100 },
	{ "trap_vector.interrupt.", KEY_VECTORS, ETRACE, FIELD(vectors.interrupt), NULL, 0, 0,
	  0x200 },
};

const size_t rvt_params_n_keys = sizeof(rvt_params_keys) / sizeof(rvt_params_keys[0]);

void rvt_params_print_set(FILE *f, const struct key *key, unsigned int value,
			  unsigned int protocol)
{
	const char *sep = "";

	for (const struct name *n = key->names; n->name; n++)
		if (n->protocols & 1u << protocol && value & n->value) {
			fprintf(f, "%s%s", sep, n->name);
			sep = ", ";
		}
}
