/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * What an instruction does to the program counter.
 *
 * Classes follow the itype table of the E-Trace specification (chapter 4, 4-bit
 * itype) and N-Trace 1.0 table "itype"; x1 and x5 are link registers.
 *
 * Threads: any may call; a hook is called in the thread that decodes.
 */
#ifndef RVTRACE_INSN_H
#define RVTRACE_INSN_H

#include <stddef.h>
#include <stdint.h>
#include <rvtrace/linkage.h>

RVT_BEGIN_DECLS

enum rvt_insn_class {
	RVT_INSN_SEQUENTIAL,	/* falls through; everything that is none of the below */
	RVT_INSN_BRANCH,	/* conditional branch, target known */
	RVT_INSN_CALL,		/* direct jump, rd is a link register; Zcmt cm.jalt */
	RVT_INSN_JUMP,		/* direct jump, no linkage (c.j, jal x0); Zcmt cm.jt */
	RVT_INSN_JUMP_LINKED,	/* direct jump, rd is neither x0 nor a link register */
	RVT_INSN_IND_CALL,	/* jalr, rd link; rs1 no link register, or rs1 == rd */
	RVT_INSN_IND_JUMP,	/* jalr x0, rs1 no link register */
	RVT_INSN_IND_JUMP_LINKED, /* jalr, rd neither x0 nor link; rs1 no link register */
	RVT_INSN_COROUTINE,	/* jalr, rd and rs1 both link registers and different */
	RVT_INSN_RETURN,	/* jalr, rs1 link register, rd no link register; cm.popret[z] */
	RVT_INSN_TRAP_RETURN,	/* mret, sret, uret, mnret, dret */
	RVT_INSN_ECALL,
	RVT_INSN_EBREAK,
	RVT_INSN_CLASSES
};

/* Instruction-set facts that change decoding. */
enum {
	RVT_ISA_RV32 = 1u << 0,	/* c.jal exists, addresses wrap at 2^32 */
	RVT_ISA_ZCMP = 1u << 1,	/* cm.push/pop/popret/popretz instead of c.fsdsp encodings */
	RVT_ISA_ZCMT = 1u << 2,	/* cm.jt / cm.jalt */
	RVT_ISA_X1_LINK = 1u << 3, /* x5 is no link register (decoders of E-Trace 0.029 and 2.0) */
};

enum {
	RVT_INSN_F_TARGET = 1u << 0,	/* .offset is valid: the target is pc + offset */
	RVT_INSN_F_ABSOLUTE = 1u << 1,	/* jalr with rs1 == x0: the target is (uint)offset */
	RVT_INSN_F_LOADS_IMM = 1u << 2,	/* lui/c.lui/auipc: the register .rd receives .offset
					 * (lui) or pc + .offset (auipc): see RVT_INSN_F_PCREL */
	RVT_INSN_F_PCREL = 1u << 3,
	RVT_INSN_F_TABLE = 1u << 4,	/* Zcmt: target is entry .offset of the jump table */
	RVT_INSN_F_CUSTOM = 1u << 5,	/* custom or reserved encoding: whatever the class says, it
					 * may change the pc, and is then traced as an indirect
					 * jump (N-Trace 10.1.1) */
};

struct rvt_insn {
	uint32_t len_bytes;	/* 2, 4, 6 or 8 */
	uint8_t iclass;		/* enum rvt_insn_class */
	uint8_t flags;		/* RVT_INSN_F_* */
	uint8_t rd;
	uint8_t rs1;
	int64_t offset;		/* direct: target - pc; jalr: the 12-bit immediate */
};

/*
 * Custom instructions that change the pc (N-Trace 10.1.1). Called for encodings in the
 * custom and reserved spaces; returns 0 and fills @insn, or -ENOENT to leave it to the default.
 */
typedef int (*rvt_insn_hook)(void *ctx, const uint8_t *code, size_t avail, struct rvt_insn *insn);

/*
 * rvt_insn_decode - classify the instruction at @code.
 * @avail: readable bytes at @code; @isa: RVT_ISA_* bits.
 * Returns 0; -EAGAIN if @avail is shorter than the instruction; -EILSEQ for an encoding that
 * is defined to be illegal (all zeroes, all ones) or longer than 64 bits.
 */
int rvt_insn_decode(const uint8_t *code, size_t avail, unsigned int isa, struct rvt_insn *insn);

RVT_END_DECLS

#endif
