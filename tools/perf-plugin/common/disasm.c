// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "common/disasm.h"
#ifdef HAVE_CAPSTONE
#include <capstone/capstone.h>
#endif

const char disasm_missing[] = "this perf-rvtrace was built without a disassembler: install "
	"libcapstone-dev 5 or newer (Debian 13) and build again";

struct disasm {
#ifdef HAVE_CAPSTONE
	csh handle;
	cs_insn *insn;
#endif
	char text[256];
};

#ifdef HAVE_CAPSTONE
bool disasm_available(void)
{
	return true;
}

struct disasm *disasm_create(void)
{
	struct disasm *disasm = calloc(1, sizeof(*disasm));

	if (!disasm)
		return NULL;
	if (cs_open(CS_ARCH_RISCV, CS_MODE_RISCV64 | CS_MODE_RISCVC, &disasm->handle)) {
		free(disasm);
		return NULL;
	}
	disasm->insn = cs_malloc(disasm->handle);
	return disasm;
}

void disasm_destroy(struct disasm *disasm)
{
	if (!disasm)
		return;
	cs_free(disasm->insn, 1);
	cs_close(&disasm->handle);
	free(disasm);
}

static bool by_capstone(struct disasm *disasm, const uint8_t *code, size_t len, uint64_t pc)
{
	const cs_insn *insn = disasm->insn;

	if (!insn || !cs_disasm_iter(disasm->handle, &code, &len, &pc, disasm->insn) || len)
		return false;
	snprintf(disasm->text, sizeof(disasm->text), "%s%s%s", insn->mnemonic,
		 *insn->op_str ? " " : "", insn->op_str);
	return true;
}
#else
bool disasm_available(void)
{
	return false;
}

struct disasm *disasm_create(void)
{
	return NULL;
}

void disasm_destroy(struct disasm *disasm)
{
	free(disasm);
}

static bool by_capstone(struct disasm *disasm, const uint8_t *code, size_t len, uint64_t pc)
{
	(void)disasm, (void)code, (void)len, (void)pc;
	return false;
}
#endif

const char *disasm_text(struct disasm *disasm, const uint8_t *code, size_t len, uint64_t pc)
{
	uint64_t value = 0;

	if (by_capstone(disasm, code, len, pc))
		return disasm->text;
	memcpy(&value, code, len < sizeof(value) ? len : sizeof(value));
	snprintf(disasm->text, sizeof(disasm->text), ".insn 0x%0*llx", (int)len * 2,
		 (unsigned long long)value);
	return disasm->text;
}
