/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * What can end or interrupt a block of instructions, on the bare `virt` machine: exceptions and
 * interrupts in three privilege modes, device access in the middle of straight code, wfi, changed
 * code, page boundaries. Ends by switching the machine off.
 */
#define UART		0x10000000
#define FINISHER	0x100000
#define MTIMECMP	0x2004000
#define MTIME		0x200bff8
#define PASS		0x5555

#define MSTATUS_MIE	0x8
#define MSTATUS_MPP	0x1800
#define MSTATUS_FS	0x6000
#define SSTATUS_SPP	0x100
#define MIE_MTIE	0x80

	.option norelax
	.section .text.start, "ax"
	.globl _start
_start:
	la	sp, stack_end
	la	t0, handler
	csrw	mtvec, t0
	csrwi	mie, 0
	call	arithmetic
	call	devices
	call	exceptions
	call	atomics
	call	waiting
	call	interrupts
	call	changed_code
	call	boundaries
	call	lower_modes
	li	t0, FINISHER
	li	t1, PASS
	sw	t1, 0(t0)
	.globl over
over:	j	over

/*
 * M-mode traps. s11 = 1: go on behind the instruction (of 2 or 4 bytes); s11 = 2: go to the address
 * in s10. Timer interrupts: set the next time.
 */
	.align	2
handler:
	csrw	mscratch, t0
	csrr	t0, mcause
	bltz	t0, timer
	li	t0, 2
	beq	s11, t0, elsewhere
	addi	sp, sp, -16
	sd	t1, 0(sp)
	csrr	t0, mepc
	lhu	t1, 0(t0)
	andi	t1, t1, 3
	addi	t1, t1, -3
	bnez	t1, 1f
	addi	t0, t0, 2
1:	addi	t0, t0, 2
	csrw	mepc, t0
	ld	t1, 0(sp)
	addi	sp, sp, 16
	csrr	t0, mscratch
	mret
elsewhere:
	csrw	mepc, s10
	li	t0, MSTATUS_MPP		/* stay in, or return to, M-mode */
	csrs	mstatus, t0
	csrr	t0, mscratch
	mret
timer:
	addi	sp, sp, -16
	sd	t1, 0(sp)
	li	t0, MTIME
	ld	t1, 0(t0)
	addi	t1, t1, 19
	li	t0, MTIMECMP
	sd	t1, 0(t0)
	addi	s9, s9, 1
	ld	t1, 0(sp)
	addi	sp, sp, 16
	csrr	t0, mscratch
	mret

/* Branches both ways, calls, recursion, jumps through registers, a branch to what follows it. */
arithmetic:
	addi	sp, sp, -16
	sd	ra, 0(sp)
	li	a0, 10
	call	fibonacci
	li	t0, 50
1:	andi	t1, t0, 3
	beqz	t1, 2f
	bne	t1, t0, 3f
2:	addi	a0, a0, 1
3:	addi	t0, t0, -1
	bgtz	t0, 1b
	beq	t0, t0, 4f
4:	bne	t0, t0, 5f
5:	la	t1, table
	li	t0, 2
6:	slli	t2, t0, 3
	add	t2, t2, t1
	ld	t2, 0(t2)
	jalr	t2
	addi	t0, t0, -1
	bgez	t0, 6b
7:	auipc	t1, %pcrel_hi(case0)
	jalr	ra, %pcrel_lo(7b)(t1)
	ld	ra, 0(sp)
	addi	sp, sp, 16
	ret
case0:	ret
case1:	jr	ra
case2:	mv	t3, ra
	jalr	zero, 0(t3)
	.align	3
table:	.dword	case0, case1, case2

fibonacci:
	li	t0, 2
	bge	a0, t0, 1f
	ret
1:	addi	sp, sp, -32
	sd	ra, 0(sp)
	sd	a0, 8(sp)
	addi	a0, a0, -1
	call	fibonacci
	sd	a0, 16(sp)
	ld	a0, 8(sp)
	addi	a0, a0, -2
	call	fibonacci
	ld	t1, 16(sp)
	add	a0, a0, t1
	ld	ra, 0(sp)
	addi	sp, sp, 32
	ret

