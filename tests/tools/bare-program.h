/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Runs a bare-metal program (one that ends by writing to `tohost`, as the RISC-V tests and most
 * small benchmarks do) in Unicorn, and says what retired in the way encoders want to be told.
 */
#ifndef TESTS_BARE_PROGRAM_H
#define TESTS_BARE_PROGRAM_H

#include <stdbool.h>
#include <stdint.h>
#include <rvtrace/retire.h>

struct bare_program;

struct bare_listener {
	/* One straight line of code retired. */
	void (*retire)(void *ctx, const struct rvt_retire *run);
	/* NULL, or: one instruction did; called before the line that it is in. */
	void (*insn)(void *ctx, enum rvt_itype itype, uint64_t pc, unsigned int halfwords);
	void *ctx;
};

/* Loads the ELF file @path. NULL: it could not; stderr says why. */
struct bare_program *bare_program_load(const char *path);
void bare_program_free(struct bare_program *p);
bool bare_program_is_rv32(const struct bare_program *p);
/*
 * Runs it from its entry to its end, to the first trap, or for @max instructions; stderr has a word
 * about all but the first. Returns how many instructions retired. *@next: where it would go on.
 */
uint64_t bare_program_run(struct bare_program *p, uint64_t max,
			  const struct bare_listener *listener, uint64_t *next);

#endif
