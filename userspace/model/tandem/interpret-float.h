/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Between the two parts of interpret.h. */
#ifndef RVTRACE_TANDEM_INTERPRET_FLOAT_H
#define RVTRACE_TANDEM_INTERPRET_FLOAT_H

#include "model/tandem/interpret.h"

static inline void tandem_set_x(struct tandem_unprivileged *hart, unsigned int reg, uint64_t value)
{
	if (reg)
		hart->x[reg] = hart->xlen == 32 ? (uint32_t)value : value;
}

/* Executes a 32-bit instruction of F or D; the pc is moved by its caller. */
enum tandem_interpreted rvt_tandem_interpret_float(struct tandem_unprivileged *hart, uint32_t insn);

#endif
