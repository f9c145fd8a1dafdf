// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* The encodings are those of the instruction listings of the unprivileged architecture. */
#include "rv-insns.h"
#include "model/tandem/privileged.h"

const char *const rv_group_names[RV_GROUPS] = {
	"I", "I jumps", "I memory", "M", "A", "F", "D", "F and D fused", "F and D memory", "C",
	"C jumps", "C memory",
};

const struct rv_form rv_forms[] = {
	{ "addi", RV_I, 0x707f, 0x13 }, { "slti", RV_I, 0x707f, 0x2013 },
	{ "sltiu", RV_I, 0x707f, 0x3013 }, { "xori", RV_I, 0x707f, 0x4013 },
	{ "ori", RV_I, 0x707f, 0x6013 }, { "andi", RV_I, 0x707f, 0x7013 },
	{ "slli", RV_I, 0xfc00707f, 0x1013 }, { "srli", RV_I, 0xfc00707f, 0x5013 },
	{ "srai", RV_I, 0xfc00707f, 0x40005013 }, { "addiw", RV_I, 0x707f, 0x1b },
	{ "slliw", RV_I, 0xfe00707f, 0x101b }, { "srliw", RV_I, 0xfe00707f, 0x501b },
	{ "sraiw", RV_I, 0xfe00707f, 0x4000501b }, { "add", RV_I, 0xfe00707f, 0x33 },
	{ "sub", RV_I, 0xfe00707f, 0x40000033 }, { "sll", RV_I, 0xfe00707f, 0x1033 },
	{ "slt", RV_I, 0xfe00707f, 0x2033 }, { "sltu", RV_I, 0xfe00707f, 0x3033 },
	{ "xor", RV_I, 0xfe00707f, 0x4033 }, { "srl", RV_I, 0xfe00707f, 0x5033 },
	{ "sra", RV_I, 0xfe00707f, 0x40005033 }, { "or", RV_I, 0xfe00707f, 0x6033 },
	{ "and", RV_I, 0xfe00707f, 0x7033 }, { "addw", RV_I, 0xfe00707f, 0x3b },
	{ "subw", RV_I, 0xfe00707f, 0x4000003b }, { "sllw", RV_I, 0xfe00707f, 0x103b },
	{ "srlw", RV_I, 0xfe00707f, 0x503b }, { "sraw", RV_I, 0xfe00707f, 0x4000503b },
	{ "lui", RV_I, 0x7f, 0x37 }, { "auipc", RV_I, 0x7f, 0x17 },
	{ "fence", RV_I, 0x707f, 0xf }, { "fence.i", RV_I, 0x707f, 0x100f },
	{ "beq", RV_I_JUMP, 0x707f, 0x63 }, { "bne", RV_I_JUMP, 0x707f, 0x1063 },
	{ "blt", RV_I_JUMP, 0x707f, 0x4063 }, { "bge", RV_I_JUMP, 0x707f, 0x5063 },
	{ "bltu", RV_I_JUMP, 0x707f, 0x6063 }, { "bgeu", RV_I_JUMP, 0x707f, 0x7063 },
	{ "jal", RV_I_JUMP, 0x7f, 0x6f }, { "jalr", RV_I_JUMP, 0x707f, 0x67 },
	{ "lb", RV_I_MEMORY, 0x707f, 0x3 }, { "lh", RV_I_MEMORY, 0x707f, 0x1003 },
	{ "lw", RV_I_MEMORY, 0x707f, 0x2003 }, { "ld", RV_I_MEMORY, 0x707f, 0x3003 },
	{ "lbu", RV_I_MEMORY, 0x707f, 0x4003 }, { "lhu", RV_I_MEMORY, 0x707f, 0x5003 },
	{ "lwu", RV_I_MEMORY, 0x707f, 0x6003 }, { "sb", RV_I_MEMORY, 0x707f, 0x23 },
	{ "sh", RV_I_MEMORY, 0x707f, 0x1023 }, { "sw", RV_I_MEMORY, 0x707f, 0x2023 },
	{ "sd", RV_I_MEMORY, 0x707f, 0x3023 }, { "mul", RV_M, 0xfe00707f, 0x2000033 },
	{ "mulh", RV_M, 0xfe00707f, 0x2001033 }, { "mulhsu", RV_M, 0xfe00707f, 0x2002033 },
	{ "mulhu", RV_M, 0xfe00707f, 0x2003033 }, { "div", RV_M, 0xfe00707f, 0x2004033 },
	{ "divu", RV_M, 0xfe00707f, 0x2005033 }, { "rem", RV_M, 0xfe00707f, 0x2006033 },
	{ "remu", RV_M, 0xfe00707f, 0x2007033 }, { "mulw", RV_M, 0xfe00707f, 0x200003b },
	{ "divw", RV_M, 0xfe00707f, 0x200403b }, { "divuw", RV_M, 0xfe00707f, 0x200503b },
	{ "remw", RV_M, 0xfe00707f, 0x200603b }, { "remuw", RV_M, 0xfe00707f, 0x200703b },
	{ "lr.w", RV_A, 0xf9f0707f, 0x1000202f }, { "sc.w", RV_A, 0xf800707f, 0x1800202f },
	{ "amoswap.w", RV_A, 0xf800707f, 0x800202f }, { "amoadd.w", RV_A, 0xf800707f, 0x202f },
	{ "amoxor.w", RV_A, 0xf800707f, 0x2000202f },
	{ "amoand.w", RV_A, 0xf800707f, 0x6000202f },
	{ "amoor.w", RV_A, 0xf800707f, 0x4000202f },
	{ "amomin.w", RV_A, 0xf800707f, 0x8000202f },
	{ "amomax.w", RV_A, 0xf800707f, 0xa000202f },
	{ "amominu.w", RV_A, 0xf800707f, 0xc000202f },
	{ "amomaxu.w", RV_A, 0xf800707f, 0xe000202f }, { "lr.d", RV_A, 0xf9f0707f, 0x1000302f },
	{ "sc.d", RV_A, 0xf800707f, 0x1800302f }, { "amoswap.d", RV_A, 0xf800707f, 0x800302f },
	{ "amoadd.d", RV_A, 0xf800707f, 0x302f }, { "amoxor.d", RV_A, 0xf800707f, 0x2000302f },
	{ "amoand.d", RV_A, 0xf800707f, 0x6000302f },
	{ "amoor.d", RV_A, 0xf800707f, 0x4000302f },
	{ "amomin.d", RV_A, 0xf800707f, 0x8000302f },
	{ "amomax.d", RV_A, 0xf800707f, 0xa000302f },
	{ "amominu.d", RV_A, 0xf800707f, 0xc000302f },
	{ "amomaxu.d", RV_A, 0xf800707f, 0xe000302f }, { "fadd.s", RV_F, 0xfe00007f, 0x53 },
	{ "fsub.s", RV_F, 0xfe00007f, 0x8000053 }, { "fmul.s", RV_F, 0xfe00007f, 0x10000053 },
	{ "fdiv.s", RV_F, 0xfe00007f, 0x18000053 }, { "fsqrt.s", RV_F, 0xfff0007f, 0x58000053 },
	{ "fsgnj.s", RV_F, 0xfe00707f, 0x20000053 },
	{ "fsgnjn.s", RV_F, 0xfe00707f, 0x20001053 },
	{ "fsgnjx.s", RV_F, 0xfe00707f, 0x20002053 }, { "fmin.s", RV_F, 0xfe00707f, 0x28000053 },
	{ "fmax.s", RV_F, 0xfe00707f, 0x28001053 }, { "fle.s", RV_F, 0xfe00707f, 0xa0000053 },
	{ "flt.s", RV_F, 0xfe00707f, 0xa0001053 }, { "feq.s", RV_F, 0xfe00707f, 0xa0002053 },
	{ "fcvt.w.s", RV_F, 0xfff0007f, 0xc0000053 },
	{ "fcvt.s.w", RV_F, 0xfff0007f, 0xd0000053 },
	{ "fcvt.wu.s", RV_F, 0xfff0007f, 0xc0100053 },
	{ "fcvt.s.wu", RV_F, 0xfff0007f, 0xd0100053 },
	{ "fcvt.l.s", RV_F, 0xfff0007f, 0xc0200053 },
	{ "fcvt.s.l", RV_F, 0xfff0007f, 0xd0200053 },
	{ "fcvt.lu.s", RV_F, 0xfff0007f, 0xc0300053 },
	{ "fcvt.s.lu", RV_F, 0xfff0007f, 0xd0300053 },
	{ "fmv.x.w", RV_F, 0xfff0707f, 0xe0000053 },
	{ "fclass.s", RV_F, 0xfff0707f, 0xe0001053 },
	{ "fmv.w.x", RV_F, 0xfff0707f, 0xf0000053 }, { "fmadd.s", RV_FUSED, 0x600007f, 0x43 },
	{ "fmsub.s", RV_FUSED, 0x600007f, 0x47 }, { "fnmsub.s", RV_FUSED, 0x600007f, 0x4b },
	{ "fnmadd.s", RV_FUSED, 0x600007f, 0x4f }, { "fadd.d", RV_D, 0xfe00007f, 0x2000053 },
	{ "fsub.d", RV_D, 0xfe00007f, 0xa000053 }, { "fmul.d", RV_D, 0xfe00007f, 0x12000053 },
	{ "fdiv.d", RV_D, 0xfe00007f, 0x1a000053 }, { "fsqrt.d", RV_D, 0xfff0007f, 0x5a000053 },
	{ "fsgnj.d", RV_D, 0xfe00707f, 0x22000053 },
	{ "fsgnjn.d", RV_D, 0xfe00707f, 0x22001053 },
	{ "fsgnjx.d", RV_D, 0xfe00707f, 0x22002053 }, { "fmin.d", RV_D, 0xfe00707f, 0x2a000053 },
	{ "fmax.d", RV_D, 0xfe00707f, 0x2a001053 }, { "fle.d", RV_D, 0xfe00707f, 0xa2000053 },
	{ "flt.d", RV_D, 0xfe00707f, 0xa2001053 }, { "feq.d", RV_D, 0xfe00707f, 0xa2002053 },
	{ "fcvt.w.d", RV_D, 0xfff0007f, 0xc2000053 },
	{ "fcvt.d.w", RV_D, 0xfff0007f, 0xd2000053 },
	{ "fcvt.wu.d", RV_D, 0xfff0007f, 0xc2100053 },
	{ "fcvt.d.wu", RV_D, 0xfff0007f, 0xd2100053 },
	{ "fcvt.l.d", RV_D, 0xfff0007f, 0xc2200053 },
	{ "fcvt.d.l", RV_D, 0xfff0007f, 0xd2200053 },
	{ "fcvt.lu.d", RV_D, 0xfff0007f, 0xc2300053 },
	{ "fcvt.d.lu", RV_D, 0xfff0007f, 0xd2300053 },
	{ "fmv.x.d", RV_D, 0xfff0707f, 0xe2000053 },
	{ "fclass.d", RV_D, 0xfff0707f, 0xe2001053 },
	{ "fmv.d.x", RV_D, 0xfff0707f, 0xf2000053 },
	{ "fmadd.d", RV_FUSED, 0x600007f, 0x2000043 },
	{ "fmsub.d", RV_FUSED, 0x600007f, 0x2000047 },
	{ "fnmsub.d", RV_FUSED, 0x600007f, 0x200004b },
	{ "fnmadd.d", RV_FUSED, 0x600007f, 0x200004f },
	{ "fcvt.s.d", RV_D, 0xfff0007f, 0x40100053 },
	{ "fcvt.d.s", RV_D, 0xfff0007f, 0x42000053 }, { "flw", RV_FD_MEMORY, 0x707f, 0x2007 },
	{ "fld", RV_FD_MEMORY, 0x707f, 0x3007 }, { "fsw", RV_FD_MEMORY, 0x707f, 0x2027 },
	{ "fsd", RV_FD_MEMORY, 0x707f, 0x3027 }, { "c.addi4spn", RV_C, 0xe003, 0x0 },
	{ "c.fld", RV_C_MEMORY, 0xe003, 0x2000 }, { "c.lw", RV_C_MEMORY, 0xe003, 0x4000 },
	{ "c.ld", RV_C_MEMORY, 0xe003, 0x6000 }, { "c.fsd", RV_C_MEMORY, 0xe003, 0xa000 },
	{ "c.sw", RV_C_MEMORY, 0xe003, 0xc000 }, { "c.sd", RV_C_MEMORY, 0xe003, 0xe000 },
	{ "c.nop", RV_C, 0xef83, 0x1 }, { "c.addi", RV_C, 0xe003, 0x1 },
	{ "c.addiw", RV_C, 0xe003, 0x2001 }, { "c.li", RV_C, 0xe003, 0x4001 },
	{ "c.addi16sp", RV_C, 0xef83, 0x6101 }, { "c.lui", RV_C, 0xe003, 0x6001 },
	{ "c.srli", RV_C, 0xec03, 0x8001 }, { "c.srai", RV_C, 0xec03, 0x8401 },
	{ "c.andi", RV_C, 0xec03, 0x8801 }, { "c.sub", RV_C, 0xfc63, 0x8c01 },
	{ "c.xor", RV_C, 0xfc63, 0x8c21 }, { "c.or", RV_C, 0xfc63, 0x8c41 },
	{ "c.and", RV_C, 0xfc63, 0x8c61 }, { "c.subw", RV_C, 0xfc63, 0x9c01 },
	{ "c.addw", RV_C, 0xfc63, 0x9c21 }, { "c.j", RV_C_JUMP, 0xe003, 0xa001 },
	{ "c.beqz", RV_C_JUMP, 0xe003, 0xc001 }, { "c.bnez", RV_C_JUMP, 0xe003, 0xe001 },
	{ "c.slli", RV_C, 0xe003, 0x2 }, { "c.fldsp", RV_C_MEMORY, 0xe003, 0x2002 },
	{ "c.lwsp", RV_C_MEMORY, 0xe003, 0x4002 }, { "c.ldsp", RV_C_MEMORY, 0xe003, 0x6002 },
	{ "c.jr", RV_C_JUMP, 0xf07f, 0x8002 }, { "c.mv", RV_C, 0xf003, 0x8002 },
	{ "c.jalr", RV_C_JUMP, 0xf07f, 0x9002 }, { "c.add", RV_C, 0xf003, 0x9002 },
	{ "c.fsdsp", RV_C_MEMORY, 0xe003, 0xa002 }, { "c.swsp", RV_C_MEMORY, 0xe003, 0xc002 },
	{ "c.sdsp", RV_C_MEMORY, 0xe003, 0xe002 },
};

