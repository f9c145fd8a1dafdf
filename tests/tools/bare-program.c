// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#ifdef HAVE_UNICORN
#include <elf.h>
#include <fcntl.h>
#include <gelf.h>
#include <inttypes.h>
#include <libelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unicorn/unicorn.h>
#include <unistd.h>
#include "../../tools/model/itype.h"
#include "bare-program.h"

#define PAGE 4096ull
#define CACHE (1u << 16)

struct bare_program {
	uc_engine *uc;
	char name[64];
	bool rv32, done;
	uint64_t entry, tohost, fromhost, insns, max;
	struct { uint64_t pc; struct insn_class class; bool valid; } cache[CACHE];
	/* The instruction that was begun last. */
	const struct insn_class *last;
	uint64_t last_pc;
	uint8_t upper_rd;	/* what the one before it loaded */
	struct rvt_retire run;
	const struct bare_listener *listener;
};

static void classify(struct bare_program *p, uint64_t pc, struct insn_class *class)
{
	uint8_t bytes[4] = { 0 };
	uint32_t insn;

	if (uc_mem_read(p->uc, pc, bytes, 4))
		uc_mem_read(p->uc, pc, bytes, 2);
	insn = bytes[0] | bytes[1] << 8 | bytes[2] << 16 | (uint32_t)bytes[3] << 24;
	itype_classify(insn, false, class);
	/* c.jal, which is c.addiw in RV64 */
	if (p->rv32 && (insn & 0xe003) == 0x2001) {
		class->itype = RVT_ITYPE_CALL;
		class->offset = 0;
		class->upper_rd = 0;
	}
}

static const struct insn_class *class_at(struct bare_program *p, uint64_t pc)
{
	unsigned int slot = pc >> 1 & (CACHE - 1);

	if (!p->cache[slot].valid || p->cache[slot].pc != pc) {
		classify(p, pc, &p->cache[slot].class);
		p->cache[slot].pc = pc;
		p->cache[slot].valid = true;
	}
	return &p->cache[slot].class;
}

/* The last instruction retired, and the next is at @pc. */
static void retired(struct bare_program *p, uint64_t pc)
{
	const struct insn_class *class = p->last;
	enum rvt_itype itype = class->itype;

	p->insns++;
	if (!p->run.insns)
		p->run.first_pc = p->last_pc;
	p->run.insns++;
	p->run.halfwords += class->halfwords;
	p->run.last_pc = p->last_pc;
	p->run.last_halfwords = class->halfwords;
	p->run.prv = 3;
	if (itype == RVT_ITYPE_BRANCH_TAKEN && pc == p->last_pc + 2 * class->halfwords)
		itype = RVT_ITYPE_BRANCH_NOT_TAKEN;
	p->run.itype = itype;
	if (p->listener->insn)
		p->listener->insn(p->listener->ctx, itype, p->last_pc, class->halfwords);
	p->run.sijump = class->jump_rs && class->jump_rs == p->upper_rd;
	p->run.absolute = class->absolute;
	p->upper_rd = class->upper_rd;
	if (itype == RVT_ITYPE_NONE)
		return;
	p->listener->retire(p->listener->ctx, &p->run);
	p->run.insns = p->run.halfwords = 0;
}

static void on_insn(uc_engine *uc, uint64_t pc, uint32_t size, void *ctx)
{
	struct bare_program *p = ctx;

	(void)size;
	if (p->last && !p->done)
		retired(p, pc);
	if (p->done || p->insns >= p->max) {
		p->last = NULL;
		p->last_pc = pc;
		uc_emu_stop(uc);
		return;
	}
	p->last = class_at(p, pc);
	p->last_pc = pc;
}

/* Bit 0: the end. Else a system call, which is answered and not done. */
static void on_write(uc_engine *uc, uc_mem_type type, uint64_t address, int size, int64_t value,
		     void *ctx)
{
	static const uint64_t one = 1;
	struct bare_program *p = ctx;

	(void)type, (void)size;
	if (address != p->tohost || !value)
		return;
	if (value & 1) {
		p->done = true;
		uc_emu_stop(uc);
	} else if (p->fromhost) {
		uc_mem_write(uc, p->fromhost, &one, p->rv32 ? 4 : 8);
	}
}

static bool on_unmapped(uc_engine *uc, uc_mem_type type, uint64_t address, int size, int64_t value,
			void *ctx)
{
	(void)type, (void)size, (void)value, (void)ctx;
	return address >= PAGE && !uc_mem_map(uc, address & ~(PAGE - 1), PAGE, UC_PROT_ALL);
}

