/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Inside userspace/lib/symbol/: the functions of one file. */
#ifndef SYMBOL_TABLE_H
#define SYMBOL_TABLE_H

#include <gelf.h>
#include <rvtrace/symbol.h>
#include "file/file.h"
#include "eh.h"

struct function {
	uint64_t start, end;
	const char *name;
	uint8_t rank;		/* RANK_...: which of several names at one address is kept */
	bool open;		/* its size is not known: it ends where the next one begins */
};

/* The highest is kept. */
enum { RANK_UNTYPED = 1, RANK_LOCAL, RANK_WEAK, RANK_GLOBAL };

struct load_segment {
	uint64_t offset, vaddr, size;
	bool executable;
};

struct table {
	char *path;		/* first: key of the tree */
	struct function *functions;
	size_t n;
	struct function *others;	/* further names of some of these; .end does not count */
	size_t n_others;
	struct load_segment *segments;
	size_t n_segments;
	bool stripped;		/* neither the file nor a debug file of it has local symbols */
	struct eh *eh;		/* NULL: the file has none */
	bool eh_read;		/* it was looked for */
	struct table_names *owned;	/* names that were made up or copied; the last ones first */
};

/* The ELF file @path in memory; NULL: there is none. For elf_end(), then rvt_file_unmap(). */
Elf *rvt_table_open_elf(const char *path, struct rvt_mapped_file **mapped);
/* Adds a function; @name must live as long as the table. 0 or -ENOMEM. */
int rvt_table_add(struct table *table, uint64_t start, uint64_t size, const char *name,
		  uint8_t rank);
/* A copy of @len bytes of @text, and a zero, that the table owns; NULL: out of memory. */
const char *rvt_table_own(struct table *table, const void *text, size_t len);
/*
 * Sorts, keeps one name per address among the functions, closes open ends. Without memory other
 * names are forgotten.
 */
void rvt_table_finish(struct table *table);
/* The function that has @addr; NULL: none has. */
const struct function *rvt_table_find(const struct table *table, uint64_t addr);
/* A struct table, malloc'd; for tdestroy(). */
void rvt_table_destroy(void *table);
/*
 * elf.c: fills @table from an ELF file or image; @debug_roots as rvt_symbols_create() has it. 0,
 * -ENOEXEC, -ENOMEM.
 */
int rvt_table_read_elf(struct table *table, Elf *elf, const char *debug_roots);
/* section.c: the first of @type called @name (NULL: any), its head in *@shdr; NULL: none. */
Elf_Scn *rvt_table_find_section(Elf *elf, unsigned int type, const char *name, GElf_Shdr *shdr);

#endif
