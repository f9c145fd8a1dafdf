/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The program as a debugger sees it before an instruction of a thread: registers, memory,
 * libraries.
 *
 * What the trace does not have is missing: all writable memory, and all registers but pc. Only the
 * position of the stack is synthetic, so that debuggers can unwind: sp (and s0 if a function uses
 * it as frame pointer) are addresses from TARGET_STACK downwards, which no process can have. Memory
 * there has only return addresses and frame pointers, where the files' call frame information says
 * that functions keep them. The return addresses are real: they come from the call stack of the
 * trace.
 */
#ifndef PERF_RVTRACE_GDB_TARGET_H
#define PERF_RVTRACE_GDB_TARGET_H

#include <stdio.h>
#include "gdb/files.h"
#include "gdb/stacks.h"

/*
 * On RV64, bits 63 to 56 differ: it is no address of Sv39, Sv48 or Sv57. On RV32, Linux never has a
 * stack there.
 */
#define TARGET_STACK UINT64_C(0x5e5e5e5e00000000)
#define TARGET_STACK_32 UINT64_C(0xfffe0000)

struct target;

enum target_register { TARGET_RA = 1, TARGET_SP = 2, TARGET_FP = 8, TARGET_PC = 32,
		       TARGET_REGISTERS };

/*
 * target_create - makes the target of @thread's process, at the thread's instruction 0. @no_stack:
 * without a synthetic stack. The arguments must outlive it. NULL: out of memory.
 */
struct target *target_create(struct view *view, struct places *places, struct timeline *timeline,
			     size_t thread, bool no_stack);
/* @target may be NULL. */
void target_destroy(struct target *target);
/* Returns whether the program is one of RV32; false if the program is not known. */
bool target_is_rv32(const struct target *target);
/* Moves to instruction @number of @thread. */
void target_seek(struct target *target, size_t thread, uint64_t number);
/* Reads a register. Returns false if it is not known. */
bool target_register(struct target *target, unsigned int number, uint64_t *value);
/* Reads up to @len bytes. Returns how many are known from @addr on. */
size_t target_read(struct target *target, uint64_t addr, uint8_t *bytes, size_t len);
/*
 * Returns the path of the program's file on this machine; NULL: not known. Valid until the next
 * call.
 */
const char *target_program(struct target *target);
/* Returns where the program's first segment is in memory. Returns false if that is not known. */
bool target_start(struct target *target, uint64_t *start);
/*
 * Finds a file of the program, by its name on the recorded machine. Returns what target_program()
 * does.
 */
const char *target_file(struct target *target, const char *name);
/* Returns file_abi_note() of a file at this machine's @path. */
uint64_t target_abi_note(struct target *target, const char *path);
/*
 * target_put_auxv - writes the auxiliary vector in the kernel's format, as far as it is known.
 * target_put_program - writes the program's name on the recorded machine. target_put_libraries -
 * writes a library-list document, or with @svr4 a library-list-svr4 document.
 */
void target_put_auxv(struct target *target, FILE *out);
void target_put_program(struct target *target, FILE *out);
void target_put_libraries(struct target *target, bool svr4, FILE *out);
/*
 * Prints the frames of the call stack, the innermost first, with the address at which each
 * continues.
 */
void target_put_stack(struct target *target, FILE *out);

#endif
