// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Instruction classifier: RV32/RV64 GC, Zcmp, Zcmt and privileged returns.
 */
#include <errno.h>
#include <string.h>
#include "insn/insn.h"

enum {
	OP_CUSTOM_0 = 0x0b,
	OP_AUIPC = 0x17,
	OP_CUSTOM_1 = 0x2b,
	OP_LUI = 0x37,
	OP_CUSTOM_2 = 0x5b,
	OP_BRANCH = 0x63,
	OP_JALR = 0x67,
	OP_RESERVED = 0x6b,
	OP_JAL = 0x6f,
	OP_SYSTEM = 0x73,
	OP_CUSTOM_3 = 0x7b,
};

/* Bits @hi..@lo of @word. */
static inline uint32_t bits(uint32_t word, unsigned int hi, unsigned int lo)
{
	return word >> lo & ((2u << (hi - lo)) - 1);
}

static inline int64_t sign_extend(uint32_t value, unsigned int width)
{
	unsigned int shift = 32 - width;

	return (int32_t)(value << shift) >> shift;
}

static uint8_t jal_class(unsigned int rd, unsigned int isa)
{
	if (rvt_insn_is_link(rd, isa))
		return RVT_INSN_CALL;
	return rd ? RVT_INSN_JUMP_LINKED : RVT_INSN_JUMP;
}

static uint8_t jalr_class(unsigned int rd, unsigned int rs1, unsigned int isa)
{
	if (rvt_insn_is_link(rd, isa))
		return rvt_insn_is_link(rs1, isa) && rs1 != rd ? RVT_INSN_COROUTINE :
								RVT_INSN_IND_CALL;
	if (rvt_insn_is_link(rs1, isa))
		return RVT_INSN_RETURN;
	return rd ? RVT_INSN_IND_JUMP_LINKED : RVT_INSN_IND_JUMP;
}

static void set_direct(struct rvt_insn *insn, enum rvt_insn_class iclass, int64_t offset)
{
	insn->iclass = iclass;
	insn->flags |= RVT_INSN_F_TARGET;
	insn->offset = offset;
}

static void set_jalr(struct rvt_insn *insn, unsigned int isa, unsigned int rd, unsigned int rs1,
		     int64_t offset)
{
	insn->iclass = jalr_class(rd, rs1, isa);
	insn->rd = rd;
	insn->rs1 = rs1;
	insn->offset = offset;
	if (!rs1)
		insn->flags |= RVT_INSN_F_ABSOLUTE;
}

static void set_upper(struct rvt_insn *insn, unsigned int rd, int64_t value, unsigned int flags)
{
	insn->rd = rd;
	insn->offset = value;
	insn->flags |= RVT_INSN_F_LOADS_IMM | flags;
}

static void decode_system(uint32_t word, struct rvt_insn *insn)
{
	switch (word) {
	case 0x00000073:
		insn->iclass = RVT_INSN_ECALL;
		break;
	case 0x00100073:
		insn->iclass = RVT_INSN_EBREAK;
		break;
	case 0x00200073:	/* uret */
	case 0x10200073:	/* sret */
	case 0x30200073:	/* mret */
	case 0x70200073:	/* mnret */
	case 0x7b200073:	/* dret */
		insn->iclass = RVT_INSN_TRAP_RETURN;
		break;
	}
}

static int64_t branch_offset(uint32_t word)
{
	return sign_extend(bits(word, 31, 31) << 12 | bits(word, 7, 7) << 11 |
			   bits(word, 30, 25) << 5 | bits(word, 11, 8) << 1, 13);
}

static int64_t jal_offset(uint32_t word)
{
	return sign_extend(bits(word, 31, 31) << 20 | bits(word, 19, 12) << 12 |
			   bits(word, 20, 20) << 11 | bits(word, 30, 21) << 1, 21);
}

