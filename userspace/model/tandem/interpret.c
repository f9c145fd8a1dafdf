// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Integer instructions and atomics; see interpret.h. */
#include "model/tandem/interpret.h"
#include "model/tandem/interpret-float.h"
#include "model/tandem/privileged.h"

static uint64_t x_reg(const struct tandem_unprivileged *hart, unsigned int reg)
{
	return hart->xlen == 32 ? (uint64_t)tandem_sign_extend(hart->x[reg], 32) : hart->x[reg];
}

static enum tandem_interpreted jump(struct tandem_unprivileged *hart, uint64_t target)
{
	hart->pc = hart->xlen == 32 ? (uint32_t)target : target;
	return TANDEM_DONE;
}

static uint64_t imm_i(uint32_t insn)
{
	return tandem_sign_extend(insn >> 20, 12);
}

static uint64_t imm_b(uint32_t insn)
{
	return tandem_sign_extend((insn >> 31) << 12 | (insn >> 7 & 1) << 11 |
				  (insn >> 25 & 63) << 5 | (insn >> 8 & 15) << 1, 13);
}

static uint64_t imm_j(uint32_t insn)
{
	return tandem_sign_extend((insn >> 31) << 20 | (insn >> 12 & 0xff) << 12 |
				  (insn >> 20 & 1) << 11 | (insn >> 21 & 0x3ff) << 1, 21);
}

/*
 * Shifts and the like of @width bits: operands are sign-extended, and of results only that many
 * bits count.
 */
static uint64_t arithmetic(unsigned int funct3, bool alternative, uint64_t a, uint64_t b,
			   unsigned int width)
{
	unsigned int shift = b & (width - 1);

	switch (funct3) {
	case 0: return alternative ? a - b : a + b;
	case 1: return a << shift;
	case 2: return (int64_t)a < (int64_t)b;
	case 3: return a < b;
	case 4: return a ^ b;
	case 5:
		if (alternative)
			return (int64_t)a >> shift;
		return (width == 32 ? (uint32_t)a : a) >> shift;
	case 6: return a | b;
	default: return a & b;
	}
}

static uint64_t multiply_high(unsigned int funct3, uint64_t a, uint64_t b, unsigned int width)
{
	uint64_t mask = width == 32 ? UINT32_MAX : UINT64_MAX;
	__int128 x = funct3 == 3 ? (__int128)(a & mask) : (__int128)(int64_t)a;
	__int128 y = funct3 == 1 ? (__int128)(int64_t)b : (__int128)(b & mask);

	return (unsigned __int128)x * (unsigned __int128)y >> width;
}

static uint64_t divide(unsigned int funct3, uint64_t a, uint64_t b, unsigned int width)
{
	if (funct3 & 1 && width == 32) {
		a = (uint32_t)a;
		b = (uint32_t)b;
	}
	if (!b)
		return funct3 & 2 ? a : UINT64_MAX;
	if (funct3 & 1)
		return funct3 & 2 ? a % b : a / b;
	/* the one overflow */
	if (b == UINT64_MAX)
		return funct3 & 2 ? 0 : -a;
	return funct3 & 2 ? (int64_t)a % (int64_t)b : (int64_t)a / (int64_t)b;
}

static uint64_t multiply_divide(unsigned int funct3, uint64_t a, uint64_t b, unsigned int width)
{
	if (!funct3)
		return a * b;
	return funct3 < 4 ? multiply_high(funct3, a, b, width) : divide(funct3, a, b, width);
}

/* OP, OP-32. */
static enum tandem_interpreted op(struct tandem_unprivileged *hart, uint32_t insn, bool word)
{
	unsigned int funct3 = insn >> 12 & 7, funct7 = insn >> 25, width = word ? 32 : hart->xlen;
	uint64_t a = x_reg(hart, insn >> 15 & 31), b = x_reg(hart, insn >> 20 & 31), value;

