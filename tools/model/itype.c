/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The model's instruction classifier: finds the itype of an instruction (E-Trace 2.0 section 4.1.1,
 * N-Trace table "Generating itype"), and what QEMU may do in the middle of it. RV64GC with Zcmp and
 * Zcmt.
 */
#include <string.h>
#include "itype.h"

enum {
	OP_LOAD = 0x03, OP_LOAD_FP = 0x07, OP_MISC_MEM = 0x0f, OP_IMM = 0x13, OP_AUIPC = 0x17,
	OP_IMM_32 = 0x1b, OP_STORE = 0x23, OP_STORE_FP = 0x27, OP_AMO = 0x2f, OP_OP = 0x33,
	OP_LUI = 0x37, OP_OP_32 = 0x3b, OP_BRANCH = 0x63, OP_JALR = 0x67, OP_JAL = 0x6f,
	OP_SYSTEM = 0x73,
};

static unsigned int bits(uint32_t insn, unsigned int hi, unsigned int lo)
{
	return insn >> lo & ((1u << (hi - lo + 1)) - 1);
}

static int32_t extend(uint32_t value, unsigned int width)
{
	return (int32_t)(value << (32 - width)) >> (32 - width);
}

static bool is_link(unsigned int reg)
{
	return reg == 1 || reg == 5;
}

static enum rvt_itype jalr_itype(unsigned int rd, unsigned int rs1)
{
	if (is_link(rd))
		return is_link(rs1) && rd != rs1 ? RVT_ITYPE_COROUTINE : RVT_ITYPE_IND_CALL;
	if (is_link(rs1))
		return RVT_ITYPE_RETURN;
	return rd ? RVT_ITYPE_IND_JUMP_LINKED : RVT_ITYPE_IND_JUMP;
}

static enum rvt_itype jal_itype(unsigned int rd)
{
	if (is_link(rd))
		return RVT_ITYPE_CALL;
	return rd ? RVT_ITYPE_JUMP_LINKED : RVT_ITYPE_JUMP;
}

static void classify_system(uint32_t insn, struct insn_class *c)
{
	c->funct3 = bits(insn, 14, 12);
	if (c->funct3 == 4) {
		/* hlv, hlvx and hsv: loads and stores of the guest's memory */
		c->load = c->store = true;
	} else if (c->funct3) {
		c->csr = bits(insn, 31, 20);
	} else {
		switch (bits(insn, 31, 20)) {
		case 0x002: case 0x102: case 0x302: case 0x702: case 0x7b2:
			c->itype = RVT_ITYPE_TRAP_RETURN;
			break;
		}
	}
}

static void classify_32(uint32_t insn, struct insn_class *c)
{
	c->rd = bits(insn, 11, 7);
	c->rs1 = bits(insn, 19, 15);
	switch (insn & 0x7f) {
	case OP_IMM: case OP_IMM_32: case OP_OP: case OP_OP_32:
		c->plain = true;
		break;
	case OP_LUI: case OP_AUIPC:
		c->plain = true;
		c->upper_rd = c->rd;
		break;
	case OP_BRANCH:
		c->plain = true;
		c->itype = RVT_ITYPE_BRANCH_TAKEN;
		c->offset = extend(bits(insn, 31, 31) << 12 | bits(insn, 7, 7) << 11 |
				   bits(insn, 30, 25) << 5 | bits(insn, 11, 8) << 1, 13);
		break;
	case OP_JAL:
		c->plain = true;
		c->itype = jal_itype(c->rd);
		c->offset = extend(bits(insn, 31, 31) << 20 | bits(insn, 19, 12) << 12 |
				   bits(insn, 20, 20) << 11 | bits(insn, 30, 21) << 1, 21);
		break;
	case OP_JALR:
		c->plain = true;
		c->itype = jalr_itype(c->rd, c->rs1);
		c->jump_rs = c->rs1;
		c->absolute = !c->rs1;
		break;
	case OP_LOAD:
		c->plain = c->load = true;
		c->direct = !bits(insn, 31, 20);
		c->word = bits(insn, 14, 12) == 2;
		break;
	case OP_STORE:
		c->plain = c->store = true;
		c->direct = !bits(insn, 31, 25) && !bits(insn, 11, 7);
		break;
	case OP_LOAD_FP: case OP_STORE_FP:
		/* funct3 2 and 3 are scalar, the others are vectors */
		c->plain = bits(insn, 14, 12) == 2 || bits(insn, 14, 12) == 3;
		c->load = c->store = true;
		break;
	case OP_MISC_MEM:	/* the cbo instructions write */
		c->store = true;
		break;
	case OP_AMO:
		c->load = c->store = true;
		break;
	case OP_SYSTEM:
		classify_system(insn, c);
		break;
	}
}

