/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Known errors in releases of Unicorn (Documentation/tandem.rst). */
#ifndef PERF_RVTRACE_TANDEM_CORRECTIONS_H
#define PERF_RVTRACE_TANDEM_CORRECTIONS_H

#include <stddef.h>
#include <stdint.h>

/* Instructions for which the library's interpreter is right, and Unicorn may not be. */
struct tandem_correction {
	const char *name;
	uint32_t mask, match;		/* of the 32-bit instruction */
	unsigned int until;		/* the last release known to be wrong: 0xMMmm */
	const char *why;
};

extern const struct tandem_correction tandem_corrections[];
extern const size_t tandem_corrections_len;

/* Finds the entry for @insn (expanded, see rvt_tandem_expand()) in @release of Unicorn, or NULL. */
const struct tandem_correction *tandem_correction_find(uint32_t insn, unsigned int release);

#endif