/*
 * Loads and stores that leave their block in the middle, where a loop goes to the next instruction
 * as well.
 */
devices:
	li	t0, UART
	li	t1, 20
1:	addi	t2, t2, 1
	lb	t3, 5(t0)
2:	addi	t2, t2, 1
	addi	t1, t1, -1
	andi	t4, t1, 3
	bnez	t4, 2b
	bgtz	t1, 1b
	sb	zero, 7(t0)
	sb	t1, 7(t0)
	lb	t3, 7(t0)
	lb	t3, 5(t0)
	addi	t2, t2, 1
	sb	zero, 7(t0)
	li	t1, 5
3:	lb	t3, 7(t0)
	addi	t1, t1, -1
	bnez	t1, 3b
	li	t1, 7
4:	addi	t1, t1, -1
	lb	t3, 7(t0)
	bnez	t1, 4b
	ret

/* Exceptions at the start, in the middle and at the end of a block. */
exceptions:
	mv	s8, ra
	li	s11, 1
	ecall
	addi	t2, t2, 1
	ebreak
	addi	t2, t2, 1
	c.ebreak
	.half	0
	addi	t2, t2, 1
	ld	t3, 0(zero)
	addi	t2, t2, 1
	sd	t3, 0(zero)
	csrr	t3, 0x123
	li	t1, 3
1:	lw	t3, 0(zero)
	sw	t3, 0(zero)
	addi	t1, t1, -1
	bnez	t1, 1b
	li	t1, MSTATUS_FS
	csrc	mstatus, t1
	fadd.d	f0, f0, f0
	csrs	mstatus, t1
	fadd.d	f0, f0, f0
	fdiv.d	f0, f0, f0
	/* fetching fails: behind a jump, a return and a branch to the same place again and again */
	li	s11, 2
	la	s10, 2f
	jr	zero
2:	la	s10, 3f
	li	t0, 0x40
	jalr	t0
3:	la	s10, 4f
	jalr	zero, 8(zero)
4:	li	s11, 1
	jr	s8

atomics:
	la	t0, word
	li	t2, 4
1:	lr.d	t1, (t0)
	addi	t1, t1, 1
	sc.d	t3, t1, (t0)
	bnez	t3, 1b
	amoadd.d t1, t2, (t0)
	amoswap.w t1, t2, (t0)
	addi	t2, t2, -1
	bnez	t2, 1b
	li	s11, 1
	addi	t0, t0, 1
	amoadd.d t1, t2, (t0)
	lr.d	t1, (t0)
	fence
	fence.i
	ret

/* wfi that ends without a trap, in the middle of straight code. */
waiting:
	csrci	mstatus, MSTATUS_MIE
	li	t0, MIE_MTIE
	csrw	mie, t0
	li	t4, 5
1:	li	t0, MTIME
	ld	t1, 0(t0)
	addi	t1, t1, 100
	li	t0, MTIMECMP
	sd	t1, 0(t0)
	addi	t2, t2, 1
	wfi
	addi	t2, t2, 1
	addi	t4, t4, -1
	bnez	t4, 1b
	ret

/* Timer interrupts anywhere: in loops that compute, touch devices and trap, and in wfi. */
interrupts:
	li	s9, 0
	li	s11, 1
	li	t0, MTIMECMP
	sd	zero, 0(t0)
	li	t0, MIE_MTIE
	csrw	mie, t0
	csrsi	mstatus, MSTATUS_MIE
	li	t4, UART
1:	addi	t2, t2, 1
	mul	t2, t2, t2
	lb	t3, 7(t4)
	sd	t2, -8(sp)
	addi	t2, t2, 3
	ecall
	xor	t2, t2, t3
	lb	t3, 7(t4)
	ld	t3, -8(sp)
	li	t5, 300
	blt	s9, t5, 1b
	wfi
	addi	t2, t2, 1
	wfi
	li	t5, 310
	blt	s9, t5, 1b
	csrci	mstatus, MSTATUS_MIE
	csrwi	mie, 0
	ret

/* Code that is written over, with fence.i behind it. */
changed_code:
	la	t0, 2f
	la	t1, 4f
	li	t3, 3
