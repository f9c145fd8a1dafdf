/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Inside the library: copies of /proc/kallsyms. */
#ifndef SYMBOL_KALLSYMS_H
#define SYMBOL_KALLSYMS_H

#include <stdbool.h>
#include <rvtrace/symbol.h>

/*
 * Returns whether a line of @text has the address of a function. Who is not root reads a
 * /proc/kallsyms whose addresses are all 0.
 */
bool rvt_kallsyms_names_code(const char *text, size_t len);

/*
 * Functions of the guests' kernel @path, which has no symbols itself: @text as /proc/kallsyms has
 * them there. 0 or -ENOMEM.
 */
int rvt_symbols_add_guest(struct rvt_symbols *symbols, const char *path, const char *text,
			  size_t len);

#endif
