// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Four threads that do different work, meet at a mutex and a condition variable, and end at
 * different times: for the guest tests. Prints the thread ids, so that a test knows whose flow to
 * look for, and a checksum, so that the work cannot be optimised away.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define THREADS 4
#define ROUNDS 6

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static unsigned int arrived, round_number;
static uint64_t sum;

static int by_value(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static unsigned int fibonacci(unsigned int n)
{
	return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

static uint64_t work(unsigned int number, unsigned int round)
{
	uint32_t values[512];
	uint64_t result = number;

	switch ((number + round) % 3) {
	case 0:
		return fibonacci(14 + number);
	case 1:
		for (unsigned int i = 0; i < 512; i++)
			values[i] = (i * 2654435761u) ^ (round << number);
		qsort(values, 512, sizeof(*values), by_value);
		return values[round];
	default:
		for (unsigned int i = 0; i < 4000; i++)
			result = result * 6364136223846793005u + (i & 3 ? i : round);
		return result;
	}
}

static void meet(void)
{
	unsigned int mine;

	pthread_mutex_lock(&lock);
	mine = round_number;
	if (++arrived == THREADS) {
		arrived = 0;
		round_number++;
		pthread_cond_broadcast(&changed);
	}
	while (mine == round_number)
		pthread_cond_wait(&changed, &lock);
	pthread_mutex_unlock(&lock);
}

static void *run(void *arg)
{
	unsigned int number = (unsigned int)(uintptr_t)arg;

	pthread_mutex_lock(&lock);
	printf("tid %ld\n", syscall(SYS_gettid));
	pthread_mutex_unlock(&lock);
	for (unsigned int round = 0; round < ROUNDS; round++) {
		uint64_t result = work(number, round);

		pthread_mutex_lock(&lock);
		sum += result;
		pthread_mutex_unlock(&lock);
		meet();
	}
	return NULL;
}

int main(void)
{
	pthread_t threads[THREADS];

	printf("tid %ld\n", syscall(SYS_gettid));
	fflush(stdout);
	for (uintptr_t i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, run, (void *)i))
			return 1;
	for (unsigned int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	printf("sum %llu\n", (unsigned long long)sum);
	return 0;
}
