/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* A program in the making, for unit tests: instructions are appended at .pc. */
#ifndef TESTS_RV_CODE_H
#define TESTS_RV_CODE_H

#include "rv-asm.h"

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

/* By its first byte: unprivileged specification, "Expanded Instruction-Length Encoding". */
static inline unsigned int insn_bytes(uint8_t first)
{
	if ((first & 3) != 3)
		return 2;
	if ((first & 0x1f) != 0x1f)
		return 4;
	return (first & 0x3f) == 0x1f ? 6 : 8;
}

#endif
