/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Disassembles by capstone 5 or newer, or by LLVM, if the build found one of them. */
#ifndef PERF_RVTRACE_DISASM_H
#define PERF_RVTRACE_DISASM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct disasm;

/* Returns NULL if memory is out, or if built without a disassembler: see disasm_available(). */
struct disasm *disasm_create(void);
void disasm_destroy(struct disasm *disasm);
bool disasm_available(void);
/* Returns a sentence about what to do when disasm_available() returns false. */
const char *disasm_missing(void);
/*
 * Disassembles the instruction of @len bytes at @pc. In a direct jump or branch the target's
 * address replaces the distance; *@target is that address then, and the result is true. An
 * instruction that the disassembler does not know becomes ".insn" with its number, as assemblers
 * take it. *@text is valid until the next call.
 */
bool disasm_text(struct disasm *disasm, const uint8_t *code, size_t len, uint64_t pc,
		 const char **text, uint64_t *target);

#endif
