// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <rvtrace/insn.h>
#include "common/disasm.h"
#if defined(HAVE_CAPSTONE)
#include <capstone/capstone.h>
#elif defined(HAVE_LLVM)
#include <dlfcn.h>
#include <llvm-c/Disassembler.h>
#include <llvm-c/Target.h>
#endif

#define MAX_TEXT 256

/* ---- the library that the build found ---- */

#if defined(HAVE_CAPSTONE)
struct disasm {
	csh handle;
	cs_insn *insn;
	char text[MAX_TEXT];
};

bool disasm_available(void)
{
	return true;
}

const char *disasm_missing(void)
{
	return NULL;
}

static int open_library(struct disasm *disasm)
{
	if (cs_open(CS_ARCH_RISCV, CS_MODE_RISCV64 | CS_MODE_RISCVC, &disasm->handle))
		return -1;
	disasm->insn = cs_malloc(disasm->handle);
	return 0;
}

static void close_library(struct disasm *disasm)
{
	if (disasm->insn)
		cs_free(disasm->insn, 1);
	cs_close(&disasm->handle);
}

static bool by_library(struct disasm *disasm, const uint8_t *code, size_t len, uint64_t pc)
{
	const cs_insn *insn = disasm->insn;

	if (!insn || !cs_disasm_iter(disasm->handle, &code, &len, &pc, disasm->insn) || len)
		return false;
	snprintf(disasm->text, sizeof(disasm->text), "%s%s%s", insn->mnemonic,
		 *insn->op_str ? " " : "", insn->op_str);
	return true;
}
#elif defined(HAVE_LLVM)
struct disasm {
	LLVMDisasmContextRef context;
	char text[MAX_TEXT];
};

/* Loaded when needed: linked, it would double the time that any command takes to start. */
static struct {
	void *library;
	__typeof__(LLVMInitializeRISCVTargetInfo) *init_info;
	__typeof__(LLVMInitializeRISCVTargetMC) *init_target;
	__typeof__(LLVMInitializeRISCVDisassembler) *init_disassembler;
	__typeof__(LLVMCreateDisasmCPUFeatures) *create;
	__typeof__(LLVMDisasmInstruction) *disassemble;
	__typeof__(LLVMDisasmDispose) *dispose;
} llvm;

static void load(void)
{
	llvm.library = dlopen(HAVE_LLVM, RTLD_NOW | RTLD_LOCAL);
	if (!llvm.library)
		return;
	llvm.init_info = dlsym(llvm.library, "LLVMInitializeRISCVTargetInfo");
	llvm.init_target = dlsym(llvm.library, "LLVMInitializeRISCVTargetMC");
	llvm.init_disassembler = dlsym(llvm.library, "LLVMInitializeRISCVDisassembler");
	llvm.create = dlsym(llvm.library, "LLVMCreateDisasmCPUFeatures");
	llvm.disassemble = dlsym(llvm.library, "LLVMDisasmInstruction");
	llvm.dispose = dlsym(llvm.library, "LLVMDisasmDispose");
	if (llvm.init_info && llvm.init_target && llvm.init_disassembler && llvm.create &&
	    llvm.disassemble && llvm.dispose) {
		llvm.init_info();
		llvm.init_target();
		llvm.init_disassembler();
		return;
	}
	dlclose(llvm.library);
	llvm.library = NULL;
}

/* Initialises LLVM once for all threads, as its list of targets has no lock. */
bool disasm_available(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, load);
	return llvm.library;
}

const char *disasm_missing(void)
{
	return "this perf-rvtrace was built to disassemble by " HAVE_LLVM ", which cannot be "
	       "loaded: install it, or libcapstone-dev 5 or newer and build again";
}

static int open_library(struct disasm *disasm)
{
	if (!disasm_available())
		return -1;
	/* what LLVM 14 knows; it warns about others */
	disasm->context = llvm.create("riscv64-unknown-linux-gnu", "generic-rv64",
				      "+m,+a,+f,+d,+c,+v,+zfh,+zba,+zbb,+zbc,+zbs", NULL, 0, NULL,
				      NULL);
	return disasm->context ? 0 : -1;
}

static void close_library(struct disasm *disasm)
{
	llvm.dispose(disasm->context);
}

/* Disassembles by LLVM, which writes "\tMNEMONIC\tOPERANDS". */
static bool by_library(struct disasm *disasm, const uint8_t *code, size_t len, uint64_t pc)
{
	char text[MAX_TEXT], *tab;

	if (llvm.disassemble(disasm->context, (uint8_t *)code, len, pc, text,
			     sizeof(text)) != len)
		return false;
	while ((tab = strchr(text, '\t')))
		*tab = ' ';
	snprintf(disasm->text, sizeof(disasm->text), "%s", text + strspn(text, " "));
	return true;
}
#else
struct disasm {
	char text[MAX_TEXT];
};

bool disasm_available(void)
{
	return false;
}

const char *disasm_missing(void)
{
	return "this perf-rvtrace was built without a disassembler: install libcapstone-dev 5 or "
	       "newer (Debian 13) or llvm-dev (Debian 12) and build again";
}

static int open_library(struct disasm *disasm)
{
	(void)disasm;
	return -1;
}

static void close_library(struct disasm *disasm)
{
	(void)disasm;
}

static bool by_library(struct disasm *disasm, const uint8_t *code, size_t len, uint64_t pc)
{
	(void)disasm, (void)code, (void)len, (void)pc;
	return false;
}
#endif

/* ---- common to all libraries ---- */

struct disasm *disasm_create(void)
{
	struct disasm *disasm = calloc(1, sizeof(*disasm));

	if (disasm && open_library(disasm)) {
		free(disasm);
		return NULL;
	}
	return disasm;
}

void disasm_destroy(struct disasm *disasm)
{
	if (!disasm)
		return;
	close_library(disasm);
	free(disasm);
}

/* Replaces the last operand, a distance, by an address. */
static void put_target(struct disasm *disasm, uint64_t target)
{
	char *operand = strrchr(disasm->text, ' ');
	size_t room;

	if (!operand)
		return;
	room = sizeof(disasm->text) - (operand - disasm->text);
	snprintf(operand, room, " 0x%" PRIx64, target);
}

bool disasm_text(struct disasm *disasm, const uint8_t *code, size_t len, uint64_t pc,
		 const char **text, uint64_t *target)
{
	struct rvt_insn insn;
	uint64_t value = 0;

	*text = disasm->text;
	if (!by_library(disasm, code, len, pc)) {
		memcpy(&value, code, len < sizeof(value) ? len : sizeof(value));
		snprintf(disasm->text, sizeof(disasm->text), ".insn 0x%0*" PRIx64, (int)len * 2,
			 value);
		return false;
	}
	if (rvt_insn_decode(code, len, 0, &insn) || !(insn.flags & RVT_INSN_F_TARGET) ||
	    insn.iclass < RVT_INSN_BRANCH || insn.iclass > RVT_INSN_JUMP_LINKED)
		return false;
	*target = pc + insn.offset;
	put_target(disasm, *target);
	return true;
}