const size_t rv_forms_len = sizeof(rv_forms) / sizeof(rv_forms[0]);

/* Reserved: a rounding mode that does not exist, an upper half of c.* that is another form's. */
static bool usable(const struct rv_form *form, uint32_t insn)
{
	size_t i;

	if ((insn & 3) == 3)
		return !(insn & 0x40 && (insn & 0x7f) <= 0x53 && !(form->mask >> 12 & 7) &&
			 ((insn >> 12 & 7) == 5 || (insn >> 12 & 7) == 6));
	if (!rvt_tandem_expand(insn, 64))
		return false;
	/* c.addi includes c.nop and the like, but c.mv is not c.jr */
	for (i = 0; i < rv_forms_len; i++)
		if ((rv_forms[i].mask & form->mask) == form->mask &&
		    rv_forms[i].mask != form->mask &&
		    (insn & rv_forms[i].mask) == rv_forms[i].match &&
		    rv_forms[i].match != 0x0001)
			return false;
	return insn != 0x9002;		/* c.ebreak */
}

uint32_t rv_form_make(const struct rv_form *form, struct random *r)
{
	uint32_t insn, low = (form->match & 3) == 3 ? UINT32_MAX : UINT16_MAX;

	do
		insn = (form->match | ((uint32_t)random_word(r) & ~form->mask)) & low;
	while (!usable(form, insn));
	return insn;
}

