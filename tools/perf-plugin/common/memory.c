// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "common/cmd.h"
#include "common/memory.h"
#include "common/text.h"

/* A process fills some gigabytes of memory a second, so it is measured once in 50 MB. */
#define INTERVAL_NS 10000000

static uint64_t limit;
static atomic_bool exceeded;

uint64_t memory_default(void)
{
	return (uint64_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE) / 2;
}

int memory_parse_as(const char *what, const char *text, uint64_t *bytes)
{
	static const char units[] = "BKMG";
	const char *end = text, *unit;
	unsigned int shift = 0;

	if (!read_number(&end, bytes)) {
		unit = *end ? strchr(units, *end) : NULL;
		if (unit) {
			shift = 10 * (unit - units);
			end++;
		}
		if (!*end && *bytes && *bytes <= UINT64_MAX >> shift >> 1) {
			*bytes <<= shift;
			return 0;
		}
	}
	return cmd_error(-EINVAL, "%s: '%s' is no amount of memory, like 512M or 4G", what, text);
}

int memory_parse(const char *text, uint64_t *bytes)
{
	return memory_parse_as("--max-memory", text, bytes);
}

bool memory_exceeded(void)
{
	return atomic_load_explicit(&exceeded, memory_order_relaxed);
}

int memory_error(void)
{
	return cmd_error(-ENOMEM, "ended at %" PRIu64 " MiB of memory: allow more with "
			 "--max-memory, or look at less of the recording (--time, --cpu)",
			 limit >> 20);
}

/* Returns how many bytes of memory this process has that are in no file. */
static uint64_t used(int statm)
{
	uint64_t pages[3] = { 0 };
	char text[128];
	const char *at = text;
	ssize_t n = pread(statm, text, sizeof(text) - 1, 0);

	text[n > 0 ? n : 0] = 0;
	/* size; resident; of these, shared or from files */
	for (int i = 0; i < 3 && !read_number(&at, &pages[i]); i++)
		at += *at == ' ';
	return pages[1] > pages[2] ? (pages[1] - pages[2]) * sysconf(_SC_PAGESIZE) : 0;
}

static void *watch(void *unused)
{
	const struct timespec interval = { .tv_nsec = INTERVAL_NS };
	int statm = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);

	(void)unused;
	while (statm >= 0) {
		uint64_t now = used(statm);

		if (now > limit)
			atomic_store_explicit(&exceeded, true, memory_order_relaxed);
		if (now > limit + limit / 4) {
			memory_error();
			_exit(1);
		}
		nanosleep(&interval, NULL);
	}
	return NULL;
}

void memory_watch(uint64_t bytes)
{
	sigset_t all, before;
	pthread_t thread;

	limit = bytes;
	/* leaves signals to the main thread */
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	if (!pthread_create(&thread, NULL, watch, NULL))
		pthread_detach(thread);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}
