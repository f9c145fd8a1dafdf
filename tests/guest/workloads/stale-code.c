// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * One thread changes the first instruction of a function that another one, on another hart, calls
 * all the time. It flushes the instruction caches of all harts, as the kernel does when it patches
 * code: then the other one must execute what is there now. Usage: stale-code SECONDS. Prints how
 * often the instruction was written, and how often the old one was executed in all further calls.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define LI_A0 0x00000513u	/* li a0, VALUE << 20 */
#define RET 0x00008067u
#define VALUES 1024
#define CALLS 1000

typedef unsigned int function(void);

static uint32_t *code;
static atomic_uint written, seen;	/* versions */
static atomic_bool stop;
static unsigned int stale;

static void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

/* Returns whether the function still has the old instruction in each of many calls. */
static bool stays_old(function *call, unsigned int version)
{
	for (int i = 0; i < CALLS; i++) {
		if (call() == version % VALUES)
			return false;
		if (i % 100 == 0)
			usleep(100);
	}
	return true;
}

static void *call_all_the_time(void *unused)
{
	function *call = (function *)code;

	(void)unused;
	pin(1);
	while (!stop) {
		unsigned int version = written, value = call();

		if (version == seen)
			continue;
		if (value != version % VALUES && stays_old(call, version))
			stale++;
		seen = version;
	}
	return NULL;
}

int main(int argc, char **argv)
{
	const time_t end = time(NULL) + (argc > 1 ? atoi(argv[1]) : 10);
	unsigned int version = 0;
	pthread_t thread;

	code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		    0);
	if (code == MAP_FAILED || sysconf(_SC_NPROCESSORS_ONLN) < 2)
		return 2;
	code[0] = LI_A0;
	code[1] = RET;
	pin(0);
	if (pthread_create(&thread, NULL, call_all_the_time, NULL))
		return 2;
	while (time(NULL) < end) {
		version++;
		*(volatile uint32_t *)code = LI_A0 | version % VALUES << 20;
		syscall(SYS_riscv_flush_icache, code, code + 2, 0);
		written = version;
		while (seen != version && time(NULL) < end)
			;
	}
	stop = true;
	pthread_join(thread, NULL);
	printf("%u written, %u stay old\n", version, stale);
	return 0;
}
