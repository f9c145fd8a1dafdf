/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Inside userspace/lib/symbol/: the file that has the symbols of a stripped one. */
#ifndef SYMBOL_DEBUGFILE_H
#define SYMBOL_DEBUGFILE_H

/*
 * rvt_debug_file_open - opens the separate debug file of the ELF file @path, as libdwfl finds it:
 * by build id and by .gnu_debuglink, below usr/lib/debug of each of @roots (separated by ':') and
 * beside the file; then from the debuginfod servers that DEBUGINFOD_URLS names. Build id or CRC
 * agree. Returns a file descriptor; -1: there is none, or @path is none of a file ("[vdso]").
 */
int rvt_debug_file_open(const char *path, const char *roots);

#endif
