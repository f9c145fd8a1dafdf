/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Source lines of addresses, by the DWARF of the files or of their separate debug files. */
#ifndef PERF_RVTRACE_SRCLINE_H
#define PERF_RVTRACE_SRCLINE_H

#include <elfutils/libdwfl.h>
#include "common/places.h"

struct srclines;

/*
 * @symfs: directories (separated by ':') below which usr/lib/debug is looked for, or NULL;
 * @vmlinux: the kernel's file, or NULL. NULL: out of memory.
 */
struct srclines *srclines_create(const char *symfs, const char *vmlinux);
void srclines_destroy(struct srclines *srclines);
/* File (as the compiler saw it) and line of @place. False: there is no such information. */
bool srclines_find(struct srclines *srclines, const struct place *place, const char **file,
		   int *line);
/*
 * The file at @path with its DWARF; addresses in it are those in the ELF file plus @bias. NULL:
 * none.
 */
Dwfl_Module *srclines_module(struct srclines *srclines, const char *path, uint64_t *bias);

#endif
