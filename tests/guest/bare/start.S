/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Beginning and end of a C program for the bare `virt` machine, hart 0 only. */
	.section .text.start, "ax"
	.globl _start
_start:
	csrr	t0, mhartid
	bnez	t0, 2f
	la	sp, stack_end
	call	test_main
	li	t0, 0x100000
	li	t1, 0x5555
	sw	t1, 0(t0)
2:	wfi
	j	2b

	.bss
	.align	4
	.skip	16384
stack_end:
