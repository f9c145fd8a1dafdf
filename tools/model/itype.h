/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * What the model's hart needs to know of an instruction. Written from the ISA manual, not from
 * lib/insn.
 */
#ifndef MODEL_ITYPE_H
#define MODEL_ITYPE_H

#include <stdbool.h>
#include <stdint.h>
#include <rvtrace/retire.h>

struct insn_class {
	uint8_t halfwords;
	/* for conditional branches the itype of a taken one, RVT_ITYPE_BRANCH_TAKEN */
	enum rvt_itype itype;
	uint8_t upper_rd; /* register that lui, c.lui or auipc loads; 0: another instruction */
	uint8_t jump_rs;  /* register that jalr, c.jr or c.jalr jumps to; 0: another instruction */
	bool absolute;		/* jalr with rs1 = x0 */
	/*
	 * only computes or jumps, or is an ordinary load or store; any other may leave its block
	 * early
	 */
	bool plain;
	bool store, load;
	bool direct; /* load or store at a register without offset, as of readl() and writel() */
	bool word;		/* 32 bits */
	int32_t offset;		/* to the target of a direct jump or branch */
	/* CSR of a CSR instruction, with funct3, rd and rs1/uimm below; else -1 */
	int csr;
	uint8_t funct3, rd, rs1;
};

/* @zcmt: the hart has Zcmp and Zcmt, which use the encodings of c.fsdsp. */
void itype_classify(uint32_t insn, bool zcm, struct insn_class *c);

#endif
