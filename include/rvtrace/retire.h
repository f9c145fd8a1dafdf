/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * What an encoder is told about a hart: the retirement side of the instruction ingress port
 * (E-Trace chapter 4, N-Trace chapter 10), in runs instead of single instructions.
 * Used by the encoders (which serve the hardware model and the tests), never by the decoders.
 */
#ifndef RVTRACE_RETIRE_H
#define RVTRACE_RETIRE_H

#include <stdbool.h>
#include <stdint.h>
#include <rvtrace/linkage.h>

RVT_BEGIN_DECLS

/* 4-bit itype of the E-Trace specification 2.0 */
enum rvt_itype {
	RVT_ITYPE_NONE = 0,
	RVT_ITYPE_EXCEPTION = 1,
	RVT_ITYPE_INTERRUPT = 2,
	RVT_ITYPE_TRAP_RETURN = 3,
	RVT_ITYPE_BRANCH_NOT_TAKEN = 4,
	RVT_ITYPE_BRANCH_TAKEN = 5,
	RVT_ITYPE_IND_CALL = 8,
	RVT_ITYPE_CALL = 9,
	RVT_ITYPE_IND_JUMP = 10,
	RVT_ITYPE_JUMP = 11,
	RVT_ITYPE_COROUTINE = 12,
	RVT_ITYPE_RETURN = 13,
	RVT_ITYPE_IND_JUMP_LINKED = 14,
	RVT_ITYPE_JUMP_LINKED = 15,
};

/*
 * A straight line of retired instructions; only the last one may change the flow (then .itype
 * says how). Where it went is the first_pc of the next run, or the trap that follows.
 */
struct rvt_retire {
	uint64_t first_pc;
	uint64_t last_pc;	/* of the last instruction */
	uint32_t insns;		/* >= 1 */
	uint32_t halfwords;	/* of all instructions */
	uint8_t last_halfwords;	/* of the last instruction */
	uint8_t itype;		/* enum rvt_itype of the last instruction */
	bool sijump;		/* the last instruction is a jalr whose register the one before it
				 * loaded with lui/c.lui/auipc */
	/* the last instruction is a jalr with rs1 = x0 (E-Trace infers it) */
	bool absolute;
	uint8_t prv, v;		/* privilege while these retired */
};

/* A trap, taken after the last retired run. The trapping instruction itself did not retire. */
struct rvt_trap {
	bool interrupt;
	uint64_t cause;		/* without the interrupt bit */
	uint64_t epc;
	uint64_t tval;
	uint64_t handler;	/* pc of the first instruction of the handler */
	uint8_t prv, v;		/* privilege after the trap */
	/* Half-words of the ecall, ebreak or c.ebreak that raised this exception, 0 for all else (a
	 * breakpoint trigger, too): N-Trace 1.0.0_rc7 counts them in I-CNT. */
	uint8_t ecall_halfwords;
};

RVT_END_DECLS

#endif
