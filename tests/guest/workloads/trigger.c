// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * What triggers happen at: trigger WHAT
 *
 * 100000 calls of step() come first. Then, as WHAT says: "call": calls seldom() once, and step()
 * 100000 times; "loop": seldom() 40 times, and step() 1000 times behind each; "long": calls part()
 * 20 times, of which number 10 calls step() 6000 times and sleeps for 0.4 s; "segv": writes to no
 * memory, in fault(); "term": is sent SIGTERM; "exit": its status is 3, from a thread beside which
 * another one runs; "wait": "loop" for a minute or longer.
 */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static volatile unsigned long sink;

__attribute__((noipa)) static void step(unsigned long n)
{
	sink += n;
}

__attribute__((noipa)) static void steps(unsigned long times)
{
	while (times--)
		step(times);
}

__attribute__((noipa)) static void seldom(void)
{
	steps(5);
}

__attribute__((noipa)) static void part(unsigned long times)
{
	const struct timespec time = { 0, 400000000 };

	steps(times);
	if (times > 100)
		nanosleep(&time, NULL);
	steps(times);
}

__attribute__((noipa)) static void fault(volatile int *where)
{
	*where = 1;
}

static void *run(void *unused)
{
	for (unsigned long i = 0; i < 1000000; i++)
		steps(1000);
	return unused;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	unsigned long times = !strcmp(what, "call") ? 1 : !strcmp(what, "loop") ? 40 :
		!strcmp(what, "wait") ? 60000 : 0;
	const struct timespec moment = { 0, 1000000 };
	pthread_t thread;

	steps(100000);
	for (unsigned long n = 0; n < times; n++) {
		seldom();
		steps(times == 1 ? 100000 : 1000);
		nanosleep(&moment, NULL);
	}
	for (unsigned long n = 0; n < 20 && !strcmp(what, "long"); n++)
		part(n == 10 ? 3000 : 30);
	if (!strcmp(what, "segv"))
		fault(NULL);
	if (!strcmp(what, "term"))
		kill(getpid(), SIGTERM);
	if (!strcmp(what, "exit") && !pthread_create(&thread, NULL, run, NULL))
		exit(3);
	return 0;
}
