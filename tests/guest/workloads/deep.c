// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * A deep call stack whose leaf spins while the task is switched and moved between two harts, for
 * tests of call stacks by Control Transfer Records.
 * usage: deep DEPTH ROUNDS
 * Prints "deep TID LEAF-START LEAF-END DEPTH" for the main thread, and the same with half the depth
 * for a second thread.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static unsigned long rounds;
static volatile int done;

/* Between leaf() and leaf_end() there are no calls. */
__attribute__((noinline, section(".text.leaf.0"))) static void leaf(void)
{
	for (volatile unsigned long i = 0; i < rounds; i++)
		;
}

__attribute__((noinline, used, section(".text.leaf.1"))) static void leaf_end(void)
{
	asm volatile("nop");
}

__attribute__((noinline, optimize("O0"))) static unsigned int deep(unsigned int n)
{
	if (n)
		return deep(n - 1) + 1;
	leaf();
	return 1;
}

static void tell(unsigned int depth)
{
	printf("deep %d %lx %lx %u\n", (int)syscall(SYS_gettid), (unsigned long)leaf,
	       (unsigned long)leaf_end, depth);
	fflush(stdout);
}

static void *second(void *depth)
{
	tell(*(unsigned int *)depth);
	deep(*(unsigned int *)depth);
	return NULL;
}

/* Moves the main thread from hart to hart. */
static void *mover(void *main_tid)
{
	while (!done) {
		for (int cpu = 0; cpu < 2; cpu++) {
			cpu_set_t set;

			CPU_ZERO(&set);
			CPU_SET(cpu, &set);
			sched_setaffinity(*(pid_t *)main_tid, sizeof(set), &set);
			usleep(20000);
		}
	}
	return NULL;
}

int main(int argc, char **argv)
{
	unsigned int depth = argc > 1 ? (unsigned int)atoi(argv[1]) : 20, half = depth / 2, sum;
	pid_t tid = (pid_t)syscall(SYS_gettid);
	pthread_t threads[2];

	rounds = argc > 2 ? strtoul(argv[2], NULL, 10) : 1000000;
	if (pthread_create(&threads[0], NULL, second, &half) ||
	    pthread_create(&threads[1], NULL, mover, &tid))
		return 1;
	tell(depth);
	sum = deep(depth);
	done = 1;
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	return sum != depth + 1;
}
