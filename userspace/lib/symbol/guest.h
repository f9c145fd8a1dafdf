/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Inside the library: names of what guests run. */
#ifndef SYMBOL_GUEST_H
#define SYMBOL_GUEST_H

#include <rvtrace/symbol.h>

/*
 * Functions of the guests' kernel @path, which has no symbols itself: @text as /proc/kallsyms has
 * them there. 0 or -ENOMEM.
 */
int rvt_symbols_add_guest(struct rvt_symbols *symbols, const char *path, const char *text,
			  size_t len);

#endif