	if (word) {
		a = tandem_sign_extend(a, 32);
		b = tandem_sign_extend(b, 32);
	}
	if (funct7 == 1) {
		if (word && funct3 && funct3 < 4)
			return TANDEM_RESERVED;
		value = multiply_divide(funct3, a, b, width);
	} else if (!funct7 || (funct7 == 0x20 && (!funct3 || funct3 == 5))) {
		if (word && funct3 && funct3 != 1 && funct3 != 5)
			return TANDEM_RESERVED;
		value = arithmetic(funct3, funct7, a, b, width);
	} else {
		return TANDEM_RESERVED;
	}
	tandem_set_x(hart, insn >> 7 & 31, word ? (uint64_t)tandem_sign_extend(value, 32) : value);
	return jump(hart, hart->pc + 4);
}

/* OP-IMM, OP-IMM-32. */
static enum tandem_interpreted op_imm(struct tandem_unprivileged *hart, uint32_t insn, bool word)
{
	unsigned int funct3 = insn >> 12 & 7, width = word ? 32 : hart->xlen;
	unsigned int above = (insn >> 20) & ~(width - 1);
	uint64_t a = x_reg(hart, insn >> 15 & 31), value;
	bool is_shift = funct3 == 1 || funct3 == 5;

	if (word)
		a = tandem_sign_extend(a, 32);
	if ((word && funct3 && !is_shift) ||
	    (is_shift && above && !(funct3 == 5 && above == 0x400)))
		return TANDEM_RESERVED;
	value = arithmetic(funct3, is_shift && above, a, imm_i(insn), width);
	tandem_set_x(hart, insn >> 7 & 31, word ? (uint64_t)tandem_sign_extend(value, 32) : value);
	return jump(hart, hart->pc + 4);
}

static enum tandem_interpreted branch(struct tandem_unprivileged *hart, uint32_t insn,
				      unsigned int bytes)
{
	unsigned int funct3 = insn >> 12 & 7;
	uint64_t a = x_reg(hart, insn >> 15 & 31), b = x_reg(hart, insn >> 20 & 31);
	bool taken;

	switch (funct3 >> 1) {
	case 0: taken = a == b; break;
	case 2: taken = (int64_t)a < (int64_t)b; break;
	case 3: taken = a < b; break;
	default: return TANDEM_RESERVED;
	}
	return jump(hart, hart->pc + (taken != (funct3 & 1) ? imm_b(insn) : bytes));
}

static enum tandem_interpreted load(struct tandem_unprivileged *hart, uint32_t insn)
{
	unsigned int funct3 = insn >> 12 & 7, bits = 8u << (funct3 & 3);
	uint64_t value = bits == 64 ? hart->loaded : hart->loaded & ((UINT64_C(1) << bits) - 1);

	if (funct3 == 7 || (hart->xlen == 32 && (funct3 & 3) + (funct3 >> 2) > 2))
		return TANDEM_RESERVED;
	tandem_set_x(hart, insn >> 7 & 31,
		     funct3 & 4 ? value : (uint64_t)tandem_sign_extend(value, bits));
	return jump(hart, hart->pc + 4);
}

static enum tandem_interpreted store(struct tandem_unprivileged *hart, uint32_t insn)
{
	unsigned int funct3 = insn >> 12 & 7, bits = 8u << (funct3 & 3);

	if (funct3 > 3 || bits > hart->xlen)
		return TANDEM_RESERVED;
	hart->stored = hart->x[insn >> 20 & 31] & (UINT64_MAX >> (64 - bits));
	return jump(hart, hart->pc + 4);
}

static bool amo_value(unsigned int funct5, uint64_t old, uint64_t arg, unsigned int bits,
		      uint64_t *value)
{
	/* both are sign-extended, which keeps the unsigned order, too */
	old = tandem_sign_extend(old, bits);
	arg = tandem_sign_extend(arg, bits);
	switch (funct5) {
	case 0x00: *value = old + arg; break;
	case 0x01: *value = arg; break;
	case 0x03: *value = arg; break;			/* sc */
	case 0x04: *value = old ^ arg; break;
	case 0x08: *value = old | arg; break;
	case 0x0c: *value = old & arg; break;
	case 0x10: *value = (int64_t)old < (int64_t)arg ? old : arg; break;
	case 0x14: *value = (int64_t)old > (int64_t)arg ? old : arg; break;
	case 0x18: *value = old < arg ? old : arg; break;
	case 0x1c: *value = old > arg ? old : arg; break;
	default: return false;
	}
	*value &= UINT64_MAX >> (64 - bits);
	return true;
}

