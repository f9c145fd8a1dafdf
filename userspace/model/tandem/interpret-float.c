// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* F and D, version 2.2, with NaN-boxing where FLEN is 64. */
#include "model/tandem/float.h"
#include "model/tandem/interpret-float.h"

#define BOX (UINT64_C(0xffffffff) << 32)

struct operation {
	struct tandem_unprivileged *hart;
	const struct tandem_format *format;
	struct tandem_float_env env;
	unsigned int rd, funct3, rs2;
	uint64_t a, b, c;		/* operands */
};

/* A single that is not boxed counts as the canonical NaN. */
static uint64_t operand(const struct operation *o, const struct tandem_format *format,
			unsigned int reg)
{
	uint64_t bits = o->hart->f[reg];

	if (format == &rvt_tandem_binary64)
		return bits;
	return o->hart->flen == 32 || bits >= BOX ? (uint32_t)bits : rvt_tandem_float_nan(format);
}

static void set_f(struct tandem_unprivileged *hart, unsigned int reg,
		  const struct tandem_format *format, uint64_t bits)
{
	hart->f[reg] = format == &rvt_tandem_binary32 && hart->flen == 64 ? BOX | bits : bits;
	hart->f_written = true;
}

static enum tandem_interpreted result_f(struct operation *o, uint64_t bits)
{
	set_f(o->hart, o->rd, o->format, bits);
	o->hart->fcsr |= o->env.flags;
	return TANDEM_DONE;
}

static enum tandem_interpreted result_x(struct operation *o, uint64_t value)
{
	tandem_set_x(o->hart, o->rd, value);
	o->hart->fcsr |= o->env.flags;
	return TANDEM_DONE;
}

/* Whether the rounding mode that the instruction asks for exists. */
static bool rounding(struct operation *o)
{
	unsigned int mode = o->funct3 == 7 ? o->hart->fcsr >> 5 & 7 : o->funct3;

	o->env.rounding = mode;
	return mode <= TANDEM_RMM;
}

static enum tandem_interpreted fused(struct operation *o, uint32_t insn)
{
	unsigned int which = insn >> 2 & 3;		/* madd, msub, nmsub, nmadd */
	uint64_t a = o->a, c = operand(o, o->format, insn >> 27);

	if (!rounding(o))
		return TANDEM_ILLEGAL;
	if (which >= 2)
		a = rvt_tandem_float_negate(o->format, a);
	if (which == 1 || which == 3)
		c = rvt_tandem_float_negate(o->format, c);
	return result_f(o, rvt_tandem_float_fma(o->format, &o->env, a, o->b, c));
}

static enum tandem_interpreted arithmetic(struct operation *o, unsigned int funct5)
{
	uint64_t b = funct5 == 1 ? rvt_tandem_float_negate(o->format, o->b) : o->b;

	if (!rounding(o))
		return TANDEM_ILLEGAL;
	if (funct5 < 2)
		return result_f(o, rvt_tandem_float_add(o->format, &o->env, o->a, b));
	if (funct5 == 2)
		return result_f(o, rvt_tandem_float_mul(o->format, &o->env, o->a, b));
	if (funct5 == 3)
		return result_f(o, rvt_tandem_float_div(o->format, &o->env, o->a, b));
	return o->rs2 ? TANDEM_RESERVED :
		result_f(o, rvt_tandem_float_sqrt(o->format, &o->env, o->a));
}

static enum tandem_interpreted sign_injection(struct operation *o)
{
	unsigned int top = o->format->exponent_bits + o->format->fraction_bits;
	uint64_t sign = UINT64_C(1) << top;
	uint64_t from = o->funct3 == 0 ? o->b : o->funct3 == 1 ? ~o->b : o->a ^ o->b;

	return o->funct3 > 2 ? TANDEM_RESERVED : result_f(o, (o->a & ~sign) | (from & sign));
}

static enum tandem_interpreted comparison(struct operation *o)
{
	if (o->funct3 > 2)
		return TANDEM_RESERVED;
	if (o->funct3 == 2)
		return result_x(o, rvt_tandem_float_eq(o->format, &o->env, o->a, o->b));
	return result_x(o, rvt_tandem_float_less(o->format, &o->env, o->a, o->b, !o->funct3));
}

/* fcvt.s.d, fcvt.d.s */
static enum tandem_interpreted convert(struct operation *o, unsigned int rs1)
{
	const struct tandem_format *from = o->rs2 ? &rvt_tandem_binary64 : &rvt_tandem_binary32;

	if (o->rs2 > 1 || from == o->format)
		return TANDEM_RESERVED;
	if (!rounding(o))
		return TANDEM_ILLEGAL;
	return result_f(o,
			rvt_tandem_float_convert(from, o->format, &o->env, operand(o, from, rs1)));
}

