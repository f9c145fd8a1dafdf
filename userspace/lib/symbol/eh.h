/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Inside userspace/lib/symbol/: functions and landing pads of an ELF file, by .eh_frame. */
#ifndef SYMBOL_EH_H
#define SYMBOL_EH_H

#include <gelf.h>
#include <stdbool.h>
#include <stdint.h>

struct eh;

/* Addresses in the file (p_vaddr). */
struct eh_function {
	uint64_t start, end;
	uint64_t lsda;		/* in .gcc_except_table; 0: none */
	const char *name;	/* NULL; the caller's, to note what it calls the function */
};

/* NULL: the file has no .eh_frame, or no memory. What is damaged in it is left out. */
struct eh *rvt_eh_read(Elf *elf);
void rvt_eh_free(struct eh *eh);
/* The function that has @vaddr; NULL: none has. */
struct eh_function *rvt_eh_find(const struct eh *eh, uint64_t vaddr);
/* Where an exception that comes out of the call at @vaddr goes on; 0: it leaves the function. */
uint64_t rvt_eh_landing_pad(const struct eh *eh, uint64_t vaddr);
/* Whether exceptions that come out of some call go on at @vaddr. */
bool rvt_eh_is_landing_pad(const struct eh *eh, uint64_t vaddr);

#endif
