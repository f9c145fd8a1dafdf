// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* tests/unit/tandem_insn_test.c has a case for each entry. */
#include "tandem/corrections.h"

#define FUNCT5(funct5) ((uint32_t)(funct5) << 27)
#define AMO_MASK 0xf800707fu
#define AMO_WORD(funct5) (FUNCT5(funct5) | 0x202f)
#define WORD "a negative word of memory comes back zero-extended, and all of rs2 is compared"

const struct tandem_correction tandem_corrections[] = {
	{ "amomin.w", AMO_MASK, AMO_WORD(0x10), 0x0200, WORD },
	{ "amomax.w", AMO_MASK, AMO_WORD(0x14), 0x0200, WORD },
	{ "amominu.w", AMO_MASK, AMO_WORD(0x18), 0x0200, WORD },
	{ "amomaxu.w", AMO_MASK, AMO_WORD(0x1c), 0x0200, WORD },
	{ "fmin, fmax", 0xf800007f, FUNCT5(0x05) | 0x53, 0x0200,
	  "a signalling NaN and a number give a NaN, not the number (F 2.2)" },
	{ "fused multiply-add", 0x73, 0x43, 0x0200,
	  "infinity times zero plus a quiet NaN does not raise NV (F, "
	  "\"Single-Precision Floating-Point Computational Instructions\")" },
	{ "sc", 0xf800007f, FUNCT5(0x03) | 0x2f, 0x0200, "the reservation is a compared value" },
};

const size_t tandem_corrections_len = sizeof(tandem_corrections) / sizeof(tandem_corrections[0]);

const struct tandem_correction *tandem_correction_find(uint32_t insn, unsigned int release)
{
	size_t i;

	for (i = 0; i < tandem_corrections_len; i++)
		if ((insn & tandem_corrections[i].mask) == tandem_corrections[i].match &&
		    release <= tandem_corrections[i].until)
			return &tandem_corrections[i];
	return NULL;
}
