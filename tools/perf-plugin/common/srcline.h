/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Finds source lines of addresses, by the DWARF of the files or of their separate debug files. */
#ifndef PERF_RVTRACE_SRCLINE_H
#define PERF_RVTRACE_SRCLINE_H

#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include "common/places.h"

struct srclines;

/*
 * @symfs: directories (separated by ':') with usr/lib/debug, or NULL; @vmlinux: the kernel's file,
 * or NULL. Returns NULL if memory is out.
 */
struct srclines *srclines_create(const char *symfs, const char *vmlinux);
void srclines_destroy(struct srclines *srclines);
/*
 * Finds the file (by the compiler's name) and line of @place. Returns false if they are not known.
 */
bool srclines_find(struct srclines *srclines, const struct place *place, const char **file,
		   int *line);
/* A file with its DWARF; it lives as long as the srclines. Addresses are those in the ELF file. */
struct source_file;

/* Opens the ELF file at @path. NULL: it is none. */
struct source_file *srclines_file(struct srclines *srclines, const char *path);
Dwfl_Module *source_file_module(struct source_file *file);
/* Returns the file's DWARF, whose addresses are *@bias higher. NULL: it has none. */
Dwarf *source_file_dwarf(struct source_file *file, uint64_t *bias);
/* Returns the row of the line table that @vaddr belongs to. NULL: there is none. */
Dwarf_Line *source_file_line(struct source_file *file, uint64_t vaddr);

#endif
