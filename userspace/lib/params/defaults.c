// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Decoder parameters: defaults. */
#include <string.h>
#include <rvtrace/params.h>
#include "util/sized.h"

/* Some milliseconds of a busy loop without interrupts; followed in less than a second. */
#define BRANCH_COUNT_LIMIT (1u << 25)

/* Measured on a P550: the counter of calls saturates there. */
#define SIFIVE_RETURN_STACK_DEPTH 1023

static void set_defaults(struct rvt_params *params, enum rvt_protocol protocol,
			 enum rvt_dialect dialect)
{
	memset(params, 0, sizeof(*params));
	params->size = sizeof(*params);
	params->protocol = protocol;
	params->dialect = dialect;
	params->xlen = 64;
	if (dialect == RVT_DIALECT_NTRACE_SIFIVE) {
		params->timestamp = RVT_TIMESTAMP_XOR;
		params->implicit_return_mode = 1;
		params->return_stack_depth = SIFIVE_RETURN_STACK_DEPTH;
	}
	if (protocol != RVT_PROTOCOL_ETRACE)
		return;
	params->iaddress_width_p = 32;
	params->iaddress_lsb_p = 1;
	params->context_width_p = 1;
	params->nocontext_p = dialect != RVT_DIALECT_ETRACE_0_029;
	params->time_width_p = 1;
	params->notime_p = 1;
	params->privilege_width_p = dialect == RVT_DIALECT_ETRACE_0_029 ? 3 : 2;
	params->ecause_width_p = 4;
	params->encoder_mode_bits = dialect == RVT_DIALECT_ETRACE_2_0_5 ? 2 : 1;
	params->support_time_bits = 2;
	params->jump_cache_returns = RVT_JUMP_CACHE_MISPREDICTED;
	params->branch_count_limit = BRANCH_COUNT_LIMIT;
	if (dialect == RVT_DIALECT_ETRACE_ESP32) {
		params->framing = RVT_FRAMING_ESP32;
		params->xlen = 32;
		params->options = RVT_OPT_FULL_ADDRESS;
		params->privilege_width_p = 1;
		params->ecause_width_p = 5;
		params->encoder_mode_bits = 0;
	}
}

int rvt_params_set_defaults(struct rvt_params *params, enum rvt_protocol protocol,
			    enum rvt_dialect dialect)
{
	struct rvt_params full;

	set_defaults(&full, protocol, dialect);
	return sized_fill(params, &full, sizeof(full));
}
