/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Functions of a file by DWARF, those that were inlined among them. */
#ifndef PERF_RVTRACE_FUNCTIONS_H
#define PERF_RVTRACE_FUNCTIONS_H

#include <stdbool.h>
#include "common/srcline.h"

/* A function, or a copy of one that was inlined. Strings live as long as the DWARF. */
struct scope {
	const char *name;		/* as the linker has it */
	struct scope *caller;		/* where it was inlined; NULL: a function of its own */
	uint64_t entry;			/* of a function of its own; UINT64_MAX: not known */
	int line;			/* of its declaration */
	int call_line;			/* of the call that was replaced, in .caller's source */
	unsigned int call_discriminator;
	void *user;			/* NULL; the caller's */
};

struct functions;

/* Reads the DWARF of @file. Sets *@err: 0; -ENOENT: it has none; -ENOMEM. NULL: an error. */
struct functions *functions_read(struct source_file *file, int *err);
void functions_destroy(struct functions *functions);
/*
 * functions_at - the innermost scope that has the code at @addr (of the ELF file); NULL: none.
 * Takes constant time for addresses that ascend.
 */
struct scope *functions_at(struct functions *functions, uint64_t addr);
/* The function of its own that begins at @addr; NULL: none. */
struct scope *functions_entered(struct functions *functions, uint64_t addr);

#endif
