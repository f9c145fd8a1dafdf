// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* The C extension (version 2.0): each 16-bit instruction is a 32-bit one in short. */
#include "model/tandem/privileged.h"

enum {
	OP_LOAD = 0x03, OP_LOAD_FP = 0x07, OP_IMM = 0x13, OP_IMM_32 = 0x1b, OP_STORE = 0x23,
	OP_STORE_FP = 0x27, OP_OP = 0x33, OP_LUI = 0x37, OP_OP_32 = 0x3b, OP_BRANCH = 0x63,
	OP_JALR = 0x67, OP_JAL = 0x6f,
};

#define SP 2u

static uint32_t field(uint32_t insn, unsigned int high, unsigned int low, unsigned int to)
{
	return (insn >> low & ((1u << (high - low + 1)) - 1)) << to;
}

static uint32_t sign_extend(uint32_t value, unsigned int width)
{
	return (uint32_t)((int32_t)(value << (32 - width)) >> (32 - width));
}

static uint32_t type_r(unsigned int opcode, unsigned int funct3, unsigned int funct7,
		       unsigned int rd, unsigned int rs1, unsigned int rs2)
{
	return funct7 << 25 | rs2 << 20 | rs1 << 15 | funct3 << 12 | rd << 7 | opcode;
}

static uint32_t type_i(unsigned int opcode, unsigned int funct3, unsigned int rd, unsigned int rs1,
		       uint32_t imm)
{
	return imm << 20 | rs1 << 15 | funct3 << 12 | rd << 7 | opcode;
}

static uint32_t type_s(unsigned int opcode, unsigned int funct3, unsigned int rs1, unsigned int rs2,
		       uint32_t imm)
{
	return field(imm, 11, 5, 25) | rs2 << 20 | rs1 << 15 | funct3 << 12 | field(imm, 4, 0, 7) |
		opcode;
}

static uint32_t branch(unsigned int funct3, unsigned int rs1, uint32_t offset)
{
	return field(offset, 12, 12, 31) | field(offset, 10, 5, 25) | rs1 << 15 | funct3 << 12 |
		field(offset, 4, 1, 8) | field(offset, 11, 11, 7) | OP_BRANCH;
}

static uint32_t jal(unsigned int rd, uint32_t offset)
{
	return field(offset, 20, 20, 31) | field(offset, 10, 1, 21) | field(offset, 11, 11, 20) |
		field(offset, 19, 12, 12) | rd << 7 | OP_JAL;
}

/* Immediates, named by the instructions that they are of. */
static uint32_t imm_addi(uint32_t i)
{
	return sign_extend(field(i, 12, 12, 5) | field(i, 6, 2, 0), 6);
}

static uint32_t imm_j(uint32_t i)
{
	return sign_extend(field(i, 12, 12, 11) | field(i, 11, 11, 4) | field(i, 10, 9, 8) |
			   field(i, 8, 8, 10) | field(i, 7, 7, 6) | field(i, 6, 6, 7) |
			   field(i, 5, 3, 1) | field(i, 2, 2, 5), 12);
}

static uint32_t imm_branch(uint32_t i)
{
	return sign_extend(field(i, 12, 12, 8) | field(i, 11, 10, 3) | field(i, 6, 5, 6) |
			   field(i, 4, 3, 1) | field(i, 2, 2, 5), 9);
}

static uint32_t imm_addi4spn(uint32_t i)
{
	return field(i, 12, 11, 4) | field(i, 10, 7, 6) | field(i, 6, 6, 2) | field(i, 5, 5, 3);
}

static uint32_t imm_addi16sp(uint32_t i)
{
	return sign_extend(field(i, 12, 12, 9) | field(i, 6, 6, 4) | field(i, 5, 5, 6) |
			   field(i, 4, 3, 7) | field(i, 2, 2, 5), 10);
}

static uint32_t imm_memory(uint32_t i, unsigned int bytes)
{
	return bytes == 4 ? field(i, 12, 10, 3) | field(i, 6, 6, 2) | field(i, 5, 5, 6) :
		field(i, 12, 10, 3) | field(i, 6, 5, 6);
}

static uint32_t imm_load_sp(uint32_t i, unsigned int bytes)
{
	return bytes == 4 ? field(i, 12, 12, 5) | field(i, 6, 4, 2) | field(i, 3, 2, 6) :
		field(i, 12, 12, 5) | field(i, 6, 5, 3) | field(i, 4, 2, 6);
}

static uint32_t imm_store_sp(uint32_t i, unsigned int bytes)
{
	return bytes == 4 ? field(i, 12, 9, 2) | field(i, 8, 7, 6) :
		field(i, 12, 10, 3) | field(i, 9, 7, 6);
}

/* What the four kinds of loads and stores (funct3 & 3) are: fld, lw, ld or flw on RV32. */
struct memory_kind {
	unsigned int load, store, bytes, width;
};

static struct memory_kind memory_kind(unsigned int funct3, unsigned int xlen)
{
	struct memory_kind kind = { OP_LOAD, OP_STORE, 4, 2 };

