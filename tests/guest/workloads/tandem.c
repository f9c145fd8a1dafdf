// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * The only program of a guest: computes with integers, floating point and atomics, takes page
 * faults, forks, does system calls, then switches the machine off. Linked statically.
 */
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/reboot.h>
#include <sys/wait.h>
#include <unistd.h>

/* Small, so that the kernel's part of the run stays the smaller one. */
#define AREA (1u << 16)

static atomic_long counter;
static atomic_int narrow;

static double series(int round)
{
	double sum = 0;
	float single = 1;
	int i;

	for (i = 0; i < 3000; i++) {
		sum += sqrt(i * 1.5 + round) / (i + 1);
		single = single * 0.75f + (float)i;
	}
	return sum + (double)single + (double)(unsigned int)(sum * 1e3);
}

static void touch(char *area, int round)
{
	unsigned int i;

	for (i = 0; i < 3000; i++) {
		area[i * 337 % AREA] ^= (char)i;
		atomic_fetch_add(&counter, i);
		atomic_fetch_xor(&narrow, round);
	}
	/* misaligned, and across pages */
	memcpy(area + 4093, &round, sizeof(round));
	memmove(area + 8185, area + 4091, 100);
}

static void child(char *area)
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		area[5] = 1;
		_exit(atomic_load(&counter) & 7);
	}
	waitpid(pid, &status, 0);
}

int main(void)
{
	char *area = mmap(NULL, AREA, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char line[64];
	double sum = 0;
	int round;

	for (round = 0; round < 400; round++) {
		sum += series(round);
		touch(area, round);
		if (round % 4 == 3)
			child(area);
		getppid();
		free(memset(malloc(10000), round, 10000));
	}
	snprintf(line, sizeof(line), "%f %ld\n", sum, atomic_load(&counter));
	if (write(1, line, strlen(line)) < 0)
		return 1;
	reboot(RB_POWER_OFF);
	return 0;
}
