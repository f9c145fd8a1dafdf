// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Two tasks that take turns on one CPU, each with code of its own: no task may be seen in the
 * other's.
 * usage: pair a|b|fork ROUNDS
 *	a, b: only this one; fork: the parent is a, the child b
 * Prints for each: its name, tid, and where its code begins and ends.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define STEPS 200

extern const char __start_role_a[], __stop_role_a[], __start_role_b[], __stop_role_b[];
static volatile unsigned int sum;

static inline __attribute__((always_inline)) void yield(void)
{
	register long number asm("a7") = SYS_sched_yield;
	register long result asm("a0");

	asm volatile("ecall" : "=r" (result) : "r" (number) : "memory");
}

#define ROLE(name) \
	__attribute__((noinline, section("role_" #name))) static void step_##name(unsigned int n) \
	{ \
		if (n % 3) \
			sum += n; \
	} \
	__attribute__((noinline, section("role_" #name))) \
	static void run_##name(unsigned int rounds) \
	{ \
		for (unsigned int i = 0; i < rounds; i++) { \
			for (unsigned int n = 0; n < STEPS; n++) \
				step_##name(n); \
			yield(); \
		} \
	}

ROLE(a)
ROLE(b)

static void tell(char role, pid_t pid)
{
	printf("%c %d %lx %lx\n", role, (int)pid,
	       (unsigned long)(role == 'a' ? __start_role_a : __start_role_b),
	       (unsigned long)(role == 'a' ? __stop_role_a : __stop_role_b));
}

static void run(char role, unsigned int rounds)
{
	if (role == 'a')
		run_a(rounds);
	else
		run_b(rounds);
}

int main(int argc, char **argv)
{
	unsigned int rounds = argc > 2 ? (unsigned int)atoi(argv[2]) : 1000;
	cpu_set_t cpus;
	pid_t child;

	CPU_ZERO(&cpus);
	CPU_SET(0, &cpus);
	if (argc < 2 || sched_setaffinity(0, sizeof(cpus), &cpus))
		return 1;
	if (strcmp(argv[1], "fork")) {
		tell(*argv[1], getpid());
		fflush(stdout);
		run(*argv[1], rounds);
		return 0;
	}
	child = fork();
	if (child < 0)
		return 1;
	/* One process writes: two that share an offset lost lines on the shared folder. */
	if (child) {
		tell('a', getpid());
		tell('b', child);
		fflush(stdout);
	}
	run(child ? 'a' : 'b', rounds);
	return child && waitpid(child, NULL, 0) != child;
}
