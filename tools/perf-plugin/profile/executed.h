/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* How often each instruction of a file was executed, from its straight lines and branches. */
#ifndef PERF_RVTRACE_EXECUTED_H
#define PERF_RVTRACE_EXECUTED_H

#include <elfutils/libdwfl.h>
#include <rvtrace/insn.h>
#include "profile/profile.h"

struct executed;

/* Returns NULL if memory is out. Addresses are those in the ELF file. */
struct executed *executed_create(const struct code_counts *counts);
void executed_destroy(struct executed *executed);
/* Returns how often the instruction at @addr was executed. */
uint64_t executed_count(const struct executed *executed, uint64_t addr);
/* Returns how often the branch at @addr was taken. */
uint64_t executed_taken(const struct executed *executed, uint64_t addr);

/* Takes an instruction. Returns 0, or -errno to end the walk. */
typedef int (*executed_insn)(void *ctx, uint64_t addr, const struct rvt_insn *insn);
/*
 * executed_each - tells each instruction of @module's code, executed or not, by address within a
 * section. Skips what is no instruction. Returns 0, or what @tell returned.
 */
int executed_each(Dwfl_Module *module, executed_insn tell, void *ctx);

#endif
