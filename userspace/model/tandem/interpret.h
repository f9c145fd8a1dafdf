/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The unprivileged instructions of RV32GC and RV64GC, but for Zicsr and what else
 * rvt_tandem_system() executes: I, M, A, F, D, C, Zifencei, as the ratified texts have them
 * (20191213 and later, F and D 2.2). The second source of golden models: it shares nothing with
 * their engines.
 */
#ifndef RVTRACE_TANDEM_INTERPRET_H
#define RVTRACE_TANDEM_INTERPRET_H

#include <stdbool.h>
#include <stdint.h>

enum tandem_interpreted {
	TANDEM_DONE,
	TANDEM_ILLEGAL,		/* nothing changed */
	/* an encoding that the texts reserve, or of an extension not listed: anything may happen */
	TANDEM_RESERVED,
};

struct tandem_unprivileged {
	/* The instruction set, in bits; without D, flen is 32. */
	unsigned int xlen, flen;
	/* Registers: of before, and then of after the instruction. On RV32, x is zero-extended. */
	uint64_t pc, x[32], f[32];
	unsigned int fcsr;
	/* What memory holds where rvt_tandem_data() says; loads and AMOs read it. */
	uint64_t loaded;
	/* What a store or AMO leaves there. */
	uint64_t stored;
	/* Whether it may have changed an f register (FS becomes Dirty). */
	bool f_written;
};

/* Executes @insn; sc.w and sc.d succeed. On TANDEM_ILLEGAL and RESERVED, nothing changed. */
enum tandem_interpreted rvt_tandem_interpret(struct tandem_unprivileged *hart, uint32_t insn);

#endif