	if ((funct3 & 3) == 1 || (xlen == 32 && (funct3 & 3) == 3)) {
		kind.load = OP_LOAD_FP;
		kind.store = OP_STORE_FP;
	}
	if ((funct3 & 3) == 1 || (xlen == 64 && (funct3 & 3) == 3)) {
		kind.bytes = 8;
		kind.width = 3;
	}
	return kind;
}

static uint32_t quadrant_0(uint32_t i, unsigned int funct3, unsigned int xlen)
{
	unsigned int rd = 8 + field(i, 4, 2, 0), rs1 = 8 + field(i, 9, 7, 0);
	struct memory_kind kind = memory_kind(funct3, xlen);

	if (!funct3)
		return imm_addi4spn(i) ? type_i(OP_IMM, 0, rd, SP, imm_addi4spn(i)) : 0;
	if (funct3 == 4)
		return 0;
	return funct3 < 4 ? type_i(kind.load, kind.width, rd, rs1, imm_memory(i, kind.bytes)) :
		type_s(kind.store, kind.width, rs1, rd, imm_memory(i, kind.bytes));
}

/* funct3 4 of quadrant 1: shifts, c.andi, and what has two registers. */
static uint32_t arithmetic(uint32_t i, unsigned int xlen)
{
	static const uint8_t functs[] = { 0, 4, 6, 7 };		/* sub, xor, or, and */
	unsigned int rd = 8 + field(i, 9, 7, 0), rs2 = 8 + field(i, 4, 2, 0);
	unsigned int which = field(i, 11, 10, 0), op = field(i, 6, 5, 0), shift = imm_addi(i) & 63;

	if (which == 2)
		return type_i(OP_IMM, 7, rd, rd, imm_addi(i) & 0xfff);
	if (which < 2)
		return xlen == 32 && shift > 31 ? 0 :
			type_i(OP_IMM, 5, rd, rd, shift | (which ? 0x400 : 0));
	if (!field(i, 12, 12, 0))
		return type_r(OP_OP, functs[op], op ? 0 : 0x20, rd, rd, rs2);
	if (xlen == 32 || op > 1)
		return 0;
	return type_r(OP_OP_32, 0, op ? 0 : 0x20, rd, rd, rs2);	/* c.subw, c.addw */
}

static uint32_t quadrant_1(uint32_t i, unsigned int funct3, unsigned int xlen)
{
	unsigned int rd = field(i, 11, 7, 0), rs1 = 8 + field(i, 9, 7, 0);
	uint32_t imm = imm_addi(i);

	switch (funct3) {
	case 0:
		return type_i(OP_IMM, 0, rd, rd, imm);
	case 1:
		if (xlen == 32)
			return jal(1, imm_j(i));
		return rd ? type_i(OP_IMM_32, 0, rd, rd, imm) : 0;
	case 2:
		return type_i(OP_IMM, 0, rd, 0, imm);
	case 3:
		if (rd == SP)
			return imm_addi16sp(i) ? type_i(OP_IMM, 0, SP, SP, imm_addi16sp(i)) : 0;
		return imm ? imm << 12 | rd << 7 | OP_LUI : 0;
	case 4:
		return arithmetic(i, xlen);
	case 5:
		return jal(0, imm_j(i));
	default:
		return branch(funct3 - 6, rs1, imm_branch(i));
	}
}

/* c.jr, c.mv, c.ebreak, c.jalr, c.add */
static uint32_t moves_and_jumps(uint32_t i)
{
	unsigned int rd = field(i, 11, 7, 0), rs2 = field(i, 6, 2, 0);
	bool links = field(i, 12, 12, 0);

	if (rs2)
		return type_r(OP_OP, 0, 0, rd, links ? rd : 0, rs2);
	if (rd)
		return type_i(OP_JALR, 0, links, rd, 0);
	return links ? 0x00100073 : 0;
}

static uint32_t quadrant_2(uint32_t i, unsigned int funct3, unsigned int xlen)
{
	unsigned int rd = field(i, 11, 7, 0), shift = imm_addi(i) & 63;
	struct memory_kind kind = memory_kind(funct3, xlen);

	if (!funct3)
		return xlen == 32 && shift > 31 ? 0 : type_i(OP_IMM, 1, rd, rd, shift);
	if (funct3 == 4)
		return moves_and_jumps(i);
	if (funct3 > 4)
		return type_s(kind.store, kind.width, SP, field(i, 6, 2, 0),
			      imm_store_sp(i, kind.bytes));
	/* an integer load to x0 is reserved */
	return !rd && kind.load == OP_LOAD ? 0 :
		type_i(kind.load, kind.width, rd, SP, imm_load_sp(i, kind.bytes));
}

uint32_t rvt_tandem_expand(uint32_t insn, unsigned int xlen)
{
	unsigned int funct3 = insn >> 13 & 7;

	switch (insn & 3) {
	case 0: return quadrant_0(insn & 0xffff, funct3, xlen);
	case 1: return quadrant_1(insn & 0xffff, funct3, xlen);
	case 2: return quadrant_2(insn & 0xffff, funct3, xlen);
	default: return insn;
	}
}
