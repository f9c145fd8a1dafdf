// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <stdlib.h>
#include <string.h>
#include "common/srcline.h"
#include "util/array.h"
#include "util/debugpath.h"

#define SLOTS 16384

/* A range of code of a compilation unit. */
struct unit {
	uint64_t from, to;	/* as in the DWARF; .to: behind the range */
	Dwarf_Off die;
};

struct source_file {
	struct source_file *next;
	char *path;
	Dwfl *dwfl;
	Dwfl_Module *module;	/* NULL: no ELF file */
	GElf_Addr bias;		/* of addresses in .module */
	Dwarf *dwarf;		/* NULL: none, or not looked for yet */
	uint64_t dwarf_bias;	/* of addresses in .dwarf */
	bool looked;
	struct unit *units;	/* by .from */
	size_t n_units, units_room;
};

struct slot {
	const struct source_file *source;
	uint64_t vaddr;
	const char *file;	/* NULL: no line */
	int line;
};

struct srclines {
	struct source_file *files;
	char *vmlinux, *debug_path;
	Dwfl_Callbacks callbacks;
	struct slot slots[SLOTS];
};

struct srclines *srclines_create(const char *symfs, const char *vmlinux)
{
	struct srclines *srclines = calloc(1, sizeof(*srclines));

	if (!srclines)
		return NULL;
	srclines->vmlinux = vmlinux ? strdup(vmlinux) : NULL;
	srclines->debug_path = debug_path(symfs);
	srclines->callbacks = (Dwfl_Callbacks){
		.find_elf = dwfl_build_id_find_elf,
		.find_debuginfo = dwfl_standard_find_debuginfo,
		.section_address = dwfl_offline_section_address,
		.debuginfo_path = &srclines->debug_path,
	};
	return srclines;
}

void srclines_destroy(struct srclines *srclines)
{
	while (srclines && srclines->files) {
		struct source_file *file = srclines->files;

		srclines->files = file->next;
		if (file->dwfl)
			dwfl_end(file->dwfl);
		free(file->units);
		free(file->path);
		free(file);
	}
	if (srclines) {
		free(srclines->vmlinux);
		free(srclines->debug_path);
	}
	free(srclines);
}

static void open_module(struct srclines *srclines, struct source_file *file)
{
	file->dwfl = dwfl_begin(&srclines->callbacks);
	if (!file->dwfl)
		return;
	dwfl_report_begin(file->dwfl);
	file->module = dwfl_report_offline(file->dwfl, file->path, file->path, -1);
	dwfl_report_end(file->dwfl, NULL, NULL);
	if (file->module && !dwfl_module_getelf(file->module, &file->bias))
		file->module = NULL;
}

static struct source_file *get_file(struct srclines *srclines, const char *path)
{
	struct source_file *file = srclines->files;

	while (file && strcmp(file->path, path))
		file = file->next;
	if (file)
		return file;
	file = calloc(1, sizeof(*file));
	if (!file)
		return NULL;
	file->path = strdup(path);
	if (!file->path) {
		free(file);
		return NULL;
	}
	open_module(srclines, file);
	file->next = srclines->files;
	srclines->files = file;
	return file;
}

/* ---- compilation units ---- */

static void add_unit(struct source_file *file, Dwarf_Die *die)
{
	Dwarf_Addr base, from, to;
	ptrdiff_t offset = 0;

	while ((offset = dwarf_ranges(die, offset, &base, &from, &to)) > 0) {
		if (from >= to)
			continue;
		if (array_reserve(&file->units, &file->units_room, file->n_units, 1))
			return;
		file->units[file->n_units++] = (struct unit){ from, to, dwarf_dieoffset(die) };
	}
}

static int by_from(const void *a, const void *b)
{
	const struct unit *x = a, *y = b;

	return x->from < y->from ? -1 : x->from > y->from;
}

/* Reads the units themselves: clang writes no .debug_aranges, which libdwfl would read. */
static void read_units(struct source_file *file)
{
	Dwarf_Off off = 0, next;
	size_t header;
	Dwarf_Die die;

	if (file->looked)
		return;
	file->looked = true;
	file->dwarf = dwfl_module_getdwarf(file->module, &file->dwarf_bias);
	if (!file->dwarf)
		return;
	file->dwarf_bias = file->bias - file->dwarf_bias;
	while (!dwarf_nextcu(file->dwarf, off, &next, &header, NULL, NULL, NULL)) {
		if (dwarf_offdie(file->dwarf, off + header, &die))
			add_unit(file, &die);
		off = next;
	}
	if (file->n_units)
		qsort(file->units, file->n_units, sizeof(*file->units), by_from);
}

/* ---- interface ---- */

struct source_file *srclines_file(struct srclines *srclines, const char *path)
{
	struct source_file *file = get_file(srclines, path);

	return file && file->module ? file : NULL;
}

Dwfl_Module *source_file_module(struct source_file *file)
{
	return file->module;
}

Dwarf *source_file_dwarf(struct source_file *file, uint64_t *bias)
{
	read_units(file);
	*bias = file->dwarf_bias;
	return file->dwarf;
}

Dwarf_Line *source_file_line(struct source_file *file, uint64_t vaddr)
{
	uint64_t addr;
	const struct unit *unit;
	Dwarf_Die die;

	read_units(file);
	addr = vaddr + file->dwarf_bias;
	unit = array_floor(file->units, file->n_units, from, addr);
	if (!unit || addr >= unit->to || !dwarf_offdie(file->dwarf, unit->die, &die))
		return NULL;
	return dwarf_getsrc_die(&die, addr);
}

bool srclines_find(struct srclines *srclines, const struct place *place, const char **file,
		   int *line)
{
	const char *path = place->path;
	struct source_file *source;
	struct slot *slot;

	/* as in the kernel's file: places have no addresses that KASLR moved */
	if (!path && !strcmp(place->dso, "[kernel.kallsyms]"))
		path = srclines->vmlinux;
	source = path ? srclines_file(srclines, path) : NULL;
	if (!source)
		return false;
	slot = &srclines->slots[(place->vaddr >> 1 ^ (uintptr_t)source >> 4) % SLOTS];
	if (slot->source != source || slot->vaddr != place->vaddr) {
		Dwarf_Line *row = source_file_line(source, place->vaddr);

		*slot = (struct slot){ .source = source, .vaddr = place->vaddr };
		if (row && !dwarf_lineno(row, &slot->line))
			slot->file = dwarf_linesrc(row, NULL, NULL);
	}
	*file = slot->file;
	*line = slot->line;
	return slot->file;
}