static void decode_32(uint32_t word, unsigned int isa, struct rvt_insn *insn)
{
	unsigned int rd = bits(word, 11, 7), rs1 = bits(word, 19, 15);

	switch (word & 0x7f) {
	case OP_BRANCH:
		/*
		 * funct3 2 and 3 are Zibi's beqi and bnei. On a hart without Zibi they never
		 * retire, so that their class does not matter.
		 */
		set_direct(insn, RVT_INSN_BRANCH, branch_offset(word));
		insn->rs1 = rs1;
		break;
	case OP_JAL:
		set_direct(insn, jal_class(rd, isa), jal_offset(word));
		insn->rd = rd;
		break;
	case OP_JALR:
		if (bits(word, 14, 12) == 0)
			set_jalr(insn, isa, rd, rs1, sign_extend(bits(word, 31, 20), 12));
		else
			insn->flags |= RVT_INSN_F_CUSTOM;
		break;
	case OP_LUI:
		set_upper(insn, rd, (int32_t)(word & 0xfffff000), 0);
		break;
	case OP_AUIPC:
		set_upper(insn, rd, (int32_t)(word & 0xfffff000), RVT_INSN_F_PCREL);
		break;
	case OP_SYSTEM:
		decode_system(word, insn);
		break;
	case OP_CUSTOM_0:
	case OP_CUSTOM_1:
	case OP_CUSTOM_2:
	case OP_CUSTOM_3:
	case OP_RESERVED:
		insn->flags |= RVT_INSN_F_CUSTOM;
		break;
	}
}

static int64_t cj_offset(uint32_t parcel)
{
	return sign_extend(bits(parcel, 12, 12) << 11 | bits(parcel, 8, 8) << 10 |
			   bits(parcel, 10, 9) << 8 | bits(parcel, 6, 6) << 7 |
			   bits(parcel, 7, 7) << 6 | bits(parcel, 2, 2) << 5 |
			   bits(parcel, 11, 11) << 4 | bits(parcel, 5, 3) << 1, 12);
}

static int64_t cb_offset(uint32_t parcel)
{
	return sign_extend(bits(parcel, 12, 12) << 8 | bits(parcel, 6, 5) << 6 |
			   bits(parcel, 2, 2) << 5 | bits(parcel, 11, 10) << 3 |
			   bits(parcel, 4, 3) << 1, 9);
}

static void decode_quadrant_1(uint32_t parcel, unsigned int isa, struct rvt_insn *insn)
{
	unsigned int rd = bits(parcel, 11, 7);
	uint32_t imm = bits(parcel, 12, 12) << 5 | bits(parcel, 6, 2);

	switch (bits(parcel, 15, 13)) {
	case 1:
		if (isa & RVT_ISA_RV32) {
			set_direct(insn, RVT_INSN_CALL, cj_offset(parcel));
			insn->rd = 1;
		}
		break;
	case 3:
		/* rd = 2 is c.addi16sp; a zero immediate is c.mop (Zicfiss uses it). */
		if (rd && rd != 2 && imm)
			set_upper(insn, rd, sign_extend(imm, 6) * 4096, 0);
		break;
	case 5:
		set_direct(insn, RVT_INSN_JUMP, cj_offset(parcel));
		break;
	case 6:
	case 7:
		set_direct(insn, RVT_INSN_BRANCH, cb_offset(parcel));
		insn->rs1 = 8 + bits(parcel, 9, 7);
		break;
	}
}

/* c.jr, c.jalr, c.ebreak; c.mv and c.add, which have rs2, fall through. */
static void decode_jump_registers(uint32_t parcel, unsigned int isa, struct rvt_insn *insn)
{
	unsigned int rs1 = bits(parcel, 11, 7), link = bits(parcel, 12, 12);

	if (bits(parcel, 6, 2))
		return;
	if (rs1)
		set_jalr(insn, isa, link, rs1, 0);
	else if (link)
		insn->iclass = RVT_INSN_EBREAK;
	else
		insn->flags |= RVT_INSN_F_CUSTOM;
}

