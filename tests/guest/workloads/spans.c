// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Three functions that take turns: something may start trace at one of them and stop it at another.
 *	spans ROUNDS [ENCODER [impdef | debug]]
 * With the physical address of an encoder of the model, trigger input 1 is pulsed after the first
 * function and input 0 after the second; with "impdef" the hart's impdef signals are 0x51, 0x52 and
 * 0x53 in the three functions instead; with "debug" triggers of the hart notify at the first
 * function, stop trace at the second and start it at the third. Exits with 3 when another task ran
 * meanwhile: hardware forgets that trace was started.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <stdint.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

/* Vendor register of the model: a store of 1 << N pulses trigger input N. */
#define PULSE (0xe00 / 4)
/* Another: what is stored there are the impdef signals from then on. */
#define IMPDEF (0xe08 / 4)
/* Debug triggers: address and action of each, as a debugger writes tdata2 and mcontrol.action. */
#define DEBUG(n) ((0xe10 + 0x10 * (n)) / 4)
enum { TRACE_ON = 2, TRACE_OFF = 3, TRACE_NOTIFY = 4 };

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

static void set_trigger(volatile uint32_t *encoder, unsigned int n, void (*at)(unsigned long),
			uint32_t action)
{
	store(encoder + DEBUG(n), (uint32_t)(uintptr_t)at);
	store(encoder + DEBUG(n) + 1, (uint64_t)(uintptr_t)at >> 32);
	store(encoder + DEBUG(n) + 2, action);
}

static void set_triggers(volatile uint32_t *encoder, bool on)
{
	set_trigger(encoder, 0, first, on ? TRACE_NOTIFY : 0);
	set_trigger(encoder, 1, second, on ? TRACE_OFF : 0);
	set_trigger(encoder, 2, third, on ? TRACE_ON : 0);
}

static void pulse(volatile uint32_t *encoder, unsigned int input)
{
	store(encoder + PULSE, 1u << input);
}

static volatile uint32_t *map_encoder(const char *address)
{
	static uint32_t none[DEBUG(4)];
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
	const char *how = argc > 3 ? argv[3] : "pulse";
	bool impdef = !strcmp(how, "impdef"), debug = !strcmp(how, "debug");
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(0, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		return 4;
	before = switches();
	if (debug)
		set_triggers(encoder, true);
	for (long i = 0; i < rounds; i++) {
		if (impdef)
			store(encoder + IMPDEF, 0x51);
		first(200);
		if (impdef)
			store(encoder + IMPDEF, 0x52);
		else if (!debug)
			pulse(encoder, 1);
		second(200);
		if (impdef)
			store(encoder + IMPDEF, 0x53);
		else if (!debug)
			pulse(encoder, 0);
		third(200);
	}
	if (impdef)
		store(encoder + IMPDEF, 0);
	if (debug)
		set_triggers(encoder, false);
	return switches() != before ? 3 : 0;
}