/* fcvt between a float and an integer; rs2: w, wu, l, lu */
static enum tandem_interpreted convert_int(struct operation *o, uint64_t x, bool to_int)
{
	unsigned int bits = o->rs2 & 2 ? 64 : 32;
	bool is_signed = !(o->rs2 & 1);
	uint64_t value;

	if (o->rs2 > 3 || bits > o->hart->xlen)
		return TANDEM_RESERVED;
	if (!rounding(o))
		return TANDEM_ILLEGAL;
	if (!to_int) {
		if (bits == 32)
			x = is_signed ? (uint64_t)(int64_t)(int32_t)x : (uint32_t)x;
		return result_f(o, rvt_tandem_float_from_int(o->format, &o->env, x, is_signed));
	}
	value = rvt_tandem_float_to_int(o->format, &o->env, o->a, bits, is_signed);
	/* 32 bits are sign-extended, those of fcvt.wu too */
	return result_x(o, bits == 32 ? (uint64_t)(int64_t)(int32_t)value : value);
}

/* fmv.x.w, fmv.x.d, fclass */
static enum tandem_interpreted move_to_x(struct operation *o, unsigned int rs1)
{
	if (o->rs2 || o->funct3 > 1)
		return TANDEM_RESERVED;
	if (o->funct3)
		return result_x(o, rvt_tandem_float_class(o->format, o->a));
	if (o->format == &rvt_tandem_binary64)
		return o->hart->xlen == 64 ? result_x(o, o->a) : TANDEM_RESERVED;
	return result_x(o, (uint64_t)(int64_t)(int32_t)o->hart->f[rs1]);
}

static enum tandem_interpreted move_to_f(struct operation *o, uint64_t x)
{
	if (o->rs2 || o->funct3 || (o->format == &rvt_tandem_binary64 && o->hart->xlen == 32))
		return TANDEM_RESERVED;
	return result_f(o, o->format == &rvt_tandem_binary64 ? x : (uint32_t)x);
}

static enum tandem_interpreted op_fp(struct operation *o, uint32_t insn)
{
	unsigned int rs1 = insn >> 15 & 31, funct5 = insn >> 27;
	uint64_t x = o->hart->x[rs1];

	switch (funct5) {
	case 0x00: case 0x01: case 0x02: case 0x03: case 0x0b:
		return arithmetic(o, funct5);
	case 0x04:
		return sign_injection(o);
	case 0x05:
		return o->funct3 > 1 ? TANDEM_RESERVED :
			result_f(o, rvt_tandem_float_min_max(o->format, &o->env, o->a, o->b,
							 o->funct3));
	case 0x08:
		return convert(o, rs1);
	case 0x14:
		return comparison(o);
	case 0x18: case 0x1a:
		return convert_int(o, x, funct5 == 0x18);
	case 0x1c:
		return move_to_x(o, rs1);
	case 0x1e:
		return move_to_f(o, x);
	default:
		return TANDEM_RESERVED;
	}
}

static enum tandem_interpreted memory(struct tandem_unprivileged *hart, uint32_t insn, bool store)
{
	unsigned int width = insn >> 12 & 7;

	if (width != 2 && !(width == 3 && hart->flen == 64))
		return TANDEM_RESERVED;
	if (store)
		hart->stored = width == 2 ? (uint32_t)hart->f[insn >> 20 & 31] :
			hart->f[insn >> 20 & 31];
	else
		set_f(hart, insn >> 7 & 31,
		      width == 2 ? &rvt_tandem_binary32 : &rvt_tandem_binary64,
		      width == 2 ? (uint32_t)hart->loaded : hart->loaded);
	return TANDEM_DONE;
}

enum tandem_interpreted rvt_tandem_interpret_float(struct tandem_unprivileged *hart, uint32_t insn)
{
	unsigned int opcode = insn & 0x7f, format = insn >> 25 & 3;
	struct operation o = {
		.hart = hart, .rd = insn >> 7 & 31, .funct3 = insn >> 12 & 7,
		.rs2 = insn >> 20 & 31,
		.format = format ? &rvt_tandem_binary64 : &rvt_tandem_binary32,
	};

	if (opcode == 0x07 || opcode == 0x27)
		return memory(hart, insn, opcode == 0x27);
	/* fmt: S and D, not H or Q */
	if (format > (hart->flen == 64))
		return TANDEM_RESERVED;
	o.a = operand(&o, o.format, insn >> 15 & 31);
	o.b = operand(&o, o.format, o.rs2);
	return opcode == 0x53 ? op_fp(&o, insn) : fused(&o, insn);
}