1:	lw	t4, 0(t0)
	lw	t5, 0(t1)
	sw	t5, 0(t0)
	sw	t4, 0(t1)
	fence.i
	.align	2
	.option push
	.option norvc
2:	addi	t2, t2, 1
	addi	t3, t3, -1
	.option pop
	bnez	t3, 1b
	ret
	.align	2
	.option push
	.option norvc
4:	addi	t2, t2, 2
	.option pop

/* Long straight code, and a 4-byte instruction across a page boundary. */
boundaries:
	li	t0, 3
1:
	.rept	700
	addi	t2, t2, 3
	.endr
	addi	t0, t0, -1
	beqz	t0, 2f
	j	1b
2:	la	t0, crossing
	jr	t0
	.align	12
	.skip	4096 - 6
crossing:
	.option push
	.option norvc
	addi	t2, t2, 1
	lui	t2, 0x12345
	.option pop
	ret

/*
 * S- and U-mode under Sv39: GiB pages 0 and 2 map devices and memory as they are, 3 and 4 memory
 * for U-mode. Every trap goes to M-mode.
 */
lower_modes:
	addi	sp, sp, -16
	sd	ra, 0(sp)
	li	t0, -1
	csrw	pmpaddr0, t0
	li	t0, 0x1f
	csrw	pmpcfg0, t0
	la	t0, page_table
	srli	t0, t0, 12
	li	t1, 8 << 60
	or	t0, t0, t1
	csrw	satp, t0
	sfence.vma
	li	s11, 2
	la	s10, 3f
	la	t0, supervisor
	csrw	mepc, t0
	li	t0, MSTATUS_MPP
	csrc	mstatus, t0
	li	t0, 0x800
	csrs	mstatus, t0
	mret
3:	li	s11, 2
	la	s10, 6f
	la	t0, user
	li	t1, 0x40000000
	add	t0, t0, t1
	csrw	mepc, t0
	li	t0, MSTATUS_MPP
	csrc	mstatus, t0
	mret
6:	la	s10, 7f				/* the same code at another address */
	la	t0, user
	li	t1, 0x80000000
	add	t0, t0, t1
	csrw	mepc, t0
	li	t0, MSTATUS_MPP
	csrc	mstatus, t0
	mret
7:	la	s10, 4f
	la	t0, user_fault
	li	t1, 0x40000000
	add	t0, t0, t1
	csrw	mepc, t0
	li	t0, MSTATUS_MPP
	csrc	mstatus, t0
	mret
4:	li	s11, 2
	la	s10, 5f
	la	t0, fetch_fault
	csrw	mepc, t0
	li	t0, MSTATUS_MPP
	csrc	mstatus, t0
	li	t0, 0x800
	csrs	mstatus, t0
	mret
5:	csrw	satp, zero
	ld	ra, 0(sp)
	addi	sp, sp, 16
	ret

supervisor:
	li	s11, 1
	addi	t2, t2, 1
	li	t0, 0x140000000
	ecall
	sd	t2, 0(zero)
	ld	t2, 0(t0)
	csrr	t1, sstatus
	csrw	sscratch, t1
	csrr	t1, mstatus
	li	t0, UART
	lb	t1, 5(t0)
	addi	t2, t2, 1
	lb	t1, 5(t0)
	la	t0, 1f
	csrw	sepc, t0
	li	t0, SSTATUS_SPP
	csrs	sstatus, t0
	sret
1:	li	s11, 2
	ecall

user:
	addi	t2, t2, 1
	csrr	t1, sstatus
	j	.

/* The load faults when the branch goes to it for the second or third time. */
user_fault:
	li	t0, 0x80000000
	li	t1, 0x40000000
1:	add	t0, t0, t1
2:	ld	t3, 8(t0)
	add	t0, t0, t1
	bnez	t0, 2b
	j	1b

fetch_fault:
	li	t0, 0x180000000
	jr	t0

	.align	12
page_table:
	.dword	0xcf			/* devices: A D X W R V */
	.dword	0
	.dword	0x20000000 | 0xcf	/* memory */
	.dword	0x20000000 | 0xdf	/* the same for U-mode */
	.dword	0x20000000 | 0xdf	/* and once more */
	.skip	4096 - 40

	.align	4
word:	.dword	0, 0
	.skip	4096
stack_end:
