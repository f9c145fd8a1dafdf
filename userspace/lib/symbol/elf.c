// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Function symbols of ELF files. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "debugfile.h"
#include "table.h"

/* The PLT of the RISC-V psABI: a header of 32 bytes, then entries of 16. */
#define PLT_HEADER_BYTES 32
#define PLT_ENTRY_BYTES 16

static uint8_t rank_of(const GElf_Sym *sym)
{
	switch (GELF_ST_BIND(sym->st_info)) {
	case STB_GLOBAL:
		return RANK_GLOBAL;
	case STB_WEAK:
		return RANK_WEAK;
	default:
		return RANK_LOCAL;
	}
}

/* Mapping symbols ($x, $d) and local labels name no function. */
static bool is_function(const GElf_Sym *sym, const char *name)
{
	unsigned int type = GELF_ST_TYPE(sym->st_info);

	if (sym->st_shndx == SHN_UNDEF || sym->st_shndx == SHN_ABS || !name || !*name ||
	    name[0] == '$' || !strncmp(name, ".L", 2))
		return false;
	return type == STT_FUNC || type == STT_GNU_IFUNC || type == STT_NOTYPE;
}

static bool in_code_section(Elf *elf, const GElf_Sym *sym)
{
	Elf_Scn *scn = elf_getscn(elf, sym->st_shndx);
	GElf_Shdr shdr;

	return scn && gelf_getshdr(scn, &shdr) && shdr.sh_flags & SHF_EXECINSTR;
}

/*
 * All names of section @strings: one copy, however many symbols share a name or the end of one.
 * NULL: out of memory. *@len is 0 where there are none.
 */
static const char *own_strings(struct table *table, Elf *elf, size_t strings, size_t *len)
{
	Elf_Scn *scn = elf_getscn(elf, strings);
	Elf_Data *data = scn ? elf_getdata(scn, NULL) : NULL;
	GElf_Shdr shdr;

	*len = data && data->d_buf && gelf_getshdr(scn, &shdr) && shdr.sh_type == SHT_STRTAB ?
		data->d_size : 0;
	return rvt_table_own(table, *len ? data->d_buf : "", *len);
}

static int add_symbols(struct table *table, Elf *elf, Elf_Scn *scn, const GElf_Shdr *shdr)
{
	Elf_Data *data = elf_getdata(scn, NULL);
	size_t n = data && shdr->sh_entsize ? data->d_size / shdr->sh_entsize : 0, len;
	const char *names = own_strings(table, elf, shdr->sh_link, &len), *name;
	int err = names ? 0 : -ENOMEM;

	for (size_t i = 0; i < n && !err; i++) {
		GElf_Sym sym;

		if (!gelf_getsym(data, i, &sym))
			break;
		name = sym.st_name < len ? names + sym.st_name : NULL;
		if (!is_function(&sym, name) || !in_code_section(elf, &sym))
			continue;
		/* an assembler label without type is worth less than a function */
		err = rvt_table_add(table, sym.st_value, sym.st_size, name,
				    GELF_ST_TYPE(sym.st_info) == STT_NOTYPE ? RANK_UNTYPED :
				    rank_of(&sym));
	}
	return err;
}

/* PLT entries are in the order of their relocations. */
static int add_plt(struct table *table, Elf *elf)
{
	GElf_Shdr plt, rela, dynsym;
	Elf_Data *relocs, *syms;
	Elf_Scn *scn;
	int err = 0;

	if (!rvt_table_find_section(elf, SHT_PROGBITS, ".plt", &plt))
		return 0;
	scn = rvt_table_find_section(elf, SHT_RELA, ".rela.plt", &rela);
	relocs = scn ? elf_getdata(scn, NULL) : NULL;
	scn = relocs ? elf_getscn(elf, rela.sh_link) : NULL;
	syms = scn && gelf_getshdr(scn, &dynsym) ? elf_getdata(scn, NULL) : NULL;
	if (!syms || !rela.sh_entsize)
		return 0;
	for (size_t i = 0; i < relocs->d_size / rela.sh_entsize && !err; i++) {
		uint64_t addr = plt.sh_addr + PLT_HEADER_BYTES + i * PLT_ENTRY_BYTES;
		const char *name;
		GElf_Rela reloc;
		GElf_Sym sym;
		char text[256];
		int len;

		if (!gelf_getrela(relocs, i, &reloc) ||
		    !gelf_getsym(syms, GELF_R_SYM(reloc.r_info), &sym))
			break;
		name = elf_strptr(elf, dynsym.sh_link, sym.st_name);
		if (!name || !*name)
			continue;
		len = snprintf(text, sizeof(text), "%.240s@plt", name);
		name = rvt_table_own(table, text, len);
		err = name ? rvt_table_add(table, addr, PLT_ENTRY_BYTES, name,
					   RANK_UNTYPED) : -ENOMEM;
	}
	return err;
}

/* @fd is closed. */
static Elf *map_elf(int fd, uint64_t size, const char *path, struct rvt_mapped_file **mapped)
{
	int err = rvt_file_map(fd, size, path, mapped);

	close(fd);
	return err || !size ? NULL : elf_memory((char *)(*mapped)->bytes, size);
}

Elf *rvt_table_open_elf(const char *path, struct rvt_mapped_file **mapped)
{
	struct stat st;
	int fd = rvt_file_open(path, 0, &st);

	*mapped = NULL;
	return fd < 0 ? NULL : map_elf(fd, st.st_size, path, mapped);
}

static int add_debug_file(struct table *table, const char *roots)
{
	int fd = rvt_debug_file_open(table->path, roots), err = 0;
	struct rvt_mapped_file *mapped = NULL;
	GElf_Shdr shdr;
	struct stat st;
	Elf_Scn *scn;
	Elf *debug;

	table->stripped = true;
	if (fd < 0)
		return 0;
	debug = fstat(fd, &st) ? NULL : map_elf(fd, st.st_size, table->path, &mapped);
	scn = debug ? rvt_table_find_section(debug, SHT_SYMTAB, NULL, &shdr) : NULL;
	if (scn)
		err = add_symbols(table, debug, scn, &shdr);
	table->stripped = !scn;
	elf_end(debug);
	rvt_file_unmap(mapped);
	return err;
}

static int read_segments(struct table *table, Elf *elf)
{
	size_t n = 0;

	if (elf_getphdrnum(elf, &n) || !n)
		return 0;
	table->segments = calloc(n, sizeof(*table->segments));
	if (!table->segments)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		GElf_Phdr phdr;

		if (gelf_getphdr(elf, i, &phdr) && phdr.p_type == PT_LOAD)
			table->segments[table->n_segments++] = (struct load_segment){
				phdr.p_offset, phdr.p_vaddr, phdr.p_filesz,
				phdr.p_flags & PF_X };
	}
	return 0;
}

int rvt_table_read_elf(struct table *table, Elf *elf, const char *debug_roots)
{
	Elf_Scn *scn;
	GElf_Shdr shdr;
	int err;

	if (elf_kind(elf) != ELF_K_ELF)
		return -ENOEXEC;
	err = read_segments(table, elf);
	scn = rvt_table_find_section(elf, SHT_SYMTAB, NULL, &shdr);
	if (!err && scn)
		err = add_symbols(table, elf, scn, &shdr);
	else if (!err)
		err = add_debug_file(table, debug_roots);
	scn = rvt_table_find_section(elf, SHT_DYNSYM, NULL, &shdr);
	if (!err && scn)
		err = add_symbols(table, elf, scn, &shdr);
	if (!err)
		err = add_plt(table, elf);
	if (!err)
		rvt_table_finish(table);
	return err;
}
