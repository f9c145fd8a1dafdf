// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Every kind of control flow in a program of few instructions, for recordings that are made many
 * times over: regular and irregular branches, long loops, deep recursion, jump tables, calls by
 * pointer, sequential jumps, returns by x5, system calls, straight code. With the argument `wild`
 * also what a counter of calls cannot follow: co-routine swaps, longjmp, signals; with `forked` a
 * second process at the same time, on another hart. Prints a sum, so that nothing is optimised
 * away.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

static uint64_t seed = 1;

static uint32_t random_number(void)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return seed >> 33;
}

/* Deeper than the return stack of any encoder. */
static __attribute__((noinline)) unsigned int deep(unsigned int n)
{
	return n ? deep(n - 1) + (n & random_number()) : 1;
}

static __attribute__((noinline)) unsigned int fibonacci(unsigned int n)
{
	return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

static __attribute__((noinline)) unsigned int branches(unsigned int n)
{
	unsigned int sum = 0;

	/* regular: the same pattern of three branches again and again */
	for (unsigned int i = 0; i < n; i++)
		if (i & 1)
			__asm__ volatile("addi %0, %0, 3" : "+r"(sum));
	/* irregular */
	for (unsigned int i = 0; i < n; i++)
		if (random_number() & 4)
			__asm__ volatile("addi %0, %0, 5" : "+r"(sum));
	return sum;
}

static __attribute__((noinline)) unsigned int table(unsigned int n)
{
	unsigned int sum = 0;

	for (unsigned int i = 0; i < n; i++) {
		switch (random_number() % 8) {
		case 0: __asm__ volatile("addi %0, %0, 1" : "+r"(sum)); break;
		case 1: __asm__ volatile("xori %0, %0, 2" : "+r"(sum)); break;
		case 2: __asm__ volatile("slli %0, %0, 1" : "+r"(sum)); break;
		case 3: __asm__ volatile("addi %0, %0, 7" : "+r"(sum)); break;
		case 4: __asm__ volatile("xori %0, %0, 9" : "+r"(sum)); break;
		case 5: __asm__ volatile("srli %0, %0, 1" : "+r"(sum)); break;
		case 6: __asm__ volatile("addi %0, %0, 11" : "+r"(sum)); break;
		default: break;
		}
	}
	return sum;
}

static __attribute__((noinline)) unsigned int add_one(unsigned int n)
{
	return n + 1;
}

static __attribute__((noinline)) unsigned int add_two(unsigned int n)
{
	return n + 2;
}

static __attribute__((noinline)) unsigned int pointers(unsigned int n)
{
	unsigned int (*volatile one)(unsigned int) = add_one;
	unsigned int (*volatile two)(unsigned int) = add_two;
	unsigned int sum = 0;

	/* the same message again and again */
	for (unsigned int i = 0; i < n; i++)
		sum = one(sum);
	for (unsigned int i = 0; i < n; i++)
		sum = (i & 1 ? one : two)(sum);
	return sum;
}

/* auipc and jalr, once adjacent and once not; calls that return by x5 */
static __attribute__((noinline)) void jumps(unsigned int n)
{
	while (n--)
		__asm__ volatile(
			".option push\n .option norelax\n .option norvc\n"
			"	auipc	t1, 0\n"
			"	jalr	x0, 12(t1)\n"
			"	nop\n"
			"	auipc	t1, 0\n"
			"	nop\n"
			"	jalr	x0, 16(t1)\n"
			"	nop\n"
			"	jal	t0, 1f\n"
			"	j	2f\n"
			"1:	addi	t2, t2, 1\n"
			"	jr	t0\n"
			"2:\n"
			".option pop\n" : : : "t0", "t1", "t2", "memory");
}

/* No branch for longer than small counters reach. */
static __attribute__((noinline)) unsigned int straight(unsigned int n)
{
	__asm__ volatile(".rept 3000\n addi %0, %0, 1\n .endr" : "+r"(n));
	return n;
}

/* Two streams that hand over to each other with jalr between x1 and x5. */
static __attribute__((noinline)) void coroutines(void)
{
	__asm__ volatile(
		"	la	t0, 1f\n"
		"	li	t1, 20\n"
		"2:	jalr	ra, t0\n"
		"	addi	t1, t1, -1\n"
		"	bgtz	t1, 2b\n"
		"	j	3f\n"
		"1:	nop\n"
		"	jalr	t0, ra\n"
		"	nop\n"
		"	j	1b\n"
		"3:\n" : : : "ra", "t0", "t1", "memory");
}

static jmp_buf back;

static __attribute__((noinline)) unsigned int leave(unsigned int n)
{
	if (n > 100)	/* never; without a way out the compiler complains */
		return n;
	if (!n)
		longjmp(back, 1);
	return leave(n - 1) + 1;
}

static __attribute__((noinline)) unsigned int long_jumps(unsigned int n)
{
	volatile unsigned int left = n;

	if (setjmp(back) == 0 || --left)
		return leave(left & 7);
	return n;
}

static void on_illegal(int sig, siginfo_t *info, void *context)
{
	ucontext_t *uc = context;

	(void)sig;
	(void)info;
	uc->uc_mcontext.__gregs[REG_PC] += 4;
}

static void traps(void)
{
	struct sigaction action = { .sa_sigaction = on_illegal, .sa_flags = SA_SIGINFO };

	sigaction(SIGILL, &action, NULL);
	for (unsigned int i = 0; i < 3; i++) {
		__asm__ volatile(".option push\n.option norvc\n"
				 ".word 0x0000000b\n.option pop\n" ::: "memory");
		getppid();
	}
}

static unsigned int work(int wild)
{
	unsigned int sum = 0;

	for (unsigned int round = 0; round < 2; round++) {
		sum += deep(60) + fibonacci(8) + branches(300) + table(60) + pointers(40);
		jumps(10);
		sum = straight(sum);
		getppid();
		if (!wild)
			continue;
		coroutines();
		sum += long_jumps(5);
		traps();
	}
	return sum;
}

static void run_on(unsigned int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

int main(int argc, char **argv)
{
	int wild = 0, forked = 0;

	for (int i = 1; i < argc; i++) {
		wild |= !strcmp(argv[i], "wild");
		forked |= !strcmp(argv[i], "forked");
	}
	if (forked)
		run_on(0);
	if (forked && fork() == 0) {
		run_on(1);
		seed = 2;
		_exit(!work(wild));
	}
	printf("sum %u\n", work(wild));
	if (forked)
		wait(NULL);
	return 0;
}
