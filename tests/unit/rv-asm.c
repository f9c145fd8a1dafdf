// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "rv-asm.h"

static uint32_t bits(uint32_t value, unsigned int from, unsigned int n, unsigned int to)
{
	return (value >> from & ((1u << n) - 1)) << to;
}

uint32_t rv_branch(int32_t distance)
{
	uint32_t d = distance;

	return 0x63 | bits(d, 11, 1, 7) | bits(d, 1, 4, 8) | bits(d, 5, 6, 25) | bits(d, 12, 1, 31);
}

uint32_t rv_jal(unsigned int rd, int32_t distance)
{
	uint32_t d = distance;

	return 0x6f | rd << 7 | bits(d, 12, 8, 12) | bits(d, 11, 1, 20) | bits(d, 1, 10, 21) |
	       bits(d, 20, 1, 31);
}

uint32_t rv_jalr(unsigned int rd, unsigned int rs1, int32_t offset)
{
	return 0x67 | rd << 7 | rs1 << 15 | (uint32_t)offset << 20;
}

uint32_t rv_lui(unsigned int rd, uint32_t imm20)
{
	return 0x37 | rd << 7 | imm20 << 12;
}

uint32_t rv_auipc(unsigned int rd, uint32_t imm20)
{
	return 0x17 | rd << 7 | imm20 << 12;
}

uint16_t rv_c_branch(int32_t distance)
{
	uint32_t d = distance;

	return 0xc001 | bits(d, 5, 1, 2) | bits(d, 1, 2, 3) | bits(d, 6, 2, 5) | bits(d, 3, 2, 10) |
	       bits(d, 8, 1, 12);
}

static uint16_t c_jump(uint16_t opcode, uint32_t d)
{
	return opcode | bits(d, 5, 1, 2) | bits(d, 1, 3, 3) | bits(d, 7, 1, 6) | bits(d, 6, 1, 7) |
	       bits(d, 10, 1, 8) | bits(d, 8, 2, 9) | bits(d, 4, 1, 11) | bits(d, 11, 1, 12);
}

uint16_t rv_c_j(int32_t distance)
{
	return c_jump(0xa001, distance);
}

uint16_t rv_c_jal(int32_t distance)
{
	return c_jump(0x2001, distance);
}

uint16_t rv_c_jr(unsigned int rs1)
{
	return 0x8002 | rs1 << 7;
}

uint16_t rv_c_jalr(unsigned int rs1)
{
	return 0x9002 | rs1 << 7;
}

/* ---- text ---- */

static bool parse_reg(const char *name, unsigned int *reg)
{
	static const struct {
		const char *name;
		unsigned int reg;
	} names[] = {
		{ "zero", 0 }, { "ra", 1 }, { "sp", 2 }, { "t0", 5 }, { "t1", 6 }, { "t2", 7 },
		{ "s0", 8 }, { "a0", 10 }, { "a1", 11 }, { "a5", 15 },
	};
	char end;

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		if (!strcmp(names[i].name, name)) {
			*reg = names[i].reg;
			return true;
		}
	}
	return sscanf(name, "x%u%c", reg, &end) == 1 && *reg < 32;
}

struct mnemonic {
	const char *name;
	/* of each operand: 'r' register, 'n' hexadecimal number, 't' target; 'N' optional */
	const char *operands;
	unsigned int len;
	uint64_t code;
	uint64_t (*encode)(const int64_t *op);
	int64_t reach;		/* of a target: -reach <= distance < reach */
};

static uint64_t enc_branch(const int64_t *op) { return rv_branch(op[0]); }
static uint64_t enc_c_branch(const int64_t *op) { return rv_c_branch(op[0]); }
static uint64_t enc_j(const int64_t *op) { return rv_jal(0, op[0]); }
static uint64_t enc_c_j(const int64_t *op) { return rv_c_j(op[0]); }
static uint64_t enc_c_jal(const int64_t *op) { return rv_c_jal(op[0]); }
static uint64_t enc_jal(const int64_t *op) { return rv_jal(op[0], op[1]); }
static uint64_t enc_jalr(const int64_t *op) { return rv_jalr(op[0], op[1], op[2]); }
static uint64_t enc_c_jr(const int64_t *op) { return rv_c_jr(op[0]); }
static uint64_t enc_c_jalr(const int64_t *op) { return rv_c_jalr(op[0]); }
static uint64_t enc_lui(const int64_t *op) { return rv_lui(op[0], op[1]); }
static uint64_t enc_auipc(const int64_t *op) { return rv_auipc(op[0], op[1]); }
static uint64_t enc_number(const int64_t *op) { return op[0]; }
/* c.lui rd, imm6 */
static uint64_t enc_c_lui(const int64_t *op)
{
	return 0x6001 | op[0] << 7 | bits(op[1], 0, 5, 2) | bits(op[1], 5, 1, 12);
}
/* Zcmt: index 0..31 is cm.jt, from 32 on cm.jalt */
static uint64_t enc_cm_jt(const int64_t *op) { return 0xa002 | op[0] << 2; }

