/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Instructions as text, by capstone 5 or newer where the build found it. */
#ifndef PERF_RVTRACE_DISASM_H
#define PERF_RVTRACE_DISASM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct disasm;

/* NULL: out of memory, or built without capstone: see disasm_available(). */
struct disasm *disasm_create(void);
void disasm_destroy(struct disasm *disasm);
bool disasm_available(void);
/* What to do about it when disasm_available() says no: a sentence. */
extern const char disasm_missing[];
/*
 * The instruction of @len bytes at @pc. What capstone does not know is ".insn" and its number, as
 * assemblers take it. Valid until the next call.
 */
const char *disasm_text(struct disasm *disasm, const uint8_t *code, size_t len, uint64_t pc);

#endif