static enum tandem_interpreted atomic(struct tandem_unprivileged *hart, uint32_t insn)
{
	unsigned int funct3 = insn >> 12 & 7, funct5 = insn >> 27, bits = 8u << (funct3 & 3);

	if ((funct3 != 2 && funct3 != 3) || bits > hart->xlen)
		return TANDEM_RESERVED;
	if (funct5 == 2) {		/* lr */
		if (insn >> 20 & 31)
			return TANDEM_RESERVED;
	} else if (!amo_value(funct5, hart->loaded, hart->x[insn >> 20 & 31], bits,
			      &hart->stored)) {
		return TANDEM_RESERVED;
	}
	tandem_set_x(hart, insn >> 7 & 31,
		     funct5 == 3 ? 0 : (uint64_t)tandem_sign_extend(hart->loaded, bits));
	return jump(hart, hart->pc + 4);
}

static enum tandem_interpreted upper(struct tandem_unprivileged *hart, uint32_t insn, uint64_t base)
{
	tandem_set_x(hart, insn >> 7 & 31,
		     base + (uint64_t)tandem_sign_extend(insn & 0xfffff000u, 32));
	return jump(hart, hart->pc + 4);
}

/* @next: the pc behind it, to which it links. */
static enum tandem_interpreted jalr(struct tandem_unprivileged *hart, uint32_t insn, uint64_t next)
{
	uint64_t target = (x_reg(hart, insn >> 15 & 31) + imm_i(insn)) & ~UINT64_C(1);

	if (insn >> 12 & 7)
		return TANDEM_RESERVED;
	tandem_set_x(hart, insn >> 7 & 31, next);
	return jump(hart, target);
}

static enum tandem_interpreted execute(struct tandem_unprivileged *hart, uint32_t insn,
				       unsigned int bytes)
{
	uint64_t next = hart->pc + bytes;

	switch (insn & 0x7f) {
	case 0x03: return load(hart, insn);
	case 0x0f: /* fence, fence.i: one hart in program order needs nothing */
		return insn >> 12 & 6 ? TANDEM_RESERVED : jump(hart, next);
	case 0x13: return op_imm(hart, insn, false);
	case 0x17: return upper(hart, insn, hart->pc);
	case 0x1b: return hart->xlen == 64 ? op_imm(hart, insn, true) : TANDEM_RESERVED;
	case 0x23: return store(hart, insn);
	case 0x2f: return atomic(hart, insn);
	case 0x33: return op(hart, insn, false);
	case 0x37: return upper(hart, insn, 0);
	case 0x3b: return hart->xlen == 64 ? op(hart, insn, true) : TANDEM_RESERVED;
	case 0x63: return branch(hart, insn, bytes);
	case 0x67: return jalr(hart, insn, next);
	case 0x6f:
		tandem_set_x(hart, insn >> 7 & 31, next);
		return jump(hart, hart->pc + imm_j(insn));
	case 0x07: case 0x27: case 0x43: case 0x47: case 0x4b: case 0x4f: case 0x53:
		return rvt_tandem_interpret_float(hart, insn);
	default:
		return TANDEM_RESERVED;
	}
}

enum tandem_interpreted rvt_tandem_interpret(struct tandem_unprivileged *hart, uint32_t insn)
{
	unsigned int bytes = tandem_insn_bytes(insn);
	uint32_t whole = rvt_tandem_expand(insn, hart->xlen);
	enum tandem_interpreted result;
	uint64_t next = hart->pc + bytes;
	bool jumps = (whole & 0x7f) >= 0x63;

	hart->f_written = false;
	if (!whole)
		return insn & 0xffff ? TANDEM_RESERVED : TANDEM_ILLEGAL;
	result = execute(hart, whole, bytes);
	if (result == TANDEM_DONE && !jumps)
		jump(hart, next);
	return result;
}
