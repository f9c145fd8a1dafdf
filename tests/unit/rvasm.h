/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Encodings for programs in unit tests, written from the instruction formats of the unprivileged
 * ISA manual. Offsets are in bytes from the instruction.
 */
#ifndef RVT_TEST_RVASM_H
#define RVT_TEST_RVASM_H

#include <stdint.h>
#include <string.h>

enum { X0, RA, SP, GP, TP, T0, T1, T2 };

#define NOP 0x00000013u
#define ECALL 0x00000073u
#define EBREAK 0x00100073u
#define SRET 0x10200073u
#define MRET 0x30200073u
#define C_NOP 0x0001u
#define C_EBREAK 0x9002u
#define C_RET 0x8082u

static inline uint32_t rv_beq(int32_t off)	/* beq x0, x0 */
{
	uint32_t o = off;

	return 0x63 | (o >> 12 & 1) << 31 | (o >> 5 & 0x3f) << 25 | (o >> 1 & 0xf) << 8 |
	       (o >> 11 & 1) << 7;
}

static inline uint32_t rv_jal(unsigned int rd, int32_t off)
{
	uint32_t o = off;

	return 0x6f | rd << 7 | (o >> 20 & 1) << 31 | (o >> 1 & 0x3ff) << 21 |
	       (o >> 11 & 1) << 20 | (o >> 12 & 0xff) << 12;
}

static inline uint32_t rv_jalr(unsigned int rd, unsigned int rs1, int32_t imm)
{
	return 0x67 | rd << 7 | rs1 << 15 | (uint32_t)imm << 20;
}

/* @value: a multiple of 4096 */
static inline uint32_t rv_lui(unsigned int rd, uint32_t value)
{
	return 0x37 | rd << 7 | (value & 0xfffff000);
}

static inline uint32_t rv_auipc(unsigned int rd, uint32_t value)
{
	return 0x17 | rd << 7 | (value & 0xfffff000);
}

static inline uint16_t rv_c_j(int32_t off)
{
	uint32_t o = off;

	return 0xa001 | (o >> 11 & 1) << 12 | (o >> 4 & 1) << 11 | (o >> 8 & 3) << 9 |
	       (o >> 10 & 1) << 8 | (o >> 6 & 1) << 7 | (o >> 7 & 1) << 6 | (o >> 1 & 7) << 3 |
	       (o >> 5 & 1) << 2;
}

static inline uint16_t rv_c_beqz(int32_t off)	/* c.beqz x8 */
{
	uint32_t o = off;

	return 0xc001 | (o >> 8 & 1) << 12 | (o >> 3 & 3) << 10 | (o >> 6 & 3) << 5 |
	       (o >> 1 & 3) << 3 | (o >> 5 & 1) << 2;
}

static inline uint16_t rv_c_jr(unsigned int rs1)
{
	return 0x8002 | rs1 << 7;
}

static inline uint16_t rv_c_jalr(unsigned int rs1)
{
	return 0x9002 | rs1 << 7;
}

/* A program in the making: instructions are appended at .pc. */
struct rv_code {
	uint64_t base, pc;
	uint8_t bytes[4096];
};

static inline void rv_put2(struct rv_code *c, uint16_t half)
{
	c->bytes[c->pc - c->base] = half;
	c->bytes[c->pc - c->base + 1] = half >> 8;
	c->pc += 2;
}

/* 16 bit when the encoding says so */
static inline void rv_put(struct rv_code *c, uint32_t code)
{
	rv_put2(c, code);
	if ((code & 3) == 3)
		rv_put2(c, code >> 16);
}

#endif
