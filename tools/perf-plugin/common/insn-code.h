/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* The bytes of single instructions, also of those that lie in two mappings. */
#ifndef PERF_RVTRACE_INSN_CODE_H
#define PERF_RVTRACE_INSN_CODE_H

#include <stdbool.h>
#include <stdint.h>
#include <rvtrace/image.h>

#define INSN_CODE_BYTES 8	/* at most */

/*
 * Copies the instruction at @pc. Returns its length in bytes: 2, 4, 6 or 8; 0: its code is not at
 * hand, or it is longer. @space may be NULL.
 */
unsigned int insn_code(struct rvt_space *space, uint64_t pc, uint8_t bytes[INSN_CODE_BYTES]);
bool insn_is_ecall(struct rvt_space *space, uint64_t pc);

#endif