/* Zcmp and Zcmt live where Zcd has c.fsdsp. */
static void decode_zcm(uint32_t parcel, unsigned int isa, struct rvt_insn *insn)
{
	uint32_t index = bits(parcel, 9, 2);

	if (isa & RVT_ISA_ZCMT && bits(parcel, 12, 10) == 0) {
		insn->iclass = index < 32 ? RVT_INSN_JUMP : RVT_INSN_CALL;
		insn->rd = index < 32 ? 0 : 1;
		insn->flags |= RVT_INSN_F_TABLE;
		insn->offset = index;
	}
	/*
	 * cm.popretz and cm.popret; register lists below 4 are reserved. They jump to what they
	 * loaded from the stack: rs1 stays 0, so that no `auipc ra` before them counts.
	 */
	if (isa & RVT_ISA_ZCMP && (bits(parcel, 12, 8) == 0x1c || bits(parcel, 12, 8) == 0x1e) &&
	    bits(parcel, 7, 4) >= 4)
		insn->iclass = RVT_INSN_RETURN;
}

static void decode_16(uint32_t parcel, unsigned int isa, struct rvt_insn *insn)
{
	switch (parcel & 3) {
	case 0:
		/* Zcb uses part of funct3 4; the rest of it is reserved. */
		if (bits(parcel, 15, 13) == 4 && bits(parcel, 12, 12))
			insn->flags |= RVT_INSN_F_CUSTOM;
		break;
	case 1:
		decode_quadrant_1(parcel, isa, insn);
		break;
	case 2:
		if (bits(parcel, 15, 13) == 4)
			decode_jump_registers(parcel, isa, insn);
		else if (bits(parcel, 15, 13) == 5)
			decode_zcm(parcel, isa, insn);
		break;
	}
}

/* Unprivileged ISA, chapter 1.5; 0 for lengths that are reserved. */
static unsigned int length_bytes(uint32_t parcel)
{
	if ((parcel & 3) != 3)
		return 2;
	if ((parcel & 0x1c) != 0x1c)
		return 4;
	if ((parcel & 0x3f) == 0x1f)
		return 6;
	if ((parcel & 0x7f) == 0x3f)
		return 8;
	return 0;
}

int rvt_insn_decode(const uint8_t *code, size_t avail, unsigned int isa, struct rvt_insn *insn)
{
	uint32_t parcel, word;

	memset(insn, 0, sizeof(*insn));
	if (avail < 2)
		return -EAGAIN;
	parcel = code[0] | code[1] << 8;
	insn->len_bytes = length_bytes(parcel);
	if (!parcel || !insn->len_bytes)
		return -EILSEQ;
	if (avail < insn->len_bytes)
		return -EAGAIN;
	switch (insn->len_bytes) {
	case 2:
		decode_16(parcel, isa, insn);
		break;
	case 4:
		word = parcel | (uint32_t)code[2] << 16 | (uint32_t)code[3] << 24;
		decode_32(word, isa, insn);
		break;
	default:
		insn->flags |= RVT_INSN_F_CUSTOM;
		break;
	}
	return 0;
}

int rvt_insn_classify(const uint8_t *code, size_t avail, unsigned int isa, rvt_insn_hook hook,
		      void *hook_ctx, struct rvt_insn *insn)
{
	struct rvt_insn own;
	int ret = rvt_insn_decode(code, avail, isa, insn);

	if (!hook || ret == -EAGAIN || (!ret && !(insn->flags & RVT_INSN_F_CUSTOM)))
		return ret;
	memset(&own, 0, sizeof(own));
	if (hook(hook_ctx, code, avail, &own))
		return ret;
	if (own.len_bytes < 2 || own.len_bytes > 8 || own.len_bytes & 1 || own.len_bytes > avail ||
	    own.iclass >= RVT_INSN_CLASSES)
		return -EILSEQ;
	*insn = own;
	insn->flags |= RVT_INSN_F_CUSTOM;
	return 0;
}
