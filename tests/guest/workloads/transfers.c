// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Every kind of control transfer, over and over, for tests of Control Transfer Records.
 * usage: transfers ROUNDS [breakpoints]
 * breakpoints: with one in every 16th round
 */
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

static volatile unsigned int sink;
static jmp_buf back;

__attribute__((noinline)) static void leaf(unsigned int n)
{
	sink += n;
}

__attribute__((noinline)) static void leave(unsigned int n)
{
	leaf(n);
	if (n & 1)
		longjmp(back, 1);
	leaf(n + 1);
}

__attribute__((noinline)) static unsigned int deep(unsigned int n)
{
	return n ? deep(n - 1) + 1 : sink & 1;
}

static void (*const table[])(unsigned int) = { leaf, leave };

/*
 * Jumps that compilers do not make: co-routine swap (jalr ra, t0), other direct and indirect jumps.
 */
__attribute__((noinline)) static void odd_jumps(void)
{
	asm volatile(
		"	la	t0, 1f\n"
		"	jalr	ra, t0, 0\n"	/* swap */
		"	j	2f\n"
		"1:	jalr	x0, ra, 0\n"	/* return */
		"2:	jal	t1, 3f\n"	/* other direct */
		"3:	la	t2, 4f\n"
		"	jalr	t3, t2, 0\n"	/* other indirect */
		"4:	la	t2, 5f\n"
		"	jalr	x0, t2, 0\n"	/* indirect jump */
		"5:\n"
		: : : "ra", "t0", "t1", "t2", "t3", "memory");
}

static void step_over(int signal, siginfo_t *info, void *context)
{
	(void)signal;
	(void)info;
	((ucontext_t *)context)->uc_mcontext.__gregs[REG_PC] += 4;
}

static void expect_breakpoints(void)
{
	const struct sigaction action = { .sa_sigaction = step_over, .sa_flags = SA_SIGINFO };

	if (sigaction(SIGTRAP, &action, NULL))
		exit(1);
}

int main(int argc, char **argv)
{
	bool breakpoints = argc > 2;
	volatile unsigned int rounds = argc > 1 ? (unsigned int)atoi(argv[1]) : 100000;

	printf("tid %d\n", (int)syscall(SYS_gettid));
	fflush(stdout);
	if (breakpoints)
		expect_breakpoints();
	for (volatile unsigned int i = 0; i < rounds; i++) {
		if (!setjmp(back))
			table[i & 1](i);
		odd_jumps();
		sink += deep(i % 40);
		if (!(i % 64))
			syscall(SYS_getppid);
		if (breakpoints && !(i % 16))
			asm volatile(".option push\n.option norvc\n	ebreak\n.option pop"
				     : : : "memory");
	}
	printf("sum %u\n", sink);
	return 0;
}
