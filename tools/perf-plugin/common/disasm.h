/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Instructions as text, by capstone 5 or newer, or by LLVM, where the build found one of them. */
#ifndef PERF_RVTRACE_DISASM_H
#define PERF_RVTRACE_DISASM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct disasm;

/* NULL: out of memory, or built without a disassembler: see disasm_available(). */
struct disasm *disasm_create(void);
void disasm_destroy(struct disasm *disasm);
bool disasm_available(void);
/* What to do about it when disasm_available() says no: a sentence. */
const char *disasm_missing(void);
/*
 * The instruction of @len bytes at @pc. A direct jump or branch has the address that it goes to
 * instead of the distance: *@target is that address, and the result is true. What the disassembler
 * does not know is ".insn" and its number, as assemblers take it. *@text is valid until the next
 * call.
 */
bool disasm_text(struct disasm *disasm, const uint8_t *code, size_t len, uint64_t pc,
		 const char **text, uint64_t *target);

#endif
