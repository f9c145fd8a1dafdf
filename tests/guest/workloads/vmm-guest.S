/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * What vmm.c runs: a kernel (VS-mode) that does some work and calls a program (VU-mode) in each of
 * a0 rounds. With an address in a1 it then accesses that, and CSRs that are not a guest's. At the
 * end it says what came of the work, how many accesses trapped, and the last cause.
 */
#define SBI_OWN 0x08000000

	.macro function name
	.globl \name
	.type \name, @function
\name:
	.endm

	.macro end name
	.size \name, . - \name
	.endm

	.text
function _start
	la	sp, stack
	la	t0, trap
	csrw	stvec, t0
	csrw	satp, zero
	mv	s0, a0
	mv	s1, a1
	li	s2, 0
	li	s3, 0
	li	s4, 0
1:	beqz	s0, 2f
	mv	a0, s0
	call	work
	add	s2, s2, a0
	call	enter_user
	addi	s0, s0, -1
	j	1b
2:	beqz	s1, 3f
	call	reach
3:	mv	a0, s2
	mv	a1, s3
	mv	a2, s4
	li	a6, 0
	li	a7, SBI_OWN
	ecall
4:	j	4b
end _start

/* a0: a number; returns another one */
function work
	addi	sp, sp, -16
	sd	ra, 8(sp)
	sd	s0, 0(sp)
	li	s0, 40
	mv	t2, a0
1:	andi	t0, t2, 3
	slli	t0, t0, 3
	la	t1, operations
	add	t1, t1, t0
	ld	t1, 0(t1)
	jalr	t1
	srli	t2, t2, 1
	xor	t2, t2, a0
	addi	s0, s0, -1
	bnez	s0, 1b
	ld	s0, 0(sp)
	ld	ra, 8(sp)
	addi	sp, sp, 16
	ret
end work

function work_add
	addi	a0, a0, 17
	ret
end work_add

function work_shift
	slli	a0, a0, 1
	bgez	a0, 1f
	srli	a0, a0, 9
1:	ret
end work_shift

function work_odd
	andi	t0, a0, 1
	beqz	t0, 1f
	addi	a0, a0, 3
1:	ret
end work_odd

function work_call
	mv	t3, ra
	call	work_add
	call	work_odd
	jr	t3
end work_call

/* Returns when the program calls its kernel. */
function enter_user
	csrw	sscratch, ra
	li	t0, 0x100
	csrc	sstatus, t0
	la	t0, user_begin
	csrw	sepc, t0
	sret
end enter_user

	.balign 4
function trap
	csrr	t4, scause
	li	t5, 8
	beq	t4, t5, 1f
	addi	s3, s3, 1
	mv	s4, t4
	csrr	t4, sepc
	addi	t4, t4, 4
	csrw	sepc, t4
	sret
1:	csrr	ra, sscratch
	ret
end trap

/* One access after the other, each in an instruction of 4 bytes. */
function reach
	.option push
	.option norvc
	lw	t0, 0(s1)
	li	t1, 3
	sw	t1, 0(s1)
	csrr	t0, 0x5a8
	csrw	0x5a8, t1
	csrr	t0, 0x6a8
	csrw	0x6a8, t1
	csrr	t0, 0x14e
	csrr	t0, 0x14f
	csrr	t0, 0x15f
	csrr	t0, 0x200
	ret
	.option pop
end reach

/* ---- the program ---- */

function user_begin
	li	t0, 9
	li	a0, 5
1:	call	user_step
	addi	t0, t0, -1
	bnez	t0, 1b
	ecall
2:	j	2b
end user_begin

function user_step
	slli	t1, a0, 2
	add	a0, a0, t1
	bltz	a0, 1f
	xori	a0, a0, 0x55
1:	ret
end user_step

	.data
	.balign 8
operations:
	.dword	work_add, work_shift, work_odd, work_call
	.balign 16
	.space	4096
stack:
