// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Three functions that take turns: something may start trace at one of them and stop it at another.
 *	spans ROUNDS [ENCODER [impdef]]
 * With the physical address of an encoder of the model, trigger input 1 is pulsed after the first
 * function and input 0 after the second; with "impdef" the hart's impdef signals are 0x51, 0x52 and
 * 0x53 in the three functions instead. Exits with 3 when another task ran meanwhile: hardware
 * forgets that trace was started.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <stdint.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

/* Vendor register of the model: a store of 1 << N pulses trigger input N. */
#define PULSE (0xe00 / 4)
/* Another: what is stored there are the impdef signals from then on. */
#define IMPDEF (0xe08 / 4)

static volatile unsigned long sink;

__attribute__((noipa)) static void first(unsigned long n)
{
	while (n--)
		sink += n & 3 ? n : 1;
}

__attribute__((noipa)) static void second(unsigned long n)
{
	while (n--)
		sink += n & 5 ? n : 2;
}

__attribute__((noipa)) static void third(unsigned long n)
{
	while (n--)
		sink += n & 9 ? n : 3;
}

/* The model sees stores of programs that have no offset. */
static void store(volatile uint32_t *reg, uint32_t value)
{
	__asm__ volatile("sw %0, (%1)" : : "r"(value), "r"(reg) : "memory");
}

static volatile uint32_t *map_encoder(const char *address)
{
	static uint32_t none[IMPDEF + 1];
	void *map = none;
	int fd;

	if (!address)
		return none;
	fd = open("/dev/mem", O_RDWR | O_SYNC);
	if (fd >= 0)
		map = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
			   strtol(address, NULL, 16));
	if (fd < 0 || map == MAP_FAILED)
		exit(4);
	return map;
}

static long switches(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_nvcsw + usage.ru_nivcsw;
}

int main(int argc, char **argv)
{
	long rounds = argc > 1 ? atol(argv[1]) : 1, before;
	volatile uint32_t *encoder = map_encoder(argc > 2 ? argv[2] : NULL);
	bool impdef = argc > 3;
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(0, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		return 4;
	before = switches();
	for (long i = 0; i < rounds; i++) {
		if (impdef)
			store(encoder + IMPDEF, 0x51);
		first(200);
		store(encoder + (impdef ? IMPDEF : PULSE), impdef ? 0x52 : 1 << 1);
		second(200);
		store(encoder + (impdef ? IMPDEF : PULSE), impdef ? 0x53 : 1 << 0);
		third(200);
	}
	if (impdef)
		store(encoder + IMPDEF, 0);
	return switches() != before ? 3 : 0;
}
