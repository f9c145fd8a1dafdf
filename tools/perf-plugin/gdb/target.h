/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The program as a debugger sees it when an instruction of a thread is to be executed: registers,
 * memory, libraries.
 *
 * What the trace does not tell is not there: all of writable memory, and all registers but pc. One
 * thing is made up, so that debuggers can unwind: where the stack is. sp (and s0 where a function
 * uses it as frame pointer) are addresses from TARGET_STACK on downwards that no process can have;
 * in memory there is nothing at them but return addresses and frame pointers, at the places where
 * the files' call frame information says that functions keep them. The return addresses are facts:
 * the call stack that the trace gives.
 */
#ifndef PERF_RVTRACE_GDB_TARGET_H
#define PERF_RVTRACE_GDB_TARGET_H

#include <stdio.h>
#include "gdb/files.h"
#include "gdb/stacks.h"

/* Of RV64 bits 63 to 56 differ: no Sv39, Sv48 or Sv57 address. Of RV32 Linux has no stack there. */
#define TARGET_STACK UINT64_C(0x5e5e5e5e00000000)
#define TARGET_STACK_32 UINT64_C(0xfffe0000)

struct target;

enum target_register { TARGET_RA = 1, TARGET_SP = 2, TARGET_FP = 8, TARGET_PC = 32,
		       TARGET_REGISTERS };

/*
 * target_create - nothing is made up with @no_stack. At first at instruction 0 of @thread, whose
 * program is the process's. NULL: out of memory. What it gets must outlive it.
 */
struct target *target_create(struct view *view, struct places *places, struct timeline *timeline,
			     size_t thread, bool no_stack);
/* @target may be NULL. */
void target_destroy(struct target *target);
/* Whether the program is one of RV32; of one that is not known: no. */
bool target_is_rv32(const struct target *target);
/* From now on all is as it is when instruction @number of @thread is to be executed. */
void target_seek(struct target *target, size_t thread, uint64_t number);
/* False: it is not known. 0 or more bits of *@value are. */
bool target_register(struct target *target, unsigned int number, uint64_t *value);
/* Reads up to @len bytes; returns how many are known from @addr on. */
size_t target_read(struct target *target, uint64_t addr, uint8_t *bytes, size_t len);
/* Where the program's file is on this machine; NULL: not known. Valid until the next call. */
const char *target_program(struct target *target);
/* Where its first segment is in memory. False: not known. */
bool target_start(struct target *target, uint64_t *start);
/* A file of the program by the name that it had on the recorded machine, as target_program(). */
const char *target_file(struct target *target, const char *name);
/* file_abi_note() of a file by its path here. */
uint64_t target_abi_note(struct target *target, const char *path);
/*
 * target_put_auxv - the auxiliary vector, as far as it is known, as the kernel writes it.
 * target_put_program - the program's name on the recorded machine.
 * target_put_libraries - a library-list document, or with @svr4 a library-list-svr4 document.
 */
void target_put_auxv(struct target *target, FILE *out);
void target_put_program(struct target *target, FILE *out);
void target_put_libraries(struct target *target, bool svr4, FILE *out);
/* The frames of the call stack, the innermost first: addresses at which each goes on, as text. */
void target_put_stack(struct target *target, FILE *out);

#endif