static const struct mnemonic mnemonics[] = {
	{ "nop", "", 4, RV_NOP, NULL, 0 },
	{ "c.nop", "", 2, RV_C_NOP, NULL, 0 },
	{ "nop48", "", 6, 0x1f, NULL, 0 },
	{ "nop64", "", 8, 0x3f, NULL, 0 },
	{ "ecall", "", 4, RV_ECALL, NULL, 0 },
	{ "ebreak", "", 4, RV_EBREAK, NULL, 0 },
	{ "c.ebreak", "", 2, RV_C_EBREAK, NULL, 0 },
	{ "sret", "", 4, RV_SRET, NULL, 0 },
	{ "mret", "", 4, RV_MRET, NULL, 0 },
	{ "wfi", "", 4, 0x10500073, NULL, 0 },
	{ "ret", "", 4, 0x00008067, NULL, 0 },
	{ "c.ret", "", 2, 0x8082, NULL, 0 },
	{ "cm.popret", "", 2, 0xbe42, NULL, 0 },	/* {ra}, 16 */
	{ "custom", "", 4, 0x0000000b, NULL, 0 },	/* custom-0 */
	{ "b", "t", 4, 0, enc_branch, 0x1000 },
	{ "c.b", "t", 2, 0, enc_c_branch, 0x100 },
	{ "j", "t", 4, 0, enc_j, 0x100000 },
	{ "c.j", "t", 2, 0, enc_c_j, 0x800 },
	{ "c.jal", "t", 2, 0, enc_c_jal, 0x800 },
	{ "jal", "rt", 4, 0, enc_jal, 0x100000 },
	{ "jalr", "rrN", 4, 0, enc_jalr, 0 },
	{ "c.jr", "r", 2, 0, enc_c_jr, 0 },
	{ "c.jalr", "r", 2, 0, enc_c_jalr, 0 },
	{ "lui", "rn", 4, 0, enc_lui, 0 },
	{ "c.lui", "rn", 2, 0, enc_c_lui, 0 },
	{ "auipc", "rn", 4, 0, enc_auipc, 0 },
	{ "cm.jt", "n", 2, 0, enc_cm_jt, 0 },
	{ "half", "n", 2, 0, enc_number, 0 },
	{ "word", "n", 4, 0, enc_number, 0 },
};

static bool parse_operand(uint64_t pc, char type, int64_t reach, const char *word, int64_t *value)
{
	unsigned int reg;
	char *end;

	if (type == 'r') {
		if (!parse_reg(word, &reg))
			return false;
		*value = reg;
		return true;
	}
	*value = strtoull(word, &end, 16);
	if (type == 't') {
		*value -= pc;
		if (*value < -reach || *value >= reach)
			return false;
	}
	return *word && !*end;
}

size_t rv_assemble(uint64_t pc, const char *text, uint8_t bytes[8])
{
	char copy[100], *save, *word;
	const struct mnemonic *m = NULL;
	int64_t op[3] = { 0 };
	uint64_t code;

	snprintf(copy, sizeof(copy), "%s", text);
	word = strtok_r(copy, " \t\n", &save);
	for (size_t i = 0; word && i < sizeof(mnemonics) / sizeof(*mnemonics); i++)
		if (!strcmp(mnemonics[i].name, word))
			m = &mnemonics[i];
	if (!m)
		return 0;
	for (size_t i = 0; m->operands[i]; i++) {
		word = strtok_r(NULL, " \t\n", &save);
		if (!word && m->operands[i] == 'N')
			continue;
		if (!word || !parse_operand(pc, m->operands[i] | 0x20, m->reach, word, &op[i]))
			return 0;
	}
	if (strtok_r(NULL, " \t\n", &save))
		return 0;
	code = m->encode ? m->encode(op) : m->code;
	for (size_t i = 0; i < m->len; i++)
		bytes[i] = code >> 8 * i;
	return m->len;
}