uint64_t rv_random_integer(struct random *r)
{
	static const uint64_t corners[] = {
		0, 1, 2, 31, 32, 63, 64, UINT64_MAX, UINT64_MAX - 1, INT64_MAX, INT64_MIN,
		(uint64_t)INT64_MIN + 1, INT32_MAX, 0x80000000, 0x80000001, UINT32_MAX,
		(uint64_t)INT32_MIN, UINT64_C(0xffffffff00000000), UINT64_C(0x100000000),
		UINT64_C(0x5555555555555555), 0x7fff, 0x8000, 0x80, 0xff,
	};
	uint64_t word = random_word(r);

	switch (random_below(r, 4)) {
	case 0: return corners[random_below(r, sizeof(corners) / sizeof(corners[0]))];
	case 1: return (uint64_t)((int64_t)word >> random_below(r, 64));
	case 2: return word >> random_below(r, 64);
	default: return word;
	}
}

/* An exponent and a fraction, each of a corner or random. */
static uint64_t random_bits(struct random *r, unsigned int exponent_bits,
			    unsigned int fraction_bits)
{
	uint64_t fraction_mask = (UINT64_C(1) << fraction_bits) - 1, fraction = random_word(r);
	uint64_t max = (UINT64_C(1) << exponent_bits) - 1, middle = max / 2, exponent, sign;

	/* zero, infinity, NaNs, one */
	if (random_one_in(r, 6)) {
		exponent = random_below(r, 4);
		sign = random_one_in(r, 2);
		fraction = exponent == 2 ? random_below(r, 2) : 0;
		if (exponent == 2)
			fraction |= UINT64_C(1) << random_below(r, fraction_bits);
		return sign << (exponent_bits + fraction_bits) |
			(exponent == 3 ? middle : exponent ? max : 0) << fraction_bits | fraction;
	}
	switch (random_below(r, 6)) {
	case 0: exponent = 0; break;
	case 1: exponent = max; break;
	case 2: exponent = random_one_in(r, 2) ? 1 : max - 1; break;
	case 3: exponent = middle + random_below(r, 70) - 4; break;
	case 4: exponent = middle - fraction_bits + random_below(r, 2 * fraction_bits); break;
	default: exponent = random_word(r) & max; break;
	}
	switch (random_below(r, 6)) {
	case 0: fraction = 0; break;
	case 1: fraction = random_below(r, 3); break;
	case 2: fraction = fraction_mask - random_below(r, 3); break;
	case 3: fraction = UINT64_C(1) << random_below(r, fraction_bits); break;
	case 4: fraction <<= random_below(r, fraction_bits); break;
	}
	return (uint64_t)random_one_in(r, 2) << (exponent_bits + fraction_bits) |
		(exponent & max) << fraction_bits | (fraction & fraction_mask);
}

uint64_t rv_random_float(struct random *r)
{
	if (random_one_in(r, 16))
		return random_word(r);
	if (random_one_in(r, 2))
		return random_bits(r, 11, 52);
	return UINT64_C(0xffffffff) << 32 | random_bits(r, 8, 23);
}