/* Classifies quadrant 2, funct3 4: c.jr, c.mv, c.ebreak, c.jalr, c.add. */
static void classify_cr(uint32_t insn, struct insn_class *c)
{
	unsigned int rs1 = bits(insn, 11, 7), rs2 = bits(insn, 6, 2);
	bool link = bits(insn, 12, 12);

	c->plain = rs1 || rs2;
	if (rs2 || !rs1)
		return;
	c->jump_rs = (uint8_t)rs1;
	c->itype = jalr_itype(link ? 1 : 0, rs1);
}

/* Classifies quadrant 2, funct3 5: Zcmp and Zcmt. */
static void classify_zcm(uint32_t insn, struct insn_class *c)
{
	c->plain = false;
	c->load = true;
	if (bits(insn, 12, 10) == 0)
		c->itype = bits(insn, 9, 2) < 32 ? RVT_ITYPE_JUMP : RVT_ITYPE_CALL;
	else if (bits(insn, 12, 8) == 0x1c || bits(insn, 12, 8) == 0x1e)
		c->itype = RVT_ITYPE_RETURN;	/* cm.popretz, cm.popret */
}

static void classify_16(uint32_t insn, bool zcm, struct insn_class *c)
{
	switch (bits(insn, 1, 0) << 3 | bits(insn, 15, 13)) {
	case 0 << 3 | 0:	/* c.addi4spn; all zero is illegal */
		c->plain = insn;
		break;
	case 0 << 3 | 2: case 0 << 3 | 3:	/* c.lw, c.ld */
		c->plain = c->load = true;
		c->direct = !bits(insn, 12, 10) && !bits(insn, 6, 5);
		c->word = bits(insn, 15, 13) == 2;
		break;
	case 0 << 3 | 1: case 2 << 3 | 1: case 2 << 3 | 2: case 2 << 3 | 3:
		c->plain = c->load = true;
		break;
	case 0 << 3 | 4:	/* Zcb: byte and halfword loads and stores */
		c->plain = c->load = c->store = c->direct = true;
		break;
	case 0 << 3 | 6: case 0 << 3 | 7:	/* c.sw, c.sd */
		c->plain = c->store = true;
		c->direct = !bits(insn, 12, 10) && !bits(insn, 6, 5);
		break;
	case 0 << 3 | 5: case 2 << 3 | 6: case 2 << 3 | 7:
		c->plain = c->store = true;
		break;
	case 1 << 3 | 5:
		c->plain = true;
		c->itype = RVT_ITYPE_JUMP;
		c->offset = extend(bits(insn, 12, 12) << 11 | bits(insn, 11, 11) << 4 |
					   bits(insn, 10, 9) << 8 | bits(insn, 8, 8) << 10 |
					   bits(insn, 7, 7) << 6 | bits(insn, 6, 6) << 7 |
					   bits(insn, 5, 3) << 1 | bits(insn, 2, 2) << 5,
				   12);
		break;
	case 1 << 3 | 6: case 1 << 3 | 7:
		c->plain = true;
		c->itype = RVT_ITYPE_BRANCH_TAKEN;
		c->offset = extend(bits(insn, 12, 12) << 8 | bits(insn, 11, 10) << 3 |
					   bits(insn, 6, 5) << 6 | bits(insn, 4, 3) << 1 |
					   bits(insn, 2, 2) << 5,
				   9);
		break;
	case 1 << 3 | 3:	/* c.lui, c.addi16sp, c.mop */
		c->plain = true;
		if (bits(insn, 11, 7) != 2 && (bits(insn, 12, 12) || bits(insn, 6, 2)))
			c->upper_rd = bits(insn, 11, 7);
		break;
	case 2 << 3 | 4:
		classify_cr(insn, c);
		break;
	case 2 << 3 | 5:
		c->plain = c->store = true;
		if (zcm)
			classify_zcm(insn, c);
		break;
	default:
		c->plain = true;
		break;
	}
}

void itype_classify(uint32_t insn, bool zcm, struct insn_class *c)
{
	memset(c, 0, sizeof(*c));
	c->csr = -1;
	if ((insn & 3) == 3) {
		c->halfwords = 2;
		classify_32(insn, c);
	} else {
		insn &= 0xffff;
		c->halfwords = 1;
		classify_16(insn, zcm, c);
	}
}
