/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Encodes the few instructions that matter to control flow. For tests; shares nothing with
 * userspace/lib/insn.
 */
#ifndef TESTS_RV_ASM_H
#define TESTS_RV_ASM_H

#include <stddef.h>
#include <stdint.h>

enum { RV_ZERO = 0, RV_RA = 1, RV_T0 = 5, RV_T1 = 6, RV_A0 = 10 };

/* Each returns the encoding; distances are target - pc. */
uint32_t rv_branch(int32_t distance);			/* beq x0, x0 */
uint32_t rv_jal(unsigned int rd, int32_t distance);
uint32_t rv_jalr(unsigned int rd, unsigned int rs1, int32_t offset);
uint32_t rv_lui(unsigned int rd, uint32_t imm20);
uint32_t rv_auipc(unsigned int rd, uint32_t imm20);
uint16_t rv_c_branch(int32_t distance);			/* c.beqz s0 */
uint16_t rv_c_j(int32_t distance);
uint16_t rv_c_jal(int32_t distance);			/* RV32 */
uint16_t rv_c_jr(unsigned int rs1);
uint16_t rv_c_jalr(unsigned int rs1);

#define RV_NOP 0x00000013u
#define RV_C_NOP 0x0001u
#define RV_ECALL 0x00000073u
#define RV_EBREAK 0x00100073u
#define RV_C_EBREAK 0x9002u
#define RV_SRET 0x10200073u
#define RV_MRET 0x30200073u

/*
 * rv_assemble - one instruction as text; targets are absolute and hexadecimal: "b 1200",
 * "jal ra 400", "jalr x0 t1", "c.nop", "half 1234". See rv-asm.c for all mnemonics.
 * Returns its length in bytes, or 0 if @text is none.
 */
size_t rv_assemble(uint64_t pc, const char *text, uint8_t bytes[8]);

#endif
