/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Functions of a file, including inlined ones, by DWARF. */
#ifndef PERF_RVTRACE_FUNCTIONS_H
#define PERF_RVTRACE_FUNCTIONS_H

#include <stdbool.h>
#include "common/srcline.h"

/* A function, or an inlined copy of one. Strings live as long as the DWARF. */
struct scope {
	const char *name;		/* linkage name */
	struct scope *caller;		/* where it was inlined; NULL: not inlined */
	uint64_t entry;			/* if not inlined; UINT64_MAX: not known */
	int line;			/* of its declaration */
	int call_line;			/* line of the replaced call, in .caller's source */
	unsigned int call_discriminator;
	void *user;			/* the caller's own; NULL at first */
};

struct functions;

/*
 * Reads the DWARF of @file. Sets *@err to 0, -ENOENT (it has none) or -ENOMEM. Returns NULL on
 * error.
 */
struct functions *functions_read(struct source_file *file, int *err);
void functions_destroy(struct functions *functions);
/*
 * functions_at - finds the innermost scope that has the code at @addr (of the ELF file). NULL:
 * none. Takes constant time while addresses ascend.
 */
struct scope *functions_at(struct functions *functions, uint64_t addr);
/* Finds the function, not inlined, that begins at @addr. NULL: none. */
struct scope *functions_entered(struct functions *functions, uint64_t addr);

#endif
