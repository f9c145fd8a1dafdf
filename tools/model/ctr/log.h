/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The log of the model of Control Transfer Records, a file of these for each hart: what was
 * executed, in order, while any mode was recorded. It has no records: a checker makes them by
 * itself.
 */
#ifndef MODEL_CTR_LOG_H
#define MODEL_CTR_LOG_H

#include <stdint.h>

enum ctr_log_kind {
	CTR_LOG_INSN = 1,	/* retired: .pc; it may have transferred control; .next ran next */
	CTR_LOG_INTERRUPT,	/* .pc is the epc, .next the handler, .insn the cause */
	CTR_LOG_EXCEPTION,	/* likewise */
	/* a CSR instruction on CTR's registers; .next is the operand's value */
	CTR_LOG_CSR,
	CTR_LOG_CLEAR,		/* SCTRCLR */
};

struct ctr_log {
	uint64_t pc, next;
	uint32_t insn;
	uint8_t kind;
	uint8_t prv, to_prv;	/* privilege before and after: 0 U, 1 S, 3 M */
	uint8_t reserved;
};

#endif