/* ---- the file ---- */

static void map(struct bare_program *p, uint64_t from, uint64_t to)
{
	for (from &= ~(PAGE - 1); from < to; from += PAGE)
		uc_mem_map(p->uc, from, PAGE, UC_PROT_ALL);
}

static void find_symbols(struct bare_program *p, Elf *elf)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr shdr;
	GElf_Sym sym;

	while ((scn = elf_nextscn(elf, scn))) {
		if (!gelf_getshdr(scn, &shdr) || shdr.sh_type != SHT_SYMTAB)
			continue;
		for (int i = 0; gelf_getsym(elf_getdata(scn, NULL), i, &sym); i++) {
			const char *name = elf_strptr(elf, shdr.sh_link, sym.st_name);

			if (name && !strcmp(name, "tohost"))
				p->tohost = sym.st_value;
			else if (name && !strcmp(name, "fromhost"))
				p->fromhost = sym.st_value;
		}
	}
}

static bool load_segments(struct bare_program *p, Elf *elf)
{
	GElf_Phdr phdr;
	size_t n, size;
	char *file = elf_rawfile(elf, &size);

	if (!file || elf_getphdrnum(elf, &n))
		return false;
	for (size_t i = 0; i < n; i++) {
		if (!gelf_getphdr(elf, (int)i, &phdr) || phdr.p_type != PT_LOAD ||
		    phdr.p_offset > size || phdr.p_filesz > size - phdr.p_offset)
			continue;
		map(p, phdr.p_vaddr, phdr.p_vaddr + phdr.p_memsz);
		uc_mem_write(p->uc, phdr.p_vaddr, file + phdr.p_offset, phdr.p_filesz);
	}
	return true;
}

static bool load(struct bare_program *p, Elf *elf)
{
	GElf_Ehdr ehdr;

	if (!elf || !gelf_getehdr(elf, &ehdr) || ehdr.e_machine != EM_RISCV)
		return false;
	p->rv32 = ehdr.e_ident[EI_CLASS] == ELFCLASS32;
	p->entry = ehdr.e_entry;
	if (uc_open(UC_ARCH_RISCV, p->rv32 ? UC_MODE_RISCV32 : UC_MODE_RISCV64, &p->uc))
		return false;
	if (!load_segments(p, elf))
		return false;
	find_symbols(p, elf);
	return true;
}

struct bare_program *bare_program_load(const char *path)
{
	struct bare_program *p = calloc(1, sizeof(*p));
	const char *slash = strrchr(path, '/');
	int fd = open(path, O_RDONLY);
	Elf *elf;

	elf_version(EV_CURRENT);
	elf = fd < 0 ? NULL : elf_begin(fd, ELF_C_READ, NULL);
	if (p && load(p, elf)) {
		snprintf(p->name, sizeof(p->name), "%s", slash ? slash + 1 : path);
	} else {
		fprintf(stderr, "%s: not a RISC-V program\n", path);
		bare_program_free(p);
		p = NULL;
	}
	elf_end(elf);
	if (fd >= 0)
		close(fd);
	return p;
}

void bare_program_free(struct bare_program *p)
{
	if (p && p->uc)
		uc_close(p->uc);
	free(p);
}

bool bare_program_is_rv32(const struct bare_program *p)
{
	return p->rv32;
}

uint64_t bare_program_run(struct bare_program *p, uint64_t max,
			  const struct bare_listener *listener, uint64_t *next)
{
	uc_hook insn, write, unmapped;
	uc_err err;

	p->max = max;
	p->listener = listener;
	if (uc_hook_add(p->uc, &insn, UC_HOOK_CODE, (void *)on_insn, p, 1, 0) ||
	    uc_hook_add(p->uc, &write, UC_HOOK_MEM_WRITE, (void *)on_write, p, 1, 0) ||
	    uc_hook_add(p->uc, &unmapped, UC_HOOK_MEM_UNMAPPED, (void *)on_unmapped, p, 1, 0))
		return 0;
	err = uc_emu_start(p->uc, p->entry, ~0ull, 0, 0);
	if (err)
		fprintf(stderr, "%s: stopped at 0x%" PRIx64 ": %s\n", p->name, p->last_pc,
			uc_strerror(err));
	else if (!p->done)
		fprintf(stderr, "%s: the first %" PRIu64 " instructions\n", p->name, p->insns);
	/* What is left of a straight line. */
	if (p->run.insns)
		p->listener->retire(p->listener->ctx, &p->run);
	*next = p->last_pc;
	return p->insns;
}
#endif
